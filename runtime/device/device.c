#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

#include "background/public.h"
#include "gpu/dispatch.h"
#include "log/log.h"
#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "queue/command_queue.h"
#include "scheduler/watcher.h"

/* While held work may still produce a query's result, it is asked for at this interval. */
#define QUERY_SLICE_NS UINT64_C(500000)

static VkResult load_functions(struct bf_device *device, PFN_vkGetDeviceProcAddr get_proc_addr)
{
    bf_dispatch_load(&device->vk, device->handle, get_proc_addr);
    const struct VolkDeviceTable *vk = &device->vk;
    device->submit2 = vk->vkQueueSubmit2;
    device->wait_semaphores = vk->vkWaitSemaphores;
    device->counter_value = vk->vkGetSemaphoreCounterValue;
    device->signal_semaphore = vk->vkSignalSemaphore;
    device->pipeline_barrier = vk->vkCmdPipelineBarrier2;
    device->label_calls = bf_label_calls_of(device->handle, get_proc_addr);
    if (!device->submit2 || !device->pipeline_barrier || !device->wait_semaphores ||
        !device->counter_value || !device->signal_semaphore)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    return VK_SUCCESS;
}

static VkResult init_engine(struct bf_device *device, const struct bf_device_info *info,
                            uint32_t number)
{
    const struct bf_engine_info *from = &info->engines[number];
    struct bf_engine *engine = &device->engines[number];
    engine->device = device;
    engine->handle = from->handle;
    engine->number = number;
    engine->family = from->family;
    engine->index = from->index;
    engine->flags = from->flags;
    engine->family_flags = from->family_flags;
    engine->timestamp_bits = from->timestamp_bits;
    engine->global_priority = from->global_priority;
    engine->reserved = from->reserved;

    uint32_t count = 0;
    for (uint32_t i = 0; i < info->queue_count; i++)
        count += info->queues[i].engine == number;
    engine->queues = calloc(count ? count : 1, sizeof(*engine->queues));
    if (!engine->queues)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (count > 1)
        engine->shared = device->shared = true;

    char name[64];
    snprintf(name, sizeof(name), "engine %u:%u", engine->family, engine->index);
    engine->trace_id = bf_trace_add_engine(info->trace, name);
    if (count > 1 || info->trace) {
        VkResult result = bf_engine_create_epoch(engine);
        if (result != VK_SUCCESS)
            return result;
    }
    if (!info->trace)
        return VK_SUCCESS;
    struct bf_calibration *calibration = NULL;
    for (uint32_t i = 0; i < number && !calibration; i++) {
        if (device->engines[i].timestamp_bits == engine->timestamp_bits)
            calibration = bf_stamps_calibration(device->engines[i].stamps);
    }
    const struct bf_stamps_info stamps = {
        .device = device->handle,
        .vk = &device->vk,
        .set_loader_data = info->set_loader_data,
        .family = engine->family,
        .family_flags = from->family_flags,
        .valid_bits = from->timestamp_bits,
        .period_ns = info->timestamp_period_ns,
        .host_query_reset = info->host_query_reset,
        .synchronization2 = true, /* the scheduler stands on it */
        .calibrated = info->calibrated_timestamps,
        .get_calibrated_timestamps = device->get_calibrated_timestamps,
        .calibration = calibration,
        .trace = info->trace,
    };
    return bf_stamps_create(&stamps, &engine->stamps);
}

static const char *type_of(VkQueueFlags flags)
{
    if (flags & VK_QUEUE_GRAPHICS_BIT)
        return "3D";
    if (flags & VK_QUEUE_COMPUTE_BIT)
        return "compute";
    return "copy";
}

static void init_queue(struct bf_device *device, const struct bf_device_info *info, uint32_t number)
{
    const struct bf_queue_info *from = &info->queues[number];
    struct bf_queue *queue = &device->queues[number];
    struct bf_engine *engine = &device->engines[from->engine];
    queue->device = device;
    queue->engine = engine;
    queue->family = from->family;
    queue->index = from->index;
    queue->flags = from->flags;
    queue->family_flags = from->family_flags;
    engine->queues[engine->queue_count++] = queue;
    char name[64];
    snprintf(name, sizeof(name), "%s queue %u:%u", type_of(from->family_flags), queue->family,
             queue->index);
    queue->trace_id =
        info->trace ? bf_trace_add_queue(info->trace, engine->trace_id, name) : number;
}

/* The program's VkQueues, as it names them itself. */
static void init_observer(struct bf_device *device, const struct bf_device_info *info)
{
    device->observer = info->observer;
    bf_observer_list(device->observer);
    for (uint32_t i = 0; device->observer && i < device->queue_count; i++) {
        struct bf_queue *queue = &device->queues[i];
        char name[64];
        snprintf(name, sizeof(name), "%s queue %u:%u", type_of(queue->family_flags), queue->family,
                 queue->index);
        bf_observe_vkqueue_add(device->observer,
                               info->layer ? (VkQueue)queue : queue->engine->handle, name,
                               queue->family_flags);
    }
}

/* The program's handles of queues are ours: the loader's dispatch pointer has to be there. */
static VkResult set_loader_data(struct bf_device *device)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; device->set_loader_data && result == VK_SUCCESS && i < device->queue_count;
         i++)
        result = device->set_loader_data(device->handle, &device->queues[i]);
    return result;
}

VkResult bf_device_create(const struct bf_device_info *info, struct bf_device **out)
{
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_device *device = calloc(1, sizeof(*device));
    if (!device)
        return result;
    device->handle = info->handle;
    device->trace = info->trace;
    if (info->serialize_submits)
        device->submit_lock = &device->submit_lock_storage;
    device->engines = calloc(info->engine_count ? info->engine_count : 1, sizeof(*device->engines));
    device->queues = calloc(info->queue_count ? info->queue_count : 1, sizeof(*device->queues));
    if (!device->engines || !device->queues)
        goto fail;
    result = load_functions(device, info->get_proc_addr);
    if (result != VK_SUCCESS)
        goto fail;
    device->set_loader_data = info->set_loader_data;
    device->api_version = info->api_version;
    device->timestamp_period_ns = info->timestamp_period_ns;
    device->host_query_reset = info->host_query_reset;
    device->memory = info->memory;
    device->native_fences = info->native_fences;
    device->buffer_address = device->vk.vkGetBufferDeviceAddress;
    device->writes_values = info->buffer_addresses && info->shader_int64 && device->buffer_address;
    if (device->vk.vkGetMemoryHostPointerPropertiesEXT)
        device->host_pointer_alignment = info->host_pointer_alignment;
    device->fence_log = info->fence_log;
    device->sharing = info->sharing;
    if (!device->vk.vkGetSemaphoreFdKHR || !device->vk.vkImportSemaphoreFdKHR)
        device->sharing.timelines = false;
    if (info->calibrated_timestamps)
        device->get_calibrated_timestamps = device->vk.vkGetCalibratedTimestampsEXT;
    for (uint32_t i = 0; i < info->engine_count; i++) {
        device->engine_count = i + 1;
        result = init_engine(device, info, i);
        if (result != VK_SUCCESS)
            goto fail;
    }
    device->queue_count = info->queue_count;
    for (uint32_t i = 0; i < info->queue_count; i++)
        init_queue(device, info, i);
    result = set_loader_data(device);
    if (result != VK_SUCCESS)
        goto fail;
    init_observer(device, info);
    result = bf_pending_init(&device->pending, device);
    if (result != VK_SUCCESS)
        goto fail;
    result = bf_device_begin_background(device, info);
    if (result != VK_SUCCESS)
        goto fail;
    bf_device_register(device);
    *out = device;
    return VK_SUCCESS;

fail:
    bf_device_destroy(device);
    return result;
}

static void free_semaphore(void *value, void *context)
{
    (void)context;
    bf_semaphore_release(value);
}

static void free_fence(void *value, void *context)
{
    (void)context;
    bf_vkfence_release(value);
}

void bf_device_destroy(struct bf_device *device)
{
    if (!device)
        return;
    /* What items are running may still use the device, and queue more. */
    bf_device_end_background(device);
    bf_device_unregister(device);
    bf_watchers_finish(device);
    /* What the GPU has signalled by now, other processes may wait for; here nothing more begins. */
    struct bf_effects effects = {0};
    if (device->pending.engines && !bf_device_is_lost(device))
        bf_pending_retire(&device->pending, &effects);
    effects.engines = 0;
    bf_effects_run(device, &effects);
    bf_pending_stop(&device->pending);
    bf_command_queues_finish(device);
    bf_pending_finish(&device->pending);
    for (uint32_t i = 0; i < device->queue_count; i++)
        bf_queue_free_packets(&device->queues[i]);
    for (uint32_t i = 0; i < device->engine_count; i++) {
        struct bf_engine *engine = &device->engines[i];
        uint64_t completed = 0;
        bool known = engine->epoch &&
                     device->counter_value(device->handle, engine->epoch, &completed) == VK_SUCCESS;
        if (engine->stamps && known)
            bf_stamps_collect(engine->stamps, completed);
        bf_logs_finish(engine, completed);
        bf_stamps_destroy(engine->stamps);
        if (engine->epoch)
            device->vk.vkDestroySemaphore(device->handle, engine->epoch, NULL);
        if (engine->barrier_pool)
            device->vk.vkDestroyCommandPool(device->handle, engine->barrier_pool, NULL);
        bf_gpu_writes_finish(engine);
        bf_label_release(engine->labels);
        free(engine->waited);
        free(engine->queues);
    }
    bf_map_finish(&device->semaphores, free_semaphore, NULL);
    bf_map_finish(&device->fences, free_fence, NULL);
    bf_map_finish(&device->command_buffers, NULL, NULL);
    bf_observer_unlist(device->observer);
    bf_gpu_write_pipeline_finish(device);
    bf_value_memories_finish(device);
    free(device->queues);
    free(device->engines);
    free(device);
}

VkResult bf_device_lose(struct bf_device *device, const char *where)
{
    if (!atomic_exchange(&device->lost, true)) {
        bf_message(BF_MESSAGE_ERROR, "device%s lost (%s): what is held is dropped, waits end",
                   BF_LABEL(device), where);
        for (uint32_t i = 0; i < device->engine_count; i++)
            atomic_store(&device->engines[i].dirty, 1);
        bf_pending_lose(&device->pending);
        bf_observe_stop(device->observer, "the device is lost");
        atomic_store(&device->loss_told, true);
        bf_signpost_announce(&device->progress);
    }
    return VK_ERROR_DEVICE_LOST;
}

VkResult bf_device_lost(struct bf_device *device, const char *where)
{
    bf_device_lose(device, where);
    return bf_device_settle(device);
}

VkResult bf_device_settle(struct bf_device *device)
{
    bf_engines_pump(device, bf_device_dirty_engines(device));
    /* Whoever holds an engine's lock drops its backlog before or after releasing it, and
     * announces that. */
    uint32_t ticket = bf_signpost_enter(&device->progress);
    bool timed_out = false;
    while (!atomic_load(&device->loss_told) || bf_device_has_backlog(device))
        ticket = bf_signpost_sleep(&device->progress, ticket, NULL, &timed_out);
    bf_signpost_leave(&device->progress);
    return VK_ERROR_DEVICE_LOST;
}

uint64_t bf_device_dirty_engines(struct bf_device *device)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < device->engine_count; i++) {
        if (atomic_load(&device->engines[i].dirty))
            engines |= bf_engine_bit(&device->engines[i]);
    }
    return engines;
}

bool bf_device_has_backlog(struct bf_device *device)
{
    for (uint32_t i = 0; i < device->queue_count; i++) {
        if (bf_queue_has_backlog(&device->queues[i]))
            return true;
    }
    return bf_command_queues_have_backlog(device);
}

VkResult bf_device_query_results(struct bf_device *device, VkQueryPool pool, uint32_t first,
                                 uint32_t count, size_t size, void *data, VkDeviceSize stride,
                                 VkQueryResultFlags flags)
{
    const VkQueryResultFlags wait = VK_QUERY_RESULT_WAIT_BIT;
    /* Without WAIT, PARTIAL would have the driver answer before there is an answer. */
    const VkQueryResultFlags asking = flags & ~(wait | VK_QUERY_RESULT_PARTIAL_BIT);
    VkResult result;
    /* A driver asked to wait for what it hasn't been given may never return. Which packet ends
     * the query is not known, so nothing but the answer itself can be waited for. */
    while ((flags & wait) && bf_device_has_backlog(device)) {
        uint32_t ticket = bf_signpost_enter(&device->progress);
        bool timed_out = false;
        result = device->vk.vkGetQueryPoolResults(device->handle, pool, first, count, size, data,
                                                  stride, asking);
        if (result == VK_NOT_READY && !bf_device_is_lost(device)) {
            struct timespec until = bf_timespec(bf_now_ns() + QUERY_SLICE_NS);
            bf_signpost_sleep(&device->progress, ticket, &until, &timed_out);
        }
        bf_signpost_leave(&device->progress);
        if (result != VK_NOT_READY)
            return result;
        if (bf_device_is_lost(device))
            return bf_device_settle(device);
    }
    result = device->vk.vkGetQueryPoolResults(device->handle, pool, first, count, size, data,
                                              stride, flags);
    return result == VK_ERROR_DEVICE_LOST ? bf_device_lost(device, "vkGetQueryPoolResults")
                                          : result;
}

struct bf_queue *bf_device_find_queue(struct bf_device *device, uint32_t family, uint32_t index,
                                      VkDeviceQueueCreateFlags flags)
{
    for (uint32_t i = 0; i < device->queue_count; i++) {
        struct bf_queue *q = &device->queues[i];
        if (q->family == family && q->index == index && q->flags == flags)
            return q;
    }
    return NULL;
}

struct bf_queue *bf_device_queue_on(const struct bf_device *device, VkQueue handle)
{
    for (uint32_t i = 0; i < device->engine_count; i++) {
        const struct bf_engine *engine = &device->engines[i];
        if (engine->handle == handle && engine->queue_count)
            return engine->queues[0];
    }
    return NULL;
}

void bf_device_observe_executes(struct bf_device *device,
                                const struct bf_execute_observer *observer)
{
    device->execute_observer = observer;
}
