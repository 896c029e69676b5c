/* SPDX-License-Identifier: MIT */
/* The pages of doorbells: mapping, connecting, taking away, and who has been rung. */
#include "doorbell/page.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/membarrier.h"
#include "base/sealed_memory.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* In a physical doorbell: not rung since the last look. A write pointer counts up from 0. */
#define UNRUNG UINT64_MAX

/* Status and last-queued words lie a cache line apart. */
#define WORD_STRIDE 64
#define WORDS       64

/* The words of up to 64 logical doorbells: a page of status words, then one of last-queued
 * values. */
struct bf_doorbell_words {
    struct bf_doorbell_words *next;
    uint64_t used; /* as bits */
    char *own;     /* both pages */
    char *status;  /* the program's, which can't be made writable */
    char *last_queued;
};

static void *system_map(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
#if defined(__SANITIZE_THREAD__)
    /* It takes mmap for a write to the page. A remap may come between any two stores of the
     * program's. */
    if (flags & MAP_FIXED)
        return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
#endif
    return mmap(address, size, protection, flags, fd, offset);
}

static const struct bf_doorbell_calls system_calls = {system_map, munmap, bf_membarrier};

/* ------------------------------------------------------------------------------------ Memory -- */

static void *pages_map(struct bf_doorbell_pages *pages, size_t size, int protection, int fd,
                       off_t offset)
{
    void *at = pages->calls->map(NULL, size, protection, MAP_SHARED, fd, offset);
    return at == MAP_FAILED ? NULL : at;
}

/* The physical doorbell of that number; -1: the dummy page. */
static off_t page_offset(const struct bf_doorbell_pages *pages, int physical)
{
    return 2 * (off_t)(physical + 1) * (off_t)pages->page_size;
}

static _Atomic uint64_t *physical_word(struct bf_doorbell_pages *pages, uint32_t physical)
{
    return (_Atomic uint64_t *)(void *)(pages->view + page_offset(pages, (int)physical));
}

/* A mapping that is given back when another is refused. */
static void reserve_hold(struct bf_doorbell_pages *pages)
{
    if (!pages->reserve)
        pages->reserve = pages_map(pages, pages->page_size, PROT_NONE, pages->fd, 0);
}

static void reserve_give_back(struct bf_doorbell_pages *pages)
{
    if (pages->reserve)
        pages->calls->unmap(pages->reserve, pages->page_size);
    pages->reserve = NULL;
}

static bool page_map(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page, int physical)
{
    return pages->calls->map(page->doorbell, pages->page_size, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED, pages->fd,
                             page_offset(pages, physical)) != MAP_FAILED;
}

/* Maps that page in place of what is there. If it can't: the dummy page, and false; if that can't
 * be either, the status becomes ABORT (DB-1). */
static bool page_remap(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page, int physical)
{
    bool mapped = page_map(pages, page, physical);
    if (!mapped) {
        pages->refused++;
        reserve_give_back(pages);
        mapped = page_map(pages, page, physical);
    }
    if (!mapped && !page_map(pages, page, -1)) {
        atomic_store(page->status_word, BF_DOORBELL_DISCONNECTED_ABORT);
        /* Whatever is mapped there next is somebody else's. */
        unsigned char resident;
        page->gone = mincore(page->doorbell, pages->page_size, &resident) == -1;
    }
    reserve_hold(pages);
    return mapped;
}

static void words_free(struct bf_doorbell_pages *pages, struct bf_doorbell_words *words)
{
    if (words->own)
        pages->calls->unmap(words->own, 2 * pages->page_size);
    if (words->status)
        pages->calls->unmap(words->status, pages->page_size);
    if (words->last_queued)
        pages->calls->unmap(words->last_queued, pages->page_size);
    free(words);
}

static VkResult words_create(struct bf_doorbell_pages *pages)
{
    struct bf_doorbell_words *words = calloc(1, sizeof(*words));
    if (!words)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    size_t size = pages->page_size;
    int fd;
    VkResult result = bf_memory_create("belfry doorbell status", 2 * size, F_SEAL_SHRINK, &fd);
    if (result != VK_SUCCESS) {
        free(words);
        return result;
    }
    words->own = pages_map(pages, 2 * size, PROT_READ | PROT_WRITE, fd, 0);
    words->last_queued = pages_map(pages, size, PROT_READ | PROT_WRITE, fd, (off_t)size);
    /* From now on it can be mapped to be read alone (DB-8); before Linux 5.1 there is no such
     * seal. */
    fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
    fcntl(fd, F_ADD_SEALS, BF_SEALS);
    words->status = pages_map(pages, size, PROT_READ, fd, 0);
    close(fd);
    if (!words->own || !words->status || !words->last_queued) {
        words_free(pages, words);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    words->next = pages->words;
    pages->words = words;
    return VK_SUCCESS;
}

static VkResult words_take(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    struct bf_doorbell_words *words = pages->words;
    while (words && words->used == UINT64_MAX)
        words = words->next;
    if (!words) {
        VkResult result = words_create(pages);
        if (result != VK_SUCCESS)
            return result;
        words = pages->words;
    }
    page->words = words;
    page->word = (uint32_t)__builtin_ctzll(~words->used);
    words->used |= UINT64_C(1) << page->word;
    size_t at = (size_t)page->word * WORD_STRIDE;
    page->status = (const uint64_t *)(void *)(words->status + at);
    page->last_queued = (uint64_t *)(void *)(words->last_queued + at);
    page->status_word = (_Atomic uint64_t *)(void *)(words->own + at);
    _Atomic uint64_t *last = (_Atomic uint64_t *)(void *)(words->own + pages->page_size + at);
    atomic_store(last, 0);
    page->last_queued_word = last;
    return VK_SUCCESS;
}

static void words_give_back(struct bf_doorbell_page *page)
{
    page->words->used &= ~(UINT64_C(1) << page->word);
}

_Static_assert(WORDS *WORD_STRIDE <= 4096, "all words of a chunk lie in the smallest page");

VkResult bf_doorbell_pages_init(struct bf_doorbell_pages *pages, uint32_t count, bool global,
                                const struct bf_doorbell_calls *calls)
{
    *pages = (struct bf_doorbell_pages){.calls = calls ? calls : &system_calls,
                                        .global = global,
                                        .count = global ? 1 : count,
                                        .page_size = (size_t)sysconf(_SC_PAGESIZE),
                                        .fd = -1};
    size_t size = (size_t)page_offset(pages, (int)pages->count);
    VkResult result = bf_sealed_memory_create("belfry doorbells", size, &pages->fd);
    if (result != VK_SUCCESS)
        return result;
    pages->view = pages_map(pages, size, PROT_READ | PROT_WRITE, pages->fd, 0);
    reserve_hold(pages);
    if (!pages->view || !pages->reserve) {
        bf_doorbell_pages_finish(pages);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    for (uint32_t i = 0; i < pages->count; i++)
        atomic_store(physical_word(pages, i), UNRUNG);
    pages->barrier = pages->calls->barrier();
    return VK_SUCCESS;
}

void bf_doorbell_pages_finish(struct bf_doorbell_pages *pages)
{
    if (!pages->calls)
        return;
    while (pages->words) {
        struct bf_doorbell_words *words = pages->words;
        pages->words = words->next;
        words_free(pages, words);
    }
    reserve_give_back(pages);
    if (pages->view)
        pages->calls->unmap(pages->view, (size_t)page_offset(pages, (int)pages->count));
    if (pages->fd != -1)
        close(pages->fd);
    *pages = (struct bf_doorbell_pages){.fd = -1};
}

/* ------------------------------------------------------------------------------------ Groups -- */

void bf_doorbell_group_add(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group)
{
    bf_lock_acquire(&pages->lock);
    group->next = pages->groups;
    pages->groups = group;
    bf_lock_release(&pages->lock);
}

void bf_doorbell_group_remove(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group)
{
    bf_lock_acquire(&pages->lock);
    struct bf_doorbell_group **at = &pages->groups;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    bf_lock_release(&pages->lock);
}

void bf_doorbell_page_mark(struct bf_doorbell_page *page)
{
    atomic_store(&page->rung, true);
    atomic_store(&page->group->marked, true);
    if (page->group->wake)
        page->group->wake(page->group);
}

static enum bf_doorbell_state connected_state(const struct bf_doorbell_pages *pages,
                                              const struct bf_doorbell_group *group)
{
    return group->notify || !pages->barrier ? BF_DOORBELL_CONNECTED_NOTIFY : BF_DOORBELL_CONNECTED;
}

static void group_states_store(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group)
{
    for (struct bf_doorbell_page *page = group->pages; page; page = page->next) {
        if (bf_doorbell_page_state(page) <= BF_DOORBELL_CONNECTED_NOTIFY)
            atomic_store(page->status_word, connected_state(pages, group));
    }
}

void bf_doorbell_group_notify(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                              bool notify)
{
    bf_lock_acquire(&pages->lock);
    group->notify = notify;
    group_states_store(pages, group);
    bf_lock_release(&pages->lock);
}

/* DB-6. The first time that there is none, all connected doorbells get NOTIFY. */
static bool pages_barrier(struct bf_doorbell_pages *pages)
{
    if (pages->barrier && pages->calls->barrier())
        return true;
    if (pages->barrier) {
        pages->barrier = false;
        for (struct bf_doorbell_group *group = pages->groups; group; group = group->next)
            group_states_store(pages, group);
    }
    return false;
}

/* ----------------------------------------------------------------- Connecting, disconnecting -- */

static void physical_take(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page,
                          uint32_t physical)
{
    struct bf_doorbell_group *group = page->group;
    page->physical = (int)physical;
    group->connected++;
    if (!pages->global) {
        pages->owners[physical] = page;
        atomic_store(&group->owners[physical], page);
    }
    atomic_fetch_or(&group->held, UINT64_C(1) << physical);
}

static void physical_give_back(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    struct bf_doorbell_group *group = page->group;
    uint32_t physical = (uint32_t)page->physical;
    page->physical = -1;
    group->connected--;
    if (pages->global && group->connected > 0)
        return;
    pages->owners[physical] = NULL;
    atomic_fetch_and(&group->held, ~(UINT64_C(1) << physical));
    atomic_store(&group->owners[physical], NULL);
}

/* DB-2, with the lock held: those of the list, which are connected. */
static void pages_detach(struct bf_doorbell_pages *pages, struct bf_doorbell_page *leaving,
                         enum bf_doorbell_state reason)
{
    struct bf_doorbell_page *page;
    bool silent = false; /* may have been rung, with no call to follow */
    for (page = leaving; page; page = page->leaving)
        silent |= atomic_exchange(page->status_word, reason) == BF_DOORBELL_CONNECTED;
    bool barrier = !leaving || pages_barrier(pages);
    for (page = leaving; page; page = page->leaving) {
        page_remap(pages, page, -1);
        physical_give_back(pages, page);
    }
    if (silent && !barrier) /* DB-6 */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (page = leaving; page; page = page->leaving)
        bf_doorbell_page_mark(page);
}

/* Adds it to the list if it is connected. */
static void page_leave(struct bf_doorbell_page *page, enum bf_doorbell_state reason,
                       struct bf_doorbell_page **leaving)
{
    if (page->physical != -1) {
        page->leaving = *leaving;
        *leaving = page;
    } else if (reason == BF_DOORBELL_DISCONNECTED_ABORT) { /* DB-7: never back */
        atomic_store(page->status_word, reason);
    }
}

static void group_leave(struct bf_doorbell_group *group, enum bf_doorbell_state reason,
                        struct bf_doorbell_page **leaving)
{
    for (struct bf_doorbell_page *page = group->pages; page; page = page->next)
        page_leave(page, reason, leaving);
}

void bf_doorbell_page_disconnect(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page,
                                 enum bf_doorbell_state reason)
{
    struct bf_doorbell_page *leaving = NULL;
    bf_lock_acquire(&pages->lock);
    page_leave(page, reason, &leaving);
    pages_detach(pages, leaving, reason);
    bf_lock_release(&pages->lock);
}

void bf_doorbell_group_disconnect(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                                  enum bf_doorbell_state reason)
{
    struct bf_doorbell_page *leaving = NULL;
    bf_lock_acquire(&pages->lock);
    group_leave(group, reason, &leaving);
    pages_detach(pages, leaving, reason);
    bf_lock_release(&pages->lock);
}

void bf_doorbell_pages_disconnect(struct bf_doorbell_pages *pages, enum bf_doorbell_state reason)
{
    struct bf_doorbell_page *leaving = NULL;
    bf_lock_acquire(&pages->lock);
    pages->aborted |= reason == BF_DOORBELL_DISCONNECTED_ABORT;
    for (struct bf_doorbell_group *group = pages->groups; group; group = group->next)
        group_leave(group, reason, &leaving);
    pages_detach(pages, leaving, reason);
    bf_lock_release(&pages->lock);
}

static void page_use(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    uint64_t now = atomic_fetch_add_explicit(&pages->uses, 1, memory_order_relaxed);
    atomic_store_explicit(&page->used, now, memory_order_relaxed);
}

/* DB-5: is a's doorbell to be taken rather than b's? */
static bool page_yields(struct bf_doorbell_page *a, struct bf_doorbell_page *b)
{
    if (atomic_load(&a->suspended) != atomic_load(&b->suspended))
        return atomic_load(&a->suspended);
    if (atomic_load(&a->idle) != atomic_load(&b->idle))
        return atomic_load(&a->idle);
    return atomic_load(&a->used) < atomic_load(&b->used);
}

static uint32_t physical_choose(struct bf_doorbell_pages *pages)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < pages->count; i++) {
        if (!pages->owners[i])
            return i;
        if (page_yields(pages->owners[i], pages->owners[chosen]))
            chosen = i;
    }
    struct bf_doorbell_page *victim = pages->owners[chosen];
    victim->leaving = NULL;
    pages->victims++;
    pages_detach(pages, victim, BF_DOORBELL_DISCONNECTED_RETRY);
    return chosen;
}

static VkResult page_connect(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    if (bf_doorbell_page_state(page) == BF_DOORBELL_DISCONNECTED_ABORT)
        return VK_ERROR_DEVICE_LOST;
    if (page->physical != -1)
        return VK_SUCCESS;
    uint32_t physical = pages->global ? 0 : physical_choose(pages);
    if (!page_remap(pages, page, (int)physical))
        return VK_ERROR_TOO_MANY_OBJECTS;
    pages_barrier(pages); /* without it: NOTIFY (DB-6) */
    physical_take(pages, page, physical);
    pages->connects++;
    page_use(pages, page);
    bf_doorbell_page_mark(page);
    atomic_store(page->status_word, connected_state(pages, page->group));
    return VK_SUCCESS;
}

VkResult bf_doorbell_page_connect(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    bf_lock_acquire(&pages->lock);
    VkResult result = page_connect(pages, page);
    bf_lock_release(&pages->lock);
    return result;
}

/* --------------------------------------------------------------------- Creation, destruction -- */

static VkResult page_create(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    if (pages->aborted)
        return VK_ERROR_DEVICE_LOST;
    VkResult result = words_take(pages, page);
    if (result != VK_SUCCESS)
        return result;
    page->doorbell = pages_map(pages, pages->page_size, PROT_READ | PROT_WRITE, pages->fd,
                               page_offset(pages, -1));
    if (!page->doorbell) {
        words_give_back(page);
        return VK_ERROR_TOO_MANY_OBJECTS;
    }
    atomic_store(page->status_word, BF_DOORBELL_DISCONNECTED_RETRY);
    page->next = page->group->pages;
    if (page->next)
        page->next->previous = page;
    page->group->pages = page;
    return VK_SUCCESS;
}

VkResult bf_doorbell_page_create(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                                 struct bf_doorbell_page *page)
{
    *page = (struct bf_doorbell_page){.group = group, .physical = -1};
    bf_lock_acquire(&pages->lock);
    VkResult result = page_create(pages, page);
    bf_lock_release(&pages->lock);
    if (result != VK_SUCCESS)
        *page = (struct bf_doorbell_page){0};
    return result;
}

void bf_doorbell_page_destroy(struct bf_doorbell_pages *pages, struct bf_doorbell_page *page)
{
    if (!page || !page->doorbell)
        return;
    bf_lock_acquire(&pages->lock);
    atomic_store(page->status_word, BF_DOORBELL_DISCONNECTED_ABORT);
    if (page->physical != -1)
        physical_give_back(pages, page);
    if (!page->gone)
        pages->calls->unmap(page->doorbell, pages->page_size);
    words_give_back(page);
    if (page->next)
        page->next->previous = page->previous;
    if (page->previous)
        page->previous->next = page->next;
    else
        page->group->pages = page->next;
    bf_lock_release(&pages->lock);
    *page = (struct bf_doorbell_page){0};
}

/* ----------------------------------------------------------------------------------- Looking -- */

/* The global doorbell was rung: for one of any group's. */
static void groups_tell(struct bf_doorbell_pages *pages)
{
    bf_lock_acquire(&pages->lock);
    for (struct bf_doorbell_group *group = pages->groups; group; group = group->next)
        atomic_store(&group->told, true);
    bf_lock_release(&pages->lock);
}

/* DB-4: the physical doorbell was the group's when it looked for it, and somebody else has it. */
static void ring_pass_on(struct bf_doorbell_pages *pages, uint32_t physical)
{
    bf_lock_acquire(&pages->lock);
    if (pages->owners[physical])
        bf_doorbell_page_mark(pages->owners[physical]);
    bf_lock_release(&pages->lock);
}

/* All processors on which this is to run order a load behind an exchange, and a store that another
 * store hid before the exchange too: so whoever takes a ring reads each write pointer that was
 * stored before any of the rings it takes. */
static bool physical_poll(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group,
                          uint32_t physical)
{
    _Atomic uint64_t *word = physical_word(pages, physical);
    if (atomic_load_explicit(word, memory_order_relaxed) == UNRUNG ||
        atomic_exchange(word, UNRUNG) == UNRUNG)
        return false;
    if (pages->global) {
        groups_tell(pages);
        return true;
    }
    struct bf_doorbell_page *page = atomic_load(&group->owners[physical]);
    if (!page) {
        ring_pass_on(pages, physical);
        return false;
    }
    page_use(pages, page);
    atomic_store_explicit(&page->rung, true, memory_order_relaxed);
    return true;
}

bool bf_doorbell_group_poll(struct bf_doorbell_pages *pages, struct bf_doorbell_group *group)
{
    bool any = false;
    uint64_t held = atomic_load_explicit(&group->held, memory_order_relaxed);
    for (; held; held &= held - 1)
        any |= physical_poll(pages, group, (uint32_t)__builtin_ctzll(held));
    if (atomic_load_explicit(&group->marked, memory_order_relaxed))
        any |= atomic_exchange(&group->marked, false);
    if (atomic_load_explicit(&group->told, memory_order_relaxed) &&
        atomic_exchange(&group->told, false)) {
        group->turn++;
        any = true;
    }
    return any;
}

bool bf_doorbell_page_take(struct bf_doorbell_page *page)
{
    bool rung = page->turn != page->group->turn;
    page->turn = page->group->turn;
    if (atomic_load_explicit(&page->rung, memory_order_relaxed))
        rung |= atomic_exchange(&page->rung, false);
    return rung;
}
