/* SPDX-License-Identifier: MIT */
/*
 * The layers between the program and Belfry's layer: how handles that they wrap reach the C API.
 *
 * A program calls Vulkan through its layers, but the C API directly. An upper layer may wrap
 * handles (Khronos' validation does): then the VkSemaphore that the program has is that layer's own
 * number, and Belfry's layer only ever sees the handle below it. To translate it, the library calls
 * a harmless query command with the program's handle, through the top of the device's chain, as the
 * program would; Belfry's layer, at its place in the chain, notes which handle arrives on the same
 * thread.
 *
 *  AB-1  The program's handle stands for the object whose handle the upper layers pass down for it.
 *        That its value equals a handle that Belfry knows proves nothing, since an upper layer's
 *        numbers and the driver's are unrelated. So every handle is asked for first, wherever there
 *        is somebody to ask.
 *  AB-2  A handle that is passed down as an unknown object, or not at all, is refused, and no
 *        command below is called with it. A handle is used as it is only where nobody can be asked:
 *        on attached devices, whose functions are the program's own, and where the loader or the
 *        command isn't found.
 *  AB-3  Asking changes nothing. The query for a semaphore ends in Belfry's layer and returns an
 *        error, so that no layer learns a value; for other objects, the driver's query is called
 *        only for an object that exists and whose answer isn't known. The check 'access' does not
 *        count these queries as reads by the CPU. The caller holds no lock.
 *  AB-4  A bfVkQueueSubmit goes down the whole chain of layers, as the program's vkQueueSubmit2
 *        would, and one call on a VkQueue at a time.
 *        So does what Belfry records in a command buffer of the program's.
 *  AB-5  Before a value that a call of the program's gives to an imported or exported fence can be
 *        read, upper layers that track the fence's semaphore see a vkSignalSemaphore of that value,
 *        which ends in Belfry's layer. (Otherwise validation would find no origin for the value
 *        when it is read or waited for.) Values set through another object of a shared fence are
 *        not announced, nor are values that the GPU writes without a call.
 *
 * Proven by tests/gpu (upper_layers.c).
 */
#ifndef BELFRY_GPU_UPPER_LAYERS_H
#define BELFRY_GPU_UPPER_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_gpu;

/* A device's commands from the top of its chain of layers; NULL: the device has no such command. */
struct bf_upper_layers {
    struct bf_lock lock; /* held while they are looked up */
    bool looked;
    PFN_vkGetSemaphoreCounterValue counter_value;
    PFN_vkGetBufferMemoryRequirements buffer_requirements;
    PFN_vkGetImageSparseMemoryRequirements image_requirements;
    PFN_vkSignalSemaphore signal_semaphore;
    PFN_vkQueueSubmit2 submit2;
    PFN_vkBeginCommandBuffer begin_commands;
    PFN_vkEndCommandBuffer end_commands;
    PFN_vkCmdDispatchBase dispatch_base;
};

/*
 * Translates the program's handle into the one that Belfry's layer knows; VK_NULL_HANDLE: the upper
 * layers pass nothing down. The program's own handle where nobody can be asked. Never called for
 * VK_NULL_HANDLE. Thread-safety: safe.
 */
VkSemaphore bf_upper_layers_semaphore(struct bf_gpu *gpu, VkSemaphore semaphore);
VkBuffer bf_upper_layers_buffer(struct bf_gpu *gpu, VkBuffer buffer);
VkImage bf_upper_layers_image(struct bf_gpu *gpu, VkImage image);

/* The end of a message about an unknown handle: a possible cause where nobody could be asked, else
 * "". */
const char *bf_upper_layers_excuse(struct bf_gpu *gpu, VkObjectType type);

/* AB-5. 'named' is the program's handle of the semaphore. The caller holds no lock but the one that
 * orders the announcements of this semaphore. */
void bf_upper_layers_announce(struct bf_gpu *gpu, VkSemaphore named, VkSemaphore semaphore,
                              uint64_t value);

/* The vkQueueSubmit2 that the program would call; NULL: it has none. */
PFN_vkQueueSubmit2 bf_upper_layers_submit2(struct bf_gpu *gpu);

/* The commands of the device that the program would record a dispatch with. */
struct bf_upper_layers_recording {
    PFN_vkBeginCommandBuffer begin;
    PFN_vkEndCommandBuffer end;
    PFN_vkCmdDispatchBase dispatch_base;
};

/* False: the program has no vkCmdDispatchBase, or nobody can be asked for it. */
bool bf_upper_layers_find_recording(struct bf_gpu *gpu, struct bf_upper_layers_recording *commands);

/*
 * Called first by the layer's hooks of the query commands, with the handle and the pointer for the
 * result that they were given. True: the call is Belfry's own question, whose handle is now noted;
 * the hook does no more than AB-3 says.
 */
bool bf_upper_layers_hear(struct bf_gpu *gpu, VkObjectType type, uint64_t handle,
                          const void *result);

/* The same for vkSignalSemaphore. True: the call is an announcement (AB-5) and ends here. */
bool bf_upper_layers_hear_signal(struct bf_gpu *gpu, VkSemaphore semaphore);

#endif
