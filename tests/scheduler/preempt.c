/* SPDX-License-Identifier: MIT */
/* Preemption requests: what they hold and what they let through, when they are complete, what they
 * leave as it was. One engine for all; the driver's work ends when the test says so. */
#include "support/traced.h"

#include <belfry/preemption.h>

static BfPreemptionStatus status_of(BfCommandQueue queue)
{
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_STATUS)};
    assert_success(bfGetPreemptionStatus(queue, &status));
    return status;
}

static uint64_t preempt(BfCommandQueue queue)
{
    uint64_t number = 0;
    assert_success(bfRequestPreemption(queue, &number));
    return number;
}

static BfFence preemption_fence(BfCommandQueue queue)
{
    BfFence fence = NULL;
    assert_success(bfGetPreemptionFence(queue, &fence));
    return fence;
}

static BfCommandQueue make_high(struct fixture *f)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .priority = BF_COMMAND_QUEUE_PRIORITY_HIGH};
    BfCommandQueue queue = NULL;
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    return f->made_queues[f->queue_count++] = queue;
}

/* So many executions of command queues more have been handed over than before. */
#define assert_handed_over(f_, before_, n_)                                                        \
    assert_int_equal(counters_of(f_).submissions, (before_) + (n_))

FIXTURE_TEST(a_request_holds_others_until_what_was_accepted_is_over)
{
    BfCommandQueue mine = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(mine), fence = make_fence(f, 0);
    VkEvent stall = stall_begin(f, other);
    assert_int_equal(preempt(mine), 1);
    uint64_t before = counters_of(f).submissions;
    for (uint32_t i = 1; i <= 3; i++) {
        execute(other, write_word(f, other, 0, i));
        queue_signal(other, fence, i);
    }
    fixture_settle(f);
    assert_handed_over(f, before, 0);
    execute(mine, write_word(f, mine, 0, 4)); /* ahead of them */
    assert_handed_over(f, before, 1);
    assert_value(done, 0);
    assert_int_equal(status_of(mine).heldPacketCount, 1); /* the others are behind it */
    stall_end(f, stall);
    await_fence(done, 1);
    await_fence(fence, 3);
    await_idle(mine);
    /* Ordered behind, in their own order. */
    assert_int_equal(read_word(f, 0), 3);
    BfPreemptionStatus status = status_of(other); /* of the engine, by whatever queue */
    assert_int_equal(status.preemptionFenceId, 1);
    assert_int_equal(status.requestCount, 1);
    assert_true(status.lastCompletedFenceId >= 1);
    assert_true(status.latencyNs > 0 && status.latencyNs == status.greatestLatencyNs &&
                status.latencyNs == status.sumOfLatenciesNs);
}

FIXTURE_TEST(an_idle_engine_is_preempted_in_the_call)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    for (uint64_t i = 1; i <= 3; i++) {
        execute(queue, write_word(f, queue, 0, (uint32_t)i));
        await_idle(queue);
        assert_int_equal(preempt(i == 2 ? other : queue), i);
        assert_value(preemption_fence(queue), i);
    }
    assert_int_equal(status_of(queue).heldPacketCount, 0);
}

FIXTURE_TEST(higher_queues_are_let_through_and_lower_ones_are_not)
{
    BfCommandQueue mine = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT), high = make_high(f);
    VkEvent stall = stall_begin(f, mine);
    preempt(mine);
    uint64_t before = counters_of(f).submissions;
    execute(high, write_word(f, high, 0, 1));
    assert_handed_over(f, before, 1);
    preempt(high); /* that was made later, and holds the first one's queue */
    execute(mine, write_word(f, mine, 0, 2));
    assert_handed_over(f, before, 1);
    stall_end(f, stall);
    await_idle(mine);
    await_fence(preemption_fence(mine), 2);
    assert_int_equal(read_word(f, 0), 2);
}

FIXTURE_TEST(requests_complete_in_order_each_by_its_own_work)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(queue), fence = make_fence(f, 0);
    VkEvent first = stall_begin(f, queue);
    preempt(queue);
    VkEvent second = stall_begin(f, queue);
    preempt(queue);
    execute(other, write_word(f, other, 0, 7));
    queue_signal(other, fence, 1);
    stall_end(f, first);
    await_fence(done, 1);
    fixture_settle(f);
    assert_value(done, 1);
    assert_value(fence, 0); /* by the second */
    stall_end(f, second);
    await_fence(done, 2);
    await_fence(fence, 1);
    assert_int_equal(read_word(f, 0), 7);
}

/* Requests without end: each that completes lets a packet of each other queue through, which had
 * been held by it. */
FIXTURE_TEST(nobody_starves_behind_requests_that_overlap)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   third = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(queue), fence = make_fence(f, 0);
    VkEvent stalls[5];
    stalls[0] = stall_begin(f, queue);
    assert_int_equal(preempt(queue), 1);
    for (uint32_t i = 1; i <= 4; i++) {
        execute(other, write_word(f, other, 0, i));
        queue_signal(other, fence, i);
        execute(third, write_word(f, third, 1, i));
    }
    uint64_t handed_over = counters_of(f).submissions;
    for (uint32_t i = 1; i <= 4; i++) {
        stalls[i] = stall_begin(f, queue);
        handed_over++;
        assert_int_equal(preempt(queue), i + 1);
        stall_end(f, stalls[i - 1]);
        await_fence(done, i);
        handed_over += 2; /* one of each */
        while (counters_of(f).submissions < handed_over)
            sched_yield();
        fixture_settle(f);
        assert_handed_over(f, handed_over, 0); /* the next ones by the next */
    }
    stall_end(f, stalls[4]);
    await_fence(fence, 4);
    await_idle(third);
    assert_int_equal(read_word(f, 0), 4);
    assert_int_equal(read_word(f, 1), 4);
}

/* A packet that waits is none of the engine's: it goes on waiting, and the request is complete. */
FIXTURE_TEST(a_request_waits_for_no_wait)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0), done = preemption_fence(queue);
    queue_wait(other, fence, 1);
    execute(other, write_word(f, other, 0, 1));
    queue_signal(other, fence, 2);
    VkEvent stall = stall_begin(f, queue);
    assert_int_equal(preempt(queue), 1);
    cpu_signal(fence, 1); /* satisfied under the request: held by that now */
    fixture_settle(f);
    assert_value(fence, 1);
    stall_end(f, stall);
    await_fence(done, 1);
    await_fence(fence, 2);
    queue_wait(other, fence, 3);
    execute(other, write_word(f, other, 0, 2));
    assert_int_equal(preempt(queue), 2);
    assert_value(done, 2);
    cpu_signal(fence, 3);
    await_idle(other);
    assert_int_equal(read_word(f, 0), 2);
}

/* The queue that asked waits for one that is held: that ends with the request. */
FIXTURE_TEST(who_asks_may_wait_for_what_is_held)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    VkEvent stall = stall_begin(f, queue);
    preempt(queue);
    execute(other, write_word(f, other, 0, 1));
    queue_signal(other, fence, 1);
    queue_wait(queue, fence, 1);
    execute(queue, copy_word(f, queue, 0, 1));
    drop_queue(f, other); /* and it may be destroyed meanwhile */
    stall_end(f, stall);
    await_idle(queue);
    assert_int_equal(read_word(f, 1), 1);
}

/* The engine's epoch at rest: how many submissions it has completed. */
static uint64_t epoch_of(BfCommandQueue queue)
{
    await_fence(preemption_fence(queue), preempt(queue));
    return status_of(queue).lastCompletedFenceId;
}

/* What was held goes in one call, which fails: each goes again, with an epoch of its own, and those
 * of the call that failed were given back. */
FIXTURE_TEST(a_batch_that_fails_goes_again)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    uint64_t before = epoch_of(queue);
    VkEvent stall = stall_begin(f, queue);
    preempt(queue);
    f->icd.set_fault("vkQueueSubmit2", 1, VK_ERROR_OUT_OF_HOST_MEMORY);
    for (uint32_t i = 1; i <= 3; i++) {
        execute(other, write_word(f, other, 0, i));
        queue_signal(other, fence, i);
    }
    stall_end(f, stall);
    await_fence(fence, 3);
    assert_int_equal(read_word(f, 0), 3);
    f->icd.set_fault(NULL, 0, VK_SUCCESS);
    assert_int_equal(epoch_of(queue), before + 1 + 3);
}

static void submit_all(struct fixture *f, uint32_t count, const VkCommandBuffer *commands,
                       VkFence fence)
{
    VkCommandBufferSubmitInfo buffers[2];
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = count,
                                .pCommandBufferInfos = buffers};
    for (uint32_t i = 0; i < count; i++)
        buffers[i] = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                 .commandBuffer = commands[i]};
    assert_success(f->layered ? vkQueueSubmit2(f->queues[0][0], 1, &info, fence)
                              : bfVkQueueSubmit(f->bf, f->queues[0][0], 1, &info, fence));
}

static void submit(struct fixture *f, VkCommandBuffer commands, VkFence fence)
{
    submit_all(f, 1, &commands, fence);
}

/* The program's own VkQueue is held as others are, under the layer. */
FIXTURE_TEST(the_programs_vkqueues_are_held_too)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkFence fence = vulkan_fence(f->device, false);
    VkEvent stall = stall_begin(f, queue);
    uint64_t before = status_of(queue).heldPacketCount;
    preempt(queue);
    submit(f, write_word_in(f, 0, 0, 1), fence);
    execute(queue, write_word(f, queue, 0, 2));
    assert_int_equal(status_of(queue).heldPacketCount - before, f->layered);
    stall_end(f, stall);
    await_idle(queue);
    assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(read_word(f, 0), f->layered ? 1 : 2);
    vkDestroyFence(f->device, fence, NULL);
}

/* PE-6: what comes while a request is under way is split, so that the next one goes between. */
FIXTURE_TEST(a_batch_under_a_request_is_split)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    const VkCommandBuffer two[] = {write_word_in(f, 0, 0, 1), write_word_in(f, 0, 1, 2)};
    VkFence fence = vulkan_fence(f->device, false);
    VkEvent stall = stall_begin(f, queue);
    preempt(queue);
    uint64_t before = vulkan_counters(&f->icd).submit_infos;
    submit_all(f, 2, two, fence);
    stall_end(f, stall);
    assert_success(vkWaitForFences(f->device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_int_equal(vulkan_counters(&f->icd).submit_infos - before, f->layered ? 2 : 1);
    assert_int_equal(read_word(f, 1), 2);
    vkDestroyFence(f->device, fence, NULL);
}

/* Submissions that have been made at once, on an engine that nothing else has been given. */
FIXTURE_TEST(what_went_at_once_is_waited_for)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    submit(f, write_word_in(f, 0, 0, 1), VK_NULL_HANDLE);
    preempt(queue);
    await_fence(preemption_fence(queue), 1);
    assert_int_equal(read_word(f, 0), 1);
}

/* PE-2: with a fence of the program's a submission has no epoch before the first request. */
FIXTURE_TEST(what_went_with_a_fence_is_waited_for)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(queue);
    VkFence fence = vulkan_fence(f->device, false);
    f->icd.pause();
    submit(f, write_word_in(f, 0, 0, 1), fence);
    const uint64_t number = preempt(queue);
    assert_value(done, 0);
    f->icd.resume();
    await_fence(done, number);
    assert_success(vkGetFenceStatus(f->device, fence));
    assert_int_equal(read_word(f, 0), 1);
    vkDestroyFence(f->device, fence, NULL);
}

/* What can't be copied. */
static void submit_uncopied(struct fixture *f, uint32_t word)
{
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = write_word_in(f, 0, 0, word)};
    const VkSubmitInfo2 unknown = {VK_TYPE(SUBMIT_INFO_2), .pNext = STRANGER,
                                   .commandBufferInfoCount = 1, .pCommandBufferInfos = &buffer};
    assert_success(vkQueueSubmit2(f->queues[0][0], 1, &unknown, VK_NULL_HANDLE));
}

/* PE-2: it has no epoch, after requests either. */
FIXTURE_TEST(what_cannot_be_copied_is_waited_for)
{
    if (!f->layered)
        return;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(queue);
    await_fence(done, preempt(queue));
    f->icd.pause();
    submit_uncopied(f, 1);
    const uint64_t number = preempt(queue);
    assert_value(done, number - 1);
    f->icd.resume();
    await_fence(done, number);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

/* PE-2: nor does a request wait for what is accepted after it, whatever was requested before. */
FIXTURE_TEST(a_request_waits_for_nothing_behind_it)
{
    if (!f->layered)
        return;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT), high = make_high(f);
    BfFence done = preemption_fence(queue);
    f->icd.pause();
    for (uint32_t i = 1; i <= 2; i++) {
        submit_uncopied(f, i);
        assert_int_equal(preempt(queue), i);
    }
    execute(high, write_word(f, high, 0, 3));
    for (uint32_t i = 0; i < 4; i++) { /* of each its work, and its mark */
        assert_true(f->icd.step(0, 0));
        f->icd.quiesce();
    }
    await_fence(done, 2);
    assert_int_equal(read_word(f, 0), 2);
    f->icd.resume();
    await_idle(high);
    assert_success(vkQueueWaitIdle(f->queues[0][0]));
}

TEST(caps_say_what_is_promised)
{
    for (int on = 0; on < 2; on++) {
        struct fixture f;
        fixture_open(&f, on ? SETTINGS("VK_BELFRY_MULTI_ENGINE_PREEMPTION=true")
                            : SETTINGS("VK_BELFRY_MULTI_ENGINE_PREEMPTION=false"));
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfPreemptionCaps caps = {BF_TYPE(PREEMPTION_CAPS)};
        BfFence fence = NULL;
        uint64_t number = 7;
        assert_success(bfGetPreemptionCaps(f.bf, &caps));
        assert_int_equal(caps.graphicsPreemptionGranularity,
                         on ? BF_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY
                            : BF_GRAPHICS_PREEMPTION_NONE);
        assert_int_equal(caps.computePreemptionGranularity,
                         on ? BF_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY
                            : BF_COMPUTE_PREEMPTION_NONE);
        assert_int_equal(caps.schedulingCaps,
                         BF_SCHEDULING_CAPS_MULTI_ENGINE_AWARE_BIT |
                             BF_SCHEDULING_CAPS_NO_DMA_PATCHING_BIT |
                             (on ? BF_SCHEDULING_CAPS_PREEMPTION_AWARE_BIT : 0));
        assert_int_equal(bfRequestPreemption(queue, &number),
                         on ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(bfGetPreemptionFence(queue, &fence),
                         on ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        assert_int_equal(number, on ? 1 : 7);
        fixture_close(&f);
    }
}

/* How long it took stands in the trace, and that it has held a packet. */
TEST(a_trace_has_requests)
{
    struct traced traced;
    struct fixture f;
    traced_open(&traced, &f);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkEvent stall = stall_begin(&f, queue);
    preempt(queue);
    execute(other, write_word(&f, other, 0, 1));
    stall_end(&f, stall);
    await_idle(other);
    fixture_close(&f);
    assert_true(traced_has(&traced, "preempted"));
    assert_true(traced_has(&traced, "latency ns"));
    assert_true(traced_has(&traced, "a preemption request"));
    assert_false(traced_has(&traced, "a priority window"));
    traced_remove(&traced);
}

FIXTURE_TEST(bad_input_is_refused)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfPreemptionCaps caps = {BF_TYPE(PREEMPTION_STATUS)};
    BfPreemptionStatus status = {BF_TYPE(PREEMPTION_CAPS)};
    BfFence fence = preemption_fence(queue);
    assert_bad_input(bfRequestPreemption(NULL, NULL));
    assert_bad_input(bfGetPreemptionFence(NULL, &fence));
    assert_bad_input(bfGetPreemptionFence(queue, NULL));
    assert_bad_input(bfGetPreemptionCaps(f->bf, &caps));
    assert_bad_input(bfGetPreemptionCaps(NULL, &caps));
    assert_bad_input(bfGetPreemptionStatus(queue, &status));
    assert_bad_input(bfGetPreemptionStatus(NULL, &status));
    assert_bad_input(bfSignalFence(fence, 5));
    assert_bad_input(bfQueueSignal(queue, fence, 5));
    bfDestroyFence(fence); /* the engine's: it stays */
    assert_success(bfRequestPreemption(queue, NULL));
    assert_value(fence, 1);
}

FIXTURE_TEST(a_lost_device_ends_requests)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   other = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence done = preemption_fence(queue);
    stall_begin(f, queue);
    preempt(queue);
    execute(other, write_word(f, other, 0, 1));
    f->lost = true;
    f->stalls = 0;
    f->icd.lose();
    const uint64_t one = 1;
    assert_int_equal(bfWaitFences(1, &done, &one, BF_FENCE_WAIT_ALL, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    assert_value(done, UINT64_MAX);
    assert_int_equal(bfRequestPreemption(queue, NULL), VK_ERROR_DEVICE_LOST);
}
