/* SPDX-License-Identifier: MIT */
/* Keeps what was measured, and draws the curves. */
#include "curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "font.h"

#define PAD  10
#define GAP  26
#define TOP  30 /* of a plot, below its two lines of text */
#define WIDE (((int32_t)CURVES_WIDTH - 2 * PAD - 2 * GAP) / CURVES_LINES)
#define HIGH ((int32_t)CURVES_HEIGHT - TOP - PAD)

static const struct colour ground = {0.01f, 0.015f, 0.04f, 0.66f};
static const struct colour shades[2] = {{1.0f, 0.35f, 0.25f, 0.13f}, {0.25f, 0.95f, 0.7f, 0.12f}};
static const struct colour inks[2] = {{1.0f, 0.55f, 0.42f, 1.0f}, {0.45f, 1.0f, 0.8f, 1.0f}};
static const struct colour words = {0.88f, 0.91f, 0.97f, 0.95f};
static const struct colour grid = {1.0f, 1.0f, 1.0f, 0.10f};

static const struct {
    const char *name, *unit;
} lines[CURVES_LINES] = {{"FRAME", "ms"}, {"ANSWER", "ms"}, {"BACKGROUND", "M/s"}};

void curves_add(struct curves *curves, struct curves_sample sample)
{
    if (curves->count == CURVES_MOST) {
        memmove(curves->samples, curves->samples + 1, (CURVES_MOST - 1) * sizeof sample);
        --curves->count;
    }
    curves->samples[curves->count++] = sample;
}

static int by_value(const void *left, const void *right)
{
    float l = *(const float *)left, r = *(const float *)right;
    return (l > r) - (l < r);
}

static float quantile(float *values, uint32_t count, float part)
{
    if (!count)
        return -1.0f;
    qsort(values, count, sizeof *values, by_value);
    return values[(uint32_t)((float)(count - 1) * part)];
}

float curves_quantile(const struct curves *curves, enum curves_line line, bool on, float part)
{
    float values[CURVES_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < curves->count; ++i)
        if (curves->samples[i].on == on && curves->samples[i].values[line] >= 0.0f)
            values[count++] = curves->samples[i].values[line];
    return quantile(values, count, part);
}

/* The value at the upper edge, which a few very long frames don't raise. */
static float scale_of(const struct curves *curves, enum curves_line line)
{
    float off = curves_quantile(curves, line, false, 0.9f);
    float on = curves_quantile(curves, line, true, 0.9f);
    return fmaxf(fmaxf(off, on) * 1.2f, 0.01f);
}

struct plot {
    const struct canvas *canvas;
    const struct curves *curves;
    enum curves_line line;
    int32_t left;
    uint32_t span; /* frames from left to right */
    float most;
};

static int32_t column_of(const struct plot *p, uint32_t frame)
{
    return p->left + (int32_t)((uint64_t)frame * (uint32_t)WIDE / p->span);
}

/* The value of a frame, or of the last one before it that has one; negative: there is none. */
static float value_of(const struct plot *p, uint32_t frame)
{
    while (frame && p->curves->samples[frame].values[p->line] < 0.0f)
        --frame;
    return p->curves->samples[frame].values[p->line];
}

/* The curve at a column, between the values of two frames; false: there is none. */
static bool value_at(const struct plot *p, int32_t column, float *y, bool *on)
{
    float at = (float)(column - p->left) * (float)p->span / (float)WIDE;
    uint32_t frame = (uint32_t)at;
    if (frame >= p->curves->count)
        return false;
    uint32_t next = frame + 1 < p->curves->count ? frame + 1 : frame;
    float a = value_of(p, frame), b = value_of(p, next);
    *y = TOP + HIGH * (1.0f - fminf((a + (b - a) * (at - floorf(at))) / p->most, 1.0f));
    *on = p->curves->samples[frame].on;
    return a >= 0.0f;
}

static void line_draw(const struct plot *p)
{
    float before = 0, y;
    bool there = false, on;
    for (int32_t x = p->left; x < p->left + WIDE; ++x) {
        if (!value_at(p, x, &y, &on)) {
            there = false;
            continue;
        }
        struct colour below = inks[on];
        below.alpha = 0.22f;
        float low = there ? fminf(before, y) : y, high = there ? fmaxf(before, y) : y;
        for (int32_t v = TOP; v < TOP + HIGH; ++v) {
            float middle = (float)v + 0.5f;
            float off = middle < low ? low - middle : middle > high ? middle - high : 0.0f;
            canvas_blend(p->canvas, x, v, &below, middle - y);
            canvas_blend(p->canvas, x, v, &inks[on], 1.3f - off);
        }
        before = y;
        there = true;
    }
}

/* Shades the frames of each kind, and names them. */
static void phases_draw(const struct plot *p)
{
    const struct curves *c = p->curves;
    for (uint32_t from = 0, to; from < c->count; from = to) {
        bool on = c->samples[from].on;
        for (to = from + 1; to < c->count && c->samples[to].on == on;)
            ++to;
        int32_t left = column_of(p, from), width = column_of(p, to) - left;
        canvas_fill(p->canvas, left, TOP, width, HIGH, &shades[on]);
        const char *name = on ? "ON" : "OFF";
        if (p->line == CURVES_FRAME && canvas_text_width(name, 1) + 6 < width)
            canvas_text(p->canvas, left + 4, TOP + 3, 1, &inks[on], name);
    }
}

static void plot_draw(const struct plot *p)
{
    char text[48];
    int32_t x = p->left;
    phases_draw(p);
    for (int32_t i = 0; i <= 4; ++i)
        canvas_fill(p->canvas, p->left, TOP + HIGH * i / 4, WIDE, 1, &grid);
    line_draw(p);
    canvas_text(p->canvas, x, 7, 2, &words, lines[p->line].name);
    x = p->left + WIDE;
    for (int on = 1; on >= 0; --on) {
        float value = curves_quantile(p->curves, p->line, on, 0.5f);
        if (value < 0.0f)
            continue;
        snprintf(text, sizeof text, value < 9.95f ? "%.1f%s" : "%.0f%s", (double)value,
                 lines[p->line].unit);
        x -= canvas_text_width(text, 2) + (on ? 0 : 10);
        canvas_text(p->canvas, x, 7, 2, &inks[on], text);
    }
}

void curves_draw(const struct curves *curves, uint32_t *pixels)
{
    const struct canvas canvas = {pixels, CURVES_WIDTH, CURVES_HEIGHT};
    memset(pixels, 0, sizeof *pixels * CURVES_WIDTH * CURVES_HEIGHT);
    canvas_fill(&canvas, 0, 0, CURVES_WIDTH, CURVES_HEIGHT, &ground);
    for (uint32_t i = 0; i < CURVES_LINES; ++i) {
        const struct plot plot = {
            .canvas = &canvas,
            .curves = curves,
            .line = i,
            .left = PAD + (int32_t)i * (WIDE + GAP),
            .span =
                curves->expected && curves->expected < CURVES_MOST ? curves->expected : CURVES_MOST,
            .most = scale_of(curves, i),
        };
        plot_draw(&plot);
    }
}
