/* SPDX-License-Identifier: MIT */
/*
 * A layer that does nothing: what the loader is given where libbelfry can't be used. It hands every
 * call on, without a call of the library, which the layer's own functions can't do without.
 */
#ifndef BELFRY_LAYER_PASSTHROUGH_H
#define BELFRY_LAYER_PASSTHROUGH_H

#include <vulkan/vulkan.h>

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_instance(VkInstance instance,
                                                                    const char *name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_passthrough_device(VkDevice device,
                                                                  const char *name);

#endif
