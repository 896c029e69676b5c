/* SPDX-License-Identifier: MIT */
/* A program's Vulkan device, through the loader: the part that all fixtures have. Which driver and
 * which layers there are, the environment says. On the test driver it counts what arrives below; on
 * another the same program runs without looking.
 *
 * Functions fail the test when something is amiss, unless they return a VkResult. */
#ifndef BELFRY_TESTS_SUPPORT_DEVICE_H
#define BELFRY_TESTS_SUPPORT_DEVICE_H

#include "support/vulkan.h"

#define DEVICE_PHYSICALS 4
#define DEVICE_FAMILIES  10
#define DEVICE_QUEUES    16 /* of each family, at most */

#define DEVICE_MEMBERS                                                                             \
    VkInstance instance;                                                                           \
    VkPhysicalDevice physicals[DEVICE_PHYSICALS]; /* the test driver's by deviceID */              \
    uint32_t physical_count;                                                                       \
    VkPhysicalDevice physical;                                                                     \
    VkDevice device;                                                                               \
    struct belfry_icd_control icd; /* zeroed on other drivers */                                   \
    uint32_t family_count;                                                                         \
    VkQueueFamilyProperties families[DEVICE_FAMILIES];                                             \
    uint32_t queue_counts[DEVICE_FAMILIES];                                                        \
    VkQueue queues[DEVICE_FAMILIES][DEVICE_QUEUES];                                                \
    VkCommandPool pools[DEVICE_FAMILIES]; /* of the families with queues */                        \
    VkBuffer buffer;                      /* of words, mapped; CONCURRENT */                       \
    VkDeviceMemory memory;                                                                         \
    uint32_t *words;                                                                               \
    VkDebugUtilsMessengerEXT messenger;                                                            \
    uint32_t messages; /* warnings and errors of the validation layer */

struct device {
    DEVICE_MEMBERS
};
/* For the struct of a fixture that has more: its members are named as if they were its own, and all
 * of them together are its 'base'. */
#define DEVICE_BASE                                                                                \
    union {                                                                                        \
        struct device base;                                                                        \
        struct {                                                                                   \
            DEVICE_MEMBERS                                                                         \
        };                                                                                         \
    }

struct device_instance {
    const char *environment;       /* set while the instance is made (environment_set), or NULL */
    const char *layers;            /* "NAME:NAME", the first is nearest to the program; or NULL */
    const char *const *extensions; /* ended by NULL; those that there are get enabled */
    bool listens;                  /* to the validation layer, if the messenger can be had */
    const void *next;
};
/* The instance, from which on the test driver counts. The physical device is the caller's
 * choice. */
VkResult device_open_instance(struct device *d, const struct device_instance *what);
/* That physical device, and its families. */
void device_choose(struct device *d, VkPhysicalDevice physical);

/* The queue priorities of each family; NULL: all are 0. */
extern const float *device_priorities;

/* Queue infos for as many queues as queue_counts says; returns how many infos. */
uint32_t device_queue_infos(const struct device *d, VkDeviceQueueCreateInfo *infos);
/* vkCreateDevice, and its queues. */
VkResult device_create(struct device *d, const VkDeviceCreateInfo *info);
/* A pool for each family with queues, and a buffer of so many words, 0 at first. 'usage' is added
 * to what transfers need. */
void device_open_words(struct device *d, uint32_t words, VkBufferUsageFlags usage,
                       VkCommandPoolCreateFlags pool_flags);

void device_close_words(struct device *d);
void device_close(struct device *d); /* the device, with its words */
/* The messenger and the instance. */
void device_close_instance(struct device *d);

/* A command buffer of that family that has been begun; one that writes a word. */
VkCommandBuffer device_begin(struct device *d, uint32_t family, VkCommandBufferUsageFlags usage);
VkCommandBuffer device_store(struct device *d, uint32_t family, uint32_t index, uint32_t word);

#endif
