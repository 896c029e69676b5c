/* SPDX-License-Identifier: MIT */
/*
 * Debug labels of queues (VK_EXT_debug_utils). Several queues share a VkQueue, and packets may be
 * held. So labels belong to the order of their queue, and the scheduler puts them around the
 * queue's packets when these go to the driver.
 *
 * A queue's open labels are a list, innermost first, whose nodes never change. A packet keeps the
 * list of the time of its submission, an engine that of the labels open on its VkQueue. To change
 * from one list to another, labels that are not in both are ended or begun.
 *
 *  N-1  Whenever the driver is handed something of a queue (a submission, a sparse bind, a
 *       present), the labels open on the VkQueue are those that were open on the queue when it was
 *       submitted: no other queue's, none from before or after. So all packets of one driver call
 *       have the same list.
 *  N-2  An inserted label is placed behind what its queue submitted before it, before what the
 *       queue submits afterwards, and inside the queue's open labels.
 *  N-3  If nothing of the queue is held and its labels are those open on the VkQueue, label calls
 *       reach the driver immediately. A program that is alone on its VkQueue sees no difference.
 *  N-4  A label that has been ended is ended on the VkQueue at the latest when the queue's last
 *       packet inside it has gone.
 *
 * If there is no memory for a label, its begin and its end are left out.
 *
 * Nodes have reference counts. A queue's list is written under both its engine's lock and its own,
 * so either is enough to read it; the engine's list and the driver's calls are guarded by the
 * engine's lock. Proven by tests/layer/labels.c and tests/scheduler/label.c.
 */
#ifndef BELFRY_SCHEDULER_LABEL_H
#define BELFRY_SCHEDULER_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#include <vulkan/vulkan.h>

#include "scheduler/engine.h"

struct bf_label;

/* The driver's label commands; functions that do nothing if its instance has no
 * VK_EXT_debug_utils. */
struct bf_label_calls {
    PFN_vkQueueBeginDebugUtilsLabelEXT begin;
    PFN_vkQueueEndDebugUtilsLabelEXT end;
    PFN_vkQueueInsertDebugUtilsLabelEXT insert;
};

struct bf_label_calls bf_label_calls_of(VkDevice device, PFN_vkGetDeviceProcAddr get_proc_addr);

/* vkQueueBeginDebugUtilsLabelEXT, vkQueueEndDebugUtilsLabelEXT and vkQueueInsertDebugUtilsLabelEXT.
 * Thread-safety: as the Vulkan commands; concurrent calls on one queue are allowed, too. */
void bf_label_begin(struct bf_queue *queue, const VkDebugUtilsLabelEXT *label);
void bf_label_end(struct bf_queue *queue);
void bf_label_insert(struct bf_queue *queue, const VkDebugUtilsLabelEXT *label);

/* Writes the labels open on the queue, outermost first: "frame > post", cut to 'size'. NULL: there
 * are none. Takes the queue's lock. */
const char *bf_label_path(struct bf_queue *queue, char *text, size_t size);

/* The same of a list, which somebody has a reference to. */
const char *bf_label_write_path(struct bf_label *labels, char *text, size_t size);

/* For the scheduler. Where no labels are used, each of these costs a comparison. */

void bf_label_release(struct bf_label *label);
void bf_label_switch(struct bf_engine *engine, struct bf_label *labels);
void bf_label_attach_to(struct bf_packet *first, struct bf_label *labels);
void bf_label_pass(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet);
void bf_label_drop_from(struct bf_packet *packet);

/* To be called before the driver is handed something with these labels; the engine's lock is
 * held. */
static inline void bf_label_enter(struct bf_engine *engine, struct bf_label *labels)
{
    if (engine->labels != labels)
        bf_label_switch(engine, labels);
}

/* To be called when a chain of packets is appended; the queue's lock is held. */
static inline void bf_label_attach(struct bf_queue *queue, struct bf_packet *first)
{
    if (queue->labels)
        bf_label_attach_to(first, queue->labels);
}

/* May the packet be in the batch that is being gathered (N-1, N-2)? */
static inline bool bf_label_fits(const struct bf_engine *engine, const struct bf_packet *packet)
{
    if (engine->batch_count == 0)
        return true;
    const struct bf_packet *before = engine->batch[engine->batch_count - 1];
    return before->labels == packet->labels && !before->inserts;
}

/* To be called when the driver has accepted the packet, which is off its queue's list; the engine's
 * lock is held. */
static inline void bf_label_passed(struct bf_engine *engine, struct bf_queue *queue,
                                   struct bf_packet *packet)
{
    if (packet->labels || packet->inserts)
        bf_label_pass(engine, queue, packet);
}

/* To be called when the packet is freed. */
static inline void bf_label_drop(struct bf_packet *packet)
{
    if (packet->labels || packet->inserts)
        bf_label_drop_from(packet);
}

#endif
