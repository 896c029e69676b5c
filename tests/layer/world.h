/*
 * A program that knows nothing of Belfry, through the Vulkan loader: what the tests stand on that
 * run under the layer. On the test driver it counts what arrives below; on another driver the same
 * program runs without looking.
 *
 * Functions fail the test when something is amiss, unless they return a VkResult.
 */
#ifndef BELFRY_TEST_LAYER_WORLD_H
#define BELFRY_TEST_LAYER_WORLD_H

#include "support/test.h"

#include <volk.h>

#include "../icd/icd_client.h"

#define WORLD_FAMILIES 10
#define WORLD_QUEUES   16
#define WORLD_WORDS    1024
#define WORLD_END      UINT32_MAX

struct world {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    struct belfry_icd_control icd; /* zeroed on other drivers */
    uint32_t family_count;
    VkQueueFamilyProperties families[WORLD_FAMILIES];
    uint32_t queue_counts[WORLD_FAMILIES];
    VkQueue queues[WORLD_FAMILIES][WORLD_QUEUES];
    VkCommandPool pools[WORLD_FAMILIES]; /* of the families with queues */
    VkBuffer buffer;                     /* WORLD_WORDS words, mapped; CONCURRENT */
    VkDeviceMemory memory;
    uint32_t *words;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t messages; /* warnings and errors of the validation layer */
};

/* Layers that instances name themselves, separated by colons: the first is the nearest to the
 * program. (Of those that VK_INSTANCE_LAYERS names Debian 12's loader takes the order in which it
 * found their manifests.) NULL for none. */
extern const char *world_layers;

/* Instances do without VK_EXT_debug_utils. */
extern bool world_without_debug_utils;

/* Is there a layer of other people's to be judged by? Not under the thread sanitizer, for which they
 * are not built and which then sees races in them that are none. */
bool world_has_layer(const char *name);

/* The instance: 'environment' is "NAME=value NAME=value", names get BELFRY_ICD_ in front, set while
 * the instance is made; NULL for none. */
VkResult world_instance(struct world *w, const char *environment);
/* The device: so many queues of each family, ended by WORLD_END. 'next' joins the feature chain. */
VkResult world_device(struct world *w, const uint32_t *counts, const void *next);
/* Both, with pools and buffer. */
void world_open(struct world *w, const char *environment, const uint32_t *counts);
void world_close_device(struct world *w);
/* Everything; fails when the test driver has seen a violation, or the validation layer spoke. */
void world_close(struct world *w);

/* Exactly n violations of that kind and none of another; BELFRY_ICD_VIOLATION_COUNT for none. */
void world_expect(struct world *w, enum belfry_icd_violation kind, uint64_t n);
struct belfry_icd_counters world_counters(struct world *w);
/* Calls on VkQueues that the driver has accepted since the device was made. */
uint64_t world_accepted(struct world *w);

VkSemaphore world_timeline(struct world *w, uint64_t value);
VkSemaphore world_binary(struct world *w);
VkFence world_fence(struct world *w, bool signalled);
uint64_t world_value(struct world *w, VkSemaphore semaphore);
void world_signal(struct world *w, VkSemaphore semaphore, uint64_t value);
void world_wait(struct world *w, VkSemaphore semaphore, uint64_t value);
/* A command buffer of that family that writes a word; begun ones for other uses. */
VkCommandBuffer world_begin(struct world *w, uint32_t family);
VkCommandBuffer world_store(struct world *w, uint32_t family, uint32_t index, uint32_t word);

/* One batch: VK_NULL_HANDLE leaves a part out. */
struct batch {
    VkSemaphore wait;
    uint64_t wait_value;
    VkCommandBuffer commands;
    VkSemaphore signal;
    uint64_t signal_value;
    VkFence fence;
};
/* By vkQueueSubmit2, with nothing left of what was passed when it returns. */
VkResult world_submit(VkQueue queue, struct batch batch);
/* By vkQueueSubmit, likewise. */
VkResult world_submit1(VkQueue queue, struct batch batch);

#define assert_success(call_) assert_int_equal(call_, VK_SUCCESS)

#endif
