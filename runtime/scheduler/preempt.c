/* SPDX-License-Identifier: MIT */
/* Preemption requests: what they hold back, when they are complete, and the threads that see to
 * that. */
#include "scheduler/preempt.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "scheduler/command_queue.h"
#include "scheduler/deferral.h"
#include "scheduler/driver.h"
#include "scheduler/driver_wait.h"
#include "scheduler/engine.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/window.h"
#include "scheduler/scheduler.h"

/* A wait in the driver is made in slices, in case a loss doesn't end it. */
#define SLICE_NS UINT64_C(1000000000)

struct bf_preempter {
    struct bf_engine *engine;
    struct bf_thread thread;
    _Atomic bool stop;
    _Atomic uint32_t turn; /* counts requests */
};

/* ------------------------------------------------------------------------------- Completion -- */

static bool preemption_is_over(const struct bf_preemption *request, uint64_t completed)
{
    return request->epoch <= completed && !request->unmarked;
}

/* Completes the requests that are over, or on a lost device all, of which nobody is told any more:
 * fences have their last value. The caller holds no lock. */
static void preempt_settle(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_pending *pending = &scheduler->pending;
    struct bf_preempt *preempt = &engine->preempt;
    struct bf_effects effects = {0};
    struct bf_preemption *over = NULL;
    uint64_t completed = 0;
    if (bf_gpu_engine_completed_epoch(&engine->base, &completed) != VK_SUCCESS)
        completed = 0;
    bf_lock_acquire(&pending->lock);
    const uint64_t now = bf_now_ns(); /* no request of the list has begun later */
    while (preempt->first && (preemption_is_over(preempt->first, completed) || pending->lost)) {
        struct bf_preemption *request = preempt->first;
        preempt->first = request->next;
        if (!pending->lost) {
            preempt->completed = request->number;
            preempt->completed_epoch = completed;
            preempt->latency_ns = now - request->begun_ns;
            preempt->sum_of_latencies_ns += preempt->latency_ns;
            if (preempt->greatest_latency_ns < preempt->latency_ns)
                preempt->greatest_latency_ns = preempt->latency_ns;
            bf_fence_signal(preempt->fence, request->number, &effects);
        }
        request->next = over;
        over = request;
        atomic_fetch_sub(&preempt->under_way, 1);
        atomic_store(&engine->dirty, 1); /* PE-3; before there are no windows (bf_windows_flush) */
        atomic_fetch_sub(&scheduler->windows, 1);
    }
    bf_lock_release(&pending->lock);
    if (!over)
        return;
    while (over) {
        struct bf_preemption *next = over->next;
        if (preemption_is_over(over, completed)) /* else the device is lost */
            bf_trace_preempted(scheduler->gpu.trace, engine->base.trace_id, over->number,
                               now - over->begun_ns);
        free(over);
        over = next;
    }
    effects.engines |= bf_engine_bit(engine);
    bf_effects_run(scheduler, &effects);
}

/* The first request, as far as its thread needs it; false: there is none. */
static bool preempt_next(struct bf_engine *engine, struct bf_preemption *request)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bool any = engine->preempt.first != NULL;
    if (any)
        *request = *engine->preempt.first;
    bf_lock_release(&pending->lock);
    return any;
}

/* Is what has no epoch over, by the VkQueues' completion signals? The engine's lock is held, or its
 * place beside a present. */
static bool engine_unnumbered_is_over(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    bool over = atomic_load(&engine->shared); /* else nothing is known of it (I-4) */
    for (uint32_t i = 0; i < scheduler->queue_count && over; i++) {
        struct bf_queue *queue = &scheduler->queues[i];
        over =
            queue->engine != engine ||
            (!bf_signless_is(&queue->submitted) &&
             !(scheduler->gpu.attached && bf_signless_is(&queue->presented)) && /* or submitted */
             bf_last_submission_is_reached(queue));
    }
    return over;
}

/* The epoch that tells of all that the driver has been given; the engine's lock is held. */
static VkResult preempt_mark(struct bf_engine *engine, uint64_t *epoch)
{
    *epoch = atomic_load(&engine->base.accepted_epoch);
    return engine->unnumbered && !engine_unnumbered_is_over(engine)
               ? bf_engine_mark(engine, VK_NULL_HANDLE, "preemption", epoch)
               : VK_SUCCESS;
}

void bf_preempt_before_present(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    uint64_t epoch;
    if (!scheduler->preemption || scheduler->gpu.attached ||
        !atomic_load_explicit(&scheduler->known, memory_order_relaxed) ||
        (!engine->base.epoch && bf_gpu_engine_create_epoch(&engine->base) != VK_SUCCESS))
        return;
    if (!atomic_load_explicit(&engine->preempt.numbers, memory_order_relaxed))
        atomic_store(&engine->preempt.numbers, true);
    (void)preempt_mark(engine, &epoch); /* else a request waits for the present, too */
}

/* Of the first request, which was made beside a present. */
static VkResult preempt_mark_late(struct bf_engine *engine)
{
    struct bf_pending *pending = &engine->scheduler->pending;
    uint64_t epoch;
    if (!bf_engine_enter(engine))
        return VK_ERROR_DEVICE_LOST;
    VkResult result = preempt_mark(engine, &epoch);
    bf_lock_acquire(&pending->lock);
    if (result == VK_SUCCESS && engine->preempt.first) {
        engine->preempt.first->epoch = epoch;
        engine->preempt.first->unmarked = false;
    }
    bf_lock_release(&pending->lock);
    bf_engine_leave(engine, 0);
    return result;
}

static void preempter_run(void *argument)
{
    struct bf_preempter *preempter = argument;
    struct bf_engine *engine = preempter->engine;
    struct bf_scheduler *scheduler = engine->scheduler;
    while (!atomic_load(&preempter->stop)) {
        struct bf_preemption first;
        uint32_t turn = atomic_load(&preempter->turn);
        if (!preempt_next(engine, &first)) {
            if (!atomic_load(&preempter->stop))
                bf_futex_wait(&preempter->turn, turn, NULL);
            continue;
        }
        const uint64_t leave = scheduler->leave_ns / 2;
        VkResult result =
            first.unmarked ? preempt_mark_late(engine)
                           : bf_gpu_wait_timeline(&scheduler->gpu, engine->base.epoch, first.epoch,
                                                  leave < SLICE_NS ? leave : SLICE_NS);
        if (atomic_load(&preempter->stop)) /* L-7: only this thread may be left */
            return;
        bf_driver_wait_judge(scheduler, result, &preempter->turn, turn, "waiting for a preemption");
        preempt_settle(engine);
    }
}

VkResult bf_preempt_prepare(struct bf_engine *engine)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_preempt *preempt = &engine->preempt;
    if (atomic_load(&preempt->thread))
        return VK_SUCCESS;
    bf_lock_acquire(&scheduler->pending.sleeper_lock);
    struct bf_preempter *preempter = atomic_load(&preempt->thread);
    if (!preempter && (preempter = calloc(1, sizeof(*preempter))) != NULL) {
        preempter->engine = engine;
        if (!bf_thread_start(&preempter->thread, NULL, preempter_run, preempter)) {
            free(preempter);
            preempter = NULL;
        }
        atomic_store(&preempt->thread, preempter);
    }
    bf_lock_release(&scheduler->pending.sleeper_lock);
    return preempter ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* --------------------------------------------------------------------------------- Requests -- */

VkResult bf_preempt_request(struct bf_command_queue *queue, uint64_t *number)
{
    struct bf_engine *engine = queue->base.engine;
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_preempt *preempt = &engine->preempt;
    struct bf_preemption *request = calloc(1, sizeof(*request));
    if (!request)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *request = (struct bf_preemption){
        .queue = &queue->base,
        .level = atomic_load(&queue->base.level),
        .begun_ns = bf_now_ns(),
    };
    /* Nothing is accepted while the lock's holder is in a present. */
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    if (entry == BF_ENGINE_LOST) {
        free(request);
        return bf_scheduler_settle(scheduler);
    }
    VkResult result = VK_SUCCESS;
    request->epoch = atomic_load(&engine->base.accepted_epoch);
    if (entry == BF_ENGINE_LOCKED)
        result = preempt_mark(engine, &request->epoch); /* PE-2 */
    else
        request->unmarked = engine->unnumbered && !engine_unnumbered_is_over(engine);
    if (result != VK_SUCCESS) {
        bf_engine_leave_beside(engine, entry);
        free(request);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_settle(scheduler) : result;
    }
    bf_lock_acquire(&scheduler->pending.lock);
    *number = request->number = ++preempt->requested;
    if (preempt->first)
        preempt->last->next = request;
    else
        preempt->first = request;
    preempt->last = request;
    atomic_fetch_add(&preempt->under_way, 1);
    atomic_store(&scheduler->had_windows, true);
    const bool first = atomic_fetch_add(&scheduler->windows, 1) == 0; /* PW-7 holds of this, too */
    atomic_store(&preempt->numbers, true);
    bf_lock_release(&scheduler->pending.lock);
    bf_engine_leave_beside(engine, entry);
    if (first)
        bf_windows_changed(scheduler);
    preempt_settle(engine);
    struct bf_preempter *preempter = atomic_load(&preempt->thread);
    atomic_fetch_add(&preempter->turn, 1);
    bf_futex_wake(&preempter->turn, 1);
    return bf_scheduler_is_lost(scheduler) ? bf_scheduler_settle(scheduler) : VK_SUCCESS;
}

/* Does one of the requests up to that number hold a packet of the level? The lock is held. */
static bool requests_hold(const struct bf_preempt *preempt, const struct bf_queue *queue,
                          uint8_t level, uint64_t last)
{
    const struct bf_preemption *r = preempt->first;
    while (r && r->number <= last && (r->queue == queue || r->level < level))
        r = r->next;
    return r && r->number <= last;
}

/* Can requests hold it at all? */
static bool packet_is_preemptible(const struct bf_queue *queue, const struct bf_packet *packet)
{
    struct bf_scheduler *scheduler = queue->scheduler;
    return atomic_load(&queue->engine->preempt.under_way) > 0 &&
           packet->kind == BF_PACKET_EXECUTE &&
           (queue->is_command_queue || !scheduler->gpu.attached) && bf_deferral_may(scheduler);
}

/* For the program a packet is one, however often it has been divided. */
static void packet_count_held(struct bf_preempt *preempt, struct bf_packet *packet)
{
    preempt->held += !packet->counted_held;
    packet->counted_held = true;
    if (packet->part)
        packet->next->counted_held = true;
}

bool bf_preempt_holds(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet)
{
    struct bf_preempt *preempt = &engine->preempt;
    struct bf_lock *lock = &engine->scheduler->pending.lock;
    bool holds = false;
    if (packet_is_preemptible(queue, packet)) {
        bf_lock_acquire(lock);
        holds = requests_hold(preempt, queue, bf_window_packet_level(queue, packet),
                              packet->preemptible_by ? packet->preemptible_by : UINT64_MAX);
        if (holds && !packet->preemptible_by) {
            packet->preemptible_by = preempt->requested; /* PE-3 */
            packet_count_held(preempt, packet);
        }
        bf_lock_release(lock);
    }
    if (atomic_load_explicit(&queue->preempted, memory_order_relaxed) != holds)
        atomic_store(&queue->preempted, holds);
    return holds;
}

/* May others go between its command buffers? */
static bool packet_may_be_divided(struct bf_packet *packet)
{
    const VkSubmitInfo2 *info = &packet->submit;
    /* A GPU write isn't the program's: it goes with the last that is. */
    if (packet->whole || packet->kind != BF_PACKET_EXECUTE || packet->barrier ||
        packet->stamp != UINT32_MAX || info->commandBufferInfoCount < 2 + (packet->write != NULL))
        return false;
    if (packet->apart) /* the rest of one that has been */
        return true;
    packet->whole = info->pNext || info->flags;
    for (uint32_t i = 0; i < info->commandBufferInfoCount && !packet->whole; i++)
        packet->whole =
            info->pCommandBufferInfos[i].pNext || info->pCommandBufferInfos[i].deviceMask;
    return !packet->whole;
}

static void packet_trace_divided(struct bf_trace *trace, struct bf_packet *part,
                                 struct bf_packet *rest)
{
    char labels[256];
    const struct bf_trace_contents first = {
        .count = 1,
        .infos = part->submit.pCommandBufferInfos,
        .label = trace ? bf_label_write_path(part->labels, labels, sizeof(labels)) : NULL,
    };
    struct bf_trace_contents left = first;
    left.count = rest->submit.commandBufferInfoCount - (rest->write != NULL);
    left.infos = rest->submit.pCommandBufferInfos;
    bf_trace_packet_divided(trace, &part->trace, &first, &rest->trace, &left);
}

/* Is somebody to go between them? */
static bool packet_gives_way(struct bf_queue *queue, struct bf_packet *packet)
{
    const uint8_t level = bf_window_packet_level(queue, packet);
    bool holds = level < bf_window_top(queue->engine);
    if (!holds && packet_is_preemptible(queue, packet)) {
        struct bf_lock *lock = &queue->scheduler->pending.lock;
        bf_lock_acquire(lock);
        holds = requests_hold(&queue->engine->preempt, queue, level, UINT64_MAX);
        bf_lock_release(lock);
    }
    return holds;
}

struct bf_packet *bf_preempt_divide(struct bf_engine *engine, struct bf_queue *queue,
                                    struct bf_packet *packet)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    if (!packet_may_be_divided(packet) || !atomic_load(&scheduler->splits) ||
        !bf_deferral_may(scheduler) || !packet_gives_way(queue, packet))
        return packet;
    struct bf_packet *part = bf_packet_take_part(queue, packet);
    if (!part)
        return packet;
    engine->preempt.divided++;
    packet_trace_divided(scheduler->gpu.trace, part, packet);
    return part;
}

void bf_preempt_keep_whole(struct bf_scheduler *scheduler)
{
    atomic_store(&scheduler->splits, false);
}

void bf_preempters_stop(struct bf_scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_preempter *preempter = atomic_load(&scheduler->engines[i].preempt.thread);
        if (!preempter || atomic_exchange(&preempter->stop, true))
            continue;
        atomic_fetch_add(&preempter->turn, 1);
        bf_futex_wake(&preempter->turn, 1);
        bf_scheduler_join(scheduler, &preempter->thread);
    }
}

void bf_preempt_free(struct bf_engine *engine)
{
    struct bf_preempt *preempt = &engine->preempt;
    free(atomic_load(&preempt->thread));
    for (struct bf_preemption *r = preempt->first, *next; r; r = next) {
        next = r->next;
        free(r);
    }
}
