/* SPDX-License-Identifier: MIT */
/* Two batches that may overlap, with a trace and without. */
#include "log_overlap.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/report.h"
#include "bench.h"
#include "side.h"

#define REPETITIONS 25
#define TRACE       "VK_BELFRY_MULTI_ENGINE_TRACE"

struct overlap {
    struct side side;
    VkCommandBuffer work;
    VkSemaphore semaphore; /* the program's fence, which a trace logs */
    uint64_t value;
};

static bool overlap_open(struct overlap *o, struct bench_found *found)
{
    if (!side_open(&o->side, BENCH_BELFRY, NULL, 1, found))
        return false;
    const struct VolkDeviceTable *vk = &o->side.vk;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = o->side.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    o->semaphore = side_timeline(&o->side, found);
    if (!o->semaphore)
        return false;
    if (vk->vkAllocateCommandBuffers(o->side.device, &allocate, &o->work) < 0 ||
        vk->vkBeginCommandBuffer(o->work, &begin) < 0) {
        bench_found_nothing(found, "no command buffer");
        return false;
    }
    vk->vkCmdDispatch(o->work, 1, 1, 1);
    if (vk->vkEndCommandBuffer(o->work) < 0)
        bench_found_nothing(found, "vkEndCommandBuffer failed");
    return !found->reason[0];
}

static void overlap_close(struct overlap *o)
{
    if (o->side.device) {
        o->side.vk.vkDeviceWaitIdle(o->side.device);
        o->side.vk.vkDestroySemaphore(o->side.device, o->semaphore, NULL);
    }
    side_close(&o->side);
}

/* us, from the first call until both are over. */
static double overlap_measure(struct overlap *o, struct bench_found *found)
{
    uint64_t begin = bench_now();
    VkResult result = VK_SUCCESS;
    for (int i = 0; i < 2 && result >= 0; ++i) {
        const VkCommandBufferSubmitInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = o->work};
        const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                              .semaphore = o->semaphore,
                                              .value = ++o->value,
                                              .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        result = o->side.vk.vkQueueSubmit2(o->side.queues[0], 1,
                                           &(VkSubmitInfo2){
                                               .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                               .commandBufferInfoCount = 1,
                                               .pCommandBufferInfos = &commands,
                                               .signalSemaphoreInfoCount = 1,
                                               .pSignalSemaphoreInfos = &signal,
                                           },
                                           VK_NULL_HANDLE);
    }
    if (result >= 0)
        result = side_wait(&o->side, o->semaphore, o->value);
    if (result != VK_SUCCESS)
        bench_found_nothing(found, "two batches: %s", sample_result_name(result));
    return (double)(bench_now() - begin) / 1e3;
}

void log_overlap(const struct bench_options *options, enum bench_side side,
                 struct bench_found *found)
{
    (void)options;
    (void)side;
    struct overlap sides[2] = {0};
    char folder[] = "/tmp/belfry-bench-XXXXXX", path[64];
    bool open = mkdtemp(folder) != NULL;
    if (!open)
        bench_found_nothing(found, "no folder in /tmp");
    snprintf(path, sizeof path, "%s/run.pftrace", folder);
    open = open && overlap_open(&sides[0], found);
    setenv(TRACE, path, 1);
    open = open && overlap_open(&sides[1], found);
    unsetenv(TRACE);
    for (uint32_t i = 0; open && i < REPETITIONS && !found->reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2; ++turn) {
            uint32_t which = (i + turn) % 2;
            (which ? found->belfry : found->plain)[i] = overlap_measure(&sides[which], found);
        }
    }
    found->count = REPETITIONS;
    overlap_close(&sides[1]);
    overlap_close(&sides[0]);
    unlink(path);
    rmdir(folder);
}
