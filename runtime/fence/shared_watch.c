/* SPDX-License-Identifier: MIT */
/* The threads of a device's shared fences: listeners of their slots, and the thread for ended
 * processes. */
#include "fence/shared_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/thread.h"
#include "fence/peer_timeline.h"
#include "fence/shared.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"

#define LISTENER_FENCES 127 /* FUTEX_WAITV_MAX, less the word that calls the thread */

/* The pause after a sleep for which the kernel had no memory. */
#define MEMORY_SLICE_NS UINT64_C(1000000)
/* How long a listener that can be woken only through the page is given to notice that it has to
 * end. */
#define CALL_SLICE_NS UINT64_C(1000000)
/* How long a listener sleeps on one word alone. */
#define SINGLE_SLICE_NS UINT64_C(1000000000)
/* The interval of checks for ended processes, and how many of them without a peer wait end the
 * checking. */
#define TICK_MS    20
#define IDLE_TICKS 50

/* What an epoll event contains: a fence's serial number and which end it is; or that the thread was
 * called. */
enum { OWNER_ENDED, LAST_LEFT, KINDS };
#define CALLED UINT64_MAX

struct bf_shared_listener {
    struct bf_scheduler *scheduler;
    struct bf_shared_listener *next;
    struct bf_thread thread;
    bool single; /* it can sleep on one word alone: on its fence's slot */
    /* Under the pending lock. */
    bool stop;
    uint32_t count;
    struct bf_fence *fences;
    _Atomic uint32_t calls;                        /* changes to any of these */
    struct futex_waitv words[LISTENER_FENCES + 1]; /* its thread's */
};

struct bf_shared_watch {
    struct bf_scheduler *scheduler;
    /* Changed under both the sleepers' lock and the pending signals'. */
    struct bf_shared_listener *listeners;
    bool single; /* futex_waitv isn't there */
    /* The thread for ends. */
    int epoll, call;
    bool started;
    bool stop;            /* under the pending lock */
    _Atomic bool ticking; /* it looks who has gone */
    pthread_t id;
};

/* --- Listeners ---------------------------------------------------------------------------------*/

static bool kernel_has_futex_waitv(void)
{
    return syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) == -1 && errno == EINVAL;
}

static struct futex_waitv futex_waitv_of(_Atomic uint32_t *word, uint32_t value, uint32_t flags)
{
    return (struct futex_waitv){.val = value, .uaddr = (uintptr_t)word, .flags = FUTEX_32 | flags};
}

/* Reads each fence's turn, and takes in the values set before it. The lock is held. Returns the
 * number of futexes to sleep on; the first is the one that calls the thread. */
static uint32_t listener_take_turns(struct bf_shared_listener *listener, struct bf_effects *effects)
{
    uint32_t n = 0;
    listener->words[n++] =
        futex_waitv_of(&listener->calls, atomic_load(&listener->calls), FUTEX_PRIVATE_FLAG);
    for (struct bf_fence *f = listener->fences; f; f = f->shared->next_listened) {
        _Atomic uint32_t *turn = bf_shared_page_turn(&f->shared->view);
        listener->words[n++] = futex_waitv_of(turn, atomic_load(turn), 0);
        bf_shared_absorb(f, effects);
        bf_peer_timelines_look(f, effects);
    }
    return n;
}

static int listener_sleep(struct bf_shared_listener *listener, uint32_t n)
{
    struct futex_waitv *words = listener->words;
    if (!listener->single)
        return (int)syscall(SYS_futex_waitv, words, n, 0, NULL, 0);
    const struct futex_waitv *word = &words[n - 1];
    int operation = n > 1 ? FUTEX_WAIT_BITSET : FUTEX_WAIT_BITSET_PRIVATE;
    /* Others who have the page may move who waits to another word of it: he looks by himself. */
    const struct timespec until = bf_timespec(bf_now_ns() + SINGLE_SLICE_NS);
    return (int)syscall(SYS_futex, (uint32_t *)(uintptr_t)word->uaddr, operation,
                        (uint32_t)word->val, n > 1 ? &until : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void watch_retire(struct bf_scheduler *scheduler)
{
    struct bf_effects effects = {0};
    if (bf_pending_retire(&scheduler->pending, &effects) == VK_ERROR_DEVICE_LOST)
        bf_scheduler_lost(scheduler, "looking for other processes' signals");
    bf_effects_run(scheduler, &effects);
}

static void listener_run(void *argument)
{
    struct bf_shared_listener *listener = argument;
    struct bf_scheduler *scheduler = listener->scheduler;
    struct bf_pending *pending = &scheduler->pending;
    for (;;) {
        struct bf_effects effects = {0};
        bf_lock_acquire(&pending->lock);
        bool stop = listener->stop;
        uint32_t n = stop ? 0 : listener_take_turns(listener, &effects);
        bf_lock_release(&pending->lock);
        bf_effects_run(scheduler, &effects);
        if (stop)
            break;
        if (atomic_load(&pending->peer_waits)) /* SH-21 */
            watch_retire(scheduler);
        int word = listener_sleep(listener, n);
        bool set = listener->single ? word == 0 && n > 1 : word > 0; /* else it was called */
        if (set) {
            atomic_fetch_add_explicit(&scheduler->gpu.counters.shared_wakeups, 1,
                                      memory_order_relaxed);
        } else if (word == -1 && errno == ENOMEM) {
            struct timespec until = bf_timespec(bf_now_ns() + MEMORY_SLICE_NS);
            bf_futex_wait(&listener->calls, atomic_load(&listener->calls), &until);
        }
    }
}

static void listener_call(struct bf_shared_listener *listener)
{
    atomic_fetch_add(&listener->calls, 1);
    bf_futex_wake(&listener->calls, 1);
}

/* The device's watch, created if there is none yet; the sleepers' lock is held. NULL: out of
 * memory. */
static struct bf_shared_watch *watch_of_device(struct bf_pending *pending)
{
    if (pending->scheduler->fences->shared_watch)
        return pending->scheduler->fences->shared_watch;
    struct bf_shared_watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return NULL;
    watch->scheduler = pending->scheduler;
    watch->single = !kernel_has_futex_waitv();
    watch->epoll = watch->call = -1;
    bf_lock_acquire(&pending->lock);
    pending->scheduler->fences->shared_watch = watch;
    bf_lock_release(&pending->lock);
    return watch;
}

/* A listener with room for another fence. The sleepers' lock is held. */
static struct bf_shared_listener *watch_listener_with_room(struct bf_shared_watch *watch)
{
    uint32_t room = watch->single ? 1 : LISTENER_FENCES;
    struct bf_pending *pending = &watch->scheduler->pending;
    struct bf_shared_listener *listener = watch->listeners;
    bf_lock_acquire(&pending->lock); /* for the counts */
    while (listener && listener->count >= room)
        listener = listener->next;
    bf_lock_release(&pending->lock);
    if (listener)
        return listener;
    listener = calloc(1, sizeof(*listener));
    if (!listener)
        return NULL;
    listener->scheduler = watch->scheduler;
    listener->single = watch->single;
    if (!bf_thread_start(&listener->thread, NULL, listener_run, listener)) {
        free(listener);
        return NULL;
    }
    atomic_fetch_add(&watch->scheduler->gpu.counters.sleeper_threads, 1);
    bf_lock_acquire(&pending->lock);
    listener->next = watch->listeners;
    watch->listeners = listener;
    bf_lock_release(&pending->lock);
    return listener;
}

VkResult bf_shared_watch_slot(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    VkResult result = VK_SUCCESS;
    bf_lock_acquire(&pending->sleeper_lock);
    if (!shared->listener) { /* changed under both locks */
        struct bf_shared_watch *watch = watch_of_device(pending);
        struct bf_shared_listener *listener = watch ? watch_listener_with_room(watch) : NULL;
        if (listener) {
            bf_lock_acquire(&pending->lock);
            shared->listener = listener;
            shared->next_listened = listener->fences;
            listener->fences = fence;
            listener->count++;
            bf_lock_release(&pending->lock);
            listener_call(listener);
        } else {
            result = VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    }
    bf_lock_release(&pending->sleeper_lock);
    return result;
}

/* Ends and joins a listener that is in no list any more; 'view' has the turn on which it may
 * sleep. */
static void listener_end(struct bf_shared_listener *listener, struct bf_shared_view *view)
{
    struct bf_pending *pending = &listener->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    listener->stop = true;
    bf_lock_release(&pending->lock);
    listener_call(listener);
    /* Another process may reset the turn before the listener has seen it change: wake it again. */
    if (view) {
        do
            bf_shared_page_wake(view);
        while (!bf_thread_wait(&listener->thread, bf_now_ns() + CALL_SLICE_NS));
    }
    bf_thread_join(&listener->thread, UINT64_MAX);
    free(listener);
}

static void listener_unlink(struct bf_shared_watch *watch, struct bf_shared_listener *listener)
{
    struct bf_shared_listener **link = &watch->listeners;
    while (*link != listener)
        link = &(*link)->next;
    *link = listener->next;
}

static void watch_forget_slot(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    bf_lock_acquire(&pending->sleeper_lock);
    bf_lock_acquire(&pending->lock);
    struct bf_shared_listener *listener = shared->listener;
    shared->listener = NULL;
    if (listener) {
        struct bf_fence **link = &listener->fences;
        while (*link != fence)
            link = &(*link)->shared->next_listened;
        *link = shared->next_listened;
        listener->count--;
        if (listener->single)
            listener_unlink(pending->scheduler->fences->shared_watch, listener);
    }
    bf_lock_release(&pending->lock);
    bf_lock_release(&pending->sleeper_lock);
    if (listener && listener->single)
        listener_end(listener, &shared->view);
    else if (listener)
        listener_call(listener);
}

/* --- Ends --------------------------------------------------------------------------------------*/

/* With a reference; or NULL. The lock is held. */
static struct bf_fence *fence_find_by_serial(struct bf_pending *pending, uint64_t serial)
{
    struct bf_fence *fence = pending->fences;
    while (fence && !(fence->shared && fence->shared->serial == serial))
        fence = fence->next;
    if (fence)
        bf_fence_reference(fence);
    return fence;
}

/* A lingering fence that nobody waits for, with a reference; or NULL. The lock is held. */
static struct bf_fence *fence_find_without_waiters(struct bf_pending *pending)
{
    struct bf_fence *fence = pending->fences;
    while (fence && !(fence->shared && fence->shared->lingering && !fence->cpu_waits.root))
        fence = fence->next;
    if (fence)
        bf_fence_reference(fence);
    return fence;
}

static void fence_release_with_lock(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    bf_lock_acquire(&pending->lock);
    bf_fence_release(fence);
    bf_lock_release(&pending->lock);
}

void bf_shared_release_ended(struct bf_fence *fence)
{
    bf_shared_leave(fence);
    fence_release_with_lock(fence);
}

static void watch_handle_end(struct bf_shared_watch *watch, uint64_t what)
{
    struct bf_pending *pending = &watch->scheduler->pending;
    struct bf_effects effects = {0};
    bf_lock_acquire(&pending->lock);
    struct bf_fence *fence = fence_find_by_serial(pending, what / KINDS);
    bool over = false;
    if (fence && what % KINDS == OWNER_ENDED)
        over = bf_shared_owner_ended(fence, &effects);
    else if (fence)
        over = bf_shared_end_lingering(fence, &effects);
    bf_lock_release(&pending->lock);
    if (over)
        bf_shared_release_ended(fence);
    if (fence)
        fence_release_with_lock(fence);
    bf_effects_run(watch->scheduler, &effects);
}

static void watch_end_lingering(struct bf_shared_watch *watch)
{
    struct bf_pending *pending = &watch->scheduler->pending;
    struct bf_fence *fence;
    for (;;) {
        struct bf_effects effects = {0};
        bf_lock_acquire(&pending->lock);
        fence = fence_find_without_waiters(pending);
        if (fence)
            bf_shared_end_lingering(fence, &effects);
        bf_lock_release(&pending->lock);
        if (!fence)
            return;
        bf_shared_release_ended(fence);
        fence_release_with_lock(fence);
        bf_effects_run(watch->scheduler, &effects);
    }
}

/* Stops the checks. Whoever adds a peer wait and finds 'ticking' set relies on it, so the count is
 * read again. */
static void watch_stop_ticking(struct bf_shared_watch *watch)
{
    atomic_store(&watch->ticking, false);
    if (atomic_load(&watch->scheduler->pending.peer_waits))
        atomic_store(&watch->ticking, true);
}

static void *watch_run(void *argument)
{
    struct bf_shared_watch *watch = argument;
    struct bf_pending *pending = &watch->scheduler->pending;
    struct epoll_event events[16];
    uint32_t idle = 0;
    for (;;) {
        int n = epoll_wait(watch->epoll, events, 16, atomic_load(&watch->ticking) ? TICK_MS : -1);
        if (atomic_load(&watch->ticking)) {
            idle = atomic_load(&pending->peer_waits) ? 0 : idle + 1;
            if (idle == 0)
                bf_peer_timelines_watch(watch->scheduler);
            if (idle >= IDLE_TICKS)
                watch_stop_ticking(watch);
        }
        for (int i = 0; i < n; i++) {
            uint64_t count, what = events[i].data.u64;
            if (what != CALLED) {
                watch_handle_end(watch, what);
                continue;
            }
            ssize_t size = read(watch->call, &count, sizeof(count));
            (void)size;
            watch_end_lingering(watch);
        }
        bf_lock_acquire(&pending->lock);
        bool stop = watch->stop;
        bf_lock_release(&pending->lock);
        if (stop)
            return NULL;
    }
}

static VkResult watch_error(void)
{
    return errno == EMFILE || errno == ENFILE ? VK_ERROR_TOO_MANY_OBJECTS
                                              : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult watch_add_descriptor(struct bf_shared_watch *watch, int fd, uint32_t events,
                                     uint64_t what)
{
    struct epoll_event event = {.events = events, .data.u64 = what};
    return epoll_ctl(watch->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? VK_SUCCESS : watch_error();
}

/* Starts the thread. What was created is kept if a later step fails. The sleepers' lock is held. */
static VkResult watch_ensure_thread(struct bf_shared_watch *watch)
{
    struct bf_pending *pending = &watch->scheduler->pending;
    if (watch->started)
        return VK_SUCCESS;
    if (watch->epoll == -1)
        watch->epoll = bf_descriptor_lift(epoll_create1(EPOLL_CLOEXEC));
    if (watch->epoll == -1)
        return watch_error();
    if (watch->call == -1) {
        int fd = bf_descriptor_lift(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (fd == -1)
            return watch_error();
        VkResult result = watch_add_descriptor(watch, fd, EPOLLIN, CALLED);
        if (result != VK_SUCCESS) {
            close(fd);
            return result;
        }
        bf_lock_acquire(&pending->lock);
        watch->call = fd;
        bf_lock_release(&pending->lock);
    }
    watch->started = bf_thread_create(&watch->id, NULL, watch_run, watch) == 0;
    if (watch->started)
        atomic_fetch_add(&watch->scheduler->gpu.counters.sleeper_threads, 1);
    return watch->started ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VkResult bf_shared_watch_ends(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    if (shared->watched == -1 && shared->last[0] == -1)
        return VK_SUCCESS;
    bf_lock_acquire(&pending->sleeper_lock);
    struct bf_shared_watch *watch = watch_of_device(pending);
    VkResult result = watch ? watch_ensure_thread(watch) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS && shared->watched != -1)
        result = watch_add_descriptor(
            watch, shared->watched, (shared->watched == shared->owner ? EPOLLIN : 0) | EPOLLONESHOT,
            shared->serial * KINDS + OWNER_ENDED);
    if (result == VK_SUCCESS && shared->last[0] != -1)
        result = watch_add_descriptor(watch, shared->last[0], EPOLLONESHOT,
                                      shared->serial * KINDS + LAST_LEFT);
    bf_lock_release(&pending->sleeper_lock);
    return result;
}

VkResult bf_shared_watch_peers(struct bf_pending *pending)
{
    bf_lock_acquire(&pending->sleeper_lock);
    struct bf_shared_watch *watch = watch_of_device(pending);
    VkResult result = watch ? watch_ensure_thread(watch) : VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_lock_release(&pending->sleeper_lock);
    return result;
}

static void watch_call_thread(struct bf_shared_watch *watch)
{
    const uint64_t one = 1;
    ssize_t size = write(watch->call, &one, sizeof(one));
    (void)size; /* it can only be full, and then it is set */
}

void bf_shared_watch_peer_waits(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    bf_lock_acquire(&pending->lock);
    struct bf_shared_watch *watch = scheduler->fences->shared_watch;
    if (watch && !atomic_exchange(&watch->ticking, true))
        watch_call_thread(watch);
    bf_lock_release(&pending->lock);
}

void bf_shared_watch_end_lingering(struct bf_pending *pending)
{
    if (pending->scheduler->fences->shared_watch &&
        pending->scheduler->fences->shared_watch->call != -1)
        watch_call_thread(pending->scheduler->fences->shared_watch);
}

void bf_shared_watch_forget(struct bf_fence *fence)
{
    struct bf_pending *pending = &fence->scheduler->pending;
    struct bf_shared *shared = fence->shared;
    watch_forget_slot(fence);
    bf_lock_acquire(&pending->sleeper_lock);
    struct bf_shared_watch *watch = pending->scheduler->fences->shared_watch;
    if (watch && watch->epoll != -1) {
        if (shared->watched != -1)
            epoll_ctl(watch->epoll, EPOLL_CTL_DEL, shared->watched, NULL);
        if (shared->last[0] != -1)
            epoll_ctl(watch->epoll, EPOLL_CTL_DEL, shared->last[0], NULL);
    }
    bf_lock_release(&pending->sleeper_lock);
}

void bf_shared_watch_stop(struct bf_scheduler *scheduler)
{
    struct bf_pending *pending = &scheduler->pending;
    struct bf_shared_watch *watch = scheduler->fences->shared_watch;
    if (!watch)
        return;
    bf_lock_acquire(&pending->lock);
    watch->stop = true;
    bf_lock_release(&pending->lock);
    if (watch->started) {
        watch_call_thread(watch);
        pthread_join(watch->id, NULL);
    }
    while (watch->listeners) {
        struct bf_shared_listener *listener = watch->listeners;
        bf_lock_acquire(&pending->lock);
        watch->listeners = listener->next;
        struct bf_fence *fence = listener->fences;
        for (struct bf_fence *f = fence; f; f = f->shared->next_listened)
            f->shared->listener = NULL;
        bf_lock_release(&pending->lock);
        listener_end(listener, listener->single && fence ? &fence->shared->view : NULL);
    }
    bf_lock_acquire(&pending->lock);
    scheduler->fences->shared_watch = NULL;
    bf_lock_release(&pending->lock);
    if (watch->epoll != -1)
        close(watch->epoll);
    if (watch->call != -1)
        close(watch->call);
    free(watch);
}
