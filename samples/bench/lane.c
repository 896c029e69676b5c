/* SPDX-License-Identifier: MIT */
/* Measures a submission that is made again and again on one queue. */
#include "lane.h"

#include <stdlib.h>

#include "../common/report.h"

bool lane_open(struct lane *lane, struct side *side, uint32_t signals, uint32_t filler_times,
               struct bench_found *found)
{
    *lane = (struct lane){.side = side, .signals = signals};
    for (uint32_t i = 0; i < signals; ++i) {
        lane->semaphores[i] = side_timeline(side, found);
        if (!lane->semaphores[i])
            return false;
    }
    return !filler_times || side_filler_create(side, filler_times, &lane->filler, found);
}

void lane_close(struct lane *lane)
{
    if (!lane->side)
        return;
    lane->side->vk.vkDeviceWaitIdle(lane->side->device);
    side_filler_destroy(lane->side, &lane->filler);
    for (uint32_t i = 0; i < lane->signals; ++i)
        lane->side->vk.vkDestroySemaphore(lane->side->device, lane->semaphores[i], NULL);
    *lane = (struct lane){0};
}

/* Only the call is measured, not the preparation of its arguments. */
static VkResult lane_submit(struct lane *lane, VkCommandBuffer buffer, double *nanoseconds)
{
    VkSemaphoreSubmitInfo signals[LANE_SIGNALS];
    ++lane->value;
    for (uint32_t i = 0; i < lane->signals; ++i) {
        signals[i] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = lane->semaphores[i],
            .value = lane->value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        };
    }
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = buffer,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = lane->signals,
        .pSignalSemaphoreInfos = signals,
    };
    PFN_vkQueueSubmit2 submit = lane->side->vk.vkQueueSubmit2;
    VkQueue queue = lane->side->queues[0];

    uint64_t begin = bench_now();
    VkResult result = submit(queue, 1, &info, VK_NULL_HANDLE);
    *nanoseconds = (double)(bench_now() - begin);
    return result;
}

static bool burst(struct lane *lane, double *first, double samples[LANE_BURST],
                  struct bench_found *found)
{
    VkCommandBuffer opening = lane->filler.commands ? lane->filler.commands : lane->side->commands;
    VkResult result = lane_submit(lane, opening, first);
    for (uint32_t i = 0; i < LANE_BURST && result >= 0; ++i)
        result = lane_submit(lane, lane->side->commands, &samples[i]);
    for (uint32_t i = 0; i < lane->signals && result >= 0; ++i)
        result = side_wait(lane->side, lane->semaphores[i], lane->value);
    if (result == VK_SUCCESS)
        return true;
    bench_found_nothing(found, "a burst of submissions: %s", sample_result_name(result));
    return false;
}

/* The cost of reading the clock twice, which each sample contains. */
static double clock_cost(void)
{
    double samples[1001];
    for (size_t i = 0; i < 1001; ++i) {
        uint64_t begin = bench_now();
        samples[i] = (double)(bench_now() - begin);
    }
    return bench_spread(samples, 1001).median;
}

void lane_compare(struct lane *plain, struct lane *belfry, struct lane_cost *cost,
                  struct bench_found *found)
{
    struct lane *const lanes[2] = {plain, belfry};
    const uint32_t pairs = LANE_BURSTS * LANE_BURST;
    const double clock = clock_cost();
    double firsts[2][LANE_REPETITIONS];
    double *samples = malloc((2 * pairs + 2 * LANE_BURSTS) * sizeof *samples);
    if (!samples) {
        bench_found_nothing(found, "out of memory");
        return;
    }
    double *side[2] = {samples, samples + pairs};
    double *opening[2] = {samples + 2 * pairs, samples + 2 * pairs + LANE_BURSTS};

    /* One repetition more than is counted: the first fills caches and pools. */
    for (uint32_t repetition = 0; repetition <= LANE_REPETITIONS; ++repetition) {
        for (uint32_t b = 0; b < LANE_BURSTS; ++b) {
            for (uint32_t turn = 0; turn < 2; ++turn) {
                uint32_t which = (b + turn) % 2;
                if (!burst(lanes[which], &opening[which][b], &side[which][b * LANE_BURST], found))
                    goto out;
            }
        }
        if (!repetition)
            continue;
        uint32_t at = repetition - 1;
        for (uint32_t i = 0; i < pairs; ++i)
            side[1][i] -= side[0][i];
        found->plain[at] = bench_spread(side[0], pairs).median - clock;
        found->belfry[at] = found->plain[at] + bench_spread(side[1], pairs).median;
        for (int which = 0; which < 2; ++which)
            firsts[which][at] = bench_spread(opening[which], LANE_BURSTS).median - clock;
    }
    found->count = LANE_REPETITIONS;
    for (int which = 0; which < 2; ++which)
        cost->first[which] = bench_spread(firsts[which], LANE_REPETITIONS).median;
out:
    free(samples);
}
