/* SPDX-License-Identifier: MIT */
/* Catches what Belfry says to the user. */
#include "support/test.h"
#include "support/lines.h"

#include <sys/mman.h>

static int caught = -1, real_stderr = -1;

void lines_begin(void)
{
    fflush(stderr);
    assert_int_equal(caught, -1);
    caught = memfd_create("stderr", MFD_CLOEXEC);
    real_stderr = dup(STDERR_FILENO);
    assert_true(caught >= 0 && real_stderr >= 0);
    dup2(caught, STDERR_FILENO);
}

uint32_t lines_end(char *last, size_t size)
{
    return lines_end_with("", last, size);
}

uint32_t lines_end_with(const char *text, char *last, size_t size)
{
    fflush(stderr);
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    FILE *file = fdopen(caught, "r");
    caught = real_stderr = -1;
    assert_non_null(file);
    rewind(file);
    char line[2048];
    uint32_t n = 0;
    if (last)
        *last = '\0';
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, "belfry: ", 8) != 0) {
            fputs(line, stderr);
            continue;
        }
        if (!strstr(line, text))
            continue;
        n++;
        if (last)
            snprintf(last, size, "%s", line);
    }
    fclose(file);
    return n;
}
