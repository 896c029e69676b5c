/* SPDX-License-Identifier: MIT */
/*
 * Events. An event is set while its eventfd's counter is not 0: setting adds to the counter;
 * resetting and consuming read it. The amount has no meaning, and a full counter counts as set.
 *
 * D-1  A descriptor is written only while it belongs to the event: setting and closing exclude each
 *      other by the lock 'closing'. So a late signal of a fence never lands in a file that was
 *      opened since.
 * D-2  What one wait consumes is seen and consumed in one step, as all others who consume or reset
 *      see it: both hold the lock 'taking', and a wait for several events takes their locks in the
 *      order of their addresses. Setting needs no such lock: it makes no event unset.
 */
#include "fence/event.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/handle.h"
#include "base/lock.h"
#include "base/message.h"
#include "scheduler/observer.h"

struct bf_event {
    _Atomic uint32_t references; /* the handle's one and each registration's */
    bool manual;
    _Atomic bool polled;      /* the program has asked for its descriptor */
    _Atomic uint32_t awaited; /* calls that may block for it */
    _Atomic(void (*)(struct bf_event *)) wanted;
    struct bf_lock closing;
    struct bf_lock taking;
    int fd; /* -1 once the program has destroyed the event */
};

/* --- What is done to one eventfd ---------------------------------------------------------------*/

static void descriptor_add(int fd)
{
    uint64_t one = 1;
    /* EAGAIN: the counter is full, the event as set as can be. */
    while (write(fd, &one, sizeof(one)) == -1 && errno == EINTR)
        ;
}

/* Resets the eventfd. Was it set? */
static bool descriptor_take(int fd)
{
    uint64_t amount;
    ssize_t size;
    do {
        size = read(fd, &amount, sizeof(amount));
    } while (size == -1 && errno == EINTR);
    return size == (ssize_t)sizeof(amount);
}

static bool event_take(struct bf_event *event)
{
    bf_lock_acquire(&event->taking);
    bool taken = descriptor_take(event->fd);
    bf_lock_release(&event->taking);
    return taken;
}

/* --- Their lives -------------------------------------------------------------------------------*/

VkResult bfCreateEvent(BfEventFlags flags, BfEvent *pEvent)
{
    const BfEventFlags known = BF_EVENT_MANUAL_RESET_BIT | BF_EVENT_INITIALLY_SET_BIT;
    if (flags & ~known) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateEvent: flags has unknown bits: 0x%x", flags & ~known);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!pEvent) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateEvent: pEvent is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_event *event = calloc(1, sizeof(*event));
    if (!event)
        return result;
    atomic_init(&event->references, 1);
    event->manual = flags & BF_EVENT_MANUAL_RESET_BIT;
    event->fd = bf_descriptor_lift(
        eventfd(flags & BF_EVENT_INITIALLY_SET_BIT ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (event->fd == -1) {
        if (errno != ENOMEM)
            result = VK_ERROR_TOO_MANY_OBJECTS;
        goto no_descriptor;
    }
    if (!bf_handle_add(event, BF_HANDLE_EVENT))
        goto no_handle;
    *pEvent = (BfEvent)event;
    return VK_SUCCESS;

no_handle:
    close(event->fd);
no_descriptor:
    free(event);
    return result;
}

void bf_event_release(struct bf_event *event)
{
    if (event && atomic_fetch_sub(&event->references, 1) == 1)
        free(event);
}

void bfDestroyEvent(BfEvent handle)
{
    if (!handle || !bf_handle_check(handle, BF_HANDLE_EVENT, "bfDestroyEvent", "event"))
        return;
    struct bf_event *event = (struct bf_event *)handle;
    bf_handle_remove(event);
    bf_observe_event_remove(event);
    bf_lock_acquire(&event->closing);
    close(event->fd);
    event->fd = -1;
    bf_lock_release(&event->closing);
    bf_event_release(event);
}

struct bf_event *bf_event_of(BfEvent handle, const char *call)
{
    if (!bf_handle_check(handle, BF_HANDLE_EVENT, call, "event"))
        return NULL;
    struct bf_event *event = (struct bf_event *)handle;
    atomic_fetch_add(&event->references, 1);
    return event;
}

bool bf_event_is_polled(struct bf_event *event)
{
    return atomic_load(&event->polled);
}

void bf_event_expect(struct bf_event *event, void (*wanted)(struct bf_event *event))
{
    atomic_store(&event->wanted, wanted);
}

bool bf_event_is_awaited(struct bf_event *event)
{
    return atomic_load(&event->awaited) != 0;
}

/* --- Setting and resetting ---------------------------------------------------------------------*/

bool bf_event_set(struct bf_event *event)
{
    bf_lock_acquire(&event->closing);
    bool alive = event->fd != -1;
    if (alive)
        descriptor_add(event->fd);
    bf_lock_release(&event->closing);
    return alive;
}

VkResult bfSetEvent(BfEvent handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_EVENT, "bfSetEvent", "event"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    bf_event_set((struct bf_event *)handle);
    return VK_SUCCESS;
}

VkResult bfResetEvent(BfEvent handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_EVENT, "bfResetEvent", "event"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    event_take((struct bf_event *)handle);
    return VK_SUCCESS;
}

int bfGetEventFd(BfEvent handle)
{
    if (!bf_handle_check(handle, BF_HANDLE_EVENT, "bfGetEventFd", "event"))
        return -1;
    struct bf_event *event = (struct bf_event *)handle;
    atomic_store(&event->polled, true);
    bf_observe_event_seen(event); /* it may have been set before */
    return event->fd;
}

/* --- Waiting -----------------------------------------------------------------------------------*/

struct wait {
    uint32_t count;
    struct bf_event *events[BF_MAX_WAIT_EVENTS]; /* as given */
    struct bf_event
        *sorted[BF_MAX_WAIT_EVENTS];         /* in the order of their locks; with waitAll only */
    struct pollfd polls[BF_MAX_WAIT_EVENTS]; /* a negative descriptor is one poll skips */
};

/* VK_SUCCESS: some events are set, or were a moment ago. */
static VkResult wait_poll(struct wait *wait, uint64_t deadline)
{
    for (;;) {
        uint64_t left = bf_remaining_ns(deadline);
        struct timespec timeout = bf_timespec(left);
        int set = ppoll(wait->polls, wait->count, left == UINT64_MAX ? NULL : &timeout, NULL);
        if (set == 0)
            return VK_TIMEOUT;
        if (set == -1) {
            if (errno == EINTR)
                continue;
            bf_message(BF_MESSAGE_ERROR, "bfWaitForEvents: can't poll %u descriptors: error %d",
                       wait->count, errno);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        /* A descriptor was closed by other code: poll would return at once, for ever. */
        for (uint32_t i = 0; i < wait->count; i++) {
            if (wait->polls[i].revents & POLLNVAL) {
                bf_message(BF_MESSAGE_ERROR,
                           "bfWaitForEvents: pEvents[%u]'s descriptor is closed: %d", i,
                           wait->polls[i].fd);
                return VK_ERROR_VALIDATION_FAILED_EXT;
            }
        }
        return VK_SUCCESS;
    }
}

static VkResult wait_one(struct wait *wait, uint64_t deadline, uint32_t *index)
{
    for (;;) {
        VkResult result = wait_poll(wait, deadline);
        if (result != VK_SUCCESS)
            return result;
        for (uint32_t i = 0; i < wait->count; i++) {
            struct bf_event *event = wait->events[i];
            if (!(wait->polls[i].revents & POLLIN) || (!event->manual && !event_take(event)))
                continue;
            *index = i;
            return VK_SUCCESS;
        }
        /* Other threads have consumed all events that were set. */
    }
}

/* Consumes all events; all locks are held. Only a program that reads a descriptor itself can make
 * an event unset now; then the others are set again. */
static bool wait_take_all(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++) {
        if (wait->events[i]->manual || descriptor_take(wait->events[i]->fd))
            continue;
        while (i-- > 0) {
            if (!wait->events[i]->manual)
                descriptor_add(wait->events[i]->fd);
        }
        return false;
    }
    return true;
}

/* Are all set? VK_TIMEOUT if not; then 'polls' is ready for polling each event. */
static VkResult wait_all_look(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++)
        wait->polls[i].fd = wait->events[i]->fd;
    for (uint32_t i = 0; i < wait->count; i++)
        bf_lock_acquire(&wait->sorted[i]->taking);
    VkResult result = wait_poll(wait, 0);
    for (uint32_t i = 0; i < wait->count && result == VK_SUCCESS; i++) {
        if (!(wait->polls[i].revents & POLLIN))
            result = VK_TIMEOUT;
    }
    if (result == VK_SUCCESS && !wait_take_all(wait))
        result = VK_TIMEOUT;
    for (uint32_t i = 0; i < wait->count; i++)
        bf_lock_release(&wait->sorted[i]->taking);
    return result;
}

static VkResult wait_all(struct wait *wait, uint64_t deadline)
{
    for (;;) {
        VkResult result = wait_all_look(wait);
        if (result != VK_TIMEOUT)
            return result;
        /* Until each has been seen set, if not all at once. */
        for (;;) {
            bool waiting = false;
            for (uint32_t i = 0; i < wait->count; i++) {
                if (wait->polls[i].revents & POLLIN)
                    wait->polls[i].fd = -1;
                waiting |= wait->polls[i].fd != -1;
            }
            if (!waiting)
                break;
            result = wait_poll(wait, deadline);
            if (result != VK_SUCCESS)
                return result;
        }
    }
}

/* Sorts the events by the order of their locks. False: one is there twice. */
static bool wait_sort_events(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++) {
        struct bf_event *event = wait->events[i];
        uint32_t place = i;
        for (; place > 0 && (uintptr_t)wait->sorted[place - 1] > (uintptr_t)event; place--)
            wait->sorted[place] = wait->sorted[place - 1];
        if (place > 0 && wait->sorted[place - 1] == event) {
            bf_message(BF_MESSAGE_ERROR,
                       "bfWaitForEvents: pEvents[%u] is there twice, with waitAll: %p%s", i,
                       (void *)event, BF_LABEL(event));
            return false;
        }
        wait->sorted[place] = event;
    }
    return true;
}

/* Calls the functions of bf_event_expect for events that are not set; those that are set later see
 * bf_event_is_awaited. */
static void wait_announce_begin(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++) {
        struct bf_event *event = wait->events[i];
        atomic_fetch_add(&event->awaited, 1);
        void (*wanted)(struct bf_event *) = atomic_load(&event->wanted);
        struct pollfd look = {.fd = event->fd, .events = POLLIN};
        if (wanted && poll(&look, 1, 0) == 0)
            wanted(event);
    }
}

static void wait_announce_end(struct wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++)
        atomic_fetch_sub(&wait->events[i]->awaited, 1);
}

VkResult bfWaitForEvents(uint32_t count, const BfEvent *pEvents, VkBool32 waitAll,
                         uint64_t timeoutNs, uint32_t *pIndex)
{
    uint64_t deadline = bf_deadline_ns(timeoutNs);
    if (count == 0 || count > BF_MAX_WAIT_EVENTS) {
        bf_message(BF_MESSAGE_ERROR, "bfWaitForEvents: count is not 1 to %d: %u",
                   BF_MAX_WAIT_EVENTS, count);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!pEvents) {
        bf_message(BF_MESSAGE_ERROR, "bfWaitForEvents: pEvents is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct wait wait; /* 2 KiB, of which few waits use more than a line: filled as far as needed */
    wait.count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!bf_handle_check(pEvents[i], BF_HANDLE_EVENT, "bfWaitForEvents", "pEvents"))
            return VK_ERROR_VALIDATION_FAILED_EXT;
        wait.events[i] = (struct bf_event *)pEvents[i];
        wait.polls[i] = (struct pollfd){.fd = wait.events[i]->fd, .events = POLLIN};
    }
    if (waitAll && !wait_sort_events(&wait))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    uint32_t index = 0;
    if (timeoutNs)
        wait_announce_begin(&wait);
    VkResult result = waitAll ? wait_all(&wait, deadline) : wait_one(&wait, deadline, &index);
    if (timeoutNs)
        wait_announce_end(&wait);
    if (result != VK_SUCCESS)
        return result;
    for (uint32_t i = waitAll ? 0 : index; i < (waitAll ? count : index + 1); i++)
        bf_observe_event_seen(wait.events[i]);
    if (!waitAll && pIndex)
        *pIndex = index;
    return result;
}
