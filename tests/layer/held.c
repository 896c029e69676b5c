/* SPDX-License-Identifier: MIT */
/* Waiting and asking while work is held: fences, idle waits, queries, and who releases what when.
 */
#include "support/world.h"

static const uint32_t two[] = {2, WORLD_END};

#define MS UINT64_C(1000000)

/* A call that blocks, on a thread of its own. */
struct blocker {
    struct device *w;
    VkQueue queue;
    VkQueryPool pool;
    VkFence fences[3];
    uint32_t count;
    VkBool32 all;
    uint64_t data;
    VkResult result;
    _Atomic bool started;
    pthread_t thread;
};

static void blocker_start(struct blocker *b, void *(*run)(void *))
{
    b->result = VK_RESULT_MAX_ENUM;
    b->started = false;
    assert_int_equal(pthread_create(&b->thread, NULL, run, b), 0);
    while (!b->started)
        sched_yield();
    for (int i = 0; i < 50; i++) /* most likely it sleeps by now; whether it does or not, */
        sched_yield();           /* what is tested must hold */
}

static VkResult blocker_join(struct blocker *b)
{
    pthread_join(b->thread, NULL);
    return b->result;
}

static void *wait_fences(void *argument)
{
    struct blocker *b = argument;
    b->started = true;
    b->result = vkWaitForFences(b->w->device, b->count, b->fences, b->all, UINT64_MAX);
    return NULL;
}

static void *wait_queue(void *argument)
{
    struct blocker *b = argument;
    b->started = true;
    b->result = vkQueueWaitIdle(b->queue);
    return NULL;
}

static void *wait_device(void *argument)
{
    struct blocker *b = argument;
    b->started = true;
    b->result = vkDeviceWaitIdle(b->w->device);
    return NULL;
}

static void *wait_query(void *argument)
{
    struct blocker *b = argument;
    b->started = true;
    b->result = vkGetQueryPoolResults(b->w->device, b->pool, 0, 1, sizeof(b->data), &b->data, 8,
                                      VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    return NULL;
}

static void hold(struct device *w, uint32_t queue, VkSemaphore t, uint64_t value, VkFence fence)
{
    assert_submitted(w->queues[0][queue], .wait = t, .wait_value = value,
                     .commands = device_store(w, 0, queue, (uint32_t)value), .fence = fence);
}

DEVICE_TEST(test_fence_timeouts, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkFence a = vulkan_fence(w->device, false), b = vulkan_fence(w->device, false),
            on = vulkan_fence(w->device, true), never = vulkan_fence(w->device, false);
    hold(w, 0, t, 1, a);
    hold(w, 1, t, 2, b);
    assert_int_equal(world_accepted(w), 0);
    static const uint64_t timeouts[] = {0, 1, MS};
    for (size_t i = 0; i < 3; i++) {
        uint64_t timeout = timeouts[i];
        assert_int_equal(vkWaitForFences(w->device, 1, &a, VK_TRUE, timeout), VK_TIMEOUT);
        assert_int_equal(vkWaitForFences(w->device, 1, &a, VK_FALSE, timeout), VK_TIMEOUT);
        const VkFence both[] = {a, b}, mixed[] = {a, on}, last[] = {a, b, on},
                      waiting[] = {a, never};
        assert_int_equal(vkWaitForFences(w->device, 2, both, VK_TRUE, timeout), VK_TIMEOUT);
        assert_int_equal(vkWaitForFences(w->device, 2, both, VK_FALSE, timeout), VK_TIMEOUT);
        assert_int_equal(vkWaitForFences(w->device, 2, mixed, VK_TRUE, timeout), VK_TIMEOUT);
        assert_success(vkWaitForFences(w->device, 2, mixed, VK_FALSE, timeout));
        assert_success(vkWaitForFences(w->device, 3, last, VK_FALSE, timeout));
        assert_int_equal(vkWaitForFences(w->device, 2, waiting, VK_FALSE, timeout), VK_TIMEOUT);
        assert_int_equal(vkGetFenceStatus(w->device, a), VK_NOT_READY);
        assert_success(vkGetFenceStatus(w->device, on));
    }
    const VkFence mixed[] = {a, on};
    assert_success(vkWaitForFences(w->device, 2, mixed, VK_FALSE, UINT64_MAX));
    /* Waiting for any takes the first that comes, be it in the middle of the wait. */
    struct blocker any = {.w = w, .fences = {b, never, a}, .count = 3, .all = VK_FALSE};
    struct blocker all = {.w = w, .fences = {a, b, on}, .count = 3, .all = VK_TRUE};
    struct blocker one = {.w = w, .fences = {b}, .count = 1, .all = VK_FALSE};
    blocker_start(&all, wait_fences);
    blocker_start(&one, wait_fences);
    /* A fence that the driver is about to be handed must not be in the hands of a driver's wait. */
    assert_int_equal(w->icd.sleepers(), 0);
    blocker_start(&any, wait_fences);
    vulkan_signal(w->device, t, 1);
    assert_success(blocker_join(&any));
    assert_success(vkGetFenceStatus(w->device, a));
    assert_int_equal(vkGetFenceStatus(w->device, b), VK_NOT_READY);
    vulkan_signal(w->device, t, 2);
    assert_success(blocker_join(&all));
    assert_success(blocker_join(&one));
    assert_success(vkGetFenceStatus(w->device, b));
    assert_int_equal(w->words[0], 1);
    assert_int_equal(w->words[1], 2);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, t, a, b, on, never);
}

/* More fences than fit any small array. */
DEVICE_TEST(test_many_fences, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkFence fences[80];
    for (uint32_t i = 0; i < 80; i++) {
        fences[i] = vulkan_fence(w->device, false);
        hold(w, i % 2, t, 1 + i / 2, fences[i]);
    }
    assert_int_equal(vkWaitForFences(w->device, 80, fences, VK_FALSE, 0), VK_TIMEOUT);
    vulkan_signal(w->device, t, 1);
    assert_success(vkWaitForFences(w->device, 80, fences, VK_FALSE, UINT64_MAX));
    assert_int_equal(vkWaitForFences(w->device, 80, fences, VK_TRUE, MS), VK_TIMEOUT);
    vulkan_signal(w->device, t, 40);
    assert_success(vkWaitForFences(w->device, 80, fences, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(w->device, 80, fences));
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
    for (uint32_t i = 0; i < 80; i++)
        vkDestroyFence(w->device, fences[i], NULL);
}

/* Reset and used again, held and at once, with its handle coming back for another fence. */
DEVICE_TEST(test_fence_reuse, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkFence fence = vulkan_fence(w->device, false);
    for (uint64_t i = 1; i <= 60; i++) {
        bool held = i % 3 != 0;
        hold(w, i % 2, t, held ? i : i - 1, fence);
        if (held) {
            assert_int_equal(vkGetFenceStatus(w->device, fence), VK_NOT_READY);
            assert_int_equal(vkWaitForFences(w->device, 1, &fence, VK_TRUE, 0), VK_TIMEOUT);
        }
        vulkan_signal(w->device, t, i);
        assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
        if (i % 5 == 0) {
            vkDestroyFence(w->device, fence, NULL);
            fence = vulkan_fence(w->device, i % 2);
            if (i % 2) {
                assert_success(vkGetFenceStatus(w->device, fence));
                assert_success(vkResetFences(w->device, 1, &fence));
            }
        } else {
            assert_success(vkResetFences(w->device, 1, &fence));
            assert_success(vkQueueWaitIdle(w->queues[0][i % 2])); /* known by that fence (I-2) */
        }
        assert_int_equal(vkGetFenceStatus(w->device, fence), VK_NOT_READY);
    }
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, t, fence);
}

/* vkQueueWaitIdle --------------------------------------------------------------------------- */

/* The neighbour on the same VkQueue stands still, and its work goes on being accepted. */
TEST(test_queue_idle_is_its_own)
{
    for (uint32_t way = 0; way < 4; way++) {
        struct device w;
        world_open(&w, "SHAPE=q1", two);
        VkQueue a = w.queues[0][0], b = w.queues[0][1];
        const VkEventCreateInfo event_info = {VK_TYPE(EVENT_CREATE_INFO)};
        VkEvent event;
        assert_success(vkCreateEvent(w.device, &event_info, NULL, &event));
        VkSemaphore t = vulkan_timeline(w.device, 0), u = vulkan_timeline(w.device, 0);
        VkFence fence = vulkan_fence(w.device, false);

        /* The queue's own: with nothing, a fence, a timeline or both to tell of its end. */
        struct vulkan_batch own = {.commands = device_store(&w, 0, 0, 1)};
        if (way & 1)
            own.fence = fence;
        if (way & 2) {
            own.signal = u;
            own.signal_value = 1;
        }
        assert_success(vulkan_submit(a, own));
        /* The neighbour's: one that stalls the VkQueue, one behind it, one that is held. */
        VkCommandBuffer stall = device_begin(&w, 0, 0);
        vkCmdWaitEvents(stall, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                        VK_PIPELINE_STAGE_TRANSFER_BIT, 0, NULL, 0, NULL, 0, NULL);
        assert_success(vkEndCommandBuffer(stall));
        assert_submitted(b, .commands = stall);
        assert_submitted(b, .commands = device_store(&w, 0, 1, 2));
        assert_submitted(b, .wait = t, .wait_value = 1, .commands = device_store(&w, 0, 2, 3));
        assert_success(vkQueueWaitIdle(a));
        assert_int_equal(w.words[0], 1);
        assert_int_equal(w.words[1], 0);
        assert_int_equal(w.icd.queue_depth(0, 0), 2);
        assert_success(vkQueueWaitIdle(a)); /* idle already */
        if (way & 1)
            assert_success(vkGetFenceStatus(w.device, fence));

        struct blocker idle = {.w = &w, .queue = b};
        blocker_start(&idle, wait_queue);
        assert_success(vkSetEvent(w.device, event));
        vulkan_signal(w.device, t, 1);
        assert_success(blocker_join(&idle));
        assert_int_equal(w.words[2], 3);
        assert_success(vkDeviceWaitIdle(w.device));
        vulkan_destroy(w.device, event, t, u, fence);
        world_close(&w);
    }
}

/* An idle wait covers what is held, whoever releases it. */
TEST(test_idle_with_held_work)
{
    static const char *const shapes[] = {"SHAPE=q1", "SHAPE=q2"};
    for (size_t s = 0; s < 2; s++) {
        for (uint32_t device = 0; device < 2; device++) {
            struct device w;
            world_open(&w, shapes[s], two);
            VkSemaphore t = vulkan_timeline(w.device, 0);
            for (uint64_t round = 1; round <= 10; round++) {
                memset(w.words, 0, 8);
                hold(&w, 0, t, 2 * round, VK_NULL_HANDLE);
                hold(&w, 1, t, 2 * round - 1, VK_NULL_HANDLE);
                struct blocker idle = {.w = &w, .queue = w.queues[0][0]};
                blocker_start(&idle, device ? wait_device : wait_queue);
                if (round % 2) { /* the host, or another queue */
                    vulkan_signal(w.device, t, 2 * round - 1);
                    vulkan_signal(w.device, t, 2 * round);
                } else {
                    vulkan_signal(w.device, t, 2 * round);
                }
                assert_success(blocker_join(&idle));
                assert_int_equal(w.words[0], 2 * round);
                if (device)
                    assert_int_equal(w.words[1], 2 * round - 1);
                assert_success(vkDeviceWaitIdle(w.device));
            }
            vkDestroySemaphore(w.device, t, NULL);
            world_close(&w);
        }
    }
}

/* The submit that releases it may come from the waiting thread's neighbour. */
DEVICE_TEST(test_idle_released_by_a_submit, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    for (uint64_t round = 1; round <= 20; round++) {
        hold(w, 0, t, round, VK_NULL_HANDLE);
        struct blocker idle = {.w = w, .queue = w->queues[0][0]};
        blocker_start(&idle, wait_queue);
        assert_submitted(w->queues[0][1], .signal = t, .signal_value = round);
        assert_success(blocker_join(&idle));
        assert_int_equal(w->words[0], round);
    }
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* Queries ----------------------------------------------------------------------------------- */

DEVICE_TEST(test_queries, "SHAPE=q1", two)
{
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 1};
    VkQueryPool pool;
    assert_success(vkCreateQueryPool(w->device, &info, NULL, &pool));
    VkSemaphore t = vulkan_timeline(w->device, 0);
    uint64_t last = 0;
    for (uint64_t round = 1; round <= 10; round++) {
        vkResetQueryPool(w->device, pool, 0, 1);
        VkCommandBuffer commands = device_begin(w, 0, 0);
        vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted(w->queues[0][0], .wait = t, .wait_value = round, .commands = commands);
        uint64_t data = 0;
        assert_int_equal(
            vkGetQueryPoolResults(w->device, pool, 0, 1, 8, &data, 8, VK_QUERY_RESULT_64_BIT),
            VK_NOT_READY);
        struct blocker query = {.w = w, .pool = pool};
        blocker_start(&query, wait_query);
        assert_int_equal(w->icd.sleepers(), 0); /* it might sleep there for ever */
        vulkan_signal(w->device, t, round);
        assert_success(blocker_join(&query));
        assert_true(query.data > last);
        last = query.data;
        /* The result is there before its command buffer is over, which a reset has to wait for. */
        assert_success(vkQueueWaitIdle(w->queues[0][0]));
    }
    /* Held work that has nothing to do with it delays no answer. */
    hold(w, 1, t, 100, VK_NULL_HANDLE);
    struct blocker query = {.w = w, .pool = pool};
    blocker_start(&query, wait_query);
    assert_success(blocker_join(&query));
    assert_int_equal(query.data, last);
    vulkan_signal(w->device, t, 100);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, pool, t);
}

/* Release ----------------------------------------------------------------------------------- */

/* The driver has what a signal releases before the call that signals returns: however long the
 * chain, on however many VkQueues. */
TEST(test_released_within_the_call)
{
    static const char *const shapes[] = {"SHAPE=q1", "SHAPE=q2", "SHAPE=q8"};
    static const uint32_t eight[] = {8, WORLD_END};
    for (size_t s = 0; s < 3; s++) {
        for (uint32_t by_submit = 0; by_submit < 2; by_submit++) {
            struct device w;
            world_open(&w, shapes[s], eight);
            VkSemaphore t = vulkan_timeline(w.device, 0);
            w.icd.pause(); /* whatever the GPU does */
            for (uint32_t i = 7; i >= 1; i--)
                assert_submitted(w.queues[0][i], .wait = t, .wait_value = i,
                                 .commands = device_store(&w, 0, i, i), .signal = t,
                                 .signal_value = i + 1);
            assert_int_equal(world_accepted(&w), 0);
            if (by_submit)
                assert_submitted(w.queues[0][0], .signal = t, .signal_value = 1);
            else
                vulkan_signal(w.device, t, 1);
            struct belfry_icd_counters counters = vulkan_counters(&w.icd);
            assert_int_equal(counters.submit_infos, 7 + by_submit);
            assert_int_equal(counters.waits, 7);
            w.icd.resume();
            vulkan_wait(w.device, t, 8);
            assert_success(vkDeviceWaitIdle(w.device));
            for (uint32_t i = 1; i < 8; i++)
                assert_int_equal(w.words[i], i);
            vkDestroySemaphore(w.device, t, NULL);
            world_close(&w);
        }
    }
}

/* Semaphores' own commands are the driver's, before anything is handed over and after. */
DEVICE_TEST(test_semaphore_commands, "SHAPE=q1", two)
{
    VkSemaphore t = vulkan_timeline(w->device, 0), u = vulkan_timeline(w->device, 9);
    assert_submitted(w->queues[0][0], .wait = t, .wait_value = 1, .signal = u, .signal_value = 20);
    const VkSemaphore both[] = {t, u};
    const uint64_t values[] = {1, 9};
    VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 2,
                                .pSemaphores = both, .pValues = values};
    assert_int_equal(vkWaitSemaphores(w->device, &info, 0), VK_TIMEOUT);
    assert_int_equal(vkWaitSemaphores(w->device, &info, MS), VK_TIMEOUT);
    info.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
    assert_success(vkWaitSemaphores(w->device, &info, UINT64_MAX));
    assert_int_equal(vulkan_value(w->device, u), 9);
    vulkan_signal(w->device, t, 5);
    vulkan_wait(w->device, u, 20);
    assert_int_equal(vulkan_value(w->device, t), 5);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, t, u);
}
