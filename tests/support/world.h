/* SPDX-License-Identifier: MIT */
/* A program that knows nothing of Belfry, through the Vulkan loader: what the tests stand on that
 * run under the layer, and those of the test driver itself. On the test driver it counts what
 * arrives below; on another driver the same program runs without looking.
 *
 * Functions fail the test when something is amiss, unless they return a VkResult. */
#ifndef BELFRY_TESTS_SUPPORT_WORLD_H
#define BELFRY_TESTS_SUPPORT_WORLD_H

#include "support/device.h"

#define WORLD_WORDS 1024
#define WORLD_END   UINT32_MAX
#define WORLD_ALL   NULL /* every queue of every family, and all features that the device has */

/* Layers that instances name themselves, separated by colons: the first is the nearest to the
 * program. (Of those that VK_INSTANCE_LAYERS names Debian 12's loader takes the order in which it
 * found their manifests.) NULL for none. */
extern const char *world_layers;

/* Instances do without VK_EXT_debug_utils; one more extension of theirs, or NULL. */
extern bool world_without_debug_utils;
extern const char *world_extension;

/* Is there a layer of other people's to be judged by? Not under the thread sanitizer, for which
 * they are not built and which then sees races in them that are none. */
bool world_has_layer(const char *name);

/* The instance: 'environment' is "NAME=value NAME=value", names get BELFRY_ICD_ in front, set while
 * the instance is made; NULL for none. */
VkResult world_instance(struct device *w, const char *environment);
/* The device: so many queues of each family, ended by WORLD_END. 'next' joins the feature chain. */
VkResult world_device(struct device *w, const uint32_t *counts, const void *next);
/* Both, with pools and buffer. */
void world_open(struct device *w, const char *environment, const uint32_t *counts);
/* Both with WORLD_ALL, or the instance alone, under the Khronos validation layer with
 * synchronisation validation. Skips the test where that layer isn't installed. */
void world_open_validated(struct device *w, const char *environment);
void world_validated_instance(struct device *w, const char *environment);
/* A device of its own on another physical device of the same instance, or on the same one, with all
 * that it has; to be closed with device_close before the first is closed. */
void world_open_beside(struct device *w, const struct device *first, uint32_t ordinal);
/* Everything; fails when the test driver has seen a violation since the start, or since
 * vulkan_expect was last called, or the validation layer spoke. */
void world_close(struct device *w);

/* Calls on VkQueues that the driver has accepted since the device was made. */
uint64_t world_accepted(struct device *w);

/* A test on a device that is open from its beginning to its end, 'w'. */
#define DEVICE_TEST(name_, environment_, counts_)                                                  \
    static void name_##_on(struct device *w);                                                      \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct device w;                                                                           \
        world_open(&w, environment_, counts_);                                                     \
        name_##_on(&w);                                                                            \
        world_close(&w);                                                                           \
    }                                                                                              \
    static void name_##_on(struct device *w)

/* A timeline semaphore that others may be given; another one with the same payload, by which
 * somebody whom Belfry doesn't know signals it. */
VkSemaphore world_exportable(struct device *w);
VkSemaphore world_import_of(struct device *w, VkSemaphore semaphore);

#endif
