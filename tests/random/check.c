/* SPDX-License-Identifier: MIT */
/* What the model says of effects and results, held against what happened. */
#include "run.h"
#include "../support/type.h"

/* The device may be writing right now, out of the thread sanitizer's sight. */
__attribute__((no_sanitize_thread)) static uint32_t word_read(const struct run *run, int word)
{
    return __atomic_load_n(&run->bench->words[word], __ATOMIC_ACQUIRE);
}

__attribute__((no_sanitize_thread)) uint64_t check_word_read(const volatile uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static uint32_t mark_of(const struct run *run, int cb)
{
    return run->tag + (uint32_t)cb;
}

/* Marks ------------------------------------------------------------------------------------- */

void check_done(struct run *run, int op, int node)
{
    const struct plan *plan = run->plan;
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        if (!batch->cb_count || !plan_before(plan, plan_node_commands(plan, b), node))
            continue;
        for (int c = batch->first_cb; c < batch->first_cb + batch->cb_count; c++) {
            uint32_t word = word_read(run, WORD_SLOT + c);
            if (word != mark_of(run, c))
                run_fail(run, op,
                         "b%d must have ended, but command buffer %d has left 0x%" PRIx32
                         " instead of 0x%" PRIx32,
                         b, c, word, mark_of(run, c));
        }
    }
}

void check_not_started(struct run *run, int op)
{
    const struct plan *plan = run->plan;
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        if (!batch->cb_count ||
            !plan_before(plan, plan_node_start(op), plan_node_commands(plan, b)))
            continue;
        for (int c = batch->first_cb; c < batch->first_cb + batch->cb_count; c++)
            if (word_read(run, WORD_SLOT + c))
                run_fail(run, op, "b%d has run (command buffer %d), but must not have begun", b, c);
    }
}

bool check_batch_ran(const struct run *run, int batch)
{
    const struct plan_batch *b = &run->plan->batches[batch];
    for (int c = b->first_cb; c < b->first_cb + b->cb_count; c++)
        if (word_read(run, WORD_SLOT + c) != mark_of(run, c))
            return false;
    return true;
}

void check_effects(struct run *run)
{
    const struct plan *plan = run->plan;
    for (int c = 0; c < plan->cb_count; c++) {
        const struct plan_cb *cb = &plan->cbs[c];
        const struct plan_batch *batch = &plan->batches[cb->batch];
        int seen = WORD_SEEN + c * SEEN_STRIDE;
        for (int i = 0; i < cb->see_count; i++) {
            const struct plan_see *see = &cb->sees[i];
            uint32_t word = word_read(run, seen + i);
            if (word != (see->must ? mark_of(run, see->cb) : 0))
                run_fail(run, -1,
                         "command buffer %d (b%d) %s the mark of command buffer %d (b%d): it read "
                         "0x%" PRIx32,
                         c, cb->batch, see->must ? "must have seen" : "can't have seen", see->cb,
                         plan->cbs[see->cb].batch, word);
        }
        if (batch->bare)
            continue;
        uint32_t tail = word_read(run, seen + PLAN_SEE);
        uint32_t previous = cb->previous < 0 ? 0 : mark_of(run, cb->previous);
        if (tail != previous)
            run_fail(run, -1,
                     "command buffer %d (b%d) is out of order on Q%d: it follows mark 0x%" PRIx32
                     ", not 0x%" PRIx32,
                     c, cb->batch, batch->queue, tail, previous);
    }
}

/* Results ----------------------------------------------------------------------------------- */

/* Has that signal of the semaphore (its place in signals[]) been given before the call begins, for
 * sure? */
static bool signal_known(const struct plan *plan, int index, int k, int op)
{
    return plan_before(plan, plan_node_place(plan, index, k, true), plan_node_start(op));
}

/* Can it be given only after the call has ended? */
static bool signal_impossible(const struct plan *plan, int index, int k, int op)
{
    return plan_before(plan, plan_node_end(op), plan_node_place(plan, index, k, false));
}

static bool item_is_fence(const struct run *run, int op)
{
    return run->plan->ops[op].kind != OP_WAIT_SEMAPHORES;
}

/* The call that arms the wait for a value, -1 for a semaphore that follows a wild fence. */
static int item_arm(const struct run *run, int op)
{
    return run->plan->ops[op].bf ? op : -1;
}

bool check_item_known(const struct run *run, int op, int item)
{
    const struct plan *plan = run->plan;
    const struct plan_item *wanted = &plan->ops[op].items[item];
    if (item_is_fence(run, op))
        return plan_before(plan, plan_node_use(plan, wanted->index), plan_node_start(op));
    return plan_ticket_sure(plan, wanted->index, wanted->value, item_arm(run, op),
                            plan_node_start(op));
}

bool check_item_impossible(const struct run *run, int op, int item)
{
    const struct plan *plan = run->plan;
    const struct plan_item *wanted = &plan->ops[op].items[item];
    if (item_is_fence(run, op))
        return plan_before(plan, plan_node_end(op), plan_node_use(plan, wanted->index));
    return plan_ticket_never(plan, wanted->index, wanted->value, item_arm(run, op),
                             plan_node_end(op));
}

/* All that comes before the fulfilment of an item has happened. */
static void item_done(struct run *run, int op, int item)
{
    const struct plan *plan = run->plan;
    const struct plan_item *wanted = &plan->ops[op].items[item];
    if (item_is_fence(run, op)) {
        check_done(run, op, plan_node_use(plan, wanted->index));
        return;
    }
    int k = plan_ticket_first(plan, wanted->index, wanted->value, item_arm(run, op));
    if (k >= 0)
        check_done(run, op, plan_node_place(plan, wanted->index, k, false));
}

/* Is an item fulfilled now, as Vulkan says? */
static bool item_fulfilled(struct run *run, int op, int item)
{
    const struct plan_item *wanted = &run->plan->ops[op].items[item];
    struct bench *bench = run->bench;
    if (item_is_fence(run, op)) {
        VkFence fence = run->fences[run->plan->uses[wanted->index].fence];
        return bench->vk.vkGetFenceStatus(bench->device, fence) == VK_SUCCESS;
    }
    if (run->plan->semaphores[wanted->index].wild)
        return true; /* it was, and need not be any more */
    if (run->plan->ops[op].bf)
        return bench->bf.GetFenceCompletedValue(run->bf_fences[wanted->index]) >= wanted->value;
    uint64_t value = 0;
    VkSemaphore semaphore = run->semaphores[wanted->index];
    VkResult result =
        bench->timeline_core
            ? bench->vk.vkGetSemaphoreCounterValue(bench->device, semaphore, &value)
            : bench->vk.vkGetSemaphoreCounterValueKHR(bench->device, semaphore, &value);
    return result == VK_SUCCESS && value >= wanted->value;
}

/* What others have told may be true of it only a moment later. */
static bool op_lags(const struct run *run, int op)
{
    const struct plan_op *o = &run->plan->ops[op];
    bool lags = run->counters_lag;
    for (int i = 0; i < o->item_count; i++)
        lags |= !o->bf && run->plan->semaphores[o->items[i].index].face == FACE_EXPORTED;
    return lags;
}

void check_wait_result(struct run *run, int op, VkResult result)
{
    const struct plan_op *o = &run->plan->ops[op];
    VkResult negative = o->kind == OP_FENCE_STATUS ? VK_NOT_READY : VK_TIMEOUT;
    if (result != VK_SUCCESS && result != negative)
        run_fail(run, op, "it returned VkResult %d", result);
    bool any = o->any && o->item_count > 1, known = !any, impossible = any;
    for (int i = 0; i < o->item_count; i++) {
        if (any) {
            known = known || check_item_known(run, op, i);
            impossible = impossible && check_item_impossible(run, op, i);
        } else {
            known = known && check_item_known(run, op, i);
            impossible = impossible || check_item_impossible(run, op, i);
        }
    }
    if (result != VK_SUCCESS) {
        if (known && !(o->kind == OP_WAIT_SEMAPHORES && op_lags(run, op)))
            run_fail(run, op, "it returned %s, but what it waits for had happened before",
                     result == VK_TIMEOUT ? "VK_TIMEOUT" : "VK_NOT_READY");
        if (o->timeout >= TIMEOUT_LONG && o->kind != OP_FENCE_STATUS)
            run_fail(run, op, "it returned VK_TIMEOUT long before its time was over");
        return;
    }
    if (impossible)
        run_fail(run, op, "it returned VK_SUCCESS, but what it waits for can't have happened");
    int fulfilled = 0;
    for (int i = 0; i < o->item_count; i++) {
        if (!any || item_fulfilled(run, op, i)) {
            if (!any || item_is_fence(run, op) || !run->plan->semaphores[o->items[i].index].wild)
                item_done(run, op, i);
            fulfilled++;
        }
    }
    if (!fulfilled)
        run_fail(run, op, "it returned VK_SUCCESS, but none of what it waits for is true");
}

/* What follows a wild fence has one of its values, and keeps the largest. */
static void check_follower(struct run *run, int op, int index, uint64_t value)
{
    const struct plan *plan = run->plan;
    const struct plan_semaphore *semaphore = &plan->semaphores[index];
    bool is_one = value == semaphore->initial;
    for (int k = 0; k < semaphore->signal_count; k++)
        is_one |= semaphore->values[k] == value && !signal_impossible(plan, index, k, op);
    if (!is_one)
        run_fail(run, op, "the counter of S%d is %" PRIu64 ", which it can't be yet", index, value);
}

void check_counter(struct run *run, int op, int index, uint64_t value)
{
    const struct plan *plan = run->plan;
    const struct plan_semaphore *semaphore = &plan->semaphores[index];
    if (semaphore->wild) {
        check_follower(run, op, index, value);
        return;
    }
    int k = plan_reach(semaphore, value);
    if (value < semaphore->initial || k == semaphore->signal_count ||
        (k >= 0 && semaphore->values[k] != value))
        run_fail(run, op, "the counter of S%d is %" PRIu64 ", which it never is", index, value);
    if (!op_lags(run, op) && k + 1 < semaphore->signal_count &&
        signal_known(plan, index, k + 1, op))
        run_fail(run, op, "the counter of S%d is %" PRIu64 ", but must be at least %" PRIu64, index,
                 value, semaphore->values[k + 1]);
    if (k < 0)
        return;
    if (signal_impossible(plan, index, k, op))
        run_fail(run, op, "the counter of S%d is %" PRIu64 " too early", index, value);
    check_done(run, op, plan_node_place(plan, index, k, false));
}

/* Belfry's API ------------------------------------------------------------------------------- */

void check_wild_value(struct run *run, int op, int index, uint64_t value)
{
    int k;
    if (!plan_value_possible(run->plan, index, value, op, &k))
        run_fail(run, op, "the value of S%d is %" PRIu64 ", which it can't be now", index, value);
    if (k >= 0)
        check_done(run, op, plan_node_place(run->plan, index, k, false));
}

void check_bell(struct run *run, int op, int bell)
{
    const struct plan *plan = run->plan;
    int rings = 0, last = -1;
    for (int r = 0; r < plan->registration_count; r++) {
        if (plan->registrations[r].bell == bell && !plan_ring_never(plan, r, plan_node_end(op))) {
            last = r;
            rings++;
        }
    }
    if (!rings)
        run_fail(run, op, "E%d is set, but nothing can have set it yet", bell);
    if (rings == 1)
        check_done(run, op, plan_node_ring(plan, last));
}

void check_bf_counters(struct run *run)
{
    const struct plan *plan = run->plan;
    struct bench *bench = run->bench;
    BfDeviceCounters now = {BF_TYPE(DEVICE_COUNTERS)};
    uint64_t parts = 0; /* what is split of lower queues, or under requests [PE-6] */
    const uint64_t late = bench->bf_late[0] + bench->bf_late[1];
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        if (!plan->queues[batch->queue].bf)
            continue;
        /* Each execute, each wait and signal of an imported fence, and each signal of a native one;
         * plain fences cost nothing. */
        bench->bf_submissions += batch->split ? (uint64_t)batch->cb_count : batch->cb_count > 0;
        parts += !bench->attach && !batch->split && batch->cb_count > 1
                     ? (uint64_t)batch->cb_count - 1
                     : 0;
        bool software = plan->queues[batch->queue].software;
        for (int s = 0; s < batch->signal_count; s++) {
            const struct plan_semaphore *semaphore = &plan->semaphores[batch->signals[s].semaphore];
            bench->bf_submissions +=
                semaphore->face == FACE_IMPORTED || (semaphore->native && !software);
        }
        for (int w = 0; w < batch->wait_count; w++)
            bench->bf_submissions +=
                plan->semaphores[batch->waits[w].semaphore].face == FACE_IMPORTED;
    }
    /* Those that never come to pass ring when their fences go. */
    bench->bf_rings += (uint64_t)plan->registration_count;
    /* They are counted when they have happened: maybe a moment after the program knows of it. */
    do {
        sched_yield();
        run_must(run, -1, bench->bf.GetDeviceCounters(bench->bf_device, &now),
                 "bfGetDeviceCounters");
    } while (now.submissions < bench->bf_submissions);
    /* With readers signals are work, and waits may be. */
    if (now.submissions > bench->bf_submissions + parts + late && !plan->logged)
        run_fail(run, -1,
                 "Belfry counts %" PRIu64 " submissions, but %" PRIu64
                 " executes, and waits and signals that are work, were made, of at most %" PRIu64
                 " parts and %" PRIu64 " earlier ones more",
                 now.submissions, bench->bf_submissions, parts, late);
    if (now.eventsSet > bench->bf_rings)
        run_fail(run, -1, "Belfry counts %" PRIu64 " events set, but at most %" PRIu64 " can be",
                 now.eventsSet, bench->bf_rings);
}

/* The driver -------------------------------------------------------------------------------- */

/* Marks of Belfry's own: of requests for preemption; and of each VkQueue, before its first present
 * since the program has asked for its BfDevice (PE-2, PE-4). */
static uint64_t marks_most(const struct run *run)
{
    const struct plan *plan = run->plan;
    const uint64_t presents = atomic_load(&run->presents) - run->presented;
    const uint64_t requests = atomic_load(&run->requests) - run->requested;
    uint64_t vkqueues = 0;
    for (int q = 0; q < plan->queue_count; q++)
        vkqueues += !plan->queues[q].bf;
    if (run->bench->attach)
        return requests;
    return requests + (presents < vkqueues ? presents : vkqueues);
}

void check_driver(struct run *run)
{
    if (!run->icd.library)
        return;
    struct belfry_icd_counters counters;
    run->icd.get_counters(&counters);
    uint64_t bare_infos = 0, void_infos = 0, empty_calls = 0;
    const struct plan *plan = run->plan;
    for (int i = 0; i < plan->op_count; i++) {
        const struct plan_op *op = &plan->ops[i];
        if (op->kind != OP_SUBMIT)
            continue;
        if (!op->batch_count && op->use < 0)
            empty_calls++;
        for (int k = 0; k < op->batch_count; k++) {
            const struct plan_batch *batch = &plan->batches[op->batches[k]];
            if (batch->cb_count || op->bf)
                continue;
            bare_infos++;
            /* Its call's fence may have gone down later, with a batch that was held. */
            if (!batch->wait_count && !batch->signal_count)
                void_infos++;
        }
    }
    bare_infos += atomic_load(&run->presents_that_wait) - run->presents_that_waited;
    bare_infos += marks_most(run);
    for (int v = 0; v < BELFRY_ICD_VIOLATION_COUNT; v++) {
        uint64_t allowed = 0;
        if (v == BELFRY_ICD_WAIT_BEFORE_SIGNAL && !run->layer)
            continue; /* legal Vulkan; only Belfry promises more */
        if (v == BELFRY_ICD_EMPTY_INFO)
            allowed = void_infos;
        if (counters.violations[v] > allowed)
            run_fail(run, -1, "the driver counted %" PRIu64 " times %s (%" PRIu64 " allowed)",
                     counters.violations[v], run->icd.violation_name(v), allowed);
    }
    if (counters.infos_without_command_buffer > bare_infos)
        run_fail(run, -1,
                 "the driver got %" PRIu64
                 " infos without command buffer, the program submitted %" PRIu64,
                 counters.infos_without_command_buffer, bare_infos);
    if (counters.empty_calls > empty_calls)
        run_fail(run, -1,
                 "the driver got %" PRIu64 " empty submit calls, the program made %" PRIu64,
                 counters.empty_calls, empty_calls);
}
