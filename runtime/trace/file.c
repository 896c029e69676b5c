/* SPDX-License-Identifier: MIT */
/* Creates a trace's file under a name that is free, and writes whole packets to it. */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

#define NUMBER_MAX 9999

/* O_APPEND: a child that inherited the descriptor can't overwrite what others wrote. */
static int open_new(const char *path)
{
    return bf_descriptor_lift(open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
}

static int open_there(const char *path)
{
    return bf_descriptor_lift(open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
}

/* Where a number is inserted in the path: before the extension of its last component, if it has
 * one. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return dot && dot != base ? (size_t)(dot - path) : strlen(path);
}

/* Takes 'fd' for the file: notes which one it is, and that this process writes it. */
static int file_take(struct bf_trace_file *file, int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return errno;
    file->fd = fd;
    file->device = status.st_dev;
    file->node = status.st_ino;
    file->regular = S_ISREG(status.st_mode);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_SETLK, &whole); /* a file system without locks: nobody can be told, then */
    return 0;
}

/* Creates the file under the first name that is free. Returns 0 or an errno. */
static int file_create(struct bf_trace_file *file, const char *path, size_t size)
{
    memcpy(file->path, path, strlen(path) + 1);
    int fd = open_new(path);
    if (fd >= 0 || errno != EEXIST)
        return file_take(file, fd);
    struct stat status;
    if (stat(path, &status) == 0 && S_ISCHR(status.st_mode))
        return file_take(file, open_there(path));
    int stem = (int)stem_length(path);
    for (int number = 1; number <= NUMBER_MAX; number++) {
        snprintf(file->path, size, "%.*s-%d%s", stem, path, number, path + stem);
        fd = open_new(file->path);
        if (fd >= 0 || errno != EEXIST)
            return file_take(file, fd);
    }
    return EEXIST;
}

int bf_trace_file_open(struct bf_trace_file *file, const char *path)
{
    *file = (struct bf_trace_file){.fd = -1};
    size_t size = strlen(path) + 16;
    file->path = malloc(size);
    if (!file->path)
        return ENOMEM;
    int error = file_create(file, path, size);
    if (error) {
        free(file->path);
        file->path = NULL;
    }
    return error;
}

/* Does the descriptor still lead to the file? The program may have closed it, and opened a file of
 * its own, which then has its number. */
static bool fd_is_ours(const struct bf_trace_file *file)
{
    struct stat status;
    return file->fd >= 0 && fstat(file->fd, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->node;
}

void bf_trace_file_close(struct bf_trace_file *file)
{
    if (fd_is_ours(file))
        close(file->fd);
    file->fd = -1;
}

bool bf_trace_file_is_there(const struct bf_trace_file *file)
{
    struct stat status;
    return file->path && stat(file->path, &status) == 0 && status.st_dev == file->device &&
           status.st_ino == file->node &&
           (!file->regular || (uint64_t)status.st_size == file->bytes);
}

int bf_trace_file_reopen(struct bf_trace_file *file)
{
    return file_take(file, open_there(file->path));
}

/* False: the data end inside it. */
static bool varint_skip(const uint8_t *data, size_t limit, size_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < limit; shift += 7) {
        uint8_t byte = data[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Where the packet that begins at *at ends; *at moves to its fields. 0: the data end inside it. */
static size_t packet_end(const uint8_t *data, size_t limit, size_t *at)
{
    uint64_t length;
    ++*at; /* the tag of Trace.packet, one byte */
    if (*at >= limit || !varint_skip(data, limit, at, &length) || length > limit - *at)
        return 0;
    return *at + (size_t)length;
}

/* How many of the first 'limit' bytes of 'data' belong to whole packets. */
static size_t whole_packets(const uint8_t *data, size_t limit)
{
    size_t whole = 0;
    for (;;) {
        size_t at = whole;
        size_t end = packet_end(data, limit, &at);
        if (!end)
            return whole;
        whole = end;
    }
}

static bool is_event(const uint8_t *data, size_t at, size_t end)
{
    enum { TRACK_EVENT = 11, FIXED64 = 1, LENGTH = 2 };
    uint64_t tag, value;
    while (varint_skip(data, end, &at, &tag)) {
        if (tag >> 3 == TRACK_EVENT)
            return true;
        if ((tag & 7) == FIXED64)
            at += 8;
        else if (!varint_skip(data, end, &at, &value))
            return false;
        else if ((tag & 7) == LENGTH)
            at += (size_t)value;
    }
    return false;
}

uint64_t bf_trace_file_events(const void *data, size_t size)
{
    uint64_t events = 0;
    for (size_t begin = 0; begin < size;) {
        size_t at = begin;
        size_t end = packet_end(data, size, &at);
        if (!end)
            break;
        events += is_event(data, at, end);
        begin = end;
    }
    return events;
}

int bf_trace_file_write(struct bf_trace_file *file, const void *data, size_t size, size_t *kept)
{
    *kept = 0;
    const uint8_t *bytes = data;
    size_t done = 0;
    int error = 0;
    while (done < size && !error) {
        if (!fd_is_ours(file)) {
            error = EBADF;
            break;
        }
        ssize_t n = write(file->fd, bytes + done, size - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = n == 0 ? ENOSPC : errno;
    }
    if (!error) {
        file->bytes += size;
        *kept = size;
        return 0;
    }
    /* Half a packet at the end is cut off, for readers that can't handle it. A device can't be
     * truncated. */
    *kept = whole_packets(bytes, done);
    if (fd_is_ours(file) && ftruncate(file->fd, (off_t)(file->bytes + *kept)) == 0)
        done = *kept;
    file->bytes += done;
    bf_trace_file_close(file);
    return error;
}
