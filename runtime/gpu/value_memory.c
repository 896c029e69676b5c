/* SPDX-License-Identifier: MIT */
/* Value memory: places for fences' values in shared pages, and pages for single values. */
#include "gpu/value_memory.h"

#include <stdlib.h>

#include "gpu/gpu.h"

/* A free value in one of the pages of that kind. The lock is held. */
static bool value_memory_take_free(struct bf_value_memory_pages *pages,
                                   enum bf_value_memory_kind kind, struct bf_value_memory *memory)
{
    for (; pages; pages = pages->next) {
        if (pages->kind != kind || pages->single || pages->used == BF_VALUE_MEMORIES_PER_PAGE)
            continue;
        uint32_t i = 0;
        while (pages->taken[i] == UINT64_MAX)
            i++;
        uint32_t bit = (uint32_t)__builtin_ctzll(~pages->taken[i]);
        pages->taken[i] |= UINT64_C(1) << bit;
        pages->used++;
        *memory = (struct bf_value_memory){.pages = pages,
                                           .offset = (i * 64 + bit) * BF_VALUE_MEMORY_STRIDE};
        return true;
    }
    return false;
}

static void value_memories_free_unused(struct bf_gpu *gpu)
{
    struct bf_value_memories *value_memories = &gpu->value_memories;
    bf_lock_acquire(&value_memories->lock);
    struct bf_value_memory_pages *unused = value_memories->unused;
    value_memories->unused = NULL;
    bf_lock_release(&value_memories->lock);
    while (unused) {
        struct bf_value_memory_pages *next = unused->next;
        bf_buffer_destroy(gpu, &unused->buffer);
        free(unused);
        unused = next;
    }
}

static VkResult value_memory_pages_create(struct bf_gpu *gpu, enum bf_value_memory_kind kind,
                                          bool single, struct bf_value_memory_pages **out)
{
    static const enum bf_buffer_place places[] = {
        [BF_VALUE_MEMORY_CURRENT] = BF_BUFFER_SHOWN,
        [BF_VALUE_MEMORY_MONITORED] = BF_BUFFER_HOST,
        [BF_VALUE_MEMORY_LOCAL] = BF_BUFFER_DEVICE,
    };
    struct bf_value_memory_pages *pages = calloc(1, sizeof(*pages));
    if (!pages)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pages->kind = kind;
    pages->single = single;
    VkResult result = bf_buffer_create(gpu, single ? BF_VALUE_MEMORY_PAGE : BF_VALUE_MEMORY_PAGES,
                                       places[kind], &pages->buffer);
    if (result != VK_SUCCESS) {
        free(pages);
        return result;
    }
    *out = pages;
    return VK_SUCCESS;
}

VkResult bf_value_memory_create(struct bf_gpu *gpu, enum bf_value_memory_kind kind, bool single,
                                struct bf_value_memory *memory)
{
    struct bf_value_memories *value_memories = &gpu->value_memories;
    bool taken = false;
    value_memories_free_unused(gpu);
    if (!single) {
        bf_lock_acquire(&value_memories->lock);
        taken = value_memory_take_free(value_memories->pages, kind, memory);
        bf_lock_release(&value_memories->lock);
    }
    if (!taken) {
        struct bf_value_memory_pages *pages;
        VkResult result = value_memory_pages_create(gpu, kind, single, &pages);
        if (result != VK_SUCCESS)
            return result;
        if (single)
            *memory = (struct bf_value_memory){.pages = pages};
        else
            value_memory_take_free(pages, kind, memory);
        bf_lock_acquire(&value_memories->lock);
        pages->next = value_memories->pages;
        value_memories->pages = pages;
        bf_lock_release(&value_memories->lock);
    }
    char *mapped = memory->pages->buffer.mapped;
    if (mapped) {
        memory->value = (_Atomic uint64_t *)(mapped + memory->offset);
        atomic_store(memory->value, 0);
    }
    return VK_SUCCESS;
}

void bf_value_memory_destroy(struct bf_gpu *gpu, struct bf_value_memory *memory)
{
    struct bf_value_memories *value_memories = &gpu->value_memories;
    struct bf_value_memory_pages *pages = memory->pages;
    if (!pages)
        return;
    bf_lock_acquire(&value_memories->lock);
    if (pages->single) {
        struct bf_value_memory_pages **link = &value_memories->pages;
        while (*link != pages)
            link = &(*link)->next;
        *link = pages->next;
        pages->next = value_memories->unused;
        value_memories->unused = pages;
    } else {
        uint32_t i = memory->offset / BF_VALUE_MEMORY_STRIDE;
        pages->taken[i / 64] &= ~(UINT64_C(1) << (i % 64));
        pages->used--;
    }
    bf_lock_release(&value_memories->lock);
    *memory = (struct bf_value_memory){0};
}

void bf_value_memories_finish(struct bf_gpu *gpu)
{
    struct bf_value_memories *value_memories = &gpu->value_memories;
    value_memories_free_unused(gpu);
    while (value_memories->pages) {
        struct bf_value_memory_pages *next = value_memories->pages->next;
        bf_buffer_destroy(gpu, &value_memories->pages->buffer);
        free(value_memories->pages);
        value_memories->pages = next;
    }
}
