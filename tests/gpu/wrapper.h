/* SPDX-License-Identifier: MIT */
/* What the wrapping layer (wrapper.c) has seen, and is to do, as 'wrapper' in its library. */
#ifndef BELFRY_TEST_LAYER_WRAPPER_H
#define BELFRY_TEST_LAYER_WRAPPER_H

#include <stdbool.h>
#include <stdint.h>

struct wrapper {
    uint32_t strangers;  /* handles that it hasn't given out, VK_NULL_HANDLE left aside */
    uint32_t collisions; /* handles given out that equal one from below at that time */
    uint32_t signals;    /* calls of vkSignalSemaphore */
    uint64_t signalled;  /* the value of the last */
    uint32_t submits;    /* calls of vkQueueSubmit2 */
    uint32_t overlaps;   /* of these, while another was running */
    bool curious;  /* at each question for a semaphore's value it puts one of its own, behind */
    bool swallows; /* calls with a stranger end there, instead of going on with none */
};

#endif
