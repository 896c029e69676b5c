/* SPDX-License-Identifier: MIT */
/* Asks a physical device whether its timeline semaphores can be shared between processes. */
#include "gpu/sharing.h"

#include <string.h>

void bf_sharing_ask(PFN_vkGetInstanceProcAddr get_proc_addr, VkInstance instance,
                    VkPhysicalDevice physical, struct bf_sharing *sharing)
{
    const VkExternalSemaphoreFeatureFlags wanted =
        VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
#define GET(name) PFN_##name name = (PFN_##name)get_proc_addr(instance, #name)
    GET(vkGetPhysicalDeviceProperties2);
    GET(vkGetPhysicalDeviceExternalSemaphoreProperties);
#undef GET
    *sharing = (struct bf_sharing){0};
    if (!vkGetPhysicalDeviceProperties2 || !vkGetPhysicalDeviceExternalSemaphoreProperties)
        return;
    const VkSemaphoreTypeCreateInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext = &timeline,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    VkExternalSemaphoreProperties semaphores = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vkGetPhysicalDeviceExternalSemaphoreProperties(physical, &info, &semaphores);
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    sharing->timelines = (semaphores.externalSemaphoreFeatures & wanted) == wanted;
    memcpy(sharing->device_uuid, id.deviceUUID, VK_UUID_SIZE);
    memcpy(sharing->driver_uuid, id.driverUUID, VK_UUID_SIZE);
}
