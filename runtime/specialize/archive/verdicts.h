/* SPDX-License-Identifier: MIT */
/*
 * The verdicts of one pipeline, in memory, and as they lie in a file of their own:
 *
 *     0  8  "BelfryAr"
 *     8  4  BF_ARCHIVE_FORMAT
 *    12  4  how many there are
 *    16 32  the pipeline's hash
 *    48     48 bytes each: values (8 of 4), gain (4), n (4), reason (2), code, mask, form, number
 *           of values (1 each), 2 of zeros
 *           CRC32C of all before it (4)
 *
 * in the machine's own order of bytes: a folder is one device's. The oldest come first.
 *
 * Thread-safety: one thread at a time; a set that nobody changes may be read by all.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_VERDICTS_H
#define BELFRY_SPECIALIZE_ARCHIVE_VERDICTS_H

#include "specialize/archive/archive.h"

#define BF_ARCHIVE_FORMAT 3

/* Of a pipeline: beyond, the oldest goes. */
#define BF_VERDICTS_MOST 256

#define BF_VERDICTS_BYTES_MOST (48 + 48 * BF_VERDICTS_MOST + 4)

struct bf_verdict_entry {
    uint32_t values[BF_ARCHIVE_VALUES];
    uint32_t gain, n;
    uint16_t reason;
    uint8_t code, mask, form, n_values;
    bool unwritten; /* not in a file, where it is zero; readers don't look at it */
    uint8_t zero;
};

struct bf_verdicts {
    struct bf_verdicts *older; /* that nobody takes up any more, but that may still be read */
    uint32_t count;
    struct bf_verdict_entry entries[];
};

/* Without those that don't matter, and with 'gain' and 'n' as they fit. False: the key, or the
 * verdict, is invalid. */
bool bf_verdict_entry_make(const struct bf_archive_key *key, const struct bf_verdict *verdict,
                           struct bf_verdict_entry *entry);

/* NULL: none for that key. */
const struct bf_verdict_entry *bf_verdicts_find(const struct bf_verdicts *verdicts,
                                                const struct bf_verdict_entry *key);

/* A copy with that entry in the place of an earlier one of its key, as the newest; 'verdicts' may
 * be NULL: none. NULL: out of memory. */
struct bf_verdicts *bf_verdicts_with(const struct bf_verdicts *verdicts,
                                     const struct bf_verdict_entry *entry);

/* What of them is to be found: without those that are forgotten, and none unwritten. Changes them
 * in place. */
void bf_verdicts_settle(struct bf_verdicts *verdicts);

/* The file. Returns its size, at most BF_VERDICTS_BYTES_MOST. */
size_t bf_verdicts_encode(const struct bf_verdicts *verdicts, const uint8_t hash[BF_ARCHIVE_HASH],
                          uint8_t *bytes);
/* *out: malloc'ed; empty where the bytes aren't a whole file of that pipeline. False: out of
 * memory. */
bool bf_verdicts_decode(const uint8_t *bytes, size_t size, const uint8_t hash[BF_ARCHIVE_HASH],
                        struct bf_verdicts **out);

uint32_t bf_crc32c(const void *data, size_t size);

#endif
