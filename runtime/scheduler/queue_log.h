/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler tells the logs of its queues (log/log.h): which operations batches have, which waits
 * and signals queues have passed, and when a log comes or goes.
 */
#ifndef BELFRY_SCHEDULER_QUEUE_LOG_H
#define BELFRY_SCHEDULER_QUEUE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "log/log.h"

struct bf_engine;
struct bf_fence;
struct bf_packet;
struct bf_queue;
struct bf_update;

/* Can the queue have logs? */
bool bf_queue_log_is_possible(const struct bf_queue *queue);

/* The engine's lock is held for these, up to bf_queue_logs_finish. */

/* Logs of at least that many entries for the queue, in place of those it has; 0: none any more. Errors:
 * those of bf_log_prepare, vkCreateSemaphore and vkQueueSubmit2; nothing has changed then. */
VkResult bf_queue_log_set(struct bf_queue *queue, uint32_t entries);

/* Gives the packets of the engine's batch their entries, around their command buffers; notes those
 * of packets that nothing can be added to. */
void bf_queue_log_add_batch(struct bf_engine *engine);

/* The packet has been accepted, by this epoch or before it. */
void bf_queue_log_accepted(struct bf_log *log, struct bf_packet *packet, uint64_t epoch);

/* All of the engine's queues go. */
void bf_queue_logs_finish(struct bf_engine *engine, uint64_t completed);

/* Of the batch of one execution that goes at once: the signal of a fence that it is. */
void bf_queue_log_describe_update(struct bf_log_batch *batch, const struct bf_update *update);

/* The queue's logs go into the device's timeline, if there is one. No lock is held. */
void bf_queue_log_trace(struct bf_queue *queue);

/* Would the queue come to a wait at once that it got now? Its submitter calls. */
bool bf_queue_log_is_idle(const struct bf_queue *queue);

/* A command queue has passed a wait for a fence, or a signal of one (LG-4). Thread-safety: safe. */
void bf_queue_log_note_fence(struct bf_log *log, enum bf_log_side side,
                             const struct bf_fence *fence, uint64_t value, enum bf_log_when when,
                             uint64_t ns);

#endif
