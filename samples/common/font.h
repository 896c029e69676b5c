/* SPDX-License-Identifier: MIT */
/* Capital letters, digits and a few signs, of five by seven dots. */
#ifndef SAMPLE_FONT_H
#define SAMPLE_FONT_H

#include <stdbool.h>
#include <stdint.h>

#define FONT_WIDTH   5
#define FONT_HEIGHT  7
#define FONT_ADVANCE 6

/* Is the dot of this character set? Small letters are shown as capitals; unknown characters have no
 * dots. */
bool font_dot(char sign, uint32_t x, uint32_t y);

#endif
