/* SPDX-License-Identifier: MIT */
/* Executes plans. Each thread makes its calls in order; a call that others must have preceded
 * waits at a gate. The supervisor (the caller of run_plan) watches that something moves. */
#include "run.h"
#include "../support/type.h"

#include <signal.h>
#include <time.h>

static const uint64_t SHORT_NS = 20000;
static const uint64_t LONG_NS = UINT64_C(10000000000000);

/* Failure ----------------------------------------------------------------------------------- */

_Noreturn void run_fail(struct run *run, int op, const char *format, ...)
{
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&taken))
        pause(); /* somebody else is about to end the process */
    fprintf(stderr, "belfry-random: VIOLATION in program %" PRIu64 "%s%s", run->plan->seed,
            op >= 0 ? " at " : "", op >= 0 ? "" : ": ");
    if (op >= 0) {
        plan_dump_op(run->plan, op, stderr);
        fputs(": ", stderr);
    }
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    plan_dump(run->plan, stderr);
    fprintf(stderr, "belfry-random: run it alone with --only-seed %" PRIu64 "\n", run->plan->seed);
    fflush(NULL);
    _exit(1);
}

void run_must(struct run *run, int op, VkResult result, const char *what)
{
    if (result != VK_SUCCESS)
        run_fail(run, op, "%s returned VkResult %d", what, result);
}

void run_moved(struct run *run)
{
    atomic_fetch_add_explicit(&run->moves, 1, memory_order_relaxed);
}

static uint64_t counter_read(struct run *run, int op, int semaphore)
{
    struct bench *bench = run->bench;
    if (!plan_is_vk(&run->plan->semaphores[semaphore]))
        return bench->bf.GetFenceCompletedValue(run->bf_fences[semaphore]);
    uint64_t value = 0;
    VkSemaphore handle = run->semaphores[semaphore];
    run_must(run, op,
             bench->timeline_core
                 ? bench->vk.vkGetSemaphoreCounterValue(bench->device, handle, &value)
                 : bench->vk.vkGetSemaphoreCounterValueKHR(bench->device, handle, &value),
             "vkGetSemaphoreCounterValue");
    return value;
}

/* The first batch of each queue that was submitted and has left no mark. */
static void stuck_queues(struct run *run)
{
    const struct plan *plan = run->plan;
    for (int q = 0; q < plan->queue_count; q++) {
        for (int i = 0; i < plan->queues[q].event_count; i++) {
            int b = plan->events[plan->queues[q].events[i]].batch;
            if (b < 0 || check_batch_ran(run, b))
                continue;
            int op = plan->batches[b].op;
            if (atomic_load(&run->threads[plan->ops[op].thread].done) > plan->ops[op].sequence)
                fprintf(stderr, "  Q%d: b%d, submitted by #%d, has left no mark\n", q, b, op);
            break;
        }
    }
}

static _Noreturn void stuck_exit(int signal)
{
    (void)signal;
    _exit(1);
}

/* What waits, told by the supervisor when nothing has moved for too long. */
static _Noreturn void run_stuck(struct run *run)
{
    const struct plan *plan = run->plan;
    fprintf(stderr,
            "belfry-random: VIOLATION in program %" PRIu64
            ": nothing has moved for %d s, but the model says that it ends\n",
            plan->seed, run->watchdog_s);
    for (int t = 0; t < plan->thread_count; t++) {
        int op = atomic_load(&run->threads[t].op);
        const char *where = atomic_load(&run->threads[t].where);
        fprintf(stderr, "  thread %d: %s ", t, where ? where : "");
        if (op >= 0)
            plan_dump_op(plan, op, stderr);
        fputc('\n', stderr);
    }
    stuck_queues(run);
    if (run->icd.library) {
        struct belfry_icd_counters counters;
        run->icd.get_counters(&counters);
        for (int v = 0; v < BELFRY_ICD_VIOLATION_COUNT; v++) {
            if (counters.violations[v])
                fprintf(stderr, "  the driver counted %" PRIu64 " times %s\n",
                        counters.violations[v], run->icd.violation_name(v));
        }
    }
    plan_dump(plan, stderr);
    fprintf(stderr, "belfry-random: run it alone with --only-seed %" PRIu64 "\n", plan->seed);
    /* Vulkan may be stuck as well, so it's asked last. */
    fflush(NULL);
    signal(SIGALRM, stuck_exit);
    alarm(2);
    for (int s = 0; s < plan->semaphore_count; s++)
        if (plan->semaphores[s].timeline && (run->semaphores[s] || run->bf_fences[s]))
            fprintf(stderr, "  S%d stands at %" PRIu64 "\n", s, counter_read(run, -1, s));
    fflush(NULL);
    _exit(1);
}

/* Gates ------------------------------------------------------------------------------------- */

static void thread_moves(struct run_thread *thread)
{
    struct run *run = thread->run;
    atomic_fetch_add_explicit(&run->moves, 1, memory_order_relaxed);
    atomic_fetch_add(&thread->done, 1);
    if (!atomic_load(&run->gated))
        return;
    pthread_mutex_lock(&run->lock);
    pthread_cond_broadcast(&run->progress);
    pthread_mutex_unlock(&run->lock);
}

static bool gate_open(struct run *run, const struct plan_op *op)
{
    for (int t = 0; t < PLAN_THREADS; t++)
        if (op->after[t] && atomic_load(&run->threads[t].done) < op->after[t])
            return false;
    return true;
}

static void gate_pass(struct run_thread *thread, const struct plan_op *op)
{
    struct run *run = thread->run;
    /* A short spin lets threads that are released together really begin together. */
    for (int i = 0; i < 600; i++) {
        if (gate_open(run, op))
            return;
        if (i > 560)
            sched_yield();
    }
    atomic_store(&thread->where, "waits for other threads before");
    pthread_mutex_lock(&run->lock);
    atomic_fetch_add(&run->gated, 1);
    while (!gate_open(run, op))
        pthread_cond_wait(&run->progress, &run->lock);
    atomic_fetch_sub(&run->gated, 1);
    pthread_mutex_unlock(&run->lock);
}

/* Submission -------------------------------------------------------------------------------- */

static VkPipelineStageFlags stage_of(bool transfer)
{
    return transfer ? VK_PIPELINE_STAGE_TRANSFER_BIT : VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
}

static VkFence op_fence(struct run *run, const struct plan_op *op)
{
    return op->use < 0 ? VK_NULL_HANDLE : run->fences[run->plan->uses[op->use].fence];
}

/* The arrays of one batch in the form of Vulkan 1.0; also those of a sparse bind. */
struct batch_arrays {
    VkSemaphore waits[PLAN_LINKS];
    uint64_t wait_values[PLAN_LINKS];
    VkPipelineStageFlags stages[PLAN_LINKS];
    VkSemaphore signals[PLAN_LINKS];
    uint64_t signal_values[PLAN_LINKS];
    VkTimelineSemaphoreSubmitInfo timeline;
};

static const void *batch_arrays_fill(struct run *run, const struct plan_batch *batch,
                                     struct batch_arrays *arrays)
{
    bool timeline = false;
    for (int i = 0; i < batch->wait_count; i++) {
        const struct plan_wait *wait = &batch->waits[i];
        arrays->waits[i] = run->semaphores[wait->semaphore];
        arrays->wait_values[i] = wait->value;
        arrays->stages[i] = stage_of(wait->transfer_stage);
        timeline = timeline || run->plan->semaphores[wait->semaphore].timeline;
    }
    for (int i = 0; i < batch->signal_count; i++) {
        arrays->signals[i] = run->semaphores[batch->signals[i].semaphore];
        arrays->signal_values[i] = batch->signals[i].value;
        timeline = timeline || run->plan->semaphores[batch->signals[i].semaphore].timeline;
    }
    arrays->timeline =
        (VkTimelineSemaphoreSubmitInfo){VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO),
                                        .waitSemaphoreValueCount = (uint32_t)batch->wait_count,
                                        .pWaitSemaphoreValues = arrays->wait_values,
                                        .signalSemaphoreValueCount = (uint32_t)batch->signal_count,
                                        .pSignalSemaphoreValues = arrays->signal_values};
    return timeline ? &arrays->timeline : NULL;
}

static VkResult submit_1(struct run *run, const struct plan_op *op)
{
    struct batch_arrays arrays[PLAN_GROUP];
    VkSubmitInfo infos[PLAN_GROUP];
    for (int i = 0; i < op->batch_count; i++) {
        const struct plan_batch *batch = &run->plan->batches[op->batches[i]];
        const void *next = batch_arrays_fill(run, batch, &arrays[i]);
        infos[i] = (VkSubmitInfo){VK_TYPE(SUBMIT_INFO),
                                  .pNext = next,
                                  .waitSemaphoreCount = (uint32_t)batch->wait_count,
                                  .pWaitSemaphores = arrays[i].waits,
                                  .pWaitDstStageMask = arrays[i].stages,
                                  .commandBufferCount = (uint32_t)batch->cb_count,
                                  .pCommandBuffers = &run->cbs[batch->first_cb],
                                  .signalSemaphoreCount = (uint32_t)batch->signal_count,
                                  .pSignalSemaphores = arrays[i].signals};
    }
    VkQueue queue = run->bench->queues[run->plan->queues[op->queue].machine_queue];
    VkResult result = run->bench->vk.vkQueueSubmit(
        queue, (uint32_t)op->batch_count, op->batch_count ? infos : NULL, op_fence(run, op));
    /* What the program gave may be gone once the call has returned. */
    memset(arrays, 0xa5, sizeof(arrays));
    memset(infos, 0xa5, sizeof(infos));
    return result;
}

static VkResult submit_2(struct run *run, const struct plan_op *op)
{
    VkSemaphoreSubmitInfo waits[PLAN_GROUP][PLAN_LINKS], signals[PLAN_GROUP][PLAN_LINKS];
    VkCommandBufferSubmitInfo cbs[PLAN_GROUP][PLAN_CBS_PER_BATCH];
    VkSubmitInfo2 infos[PLAN_GROUP];
    for (int i = 0; i < op->batch_count; i++) {
        const struct plan_batch *batch = &run->plan->batches[op->batches[i]];
        for (int k = 0; k < batch->wait_count; k++)
            waits[i][k] =
                (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO),
                                        .semaphore = run->semaphores[batch->waits[k].semaphore],
                                        .value = batch->waits[k].value,
                                        .stageMask = stage_of(batch->waits[k].transfer_stage)};
        for (int k = 0; k < batch->signal_count; k++)
            signals[i][k] =
                (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO),
                                        .semaphore = run->semaphores[batch->signals[k].semaphore],
                                        .value = batch->signals[k].value,
                                        .stageMask = stage_of(batch->signals[k].transfer_stage)};
        for (int k = 0; k < batch->cb_count; k++)
            cbs[i][k] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                    .commandBuffer = run->cbs[batch->first_cb + k]};
        infos[i] = (VkSubmitInfo2){VK_TYPE(SUBMIT_INFO_2),
                                   .waitSemaphoreInfoCount = (uint32_t)batch->wait_count,
                                   .pWaitSemaphoreInfos = waits[i],
                                   .commandBufferInfoCount = (uint32_t)batch->cb_count,
                                   .pCommandBufferInfos = cbs[i],
                                   .signalSemaphoreInfoCount = (uint32_t)batch->signal_count,
                                   .pSignalSemaphoreInfos = signals[i]};
    }
    VkQueue queue = run->bench->queues[run->plan->queues[op->queue].machine_queue];
    VkResult result = bench_submit2(run->bench, queue, (uint32_t)op->batch_count,
                                    op->batch_count ? infos : NULL, op_fence(run, op));
    memset(waits, 0xa5, sizeof(waits));
    memset(signals, 0xa5, sizeof(signals));
    memset(cbs, 0xa5, sizeof(cbs));
    memset(infos, 0xa5, sizeof(infos));
    return result;
}

static VkResult bind_sparse(struct run *run, const struct plan_op *op)
{
    struct batch_arrays arrays[PLAN_GROUP];
    VkBindSparseInfo infos[PLAN_GROUP];
    for (int i = 0; i < op->batch_count; i++) {
        const struct plan_batch *batch = &run->plan->batches[op->batches[i]];
        const void *next = batch_arrays_fill(run, batch, &arrays[i]);
        infos[i] = (VkBindSparseInfo){VK_TYPE(BIND_SPARSE_INFO),
                                      .pNext = next,
                                      .waitSemaphoreCount = (uint32_t)batch->wait_count,
                                      .pWaitSemaphores = arrays[i].waits,
                                      .signalSemaphoreCount = (uint32_t)batch->signal_count,
                                      .pSignalSemaphores = arrays[i].signals};
    }
    VkQueue queue = run->bench->queues[run->plan->queues[op->queue].machine_queue];
    VkResult result = run->bench->vk.vkQueueBindSparse(
        queue, (uint32_t)op->batch_count, op->batch_count ? infos : NULL, op_fence(run, op));
    memset(arrays, 0xa5, sizeof(arrays));
    memset(infos, 0xa5, sizeof(infos));
    return result;
}

/* Host calls -------------------------------------------------------------------------------- */

static VkResult semaphores_wait(struct run *run, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    struct bench *bench = run->bench;
    return bench->timeline_core ? bench->vk.vkWaitSemaphores(bench->device, info, timeout)
                                : bench->vk.vkWaitSemaphoresKHR(bench->device, info, timeout);
}

double run_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t run_timeout(enum plan_timeout timeout)
{
    static const uint64_t infinite = UINT64_MAX;
    return timeout == TIMEOUT_NONE    ? 0
           : timeout == TIMEOUT_SHORT ? SHORT_NS
           : timeout == TIMEOUT_LONG  ? LONG_NS
                                      : infinite;
}

static void op_wait_semaphores(struct run *run, int index)
{
    const struct plan_op *op = &run->plan->ops[index];
    VkSemaphore semaphores[PLAN_ITEMS];
    uint64_t values[PLAN_ITEMS];
    for (int i = 0; i < op->item_count; i++) {
        semaphores[i] = run->semaphores[op->items[i].index];
        values[i] = op->items[i].value;
    }
    VkSemaphoreWaitInfo info = {
        VK_TYPE(SEMAPHORE_WAIT_INFO), .flags = op->any ? VK_SEMAPHORE_WAIT_ANY_BIT : 0,
        .semaphoreCount = (uint32_t)op->item_count, .pSemaphores = semaphores, .pValues = values};
    check_wait_result(run, index, semaphores_wait(run, &info, run_timeout(op->timeout)));
}

static uint32_t op_fences(struct run *run, const struct plan_op *op, VkFence fences[PLAN_ITEMS])
{
    for (int i = 0; i < op->item_count; i++)
        fences[i] = run->fences[run->plan->uses[op->items[i].index].fence];
    return (uint32_t)op->item_count;
}

static void op_signal(struct run *run, int index)
{
    const struct plan_event *event = &run->plan->events[run->plan->ops[index].event];
    struct bench *bench = run->bench;
    VkSemaphoreSignalInfo info = {VK_TYPE(SEMAPHORE_SIGNAL_INFO),
                                  .semaphore = run->semaphores[event->semaphore],
                                  .value = event->value};
    bool outside = run->plan->semaphores[event->semaphore].outside;
    atomic_fetch_add(&run->signals_outside, outside);
    VkResult result = outside ? outsider_signal(bench, run->outside[event->semaphore], event->value)
                      : bench->timeline_core ? bench->vk.vkSignalSemaphore(bench->device, &info)
                                             : bench->vk.vkSignalSemaphoreKHR(bench->device, &info);
    run_must(run, index, result, "vkSignalSemaphore");
    uint64_t value = counter_read(run, index, event->semaphore);
    if (value < event->value)
        run_fail(run, index, "the counter is %" PRIu64 " right after it", value);
}

/* Settling ---------------------------------------------------------------------------------- */

static void settle_poll(struct run_thread *thread, const uint64_t *finishing)
{
    struct run *run = thread->run;
    const struct plan *plan = run->plan;
    atomic_store(&thread->where, "looks at memory in");
    for (int b = 0; b < plan->batch_count; b++) {
        if (!plan_set_has(finishing, plan->batches[b].event))
            continue;
        for (int tries = 0; !check_batch_ran(run, b); tries++) {
            if (tries < 200) {
                sched_yield();
            } else {
                struct timespec nap = {0, 20000};
                nanosleep(&nap, NULL);
            }
        }
        atomic_fetch_add_explicit(&run->moves, 1, memory_order_relaxed);
    }
}

/* How many of a semaphore's signals can happen by then. */
static int settle_count(const struct plan_semaphore *semaphore, const uint64_t *finishing)
{
    int n = 0;
    while (n < semaphore->signal_count && plan_set_has(finishing, semaphore->signals[n]))
        n++;
    return n;
}

static bool settle_use_current(const struct plan *plan, int use, int index)
{
    return plan->uses[use].op < index &&
           (plan->uses[use].reset_op < 0 || plan->uses[use].reset_op > index);
}

static void settle_wait(struct run_thread *thread, int index, const uint64_t *finishing)
{
    struct run *run = thread->run;
    const struct plan *plan = run->plan;
    atomic_store(&thread->where, "waits for semaphores in");
    VkSemaphore semaphores[PLAN_SEMAPHORES];
    uint64_t values[PLAN_SEMAPHORES];
    VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .pSemaphores = semaphores,
                                .pValues = values};
    for (int s = 0; s < plan->semaphore_count; s++) {
        int n = settle_count(&plan->semaphores[s], finishing);
        if (!plan_is_vk(&plan->semaphores[s]) || !plan->semaphores[s].timeline ||
            plan->semaphores[s].wild || !n)
            continue;
        semaphores[info.semaphoreCount] = run->semaphores[s];
        values[info.semaphoreCount++] = plan->semaphores[s].values[n - 1];
    }
    if (info.semaphoreCount)
        run_must(run, index, semaphores_wait(run, &info, UINT64_MAX), "vkWaitSemaphores");

    bf_settle_wait(run, index);

    atomic_store(&thread->where, "waits for fences in");
    VkFence fences[PLAN_FENCES];
    uint32_t count = 0;
    for (int u = 0; u < plan->use_count; u++) {
        int last = plan->uses[u].last_batch;
        if (settle_use_current(plan, u, index) &&
            (last < 0 || plan_set_has(finishing, plan->batches[last].event)))
            fences[count++] = run->fences[plan->uses[u].fence];
    }
    if (count)
        run_must(
            run, index,
            run->bench->vk.vkWaitForFences(run->bench->device, count, fences, VK_TRUE, UINT64_MAX),
            "vkWaitForFences");
}

/* Nothing has happened that can't have. */
static void settle_check_still(struct run *run, int index, const uint64_t *finishing)
{
    const struct plan *plan = run->plan;
    for (int s = 0; s < plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &plan->semaphores[s];
        if (!semaphore->timeline || semaphore->wild)
            continue;
        uint64_t value = counter_read(run, index, s);
        check_counter(run, index, s, value);
        int n = settle_count(semaphore, finishing);
        uint64_t least = n ? semaphore->values[n - 1] : semaphore->initial;
        if (value < least)
            run_fail(run, index, "the counter of S%d is %" PRIu64 ", but could be %" PRIu64, s,
                     value, least);
    }
    for (int u = 0; u < plan->use_count; u++) {
        if (!settle_use_current(plan, u, index) ||
            !plan_before(plan, plan_node_end(index), plan_node_use(plan, u)))
            continue;
        VkResult result =
            run->bench->vk.vkGetFenceStatus(run->bench->device, run->fences[plan->uses[u].fence]);
        if (result != VK_NOT_READY)
            run_fail(run, index, "the status of F%d (use %d) is %d too early", plan->uses[u].fence,
                     u, result);
    }
    bf_settle_check_still(run, index);
    check_not_started(run, index);
}

static void op_settle(struct run_thread *thread, int index)
{
    struct run *run = thread->run;
    const uint64_t *finishing = run->plan->settles[run->plan->ops[index].settle];
    if (run->plan->poll_first) {
        settle_poll(thread, finishing);
        settle_wait(thread, index, finishing);
    } else {
        settle_wait(thread, index, finishing);
        settle_poll(thread, finishing);
    }
    settle_check_still(run, index, finishing);
}

/* The test driver, paused and not ----------------------------------------------------------- */

/* Only while no other thread can be waiting for the driver. */
static void driver_pause(struct run *run)
{
    if (!run->icd.library || !run->plan->pause)
        return;
    run->icd.pause();
    atomic_store(&run->paused, true);
}

static void driver_resume(struct run *run)
{
    if (atomic_exchange(&run->paused, false))
        run->icd.resume();
}

/* Called within the driver's submit calls: now and then one takes as long as many calls of another
 * thread, which run into it. */
static void driver_dawdle(const struct belfry_icd_record *record, void *user)
{
    (void)user;
    if (record->sequence % 16 == 0) {
        struct timespec nap = {0, 150000};
        nanosleep(&nap, NULL);
    }
    for (uint64_t i = 0; i < record->sequence % 3; i++)
        sched_yield();
}

static void driver_block(struct run *run, const struct plan_block *block)
{
    if (run->icd.library)
        run->icd.set_block(&(struct belfry_icd_block){.command = block->command,
                                                      .first = block->first,
                                                      .every = block->every,
                                                      .ns = block->us * UINT64_C(1000),
                                                      .late = block->late});
}

bool run_op_may_block(const struct plan *plan, const struct plan_op *op)
{
    switch (op->kind) {
    case OP_SUBMIT:
        return op->closed && plan->present_percent && plan_has_followers(plan);
    case OP_WAIT_SEMAPHORES:
    case OP_WAIT_FENCES:
    case OP_WAIT_BELLS:
        return op->timeout >= TIMEOUT_LONG;
    case OP_QUEUE_IDLE:
    case OP_DEVICE_IDLE:
    case OP_SETTLE:
        return true;
    default:
        return false;
    }
}

/* Threads ----------------------------------------------------------------------------------- */

static void op_execute(struct run_thread *thread, int index)
{
    struct run *run = thread->run;
    struct bench *bench = run->bench;
    const struct plan_op *op = &run->plan->ops[index];
    VkFence fences[PLAN_ITEMS];
    if (bf_op_execute(run, index))
        return;
    switch (op->kind) {
    case OP_SUBMIT:
        run_must(run, index, op->api == 2 ? submit_2(run, op) : submit_1(run, op), "it");
        present_after(run, index);
        break;
    case OP_BIND:
        run_must(run, index, bind_sparse(run, op), "it");
        break;
    case OP_SIGNAL:
        op_signal(run, index);
        break;
    case OP_WAIT_SEMAPHORES:
        op_wait_semaphores(run, index);
        break;
    case OP_COUNTER:
        check_counter(run, index, op->items[0].index, counter_read(run, index, op->items[0].index));
        break;
    case OP_WAIT_FENCES: {
        uint32_t count = op_fences(run, op, fences);
        check_wait_result(run, index,
                          bench->vk.vkWaitForFences(bench->device, count, fences, !op->any,
                                                    run_timeout(op->timeout)));
        break;
    }
    case OP_FENCE_STATUS:
        op_fences(run, op, fences);
        check_wait_result(run, index, bench->vk.vkGetFenceStatus(bench->device, fences[0]));
        break;
    case OP_RESET_FENCES: {
        uint32_t count = op_fences(run, op, fences);
        if (!op->recreate) {
            run_must(run, index, bench->vk.vkResetFences(bench->device, count, fences), "it");
            break;
        }
        for (uint32_t i = 0; i < count; i++) {
            VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
            VkFence *fence = &run->fences[run->plan->uses[op->items[i].index].fence];
            bench->vk.vkDestroyFence(bench->device, *fence, NULL);
            run_must(run, index, bench->vk.vkCreateFence(bench->device, &info, NULL, fence),
                     "vkCreateFence");
        }
        break;
    }
    case OP_QUEUE_IDLE:
        run_must(
            run, index,
            bench->vk.vkQueueWaitIdle(bench->queues[run->plan->queues[op->queue].machine_queue]),
            "it");
        break;
    case OP_DEVICE_IDLE:
        run_must(run, index, bench->vk.vkDeviceWaitIdle(bench->device), "it");
        break;
    case OP_SETTLE:
        op_settle(thread, index);
        break;
    case OP_YIELD:
        sched_yield();
        break;
    default: /* Belfry's API alone */
        break;
    }
}

static void thread_run_plan(struct run_thread *thread)
{
    struct run *run = thread->run;
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->thread_op_count[thread->index]; i++) {
        int index = plan->thread_ops[thread->index][i];
        atomic_store_explicit(&thread->op, index, memory_order_relaxed);
        gate_pass(thread, &plan->ops[index]);
        atomic_store_explicit(&thread->where, "is in", memory_order_relaxed);
        check_not_started(run, index);
        if (run_op_may_block(plan, &plan->ops[index]))
            driver_resume(run);
        logs_before(run, index);
        op_execute(thread, index);
        logs_after(run, index);
        check_done(run, index, plan_node_end(index));
        if (plan->ops[index].kind == OP_SETTLE)
            driver_pause(run);
        thread_moves(thread);
    }
    atomic_store(&thread->op, -1);
    atomic_store(&thread->where, "has finished");
}

static void *thread_main(void *argument)
{
    struct run_thread *thread = argument;
    struct run *run = thread->run;
    uint64_t seen = 0;
    pthread_mutex_lock(&run->lock);
    while (true) {
        while (!run->over && run->plan_number == seen)
            pthread_cond_wait(&run->begin, &run->lock);
        if (run->over)
            break;
        seen = run->plan_number;
        bool mine = thread->index < run->plan->thread_count;
        pthread_mutex_unlock(&run->lock);
        if (mine)
            thread_run_plan(thread);
        pthread_mutex_lock(&run->lock);
        if (--run->running == 0)
            pthread_cond_signal(&run->end);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

bool run_init(struct run *run, struct bench *bench)
{
    *run = (struct run){.bench = bench, .watchdog_s = 60};
    if (!logs_init(run))
        return false;
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->begin, NULL);
    pthread_cond_init(&run->progress, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&run->end, &attributes);
    pthread_condattr_destroy(&attributes);
    for (int t = 0; t < PLAN_THREADS; t++) {
        run->threads[t].run = run;
        run->threads[t].index = t;
        if (pthread_create(&run->threads[t].thread, NULL, thread_main, &run->threads[t])) {
            run->threads[t].run = NULL;
            run_finish(run);
            return false;
        }
    }
    return true;
}

void run_finish(struct run *run)
{
    pthread_mutex_lock(&run->lock);
    run->over = true;
    pthread_cond_broadcast(&run->begin);
    pthread_mutex_unlock(&run->lock);
    for (int t = 0; t < PLAN_THREADS && run->threads[t].run; t++)
        pthread_join(run->threads[t].thread, NULL);
    pthread_cond_destroy(&run->end);
    pthread_cond_destroy(&run->progress);
    pthread_cond_destroy(&run->begin);
    pthread_mutex_destroy(&run->lock);
    logs_finish(run);
}

/* Starts all threads on the plan and returns when they have finished. */
static void run_threads(struct run *run)
{
    for (int t = 0; t < PLAN_THREADS; t++) {
        atomic_store(&run->threads[t].done, 0);
        atomic_store(&run->threads[t].op, -1);
    }
    pthread_mutex_lock(&run->lock);
    run->running = PLAN_THREADS;
    run->plan_number++;
    pthread_cond_broadcast(&run->begin);
    uint64_t moves = 0;
    int still_s = 0;
    while (run->running) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        if (pthread_cond_timedwait(&run->end, &run->lock, &until) != ETIMEDOUT)
            continue;
        uint64_t now = atomic_load(&run->moves);
        still_s = now == moves ? still_s + 1 : 0;
        moves = now;
        if (still_s >= run->watchdog_s) {
            pthread_mutex_unlock(&run->lock);
            run_stuck(run);
        }
    }
    pthread_mutex_unlock(&run->lock);
}

/* Objects ----------------------------------------------------------------------------------- */

static void objects_create(struct run *run)
{
    struct bench *bench = run->bench;
    for (int s = 0; s < run->plan->semaphore_count; s++) {
        const struct plan_semaphore *semaphore = &run->plan->semaphores[s];
        run->semaphores[s] = VK_NULL_HANDLE;
        if (!plan_is_vk(semaphore))
            continue;
        VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO)};
        run_must(run, -1,
                 semaphore->timeline
                     ? bench_timeline(bench, semaphore->initial, semaphore->exportable,
                                      &run->semaphores[s])
                     : bench->vk.vkCreateSemaphore(bench->device, &info, NULL, &run->semaphores[s]),
                 "vkCreateSemaphore");
        if (semaphore->outside)
            run_must(run, -1, outsider_import(bench, run->semaphores[s], &run->outside[s]),
                     "importing a semaphore");
    }
    for (int f = 0; f < run->plan->fence_count; f++) {
        VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
        run_must(run, -1, bench->vk.vkCreateFence(bench->device, &info, NULL, &run->fences[f]),
                 "vkCreateFence");
    }
}

static void objects_destroy(struct run *run)
{
    struct bench *bench = run->bench;
    for (int s = 0; s < run->plan->semaphore_count && run->counters_lag; s++) {
        const struct plan_semaphore *semaphore = &run->plan->semaphores[s];
        if (!semaphore->timeline || !semaphore->signal_count || semaphore->wild ||
            !plan_is_vk(semaphore))
            continue;
        VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                    .pSemaphores = &run->semaphores[s],
                                    .pValues = &semaphore->values[semaphore->signal_count - 1]};
        run_must(run, -1, semaphores_wait(run, &info, UINT64_MAX), "vkWaitSemaphores");
    }
    for (int s = 0; s < run->plan->semaphore_count; s++) {
        bench->vk.vkDestroySemaphore(bench->device, run->semaphores[s], NULL);
        if (run->plan->semaphores[s].outside)
            bench->outsider.vk.vkDestroySemaphore(bench->outsider.device, run->outside[s], NULL);
    }
    for (int f = 0; f < run->plan->fence_count; f++)
        bench->vk.vkDestroyFence(bench->device, run->fences[f], NULL);
}

bool run_plan(struct run *run, struct plan *plan)
{
    run->plan = plan;
    run->tag = (uint32_t)((run->plan_number & 0x7ffff) + 1) << 12;
    if (run->icd.library)
        run->icd.reset_counters();
    run->presented = atomic_load(&run->presents);
    run->requested = atomic_load(&run->requests);
    run->presents_that_waited = atomic_load(&run->presents_that_wait);
    objects_create(run);
    bf_objects_create(run);
    logs_begin(run);
    uint32_t families[PLAN_QUEUES];
    for (int q = 0; q < plan->queue_count; q++)
        families[q] = plan->queues[q].bf
                          ? run->bench->bf.GetCommandQueueFamilyIndex(run->bf_queues[q])
                          : run->bench->machine.queues[plan->queues[q].machine_queue].family;
    run_must(run, -1, bench_record(run->bench, plan, run->tag, families, run->cbs), "recording");
    bool slow = run->icd.library && plan->slow;
    if (slow)
        run->icd.set_callback(driver_dawdle, NULL);
    driver_block(run, &plan->block);
    driver_pause(run);
    run_threads(run);
    driver_resume(run);
    driver_block(run, &(struct plan_block){0});
    if (slow)
        run->icd.set_callback(NULL, NULL);
    check_effects(run);
    if (run->bench->bf_device) {
        check_bf_counters(run);
        run_must(run, -1, bench_idle(run->bench), "bench_idle");
        bf_words_check(run, -1);
        bf_progress_check(run);
        uint64_t late = logs_end(run);
        run_must(run, -1, bench_recount(run->bench, late), "bench_recount");
    }
    bf_objects_destroy(run);
    objects_destroy(run);
    check_driver(run);
    return true;
}
