/* SPDX-License-Identifier: MIT */
/* The archive's memory: hash tables that readers use without a lock while one writer adds to
 * them. */
#include "specialize/archive/index.h"

#include <stdlib.h>
#include <string.h>

/* Open addressing, at most half full; the entries begin with their hash. */
struct bf_slots {
    struct bf_slots *smaller; /* earlier tables, which readers may still be in */
    uint32_t mask;
    uint32_t count;
    _Atomic(void *) at[];
};

struct pipeline {
    uint64_t hash;
    uint8_t id[BF_ARCHIVE_HASH];
    _Atomic(struct bf_index_entry *) first;
};

#define SLOTS_FIRST 64

/* --------------------------------------------------------------------------------------- Hashes */

static uint64_t index_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static uint64_t pipeline_hash(const uint8_t id[BF_ARCHIVE_HASH])
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < BF_ARCHIVE_HASH; i += 8) {
        uint64_t word;
        memcpy(&word, id + i, 8);
        hash = index_mix(hash, word);
    }
    return hash;
}

static uint64_t key_hash(const struct bf_archive_key *key)
{
    uint64_t hash = pipeline_hash(key->hash);
    for (uint32_t i = 0; i < key->n_values; i++)
        hash = index_mix(hash, key->values[i]);
    return index_mix(hash, (uint64_t)key->n_values << 16 | (uint64_t)key->mask << 8 | key->form);
}

/* --------------------------------------------------------------------------------------- Tables */

static void slots_place(struct bf_slots *slots, void *thing, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & slots->mask;
    while (atomic_load_explicit(&slots->at[at], memory_order_relaxed))
        at = (at + 1) & slots->mask;
    atomic_store_explicit(&slots->at[at], thing, memory_order_release);
    slots->count++;
}

/* Makes space for one more entry, if need be by publishing a table of twice the size. False: out
 * of memory. */
static bool slots_reserve(_Atomic(struct bf_slots *) *table)
{
    struct bf_slots *old = atomic_load_explicit(table, memory_order_relaxed);
    if (old && old->count < (old->mask + 1) / 2)
        return true;
    uint32_t capacity = old ? 2 * (old->mask + 1) : SLOTS_FIRST;
    struct bf_slots *slots = calloc(1, sizeof(*slots) + capacity * sizeof(slots->at[0]));
    if (!slots)
        return false;
    slots->mask = capacity - 1;
    slots->smaller = old;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint64_t *thing = atomic_load_explicit(&old->at[i], memory_order_relaxed);
        if (thing)
            slots_place(slots, thing, *thing);
    }
    atomic_store_explicit(table, slots, memory_order_release);
    return true;
}

static void slots_finish(struct bf_slots *slots)
{
    for (uint32_t i = 0; slots && i <= slots->mask; i++)
        free(atomic_load_explicit(&slots->at[i], memory_order_relaxed));
    while (slots) {
        struct bf_slots *smaller = slots->smaller;
        free(slots);
        slots = smaller;
    }
}

static struct pipeline *pipeline_find(const struct bf_index *index,
                                      const uint8_t id[BF_ARCHIVE_HASH])
{
    const struct bf_slots *slots = atomic_load_explicit(&index->pipelines, memory_order_acquire);
    if (!slots)
        return NULL;
    uint64_t hash = pipeline_hash(id);
    for (uint32_t at = (uint32_t)hash & slots->mask;; at = (at + 1) & slots->mask) {
        struct pipeline *p = atomic_load_explicit(&slots->at[at], memory_order_acquire);
        if (!p || (p->hash == hash && memcmp(p->id, id, sizeof(p->id)) == 0))
            return p;
    }
}

static struct pipeline *pipeline_add(struct bf_index *index, const uint8_t id[BF_ARCHIVE_HASH])
{
    struct pipeline *p = pipeline_find(index, id);
    if (p)
        return p;
    if (!slots_reserve(&index->pipelines))
        return NULL;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->hash = pipeline_hash(id);
    memcpy(p->id, id, sizeof(p->id));
    slots_place(atomic_load_explicit(&index->pipelines, memory_order_relaxed), p, p->hash);
    return p;
}

/* ---------------------------------------------------------------------------------------- Index */

void bf_index_finish(struct bf_index *index)
{
    slots_finish(atomic_load_explicit(&index->entries, memory_order_relaxed));
    slots_finish(atomic_load_explicit(&index->pipelines, memory_order_relaxed));
    memset(index, 0, sizeof(*index));
}

struct bf_index_entry *bf_index_find(const struct bf_index *index, const struct bf_archive_key *key)
{
    const struct bf_slots *slots = atomic_load_explicit(&index->entries, memory_order_acquire);
    if (!slots)
        return NULL;
    uint64_t hash = key_hash(key);
    for (uint32_t at = (uint32_t)hash & slots->mask;; at = (at + 1) & slots->mask) {
        struct bf_index_entry *entry = atomic_load_explicit(&slots->at[at], memory_order_acquire);
        if (!entry || (entry->hash == hash && bf_archive_key_equal(&entry->key, key)))
            return entry;
    }
}

struct bf_index_entry *bf_index_add(struct bf_index *index, const struct bf_archive_key *key)
{
    struct bf_index_entry *entry = bf_index_find(index, key);
    if (entry)
        return entry;
    /* If the entry can't be added its pipeline may stay behind without keys, which is harmless. */
    struct pipeline *pipeline = pipeline_add(index, key->hash);
    if (!pipeline || !slots_reserve(&index->entries))
        return NULL;
    entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->hash = key_hash(key);
    entry->key = *key;
    entry->recency = ++index->recency;
    entry->sibling = atomic_load_explicit(&pipeline->first, memory_order_relaxed);
    slots_place(atomic_load_explicit(&index->entries, memory_order_relaxed), entry, entry->hash);
    atomic_store_explicit(&pipeline->first, entry, memory_order_release);
    index->count++;
    return entry;
}

struct bf_index_entry *bf_index_pipeline(const struct bf_index *index,
                                         const uint8_t hash[BF_ARCHIVE_HASH])
{
    struct pipeline *pipeline = pipeline_find(index, hash);
    return pipeline ? atomic_load_explicit(&pipeline->first, memory_order_acquire) : NULL;
}

struct bf_index_entry *bf_index_next(const struct bf_index *index, uint32_t *at)
{
    const struct bf_slots *slots = atomic_load_explicit(&index->entries, memory_order_acquire);
    while (slots && *at <= slots->mask) {
        struct bf_index_entry *entry =
            atomic_load_explicit(&slots->at[(*at)++], memory_order_acquire);
        if (entry)
            return entry;
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------- State */

/* A single word: gain in bits 0..23, n in 24..44, reason in 45..60, barred in 61, code in
 * 62..63. */
#define STATE_BARRED ((uint64_t)1 << 61)

void bf_index_put(struct bf_index *index, struct bf_index_entry *entry,
                  const struct bf_verdict *verdict)
{
    uint32_t gain = verdict->gain < BF_VERDICT_GAIN_MOST ? verdict->gain : BF_VERDICT_GAIN_MOST;
    uint32_t n = verdict->n < BF_VERDICT_N_MOST ? verdict->n : BF_VERDICT_N_MOST;
    uint64_t state = (uint64_t)gain | (uint64_t)n << 24 | (uint64_t)verdict->reason << 45 |
                     (uint64_t)verdict->code << 62;
    if (verdict->code == BF_VERDICT_FORGOTTEN)
        state = 0;
    state |= atomic_load_explicit(&entry->state, memory_order_relaxed) & STATE_BARRED;
    atomic_store_explicit(&entry->state, state, memory_order_relaxed);
    entry->recency = ++index->recency;
}

void bf_index_strike(struct bf_index *index, struct bf_index_entry *entry)
{
    uint64_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    atomic_store_explicit(&entry->state, state | STATE_BARRED, memory_order_relaxed);
    entry->recency = ++index->recency;
}

bool bf_index_known(const struct bf_index_entry *entry, struct bf_verdict *out)
{
    uint64_t state = atomic_load_explicit(&entry->state, memory_order_relaxed);
    if (!state)
        return false;
    *out = (struct bf_verdict){.code = BF_VERDICT_BARRED};
    if (!(state & STATE_BARRED))
        *out = (struct bf_verdict){.code = (enum bf_verdict_code)(state >> 62),
                                   .reason = (uint16_t)(state >> 45),
                                   .n = (uint32_t)(state >> 24) & BF_VERDICT_N_MOST,
                                   .gain = (uint32_t)state & BF_VERDICT_GAIN_MOST};
    return true;
}
