/* SPDX-License-Identifier: MIT */
/*
 * Who waits for whom, as plain values: what snapshot.c copies out of a device, and what a test
 * makes by hand. A queue stands at its first packet, so queues are the nodes; a wait and the
 * signals that are still in queues, which could satisfy it, are the edges. What an engine has
 * accepted behind an unsatisfied wait for outside (scheduler/outside.h) is a node like a queue.
 */
#ifndef BELFRY_STANDSTILL_GRAPH_H
#define BELFRY_STANDSTILL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define BF_GRAPH_NAME 160
#define BF_GRAPH_NONE UINT32_MAX

enum bf_graph_kind {
    BF_GRAPH_FENCE, /* a BfFence: the CPU may set it to any value at any time */
    BF_GRAPH_TIMELINE,
    /* A binary semaphore counts its signals; as a wait's object it is to be signalled so often. */
    BF_GRAPH_BINARY,
    /* The same semaphore, signalled again before somebody has waited: it counts its waits. */
    BF_GRAPH_BINARY_USED,
};

struct bf_graph_object {
    char name[BF_GRAPH_NAME];
    enum bf_graph_kind kind;
    const void *key; /* tells it from others */
    uint64_t value;  /* that it has */
    bool outside;    /* somebody outside of the device may signal it */
};

/* A signal of a packet that is still in its queue; and a wait that is not satisfied yet. */
struct bf_graph_signal {
    uint32_t object, queue; /* indices */
    uint64_t value;
    uint32_t place;  /* of the packet among those still in the queue, from 0 */
    uint64_t packet; /* its number in its queue */
};

enum bf_graph_state {
    BF_GRAPH_EMPTY, /* nothing is held */
    BF_GRAPH_HELD,  /* its first packet waits for an object to reach a value */
    BF_GRAPH_GOING, /* nothing but its engine keeps its first packet */
};

struct bf_graph_queue {
    char name[BF_GRAPH_NAME]; /* on the GPU, of the first packet's queue */
    const void *key;
    uint32_t engine;
    enum bf_graph_state state;
    uint64_t age_ns;             /* since its first packet became its first, or was appended */
    uint64_t still_ns;           /* since what it waits for has moved */
    uint64_t packet;             /* its number; of a wait of its own, of the packet before it */
    char content[BF_GRAPH_NAME]; /* its command buffers and labels, by names; "": it has none */
    bool waits;                  /* the first packet is a wait: bfQueueWait */
    bool windowed;               /* it is held by a priority window of its engine */
    bool suspended;              /* the queue is (bfSuspendCommandQueue) */
    bool on_gpu;                 /* it is what an engine has accepted behind a wait for outside */
    uint32_t packets, parts;     /* that it has; of these, taken off others (PE-6) */
    uint64_t numbered;           /* packets that it was given, since its creation */
    uint32_t object;             /* what it waits for, first of all */
    uint64_t value;
};

/* What an engine's GPU work has come to. */
struct bf_graph_engine {
    char name[BF_GRAPH_NAME];
    bool busy;
    uint64_t busy_ns;            /* with the same submission */
    uint64_t order;              /* of acceptance, over all engines; UINT64_MAX: not known */
    uint64_t packet;             /* 0: not known */
    char queue[BF_GRAPH_NAME];   /* the packet's */
    char content[BF_GRAPH_NAME]; /* its command buffers and labels; "": nothing is known */
    uint32_t waits;              /* semaphores that it waits for on the GPU */
    /* One of them that others may signal; whether it has been isn't known. "": there is none, or
     * each has been. */
    char outside[BF_GRAPH_NAME];
    uint64_t outside_value; /* wanted; 0: it is binary */
    bool listed;            /* what it waits for outside is among what stands as a node */

    uint64_t idle_ns;  /* since it had anything to do */
    uint64_t taken_ns; /* for how long a program has had the VkQueue to itself; 0: it hasn't */
};

/* A call of the driver's that is under way. */
struct bf_graph_call {
    uint32_t engine;  /* the last one stands for the device's own */
    const char *name; /* "vkQueuePresentKHR" */
    bool waits;       /* it is one that waits for the GPU */
    bool young;       /* it hasn't lasted for the time that it has to */
    uint32_t thread;
    char thread_name[32];
    uint64_t ns, still_ns; /* 'still_ns': since what it waits for has moved */
    /* Of a wait for semaphores or fences: for what, and how many others. An object to reach
     * 'value'; NONE: for the fence, or "" where that isn't known either. */
    uint32_t object;
    uint64_t value;
    char fence[BF_GRAPH_NAME];
    uint32_t more;
    bool any;                      /* one of them is enough */
    bool missing;                  /* nothing that has been submitted brings the object there */
    struct bf_watched_call *place; /* the watchdog's, not for others */
};

struct bf_graph {
    uint32_t object_count, signal_count, wait_count, queue_count, engine_count, call_count;
    struct bf_graph_object *objects;
    struct bf_graph_signal *signals, *waits;
    struct bf_graph_queue *queues;
    struct bf_graph_engine *engines; /* the last one stands for the device's own calls */
    struct bf_graph_call *calls;
    uint64_t idle_ns; /* since anything of the device had anything to do */
};

#endif
