#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_MAX 9999

/* O_APPEND: a child that inherited the descriptor can't overwrite what others wrote. */
static int open_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
}

/* Where a number goes: before the extension of the last path component, if it has one. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? (size_t)(dot - path) : strlen(path);
}

int bf_trace_file_open(struct bf_trace_file *file, const char *path)
{
    *file = (struct bf_trace_file){.fd = -1};
    size_t size = strlen(path) + 16;
    file->path = malloc(size);
    if (!file->path)
        return ENOMEM;
    memcpy(file->path, path, strlen(path) + 1);

    file->fd = open_new(file->path);
    if (file->fd >= 0)
        return 0;
    if (errno != EEXIST)
        return errno;
    struct stat status;
    if (stat(path, &status) == 0 && S_ISCHR(status.st_mode)) {
        file->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
        return file->fd >= 0 ? 0 : errno;
    }
    int stem = (int)stem_length(path);
    for (int number = 1; number <= NUMBER_MAX; number++) {
        snprintf(file->path, size, "%.*s-%d%s", stem, path, number, path + stem);
        file->fd = open_new(file->path);
        if (file->fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

void bf_trace_file_close(struct bf_trace_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct bf_trace_file){.fd = -1};
}

/* How many of the first 'limit' bytes of 'data' are whole packets. */
static size_t whole_packets(const uint8_t *data, size_t limit)
{
    size_t whole = 0;
    for (;;) {
        size_t at = whole + 1; /* past the tag of Trace.packet, one byte */
        uint64_t length = 0;
        unsigned shift = 0;
        uint8_t byte;
        do {
            if (at >= limit || shift > 63)
                return whole;
            byte = data[at++];
            length |= (uint64_t)(byte & 0x7f) << shift;
            shift += 7;
        } while (byte & 0x80);
        if (length > limit - at)
            return whole;
        whole = at + (size_t)length;
    }
}

int bf_trace_file_write(struct bf_trace_file *file, const void *data, size_t size)
{
    if (file->fd < 0)
        return EBADF;
    const uint8_t *bytes = data;
    size_t done = 0;
    int error = 0;
    while (done < size && !error) {
        ssize_t n = write(file->fd, bytes + done, size - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = n == 0 ? ENOSPC : errno;
    }
    if (!error) {
        file->bytes += size;
        return 0;
    }
    /* A reader could cope with half a packet at the end, but need not. Devices can't be cut. */
    size_t whole = whole_packets(bytes, done);
    if (ftruncate(file->fd, (off_t)(file->bytes + whole)) == 0)
        done = whole;
    file->bytes += done;
    close(file->fd);
    file->fd = -1;
    return error;
}
