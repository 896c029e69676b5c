/* SPDX-License-Identifier: MIT */
/*
 * Where the bytes come from: a file, or a curve that is computed when none is given.
 */
#ifndef STREAMING_SOURCE_H
#define STREAMING_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct source {
    const char *path; /* NULL: the curve */
    int fd;
    uint64_t size; /* not 0 */
    uint8_t first[2];
    uint8_t *curve;
};

/* `path` may be NULL. Returns an exit code (report.h), having complained. */
int source_open(struct source *source, const char *path, uint32_t seed);

/* `count` bytes from `offset` on, which the source has, and the two that follow: those of the end
 * are the first ones. False, having complained. */
bool source_read(const struct source *source, uint64_t offset, uint32_t count, uint8_t *bytes);

void source_close(struct source *source);

#endif
