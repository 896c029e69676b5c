/* SPDX-License-Identifier: MIT */
/* Another process with a device of its own, which does what it is told: this executable, run again.
 * Orders are done one after the other; each has one answer. A peer that comes to harm, or leaves a
 * violation behind, fails the test that asks or ends it. */
#ifndef BELFRY_TEST_FENCE_SHARED_PEER_H
#define BELFRY_TEST_FENCE_SHARED_PEER_H

#include <sys/types.h>

#include "support/fixture.h"

#define PEER_FENCES 512
#define PEER_EVENTS 512

enum peer_op {
    PEER_CREATE, /* a shared fence of that value, with 'flags'; its descriptor comes back */
    PEER_OPEN,   /* the descriptor that was sent */
    PEER_EXPORT, /* its descriptor comes back */
    PEER_DESTROY,
    PEER_VALUE,        /* bfGetFenceCompletedValue */
    PEER_SIGNAL,       /* bfSignalFence */
    PEER_WORK_SIGNAL,  /* the queue works, and sets the value */
    PEER_QUEUE_WAIT,   /* the queue waits, and then sets its own fence to 1, 2, 3, ... */
    PEER_PASSED,       /* that fence's value */
    PEER_AWAIT_PASSED, /* blocks until it is there */
    PEER_IDLE,         /* bfQueueWaitIdle */
    PEER_WAIT,         /* bfWaitFences; it blocks */
    PEER_SET_EVENT,    /* bfSetEventOnFenceCompletion, event 'event' */
    PEER_TAKE_EVENT,   /* was it set? */
    PEER_AWAIT_EVENT,
    PEER_STALL, /* the queue stands; PEER_GO: goes on */
    PEER_GO,
    PEER_STORM, /* signals of random values, from CPU and queue, as many as 'value'; the answer
                        * is the largest of them, 'event' the seed */
    PEER_WORK_FOR_EVER, /* the same with no end; there is no answer */
    PEER_SCRIBBLE,      /* random bytes all over the page, with no end, after the answer */
    PEER_WAKEUPS,       /* BfDeviceCounters.sharedWakeups */
    PEER_NATIVE_WAITS,  /* BfDeviceCounters.peerWaits */
    PEER_LOSE,          /* its device; on the test driver, as these two: */
    PEER_BE_LATE,       /* its threads sleep: from waits for the GPU they don't come back */
    PEER_COME,          /* they do */
    PEER_QUIT,
};

struct peer {
    pid_t pid;
    int socket;
};

struct order {
    uint32_t op;
    uint32_t fence; /* by number, from 0 */
    uint32_t event;
    BfSyncObjectFlags flags;
    BfShareFlags share; /* of what it exports and opens */
    uint64_t value;
};

struct answer {
    int32_t result;
    uint64_t value;
    int fd; /* -1: none */
};

void peer_start(struct peer *peer);
/* Ends it in order, and asserts that it has. */
void peer_stop(struct peer *peer);
void peer_kill(struct peer *peer);

/* Tells it; 'fd' goes with it, or is -1. */
void peer_tell(struct peer *peer, struct order order, int fd);
struct answer peer_answer(struct peer *peer);
/* Both; the answer's result is VK_SUCCESS. */
uint64_t peer_do(struct peer *peer, enum peer_op op, uint32_t fence, uint64_t value);

/* How fences are exported and opened, by the functions below and the peers that they tell:
 * BF_SHARE_TRUSTED_BIT with BELFRY_TEST_TRUSTED=1, else 0. A test may change it. */
BfShareFlags *sharing(void);

/* Gives the fence to the peer, as its fence of that number, which must be its next. */
void peer_give(struct peer *peer, BfFence fence);
/* The peer makes one, and it is opened here, the fixture's to destroy. */
BfFence peer_take(struct peer *peer, struct fixture *f, uint64_t value, BfSyncObjectFlags flags);

/* An event of the peer's, on its fence 0. */
void peer_arm(struct peer *peer, uint32_t event, uint64_t value);
bool peer_took(struct peer *peer, uint32_t event);
void peer_await(struct peer *peer, uint32_t event);

/* A shared fence of the fixture's, and another object of what a descriptor leads to. */
BfFence make_shared(struct fixture *f, uint64_t value, BfSyncObjectFlags flags);
BfFence open_fence(struct fixture *f, int fd);
int export_fence(BfFence fence);
BfFence open_again(struct fixture *f, BfFence fence);

/* Among peers that trust each other: a device whose fences are shared so; how many waits its queues
 * have given to the driver for others' signals, and until it is so many. (The thread that hands one
 * over may be another than the caller's.) */
void open_trusting(struct fixture *f);
uint64_t native_waits(struct fixture *f);
void await_native_waits(struct fixture *f, uint64_t count);
/* The peer's queue works; its signal is on its way, and its CPU has nothing more to do with it. */
void promise(struct peer *peer, uint32_t fence, uint64_t value);

/* A fixture test on such a device; and one with a peer, 'peer', on either. */
#define TRUSTING_TEST(name_)                                                                       \
    static void name_##_on(struct fixture *f);                                                     \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct fixture f;                                                                          \
        open_trusting(&f);                                                                         \
        name_##_on(&f);                                                                            \
        fixture_close(&f);                                                                         \
    }                                                                                              \
    static void name_##_on(struct fixture *f)
#define PEER_TEST(name_)          PEER_TEST_OF(FIXTURE_TEST, name_)
#define TRUSTING_PEER_TEST(name_) PEER_TEST_OF(TRUSTING_TEST, name_)
#define PEER_TEST_OF(test_, name_)                                                                 \
    static void name_##_beside(struct fixture *f, struct peer *peer);                              \
    test_(name_)                                                                                   \
    {                                                                                              \
        struct peer peer;                                                                          \
        peer_start(&peer);                                                                         \
        name_##_beside(f, &peer);                                                                  \
        peer_stop(&peer);                                                                          \
    }                                                                                              \
    static void name_##_beside(struct fixture *f, struct peer *peer)

/* The page behind a descriptor, mapped; NULL: it could not be had. */
void *map_page(int fd);

uint32_t open_descriptors(void);
uint32_t mapped_pages(void); /* of shared fences */
/* Until no more than those are left. What is freed is freed by whoever comes by: a thread that has
 * handed a wait over may have its fence for a while after the queue has gone on. */
void await_freed(uint32_t descriptors, uint32_t pages);
/* Of what has that in its name. */
uint32_t mapped(const char *name);

uint64_t next_random(uint64_t *state); /* which is not 0 */

#endif
