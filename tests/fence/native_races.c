/* SPDX-License-Identifier: MIT */
/* Native fences: signals that race, the loss of the device, queues whose signals the CPU stores.
 * Whenever no signal is under way, the word is the value. */
#include "support/fixture.h"

static uint64_t load(const volatile uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Nobody calls Belfry meanwhile: what sets it is a thread of Belfry's own. */
static void await_word(const volatile uint64_t *word, uint64_t value)
{
    while (load(word) != value)
        sched_yield();
}

/* The CPU's signal between a store and the end of its batch: the pending signals have the queue's
 * last. */
TYPE_TEST(the_cpus_signal_beside_a_queues_is_overtaken_in_both)
{
    if (!fixture_is_icd())
        return;
    BfFence fence = make_native_fence(f, 0);
    const volatile uint64_t *word = word_of(fence);
    f->icd.hold_before_signals(true);
    queue_signal(queue, fence, 5);
    f->icd.quiesce();
    assert_int_equal(load(word), 5);
    cpu_signal(fence, 2);
    assert_value(fence, 2);
    f->icd.hold_before_signals(false);
    await_word(word, 5);
    assert_value(fence, 5);
}

/* The store of the queue whose signal comes last among the pending ones is made first. */
TEST(the_order_of_stores_gives_way_to_that_of_signals)
{
    if (!fixture_is_icd() || fixture_is_layered())
        return; /* the layer's families aren't the driver's */
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue first = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   second = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_fence(&f, 0);
    const volatile uint64_t *word = word_of(fence);
    uint32_t one = bfGetCommandQueueFamilyIndex(first),
             other = bfGetCommandQueueFamilyIndex(second);
    if (one == other) { /* one engine: no race */
        fixture_close(&f);
        return;
    }
    f.icd.pause();
    queue_signal(first, fence, 5);
    queue_signal(second, fence, 3);
    step_family(&f, other);
    await_word(word, 3);
    assert_value(fence, 3);
    /* A signal of the CPU's in between; and the first queue's comes last. */
    cpu_signal(fence, 1);
    f.icd.resume();
    f.icd.quiesce();
    assert_value(fence, 5);
    assert_int_equal(load(word), 5);
    /* The queue whose signal comes first among the pending ones stores last, and nobody asks. */
    f.icd.pause();
    queue_signal(first, fence, 8);
    queue_signal(second, fence, 7);
    f.icd.hold_before_signals(true);
    step_family(&f, other);
    assert_int_equal(load(word), 7);
    step_family(&f, one);
    assert_int_equal(load(word), 8);
    step_family(&f, one); /* its signals: it is over first */
    step_family(&f, other);
    await_word(word, 7);
    f.icd.hold_before_signals(false);
    f.icd.resume();
    assert_value(fence, 7);
    assert_int_equal(load(word), 7);
    fixture_close(&f);
}

FIXTURE_TEST(races_leave_word_and_value_alike)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_fence(f, 0);
    const volatile uint64_t *word = word_of(fence);
    for (uint64_t i = 0; i < TIMES(500); i++) {
        queue_signal(a, fence, 3 * i + 5);
        if (i % 3)
            queue_signal(b, fence, 1);
        if (i % 2)
            cpu_signal(fence, 2);
        await_idle(a);
        await_idle(b);
        assert_int_equal(bfGetFenceCompletedValue(fence), load(word));
    }
}

/* Signals of one queue, and of queues that wait for each other, are in order: nobody has to
 * look. */
FIXTURE_TEST(signals_in_order_wake_nobody)
{
    BfCommandQueue a = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_fence(f, 0), gate = make_fence(f, 0);
    const volatile uint64_t *word = word_of(fence);
    queue_wait(a, gate, 1);
    for (uint64_t i = 1; i <= 20; i++) /* held, and handed over in few batches */
        queue_signal(a, fence, i);
    cpu_signal(gate, 1);
    queue_wait(b, fence, 20);
    queue_signal(b, fence, 30);
    queue_wait(a, fence, 30);
    queue_signal(a, fence, 25);
    await_word(word, 25);
    while (bfGetFenceCompletedValue(fence) != 25) /* it may lag behind the word */
        sched_yield();
    assert_int_equal(counters_of(f).sleeperWakeups, 0);
}

TEST(software_queues_store_by_the_cpu)
{
    /* In one mapping alone, where a sanitizer sees that the word orders what it stands for. */
    const struct fixture_options options = {.environment = "HOST_MEMORY=0", .family = UINT32_MAX};
    struct fixture f;
    fixture_open(&f, &options);
    BfCommandQueue queue = make_software_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfCommandQueue hard = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_native_fence(&f, 0), progress;
    const volatile uint64_t *word = word_of(fence);
    queue_signal(queue, fence, 7); /* idle: at once */
    assert_int_equal(load(word), 7);
    assert_value(fence, 7);
    for (uint64_t i = 1; i <= 50; i++) { /* behind work, with nobody asking */
        execute(queue, write_word(&f, queue, 1, (uint32_t)i));
        queue_signal(queue, fence, BIG + i);
        await_word(word, BIG + i);
        assert_int_equal(read_word(&f, 1), i);
    }
    /* Beside a queue whose stores are the GPU's. */
    for (uint64_t i = 0; i < 50; i++) {
        execute(queue, write_word(&f, queue, 1, (uint32_t)i));
        queue_signal(queue, fence, 2 * i);
        queue_signal(hard, fence, 2 * i + 1);
        await_idle(queue);
        await_idle(hard);
        assert_int_equal(bfGetFenceCompletedValue(fence), load(word));
    }
    /* What the CPU stores of many signals under way is there when each applies. */
    VkEvent stall = stall_begin(&f, queue);
    queue_signal(queue, fence, 3);
    queue_signal(queue, fence, 4);
    assert_true(load(word) != 4);
    stall_end(&f, stall);
    await_word(word, 4);
    assert_success(bfGetCommandQueueProgressFence(queue, &progress));
    execute(queue, write_word(&f, queue, 1, 1));
    await_fence(progress, 1);
    fixture_close(&f);
}

/* Of a shared fence this object alone: others signal theirs. */
FIXTURE_TEST(always_signaled_stays_so_whatever_others_signal)
{
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = 2,
                                          .flags = BF_SYNC_OBJECT_SHARED_BIT};
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence one, other;
    int fd;
    assert_success(bfCreateNativeFence(f->bf, &info, &one));
    assert_success(bfExportFenceFd(one, 0, &fd));
    assert_success(bfOpenFenceFd(f->bf, fd, 0, &other));
    close(fd);
    cpu_signal(other, 7);
    assert_value(one, 7);
    assert_success(bfUpdateFenceValues(1, &one, NULL, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT));
    assert_value(other, UINT64_MAX); /* that much of it the others are told */
    cpu_signal(other, 3);
    queue_signal(queue, other, 4);
    await_idle(queue);
    assert_value(other, 4);
    assert_value(one, UINT64_MAX);
    assert_int_equal(load(word_of(one)), UINT64_MAX);
    queue_wait(queue, one, BIG);
    await_idle(queue);
    bfDestroyFence(other);
    bfDestroyFence(one);
}

/* ---------------------------------------------------------------------------- Random threads -- */

enum { FENCES = 6, QUEUES = 5, THREADS = 4 };

struct chaos {
    BfCommandQueue queues[QUEUES];
    BfFence fences[FENCES];
    struct start_line *line;
    uint32_t seed, steps;
    _Atomic uint32_t failures;
};

static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    return *seed ^= *seed << 5;
}

static void make_chaos(void *argument)
{
    struct chaos *c = argument;
    start_line_cross(c->line, THREADS);
    for (uint32_t i = 0; i < c->steps; i++) {
        BfFence fence = c->fences[next(&c->seed) % FENCES];
        BfCommandQueue queue = c->queues[next(&c->seed) % QUEUES];
        uint64_t value = next(&c->seed) % 100;
        const BfFence two[] = {fence, c->fences[next(&c->seed) % FENCES]};
        const uint64_t values[] = {value, value + 1};
        VkResult result = VK_SUCCESS;
        switch (next(&c->seed) % 8) {
        case 0:
            result = bfSignalFence(fence, value);
            break;
        case 1:
            result = bfUpdateFenceValues(2, two, values, 0);
            break;
        case 2: /* satisfied by the fence's own next signal that is high enough, in any case */
            result = bfQueueWait(queue, c->fences[0], value / 20);
            break;
        case 3:
            bfGetFenceCompletedValue(fence);
            break;
        default:
            result = bfQueueSignal(queue, fence, value);
        }
        c->failures += result != VK_SUCCESS;
    }
}

TEST(random_signals_leave_word_and_value_alike)
{
    for (uint32_t round = 1; round <= TIMES(64); round++) {
        struct fixture f;
        fixture_open(&f, NULL);
        struct start_line line = {0};
        struct chaos chaos[THREADS];
        struct thread threads[THREADS];
        BfCommandQueue queues[QUEUES];
        BfFence fences[FENCES];
        for (int i = 0; i < QUEUES; i++)
            queues[i] = i == 4 ? make_software_queue(&f, queue_types[0])
                               : make_queue(&f, queue_types[i % 3]);
        for (int i = 0; i < FENCES; i++)
            fences[i] = make_native_fence(&f, (uint64_t)i);
        for (uint32_t t = 0; t < THREADS; t++) {
            chaos[t] =
                (struct chaos){.line = &line, .seed = round * 7919 + t * 104729, .steps = 100};
            memcpy(chaos[t].queues, queues, sizeof(queues));
            memcpy(chaos[t].fences, fences, sizeof(fences));
            thread_start(&threads[t], make_chaos, &chaos[t]);
        }
        for (int t = 0; t < THREADS; t++) {
            thread_join(&threads[t]);
            assert_int_equal(chaos[t].failures, 0);
        }
        cpu_signal(fences[0], UINT64_MAX); /* lets go whoever still waits */
        for (int i = 0; i < QUEUES; i++)
            await_idle(queues[i]);
        for (int i = 0; i < FENCES; i++) {
            uint64_t value = bfGetFenceCompletedValue(fences[i]);
            if (load(word_of(fences[i])) != value)
                fail_msg("round %u, fence %d: word %llu, value %llu", round, i,
                         (unsigned long long)load(word_of(fences[i])), (unsigned long long)value);
        }
        fixture_close(&f);
    }
}

/* -------------------------------------------------------------------------------------- Loss -- */

FIXTURE_TEST(a_lost_device_is_seen_in_memory)
{
    if (!fixture_is_icd())
        return;
    BfCommandQueue runs = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT),
                   held = make_queue(f, BF_COMMAND_LIST_TYPE_COPY);
    BfFence fence = make_native_fence(f, 4), gate = make_fence(f, 0), spared, progress;
    const BfNativeFenceCreateInfo info = {BF_TYPE(NATIVE_FENCE_CREATE_INFO), .initialValue = 4,
                                          .flags = BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT};
    assert_success(bfCreateNativeFence(f->bf, &info, &spared));
    assert_success(bfGetCommandQueueProgressFence(runs, &progress));
    const volatile uint64_t *word = word_of(fence), *other = word_of(spared);
    BfEvent told = make_event(f), untold = make_event(f);
    set_event_on(fence, 9, told);
    set_event_on(spared, 9, untold);
    VkEvent stall = stall_begin(f, runs);
    (void)stall;
    f->stalls--; /* the loss ends it */
    queue_signal(runs, fence, 9);
    queue_signal(runs, spared, 9);
    queue_wait(held, gate, 1);
    queue_signal(held, fence, 12);
    f->lost = true;
    f->icd.lose();
    f->icd.quiesce();
    assert_int_equal(bfWaitFences(1, &fence, &(uint64_t){9}, BF_FENCE_WAIT_ALL, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    assert_value(fence, UINT64_MAX);
    assert_int_equal(load(word), UINT64_MAX);
    assert_value(spared, 4);
    assert_int_equal(load(other), 4);
    assert_true(take_event(told));
    assert_false(take_event(untold));
    assert_value(progress, UINT64_MAX);
    assert_int_equal(load(word_of(progress)), UINT64_MAX);
    assert_int_equal(bfSignalFence(fence, 1), VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfQueueSignal(runs, fence, 1), VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfUpdateFenceValues(1, &fence, NULL, BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfCreateNativeFence(f->bf, &info, &gate), VK_ERROR_DEVICE_LOST);
    assert_int_equal(load(word), UINT64_MAX);
    bfDestroyFence(spared);
}
