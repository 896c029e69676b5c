/* SPDX-License-Identifier: MIT */
/*
 * What the engines execute: copies, the pre-pass, the lighting and the final draw, and what these
 * pass to each other. All of it is there in PASSES_VERSIONS versions, so that a frame can begin
 * while the one before ends.
 */
#ifndef ENGINES_PASSES_H
#define ENGINES_PASSES_H

#include "camera.h"
#include "descriptors.h"
#include "scene.h"
#include "show.h"
#include "texture.h"

#define PASSES_VERSIONS 2
/* The CPU writes frames into memory of its own, from where the copy engine takes them. */
#define PASSES_UPLOADS 3

/* What one engine leaves to another. */
struct passes_version {
    struct sample_buffer geometry, lights;  /* from the copy engine */
    struct sample_image textures[TEXTURES]; /* the same */
    VkImageView texture_views[TEXTURES];

    /* These depend on the size. */
    struct sample_image rt1, depth; /* from the pre-pass */
    VkImageView rt1_view, depth_view;
    struct sample_buffer buf1; /* from the compute engine */
    VkDescriptorSet prepass_set, lighting_set, final_set;
};

struct passes {
    uint32_t seed;
    uint32_t vertices;
    struct sample_buffer uploads[PASSES_UPLOADS]; /* geometry, then lights */
    struct sample_buffer texels;                  /* of all textures */
    struct passes_version versions[PASSES_VERSIONS];

    struct sample_sets prepass_sets, lighting_sets, final_sets, post_sets;
    VkPipelineLayout prepass_layout, lighting_layout, final_layout, post_layout;
    VkPipeline prepass, lighting, final, post;
    VkSampler clamped, repeated;

    VkExtent2D extent;
    struct sample_image colour; /* the final draw's, before its edges are smoothed */
    VkImageView colour_view;
    VkDescriptorSet post_set;
};

/* `passes` must be zeroed. */
VkResult passes_create(struct passes *passes, const struct sample_device *device, uint32_t seed,
                       VkFormat target);
VkResult passes_resize(struct passes *passes, const struct sample_device *device,
                       VkExtent2D extent);
void passes_destroy(struct passes *passes, const struct sample_device *device);

/* The CPU's part: writes frame `frame` where the first of the copies below takes it from. */
void passes_upload(struct passes *passes, uint64_t frame);

/* Each records one engine's work of frame `frame`. */
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
