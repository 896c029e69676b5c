/* SPDX-License-Identifier: MIT */
/* The memory of rings: made, read, given back. bfCreateRing and bfDestroyRing. */
#include "doorbell/ring.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"
#include "base/sealed_memory.h"
#include "base/structure.h"
#include "doorbell/doorbell.h"
#include "doorbell/kmt_handle.h"
#include "scheduler/scheduler.h"

/* The control has a page of its own, before the entries. */
#define CONTROL_SIZE 4096

_Static_assert(sizeof(BfRingEntry) == 64, "a cache line");
_Static_assert(sizeof(BfRingControl) <= CONTROL_SIZE, "before the entries");

static BfRingEntry *ring_entries(void *mapping)
{
    return (BfRingEntry *)((unsigned char *)mapping + CONTROL_SIZE);
}

static void *ring_map(int fd, size_t size)
{
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return mapping == MAP_FAILED ? NULL : mapping;
}

static void ring_free(struct bf_ring *ring)
{
    bf_kmt_remove(ring->buffer);
    bf_kmt_remove(ring->control);
    if (ring->own)
        munmap(ring->own, ring->size);
    if (ring->program)
        munmap(ring->program, ring->size);
    free(ring);
}

static VkResult ring_create(struct bf_scheduler *scheduler, uint32_t entry_count,
                            struct bf_ring **out)
{
    const size_t size = CONTROL_SIZE + entry_count * sizeof(BfRingEntry);
    struct bf_ring *ring = calloc(1, sizeof(*ring));
    if (!ring)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    *ring = (struct bf_ring){
        .scheduler = scheduler, .references = 1, .entry_count = entry_count, .size = size};
    int fd;
    VkResult result = bf_sealed_memory_create("belfry ring", size, &fd);
    if (result == VK_SUCCESS) {
        ring->program = ring_map(fd, size);
        ring->own = ring_map(fd, size);
        close(fd);
        ring->buffer = bf_kmt_add(BF_KMT_RING_BUFFER, ring);
        ring->control = bf_kmt_add(BF_KMT_RING_CONTROL, ring);
        if (!ring->program || !ring->own || !ring->buffer || !ring->control)
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != VK_SUCCESS) {
        ring_free(ring);
        return result;
    }
    *out = ring;
    return VK_SUCCESS;
}

void bf_ring_reference(struct bf_ring *ring)
{
    atomic_fetch_add(&ring->references, 1);
}

void bf_ring_release(struct bf_ring *ring)
{
    if (atomic_fetch_sub(&ring->references, 1) == 1)
        ring_free(ring);
}

void bf_rings_release(struct bf_doorbells *doorbells)
{
    while (doorbells->rings) {
        struct bf_ring *ring = doorbells->rings;
        doorbells->rings = ring->next;
        bf_ring_release(ring);
    }
}

uint64_t bf_ring_written(const struct bf_ring *ring)
{
    return __atomic_load_n(&ring->own->write, __ATOMIC_ACQUIRE);
}

void bf_ring_copy(const struct bf_ring *ring, uint64_t number, BfRingEntry *entry)
{
    const uint64_t *from =
        (const uint64_t *)(const void *)&ring_entries(ring->own)[number % ring->entry_count];
    uint64_t words[sizeof(*entry) / sizeof(uint64_t)];
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        words[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    memcpy(entry, words, sizeof(words));
}

void bf_ring_set_read(struct bf_ring *ring, uint64_t number)
{
    __atomic_store_n(&ring->own->read, number, __ATOMIC_RELEASE);
}

bool bf_ring_entry_is_valid(const BfRingEntry *entry)
{
    return !(entry->flags & ~(uint32_t)BF_RING_ENTRY_BARRIER_BIT) && !entry->reserved[0] &&
           !entry->reserved[1] && !entry->reserved[2];
}

VkResult bfCreateRing(BfDevice device, const BfRingCreateInfo *info, BfRing *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(device, __func__);
    if (!scheduler ||
        !bf_structure_check(info, BF_STRUCTURE_TYPE_RING_CREATE_INFO, __func__, "pInfo") ||
        !bf_structure_check(out, BF_STRUCTURE_TYPE_RING, __func__, "pRing"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const uint32_t count = info->entryCount;
    if (count < BF_RING_MIN_ENTRIES || count > BF_RING_MAX_ENTRIES || (count & (count - 1))) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfCreateRing: entryCount %u: not a power of two, or not %d to %d", count,
                   BF_RING_MIN_ENTRIES, BF_RING_MAX_ENTRIES);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_doorbells *doorbells;
    struct bf_ring *ring;
    VkResult result = bf_doorbells_of(scheduler, &doorbells);
    if (result == VK_SUCCESS)
        result = ring_create(scheduler, count, &ring);
    if (result != VK_SUCCESS)
        return result;
    bf_lock_acquire(&doorbells->lock);
    ring->next = doorbells->rings;
    if (ring->next)
        ring->next->previous = ring;
    doorbells->rings = ring;
    bf_lock_release(&doorbells->lock);
    out->hRingBuffer = ring->buffer;
    out->hRingBufferControl = ring->control;
    out->entryCount = count;
    out->pControl = ring->program;
    out->pEntries = ring_entries(ring->program);
    return VK_SUCCESS;
}

VkResult bfDestroyRing(BfKmtHandle handle)
{
    if (!handle)
        return VK_SUCCESS;
    struct bf_ring *ring = bf_kmt_check(handle, BF_KMT_RING_BUFFER, __func__, "hRingBuffer");
    if (!ring)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_doorbells *doorbells = ring->scheduler->doorbells;
    bf_kmt_remove(ring->buffer); /* nobody finds it any more */
    bf_kmt_remove(ring->control);
    ring->buffer = ring->control = 0; /* which others may get before it is freed */
    bf_lock_acquire(&doorbells->lock);
    if (ring->previous)
        ring->previous->next = ring->next;
    else
        doorbells->rings = ring->next;
    if (ring->next)
        ring->next->previous = ring->previous;
    bf_lock_release(&doorbells->lock);
    bf_ring_release(ring);
    return VK_SUCCESS;
}
