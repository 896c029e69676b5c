/* SPDX-License-Identifier: MIT */
/*
 * A barrier in all threads of the process, paid by one of them: membarrier(2), private expedited.
 *
 * Who stores and then loads without a fence in between (the program that rings a doorbell, then
 * reads the doorbell's status) is made to have one by the other side: when the call returns, each
 * running thread has passed a full memory barrier at one point of its instructions since the call
 * began. What a thread stored before that point can be seen; what it loads after it, it loads no
 * older than the caller's stores before the call.
 */
#ifndef BELFRY_BASE_MEMBARRIER_H
#define BELFRY_BASE_MEMBARRIER_H

#include <stdbool.h>

/* Any thread, at any time. False: there was no barrier. Then the kernel doesn't have it, or a
 * filter of system calls refuses it, and it isn't tried again. (A filter may come at any time:
 * false after true.) */
bool bf_membarrier(void);

/* Whether the process has it so far; registers it at the first call, of either. */
bool bf_membarrier_available(void);

#endif
