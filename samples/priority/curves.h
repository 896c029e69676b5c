/* SPDX-License-Identifier: MIT */
/*
 * What was measured in each frame, with preemption and without, and the three curves of it.
 */
#ifndef PRIORITY_CURVES_H
#define PRIORITY_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#define CURVES_WIDTH  928u
#define CURVES_HEIGHT 132u
#define CURVES_MOST   480u /* frames that are kept: the last ones */

enum curves_line {
    CURVES_FRAME,      /* ms, from a frame's begin until it is complete */
    CURVES_ANSWER,     /* ms, the longest answer that came in this time; negative: there was none */
    CURVES_BACKGROUND, /* million steps in a second */
    CURVES_LINES,
};

struct curves_sample {
    bool on; /* preemption is */
    float values[CURVES_LINES];
};

struct curves {
    struct curves_sample samples[CURVES_MOST];
    uint32_t count;
    uint32_t expected; /* frames in all; 0: not known */
};

void curves_add(struct curves *curves, struct curves_sample sample);

/* The value that `part` of the frames with preemption on, or off, don't exceed; negative: there are
 * none. */
float curves_quantile(const struct curves *curves, enum curves_line line, bool on, float part);

/* Draws CURVES_WIDTH times CURVES_HEIGHT pixels (canvas.h). */
void curves_draw(const struct curves *curves, uint32_t *pixels);

#endif
