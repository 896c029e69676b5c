/* SPDX-License-Identifier: MIT */
/* Where queues meet the rest: presentation, and sparse memory. */
#include "screen.h"
#include "support/asleep.h"

#include "belfry/native_fence.h"
#include "belfry/preemption.h"
#include "belfry/user_mode_submission.h"

static const uint32_t one[] = {1, WORLD_END};
static const uint32_t two[] = {2, WORLD_END};
static const uint32_t three_of_one[] = {3, WORLD_END};

/* Presentation ------------------------------------------------------------------------------- */

static void await_asleep(_Atomic int *thread)
{
    while (!*thread || thread_state(*thread) != 'S')
        sched_yield();
}

/* AC-4: a present that is stuck in the driver keeps nobody from reading a log of its VkQueue. */
TEST(test_log_is_read_beside_a_present)
{
    static const uint32_t family = 0;
    struct device w;
    struct screen s;
    BfDevice device;
    BfFenceLogReader reader;
    BfFenceLogRecord records[4];
    uint32_t count, image;
    world_open(&w, "SHAPE=q1", two);
    screen_open(&w, &s, &family, 1);
    assert_success(bfGetDevice(w.device, &device));
    const BfFenceLogReaderCreateInfo info = {
        .sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
        .vkQueue = w.queues[0][1],
        .type = BF_FENCE_LOG_TYPE_SIGNALS,
    };
    assert_success(bfCreateFenceLogReader(device, &info, &reader));
    VkSemaphore t = vulkan_timeline(w.device, 0);
    assert_submitted(w.queues[0][1], .commands = device_store(&w, 0, 0, 1), .signal = t,
                     .signal_value = 1);
    vulkan_wait(w.device, t, 1);
    w.icd.quiesce();
    VkFence fence = vulkan_fence(w.device, false);
    assert_success(
        vkAcquireNextImageKHR(w.device, s.swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &image));
    assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));

    pthread_t thread;
    struct presenter p = {.screen = &s, .queue = w.queues[0][0], .image = image};
    w.icd.set_block(&(struct belfry_icd_block){.command = "vkQueuePresentKHR", .first = 1});
    assert_int_equal(pthread_create(&thread, NULL, screen_run_present, &p), 0);
    w.icd.await_blocked(1);
    assert_success(bfReadFenceLog(reader, 4, records, &count, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(records[0].entry.fenceValue, 1);
    w.icd.release(UINT64_MAX);
    pthread_join(thread, NULL);
    assert_success(p.result);
    w.icd.set_block(NULL);

    assert_success(vkDeviceWaitIdle(w.device));
    bfDestroyFenceLogReader(reader);
    vulkan_destroy(w.device, fence, t);
    screen_close(&w, &s);
    world_close(&w);
}

/* AC-4: nor from an interrupt, a change of priority, the end of a command queue, or the fences that
 * are made when first asked for. */
DEVICE_TEST(test_calls_on_command_queues_return_beside_a_present, "SHAPE=q1", two)
{
    struct stuck s;
    BfDevice device;
    BfCommandQueue queue, other;
    BfFence fence;
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    const BfFenceLogReaderCreateInfo log = {.sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
                                            .type = BF_FENCE_LOG_TYPE_SIGNALS};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    assert_success(bfCreateCommandQueue(device, &info, &other));
    BfFenceLogReaderCreateInfo of_queue = log;
    of_queue.queue = queue;
    BfFenceLogReader reader;
    assert_success(bfCreateFenceLogReader(device, &of_queue, &reader));
    BfPreemptionStatus status = {.sType = BF_STRUCTURE_TYPE_PREEMPTION_STATUS};
    assert_success(bfGetPreemptionStatus(queue, &status));
    const BfFenceNotificationEngine engine = {.sType = BF_STRUCTURE_TYPE_FENCE_NOTIFICATION_ENGINE,
                                              .nodeOrdinal = status.nodeOrdinal,
                                              .engineOrdinal = status.engineOrdinal};
    const BfFenceNotification of_engine = {.sType = BF_STRUCTURE_TYPE_FENCE_NOTIFICATION,
                                           .pNext = &engine};
    const BfFenceNotification notification = {.sType = BF_STRUCTURE_TYPE_FENCE_NOTIFICATION,
                                              .queue = queue};
    stuck_begin(w, &s);
    assert_success(bfNotifyFencesSignaled(device, &notification));
    assert_success(bfNotifyFencesSignaled(device, &of_engine));
    assert_success(bfSetCommandQueuePriority(queue, BF_COMMAND_QUEUE_PRIORITY_HIGH));
    assert_success(bfGetCommandQueueProgressFence(queue, &fence));
    assert_success(bfGetPreemptionFence(queue, &fence));
    bfDestroyCommandQueue(other);
    stuck_release(w, &s);
    stuck_close(w, &s);
    bfDestroyFenceLogReader(reader);
    bfDestroyCommandQueue(queue);
}

/* AC-4: nor from the first command queue of a VkQueue, from suspending and resuming it, or from its
 * logs, and the end of a fence that is a semaphore; and once the present has returned, all of that
 * is as if it had been there before. */
DEVICE_TEST(test_command_queues_come_and_go_beside_a_present, "SHAPE=q1", one)
{
    struct stuck s;
    BfDevice device;
    BfCommandQueue queue, ends;
    BfFence fence, imported;
    BfFenceLogReader reader;
    BfFenceLogRecord records[4];
    uint32_t count;
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    const BfFenceCreateInfo fence_info = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateFence(device, &fence_info, &fence));
    VkSemaphore t = vulkan_timeline(w->device, 0);
    assert_success(bfImportFenceFromSemaphore(device, t, &imported));
    VkCommandBuffer store = device_store(w, 0, 0, 1);

    stuck_begin(w, &s);
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    assert_success(bfCreateCommandQueue(device, &info, &ends));
    assert_success(bfSuspendCommandQueue(queue));
    assert_success(bfSuspendCommandQueue(queue));
    assert_success(bfResumeCommandQueue(queue));
    const BfFenceLogReaderCreateInfo log = {.sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
                                            .queue = queue,
                                            .type = BF_FENCE_LOG_TYPE_SIGNALS};
    assert_success(bfCreateFenceLogReader(device, &log, &reader));
    assert_success(bfSetFenceLogEntries(reader, 512));
    bfDestroyFenceLogReader(reader);
    assert_success(bfCreateFenceLogReader(device, &log, &reader));
    bfDestroyCommandQueue(ends);
    bfDestroyFence(imported);
    stuck_release(w, &s);

    /* Suspended, resumed, and in the log. */
    assert_success(bfQueueExecute(queue, 1, &store));
    assert_success(bfQueueSignal(queue, fence, 1));
    assert_int_equal(bfGetFenceCompletedValue(fence), 0);
    assert_success(bfResumeCommandQueue(queue));
    assert_success(bfQueueWaitIdle(queue));
    assert_int_equal(bfGetFenceCompletedValue(fence), 1);
    assert_success(bfReadFenceLog(reader, 4, records, &count, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(records[0].entry.fenceValue, 1);
    assert_submitted(w->queues[0][0], .commands = store, .signal = t, .signal_value = 1);
    vulkan_wait(w->device, t, 1);
    stuck_close(w, &s);
    bfDestroyFenceLogReader(reader);
    bfDestroyFence(fence);
    bfDestroyCommandQueue(queue);
    vkDestroySemaphore(w->device, t, NULL);
}

struct log_changer {
    BfDevice device;
    VkQueue queue;
    BfFenceLogReader reader; /* NULL: it opens one, else it changes the log's size */
    VkResult result;
    _Atomic int id;
    _Atomic bool returned;
};

static void *change_log(void *argument)
{
    struct log_changer *changer = argument;
    const BfFenceLogReaderCreateInfo log = {.sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
                                            .vkQueue = changer->queue,
                                            .type = BF_FENCE_LOG_TYPE_SIGNALS};
    changer->id = gettid();
    changer->result = changer->reader
                          ? bfSetFenceLogEntries(changer->reader, 512)
                          : bfCreateFenceLogReader(changer->device, &log, &changer->reader);
    changer->returned = true;
    return NULL;
}

/* The change waits for a present that is stuck. */
static void change_beside(struct device *w, struct log_changer *changer)
{
    struct stuck s;
    pthread_t thread;
    stuck_begin(w, &s);
    assert_int_equal(pthread_create(&thread, NULL, change_log, changer), 0);
    while (!changer->returned && (!changer->id || thread_state(changer->id) != 'S'))
        sched_yield();
    assert_false(changer->returned);
    stuck_release(w, &s);
    pthread_join(thread, NULL);
    assert_success(changer->result);
    w->icd.hold_before_signals(false);
    bfDestroyFenceLogReader(changer->reader);
    stuck_close(w, &s);
}

/* AC-4: a log of a queue that the driver may be at work for begins with a submission, which waits
 * for the present as any other. */
DEVICE_TEST(test_a_log_that_submits_waits_for_a_present, "SHAPE=q1", one)
{
    struct log_changer changer = {.queue = w->queues[0][0]};
    assert_success(bfGetDevice(w->device, &changer.device));
    change_beside(w, &changer);
}

/* So does one that takes another's place. */
DEVICE_TEST(test_a_log_that_changes_at_work_waits_for_a_present, "SHAPE=q1", two)
{
    struct log_changer changer = {.queue = w->queues[0][1]};
    const BfFenceLogReaderCreateInfo log = {.sType = BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO,
                                            .vkQueue = changer.queue,
                                            .type = BF_FENCE_LOG_TYPE_SIGNALS};
    assert_success(bfGetDevice(w->device, &changer.device));
    assert_success(bfCreateFenceLogReader(changer.device, &log, &changer.reader));
    w->icd.hold_before_signals(true);
    assert_submitted(changer.queue, .commands = device_store(w, 0, 0, 1));
    change_beside(w, &changer);
}

static void bind_nothing(VkQueue queue, VkSemaphore wait, VkSemaphore signal, uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &value, .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkBindSparseInfo bind = {VK_TYPE(BIND_SPARSE_INFO),
                                   .pNext = &values,
                                   .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                                   .pWaitSemaphores = &wait,
                                   .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                                   .pSignalSemaphores = &signal};
    assert_success(vkQueueBindSparse(queue, 1, &bind, VK_NULL_HANDLE));
}

/* Of as many rounds as there are queues, in each of which another one has a bind: those in which it
 * was the first to go. 'behind': something of the same queue is before it. */
static uint32_t sparse_binds_gone_first(struct device *w, bool behind)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    uint32_t first = 0;
    for (uint32_t round = 0; round < 3; round++) {
        struct belfry_icd_record records[4];
        for (uint32_t i = 0; i < 3; i++) {
            if (i != round || behind)
                assert_submitted(w->queues[0][i], .commands = device_store(w, 0, i, i), .wait = t,
                                 .wait_value = round + 1);
            if (i == round)
                bind_nothing(w->queues[0][i], t, VK_NULL_HANDLE, round + 1);
        }
        w->icd.record_start(records, 4);
        vulkan_signal(w->device, t, round + 1);
        assert_true(w->icd.record_stop() >= 2);
        first += records[0].call == BELFRY_ICD_CALL_BIND_SPARSE;
    }
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
    return first;
}

/* PE-5: wherever its queue is among the others; and behind what its own queue has had before it. */
DEVICE_TEST(test_sparse_binds_go_first, "SHAPE=q1", three_of_one)
{
    assert_int_equal(sparse_binds_gone_first(w, false), 3);
    assert_int_equal(sparse_binds_gone_first(w, true), 0);
}

/* In the legacy mode they go in turn, as everything. */
TEST(test_without_preemption_sparse_binds_go_in_turn)
{
    struct device w;
    setenv("VK_BELFRY_MULTI_ENGINE_PREEMPTION", "false", 1);
    world_open(&w, "SHAPE=q1", three_of_one);
    unsetenv("VK_BELFRY_MULTI_ENGINE_PREEMPTION");
    assert_true(sparse_binds_gone_first(&w, false) < 3);
    world_close(&w);
}

/* PE-1: it brings along what its own queue has before it, and no others'. */
DEVICE_TEST(test_sparse_binds_pass_requests, "SHAPE=q1", two)
{
    BfDevice device;
    BfCommandQueue queue;
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    VkCommandBuffer mine = device_store(w, 0, 2, 2);
    VkSemaphore t = vulkan_timeline(w->device, 0);
    w->icd.pause();
    assert_success(bfQueueExecute(queue, 1, &mine));
    assert_success(bfRequestPreemption(queue, NULL));
    uint64_t before = world_accepted(w);
    for (uint32_t i = 0; i < 2; i++)
        assert_submitted(w->queues[0][i], .commands = device_store(w, 0, i, i));
    assert_int_equal(world_accepted(w), before);
    bind_nothing(w->queues[0][1], VK_NULL_HANDLE, t, 5);
    assert_int_equal(world_accepted(w), before + 2);
    w->icd.resume();
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(world_accepted(w), before + 3);
    assert_success(vkGetSemaphoreCounterValue(w->device, t, &before));
    assert_int_equal(before, 5);
    vkDestroySemaphore(w->device, t, NULL);
    bfDestroyCommandQueue(queue);
}

static void *queue_wait_idle(void *queue)
{
    assert_success(vkQueueWaitIdle(queue));
    return NULL;
}

/* PW-7: what another VkQueue's window holds goes once such a call on this one rests on it. */
TEST(test_calls_that_rest_on_what_windows_hold)
{
    enum { BIND, UNKNOWN, QUEUE_IDLE, EXPORT, CALLS, HELD = 200 };
    for (int call = 0; call < CALLS; call++) {
        struct device w;
        BfDevice device;
        BfCommandQueue high;
        pthread_t thread;
        VkSemaphore exported = VK_NULL_HANDLE;
        const BfCommandQueueCreateInfo info = {BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                               .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH};
        world_open(&w, "SHAPE=q1", two);
        VkSemaphore t = vulkan_timeline(w.device, 0);
        const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t,
                                            .value = 1};
        const VkSubmitInfo2 unknown = {VK_TYPE(SUBMIT_INFO_2), .pNext = STRANGER,
                                       .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &wait};
        assert_success(bfGetDevice(w.device, &device));
        assert_success(bfCreateCommandQueue(device, &info, &high));
        w.icd.pause();
        for (uint32_t i = 0; i <= HELD; i++)
            assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 0, 1),
                             .signal = i == HELD ? t : VK_NULL_HANDLE, .signal_value = 1);
        assert_true(w.icd.queue_depth(0, 0) < HELD / 2); /* PW-6 lets some through, with time */
        if (call == BIND)
            bind_nothing(w.queues[0][1], t, VK_NULL_HANDLE, 1);
        else if (call == UNKNOWN)
            assert_success(vkQueueSubmit2(w.queues[0][1], 1, &unknown, VK_NULL_HANDLE));
        else if (call == EXPORT)
            exported = world_exportable(&w);
        else
            assert_submitted(w.queues[0][1], .commands = device_store(&w, 0, 1, 1), .wait = t,
                             .wait_value = 1);
        if (call == QUEUE_IDLE)
            assert_int_equal(pthread_create(&thread, NULL, queue_wait_idle, w.queues[0][1]), 0);
        while (call == QUEUE_IDLE && w.icd.queue_depth(0, 0) < HELD + 2)
            sched_yield();
        assert_true(w.icd.queue_depth(0, 0) >= HELD + 1);
        w.icd.resume();
        if (call == QUEUE_IDLE)
            assert_int_equal(pthread_join(thread, NULL), 0);
        assert_success(vkDeviceWaitIdle(w.device));
        vkDestroySemaphore(w.device, exported, NULL);
        vkDestroySemaphore(w.device, t, NULL);
        bfDestroyCommandQueue(high);
        world_close(&w);
    }
}

/* PW-7, PE-1: a present is deferred by nothing: what it depends on passes what a window holds, or a
 * request for preemption. */
TEST(test_a_present_passes_windows_and_requests)
{
    enum { WINDOW, REQUEST, HOW, HELD = 40 };
    for (int how = 0; how < HOW; how++) {
        struct device w;
        struct screen s;
        BfDevice device;
        BfCommandQueue other;
        BfFence done;
        uint32_t image;
        uint64_t number;
        const BfCommandQueueCreateInfo info = {BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                               .priority = how == WINDOW
                                                               ? BF_COMMAND_QUEUE_PRIORITY_HIGH
                                                               : BF_COMMAND_QUEUE_PRIORITY_NORMAL};
        world_open(&w, "SHAPE=q1", two);
        screen_open(&w, &s, NULL, 0);
        VkSemaphore drawn = vulkan_binary(w.device);
        VkFence fence = vulkan_fence(w.device, false);
        assert_success(vkAcquireNextImageKHR(w.device, s.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                             fence, &image));
        assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(bfGetDevice(w.device, &device));
        assert_success(bfCreateCommandQueue(device, &info, &other));
        assert_success(bfGetPreemptionFence(other, &done));
        w.icd.pause();
        assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 0, 1));
        if (how == REQUEST)
            assert_success(bfRequestPreemption(other, &number));
        for (uint32_t i = 1; i <= HELD; i++)
            assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 0, 1),
                             .signal = i == HELD ? drawn : VK_NULL_HANDLE);
        assert_true(w.icd.queue_depth(0, 0) < HELD / 2); /* PW-6 lets some through, with time */
        assert_success(screen_present(w.queues[0][0], &s, image, drawn));
        assert_true(w.icd.queue_depth(0, 0) >= HELD + 1);
        w.icd.resume();
        assert_success(vkDeviceWaitIdle(w.device));
        vulkan_destroy(w.device, fence, drawn);
        bfDestroyCommandQueue(other);
        screen_close(&w, &s);
        world_close(&w);
    }
}

static void *signal_one(void *argument)
{
    struct presenter *p = argument;
    vulkan_signal(p->device, p->wait, 1);
    return NULL;
}

static void *submit_fence(void *argument)
{
    struct presenter *p = argument;
    p->id = gettid();
    p->result = vulkan_submit(p->queue, (struct vulkan_batch){.commands = VK_NULL_HANDLE});
    return NULL;
}

enum { BESIDE = 1, OWN = 2, BOUND = 16 };

/* AC-4: a pump stops at its bound for the present, which hands over what is left of it first; many
 * times as much as a pump's bound if others wait, too (a fence ends a batch). Where half of it is
 * the present's own queue's, that half goes first. */
static void present_behind(struct device *w, uint32_t held, int how)
{
    const bool beside = how & BESIDE;
    struct screen s;
    struct belfry_icd_record *records = calloc(held + 2, sizeof(*records));
    VkFence *fences = calloc(held + 1, sizeof(*fences));
    VkSemaphore t = vulkan_timeline(w->device, 0);
    uint32_t image;
    screen_open(w, &s, NULL, 0);
    for (uint32_t i = 0; i <= held; i++)
        fences[i] = vulkan_fence(w->device, false);
    assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                         fences[held], &image));
    assert_success(vkWaitForFences(w->device, 1, &fences[held], VK_TRUE, UINT64_MAX));
    for (uint32_t i = 0; i < held; i++)
        assert_submitted(w->queues[0][how & OWN ? i % 2 : 1], .wait = t, .wait_value = 1,
                         .fence = fences[i]);
    w->icd.record_start(records, held + 2);
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    pthread_t threads[3];
    struct presenter signals = {.device = w->device, .wait = t};
    struct presenter p = {
        .device = w->device, .screen = &s, .queue = w->queues[0][0], .image = image};
    struct presenter other = {.device = w->device, .queue = w->queues[0][1]};
    assert_int_equal(pthread_create(&threads[0], NULL, signal_one, &signals), 0);
    w->icd.await_blocked(1);
    assert_int_equal(pthread_create(&threads[1], NULL, screen_run_present, &p), 0);
    await_asleep(&p.id);
    if (beside) /* behind all of them */
        assert_int_equal(pthread_create(&threads[2], NULL, submit_fence, &other), 0);
    if (beside)
        await_asleep(&other.id);
    w->icd.release(UINT64_MAX);
    for (int i = 0; i < 2 + beside; i++)
        pthread_join(threads[i], NULL);
    w->icd.set_block(NULL);
    assert_success(p.result);
    assert_success(other.result);
    assert_int_equal(w->icd.record_stop(), held + 1 + beside);
    assert_int_equal(records[held + beside].call, BELFRY_ICD_CALL_PRESENT);
    for (uint32_t n = held - (held - BOUND) / 2; how & OWN && n < held; n++) {
        uint32_t i = 0;
        while ((uint64_t)fences[i] != records[n].fence)
            i++;
        assert_int_equal(i % 2, 1); /* the other queue's */
    }
    assert_success(vkDeviceWaitIdle(w->device));
    for (uint32_t i = 0; i <= held; i++)
        vkDestroyFence(w->device, fences[i], NULL);
    vkDestroySemaphore(w->device, t, NULL);
    screen_close(w, &s);
    free(fences);
    free(records);
}

DEVICE_TEST(test_present_comes_behind_what_is_ready, "SHAPE=q1", two)
{
    present_behind(w, 24, 0); /* less than two pumps' */
}

DEVICE_TEST(test_present_comes_behind_all_that_is_ready, "SHAPE=q1", two)
{
    for (int i = 0; i < 12; i++) /* whoever comes to the lock when */
        present_behind(w, 300, BESIDE);
}

DEVICE_TEST(test_present_comes_behind_its_own_queue_first, "SHAPE=q1", two)
{
    present_behind(w, 48, OWN);
}

/* AC-4, Q-5: what this sets free on another VkQueue goes before the present, too. */
static const uint32_t three[] = {3, WORLD_END};

DEVICE_TEST(test_present_comes_behind_what_that_sets_free, "SHAPE=q2", three)
{
    enum { HELD = 24 }; /* as above: the present hands over the last of them */
    struct screen s;
    VkFence fences[HELD];
    VkSemaphore t = vulkan_timeline(w->device, 0), freed = vulkan_timeline(w->device, 0);
    uint32_t image;
    screen_open(w, &s, NULL, 0);
    for (int i = 0; i < HELD; i++)
        fences[i] = vulkan_fence(w->device, false);
    assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, VK_NULL_HANDLE,
                                         fences[0], &image));
    assert_success(vkWaitForFences(w->device, 1, fences, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(w->device, 1, fences));
    for (int i = 0; i < HELD; i++) /* beside the present's queue */
        assert_submitted(w->queues[0][2], .wait = t, .wait_value = 1, .fence = fences[i],
                         .signal = freed, .signal_value = i + 1);
    assert_submitted(w->queues[0][1], .wait = freed, .wait_value = HELD);
    const uint64_t before = vulkan_counters(&w->icd).submit_infos;
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    pthread_t threads[2];
    struct presenter signals = {.device = w->device, .wait = t};
    struct presenter p = {
        .device = w->device, .screen = &s, .queue = w->queues[0][0], .image = image};
    assert_int_equal(pthread_create(&threads[0], NULL, signal_one, &signals), 0);
    w->icd.await_blocked(1);
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueuePresentKHR", .first = 1});
    assert_int_equal(pthread_create(&threads[1], NULL, screen_run_present, &p), 0);
    await_asleep(&p.id);
    w->icd.release(1);
    while (vulkan_counters(&w->icd).submit_infos < before + HELD)
        sched_yield();
    w->icd.await_blocked(1);
    const uint64_t accepted = vulkan_counters(&w->icd).submit_infos;
    w->icd.release(UINT64_MAX);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    w->icd.set_block(NULL);
    assert_success(p.result);
    assert_int_equal(accepted, before + HELD + 1);
    assert_success(vkDeviceWaitIdle(w->device));
    for (int i = 0; i < HELD; i++)
        vkDestroyFence(w->device, fences[i], NULL);
    vulkan_destroy(w->device, t, freed);
    screen_close(w, &s);
}

/* What drivers are told of VkQueues and frames ------------------------------------------------- */

#define OF_DEVICE(result_, name_, ...)                                                             \
    ((result_(VKAPI_PTR *)(__VA_ARGS__))vkGetDeviceProcAddr(w.device, name_))

/* Commands that speak of a whole VkQueue arrive with the driver's own handle, but for those that
 * other queues of the program's would be meant by too; ids of submissions and presents always do,
 * also held ones. */
TEST(test_drivers_are_told)
{
    static const uint32_t counts[][2] = {{2, WORLD_END}, {4, WORLD_END}};
    static const char *const labels[] = {"vkQueueNotifyOutOfBandNV",
                                         "vkQueueNotifyOutOfBandLegacyNV",
                                         "vkQueueSetPerfHintQCOM",
                                         "vkCreateExternalComputeQueueNV",
                                         NULL,
                                         NULL,
                                         NULL};
    enum { SHARED_FROM = 3, TOLD = 7 }; /* what arrives on a shared VkQueue, and on any other */
    for (uint32_t shared = 0; shared < 2; shared++) {
        struct device w;
        struct screen s;
        struct belfry_icd_record records[TOLD];
        uint32_t image;
        world_open(&w, "SHAPE=q2 LATENCY=1", counts[shared]);
        screen_open(&w, &s, NULL, 0);
        VkQueue queue = w.queues[0][1];
        VkSemaphore t = vulkan_timeline(w.device, 0), acquired = vulkan_binary(w.device);
        assert_success(vkAcquireNextImageKHR(w.device, s.swapchain, UINT64_MAX, acquired,
                                             VK_NULL_HANDLE, &image));
        w.icd.record_start(records, TOLD);
        const struct {
            VkStructureType type;
            const void *next;
            uint32_t words[2];
        } band = {(VkStructureType)1000505006, NULL, {1, 0}},
          hint = {(VkStructureType)1000302000, NULL, {3, 50}};
        OF_DEVICE(void, labels[0], VkQueue, const void *)(queue, &band);
        OF_DEVICE(void, labels[1], VkQueue, uint32_t)(queue, 2);
        assert_success(OF_DEVICE(VkResult, labels[2], VkQueue, const void *)(queue, &hint));
        const struct {
            VkStructureType type;
            const void *next;
            VkQueue preferred;
        } beside = {(VkStructureType)1000556000, NULL, queue};
        void *external = NULL;
        assert_success(OF_DEVICE(VkResult, labels[3], VkDevice, const void *, const void *,
                                 void **)(w.device, &beside, NULL, &external));

        /* A submission with an id at once, one that is held, and the present. */
        struct {
            VkStructureType type;
            const void *next;
            uint64_t id;
        } submitted = {(VkStructureType)1000505005, NULL, 4};
        const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t,
                                            .value = 1,
                                            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .pNext = &submitted,
                              .pWaitSemaphoreInfos = &wait};
        VkCommandBuffer store = device_store(&w, 0, 0, 1);
        const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                    .commandBuffer = store};
        info.commandBufferInfoCount = 1;
        info.pCommandBufferInfos = &commands;
        assert_success(vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE));
        assert_success(vkQueueWaitIdle(queue));
        submitted.id = UINT64_C(5) << 33;
        info.waitSemaphoreInfoCount = 1;
        assert_success(vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE));
        submitted.id = 0;
        vulkan_signal(w.device, t, 1);
        const uint64_t id = 6;
        const VkPresentIdKHR ids = {VK_TYPE(PRESENT_ID_KHR), .swapchainCount = 1,
                                    .pPresentIds = &id};
        const VkPresentInfoKHR shown = {VK_TYPE(PRESENT_INFO_KHR), .pNext = &ids,
                                        .waitSemaphoreCount = 1,   .pWaitSemaphores = &acquired,
                                        .swapchainCount = 1,       .pSwapchains = &s.swapchain,
                                        .pImageIndices = &image};
        assert_success(vkQueuePresentKHR(queue, &shown));

        static const uint64_t said[TOLD] = {1, 2, 3, 0, 4, UINT64_C(5) << 33, 6};
        const uint32_t from = shared ? SHARED_FROM : 0;
        assert_int_equal(w.icd.record_stop(), TOLD - from);
        for (uint32_t i = from; i < TOLD; i++) {
            const struct belfry_icd_record *r = &records[i - from];
            assert_true(r->id == said[i]);
            assert_int_equal(r->index, 1);
            if (labels[i])
                assert_string_equal(r->label, labels[i]);
        }

        /* The driver signals what vkLatencySleepNV names: a wait for it, held here, comes to its
         * end. */
        const struct {
            VkStructureType type;
            const void *next;
            VkSemaphore semaphore;
            uint64_t value;
        } sleep = {(VkStructureType)1000505001, NULL, t, 3};
        assert_success(vkQueueWaitIdle(queue));
        if (shared)
            assert_submitted(queue, .wait = t, .wait_value = 2);
        assert_success(OF_DEVICE(VkResult, "vkLatencySleepNV", VkDevice, VkSwapchainKHR,
                                 const void *)(w.device, s.swapchain, &sleep));
        if (!shared)
            assert_submitted(queue, .wait = t, .wait_value = 3);
        assert_success(vkDeviceWaitIdle(w.device));
        OF_DEVICE(void, "vkDestroyExternalComputeQueueNV", VkDevice, void *, const void *)
        (w.device, external, NULL);
        vulkan_destroy(w.device, t, acquired);
        screen_close(&w, &s);
        world_close(&w);
    }
}

/* Frames as programs make them, on one queue and on two, with a family of its own to present. */
TEST(test_frames)
{
    static const uint32_t of_each[] = {1, 1, 1, WORLD_END}, families[] = {0, 1, 2};
    struct device w;
    world_open(&w, "SHAPE=lavapipe", of_each);
    struct screen s;
    screen_open(&w, &s, families, 3);
    VkSemaphore acquired[3], drawn[3], t = vulkan_timeline(w.device, 0);
    VkFence fence = vulkan_fence(w.device, false);
    for (uint32_t i = 0; i < 3; i++) {
        acquired[i] = vulkan_binary(w.device);
        drawn[i] = vulkan_binary(w.device);
    }
    for (uint32_t frame = 0; frame < 12; frame++) {
        uint32_t image, k = frame % 3;
        assert_success(vkAcquireNextImageKHR(w.device, s.swapchain, UINT64_MAX, acquired[k],
                                             frame % 4 == 0 ? fence : VK_NULL_HANDLE, &image));
        if (frame % 4 == 0) {
            assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
            assert_success(vkResetFences(w.device, 1, &fence));
        }
        assert_submitted(w.queues[1][0], .commands = device_store(&w, 1, 0, frame), .signal = t,
                         .signal_value = frame + 1);
        const VkSemaphoreSubmitInfo waits[2] = {
            {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = acquired[k],
             .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
            {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = t, .value = frame + 1,
             .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT}};
        const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = drawn[k],
                                              .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 2,
                                    .pWaitSemaphoreInfos = waits, .signalSemaphoreInfoCount = 1,
                                    .pSignalSemaphoreInfos = &signal};
        assert_success(vkQueueSubmit2(w.queues[0][0], 1, &info, VK_NULL_HANDLE));
        assert_success(screen_present(w.queues[frame % 2 * 2][0], &s, image, drawn[k]));
        if (frame % 3 == 2)
            assert_success(vkDeviceWaitIdle(w.device));
    }
    assert_int_equal(vulkan_counters(&w.icd).presents, 12);
    assert_success(vkDeviceWaitIdle(w.device));
    for (uint32_t i = 0; i < 3; i++) {
        vulkan_destroy(w.device, acquired[i], drawn[i]);
    }
    vulkan_destroy(w.device, t, fence);
    screen_close(&w, &s);
    world_close(&w);
}

/* The signal that an image waits for is held behind a timeline: the present comes after it. */
DEVICE_TEST(test_present_behind_held_work, "SHAPE=q1", two)
{
    struct screen s;
    screen_open(w, &s, NULL, 0);
    VkSemaphore acquired = vulkan_binary(w->device), drawn = vulkan_binary(w->device),
                t = vulkan_timeline(w->device, 0);
    for (uint64_t round = 1; round <= 10; round++) {
        struct belfry_icd_record records[8];
        struct presenter p = {.screen = &s, .queue = w->queues[0][1], .wait = drawn};
        assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, acquired,
                                             VK_NULL_HANDLE, &p.image));
        w->icd.record_start(records, 8);
        assert_submitted(w->queues[0][0], .wait = acquired);
        assert_submitted(w->queues[0][0], .wait = t, .wait_value = round, .signal = drawn);
        assert_int_equal(w->icd.record_count(), 1);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, screen_run_present, &p), 0);
        while (!p.started)
            sched_yield();
        if (round % 2)
            vulkan_signal(w->device, t, round);
        else
            assert_submitted(w->queues[0][1], .signal = t, .signal_value = round);
        pthread_join(thread, NULL);
        assert_success(p.result);
        size_t n = w->icd.record_stop();
        assert_int_equal(n, round % 2 ? 3 : 4);
        assert_int_equal(records[n - 1].call, BELFRY_ICD_CALL_PRESENT);
        assert_int_equal(records[n - 1].waits, 1);
        assert_success(vkQueueWaitIdle(w->queues[0][0]));
        assert_success(vkQueueWaitIdle(w->queues[0][1]));
    }
    vulkan_destroy(w->device, acquired, drawn, t);
    screen_close(w, &s);
}

/* With presents outstanding the driver alone knows when a queue is idle. */
DEVICE_TEST(test_present_and_idle, "SHAPE=q1", two)
{
    struct screen s;
    screen_open(w, &s, NULL, 0);
    VkSemaphore acquired = vulkan_binary(w->device);
    uint32_t image;
    assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, acquired,
                                         VK_NULL_HANDLE, &image));
    assert_submitted(w->queues[0][1], .commands = device_store(w, 0, 0, 1));
    assert_success(vkQueueWaitIdle(w->queues[0][1]));
    assert_int_equal(vulkan_counters(&w->icd).queue_wait_idles, 0);
    assert_success(screen_present(w->queues[0][0], &s, image, acquired));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(vulkan_counters(&w->icd).queue_wait_idles, 1);
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_success(vkQueueWaitIdle(w->queues[0][1]));
    assert_int_equal(vulkan_counters(&w->icd).queue_wait_idles, 1);
    /* What is submitted behind a present ends behind it, and tells of both (I-3). */
    assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, acquired,
                                         VK_NULL_HANDLE, &image));
    assert_success(screen_present(w->queues[0][0], &s, image, acquired));
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 2));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(w->words[0], 2);
    assert_int_equal(vulkan_counters(&w->icd).queue_wait_idles, 1);
    /* The wait consumed the semaphore. */
    assert_success(vkAcquireNextImageKHR(w->device, s.swapchain, UINT64_MAX, acquired,
                                         VK_NULL_HANDLE, &image));
    assert_submitted(w->queues[0][0], .wait = acquired);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, acquired, NULL);
    screen_close(w, &s);
}

/* Sparse binds ------------------------------------------------------------------------------- */

#define BLOCK 65536

struct sparse {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *words;
};

static void sparse_open(struct device *w, struct sparse *s)
{
    const VkBufferCreateInfo info = {
        VK_TYPE(BUFFER_CREATE_INFO), .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT,
        .size = 4 * BLOCK,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    assert_success(vkCreateBuffer(w->device, &info, NULL, &s->buffer));
    const VkMemoryAllocateInfo memory = {VK_TYPE(MEMORY_ALLOCATE_INFO),
                                         .allocationSize = 4 * BLOCK};
    assert_success(vkAllocateMemory(w->device, &memory, NULL, &s->memory));
    assert_success(vkMapMemory(w->device, s->memory, 0, VK_WHOLE_SIZE, 0, (void **)&s->words));
    memset(s->words, 0, 4 * BLOCK);
}

static void sparse_close(struct device *w, struct sparse *s)
{
    vulkan_destroy(w->device, s->buffer, s->memory);
}

/* Binds two blocks of the buffer in two infos, with everything that was passed gone afterwards. */
static VkResult sparse_bind(VkQueue queue, struct sparse *s, VkDeviceSize memory_offset,
                            VkSemaphore wait, uint64_t wait_value, VkSemaphore signal,
                            uint64_t signal_value, VkFence fence)
{
    struct {
        VkBindSparseInfo infos[2];
        VkTimelineSemaphoreSubmitInfo values[2];
        VkDeviceGroupBindSparseInfo group;
        VkSparseBufferMemoryBindInfo buffers[2];
        VkSparseMemoryBind binds[2];
        VkSemaphore wait, signal;
        uint64_t wait_value, signal_value;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    m->wait = wait;
    m->signal = signal;
    m->wait_value = wait_value;
    m->signal_value = signal_value;
    m->group =
        (VkDeviceGroupBindSparseInfo){VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO, NULL, 0, 0};
    m->values[0] = (VkTimelineSemaphoreSubmitInfo){VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   &m->group,
                                                   wait ? 1 : 0,
                                                   &m->wait_value,
                                                   0,
                                                   NULL};
    m->values[1] = (VkTimelineSemaphoreSubmitInfo){VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                   NULL,
                                                   0,
                                                   NULL,
                                                   signal ? 1 : 0,
                                                   &m->signal_value};
    for (uint32_t i = 0; i < 2; i++) {
        m->binds[i] = (VkSparseMemoryBind){.resourceOffset = i * BLOCK,
                                           .size = BLOCK,
                                           .memory = s->memory,
                                           .memoryOffset = memory_offset + i * BLOCK};
        m->buffers[i] = (VkSparseBufferMemoryBindInfo){s->buffer, 1, &m->binds[i]};
        m->infos[i] = (VkBindSparseInfo){VK_TYPE(BIND_SPARSE_INFO),
                                         .pNext = &m->values[i],
                                         .waitSemaphoreCount = i == 0 && wait,
                                         .pWaitSemaphores = &m->wait,
                                         .bufferBindCount = 1,
                                         .pBufferBinds = &m->buffers[i],
                                         .signalSemaphoreCount = i == 1 && signal,
                                         .pSignalSemaphores = &m->signal};
    }
    VkResult result = vkQueueBindSparse(queue, 2, m->infos, fence);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}

static VkCommandBuffer sparse_fill(struct device *w, uint32_t family, struct sparse *s,
                                   uint32_t word)
{
    VkCommandBuffer commands = device_begin(w, family, 0);
    vkCmdFillBuffer(commands, s->buffer, 0, 2 * BLOCK, word);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

TEST(test_sparse_binds)
{
    static const struct {
        const char *shape;
        uint32_t counts[4], bind_family, fill_family;
    } worlds[] = {
        {"SHAPE=q1", {2, WORLD_END}, 0, 0},
        {"SHAPE=q2", {2, WORLD_END}, 0, 0},
        {"SHAPE=radv", {1, 0, 1, WORLD_END}, 2, 0}, /* a family that does nothing else */
        {"SHAPE=nvidia", {1, 2, WORLD_END}, 1, 0},
    };
    for (size_t i = 0; i < 4; i++) {
        struct device w;
        world_open(&w, worlds[i].shape, worlds[i].counts);
        VkQueue bind = w.queues[worlds[i].bind_family][0];
        VkQueue fill = w.queues[worlds[i].fill_family][0];
        uint32_t family = worlds[i].fill_family;
        struct sparse s;
        sparse_open(&w, &s);
        VkSemaphore t = vulkan_timeline(w.device, 0), done = vulkan_timeline(w.device, 0);
        VkFence fence = vulkan_fence(w.device, false);
        /* At once; then held with work before and behind it. */
        assert_success(sparse_bind(bind, &s, 0, VK_NULL_HANDLE, 0, done, 1, fence));
        assert_submitted(fill, .wait = done, .wait_value = 1,
                         .commands = sparse_fill(&w, family, &s, 1), .signal = done,
                         .signal_value = 2);
        vulkan_wait(w.device, done, 2);
        assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_success(vkResetFences(w.device, 1, &fence));
        assert_int_equal(s.words[0], 1);
        assert_int_equal(s.words[2 * BLOCK / 4 - 1], 1);

        uint64_t before = world_accepted(&w);
        assert_submitted(fill, .wait = t, .wait_value = 1,
                         .commands = sparse_fill(&w, family, &s, 2), .signal = t,
                         .signal_value = 2);
        assert_success(sparse_bind(bind, &s, 2 * BLOCK, t, 2, t, 3, fence));
        assert_success(vkQueueBindSparse(bind, 0, NULL, VK_NULL_HANDLE));
        assert_submitted1(fill, .wait = t, .wait_value = 3,
                          .commands = sparse_fill(&w, family, &s, 3), .signal = done,
                          .signal_value = 3);
        assert_int_equal(world_accepted(&w), before);
        assert_int_equal(vkGetFenceStatus(w.device, fence), VK_NOT_READY);
        vulkan_signal(w.device, t, 1);
        vulkan_wait(w.device, done, 3);
        assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
        assert_int_equal(s.words[0], 2);
        assert_int_equal(s.words[2 * BLOCK / 4], 3);
        assert_int_equal(s.words[4 * BLOCK / 4 - 1], 3);
        struct belfry_icd_sparse_bind binds[8];
        assert_int_equal(w.icd.sparse_binds(binds, 8), 4);
        for (uint32_t k = 0; k < 4; k++) {
            assert_int_equal(binds[k].resource, (uint64_t)s.buffer);
            assert_int_equal(binds[k].offset, k % 2 * BLOCK);
            assert_int_equal(binds[k].size, BLOCK);
            assert_int_equal(binds[k].memory_offset, k * BLOCK);
        }
        assert_success(vkQueueWaitIdle(bind));
        /* Within one queue binds and submissions keep their order, and a fence alone its place. */
        if (worlds[i].bind_family == worlds[i].fill_family) {
            assert_success(vkResetFences(w.device, 1, &fence));
            assert_submitted(fill, .wait = t, .wait_value = 10,
                             .commands = sparse_fill(&w, family, &s, 4));
            assert_success(
                sparse_bind(fill, &s, 0, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, 0, VK_NULL_HANDLE));
            assert_submitted(fill, .commands = sparse_fill(&w, family, &s, 5));
            assert_success(vkQueueBindSparse(fill, 0, NULL, fence));
            assert_int_equal(vkGetFenceStatus(w.device, fence), VK_NOT_READY);
            vulkan_signal(w.device, t, 10);
            assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
            assert_int_equal(s.words[2 * BLOCK / 4], 4);
            assert_int_equal(s.words[0], 5);
        }
        assert_success(vkDeviceWaitIdle(w.device));
        vulkan_destroy(w.device, t, done, fence);
        sparse_close(&w, &s);
        world_close(&w);
    }
}
