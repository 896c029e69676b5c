/* SPDX-License-Identifier: MIT */
/* What the check keeps (A-3, access/access.h): little, however long a program runs; and what
 * happens at the bounds. */
#include "check.h"

#include "access/model.h"
#include "access/vulkan.h"

static uint32_t clocks(const struct bf_access *access)
{
    uint32_t count = 0;
    for (const struct bf_clock *c = access->clocks.first; c; c = c->next)
        count++;
    return count;
}

static uint32_t queues(const struct bf_access *access)
{
    uint32_t count = 0;
    for (const struct bf_access_queue *q = access->queues; q; q = q->next)
        count++;
    return count;
}

#define CHECK_TEST(name_) TEST_AROUND(name_, struct check, check, check_open, check_close)

/* A hundred frames deep, the CPU waits; what is older is gone. */
CHECK_TEST(test_a_long_program_keeps_little)
{
    struct bf_access *access = check->access;
    struct bf_access_queue *a = bf_access_queue_add(access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(access, "b", BF_ACCESS_COMPUTE_3D);
    struct bf_access_fence *made = bf_access_fence_add(access, 0),
                           *used = bf_access_fence_add(access, 0);
    for (uint64_t frame = 1; frame <= 5000; frame++) {
        uint32_t n = frame % 100;
        if (frame > 100) {
            bf_access_fence_reached(used, frame - 100);
            bf_access_queue_wait(a, used, frame - 100);
        }
        check_use(a, n, 0, 64, true);
        bf_access_queue_signal(a, made, frame);
        bf_access_queue_wait(b, made, frame);
        check_use(b, n, 0, 64, false);
        bf_access_queue_signal(b, used, frame);
        assert_true(access->group_count <= 204);
        assert_true(clocks(access) <= 1000);
        assert_true(made->signal_count <= 250 && used->signal_count <= 250);
    }
    assert_int_equal(check->count, 0);
    bf_access_idle(access);
    assert_int_equal(access->group_count, 0);
}

/* The CPU never waits, but each use of a queue stands for its older ones. */
CHECK_TEST(test_the_same_uses_again_and_again_are_kept_once)
{
    struct bf_access_queue *a = bf_access_queue_add(check->access, "a", BF_ACCESS_COPY);
    const VkCommandBuffer handle = (VkCommandBuffer)(uintptr_t)0x5000;
    struct bf_access_recording *recording = bf_access_recording_create(check->access, handle);
    for (uint32_t n = 0; n < 10; n++) {
        bf_access_record_steps(recording, CHECK_BUFFER(n), 0, 4, 8, 10, BF_ACCESS_WRITE, "w");
        bf_access_record_steps(recording, CHECK_BUFFER(n), 4, 4, 8, 10, BF_ACCESS_READ, "r");
    }
    bf_access_recording_close(recording);
    for (uint32_t i = 0; i < 1000; i++)
        bf_access_queue_execute(a, 1, &handle);
    assert_int_equal(check->access->group_count, 10);
    for (uint32_t i = 0; i < 1000; i++) {
        check_use(a, 20, i % 7, i % 7 + 1, true);
        check_use(a, 20, 0, 10, true);
        check_use(a, 21, i % 7, i % 7 + 1, false);
        check_use(a, 21, 0, 10, false);
    }
    assert_int_equal(check->access->group_count, 12);
}

/* More than that at once is forgotten, oldest first. */
CHECK_TEST(test_the_oldest_uses_are_forgotten)
{
    struct bf_access_queue *a = bf_access_queue_add(check->access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(check->access, "b", BF_ACCESS_COPY);
    for (uint32_t n = 0; n < BF_ACCESS_MAX_USES + 10; n++) {
        check_use(a, n, 0, 64, true);
        assert_true(check->access->group_count <= BF_ACCESS_MAX_USES);
    }
    assert_true(check->access->forgot);
    check_use(b, 0, 0, 64, true);
    check_use(b, 9, 0, 64, true);
    assert_int_equal(check->count, 0);
    check_use(b, 1000, 0, 64, true);
    assert_int_equal(check->count, 1);
}

/* A fence that nobody waits for. */
CHECK_TEST(test_signals_have_a_bound)
{
    struct bf_access_queue *a = bf_access_queue_add(check->access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(check->access, "b", BF_ACCESS_COPY);
    struct bf_access_fence *fence = bf_access_fence_add(check->access, 0);
    check_use(a, 0, 0, 64, true);
    for (uint64_t value = 1; value <= 3 * BF_ACCESS_MAX_SIGNALS; value++)
        bf_access_queue_signal(a, fence, value);
    assert_true(fence->signal_count <= BF_ACCESS_MAX_SIGNALS);
    /* The first ones are forgotten: who waits for them comes after a later one. */
    bf_access_queue_wait(b, fence, 1);
    check_use(b, 0, 0, 64, true);
    assert_int_equal(check->count, 0);
}

/* Somebody else signals, and the CPU sees nothing of it. */
CHECK_TEST(test_held_calls_have_a_bound)
{
    struct bf_access_queue *a = bf_access_queue_add(check->access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(check->access, "b", BF_ACCESS_COPY);
    struct bf_access_fence *fence = bf_access_fence_add(check->access, 0);
    bf_access_fence_external(fence);
    check_use(b, 0, 0, 64, true);
    for (uint64_t value = 1; value <= BF_ACCESS_MAX_HELD; value++) {
        bf_access_queue_wait(a, fence, value);
        bf_access_queue_execute(a, 0, NULL);
        assert_true(check->access->op_count <= BF_ACCESS_MAX_HELD + 1);
    }
    check_use(a, 0, 0, 64, true);
    assert_int_equal(check->count, 0);
}

/* Queues that come and go leave nothing in any clock. */
CHECK_TEST(test_queues_that_come_and_go)
{
    struct bf_access *access = check->access;
    struct bf_access_queue *main_queue = bf_access_queue_add(access, "main", BF_ACCESS_COPY);
    struct bf_access_fence *fence = bf_access_fence_add(access, 0),
                           *done = bf_access_fence_add(access, 0);
    for (uint64_t i = 1; i <= 1000; i++) {
        struct bf_access_queue *q = bf_access_queue_add(access, "one", BF_ACCESS_COMPUTE_3D);
        check_use(q, 1, 0, 64, true);
        bf_access_queue_signal(q, fence, i);
        bf_access_queue_remove(q); /* with work on its way */
        bf_access_queue_wait(main_queue, fence, i);
        check_use(main_queue, 1, 0, 64, true);
        bf_access_queue_signal(main_queue, done, i);
        bf_access_fence_reached(done, i);
        assert_int_equal(queues(access), 1);
        for (const struct bf_clock *c = access->clocks.first; c; c = c->next)
            assert_true(c->count <= 2);
    }
    assert_int_equal(check->count, 0);
    bf_access_queue_remove(main_queue);
    assert_int_equal(queues(access), 0);
    /* A signal of a queue that is gone still satisfies. */
    struct bf_access_queue *late = bf_access_queue_add(access, "late", BF_ACCESS_COPY);
    bf_access_queue_wait(late, fence, 1000);
    check_use(late, 1, 0, 64, true);
    assert_null(late->head);
    assert_int_equal(check->count, 0);
}

/* Of one resource all is said. */
CHECK_TEST(test_all_pairs_of_queues_are_reported)
{
    for (uint32_t i = 0; i < 8; i++) {
        char name[8];
        snprintf(name, sizeof(name), "q%u", i);
        check_use(bf_access_queue_add(check->access, name, BF_ACCESS_COPY), 1, 0, 64, true);
    }
    assert_int_equal(check->count, 8 * 7 / 2);
}

/* What is said has bounds too. */
CHECK_TEST(test_reports_have_a_bound)
{
    struct bf_access_queue *a = bf_access_queue_add(check->access, "a", BF_ACCESS_COPY),
                           *b = bf_access_queue_add(check->access, "b", BF_ACCESS_COPY);
    for (uint32_t n = 0; n < BF_ACCESS_MAX_LINES + 50; n++) {
        check_use(a, n, 0, 64, true);
        check_use(b, n, 0, 64, true);
    }
    assert_int_equal(check->count, BF_ACCESS_MAX_LINES);
    assert_int_equal(check->access->unsaid, 50);
}

/* Whatever is left when the device goes. */
TEST(test_nothing_is_left)
{
    struct check check;
    check_open(&check);
    struct bf_access *access = check.access;
    struct bf_access_queue *a = bf_access_queue_add(access, "a", BF_ACCESS_COPY);
    struct bf_access_fence *fence = bf_access_fence_add(access, 0);
    const VkSemaphore binary = (VkSemaphore)(uintptr_t)0x7000;
    const VkQueue queue = (VkQueue)(uintptr_t)0x7100;
    const VkSemaphoreSubmitInfo signal = {.semaphore = binary};
    const VkSubmitInfo2 info = {.signalSemaphoreInfoCount = 1, .pSignalSemaphoreInfos = &signal};
    static const int event;
    bf_access_vkqueue_add(access, queue, "vk", BF_ACCESS_COPY);
    bf_access_semaphore_add(access, binary, false, 0);
    bf_access_vkqueue_submit2(access, queue, 1, &info, (VkFence)(uintptr_t)0x7200);
    bf_access_acquire(access, (VkSwapchainKHR)(uintptr_t)0x7300, binary, VK_NULL_HANDLE);
    bf_access_queue_wait(a, fence, 1);
    check_use(a, 1, 0, 64, true);
    check_state(a, 1, BF_RESOURCE_STATE_COPY_DEST, true);
    bf_access_queue_signal(a, fence, 5);
    bf_access_queue_uses(a, 1, &(BfResourceUse){.buffer = CHECK_BUFFER(3), .size = 1});
    bf_access_fence_reference(fence);
    bf_observer_list(bf_access_observer(access));
    bf_access_event_set(&event, false, fence, 0);
    bf_access_recording_create(access, (VkCommandBuffer)(uintptr_t)0x7400);
    bf_access_image_add(access, CHECK_IMAGE(4), &(struct bf_access_image_info){.mips = 3});
    bf_observer_unlist(bf_access_observer(access));
    check_close(&check); /* the address sanitizer looks */
    bf_observe_event_seen(&event);
}
