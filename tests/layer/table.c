/* SPDX-License-Identifier: MIT */
/* Reads the table of commands. */
#include "table.h"

#include "support/test.h"

struct table_row table_rows[2000];
uint32_t table_count;
static char text[1 << 20];

void table_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no table %s", path);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *line = strchr(text, '\n') + 1; /* of what registry it is */
    assert_memory_equal(
        line,
        "command,names,handle,parameters,carries,loader,submits,families,trace,access,"
        "specialize,calls\n",
        strcspn(line, "\n") + 1);
    for (line = strchr(line, '\n') + 1; *line; table_count++) {
        assert_true(table_count < sizeof(table_rows) / sizeof(table_rows[0]));
        char *end = strchr(line, '\n');
        *end = '\0';
        for (uint32_t c = 0; c < TABLE_COLUMNS; c++) {
            table_rows[table_count].columns[c] = strsep(&line, ",");
            assert_non_null(table_rows[table_count].columns[c]);
        }
        assert_null(line);
        line = end + 1;
    }
    assert_true(table_count > 600);
}
