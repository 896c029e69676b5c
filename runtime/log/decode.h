/* SPDX-License-Identifier: MIT */
/*
 * Takes a dump apart: bytes that hold one or several native fence logs (belfry/fence_log.h), one
 * after another. Nothing in them is trusted, and nothing outside them is read.
 *
 * The next log begins right behind the last entry of one, or, after zeros, where the 4 KiB page
 * ends that a buffer of its own would have filled. Zeros at the end are skipped the same way.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_LOG_DECODE_H
#define BELFRY_LOG_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "belfry/fence_log.h"

struct bf_log_dump {
    const uint8_t *bytes; /* 'size' of them; need not be aligned */
    uint64_t size;
    uint64_t next; /* where to look for the next log; begin with 0 */
};

/* One log in a dump. */
struct bf_log_decoded {
    uint64_t offset; /* of its header, in bytes */
    BfFenceLogType type;
    uint32_t entries;
    uint32_t index;
    uint32_t wraparounds;
    uint64_t written; /* entries in total, as far as 32 bits of wraparounds tell */
    uint64_t
        first; /* the sequence number of the oldest that is still there: so many are overwritten */
    uint32_t count; /* entries that are there */
};

enum bf_log_decode {
    BF_LOG_DECODE_LOG,   /* here is one */
    BF_LOG_DECODE_END,   /* there are no more */
    BF_LOG_DECODE_ERROR, /* what comes is no log; whether others follow can't be known */
};

/* The next log. At an error, 'text' ('size' bytes with the final zero) becomes one line, without
 * its end, that begins with the offset; the dump stays where it is. An empty dump is an error. */
enum bf_log_decode bf_log_decode_next(struct bf_log_dump *dump, struct bf_log_decoded *log,
                                      char *text, size_t size);

/* Entry i of log->count, the oldest being 0; it lies in slot bf_log_decode_slot. */
uint32_t bf_log_decode_slot(const struct bf_log_decoded *log, uint32_t i);
BfFenceLogEntry bf_log_decode_entry(const struct bf_log_dump *dump,
                                    const struct bf_log_decoded *log, uint32_t i);

#endif
