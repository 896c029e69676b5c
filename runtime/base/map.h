/* SPDX-License-Identifier: MIT */
/*
 * Handle → object, read without a lock.
 *
 * Vulkan's rules make this simple: a handle is looked up only by somebody who was given it (so the
 * insertion happened before) and never while it is being destroyed (so the removal happens after).
 *
 * M-1  A live key's slot never changes within a table; a new table is complete before it is
 *      published, and the old one stays readable: it is freed when the map is finished, and serves
 *      anew before, as M-3 says.
 * M-2  A slot becomes EMPTY again only when the slot behind it is EMPTY, so that no live key's
 *      probe sequence ever crosses an EMPTY slot.
 * M-3  Where removed slots fill a table up, an old one of the wanted size takes its place, if there
 *      is one: of each size there are two at most, however long objects come and go. Who has been
 *      looking into that one all the while finds 'reused' changed, and begins anew. (That counter
 *      changes before any slot; slots are stored with release, and loaded with acquire.)
 * Together: a look-up of a live key finds it, whatever else is inserted and removed meanwhile.
 * Proven by tests/base/map.c.
 *
 * Thread-safety: bf_map_find takes no lock; insert and remove lock internally; init and finish are
 * for one thread.
 */
#ifndef BELFRY_BASE_MAP_H
#define BELFRY_BASE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct bf_map_slot {
    _Atomic uint64_t key; /* 0 EMPTY, UINT64_MAX REMOVED: neither is a Vulkan handle */
    _Atomic(void *) value;
};

struct bf_map_table {
    struct bf_map_table *older;
    uint64_t mask;
    struct bf_map_slot slots[];
};

struct bf_map {
    _Atomic(struct bf_map_table *) table; /* NULL until the first insertion */
    _Atomic uint64_t reused;              /* how often an old table was reused */
    struct bf_lock lock;
    uint64_t used; /* slots not EMPTY */
    uint64_t live;
};

static inline uint64_t bf_map_hash(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 29);
}

static inline void *bf_map_find(struct bf_map *map, uint64_t key)
{
    for (;;) {
        uint64_t reused = atomic_load_explicit(&map->reused, memory_order_acquire);
        struct bf_map_table *t = atomic_load_explicit(&map->table, memory_order_acquire);
        if (!t)
            return NULL;
        uint64_t i = bf_map_hash(key), found;
        while ((found = atomic_load_explicit(&t->slots[i & t->mask].key, memory_order_acquire)) !=
                   key &&
               found != 0)
            i++;
        /* No key is 0; an EMPTY slot has no value. */
        void *value =
            found ? atomic_load_explicit(&t->slots[i & t->mask].value, memory_order_acquire) : NULL;
        if (atomic_load_explicit(&map->reused, memory_order_relaxed) == reused)
            return value;
    }
}

/* Inserts a key, or replaces its value, which needs no memory. False: out of memory, nothing
 * changed. */
bool bf_map_insert(struct bf_map *map, uint64_t key, void *value);

/* Removes a key. Returns its value, or NULL if it was not there. */
void *bf_map_remove(struct bf_map *map, uint64_t key);

/* Calls 'visit' for each value, under the lock: none is removed meanwhile. */
void bf_map_walk(struct bf_map *map, void (*visit)(void *value, void *context), void *context);

/* Calls 'visit' for each value (NULL: none) and frees the tables. */
void bf_map_finish(struct bf_map *map, void (*visit)(void *value, void *context), void *context);

#endif
