/* SPDX-License-Identifier: MIT */
/*
 * A queue: what a program submits to. Its packets are handed to its engine in order, each as soon
 * as Rule M allows.
 */
#ifndef BELFRY_SCHEDULER_QUEUE_H
#define BELFRY_SCHEDULER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "scheduler/cost.h"
#include "scheduler/packet.h"
#include "scheduler/last_submission.h"

struct bf_engine;
struct bf_log;
struct bf_scheduler;

struct bf_queue {
    void *loader_data; /* the loader's dispatch pointer: a VkQueue handle points here */
    struct bf_scheduler *scheduler;
    struct bf_engine *engine;
    uint32_t family; /* as shown to the program */
    uint32_t index;
    VkDeviceQueueCreateFlags flags;
    VkQueueFlags family_flags; /* of the family as shown */
    bool is_command_queue;     /* queue/command_queue.h */
    uint32_t trace_id;

    /* Under the layer: held over calls that go down the chain of layers on this VkQueue (AB-4,
     * gpu/upper_layers.h), and between bfLockVkQueue and bfUnlockVkQueue. Taken before any other
     * lock. */
    struct bf_lock calls_lock;
    struct bf_lock lock; /* leaf lock: the packet list and the spares */
    struct bf_packet *head, *tail;
    struct bf_packet *cursor; /* the next that a pump looks at, while it gathers (DT-8) */
    struct bf_packet *spares; /* blocks for packets to come, at most BF_PACKET_SPARES */
    uint32_t spare_count;
    _Atomic uint64_t appended;       /* packets appended to the list so far */
    _Atomic uint64_t issued;         /* of these, in a driver call that has begun or returned */
    _Atomic uint64_t finished;       /* of these, accepted by the driver or dropped */
    _Atomic uint64_t finished_parts; /* taken off these (PE-6), likewise */

    struct bf_log *_Atomic log; /* NULL: none so far. Created under the engine's lock */
    _Atomic bool log_asked;     /* for the trace */

    struct bf_label *labels; /* open (scheduler/label.h) */
    uint32_t labels_lost;    /* open as well, but left out for want of memory */

    /* For the watchdog: packets numbered so far, appended ones and (under the engine's lock)
     * others, of which two that are submitted at the same time may have the same number; and what
     * it alone reads and writes: how many were finished when it last saw one more finished, and
     * when that was by its own clock. */
    _Atomic uint64_t numbered, numbered_at_once;
    uint64_t watched_finished, watched_since_ns;
    uint64_t watched_value, watched_still_ns; /* of what the first packet waits for */

    _Atomic uint8_t level;    /* enum bf_level (scheduler/window.h) */
    _Atomic bool windowed;    /* the first packet is held by a priority window */
    uint64_t held_ns;         /* since then, or 0; under the engine's lock, as is: */
    struct bf_cost cost;      /* of its packets */
    uint32_t unmeasured_left; /* packets until one has timestamps (PW-8, scheduler/packet_time.h) */
    uint64_t served_ns;       /* what it has had of the GPU's time, by PW-6 (scheduler/window.h) */
    bool contends;            /* it had packets that may go when it was looked at last */
    uint64_t gathered;        /* bf_window.gathers when it was looked at last */

    _Atomic bool preempted; /* the first packet is held by a request (PE-1) */
    _Atomic bool blocked;   /* the first packet waits; whoever ends its wait clears this */
    struct bf_waiter waiter;
    _Atomic uint32_t suspended; /* so often (CS-1, scheduler/suspension.h) */

    struct bf_last_submission last_submission; /* on shared engines */
    /* Without a completion signal: then the VkQueue is asked whether it is idle. Or presented, with
     * nothing submitted since: only the driver can tell when that is over. */
    struct bf_signless submitted, presented;
};

static inline bool bf_queue_has_backlog(const struct bf_queue *queue)
{
    return atomic_load(&queue->finished) != atomic_load(&queue->appended);
}

/* Does what it is given now become a packet, since something is held before it, or all is? */
static inline bool bf_queue_is_occupied(const struct bf_queue *queue)
{
    return bf_queue_has_backlog(queue) || atomic_load(&queue->suspended);
}

static inline uint64_t bf_queue_numbered(const struct bf_queue *queue)
{
    return atomic_load(&queue->numbered) + atomic_load(&queue->numbered_at_once);
}

/* Is all of its backlog in a driver call right now? Then the GPU may already have completed it. */
static inline bool bf_queue_is_being_issued(const struct bf_queue *queue)
{
    return bf_queue_has_backlog(queue) &&
           atomic_load(&queue->issued) == atomic_load(&queue->appended);
}

/* Appends a packet to the queue, hands over what may go, and returns when AC-1 and AC-2 hold
 * (scheduler/acceptance.h). The caller holds no lock but the queue's calls_lock. */
void bf_queue_append(struct bf_queue *queue, struct bf_packet *packet);

/* The same for a chain of packets; the targets of their binary operations are fixed in this
 * order. */
void bf_queue_append_chain(struct bf_queue *queue, struct bf_packet *first, struct bf_packet *last,
                           uint32_t count);

/* The same, but that the packets may be deferred (scheduler/deferral.h). */
void bf_queue_append_deferred(struct bf_queue *queue, struct bf_packet *first,
                              struct bf_packet *last, uint32_t count);

/* Blocks until everything that the program has submitted so far has been handed to the driver.
 * Errors: VK_ERROR_DEVICE_LOST. */
VkResult bf_queue_wait_handed_over(struct bf_queue *queue);

/* Frees the packets that are left and the spare blocks. */
void bf_queue_free_packets(struct bf_queue *queue);

/* The driver's VkQueue to which its packets go, and its number in the trace. */
VkQueue bf_queue_handle(const struct bf_queue *queue);
uint32_t bf_queue_trace_id(const struct bf_queue *queue);

/* A call of the program's that is handed to the driver as it was made (queue/vkqueue.h). */
enum bf_raw_command {
    BF_RAW_SUBMIT,  /* vkQueueSubmit of VkSubmitInfo */
    BF_RAW_SUBMIT2, /* vkQueueSubmit2 of VkSubmitInfo2 */
    BF_RAW_BIND,    /* vkQueueBindSparse of VkBindSparseInfo */
};

struct bf_raw_submit {
    enum bf_raw_command command;
    uint32_t count;
    const void *infos;
    VkFence fence;
    const char *what; /* for the message: which struct can't be copied */
    uint32_t wait_count, signal_count;
    struct bf_sync *waits, *signals;
};

#endif
