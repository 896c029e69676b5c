/* SPDX-License-Identifier: MIT */
/*
 * Suspension of command queues that take their work by calls. (What has a ring isn't read
 * meanwhile: doorbell/thread.c.)
 *
 *  CS-1  From the return of bf_command_queue_suspend on, the driver is given nothing of a suspended
 *        queue, and no signal of it applies: what it has, and is given, stays in its list, in order
 *        . It is changed under the engine's lock, or beside a present, so that no pump is in
 *        between. What the driver has accepted goes on.
 *  CS-2  Who resumes a queue for the last time, or another pump of its engine, hands over
 *        what may go then.
 *  CS-3  Nothing else waits for a resumption: a call that submits returns as if a wait held its
 *        queue (AC-1), windows and flushes pass the queue by, and a standstill is what others wait
 *        for behind it. Who waits for the queue to be idle, or for what it is to signal, waits
 *        until then.
 *  CS-4  With its destruction a queue is resumed. A lost device drops what is held.
 *
 * Proven by tests/scheduler (suspension.c), tests/standstill (diagnosis.c) and tests/random.
 */
#ifndef BELFRY_SCHEDULER_SUSPENSION_H
#define BELFRY_SCHEDULER_SUSPENSION_H

#include <stdbool.h>

struct bf_command_queue;

/* Suspends the queue, or resumes it; that is counted. False: it can't be suspended more often, or
 * isn't. The caller holds no lock. Thread-safety: safe. */
bool bf_command_queue_suspend(struct bf_command_queue *queue, bool suspend);

#endif
