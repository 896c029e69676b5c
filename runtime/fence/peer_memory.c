/* SPDX-License-Identifier: MIT */
/* The peer memory: claims of peer timelines, their points, and what wakes the openers. */
#include "fence/peer_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"
#include "base/sealed_memory.h"

_Static_assert(BF_PEER_MEMORY_TIMELINES <= 32, "a mask's bits");

VkResult bf_peer_memory_create(int *out)
{
    int fd;
    VkResult result = bf_sealed_memory_create("belfry fence peers", BF_PEER_MEMORY_SIZE, &fd);
    if (result != VK_SUCCESS)
        return result;
    struct bf_peer_memory *area =
        mmap(NULL, BF_PEER_MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED) {
        close(fd);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < BF_SHARED_SLOTS; i++)
        atomic_store(&area->slots[i].wanted, UINT64_MAX);
    atomic_store(&area->version, BF_PEER_MEMORY_VERSION);
    atomic_store(&area->magic, BF_PEER_MEMORY_MAGIC);
    munmap(area, BF_PEER_MEMORY_SIZE);
    *out = fd;
    return VK_SUCCESS;
}

VkResult bf_peer_memory_join(struct bf_peer_memory_view *view, int fd, const char *call)
{
    void *area;
    *view = (struct bf_peer_memory_view){.fd = -1};
    VkResult result = bf_shared_memory_open(fd, BF_PEER_MEMORY_SIZE, call, &view->fd, &area);
    if (result != VK_SUCCESS)
        return result;
    view->memory = area;
    uint64_t magic = atomic_load(&view->memory->magic);
    uint32_t version = atomic_load(&view->memory->version);
    if (magic == BF_PEER_MEMORY_MAGIC && version == BF_PEER_MEMORY_VERSION)
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR, "%s: fd: no peer memory of this version: magic 0x%llx, version %u",
               call, (unsigned long long)magic, version);
    bf_peer_memory_leave(view);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

void bf_peer_memory_leave(struct bf_peer_memory_view *view)
{
    if (view->memory)
        munmap(view->memory, BF_PEER_MEMORY_SIZE);
    view->memory = NULL;
    view->claimed = 0;
    if (view->fd != -1)
        close(view->fd); /* and with it the locks go */
    view->fd = -1;
}

/* --- Claims ------------------------------------------------------------------------------------*/

static struct flock peer_memory_lock_of(uint32_t peer_timeline, short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)peer_timeline, .l_len = 1};
}

bool bf_peer_memory_claim(struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    struct bf_peer_memory_timeline *c = &view->memory->timelines[peer_timeline];
    struct flock lock = peer_memory_lock_of(peer_timeline, F_WRLCK);
    if (fcntl(view->fd, F_OFD_SETLK, &lock) == -1)
        return false;
    if (atomic_exchange(&c->used, 1)) { /* it died */
        lock = peer_memory_lock_of(peer_timeline, F_UNLCK);
        fcntl(view->fd, F_OFD_SETLK, &lock);
        return false;
    }
    view->claimed |= UINT32_C(1) << peer_timeline;
    return true;
}

void bf_peer_memory_unclaim(struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    struct flock lock = peer_memory_lock_of(peer_timeline, F_UNLCK);
    view->claimed &= ~(UINT32_C(1) << peer_timeline);
    atomic_store(&view->memory->timelines[peer_timeline].used, 0);
    fcntl(view->fd, F_OFD_SETLK, &lock);
}

bool bf_peer_memory_is_claimed(const struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    struct flock lock = peer_memory_lock_of(peer_timeline, F_WRLCK);
    return fcntl(view->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void bf_peer_memory_abandon(struct bf_peer_memory_view *view)
{
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
        struct flock lock = peer_memory_lock_of(i, F_UNLCK);
        if (view->claimed & UINT32_C(1) << i)
            fcntl(view->fd, F_OFD_SETLK, &lock);
    }
    view->claimed = 0;
}

bool bf_peer_memory_begin_release(const struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    struct flock lock = peer_memory_lock_of(BF_PEER_MEMORY_TIMELINES + peer_timeline, F_WRLCK);
    return fcntl(view->fd, F_OFD_SETLK, &lock) == 0;
}

void bf_peer_memory_end_release(const struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    struct flock lock = peer_memory_lock_of(BF_PEER_MEMORY_TIMELINES + peer_timeline, F_UNLCK);
    fcntl(view->fd, F_OFD_SETLK, &lock);
}

uint64_t bf_peer_memory_last_point(const struct bf_peer_memory_view *view, uint32_t peer_timeline)
{
    const struct bf_peer_memory_timeline *c = &view->memory->timelines[peer_timeline];
    uint64_t begun = atomic_load(&c->begun), applied = atomic_load(&c->applied);
    return begun > applied ? begun : applied;
}

/* --- Signals -----------------------------------------------------------------------------------*/

void bf_peer_memory_publish(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                            uint32_t peer_timeline, uint64_t point, uint64_t value)
{
    struct bf_peer_memory_entry *entry =
        &view->memory->timelines[peer_timeline].entries[point % BF_PEER_MEMORY_ENTRIES];
    atomic_store(&entry->point, 0);
    atomic_store(&entry->value, value);
    atomic_store(&entry->point, point);
    struct bf_shared_live live = bf_shared_page_live(page);
    for (uint32_t slot; bf_shared_live_next(&live, &slot);) {
        if (value > atomic_load(&view->memory->slots[slot].wanted))
            bf_shared_page_wake_slot(page, slot);
    }
}

void bf_peer_memory_begin(struct bf_peer_memory_view *view, uint32_t peer_timeline, uint64_t point)
{
    atomic_store(&view->memory->timelines[peer_timeline].begun, point);
}

void bf_peer_memory_apply(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                          uint32_t peer_timeline, uint64_t point)
{
    atomic_store(&view->memory->timelines[peer_timeline].applied, point);
    struct bf_shared_live live = bf_shared_page_live(page);
    for (uint32_t slot; bf_shared_live_next(&live, &slot);) {
        if (atomic_load(&view->memory->slots[slot].waits_for_peer))
            bf_shared_page_wake_slot(page, slot);
    }
}

/* The peer timeline's first point on its way with at least the value; 0: none. */
static uint64_t peer_memory_first_point(const struct bf_peer_memory_timeline *c, uint64_t value)
{
    uint64_t first = 0, begun = atomic_load(&c->begun);
    for (uint32_t i = 0; i < BF_PEER_MEMORY_ENTRIES; i++) {
        uint64_t point = atomic_load(&c->entries[i].point);
        bool reaches = atomic_load(&c->entries[i].value) >= value;
        if (point > begun && reaches && (!first || point < first) &&
            atomic_load(&c->entries[i].point) == point)
            first = point;
    }
    return first;
}

bool bf_peer_memory_find(const struct bf_peer_memory_view *view, uint64_t value,
                         uint32_t *peer_timeline, uint64_t *point)
{
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
        if (view->claimed & UINT32_C(1) << i)
            continue;
        uint64_t found = peer_memory_first_point(&view->memory->timelines[i], value);
        if (!found || !bf_peer_memory_is_claimed(view, i))
            continue;
        *peer_timeline = i;
        *point = found;
        return true;
    }
    return false;
}

bool bf_peer_memory_largest(const struct bf_peer_memory_view *view, uint64_t *value)
{
    bool any = false;
    *value = 0;
    for (uint32_t i = 0; i < BF_PEER_MEMORY_TIMELINES; i++) {
        const struct bf_peer_memory_timeline *c = &view->memory->timelines[i];
        uint64_t begun = atomic_load(&c->begun);
        for (uint32_t k = 0; k < BF_PEER_MEMORY_ENTRIES && !(view->claimed & UINT32_C(1) << i);
             k++) {
            uint64_t brought = atomic_load(&c->entries[k].value);
            if (atomic_load(&c->entries[k].point) <= begun)
                continue;
            any = true;
            if (*value < brought)
                *value = brought;
        }
    }
    return any;
}

/* --- Slots -------------------------------------------------------------------------------------*/

void bf_peer_memory_want(struct bf_peer_memory_view *view, const struct bf_shared_view *page,
                         uint64_t wanted)
{
    if (page->slot < BF_SHARED_SLOTS)
        atomic_store(&view->memory->slots[page->slot].wanted, wanted);
}

void bf_peer_memory_expect_applied(struct bf_peer_memory_view *view,
                                   const struct bf_shared_view *page, bool waits_for_peer)
{
    if (page->slot < BF_SHARED_SLOTS)
        atomic_store(&view->memory->slots[page->slot].waits_for_peer, waits_for_peer);
}
