/* SPDX-License-Identifier: MIT */
/*
 * Starting a process that isn't the caller's child.
 *
 * The caller's thread clones a first child without an exit signal, which shares its memory and its
 * descriptor table. That child clones the process itself and ends; the caller's thread goes on when
 * the process has begun to run its program. So wait() finds nothing and no SIGCHLD comes, whatever
 * the program does about those. (One clone without an exit signal would not do: execve makes it
 * SIGCHLD.)
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_SPAWN_H
#define BELFRY_SPECIALIZE_ISOLATE_SPAWN_H

/* The descriptor at which the process finds its socket; 0 to 2 are /dev/null, and there are no
 * others. */
#define BF_SPAWN_SOCKET 3

/*
 * Runs 'path', called 'name', with 'socket' as its BF_SPAWN_SOCKET. All signals have their default
 * action there, and none is blocked. *pidfd, to be closed by the caller, is the process'.
 * Returns 0 or an error, also if the program can't be run, or a sandbox traps what it takes.
 * Thread-safety: safe; the calling thread blocks, and other threads run on.
 */
int bf_spawn(const char *path, const char *name, char *const *environment, int socket, int *pidfd);

#endif
