/* SPDX-License-Identifier: MIT */
/* The figures that are printed at the end of a run. */
#include "trace/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/table_cell.h"

/* Both sweeps and the table have the same engines and queues, under the same numbers: if one of
 * them can't take a new one, none does. */
bool bf_summary_add_engine(struct bf_summary *s, const char *name)
{
    struct bf_summary_engine *engines =
        realloc(s->engines, (s->engine_count + 1) * sizeof(*engines));
    if (!engines)
        return false;
    s->engines = engines;
    if (!bf_overlap_add_engine(&s->executing))
        return false;
    if (!bf_overlap_add_engine(&s->in_flight)) {
        s->executing.engine_count--;
        return false;
    }
    struct bf_summary_engine *engine = &engines[s->engine_count++];
    bf_name_copy(engine->name, sizeof(engine->name), name);
    return true;
}

bool bf_summary_add_queue(struct bf_summary *s, uint32_t engine, const char *name, bool own)
{
    struct bf_summary_queue *queues = realloc(s->queues, (s->queue_count + 1) * sizeof(*queues));
    if (!queues)
        return false;
    s->queues = queues;
    if (!bf_overlap_add_queue(&s->executing, engine))
        return false;
    if (!bf_overlap_add_queue(&s->in_flight, engine)) {
        s->executing.queue_count--;
        return false;
    }
    queues[s->queue_count] = (struct bf_summary_queue){.engine = engine, .own = own};
    bf_summary_name_queue(s, s->queue_count++, name);
    return true;
}

void bf_summary_finish(struct bf_summary *s)
{
    bf_overlap_finish(&s->executing);
    bf_overlap_finish(&s->in_flight);
    free(s->engines);
    free(s->queues);
    s->engines = NULL;
    s->queues = NULL;
}

void bf_summary_name_queue(struct bf_summary *s, uint32_t queue, const char *name)
{
    bf_name_copy(s->queues[queue].name, sizeof(s->queues[queue].name), name);
}

void bf_summary_extend(struct bf_summary *s, uint64_t time_ns)
{
    if (!s->first_ns || time_ns < s->first_ns)
        s->first_ns = time_ns;
    if (time_ns > s->last_ns)
        s->last_ns = time_ns;
}

void bf_summary_hold_begin(struct bf_summary *s, uint32_t queue, uint64_t now)
{
    struct bf_summary_queue *q = &s->queues[queue];
    q->held++;
    if (q->held_now++ == 0)
        q->held_since_ns = now;
}

void bf_summary_hold_end(struct bf_summary *s, uint32_t queue, uint64_t now)
{
    struct bf_summary_queue *q = &s->queues[queue];
    if (--q->held_now == 0)
        q->held_ns += now - q->held_since_ns;
}

static uint64_t held_by(const struct bf_summary_queue *q, uint64_t now)
{
    return q->held_ns + (q->held_now && now > q->held_since_ns ? now - q->held_since_ns : 0);
}

void bf_summary_held(struct bf_summary *s, const struct bf_trace_packet *packet, uint64_t ns,
                     const char *obstacle)
{
    if (ns <= s->longest.ns || s->queues[packet->queue].own)
        return;
    s->longest.ns = ns;
    s->longest.packet = packet->id;
    s->longest.queue = packet->queue;
    bf_name_copy(s->longest.obstacle, sizeof(s->longest.obstacle), obstacle);
}

void bf_summary_executed(struct bf_summary *s, const struct bf_trace_packet *packet,
                         uint64_t begin_ns, uint64_t end_ns)
{
    s->queues[packet->queue].timed++;
    if (s->queues[packet->queue].own) {
        s->queues[packet->queue].own_ns += end_ns - begin_ns;
        return;
    }
    bf_overlap_add(&s->executing, packet->queue, begin_ns, end_ns);
    /* The hand-over is stamped when the driver's call has returned; the GPU may be quicker. */
    uint64_t from = begin_ns < packet->handed_over_ns ? begin_ns : packet->handed_over_ns;
    bf_overlap_add(&s->in_flight, packet->queue, from, end_ns);
    bf_summary_extend(s, end_ns);
}

/* Is something of it held, or, as far as its times are known, under way? */
static bool queue_is_open(const struct bf_summary_queue *q)
{
    return q->held_now || (q->timed && q->handed_over > q->timed + q->empty);
}

/* T-11: from the first event on: to now, while something is held or under way, else to the last. */
static uint64_t span_ns(const struct bf_summary *s, uint64_t now_ns)
{
    bool open = false;
    for (uint32_t q = 0; q < s->queue_count; q++)
        open = open || queue_is_open(&s->queues[q]);
    return (open && now_ns > s->last_ns ? now_ns : s->last_ns) - s->first_ns;
}

static void print_head(const struct bf_summary *s, const struct bf_summary_head *head, FILE *out)
{
    char a[BF_CELL];
    fprintf(out, "Belfry: %s%s%s%s on %s%s%s%s\n", head->program, head->name[0] ? " (" : "",
            head->name, head->name[0] ? ")" : "", head->device, head->driver[0] ? " (" : "",
            head->driver, head->driver[0] ? ")" : "");
    uint64_t packets = 0;
    uint64_t presents = 0;
    uint64_t dropped = 0;
    for (uint32_t q = 0; q < s->queue_count; q++) {
        if (s->queues[q].own)
            continue;
        packets += s->queues[q].queued;
        presents += s->queues[q].presents;
        dropped += s->queues[q].dropped;
    }
    fprintf(out, "  %s, %" PRIu64 " submissions, %" PRIu64 " presents, %" PRIu64 " host signals",
            bf_cell_duration(a, span_ns(s, head->now_ns)), packets - presents, presents,
            s->host_signals);
    if (dropped)
        fprintf(out, ", %" PRIu64 " dropped", dropped);
    fprintf(out, "\n");
    if (head->path && head->error)
        fprintf(out, "  trace %s, cut short: %s\n", head->path, strerror(head->error));
    else if (head->path)
        fprintf(out, "  trace %s, %.1f KiB (open it in ui.perfetto.dev)\n", head->path,
                (double)head->bytes / 1024);
    if (s->uncalibrated)
        fprintf(out, "  GPU times are uncalibrated: placed at the earliest time they may have\n");
    if (head->lost_arrows)
        fprintf(out, "  %" PRIu64 " arrows left out of the trace\n", head->lost_arrows);
    if (head->lost_events)
        fprintf(out, "  %" PRIu64 " events left out of the trace\n", head->lost_events);
    if (s->lost_entries)
        fprintf(out, "  %" PRIu64 " entries of fence logs overwritten unread\n", s->lost_entries);
}

static void print_engines(const struct bf_summary *s, uint64_t now, int width, FILE *out)
{
    char a[BF_CELL];
    char b[BF_CELL];
    fprintf(out, "\n  %-*s  %6s  %11s  %6s  %10s  %7s\n", width, "engine", "queues", "handed over",
            "timed", "busy", "of time");
    for (uint32_t e = 0; e < s->engine_count; e++) {
        uint32_t queues = 0;
        uint64_t handed_over = 0;
        uint64_t empty = 0;
        uint64_t timed = 0;
        for (uint32_t q = 0; q < s->queue_count; q++) {
            if (s->queues[q].engine != e || s->queues[q].own)
                continue;
            queues++;
            handed_over += s->queues[q].handed_over;
            empty += s->queues[q].empty;
            timed += s->queues[q].timed;
        }
        uint64_t busy = s->executing.engines[e].busy;
        bool known = timed > 0 || handed_over == empty;
        const char *time = known ? bf_cell_duration(a, busy) : "unknown";
        fprintf(out, "  %-*s  %6" PRIu32 "  %11" PRIu64 "  %6" PRIu64 "  %*s  %7s\n",
                bf_cell_padded(s->engines[e].name, width), s->engines[e].name, queues, handed_over,
                timed, bf_cell_padded(time, 10), time,
                known ? bf_cell_percent(b, busy, span_ns(s, now)) : "-");
    }
}

static void print_queues(const struct bf_summary *s, uint64_t now, int engine_width, int width,
                         FILE *out)
{
    char a[BF_CELL];
    char b[BF_CELL];
    fprintf(out, "\n  %-*s  %-*s  %11s  %5s  %10s  %10s\n", width, "queue", engine_width, "engine",
            "submissions", "held", "held for", "busy");
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct bf_summary_queue *q = &s->queues[i];
        if (q->own)
            continue;
        bool known = q->timed > 0 || q->handed_over == q->empty;
        const char *held = q->held ? bf_cell_duration(a, held_by(q, now)) : "-";
        const char *busy = known ? bf_cell_duration(b, s->executing.queues[i].busy) : "unknown";
        fprintf(out, "  %-*s  %-*s  %11" PRIu64 "  %5" PRIu64 "  %*s  %*s\n",
                bf_cell_padded(q->name, width), q->name,
                bf_cell_padded(s->engines[q->engine].name, engine_width),
                s->engines[q->engine].name, q->queued - q->presents, q->held,
                bf_cell_padded(held, 10), held, bf_cell_padded(busy, 10), busy);
    }
}

static void print_overlap(const char *what, uint64_t several, uint64_t any, FILE *out)
{
    char a[BF_CELL];
    char b[BF_CELL];
    bf_cell_duration(a, several);
    fprintf(out, "  %-26s %*s  %7s\n", what, bf_cell_padded(a, 10), a,
            bf_cell_percent(b, several, any));
}

static void print_rest(const struct bf_summary *s, uint64_t now, FILE *out)
{
    uint64_t held = 0;
    uint64_t held_ns = 0;
    uint64_t timed = 0;
    for (uint32_t q = 0; q < s->queue_count; q++) {
        if (s->queues[q].own)
            continue;
        held += s->queues[q].held;
        held_ns += held_by(&s->queues[q], now);
        timed += s->queues[q].timed;
    }
    char a[BF_CELL];
    char b[BF_CELL];
    if (timed) {
        fprintf(out, "\n  overlap: two or more              time  of busy\n");
        print_overlap("queues with work in flight", s->in_flight.several_queues, s->in_flight.any,
                      out);
        print_overlap("queues executing", s->executing.several_queues, s->executing.any, out);
        print_overlap("engines executing", s->executing.several_engines, s->executing.any, out);
    }
    if (!held) {
        fprintf(out, "\n  held: none\n");
        return;
    }
    fprintf(out, "\n  held: %" PRIu64 " submissions, %s in all", held,
            bf_cell_duration(a, held_ns));
    if (s->longest.ns)
        fprintf(out, "; longest %s: packet %" PRIu64 " of %s, on %s",
                bf_cell_duration(b, s->longest.ns), s->longest.packet,
                s->queues[s->longest.queue].name, s->longest.obstacle);
    fprintf(out, "\n");
}

static void print_own(const struct bf_summary *s, FILE *out)
{
    uint64_t submissions = 0;
    uint64_t ns = 0;
    char a[BF_CELL];
    for (uint32_t q = 0; q < s->queue_count; q++) {
        submissions += s->queues[q].own ? s->queues[q].queued : 0;
        ns += s->queues[q].own_ns;
    }
    if (submissions)
        fprintf(out, "  Belfry's own work, in no figure here: %" PRIu64 " submissions, %s\n",
                submissions, bf_cell_duration(a, ns));
}

void bf_summary_print(struct bf_summary *s, const struct bf_summary_head *head, FILE *out)
{
    bf_overlap_settle(&s->executing);
    bf_overlap_settle(&s->in_flight);
    int engine_width = 10;
    int queue_width = 10;
    for (uint32_t e = 0; e < s->engine_count; e++)
        engine_width = bf_cell_width(s->engines[e].name, engine_width);
    for (uint32_t q = 0; q < s->queue_count; q++)
        queue_width = bf_cell_width(s->queues[q].name, queue_width);
    print_head(s, head, out);
    if (s->engine_count)
        print_engines(s, head->now_ns, engine_width, out);
    if (s->queue_count)
        print_queues(s, head->now_ns, engine_width, queue_width, out);
    print_rest(s, head->now_ns, out);
    print_own(s, out);
}
