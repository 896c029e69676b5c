/* SPDX-License-Identifier: MIT */
/*
 * Fence operations: a box each, from when the CPU queued it to when the GPU was through with it.
 *
 * When that is, one of three tells: the entry that the GPU wrote into the queue's log
 * (bf_trace_fence_done); the stamps of the packet that carries it; or what it comes after: a wait
 * ends with the signal it waits for, a signal with the queue's timed packets and waits before it.
 *
 * Of many an operation it is reported only that it was over by some time: by an entry without a
 * time, or with that of a later batch, which may have come after a night's sleep. It stays open
 * until what it comes after is known, and ends with that (T-6).
 */
#include <stdlib.h>

#include "trace/probes.h"
#include "trace/state.h"

/* How the end of an operation is known. */
struct ending {
    uint64_t time_ns;
    uint64_t observed_ns; /* 0: not blocked, or unknown */
    enum bf_string by;    /* NONE: the log */
    bool at_most;         /* it was over by then; nobody knows since when */
    /* of a wait: the number of the arrow that ends there; 0: still to be found */
    uint64_t flow;
};

static enum bf_string category_of(enum bf_trace_fence_op kind)
{
    return kind == BF_TRACE_FENCE_WAIT ? BF_STRING_FENCE_WAIT : BF_STRING_FENCE_SIGNAL;
}

/* "wait", or "wait NAME". */
static uint64_t fence_op_name(struct bf_trace *t, enum bf_trace_fence_op kind, uint64_t fence)
{
    const char *name = bf_trace_semaphore_name(t, fence);
    if (!name)
        return kind == BF_TRACE_FENCE_WAIT ? BF_STRING_WAIT : BF_STRING_SIGNAL;
    char text[BF_TRACE_NAME + 8];
    snprintf(text, sizeof(text), "%s %s", kind == BF_TRACE_FENCE_WAIT ? "wait" : "signal", name);
    return bf_interning_number(&t->interning, text);
}

static uint32_t fence_op_annotate(struct bf_trace *t, struct bf_trace_sync sync, uint64_t packet,
                                  struct bf_perfetto_annotation a[5])
{
    uint32_t n = bf_trace_sync_annotate(t, BF_STRING_FENCE, sync, a);
    if (packet)
        a[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_PACKET, .kind = BF_PERFETTO_UINT, .number = packet};
    return n;
}

static void queue_unsettle(struct bf_trace *t, uint32_t index)
{
    struct bf_trace_queue *queue = &t->queues[index];
    if (queue->unsettled)
        return;
    queue->unsettled = true;
    queue->next_unsettled = t->first_unsettled;
    t->first_unsettled = index;
}

static void time_reach(uint64_t *reached_ns, bool *at_most, uint64_t time_ns, bool time_at_most)
{
    if (*reached_ns < time_ns || (*reached_ns == time_ns && !time_at_most)) {
        *reached_ns = time_ns;
        *at_most = time_at_most;
    }
}

/* Something of the queue was over at that time: signals behind it ended no earlier. They are those
 * behind an operation, or behind so many timed packets. */
static void queue_reached(struct bf_trace *t, uint32_t index, uint64_t time_ns, bool at_most,
                          uint64_t op, uint64_t packets)
{
    struct bf_trace_queue *queue = &t->queues[index];
    struct bf_fence_list *signals = &queue->fences->lists[BF_TRACE_FENCE_SIGNAL];
    time_reach(&queue->reached_ns, &queue->reached_at_most, time_ns, at_most);
    for (uint64_t at = signals->begin; at < signals->end; at++) {
        struct bf_fence_op *signal = bf_fence_list_at(signals, at);
        if (signal->handed_over_ns && (packets ? signal->after >= packets : signal->id > op))
            time_reach(&signal->before_ns, &signal->before_vague, time_ns, at_most);
    }
    queue_unsettle(t, index);
}

/* --- Arrows -----------------------------------------------------------------------------------*/

/* The signal that satisfies a wait, as far as it is known. */
struct source {
    struct bf_fence_op *op;         /* a pending signal, */
    struct bf_fence_arrows *arrows; /* with its arrows; or NULL: */
    const struct bf_flow_op *drawn; /* a signal that is over; if this is NULL, too, the host's */
};

/* False: the signal is no longer known, as too many operations have followed it. */
static bool source_find(struct bf_trace *t, uint64_t id, uint32_t queue, struct source *source)
{
    *source = (struct source){0};
    if (!id)
        return true;
    struct bf_fence_ops *ops = t->queues[queue].fences;
    source->op = bf_fence_list_find_id(&ops->lists[BF_TRACE_FENCE_SIGNAL], id);
    if (source->op)
        source->arrows = bf_fence_arrows_of(ops, source->op);
    else
        source->drawn = bf_flow_op_find(t->flow, id);
    return source->op || source->drawn;
}

static struct bf_flow_signal *signal_of(struct bf_trace *t, struct bf_trace_sync wait,
                                        struct source *source)
{
    const struct bf_trace_sync key = {bf_trace_fence_key(wait.semaphore), wait.value};
    struct bf_flow_signal *signal = bf_flow_signal_find(t->flow, key);
    return signal && source_find(t, signal->packet, signal->queue, source) ? signal : NULL;
}

/* The number of an arrow that begins at a pending signal; 0: there are too many. */
static uint64_t arrow_from(struct bf_trace *t, struct bf_flow_signal *signal,
                           struct bf_fence_arrows *arrows, uint64_t consumer, uint32_t queue)
{
    uint64_t flow = signal->flow;
    if (flow && !consumer) {
        signal->flow = 0;
        return flow; /* the signal's end carries this number in any case */
    }
    if (arrows->count == BF_FLOW_ENDS) {
        t->flow->lost++;
        return 0;
    }
    signal->flow = 0;
    if (!flow)
        flow = t->flow->next_flow++;
    arrows->out[arrows->count++] =
        (struct bf_fence_out){.flow = flow, .consumer = consumer, .queue = queue};
    return flow;
}

/* Finds the arrow that ends at a wait. This is done when the wait's packet is handed over: by then
 * all signals that satisfy it have been handed over, and the program can't have destroyed the
 * fence. If nothing is found then, it is done at the wait's end. */
static void arrow_find(struct bf_trace *t, struct bf_fence_op *wait, uint64_t now)
{
    struct source source;
    bool known = wait->found || wait->destroyed;
    struct bf_flow_signal *signal = known ? NULL : signal_of(t, wait->sync, &source);
    /* A signal that was queued after the wait's end or its hand-over, or isn't handed over yet:
     * another one has satisfied the wait. (One that goes in the same call as what is before it is
     * handed over when that returns, and may let others go before: E-5, scheduler/pending.h.) */
    if (!signal ||
        (source.op && (source.op->queued_ns >= now || !source.op->handed_over_ns ||
                       (wait->handed_over_ns && source.op->queued_ns > wait->handed_over_ns))))
        return;
    wait->found = true;
    wait->source = signal->packet;
    wait->source_queue = signal->queue;
    if (source.op) {
        wait->not_before_ns = source.op->queued_ns + 1;
        wait->flow = arrow_from(t, signal, source.arrows, 0, 0);
        return;
    }
    wait->not_before_ns = source.drawn ? source.drawn->over_ns : signal->time_ns;
    wait->flow = signal->flow;
    signal->flow = 0;
    if (wait->flow)
        return;
    wait->flow = t->flow->next_flow++;
    bf_trace_arrow_end(t, source.drawn ? source.drawn->time_ns : signal->time_ns,
                       source.drawn ? source.drawn->track : bf_trace_host_track(t),
                       BF_STRING_SIGNAL, 0, &wait->flow, NULL);
}

/* The wait is handed over. If its fence has the value by then, no signal to a value that it hasn't
 * satisfies it. (That a signal has been executed is known before its time is.) */
static void wait_hand_over(struct bf_trace *t, struct bf_fence_op *wait, uint64_t now)
{
    struct source source;
    wait->handed_over_ns = now;
    const uint64_t has = bf_trace_value_of(t, wait->sync.semaphore);
    if (wait->destroyed || !(wait->met || has >= wait->sync.value))
        return;
    const struct bf_flow_signal *signal = signal_of(t, wait->sync, &source);
    wait->found = !signal || (source.op && signal->sync.value > has);
}

/* Ends the wait at 'end_ns', or as soon afterwards as its arrow can end there. */
static uint64_t arrow_arrive(struct bf_trace *t, const struct bf_fence_op *wait, uint64_t end_ns)
{
    struct source source;
    if (end_ns < wait->not_before_ns)
        end_ns = wait->not_before_ns;
    if (!source_find(t, wait->source, wait->source_queue, &source))
        return end_ns;
    if (source.drawn && end_ns < source.drawn->over_ns)
        end_ns = source.drawn->over_ns;
    if (source.arrows && (!source.arrows->over_ns || end_ns < source.arrows->over_ns))
        source.arrows->over_ns = end_ns;
    return end_ns;
}

/* --- Ends -------------------------------------------------------------------------------------*/

/* Draws the time during which the GPU was blocked, inside the box of a wait. */
static void blocked_write(struct bf_trace *t, uint64_t track, uint64_t begin_ns, uint64_t end_ns)
{
    if (!bf_trace_event(t, &t->late,
                        &(struct bf_perfetto_event){.time_ns = begin_ns,
                                                    .track = track,
                                                    .type = BF_PERFETTO_BEGIN,
                                                    .category = BF_STRING_FENCE_BLOCKED,
                                                    .name = BF_STRING_BLOCKED}))
        return;
    bf_trace_event(
        t, &t->late,
        &(struct bf_perfetto_event){.time_ns = end_ns, .track = track, .type = BF_PERFETTO_END});
}

/* Draws the end of a box; of an operation without a lane, an instant. */
static uint64_t end_write(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind,
                          const struct bf_fence_op *op, const struct ending *ending,
                          struct bf_perfetto_event *event)
{
    bool boxed = op->lane != BF_TRACE_NO_LANE;
    uint64_t track = bf_trace_fence_track(t, queue, boxed ? op->lane : 0);
    struct bf_perfetto_annotation about[7];
    uint32_t n = boxed ? 0 : fence_op_annotate(t, op->sync, op->packet, about);
    if (ending->by)
        about[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_ENDED_BY, .kind = BF_PERFETTO_INTERNED, .number = ending->by};
    if (ending->at_most)
        about[n++] = (struct bf_perfetto_annotation){
            .name = BF_STRING_AT_MOST, .kind = BF_PERFETTO_UINT, .number = 1};
    uint64_t observed_ns =
        ending->observed_ns > op->queued_ns ? ending->observed_ns : op->queued_ns;
    if (boxed && ending->observed_ns && observed_ns < ending->time_ns)
        blocked_write(t, track, observed_ns, ending->time_ns);
    event->time_ns = ending->time_ns;
    event->track = track;
    event->type = boxed ? BF_PERFETTO_END : BF_PERFETTO_INSTANT;
    event->category = boxed ? BF_STRING_NONE : category_of(kind);
    event->name = boxed ? 0 : fence_op_name(t, kind, op->sync.semaphore);
    event->annotation_count = n;
    event->annotations = about;
    bf_trace_event(t, &t->late, event);
    if (boxed)
        bf_fence_lane_free(t->queues[queue].fences, op->lane, ending->time_ns);
    return track;
}

static void fence_ops_over(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind,
                           struct bf_fence_op *op, const struct ending *ending)
{
    uint64_t id = op->id;
    t->queues[queue].reported -= op->reported;
    bf_fence_list_remove(&t->queues[queue].fences->lists[kind], op);
    queue_reached(t, queue, ending->time_ns, ending->at_most, id, 0);
}

static void done_probe(uint32_t queue, enum bf_trace_fence_op kind, struct bf_trace_sync sync,
                       const struct ending *ending)
{
    if (kind == BF_TRACE_FENCE_WAIT)
        BF_PROBE5(fence_wait_unblocked, queue, sync.semaphore, sync.value, ending->time_ns,
                  ending->observed_ns);
    else
        BF_PROBE4(fence_signal_executed, queue, sync.semaphore, sync.value, ending->time_ns);
}

static void wait_finish(struct bf_trace *t, uint32_t queue, struct bf_fence_op *op,
                        struct ending ending)
{
    if (ending.time_ns < op->queued_ns)
        ending.time_ns = op->queued_ns;
    if (op->destroyed && ending.by != BF_STRING_DROPPED)
        ending.by = BF_STRING_DESTROYED;
    else if (!ending.flow && ending.by != BF_STRING_DROPPED) {
        arrow_find(t, op, ending.time_ns);
        ending.flow = op->flow;
        if (op->flow)
            ending.time_ns = arrow_arrive(t, op, ending.time_ns);
    }
    done_probe(queue, BF_TRACE_FENCE_WAIT, op->sync, &ending);
    struct bf_perfetto_event event = {.terminating_flow_count = ending.flow ? 1 : 0,
                                      .terminating_flows = &ending.flow};
    end_write(t, queue, BF_TRACE_FENCE_WAIT, op, &ending, &event);
    fence_ops_over(t, queue, BF_TRACE_FENCE_WAIT, op, &ending);
}

static void signal_finish(struct bf_trace *t, uint32_t queue, struct bf_fence_op *op,
                          struct ending ending)
{
    /* Copied, since its place may be reused before this function ends. */
    const struct bf_fence_arrows arrows = *bf_fence_arrows_of(t->queues[queue].fences, op);
    if (ending.at_most && arrows.over_ns && arrows.over_ns <= ending.time_ns)
        ending.time_ns = arrows.over_ns - 1;
    if (ending.time_ns < op->queued_ns)
        ending.time_ns = op->queued_ns;
    done_probe(queue, BF_TRACE_FENCE_SIGNAL, op->sync, &ending);
    if (ending.by != BF_STRING_DROPPED)
        bf_trace_value_take(t, op->sync, ending.time_ns);

    uint64_t flows[1 + BF_FLOW_ENDS] = {arrows.own};
    uint32_t flow_count = 1;
    for (uint32_t i = 0; i < arrows.count; i++) {
        if (arrows.out[i].flow != arrows.own)
            flows[flow_count++] = arrows.out[i].flow;
    }
    /* A wait that was over before the signal, by its own clock or by another signal of the same
     * value: the arrow begins inside the signal's box. */
    bool early = arrows.over_ns && arrows.over_ns <= ending.time_ns;
    if (early) {
        const struct bf_perfetto_event mark = {
            .time_ns = arrows.over_ns - 1, /* later than the time at which it was queued */
            .track = bf_trace_fence_track(t, queue, op->lane != BF_TRACE_NO_LANE ? op->lane : 0),
            .type = BF_PERFETTO_INSTANT,
            .category = BF_STRING_ARROW,
            .name = BF_STRING_SIGNAL,
            .flow_count = flow_count,
            .flows = flows,
        };
        bf_trace_event(t, &t->late, &mark);
    }
    struct bf_perfetto_event event = {.flow_count = early ? 0 : flow_count, .flows = flows};
    struct bf_flow_op *record = bf_flow_op_add(t->flow, op->id);
    record->track = end_write(t, queue, BF_TRACE_FENCE_SIGNAL, op, &ending, &event);
    /* One nanosecond before the end, so that an instant there belongs to this box and not to the
     * next. */
    record->time_ns = ending.time_ns > op->queued_ns ? ending.time_ns - 1 : ending.time_ns;
    record->over_ns = ending.time_ns;
    record->at_most = ending.at_most;
    fence_ops_over(t, queue, BF_TRACE_FENCE_SIGNAL, op, &ending);
    bf_trace_count_for(t, queue, BF_TRACK_SIGNALS_PENDING, -1, bf_now_ns());
    for (uint32_t i = 0; i < t->queue_count; i++) {
        if (t->queues[i].reported)
            queue_unsettle(t, i);
    }

    for (uint32_t i = 0; i < arrows.count; i++) {
        const struct bf_fence_out *out = &arrows.out[i];
        struct bf_fence_ops *others = t->queues[out->queue].fences;
        struct bf_fence_op *wait =
            out->consumer
                ? bf_fence_list_find_id(&others->lists[BF_TRACE_FENCE_WAIT], out->consumer)
                : NULL;
        if (wait)
            wait_finish(t, out->queue, wait,
                        (struct ending){.time_ns = wait->handed_over_ns > ending.time_ns
                                                       ? wait->handed_over_ns
                                                       : ending.time_ns,
                                        .by = BF_STRING_SIGNAL,
                                        .at_most = ending.at_most,
                                        .flow = out->flow});
    }
}

static void fence_ops_finish(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind,
                             struct bf_fence_op *op, struct ending ending)
{
    if (kind == BF_TRACE_FENCE_WAIT)
        wait_finish(t, queue, op, ending);
    else
        signal_finish(t, queue, op, ending);
}

/* --- What comes after something else ----------------------------------------------------------*/

/* Has the queue a wait before this signal that isn't over? */
static bool waits_before(struct bf_fence_ops *ops, const struct bf_fence_op *signal)
{
    struct bf_fence_list *waits = &ops->lists[BF_TRACE_FENCE_WAIT];
    for (uint64_t at = waits->begin; at < waits->end; at++) {
        const struct bf_fence_op *wait = bf_fence_list_at(waits, at);
        if (wait->id > signal->id)
            break;
        if (wait->id && wait->handed_over_ns)
            return true;
    }
    return false;
}

/* It was over when that was reported, at most. */
static struct ending ending_at_most(const struct bf_fence_op *op)
{
    return (struct ending){.time_ns = op->at_most_ns, .by = op->by, .at_most = true};
}

/* The end of a wait that is over: the call, or the end of its signal. False: that isn't known
 * yet. */
static bool wait_settle(struct bf_trace *t, struct bf_fence_op *op, struct ending *ending)
{
    struct source source = {0};
    arrow_find(t, op, op->at_most_ns);
    *ending = ending_at_most(op);
    if (!op->found || !source_find(t, op->source, op->source_queue, &source))
        return true;
    if (source.op)
        return false;
    /* not_before_ns is when the host signalled */
    uint64_t over_ns = source.drawn ? source.drawn->over_ns : op->not_before_ns;
    if (over_ns < op->queued_ns)
        over_ns = op->queued_ns;
    *ending = (struct ending){
        .time_ns = over_ns < op->at_most_ns ? over_ns : op->at_most_ns,
        .observed_ns = op->observed_ns,
        .by = BF_STRING_SIGNAL,
        .at_most = source.drawn && source.drawn->at_most,
    };
    return true;
}

/* The end of a signal of which it isn't told, or only that it is over: that of what comes before
 * it. False: that isn't known yet. */
static bool signal_settle(const struct bf_trace_queue *queue, const struct bf_fence_op *op,
                          struct ending *ending)
{
    if (op->reported && op->unseen) {
        *ending = ending_at_most(op);
        return true;
    }
    if (op->after > queue->timed_executed || waits_before(queue->fences, op))
        return false;
    bool at_once = op->before_ns <= op->handed_over_ns;
    *ending = (struct ending){
        .time_ns = at_once ? op->handed_over_ns : op->before_ns,
        .by = at_once ? BF_STRING_HAND_OVER : BF_STRING_STAMPS,
        .at_most = !at_once && op->before_vague,
    };
    if (op->reported && ending->time_ns > op->at_most_ns)
        ending->time_ns = op->at_most_ns;
    return true;
}

static void queue_settle(struct bf_trace *t, uint32_t index)
{
    struct bf_trace_queue *queue = &t->queues[index];
    if (!queue->fences)
        return;
    struct ending ending;
    struct bf_fence_list *waits = &queue->fences->lists[BF_TRACE_FENCE_WAIT];
    for (uint64_t at = waits->begin; at < waits->end && queue->reported; at++) {
        struct bf_fence_op *op = bf_fence_list_at(waits, at);
        if (op->id && op->reported && wait_settle(t, op, &ending))
            wait_finish(t, index, op, ending);
    }
    struct bf_fence_list *signals = &queue->fences->lists[BF_TRACE_FENCE_SIGNAL];
    for (uint64_t at = signals->begin; at < signals->end; at++) {
        struct bf_fence_op *op = bf_fence_list_at(signals, at);
        if (!op->id || !op->handed_over_ns)
            continue;
        if (op->told && !op->reported) {
            if (op->logged)
                break; /* its entry will come, and then those behind it */
            continue;
        }
        if (!signal_settle(queue, op, &ending))
            break;
        signal_finish(t, index, op, ending);
    }
}

/* The end of a signal ends waits of other queues, which lets signals of those queues end. This is a
 * loop and not a recursion, since such a chain can be as long as there are operations. */
static void queues_settle(struct bf_trace *t)
{
    while (t->first_unsettled != UINT32_MAX) {
        uint32_t index = t->first_unsettled;
        t->first_unsettled = t->queues[index].next_unsettled;
        t->queues[index].unsettled = false;
        queue_settle(t, index);
    }
}

/* A wait without times of its own ends now, or when its signal does. */
static void wait_pass(struct bf_trace *t, uint32_t queue, struct bf_fence_op *op, uint64_t now)
{
    struct source source;
    bool known = op->destroyed || op->found;
    struct bf_flow_signal *signal = known ? NULL : signal_of(t, op->sync, &source);
    /* Only a signal that was handed over before the wait: so no two operations wait for each other,
     * whatever is reported. */
    if (signal && source.op && source.op->handed_over_ns &&
        arrow_from(t, signal, source.arrows, op->id, queue))
        return;
    wait_finish(t, queue, op, (struct ending){.time_ns = now, .by = BF_STRING_HAND_OVER});
}

/* Its end is known. But a wait for a value that there was when it was queued is over then: what it
 * comes before began later for other reasons. */
static void fence_ops_ended(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind,
                            struct bf_fence_op *op, struct ending ending)
{
    struct source source = {0};
    if (kind == BF_TRACE_FENCE_WAIT)
        arrow_find(t, op, ending.time_ns);
    if (kind == BF_TRACE_FENCE_WAIT && op->found && (op->source || op->not_before_ns) &&
        source_find(t, op->source, op->source_queue, &source) && !source.op &&
        !(source.drawn && source.drawn->at_most) &&
        (source.drawn ? source.drawn->over_ns : op->not_before_ns) <= op->queued_ns)
        ending = (struct ending){.time_ns = op->queued_ns, .by = BF_STRING_SIGNAL};
    fence_ops_finish(t, queue, kind, op, ending);
}

/* The operation is over, and was so by 'at_most_ns' at the latest. */
static void fence_ops_report(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind,
                             struct bf_fence_op *op, uint64_t at_most_ns, uint64_t observed_ns,
                             enum bf_string by)
{
    if (op->stamp_ns) {
        fence_ops_ended(t, queue, kind, op,
                        (struct ending){.time_ns = op->stamp_ns, .by = BF_STRING_STAMPS});
        return;
    }
    op->reported = true;
    op->at_most_ns = at_most_ns;
    op->observed_ns = observed_ns;
    op->by = by;
    if (!op->handed_over_ns) /* nobody said so, but it must have been */
        op->handed_over_ns = kind == BF_TRACE_FENCE_WAIT ? at_most_ns : op->queued_ns;
    t->queues[queue].reported++;
    queue_unsettle(t, queue);
}

/* Ends the oldest operation of a kind that is over, without knowing since when. False: there is
 * none. */
static bool fence_ops_give_up(struct bf_trace *t, uint32_t queue, enum bf_trace_fence_op kind)
{
    if (!t->queues[queue].reported)
        return false;
    struct bf_fence_list *list = &t->queues[queue].fences->lists[kind];
    for (uint64_t at = list->begin; at < list->end; at++) {
        struct bf_fence_op *op = bf_fence_list_at(list, at);
        if (!op->id || !op->reported)
            continue;
        op->flow = 0; /* an arrow from a signal that isn't over would come from nowhere */
        fence_ops_finish(t, queue, kind, op, ending_at_most(op));
        queues_settle(t);
        return true;
    }
    return false;
}

void bf_trace_fences_destroyed(struct bf_trace *t, uint64_t semaphore)
{
    struct source source;
    for (uint32_t i = 0; i < t->queue_count; i++) {
        struct bf_fence_ops *ops = t->queues[i].fences;
        struct bf_fence_list *waits = ops ? &ops->lists[BF_TRACE_FENCE_WAIT] : NULL;
        for (uint64_t at = waits ? waits->begin : 0; waits && at < waits->end; at++) {
            struct bf_fence_op *wait = bf_fence_list_at(waits, at);
            if (!wait->id || wait->handed_over_ns || wait->sync.semaphore != semaphore)
                continue;
            const struct bf_flow_signal *signal = signal_of(t, wait->sync, &source);
            wait->destroyed = !signal || (source.op && !source.op->handed_over_ns);
        }
    }
}

void bf_trace_fences_end(struct bf_trace *t)
{
    for (uint32_t i = 0; i < t->queue_count; i++) {
        while (fence_ops_give_up(t, i, BF_TRACE_FENCE_WAIT) ||
               fence_ops_give_up(t, i, BF_TRACE_FENCE_SIGNAL))
            continue;
    }
}

/* The packet's next operation of a kind, from *at on, which moves past it. */
static struct bf_fence_op *fence_next_of(struct bf_fence_list *list,
                                         const struct bf_trace_packet *packet, uint64_t *at)
{
    for (; *at < list->end; ++*at) {
        struct bf_fence_op *op = bf_fence_list_at(list, *at);
        if (op->id && op->packet == packet->id) {
            ++*at;
            return op;
        }
    }
    return NULL;
}

void bf_trace_fences_divided(struct bf_trace *t, const struct bf_trace_packet *part,
                             const struct bf_trace_packet *rest)
{
    struct bf_fence_ops *ops = t->queues[part->queue].fences;
    struct bf_fence_list *signals = ops ? &ops->lists[BF_TRACE_FENCE_SIGNAL] : NULL;
    struct bf_fence_op *op;
    for (uint64_t at = signals ? signals->begin : 0;
         signals && (op = fence_next_of(signals, part, &at)) != NULL;)
        op->packet = rest->id;
}

void bf_trace_fences_handed_over(struct bf_trace *t, const struct bf_trace_packet *packet,
                                 uint64_t now)
{
    struct bf_trace_queue *queue = &t->queues[packet->queue];
    if (!queue->fences)
        return;
    struct bf_fence_op *op;
    struct bf_fence_list *waits = &queue->fences->lists[BF_TRACE_FENCE_WAIT];
    for (uint64_t at = waits->begin; (op = fence_next_of(waits, packet, &at)) != NULL;) {
        wait_hand_over(t, op, now);
        op->told = op->logged || packet->timed;
        if (op->told)
            arrow_find(t, op, now);
        else
            wait_pass(t, packet->queue, op, now);
    }
    struct bf_fence_list *signals = &queue->fences->lists[BF_TRACE_FENCE_SIGNAL];
    for (uint64_t at = signals->begin; (op = fence_next_of(signals, packet, &at)) != NULL;) {
        op->handed_over_ns = now;
        op->told = op->logged || packet->timed;
        op->after = queue->timed_handed_over + packet->timed;
        op->unseen = !packet->timed && (queue->unseen || bf_trace_packet_works(packet));
        op->before_ns = queue->reached_ns;
        op->before_vague = queue->reached_at_most;
    }
    queue_unsettle(t, packet->queue);
    queues_settle(t);
}

void bf_trace_fences_executed(struct bf_trace *t, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns, uint64_t now)
{
    struct bf_trace_queue *queue = &t->queues[packet->queue];
    if (!queue->fences)
        return;
    bool known = begin_ns || end_ns;
    for (int kind = 0; kind < BF_FENCE_KINDS && packet->fences; kind++) {
        struct bf_fence_list *list = &queue->fences->lists[kind];
        struct bf_fence_op *op;
        for (uint64_t at = list->begin; (op = fence_next_of(list, packet, &at)) != NULL;) {
            uint64_t time_ns = kind == BF_TRACE_FENCE_WAIT ? begin_ns : end_ns;
            if (known)
                op->stamp_ns = time_ns;
            else
                op->unseen = true;
            if (!op->logged)
                fence_ops_report(t, packet->queue, (enum bf_trace_fence_op)kind, op, now, 0,
                                 BF_STRING_WITHOUT_TIME);
        }
    }
    queue_reached(t, packet->queue, end_ns, false, 0, queue->timed_executed);
    queues_settle(t);
}

void bf_trace_fences_dropped(struct bf_trace *t, const struct bf_trace_packet *packet, uint64_t now)
{
    struct bf_fence_ops *ops = t->queues[packet->queue].fences;
    for (int kind = 0; kind < BF_FENCE_KINDS && ops; kind++) {
        struct bf_fence_op *op;
        for (uint64_t at = ops->lists[kind].begin;
             (op = fence_next_of(&ops->lists[kind], packet, &at)) != NULL;)
            fence_ops_finish(t, packet->queue, (enum bf_trace_fence_op)kind, op,
                             (struct ending){.time_ns = now, .by = BF_STRING_DROPPED});
    }
    queues_settle(t);
}

/* --- Interface --------------------------------------------------------------------------------*/

static void signal_remember(struct bf_trace *t, uint32_t queue, const struct bf_fence_op *op)
{
    uint64_t own = t->flow->next_flow++;
    *bf_fence_arrows_of(t->queues[queue].fences, op) = (struct bf_fence_arrows){.own = own};
    struct bf_flow_signal *signal = bf_flow_signal_add(
        t->flow, (struct bf_trace_sync){bf_trace_fence_key(op->sync.semaphore), op->sync.value});
    signal->packet = op->id;
    signal->queue = queue;
    signal->flow = own;
}

static void box_begin(struct bf_trace *t, uint32_t index, enum bf_trace_fence_op kind,
                      struct bf_fence_op *op)
{
    struct bf_fence_ops *ops = t->queues[index].fences;
    uint32_t lane = bf_fence_lane_take(ops, op->queued_ns);
    if (lane == BF_TRACE_NO_LANE)
        return; /* it is drawn as an instant at its end */
    struct bf_perfetto_annotation about[5];
    uint32_t n = fence_op_annotate(t, op->sync, op->packet, about);
    bool drawn = bf_trace_event(
        t, &t->now,
        &(struct bf_perfetto_event){.time_ns = op->queued_ns,
                                    .track = bf_trace_fence_track(t, index, lane),
                                    .type = BF_PERFETTO_BEGIN,
                                    .category = category_of(kind),
                                    .name = fence_op_name(t, kind, op->sync.semaphore),
                                    .annotation_count = n,
                                    .annotations = about});
    if (drawn) {
        op->lane = lane;
        return;
    }
    bf_fence_lane_free(ops, lane, 0);
    t->lost -= t->drawing; /* the end is drawn after all, as an instant */
}

void bf_trace_fence_queued(struct bf_trace *t, uint32_t index, struct bf_trace_packet *packet,
                           enum bf_trace_fence_op kind, struct bf_trace_sync sync, bool logged)
{
    uint64_t packet_id = t && packet ? packet->id : 0;
    if (kind == BF_TRACE_FENCE_WAIT)
        BF_PROBE4(fence_wait_queued, index, sync.semaphore, sync.value, packet_id);
    else
        BF_PROBE4(fence_signal_queued, index, sync.semaphore, sync.value, packet_id);
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    struct bf_trace_queue *queue = index < t->queue_count ? &t->queues[index] : NULL;
    struct bf_fence_op *op = NULL;
    if (queue) {
        if (!queue->fences)
            queue->fences = calloc(1, sizeof(*queue->fences));
        op = queue->fences ? bf_fence_ops_add(queue->fences, kind) : NULL;
        if (queue->fences && !op && fence_ops_give_up(t, index, kind)) {
            op = bf_fence_ops_add(queue->fences, kind);
            now = bf_now_ns(); /* what was written for that has a later time than the call */
        }
        if (packet)
            packet->fences = true;
        t->lost += t->drawing && !op ? 2 : 0;
        if (!op && logged && queue->fences)
            bf_fence_list_skip(&queue->fences->lists[kind], sync.value);
    }
    if (op) {
        op->id = ++t->last_fence_op;
        op->packet = packet_id;
        op->sync = sync;
        op->queued_ns = now;
        op->logged = logged;
        op->told = logged;
        op->handed_over_ns = packet_id ? 0 : now;
        op->after = queue->timed_handed_over;
        op->unseen = true; /* until its packet is handed over */
        op->before_ns = queue->reached_ns;
        op->before_vague = queue->reached_at_most;
        op->met = bf_trace_value_of(t, sync.semaphore) >= sync.value;
        box_begin(t, index, kind, op);
        if (kind == BF_TRACE_FENCE_WAIT && !packet_id) {
            wait_hand_over(t, op, now);
        } else if (kind == BF_TRACE_FENCE_SIGNAL) {
            signal_remember(t, index, op);
            bf_trace_fence_track(t, index, 0); /* describes the engine's counters */
            bf_trace_count_for(t, index, BF_TRACK_SIGNALS_PENDING, 1, now);
        }
    }
    bf_trace_leave(t);
}

/* An entry of an operation that was not seen when it was queued. */
static void stray_write(struct bf_trace *t, uint32_t index, enum bf_trace_fence_op kind,
                        struct bf_trace_sync sync, const struct ending *ending)
{
    const struct bf_fence_op op = {.sync = sync, .lane = BF_TRACE_NO_LANE};
    struct bf_perfetto_event event = {0};
    if (kind == BF_TRACE_FENCE_SIGNAL)
        bf_trace_value_take(t, sync, ending->time_ns);
    done_probe(index, kind, sync, ending);
    end_write(t, index, kind, &op, ending, &event);
}

void bf_trace_fence_done(struct bf_trace *t, uint32_t index, enum bf_trace_fence_op kind,
                         struct bf_trace_sync sync, uint64_t end_ns, uint64_t observed_ns,
                         uint32_t flags)
{
    struct ending ending = {.time_ns = end_ns, .observed_ns = observed_ns};
    if (!t) {
        done_probe(index, kind, sync, &ending);
        return;
    }
    bf_lock_acquire(&t->output->lock);
    uint64_t now = bf_now_ns();
    struct bf_trace_queue *queue = index < t->queue_count ? &t->queues[index] : NULL;
    ending.time_ns = end_ns ? end_ns : now;
    ending.at_most = !end_ns || (flags & BF_TRACE_FENCE_LATER_BATCH);
    if (ending.at_most)
        ending.by = end_ns ? BF_STRING_LATER_BATCH : BF_STRING_WITHOUT_TIME;
    else if (flags & BF_TRACE_FENCE_LATE_BOUND)
        ending.by = BF_STRING_LATE_BOUND;
    struct bf_fence_list *list = queue && queue->fences ? &queue->fences->lists[kind] : NULL;
    uint64_t position;
    struct bf_fence_op *op = list ? bf_fence_list_take_entry(list, sync, &position) : NULL;
    if (op) {
        /* Entries come in order, so the operations before this one have lost theirs. */
        for (uint64_t at = list->begin; at < position; at++) {
            struct bf_fence_op *before = bf_fence_list_at(list, at);
            if (before->id && before->logged && !before->reported)
                fence_ops_report(t, index, kind, before, ending.time_ns, 0, BF_STRING_LOST_ENTRY);
        }
        if (ending.at_most)
            fence_ops_report(t, index, kind, op, ending.time_ns, observed_ns, ending.by);
        else
            fence_ops_ended(t, index, kind, op, ending);
        queues_settle(t);
    } else if (queue) {
        stray_write(t, index, kind, sync, &ending);
    }
    bf_trace_leave(t);
}

void bf_trace_fences_lost(struct bf_trace *t, uint32_t index, uint64_t count)
{
    if (!count)
        return;
    BF_PROBE2(fence_entries_lost, index, count);
    if (!t)
        return;
    bf_lock_acquire(&t->output->lock);
    if (index < t->queue_count) {
        uint64_t now = bf_now_ns();
        uint32_t engine = t->queues[index].engine;
        const struct bf_perfetto_annotation about = {
            .name = BF_STRING_COUNT, .kind = BF_PERFETTO_UINT, .number = count};
        t->summary.lost_entries += count;
        for (int kind = 0; kind < BF_FENCE_KINDS && t->queues[index].fences; kind++)
            bf_fence_list_forget_skipped(&t->queues[index].fences->lists[kind]);
        t->engines[engine].lost_entries += count;
        bf_trace_event(t, &t->now,
                       &(struct bf_perfetto_event){.time_ns = now,
                                                   .track = bf_trace_fence_track(t, index, 0),
                                                   .type = BF_PERFETTO_INSTANT,
                                                   .category = BF_STRING_LOST,
                                                   .name = BF_STRING_LOST_LOG_ENTRIES,
                                                   .annotation_count = 1,
                                                   .annotations = &about});
        bf_trace_counter(t, engine, BF_TRACK_LOST_ENTRIES, (int64_t)t->engines[engine].lost_entries,
                         now);
    }
    bf_trace_leave(t);
}
