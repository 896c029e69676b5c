/* SPDX-License-Identifier: MIT */
/* Builds a variant in a helper process (specialize/isolate/isolate.h): describes the pipeline by
 * a copy of it. */
#ifndef BELFRY_SPECIALIZE_BUILD_IN_HELPER_H
#define BELFRY_SPECIALIZE_BUILD_IN_HELPER_H

#include <vulkan/vulkan.h>

#include "specialize/shader/shader.h"

struct bf_isolate;
struct bf_pipeline_copy;

/* bf_isolate_build for the module 'folded' and the values in BF_PUSH_CONSTANT_BYTES bytes of
 * push constants. VK_ERROR_INITIALIZATION_FAILED also where a request can't describe the whole
 * pipeline: the caller then builds in this process. */
VkResult bf_build_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            const struct bf_folded *folded, const void *push,
                            VkResult *driver_result);

#endif
