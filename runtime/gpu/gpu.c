/* SPDX-License-Identifier: MIT */
/* Sets up a device's functions and properties. */
#include "gpu/gpu.h"

#include "base/library.h"
#include "gpu/dispatch.h"
#include "gpu/driver_bug.h"

static VkResult gpu_load_functions(struct bf_gpu *gpu, PFN_vkGetDeviceProcAddr get_proc_addr)
{
    bf_dispatch_load(&gpu->vk, gpu->handle, get_proc_addr);
    const struct VolkDeviceTable *vk = &gpu->vk;
    if (!vk->vkQueueSubmit2 || !vk->vkCmdPipelineBarrier2 || !vk->vkWaitSemaphores ||
        !vk->vkGetSemaphoreCounterValue || !vk->vkSignalSemaphore)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    return VK_SUCCESS;
}

VkResult bf_gpu_init(struct bf_gpu *gpu, const struct bf_gpu_info *info)
{
    gpu->handle = info->handle;
    gpu->trace = info->trace;
    gpu->driver_bugs = bf_driver_bugs_of(info->driver, info->driver_version);
    VkResult result = gpu_load_functions(gpu, info->get_proc_addr);
    if (result != VK_SUCCESS)
        return result;
    gpu->set_loader_data = info->set_loader_data;
    gpu->api_version = info->api_version;
    gpu->timestamp_period_ns = info->timestamp_period_ns;
    gpu->host_query_reset = info->host_query_reset;
    gpu->memory = info->memory;
    gpu->native_fences = info->native_fences;
    gpu->writes_values =
        info->buffer_addresses && info->shader_int64 && gpu->vk.vkGetBufferDeviceAddress;
    if (gpu->vk.vkGetMemoryHostPointerPropertiesEXT)
        gpu->host_pointer_alignment = info->host_pointer_alignment;
    gpu->fence_log = info->fence_log;
    gpu->sharing = info->sharing;
    if (!gpu->vk.vkGetSemaphoreFdKHR || !gpu->vk.vkImportSemaphoreFdKHR)
        gpu->sharing.timelines = false;
    gpu->timeline_difference = info->timeline_difference ? info->timeline_difference : UINT64_MAX;
    gpu->device_fault = info->device_fault && gpu->vk.vkGetDeviceFaultInfoEXT;
    gpu->checkpoints = info->checkpoints && gpu->vk.vkGetQueueCheckpointDataNV;
    if (info->calibrated_timestamps)
        gpu->get_calibrated_timestamps = gpu->vk.vkGetCalibratedTimestampsEXT;
    return VK_SUCCESS;
}

void bf_gpu_add_family(struct bf_gpu *gpu, uint32_t family)
{
    uint32_t i = 0;
    while (i < gpu->family_count && gpu->families[i] != family)
        i++;
    if (i == gpu->family_count)
        gpu->families[gpu->family_count++] = family;
}

void bf_gpu_finish(struct bf_gpu *gpu)
{
    bf_map_finish(&gpu->command_buffers, NULL, NULL);
    bf_gpu_write_pipeline_finish(gpu);
    bf_value_memories_finish(gpu);
}

void bf_gpu_pin_driver(const struct bf_gpu *gpu)
{
    bf_library_stay((uintptr_t)gpu->vk.vkWaitSemaphores);
}
