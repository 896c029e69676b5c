/*
 * What stands in tables of times: for the summary at the end of a program and the report of a file.
 */
#ifndef BELFRY_TRACE_TABLE_CELL_H
#define BELFRY_TRACE_TABLE_CELL_H

#include <stdint.h>

#define BF_CELL 32 /* bytes, with the 0 at the end */

/* "1.23 ms" */
const char *bf_cell_duration(char cell[BF_CELL], uint64_t ns);
/* "12.3 %", or "-" of nothing */
const char *bf_cell_percent(char cell[BF_CELL], uint64_t part, uint64_t whole);

/* Columns are counted in characters, printf counts bytes: the width to give it for the text. */
int bf_cell_padded(const char *text, int width);
/* The text's characters, or at_least if those are more. */
int bf_cell_width(const char *text, int at_least);

#endif
