/* SPDX-License-Identifier: MIT */
/* What a hand-over between queues of one engine costs the driver: the call that the program makes
 * anyway, and a barrier where nothing else has put the work in order. Semaphores: none. On a driver
 * with one VkQueue. */
#include "support/fixture.h"

#define CALLS 64
#define WORKS 8

struct driver {
    struct fixture f;
    struct belfry_icd_record records[CALLS];
    size_t seen;
};

static void driver_open(struct driver *d)
{
    *d = (struct driver){0};
    fixture_open(&d->f, NULL);
    d->f.icd.record_start(d->records, CALLS);
}

static void driver_close(struct driver *d)
{
    d->f.icd.record_stop();
    fixture_close(&d->f);
}

/* Since the last time, the driver was called once: one batch with so many command buffers and a
 * signal, the epoch's. */
static void assert_call(struct driver *d, uint32_t command_buffers)
{
    assert_int_equal(d->f.icd.record_count(), d->seen + 1);
    assert_true(d->seen < CALLS);
    const struct belfry_icd_record *record = &d->records[d->seen++];
    assert_int_equal(record->call, BELFRY_ICD_CALL_SUBMIT);
    assert_int_equal(record->infos, 1);
    assert_int_equal(record->waits, 0);
    assert_int_equal(record->signals, 1);
    assert_int_equal(record->command_buffers, command_buffers);
    assert_int_equal(record->fence, 0);
}

static void assert_no_call(struct driver *d)
{
    assert_int_equal(d->f.icd.record_count(), d->seen);
}

/* Work that lasts, so that nobody sees any of the work behind it complete. */
static VkEvent stall(struct driver *d, BfCommandQueue queue)
{
    VkEvent event = stall_begin(&d->f, queue);
    assert_call(d, 1);
    return event;
}

static void do_work(struct driver *d, BfCommandQueue queue, uint32_t command_buffers)
{
    execute(queue, write_word(&d->f, queue, 0, 1));
    assert_call(d, command_buffers);
}

/* To and fro, each piece waiting for the one before. */
TEST_AROUND(a_hand_over_is_one_call_with_one_barrier, struct driver, d, driver_open, driver_close)
{
    BfCommandQueue queues[2];
    BfFence fences[2];
    for (int i = 0; i < 2; i++) {
        queues[i] = make_queue(&d->f, BF_COMMAND_LIST_TYPE_DIRECT);
        fences[i] = make_fence(&d->f, 0);
    }
    VkEvent last = stall(d, queues[1]);
    queue_signal(queues[1], fences[1], 1);
    for (uint64_t i = 0; i < CALLS / 2; i++) {
        queue_wait(queues[i % 2], fences[(i + 1) % 2], i + 1);
        assert_no_call(d);
        do_work(d, queues[i % 2], 2);
        queue_signal(queues[i % 2], fences[i % 2], i + 2);
        assert_no_call(d);
    }
    stall_end(&d->f, last);
    await_fence(fences[1], CALLS / 2 + 1);
    assert_no_call(d);
}

TEST_AROUND(work_that_was_seen_complete_needs_no_barrier, struct driver, d, driver_open,
            driver_close)
{
    BfCommandQueue first = make_queue(&d->f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfCommandQueue second = make_queue(&d->f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&d->f, 0);
    do_work(d, first, 1);
    queue_signal(first, fence, 1);
    await_fence(fence, 1);
    queue_wait(second, fence, 1);
    do_work(d, second, 1);
    queue_signal(second, fence, 2);
    await_fence(fence, 2);
    do_work(d, second, 1);
    do_work(d, second, 2); /* of the one before it nobody knows anything yet */
}

/* Held executions that are released together: one batch and one epoch, with a barrier between each
 * two, up to one that somebody can wait for. Written 'e' for an execution, 's' for a signal of a
 * plain fence behind one, 'n' of a native one (which is a GPU write), 'w' for a satisfied wait. */
TEST(executions_that_nothing_separates_are_one_batch)
{
    static const struct {
        const char *calls;
        uint32_t infos, command_buffers;
    } cases[] = {
        {"e", 1, 1},   {"ee", 1, 3},    {"eeee", 1, 7}, {"ewe", 1, 3},    {"ese", 2, 3},
        {"ees", 1, 3}, {"eesee", 2, 7}, {"eene", 2, 5}, {"eeneen", 2, 8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct driver d;
        driver_open(&d);
        BfCommandQueue queue = make_queue(&d.f, BF_COMMAND_LIST_TYPE_DIRECT);
        BfFence gate = make_fence(&d.f, 0), plain = make_fence(&d.f, 0);
        BfFence native = make_native_fence(&d.f, 0);
        queue_wait(queue, gate, 1);
        uint32_t word = 0;
        for (const char *call = cases[i].calls; *call; call++)
            if (*call == 'e')
                execute(queue, write_word(&d.f, queue, 0, ++word));
            else if (*call == 'w')
                queue_wait(queue, gate, 0);
            else
                queue_signal(queue, *call == 's' ? plain : native, word);
        assert_no_call(&d);
        cpu_signal(gate, 1);
        assert_int_equal(d.f.icd.record_count(), 1);
        assert_int_equal(d.records[0].infos, cases[i].infos);
        assert_int_equal(d.records[0].signals, cases[i].infos);
        assert_int_equal(d.records[0].command_buffers, cases[i].command_buffers);
        await_idle(queue);
        assert_int_equal(read_word(&d.f, 0), word);
        driver_close(&d);
    }
}

/* Queues that wait for one work: the barrier of the first is before the work of all. */
TEST_AROUND(one_barrier_serves_all_that_wait_for_one_work, struct driver, d, driver_open,
            driver_close)
{
    BfCommandQueue first = make_queue(&d->f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&d->f, 0);
    VkEvent event = stall(d, first);
    queue_signal(first, fence, 1);
    for (uint32_t i = 0; i < 4; i++) {
        BfCommandQueue queue = make_queue(&d->f, BF_COMMAND_LIST_TYPE_DIRECT);
        queue_wait(queue, fence, 1);
        do_work(d, queue, i == 0 ? 2 : 1);
    }
    stall_end(&d->f, event);
}

/* Each work of a queue has a barrier between itself and what the queue did before, so that a queue
 * that waits for any but the last of its signals needs none of its own. */
static void wait_for_each(const uint64_t *values, uint64_t wanted, uint32_t expected)
{
    struct driver d;
    driver_open(&d);
    BfCommandQueue queue = make_queue(&d.f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfCommandQueue other = make_queue(&d.f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&d.f, 0);
    VkEvent event = stall(&d, queue);
    for (uint32_t i = 0; i < WORKS; i++) {
        do_work(&d, queue, 2);
        queue_signal(queue, fence, values[i]);
    }
    queue_wait(other, fence, wanted);
    do_work(&d, other, expected == WORKS - 1 ? 2 : 1);
    stall_end(&d.f, event);
    driver_close(&d);
}

TEST(a_wait_is_behind_the_first_signal_that_reaches_it)
{
    static const uint64_t growing[WORKS] = {2, 4, 4, 6, 8, 10, 12, 14};
    for (uint64_t wanted = 1; wanted <= growing[WORKS - 1]; wanted++) {
        uint32_t first = 0;
        while (growing[first] < wanted)
            first++;
        wait_for_each(growing, wanted, first);
    }
    static const uint64_t sinking[WORKS] = {1, 2, 9, 3, 4, 5, 6, 9};
    wait_for_each(sinking, 8, 2);
    static const uint64_t equal[WORKS] = {1, 1, 1, 1, 1, 1, 1, 1};
    wait_for_each(equal, 1, 0);
}

/* Of a batch with one command buffer on the program's VkQueue. */
static uint32_t signals_of_a_submission(struct driver *d, VkFence fence)
{
    struct fixture *f = &d->f;
    const VkCommandBufferSubmitInfo commands = {
        VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
        .commandBuffer = write_word_in(f, 0, 1, (uint32_t)d->seen),
    };
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &commands};
    if (f->layered)
        assert_success(vkQueueSubmit2(f->queues[0][0], 1, &info, fence));
    else
        assert_success(bfVkQueueSubmit(f->bf, f->queues[0][0], 1, &info, fence));
    assert_int_equal(f->icd.record_count(), d->seen + 1);
    return d->records[d->seen++].signals;
}

/* A VkQueue pays for a completion signal while a command queue is there, and no longer; the fences
 * that Belfry remembers of that time may be gone when the next one comes. */
TEST(a_command_queue_leaves_a_vkqueue_as_it_was)
{
    const struct fixture_options alone = {.family = 0};
    struct driver d = {0};
    fixture_open(&d.f, &alone);
    d.f.icd.record_start(d.records, CALLS);
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    uint32_t before = signals_of_a_submission(&d, VK_NULL_HANDLE);
    assert_int_equal(before, d.f.queue_counts[0] > 1);
    for (int round = 0; round < 3; round++) {
        VkFence fence;
        assert_success(vkCreateFence(d.f.device, &fence_info, NULL, &fence));
        BfCommandQueue queue = make_queue(&d.f, BF_COMMAND_LIST_TYPE_DIRECT);
        assert_int_equal(signals_of_a_submission(&d, VK_NULL_HANDLE), 1);
        signals_of_a_submission(&d, fence);
        assert_success(vkWaitForFences(d.f.device, 1, &fence, VK_TRUE, UINT64_MAX));
        drop_queue(&d.f, queue);
        assert_int_equal(signals_of_a_submission(&d, VK_NULL_HANDLE), before);
        vkDestroyFence(d.f.device, fence, NULL);
        if (!d.f.layered)
            continue;
        queue = make_queue(&d.f, BF_COMMAND_LIST_TYPE_DIRECT);
        signals_of_a_submission(&d, VK_NULL_HANDLE);
        assert_success(vkQueueWaitIdle(d.f.queues[0][0]));
        assert_int_equal(read_word(&d.f, 1), (uint32_t)d.seen - 1);
        d.seen = d.f.icd.record_count();
        drop_queue(&d.f, queue);
    }
    driver_close(&d);
}
