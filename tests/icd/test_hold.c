/* SPDX-License-Identifier: MIT */
/* Packets held between their work and their signals, and queues that go step by step. */
#include "support/world.h"

/* Held: the word is written, and nothing yet says so. */
DEVICE_TEST(test_a_held_packet_has_written_and_not_signalled, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    VkFence fence = vulkan_fence(w->device, false);
    VkCommandBuffer commands = device_store(w, 0, 0, 42);
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .commands = commands, .signal = a, .signal_value = 1,
                     .fence = fence);
    assert_submitted(w->queues[0][1], .wait = a, .wait_value = 1,
                     .commands = device_store(w, 0, 1, 43));
    w->icd.quiesce();
    assert_int_equal(w->words[0], 42);
    assert_int_equal(w->words[1], 0);
    assert_int_equal(vulkan_value(w->device, a), 0);
    assert_int_equal(vkGetFenceStatus(w->device, fence), VK_NOT_READY);
    assert_int_equal(w->icd.queue_depth(0, 0), 1);
    assert_int_equal(w->icd.held(), 1);
    /* Still in use, too. */
    vkFreeCommandBuffers(w->device, w->pools[0], 1, &commands);
    w->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->icd.held(), 0);
    assert_int_equal(vulkan_value(w->device, a), 1);
    assert_int_equal(vkGetFenceStatus(w->device, fence), VK_SUCCESS);
    assert_int_equal(w->words[1], 43);
    assert_int_equal(vulkan_counters(&w->icd).violations[BELFRY_ICD_DESTROY_PENDING], 1);
    w->icd.reset_counters();
    vulkan_destroy(w->device, fence, a);
}

/* What has no command buffers only passes on what others have done. */
DEVICE_TEST(test_packets_without_command_buffers_are_not_held, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 1);
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 0);
    assert_int_equal(vulkan_value(w->device, a), 1);
    w->icd.hold_before_signals(false);
    vkDestroySemaphore(w->device, a, NULL);
}

DEVICE_TEST(test_a_step_releases_one_held_packet_of_one_queue, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    assert_false(w->icd.step(0, 0));
    w->icd.hold_before_signals(true);
    for (uint32_t i = 1; i <= 2; i++) {
        assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, i), .signal = a,
                         .signal_value = i);
        assert_submitted(w->queues[0][1], .commands = device_store(w, 0, 1, i), .signal = b,
                         .signal_value = i);
    }
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 2);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 2);
    assert_int_equal(vulkan_value(w->device, a), 1);
    assert_int_equal(vulkan_value(w->device, b), 0);
    assert_int_equal(w->words[0], 2);
    assert_int_equal(w->words[1], 1);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 1);
    assert_false(w->icd.step(0, 0));
    assert_false(w->icd.step(0, 2));
    assert_int_equal(vulkan_value(w->device, a), 2);
    w->icd.hold_before_signals(false);
    w->icd.quiesce();
    assert_int_equal(vulkan_value(w->device, b), 2);
    vulkan_destroy(w->device, a, b);
}

/* The worker sleeps soundly, whatever else is handed to its queue. */
DEVICE_TEST(test_nothing_wakes_a_held_queue, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1));
    w->icd.quiesce();
    uint64_t wakeups = vulkan_counters(&w->icd).wakeups;
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 1);
    w->icd.pause();
    w->icd.resume();
    w->icd.quiesce();
    assert_int_equal(vulkan_counters(&w->icd).wakeups, wakeups);
    assert_int_equal(vulkan_value(w->device, a), 0);
    w->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, a, NULL);
}

DEVICE_TEST(test_steps_of_a_paused_queue, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    w->icd.pause();
    for (uint32_t i = 1; i <= 3; i++)
        assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, i), .signal = a,
                         .signal_value = i);
    w->icd.quiesce();
    assert_int_equal(vulkan_value(w->device, a), 0);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(vulkan_value(w->device, a), 1);
    assert_int_equal(w->icd.queue_depth(0, 0), 2);

    /* Together with holding: once for the work, once for the signal. */
    w->icd.hold_before_signals(true);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(w->words[0], 2);
    assert_int_equal(vulkan_value(w->device, a), 1);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(w->words[0], 2);
    assert_int_equal(vulkan_value(w->device, a), 2);
    assert_int_equal(w->icd.queue_depth(0, 0), 1);
    w->icd.hold_before_signals(false);

    /* A step waits for what its packet waits for, and lets no second packet through. */
    assert_submitted(w->queues[0][1], .wait = a, .wait_value = 3);
    assert_submitted(w->queues[0][1], .signal = b, .signal_value = 1);
    assert_true(w->icd.step(0, 1));
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 1), 2);
    assert_true(w->icd.step(0, 0));
    w->icd.quiesce();
    assert_int_equal(w->icd.queue_depth(0, 1), 1);
    assert_int_equal(vulkan_value(w->device, b), 0);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(vulkan_value(w->device, b), 1);
    vulkan_destroy(w->device, a, b);
}

/* Neither a lost device nor a destroyed one hangs on what it holds. */
DEVICE_TEST(test_a_lost_device_holds_nothing, "SHAPE=q1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1), .signal = a,
                     .signal_value = 1);
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 1);
    w->icd.lose();
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 0);
    assert_int_equal(vkQueueWaitIdle(w->queues[0][0]), VK_ERROR_DEVICE_LOST);
    vkDestroySemaphore(w->device, a, NULL);
}

DEVICE_TEST(test_a_device_is_destroyed_with_what_it_holds, "SHAPE=q1 QUIET=1", WORLD_ALL)
{
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1));
    w->icd.quiesce();
    assert_int_equal(w->icd.held(), 1);
    device_close(w);
    assert_true(vulkan_counters(&w->icd).violations[BELFRY_ICD_DESTROY_PENDING] > 0);
    w->icd.reset_counters();
    w->icd.hold_before_signals(false);
}
