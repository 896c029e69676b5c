/* SPDX-License-Identifier: MIT */
/*
 * The work of the engines (copies, the pre-pass, the lighting and the final draw), and the
 * resources that they hand to each other. There are PASSES_VERSIONS versions of these, so that a
 * frame can begin before the last one has ended.
 */
#ifndef ENGINES_PASSES_H
#define ENGINES_PASSES_H

#include "camera.h"
#include "descriptors.h"
#include "scene.h"
#include "show.h"
#include "texture.h"

#define PASSES_VERSIONS 2
/* The number of buffers that the CPU writes frames into, and the copy engine copies from. */
#define PASSES_UPLOADS 3

/* The resources that one engine hands to another. */
struct passes_version {
    struct sample_buffer geometry, lights;  /* written by the copy engine */
    struct sample_image textures[TEXTURES]; /* written by the copy engine */
    VkImageView texture_views[TEXTURES];

    /* These depend on the size. */
    struct sample_image rt1, depth; /* written by the pre-pass; dependent on the size, as buf1 is */
    VkImageView rt1_view, depth_view;
    struct sample_buffer buf1; /* written by the compute engine */
    VkDescriptorSet prepass_set, lighting_set, final_set;
};

struct passes {
    uint32_t seed;
    uint32_t vertices;
    struct sample_buffer uploads[PASSES_UPLOADS]; /* of geometry, then lights; written by the CPU */
    struct sample_buffer texels;                  /* of all textures; written by the CPU */
    struct passes_version versions[PASSES_VERSIONS];

    struct sample_sets prepass_sets, lighting_sets, final_sets, post_sets;
    VkPipelineLayout prepass_layout, lighting_layout, final_layout, post_layout;
    VkPipeline prepass, lighting, final, post;
    VkSampler clamped, repeated;

    VkExtent2D extent;
    struct sample_image colour; /* written by the final draw, before edges are smoothed */
    VkImageView colour_view;
    VkDescriptorSet post_set;
};

/* `passes` must be zeroed. */
VkResult passes_create(struct passes *passes, const struct sample_device *device, uint32_t seed,
                       VkFormat target);
VkResult passes_resize(struct passes *passes, const struct sample_device *device,
                       VkExtent2D extent);
void passes_destroy(struct passes *passes, const struct sample_device *device);

/* The CPU's part: writes the data of frame `frame` to where passes_copy_geometry copies it from. */
void passes_upload(struct passes *passes, uint64_t frame);

/* Each of these records one engine's work of frame `frame`. */
void passes_copy_geometry(struct passes *passes, const struct sample_device *device,
                          VkCommandBuffer commands, uint64_t frame);
void passes_copy_textures(struct passes *passes, const struct sample_device *device,
                          VkCommandBuffer commands, uint64_t frame);
void passes_draw_prepass(struct passes *passes, const struct sample_device *device,
                         VkCommandBuffer commands, uint64_t frame);
void passes_light(struct passes *passes, const struct sample_device *device,
                  VkCommandBuffer commands, uint64_t frame);
void passes_draw_final(struct passes *passes, const struct sample_device *device,
                       VkCommandBuffer commands, uint64_t frame,
                       const struct sample_target *target);

#endif
