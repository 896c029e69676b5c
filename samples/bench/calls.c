/* SPDX-License-Identifier: MIT */
/* Compares the cost of a call that is made in two ways, in turns. */
#include "calls.h"

#include <stdlib.h>

#include "../common/report.h"

static bool burst(const struct calls *calls, double samples[CALLS_BURST], struct bench_found *found)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < CALLS_BURST && result >= 0; ++i)
        result = calls->make(calls->context, &samples[i]);
    if (result < 0)
        bench_found_nothing(found, "a burst of calls: %s", sample_result_name(result));
    return calls->finish(calls->context, found) && result >= 0;
}

/* The cost of reading the clock twice, which each sample contains. */
static double clock_cost(void)
{
    double samples[1001];
    for (size_t i = 0; i < 1001; ++i) {
        uint64_t begin = bench_now();
        samples[i] = (double)(bench_now() - begin);
    }
    return bench_spread(samples, 1001).median;
}

void calls_compare(const struct calls *plain, const struct calls *belfry, struct bench_found *found)
{
    const struct calls *const sides[2] = {plain, belfry};
    const uint32_t pairs = CALLS_BURSTS * CALLS_BURST;
    const double clock = clock_cost();
    double *samples = malloc(2 * pairs * sizeof *samples);
    if (!samples) {
        bench_found_nothing(found, "out of memory");
        return;
    }
    double *side[2] = {samples, samples + pairs};

    /* One repetition more than is counted: the first fills caches and pools. */
    for (uint32_t repetition = 0; repetition <= CALLS_REPETITIONS; ++repetition) {
        for (uint32_t b = 0; b < CALLS_BURSTS; ++b) {
            for (uint32_t turn = 0; turn < 2; ++turn) {
                uint32_t which = (b + turn) % 2;
                if (!burst(sides[which], &side[which][b * CALLS_BURST], found))
                    goto out;
            }
        }
        if (!repetition)
            continue;
        for (uint32_t i = 0; i < pairs; ++i)
            side[1][i] -= side[0][i];
        found->plain[repetition - 1] = bench_spread(side[0], pairs).median - clock;
        found->belfry[repetition - 1] =
            found->plain[repetition - 1] + bench_spread(side[1], pairs).median;
    }
    found->count = CALLS_REPETITIONS;
out:
    free(samples);
}
