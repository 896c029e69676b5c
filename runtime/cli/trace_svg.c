/*
 * The picture of a frame and its neighbours: for each engine when it was busy, and for each of its
 * queues what it had in the software queue, its fence operations and what it ran.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace_draw.h"
#include "cli/trace_report.h"

#define WIDTH      1400.0
#define LEFT       256.0 /* where time begins */
#define RIGHT      1380.0
#define TOP        128.0
#define MARGIN     70.0 /* below the lanes: the legend */
#define ROW        14.0 /* of boxes that overlap, */
#define ROW_GAP    2.0
#define ROWS       4 /* and how many of them */
#define RUN_HEIGHT 24.0
#define LANE_GAP   6.0
#define QUEUE_GAP  14.0
#define FONT       10.5
#define BOLD       1.12 /* how much wider */
#define ARROWS_MAX 600
#define BOXES_MAX  4096 /* fence boxes that arrows can end at */
#define FRAMES_MAX 3

/* Where a fence operation has been drawn. */
struct fence_box {
    uint64_t serial; /* of its packet */
    bool wait;
    double x; /* its end */
    double y;
};

struct lane {
    bool shown;
    uint32_t software_rows;
    uint32_t fence_rows;
    double top;
    double software; /* y of its first row */
    double fences;
    double run;
    double bottom;
};

struct picture {
    const struct trace_report *report;
    struct trace_model *model;
    FILE *out;
    uint64_t begin_ns;
    uint64_t end_ns;
    struct trace_frame frames[FRAMES_MAX];
    uint32_t frame_count;
    double height;
    double path_y;
    double cpu_y; /* 0: no lane */
    struct lane lanes[TRACE_QUEUES_MAX];
    double engine_y[TRACE_ENGINES_MAX]; /* 0: not shown */
    struct fence_box boxes[BOXES_MAX];
    uint32_t box_count;
    uint64_t left_out; /* boxes for which there was no row */
    uint64_t arrows_left_out;
};

static double x_of(const struct picture *p, uint64_t ns)
{
    if (ns <= p->begin_ns)
        return LEFT;
    if (ns >= p->end_ns)
        return RIGHT;
    return LEFT + (RIGHT - LEFT) * (double)(ns - p->begin_ns) / (double)(p->end_ns - p->begin_ns);
}

static bool overlaps(const struct picture *p, uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns && begin_ns < p->end_ns && end_ns > p->begin_ns;
}

/* --- What is shown ----------------------------------------------------------------------------*/

/* The frame and its neighbours, of which no more than the frame is long. */
static void range_choose(struct picture *p)
{
    const struct trace_report *r = p->report;
    struct trace_frame other;
    uint64_t length = r->frame.end_ns - r->frame.begin_ns;
    if (length == 0)
        length = 1000;
    p->begin_ns = r->frame.begin_ns;
    p->end_ns = r->frame.end_ns > r->frame.begin_ns ? r->frame.end_ns : r->frame.begin_ns + length;
    if (r->frame.number > 1 &&
        trace_frame_find(p->model, &r->frames, r->frame.number - 1, &other)) {
        uint64_t part = other.end_ns - other.begin_ns;
        p->begin_ns -= part < length ? part : length;
        p->frames[p->frame_count++] = other;
    }
    p->frames[p->frame_count++] = r->frame;
    if (trace_frame_find(p->model, &r->frames, r->frame.number + 1, &other)) {
        uint64_t part = other.end_ns - other.begin_ns;
        p->end_ns += part < length ? part : length;
        p->frames[p->frame_count++] = other;
    }
}

/* Rows in which boxes that overlap are laid out, each where it finds room. */
struct rows {
    uint64_t until[ROWS];
    uint32_t used;
};

/* TRACE_NONE: there is no room. */
static uint32_t row_take(struct rows *rows, uint64_t begin_ns, uint64_t end_ns)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows->until[i] > begin_ns)
            continue;
        rows->until[i] = end_ns;
        if (rows->used <= i)
            rows->used = i + 1;
        return i;
    }
    return TRACE_NONE;
}

/* A fence operation, from its own box in the trace or from the packet that carries it. */
struct operation {
    bool wait;
    bool hung; /* it never ended */
    uint64_t serial;
    uint64_t begin_ns;
    uint64_t end_ns;
    struct trace_fence fence;
};

static bool operation_of_packet(struct picture *p, struct trace_packet *packet, struct operation *o)
{
    bool fence = packet->kind == TRACE_PACKET_WAIT || packet->kind == TRACE_PACKET_SIGNAL;
    if (!fence || packet->has_operation || packet->dropped)
        return false;
    uint64_t done = trace_packet_done(p->model, packet);
    *o = (struct operation){
        .wait = packet->kind == TRACE_PACKET_WAIT,
        .hung = done == 0,
        .serial = packet->serial,
        .begin_ns = packet->queued_ns ? packet->queued_ns : packet->handed_over_ns,
        .end_ns = done ? done : p->end_ns,
        .fence = packet->fence,
    };
    return true;
}

/* Calls 'each' for the fence operations of a queue that the range touches, in the order in which
 * they were queued. */
typedef void operation_function(struct picture *p, uint32_t queue, const struct operation *o,
                                struct rows *rows);

static void operations_walk(struct picture *p, uint32_t queue, operation_function *each,
                            struct rows *rows)
{
    struct trace_model *m = p->model;
    struct operation o;
    uint64_t first =
        m->operation_count > TRACE_OPERATIONS ? m->operation_count - TRACE_OPERATIONS : 0;
    for (uint64_t i = first; i < m->operation_count; i++) {
        const struct trace_operation *op = &m->operations[i % TRACE_OPERATIONS];
        if (op->queue != queue)
            continue;
        o = (struct operation){
            .wait = op->wait,
            .hung = op->done_ns == 0,
            .serial = op->serial,
            .begin_ns = op->queued_ns,
            .end_ns = op->done_ns ? op->done_ns : p->end_ns,
            .fence = op->fence,
        };
        if (overlaps(p, o.begin_ns, o.end_ns + 1))
            each(p, queue, &o, rows);
    }
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        if (packet->queue == queue && operation_of_packet(p, packet, &o) &&
            overlaps(p, o.begin_ns, o.end_ns + 1))
            each(p, queue, &o, rows);
    }
}

/* A short one takes as much room as it is drawn wide. */
static uint64_t drawn_end(const struct picture *p, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t least = (uint64_t)(3 * (double)(p->end_ns - p->begin_ns) / (RIGHT - LEFT));
    if (begin_ns < p->begin_ns)
        begin_ns = p->begin_ns;
    return end_ns - begin_ns > least && end_ns > begin_ns ? end_ns : begin_ns + least;
}

static void operation_count(struct picture *p, uint32_t queue, const struct operation *o,
                            struct rows *rows)
{
    (void)queue;
    row_take(rows, o->begin_ns, drawn_end(p, o->begin_ns, o->end_ns));
}

/* Time in the software queue; false: none, or outside of the range. */
static bool software_span(const struct picture *p, const struct trace_packet *packet,
                          uint64_t *begin_ns, uint64_t *end_ns)
{
    bool fence = packet->kind == TRACE_PACKET_WAIT || packet->kind == TRACE_PACKET_SIGNAL;
    if (!packet->queued_ns || (fence && !packet->longest.begin))
        return false;
    *begin_ns = packet->queued_ns;
    *end_ns = packet->handed_over_ns ? packet->handed_over_ns : p->end_ns;
    return overlaps(p, *begin_ns, *end_ns + 1);
}

static void queue_measure(struct picture *p, uint32_t queue, double *y)
{
    struct trace_model *m = p->model;
    struct lane *lane = &p->lanes[queue];
    struct rows software = {0};
    struct rows fences = {0};
    bool runs = false;
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        uint64_t begin, end;
        if (packet->queue != queue)
            continue;
        if (software_span(p, packet, &begin, &end))
            row_take(&software, begin, drawn_end(p, begin, end));
        runs |=
            overlaps(p, packet->begin_ns, packet->end_ns) ||
            (packet->instant && overlaps(p, packet->handed_over_ns, packet->handed_over_ns + 1));
    }
    operations_walk(p, queue, operation_count, &fences);
    lane->shown = runs || software.used || fences.used;
    if (!lane->shown)
        return;
    lane->software_rows = software.used ? software.used : 1;
    lane->fence_rows = fences.used;
    lane->top = *y;
    lane->software = *y;
    *y += lane->software_rows * (ROW + ROW_GAP) + LANE_GAP;
    lane->fences = *y;
    if (lane->fence_rows)
        *y += lane->fence_rows * (ROW + ROW_GAP) + LANE_GAP;
    lane->run = *y;
    *y += RUN_HEIGHT;
    lane->bottom = *y;
    *y += QUEUE_GAP;
}

static bool cpu_signals(const struct picture *p)
{
    for (uint32_t i = 0; i < TRACE_OPERATIONS; i++) {
        const struct trace_operation *o = &p->model->operations[i];
        if (o->queue == TRACE_CAUSE_CPU && overlaps(p, o->done_ns, o->done_ns + 1))
            return true;
    }
    return false;
}

static void layout(struct picture *p)
{
    struct trace_model *m = p->model;
    double y = TOP + 14;
    p->path_y = y;
    y += RUN_HEIGHT + QUEUE_GAP;
    if (cpu_signals(p)) {
        p->cpu_y = y;
        y += 20 + QUEUE_GAP;
    }
    for (uint32_t e = 0; e < m->engine_count; e++) {
        double before = y;
        y += 30;
        bool any = false;
        for (uint32_t q = 0; q < m->queue_count; q++) {
            if (m->queues[q].engine != e)
                continue;
            queue_measure(p, q, &y);
            any |= p->lanes[q].shown;
        }
        if (any)
            p->engine_y[e] = before;
        else
            y = before;
    }
    p->height = y + MARGIN;
}

/* --- Head, axis, frames -----------------------------------------------------------------------*/

static const char *hue_of(uint32_t queue)
{
    static const char *const hues[TRACE_DRAW_HUES] = {"h0", "h1", "h2", "h3",
                                                      "h4", "h5", "h6", "h7"};
    return hues[queue % TRACE_DRAW_HUES];
}

/* 1, 2 or 5 times a power of ten, so that labels have room. */
static uint64_t tick_step(const struct picture *p)
{
    uint64_t least = (p->end_ns - p->begin_ns) / 12 + 1;
    uint64_t step = 1;
    for (;;) {
        static const uint64_t factors[] = {1, 2, 5};
        for (size_t i = 0; i < 3; i++)
            if (step * factors[i] >= least)
                return step * factors[i];
        step *= 10;
    }
}

static void tick_label(char cell[TRACE_CELL], uint64_t ns, uint64_t step)
{
    if (step >= 1000000000)
        snprintf(cell, TRACE_CELL, "%" PRIu64 " s", ns / 1000000000);
    else if (step >= 1000000)
        snprintf(cell, TRACE_CELL, "%" PRIu64 " ms", ns / 1000000);
    else if (step >= 1000)
        snprintf(cell, TRACE_CELL, "%" PRIu64 " µs", ns / 1000);
    else
        snprintf(cell, TRACE_CELL, "%" PRIu64 " ns", ns);
}

static void head_draw(struct picture *p)
{
    const struct trace_model *m = p->report->model;
    char text[768];
    char a[TRACE_CELL];
    char b[TRACE_CELL];
    trace_draw_text(p->out, 20, 36, "strong", "start", 19, 900, m->program);
    snprintf(text, sizeof(text), "%s%s%s%s", m->device, *m->driver ? " (" : "", m->driver,
             *m->driver ? ")" : "");
    trace_draw_text(p->out, 20, 58, "dim", "start", 12, 900, text);
    snprintf(text, sizeof(text), "frame %" PRIu64 " of %" PRIu64 ": %s", p->report->frame.number,
             p->report->frames.count,
             trace_duration(a, p->report->frame.end_ns - p->report->frame.begin_ns));
    trace_draw_text(p->out, RIGHT, 36, "strong", "end", 14, 400, text);
    snprintf(text, sizeof(text), "%s, from %s after the beginning",
             trace_duration(a, p->end_ns - p->begin_ns),
             trace_duration(b, p->begin_ns - p->model->first_ns));
    trace_draw_text(p->out, RIGHT, 58, "dim", "end", 12, 500, text);
}

static void axis_draw(struct picture *p, double bottom)
{
    uint64_t step = tick_step(p);
    for (uint64_t ns = 0; ns <= p->end_ns - p->begin_ns; ns += step) {
        double x = x_of(p, p->begin_ns + ns);
        char label[TRACE_CELL];
        tick_label(label, ns, step);
        trace_draw_line(p->out, x, TOP - 2, x, bottom, "grid");
        bool last = x > RIGHT - 24;
        trace_draw_text(p->out, last ? RIGHT : x, TOP - 8, "dim",
                        last      ? "end"
                        : ns == 0 ? "start"
                                  : "middle",
                        11, 0, label);
    }
}

static void frames_draw(struct picture *p, double bottom)
{
    double y = 76;
    for (uint32_t i = 0; i < p->frame_count; i++) {
        const struct trace_frame *frame = &p->frames[i];
        double x1 = x_of(p, frame->begin_ns);
        double x2 = x_of(p, frame->end_ns);
        bool chosen = frame->number == p->report->frame.number;
        if (chosen)
            trace_draw_box(p->out, &(struct trace_draw_box){x1, TOP - 2, x2 - x1, bottom - TOP + 2,
                                                            "band", NULL, NULL, 0});
        trace_draw_box(p->out,
                       &(struct trace_draw_box){x1 + 0.5, y, x2 - x1 - 1, 20,
                                                chosen ? "bandhead" : "band", NULL, NULL, 0});
        char text[96];
        char cell[TRACE_CELL];
        snprintf(text, sizeof(text), "frame %" PRIu64 " · %s", frame->number,
                 trace_duration(cell, frame->end_ns - frame->begin_ns));
        trace_draw_text(p->out, (x1 + x2) / 2, y + 14, chosen ? "strong" : "dim", "middle", 11.5,
                        x2 - x1 - 8, text);
    }
}

/* Over the grid, under the boxes. */
static void boundaries_draw(struct picture *p, double bottom)
{
    for (uint32_t i = 0; i < p->frame_count; i++) {
        double x = x_of(p, p->frames[i].end_ns);
        if (x < RIGHT)
            trace_draw_line(p->out, x, TOP - 2, x, bottom, "frame");
        if (i == 0 && p->frames[i].begin_ns > p->begin_ns)
            trace_draw_line(p->out, x_of(p, p->frames[i].begin_ns), TOP - 2,
                            x_of(p, p->frames[i].begin_ns), bottom, "frame");
    }
}

/* --- Lanes ------------------------------------------------------------------------------------*/

/* The critical path as one row: who the frame's time belongs to. */
static void path_draw(struct picture *p)
{
    const struct trace_path *path = p->report->path;
    trace_draw_text(p->out, 20, p->path_y + 11, "strong", "start", 12, 0, "critical path");
    char text[96];
    snprintf(text, sizeof(text), "of frame %" PRIu64, p->report->frame.number);
    trace_draw_text(p->out, 20, p->path_y + 25, "dim", "start", FONT, 0, text);
    for (uint32_t i = 0; i < path->count; i++) {
        const struct trace_hop *hop = &path->hops[i];
        const struct trace_packet *packet = trace_packet_at(p->model, hop->packet);
        char hint[TRACE_HOP_SIZE];
        char hinted[TRACE_HOP_SIZE + TRACE_CELL];
        char cell[TRACE_CELL];
        char label[TRACE_PACKET_SIZE];
        char classes[32];
        double x1 = x_of(p, hop->begin_ns);
        double x2 = x_of(p, hop->end_ns);
        if (!packet || x2 - x1 < 0.2)
            continue;
        const char *inside = NULL;
        if (hop->kind == TRACE_HOP_EXECUTION) {
            snprintf(classes, sizeof(classes), "run %s", hue_of(packet->queue));
            inside = packet->caption[0] ? packet->caption : trace_packet_label(packet, label);
        } else if (hop->kind == TRACE_HOP_QUEUED) {
            snprintf(classes, sizeof(classes), "soft %s", hue_of(packet->queue));
            inside = "queued";
        } else if (hop->kind == TRACE_HOP_CPU) {
            snprintf(classes, sizeof(classes), "cpu");
            inside = "CPU";
        } else {
            snprintf(classes, sizeof(classes), "idle");
            inside = hop->kind == TRACE_HOP_START ? "starting" : "unknown";
        }
        snprintf(hinted, sizeof(hinted), "%s: %s",
                 trace_duration(cell, hop->end_ns - hop->begin_ns),
                 trace_hop_label(p->report, hop, hint));
        /* A word that would be cut says less than none. */
        bool fits = trace_draw_text_width(inside, FONT) < x2 - x1 - 4;
        trace_draw_box(p->out,
                       &(struct trace_draw_box){
                           x1, p->path_y, x2 - x1, RUN_HEIGHT, classes,
                           fits || hop->kind == TRACE_HOP_EXECUTION ? inside : NULL, hinted, FONT});
    }
}

static void cpu_draw(struct picture *p)
{
    if (!p->cpu_y)
        return;
    trace_draw_text(p->out, 20, p->cpu_y + 14, "strong", "start", 12, 0, "CPU");
    trace_draw_text(p->out, LEFT - 10, p->cpu_y + 14, "dim", "end", FONT, 0, "signals");
    for (uint32_t i = 0; i < TRACE_OPERATIONS; i++) {
        const struct trace_operation *signal = &p->model->operations[i];
        if (signal->queue != TRACE_CAUSE_CPU || !overlaps(p, signal->done_ns, signal->done_ns + 1))
            continue;
        char fence[TRACE_FENCE_SIZE];
        char hint[TRACE_FENCE_SIZE + 32];
        trace_fence_label(p->model, signal->fence, fence);
        snprintf(hint, sizeof(hint), "the CPU signals %s", *fence ? fence : "a fence");
        trace_draw_box(p->out,
                       &(struct trace_draw_box){x_of(p, signal->done_ns) - 1.5, p->cpu_y + 2, 3, 16,
                                                "signal", NULL, hint, 0});
    }
}

/* The part of an engine's name, and when it ran whose packets. */
static void engine_draw(struct picture *p, uint32_t engine)
{
    struct trace_model *m = p->model;
    double y = p->engine_y[engine];
    trace_draw_line(p->out, 20, y, RIGHT, y, "rule");
    double busy = 0;
    double until = LEFT;
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        const struct trace_packet *packet = trace_packet_at(m, s);
        if (m->queues[packet->queue].engine != engine ||
            !overlaps(p, packet->begin_ns, packet->end_ns))
            continue;
        double x1 = x_of(p, packet->begin_ns);
        double x2 = x_of(p, packet->end_ns);
        char classes[32];
        snprintf(classes, sizeof(classes), x2 - x1 > 3 ? "run %s" : "%s", hue_of(packet->queue));
        if (x2 - x1 >= 0.2)
            trace_draw_box(
                p->out, &(struct trace_draw_box){x1, y + 10, x2 - x1, 8, classes, NULL, NULL, 0});
        if (x2 > until) {
            busy += x2 - (x1 > until ? x1 : until);
            until = x2;
        }
    }
    char text[32];
    snprintf(text, sizeof(text), "busy %.0f %%", 100 * busy / (RIGHT - LEFT));
    trace_draw_text(p->out, 20, y + 18, "strong", "start", 12.5, LEFT - 110,
                    m->engines[engine].name);
    trace_draw_text(p->out, LEFT - 10, y + 18, "dim", "end", FONT, 0, text);
}

/* What stands in brackets, and what is too long for the margin, goes into a second line. */
static void queue_name_draw(struct picture *p, uint32_t queue, double y)
{
    char name[TRACE_LABEL_SIZE];
    snprintf(name, sizeof(name), "%s", p->model->queues[queue].name);
    const double width = LEFT - 30 - 74;
    const double font = 11.5;
    const char *classes = "dim";
    char *second = strstr(name, " (");
    if (!second && trace_draw_text_width(name, BOLD * font) > width) {
        classes = "strong";
        for (char *c = name; *c; c++) {
            if (*c != ' ')
                continue;
            *c = 0;
            bool fits = trace_draw_text_width(name, BOLD * font) <= width;
            *c = ' ';
            if (fits)
                second = c;
        }
    }
    if (second)
        *second++ = 0;
    trace_draw_box(p->out,
                   &(struct trace_draw_box){20, y, 4, p->lanes[queue].bottom - p->lanes[queue].top,
                                            hue_of(queue), NULL, NULL, 0});
    trace_draw_text(p->out, 32, y + 11, "strong", "start", font, width / BOLD, name);
    if (second)
        trace_draw_text(p->out, 32, y + 25, classes, "start", *classes == 'd' ? FONT : font, width,
                        second);
}

static void packet_hint(struct picture *p, struct trace_packet *packet, char hint[512])
{
    struct trace_model *m = p->model;
    char label[TRACE_PACKET_SIZE];
    char a[TRACE_CELL] = "?";
    char b[TRACE_CELL] = "?";
    char c[TRACE_CELL] = "?";
    if (packet->queued_ns && packet->handed_over_ns >= packet->queued_ns)
        trace_duration(a, packet->handed_over_ns - packet->queued_ns);
    if (packet->end_ns)
        trace_duration(b, packet->end_ns - packet->begin_ns);
    trace_duration(c, packet->held_ns);
    snprintf(hint, 512, "%s of %.200s: %s in the software queue (%s held), %s on the GPU",
             trace_packet_label(packet, label), m->queues[packet->queue].name, a, c, b);
}

static void software_draw(struct picture *p, struct trace_packet *packet, struct rows *rows)
{
    const struct lane *lane = &p->lanes[packet->queue];
    uint64_t begin, end;
    if (!software_span(p, packet, &begin, &end))
        return;
    uint32_t row = row_take(rows, begin, drawn_end(p, begin, end));
    if (row == TRACE_NONE) {
        p->left_out++;
        return;
    }
    char classes[32];
    char label[32];
    char hint[512];
    double x1 = x_of(p, begin);
    double x2 = x_of(p, end);
    double y = lane->software + row * (ROW + ROW_GAP);
    if (x2 - x1 < 1.2)
        x2 = x1 + 1.2;
    snprintf(classes, sizeof(classes), "soft %s", hue_of(packet->queue));
    snprintf(label, sizeof(label), "%" PRIu64, packet->id);
    packet_hint(p, packet, hint);
    bool fits = trace_draw_text_width(label, FONT) < x2 - x1 - 4 && !packet->longest.begin;
    trace_draw_box(p->out, &(struct trace_draw_box){x1, y, x2 - x1, ROW, classes,
                                                    fits ? label : NULL, hint, FONT});
    for (uint32_t i = 0; i < packet->hold_count; i++) {
        const struct trace_hold *hold = &packet->holds[i];
        uint64_t hold_end = hold->end ? hold->end : p->end_ns;
        if (!overlaps(p, hold->begin, hold_end))
            continue;
        char fence[TRACE_FENCE_SIZE];
        trace_fence_label(p->model, hold->on, fence);
        double h1 = x_of(p, hold->begin);
        double h2 = x_of(p, hold_end);
        char text[TRACE_FENCE_SIZE + 40];
        snprintf(text, sizeof(text), "%" PRIu64 " held on %s", packet->id,
                 hold->on_predecessor ? "the one before"
                 : *fence             ? fence
                                      : "a fence");
        bool whole = trace_draw_text_width(text, FONT) < h2 - h1 - 4;
        bool number = trace_draw_text_width(label, FONT) < h2 - h1 - 4;
        trace_draw_box(p->out,
                       &(struct trace_draw_box){h1, y, h2 - h1 > 1.2 ? h2 - h1 : 1.2, ROW, "held",
                                                whole    ? text
                                                : number ? label
                                                         : NULL,
                                                text, FONT});
    }
}

static void operation_draw(struct picture *p, uint32_t queue, const struct operation *o,
                           struct rows *rows)
{
    uint32_t row = row_take(rows, o->begin_ns, drawn_end(p, o->begin_ns, o->end_ns));
    if (row == TRACE_NONE) {
        p->left_out++;
        return;
    }
    double x1 = x_of(p, o->begin_ns);
    double x2 = x_of(p, o->end_ns);
    double y = p->lanes[queue].fences + row * (ROW + ROW_GAP);
    if (x2 - x1 < 2)
        x2 = x1 + 2;
    char fence[TRACE_FENCE_SIZE];
    char hint[TRACE_FENCE_SIZE + 96];
    char a[TRACE_CELL];
    trace_fence_label(p->model, o->fence, fence);
    const char *verb = o->wait ? "wait" : "signal";
    snprintf(hint, sizeof(hint), "%s%s%s: %s%s", verb, *fence ? " " : "", fence,
             trace_duration(a, o->end_ns - o->begin_ns), o->hung ? " and no end" : "");
    const char *label = *fence ? fence : verb;
    bool fits = trace_draw_text_width(label, FONT - 1) < x2 - x1 - 4;
    const char *classes =
        o->wait ? (o->hung ? "wait hung" : "wait") : (o->hung ? "signal hung" : "signal");
    trace_draw_box(p->out,
                   &(struct trace_draw_box){x1, y, x2 - x1, ROW, classes,
                                            fits || x2 - x1 > 48 ? label : NULL, hint, FONT - 1});
    if (p->box_count < BOXES_MAX && o->serial != TRACE_NO_SERIAL)
        p->boxes[p->box_count++] = (struct fence_box){o->serial, o->wait, x2, y + ROW / 2};
}

static bool is_critical(const struct picture *p, uint64_t serial)
{
    for (uint32_t i = 0; i < p->report->path->count; i++)
        if (p->report->path->hops[i].kind == TRACE_HOP_EXECUTION &&
            p->report->path->hops[i].packet == serial)
            return true;
    return false;
}

static void run_draw(struct picture *p, struct trace_packet *packet, double *last)
{
    const struct lane *lane = &p->lanes[packet->queue];
    char classes[32];
    char label[TRACE_PACKET_SIZE];
    char hint[512];
    snprintf(classes, sizeof(classes), "%s", hue_of(packet->queue));
    packet_hint(p, packet, hint);
    if (overlaps(p, packet->begin_ns, packet->end_ns)) {
        double x1 = x_of(p, packet->begin_ns);
        double x2 = x_of(p, packet->end_ns);
        if (x2 < *last + 0.2)
            return; /* it would not be seen */
        *last = x2;
        if (x2 - x1 < 1)
            x2 = x1 + 1;
        else if (x2 - x1 > 3) /* a seam, where there is room for it */
            snprintf(classes, sizeof(classes), "run %s", hue_of(packet->queue));
        trace_packet_label(packet, label);
        char number[32];
        snprintf(number, sizeof(number), "%" PRIu64, packet->id);
        bool fits = trace_draw_text_width(label, FONT + 0.5) < x2 - x1 - 4;
        const char *inside = packet->caption[0] ? packet->caption : fits ? label : number;
        trace_draw_box(p->out, &(struct trace_draw_box){x1, lane->run, x2 - x1, RUN_HEIGHT, classes,
                                                        inside, hint, FONT + 0.5});
        if (is_critical(p, packet->serial))
            trace_draw_box(p->out, &(struct trace_draw_box){x1, lane->run, x2 - x1, RUN_HEIGHT,
                                                            "critical", NULL, NULL, 0});
    } else if (packet->instant && packet->kind != TRACE_PACKET_WAIT &&
               packet->kind != TRACE_PACKET_SIGNAL &&
               overlaps(p, packet->handed_over_ns, packet->handed_over_ns + 1)) {
        double x = x_of(p, packet->handed_over_ns);
        trace_draw_box(p->out, &(struct trace_draw_box){x - 2, lane->run + 3, 4, RUN_HEIGHT - 6,
                                                        classes, NULL, hint, 0});
    }
}

static void queue_draw(struct picture *p, uint32_t queue)
{
    struct trace_model *m = p->model;
    const struct lane *lane = &p->lanes[queue];
    struct rows software = {0};
    struct rows fences = {0};
    double last = 0;
    queue_name_draw(p, queue, lane->top);
    trace_draw_text(p->out, LEFT - 10, lane->software + 10.5, "dim", "end", FONT, 0, "software");
    if (lane->fence_rows)
        trace_draw_text(p->out, LEFT - 10, lane->fences + 10.5, "dim", "end", FONT, 0, "fences");
    trace_draw_text(p->out, LEFT - 10, lane->run + 15.5, "dim", "end", FONT, 0, "hardware");
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        if (packet->queue != queue)
            continue;
        software_draw(p, packet, &software);
        run_draw(p, packet, &last);
    }
    operations_walk(p, queue, operation_draw, &fences);
}

/* --- Arrows -----------------------------------------------------------------------------------*/

static const struct fence_box *box_find(const struct picture *p, uint64_t serial, bool wait)
{
    for (uint32_t i = p->box_count; i-- > 0;)
        if (p->boxes[i].serial == serial && p->boxes[i].wait == wait)
            return &p->boxes[i];
    return NULL;
}

static double lane_middle(const struct picture *p, uint32_t queue)
{
    return p->lanes[queue].run + RUN_HEIGHT / 2;
}

static void arrow_draw(struct picture *p, struct trace_packet *to, const struct trace_cause *cause)
{
    uint64_t at = to->end_ns ? to->begin_ns : trace_packet_done(p->model, to);
    double x1 = x_of(p, cause->time_ns);
    double x2 = x_of(p, at);
    double y1, y2;
    const struct fence_box *box = cause->packet ? box_find(p, cause->packet->serial, false) : NULL;
    if (cause->queue == TRACE_CAUSE_CPU) {
        y1 = p->cpu_y + 10;
    } else if (cause->queue < p->model->queue_count && p->lanes[cause->queue].shown) {
        x1 = box ? box->x : x1;
        y1 = box ? box->y : lane_middle(p, cause->queue);
    } else {
        return;
    }
    box = box_find(p, to->serial, true);
    x2 = box ? box->x : x2;
    y2 = box ? box->y : lane_middle(p, to->queue);
    char from[TRACE_PACKET_SIZE] = "signal";
    char label[TRACE_PACKET_SIZE];
    char fence[TRACE_FENCE_SIZE];
    char hint[2 * TRACE_PACKET_SIZE + TRACE_FENCE_SIZE + 2 * TRACE_LABEL_SIZE];
    if (cause->packet)
        trace_packet_label(cause->packet, from);
    trace_fence_label(p->model, cause->fence, fence);
    snprintf(hint, sizeof(hint), "%s%s%s of %s releases %s of %s", from, *fence ? ", " : "", fence,
             trace_cause_name(p->model, cause->queue), trace_packet_label(to, label),
             p->model->queues[to->queue].name);
    trace_draw_arrow(p->out, x1, y1, x2, y2, hint);
}

static void arrow_count(struct picture *p, struct trace_packet *to, const struct trace_cause *cause,
                        uint32_t *drawn)
{
    if (cause->time_ns < p->begin_ns)
        return;
    if ((*drawn)++ < ARROWS_MAX)
        arrow_draw(p, to, cause);
    else
        p->arrows_left_out++;
}

static void arrows_draw(struct picture *p)
{
    struct trace_model *m = p->model;
    uint32_t drawn = 0;
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *to = trace_packet_at(m, s);
        uint64_t at = to->end_ns ? to->begin_ns : trace_packet_done(m, to);
        if (!p->lanes[to->queue].shown || at <= p->begin_ns || at > p->end_ns)
            continue;
        struct trace_cause cause;
        struct trace_cause other;
        bool any = false;
        for (uint32_t i = 0; i < to->in_count; i++) {
            if (!trace_cause_find(m, to->in[i], &cause))
                continue;
            any = true;
            bool twice = false; /* one for the packet, one for the fence operation */
            for (uint32_t k = 0; k < i && cause.packet; k++)
                twice |= trace_cause_find(m, to->in[k], &other) && other.packet == cause.packet;
            if (!twice)
                arrow_count(p, to, &cause, &drawn);
        }
        if (!any && trace_packet_cause(m, to, &cause))
            arrow_count(p, to, &cause, &drawn);
    }
}

/* --- Legend -----------------------------------------------------------------------------------*/

static void legend_draw(struct picture *p)
{
    static const struct {
        const char *classes;
        const char *text;
    } entries[] = {
        {"soft h0", "in the software queue: queued to handed over"},
        {"held", "held there"},
        {"wait", "wait: queued to unblocked"},
        {"signal", "signal: queued to executed"},
        {"run h0", "on the GPU"},
        {"critical", "on the critical path"},
    };
    double x = 20;
    double y = p->height - MARGIN + 20;
    trace_draw_line(p->out, 20, y - 14, RIGHT, y - 14, "rule");
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        trace_draw_box(p->out,
                       &(struct trace_draw_box){x, y, 24, 13, entries[i].classes, NULL, NULL, 0});
        trace_draw_text(p->out, x + 31, y + 10.5, "", "start", 11, 0, entries[i].text);
        x += 31 + trace_draw_text_width(entries[i].text, 11) + 20;
    }
    trace_draw_arrow(p->out, x, y + 6.5, x + 26, y + 6.5, "a signal and the wait that it releases");
    trace_draw_text(p->out, x + 33, y + 10.5, "", "start", 11, 0, "signal to wait");
    char text[256] = "";
    char label[TRACE_GAP_SIZE];
    if (p->left_out || p->arrows_left_out)
        snprintf(text, sizeof(text),
                 "Left out: %" PRIu64 " boxes where more than %d overlap, %" PRIu64 " arrows. ",
                 p->left_out, ROWS, p->arrows_left_out);
    const char *gap = trace_gap_label(p->report, 0, label);
    size_t used = strlen(text);
    if (gap)
        snprintf(text + used, sizeof(text) - used, "Missing or inexact: %s.", gap);
    trace_draw_text(p->out, 20, y + 36, "dim", "start", 11, RIGHT - 20, text);
}

bool trace_report_svg(const struct trace_report *report, FILE *out)
{
    struct picture *p = calloc(1, sizeof(*p));
    if (!p)
        return false;
    p->report = report;
    p->model = report->detail;
    p->out = out;
    range_choose(p);
    layout(p);
    double bottom = p->height - MARGIN;
    char title[512];
    snprintf(title, sizeof(title), "%s on %s, frame %" PRIu64, report->model->program,
             report->model->device, report->frame.number);
    trace_draw_begin(out, WIDTH, p->height, title);
    head_draw(p);
    frames_draw(p, bottom);
    axis_draw(p, bottom);
    boundaries_draw(p, bottom);
    path_draw(p);
    cpu_draw(p);
    for (uint32_t e = 0; e < p->model->engine_count; e++) {
        if (!p->engine_y[e])
            continue;
        engine_draw(p, e);
        for (uint32_t q = 0; q < p->model->queue_count; q++)
            if (p->model->queues[q].engine == e && p->lanes[q].shown)
                queue_draw(p, q);
    }
    arrows_draw(p);
    legend_draw(p);
    trace_draw_end(out);
    free(p);
    return true;
}
