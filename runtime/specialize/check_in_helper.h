/* SPDX-License-Identifier: MIT */
/* Has the forms of a variant built and checked in a helper process (specialize/isolate/isolate.h):
 * describes the pipeline by a copy of it. */
#ifndef BELFRY_SPECIALIZE_CHECK_IN_HELPER_H
#define BELFRY_SPECIALIZE_CHECK_IN_HELPER_H

#include <vulkan/vulkan.h>

#include "specialize/isolate/isolate.h"
#include "specialize/shader/shader.h"

struct bf_pipeline_copy;

/* bf_isolate_check for the pipeline and 'form_count' forms of it, whose specialised stages have the
 * modules 'folded', with the values in check->push. The interface is filled in here. 'bar' is the
 * request's; NULL: it has none. Results are
 * those of bf_isolate_check; VK_ERROR_FEATURE_NOT_PRESENT also where a request can't describe the
 * whole pipeline. */
VkResult bf_check_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            uint32_t form_count, const struct bf_folded *const *folded,
                            struct bf_check_info *check, const struct bf_isolate_bar *bar,
                            struct bf_check_answer *answer);

#endif
