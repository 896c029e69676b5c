/* SPDX-License-Identifier: MIT */
/* The commands of Vulkan's registry (vk.xml), as far as these tests ask: their names, and whether a
 * VkQueue is among their parameters. Read with the little that it takes, no parser of XML. */
#ifndef BELFRY_TEST_LAYER_REGISTRY_H
#define BELFRY_TEST_LAYER_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

struct registry_command {
    char name[80];
    bool takes_queue;  /* an alias takes what its original takes */
    bool has_result;   /* it returns a VkResult or a VkBool32 */
    bool takes_device; /* its first parameter is a VkDevice, VkQueue or VkCommandBuffer */
};

struct registry {
    uint32_t count;
    struct registry_command *commands;
};

/* False: there is no registry on this machine. */
bool registry_read(struct registry *registry);
void registry_free(struct registry *registry);
/* NULL: none has that name. */
const struct registry_command *registry_find(const struct registry *registry, const char *name);

/* The core name of a KHR or EXT alias: vkQueueSubmit2KHR is vkQueueSubmit2; others unchanged. */
bool registry_is_suffixed(const char *name);

#endif
