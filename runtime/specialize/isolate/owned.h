/* SPDX-License-Identifier: MIT */
/*
 * A descriptor that the program's side of a helper keeps for long. A program may close it, as one
 * that closes whatever isn't its own does, and the number is then that of a file of its own: so it
 * is used only while it leads to what was opened. [IS-17] For one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_OWNED_H
#define BELFRY_SPECIALIZE_ISOLATE_OWNED_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

struct owned {
    int fd; /* -1: none */
    dev_t device;
    ino_t node;
};

#define OWNED_NONE ((struct owned){.fd = -1})

/* The descriptor is the struct's to close from then on. -1: none. */
static inline struct owned owned_take(int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return OWNED_NONE;
    return (struct owned){.fd = fd, .device = status.st_dev, .node = status.st_ino};
}

static inline bool owned_leads(const struct owned *owned)
{
    struct stat status;
    return owned->fd >= 0 && fstat(owned->fd, &status) == 0 && status.st_dev == owned->device &&
           status.st_ino == owned->node;
}

static inline void owned_close(struct owned *owned)
{
    if (owned_leads(owned))
        close(owned->fd);
    *owned = OWNED_NONE;
}

#endif
