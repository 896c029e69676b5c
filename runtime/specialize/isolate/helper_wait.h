/* SPDX-License-Identifier: MIT */
/*
 * How the build helper waits for what it has submitted: the limit that is given to vkWaitForFences
 * is of the work's own time, as far as that can be told. [IS-14] For one thread.
 *
 * On a device that is a CPU it is the time that this process has computed for: at idle priority it
 * may get next to nothing. On others it is waited for in parts, of which one is all that is lost
 * while the process is stopped.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_HELPER_WAIT_H
#define BELFRY_SPECIALIZE_ISOLATE_HELPER_WAIT_H

#include "gpu/gpu.h"

/* The device's vkWaitForFences is this one from now on, and each wait a step (helper_watch.h). Of
 * two devices at most at a time. cpu: the device is one. */
void helper_wait_take(struct bf_gpu *gpu, bool cpu);
/* Before the device is destroyed; also if it was never taken. */
void helper_wait_give_back(struct bf_gpu *gpu);

#endif
