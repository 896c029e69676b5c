/* SPDX-License-Identifier: MIT */
/*
 * The bytes to show: those of a file, or, if none is given, of a computed curve.
 */
#ifndef STREAMING_SOURCE_H
#define STREAMING_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct source {
    const char *path; /* NULL: the curve's */
    int fd;
    uint64_t size; /* not 0 */
    uint8_t first[2];
    uint8_t *curve;
};

/* `path` may be NULL. Returns an exit code (report.h); errors have been reported. */
int source_open(struct source *source, const char *path, uint32_t seed);

/* Reads `count` bytes at `offset`, which the source must have, and the two that follow; after the
 * last byte follows the first. False: it can't, and the error has been reported. */
bool source_read(const struct source *source, uint64_t offset, uint32_t count, uint8_t *bytes);

void source_close(struct source *source);

#endif
