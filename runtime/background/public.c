/* SPDX-License-Identifier: MIT */
/* The functions of belfry/background.h, which take a device's handle. */
#include "background/public.h"

#include "base/handle.h"
#include "base/structure.h"
#include "gpu/gpu.h"

VkResult bf_background_begin(struct bf_gpu *gpu, uint32_t tasks, bool developer_mode,
                             _Atomic bool *frozen)
{
    const struct bf_background_info info = {
        .device = gpu,
        .tasks = tasks,
        .developer_mode = developer_mode,
        .trace = gpu->trace,
        .frozen = frozen,
    };
    gpu->background = bf_background_create(&info);
    if (!gpu->background)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (bf_handle_add(gpu, BF_HANDLE_BACKGROUND))
        return VK_SUCCESS;
    bf_background_destroy(gpu->background);
    gpu->background = NULL;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_background_end(struct bf_gpu *gpu)
{
    if (!gpu->background)
        return;
    bf_background_destroy(gpu->background);
    bf_handle_remove(gpu);
    gpu->background = NULL;
}

/* Looked up in the table of handles, not in the list of devices: that takes no lock (BG-7). */
static struct bf_background *background_of(BfDevice handle, const char *call)
{
    if (!bf_handle_check(handle, BF_HANDLE_BACKGROUND, call, "device"))
        return NULL;
    return ((struct bf_gpu *)handle)->background;
}

VkResult bfQueueProcessingWork(BfDevice device, PFN_bfProcessingWork pfnCallback,
                               PFN_bfProcessingWork pfnCancel, void *pContext)
{
    struct bf_background *b = background_of(device, __func__);
    return b ? bf_background_queue(b, pfnCallback, pfnCancel, pContext)
             : VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bfSetBackgroundProcessingMode(BfDevice device, BfBackgroundProcessingMode mode,
                                       BfMeasurementsAction action, BfEvent event,
                                       VkBool32 *pFurtherMeasurementsDesired)
{
    struct bf_background *b = background_of(device, __func__);
    return b ? bf_background_set_mode(b, mode, action, event, pFurtherMeasurementsDesired)
             : VK_ERROR_VALIDATION_FAILED_EXT;
}

VkResult bfGetBackgroundProcessingProperties(BfDevice device,
                                             BfBackgroundProcessingProperties *pProperties)
{
    struct bf_background *b = background_of(device, __func__);
    if (!b || !bf_structure_check(pProperties, BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES,
                                  __func__, "pProperties"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *pProperties = bf_background_properties(b);
    return VK_SUCCESS;
}

VkResult bfAddBackgroundDriver(BfDevice device, const BfBackgroundDriver *pDriver)
{
    struct bf_background *b = background_of(device, __func__);
    return b ? bf_background_add_driver(b, pDriver) : VK_ERROR_VALIDATION_FAILED_EXT;
}
