/* SPDX-License-Identifier: MIT */
/* Priority windows (scheduler/window.h), on one VkQueue of the test driver, whose clock is the
 * test: what it has been given and hasn't finished is counted while it is paused. Nothing is known
 * yet of how long packets take: each of a lower queue goes alone. */
#include "flood.h"

#include <belfry/background.h>
#include <belfry/preemption.h>
#include <belfry/user_mode_submission.h>

#include "base/clock.h"
#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/window.h"

/* On a VkQueue of the program's, which writes its number. 'wait' and 'signal' are of the timeline,
 * 0: none. */
static void submit(struct fixture *f, uint32_t queue, VkSemaphore timeline, uint64_t wait,
                   uint64_t signal)
{
    assert_submitted(f->queues[0][queue], .wait = wait ? timeline : VK_NULL_HANDLE,
                     .wait_value = wait, .commands = write_word_in(f, 0, queue, queue + 1),
                     .signal = signal ? timeline : VK_NULL_HANDLE, .signal_value = signal);
}

FIXTURE_TEST(with_one_priority_nothing_is_held)
{
    BfCommandQueue low = low_of(f), other = low_of(f), same = low_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    flood(f, other, FLOOD);
    assert_depth(f, 2 * FLOOD);
    /* An engine that has windows later, and no longer. */
    assert_success(bfSetCommandQueuePriority(same, BF_COMMAND_QUEUE_PRIORITY_HIGH));
    assert_success(bfSetCommandQueuePriority(same, BF_COMMAND_QUEUE_PRIORITY_NORMAL));
    flood(f, low, 1);
    assert_depth(f, 2 * FLOOD + 1);
    drain(f, FLOOD);
}

FIXTURE_TEST(a_flood_is_held_and_a_high_packet_passes_it)
{
    BfCommandQueue high = high_of(f), low = low_of(f);
    BfFence fence = make_fence(f, 0);
    f->icd.pause();
    BfFence slow = flood(f, low, FLOOD);
    assert_depth(f, 1);
    execute(high, write_word(f, high, FLOOD, FLOOD + 1));
    queue_signal(high, fence, 1);
    assert_depth(f, 2);
    step(f);
    step(f);
    assert_value(fence, 1);
    assert_value(slow, 1);
    drain(f, FLOOD + 1);
}

/* PW-1: who has submitted wants the VkQueue at any moment, also if that waits. */
FIXTURE_TEST(who_submits_behind_a_wait_is_active)
{
    BfCommandQueue high = high_of(f), low = low_of(f);
    BfFence gate = make_fence(f, 0);
    const struct bf_window *window = &((struct bf_command_queue *)high)->base.engine->window;
    queue_wait(high, gate, 1);
    execute(low, write_word(f, low, 0, 1));
    assert_int_equal(window->active_ns[BF_LEVEL_HIGH], 0);
    const uint64_t before = bf_now_ns();
    execute(high, write_word(f, high, 1, 2));
    assert_true(window->active_ns[BF_LEVEL_HIGH] >= before);
    cpu_signal(gate, 1);
    drain(f, 2);
}

/* The driver has no memory for the wait of who opens the window: it is asked again. */
FIXTURE_TEST(a_window_opens_without_memory_for_a_wait)
{
    BfCommandQueue low = low_of(f);
    high_of(f);
    f->icd.pause();
    f->icd.set_fault("vkWaitSemaphores", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    f->icd.set_block(
        &(struct belfry_icd_block){.command = "vkWaitSemaphores", .first = 1, .late = true});
    BfFence fence = flood(f, low, 2);
    while (f->icd.blocked() < 1) {
        BfDeviceRemovedReason reason;
        assert_success(bfGetDeviceRemovedReason(f->bf, &reason));
        sched_yield();
    }
    f->icd.set_fault(NULL, 0, VK_SUCCESS);
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    drain(f, 2);
    assert_value(fence, 2);
}

FIXTURE_TEST(a_window_opens_when_what_is_in_flight_has_ended)
{
    BfCommandQueue low = low_of(f);
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    step(f);
    while (depth(f) < 1) /* nobody but Belfry's own thread looks */
        sched_yield();
    drain(f, FLOOD);
}

FIXTURE_TEST(what_is_held_goes_when_the_priorities_are_equal)
{
    for (int how = 0; how < 3; how++) {
        BfCommandQueue high = high_of(f), low = low_of(f);
        f->icd.pause();
        flood(f, low, FLOOD);
        assert_depth(f, 1);
        if (how == 0)
            assert_success(bfSetCommandQueuePriority(high, BF_COMMAND_QUEUE_PRIORITY_NORMAL));
        else if (how == 1)
            assert_success(bfSetCommandQueuePriority(low, BF_COMMAND_QUEUE_PRIORITY_HIGH));
        else
            drop_queue(f, high);
        /* The VkQueue is of normal priority, too, but has nothing held. */
        assert_depth(f, FLOOD);
        drain(f, FLOOD);
        for (uint32_t i = f->queue_count; i-- > 0;)
            drop_queue(f, f->made_queues[i]);
    }
}

struct execution {
    BfCommandQueue queue;
    VkCommandBuffer commands;
};

static void execution_run(void *argument)
{
    struct execution *execution = argument;
    execute(execution->queue, execution->commands);
}

/* Both are set free by one signal, low first in each order that queues are looked at: and low gives
 * back what high has written before. Nobody looks before all are free: a call on the VkQueue
 * blocks. */
FIXTURE_TEST(high_packets_are_handed_over_first)
{
    BfCommandQueue lows[4], high, blocked = low_of(f);
    BfFence fence = make_fence(f, 0);
    for (int i = 0; i < 4; i++)
        lows[i] = low_of(f);
    high = high_of(f);
    for (uint32_t round = 1; round <= 8; round++) {
        for (uint32_t i = 0; i < round; i++) { /* whoever would be looked at first, it changes */
            execute(blocked, write_word(f, blocked, FLOOD, 1));
            await_idle(blocked);
        }
        f->icd.pause();
        for (uint32_t i = 0; i < 4; i++) {
            queue_wait(lows[i], fence, round);
            execute(lows[i], copy_word(f, lows[i], 0, i + 1));
        }
        queue_wait(high, fence, round);
        execute(high, write_word(f, high, 0, round));
        struct execution before = {blocked, write_word(f, blocked, FLOOD, 1)};
        struct thread thread;
        f->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
        thread_start(&thread, execution_run, &before);
        f->icd.await_blocked(1);
        f->icd.set_block(NULL);
        cpu_signal(fence, round);
        f->icd.release(UINT64_MAX);
        thread_join(&thread);
        drain(f, 0);
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(read_word(f, i + 1), round);
    }
}

/* Nothing in flight ever ends, and still each queue gets a packet to the driver, in turn: told
 * apart by how many command buffers they have, a barrier aside. */
FIXTURE_TEST(nobody_starves)
{
    enum { LOWS = 3 };
    struct belfry_icd_record records[2 * LOWS];
    BfCommandQueue lows[LOWS];
    uint32_t seen = 0;
    keep_whole(f);
    high_of(f);
    f->icd.pause();
    f->icd.record_start(records, 2 * LOWS);
    for (uint32_t i = 0; i < LOWS; i++)
        lows[i] = low_of(f);
    for (uint32_t n = 0; n < 4; n++) {
        for (uint32_t i = 0; i < LOWS; i++) {
            VkCommandBuffer buffers[2 * LOWS];
            for (uint32_t k = 0; k < 2 * i + 1; k++)
                buffers[k] = write_word(f, lows[i], k, k + 1);
            assert_success(bfQueueExecute(lows[i], 2 * i + 1, buffers));
        }
    }
    while (depth(f) < LOWS + 1)
        sched_yield();
    for (uint32_t i = 0; i < LOWS + 1; i++)
        seen |= 1u << (records[i].command_buffers - 1) / 2;
    assert_int_equal(seen, (1u << LOWS) - 1);
    f->icd.resume();
    drain(f, 2 * LOWS - 1);
    f->icd.record_stop();
}

/* Nor behind a queue that has been held for longer, and is suspended. */
FIXTURE_TEST(nobody_starves_behind_a_suspended_queue)
{
    BfCommandQueue suspended = low_of(f), low = low_of(f);
    high_of(f);
    f->icd.pause();
    BfFence before = flood(f, suspended, 3), fence = flood(f, low, 3);
    assert_success(bfSuspendCommandQueue(suspended));
    while (depth(f) < 3)
        sched_yield();
    assert_success(bfResumeCommandQueue(suspended));
    drain(f, 3);
    assert_value(before, 3);
    assert_value(fence, 3);
}

static void open_gate(void *gate)
{
    assert_success(bfSignalFence(gate, 1));
}

/* The same of one that had a packet while batches were full of higher ones'. */
FIXTURE_TEST(nobody_starves_behind_who_was_suspended_beside_full_batches)
{
    BfCommandQueue suspended = low_of(f), high = high_of(f), low = low_of(f);
    BfFence gate = make_fence(f, 0);
    struct thread thread;
    assert_success(bfSuspendCommandQueue(suspended));
    flood(f, suspended, 1);
    queue_wait(high, gate, 1);
    flood(f, high, 2 * BF_ENGINE_BATCH);
    f->icd.set_block(
        &(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1, .late = true});
    thread_start(&thread, open_gate, gate);
    f->icd.await_blocked(1);
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    thread_join(&thread);
    await_idle(high);
    f->icd.pause();
    flood(f, low, 3);
    while (depth(f) < 3)
        sched_yield();
    assert_success(bfResumeCommandQueue(suspended));
    drain(f, 0);
}

/* Nor behind higher queues that have more than goes into one batch, again and again. */
FIXTURE_TEST(nobody_starves_behind_full_batches)
{
    enum { BATCHES = 4 };
    BfCommandQueue high = high_of(f), low = low_of(f);
    BfFence gate = make_fence(f, 0);
    struct thread thread;
    queue_wait(high, gate, 1);
    queue_wait(low, gate, 1);
    BfFence many = flood(f, high, BATCHES * BF_ENGINE_BATCH), slow = flood(f, low, 1);
    f->icd.pause();
    f->icd.set_block(
        &(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1, .late = true});
    thread_start(&thread, open_gate, gate);
    f->icd.await_blocked(1);
    f->icd.set_block(NULL);
    for (uint64_t until = bf_now_ns() + 2 * BF_WINDOW_OVERDUE_NS; bf_now_ns() < until;)
        sched_yield();
    f->icd.release(UINT64_MAX);
    thread_join(&thread);
    while (bfGetFenceCompletedValue(slow) < 1)
        step(f);
    assert_true(bfGetFenceCompletedValue(many) <= 2 * BF_ENGINE_BATCH);
    drain(f, BATCHES * BF_ENGINE_BATCH);
    assert_value(many, BATCHES * BF_ENGINE_BATCH);
    assert_value(slow, 1);
}

/* What packets cost is learnt when they end: then one runs and others are behind it. Not while
 * Belfry may not adapt. */
TEST(costs_are_learnt_but_not_when_they_are_frozen)
{
    struct fixture fixture, *f = &fixture;
    fixture_open(f, SETTINGS("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE=on"));
    for (int frozen = 1; frozen >= 0; frozen--) {
        BfCommandQueue low = low_of(f);
        high_of(f);
        assert_success(bfSetBackgroundProcessingMode(
            f->bf,
            frozen ? BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM
                   : BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
            BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
        flood(f, low, FLOOD);
        drain(f, FLOOD);
        f->icd.pause();
        flood(f, low, FLOOD);
        assert_int_equal(depth(f) > 1, !frozen);
        drain(f, FLOOD);
    }
    fixture_close(f);
}

/* A VkQueue of an attached device's is the driver's, too: what goes there is not held. */
FIXTURE_TEST(vkqueues_are_held_under_the_layer_alone)
{
    high_of(f);
    f->icd.pause();
    for (uint32_t i = 0; i < FLOOD; i++) {
        const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                  .commandBuffer = write_word_in(f, 0, i, i + 1)};
        const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                    .pCommandBufferInfos = &buffer};
        VkQueue queue = f->queues[0][0];
        assert_success(f->layered ? vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE)
                                  : bfVkQueueSubmit(f->bf, queue, 1, &info, VK_NULL_HANDLE));
    }
    assert_depth(f, f->layered ? 1 : FLOOD);
    f->icd.resume();
    if (f->layered)
        assert_success(vkQueueWaitIdle(f->queues[0][0]));
    else
        f->icd.quiesce();
    drain(f, FLOOD);
}

/* As in Windows 7: in the order of submission, and batches as they come. */
TEST_AROUND(without_preemption_nothing_is_held_or_split, struct fixture, f, fixture_open,
            fixture_close, SETTINGS("VK_BELFRY_MULTI_ENGINE_PREEMPTION=false"))
{
    BfCommandQueue low = low_of(f);
    const VkCommandBufferSubmitInfo buffers[] = {
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = write_word_in(f, 0, FLOOD, 21)},
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = write_word_in(f, 0, FLOOD + 1, 22)}};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 2,
                                .pCommandBufferInfos = buffers};
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    assert_depth(f, FLOOD);
    assert_success(f->layered ? vkQueueSubmit2(f->queues[0][0], 1, &info, VK_NULL_HANDLE)
                              : bfVkQueueSubmit(f->bf, f->queues[0][0], 1, &info, VK_NULL_HANDLE));
    assert_depth(f, FLOOD + 1);
    f->icd.resume();
    f->icd.quiesce();
    drain(f, FLOOD + 2);
}

static void expect_nothing_held(struct fixture *f)
{
    BfCommandQueue low = low_of(f);
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    assert_depth(f, FLOOD);
    drain(f, FLOOD);
}

/* Without the promise that nobody outside can tell. (The layer sees for itself.) */
TEST(where_others_could_tell_nothing_is_held)
{
    struct fixture f;
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    if (fixture_is_layered())
        return;
    fixture_open(&f, NULL);
    bfDetachDevice(f.bf);
    BfAttachInfo info = fixture_attach_info(&f, queues);
    info.sharesNothing = VK_FALSE;
    assert_success(bfAttachDevice(&info, &f.bf));
    BfPreemptionCaps caps = {BF_TYPE(PREEMPTION_CAPS)};
    assert_success(bfGetPreemptionCaps(f.bf, &caps)); /* nor promised */
    assert_int_equal(caps.graphicsPreemptionGranularity, BF_GRAPHICS_PREEMPTION_NONE);
    assert_int_equal(caps.computePreemptionGranularity, BF_COMPUTE_PREEMPTION_NONE);
    assert_false(caps.schedulingCaps & BF_SCHEDULING_CAPS_PREEMPTION_AWARE_BIT);
    expect_nothing_held(&f);
    fixture_close(&f);
}

/* The layer sees when that ends: what others may look at from then on, nothing is held before. */
TEST(what_becomes_exportable_ends_the_promise)
{
    struct fixture f;
    const VkExportSemaphoreCreateInfo external = {
        VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &external};
    if (!fixture_is_layered())
        return;
    fixture_open(&f, NULL);
    BfPreemptionCaps caps = {BF_TYPE(PREEMPTION_CAPS)};
    assert_success(bfGetPreemptionCaps(f.bf, &caps));
    assert_int_equal(caps.computePreemptionGranularity, BF_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY);
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(f.device, &info, NULL, &semaphore));
    vkDestroySemaphore(f.device, semaphore, NULL);
    assert_success(bfGetPreemptionCaps(f.bf, &caps));
    assert_int_equal(caps.computePreemptionGranularity, BF_COMPUTE_PREEMPTION_NONE);
    assert_false(caps.schedulingCaps & BF_SCHEDULING_CAPS_PREEMPTION_AWARE_BIT);
    expect_nothing_held(&f);
    fixture_close(&f);
}

static _Atomic uint32_t told;

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    told += strstr(text, "the GPU has been busy with") && strstr(text, "window holds 1 queue");
}

/* The watchdog says so, once nothing has moved for a while. */
TEST(what_is_held_is_told)
{
    struct fixture f;
    assert_success(bfSetMessageCallback(hear, NULL));
    /* Well before what is overdue goes, which is progress. */
    fixture_open(&f, SETTINGS("VK_BELFRY_MULTI_ENGINE_WATCHDOG=15"));
    BfCommandQueue low = low_of(&f);
    high_of(&f);
    told = 0;
    f.icd.pause();
    flood(&f, low, FLOOD);
    while (!told)
        sched_yield();
    drain(&f, FLOOD);
    fixture_close(&f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

static void hear_kept(BfMessageSeverity severity, const char *text, void *context)
{
    told += strstr(text, "a thread keeps VkQueue 0:0") != NULL;
}

static void execute_one(void *argument)
{
    struct fixture *f = argument;
    execute(f->made_queues[0], write_word(f, f->made_queues[0], 0, 1));
}

/* Nothing goes while a program has the VkQueue to itself; under the layer Belfry's own may. */
TEST(who_keeps_a_vkqueue_is_told)
{
    struct fixture f;
    struct thread thread = {0};
    assert_success(bfSetMessageCallback(hear_kept, NULL));
    fixture_open(&f, SETTINGS("VK_BELFRY_MULTI_ENGINE_WATCHDOG=50"));
    low_of(&f);
    told = 0;
    assert_success(bfLockVkQueue(f.bf, f.queues[0][0]));
    thread_start(&thread, execute_one, &f);
    while (!told && !f.layered)
        sched_yield();
    assert_success(bfUnlockVkQueue(f.bf, f.queues[0][0]));
    thread_join(&thread);
    drain(&f, 1);
    fixture_close(&f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

static void wait_idle(void *device)
{
    vkDeviceWaitIdle(device);
}

/* The layer's vkDeviceWaitIdle covers what was submitted before. */
FIXTURE_TEST(who_waits_for_the_device_waits_for_what_is_held)
{
    struct thread waiter = {0};
    BfCommandQueue low = low_of(f);
    high_of(f);
    if (!f->layered)
        return;
    f->icd.pause();
    flood(f, low, FLOOD);
    thread_start(&waiter, wait_idle, f->device);
    while (depth(f) < FLOOD)
        sched_yield();
    f->icd.resume();
    thread_join(&waiter);
    assert_int_equal(read_word(f, FLOOD - 1), FLOOD);
}

static void make_exportable(void *device)
{
    const VkExportSemaphoreCreateInfo external = {
        VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
        .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &external};
    VkSemaphore semaphore;
    if (vkCreateSemaphore(device, &info, NULL, &semaphore) == VK_SUCCESS)
        vkDestroySemaphore(device, semaphore, NULL);
}

/* PW-7: what is to be handed over has been when the call returns, though another thread does it. */
FIXTURE_TEST(who_flushes_waits_for_who_does_already)
{
    struct thread first = {0}, second = {0};
    BfCommandQueue low = low_of(f);
    high_of(f);
    if (!f->layered)
        return;
    f->icd.pause();
    flood(f, low, 2 * BF_ENGINE_BATCH);
    f->icd.set_block(
        &(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1, .late = true});
    thread_start(&first, wait_idle, f->device);
    f->icd.await_blocked(1);
    thread_start(&second, make_exportable, f->device);
    thread_await_stop(&second); /* it waits for the engine's lock */
    assert_false(second.finished);
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    f->icd.resume();
    thread_join(&second);
    thread_join(&first);
}

static uint64_t depth_of(struct fixture *f, uint32_t queue)
{
    return f->icd.queue_depth(0, queue);
}

/* On two VkQueues with windows: a packet that waits for the other one's goes when the value is
 * there, or somebody waits for the device's idleness. */
FIXTURE_TEST_WITH(no_packet_waits_on_a_shared_vkqueue, ENVIRONMENT("SHAPE=q2"), NULL)
{
    struct thread waiter = {0};
    VkSemaphore timeline = make_timeline(f, 0);
    BfCommandQueue lows[2];
    for (int i = 0; i < 4; i++) /* two on either of them */
        if (i < 2)
            high_of(f);
        else
            lows[i - 2] = low_of(f);
    for (uint64_t round = 1; round <= 2 && f->layered; round++) {
        f->icd.pause();
        submit(f, 1, timeline, 0, round);
        submit(f, 0, timeline, round, 0);
        assert_int_equal(depth_of(f, 1), 1);
        assert_int_equal(depth_of(f, 0), 0);
        if (round == 1)
            assert_true(f->icd.step(0, 1));
        else
            thread_start(&waiter, wait_idle, f->device);
        while (depth_of(f, 0) == 0)
            sched_yield();
        f->icd.resume();
        assert_success(vkQueueWaitIdle(f->queues[0][0]));
        drain(f, 2);
    }
    if (f->layered)
        thread_join(&waiter);
    BfFence fence = make_fence(f, 0);
    f->icd.pause();
    execute(lows[0], write_word(f, lows[0], 0, 1));
    queue_signal(lows[0], fence, 1);
    queue_wait(lows[1], fence, 1);
    execute(lows[1], write_word(f, lows[1], 1, 2));
    assert_int_equal(depth_of(f, 0) + depth_of(f, 1), 1);
    assert_true(f->icd.step(0, depth_of(f, 1)));
    f->icd.quiesce();
    while (depth_of(f, 0) + depth_of(f, 1) == 0)
        sched_yield();
    drain(f, 2);
}

/* The same of a value that a submission signals which can't be copied. */
FIXTURE_TEST_WITH(no_packet_waits_for_what_cannot_be_copied, ENVIRONMENT("SHAPE=q2"), NULL)
{
    if (!f->layered)
        return;
    VkSemaphore timeline = make_timeline(f, 0);
    for (int i = 0; i < 4; i++) /* both levels on both VkQueues */
        make_queue_of(f, i < 2 ? BF_COMMAND_QUEUE_PRIORITY_HIGH : BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    f->icd.pause();
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = write_word_in(f, 0, 1, 2)};
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = timeline,
                                          .value = 1};
    const VkSubmitInfo2 unknown = {VK_TYPE(SUBMIT_INFO_2),        .pNext = STRANGER,
                                   .commandBufferInfoCount = 1,   .pCommandBufferInfos = &buffer,
                                   .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &signal};
    assert_success(vkQueueSubmit2(f->queues[0][1], 1, &unknown, VK_NULL_HANDLE));
    submit(f, 0, timeline, 1, 0);
    assert_int_equal(depth_of(f, 1), 1);
    assert_int_equal(depth_of(f, 0), 0);
    f->icd.resume();
    assert_success(vkDeviceWaitIdle(f->device));
    drain(f, 0);
}

/* On a VkQueue of the program's: a batch that signals a binary semaphore, and one more in the same
 * call. */
static void submit_signal(struct fixture *f, uint32_t queue, VkSemaphore signal)
{
    const VkCommandBuffer commands = write_word_in(f, 0, queue, queue + 1);
    const VkSubmitInfo infos[2] = {
        {VK_TYPE(SUBMIT_INFO), .commandBufferCount = 1, .pCommandBuffers = &commands,
         .signalSemaphoreCount = 1, .pSignalSemaphores = &signal},
        {VK_TYPE(SUBMIT_INFO)},
    };
    assert_success(vkQueueSubmit(f->queues[0][queue], 2, infos, VK_NULL_HANDLE));
}

/* PW-4, of a binary semaphore, whether there are windows on the VkQueue that signals it or not:
 * what waits for it goes when the signal is there, or somebody waits for the device's idleness, and
 * a higher queue goes meanwhile. */
FIXTURE_TEST_WITH(no_packet_waits_for_a_binary_semaphore_on_a_shared_vkqueue,
                  ENVIRONMENT("SHAPE=q2"), NULL)
{
    VkSemaphore semaphore = vulkan_binary(f->device);
    for (int highs = 1; highs <= 2 && f->layered; highs++) {
        BfCommandQueue high = high_of(f);
        f->icd.pause();
        execute(high, write_word(f, high, 2, 3));
        const uint32_t own = depth_of(f, 1), other = 1 - own; /* the VkQueue that it is on */
        f->icd.resume();
        await_idle(high);
        for (int round = 0; round < 4; round++) {
            struct thread waiter = {0};
            f->icd.pause();
            submit_signal(f, other, semaphore);
            assert_submitted(f->queues[0][own], .wait = semaphore,
                             .commands = write_word_in(f, 0, own, own + 1));
            assert_int_equal(depth_of(f, other), 2);
            assert_int_equal(depth_of(f, own), 0);
            execute(high, write_word(f, high, 2, 3));
            assert_int_equal(depth_of(f, own), 1);
            assert_true(f->icd.step(0, own));
            f->icd.quiesce();
            if (round % 2)
                thread_start(&waiter, wait_idle, f->device);
            else
                assert_true(f->icd.step(0, other));
            while (depth_of(f, own) == 0)
                sched_yield();
            f->icd.resume();
            for (int i = 0; i < 2; i++)
                assert_success(vkQueueWaitIdle(f->queues[0][i]));
            if (round % 2)
                thread_join(&waiter);
            drain(f, 3);
        }
    }
    vkDestroySemaphore(f->device, semaphore, NULL);
}

/* PW-4, of a signal from before there were windows. */
FIXTURE_TEST_WITH(no_packet_waits_for_what_was_signalled_before, ENVIRONMENT("SHAPE=q2"), NULL)
{
    VkSemaphore timeline = make_timeline(f, 0);
    if (!f->layered)
        return;
    f->icd.pause();
    submit(f, 1, timeline, 0, 1);
    for (int i = 0; i < 2; i++) /* on either of them */
        high_of(f);
    submit(f, 0, timeline, 1, 0);
    assert_int_equal(depth_of(f, 1), 1);
    assert_int_equal(depth_of(f, 0), 0);
    assert_true(f->icd.step(0, 1));
    while (depth_of(f, 0) == 0)
        sched_yield();
    f->icd.resume();
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
    drain(f, 2);
}

/* PW-4: what has waited for a value to be seen goes to the driver once no queue is higher. */
FIXTURE_TEST_WITH(what_windows_limit_no_more_waits_in_the_driver, ENVIRONMENT("SHAPE=q2"), NULL)
{
    VkSemaphore timeline = make_timeline(f, 0);
    BfCommandQueue highs[2];
    if (!f->layered)
        return;
    for (int i = 0; i < 2; i++) /* on either of them */
        highs[i] = high_of(f);
    f->icd.pause();
    submit(f, 1, timeline, 0, 1);
    submit(f, 0, timeline, 1, 0);
    assert_int_equal(depth_of(f, 0), 0);
    for (int i = 0; i < 2; i++)
        assert_success(bfSetCommandQueuePriority(highs[i], BF_COMMAND_QUEUE_PRIORITY_NORMAL));
    assert_int_equal(depth_of(f, 0), 1);
    f->icd.resume();
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
    drain(f, 2);
}

/* Lost, or destroyed, while something is held. */
FIXTURE_TEST(a_device_is_lost_with_packets_held)
{
    BfCommandQueue low = low_of(f);
    BfFence fence = make_fence(f, 0);
    high_of(f);
    f->icd.pause();
    flood(f, low, FLOOD);
    queue_signal(low, fence, 1);
    f->lost = true;
    f->icd.lose();
    f->icd.resume();
    assert_int_equal(bfQueueWaitIdle(low), VK_ERROR_DEVICE_LOST);
    assert_value(fence, UINT64_MAX);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
