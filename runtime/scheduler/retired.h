/* SPDX-License-Identifier: MIT */
/*
 * Retired timelines: the program has destroyed them, and the driver may still look at them
 * (BF_DRIVER_BUG_LATE_WAIT_POINTS, gpu/driver_bug.h). On other drivers nothing is ever retired.
 *
 * A VkQueue is drained when the driver's vkQueueWaitIdle on it, or its vkDeviceWaitIdle, has
 * returned: then the driver has let go of all that was submitted before.
 *
 *  RT-1  A timeline goes to the driver's vkDestroySemaphore only when each shared engine that was
 *        given a wait or a signal of it has been drained since it was retired: whoever drains takes
 *        the list first, and what is retired meanwhile waits for the next time. (On an engine that
 *        is not shared the program's own waits for idleness are the driver's, and the program is as
 *        safe as without Belfry.)
 *  RT-2  A drain of Belfry's own, when many are retired, waits for no work: the engine's lock is
 *        only tried, and the engine is left alone unless all that it has been given is known to be
 *        complete. Such work may wait for what this very thread has yet to do. The list then grows.
 *  RT-3  By the end of the device all of them have been destroyed.
 *
 * Proven by tests/layer/retired.c, on a driver that looks late as long as it can.
 */
#ifndef BELFRY_SCHEDULER_RETIRED_H
#define BELFRY_SCHEDULER_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_engine;
struct bf_scheduler;
struct bf_semaphore;

struct bf_retired {
    struct bf_lock lock;        /* leaf lock */
    struct bf_semaphore *first; /* each holds the reference that it was retired with */
    uint32_t count;
    uint32_t drain_at; /* the count at which a drain is tried next; 0: BF_RETIRED_MANY */
};

/* So many are kept without trying to drain. */
#define BF_RETIRED_MANY 64

/* The engine is about to be given a wait or a signal of this semaphore; its lock is held. */
void bf_retired_note(struct bf_engine *engine, VkSemaphore semaphore);
/* Is there anything to note on this engine? */
bool bf_retired_notes(const struct bf_engine *engine);

/* Destroys the timeline, now or once the engines of the mask have been drained; takes the reference
 * over. Thread-safety: safe, with any lock held. */
void bf_retired_add(struct bf_scheduler *scheduler, struct bf_semaphore *sem, uint64_t engines);

/* RT-2, if there are many. The caller holds no lock. */
void bf_retired_drain_if_many(struct bf_scheduler *scheduler);

/* Around each wait for idleness of the driver's: takes the list, and with the engines that have
 * been drained (0: the wait has failed) destroys what they alone kept and puts the rest back. */
struct bf_semaphore *bf_retired_take(struct bf_scheduler *scheduler);
void bf_retired_drained(struct bf_scheduler *scheduler, struct bf_semaphore *taken,
                        uint64_t engines);

/* RT-3: waits for the driver, and destroys what is left. The program has waited for everything. */
void bf_retired_finish(struct bf_scheduler *scheduler);

#endif
