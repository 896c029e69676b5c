/* SPDX-License-Identifier: MIT */
/* Texts for tables of times: for the summary at the end of a run and for the report of 'belfry
 * trace'. */
#ifndef BELFRY_TRACE_TABLE_CELL_H
#define BELFRY_TRACE_TABLE_CELL_H

#include <stdint.h>

#define BF_CELL 32 /* bytes, with the 0 at the end */

/* "1.23 ms" */
const char *bf_cell_duration(char cell[BF_CELL], uint64_t ns);
/* "12.3 %", or "-" if the whole is 0 */
const char *bf_cell_percent(char cell[BF_CELL], uint64_t part, uint64_t whole);

/* The width to pass to printf, which counts bytes, so that the text takes 'width' characters. */
int bf_cell_padded(const char *text, int width);
/* The number of the text's characters, but not less than at_least. */
int bf_cell_width(const char *text, int at_least);

#endif
