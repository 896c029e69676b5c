/* SPDX-License-Identifier: MIT */
/* The curves of the sample 'priority', of frames that are made up: what is read off them, and where
 * they are drawn. */
#include "support/test.h"

#include <math.h>

#include "curves.h"

#define FRAMES 100

/* The first half without priorities, and dearer in each respect. The first answers come late. */
static void fill(struct curves *curves)
{
    curves->expected = FRAMES;
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct curves_sample sample = {.on = i >= FRAMES / 2};
        sample.values[CURVES_FRAME] = sample.on ? 5 : 10;
        sample.values[CURVES_ANSWER] = i < FRAMES / 4 ? -1 : sample.on ? 1 : 40;
        sample.values[CURVES_BACKGROUND] = sample.on ? 6 : 7;
        curves_add(curves, sample);
    }
}

TEST(half_of_the_frames_are_no_more)
{
    struct curves *curves = calloc(1, sizeof(*curves));
    assert_non_null(curves);
    assert_true(curves_quantile(curves, CURVES_FRAME, true, 0.5f) < 0);
    for (int i = 1; i <= 5; i++) {
        struct curves_sample sample = {.on = true, .values = {(float)(i * 7 % 5 + 1), -1, 0}};
        curves_add(curves, sample);
    }
    assert_true(curves_quantile(curves, CURVES_FRAME, true, 0.5f) == 3);
    assert_true(curves_quantile(curves, CURVES_FRAME, true, 1) == 5);
    assert_true(curves_quantile(curves, CURVES_ANSWER, true, 0.5f) < 0);
    assert_true(curves_quantile(curves, CURVES_FRAME, false, 0.5f) < 0);
    free(curves);
}

/* The first ones are dropped. */
TEST(the_last_frames_are_kept)
{
    struct curves *curves = calloc(1, sizeof(*curves));
    assert_non_null(curves);
    for (uint32_t i = 0; i <= CURVES_MOST; i++)
        curves_add(curves, (struct curves_sample){.values = {(float)i, 0, 0}});
    assert_int_equal(curves->count, CURVES_MOST);
    assert_true(curves_quantile(curves, CURVES_FRAME, false, 0) == 1);
    assert_true(curves_quantile(curves, CURVES_FRAME, false, 1) == CURVES_MOST);
    free(curves);
}

/* The row of the curve, by its first pixel that all but hides what is behind it, in the part of the
 * picture that a plot has; 0: there is none. */
static uint32_t row_at(const uint32_t *pixels, enum curves_line line, double part)
{
    const double third = CURVES_WIDTH / 3.0;
    const uint32_t x = (uint32_t)(third * (line + part));
    for (uint32_t y = CURVES_HEIGHT / 4; y < CURVES_HEIGHT; y++) {
        if (pixels[y * CURVES_WIDTH + x] >> 24 >= 225)
            return y;
    }
    return 0;
}

/* More is higher, with priorities and without; where nothing was measured there is no curve. */
TEST(curves_are_as_high_as_what_was_measured)
{
    struct curves *curves = calloc(1, sizeof(*curves));
    uint32_t *pixels = malloc(sizeof(*pixels) * CURVES_WIDTH * CURVES_HEIGHT);
    assert_true(curves && pixels);
    fill(curves);
    curves_draw(curves, pixels);
    for (enum curves_line line = 0; line < CURVES_LINES; line++) {
        const uint32_t off = row_at(pixels, line, 0.38), on = row_at(pixels, line, 0.75);
        assert_true(off > 0 && on > off);
        /* From the same ground: the heights are as the values. */
        const double bottom = CURVES_HEIGHT - 10,
                     wanted = (double)curves_quantile(curves, line, true, 0.5f) /
                              (double)curves_quantile(curves, line, false, 0.5f);
        assert_true(fabs((bottom - on) / (bottom - off) - wanted) < 0.04);
    }
    assert_int_equal(row_at(pixels, CURVES_ANSWER, 0.15), 0);
    free(pixels);
    free(curves);
}
