/* SPDX-License-Identifier: MIT */
/*
 * What orders two queues and what doesn't: fences in all their forms, the CPU, events, and Vulkan's
 * own objects. In each test the copy queue writes bytes that the graphics queue then reads.
 */
#include "check.h"

#include <string.h>

#include "access/vulkan.h"

#define HANDLE(type, n) ((type)(uintptr_t)(0x77000 + 16 * (n)))

struct world {
    struct check check;
    struct bf_access *access;
    struct bf_access_queue *graphics, *compute, *copy;
    struct bf_access_fence *a, *b, *c;
};

static int open_world(void **state)
{
    static struct world world;
    struct world *w = &world;
    check_open(&w->check);
    w->access = w->check.access;
    w->graphics = bf_access_queue_add(w->access, "graphics", BF_ACCESS_COMPUTE_3D);
    w->compute = bf_access_queue_add(w->access, "compute", BF_ACCESS_COMPUTE_3D);
    w->copy = bf_access_queue_add(w->access, "copy", BF_ACCESS_COPY);
    w->a = bf_access_fence_add(w->access, 0);
    w->b = bf_access_fence_add(w->access, 0);
    w->c = bf_access_fence_add(w->access, 0);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    check_close(&w->check);
    return 0;
}

static void produce(struct world *w)
{
    check_use(w->copy, 1, 0, 64, true);
}

static void consume(struct world *w)
{
    check_use(w->graphics, 1, 0, 64, false);
}

static void expect(struct world *w, uint32_t count)
{
    if (w->check.count > count)
        print_message("%s\n", w->check.reports[0].line);
    assert_int_equal(w->check.count, count);
}

/* -------------------------------------------------------------------------------- Queue to queue */

#define WORLD_TEST(name_) TEST_ON(name_, open_world, close_world, struct world *w)

WORLD_TEST(test_through_two_hops)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_wait(w->compute, w->a, 1);
    bf_access_queue_signal(w->compute, w->b, 1);
    bf_access_queue_wait(w->graphics, w->b, 1);
    consume(w);
    expect(w, 0);
}

WORLD_TEST(test_a_hop_the_wrong_way_round_orders_nothing)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_signal(w->compute, w->b, 1); /* before its wait */
    bf_access_queue_wait(w->compute, w->a, 1);
    bf_access_queue_wait(w->graphics, w->b, 1);
    consume(w);
    expect(w, 1);
}

/* Wait-before-signal: the calls of the consumer come first. */
WORLD_TEST(test_wait_before_signal)
{
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    expect(w, 0);
}

WORLD_TEST(test_wait_before_signal_through_two_hops)
{
    bf_access_queue_wait(w->graphics, w->b, 5);
    consume(w);
    bf_access_queue_wait(w->compute, w->a, 1);
    bf_access_queue_signal(w->compute, w->b, 5);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    expect(w, 0);
}

WORLD_TEST(test_wait_before_a_signal_that_comes_too_early)
{
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    produce(w);
    expect(w, 1);
}

WORLD_TEST(test_a_value_that_is_skipped)
{
    bf_access_queue_wait(w->graphics, w->a, 2);
    consume(w);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 7);
    expect(w, 0);
}

WORLD_TEST(test_an_initial_value_satisfies_and_orders_nothing)
{
    struct bf_access_fence *fence = bf_access_fence_add(w->access, 10);
    produce(w);
    bf_access_queue_signal(w->copy, fence, 11);
    bf_access_queue_wait(w->graphics, fence, 10);
    consume(w);
    expect(w, 1);
}

/* Either signal may satisfy the wait: only what both come after is certain. */
WORLD_TEST(test_one_of_two_signallers_is_not_certain)
{
    produce(w);
    check_use(w->compute, 2, 0, 64, true); /* it isn't idle */
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_signal(w->compute, w->a, 2);
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    expect(w, 1);
}

WORLD_TEST(test_what_both_signallers_come_after_is_certain)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->b, 1);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_wait(w->compute, w->b, 1);
    bf_access_queue_signal(w->compute, w->a, 2);
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    expect(w, 0);
}

/* ------------------------------------------------------------------------------------- Rewinding */

/* Frame after frame with one value: the CPU knows that the old signal is overwritten. */
WORLD_TEST(test_a_rewound_fence_used_again)
{
    for (int frame = 0; frame < 3; frame++) {
        produce(w);
        bf_access_queue_signal(w->copy, w->a, 1);
        bf_access_queue_wait(w->graphics, w->a, 1);
        consume(w);
        bf_access_queue_signal(w->graphics, w->b, 1);
        bf_access_fence_reached(w->b, 1);
        bf_access_fence_signal(w->a, 0);
        bf_access_fence_signal(w->b, 0);
    }
    expect(w, 0);
}

/* The CPU rewinds without knowing that the first signal is through: that one may satisfy the second
 * wait. */
WORLD_TEST(test_a_fence_rewound_too_early)
{
    check_use(w->copy, 2, 0, 64, true); /* it isn't idle */
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_fence_signal(w->a, 0);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    expect(w, 1);
}

/* On an idle queue the fence is set before the call returns. */
WORLD_TEST(test_a_fence_rewound_after_the_signal_of_an_idle_queue)
{
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_fence_signal(w->a, 0);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    expect(w, 0);
}

WORLD_TEST(test_a_fence_rewound_by_its_queue)
{
    check_use(w->copy, 2, 0, 64, true);
    bf_access_queue_signal(w->copy, w->a, 5);
    bf_access_queue_signal(w->copy, w->a, 1); /* may come after the wait has been armed */
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 5);
    bf_access_queue_wait(w->graphics, w->a, 5);
    consume(w);
    expect(w, 1);
}

WORLD_TEST(test_a_fence_rewound_by_its_queue_and_known_to_be)
{
    bf_access_queue_signal(w->copy, w->a, 5);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_signal(w->copy, w->b, 1);
    bf_access_fence_reached(w->b, 1);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 5);
    bf_access_queue_wait(w->graphics, w->a, 5);
    consume(w);
    expect(w, 0);
}

/* A wait that was armed before the rewinding is satisfied for good, when its queue comes to it. */
WORLD_TEST(test_a_wait_armed_before_the_fence_is_rewound)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_queue_wait(w->graphics, w->b, 1);
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    bf_access_fence_signal(w->a, 0);
    bf_access_fence_signal(w->b, 1);
    expect(w, 0);
    check_use(w->graphics, 2, 0, 64, true); /* it has come this far */
    check_use(w->compute, 2, 0, 64, true);
    expect(w, 1);
}

/* ---------------------------------------------------------------------------------------- The CPU */

WORLD_TEST(test_through_a_wait_of_the_cpu)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_fence_reached(w->a, 1);
    consume(w);
    expect(w, 0);
}

/* The call came before the CPU waited. */
WORLD_TEST(test_a_wait_of_the_cpu_does_not_reach_back)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    consume(w);
    bf_access_fence_reached(w->a, 1);
    expect(w, 1);
}

WORLD_TEST(test_through_a_value_that_the_cpu_read)
{
    bf_access_queue_signal(w->copy, w->a, 1);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 2);
    bf_access_fence_read(w->a, 0); /* not yet */
    bf_access_fence_read(w->a, 2);
    consume(w);
    expect(w, 0);
}

WORLD_TEST(test_too_small_a_value_read_orders_nothing)
{
    bf_access_queue_signal(w->copy, w->a, 1);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 2);
    bf_access_fence_read(w->a, 1);
    consume(w);
    expect(w, 1);
}

/* The queue waits for what the CPU signals once it knows. */
WORLD_TEST(test_through_a_signal_of_the_cpu)
{
    bf_access_queue_wait(w->graphics, w->b, 1);
    consume(w);
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    bf_access_fence_reached(w->a, 1);
    bf_access_fence_signal(w->b, 1);
    expect(w, 0);
}

WORLD_TEST(test_a_signal_of_the_cpu_that_knows_nothing)
{
    bf_access_queue_wait(w->graphics, w->b, 1);
    consume(w);
    produce(w);
    bf_access_fence_signal(w->b, 1);
    expect(w, 1);
}

WORLD_TEST(test_through_an_idle_queue)
{
    produce(w);
    bf_access_queue_idle(w->copy);
    consume(w);
    bf_access_queue_idle(w->compute);
    check_use(w->compute, 1, 0, 64, true);
    expect(w, 1); /* beside the graphics queue's read */
}

WORLD_TEST(test_through_an_idle_device)
{
    produce(w);
    bf_access_idle(w->access);
    consume(w);
    expect(w, 0);
}

/* A signal from where nobody sees it: an idle queue has passed its waits, whatever satisfied them. */
WORLD_TEST(test_an_idle_queue_has_passed_its_waits)
{
    bf_access_queue_wait(w->copy, w->a, 1);
    produce(w);
    bf_access_queue_signal(w->copy, w->b, 1);
    bf_access_fence_reached(w->b, 1);
    consume(w);
    expect(w, 0);
    bf_access_queue_wait(w->copy, w->a, 2);
    check_use(w->copy, 2, 0, 64, true);
    bf_access_queue_idle(w->copy);
    check_use(w->graphics, 2, 0, 64, true);
    expect(w, 0);
}

WORLD_TEST(test_an_external_fence_counts_as_after_everything)
{
    produce(w);
    bf_access_queue_wait(w->graphics, w->a, 1); /* armed before */
    bf_access_fence_external(w->a);
    consume(w);
    bf_access_queue_wait(w->graphics, w->a, 9);
    consume(w);
    expect(w, 0);
    check_use(w->compute, 1, 0, 64, true); /* the graphics queue has come this far */
    expect(w, 2);
}

WORLD_TEST(test_a_destroyed_fence_lets_its_waits_go)
{
    bf_access_queue_wait(w->graphics, w->a, 1);
    consume(w);
    produce(w);
    bf_access_queue_signal(w->copy, w->b, 3);
    bf_access_queue_wait(w->copy, w->b, 4);
    bf_access_queue_signal(w->copy, w->a, 1); /* under way when the fence goes */
    expect(w, 0);
    bf_access_fence_remove(w->a);
    expect(w, 1);
    bf_access_fence_signal(w->b, 4);
    expect(w, 1);
}

/* ----------------------------------------------------------------------------------------- Events */

static const int event1, event2;

static void set(const void *event, bool unseen, struct bf_access_fence *fence, uint64_t value)
{
    bf_access_event_set(event, unseen, fence, value);
}

WORLD_TEST(test_through_an_event_that_the_cpu_saw)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    set(&event1, false, w->a, 1);
    bf_access_event_seen(w->access, &event1);
    consume(w);
    expect(w, 0);
}

WORLD_TEST(test_an_event_that_nobody_saw_orders_nothing)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    set(&event1, false, w->a, 1);
    bf_access_event_seen(w->access, &event2);
    consume(w);
    expect(w, 1);
}

WORLD_TEST(test_an_event_that_may_be_seen_unseen)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    set(&event1, true, w->a, 1);
    consume(w);
    expect(w, 0);
}

WORLD_TEST(test_a_destroyed_event_carries_nothing)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    set(&event1, false, w->a, 1);
    bf_access_event_remove(w->access, &event1); /* the address may come again */
    bf_access_event_seen(w->access, &event1);
    consume(w);
    expect(w, 1);
}

WORLD_TEST(test_an_event_of_two_fences)
{
    produce(w);
    bf_access_queue_signal(w->copy, w->a, 1);
    check_use(w->compute, 2, 0, 64, true);
    bf_access_queue_signal(w->compute, w->b, 1);
    set(&event1, false, w->a, 1);
    set(&event1, false, w->b, 1);
    bf_access_event_seen(w->access, &event1);
    consume(w);
    check_use(w->graphics, 2, 0, 64, false);
    expect(w, 0);
}

/* ------------------------------------------------------------------------------------ Vulkan's own */

struct vk {
    VkQueue graphics, copy;
    VkCommandBuffer writes, reads;
    struct bf_access_recording *recordings[2];
    VkSemaphore timeline, binary;
    VkFence fence;
};

static struct vk make_vk(struct world *w)
{
    struct vk vk = {
        .graphics = HANDLE(VkQueue, 1),
        .copy = HANDLE(VkQueue, 2),
        .writes = HANDLE(VkCommandBuffer, 3),
        .reads = HANDLE(VkCommandBuffer, 4),
        .timeline = HANDLE(VkSemaphore, 5),
        .binary = HANDLE(VkSemaphore, 6),
        .fence = HANDLE(VkFence, 7),
    };
    bf_access_vkqueue_add(w->access, vk.graphics, "vk graphics", BF_ACCESS_COMPUTE_3D);
    bf_access_vkqueue_add(w->access, vk.copy, "vk copy", BF_ACCESS_COPY);
    bf_access_semaphore_add(w->access, vk.timeline, true, 0);
    bf_access_semaphore_add(w->access, vk.binary, false, 0);
    for (int i = 0; i < 2; i++) {
        vk.recordings[i] = bf_access_recording_create(w->access, i ? vk.reads : vk.writes);
        bf_access_record_bytes(vk.recordings[i], CHECK_BUFFER(1), 0, 64,
                               i ? BF_ACCESS_READ : BF_ACCESS_WRITE, "vkCmdTest");
        bf_access_recording_close(vk.recordings[i]);
    }
    return vk;
}

/* In both forms of vkQueueSubmit by turns. */
static void submit(struct world *w, VkQueue queue, VkSemaphore wait, uint64_t wait_value,
                   VkCommandBuffer buffer, VkSemaphore signal, uint64_t signal_value, VkFence fence)
{
    static int turn;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait_value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal_value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphores = &wait,
        .commandBufferCount = buffer != NULL,
        .pCommandBuffers = &buffer,
        .signalSemaphoreCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphores = &signal,
    };
    const VkSemaphoreSubmitInfo wait2 = {.semaphore = wait, .value = wait_value},
                                signal2 = {.semaphore = signal, .value = signal_value};
    const VkCommandBufferSubmitInfo buffer2 = {.commandBuffer = buffer};
    const VkSubmitInfo2 info2 = {
        .waitSemaphoreInfoCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreInfos = &wait2,
        .commandBufferInfoCount = buffer != NULL,
        .pCommandBufferInfos = &buffer2,
        .signalSemaphoreInfoCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphoreInfos = &signal2,
    };
    if (turn++ % 2)
        bf_access_vkqueue_submit(w->access, queue, 1, &info, fence);
    else
        bf_access_vkqueue_submit2(w->access, queue, 1, &info2, fence);
}

TEST_WITH(test_through_a_timeline_semaphore, open_world, close_world)
{
    struct world *w = *state;
    for (int turn = 0; turn < 2; turn++) {
        struct vk vk = make_vk(w);
        submit(w, vk.graphics, vk.timeline, 3, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
        submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
        expect(w, 0);
        submit(w, vk.graphics, vk.timeline, 2, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
        expect(w, 0);
        close_world(state);
        open_world(state);
    }
}

WORLD_TEST(test_unordered_submissions_are_reported)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 1);
    assert_non_null(strstr(w->check.reports[0].line, "(vkCmdTest)"));
    assert_string_equal(w->check.reports[0].later, "vk graphics");
}

WORLD_TEST(test_a_batch_is_one_packet)
{
    struct vk vk = make_vk(w);
    for (int i = 0; i < 3; i++)
        submit(w, vk.copy, vk.binary, 0, vk.writes, vk.binary, 0, vk.fence);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, NULL, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 1);
    assert_int_equal(w->check.reports[0].packet_earlier, 3);
    assert_int_equal(w->check.reports[0].packet_later, 2);
}

WORLD_TEST(test_through_a_binary_semaphore_again_and_again)
{
    struct vk vk = make_vk(w);
    const VkSemaphore back = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, back, false, 0);
    for (int frame = 0; frame < 4; frame++) {
        submit(w, vk.copy, frame ? back : VK_NULL_HANDLE, 0, vk.writes, vk.binary, 0,
               VK_NULL_HANDLE);
        submit(w, vk.graphics, vk.binary, 0, vk.reads, back, 0, VK_NULL_HANDLE);
    }
    expect(w, 0);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 1);
}

WORLD_TEST(test_through_a_vkfence)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_vkqueue_submit2(w->access, vk.copy, 0, NULL, vk.fence);
    bf_access_vkfence_seen(w->access, vk.fence);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
}

WORLD_TEST(test_a_vkfence_carries_its_last_signal_alone)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, vk.fence);
    bf_access_vkfence_reset(w->access, vk.fence);
    bf_access_vkfence_seen(w->access, vk.fence); /* signalled by whatever */
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 1);
}

WORLD_TEST(test_through_host_operations_on_a_timeline)
{
    struct vk vk = make_vk(w);
    const VkSemaphore go = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, go, true, 0);
    submit(w, vk.graphics, go, 1, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 3, VK_NULL_HANDLE);
    bf_access_semaphore_reached(w->access, vk.timeline, 3);
    bf_access_semaphore_signal(w->access, go, 1);
    expect(w, 0);
    bf_access_semaphore_read(w->access, vk.timeline, 3);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
}

WORLD_TEST(test_through_an_idle_vkqueue)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_vkqueue_idle(w->access, vk.copy);
    submit(w, vk.graphics, VK_NULL_HANDLE, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
}

/* A BfFence that is a timeline semaphore, and one that a semaphore follows. */
WORLD_TEST(test_through_imported_and_exported_fences)
{
    struct vk vk = make_vk(w);
    const VkSemaphore follower = HANDLE(VkSemaphore, 8);
    bf_access_semaphore_add(w->access, follower, true, 0);
    struct bf_access_fence *imported = bf_access_semaphore_import(w->access, vk.timeline);
    bf_access_semaphore_export(w->access, follower, w->a);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.timeline, 1, VK_NULL_HANDLE);
    bf_access_queue_wait(w->compute, imported, 1);
    bf_access_queue_signal(w->compute, w->a, 4);
    submit(w, vk.graphics, follower, 4, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
    bf_access_fence_remove(imported);
    bf_access_semaphore_remove(w->access, follower);
    bf_access_semaphore_remove(w->access, vk.timeline);
    bf_access_queue_signal(w->compute, w->a, 5);
    expect(w, 0);
}

/* Rendered, presented, acquired, rendered again by another queue. */
WORLD_TEST(test_through_presentation)
{
    struct vk vk = make_vk(w);
    const VkSwapchainKHR swapchain = HANDLE(VkSwapchainKHR, 9);
    const VkPresentInfoKHR present = {
        .waitSemaphoreCount = 1,
        .pWaitSemaphores = &vk.binary,
        .swapchainCount = 1,
        .pSwapchains = &swapchain,
    };
    const VkSemaphore acquired = HANDLE(VkSemaphore, 10);
    bf_access_semaphore_add(w->access, acquired, false, 0);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, vk.binary, 0, VK_NULL_HANDLE);
    bf_access_present(w->access, &present);
    bf_access_acquire(w->access, swapchain, acquired, VK_NULL_HANDLE);
    submit(w, vk.graphics, acquired, 0, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
    bf_access_swapchain_remove(w->access, swapchain);
}

WORLD_TEST(test_semaphores_that_others_may_signal)
{
    struct vk vk = make_vk(w);
    submit(w, vk.copy, VK_NULL_HANDLE, 0, vk.writes, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    bf_access_semaphore_external(w->access, vk.timeline);
    submit(w, vk.graphics, vk.timeline, 77, vk.reads, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    expect(w, 0);
}
