/* SPDX-License-Identifier: MIT */
/* What the entries of a ring do, what they may not say, and what becomes of a queue that is given
 * such an entry. */
#include "doorbell/user_mode.h"

#define RING 64
#define SOME 500

static const BfCommandListType direct = BF_COMMAND_LIST_TYPE_DIRECT;

/* ----------------------------------------------------------------------------------- Running -- */

FIXTURE_TEST(entries_run_once_and_in_order)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    for (uint32_t i = 0; i < TIMES(SOME); i++) { /* each writes another word, and the same one */
        user_mode_execute(&u, register_write(f, &u, i, i + 1, 0));
        BfRingEntry entry = user_mode_entry(&u);
        entry.commandBuffer = register_write(f, &u, SOME, i + 1, 0);
        entry.flags = BF_RING_ENTRY_BARRIER_BIT;
        user_mode_submit(&u, entry);
    }
    user_mode_await(&u);
    for (uint32_t i = 0; i < TIMES(SOME); i++)
        assert_int_equal(read_word(f, i), i + 1);
    assert_int_equal(read_word(f, SOME), TIMES(SOME));
    assert_int_equal(u.ring.pControl->read, 2 * TIMES(SOME));
    user_mode_close(&u);
}

FIXTURE_TEST(entries_without_anything_pass)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    for (int i = 0; i < 3 * RING; i++)
        user_mode_submit(&u, user_mode_entry(&u));
    user_mode_await(&u);
    user_mode_close(&u);
}

FIXTURE_TEST(many_that_have_gathered_go_in_few_calls)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, 1024);
    BfFence gate = make_fence(f, 0);
    uint32_t buffer = register_write(f, &u, 0, 1, BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT);
    assert_success(bfSuspendCommandQueue(u.queue));
    BfRingEntry entry = user_mode_entry(&u);
    entry.waitFence = register_fence(&u, gate);
    user_mode_submit(&u, entry);
    for (int i = 0; i < 512; i++)
        user_mode_execute(&u, buffer);
    uint64_t before = counters_of(f).driverCalls;
    assert_success(bfResumeCommandQueue(u.queue));
    cpu_signal(gate, 1);
    user_mode_await(&u);
    assert_true(counters_of(f).driverCalls - before <= 8);
    user_mode_close(&u);
}

FIXTURE_TEST(waits_and_signals_order_rings_and_queues)
{
    struct user_mode a, b;
    user_mode_open(f, &a, direct, RING);
    user_mode_open(f, &b, BF_COMMAND_LIST_TYPE_COMPUTE, RING);
    BfCommandQueue plain = make_queue(f, direct);
    BfFence fence = make_fence(f, 0), back = make_fence(f, 0);
    uint32_t in_a = register_fence(&a, fence), in_b = register_fence(&b, fence);
    uint32_t back_b = register_fence(&b, back);
    uint32_t other = register_fence(&a, back);
    for (uint64_t i = 1; i <= 50; i++) { /* a, then b, then a queue of calls, then a again */
        BfRingEntry entry = user_mode_entry(&b);
        entry.waitFence = in_b;
        entry.waitValue = i;
        entry.signalFence = back_b;
        entry.signalValue = 2 * i - 1;
        user_mode_submit(&b, entry);
        queue_wait(plain, back, 2 * i - 1);
        queue_signal(plain, back, 2 * i);
        entry = user_mode_entry(&a);
        entry.signalFence = in_a;
        entry.signalValue = i;
        user_mode_submit(&a, entry);
        entry = user_mode_entry(&a);
        entry.waitFence = other;
        entry.waitValue = 2 * i;
        user_mode_submit(&a, entry);
    }
    user_mode_await(&a);
    user_mode_await(&b);
    assert_value(back, 100);
    user_mode_close(&a);
    user_mode_close(&b);
}

/* HQ-2: not before a later entry's wait is over. */
FIXTURE_TEST(progress_does_not_wait_for_what_comes_after)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    BfFence gate = make_fence(f, 0);
    assert_success(bfSuspendCommandQueue(u.queue)); /* both are read together */
    user_mode_execute(&u, register_write(f, &u, 0, 7, 0));
    uint64_t first = u.last;
    BfRingEntry entry = user_mode_entry(&u);
    entry.waitFence = register_fence(&u, gate);
    entry.waitValue = 1;
    user_mode_submit(&u, entry);
    assert_success(bfResumeCommandQueue(u.queue));
    await_fence(u.progress, first);
    assert_int_equal(read_word(f, 0), 7);
    assert_value(u.progress, first);
    cpu_signal(gate, 1);
    user_mode_await(&u);
    user_mode_close(&u);
}

FIXTURE_TEST(progress_comes_behind_the_work)
{
    struct user_mode u;
    if (!fixture_is_icd())
        return;
    user_mode_open(f, &u, direct, RING);
    f->icd.pause();
    const uint64_t before = vulkan_counters(&f->icd).submit_infos;
    user_mode_execute(&u, register_write(f, &u, 0, 7, 0));
    while (vulkan_counters(&f->icd).submit_infos == before)
        sched_yield();
    assert_value(u.progress, 0);
    f->icd.resume();
    user_mode_await(&u);
    assert_int_equal(read_word(f, 0), 7);
    user_mode_close(&u);
}

FIXTURE_TEST(a_native_progress_fence_is_written_by_the_gpu)
{
    struct user_mode u = {0};
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = direct,
                                           .flags = BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT |
                                                    BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT};
    assert_success(bfCreateCommandQueue(f->bf, &info, &u.queue));
    f->made_queues[f->queue_count++] = u.queue;
    assert_success(bfGetCommandQueueProgressFence(u.queue, &u.progress));
    user_mode_make_doorbell(f, &u, RING, 0);
    for (uint32_t i = 0; i < 20; i++)
        user_mode_execute(&u, register_write(f, &u, i, 1, 0));
    const volatile uint64_t *word = word_of(u.progress);
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != u.last) /* no call of Belfry's */
        ;
    user_mode_close(&u);
}

FIXTURE_TEST(calls_are_refused)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    BfFence fence = make_fence(f, 0);
    VkCommandBuffer commands = write_word(f, u.queue, 0, 1);
    assert_bad_input(bfQueueExecute(u.queue, 1, &commands));
    assert_bad_input(bfQueueSignal(u.queue, fence, 1));
    assert_bad_input(bfQueueWait(u.queue, fence, 1));
    assert_bad_input(bfQueueWaitIdle(u.queue));
    user_mode_close(&u);
}

/* ----------------------------------------------------------------------------------- Garbage -- */

struct bad_entry {
    const char *what;
    BfAbortReason reason;
    BfRingEntry entry;
};

#define NOTHING                                                                                    \
    .commandBuffer = BF_RING_NONE, .waitFence = BF_RING_NONE, .signalFence = BF_RING_NONE

FIXTURE_TEST(what_cannot_be_carried_out_ends_the_queue_and_no_other)
{
    static const struct bad_entry bad[] = {
        {"flags", BF_ABORT_REASON_ENTRY, {NOTHING, .flags = 2}},
        {"more flags", BF_ABORT_REASON_ENTRY, {NOTHING, .flags = 0x80000001}},
        {"reserved", BF_ABORT_REASON_ENTRY, {NOTHING, .reserved = {0, 0, 1}}},
        {"no such buffer",
         BF_ABORT_REASON_COMMAND_BUFFER,
         {.commandBuffer = 1, .waitFence = BF_RING_NONE, .signalFence = BF_RING_NONE}},
        {"no such fence",
         BF_ABORT_REASON_FENCE,
         {.commandBuffer = BF_RING_NONE, .waitFence = 2, .signalFence = BF_RING_NONE}},
        {"nor to signal",
         BF_ABORT_REASON_FENCE,
         {.commandBuffer = BF_RING_NONE, .waitFence = BF_RING_NONE, .signalFence = 100}},
        {"may not be waited for",
         BF_ABORT_REASON_FENCE,
         {.commandBuffer = BF_RING_NONE, .waitFence = 0, .signalFence = BF_RING_NONE}},
        {"may not be signalled",
         BF_ABORT_REASON_FENCE,
         {.commandBuffer = BF_RING_NONE, .waitFence = BF_RING_NONE, .signalFence = 1}},
        {"went back", BF_ABORT_REASON_PROGRESS_VALUE, {NOTHING, .progressValue = 1}},
        {"garbage",
         BF_ABORT_REASON_ENTRY,
         {UINT64_MAX, UINT32_MAX, 7, 7, 7, 1, 2, {3, 4, UINT64_MAX}}},
    };
    struct user_mode other;
    user_mode_open(f, &other, direct, RING);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct user_mode u;
        user_mode_open(f, &u, direct, RING);
        BfFence fences[2];
        for (int j = 0; j < 2; j++) {
            const BfFenceCreateInfo info = {
                BF_TYPE(FENCE_CREATE_INFO),
                .pNext =
                    BF_SYNC_OBJECT(j ? BF_SYNC_OBJECT_NO_SIGNAL_BIT : BF_SYNC_OBJECT_NO_WAIT_BIT)};
            assert_success(bfCreateFence(f->bf, &info, &fences[j]));
            register_fence(&u, fences[j]);
        }
        u.last = 9;
        user_mode_execute(&u, register_write(f, &u, 0, (uint32_t)i + 1, 0));
        BfRingEntry entry = bad[i].entry;
        bfSubmitToRing(&u.writer, &entry);
        bfSubmitToRing(&u.writer, &entry);
        assert_aborted(&u, bad[i].reason, 1);
        assert_int_equal(read_word(f, 0), i + 1); /* what came before has run */
        user_mode_execute(&other, register_write(f, &other, 1, (uint32_t)i + 1, 0));
        user_mode_await(&other);
        assert_int_equal(read_word(f, 1), i + 1);
        user_mode_close(&u);
        drop_queue(f, u.queue);
        for (int j = 0; j < 2; j++)
            bfDestroyFence(fences[j]);
    }
    user_mode_close(&other);
}

/* RB-1 */
FIXTURE_TEST(how_far_it_was_read_is_not_taken_from_the_ring)
{
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    for (uint32_t i = 0; i < RING / 2; i++) {
        user_mode_execute(&u, register_write(f, &u, 0, i, 0));
        user_mode_await(&u);
        __atomic_store_n(&u.ring.pControl->read, 0, __ATOMIC_RELEASE);
    }
    assert_int_equal(read_word(f, 0), RING / 2 - 1);
    user_mode_close(&u);
}

FIXTURE_TEST(write_pointers_that_cannot_be_end_the_queue)
{
    static const uint64_t pointers[] = {RING + 2, UINT64_MAX, UINT64_C(1) << 63, 0};
    for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++) {
        struct user_mode u;
        user_mode_open(f, &u, direct, RING);
        user_mode_submit(&u, user_mode_entry(&u));
        user_mode_await(&u);
        __atomic_store_n(&u.ring.pControl->write, pointers[i], __ATOMIC_RELEASE);
        bfRingDoorbell(&u.writer);
        assert_aborted(&u, BF_ABORT_REASON_WRITE_POINTER, 1);
        assert_ended(f, &u);
        drop_queue(f, u.queue); /* and the program falls back */
        BfCommandQueue plain = make_queue(f, direct);
        execute(plain, write_word(f, plain, 0, (uint32_t)i + 1));
        await_idle(plain);
        assert_int_equal(read_word(f, 0), i + 1);
    }
}

FIXTURE_TEST(a_pending_command_buffer_is_refused_unless_it_may_be)
{
    for (int may = 0; may < 2; may++) {
        struct user_mode u;
        user_mode_open(f, &u, direct, RING);
        BfFence gate = make_fence(f, 0);
        uint32_t buffer =
            register_write(f, &u, 0, 5, may ? BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT : 0);
        uint32_t number = register_fence(&u, gate);
        for (uint64_t i = 1; i <= 2; i++) { /* once complete, it may come again */
            user_mode_execute(&u, buffer);
            user_mode_await(&u);
            BfRingEntry entry = user_mode_entry(&u);
            entry.waitFence = number;
            entry.waitValue = i;
            entry.commandBuffer = buffer;
            user_mode_submit(&u, entry);
            if (i == 1) {
                cpu_signal(gate, 1);
                user_mode_await(&u);
            }
        }
        BfRingEntry entry = user_mode_entry(&u);
        entry.commandBuffer = buffer;
        bfSubmitToRing(&u.writer, &entry);
        while (!may && user_mode_status(&u) != BF_DOORBELL_STATUS_DISCONNECTED_ABORT)
            sched_yield(); /* it is read while the other one is pending */
        cpu_signal(gate, 2);
        if (may)
            user_mode_await(&u);
        else
            assert_aborted(&u, BF_ABORT_REASON_PENDING, 4);
        user_mode_close(&u);
    }
}

/* HQ-4 */
FIXTURE_TEST(what_has_been_destroyed_or_unregistered_is_no_longer_named)
{
    enum {
        UNREGISTERED_BUFFER,
        BEGUN_BUFFER,
        RESET_BUFFER,
        RESET_POOL,
        FREED_BUFFER,
        DESTROYED_POOL,
        UNREGISTERED_FENCE,
        DESTROYED_FENCE,
        CASES
    };
    for (int i = 0; i < CASES; i++) {
        struct user_mode u;
        if (i > UNREGISTERED_BUFFER && i < UNREGISTERED_FENCE && !fixture_is_layered())
            continue;
        user_mode_open(f, &u, direct, RING);
        uint32_t family = bfGetCommandQueueFamilyIndex(u.queue), buffer, number;
        VkCommandPool pool;
        const VkCommandPoolCreateInfo pool_info = {
            VK_TYPE(COMMAND_POOL_CREATE_INFO), .queueFamilyIndex = family,
            .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
        assert_success(vkCreateCommandPool(f->device, &pool_info, NULL, &pool));
        const VkCommandBufferAllocateInfo buffer_info = {
            VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = pool, .commandBufferCount = 1};
        const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
        VkCommandBuffer commands;
        assert_success(vkAllocateCommandBuffers(f->device, &buffer_info, &commands));
        assert_success(vkBeginCommandBuffer(commands, &begin));
        assert_success(vkEndCommandBuffer(commands));
        BfFence fence = make_fence(f, 0);
        assert_success(bfRegisterCommandBuffer(u.queue, commands, 0, &buffer));
        number = register_fence(&u, fence);
        if (i == UNREGISTERED_BUFFER)
            assert_success(bfUnregisterCommandBuffer(u.queue, buffer));
        if (i == BEGUN_BUFFER) {
            assert_success(vkBeginCommandBuffer(commands, &begin));
            assert_success(vkEndCommandBuffer(commands));
        }
        if (i == RESET_BUFFER)
            assert_success(vkResetCommandBuffer(commands, 0));
        if (i == RESET_POOL)
            assert_success(vkResetCommandPool(f->device, pool, 0));
        if (i == FREED_BUFFER)
            vkFreeCommandBuffers(f->device, pool, 1, &commands);
        if (i == DESTROYED_POOL)
            vkDestroyCommandPool(f->device, pool, NULL);
        if (i == UNREGISTERED_FENCE)
            assert_success(bfUnregisterFence(u.queue, number));
        if (i == DESTROYED_FENCE)
            drop_fence(f, fence);
        BfRingEntry entry = user_mode_entry(&u);
        bool names_buffer = i < UNREGISTERED_FENCE;
        entry.commandBuffer = names_buffer ? buffer : BF_RING_NONE;
        entry.waitFence = names_buffer ? BF_RING_NONE : number;
        entry.waitValue = 1;
        bfSubmitToRing(&u.writer, &entry);
        assert_aborted(&u, names_buffer ? BF_ABORT_REASON_COMMAND_BUFFER : BF_ABORT_REASON_FENCE,
                       0);
        assert_bad_input(bfUnregisterCommandBuffer(u.queue, 77));
        assert_bad_input(bfUnregisterFence(u.queue, UINT32_MAX));
        user_mode_close(&u);
        if (i != DESTROYED_POOL)
            vkDestroyCommandPool(f->device, pool, NULL);
    }
}

/* They come and go on their own, with whatever else is registered, and end together. */
FIXTURE_TEST(a_command_buffer_may_have_several_numbers)
{
    enum { NUMBERS = 5 };
    struct user_mode u;
    user_mode_open(f, &u, direct, RING);
    const uint32_t family = bfGetCommandQueueFamilyIndex(u.queue);
    uint32_t numbers[NUMBERS], other = register_write(f, &u, 1, 7, 0), again, spare;
    VkCommandBuffer commands =
        device_begin(&f->base, family, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    put_word(f, commands, 0, 3);
    commands_end(commands);
    const BfRegisterCommandBufferFlags flags = BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT;
    for (uint32_t i = 0; i < NUMBERS; i++)
        assert_success(bfRegisterCommandBuffer(u.queue, commands, flags, &numbers[i]));
    static const uint32_t gone[] = {2, 0, 4}; /* neither end of the list, and both */
    for (uint32_t i = 0; i < 3; i++) {
        assert_success(bfUnregisterCommandBuffer(u.queue, numbers[gone[i]]));
        assert_bad_input(bfUnregisterCommandBuffer(u.queue, numbers[gone[i]]));
    }
    assert_success(bfRegisterCommandBuffer(u.queue, commands, flags, &again));
    spare = register_write(f, &u, 2, 9, 0);
    const uint32_t live[] = {numbers[1], numbers[3], again, spare, other};
    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t k = 0; k < i; k++)
            assert_int_not_equal(live[i], live[k]);
        user_mode_execute(&u, live[i]);
    }
    user_mode_await(&u);
    assert_int_equal(read_word(f, 0), 3);
    assert_int_equal(read_word(f, 1), 7);
    assert_int_equal(read_word(f, 2), 9);
    if (fixture_is_layered()) {
        vkFreeCommandBuffers(f->device, f->base.pools[family], 1, &commands);
    } else {
        for (uint32_t i = 0; i < 3; i++)
            assert_success(bfUnregisterCommandBuffer(u.queue, live[i]));
    }
    for (uint32_t i = 0; i < 3; i++)
        assert_bad_input(bfUnregisterCommandBuffer(u.queue, live[i]));
    assert_success(bfUnregisterCommandBuffer(u.queue, spare));
    assert_success(bfUnregisterCommandBuffer(u.queue, other));
    user_mode_close(&u);
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
