/* SPDX-License-Identifier: MIT */
/*
 * A thread that starts processes for others, so that these have its priority: a process inherits
 * that of the thread that starts it, and without privileges none comes back from SCHED_IDLE.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_SPAWNER_H
#define BELFRY_SPECIALIZE_ISOLATE_SPAWNER_H

struct bf_spawner;

/* Of the calling thread's priority. NULL: there is no memory, or no thread. */
struct bf_spawner *bf_spawner_start(void);
/* Waits for its end; it has nothing to do. NULL is allowed. */
void bf_spawner_stop(struct bf_spawner *spawner);

/* bf_spawn on that thread, for whose return it waits; on the calling one if 'spawner' is NULL. */
int bf_spawner_spawn(struct bf_spawner *spawner, const char *path, const char *name,
                     char *const *environment, int socket, int *pidfd);

#endif
