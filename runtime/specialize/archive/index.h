/*
 * What an archive knows, in memory: a key's verdict and whether it is barred, and a pipeline's keys.
 *
 * Entries are only ever added, and readers take no lock: tables are grown by publishing a larger one,
 * the smaller ones stay until the end, and what changes of an entry is one word. So whoever reads
 * may be a program's thread while a thread of the lowest priority stands still in the middle of an
 * insertion.
 *
 * Thread-safety: reading is safe at any time; of those that write, one at a time.
 */
#ifndef BELFRY_SPECIALIZE_ARCHIVE_INDEX_H
#define BELFRY_SPECIALIZE_ARCHIVE_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "specialize/archive/record.h"

struct bf_slots;

struct bf_index_entry {
    uint64_t hash; /* first, as in everything that a table holds */
    struct bf_archive_key key;
    _Atomic uint64_t state;         /* bf_index_known; 0: nothing is */
    struct bf_index_entry *sibling; /* the pipeline's next */
    uint64_t recency;               /* the writers': greater is later */
};

struct bf_index {
    _Atomic(struct bf_slots *) entries;   /* NULL: none yet */
    _Atomic(struct bf_slots *) pipelines; /* NULL: none yet */
    uint32_t count;                       /* of entries; the writers' */
    uint64_t recency;                     /* of the latest write; the writers' */
};

/* Zeros are an empty index. */
void bf_index_finish(struct bf_index *index);

/* The key is canonical. NULL: unknown. */
struct bf_index_entry *bf_index_find(const struct bf_index *index,
                                     const struct bf_archive_key *key);
/* Finds or adds. NULL: out of memory. */
struct bf_index_entry *bf_index_add(struct bf_index *index, const struct bf_archive_key *key);

/* The pipeline's keys, linked by 'sibling'; NULL: none. */
struct bf_index_entry *bf_index_pipeline(const struct bf_index *index,
                                         const uint8_t hash[BF_ARCHIVE_HASH]);

/* All entries, in no order; 'at' begins with 0. NULL: that was the last. The writers'. */
struct bf_index_entry *bf_index_next(const struct bf_index *index, uint32_t *at);

/* A verdict that was put stays below a strike, and isn't seen there. */
void bf_index_put(struct bf_index *index, struct bf_index_entry *entry,
                  const struct bf_verdict *verdict);
void bf_index_strike(struct bf_index *index, struct bf_index_entry *entry);

/* False: nothing is known of that entry. */
bool bf_index_known(const struct bf_index_entry *entry, struct bf_verdict *out);

#endif
