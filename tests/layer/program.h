/* SPDX-License-Identifier: MIT */
/* A program's vkCreateDevice, in memory that is read-only while the layer works on it: whoever
 * writes dies. And what is looked up in the request that arrives at the driver. */
#ifndef BELFRY_TESTS_LAYER_PROGRAM_H
#define BELFRY_TESTS_LAYER_PROGRAM_H

#include "fake.h"

#define TIMELINE VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME
#define SYNC2    VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME

struct program {
    char *memory;
    size_t used;
    VkDeviceCreateInfo info;
};

/* Asks for that many queues of each family, up to UINT32_MAX. */
struct program program_of(const uint32_t *counts);
/* And what was opened for it. */
void program_close(struct program *p);

void *program_put(struct program *p, const void *data, size_t size);
/* The one put in last comes first in the chain. */
void *program_chain(struct program *p, const void *s, size_t size);
#define PROGRAM_CHAIN(p, ...) program_chain(p, &(__VA_ARGS__), sizeof(__VA_ARGS__))
void program_extensions(struct program *p, const char *const *names);

/* fake_device with everything of the program's in memory of that protection; nothing of it may have
 * changed. */
VkResult program_create_in(struct program *p, int protection);
VkResult program_create(struct program *p);
/* Whether the device's first queue is the layer's own, and not the driver's. */
bool is_scheduled(void);

/* How often the request names that extension. */
uint32_t request_has_extension(const struct fake_request *r, const char *name);
bool request_has_struct(const struct fake_request *r, VkStructureType type);
/* Whether that very struct is in its chain, and not a copy. */
bool request_has_at(const struct fake_request *r, const void *at);

#endif
