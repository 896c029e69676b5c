/* SPDX-License-Identifier: MIT */
/*
 * Pictures as PNG files.
 */
#ifndef SAMPLE_PNG_FILE_H
#define SAMPLE_PNG_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether `path` can be written, found out before the work is done; leaves the file as it was.
 * Complains when it cannot. */
bool sample_png_writable(const char *path);

/* Writes 8-bit RGBA rows, `stride` bytes apart, as an opaque picture. Nothing half-written stays
 * behind: on failure it complains and removes the file. The same pixels give the same bytes. */
bool sample_png_write(const char *path, const void *pixels, uint32_t width, uint32_t height,
                      uint32_t stride);

#endif
