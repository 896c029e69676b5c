/* SPDX-License-Identifier: MIT */
/* Measures how late the watchdog tells. */
#include "told.h"

#include <pthread.h>
#include <string.h>

#include <belfry/belfry.h>

#include "../../tests/icd/icd_client.h"
#include "side.h"

#define REPETITIONS 7
#define SET_MS      200
#define SETTING     "VK_BELFRY_MULTI_ENGINE_WATCHDOG=200"
#define GOAL_MS     1000.0

enum kind { MISSING, CIRCLE, BUSY, KINDS };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    uint64_t at_ns; /* when it was told; 0: it hasn't been */
} told = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    (void)severity;
    (void)context;
    pthread_mutex_lock(&told.lock);
    if (!told.at_ns && strstr(text, "standstill"))
        told.at_ns = bench_now();
    pthread_cond_signal(&told.cond);
    pthread_mutex_unlock(&told.lock);
}

/* A batch that waits for 1 of one and signals 3 of another; VK_NULL_HANDLE: it doesn't. */
static VkResult submit(struct side *side, uint32_t queue, VkSemaphore wait, VkSemaphore signal)
{
    const VkSemaphoreSubmitInfo infos[] = {
        {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
         .semaphore = wait,
         .value = 1,
         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
        {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
         .semaphore = signal,
         .value = 3, /* the host sets the circle free by 1 */
         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
    };
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = side->commands,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait ? 1 : 0,
        .pWaitSemaphoreInfos = &infos[0],
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = signal ? 1 : 0,
        .pSignalSemaphoreInfos = &infos[1],
    };
    return side->vk.vkQueueSubmit2(side->queues[queue], 1, &info, VK_NULL_HANDLE);
}

/* In ms: from the standstill to the line, less the set time. */
static double tell_once(const struct belfry_icd_control *icd, enum kind kind,
                        struct bench_found *found)
{
    struct side side = {0};
    double ms = 0;
    if (!side_open(&side, BENCH_BELFRY, "", 2, found))
        return 0;
    VkSemaphore first = side_timeline(&side, found), second = side_timeline(&side, found);
    VkResult result = VK_SUCCESS;
    if (side.queue_count < 2)
        bench_found_nothing(found, "under the layer the family has %u queues", side.queue_count);
    if (found->reason[0])
        goto out;
    told.at_ns = 0;
    if (kind == BUSY)
        icd->pause();
    const uint64_t begin_ns = bench_now();
    result = submit(&side, 0, kind == BUSY ? VK_NULL_HANDLE : first,
                    kind == CIRCLE ? second : VK_NULL_HANDLE);
    if (kind == CIRCLE && result == VK_SUCCESS)
        result = submit(&side, 1, second, first);
    if (bench_worked(result, "vkQueueSubmit2", found)) {
        pthread_mutex_lock(&told.lock);
        while (!told.at_ns)
            pthread_cond_wait(&told.cond, &told.lock);
        ms = (double)(told.at_ns - begin_ns) / 1e6 - SET_MS;
        pthread_mutex_unlock(&told.lock);
    }
    icd->resume();
    if (kind != BUSY)
        side.vk.vkSignalSemaphore(
            side.device, &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                                  .semaphore = first,
                                                  .value = 1});
    side.vk.vkDeviceWaitIdle(side.device);
out:
    if (first)
        side.vk.vkDestroySemaphore(side.device, first, NULL);
    if (second)
        side.vk.vkDestroySemaphore(side.device, second, NULL);
    side_close(&side);
    return ms;
}

void told_run(const struct bench_options *options, enum bench_side which, struct bench_found *found)
{
    struct belfry_icd_control icd = {0};
    struct side side = {0}; /* keeps the driver loaded, and its control */
    (void)options;
    if (!side_open(&side, which, "", 1, found))
        return;
    if (!belfry_icd_control_load(&icd))
        bench_found_nothing(found, "the test driver isn't there");
    bfSetMessageCallback(hear, NULL);
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
        for (uint32_t i = 0; i < REPETITIONS && !found->reason[0]; ++i)
            found->plain[kind * REPETITIONS + i] = tell_once(&icd, (enum kind)kind, found);
    }
    bfSetMessageCallback(NULL, NULL);
    found->count = KINDS * REPETITIONS;
    side_close(&side);
    belfry_icd_control_unload(&icd);
}

void told_rows(struct bench_report *report)
{
    static const char *const names[KINDS] = {TOLD_ROWS};
    static const char *const settings[] = {"BELFRY_ICD_SHAPE=q1", SETTING,
                                           "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=2", NULL};
    static struct bench_found found;
    bench_part_run_on_icd("told", BENCH_BELFRY, settings, &found);
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
        double *late = found.plain + kind * REPETITIONS;
        if (found.reason[0]) {
            bench_row_skip(report, names[kind], "%s", found.reason);
            continue;
        }
        bench_spread(late, REPETITIONS); /* sorts */
        bench_row_value(report, names[kind], "ms", 0, late[REPETITIONS - 1], GOAL_MS);
    }
}
