/* SPDX-License-Identifier: MIT */
/* Submission: order, both kinds of semaphores, fences, events, pausing, and what is counted. A test
 * that shows that nothing happens lets the driver come to rest first (quiesce). */
#include "fixture.h"

FIXTURE_TEST(test_wait_before_signal, "SHAPE=q2 QUIET=1")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    VkSemaphore b = vulkan_timeline(f->device, 0);
    VkCommandBuffer store = device_store(&f->base, 0, 0, 7);

    assert_success(vulkan_submit(
        f->queues[0][0],
        (struct vulkan_batch){
            .wait = a, .wait_value = 1, .commands = store, .signal = b, .signal_value = 1}));
    vulkan_expect(&f->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, b), 0);
    assert_int_equal(f->words[0], 0);
    assert_int_equal(f->icd.queue_depth(0, 0), 1);

    assert_success(
        vulkan_submit(f->queues[0][1], (struct vulkan_batch){.signal = a, .signal_value = 1}));
    vulkan_wait(f->device, b, 1);
    assert_int_equal(f->words[0], 7);
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, a, NULL);
    vkDestroySemaphore(f->device, b, NULL);
}

/* The host's signal counts as submitted; so does a signal earlier in the same call. */
FIXTURE_TEST(test_legal_waits, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 5);
    vulkan_signal(f->device, a, 9);
    assert_success(
        vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = a, .wait_value = 9}));

    const VkSemaphoreSubmitInfo ten = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = a, .value = 10,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 infos[2] = {
        {VK_TYPE(SUBMIT_INFO_2), .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &ten},
        {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &ten},
    };
    assert_success(vkQueueSubmit2(f->queues[0][0], 2, infos, VK_NULL_HANDLE));
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
    assert_int_equal(vulkan_value(f->device, a), 10);
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_order_in_queue, "SHAPE=q1")
{
    VkFence fence = vulkan_fence(f->device, false);
    for (uint32_t i = 1; i <= 100; i++) {
        VkCommandBuffer commands =
            device_begin(&f->base, 0, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        /* Each packet copies what the one before wrote and writes its own number. */
        VkBufferCopy copy = {.srcOffset = 0, .dstOffset = 4 * i, .size = 4};
        vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
        vkCmdFillBuffer(commands, f->buffer, 0, 4, i);
        assert_success(vkEndCommandBuffer(commands));
        assert_success(vulkan_submit(
            f->queues[0][0], (struct vulkan_batch){.commands = commands,
                                                   .fence = i == 100 ? fence : VK_NULL_HANDLE}));
    }
    assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    for (uint32_t i = 1; i <= 100; i++)
        assert_int_equal(f->words[i], i - 1);
    assert_int_equal(vulkan_counters(&f->icd).command_buffers, 100);
    vkDestroyFence(f->device, fence, NULL);
}

FIXTURE_TEST(test_binary, "SHAPE=q2")
{
    VkSemaphore binary = vulkan_binary(f->device);
    VkSemaphore gate = vulkan_timeline(f->device, 0);
    VkSemaphore end = vulkan_timeline(f->device, 0);
    f->icd.pause();
    /* The same semaphore goes back and forth: the n-th wait takes the n-th signal. */
    for (uint64_t i = 1; i <= 10; i++) {
        assert_success(vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.signal = binary}));
        assert_success(vulkan_submit1(
            f->queues[0][1],
            (struct vulkan_batch){.wait = binary, .signal = end, .signal_value = i}));
        /* What signals next must run after what waited. */
        assert_success(
            vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = end, .wait_value = i}));
    }
    f->icd.quiesce();
    assert_int_equal(vulkan_value(f->device, end), 0);
    f->icd.resume();
    vulkan_wait(f->device, end, 10);
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, binary, NULL);
    vkDestroySemaphore(f->device, gate, NULL);
    vkDestroySemaphore(f->device, end, NULL);
}

FIXTURE_TEST(test_fences, "SHAPE=q2")
{
    VkFence fences[2] = {vulkan_fence(f->device, false), vulkan_fence(f->device, false)};
    VkSemaphore gate = vulkan_timeline(f->device, 0);
    f->icd.pause();
    assert_success(vulkan_submit(
        f->queues[0][0],
        (struct vulkan_batch){.signal = gate, .signal_value = 1, .fence = fences[0]}));
    assert_success(vkQueueSubmit(f->queues[0][1], 0, NULL, fences[1]));
    f->icd.quiesce();
    assert_int_equal(vkGetFenceStatus(f->device, fences[0]), VK_NOT_READY);
    assert_int_equal(vkWaitForFences(f->device, 2, fences, VK_FALSE, 0), VK_TIMEOUT);
    assert_int_equal(vkWaitForFences(f->device, 2, fences, VK_FALSE, 1000), VK_TIMEOUT);
    f->icd.resume();
    assert_success(vkWaitForFences(f->device, 2, fences, VK_TRUE, UINT64_MAX));
    assert_success(vkGetFenceStatus(f->device, fences[0]));
    assert_success(vkResetFences(f->device, 2, fences));
    assert_int_equal(vkGetFenceStatus(f->device, fences[1]), VK_NOT_READY);
    assert_int_equal(vulkan_counters(&f->icd).fence_only_calls, 1);
    vkDestroyFence(f->device, fences[0], NULL);
    vkDestroyFence(f->device, fences[1], NULL);
    vkDestroySemaphore(f->device, gate, NULL);
}

FIXTURE_TEST(test_wait_any, "SHAPE=q2")
{
    VkSemaphore semaphores[2] = {vulkan_timeline(f->device, 0), vulkan_timeline(f->device, 0)};
    const uint64_t values[2] = {1, 1};
    VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 2,
                                .pSemaphores = semaphores, .pValues = values};
    assert_int_equal(vkWaitSemaphores(f->device, &info, 1000), VK_TIMEOUT);
    assert_success(vulkan_submit(
        f->queues[0][1], (struct vulkan_batch){.signal = semaphores[1], .signal_value = 1}));
    info.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
    assert_success(vkWaitSemaphores(f->device, &info, UINT64_MAX));
    info.flags = 0;
    assert_int_equal(vkWaitSemaphores(f->device, &info, 0), VK_TIMEOUT);
    vulkan_signal(f->device, semaphores[0], 1);
    assert_success(vkWaitSemaphores(f->device, &info, UINT64_MAX));
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, semaphores[0], NULL);
    vkDestroySemaphore(f->device, semaphores[1], NULL);
}

FIXTURE_TEST(test_events, "SHAPE=q2")
{
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    VkEvent event;
    assert_success(vkCreateEvent(f->device, &info, NULL, &event));
    VkCommandBuffer waits = device_begin(&f->base, 0, 0);
    vkCmdWaitEvents(waits, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    vkCmdFillBuffer(waits, f->buffer, 0, 4, 1);
    vkCmdResetEvent(waits, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_success(vkEndCommandBuffer(waits));
    VkCommandBuffer sets = device_begin(&f->base, 0, 0);
    vkCmdSetEvent(sets, event, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    assert_success(vkEndCommandBuffer(sets));

    /* Set by the host. */
    assert_success(vulkan_submit(f->queues[0][0], (struct vulkan_batch){.commands = waits}));
    f->icd.quiesce();
    assert_int_equal(f->words[0], 0);
    assert_success(vkSetEvent(f->device, event));
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
    assert_int_equal(f->words[0], 1);
    assert_int_equal(vkGetEventStatus(f->device, event), VK_EVENT_RESET);

    /* Set by another queue. */
    assert_success(vulkan_submit(f->queues[0][0], (struct vulkan_batch){.commands = waits}));
    f->icd.quiesce();
    assert_success(vulkan_submit(f->queues[0][1], (struct vulkan_batch){.commands = sets}));
    assert_success(vkDeviceWaitIdle(f->device));
    assert_int_equal(vkGetEventStatus(f->device, event), VK_EVENT_RESET);
    vkDestroyEvent(f->device, event, NULL);
}

FIXTURE_TEST(test_pause, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    f->icd.pause();
    assert_success(vulkan_submit(f->queues[0][0],
                                 (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1),
                                                       .signal = a,
                                                       .signal_value = 1}));
    assert_success(vulkan_submit(
        f->queues[0][1], (struct vulkan_batch){.wait = a,
                                               .wait_value = 1,
                                               .commands = device_store(&f->base, 0, 1, 1)}));
    f->icd.quiesce();
    assert_int_equal(f->words[0], 0);
    assert_int_equal(vulkan_value(f->device, a), 0);
    assert_int_equal(f->icd.queue_depth(0, 0), 1);
    f->icd.resume();
    f->icd.quiesce();
    assert_int_equal(f->words[0], 1);
    assert_int_equal(f->words[1], 1);
    assert_int_equal(f->icd.queue_depth(0, 0), 0);
    vkDestroySemaphore(f->device, a, NULL);
}

static void record_seen(const struct belfry_icd_record *record, void *user)
{
    uint32_t *infos = user;
    *infos += record->infos;
}

FIXTURE_TEST(test_recorder, "SHAPE=q2")
{
    VkFence fence = vulkan_fence(f->device, false);
    VkSemaphore a = vulkan_timeline(f->device, 0);
    struct belfry_icd_record records[2] = {0};
    uint32_t infos = 0;
    f->icd.record_start(records, 2);
    f->icd.set_callback(record_seen, &infos);
    assert_success(vulkan_submit(f->queues[0][1],
                                 (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1),
                                                       .signal = a,
                                                       .signal_value = 1,
                                                       .fence = fence}));
    assert_success(
        vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = a, .wait_value = 1}));
    assert_success(
        vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = a, .wait_value = 1}));
    assert_int_equal(f->icd.record_count(), 3);
    assert_int_equal(f->icd.record_stop(), 3);
    f->icd.set_callback(NULL, NULL);
    assert_success(
        vulkan_submit1(f->queues[0][0], (struct vulkan_batch){.wait = a, .wait_value = 1}));
    assert_int_equal(infos, 3);
    assert_int_equal(records[0].index, 1);
    assert_int_equal(records[0].command_buffers, 1);
    assert_int_equal(records[0].signals, 1);
    assert_int_equal(records[0].fence, (uint64_t)(uintptr_t)fence);
    assert_int_equal(records[0].thread, (uint64_t)gettid());
    assert_int_equal(records[1].index, 0);
    assert_int_equal(records[1].waits, 1);
    assert_int_equal(records[1].sequence, records[0].sequence + 1);

    struct belfry_icd_counters counters = vulkan_counters(&f->icd);
    assert_int_equal(counters.submit_calls, 4);
    assert_int_equal(counters.submit_infos, 4);
    assert_int_equal(counters.infos_without_command_buffer, 3);
    assert_int_equal(counters.waits, 3);
    assert_int_equal(counters.signals, 1);
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroyFence(f->device, fence, NULL);
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_labels, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    struct belfry_icd_record records[16] = {0};
    const VkQueue queue = f->queues[0][0];
    const VkDebugUtilsLabelEXT frame = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "frame"},
                               pass = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "pass"};
    f->icd.record_start(records, 16);
    vkQueueBeginDebugUtilsLabelEXT(queue, &frame);
    assert_success(vulkan_submit1(queue, (struct vulkan_batch){.signal = a, .signal_value = 1}));
    vkQueueBeginDebugUtilsLabelEXT(queue, &pass);
    assert_success(vulkan_submit(queue, (struct vulkan_batch){.signal = a, .signal_value = 2}));
    assert_success(
        vulkan_submit(f->queues[0][1], (struct vulkan_batch){.wait = a, .wait_value = 1}));
    vkQueueInsertDebugUtilsLabelEXT(queue, &frame);
    vkQueueEndDebugUtilsLabelEXT(queue);
    vkQueueEndDebugUtilsLabelEXT(queue);
    assert_success(vulkan_submit(queue, (struct vulkan_batch){.signal = a, .signal_value = 3}));
    assert_int_equal(f->icd.record_stop(), 9);
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
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, a, NULL);
}

/* At rest nothing wakes. */
FIXTURE_TEST(test_no_wakeups_at_rest, "SHAPE=q4")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_success(vulkan_submit(
            f->queues[0][i],
            (struct vulkan_batch){.signal = a, .signal_value = i + 1, .wait = a, .wait_value = i}));
    assert_success(vkDeviceWaitIdle(f->device));
    f->icd.quiesce();
    f->icd.reset_counters();
    assert_success(
        vulkan_submit(f->queues[0][0], (struct vulkan_batch){.signal = a, .signal_value = 5}));
    vulkan_wait(f->device, a, 5);
    f->icd.quiesce();
    /* One queue had something to do and woke once. */
    assert_int_equal(vulkan_counters(&f->icd).wakeups, 1);
    vkDestroySemaphore(f->device, a, NULL);
}

FIXTURE_TEST(test_shared_timeline, "SHAPE=q2")
{
    VkSemaphore a = vulkan_timeline(f->device, 3);
    VkSemaphore b = vulkan_timeline(f->device, 0);
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = a,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd;
    assert_success(vkGetSemaphoreFdKHR(f->device, &get, &fd));
    VkImportSemaphoreFdInfoKHR import = {
        VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = b,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT, .fd = fd};
    assert_success(vkImportSemaphoreFdKHR(f->device, &import));
    assert_int_equal(vulkan_value(f->device, b), 3);
    assert_success(
        vulkan_submit(f->queues[0][0], (struct vulkan_batch){.signal = a, .signal_value = 4}));
    vulkan_wait(f->device, b, 4);
    vkDestroySemaphore(f->device, a, NULL);
    vulkan_signal(f->device, b, 5);

    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    import.fd = pipes[0];
    assert_int_equal(vkImportSemaphoreFdKHR(f->device, &import), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    close(pipes[0]);
    close(pipes[1]);
    assert_success(vkDeviceWaitIdle(f->device));
    vkDestroySemaphore(f->device, b, NULL);
}

/* Free submit: the work is done when the call returns, or as soon as what it waits for is. */
FIXTURE_TEST(test_free_submit, "SHAPE=q2 FREE=1 QUIET=1")
{
    VkSemaphore a = vulkan_timeline(f->device, 0);
    VkSemaphore b = vulkan_timeline(f->device, 0);
    VkSemaphore binary = vulkan_binary(f->device);
    VkFence fence = vulkan_fence(f->device, false);
    assert_success(vulkan_submit(f->queues[0][0],
                                 (struct vulkan_batch){.commands = device_store(&f->base, 0, 0, 1),
                                                       .signal = a,
                                                       .signal_value = 1,
                                                       .fence = fence}));
    assert_int_equal(f->words[0], 1);
    assert_int_equal(vulkan_value(f->device, a), 1);
    assert_success(vkGetFenceStatus(f->device, fence));
    vulkan_expect(&f->icd, BELFRY_ICD_VIOLATION_COUNT, 0);

    assert_success(vulkan_submit(
        f->queues[0][0], (struct vulkan_batch){.wait = a, .wait_value = 2, .signal = binary}));
    assert_success(vulkan_submit(
        f->queues[0][0], (struct vulkan_batch){.commands = device_store(&f->base, 0, 1, 2)}));
    assert_success(vulkan_submit(
        f->queues[0][1], (struct vulkan_batch){.wait = binary, .signal = b, .signal_value = 1}));
    vulkan_expect(&f->icd, BELFRY_ICD_WAIT_BEFORE_SIGNAL, 1);
    assert_int_equal(f->words[1], 0);
    vulkan_signal(f->device, a, 2);
    assert_int_equal(f->words[1], 2);
    assert_int_equal(vulkan_value(f->device, b), 1);
    assert_success(vkDeviceWaitIdle(f->device));

    f->icd.pause();
    assert_success(
        vulkan_submit(f->queues[0][1], (struct vulkan_batch){.signal = b, .signal_value = 2}));
    assert_int_equal(vulkan_value(f->device, b), 1);
    f->icd.resume();
    assert_int_equal(vulkan_value(f->device, b), 2);
    vkDestroySemaphore(f->device, a, NULL);
    vkDestroySemaphore(f->device, b, NULL);
    vkDestroySemaphore(f->device, binary, NULL);
    vkDestroyFence(f->device, fence, NULL);
}

/* Threads and queues at once, with and without workers: every signal arrives. */
struct relay {
    struct fixture *f;
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
    struct fixture f;
    fixture_open(&f, environment);
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
    fixture_close(&f);
}

TEST(test_relay)
{
    relay_test("SHAPE=q4 QUIET=1");
}

TEST(test_relay_free)
{
    relay_test("SHAPE=q4 FREE=1 QUIET=1");
}
