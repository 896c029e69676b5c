/* SPDX-License-Identifier: MIT */
/* The lanes of the picture: the critical path, the CPU, engines and queues, and the arrows. */
#include "cli/trace_picture.h"

#include <inttypes.h>
#include <string.h>

/* Draws the critical path as one row: which queue, or the CPU, each part of the frame's time
 * belongs to. */
static void path_draw(struct picture *p)
{
    const struct trace_path *path = p->report->path;
    if (!p->framed)
        return;
    trace_draw_text(p->out, 20, p->path_y + 11, "strong", "start", 12, 0, "critical path");
    char text[96];
    snprintf(text, sizeof(text), "of frame %" PRIu64, p->report->frame.number);
    trace_draw_text(p->out, 20, p->path_y + 25, "dim", "start", FONT, 0, text);
    for (uint32_t i = 0; i < path->count; i++) {
        const struct trace_hop *hop = &path->hops[i];
        const struct trace_packet *packet = trace_packet_at(p->model, hop->packet);
        char hint[TRACE_HOP_SIZE];
        char hinted[TRACE_HOP_SIZE + BF_CELL];
        char cell[BF_CELL];
        char label[TRACE_PACKET_SIZE];
        char number[32];
        char classes[32];
        double x1 = picture_x(p, hop->begin_ns);
        double x2 = picture_x(p, hop->end_ns);
        if (!packet || x2 - x1 < 0.2)
            continue;
        const char *inside = NULL;
        if (hop->kind == TRACE_HOP_EXECUTION) {
            snprintf(classes, sizeof(classes), "run %s", picture_hue(packet->queue));
            trace_packet_label(packet, label);
            bool fits = trace_draw_text_width(label, FONT) < x2 - x1 - 4;
            snprintf(number, sizeof(number), "%" PRIu64, packet->id);
            inside = packet->caption[0] ? packet->caption : fits ? label : number;
        } else if (hop->kind == TRACE_HOP_QUEUED || hop->kind == TRACE_HOP_PRESENT) {
            snprintf(classes, sizeof(classes), "soft %s", picture_hue(packet->queue));
            inside = hop->kind == TRACE_HOP_PRESENT ? "present" : "queued";
        } else if (hop->kind == TRACE_HOP_CPU) {
            snprintf(classes, sizeof(classes), "cpu");
            inside = "CPU";
        } else {
            snprintf(classes, sizeof(classes), "idle");
            inside = hop->kind == TRACE_HOP_START ? "starting" : "unknown";
        }
        snprintf(hinted, sizeof(hinted), "%s: %s",
                 bf_cell_duration(cell, hop->end_ns - hop->begin_ns),
                 trace_hop_label(p->report, hop, hint));
        /* A label is left out where it would be cut off. */
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
        if (signal->queue != TRACE_CAUSE_CPU ||
            !picture_overlaps(p, signal->done_ns, signal->done_ns + 1))
            continue;
        char fence[TRACE_FENCE_SIZE];
        char hint[TRACE_FENCE_SIZE + 32];
        trace_fence_label(p->model, signal->fence, fence);
        snprintf(hint, sizeof(hint), "the CPU signals %s", *fence ? fence : "a fence");
        trace_draw_box(p->out,
                       &(struct trace_draw_box){picture_x(p, signal->done_ns) - 1.5, p->cpu_y + 2,
                                                3, 16, "signal", NULL, hint, 0});
    }
}

/* Draws an engine's name, and when it ran packets of which queue. */
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
            !picture_overlaps(p, packet->begin_ns, packet->end_ns))
            continue;
        double x1 = picture_x(p, packet->begin_ns);
        double x2 = picture_x(p, packet->end_ns);
        char classes[32];
        snprintf(classes, sizeof(classes), x2 - x1 > 3 ? "run %s" : "%s",
                 picture_hue(packet->queue));
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

/* Text in brackets, and what doesn't fit into the margin, goes to a second line. */
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
                                            picture_hue(queue), NULL, NULL, 0});
    trace_draw_text(p->out, 32, y + 11, "strong", "start", font, width / BOLD, name);
    if (second)
        trace_draw_text(p->out, 32, y + 25, classes, "start", *classes == 'd' ? FONT : font, width,
                        second);
}

/* What fits, whole characters of it. */
static void label_copy(const char *text, char *to, size_t size)
{
    trace_span_copy((struct trace_span){(const uint8_t *)text, strlen(text)}, to, size);
}

/* A queue's name, so long that it fits into a hint. */
#define QUEUE_SIZE 201
static const char *queue_name(const struct trace_model *m, uint32_t queue, char name[QUEUE_SIZE])
{
    label_copy(m->queues[queue].name, name, QUEUE_SIZE);
    return name;
}

static void packet_hint(struct picture *p, struct trace_packet *packet, char hint[512])
{
    struct trace_model *m = p->model;
    char label[TRACE_PACKET_SIZE];
    char queue[QUEUE_SIZE];
    char a[BF_CELL] = "?";
    char b[BF_CELL] = "?";
    char c[BF_CELL] = "?";
    if (packet->queued_ns && packet->handed_over_ns >= packet->queued_ns)
        bf_cell_duration(a, packet->handed_over_ns - packet->queued_ns);
    if (packet->end_ns)
        bf_cell_duration(b, packet->end_ns - packet->begin_ns);
    bf_cell_duration(c, packet->held_ns);
    snprintf(hint, 512, "%s of %s: %s in the software queue (%s held), %s on the GPU",
             trace_packet_label(packet, label), queue_name(m, packet->queue, queue), a, c, b);
}

static void software_draw(struct picture *p, struct trace_packet *packet, struct rows *rows)
{
    const struct lane *lane = &p->lanes[packet->queue];
    uint64_t begin, end;
    if (!picture_software_span(p, packet, &begin, &end))
        return;
    uint32_t row = rows_take(rows, begin, picture_drawn_end(p, begin, end));
    if (row == TRACE_NONE) {
        p->left_out++;
        return;
    }
    char classes[32];
    char label[32];
    char hint[512];
    double x1 = picture_x(p, begin);
    double x2 = picture_x(p, end);
    double y = lane->software + row * (ROW + ROW_GAP);
    if (x2 - x1 < 1.2)
        x2 = x1 + 1.2;
    snprintf(classes, sizeof(classes), "soft %s", picture_hue(packet->queue));
    snprintf(label, sizeof(label), "%" PRIu64, packet->id);
    packet_hint(p, packet, hint);
    bool fits = trace_draw_text_width(label, FONT) < x2 - x1 - 4 && !packet->longest.begin;
    trace_draw_box(p->out, &(struct trace_draw_box){x1, y, x2 - x1, ROW, classes,
                                                    fits ? label : NULL, hint, FONT});
    for (uint32_t i = 0; i < packet->hold_count; i++) {
        const struct trace_hold *hold = &packet->holds[i];
        uint64_t hold_end = hold->end ? hold->end : p->end_ns;
        if (!picture_overlaps(p, hold->begin, hold_end))
            continue;
        char fence[TRACE_FENCE_SIZE];
        double h1 = picture_x(p, hold->begin);
        double h2 = picture_x(p, hold_end);
        char text[TRACE_FENCE_SIZE + 40];
        snprintf(text, sizeof(text), "%" PRIu64 " held on %s%s", packet->id,
                 hold->on_predecessor ? "the one before" : trace_hold_label(p->model, hold, fence),
                 packet->dropped ? ", dropped"
                 : hold->end     ? ""
                                 : ", no end");
        bool whole = trace_draw_text_width(text, FONT) < h2 - h1 - 4;
        bool number = trace_draw_text_width(label, FONT) < h2 - h1 - 4;
        trace_draw_box(p->out, &(struct trace_draw_box){h1, y, h2 - h1 > 1.2 ? h2 - h1 : 1.2, ROW,
                                                        hold->end ? "held" : "held hung",
                                                        whole    ? text
                                                        : number ? label
                                                                 : NULL,
                                                        text, FONT});
    }
}

/* The call of a present, and which part of it passed before what it waits for was done; and a mark
 * where the present was done. */
static void present_draw(struct picture *p, struct trace_packet *packet, struct rows *rows)
{
    struct trace_model *m = p->model;
    double y = p->lanes[packet->queue].presents;
    uint64_t begin, end;
    char hint[3 * TRACE_LABEL_SIZE];
    char label[TRACE_PACKET_SIZE + TRACE_FENCE_SIZE] = "";
    char after[TRACE_PACKET_SIZE] = "";
    char queue[QUEUE_SIZE];
    char a[BF_CELL], b[BF_CELL];
    if (picture_software_span(p, packet, &begin, &end)) {
        uint32_t row = rows_take(rows, begin, picture_drawn_end(p, begin, end));
        if (row == TRACE_NONE) {
            p->left_out++;
            return;
        }
        y += row * (ROW + ROW_GAP);
        struct trace_cause cause;
        bool caused = packet->handed_over_ns && trace_present_cause(m, packet, &cause);
        uint64_t ready = caused && cause.time_ns > begin ? cause.time_ns : begin;
        if (ready > end)
            ready = end;
        if (caused && cause.packet)
            trace_packet_label(cause.packet, after);
        else if (caused)
            label_copy(trace_cause_name(m, cause.queue), after, sizeof(after));
        int used =
            snprintf(hint, sizeof(hint), "present %" PRIu64 " of %s: %s in the call%s", packet->id,
                     queue_name(m, packet->queue, queue), bf_cell_duration(a, end - begin),
                     packet->handed_over_ns ? "" : ", which has no end");
        if (ready > begin)
            snprintf(hint + used, sizeof(hint) - (size_t)used, ", of which %s for %s",
                     bf_cell_duration(b, ready - begin), after);
        double x1 = picture_x(p, begin), x2 = picture_x(p, ready), x3 = picture_x(p, end);
        snprintf(label, sizeof(label), "%" PRIu64 "%s", packet->id,
                 packet->handed_over_ns ? "" : ", no end");
        bool fits = trace_draw_text_width(label, FONT) < x3 - x2 - 4;
        trace_draw_box(p->out,
                       &(struct trace_draw_box){x2, y, x3 - x2 > 1.2 ? x3 - x2 : 1.2, ROW,
                                                packet->handed_over_ns ? "call" : "call hung",
                                                fits ? label : NULL, hint, FONT});
        snprintf(label, sizeof(label), "%" PRIu64 " waits for %s", packet->id, after);
        if (trace_draw_text_width(label, FONT) >= x2 - x1 - 4)
            snprintf(label, sizeof(label), "%" PRIu64, packet->id);
        fits = trace_draw_text_width(label, FONT) < x2 - x1 - 4;
        if (x2 - x1 >= 0.2)
            trace_draw_box(p->out, &(struct trace_draw_box){x1, y, x2 - x1, ROW, "callwait",
                                                            fits ? label : NULL, hint, FONT});
    } else {
        snprintf(hint, sizeof(hint), "present %" PRIu64 " of %s", packet->id,
                 queue_name(m, packet->queue, queue));
    }
    if (picture_present_marked(p, packet))
        trace_draw_box(p->out,
                       &(struct trace_draw_box){picture_x(p, trace_packet_done(m, packet)) - 1.5,
                                                y - 2, 3, ROW + 4, "present", NULL, hint, 0});
}

static void operation_draw(struct picture *p, uint32_t queue, const struct operation *o,
                           struct rows *rows)
{
    uint32_t row = rows_take(rows, o->begin_ns, picture_drawn_end(p, o->begin_ns, o->end_ns));
    if (row == TRACE_NONE) {
        p->left_out++;
        return;
    }
    double x1 = picture_x(p, o->begin_ns);
    double x2 = picture_x(p, o->end_ns);
    double y = p->lanes[queue].fences + row * (ROW + ROW_GAP);
    if (x2 - x1 < 2)
        x2 = x1 + 2;
    char fence[TRACE_FENCE_SIZE];
    char hint[TRACE_FENCE_SIZE + 96];
    char a[BF_CELL];
    trace_fence_label(p->model, o->fence, fence);
    const char *verb = o->wait ? "wait" : "signal";
    snprintf(hint, sizeof(hint), "%s%s%s: %s%s", verb, *fence ? " " : "", fence,
             bf_cell_duration(a, o->end_ns - o->begin_ns), o->hung ? " and no end" : "");
    char label[TRACE_FENCE_SIZE + 16];
    snprintf(label, sizeof(label), "%s%s", *fence ? fence : verb, o->hung ? ", no end" : "");
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
    for (uint32_t i = 0; p->framed && i < p->report->path->count; i++)
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
    snprintf(classes, sizeof(classes), "%s", picture_hue(packet->queue));
    packet_hint(p, packet, hint);
    if (picture_overlaps(p, packet->begin_ns, packet->end_ns)) {
        double x1 = picture_x(p, packet->begin_ns);
        double x2 = picture_x(p, packet->end_ns);
        if (x2 < *last + 0.2)
            return; /* it would be too small to see */
        *last = x2;
        if (x2 - x1 < 1)
            x2 = x1 + 1;
        else if (x2 - x1 > 3) /* a line between adjacent boxes, where there is room */
            snprintf(classes, sizeof(classes), "run %s", picture_hue(packet->queue));
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
        return;
    }
    if (picture_is_endless(packet) && picture_overlaps(p, packet->handed_over_ns, p->end_ns + 1)) {
        char text[TRACE_PACKET_SIZE + 16];
        double x1 = picture_x(p, packet->handed_over_ns);
        snprintf(classes, sizeof(classes), "soft hung %s", picture_hue(packet->queue));
        snprintf(text, sizeof(text), "%s, no end", trace_packet_label(packet, label));
        trace_draw_box(p->out, &(struct trace_draw_box){x1, lane->run, RIGHT - x1, RUN_HEIGHT,
                                                        classes, text, hint, FONT + 0.5});
        return;
    }
    /* Draws packets without GPU times as a mark at their hand-over. */
    uint64_t at = packet->handed_over_ns;
    if (!packet->instant || packet->kind == TRACE_PACKET_WAIT ||
        packet->kind == TRACE_PACKET_SIGNAL || at < p->begin_ns || at > p->end_ns)
        return;
    trace_draw_box(p->out, &(struct trace_draw_box){picture_x(p, at) - 2, lane->run - 2, 4,
                                                    RUN_HEIGHT + 4, classes, NULL, hint, 0});
}

static void queue_draw(struct picture *p, uint32_t queue)
{
    struct trace_model *m = p->model;
    const struct lane *lane = &p->lanes[queue];
    struct rows software = {0};
    struct rows fences = {0};
    struct rows presents = {0};
    double last = 0;
    queue_name_draw(p, queue, lane->top);
    trace_draw_text(p->out, LEFT - 10, lane->software + 10.5, "dim", "end", FONT, 0, "software");
    if (lane->fence_rows)
        trace_draw_text(p->out, LEFT - 10, lane->fences + 10.5, "dim", "end", FONT, 0, "fences");
    trace_draw_text(p->out, LEFT - 10, lane->run + 15.5, "dim", "end", FONT, 0, "hardware");
    if (lane->present_rows)
        trace_draw_text(p->out, LEFT - 10, lane->presents + 10.5, "dim", "end", FONT, 0,
                        "presents");
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        if (packet->queue != queue)
            continue;
        if (packet->kind == TRACE_PACKET_PRESENT) {
            present_draw(p, packet, &presents);
            continue;
        }
        software_draw(p, packet, &software);
        run_draw(p, packet, &last);
    }
    picture_operations(p, queue, operation_draw, &fences);
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
    double x1 = picture_x(p, cause->time_ns);
    double x2 = picture_x(p, at);
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
    if (to->kind == TRACE_PACKET_PRESENT) { /* to where it has waited, in its call */
        bool later = to->queued_ns < cause->time_ns;
        y2 = p->lanes[to->queue].presents + ROW / 2;
        x2 = to->queued_ns ? picture_x(p, later ? cause->time_ns : to->queued_ns) : x2;
    }
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

void picture_lanes(struct picture *p)
{
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
}
