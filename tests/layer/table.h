/* SPDX-License-Identifier: MIT */
/* The table of commands (layer/registry/commands.csv), read with the little that it takes. */
#ifndef BELFRY_TEST_LAYER_TABLE_H
#define BELFRY_TEST_LAYER_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum table_column {
    COMMAND,
    NAMES, /* each with what provides it: "vkCommand:VK_EXT_one|VK_EXT_other" */
    HANDLE,
    PARAMETERS,
    CARRIES,
    LOADER,
    SUBMITS,
    FAMILIES,
    TRACE,
    ACCESS,
    SPECIALIZE,
    CALLS,
    TABLE_COLUMNS
};

struct table_row {
    char *columns[TABLE_COLUMNS];
};
extern struct table_row table_rows[2000];
extern uint32_t table_count;

void table_read(const char *path);

static inline bool table_has(const struct table_row *row, enum table_column column)
{
    return row->columns[column][0] != '\0';
}

#endif
