/* SPDX-License-Identifier: MIT */
/* Writes SVG: boxes, lines, arrows, texts that fit. */
#include "cli/trace_draw.h"

#include <stdbool.h>
#include <string.h>

/* Each class has colours for light and for dark pages. White text on each hue, and dark text on the
 * light boxes, have a contrast of at least 4.5 to 1 in both. */
static const char style[] =
    "text { font-family: system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; "
    "fill: #1f2328 }\n"
    ".dim { fill: #57606a } .strong { font-weight: 600 }\n"
    ".page { fill: #ffffff } .band { fill: #f3f6fa } .bandhead { fill: #e3eaf3 }\n"
    ".grid { stroke: #d5dbe2; stroke-width: 1 }\n"
    ".rule { stroke: #c2cad4; stroke-width: 1 }\n"
    ".frame { stroke: #57606a; stroke-width: 1; stroke-dasharray: 4 3 }\n"
    ".h0 { fill: #2563eb; stroke: #2563eb } .h1 { fill: #0f766e; stroke: #0f766e }\n"
    ".h2 { fill: #7c3aed; stroke: #7c3aed } .h3 { fill: #b45309; stroke: #b45309 }\n"
    ".h4 { fill: #15803d; stroke: #15803d } .h5 { fill: #0e7490; stroke: #0e7490 }\n"
    ".h6 { fill: #475569; stroke: #475569 } .h7 { fill: #a21caf; stroke: #a21caf }\n"
    ".run { stroke: #ffffff; stroke-width: 0.6 }\n"
    ".soft { fill-opacity: 0.16; stroke-opacity: 0.75; stroke-width: 0.8 }\n"
    ".held { fill: url(#hatch); stroke: #9a6700; stroke-width: 0.8 }\n"
    ".hatch { stroke: #f0d68a; stroke-width: 2 } .hatchpage { fill: #fff6dc }\n"
    ".wait { fill: #fbd3e3; stroke: #c75b8f; stroke-width: 0.8 }\n"
    ".hung { stroke-dasharray: 3 2 }\n"
    ".signal { fill: #a50e54; stroke: #7d0a40; stroke-width: 0.8 }\n"
    ".arrow { fill: none; stroke: #a50e54; stroke-width: 1.1; stroke-opacity: 0.85 }\n"
    ".tip { fill: #a50e54 }\n"
    ".critical { fill: none; stroke: #e36209; stroke-width: 2.4 }\n"
    ".idle { fill: #d0d7de; stroke: #8c959f; stroke-width: 0.8 }\n"
    ".cpu { fill: #6e7781; stroke: #57606a; stroke-width: 0.8 }\n"
    ".present { fill: #1f2328 }\n"
    ".call { fill: #eaeef2; stroke: #57606a; stroke-width: 0.8 }\n"
    ".callwait { fill: url(#hatch); stroke: #57606a; stroke-width: 0.8 }\n"
    ".onhue { fill: #ffffff } .onlight { fill: #3d0a24 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3 } .dim { fill: #9ea7b3 }\n"
    ".page { fill: #0d1117 } .band { fill: #151b23 } .bandhead { fill: #212a35 }\n"
    ".grid { stroke: #2a313b } .rule { stroke: #3d444d } .frame { stroke: #9ea7b3 }\n"
    ".h0 { fill: #2f6cf0; stroke: #6ea0ff } .h1 { fill: #0f766e; stroke: #2fb5a8 }\n"
    ".h2 { fill: #8348f0; stroke: #b08cff } .h3 { fill: #b45309; stroke: #e8893a }\n"
    ".h4 { fill: #15803d; stroke: #40c06c } .h5 { fill: #0e7490; stroke: #35b2d0 }\n"
    ".h6 { fill: #566479; stroke: #93a4bb } .h7 { fill: #a21caf; stroke: #dd6fe6 }\n"
    ".run { stroke: #0d1117 } .soft { fill-opacity: 0.30 }\n"
    ".held { stroke: #d29922 } .hatch { stroke: #5e4a14 } .hatchpage { fill: #3a2d0c }\n"
    ".wait { fill: #8f5a74; stroke: #e3b3c8 } .signal { fill: #b5155e; stroke: #f27fb2 }\n"
    ".arrow { stroke: #ff9cc9 } .tip { fill: #ff9cc9 } .critical { stroke: #ff9d4d }\n"
    ".idle { fill: #3d444d; stroke: #656c76 } .cpu { fill: #6e7781; stroke: #9ea7b3 }\n"
    ".call { fill: #2a313b; stroke: #9ea7b3 } .callwait { stroke: #9ea7b3 }\n"
    ".present { fill: #e6edf3 } .onhue { fill: #ffffff } .onlight { fill: #ffffff }\n"
    "}\n";

void trace_draw_escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*text, out);
        }
    }
}

void trace_draw_begin(FILE *out, double width, double height, const char *title)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" role=\"img\">\n<title>",
            width, height, width, height);
    trace_draw_escape(out, title);
    fprintf(out,
            "</title>\n<style>\n%s</style>\n<defs>\n"
            "<pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\"><rect class=\"hatchpage\" width=\"6\" height=\"6\"/>"
            "<line class=\"hatch\" x1=\"1\" y1=\"0\" x2=\"1\" y2=\"6\"/></pattern>\n"
            "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
            "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
            "<path class=\"tip\" d=\"M0 0.8 L8 4 L0 7.2 z\"/></marker>\n</defs>\n"
            "<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n",
            style, width, height);
}

void trace_draw_end(FILE *out)
{
    fputs("</svg>\n", out);
}

static bool is_middle(char byte)
{
    return ((uint8_t)byte & 0xC0) == 0x80;
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += !is_middle(*text);
    return count;
}

#define CHARACTER_WIDTH 0.59 /* of the font's size, for a wide sans-serif */

double trace_draw_text_width(const char *text, double font)
{
    return (double)characters(text) * font * CHARACTER_WIDTH;
}

void trace_draw_text(FILE *out, double x, double y, const char *classes, const char *anchor,
                     double font, double width, const char *text)
{
    char cut[512];
    size_t room = width > 0 ? (size_t)(width / (font * CHARACTER_WIDTH)) : sizeof(cut);
    if (characters(text) > room) {
        if (room < 2)
            return;
        size_t bytes = 0;
        for (size_t kept = 0; text[bytes] && bytes < sizeof(cut) - 8; bytes++) {
            if (!is_middle(text[bytes]) && ++kept == room)
                break;
        }
        while (bytes > 0 && text[bytes - 1] == ' ')
            bytes--;
        memcpy(cut, text, bytes);
        strcpy(cut + bytes, "…");
        text = cut;
    }
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\" text-anchor=\"%s\" font-size=\"%.1f\">",
            x, y, classes, anchor, font);
    trace_draw_escape(out, text);
    fputs("</text>\n", out);
}

void trace_draw_box(FILE *out, const struct trace_draw_box *box)
{
    double radius = box->width > 6 && box->height > 6 ? 1.5 : 0;
    fprintf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", box->x, box->y,
            box->width, box->height);
    if (radius > 0)
        fprintf(out, " rx=\"%.1f\"", radius);
    fprintf(out, " class=\"%s\"", box->classes);
    if (!box->hint) {
        fputs("/>\n", out);
    } else {
        fputs("><title>", out);
        trace_draw_escape(out, box->hint);
        fputs("</title></rect>\n", out);
    }
    if (!box->label || box->width < 10)
        return;
    const char *text =
        strstr(box->classes, "run") || strstr(box->classes, "signal") || strstr(box->classes, "cpu")
            ? "onhue"
        : strstr(box->classes, "wait") ? "onlight"
                                       : "";
    trace_draw_text(out, box->x + box->width / 2, box->y + box->height / 2 + 0.36 * box->font, text,
                    "middle", box->font, box->width - 4, box->label);
}

void trace_draw_line(FILE *out, double x1, double y1, double x2, double y2, const char *classes)
{
    fprintf(out, "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1,
            x2, y2, classes);
}

void trace_draw_arrow(FILE *out, double x1, double y1, double x2, double y2, const char *hint)
{
    double reach = (x2 - x1) / 2;
    if (reach < 14)
        reach = 14;
    if (reach > 60)
        reach = 60;
    fprintf(out,
            "<path class=\"arrow\" marker-end=\"url(#tip)\" d=\"M%.2f %.1f C%.2f %.1f %.2f %.1f "
            "%.2f %.1f\">",
            x1, y1, x1 + reach, y1, x2 - reach, y2, x2, y2);
    fputs("<title>", out);
    trace_draw_escape(out, hint);
    fputs("</title></path>\n", out);
}
