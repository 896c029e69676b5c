/* SPDX-License-Identifier: MIT */
/* The page of a shared fence: creating, mapping, taking a slot, setting the value. */
#include "fence/shared_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/sealed_memory.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* The limit of attempts to raise a peak. Each failed attempt means that another thread has changed
 * the peak; so many in a row are malice. */
#define RAISE_BOUND 10000

static const uint64_t live_bits[2] = {UINT64_MAX, (UINT64_C(1) << (BF_SHARED_SLOTS - 64)) - 1};

static void *shared_memory_map(int fd, size_t size)
{
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return page == MAP_FAILED ? NULL : page;
}

VkResult bf_shared_page_create(uint64_t value, int *out)
{
    int fd;
    VkResult result = bf_sealed_memory_create("belfry fence", BF_SHARED_SIZE, &fd);
    if (result != VK_SUCCESS)
        return result;
    struct bf_shared_page *page = shared_memory_map(fd, BF_SHARED_SIZE);
    if (!page) {
        close(fd);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    atomic_store(&page->value, value);
    for (uint32_t i = 0; i < BF_SHARED_SLOTS; i++)
        atomic_store(&page->slots[i].monitored, UINT64_MAX);
    atomic_store(&page->version, BF_SHARED_VERSION);
    atomic_store(&page->magic, BF_SHARED_MAGIC);
    munmap(page, BF_SHARED_SIZE);
    *out = fd;
    return VK_SUCCESS;
}

/* Is the memory sealed, so that nobody can shrink it under a mapping, and writable for everybody?
 * Until that is known the descriptor is passed to no call that could block. */
static bool shared_memory_is_sealed(int fd, size_t wanted, const char *call)
{
    struct stat info;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals == -1 || (seals & BF_SEALS) != BF_SEALS ||
        (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))) {
        bf_message(BF_MESSAGE_ERROR, "%s: fd: what it leads to is no sealed memory (seals %d)",
                   call, seals);
        return false;
    }
    if (fstat(fd, &info) == -1 || info.st_size != (off_t)wanted) {
        bf_message(BF_MESSAGE_ERROR, "%s: fd: the memory it leads to has %lld bytes, not %zu", call,
                   (long long)info.st_size, wanted);
        return false;
    }
    return true;
}

VkResult bf_shared_memory_open(int fd, size_t size, const char *call, int *own, void **memory)
{
    if (!shared_memory_is_sealed(fd, size, call))
        return VK_ERROR_INVALID_EXTERNAL_HANDLE;
    /* Opened again, for an open file description of its own: the one that was sent is shared, and
     * so are its locks. */
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = bf_descriptor_lift(open(path, O_RDWR | O_CLOEXEC));
    if (opened == -1 && (errno == ENOENT || errno == EACCES)) {
        bf_message(BF_MESSAGE_ERROR, "%s: %s can't be opened: is there no /proc?", call, path);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (opened == -1)
        return bf_descriptor_error(errno);
    *memory = shared_memory_map(opened, size);
    if (!*memory) {
        close(opened);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *own = opened;
    return VK_SUCCESS;
}

/* SH-5. Slots not marked live are tried first; then the others, whose openers may have died. */
static VkResult shared_page_take_slot(struct bf_shared_view *view, const char *call)
{
    for (uint32_t i = 0; i < 2 * BF_SHARED_SLOTS; i++) {
        uint32_t slot = i % BF_SHARED_SLOTS;
        uint64_t bit = UINT64_C(1) << slot % 64;
        bool live = atomic_load(&view->page->live[slot / 64]) & bit;
        if (live != (i >= BF_SHARED_SLOTS))
            continue;
        struct flock lock = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1};
        if (fcntl(view->fd, F_OFD_SETLK, &lock) == -1) {
            if (errno == EAGAIN || errno == EACCES)
                continue;
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        view->slot = slot;
        atomic_store(&view->page->slots[slot].monitored, UINT64_MAX);
        atomic_store(&view->page->slots[slot].peak, 0);
        atomic_store(&view->page->slots[slot].follows, 0);
        atomic_fetch_or(&view->page->live[slot / 64], bit);
        return VK_SUCCESS;
    }
    bf_message(BF_MESSAGE_ERROR, "%s: the fence is open %d times already", call, BF_SHARED_SLOTS);
    return VK_ERROR_TOO_MANY_OBJECTS;
}

VkResult bf_shared_page_join(struct bf_shared_view *view, int fd, const char *call)
{
    void *page;
    *view = (struct bf_shared_view){.slot = BF_SHARED_SLOTS, .fd = -1};
    VkResult result = bf_shared_memory_open(fd, BF_SHARED_SIZE, call, &view->fd, &page);
    if (result != VK_SUCCESS)
        return result;
    view->page = page;
    uint64_t magic = atomic_load(&view->page->magic);
    uint32_t version = atomic_load(&view->page->version);
    if (magic != BF_SHARED_MAGIC || version != BF_SHARED_VERSION) {
        bf_message(BF_MESSAGE_ERROR,
                   "%s: fd: no shared fence of this version: magic 0x%llx, version %u", call,
                   (unsigned long long)magic, version);
        result = VK_ERROR_INVALID_EXTERNAL_HANDLE;
    } else {
        result = shared_page_take_slot(view, call);
    }
    if (result == VK_SUCCESS)
        return result;
    bf_shared_page_leave(view);
    bf_shared_page_unmap(view);
    return result;
}

void bf_shared_page_leave(struct bf_shared_view *view)
{
    if (view->slot < BF_SHARED_SLOTS) {
        uint64_t bit = UINT64_C(1) << view->slot % 64;
        atomic_fetch_and(&view->page->live[view->slot / 64], ~bit);
        view->slot = BF_SHARED_SLOTS;
    }
    if (view->fd != -1)
        close(view->fd); /* and with it the lock goes */
    view->fd = -1;
}

void bf_shared_page_unmap(struct bf_shared_view *view)
{
    if (view->page)
        munmap(view->page, BF_SHARED_SIZE);
    view->page = NULL;
}

static void slot_peak_raise(_Atomic uint64_t *peak, uint64_t value)
{
    uint64_t now = atomic_load(peak);
    for (int i = 0; i < RAISE_BOUND && now < value; i++) {
        if (atomic_compare_exchange_weak(peak, &now, value))
            return;
    }
}

static void slot_turn_wake(_Atomic uint32_t *turn)
{
    atomic_fetch_add(turn, 1);
    /* Wakes all sleepers: another thread than the opener's may be sleeping on it, too. */
    bf_futex_wake_shared(turn, INT32_MAX);
}

static void page_tell(const struct bf_shared_view *view, uint64_t value)
{
    struct bf_shared_page *page = view->page;
    struct bf_shared_live live = bf_shared_page_live(view);
    for (uint32_t slot; bf_shared_live_next(&live, &slot);) {
        slot_peak_raise(&page->slots[slot].peak, value);
        if (value > atomic_load(&page->slots[slot].monitored) ||
            atomic_load(&page->slots[slot].follows))
            slot_turn_wake(&page->slots[slot].turn);
    }
}

void bf_shared_page_set(struct bf_shared_view *view, uint64_t value)
{
    atomic_store(&view->page->value, value);
    page_tell(view, value);
}

bool bf_shared_page_offer(struct bf_shared_view *view, uint64_t known, uint64_t value)
{
    uint64_t now = atomic_load(&view->page->value);
    bool set = false;
    for (int i = 0; i < RAISE_BOUND && !set; i++) {
        if (now != known && now > value)
            return false;
        set = atomic_compare_exchange_weak(&view->page->value, &now, value);
    }
    if (!set) /* somebody changes it without end */
        atomic_store(&view->page->value, value);
    page_tell(view, value);
    return true;
}

struct bf_shared_live bf_shared_page_live(const struct bf_shared_view *view)
{
    struct bf_shared_live live;
    for (uint32_t word = 0; word < 2; word++)
        live.slots[word] = atomic_load(&view->page->live[word]) & live_bits[word];
    if (view->slot < BF_SHARED_SLOTS)
        live.slots[view->slot / 64] &= ~(UINT64_C(1) << view->slot % 64);
    return live;
}

void bf_shared_page_wake_slot(const struct bf_shared_view *view, uint32_t slot)
{
    slot_turn_wake(&view->page->slots[slot].turn);
}

uint64_t bf_shared_page_take_peak(struct bf_shared_view *view)
{
    /* Read first: taking is a write, which costs signallers the cache line. */
    if (!bf_shared_page_has_peak(view))
        return 0;
    return atomic_exchange(&view->page->slots[view->slot].peak, 0);
}

void bf_shared_page_follow(struct bf_shared_view *view)
{
    if (view->slot < BF_SHARED_SLOTS)
        atomic_store(&view->page->slots[view->slot].follows, 1);
}

void bf_shared_page_monitor(struct bf_shared_view *view, uint64_t monitored)
{
    if (view->slot < BF_SHARED_SLOTS &&
        atomic_load(&view->page->slots[view->slot].monitored) != monitored)
        atomic_store(&view->page->slots[view->slot].monitored, monitored);
}

void bf_shared_page_wake(struct bf_shared_view *view)
{
    slot_turn_wake(bf_shared_page_turn(view));
}
