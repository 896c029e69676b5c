/* SPDX-License-Identifier: MIT */
/* The map from handles to objects: open addressing, read without a lock. */
#include "base/map.h"

#include <stdlib.h>

#define EMPTY   UINT64_C(0)
#define REMOVED UINT64_MAX

static uint64_t slot_key(struct bf_map_slot *slot)
{
    return atomic_load_explicit(&slot->key, memory_order_relaxed);
}

/* The release store of the key publishes the value to look-ups of this key; the release store of
 * the value publishes it to look-ups of the slot's former key (M-3). */
static void map_slot_fill(struct bf_map_slot *slot, uint64_t key, void *value)
{
    atomic_store_explicit(&slot->value, value, memory_order_release);
    atomic_store_explicit(&slot->key, key, memory_order_release);
}

/* Empties one of the old tables for reuse. NULL: there is none of that size. */
static struct bf_map_table *map_table_reuse(struct bf_map *map, struct bf_map_table *current,
                                            uint64_t size)
{
    struct bf_map_table **link = &current->older;
    while (*link && (*link)->mask != size - 1)
        link = &(*link)->older;
    struct bf_map_table *t = *link;
    if (!t)
        return NULL;
    *link = t->older;
    atomic_fetch_add(&map->reused, 1);
    for (uint64_t i = 0; i < size; i++)
        map_slot_fill(&t->slots[i], EMPTY, NULL);
    return t;
}

/* A table that will be at most half full after the live keys have moved to it. */
static struct bf_map_table *map_table_grow(struct bf_map *map, struct bf_map_table *old)
{
    uint64_t size = 64;
    while (size < 4 * (map->live + 1))
        size *= 2;
    struct bf_map_table *t = old ? map_table_reuse(map, old, size) : NULL;
    if (!t) {
        t = calloc(1, sizeof(*t) + size * sizeof(t->slots[0]));
        if (!t)
            return NULL;
        t->mask = size - 1; /* never changed again: readers may be using the table from now on */
    }
    t->older = old;
    for (uint64_t i = 0; old && i <= old->mask; i++) {
        uint64_t key = slot_key(&old->slots[i]);
        if (key == EMPTY || key == REMOVED)
            continue;
        uint64_t j = bf_map_hash(key);
        while (slot_key(&t->slots[j & t->mask]) != EMPTY)
            j++;
        map_slot_fill(&t->slots[j & t->mask], key, atomic_load(&old->slots[i].value));
    }
    map->used = map->live;
    atomic_store_explicit(&map->table, t, memory_order_release);
    return t;
}

/* The slot of the key, or NULL; the lock is held. */
static struct bf_map_slot *map_table_slot(struct bf_map_table *t, uint64_t key)
{
    for (uint64_t i = bf_map_hash(key); t; i++) {
        struct bf_map_slot *slot = &t->slots[i & t->mask];
        uint64_t found = slot_key(slot);
        if (found == key || found == EMPTY)
            return found == key ? slot : NULL;
    }
    return NULL;
}

bool bf_map_insert(struct bf_map *map, uint64_t key, void *value)
{
    if (key == EMPTY || key == REMOVED)
        return false;
    bf_lock_acquire(&map->lock);
    struct bf_map_table *t = atomic_load_explicit(&map->table, memory_order_relaxed);
    struct bf_map_slot *there = map_table_slot(t, key);
    if (there) {
        atomic_store_explicit(&there->value, value, memory_order_release);
        bf_lock_release(&map->lock);
        return true;
    }
    if (!t || 2 * (map->used + 1) > t->mask) {
        t = map_table_grow(map, t);
        if (!t) {
            bf_lock_release(&map->lock);
            return false;
        }
    }
    struct bf_map_slot *target = NULL;
    for (uint64_t i = bf_map_hash(key);; i++) {
        struct bf_map_slot *slot = &t->slots[i & t->mask];
        uint64_t found = slot_key(slot);
        if (found == REMOVED && !target)
            target = slot;
        if (found == EMPTY) {
            if (!target) {
                target = slot;
                map->used++;
            }
            break;
        }
    }
    map->live++;
    map_slot_fill(target, key, value);
    bf_lock_release(&map->lock);
    return true;
}

void *bf_map_remove(struct bf_map *map, uint64_t key)
{
    void *value = NULL;
    if (key == EMPTY || key == REMOVED)
        return NULL;
    bf_lock_acquire(&map->lock);
    struct bf_map_table *t = atomic_load_explicit(&map->table, memory_order_relaxed);
    for (uint64_t i = bf_map_hash(key); t; i++) {
        struct bf_map_slot *slot = &t->slots[i & t->mask];
        uint64_t found = slot_key(slot);
        if (found == EMPTY)
            break;
        if (found != key)
            continue;
        value = atomic_load_explicit(&slot->value, memory_order_relaxed);
        atomic_store_explicit(&slot->key, REMOVED, memory_order_release);
        map->live--;
        /* M-2: empties the removed slots that lie directly before an EMPTY one. */
        while (slot_key(&t->slots[(i + 1) & t->mask]) == EMPTY &&
               slot_key(&t->slots[i & t->mask]) == REMOVED) {
            atomic_store_explicit(&t->slots[i & t->mask].key, EMPTY, memory_order_release);
            map->used--;
            i--;
        }
        break;
    }
    bf_lock_release(&map->lock);
    return value;
}

void bf_map_walk(struct bf_map *map, void (*visit)(void *value, void *context), void *context)
{
    bf_lock_acquire(&map->lock);
    struct bf_map_table *t = atomic_load(&map->table);
    for (uint64_t i = 0; t && i <= t->mask; i++) {
        uint64_t key = slot_key(&t->slots[i]);
        if (key != EMPTY && key != REMOVED)
            visit(atomic_load(&t->slots[i].value), context);
    }
    bf_lock_release(&map->lock);
}

void bf_map_finish(struct bf_map *map, void (*visit)(void *value, void *context), void *context)
{
    struct bf_map_table *t = atomic_load(&map->table);
    if (visit)
        bf_map_walk(map, visit, context);
    while (t) {
        struct bf_map_table *older = t->older;
        free(t);
        t = older;
    }
    *map = (struct bf_map){.live = 0};
}
