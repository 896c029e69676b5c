/* SPDX-License-Identifier: MIT */
/* The driver runs out of memory, once, at each of its calls in turn: the call of the program's that
 * it was in says so and changes nothing, or nobody notices. The device is never lost. */
#include "support/fixture.h"

/* Once more: it succeeds. */
#define RETRY(call_)                                                                               \
    do {                                                                                           \
        VkResult r_ = (call_);                                                                     \
        if (r_ == VK_ERROR_OUT_OF_HOST_MEMORY)                                                     \
            r_ = (call_);                                                                          \
        assert_success(r_);                                                                        \
    } while (0)

static uint64_t oom_points(struct fixture *f)
{
    struct belfry_icd_counters counters;
    f->icd.get_counters(&counters);
    return counters.oom_points;
}

/* Returns at which calls of the driver it began and ended. */
static void run_program(uint64_t fail_at, uint64_t *first, uint64_t *last)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "OOM_AT=%llu", (unsigned long long)fail_at);
    const struct fixture_options options = {.environment = fail_at ? environment : NULL,
                                            .family = UINT32_MAX};
    struct fixture f;
    fixture_open(&f, &options);
    BfCommandQueue a = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   b = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence there = make_fence(&f, 0), back = make_fence(&f, 0), gate = make_fence(&f, 0);
    BfEvent event = make_event(&f);
    enum { STEPS = 4 };
    VkCommandBuffer to[STEPS], fro[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        to[i] = write_word(&f, a, i, i + 1);
        fro[i] = copy_word(&f, b, i, STEPS + i);
    }
    *first = oom_points(&f) + 1;
    RETRY(bfSetEventOnFenceCompletion(back, STEPS, event));
    RETRY(bfQueueWait(a, gate, 1)); /* the first steps are packets */
    for (uint64_t i = 0; i < STEPS; i++) {
        if (i == STEPS / 2) {
            RETRY(bfSignalFence(gate, 1));
            const uint64_t half = i;
            RETRY(bfWaitFences(1, &back, &half, BF_FENCE_WAIT_ALL, UINT64_MAX));
        }
        RETRY(bfQueueExecute(a, 1, &to[i]));
        RETRY(bfQueueSignal(a, there, i + 1));
        RETRY(bfQueueWait(b, there, i + 1));
        RETRY(bfQueueExecute(b, 1, &fro[i]));
        RETRY(bfQueueSignal(b, back, i + 1));
    }
    await_event(event);
    RETRY(bfQueueWaitIdle(a));
    RETRY(bfQueueWaitIdle(b));
    *last = oom_points(&f);
    assert_value(there, STEPS);
    assert_value(back, STEPS);
    for (uint32_t i = 0; i < STEPS; i++)
        assert_int_equal(read_word(&f, STEPS + i), i + 1);
    while (oom_points(&f) < fail_at) /* this run has made fewer: not in fixture_close */
        vkDeviceWaitIdle(f.device);
    fixture_close(&f);
}

TEST(a_driver_without_memory_at_any_call_loses_nothing)
{
    uint64_t first, last, again, end;
    run_program(0, &first, &last);
    assert_true(first <= last);
    for (uint64_t n = first; n <= last; n++)
        run_program(n, &again, &end);
    print_message("without memory at each of %u calls\n", (uint32_t)(last - first + 1));
}
