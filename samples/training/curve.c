/* SPDX-License-Identifier: MIT */
/* The durations of frames, and the curve that shows them. */
#include "curve.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "font.h"

static const struct colour ground = {0.015f, 0.02f, 0.05f, 0.62f};
static const struct colour shades[CURVE_PHASES] = {
    {0.95f, 0.45f, 0.20f, 0.13f},
    {0.55f, 0.45f, 1.00f, 0.20f},
    {0.20f, 0.85f, 0.65f, 0.13f},
};
static const struct colour inks[CURVE_PHASES] = {
    {1.00f, 0.68f, 0.42f, 0.95f},
    {0.80f, 0.74f, 1.00f, 0.95f},
    {0.52f, 1.00f, 0.83f, 0.95f},
};
static const struct colour post_line = {1.00f, 0.83f, 0.42f, 1.00f};
static const struct colour post_fill = {1.00f, 0.72f, 0.30f, 0.22f};
static const struct colour whole_line = {0.72f, 0.82f, 1.00f, 0.80f};
static const struct colour grid = {1.00f, 1.00f, 1.00f, 0.12f};
static const struct colour words = {0.86f, 0.89f, 0.96f, 0.90f};

/* ----------------------------------------------------------------------------------- Numbers -- */

void curve_add(struct curve *curve, struct curve_frame frame)
{
    if (curve->count == CURVE_MOST) {
        memmove(curve->frames, curve->frames + 1, (CURVE_MOST - 1) * sizeof *curve->frames);
        --curve->count;
    }
    curve->frames[curve->count++] = frame;
}

static int by_value(const void *left, const void *right)
{
    float l = *(const float *)left, r = *(const float *)right;
    return (l > r) - (l < r);
}

/* The value that `part` of all values don't exceed; negative: there are no values. */
static float quantile(float *values, uint32_t count, float part)
{
    if (!count)
        return -1.0f;
    qsort(values, count, sizeof *values, by_value);
    return values[(uint32_t)((float)(count - 1) * part)];
}

struct curve_summary curve_summarise(const struct curve *curve, enum curve_phase phase)
{
    float post[CURVE_MOST], whole[CURVE_MOST];
    uint32_t posts = 0, wholes = 0;

    for (uint32_t i = 0; i < curve->count; ++i) {
        const struct curve_frame *frame = &curve->frames[i];
        if (frame->phase != phase)
            continue;
        if (frame->post >= 0.0f)
            post[posts++] = frame->post;
        whole[wholes++] = frame->whole;
    }
    return (struct curve_summary){wholes, quantile(post, posts, 0.5f),
                                  quantile(whole, wholes, 0.5f)};
}

/* The duration at the upper edge: a round number, which a few very long frames don't raise. */
static float scale_of(const struct curve *curve)
{
    float values[CURVE_MOST];

    for (uint32_t i = 0; i < curve->count; ++i)
        values[i] = curve->frames[i].whole;
    float most = fmaxf(quantile(values, curve->count, 0.9f) * 1.25f, 0.1f);
    float unit = powf(10.0f, floorf(log10f(most)));
    static const float steps[] = {1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 8.0f, 10.0f};
    for (uint32_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
        if (steps[i] * unit >= most)
            return steps[i] * unit;
    }
    return most;
}

/* ----------------------------------------------------------------------------------- Drawing -- */

/* The part of the panel that shows the curves. */
struct plot {
    const struct curve *curve;
    int32_t left, top, width, height, scale;
    uint32_t span; /* number of frames from left to right */
    float most;
};

static int32_t column_of(const struct plot *plot, uint32_t frame)
{
    return plot->left + (int32_t)((uint64_t)frame * (uint32_t)plot->width / plot->span);
}

static float height_of(const struct plot *plot, float milliseconds)
{
    return (float)plot->top + (float)plot->height * (1.0f - fminf(milliseconds / plot->most, 1.0f));
}

/* The value of a curve at a column, interpolated between frames; false: there is none. */
static bool value_at(const struct plot *plot, int32_t column, bool post, float *value)
{
    float at =
        ((float)(column - plot->left) + 0.5f) * (float)plot->span / (float)plot->width - 0.5f;
    float whole = floorf(at), part = at - whole;
    int32_t from = (int32_t)whole, last = (int32_t)plot->curve->count - 1;

    if (at > (float)last + 0.5f || last < 0)
        return false;
    int32_t l = from < 0 ? 0 : from, r = from + 1 > last ? last : from + 1;
    const struct curve_frame *left = &plot->curve->frames[l], *right = &plot->curve->frames[r];
    float a = post ? left->post : left->whole, b = post ? right->post : right->whole;
    *value = height_of(plot, a + (b - a) * part);
    return a >= 0.0f && b >= 0.0f;
}

static void line_draw(const struct plot *plot, const struct canvas *canvas, bool post,
                      const struct colour *line, const struct colour *below)
{
    float thick = 0.5f * (float)plot->scale * (post ? 1.7f : 1.0f), before = 0.0f, value;
    bool there = false;

    for (int32_t x = plot->left; x < plot->left + plot->width; ++x) {
        if (!value_at(plot, x, post, &value)) {
            there = false;
            continue;
        }
        float low = there ? fminf(before, value) : value;
        float high = there ? fmaxf(before, value) : value;
        for (int32_t y = plot->top; y < plot->top + plot->height; ++y) {
            float middle = (float)y + 0.5f;
            if (below && middle > value)
                canvas_blend(canvas, x, y, below, middle - value);
            float off = middle < low ? low - middle : middle > high ? middle - high : 0.0f;
            canvas_blend(canvas, x, y, line, thick + 0.5f - off);
        }
        before = value;
        there = true;
    }
}

/* Draws the frames of one phase, with its name and the post-process's duration above. */
static void phase_draw(const struct plot *plot, const struct canvas *canvas, uint32_t from,
                       uint32_t to)
{
    static const char *const names[CURVE_PHASES] = {"BEFORE", "BUILDING", "AFTER"};
    enum curve_phase phase = plot->curve->frames[from].phase;
    struct curve_summary summary = curve_summarise(plot->curve, phase);
    int32_t left = column_of(plot, from), width = column_of(plot, to) - left;
    int32_t pad = 3 * plot->scale, y = plot->top - (FONT_HEIGHT + 3) * plot->scale;
    char text[48];

    canvas_fill(canvas, left, plot->top, width, plot->height, &shades[phase]);
    canvas_fill(canvas, left, plot->top, plot->scale, plot->height, &inks[phase]);
    snprintf(text, sizeof text, "%s %.1f ms", names[phase],
             (double)(summary.post >= 0.0f ? summary.post : summary.whole));
    if (canvas_text_width(text, plot->scale) > width)
        snprintf(text, sizeof text, "%s", names[phase]);
    if (canvas_text_width(text, plot->scale) <= width)
        canvas_text(canvas, left + pad, y, plot->scale, &inks[phase], text);
}

static void legend_draw(const struct plot *plot, const struct canvas *canvas, int32_t y)
{
    static const struct {
        const char *text;
        const struct colour *colour;
    } entries[] = {{"post-process (GPU)", &post_line}, {"frame", &whole_line}};
    int32_t s = plot->scale, x = plot->left;
    char text[32];

    for (uint32_t i = 0; i < 2; ++i) {
        canvas_fill(canvas, x, y + 3 * s, 8 * s, s, entries[i].colour);
        canvas_text(canvas, x + 11 * s, y, s, &words, entries[i].text);
        x += canvas_text_width(entries[i].text, s) + 20 * s;
    }
    snprintf(text, sizeof text, "scale %g ms", (double)plot->most);
    canvas_text(canvas, plot->left + plot->width - canvas_text_width(text, s), y, s, &words, text);
}

void curve_draw(const struct curve *curve, uint32_t *pixels, uint32_t width, uint32_t height)
{
    const struct canvas canvas = {pixels, width, height};
    int32_t scale = (int32_t)(height / 90 ? height / 90 : 1), pad = 5 * scale;
    int32_t line = (FONT_HEIGHT + 4) * scale;
    const struct plot plot = {
        .curve = curve,
        .left = pad,
        .top = pad + line,
        .width = (int32_t)width - 2 * pad,
        .height = (int32_t)height - 2 * pad - 2 * line,
        .scale = scale,
        .span = curve->expected && curve->expected < CURVE_MOST ? curve->expected : CURVE_MOST,
        .most = scale_of(curve),
    };

    memset(pixels, 0, (size_t)width * height * sizeof *pixels);
    canvas_fill(&canvas, 0, 0, (int32_t)width, (int32_t)height, &ground);
    if (!curve->count || plot.height < 8 || plot.width < 32)
        return;
    for (uint32_t from = 0, to; from < curve->count; from = to) {
        for (to = from + 1; to < curve->count; ++to) {
            if (curve->frames[to].phase != curve->frames[from].phase)
                break;
        }
        phase_draw(&plot, &canvas, from, to);
    }
    for (int32_t i = 1; i <= 3; ++i)
        canvas_fill(&canvas, plot.left, plot.top + plot.height * i / 4, plot.width, 1, &grid);
    line_draw(&plot, &canvas, false, &whole_line, NULL);
    line_draw(&plot, &canvas, true, &post_line, &post_fill);
    legend_draw(&plot, &canvas, plot.top + plot.height + 4 * scale);
}
