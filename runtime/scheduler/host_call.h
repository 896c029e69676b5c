/* SPDX-License-Identifier: MIT */
/*
 * Calls of the program's that last in the driver and are no engine's: waits for fences and
 * semaphores, for an image, for a present. They are noted for the watchdog (scheduler/watch.h), if
 * it is there to tell of them; else each function returns at once.
 *
 *  HC-1  A wait is told by its thread and by what it waits for: who waits again for the same, after
 *        a time-out, has waited all the while. Each thread has a place of its own for that, until
 *        the watchdog finds it unused; its version changes with what is waited for, and when that
 *        has come.
 *
 * Proven by tests/standstill (told.c). Thread-safety: safe.
 */
#ifndef BELFRY_SCHEDULER_HOST_CALL_H
#define BELFRY_SCHEDULER_HOST_CALL_H

#include "scheduler/watch.h"

struct bf_scheduler;

/* BF_WATCHED_ACQUIRE or BF_WATCHED_WAIT_FOR_PRESENT. Each returns what ends it; NULL: nothing was
 * noted. */
struct bf_watched_call *bf_host_call_begin(struct bf_scheduler *scheduler,
                                           enum bf_watched_command command);
/* One that doesn't wait (a time-out of 0) isn't noted. */
struct bf_watched_call *bf_host_call_wait_fences(struct bf_scheduler *scheduler, uint32_t count,
                                                 const VkFence *fences, VkBool32 all,
                                                 uint64_t timeout_ns);
struct bf_watched_call *bf_host_call_wait_semaphores(struct bf_scheduler *scheduler,
                                                     const VkSemaphoreWaitInfo *info,
                                                     uint64_t timeout_ns);
/* NULL is allowed. 'result': of the call. */
void bf_host_call_end(struct bf_watched_call *call, VkResult result);

#endif
