/* SPDX-License-Identifier: MIT */
/*
 * The file of a trace: created anew, appended to in whole packets, and closed at the first error.
 *
 * An existing regular file is never overwritten: "trace.pftrace" becomes "trace-1.pftrace", and so
 * on. So the processes of one run never write to each other's files; who wants a name to be free
 * ('belfry run --trace') removes what is there before. A character device (/dev/null, /dev/full) is
 * written to as it is. While a process writes a file, it holds a lock of fcntl(2) on it.
 *
 * Thread-safety: none; one thread at a time per file.
 */
#ifndef BELFRY_TRACE_FILE_H
#define BELFRY_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bf_trace_file {
    int fd;         /* -1: none, closed, or given up */
    char *path;     /* the path that was used; owned by the caller from a successful open on */
    uint64_t bytes; /* written */
    uint64_t device, node; /* which file it is */
    bool regular;          /* no device */
};

/* Returns 0 or an errno. */
int bf_trace_file_open(struct bf_trace_file *file, const char *path);
void bf_trace_file_close(struct bf_trace_file *file); /* 'path' stays */

/* Is the file still where it was created, and has nobody else written to it? */
bool bf_trace_file_is_there(const struct bf_trace_file *file);
/* Opens it again, after it was closed, to go on behind what is in it. Returns 0 or an errno. */
int bf_trace_file_reopen(struct bf_trace_file *file);

/* Writes 'size' bytes of whole Trace.packet elements, in one write(2). Returns 0 or an errno. After
 * an error the file is closed; it ends with the last packet that fitted, and has *kept bytes of
 * these. EBADF: the program has closed the descriptor. */
int bf_trace_file_write(struct bf_trace_file *file, const void *data, size_t size, size_t *kept);

/* How many of a sequence of whole Trace.packet elements are events. */
uint64_t bf_trace_file_events(const void *data, size_t size);

#endif
