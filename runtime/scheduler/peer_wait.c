/* SPDX-License-Identifier: MIT */
/* Peer waits: the lists of them, and the limit that they set to an engine's completed epoch. */
#include "scheduler/peer_wait.h"

#include <stdlib.h>

#include "scheduler/fence.h"
#include "scheduler/packet.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

static const struct bf_peer_extension *peer_extension_of(const struct bf_peer_wait *peer_wait)
{
    return peer_wait->fence->scheduler->peer_extension;
}

static bool peer_wait_is_over(const struct bf_peer_wait *peer_wait)
{
    return peer_wait->released || peer_extension_of(peer_wait)->is_applied(peer_wait);
}

void bf_peer_wait_add(struct bf_pending *pending, struct bf_peer_wait *peer_wait, uint32_t engine,
                      uint64_t epoch)
{
    struct bf_pending_engine *e = &pending->engines[engine];
    struct bf_fence *fence = peer_wait->fence;
    peer_wait->engine = engine;
    peer_wait->epoch = epoch;
    peer_wait->next = NULL;
    if (e->peer_waits)
        e->last_peer_wait->next = peer_wait;
    else
        e->peer_waits = peer_wait;
    e->last_peer_wait = peer_wait;
    peer_wait->next_of_fence = fence->peer_waits;
    fence->peer_waits = peer_wait;
    atomic_fetch_add(&pending->peer_waits, 1);
}

static void peer_wait_unlist(struct bf_pending *pending, struct bf_peer_wait *peer_wait)
{
    struct bf_pending_engine *e = &pending->engines[peer_wait->engine];
    struct bf_fence *fence = peer_wait->fence;
    struct bf_peer_wait **link = &e->peer_waits, *before = NULL;
    while (*link != peer_wait) {
        before = *link;
        link = &before->next;
    }
    *link = peer_wait->next;
    if (e->last_peer_wait == peer_wait)
        e->last_peer_wait = before;
    link = &fence->peer_waits;
    while (*link != peer_wait)
        link = &(*link)->next_of_fence;
    *link = peer_wait->next_of_fence;
    if (peer_wait->holds_back && --fence->holding_peer_waits == 0)
        peer_extension_of(peer_wait)->expect(fence, false);
    peer_wait->holds_back = false;
    atomic_fetch_sub(&pending->peer_waits, 1);
}

void bf_peer_wait_withdraw(struct bf_pending *pending, struct bf_peer_wait *peer_wait)
{
    peer_wait_unlist(pending, peer_wait);
}

void bf_peer_wait_free(struct bf_peer_wait *peer_wait)
{
    if (peer_wait && peer_wait->fence)
        bf_fence_release(peer_wait->fence);
    free(peer_wait);
}

static void peer_wait_drop(struct bf_pending *pending, struct bf_peer_wait *peer_wait)
{
    peer_wait_unlist(pending, peer_wait);
    if (peer_wait->packet)
        peer_wait->packet->peer_wait = NULL; /* its driver call has not returned yet */
    bf_peer_wait_free(peer_wait);
}

uint64_t bf_peer_waits_limit(const struct bf_pending_engine *engine, uint64_t epoch)
{
    const struct bf_peer_wait *peer_wait = engine->peer_waits;
    return peer_wait && peer_wait->epoch <= epoch ? peer_wait->epoch - 1 : epoch;
}

bool bf_peer_waits_hold_back(const struct bf_pending_engine *engine)
{
    return engine->peer_waits && engine->peer_waits->epoch <= engine->seen;
}

/* SH-21: the epoch of the peer wait is complete, so from now on this process waits for the other
 * one. */
static void peer_wait_hold_back(struct bf_peer_wait *peer_wait)
{
    struct bf_fence *fence = peer_wait->fence;
    if (peer_wait->holds_back)
        return;
    peer_wait->holds_back = true;
    if (fence->holding_peer_waits++ == 0)
        peer_extension_of(peer_wait)->expect(fence, true);
}

bool bf_peer_waits_remove_over(struct bf_pending *pending)
{
    bool any = false;
    for (uint32_t i = 0; i < pending->engine_count && atomic_load(&pending->peer_waits); i++) {
        struct bf_pending_engine *e = &pending->engines[i];
        bool opened = false;
        while (bf_peer_waits_hold_back(e)) {
            if (!peer_wait_is_over(e->peer_waits))
                peer_wait_hold_back(e->peer_waits);
            if (!peer_wait_is_over(e->peer_waits))
                break;
            peer_wait_drop(pending, e->peer_waits);
            opened = true;
        }
        if (opened)
            bf_sleeper_kick_locked(e->sleeper);
        any = any || opened;
    }
    return any;
}

void bf_peer_waits_reached(struct bf_fence *fence, uint64_t value)
{
    for (struct bf_peer_wait *p = fence->peer_waits; p; p = p->next_of_fence)
        p->satisfied = p->satisfied || p->value <= value;
}

void bf_peer_waits_drop(struct bf_pending *pending)
{
    for (uint32_t i = 0; pending->engines && i < pending->engine_count; i++) {
        while (pending->engines[i].peer_waits)
            peer_wait_drop(pending, pending->engines[i].peer_waits);
    }
}
