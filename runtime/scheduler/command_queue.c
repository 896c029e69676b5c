/* SPDX-License-Identifier: MIT */
/* Command queues, for the pump: signals and waits at the head of a queue, the semaphore waits and
 * barriers of an execution, and what follows when the driver has accepted it. */
#include "scheduler/command_queue.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/handle.h"
#include "log/log.h"
#include "scheduler/fence.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"
#include "trace/stamps.h"

bool bf_command_queue_is_preferred(struct bf_queue *queue)
{
    struct bf_command_queue *commands = bf_command_queue_of(queue);
    return commands && atomic_load_explicit(&commands->priority, memory_order_relaxed) >
                           BF_COMMAND_QUEUE_PRIORITY_NORMAL;
}

void bf_command_queue_log_signal(struct bf_command_queue *queue, const struct bf_fence *fence,
                                 uint64_t value)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    uint32_t own = queue->base.engine->base.number;
    if (!bf_log_is_enabled(queue->base.log))
        return;
    enum bf_log_when when = BF_LOG_AT_NS;
    if (queue->frontier[own] > pending->engines[own].completed)
        when = BF_LOG_AFTER_LAST;
    /* Waits that the queue has passed since its last packet may be satisfied later than now. */
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        if (i != own && queue->frontier[i] > pending->engines[i].completed)
            when = BF_LOG_WITH_STAMP;
    }
    bf_queue_log_note_fence(queue->base.log, BF_LOG_SIGNALS, fence, value, when, bf_now_ns());
}

uint64_t bf_command_queue_unblocked(struct bf_command_queue *queue)
{
    struct bf_engine *engine = queue->base.engine;
    atomic_store(&queue->base.blocked, false);
    atomic_store(&engine->dirty, 1);
    bf_engine_count_released(engine);
    return bf_engine_bit(engine);
}

void bf_command_queue_reap(struct bf_command_queue *queue)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    if (!queue->gone || queue->first_update)
        return;
    if (queue->previous)
        queue->previous->next = queue->next;
    else
        pending->queues = queue->next;
    if (queue->next)
        queue->next->previous = queue->previous;
    bf_trace_end_queue(queue->base.scheduler->gpu.trace, queue->base.trace_id);
    bf_queue_free_packets(&queue->base);
    free(queue);
}

/* Gives the wait to the driver, if another process's signal will satisfy it. The pending lock is
 * held. */
static bool command_queue_resolve_peer_wait(struct bf_command_queue *queue,
                                            struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    uint64_t value = packet->wait.node.key;
    if (!packet->peer_wait || !queue->base.scheduler->peer_extension->resolve(packet))
        return false;
    packet->waits_for_peer = true;
    if (!packet->log_noted)
        bf_queue_log_note_fence(queue->base.log, BF_LOG_WAITS, fence, value,
                                (enum bf_log_when)packet->log_when, packet->called_ns);
    packet->log_noted = true;
    return true;
}

static enum bf_passage command_queue_pass_wait(struct bf_command_queue *queue,
                                               struct bf_packet *packet, bool batched)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    struct bf_wait *wait = &packet->wait;
    if (wait->satisfied || pending->lost)
        return batched ? BF_PASSAGE_BATCHED : BF_PASSAGE_DONE;
    if (batched) /* the frontier does not contain the batch yet */
        return BF_PASSAGE_LATER;
    const struct bf_update *update = bf_fence_update_reaching(wait->fence, wait->node.key);
    if (update) {
        bf_frontier_join(queue->frontier, update->frontier, pending->engine_count);
        return BF_PASSAGE_DONE;
    }
    do {
        if (command_queue_resolve_peer_wait(queue, packet))
            return BF_PASSAGE_NATIVE;
    } while (packet->peer_wait && !queue->base.scheduler->peer_extension->want(packet));
    bf_fence_block(wait, queue);
    atomic_store(&queue->base.blocked, true);
    return BF_PASSAGE_BLOCKED;
}

enum bf_passage bf_command_queue_pass(struct bf_command_queue *queue, struct bf_packet *packet,
                                      bool batched, uint64_t *engines)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    enum bf_passage passage = batched ? BF_PASSAGE_BATCHED : BF_PASSAGE_DONE;
    if (packet->kind == BF_PACKET_WAIT) {
        struct bf_trace_sync obstacle = {(uintptr_t)packet->wait.fence, packet->wait.node.key};
        bf_lock_acquire(&scheduler->pending.lock);
        passage = command_queue_pass_wait(queue, packet, batched);
        bf_lock_release(&scheduler->pending.lock);
        if (passage == BF_PASSAGE_BLOCKED) {
            bf_trace_packet_held(scheduler->gpu.trace, &packet->trace, obstacle);
            atomic_fetch_add_explicit(&scheduler->gpu.counters.blocked_waits, 1,
                                      memory_order_relaxed);
        }
    }
    if (passage == BF_PASSAGE_DONE)
        *engines |= bf_command_queue_finished(queue, packet, true);
    return passage;
}

void bf_command_queue_waive(struct bf_command_queue *queue, struct bf_packet *packet)
{
    struct bf_pending *pending = &queue->base.scheduler->pending;
    if (!packet->imported || packet->wait_count + packet->signal_count == 0)
        return;
    const struct bf_sync *sync = packet->wait_count ? packet->waits : packet->signals;
    uint64_t value = sync->target;
    bf_lock_acquire(&pending->lock);
    bool destroyed = packet->imported->destroyed;
    if (destroyed) { /* under the lock, as scheduler/inherit.c looks at waits and signals */
        if (packet->signal_count) /* unless a larger one has been asked for since */
            atomic_compare_exchange_strong(&sync->sem->queued[BF_FOR_WAIT], &value,
                                           bf_semaphore_accepted(sync->sem));
        packet->wait_count = packet->submit.waitSemaphoreInfoCount = 0;
        packet->signal_count = packet->submit.signalSemaphoreInfoCount = 0;
    }
    bf_lock_release(&pending->lock);
    if (destroyed)
        bf_semaphore_release(sync->sem);
}

static void packet_add_wait(struct bf_packet *packet, VkSemaphore semaphore, uint64_t value)
{
    VkSemaphoreSubmitInfo *waits = (VkSemaphoreSubmitInfo *)packet->submit.pWaitSemaphoreInfos;
    waits[packet->submit.waitSemaphoreInfoCount++] = (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

void bf_command_queue_prepare(struct bf_command_queue *queue, struct bf_packet *packet)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &scheduler->pending;
    uint32_t waits = 0;
    bf_lock_acquire(&pending->lock);
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        uint64_t epoch = queue->frontier[i];
        if (i == engine->base.number || epoch <= pending->engines[i].completed ||
            epoch <= engine->waited[i])
            continue;
        packet_add_wait(packet, scheduler->engines[i].base.epoch, epoch);
        engine->waited[i] = epoch;
        waits++;
    }
    if (packet->signals_peers)
        scheduler->peer_extension->number(packet);
    uint64_t own = queue->frontier[engine->base.number];
    bool behind = own > pending->engines[engine->base.number].completed &&
                  own > engine->fenced_epoch && engine->batch_barrier == 0;
    /* Under the lock, as scheduler/inherit.c looks at what signals will update. */
    if (packet->counted) {
        packet->update->value = ++queue->progressed;
        __atomic_store_n(&packet->write->slot->value, queue->progressed, __ATOMIC_RELAXED);
    }
    bf_lock_release(&pending->lock);
    /* Does an execution of its own in this batch have no barrier behind it in the batch? */
    bool overlaps = queue->position != 0 && queue->position >= engine->batch_barrier;
    queue->position = engine->batch_count + 1;
    /* A GPU write begins and ends with a barrier of its own. */
    bool alone = packet->write && packet->submit.commandBufferInfoCount == 1;
    if (((behind || overlaps) && !alone) || packet->submit.commandBufferInfoCount == 0) {
        bf_packet_put_barrier(packet, engine->barrier);
        engine->batch_barrier = engine->batch_count + 1;
        atomic_fetch_add_explicit(&scheduler->gpu.counters.barriers, 1, memory_order_relaxed);
    }
    if (packet->write)
        engine->batch_barrier = engine->batch_count + 2;
    atomic_fetch_add_explicit(&scheduler->gpu.counters.semaphore_waits, waits,
                              memory_order_relaxed);
}

void bf_command_queue_announce(struct bf_command_queue *queue, struct bf_packet *packet,
                               struct bf_effects *effects)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    if (packet->kind == BF_PACKET_EXECUTE)
        queue->issued_epoch = packet->epoch;
    bool waits_for_peer = packet->waits_for_peer && packet->peer_wait;
    if (!packet->update && !waits_for_peer)
        return;
    bf_lock_acquire(&scheduler->pending.lock);
    if (waits_for_peer) {
        bf_peer_wait_add(&scheduler->pending, packet->peer_wait, queue->base.engine->base.number,
                         packet->epoch);
        bf_lock_release(&scheduler->pending.lock);
        scheduler->peer_extension->watch(scheduler);
        return;
    }
    if (packet->write && packet->update->fence->always_signaled)
        packet->write->slot->value = UINT64_MAX; /* the fence's value is fixed */
    bf_pending_announce(&scheduler->pending, queue, packet, queue->issued_epoch, effects);
    bf_lock_release(&scheduler->pending.lock);
}

uint64_t bf_command_queue_finished(struct bf_command_queue *queue, struct bf_packet *packet,
                                   bool accepted)
{
    struct bf_scheduler *scheduler = queue->base.scheduler;
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &scheduler->pending;
    struct bf_effects effects = {0};
    bf_lock_acquire(&pending->lock);
    if (packet->kind == BF_PACKET_WAIT) {
        if (accepted && packet->wait.fence && !packet->log_noted)
            bf_queue_log_note_fence(queue->base.log, BF_LOG_WAITS, packet->wait.fence,
                                    packet->wait.node.key, (enum bf_log_when)packet->log_when,
                                    packet->called_ns);
        bf_fence_disarm(&packet->wait);
    }
    if (packet->kind == BF_PACKET_SIGNAL && packet->update && accepted && !packet->log_noted)
        bf_command_queue_log_signal(queue, packet->update->fence, packet->update->value);
    if (packet->kind == BF_PACKET_EXECUTE && accepted)
        queue->frontier[engine->base.number] = packet->epoch;
    if (packet->imported)
        bf_fence_release(packet->imported);
    if (packet->waits_for_peer && packet->peer_wait) {
        if (accepted)
            packet->peer_wait->packet = NULL; /* it belongs to the pending signals now */
        else
            bf_peer_wait_free(packet->peer_wait);
        packet->peer_wait = NULL;
    }
    /* An update that is not the packet's any more has been applied since it was announced, or
     * dropped with a lost device. */
    if (packet->update && packet->announced)
        bf_pending_confirm(pending, packet, &effects);
    else if (packet->update && accepted)
        bf_pending_accept(pending, queue, packet->update, &effects);
    else if (packet->update)
        bf_pending_drop_update(pending, packet->update);
    bf_lock_release(&pending->lock);
    if (packet->write && accepted)
        bf_gpu_write_accepted(&engine->base, packet->write, packet->epoch);
    else if (packet->write)
        bf_gpu_write_drop(&engine->base, packet->write);
    if (packet->kind == BF_PACKET_EXECUTE && accepted) {
        uint64_t fenced = packet->write ? packet->epoch : packet->barrier ? packet->epoch - 1 : 0;
        if (engine->fenced_epoch < fenced)
            engine->fenced_epoch = fenced;
        atomic_fetch_add_explicit(&scheduler->gpu.counters.submissions, 1, memory_order_relaxed);
        if (packet->waits_for_peer)
            atomic_fetch_add_explicit(&scheduler->gpu.counters.peer_waits, 1, memory_order_relaxed);
    }
    uint64_t engines = effects.engines;
    bf_effects_run_but_pump(scheduler, &effects);
    return engines;
}

bool bf_command_queues_have_backlog(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    bool backlog = false;
    bf_lock_acquire(&pending->lock);
    for (struct bf_command_queue *q = pending->queues; q && !backlog; q = q->next)
        backlog = bf_queue_has_backlog(&q->base);
    bf_lock_release(&pending->lock);
    return backlog;
}

static void command_queue_leave_engine(struct bf_command_queue *queue)
{
    struct bf_engine *engine = queue->base.engine;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i] == &queue->base) {
            engine->queues[i] = engine->queues[--engine->queue_count];
            bf_log_leave(queue->base.log);
            bf_stamps_forget(engine->base.stamps, &queue->base);
        }
    }
}

void bf_command_queues_finish(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    bf_lock_acquire(&pending->lock);
    while (pending->queues) {
        struct bf_command_queue *queue = pending->queues;
        bf_handle_remove(queue);
        for (struct bf_packet *p = queue->base.head; p; p = p->next) {
            if (p->kind == BF_PACKET_WAIT)
                bf_fence_disarm(&p->wait);
            if (p->update)
                bf_pending_drop_update(pending, p->update);
            if (p->imported)
                bf_fence_release(p->imported);
            if (p->waits_for_peer && p->peer_wait) {
                bf_peer_wait_free(p->peer_wait);
                p->peer_wait = NULL;
            }
        }
        while (queue->first_update) {
            struct bf_update *next = queue->first_update->next;
            bf_pending_drop_update(pending, queue->first_update);
            queue->first_update = next;
        }
        queue->gone = true;
        command_queue_leave_engine(queue);
        bf_command_queue_reap(queue);
    }
    pending->active = NULL;
    bf_lock_release(&pending->lock);
}
