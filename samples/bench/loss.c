/* SPDX-License-Identifier: MIT */
/* Measures how late a lost device is told of while a present is stuck in the driver. */
#include "loss.h"

#include <unistd.h>

#include "../../tests/icd/icd_client.h"
#include "../common/report.h"
#include "present.h"

#define REPETITIONS 7
#define GOAL_MS     300.0
#define AHEAD_US    20000 /* which the submission is given to come to where it waits */

/* Another thread's submission to the VkQueue of the present. */
struct neighbour {
    struct presenter *presenter;
    VkResult result;
    uint64_t returned_ns;
};

static void *neighbour_run(void *argument)
{
    struct neighbour *n = argument;
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    n->result = n->presenter->side.vk.vkQueueSubmit2(n->presenter->side.queues[1], 1, &info,
                                                     VK_NULL_HANDLE);
    n->returned_ns = bench_now();
    return NULL;
}

static void *present_once(void *argument)
{
    struct presenter *p = argument;
    p->result = presenter_present(p);
    return NULL;
}

/* Work that is held on the VkQueue: it is to be dropped first. */
static VkResult submit_held(struct presenter *p, VkSemaphore timeline)
{
    const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                        .semaphore = timeline,
                                        .value = 1,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .waitSemaphoreInfoCount = 1,
                                .pWaitSemaphoreInfos = &wait};
    return p->side.vk.vkQueueSubmit2(p->side.queues[2], 1, &info, VK_NULL_HANDLE);
}

/* Somebody asks, or, where 'waits', has submitted: alone, so that nobody else asks for him. The
 * plain side can't have him: he would use the present's VkQueue at the same time. In ms. */
static double lose_once(const struct belfry_icd_control *icd, enum bench_side which, bool waits,
                        struct bench_found *found)
{
    double ms = 0;
    struct presenter p = {0};
    struct neighbour n = {.presenter = &p};
    pthread_t presents, submits;
    VkFence fence = VK_NULL_HANDLE;
    VkSemaphore held = VK_NULL_HANDLE;
    if (!presenter_open(&p, which, 3, found))
        goto out;
    if (which == BENCH_BELFRY && p.side.queue_count < 3) {
        bench_found_nothing(found, "under the layer the family has %u queues", p.side.queue_count);
        goto out;
    }
    held = side_timeline(&p.side, found);
    if (!held ||
        (which == BENCH_BELFRY && !bench_worked(submit_held(&p, held), "vkQueueSubmit2", found)))
        goto out;
    if (!bench_worked(p.side.vk.vkCreateFence(
                          p.side.device,
                          &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO}, NULL,
                          &fence),
                      "vkCreateFence", found))
        goto out;
    icd->set_block(&(struct belfry_icd_block){.command = "vkQueuePresentKHR", .first = 1});
    bench_thread_start(&presents, present_once, &p);
    icd->await_blocked(1);
    if (waits) {
        bench_thread_start(&submits, neighbour_run, &n);
        usleep(AHEAD_US);
    }
    const uint64_t lost_ns = bench_now();
    icd->lose();
    if (waits)
        pthread_join(submits, NULL);
    const VkResult told = p.side.vk.vkGetFenceStatus(p.side.device, fence);
    ms = (double)((waits ? n.returned_ns : bench_now()) - lost_ns) / 1e6;
    icd->release(UINT64_MAX);
    pthread_join(presents, NULL);
    icd->set_block(NULL);
    if (told != VK_ERROR_DEVICE_LOST || (waits && n.result != VK_ERROR_DEVICE_LOST) ||
        p.result != VK_ERROR_DEVICE_LOST)
        bench_found_nothing(found, "the loss wasn't told of: %s, %s, %s", sample_result_name(told),
                            sample_result_name(n.result), sample_result_name(p.result));
out:
    if (fence)
        p.side.vk.vkDestroyFence(p.side.device, fence, NULL);
    if (held)
        p.side.vk.vkDestroySemaphore(p.side.device, held, NULL);
    presenter_close(&p);
    return ms;
}

void loss_run(const struct bench_options *options, enum bench_side which, struct bench_found *found)
{
    struct belfry_icd_control icd = {0};
    (void)options;
    struct side side = {0}; /* keeps the driver loaded, and its control */
    if (!side_open_presenting(&side, which, 1, found))
        return;
    if (!belfry_icd_control_load(&icd))
        bench_found_nothing(found, "the test driver isn't there");
    for (uint32_t i = 0; i < REPETITIONS && !found->reason[0]; ++i) {
        found->plain[i] = lose_once(&icd, which, false, found);
        if (which == BENCH_BELFRY)
            found->plain[REPETITIONS + i] = lose_once(&icd, which, true, found);
    }
    found->count = 2 * REPETITIONS;
    side_close(&side);
    belfry_icd_control_unload(&icd);
}

void loss_rows(struct bench_report *report)
{
    static struct bench_found sides[2];
    static const char *const settings[] = {"BELFRY_ICD_SHAPE=q1",
                                           "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=3", NULL};
    for (uint32_t which = 0; which < 2; ++which) {
        bench_part_run_on_icd("loss", which ? BENCH_BELFRY : BENCH_PLAIN, settings, &sides[which]);
        if (sides[which].reason[0]) {
            bench_row_skip(report, LOSS_ROW_ASKS, "%s", sides[which].reason);
            bench_row_skip(report, LOSS_ROW_WAITS, "%s", sides[which].reason);
            return;
        }
    }
    bench_row_value(report, LOSS_ROW_ASKS, "ms", bench_spread(sides[0].plain, REPETITIONS).median,
                    bench_spread(sides[1].plain, REPETITIONS).high, GOAL_MS);
    bench_row_value(report, LOSS_ROW_WAITS, "ms", 0,
                    bench_spread(sides[1].plain + REPETITIONS, REPETITIONS).high, GOAL_MS);
}
