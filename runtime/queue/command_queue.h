/* SPDX-License-Identifier: MIT */
/*
 * The C API's side of command queues (scheduler/command_queue.h): bfCreateCommandQueue,
 * bfQueueExecute, bfQueueSignal, bfQueueWait, and what they share.
 */
#ifndef BELFRY_QUEUE_COMMAND_QUEUE_H
#define BELFRY_QUEUE_COMMAND_QUEUE_H

#include "belfry/belfry.h"
#include "log/log.h"
#include "queue/outcome.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"
#include "trace/trace.h"

struct bf_execution;

/* The name in traces and in messages of the check 'access': "3D command queue 0". */
#define BF_QUEUE_NAME 64
void bf_command_queue_name(const struct bf_command_queue *queue, char name[BF_QUEUE_NAME]);

/* Creates a queue on a given engine. Errors: bfCreateCommandQueue's; the caller declares a lost
 * device lost. */
VkResult bf_command_queue_create_on(struct bf_engine *engine, const BfCommandQueueCreateInfo *info,
                                    bool own, BfCommandQueue *queue);

/* Submits a batch for the operations noted for its log. Errors: those of bfQueueExecute. */
VkResult bf_command_queue_log(struct bf_command_queue *queue);

/* The live queue with that handle, which takes calls; else NULL and one line that names the call.
 * */
struct bf_command_queue *bf_command_queue_from_handle(BfCommandQueue handle, const char *call);

/* The queue and the fence of a call, or NULL with a line. 'bit' is the fence's flag that forbids
 * the call. */
struct bf_command_queue *bf_command_queue_check_pair(BfCommandQueue queue, BfFence fence_handle,
                                                     BfSyncObjectFlags bit, struct bf_fence **fence,
                                                     const char *call);

/* For the log: when does the queue reach an operation that is submitted now? */
enum bf_log_when bf_command_queue_log_when(struct bf_command_queue *queue);

/* Retires after a call that may have added many pending updates (E-7). Errors:
 * VK_ERROR_DEVICE_LOST. */
VkResult bf_command_queue_retire_if_crowded(struct bf_scheduler *scheduler, const char *call);

/* The result of a call that was reported to the observer, which stops if it is an error. */
VkResult bf_command_queue_observed_result(struct bf_scheduler *scheduler, VkResult result);

/* For the trace: an operation on a fence, of a packet; and one that needed no packet, which looks
 * the same in the trace. */
void bf_command_queue_trace_fence(struct bf_command_queue *queue, struct bf_trace_packet *packet,
                                  enum bf_trace_fence_op op, uint64_t fence, uint64_t value);
void bf_command_queue_trace_settled_into(struct bf_trace *trace, struct bf_command_queue *queue,
                                         enum bf_trace_packet_kind kind, struct bf_fence *fence,
                                         uint64_t value);
static inline void bf_command_queue_trace_settled(struct bf_command_queue *queue,
                                                  enum bf_trace_packet_kind kind,
                                                  struct bf_fence *fence, uint64_t value)
{
    struct bf_trace *trace = queue->base.scheduler->gpu.trace;
    if (trace)
        bf_command_queue_trace_settled_into(trace, queue, kind, fence, value);
}

/* Prepares the GPU write of a native fence's value and the update for an execution; and frees both
 * if the execution will not take place. Errors: those of bf_gpu_write_take. */
VkResult bf_command_queue_take_signal(struct bf_command_queue *queue, struct bf_fence *fence,
                                      uint64_t value, struct bf_execution *what);
void bf_command_queue_drop_signal(struct bf_engine *engine, struct bf_gpu_write *write,
                                  struct bf_update *update);

/*
 * bfQueueExecute, bfQueueSignal and bfQueueWait once their arguments have been checked: also for
 * queues that take their work from a ring. 'signalled', a native fence or NULL, is set by the GPU
 * behind the command buffers, to 'value'; or 'counted', to the number of executions. 'apart': each
 * command buffer is a submission of its own, all of them or none are submitted. A fence needs not
 * be alive any more, if the caller has a reference. Errors: those of the calls.
 */
VkResult bf_command_queue_execute_buffers(struct bf_command_queue *queue, uint32_t count,
                                          const VkCommandBuffer *buffers,
                                          struct bf_fence *signalled, uint64_t value, bool counted,
                                          bool apart, const char *call);
VkResult bf_command_queue_signal(struct bf_command_queue *queue, struct bf_fence *fence,
                                 uint64_t value, const char *call);
VkResult bf_command_queue_wait(struct bf_command_queue *queue, struct bf_fence *fence,
                               uint64_t value, const char *call);

/* May the queue execute it? If not, a line that names the call and the argument: commandBuffer, or
 * pCommandBuffers[i] where 'i' isn't UINT32_MAX. */
bool bf_command_queue_takes_buffer(struct bf_command_queue *queue, VkCommandBuffer buffer,
                                   const char *call, uint32_t i);

/* Submits an execution in the call if that is possible, else by a packet; or by a packet in any
 * case. 'what' is used up. Errors leave nothing behind: VK_ERROR_OUT_OF_HOST_MEMORY,
 * VK_ERROR_DEVICE_LOST. */
VkResult bf_command_queue_execute(struct bf_command_queue *queue, const struct bf_execution *what,
                                  const char *call);
VkResult bf_command_queue_submit_packet(struct bf_command_queue *queue,
                                        const struct bf_execution *what, const char *call);

#endif
