/* SPDX-License-Identifier: MIT */
/* What Belfry says to the user, caught. */
#ifndef BELFRY_TESTS_SUPPORT_LINES_H
#define BELFRY_TESTS_SUPPORT_LINES_H

#include <stddef.h>
#include <stdint.h>

/* Between the two calls stderr is caught. lines_end returns how many lines began with "belfry: ",
 * copies the last of them ("" for none) to 'last' (may be NULL), and passes the others on. */
void lines_begin(void);
uint32_t lines_end(char *last, size_t size);
/* The same, of lines with 'text' in them alone. */
uint32_t lines_end_with(const char *text, char *last, size_t size);

#endif
