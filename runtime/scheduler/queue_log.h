/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler tells the logs of its queues (log/log.h): the operations of batches, the waits
 * and signals that queues pass, and the creation and end of a log.
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

/* Takes the engine's lock, or its place beside a present (bf_engine_enter_beside), for
 * bf_queue_log_set and bf_queue_log_unread: where these have to submit a mark, since the driver may
 * be at work for the queue, it waits for the present. Returns what bf_engine_leave_beside is to be
 * passed. */
enum bf_engine_entry bf_queue_log_enter(struct bf_queue *queue);

/* The engine's lock, or its place beside a present, is held for these functions, down to
 * bf_queue_logs_finish. */

/* Gives the queue logs of at least that many entries, in place of its current ones; 0: none.
 * 'is_read': by the program, else by the trace alone. Errors: those of bf_log_prepare,
 * vkCreateSemaphore and vkQueueSubmit2; nothing has changed then. */
VkResult bf_queue_log_set(struct bf_queue *queue, uint32_t entries, bool is_read);

/* The program's last reader has gone: the trace alone reads the log, or nobody. */
void bf_queue_log_unread(struct bf_queue *queue);

/* Adds the log entries of the engine's batch, around the command buffers of its packets; notes the
 * operations of packets to which nothing can be added. */
void bf_queue_log_add_batch(struct bf_engine *engine);

/* The driver has accepted the packet, with this epoch or an earlier one. */
void bf_queue_log_accepted(struct bf_log *log, struct bf_packet *packet, uint64_t epoch);

/* The engine is being destroyed, with all of its queues. */
void bf_queue_logs_finish(struct bf_engine *engine, uint64_t completed);

/* Describes, in the batch of an execution that goes at once, the fence's signal that it
 * contains. */
void bf_queue_log_describe_update(struct bf_log_batch *batch, const struct bf_update *update);

/* Lets the trace read the queue's logs, if the device has a trace. No lock is held. */
void bf_queue_log_trace(struct bf_queue *queue);

/* Would the queue reach a wait immediately if it were submitted now? Called by its submitter. */
bool bf_queue_log_is_idle(const struct bf_queue *queue);

/* Notes that a command queue has passed a wait for a fence, or a signal of one (LG-4).
 * Thread-safety: safe. */
void bf_queue_log_note_fence(struct bf_log *log, enum bf_log_side side,
                             const struct bf_fence *fence, uint64_t value, enum bf_log_when when,
                             uint64_t ns);

#endif
