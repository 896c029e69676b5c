/* SPDX-License-Identifier: MIT */
/* The report as text. */
#include "cli/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_ROWS 16 /* shown; --json has them all */
#define HOP_ROWS  40

static void head_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char a[BF_CELL];
    uint64_t submissions = 0;
    uint64_t presents = 0;
    uint64_t dropped = 0;
    for (uint32_t q = 0; q < m->queue_count; q++) {
        submissions += m->queues[q].submissions;
        presents += m->queues[q].presents.count;
        dropped += m->queues[q].dropped;
    }
    fprintf(out, "%s: %s on %s%s%s%s\n", r->file, m->program, m->device, *m->driver ? " (" : "",
            m->driver, *m->driver ? ")" : "");
    fprintf(out,
            "  %s, %" PRIu64 " submission%s, %" PRIu64 " present%s, %" PRIu64
            " signal%s by the CPU",
            bf_cell_duration(a, m->last_ns - m->first_ns), submissions, submissions == 1 ? "" : "s",
            presents, presents == 1 ? "" : "s", m->host_signals, m->host_signals == 1 ? "" : "s");
    if (dropped)
        fprintf(out, ", %" PRIu64 " dropped", dropped);
    if (m->process_count > 1)
        fprintf(out, "; %" PRIu32 " devices in one file", m->process_count);
    fprintf(out, "\n");
    if (m->rings.reads)
        fprintf(out,
                "  rings: %" PRIu64 " entries in %" PRIu64 " reads; doorbells: connected %" PRIu64
                " times, taken away %" PRIu64 ", notified %" PRIu64 "\n",
                m->rings.entries, m->rings.reads, m->rings.connected, m->rings.taken,
                m->rings.notified);
}

/* Who waits for whom, once around. */
static void circle_print(const struct trace_report *r, uint32_t circle, FILE *out)
{
    const struct trace_stalls *s = &r->stalls;
    uint32_t first = 0;
    while (first < s->count && s->at[first].circle != circle)
        first++;
    if (first == s->count)
        return;
    fprintf(out, "    a circle: %s", r->model->queues[s->at[first].queue].name);
    for (uint32_t queue = s->at[first].by, steps = 0; steps < s->count; steps++) {
        fprintf(out, "%s waits for %s", steps ? ", which" : "", r->model->queues[queue].name);
        uint32_t i = 0;
        while (i < s->count && !(s->at[i].queue == queue && s->at[i].circle == circle))
            i++;
        if (queue == s->at[first].queue || i == s->count)
            break;
        queue = s->at[i].by;
    }
    fprintf(out, "\n");
}

/* What the watchdog said while the program ran. */
static void told_print(const struct trace_model *m, FILE *out)
{
    char cell[BF_CELL];
    if (!m->told_count)
        return;
    fprintf(out, "\n  Belfry said, %s after the beginning",
            bf_cell_duration(cell, m->told_ns - m->first_ns));
    if (m->told_count > 1)
        fprintf(out, ", as the last of %" PRIu64 " lines", m->told_count);
    fprintf(out, ":\n    %s\n", m->told);
}

/* What there was no room for may be just what was asked for. */
static void left_out_print(const struct trace_report *r, FILE *out)
{
    uint64_t tracks = r->model->lost.tracks;
    if (tracks || r->sequences_left_out)
        fprintf(
            out,
            "  not all of the trace is in this report, which has no room for so many devices and "
            "queues at a time: %" PRIu64 " track%s and %" PRIu64 " event%s are left out\n",
            tracks, tracks == 1 ? "" : "s", r->sequences_left_out,
            r->sequences_left_out == 1 ? "" : "s");
}

static void stalls_print(const struct trace_report *r, FILE *out)
{
    const struct trace_stalls *s = &r->stalls;
    char label[TRACE_STALL_SIZE];
    if (!s->count)
        return;
    fprintf(out, "\n  without an end when the trace ends:\n");
    for (uint32_t i = 0; i < s->count; i++)
        fprintf(out, "    %s: %s\n", r->model->queues[s->at[i].queue].name,
                trace_stall_label(r->model, &s->at[i], label));
    if (s->left_out)
        fprintf(out, "    and of %" PRIu64 " more queues\n", s->left_out);
    for (uint32_t circle = 1; circle <= s->count; circle++)
        circle_print(r, circle, out);
}

static void gaps_print(const struct trace_report *r, FILE *out)
{
    char label[TRACE_GAP_SIZE];
    const char *text;
    if (!trace_gap_label(r, 0, label)) {
        fprintf(out, "\n  nothing was lost, GPU times are calibrated\n");
        return;
    }
    fprintf(out, "\n  missing or inexact:\n");
    for (uint32_t n = 0; (text = trace_gap_label(r, n, label)) != NULL; n++)
        fprintf(out, "    %s\n", text);
}

static void engines_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char cells[4][BF_CELL];
    int width = 10;
    for (uint32_t e = 0; e < m->engine_count; e++)
        width = bf_cell_width(m->engines[e].name, width);
    fprintf(out, "\n  %-*s  %11s  %8s  %10s  %7s  %14s  %7s\n", width, "engine", "handed over",
            "timed", "busy", "of time", "with another", "of busy");
    for (uint32_t e = 0; e < m->engine_count; e++) {
        const struct trace_engine *engine = &m->engines[e];
        const struct bf_overlap_engine *busy = &m->busy.engines[e];
        const char *b = engine->timed ? bf_cell_duration(cells[0], busy->busy) : "unknown";
        const char *s = engine->timed ? bf_cell_duration(cells[1], busy->shared) : "-";
        fprintf(out, "  %-*s  %11" PRIu64 "  %8" PRIu64 "  %*s  %7s  %*s  %7s\n",
                bf_cell_padded(engine->name, width), engine->name, engine->packets, engine->timed,
                bf_cell_padded(b, 10), b,
                engine->timed ? bf_cell_percent(cells[2], busy->busy, m->last_ns - m->first_ns)
                              : "-",
                bf_cell_padded(s, 14), s,
                engine->timed ? bf_cell_percent(cells[3], busy->shared, busy->busy) : "-");
    }
    if (m->engine_count > 1) {
        const char *d = bf_cell_duration(cells[0], m->busy.several_engines);
        fprintf(out, "  two engines or more at once: %s, %s of the time in which any was busy\n", d,
                bf_cell_percent(cells[1], m->busy.several_engines, m->busy.any));
    }
}

static void queues_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char cells[3][BF_CELL];
    int width = 10;
    int engine_width = 10;
    for (uint32_t q = 0; q < m->queue_count; q++) {
        width = bf_cell_width(m->queues[q].name, width);
        engine_width = bf_cell_width(m->engines[m->queues[q].engine].name, engine_width);
    }
    fprintf(out, "\n  %-*s  %-*s  %11s  %8s  %9s  %10s  %5s  %10s\n", width, "queue", engine_width,
            "engine", "submissions", "executed", "fence ops", "busy", "held", "held for");
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_queue *queue = &m->queues[q];
        const char *engine = m->engines[queue->engine].name;
        bool known = queue->executed || queue->submissions == queue->empty;
        const char *b = known ? bf_cell_duration(cells[0], m->busy.queues[q].busy) : "unknown";
        const char *h = queue->held ? bf_cell_duration(cells[1], queue->held_ns) : "-";
        fprintf(out,
                "  %-*s  %-*s  %11" PRIu64 "  %8" PRIu64 "  %9" PRIu64 "  %*s  %5" PRIu64 "  %*s\n",
                bf_cell_padded(queue->name, width), queue->name,
                bf_cell_padded(engine, engine_width), engine, queue->submissions, queue->executed,
                trace_queue_fence_operations(queue), bf_cell_padded(b, 10), b, queue->held,
                bf_cell_padded(h, 10), h);
    }
    for (uint32_t i = 0; i < m->untimed_count; i++)
        if (strcmp(trace_name(m, m->untimed[i].why), TRACE_NOTHING_TO_TIME) == 0)
            fprintf(out,
                    "  submissions that only wait and signal, without command buffers: %" PRIu64
                    "; the GPU has nothing to time there\n",
                    m->untimed[i].count);
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_queue *queue = &m->queues[q];
        if (!queue->held)
            continue;
        char fence[TRACE_FENCE_SIZE];
        fprintf(out, "  longest held on %s: %s%s, packet %" PRIu64 ", on %s\n", queue->name,
                bf_cell_duration(cells[0], queue->held_longest_ns),
                queue->held_longest.end ? "" : ", to the end of the trace", queue->held_longest_id,
                trace_hold_label(m, &queue->held_longest, fence));
    }
}

static void wait_cell(const struct trace_wait_row *row, uint64_t ns, char cell[BF_CELL + 8])
{
    char duration[BF_CELL];
    snprintf(cell, BF_CELL + 8, "%s%s", row->at_most ? "at most " : "",
             bf_cell_duration(duration, ns));
}

/* What the calls of presents took, and how much of that the GPU's work. */
static void presents_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    int width = 10;
    if (m->present_count == 0)
        return;
    for (uint32_t q = 0; q < m->queue_count; q++)
        if (m->queues[q].presents.count)
            width = bf_cell_width(m->queues[q].name, width);
    fprintf(out, "\n  %-*s  %8s  %11s  %7s  %13s  %10s  %10s  %-6s  %s\n", width, "presents of",
            "count", "in the call", "of time", "work not done", "work done", "longest", "packet",
            "waited for");
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_presents *p = &m->queues[q].presents;
        if (!p->count)
            continue;
        char cells[5][BF_CELL];
        const char *times[] = {
            bf_cell_duration(cells[0], p->called_ns),
            bf_cell_percent(cells[1], p->called_ns, m->last_ns - m->first_ns),
            bf_cell_duration(cells[2], p->waiting_ns),
            bf_cell_duration(cells[3], p->called_ns - p->waiting_ns),
            bf_cell_duration(cells[4], p->longest_ns),
        };
        const char *name = m->queues[q].name;
        fprintf(out, "  %-*s  %8" PRIu64 "  %*s  %7s  %*s  %*s  %*s  %-6" PRIu64 "  %s\n",
                bf_cell_padded(name, width), name, p->count, bf_cell_padded(times[0], 11), times[0],
                times[1], bf_cell_padded(times[2], 13), times[2], bf_cell_padded(times[3], 10),
                times[3], bf_cell_padded(times[4], 10), times[4], p->longest_id,
                p->caused ? trace_cause_name(m, p->cause) : "nothing in the trace");
    }
}

static void own_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char cell[BF_CELL];
    if (m->own_submissions)
        fprintf(out, "  Belfry's own work, in no figure here: %" PRIu64 " submission%s, %s\n",
                m->own_submissions, m->own_submissions == 1 ? "" : "s",
                bf_cell_duration(cell, m->own_ns));
}

static void waits_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    static const char *const heads[] = {"queue", "waited for", "released by"};
    const struct trace_wait_row **rows = malloc(sizeof(rows[0]) * (m->wait_count + 1));
    if (!rows) {
        fprintf(out, "\n  waits: out of memory\n");
        return;
    }
    uint32_t count = trace_waits_sort(m, rows);
    uint32_t shown = count < WAIT_ROWS ? count : WAIT_ROWS;
    if (!count) {
        fprintf(out, "\n  waits: none\n");
        free(rows);
        return;
    }
    int widths[3] = {10, 10, 11};
    int time_width = 10;
    for (uint32_t i = 0; i < shown; i++) {
        const char *fence = trace_name(m, rows[i]->fence);
        widths[0] = bf_cell_width(m->queues[rows[i]->queue].name, widths[0]);
        widths[1] = bf_cell_width(*fence ? fence : "a fence", widths[1]);
        widths[2] = bf_cell_width(trace_cause_name(m, rows[i]->cause), widths[2]);
        if (rows[i]->at_most)
            time_width = 18;
    }
    fprintf(out, "\n  waits, by the time that their queue lost\n");
    fprintf(out, "  %-*s  %-*s  %-*s  %8s  %*s  %*s  %s\n", widths[0], heads[0], widths[1],
            heads[1], widths[2], heads[2], "waits", time_width, "lost", time_width, "longest",
            "packet");
    for (uint32_t i = 0; i < shown; i++) {
        const struct trace_wait_row *row = rows[i];
        const char *queue = m->queues[row->queue].name;
        const char *fence = trace_name(m, row->fence);
        const char *cause = trace_cause_name(m, row->cause);
        char cells[2][BF_CELL + 8];
        fence = *fence ? fence : "a fence";
        wait_cell(row, row->lost_ns, cells[0]);
        wait_cell(row, row->longest_ns, cells[1]);
        fprintf(out, "  %-*s  %-*s  %-*s  %8" PRIu64 "  %*s  %*s  %" PRIu64 "\n",
                bf_cell_padded(queue, widths[0]), queue, bf_cell_padded(fence, widths[1]), fence,
                bf_cell_padded(cause, widths[2]), cause, row->count,
                bf_cell_padded(cells[0], time_width), cells[0],
                bf_cell_padded(cells[1], time_width), cells[1], row->longest_id);
    }
    if (shown < count)
        fprintf(out, "  and %" PRIu32 " more, which lost less each (--json has them all)\n",
                count - shown);
    free(rows);
}

/* Where the frame's time went, by what was going on. */
static void path_sum_print(const struct trace_report *r, FILE *out)
{
    uint64_t sums[TRACE_HOP_UNKNOWN + 1] = {0};
    static const char *const names[] = {"GPU work", "starting",   "software queue",
                                        "CPU",      "presenting", "unknown"};
    const struct trace_path *path = r->path;
    for (uint32_t i = 0; i < path->count; i++)
        sums[path->hops[i].kind] += path->hops[i].end_ns - path->hops[i].begin_ns;
    const char *comma = "";
    fprintf(out, "  ");
    for (size_t k = 0; k <= TRACE_HOP_UNKNOWN; k++) {
        if (!sums[k])
            continue;
        char cell[BF_CELL];
        fprintf(out, "%s%s %s", comma, names[k],
                bf_cell_percent(cell, sums[k], r->frame.end_ns - r->frame.begin_ns));
        comma = ", ";
    }
    fprintf(out, "\n");
}

static void frame_print(const struct trace_report *r, FILE *out)
{
    char a[BF_CELL];
    char b[BF_CELL];
    char label[TRACE_HOP_SIZE];
    fprintf(out, "\n  %s; %" PRIu64 " in all\n", trace_frames_label(r, label), r->frames.count);
    if (!r->has_frame) {
        fprintf(out, "  none of them is whole\n");
        return;
    }
    uint64_t whole = r->frame.end_ns - r->frame.begin_ns;
    fprintf(out,
            "  frame %" PRIu64 ", %s, from %s after the beginning; its critical path, backwards:\n",
            r->frame.number, bf_cell_duration(a, whole),
            bf_cell_duration(b, r->frame.begin_ns - r->detail->first_ns));
    for (uint32_t i = 0; i < r->path->count && i < HOP_ROWS; i++) {
        const struct trace_hop *hop = &r->path->hops[i];
        uint64_t ns = hop->end_ns - hop->begin_ns;
        bf_cell_duration(a, ns);
        fprintf(out, "  %8s  %*s  %s\n", bf_cell_percent(b, ns, whole), bf_cell_padded(a, 10), a,
                trace_hop_label(r, hop, label));
    }
    if (r->path->count > HOP_ROWS)
        fprintf(out, "  and %" PRIu32 " hops more (--json has them)\n", r->path->count - HOP_ROWS);
    if (r->path->cut)
        fprintf(out, "  the path goes on further than is followed here\n");
    path_sum_print(r, out);
}

void trace_report_print(const struct trace_report *r, FILE *out)
{
    head_print(r, out);
    left_out_print(r, out);
    stalls_print(r, out);
    told_print(r->model, out);
    if (r->model->engine_count)
        engines_print(r, out);
    if (r->model->queue_count) {
        queues_print(r, out);
        own_print(r, out);
        presents_print(r, out);
        waits_print(r, out);
        frame_print(r, out);
    }
    gaps_print(r, out);
}
