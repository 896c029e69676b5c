/* SPDX-License-Identifier: MIT */
/*
 * Small compute shaders on one side of a twin: what a specialiser should make of them is known.
 */
#ifndef BENCH_CONTROL_H
#define BENCH_CONTROL_H

#include "twin.h"

#define CONTROL_PUSH_WORDS 3

/* Push constants of a dispatch. */
struct control_push {
    uint32_t words[CONTROL_PUSH_WORDS];
};

enum control_shader {
    CONTROL_STEER,  /* words: kind, rounds, salt */
    CONTROL_STREAM, /* the first word: a mask, for uvec4s */
};

struct control {
    struct sample_buffer buffer;
    struct sample_sets sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    uint32_t groups; /* of 64 invocations, in a dispatch */
};

/* `control` must be zeroed; destroy it in any case. The buffer has `bytes`. */
VkResult control_create(struct control *control, const struct corpus_gpu *gpu,
                        enum control_shader shader, const char *name, uint32_t groups,
                        VkDeviceSize bytes);
void control_destroy(struct control *control, const struct corpus_gpu *gpu);

/* Records `count` dispatches anew, submits them and waits. */
VkResult control_frame(const struct control *control, struct corpus_gpu *gpu,
                       const struct control_push *pushes, uint32_t count, double *ns);

#endif
