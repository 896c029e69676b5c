#include "queue/command_queue.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "fence/import_export.h"
#include "scheduler/peer_wait.h"
#include "scheduler/pending.h"
#include "fence/native.h"
#include "fence/shared.h"
#include "fence/peer_timeline.h"
#include "fence/shared_watch.h"
#include "gpu/write.h"
#include "log/log.h"
#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "gpu/command_buffer.h"
#include "scheduler/label.h"

/* Command buffers of one call that the direct path keeps on its stack; more go by a packet. */
#define DIRECT_BUFFERS 16

static struct bf_command_queue *queue_of(BfQueue handle, const char *call)
{
    return bf_handle_check(handle, BF_HANDLE_QUEUE, call, "queue")
               ? (struct bf_command_queue *)handle
               : NULL;
}

/* For the log: when does the queue come to what it is given now? */
static enum bf_log_when log_when(struct bf_command_queue *queue)
{
    return bf_log_is_enabled(queue->base.log) && bf_log_is_queue_idle(&queue->base)
               ? BF_LOG_AT_NS
               : BF_LOG_AFTER_LAST;
}

/* The queue has come to a signal. The pending signals' lock is held. */
static void log_signal(struct bf_command_queue *queue, const struct bf_fence *fence, uint64_t value)
{
    struct bf_pending *pending = &queue->base.device->pending;
    uint32_t own = queue->base.engine->number;
    if (!bf_log_is_enabled(queue->base.log))
        return;
    enum bf_log_when when = BF_LOG_AT_NS;
    if (queue->frontier[own] > pending->engines[own].completed)
        when = BF_LOG_AFTER_LAST;
    /* Waits that it has passed since its last packet may be over later. */
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        if (i != own && queue->frontier[i] > pending->engines[i].completed)
            when = BF_LOG_WITH_STAMP;
    }
    bf_log_note_fence(queue->base.log, BF_LOG_SIGNALS, fence, value, when, bf_now_ns());
}

uint64_t bf_command_queue_unblocked(struct bf_command_queue *queue)
{
    struct bf_engine *engine = queue->base.engine;
    atomic_store(&queue->base.blocked, false);
    atomic_store(&engine->dirty, 1);
    return bf_engine_bit(engine);
}

void bf_command_queue_reap(struct bf_command_queue *queue)
{
    struct bf_pending *pending = &queue->base.device->pending;
    if (!queue->gone || queue->first_update)
        return;
    if (queue->previous)
        queue->previous->next = queue->next;
    else
        pending->queues = queue->next;
    if (queue->next)
        queue->next->previous = queue->previous;
    bf_queue_free_packets(&queue->base);
    free(queue);
}

/* The wait goes to the driver, for another process's signal. The pending signals' lock is held. */
static bool resolve(struct bf_command_queue *queue, struct bf_packet *packet)
{
    struct bf_fence *fence = packet->wait.fence;
    uint64_t value = packet->wait.node.key;
    if (!bf_peer_timelines_resolve(packet))
        return false;
    packet->waits_for_peer = true;
    if (!packet->log_noted)
        bf_log_note_fence(queue->base.log, BF_LOG_WAITS, fence, value,
                          (enum bf_log_when)packet->log_when, packet->called_ns);
    packet->log_noted = true;
    return true;
}

static enum bf_passage pass_wait(struct bf_command_queue *queue, struct bf_packet *packet,
                                 bool batched)
{
    struct bf_pending *pending = &queue->base.device->pending;
    struct bf_wait *wait = &packet->wait;
    if (wait->satisfied || pending->lost)
        return batched ? BF_PASSAGE_BATCHED : BF_PASSAGE_DONE;
    if (batched) /* the frontier has yet to take in what is in the batch */
        return BF_PASSAGE_LATER;
    const struct bf_update *update = bf_fence_update_reaching(wait->fence, wait->node.key);
    if (update) {
        bf_frontier_join(queue->frontier, update->frontier, pending->engine_count);
        return BF_PASSAGE_DONE;
    }
    do {
        if (resolve(queue, packet))
            return BF_PASSAGE_NATIVE;
    } while (!bf_peer_timelines_want(packet));
    bf_fence_block(wait, queue);
    atomic_store(&queue->base.blocked, true);
    return BF_PASSAGE_BLOCKED;
}

enum bf_passage bf_command_queue_pass(struct bf_command_queue *queue, struct bf_packet *packet,
                                      bool batched, uint64_t *engines)
{
    struct bf_device *device = queue->base.device;
    enum bf_passage passage = batched ? BF_PASSAGE_BATCHED : BF_PASSAGE_DONE;
    if (packet->kind == BF_PACKET_WAIT) {
        struct bf_trace_sync obstacle = {(uintptr_t)packet->wait.fence, packet->wait.node.key};
        bf_lock_acquire(&device->pending.lock);
        passage = pass_wait(queue, packet, batched);
        bf_lock_release(&device->pending.lock);
        if (passage == BF_PASSAGE_BLOCKED) {
            bf_trace_packet_held(device->trace, &packet->trace, obstacle);
            atomic_fetch_add_explicit(&device->counters.blocked_waits, 1, memory_order_relaxed);
        }
    }
    if (passage == BF_PASSAGE_DONE)
        *engines |= bf_command_queue_finished(queue, packet, true);
    return passage;
}

void bf_command_queue_waive(struct bf_command_queue *queue, struct bf_packet *packet)
{
    struct bf_pending *pending = &queue->base.device->pending;
    if (!packet->imported || packet->wait_count == 0)
        return;
    bf_lock_acquire(&pending->lock);
    bool destroyed = packet->imported->destroyed;
    bf_lock_release(&pending->lock);
    if (!destroyed)
        return;
    bf_semaphore_release(packet->waits[0].sem);
    packet->wait_count = packet->submit.waitSemaphoreInfoCount = 0;
}

static void add_wait(struct bf_packet *packet, VkSemaphore semaphore, uint64_t value)
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
    struct bf_device *device = queue->base.device;
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &device->pending;
    uint32_t waits = 0;
    bf_lock_acquire(&pending->lock);
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        uint64_t epoch = queue->frontier[i];
        if (i == engine->number || epoch <= pending->engines[i].completed ||
            epoch <= engine->waited[i])
            continue;
        add_wait(packet, device->engines[i].epoch, epoch);
        engine->waited[i] = epoch;
        waits++;
    }
    if (packet->signals_peers)
        bf_peer_timeline_number(packet);
    uint64_t own = queue->frontier[engine->number];
    bool behind = own > pending->engines[engine->number].completed && own > engine->fenced_epoch &&
                  engine->batch_barrier == 0;
    bf_lock_release(&pending->lock);
    /* Executions of its own in this batch that no barrier in the batch comes after. */
    bool overlaps = queue->position != 0 && queue->position >= engine->batch_barrier;
    queue->position = engine->batch_count + 1;
    /* A store begins with a barrier of its own, and ends with one. */
    bool alone = packet->write && packet->submit.commandBufferInfoCount == 1;
    if (((behind || overlaps) && !alone) || packet->submit.commandBufferInfoCount == 0) {
        bf_packet_put_barrier(packet, engine->barrier);
        engine->batch_barrier = engine->batch_count + 1;
        atomic_fetch_add_explicit(&device->counters.barriers, 1, memory_order_relaxed);
    }
    if (packet->write)
        engine->batch_barrier = engine->batch_count + 2;
    if (packet->counted) {
        packet->update->value = ++queue->progressed;
        __atomic_store_n(&packet->write->slot->value, queue->progressed, __ATOMIC_RELAXED);
    }
    atomic_fetch_add_explicit(&device->counters.semaphore_waits, waits, memory_order_relaxed);
}

void bf_command_queue_announce(struct bf_command_queue *queue, struct bf_packet *packet,
                               struct bf_effects *effects)
{
    struct bf_device *device = queue->base.device;
    if (packet->kind == BF_PACKET_EXECUTE)
        queue->issued_epoch = packet->epoch;
    bool waits_for_peer = packet->waits_for_peer && packet->peer_wait;
    if (!packet->update && !waits_for_peer)
        return;
    bf_lock_acquire(&device->pending.lock);
    if (waits_for_peer) {
        bf_peer_wait_add(&device->pending, packet->peer_wait, queue->base.engine->number,
                         packet->epoch);
        bf_lock_release(&device->pending.lock);
        bf_shared_watch_gates(&device->pending);
        return;
    }
    if (packet->write && packet->update->fence->always_signaled)
        packet->write->slot->value = UINT64_MAX; /* nor does the word change any more */
    bf_pending_announce(&device->pending, queue, packet, queue->issued_epoch, effects);
    bf_lock_release(&device->pending.lock);
}

uint64_t bf_command_queue_finished(struct bf_command_queue *queue, struct bf_packet *packet,
                                   bool accepted)
{
    struct bf_device *device = queue->base.device;
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &device->pending;
    struct bf_effects effects = {0};
    bf_lock_acquire(&pending->lock);
    if (packet->kind == BF_PACKET_WAIT) {
        if (accepted && packet->wait.fence && !packet->log_noted)
            bf_log_note_fence(queue->base.log, BF_LOG_WAITS, packet->wait.fence,
                              packet->wait.node.key, (enum bf_log_when)packet->log_when,
                              packet->called_ns);
        bf_fence_disarm(&packet->wait);
    }
    if (packet->kind == BF_PACKET_SIGNAL && packet->update && accepted && !packet->log_noted)
        log_signal(queue, packet->update->fence, packet->update->value);
    if (packet->kind == BF_PACKET_EXECUTE && accepted)
        queue->frontier[engine->number] = packet->epoch;
    if (packet->imported)
        bf_fence_release(packet->imported);
    if (packet->waits_for_peer && packet->peer_wait) {
        if (accepted)
            packet->peer_wait->packet = NULL; /* it stays with the pending signals */
        else
            bf_peer_wait_free(packet->peer_wait);
        packet->peer_wait = NULL;
    }
    /* An update that has gone has been applied, or the device lost, since it was announced. */
    if (packet->update && packet->announced)
        bf_pending_confirm(pending, packet, &effects);
    else if (packet->update && accepted)
        bf_pending_accept(pending, queue, packet->update, &effects);
    else if (packet->update)
        bf_pending_drop_update(pending, packet->update);
    bf_lock_release(&pending->lock);
    if (packet->write && accepted)
        bf_gpu_write_accepted(engine, packet->write, packet->epoch);
    else if (packet->write)
        bf_gpu_write_drop(engine, packet->write);
    if (packet->kind == BF_PACKET_EXECUTE && accepted) {
        uint64_t fenced = packet->write ? packet->epoch : packet->barrier ? packet->epoch - 1 : 0;
        if (engine->fenced_epoch < fenced)
            engine->fenced_epoch = fenced;
        atomic_fetch_add_explicit(&device->counters.submissions, 1, memory_order_relaxed);
        if (packet->waits_for_peer)
            atomic_fetch_add_explicit(&device->counters.peer_waits, 1, memory_order_relaxed);
    }
    uint64_t engines = effects.engines;
    bf_effects_run_but_pump(device, &effects);
    return engines;
}

bool bf_command_queues_have_backlog(struct bf_device *device)
{
    struct bf_pending *pending = &device->pending;
    bool backlog = false;
    bf_lock_acquire(&pending->lock);
    for (struct bf_command_queue *q = pending->queues; q && !backlog; q = q->next)
        backlog = bf_queue_has_backlog(&q->base);
    bf_lock_release(&pending->lock);
    return backlog;
}

static void leave_engine(struct bf_command_queue *queue)
{
    struct bf_engine *engine = queue->base.engine;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        if (engine->queues[i] == &queue->base) {
            engine->queues[i] = engine->queues[--engine->queue_count];
            bf_log_leave(queue->base.log);
        }
    }
}

void bf_command_queues_finish(struct bf_device *device)
{
    struct bf_pending *pending = &device->pending;
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
        leave_engine(queue);
        bf_command_queue_reap(queue);
    }
    pending->active = NULL;
    bf_lock_release(&pending->lock);
}

/* After a call that may have put many signals on their way (E-7). */
static VkResult settle(struct bf_device *device, const char *call)
{
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    if (!bf_pending_is_crowded(&device->pending))
        return VK_SUCCESS;
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&device->pending, &effects);
    bf_effects_run(device, &effects);
    return result == VK_ERROR_DEVICE_LOST ? bf_device_lost(device, call) : VK_SUCCESS;
}

/* The store and the signal of an execution that never comes about. */
static void drop_signal(struct bf_engine *engine, struct bf_gpu_write *write,
                        struct bf_update *update)
{
    struct bf_pending *pending = &engine->device->pending;
    if (write)
        bf_gpu_write_drop(engine, write);
    if (!update)
        return;
    bf_lock_acquire(&pending->lock);
    bf_pending_drop_update(pending, update);
    bf_lock_release(&pending->lock);
}

static void trace_fence(struct bf_command_queue *queue, struct bf_trace_packet *packet,
                        enum bf_trace_fence_op op, uint64_t fence, uint64_t value)
{
    bf_trace_fence_queued(queue->base.device->trace, queue->base.trace_id, packet, op,
                          (struct bf_trace_sync){fence, value}, bf_log_is_enabled(queue->base.log));
}

static void trace_queued(struct bf_command_queue *queue, struct bf_packet *packet,
                         const struct bf_execution *what)
{
    bf_trace_packet_queued_with(
        queue->base.device->trace, &packet->trace, queue->base.trace_id,
        what->write && !what->count ? BF_TRACE_SIGNAL : BF_TRACE_EXECUTE,
        &(struct bf_trace_contents){.count = what->count, .buffers = what->buffers});
    if (what->update && !what->counted)
        trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL, (uintptr_t)what->update->fence,
                    what->update->value);
    if (what->wait)
        trace_fence(queue, &packet->trace, BF_TRACE_FENCE_WAIT, (uintptr_t)what->fence,
                    what->value);
    if (what->signal && !what->signals_peers)
        trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL, (uint64_t)what->signal->handle,
                    what->value);
}

static VkResult submit_execution(struct bf_command_queue *queue, const struct bf_execution *what,
                                 const char *call)
{
    struct bf_device *device = queue->base.device;
    struct bf_packet *packet = bf_packet_from_execution(&queue->base, what);
    if (!packet) {
        drop_signal(queue->base.engine, what->write, what->update);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (what->fence) {
        bf_lock_acquire(&device->pending.lock);
        bf_fence_reference(what->fence);
        bf_lock_release(&device->pending.lock);
    }
    trace_queued(queue, packet, what);
    bf_queue_append(&queue->base, packet);
    return settle(device, call);
}

static bool try_direct(struct bf_command_queue *queue, const struct bf_execution *what,
                       VkResult *result);

/* Errors leave nothing behind; 'what' is used up. */
static VkResult execute(struct bf_command_queue *queue, const struct bf_execution *what,
                        const char *call)
{
    VkResult result;
    if (what->signals_peers || !try_direct(queue, what, &result))
        return submit_execution(queue, what, call);
    return result == VK_ERROR_DEVICE_LOST ? bf_device_lost(queue->base.device, call) : result;
}

/* A command buffer of another family or level is told where the layer has seen it allocated. */
static bool suits(struct bf_command_queue *queue, uint32_t i, VkCommandBuffer buffer)
{
    uint32_t family;
    VkCommandBufferLevel level;
    if (!buffer) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueExecute: pCommandBuffers[%u] is NULL", i);
        return false;
    }
    if (!bf_command_buffer_find(queue->base.device, buffer, &family, &level))
        return true;
    if (level != VK_COMMAND_BUFFER_LEVEL_PRIMARY) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfQueueExecute: pCommandBuffers[%u] is a secondary one: no queue consumes it",
                   i);
        return false;
    }
    if (family != queue->base.family) {
        bf_message(
            BF_MESSAGE_ERROR,
            "bfQueueExecute: pCommandBuffers[%u] is of queue family %u, the queue takes those "
            "of %u",
            i, family, queue->base.family);
        return false;
    }
    return true;
}

/* The driver refused it. */
static void withdraw(struct bf_engine *engine, struct bf_packet *packet)
{
    struct bf_pending *pending = &engine->device->pending;
    bf_lock_acquire(&pending->lock);
    if (packet->announced)
        bf_pending_withdraw(pending, packet);
    bf_lock_release(&pending->lock);
    drop_signal(engine, packet->write, packet->update);
}

/* The uncontended case, with nothing held: no allocation, no copy, no lock but the engine's and the
 * pending signals'. False: nothing was done, go by a packet. */
static bool try_direct(struct bf_command_queue *queue, const struct bf_execution *what,
                       VkResult *result)
{
    struct bf_device *device = queue->base.device;
    struct bf_engine *engine = queue->base.engine;
    struct bf_effects effects = {0};
    uint64_t engines = 0;
    uint32_t count = what->count;
    if (device->trace || count > DIRECT_BUFFERS || !bf_lock_try_briefly(&engine->lock))
        return false;
    /* The loss is looked at last: what a lost device drops counts as accepted. */
    bool done = !bf_queue_has_backlog(&queue->base) && !bf_device_is_lost(device);
    if (done) {
        VkSemaphoreSubmitInfo waits[BF_MAX_ENGINES], signal;
        /* A barrier, and before it nothing; behind it all a store. */
        VkCommandBufferSubmitInfo infos[DIRECT_BUFFERS + 3];
        struct bf_packet packet = {
            .kind = BF_PACKET_EXECUTE,
            .submit =
                {
                    .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                    .pWaitSemaphoreInfos = waits,
                    .commandBufferInfoCount = count + (what->write != NULL),
                    .pCommandBufferInfos = infos + 2,
                    .signalSemaphoreInfoCount = 1,
                    .pSignalSemaphoreInfos = &signal,
                },
            .command_buffers = infos + 1,
            .write = what->write,
            .update = what->update,
            .counted = what->counted,
            .epoch = atomic_load_explicit(&engine->accepted_epoch, memory_order_relaxed) + 1,
        };
        signal = bf_engine_epoch_signal(engine, packet.epoch);
        for (uint32_t i = 0; i < packet.submit.commandBufferInfoCount; i++) {
            infos[i + 2] = (VkCommandBufferSubmitInfo){
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                .commandBuffer = i < count ? what->buffers[i] : what->write->commands,
            };
        }
        queue->position = engine->batch_count = engine->batch_barrier = 0;
        bf_command_queue_prepare(queue, &packet);
        struct bf_log *log = bf_log_is_enabled(queue->base.log) ? queue->base.log : NULL;
        struct bf_log_batch batch; /* of a queue with a log alone */
        if (log) {
            batch = (struct bf_log_batch){.submit = &packet.submit,
                                          .goes_at_once = true,
                                          .barrier = packet.barrier,
                                          .update = packet.update};
            bf_log_add(log, &batch);
        }
        atomic_store(&engine->issued_epoch, packet.epoch);
        bf_command_queue_announce(queue, &packet, &effects);
        bf_label_enter(engine, NULL);
        *result = bf_engine_driver_submit(engine, 1, &packet.submit, VK_NULL_HANDLE);
        if (*result == VK_SUCCESS) {
            atomic_store(&engine->accepted_epoch, packet.epoch);
            if (log)
                bf_log_accepted(log, &batch, packet.epoch);
            engines = bf_command_queue_finished(queue, &packet, true);
            atomic_fetch_add_explicit(&device->counters.driver_calls, 1, memory_order_relaxed);
        } else {
            queue->progressed -= packet.counted;
            if (log)
                bf_log_refused(log, &batch);
            withdraw(engine, &packet);
            /* Nothing has waited for what this one would have. */
            memset(engine->waited, 0, device->engine_count * sizeof(*engine->waited));
        }
    }
    bf_lock_release(&engine->lock);
    bf_effects_run_but_pump(device, &effects);
    bf_engine_recheck(engine, engines | effects.engines);
    return done;
}

/* For a call that an observer has heard of: if it has failed, that observer is wrong from now on. */
static VkResult observed_result(struct bf_device *device, VkResult result)
{
    if (result != VK_SUCCESS)
        bf_observe_stop(device->observer, "a call on a queue has failed");
    return result;
}

/* The store of a native fence's value and the signal that tells of it, for an execution. */
static VkResult take_signal(struct bf_command_queue *queue, struct bf_fence *fence, uint64_t value,
                            struct bf_execution *what)
{
    struct bf_engine *engine = queue->base.engine;
    struct bf_pending *pending = &engine->device->pending;
    VkResult result = VK_SUCCESS;
    if (fence->native)
        result =
            bf_gpu_write_take(engine, &fence->native->current, value,
                              fence->flags & BF_FENCE_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT, &what->write);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&pending->lock);
    what->update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (what->update)
        return VK_SUCCESS;
    if (what->write)
        bf_gpu_write_drop(engine, what->write);
    what->write = NULL;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_command_queue_log(struct bf_command_queue *queue)
{
    return submit_execution(queue, &(struct bf_execution){0}, "bfReadFenceLog");
}

VkResult bfQueueExecute(BfQueue handle, uint32_t count, const VkCommandBuffer *buffers)
{
    struct bf_command_queue *queue = queue_of(handle, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (count == 0 || !buffers) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueExecute: count %u, pCommandBuffers %p", count,
                   (const void *)buffers);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!suits(queue, i, buffers[i]))
            return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_device *device = queue->base.device;
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    bf_observe_queue_execute(queue->observed, count, buffers);
    const struct bf_execute_observer *observer = device->execute_observer;
    uint64_t call = observer ? observer->begins(observer->context, handle, count, buffers) : 0;
    struct bf_execution what = {.count = count, .buffers = buffers};
    struct bf_fence *progress = atomic_load(&queue->progress);
    VkResult result = VK_SUCCESS;
    if (progress) {
        what.counted = true;
        result = take_signal(queue, progress, 0, &what);
    }
    if (result == VK_SUCCESS)
        result = execute(queue, &what, __func__);
    if (observer && result != VK_SUCCESS)
        observer->failed(observer->context, call);
    return observed_result(device, result);
}

/* A signal or a wait that cost no packet leaves the same mark as one that did. */
static void trace_settled(struct bf_command_queue *queue, enum bf_trace_packet_kind kind,
                          struct bf_fence *fence, uint64_t value)
{
    struct bf_trace *trace = queue->base.device->trace;
    struct bf_trace_packet packet = {0};
    const struct bf_trace_sync sync = {(uintptr_t)fence, value};
    bool wait = kind == BF_TRACE_WAIT;
    bf_trace_packet_queued(trace, &packet, queue->base.trace_id, kind, 0);
    trace_fence(queue, &packet, wait ? BF_TRACE_FENCE_WAIT : BF_TRACE_FENCE_SIGNAL,
                (uintptr_t)fence, value);
    bf_trace_packet_handed_over(trace, &packet, wait, &sync, !wait, &sync);
}

enum settled { SETTLED, QUEUED, OUT_OF_MEMORY, LOST };

/* C-1: the signal of a queue with nothing held, at once where it is idle. */
static enum settled signal_now(struct bf_command_queue *queue, struct bf_fence *fence,
                               uint64_t value, struct bf_effects *effects)
{
    struct bf_device *device = queue->base.device;
    struct bf_pending *pending = &device->pending;
    enum settled how = QUEUED;
    bool idle = false;
    /* Its last packet may be complete while the driver call that it went in is about to return on
     * another thread: after that, the queue is idle. */
    if (bf_queue_is_being_issued(&queue->base))
        bf_engine_pump_taking_over(queue->base.engine);
    if (bf_queue_has_backlog(&queue->base))
        return QUEUED;
    bf_lock_acquire(&pending->lock);
    VkResult result = bf_pending_is_idle(pending, queue, &idle);
    if (idle && atomic_load(&fence->pending)) {
        /* It applies after whatever the GPU has signalled by now. */
        bf_lock_release(&pending->lock);
        result = bf_pending_retire(pending, effects);
        bf_lock_acquire(&pending->lock);
    }
    if (result != VK_SUCCESS) {
        how = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                  ? OUT_OF_MEMORY
                  : LOST;
    } else if (!bf_queue_has_backlog(&queue->base)) { /* nor has another thread given it more */
        how = SETTLED;
        if (bf_pending_is_complete(pending, queue->frontier)) {
            log_signal(queue, fence, value);
            bf_pending_retire_known(pending, effects);
            bf_fence_signal(fence, value, effects);
        } else if (fence->shared && fence->shared->peer_timelines) {
            how = QUEUED; /* other processes' GPUs may want to wait for it */
        } else if (queue->last_update && queue->last_update->packet) {
            /* Another thread is about to give the driver what signals, and the frontier has yet to
             * take that in: behind it on the queue's list, a lesser frontier must not stand. */
            how = QUEUED;
        } else {
            struct bf_update *update = bf_pending_take_update(pending, fence, value);
            if (update) {
                log_signal(queue, fence, value);
                bf_pending_accept(pending, queue, update, effects);
            } else {
                how = OUT_OF_MEMORY;
            }
        }
    }
    bf_lock_release(&pending->lock);
    return how;
}

static VkResult queue_signal(struct bf_command_queue *queue, struct bf_fence *fence, uint64_t value)
{
    struct bf_device *device = queue->base.device;
    struct bf_pending *pending = &device->pending;
    struct bf_packet *packet = bf_packet_create(&queue->base, BF_PACKET_SIGNAL);
    if (!packet)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_lock_acquire(&pending->lock);
    packet->update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (!packet->update) {
        bf_packet_free(packet);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    packet->fence_sync = (struct bf_trace_sync){(uintptr_t)fence, value};
    bf_trace_packet_queued(device->trace, &packet->trace, queue->base.trace_id, BF_TRACE_SIGNAL, 0);
    trace_fence(queue, &packet->trace, BF_TRACE_FENCE_SIGNAL, (uintptr_t)fence, value);
    bf_queue_append(&queue->base, packet);
    return VK_SUCCESS;
}

/* The queue and the fence of a call, or NULL with a line. 'bit' is what forbids it. */
static struct bf_command_queue *check_pair(BfQueue queue_handle, BfFence fence_handle,
                                           BfFenceFlags bit, struct bf_fence **fence,
                                           const char *call)
{
    struct bf_command_queue *queue = queue_of(queue_handle, call);
    *fence = queue ? bf_fence_of(fence_handle, call) : NULL;
    if (!*fence)
        return NULL;
    if ((*fence)->device != queue->base.device) {
        bf_message(BF_MESSAGE_ERROR, "%s: the fence%s belongs to another device", call,
                   BF_LABEL(*fence));
        return NULL;
    }
    if ((*fence)->flags & bit) {
        bf_message(BF_MESSAGE_ERROR, "%s: the fence%s was created with the flag that forbids it",
                   call, BF_LABEL(*fence));
        return NULL;
    }
    return queue;
}

/* SH-17: another process's GPU can wait for it; else VK_INCOMPLETE, and nothing is done. */
static VkResult signal_by_carrier(struct bf_command_queue *queue, struct bf_fence *fence,
                                  uint64_t value)
{
    struct bf_pending *pending = &queue->base.device->pending;
    struct bf_execution what = {0};
    bf_lock_acquire(&pending->lock);
    bool can = fence->shared && fence->shared->peer_timelines;
    if (can)
        what.update = bf_pending_take_update(pending, fence, value);
    bf_lock_release(&pending->lock);
    if (!can)
        return VK_INCOMPLETE;
    if (!what.update)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_peer_timelines_take(queue, &what);
    if (what.signals_peers)
        return submit_execution(queue, &what, "bfQueueSignal");
    drop_signal(queue->base.engine, NULL, what.update);
    return VK_INCOMPLETE;
}

/* NF-1: the GPU signals it; or LG-3: it logs the signal before anybody learns of it. */
static VkResult signal_by_gpu(struct bf_command_queue *queue, struct bf_fence *fence,
                              uint64_t value)
{
    struct bf_execution what = {0};
    if (fence->always_signaled)
        return VK_SUCCESS;
    VkResult result = take_signal(queue, fence, value, &what);
    if (result == VK_SUCCESS)
        bf_peer_timelines_take(queue, &what);
    return result == VK_SUCCESS ? execute(queue, &what, "bfQueueSignal") : result;
}

VkResult bfQueueSignal(BfQueue queue_handle, BfFence fence_handle, uint64_t value)
{
    struct bf_fence *fence;
    struct bf_command_queue *queue =
        check_pair(queue_handle, fence_handle,
                   BF_FENCE_NO_SIGNAL_BIT | BF_FENCE_PROGRAM_WRITTEN_BIT, &fence, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_device *device = queue->base.device;
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    if (fence->imported) {
        uint64_t before;
        if (!bf_import_may_signal(fence, value, &before, __func__))
            return VK_ERROR_VALIDATION_FAILED_EXT;
        bf_fence_announce(fence, value);
        bf_observe_queue_signal(queue->observed, fence->observed, value);
        VkResult result = submit_execution(
            queue, &(struct bf_execution){.signal = fence->imported, .value = value}, __func__);
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY)
            bf_import_will_not_signal(fence, value, before);
        return observed_result(device, result);
    }
    if (fence->native && fence->native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU &&
        (queue->flags & BF_QUEUE_SOFTWARE_FENCES_BIT)) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfQueueSignal: the CPU writes this queue's signals, and can't write "
                   "to a fence in the GPU's own memory");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult owned = bf_shared_check(fence);
    if (owned != VK_SUCCESS)
        return owned;
    bf_fence_announce(fence, value);
    bf_observe_queue_signal(queue->observed, fence->observed, value);
    if ((fence->native && !(queue->flags & BF_QUEUE_SOFTWARE_FENCES_BIT)) ||
        (bf_log_is_read(queue->base.log) && fence->log_handle))
        return observed_result(device, signal_by_gpu(queue, fence, value));
    struct bf_effects effects = {0};
    enum settled how = signal_now(queue, fence, value, &effects);
    if (how == SETTLED)
        trace_settled(queue, BF_TRACE_SIGNAL, fence, value); /* before what comes of it */
    bf_effects_run(device, &effects);
    if (how == LOST)
        return bf_device_lost(device, __func__);
    VkResult result = how == QUEUED ? signal_by_carrier(queue, fence, value) : VK_INCOMPLETE;
    if (result != VK_INCOMPLETE)
        return observed_result(device, result);
    result = how == QUEUED          ? queue_signal(queue, fence, value)
             : how == OUT_OF_MEMORY ? VK_ERROR_OUT_OF_HOST_MEMORY
                                    : VK_SUCCESS;
    return result == VK_SUCCESS ? settle(device, __func__) : observed_result(device, result);
}

enum waited { PASSED, HAS_TO_WAIT, HAS_TO_LOOK };

/* C-1: a wait that is satisfied, or that a queue with nothing held passes at once. 'looked': the
 * fence's value is of now. */
static enum waited wait_now(struct bf_command_queue *queue, struct bf_fence *fence, uint64_t value,
                            bool looked)
{
    struct bf_pending *pending = &queue->base.device->pending;
    struct bf_log *log = queue->base.log;
    bool passed = atomic_load(&fence->value) >= value;
    /* The log has it in its place among what is held. */
    bool in_turn = bf_log_is_enabled(log) && bf_queue_has_backlog(&queue->base);
    if (!atomic_load(&fence->pending)) {
        if (!passed || in_turn)
            return HAS_TO_WAIT;
        bf_log_note_fence(log, BF_LOG_WAITS, fence, value, BF_LOG_AT_NS, 0);
        return PASSED;
    }
    enum waited how = HAS_TO_WAIT;
    bf_lock_acquire(&pending->lock);
    const struct bf_update *update;
    if (!looked && !bf_fence_only_grows(fence)) {
        how = HAS_TO_LOOK;
    } else if (in_turn) {
        how = HAS_TO_WAIT;
    } else if (atomic_load(&fence->value) >= value) {
        how = PASSED;
        bf_log_note_fence(log, BF_LOG_WAITS, fence, value, BF_LOG_AT_NS, 0);
    } else if ((update = bf_fence_update_reaching(fence, value)) != NULL &&
               !bf_queue_has_backlog(&queue->base)) {
        bf_log_note_fence(log, BF_LOG_WAITS, fence, value, log_when(queue), bf_now_ns());
        bf_frontier_join(queue->frontier, update->frontier, pending->engine_count);
        how = PASSED;
    }
    bf_lock_release(&pending->lock);
    return how;
}

static VkResult look(struct bf_device *device)
{
    struct bf_effects effects = {0};
    VkResult result = bf_pending_retire(&device->pending, &effects);
    bf_effects_run(device, &effects);
    return result;
}

static struct bf_packet *create_wait(struct bf_command_queue *queue, struct bf_fence *fence)
{
    struct bf_pending *pending = &queue->base.device->pending;
    bf_lock_acquire(&pending->lock);
    bool trusted = fence->shared && fence->shared->peer_timelines;
    bf_lock_release(&pending->lock);
    if (!trusted)
        return bf_packet_create(&queue->base, BF_PACKET_WAIT);
    struct bf_peer_wait *peer_wait = calloc(1, sizeof(*peer_wait));
    struct bf_packet *packet = peer_wait ? bf_packet_from_wait(&queue->base, peer_wait) : NULL;
    if (!packet)
        free(peer_wait);
    return packet;
}

VkResult bfQueueWait(BfQueue queue_handle, BfFence fence_handle, uint64_t value)
{
    struct bf_fence *fence;
    struct bf_command_queue *queue =
        check_pair(queue_handle, fence_handle, BF_FENCE_NO_WAIT_BIT, &fence, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_device *device = queue->base.device;
    if (bf_device_is_lost(device))
        return bf_device_settle(device);
    bf_observe_queue_wait(queue->observed, fence->observed, value);
    if (fence->imported)
        return observed_result(
            device, submit_execution(queue,
                                     &(struct bf_execution){
                                         .wait = fence->imported, .value = value, .fence = fence},
                                     __func__));
    bf_shared_look(fence);
    if (fence->native && bf_native_is_program_written(fence))
        bf_native_look(fence);
    enum waited how = wait_now(queue, fence, value, false);
    VkResult result = how == HAS_TO_LOOK ? look(device) : VK_SUCCESS;
    if (result != VK_SUCCESS)
        return result == VK_ERROR_DEVICE_LOST ? bf_device_lost(device, __func__)
                                              : observed_result(device, result);
    if (how == HAS_TO_LOOK)
        how = wait_now(queue, fence, value, true);
    if (how == PASSED) {
        trace_settled(queue, BF_TRACE_WAIT, fence, value);
        return VK_SUCCESS;
    }
    result = bf_shared_listen(fence);
    struct bf_packet *packet = result == VK_SUCCESS ? create_wait(queue, fence) : NULL;
    if (!packet)
        return observed_result(device, VK_ERROR_OUT_OF_HOST_MEMORY);
    packet->wait = (struct bf_wait){.node.key = value};
    packet->fence_sync = (struct bf_trace_sync){(uintptr_t)fence, value};
    bf_trace_packet_queued(device->trace, &packet->trace, queue->base.trace_id, BF_TRACE_WAIT, 0);
    trace_fence(queue, &packet->trace, BF_TRACE_FENCE_WAIT, (uintptr_t)fence, value);
    struct bf_effects effects = {0};
    bf_lock_acquire(&device->pending.lock);
    packet->log_when = (uint8_t)log_when(queue);
    bf_fence_look_outside(fence, &effects); /* on account of the waits before (SH-2) */
    bool satisfied = bf_fence_arm(fence, &packet->wait);
    bf_fence_look_outside(fence, &effects);
    bf_lock_release(&device->pending.lock);
    if (!satisfied)
        packet->called_ns = bf_now_ns();
    else
        packet->log_when = BF_LOG_AT_NS;
    bf_queue_append(&queue->base, packet);
    bf_effects_run(device, &effects);
    return settle(device, __func__);
}

VkResult bfQueueWaitIdle(BfQueue handle)
{
    struct bf_command_queue *queue = queue_of(handle, __func__);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_fence *fence;
    VkResult result = bf_fence_create(queue->base.device, 0, BF_FENCE_FLAGS_NONE, &fence);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&queue->base.device->pending.lock);
    fence->log_handle = 0; /* nobody's business */
    bf_lock_release(&queue->base.device->pending.lock);
    BfFence done = (BfFence)fence;
    const uint64_t one = 1;
    result = bfQueueSignal(handle, done, one);
    if (result == VK_SUCCESS)
        result = bfWaitFences(1, &done, &one, BF_FENCE_WAIT_ALL, UINT64_MAX);
    bfDestroyFence(done);
    const struct bf_execute_observer *observer = queue->base.device->execute_observer;
    if (observer && result == VK_SUCCESS)
        observer->idle(observer->context, handle);
    return result;
}
