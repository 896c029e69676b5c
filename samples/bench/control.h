/* SPDX-License-Identifier: MIT */
/*
 * Small compute shaders on one side of a twin, for which it is known what a specialiser should do.
 */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include "twin.h"

#define CONTROL_PUSH_WORDS 3

/* The push constants of a dispatch. */
struct control_push {
    uint32_t words[CONTROL_PUSH_WORDS];
};

enum control_shader {
    CONTROL_STEER,  /* push constants: kind, rounds, salt */
    CONTROL_STREAM, /* the first push constant is a mask; the buffer has uvec4s */
};

struct control {
    struct sample_buffer buffer;
    struct sample_sets sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    uint32_t groups; /* workgroups of a dispatch, of 64 invocations each */
};

/* `control` must be zeroed, and be destroyed in any case. The buffer has `bytes` bytes. */
VkResult control_create(struct control *control, const struct corpus_gpu *gpu,
                        enum control_shader shader, const char *name, uint32_t groups,
                        VkDeviceSize bytes);
void control_destroy(struct control *control, const struct corpus_gpu *gpu);

/* Records `count` dispatches, submits them and waits for them. */
VkResult control_frame(const struct control *control, struct corpus_gpu *gpu,
                       const struct control_push *pushes, uint32_t count, double *ns);

#endif
