/* SPDX-License-Identifier: MIT */
/*
 * The C API's front on command queues (scheduler/command_queue.h): bfCreateQueue, bfQueueExecute,
 * bfQueueSignal, bfQueueWait and what they share.
 */
#ifndef BELFRY_QUEUE_COMMAND_QUEUE_H
#define BELFRY_QUEUE_COMMAND_QUEUE_H

#include "belfry/belfry.h"
#include "log/log.h"
#include "scheduler/command_queue.h"
#include "trace/trace.h"

struct bf_execution;

/* "3D command queue 0": by which traces and the check 'access' call it. */
#define BF_QUEUE_NAME 64
void bf_command_queue_name(const struct bf_command_queue *queue, char name[BF_QUEUE_NAME]);

/* How a call on a queue comes out where it looks whether it can be done at once. */
enum bf_outcome {
    BF_OUTCOME_DONE,      /* it is done, with its result */
    BF_OUTCOME_BY_PACKET, /* nothing was done: a packet has to go in its turn, or is held */
    BF_OUTCOME_LOOK,      /* ask again when it has been looked how far the GPU is */
};

/* A queue on a certain engine; errors as bfCreateQueue's, a lost device not yet told of it. */
VkResult bf_command_queue_create_on(struct bf_engine *engine, const BfQueueCreateInfo *info,
                                    BfQueue *queue);

/* A batch for what has been noted for its log. Errors: those of bfQueueExecute. */
VkResult bf_command_queue_log(struct bf_command_queue *queue);

/* The queue behind a live handle, else NULL and one line that names the call. */
struct bf_command_queue *bf_command_queue_from_handle(BfQueue handle, const char *call);

/* The queue and the fence of a call, or NULL with a line. 'bit' is what forbids it. */
struct bf_command_queue *bf_command_queue_check_pair(BfQueue queue, BfFence fence_handle,
                                                     BfFenceFlags bit, struct bf_fence **fence,
                                                     const char *call);

/* For the log: when does the queue come to what it is given now? */
enum bf_log_when bf_command_queue_log_when(struct bf_command_queue *queue);

/* After a call that may have put many pending signals (E-7). Errors: VK_ERROR_DEVICE_LOST. */
VkResult bf_command_queue_retire_if_crowded(struct bf_scheduler *scheduler, const char *call);

/* The result of a call that the observer was told of. */
VkResult bf_command_queue_observed_result(struct bf_scheduler *scheduler, VkResult result);

/* For the timeline: an operation on a fence, of a packet; and one that cost no packet, which leaves the
 * same mark as one that did. */
void bf_command_queue_trace_fence(struct bf_command_queue *queue, struct bf_trace_packet *packet,
                                  enum bf_trace_fence_op op, uint64_t fence, uint64_t value);
void bf_command_queue_trace_settled(struct bf_command_queue *queue, enum bf_trace_packet_kind kind,
                                    struct bf_fence *fence, uint64_t value);

/* The GPU write of a native fence's value and the signal that tells of it, for an execution; and what
 * becomes of both if the execution never comes about. Errors: those of bf_gpu_write_take. */
VkResult bf_command_queue_take_signal(struct bf_command_queue *queue, struct bf_fence *fence,
                                      uint64_t value, struct bf_execution *what);
void bf_command_queue_drop_signal(struct bf_engine *engine, struct bf_gpu_write *write,
                                  struct bf_update *update);

/* At once where it can, else by a packet; by a packet in any case. 'what' is used up. Errors leave
 * nothing behind: VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST. */
VkResult bf_command_queue_execute(struct bf_command_queue *queue, const struct bf_execution *what,
                                  const char *call);
VkResult bf_command_queue_submit_packet(struct bf_command_queue *queue,
                                        const struct bf_execution *what, const char *call);

#endif
