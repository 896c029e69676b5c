/* SPDX-License-Identifier: MIT */
/* Packets held between their work and their signals, and queues that go step by step. */
#include "fixture.h"

/* Held: the word is written, and nothing yet says so. */
FIXTURE_TEST(test_a_held_packet_has_written_and_not_signalled, "SHAPE=q2 QUIET=1")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    VkFence fence = vulkan_fence(f->device, false);
    VkCommandBuffer commands = device_store(&f->base, 0, 0, 42);
    f->icd.hold_before_signals(true);
    assert_success(vulkan_submit(f->queues[0][0], (struct vulkan_batch){.commands = commands,
                                                                        .signal = a,
                                                                        .signal_value = 1,
                                                                        .fence = fence}));
    assert_success(vulkan_submit(
        f->queues[0][1], (struct vulkan_batch){.wait = a,
                                               .wait_value = 1,
                                               .commands = device_store(&f->base, 0, 1, 43)}));
    f->icd.quiesce();
    assert_int_equal(f->words[0], 42);
    assert_int_equal(f->words[1], 0);
    assert_int_equal(vulkan_value(f->device, a), 0);
    assert_int_equal(vkGetFenceStatus(f->device, fence), VK_NOT_READY);
    assert_int_equal(f->icd.queue_depth(0, 0), 1);
    assert_int_equal(f->icd.held(), 1);
    /* Still in use, too. */
    vkFreeCommandBuffers(f->device, f->pools[0], 1, &commands);
    f->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(f->device));
    assert_int_equal(f->icd.held(), 0);
    assert_int_equal(vulkan_value(f->device, a), 1);
    assert_int_equal(vkGetFenceStatus(f->device, fence), VK_SUCCESS);
    assert_int_equal(f->words[1], 43);
    assert_int_equal(vulkan_counters(&f->icd).violations[BELFRY_ICD_DESTROY_PENDING], 1);
    f->icd.reset_counters();
    vkDestroyFence(f->device, fence, NULL);
    vkDestroySemaphore(f->device, a, NULL);
}

/* What has no command buffers only passes on what others have done. */
FIXTURE_TEST(test_packets_without_command_buffers_are_not_held, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    f->icd.hold_before_signals(true);
    assert_success(
        vulkan_submit(f->queues[0][0], (struct vulkan_batch){.signal = a, .signal_value = 1}));
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 0);
    assert_int_equal(vulkan_value(f->device, a), 1);
    f->icd.hold_before_signals(false);
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_a_step_releases_one_held_packet_of_one_queue, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    VkSemaphore b = vulkan_timeline(f->device, 0);
    assert_false(f->icd.step(0, 0));
    f->icd.hold_before_signals(true);
    for (uint32_t i = 1; i <= 2; i++) {
        assert_success(vulkan_submit(
            f->queues[0][0], (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, i),
                                                   .signal = a,
                                                   .signal_value = i}));
        assert_success(vulkan_submit(
            f->queues[0][1], (struct vulkan_batch){.commands = device_store(&f->base, 0, 1, i),
                                                   .signal = b,
                                                   .signal_value = i}));
    }
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 2);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 2);
    assert_int_equal(vulkan_value(f->device, a), 1);
    assert_int_equal(vulkan_value(f->device, b), 0);
    assert_int_equal(f->words[0], 2);
    assert_int_equal(f->words[1], 1);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 1);
    assert_false(f->icd.step(0, 0));
    assert_false(f->icd.step(0, 2));
    assert_int_equal(vulkan_value(f->device, a), 2);
    f->icd.hold_before_signals(false);
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, b), 2);
    vkDestroySemaphore(f->device, a, NULL);
    vkDestroySemaphore(f->device, b, NULL);
}

/* The worker sleeps soundly, whatever else is handed to its queue. */
FIXTURE_TEST(test_nothing_wakes_a_held_queue, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    f->icd.hold_before_signals(true);
    assert_success(vulkan_submit(
        f->queues[0][0], (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1)}));
    f->icd.quiesce();
    uint64_t wakeups = vulkan_counters(&f->icd).wakeups;
    assert_success(
        vulkan_submit(f->queues[0][0], (struct vulkan_batch){.signal = a, .signal_value = 1}));
    f->icd.pause();
    f->icd.resume();
    f->icd.quiesce();
    assert_int_equal(vulkan_counters(&f->icd).wakeups, wakeups);
    assert_int_equal(vulkan_value(f->device, a), 0);
    f->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_steps_of_a_paused_queue, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    VkSemaphore b = vulkan_timeline(f->device, 0);
    f->icd.pause();
    for (uint32_t i = 1; i <= 3; i++)
        assert_success(vulkan_submit(
            f->queues[0][0], (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, i),
                                                   .signal = a,
                                                   .signal_value = i}));
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, a), 0);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, a), 1);
    assert_int_equal(f->icd.queue_depth(0, 0), 2);

    /* Together with holding: once for the work, once for the signal. */
    f->icd.hold_before_signals(true);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(f->words[0], 2);
    assert_int_equal(vulkan_value(f->device, a), 1);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(f->words[0], 2);
    assert_int_equal(vulkan_value(f->device, a), 2);
    assert_int_equal(f->icd.queue_depth(0, 0), 1);
    f->icd.hold_before_signals(false);

    /* A step waits for what its packet waits for, and lets no second packet through. */
    assert_success(
        vulkan_submit(f->queues[0][1], (struct vulkan_batch){.wait = a, .wait_value = 3}));
    assert_success(
        vulkan_submit(f->queues[0][1], (struct vulkan_batch){.signal = b, .signal_value = 1}));
    assert_true(f->icd.step(0, 1));
    f->icd.quiesce();
    assert_int_equal(f->icd.queue_depth(0, 1), 2);
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
    assert_int_equal(f->icd.queue_depth(0, 1), 1);
    assert_int_equal(vulkan_value(f->device, b), 0);
    f->icd.resume();
    assert_success(vkDeviceWaitIdle(f->device));
    assert_int_equal(vulkan_value(f->device, b), 1);
    vkDestroySemaphore(f->device, a, NULL);
    vkDestroySemaphore(f->device, b, NULL);
}

/* Neither a lost device nor a destroyed one hangs on what it holds. */
FIXTURE_TEST(test_a_lost_device_holds_nothing, "SHAPE=q1")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    f->icd.hold_before_signals(true);
    assert_success(vulkan_submit(f->queues[0][0],
                                 (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1),
                                                       .signal = a,
                                                       .signal_value = 1}));
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 1);
    f->icd.lose();
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 0);
    assert_int_equal(vkQueueWaitIdle(f->queues[0][0]), VK_ERROR_DEVICE_LOST);
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_a_device_is_destroyed_with_what_it_holds, "SHAPE=q1 QUIET=1")
{
    f->icd.hold_before_signals(true);
    assert_success(vulkan_submit(
        f->queues[0][0], (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1)}));
    f->icd.quiesce();
    assert_int_equal(f->icd.held(), 1);
    device_close(&f->base);
    assert_true(vulkan_counters(&f->icd).violations[BELFRY_ICD_DESTROY_PENDING] > 0);
    f->icd.reset_counters();
    f->icd.hold_before_signals(false);
}
