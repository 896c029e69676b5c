/* SPDX-License-Identifier: MIT */
/*
 * Whether a device keeps signs of zeros, infinities and NaN where a module asks it to: that it says
 * so isn't enough (llvmpipe says so, and takes x * 0 for 0).
 *
 *  FM-2  A device is taken at its word only if a shader of Belfry's own (shaders/keeping.comp),
 *        with zeros and infinities folded and asked to be kept, agrees in every bit with the same
 *        shader that reads them, in sums and products with all kinds of values. That it doesn't is
 *        an answer, too; that the question came to nothing isn't, and decides nothing that lasts.
 *
 * Proven by tests/specialize/isolate (keeping.c).
 */
#ifndef BELFRY_SPECIALIZE_KEEPING_H
#define BELFRY_SPECIALIZE_KEEPING_H

#include <vulkan/vulkan_core.h>

#include <stdint.h>

struct bf_check_answer;
struct bf_isolate;
struct bf_isolate_bar;

/* What the archive has it by, as a pipeline's shaders. */
void bf_keeping_hash(uint8_t hash[32]);

/* Has a helper compare them, for floats of 32 bits, which the device says it can be asked for.
 * Blocks until it has, as bf_isolate_check, whose results and answer these are: with VK_SUCCESS the
 * device keeps them if the answer's first form has the reason BF_REASON_NONE, and doesn't if it has
 * BF_REASON_INEXACT. Anything else is no answer. 'bar' is the request's.
 * Thread-safety: safe; for background tasks, since it takes long. */
VkResult bf_keeping_ask(struct bf_isolate *isolate, const struct bf_isolate_bar *bar,
                        struct bf_check_answer *answer);

#endif
