/* SPDX-License-Identifier: MIT */
/* Which signal a wait's arrow comes from, and what the tables forget. */

#include "support/test.h"
#include "trace/flow.h"

static void signal_add(struct bf_flow *flow, uint64_t semaphore, uint64_t value, uint64_t packet)
{
    bf_flow_signal_add(flow, (struct bf_trace_sync){semaphore, value})->packet = packet;
}

/* The packet that the wait's arrow comes from; 0: none. */
static uint64_t source(struct bf_flow *flow, uint64_t semaphore, uint64_t value)
{
    struct bf_flow_signal *s = bf_flow_signal_find(flow, (struct bf_trace_sync){semaphore, value});
    return s ? s->packet : 0;
}

TEST(smallest_value_that_satisfies)
{
    struct bf_flow *flow = bf_flow_create(1);
    assert_int_equal(source(flow, 5, 1), 0);
    signal_add(flow, 5, 10, 1);
    signal_add(flow, 6, 12, 2);
    signal_add(flow, 5, 20, 3);
    signal_add(flow, 5, 30, 4);
    assert_int_equal(source(flow, 5, 1), 1);
    assert_int_equal(source(flow, 5, 10), 1);
    assert_int_equal(source(flow, 5, 11), 3);
    assert_int_equal(source(flow, 5, 20), 3);
    assert_int_equal(source(flow, 5, 25), 4);
    assert_int_equal(source(flow, 5, 31), 0);
    assert_int_equal(source(flow, 6, 11), 2);
    assert_int_equal(source(flow, 7, 1), 0);
    bf_flow_destroy(flow);
}

/* Handles come back as other semaphores, whose values start again from below. */
TEST(handles_come_back)
{
    struct bf_flow *flow = bf_flow_create(1);
    signal_add(flow, 5, 10, 1);
    signal_add(flow, 5, 11, 2);
    signal_add(flow, 5, 3, 3);
    signal_add(flow, 5, 4, 4);
    assert_int_equal(source(flow, 5, 3), 3);
    assert_int_equal(source(flow, 5, 4), 4);
    assert_int_equal(source(flow, 5, 10), 0);
    bf_flow_forget(flow, 5);
    assert_int_equal(source(flow, 5, 4), 0);
    signal_add(flow, 5, 1, 5);
    assert_int_equal(source(flow, 5, 1), 5);
    bf_flow_destroy(flow);
}

TEST(old_signals_are_forgotten)
{
    struct bf_flow *flow = bf_flow_create(1);
    for (uint64_t i = 1; i <= 3 * BF_FLOW_SIGNALS; i++) {
        signal_add(flow, 100 + i % 7, i, i);
        if (i > BF_FLOW_SIGNALS) {
            uint64_t gone = i - BF_FLOW_SIGNALS;
            assert_int_not_equal(source(flow, 100 + gone % 7, gone), gone);
        }
        uint64_t recent = i > 500 ? i - 500 : 1;
        assert_int_equal(source(flow, 100 + recent % 7, recent), recent);
    }
    bf_flow_destroy(flow);
}

/* A semaphore whose only other signal was where its newest is now. */
TEST(once_around)
{
    struct bf_flow *flow = bf_flow_create(1);
    signal_add(flow, 5, 10, 1);
    for (uint64_t i = 1; i < BF_FLOW_SIGNALS; i++)
        signal_add(flow, 1000 + i, 1, 2);
    assert_int_equal(source(flow, 5, 10), 1);
    signal_add(flow, 5, 20, 3);
    assert_int_equal(source(flow, 5, 10), 3);
    bf_flow_forget(flow, 5);
    assert_int_equal(source(flow, 5, 10), 0);
    bf_flow_destroy(flow);
}

TEST(old_packets_are_forgotten)
{
    struct bf_flow *flow = bf_flow_create(1);
    assert_null(bf_flow_packet_find(flow, 0));
    for (uint64_t id = 1; id <= 2 * BF_FLOW_PACKETS; id++)
        bf_flow_packet_add(flow, id);
    assert_null(bf_flow_packet_find(flow, BF_FLOW_PACKETS));
    assert_non_null(bf_flow_packet_find(flow, BF_FLOW_PACKETS + 1));
    assert_null(bf_flow_packet_find(flow, 2 * BF_FLOW_PACKETS + 1));
    bf_flow_destroy(flow);
}
