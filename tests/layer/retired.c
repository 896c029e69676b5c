/* SPDX-License-Identifier: MIT */
/* Timelines that are destroyed on a driver which looks at them late (gpu/driver_bug.h): the test
 * driver does so as long as it can, and says when one was destroyed too early. */
#include "belfry/belfry.h"
#include "support/world.h"

#define BUG "SHAPE=q1 BUG=late_wait_points"

/* Four pairs, on one VkQueue of the driver's: the second waits for the first. */
static const uint32_t pairs[] = {8, WORLD_END};

/* A timeline that a batch has waited for, once that is known to be over. */
enum way { BY_FENCE, BY_VALUE, BY_QUEUE, BY_DEVICE, WAYS };

static VkSemaphore use_timeline(struct device *w, uint32_t pair, enum way way,
                                const VkAllocationCallbacks *allocator)
{
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    VkSemaphore timeline, done = vulkan_timeline(w->device, 0);
    assert_success(vkCreateSemaphore(w->device, &info, allocator, &timeline));
    VkFence fence = vulkan_fence(w->device, false);
    assert_submitted(w->queues[0][2 * pair], .signal = timeline, .signal_value = 1);
    assert_submitted(w->queues[0][2 * pair + 1], .wait = timeline, .wait_value = 1, .signal = done,
                     .signal_value = 1, .fence = way == BY_FENCE ? fence : NULL);
    if (way == BY_FENCE)
        assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    if (way == BY_VALUE)
        vulkan_wait(w->device, done, 1);
    if (way == BY_QUEUE)
        assert_success(vkQueueWaitIdle(w->queues[0][2 * pair + 1]));
    if (way == BY_DEVICE)
        assert_success(vkDeviceWaitIdle(w->device));
    vkDestroyFence(w->device, fence, NULL);
    vkDestroySemaphore(w->device, done, NULL); /* kept as well */
    return timeline;
}

DEVICE_TEST(a_timeline_outlives_who_waited_for_it, BUG, pairs)
{
    uint64_t before = w->icd.live("semaphore");
    for (uint32_t i = 0; i < 4 * WAYS; i++)
        vkDestroySemaphore(w->device, use_timeline(w, i % 4, i / 4, NULL), NULL);
    /* RT-1: what was retired before the driver was waited for has gone, and not the last. */
    assert_int_equal(w->icd.live("semaphore"), before + 2);
    vkDestroySemaphore(w->device, use_timeline(w, 0, BY_QUEUE, NULL), NULL);
    assert_int_equal(w->icd.live("semaphore"), before + 4);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->icd.live("semaphore"), before);
    /* RT-3: world_close fails if one is left. */
    vkDestroySemaphore(w->device, use_timeline(w, 0, BY_FENCE, NULL), NULL);
}

DEVICE_TEST(retired_timelines_are_bounded_where_queues_come_to_rest, BUG, pairs)
{
    uint64_t before = w->icd.live("semaphore"), most = 0;
    for (uint32_t i = 0; i < 500; i++) {
        vkDestroySemaphore(w->device, use_timeline(w, i % 4, i % BY_DEVICE, NULL), NULL);
        most = w->icd.live("semaphore") > most ? w->icd.live("semaphore") : most;
    }
    assert_true(most > before && most - before <= 70);
}

/* What a VkQueue was given while no other queue shared it has no notes: once one does, the
 * program's wait for its idleness is still the driver's, and the timeline may go at once. */
static const uint32_t one[] = {1, WORLD_END};

DEVICE_TEST(a_timeline_from_before_a_command_queue_came, BUG, one)
{
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    BfDevice device;
    BfCommandQueue joins;
    VkSemaphore timeline = vulkan_timeline(w->device, 1);
    VkFence fence = vulkan_fence(w->device, false);
    uint64_t before = w->icd.live("semaphore");
    assert_submitted(w->queues[0][0], .wait = timeline, .wait_value = 1, .fence = fence);
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &info, &joins));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    uint64_t live = w->icd.live("semaphore");
    assert_true(live >= before); /* the engine has got an epoch */
    vkDestroySemaphore(w->device, timeline, NULL);
    assert_int_equal(w->icd.live("semaphore"), live - 1);
    bfDestroyCommandQueue(joins);
    vkDestroyFence(w->device, fence, NULL);
}

/* RT-2: what the driver still has may wait for this very thread. */
DEVICE_TEST(destroying_waits_for_no_work, BUG, pairs)
{
    VkSemaphore timelines[200];
    uint64_t before = w->icd.live("semaphore");
    for (uint32_t i = 0; i < 200; i++)
        timelines[i] = use_timeline(w, i % 4, BY_FENCE, NULL);
    assert_success(vkDeviceWaitIdle(w->device));
    w->icd.hold_before_signals(true);
    assert_submitted(w->queues[0][1], .commands = device_store(w, 0, 0, 1));
    for (uint32_t i = 0; i < 200; i++)
        vkDestroySemaphore(w->device, timelines[i], NULL);
    assert_int_equal(w->icd.live("semaphore"), before + 200);
    w->icd.hold_before_signals(false);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(w->icd.live("semaphore"), before);
}

/* As the Khronos CTS' groups of timelines on several queues; on lavapipe, too, whose older versions
 * crash or hang here within a few rounds if timelines are destroyed at once. */
struct turn {
    struct device *w;
    uint32_t pair;
    pthread_t thread;
};

static void *take_turns(void *argument)
{
    const struct turn *turn = argument;
    for (uint32_t i = 0; i < 300; i++)
        vkDestroySemaphore(turn->w->device, use_timeline(turn->w, turn->pair, i % BY_DEVICE, NULL),
                           NULL);
    return NULL;
}

DEVICE_TEST(queues_of_several_threads_use_timelines_up, BUG, pairs)
{
    struct turn turns[4];
    for (uint32_t i = 0; i < 4; i++) {
        turns[i] = (struct turn){.w = w, .pair = i};
        assert_int_equal(pthread_create(&turns[i].thread, NULL, take_turns, &turns[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(turns[i].thread, NULL);
}

/* The program's allocator may go with its last object. */
static void *refuse_allocation(void *user, size_t size, size_t alignment,
                               VkSystemAllocationScope scope)
{
    return NULL;
}

static void *refuse_reallocation(void *user, void *old, size_t size, size_t alignment,
                                 VkSystemAllocationScope scope)
{
    return NULL;
}

static void refuse_free(void *user, void *memory)
{
    abort();
}

DEVICE_TEST(the_programs_allocator_is_not_used, BUG, pairs)
{
    const VkAllocationCallbacks refuses = {.pfnAllocation = refuse_allocation,
                                           .pfnReallocation = refuse_reallocation,
                                           .pfnFree = refuse_free};
    vkDestroySemaphore(w->device, use_timeline(w, 0, BY_FENCE, &refuses), &refuses);
}
