/* SPDX-License-Identifier: MIT */
/* Opens one side of a comparison: an instance and a device, with the layer or without. */
#include "side.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

#define LAYER_NAME   "VK_LAYER_BELFRY_multi_engine"
#define GPUS_MOST    16
#define FAMILIES     32
#define FILL_SIZE    (256u << 10)
#define WAIT_SECONDS 20u

#define TRY(found, call, goal)                                                                     \
    do {                                                                                           \
        VkResult try_result = (call);                                                              \
        if (try_result < 0) {                                                                      \
            bench_found_nothing(found, "%.*s: %s", (int)strcspn(#call, "("), #call,                \
                                sample_result_name(try_result));                                   \
            goto goal;                                                                             \
        }                                                                                          \
    } while (0)

static bool gpu_choose(struct side *side, const char *gpu, struct bench_found *found)
{
    VkPhysicalDevice gpus[GPUS_MOST];
    uint32_t count = GPUS_MOST;
    if (vkEnumeratePhysicalDevices(side->instance, &count, gpus) < 0 || !count) {
        bench_found_nothing(found, "no Vulkan device");
        return false;
    }
    for (uint32_t i = 0; i < count; ++i) {
        vkGetPhysicalDeviceProperties(gpus[i], &side->properties);
        if (gpu && !strcasestr(side->properties.deviceName, gpu))
            continue;
        if (side->properties.apiVersion < VK_API_VERSION_1_3) {
            bench_found_nothing(found, "%s has no Vulkan 1.3", side->properties.deviceName);
            return false;
        }
        side->gpu = gpus[i];
        return true;
    }
    bench_found_nothing(found, "no device has '%s' in its name", gpu);
    return false;
}

static bool family_choose(struct side *side, uint32_t *queues, struct bench_found *found)
{
    VkQueueFamilyProperties families[FAMILIES] = {0};
    uint32_t count = FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(side->gpu, &count, families);
    for (uint32_t f = 0; f < count; ++f) {
        if (!(families[f].queueFlags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT)))
            continue;
        side->family = f;
        if (*queues > families[f].queueCount)
            *queues = families[f].queueCount;
        return true;
    }
    bench_found_nothing(found, "no queue family with graphics or compute");
    return false;
}

static bool commands_record(struct side *side, struct bench_found *found)
{
    TRY(found,
        side->vk.vkCreateCommandPool(side->device,
                                     &(VkCommandPoolCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = side->family,
                                     },
                                     NULL, &side->pool),
        fail);
    TRY(found,
        side->vk.vkAllocateCommandBuffers(
            side->device,
            &(VkCommandBufferAllocateInfo){
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                .commandPool = side->pool,
                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                .commandBufferCount = 1,
            },
            &side->commands),
        fail);
    TRY(found,
        side->vk.vkBeginCommandBuffer(side->commands,
                                      &(VkCommandBufferBeginInfo){
                                          .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                      }),
        fail);
    TRY(found, side->vk.vkEndCommandBuffer(side->commands), fail);
    return true;
fail:
    return false;
}

/* What a side's device can besides submitting. */
enum side_use { SIDE_SUBMITS, SIDE_PRESENTS, SIDE_LINKS };

static bool side_open_with(struct side *side, enum bench_side which, const char *gpu,
                           uint32_t queues, enum side_use use, struct bench_found *found)
{
    const bool presents = use == SIDE_PRESENTS;
    static const char *const extensions[][2] = {
        [SIDE_SUBMITS] = {NULL},
        [SIDE_PRESENTS] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME},
        [SIDE_LINKS] = {VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME,
                        VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME},
    };
    static const uint32_t extension_counts[] = {0, 1, 2};
    VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT,
        .graphicsPipelineLibrary = VK_TRUE,
    };
    static const char *const layers[] = {LAYER_NAME};
    static const char *const surfaces[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                           VK_EXT_HEADLESS_SURFACE_EXTENSION_NAME};
    const float priorities[SIDE_QUEUES] = {0};

    *side = (struct side){0};
    if (volkInitialize() != VK_SUCCESS) {
        bench_found_nothing(found, "no Vulkan loader (libvulkan.so.1)");
        return false;
    }
    TRY(found,
        vkCreateInstance(
            &(VkInstanceCreateInfo){
                .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                .pApplicationInfo =
                    &(VkApplicationInfo){
                        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                        .pApplicationName = "belfry-bench",
                        .apiVersion = VK_API_VERSION_1_3,
                    },
                .enabledLayerCount = which == BENCH_BELFRY ? 1 : 0,
                .ppEnabledLayerNames = layers,
                .enabledExtensionCount = presents ? 2 : 0,
                .ppEnabledExtensionNames = surfaces,
            },
            NULL, &side->instance),
        fail);
    /* These are the loader's own functions, which are the same for every instance. */
    volkLoadInstanceOnly(side->instance);

    if (queues > SIDE_QUEUES)
        queues = SIDE_QUEUES;
    if (!gpu_choose(side, gpu, found) || !family_choose(side, &queues, found))
        goto fail;
    TRY(found,
        vkCreateDevice(
            side->gpu,
            &(VkDeviceCreateInfo){
                .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                .pNext =
                    &(VkPhysicalDeviceVulkan12Features){
                        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
                        .pNext =
                            &(VkPhysicalDeviceVulkan13Features){
                                .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                .pNext = use == SIDE_LINKS ? &libraries : NULL,
                                .synchronization2 = VK_TRUE,
                                .dynamicRendering = use == SIDE_LINKS,
                            },
                        .timelineSemaphore = VK_TRUE,
                    },
                .queueCreateInfoCount = 1,
                .pQueueCreateInfos =
                    &(VkDeviceQueueCreateInfo){
                        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                        .queueFamilyIndex = side->family,
                        .queueCount = queues,
                        .pQueuePriorities = priorities,
                    },
                .enabledExtensionCount = extension_counts[use],
                .ppEnabledExtensionNames = extensions[use],
            },
            NULL, &side->device),
        fail);
    volkLoadDeviceTable(&side->vk, side->device);
    side->queue_count = queues;
    for (uint32_t i = 0; i < queues; ++i)
        side->vk.vkGetDeviceQueue(side->device, side->family, i, &side->queues[i]);
    if (!commands_record(side, found))
        goto fail;
    return true;

fail:
    side_close(side);
    return false;
}

bool side_open(struct side *side, enum bench_side which, const char *gpu, uint32_t queues,
               struct bench_found *found)
{
    return side_open_with(side, which, gpu, queues, SIDE_SUBMITS, found);
}

bool side_open_presenting(struct side *side, enum bench_side which, uint32_t queues,
                          struct bench_found *found)
{
    return side_open_with(side, which, NULL, queues, SIDE_PRESENTS, found);
}

bool side_open_linking(struct side *side, enum bench_side which, const char *gpu,
                       struct bench_found *found)
{
    return side_open_with(side, which, gpu, 1, SIDE_LINKS, found);
}

void side_close(struct side *side)
{
    if (side->device) {
        side->vk.vkDeviceWaitIdle(side->device);
        side->vk.vkDestroyCommandPool(side->device, side->pool, NULL);
        side->vk.vkDestroyDevice(side->device, NULL);
    }
    if (side->instance)
        vkDestroyInstance(side->instance, NULL);
    *side = (struct side){0};
}

VkSemaphore side_timeline(struct side *side, struct bench_found *found)
{
    VkSemaphore semaphore = VK_NULL_HANDLE;
    TRY(found,
        side->vk.vkCreateSemaphore(
            side->device,
            &(VkSemaphoreCreateInfo){
                .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                .pNext =
                    &(VkSemaphoreTypeCreateInfo){
                        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                    },
            },
            NULL, &semaphore),
        fail);
    return semaphore;
fail:
    return VK_NULL_HANDLE;
}

VkResult side_wait(struct side *side, VkSemaphore semaphore, uint64_t value)
{
    return side->vk.vkWaitSemaphores(side->device,
                                     &(VkSemaphoreWaitInfo){
                                         .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                         .semaphoreCount = 1,
                                         .pSemaphores = &semaphore,
                                         .pValues = &value,
                                     },
                                     WAIT_SECONDS * UINT64_C(1000000000));
}

/* --- filler --- */

static bool filler_memory(struct side *side, struct side_filler *filler, struct bench_found *found)
{
    VkMemoryRequirements needs;
    TRY(found,
        side->vk.vkCreateBuffer(
            side->device,
            &(VkBufferCreateInfo){
                .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                .size = FILL_SIZE,
                .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            },
            NULL, &filler->buffer),
        fail);
    side->vk.vkGetBufferMemoryRequirements(side->device, filler->buffer, &needs);
    if (!needs.memoryTypeBits) {
        bench_found_nothing(found, "no memory type for a buffer");
        goto fail;
    }
    TRY(found,
        side->vk.vkAllocateMemory(
            side->device,
            &(VkMemoryAllocateInfo){
                .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                .allocationSize = needs.size,
                .memoryTypeIndex = (uint32_t)__builtin_ctz(needs.memoryTypeBits),
            },
            NULL, &filler->memory),
        fail);
    TRY(found, side->vk.vkBindBufferMemory(side->device, filler->buffer, filler->memory, 0), fail);
    return true;
fail:
    return false;
}

static bool filler_create(struct side *side, uint32_t times, VkCommandBufferUsageFlags usage,
                          struct side_filler *filler, struct bench_found *found)
{
    *filler = (struct side_filler){0};
    if (!filler_memory(side, filler, found))
        goto fail;
    TRY(found,
        side->vk.vkCreateCommandPool(side->device,
                                     &(VkCommandPoolCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = side->family,
                                     },
                                     NULL, &filler->pool),
        fail);
    TRY(found,
        side->vk.vkAllocateCommandBuffers(
            side->device,
            &(VkCommandBufferAllocateInfo){
                .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                .commandPool = filler->pool,
                .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                .commandBufferCount = 1,
            },
            &filler->commands),
        fail);
    TRY(found,
        side->vk.vkBeginCommandBuffer(filler->commands,
                                      &(VkCommandBufferBeginInfo){
                                          .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                          .flags = usage,
                                      }),
        fail);
    for (uint32_t i = 0; i < times; ++i) {
        side->vk.vkCmdFillBuffer(filler->commands, filler->buffer, 0, FILL_SIZE, i);
        side->vk.vkCmdPipelineBarrier(filler->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                      VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                                      &(VkMemoryBarrier){
                                          .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                          .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                          .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                      },
                                      0, NULL, 0, NULL);
    }
    TRY(found, side->vk.vkEndCommandBuffer(filler->commands), fail);
    return true;
fail:
    return false;
}

bool side_filler_create(struct side *side, uint32_t times, struct side_filler *filler,
                        struct bench_found *found)
{
    return filler_create(side, times, 0, filler, found);
}

bool side_filler_create_shared(struct side *side, uint32_t times, struct side_filler *filler,
                               struct bench_found *found)
{
    return filler_create(side, times, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, filler, found);
}

void side_filler_destroy(struct side *side, struct side_filler *filler)
{
    side->vk.vkDestroyCommandPool(side->device, filler->pool, NULL);
    side->vk.vkDestroyBuffer(side->device, filler->buffer, NULL);
    side->vk.vkFreeMemory(side->device, filler->memory, NULL);
    *filler = (struct side_filler){0};
}

/* The shortest of three runs counts, because other load on the machine can only add to it. */
static uint64_t filler_time(struct side *side, VkSemaphore semaphore, uint64_t *value,
                            const struct side_filler *filler, struct bench_found *found)
{
    uint64_t least = UINT64_MAX;
    for (int run = 0; run < 3; ++run) {
        uint64_t start = bench_now();
        TRY(found,
            side->vk.vkQueueSubmit2(
                side->queues[0], 1,
                &(VkSubmitInfo2){
                    .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                    .commandBufferInfoCount = 1,
                    .pCommandBufferInfos =
                        &(VkCommandBufferSubmitInfo){
                            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                            .commandBuffer = filler->commands,
                        },
                    .signalSemaphoreInfoCount = 1,
                    .pSignalSemaphoreInfos =
                        &(VkSemaphoreSubmitInfo){
                            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                            .semaphore = semaphore,
                            .value = ++*value,
                            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                        },
                },
                VK_NULL_HANDLE),
            fail);
        if (side_wait(side, semaphore, *value) != VK_SUCCESS) {
            bench_found_nothing(found, "the device didn't finish a fill in %u s", WAIT_SECONDS);
            goto fail;
        }
        uint64_t took = bench_now() - start;
        least = took < least ? took : least;
    }
    return least;
fail:
    return 0;
}

uint32_t side_filler_times(struct side *side, uint64_t nanoseconds, struct bench_found *found)
{
    uint32_t times = 0;
    uint64_t value = 0, took = 0;
    VkSemaphore semaphore = side_timeline(side, found);
    if (!semaphore)
        return 0;
    for (uint32_t tried = 1; tried <= SIDE_FILLER_TIMES_MOST && took < nanoseconds; tried *= 2) {
        struct side_filler filler;
        took = side_filler_create(side, tried, &filler, found)
                   ? filler_time(side, semaphore, &value, &filler, found)
                   : 0;
        side->vk.vkDeviceWaitIdle(side->device);
        side_filler_destroy(side, &filler);
        times = took ? tried : 0;
        if (!took)
            break;
    }
    side->vk.vkDestroySemaphore(side->device, semaphore, NULL);
    return times;
}

void side_warm_heap(void)
{
    enum { BLOCKS = 16, BYTES = 16 << 20 };
    void *blocks[BLOCKS];
    mallopt(M_MMAP_THRESHOLD, 2 * BYTES);
    mallopt(M_TRIM_THRESHOLD, 2 * BLOCKS * BYTES);
    for (int i = 0; i < BLOCKS; ++i) {
        blocks[i] = malloc(BYTES);
        if (blocks[i])
            memset(blocks[i], 1, BYTES);
    }
    for (int i = 0; i < BLOCKS; ++i)
        free(blocks[i]);
}
