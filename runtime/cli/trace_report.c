/* The report as text. */
#include "cli/trace_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_ROWS 16 /* shown; --json has them all */
#define HOP_ROWS  40

/* Columns are counted in characters, not bytes; printf counts bytes. */
static int padded(const char *text, int width)
{
    for (const char *c = text; *c; c++)
        width += ((uint8_t)*c & 0xC0) == 0x80;
    return width;
}

static int width_of(const char *text, int at_least)
{
    int characters = 0;
    for (const char *c = text; *c; c++)
        characters += ((uint8_t)*c & 0xC0) != 0x80;
    return characters > at_least ? characters : at_least;
}

static void head_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char a[TRACE_CELL];
    uint64_t submissions = 0;
    uint64_t presents = 0;
    uint64_t dropped = 0;
    for (uint32_t q = 0; q < m->queue_count; q++) {
        submissions += m->queues[q].submissions;
        presents += m->queues[q].presents;
        dropped += m->queues[q].dropped;
    }
    fprintf(out, "%s: %s on %s%s%s%s\n", r->file, m->program, m->device, *m->driver ? " (" : "",
            m->driver, *m->driver ? ")" : "");
    fprintf(out,
            "  %s, %" PRIu64 " submissions, %" PRIu64 " presents, %" PRIu64 " signals by the CPU",
            trace_duration(a, m->last_ns - m->first_ns), submissions, presents, m->host_signals);
    if (dropped)
        fprintf(out, ", %" PRIu64 " dropped", dropped);
    if (m->process_count > 1)
        fprintf(out, "; %" PRIu32 " devices in one file", m->process_count);
    fprintf(out, "\n");
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
    char cells[4][TRACE_CELL];
    int width = 10;
    for (uint32_t e = 0; e < m->engine_count; e++)
        width = width_of(m->engines[e].name, width);
    fprintf(out, "\n  %-*s  %11s  %8s  %10s  %7s  %14s  %7s\n", width, "engine", "handed over",
            "timed", "busy", "of time", "with another", "of busy");
    for (uint32_t e = 0; e < m->engine_count; e++) {
        const struct trace_engine *engine = &m->engines[e];
        const struct trace_busy_engine *busy = &m->busy.engines[e];
        const char *b = engine->timed ? trace_duration(cells[0], busy->busy_ns) : "unknown";
        const char *s = engine->timed ? trace_duration(cells[1], busy->shared_ns) : "-";
        fprintf(out, "  %-*s  %11" PRIu64 "  %8" PRIu64 "  %*s  %7s  %*s  %7s\n",
                padded(engine->name, width), engine->name, engine->packets, engine->timed,
                padded(b, 10), b,
                engine->timed ? trace_percent(cells[2], busy->busy_ns, m->last_ns - m->first_ns)
                              : "-",
                padded(s, 14), s,
                engine->timed ? trace_percent(cells[3], busy->shared_ns, busy->busy_ns) : "-");
    }
    if (m->engine_count > 1) {
        const char *d = trace_duration(cells[0], m->busy.several_ns);
        fprintf(out, "  two engines or more at once: %s, %s of the time in which any was busy\n", d,
                trace_percent(cells[1], m->busy.several_ns, m->busy.any_ns));
    }
}

static void queues_print(const struct trace_report *r, FILE *out)
{
    const struct trace_model *m = r->model;
    char cells[3][TRACE_CELL];
    int width = 10;
    int engine_width = 10;
    for (uint32_t q = 0; q < m->queue_count; q++) {
        width = width_of(m->queues[q].name, width);
        engine_width = width_of(m->engines[m->queues[q].engine].name, engine_width);
    }
    fprintf(out, "\n  %-*s  %-*s  %11s  %8s  %9s  %10s  %5s  %10s\n", width, "queue", engine_width,
            "engine", "submissions", "executed", "fence ops", "busy", "held", "held for");
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_queue *queue = &m->queues[q];
        const char *engine = m->engines[queue->engine].name;
        bool known = queue->executed || !queue->submissions;
        const char *b = known ? trace_duration(cells[0], m->busy.queues[q].busy_ns) : "unknown";
        const char *h = queue->held ? trace_duration(cells[1], queue->held_ns) : "-";
        fprintf(out,
                "  %-*s  %-*s  %11" PRIu64 "  %8" PRIu64 "  %9" PRIu64 "  %*s  %5" PRIu64 "  %*s\n",
                padded(queue->name, width), queue->name, padded(engine, engine_width), engine,
                queue->submissions, queue->executed, trace_queue_fence_operations(queue),
                padded(b, 10), b, queue->held, padded(h, 10), h);
    }
    for (uint32_t q = 0; q < m->queue_count; q++) {
        const struct trace_queue *queue = &m->queues[q];
        if (!queue->held)
            continue;
        char fence[TRACE_FENCE_SIZE];
        trace_fence_label(m, queue->held_longest.on, fence);
        fprintf(out, "  longest held on %s: %s, packet %" PRIu64 ", on %s\n", queue->name,
                queue->held_longest_ns ? trace_duration(cells[0], queue->held_longest_ns)
                                       : "to the end of the trace",
                queue->held_longest_id,
                queue->held_longest.on_predecessor ? "the packet before it"
                : *fence                           ? fence
                                                   : "an unnamed fence");
    }
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
    for (uint32_t i = 0; i < shown; i++) {
        const char *fence = trace_name(m, rows[i]->fence);
        widths[0] = width_of(m->queues[rows[i]->queue].name, widths[0]);
        widths[1] = width_of(*fence ? fence : "a fence", widths[1]);
        widths[2] = width_of(trace_cause_name(m, rows[i]->cause), widths[2]);
    }
    fprintf(out, "\n  waits, by the time that their queue lost\n");
    fprintf(out, "  %-*s  %-*s  %-*s  %8s  %10s  %10s  %s\n", widths[0], heads[0], widths[1],
            heads[1], widths[2], heads[2], "waits", "lost", "longest", "packet");
    for (uint32_t i = 0; i < shown; i++) {
        const struct trace_wait_row *row = rows[i];
        const char *queue = m->queues[row->queue].name;
        const char *fence = trace_name(m, row->fence);
        const char *cause = trace_cause_name(m, row->cause);
        char cells[2][TRACE_CELL];
        fence = *fence ? fence : "a fence";
        trace_duration(cells[0], row->lost_ns);
        trace_duration(cells[1], row->longest_ns);
        fprintf(out, "  %-*s  %-*s  %-*s  %8" PRIu64 "  %*s  %*s  %" PRIu64 "\n",
                padded(queue, widths[0]), queue, padded(fence, widths[1]), fence,
                padded(cause, widths[2]), cause, row->count, padded(cells[0], 10), cells[0],
                padded(cells[1], 10), cells[1], row->longest_id);
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
    static const char *const names[] = {"GPU work", "starting", "software queue", "CPU", "unknown"};
    const struct trace_path *path = r->path;
    for (uint32_t i = 0; i < path->count; i++)
        sums[path->hops[i].kind] += path->hops[i].end_ns - path->hops[i].begin_ns;
    const char *comma = "";
    fprintf(out, "  ");
    for (size_t k = 0; k <= TRACE_HOP_UNKNOWN; k++) {
        if (!sums[k])
            continue;
        char cell[TRACE_CELL];
        fprintf(out, "%s%s %s", comma, names[k],
                trace_percent(cell, sums[k], r->frame.end_ns - r->frame.begin_ns));
        comma = ", ";
    }
    fprintf(out, "\n");
}

static void frame_print(const struct trace_report *r, FILE *out)
{
    char a[TRACE_CELL];
    char b[TRACE_CELL];
    char label[TRACE_HOP_SIZE];
    fprintf(out, "\n  %s; %" PRIu64 " in all\n", trace_frames_label(r, label), r->frames.count);
    if (!r->has_frame) {
        fprintf(out, "  none of them is whole\n");
        return;
    }
    uint64_t whole = r->frame.end_ns - r->frame.begin_ns;
    fprintf(out,
            "  frame %" PRIu64 ", %s, from %s after the beginning; its critical path, backwards:\n",
            r->frame.number, trace_duration(a, whole),
            trace_duration(b, r->frame.begin_ns - r->detail->first_ns));
    for (uint32_t i = 0; i < r->path->count && i < HOP_ROWS; i++) {
        const struct trace_hop *hop = &r->path->hops[i];
        uint64_t ns = hop->end_ns - hop->begin_ns;
        trace_duration(a, ns);
        fprintf(out, "  %8s  %*s  %s\n", trace_percent(b, ns, whole), padded(a, 10), a,
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
    if (r->model->engine_count)
        engines_print(r, out);
    if (r->model->queue_count) {
        queues_print(r, out);
        waits_print(r, out);
        frame_print(r, out);
    }
    gaps_print(r, out);
}
