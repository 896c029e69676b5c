/* SPDX-License-Identifier: MIT */
/* What is written to stderr, kept for a test to read. */
#include "support/capture.h"

#include "support/test.h"

void capture_start(struct capture *capture)
{
    fflush(stderr);
    capture->before = dup(STDERR_FILENO);
    capture->file = tmpfile();
    assert_non_null(capture->file);
    dup2(fileno(capture->file), STDERR_FILENO);
}

char *capture_stop(struct capture *capture)
{
    fflush(stderr);
    dup2(capture->before, STDERR_FILENO);
    close(capture->before);
    fseek(capture->file, 0, SEEK_END);
    size_t size = (size_t)ftell(capture->file);
    char *text = calloc(1, size + 1);
    assert_non_null(text);
    rewind(capture->file);
    assert_int_equal(fread(text, 1, size, capture->file), size);
    fclose(capture->file);
    return text;
}
