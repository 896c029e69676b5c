/* SPDX-License-Identifier: MIT */
/* Vector clocks, shared and counted, as the check 'access' uses them. */
#include "access/clock.h"

#include <stdlib.h>
#include <string.h>

static struct bf_clock *clock_make(struct bf_clock_pool *pool, uint32_t room)
{
    struct bf_clock *clock = malloc(sizeof(*clock) + room * sizeof(clock->entries[0]));
    if (!clock) {
        pool->failed = true;
        return NULL;
    }
    clock->references = 1;
    clock->count = 0;
    clock->previous = NULL;
    clock->next = pool->first;
    if (clock->next)
        clock->next->previous = clock;
    pool->first = clock;
    return clock;
}

struct bf_clock *bf_clock_reference(struct bf_clock *clock)
{
    if (clock)
        clock->references++;
    return clock;
}

void bf_clock_release(struct bf_clock_pool *pool, struct bf_clock *clock)
{
    if (!clock || --clock->references)
        return;
    if (clock->previous)
        clock->previous->next = clock->next;
    else
        pool->first = clock->next;
    if (clock->next)
        clock->next->previous = clock->previous;
    free(clock);
}

/* The index of the agent's entry, or of the first one after it. */
static uint32_t clock_place(const struct bf_clock *clock, uint32_t agent)
{
    uint32_t low = 0, high = clock ? clock->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (clock->entries[middle].agent < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t bf_clock_at(const struct bf_clock *clock, uint32_t agent)
{
    uint32_t i = clock_place(clock, agent);
    return clock && i < clock->count && clock->entries[i].agent == agent ? clock->entries[i].time
                                                                         : 0;
}

bool bf_clock_within(const struct bf_clock *clock, const struct bf_clock *other)
{
    if (!clock || clock == other)
        return true;
    uint32_t j = 0, count = other ? other->count : 0;
    for (uint32_t i = 0; i < clock->count; i++) {
        const struct bf_clock_entry *e = &clock->entries[i];
        while (j < count && other->entries[j].agent < e->agent)
            j++;
        if (j == count || other->entries[j].agent != e->agent || other->entries[j].time < e->time)
            return false;
    }
    return true;
}

static void clock_put(struct bf_clock *clock, uint32_t agent, uint64_t time)
{
    if (time)
        clock->entries[clock->count++] = (struct bf_clock_entry){agent, time};
}

/* Merges the two, entry by entry; an agent that one of them lacks counts as 0 there. */
static void clock_merge(struct bf_clock *to, const struct bf_clock *a, const struct bf_clock *b,
                        bool larger)
{
    uint32_t i = 0, j = 0;
    while (i < a->count || j < b->count) {
        uint32_t next_a = i < a->count ? a->entries[i].agent : UINT32_MAX,
                 next_b = j < b->count ? b->entries[j].agent : UINT32_MAX,
                 agent = next_a < next_b ? next_a : next_b;
        uint64_t time_a = next_a == agent ? a->entries[i++].time : 0,
                 time_b = next_b == agent ? b->entries[j++].time : 0;
        clock_put(to, agent, (time_a < time_b) == larger ? time_b : time_a);
    }
}

static struct bf_clock *clock_combine(struct bf_clock_pool *pool, struct bf_clock *clock,
                                      struct bf_clock *other, bool larger)
{
    struct bf_clock *result = clock_make(pool, clock->count + other->count);
    if (result)
        clock_merge(result, clock, other, larger);
    bf_clock_release(pool, clock);
    return result;
}

/* Releases 'clock' and returns 'other'. */
static struct bf_clock *clock_exchange(struct bf_clock_pool *pool, struct bf_clock *clock,
                                       struct bf_clock *other)
{
    bf_clock_reference(other);
    bf_clock_release(pool, clock);
    return other;
}

struct bf_clock *bf_clock_join(struct bf_clock_pool *pool, struct bf_clock *clock,
                               struct bf_clock *other)
{
    if (bf_clock_within(other, clock))
        return clock;
    if (bf_clock_within(clock, other))
        return clock_exchange(pool, clock, other);
    return clock_combine(pool, clock, other, true);
}

struct bf_clock *bf_clock_meet(struct bf_clock_pool *pool, struct bf_clock *clock,
                               struct bf_clock *other)
{
    if (bf_clock_within(clock, other))
        return clock;
    if (bf_clock_within(other, clock))
        return clock_exchange(pool, clock, other);
    return clock_combine(pool, clock, other, false);
}

struct bf_clock *bf_clock_advance(struct bf_clock_pool *pool, struct bf_clock *clock,
                                  uint32_t agent, uint64_t time)
{
    if (bf_clock_at(clock, agent) >= time)
        return clock;
    uint32_t count = clock ? clock->count : 0, i = clock_place(clock, agent);
    struct bf_clock *result = clock_make(pool, count + 1);
    if (result) {
        bool there = i < count && clock->entries[i].agent == agent;
        uint32_t rest = count - i - there;
        if (i)
            memcpy(result->entries, clock->entries, i * sizeof(result->entries[0]));
        result->entries[i] = (struct bf_clock_entry){agent, time};
        if (rest)
            memcpy(&result->entries[i + 1], &clock->entries[i + there],
                   rest * sizeof(result->entries[0]));
        result->count = i + 1 + rest;
    }
    bf_clock_release(pool, clock);
    return result;
}

void bf_clock_forget(struct bf_clock_pool *pool, uint32_t agent)
{
    for (struct bf_clock *clock = pool->first; clock; clock = clock->next) {
        uint32_t i = clock_place(clock, agent);
        if (i == clock->count || clock->entries[i].agent != agent)
            continue;
        clock->count--;
        memmove(&clock->entries[i], &clock->entries[i + 1],
                (clock->count - i) * sizeof(clock->entries[0]));
    }
}
