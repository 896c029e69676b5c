/* SPDX-License-Identifier: MIT */
/* Behaviours of events registered with a fence, whoever signals it. */
#include "registrations.h"

void registration_is_set_once(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    for (uint64_t v = 1; v < 9; v += 3) {
        set_event_on(fence, v, event);
        assert_false(take_event(event));
        s->signal(s, fence, v);
        assert_true(take_event(event));
        assert_false(take_event(event));
    }
}

void registration_is_set_by_overshooting(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 5);
    BfEvent event = make_event(s->f);
    set_event_on(fence, 6, event);
    assert_false(take_event(event));
    s->signal(s, fence, 7);
    assert_true(take_event(event));
    assert_value(fence, 7);
}

void registration_is_consumed(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    set_event_on(fence, 5, event);
    s->signal(s, fence, 5);
    assert_true(take_event(event));
    static const uint64_t later[] = {6, 7, 100, BIG, UINT64_MAX};
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        s->signal(s, fence, later[i]);
        assert_false(take_event(event));
    }
}

void registration_of_several_values(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    static const uint64_t values[] = {3, 5, 9, 12};
    for (size_t i = 4; i-- > 0;)
        set_event_on(fence, values[i], event);
    assert_false(take_event(event));
    for (uint64_t v = 1; v <= 12; v++) {
        s->signal(s, fence, v);
        assert_int_equal(take_event(event), v == 3 || v == 5 || v == 9 || v == 12);
        assert_false(take_event(event));
    }
}

void registration_twice_is_one_set(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    set_event_on(fence, 4, event);
    set_event_on(fence, 4, event);
    assert_false(take_event(event));
    s->signal(s, fence, 4);
    assert_true(take_event(event));
    assert_false(take_event(event));
}

void registration_far_ahead_is_left_alone(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent near = make_event(s->f), far = make_event(s->f);
    set_event_on(fence, 100, near);
    set_event_on(fence, UINT64_MAX, far);
    static const uint64_t below[] = {50, 99};
    for (size_t i = 0; i < 2; i++) {
        s->signal(s, fence, below[i]);
        assert_false(take_event(near));
        assert_false(take_event(far));
    }
    s->signal(s, fence, 100);
    assert_true(take_event(near));
    assert_false(take_event(far));
}

void registration_stays_consumed_after_rewind(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    set_event_on(fence, 100, event);
    s->signal(s, fence, 100);
    assert_true(take_event(event));
    static const uint64_t later[] = {101, 0, 100};
    for (size_t i = 0; i < 3; i++) {
        s->signal(s, fence, later[i]);
        assert_value(fence, later[i]);
        assert_false(take_event(event));
    }
}

void registration_survives_rewind(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    set_event_on(fence, UINT64_MAX, event);
    static const uint64_t before[] = {100, 101, 0, 100, 0};
    for (size_t i = 0; i < 5; i++) {
        s->signal(s, fence, before[i]);
        assert_false(take_event(event));
    }
    assert_value(fence, 0);
    s->signal(s, fence, UINT64_MAX);
    assert_true(take_event(event));
}

void registration_of_the_greatest_value(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent event = make_event(s->f);
    set_event_on(fence, UINT64_MAX, event);
    s->signal(s, fence, UINT64_MAX - 1);
    assert_false(take_event(event));
    s->signal(s, fence, UINT64_MAX);
    assert_value(fence, UINT64_MAX);
    assert_true(take_event(event));
    s->signal(s, fence, UINT64_MAX);
    assert_value(fence, UINT64_MAX);
    assert_false(take_event(event));
    s->signal(s, fence, 0);
    assert_value(fence, 0);
    assert_false(take_event(event));
    set_event_on(fence, 1, event);
    assert_false(take_event(event));
    s->signal(s, fence, 1);
    assert_true(take_event(event));
}

void registration_of_two_events_on_one_value(struct signaller *s)
{
    BfFence fence = make_fence(s->f, 0);
    BfEvent one = make_event(s->f), other = make_event(s->f);
    set_event_on(fence, 1, one);
    set_event_on(fence, 1, other);
    assert_false(take_event(one));
    assert_false(take_event(other));
    s->signal(s, fence, 3);
    assert_true(take_event(one));
    assert_true(take_event(other));
    assert_false(take_event(one));
    assert_false(take_event(other));
}
