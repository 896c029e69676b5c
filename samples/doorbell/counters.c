/* SPDX-License-Identifier: MIT */
/* Draws counters as text. */
#include "counters.h"

#include <stdio.h>
#include <string.h>

#include "font.h"

#define LINE_HEIGHT (COUNTERS_DOWN / COUNTERS_LINES)

static void line_draw(const char *text, uint32_t *words)
{
    for (uint32_t i = 0; text[i] && (i + 1) * FONT_ADVANCE <= COUNTERS_ACROSS * 32; ++i) {
        for (uint32_t y = 0; y < FONT_HEIGHT; ++y) {
            for (uint32_t x = 0; x < FONT_WIDTH; ++x) {
                uint32_t at = i * FONT_ADVANCE + x;
                if (font_dot(text[i], x, y))
                    words[y * COUNTERS_ACROSS + at / 32] |= 1u << at % 32;
            }
        }
    }
}

void counters_draw(const struct counters *c, uint32_t *words)
{
    const struct {
        const char *name;
        uint64_t value;
    } lines[COUNTERS_LINES] = {{"entries", c->entries},
                               {"rings", c->rings},
                               {"batches", c->batches},
                               {"notifies", c->notifies},
                               {"reconnects", c->reconnects}};
    memset(words, 0, COUNTERS_WORDS * sizeof *words);
    for (uint32_t i = 0; i < COUNTERS_LINES; ++i) {
        char text[40];
        snprintf(text, sizeof text, "%-11s%11llu", lines[i].name,
                 (unsigned long long)lines[i].value);
        line_draw(text, words + i * LINE_HEIGHT * COUNTERS_ACROSS);
    }
}
