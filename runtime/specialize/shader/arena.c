/* SPDX-License-Identifier: MIT */
/* An arena: blocks of memory that are freed together. */
#include "specialize/shader/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 2000 /* the copies of most pipelines fit into one */

struct bf_arena_block {
    struct bf_arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void *bf_arena_zeroed(struct bf_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    struct bf_arena_block *block = arena->blocks;
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size = (size + align - 1) / align * align;
    if (!block || block->size - block->used < size) {
        size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = calloc(1, sizeof(*block) + room);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
        if (arena->total)
            atomic_fetch_add(arena->total, sizeof(*block) + room);
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

void *bf_arena_copy(struct bf_arena *arena, const void *array, size_t count, size_t size)
{
    if (!array || count == 0 || size == 0)
        return NULL;
    void *copy = NULL;
    if (count > SIZE_MAX / size)
        arena->failed = true;
    else
        copy = bf_arena_zeroed(arena, count * size);
    if (copy)
        memcpy(copy, array, count * size);
    return copy;
}

char *bf_arena_text(struct bf_arena *arena, const char *text)
{
    return text ? bf_arena_copy(arena, text, strlen(text) + 1, 1) : NULL;
}

static size_t all_bytes(const struct bf_arena *arena)
{
    size_t bytes = arena->besides;
    for (const struct bf_arena_block *block = arena->blocks; block; block = block->next)
        bytes += sizeof(*block) + block->size;
    return bytes;
}

void bf_arena_count(struct bf_arena *arena, _Atomic uint64_t *total, size_t besides)
{
    arena->total = total;
    arena->besides = besides;
    if (total)
        atomic_fetch_add(total, all_bytes(arena));
}

void bf_arena_finish(struct bf_arena *arena)
{
    if (arena->total)
        atomic_fetch_sub(arena->total, all_bytes(arena));
    arena->total = NULL;
    while (arena->blocks) {
        struct bf_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
}
