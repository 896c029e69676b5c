/* SPDX-License-Identifier: MIT */
/*
 * Whether a device keeps signs of zeros, infinities and NaN where a module asks it to: that it says
 * so isn't enough (llvmpipe says so, and takes x * 0 for 0).
 *
 *  FM-2  A device is taken at its word only if a shader of Belfry's own (shaders/keeping.comp),
 *        with zeros and infinities folded and asked to be kept, agrees in every bit with the same
 *        shader that reads them, in sums and products with all kinds of values.
 *
 * Proven by tests/specialize/isolate (keeping.c).
 */
#ifndef BELFRY_SPECIALIZE_KEEPING_H
#define BELFRY_SPECIALIZE_KEEPING_H

#include <stdbool.h>

#include <vulkan/vulkan_core.h>

struct bf_isolate;

/* Has a helper compare them, for floats of 32 bits, which the device says it can be asked for.
 * Blocks until it has, as bf_isolate_check, whose results these are. *keeps: with VK_SUCCESS;
 * false also where the driver fails over it.
 * Thread-safety: safe; for background tasks, since it takes long. */
VkResult bf_keeping_ask(struct bf_isolate *isolate, bool *keeps);

#endif
