/* SPDX-License-Identifier: MIT */
/*
 * What a device can share with the same device in another process: exported timeline semaphores.
 */
#ifndef BELFRY_GPU_SHARING_H
#define BELFRY_GPU_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_sharing {
    bool timelines; /* timeline semaphores can be exported and imported as opaque descriptors */
    /* Only the same device under the same driver can import them. */
    uint8_t device_uuid[VK_UUID_SIZE];
    uint8_t driver_uuid[VK_UUID_SIZE];
};

/* Asks a physical device of Vulkan 1.1 or newer. 'timelines' is what holds once
 * VK_KHR_external_semaphore_fd is enabled. */
void bf_sharing_ask(PFN_vkGetInstanceProcAddr get_proc_addr, VkInstance instance,
                    VkPhysicalDevice physical, struct bf_sharing *sharing);

#endif
