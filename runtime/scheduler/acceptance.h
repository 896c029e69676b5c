/* SPDX-License-Identifier: MIT */
/*
 * What a call means when it returns: whoever submits, or sets held packets free, waits here until
 * the driver has what the call promises.
 *
 *  AC-1  A call that submits returns when each of its packets has been accepted by the driver, or
 *       when its queue has been seen blocked, during the call, at a packet whose wait no accepted
 *       work satisfies: its own packets are that one, or behind it.
 *  AC-2  A call that sets packets free (a submission, a present, a signal by the host or the CPU)
 *       returns when those have been accepted, and what these have set free in turn, or are held by
 *       another wait: where somebody outside of the device can tell (bf_scheduler.seen_outside), or
 *       the program itself, past Belfry (names_fences).
 *       Else it may return while another thread is about to hand them over. Who destroys a
 *       fence or resumes a queue promises nothing of what that sets free (AC-4).
 *  AC-3  Nobody waits here for a thread that waits for him. Who waits holds no lock but
 *       bf_queue.calls_lock, which stands for the program's own synchronisation of a VkQueue and is
 *       taken by no pump. He waits for the holder of an engine's lock alone, who is in a call of
 *       the driver's, or between two of them. Such a call ends by itself: what it may wait for on
 *       the GPU has been accepted. Or the holder is a program between bfLockVkQueue and
 *       bfUnlockVkQueue, which may not wait for his thread there. And he is a taker: if the
 *       holder stops at its bound, one who waits goes on.
 *
 *  AC-4  A present, which may block in the driver for long, begins once what is ready has been
 *       handed over, its own queue's packets first. Who submits nothing doesn't wait for it: who
 *       creates, suspends, resumes or destroys a command queue, changes its priority, asks for a
 *       fence of progress or preemption, destroys an imported fence, or opens, reads and closes a
 *       log, for himself or for an interrupt; but a log that is opened while the driver may be at
 *       work on what its queue was given before is a submission.
 *
 * AC-2 waits for a call of the driver's only if packets have been set free on that call's engine,
 * since the call that waits has begun: who sets nothing free there isn't delayed by a present, or
 * by any other call that blocks on a VkQueue that is not his.
 *
 * Proven by tests/layer (acceptance.c: drivers that block in submit and present) and tests/random
 * (drivers that block at random places).
 */
#ifndef BELFRY_SCHEDULER_ACCEPTANCE_H
#define BELFRY_SCHEDULER_ACCEPTANCE_H

#include <stdint.h>

struct bf_queue;
struct bf_scheduler;

/* Blocks until AC-1 holds for the packets up to number 'target' of bf_queue.appended. */
void bf_queue_wait_accepted(struct bf_queue *queue, uint64_t target);

/* Blocks until AC-2 holds for what has been set free since bf_scheduler.released was 'before',
 * which the caller read when its call began. */
void bf_scheduler_wait_released(struct bf_scheduler *scheduler, uint64_t before);

/* Blocks until AC-2 holds for all packets on the engines of the mask, and for what they set free in
 * turn, whether somebody can tell or not. */
void bf_scheduler_hand_over_released(struct bf_scheduler *scheduler, uint64_t engines);

#endif
