/* SPDX-License-Identifier: MIT */
/* Rings of queues for user-mode submission, whose work the scheduler doesn't know before it has
 * been read: what their programs say is queued, compared with what has been read and is carried.
 * What has been read is under watch as all work is. */
#include "standstill/rings.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/message.h"
#include "doorbell/doorbell.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"
#include "standstill/snapshot.h"
#include "trace/trace.h"

struct look {
    struct bf_names *names;
    uint64_t now_ns, least_ns;
    bool outstanding;
};

static const char *unread_why(const struct bf_hw_queue_seen *seen)
{
    switch (seen->state) {
    case BF_DOORBELL_CONNECTED:
        return "the doorbell thread of its engine hasn't come to them";
    case BF_DOORBELL_CONNECTED_NOTIFY:
        return "the doorbell thread hasn't come to them, or nobody has rung and notified it";
    case BF_DOORBELL_DISCONNECTED_RETRY:
        return "its doorbell is disconnected, and nobody has connected it and rung since";
    default:
        return "its doorbell is aborted";
    }
}

static void ring_tell(const struct look *look, struct bf_hw_queue *hw,
                      const struct bf_hw_queue_seen *seen)
{
    char name[BF_GRAPH_NAME], text[2 * BF_GRAPH_NAME + 256];
    const double seconds = (double)(look->now_ns - hw->watched.since_ns) / 1e9;
    bf_snapshot_name_queue(&hw->queue->base, look->names, name);
    if (seen->written != seen->read)
        snprintf(text, sizeof(text),
                 "standstill: %s: %" PRIu64
                 " entries of its ring have not been read for %.1f s: %s",
                 name, seen->written - seen->read, seconds, unread_why(seen));
    else
        snprintf(text, sizeof(text),
                 "standstill: %s: its last-queued value has been %" PRIu64 " for %.1f s, but no "
                 "entry of its ring has a progress value above %" PRIu64 " (complete: %" PRIu64 ")",
                 name, seen->queued, seconds, seen->carried, seen->completed);
    bf_trace_standstill(hw->queue->base.scheduler->gpu.trace, text);
    bf_message(BF_MESSAGE_WARNING, "%s", text);
}

static void ring_look(struct bf_hw_queue *hw, void *argument)
{
    struct look *look = argument;
    struct bf_hw_queue_seen seen;
    struct bf_hw_queue_watched *w = &hw->watched;
    if (!bf_hw_queue_see(hw, &seen) || (seen.written == seen.read && seen.queued <= seen.carried)) {
        *w = (struct bf_hw_queue_watched){0};
        return;
    }
    look->outstanding = true;
    if (!w->since_ns || w->read != seen.read || w->carried != seen.carried)
        *w = (struct bf_hw_queue_watched){look->now_ns, seen.read, seen.carried, false};
    if (w->told || !look->least_ns || look->now_ns - w->since_ns < look->least_ns)
        return;
    w->told = true;
    ring_tell(look, hw, &seen);
}

bool bf_rings_look(struct bf_scheduler *scheduler, struct bf_names *names, uint64_t now_ns,
                   uint64_t least_ns)
{
    struct look look = {names, now_ns, least_ns, false};
    if (atomic_load(&scheduler->doorbells))
        bf_doorbells_each(scheduler, ring_look, &look);
    return look.outstanding;
}
