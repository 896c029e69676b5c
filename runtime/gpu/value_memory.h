/* SPDX-License-Identifier: MIT */
/*
 * Value memory: the 64-bit current and monitored values of native fences, each written and read
 * atomically by GPU and CPU.
 *
 * The values of fences that are not shared lie in common pages, a stride apart; current and
 * monitored values never share a page. The values of a shared fence have a page each. The stride is
 * a cache line, so that whoever polls one value isn't slowed by writes of the next.
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

#define BF_VALUE_MEMORY_STRIDE     64    /* bytes from one value to the next */
#define BF_VALUE_MEMORY_PAGE       4096  /* bytes of a page for a single value */
#define BF_VALUE_MEMORY_PAGES      65536 /* bytes of an allocation for many */
#define BF_VALUE_MEMORIES_PER_PAGE (BF_VALUE_MEMORY_PAGES / BF_VALUE_MEMORY_STRIDE)

struct bf_gpu;

enum bf_value_memory_kind {
    BF_VALUE_MEMORY_CURRENT,   /* the program sees it */
    BF_VALUE_MEMORY_MONITORED, /* the program doesn't see it */
    BF_VALUE_MEMORY_LOCAL,     /* device-local: the CPU doesn't see it either */
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
    uint32_t offset;                     /* bytes from the start of the pages */
    _Atomic uint64_t *value;             /* mapped; NULL: device-local */
};

/* All value memory of a device. A zeroed struct is empty. */
struct bf_value_memories {
    struct bf_lock lock; /* a leaf; no driver call is made under it */
    struct bf_value_memory_pages *pages;
    struct bf_value_memory_pages *unused; /* of single values; freed by the next creation */
};

/* Errors: those of bf_buffer_create. The value is 0; in device-local memory it is undefined. */
VkResult bf_value_memory_create(struct bf_gpu *gpu, enum bf_value_memory_kind kind, bool single,
                                struct bf_value_memory *memory);

/* Calls no driver, so any lock may be held. A zeroed struct is allowed. The GPU no longer writes to
 * it. */
void bf_value_memory_destroy(struct bf_gpu *gpu, struct bf_value_memory *memory);

void bf_value_memories_finish(struct bf_gpu *gpu);

static inline uint64_t bf_value_memory_address(const struct bf_value_memory *memory)
{
    return memory->pages && memory->pages->buffer.address
               ? memory->pages->buffer.address + memory->offset
               : 0;
}

#endif
