/* SPDX-License-Identifier: MIT */
/*
 * The names and labels that a program gives to Vulkan's objects (VK_EXT_debug_utils), for what the
 * watchdog tells. Of a command buffer, the first label recorded in it.
 *
 *  NM-1  The layer keeps names of queues, semaphores, fences and command buffers, which something
 *        speaks of, as long as these live; queues live as long as their device. Proven by
 *        tests/layer (names.c).
 *
 * Its lock is held over memory accesses only. Thread-safety: safe.
 */
#ifndef BELFRY_STANDSTILL_NAMES_H
#define BELFRY_STANDSTILL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"
#include "base/map.h"

struct bf_names {
    struct bf_lock lock;
    struct bf_map map;
    _Atomic uint32_t count; /* 0: nothing has a name */
};

void bf_names_finish(struct bf_names *names);

/* NULL or "" takes it back. Without memory, it keeps the name that it had. */
void bf_names_set(struct bf_names *names, VkObjectType type, uint64_t handle, const char *name);

/* The command buffer has been begun, or a label is recorded in it. */
void bf_names_begun(struct bf_names *names, VkCommandBuffer buffer);
void bf_names_label(struct bf_names *names, VkCommandBuffer buffer, const char *label);
void bf_names_forget_buffer(struct bf_names *names, VkCommandBuffer buffer);

/* Writes " 'NAME'", or "" if it has none; of the label of a command buffer likewise. */
void bf_names_write(struct bf_names *names, VkObjectType type, uint64_t handle, char *text,
                    size_t size);
void bf_names_write_label(struct bf_names *names, uint64_t buffer, char *text, size_t size);

#endif
