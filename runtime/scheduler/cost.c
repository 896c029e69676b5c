/* SPDX-License-Identifier: MIT */
/* What packets of a queue are taken to cost: samples, and what they come to. */
#include "scheduler/cost.h"

/* The mean of late, with a sample more, of which not more counts than a spike's. */
static uint64_t mean_with(uint64_t mean, uint64_t ns)
{
    uint64_t most = mean * BF_COST_SPIKE;
    return (mean * (BF_COST_SAMPLES - 1) + (ns < most ? ns : most)) / BF_COST_SAMPLES;
}

void bf_cost_add_measured(struct bf_cost *cost, uint64_t ns)
{
    if (ns < BF_COST_LEAST) /* a mean of a few would stay there */
        ns = BF_COST_LEAST;
    const bool few = !cost->measured_ns || cost->measured < BF_COST_SAMPLES / 2;
    cost->measured = cost->measured_ns ? cost->measured + few : 1;
    if (!cost->measured_ns || (few && ns < cost->measured_ns))
        cost->measured_ns = ns; /* of few, the least */
    else if (!few)
        cost->measured_ns = mean_with(cost->measured_ns, ns);
    cost->unmeasured = 0;
}

void bf_cost_add(struct bf_cost *cost, uint64_t ns, bool busy)
{
    if (ns < BF_COST_LEAST)
        ns = BF_COST_LEAST;
    if (++cost->unmeasured > BF_COST_MEASURED)
        cost->measured_ns = 0;
    uint64_t mean = cost->mean_ns;
    if (mean == 0 || (ns < mean && cost->count < BF_COST_SAMPLES / 2))
        cost->mean_ns = ns; /* of few, the least */
    else if (ns < mean || (busy && cost->count >= BF_COST_SAMPLES / 2))
        cost->mean_ns = mean_with(mean, ns);
    cost->samples[cost->next] = ns;
    cost->next = (cost->next + 1) % BF_COST_SAMPLES;
    if (cost->count < BF_COST_SAMPLES)
        cost->count++;
}

uint64_t bf_cost_estimate(const struct bf_cost *cost)
{
    uint64_t least = BF_COST_UNKNOWN, second = BF_COST_UNKNOWN;
    if (cost->measured_ns)
        return cost->measured_ns;
    for (uint32_t i = 0; i < cost->count; i++) {
        uint64_t ns = cost->samples[i];
        if (ns < least) {
            second = least;
            least = ns;
        } else if (ns < second) {
            second = ns;
        }
    }
    /* Of few, the second may be one that was seen late. */
    if (cost->count < BF_COST_SAMPLES / 2)
        return least;
    const uint64_t floor = cost->mean_ns / 4 * 3;
    return second > floor ? second : floor;
}

uint64_t bf_cost_mean(const struct bf_cost *cost, uint64_t unknown)
{
    return cost->measured_ns ? cost->measured_ns : cost->mean_ns ? cost->mean_ns : unknown;
}
