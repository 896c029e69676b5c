/* SPDX-License-Identifier: MIT */
/* Modes and actions: who is told, what is accepted, what a commit's set is and when its event is
 * set, what needs developer mode, and that loops which ask end. */
#include "helper.h"

/* ----------------------------------------------------------------------------------- Drivers -- */

/* A driver that does as told, and remembers what it was told. */
struct driver {
    struct bf_background *b;
    BfBackgroundModeInfo told[256];
    uint32_t count;
    struct item *queues; /* at every mode change: these */
    uint32_t queue_count;
    BfMeasurementsState state;
    bool may_adapt; /* when it was told */
    VkResult nested;
    bool nests;
};

static void driver_on_mode(void *context, const BfBackgroundModeInfo *info)
{
    struct driver *d = context;
    d->told[d->count++ % 256] = *info;
    d->may_adapt = bf_background_may_adapt(d->b);
    for (uint32_t i = 0; i < d->queue_count; i++)
        bf_background_queue(d->b, item_run, item_cancel, &d->queues[i]);
    if (d->nests)
        d->nested = bf_background_set_mode(d->b, ALLOWED, KEEP, NULL, NULL);
}

static BfMeasurementsState driver_state(void *context)
{
    return ((struct driver *)context)->state;
}

static void add(struct bf_background *b, struct driver *d)
{
    *d = (struct driver){.b = b};
    assert_success(bf_background_add_driver(
        b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER), .pContext = d,
                                 .pfnOnMode = driver_on_mode,
                                 .pfnFurtherMeasurementsDesired = driver_state}));
}

static BfEvent make_event(void)
{
    BfEvent event = NULL;
    assert_success(bfCreateEvent(0, &event));
    return event;
}

/* Two workers that stand at a gate, so that nothing else begins. */
struct fixture {
    struct story s;
    struct gate gate, later;
    struct bf_background *b;
    struct item stuck[2], items[64];
    BfEvent event;
    struct driver d; /* where one has been added */
};

static void open_fixture(struct fixture *f)
{
    f->s = (struct story)STORY;
    f->gate = (struct gate)CLOSED;
    f->b = make();
    f->event = make_event();
    for (int i = 0; i < 64; i++)
        f->items[i] = (struct item){.story = &f->s, .number = i};
    for (int i = 0; i < 2; i++)
        f->stuck[i] = (struct item){.story = &f->s, .number = 100 + i, .gate = &f->gate};
}

static void open_driven(struct fixture *f)
{
    open_fixture(f);
    add(f->b, &f->d);
}

static void stick(struct fixture *f)
{
    for (int i = 0; i < 2; i++) {
        queue(f->b, &f->stuck[i]);
        story_await(&f->s, 100 + i, BEGAN);
    }
}

static void close_fixture(struct fixture *f)
{
    gate_open(&f->gate);
    bf_background_destroy(f->b);
    bfDestroyEvent(f->event);
    assert_int_equal(f->s.running, 0);
}

static void commit(struct bf_background *b, BfBackgroundProcessingMode mode, BfEvent event)
{
    assert_success(bf_background_set_mode(b, mode, COMMIT, event, NULL));
}

#define MODES_TEST(name_)  TEST_AROUND(name_, struct fixture, f, open_fixture, close_fixture)
#define DRIVEN_TEST(name_) TEST_AROUND(name_, struct fixture, f, open_driven, close_fixture)

static void await_event(BfEvent event)
{
    assert_success(bfWaitForEvents(1, &event, VK_FALSE, UINT64_MAX, NULL));
}

/* --------------------------------------------------------------------------------- Disabling -- */

TEST(disabling_lets_what_is_queued_run_out_and_cancels_the_rest)
{
    for (int mode = DISABLED; mode <= FROZEN; mode++) {
        struct fixture f;
        open_fixture(&f);
        stick(&f);
        for (int i = 0; i < 3; i++)
            queue(f.b, &f.items[i]);
        set_mode(f.b, mode, KEEP);
        queue(f.b, &f.items[3]);
        struct entry entry = story_entry(&f.s, 3, CANCELLED); /* before the call returned */
        assert_int_equal(entry.policy, SCHED_OTHER);
        assert_success(bf_background_queue(f.b, item_run, NULL, &f.items[4]));
        gate_open(&f.gate);
        story_await(&f.s, 2, ENDED);
        assert_int_equal(story_count(&f.s, 3, BEGAN), 0);
        assert_int_equal(story_count(&f.s, 4, BEGAN), 0);
        set_mode(f.b, ALLOWED, KEEP);
        queue(f.b, &f.items[5]);
        story_await(&f.s, 5, ENDED);
        close_fixture(&f);
    }
}

TEST(what_a_driver_queues_when_told_of_a_disable_is_cancelled)
{
    for (int action = KEEP; action <= DISCARD; action += DISCARD - KEEP) {
        struct fixture f;
        struct driver d;
        open_fixture(&f);
        add(f.b, &d);
        d.queues = f.items;
        d.queue_count = 2;
        set_mode(f.b, DISABLED, action);
        assert_int_equal(story_count(&f.s, 0, CANCELLED), 1);
        assert_int_equal(story_count(&f.s, 1, CANCELLED), 1);
        set_mode(f.b, ALLOWED, KEEP); /* enabled before it is told */
        story_await(&f.s, 0, ENDED);
        close_fixture(&f);
    }
}

TEST(a_commits_own_items_run_before_the_disable_that_comes_with_it)
{
    for (int from = ALLOWED; from <= FROZEN; from++) {
        struct fixture f;
        struct driver d;
        open_fixture(&f);
        set_mode(f.b, from, KEEP);
        add(f.b, &d);
        d.queues = f.items;
        d.queue_count = 2;
        commit(f.b, FROZEN, f.event);
        d.queue_count = 0;
        queue(f.b, &f.items[2]);
        assert_int_equal(story_count(&f.s, 2, CANCELLED), 1);
        await_event(f.event);
        assert_int_equal(story_count(&f.s, 0, ENDED), 1);
        assert_int_equal(story_count(&f.s, 1, ENDED), 1);
        close_fixture(&f);
    }
}

/* --------------------------------------------------------------------------------- The event -- */

TEST(the_event_is_set_at_once_for_an_empty_set)
{
    struct fixture f;
    open_fixture(&f); /* no driver: a device without support */
    for (int mode = ALLOWED; mode <= FROZEN; mode++) {
        for (int action = COMMIT; action <= HIGH; action++) {
            assert_success(bf_background_set_mode(f.b, mode, action, f.event, NULL));
            assert_true(take_event(f.event));
        }
    }
    set_mode(f.b, ALLOWED, KEEP);
    queue(f.b, &f.items[0]);
    commit(f.b, ALLOWED, f.event);
    await_event(f.event);
    commit(f.b, ALLOWED, f.event);
    assert_true(take_event(f.event));
    close_fixture(&f);
}

MODES_TEST(the_set_is_what_is_queued_and_running_at_return_and_no_more)
{
    f->later = (struct gate)CLOSED;
    stick(f);
    queue(f->b, &f->items[0]);
    commit(f->b, ALLOWED, f->event);
    for (int i = 1; i < 3; i++) {
        f->items[i].gate = &f->later;
        queue(f->b, &f->items[i]);
    }
    assert_false(take_event(f->event));
    gate_open(&f->gate);
    while (!take_event(f->event))
        sched_yield(); /* without blocking, which would boost it */
    assert_int_equal(story_count(&f->s, 0, ENDED), 1);
    assert_int_equal(story_count(&f->s, 100, ENDED), 1);
    assert_int_equal(story_count(&f->s, 101, ENDED), 1);
    assert_int_equal(story_count(&f->s, 1, ENDED), 0);
    gate_open(&f->later);
}

MODES_TEST(running_items_alone_are_a_set)
{
    stick(f);
    commit(f->b, DISABLED, f->event);
    assert_false(take_event(f->event));
    gate_open(&f->gate);
    await_event(f->event);
}

TEST(sets_of_several_commits_are_done_in_order)
{
    struct fixture f;
    struct gate gates[4];
    BfEvent events[4];
    open_fixture(&f);
    f.stuck[0].gate = f.stuck[1].gate = &f.gate;
    stick(&f);
    for (int i = 0; i < 4; i++) {
        gates[i] = (struct gate)CLOSED;
        events[i] = make_event();
        f.items[i].gate = &gates[i];
        queue(f.b, &f.items[i]);
        commit(f.b, ALLOWED, events[i]);
    }
    gate_open(&f.gate);
    /* The second ends before the first: its commit has the first in its set. */
    story_await(&f.s, 1, BEGAN);
    gate_open(&gates[1]);
    story_await(&f.s, 2, BEGAN);
    assert_false(take_event(events[0]));
    assert_false(take_event(events[1]));
    gate_open(&gates[0]);
    while (!take_event(events[0]))
        sched_yield();
    while (!take_event(events[1]))
        sched_yield();
    assert_false(take_event(events[2]));
    gate_open(&gates[2]);
    gate_open(&gates[3]);
    await_event(events[3]);
    assert_true(take_event(events[2]));
    close_fixture(&f);
    for (int i = 0; i < 4; i++)
        bfDestroyEvent(events[i]);
}

TEST(destroying_the_device_sets_the_event)
{
    struct fixture f;
    open_fixture(&f);
    stick(&f);
    queue(f.b, &f.items[0]);
    queue(f.b, &f.items[1]);
    commit(f.b, ALLOWED, f.event);
    gate_open(&f.gate);
    bf_background_destroy(f.b);
    assert_true(take_event(f.event));
    assert_false(take_event(f.event));
    bfDestroyEvent(f.event);
}

MODES_TEST(an_event_may_be_destroyed_before_it_is_set)
{
    stick(f);
    commit(f->b, ALLOWED, f->event);
    bfDestroyEvent(f->event);
    f->event = NULL;
}

/* ---------------------------------------------------------------------------------- Refusals -- */

static void nothing_changed(struct fixture *f)
{
    assert_int_equal(f->d.count, 0);
    queue(f->b, &f->items[0]);
    assert_int_equal(story_count(&f->s, 0, CANCELLED), 0);
    assert_true(bf_background_may_adapt(f->b));
}

DRIVEN_TEST(an_event_without_a_commit_is_refused)
{
    assert_bad_input(bf_background_set_mode(f->b, DISABLED, KEEP, f->event, NULL));
    assert_bad_input(bf_background_set_mode(f->b, DISABLED, DISCARD, f->event, NULL));
    assert_bad_input(bf_background_set_mode(f->b, DISABLED, COMMIT, (BfEvent)f, NULL));
    nothing_changed(f);
}

DRIVEN_TEST(values_outside_the_enumerations_are_refused)
{
    assert_bad_input(bf_background_set_mode(f->b, (BfBackgroundProcessingMode)4, KEEP, NULL, NULL));
    assert_bad_input(
        bf_background_set_mode(f->b, (BfBackgroundProcessingMode)-1, KEEP, NULL, NULL));
    assert_bad_input(bf_background_set_mode(f->b, FROZEN, (BfMeasurementsAction)4, NULL, NULL));
    assert_bad_input(bf_background_set_mode(f->b, FROZEN, (BfMeasurementsAction)-1, NULL, NULL));
    assert_bad_input(bf_background_add_driver(f->b, NULL));
    assert_bad_input(bf_background_add_driver(
        f->b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER), .pNext = f}));
    nothing_changed(f);
}

TEST(developer_mode_gates_what_the_document_gates)
{
    struct bf_background *b =
        make_with(&(struct bf_background_info){.tasks = 2, .proc = "/nonexistent"});
    struct driver d;
    add(b, &d);
    for (int mode = ALLOWED; mode <= FROZEN; mode++) {
        for (int action = KEEP; action <= DISCARD; action++) {
            bool gated = mode == DISABLED || mode == FROZEN || action == HIGH;
            uint32_t told = d.count;
            assert_int_equal(bf_background_set_mode(b, mode, action, NULL, NULL),
                             gated ? VK_ERROR_NOT_PERMITTED_KHR : VK_SUCCESS);
            assert_int_equal(d.count, told + !gated);
            assert_true(bf_background_may_adapt(b));
        }
    }
    assert_false(bf_background_properties(b).developerMode);
    bf_background_destroy(b);
    b = make();
    for (int mode = ALLOWED; mode <= FROZEN; mode++)
        for (int action = KEEP; action <= DISCARD; action++)
            assert_success(bf_background_set_mode(b, mode, action, NULL, NULL));
    assert_true(bf_background_properties(b).developerMode);
    bf_background_destroy(b);
}

static void change_mode(struct item *item)
{
    struct fixture *f = item->data;
    item->number =
        bf_background_set_mode(f->b, DISABLED, KEEP, NULL, NULL) == VK_ERROR_VALIDATION_FAILED_EXT
            ? 7
            : 8;
}

DRIVEN_TEST(neither_items_nor_drivers_may_change_the_mode)
{
    f->items[0].run = change_mode;
    f->items[0].data = f;
    queue(f->b, &f->items[0]);
    story_await(&f->s, 7, ENDED);
    f->d.nests = true;
    set_mode(f->b, INTRUSIVE, KEEP);
    assert_bad_input(f->d.nested);
    assert_int_equal(f->d.count, 1);
}

/* ------------------------------------------------------------------------------ What is told -- */

MODES_TEST(drivers_are_told_everything_with_the_epoch)
{
    struct driver d[2];
    assert_false(bf_background_properties(f->b).backgroundProcessingSupported);
    add(f->b, &d[0]);
    add(f->b, &d[1]);
    assert_true(bf_background_properties(f->b).backgroundProcessingSupported);
    uint64_t epoch = 0;
    uint32_t count = 0;
    for (int mode = ALLOWED; mode <= FROZEN; mode++) {
        for (int action = KEEP; action <= DISCARD; action++) {
            set_mode(f->b, mode, action);
            epoch += action == DISCARD;
            count++;
            for (int i = 0; i < 2; i++) {
                assert_int_equal(d[i].count, count);
                assert_int_equal(d[i].told[count - 1].mode, mode);
                assert_int_equal(d[i].told[count - 1].action, action);
                assert_int_equal(d[i].told[count - 1].epoch, epoch);
            }
        }
    }
    assert_int_equal(epoch, 4);
}

MODES_TEST(discarding_leaves_queued_items_alone)
{
    stick(f);
    queue(f->b, &f->items[0]);
    set_mode(f->b, ALLOWED, DISCARD);
    gate_open(&f->gate);
    story_await(&f->s, 0, ENDED);
}

DRIVEN_TEST(disabling_profiling_freezes_what_adapts)
{
    for (int mode = ALLOWED; mode <= FROZEN; mode++) {
        for (int action = KEEP; action <= DISCARD; action++) {
            set_mode(f->b, ALLOWED, KEEP);
            set_mode(f->b, mode, action);
            assert_int_equal(bf_background_may_adapt(f->b), mode != FROZEN);
            /* With a commit, as with the items: when the call returns. */
            assert_int_equal(f->d.may_adapt, mode != FROZEN || action == COMMIT || action == HIGH);
        }
    }
    set_mode(f->b, ALLOWED, KEEP);
    assert_true(bf_background_may_adapt(f->b));
    assert_true(bf_background_may_adapt(NULL));
}

/* ------------------------------------------------------------------------------ Measurements -- */

static bool further(struct fixture *f, BfMeasurementsAction action)
{
    VkBool32 answer = 2;
    assert_success(bf_background_set_mode(f->b, INTRUSIVE, action, NULL, &answer));
    assert_true(answer == VK_TRUE || answer == VK_FALSE);
    return answer;
}

DRIVEN_TEST(a_loop_without_commits_ends)
{
    for (int turn = 0; turn < 3; turn++) {
        set_mode(f->b, INTRUSIVE, DISCARD);
        f->d.state = BF_MEASUREMENTS_DESIRED; /* and so for ever */
        uint32_t rounds = 0;
        do {
            rounds++;
        } while (further(f, KEEP) && rounds < 100);
        assert_int_equal(rounds, 4);
        assert_false(further(f, KEEP));
    }
    /* A driver that was once content may wish again. */
    f->d.state = BF_MEASUREMENTS_SETTLED;
    assert_false(further(f, KEEP));
    f->d.state = BF_MEASUREMENTS_DESIRED;
    assert_true(further(f, KEEP));
}

DRIVEN_TEST(outstanding_verdicts_and_items_are_waited_for)
{
    f->d.state = BF_MEASUREMENTS_OUTSTANDING;
    for (int i = 0; i < 50; i++)
        assert_true(further(f, KEEP));
    f->d.state = BF_MEASUREMENTS_DESIRED;
    uint32_t rounds = 0;
    while (further(f, KEEP))
        rounds++;
    assert_int_equal(rounds, 4); /* the first didn't begin with nothing outstanding */
    set_mode(f->b, INTRUSIVE, DISCARD);
    f->d.state = BF_MEASUREMENTS_SETTLED;
    stick(f);
    for (int i = 0; i < 50; i++)
        assert_true(further(f, KEEP));
    commit(f->b, INTRUSIVE, f->event);
    gate_open(&f->gate);
    await_event(f->event);
    assert_false(further(f, KEEP));
}

MODES_TEST(items_that_are_done_since_the_last_question_ask_for_another_round)
{
    assert_false(further(f, KEEP));
    queue(f->b, &f->items[0]);
    commit(f->b, INTRUSIVE, f->event);
    await_event(f->event);
    assert_true(further(f, KEEP));
    assert_false(further(f, KEEP));
    /* Unless the program has said that it is past. */
    queue(f->b, &f->items[1]);
    commit(f->b, INTRUSIVE, f->event);
    await_event(f->event);
    assert_false(further(f, DISCARD));
}

/* The loop of an analysis tool, with a driver that finds something in each of the first rounds. */
DRIVEN_TEST(a_loop_with_commits_ends_when_nothing_new_is_found)
{
    f->d.queues = f->items;
    uint32_t rounds = 0;
    VkBool32 wanted = VK_TRUE;
    while (wanted && rounds < 20) {
        f->d.queue_count = 0;
        set_mode(f->b, INTRUSIVE, rounds++ == 0 ? DISCARD : KEEP);
        f->d.queue_count = rounds <= 3;
        f->d.state = BF_MEASUREMENTS_SETTLED;
        assert_success(bf_background_set_mode(f->b, FROZEN, HIGH, f->event, &wanted));
        await_event(f->event);
        if (rounds <= 3)
            assert_int_equal(story_count(&f->s, 0, ENDED), rounds);
    }
    assert_int_equal(rounds, 4);
}

MODES_TEST(without_support_nothing_is_desired)
{
    for (int action = KEEP; action <= DISCARD; action++)
        assert_false(further(f, action));
}
