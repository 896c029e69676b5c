/* SPDX-License-Identifier: MIT */
/* L-7: a driver whose waits don't return, though their time is over and the device is lost. Whoever
 * ends what Belfry's threads wait for gets it ended; so do fences and the device. The threads are
 * left in the driver, told of, and touch nothing when they come back. */
#include "support/fixture.h"

#define LEAVE "VK_BELFRY_MULTI_ENGINE_TDR_DDI_DELAY=100"

static _Atomic uint32_t told;

static void hear(BfMessageSeverity severity, const char *text, void *context)
{
    told += strstr(text, "has not returned for") && strstr(text, "leaked");
}

static void open_hearing(struct fixture *f, const char *environment)
{
    told = 0;
    assert_success(bfSetMessageCallback(hear, NULL));
    fixture_open(f, SETTINGS(environment));
}

/* The device is destroyed with a thread left in the driver; then the driver lets it go. */
static void close_left(struct fixture *f, uint32_t left)
{
    assert_int_equal(f->icd.blocked(), left);
    for (uint32_t i = 0; i < f->queue_count; i++)
        bfDestroyCommandQueue(f->made_queues[i]);
    for (uint32_t i = 0; i < f->fence_count; i++)
        bfDestroyFence(f->made_fences[i]);
    f->icd.quiesce();
    for (uint32_t i = 0; i < f->semaphore_count; i++)
        vkDestroySemaphore(f->device, f->made_semaphores[i], NULL);
    for (uint32_t i = 0; i < f->stall_count; i++)
        vkDestroyEvent(f->device, f->made_stalls[i], NULL);
    device_close_words(&f->base);
    if (f->layered) { /* the layer keeps the driver's device */
        vkDestroyDevice(f->device, NULL);
        f->device = VK_NULL_HANDLE;
    } else {
        bfDetachDevice(f->bf);
    }
    assert_int_equal(f->icd.blocked(), left);
    assert_true(told > 0);
    f->icd.set_block(NULL);
    f->icd.release(UINT64_MAX);
    while (f->icd.blocked()) /* the next test counts anew */
        sched_yield();
    if (f->device) { /* with what the threads may still have been given */
        vkDestroyDevice(f->device, NULL);
        f->device = VK_NULL_HANDLE;
        f->violations[BELFRY_ICD_LEAK] = vulkan_counters(&f->icd).violations[BELFRY_ICD_LEAK];
    }
    fixture_close(f);
    assert_success(bfSetMessageCallback(NULL, NULL));
}

static void block_waits(struct fixture *f)
{
    f->icd.set_block(&(struct belfry_icd_block){
        .command = "vkWaitSemaphores", .first = 1, .every = 1, .late = true});
}

TEST(a_wait_for_an_engine_that_never_returns_is_left)
{
    struct fixture f;
    open_hearing(&f, LEAVE);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&f, 0);
    BfEvent event = make_event(&f);
    stall_begin(&f, queue);
    f.stalls--; /* the loss ends it */
    queue_signal(queue, fence, 1);
    block_waits(&f);
    set_event_on(fence, 1, event);
    f.icd.await_blocked(1);
    f.lost = true;
    f.icd.lose();
    assert_int_equal(bfQueueWaitIdle(queue), VK_ERROR_DEVICE_LOST); /* another finds the loss */
    await_event(event);
    assert_value(fence, UINT64_MAX);
    close_left(&f, 1);
}

/* The driver isn't told of this loss, and its wait ends for nobody. */
TEST(a_removed_device_whose_driver_never_returns_is_left)
{
    struct fixture f;
    open_hearing(&f, LEAVE);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    stall_begin(&f, queue);
    f.stalls--; /* the loss of the driver's device ends it */
    block_waits(&f);
    assert_success(bfRemoveDevice(f.bf));
    assert_int_equal(told, 1);
    f.lost = true;
    f.icd.lose();
    close_left(&f, 1);
}

/* No device is lost here: its fence is destroyed, and the semaphore that it follows. */
TEST(a_wait_for_a_semaphore_that_never_returns_is_left)
{
    struct fixture f;
    open_hearing(&f, LEAVE);
    BfFence fence;
    BfEvent event = make_event(&f);
    VkSemaphore semaphore = make_timeline(&f, 0);
    assert_success(bfImportFenceFromSemaphore(f.bf, semaphore, &fence));
    block_waits(&f);
    set_event_on(fence, 1, event);
    f.icd.await_blocked(1);
    cpu_signal(fence, 1);
    bfDestroyFence(fence);
    assert_int_equal(told, 1);
    close_left(&f, 1);
}
