/* SPDX-License-Identifier: MIT */
/*
 * What a device can share with the same one in another process.
 */
#ifndef BELFRY_GPU_SHARING_H
#define BELFRY_GPU_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_sharing {
    bool timelines; /* its timeline semaphores, as opaque descriptors, to and fro */
    /* Who may: the same device under the same driver. */
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
};

/* Asks a physical device of Vulkan 1.1 or newer; 'timelines' is what it could do with
 * VK_KHR_external_semaphore_fd enabled. */
void bf_sharing_ask(PFN_vkGetInstanceProcAddr get_proc_addr, VkInstance instance,
                    VkPhysicalDevice physical, struct bf_sharing *sharing);

#endif
