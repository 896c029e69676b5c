/* SPDX-License-Identifier: MIT */
/*
 * Debug labels of queues (VK_EXT_debug_utils). Several queues share a VkQueue, and a queue's packets
 * may be held: so labels belong to the queue's own order, and are put around its packets where these
 * go to the driver.
 *
 * A queue's open labels are a list, innermost first, whose nodes never change; a packet keeps the
 * list as it was when it was submitted, an engine the one that is open on its VkQueue. To go from
 * one to another is to end what they don't share and to begin the rest.
 *
 *  N-1  Whenever the driver is handed something of a queue (a submission, a sparse bind, a present),
 *       the labels open on the VkQueue are those that were open on the queue when it was submitted:
 *       no neighbour's, none from before or after. So a call of the driver has the packets of one
 *       list only.
 *  N-2  An inserted label comes behind what its queue submitted before it, before what it submits
 *       afterwards, and within the queue's labels.
 *  N-3  Where nothing of the queue is held, and its labels are those open on the VkQueue, label
 *       calls reach the driver in the call. A program that is alone on its VkQueue sees no
 *       difference.
 *  N-4  A label that has been ended stays open on the VkQueue no longer than until the queue's last
 *       packet in it has gone.
 *
 * Without memory a label is left out, its begin and its end.
 *
 * Nodes are counted. A queue's list is written under its engine's lock and its own, so either is
 * enough to read it; the engine's list and the driver's calls are under the engine's lock.
 * Proven by tests/layer/labels.c and tests/scheduler/label.c.
 */
#ifndef BELFRY_SCHEDULER_LABEL_H
#define BELFRY_SCHEDULER_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#include <vulkan/vulkan.h>

#include "scheduler/engine.h"

struct bf_label;

/* The driver's commands; ones that do nothing where its instance has no VK_EXT_debug_utils. */
struct bf_label_calls {
    PFN_vkQueueBeginDebugUtilsLabelEXT begin;
    PFN_vkQueueEndDebugUtilsLabelEXT end;
    PFN_vkQueueInsertDebugUtilsLabelEXT insert;
};

struct bf_label_calls bf_label_calls_of(VkDevice device, PFN_vkGetDeviceProcAddr get_proc_addr);

/* vkQueueBeginDebugUtilsLabelEXT and its like. Thread-safety: as the Vulkan commands; calls on one
 * queue at the same time are allowed too. */
void bf_label_begin(struct bf_queue *queue, const VkDebugUtilsLabelEXT *label);
void bf_label_end(struct bf_queue *queue);
void bf_label_insert(struct bf_queue *queue, const VkDebugUtilsLabelEXT *label);

/* The labels open on the queue, outermost first: "frame > post". NULL: none. What doesn't fit is
 * cut. Takes the queue's lock. */
const char *bf_label_path(struct bf_queue *queue, char *text, size_t size);

/* The rest is for the scheduler: where nobody uses labels, a comparison each. */

void bf_label_release(struct bf_label *label);
void bf_label_switch(struct bf_engine *engine, struct bf_label *labels);
void bf_label_attach_to(struct bf_packet *first, struct bf_label *labels);
void bf_label_pass(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet);
void bf_label_drop_from(struct bf_packet *packet);

/* Before the driver is handed something with these labels; the engine's lock is held. */
static inline void bf_label_enter(struct bf_engine *engine, struct bf_label *labels)
{
    if (engine->labels != labels)
        bf_label_switch(engine, labels);
}

/* A chain of packets is being appended; the queue's lock is held. */
static inline void bf_label_attach(struct bf_queue *queue, struct bf_packet *first)
{
    if (queue->labels)
        bf_label_attach_to(first, queue->labels);
}

/* May the packet be part of the batch that is being put together (N-1, N-2)? */
static inline bool bf_label_fits(const struct bf_engine *engine, const struct bf_packet *packet)
{
    if (engine->batch_count == 0)
        return true;
    const struct bf_packet *before = engine->batch[engine->batch_count - 1];
    return before->labels == packet->labels && !before->inserts;
}

/* The driver has accepted the packet, which is off its queue's list; the engine's lock is held. */
static inline void bf_label_passed(struct bf_engine *engine, struct bf_queue *queue,
                                   struct bf_packet *packet)
{
    if (packet->labels || packet->inserts)
        bf_label_pass(engine, queue, packet);
}

/* The packet's end. */
static inline void bf_label_drop(struct bf_packet *packet)
{
    if (packet->labels || packet->inserts)
        bf_label_drop_from(packet);
}

#endif
