/* SPDX-License-Identifier: MIT */
/*
 * The durations of frames, and a curve of them.
 */
#ifndef TRAINING_CURVE_H
#define TRAINING_CURVE_H

#include <stdint.h>

#define CURVE_MOST 600 /* number of frames that are kept: the last ones */

enum curve_phase { CURVE_BEFORE, CURVE_DURING, CURVE_AFTER, CURVE_PHASES };

struct curve_frame {
    enum curve_phase phase;
    float post, whole; /* in milliseconds; `post` is negative if it isn't known */
};

struct curve {
    struct curve_frame frames[CURVE_MOST];
    uint32_t count;
    uint32_t expected; /* the total number of frames; 0: not known */
};

void curve_add(struct curve *curve, struct curve_frame frame);

struct curve_summary {
    uint32_t frames;
    float post, whole; /* medians; negative: there is none */
};
struct curve_summary curve_summarise(const struct curve *curve, enum curve_phase phase);

/* Draws bytes of red, green, blue and alpha, in this order in memory; colours are premultiplied. */
void curve_draw(const struct curve *curve, uint32_t *pixels, uint32_t width, uint32_t height);

#endif
