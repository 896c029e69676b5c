/* SPDX-License-Identifier: MIT */
/* Checks on the test driver, which runs no shaders, of pipelines that use all there is. */
#include "check_drawing.h"
#include "support/infos.h"
#include "check_faults.h"

#include "shaders/check_images.comp.h"

#define IMAGE(binding_, type_, view_)                                                              \
    {                                                                                              \
        .binding = binding_, .type = VK_DESCRIPTOR_TYPE_##type_, .count = 1, .used = true,         \
        .written = true, .view = VK_IMAGE_VIEW_TYPE_##view_, .number = BF_TEXEL_SFLOAT             \
    }
#define BUFFER(binding_, type_)                                                                    \
    {                                                                                              \
        .binding = binding_, .type = VK_DESCRIPTOR_TYPE_##type_, .count = 1, .used = true,         \
        .written = true, .number = BF_TEXEL_SFLOAT                                                 \
    }

static const struct bf_check_binding bindings[FAULT_BINDINGS] = {
    IMAGE(0, COMBINED_IMAGE_SAMPLER, 2D),
    IMAGE(1, SAMPLED_IMAGE, CUBE),
    IMAGE(2, SAMPLER, 2D),
    IMAGE(3, STORAGE_IMAGE, 3D),
    BUFFER(4, UNIFORM_TEXEL_BUFFER),
    BUFFER(5, STORAGE_TEXEL_BUFFER),
    BUFFER(6, UNIFORM_BUFFER),
    BUFFER(7, STORAGE_BUFFER),
    BUFFER(8, STORAGE_BUFFER_DYNAMIC),
    IMAGE(9, INPUT_ATTACHMENT, 2D),
};

static const VkVertexInputBindingDescription vertex_binding = {0, 16, VK_VERTEX_INPUT_RATE_VERTEX};
static const VkVertexInputAttributeDescription attribute = {0, 0, VK_FORMAT_R32G32_SFLOAT, 0};

static void init_drawing(struct faulty *f)
{
    const VkFormat formats[2] = {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_D32_SFLOAT_S8_UINT};
    for (uint32_t i = 0; i < 2; i++)
        f->attachments[i] =
            (VkAttachmentDescription2){VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = formats[i],
                                       .samples = VK_SAMPLE_COUNT_4_BIT};
    f->color = drawing_color(0);
    f->depth = drawing_reference(1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL, 0);
    f->input = f->depth;
    f->subpass = drawing_subpass(1, &f->input, 1, &f->color, &f->depth);
    f->pass = drawing_pass(2, f->attachments, 1, &f->subpass, NULL);
    f->vertices = (VkPipelineVertexInputStateCreateInfo){
        VK_TYPE(PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO), .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &vertex_binding, .vertexAttributeDescriptionCount = 1,
        .pVertexAttributeDescriptions = &attribute};
}

/* The test driver looks at none of its state. */
static VkPipeline make_graphics(struct world *w, struct faulty *f)
{
    VkRenderPass pass;
    assert_success(vkCreateRenderPass2(w->f.device, &f->pass, NULL, &pass));
    const VkPipelineShaderStageCreateInfo stages[2] = {
        info_stage(VK_SHADER_STAGE_VERTEX_BIT, drawing_module(w, 0), NULL),
        info_stage(VK_SHADER_STAGE_FRAGMENT_BIT, drawing_module(w, 1), NULL),
    };
    f->graphics = (VkGraphicsPipelineCreateInfo){VK_TYPE(GRAPHICS_PIPELINE_CREATE_INFO),
                                                 .stageCount = 2,
                                                 .pStages = stages,
                                                 .pVertexInputState = &f->vertices,
                                                 .layout = w->s.layout.handle,
                                                 .renderPass = pass};
    VkPipeline *made = &w->pipelines[w->pipeline_count++];
    assert_success(
        vkCreateGraphicsPipelines(w->f.device, VK_NULL_HANDLE, 1, &f->graphics, NULL, made));
    for (uint32_t i = 0; i < 2; i++)
        vkDestroyShaderModule(w->f.device, stages[i].module, NULL);
    vkDestroyRenderPass(w->f.device, pass, NULL);
    f->graphics.pStages = NULL;
    f->graphics.stageCount = 0;
    return *made;
}

void faulty_init(struct world *w, struct faulty *f, bool draws)
{
    *f = (struct faulty){0};
    const struct bf_check_set set = {.binding_count = draws ? FAULT_BINDINGS : FAULT_BINDINGS - 1,
                                     .bindings = bindings};
    subject_init(w, 1, &set, 16);
    VkPipeline pipeline;
    if (draws) {
        init_drawing(f);
        pipeline = make_graphics(w, f);
        w->s.check.graphics = &f->graphics;
        w->s.check.pass = &f->pass;
    } else {
        pipeline = COMPUTE(w, check_images_comp, 0);
    }
    trial_init(w, pipeline);
    trial_add(w, pipeline);
}
