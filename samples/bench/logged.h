/* SPDX-License-Identifier: MIT */
/*
 * A queue whose signals may be logged, and its submissions: a VkQueue of a program under the layer,
 * or a BfCommandQueue on an attached device.
 */
#ifndef BENCH_LOGGED_H
#define BENCH_LOGGED_H

#include <belfry/native_fence.h>

#include "side.h"

#define LOGGED_EXTRA 4

enum logged_queue {
    LOGGED_PLAIN,   /* a VkQueue of the plain driver */
    LOGGED_LAYERED, /* vkQueueSubmit2 with a signal of a timeline semaphore */
    LOGGED_FENCE,   /* bfQueueExecute, and bfQueueSignal of a fence */
    LOGGED_NATIVE,  /* the same with a native fence */
};

struct logged_options {
    enum logged_queue queue;
    const char *log;              /* the setting 'log'; NULL: its default */
    bool native_off;              /* switches the setting 'native_fences' off */
    const char *variable, *value; /* another setting's; NULL: none */
    bool read;                    /* adds a reader of its signals */
    uint32_t extra; /* command buffers added to each submission, LOGGED_EXTRA at most */
    bool second;    /* submissions signal a second timeline semaphore, as an epoch would be */
    bool as_log;    /* the added command buffers do what a log's do; false: nothing */
};

struct logged {
    struct logged_options options;
    struct side side;
    VkCommandBuffer work; /* a submission's first; the side's, unless it is changed */
    VkCommandBuffer more;
    VkSemaphore semaphore, second;
    BfDevice device; /* NULL: the plain driver */
    BfCommandQueue queue;
    BfFence fence;
    BfFenceLogReader reader;
    uint64_t value;  /* the last signalled value */
    uint64_t logged; /* number of entries read */
    struct side_filler scratch;
    VkQueryPool queries;
    VkCommandPool pool;
};

/* Opens a side for it. False: the reason is in `found`; logged_close must be called all the same.
 * No other thread of the process may read the environment meanwhile. */
bool logged_open(struct logged *logged, const struct logged_options *options, const char *gpu,
                 struct bench_found *found);
/* Waits for everything submitted. Accepts a zeroed one. */
void logged_close(struct logged *logged);

/* Makes one submission. */
VkResult logged_submit(struct logged *logged, double *nanoseconds);

/* Waits for everything submitted, and reads the log: it must have every signal. */
bool logged_finish(struct logged *logged, struct bench_found *found);

#endif
