/* SPDX-License-Identifier: MIT */
/*
 * Words: where the current and the monitored values of native fences are stored. 64 bits each,
 * written and read in one piece by GPU and CPU.
 *
 * Those of a process's own fences are packed, a stride apart, in pages that they share; current and
 * monitored values never in the same. One that is to be shared has a page to itself. A stride is a
 * cache line: who polls one value isn't disturbed by writes of the next.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_GPU_VALUE_MEMORY_H
#define BELFRY_GPU_VALUE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/memory.h"
#include "base/lock.h"

#define BF_VALUE_MEMORY_STRIDE     64    /* bytes from one to the next */
#define BF_VALUE_MEMORY_PAGE       4096  /* bytes of a page that one has to itself */
#define BF_VALUE_MEMORY_PAGES      65536 /* bytes that are allocated at a time for the others */
#define BF_VALUE_MEMORIES_PER_PAGE (BF_VALUE_MEMORY_PAGES / BF_VALUE_MEMORY_STRIDE)

struct bf_gpu;

enum bf_value_memory_kind {
    BF_VALUE_MEMORY_CURRENT,   /* the program sees it */
    BF_VALUE_MEMORY_MONITORED, /* it doesn't */
    BF_VALUE_MEMORY_LOCAL,     /* in the GPU's own memory: the CPU doesn't either */
    BF_VALUE_MEMORY_KIND_COUNT,
};

struct bf_value_memory_pages {
    struct bf_value_memory_pages *next;
    struct bf_buffer buffer;
    enum bf_value_memory_kind kind;
    bool single;
    uint32_t used;
    uint64_t taken[BF_VALUE_MEMORIES_PER_PAGE / 64];
};

struct bf_value_memory {
    struct bf_value_memory_pages *pages; /* NULL: there is none */
    uint32_t offset;                     /* bytes into their buffer */
    _Atomic uint64_t *value;             /* NULL: in the GPU's own memory */
};

/* A device's; zeroed is empty. */
struct bf_value_memories {
    struct bf_lock lock; /* a leaf; no driver call is made under it */
    struct bf_value_memory_pages *pages;
    struct bf_value_memory_pages *unused; /* single ones, to be freed */
};

/* Errors: those of bf_buffer_create. The word is 0, save for one in the GPU's own memory. */
VkResult bf_value_memory_create(struct bf_gpu *gpu, enum bf_value_memory_kind kind, bool single,
                                struct bf_value_memory *memory);

/* Calls no driver: it may be called under any lock. A zeroed one is allowed. The GPU writes to it
 * no more. */
void bf_value_memory_destroy(struct bf_gpu *gpu, struct bf_value_memory *memory);

void bf_value_memories_finish(struct bf_gpu *gpu);

static inline uint64_t bf_value_memory_address(const struct bf_value_memory *memory)
{
    return memory->pages && memory->pages->buffer.address
               ? memory->pages->buffer.address + memory->offset
               : 0;
}

#endif
