/* SPDX-License-Identifier: MIT */
/*
 * What a program made its instance with, as a helper process needs it to make the same: drivers
 * have settings for single programs, which they know by this and by the environment as it was then.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_ORIGIN_H
#define BELFRY_SPECIALIZE_ISOLATE_ORIGIN_H

#include <stdint.h>

#include <vulkan/vulkan_core.h>

struct bf_isolate_origin {
    VkInstanceCreateFlags flags;
    VkApplicationInfo application; /* zeroes: the program gave none */
    uint32_t extension_count;
    const char **extensions;
    char **environment; /* NULL at the end */
    char *name;         /* by which the program was called, its argv[0] */
};

/* Copies all. NULL: out of memory. */
struct bf_isolate_origin *bf_isolate_origin_create(const VkInstanceCreateInfo *info,
                                                   char *const *environment);
/* NULL is allowed. */
void bf_isolate_origin_destroy(struct bf_isolate_origin *origin);

#endif
