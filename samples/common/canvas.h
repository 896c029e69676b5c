/* SPDX-License-Identifier: MIT */
/*
 * Pixels in memory that the CPU draws to: bytes of red, green, blue and alpha, in this order;
 * colours are premultiplied.
 */
#ifndef SAMPLE_CANVAS_H
#define SAMPLE_CANVAS_H

#include <stdint.h>

/* Components from 0 to 1, not premultiplied. */
struct colour {
    float red, green, blue, alpha;
};

struct canvas {
    uint32_t *pixels;
    uint32_t width, height;
};

/* Draws a pixel, of which `cover` is covered; what lies outside isn't drawn. */
void canvas_blend(const struct canvas *canvas, int32_t x, int32_t y, const struct colour *colour,
                  float cover);
void canvas_fill(const struct canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height,
                 const struct colour *colour);

/* Each dot of a letter (font.h) is a square of `scale` pixels. */
int32_t canvas_text_width(const char *text, int32_t scale);
void canvas_text(const struct canvas *canvas, int32_t x, int32_t y, int32_t scale,
                 const struct colour *colour, const char *text);

#endif
