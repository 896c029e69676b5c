/* SPDX-License-Identifier: MIT */
/*
 * Packets with GPU timestamps around them (trace/stamps.h): for a trace all that can have them; and
 * without one a few of lower queues, from which windows learn what their packets take.
 *
 *  PW-8  Where timestamps are cheap, what packets of lower queues cost is measured by the GPU: on a
 *        GPU, not on a driver that is a CPU's; where the family has timestamps, and the host may
 *        reset queries, so that nothing else comes between the program's batches. With a trace its
 *        timestamps do, wherever it takes any. Of a queue one packet in five to eight has
 *        timestamps for this, and the first ones, while it isn't known what they cost. Nothing
 *        waits for them, they are read when the packet's epoch has been seen complete; where they
 *        can't be had, gaps between epochs are learnt from (scheduler/cost.h). While nothing is to
 *        be learnt (bf_scheduler.costs_frozen) there are none.
 *
 * Thread-safety: the engine's lock is held.
 *
 * Proven by tests/scheduler (window_timed.c, window_account.c), tests/trace (stamps.c) and
 * tests/layer (create.c).
 */
#ifndef BELFRY_SCHEDULER_PACKET_TIME_H
#define BELFRY_SCHEDULER_PACKET_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_engine;
struct bf_packet;
struct bf_queue;

/* Creates what the engine needs for timestamps, if it hasn't got it: for a trace, or for windows.
 * Nobody else uses the engine meanwhile, nor with a trace any other engine. VK_SUCCESS too where
 * there can be none. Errors: those of bf_stamps_create. */
VkResult bf_packet_time_begin(struct bf_engine *engine);

/* Puts timestamps around the commands of the packet, which is about to be handed over, if it is to
 * have any and hasn't yet. */
void bf_packet_time_put(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet);

/* The driver has accepted the packet, with its engine's epoch; or it never will. */
void bf_packet_time_accepted(struct bf_engine *engine, const struct bf_packet *packet);
void bf_packet_time_dropped(struct bf_engine *engine, const struct bf_packet *packet);

#endif
