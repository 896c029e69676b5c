#include "fence/shared_area.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/message.h"

_Static_assert(BF_AREA_CARRIERS <= 32, "a mask's bits");

VkResult bf_area_create(int *out)
{
    int fd;
    VkResult result = bf_shared_memory_create("belfry fence area", BF_AREA_SIZE, &fd);
    if (result != VK_SUCCESS)
        return result;
    struct bf_area *area = mmap(NULL, BF_AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED) {
        close(fd);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < BF_SHARED_SLOTS; i++)
        atomic_store(&area->slots[i].wanted, UINT64_MAX);
    atomic_store(&area->version, BF_AREA_VERSION);
    atomic_store(&area->magic, BF_AREA_MAGIC);
    munmap(area, BF_AREA_SIZE);
    *out = fd;
    return VK_SUCCESS;
}

VkResult bf_area_join(struct bf_area_view *view, int fd, const char *call)
{
    void *area;
    *view = (struct bf_area_view){.fd = -1};
    VkResult result = bf_shared_memory_open(fd, BF_AREA_SIZE, call, &view->fd, &area);
    if (result != VK_SUCCESS)
        return result;
    view->area = area;
    uint64_t magic = atomic_load(&view->area->magic);
    uint32_t version = atomic_load(&view->area->version);
    if (magic == BF_AREA_MAGIC && version == BF_AREA_VERSION)
        return VK_SUCCESS;
    bf_message(BF_MESSAGE_ERROR,
               "%s: fd: no carriers' area of this version: magic 0x%llx, version %u", call,
               (unsigned long long)magic, version);
    bf_area_leave(view);
    return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

void bf_area_leave(struct bf_area_view *view)
{
    if (view->area)
        munmap(view->area, BF_AREA_SIZE);
    view->area = NULL;
    view->claimed = 0;
    if (view->fd != -1)
        close(view->fd); /* and with it the locks go */
    view->fd = -1;
}

/* ---------------------------------------------------------------------------------------- Claims --
 */

static struct flock lock_of(uint32_t carrier, short type)
{
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)carrier, .l_len = 1};
}

bool bf_area_claim(struct bf_area_view *view, uint32_t carrier)
{
    struct bf_area_carrier *c = &view->area->carriers[carrier];
    struct flock lock = lock_of(carrier, F_WRLCK);
    if (fcntl(view->fd, F_OFD_SETLK, &lock) == -1)
        return false;
    if (atomic_exchange(&c->used, 1)) { /* it died */
        lock = lock_of(carrier, F_UNLCK);
        fcntl(view->fd, F_OFD_SETLK, &lock);
        return false;
    }
    view->claimed |= UINT32_C(1) << carrier;
    return true;
}

void bf_area_unclaim(struct bf_area_view *view, uint32_t carrier)
{
    struct flock lock = lock_of(carrier, F_UNLCK);
    view->claimed &= ~(UINT32_C(1) << carrier);
    atomic_store(&view->area->carriers[carrier].used, 0);
    fcntl(view->fd, F_OFD_SETLK, &lock);
}

bool bf_area_is_claimed(const struct bf_area_view *view, uint32_t carrier)
{
    struct flock lock = lock_of(carrier, F_WRLCK);
    return fcntl(view->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void bf_area_abandon(struct bf_area_view *view)
{
    for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
        struct flock lock = lock_of(i, F_UNLCK);
        if (view->claimed & UINT32_C(1) << i)
            fcntl(view->fd, F_OFD_SETLK, &lock);
    }
    view->claimed = 0;
}

bool bf_area_begin_release(const struct bf_area_view *view, uint32_t carrier)
{
    struct flock lock = lock_of(BF_AREA_CARRIERS + carrier, F_WRLCK);
    return fcntl(view->fd, F_OFD_SETLK, &lock) == 0;
}

void bf_area_end_release(const struct bf_area_view *view, uint32_t carrier)
{
    struct flock lock = lock_of(BF_AREA_CARRIERS + carrier, F_UNLCK);
    fcntl(view->fd, F_OFD_SETLK, &lock);
}

uint64_t bf_area_last_point(const struct bf_area_view *view, uint32_t carrier)
{
    const struct bf_area_carrier *c = &view->area->carriers[carrier];
    uint64_t begun = atomic_load(&c->begun), applied = atomic_load(&c->applied);
    return begun > applied ? begun : applied;
}

/* --------------------------------------------------------------------------------------- Signals --
 */

void bf_area_publish(struct bf_area_view *view, const struct bf_shared_view *page, uint32_t carrier,
                     uint64_t point, uint64_t value)
{
    struct bf_area_entry *entry = &view->area->carriers[carrier].entries[point % BF_AREA_ENTRIES];
    atomic_store(&entry->point, 0);
    atomic_store(&entry->value, value);
    atomic_store(&entry->point, point);
    struct bf_shared_live live = bf_shared_page_live(page);
    for (uint32_t slot; bf_shared_live_next(&live, &slot);) {
        if (value > atomic_load(&view->area->slots[slot].wanted))
            bf_shared_page_wake_slot(page, slot);
    }
}

void bf_area_begin(struct bf_area_view *view, uint32_t carrier, uint64_t point)
{
    atomic_store(&view->area->carriers[carrier].begun, point);
}

void bf_area_apply(struct bf_area_view *view, const struct bf_shared_view *page, uint32_t carrier,
                   uint64_t point)
{
    atomic_store(&view->area->carriers[carrier].applied, point);
    struct bf_shared_live live = bf_shared_page_live(page);
    for (uint32_t slot; bf_shared_live_next(&live, &slot);) {
        if (atomic_load(&view->area->slots[slot].gated))
            bf_shared_page_wake_slot(page, slot);
    }
}

/* The carrier's first point on its way with at least the value; 0: none. */
static uint64_t first_point(const struct bf_area_carrier *c, uint64_t value)
{
    uint64_t first = 0, begun = atomic_load(&c->begun);
    for (uint32_t i = 0; i < BF_AREA_ENTRIES; i++) {
        uint64_t point = atomic_load(&c->entries[i].point);
        bool reaches = atomic_load(&c->entries[i].value) >= value;
        if (point > begun && reaches && (!first || point < first) &&
            atomic_load(&c->entries[i].point) == point)
            first = point;
    }
    return first;
}

bool bf_area_find(const struct bf_area_view *view, uint64_t value, uint32_t *carrier,
                  uint64_t *point)
{
    for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
        if (view->claimed & UINT32_C(1) << i)
            continue;
        uint64_t found = first_point(&view->area->carriers[i], value);
        if (!found || !bf_area_is_claimed(view, i))
            continue;
        *carrier = i;
        *point = found;
        return true;
    }
    return false;
}

bool bf_area_largest(const struct bf_area_view *view, uint64_t *value)
{
    bool any = false;
    *value = 0;
    for (uint32_t i = 0; i < BF_AREA_CARRIERS; i++) {
        const struct bf_area_carrier *c = &view->area->carriers[i];
        uint64_t begun = atomic_load(&c->begun);
        for (uint32_t k = 0; k < BF_AREA_ENTRIES && !(view->claimed & UINT32_C(1) << i); k++) {
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

/* ----------------------------------------------------------------------------------------- Slots --
 */

void bf_area_want(struct bf_area_view *view, const struct bf_shared_view *page, uint64_t wanted)
{
    if (page->slot < BF_SHARED_SLOTS)
        atomic_store(&view->area->slots[page->slot].wanted, wanted);
}

void bf_area_gate(struct bf_area_view *view, const struct bf_shared_view *page, bool gated)
{
    if (page->slot < BF_SHARED_SLOTS)
        atomic_store(&view->area->slots[page->slot].gated, gated);
}
