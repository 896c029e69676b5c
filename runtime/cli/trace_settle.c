/* SPDX-License-Identifier: MIT */
/* Finds out when packets were done and what they waited for, and adds that up. */
#include "cli/trace_settle.h"

#include <string.h>

#include "base/map.h"

#define DEPTH_MAX     256 /* packets followed in search of the time when one was done */
#define SIGNALS_MAX   256 /* signals of a fence searched for the one that ended a wait */
#define STEPS_MAX     1024
#define PASSED_ON_MAX 8   /* submissions through which a signal is followed to the work behind it */
#define PRESENT_STEPS 256 /* packets before a present searched for the work that it waited for */
#define SKIP_MAX      64  /* presents skipped in search of a predecessor */

/* --- When packets were done -------------------------------------------------------------------*/

bool trace_cause_find(struct trace_model *m, uint64_t id, struct trace_cause *cause)
{
    const struct trace_flow *flow = &m->flows[id % TRACE_FLOW_COUNT];
    if (!id || flow->id != id)
        return false;
    *cause = (struct trace_cause){
        .queue = flow->queue,
        .packet = trace_packet_at(m, flow->serial),
        .time_ns = flow->time_ns,
        .late = flow->late,
        .fence = flow->fence,
    };
    if (!flow->given && cause->packet) {
        uint64_t done = trace_packet_done(m, cause->packet);
        if (done) {
            cause->time_ns = done;
            cause->late = false;
        }
    }
    return true;
}

uint64_t trace_operation_done(struct trace_model *m, const struct trace_operation *o)
{
    struct trace_packet *p = o->late ? trace_packet_at(m, o->serial) : NULL;
    uint64_t done = p ? trace_packet_done(m, p) : 0;
    return done && done < o->done_ns ? done : o->done_ns;
}

/* The fence that a packet waited for, if the trace tells. */
static struct trace_fence fence_waited(const struct trace_packet *p)
{
    if (p->waited.name != TRACE_NONE)
        return p->waited;
    if (p->kind == TRACE_PACKET_WAIT && p->fence.name != TRACE_NONE)
        return p->fence;
    return p->longest.begin && trace_hold_is_for_fence(&p->longest)
               ? p->longest.on
               : (struct trace_fence){.name = TRACE_NONE};
}

/* Guesses which signal ended a wait: the first signal of its fence with a sufficient value since
 * the packet was queued, or else the last one before. */
static bool cause_guess(struct trace_model *m, const struct trace_packet *p,
                        struct trace_cause *cause)
{
    struct trace_fence fence = fence_waited(p);
    uint64_t over = p->unblocked_ns > p->handed_over_ns ? p->unblocked_ns : p->handed_over_ns;
    if (fence.name == TRACE_NONE || !fence.valued || !over)
        return false;
    const struct trace_operation *best = NULL;
    uint64_t best_done = 0;
    uint64_t at = m->signals[fence.name];
    for (int step = 0; step < SIGNALS_MAX; step++) {
        const struct trace_operation *o = trace_operation_at(m, at);
        if (!o || o->wait || o->fence.name != fence.name)
            break;
        uint64_t done = trace_operation_done(m, o);
        bool fits = done && done <= over + TRACE_SLACK_NS && o->fence.value >= fence.value;
        if (fits &&
            (!best || (done < best_done ? done >= p->queued_ns : best_done < p->queued_ns))) {
            best = o;
            best_done = done;
        }
        if (o->older >= at)
            break;
        at = o->older;
    }
    if (!best)
        return false;
    *cause = (struct trace_cause){
        .queue = best->queue,
        .packet = trace_packet_at(m, best->serial),
        .time_ns = best_done,
        .fence = best->fence,
    };
    return true;
}

bool trace_packet_cause(struct trace_model *m, const struct trace_packet *p,
                        struct trace_cause *cause)
{
    bool found = false;
    for (uint32_t i = 0; i < p->in_count; i++) {
        struct trace_cause one;
        if (!trace_cause_find(m, p->in[i], &one))
            continue;
        if (p->end_ns && one.time_ns > p->end_ns + TRACE_SLACK_NS)
            continue; /* it was over by then: another signal had released it */
        /* of two that agree, prefer the one that names the fence */
        if (!found || one.time_ns > cause->time_ns ||
            (one.time_ns == cause->time_ns && cause->fence.name == TRACE_NONE))
            *cause = one;
        found = true;
    }
    return found || cause_guess(m, p, cause);
}

bool trace_present_cause(struct trace_model *m, const struct trace_packet *p,
                         struct trace_cause *cause)
{
    if (trace_packet_cause(m, p, cause))
        return true;
    uint32_t engine = m->queues[p->queue].engine;
    const uint64_t begin = trace_window_begin(m);
    struct trace_packet *best = NULL;
    for (uint64_t s = p->serial; s > begin && p->serial - s < PRESENT_STEPS; s--) {
        struct trace_packet *other = trace_packet_at(m, s - 1);
        if (m->queues[other->queue].engine == engine && other->end_ns > p->queued_ns &&
            other->end_ns <= p->handed_over_ns && (!best || other->end_ns > best->end_ns))
            best = other;
    }
    if (!best)
        return false;
    *cause = (struct trace_cause){
        .queue = best->queue,
        .packet = best,
        .time_ns = best->end_ns,
        .fence = {.name = TRACE_NONE},
    };
    return true;
}

struct trace_packet *trace_packet_before(struct trace_model *m, const struct trace_packet *p)
{
    struct trace_packet *before = trace_packet_at(m, p->previous);
    for (int step = 0; step < SKIP_MAX && before; step++) {
        if (before->kind != TRACE_PACKET_PRESENT && !before->dropped)
            return before;
        before = trace_packet_at(m, before->previous);
    }
    return NULL;
}

static uint64_t later_time(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t done_find(struct trace_model *m, struct trace_packet *p)
{
    if (p->dropped)
        return 0;
    if (p->end_ns)
        return p->end_ns;
    if (p->signalled_ns && p->kind == TRACE_PACKET_SIGNAL)
        return p->signalled_ns;
    if (!p->handed_over_ns && !p->unblocked_ns)
        return 0;
    bool submission = p->kind == TRACE_PACKET_EXECUTE || p->kind == TRACE_PACKET_BIND_SPARSE;
    if (submission && !p->instant)
        return 0; /* the GPU's times should follow, but haven't yet */
    uint64_t done = later_time(p->handed_over_ns, p->unblocked_ns);
    struct trace_cause cause;
    if (trace_packet_cause(m, p, &cause))
        done = later_time(done, cause.time_ns);
    if (p->kind == TRACE_PACKET_PRESENT)
        return done;
    struct trace_packet *before = trace_packet_before(m, p);
    return before ? later_time(done, trace_packet_done(m, before)) : done;
}

uint64_t trace_packet_done(struct trace_model *m, struct trace_packet *p)
{
    if (m->depth == 0) {
        m->epoch++;
        m->steps = 0;
    }
    if (p->done_known || p->done_epoch == m->epoch)
        return p->done_ns;
    if (p->done_asked || m->depth == DEPTH_MAX || m->steps == STEPS_MAX)
        return 0;
    p->done_asked = true;
    m->depth++;
    m->steps++;
    uint64_t done = done_find(m, p);
    m->depth--;
    p->done_asked = false;
    p->done_ns = done;
    p->done_epoch = m->epoch;
    /* As long as the packet isn't in the sums, later events may tell more about it. */
    p->done_known = p->serial < m->retired || m->settled;
    return done;
}

/* --- Sums -------------------------------------------------------------------------------------*/

static struct trace_wait_row *row_find(struct trace_model *m, uint32_t queue, uint32_t cause,
                                       uint32_t fence, bool at_most)
{
    uint32_t slots = 2 * TRACE_WAITS_MAX;
    uint64_t hash =
        bf_map_hash(bf_map_hash((uint64_t)queue << 32 | cause) + 2 * (uint64_t)fence + at_most);
    for (uint64_t i = hash;; i++) {
        uint32_t *slot = &m->wait_index[i % slots];
        if (*slot) {
            struct trace_wait_row *row = &m->waits[*slot - 1];
            if (row->queue == queue && row->cause == cause && row->fence == fence &&
                row->at_most == at_most)
                return row;
            continue;
        }
        if (m->wait_count == TRACE_WAITS_MAX) {
            m->lost.waits++;
            return NULL;
        }
        m->waits[m->wait_count] = (struct trace_wait_row){
            .queue = queue, .cause = cause, .fence = fence, .at_most = at_most};
        *slot = ++m->wait_count;
        return &m->waits[*slot - 1];
    }
}

bool trace_packet_wait(struct trace_model *m, struct trace_packet *p, struct trace_wait *wait)
{
    *wait =
        (struct trace_wait){.cause = {.queue = TRACE_CAUSE_UNKNOWN, .fence = {.name = TRACE_NONE}}};
    bool held = p->longest.end && trace_hold_is_for_fence(&p->longest);
    bool caused = !p->still_waits && trace_packet_cause(m, p, &wait->cause);
    bool seen = p->still_waits || (p->unblocked_ns && p->unblocked_ns >= p->late_ns);
    if (p->still_waits)
        wait->released_ns = m->last_ns;
    else if (caused && !wait->cause.late)
        wait->released_ns = later_time(wait->cause.time_ns, p->unblocked_ns);
    else if (seen)
        wait->released_ns = p->unblocked_ns;
    else if (held)
        wait->released_ns = p->longest.end;
    else if (p->late_ns || caused)
        wait->released_ns = later_time(p->late_ns, caused ? wait->cause.time_ns : 0);
    else
        return false;
    wait->at_most = !seen && !held && (!caused || wait->cause.late);
    wait->fence = p->still_waits ? p->open : fence_waited(p);
    if (wait->fence.name == TRACE_NONE)
        wait->fence = wait->cause.fence;
    if (p->still_waits)
        wait->cause.queue = TRACE_CAUSE_NOBODY;
    else if (p->released && !p->in_count)
        wait->cause.queue = TRACE_CAUSE_DESTROY;
    struct trace_packet *before = trace_packet_before(m, p);
    uint64_t before_ns = before ? trace_packet_done(m, before) : 0;
    if (p->still_waits && before && !before_ns)
        return false; /* the queue hasn't come to it */
    /* It may have left the window; while its successor is added up, the sums still have its
     * data. */
    if (!before && p->serial + 1 == m->retired)
        before_ns = m->queues[p->queue].retired_done;
    wait->since_ns = later_time(p->queued_ns ? p->queued_ns : p->handed_over_ns, before_ns);
    wait->lost_ns = wait->released_ns > wait->since_ns ? wait->released_ns - wait->since_ns : 0;
    return true;
}

/* What lies in an interval beyond all before it: what happens twice at a time counts once, so that
 * no sum is more than the time that passed. */
static uint64_t time_beyond(uint64_t *until_ns, uint64_t begin_ns, uint64_t end_ns)
{
    begin_ns = later_time(begin_ns, *until_ns);
    if (end_ns <= begin_ns)
        return 0;
    *until_ns = end_ns;
    return end_ns - begin_ns;
}

static void wait_count(struct trace_model *m, struct trace_packet *p)
{
    struct trace_wait wait;
    if (!trace_packet_wait(m, p, &wait))
        return;
    struct trace_wait_row *row =
        row_find(m, p->queue, wait.cause.queue, wait.fence.name, wait.at_most);
    if (!row)
        return;
    row->count++;
    if (!wait.at_most) {
        uint64_t *until = &m->queues[p->queue].waited_until;
        wait.lost_ns = time_beyond(until, wait.since_ns, wait.released_ns);
    }
    row->lost_ns += wait.lost_ns;
    if (wait.lost_ns > row->longest_ns || row->count == 1) {
        row->longest_ns = wait.lost_ns;
        row->longest_id = p->id;
        row->longest_released_ns = wait.released_ns;
    }
}

static void hold_count(struct trace_queue *queue, const struct trace_packet *p)
{
    if (!p->longest.begin)
        return;
    queue->held++;
    queue->held_ns +=
        time_beyond(&queue->held_until_ns, p->held_until_ns - p->held_ns, p->held_until_ns);
    if (p->held_longest_ns >= queue->held_longest_ns) {
        queue->held_longest_ns = p->held_longest_ns;
        queue->held_longest_id = p->id;
        queue->held_longest = p->longest;
    }
}

static void present_count(struct trace_model *m, const struct trace_packet *p)
{
    struct trace_presents *presents = &m->queues[p->queue].presents;
    presents->count++;
    if (!p->queued_ns || p->handed_over_ns <= p->queued_ns)
        return;
    uint64_t called = p->handed_over_ns - p->queued_ns;
    struct trace_cause cause;
    presents->called_ns += called;
    if (trace_present_cause(m, p, &cause)) {
        if (cause.time_ns > p->queued_ns)
            presents->waiting_ns +=
                cause.time_ns < p->handed_over_ns ? cause.time_ns - p->queued_ns : called;
        /* A submission that only waits and signals passes on whose work it was. */
        struct trace_cause next;
        for (int step = 0; step < PASSED_ON_MAX && cause.packet && !cause.packet->end_ns &&
                           trace_packet_cause(m, cause.packet, &next);
             step++)
            cause = next;
        if (presents->caused++ == 0)
            presents->cause = cause.queue;
        else if (presents->cause != cause.queue)
            presents->cause = TRACE_CAUSE_SEVERAL;
    }
    if (called > presents->longest_ns) {
        presents->longest_ns = called;
        presents->longest_id = p->id;
    }
}

static void untimed_count(struct trace_model *m, uint32_t why)
{
    uint32_t i = 0;
    while (i < m->untimed_count && m->untimed[i].why != why)
        i++;
    if (i == m->untimed_count && m->untimed_count < TRACE_REASONS_MAX)
        m->untimed[m->untimed_count++] = (struct trace_untimed){.why = why};
    m->untimed[i < TRACE_REASONS_MAX ? i : TRACE_REASONS_MAX - 1].count++;
}

/* Compares a submission with those before it, at every distance that could be a frame's. */
static void pattern_count(struct trace_queue *queue, const struct trace_packet *p)
{
    uint64_t pattern = bf_map_hash((uint64_t)p->command_buffers << 32 | p->name) + queue->fence_ops;
    queue->fence_ops = 0;
    for (uint32_t n = 1; n <= TRACE_PERIOD_MAX && n <= queue->pattern_count; n++)
        queue->matches[n] +=
            queue->patterns[(queue->pattern_count - n) % TRACE_PERIOD_MAX] == pattern;
    queue->patterns[queue->pattern_count++ % TRACE_PERIOD_MAX] = pattern;
}

uint32_t trace_queue_period(const struct trace_queue *queue)
{
    for (uint32_t n = 1; n <= TRACE_PERIOD_MAX && 3 * n <= queue->pattern_count; n++)
        if (5 * queue->matches[n] >= 4 * (queue->pattern_count - n))
            return n;
    return 1;
}

void trace_settle_oldest(struct trace_model *m)
{
    struct trace_packet *p = trace_packet_at(m, m->retired);
    m->retired++;
    if (!p)
        return;
    struct trace_queue *queue = &m->queues[p->queue];
    struct trace_engine *engine = &m->engines[queue->engine];
    uint64_t done = trace_packet_done(m, p);
    bool submission = p->kind == TRACE_PACKET_EXECUTE || p->kind == TRACE_PACKET_BIND_SPARSE;
    if (submission) {
        queue->submissions++;
        queue->executed += p->end_ns != 0;
        queue->untimed += p->instant && !p->end_ns;
        if (p->instant && !p->end_ns) {
            untimed_count(m, p->why);
            queue->empty += strcmp(trace_name(m, p->why), TRACE_NOTHING_TO_TIME) == 0;
        }
        engine->packets += (p->handed_over_ns || p->end_ns) && !p->dropped;
        engine->timed += p->end_ns != 0;
        pattern_count(queue, p);
    } else if (p->kind == TRACE_PACKET_PRESENT) {
        present_count(m, p);
    } else {
        queue->fence_packets++;
        queue->fence_ops += p->kind == TRACE_PACKET_WAIT ? 1 : 256;
    }
    if (p->dropped && queue->dropped++ == 0)
        queue->dropped_first = *p;
    queue->unfinished += !p->dropped && !done;
    hold_count(queue, p);
    if (!p->dropped && p->kind != TRACE_PACKET_PRESENT)
        wait_count(m, p);
    if (p->process == queue->process && p->id > queue->retired_id)
        queue->retired_id = p->id;
    if (done > queue->retired_done && p->kind != TRACE_PACKET_PRESENT)
        queue->retired_done = done;
}

/* What is still held, or waits, when the trace ends did so until then. */
static void holds_end(struct trace_model *m)
{
    for (uint32_t i = 0; i < m->track_capacity; i++) {
        const struct trace_track *track = &m->tracks[i];
        const struct trace_hold *hold = &track->hold;
        bool fences = track->kind == TRACE_TRACK_FENCES && track->depth && track->waits;
        if ((track->kind != TRACE_TRACK_SOFTWARE && !fences) || !hold->begin ||
            m->last_ns < hold->begin)
            continue;
        const struct trace_operation *o = fences ? trace_operation_at(m, track->operation) : NULL;
        struct trace_packet *p = trace_packet_at(m, !fences ? track->serial
                                                    : o     ? o->serial
                                                            : TRACE_NO_SERIAL);
        if (!p || p->serial < m->retired || (fences && !p->handed_over_ns))
            continue;
        if (trace_hold_is_for_fence(hold)) {
            p->still_waits = true;
            p->open = hold->on;
        }
        if (fences)
            continue;
        uint64_t ns = m->last_ns - hold->begin;
        p->held_ns += ns;
        p->held_until_ns = m->last_ns;
        if (ns >= p->held_longest_ns) {
            p->held_longest_ns = ns;
            p->longest = *hold;
        }
    }
}

void trace_model_settle(struct trace_model *m)
{
    m->settled = true;
    holds_end(m);
    while (m->retired < m->next_serial)
        trace_settle_oldest(m);
    bf_overlap_settle(&m->busy);
}
