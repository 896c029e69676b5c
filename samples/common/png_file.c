/* SPDX-License-Identifier: MIT */
/* Writes a picture to a PNG file. */
#include "png_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <png.h>

#include "report.h"

bool sample_png_writable(const char *path)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
        unlink(path);
    } else if (errno == EEXIST) {
        file = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (file < 0) {
        sample_complain("--out '%s': cannot be written: %s", path, strerror(errno));
        return false;
    }
    close(file);
    return true;
}

/* libpng's own output function loses errno, and so the reason, which is most often a full disk. */
static void rows_output(png_structp png, png_bytep data, size_t size)
{
    FILE *file = png_get_io_ptr(png);
    if (fwrite(data, 1, size, file) != size)
        png_error(png, strerror(errno));
}

static void rows_flush(png_structp png)
{
    (void)png; /* fclose flushes, and reports errors */
}

static void error_keep(png_structp png, png_const_charp message)
{
    char *reason = png_get_error_ptr(png);
    snprintf(reason, 128, "%s", message);
    png_longjmp(png, 1);
}

static void warning_drop(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* A function of its own, because setjmp leaves its caller's locals undefined. */
static bool picture_write(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height,
                          uint32_t stride, char *reason)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, reason, error_keep, warning_drop);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        strcpy(reason, "out of memory");
        return false;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, file, rows_output, rows_flush);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);
    png_set_filler(png, 0, PNG_FILLER_AFTER); /* ignores the fourth byte of every pixel */
    for (uint32_t y = 0; y < height; ++y)
        png_write_row(png, pixels + (size_t)y * stride);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

bool sample_png_write(const char *path, const void *pixels, uint32_t width, uint32_t height,
                      uint32_t stride)
{
    char reason[128] = "";
    FILE *file = fopen(path, "wbe");
    if (!file) {
        sample_complain("cannot write '%s': %s", path, strerror(errno));
        return false;
    }
    bool written = picture_write(file, pixels, width, height, stride, reason);
    if (fclose(file) && written) {
        snprintf(reason, sizeof reason, "%s", strerror(errno));
        written = false;
    }
    if (!written) {
        struct stat status;
        sample_complain("cannot write '%s': %s", path, reason);
        if (!stat(path, &status) && S_ISREG(status.st_mode))
            unlink(path);
    }
    return written;
}
