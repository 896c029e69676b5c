/* SPDX-License-Identifier: MIT */
/*
 * The forms of a graphics pipeline drawn once more, to attachments of the helper's that hide
 * nothing: what the program's don't show on made-up inputs they may show on its own.
 *
 *  PO-1  A form passes only if, on the inputs of its check, it also leaves every bit of a depth
 *        attachment as the general pipeline does to which every fragment writes its depth. So what
 *        one has laid down passes the other's test for equal depths: the words of the vertex stage
 *        are the program's, but a driver links it with another fragment stage, and may compile it
 *        anew for that.
 *  PO-2  Nor unless every bit of its colors is the same before they are blended, and rounded to
 *        what the program's attachments can hold; of alpha, too, where that decides over the
 *        others. It doesn't pass where alpha decides over samples and can't be seen, nor with a
 *        second color to blend with.
 *
 * What the program does with depth and colors has no say in it: the forms are made once more, with
 * a depth attachment in place of the program's, a test that always passes, and no stencil; and with
 * color attachments of 32 bits a component, of the same kinds of numbers and as many components,
 * without blending or logical operations. Where nothing comes to fragments nothing is compared:
 * nothing tells of it.
 *
 * For one thread.
 */
#ifndef BELFRY_SPECIALIZE_HELPER_REDRAW_H
#define BELFRY_SPECIALIZE_HELPER_REDRAW_H

#include "specialize/isolate/helper_check.h"

/* Why something that matters can't be seen; NULL: it can. Static. */
const char *helper_redraw_refuses(const struct helper_device *device,
                                  const struct bf_wire_check *check);

/*
 * After helper_check_run, whose pipelines are gone: takes the verdict back of forms that passed it,
 * if their positions or colors differ or can't be compared. The pipelines, zeroed, are then others,
 * for helper_pipeline_free, and the request is of no use any more. Errors: helper_pipeline_make's
 * and bf_check_run's.
 */
VkResult helper_redraw_check(struct helper_device *device, struct bf_wire_check *check,
                             struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                             struct bf_wire_verdict *verdict, enum bf_hang *hung);

#endif
