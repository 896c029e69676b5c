/* SPDX-License-Identifier: MIT */
/* Vector clocks: order, join and meet against plain arrays, sharing, and agents that are gone. */

#include "support/test.h"
#include "access/clock.h"

#define AGENTS 6

static uint64_t random_state = 99;

static uint64_t random_number(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static struct bf_clock *make(struct bf_clock_pool *pool, const uint64_t times[AGENTS])
{
    struct bf_clock *clock = NULL;
    for (uint32_t i = 0; i < AGENTS; i++)
        clock = bf_clock_advance(pool, clock, 10 * i, times[i]);
    return clock;
}

static void expect(const struct bf_clock *clock, const uint64_t times[AGENTS])
{
    for (uint32_t i = 0; i < AGENTS; i++) {
        assert_int_equal(bf_clock_at(clock, 10 * i), times[i]);
        assert_int_equal(bf_clock_at(clock, 10 * i + 5), 0);
    }
}

TEST(test_against_arrays)
{
    struct bf_clock_pool pool = {0};
    for (int round = 0; round < 5000; round++) {
        uint64_t a[AGENTS], b[AGENTS], joined[AGENTS], met[AGENTS];
        bool within = true;
        for (uint32_t i = 0; i < AGENTS; i++) {
            a[i] = random_number(3);
            b[i] = random_number(3);
            joined[i] = a[i] > b[i] ? a[i] : b[i];
            met[i] = a[i] < b[i] ? a[i] : b[i];
            within &= a[i] <= b[i];
        }
        struct bf_clock *first = make(&pool, a), *second = make(&pool, b);
        expect(first, a);
        assert_int_equal(bf_clock_within(first, second), within);
        struct bf_clock *join = bf_clock_join(&pool, bf_clock_reference(first), second),
                        *meet = bf_clock_meet(&pool, bf_clock_reference(first), second);
        expect(join, joined);
        expect(meet, met);
        expect(first, a); /* clocks don't change */
        expect(second, b);
        bf_clock_release(&pool, meet);
        bf_clock_release(&pool, join);
        bf_clock_release(&pool, second);
        bf_clock_release(&pool, first);
        assert_null(pool.first);
    }
    assert_false(pool.failed);
}

TEST(test_nothing_is_made_for_what_is_there)
{
    struct bf_clock_pool pool = {0};
    struct bf_clock *clock = bf_clock_advance(&pool, NULL, 1, 5);
    assert_ptr_equal(bf_clock_advance(&pool, clock, 1, 4), clock);
    assert_ptr_equal(bf_clock_join(&pool, clock, NULL), clock);
    struct bf_clock *other = bf_clock_advance(&pool, bf_clock_reference(clock), 2, 1);
    struct bf_clock *join = bf_clock_join(&pool, bf_clock_reference(clock), other);
    assert_ptr_equal(join, other);
    bf_clock_release(&pool, join);
    assert_null(bf_clock_meet(&pool, bf_clock_reference(clock), NULL));
    bf_clock_release(&pool, other);
    bf_clock_release(&pool, clock);
    assert_null(pool.first);
}

TEST(test_forgotten_agents_leave_every_clock)
{
    struct bf_clock_pool pool = {0};
    const uint64_t times[AGENTS] = {3, 1, 4, 1, 5, 9};
    struct bf_clock *one = make(&pool, times), *two = bf_clock_advance(&pool, NULL, 20, 7);
    bf_clock_forget(&pool, 20);
    assert_int_equal(bf_clock_at(one, 20), 0);
    assert_int_equal(bf_clock_at(one, 10), 1);
    assert_int_equal(bf_clock_at(one, 30), 1);
    assert_int_equal(bf_clock_at(one, 50), 9);
    assert_int_equal(two->count, 0);
    assert_true(bf_clock_within(two, NULL));
    bf_clock_release(&pool, one);
    bf_clock_release(&pool, two);
}
