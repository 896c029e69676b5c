/* SPDX-License-Identifier: MIT */
/* Random numbers that depend on nothing but their seed (splitmix64). Not for several threads. */
#ifndef BELFRY_RANDOM_RNG_H
#define BELFRY_RANDOM_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 … n - 1; n must not be 0. The bias is far below what a test could notice. */
static inline uint32_t rng_below(struct rng *rng, uint32_t n)
{
    return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

/* low … high, both included. */
static inline int rng_range(struct rng *rng, int low, int high)
{
    return low + (int)rng_below(rng, (uint32_t)(high - low + 1));
}

static inline bool rng_percent(struct rng *rng, int percent)
{
    return (int)rng_below(rng, 100) < percent;
}

#endif
