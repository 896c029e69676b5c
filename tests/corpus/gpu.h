/* SPDX-License-Identifier: MIT */
/* Draws one frame of one shader of the corpus on a Vulkan device, in one of its two forms, and says
 * what came out of it. It uses Vulkan alone, and can't tell whether a layer lies between.
 *
 * What a picture depends on is the shader, the form, the push constants and the size: what it reads
 * is made of integers, the same everywhere, and what it writes to is wiped beforehand.
 *
 * Functions complain on stderr (report.h) before they return an error. A struct corpus_gpu, and
 * what belongs to it, is used by one thread at a time. */
#ifndef BELFRY_TEST_CORPUS_GPU_H
#define BELFRY_TEST_CORPUS_GPU_H

#include "corpus.h"

#include "descriptors.h"
#include "device.h"
#include "memory.h"
#include "report.h"

enum corpus_form { CORPUS_COMPUTE, CORPUS_PASS, CORPUS_FORMS };
const char *corpus_form_name(enum corpus_form form);

struct corpus_gpu {
    struct sample_device device;
    VkExtent2D extent;
    struct sample_image sources[2];
    VkImageView source_views[2];
    VkSampler sampler;
    struct sample_image target; /* of image forms and passes */
    VkImageView target_view;
    struct sample_buffer
        pixels;                 /* of buffer forms; what is drawn into the target is copied there */
    struct sample_sets sets[3]; /* compute into an image, compute into a buffer, pass */
    VkDescriptorSet set_handles[3];
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkQueryPool stamps;
    double stamp_ns; /* of one tick; 0: the queue has no timestamps */
};

/* Finds a device ('name': a part of its name, or NULL) and makes what all frames share. Returns an
 * exit code (report.h). 'gpu' is to be closed whatever it returns. */
int corpus_gpu_open(struct corpus_gpu *gpu, const char *name, uint32_t width, uint32_t height);
void corpus_gpu_close(struct corpus_gpu *gpu);

struct corpus_pipeline {
    const struct corpus_shader *shader;
    enum corpus_form form;
    VkPipelineLayout layout;
    VkPipeline handle;
};

/* The corpus must stay open as long as the pipeline is there. */
VkResult corpus_pipeline_create(const struct corpus_gpu *gpu, struct corpus *corpus,
                                const struct corpus_shader *shader, enum corpus_form form,
                                struct corpus_pipeline *pipeline);
/* Zeroed ones too. */
void corpus_pipeline_destroy(const struct corpus_gpu *gpu, struct corpus_pipeline *pipeline);

/* Records the frame anew (bind, push, dispatch or draw, 'times' times over, at least once), submits
 * it and waits. Its pixels (RGBA floats, row by row, the upper one first) are then in
 * gpu->pixels.mapped, until the next frame. *ns (may be NULL: nothing is measured): the GPU's time
 * for all of it, by its timestamps; 0 where it has none. */
VkResult corpus_frame(struct corpus_gpu *gpu, const struct corpus_pipeline *pipeline,
                      const uint8_t push[CORPUS_PUSH_MOST], uint32_t times, double *ns);

/* FNV-1a of the last frame's bytes: pictures differ in a single bit if hashes differ. */
uint64_t corpus_frame_hash(const struct corpus_gpu *gpu);

#endif
