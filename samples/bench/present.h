/* SPDX-License-Identifier: MIT */
/*
 * A present that blocks in the driver, and what that costs a neighbour: a thread that submits at
 * random times, on the same VkQueue or on another one.
 */
#ifndef BENCH_PRESENT_H
#define BENCH_PRESENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <belfry/belfry.h>

#include "part.h"
#include "side.h"

#define PRESENT_ROW_MEAN        "beside 16 ms presents, one VkQueue, mean call"
#define PRESENT_ROW_WORST       "beside 16 ms presents, one VkQueue, worst call"
#define PRESENT_ROW_INTERNAL    "the same, the driver synchronizes, mean call"
#define PRESENT_ROW_OTHER       "beside 16 ms presents, another VkQueue, mean call"
#define PRESENT_ROW_OTHER_WORST "beside 16 ms presents, another VkQueue, worst call"
#define PRESENT_ROW_SPARE       "beside 16 ms presents, a command queue, mean call"

/* All of them, for a list. */
#define PRESENT_ROWS                                                                               \
    PRESENT_ROW_MEAN, PRESENT_ROW_WORST, PRESENT_ROW_INTERNAL, PRESENT_ROW_OTHER,                  \
        PRESENT_ROW_OTHER_WORST, PRESENT_ROW_SPARE

/* A device with a swapchain, whose first queue presents. Zeroed, and to be closed in any case. */
struct presenter {
    struct side side;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkFence fence;
    pthread_mutex_t *lock;   /* NULL: no other thread uses the queue */
    BfCommandQueue commands; /* the neighbour's, or NULL: it has a VkQueue */
    _Atomic bool done;
    VkResult result;
};

bool presenter_open(struct presenter *p, enum bench_side which, uint32_t queues,
                    struct bench_found *found);
void presenter_close(struct presenter *p);

/* Acquires an image, waits for it and presents it. */
VkResult presenter_present(struct presenter *p);

/* Adds the rows; each part runs on the test driver, whose presents block for 16 ms. */
void present_rows(struct bench_report *report);

/* The part: of each repetition the mean of the neighbour's calls, and behind these of each
 * repetition the longest one, in us. */
void present_run(const struct bench_options *options, enum bench_side side,
                 struct bench_found *found);

/* The same where Belfry's neighbour is a command queue beside the program's one VkQueue. */
void present_commands_run(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found);

#endif
