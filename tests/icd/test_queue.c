/* SPDX-License-Identifier: MIT */
/* Submission: order, both kinds of semaphores, fences, events, pausing, and what is counted. A test
 * that shows that nothing happens lets the driver come to rest first (quiesce). */
#include "support/world.h"

DEVICE_TEST(test_wait_before_signal, "SHAPE=q2 QUIET=1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    VkCommandBuffer store = device_store(w, 0, 0, 7);

    assert_submitted(w->queues[0][0], .wait = a, .wait_value = 1, .commands = store, .signal = b,
                     .signal_value = 1);
    vulkan_expect(&w->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    w->icd.quiesce();
    assert_int_equal(vulkan_value(w->device, b), 0);
    assert_int_equal(w->words[0], 0);
    assert_int_equal(w->icd.queue_depth(0, 0), 1);

    assert_submitted(w->queues[0][1], .signal = a, .signal_value = 1);
    vulkan_wait(w->device, b, 1);
    assert_int_equal(w->words[0], 7);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, a, b);
}

/* The host's signal counts as submitted; so does a signal earlier in the same call. */
DEVICE_TEST(test_legal_waits, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 5);
    vulkan_signal(w->device, a, 9);
    assert_submitted1(w->queues[0][0], .wait = a, .wait_value = 9);

    const VkSemaphoreSubmitInfo ten = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = a, .value = 10,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 infos[2] = {
        {VK_TYPE(SUBMIT_INFO_2), .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &ten},
        {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &ten},
    };
    assert_success(vkQueueSubmit2(w->queues[0][0], 2, infos, VK_NULL_HANDLE));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(vulkan_value(w->device, a), 10);
    vkDestroySemaphore(w->device, a, NULL);
}

DEVICE_TEST(test_order_in_queue, "SHAPE=q1", WORLD_ALL)
{
    VkFence fence = vulkan_fence(w->device, false);
    for (uint32_t i = 1; i <= 100; i++) {
        VkCommandBuffer commands = device_begin(w, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        /* Each packet copies what the one before wrote and writes its own number. */
        VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 4 * i, .size = 4};
        vkCmdCopyBuffer(commands, w->buffer, w->buffer, 1, &copy);
        vkCmdFillBuffer(commands, w->buffer, 0, 4, i);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted(w->queues[0][0], .commands = commands,
                         .fence = i == 100 ? fence : VK_NULL_HANDLE);
    }
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    for (uint32_t i = 1; i <= 100; i++)
        assert_int_equal(w->words[i], i - 1);
    assert_int_equal(vulkan_counters(&w->icd).command_buffers, 100);
    vkDestroyFence(w->device, fence, NULL);
}

DEVICE_TEST(test_binary, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore binary = vulkan_binary(w->device), gate = vulkan_timeline(w->device, 0);
    VkSemaphore end = vulkan_timeline(w->device, 0);
    w->icd.pause();
    /* The same semaphore goes back and forth: the n-th wait takes the n-th signal. */
    for (uint64_t i = 1; i <= 10; i++) {
        assert_submitted1(w->queues[0][0], .signal = binary);
        assert_submitted1(w->queues[0][1], .wait = binary, .signal = end, .signal_value = i);
        /* What signals next must run after what waited. */
        assert_submitted1(w->queues[0][0], .wait = end, .wait_value = i);
    }
    w->icd.quiesce();
    assert_int_equal(vulkan_value(w->device, end), 0);
    w->icd.resume();
    vulkan_wait(w->device, end, 10);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, binary, gate, end);
}

DEVICE_TEST(test_fences, "SHAPE=q2", WORLD_ALL)
{
    VkFence fences[2] = {vulkan_fence(w->device, false), vulkan_fence(w->device, false)};
    VkSemaphore gate = vulkan_timeline(w->device, 0);
    w->icd.pause();
    assert_submitted(w->queues[0][0], .signal = gate, .signal_value = 1, .fence = fences[0]);
    assert_success(vkQueueSubmit(w->queues[0][1], 0, NULL, fences[1]));
    w->icd.quiesce();
    assert_int_equal(vkGetFenceStatus(w->device, fences[0]), VK_NOT_READY);
    assert_int_equal(vkWaitForFences(w->device, 2, fences, VK_FALSE, 0), VK_TIMEOUT);
    assert_int_equal(vkWaitForFences(w->device, 2, fences, VK_FALSE, 1000), VK_TIMEOUT);
    w->icd.resume();
    assert_success(vkWaitForFences(w->device, 2, fences, VK_TRUE, UINT64_MAX));
    assert_success(vkGetFenceStatus(w->device, fences[0]));
    assert_success(vkResetFences(w->device, 2, fences));
    assert_int_equal(vkGetFenceStatus(w->device, fences[1]), VK_NOT_READY);
    assert_int_equal(vulkan_counters(&w->icd).fence_only_calls, 1);
    vulkan_destroy(w->device, fences[0], fences[1], gate);
}

DEVICE_TEST(test_wait_any, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore semaphores[2] = {vulkan_timeline(w->device, 0), vulkan_timeline(w->device, 0)};
    const uint64_t values[2] = {1, 1};
    VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 2,
                                .pSemaphores = semaphores, .pValues = values};
    assert_int_equal(vkWaitSemaphores(w->device, &info, 1000), VK_TIMEOUT);
    assert_submitted(w->queues[0][1], .signal = semaphores[1], .signal_value = 1);
    info.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
    assert_success(vkWaitSemaphores(w->device, &info, UINT64_MAX));
    info.flags = 0;
    assert_int_equal(vkWaitSemaphores(w->device, &info, 0), VK_TIMEOUT);
    vulkan_signal(w->device, semaphores[0], 1);
    assert_success(vkWaitSemaphores(w->device, &info, UINT64_MAX));
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, semaphores[0], semaphores[1]);
}

DEVICE_TEST(test_events, "SHAPE=q2", WORLD_ALL)
{
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    VkEvent event;
    assert_success(vkCreateEvent(w->device, &info, NULL, &event));
    VkCommandBuffer waits = device_begin(w, 0, 0);
    vkCmdWaitEvents(waits, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    vkCmdFillBuffer(waits, w->buffer, 0, 4, 1);
    vkCmdResetEvent(waits, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_success(vkEndCommandBuffer(waits));
    VkCommandBuffer sets = device_begin(w, 0, 0);
    vkCmdSetEvent(sets, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_success(vkEndCommandBuffer(sets));

    /* Set by the host. */
    assert_submitted(w->queues[0][0], .commands = waits);
    w->icd.quiesce();
    assert_int_equal(w->words[0], 0);
    assert_success(vkSetEvent(w->device, event));
    assert_success(vkQueueWaitIdle(w->queues[0][0]));
    assert_int_equal(w->words[0], 1);
    assert_int_equal(vkGetEventStatus(w->device, event), VK_EVENT_RESET);

    /* Set by another queue. */
    assert_submitted(w->queues[0][0], .commands = waits);
    w->icd.quiesce();
    assert_submitted(w->queues[0][1], .commands = sets);
    assert_success(vkDeviceWaitIdle(w->device));
    assert_int_equal(vkGetEventStatus(w->device, event), VK_EVENT_RESET);
    vkDestroyEvent(w->device, event, NULL);
}

DEVICE_TEST(test_pause, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    w->icd.pause();
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1), .signal = a,
                     .signal_value = 1);
    assert_submitted(w->queues[0][1], .wait = a, .wait_value = 1,
                     .commands = device_store(w, 0, 1, 1));
    w->icd.quiesce();
    assert_int_equal(w->words[0], 0);
    assert_int_equal(vulkan_value(w->device, a), 0);
    assert_int_equal(w->icd.queue_depth(0, 0), 1);
    w->icd.resume();
    w->icd.quiesce();
    assert_int_equal(w->words[0], 1);
    assert_int_equal(w->words[1], 1);
    assert_int_equal(w->icd.queue_depth(0, 0), 0);
    vkDestroySemaphore(w->device, a, NULL);
}

static void record_seen(const struct belfry_icd_record *record, void *user)
{
    uint32_t *infos = user;
    *infos += record->infos;
}

DEVICE_TEST(test_recorder, "SHAPE=q2", WORLD_ALL)
{
    VkFence fence = vulkan_fence(w->device, false);
    VkSemaphore a = vulkan_timeline(w->device, 0);
    struct belfry_icd_record records[2] = {0};
    uint32_t infos = 0;
    w->icd.record_start(records, 2);
    w->icd.set_callback(record_seen, &infos);
    assert_submitted(w->queues[0][1], .commands = device_store(w, 0, 0, 1), .signal = a,
                     .signal_value = 1, .fence = fence);
    assert_submitted1(w->queues[0][0], .wait = a, .wait_value = 1);
    assert_submitted1(w->queues[0][0], .wait = a, .wait_value = 1);
    assert_int_equal(w->icd.record_count(), 3);
    assert_int_equal(w->icd.record_stop(), 3);
    w->icd.set_callback(NULL, NULL);
    assert_submitted1(w->queues[0][0], .wait = a, .wait_value = 1);
    assert_int_equal(infos, 3);
    assert_int_equal(records[0].index, 1);
    assert_int_equal(records[0].command_buffers, 1);
    assert_int_equal(records[0].signals, 1);
    assert_int_equal(records[0].fence, (uint64_t)(uintptr_t)fence);
    assert_int_equal(records[0].thread, (uint64_t)gettid());
    assert_int_equal(records[1].index, 0);
    assert_int_equal(records[1].waits, 1);
    assert_int_equal(records[1].sequence, records[0].sequence + 1);

    struct belfry_icd_counters counters = vulkan_counters(&w->icd);
    assert_int_equal(counters.submit_calls, 4);
    assert_int_equal(counters.submit_infos, 4);
    assert_int_equal(counters.infos_without_command_buffer, 3);
    assert_int_equal(counters.waits, 3);
    assert_int_equal(counters.signals, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    vulkan_destroy(w->device, fence, a);
}

DEVICE_TEST(test_labels, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    struct belfry_icd_record records[16] = {0};
    const VkQueue queue = w->queues[0][0];
    const VkDebugUtilsLabelEXT frame = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "frame"},
                               pass = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "pass"};
    w->icd.record_start(records, 16);
    vkQueueBeginDebugUtilsLabelEXT(queue, &frame);
    assert_submitted1(queue, .signal = a, .signal_value = 1);
    vkQueueBeginDebugUtilsLabelEXT(queue, &pass);
    assert_submitted(queue, .signal = a, .signal_value = 2);
    assert_submitted(w->queues[0][1], .wait = a, .wait_value = 1);
    vkQueueInsertDebugUtilsLabelEXT(queue, &frame);
    vkQueueEndDebugUtilsLabelEXT(queue);
    vkQueueEndDebugUtilsLabelEXT(queue);
    assert_submitted(queue, .signal = a, .signal_value = 3);
    assert_int_equal(w->icd.record_stop(), 9);
    static const struct {
        enum belfry_icd_call call;
        const char *labels, *label;
    } expected[] = {
        {BELFRY_ICD_CALL_LABEL_BEGIN, "frame", "frame"},
        {BELFRY_ICD_CALL_SUBMIT, "frame", NULL},
        {BELFRY_ICD_CALL_LABEL_BEGIN, "frame/pass", "pass"},
        {BELFRY_ICD_CALL_SUBMIT, "frame/pass", NULL},
        {BELFRY_ICD_CALL_SUBMIT, "", NULL}, /* the other queue's */
        {BELFRY_ICD_CALL_LABEL_INSERT, "frame/pass", "frame"},
        {BELFRY_ICD_CALL_LABEL_END, "frame", "pass"},
        {BELFRY_ICD_CALL_LABEL_END, "", "frame"},
        {BELFRY_ICD_CALL_SUBMIT, "", NULL},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(records[i].call, expected[i].call);
        assert_string_equal(records[i].labels, expected[i].labels);
        if (expected[i].label)
            assert_string_equal(records[i].label, expected[i].label);
        else
            assert_null(records[i].label);
    }
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, a, NULL);
}

/* At rest nothing wakes. */
DEVICE_TEST(test_no_wakeups_at_rest, "SHAPE=q4", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_submitted(w->queues[0][i], .signal = a, .signal_value = i + 1, .wait = a,
                         .wait_value = i);
    assert_success(vkDeviceWaitIdle(w->device));
    w->icd.quiesce();
    w->icd.reset_counters();
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 5);
    vulkan_wait(w->device, a, 5);
    w->icd.quiesce();
    /* One queue had something to do and woke once. */
    assert_int_equal(vulkan_counters(&w->icd).wakeups, 1);
    vkDestroySemaphore(w->device, a, NULL);
}

DEVICE_TEST(test_shared_timeline, "SHAPE=q2", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 3), b = vulkan_timeline(w->device, 0);
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = a,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd;
    assert_success(vkGetSemaphoreFdKHR(w->device, &get, &fd));
    VkImportSemaphoreFdInfoKHR import = {
        VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = b,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, .fd = fd};
    assert_success(vkImportSemaphoreFdKHR(w->device, &import));
    assert_int_equal(vulkan_value(w->device, b), 3);
    assert_submitted(w->queues[0][0], .signal = a, .signal_value = 4);
    vulkan_wait(w->device, b, 4);
    vkDestroySemaphore(w->device, a, NULL);
    vulkan_signal(w->device, b, 5);

    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    import.fd = pipes[0];
    assert_int_equal(vkImportSemaphoreFdKHR(w->device, &import), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    close(pipes[0]);
    close(pipes[1]);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, b, NULL);
}

/* Free submit: the work is done when the call returns, or as soon as what it waits for is. */
DEVICE_TEST(test_free_submit, "SHAPE=q2 FREE=1 QUIET=1", WORLD_ALL)
{
    VkSemaphore a = vulkan_timeline(w->device, 0), b = vulkan_timeline(w->device, 0);
    VkSemaphore binary = vulkan_binary(w->device);
    VkFence fence = vulkan_fence(w->device, false);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 0, 1), .signal = a,
                     .signal_value = 1, .fence = fence);
    assert_int_equal(w->words[0], 1);
    assert_int_equal(vulkan_value(w->device, a), 1);
    assert_success(vkGetFenceStatus(w->device, fence));
    vulkan_expect(&w->icd, BELFRY_ICD_VIOLATION_COUNT, 0);

    assert_submitted(w->queues[0][0], .wait = a, .wait_value = 2, .signal = binary);
    assert_submitted(w->queues[0][0], .commands = device_store(w, 0, 1, 2));
    assert_submitted(w->queues[0][1], .wait = binary, .signal = b, .signal_value = 1);
    vulkan_expect(&w->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    assert_int_equal(w->words[1], 0);
    vulkan_signal(w->device, a, 2);
    assert_int_equal(w->words[1], 2);
    assert_int_equal(vulkan_value(w->device, b), 1);
    assert_success(vkDeviceWaitIdle(w->device));

    w->icd.pause();
    assert_submitted(w->queues[0][1], .signal = b, .signal_value = 2);
    assert_int_equal(vulkan_value(w->device, b), 1);
    w->icd.resume();
    assert_int_equal(vulkan_value(w->device, b), 2);
    vulkan_destroy(w->device, a, b, binary, fence);
}

/* Threads and queues at once, with and without workers: every signal arrives. */
struct relay {
    struct device *f;
    VkQueue queue;
    VkSemaphore from, to;
    uint64_t rounds;
};

static void *relay_run(void *argument)
{
    struct relay *relay = argument;
    for (uint64_t i = 1; i <= relay->rounds; i++)
        if (vulkan_submit(relay->queue, (struct vulkan_batch){.wait = relay->from,
                                                              .wait_value = i,
                                                              .signal = relay->to,
                                                              .signal_value = i}) != VK_SUCCESS)
            return relay;
    return NULL;
}

static void relay_test(const char *environment)
{
    struct device f;
    world_open(&f, environment, WORLD_ALL);
    VkSemaphore semaphores[5];
    for (int i = 0; i < 5; i++)
        semaphores[i] = vulkan_timeline(f.device, 0);
    struct relay relays[4];
    pthread_t threads[4];
    for (uint32_t i = 0; i < 4; i++) {
        relays[i] = (struct relay){&f, f.queues[0][i], semaphores[i], semaphores[i + 1], 200};
        assert_int_equal(pthread_create(&threads[i], NULL, relay_run, &relays[i]), 0);
    }
    for (uint64_t i = 1; i <= 200; i++)
        vulkan_signal(f.device, semaphores[0], i);
    vulkan_wait(f.device, semaphores[4], 200);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_success(vkDeviceWaitIdle(f.device));
    for (int i = 0; i < 5; i++)
        vkDestroySemaphore(f.device, semaphores[i], NULL);
    f.icd.reset_counters(); /* here waits come before their signals, as they may in Vulkan */
    world_close(&f);
}

TEST(test_relay)
{
    relay_test("SHAPE=q4 QUIET=1");
}

TEST(test_relay_free)
{
    relay_test("SHAPE=q4 FREE=1 QUIET=1");
}
