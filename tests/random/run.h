/* SPDX-License-Identifier: MIT */
/* The running of one plan on real threads and a real device, and the checks of what comes of it. */
#ifndef BELFRY_RANDOM_RUN_H
#define BELFRY_RANDOM_RUN_H

#include "../support/std.h"

#include "../icd/icd_client.h"
#include "bench.h"

struct run;

struct run_thread {
    struct run *run;
    int index;
    pthread_t thread;
    _Atomic int done; /* calls of the current plan that have returned */
    _Atomic int op;   /* where it is, for the watchdog; -1: nowhere */
    const char *_Atomic where;
};

/* Threads are started once and run many plans. Everything a worker reads is constant while a plan
 * runs, but for the atomics. */
struct run {
    struct bench *bench;
    struct plan *plan;
    struct belfry_icd_control icd; /* zeroed on other drivers */
    bool layer;                    /* Belfry is between us and the driver */
    /* Mesa's emulated timelines (lavapipe; seen in 22.3) get their new value after the fence of the
     * same submission, or another of its semaphores, has been signalled: a counter may lag behind
     * what those have told, and the semaphore is still in use for that while. */
    bool counters_lag;
    int watchdog_s;
    uint32_t tag; /* marks of the current plan are tag + number */
    VkCommandBuffer cbs[PLAN_CBS];
    VkSemaphore semaphores[PLAN_SEMAPHORES];
    VkSemaphore outside[PLAN_SEMAPHORES]; /* the outsider's, of those that it signals */
    VkFence fences[PLAN_FENCES];
    BfCommandQueue bf_queues[PLAN_QUEUES];
    BfFence bf_fences[PLAN_SEMAPHORES];
    BfEvent bells[PLAN_BELLS];
    BfFence executed[PLAN_QUEUES]; /* progress fences */
    struct run_log *logs;          /* one for each queue of a plan */
    _Atomic uint64_t logged, lost; /* entries that were read, and not */
    _Atomic uint64_t presents, presents_that_wait, presents_that_pass, signals_outside;
    _Atomic uint64_t requests;                           /* for preemption */
    uint64_t presented, presents_that_waited, requested; /* in programs before this one */

    struct run_thread threads[PLAN_THREADS];
    pthread_mutex_t lock;
    pthread_cond_t begin;    /* a plan has begun, or all is over */
    pthread_cond_t end;      /* a thread has finished its part */
    pthread_cond_t progress; /* some thread's 'done' has grown and somebody waits for that */
    uint64_t plan_number;    /* locked */
    int running;             /* locked: threads that have not finished */
    bool over;               /* locked */
    _Atomic bool paused;     /* the test driver starts no packets */
    _Atomic int gated;       /* threads that sleep on 'progress' */
    _Atomic uint64_t moves;  /* grows whenever anything moves */
};

/* run_init: starts the threads. Returns false when that fails. */
bool run_init(struct run *run, struct bench *bench);
void run_finish(struct run *run);

/* Runs a plan and checks everything. Returns true when the machine kept its word; else it prints
 * what was wrong and ends the process with exit code 1: threads of a program that hangs can't be
 * stopped in any other way. */
bool run_plan(struct run *run, struct plan *plan);

/* Prints the violation, the seed and the plan, and exits with 1. Any thread; only the first one
 * gets to print. 'op' is the call at fault, -1 for none. */
_Noreturn void run_fail(struct run *run, int op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of CLOCK_MONOTONIC. */
double run_seconds(void);

void run_must(struct run *run, int op, VkResult result, const char *what);
uint64_t run_timeout(enum plan_timeout timeout);
/* Somewhere within a long call: things do move. */
void run_moved(struct run *run);

/* run_bf.c: calls of Belfry's API. */

void bf_objects_create(struct run *run);
void bf_objects_destroy(struct run *run);
/* Executes an operation that is one of Belfry's API; false if it's not. */
bool bf_op_execute(struct run *run, int op);
VkResult bf_wait_fences(struct run *run, int op);
void bf_settle_wait(struct run *run, int op);
void bf_settle_check_still(struct run *run, int op);
/* Native fences: their words are as their values, with nothing under way; and what progress fences
 * have counted, once the program has ended. */
void bf_words_check(struct run *run, int op);
void bf_progress_check(struct run *run);
/* Looks without taking anything. */
bool bf_bell_rings(struct run *run, int bell);

/* present.c: behind that submit there may be a present. */
void present_after(struct run *run, int op);
/* Whether the call may wait for the GPU, or the present behind it for what the host does then. */
bool run_op_may_block(const struct plan *plan, const struct plan_op *op);

/* run_log.c: readers of queues' logs. */

bool logs_init(struct run *run);
void logs_finish(struct run *run);
/* All objects have been made, and nothing submitted. */
void logs_begin(struct run *run);
/* Around each call: readers come, read and go. */
void logs_before(struct run *run, int op);
void logs_after(struct run *run, int op);
/* The queue is about to be destroyed. */
void logs_leave(struct run *run, int op, int queue);
/* The program has ended: the logs are complete, and the readers go. At most so many submissions of
 * Belfry's own are still to come. */
uint64_t logs_end(struct run *run);

/* check.c: what may be said of effects and results. */

/* Every command buffer that ended before the node has left its mark. */
void check_done(struct run *run, int op, int node);
/* No command buffer that can begin only after the call has, has left a mark. */
void check_not_started(struct run *run, int op);
/* A mark has been left by that batch's last command buffer and all others. */
bool check_batch_ran(const struct run *run, int batch);
/* What each command buffer saw, once all have ended. */
void check_effects(struct run *run);
/* A semaphore's counter as read within the call; fails if it can't be. */
void check_counter(struct run *run, int op, int semaphore, uint64_t value);
/* A word that the device may be writing. */
uint64_t check_word_read(const volatile uint64_t *word);
/* A host wait's result. */
void check_wait_result(struct run *run, int op, VkResult result);
/* The value of a wild fence as read within the call. */
void check_wild_value(struct run *run, int op, int semaphore, uint64_t value);
/* An event is set within the call: it must have been possible, and what it tells must be true. */
void check_bell(struct run *run, int op, int bell);
/* Belfry's own counters over the plan. */
void check_bf_counters(struct run *run);
/* Counters of the test driver over the plan. */
void check_driver(struct run *run);
/* True when the item's condition was true before the call began; may not come true before it has
 * ended. */
bool check_item_known(const struct run *run, int op, int item);
bool check_item_impossible(const struct run *run, int op, int item);

#endif
