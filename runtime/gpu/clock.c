/* SPDX-License-Identifier: MIT */
/* The GPU's timestamp at a CPU time, by a calibration that is renewed as it ages. */
#include "gpu/clock.h"

#include "base/clock.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "trace/clock_reading.h"

/* How long a calibration is used: the two clocks drift apart by about 50 ns per millisecond. */
#define GOOD_FOR_NS UINT64_C(100000000)

static void gpu_clock_calibrate(struct bf_gpu *gpu)
{
    struct bf_gpu_clock *clock = &gpu->gpu_clock;
    struct bf_clock_reading now;
    if (bf_clock_reading_take(gpu->handle, gpu->get_calibrated_timestamps, BF_CLOCK_READING_TRIES,
                              &now) != VK_SUCCESS)
        return; /* the previous calibration stays in use */
    clock->ticks = now.ticks;
    clock->ns = now.ns;
    clock->valid = true;
}

static uint64_t gpu_clock_ticks_at(struct bf_gpu *gpu, uint64_t ns)
{
    struct bf_gpu_clock *clock = &gpu->gpu_clock;
    uint64_t ticks = 0;
    if (!gpu->get_calibrated_timestamps)
        return 0;
    bf_lock_acquire(&clock->lock);
    if (!clock->valid || bf_now_ns() - clock->ns > GOOD_FOR_NS)
        gpu_clock_calibrate(gpu);
    if (clock->valid)
        ticks = clock->ticks +
                (uint64_t)(int64_t)((double)(int64_t)(ns - clock->ns) / gpu->timestamp_period_ns);
    bf_lock_release(&clock->lock);
    return ticks;
}

uint64_t bf_gpu_clock_ticks(struct bf_gpu_engine *engine, uint64_t ns)
{
    uint64_t ticks = gpu_clock_ticks_at(engine->gpu, ns);
    return engine->timestamp_bits < 64 ? ticks & ((UINT64_C(1) << engine->timestamp_bits) - 1)
                                       : ticks;
}

uint64_t bf_gpu_clock_now(struct bf_gpu *gpu)
{
    return gpu_clock_ticks_at(gpu, bf_now_ns());
}
