/* SPDX-License-Identifier: MIT */
/*
 * Writing pictures as PNG files.
 */
#ifndef SAMPLE_PNG_FILE_H
#define SAMPLE_PNG_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Can `path` be written? To be asked before the work is done; the file stays as it was. Reports why
 * not. */
bool sample_png_writable(const char *path);

/* Writes 8-bit RGBA rows, `stride` bytes apart, as an opaque picture. On failure it reports that
 * and removes the file. Equal pixels give equal bytes. */
bool sample_png_write(const char *path, const void *pixels, uint32_t width, uint32_t height,
                      uint32_t stride);

#endif
