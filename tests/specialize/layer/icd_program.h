/* SPDX-License-Identifier: MIT */
/* A program through the layer, on the test driver, whose pipelines are watched and built again: it
 * computes into an image, or draws into one, and writes a word of its own in each frame. */
#ifndef SPECIALIZE_ICD_PROGRAM_H
#define SPECIALIZE_ICD_PROGRAM_H

#include "support/fixture.h"
#include "support/cache.h"

#include <belfry/background.h>

struct program {
    struct fixture f;
    VkQueue queue;
    uint32_t family;
    VkImage image;
    VkImageView view;
    VkBuffer buffer; /* texels, and a block */
    VkBufferView texels;
    VkSampler sampler;
    VkDeviceMemory memory, buffer_memory;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout; /* of both */
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkFence fence;
    VkCommandPool pool;
    VkCommandBuffer commands;
    uint32_t frames;
    uint32_t
        groups; /* of a dispatch, along each of two axes; 0: those that reach all of the image */
    bool based; /* its pipelines may be dispatched from elsewhere than 0, and are, from */
    uint32_t base;
};

struct program_push {
    uint32_t mode, rounds, factor;
};

/* With extensions of the device, ended by NULL, or NULL. One at a time. */
struct program *program_open(const char *environment, const char *const *extensions);
/* What Belfry said at the end; there until the next program ends. */
const char *program_close(struct program *p);

/* One that computes, or draws; the name is the report's. */
VkResult program_make(struct program *p, bool draws, const char *name, VkPipeline *pipeline);
VkPipeline program_pipeline(struct program *p, bool draws, const char *name);
void program_destroy(struct program *p, VkPipeline pipeline);

/* A frame that uses it once; its word comes out right. */
void program_frame(struct program *p, bool draws, VkPipeline pipeline, struct program_push push);
/* The same, but for the submission: its result. */
void program_record(struct program *p, bool draws, VkPipeline pipeline, struct program_push push);
VkResult program_submit(struct program *p);

/* All that was seen is built, and over. */
void program_commit(struct program *p);

/* What is published stays so, and is picked wherever it may be: nothing is measured any more. */
void program_freeze(struct program *p);

/* The report's line of the pipeline of that name, without its end; NULL: there is none. It is
 * there until the next call. */
const char *program_line(const char *report, const char *name);

#endif
