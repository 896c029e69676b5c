/* SPDX-License-Identifier: MIT */
/*
 * Descriptors that Belfry keeps open in a program.
 *
 * FD-1  None is 0, 1 or 2: in a program that has closed its stdin, stdout or stderr, the system
 *       gives the next that is opened this number, and what the program prints would go there.
 */
#ifndef BELFRY_BASE_DESCRIPTOR_H
#define BELFRY_BASE_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The least number of a descriptor of Belfry's, for F_DUPFD_CLOEXEC. */
#define BF_DESCRIPTOR_LEAST 3

/* Moves what has just been opened to another descriptor where FD-1 asks for it. -1, with errno: it
 * couldn't be opened or moved, and is closed. */
static inline int bf_descriptor_lift(int fd)
{
    if (fd < 0 || fd >= BF_DESCRIPTOR_LEAST)
        return fd;
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, BF_DESCRIPTOR_LEAST);
    int error = errno;
    close(fd);
    errno = error;
    return lifted;
}

/* The same with both ends of a pipe or of a pair of sockets. -1, with errno: neither is open. */
static inline int bf_descriptor_lift_pair(int ends[2])
{
    ends[0] = bf_descriptor_lift(ends[0]);
    int error = errno;
    ends[1] = bf_descriptor_lift(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    error = ends[0] < 0 ? error : errno;
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
    errno = error;
    return -1;
}

#endif
