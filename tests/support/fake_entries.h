/* SPDX-License-Identifier: MIT */
/* Fake Vulkan entry points: one function table for all tests that have a driver of their own below
 * them. Objects are made of nothing; which are alive is known, and what Vulkan forbids ends the
 * process.
 *
 *   fake_reset();                                   nothing is alive, nothing is overridden
 *   fake_fill(&vk, "vkCreateSampler vkDestroySampler");
 *                                                   these members of the table; the others stay as
 *                                                   they are: NULL, where no call is expected, or
 *                                                   the test's own
 *   fake_use("vkAllocateCommandBuffers ..."), FAKE_OVERRIDE(vkQueueSubmit2, mine), fake_find(name)
 *                                                   the same by name, for whoever is asked for
 *                                                   addresses: what is neither used nor overridden
 *                                                   is fake_stub
 *   fake_entries.fail_at = 3                        the third call from now on that makes
 *                                                   something fails
 *   fake_alive(VK_OBJECT_TYPE_SAMPLER)              how many there are
 *
 * There is one set in a process; its functions are safe to call from any thread, and take no
 * memory.
 */
#ifndef BELFRY_TESTS_SUPPORT_FAKE_ENTRIES_H
#define BELFRY_TESTS_SUPPORT_FAKE_ENTRIES_H

#include "std.h"

#include <volk.h>

/* What a handle points to. A type but no count: kept for the next one of it. */
struct fake_object {
    const void
        *key; /* &fake_key: the word by which layers find what belongs to a dispatchable one */
    VkObjectType type;
    uint32_t count; /* how often it was made; 0: it is free */
    VkDevice device;
    const VkAllocationCallbacks *allocator;
    VkCommandPool pool;       /* of a command buffer */
    bool recorded;            /* it was ended */
    uint64_t own[2];          /* the test's; 0 at first */
    struct fake_object *next; /* of the freed command buffers */
};

struct fake_entries {
    uint32_t made;    /* calls that made something, or would have */
    uint32_t fail_at; /* the so-many-th of them from now on fails, once; 0: none does */
    VkResult failure; /* so; VK_ERROR_OUT_OF_DEVICE_MEMORY at first */
    bool
        equal_handles; /* what is made is the same object as the last of its type; modules aren't */
};
extern struct fake_entries fake_entries;
extern char fake_key;

void fake_reset(void);

/* Those members of the table; names are separated by a space. One that isn't in fake_entries.c ends
 * the process. */
void fake_fill(struct VolkDeviceTable *vk, const char *names);

/* By name: any number of overrides; the last one of a name counts. */
void fake_use(const char *names);
void fake_override(const char *name, PFN_vkVoidFunction function);
#define FAKE_OVERRIDE(name, function)                                                              \
    fake_override(#name, (PFN_vkVoidFunction)(1 ? (function) : (PFN_##name)0))
PFN_vkVoidFunction fake_find(const char *name); /* NULL where it is neither used nor overridden */
/* What every command does that nobody cares about: returns 0. */
PFN_vkVoidFunction fake_stub(void);
#define FAKE_STUB(vk_, name_) ((vk_)->name_ = (PFN_##name_)fake_stub())

/* For entry points of a test's own: makes an object as those here do, and destroys it. Handles of
 * command buffers come again at once, as drivers' do, others as late as possible. */
VkResult fake_make(VkDevice device, VkObjectType type, const VkAllocationCallbacks *allocator,
                   uint64_t *handle);
void fake_unmake(VkObjectType type, uint64_t handle, const VkAllocationCallbacks *allocator);
void *fake_dispatchable(void); /* a command buffer of no pool */

/* NULL if there is none. */
struct fake_object *fake_object(VkObjectType type, uint64_t handle);
/* The first that is alive behind that one (NULL: of all), or NULL. */
struct fake_object *fake_next(const struct fake_object *after);
/* Ends the process if there is none. */
struct fake_object *fake_need(VkObjectType type, uint64_t handle);
/* VK_OBJECT_TYPE_UNKNOWN: of all types; VK_NULL_HANDLE: of any device. */
uint32_t fake_alive_of(VkDevice device, VkObjectType type);
uint32_t fake_alive(VkObjectType type);

#endif
