/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler leaves for the watchdog (standstill/standstill.h) to see without a lock: which
 * call of the driver's is under way on each engine, and what was submitted with each epoch.
 *
 *  WD-1  Neither makes a system call, takes a lock or allocates. The first work after a rest wakes
 *        the watchdog, which costs one: it rests once it has found nothing outstanding and nothing
 *        begun for a whole period.
 *  WD-2  With the watchdog on, or on an engine that takes command queues if it is there for these
 *        alone (standstill/tdr.h), each submission has an epoch of its own, and its witness is
 *        written before the driver is called: if the oldest epoch that isn't reached is one of the
 *        engine's last BF_WITNESSES, it is known what the GPU is busy with.
 *  WD-3  No work escapes a resting watchdog: who begins a call of the driver's, or appends a
 *        packet, publishes that and then looks whether the watchdog rests; the watchdog says that
 *        it rests and then looks for work; all of these are seq_cst.
 *
 * Without a watchdog each function returns at once.
 *
 * Proven by tests/standstill.
 */
#ifndef BELFRY_SCHEDULER_WATCH_H
#define BELFRY_SCHEDULER_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_engine;
struct bf_packet;
struct bf_queue;
struct bf_scheduler;

/* Witnesses that an engine keeps: of its last submissions. */
#define BF_WITNESSES 256

enum bf_watched_command {
    BF_WATCHED_SUBMIT,
    BF_WATCHED_BIND_SPARSE,
    BF_WATCHED_PRESENT,
    BF_WATCHED_QUEUE_WAIT_IDLE,
    BF_WATCHED_DEVICE_WAIT_IDLE,
    BF_WATCHED_COMMANDS,
};

/* A call of the driver's; written by whoever has it. */
struct bf_watched_call {
    _Atomic uint64_t count; /* begun and ended calls: odd while one is under way */
    _Atomic uint32_t command, thread;
    _Atomic uint64_t since_ns;
};

/* What was submitted with an epoch. */
struct bf_submission {
    uint64_t epoch;
    uint64_t order;    /* among the device's submissions: whatever it waits for has a smaller one */
    uint64_t number;   /* of the packet in its queue, from 1 */
    uint64_t since_ns; /* when it was handed over */
    const struct bf_queue *queue; /* which may be gone */
    uint64_t buffers[2];          /* the program's first command buffers */
    uint32_t buffer_count;
    uint32_t wait_count;    /* semaphores that it waits for on the GPU */
    uint64_t outside;       /* of these, one that others may signal; 0: none */
    uint64_t outside_value; /* 0: it is binary */
    uint64_t timed;         /* 1: a GPU that stands at it counts as hung (standstill/tdr.h) */
    char labels[48];        /* open on its queue, outermost first; "": none */
};

#define BF_WITNESS_WORDS (sizeof(struct bf_submission) / sizeof(uint64_t))

struct bf_witness {
    _Atomic uint64_t turn; /* odd while it is being written */
    _Atomic uint64_t words[BF_WITNESS_WORDS];
};

/* Presents without the engine's lock that are seen at a time; further ones aren't. */
#define BF_WATCHED_BESIDE 4
#define BF_WATCHED_CALLS  (1 + BF_WATCHED_BESIDE)

struct bf_engine_watch {
    struct bf_watched_call calls[BF_WATCHED_CALLS]; /* the first belongs to the engine's lock */
    _Atomic uint32_t beside;                        /* which of the others are taken: bits */
    struct bf_witness witnesses[BF_WITNESSES];
};

struct bf_device_watch {
    _Atomic uint32_t resting; /* the watchdog sleeps until somebody rings */
    _Atomic uint32_t rung;    /* how often somebody has */
    /* The futex it sleeps on: its own, or a word of the live page (standstill/live.h), which other
     * processes may change: nothing is learnt from its value. */
    _Atomic(_Atomic uint32_t *) bell;
    _Atomic uint32_t own_bell;
    _Atomic uint64_t order;
    struct bf_watched_call device_call; /* under all engines' locks */
    struct bf_engine_watch engines[];   /* as many as the device has */
};

/* Has each submission to the engine an epoch and a witness? Under the engine's lock it stays so. */
bool bf_watch_witnesses(const struct bf_engine *engine);

/* NULL: out of memory. */
struct bf_device_watch *bf_watch_create(uint32_t engine_count);

/* Wakes the watchdog, whether it rests or not. Thread-safety: safe, also in a signal handler. */
void bf_watch_ring(struct bf_device_watch *watch);

void bf_watch_begin_call(struct bf_device_watch *watch, struct bf_watched_call *call,
                         enum bf_watched_command command);

static inline void bf_watch_end_call(struct bf_watched_call *call)
{
    atomic_store_explicit(&call->count,
                          atomic_load_explicit(&call->count, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* The same for a present without the engine's lock. NULL: it isn't seen. */
struct bf_watched_call *bf_watch_begin_beside(struct bf_device_watch *watch, uint32_t engine);
void bf_watch_end_beside(struct bf_device_watch *watch, uint32_t engine,
                         struct bf_watched_call *call);

/* Work has been published (WD-3). */
static inline void bf_watch_notice(struct bf_device_watch *watch)
{
    if (watch && atomic_load(&watch->resting))
        bf_watch_ring(watch);
}

/* The packet, or the program's batch, is about to be handed to the driver with this epoch. The
 * engine's lock is held. */
void bf_watch_packet(struct bf_engine *engine, const struct bf_queue *queue,
                     const struct bf_packet *packet);
void bf_watch_batch(struct bf_engine *engine, struct bf_queue *queue, const VkSubmitInfo2 *info,
                    uint64_t epoch);

/* Notes in a packet that is appended what its witness is to say of it. */
void bf_watch_appended(struct bf_queue *queue, struct bf_packet *packet);

/* The call that is under way; false: none is. Thread-safety: safe. */
struct bf_call_seen {
    uint64_t count;
    enum bf_watched_command command;
    uint32_t thread;
    uint64_t since_ns;
};
bool bf_watch_see_call(const struct bf_watched_call *call, struct bf_call_seen *seen);

/* The oldest submission behind the epoch of which the engine has a witness. False: none.
 * Thread-safety: safe. */
bool bf_watch_see_oldest(const struct bf_engine_watch *watch, uint64_t completed,
                         struct bf_submission *submission);

#endif
