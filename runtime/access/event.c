/* SPDX-License-Identifier: MIT */
/* Events, between fences and the CPU: what a set event carries until the CPU has seen it. */
#include "access/model.h"

#include <stdlib.h>

/* What a set event carries. */
struct mark {
    struct bf_clock *clock;
};

static uint64_t event_key(const void *event)
{
    return (uint64_t)(uintptr_t)event;
}

static void free_mark(void *value, void *context)
{
    struct bf_access *access = context;
    struct mark *mark = value;
    bf_clock_release(&access->clocks, mark->clock);
    free(mark);
}

void bf_access_events_finish(struct bf_access *access)
{
    bf_map_finish(&access->marks, free_mark, access);
}

/* Adds a clock to what the event carries; takes over the reference. */
static void event_carry(struct bf_access *access, const void *event, struct bf_clock *clock)
{
    struct mark *mark = bf_map_find(&access->marks, event_key(event));
    if (!mark) {
        mark = calloc(1, sizeof(*mark));
        if (!mark || !bf_map_insert(&access->marks, event_key(event), mark)) {
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
        event_carry(access, event, clock);
    bf_access_leave(access);
}

static void mark_remove(struct bf_access *access, const void *event, bool seen)
{
    if (!bf_access_enter(access))
        return;
    struct mark *mark = bf_map_remove(&access->marks, event_key(event));
    if (mark) {
        if (seen)
            bf_model_cpu_learn(access, bf_clock_reference(mark->clock));
        free_mark(mark, access);
    }
    bf_access_leave(access);
}

void bf_access_event_seen(struct bf_access *access, const void *event)
{
    mark_remove(access, event, true);
}

void bf_access_event_remove(struct bf_access *access, const void *event)
{
    mark_remove(access, event, false);
}
