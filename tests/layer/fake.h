/* SPDX-License-Identifier: MIT */
/* The layer alone: opened as the loader opens it, with a driver of the test's own below that
 * writes down what it is told. For what no real driver offers, and for what a loader would hide.
 *
 * One at a time; functions fail the test when something is amiss. */
#ifndef BELFRY_TEST_LAYER_FAKE_H
#define BELFRY_TEST_LAYER_FAKE_H

#include "support/fake_entries.h"
#include "support/test.h"

#include <volk.h>
#include <vulkan/vk_layer.h>

#include "support/lines.h"

#define FAKE_FAMILIES 8
#define FAKE_QUEUES   64
#define FAKE_CHAIN    16
#define FAKE_TRIES    4

/* What the driver is; set before fake_open. */
struct fake_driver {
    const char *layer;    /* in <build>/lib; NULL: Belfry's */
    uint32_t api_version; /* 0: Vulkan 1.3 */
    uint32_t family_count;
    VkQueueFamilyProperties families[FAKE_FAMILIES]; /* count 0: one family that does everything */
    const char *const *extensions;                   /* of the device, NULL-terminated, or NULL */
    bool no_timeline, no_sync2, no_host_reset;
    bool gpu;             /* else it is a CPU's driver */
    bool writes_values;   /* bufferDeviceAddress and shaderInt64; importable host memory */
    bool internal_queues; /* the feature internallySynchronizedQueues */
    bool shares; /* timeline semaphores can be exported and imported, as opaque descriptors */
    bool no_properties2; /* vkCreateInstance knows no such extension, nobody the commands */
    bool no_properties2_extension; /* the commands are there by their core names alone */
    bool no_physical_proc_addr;    /* no vk_layerGetPhysicalDeviceProcAddr */
    bool (*lacks)(const char *);   /* commands it doesn't have; NULL: it has all, under any name */
    VkResult create_results[FAKE_TRIES]; /* of vkCreateDevice, call by call */
    VkResult instance_result;
};

/* VkQueueFamilyOwnershipTransferPropertiesKHR, newer than the oldest headers. */
#define FAKE_TRANSFERS ((VkStructureType)1000584002)
struct fake_transfers {
    VkStructureType sType;
    void *pNext;
    uint32_t mask;
};

struct fake_queue_request {
    const void *next;                         /* where it was: what isn't the program's is gone */
    VkQueueGlobalPriorityKHR global_priority; /* 0: none */
    VkDeviceQueueCreateFlags flags;
    uint32_t family, count;
    float priorities[FAKE_QUEUES];
};

/* A vkCreateDevice as it arrived below. */
struct fake_request {
    uint32_t extension_count, queue_count, chain_count;
    char extensions[32][VK_MAX_EXTENSION_NAME_SIZE];
    struct fake_queue_request queues[FAKE_FAMILIES];
    VkStructureType chain[FAKE_CHAIN]; /* without the loader's own structs */
    const void *chain_at[FAKE_CHAIN];
    const VkPhysicalDeviceFeatures
        *features; /* where they were, and what; the latter zero if NULL */
    VkPhysicalDeviceFeatures features_then;
    /* As enabled: by the core struct, by its own, or -1 where no struct says. */
    int timeline, sync2, host_reset, addresses;
    VkPhysicalDeviceFeatures2 features2; /* a copy, with sType set if there was one */
};

struct fake {
    struct fake_driver driver;
    void *library;
    PFN_vkGetInstanceProcAddr gipa;
    PFN_vkGetDeviceProcAddr gdpa;
    PFN_GetPhysicalDeviceProcAddr gpdpa;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    uint32_t instance_version; /* 1.0 if the program named none */
    uint32_t instance_tries, device_tries, devices_destroyed, instances_destroyed;
    char instance_extensions[8][VK_MAX_EXTENSION_NAME_SIZE]; /* of the last try */
    uint32_t instance_extension_count;
    struct fake_request requests[FAKE_TRIES];
};
extern struct fake fake;

/* Loads and negotiates. */
void fake_load(const struct fake_driver *driver);
/* The program's instance, of that version (0: none named). Returns what the layer returned. */
VkResult fake_instance(uint32_t version, uint32_t extension_count, const char *const *extensions);
/* Both, for a program of Vulkan 1.3; what it overrides comes next. */
void fake_start(const struct fake_driver *driver);
/* The program's device: chain and rest as in 'info', to which the loader's structs are put in
 * front. */
VkResult fake_device(const VkDeviceCreateInfo *info);
/* One with 'counts' queues of the first families, ended by 0; and with all of the above. */
void fake_open_device(const uint32_t *counts);
void fake_open(const struct fake_driver *driver, const uint32_t *counts);
void fake_close_device(void);
void fake_close(void);

/* What the driver answers by name until fake_close, and its command buffers, are those of
 * support/fake_entries.h: FAKE_OVERRIDE, fake_use, fake_stub, fake_dispatchable. */

/* The layer's answer for a command of the open device. */
PFN_vkVoidFunction fake_command(const char *name);
#define FAKE_CALL(name, ...) ((PFN_##name)fake_command(#name))(__VA_ARGS__)

/* The driver's own VkQueue. */
VkQueue fake_queue(uint32_t family, VkDeviceQueueCreateFlags flags, uint32_t index);

#endif
