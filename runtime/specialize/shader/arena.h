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
    bool failed;             /* some allocation failed: what was copied is not complete */
    _Atomic uint64_t *total; /* NULL: it isn't counted */
    size_t besides;
};

/* Counts what it takes, bytes, in *total until it is finished, and 'besides' with it: of what the
 * arena is part of. Once. */
void bf_arena_count(struct bf_arena *arena, _Atomic uint64_t *total, size_t besides);

/* Zeroed, aligned for anything. NULL: out of memory, and 'failed' is set. */
void *bf_arena_zeroed(struct bf_arena *arena, size_t size);
/* NULL for NULL, for no elements, and where memory is out. */
void *bf_arena_copy(struct bf_arena *arena, const void *array, size_t count, size_t size);
/* NULL for NULL, and where memory is out. */
char *bf_arena_text(struct bf_arena *arena, const char *text);
void bf_arena_finish(struct bf_arena *arena);

#endif
