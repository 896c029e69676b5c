/* SPDX-License-Identifier: MIT */
/* Priority windows: what lower queues have in flight, whether one more packet may go, and in whose
 * turn. (The threads that open them again: waker.c.) */
#include "scheduler/window.h"

#include <string.h>

#include "base/clock.h"
#include "scheduler/acceptance.h"
#include "scheduler/command_queue.h"
#include "scheduler/deferral.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/packet_time.h"
#include "scheduler/scheduler.h"
#include "scheduler/waker.h"
#include "trace/stamps.h"

/* What a lower queue takes of one batch before the next one has its turn: so many packets of a
 * few microseconds go in one driver call, and are joined (C-5). */
#define RUN_NS UINT64_C(100000)

/* By how much less than others of its level a queue may have been served and still catch up. */
#define CREDIT_NS BF_WINDOW_NS

uint8_t bf_level_of_priority(uint32_t priority)
{
    return priority >= BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME ? BF_LEVEL_REALTIME
           : priority > BF_COMMAND_QUEUE_PRIORITY_NORMAL         ? BF_LEVEL_HIGH
                                                                 : BF_LEVEL_NORMAL;
}

/* ------------------------------------------------------------------------------------ Levels -- */

static void window_count(struct bf_engine *engine, uint8_t level, bool joins)
{
    struct bf_window *window = &engine->window;
    uint8_t top = BF_LEVEL_NONE;
    uint32_t levels = 0;
    window->queues[level] += joins ? 1 : -1;
    for (uint8_t i = 0; i < BF_LEVELS; i++) {
        if (window->queues[i]) {
            levels++;
            top = i;
        }
    }
    if (levels < 2 || !engine->scheduler->preemption)
        top = BF_LEVEL_NONE;
    uint8_t before = atomic_exchange(&window->top, top);
    if (before != top) /* what is held may be let go, and isn't forgotten when there are no more */
        atomic_store(&engine->dirty, 1);
    if (top)
        atomic_store(&engine->scheduler->had_windows, true);
    else
        atomic_store(&window->submitted, 0);
    if ((before == BF_LEVEL_NONE) != (top == BF_LEVEL_NONE))
        atomic_fetch_add(&engine->scheduler->windows, top ? 1 : -1);
    if (top && !engine->scheduler->gpu.trace) /* where it can't, gaps tell what packets cost */
        (void)bf_packet_time_begin(engine);
}

void bf_window_join(struct bf_engine *engine, uint8_t level)
{
    window_count(engine, level, true);
}

void bf_window_leave(struct bf_engine *engine, struct bf_queue *queue)
{
    struct bf_window *window = &engine->window;
    for (uint32_t i = 0; i < window->count; i++) {
        struct bf_window_entry *entry = &window->entries[(window->first + i) % BF_WINDOW_ENTRIES];
        if (entry->queue == queue)
            entry->queue = NULL;
    }
    bf_stamps_forget(engine->base.stamps, queue);
    queue->served_ns = 0; /* another engine counts otherwise */
    if (window->overdue == queue)
        window->overdue = NULL;
    window_count(engine, atomic_load(&queue->level), false);
}

void bf_window_change(struct bf_engine *engine, struct bf_queue *queue, uint8_t level)
{
    window_count(engine, level, true);
    window_count(engine, atomic_exchange(&queue->level, level), false);
    queue->served_ns = engine->window.served_ns[level];
    atomic_store(&engine->dirty, 1);
}

/* --------------------------------------------------------------------------------- In flight -- */

/* A level above is active: it may want the VkQueue at any moment. */
static uint64_t window_limit(const struct bf_window *window, uint8_t level)
{
    for (uint8_t i = level + 1; i < BF_LEVELS; i++) {
        if (window->active_ns[i] && window->now_ns - window->active_ns[i] < BF_WINDOW_RECENT_NS)
            return BF_WINDOW_ACTIVE_NS;
    }
    return BF_WINDOW_NS;
}

static void window_count_entry(struct bf_window *window, const struct bf_window_entry *entry,
                               bool comes)
{
    uint32_t packets = comes ? entry->packets : -entry->packets;
    window->packets += packets;
    if (entry->cost_ns == BF_COST_UNKNOWN)
        window->unknown += packets;
    else
        window->sum_ns += comes ? entry->cost_ns : -entry->cost_ns;
}

/* 'entries' of the first ones have been seen complete, and nothing else since the epoch before them
 * was: learns what they cost, where they are of one queue. With nothing behind them, the VkQueue
 * may have been idle before it was looked at. */
static void window_learn(struct bf_window *window, uint32_t entries)
{
    const struct bf_window_entry *first = &window->entries[window->first];
    uint64_t begun = first->begun_ns > window->seen_ns ? first->begun_ns : window->seen_ns;
    uint32_t packets = 0;
    for (uint32_t i = 0; i < entries; i++) {
        const struct bf_window_entry *entry =
            &window->entries[(window->first + i) % BF_WINDOW_ENTRIES];
        if (!entry->queue || entry->queue != first->queue ||
            entry->epoch != window->seen_epoch + 1 + i)
            return;
        packets += entry->packets;
    }
    if (packets && window->now_ns > begun)
        bf_cost_add(&first->queue->cost, (window->now_ns - begun) / packets,
                    window->count > entries);
}

/* Takes what is complete out of the account. */
static void window_see(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    uint64_t completed;
    if (window->count == 0 ||
        bf_gpu_engine_completed_epoch(&engine->base, &completed) != VK_SUCCESS ||
        completed == window->seen_epoch)
        return;
    bf_stamps_collect(engine->base.stamps, completed);
    uint32_t entries = 0;
    while (entries < window->count &&
           window->entries[(window->first + entries) % BF_WINDOW_ENTRIES].epoch <= completed)
        entries++;
    if (entries && completed - window->seen_epoch == entries &&
        !atomic_load_explicit(&engine->scheduler->costs_frozen, memory_order_relaxed))
        window_learn(window, entries);
    for (; entries > 0; entries--) {
        window_count_entry(window, &window->entries[window->first], false);
        window->first = (window->first + 1) % BF_WINDOW_ENTRIES;
        window->count--;
    }
    window->seen_epoch = completed;
    window->seen_ns = window->now_ns;
}

void bf_window_accepted(struct bf_engine *engine, struct bf_queue *queue,
                        const struct bf_packet *packet)
{
    struct bf_window *window = &engine->window;
    if (!atomic_load_explicit(&window->top, memory_order_relaxed))
        return;
    if (!packet->windowed) {
        bf_window_note(engine, atomic_load(&queue->level));
        return;
    }
    struct bf_window_entry entry = {.queue = queue,
                                    .epoch = packet->epoch,
                                    .begun_ns = window->now_ns,
                                    .cost_ns = packet->cost_ns,
                                    .packets = 1};
    struct bf_window_entry *last =
        &window->entries[(window->first + window->count - 1) % BF_WINDOW_ENTRIES];
    /* Levels between the lowest and the highest are active, too. */
    uint8_t level = atomic_load(&queue->level);
    window->active_ns[level] = window->now_ns;
    if (window->served_ns[level] < queue->served_ns)
        window->served_ns[level] = queue->served_ns;
    queue->served_ns += bf_cost_mean(&queue->cost, RUN_NS);
    /* Joined; or overdue ones have come behind work that doesn't end, and both count as one. */
    if (window->count && (last->epoch == entry.epoch || window->count == BF_WINDOW_ENTRIES)) {
        window_count_entry(window, last, false);
        entry.packets += last->packets;
        entry.begun_ns = last->begun_ns;
        entry.queue = last->queue == queue ? queue : NULL;
        entry.cost_ns = last->cost_ns == BF_COST_UNKNOWN || entry.cost_ns == BF_COST_UNKNOWN
                            ? BF_COST_UNKNOWN
                            : last->cost_ns + entry.cost_ns;
        *last = entry;
    } else {
        window->entries[(window->first + window->count++) % BF_WINDOW_ENTRIES] = entry;
    }
    window_count_entry(window, &entry, true);
}

void bf_window_note(struct bf_engine *engine, uint8_t level)
{
    engine->window.active_ns[level] = bf_now_ns();
}

/* ------------------------------------------------------------------------------- Who may go -- */

/* Has it a packet that could go but for windows? */
static bool queue_is_ready(struct bf_queue *queue)
{
    return bf_queue_has_backlog(queue) && !atomic_load(&queue->blocked) &&
           !bf_queue_is_stopped(queue);
}

/* PW-6: of the queues that are held too long, the one that has been so for longest. */
static struct bf_queue *window_find_overdue(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    struct bf_queue *overdue = NULL;
    if (window->now_ns - window->overdue_ns < BF_WINDOW_OVERDUE_NS)
        return NULL;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (queue->held_ns && queue_is_ready(queue) && !atomic_load(&queue->preempted) &&
            window->now_ns - queue->held_ns >= BF_WINDOW_OVERDUE_NS &&
            (!overdue || queue->held_ns < overdue->held_ns))
            overdue = queue;
    }
    return overdue;
}

static void window_note_submitted(struct bf_window *window)
{
    if (!atomic_load(&window->submitted))
        return;
    const uint8_t submitted = atomic_exchange(&window->submitted, 0);
    for (uint8_t i = 0; i < BF_LEVELS; i++) {
        if (submitted & 1u << i)
            window->active_ns[i] = window->now_ns;
    }
}

void bf_window_look(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    window->full = window->held = false;
    window->batch_packets = window->batch_unknown = 0;
    window->batch_sum_ns = window->run_ns = 0;
    window->overdue = NULL;
    if (!atomic_load_explicit(&window->top, memory_order_relaxed)) {
        window->first = window->count = window->packets = window->unknown = 0;
        window->sum_ns = 0;
        window->passed_over = false;
        return;
    }
    window->gathers++;
    window->now_ns = bf_now_ns();
    window_note_submitted(window);
    window_see(engine);
    window->overdue = window_find_overdue(engine);
}

uint8_t bf_window_packet_level(const struct bf_queue *queue, const struct bf_packet *packet)
{
    uint8_t level = atomic_load(&packet->level), own = atomic_load(&queue->level);
    if (atomic_load(&packet->passes_outside))
        return BF_LEVEL_PASSES;
    return level > own ? level : own;
}

/* The level at which the queue is gathered. */
static uint8_t queue_level(struct bf_queue *queue)
{
    bf_lock_acquire(&queue->lock);
    uint8_t level =
        queue->head ? bf_window_packet_level(queue, queue->head) : atomic_load(&queue->level);
    bf_lock_release(&queue->lock);
    return level;
}

struct bf_queue *bf_window_first(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    struct bf_queue *first = window->passed_over ? window->overdue : NULL;
    if (first)
        first->gathered = window->gathers;
    return first;
}

void bf_window_gathered(struct bf_engine *engine, bool full)
{
    struct bf_window *window = &engine->window;
    window->passed_over = full;
    for (uint32_t i = 0; full && i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (queue->gathered != window->gathers && !queue->held_ns && queue_is_ready(queue) &&
            queue_level(queue) < atomic_load(&window->top))
            queue->held_ns = window->now_ns;
    }
}

bool bf_window_is_highest(struct bf_engine *engine, struct bf_queue *queue)
{
    if (queue->gathered == engine->window.gathers || queue_level(queue) < bf_window_top(engine))
        return false;
    queue->gathered = engine->window.gathers;
    return true;
}

/* By how much the queue, which has a packet, has had more of the GPU than its level: what its level
 * had when it came to have packets, and what it has had since. */
static int64_t window_lead(const struct bf_window *window, struct bf_queue *queue)
{
    uint64_t served_ns = window->served_ns[atomic_load(&queue->level)];
    uint64_t credit = !queue->contends ? 0 : served_ns < CREDIT_NS ? served_ns : CREDIT_NS;
    if (queue->served_ns < served_ns - credit)
        queue->served_ns = served_ns - credit;
    queue->contends = true;
    return (int64_t)(queue->served_ns - served_ns);
}

struct bf_queue *bf_window_next(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    struct bf_queue *next = NULL;
    uint8_t next_level = BF_LEVEL_NONE;
    int64_t next_lead = 0;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (queue->gathered == window->gathers)
            continue;
        if (!bf_queue_has_backlog(queue) || atomic_load(&queue->blocked)) {
            queue->contends = false;
            continue;
        }
        uint8_t level = queue_level(queue);
        int64_t lead = window_lead(window, queue);
        if (!next || level > next_level || (level == next_level && lead < next_lead)) {
            next = queue;
            next_level = level;
            next_lead = lead;
        }
    }
    if (next)
        next->gathered = window->gathers;
    return next;
}

/* Is the packet a lower queue's that windows are for? (Of an attached device's VkQueues none: its
 * semaphores aren't all known, and the driver itself is asked whether it is idle.) */
static bool window_limits(struct bf_engine *engine, const struct bf_queue *queue,
                          const struct bf_packet *packet)
{
    return packet->kind == BF_PACKET_EXECUTE && engine->base.epoch &&
           (queue->is_command_queue || !engine->scheduler->gpu.attached) &&
           bf_window_packet_level(queue, packet) < bf_window_top(engine) &&
           bf_deferral_may(engine->scheduler);
}

static bool window_has_room(const struct bf_window *window, uint64_t cost, uint64_t limit)
{
    uint32_t packets = window->packets + window->batch_packets;
    if (packets == 0)
        return true;
    if (cost == BF_COST_UNKNOWN || window->unknown || window->batch_unknown ||
        window->count + window->batch_packets >= BF_WINDOW_ENTRIES)
        return false;
    return packets == 1 || window->sum_ns + window->batch_sum_ns + cost <= limit;
}

/* Has the other engine's epoch been reached? If not, and there is a thread for it, this engine is
 * pumped when it has. */
static bool window_epoch_is_over(struct bf_engine *engine, struct bf_engine *other, uint64_t epoch)
{
    if (other == engine || bf_gpu_engine_is_over(&other->base, epoch) || !bf_waker_ensure(other))
        return true;
    return !bf_waker_want(other, epoch, engine, UINT64_MAX);
}

/* PW-4, of a VkQueue's packet, which is grounded: the binary signals that it waits for. */
static bool window_binary_waits_are_over(struct bf_engine *engine, const struct bf_packet *packet)
{
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        const struct bf_semaphore *sem = packet->waits[i].sem;
        uint64_t at = sem && !sem->timeline ? atomic_load(&sem->signalled_at) : 0;
        if (at && !window_epoch_is_over(engine, &engine->scheduler->engines[at % BF_MAX_ENGINES],
                                        at / BF_MAX_ENGINES))
            return false;
    }
    return true;
}

/* PW-4, of a command queue: what it has waited for on other engines. */
static bool window_waits_are_over(struct bf_engine *engine, struct bf_queue *queue,
                                  const struct bf_packet *packet)
{
    struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_command_queue *commands = bf_command_queue_of(queue);
    uint64_t frontier[BF_MAX_ENGINES];
    if (!commands)
        return window_binary_waits_are_over(engine, packet);
    bf_lock_acquire(&scheduler->pending.lock);
    memcpy(frontier, commands->frontier, scheduler->engine_count * sizeof(*frontier));
    bf_lock_release(&scheduler->pending.lock);
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        if (frontier[i] > engine->waited[i] &&
            !window_epoch_is_over(engine, &scheduler->engines[i], frontier[i]))
            return false;
    }
    return true;
}

/* PW-4: is it a timeline whose value is neither seen nor signalled by this engine alone, whose
 * order is that of submission? */
static bool window_wait_is_over(struct bf_engine *engine, const struct bf_sync *wait)
{
    struct bf_semaphore *sem = wait->sem;
    if (!sem || !sem->timeline || atomic_load(&sem->seen) >= wait->target)
        return true;
    if (!atomic_load(&sem->external) &&
        (atomic_load(&sem->signalled_on) & ~bf_engine_bit(engine)) == 0)
        return true; /* of whoever signals it, the packet is behind */
    return bf_semaphore_ready(engine->scheduler, sem, BF_FOR_WAIT, wait->target, BF_WAIT_COMPLETE);
}

struct bf_sync *bf_window_obstacle(struct bf_engine *engine, struct bf_queue *queue,
                                   struct bf_packet *packet)
{
    if (!window_limits(engine, queue, packet))
        return NULL;
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        if (!window_wait_is_over(engine, &packet->waits[i]))
            return &packet->waits[i];
    }
    return NULL;
}

void bf_window_release(struct bf_engine *engine)
{
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (!atomic_load(&queue->blocked) || !queue->waiter.complete)
            continue;
        bf_lock_acquire(&queue->lock);
        bool limited = queue->head && window_limits(engine, queue, queue->head);
        bf_lock_release(&queue->lock);
        if (!limited)
            bf_semaphore_unblock(queue);
    }
}

bool bf_window_admits(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet)
{
    struct bf_window *window = &engine->window;
    packet->windowed = window_limits(engine, queue, packet);
    bool admitted = !packet->windowed, open = true;
    if (packet->windowed) {
        packet->cost_ns = bf_cost_estimate(&queue->cost);
        uint8_t level = bf_window_packet_level(queue, packet);
        uint64_t limit = window_limit(window, level);
        open = window_waits_are_over(engine, queue, packet);
        bool overdue = queue == window->overdue;
        admitted =
            open && (overdue || (!window->full && window_has_room(window, packet->cost_ns, limit)));
        if (admitted && overdue) {
            window->overdue = NULL;
            window->overdue_ns = window->now_ns;
        }
        if (!admitted && !bf_waker_ensure(engine)) /* PW-3 */
            admitted = true;
        else if (!admitted && open) {
            window->held_level = window->held ? window->held_level : level;
            window->full = window->held = true;
        }
    }
    if (!admitted) {
        if (!open) /* held by its waits it takes nobody's turn */
            queue->held_ns = 0;
        else if (!queue->held_ns && window->full)
            queue->held_ns = window->now_ns;
        atomic_store(&queue->windowed, true);
        return false;
    }
    queue->held_ns = 0;
    atomic_store(&queue->windowed, false);
    if (packet->windowed) {
        window->batch_packets++;
        window->batch_unknown += packet->cost_ns == BF_COST_UNKNOWN;
        window->batch_sum_ns += packet->cost_ns == BF_COST_UNKNOWN ? 0 : packet->cost_ns;
        window->run_ns += packet->cost_ns == BF_COST_UNKNOWN ? RUN_NS : packet->cost_ns;
    }
    return true;
}

bool bf_window_run_is_over(struct bf_engine *engine, const struct bf_packet *packet)
{
    return packet->windowed && engine->window.run_ns >= RUN_NS;
}

/* The epoch that is waited for: when it has been reached there is room for as much again as is
 * left, or one packet is left, whichever comes first. */
static uint64_t window_wanted_epoch(const struct bf_window *window, uint64_t limit)
{
    uint64_t left_ns = window->sum_ns;
    uint32_t left = window->packets;
    for (uint32_t i = 0; i < window->count; i++) {
        const struct bf_window_entry *entry =
            &window->entries[(window->first + i) % BF_WINDOW_ENTRIES];
        left -= entry->packets;
        left_ns -= entry->cost_ns == BF_COST_UNKNOWN ? 0 : entry->cost_ns;
        if (left <= 1 || left_ns <= limit / 2)
            return entry->epoch;
    }
    return 0;
}

/* When the next packet is overdue. */
static uint64_t window_deadline(const struct bf_engine *engine)
{
    uint64_t since = UINT64_MAX;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (queue->held_ns && queue->held_ns < since && queue_is_ready(queue))
            since = queue->held_ns;
    }
    if (since < engine->window.overdue_ns)
        since = engine->window.overdue_ns;
    if (since == UINT64_MAX)
        return since;
    /* It may be held by something else meanwhile, and go at once or not. */
    uint64_t soon = engine->window.now_ns + BF_WINDOW_OVERDUE_NS / 10;
    return since + BF_WINDOW_OVERDUE_NS < soon ? soon : since + BF_WINDOW_OVERDUE_NS;
}

void bf_window_arm(struct bf_engine *engine)
{
    struct bf_window *window = &engine->window;
    if (window->held && window->count &&
        !bf_waker_want(engine,
                       window_wanted_epoch(window, window_limit(window, window->held_level)),
                       engine, window_deadline(engine)))
        atomic_store(&engine->dirty, 1); /* which its pump looks at again */
}

void bf_windows_changed(struct bf_scheduler *scheduler)
{
    if (atomic_load(&scheduler->windows))
        bf_engines_pump(scheduler, bf_inherit_anew(scheduler));
}

/* -------------------------------------------------------------------------------- Flushing -- */

/* Packets have been marked, whether there are windows or not (IH-5). 'had_windows' is read behind
 * that: who makes the first window, or request, sets it before it can hold a packet, and then finds
 * the mark. */
static void windows_hand_over(struct bf_scheduler *scheduler, uint64_t marked, uint64_t engines)
{
    if (atomic_load(&scheduler->had_windows))
        bf_scheduler_hand_over_released(scheduler, engines);
    else
        bf_engines_pump(scheduler, marked);
}

uint64_t bf_windows_flush_queue(struct bf_queue *queue)
{
    return bf_queue_has_backlog(queue) ? bf_inherit_flush(queue->scheduler, queue) : 0;
}

void bf_windows_flush(struct bf_scheduler *scheduler)
{
    const uint64_t marked = bf_inherit_flush(scheduler, NULL);
    /* What another thread has raised, or the end of the windows let go, too. */
    windows_hand_over(scheduler, marked, UINT64_MAX);
}

void bf_windows_flush_named(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    if (queue && !bf_queue_has_backlog(queue) && !atomic_load(&scheduler->had_windows))
        return;
    const uint64_t marked = bf_inherit_flush_named(scheduler, queue);
    windows_hand_over(scheduler, marked, marked);
}
