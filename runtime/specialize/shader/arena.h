/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once: for copies of structs that point at each other.
 *
 * Thread-safety: for one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_ARENA_H
#define BELFRY_SPECIALIZE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bf_arena_block;

/* Zero-initialised is empty. */
struct bf_arena {
    struct bf_arena_block *blocks;
    bool failed;             /* some allocation failed: the copies are incomplete */
    _Atomic uint64_t *total; /* NULL: its size isn't counted */
    size_t besides;
};

/* From now on *total counts the arena's bytes, and 'besides' bytes for the object that it is
 * part of, until it is finished. To be called once. */
void bf_arena_count(struct bf_arena *arena, _Atomic uint64_t *total, size_t besides);

/* Zeroed, and aligned for any type. NULL: out of memory, and 'failed' is set. */
void *bf_arena_zeroed(struct bf_arena *arena, size_t size);
/* NULL for NULL, for no elements, and when out of memory. */
void *bf_arena_copy(struct bf_arena *arena, const void *array, size_t count, size_t size);
/* NULL for NULL, and when out of memory. */
char *bf_arena_text(struct bf_arena *arena, const char *text);
void bf_arena_finish(struct bf_arena *arena);

#endif
