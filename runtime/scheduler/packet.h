/* SPDX-License-Identifier: MIT */
/*
 * A packet: one batch that a program submitted, copied so that it can be held. One block of memory
 * holds it whole.
 */
#ifndef BELFRY_SCHEDULER_PACKET_H
#define BELFRY_SCHEDULER_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "scheduler/fence.h"
#include "scheduler/vkfence.h"
#include "scheduler/semaphore.h"
#include "trace/trace.h"

enum bf_packet_kind {
    BF_PACKET_EXECUTE,
    BF_PACKET_BIND_SPARSE,
    BF_PACKET_FENCE, /* vkQueueSubmit of no batches: the fence alone, in its place in the order */
    /* Of command queues; the driver never sees them. */
    BF_PACKET_SIGNAL,
    BF_PACKET_WAIT,
};

struct bf_peer_wait;
struct bf_label;
struct bf_label_insert;
struct bf_gpu_write;

struct bf_packet {
    struct bf_packet *next;
    enum bf_packet_kind kind;
    bool block; /* its memory is BF_PACKET_BLOCK bytes */
    union {
        /* Its arrays are the packet's own and have room for one more signal (the epoch) and for a
         * command buffer before and behind the program's. */
        VkSubmitInfo2 submit;
        VkBindSparseInfo bind;
    };
    /* Bind sparse: the values of its semaphores with room for the epoch's; chained into bind. */
    VkTimelineSemaphoreSubmitInfo values;
    VkCommandBufferSubmitInfo
        *command_buffers;              /* the first of the room, one before the program's */
    uint32_t wait_count, signal_count; /* the program's */
    struct bf_sync *waits, *signals;
    struct bf_vkfence *fence;  /* NULL: none */
    uint64_t epoch;            /* that it signals; 0: none */
    bool barrier;              /* a command queue's execution begins with one */
    struct bf_fence *imported; /* a native wait: only while this fence lives; referenced */
    struct bf_wait wait;       /* BF_PACKET_WAIT */
    /* A wait of a fence that trusted processes share: it may become an execution (scheduler/peer_wait.h). */
    struct bf_peer_wait *peer_wait;
    bool waits_for_peer; /* it has */
    /* BF_PACKET_SIGNAL's, or an execution's that ends with a store; NULL: it has been applied. */
    struct bf_update *update;
    struct bf_gpu_write *write; /* the last of an execution's command buffers; NULL: none */
    bool announced;             /* E-5 */
    bool signals_peers;         /* the first signal is a peer timeline's, on the update's behalf */
    bool counted;               /* the update is of the queue's progress fence */
    struct bf_trace_sync fence_sync; /* of either, for the trace */
    struct bf_label *labels;         /* open around it (scheduler/label.h); NULL: none */
    struct bf_label_insert *inserts; /* labels inserted behind it */
    uint32_t stamp;                  /* slot of the GPU stamps, UINT32_MAX: none */
    /* For the queue's log, if it has one: */
    uint64_t called_ns; /* when the program submitted it */
    bool was_held;
    uint8_t log_when;   /* of its waits: enum bf_log_when */
    bool log_noted;     /* of the two that the driver never sees: it has been */
    uint32_t log_slots; /* of log/writer.h that it has */
    uint32_t log_notes; /* that it has taken along */
    struct bf_trace_packet trace;
};

/* Blocks up to this size, in bytes, are kept by their queue for its next packets: a submitter and
 * the thread that pumps for it would otherwise pull every packet through the allocator's locks. */
#define BF_PACKET_BLOCK  1024
#define BF_PACKET_SPARES 16

/* Deep copies; NULL: out of memory. Semaphores are looked up; targets are not yet taken. */
struct bf_packet *bf_packet_from_submit(struct bf_queue *queue, const VkSubmitInfo2 *info);
struct bf_packet *bf_packet_from_bind(struct bf_queue *queue, const VkBindSparseInfo *info);
struct bf_packet *bf_packet_from_fence(void);

/* What a command queue executes: command buffers, the store of a native fence's value behind them,
 * or a native wait for or signal of an imported fence's semaphore, which come with none. Its waits
 * for other engines and its barrier are added when it goes. */
struct bf_execution {
    uint32_t count;
    const VkCommandBuffer *buffers;
    struct bf_gpu_write *write; /* NULL: none */
    struct bf_update *update;   /* of the fence that the store is for */
    bool counted; /* which is the queue's progress fence: the value comes when it goes */
    struct bf_semaphore *wait, *signal;
    bool
        signals_peers; /* the signal is a peer timeline's, which tells of the update; its value comes later */
    uint64_t value;         /* of either */
    struct bf_fence *fence; /* whose wait it is */
};
struct bf_packet *bf_packet_from_execution(struct bf_queue *queue, const struct bf_execution *what);
/* A wait with room to become an execution that waits for one semaphore. Takes the peer wait. */
struct bf_packet *bf_packet_from_wait(struct bf_queue *queue, struct bf_peer_wait *peer_wait);
/* An empty one. */
struct bf_packet *bf_packet_create(struct bf_queue *queue, enum bf_packet_kind kind);
/* Puts a barrier before the program's command buffers of an execution. */
void bf_packet_put_barrier(struct bf_packet *packet, VkCommandBuffer barrier);
void bf_packet_free(struct bf_packet *packet);

/* As bf_packet_free, but the queue may keep the block. */
void bf_packet_recycle(struct bf_queue *queue, struct bf_packet *packet);

/* Can every struct chained to it be copied? */
bool bf_packet_can_copy_submit(const VkSubmitInfo2 *info);
bool bf_packet_can_copy_bind(const VkBindSparseInfo *info);

/* Is it an execution with a pass of performance queries? Nothing may be added to such a one. */
bool bf_packet_counts_performance(const struct bf_packet *packet);

/* The program has submitted it: fixes the targets of its binary operations. In submission order. */
void bf_packet_take_targets(struct bf_packet *packet);

/* The timeline value that completion signals it (scheduler/last_submission.h), or NULL. */
const struct bf_sync *bf_packet_last_submission_signal(const struct bf_packet *packet);

/* The first operation that keeps it from the driver, or NULL; *side says which kind. */
struct bf_sync *bf_packet_obstacle(struct bf_scheduler *scheduler, struct bf_packet *packet,
                                   enum bf_side *side);

/* The driver accepted it (or it was dropped with a lost device): returns the engines to pump. */
uint64_t bf_packet_accepted(struct bf_packet *packet);

#endif
