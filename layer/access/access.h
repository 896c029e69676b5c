/*
 * What the check 'access' (runtime/access/access.h) sees of a Vulkan program: the commands in its
 * command buffers, its semaphores, fences and submissions, and what its handles stand for.
 *
 * With the setting off none of these functions is ever handed out, so nothing is paid for it. With
 * it on they stand before the layer's own, and call them. What the check can't keep for want of
 * memory ends the check, never the program's call.
 */
#ifndef BELFRY_LAYER_ACCESS_H
#define BELFRY_LAYER_ACCESS_H

#include "layer/layer.h"

#include "access/observe.h"
#include "access/record.h"
#include "access/vulkan.h"

#define LAYER_MAX_BINDINGS 32

/* A buffer that is bound for draws to read. */
struct layer_binding {
    VkBuffer buffer;
    VkDeviceSize offset, size;
    bool told; /* since it was bound */
};

/* A command buffer. Externally synchronised, as it is. */
struct layer_recording {
    VkCommandBuffer handle;
    VkCommandPool pool;
    struct bf_access_recording *uses; /* NULL: the check has ended */
    struct layer_binding vertices[LAYER_MAX_BINDINGS], index;
    uint32_t index_size; /* bytes of one */
};

struct layer_view {
    VkImage image;
    struct bf_access_area area;
};

/* One attachment of a render pass. */
struct layer_attachment {
    VkImageLayout initial, final;
    bool reads, writes; /* by load operations and subpasses */
};

struct layer_pass {
    uint32_t count;
    struct layer_attachment attachments[];
};

struct layer_framebuffer {
    uint32_t count; /* 0: its views are told when a render pass begins */
    VkImageView views[];
};

struct layer_access {
    struct bf_access *check;
    struct bf_map recordings; /* by command buffer */
    struct bf_map pools;
    struct bf_map views, framebuffers, passes, swapchains;
};

/* Where the settings ask for the check: the observer for the runtime's device; else NULL. */
struct bf_observer *layer_access_create(struct layer_device *d);
/* After the runtime's device is destroyed. */
void layer_access_destroy(struct layer_device *d);

/* The function that stands in for a command while the check is on, or NULL. */
PFN_vkVoidFunction layer_access_find(const char *name);

/* NULL: the check is off, or knows nothing of it. */
static inline struct layer_recording *layer_recording_of(struct layer_device *d,
                                                         VkCommandBuffer handle)
{
    return d->access ? bf_map_find(&d->access->recordings, (uint64_t)(uintptr_t)handle) : NULL;
}

static inline struct bf_access_recording *layer_uses_of(struct layer_device *d,
                                                        VkCommandBuffer handle)
{
    struct layer_recording *recording = layer_recording_of(d, handle);
    return recording ? recording->uses : NULL;
}

/* access_record.c */
struct bf_access_area layer_area_of_range(const VkImageSubresourceRange *range);
BfResourceState layer_state_of_layout(VkImageLayout layout);
/* A use of an image in a layout that the command names. */
void layer_record_image(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                        VkImageLayout layout, const struct bf_access_area *area,
                        enum bf_access_use use, const char *what);
void layer_access_pools_finish(struct layer_access *access);

/* access.c: one in which an attachment isn't written. */
bool layer_layout_is_read_only(VkImageLayout layout);

/* access_format.c: the size of a format's block, in one of its aspects. False: not known. */
bool layer_format_block(VkFormat format, VkImageAspectFlags aspect, uint32_t *bytes,
                        uint32_t extent[2]);
bool layer_format_has_stencil(VkFormat format);
bool layer_format_has_depth(VkFormat format);

/* X(command, stand-in), by the file that implements them. */
#define LAYER_ACCESS_OBJECT_COMMANDS(X)                                                            \
    X(vkCreateBuffer, vkCreateBuffer)                                                              \
    X(vkDestroyBuffer, vkDestroyBuffer)                                                            \
    X(vkGetBufferMemoryRequirements, vkGetBufferMemoryRequirements)                                \
    X(vkCreateImage, vkCreateImage)                                                                \
    X(vkDestroyImage, vkDestroyImage)                                                              \
    X(vkGetImageSparseMemoryRequirements, vkGetImageSparseMemoryRequirements)                      \
    X(vkCreateImageView, vkCreateImageView)                                                        \
    X(vkDestroyImageView, vkDestroyImageView)                                                      \
    X(vkCreateFramebuffer, vkCreateFramebuffer)                                                    \
    X(vkDestroyFramebuffer, vkDestroyFramebuffer)                                                  \
    X(vkCreateRenderPass, vkCreateRenderPass)                                                      \
    X(vkCreateRenderPass2, vkCreateRenderPass2)                                                    \
    X(vkCreateRenderPass2KHR, vkCreateRenderPass2)                                                 \
    X(vkDestroyRenderPass, vkDestroyRenderPass)                                                    \
    X(vkCreateSwapchainKHR, vkCreateSwapchainKHR)                                                  \
    X(vkGetSwapchainImagesKHR, vkGetSwapchainImagesKHR)                                            \
    X(vkDestroySwapchainKHR, vkDestroySwapchainKHR)                                                \
    X(vkSetDebugUtilsObjectNameEXT, vkSetDebugUtilsObjectNameEXT)                                  \
    X(vkDebugMarkerSetObjectNameEXT, vkDebugMarkerSetObjectNameEXT)

#define LAYER_ACCESS_SYNC_COMMANDS(X)                                                              \
    X(vkQueueSubmit, vkQueueSubmit)                                                                \
    X(vkQueueSubmit2, vkQueueSubmit2)                                                              \
    X(vkQueueSubmit2KHR, vkQueueSubmit2)                                                           \
    X(vkQueueBindSparse, vkQueueBindSparse)                                                        \
    X(vkQueueWaitIdle, vkQueueWaitIdle)                                                            \
    X(vkDeviceWaitIdle, vkDeviceWaitIdle)                                                          \
    X(vkQueuePresentKHR, vkQueuePresentKHR)                                                        \
    X(vkAcquireNextImageKHR, vkAcquireNextImageKHR)                                                \
    X(vkAcquireNextImage2KHR, vkAcquireNextImage2KHR)                                              \
    X(vkCreateSemaphore, vkCreateSemaphore)                                                        \
    X(vkDestroySemaphore, vkDestroySemaphore)                                                      \
    X(vkSignalSemaphore, vkSignalSemaphore)                                                        \
    X(vkSignalSemaphoreKHR, vkSignalSemaphore)                                                     \
    X(vkWaitSemaphores, vkWaitSemaphores)                                                          \
    X(vkWaitSemaphoresKHR, vkWaitSemaphores)                                                       \
    X(vkGetSemaphoreCounterValue, vkGetSemaphoreCounterValue)                                      \
    X(vkGetSemaphoreCounterValueKHR, vkGetSemaphoreCounterValue)                                   \
    X(vkGetSemaphoreFdKHR, vkGetSemaphoreFdKHR)                                                    \
    X(vkImportSemaphoreFdKHR, vkImportSemaphoreFdKHR)                                              \
    X(vkWaitForFences, vkWaitForFences)                                                            \
    X(vkGetFenceStatus, vkGetFenceStatus)                                                          \
    X(vkResetFences, vkResetFences)                                                                \
    X(vkDestroyFence, vkDestroyFence)                                                              \
    X(vkImportFenceFdKHR, vkImportFenceFdKHR)

#define LAYER_ACCESS_RECORD_COMMANDS(X)                                                            \
    X(vkAllocateCommandBuffers, vkAllocateCommandBuffers)                                          \
    X(vkFreeCommandBuffers, vkFreeCommandBuffers)                                                  \
    X(vkDestroyCommandPool, vkDestroyCommandPool)                                                  \
    X(vkBeginCommandBuffer, vkBeginCommandBuffer)                                                  \
    X(vkEndCommandBuffer, vkEndCommandBuffer)                                                      \
    X(vkCmdExecuteCommands, vkCmdExecuteCommands)                                                  \
    X(vkCmdPipelineBarrier, vkCmdPipelineBarrier)                                                  \
    X(vkCmdPipelineBarrier2, vkCmdPipelineBarrier2)                                                \
    X(vkCmdPipelineBarrier2KHR, vkCmdPipelineBarrier2)                                             \
    X(vkCmdWaitEvents, vkCmdWaitEvents)                                                            \
    X(vkCmdWaitEvents2, vkCmdWaitEvents2)                                                          \
    X(vkCmdWaitEvents2KHR, vkCmdWaitEvents2)                                                       \
    X(vkCmdBeginRenderPass, vkCmdBeginRenderPass)                                                  \
    X(vkCmdBeginRenderPass2, vkCmdBeginRenderPass2)                                                \
    X(vkCmdBeginRenderPass2KHR, vkCmdBeginRenderPass2)                                             \
    X(vkCmdBeginRendering, vkCmdBeginRendering)                                                    \
    X(vkCmdBeginRenderingKHR, vkCmdBeginRendering)

#define LAYER_ACCESS_TRANSFER_COMMANDS(X)                                                          \
    X(vkCmdCopyBuffer, vkCmdCopyBuffer)                                                            \
    X(vkCmdCopyBuffer2, vkCmdCopyBuffer2)                                                          \
    X(vkCmdCopyBuffer2KHR, vkCmdCopyBuffer2)                                                       \
    X(vkCmdCopyImage, vkCmdCopyImage)                                                              \
    X(vkCmdCopyImage2, vkCmdCopyImage2)                                                            \
    X(vkCmdCopyImage2KHR, vkCmdCopyImage2)                                                         \
    X(vkCmdCopyBufferToImage, vkCmdCopyBufferToImage)                                              \
    X(vkCmdCopyBufferToImage2, vkCmdCopyBufferToImage2)                                            \
    X(vkCmdCopyBufferToImage2KHR, vkCmdCopyBufferToImage2)                                         \
    X(vkCmdCopyImageToBuffer, vkCmdCopyImageToBuffer)                                              \
    X(vkCmdCopyImageToBuffer2, vkCmdCopyImageToBuffer2)                                            \
    X(vkCmdCopyImageToBuffer2KHR, vkCmdCopyImageToBuffer2)                                         \
    X(vkCmdBlitImage, vkCmdBlitImage)                                                              \
    X(vkCmdBlitImage2, vkCmdBlitImage2)                                                            \
    X(vkCmdBlitImage2KHR, vkCmdBlitImage2)                                                         \
    X(vkCmdResolveImage, vkCmdResolveImage)                                                        \
    X(vkCmdResolveImage2, vkCmdResolveImage2)                                                      \
    X(vkCmdResolveImage2KHR, vkCmdResolveImage2)                                                   \
    X(vkCmdUpdateBuffer, vkCmdUpdateBuffer)                                                        \
    X(vkCmdFillBuffer, vkCmdFillBuffer)                                                            \
    X(vkCmdClearColorImage, vkCmdClearColorImage)                                                  \
    X(vkCmdClearDepthStencilImage, vkCmdClearDepthStencilImage)                                    \
    X(vkCmdCopyQueryPoolResults, vkCmdCopyQueryPoolResults)

#define LAYER_ACCESS_DRAW_COMMANDS(X)                                                              \
    X(vkCmdBindVertexBuffers, vkCmdBindVertexBuffers)                                              \
    X(vkCmdBindVertexBuffers2, vkCmdBindVertexBuffers2)                                            \
    X(vkCmdBindVertexBuffers2EXT, vkCmdBindVertexBuffers2)                                         \
    X(vkCmdBindIndexBuffer, vkCmdBindIndexBuffer)                                                  \
    X(vkCmdDraw, vkCmdDraw)                                                                        \
    X(vkCmdDrawIndexed, vkCmdDrawIndexed)                                                          \
    X(vkCmdDrawIndirect, vkCmdDrawIndirect)                                                        \
    X(vkCmdDrawIndexedIndirect, vkCmdDrawIndexedIndirect)                                          \
    X(vkCmdDrawIndirectCount, vkCmdDrawIndirectCount)                                              \
    X(vkCmdDrawIndirectCountKHR, vkCmdDrawIndirectCount)                                           \
    X(vkCmdDrawIndirectCountAMD, vkCmdDrawIndirectCount)                                           \
    X(vkCmdDrawIndexedIndirectCount, vkCmdDrawIndexedIndirectCount)                                \
    X(vkCmdDrawIndexedIndirectCountKHR, vkCmdDrawIndexedIndirectCount)                             \
    X(vkCmdDrawIndexedIndirectCountAMD, vkCmdDrawIndexedIndirectCount)                             \
    X(vkCmdDispatchIndirect, vkCmdDispatchIndirect)

#define LAYER_DECLARE_ACCESS(name, stand_in)                                                       \
    extern __typeof__(*(PFN_##stand_in)0) layer_access_##stand_in;
LAYER_ACCESS_OBJECT_COMMANDS(LAYER_DECLARE_ACCESS)
LAYER_ACCESS_SYNC_COMMANDS(LAYER_DECLARE_ACCESS)
LAYER_ACCESS_RECORD_COMMANDS(LAYER_DECLARE_ACCESS)
LAYER_ACCESS_TRANSFER_COMMANDS(LAYER_DECLARE_ACCESS)
LAYER_ACCESS_DRAW_COMMANDS(LAYER_DECLARE_ACCESS)

#endif
