/*
 * What the test driver's own tests stand on: an instance, a device with every queue of its shape,
 * and short forms of the calls they make over and over. Single-threaded, as volk's global functions
 * are.
 */
#ifndef BELFRY_TEST_ICD_FIXTURE_H
#define BELFRY_TEST_ICD_FIXTURE_H

#include "support/test.h"

#include <volk.h>

#include "icd_client.h"

#define FIXTURE_DEVICES  4
#define FIXTURE_FAMILIES 8
#define FIXTURE_QUEUES   16
#define FIXTURE_WORDS    1024

struct fixture {
    VkInstance instance;
    VkPhysicalDevice physicals[FIXTURE_DEVICES]; /* by deviceID: the loader has its own order */
    uint32_t n_physicals;
    VkPhysicalDevice physical; /* the first one */
    VkDevice device;
    struct belfry_icd_control icd;
    uint32_t n_families;
    VkQueueFamilyProperties families[FIXTURE_FAMILIES];
    VkQueue queues[FIXTURE_FAMILIES][FIXTURE_QUEUES];
    VkCommandPool pool; /* of family 0 */
    VkBuffer buffer;    /* FIXTURE_WORDS words, mapped */
    VkDeviceMemory memory;
    uint32_t *words;
    VkDebugUtilsMessengerEXT messenger;
    uint32_t messages; /* that the validation layer had and that aren't known to be false */
};

/* The instance alone. environment is "NAME=value NAME=value", set for vkCreateInstance only, may be
 * NULL; names get BELFRY_ICD_ in front. Fails the test when anything fails. */
void fixture_open_instance(struct fixture *f, const char *environment);
/* The instance, and the device with its pool and buffer. */
void fixture_open(struct fixture *f, const char *environment);
/* The same under the Khronos validation layer, with synchronisation validation. Skips the test
 * where the layer isn't installed; what it says is printed and counted in messages. */
void fixture_open_validated(struct fixture *f, const char *environment);
void fixture_open_validated_instance(struct fixture *f, const char *environment);
/* Whether the device offers the extension. */
bool fixture_extension(VkPhysicalDevice physical, const char *name);
/* The device for an open instance; returns what vkCreateDevice returned. */
VkResult fixture_open_device(struct fixture *f, const void *next);
void fixture_close_device(struct fixture *f);
/* Another physical device of the same instance, its device open; or the same one a second time.
 * Close it with fixture_close_device before the first is closed. */
void fixture_open_beside(struct fixture *f, const struct fixture *first, uint32_t ordinal);
/* Everything; fails the test when the driver has counted any violation since the start, or since
 * fixture_expect_none was last called. */
void fixture_close(struct fixture *f);

/* Fails the test unless exactly n violations of that kind have been counted and none of another;
 * then resets the counters. */
void fixture_expect(struct fixture *f, enum belfry_icd_violation kind, uint64_t n);
void fixture_expect_none(struct fixture *f);
struct belfry_icd_counters fixture_counters(struct fixture *f);

VkSemaphore fixture_timeline(struct fixture *f, uint64_t value);
VkSemaphore fixture_binary(struct fixture *f);
VkFence fixture_fence(struct fixture *f);
uint64_t fixture_value(struct fixture *f, VkSemaphore semaphore);
void fixture_signal(struct fixture *f, VkSemaphore semaphore, uint64_t value);
/* Waits without end; fails the test on anything but success. */
void fixture_wait(struct fixture *f, VkSemaphore semaphore, uint64_t value);
/* A begun primary command buffer; and one that writes word into the buffer at index. */
VkCommandBuffer fixture_begin(struct fixture *f, VkCommandBufferUsageFlags usage);
VkCommandBuffer fixture_store(struct fixture *f, uint32_t index, uint32_t word);

/* One info: at most one of everything; VK_NULL_HANDLE leaves a part out. */
struct submit {
    VkSemaphore wait;
    uint64_t wait_value;
    VkCommandBuffer commands;
    VkSemaphore signal;
    uint64_t signal_value;
    VkFence fence;
};
VkResult fixture_submit(VkQueue queue, struct submit submit);
/* The same through vkQueueSubmit. */
VkResult fixture_submit1(VkQueue queue, struct submit submit);

#define assert_success(call_) assert_int_equal(call_, VK_SUCCESS)

#endif
