/* SPDX-License-Identifier: MIT */
/* Pending signals: accepted, retired when their frontiers are complete, withdrawn. */
#include "scheduler/pending.h"

#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "scheduler/command_queue.h"
#include "scheduler/peer_wait.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

/* The number of pending updates at which accepting one more retires (E-7). */
#define RETIRE_AT 64

VkResult bf_pending_init(struct bf_pending *pending, struct bf_scheduler *scheduler)
{
    pending->scheduler = scheduler;
    pending->engine_count = scheduler->engine_count;
    pending->retire_at = RETIRE_AT;
    pending->engines =
        calloc(scheduler->engine_count ? scheduler->engine_count : 1, sizeof(*pending->engines));
    return pending->engines ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

void bf_pending_stop(struct bf_pending *pending)
{
    for (uint32_t i = 0; pending->engines && i < pending->engine_count; i++) {
        bf_sleeper_destroy(pending->engines[i].sleeper);
        pending->engines[i].sleeper = NULL;
    }
}

void bf_pending_finish(struct bf_pending *pending)
{
    while (pending->spares) {
        struct bf_update *next = pending->spares->next;
        free(pending->spares);
        pending->spares = next;
    }
    bf_peer_waits_drop(pending);
    while (pending->fences) {
        struct bf_fence *fence = pending->fences;
        struct bf_effects effects = {0};
        bf_handle_remove(fence);
        fence->destroyed = true;
        bf_fence_satisfy_all(fence, &effects);
        bf_effects_run_but_pump(pending->scheduler, &effects);
        fence->references = 1;
        bf_fence_release(fence);
    }
    free(pending->engines);
    pending->engines = NULL;
}

void bf_effects_run_but_pump(struct bf_scheduler *scheduler, struct bf_effects *effects)
{
    while (effects->sleepers) {
        uint32_t engine = (uint32_t)__builtin_ctzll(effects->sleepers);
        effects->sleepers &= effects->sleepers - 1;
        bf_sleeper_kick(scheduler->pending.engines[engine].sleeper);
    }
    while (effects->fired) {
        struct bf_group *group = effects->fired;
        effects->fired = group->next_fired;
        scheduler->fence_extension->fire(group);
    }
}

void bf_effects_run(struct bf_scheduler *scheduler, struct bf_effects *effects)
{
    bf_effects_run_but_pump(scheduler, effects);
    if (atomic_load_explicit(&scheduler->pending.to_sweep, memory_order_relaxed))
        scheduler->peer_extension->sweep(scheduler);
    while (effects->exported) {
        struct bf_fence *fence = effects->exported;
        effects->exported = fence->next_exported;
        scheduler->fence_extension->signal_exported(fence);
    }
    if (!effects->engines)
        return;
    bf_engines_pump(scheduler, effects->engines);
    effects->engines = 0;
    /* Signals behind waits only, which the pump has passed, apply now, on this thread. */
    struct bf_pending *pending = &scheduler->pending;
    if (atomic_load(&pending->count)) {
        bf_lock_acquire(&pending->lock);
        bf_pending_retire_known(pending, effects);
        bf_lock_release(&pending->lock);
        bf_effects_run(scheduler, effects);
    }
}

/* The first engine on which the frontier isn't known to be complete, or engine_count. */
static uint32_t frontier_missing_engine(const struct bf_pending *pending, const uint64_t *frontier)
{
    uint32_t i = 0;
    while (i < pending->engine_count && frontier[i] <= pending->engines[i].completed)
        i++;
    return i;
}

static void pending_note_reached(struct bf_pending *pending, uint32_t engine, uint64_t epoch)
{
    struct bf_pending_engine *e = &pending->engines[engine];
    if (e->seen < epoch)
        e->seen = epoch;
    epoch = bf_peer_waits_limit(e, e->seen); /* SH-20 */
    if (e->completed < epoch)
        e->completed = epoch;
}

/* E-4: one engine's counter is not enough. */
static bool pending_has_unseen_causes(const struct bf_pending *pending)
{
    return pending->engine_count > 1 &&
           (atomic_load(&pending->observes_unseen_causes) || atomic_load(&pending->crossed) ||
            (atomic_load(&pending->shares) && atomic_load(&pending->count)));
}

void bf_pending_see(struct bf_pending *pending, uint32_t engine, uint64_t epoch)
{
    bf_lock_acquire(&pending->lock);
    if (!pending_has_unseen_causes(pending))
        pending_note_reached(pending, engine, epoch);
    bf_lock_release(&pending->lock);
}

bool bf_pending_is_complete(const struct bf_pending *pending, const uint64_t *frontier)
{
    return frontier_missing_engine(pending, frontier) == pending->engine_count;
}

/* The engines with submissions that are not known to be complete. */
static uint64_t pending_outstanding(const struct bf_pending *pending)
{
    const struct bf_engine *engines = pending->scheduler->engines;
    uint64_t outstanding = 0;
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        if (atomic_load(&engines[i].base.issued_epoch) >
            atomic_load(&pending->engines[i].completed))
            outstanding |= bf_engine_bit(&engines[i]);
    }
    return outstanding;
}

/* Reads their counters. */
static VkResult pending_read_counters(struct bf_pending *pending, uint64_t engines, uint64_t *seen)
{
    struct bf_scheduler *scheduler = pending->scheduler;
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        seen[i] = atomic_load(&pending->engines[i].completed);
        if (!(engines & bf_engine_bit(engine)))
            continue;
        VkResult result = bf_gpu_engine_completed_epoch(&engine->base, &seen[i]);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

/* Nothing has been read yet: of the engines that there are. (There can be 64, and clearing as many
 * would be the better part of many calls.) */
static void counters_clear(const struct bf_pending *pending, uint64_t *seen)
{
    memset(seen, 0, pending->engine_count * sizeof(*seen));
}

/* Of a single engine one reading is enough, if the others still have nothing outstanding behind
 * it. */
static VkResult pending_read_counters_at_one_instant(struct bf_pending *pending, uint64_t *seen)
{
    uint64_t again[BF_MAX_ENGINES], engines = pending_outstanding(pending);
    VkResult result = pending_read_counters(pending, engines, seen);
    bool same = !pending_has_unseen_causes(pending) ||
                ((engines & (engines - 1)) == 0 && (pending_outstanding(pending) & ~engines) == 0);
    while (result == VK_SUCCESS && !same) {
        memcpy(again, seen, pending->engine_count * sizeof(*seen));
        result = pending_read_counters(pending, pending_outstanding(pending), seen);
        same = memcmp(again, seen, pending->engine_count * sizeof(*seen)) == 0;
    }
    return result;
}

VkResult bf_pending_retire(struct bf_pending *pending, struct bf_effects *effects)
{
    if (!atomic_load(&pending->count) && !atomic_load(&pending->peer_waits))
        return VK_SUCCESS;
    uint64_t seen[BF_MAX_ENGINES];
    counters_clear(pending, seen);
    VkResult result = pending_read_counters_at_one_instant(pending, seen);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&pending->lock);
    do {
        for (uint32_t i = 0; i < pending->engine_count; i++)
            pending_note_reached(pending, i, seen[i]);
        bf_pending_retire_known(pending, effects);
        /* A peer wait may have been waiting for one of these updates. */
    } while (bf_peer_waits_remove_over(pending));
    bf_lock_release(&pending->lock);
    return VK_SUCCESS;
}

/* Which updates are chosen, and what is found out of them. */
struct choice {
    bf_update_choice choose;
    const void *context;
    const uint64_t *seen; /* how far the engines are; NULL: not read yet */
    uint64_t engines;     /* whose counters tell more, as a mask */
    bool complete;        /* one of them is */
};

/* Notes that those of the queue which are complete are so, and nothing behind them. The lock is
 * held. */
static void queue_choose(struct bf_pending *pending, const struct bf_command_queue *queue,
                         struct choice *choice)
{
    for (const struct bf_update *u = queue->first_update; u; u = u->next) {
        uint64_t missing = 0;
        if (!choice->choose(u, choice->context))
            continue;
        for (uint32_t i = 0; i < pending->engine_count; i++) {
            if (u->frontier[i] > pending->engines[i].completed &&
                !(choice->seen && u->frontier[i] <= choice->seen[i]))
                missing |= UINT64_C(1) << i;
        }
        choice->engines |= missing;
        if (missing)
            continue;
        choice->complete = true;
        for (uint32_t i = 0; i < pending->engine_count; i++)
            pending_note_reached(pending, i, u->frontier[i]);
    }
}

static void pending_choose(struct bf_pending *pending, struct bf_command_queue *queue,
                           struct choice *choice)
{
    choice->engines = 0;
    choice->complete = false;
    if (queue)
        queue_choose(pending, queue, choice);
    for (struct bf_command_queue *q = pending->active; q && !queue; q = q->next_active)
        queue_choose(pending, q, choice);
}

VkResult bf_pending_retire_chosen(struct bf_pending *pending, struct bf_command_queue *queue,
                                  bf_update_choice choose, const void *context,
                                  struct bf_effects *effects)
{
    struct choice choice = {.choose = choose, .context = context};
    uint64_t seen[BF_MAX_ENGINES];
    counters_clear(pending, seen);
    bf_lock_acquire(&pending->lock);
    pending_choose(pending, queue, &choice);
    bf_lock_release(&pending->lock);
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        VkResult result = VK_SUCCESS;
        if (choice.engines & UINT64_C(1) << i)
            result = bf_gpu_engine_completed_epoch(&pending->scheduler->engines[i].base, &seen[i]);
        if (result != VK_SUCCESS)
            return result;
    }
    choice.seen = seen;
    bf_lock_acquire(&pending->lock);
    if (pending_has_unseen_causes(pending)) {
        bf_lock_release(&pending->lock);
        return bf_pending_retire(pending, effects);
    }
    do {
        pending_choose(pending, queue, &choice);
        if (choice.complete)
            bf_pending_retire_known(pending, effects);
    } while (choice.complete && bf_peer_waits_remove_over(pending));
    bf_lock_release(&pending->lock);
    return VK_SUCCESS;
}

VkResult bf_pending_is_idle(struct bf_pending *pending, struct bf_command_queue *queue, bool *idle)
{
    struct bf_scheduler *scheduler = pending->scheduler;
    for (;;) {
        uint32_t engine = frontier_missing_engine(pending, queue->frontier);
        *idle = engine == pending->engine_count;
        if (*idle)
            return VK_SUCCESS;
        uint64_t wanted = queue->frontier[engine], seen[BF_MAX_ENGINES];
        counters_clear(pending, seen);
        bf_lock_release(&pending->lock);
        VkResult result =
            pending_has_unseen_causes(pending)
                ? pending_read_counters_at_one_instant(pending, seen)
                : bf_gpu_engine_completed_epoch(&scheduler->engines[engine].base, &seen[engine]);
        bf_lock_acquire(&pending->lock);
        for (uint32_t i = 0; i < pending->engine_count && result == VK_SUCCESS; i++)
            pending_note_reached(pending, i, seen[i]);
        if (result == VK_SUCCESS && bf_peer_waits_remove_over(pending))
            continue;
        if (result != VK_SUCCESS || pending->engines[engine].completed < wanted)
            return result;
    }
}

struct bf_update *bf_pending_take_update(struct bf_pending *pending, struct bf_fence *fence,
                                         uint64_t value)
{
    struct bf_update *update = pending->spares;
    if (update)
        pending->spares = update->next;
    else
        update = malloc(sizeof(*update) + pending->engine_count * sizeof(update->frontier[0]));
    if (!update)
        return NULL;
    update->fence = fence;
    update->value = value;
    update->need.inserted = false;
    update->named = false;
    update->peer_timeline = 0;
    bf_fence_reference(fence);
    return update;
}

void bf_pending_drop_update(struct bf_pending *pending, struct bf_update *update)
{
    struct bf_fence *fence = update->fence;
    if (update->peer_timeline)
        update->fence->scheduler->peer_extension->put(update);
    update->next = pending->spares;
    pending->spares = update;
    bf_fence_release(fence);
}

/* Lets a sleeper wait for the update, on an engine of its frontier that isn't complete: on its own
 * queue's if possible, since that is usually the last to complete. */
static void update_add_need(struct bf_pending *pending, struct bf_update *update,
                            struct bf_effects *effects)
{
    uint32_t engine = update->queue->base.engine->base.number;
    for (uint32_t i = 0; i < pending->engine_count &&
                         update->frontier[engine] <= pending->engines[engine].completed;
         i++) {
        if (update->frontier[i] > pending->engines[i].completed)
            engine = i;
    }
    update->need_engine = engine;
    update->need.key = update->frontier[engine];
    struct bf_pending_engine *e = &pending->engines[engine];
    bf_heap_insert(&e->needs, &update->need);
    if (e->needs.root == &update->need)
        effects->sleepers |= UINT64_C(1) << engine;
}

bool bf_pending_is_watched(const struct bf_update *update)
{
    const struct bf_fence *fence = update->fence;
    return update->value > fence->monitored ||
           (fence->extended && fence->scheduler->fence_extension->watches(fence, update->value));
}

struct bf_update *bf_pending_least_need(const struct bf_pending_engine *engine)
{
    struct bf_heap_node *need = engine->needs.root;
    return need ? (struct bf_update *)((char *)need - offsetof(struct bf_update, need)) : NULL;
}

void bf_pending_monitor(struct bf_pending *pending, struct bf_fence *fence,
                        struct bf_effects *effects)
{
    for (struct bf_update *u = fence->first_update; u; u = u->next_of_fence) {
        if (!u->need.inserted && bf_pending_is_watched(u))
            update_add_need(pending, u, effects);
    }
}

static void queue_list_active(struct bf_pending *pending, struct bf_command_queue *queue)
{
    queue->next_active = pending->active;
    queue->previous_active = NULL;
    if (pending->active)
        pending->active->previous_active = queue;
    pending->active = queue;
}

static void queue_unlist_active(struct bf_pending *pending, struct bf_command_queue *queue)
{
    if (queue->previous_active)
        queue->previous_active->next_active = queue->next_active;
    else
        pending->active = queue->next_active;
    if (queue->next_active)
        queue->next_active->previous_active = queue->previous_active;
}

/* The update has a new predecessor on its fence, or none any more. */
static void update_compare_with_previous(struct bf_update *update)
{
    struct bf_fence *fence = update->fence;
    fence->descents -= update->descends;
    update->descends =
        update->previous_of_fence && update->value < update->previous_of_fence->value;
    fence->descents += update->descends;
}

/* Makes the update pending, behind the queue's frontier and the epoch. */
static void update_append(struct bf_pending *pending, struct bf_command_queue *queue,
                          struct bf_update *update, uint64_t epoch, struct bf_effects *effects)
{
    struct bf_fence *fence = update->fence;
    uint32_t own = queue->base.engine->base.number;
    if (fence->extended)
        fence->scheduler->fence_extension->update_begins(fence, queue, effects);
    update->queue = queue;
    update->number = pending->next_number++;
    memcpy(update->frontier, queue->frontier, pending->engine_count * sizeof(update->frontier[0]));
    if (update->frontier[own] < epoch)
        update->frontier[own] = epoch;

    update->next = NULL;
    if (queue->last_update) {
        queue->last_update->next = update;
    } else {
        queue->first_update = update;
        queue_list_active(pending, queue);
    }
    queue->last_update = update;

    update->next_of_fence = NULL;
    update->previous_of_fence = fence->last_update;
    if (fence->last_update && fence->last_update->queue != queue && !fence->crossed) {
        fence->crossed = true;
        atomic_fetch_add(&pending->crossed, 1);
    }
    if (fence->last_update)
        fence->last_update->next_of_fence = update;
    else
        fence->first_update = update;
    fence->last_update = update;
    update->descends = false;
    update_compare_with_previous(update);

    atomic_fetch_add(&fence->pending, 1);
    atomic_fetch_add(&pending->count, 1);
    if (bf_pending_is_watched(update))
        update_add_need(pending, update, effects);
}

/* Removes the update from its fence's list and from the sleeper's heap. */
static void update_unlist(struct bf_pending *pending, struct bf_update *update)
{
    struct bf_fence *fence = update->fence;
    if (update->previous_of_fence)
        update->previous_of_fence->next_of_fence = update->next_of_fence;
    else
        fence->first_update = update->next_of_fence;
    if (update->next_of_fence)
        update->next_of_fence->previous_of_fence = update->previous_of_fence;
    else
        fence->last_update = update->previous_of_fence;
    if (fence->crossed && !fence->first_update) {
        fence->crossed = false;
        atomic_fetch_sub(&pending->crossed, 1);
    }
    fence->descents -= update->descends;
    update->descends = false;
    if (update->next_of_fence)
        update_compare_with_previous(update->next_of_fence);
    if (update->need.inserted)
        bf_heap_remove(&pending->engines[update->need_engine].needs, &update->need);
}

void bf_pending_accept(struct bf_pending *pending, struct bf_command_queue *queue,
                       struct bf_update *update, struct bf_effects *effects)
{
    update->packet = NULL;
    update_append(pending, queue, update, 0, effects);
    bf_fence_unblock_queues(update->fence, update->value, effects);
}

void bf_pending_announce(struct bf_pending *pending, struct bf_command_queue *queue,
                         struct bf_packet *packet, uint64_t epoch, struct bf_effects *effects)
{
    packet->announced = true;
    packet->update->packet = packet;
    update_append(pending, queue, packet->update, epoch, effects);
}

void bf_pending_confirm(struct bf_pending *pending, struct bf_packet *packet,
                        struct bf_effects *effects)
{
    struct bf_update *update = packet->update;
    (void)pending;
    if (!update)
        return;
    update->packet = NULL;
    if (update->peer_timeline)
        update->fence->scheduler->peer_extension->publish(update);
    bf_fence_unblock_queues(update->fence, update->value, effects);
}

void bf_pending_withdraw(struct bf_pending *pending, struct bf_packet *packet)
{
    struct bf_update *update = packet->update;
    packet->announced = false;
    if (!update)
        return;
    struct bf_command_queue *queue = update->queue;
    struct bf_update *before = NULL;
    for (struct bf_update *u = queue->first_update; u != update; u = u->next)
        before = u;
    if (before)
        before->next = update->next;
    else
        queue->first_update = update->next;
    if (queue->last_update == update)
        queue->last_update = before;
    if (!queue->first_update)
        queue_unlist_active(pending, queue);
    update_unlist(pending, update);
    atomic_fetch_sub(&update->fence->pending, 1);
    atomic_fetch_sub(&pending->count, 1);
    update->packet = NULL;
}

bool bf_pending_is_crowded(struct bf_pending *pending)
{
    return atomic_load_explicit(&pending->count, memory_order_relaxed) >=
           atomic_load_explicit(&pending->retire_at, memory_order_relaxed);
}

/* Applies the first update of the queue, which is complete and precedes all others that are. */
static void queue_retire_first_update(struct bf_pending *pending, struct bf_command_queue *queue,
                                      struct bf_effects *effects)
{
    struct bf_update *update = queue->first_update;
    struct bf_fence *fence = update->fence;
    queue->first_update = update->next;
    if (!queue->first_update) {
        queue->last_update = NULL;
        queue_unlist_active(pending, queue);
    }
    update_unlist(pending, update);
    if (update->packet)
        update->packet->update = NULL; /* E-5: its driver call has not returned yet */

    if (update->peer_timeline)
        update->fence->scheduler->peer_extension->begin(update);
    bf_fence_apply_update(fence, queue, update->value, effects);
    if (update->peer_timeline)
        update->fence->scheduler->peer_extension->apply(update);
    atomic_fetch_sub(&fence->pending,
                     1); /* after the value, so that a reader sees one of the two */
    atomic_fetch_sub(&pending->count, 1);
    bf_pending_drop_update(pending, update);
    if (!queue->first_update)
        bf_command_queue_reap(queue);
}

/* Updates whose epoch on one engine is reached, and that are not complete on another: their need
 * moves to that engine. */
static void pending_move_needs(struct bf_pending *pending, struct bf_effects *effects)
{
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        struct bf_pending_engine *e = &pending->engines[i];
        struct bf_update *update;
        while ((update = bf_pending_least_need(e)) && update->need.key <= e->completed) {
            bf_heap_remove(&e->needs, &update->need);
            if (bf_pending_is_watched(update))
                update_add_need(pending, update, effects);
        }
    }
}

void bf_pending_retire_known(struct bf_pending *pending, struct bf_effects *effects)
{
    for (;;) {
        struct bf_command_queue *first = NULL;
        for (struct bf_command_queue *q = pending->active; q; q = q->next_active) {
            /* A queue's frontiers grow: if that of its first update isn't complete, none is. */
            if ((!first || q->first_update->number < first->first_update->number) &&
                bf_pending_is_complete(pending, q->first_update->frontier))
                first = q;
        }
        if (!first)
            break;
        queue_retire_first_update(pending, first, effects);
    }
    pending_move_needs(pending, effects);
    uint32_t left = atomic_load_explicit(&pending->count, memory_order_relaxed);
    atomic_store_explicit(&pending->retire_at, left > RETIRE_AT / 2 ? 2 * left : RETIRE_AT,
                          memory_order_relaxed);
}

void bf_pending_lose(struct bf_pending *pending)
{
    struct bf_effects effects = {0};
    bf_lock_acquire(&pending->lock);
    for (struct bf_fence *fence = pending->fences; fence; fence = fence->next)
        if (fence->extended)
            fence->scheduler->fence_extension->losing(fence);
    pending->lost = true;
    bf_peer_waits_drop(pending);
    for (uint32_t i = 0; i < pending->engine_count; i++)
        bf_gpu_writes_lose(&pending->scheduler->engines[i].base);
    struct bf_fence *next;
    for (struct bf_fence *fence = pending->fences; fence; fence = next) {
        bf_fence_reference(fence);
        bf_fence_lose(fence, &effects);
        next = fence->next;
        bf_fence_release(fence);
    }
    /* From now on no update changes a value any more. */
    for (uint32_t i = 0; i < pending->engine_count; i++)
        pending->engines[i].completed = UINT64_MAX;
    bf_pending_retire_known(pending, &effects);
    bf_lock_release(&pending->lock);
    bf_effects_run_but_pump(pending->scheduler, &effects);
}
