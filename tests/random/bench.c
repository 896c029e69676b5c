/* SPDX-License-Identifier: MIT */
/* The device on which random programs run, and the commands that leave marks. */
#include "bench.h"
#include "../support/type.h"

static VkPhysicalDevice device_choose(struct bench *bench, const char *wanted)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    VkResult result = vkEnumeratePhysicalDevices(bench->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(devices[i], &properties);
        if (properties.apiVersion < VK_API_VERSION_1_1 ||
            (wanted && !strstr(properties.deviceName, wanted)))
            continue;
        snprintf(bench->name, sizeof(bench->name), "%s", properties.deviceName);
        bench->api_version = properties.apiVersion;
        return devices[i];
    }
    return VK_NULL_HANDLE;
}

static bool extension_offered(VkPhysicalDevice device, const char *name)
{
    uint32_t count = 0;
    vkEnumerateDeviceExtensionProperties(device, NULL, &count, NULL);
    VkExtensionProperties *properties = calloc(count + 1, sizeof(*properties));
    bool found = false;
    if (properties &&
        vkEnumerateDeviceExtensionProperties(device, NULL, &count, properties) >= VK_SUCCESS)
        for (uint32_t i = 0; i < count && !found; i++)
            found = !strcmp(properties[i].extensionName, name);
    free(properties);
    return found;
}

int bench_open(struct bench *bench, const char *wanted, bool attach, bool vulkan_only)
{
    *bench = (struct bench){.attach = attach, .bf_wanted = !vulkan_only};
    if (volkInitialize() != VK_SUCCESS) {
        fputs("belfry-random: no Vulkan loader\n", stderr);
        return 77;
    }
    VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO), .pApplicationName = "belfry-random",
                                     .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
    VkResult result = present_create_instance(&info, bench);
    if (result != VK_SUCCESS) {
        fprintf(stderr, "belfry-random: vkCreateInstance: %d\n", result);
        return 77;
    }
    volkLoadInstanceOnly(bench->instance);
    if (!vulkan_only && !bf_api_load(&bench->bf, attach)) {
        bench_close(bench);
        return 2;
    }
    bench->physical = device_choose(bench, wanted);
    if (!bench->physical) {
        fprintf(stderr, "belfry-random: no device%s%s\n", wanted ? " named " : "",
                wanted ? wanted : "");
        bench_close(bench);
        return 77;
    }

    bench->timeline_core = bench->api_version >= VK_API_VERSION_1_2;
    bool sync2_known = bench->api_version >= VK_API_VERSION_1_3 ||
                       extension_offered(bench->physical, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
    VkPhysicalDeviceSynchronization2Features sync2 = {
        VK_TYPE(PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES),
    };
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES), .pNext = sync2_known ? &sync2 : NULL};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &timeline};
    vkGetPhysicalDeviceFeatures2(bench->physical, &features);
    if (!timeline.timelineSemaphore) {
        fprintf(stderr, "belfry-random: %s has no timeline semaphores\n", bench->name);
        bench_close(bench);
        return 77;
    }
    bench->sync2_core = sync2.synchronization2 && bench->api_version >= VK_API_VERSION_1_3;
    bench->sync2_extension = sync2.synchronization2 && !bench->sync2_core;

    VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    VkPhysicalDeviceExternalSemaphoreInfo asked = {
        VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO), .pNext = &type,
        .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties external = {
        VK_TYPE(EXTERNAL_SEMAPHORE_PROPERTIES),
    };
    vkGetPhysicalDeviceExternalSemaphoreProperties(bench->physical, &asked, &external);
    bench->exportable =
        (external.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) &&
        extension_offered(bench->physical, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    /* That of a real driver shows its images by work of its own. */
    bench->presents = info.enabledExtensionCount && strstr(bench->name, "Belfry test driver");
    bool importable =
        external.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
    if (bench->exportable && importable && !outsider_open(bench)) {
        bench_close(bench);
        return 2;
    }

    VkQueueFamilyProperties properties[BENCH_FAMILIES];
    /* SwiftShader leaves a count as it was that is too large. */
    vkGetPhysicalDeviceQueueFamilyProperties(bench->physical, &bench->family_count, NULL);
    if (bench->family_count > BENCH_FAMILIES)
        bench->family_count = BENCH_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(bench->physical, &bench->family_count, properties);
    for (uint32_t i = 0; i < bench->family_count; i++) {
        bench->families[i].flags = properties[i].queueFlags;
        bench->families[i].count = properties[i].queueCount;
    }
    return 0;
}

void bench_close(struct bench *bench)
{
    outsider_close(bench);
    if (bench->instance)
        vkDestroyInstance(bench->instance, NULL);
    bf_api_unload(&bench->bf);
    *bench = (struct bench){0};
}

static bool family_commands(const struct bench_family *family)
{
    return family->flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
}

/* Queues of all families that we can use, one family after the other. */
static void queues_choose(struct bench *bench, struct rng *rng)
{
    struct machine *machine = &bench->machine;
    *machine = (struct machine){.sync2 = bench->sync2_core || bench->sync2_extension,
                                .attached = bench->attach,
                                .outsider = bench->outsider.device,
                                .lags = strstr(bench->name, "llvmpipe") != NULL};
    int wanted = rng_percent(rng, 60) ? 16 : rng_range(rng, 1, PLAN_MACHINE_QUEUES);
    for (uint32_t i = 0; i < bench->family_count; i++)
        bench->families[i].used = 0;
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < bench->family_count && machine->queue_count < wanted; i++) {
            struct bench_family *family = &bench->families[i];
            bool sparse = family->flags & VK_QUEUE_SPARSE_BINDING_BIT;
            if (family->used == family->count ||
                (!family_commands(family) && (!sparse || bench->attach)))
                continue;
            machine->queues[machine->queue_count++] =
                (struct machine_queue){.family = i,
                                       .index = family->used++,
                                       .commands = family_commands(family),
                                       .sparse = sparse};
            more = true;
        }
    }
}

static VkResult device_create(struct bench *bench, struct rng *rng)
{
    float priorities[BENCH_FAMILIES][PLAN_MACHINE_QUEUES];
    VkDeviceQueueCreateInfo queues[BENCH_FAMILIES];
    uint32_t count = 0;
    bool equal = rng_percent(rng, 50);
    for (uint32_t i = 0; i < bench->family_count; i++) {
        if (!bench->families[i].used)
            continue;
        for (uint32_t k = 0; k < bench->families[i].used; k++)
            priorities[i][k] = equal ? 1.0f : (float)rng_range(rng, 0, 4) / 4.0f;
        queues[count++] = (VkDeviceQueueCreateInfo){
            VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = i,
            .queueCount = bench->families[i].used, .pQueuePriorities = priorities[i]};
    }
    VkPhysicalDeviceFeatures supported;
    vkGetPhysicalDeviceFeatures(bench->physical, &supported);
    /* Static, so that even their padding is zero. */
    static VkPhysicalDeviceSynchronization2Features sync2;
    static VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    sync2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES;
    sync2.synchronization2 = VK_TRUE;
    timeline.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
    timeline.pNext = bench->machine.sync2 ? &sync2 : NULL;
    timeline.timelineSemaphore = VK_TRUE;
    VkPhysicalDeviceFeatures2 features = {
        VK_TYPE(PHYSICAL_DEVICE_FEATURES_2),
        .pNext = &timeline,
        .features = {.sparseBinding = supported.sparseBinding},
    };
    const char *extensions[4];
    uint32_t extension_count = 0;
    if (!bench->timeline_core)
        extensions[extension_count++] = VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME;
    if (bench->sync2_extension)
        extensions[extension_count++] = VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME;
    if (bench->exportable)
        extensions[extension_count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    if (bench->presents)
        extensions[extension_count++] = VK_KHR_SWAPCHAIN_EXTENSION_NAME;
    VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO),
                               .pNext = &features,
                               .queueCreateInfoCount = count,
                               .pQueueCreateInfos = queues,
                               .enabledExtensionCount = extension_count,
                               .ppEnabledExtensionNames = extensions};
    VkResult result = vkCreateDevice(bench->physical, &info, NULL, &bench->device);
    if (result != VK_SUCCESS)
        return result;
    volkLoadDeviceTable(&bench->vk, bench->device);
    for (int i = 0; i < bench->machine.queue_count; i++)
        bench->vk.vkGetDeviceQueue(bench->device, bench->machine.queues[i].family,
                                   bench->machine.queues[i].index, &bench->queues[i]);
    return VK_SUCCESS;
}

static VkResult buffer_create(struct bench *bench)
{
    uint32_t families[BENCH_FAMILIES], count = 0;
    for (uint32_t i = 0; i < bench->family_count; i++)
        if (bench->families[i].used)
            families[count++] = i;
    VkBufferCreateInfo info = {
        VK_TYPE(BUFFER_CREATE_INFO),
        .size = BENCH_WORDS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = count > 1 ? count : 0,
        .pQueueFamilyIndices = families};
    VkResult result = bench->vk.vkCreateBuffer(bench->device, &info, NULL, &bench->buffer);
    if (result != VK_SUCCESS)
        return result;
    VkMemoryRequirements needs;
    bench->vk.vkGetBufferMemoryRequirements(bench->device, bench->buffer, &needs);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(bench->physical, &memory);
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type < memory.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    VkMemoryAllocateInfo allocation = {VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = needs.size,
                                       .memoryTypeIndex = type};
    result = bench->vk.vkAllocateMemory(bench->device, &allocation, NULL, &bench->memory);
    if (result != VK_SUCCESS)
        return result;
    result = bench->vk.vkBindBufferMemory(bench->device, bench->buffer, bench->memory, 0);
    if (result != VK_SUCCESS)
        return result;
    return bench->vk.vkMapMemory(bench->device, bench->memory, 0, VK_WHOLE_SIZE, 0,
                                 (void **)&bench->words);
}

/* Belfry's side of the device, and what queues it can make; false after a line on stderr. */
static bool belfry_find(struct bench *bench)
{
    struct machine *machine = &bench->machine;
    BfAttachQueue queues[PLAN_MACHINE_QUEUES];
    bench->bf_device = NULL;
    bench->bf_submissions = bench->bf_rings = 0;
    if (!bench->bf.library)
        return true;
    for (int i = 0; i < machine->queue_count; i++)
        queues[i] = (BfAttachQueue){.queue = bench->queues[i],
                                    .queueFamilyIndex = machine->queues[i].family,
                                    .queueIndex = machine->queues[i].index};
    BfAttachInfo info = {BF_TYPE(ATTACH_INFO),
                         .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                         .instance = bench->instance,
                         .physicalDevice = bench->physical,
                         .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
                         .device = bench->device,
                         .queueCount = (uint32_t)machine->queue_count,
                         .pQueues = queues,
                         .sharesNothing = VK_TRUE};
    BfFeatureResult native = {BF_TYPE(FEATURE_RESULT)};
    if (bench->bf.IsFeatureEnabled(BF_FEATURE_NATIVE_FENCE, &native) == VK_SUCCESS)
        info.nativeFences = native.enabled;
    VkResult result = bench->attach ? bench->bf.AttachDevice(&info, &bench->bf_device)
                                    : bench->bf.GetDevice(bench->device, &bench->bf_device);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT && !bench->attach)
        return true; /* it has passed this device through */
    BfNativeFenceCaps caps = {BF_TYPE(NATIVE_FENCE_CAPS)};
    if (result == VK_SUCCESS)
        result = bench->bf.GetNativeFenceCaps(bench->bf_device, &caps);
    machine->native = result == VK_SUCCESS && caps.supported;
    for (int type = 0; type < PLAN_TYPES && result == VK_SUCCESS; type++) {
        BfCommandQueueCreateInfo asked = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                          .type = (BfCommandListType)type};
        BfCommandQueue queue;
        if (type == BF_COMMAND_LIST_TYPE_BUNDLE)
            continue;
        result = bench->bf.CreateCommandQueue(bench->bf_device, &asked, &queue);
        machine->types[type] = result == VK_SUCCESS;
        machine->bf |= result == VK_SUCCESS;
        if (result == VK_SUCCESS)
            bench->bf.DestroyCommandQueue(queue);
        else if (result == VK_ERROR_FEATURE_NOT_PRESENT)
            result = VK_SUCCESS;
    }
    if (result != VK_SUCCESS)
        fprintf(stderr, "belfry-random: %s: %d\n",
                bench->bf_device ? "bfCreateCommandQueue"
                : bench->attach  ? "bfAttachDevice"
                                 : "bfGetDevice",
                result);
    return result == VK_SUCCESS;
}

bool bench_create_device(struct bench *bench, uint64_t variant)
{
    struct rng rng = {variant * 0x2545f491 + 1};
    queues_choose(bench, &rng);
    VkResult result = device_create(bench, &rng);
    if (result != VK_SUCCESS) {
        fprintf(stderr, "belfry-random: vkCreateDevice: %d\n", result);
        return false;
    }
    if (!belfry_find(bench)) {
        bench_destroy_device(bench);
        return false;
    }
    result = buffer_create(bench);
    if (result == VK_SUCCESS && bench->presents)
        result = present_create(bench);
    for (uint32_t i = 0; i < bench->family_count && result == VK_SUCCESS; i++) {
        if (!bench->families[i].used || !family_commands(&bench->families[i]))
            continue;
        VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = i};
        result =
            bench->vk.vkCreateCommandPool(bench->device, &pool, NULL, &bench->families[i].pool);
    }
    if (result == VK_SUCCESS)
        return true;
    fprintf(stderr, "belfry-random: cannot set the device up: %d\n", result);
    bench_destroy_device(bench);
    return false;
}

void bench_destroy_device(struct bench *bench)
{
    if (!bench->device)
        return;
    for (uint32_t i = 0; i < bench->family_count; i++) {
        struct bench_family *family = &bench->families[i];
        bench->vk.vkDestroyCommandPool(bench->device, family->pool, NULL);
        free(family->cbs);
        *family = (struct bench_family){.flags = family->flags, .count = family->count};
    }
    present_destroy(bench);
    if (bench->attach)
        bench->bf.DetachDevice(bench->bf_device);
    bench->bf_device = NULL;
    bench->vk.vkDestroyBuffer(bench->device, bench->buffer, NULL);
    bench->vk.vkFreeMemory(bench->device, bench->memory, NULL);
    bench->vk.vkDestroyDevice(bench->device, NULL);
    bench->device = VK_NULL_HANDLE;
    bench->buffer = VK_NULL_HANDLE;
    bench->memory = VK_NULL_HANDLE;
    bench->words = NULL;
}

VkResult bench_timeline(struct bench *bench, uint64_t initial, bool exportable,
                        VkSemaphore *semaphore)
{
    VkExportSemaphoreCreateInfo exporting = {VK_TYPE(EXPORT_SEMAPHORE_CREATE_INFO),
                                             .handleTypes =
                                                 VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                      .pNext = exportable && bench->exportable ? &exporting : NULL,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                      .initialValue = initial};
    VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    return bench->vk.vkCreateSemaphore(bench->device, &info, NULL, semaphore);
}

VkResult bench_submit2(struct bench *bench, VkQueue queue, uint32_t count,
                       const VkSubmitInfo2 *infos, VkFence fence)
{
    if (bench->attach)
        return bench->bf.VkQueueSubmit(bench->bf_device, queue, count, infos, fence);
    if (bench->sync2_core)
        return bench->vk.vkQueueSubmit2(queue, count, infos, fence);
    return bench->vk.vkQueueSubmit2KHR(queue, count, infos, fence);
}

/* Below Belfry's API only a fence tells that a queue's last submission has got to the driver. */
static VkResult queue_drain(struct bench *bench, VkQueue queue)
{
    VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkFence fence;
    VkResult result = bench->vk.vkCreateFence(bench->device, &info, NULL, &fence);
    if (result != VK_SUCCESS)
        return result;
    result = bench_submit2(bench, queue, 0, NULL, fence);
    if (result == VK_SUCCESS)
        result = bench->vk.vkWaitForFences(bench->device, 1, &fence, VK_TRUE, UINT64_MAX);
    bench->vk.vkDestroyFence(bench->device, fence, NULL);
    return result;
}

VkResult bench_idle(struct bench *bench)
{
    VkResult result = VK_SUCCESS;
    const struct machine *machine = &bench->machine;
    for (int i = 0; i < machine->queue_count && bench->attach && result == VK_SUCCESS; i++)
        result = queue_drain(bench, bench->queues[i]);
    for (int i = 0; i < machine->queue_count && bench->attach && result == VK_SUCCESS; i++)
        result = bench->bf.LockVkQueue(bench->bf_device, bench->queues[i]);
    if (result == VK_SUCCESS)
        result = bench->vk.vkDeviceWaitIdle(bench->device);
    for (int i = 0; i < machine->queue_count && bench->attach && result == VK_SUCCESS; i++)
        result = bench->bf.UnlockVkQueue(bench->bf_device, bench->queues[i]);
    return result;
}

VkResult bench_recount(struct bench *bench, uint64_t late)
{
    BfDeviceCounters now = {BF_TYPE(DEVICE_COUNTERS)};
    VkResult result = bench_idle(bench); /* after which nobody is about to count any more */
    if (result == VK_SUCCESS)
        result = bench->bf.GetDeviceCounters(bench->bf_device, &now);
    if (result == VK_SUCCESS)
        bench->bf_submissions = now.submissions;
    bench->bf_late[1] = bench->bf_late[0];
    bench->bf_late[0] = late;
    return result;
}

/* Command buffers ---------------------------------------------------------------------------- */

static VkCommandBuffer cb_take(struct bench *bench, struct bench_family *family, VkResult *result)
{
    if (family->cb_next == family->cb_count) {
        enum { MORE = 32 };
        VkCommandBuffer *grown =
            realloc(family->cbs, (family->cb_count + MORE) * sizeof(*family->cbs));
        if (!grown) {
            *result = VK_ERROR_OUT_OF_HOST_MEMORY;
            return VK_NULL_HANDLE;
        }
        family->cbs = grown;
        VkCommandBufferAllocateInfo info = {
            VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = family->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = MORE};
        *result = bench->vk.vkAllocateCommandBuffers(bench->device, &info,
                                                     family->cbs + family->cb_count);
        if (*result != VK_SUCCESS)
            return VK_NULL_HANDLE;
        family->cb_count += MORE;
    }
    return family->cbs[family->cb_next++];
}

static void cb_barrier(struct bench *bench, VkCommandBuffer cb, bool two,
                       VkPipelineStageFlags src_stage, VkAccessFlags src,
                       VkPipelineStageFlags dst_stage, VkAccessFlags dst)
{
    if (!two || !bench->machine.sync2) {
        VkMemoryBarrier barrier = {VK_TYPE(MEMORY_BARRIER), .srcAccessMask = src,
                                   .dstAccessMask = dst};
        bench->vk.vkCmdPipelineBarrier(cb, src_stage, dst_stage, 0, 1, &barrier, 0, NULL, 0, NULL);
        return;
    }
    /* The bits that we use are the same in both generations. */
    VkMemoryBarrier2 barrier = {VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = src_stage,
                                .srcAccessMask = src, .dstStageMask = dst_stage,
                                .dstAccessMask = dst};
    VkDependencyInfo dependency = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &barrier};
    if (bench->sync2_core)
        bench->vk.vkCmdPipelineBarrier2(cb, &dependency);
    else
        bench->vk.vkCmdPipelineBarrier2KHR(cb, &dependency);
}

static void cb_mark(struct bench *bench, VkCommandBuffer cb, int word, uint32_t mark, bool update)
{
    VkDeviceSize offset = (VkDeviceSize)word * sizeof(uint32_t);
    if (update)
        bench->vk.vkCmdUpdateBuffer(cb, bench->buffer, offset, sizeof(mark), &mark);
    else
        bench->vk.vkCmdFillBuffer(cb, bench->buffer, offset, sizeof(mark), mark);
}

static VkResult cb_record(struct bench *bench, const struct plan *plan, int index, uint32_t tag,
                          VkCommandBuffer cb)
{
    const struct plan_cb *c = &plan->cbs[index];
    const struct plan_batch *batch = &plan->batches[c->batch];
    VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO),
                                      .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkResult result = bench->vk.vkBeginCommandBuffer(cb, &begin);
    if (result != VK_SUCCESS)
        return result;
    if (c->lead)
        cb_barrier(bench, cb, c->barrier2, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                   VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_MEMORY_READ_BIT,
                   VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT);

    VkBufferCopy copies[SEEN_STRIDE];
    uint32_t count = 0;
    int seen = WORD_SEEN + index * SEEN_STRIDE;
    for (int i = 0; i < c->see_count; i++)
        copies[count++] =
            (VkBufferCopy){(VkDeviceSize)(WORD_SLOT + c->sees[i].cb) * sizeof(uint32_t),
                           (VkDeviceSize)(seen + i) * sizeof(uint32_t), sizeof(uint32_t)};
    if (!batch->bare)
        copies[count++] =
            (VkBufferCopy){(VkDeviceSize)(WORD_TAIL + batch->queue) * sizeof(uint32_t),
                           (VkDeviceSize)(seen + PLAN_SEE) * sizeof(uint32_t), sizeof(uint32_t)};
    if (count)
        bench->vk.vkCmdCopyBuffer(cb, bench->buffer, bench->buffer, count, copies);
    uint32_t mark = tag + (uint32_t)index;
    if (!batch->bare) {
        cb_barrier(bench, cb, c->barrier2, VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_ACCESS_TRANSFER_READ_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_ACCESS_TRANSFER_WRITE_BIT);
        cb_mark(bench, cb, WORD_TAIL + batch->queue, mark, c->update);
    }
    cb_mark(bench, cb, WORD_SLOT + index, mark, c->update);
    cb_barrier(bench, cb, c->barrier2, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return bench->vk.vkEndCommandBuffer(cb);
}

VkResult bench_record(struct bench *bench, const struct plan *plan, uint32_t tag,
                      const uint32_t families[PLAN_QUEUES], VkCommandBuffer cbs[PLAN_CBS])
{
    for (uint32_t i = 0; i < bench->family_count; i++) {
        if (!bench->families[i].cb_next)
            continue;
        bench->families[i].cb_next = 0;
        VkResult result = bench->vk.vkResetCommandPool(bench->device, bench->families[i].pool, 0);
        if (result != VK_SUCCESS)
            return result;
    }
    memset(bench->words, 0, (size_t)(WORD_SEEN + plan->cb_count * SEEN_STRIDE) * sizeof(uint32_t));
    for (int c = 0; c < plan->cb_count; c++) {
        VkResult result = VK_SUCCESS;
        uint32_t family = families[plan->batches[plan->cbs[c].batch].queue];
        cbs[c] = cb_take(bench, &bench->families[family], &result);
        if (result == VK_SUCCESS)
            result = cb_record(bench, plan, c, tag, cbs[c]);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}
