/* SPDX-License-Identifier: MIT */
/*
 * The parts of the benchmark `preempt`: one program with a queue of high priority and others of
 * normal priority, all on one VkQueue, and the same by vkQueueSubmit2 on the plain driver, which
 * executes what is submitted in the order of submission. Each has a device of its own.
 *
 * A packet of a flood takes PREEMPT_PACKET_NS: on the test driver a dispatch (its setting
 * BELFRY_ICD_DISPATCH_US says the same), on others fills of a buffer. Where a part says nothing
 * else, `plain` and `belfry` of what it finds are the two programs.
 */
#ifndef BENCH_PREEMPT_PART_H
#define BENCH_PREEMPT_PART_H

#include "part.h"

#define PREEMPT_PACKET_NS 200000u
#define PREEMPT_FLOOD     100u
#define PREEMPT_LOWS      16u

/* In ms: from the call that submits an empty packet to the high queue until it is complete, behind
 * a flood that was submitted just before, once high had been quiet for 10 ms. */
void preempt_start(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* The same once it had been quiet for a second. */
void preempt_start_quiet(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found);
/* The first again, until a thread that waits for it is awake. */
void preempt_awake(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* In ms: from the call until all packets of a flood of high's own are complete, behind one of
 * low's; on the plain driver without that. */
void preempt_bubble(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);
/* In %: how much of the GPU's time that the high queue leaves is used by the low one. High executes
 * a packet of a millisecond every 4 ms, and low has always work. */
void preempt_share(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* In %: by how much of their mean the packets differ that each of the 16 low queues got executed,
 * half of all being complete: the most less the least. High executes a packet every 2 ms. */
void preempt_fair(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found);
/* Both queues of one priority: in ms, until a flood is complete. */
void preempt_alone(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found);
/* The same two queues, both on Belfry, `plain` with the setting preemption=off: the caller's ns for
 * a packet, in bursts. */
void preempt_caller(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found);

#endif
