/* SPDX-License-Identifier: MIT */
/*
 * The layers above Belfry's: what the C API's functions are given past them.
 *
 * A program calls Vulkan through its layers, and the C API directly. A layer above may wrap handles
 * (Khronos' validation does): the program's VkSemaphore is then a number of that layer's, and
 * Belfry's layer has only ever seen another one. So the library asks: it calls, through the top of
 * the device's chain as the program would, a command that changes nothing and takes the handle, and
 * Belfry's layer, at its place in the chain, notes which handle comes down on the same thread.
 *
 *  AB-1  The program's handle stands for the object whose handle the layers above hand down for it.
 *        That it equals one that Belfry knows says nothing: numbers from above and from below are
 *        never compared. So everybody is asked first, where there is somebody to ask.
 *  AB-2  A handle that is handed down as none of the device's, or not at all, is refused, and no
 *        command below is called with it. Only where nobody can be asked does a handle count as it
 *        is: on attached devices, whose functions are the program's own, and where the loader or
 *        the command isn't found.
 *  AB-3  Asking changes nothing: a semaphore's question goes no further than Belfry's layer and is
 *        answered with an error, so that nobody learns a value; for others, an object that is there
 *        is queried below where the answer isn't known. The check 'access' takes none of it for a
 *        look of the CPU's. The caller holds no lock.
 *  AB-4  What bfVkQueueSubmit is given goes down the whole chain, as the program's vkQueueSubmit2
 *        would, and one call on a VkQueue at a time.
 *  AB-5  To each value that the program's calls will give an imported or exported fence, the layers
 *        above that follow its semaphore hear a vkSignalSemaphore, before the value can be read. It
 *        goes no further than Belfry's layer. (Else validation would take the value, once it is read
 *        or waited for, to come from nowhere, and wait for its origin.) Values that come by another
 *        object of a shared fence are not announced, nor those that the GPU stores without a call.
 *
 * Proven by tests/layer (wrapped.c).
 */
#ifndef BELFRY_GPU_UPPER_LAYERS_H
#define BELFRY_GPU_UPPER_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_gpu;

/* The program's commands of a device, from the top of its chain; NULL: not there. */
struct bf_upper_layers {
    struct bf_lock lock; /* over looking them up */
    bool looked;
    PFN_vkGetSemaphoreCounterValue counter_value;
    PFN_vkGetBufferMemoryRequirements buffer_requirements;
    PFN_vkGetImageSparseMemoryRequirements image_requirements;
    PFN_vkSignalSemaphore signal_semaphore;
    PFN_vkQueueSubmit2 submit2;
};

/*
 * The handle by which Belfry's layer knows what the program calls so; VK_NULL_HANDLE: the layers
 * above hand nothing down. The program's own where nobody can be asked. Never for VK_NULL_HANDLE.
 * Thread-safety: safe.
 */
VkSemaphore bf_upper_layers_semaphore(struct bf_gpu *gpu, VkSemaphore semaphore);
VkBuffer bf_upper_layers_buffer(struct bf_gpu *gpu, VkBuffer buffer);
VkImage bf_upper_layers_image(struct bf_gpu *gpu, VkImage image);

/* For messages about a handle that is none of the device's: what else may be the matter. "" where
 * everybody could be asked. */
const char *bf_upper_layers_excuse(struct bf_gpu *gpu, VkObjectType type);

/* AB-5. 'named' is what the program calls the semaphore. No lock is held but one that orders the
 * semaphore's announcements. */
void bf_upper_layers_announce(struct bf_gpu *gpu, VkSemaphore named, VkSemaphore semaphore,
                              uint64_t value);

/* vkQueueSubmit2 as the program would call it; NULL: it has none. */
PFN_vkQueueSubmit2 bf_upper_layers_submit2(struct bf_gpu *gpu);

/*
 * Called by the layer's stand-ins for the commands that ask, before anything else, with the handle
 * and the place for the result that came. True: the handle was asked for, and is noted; the stand-in
 * does nothing but what AB-3 says.
 */
bool bf_upper_layers_hear(struct bf_gpu *gpu, VkObjectType type, uint64_t handle,
                          const void *result);

/* The same for vkSignalSemaphore. True: it is an announcement, and ends here. */
bool bf_upper_layers_hear_signal(struct bf_gpu *gpu, VkSemaphore semaphore);

#endif
