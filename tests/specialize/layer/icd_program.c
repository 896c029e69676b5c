/* SPDX-License-Identifier: MIT */
/* A program through the layer whose pipelines are watched and built again. */
#include "icd_program.h"
#include "support/infos.h"

#include "support/capture.h"

#include "shaders/full.vert.h"
#include "shaders/paint.frag.h"
#include "shaders/store.comp.h"

#define SIZE 16

/* ----------------------------------------------------------------------------------- Opening -- */

static void make_image(struct program *p)
{
    p->image =
        vulkan_image(p->f.physical, p->f.device, VK_FORMAT_R32_UINT, SIZE, VK_SAMPLE_COUNT_1_BIT,
                     VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                         VK_IMAGE_USAGE_SAMPLED_BIT,
                     &p->memory, &p->view);
}

static void make_buffer(struct program *p)
{
    VkDevice device = p->f.device;
    p->buffer = vulkan_buffer_of(p->f.physical, device, 1024,
                                 VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                                     VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                                 &p->buffer_memory, NULL);
    const VkBufferViewCreateInfo texels = {VK_TYPE(BUFFER_VIEW_CREATE_INFO), .buffer = p->buffer,
                                           .format = VK_FORMAT_R32_UINT, .range = 512};
    assert_success(vkCreateBufferView(device, &texels, NULL, &p->texels));
    const VkSamplerCreateInfo sampler = {VK_TYPE(SAMPLER_CREATE_INFO)};
    assert_success(vkCreateSampler(device, &sampler, NULL, &p->sampler));
}

#define BINDINGS 4
static const VkDescriptorType types[BINDINGS] = {
    VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
    VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER};

static void make_set(struct program *p)
{
    VkDevice device = p->f.device;
    p->set_layout = vulkan_set_layout(device, BINDINGS, types, VK_SHADER_STAGE_COMPUTE_BIT);
    p->layout = vulkan_layout(device, p->set_layout,
                              VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                              sizeof(struct program_push));
    p->set = vulkan_set(device, p->set_layout, BINDINGS, types, &p->descriptors);
    const VkDescriptorImageInfo image = {p->sampler, p->view, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo block = {p->buffer, 512, 256};
    VkWriteDescriptorSet writes[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){
            VK_TYPE(WRITE_DESCRIPTOR_SET),  .dstSet = p->set,           .dstBinding = i,
            .descriptorCount = 1,           .descriptorType = types[i], .pImageInfo = &image,
            .pTexelBufferView = &p->texels, .pBufferInfo = &block};
    vkUpdateDescriptorSets(device, BINDINGS, writes, 0, NULL);
}

static void make_pass(struct program *p)
{
    const VkAttachmentDescription color = {.format = VK_FORMAT_R32_UINT,
                                           .samples = VK_SAMPLE_COUNT_1_BIT,
                                           .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                           .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                           .finalLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo pass = info_pass(1, &color, 1, &subpass, 0, NULL);
    assert_success(vkCreateRenderPass(p->f.device, &pass, NULL, &p->pass));
    const VkFramebufferCreateInfo framebuffer = info_framebuffer(p->pass, 1, &p->view, SIZE);
    assert_success(vkCreateFramebuffer(p->f.device, &framebuffer, NULL, &p->framebuffer));
}

struct program *program_open(const char *environment, const char *const *extensions)
{
    static struct program program;
    struct program *p = &program;
    const struct fixture_options options = {
        .environment = environment, .extensions = extensions, .family = UINT32_MAX};
    *p = (struct program){0};
    setenv("BELFRY_ICD_TELLS", "1", 1); /* dry runs run there */
    fixture_open(&p->f, &options);
    assert_true(p->f.layered && p->f.icd.library);
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    while ((p->f.families[p->family].queueFlags & wanted) != wanted)
        assert_true(++p->family < p->f.family_count);
    p->queue = p->f.queues[p->family][0];
    make_image(p);
    make_buffer(p);
    make_set(p);
    make_pass(p);
    p->fence = vulkan_fence(p->f.device, false);
    p->pool = vulkan_pool(p->f.device, p->family);
    p->commands = vulkan_commands(p->f.device, p->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    return p;
}

const char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    if (!p->f.lost)
        assert_success(vkDeviceWaitIdle(device));
    else
        p->f.icd.quiesce();
    vulkan_destroy(device, p->pool, p->fence);
    vkDestroyFramebuffer(device, p->framebuffer, NULL);
    vkDestroyRenderPass(device, p->pass, NULL);
    vkDestroyDescriptorPool(device, p->descriptors, NULL);
    vkDestroyPipelineLayout(device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
    vkDestroySampler(device, p->sampler, NULL);
    vkDestroyBufferView(device, p->texels, NULL);
    vulkan_destroy(device, p->buffer, p->buffer_memory);
    vkDestroyImageView(device, p->view, NULL);
    vulkan_destroy(device, p->image, p->memory);
    static char *report;
    struct capture capture;
    capture_start(&capture);
    fixture_close(&p->f);
    free(report);
    return report = capture_stop(&capture);
}

/* --------------------------------------------------------------------------------- Pipelines -- */

static VkResult make_graphics(struct program *p, VkPipeline *pipeline)
{
    const struct vulkan_graphics what = {.layout = p->layout,
                                         .pass = p->pass,
                                         .side = SIZE,
                                         .vertex = full_vert,
                                         .vertex_size = sizeof(full_vert),
                                         .fragment = paint_frag,
                                         .fragment_size = sizeof(paint_frag)};
    return vulkan_graphics(p->f.device, &what, pipeline);
}

static VkResult make_compute(struct program *p, VkPipeline *pipeline)
{
    VkComputePipelineCreateInfo info =
        info_compute(vulkan_module(p->f.device, store_comp, sizeof(store_comp)), p->layout, NULL);
    if (p->based)
        info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
    VkResult result =
        vkCreateComputePipelines(p->f.device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    vkDestroyShaderModule(p->f.device, info.stage.module, NULL);
    return result;
}

VkResult program_make(struct program *p, bool draws, const char *name, VkPipeline *pipeline)
{
    VkResult result = draws ? make_graphics(p, pipeline) : make_compute(p, pipeline);
    if (result != VK_SUCCESS)
        return result;
    const VkDebugUtilsObjectNameInfoEXT named = {
        VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_PIPELINE,
        .objectHandle = (uint64_t)*pipeline, .pObjectName = name};
    assert_success(vkSetDebugUtilsObjectNameEXT(p->f.device, &named));
    return result;
}

VkPipeline program_pipeline(struct program *p, bool draws, const char *name)
{
    VkPipeline pipeline;
    assert_success(program_make(p, draws, name, &pipeline));
    await_background(p->f.bf);
    return pipeline;
}

void program_destroy(struct program *p, VkPipeline pipeline)
{
    /* What recorded it, or a variant of it, is gone with it. */
    assert_success(vkResetCommandBuffer(p->commands, 0));
    vkDestroyPipeline(p->f.device, pipeline, NULL);
}

/* ------------------------------------------------------------------------------------ Frames -- */

void program_record(struct program *p, bool draws, VkPipeline pipeline, struct program_push push)
{
    VkCommandBuffer c = p->commands;
    const VkPipelineBindPoint point =
        draws ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    assert_success(vkBeginCommandBuffer(c, &begin));
    put_word(&p->f, c, 0, ++p->frames);
    vkCmdBindPipeline(c, point, pipeline);
    vkCmdBindDescriptorSets(c, point, p->layout, 0, 1, &p->set, 0, NULL);
    vkCmdPushConstants(c, p->layout, VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof(push), &push);
    if (draws) {
        const VkClearValue clear = {0};
        const VkRenderPassBeginInfo pass =
            info_pass_begin(p->pass, p->framebuffer, SIZE, 1, &clear);
        vkCmdBeginRenderPass(c, &pass, VK_SUBPASS_CONTENTS_INLINE);
        vkCmdDraw(c, 3, 1, 0, 0);
        vkCmdEndRenderPass(c);
    } else {
        const uint32_t groups = p->groups ? p->groups : SIZE / 8;
        if (p->based)
            vkCmdDispatchBase(c, p->base, 0, 0, groups, groups, 1);
        else
            vkCmdDispatch(c, groups, groups, 1);
    }
    assert_success(vkEndCommandBuffer(c));
}

VkResult program_submit(struct program *p)
{
    const VkSubmitInfo submit = info_submit(&p->commands);
    return vkQueueSubmit(p->queue, 1, &submit, p->fence);
}

void program_frame(struct program *p, bool draws, VkPipeline pipeline, struct program_push push)
{
    program_record(p, draws, pipeline, push);
    assert_success(program_submit(p));
    assert_success(vkWaitForFences(p->f.device, 1, &p->fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(p->f.device, 1, &p->fence));
    assert_int_equal(read_word(&p->f, 0), p->frames);
}

void program_commit(struct program *p)
{
    BfEvent event = make_event(&p->f);
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    await_event(event);
    drop_event(&p->f, event);
}

void program_freeze(struct program *p)
{
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
}

const char *program_line(const char *report, const char *name)
{
    static char *line;
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "belfry: specialize: %s ", name);
    const char *at = strstr(report, wanted);
    free(line);
    return line = at ? strndup(at, strcspn(at, "\n")) : NULL;
}
