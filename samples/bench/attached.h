/* SPDX-License-Identifier: MIT */
/*
 * Belfry on a device that the program created: the plain side's device, attached, with two queues
 * and a fence for each.
 */
#ifndef BENCH_ATTACHED_H
#define BENCH_ATTACHED_H

#include <belfry/belfry.h>

#include "side.h"

struct attached {
    struct side *side;
    BfDevice device;
    BfCommandQueue queues[2]; /* on one engine, or on two */
    BfFence fences[2];
};

/* Attaches the device with its first `engines` queues. False: the reason is in `found`;
 * attached_close must be called all the same. */
bool attached_open(struct attached *a, struct side *side, uint32_t engines,
                   struct bench_found *found);

/* Waits for the device; accepts a zeroed one. */
void attached_close(struct attached *a);

#endif
