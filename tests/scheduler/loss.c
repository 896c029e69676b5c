/* SPDX-License-Identifier: MIT */
/* A device that is lost with everything pending: fences read UINT64_MAX, every wait is satisfied,
 * every event is set, once, and nothing hangs. On the test driver, which loses devices on demand.
 */
#include "support/traced.h"

#include <sched.h>

/* ------------------------------------------------------------------------ Everything pending -- */

enum { THREADS = 7 };

/* One queue runs, one is held by the CPU, one waits for the first, one for a semaphore. */
struct scene {
    struct fixture f;
    BfCommandQueue runs, held, waits, foreign;
    BfFence running, gate, after, imported, exported;
    BfFence fences[5]; /* all of them */
    BfEvent events[5], all, any;
    VkSemaphore semaphore;
};

static void scene_open(struct scene *s)
{
    struct fixture *f = &s->f;
    fixture_open(f, NULL);
    s->runs = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    s->held = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    s->waits = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    s->foreign = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    s->running = make_fence(f, 0);
    s->gate = make_fence(f, 0);
    s->after = make_fence(f, 0);
    s->exported = make_fence(f, 0);
    s->semaphore = make_timeline(f, 0);
    assert_success(bfImportFenceFromSemaphore(f->bf, s->semaphore, &s->imported));
    f->made_fences[f->fence_count++] = s->imported;
    assert_success(bfExportFenceToSemaphore(s->exported, make_timeline(f, 0)));
    const BfFence fences[5] = {s->running, s->gate, s->after, s->imported, s->exported};
    uint64_t values[5];
    for (int i = 0; i < 5; i++) {
        s->fences[i] = fences[i];
        s->events[i] = make_event(f);
        values[i] = 100 + (uint64_t)i;
        set_event_on(fences[i], values[i], s->events[i]);
    }
    s->all = make_event(f);
    s->any = make_event(f);
    assert_success(
        bfSetEventOnMultipleFenceCompletion(5, fences, values, BF_FENCE_WAIT_ALL, s->all));
    assert_success(
        bfSetEventOnMultipleFenceCompletion(5, fences, values, BF_FENCE_WAIT_ANY_BIT, s->any));

    stall_begin(f, s->runs);
    f->stalls--; /* the loss ends it */
    execute(s->runs, write_word(f, s->runs, 0, 1));
    queue_signal(s->runs, s->running, 1);
    queue_signal(s->runs, s->exported, 1);
    queue_wait(s->held, s->gate, 1);
    execute(s->held, write_word(f, s->held, 1, 1));
    queue_signal(s->held, s->after, 1);
    queue_wait(s->waits, s->running, 1);
    queue_wait(s->waits, s->after, 1);
    execute(s->waits, write_word(f, s->waits, 2, 1));
    queue_signal(s->waits, s->after, 2);
    queue_wait(s->foreign, s->imported, 1);
    execute(s->foreign, write_word(f, s->foreign, 3, 1));
    queue_signal(s->foreign, s->imported, 2);
    fixture_settle(f);
}

/* What is true as soon as anybody has been told. */
static void assert_lost(struct scene *s)
{
    struct fixture *f = &s->f;
    for (int i = 0; i < 5; i++) {
        assert_value(s->fences[i], UINT64_MAX);
        assert_true(take_event(s->events[i]));
        assert_false(take_event(s->events[i])); /* once */
        assert_int_equal(bfSignalFence(s->fences[i], UINT64_MAX), VK_ERROR_DEVICE_LOST);
        set_event_on(s->fences[i], UINT64_MAX, s->events[i]);
        assert_true(take_event(s->events[i]));
        const uint64_t value = UINT64_MAX;
        assert_int_equal(bfWaitFences(1, &s->fences[i], &value, BF_FENCE_WAIT_ALL, UINT64_MAX),
                         VK_ERROR_DEVICE_LOST);
    }
    /* Each of them once, and five once more. */
    assert_int_equal(counters_of(f).eventsSet, f->event_count + 5);
    assert_true(take_event(s->all));
    assert_true(take_event(s->any));
    assert_false(take_event(s->all));
    assert_false(take_event(s->any));
    const BfCommandQueue queues[4] = {s->runs, s->held, s->waits, s->foreign};
    const uint64_t values[5] = {1, 2, 3, 4, UINT64_MAX};
    assert_success(
        bfSetEventOnMultipleFenceCompletion(5, s->fences, values, BF_FENCE_WAIT_ALL, s->all));
    assert_true(take_event(s->all));
    for (int i = 0; i < 4; i++) {
        VkCommandBuffer commands = write_word(f, queues[i], 9, 1);
        assert_int_equal(bfQueueExecute(queues[i], 1, &commands), VK_ERROR_DEVICE_LOST);
        assert_int_equal(bfQueueSignal(queues[i], s->gate, 5), VK_ERROR_DEVICE_LOST);
        assert_int_equal(bfQueueWait(queues[i], s->gate, 5), VK_ERROR_DEVICE_LOST);
        assert_int_equal(bfQueueWaitIdle(queues[i]), VK_ERROR_DEVICE_LOST);
    }
    assert_value(s->gate, UINT64_MAX);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(read_word(f, i), 0);
}

static void scene_close(struct scene *s)
{
    fixture_close(&s->f);
}

static void lose(struct scene *s)
{
    s->f.lost = true;
    s->f.icd.lose();
}

#define SCENE_TEST(name_) TEST_AROUND(name_, struct scene, s, scene_open, scene_close)

SCENE_TEST(blocked_threads_return_and_tell_of_the_loss)
{
    BfEvent event = make_event(&s->f);
    set_event_on(s->after, 50, event);
    struct blocked b[THREADS] = {
        {.fence = s->running}, {.fence = s->gate},  {.fence = s->imported}, {.queue = s->runs},
        {.queue = s->held},    {.queue = s->waits}, {.event = event},
    };
    struct thread threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        b[i].result = VK_RESULT_MAX_ENUM;
        b[i].value = UINT64_MAX - 1;
        thread_start(&threads[i], block_on, &b[i]);
        thread_await_sleep(&threads[i]);
        assert_false(threads[i].finished);
    }
    lose(s);
    for (int i = 0; i < THREADS; i++) {
        thread_join(&threads[i]);
        assert_int_equal(b[i].result, b[i].event ? VK_SUCCESS : VK_ERROR_DEVICE_LOST);
    }
    assert_lost(s);
}

/* Nobody is blocked: whoever asks first is told, and then everybody knows. */
SCENE_TEST(the_first_who_asks_a_pending_fence_is_told)
{
    lose(s);
    assert_value(s->running, UINT64_MAX);
    assert_lost(s);
}

SCENE_TEST(the_first_who_executes_is_told)
{
    BfCommandQueue queue = make_queue(&s->f, BF_COMMAND_LIST_TYPE_DIRECT);
    lose(s);
    VkCommandBuffer commands = write_word(&s->f, queue, 9, 1);
    assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
    assert_lost(s);
}

SCENE_TEST(the_first_who_waits_for_a_queue_is_told)
{
    lose(s);
    assert_int_equal(bfQueueWaitIdle(s->runs), VK_ERROR_DEVICE_LOST);
    assert_lost(s);
}

/* Nothing is in flight that could tell, and nobody calls the driver: held work alone is waited
 * for. */
FIXTURE_TEST(who_waits_for_held_work_alone_is_told)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(f, 0), fence = make_fence(f, 0);
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 1));
    queue_signal(queue, fence, 1);
    struct blocked blocked = {.fence = fence, .value = 1};
    struct thread thread;
    thread_start(&thread, block_on, &blocked);
    thread_await_sleep(&thread);
    f->lost = true;
    f->icd.lose();
    thread_join(&thread);
    assert_int_equal(blocked.result, VK_ERROR_DEVICE_LOST);
    assert_value(fence, UINT64_MAX);
}

/* An event alone: nobody calls anything, and it comes. */
SCENE_TEST(an_event_on_a_pending_signal_comes_by_itself)
{
    BfEvent event = make_event(&s->f);
    set_event_on(s->running, 1, event);
    lose(s);
    await_event(event);
    assert_lost(s);
}

/* Held work that is set free after the loss is not handed over but told of. */
SCENE_TEST(held_work_is_dropped)
{
    lose(s);
    VkResult result = bfSignalFence(s->gate, 1); /* the first to know, or not yet */
    assert_true(result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfQueueWaitIdle(s->held), VK_ERROR_DEVICE_LOST);
    assert_lost(s);
}

/* Belfry's own decision: the driver hears nothing of it, isn't asked for what it knows, and is
 * waited for by nobody. */
SCENE_TEST(the_program_removes_the_device)
{
    struct fixture *f = &s->f;
    BfDeviceRemovedReason reason = BF_DEVICE_REMOVED_REASON_HUNG;
    assert_success(bfGetDeviceRemovedReason(f->bf, &reason));
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_NONE);
    assert_success(bfRemoveDevice(f->bf));
    assert_success(bfRemoveDevice(f->bf));
    assert_int_equal(bfGetDeviceRemovedReason(f->bf, &reason), VK_ERROR_DEVICE_LOST);
    assert_int_equal(reason, BF_DEVICE_REMOVED_REASON_REMOVED);
    assert_lost(s);
    lose(s); /* the stall ends */
}

/* Of a call that nobody else could make up for. */
TEST(the_reason_follows_the_result)
{
    static const struct {
        VkResult result;
        BfDeviceRemovedReason reason;
    } rows[] = {
        {VK_ERROR_DEVICE_LOST, BF_DEVICE_REMOVED_REASON_REMOVED},
        {VK_ERROR_UNKNOWN, BF_DEVICE_REMOVED_REASON_DRIVER_INTERNAL_ERROR},
    };
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        BfDeviceRemovedReason reason;
        fixture_open(&f, NULL);
        BfFence fence = make_fence(&f, 0);
        assert_success(bfExportFenceToSemaphore(fence, make_timeline(&f, 0)));
        f.icd.set_fault("vkSignalSemaphore", 1, rows[i].result);
        bfSignalFence(fence, 1);
        assert_int_equal(bfGetDeviceRemovedReason(f.bf, &reason), VK_ERROR_DEVICE_LOST);
        assert_int_equal(reason, rows[i].reason);
        f.lost = true;
        f.icd.lose();
        fixture_close(&f);
    }
}

/* Destroying is legal, in any order, and blocks nobody. */
SCENE_TEST(objects_are_destroyed_on_a_lost_device)
{
    lose(s);
    drop_fence(&s->f, s->running);
    drop_queue(&s->f, s->held);
    drop_fence(&s->f, s->gate);
    drop_fence(&s->f, s->imported);
    drop_queue(&s->f, s->runs);
    drop_queue(&s->f, s->waits);
}

/* ------------------------------------------------------------------ Lost at every submission -- */

/* A call may succeed or tell of the loss. */
static bool went(VkResult result, bool *lost)
{
    if (result == VK_ERROR_DEVICE_LOST)
        *lost = true;
    else
        assert_success(result);
    return result == VK_SUCCESS;
}

/* Three queues, hand-overs, rewinds, held work and its release. True when the device was lost. */
static bool run_program(uint32_t lose_at)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "LOSE_AT_SUBMIT=%u", lose_at);
    const struct fixture_options options = {.environment = environment, .family = UINT32_MAX};
    struct fixture f;
    fixture_open(&f, &options);
    BfCommandQueue queues[3] = {make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                                make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE),
                                make_queue(&f, BF_COMMAND_LIST_TYPE_COPY)};
    BfFence chain = make_fence(&f, 0), gate = make_fence(&f, 0);
    BfEvent events[12], far = make_event(&f);
    uint32_t registered = 0;
    bool lost = false;
    set_event_on(chain, 1000, far);
    for (uint32_t i = 0; i < 12; i++) {
        BfCommandQueue queue = queues[i % 3];
        VkCommandBuffer commands = write_word(&f, queue, i, i + 1);
        events[i] = make_event(&f);
        if (i % 4 == 3)
            went(bfQueueWait(queue, gate, i), &lost);
        if (i)
            went(bfQueueWait(queue, chain, i), &lost);
        went(bfQueueExecute(queue, 1, &commands), &lost);
        went(bfQueueSignal(queue, chain, i + 1), &lost);
        assert_success(bfSetEventOnFenceCompletion(chain, i + 1, events[registered++]));
        if (i % 4 == 1)
            went(bfSignalFence(gate, i + 2), &lost);
    }
    for (uint32_t i = 0; i < registered; i++)
        await_event(events[i]);
    const uint64_t last = 12;
    went(bfWaitFences(1, &chain, &last, BF_FENCE_WAIT_ALL, UINT64_MAX), &lost);
    for (int i = 0; i < 3; i++)
        went(bfQueueWaitIdle(queues[i]), &lost);
    assert_value(chain, lost ? UINT64_MAX : 12);
    assert_int_equal(take_event(far), lost);
    for (uint32_t i = 0; i < 12 && !lost; i++)
        assert_int_equal(read_word(&f, i), i + 1);
    f.lost = lost;
    fixture_close(&f);
    return lost;
}

TEST(a_device_lost_at_any_submission_hangs_nobody)
{
    uint32_t n = 1;
    while (run_program(n))
        n++;
    assert_true(n > 1);
    print_message("lost at each of %u submissions\n", n - 1);
}

/* ------------------------------------------------------------------- What is known of a loss -- */

struct told {
    char lines[16][160];
    uint32_t count;
};

static void hear(BfMessageSeverity severity, const char *message, void *user)
{
    struct told *told = user;
    if (told->count < 16)
        snprintf(told->lines[told->count++], sizeof(told->lines[0]), "%s", message);
}

static void assert_told(const struct told *told, const char *text, uint32_t times)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < told->count; i++)
        n += strstr(told->lines[i], text) != NULL;
    if (n != times)
        fail_msg("'%s' was told %u times, and expected %u times", text, n, times);
}

/* Once, by whoever is told first; and only a driver that says so itself is asked. */
TEST(what_the_driver_knows_of_a_loss_is_told)
{
    static const char *const extensions[] = {VK_EXT_DEVICE_FAULT_EXTENSION_NAME,
                                             VK_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS_EXTENSION_NAME,
                                             NULL};
    for (int by_driver = 0; by_driver < 2; by_driver++) {
        const struct fixture_options options = {
            .environment = "REPORTS=1", .family = UINT32_MAX, .extensions = extensions};
        struct fixture f;
        struct told told = {0};
        fixture_open(&f, &options);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        assert_success(bfSetMessageCallback(hear, &told));
        f.lost = true;
        if (!by_driver)
            assert_success(bfRemoveDevice(f.bf));
        f.icd.lose();
        for (int i = 0; i < 2; i++) {
            VkCommandBuffer commands = write_word(&f, queue, 0, 1);
            assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
        }
        assert_told(&told, "device fault: lost on demand", by_driver);
        assert_told(&told, "invalid write to address 0xbad000", by_driver);
        assert_told(&told, "no vendor (code 0x7, data 0x8)", by_driver);
        bool asked = false;
        for (uint32_t i = 0; i < told.count; i++)
            asked = asked || strstr(told.lines[i], "checkpoint 0xc0 was reached by stage 0x1");
        assert_int_equal(asked, by_driver);
        assert_success(bfSetMessageCallback(NULL, NULL));
        fixture_close(&f);
    }
}

/* The trace so far is in its file while the device is still there. */
TEST(the_trace_is_saved)
{
    struct traced traced;
    struct fixture f;
    traced_open(&traced, &f);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&f, 0);
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_FENCE, fence, "the last word"));
    execute(queue, write_word(&f, queue, 0, 1));
    queue_signal(queue, fence, 1);
    VkCommandBuffer commands = write_word(&f, queue, 1, 1);
    f.icd.quiesce();
    f.lost = true;
    f.icd.lose();
    /* A wait for idleness asks nobody if all is known to be complete. */
    assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
    while (!traced_has(&traced, "the last word")) /* a thread writes it */
        sched_yield();
    fixture_close(&f);
    traced_remove(&traced);
}
