/* SPDX-License-Identifier: MIT */
/* Requests for preemption while a present is stuck in the driver: nothing can be submitted then,
 * and yet they are complete when what was accepted before them is over (PE-2, PE-4). */
#include "screen.h"

#include "belfry/belfry.h"
#include "belfry/preemption.h"

static const uint32_t one[] = {1, WORLD_END};
static const uint32_t two[] = {2, WORLD_END};

static const BfCommandQueueCreateInfo command_queue = {
    .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO};

DEVICE_TEST(test_preemption_is_requested_beside_a_present, "SHAPE=q1", two)
{
    struct stuck s;
    BfDevice device;
    BfCommandQueue queue;
    BfFence done;
    uint64_t number;
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &command_queue, &queue));
    assert_success(bfGetPreemptionFence(queue, &done));
    stuck_begin(w, &s);
    assert_success(bfRequestPreemption(queue, &number));
    assert_int_equal(bfGetFenceCompletedValue(done), number);
    stuck_release(w, &s);
    stuck_close(w, &s);
    bfDestroyCommandQueue(queue);
}

/* What a VkQueue submits before the present. */
struct work {
    const void *chained; /* to its submission, which can't be copied then */
    bool fenced;         /* it has a fence */
    VkSemaphore signal;  /* it signals 1 */
    bool alone;          /* there is no command queue yet */
    bool beside;         /* nor when the present begins */
    bool fenced_behind;  /* a fence is submitted behind it */
    uint32_t requests;   /* before that work */
};

static void submit(struct device *w, const struct work *work, VkFence fence)
{
    VkQueue queue = w->queues[0][0];
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = device_store(w, 0, 0, 1),
    };
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = work->signal,
        .value = 1,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .pNext = work->chained,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
        .signalSemaphoreInfoCount = work->signal ? 1 : 0,
        .pSignalSemaphoreInfos = &signal,
    };
    assert_success(vkQueueSubmit2(queue, 1, &info, work->fenced ? fence : VK_NULL_HANDLE));
    if (work->fenced_behind)
        assert_success(vkQueueSubmit2(queue, 0, NULL, fence));
}

static void request_beside_a_present(struct device *w, struct work work)
{
    struct stuck s;
    BfDevice device;
    BfCommandQueue queue = NULL;
    BfFence done;
    uint64_t number;
    VkFence fence = vulkan_fence(w->device, false);
    assert_success(bfGetDevice(w->device, &device));
    if (!work.alone)
        assert_success(bfCreateCommandQueue(device, &command_queue, &queue));
    for (uint32_t i = 0; i < work.requests; i++)
        assert_success(bfRequestPreemption(queue, &number));
    w->icd.pause();
    submit(w, &work, fence);
    if (work.alone && !work.beside)
        assert_success(bfCreateCommandQueue(device, &command_queue, &queue));
    stuck_begin(w, &s);
    if (work.beside)
        assert_success(bfCreateCommandQueue(device, &command_queue, &queue));
    assert_success(bfGetPreemptionFence(queue, &done));
    assert_success(bfRequestPreemption(queue, &number));
    assert_int_equal(bfGetFenceCompletedValue(done), number - 1);
    w->icd.resume();
    assert_success(bfWaitFences(1, &done, &number, BF_FENCE_WAIT_ALL, UINT64_MAX));
    stuck_release(w, &s);
    stuck_close(w, &s);
    bfDestroyCommandQueue(queue);
    vkDestroyFence(w->device, fence, NULL);
}

/* Their own signals tell. */
DEVICE_TEST(test_a_fence_is_told_beside_a_present, "SHAPE=q1", two)
{
    request_beside_a_present(w, (struct work){.fenced = true});
}

DEVICE_TEST(test_a_value_is_told_beside_a_present, "SHAPE=q1", two)
{
    VkSemaphore timeline = vulkan_timeline(w->device, 0);
    request_beside_a_present(w, (struct work){.signal = timeline});
    vkDestroySemaphore(w->device, timeline, NULL);
}

/* What has none, since it can't be copied, is marked before the present; or what is submitted
 * behind it tells. */
DEVICE_TEST(test_what_cannot_be_copied_is_told_beside_a_present, "SHAPE=q1", two)
{
    request_beside_a_present(w, (struct work){.chained = STRANGER, .requests = 1});
    request_beside_a_present(
        w, (struct work){.chained = STRANGER, .fenced_behind = true, .requests = 1});
}

/* So is what was submitted while nobody shared the VkQueue. */
DEVICE_TEST(test_earlier_work_is_told_beside_a_present, "SHAPE=q1", one)
{
    request_beside_a_present(w, (struct work){.alone = true});
}

DEVICE_TEST(test_work_before_there_are_command_queues_is_told, "SHAPE=q1", one)
{
    request_beside_a_present(w, (struct work){.alone = true, .beside = true});
}

/* Nor is a request that was made behind another, before the present. */
DEVICE_TEST(test_requests_are_told_beside_a_present, "SHAPE=q1", two)
{
    struct stuck s;
    BfDevice device;
    BfCommandQueue queue;
    BfFence done;
    uint64_t number;
    const struct work work = {.chained = STRANGER};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateCommandQueue(device, &command_queue, &queue));
    assert_success(bfGetPreemptionFence(queue, &done));
    w->icd.pause();
    VkCommandBuffer commands = device_store(w, 0, 1, 1);
    assert_success(bfQueueExecute(queue, 1, &commands));
    assert_success(bfRequestPreemption(queue, &number));
    submit(w, &work, VK_NULL_HANDLE);
    assert_success(bfRequestPreemption(queue, &number));
    stuck_begin(w, &s);
    w->icd.resume();
    assert_success(bfWaitFences(1, &done, &number, BF_FENCE_WAIT_ALL, UINT64_MAX));
    stuck_release(w, &s);
    stuck_close(w, &s);
    bfDestroyCommandQueue(queue);
}
