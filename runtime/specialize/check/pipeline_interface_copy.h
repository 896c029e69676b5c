/* SPDX-License-Identifier: MIT */
/*
 * A pipeline's interface (specialize/check/pipeline_interface.h), read from its copy: the shaders'
 * facts, layouts, and the shapes of what was bound last.
 */
#ifndef BELFRY_SPECIALIZE_PIPELINE_INTERFACE_COPY_H
#define BELFRY_SPECIALIZE_PIPELINE_INTERFACE_COPY_H

#include "specialize/reason.h"
#include "specialize/check/pipeline_interface.h"

struct bf_pipeline_copy;

/*
 * BF_REASON_NONE, and an interface that lasts until bf_pipeline_interface_destroy, as does the copy
 * that it refers to. Else BF_REASON_UNCHECKABLE: there is more to its layouts than is known here;
 * or BF_REASON_MEMORY.
 */
enum bf_reason bf_pipeline_interface_create(const struct bf_pipeline_copy *copy,
                                            struct bf_pipeline_interface **interface);
/* NULL is allowed. */
void bf_pipeline_interface_destroy(struct bf_pipeline_interface *interface);

#endif
