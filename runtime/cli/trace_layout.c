/* SPDX-License-Identifier: MIT */
/* The layout of the picture: which frames it shows, and where each lane is. */
#include "cli/trace_picture.h"

#include <string.h>

double picture_x(const struct picture *p, uint64_t ns)
{
    if (ns <= p->begin_ns)
        return LEFT;
    if (ns >= p->end_ns)
        return RIGHT;
    return LEFT + (RIGHT - LEFT) * (double)(ns - p->begin_ns) / (double)(p->end_ns - p->begin_ns);
}

bool picture_overlaps(const struct picture *p, uint64_t begin_ns, uint64_t end_ns)
{
    return begin_ns && begin_ns < p->end_ns && end_ns > p->begin_ns;
}

const char *picture_hue(uint32_t queue)
{
    static const char *const hues[TRACE_DRAW_HUES] = {"h0", "h1", "h2", "h3",
                                                      "h4", "h5", "h6", "h7"};
    return hues[queue % TRACE_DRAW_HUES];
}

/* A standstill is drawn that is much longer than a frame: some work is under way whenever a program
 * ends. */
#define FRAMES_OF_STALL 4

static bool is_framed(const struct trace_report *r)
{
    uint64_t stalled = r->stalls.count ? r->model->last_ns - r->stalls.begin_ns : 0;
    return r->has_frame &&
           (r->asked || stalled / FRAMES_OF_STALL <= r->frame.end_ns - r->frame.begin_ns);
}

/* The end of the trace, from some time before the standstill on. */
static void range_of_end(struct picture *p)
{
    const struct trace_model *m = p->report->model;
    const struct trace_stalls *stalls = &p->report->stalls;
    p->begin_ns = m->first_ns;
    p->end_ns = m->last_ns > m->first_ns ? m->last_ns : m->first_ns + 1000;
    if (!stalls->count)
        return;
    uint64_t before = (p->end_ns - stalls->begin_ns) / 6;
    if (stalls->begin_ns - p->begin_ns > before)
        p->begin_ns = stalls->begin_ns - before;
}

/* The range of time: the frame and its neighbours, each no longer than the frame itself. */
void picture_range(struct picture *p)
{
    const struct trace_report *r = p->report;
    p->framed = is_framed(r);
    if (!p->framed) {
        p->model = r->model;
        range_of_end(p);
        return;
    }
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

uint32_t rows_take(struct rows *rows, uint64_t begin_ns, uint64_t end_ns)
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

void picture_operations(struct picture *p, uint32_t queue, operation_function *each,
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
        uint64_t done = trace_operation_done(m, op);
        o = (struct operation){
            .wait = op->wait,
            .hung = done == 0,
            .serial = op->serial,
            .begin_ns = op->queued_ns,
            .end_ns = done ? done : p->end_ns,
            .fence = op->fence,
        };
        if (picture_overlaps(p, o.begin_ns, o.end_ns + 1))
            each(p, queue, &o, rows);
    }
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        if (packet->queue == queue && operation_of_packet(p, packet, &o) &&
            picture_overlaps(p, o.begin_ns, o.end_ns + 1))
            each(p, queue, &o, rows);
    }
}

bool picture_is_endless(const struct trace_packet *packet)
{
    bool submission =
        packet->kind == TRACE_PACKET_EXECUTE || packet->kind == TRACE_PACKET_BIND_SPARSE;
    return submission && packet->handed_over_ns && !packet->instant && !packet->end_ns &&
           !packet->dropped;
}

uint64_t picture_drawn_end(const struct picture *p, uint64_t begin_ns, uint64_t end_ns)
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
    rows_take(rows, o->begin_ns, picture_drawn_end(p, o->begin_ns, o->end_ns));
}

bool picture_software_span(const struct picture *p, const struct trace_packet *packet,
                           uint64_t *begin_ns, uint64_t *end_ns)
{
    bool fence = packet->kind == TRACE_PACKET_WAIT || packet->kind == TRACE_PACKET_SIGNAL;
    if (!packet->queued_ns || (fence && !packet->longest.begin))
        return false;
    *begin_ns = packet->queued_ns;
    *end_ns = packet->handed_over_ns ? packet->handed_over_ns : p->end_ns;
    return picture_overlaps(p, *begin_ns, *end_ns + 1);
}

bool picture_present_marked(const struct picture *p, struct trace_packet *present)
{
    uint64_t done = present->instant ? trace_packet_done(p->model, present) : 0;
    return done && done >= p->begin_ns && done <= p->end_ns;
}

static void queue_measure(struct picture *p, uint32_t queue, double *y)
{
    struct trace_model *m = p->model;
    struct lane *lane = &p->lanes[queue];
    struct rows software = {0};
    struct rows fences = {0};
    struct rows presents = {0};
    bool runs = false;
    for (uint64_t s = trace_window_begin(m); s < m->next_serial; s++) {
        struct trace_packet *packet = trace_packet_at(m, s);
        uint64_t begin, end;
        if (packet->queue != queue)
            continue;
        bool present = packet->kind == TRACE_PACKET_PRESENT;
        if (picture_software_span(p, packet, &begin, &end))
            rows_take(present ? &presents : &software, begin, picture_drawn_end(p, begin, end));
        else if (present && picture_present_marked(p, packet))
            presents.used = presents.used ? presents.used : 1;
        runs |= picture_overlaps(p, packet->begin_ns, packet->end_ns) ||
                picture_is_endless(packet) ||
                (packet->instant && !present &&
                 picture_overlaps(p, packet->handed_over_ns, packet->handed_over_ns + 1));
    }
    picture_operations(p, queue, operation_count, &fences);
    lane->shown = runs || software.used || fences.used || presents.used;
    if (!lane->shown)
        return;
    lane->software_rows = software.used ? software.used : 1;
    lane->fence_rows = fences.used;
    lane->present_rows = presents.used;
    lane->top = *y;
    lane->software = *y;
    *y += lane->software_rows * (ROW + ROW_GAP) + LANE_GAP;
    lane->fences = *y;
    if (lane->fence_rows)
        *y += lane->fence_rows * (ROW + ROW_GAP) + LANE_GAP;
    lane->run = *y;
    *y += RUN_HEIGHT;
    if (lane->present_rows) {
        lane->presents = *y + LANE_GAP;
        *y = lane->presents + lane->present_rows * (ROW + ROW_GAP);
    }
    lane->bottom = *y;
    *y += QUEUE_GAP;
}

static bool cpu_signals(const struct picture *p)
{
    for (uint32_t i = 0; i < TRACE_OPERATIONS; i++) {
        const struct trace_operation *o = &p->model->operations[i];
        if (o->queue == TRACE_CAUSE_CPU && picture_overlaps(p, o->done_ns, o->done_ns + 1))
            return true;
    }
    return false;
}

void picture_layout(struct picture *p)
{
    struct trace_model *m = p->model;
    double y = TOP + 14;
    p->path_y = y;
    if (p->framed)
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
