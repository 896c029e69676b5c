/* SPDX-License-Identifier: MIT */
/* Capital letters, digits and a few signs, of five by seven dots. */
#ifndef TRAINING_FONT_H
#define TRAINING_FONT_H

#include <stdbool.h>
#include <stdint.h>

#define FONT_WIDTH   5
#define FONT_HEIGHT  7
#define FONT_ADVANCE 6

/* Small letters are drawn as capitals, what there is no sign for as nothing. */
bool font_dot(char sign, uint32_t x, uint32_t y);

#endif
