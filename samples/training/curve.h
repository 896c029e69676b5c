/* SPDX-License-Identifier: MIT */
/*
 * How long frames took, and the drawing of it.
 */
#ifndef TRAINING_CURVE_H
#define TRAINING_CURVE_H

#include <stdint.h>

#define CURVE_MOST 600 /* the last so many frames are kept */

enum curve_phase { CURVE_BEFORE, CURVE_DURING, CURVE_AFTER, CURVE_PHASES };

struct curve_frame {
    enum curve_phase phase;
    float post, whole; /* milliseconds; `post` is negative where it isn't known */
};

struct curve {
    struct curve_frame frames[CURVE_MOST];
    uint32_t count;
    uint32_t expected; /* frames that will come in all; 0: nobody knows */
};

void curve_add(struct curve *curve, struct curve_frame frame);

struct curve_summary {
    uint32_t frames;
    float post, whole; /* medians; negative where there is none */
};
struct curve_summary curve_summarise(const struct curve *curve, enum curve_phase phase);

/* Bytes of red, green, blue and alpha, in that order in memory; colours are multiplied by alpha. */
void curve_draw(const struct curve *curve, uint32_t *pixels, uint32_t width, uint32_t height);

#endif
