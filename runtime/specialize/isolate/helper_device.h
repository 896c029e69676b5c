/* SPDX-License-Identifier: MIT */
/* The build helper's device: the program's physical device, with the program's features and
 * extensions, and queues of the lowest priority. For one thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_DEVICE_H
#define BELFRY_SPECIALIZE_HELPER_DEVICE_H

#include "gpu/gpu.h"
#include "specialize/isolate/wire.h"

struct helper_device {
    PFN_vkGetInstanceProcAddr get_proc;
    VkInstance instance;
    VkPhysicalDevice physical;
    struct bf_gpu gpu; /* handle: VK_NULL_HANDLE: there is none */
    struct bf_check_queue compute, direct;
    bool robust;
};

/* The struct is zeroed. Errors: VK_ERROR_INCOMPATIBLE_DRIVER (there is no such device),
 * VK_ERROR_INITIALIZATION_FAILED (no loader, or functions are missing), and the driver's. */
VkResult helper_device_open(struct helper_device *device, const struct bf_wire_device *wanted);
/* After errors, too. */
void helper_device_close(struct helper_device *device);

#endif
