/* SPDX-License-Identifier: MIT */
/* The picture's frame: head, axis, frames and legend. */
#include "cli/trace_picture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* In the unit that suits the whole axis. */
static void tick_label(const struct picture *p, char cell[BF_CELL], uint64_t ns, uint64_t step)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};
    size_t u = 0;
    while (u < 3 && p->end_ns - p->begin_ns < 2 * units[u].ns)
        u++;
    snprintf(cell, BF_CELL, "%.*f %s", step < units[u].ns, (double)ns / (double)units[u].ns,
             units[u].name);
}

static void head_draw(struct picture *p)
{
    const struct trace_model *m = p->report->model;
    char text[768];
    char a[BF_CELL];
    char b[BF_CELL];
    trace_draw_text(p->out, 20, 36, "strong", "start", 19, 900, m->program);
    snprintf(text, sizeof(text), "%s%s%s%s", m->device, *m->driver ? " (" : "", m->driver,
             *m->driver ? ")" : "");
    trace_draw_text(p->out, 20, 58, "dim", "start", 12, 900, text);
    if (p->framed)
        snprintf(text, sizeof(text), "frame %" PRIu64 " of %" PRIu64 ": %s",
                 p->report->frame.number, p->report->frames.count,
                 bf_cell_duration(a, p->report->frame.end_ns - p->report->frame.begin_ns));
    else if (p->report->stalls.count)
        snprintf(text, sizeof(text), "without an end for %s",
                 bf_cell_duration(a, m->last_ns - p->report->stalls.begin_ns));
    else
        snprintf(text, sizeof(text), "the whole trace: no frame is whole");
    trace_draw_text(p->out, RIGHT, 36, "strong", "end", 14, 400, text);
    snprintf(text, sizeof(text), "%s, from %s after the beginning",
             bf_cell_duration(a, p->end_ns - p->begin_ns),
             bf_cell_duration(b, p->begin_ns - p->model->first_ns));
    trace_draw_text(p->out, RIGHT, 58, "dim", "end", 12, 500, text);
}

static void axis_draw(struct picture *p, double bottom)
{
    uint64_t step = tick_step(p);
    for (uint64_t ns = 0; ns <= p->end_ns - p->begin_ns; ns += step) {
        double x = picture_x(p, p->begin_ns + ns);
        char label[BF_CELL];
        tick_label(p, label, ns, step);
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
        double x1 = picture_x(p, frame->begin_ns);
        double x2 = picture_x(p, frame->end_ns);
        bool chosen = frame->number == p->report->frame.number;
        if (chosen)
            trace_draw_box(p->out, &(struct trace_draw_box){x1, TOP - 2, x2 - x1, bottom - TOP + 2,
                                                            "band", NULL, NULL, 0});
        trace_draw_box(p->out,
                       &(struct trace_draw_box){x1 + 0.5, y, x2 - x1 - 1, 20,
                                                chosen ? "bandhead" : "band", NULL, NULL, 0});
        char text[96];
        char cell[BF_CELL];
        snprintf(text, sizeof(text), "frame %" PRIu64 " · %s", frame->number,
                 bf_cell_duration(cell, frame->end_ns - frame->begin_ns));
        trace_draw_text(p->out, (x1 + x2) / 2, y + 14, chosen ? "strong" : "dim", "middle", 11.5,
                        x2 - x1 - 8, text);
    }
}

/* Over the grid, under the boxes. */
static void boundaries_draw(struct picture *p, double bottom)
{
    for (uint32_t i = 0; i < p->frame_count; i++) {
        double x = picture_x(p, p->frames[i].end_ns);
        if (x < RIGHT)
            trace_draw_line(p->out, x, TOP - 2, x, bottom, "frame");
        if (i == 0 && p->frames[i].begin_ns > p->begin_ns)
            trace_draw_line(p->out, picture_x(p, p->frames[i].begin_ns), TOP - 2,
                            picture_x(p, p->frames[i].begin_ns), bottom, "frame");
    }
}

/* --- Legend -----------------------------------------------------------------------------------*/

static void legend_draw(struct picture *p)
{
    static const struct {
        const char *classes;
        const char *text;
    } entries[] = {
        {"soft h0", "queued to handed over"},
        {"held", "held"},
        {"wait", "wait, to unblocked"},
        {"signal", "signal, to executed"},
        {"run h0", "on the GPU"},
        {"critical", "on the critical path"},
        {"callwait", "present that waits"},
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
    x += 33 + trace_draw_text_width("signal to wait", 11) + 16;
    trace_draw_box(p->out, &(struct trace_draw_box){x, y - 1, 3, 15, "present", NULL, NULL, 0});
    trace_draw_text(p->out, x + 10, y + 10.5, "", "start", 11, 0, "present done");
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
    picture_range(p);
    picture_layout(p);
    double bottom = p->height - MARGIN;
    char title[512];
    if (p->framed)
        snprintf(title, sizeof(title), "%s on %s, frame %" PRIu64, report->model->program,
                 report->model->device, report->frame.number);
    else
        snprintf(title, sizeof(title), "%s on %s, the end of the trace", report->model->program,
                 report->model->device);
    trace_draw_begin(out, WIDTH, p->height, title);
    head_draw(p);
    frames_draw(p, bottom);
    axis_draw(p, bottom);
    boundaries_draw(p, bottom);
    picture_lanes(p);
    legend_draw(p);
    trace_draw_end(out);
    free(p);
    return true;
}
