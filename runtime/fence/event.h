/* SPDX-License-Identifier: MIT */
/*
 * Events: the equivalent of Win32 events, on top of an eventfd.
 *
 * A registration with a fence holds a reference to the event, not its handle: the program may
 * destroy the event meanwhile; setting it then does nothing.
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

/* Has the program asked for its descriptor? Then the program may see the event set without a call.
 * Thread-safety: safe. */
bool bf_event_is_polled(struct bf_event *event);

/* False: the program has destroyed it. Never blocks. Thread-safety: safe. */
bool bf_event_set(struct bf_event *event);

/* From now on 'wanted' is called, with no lock held, by every bfWaitForEvents that is about to
 * block and finds this event not set, so that whoever will set it can do so sooner. An event has
 * one such function; a later one replaces it. Thread-safety: safe. */
void bf_event_expect(struct bf_event *event, void (*wanted)(struct bf_event *event));

/* Is some bfWaitForEvents blocked for it? If not, calls that begin later see the function that was
 * passed to bf_event_expect before. Thread-safety: safe. */
bool bf_event_is_awaited(struct bf_event *event);

#endif
