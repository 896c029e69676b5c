/* SPDX-License-Identifier: MIT */
/* What native fences, signals from outside, presents, and a driver that blocks add to a program. A
 * program of the same seed makes the same calls with them and without, but for the presents. */
#include "plan.h"

/* Who is the same BfCommandQueue is told of by the one that it is. */
static bool is_itself(const struct plan_queue *queue)
{
    return queue->bf && queue->twin < 0;
}

static void queue_choose(struct plan_queue *queue, struct rng *rng, bool logged)
{
    queue->software = is_itself(queue) && rng_percent(rng, 20);
    queue->progress = is_itself(queue) && rng_percent(rng, 25);
    queue->read = rng_percent(rng, 70) && logged && (is_itself(queue) || !queue->bf);
}

/* The host's signals, of whatever thread, come from outside then: true. */
static bool outside_choose(struct plan *plan, const struct machine *machine)
{
    struct rng rng = {plan->seed ^ UINT64_C(0x6f75747369646521)};
    bool late = plan->shape == SHAPE_LATE, any = rng_percent(&rng, late ? 90 : 25);
    any = any && machine->outsider;
    for (int s = 0; s < plan->semaphore_count; s++) {
        struct plan_semaphore *semaphore = &plan->semaphores[s];
        semaphore->outside =
            rng_percent(&rng, 70) && any && semaphore->timeline && !(late && s > 0) &&
            (semaphore->face == FACE_SEMAPHORE || semaphore->face == FACE_IMPORTED);
        semaphore->exportable |= semaphore->outside;
    }
    return any;
}

static void delays_choose(struct plan *plan, bool outside)
{
    static const char *const commands[] = {NULL,
                                           NULL,
                                           "vkQueueSubmit",
                                           "vkQueueBindSparse",
                                           "vkQueuePresentKHR",
                                           "vkQueueWaitIdle",
                                           "vkDeviceWaitIdle"};
    struct rng rng = {plan->seed ^ UINT64_C(0x626c6f636b212121)};
    plan->present_percent = rng_percent(&rng, outside ? 60 : 30) ? rng_range(&rng, 2, 60) : 0;
    if (outside && plan->shape == SHAPE_LATE)
        plan->present_percent = rng_range(&rng, 20, 80);
    plan->block = (struct plan_block){0};
    if (!rng_percent(&rng, 25))
        return;
    plan->block = (struct plan_block){
        .first = (uint32_t)rng_range(&rng, 1, 12),
        .every = rng_percent(&rng, 30) ? 0 : (uint32_t)rng_range(&rng, 1, 12),
        .us = (uint32_t)rng_range(&rng, 1, rng_percent(&rng, 20) ? 2000 : 200),
        .late = rng_percent(&rng, 50),
        .command = commands[rng_below(&rng, sizeof(commands) / sizeof(commands[0]))]};
}

void plan_native(struct plan *plan, const struct machine *machine)
{
    struct rng rng = {plan->seed ^ UINT64_C(0x6e61746976652121)};
    bool any = machine->native && rng_percent(&rng, 60);
    bool logged = machine->native && rng_percent(&rng, 45);
    plan->logged = false;
    delays_choose(plan, outside_choose(plan, machine));
    for (int s = 0; s < plan->semaphore_count; s++) {
        struct plan_semaphore *semaphore = &plan->semaphores[s];
        semaphore->native = rng_percent(&rng, 60) && any &&
                            (semaphore->face == FACE_FENCE || semaphore->face == FACE_EXPORTED);
    }
    for (int q = 0; q < plan->queue_count; q++) {
        struct plan_queue *queue = &plan->queues[q];
        queue_choose(queue, &rng, logged);
        queue->software = queue->software && any;
        queue->progress = queue->progress && any;
        plan->logged |= queue->read;
    }
    for (int q = 0; q < plan->queue_count; q++) {
        const struct plan_queue *queue = &plan->queues[q];
        if (queue->bf && queue->twin >= 0) {
            plan->queues[q].software = plan->queues[queue->twin].software;
            plan->queues[q].read = plan->queues[queue->twin].read;
        }
    }
}
