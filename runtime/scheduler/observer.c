/* SPDX-License-Identifier: MIT */
/* The list of all devices' observers, for events, which belong to no device. */
#include "scheduler/observer.h"

#include <stdatomic.h>

#include "base/lock.h"

static struct bf_lock observers_lock; /* taken before an observer's own */
static struct bf_observer *observers;
static _Atomic uint32_t observer_count;

void bf_observer_list(struct bf_observer *observer)
{
    if (!observer)
        return;
    bf_lock_acquire(&observers_lock);
    observer->next = observers;
    observers = observer;
    atomic_fetch_add(&observer_count, 1);
    bf_lock_release(&observers_lock);
}

void bf_observer_unlist(struct bf_observer *observer)
{
    if (!observer)
        return;
    bf_lock_acquire(&observers_lock);
    struct bf_observer **link = &observers;
    while (*link && *link != observer)
        link = &(*link)->next;
    if (*link) {
        *link = observer->next;
        atomic_fetch_sub(&observer_count, 1);
    }
    bf_lock_release(&observers_lock);
}

void bf_observe_event_seen(const void *event)
{
    if (atomic_load_explicit(&observer_count, memory_order_relaxed) == 0)
        return;
    bf_lock_acquire(&observers_lock);
    for (struct bf_observer *o = observers; o; o = o->next)
        o->calls->event_seen(o, event);
    bf_lock_release(&observers_lock);
}

void bf_observe_event_remove(const void *event)
{
    if (atomic_load_explicit(&observer_count, memory_order_relaxed) == 0)
        return;
    bf_lock_acquire(&observers_lock);
    for (struct bf_observer *o = observers; o; o = o->next)
        o->calls->event_remove(o, event);
    bf_lock_release(&observers_lock);
}
