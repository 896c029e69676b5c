/* SPDX-License-Identifier: MIT */
/* Semaphores that somebody outside signals, by a handle that nobody else knows: who waits for them
 * in the driver, who is held, and what that means to others (scheduler/outside.h,
 * scheduler/watcher.h). What it means to presents: outside_presents.c. */
#include "outside.h"
#include "support/asleep.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "belfry/native_fence.h"

static const uint32_t two[] = {2, WORLD_END};

/* Signalled under another name, by the host or a queue, while a packet is held for it. */
TEST(test_external_semaphores)
{
    static const char *const shapes[] = {"SHAPE=q1", "SHAPE=q2"};
    for (size_t i = 0; i < 2; i++) {
        struct device w;
        world_open(&w, shapes[i], two);
        VkSemaphore mine = world_exportable(&w), theirs = world_import_of(&w, mine),
                    done = vulkan_timeline(w.device, 0);
        for (uint64_t round = 1; round <= 8; round++) {
            bool swap = round % 2;
            VkSemaphore wait = swap ? mine : theirs, signal = swap ? theirs : mine;
            uint64_t before = world_accepted(&w);
            assert_submitted(w.queues[0][0], .wait = wait, .wait_value = round,
                             .commands = device_store(&w, 0, 0, (uint32_t)round), .signal = done,
                             .signal_value = round);
            /* A queue with a VkQueue to itself gives the wait to the driver as it came. */
            assert_int_equal(world_accepted(&w), before + i);
            if (round % 4 < 2)
                vulkan_signal(w.device, signal, round);
            else
                assert_submitted(w.queues[0][1], .signal = signal, .signal_value = round);
            vulkan_wait(w.device, done,
                        round); /* nobody calls anything else: a watcher must notice */
            assert_int_equal(w.words[0], round);
            assert_success(vkDeviceWaitIdle(w.device));
        }
        /* Both handles may go in any order, and what comes in their place is watched anew. */
        vkDestroySemaphore(w.device, i ? mine : theirs, NULL);
        vkDestroySemaphore(w.device, i ? theirs : mine, NULL);
        vkDestroySemaphore(w.device, done, NULL);
        world_close(&w);
    }
}

/* Several queues held for values of one payload, out of order; W-2: the lesser ones are waited for
 * beside the larger ones, and time ends no wait. */
TEST(test_external_many)
{
    static const uint32_t eight[] = {8, WORLD_END};
    struct device w;
    world_open(&w, "SHAPE=q1", eight);
    VkSemaphore mine = world_exportable(&w), theirs = world_import_of(&w, mine), done[8];
    w.icd.endless_waits(true);
    for (uint32_t i = 0; i < 8; i++) {
        done[i] = vulkan_timeline(w.device, 0);
        assert_submitted(w.queues[0][i], .wait = mine, .wait_value = 8 - i, .signal = done[i],
                         .signal_value = 1);
        if (i < 4) /* later ones come to one that waits, or doesn't yet */
            other_threads_await_sleep();
    }
    for (uint32_t i = 8; i-- > 0;) {
        assert_int_equal(vulkan_value(w.device, done[i]), 0);
        vulkan_signal(w.device, theirs, 8 - i);
        vulkan_wait(w.device, done[i], 1);
    }
    w.icd.endless_waits(false);
    assert_success(vkDeviceWaitIdle(w.device));
    for (uint32_t i = 0; i < 8; i++)
        vkDestroySemaphore(w.device, done[i], NULL);
    vulkan_destroy(w.device, mine, theirs);
    world_close(&w);
}

/* A lost device ends the watch. */
DEVICE_TEST(test_external_and_lost, "SHAPE=q1 QUIET=1", two)
{
    VkSemaphore mine = world_exportable(w), theirs = world_import_of(w, mine);
    VkFence fence = vulkan_fence(w->device, false);
    assert_submitted(w->queues[0][0], .wait = mine, .wait_value = 1, .fence = fence);
    w->icd.lose();
    assert_int_equal(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkDeviceWaitIdle(w->device), VK_ERROR_DEVICE_LOST);
    vkDestroyFence(w->device, fence, NULL);
    vulkan_destroy(w->device, theirs, mine);
}

/* L-7: so does its destruction, though the driver never ends the watcher's wait. */
DEVICE_TEST(test_external_and_stuck, "SHAPE=q1 VK_BELFRY_MULTI_ENGINE_TDR_DDI_DELAY=100", two)
{
    VkSemaphore mine = world_exportable(w), theirs = world_import_of(w, mine);
    w->icd.set_block(&(struct belfry_icd_block){
        .command = "vkWaitSemaphores", .first = 1, .every = 1, .late = true});
    assert_submitted(w->queues[0][0], .wait = mine, .wait_value = 1);
    w->icd.await_blocked(1);
    w->icd.set_block(NULL);
    vulkan_signal(w->device, mine, 1); /* by its own name: it takes no watcher */
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, theirs, mine);
    assert_int_equal(w->icd.blocked(), 1);
    w->icd.release(UINT64_MAX);
    while (w->icd.blocked())
        sched_yield();
}

/* W-1: nor does the semaphore go while a watcher is still in a call with it. */
struct destroyer {
    struct device *w;
    VkSemaphore semaphore;
    _Atomic int tid;
    _Atomic bool done;
};

static void *destroy(void *argument)
{
    struct destroyer *d = argument;
    d->tid = gettid();
    vkDestroySemaphore(d->w->device, d->semaphore, NULL);
    d->done = true;
    return NULL;
}

DEVICE_TEST(test_external_and_late, "SHAPE=q1", two)
{
    struct destroyer d = {.w = w, .semaphore = world_exportable(w)};
    pthread_t thread;
    w->icd.set_block(
        &(struct belfry_icd_block){.command = "vkWaitSemaphores", .first = 1, .late = true});
    assert_submitted(w->queues[0][0], .wait = d.semaphore, .wait_value = 1);
    w->icd.await_blocked(1);
    w->icd.set_block(NULL);
    vulkan_signal(w->device, d.semaphore, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(pthread_create(&thread, NULL, destroy, &d), 0);
    while (!d.done && (!d.tid || thread_state(d.tid) != 'S'))
        sched_yield();
    assert_false(d.done);
    w->icd.release(UINT64_MAX);
    pthread_join(thread, NULL);
}

/* OW-1, OW-2: what is accepted behind a wait for outside satisfies nobody on a VkQueue that is
 * shared, until the value is there; neighbours pass. */
DEVICE_TEST(test_nobody_shared_rests_on_outside, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    struct outside o = outside_begin(w);
    VkSemaphore done = vulkan_timeline(w->device, 0);
    submit(q[ALONE], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 1});
    submit(q[ALONE], (struct vulkan_batch){.signal = o.binary}); /* behind it */
    assert_accepted(w, &o, 2);
    submit(q[SHARED],
           (struct vulkan_batch){.wait = o.t, .wait_value = 1, .signal = done, .signal_value = 1});
    submit(q[BESIDE], (struct vulkan_batch){.wait = o.binary, .signal = done, .signal_value = 2});
    assert_accepted(w, &o, 2);
    submit(q[ALSO_ALONE], (struct vulkan_batch){.wait = o.t, .wait_value = 1});
    assert_accepted(w, &o, 3);
    vulkan_signal(w->device, o.theirs, 1); /* nobody calls anything else: it is noticed */
    vulkan_wait(w->device, done, 2);
    outside_end(w, &o);
    assert_accepted(w, &o, 5);
    vkDestroySemaphore(w->device, done, NULL);
}

/* The same through a chain of VkQueues, whose last knows nothing of outside; and the other way
 * round, where the one that waits is there first. */
DEVICE_TEST(test_nobody_shared_rests_on_who_rests_on_outside, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    struct outside o = outside_begin(w);
    VkSemaphore done = vulkan_timeline(w->device, 0);
    for (uint64_t round = 1; round <= 2; round++) {
        struct vulkan_batch batch = {
            .wait = o.t, .wait_value = 4 * round - 1, .signal = done, .signal_value = round};
        if (round == 2)
            submit(q[SHARED], batch);
        submit(q[ALONE], (struct vulkan_batch){.wait = o.mine,
                                               .wait_value = round,
                                               .signal = o.t,
                                               .signal_value = 4 * round - 2});
        submit(q[ALSO_ALONE], (struct vulkan_batch){.wait = o.t,
                                                    .wait_value = 4 * round - 2,
                                                    .signal = o.t,
                                                    .signal_value = 4 * round - 1});
        if (round == 1)
            submit(q[SHARED], batch);
        submit(q[BESIDE], (struct vulkan_batch){.commands = device_store(w, 0, 0, 1)});
        assert_accepted(w, &o, 4 * round - 1);
        vulkan_signal(w->device, o.theirs, round);
        vulkan_wait(w->device, done, round);
        assert_accepted(w, &o, 4 * round);
        assert_success(vkDeviceWaitIdle(w->device));
    }
    outside_end(w, &o);
    vkDestroySemaphore(w->device, done, NULL);
}

static uint32_t threads(void)
{
    uint32_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* OW-4: a list has no thread until somebody is blocked by what is in it, or it has become long. */
DEVICE_TEST(test_watched_only_if_need_be, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    for (uint32_t i = SHARED; i <= ALSO_ALONE; i++) /* the driver's own threads begin */
        submit(q[i], (struct vulkan_batch){.commands = device_store(w, 0, i, i)});
    for (uint64_t round = 1; round <= 2; round++) {
        struct outside o = outside_begin(w);
        uint32_t before = threads();
        submit(q[ALONE], (struct vulkan_batch){
                             .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 1});
        submit(q[ALSO_ALONE], (struct vulkan_batch){.wait = o.t, .wait_value = 1});
        assert_int_equal(threads(), before);
        if (round == 1)
            submit(q[SHARED], (struct vulkan_batch){.wait = o.t, .wait_value = 1});
        for (uint64_t i = 2; round == 2 && i <= 70; i++)
            submit(q[ALONE], (struct vulkan_batch){.signal = o.t, .signal_value = i});
        assert_int_equal(threads(), before + 1);
        vulkan_signal(w->device, o.theirs, 1);
        outside_end(w, &o);
        while (threads() != before) /* it has been joined (W-1); the kernel may still list it */
            sched_yield();
    }
}

/* OW-2: what has been waited for may be destroyed before anybody has looked. */
DEVICE_TEST(test_outside_is_destroyed, "SHAPE=q4", five)
{
    VkQueue *q = w->queues[0];
    VkSemaphore t = vulkan_timeline(w->device, 0);
    for (uint64_t round = 1; round <= 100; round++) {
        struct outside o = outside_begin(w);
        submit(q[ALONE], (struct vulkan_batch){
                             .wait = o.mine, .wait_value = 1, .signal = t, .signal_value = round});
        if (round % 2) /* has the list watched */
            submit(q[SHARED], (struct vulkan_batch){.wait = t, .wait_value = round});
        vulkan_signal(w->device, o.theirs, 1);
        outside_end(w, &o);
        submit(q[SHARED], (struct vulkan_batch){.wait = t, .wait_value = round});
        vulkan_wait(w->device, t, round);
    }
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* A wait for idleness on a thread of its own. */
struct idle {
    struct device *w;
    bool whole_device;
    VkResult result;
    _Atomic int tid;
};

static void *wait_idle(void *argument)
{
    struct idle *idle = argument;
    idle->tid = gettid();
    idle->result = idle->whole_device ? vkDeviceWaitIdle(idle->w->device)
                                      : vkQueueWaitIdle(idle->w->queues[0][ALONE]);
    return NULL;
}

/* OW-5: who waits until work behind a wait for outside is over keeps nobody from the engine. */
DEVICE_TEST(test_idle_wait_for_outside_keeps_no_lock, "SHAPE=q4", five)
{
    BfDevice device;
    assert_success(bfGetDevice(w->device, &device));
    for (uint64_t round = 1; round <= 2; round++) {
        struct outside o = outside_begin(w);
        submit(w->queues[0][ALONE], (struct vulkan_batch){.wait = o.mine, .wait_value = 1});
        struct idle idle = {.w = w, .whole_device = round == 2};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_idle, &idle), 0);
        while (!idle.tid || thread_state(idle.tid) != 'S')
            sched_yield();
        const BfFenceLogReaderCreateInfo info = {
            .sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
            .vkQueue = w->queues[0][ALONE],
            .type = BF_FENCE_LOG_TYPE_WAITS,
        };
        BfFenceLogReader reader;
        assert_success(bfCreateFenceLogReader(device, &info, &reader));
        vulkan_signal(w->device, o.theirs, 1);
        pthread_join(thread, NULL);
        assert_success(idle.result);
        bfDestroyFenceLogReader(reader);
        outside_end(w, &o);
    }
}

/* OW-6: a command queue that has to be placed behind a wait for outside hands nothing over until
 * that is over; where there is another VkQueue, it is placed there. */
TEST(test_command_queues_and_outside)
{
    static const uint32_t one[] = {1, WORLD_END}, two_queues[] = {2, WORLD_END};
    for (uint32_t alone = 0; alone < 2; alone++) {
        struct device w;
        BfDevice device;
        BfCommandQueue queue;
        BfFence fence;
        world_open(&w, alone ? "SHAPE=q2" : "SHAPE=q1", alone ? two_queues : one);
        assert_success(bfGetDevice(w.device, &device));
        struct outside o = outside_begin(&w);
        submit(w.queues[0][0], (struct vulkan_batch){.wait = o.mine, .wait_value = 1});
        assert_accepted(&w, &o, 1);
        const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                               .type = BF_COMMAND_LIST_TYPE_COMPUTE};
        const BfFenceCreateInfo fence_info = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        VkCommandBuffer commands = device_store(&w, 0, 0, 7);
        assert_success(bfCreateCommandQueue(device, &info, &queue));
        assert_success(bfCreateFence(device, &fence_info, &fence));
        assert_success(bfQueueExecute(queue, 1, &commands));
        assert_success(bfQueueSignal(queue, fence, 1));
        assert_accepted(&w, &o, 1 + alone);
        vulkan_signal(w.device, o.theirs, 1);
        assert_success(bfWaitFences(1, &fence, &(uint64_t){1}, true, UINT64_MAX));
        assert_int_equal(w.words[0], 7);
        bfDestroyCommandQueue(queue);
        bfDestroyFence(fence);
        outside_end(&w, &o);
        assert_accepted(&w, &o, 2);
        world_close(&w);
    }
}

/* A lost device empties the lists, and who waits for what is in them. */
DEVICE_TEST(test_outside_and_lost, "SHAPE=q4 QUIET=1", five)
{
    VkQueue *q = w->queues[0];
    struct outside o = outside_begin(w);
    VkFence fence = vulkan_fence(w->device, false);
    submit(q[ALONE], (struct vulkan_batch){
                         .wait = o.mine, .wait_value = 1, .signal = o.t, .signal_value = 1});
    submit(q[SHARED], (struct vulkan_batch){.wait = o.t, .wait_value = 1, .fence = fence});
    w->icd.lose();
    assert_int_equal(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    w->icd.quiesce();
    vkDestroyFence(w->device, fence, NULL);
    vulkan_destroy(w->device, o.mine, o.theirs, o.t, o.binary);
}
