/* SPDX-License-Identifier: MIT */
/*
 * The thread of a helper that sees to it that the helper ends with the program (IS-3), or where a
 * step of its work hangs (IS-14), and that the helper's other threads, however many a driver makes,
 * stay out of the program's way (IS-9).
 *
 * Linux lets a thread of SCHED_IDLE have its turn now and then, beside threads that never rest, and
 * whoever waits on its processor waits for the next tick of the kernel's, 4 ms as a rule: most of a
 * frame. So there this thread, whose priority is the program's, wakes up more often while the
 * helper works: for a moment it takes the processor, and then the turn is another's. Beside a GPU's
 * driver, which computes little, that is next to nothing; beside one that computes on the CPU the
 * longest frames in a thousand took a quarter longer without.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_HELPER_WATCH_H
#define BELFRY_SPECIALIZE_ISOLATE_HELPER_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HELPER_SECONDS_TO_CLOSE 5 /* the device, once there is nothing more to do */

/* Puts the calling thread on one processor, and starts the watching one there, with the calling
 * one's priority. False: the program has ended, or there is no thread. */
bool helper_watch_start(pid_t program);

/* Between these the driver may be busy, and may hang: the process ends at once if the program does,
 * or, with BF_WIRE_HUNG for its last words, if its threads compute for longer than that in one
 * step. 0: it has no limit. */
void helper_watch_work_begins(uint64_t limit_ns);
void helper_watch_work_ends(void);
/* The next step of the work: what the driver is asked for at a stretch. Cheap. [IS-14] */
void helper_watch_step(void);

#endif
