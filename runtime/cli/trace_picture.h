/* SPDX-License-Identifier: MIT */
/*
 * The picture of a frame and its neighbours: for each engine when it was busy, and for each of its
 * queues what it had in the software queue, its fence operations, what it ran and its presents.
 * Where the trace ends in a standstill, and no frame was asked for, or none is whole: of the end of
 * the trace.
 *
 * The layout is found first (trace_layout.c), so that the picture's height is known; then the lanes
 * are drawn (trace_lanes.c) within head, axis and legend (trace_svg.c).
 */
#ifndef BELFRY_CLI_TRACE_PICTURE_H
#define BELFRY_CLI_TRACE_PICTURE_H

#include <stdbool.h>

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
    uint32_t present_rows;
    double top;
    double software; /* y of its first row */
    double fences;
    double run;
    double presents;
    double bottom;
};

struct picture {
    const struct trace_report *report;
    struct trace_model *model;
    FILE *out;
    uint64_t begin_ns;
    uint64_t end_ns;
    bool framed; /* it is of a frame */
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

double picture_x(const struct picture *picture, uint64_t ns);
bool picture_overlaps(const struct picture *picture, uint64_t begin_ns, uint64_t end_ns);

/* The class with a queue's colour. */
const char *picture_hue(uint32_t queue);

/* Chooses what to show, and where each lane lies. */
void picture_range(struct picture *picture);
void picture_layout(struct picture *picture);

/* Rows in which boxes that overlap are laid out, each where it finds room. */
struct rows {
    uint64_t until[ROWS];
    uint32_t used;
};

/* TRACE_NONE: there is no room. */
uint32_t rows_take(struct rows *rows, uint64_t begin_ns, uint64_t end_ns);

/* The driver has it, and the trace no end of it. */
bool picture_is_endless(const struct trace_packet *packet);

/* A short box takes as much room as it is drawn wide. */
uint64_t picture_drawn_end(const struct picture *picture, uint64_t begin_ns, uint64_t end_ns);

/* A packet's time in the software queue, or the call of a present; false: none, or outside of the
 * range. */
bool picture_software_span(const struct picture *picture, const struct trace_packet *packet,
                           uint64_t *begin_ns, uint64_t *end_ns);

/* Is a present's end, its mark, in the range? */
bool picture_present_marked(const struct picture *picture, struct trace_packet *present);

/* A fence operation, from its own box in the trace or from the packet that carries it. */
struct operation {
    bool wait;
    bool hung; /* it never ended */
    uint64_t serial;
    uint64_t begin_ns;
    uint64_t end_ns;
    struct trace_fence fence;
};

/* Calls 'each' for the fence operations of a queue that the range touches, in the order in which
 * they were queued. */
typedef void operation_function(struct picture *p, uint32_t queue, const struct operation *o,
                                struct rows *rows);

void picture_operations(struct picture *picture, uint32_t queue, operation_function *each,
                        struct rows *rows);

/* All of what lies between axis and legend, arrows last. */
void picture_lanes(struct picture *picture);

#endif
