/* SPDX-License-Identifier: MIT */
/* Looks at the calls that are under way. */
#include "standstill/calls.h"

#include "scheduler/scheduler.h"

/* CW-1: no wait has to last for more than so many doublings of the set time. */
#define PAUSES 10

/* For so many looks a thread keeps a place that it doesn't use. */
#define UNUSED 16

struct bf_semaphore *bf_calls_semaphore(struct bf_scheduler *scheduler,
                                        const struct bf_call_seen *call)
{
    return call->command == BF_WATCHED_WAIT_SEMAPHORES
               ? bf_semaphore_find_living(scheduler, (VkSemaphore)call->wait.handle)
               : NULL;
}

/* Nobody has used the place since the last look: after a while it may be another thread's, unless
 * somebody takes it at this moment. */
static void place_unused(struct bf_watched_call *call)
{
    if (!atomic_load(&call->owner) || ++call->look.unused < UNUSED ||
        atomic_exchange(&call->taken, true))
        return;
    if (atomic_load(&call->count) == call->look.call.count) {
        bf_watch_wait_anew(call);
        atomic_store(&call->owner, 0);
        call->look.pauses = 0;
    }
    atomic_store(&call->taken, false);
}

static uint64_t call_value(struct bf_scheduler *scheduler, const struct bf_call_seen *seen)
{
    struct bf_semaphore *sem = bf_calls_semaphore(scheduler, seen);
    uint64_t value = sem ? bf_semaphore_accepted(sem) : 0;
    bf_semaphore_release(sem);
    return value;
}

/* Is it what it was at the last look? */
static bool call_goes_on(const struct bf_watched_call *call, const struct bf_call_seen *seen,
                         bool under_way)
{
    const struct bf_call_seen *last = &call->look.call;
    bool moved = seen->count != last->count;
    if (!call->look.seen || seen->command != last->command)
        return false;
    if (bf_watch_is_wait(seen->command))
        return (under_way || moved) && seen->version == last->version && seen->version % 2 == 0;
    return under_way && !moved;
}

static bool call_watch(struct bf_scheduler *scheduler, struct bf_watched_call *call,
                       uint64_t now_ns, uint64_t least_ns, bool *active)
{
    struct bf_call_seen seen;
    bool under_way = bf_watch_see_call(call, &seen), wait = bf_watch_is_wait(seen.command);
    bool moved = seen.count != call->look.call.count;
    if (!call_goes_on(call, &seen, under_way)) {
        call->look.pauses += call->look.was_told && wait && call->look.pauses < PAUSES;
        call->look.since_ns = call->look.still_since_ns = now_ns;
        call->look.told = call->look.was_told = false;
    }
    call->look.seen = under_way || (wait && moved);
    call->look.call = seen;
    uint64_t value = call->look.seen && wait ? call_value(scheduler, &seen) : 0;
    if (value != call->look.value) {
        call->look.still_since_ns = now_ns;
        call->look.told = false;
    }
    call->look.value = value;
    call->look.lasts = call->look.seen && least_ns &&
                       now_ns - call->look.since_ns >= least_ns << call->look.pauses;
    bool stands = call->look.lasts && now_ns - call->look.still_since_ns >= least_ns;
    *active = *active || moved || (under_way && !(wait && stands));
    if (call->look.seen)
        call->look.unused = 0;
    else
        place_unused(call);
    return call->look.lasts;
}

bool bf_calls_watch(struct bf_scheduler *scheduler, struct bf_watched_call *first, uint64_t now_ns,
                    uint64_t least_ns, bool *active)
{
    bool lasts = false;
    for (struct bf_watched_call *call = first; call; call = atomic_load(&call->next))
        lasts = call_watch(scheduler, call, now_ns, least_ns, active) || lasts;
    return lasts;
}
