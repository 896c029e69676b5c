/* SPDX-License-Identifier: MIT */
/*
 * A layer that does nothing, for the loader to use if libbelfry can't be used. It passes every call
 * on, and calls nothing of the library, which the layer's other functions need.
 */
#ifndef BELFRY_LAYER_PASSTHROUGH_H
#define BELFRY_LAYER_PASSTHROUGH_H

#include <vulkan/vulkan.h>

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_instance(VkInstance instance,
                                                                    const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_device(VkDevice device,
                                                                  const char *name);

#endif
