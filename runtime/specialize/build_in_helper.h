/* A build in a process of its own (specialize/isolate/isolate.h): what it is to be told, out of a copy. */
#ifndef BELFRY_SPECIALIZE_BUILD_IN_HELPER_H
#define BELFRY_SPECIALIZE_BUILD_IN_HELPER_H

#include <vulkan/vulkan.h>

#include "specialize/shader/shader.h"

struct bf_isolate;
struct bf_pipeline_copy;

/*
 * As bf_isolate_build, for the module 'folded' and the values in BF_PUSH_CONSTANT_BYTES bytes of push
 * constants. VK_ERROR_INITIALIZATION_FAILED also where there is more to the pipeline than can be
 * told: the caller builds it here.
 */
VkResult bf_build_in_helper(struct bf_isolate *isolate, const struct bf_pipeline_copy *copy,
                            const struct bf_folded *folded, const void *push,
                            VkResult *driver_result);

#endif
