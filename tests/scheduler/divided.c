/* SPDX-License-Identifier: MIT */
/* Packets of several command buffers, between which others go (PE-6, scheduler/preempt.h), on one
 * VkQueue of the test driver, whose clock is the test. */
#include "flood.h"

#include <sched.h>

#include <belfry/preemption.h>

/* PE-6: a VkQueue's batch is split where the layer sees the recording, and nothing spans it. */
FIXTURE_TEST(a_lower_batch_is_split_between_its_command_buffers)
{
    enum { SPLIT, MASKED, CHAINED, CHAINED_PART, SUSPENDED };
    const VkPerformanceQuerySubmitInfoKHR chained = {VK_TYPE(PERFORMANCE_QUERY_SUBMIT_INFO_KHR)};
    VkSemaphore done = vulkan_timeline(f->device, 0);
    BfCommandQueue high = high_of(f);
    VkQueue queue = f->queues[0][0];
    VkCommandBufferSubmitInfo buffers[FLOOD];
    uint64_t submitted = 0;
    for (int why = SPLIT; why <= SUSPENDED; why++) {
        bool split = f->layered && why == SPLIT;
        if (why == CHAINED_PART && !f->layered) /* which isn't taken */
            continue;
        const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = done,
                                            .value = submitted++,
                                            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        VkSemaphoreSubmitInfo signal = wait;
        signal.value++;
        const VkSubmitInfo2 info = {
            VK_TYPE(SUBMIT_INFO_2),           .waitSemaphoreInfoCount = 1,
            .pWaitSemaphoreInfos = &wait,     .commandBufferInfoCount = FLOOD,
            .pCommandBufferInfos = buffers,   .signalSemaphoreInfoCount = 1,
            .pSignalSemaphoreInfos = &signal, .pNext = why == CHAINED ? &chained : NULL};
        for (uint32_t i = 0; i < FLOOD; i++)
            buffers[i] =
                (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                            .commandBuffer = write_word_in(f, 0, 0, i + 1)};
        buffers[1].deviceMask = why == MASKED;
        buffers[1].pNext = why == CHAINED_PART ? &chained : NULL;
        if (why == SUSPENDED)
            keep_whole(f);
        f->icd.pause();
        assert_success(f->layered ? vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE)
                                  : bfVkQueueSubmit(f->bf, queue, 1, &info, VK_NULL_HANDLE));
        execute(high, copy_word(f, high, 0, 1));
        assert_depth(f, 2); /* high comes after the first command buffer, or after all */
        step(f);
        uint64_t value;
        assert_success(vkGetSemaphoreCounterValue(f->device, done, &value));
        assert_int_equal(value, split ? submitted - 1 : submitted);
        f->icd.resume();
        vulkan_wait(f->device, done, submitted);
        await_idle(high);
        assert_int_equal(read_word(f, 0), FLOOD);
        assert_int_equal(read_word(f, 1), split ? 1 : FLOOD);
    }
    vkDestroySemaphore(f->device, done, NULL);
}

/* So is an execution of a command queue, which signals with its last part. */
FIXTURE_TEST(a_lower_execution_is_split_between_its_command_buffers)
{
    BfCommandQueue low = low_of(f), high = high_of(f);
    BfFence fence = make_fence(f, 0), progress = NULL;
    VkCommandBuffer buffers[FLOOD];
    assert_success(bfGetCommandQueueProgressFence(low, &progress));
    for (uint32_t i = 0; i < FLOOD; i++)
        buffers[i] = write_word(f, low, 0, i + 1);
    f->icd.pause();
    assert_success(bfQueueExecute(low, FLOOD, buffers));
    queue_signal(low, fence, 1);
    execute(high, copy_word(f, high, 0, 1));
    step(f);
    assert_value(fence, f->layered ? 0 : 1);
    f->icd.resume();
    await_fence(fence, 1);
    await_idle(high);
    assert_value(progress, 1);
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_int_equal(read_word(f, 1), f->layered ? 1 : FLOOD);
}

/* A lower batch of so many command buffers, each of which writes its number into word 0; and a
 * fence. */
static VkFence submit_parts(struct fixture *f)
{
    VkCommandBufferSubmitInfo buffers[FLOOD];
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = FLOOD,
                                .pCommandBufferInfos = buffers};
    VkFence fence = vulkan_fence(f->device, false);
    VkQueue queue = f->queues[0][0];
    for (uint32_t i = 0; i < FLOOD; i++)
        buffers[i] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                 .commandBuffer = write_word_in(f, 0, 0, i + 1)};
    assert_success(f->layered ? vkQueueSubmit2(queue, 1, &info, fence)
                              : bfVkQueueSubmit(f->bf, queue, 1, &info, fence));
    return fence;
}

static void await_part(struct fixture *f)
{
    while (depth(f) == 0)
        sched_yield();
}

static void the_fence_comes_last(struct fixture *f)
{
    const uint64_t before = vulkan_counters(&f->icd).command_buffers;
    high_of(f);
    f->icd.pause();
    VkFence fence = submit_parts(f);
    while (vulkan_counters(&f->icd).command_buffers - before < FLOOD) {
        await_part(f);
        assert_int_equal(vkGetFenceStatus(f->device, fence), VK_NOT_READY);
        step(f);
    }
    assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(read_word(f, 0), FLOOD);
    f->icd.resume();
    vkDestroyFence(f->device, fence, NULL);
}

FIXTURE_TEST(the_fence_of_a_split_batch_comes_with_its_last_part)
{
    the_fence_comes_last(f);
}

TEST_AROUND(also_where_doorbell_threads_hand_over, struct fixture, f, fixture_open, fixture_close,
            SETTINGS("VK_BELFRY_MULTI_ENGINE_SUBMIT=doorbell"))
{
    the_fence_comes_last(f);
}

/* The first part has been accepted, the second is refused once. */
FIXTURE_TEST(a_part_that_is_refused_goes_again_before_the_next)
{
    const uint64_t before = vulkan_counters(&f->icd).command_buffers;
    high_of(f);
    f->icd.pause();
    VkFence fence = submit_parts(f);
    await_part(f);
    f->icd.set_fault("vkQueueSubmit2", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    step(f);
    f->icd.resume();
    assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_int_equal(vulkan_counters(&f->icd).command_buffers - before, FLOOD);
    f->icd.set_fault(NULL, 0, VK_SUCCESS);
    vkDestroyFence(f->device, fence, NULL);
}

FIXTURE_TEST(a_device_is_lost_between_the_parts_of_a_batch)
{
    high_of(f);
    f->icd.pause();
    VkFence fence = submit_parts(f);
    await_part(f);
    if (f->layered)
        step(f);
    f->lost = true;
    f->icd.lose();
    f->icd.resume();
    assert_int_equal(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    f->icd.quiesce(); /* the driver has it until then */
    vkDestroyFence(f->device, fence, NULL);
}

/* --------------------------------------------------------- What was submitted before it came -- */

/* Of so many command buffers, each of which writes its number into word 0. */
static void execute_parts(struct fixture *f, BfCommandQueue queue)
{
    VkCommandBuffer buffers[FLOOD];
    for (uint32_t i = 0; i < FLOOD; i++)
        buffers[i] = write_word(f, queue, 0, i + 1);
    assert_success(bfQueueExecute(queue, FLOOD, buffers));
}

/* It waits for a fence until there is a higher queue. Who waits for it waits for all of it. */
FIXTURE_TEST(an_execution_that_was_held_before_the_window_is_split)
{
    BfCommandQueue low = low_of(f);
    BfFence gate = make_fence(f, 0), done = make_fence(f, 0), progress = NULL;
    assert_success(bfGetCommandQueueProgressFence(low, &progress));
    queue_wait(low, gate, 1);
    execute_parts(f, low);
    queue_signal(low, done, 1);
    BfCommandQueue high = high_of(f);
    f->icd.pause();
    cpu_signal(gate, 1);
    execute(high, copy_word(f, high, 0, 1));
    assert_depth(f, 2);
    step(f);
    assert_value(done, f->layered ? 0 : 1);
    assert_value(progress, f->layered ? 0 : 1);
    f->icd.resume();
    await_idle(low);
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_value(done, 1);
    assert_value(progress, 1);
    await_idle(high);
    assert_int_equal(read_word(f, 1), f->layered ? 1 : FLOOD);
}

struct waits {
    struct fixture *f;
    BfCommandQueue queue;
    VkResult result;
    uint32_t word;
};

static void wait_for_queue(void *argument)
{
    struct waits *waits = argument;
    waits->result = bfQueueWaitIdle(waits->queue);
    waits->word = read_word(waits->f, 0);
}

/* Though it is several submissions by now. */
FIXTURE_TEST(who_waits_for_an_execution_waits_for_all_of_it)
{
    BfCommandQueue low = low_of(f);
    high_of(f);
    struct waits waits = {.f = f, .queue = low};
    struct thread thread;
    f->icd.pause();
    execute_parts(f, low);
    thread_start(&thread, wait_for_queue, &waits);
    thread_await_sleep(&thread);
    while (!thread.finished) {
        if (depth(f) == 0) {
            sched_yield();
            continue;
        }
        step(f);
        thread_await_sleep(&thread);
    }
    thread_join(&thread);
    f->icd.resume();
    assert_success(waits.result);
    assert_int_equal(waits.word, FLOOD);
}

/* A batch of a VkQueue, whose semaphore nobody has signalled yet. */
FIXTURE_TEST(a_batch_that_was_held_before_the_window_is_split)
{
    VkQueue queue = f->queues[0][0];
    VkSemaphore gate = vulkan_timeline(f->device, 0);
    VkCommandBufferSubmitInfo buffers[FLOOD];
    for (uint32_t i = 0; i < FLOOD; i++)
        buffers[i] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                 .commandBuffer = write_word_in(f, 0, 0, i + 1)};
    const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = gate,
                                        .value = 1,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    VkSemaphoreSubmitInfo signal = wait;
    signal.value = 2;
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2),          .waitSemaphoreInfoCount = 1,
                                .pWaitSemaphoreInfos = &wait,    .commandBufferInfoCount = FLOOD,
                                .pCommandBufferInfos = buffers,  .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    if (f->layered) { /* attached, VkQueues are never split */
        assert_success(vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE));
        BfCommandQueue high = high_of(f);
        f->icd.pause();
        vulkan_signal(f->device, gate, 1);
        execute(high, copy_word(f, high, 0, 1));
        assert_depth(f, 2);
        step(f);
        uint64_t value;
        assert_success(vkGetSemaphoreCounterValue(f->device, gate, &value));
        assert_int_equal(value, 1);
        f->icd.resume();
        assert_success(vkQueueWaitIdle(queue));
        assert_int_equal(read_word(f, 0), FLOOD);
        assert_success(vkGetSemaphoreCounterValue(f->device, gate, &value));
        assert_int_equal(value, 2);
        await_idle(high);
        assert_int_equal(read_word(f, 1), 1);
    }
    vkDestroySemaphore(f->device, gate, NULL);
}

/* When the priorities are equal again, the rest goes as it came: behind the first part, and the
 * second, which has been taken off by then. */
FIXTURE_TEST(what_is_left_goes_as_one_when_the_window_has_gone)
{
    BfCommandQueue low = low_of(f), high = high_of(f);
    f->icd.pause();
    const uint64_t before = vulkan_counters(&f->icd).submit_infos;
    execute_parts(f, low);
    assert_depth(f, 1);
    assert_success(bfSetCommandQueuePriority(high, BF_COMMAND_QUEUE_PRIORITY_NORMAL));
    f->icd.resume();
    await_idle(low);
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_int_equal(vulkan_counters(&f->icd).submit_infos - before, f->layered ? 3 : 1);
}

/* It is held by its wait when the request is made, and by the request when its wait has ended. */
FIXTURE_TEST(what_was_held_before_a_request_is_split)
{
    BfCommandQueue low = low_of(f), asks = low_of(f);
    BfFence gate = make_fence(f, 0), asked = NULL;
    uint64_t number;
    queue_wait(low, gate, 1);
    execute_parts(f, low);
    assert_success(bfGetPreemptionFence(asks, &asked));
    VkEvent stall = stall_begin(f, asks);
    assert_success(bfRequestPreemption(asks, &number));
    const uint64_t before = vulkan_counters(&f->icd).submit_infos;
    cpu_signal(gate, 1);
    stall_end(f, stall);
    await_fence(asked, number);
    await_idle(low);
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_int_equal(vulkan_counters(&f->icd).submit_infos - before, f->layered ? 2 : 1);
}

/* Nobody is to go between its command buffers: not the queue itself, which asks. */
FIXTURE_TEST(what_no_request_could_hold_stays_whole)
{
    BfCommandQueue asks = low_of(f);
    BfFence asked = NULL;
    uint64_t number;
    assert_success(bfGetPreemptionFence(asks, &asked));
    VkEvent stall = stall_begin(f, asks);
    assert_success(bfRequestPreemption(asks, &number));
    const uint64_t before = vulkan_counters(&f->icd).submit_infos;
    execute_parts(f, asks);
    assert_int_equal(vulkan_counters(&f->icd).submit_infos - before, 1);
    stall_end(f, stall);
    await_fence(asked, number);
    await_idle(asks);
    assert_int_equal(read_word(f, 0), FLOOD);
}

/* For the program it is one packet that requests have held, however many times. */
FIXTURE_TEST(what_requests_hold_in_parts_is_one_packet)
{
    BfCommandQueue low = low_of(f), asks = low_of(f);
    BfFence asked = NULL;
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)};
    uint64_t number, later;
    assert_success(bfGetPreemptionFence(asks, &asked));
    VkEvent first = stall_begin(f, asks);
    assert_success(bfRequestPreemption(asks, &number));
    execute_parts(f, low);
    VkEvent second = stall_begin(f, asks);
    assert_success(bfRequestPreemption(asks, &later));
    stall_end(f, first);
    await_fence(asked, number);
    stall_end(f, second);
    await_fence(asked, later);
    await_idle(low);
    assert_int_equal(read_word(f, 0), FLOOD);
    assert_success(bfGetPreemptionStatus(asks, &status));
    assert_int_equal(status.heldPacketCount, 1);
}

/* L-3: what is left of a packet stays while a part of it is in a call that is stuck: who is told of
 * the loss meanwhile may destroy what that call has, and it isn't destroyed. */
FIXTURE_TEST(a_device_is_lost_while_a_part_is_in_the_driver)
{
    if (!f->layered) /* attached, VkQueues are never split, and pools are the program's own */
        return;
    const VkCommandPoolCreateInfo pool_info = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    VkCommandPool pool;
    VkCommandBuffer commands[3];
    VkCommandBufferSubmitInfo buffers[3];
    assert_success(vkCreateCommandPool(f->device, &pool_info, NULL, &pool));
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = pool, .commandBufferCount = 3};
    assert_success(vkAllocateCommandBuffers(f->device, &info, commands));
    for (uint32_t i = 0; i < 3; i++) {
        const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
        assert_success(vkBeginCommandBuffer(commands[i], &begin));
        assert_success(vkEndCommandBuffer(commands[i]));
        buffers[i] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                 .commandBuffer = commands[i]};
    }
    VkFence fence = vulkan_fence(f->device, false);
    const VkSubmitInfo2 batch = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 3,
                                 .pCommandBufferInfos = buffers};
    high_of(f);
    f->icd.pause();
    assert_success(vkQueueSubmit2(f->queues[0][0], 1, &batch, fence));
    assert_depth(f, 1);
    f->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    step(f); /* a thread of Belfry's hands over the second part */
    f->icd.await_blocked(1);
    f->lost = true;
    f->icd.lose();
    assert_int_equal(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    const uint64_t pools = f->icd.live("command pool"), fences = f->icd.live("fence");
    vkDestroyFence(f->device, fence, NULL);
    vkDestroyCommandPool(f->device, pool, NULL);
    assert_int_equal(f->icd.live("command pool"), pools);
    assert_int_equal(f->icd.live("fence"), fences);
    f->icd.release(UINT64_MAX);
    f->icd.set_block(NULL);
    f->icd.resume();
    f->icd.quiesce();
}
