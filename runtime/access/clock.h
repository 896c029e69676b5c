/* SPDX-License-Identifier: MIT */
/*
 * Vector clocks: a clock says what something is certain to come after. The entry (agent, time)
 * means: after everything that this agent has done up to that time.
 *
 * Clocks are immutable and shared by reference; NULL is the clock that comes after nothing. They
 * are sparse (an agent without an entry has the time 0) and sorted by agent.
 *
 *  A-6  Where every entry (agent, time) was taken from a clock of that agent at that time, or later
 *       ones, a clock that holds (agent, time) holds everything that the agent came after then:
 *       join and meet both keep this.
 *
 * Functions that return a clock take over the reference to their first argument and give one to the
 * caller. Without memory they return NULL and set 'failed' in the pool, for good; later results are
 * then meaningless. Thread-safety: the pool externally synchronised.
 */
#ifndef BELFRY_ACCESS_CLOCK_H
#define BELFRY_ACCESS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct bf_clock_entry {
    uint32_t agent;
    uint64_t time;
};

struct bf_clock {
    struct bf_clock *next, *previous; /* in the pool */
    uint32_t references;
    uint32_t count;
    struct bf_clock_entry entries[];
};

/* All clocks. */
struct bf_clock_pool {
    struct bf_clock *first;
    bool failed;
};

/* Both accept NULL. */
struct bf_clock *bf_clock_reference(struct bf_clock *clock);
void bf_clock_release(struct bf_clock_pool *pool, struct bf_clock *clock);

uint64_t bf_clock_at(const struct bf_clock *clock, uint32_t agent);

/* Does 'other' come after everything that 'clock' comes after? */
bool bf_clock_within(const struct bf_clock *clock, const struct bf_clock *other);

/* The clock that comes after both; after what both come after; after 'clock' and the agent up to
 * that time. */
struct bf_clock *bf_clock_join(struct bf_clock_pool *pool, struct bf_clock *clock,
                               struct bf_clock *other);
struct bf_clock *bf_clock_meet(struct bf_clock_pool *pool, struct bf_clock *clock,
                               struct bf_clock *other);
struct bf_clock *bf_clock_advance(struct bf_clock_pool *pool, struct bf_clock *clock,
                                  uint32_t agent, uint64_t time);

/* Removes an agent, which no comparison will ask for any more, from all clocks. */
void bf_clock_forget(struct bf_clock_pool *pool, uint32_t agent);

#endif
