/* SPDX-License-Identifier: MIT */
/*
 * Events: what a Win32 event is, over an eventfd.
 *
 * A fence's registration holds a reference to the event, not its handle: the program may destroy
 * the event meanwhile, and then setting it does nothing.
 */
#ifndef BELFRY_FENCE_EVENT_H
#define BELFRY_FENCE_EVENT_H

#include <stdbool.h>

#include "belfry/belfry.h"

struct bf_event;

/* The event behind a live handle, with a reference for the caller; NULL for any other (one line
 * that names the call). Thread-safety: safe. */
struct bf_event *bf_event_of(BfEvent handle, const char *call);

/* NULL is allowed. Thread-safety: safe. */
void bf_event_release(struct bf_event *event);

/* Its descriptor was asked for: it may be seen set where nobody tells. Thread-safety: safe. */
bool bf_event_is_polled(struct bf_event *event);

/* False: the program has destroyed it. Never blocks. Thread-safety: safe. */
bool bf_event_set(struct bf_event *event);

/* From now on 'wanted' is called, without a lock, by every bfWaitForEvents that is about to block and
 * finds this event not set: somebody can see to it that it is set sooner. One function per event;
 * a later one takes its place. Thread-safety: safe. */
void bf_event_expect(struct bf_event *event, void (*wanted)(struct bf_event *event));

/* Does some bfWaitForEvents block for it? If not, those that begin after this see what
 * bf_event_expect was told before it. Thread-safety: safe. */
bool bf_event_is_awaited(struct bf_event *event);

#endif
