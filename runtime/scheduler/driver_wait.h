/* SPDX-License-Identifier: MIT */
/* The program's waits in the driver, which a loss that Belfry itself has declared ends (L-6). */
#ifndef BELFRY_SCHEDULER_DRIVER_WAIT_H
#define BELFRY_SCHEDULER_DRIVER_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct bf_engine;
struct bf_scheduler;

/* vkWaitForFences and vkWaitSemaphores: their results, and VK_ERROR_DEVICE_LOST of a device that
 * Belfry has declared lost, which the caller settles. No lock is held. Thread-safety: safe. */
VkResult bf_driver_wait_fences(struct bf_scheduler *scheduler, uint32_t count,
                               const VkFence *fences, VkBool32 all, uint64_t timeout_ns);
VkResult bf_driver_wait_semaphores(struct bf_scheduler *scheduler, const VkSemaphoreWaitInfo *info,
                                   uint64_t timeout_ns);

/* For other waits in the driver, which have time-outs too:
 *
 *     const uint64_t deadline = bf_deadline_ns(timeout);
 *     do
 *         result = wait(bf_driver_slice_ns(scheduler, deadline));
 *     while (!bf_driver_slice_was_last(scheduler, &result, deadline));
 *
 * The length of the next slice. And: does the result stand? It becomes VK_ERROR_DEVICE_LOST of such
 * a device. */
uint64_t bf_driver_slice_ns(const struct bf_scheduler *scheduler, uint64_t deadline_ns);
bool bf_driver_slice_was_last(struct bf_scheduler *scheduler, VkResult *result,
                              uint64_t deadline_ns);

/* The same for one timeline. */
VkResult bf_driver_wait_timeline(struct bf_scheduler *scheduler, VkSemaphore semaphore,
                                 uint64_t value, uint64_t timeout_ns);

/* Before one of the driver's waits for idleness, which can't be sliced: waits until everything with
 * an epoch that the engine has been given is complete; at once where nothing is sliced. Errors: as
 * above. */
VkResult bf_driver_wait_epochs(struct bf_engine *engine);

/* What a thread of Belfry's makes of the result of its wait in the driver. VK_SUCCESS and
 * VK_TIMEOUT: nothing. Without memory for it, the driver is to be asked again after a millisecond,
 * or at once when *turn has another value and is woken. Else the device is lost, for 'where'; it
 * has been settled when this returns. The thread holds no lock. */
void bf_driver_wait_judge(struct bf_scheduler *scheduler, VkResult result, _Atomic uint32_t *turn,
                          uint32_t was, const char *where);

#endif
