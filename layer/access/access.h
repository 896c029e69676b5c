/* SPDX-License-Identifier: MIT */
/*
 * How the check 'access' (runtime/access/access.h) follows a Vulkan program: by the commands in its
 * command buffers, its semaphores, fences and submissions, and its buffers, images and other
 * objects.
 *
 * If the setting is off, none of these functions is ever handed out, so it costs nothing. If it is
 * on, they replace the layer's own, and call them. If there is no memory for something that the
 * check needs, the check ends, and the program's call succeeds.
 */
#ifndef BELFRY_LAYER_ACCESS_H
#define BELFRY_LAYER_ACCESS_H

#include "layer/layer.h"

#include "access/observe.h"
#include "access/record.h"
#include "access/vulkan.h"

#define LAYER_MAX_BINDINGS 32

/* Called by the layer's own. */
VKAPI_ATTR VkResult VKAPI_CALL
layer_access_vkBeginCommandBuffer(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info);

/* A vertex or index buffer that is bound for draws. */
struct layer_binding {
    VkBuffer buffer;
    VkDeviceSize offset, size;
    bool told; /* a use was recorded since it was bound */
};

/* A command buffer. Externally synchronised, as Vulkan's is. */
struct layer_recording {
    VkCommandBuffer handle;
    VkCommandPool pool;
    struct bf_access_recording *uses; /* NULL: the check is off by now */
    struct layer_binding vertices[LAYER_MAX_BINDINGS], index;
    uint32_t index_size; /* bytes of one index */
};

struct layer_view {
    VkImage image;
    struct bf_access_area area;
};

/* One attachment of a render pass. */
struct layer_attachment {
    VkImageLayout initial, final;
    bool reads, writes; /* by load operations or subpasses */
};

struct layer_pass {
    uint32_t count;
    struct layer_attachment attachments[];
};

struct layer_framebuffer {
    uint32_t count; /* 0: imageless; the views are given when the render pass begins */
    VkImageView views[];
};

struct layer_access {
    struct bf_access *check;
    struct bf_map recordings; /* of struct layer_recording, by command buffer */
    struct bf_map pools;
    struct bf_map views, framebuffers, passes, swapchains;
};

/* If the settings ask for the check, returns the observer for the runtime's device; else NULL. */
struct bf_observer *layer_access_create(struct layer_device *d);
/* To be called after the runtime's device is destroyed. */
void layer_access_destroy(struct layer_device *d);

/* NULL: the check is off, or doesn't know the command buffer. */
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

/* record.c */
struct bf_access_area layer_area_of_range(const VkImageSubresourceRange *range);
BfResourceState layer_state_of_layout(VkImageLayout layout);
/* record.c. Records that a command uses an image in the layout that it names. */
void layer_record_image(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                        VkImageLayout layout, const struct bf_access_area *area,
                        enum bf_access_use use, const char *what);
void layer_access_pools_finish(struct layer_access *access);

/* access.c. Is it a layout in which these aspects of an attachment (0: all) aren't written? */
bool layer_layout_is_read_only(VkImageLayout layout, VkImageAspectFlags aspects);

/* format.c. The size of a format's texel block, for one aspect. False: it isn't known. */
bool layer_format_block(VkFormat format, VkImageAspectFlags aspect, uint32_t *bytes,
                        uint32_t extent[2]);
bool layer_format_has_stencil(VkFormat format);
bool layer_format_has_depth(VkFormat format);

/* The check's function for a command is layer_access_<command>, declared with the command's own
 * type. */
#define LAYER_ACCESS_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_access_##name;
LAYER_ACCESS_STAND_INS(LAYER_ACCESS_DECLARE)

#endif
