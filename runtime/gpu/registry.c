/* SPDX-License-Identifier: MIT */
/* The list of all devices of this process that Belfry schedules. */
#include "gpu/registry.h"

#include "base/lock.h"
#include "base/message.h"
#include "gpu/gpu.h"

static struct bf_lock registry_lock;
static struct bf_gpu *registry;

/* The lock is held. */
static struct bf_gpu *registry_find(VkDevice handle)
{
    struct bf_gpu *gpu = registry;
    while (gpu && gpu->handle != handle)
        gpu = gpu->next_registered;
    return gpu;
}

struct bf_gpu *bf_gpu_find(VkDevice handle, bool *attached)
{
    bf_lock_acquire(&registry_lock);
    struct bf_gpu *gpu = registry_find(handle);
    *attached = gpu && gpu->attached;
    bf_lock_release(&registry_lock);
    return gpu;
}

bool bf_gpu_register(struct bf_gpu *gpu)
{
    bf_lock_acquire(&registry_lock);
    bool first = !registry_find(gpu->handle);
    if (first) {
        gpu->next_registered = registry;
        registry = gpu;
    }
    bf_lock_release(&registry_lock);
    return first;
}

void bf_gpu_unregister(struct bf_gpu *gpu)
{
    bf_lock_acquire(&registry_lock);
    struct bf_gpu **link = &registry;
    while (*link && *link != gpu)
        link = &(*link)->next_registered;
    if (*link)
        *link = gpu->next_registered;
    bf_lock_release(&registry_lock);
}

struct bf_gpu *bf_gpu_of(BfDevice handle, const char *call)
{
    bf_lock_acquire(&registry_lock);
    struct bf_gpu *gpu = registry;
    while (gpu && gpu != (struct bf_gpu *)handle)
        gpu = gpu->next_registered;
    bf_lock_release(&registry_lock);
    if (!gpu)
        bf_message(BF_MESSAGE_ERROR, "%s: device is no live device: %p", call, (void *)handle);
    return gpu;
}
