/* SPDX-License-Identifier: MIT */
/* Measures a program's own vkQueueSubmit2 where the layer sends it through rings. */
#include "doorbell_program.h"

#include <stdlib.h>
#include <time.h>

#include "attached.h"
#include "doorbell_part.h"
#include "side.h"

#define SUBMIT   "VK_BELFRY_MULTI_ENGINE_SUBMIT"
#define BURSTS   32u
#define EDGES    16u
#define WAKES    16u /* submissions that follow each other closely: then the thread is awake */
#define RATE     4096u
#define PAUSE_NS 1000000

struct program {
    struct side side;
    VkSemaphore semaphore;
    uint64_t value;
};

static bool program_open(struct program *p, enum bench_side which, const char *gpu,
                         struct bench_found *found)
{
    if (!side_open(&p->side, which, gpu, 1, found))
        return false;
    p->semaphore = side_timeline(&p->side, found);
    return p->semaphore != VK_NULL_HANDLE;
}

static void program_close(struct program *p)
{
    if (p->side.device) {
        p->side.vk.vkDeviceWaitIdle(p->side.device);
        p->side.vk.vkDestroySemaphore(p->side.device, p->semaphore, NULL);
    }
    side_close(&p->side);
}

static VkResult submit(struct program *p)
{
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = p->semaphore,
        .value = ++p->value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = p->side.commands,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    return p->side.vk.vkQueueSubmit2(p->side.queues[0], 1, &info, VK_NULL_HANDLE);
}

/* Waits as a program does that must not sleep: it asks for the counter. */
static VkResult await_awake(struct program *p)
{
    uint64_t value = 0;
    VkResult result = VK_SUCCESS;
    while (result >= 0 && value < p->value)
        result = p->side.vk.vkGetSemaphoreCounterValue(p->side.device, p->semaphore, &value);
    return result;
}

static VkResult awaken(struct program *p)
{
    VkResult result = await_awake(p);
    for (uint32_t i = 0; i < WAKES && result >= 0; ++i) {
        result = submit(p);
        if (result >= 0)
            result = await_awake(p);
    }
    return result;
}

typedef double (*measure_fn)(struct program *p, struct bench_found *found);

static void part_compare(const struct bench_options *options, measure_fn measure,
                         struct bench_found *found)
{
    struct program programs[2] = {0};
    bool open = program_open(&programs[BENCH_PLAIN], BENCH_PLAIN, options->gpu, found);
    setenv(SUBMIT, "doorbell", 1);
    open = open && program_open(&programs[BENCH_BELFRY], BENCH_BELFRY, options->gpu, found);
    unsetenv(SUBMIT);
    for (uint32_t i = 0; open && i < DOORBELL_REPETITIONS && !found->reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found->reason[0]; ++turn) {
            uint32_t which = (i + turn) % 2;
            (which ? found->belfry : found->plain)[i] = measure(&programs[which], found);
        }
    }
    found->count = DOORBELL_REPETITIONS;
    program_close(&programs[BENCH_BELFRY]);
    program_close(&programs[BENCH_PLAIN]);
}

static double caller_measure(struct program *p, struct bench_found *found)
{
    double ns[BURSTS];
    VkResult result = VK_SUCCESS;
    for (uint32_t b = 0; b < BURSTS && result >= 0; ++b) {
        result = awaken(p);
        uint64_t begin = bench_now();
        for (uint32_t i = 0; i < DOORBELL_BURST && result >= 0; ++i)
            result = submit(p);
        ns[b] = (double)(bench_now() - begin) / DOORBELL_BURST;
    }
    if (result >= 0)
        result = side_wait(&p->side, p->semaphore, p->value);
    return bench_worked(result, "bursts", found) ? bench_spread(ns, BURSTS).median : 0;
}

void doorbell_program_caller(const struct bench_options *options, enum bench_side side,
                             struct bench_found *found)
{
    (void)side;
    part_compare(options, caller_measure, found);
}

static double edge_measure(struct program *p, struct bench_found *found)
{
    double ns[EDGES];
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < EDGES && result >= 0; ++i) {
        result = await_awake(p);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        uint64_t begin = bench_now();
        if (result >= 0)
            result = submit(p);
        ns[i] = (double)(bench_now() - begin);
    }
    return bench_worked(result, "submissions after a pause", found) ? bench_spread(ns, EDGES).median
                                                                    : 0;
}

void doorbell_program_edge(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found)
{
    (void)side;
    part_compare(options, edge_measure, found);
}

static double rate_measure(struct program *p, struct bench_found *found)
{
    VkResult result = awaken(p);
    uint64_t begin = bench_now();
    for (uint32_t i = 0; i < RATE && result >= 0; ++i)
        result = submit(p);
    if (result >= 0)
        result = side_wait(&p->side, p->semaphore, p->value);
    return bench_worked(result, "submissions", found) ? RATE * 1e6 / (double)(bench_now() - begin)
                                                      : 0;
}

void doorbell_program_rate(const struct bench_options *options, enum bench_side side,
                           struct bench_found *found)
{
    (void)side;
    part_compare(options, rate_measure, found);
}
