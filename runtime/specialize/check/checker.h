/* SPDX-License-Identifier: MIT */
/*
 * What checks run on: the queues of the helper's device, one submission at a time, and how long
 * each took (CK-3, CK-5). Internal to the checks.
 *
 * Thread-safety: one thread at a time per checker. Proven by tests/specialize/check.
 */
#ifndef BELFRY_SPECIALIZE_CHECKER_H
#define BELFRY_SPECIALIZE_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "specialize/check/check.h"
#include "specialize/check/test_resource.h"

enum { BF_LANE_COMPUTE, BF_LANE_DIRECT, BF_LANES };

/* A queue and what it takes to use it. */
struct bf_lane {
    struct bf_check_queue queue;
    VkCommandPool pool;
    VkQueryPool stamps; /* before and after timed work; VK_NULL_HANDLE: the queue has none */
};

struct bf_checker {
    struct bf_test_place place;
    uint64_t patience_ns, limit_ns, double_ns;
    bool cpu;         /* the device is one */
    double period_ns; /* of a tick of its timestamps */
    struct bf_lane lanes[BF_LANES];
    VkFence fence;
    VkEvent begun;            /* set by the commands of the submission; on a CPU there is none */
    enum bf_hang hang;        /* a submission has not ended: nothing more is checked */
    struct bf_check *forlorn; /* its resources may be in use still */
};

/* Makes the lane usable. Errors: VK_ERROR_FEATURE_NOT_PRESENT (there is no such queue), and those
 * of the driver. */
VkResult bf_lane_open(struct bf_checker *checker, uint32_t index);

/* First of all in commands that are submitted. */
void bf_lane_record_first(const struct bf_checker *checker, VkCommandBuffer commands);

/* Submits and waits. VK_TIMEOUT: it has not ended, and may never. */
VkResult bf_lane_execute(struct bf_checker *checker, const struct bf_lane *lane,
                         VkCommandBuffer commands);

/* The same of work whose time is asked for, in nanoseconds: its commands begin and end with these,
 * which are recorded outside of render passes. */
void bf_lane_record_begin(const struct bf_checker *checker, const struct bf_lane *lane,
                          VkCommandBuffer commands);
void bf_lane_record_end(const struct bf_checker *checker, const struct bf_lane *lane,
                        VkCommandBuffer commands);
VkResult bf_lane_execute_timed(struct bf_checker *checker, const struct bf_lane *lane,
                               VkCommandBuffer commands, uint64_t *took_ns);

#endif
