/* SPDX-License-Identifier: MIT */
/* Graphics pipelines for the tests of the check: described once, and made in several forms. */
#ifndef BELFRY_TEST_SPECIALIZE_CHECK_DRAWING_H
#define BELFRY_TEST_SPECIALIZE_CHECK_DRAWING_H

#include "check_world.h"
#include "support/infos.h"

struct drawing {
    struct world *w;
    struct info_graphics g;
    VkRenderPassCreateInfo2 pass;
    VkRenderPass pass_handle;
    const uint32_t *words[2];
    size_t sizes[2];
};

/* What check_shade.frag reads. */
extern const struct bf_check_set drawing_shade_set;

/* A world, and in it a full-screen draw with check_cover.vert and check_shade.frag; fields may be
 * changed before it is made. One at a time. */
struct drawing *drawing_open(const struct bf_check_set *set, uint32_t color_count,
                             const VkFormat *colors, VkFormat depth);
void drawing_close(struct drawing *d);
/* A test with one: the arguments are drawing_open's. */
#define DRAWING_TEST(name_, ...)                                                                   \
    static void name_##_on(struct drawing *d);                                                     \
    TEST(name_)                                                                                    \
    {                                                                                              \
        struct drawing *drawing = drawing_open(__VA_ARGS__);                                       \
        name_##_on(drawing);                                                                       \
        drawing_close(drawing);                                                                    \
    }                                                                                              \
    static void name_##_on(struct drawing *d)
/* Says so if the driver has no such depth buffers: X8_D24 is optional in Vulkan. */
bool drawing_has_depth(const struct drawing *d, VkFormat format);
/* 0: the vertex shader, 1: the fragment shader. */
#define DRAWING_SHADER(d_, stage_, shader_)                                                        \
    ((d_)->words[stage_] = shader_, (d_)->sizes[stage_] = sizeof(shader_))
/* The two that it has at first. */
VkShaderModule drawing_module(struct world *w, uint32_t stage);
/* With this render pass instead. */
void drawing_use_pass(struct drawing *d, const VkRenderPassCreateInfo2 *pass);
/* The pipeline whose fragment shader's CASE is 'which'. */
VkPipeline drawing_make(struct drawing *d, int32_t which);

/* The trial, with form 0 of the fragment shader as the general pipeline, and those forms of 0, 1...
 * that are not '.' in 'letters'; returns the letters without these. */
const char *drawing_trial(struct drawing *d, const char *letters);
/* The same, and what expect_forms says of them. */
void expect_drawing(struct drawing *d, const char *letters);

/* Parts of render passes: references (drawn to as a color, read as an input), an attachment that is
 * cleared, a subpass and a pass of them (dependency NULL: none). */
VkAttachmentReference2 drawing_reference(uint32_t n, VkImageLayout layout,
                                         VkImageAspectFlags aspects);
VkAttachmentReference2 drawing_color(uint32_t n);
VkAttachmentReference2 drawing_input(uint32_t n);
VkAttachmentDescription2 drawing_attachment(VkFormat format, VkSampleCountFlagBits samples);
VkSubpassDescription2 drawing_subpass(uint32_t input_count, const VkAttachmentReference2 *inputs,
                                      uint32_t color_count, const VkAttachmentReference2 *colors,
                                      const VkAttachmentReference2 *depth);
VkRenderPassCreateInfo2 drawing_pass(uint32_t attachment_count,
                                     const VkAttachmentDescription2 *attachments,
                                     uint32_t subpass_count, const VkSubpassDescription2 *subpasses,
                                     const VkSubpassDependency2 *dependency);

#endif
