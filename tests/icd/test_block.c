/* SPDX-License-Identifier: MIT */
/* Calls that block in the driver: which, before or after their effect, and in what order they go
 * on. */

#include "support/world.h"

struct caller {
    pthread_t thread;
    VkQueue queue;
    struct vulkan_batch batch;
    _Atomic bool returned;
};

static void *caller_run(void *argument)
{
    struct caller *c = argument;
    vulkan_submit(c->queue, c->batch);
    c->returned = true;
    return NULL;
}

static void caller_start(struct caller *c)
{
    c->returned = false;
    assert_int_equal(pthread_create(&c->thread, NULL, caller_run, c), 0);
}

static void caller_join(struct caller *c)
{
    assert_int_equal(pthread_join(c->thread, NULL), 0);
    assert_true(c->returned);
}

/* Two of three submits on two queues: early ones have no effect yet, late ones have had it. */
static void two_of_three(struct device *f, bool late)
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    f->icd.set_block(&(struct belfry_icd_block){
        .command = "vkQueueSubmit", .first = 2, .every = 1, .late = late});
    assert_submitted(f->queues[0][0], .signal = a, .signal_value = 1);
    struct caller callers[2];
    for (uint32_t i = 0; i < 2; i++) {
        callers[i].queue = f->queues[0][i];
        callers[i].batch = (struct vulkan_batch){.signal = a, .signal_value = 2 + i};
        caller_start(&callers[i]);
        f->icd.await_blocked(1 + i);
        f->icd.quiesce();
        assert_int_equal(vulkan_value(f->device, a), late ? 2 + i : 1);
    }
    f->icd.set_block(NULL);
    assert_submitted(f->queues[0][2], .commands = device_store(f, 0, 0, 1));
    assert_int_equal(f->icd.blocked(), 2);
    f->icd.release(1);
    caller_join(&callers[0]);
    assert_false(callers[1].returned);
    assert_int_equal(f->icd.blocked(), 1);
    f->icd.quiesce();
    f->icd.release(UINT64_MAX);
    caller_join(&callers[1]);
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, a), 3);
    vkDestroySemaphore(f->device, a, NULL);
}

DEVICE_TEST(test_an_early_block_comes_before_any_effect, "SHAPE=q3", WORLD_ALL)
{
    two_of_three(w, false);
}

DEVICE_TEST(test_a_late_block_comes_behind_the_effect, "SHAPE=q3", WORLD_ALL)
{
    two_of_three(w, true);
}

/* A blocked call is a call on its queue, and a lost device doesn't end it. */
DEVICE_TEST(test_a_blocked_call_is_in_its_queue, "SHAPE=q1 QUIET=1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    struct caller caller = {.queue = w->queues[0][0], .batch = {.signal = a, .signal_value = 1}};
    w->icd.set_block(&(struct belfry_icd_block){.first = 1});
    caller_start(&caller);
    w->icd.await_blocked(1);
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(vulkan_counters(&w->icd).violations[BELFRY_ICD_QUEUE_RACE], 1);
    w->icd.lose();
    assert_int_equal(w->icd.blocked(), 1);
    w->icd.release(1);
    caller_join(&caller);
    w->icd.reset_counters();
    vkDestroySemaphore(w->device, a, NULL);
}

/* VK_KHR_internally_synchronized_queues: calls on one queue may overlap, but for
 * vkDeviceWaitIdle. */
TEST(test_a_queue_that_synchronizes_itself)
{
    struct device f;
    assert_success(world_instance(&f, "SHAPE=q1 INTERNAL_QUEUES=1 QUIET=1"));
    const VkDeviceQueueCreateFlags flag = 4;
    const float priority = 1.0f;
    const char *const name = "VK_KHR_internally_synchronized_queues";
    const struct {
        VkBaseInStructure head;
        VkBool32 internal;
    } feature = {{(VkStructureType)1000504000, NULL}, VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .flags = flag,
                                           .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue, .enabledExtensionCount = 1,
                               .ppEnabledExtensionNames = &name};
    assert_int_equal(vkCreateDevice(f.physical, &info, NULL, &f.device),
                     VK_ERROR_INITIALIZATION_FAILED);
    info.pNext = &feature;
    assert_success(vkCreateDevice(f.physical, &info, NULL, &f.device));
    const VkDeviceQueueInfo2 which = {VK_TYPE(DEVICE_QUEUE_INFO_2), .flags = flag};
    struct caller caller = {.batch = {.signal = vulkan_binary(f.device)}};
    vkGetDeviceQueue2(f.device, &which, &caller.queue);
    f.icd.set_block(&(struct belfry_icd_block){.first = 1});
    caller_start(&caller);
    f.icd.await_blocked(1);
    assert_success(vkQueueWaitIdle(caller.queue));
    vulkan_expect(&f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    assert_success(vkDeviceWaitIdle(f.device));
    vulkan_expect(&f.icd, BELFRY_ICD_QUEUE_RACE, 1);
    f.icd.release(1);
    caller_join(&caller);
    f.icd.set_block(NULL);
    assert_success(vkDeviceWaitIdle(f.device));
    vkDestroySemaphore(f.device, caller.batch.signal, NULL);
    world_close(&f);
}

/* The environment's, in free mode too: who comes back has been away for so long. */
DEVICE_TEST(test_a_block_of_a_time, "SHAPE=q1 FREE=1 BLOCK=vkQueueWaitIdle:2:2:3000:late",
            WORLD_ALL)
{
    for (int i = 1; i <= 4; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        assert_success(vkQueueWaitIdle(w->queues[0][0]));
        clock_gettime(CLOCK_MONOTONIC, &to);
        int64_t ns = (to.tv_sec - from.tv_sec) * INT64_C(1000000000) + to.tv_nsec - from.tv_nsec;
        if (i % 2 == 0)
            assert_true(ns >= 3000000);
    }
    w->icd.set_block(NULL);
}
struct host_wait {
    pthread_t thread;
    VkDevice device;
    VkSemaphore semaphore;
    _Atomic bool returned;
    VkResult result;
};

static void *host_wait_run(void *argument)
{
    struct host_wait *w = argument;
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &w->semaphore, .pValues = &value};
    w->result = vkWaitSemaphores(w->device, &info, 1);
    w->returned = true;
    return NULL;
}

/* Time ends no wait; what it waits for does, and so does the loss. */
DEVICE_TEST(test_endless_waits, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    for (int lost = 0; lost < 2; lost++) {
        struct host_wait wait = {.device = w->device, .semaphore = vulkan_timeline(w->device, 0)};
        w->icd.endless_waits(true);
        assert_int_equal(pthread_create(&wait.thread, NULL, host_wait_run, &wait), 0);
        while (!w->icd.sleepers() && !wait.returned)
            sched_yield();
        if (lost)
            w->icd.lose();
        else
            vulkan_signal(w->device, wait.semaphore, 1);
        pthread_join(wait.thread, NULL);
        assert_int_equal(wait.result, lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS);
        w->icd.endless_waits(false);
        vkDestroySemaphore(w->device, wait.semaphore, NULL);
    }
}
