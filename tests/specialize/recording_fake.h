/* SPDX-License-Identifier: MIT */
/* A driver that writes down what is bound, and variants that say what they are for: what tests of
 * recording (runtime/specialize/recording.h) and submissions have below them. */
#ifndef BELFRY_TEST_RECORDING_FAKE_H
#define BELFRY_TEST_RECORDING_FAKE_H

#include "../support/std.h"

#include <volk.h>

#include "specialize/recording.h"
#include "specialize/submission.h"
#include "support/fake_entries.h"

/* A VkCommandBuffer. */
struct fake_buffer {
    VkPipeline bound[2];
    uint32_t binds;
    bool frozen; /* transform feedback is active: binding is an error */
};

/* The handle of a pipeline is its address. Where 'variant' is NULL it's a program's. */
struct fake_pipeline {
    struct fake_pipeline *next;
    struct bf_variant *variant;
    struct bf_pipeline *of;
    struct bf_histogram histogram; /* its */
    _Atomic bool destroyed;
};

/* Loads vk with the one function that recording calls. */
void fake_table(struct VolkDeviceTable *vk);

static inline struct fake_pipeline *fake_pipeline_of(VkPipeline handle)
{
    return (struct fake_pipeline *)(uintptr_t)handle;
}

static inline VkPipeline fake_pipeline_handle(struct fake_pipeline *pipeline)
{
    return (VkPipeline)(uintptr_t)pipeline;
}

static inline VkCommandBuffer fake_buffer_handle(struct fake_buffer *buffer)
{
    return (VkCommandBuffer)(uintptr_t)buffer;
}

/* A compute pipeline of the program's that lives, with so many words watched. */
void fake_pipeline_init(struct fake_pipeline *pipeline, struct bf_pipeline *record,
                        uint8_t watched);

/* Stands in for the pipelines': fake_lives says which there are. */
void fake_lives(struct bf_pipeline *pipeline);
void fake_gone(struct bf_pipeline *pipeline);
void fake_none(void);

/* Profiling is allowed; true at first. */
extern _Atomic bool fake_adapts;

/* The program binds, as the layer passes it on. */
void fake_bind(struct fake_buffer *buffer, VkPipelineBindPoint point, VkPipeline handle);

/* A variant of 'of' for these words; not published. Freed with fake_variant_free. */
struct bf_variant *fake_variant(struct bf_pipeline *of, uint8_t mask,
                                const uint32_t words[BF_WATCHED]);
void fake_variant_free(struct bf_variant *variant);

/* What recording may choose at the next use, by Vulkan's own rules and RC-1: a model that knows
 * every byte by itself. */
struct model {
    uint32_t id;
    int16_t bytes[BF_PUSH_BYTES]; /* -1: undefined */
};

void model_begin(struct model *model); /* and whatever else makes all undefined */
void model_push(struct model *model, uint32_t id, uint32_t offset, uint32_t size,
                const uint8_t *bytes);
bool model_allows(const struct model *model, const struct bf_pipeline *pipeline,
                  const struct bf_variant *variant);
/* Have all watched words of 'mask' values? */
bool model_has(const struct model *model, const struct bf_pipeline *pipeline, uint32_t mask);

/* Says what is wrong, and ends the process. */
__attribute__((format(printf, 1, 2), noreturn)) void fake_wrong(const char *format, ...);

extern _Atomic uint64_t fake_seed; /* of the program that runs, for messages */

#define REQUIRE(condition_, ...)                                                                   \
    do {                                                                                           \
        if (!(condition_))                                                                         \
            fake_wrong(__VA_ARGS__);                                                               \
    } while (0)

#endif
