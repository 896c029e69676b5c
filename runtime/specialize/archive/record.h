/* SPDX-License-Identifier: MIT */
/*
 * The records of an archive's file: what they look like, and how to find them among anything else.
 *
 * The file begins with a header of 16 bytes: "BelfryAr", the format's version, a CRC32C of those
 * 12. Then records of BF_RECORD_SIZE bytes, little endian:
 *
 *     0  4  "BfR2"
 *     4  4  CRC32C of bytes 8 to 95
 *     8  2  96, the record's length
 *    10  1  kind
 *    11  1  the key's form, 12: mask, 13: number of values
 *    14  2  reason (VERDICT)
 *    16 32  the key's hash
 *    48 32  its values, zeros after the last
 *    80  8  VERDICT: gain (4), n (4); BEGIN, END: the archive that wrote it
 *    88  4  BEGIN, END: the build's number in that archive
 *    92  1  VERDICT: code
 *    93  1  the key's mode
 *    94  2  0
 *
 * A reader goes from record to record; at anything else it looks for the next place that holds one.
 * A record can't hide another: all are of one length.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_RECORD_H
#define BELFRY_SPECIALIZE_ARCHIVE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "specialize/archive/archive.h"

#define BF_RECORD_SIZE    96
#define BF_HEADER_SIZE    16
#define BF_ARCHIVE_FORMAT 2

enum bf_record_kind {
    BF_RECORD_VERDICT = 1,
    BF_RECORD_BEGIN,
    BF_RECORD_END,
    BF_RECORD_STRIKE,
};

struct bf_record {
    enum bf_record_kind kind;
    struct bf_archive_key key;
    struct bf_verdict verdict; /* VERDICT */
    uint64_t owner;            /* BEGIN, END */
    uint32_t serial;           /* BEGIN, END */
};

enum bf_header {
    BF_HEADER_NONE, /* none, or a damaged one: what follows may still be records */
    BF_HEADER_OURS,
    BF_HEADER_FOREIGN, /* of another format */
};

uint32_t bf_crc32c(const void *data, size_t size);

void bf_header_encode(uint8_t out[BF_HEADER_SIZE]);
enum bf_header bf_header_decode(const uint8_t *in, size_t size);

/* The key is canonical (bf_archive_key_canonical). */
void bf_record_encode(const struct bf_record *record, uint8_t out[BF_RECORD_SIZE]);

/* False: it isn't a record, or not a valid one. */
bool bf_record_decode(const uint8_t in[BF_RECORD_SIZE], struct bf_record *record);

/* The values that don't matter become 0. False: the key is invalid. */
bool bf_archive_key_canonical(const struct bf_archive_key *key, struct bf_archive_key *out);

/* Both are canonical. */
bool bf_archive_key_equal(const struct bf_archive_key *a, const struct bf_archive_key *b);

/* Calls 'each' for every record between two offsets of the file, until it returns false. The
 * file may end before 'to'. Returns 0, or the error that ended the scan; records found until
 * then were passed on. */
int bf_record_scan(int fd, off_t from, off_t to,
                   bool (*each)(void *context, const struct bf_record *record), void *context);

#endif
