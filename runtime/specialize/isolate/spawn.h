/*
 * Starting a process that isn't the caller's child.
 *
 * The caller's thread clones a child without an exit signal, which borrows its memory and its table
 * of descriptors, clones the process proper, and ends; the thread goes on when that has begun to
 * run its program. So there is nothing for wait() to find and no SIGCHLD, whatever the program does
 * about those. (The child proper couldn't be the one without a signal: execve gives it SIGCHLD.)
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_SPAWN_H
#define BELFRY_SPECIALIZE_ISOLATE_SPAWN_H

/* The descriptor at which the process finds its socket; 0 to 2 are /dev/null, and there are no
 * others. */
#define BF_SPAWN_SOCKET 3

/*
 * Runs 'path' with 'socket' as its BF_SPAWN_SOCKET. All signals have their default action there,
 * and none is blocked. *pidfd, to be closed by the caller, is the process'.
 * Returns 0 or an error, also if the program can't be run. Thread-safety: safe; the calling thread
 * blocks, and other threads run on.
 */
int bf_spawn(const char *path, char *const *environment, int socket, int *pidfd);

#endif
