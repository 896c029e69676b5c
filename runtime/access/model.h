/* SPDX-License-Identifier: MIT */
/* The parts of the model. Private to runtime/access; everything is guarded by the check's lock
 * unless said otherwise. */
#ifndef BELFRY_ACCESS_MODEL_H
#define BELFRY_ACCESS_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "access/access.h"
#include "access/clock.h"
#include "access/record.h"
#include "base/lock.h"
#include "base/map.h"
#include "scheduler/observer.h"

/* observe.c */
extern const struct bf_observer_calls bf_access_observer_calls;

/* The CPU's number as an agent; queues count from 1 and never share one. */
#define BF_ACCESS_CPU 0

/* How many lines a device's reports may take. */
#define BF_ACCESS_MAX_LINES 100

struct bf_access {
    struct bf_observer observer; /* first */
    struct bf_lock lock;
    _Atomic bool off;
    struct bf_access_info info;
    struct bf_clock_pool clocks;

    struct bf_clock *cpu; /* what the CPU comes after */
    uint64_t cpu_time;    /* how many signals it has made */
    uint32_t last_queue;
    uint64_t last_op;
    uint32_t op_count; /* calls that have not run */
    struct bf_access_queue *queues;
    struct bf_access_queue *runnable;
    struct bf_access_fence *fences;
    uint32_t group_count;
    bool forgot;      /* the line of A-3 has been printed */
    bool retires;     /* queues may be over, which bf_access_leave looks for */
    uint32_t reports; /* lines printed, and reports left out */
    uint32_t unsaid;

    /* Look-ups in these need no lock. */
    struct bf_map buffers, images; /* resources */
    struct bf_map recordings;

    /* vulkan.c */
    struct bf_map vkqueues, semaphores, vkfences, swapchains;

    /* event.c */
    struct bf_map marks;
};

/* Takes the lock. False: the check is off (or NULL), and the lock isn't held. */
bool bf_access_enter(struct bf_access *access);
/* Releases the lock; ends the check if memory has run out. Queues that are over are freed only
 * here, so that nobody's list of queues changes under way. */
void bf_access_leave(struct bf_access *access);
/* The lock is held. */
void bf_access_stop_locked(struct bf_access *access, const char *why);
/* Ends the check for want of memory. The lock isn't held. */
void bf_access_fail(struct bf_access *access);

/* ------------------------------------------------------------------------------------ Queues -- */

enum bf_access_op_kind {
    BF_ACCESS_OP_EXECUTE,
    BF_ACCESS_OP_SIGNAL,
    BF_ACCESS_OP_WAIT,
};

/* A call that has not run yet. */
struct bf_access_op {
    struct bf_access_op *next;
    struct bf_access_queue *queue;
    enum bf_access_op_kind kind;
    uint64_t number; /* in the order of calls, over all queues */
    uint64_t packet;
    struct bf_clock *call;         /* the CPU's clock at the call */
    struct bf_access_fence *fence; /* referenced */
    uint64_t value;
    bool settled;           /* a wait that is satisfied */
    struct bf_clock *clock; /* what the satisfied wait comes after */
    struct bf_access_op *next_waiter;
    uint32_t block_count;
    struct bf_access_block *blocks[];
};

struct bf_access_queue {
    struct bf_observed_queue observed; /* first */
    struct bf_access *access;
    struct bf_access_queue *next, *previous, *next_runnable;
    uint32_t id;
    enum bf_access_class type_class;
    char name[64];
    bool removed, in_runnable, in_batch;
    uint64_t packet;   /* the last one called */
    uint64_t ran;      /* the last one that ran */
    uint64_t executed; /* the last one called that executes command buffers */
    /* what its next packet comes after, as far as other agents are concerned */
    struct bf_clock *clock;
    struct bf_access_op *head, *tail;
    struct bf_access_group *oldest, *newest; /* its uses that the CPU hasn't waited for */
    uint32_t hint_count, hint_room;
    struct bf_access_block **hints; /* uses declared with bfQueueUses for its next execution */
};

struct bf_access_queue *bf_model_queue_add(struct bf_access *access, const char *name,
                                           enum bf_access_class type_class);
void bf_model_queue_remove(struct bf_access_queue *queue);
struct bf_access_queue *bf_model_queue_find(struct bf_access *access, uint32_t id);

/* Takes over the references to the blocks. */
void bf_model_queue_execute(struct bf_access_queue *queue, uint32_t count,
                            struct bf_access_block **blocks);
void bf_model_queue_signal(struct bf_access_queue *queue, struct bf_access_fence *fence,
                           uint64_t value);
/* Does the CPU know that everything called on the queue is over? */
bool bf_model_queue_is_idle(const struct bf_access_queue *queue);
/* A NULL fence stands for a signal that the check hasn't seen. */
void bf_model_queue_wait(struct bf_access_queue *queue, struct bf_access_fence *fence,
                         uint64_t value);
void bf_model_queue_begin(struct bf_access_queue *queue);
void bf_model_queue_end(struct bf_access_queue *queue);
void bf_model_queue_idle(struct bf_access_queue *queue);
void bf_model_idle(struct bf_access *access);
/* The CPU comes after everything that has run. */
void bf_model_ran(struct bf_access *access);

/* Executes the blocks of the command buffers, and those that bfQueueUses declared before. */
void bf_model_queue_execute_buffers(struct bf_access_queue *queue, uint32_t count,
                                    const VkCommandBuffer *command_buffers);

/* ------------------------------------------------------------------------------------ Fences -- */

/* A signal that may still be in effect at a later call. */
struct bf_access_signal {
    uint64_t value;
    uint32_t agent; /* the agent that signalled, and its time */
    uint64_t time;
    struct bf_clock *clock; /* what it comes after, itself included */
};

struct bf_access_fence {
    struct bf_observed_fence observed; /* first */
    struct bf_access *access;
    struct bf_access_fence *next, *previous;
    uint32_t references; /* of handles and of calls that have not run */
    uint32_t handles;    /* an imported fence has two, its own and the semaphore's */
    bool removed, external;
    bool mapped;                      /* the CPU may have seen each signal that has run */
    struct bf_access_signal *signals; /* the signals that have run, in that order */
    uint32_t signal_count, signal_room;
    uint32_t prune_at;            /* number of signals at which those without effect are removed */
    struct bf_access_op *waiters; /* armed, not settled */
};

/* How many calls wait for signals, before those of fences that others may signal count as made. */
#define BF_ACCESS_MAX_HELD 65536

/* How many signals are remembered for one fence. */
#define BF_ACCESS_MAX_SIGNALS 4096

struct bf_access_fence *bf_model_fence_add(struct bf_access *access, uint64_t value);
void bf_model_fence_reference(struct bf_access_fence *fence);
void bf_model_fence_release(struct bf_access_fence *fence); /* NULL is allowed */
void bf_model_fence_remove(struct bf_access_fence *fence);
void bf_model_fence_external(struct bf_access_fence *fence);
void bf_model_fence_mapped(struct bf_access_fence *fence);
void bf_model_fence_signal(struct bf_access_fence *fence, uint64_t value);

enum bf_access_match {
    BF_ACCESS_AT_LEAST,
    BF_ACCESS_EXACTLY,
};

/* The clock that the CPU comes after once it has seen this value of the fence, with a reference. */
struct bf_clock *bf_model_fence_clock(struct bf_access_fence *fence, uint64_t value,
                                      enum bf_access_match match);
/* The CPU has seen this value of the fence. */
void bf_model_fence_see(struct bf_access_fence *fence, uint64_t value, enum bf_access_match match);
/* From now on the CPU comes after all of the clock; takes over the reference. */
void bf_model_cpu_learn(struct bf_access *access, struct bf_clock *clock);

/* --------------------------------------------------------------------------------- Resources -- */

/* One packet's uses of one resource by one block. */
struct bf_access_group {
    struct bf_access_group *next_of_queue, *previous_of_queue; /* in the order of packets */
    struct bf_access_group *next, *previous; /* of the resource, in the order in which they ran */
    struct bf_access_queue *queue;
    uint64_t packet;
    struct bf_access_block *block; /* referenced */
    const struct bf_access_slice *slice;
};

/* The state of one subresource. */
struct bf_access_cell {
    uint8_t state, type_class;
    uint32_t queue;
    uint64_t packet;
};

#define BF_ACCESS_PLANES 3

/* A report that has been made. */
struct bf_access_said {
    uint32_t queues[2];
    enum bf_access_fault fault;
};

struct bf_access_resource {
    _Atomic uint32_t references; /* of the handle and of each recorded use */
    bool image;                  /* these never change */
    uint64_t handle;
    VkDeviceSize size; /* VK_WHOLE_SIZE: not known */
    struct bf_access_image_info info;
    bool known;    /* its creation has been seen: so size and info are */
    char name[64]; /* empty: none given */
    struct bf_access_group *first, *last;
    struct bf_access_cell *cells;
    uint32_t said_count, said_room;
    struct bf_access_said *said; /* at most one for each line */
};

/* Finds a resource by its handle, and creates it when it is first used; with a reference. NULL: out
 * of memory. The lock isn't held. */
struct bf_access_resource *bf_access_resource_of(struct bf_access *access, bool image,
                                                 uint64_t handle);
void bf_access_resource_reference(struct bf_access_resource *resource);
void bf_access_resource_release(struct bf_access_resource *resource);

/* Runs a packet: checks its uses against all those that it doesn't come after, and remembers
 * them. */
void bf_access_block_run(struct bf_access_queue *queue, uint64_t packet,
                         struct bf_access_block *block);
/* Frees a group whose uses need not be remembered any more. */
void bf_access_group_free(struct bf_access_group *group);

/* report.c: reports one fault, unless it has been reported before. */
struct bf_access_finding {
    enum bf_access_fault fault;
    bool overlap;
    struct bf_access_resource *resource;
    struct {
        uint32_t queue;
        enum bf_access_class type_class;
        uint64_t packet;
        bool write;
        const struct bf_access_region *region; /* not for BF_ACCESS_STATE */
        BfResourceState state;                 /* BF_ACCESS_STATE */
        const char *what;
    } earlier, later;
};
void bf_access_say(struct bf_access *access, const struct bf_access_finding *finding);

/* ---------------------------------------------------------------- vulkan.c, event.c: the end -- */

void bf_access_vulkan_finish(struct bf_access *access);
void bf_access_events_finish(struct bf_access *access);

#endif
