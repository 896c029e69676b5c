/* SPDX-License-Identifier: MIT */
/*
 * Between traces and their file: memory that traces write to, and a thread that writes it to the
 * file, so that a thread of the program never waits for a disk.
 *
 *  O-1  Memory is bounded: BF_OUTPUT_CHUNKS of BF_OUTPUT_CHUNK bytes, of which only those are
 *       touched that are needed while the file falls behind. An event for which there is no room is
 *       left out and counted.
 *  O-2  A slice whose begin was written gets its end: for each open slice, room is reserved.
 *  O-3  The thread sleeps while nothing is pending. It writes what has been pending for FLUSH_NS,
 *       full chunks, and what bf_output_flush asks for.
 *  O-4  After an error the file ends with a whole packet, one line is printed, and all further
 *       events are counted as lost.
 *  O-5  A process has one output for a path, and so one file: its traces share it, at the same time
 *       or one after the other. So two devices don't write to 'run.pftrace' and 'run-1.pftrace'.
 *       (Unless somebody removes or replaces the file between two of them.)
 *  O-6  What is pending when the program calls exit, or returns from main, gets into the file, even
 *       if the program hasn't destroyed its devices: each trace is told to end first. What
 *       other threads report from then on is left out: the file is whole, and grows no more.
 *       (After a crash, a signal or _exit what is pending is lost; see T-1.)
 *  O-7  When a process ends in that way, one line for each of its files says where it is.
 *  O-8  A forked child doesn't have this thread: its events are left out, and the file remains the
 *       parent's. Traces that the child creates have an output of its own, and neither these nor
 *       its end wait for what a thread of the parent was about when it was forked.
 *
 * Thread-safety: output->lock is held for all functions but join, part and drain; the thread takes
 * it, too. Proven by tests/trace/output.c and tests/trace/file.c, and tests/fence/timeline.c.
 */
#ifndef BELFRY_TRACE_OUTPUT_H
#define BELFRY_TRACE_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/lock.h"
#include "trace/file.h"
#include "trace/protobuf.h"

#define BF_OUTPUT_CHUNK  (64 * 1024)
#define BF_OUTPUT_CHUNKS 128
#define BF_OUTPUT_END    384 /* bytes: the most that the end of a slice takes */

struct bf_output_chunk {
    uint32_t size;
    uint32_t events;
    uint8_t data[BF_OUTPUT_CHUNK];
};

/* A trace, as its output sees it. */
struct bf_output_member {
    struct bf_output_member *next;
    /* the process ends: writes what is still to be said. The output's lock is held */
    void (*end)(struct bf_output_member *member);
    /* bf_output_tell */
    struct bf_output_member *next_told;
    void (*tell)(void *context);
    void *context;
    pid_t process;
};

struct bf_output {
    struct bf_lock lock; /* guards the traces of this output, too */
    /* the process's next one; this and the next three are guarded by their common lock */
    struct bf_output *next;
    struct bf_output_member *members;
    char *asked; /* the path as it was asked for; NULL: no file */
    uint32_t users;
    uint32_t joined; /* how many traces have joined */
    struct bf_trace_file file;
    pid_t process;
    pthread_t thread;
    struct bf_output_chunk *chunks;

    struct bf_protobuf pb; /* over 'current' */
    uint32_t current;
    uint32_t free_count;
    /* a stack: the chunk that was used last is still in the cache */
    uint32_t free[BF_OUTPUT_CHUNKS];
    uint32_t full_begin;
    uint32_t full_count;
    uint32_t full[BF_OUTPUT_CHUNKS]; /* a ring, in the order of the file */
    uint64_t retired;                /* chunks put into the ring so far, */
    uint64_t written;                /* and those of them that have been written */
    uint64_t pending_since_ns;       /* 0: nothing is in 'current' */
    uint64_t open;                   /* slices whose end is still to come */
    uint64_t events;                 /* written to 'pb' */
    uint64_t lost;                   /* those of them that are not in the file */
    uint64_t bytes;                  /* written to the file */
    int error;                       /* the errno after which the file was closed */
    bool ended;                      /* the process ends: there is no room any more */
    bool flush;
    bool stop;
    bool sleeping; /* the thread has to be woken if something changes */
    bool wake;     /* the next bf_output_leave wakes the thread */
    _Atomic uint32_t turn;
    _Atomic uint32_t progress;
    _Atomic uint32_t closing; /* the last trace has left, and the file is still being written */
};

/* Returns the process's output for that path: the one that there is, or a new one with a file and a
 * thread. Without a path, one that never has room. *number: how many traces have joined it, with
 * this one. Returns 0 or an errno; one line has then been printed. */
int bf_output_join(const char *path, struct bf_output **output, uint32_t *number);

/* From now on the trace hears of the process's end, until it leaves. */
void bf_output_enrol(struct bf_output *output, struct bf_output_member *member);

/* What tells the member what has ended, when the process exits; NULL: nobody does. Returns when it
 * isn't being told any more. It may ask the driver: handlers of exit run in turn, the latest first,
 * so that the driver's own, which were there before, come later; libraries' destructors come last.
 */
void bf_output_tell(struct bf_output_member *member, void (*tell)(void *context), void *context);

/* Leaves the output, with 'open' slices that will not end, and takes 'member' off it. What is
 * pending will be written; the last trace to leave waits for that, and ends the thread and closes
 * the file. */
void bf_output_part(struct bf_output *output, struct bf_output_member *member, uint64_t open);

/* Is there room for one packet, of at most BF_PERFETTO_EVENT_MAX bytes? 'end': the packet ends a
 * slice. */
bool bf_output_room(struct bf_output *output, bool end);

/* To be called after a packet was written to 'pb', from 'begin' on. */
void bf_output_wrote(struct bf_output *output, size_t begin, bool event, uint64_t now);

/* Makes the thread write what is pending now. Doesn't wait. */
void bf_output_flush(struct bf_output *output);

/* Releases the lock, and wakes the thread if it has something to do. */
void bf_output_leave(struct bf_output *output);

/* Waits until everything that was written to 'pb' before is in the file, or has been given up. */
void bf_output_drain(struct bf_output *output);

/* The process ends: first members are told, while drivers are whole (bf_output_tell); then all
 * outputs are ended, and a line says where each file is. */
void bf_outputs_tell(void);
void bf_outputs_end(void);

#endif
