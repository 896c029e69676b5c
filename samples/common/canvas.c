/* SPDX-License-Identifier: MIT */
/* Draws rectangles and text over pixels in memory. */
#include "canvas.h"

#include <math.h>
#include <string.h>

#include "font.h"

static uint32_t channel(uint32_t pixel, uint32_t shift, float value, float alpha)
{
    float old = (float)(pixel >> shift & 0xff);
    return (uint32_t)(fminf(old * (1.0f - alpha) + value * alpha * 255.0f, 255.0f) + 0.5f) << shift;
}

void canvas_blend(const struct canvas *canvas, int32_t x, int32_t y, const struct colour *colour,
                  float cover)
{
    if (x < 0 || y < 0 || x >= (int32_t)canvas->width || y >= (int32_t)canvas->height ||
        cover <= 0.0f)
        return;
    uint32_t *pixel = &canvas->pixels[(uint32_t)y * canvas->width + (uint32_t)x];
    float alpha = colour->alpha * fminf(cover, 1.0f);
    *pixel = channel(*pixel, 0, colour->red, alpha) | channel(*pixel, 8, colour->green, alpha) |
             channel(*pixel, 16, colour->blue, alpha) | channel(*pixel, 24, 1.0f, alpha);
}

void canvas_fill(const struct canvas *canvas, int32_t x, int32_t y, int32_t width, int32_t height,
                 const struct colour *colour)
{
    for (int32_t v = y; v < y + height; ++v) {
        for (int32_t u = x; u < x + width; ++u)
            canvas_blend(canvas, u, v, colour, 1.0f);
    }
}

int32_t canvas_text_width(const char *text, int32_t scale)
{
    return (int32_t)strlen(text) * FONT_ADVANCE * scale;
}

void canvas_text(const struct canvas *canvas, int32_t x, int32_t y, int32_t scale,
                 const struct colour *colour, const char *text)
{
    for (; *text; ++text, x += FONT_ADVANCE * scale) {
        for (uint32_t v = 0; v < FONT_HEIGHT; ++v) {
            for (uint32_t u = 0; u < FONT_WIDTH; ++u) {
                if (font_dot(*text, u, v))
                    canvas_fill(canvas, x + (int32_t)u * scale, y + (int32_t)v * scale, scale,
                                scale, colour);
            }
        }
    }
}
