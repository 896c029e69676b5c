/* SPDX-License-Identifier: MIT */
/* Execution of what belongs to Belfry's own API. */
#include "run.h"
#include "../support/type.h"

#include <poll.h>

/* Objects ----------------------------------------------------------------------------------- */

static void fence_create(struct run *run, int index)
{
    const struct plan_semaphore *semaphore = &run->plan->semaphores[index];
    struct bf_api *bf = &run->bench->bf;
    BfFence *fence = &run->bf_fences[index];
    if (semaphore->face == FACE_IMPORTED) {
        run_must(run, -1,
                 bf->ImportFenceFromSemaphore(run->bench->bf_device, run->semaphores[index], fence),
                 "bfImportFenceFromSemaphore");
        return;
    }
    BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = semaphore->initial};
    BfNativeFenceCreateInfo native = {BF_TYPE(NATIVE_FENCE_CREATE_INFO),
                                      .initialValue = semaphore->initial};
    if (semaphore->native)
        run_must(run, -1, bf->CreateNativeFence(run->bench->bf_device, &native, fence),
                 "bfCreateNativeFence");
    else
        run_must(run, -1, bf->CreateFence(run->bench->bf_device, &info, fence), "bfCreateFence");
    if (semaphore->face == FACE_EXPORTED)
        run_must(run, -1, bf->ExportFenceToSemaphore(*fence, run->semaphores[index]),
                 "bfExportFenceToSemaphore");
}

void bf_objects_create(struct run *run)
{
    const struct plan *plan = run->plan;
    struct bench *bench = run->bench;
    for (int s = 0; s < plan->semaphore_count; s++) {
        run->bf_fences[s] = NULL;
        if (plan_is_bf(&plan->semaphores[s]))
            fence_create(run, s);
    }
    for (int q = 0; q < plan->queue_count; q++) {
        const struct plan_queue *queue = &plan->queues[q];
        run->bf_queues[q] = NULL;
        if (!queue->bf)
            continue;
        if (queue->twin >= 0) {
            run->bf_queues[q] = run->bf_queues[queue->twin];
            continue;
        }
        BfCommandQueueCreateInfo info = {
            BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
            .type = (BfCommandListType)queue->type,
            .priority =
                queue->high ? BF_COMMAND_QUEUE_PRIORITY_HIGH : BF_COMMAND_QUEUE_PRIORITY_NORMAL,
            .flags = (queue->dynamic ? BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT : 0) |
                     (queue->software ? BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT : 0),
        };
        run_must(run, -1, bench->bf.CreateCommandQueue(bench->bf_device, &info, &run->bf_queues[q]),
                 "bfCreateCommandQueue");
        uint32_t family = bench->bf.GetCommandQueueFamilyIndex(run->bf_queues[q]);
        if (family >= bench->family_count || !bench->families[family].pool)
            run_fail(run, -1,
                     "Q%d takes command buffers of family %" PRIu32
                     ", of which the program has no queue",
                     q, family);
        run->executed[q] = NULL;
        if (queue->progress)
            run_must(run, -1,
                     bench->bf.GetCommandQueueProgressFence(run->bf_queues[q], &run->executed[q]),
                     "bfGetCommandQueueProgressFence");
    }
    for (int b = 0; b < plan->bell_count; b++)
        run_must(run, -1,
                 bench->bf.CreateEvent(plan->bells[b].manual ? BF_EVENT_MANUAL_RESET_BIT : 0,
                                       &run->bells[b]),
                 "bfCreateEvent");
}

void bf_objects_destroy(struct run *run)
{
    const struct plan *plan = run->plan;
    struct bf_api *bf = &run->bench->bf;
    /* In a different order for every program; some are gone already. */
    for (int b = 0; b < plan->bell_count && plan->seed % 2; b++)
        bf->DestroyEvent(run->bells[b]);
    for (int q = 0; q < plan->queue_count && plan->seed % 3; q++)
        if (plan->queues[q].bf && plan->queues[q].twin < 0)
            bf->DestroyCommandQueue(run->bf_queues[q]);
    for (int s = 0; s < plan->semaphore_count; s++)
        if (plan_is_bf(&plan->semaphores[s]))
            bf->DestroyFence(run->bf_fences[s]);
    for (int q = 0; q < plan->queue_count && !(plan->seed % 3); q++)
        if (plan->queues[q].bf && plan->queues[q].twin < 0)
            bf->DestroyCommandQueue(run->bf_queues[q]);
    for (int b = 0; b < plan->bell_count && !(plan->seed % 2); b++)
        bf->DestroyEvent(run->bells[b]);
}

/* Queues ------------------------------------------------------------------------------------ */

/* In some programs queues are suspended over some of their calls (CS-1, CS-2). The plan needn't
 * know: it changes nothing but when they run. */
static bool plan_suspends(const struct plan *plan)
{
    return plan->seed % 4 == 1;
}

/* On a queue that is idle, a signal is there when its call returns, whatever other threads do. */
static void signal_check_idle(struct run *run, int op, int index)
{
    const struct plan *plan = run->plan;
    const struct plan_batch *batch = &plan->batches[index];
    const struct plan_queue *queue = &plan->queues[batch->queue];
    if (batch->cb_count || batch->wait_count || queue->waitless || run->counters_lag ||
        queue->read || plan_suspends(plan)) /* then it is work, or its turn may not have come */
        return;
    int i = 0, before = -1;
    for (; queue->events[i] != batch->event; i++)
        before = plan->events[queue->events[i]].batch;
    if ((i && plan->events[queue->events[i - 1]].kind == EVENT_ARM) ||
        (before >= 0 && !plan_before(plan, plan_node_done(plan, before), plan_node_start(op))))
        return;
    for (int s = 0; s < batch->signal_count; s++) {
        int f = batch->signals[s].semaphore;
        if (plan->semaphores[f].face == FACE_IMPORTED)
            return; /* which is work */
        if (plan->semaphores[f].native && !queue->software)
            return;
        if (plan->semaphores[f].face != FACE_FENCE || plan->semaphores[f].wild)
            continue;
        uint64_t value = run->bench->bf.GetFenceCompletedValue(run->bf_fences[f]);
        if (value < batch->signals[s].value)
            run_fail(run, op,
                     "b%d has nothing to wait for, but S%d is %" PRIu64 " after its signal", index,
                     f, value);
    }
}

static void batch_submit(struct run *run, int op, int index)
{
    const struct plan_batch *batch = &run->plan->batches[index];
    struct bf_api *bf = &run->bench->bf;
    BfCommandQueue queue = run->bf_queues[batch->queue];
    bool suspended = plan_suspends(run->plan) && (uint32_t)op * UINT32_C(2246822519) >> 31;
    if (suspended)
        run_must(run, op, bf->SuspendCommandQueue(queue), "bfSuspendCommandQueue");
    for (int w = 0; w < batch->wait_count; w++) {
        const struct plan_wait *wait = &batch->waits[w];
        if (wait->arm < 0)
            run_must(run, op, bf->QueueWait(queue, run->bf_fences[wait->semaphore], wait->value),
                     "bfQueueWait");
    }
    /* Changes nothing but when others' work runs, if at all (PE-1): the plan needn't know. */
    if (batch->cb_count && (uint32_t)op * UINT32_C(2654435761) >> 30 == 0) {
        atomic_fetch_add(&run->requests, 1);
        run_must(run, op, bf->RequestPreemption(queue, NULL), "bfRequestPreemption");
    }
    VkCommandBuffer cbs[PLAN_CBS_PER_BATCH];
    for (int c = 0; c < batch->cb_count; c++)
        cbs[c] = run->cbs[batch->first_cb + c];
    uint32_t count = batch->split ? 1 : (uint32_t)batch->cb_count;
    for (int c = 0; c < batch->cb_count; c += (int)count)
        run_must(run, op, bf->QueueExecute(queue, count, &cbs[c]), "bfQueueExecute");
    for (int c = 0; c < PLAN_CBS_PER_BATCH; c++)
        cbs[c] = VK_NULL_HANDLE; /* what the program gave may be gone */
    for (int s = 0; s < batch->signal_count; s++)
        run_must(run, op,
                 bf->QueueSignal(queue, run->bf_fences[batch->signals[s].semaphore],
                                 batch->signals[s].value),
                 "bfQueueSignal");
    if (suspended)
        run_must(run, op, bf->ResumeCommandQueue(queue), "bfResumeCommandQueue");
    signal_check_idle(run, op, index);
}

/* Fences ------------------------------------------------------------------------------------ */

static void value_check(struct run *run, int op, int index)
{
    uint64_t value = run->bench->bf.GetFenceCompletedValue(run->bf_fences[index]);
    if (run->plan->semaphores[index].wild)
        check_wild_value(run, op, index, value);
    else
        check_counter(run, op, index, value);
}

static void fence_signal(struct run *run, int op)
{
    const struct plan_event *event = &run->plan->events[run->plan->ops[op].event];
    BfFence fence = run->bf_fences[event->semaphore];
    run_must(run, op, run->bench->bf.SignalFence(fence, event->value), "bfSignalFence");
    uint64_t value = run->bench->bf.GetFenceCompletedValue(fence);
    if (run->plan->semaphores[event->semaphore].wild)
        check_wild_value(run, op, event->semaphore, value);
    else if (value < event->value)
        run_fail(run, op, "the fence is %" PRIu64 " right after it", value);
}

VkResult bf_wait_fences(struct run *run, int index)
{
    const struct plan_op *op = &run->plan->ops[index];
    BfFence fences[PLAN_ITEMS];
    uint64_t values[PLAN_ITEMS];
    for (int i = 0; i < op->item_count; i++) {
        fences[i] = run->bf_fences[op->items[i].index];
        values[i] = op->items[i].value;
    }
    return run->bench->bf.WaitFences((uint32_t)op->item_count, fences, values,
                                     op->any ? BF_FENCE_WAIT_ANY_BIT : BF_FENCE_WAIT_ALL,
                                     run_timeout(op->timeout));
}

/* Events ------------------------------------------------------------------------------------ */

static bool fd_readable(struct run *run, int bell, int timeout_ms)
{
    struct pollfd fd = {run->bench->bf.GetEventFd(run->bells[bell]), POLLIN, 0};
    int ready;
    do
        ready = poll(&fd, 1, timeout_ms);
    while (ready < 0);
    return ready > 0;
}

bool bf_bell_rings(struct run *run, int bell)
{
    return fd_readable(run, bell, 0);
}

static void registration_make(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    int index = plan->ops[op].registration;
    const struct plan_registration *r = &plan->registrations[index];
    struct bf_api *bf = &run->bench->bf;
    BfFence fences[PLAN_ITEMS];
    uint64_t values[PLAN_ITEMS];
    for (int i = 0; i < r->item_count; i++) {
        fences[i] = run->bf_fences[r->items[i].index];
        values[i] = r->items[i].value;
    }
    BfEvent event = run->bells[r->bell];
    if (r->item_count == 1 && plan->seed % 2)
        run_must(run, op, bf->SetEventOnFenceCompletion(fences[0], values[0], event),
                 "bfSetEventOnFenceCompletion");
    else
        run_must(run, op,
                 bf->SetEventOnMultipleFenceCompletion(
                     (uint32_t)r->item_count, fences, values,
                     r->any ? BF_FENCE_WAIT_ANY_BIT : BF_FENCE_WAIT_ALL, event),
                 "bfSetEventOnMultipleFenceCompletion");
    if (bf_bell_rings(run, r->bell))
        check_bell(run, op, r->bell);
    else if (!run->counters_lag && plan_ring_sure(plan, index, plan_node_start(op)))
        run_fail(run, op, "E%d is not set at once, but all it waits for had happened", r->bell);
}

static void bells_wait(struct run *run, int index)
{
    const struct plan_op *op = &run->plan->ops[index];
    struct bf_api *bf = &run->bench->bf;
    BfEvent events[PLAN_ITEMS];
    uint32_t first = UINT32_MAX;
    for (int i = 0; i < op->item_count; i++)
        events[i] = run->bells[op->items[i].index];
    VkResult result = bf->WaitForEvents((uint32_t)op->item_count, events, !op->any,
                                        run_timeout(op->timeout), &first);
    if (result == VK_TIMEOUT && op->timeout < TIMEOUT_LONG)
        return;
    run_must(run, index, result, "bfWaitForEvents");
    if (op->any && first >= (uint32_t)op->item_count)
        run_fail(run, index, "it names event %" PRIu32 " of %d", first, op->item_count);
    for (int i = 0; i < op->item_count; i++)
        if (!op->any || i == (int)first)
            check_bell(run, index, op->items[i].index);
    if (!op->take)
        return;
    int bell = op->items[0].index;
    if (run->plan->bells[bell].manual)
        run_must(run, index, bf->ResetEvent(events[0]), "bfResetEvent");
    if (bf_bell_rings(run, bell))
        run_fail(run, index, "E%d is set again", bell);
}

/* Settling ---------------------------------------------------------------------------------- */

static bool bell_current(const struct plan *plan, int bell, int op)
{
    const struct plan_bell *b = &plan->bells[bell];
    return b->destroy_op < 0 || b->destroy_op > op;
}

void bf_settle_wait(struct run *run, int index)
{
    const struct plan *plan = run->plan;
    const uint64_t *finishing = plan->settles[plan->ops[index].settle];
    BfFence fences[PLAN_SEMAPHORES];
    uint64_t values[PLAN_SEMAPHORES];
    uint32_t count = 0;
    for (int s = 0; s < plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        int n = 0;
        while (n < semaphore->signal_count && plan_set_has(finishing, semaphore->signals[n]))
            n++;
        if (!plan_is_bf(semaphore) || semaphore->wild || !n)
            continue;
        fences[count] = run->bf_fences[s];
        values[count++] = semaphore->values[n - 1];
    }
    if (count)
        run_must(run, index,
                 run->bench->bf.WaitFences(count, fences, values, BF_FENCE_WAIT_ALL, UINT64_MAX),
                 "bfWaitFences");
    run_moved(run);
    for (int r = 0; r < plan->registration_count; r++) {
        int bell = plan->registrations[r].bell;
        bool taken = plan->bells[bell].take_op >= 0 && plan->bells[bell].take_op < index;
        if (plan->settle_rings[plan->ops[index].settle] >> r & 1 && !taken &&
            bell_current(plan, bell, index))
            fd_readable(run, bell, -1);
        run_moved(run);
    }
}

/* NF-2: once no signal is under way, the word is the value. What a wild fence is signalled by may
 * be under way a moment longer than anything that could be waited for. */
static void word_check(struct run *run, int op, BfFence fence, const char *what, int index)
{
    struct bf_api *bf = &run->bench->bf;
    BfNativeFenceMapping mapping = {BF_TYPE(NATIVE_FENCE_MAPPING)};
    run_must(run, op, bf->GetNativeFenceMapping(fence, &mapping), "bfGetNativeFenceMapping");
    uint64_t value, word;
    double until = run_seconds() + run->watchdog_s;
    do {
        value = bf->GetFenceCompletedValue(fence);
        word = check_word_read(mapping.pCurrentValue);
    } while (value != word && run_seconds() < until && !sched_yield());
    if (value != word)
        run_fail(run, op, "the value of %s%d is %" PRIu64 ", its word %" PRIu64, what, index, value,
                 word);
}

void bf_words_check(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    for (int s = 0; s < plan->semaphore_count; s++)
        if (plan->semaphores[s].native && run->bf_fences[s])
            word_check(run, op, run->bf_fences[s], "S", s);
    for (int q = 0; q < plan->queue_count; q++)
        if (plan->queues[q].progress && run->bf_queues[q])
            word_check(run, op, run->executed[q], "the progress fence of Q", q);
}

/* The program has ended: each call of bfQueueExecute has been counted. */
void bf_progress_check(struct run *run)
{
    const struct plan *plan = run->plan;
    for (int q = 0; q < plan->queue_count; q++) {
        uint64_t calls = 0;
        if (!plan->queues[q].progress || !run->bf_queues[q])
            continue;
        for (int b = 0; b < plan->batch_count; b++) {
            const struct plan_batch *batch = &plan->batches[b];
            if (batch->queue == q || plan->queues[batch->queue].twin == q)
                calls += batch->split ? (uint64_t)batch->cb_count : batch->cb_count > 0;
        }
        run_must(
            run, -1,
            run->bench->bf.WaitFences(1, &run->executed[q], &calls, BF_FENCE_WAIT_ALL, UINT64_MAX),
            "bfWaitFences");
        uint64_t value = run->bench->bf.GetFenceCompletedValue(run->executed[q]);
        if (value != calls)
            run_fail(run, -1, "Q%d has counted %" PRIu64 " of %" PRIu64 " executions", q, value,
                     calls);
    }
}

void bf_settle_check_still(struct run *run, int index)
{
    const struct plan *plan = run->plan;
    bf_words_check(run, index);
    for (int s = 0; s < plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        if (plan_is_bf(semaphore) && run->bf_fences[s])
            value_check(run, index, s);
    }
    for (int b = 0; b < plan->bell_count; b++) {
        if (!bell_current(plan, b, index) || !bf_bell_rings(run, b))
            continue;
        if (plan->bells[b].take_op >= 0 && plan->bells[b].take_op < index)
            run_fail(run, index, "E%d is set again", b);
        check_bell(run, index, b);
    }
}

/* ------------------------------------------------------------------------------------------- */

bool bf_op_execute(struct run *run, int index)
{
    const struct plan_op *op = &run->plan->ops[index];
    const struct plan_event *event = op->event < 0 ? NULL : &run->plan->events[op->event];
    struct bf_api *bf = &run->bench->bf;
    switch (op->kind) {
    case OP_SUBMIT:
        for (int i = 0; op->bf && i < op->batch_count; i++)
            batch_submit(run, index, op->batches[i]);
        return op->bf;
    case OP_SIGNAL:
        if (op->bf)
            fence_signal(run, index);
        return op->bf;
    case OP_WAIT_SEMAPHORES:
        if (op->bf)
            check_wait_result(run, index, bf_wait_fences(run, index));
        return op->bf;
    case OP_COUNTER:
        if (op->bf)
            value_check(run, index, op->items[0].index);
        return op->bf;
    case OP_QUEUE_IDLE:
        if (!run->plan->queues[op->queue].bf)
            return false;
        run_must(run, index, bf->QueueWaitIdle(run->bf_queues[op->queue]), "it");
        return true;
    case OP_ARM:
        run_must(run, index,
                 bf->QueueWait(run->bf_queues[op->queue], run->bf_fences[event->semaphore],
                               event->value),
                 "it");
        return true;
    case OP_REGISTER:
        registration_make(run, index);
        return true;
    case OP_WAIT_BELLS:
        bells_wait(run, index);
        return true;
    case OP_LOOK:
        if (bf_bell_rings(run, op->items[0].index))
            check_bell(run, index, op->items[0].index);
        return true;
    case OP_DESTROY_FENCE:
        bf->DestroyFence(run->bf_fences[event->semaphore]);
        run->bf_fences[event->semaphore] = NULL;
        return true;
    case OP_DESTROY_BELL:
        bf->DestroyEvent(run->bells[op->items[0].index]);
        run->bells[op->items[0].index] = NULL;
        return true;
    case OP_DESTROY_QUEUE:
        logs_leave(run, index, op->queue);
        bf->DestroyCommandQueue(run->bf_queues[op->queue]);
        run->bf_queues[op->queue] = NULL;
        return true;
    case OP_PRIORITY:
        run_must(run, index,
                 bf->SetCommandQueuePriority(run->bf_queues[op->queue],
                                             op->high ? BF_COMMAND_QUEUE_PRIORITY_HIGH
                                                      : BF_COMMAND_QUEUE_PRIORITY_NORMAL),
                 "it");
        return true;
    default:
        return false;
    }
}
