/* SPDX-License-Identifier: MIT */
/* Formats durations and percentages for tables of text. */
#include "trace/table_cell.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

const char *bf_cell_duration(char cell[BF_CELL], uint64_t ns)
{
    if (ns < 1000)
        snprintf(cell, BF_CELL, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(cell, BF_CELL, "%.1f µs", (double)ns / 1e3);
    else if (ns < 1000000000)
        snprintf(cell, BF_CELL, "%.2f ms", (double)ns / 1e6);
    else
        snprintf(cell, BF_CELL, "%.2f s", (double)ns / 1e9);
    return cell;
}

const char *bf_cell_percent(char cell[BF_CELL], uint64_t part, uint64_t whole)
{
    if (whole == 0)
        snprintf(cell, BF_CELL, "-");
    else
        snprintf(cell, BF_CELL, "%.1f %%", 100.0 * (double)part / (double)whole);
    return cell;
}

static bool is_utf8_continuation(char byte)
{
    return ((uint8_t)byte & 0xC0) == 0x80;
}

int bf_cell_padded(const char *text, int width)
{
    for (const char *c = text; *c; c++)
        width += is_utf8_continuation(*c);
    return width;
}

int bf_cell_width(const char *text, int at_least)
{
    int characters = 0;
    for (const char *c = text; *c; c++)
        characters += !is_utf8_continuation(*c);
    return characters > at_least ? characters : at_least;
}
