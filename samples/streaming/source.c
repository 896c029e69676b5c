/* SPDX-License-Identifier: MIT */
/* The bytes to show: those of a file, or of a computed curve. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

#define CURVE_POINTS (1u << 20) /* of three bytes each */

/* Reads all bytes; false: it can't, and the error has been reported. */
static bool file_read(const struct source *source, uint64_t offset, void *bytes, size_t count)
{
    size_t done = 0;
    while (done < count) {
        ssize_t size =
            pread(source->fd, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            sample_complain("cannot read '%s': %s", source->path, strerror(errno));
            return false;
        }
        if (size == 0) {
            sample_complain("'%s' has become shorter while it was read", source->path);
            return false;
        }
        done += (size_t)size;
    }
    return true;
}

static int file_open(struct source *source)
{
    struct stat status;

    /* O_NONBLOCK, since opening a pipe could block. */
    source->fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (source->fd < 0 || fstat(source->fd, &status)) {
        sample_complain("--file: cannot read '%s': %s", source->path, strerror(errno));
        return SAMPLE_EXIT_USAGE;
    }
    if (!S_ISREG(status.st_mode)) {
        sample_complain("--file: '%s' is no regular file: its size must be known", source->path);
        return SAMPLE_EXIT_USAGE;
    }
    if (status.st_size == 0) {
        sample_complain("--file: '%s' is empty: there is nothing to stream", source->path);
        return SAMPLE_EXIT_USAGE;
    }
    source->size = (uint64_t)status.st_size;
    for (uint64_t i = 0; i < 2; ++i) {
        if (!file_read(source, i % source->size, &source->first[i], 1))
            return SAMPLE_EXIT_FAILED;
    }
    return SAMPLE_EXIT_DONE;
}

static uint8_t coordinate_store(double x)
{
    double byte = 11.9 * (x + 14.7);
    return byte < 0.0 ? 0 : byte > 255.0 ? 255 : (uint8_t)byte;
}

/* Computes Halvorsen's attractor with a changing parameter: a byte for each coordinate of each
 * point. It is symmetric in the axes, so that it doesn't matter at which byte a point begins. It
 * uses only sums and products, so the bytes are the same on all machines. */
static void curve_compute(struct source *source, uint32_t seed)
{
    double chance = (double)(seed * 2654435769u >> 16) / 65536.0;
    double x = -1.5 - chance, y = -1.5, z = chance;
    const double step = 0.0011;

    for (uint32_t i = 0; i < CURVE_POINTS; ++i) {
        double a = 1.89 - 0.62 * (double)i / CURVE_POINTS;
        double dx = -a * x - 4.0 * y - 4.0 * z - y * y;
        double dy = -a * y - 4.0 * z - 4.0 * x - z * z;
        double dz = -a * z - 4.0 * x - 4.0 * y - x * x;
        x += step * dx;
        y += step * dy;
        z += step * dz;
        uint8_t *bytes = source->curve + (size_t)3 * i;
        bytes[0] = coordinate_store(x);
        bytes[1] = coordinate_store(y);
        bytes[2] = coordinate_store(z);
    }
}

int source_open(struct source *source, const char *path, uint32_t seed)
{
    *source = (struct source){.path = path, .fd = -1};
    if (path)
        return file_open(source);
    source->size = 3ull * CURVE_POINTS;
    source->curve = malloc(source->size);
    if (!source->curve) {
        sample_complain("out of memory");
        return SAMPLE_EXIT_FAILED;
    }
    curve_compute(source, seed);
    memcpy(source->first, source->curve, 2);
    return SAMPLE_EXIT_DONE;
}

bool source_read(const struct source *source, uint64_t offset, uint32_t count, uint8_t *bytes)
{
    uint64_t left = source->size - offset;
    uint32_t here = left < (uint64_t)count + 2 ? (uint32_t)left : count + 2;

    memcpy(bytes + here, source->first, count + 2 - here);
    if (source->path)
        return file_read(source, offset, bytes, here);
    memcpy(bytes, source->curve + offset, here);
    return true;
}

void source_close(struct source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    free(source->curve);
}
