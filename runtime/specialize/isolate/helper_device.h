/* SPDX-License-Identifier: MIT */
/* The build helper's devices: the program's physical device, with the program's features and
 * extensions, and queues of the lowest priority, among all processes where that can be had; and the
 * same once more, with robustBufferAccess, and robustness2 where there is one, for dry runs. For
 * one thread. */
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
    bool cpu; /* it is one */
    bool robust;
    bool subgroup_sizes; /* a driver may choose the size of a pipeline's subgroups */
    bool borrowed;       /* the instance is another one's */
    bool robust2;        /* robustness2 is enabled, of buffers, */
    bool robust_images2; /* and of images, too */
    VkPhysicalDeviceDriverProperties driver; /* zeros: not known */
    uint32_t driver_version;
    VkPhysicalDeviceFeatures features; /* that are enabled; not those of chains */
};

/* The struct is zeroed. Errors: VK_ERROR_INCOMPATIBLE_DRIVER (there is no such device),
 * BF_WIRE_OTHER_DRIVER (there is one, of another driver than the program's),
 * VK_ERROR_INITIALIZATION_FAILED (no loader, or functions are missing), and the driver's. */
VkResult helper_device_open(struct helper_device *device, const struct bf_wire_device *wanted);
/* 'dry' is zeroed, 'device' stays open as long as it. Enabled are robustBufferAccess and, as far as
 * there are these, the stores of vertex and fragment stages. Errors: VK_ERROR_FEATURE_NOT_PRESENT
 * (the device has no robustBufferAccess), and as above. */
VkResult helper_device_open_dry(const struct helper_device *device,
                                const struct bf_wire_device *wanted, struct helper_device *dry);
/* After errors, and zeroed, too. */
void helper_device_close(struct helper_device *device);

#endif
