/* SPDX-License-Identifier: MIT */
/*
 * Decodes a dump: bytes that hold one or several native fence logs (belfry/fence_log.h), one after
 * another. Nothing in them is trusted, and nothing outside them is read.
 *
 * The next log begins right behind the last entry of the previous one; or, if zeros follow, at the
 * end of the 4 KiB page that a buffer of its own would have filled. Zeros at the end of the dump
 * are skipped in the same way.
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
    uint64_t written; /* entries in total, modulo 2^32 wraparounds */
    uint64_t first;   /* sequence number of the oldest entry not overwritten */
    uint32_t count;   /* entries that can be read */
};

enum bf_log_decode {
    BF_LOG_DECODE_LOG,   /* one was decoded */
    BF_LOG_DECODE_END,   /* the dump has no more */
    BF_LOG_DECODE_ERROR, /* what follows is no log; whether others come after it is unknown */
};

/* Decodes the next log. On an error, 'text' ('size' bytes with the final zero) gets one line,
 * without a newline, that begins with the offset; the dump stays at its place. An empty dump is an
 * error. */
enum bf_log_decode bf_log_decode_next(struct bf_log_dump *dump, struct bf_log_decoded *log,
                                      char *text, size_t size);

/* Entry i of log->count; 0 is the oldest. Its slot in the log is bf_log_decode_slot. */
uint32_t bf_log_decode_slot(const struct bf_log_decoded *log, uint32_t i);
BfFenceLogEntry bf_log_decode_entry(const struct bf_log_dump *dump,
                                    const struct bf_log_decoded *log, uint32_t i);

#endif
