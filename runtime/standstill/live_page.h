/* SPDX-License-Identifier: MIT */
/*
 * The live page of a device whose watchdog is on: a sealed memfd of a fixed name, which 'belfry
 * top' finds in /proc/PID/fd and maps. A reader raises 'asked', then 'bell', and wakes who sleeps
 * on 'bell': the watchdog's thread, which writes the view anew, sets 'answered' to the 'asked' that
 * it read, and wakes who sleeps on 'answered'.
 *
 *  LP-1  A view that is half written is never shown: 'turn' is odd while it is written, and the
 *        reader takes a copy only if 'turn' was the same before and after.
 *  LP-2  Either side may write anything at any time, and punch holes; the seals keep the size.
 *        Each works on a copy of its own. Of what it reads, the program compares 'bell' and 'asked'
 *        with what they were; the command checks magic, version, every count, and that every string
 *        ends, and prints nothing of it that would control a terminal.
 *  LP-3  The number of wake-ups that readers cause is bounded (BF_LIVE_WAKES): a program whose page
 *        is written to more often closes it. Who waits for an answer does so for a bounded time.
 *
 * Proven by tests/standstill (live.c) and tests/cli (top.c).
 */
#ifndef BELFRY_STANDSTILL_LIVE_PAGE_H
#define BELFRY_STANDSTILL_LIVE_PAGE_H

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>

#define BF_LIVE_MEMORY  "belfry live page"
#define BF_LIVE_LINK    "/memfd:" BF_LIVE_MEMORY " (deleted)"
#define BF_LIVE_MAGIC   UINT64_C(0x6576696c7966622e) /* ".bfylive" */
#define BF_LIVE_VERSION 1u                           /* of all that follows */

#define BF_LIVE_ENGINES 16
#define BF_LIVE_QUEUES  64
#define BF_LIVE_FENCES  64
#define BF_LIVE_CASES   8
#define BF_LIVE_NAME    128
#define BF_LIVE_TEXT    512
#define BF_LIVE_LINE    1000
#define BF_LIVE_WAKES   200 /* in a second */

struct bf_live_engine {
    char name[BF_LIVE_NAME];
    char work[BF_LIVE_TEXT];               /* the oldest submission that hasn't ended; "": idle */
    char call[BF_LIVE_NAME];               /* of the driver's, that is under way; "": none */
    uint64_t accepted, completed, busy_ns; /* submissions; since when one of them stays */
};

struct bf_live_queue {
    char name[BF_LIVE_NAME];
    char wait[BF_LIVE_TEXT];         /* what its first packet waits for, and who would signal it */
    uint64_t key, packets, held, ns; /* packets given so far, and held; its first one's wait */
    uint64_t engine;
};

/* A BfFence or a timeline semaphore. */
struct bf_live_fence {
    char name[BF_LIVE_NAME];
    uint64_t key, value;
    uint64_t wanted; /* the least value that somebody waits for; UINT64_MAX: nobody */
};

struct bf_live_pool {
    uint64_t known; /* 0: it couldn't be looked at */
    uint64_t limit, running, boosted, waiting, accepted;
};

struct bf_live_view {
    uint64_t now_ns; /* CLOCK_MONOTONIC */
    uint64_t lost;   /* the device is */
    uint64_t seen;   /* 0: engines and queues couldn't be looked at */
    /* Of each: how many there are here, and how many there are. */
    uint64_t engine_count, engines_all, queue_count, queues_all, fence_count, fences_all;
    uint64_t case_count;
    struct bf_live_pool pool; /* of the process */
    struct bf_live_engine engines[BF_LIVE_ENGINES];
    struct bf_live_queue queues[BF_LIVE_QUEUES];
    struct bf_live_fence fences[BF_LIVE_FENCES];
    char cases[BF_LIVE_CASES][BF_LIVE_LINE]; /* what has stood for the time that is set */
};

#define BF_LIVE_WORDS (sizeof(struct bf_live_view) / sizeof(uint64_t))

struct bf_live_page {
    _Atomic uint64_t magic;
    _Atomic uint32_t version;
    _Atomic uint32_t bell, asked, answered;
    _Atomic uint64_t turn;
    _Atomic uint64_t process; /* its id, as it knows itself: a child has its descriptors */
    _Atomic uint64_t words[BF_LIVE_WORDS];
};

#define BF_LIVE_SIZE ((sizeof(struct bf_live_page) + 4095) / 4096 * 4096)

static_assert(sizeof(struct bf_live_view) % sizeof(uint64_t) == 0, "it is copied by words");
static_assert(sizeof(struct bf_live_page) == 40 + sizeof(struct bf_live_view), "between processes");

#endif
