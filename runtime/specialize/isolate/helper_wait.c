/* SPDX-License-Identifier: MIT */
/* Waits for fences, in parts. */
#include "specialize/isolate/helper_wait.h"

#include "base/clock.h"
#include "specialize/isolate/helper_watch.h"

#define PARTS 16

/* VkDevices whose waits are these; VK_NULL_HANDLE: none. */
static struct taken {
    VkDevice device;
    PFN_vkWaitForFences wait;
    bool cpu;
} all[2];

static struct taken *taken_find(VkDevice device)
{
    struct taken *found = NULL;
    for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]) && !found; i++)
        found = all[i].device == device ? &all[i] : NULL;
    return found;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_in_parts(VkDevice device, uint32_t count,
                                                    const VkFence *fences, VkBool32 of_all,
                                                    uint64_t timeout)
{
    const struct taken *taken = taken_find(device);
    const uint64_t part = timeout / PARTS + (timeout % PARTS != 0), computed = bf_process_ns();
    VkResult result = VK_TIMEOUT;
    helper_watch_step();
    for (uint64_t had = 0, n = 1; result == VK_TIMEOUT && had < timeout; n++) {
        result = taken->wait(device, count, fences, of_all, part);
        had = taken->cpu ? bf_process_ns() - computed : n < PARTS ? n * part : timeout;
    }
    if (result == VK_TIMEOUT) /* of the last part all may have passed while this was stopped */
        result = taken->wait(device, count, fences, of_all, 0);
    helper_watch_step();
    return result;
}

void helper_wait_take(struct bf_gpu *gpu, bool cpu)
{
    struct taken *taken = taken_find(VK_NULL_HANDLE);
    *taken = (struct taken){gpu->handle, gpu->vk.vkWaitForFences, cpu};
    gpu->vk.vkWaitForFences = wait_in_parts;
}

void helper_wait_give_back(struct bf_gpu *gpu)
{
    struct taken *taken = gpu->handle ? taken_find(gpu->handle) : NULL;
    if (taken)
        *taken = (struct taken){.device = VK_NULL_HANDLE};
}
