/* SPDX-License-Identifier: MIT */
/* Behaviours 1 to 19: a fence's value, and the CPU's signals. */
#include "registrations.h"

FIXTURE_TEST(behaviour_01_created_value_reads_back)
{
    static const uint64_t values[] = {0, 1, 99, BIG, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        assert_value(make_fence(f, values[i]), values[i]);
}

FIXTURE_TEST(behaviour_02_cpu_signal_reads_at_once)
{
    BfFence fence = make_fence(f, 0);
    static const uint64_t values[] = {1, 2, 10, BIG, BIG + 1};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        cpu_signal(fence, values[i]);
        assert_value(fence, values[i]);
    }
}

FIXTURE_TEST(behaviour_03_cpu_signal_of_a_lower_value_reads_back)
{
    BfFence fence = make_fence(f, 0);
    cpu_signal(fence, 10);
    assert_value(fence, 10);
    cpu_signal(fence, 5);
    assert_value(fence, 5);
}

FIXTURE_TEST(behaviour_04_cpu_signal_of_zero_after_a_great_value_reads_zero)
{
    BfFence fence = make_fence(f, 0);
    cpu_signal(fence, BIG);
    assert_value(fence, BIG);
    cpu_signal(fence, 0);
    assert_value(fence, 0);
}

FIXTURE_TEST(behaviour_05_a_hundred_great_steps_read_back_exactly)
{
    BfFence fence = make_fence(f, 0);
    for (uint64_t i = 0; i < 100; i++) {
        cpu_signal(fence, BIG + i * 10000);
        assert_value(fence, BIG + i * 10000);
    }
}

/* ----------------------------------------------------------------------------- Registrations -- */

static void by_cpu(struct signaller *s, BfFence fence, uint64_t value)
{
    cpu_signal(fence, value);
}

static void run(void (*body)(struct signaller *s))
{
    struct fixture f;
    fixture_open(&f, NULL);
    body(&(struct signaller){.signal = by_cpu, .f = &f});
    fixture_close(&f);
}

TEST(behaviour_06_event_ahead_is_set_once_by_the_signal)
{
    run(registration_is_set_once);
}

TEST(behaviour_07_overshooting_sets_the_event)
{
    run(registration_is_set_by_overshooting);
}

TEST(behaviour_08_later_signals_do_not_set_a_fired_event_again)
{
    run(registration_is_consumed);
}

FIXTURE_TEST(behaviour_09_every_reached_value_sets_the_event_at_registration)
{
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    static const uint64_t currents[] = {0, 10};
    for (size_t i = 0; i < 2; i++) {
        cpu_signal(fence, currents[i]);
        for (uint64_t v = 0; v <= currents[i]; v++) {
            assert_false(take_event(event));
            set_event_on(fence, v, event);
            assert_true(take_event(event));
        }
        for (uint64_t again = 0; again < 3; again++) {
            set_event_on(fence, currents[i], event);
            assert_true(take_event(event));
        }
    }
}

FIXTURE_TEST(behaviour_10_the_next_value_stays_unset_until_signalled)
{
    BfFence fence = make_fence(f, 10);
    BfEvent event = make_event(f);
    set_event_on(fence, 11, event);
    assert_false(take_event(event));
    for (uint64_t v = 0; v <= 10; v++) {
        cpu_signal(fence, v);
        assert_false(take_event(event));
    }
    cpu_signal(fence, 11);
    assert_true(take_event(event));
}

TEST(behaviour_11_one_event_for_several_values_is_set_at_each)
{
    run(registration_of_several_values);
}

TEST(behaviour_12_registered_twice_one_set_is_seen)
{
    run(registration_twice_is_one_set);
}

TEST(behaviour_13_of_two_values_only_the_reached_one_sets_its_event)
{
    run(registration_far_ahead_is_left_alone);
}

TEST(behaviour_14_a_consumed_registration_stays_so_after_a_rewind)
{
    run(registration_stays_consumed_after_rewind);
}

TEST(behaviour_15_a_pending_registration_survives_a_rewind)
{
    run(registration_survives_rewind);
}

TEST(behaviour_16_the_greatest_value_is_an_ordinary_one)
{
    run(registration_of_the_greatest_value);
}

TEST(behaviour_17_two_events_on_one_value_are_both_set)
{
    run(registration_of_two_events_on_one_value);
}

FIXTURE_TEST(behaviour_18_an_event_set_before_stays_set_and_is_set_again)
{
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    assert_success(bfSetEvent(event));
    set_event_on(fence, 1, event);
    assert_true(take_event(event)); /* registering hasn't reset it */
    assert_false(take_event(event));
    cpu_signal(fence, 1);
    assert_true(take_event(event));
    /* Not consumed: a set on top of a set is one. */
    set_event_on(fence, 2, event);
    assert_success(bfSetEvent(event));
    cpu_signal(fence, 2);
    assert_true(take_event(event));
    assert_false(take_event(event));
}

FIXTURE_TEST(behaviour_19_signalling_the_current_value_succeeds_and_sets_nothing)
{
    BfFence fence = make_fence(f, 0);
    BfEvent event = make_event(f);
    cpu_signal(fence, 0);
    assert_value(fence, 0);
    set_event_on(fence, 7, event);
    cpu_signal(fence, 7);
    assert_true(take_event(event));
    for (int i = 0; i < 3; i++) {
        cpu_signal(fence, 7);
        assert_value(fence, 7);
        assert_false(take_event(event));
    }
}

/* 20 and 21 are about COM's reference counts and interfaces; there are none here. */
