/*
 * What lies between traces and their file: memory that fills up, and a thread that writes it out,
 * so that nobody who has something to report ever waits for a disk.
 *
 *  O-1  Memory is bounded: BF_OUTPUT_CHUNKS of BF_OUTPUT_CHUNK bytes, touched only as far as the
 *       file falls behind. What finds no room is left out, and counted.
 *  O-2  A slice that has its begin gets its end: for each that is open, room is kept back.
 *  O-3  The thread sleeps while nothing is pending, and writes what is pending for FLUSH_NS, a full
 *       chunk, or what bf_output_flush asks for.
 *  O-4  After an error the file ends with a whole packet, one line is printed, and everything from
 *       there on is counted as lost.
 *  O-5  A process has one output for a path, which all traces share that ask for it while it is
 *       open: of two devices one doesn't write to 'run.pftrace' and the other to 'run-1.pftrace'.
 *  O-6  What is pending when the program calls exit, or returns from main, gets into the file:
 *       nobody need have ended the trace. (A crash, a signal and _exit lose it; see T-1.)
 *
 * A child that a program forks has no such thread: what it reports is left out, and the file
 * stays its parent's. Traces that the child makes have an output of its own.
 *
 * Thread-safety: output->lock is held for all but join, part and drain; the thread takes it, too.
 * Proven by tests/trace/output.c and trace/file.c, and tests/fence/timeline.c.
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
#define BF_OUTPUT_END    384 /* bytes: no slice's end is longer */

struct bf_output_chunk {
    uint32_t size;
    uint32_t events;
    uint8_t data[BF_OUTPUT_CHUNK];
};

struct bf_output {
    struct bf_lock lock;    /* of all that its traces have, too */
    struct bf_output *next; /* of the process's, under their lock, as are the next two */
    char *asked;            /* the path as it was asked for; NULL: no file */
    uint32_t users;
    uint32_t joined; /* traces that there have been */
    struct bf_trace_file file;
    pid_t process;
    pthread_t thread;
    struct bf_output_chunk *chunks;

    struct bf_protobuf pb; /* over 'current' */
    uint32_t current;
    uint32_t free_count;
    uint32_t free[BF_OUTPUT_CHUNKS]; /* a stack: what was used last is warm */
    uint32_t full_begin;
    uint32_t full_count;
    uint32_t full[BF_OUTPUT_CHUNKS]; /* a ring, in the order of the file */
    uint64_t retired;                /* chunks ever put into the ring, */
    uint64_t written;                /* and done with */
    uint64_t pending_since_ns;       /* 0: nothing is in 'current' */
    uint64_t open;                   /* slices that have yet to end */
    uint64_t events;                 /* written to 'pb' */
    uint64_t lost;                   /* of these, that the file lacks */
    uint64_t bytes;                  /* written to the file */
    int error;                       /* on which the file was given up */
    bool flush;
    bool stop;
    bool sleeping; /* the thread wants to be woken for a change */
    bool wake;     /* by whoever releases the lock next */
    _Atomic uint32_t turn;
    _Atomic uint32_t progress;
};

/*
 * The process's output for that path: the one that is open, or a new one with a file and a thread;
 * without a path one that has no room ever. *number: the caller is the how-manieth to join, from 1.
 * Returns 0 or an errno, one line having been printed.
 */
int bf_output_join(const char *path, struct bf_output **output, uint32_t *number);

/* The caller has 'open' slices that will not end. What is pending will be written; the last to go
 * waits for that, and ends the thread and the file. */
void bf_output_part(struct bf_output *output, uint64_t open);

/* Is there room for one packet, of at most BF_PERFETTO_EVENT_MAX bytes? 'end': it ends a slice. */
bool bf_output_room(struct bf_output *output, bool end);

/* The packet that had room has been written to 'pb', from 'begin' on. */
void bf_output_wrote(struct bf_output *output, size_t begin, bool event, uint64_t now);

/* What is pending is written now rather than soon. */
void bf_output_flush(struct bf_output *output);

/* Releases the lock, and wakes the thread if there is something for it to do. */
void bf_output_leave(struct bf_output *output);

/* Returns when all that was written to 'pb' before is in the file, or never will be. */
void bf_output_drain(struct bf_output *output);

#endif
