/* SPDX-License-Identifier: MIT */
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

/* Each command's stand-in is layer_access_<command>, declared with the command's own type. */
#define LAYER_ACCESS_DECLARE(name) extern __typeof__(*(PFN_##name)0) layer_access_##name;
LAYER_ACCESS_STAND_INS(LAYER_ACCESS_DECLARE)

#endif
