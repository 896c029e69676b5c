/* SPDX-License-Identifier: MIT */
/* Translating the program's handles, and announcing signals, through the layers between the program
 * and Belfry's. */
#include "gpu/upper_layers.h"

#include <dlfcn.h>

#include "gpu/dispatch.h"
#include "gpu/gpu.h"

/* How a handle of the program's becomes one that Belfry knows: the query that this thread is
 * making, or the signal that it is announcing. */
struct question {
    const struct bf_gpu *gpu;
    VkObjectType type;  /* VK_OBJECT_TYPE_UNKNOWN: an announcement of a signal of 'handle' */
    const void *result; /* the pointer that the command was given for its result */
    uint64_t handle;    /* what has been passed down so far; 0: nothing */
    bool certain;       /* it came with that pointer: the call was ours, not an upper layer's own */
};
static _Thread_local struct question *asking __attribute__((tls_model("initial-exec")));

bool bf_upper_layers_hear(struct bf_gpu *gpu, VkObjectType type, uint64_t handle,
                          const void *result)
{
    struct question *question = asking;
    if (!question || question->gpu != gpu || question->type != type)
        return false;
    if (!question->certain)
        question->handle = handle;
    if (question->result == result)
        question->certain = true;
    return true;
}

bool bf_upper_layers_hear_signal(struct bf_gpu *gpu, VkSemaphore semaphore)
{
    const struct question *question = asking;
    return question && question->gpu == gpu && question->type == VK_OBJECT_TYPE_UNKNOWN &&
           question->handle == (uint64_t)semaphore;
}

/* vkGetDeviceProcAddr of the loader that made the device: of the library in which the callback lies
 * that the loader gave the layer. No library is loaded for it, and another loader's function is
 * never used. */
static PFN_vkGetDeviceProcAddr loader_find_get_device_proc_addr(const struct bf_gpu *gpu)
{
    union {
        VkResult (*function)(VkDevice device, void *object);
        const void *address;
    } known = {.function = gpu->set_loader_data};
    union {
        void *address;
        PFN_vkGetDeviceProcAddr function;
    } found = {NULL};
    Dl_info loader, same;
    if (!known.function || !dladdr(known.address, &loader) || !loader.dli_fname)
        return NULL;
    void *library = dlopen(loader.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    found.address = dlsym(library, "vkGetDeviceProcAddr");
    dlclose(library);
    if (!found.address || !dladdr(found.address, &same) || same.dli_fbase != loader.dli_fbase)
        return NULL;
    return found.function;
}

static const struct bf_upper_layers *upper_layers_look_up(struct bf_gpu *gpu)
{
    struct bf_upper_layers *upper_layers = &gpu->upper_layers;
    bf_lock_acquire(&upper_layers->lock);
    PFN_vkGetDeviceProcAddr get =
        upper_layers->looked || gpu->attached ? NULL : loader_find_get_device_proc_addr(gpu);
    if (get) {
        /* By the name that belongs to the program's API version: the device may not have the other
         * one. */
        uint32_t version = gpu->api_version;
        VkDevice handle = gpu->handle;
        upper_layers->counter_value = (PFN_vkGetSemaphoreCounterValue)get(
            handle, bf_dispatch_name("vkGetSemaphoreCounterValue", version));
        upper_layers->signal_semaphore =
            (PFN_vkSignalSemaphore)get(handle, bf_dispatch_name("vkSignalSemaphore", version));
        upper_layers->buffer_requirements =
            (PFN_vkGetBufferMemoryRequirements)get(handle, "vkGetBufferMemoryRequirements");
        upper_layers->image_requirements = (PFN_vkGetImageSparseMemoryRequirements)get(
            handle, "vkGetImageSparseMemoryRequirements");
        upper_layers->submit2 =
            (PFN_vkQueueSubmit2)get(handle, bf_dispatch_name("vkQueueSubmit2", version));
        upper_layers->begin_commands =
            (PFN_vkBeginCommandBuffer)get(handle, "vkBeginCommandBuffer");
        upper_layers->end_commands = (PFN_vkEndCommandBuffer)get(handle, "vkEndCommandBuffer");
        upper_layers->dispatch_base =
            (PFN_vkCmdDispatchBase)get(handle, bf_dispatch_name("vkCmdDispatchBase", version));
    }
    upper_layers->looked = true;
    bf_lock_release(&upper_layers->lock);
    return upper_layers;
}

/* Makes the query; hooks on this thread see the question while the command runs. */
static void question_ask(struct question *question)
{
    struct question *outer = asking;
    const struct bf_upper_layers *upper_layers = &question->gpu->upper_layers;
    union {
        uint64_t value;
        uint32_t count;
        VkMemoryRequirements requirements;
    } result;
    VkDevice device = question->gpu->handle;
    uint64_t handle = question->handle;
    question->handle = 0;
    question->result = &result;
    asking = question;
    if (question->type == VK_OBJECT_TYPE_SEMAPHORE)
        upper_layers->counter_value(device, (VkSemaphore)handle, &result.value);
    else if (question->type == VK_OBJECT_TYPE_BUFFER)
        upper_layers->buffer_requirements(device, (VkBuffer)handle, &result.requirements);
    else
        upper_layers->image_requirements(device, (VkImage)handle, &result.count, NULL);
    asking = outer;
}

static bool upper_layers_can_ask(struct bf_gpu *gpu, VkObjectType type)
{
    const struct bf_upper_layers *upper_layers = upper_layers_look_up(gpu);
    return type == VK_OBJECT_TYPE_SEMAPHORE ? upper_layers->counter_value != NULL
           : type == VK_OBJECT_TYPE_BUFFER  ? upper_layers->buffer_requirements != NULL
                                            : upper_layers->image_requirements != NULL;
}

static uint64_t handle_translate(struct bf_gpu *gpu, VkObjectType type, uint64_t handle)
{
    if (!upper_layers_can_ask(gpu, type))
        return handle;
    struct question question = {.gpu = gpu, .type = type, .handle = handle};
    question_ask(&question);
    return question.handle;
}

VkSemaphore bf_upper_layers_semaphore(struct bf_gpu *gpu, VkSemaphore semaphore)
{
    return (VkSemaphore)handle_translate(gpu, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)semaphore);
}

VkBuffer bf_upper_layers_buffer(struct bf_gpu *gpu, VkBuffer buffer)
{
    return (VkBuffer)handle_translate(gpu, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer);
}

VkImage bf_upper_layers_image(struct bf_gpu *gpu, VkImage image)
{
    return (VkImage)handle_translate(gpu, VK_OBJECT_TYPE_IMAGE, (uint64_t)image);
}

const char *bf_upper_layers_excuse(struct bf_gpu *gpu, VkObjectType type)
{
    return upper_layers_can_ask(gpu, type) ? ""
                                           : ", and layers above Belfry's can't be asked for it";
}

void bf_upper_layers_announce(struct bf_gpu *gpu, VkSemaphore named, VkSemaphore semaphore,
                              uint64_t value)
{
    PFN_vkSignalSemaphore signal = upper_layers_look_up(gpu)->signal_semaphore;
    const VkSemaphoreSignalInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = named, .value = value};
    struct question question = {.gpu = gpu, .handle = (uint64_t)semaphore};
    struct question *outer = asking;
    if (!signal)
        return;
    asking = &question;
    signal(gpu->handle, &info);
    asking = outer;
}

PFN_vkQueueSubmit2 bf_upper_layers_submit2(struct bf_gpu *gpu)
{
    return upper_layers_look_up(gpu)->submit2;
}

bool bf_upper_layers_find_recording(struct bf_gpu *gpu, struct bf_upper_layers_recording *commands)
{
    const struct bf_upper_layers *upper = upper_layers_look_up(gpu);
    *commands = gpu->attached
                    ? (struct bf_upper_layers_recording){gpu->vk.vkBeginCommandBuffer,
                                                         gpu->vk.vkEndCommandBuffer,
                                                         gpu->vk.vkCmdDispatchBase}
                    : (struct bf_upper_layers_recording){upper->begin_commands, upper->end_commands,
                                                         upper->dispatch_base};
    return commands->begin && commands->end && commands->dispatch_base;
}
