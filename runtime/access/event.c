/*
 * Events, between fences and the CPU. They belong to the process, not to a device, so the devices
 * that have the check on are listed here.
 */
#include "access/model.h"

#include <stdlib.h>

static struct bf_lock live_lock; /* taken before a device's */
static struct bf_access *live;
static _Atomic uint32_t live_count;

/* What an event carries that was set and not yet seen. */
struct mark {
    struct bf_clock *clock;
};

static uint64_t key_of(const void *event)
{
    return (uint64_t)(uintptr_t)event;
}

void bf_access_event_add_device(struct bf_access *access)
{
    bf_lock_acquire(&live_lock);
    access->next_live = live;
    live = access;
    atomic_fetch_add(&live_count, 1);
    bf_lock_release(&live_lock);
}

static void free_mark(void *value, void *context)
{
    struct bf_access *access = context;
    struct mark *mark = value;
    bf_clock_release(&access->clocks, mark->clock);
    free(mark);
}

void bf_access_event_remove_device(struct bf_access *access)
{
    bf_lock_acquire(&live_lock);
    struct bf_access **link = &live;
    while (*link != access)
        link = &(*link)->next_live;
    *link = access->next_live;
    atomic_fetch_sub(&live_count, 1);
    bf_lock_release(&live_lock);
    bf_map_finish(&access->marks, free_mark, access);
}

/* Adds to what the event carries; takes over the reference. */
static void carry(struct bf_access *access, const void *event, struct bf_clock *clock)
{
    struct mark *mark = bf_map_find(&access->marks, key_of(event));
    if (!mark) {
        mark = calloc(1, sizeof(*mark));
        if (!mark || !bf_map_insert(&access->marks, key_of(event), mark)) {
            free(mark);
            bf_clock_release(&access->clocks, clock);
            access->clocks.failed = true;
            return;
        }
    }
    mark->clock = bf_clock_join(&access->clocks, mark->clock, clock);
    bf_clock_release(&access->clocks, clock);
}

void bf_access_event_set(const void *event, bool unseen, struct bf_access_fence *fence,
                         uint64_t value)
{
    if (!fence || !bf_access_enter(fence->access))
        return;
    struct bf_access *access = fence->access;
    struct bf_clock *clock = bf_model_fence_clock(fence, value, BF_ACCESS_AT_LEAST);
    if (unseen)
        bf_model_cpu_learn(access, clock);
    else
        carry(access, event, clock);
    bf_access_leave(access);
}

/* For each device that the event carries something of. */
static void take(const void *event, bool seen)
{
    if (atomic_load_explicit(&live_count, memory_order_relaxed) == 0)
        return;
    bf_lock_acquire(&live_lock);
    for (struct bf_access *access = live; access; access = access->next_live) {
        if (!bf_access_enter(access))
            continue;
        struct mark *mark = bf_map_remove(&access->marks, key_of(event));
        if (mark) {
            if (seen)
                bf_model_cpu_learn(access, bf_clock_reference(mark->clock));
            free_mark(mark, access);
        }
        bf_access_leave(access);
    }
    bf_lock_release(&live_lock);
}

void bf_access_event_seen(const void *event)
{
    take(event, true);
}

void bf_access_event_remove(const void *event)
{
    take(event, false);
}
