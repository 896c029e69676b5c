/* SPDX-License-Identifier: MIT */
/* Native fences: their values in memory, and the calls of the C API on them. */
#include "fence/native.h"

#include <stdlib.h>

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "fence/import_export.h"
#include "fence/shared.h"
#include "scheduler/acceptance.h"
#include "scheduler/command_queue.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/sleeper.h"

bool bf_native_is_supported(const struct bf_scheduler *scheduler)
{
    return scheduler->gpu.native_fences;
}

static VkResult native_create_values(struct bf_scheduler *scheduler, bool single,
                                     struct bf_native *native)
{
    bool local = native->type == BF_NATIVE_FENCE_TYPE_INTRA_GPU;
    VkResult result = bf_value_memory_create(
        &scheduler->gpu, local ? BF_VALUE_MEMORY_LOCAL : BF_VALUE_MEMORY_CURRENT, single,
        &native->current);
    if (result != VK_SUCCESS)
        return result;
    result = bf_value_memory_create(&scheduler->gpu,
                                    local ? BF_VALUE_MEMORY_LOCAL : BF_VALUE_MEMORY_MONITORED,
                                    single, &native->monitored);
    if (result != VK_SUCCESS)
        bf_value_memory_destroy(&scheduler->gpu, &native->current);
    return result;
}

VkResult bf_native_attach(struct bf_fence *fence, BfNativeFenceType type)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    VkResult result = bf_gpu_write_pipeline_ensure(&scheduler->gpu);
    if (result != VK_SUCCESS)
        return result;
    struct bf_native *native = calloc(1, sizeof(*native));
    if (!native)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    native->type = type;
    native->always_interrupts =
        fence->shared && ((fence->shared->flags & BF_SYNC_OBJECT_CROSS_ADAPTER_BIT) ||
                          bf_native_is_program_written(fence));
    /* The sleepers, which correct a raced value (NF-2), have to exist before the first race. */
    result = type == BF_NATIVE_FENCE_TYPE_INTRA_GPU ? VK_SUCCESS : bf_sleepers_ensure(scheduler);
    if (result == VK_SUCCESS)
        result = native_create_values(scheduler, fence->shared != NULL, native);
    if (result != VK_SUCCESS) {
        free(native);
        return result;
    }
    bf_lock_acquire(&scheduler->pending.lock);
    fence->native = native;
    fence->extended = true;
    bf_native_settled(fence);
    bf_native_monitored(fence);
    bf_lock_release(&scheduler->pending.lock);
    return fence->shared ? bf_shared_follow(fence) : VK_SUCCESS;
}

VkResult bf_native_create(struct bf_scheduler *scheduler, const BfNativeFenceCreateInfo *info,
                          struct bf_fence **out)
{
    struct bf_fence *fence;
    VkResult result = bf_fence_create(scheduler, info->initialValue, info->flags, &fence);
    if (result != VK_SUCCESS)
        return result;
    if (info->flags & (BF_SYNC_OBJECT_SHARED_BIT | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT))
        result = bf_shared_create(fence, info->flags | BF_SHARED_NATIVE);
    if (result == VK_SUCCESS)
        result = bf_native_attach(fence, info->type);
    if (result != VK_SUCCESS) {
        bf_fence_destroy(fence);
        return result;
    }
    *out = fence;
    return VK_SUCCESS;
}

VkResult bf_native_create_progress(struct bf_scheduler *scheduler, const char *call,
                                   struct bf_fence **fence)
{
    const BfNativeFenceCreateInfo info = {
        .sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO,
        .flags = BF_SYNC_OBJECT_NO_SIGNAL_BIT,
    };
    if (!bf_native_is_supported(scheduler)) {
        bf_message(BF_MESSAGE_ERROR, "%s: the device has no native fences", call);
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    VkResult result = bf_native_create(scheduler, &info, fence);
    if (result == VK_SUCCESS)
        (*fence)->queue_owned = true;
    return result;
}

void bf_native_free(struct bf_fence *fence)
{
    bf_value_memory_destroy(&fence->scheduler->gpu, &fence->native->current);
    bf_value_memory_destroy(&fence->scheduler->gpu, &fence->native->monitored);
    free(fence->native);
    fence->native = NULL;
}

/* Sets the memory. What the program stores at this moment stays there if it is greater (NF-5). */
static void native_store(struct bf_fence *fence, uint64_t value)
{
    struct bf_native *native = fence->native;
    uint64_t old, expected = value;
    if (!native->current.value)
        return;
    if (!bf_native_is_program_written(fence)) {
        atomic_store(native->current.value, value);
        return;
    }
    old = atomic_exchange(native->current.value, value);
    if (old != native->stored && old > value)
        atomic_compare_exchange_strong(native->current.value, &expected, old);
    native->stored = value;
}

static void native_mark_raced(struct bf_fence *fence, struct bf_effects *effects)
{
    fence->native->raced = true;
    bf_pending_monitor(&fence->scheduler->pending, fence, effects);
}

void bf_native_signalled(struct bf_fence *fence, uint64_t value, struct bf_effects *effects)
{
    if (fence->scheduler->pending.lost)
        return;
    native_store(fence, value);
    if (fence->first_update)
        native_mark_raced(fence, effects);
}

void bf_native_update_begins(struct bf_fence *fence, const struct bf_command_queue *queue,
                             struct bf_effects *effects)
{
    const struct bf_pending *pending = &fence->scheduler->pending;
    const struct bf_engine *engine = queue->base.engine;
    const struct bf_update *before = fence->last_update;
    if (queue->flags & BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT)
        native_mark_raced(fence, effects); /* the CPU will have to write it */
    if (!before || fence->native->raced)
        return;
    /* What this engine is ordered behind counts, not the queue's frontier: another thread's wait
     * may have passed since the execution was prepared (C-1). Writes of one engine are in order
     * anyway. */
    for (uint32_t i = 0; i < pending->engine_count; i++) {
        if (i != engine->base.number && before->frontier[i] > pending->engines[i].completed &&
            before->frontier[i] > engine->waited[i]) {
            native_mark_raced(fence, effects);
            return;
        }
    }
}

void bf_native_update_applied(struct bf_fence *fence, const struct bf_command_queue *queue,
                              uint64_t value)
{
    struct bf_native *native = fence->native;
    if (fence->scheduler->pending.lost)
        return;
    if (!fence->first_update)
        bf_native_settled(fence);
    else if ((queue->flags & BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT) && native->current.value &&
             !fence->always_signaled)
        atomic_store(native->current.value, value);
}

void bf_native_sample(struct bf_fence *fence, struct bf_effects *effects)
{
    if (!bf_native_is_program_written(fence) || fence->scheduler->pending.lost)
        return;
    uint64_t value = atomic_load(fence->native->current.value);
    if (value == fence->native->stored)
        return;
    bf_fence_apply(fence, value, effects);
    if (atomic_load(&fence->value) == value)
        fence->native->stored = value;
}

void bf_native_look(struct bf_fence *fence)
{
    struct bf_scheduler *scheduler = fence->scheduler;
    struct bf_effects effects = {0};
    bf_lock_acquire(&scheduler->pending.lock);
    bf_fence_look_outside(fence, &effects);
    bf_lock_release(&scheduler->pending.lock);
    bf_effects_run(scheduler, &effects);
}

void bf_native_settled(struct bf_fence *fence)
{
    struct bf_native *native = fence->native;
    uint64_t value = atomic_load_explicit(&fence->value, memory_order_relaxed);
    native->raced = false;
    if (native->current.value && atomic_load(native->current.value) != value)
        native_store(fence, value);
}

void bf_native_monitored(struct bf_fence *fence)
{
    struct bf_native *native = fence->native;
    uint64_t value = fence->monitored;
    /* The CPU holds the queues that wait for it, and so waits on their behalf. */
    const struct bf_heap_node *least = fence->queue_waits.root;
    if (bf_native_is_program_written(fence) && least && least->key - 1 < value)
        value = least->key - 1;
    if (native->always_interrupts)
        value = 0;
    if (native->monitored.value)
        atomic_store(native->monitored.value, value);
}

/* Do all engines on which queues of a type may be placed write values atomically? */
static VkBool32 engines_all_write_atomically(const struct bf_scheduler *scheduler,
                                             VkQueueFlags flags, VkQueueFlags without)
{
    bool any = false, all = true;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        const struct bf_engine *engine = &scheduler->engines[i];
        if (!(engine->base.family_flags & flags) || (engine->base.family_flags & without))
            continue;
        any = true;
        all = all && bf_gpu_write_is_atomic(&engine->base);
    }
    return any && all;
}

VkResult bfGetNativeFenceCaps(BfDevice handle, BfNativeFenceCaps *caps)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler ||
        !bf_structure_check(caps, BF_STRUCTURE_TYPE_NATIVE_FENCE_CAPS, __func__, "pCaps"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    *caps = (BfNativeFenceCaps){
        .sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_CAPS,
        .supported = bf_native_is_supported(scheduler),
    };
    if (!caps->supported)
        return VK_SUCCESS;
    caps->currentValueStride = BF_VALUE_MEMORY_STRIDE;
    caps->monitoredValueStride = BF_VALUE_MEMORY_STRIDE;
    caps->maximumAddress = scheduler->gpu.writes_values ? UINT64_MAX : 0;
    caps->supportIntraGpuFenceType = VK_TRUE;
    caps->optimizedNativeFenceSignaledInterrupt = VK_TRUE;
    const VkQueueFlags copy = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT;
    caps->atomicDirect = engines_all_write_atomically(scheduler, VK_QUEUE_GRAPHICS_BIT, 0);
    caps->atomicCompute = engines_all_write_atomically(scheduler, VK_QUEUE_COMPUTE_BIT, 0);
    caps->atomicCopy = engines_all_write_atomically(scheduler, copy, 0);
    struct bf_value_memory memory;
    if (bf_value_memory_create(&scheduler->gpu, BF_VALUE_MEMORY_CURRENT, false, &memory) ==
        VK_SUCCESS) {
        caps->readOnlyMapping = memory.pages->buffer.read_only;
        bf_value_memory_destroy(&scheduler->gpu, &memory);
    }
    return VK_SUCCESS;
}

/* NULL: nothing is wrong with it. */
static const char *native_info_objection(const BfNativeFenceCreateInfo *info)
{
    const VkFlags shared = BF_SYNC_OBJECT_SHARED_BIT | BF_SYNC_OBJECT_CROSS_ADAPTER_BIT;
    const VkFlags known =
        BF_FENCE_FLAGS | BF_FENCE_SHARED_FLAGS | BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT;
    /* What is said of a value that the CPU can read. */
    const VkFlags read =
        BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT | BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT | shared;
    if ((info->flags & ~known) || (unsigned)info->type > BF_NATIVE_FENCE_TYPE_INTRA_GPU)
        return "the type or a flag is not known";
    if (info->type != BF_NATIVE_FENCE_TYPE_DEFAULT && (info->flags & read))
        return "the type and a flag don't go together";
    if ((info->flags & BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT) &&
        !(info->flags & shared))
        return "a flag is one of shared fences alone";
    return NULL;
}

VkResult bfCreateNativeFence(BfDevice handle, const BfNativeFenceCreateInfo *info, BfFence *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_structure_check(info, BF_STRUCTURE_TYPE_NATIVE_FENCE_CREATE_INFO, __func__, "pInfo"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    const char *objection = out ? native_info_objection(info) : "pFence is NULL";
    if (objection) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateNativeFence: type %d, flags 0x%x: %s",
                   (int)info->type, info->flags, objection);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (!bf_native_is_supported(scheduler)) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateNativeFence: the device has no native fences%s",
                   scheduler->gpu.attached ? ": BfAttachInfo::nativeFences was not set" : "");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    struct bf_fence *fence;
    VkResult result = bf_native_create(scheduler, info, &fence);
    if (result == VK_SUCCESS)
        *out = (BfFence)fence;
    return result;
}

VkResult bfGetNativeFenceMapping(BfFence handle, BfNativeFenceMapping *mapping)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence ||
        !bf_structure_check(mapping, BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING, __func__, "pMapping"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!fence->native) {
        bf_message(BF_MESSAGE_ERROR, "bfGetNativeFenceMapping: the fence is not native");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    bf_observe_fence_mapped(fence->observed);
    const struct bf_value_memory *current = &fence->native->current;
    const struct bf_buffer *buffer = &current->pages->buffer;
    *mapping = (BfNativeFenceMapping){
        .sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING,
        .pCurrentValue = buffer->shown ? (const volatile uint64_t *)((const char *)buffer->shown +
                                                                     current->offset)
                                       : NULL,
        .readOnly = buffer->read_only,
        .currentValueAddress = bf_value_memory_address(current),
        .monitoredValueAddress = bf_value_memory_address(&fence->native->monitored),
        .currentValueBuffer = buffer->handle,
        .currentValueOffset = current->offset,
        .monitoredValueBuffer = fence->native->monitored.pages->buffer.handle,
        .monitoredValueOffset = fence->native->monitored.offset,
    };
    return VK_SUCCESS;
}

/* Checks the fences of a batch; returns their device, or NULL with a line. */
static struct bf_scheduler *fence_update_check(uint32_t count, const BfFence *fences,
                                               const uint64_t *values, BfFenceUpdateFlags flags)
{
    const BfFenceUpdateFlags known =
        BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT | BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT;
    if (count == 0 || !fences || (!values && !flags) || (flags & ~known) || flags == known) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfUpdateFenceValues: count %u, pFences %p, pValues %p, flags 0x%x", count,
                   (const void *)fences, (const void *)values, flags);
        return NULL;
    }
    struct bf_scheduler *scheduler = NULL;
    for (uint32_t i = 0; i < count; i++) {
        struct bf_fence *fence = bf_fence_of(fences[i], "bfUpdateFenceValues");
        if (!fence)
            return NULL;
        bool sets = !(flags & BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT);
        const char *why = scheduler && scheduler != fence->scheduler ? "belongs to another device"
                          : fence->imported && sets                  ? "is imported"
                          : sets && !bf_fence_cpu_may(fence, BF_SYNC_OBJECT_NO_SIGNAL_BIT)
                              ? "may not be signalled by the CPU"
                              : NULL;
        if (why) {
            bf_message(BF_MESSAGE_ERROR, "bfUpdateFenceValues: pFences[%u]%s %s", i,
                       BF_LABEL(fence), why);
            return NULL;
        }
        scheduler = fence->scheduler;
    }
    return scheduler;
}

/* VK_ERROR_INVALID_EXTERNAL_HANDLE if one of them has lost its owner. */
static VkResult fence_update_check_owners(uint32_t count, const BfFence *fences,
                                          BfFenceUpdateFlags flags)
{
    VkResult result = VK_SUCCESS;
    if (flags & BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT)
        return result;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
        result = bf_shared_check((struct bf_fence *)fences[i]);
    return result;
}

VkResult bfUpdateFenceValues(uint32_t count, const BfFence *fences, const uint64_t *values,
                             BfFenceUpdateFlags flags)
{
    struct bf_scheduler *scheduler = fence_update_check(count, fences, values, flags);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    VkResult owned = fence_update_check_owners(count, fences, flags);
    if (owned != VK_SUCCESS)
        return owned;
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    const uint64_t before = atomic_load(&scheduler->released);
    struct bf_pending *pending = &scheduler->pending;
    struct bf_effects effects = {0};
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
        if (!(flags & BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT))
            result = bf_shared_check((struct bf_fence *)fences[i]);
    }
    if (result == VK_SUCCESS)
        result = bf_pending_retire(pending, &effects);
    if (result != VK_SUCCESS) {
        bf_effects_run(scheduler, &effects);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
    }
    for (uint32_t i = 0; i < count && !(flags & BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT); i++)
        bf_fence_announce((struct bf_fence *)fences[i], flags ? UINT64_MAX : values[i]);
    bf_lock_acquire(&pending->lock);
    for (uint32_t i = 0; i < count; i++) {
        struct bf_fence *fence = (struct bf_fence *)fences[i];
        if (flags & BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT) {
            bf_fence_look_outside(fence, &effects);
            bf_fence_look_again(fence, &effects);
        } else if (flags & BF_FENCE_UPDATE_ALWAYS_SIGNALED_BIT) {
            bf_observe_fence_signal(fence->observed, UINT64_MAX);
            bf_fence_signal(fence, UINT64_MAX, &effects);
            atomic_store(&fence->always_signaled, true);
        } else {
            bf_observe_fence_signal(fence->observed, values[i]);
            bf_fence_signal(fence, values[i], &effects);
        }
    }
    bf_lock_release(&pending->lock);
    for (uint32_t i = 0; i < count && !flags; i++)
        bf_trace_host_signal(scheduler->gpu.trace,
                             (struct bf_trace_sync){(uintptr_t)fences[i], values[i]});
    bf_effects_run(scheduler, &effects);
    bf_scheduler_wait_released(scheduler, before);
    return VK_SUCCESS;
}
