/* SPDX-License-Identifier: MIT */
/* Measures how late the watchdog tells. */
#include "told.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tests/icd/icd_client.h"
#include "side.h"

#define REPETITIONS 7
#define SET_MS      200
#define SETTING     "VK_BELFRY_MULTI_ENGINE_WATCHDOG"
#define GOAL_MS     1000.0

enum kind { MISSING, CIRCLE, BUSY, KINDS };

/* Blocks until the watchdog has written a line to the pipe, which is stderr. False: there is no
 * pipe any more. */
static bool await_line(int from)
{
    char text[4096];
    size_t length = 0;
    ssize_t got;
    while ((got = read(from, text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)got;
        text[length] = '\0';
        if (strstr(text, "standstill"))
            return true;
        if (length > sizeof text / 2)
            length = 0;
    }
    return false;
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
static double tell_once(const struct belfry_icd_control *icd, enum kind kind, int from,
                        struct bench_found *found)
{
    struct side side = {0};
    double ms = 0;
    if (!side_open(&side, BENCH_BELFRY, NULL, 2, found))
        return 0;
    VkSemaphore first = side_timeline(&side, found), second = side_timeline(&side, found);
    VkResult result = VK_SUCCESS;
    if (side.queue_count < 2)
        bench_found_nothing(found, "under the layer the family has %u queues", side.queue_count);
    if (found->reason[0])
        goto out;
    if (kind == BUSY)
        icd->pause();
    const uint64_t begin_ns = bench_now();
    result = submit(&side, 0, kind == BUSY ? VK_NULL_HANDLE : first,
                    kind == CIRCLE ? second : VK_NULL_HANDLE);
    if (kind == CIRCLE && result == VK_SUCCESS)
        result = submit(&side, 1, second, first);
    if (bench_worked(result, "vkQueueSubmit2", found) && await_line(from))
        ms = (double)(bench_now() - begin_ns) / 1e6 - SET_MS;
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
    setenv(SETTING, "200", 1);
    if (!side_open(&side, which, NULL, 1, found))
        return;
    if (!belfry_icd_control_load(&icd))
        bench_found_nothing(found, "the test driver isn't there");
    int ends[2], before = dup(STDERR_FILENO);
    if (before < 0 || pipe(ends))
        bench_found_nothing(found, "no pipe for stderr");
    else
        dup2(ends[1], STDERR_FILENO);
    for (uint32_t kind = 0; kind < KINDS; ++kind) {
        for (uint32_t i = 0; i < REPETITIONS && !found->reason[0]; ++i)
            found->plain[kind * REPETITIONS + i] = tell_once(&icd, (enum kind)kind, ends[0], found);
    }
    dup2(before, STDERR_FILENO);
    found->count = KINDS * REPETITIONS;
    side_close(&side);
    belfry_icd_control_unload(&icd);
}

void told_rows(struct bench_report *report)
{
    static const char *const names[KINDS] = {TOLD_ROWS};
    static const char *const settings[] = {"BELFRY_ICD_SHAPE=q1", NULL};
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
