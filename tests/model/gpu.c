/* SPDX-License-Identifier: MIT */
/* A Vulkan device whose submissions finish when they are told to. */
#include "gpu.h"

static void object(struct gpu *gpu, const char *format, ...)
{
    if (gpu->objection[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(gpu->objection, sizeof(gpu->objection), format, arguments);
    va_end(arguments);
}

void gpu_init(struct gpu *gpu, int engine_count)
{
    memset(gpu, 0, sizeof(*gpu));
    gpu->engine_count = engine_count;
    for (int e = 0; e < engine_count; e++)
        gpu->engines[e].gpu = gpu;
    for (int i = 0; i < MODEL_OPS; i++)
        gpu->program_buffers[i] = (struct fake_object){.recorded = true, .own = {(uint64_t)i + 1}};
}

void gpu_begin(struct gpu *gpu, const struct program *program)
{
    gpu->program = program;
    gpu->accepted = gpu->finished = 0;
    gpu->history = gpu->queries = 0;
    gpu->objection[0] = 0;
    for (int e = 0; e < gpu->engine_count; e++) {
        struct gpu_engine *engine = &gpu->engines[e];
        engine->first = engine->end = 0;
        engine->submitted = engine->before = 0;
    }
    for (int s = 0; s < GPU_SEMAPHORES; s++) {
        gpu->semaphores[s].base = gpu->semaphores[s].accepted;
        gpu->semaphores[s].signal_count = 0;
    }
}

VkInstance gpu_instance(struct gpu *gpu)
{
    return (VkInstance)gpu;
}

VkPhysicalDevice gpu_physical_device(struct gpu *gpu)
{
    return (VkPhysicalDevice)gpu;
}

VkDevice gpu_device(struct gpu *gpu)
{
    return (VkDevice)gpu;
}

VkQueue gpu_queue(struct gpu *gpu, int engine)
{
    return (VkQueue)&gpu->engines[engine];
}

VkCommandBuffer gpu_command_buffer(struct gpu *gpu, int execute)
{
    return (VkCommandBuffer)&gpu->program_buffers[execute];
}

int gpu_next(const struct gpu *gpu, int engine)
{
    const struct gpu_engine *e = &gpu->engines[engine];
    if (e->first == e->end)
        return -1;
    const struct gpu_batch *batch = &e->batches[e->first];
    for (int w = 0; w < batch->wait_count; w++)
        if (batch->waits[w].semaphore->value < batch->waits[w].value)
            return -1;
    return batch->executes ? __builtin_ctz(batch->executes) : MODEL_OPS;
}

op_set gpu_finish(struct gpu *gpu, int engine)
{
    struct gpu_engine *e = &gpu->engines[engine];
    const struct gpu_batch *batch = &e->batches[e->first++];
    for (int s = 0; s < batch->signal_count; s++)
        batch->signals[s].semaphore->value = batch->signals[s].value;
    gpu->finished |= batch->executes;
    return batch->executes;
}

int gpu_object_count(const struct gpu *gpu)
{
    int count = (int)fake_alive_of(gpu_device((struct gpu *)gpu), VK_OBJECT_TYPE_UNKNOWN);
    for (int s = 0; s < GPU_SEMAPHORES; s++)
        count += gpu->semaphores[s].live;
    return count;
}

/* -------------------------------------------------------------------------------- Semaphores -- */

static struct gpu_semaphore *semaphore_of(struct gpu *gpu, VkSemaphore handle)
{
    uint64_t number = (uint64_t)handle;
    if (number >= 1 && number <= GPU_SEMAPHORES && gpu->semaphores[number - 1].live)
        return &gpu->semaphores[number - 1];
    object(gpu, "%#llx is no semaphore", (unsigned long long)number);
    return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice device,
                                                       const VkSemaphoreCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkSemaphore *semaphore)
{
    (void)allocator;
    struct gpu *gpu = (struct gpu *)device;
    const VkSemaphoreTypeCreateInfo *type = info->pNext;
    if (!type || type->sType != VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO ||
        type->semaphoreType != VK_SEMAPHORE_TYPE_TIMELINE)
        object(gpu, "a semaphore that is no timeline");
    int s = 0;
    while (s < GPU_SEMAPHORES && gpu->semaphores[s].live)
        s++;
    if (s == GPU_SEMAPHORES)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    uint64_t value = type ? type->initialValue : 0;
    gpu->semaphores[s] =
        (struct gpu_semaphore){.live = true, .value = value, .accepted = value, .base = value};
    *semaphore = (VkSemaphore)(uint64_t)(s + 1);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice device, VkSemaphore handle,
                                                    const VkAllocationCallbacks *allocator)
{
    (void)allocator;
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_semaphore *semaphore = handle ? semaphore_of(gpu, handle) : NULL;
    if (!semaphore)
        return;
    if (semaphore->value < semaphore->accepted)
        object(gpu, "a semaphore is destroyed while a submission will signal it");
    semaphore->live = false;
}

static VKAPI_ATTR VkResult VKAPI_CALL counter_value(VkDevice device, VkSemaphore handle,
                                                    uint64_t *value)
{
    struct gpu *gpu = (struct gpu *)device;
    struct gpu_semaphore *semaphore = semaphore_of(gpu, handle);
    if (gpu->before_query)
        gpu->before_query(gpu->context);
    *value = semaphore ? semaphore->value : 0;
    struct rng rng = {gpu->history ^ (uint64_t)handle ^
                      (*value - (semaphore ? semaphore->base : 0)) << 8};
    gpu->history = rng_next(&rng);
    gpu->queries++;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device,
                                                      const VkSemaphoreWaitInfo *info,
                                                      uint64_t timeout)
{
    (void)timeout;
    struct gpu *gpu = (struct gpu *)device;
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        const struct gpu_semaphore *semaphore = semaphore_of(gpu, info->pSemaphores[i]);
        if (semaphore && semaphore->value < info->pValues[i]) {
            object(gpu, "a call waits for the GPU");
            return VK_TIMEOUT;
        }
    }
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL signal_semaphore(VkDevice device,
                                                       const VkSemaphoreSignalInfo *info)
{
    struct gpu *gpu = (struct gpu *)device;
    (void)info;
    object(gpu, "the host signals a semaphore, and there is nobody to signal it for");
    return VK_SUCCESS;
}

/* --------------------------------------------------------------------------- Command buffers -- */

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice device,
                                                  const VkCommandPoolCreateInfo *info,
                                                  const VkAllocationCallbacks *allocator,
                                                  VkCommandPool *out)
{
    if (info->queueFamilyIndex != GPU_FAMILY)
        object((struct gpu *)device, "a command pool for family %u", info->queueFamilyIndex);
    return fake_make(device, VK_OBJECT_TYPE_COMMAND_POOL, allocator, (uint64_t *)out);
}

static struct fake_object *buffer_of(VkCommandBuffer handle)
{
    return (struct fake_object *)handle;
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_buffer(VkCommandBuffer handle,
                                                   const VkCommandBufferBeginInfo *info)
{
    /* Belfry's barriers are many times on their way at once. */
    if (!(info->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT))
        object((struct gpu *)buffer_of(handle)->device,
               "a command buffer of Belfry's that may not be used several times");
    return VK_SUCCESS;
}

static bool is_full(uint64_t from, uint64_t to, uint64_t source, uint64_t target)
{
    return from & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT &&
           to & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT && source & VK_ACCESS_2_MEMORY_WRITE_BIT &&
           target & VK_ACCESS_2_MEMORY_WRITE_BIT && target & VK_ACCESS_2_MEMORY_READ_BIT;
}

static VKAPI_ATTR void VKAPI_CALL barrier2(VkCommandBuffer handle, const VkDependencyInfo *info)
{
    for (uint32_t i = 0; i < info->memoryBarrierCount; i++) {
        const VkMemoryBarrier2 *b = &info->pMemoryBarriers[i];
        if (is_full(b->srcStageMask, b->dstStageMask, b->srcAccessMask, b->dstAccessMask))
            buffer_of(handle)->own[GPU_BARRIER] = 1;
    }
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer handle, VkPipelineStageFlags from,
                                          VkPipelineStageFlags to, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier *memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier *buffer_barriers,
                                          uint32_t image_count,
                                          const VkImageMemoryBarrier *image_barriers)
{
    (void)flags, (void)buffer_count, (void)buffer_barriers, (void)image_count, (void)image_barriers;
    for (uint32_t i = 0; i < memory_count; i++)
        if (is_full(from, to, memory[i].srcAccessMask, memory[i].dstAccessMask))
            buffer_of(handle)->own[GPU_BARRIER] = 1;
}

/* -------------------------------------------------------------------------------- Submitting -- */

/* What is complete when the semaphore has the value. */
static op_set complete_at(const struct gpu_semaphore *semaphore, uint64_t value)
{
    for (int i = 0; i < semaphore->signal_count; i++)
        if (semaphore->signals[i].value >= value)
            return semaphore->signals[i].after;
    return 0; /* of a run before this one */
}

static void accept_wait(struct gpu_engine *engine, struct gpu_batch *batch,
                        const VkSemaphoreSubmitInfo *info)
{
    struct gpu *gpu = engine->gpu;
    struct gpu_semaphore *semaphore = semaphore_of(gpu, info->semaphore);
    if (!semaphore)
        return;
    if (info->value > semaphore->accepted)
        object(gpu, "a wait for %llu, and only %llu will be signalled (Rule M)",
               (unsigned long long)(info->value - semaphore->base),
               (unsigned long long)(semaphore->accepted - semaphore->base));
    if (batch->wait_count == GPU_LINKS) {
        object(gpu, "a batch with more than %d waits", GPU_LINKS);
        return;
    }
    batch->waits[batch->wait_count++] = (struct gpu_link){semaphore, info->value};
    if (info->stageMask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        engine->before |= complete_at(semaphore, info->value);
}

static void accept_buffer(struct gpu_engine *engine, struct gpu_batch *batch,
                          const struct fake_object *buffer)
{
    struct gpu *gpu = engine->gpu;
    if (!buffer->recorded)
        object(gpu, "a command buffer that has not been recorded");
    if (!buffer->own[GPU_EXECUTE]) {
        if (buffer->own[GPU_BARRIER])
            engine->before |= engine->submitted;
        return;
    }
    int i = (int)buffer->own[GPU_EXECUTE] - 1;
    op_set bit = (op_set)(1u << i);
    if (!(gpu->program->executes & bit) || gpu->accepted & bit) {
        object(gpu, "operation %d is executed twice, or is no execution", i);
        return;
    }
    op_set earlier = (op_set)(gpu->program->of_queue[gpu->program->ops[i].queue] &
                              gpu->program->executes & (bit - 1));
    if (earlier & ~gpu->accepted)
        object(gpu, "operation %d is handed over before an earlier one of its queue", i);
    gpu->accepted |= bit;
    gpu->before[i] = engine->before;
    gpu->finished_before[i] = gpu->finished;
    gpu->engine_of[i] = (int)(engine - gpu->engines);
    engine->submitted |= (op_set)(bit | engine->before);
    batch->executes |= bit;
}

static void accept_signal(struct gpu_engine *engine, struct gpu_batch *batch,
                          const VkSemaphoreSubmitInfo *info)
{
    struct gpu *gpu = engine->gpu;
    struct gpu_semaphore *semaphore = semaphore_of(gpu, info->semaphore);
    if (!semaphore)
        return;
    if (info->value <= semaphore->accepted)
        object(gpu, "a signal of %llu after one of %llu",
               (unsigned long long)(info->value - semaphore->base),
               (unsigned long long)(semaphore->accepted - semaphore->base));
    if (batch->signal_count == GPU_LINKS || semaphore->signal_count == GPU_SIGNALS) {
        object(gpu, "more signals than the model has room for");
        return;
    }
    semaphore->accepted = info->value;
    op_set after = 0;
    if (info->stageMask & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT)
        after = engine->submitted | engine->before;
    semaphore->signals[semaphore->signal_count].value = info->value;
    semaphore->signals[semaphore->signal_count++].after = after;
    batch->signals[batch->signal_count++] = (struct gpu_link){semaphore, info->value};
}

static void accept_batch(struct gpu_engine *engine, const VkSubmitInfo2 *info)
{
    struct gpu *gpu = engine->gpu;
    if (engine->end == GPU_BATCHES) {
        object(gpu, "more batches than the model has room for");
        return;
    }
    struct gpu_batch *batch = &engine->batches[engine->end++];
    *batch = (struct gpu_batch){0};
    if (info->commandBufferInfoCount == 0)
        object(gpu, "a batch without a command buffer");
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++)
        accept_wait(engine, batch, &info->pWaitSemaphoreInfos[i]);
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        accept_buffer(engine, batch, buffer_of(info->pCommandBufferInfos[i].commandBuffer));
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++)
        accept_signal(engine, batch, &info->pSignalSemaphoreInfos[i]);
}

static VKAPI_ATTR VkResult VKAPI_CALL submit2(VkQueue queue, uint32_t count,
                                              const VkSubmitInfo2 *infos, VkFence fence)
{
    struct gpu_engine *engine = (struct gpu_engine *)queue;
    struct gpu *gpu = engine->gpu;
    op_set accepted = gpu->accepted;
    if (gpu->refuses && gpu->refuses(gpu->context))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (fence)
        object(gpu, "a VkFence");
    for (uint32_t i = 0; i < count; i++)
        accept_batch(engine, &infos[i]);
    if (accepted == gpu->accepted)
        object(gpu, "a submission that the program didn't ask for");
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue)
{
    struct gpu_engine *engine = (struct gpu_engine *)queue;
    if (engine->first != engine->end)
        object(engine->gpu, "a call waits for the GPU");
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device)
{
    struct gpu *gpu = (struct gpu *)device;
    for (int e = 0; e < gpu->engine_count; e++)
        queue_wait_idle(gpu_queue(gpu, e));
    return VK_SUCCESS;
}

/* ---------------------------------------------------------------------------- What it can do -- */

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device,
                                                 VkPhysicalDeviceProperties *properties)
{
    (void)device;
    *properties = (VkPhysicalDeviceProperties){.apiVersion = VK_API_VERSION_1_3,
                                               .deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU,
                                               .deviceName = "model",
                                               .limits = {.timestampPeriod = 1}};
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device,
                                                  VkPhysicalDeviceProperties2 *properties)
{
    get_properties(device, &properties->properties);
}

static void get_memory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties *properties)
{
    (void)physical;
    *properties = (VkPhysicalDeviceMemoryProperties){0};
}

static VKAPI_ATTR void VKAPI_CALL get_families(VkPhysicalDevice device, uint32_t *count,
                                               VkQueueFamilyProperties *families)
{
    if (families && *count > 0)
        families[0] = (VkQueueFamilyProperties){
            .queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
            .queueCount = (uint32_t)((struct gpu *)device)->engine_count,
            .minImageTransferGranularity = {1, 1, 1},
        };
    if (!families || *count > 1)
        *count = 1;
}

static VKAPI_ATTR void VKAPI_CALL get_families2(VkPhysicalDevice device, uint32_t *count,
                                                VkQueueFamilyProperties2 *families)
{
    get_families(device, count, families ? &families->queueFamilyProperties : NULL);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gpu_device_proc_addr(VkDevice device, const char *name)
{
    (void)device;
    return fake_find(name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL gpu_instance_proc_addr(VkInstance instance,
                                                                const char *name)
{
    (void)instance;
    return strcmp(name, "vkGetDeviceProcAddr") ? fake_find(name)
                                               : (PFN_vkVoidFunction)gpu_device_proc_addr;
}

__attribute__((constructor)) static void use_entries(void)
{
    fake_use(
        "vkAllocateCommandBuffers vkFreeCommandBuffers vkDestroyCommandPool vkEndCommandBuffer");
    FAKE_OVERRIDE(vkBeginCommandBuffer, begin_buffer);
    FAKE_OVERRIDE(vkCmdPipelineBarrier, barrier);
    FAKE_OVERRIDE(vkCmdPipelineBarrier2, barrier2);
    FAKE_OVERRIDE(vkCreateCommandPool, create_pool);
    FAKE_OVERRIDE(vkCreateSemaphore, create_semaphore);
    FAKE_OVERRIDE(vkDestroySemaphore, destroy_semaphore);
    FAKE_OVERRIDE(vkDeviceWaitIdle, device_wait_idle);
    FAKE_OVERRIDE(vkGetPhysicalDeviceMemoryProperties, get_memory);
    FAKE_OVERRIDE(vkGetPhysicalDeviceProperties, get_properties);
    FAKE_OVERRIDE(vkGetPhysicalDeviceProperties2, get_properties2);
    FAKE_OVERRIDE(vkGetPhysicalDeviceQueueFamilyProperties, get_families);
    FAKE_OVERRIDE(vkGetPhysicalDeviceQueueFamilyProperties2, get_families2);
    FAKE_OVERRIDE(vkGetSemaphoreCounterValue, counter_value);
    FAKE_OVERRIDE(vkQueueSubmit2, submit2);
    FAKE_OVERRIDE(vkQueueWaitIdle, queue_wait_idle);
    FAKE_OVERRIDE(vkSignalSemaphore, signal_semaphore);
    FAKE_OVERRIDE(vkWaitSemaphores, wait_semaphores);
}
