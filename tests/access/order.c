/* SPDX-License-Identifier: MIT */
/* What orders two queues and what doesn't: fences in all their forms, the CPU, events, and Vulkan's
 * own objects. In each test the copy queue writes bytes that the graphics queue then reads. */
#include "check.h"

#include "access/vulkan.h"

#define HANDLE(type, n) ((type)(uintptr_t)(0x77000 + 16 * (n)))

/* ------------------------------------------------------------------------------- Queue to queue */

PROGRAM(test_through_two_hops, 0,
        "copy writes, copy signals a 1, compute waits a 1, compute signals b 1, "
        "graphics waits b 1, graphics reads")

/* The signal comes before the wait of its queue. */
PROGRAM(test_a_hop_the_wrong_way_round_orders_nothing, 1,
        "copy writes, copy signals a 1, compute signals b 1, compute waits a 1, "
        "graphics waits b 1, graphics reads")

/* Wait-before-signal: the calls of the consumer come first. */
PROGRAM(test_wait_before_signal, 0,
        "graphics waits a 1, graphics reads, copy writes, copy signals a 1")

PROGRAM(test_wait_before_signal_through_two_hops, 0,
        "graphics waits b 5, graphics reads, compute waits a 1, compute signals b 5, "
        "copy writes, copy signals a 1")

PROGRAM(test_wait_before_a_signal_that_comes_too_early, 1,
        "graphics waits a 1, graphics reads, copy signals a 1, copy writes")

PROGRAM(test_a_value_that_is_skipped, 0,
        "graphics waits a 2, graphics reads, copy writes, copy signals a 7")

WORLD_TEST(test_an_initial_value_satisfies_and_orders_nothing)
{
    struct bf_access_fence *fence = bf_access_fence_add(w->access, 10);
    check_use(w->copy, 1, 0, 64, true);
    bf_access_queue_signal(w->copy, fence, 11);
    bf_access_queue_wait(w->graphics, fence, 10);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 1);
}

/* Either signal may satisfy the wait: only what both come after is certain. The compute queue isn't
 * idle. */
PROGRAM(test_one_of_two_signallers_is_not_certain, 1,
        "copy writes, compute writes 2, copy signals a 1, compute signals a 2, "
        "graphics waits a 1, graphics reads")

PROGRAM(test_what_both_signallers_come_after_is_certain, 0,
        "copy writes, copy signals b 1, copy signals a 1, compute waits b 1, "
        "compute signals a 2, graphics waits a 1, graphics reads")

/* ------------------------------------------------------------------------------------ Rewinding */

/* Frame after frame with one value: the CPU knows that the old signal is overwritten. */
WORLD_TEST(test_a_rewound_fence_used_again)
{
    for (int frame = 0; frame < 3; frame++) {
        check_calls(w, "copy writes, copy signals a 1, graphics waits a 1, graphics reads, "
                       "graphics signals b 1, cpu waits b 1, cpu signals a 0, cpu signals b 0");
    }
    expect_reports(w, 0);
}

/* The CPU rewinds without knowing that the first signal is through: that one may satisfy the second
 * wait. The copy queue isn't idle. */
PROGRAM(test_a_fence_rewound_too_early, 1,
        "copy writes 2, copy signals a 1, cpu signals a 0, copy writes, copy signals a 1, "
        "graphics waits a 1, graphics reads")

/* On an idle queue the fence is set before the call returns. */
PROGRAM(test_a_fence_rewound_after_the_signal_of_an_idle_queue, 0,
        "copy signals a 1, cpu signals a 0, copy writes, copy signals a 1, graphics waits a 1, "
        "graphics reads")

/* The value 1 may come after the wait has been armed. */
PROGRAM(test_a_fence_rewound_by_its_queue, 1,
        "copy writes 2, copy signals a 5, copy signals a 1, copy writes, copy signals a 5, "
        "graphics waits a 5, graphics reads")

PROGRAM(test_a_fence_rewound_by_its_queue_and_known_to_be, 0,
        "copy signals a 5, copy signals a 1, copy signals b 1, cpu waits b 1, copy writes, "
        "copy signals a 5, graphics waits a 5, graphics reads")

/* A wait that was armed before the rewinding is satisfied for good, when its queue comes to it. */
WORLD_TEST(test_a_wait_armed_before_the_fence_is_rewound)
{
    check_calls(w, "copy writes, copy signals a 1, graphics waits b 1, graphics waits a 1, "
                   "graphics reads, cpu signals a 0, cpu signals b 1");
    expect_reports(w, 0);
    check_use(w->graphics, 2, 0, 64, true); /* it has come this far */
    check_use(w->compute, 2, 0, 64, true);
    expect_reports(w, 1);
}

/* -------------------------------------------------------------------------------------- The CPU */

PROGRAM(test_through_a_wait_of_the_cpu, 0,
        "copy writes, copy signals a 1, cpu waits a 1, graphics reads")

/* The call came before the CPU waited. */
PROGRAM(test_a_wait_of_the_cpu_does_not_reach_back, 1,
        "copy writes, copy signals a 1, graphics reads, cpu waits a 1")

/* At the first reading the signal is not there yet. */
PROGRAM(test_through_a_value_that_the_cpu_read, 0,
        "copy signals a 1, copy writes, copy signals a 2, cpu reads a 0, cpu reads a 2, "
        "graphics reads")

PROGRAM(test_too_small_a_value_read_orders_nothing, 1,
        "copy signals a 1, copy writes, copy signals a 2, cpu reads a 1, graphics reads")

/* The queue waits for what the CPU signals once it knows. */
PROGRAM(test_through_a_signal_of_the_cpu, 0,
        "graphics waits b 1, graphics reads, copy writes, copy signals a 1, cpu waits a 1, "
        "cpu signals b 1")

PROGRAM(test_a_signal_of_the_cpu_that_knows_nothing, 1,
        "graphics waits b 1, graphics reads, copy writes, cpu signals b 1")

WORLD_TEST(test_through_an_idle_queue)
{
    check_calls(w, "copy writes, copy idles, graphics reads, compute idles, compute writes");
    expect_reports(w, 1); /* beside the graphics queue's read */
}

WORLD_TEST(test_through_an_idle_device)
{
    check_use(w->copy, 1, 0, 64, true);
    bf_access_idle(w->access);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 0);
}

/* A signal from where nobody sees it: an idle queue has passed its waits, whatever satisfied
 * them. */
WORLD_TEST(test_an_idle_queue_has_passed_its_waits)
{
    check_calls(w, "copy waits a 1, copy writes, copy signals b 1, cpu waits b 1, graphics reads");
    expect_reports(w, 0);
    check_calls(w, "copy waits a 2, copy writes 2, copy idles, graphics writes 2");
    expect_reports(w, 0);
}

WORLD_TEST(test_an_external_fence_counts_as_after_everything)
{
    check_use(w->copy, 1, 0, 64, true);
    bf_access_queue_wait(w->graphics, w->a, 1); /* armed before */
    bf_access_fence_external(w->a);
    check_calls(w, "graphics reads, graphics waits a 9, graphics reads, cpu signals a 9");
    expect_reports(w, 0);
    check_use(w->compute, 1, 0, 64, true); /* the graphics queue has come this far */
    expect_reports(w, 2);
}

WORLD_TEST(test_a_destroyed_fence_lets_its_waits_go)
{
    check_calls(w, "graphics waits a 1, graphics reads, copy writes, copy signals b 3, "
                   "copy waits b 4");
    bf_access_queue_signal(w->copy, w->a, 1); /* under way when the fence goes */
    expect_reports(w, 0);
    bf_access_fence_remove(w->a);
    expect_reports(w, 1);
    bf_access_fence_signal(w->b, 4);
    expect_reports(w, 1);
}

/* --------------------------------------------------------------------------------------- Events */

static const int event1, event2;

static void set(const void *event, bool unseen, struct bf_access_fence *fence, uint64_t value)
{
    bf_access_event_set(event, unseen, fence, value);
}

WORLD_TEST(test_through_an_event_that_the_cpu_saw)
{
    check_calls(w, "copy writes, copy signals a 1");
    set(&event1, false, w->a, 1);
    bf_access_event_seen(w->access, &event1);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 0);
}

WORLD_TEST(test_an_event_that_nobody_saw_orders_nothing)
{
    check_calls(w, "copy writes, copy signals a 1");
    set(&event1, false, w->a, 1);
    bf_access_event_seen(w->access, &event2);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 1);
}

WORLD_TEST(test_an_event_that_may_be_seen_unseen)
{
    check_calls(w, "copy writes, copy signals a 1");
    set(&event1, true, w->a, 1);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 0);
}

WORLD_TEST(test_a_destroyed_event_carries_nothing)
{
    check_calls(w, "copy writes, copy signals a 1");
    set(&event1, false, w->a, 1);
    bf_access_event_remove(w->access, &event1); /* the address may come again */
    bf_access_event_seen(w->access, &event1);
    check_use(w->graphics, 1, 0, 64, false);
    expect_reports(w, 1);
}

WORLD_TEST(test_an_event_of_two_fences)
{
    check_calls(w, "copy writes, copy signals a 1, compute writes 2, compute signals b 1");
    set(&event1, false, w->a, 1);
    set(&event1, false, w->b, 1);
    bf_access_event_seen(w->access, &event1);
    check_calls(w, "graphics reads, graphics reads 2");
    expect_reports(w, 0);
}

/* --------------------------------------------------------------------------------- Vulkan's own */

struct vk {
    VkQueue graphics, copy;
    VkCommandBuffer writes, reads;
    struct bf_access_recording *recordings[2];
    VkSemaphore timeline, binary;
    VkFence fence;
};

static struct vk make_vk(struct world *w)
{
    struct vk vk = {.graphics = HANDLE(VkQueue, 1),
                    .copy = HANDLE(VkQueue, 2),
                    .writes = HANDLE(VkCommandBuffer, 3),
                    .reads = HANDLE(VkCommandBuffer, 4),
                    .timeline = HANDLE(VkSemaphore, 5),
                    .binary = HANDLE(VkSemaphore, 6),
                    .fence = HANDLE(VkFence, 7)};
    bf_access_vkqueue_add(w->access, vk.graphics, "vk graphics", BF_ACCESS_COMPUTE_3D);
    bf_access_vkqueue_add(w->access, vk.copy, "vk copy", BF_ACCESS_COPY);
    bf_access_semaphore_add(w->access, vk.timeline, true, 0);
    bf_access_semaphore_add(w->access, vk.binary, false, 0);
    for (int i = 0; i < 2; i++) {
        vk.recordings[i] = bf_access_recording_create(w->access, i ? vk.reads : vk.writes);
        bf_access_record_bytes(vk.recordings[i], CHECK_BUFFER(1), 0, 64,
                               i ? BF_ACCESS_READ : BF_ACCESS_WRITE, "vkCmdTest");
        bf_access_recording_close(vk.recordings[i]);
    }
    return vk;
}

/* In both forms of vkQueueSubmit by turns. */
static void submit(struct world *w, VkQueue queue, VkSemaphore wait, uint64_t wait_value,
                   VkCommandBuffer buffer, VkSemaphore signal, uint64_t signal_value, VkFence fence)
{
    static int turn;
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait_value, .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal_value};
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO),
                               .pNext = &values,
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .commandBufferCount = buffer != NULL,
                               .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                               .pSignalSemaphores = &signal};
    const VkSemaphoreSubmitInfo wait2 = {.semaphore = wait, .value = wait_value},
                                signal2 = {.semaphore = signal, .value = signal_value};
    const VkCommandBufferSubmitInfo buffer2 = {.commandBuffer = buffer};
    const VkSubmitInfo2 info2 = {.waitSemaphoreInfoCount = wait != VK_NULL_HANDLE,
                                 .pWaitSemaphoreInfos = &wait2,
                                 .commandBufferInfoCount = buffer != NULL,
                                 .pCommandBufferInfos = &buffer2,
                                 .signalSemaphoreInfoCount = signal != VK_NULL_HANDLE,
                                 .pSignalSemaphoreInfos = &signal2};
    if (turn++ % 2)
        bf_access_vkqueue_submit(w->access, queue, 1, &info, fence);
    else
        bf_access_vkqueue_submit2(w->access, queue, 1, &info2, fence);
}

TEST_WITH(test_through_a_timeline_semaphore, world_open, world_close)
{
    struct world *w = *state;
    for (int turn = 0; turn < 2; turn++) {
        struct vk vk = make_vk(w);
        submit(w, vk.graphics, vk.timeline, 3, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
        submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
        expect_reports(w, 0);
        submit(w, vk.graphics, vk.timeline, 2, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
        expect_reports(w, 0);
        world_close(state);
        world_open(state);
    }
}

WORLD_TEST(test_unordered_submissions_are_reported)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 1);
    assert_non_null(strstr(w->check.reports[0].line, "(vkCmdTest)"));
    assert_string_equal(w->check.reports[0].later, "vk graphics");
}

WORLD_TEST(test_a_batch_is_one_packet)
{
    struct vk vk = make_vk(w);
    for (int i = 0; i < 3; i++)
        submit(w, vk.copy, vk.binary, 0, vk.writes, vk.binary, 0, vk.fence);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, NULL, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 1);
    assert_int_equal(w->check.reports[0].packet_earlier, 3);
    assert_int_equal(w->check.reports[0].packet_later, 2);
}

WORLD_TEST(test_through_a_binary_semaphore_again_and_again)
{
    struct vk vk = make_vk(w);
    const VkSemaphore back = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, back, false, 0);
    for (int frame = 0; frame < 4; frame++) {
        submit(w, vk.copy, frame ? back : VK_NULL_HANDLE, 0, vk.writes, vk.binary, 0,
               VK_NULL_HANDLE);
        submit(w, vk.graphics, vk.binary, 0, vk.reads, back, 0, VK_NULL_HANDLE);
    }
    expect_reports(w, 0);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 1);
}

WORLD_TEST(test_through_a_vkfence)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_vkqueue_submit2(w->access, vk.copy, 0, NULL, vk.fence);
    bf_access_vkfence_seen(w->access, vk.fence);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
}

WORLD_TEST(test_a_vkfence_carries_its_last_signal_alone)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, vk.fence);
    bf_access_vkfence_reset(w->access, vk.fence);
    bf_access_vkfence_seen(w->access, vk.fence); /* signalled by whatever */
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 1);
}

WORLD_TEST(test_through_host_operations_on_a_timeline)
{
    struct vk vk = make_vk(w);
    const VkSemaphore go = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, go, true, 0);
    submit(w, vk.graphics, go, 1, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
    bf_access_semaphore_reached(w->access, vk.timeline, 3);
    bf_access_semaphore_signal(w->access, go, 1);
    expect_reports(w, 0);
    bf_access_semaphore_read(w->access, vk.timeline, 3);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
}

WORLD_TEST(test_through_an_idle_vkqueue)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_vkqueue_idle(w->access, vk.copy);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
}

/* A BfFence that is a timeline semaphore, and one that a semaphore follows. */
WORLD_TEST(test_through_imported_and_exported_fences)
{
    struct vk vk = make_vk(w);
    const VkSemaphore follower = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, follower, true, 0);
    struct bf_access_fence *imported = bf_access_semaphore_import(w->access, vk.timeline);
    bf_access_semaphore_export(w->access, follower, w->a);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 1, VK_NULL_HANDLE);
    bf_access_queue_wait(w->compute, imported, 1);
    bf_access_queue_signal(w->compute, w->a, 4);
    submit(w, vk.graphics, follower, 4, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
    bf_access_fence_remove(imported);
    bf_access_semaphore_remove(w->access, follower);
    bf_access_semaphore_remove(w->access, vk.timeline);
    bf_access_queue_signal(w->compute, w->a, 5);
    expect_reports(w, 0);
}

/* Rendered, presented, acquired, rendered again by another queue. */
WORLD_TEST(test_through_presentation)
{
    struct vk vk = make_vk(w);
    const VkSwapchainKHR swapchain = HANDLE(VkSwapchainKHR, 9);
    const VkPresentInfoKHR present = {.waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &vk.binary,
                                      .swapchainCount = 1,
                                      .pSwapchains = &swapchain};
    const VkSemaphore acquired = HANDLE(VkSemaphore, 10);
    bf_access_semaphore_add(w->access, acquired, false, 0);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.binary, 0, VK_NULL_HANDLE);
    bf_access_present(w->access, &present);
    bf_access_acquire(w->access, swapchain, acquired, VK_NULL_HANDLE);
    submit(w, vk.graphics, acquired, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
    bf_access_swapchain_remove(w->access, swapchain);
}

WORLD_TEST(test_semaphores_that_others_may_signal)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_semaphore_external(w->access, vk.timeline);
    submit(w, vk.graphics, vk.timeline, 77, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect_reports(w, 0);
}

WORLD_TEST(test_a_shared_semaphore_waited_for_before_its_signal)
{
    struct vk vk = make_vk(w);
    bf_access_semaphore_external(w->access, vk.timeline);
    submit(w, vk.graphics, vk.timeline, 1, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 1, VK_NULL_HANDLE);
    expect_reports(w, 0);
}

/* ------------------------------------------------------------------------ Idle and half idle -- */

/* While the check goes through the queues, what it learns may be the end of the one it is at. */
WORLD_TEST(test_a_queue_that_ends_while_the_device_idles)
{
    struct bf_access_fence *c = bf_access_fence_add(w->access, 0);
    struct bf_access_queue *waits = bf_access_queue_add(w->access, "waits", BF_ACCESS_COPY),
                           *ends = bf_access_queue_add(w->access, "ends", BF_ACCESS_COPY);
    bf_access_fence_external(w->b);
    bf_access_queue_wait(ends, w->a, 1);
    bf_access_queue_signal(ends, c, 1);
    bf_access_queue_wait(waits, c, 1);
    bf_access_queue_signal(waits, w->b, 1);
    bf_access_queue_remove(ends);
    bf_access_idle(w->access);
    bf_access_fence_remove(c);
    check_calls(w, "copy writes, copy signals a 2, graphics waits a 2, graphics reads");
    expect_reports(w, 0);
}

/* What the CPU may have waited for unseen: work that is held can't be among it. */
WORLD_TEST(test_what_has_run_is_over_and_what_is_held_is_not)
{
    check_calls(w, "copy writes, graphics waits a 1, graphics reads 2");
    bf_access_ran(w->access);
    check_calls(w, "compute writes, compute writes 2");
    expect_reports(w, 0);
    check_calls(w, "cpu signals a 1");
    expect_reports(w, 1);
}

WORLD_TEST(test_held_work_that_its_own_signals_order)
{
    check_calls(w, "graphics waits a 1, graphics reads, copy waits b 1, copy writes, "
                   "copy signals a 1");
    bf_access_ran(w->access);
    check_calls(w, "cpu signals b 1");
    expect_reports(w, 0);
}

/* ----------------------------------------------------------------- Fences that others signal -- */

WORLD_TEST(test_an_external_wait_before_the_signal_of_a_queue)
{
    bf_access_fence_external(w->a);
    check_calls(w, "graphics waits a 1, graphics reads, copy writes, copy signals a 1");
    expect_reports(w, 0);
    check_calls(w, "compute writes"); /* all three have run */
    expect_reports(w, 1);
}

WORLD_TEST(test_a_wait_that_was_called_before_the_export)
{
    check_calls(w, "graphics waits a 1, graphics reads");
    bf_access_fence_external(w->a);
    check_calls(w, "copy writes, copy signals a 1");
    expect_reports(w, 0);
}

/* Somebody else has signalled, as the CPU sees by what came after. */
WORLD_TEST(test_a_signal_behind_an_external_wait_is_seen)
{
    check_calls(w, "copy writes");
    bf_access_fence_external(w->a);
    check_calls(w, "graphics waits a 1, graphics reads, graphics signals b 1, cpu waits b 1");
    expect_reports(w, 0);
    check_calls(w, "compute writes"); /* the wait comes after the copy queue's write */
    expect_reports(w, 0);
}

/* Both are external: what is behind the wait has run when its signal is seen. */
WORLD_TEST(test_an_external_signal_behind_an_external_wait_is_seen)
{
    bf_access_fence_external(w->a);
    bf_access_fence_external(w->b);
    check_calls(w, "graphics waits a 1, graphics reads, graphics signals b 1, cpu waits b 1, "
                   "compute writes, copy writes 2, graphics reads 2");
    expect_reports(w, 1); /* of buffer 2: the graphics queue isn't held any more */
}

/* ... but another one's wait isn't over because somebody has signalled the fence. */
WORLD_TEST(test_an_external_fence_is_seen_while_its_signal_is_held)
{
    bf_access_fence_external(w->b);
    check_calls(w, "graphics waits a 1, graphics reads, graphics signals b 1, cpu waits b 1, "
                   "copy writes, copy signals a 1");
    expect_reports(w, 0);
}

/* What was signalled before the export may have been seen unnoticed, too. */
WORLD_TEST(test_a_signal_before_the_export)
{
    check_calls(w, "copy writes, copy signals a 1");
    bf_access_fence_external(w->a);
    check_calls(w, "graphics reads");
    expect_reports(w, 0);
}

/* The program may read the fence's memory, but nobody else signals it. */
WORLD_TEST(test_a_fence_whose_memory_is_mapped)
{
    check_calls(w, "copy writes, copy signals a 1");
    bf_access_fence_mapped(w->a);
    check_calls(w, "graphics reads, copy writes 2, copy signals a 2, graphics reads 2");
    expect_reports(w, 0);
    check_calls(w, "copy writes 3, graphics waits a 2, graphics reads 3");
    expect_reports(w, 1);
}
