/* SPDX-License-Identifier: MIT */
/*
 * One queue whose signals may be logged: a VkQueue of a program under the layer, or a BfQueue on an
 * attached device; and what is submitted to it.
 */
#ifndef BENCH_LOGGED_H
#define BENCH_LOGGED_H

#include <belfry/native_fence.h>

#include "side.h"

#define LOGGED_EXTRA 4

enum logged_queue {
    LOGGED_PLAIN,   /* a VkQueue of the plain driver */
    LOGGED_LAYERED, /* vkQueueSubmit2, which signals a timeline semaphore */
    LOGGED_FENCE,   /* bfQueueExecute, and bfQueueSignal of a fence */
    LOGGED_NATIVE,  /* the same, of a native fence */
};

struct logged_options {
    enum logged_queue queue;
    const char *log; /* the setting 'log'; NULL: as it is by itself */
    bool native_off; /* the setting 'native_fences' is off */
    bool read;       /* there is a reader of its signals */
    uint32_t extra;  /* submissions carry so many command buffers more, LOGGED_EXTRA at most */
    bool second;     /* submissions signal a second timeline semaphore, as an epoch is one */
    bool as_log;     /* these do what those of a log do; else nothing */
};

struct logged {
    struct logged_options options;
    struct side side;
    VkCommandBuffer work; /* what each submission begins with: the side's, unless it is changed */
    VkCommandBuffer more;
    VkSemaphore semaphore, second;
    BfDevice device; /* NULL: the plain driver */
    BfQueue queue;
    BfFence fence;
    BfFenceLogReader reader;
    uint64_t value;  /* of the last signal */
    uint64_t logged; /* entries read */
    struct side_filler scratch;
    VkQueryPool queries;
    VkCommandPool pool;
};

/* Opens a side of its own. Returns false with a reason in `found`; close it all the same. Not while
 * other threads of the process look at its environment. */
bool logged_open(struct logged *logged, const struct logged_options *options, const char *gpu,
                 struct bench_found *found);
/* Waits for what was submitted. Accepts a zeroed one. */
void logged_close(struct logged *logged);

/* Submits once. */
VkResult logged_submit(struct logged *logged, double *nanoseconds);

/* Waits for what was submitted, and reads the log: every signal must be there. */
bool logged_finish(struct logged *logged, struct bench_found *found);

#endif
