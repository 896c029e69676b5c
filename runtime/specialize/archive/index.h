/* SPDX-License-Identifier: MIT */
/*
 * What an archive knows, in memory: a verdict or strike per key, and the keys of a pipeline.
 *
 * Entries are only ever added, and readers take no lock: a table grows by publishing a larger one,
 * the smaller ones stay until the end, and the part of an entry that changes is one word. So a
 * program's thread may read while a background thread is stopped in the middle of an insertion.
 *
 * Thread-safety: reading is safe at any time; writers are serialised by the caller.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_INDEX_H
#define BELFRY_SPECIALIZE_ARCHIVE_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "specialize/archive/record.h"

struct bf_slots;

struct bf_index_entry {
    uint64_t hash; /* first, as in all entries of a table */
    struct bf_archive_key key;
    _Atomic uint64_t state;         /* see bf_index_known; 0: no verdict */
    struct bf_index_entry *sibling; /* the pipeline's next key */
    uint64_t recency;               /* for writers alone: greater is later */
};

struct bf_index {
    _Atomic(struct bf_slots *) entries;   /* NULL: none yet */
    _Atomic(struct bf_slots *) pipelines; /* NULL: none yet */
    uint32_t count;                       /* of entries; for writers alone */
    uint64_t recency;                     /* of the latest write; for writers alone */
};

/* Zeros are an empty index. */
void bf_index_finish(struct bf_index *index);

/* The key is canonical. NULL: unknown. */
struct bf_index_entry *bf_index_find(const struct bf_index *index,
                                     const struct bf_archive_key *key);
/* Finds or adds the key. NULL: out of memory. */
struct bf_index_entry *bf_index_add(struct bf_index *index, const struct bf_archive_key *key);

/* The pipeline's keys, linked by 'sibling'; NULL: none. */
struct bf_index_entry *bf_index_pipeline(const struct bf_index *index,
                                         const uint8_t hash[BF_ARCHIVE_HASH]);

/* Enumerates all entries, in no order; 'at' begins with 0. NULL: that was the last. For writers
 * alone. */
struct bf_index_entry *bf_index_next(const struct bf_index *index, uint32_t *at);

/* A verdict that is put below a strike is remembered but not found. */
void bf_index_put(struct bf_index *index, struct bf_index_entry *entry,
                  const struct bf_verdict *verdict);
void bf_index_strike(struct bf_index *index, struct bf_index_entry *entry);

/* False: the entry has no verdict. */
bool bf_index_known(const struct bf_index_entry *entry, struct bf_verdict *out);

#endif
