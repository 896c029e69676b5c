/* Native fences: their values in memory, written by the GPU itself. */
#include "fixture.h"

static const volatile uint64_t *word_of(BfFence fence)
{
    BfNativeFenceMapping mapping;
    assert_success(bfGetNativeFenceMapping(fence, &mapping));
    assert_non_null(mapping.pCurrentValue);
    return mapping.pCurrentValue;
}

static void a_queues_signal_is_stored_by_the_gpu(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &fixture_plain);
    BfQueue queue = make_queue(&f, BF_QUEUE_TYPE_DIRECT);
    BfFence fence = make_native_fence(&f, 7);
    const volatile uint64_t *word = word_of(fence);
    assert_int_equal(*word, 7);
    for (uint64_t i = 1; i < 100; i++) {
        queue_signal(queue, fence, BIG + i);
        while (*word != BIG + i) /* no call of Belfry's: the GPU alone */
            ;
    }
    await_fence(fence, BIG + 99);
    fixture_close(&f);
}

static void races_leave_word_and_value_alike(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &fixture_plain);
    BfQueue a = make_queue(&f, BF_QUEUE_TYPE_DIRECT), b = make_queue(&f, BF_QUEUE_TYPE_COPY);
    BfFence fence = make_native_fence(&f, 0);
    const volatile uint64_t *word = word_of(fence);
    for (uint64_t i = 0; i < TIMES(500); i++) {
        queue_signal(a, fence, 3 * i + 5);
        if (i % 3)
            queue_signal(b, fence, 1);
        if (i % 2)
            cpu_signal(fence, 2);
        await_idle(a);
        await_idle(b);
        assert_int_equal(bfGetFenceValue(fence), *word);
    }
    fixture_close(&f);
}

static void a_progress_fence_counts_finished_executions(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &fixture_plain);
    BfQueue queue = make_queue(&f, BF_QUEUE_TYPE_COMPUTE);
    BfFence progress;
    assert_success(bfGetQueueProgressFence(queue, &progress));
    const volatile uint64_t *word = word_of(progress);
    for (uint32_t i = 1; i < 20; i++) {
        execute(queue, write_word(&f, queue, i, i));
        while (*word != i)
            ;
        assert_int_equal(f.words[i], i);
    }
    await_fence(progress, 19);
    fixture_close(&f);
}

static const struct CMUnitTest tests[] = {
    TEST(a_queues_signal_is_stored_by_the_gpu),
    TEST(races_leave_word_and_value_alike),
    TEST(a_progress_fence_counts_finished_executions),
};
FIXTURE_MAIN("native", tests)
