/* SPDX-License-Identifier: MIT */
/*
 * A packet: one operation of a queue, copied so that it can be held. It is a single block of
 * memory.
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
    /* Signals and waits of command queues, which the driver never sees. */
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
        /* Its arrays are the packet's own; there is room for one more signal (the epoch) and for a
         * command buffer before and one behind the program's. */
        VkSubmitInfo2 submit;
        VkBindSparseInfo bind;
    };
    /* A sparse bind's semaphore values, with room for the epoch's; chained into 'bind'. */
    VkTimelineSemaphoreSubmitInfo values;
    VkCommandBufferSubmitInfo *command_buffers; /* the free element before the program's */
    uint32_t wait_count, signal_count;          /* the program's */
    struct bf_sync *waits, *signals;
    struct bf_vkfence *fence; /* NULL: none */
    uint64_t epoch;           /* its epoch; 0: none */
    bool in_hand;             /* it is in the engine's batch */
    uint64_t order;           /* among those appended on its engine, with submit=doorbell (DT-8) */
    bool windowed;            /* it goes as a lower queue's (scheduler/window.h), taken to cost: */
    uint64_t cost_ns;
    _Atomic uint8_t level; /* enum bf_level that it has inherited, if above its queue's */
    uint32_t unsought;     /* of its last waits: who is to inherit from these hasn't been sought */
    bool ungrounded;       /* it is, and one of its waits isn't grounded (scheduler/outside.h) */
    uint64_t place;        /* among all that were ever appended to its queue: 1, 2, ... */
    _Atomic bool passes_outside; /* OW-5 */
    bool marked;                 /* it is to; under the queue's lock */
    bool barrier;                /* its first command buffer is a barrier (C-2) */
    struct bf_fence *imported;   /* it waits for its semaphore, or signals it, while it lives;
                                  * referenced */
    struct bf_wait wait;         /* BF_PACKET_WAIT */
    /* For a wait for a fence that trusted processes share, which may become an execution
     * (scheduler/peer_wait.h). */
    struct bf_peer_wait *peer_wait;
    bool waits_for_peer; /* it has become one */
    /* Of a BF_PACKET_SIGNAL, or of an execution that ends with a GPU write; NULL: it has been
     * applied. */
    struct bf_update *update;
    struct bf_gpu_write *write; /* the last of an execution's command buffers; NULL: none */
    bool announced;             /* E-5 */
    bool signals_peers;         /* the first signal is the update's, of a peer timeline */
    bool counted;               /* the update is of the queue's progress fence */
    bool apart;                 /* it shares a VkSubmitInfo2 with none (C-5) */
    bool part;  /* has been taken off the packet behind it (PE-6), and isn't counted itself */
    bool whole; /* it has been looked at, and isn't to be divided */
    bool counted_held;               /* among those that requests have held back */
    struct bf_trace_sync fence_sync; /* the fence and value, for the trace */
    struct bf_label *labels;         /* open around it (scheduler/label.h); NULL: none */
    struct bf_label_insert *inserts; /* labels inserted behind it */
    uint32_t stamp;                  /* slot of the GPU stamps, UINT32_MAX: none */
    /* For the queue's log, if it has one: */
    uint64_t called_ns; /* time of the program's call */
    bool was_held;
    /* The last request that may hold it: that was made when it was first held by one (PE-3); 0:
     * none has held it. */
    uint64_t preemptible_by;
    uint8_t log_when;   /* of its waits: enum bf_log_when */
    bool log_noted;     /* a BF_PACKET_SIGNAL or _WAIT that has been noted */
    uint32_t log_slots; /* slots of its entries (log/writer.h) */
    uint32_t log_notes; /* notes among its entries */
    /* For the watchdog (scheduler/watch.h), if there is one: */
    const struct bf_queue *queue; /* NULL: it is no packet of a queue's */
    uint64_t number; /* of it in its queue, or of the last execution or batch before it */
    VkCommandBuffer buffers[2]; /* the program's first ones */
    uint32_t buffer_count;
    struct bf_trace_packet trace;
};

/* Blocks up to this size, in bytes, are kept by their queue for its next packets: otherwise every
 * packet, allocated by its submitter and freed by the pumping thread, would go through the
 * allocator's locks. */
#define BF_PACKET_BLOCK  1024
#define BF_PACKET_SPARES 16
/* Where packets are deferred, they go in batches. */
#define BF_PACKET_SPARES_DEFERRED 128

/* Deep copies; NULL: out of memory. The semaphores are looked up; the targets of binary operations
 * are not fixed yet. */
struct bf_packet *bf_packet_from_submit(struct bf_queue *queue, const VkSubmitInfo2 *info);
struct bf_packet *bf_packet_from_bind(struct bf_queue *queue, const VkBindSparseInfo *info);
struct bf_packet *bf_packet_from_fence(void);
/* The operations of a call that is handed to the driver as it was made. */
struct bf_raw_submit;
struct bf_packet *bf_packet_from_raw(struct bf_queue *queue, const struct bf_raw_submit *raw);

/* An execution of a command queue: command buffers, a GPU write of a native fence's value behind
 * them, or a wait for or a signal of an imported fence's semaphore, which has no command buffers.
 * Its waits for other engines and its barrier are added when it is handed over. */
struct bf_execution {
    uint32_t count;
    const VkCommandBuffer *buffers;
    struct bf_gpu_write *write; /* NULL: none */
    struct bf_update *update;   /* of the fence that is written */
    bool counted;               /* it is the progress fence, whose value is set later */
    bool apart;                 /* it shares a VkSubmitInfo2 with no other execution */
    struct bf_semaphore *wait, *signal;
    bool signals_peers;     /* 'signal' is a peer timeline, whose value is set later */
    uint64_t value;         /* of 'wait' or 'signal' */
    struct bf_fence *fence; /* the imported fence of 'wait' or 'signal' */
};
struct bf_packet *bf_packet_from_execution(struct bf_queue *queue, const struct bf_execution *what);
/* A wait with room to become an execution that waits for one semaphore. Takes over the peer
 * wait. */
struct bf_packet *bf_packet_from_wait(struct bf_queue *queue, struct bf_peer_wait *peer_wait);
/* An empty one. */
struct bf_packet *bf_packet_create(struct bf_queue *queue, enum bf_packet_kind kind);
/* PE-6: takes the waits and the first command buffer off an execution of several, which is on the
 * queue's list and in no batch; they become a packet before it, which is returned. It has the
 * other's place, and isn't counted. NULL: out of memory, nothing has changed. The lock of the
 * queue's engine and its batch lock are held. */
struct bf_packet *bf_packet_take_part(struct bf_queue *queue, struct bf_packet *packet);
/* Adds a barrier before the command buffers of an execution. */
void bf_packet_put_barrier(struct bf_packet *packet, VkCommandBuffer barrier);
void bf_packet_free(struct bf_packet *packet);
/* And those behind it that it leads to, of a chain that hasn't been appended; NULL: none. */
void bf_packet_free_chain(struct bf_packet *first);

/* As bf_packet_free, but the queue may keep the block. */
void bf_packet_recycle(struct bf_queue *queue, struct bf_packet *packet);

/* Can every struct chained to it be copied? */
bool bf_packet_can_copy_submit(const VkSubmitInfo2 *info);
bool bf_packet_can_copy_bind(const VkBindSparseInfo *info);

/* Is it an execution with a performance query? Nothing may be added to it. */
bool bf_packet_counts_performance(const struct bf_packet *packet);

/* Fixes the targets of its binary operations; to be called in the order of submission. */
void bf_packet_take_targets(struct bf_packet *packet);

/* The timeline value that is its completion signal (scheduler/last_submission.h), or NULL. */
const struct bf_sync *bf_packet_last_submission_signal(const struct bf_packet *packet);

/* The first operation because of which it must be held, or NULL; *side says of which kind. */
struct bf_sync *bf_packet_obstacle(struct bf_scheduler *scheduler, struct bf_packet *packet,
                                   enum bf_wait_rule rule, enum bf_side *side);

/* PW-4: does it signal a binary semaphore? And: the driver has been given its signals, on that
 * engine. */
bool bf_packet_signals_binary(const struct bf_packet *packet);
void bf_packet_signalled_on(struct bf_packet *packet, const struct bf_engine *engine);

/* The driver has accepted it: counts its waits. Its signals are grounded: counts these. (Both if it
 * was dropped with a lost device.) Return the engines to pump. */
uint64_t bf_packet_accepted(struct bf_packet *packet);
uint64_t bf_packet_grounded(struct bf_packet *packet);

#endif
