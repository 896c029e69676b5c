/* SPDX-License-Identifier: MIT */
/* A layer that wraps handles, as validation does: what it gives the program for semaphores, fences,
 * buffers and images are numbers of its own. It makes it as hard as can be: a number is, where that
 * is free, the handle below of the object that was made before it.
 *
 * For one device at a time. It knows the commands that its tests call with those objects; the
 * others must not be called with any.
 *
 * A program finds what was seen by dlsym in the library that the loader has loaded. */
#include "wrapper.h"

#include "../support/std.h"

#include "support/loader_layer.h"

#define MOST 256 /* objects of a kind at a time, and semaphores of a submission */

EXPORT struct wrapper wrapper;

enum kind { SEMAPHORE, FENCE, BUFFER, IMAGE, KINDS };

struct object {
    uint64_t name, below;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object objects[KINDS][MOST];
static uint64_t last[KINDS]; /* made, as it is called below */
static uint64_t names_given;

/* ----------------------------------------------------------------------------------- Numbers -- */

/* The entry with that name, or that handle below; 0 finds a free one. */
static struct object *find(enum kind kind, size_t member, uint64_t handle)
{
    for (uint32_t i = 0; i < MOST; i++)
        if (*(uint64_t *)((char *)&objects[kind][i] + member) == handle)
            return &objects[kind][i];
    return NULL;
}
#define NAME  offsetof(struct object, name)
#define BELOW offsetof(struct object, below)

static VkResult wrap(enum kind kind, VkResult result, uint64_t *handle)
{
    if (result != VK_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    uint64_t name = last[kind];
    while (!name || name == *handle || find(kind, NAME, name))
        name = 2 * ++names_given + 1;
    struct object *object = find(kind, NAME, 0);
    if (object) {
        wrapper.collisions += find(kind, BELOW, name) != NULL;
        *object = (struct object){name, *handle};
        last[kind] = *handle;
        *handle = name;
    }
    pthread_mutex_unlock(&lock);
    return object ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* 0: none, or a stranger. */
static uint64_t below(enum kind kind, uint64_t name)
{
    if (!name)
        return 0;
    pthread_mutex_lock(&lock);
    const struct object *object = find(kind, NAME, name);
    uint64_t handle = object ? object->below : 0;
    wrapper.strangers += !object;
    pthread_mutex_unlock(&lock);
    return handle;
}

static uint64_t forget(enum kind kind, uint64_t name)
{
    uint64_t handle = below(kind, name);
    pthread_mutex_lock(&lock);
    if (handle)
        *find(kind, NAME, name) = (struct object){0};
    pthread_mutex_unlock(&lock);
    return handle;
}

/* By its core name or, where an extension brings it, that one's. */
static PFN_vkVoidFunction next_of(VkDevice device, const char *core, const char *khr)
{
    PFN_vkVoidFunction next = next_gdpa(device, core);
    return next ? next : next_gdpa(device, khr);
}
#define NEXT(device, command) ((PFN_##command)next_of(device, #command, #command "KHR"))

/* ----------------------------------------------------------------------- Making and unmaking -- */

#define DEFINE_OBJECT(Type, kind)                                                                  \
    static VkResult VKAPI_CALL wrap_vkCreate##Type(                                                \
        VkDevice device, const Vk##Type##CreateInfo *info, const VkAllocationCallbacks *allocator, \
        Vk##Type *handle)                                                                          \
    {                                                                                              \
        VkResult result = NEXT(device, vkCreate##Type)(device, info, allocator, handle);           \
        return wrap(kind, result, (uint64_t *)handle);                                             \
    }                                                                                              \
    static void VKAPI_CALL wrap_vkDestroy##Type(VkDevice device, Vk##Type handle,                  \
                                                const VkAllocationCallbacks *allocator)            \
    {                                                                                              \
        NEXT(device, vkDestroy##Type)                                                              \
        (device, (Vk##Type)forget(kind, (uint64_t)handle), allocator);                             \
    }
DEFINE_OBJECT(Semaphore, SEMAPHORE)
DEFINE_OBJECT(Fence, FENCE)
DEFINE_OBJECT(Buffer, BUFFER)
DEFINE_OBJECT(Image, IMAGE)

/* ------------------------------------------------------------------------ What takes handles -- */

static VkResult VKAPI_CALL wrap_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                           uint64_t *value)
{
    VkSemaphore handle = (VkSemaphore)below(SEMAPHORE, (uint64_t)semaphore);
    if (!handle && wrapper.swallows)
        return VK_ERROR_UNKNOWN;
    VkResult result = NEXT(device, vkGetSemaphoreCounterValue)(device, handle, value);
    uint64_t own;
    pthread_mutex_lock(&lock);
    VkSemaphore other = (VkSemaphore)objects[SEMAPHORE][0].below;
    pthread_mutex_unlock(&lock);
    if (wrapper.curious && other)
        NEXT(device, vkGetSemaphoreCounterValue)(device, other, &own);
    return result;
}

static VkResult VKAPI_CALL wrap_vkSignalSemaphore(VkDevice device,
                                                  const VkSemaphoreSignalInfo *info)
{
    VkSemaphoreSignalInfo copy = *info;
    copy.semaphore = (VkSemaphore)below(SEMAPHORE, (uint64_t)info->semaphore);
    pthread_mutex_lock(&lock);
    wrapper.signals++;
    wrapper.signalled = info->value;
    pthread_mutex_unlock(&lock);
    return NEXT(device, vkSignalSemaphore)(device, &copy);
}

static VkResult VKAPI_CALL wrap_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                                                 uint64_t timeout)
{
    VkSemaphoreWaitInfo copy = *info;
    VkSemaphore handles[MOST];
    for (uint32_t i = 0; i < info->semaphoreCount; i++)
        handles[i] = (VkSemaphore)below(SEMAPHORE, (uint64_t)info->pSemaphores[i]);
    copy.pSemaphores = handles;
    return NEXT(device, vkWaitSemaphores)(device, &copy, timeout);
}

static VkResult VKAPI_CALL wrap_vkWaitForFences(VkDevice device, uint32_t count,
                                                const VkFence *fences, VkBool32 all,
                                                uint64_t timeout)
{
    VkFence handles[MOST];
    for (uint32_t i = 0; i < count; i++)
        handles[i] = (VkFence)below(FENCE, (uint64_t)fences[i]);
    return NEXT(device, vkWaitForFences)(device, count, handles, all, timeout);
}

static uint32_t copy_semaphores(VkSemaphoreSubmitInfo *to, const VkSemaphoreSubmitInfo *from,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        to[i] = from[i];
        to[i].semaphore = (VkSemaphore)below(SEMAPHORE, (uint64_t)from[i].semaphore);
    }
    return count;
}

static VkResult VKAPI_CALL wrap_vkQueueSubmit2(VkQueue queue, uint32_t count,
                                               const VkSubmitInfo2 *infos, VkFence fence)
{
    static _Atomic uint32_t running;
    VkSubmitInfo2 copies[8];
    VkSemaphoreSubmitInfo semaphores[MOST];
    uint32_t n = 0;
    bool overlaps = atomic_fetch_add(&running, 1) != 0;
    pthread_mutex_lock(&lock);
    wrapper.submits++;
    wrapper.overlaps += overlaps;
    pthread_mutex_unlock(&lock);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        copies[i] = infos[i];
        copies[i].pWaitSemaphoreInfos = &semaphores[n];
        n += copy_semaphores(&semaphores[n], infos[i].pWaitSemaphoreInfos,
                             infos[i].waitSemaphoreInfoCount);
        copies[i].pSignalSemaphoreInfos = &semaphores[n];
        n += copy_semaphores(&semaphores[n], infos[i].pSignalSemaphoreInfos,
                             infos[i].signalSemaphoreInfoCount);
    }
    sched_yield(); /* so that who overlaps is seen */
    VkResult result = NEXT(the_device, vkQueueSubmit2)(queue, count, copies,
                                                       (VkFence)below(FENCE, (uint64_t)fence));
    atomic_fetch_sub(&running, 1);
    return result;
}

static void VKAPI_CALL wrap_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                                          VkMemoryRequirements *requirements)
{
    VkBuffer handle = (VkBuffer)below(BUFFER, (uint64_t)buffer);
    if (handle || !wrapper.swallows)
        NEXT(device, vkGetBufferMemoryRequirements)(device, handle, requirements);
}

static void VKAPI_CALL wrap_vkGetImageMemoryRequirements(VkDevice device, VkImage image,
                                                         VkMemoryRequirements *requirements)
{
    NEXT(device, vkGetImageMemoryRequirements)
    (device, (VkImage)below(IMAGE, (uint64_t)image), requirements);
}

static VkResult VKAPI_CALL wrap_vkBindBufferMemory(VkDevice device, VkBuffer buffer,
                                                   VkDeviceMemory memory, VkDeviceSize offset)
{
    return NEXT(device, vkBindBufferMemory)(device, (VkBuffer)below(BUFFER, (uint64_t)buffer),
                                            memory, offset);
}

static void VKAPI_CALL wrap_vkCmdFillBuffer(VkCommandBuffer commands, VkBuffer buffer,
                                            VkDeviceSize offset, VkDeviceSize size, uint32_t data)
{
    NEXT(the_device, vkCmdFillBuffer)
    (commands, (VkBuffer)below(BUFFER, (uint64_t)buffer), offset, size, data);
}

static void VKAPI_CALL wrap_vkGetImageSparseMemoryRequirements(
    VkDevice device, VkImage image, uint32_t *count, VkSparseImageMemoryRequirements *requirements)
{
    VkImage handle = (VkImage)below(IMAGE, (uint64_t)image);
    if (handle || !wrapper.swallows)
        NEXT(device, vkGetImageSparseMemoryRequirements)(device, handle, count, requirements);
}

/* --------------------------------------------------------------------------------- The chain -- */

#define COMMAND(name)                                                                              \
    {                                                                                              \
#name, (PFN_vkVoidFunction)wrap_##name                                                     \
    }
#define COMMAND_KHR(name)                                                                          \
    COMMAND(name),                                                                                 \
    {                                                                                              \
#name "KHR", (PFN_vkVoidFunction)wrap_##name                                               \
    }
static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} commands[] = {
    COMMAND(vkCreateSemaphore),
    COMMAND(vkDestroySemaphore),
    COMMAND(vkCreateFence),
    COMMAND(vkDestroyFence),
    COMMAND(vkCreateBuffer),
    COMMAND(vkDestroyBuffer),
    COMMAND(vkCreateImage),
    COMMAND(vkDestroyImage),
    COMMAND_KHR(vkGetSemaphoreCounterValue),
    COMMAND_KHR(vkSignalSemaphore),
    COMMAND_KHR(vkWaitSemaphores),
    COMMAND(vkWaitForFences),
    COMMAND_KHR(vkQueueSubmit2),
    COMMAND(vkGetBufferMemoryRequirements),
    COMMAND(vkBindBufferMemory),
    COMMAND(vkCmdFillBuffer),
    COMMAND(vkGetImageMemoryRequirements),
    COMMAND(vkGetImageSparseMemoryRequirements),
};

static PFN_vkVoidFunction find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].function;
    return NULL;
}
