/* SPDX-License-Identifier: MIT */
/*
 * Retained objects: what pipelines are made of besides shaders, which is pipeline layouts,
 * descriptor set layouts with their immutable samplers, and render passes. Each is known by its
 * handle, with a description for the check, and stays alive in the driver for as long as a
 * pipeline's copy needs it (P-2).
 *
 *  KE-1  A retained object has holds: one of the program's, and one of each copy and of each
 *        retained object that it is part of. When the last hold ends the handle is destroyed in the
 *        driver. While there is a hold the handle may be used in any call.
 *  KE-2  The handle is destroyed as often as the driver has given it out: drivers may give equal
 *        objects one handle, several times.
 *  KE-3  An object created with an allocator of the program's is never held: it is destroyed when
 *        the
 *        program destroys it.
 *
 * Thread-safety: safe, as far as Vulkan's own rules for the objects go.
 *
 * Proven by tests/specialize/pipeline/retained.c.
 */
#ifndef BELFRY_SPECIALIZE_RETAINED_H
#define BELFRY_SPECIALIZE_RETAINED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/map.h"
#include "specialize/shader/arena.h"

struct bf_pipelines;
struct bf_retained_sampler;

struct bf_retained_object {
    VkObjectType type;
    uint64_t handle; /* 0: the program never destroyed it, and the device is being destroyed */
    _Atomic uint32_t refs; /* to the struct; all holds together count as one */
    _Atomic uint32_t holds;
    uint32_t lives; /* how often the program was given the handle; the pipelines' lock */
    bool foreign;   /* created with an allocator of the program's (KE-3) */
    struct bf_arena arena;
};

/* The shape of an image view, from its create info. Interned: equal views share one, which lasts
 * as long as the device's pipelines do. */
struct bf_view_shape {
    const struct bf_view_shape *next;
    VkFormat format;
    VkImageViewType type;
    VkImageAspectFlags aspect;
    VkComponentMapping components;
};

/* What was last written to a binding, in any set of its layout. Any thread may read and write
 * each field for itself. */
struct bf_descriptor_shape {
    _Atomic(const struct bf_view_shape *) view; /* NULL: none was written */
    _Atomic(const struct bf_sampler_shape *) sampler;
    _Atomic uint32_t texel_format; /* of a texel buffer; 0: unknown */
    _Atomic uint64_t range;        /* of a buffer, perhaps rounded up; 0: unknown */
};

/* The shape of a sampler, interned likewise. 'info' has no chain; 'reduction' stands for one. */
struct bf_sampler_shape {
    const struct bf_sampler_shape *next;
    VkSamplerCreateInfo info;
    VkSamplerReductionMode reduction;
    bool unknown; /* it has more to it: YCbCr conversion, a custom border colour */
};

struct bf_retained_sampler {
    struct bf_retained_object base;
    const struct bf_sampler_shape *shape; /* NULL: unknown */
};

struct bf_set_binding {
    uint32_t binding;
    VkDescriptorType type;
    uint32_t count; /* of an inline uniform block: bytes */
    VkShaderStageFlags stages;
    VkDescriptorBindingFlags flags;
    struct bf_retained_sampler **immutable; /* 'count' of them, held; NULL: none */
    struct bf_descriptor_shape shape;       /* of what was written to it last */
    uint16_t place; /* of its format classes; layouts that are defined alike have the same (FC-1) */
};

struct bf_retained_set_layout {
    struct bf_retained_object base;
    VkDescriptorSetLayoutCreateFlags flags;
    bool unknown; /* it has flags or structs that aren't copied, or something of it isn't held */
    uint32_t binding_count;
    struct bf_set_binding *bindings; /* by binding number, ascending */
};

struct bf_retained_layout {
    struct bf_retained_object base;
    VkPipelineLayoutCreateFlags flags;
    bool unknown;     /* likewise, or one of its set layouts is unknown */
    uint32_t push_id; /* equal ranges have equal numbers, never 0 */
    uint32_t push_count;
    const VkPushConstantRange *push;
    uint32_t set_count;
    struct bf_retained_set_layout **sets; /* held; NULL where the program gave VK_NULL_HANDLE */
};

struct bf_retained_attachment {
    VkAttachmentDescriptionFlags flags;
    VkFormat format;
    VkSampleCountFlagBits samples;
    VkAttachmentLoadOp load, stencil_load;
    VkImageLayout initial, final;
};

/* Attachments by index, or VK_ATTACHMENT_UNUSED. */
struct bf_retained_subpass {
    VkSubpassDescriptionFlags flags;
    uint32_t view_mask;
    uint32_t input_count, color_count;
    const uint32_t *inputs, *colors, *resolves; /* resolves: NULL: none */
    uint32_t depth, depth_resolve;
    VkResolveModeFlagBits depth_resolve_mode, stencil_resolve_mode;
    uint32_t preserve_count;
    const uint32_t *preserves;
};

struct bf_retained_render_pass {
    struct bf_retained_object base;
    bool unknown; /* it has structs that aren't copied */
    /* of the last framebuffer created for it: width, height << 32; 0: none */
    _Atomic uint64_t extent;
    uint32_t attachment_count, subpass_count;
    struct bf_retained_attachment *attachments;
    struct bf_retained_subpass *subpasses;
    uint32_t dependency_count;
    VkSubpassDependency2 *dependencies; /* chained: a VkMemoryBarrier2, or nothing */
};

/* A list of push-constant ranges that some pipeline layout has; kept for as long as the
 * pipelines are. */
struct bf_push_list {
    struct bf_push_list *next;
    uint32_t id, count;
    VkPushConstantRange ranges[];
};

struct bf_retained_objects {
    struct bf_map samplers, set_layouts, layouts, render_passes;
    struct bf_push_list *pushes; /* the pipelines' lock */
};

/* After the driver has created the object. Out of memory: the object stays unknown, and nothing
 * of it is retained. */
void bf_retained_sampler_add(struct bf_pipelines *pipelines, VkSampler sampler,
                             const VkSamplerCreateInfo *info,
                             const VkAllocationCallbacks *allocator);
void bf_retained_set_layout_add(struct bf_pipelines *pipelines, VkDescriptorSetLayout layout,
                                const VkDescriptorSetLayoutCreateInfo *info,
                                const VkAllocationCallbacks *allocator);
void bf_retained_layout_add(struct bf_pipelines *pipelines, VkPipelineLayout layout,
                            const VkPipelineLayoutCreateInfo *info,
                            const VkAllocationCallbacks *allocator);
void bf_retained_render_pass_add(struct bf_pipelines *pipelines, VkRenderPass pass,
                                 const VkRenderPassCreateInfo *info,
                                 const VkAllocationCallbacks *allocator);
void bf_retained_render_pass2_add(struct bf_pipelines *pipelines, VkRenderPass pass,
                                  const VkRenderPassCreateInfo2 *info,
                                  const VkAllocationCallbacks *allocator);

/* A framebuffer of that size was created for the render pass. */
void bf_retained_render_pass_size(struct bf_pipelines *pipelines, VkRenderPass pass, uint32_t width,
                                  uint32_t height);

/* Destroys an object for the program, in the driver too: now, or when the last hold ends. For
 * unknown ones as well. */
void bf_retained_destroy(struct bf_pipelines *pipelines, VkObjectType type, uint64_t handle,
                         const VkAllocationCallbacks *allocator);

/* One hold more. False for an object that the driver can't keep (KE-3). For who has a hold, or
 * has got the object from the program just now. */
bool bf_retained_hold(struct bf_retained_object *retained);
void bf_retained_unhold(struct bf_pipelines *pipelines, struct bf_retained_object *retained);
/* References to the struct alone: the handle may be destroyed, the description stays. */
void bf_retained_ref(struct bf_retained_object *retained);
void bf_retained_unref(struct bf_retained_object *retained);

/* NULL: unknown. Lock-free. */
struct bf_retained_layout *bf_retained_layout_find(struct bf_pipelines *pipelines,
                                                   VkPipelineLayout layout);
struct bf_retained_set_layout *bf_retained_set_layout_find(struct bf_pipelines *pipelines,
                                                           VkDescriptorSetLayout layout);
struct bf_retained_render_pass *bf_retained_render_pass_find(struct bf_pipelines *pipelines,
                                                             VkRenderPass pass);

/* NULL: no such binding. */
struct bf_set_binding *bf_retained_binding(struct bf_retained_set_layout *layout, uint32_t binding);

/* Forgets the objects that the program hasn't destroyed; all copies are gone. */
void bf_retained_objects_finish(struct bf_pipelines *pipelines);

#endif
