/* SPDX-License-Identifier: MIT */
/* Submissions, sparse binds, presents and waits for idleness on the program's VkQueues: on the
 * caller's thread if they may go to the driver at once, else by packets. */
#include "queue/vkqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "gpu/driver_bug.h"
#include "queue/outcome.h"
#include "scheduler/acceptance.h"
#include "scheduler/deferral.h"
#include "scheduler/driver.h"
#include "scheduler/driver_wait.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/outside.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "scheduler/vkfence.h"
#include "scheduler/watch.h"

/* Semaphore operations that the direct path keeps on the stack; a call with more goes by
 * packets. */
#define DIRECT_SYNCS 16

/* Packets of a queue that may be outstanding when another one is deferred. */
#define DEFERRED_MOST 1024

/* How long a submission that can't be held waits for its queue before it checks again. */
#define RAW_SLICE_NS UINT64_C(500000)

/* How often a present begins anew because what it hands over sets others free. */
#define PRESENT_ROUNDS 256

/* The semaphore operations of a direct submission, counted once it has been accepted. */
struct direct {
    uint32_t count;
    struct {
        struct bf_semaphore *sem;
        bool wait;
        uint64_t value;
    } ops[DIRECT_SYNCS];
};

/* A binary semaphore is ready for a direct call if no operation of it is outstanding. */
static bool semaphore_binary_is_settled(struct bf_semaphore *sem, enum bf_side side)
{
    return atomic_load(&sem->reached[side]) >= atomic_load(&sem->queued[side]);
}

static bool direct_add(struct direct *direct, struct bf_semaphore *sem, bool wait, uint64_t value)
{
    if (direct->count == DIRECT_SYNCS)
        return false;
    direct->ops[direct->count].sem = sem;
    direct->ops[direct->count].wait = wait;
    direct->ops[direct->count].value = value;
    direct->count++;
    return true;
}

/* Rule M for a whole call: is every operation ready now? While there are windows, who signals a
 * binary semaphore needs an epoch, which packets have (PW-4). */
static bool direct_ready(struct bf_queue *queue, uint32_t count, const VkSubmitInfo2 *infos,
                         struct direct *direct)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    bool windows = atomic_load(&scheduler->windows);
    for (uint32_t i = 0; i < count; i++) {
        const VkSubmitInfo2 *info = &infos[i];
        for (uint32_t w = 0; w < info->waitSemaphoreInfoCount; w++) {
            const VkSemaphoreSubmitInfo *s = &info->pWaitSemaphoreInfos[w];
            struct bf_semaphore *sem = bf_semaphore_find(scheduler, s->semaphore);
            if (!sem)
                continue;
            if (sem->timeline
                    ? !bf_semaphore_ready(scheduler, sem, BF_FOR_WAIT, s->value, BF_WAIT_GROUNDED)
                    : !semaphore_binary_is_settled(sem, BF_FOR_WAIT) ||
                          !direct_add(direct, sem, true, 0))
                return false;
        }
        for (uint32_t n = 0; n < info->signalSemaphoreInfoCount; n++) {
            const VkSemaphoreSubmitInfo *s = &info->pSignalSemaphoreInfos[n];
            struct bf_semaphore *sem = bf_semaphore_find(scheduler, s->semaphore);
            if (!sem)
                continue;
            if (!sem->timeline && (windows || !semaphore_binary_is_settled(sem, BF_FOR_SIGNAL)))
                return false;
            if (!direct_add(direct, sem, false, s->value))
                return false;
        }
    }
    return true;
}

/* The driver has accepted the call. */
static uint64_t direct_count(struct direct *direct)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < direct->count; i++) {
        struct bf_semaphore *sem = direct->ops[i].sem;
        if (sem->timeline) {
            engines |= bf_semaphore_reach(sem, direct->ops[i].value);
            continue;
        }
        if (direct->ops[i].wait) {
            atomic_fetch_add(&sem->queued[BF_FOR_SIGNAL], 1);
            engines |= bf_semaphore_count(sem);
        } else {
            uint64_t number = atomic_fetch_add(&sem->queued[BF_FOR_WAIT], 1) + 1;
            engines |= bf_semaphore_reach(sem, number);
        }
    }
    return engines;
}

static void direct_note(struct bf_queue *queue, struct direct *direct)
{
    for (uint32_t i = 0; i < direct->count; i++) {
        if (!direct->ops[i].wait)
            bf_semaphore_signalled_on(direct->ops[i].sem, bf_engine_bit(queue->engine));
    }
}

/* Else gcc takes the copy for an epoch as unlikely, and copies by string instructions, whose start
 * takes as long as the watchdog's witness. */
#define HOT __attribute__((hot))

/* The timeline value that is the batch's completion signal, or NULL. */
static const VkSemaphoreSubmitInfo *batch_find_completion_signal(struct bf_scheduler *scheduler,
                                                                 const VkSubmitInfo2 *info)
{
    const VkSemaphoreSubmitInfo *s = info->pSignalSemaphoreInfos;
    if (info->signalSemaphoreInfoCount != 1)
        return NULL;
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, s->semaphore);
    return bf_last_submission_suits(sem, s->stageMask) ? s : NULL;
}

/* The operations of a batch that goes at once, for the log. */
struct direct_operations {
    struct bf_log_sync syncs[BF_LOG_SIDES][DIRECT_SYNCS];
};

static void direct_operation(const void *operations, enum bf_log_side side, uint32_t i,
                             struct bf_log_sync *sync)
{
    const struct direct_operations *o = operations;
    *sync = o->syncs[side][i];
}

static struct bf_log_sync log_sync_of(const struct bf_semaphore *sem, uint64_t value)
{
    bool known = sem && sem->timeline;
    return (struct bf_log_sync){
        .semaphore = known ? sem->handle : VK_NULL_HANDLE,
        .handle = known ? sem->log_handle : 0,
        .value = value,
    };
}

/* Submits a batch of a queue with a log: a copy with the log's entries, which signals the epoch
 * too. By a packet: it doesn't fit, or nothing can be added to it. (Not inlined, so that the path
 * without a log stays short.) */
__attribute__((noinline)) static enum bf_outcome
direct_submit_logged(struct bf_queue *queue, const VkSubmitInfo2 *info, VkFence fence,
                     const struct direct *direct, VkResult *result)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_engine *engine = queue->engine;
    uint32_t wait_count = info->waitSemaphoreInfoCount, signal_count = 0;
    uint32_t own = info->signalSemaphoreInfoCount;
    VkSemaphoreSubmitInfo signals[DIRECT_SYNCS + 1];
    struct direct_operations operations; /* filled in as far as needed */
    if (wait_count > DIRECT_SYNCS || own > DIRECT_SYNCS)
        return BF_OUTCOME_BY_PACKET;
    for (uint32_t i = 0; i < wait_count; i++) {
        const VkSemaphoreSubmitInfo *s = &info->pWaitSemaphoreInfos[i];
        operations.syncs[BF_LOG_WAITS][i] =
            log_sync_of(bf_semaphore_find(scheduler, s->semaphore), s->value);
    }
    for (uint32_t i = 0; i < direct->count; i++) {
        if (direct->ops[i].wait)
            continue;
        operations.syncs[BF_LOG_SIGNALS][signal_count++] =
            log_sync_of(direct->ops[i].sem, direct->ops[i].value);
    }
    VkSubmitInfo2 submit = *info;
    struct bf_log_batch batch = {
        .submit = &submit,
        .goes_at_once = true,
        .called_ns = wait_count ? bf_now_ns() : 0,
        .wait_count = wait_count,
        .signal_count = signal_count,
        .operation = direct_operation,
        .operations = &operations,
    };
    if (!bf_log_add(queue->log, &batch))
        return BF_OUTCOME_BY_PACKET;
    uint64_t epoch = atomic_load_explicit(&engine->base.accepted_epoch, memory_order_relaxed) + 1;
    if (own)
        memcpy(signals, info->pSignalSemaphoreInfos, own * sizeof(*signals));
    bf_gpu_engine_epoch_signal(&engine->base, epoch, &signals[own]);
    submit.pSignalSemaphoreInfos = signals;
    submit.signalSemaphoreInfoCount = own + 1;
    atomic_store_explicit(&engine->base.issued_epoch, epoch, memory_order_release);
    bf_label_enter(engine, queue->labels);
    if (bf_watch_witnesses(engine))
        bf_watch_batch(engine, queue, info, epoch);
    *result = bf_driver_submit(engine, 1, &submit, fence);
    if (*result != VK_SUCCESS) {
        bf_log_refused(queue->log, &batch);
        return BF_OUTCOME_DONE;
    }
    atomic_store(&engine->base.accepted_epoch, epoch);
    bf_log_accepted(queue->log, batch.slots, batch.notes, true, epoch);
    if (!atomic_load_explicit(&engine->shared, memory_order_relaxed))
        return BF_OUTCOME_DONE;
    if (fence && bf_vkfence_is_external(scheduler, fence))
        fence = VK_NULL_HANDLE;
    bf_last_submission_set(queue, fence, VK_NULL_HANDLE, 0, epoch);
    return BF_OUTCOME_DONE;
}

/* Submits the program's own structs. On a shared engine the last batch needs a completion signal;
 * if the program gives none, or there is a watchdog, a copy of that batch signals the epoch too. By
 * a packet: the epoch doesn't fit, or each of several batches needs one. */
HOT static enum bf_outcome direct_submit(struct bf_queue *queue, uint32_t count,
                                         const VkSubmitInfo2 *infos, VkFence fence,
                                         const struct direct *direct, VkResult *result)
{
    struct bf_engine *engine = queue->engine;
    if (bf_log_is_enabled(queue->log))
        return count == 1 ? direct_submit_logged(queue, infos, fence, direct, result)
                          : BF_OUTCOME_BY_PACKET;
    bf_label_enter(engine, queue->labels);
    bool shared = atomic_load_explicit(&engine->shared, memory_order_relaxed);
    bool watched = count && (bf_watch_witnesses(engine) ||           /* WD-2 */
                             atomic_load(&engine->preempt.numbers)); /* PE-2 */
    if (!shared && !watched) {
        *result = bf_driver_submit(engine, count, infos, fence);
        return BF_OUTCOME_DONE;
    }
    /* A fence whose payload others may change tells nothing of the submission's completion. */
    VkFence own = fence && bf_vkfence_is_external(queue->scheduler, fence) ? VK_NULL_HANDLE : fence;
    const VkSubmitInfo2 *last = count ? &infos[count - 1] : NULL;
    const VkSemaphoreSubmitInfo *signal =
        last && !watched ? batch_find_completion_signal(queue->scheduler, last) : NULL;
    uint32_t signal_count = last ? last->signalSemaphoreInfoCount : 0;
    if (!watched && (signal || (own && signal_count == 0))) {
        *result = bf_driver_submit(engine, count, infos, fence);
        if (*result == VK_SUCCESS)
            bf_last_submission_set(queue, own, signal ? signal->semaphore : VK_NULL_HANDLE,
                                   signal ? signal->value : 0, 0);
        return BF_OUTCOME_DONE;
    }
    VkSemaphoreSubmitInfo signals[DIRECT_SYNCS + 1];
    if (count == 0 || count > (watched ? 1 : BF_ENGINE_BATCH) || signal_count > DIRECT_SYNCS)
        return BF_OUTCOME_BY_PACKET;
    for (uint32_t i = 0; i < signal_count; i++)
        signals[i] = last->pSignalSemaphoreInfos[i];
    uint64_t epoch = atomic_load_explicit(&engine->base.accepted_epoch, memory_order_relaxed) + 1;
    bf_gpu_engine_epoch_signal(&engine->base, epoch, &signals[signal_count]);
    for (uint32_t i = 0; i < count; i++)
        engine->infos[i] = infos[i];
    engine->infos[count - 1].pSignalSemaphoreInfos = signals;
    engine->infos[count - 1].signalSemaphoreInfoCount = signal_count + 1;
    atomic_store_explicit(&engine->base.issued_epoch, epoch, memory_order_release);
    if (watched && bf_watch_witnesses(engine))
        bf_watch_batch(engine, queue, last, epoch);
    *result = bf_driver_submit(engine, count, engine->infos, fence);
    if (*result == VK_SUCCESS) {
        atomic_store_explicit(&engine->base.accepted_epoch, epoch, memory_order_release);
        if (shared)
            bf_last_submission_set(queue, own, VK_NULL_HANDLE, 0, epoch);
    }
    return BF_OUTCOME_DONE;
}

/* Somebody else has the engine. Waits for it if the submission will go then, as for a lock around
 * the VkQueue: a packet would wait as long, in the same call, and be copied and announced besides.
 * (To spin costs more than it gains where threads are more than processors.) True: it is
 * entered. */
static bool direct_await(struct bf_queue *queue, uint32_t count, const VkSubmitInfo2 *infos,
                         struct direct *direct)
{
    direct->count = 0;
    return !bf_queue_has_backlog(queue) && direct_ready(queue, count, infos, direct) &&
           bf_engine_enter(queue->engine);
}

/* The case with nothing held: no allocation, no lock but the engine's, no copy except for an epoch
 * or a log. */
HOT static enum bf_outcome direct_try(struct bf_queue *queue, uint32_t count,
                                      const VkSubmitInfo2 *infos, VkFence fence, VkResult *result)
{
    struct bf_engine *engine = queue->engine;
    const uint64_t before = atomic_load(&queue->scheduler->released);
    struct direct direct;
    if (queue->scheduler->gpu.trace || atomic_load(&queue->level) < bf_window_top(engine))
        return BF_OUTCOME_BY_PACKET;
    if (!bf_lock_try(&engine->lock) && !direct_await(queue, count, infos, &direct))
        return BF_OUTCOME_BY_PACKET;
    const uint8_t top = bf_window_top(engine); /* a higher queue may have come meanwhile */
    direct.count = 0;
    /* The loss is checked last: packets that a lost device drops count as accepted, and must
     * release nothing to a driver that may still run. */
    bool done =
        atomic_load(&queue->level) >= top && !bf_queue_has_backlog(queue) &&
        atomic_load(&engine->outside.count) == 0 && atomic_load(&engine->preempt.under_way) == 0 &&
        direct_ready(queue, count, infos, &direct) && !bf_scheduler_is_lost(queue->scheduler) &&
        direct_submit(queue, count, infos, fence, &direct, result) == BF_OUTCOME_DONE;
    uint64_t engines = 0;
    if (done && *result == VK_SUCCESS) {
        direct_note(queue, &direct);
        engines = direct_count(&direct);
    }
    if (top && done)
        bf_window_note(engine, atomic_load(&queue->level));
    bf_lock_release(&engine->lock);
    bf_engine_recheck(engine, engines);
    if (engines)
        bf_scheduler_wait_released(queue->scheduler, before);
    if (done && *result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(queue->scheduler, "vkQueueSubmit");
    return done ? BF_OUTCOME_DONE : BF_OUTCOME_BY_PACKET;
}

struct chain {
    struct bf_packet *first, *last;
    uint32_t count;
};

static void batch_chain_add(struct chain *chain, struct bf_packet *packet)
{
    packet->next = NULL;
    if (chain->last)
        chain->last->next = packet;
    else
        chain->first = packet;
    chain->last = packet;
    chain->count++;
}

/* Gives the fence to the chain's last packet and appends the chain; or frees it. */
static VkResult chain_submit(struct bf_queue *queue, struct chain *chain, VkFence fence,
                             bool deferred)
{
    if (fence) {
        chain->last->fence = bf_vkfence_defer(queue->scheduler, fence);
        if (!chain->last->fence) {
            bf_packet_free_chain(chain->first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    if (deferred)
        bf_queue_append_deferred(queue, chain->first, chain->last, chain->count);
    else
        bf_queue_append_chain(queue, chain->first, chain->last, chain->count);
    return bf_scheduler_is_lost(queue->scheduler) ? bf_scheduler_settle(queue->scheduler)
                                                  : VK_SUCCESS;
}

static VkResult chain_submit_fence(struct bf_queue *queue, struct chain *chain, VkFence fence,
                                   bool deferred)
{
    if (!fence)
        return VK_SUCCESS;
    struct bf_packet *packet = bf_packet_from_fence();
    if (!packet)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    batch_chain_add(chain, packet);
    return chain_submit(queue, chain, fence, deferred);
}

static void packet_trace_fences(struct bf_queue *queue, struct bf_packet *packet,
                                enum bf_trace_fence_op op, uint32_t count,
                                const struct bf_sync *syncs)
{
    for (uint32_t i = 0; i < count; i++) {
        if (syncs[i].sem && syncs[i].sem->timeline)
            bf_trace_fence_queued(
                queue->scheduler->gpu.trace, queue->trace_id, &packet->trace, op,
                (struct bf_trace_sync){(uint64_t)syncs[i].sem->handle, syncs[i].ordinal},
                bf_log_is_enabled(queue->log));
    }
}

static void packet_trace_queued(struct bf_queue *queue, struct bf_packet *packet,
                                enum bf_trace_packet_kind kind, const VkSubmitInfo2 *info)
{
    struct bf_trace *trace = queue->scheduler->gpu.trace;
    char labels[256]; /* longer than traces show, so that no character is cut in two */
    const struct bf_trace_contents contents = {
        .count = info ? info->commandBufferInfoCount : 0,
        .infos = info ? info->pCommandBufferInfos : NULL,
        .label = trace ? bf_label_path(queue, labels, sizeof(labels)) : NULL,
    };
    bf_trace_packet_queued_with(trace, &packet->trace, queue->trace_id, kind, &contents);
    packet_trace_fences(queue, packet, BF_TRACE_FENCE_WAIT, packet->wait_count, packet->waits);
    packet_trace_fences(queue, packet, BF_TRACE_FENCE_SIGNAL, packet->signal_count,
                        packet->signals);
}

/* Is a submission left to the engine's doorbell thread (submit=doorbell)? A caller that is far
 * ahead of it hands over himself. */
static bool queue_defers(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    return atomic_load_explicit(&scheduler->submits_ring, memory_order_relaxed) &&
           atomic_load(&queue->appended) - atomic_load(&queue->finished) < DEFERRED_MOST &&
           bf_deferral_may(scheduler);
}

HOT VkResult bf_queue_submit(struct bf_queue *queue, uint32_t count, const VkSubmitInfo2 *infos,
                             VkFence fence)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    VkResult result;
    bf_queue_log_trace(queue);
    bool deferred = queue_defers(queue);
    if (!deferred && direct_try(queue, count, infos, fence, &result) == BF_OUTCOME_DONE)
        return result;

    struct chain chain = {0};
    if (count == 0)
        return chain_submit_fence(queue, &chain, fence, deferred);
    for (uint32_t i = 0; i < count; i++) {
        struct bf_packet *packet = bf_packet_from_submit(queue, &infos[i]);
        if (!packet) {
            bf_packet_free_chain(chain.first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        packet_trace_queued(queue, packet, BF_TRACE_EXECUTE, &infos[i]);
        batch_chain_add(&chain, packet);
        /* The profiling lock may be released behind the call. */
        deferred = deferred && !bf_packet_counts_performance(chain.last);
    }
    return chain_submit(queue, &chain, fence, deferred);
}

VkResult bf_queue_bind_sparse(struct bf_queue *queue, uint32_t count, const VkBindSparseInfo *infos,
                              VkFence fence)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    bf_deferral_flush(scheduler);
    struct chain chain = {0};
    if (count == 0)
        return chain_submit_fence(queue, &chain, fence, false);
    for (uint32_t i = 0; i < count; i++) {
        struct bf_packet *packet = bf_packet_from_bind(queue, &infos[i]);
        if (!packet) {
            bf_packet_free_chain(chain.first);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        packet_trace_queued(queue, packet, BF_TRACE_BIND_SPARSE, NULL);
        atomic_store(&packet->level, BF_LEVEL_PASSES); /* which what it waits for inherits (IH-1) */
        batch_chain_add(&chain, packet);
    }
    bf_engines_pump(scheduler, bf_windows_flush_queue(queue));
    return chain_submit(queue, &chain, fence, false);
}

static bool raw_signals(const struct bf_raw_submit *raw, VkSemaphore handle, uint64_t value)
{
    for (uint32_t i = 0; i < raw->signal_count; i++) {
        const struct bf_sync *s = &raw->signals[i];
        if (s->sem && s->sem->handle == handle && s->sem->timeline && s->target >= value)
            return true;
    }
    return false;
}

void bf_raw_submit_wait(const struct bf_queue *queue, struct bf_raw_submit *raw, VkSemaphore handle,
                        uint64_t value)
{
    if (!raw_signals(raw, handle, value))
        raw->waits[raw->wait_count++] =
            (struct bf_sync){bf_semaphore_find(queue->scheduler, handle), value, value};
}

void bf_raw_submit_signal(const struct bf_queue *queue, struct bf_raw_submit *raw,
                          VkSemaphore handle, uint64_t value)
{
    raw->signals[raw->signal_count++] =
        (struct bf_sync){bf_semaphore_find(queue->scheduler, handle), value, value};
}

static bool raw_ready(struct bf_scheduler *scheduler, struct bf_packet *view,
                      enum bf_wait_rule rule)
{
    enum bf_side side;
    return bf_packet_obstacle(scheduler, view, rule, &side) == NULL;
}

/* By accepted signals: the call may not be held, and its queue may share the VkQueue (OW-5). */
static bool raw_may_share(struct bf_scheduler *scheduler, struct bf_packet *view)
{
    for (uint32_t i = 0; i < view->wait_count; i++) {
        const struct bf_sync *wait = &view->waits[i];
        if (wait->sem && bf_outside_signal_is_held(scheduler, wait->sem, wait->target))
            return false;
    }
    return raw_ready(scheduler, view, BF_WAIT_ACCEPTED);
}

/* The driver has accepted the call; the engine's lock is held. */
static uint64_t raw_accepted(struct bf_queue *queue, struct bf_packet *view)
{
    struct bf_engine *engine = queue->engine;
    view->ungrounded = !raw_ready(queue->scheduler, view, BF_WAIT_GROUNDED);
    bf_watch_unwitnessed(engine);
    bf_packet_take_targets(view);
    bf_packet_signalled_on(view, engine); /* PW-4 */
    uint64_t engines = bf_packet_accepted(view);
    bf_lock_acquire(&engine->batch_lock);
    bool listed = bf_outside_list(engine, view, &engines);
    bf_lock_release(&engine->batch_lock);
    if (!listed) {
        engines |= bf_packet_grounded(view);
        bf_packet_recycle(queue, view);
    }
    return engines;
}

static VkResult raw_flush(struct bf_queue *queue, struct bf_raw_submit *raw)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    for (uint32_t i = 0; i < raw->wait_count; i++) {
        struct bf_semaphore *sem = raw->waits[i].sem;
        VkResult result = sem ? bf_semaphore_flush(scheduler, sem->handle) : VK_SUCCESS;
        if (result != VK_SUCCESS)
            return result;
    }
    bf_windows_flush(scheduler); /* the unknown struct's own waits may be for any of it */
    bf_engines_pump(scheduler, bf_engine_bit(queue->engine));
    uint32_t ticket = bf_signpost_enter(&scheduler->progress);
    bool timed_out = false;
    while (bf_queue_has_backlog(queue) && !atomic_load(&queue->blocked) &&
           !bf_scheduler_is_lost(scheduler)) {
        /* A packet becoming blocked is not announced, so check again soon. */
        ticket = bf_scheduler_sleep(scheduler, ticket, bf_now_ns() + RAW_SLICE_NS, &timed_out);
    }
    bf_signpost_leave(&scheduler->progress);
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_SUCCESS;
}

VkResult bf_queue_submit_raw(struct bf_queue *queue, struct bf_raw_submit *raw)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_engine *engine = queue->engine;
    const uint64_t before = atomic_load(&scheduler->released);
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    bf_deferral_flush(scheduler);
    for (uint32_t i = 0; i < raw->wait_count; i++) {
        struct bf_sync *s = &raw->waits[i];
        if (s->sem && !s->sem->timeline)
            s->target = atomic_load(&s->sem->queued[BF_FOR_WAIT]);
    }
    for (uint32_t i = 0; i < raw->signal_count; i++) {
        struct bf_sync *s = &raw->signals[i];
        if (s->sem && !s->sem->timeline)
            s->target = atomic_load(&s->sem->queued[BF_FOR_SIGNAL]);
    }

    /* Everything that the binary waits depend on has been submitted and is being handed over; so is
     * this queue's backlog, unless it is blocked. */
    VkResult result = raw_flush(queue, raw);
    if (result != VK_SUCCESS)
        return result;
    result = VK_ERROR_UNKNOWN;
    struct bf_packet *view = bf_packet_from_raw(queue, raw);
    if (!view)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!bf_engine_enter(engine)) {
        bf_packet_recycle(queue, view);
        return bf_scheduler_lost(scheduler, "vkQueueSubmit");
    }
    uint64_t engines = 0;
    /* On an engine that the queue has to itself, the driver's waits block only what they would
     * block without Belfry. Held packets of this queue would be overtaken, so there must be
     * none. */
    /* (An attached device's semaphores aren't all known: there nobody may share a VkQueue.) */
    bool alone = scheduler->gpu.attached ? atomic_load(&scheduler->shared) == 0
                                         : !atomic_load(&engine->shared);
    if (!bf_queue_has_backlog(queue) && (alone || raw_may_share(scheduler, view))) {
        bf_label_enter(engine, queue->labels);
        result = bf_driver_submit_raw(engine, raw);
        if (result == VK_SUCCESS) {
            engines = raw_accepted(queue, view);
            view = NULL;
            bf_signless_begin(&queue->submitted);
        }
    } else {
        bf_message(
            BF_MESSAGE_ERROR,
            "vkQueueSubmit: refused: %s can't be copied to be held, and what it waits for has "
            "not been submitted yet (queue %u:%u shares its VkQueue)",
            raw->what, queue->family, queue->index);
    }
    if (view)
        bf_packet_recycle(queue, view);
    bf_engine_leave(engine, engines);
    bf_scheduler_wait_released(scheduler, before);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "vkQueueSubmit");
    return result;
}

VkResult bf_queue_present(struct bf_queue *queue, const VkPresentInfoKHR *info)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    struct bf_engine *engine = queue->engine;
    const uint64_t before = atomic_load(&scheduler->released);
    VkResult result = VK_SUCCESS;
    /* The program has submitted what its images wait for and whatever that depends on, so all of it
     * can be handed over: bf_semaphore_flush waits for no GPU work. */
    for (uint32_t i = 0; i < info->waitSemaphoreCount && result == VK_SUCCESS; i++)
        result = bf_semaphore_flush(scheduler, info->pWaitSemaphores[i]);
    if (result != VK_SUCCESS)
        return result;

    struct bf_trace_packet trace = {0};
    bf_trace_packet_queued(scheduler->gpu.trace, &trace, queue->trace_id, BF_TRACE_PRESENT, 0);
    struct bf_trace_sync waits[16];
    uint32_t wait_count = 0;

    uint64_t engines = 0;
    bool has = bf_engine_enter(engine);
    /* The driver may block in a present until the next vertical blank, or for ever: what this sets
     * free on other engines goes before it, too. */
    for (int round = 0; has; round++) {
        bf_engine_hand_over_ready(engine, queue, &engines);
        if (!(engines & ~bf_engine_bit(engine)) || round == PRESENT_ROUNDS)
            break;
        bf_engine_leave(engine, engines);
        engines = 0;
        has = bf_engine_enter(engine);
    }
    if (!has) {
        bf_trace_packet_dropped(scheduler->gpu.trace, &trace);
        return bf_scheduler_lost(scheduler, "vkQueuePresentKHR");
    }
    bf_preempt_before_present(engine);
    bf_label_enter(engine, queue->labels);
    atomic_store(&engine->has_presented, true);
    bf_engine_begin_present(engine, &engines);
    result = bf_driver_present(engine, info);
    bf_engine_end_present(engine);
    bf_signless_begin(&queue->presented);
    /* A present that fails has consumed its waits all the same, unless the device is lost or memory
     * is exhausted (VK_KHR_swapchain, vkQueuePresentKHR). */
    bool consumed = result != VK_ERROR_OUT_OF_HOST_MEMORY &&
                    result != VK_ERROR_OUT_OF_DEVICE_MEMORY && result != VK_ERROR_DEVICE_LOST;
    for (uint32_t i = 0; consumed && i < info->waitSemaphoreCount; i++) {
        struct bf_semaphore *sem = bf_semaphore_find(scheduler, info->pWaitSemaphores[i]);
        if (!sem || sem->timeline)
            continue;
        if (wait_count < 16)
            waits[wait_count++] = (struct bf_trace_sync){(uint64_t)sem->handle,
                                                         atomic_load(&sem->queued[BF_FOR_WAIT])};
        atomic_fetch_add(&sem->queued[BF_FOR_SIGNAL], 1);
        engines |= bf_semaphore_count(sem);
    }
    bf_trace_packet_handed_over(scheduler->gpu.trace, &trace, wait_count, waits, 0, NULL);
    if (bf_engine_synchronizes(engine))
        bf_engines_pump(scheduler, engines);
    else
        bf_engine_leave(engine, engines);
    bf_scheduler_wait_released(scheduler, before);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "vkQueuePresentKHR")
                                          : result;
}

/* By the driver's wait, under the engine's lock: a neighbour's call waits as long. */
static VkResult queue_wait_idle_in_driver(struct bf_queue *queue)
{
    struct bf_engine *engine = queue->engine;
    VkResult result = bf_driver_wait_epochs(engine);
    if (result != VK_SUCCESS)
        return result;
    for (bool over = false; !over;) {
        const uint64_t listed = bf_outside_wait_over(engine);
        if (!bf_engine_enter(engine))
            return VK_ERROR_DEVICE_LOST;
        over = bf_outside_is_over(engine, listed);
        if (!over)
            bf_engine_leave(engine, 0);
    }
    const uint64_t submitted = bf_signless_begun(&queue->submitted);
    const uint64_t presented = bf_signless_begun(&queue->presented);
    result = bf_driver_queue_wait_idle(engine);
    bf_engine_leave(engine, 0);
    if (result == VK_SUCCESS) {
        bf_signless_end(&queue->submitted, submitted);
        bf_signless_end(&queue->presented, presented);
    }
    return result;
}

/* By the fence of an empty submission, outside of the lock; or in the driver, which needs no
 * memory. */
static VkResult queue_wait_idle_by_fence(struct bf_queue *queue)
{
    const uint64_t submitted = bf_signless_begun(&queue->submitted);
    VkResult result = bf_engine_wait_by_fence(queue->engine);
    if (result == VK_SUCCESS)
        bf_signless_end(&queue->submitted, submitted);
    return result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
               ? queue_wait_idle_in_driver(queue)
               : result;
}

VkResult bf_queue_wait_idle(struct bf_queue *queue)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    bf_trace_flush(scheduler->gpu.trace);
    bf_deferral_hand_over(scheduler);
    bf_engines_pump(scheduler, bf_windows_flush_queue(queue));
    VkResult result = bf_queue_wait_handed_over(queue);
    if (result != VK_SUCCESS)
        return result;
    if (!atomic_load(&queue->engine->shared) || bf_signless_is(&queue->presented)) {
        result = queue_wait_idle_in_driver(queue);
    } else if (bf_signless_is(&queue->submitted)) {
        result = queue_wait_idle_by_fence(queue);
        /* What was submitted before others came to the VkQueue has no notes of its waits (RT-1). */
        if (result == VK_SUCCESS && (scheduler->gpu.driver_bugs & BF_DRIVER_BUG_LATE_WAIT_POINTS))
            result = queue_wait_idle_in_driver(queue);
    } else {
        result = bf_last_submission_wait(queue);
    }
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, "vkQueueWaitIdle")
                                          : result;
}

VkResult bf_queue_call(struct bf_queue *queue, VkResult (*call)(VkQueue handle, void *context),
                       void *context)
{
    struct bf_engine *engine = queue->engine;
    bf_deferral_flush(queue->scheduler);
    bf_engines_pump(queue->scheduler, bf_windows_flush_queue(queue));
    if (!bf_engine_enter(engine))
        return bf_scheduler_lost(queue->scheduler, "a call of the VkQueue");
    VkResult result = VK_ERROR_DEVICE_LOST;
    if (bf_driver_await_presents(engine))
        result = call(engine->base.handle, context);
    bf_engine_leave(engine, 0);
    return result == VK_ERROR_DEVICE_LOST
               ? bf_scheduler_lost(queue->scheduler, "a call of the VkQueue")
               : result;
}
