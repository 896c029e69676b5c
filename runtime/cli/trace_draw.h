/* SPDX-License-Identifier: MIT */
/*
 * The pieces of a picture in SVG: its style for light and dark, texts that fit, boxes, arrows.
 *
 * Everything is one file without scripts, fonts or other files. Colours are in classes alone, so
 * that the reader's colour scheme can choose among them.
 */
#ifndef BELFRY_CLI_TRACE_DRAW_H
#define BELFRY_CLI_TRACE_DRAW_H

#include <stdint.h>
#include <stdio.h>

#define TRACE_DRAW_HUES 8 /* classes h0 to h7 */

struct trace_draw_box {
    double x, y, width, height;
    const char *classes;
    const char *label; /* inside, as far as it fits; NULL: none */
    const char *hint;  /* shown when pointed at; NULL: none */
    double font;       /* of the label, in pixels */
};

void trace_draw_begin(FILE *out, double width, double height, const char *title);
void trace_draw_end(FILE *out);

/* Writes 'text' with XML's special characters escaped. */
void trace_draw_escape(FILE *out, const char *text);

/* The width of a text in pixels, rather too large than too small. */
double trace_draw_text_width(const char *text, double font);

/* 'anchor' is "start", "middle" or "end". Cut to 'width' pixels, with "…" for what is gone; 0:
 * never cut. Nothing is drawn where not even two characters fit. */
void trace_draw_text(FILE *out, double x, double y, const char *classes, const char *anchor,
                     double font, double width, const char *text);
void trace_draw_box(FILE *out, const struct trace_draw_box *box);
void trace_draw_line(FILE *out, double x1, double y1, double x2, double y2, const char *classes);
void trace_draw_arrow(FILE *out, double x1, double y1, double x2, double y2, const char *hint);

#endif
