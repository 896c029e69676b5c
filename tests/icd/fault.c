/* SPDX-License-Identifier: MIT */
/* Calls that fail because a program under test has asked for it. */
#include "icd.h"

static struct {
    _Atomic bool armed; /* written locked */
    /* locked from here */
    char command[64]; /* without "vk"; "": any */
    uint64_t n, calls;
    VkResult result;
} fault;

const char *icd_bare_name(const char *call)
{
    return call + (strncmp(call, "vk", 2) == 0 ? 2 : sizeof("icd_") - 1);
}

VkResult icd_fault(struct icd_device *device, const char *call)
{
    if (icd_oom(device->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!atomic_load_explicit(&fault.armed, memory_order_relaxed) || device->config->free_submit)
        return VK_SUCCESS;
    VkResult result = VK_SUCCESS;
    icd_lock();
    bool meant =
        fault.armed && strncmp(icd_bare_name(call), fault.command, strlen(fault.command)) == 0;
    if (meant && ++fault.calls == fault.n)
        result = fault.result;
    if (result == VK_ERROR_DEVICE_LOST)
        icd_device_lose(device);
    icd_unlock();
    return result;
}

/* Exported ---------------------------------------------------------------------------------- */

void belfry_icd_set_fault(const char *command, uint64_t n, int32_t result)
{
    icd_lock();
    snprintf(fault.command, sizeof(fault.command), "%s", command ? icd_bare_name(command) : "");
    fault.n = n;
    fault.calls = 0;
    fault.result = (VkResult)result;
    fault.armed = n > 0;
    icd_unlock();
}

uint64_t belfry_icd_fault_calls(void)
{
    icd_lock();
    uint64_t calls = fault.calls;
    icd_unlock();
    return calls;
}

uint64_t belfry_icd_live(const char *kind)
{
    uint64_t live = 0;
    icd_lock();
    for (struct icd_device *device = icd_world.devices; device; device = device->next)
        for (int i = 0; i < ICD_KIND_COUNTED; i++)
            if (!kind || !strcmp(kind, icd_kind_name((enum icd_kind)(ICD_KIND_FIRST_COUNTED + i))))
                live += (uint64_t)device->live[i];
    icd_unlock();
    return live;
}
