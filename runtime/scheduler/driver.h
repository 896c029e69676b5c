/* SPDX-License-Identifier: MIT */
/*
 * The driver calls that submit work, or wait for all of it. For a device that Belfry schedules, no
 * other file makes them. (Devices that are passed through, calls that go through upper layers, and
 * the helper process that builds pipelines make their own.)
 *
 * Thread-safety: the engine's lock is held, which counts as access to its VkQueue, but for
 * presents of Q-8; for the device, those of all engines.
 */
#ifndef BELFRY_SCHEDULER_DRIVER_H
#define BELFRY_SCHEDULER_DRIVER_H

#include <stdbool.h>

#include <vulkan/vulkan.h>

struct bf_engine;
struct bf_raw_submit;
struct bf_scheduler;

/* vkQueueSubmit2, vkQueueBindSparse of one batch, vkQueuePresentKHR, vkQueueWaitIdle. Errors: those
 * of the commands. */
VkResult bf_driver_submit(struct bf_engine *engine, uint32_t count, const VkSubmitInfo2 *infos,
                          VkFence fence);
VkResult bf_driver_bind_sparse(struct bf_engine *engine, const VkBindSparseInfo *info,
                               VkFence fence);
VkResult bf_driver_present(struct bf_engine *engine, const VkPresentInfoKHR *info);
VkResult bf_driver_queue_wait_idle(struct bf_engine *engine);

/* Returns when no present of the VkQueue is in the driver; none begins under the engine's
 * lock. False: one is, since the device is lost. */
bool bf_driver_await_presents(struct bf_engine *engine);

/* Makes the program's own call with its own structs. Errors: those of its command. */
VkResult bf_driver_submit_raw(struct bf_engine *engine, const struct bf_raw_submit *raw);

/* vkDeviceWaitIdle. Errors: those of the command. */
VkResult bf_driver_device_wait_idle(struct bf_scheduler *scheduler);

#endif
