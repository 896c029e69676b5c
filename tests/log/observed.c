/* SPDX-License-Identifier: MIT */
/* When a queue comes to a wait, by its log (belfry/fence_log.h): when what was before has ended, or
 * when the wait was handed to it, whichever is later. Also where the queue had been at work before
 * anybody asked for a log, on the program's own VkQueues, and within one call. */
#include "support/fixture.h"

/* Only with calibrated clocks can a stall be seen from the host without ending it: elsewhere the
 * test is skipped. */
static void open_timed(struct fixture *f, BfCommandQueue *queue)
{
    fixture_open(f, NULL);
    *queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    const bool calibrated = f->calibrated,
               stamped = f->families[bfGetCommandQueueFamilyIndex(*queue)].timestampValidBits > 0;
    if (!calibrated || !stamped)
        fixture_close(f);
    TEST_NEEDS(calibrated, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    TEST_NEEDS(stamped, "family with timestamps");
}

static uint64_t ticks_now(BfCommandQueue queue)
{
    uint64_t ticks, ns;
    assert_success(bfGetCommandQueueClockCalibration(queue, &ticks, &ns));
    return ticks;
}

static BfFenceLogReader make_waits_reader(struct fixture *f, BfCommandQueue queue, VkQueue vk_queue)
{
    const BfFenceLogReaderCreateInfo info = {BF_TYPE(FENCE_LOG_READER_CREATE_INFO), .queue = queue,
                                             .vkQueue = vk_queue, .type = BF_FENCE_LOG_TYPE_WAITS};
    BfFenceLogReader reader;
    assert_success(bfCreateFenceLogReader(f->bf, &info, &reader));
    return reader;
}

/* The one wait that has been logged since. */
static BfFenceLogEntry read_wait(BfFenceLogReader reader)
{
    BfFenceLogRecord records[4];
    uint32_t count;
    uint64_t lost;
    assert_success(bfReadFenceLog(reader, 4, records, &count, &lost));
    assert_int_equal(count, 1);
    assert_int_equal(lost, 0);
    return records[0].entry;
}

/* The GPU tells, and it wasn't before 'ticks'. */
static void assert_observed_after(BfFenceLogEntry wait, uint64_t ticks)
{
    assert_int_equal(wait.reserved0, 0);
    assert_true(wait.fenceObservedGpuTimestamp > ticks);
    assert_true(wait.fenceEndGpuTimestamp >= wait.fenceObservedGpuTimestamp);
}

/* It was the call, between 'from' and 'to'. */
static void assert_observed_at_call(BfFenceLogEntry wait, uint64_t from, uint64_t to)
{
    assert_int_equal(wait.reserved0, BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT);
    /* The two clocks are related within some ticks. */
    uint64_t about = (to - from) / 4 + 1000;
    assert_true(wait.fenceObservedGpuTimestamp + about >= from);
    assert_true(wait.fenceObservedGpuTimestamp <= to + about);
}

/* ---------------------------------------------------------------------------- Command queues -- */

/* 'replaced': the log gets new buffers during the stall. 'early': the wait is there before the
 * log. */
static void wait_behind_a_stall(struct fixture *f, bool replaced, bool early)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(f, 0), after = make_fence(f, 0);
    BfFenceLogReader reader = NULL;
    if (replaced) {
        reader = make_waits_reader(f, queue, NULL);
        execute(queue, write_word(f, queue, 0, 1));
        await_idle(queue);
    }
    VkEvent stall = stall_begin(f, queue);
    if (early)
        queue_wait(queue, gate, 1);
    if (replaced)
        assert_success(bfSetFenceLogEntries(reader, 20));
    else
        reader = make_waits_reader(f, queue, NULL);
    if (!early)
        queue_wait(queue, gate, 1);
    queue_signal(queue, after, 1);
    uint64_t stalled = ticks_now(queue);
    stall_end(f, stall);
    cpu_signal(gate, 1);
    await_fence(after, 1);
    assert_observed_after(read_wait(reader), stalled);
    bfDestroyFenceLogReader(reader);
    drop_queue(f, queue);
}

TEST(a_wait_behind_unlogged_work_is_observed_at_its_end)
{
    struct fixture f;
    BfCommandQueue queue;
    open_timed(&f, &queue);
    for (int i = 0; i < 4; i++)
        wait_behind_a_stall(&f, i & 1, i & 2);
    fixture_close(&f);
}

TEST(a_wait_of_an_idle_queue_is_observed_at_the_call)
{
    struct fixture f;
    BfCommandQueue queue;
    open_timed(&f, &queue);
    BfFence gate = make_fence(&f, 0), after = make_fence(&f, 0);
    execute(queue, write_word(&f, queue, 0, 1));
    await_idle(queue);
    BfFenceLogReader reader = make_waits_reader(&f, queue, NULL);
    for (uint64_t i = 1; i <= 3; i++) {
        /* That it is idle again nobody has noticed yet. */
        if (i == 2) {
            execute(queue, write_word(&f, queue, 0, 2));
            fixture_settle(&f);
        }
        uint64_t from = ticks_now(queue);
        queue_wait(queue, gate, i);
        queue_signal(queue, after, i);
        uint64_t to = ticks_now(queue);
        cpu_signal(gate, i);
        await_fence(after, i);
        assert_observed_at_call(read_wait(reader), from, to);
    }
    bfDestroyFenceLogReader(reader);
    fixture_close(&f);
}

/* ------------------------------------------------------------------------- The program's own -- */

struct own {
    struct fixture f;
    uint32_t family;
    VkQueue queue;
    BfCommandQueue clock; /* of the same family's clock */
    VkSemaphore go, done;
    BfFence go_fence, done_fence; /* so that Belfry knows them where it is attached */
    VkEvent event;
};

static void open_own(struct own *own)
{
    TEST_NEEDS(!fixture_is_validated(),
               "validation that keeps track of timelines which the host signals");
    open_timed(&own->f, &own->clock);
    struct fixture *f = &own->f;
    own->family = bfGetCommandQueueFamilyIndex(own->clock);
    const bool has_queue = f->queue_counts[own->family] > 0;
    if (!has_queue)
        fixture_close(f);
    TEST_NEEDS(has_queue, "queue of the program's own in that family");
    own->queue = f->queues[own->family][0];
    own->go = make_timeline(f, 0);
    own->done = make_timeline(f, 0);
    assert_success(bfImportFenceFromSemaphore(f->bf, own->go, &own->go_fence));
    assert_success(bfImportFenceFromSemaphore(f->bf, own->done, &own->done_fence));
    const VkEventCreateInfo info = {VK_TYPE(EVENT_CREATE_INFO)};
    assert_success(vkCreateEvent(f->device, &info, NULL, &own->event));
}

static void close_own(struct own *own)
{
    vkDestroyEvent(own->f.device, own->event, NULL);
    bfDestroyFence(own->go_fence);
    bfDestroyFence(own->done_fence);
    fixture_close(&own->f);
}

static VkCommandBuffer stall_commands(struct own *own)
{
    VkCommandBuffer commands =
        commands_begin_in(&own->f, own->family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vkCmdWaitEvents(commands, 1, &own->event, VK_PIPELINE_STAGE_HOST_BIT,
                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL, 0, NULL, 0, NULL);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

/* One call: work (unless NULL), and a batch that waits for 'go' and signals 'done' (unless 0). */
static void submit(struct own *own, VkCommandBuffer work, uint64_t go)
{
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = work};
    VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = own->go, .value = go,
                                  .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    signal.semaphore = own->done;
    VkSubmitInfo2 infos[2];
    uint32_t count = 0;
    if (work)
        infos[count++] = (VkSubmitInfo2){VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                         .pCommandBufferInfos = &buffer};
    if (go)
        infos[count++] = (VkSubmitInfo2){
            VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1, .pWaitSemaphoreInfos = &wait,
            .signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &signal};
    struct fixture *f = &own->f;
    assert_success(f->layered ? vkQueueSubmit2(own->queue, count, infos, VK_NULL_HANDLE)
                              : bfVkQueueSubmit(f->bf, own->queue, count, infos, VK_NULL_HANDLE));
}

static void let_go(struct own *own, uint64_t value)
{
    vulkan_signal(own->f.device, own->go, value);
    vulkan_wait(own->f.device, own->done, value);
}

TEST(a_vkqueue_at_work_when_its_log_is_made)
{
    struct own own;
    open_own(&own);
    submit(&own, stall_commands(&own), 0);
    BfFenceLogReader reader = make_waits_reader(&own.f, NULL, own.queue);
    submit(&own, NULL, 1);
    uint64_t stalled = ticks_now(own.clock);
    assert_success(vkSetEvent(own.f.device, own.event));
    let_go(&own, 1);
    assert_observed_after(read_wait(reader), stalled);
    bfDestroyFenceLogReader(reader);
    close_own(&own);
}

/* It has worked before, but nobody counted that. */
TEST(a_vkqueue_that_is_idle_when_its_log_is_made)
{
    struct own own;
    open_own(&own);
    submit(&own, write_word_in(&own.f, own.family, 0, 1), 1);
    let_go(&own, 1);
    BfFenceLogReader reader = make_waits_reader(&own.f, NULL, own.queue);
    fixture_settle(&own.f);
    if (own.f.icd.library) { /* elsewhere the log's own submission may still be under way */
        uint64_t from = ticks_now(own.clock);
        submit(&own, NULL, 2);
        uint64_t to = ticks_now(own.clock);
        let_go(&own, 2);
        assert_observed_at_call(read_wait(reader), from, to);
    }
    bfDestroyFenceLogReader(reader);
    close_own(&own);
}

/* The batch before the wait's is of the same call. */
TEST(a_wait_behind_work_of_its_own_call)
{
    struct own own;
    open_own(&own);
    BfFenceLogReader reader = make_waits_reader(&own.f, NULL, own.queue);
    fixture_settle(&own.f);
    submit(&own, stall_commands(&own), 1);
    uint64_t stalled = ticks_now(own.clock);
    assert_success(vkSetEvent(own.f.device, own.event));
    let_go(&own, 1);
    assert_observed_after(read_wait(reader), stalled);
    bfDestroyFenceLogReader(reader);
    close_own(&own);
}
