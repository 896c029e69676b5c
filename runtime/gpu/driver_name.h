/* SPDX-License-Identifier: MIT */
/* A driver's name and version, as its vendor writes them. */
#ifndef BELFRY_GPU_DRIVER_NAME_H
#define BELFRY_GPU_DRIVER_NAME_H

#include <vulkan/vulkan.h>

#define BF_DRIVER_NAME_SIZE (VK_MAX_DRIVER_NAME_SIZE + VK_MAX_DRIVER_INFO_SIZE + 2)

/* 'llvmpipe, Mesa 22.3.6 (LLVM 15.0.6)': VK_KHR_driver_properties' driverName and driverInfo. NULL,
 * or one without driverInfo: driverVersion in its place, which NVIDIA packs in a way of its own.
 * 'text' has BF_DRIVER_NAME_SIZE bytes.
 * Thread-safety: pure. */
void bf_driver_describe(const VkPhysicalDeviceProperties *properties,
                        const VkPhysicalDeviceDriverProperties *driver, char *text);

#endif
