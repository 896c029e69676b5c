/* SPDX-License-Identifier: MIT */
/* Protected batches, of which an unprotected command buffer may be no part: neither what writes
 * logs, nor stamps, nor stores of native fences, nor hand-over barriers may get into one. The test
 * driver looks at every batch (BELFRY_ICD_PROTECTION). */
#include "support/fixture.h"

static const struct fixture_options protecting = {.family = UINT32_MAX, .protected_queues = true};

struct rig {
    struct fixture f;
    uint32_t family;
    VkQueue queue; /* it takes protected batches, and others */
    VkCommandPool pool;
    VkSemaphore go, done;
    BfFence go_fence, done_fence; /* the same values */
};

static void rig_open(struct rig *r)
{
    struct fixture *f = &r->f;
    fixture_open(f, &protecting);
    for (r->family = 0; r->family < f->family_count && !f->protected_queues[r->family];)
        r->family++;
    assert_true(r->family < f->family_count);
    r->queue = f->protected_queues[r->family];
    const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT,
                                          .queueFamilyIndex = r->family};
    assert_success(vkCreateCommandPool(f->device, &pool, NULL, &r->pool));
    r->go = make_timeline(f, 0);
    r->done = make_timeline(f, 0);
    assert_success(bfImportFenceFromSemaphore(f->bf, r->go, &r->go_fence));
    assert_success(bfImportFenceFromSemaphore(f->bf, r->done, &r->done_fence));
}

static void rig_close(struct rig *r)
{
    vkDestroyCommandPool(r->f.device, r->pool, NULL);
    bfDestroyFence(r->go_fence);
    bfDestroyFence(r->done_fence);
    fixture_close(&r->f);
}

static VkCommandBuffer protected_commands(struct rig *r)
{
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = r->pool, .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(r->f.device, &info, &commands));
    assert_success(vkBeginCommandBuffer(commands, &begin));
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

/* A batch on the rig's queue: waits for 'go' and sets 'done', unless they are 0. */
static void submit(struct rig *r, VkCommandBuffer commands, bool is_protected, uint64_t go,
                   uint64_t done)
{
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = r->go,
                                        .value = go,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    signal.semaphore = r->done;
    signal.value = done;
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2),
                                .flags = is_protected ? VK_SUBMIT_PROTECTED_BIT : 0,
                                .waitSemaphoreInfoCount = go != 0,
                                .pWaitSemaphoreInfos = &wait,
                                .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &buffer,
                                .signalSemaphoreInfoCount = done != 0,
                                .pSignalSemaphoreInfos = &signal};
    assert_success(r->f.layered ? vkQueueSubmit2(r->queue, 1, &info, VK_NULL_HANDLE)
                                : bfVkQueueSubmit(r->f.bf, r->queue, 1, &info, VK_NULL_HANDLE));
}

/* In the older words, which the layer translates. */
static void submit_older(struct rig *r, VkCommandBuffer commands, uint64_t done)
{
    const VkProtectedSubmitInfo protection = {VK_TYPE(PROTECTED_SUBMIT_INFO),
                                              .protectedSubmit = VK_TRUE};
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .pNext = &protection,
        .signalSemaphoreValueCount = 1, .pSignalSemaphoreValues = &done};
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO),      .pNext = &values,
                               .commandBufferCount = 1,   .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1, .pSignalSemaphores = &r->done};
    if (r->f.layered)
        assert_success(vkQueueSubmit(r->queue, 1, &info, VK_NULL_HANDLE));
    else
        submit(r, commands, true, 0, done);
}

static BfFenceLogReader make_reader(struct rig *r, BfFenceLogType type)
{
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO),
                                             .vkQueue = r->queue, .type = type};
    BfFenceLogReader reader;
    assert_success(bfCreateFenceLogReader(r->f.bf, &info, &reader));
    return reader;
}

static uint32_t read_some(BfFenceLogReader reader, BfFenceLogRecord records[8])
{
    uint32_t count;
    uint64_t lost;
    assert_success(bfReadFenceLog(reader, 8, records, &count, &lost));
    assert_int_equal(lost, 0);
    return count;
}

/* Their entries go with the queue's next batch that isn't protected; a read makes one if none
 * comes. */
TEST_AROUND(they_are_logged_beside, struct rig, r, rig_open, rig_close)
{
    BfFenceLogReader waits = make_reader(r, BF_FENCE_LOG_TYPE_WAITS);
    BfFenceLogReader signals = make_reader(r, BF_FENCE_LOG_TYPE_SIGNALS);
    BfFenceLogRecord w[8], s[8];
    submit(r, protected_commands(r), true, 1, 1);
    fixture_settle(&r->f);
    vulkan_signal(r->f.device, r->go, 1);
    vulkan_wait(r->f.device, r->done, 1);
    submit(r, protected_commands(r), true, 0, 2);
    submit_older(r, protected_commands(r), 3);
    submit(r, write_word_in(&r->f, r->family, 3, 9), false, 1, 4);
    vulkan_wait(r->f.device, r->done, 4);
    assert_int_equal(read_some(waits, w), 2);
    assert_int_equal(read_some(signals, s), 4);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(w[i].entry.fenceValue, 1);
        assert_int_equal(w[i].entry.hNativeFence, bfGetFenceLogHandle(r->go_fence));
    }
    bool timed = r->f.families[r->family].timestampValidBits > 0;
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(s[i].entry.fenceValue, i + 1);
        assert_int_equal(s[i].entry.hNativeFence, bfGetFenceLogHandle(r->done_fence));
        assert_int_equal(s[i].entry.fenceEndGpuTimestamp != 0, timed);
    }
    assert_int_equal(read_word(&r->f, 3), 9);
    /* None comes: reading makes one. */
    submit(r, protected_commands(r), true, 0, 5);
    vulkan_wait(r->f.device, r->done, 5);
    uint32_t count = 0;
    while (count == 0) {
        count = read_some(signals, s);
        fixture_settle(&r->f);
    }
    assert_int_equal(count, 1);
    assert_int_equal(s[0].entry.fenceValue, 5);
    bfDestroyFenceLogReader(waits);
    bfDestroyFenceLogReader(signals);
}

/* Logs that are made while one is under way. */
TEST_AROUND(a_log_may_be_made_behind_one, struct rig, r, rig_open, rig_close)
{
    submit(r, protected_commands(r), true, 0, 1);
    BfFenceLogReader signals = make_reader(r, BF_FENCE_LOG_TYPE_SIGNALS);
    submit(r, protected_commands(r), true, 0, 2);
    assert_success(bfSetFenceLogEntries(signals, 32));
    vulkan_wait(r->f.device, r->done, 2);
    bfDestroyFenceLogReader(signals);
}

/* So neither stores of native fences nor barriers come into protected batches. */
TEST_AROUND(no_command_queue_lives_on_such_a_vkqueue, struct rig, r, rig_open, rig_close)
{
    struct fixture *f = &r->f;
    VkEvent event;
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    assert_success(vkCreateEvent(f->device, &info, NULL, &event));
    VkCommandBuffer commands = commands_begin_in(f, r->family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    submit(r, commands, false, 0, 1);
    /* It stands; none of as many queues as could be does. */
    for (int i = 0; i < 8; i++) {
        BfCommandQueue queue =
            make_queue(f, i % 2 ? BF_COMMAND_LIST_TYPE_COMPUTE : BF_COMMAND_LIST_TYPE_DIRECT);
        execute(queue, write_word(f, queue, 0, 1));
        await_idle(queue);
    }
    assert_int_equal(vulkan_value(f->device, r->done), 0);
    assert_success(vkSetEvent(f->device, event));
    vulkan_wait(f->device, r->done, 1);
    vkDestroyEvent(f->device, event, NULL);
}

/* What hands over to them and from them does so by semaphores. */
TEST_AROUND(they_take_part_in_hand_overs, struct rig, r, rig_open, rig_close)
{
    struct fixture *f = &r->f;
    BfCommandQueue queues[3];
    BfFence natives[3];
    for (int i = 0; i < 3; i++) {
        queues[i] = make_queue(f, queue_types[i]);
        natives[i] = make_native_fence(f, 0);
    }
    for (uint64_t n = 1; n <= 20; n++) {
        BfCommandQueue queue = queues[n % 3], next = queues[(n + 1) % 3];
        /* A command queue, then the protected batch, then another command queue. */
        execute(queue, write_word(f, queue, 0, (uint32_t)n));
        queue_signal(queue, natives[n % 3], n);
        queue_signal(queue, r->go_fence, n);
        submit(r, protected_commands(r), true, n, n);
        queue_wait(next, r->done_fence, n);
        queue_wait(next, natives[n % 3], n);
        execute(next, copy_word(f, next, 0, 1));
        queue_signal(next, natives[(n + 1) % 3], n + 100 * n);
    }
    for (int i = 0; i < 3; i++)
        await_idle(queues[i]);
    vulkan_wait(f->device, r->done, 20);
    assert_int_equal(read_word(f, 1), 20);
}

/* The timeline has them without times of the GPU. */
TEST(they_are_traced_without_stamps)
{
    struct rig r;
    char path[64];
    snprintf(path, sizeof(path), "/tmp/belfry-protected-%d.pftrace", getpid());
    setenv("VK_BELFRY_MULTI_ENGINE_TRACE", path, 1);
    rig_open(&r);
    unsetenv("VK_BELFRY_MULTI_ENGINE_TRACE");
    submit(&r, protected_commands(&r), true, 0, 1);
    submit(&r, write_word_in(&r.f, r.family, 3, 9), false, 0, 2);
    submit_older(&r, protected_commands(&r), 3);
    vulkan_wait(r.f.device, r.done, 3);
    rig_close(&r);
    assert_int_equal(unlink(path), 0);
}
