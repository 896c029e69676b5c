/* SPDX-License-Identifier: MIT */
/* A device's counter at a CPU time, on a GPU made of paper whose driver's thread is interrupted. */
#include "support/test.h"

#include <time.h>

#include "base/clock.h"
#include "gpu/clock.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"

#define SECOND UINT64_C(1000000000)

static struct {
    uint64_t now_ns;
    int interrupted; /* so many readings from now on */
    int readings;
    bool broken;
} paper;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    assert_int_equal(clock, CLOCK_MONOTONIC);
    *t = bf_timespec(paper.now_ns);
    return 0;
}

/* It counts every second nanosecond. */
static uint64_t ticks_at(uint64_t ns)
{
    return ns / 2 + 77;
}

/* Between the two clocks it may stand for 3 ms, which it doesn't notice. */
static VkResult read_clocks(VkDevice device, uint32_t count,
                            const VkCalibratedTimestampInfoEXT *infos, uint64_t *times,
                            uint64_t *deviation)
{
    assert_int_equal(count, 2);
    assert_int_equal(infos[0].timeDomain, VK_TIME_DOMAIN_DEVICE_EXT);
    assert_int_equal(infos[1].timeDomain, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
    paper.readings++;
    if (paper.broken)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    times[0] = ticks_at(paper.now_ns);
    paper.now_ns += paper.interrupted-- > 0 ? 3000000 : 200;
    times[1] = paper.now_ns;
    *deviation = 200;
    return VK_SUCCESS;
}

static void paper_begin(struct bf_gpu *gpu, struct bf_gpu_engine *engine)
{
    memset(&paper, 0, sizeof(paper));
    paper.now_ns = 5 * SECOND;
    *gpu = (struct bf_gpu){.get_calibrated_timestamps = read_clocks, .timestamp_period_ns = 2};
    *engine = (struct bf_gpu_engine){.gpu = gpu, .timestamp_bits = 64};
}

static void assert_right(struct bf_gpu_engine *engine)
{
    const uint64_t ns = paper.now_ns;
    uint64_t ticks = bf_gpu_clock_ticks(engine, ns), right = ticks_at(ns);
    uint64_t off = ticks > right ? ticks - right : right - ticks;
    assert_true(off < 1000);
}

TEST(a_reading_that_was_interrupted_is_repeated)
{
    struct bf_gpu gpu;
    struct bf_gpu_engine engine;
    paper_begin(&gpu, &engine);
    for (int interrupted = 0; interrupted < 4; interrupted++) {
        paper.interrupted = interrupted;
        paper.readings = 0;
        assert_right(&engine);
        assert_int_equal(paper.readings, interrupted + 1);
        /* It is good for a while. */
        assert_right(&engine);
        assert_int_equal(paper.readings, interrupted + 1);
        paper.now_ns += SECOND;
    }
}

TEST(a_thread_that_is_always_interrupted_gets_an_answer)
{
    struct bf_gpu gpu;
    struct bf_gpu_engine engine;
    paper_begin(&gpu, &engine);
    paper.interrupted = 1000;
    assert_true(bf_gpu_clock_ticks(&engine, paper.now_ns) != 0);
    assert_true(paper.readings < 10);
}

TEST(a_reading_that_fails_leaves_the_one_before)
{
    struct bf_gpu gpu;
    struct bf_gpu_engine engine;
    paper_begin(&gpu, &engine);
    paper.broken = true;
    assert_int_equal(bf_gpu_clock_ticks(&engine, paper.now_ns), 0);
    paper.broken = false;
    assert_right(&engine);
    paper.broken = true;
    paper.now_ns += SECOND;
    assert_right(&engine);
}
