/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler leaves for the watchdog (standstill/standstill.h) to see without a lock: which
 * call of the driver's is under way on each engine, and what was submitted with each epoch.
 *
 *  WD-1  Neither makes a system call, takes a lock or reads a clock; nor do they allocate, but for
 *        a call beside more others than there ever were: presents, and what is no engine's
 *        (scheduler/host_call.h). The first work after a rest wakes
 *        the watchdog, which costs a system call: it rests once it has found nothing outstanding
 *        and nothing begun for a whole period. Since when something lasts, the watchdog alone says,
 *        by what it saw at its looks.
 *  WD-2  With the watchdog on, or on an engine that takes command queues if it is there for these
 *        alone (standstill/tdr.h), each submission has an epoch of its own, and its witness is
 *        written before the driver is called: if the oldest epoch that isn't reached is one of the
 *        engine's last BF_WITNESSES, it is known what the GPU is busy with.
 *  WD-3  No work escapes a resting watchdog: who begins a call of the driver's, or appends a
 *        packet, publishes that and then looks whether the watchdog rests; the watchdog says that
 *        it rests, has every thread of the process pass a barrier (base/membarrier.h), and then
 *        looks for work. Where there is no such barrier, who begins a call has one each time.
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

/* Of so many of the engine's last submissions it is known whether the clock of a hang may run for
 * them, whatever others are waited for: those of command queues that wait for nobody. */
#define BF_WATCH_TIMED 65536

enum bf_watched_command {
    BF_WATCHED_SUBMIT,
    BF_WATCHED_BIND_SPARSE,
    BF_WATCHED_PRESENT,
    BF_WATCHED_QUEUE_WAIT_IDLE,
    BF_WATCHED_DEVICE_WAIT_IDLE,
    BF_WATCHED_ACQUIRE,
    BF_WATCHED_WAIT_FOR_PRESENT,
    BF_WATCHED_WAIT_FENCES,
    BF_WATCHED_WAIT_SEMAPHORES,
    BF_WATCHED_COMMANDS,
};

/* What a thread waits for in vkWaitForFences or vkWaitSemaphores: the first that isn't known to be
 * signalled. */
struct bf_watched_wait {
    uint64_t handle, value; /* of a VkFence, value is 0 */
    uint32_t more;          /* others that it waits for */
    bool any;               /* one of them is enough */
};

/* Does a thread wait in it for fences or semaphores? */
static inline bool bf_watch_is_wait(enum bf_watched_command command)
{
    return command == BF_WATCHED_WAIT_FENCES || command == BF_WATCHED_WAIT_SEMAPHORES;
}

/* A call that is under way. */
struct bf_call_seen {
    uint64_t count;
    enum bf_watched_command command;
    uint32_t thread;
    struct bf_watched_wait wait;
    uint64_t version; /* of 'wait' (scheduler/host_call.h); odd: it is just being written */
};

/* A call of the driver's; written by whoever has it. */
struct bf_watched_call {
    _Atomic uint64_t count; /* begun and ended calls: odd while one is under way */
    _Atomic uint32_t command, thread;
    _Atomic uint64_t version;               /* odd while the words are being written */
    _Atomic uint64_t words[3];              /* struct bf_watched_wait */
    _Atomic uint32_t owner;                 /* a thread's place (HC-1); 0: nobody's */
    _Atomic bool taken;                     /* of those beside others: somebody has it */
    _Atomic(struct bf_watched_call *) next; /* the list only grows */
    struct {                                /* what the watchdog alone writes, and reads */
        bool seen;                          /* it was under way at the last look */
        struct bf_call_seen call;
        uint64_t since_ns; /* when it was first seen, by the watchdog's own clock */
        /* Of a wait for a semaphore: what that had, and since when. */
        uint64_t value, still_since_ns;
        bool lasts, told, was_told; /* 'told': as it is now; 'was_told': before it moved, too */
        uint32_t pauses;            /* waits that were told of, and ended (standstill/calls.h) */
        uint32_t unused;            /* looks since the place's owner last used it */
    } look;
};

/* What was submitted with an epoch. */
struct bf_submission {
    uint64_t epoch;
    /* Whatever the submission waits for, on any engine of the device, has a smaller one. */
    uint64_t order;
    uint64_t number;              /* of the packet in its queue, from 1 */
    const struct bf_queue *queue; /* NULL: it is gone */
    uint64_t buffers[2];          /* the program's first command buffers */
    uint32_t buffer_count;
    uint16_t wait_count;    /* semaphores that it waits for on the GPU, or UINT16_MAX */
    bool timed;             /* a GPU that stands at it counts as hung (standstill/tdr.h) */
    bool more;              /* what follows isn't empty, else it isn't kept */
    uint64_t outside;       /* of the semaphores, one that others may signal; 0: none */
    uint64_t outside_value; /* 0: it is binary */
    char labels[48];        /* open on its queue, outermost first; "": none */
};

struct bf_witness {
    _Atomic uint64_t turn; /* odd while it is being written */
    _Atomic uint64_t words[7];
};

/* The rest of a witness, which few have: semaphores that others may signal, and labels. */
#define BF_WITNESS_MORE_WORDS 8

struct bf_engine_watch {
    struct bf_watched_call call; /* under the engine's lock; then those beside it */
    struct bf_witness witnesses[BF_WITNESSES];
    _Atomic uint64_t more[BF_WITNESSES][BF_WITNESS_MORE_WORDS];
    _Atomic uint64_t timed[BF_WATCH_TIMED / 64]; /* bits, by epoch */
};

struct bf_device_watch {
    _Atomic uint32_t resting; /* the watchdog sleeps until somebody rings */
    _Atomic uint32_t rung;    /* how often somebody has */
    /* The futex it sleeps on: its own, or a word of the live page (standstill/live.h), which other
     * processes may change: nothing is learnt from its value. */
    _Atomic(_Atomic uint32_t *) bell;
    _Atomic uint32_t own_bell;
    bool fenced;                        /* there is no barrier for all threads (WD-3) */
    uint64_t serial;                    /* tells it from others of the process */
    _Atomic uint64_t order;             /* of the last submission that waits for another */
    struct bf_watched_call device_call; /* under all engines' locks; then those of no engine */
    struct bf_engine_watch engines[];   /* as many as the device has */
};

/* Has each submission to the engine an epoch and a witness? Under the engine's lock it stays so. */
bool bf_watch_witnesses(const struct bf_engine *engine);

/* NULL: out of memory; to be destroyed with the same count. */
struct bf_device_watch *bf_watch_create(uint32_t engine_count);
void bf_watch_destroy(struct bf_device_watch *watch, uint32_t engine_count);

/* The watchdog says that it rests, before it looks for work once more (WD-3). False: it mustn't
 * rest. */
bool bf_watch_rest(struct bf_device_watch *watch);

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

/* The same for a call without a lock, beside others: a place in the list behind 'first' that nobody
 * has and that is the owner's (0: nobody's; or becomes so), for bf_watch_begin_call. NULL: there is
 * no memory, and it isn't seen. */
struct bf_watched_call *bf_watch_take_place(struct bf_watched_call *first, uint32_t owner);
void bf_watch_end_beside(struct bf_watched_call *call);

/* What the call waits for, before it begins; the version changes with it. */
void bf_watch_note_wait(struct bf_watched_call *call, const struct bf_watched_wait *wait);

/* The wait has ended as it was to, or the place has another owner: what comes is another one. */
static inline void bf_watch_wait_anew(struct bf_watched_call *call)
{
    atomic_store_explicit(&call->version,
                          atomic_load_explicit(&call->version, memory_order_relaxed) + 2,
                          memory_order_release);
}

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

/* Numbers a packet that goes at once. The engine's lock is held. */
uint64_t bf_watch_number_at_once(struct bf_queue *queue);

/* Notes in a packet that is appended what its witness is to say of it. */
void bf_watch_appended(struct bf_queue *queue, struct bf_packet *packet);

/* Of both again, when one has been taken off the other (PE-6): they have one number. */
void bf_watch_divided(struct bf_packet *part, struct bf_packet *whole);

/* The calling thread's, which is never 0. */
uint32_t bf_watch_thread(void);

/* The call that is under way; false: none is. Thread-safety: safe. */
bool bf_watch_see_call(const struct bf_watched_call *call, struct bf_call_seen *seen);

/* The oldest submission behind the epoch of which the engine has a witness. False: none.
 * Thread-safety: safe. */
bool bf_watch_see_oldest(const struct bf_engine_watch *watch, uint64_t completed,
                         struct bf_submission *submission);

/* The queue is about to go: witnesses of its submissions no longer name it. The engine's lock is
 * held. */
void bf_watch_forget_queue(struct bf_engine *engine, const struct bf_queue *queue);

/* May the clock run for that submission, of the engine's last BF_WATCH_TIMED, whose witness may be
 * gone? */
bool bf_watch_is_timed(const struct bf_engine_watch *watch, uint64_t epoch);

/* The engine has been given work that has no epoch, behind which others can't be told from it
 * (WD-2): until what comes next is over, it isn't known what the GPU is busy with. The engine's
 * lock is held. */
void bf_watch_unwitnessed(struct bf_engine *engine);

#endif
