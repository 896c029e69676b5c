/* SPDX-License-Identifier: MIT */
/* The model of a program's queues: what was called, what has run, and what it comes after. */
#include "access/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"

/* --------------------------------------------------------------------------------- The check -- */

bool bf_access_enter(struct bf_access *access)
{
    if (!access || atomic_load_explicit(&access->off, memory_order_relaxed))
        return false;
    bf_lock_acquire(&access->lock);
    if (!atomic_load_explicit(&access->off, memory_order_relaxed))
        return true;
    bf_lock_release(&access->lock);
    return false;
}

void bf_access_stop_locked(struct bf_access *access, const char *why)
{
    if (atomic_exchange(&access->off, true) || !why)
        return;
    bf_message(BF_MESSAGE_WARNING, "access: the check ends: %s", why);
}

static void queues_retire(struct bf_access *access);

void bf_access_leave(struct bf_access *access)
{
    if (access->clocks.failed)
        bf_access_stop_locked(access, "out of memory");
    if (access->retires && !access->clocks.failed)
        queues_retire(access);
    bf_lock_release(&access->lock);
}

void bf_access_stop(struct bf_access *access, const char *why)
{
    if (!bf_access_enter(access))
        return;
    bf_access_stop_locked(access, why);
    bf_access_leave(access);
}

bool bf_access_has_ended(struct bf_access *access)
{
    return atomic_load_explicit(&access->off, memory_order_relaxed);
}

void bf_access_fail(struct bf_access *access)
{
    bf_access_stop(access, "out of memory");
}

VkResult bf_access_create(const struct bf_access_info *info, struct bf_access **out)
{
    struct bf_access *access = calloc(1, sizeof(*access));
    if (!access)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    access->observer.calls = &bf_access_observer_calls;
    access->info = *info;
    bf_message(BF_MESSAGE_WARNING,
               "access: accesses through descriptors are not seen; tell them with bfQueueUses%s",
               info->layer ? "" : ". Nor are command buffers: that takes the layer");
    *out = access;
    return VK_SUCCESS;
}

static void free_resource(void *value, void *context)
{
    (void)context;
    bf_access_resource_release(value);
}

static void free_op(struct bf_access *access, struct bf_access_op *op)
{
    for (uint32_t i = 0; i < op->block_count; i++)
        bf_access_block_release(op->blocks[i]);
    bf_model_fence_release(op->fence);
    bf_clock_release(&access->clocks, op->call);
    bf_clock_release(&access->clocks, op->clock);
    access->op_count--;
    free(op);
}

static void queue_free(struct bf_access_queue *queue)
{
    struct bf_access *access = queue->access;
    while (queue->head) {
        struct bf_access_op *next = queue->head->next;
        free_op(access, queue->head);
        queue->head = next;
    }
    while (queue->oldest)
        bf_access_group_free(queue->oldest);
    for (uint32_t i = 0; i < queue->hint_count; i++)
        bf_access_block_release(queue->hints[i]);
    free(queue->hints);
    if (queue->previous)
        queue->previous->next = queue->next;
    else
        access->queues = queue->next;
    if (queue->next)
        queue->next->previous = queue->previous;
    bf_clock_release(&access->clocks, queue->clock);
    free(queue);
}

void bf_access_destroy(struct bf_access *access)
{
    if (!access)
        return;
    if (access->unsaid)
        bf_message(BF_MESSAGE_WARNING, "access: %u more faults were not reported one by one",
                   access->unsaid);
    bf_access_events_finish(access);
    bf_access_vulkan_finish(access);
    while (access->queues)
        queue_free(access->queues);
    while (access->fences) {
        access->fences->references = 1;
        bf_model_fence_release(access->fences);
    }
    bf_access_recordings_finish(access);
    bf_map_finish(&access->buffers, free_resource, NULL);
    bf_map_finish(&access->images, free_resource, NULL);
    bf_clock_release(&access->clocks, access->cpu);
    free(access);
}

/* ----------------------------------------------------------------------------------- Running -- */

static void make_runnable(struct bf_access_queue *queue)
{
    if (queue->in_runnable)
        return;
    queue->in_runnable = true;
    queue->next_runnable = queue->access->runnable;
    queue->access->runnable = queue;
}

/* Marks a wait as satisfied by something that comes after all of 'clock'. */
static void op_settle(struct bf_access_op *op, struct bf_clock *clock)
{
    op->settled = true;
    op->clock = bf_clock_reference(clock);
    make_runnable(op->queue);
}

/* The clock that comes after everything that has run, with a reference. */
static struct bf_clock *clock_of_everything(struct bf_access *access)
{
    struct bf_clock *clock = bf_clock_reference(access->cpu);
    for (struct bf_access_queue *q = access->queues; q; q = q->next) {
        clock = bf_clock_join(&access->clocks, clock, q->clock);
        if (q->ran)
            clock = bf_clock_advance(&access->clocks, clock, q->id, q->ran);
    }
    return clock;
}

static void signal_apply(struct bf_access_fence *fence, const struct bf_access_signal *signal);

static void op_run(struct bf_access_queue *queue, struct bf_access_op *op)
{
    struct bf_access *access = queue->access;
    struct bf_clock_pool *pool = &access->clocks;
    queue->clock = bf_clock_join(pool, queue->clock, op->call);
    switch (op->kind) {
    case BF_ACCESS_OP_WAIT:
        if (!op->fence || op->fence->external) {
            struct bf_clock *everything = clock_of_everything(access);
            queue->clock = bf_clock_join(pool, queue->clock, everything);
            bf_clock_release(pool, everything);
        }
        queue->clock = bf_clock_join(pool, queue->clock, op->clock);
        break;
    case BF_ACCESS_OP_EXECUTE:
        for (uint32_t i = 0; i < op->block_count; i++)
            bf_access_block_run(queue, op->packet, op->blocks[i]);
        break;
    case BF_ACCESS_OP_SIGNAL: {
        struct bf_access_signal signal = {
            .value = op->value,
            .agent = queue->id,
            .time = op->packet,
            .clock =
                bf_clock_advance(pool, bf_clock_reference(queue->clock), queue->id, op->packet),
        };
        signal_apply(op->fence, &signal);
        if (op->fence->mapped)
            bf_model_cpu_learn(access, bf_clock_reference(signal.clock));
        bf_clock_release(pool, signal.clock);
        break;
    }
    }
    queue->ran = op->packet;
}

static void queue_advance(struct bf_access_queue *queue)
{
    while (queue->head) {
        struct bf_access_op *op = queue->head;
        if (op->kind == BF_ACCESS_OP_WAIT && !op->settled)
            break;
        op_run(queue, op);
        queue->head = op->next;
        if (!queue->head)
            queue->tail = NULL;
        free_op(queue->access, op);
    }
}

static void queues_run(struct bf_access *access)
{
    while (access->runnable) {
        struct bf_access_queue *queue = access->runnable;
        access->runnable = queue->next_runnable;
        queue->in_runnable = false;
        queue_advance(queue);
    }
}

/* ------------------------------------------------------------------------------------ Fences -- */

/* Will every later call come after this signal? */
static bool signal_is_known(const struct bf_access *access, const struct bf_access_signal *signal)
{
    return bf_clock_at(access->cpu, signal->agent) >= signal->time;
}

static bool signal_is_after(const struct bf_access_signal *signal,
                            const struct bf_access_signal *other)
{
    return bf_clock_at(signal->clock, other->agent) >= other->time;
}

static void signal_remove(struct bf_access_fence *fence, uint32_t i)
{
    bf_clock_release(&fence->access->clocks, fence->signals[i].clock);
    fence->signal_count--;
    memmove(&fence->signals[i], &fence->signals[i + 1],
            (fence->signal_count - i) * sizeof(fence->signals[0]));
}

/* Removes signals that are certain to be overwritten before any later call: those that are followed
 * by another one which the CPU knows of. */
static void signals_prune(struct bf_access_fence *fence)
{
    for (uint32_t j = fence->signal_count; j-- > 0;) {
        if (j >= fence->signal_count || !signal_is_known(fence->access, &fence->signals[j]))
            continue;
        for (uint32_t i = fence->signal_count; i-- > 0;) {
            const struct bf_access_signal *s = &fence->signals[i], *by = &fence->signals[j];
            if (i == j || !signal_is_after(by, s) || (signal_is_after(s, by) && i > j))
                continue;
            signal_remove(fence, i);
            j -= i < j;
        }
    }
    fence->prune_at = 2 * fence->signal_count + 8;
}

/* The clock of a wait that is called now and satisfied by signals that have run: it comes after
 * what each signal that may satisfy it comes after. False: no such signal has run. */
static bool wait_arm(struct bf_access_fence *fence, uint64_t value, enum bf_access_match match,
                     struct bf_clock **clock)
{
    struct bf_clock_pool *pool = &fence->access->clocks;
    uint32_t agents[8], agent_count = 0;
    bool found = false;
    *clock = NULL;
    signals_prune(fence);
    for (uint32_t i = 0; i < fence->signal_count; i++) {
        const struct bf_access_signal *s = &fence->signals[i];
        if (match == BF_ACCESS_EXACTLY ? s->value != value : s->value < value)
            continue;
        if (signal_is_known(fence->access, s)) {
            bf_clock_release(pool, *clock);
            *clock = NULL;
            return true;
        }
        /* (A later signal of the same queue comes after all that the first one does.) */
        bool again = false;
        for (uint32_t a = 0; a < agent_count; a++)
            again |= agents[a] == s->agent;
        if (again)
            continue;
        if (agent_count < 8)
            agents[agent_count++] = s->agent;
        *clock = found ? bf_clock_meet(pool, *clock, s->clock) : bf_clock_reference(s->clock);
        found = true;
    }
    return found;
}

static bool append_signal(struct bf_access_fence *fence, const struct bf_access_signal *signal)
{
    if (fence->signal_count == BF_ACCESS_MAX_SIGNALS)
        signal_remove(fence, 0); /* a wait for it counts as coming after the next one */
    if (fence->signal_count == fence->signal_room) {
        uint32_t room = fence->signal_room ? 2 * fence->signal_room : 4;
        struct bf_access_signal *grown = realloc(fence->signals, room * sizeof(*grown));
        if (!grown) {
            fence->access->clocks.failed = true;
            return false;
        }
        fence->signals = grown;
        fence->signal_room = room;
    }
    fence->signals[fence->signal_count] = *signal;
    bf_clock_reference(fence->signals[fence->signal_count].clock);
    fence->signal_count++;
    return true;
}

/* Runs a signal. */
static void signal_apply(struct bf_access_fence *fence, const struct bf_access_signal *signal)
{
    if (fence->removed || !append_signal(fence, signal))
        return;
    if (fence->signal_count >= fence->prune_at)
        signals_prune(fence);
    struct bf_access_op **link = &fence->waiters;
    while (*link) {
        struct bf_access_op *op = *link;
        if (op->value <= signal->value) {
            *link = op->next_waiter;
            op_settle(op, signal->clock);
        } else {
            link = &op->next_waiter;
        }
    }
}

struct bf_access_fence *bf_model_fence_add(struct bf_access *access, uint64_t value)
{
    struct bf_access_fence *fence = calloc(1, sizeof(*fence));
    if (!fence) {
        access->clocks.failed = true;
        return NULL;
    }
    fence->observed.calls = &bf_access_observer_calls;
    fence->access = access;
    fence->references = fence->handles = 1;
    fence->next = access->fences;
    if (fence->next)
        fence->next->previous = fence;
    access->fences = fence;
    /* The initial value counts as a signal before everything. */
    append_signal(fence, &(struct bf_access_signal){.value = value, .agent = BF_ACCESS_CPU});
    signals_prune(fence);
    return fence;
}

void bf_model_fence_reference(struct bf_access_fence *fence)
{
    if (fence)
        fence->references++;
}

void bf_model_fence_release(struct bf_access_fence *fence)
{
    if (!fence || --fence->references)
        return;
    if (fence->previous)
        fence->previous->next = fence->next;
    else
        fence->access->fences = fence->next;
    if (fence->next)
        fence->next->previous = fence->previous;
    while (fence->signal_count)
        signal_remove(fence, fence->signal_count - 1);
    free(fence->signals);
    free(fence);
}

/* Satisfies all waits for the fence. */
static void settle_all(struct bf_access_fence *fence)
{
    while (fence->waiters) {
        struct bf_access_op *op = fence->waiters;
        fence->waiters = op->next_waiter;
        op_settle(op, fence->access->cpu);
    }
}

void bf_model_fence_remove(struct bf_access_fence *fence)
{
    struct bf_access *access = fence->access;
    if (--fence->handles == 0) {
        fence->removed = true;
        settle_all(fence);
    }
    bf_model_fence_release(fence);
    queues_run(access);
}

void bf_model_fence_external(struct bf_access_fence *fence)
{
    fence->external = true;
    bf_model_fence_mapped(fence);
}

void bf_model_fence_mapped(struct bf_access_fence *fence)
{
    fence->mapped = true;
    for (uint32_t i = 0; i < fence->signal_count; i++)
        bf_model_cpu_learn(fence->access, bf_clock_reference(fence->signals[i].clock));
}

void bf_model_fence_signal(struct bf_access_fence *fence, uint64_t value)
{
    struct bf_access *access = fence->access;
    access->cpu_time++;
    access->cpu = bf_clock_advance(&access->clocks, access->cpu, BF_ACCESS_CPU, access->cpu_time);
    struct bf_access_signal signal = {value, BF_ACCESS_CPU, access->cpu_time, access->cpu};
    signal_apply(fence, &signal);
    queues_run(access);
}

/* ------------------------------------------------------------------------------ What is seen -- */

static void wait_force(struct bf_access_op *op, struct bf_clock *clock)
{
    struct bf_access_op **link = &op->fence->waiters;
    while (*link != op)
        link = &(*link)->next_waiter;
    *link = op->next_waiter;
    op_settle(op, clock);
}

/* The program has seen a value that the model can't explain: somebody else has signalled. So all
 * that the queue waits for, up to the operation, counts as satisfied, after everything that has
 * run. */
static void queue_force_waits(struct bf_access_queue *queue, const struct bf_access_op *last)
{
    struct bf_access *access = queue->access;
    struct bf_clock *clock = clock_of_everything(access);
    for (struct bf_access_op *op = queue->head; op; op = op->next) {
        if (op->kind == BF_ACCESS_OP_WAIT && !op->settled)
            wait_force(op, clock);
        if (op == last)
            break;
    }
    bf_clock_release(&access->clocks, clock);
    queues_run(access);
}

/* The first signal, in the order of calls, that would explain the value and has not run. */
static struct bf_access_op *find_signal(struct bf_access_fence *fence, uint64_t value,
                                        enum bf_access_match match)
{
    struct bf_access_op *first = NULL;
    for (struct bf_access_queue *q = fence->access->queues; q; q = q->next) {
        for (struct bf_access_op *op = q->head; op; op = op->next) {
            bool fits = op->kind == BF_ACCESS_OP_SIGNAL && op->fence == fence &&
                        (match == BF_ACCESS_EXACTLY ? op->value == value : op->value >= value);
            if (fits && (!first || op->number < first->number))
                first = op;
        }
    }
    return first;
}

/* The CPU has seen a value of an external fence. If a signal of the program's explains it that only
 * external waits hold back, those are over. Other waits are not: it may be another one's signal. */
static void external_see(struct bf_access_fence *fence, uint64_t value, enum bf_access_match match)
{
    struct bf_access *access = fence->access;
    struct bf_clock *clock = NULL;
    bool explained = wait_arm(fence, value, match, &clock);
    bf_clock_release(&access->clocks, clock);
    struct bf_access_op *signal = explained ? NULL : find_signal(fence, value, match);
    if (!signal)
        return;
    clock = clock_of_everything(access);
    for (struct bf_access_op *op = signal->queue->head; op != signal; op = op->next) {
        if (op->kind != BF_ACCESS_OP_WAIT || op->settled)
            continue;
        if (!op->fence->external)
            break;
        wait_force(op, clock);
    }
    bf_clock_release(&access->clocks, clock);
    queues_run(access);
}

struct bf_clock *bf_model_fence_clock(struct bf_access_fence *fence, uint64_t value,
                                      enum bf_access_match match)
{
    struct bf_clock *clock;
    if (fence->external) {
        external_see(fence, value, match);
        return clock_of_everything(fence->access);
    }
    if (fence->removed) /* its removal may be what the CPU has seen */
        return bf_clock_reference(fence->access->cpu);
    if (wait_arm(fence, value, match, &clock))
        return clock;
    struct bf_access_op *signal = find_signal(fence, value, match);
    if (signal)
        queue_force_waits(signal->queue, signal);
    if (signal && wait_arm(fence, value, match, &clock))
        return clock;
    return clock_of_everything(fence->access);
}

void bf_model_cpu_learn(struct bf_access *access, struct bf_clock *clock)
{
    access->cpu = bf_clock_join(&access->clocks, access->cpu, clock);
    bf_clock_release(&access->clocks, clock);
    for (struct bf_access_queue *q = access->queues; q; q = q->next) {
        uint64_t seen = bf_clock_at(access->cpu, q->id);
        while (q->oldest && q->oldest->packet <= seen)
            bf_access_group_free(q->oldest);
        access->retires |= q->removed;
    }
}

/* A queue that was removed, and whose last use the CPU has waited for, needs no entry in any clock.
 * Those of its signals that are still in effect become signals that come before everything. */
static void queue_retire(struct bf_access_queue *queue)
{
    struct bf_access *access = queue->access;
    uint32_t id = queue->id;
    bf_clock_forget(&access->clocks, id);
    for (struct bf_access_fence *f = access->fences; f; f = f->next) {
        for (uint32_t i = 0; i < f->signal_count; i++) {
            if (f->signals[i].agent != id)
                continue;
            f->signals[i].agent = BF_ACCESS_CPU;
            f->signals[i].time = 0;
        }
    }
    queue_free(queue);
}

static void queues_retire(struct bf_access *access)
{
    struct bf_access_queue *next;
    access->retires = false;
    for (struct bf_access_queue *q = access->queues; q; q = next) {
        next = q->next;
        if (q->removed && !q->head && !q->in_runnable && !q->oldest &&
            bf_clock_at(access->cpu, q->id) >= q->packet)
            queue_retire(q);
    }
}

void bf_model_fence_see(struct bf_access_fence *fence, uint64_t value, enum bf_access_match match)
{
    bf_model_cpu_learn(fence->access, bf_model_fence_clock(fence, value, match));
    if (match != BF_ACCESS_EXACTLY || fence->external)
        return;
    /* If the CPU has seen no signal of that value, it isn't known which signals are over. */
    bool seen = false;
    for (uint32_t i = 0; i < fence->signal_count; i++)
        seen |= fence->signals[i].value == value;
    /* Signals from before that have lost their effect have been overwritten. */
    for (uint32_t i = fence->signal_count; seen && i-- > 0;) {
        if (fence->signals[i].value != value && signal_is_known(fence->access, &fence->signals[i]))
            signal_remove(fence, i);
    }
}

/* ------------------------------------------------------------------------------------ Queues -- */

struct bf_access_queue *bf_model_queue_add(struct bf_access *access, const char *name,
                                           enum bf_access_class type_class)
{
    struct bf_access_queue *queue = calloc(1, sizeof(*queue));
    if (!queue) {
        access->clocks.failed = true;
        return NULL;
    }
    queue->observed.calls = &bf_access_observer_calls;
    queue->access = access;
    queue->id = ++access->last_queue;
    queue->type_class = type_class;
    snprintf(queue->name, sizeof(queue->name), "%s", name);
    queue->next = access->queues;
    if (queue->next)
        queue->next->previous = queue;
    access->queues = queue;
    return queue;
}

struct bf_access_queue *bf_model_queue_find(struct bf_access *access, uint32_t id)
{
    struct bf_access_queue *queue = access->queues;
    while (queue && queue->id != id)
        queue = queue->next;
    return queue;
}

void bf_model_queue_remove(struct bf_access_queue *queue)
{
    queue->removed = true;
    bf_model_cpu_learn(queue->access, NULL);
}

/* others have signalled, and the CPU has seen nothing that tells. */
static void external_waits_end(struct bf_access *access)
{
    struct bf_clock *everything = clock_of_everything(access);
    for (struct bf_access_fence *f = access->fences; f; f = f->next) {
        while (f->external && f->waiters)
            wait_force(f->waiters, everything);
    }
    bf_clock_release(&access->clocks, everything);
}

static struct bf_access_op *op_append(struct bf_access_queue *queue, enum bf_access_op_kind kind,
                                      struct bf_access_fence *fence, uint64_t value,
                                      uint32_t block_count)
{
    struct bf_access *access = queue->access;
    struct bf_access_op *op = calloc(1, sizeof(*op) + block_count * sizeof(op->blocks[0]));
    if (!op) {
        access->clocks.failed = true;
        return NULL;
    }
    if (!queue->in_batch)
        queue->packet++;
    if (++access->op_count > BF_ACCESS_MAX_HELD)
        external_waits_end(access);
    op->queue = queue;
    op->kind = kind;
    op->number = ++access->last_op;
    op->packet = queue->packet;
    op->call = bf_clock_reference(access->cpu);
    bf_model_fence_reference(fence);
    op->fence = fence;
    op->value = value;
    op->block_count = block_count;
    if (queue->tail)
        queue->tail->next = op;
    else
        queue->head = op;
    queue->tail = op;
    return op;
}

void bf_model_queue_execute(struct bf_access_queue *queue, uint32_t count,
                            struct bf_access_block **blocks)
{
    struct bf_access_op *op = op_append(queue, BF_ACCESS_OP_EXECUTE, NULL, 0, count);
    queue->executed = queue->packet;
    for (uint32_t i = 0; i < count; i++) {
        if (op)
            op->blocks[i] = blocks[i];
        else
            bf_access_block_release(blocks[i]);
    }
    make_runnable(queue);
    queues_run(queue->access);
}

void bf_model_queue_signal(struct bf_access_queue *queue, struct bf_access_fence *fence,
                           uint64_t value)
{
    op_append(queue, BF_ACCESS_OP_SIGNAL, fence, value, 0);
    make_runnable(queue);
    queues_run(queue->access);
}

bool bf_model_queue_is_idle(const struct bf_access_queue *queue)
{
    const struct bf_clock *cpu = queue->access->cpu;
    return !queue->head && bf_clock_at(cpu, queue->id) >= queue->executed &&
           bf_clock_within(queue->clock, cpu);
}

void bf_model_queue_wait(struct bf_access_queue *queue, struct bf_access_fence *fence,
                         uint64_t value)
{
    struct bf_access_op *op = op_append(queue, BF_ACCESS_OP_WAIT, fence, value, 0);
    if (!op)
        return;
    struct bf_clock *clock = NULL;
    if (!fence || fence->removed || wait_arm(fence, value, BF_ACCESS_AT_LEAST, &clock)) {
        op_settle(op, clock);
        bf_clock_release(&queue->access->clocks, clock);
    } else {
        op->next_waiter = fence->waiters;
        fence->waiters = op;
    }
    queues_run(queue->access);
}

void bf_model_queue_begin(struct bf_access_queue *queue)
{
    queue->packet++;
    queue->in_batch = true;
}

void bf_model_queue_end(struct bf_access_queue *queue)
{
    queue->in_batch = false;
}

void bf_model_queue_idle(struct bf_access_queue *queue)
{
    struct bf_access *access = queue->access;
    if (queue->head)
        queue_force_waits(queue, NULL);
    struct bf_clock *clock = bf_clock_reference(queue->clock);
    if (queue->packet)
        clock = bf_clock_advance(&access->clocks, clock, queue->id, queue->packet);
    bf_model_cpu_learn(access, clock);
}

void bf_model_idle(struct bf_access *access)
{
    for (struct bf_access_queue *q = access->queues; q; q = q->next) {
        if (q->head)
            queue_force_waits(q, NULL);
    }
    bf_model_ran(access);
}

void bf_model_ran(struct bf_access *access)
{
    bf_model_cpu_learn(access, clock_of_everything(access));
}

void bf_model_queue_execute_buffers(struct bf_access_queue *queue, uint32_t count,
                                    const VkCommandBuffer *command_buffers)
{
    struct bf_access *access = queue->access;
    struct bf_access_block *few[16], **blocks = few;
    if (queue->hint_count + (uint64_t)count > 16) {
        blocks = malloc((queue->hint_count + (size_t)count) * sizeof(*blocks));
        if (!blocks) {
            access->clocks.failed = true;
            return;
        }
    }
    uint32_t found = 0;
    for (uint32_t i = 0; i < queue->hint_count; i++)
        blocks[found++] = queue->hints[i];
    queue->hint_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bf_access_block *block = bf_access_block_of(access, command_buffers[i]);
        if (block)
            blocks[found++] = block;
    }
    bf_model_queue_execute(queue, found, blocks);
    if (blocks != few)
        free(blocks);
}
