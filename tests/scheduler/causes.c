/* SPDX-License-Identifier: MIT */
/* Causes that pass through the program's own semaphores, which nothing of Belfry's orders: the
 * values of fences follow them all the same. And semaphores that others than the fence wait for. */
#include "support/fixture.h"

#include "scheduler/scheduler.h"

static BfFence import(struct fixture *f, VkSemaphore semaphore)
{
    BfFence fence = NULL;
    assert_success(bfImportFenceFromSemaphore(f->bf, semaphore, &fence));
    return f->made_fences[f->fence_count++] = fence;
}

/* Two signals of one fence, on two engines, the second caused by the first. The idle queue's next
 * signal asks for the second engine alone. */
FIXTURE_TEST(an_idle_queue_applies_no_effect_before_its_cause)
{
    BfCommandQueue first = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfCommandQueue second = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence link = import(f, make_timeline(f, 0));
    BfFence fence = make_fence(f, 0), other = make_fence(f, 0);
    VkEvent stall = stall_begin(f, first);
    queue_signal(first, fence, 5);
    queue_signal(first, link, 1);
    queue_wait(second, link, 1);
    queue_signal(second, fence, 3);
    stall_end(f, stall);
    f->icd.quiesce();
    queue_signal(second, other, 1);
    await_signals(second);
    assert_value(other, 1);
    assert_value(fence, 3);
}

/* A batch of a VkQueue's, held for a semaphore that Belfry knows by a fence alone. */
TEST(vk_queues_wait_on_when_the_fence_is_gone)
{
    if (fixture_is_layered())
        return; /* there the layer knows all semaphores, and stays */
    for (int exported = 0; exported < 2; exported++) {
        struct fixture f;
        fixture_open(&f, NULL);
        VkSemaphore before = make_timeline(&f, 0), after = make_timeline(&f, 0);
        BfFence fence = exported ? make_fence(&f, 0) : import(&f, before);
        if (exported)
            assert_success(bfExportFenceToSemaphore(fence, before));
        const VkSemaphoreSubmitInfo wait = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = before,
                                            .value = 5,
                                            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = after,
                                              .value = 1,
                                              .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
        const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .waitSemaphoreInfoCount = 1,
                                    .pWaitSemaphoreInfos = &wait, .signalSemaphoreInfoCount = 1,
                                    .pSignalSemaphoreInfos = &signal};
        assert_success(bfVkQueueSubmit(f.bf, f.queues[0][0], 1, &info, VK_NULL_HANDLE));
        drop_fence(&f, fence);
        vulkan_signal(f.device, before, 5);
        vulkan_wait(f.device, after, 1);
        /* The call that handed it over may not have returned yet: fixture_close calls the
         * driver. */
        assert_success(bfLockVkQueue(f.bf, f.queues[0][0]));
        assert_success(bfUnlockVkQueue(f.bf, f.queues[0][0]));
        fixture_close(&f);
    }
}

static void open_gate(void *fence)
{
    cpu_signal(fence, 1);
}

/* E-5: work is seen complete while the driver's call that it went with goes on. */
FIXTURE_TEST(a_signal_is_seen_with_the_work_of_its_driver_call)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence gate = make_fence(f, 0), fence = make_fence(f, 0);
    struct thread thread;
    queue_wait(queue, gate, 1);
    execute(queue, write_word(f, queue, 0, 7));
    queue_signal(queue, fence, 1);
    f->icd.set_block(
        &(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1, .late = true});
    thread_start(&thread, open_gate, gate);
    f->icd.await_blocked(1);
    f->icd.set_block(NULL);
    f->icd.quiesce();
    uint64_t seen = bfGetFenceCompletedValue(fence);
    f->icd.release(UINT64_MAX);
    thread_join(&thread);
    assert_int_equal(read_word(f, 0), 7);
    assert_int_equal(seen, 1);
}

/* E-7: nobody asks for them, and each one's work is over before the next is called. */
FIXTURE_TEST(signals_on_their_way_are_bounded)
{
    const struct bf_scheduler *scheduler = (struct bf_scheduler *)f->bf;
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(f, 0);
    uint32_t most = 0;
    for (uint64_t i = 1; i <= 200; i++) {
        f->icd.pause();
        execute(queue, write_word(f, queue, 0, 1));
        queue_signal(queue, fence, i);
        uint32_t pending = atomic_load(&scheduler->pending.count);
        most = pending > most ? pending : most;
        f->icd.resume();
        f->icd.quiesce();
    }
    assert_in_range(most, 2, 64);
}
