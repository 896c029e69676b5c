/* SPDX-License-Identifier: MIT */
/* Families in the create-infos of resources and command pools, translated into real ones; also
 * where another command's struct contains such a create-info. */
#include "layer/layer.h"

#include <stdlib.h>
#include <string.h>

#include "layer/chain.h"
#include "gpu/command_buffer.h"
#include "base/message.h"

/* The sharing mode of a resource with its families translated; 'list' may point to 'families'. */
struct sharing {
    VkSharingMode mode;
    uint32_t count;
    const uint32_t *list;
    uint32_t families[BF_MAX_FAMILIES];
    bool narrowed; /* it was CONCURRENT, and has one real family */
};

/* The list of an EXCLUSIVE resource is not read: it may be an invalid pointer. */
static void translate_sharing(const struct layer_device *d, struct sharing *s, VkSharingMode mode,
                              uint32_t count, const uint32_t *list)
{
    s->mode = mode;
    s->count = count;
    s->list = list;
    s->narrowed = false;
    if (mode != VK_SHARING_MODE_CONCURRENT)
        return;
    s->count = layer_real_families(&d->physical->map, count, list, s->families);
    s->list = s->families;
    if (s->count < 2) {
        s->narrowed = s->count == 1;
        s->mode = VK_SHARING_MODE_EXCLUSIVE;
        s->count = 0;
        s->list = NULL;
    }
}

#define TRANSLATE(d, s, copy, mode_member)                                                         \
    do {                                                                                           \
        translate_sharing(d, &(s), (copy).mode_member, (copy).queueFamilyIndexCount,               \
                          (copy).pQueueFamilyIndices);                                             \
        (copy).mode_member = (s).mode;                                                             \
        (copy).queueFamilyIndexCount = (s).count;                                                  \
        (copy).pQueueFamilyIndices = (s).list;                                                     \
    } while (0)

/* B-3 (barrier.c). False: out of memory, and the resource must not be. */
static bool remember_narrowed(struct bf_map *map, uint64_t handle, const struct sharing *s)
{
    return !s->narrowed || bf_map_insert(map, handle, (void *)((uintptr_t)s->families[0] + 1));
}

/* To be called before the driver forgets the handle. Nothing is locked where it isn't there. */
static void forget_narrowed(struct bf_map *map, uint64_t handle)
{
    if (handle && bf_map_find(map, handle))
        bf_map_remove(map, handle);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkBuffer *buffer)
{
    struct layer_device *d = layer_device_of(device);
    VkBufferCreateInfo copy = *info;
    struct sharing s;
    TRANSLATE(d, s, copy, sharingMode);
    VkResult result = d->vk.vkCreateBuffer(device, &copy, allocator, buffer);
    if (result != VK_SUCCESS || remember_narrowed(&d->narrowed_buffers, (uint64_t)*buffer, &s))
        return result;
    d->vk.vkDestroyBuffer(device, *buffer, allocator);
    *buffer = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateImage(VkDevice device, const VkImageCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkImage *image)
{
    struct layer_device *d = layer_device_of(device);
    VkImageCreateInfo copy = *info;
    struct sharing s;
    TRANSLATE(d, s, copy, sharingMode);
    VkResult result = d->vk.vkCreateImage(device, &copy, allocator, image);
    if (result != VK_SUCCESS || remember_narrowed(&d->narrowed_images, (uint64_t)*image, &s))
        return result;
    d->vk.vkDestroyImage(device, *image, allocator);
    *image = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateSwapchainKHR(VkDevice device,
                                                          const VkSwapchainCreateInfoKHR *info,
                                                          const VkAllocationCallbacks *allocator,
                                                          VkSwapchainKHR *swapchain)
{
    struct layer_device *d = layer_device_of(device);
    VkSwapchainCreateInfoKHR copy = *info;
    struct sharing s;
    TRANSLATE(d, s, copy, imageSharingMode);
    return d->vk.vkCreateSwapchainKHR(device, &copy, allocator, swapchain);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateSharedSwapchainsKHR(
    VkDevice device, uint32_t count, const VkSwapchainCreateInfoKHR *infos,
    const VkAllocationCallbacks *allocator, VkSwapchainKHR *swapchains)
{
    struct layer_device *d = layer_device_of(device);
    struct sharing *own = malloc(count * sizeof(*own));
    VkSwapchainCreateInfoKHR *copies = malloc(count * sizeof(*copies));
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (own && copies) {
        for (uint32_t i = 0; i < count; i++) {
            copies[i] = infos[i];
            TRANSLATE(d, own[i], copies[i], imageSharingMode);
        }
        result = d->vk.vkCreateSharedSwapchainsKHR(device, count, copies, allocator, swapchains);
    }
    free(copies);
    free(own);
    return result;
}

/* A performance query's family is in VkQueryPoolPerformanceCreateInfoKHR. */
VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateQueryPool(VkDevice device,
                                                       const VkQueryPoolCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkQueryPool *pool)
{
    struct layer_device *d = layer_device_of(device);
    const VkQueryPoolPerformanceCreateInfoKHR *performance =
        layer_chain_find(info->pNext, VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR);
    if (!performance || !layer_has_appended(&d->physical->map, 1, &performance->queueFamilyIndex))
        return d->vk.vkCreateQueryPool(device, info, allocator, pool);
    uint32_t family = bf_family_real(&d->physical->map, performance->queueFamilyIndex);
    struct layer_chain chain;
    VkStructureType unknown;
    layer_chain_begin(&chain, info->pNext);
    VkResult result = layer_chain_set(
        &chain, performance, offsetof(VkQueryPoolPerformanceCreateInfoKHR, queueFamilyIndex),
        &family, sizeof(family), &unknown);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        bf_message(BF_MESSAGE_WARNING,
                   "vkCreateQueryPool: a struct of type %d in the chain is not known, and the "
                   "family of the one behind it can't be translated",
                   (int)unknown);
        result = VK_ERROR_UNKNOWN;
    }
    if (result == VK_SUCCESS) {
        VkQueryPoolCreateInfo copy = *info;
        copy.pNext = chain.head;
        result = d->vk.vkCreateQueryPool(device, &copy, allocator, pool);
    }
    layer_chain_end(&chain);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
layer_vkCreateVideoSessionKHR(VkDevice device, const VkVideoSessionCreateInfoKHR *info,
                              const VkAllocationCallbacks *allocator, VkVideoSessionKHR *session)
{
    struct layer_device *d = layer_device_of(device);
    VkVideoSessionCreateInfoKHR copy = *info;
    copy.queueFamilyIndex = bf_family_real(&d->physical->map, info->queueFamilyIndex);
    return d->vk.vkCreateVideoSessionKHR(device, &copy, allocator, session);
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceBufferMemoryRequirements(
    VkDevice device, const VkDeviceBufferMemoryRequirements *info, VkMemoryRequirements2 *out)
{
    struct layer_device *d = layer_device_of(device);
    VkBufferCreateInfo buffer = *info->pCreateInfo;
    struct sharing s;
    TRANSLATE(d, s, buffer, sharingMode);
    VkDeviceBufferMemoryRequirements copy = *info;
    copy.pCreateInfo = &buffer;
    d->vk.vkGetDeviceBufferMemoryRequirements(device, &copy, out);
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceImageMemoryRequirements(
    VkDevice device, const VkDeviceImageMemoryRequirements *info, VkMemoryRequirements2 *out)
{
    struct layer_device *d = layer_device_of(device);
    VkImageCreateInfo image = *info->pCreateInfo;
    struct sharing s;
    TRANSLATE(d, s, image, sharingMode);
    VkDeviceImageMemoryRequirements copy = *info;
    copy.pCreateInfo = &image;
    d->vk.vkGetDeviceImageMemoryRequirements(device, &copy, out);
}

VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceImageSparseMemoryRequirements(
    VkDevice device, const VkDeviceImageMemoryRequirements *info, uint32_t *count,
    VkSparseImageMemoryRequirements2 *out)
{
    struct layer_device *d = layer_device_of(device);
    VkImageCreateInfo image = *info->pCreateInfo;
    struct sharing s;
    TRANSLATE(d, s, image, sharingMode);
    VkDeviceImageMemoryRequirements copy = *info;
    copy.pCreateInfo = &image;
    d->vk.vkGetDeviceImageSparseMemoryRequirements(device, &copy, count, out);
}

/* VkDeviceImageSubresourceInfo of VK_KHR_maintenance5, which the oldest headers don't have. */
struct image_subresource_info {
    VkStructureType sType;
    const void *pNext;
    const VkImageCreateInfo *pCreateInfo;
    const void *pSubresource;
};

VKAPI_ATTR void VKAPI_CALL layer_vkGetDeviceImageSubresourceLayout(VkDevice device,
                                                                   const void *question, void *out)
{
    struct layer_device *d = layer_device_of(device);
    const struct image_subresource_info *info = question;
    VkImageCreateInfo image = *info->pCreateInfo;
    struct sharing s;
    TRANSLATE(d, s, image, sharingMode);
    struct image_subresource_info copy = *info;
    copy.pCreateInfo = &image;
    d->more.vkGetDeviceImageSubresourceLayout(device, &copy, out);
}

/*
 * Command buffers are registered with the runtime, with the shown family of their pool. Queues use
 * it to check what they are given; barriers, to tell releases from acquires, and what is missing
 * (barrier.c). If there is no memory to register one, it stays unknown; but where families are
 * translated the program's call fails instead: its barriers might be translated wrongly, or lost.
 */
struct pool {
    uint32_t family; /* the shown family */
    bool needed;
    struct bf_map buffers; /* those registered with the runtime */
};

VKAPI_ATTR VkResult VKAPI_CALL layer_vkCreateCommandPool(VkDevice device,
                                                         const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkCommandPool *handle)
{
    struct layer_device *d = layer_device_of(device);
    if (!d->runtime)
        return d->vk.vkCreateCommandPool(device, info, allocator, handle);
    const struct bf_family_map *map = &d->physical->map;
    VkCommandPoolCreateInfo copy = *info;
    copy.queueFamilyIndex = bf_family_real(map, info->queueFamilyIndex);
    VkResult result = d->vk.vkCreateCommandPool(device, &copy, allocator, handle);
    if (result != VK_SUCCESS)
        return result;
    bool needed = !bf_family_map_is_identity(map);
    struct pool *pool = calloc(1, sizeof(*pool));
    if (pool && bf_map_insert(&d->pools, (uint64_t)*handle, pool)) {
        pool->family = info->queueFamilyIndex;
        pool->needed = needed;
        return VK_SUCCESS;
    }
    free(pool);
    if (!needed)
        return VK_SUCCESS;
    d->vk.vkDestroyCommandPool(device, *handle, allocator);
    *handle = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static uint64_t resource_buffer_key(VkCommandBuffer buffer)
{
    return (uint64_t)(uintptr_t)buffer;
}

static bool remember_buffer(struct layer_device *d, struct pool *pool, VkCommandBuffer buffer,
                            VkCommandBufferLevel level)
{
    if (!bf_map_insert(&pool->buffers, resource_buffer_key(buffer), buffer))
        return false;
    if (bf_command_buffer_register(d->gpu, buffer, pool->family, level) == VK_SUCCESS)
        return true;
    bf_map_remove(&pool->buffers, resource_buffer_key(buffer));
    return false;
}

static void forget_buffer(struct layer_device *d, struct pool *pool, VkCommandBuffer buffer)
{
    if (bf_map_remove(&pool->buffers, resource_buffer_key(buffer)))
        bf_command_buffer_forget(d->gpu, buffer);
    bf_trace_forget_command_buffer(d->trace, buffer);
    bf_standstill_forget_buffer(d->standstill, buffer);
}

static void forget_visited(void *buffer, void *device)
{
    struct layer_device *d = device;
    bf_command_buffer_forget(d->gpu, buffer);
    bf_trace_forget_command_buffer(d->trace, buffer);
    bf_standstill_forget_buffer(d->standstill, buffer);
}

VKAPI_ATTR void VKAPI_CALL layer_vkDestroyCommandPool(VkDevice device, VkCommandPool handle,
                                                      const VkAllocationCallbacks *allocator)
{
    struct layer_device *d = layer_device_of(device);
    struct pool *pool = handle ? bf_map_remove(&d->pools, (uint64_t)handle) : NULL;
    if (pool) {
        bf_map_finish(&pool->buffers, forget_visited, d);
        free(pool);
    }
    const struct bf_retained object = {.pool = handle};
    if (d->runtime && handle && bf_scheduler_keeps(d->scheduler, &object, allocator))
        return;
    d->vk.vkDestroyCommandPool(device, handle, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkAllocateCommandBuffers(
    VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    VkResult result = d->vk.vkAllocateCommandBuffers(device, info, buffers);
    struct pool *pool =
        result == VK_SUCCESS ? bf_map_find(&d->pools, (uint64_t)info->commandPool) : NULL;
    bool known = true;
    for (uint32_t i = 0; pool && i < info->commandBufferCount; i++)
        known &= remember_buffer(d, pool, buffers[i], info->level);
    if (known || !pool->needed)
        return result;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        forget_buffer(d, pool, buffers[i]);
    d->vk.vkFreeCommandBuffers(device, info->commandPool, info->commandBufferCount, buffers);
    memset(buffers, 0, info->commandBufferCount * sizeof(*buffers));
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

bool layer_keeps_commands(const struct layer_device *d)
{
    return d->runtime && bf_scheduler_keeps(d->scheduler, NULL, false);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkResetCommandBuffer(VkCommandBuffer buffer,
                                                          VkCommandBufferResetFlags flags)
{
    struct layer_device *d = layer_device_of(buffer);
    if (layer_keeps_commands(d))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY; /* it isn't reset, nor could it be executed */
    if (d->runtime)
        bf_command_buffer_reset(d->gpu, buffer);
    return d->vk.vkResetCommandBuffer(buffer, flags);
}

VKAPI_ATTR VkResult VKAPI_CALL layer_vkResetCommandPool(VkDevice device, VkCommandPool handle,
                                                        VkCommandPoolResetFlags flags)
{
    struct layer_device *d = layer_device_of(device);
    struct pool *pool = bf_map_find(&d->pools, (uint64_t)handle);
    if (layer_keeps_commands(d))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY; /* as above */
    if (pool)
        bf_command_pool_reset(d->gpu, &pool->buffers);
    return d->vk.vkResetCommandPool(device, handle, flags);
}

VKAPI_ATTR void VKAPI_CALL layer_vkFreeCommandBuffers(VkDevice device, VkCommandPool handle,
                                                      uint32_t count,
                                                      const VkCommandBuffer *buffers)
{
    struct layer_device *d = layer_device_of(device);
    struct pool *pool = bf_map_find(&d->pools, (uint64_t)handle);
    for (uint32_t i = 0; pool && i < count; i++) {
        if (buffers[i])
            forget_buffer(d, pool, buffers[i]);
    }
    if (layer_keeps_commands(d))
        return;
    d->vk.vkFreeCommandBuffers(device, handle, count, buffers);
}

static void command_pool_free(void *value, void *context)
{
    (void)context;
    struct pool *pool = value;
    bf_map_finish(&pool->buffers, NULL, NULL);
    free(pool);
}

void layer_resources_finish(struct layer_device *d)
{
    bf_map_finish(&d->narrowed_buffers, NULL, NULL);
    bf_map_finish(&d->narrowed_images, NULL, NULL);
    bf_map_finish(&d->pools, command_pool_free, NULL);
}

/* L-3: a sparse bind that is stuck in the driver has them. */
#define KEPT(command_, type_, member_, forget_)                                                    \
    VKAPI_ATTR void VKAPI_CALL layer_vk##command_(VkDevice device, type_ handle,                   \
                                                  const VkAllocationCallbacks *allocator)          \
    {                                                                                              \
        struct layer_device *d = layer_device_of(device);                                          \
        const struct bf_retained object = {.member_ = handle};                                     \
        forget_;                                                                                   \
        if (!d->runtime || !handle || !bf_scheduler_keeps(d->scheduler, &object, allocator))       \
            d->vk.vk##command_(device, handle, allocator);                                         \
    }
KEPT(DestroyBuffer, VkBuffer, buffer, forget_narrowed(&d->narrowed_buffers, (uint64_t)handle))
KEPT(DestroyImage, VkImage, image, forget_narrowed(&d->narrowed_images, (uint64_t)handle))
KEPT(FreeMemory, VkDeviceMemory, memory, )
