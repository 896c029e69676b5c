/* SPDX-License-Identifier: MIT */
/* A fragment shader that computes with where its fragments lie: its variant, of which a small
 * picture says that it is the same, is for no larger one before that has been compared, too.
 * [RC-8, CK-17] */
#include "support/fixture.h"
#include "support/infos.h"
#include "support/cache.h"
#include "support/capture.h"

#include <belfry/background.h>

#include "shaders/full.vert.h"
#include "shaders/place.frag.h"

#define SIDE   1024
#define SMALL  64
#define FORMAT VK_FORMAT_R32_SFLOAT

struct push {
    float factor;
    uint32_t other;
};

struct program {
    struct fixture f;
    uint32_t family;
    VkImage image;
    VkDeviceMemory memory, words_memory;
    VkImageView view;
    VkRenderPass pass;
    VkFramebuffer framebuffers[2]; /* a small one, and one of the whole */
    VkPipelineLayout layout;
    VkPipeline pipeline, plain; /* the same, and nothing is ever built for the latter */
    VkCommandBuffer commands;
    VkBuffer buffer;
    uint32_t *words;
    uint32_t expected[SIDE];
};

static void make_pass(struct program *p)
{
    const VkAttachmentDescription attachment = {.format = FORMAT,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                                .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                                .finalLayout =
                                                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentReference color = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &color};
    const VkSubpassDependency dependency = {0,
                                            VK_SUBPASS_EXTERNAL,
                                            VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                            VK_PIPELINE_STAGE_TRANSFER_BIT,
                                            VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                            VK_ACCESS_TRANSFER_READ_BIT,
                                            0};
    const VkRenderPassCreateInfo pass = info_pass(1, &attachment, 1, &subpass, 1, &dependency);
    assert_success(vkCreateRenderPass(p->f.device, &pass, NULL, &p->pass));
}

static VkFramebuffer make_framebuffer(struct program *p, uint32_t side)
{
    const VkFramebufferCreateInfo info = info_framebuffer(p->pass, 1, &p->view, side);
    VkFramebuffer framebuffer;
    assert_success(vkCreateFramebuffer(p->f.device, &info, NULL, &framebuffer));
    return framebuffer;
}

static VkPipeline make_pipeline(struct program *p)
{
    static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkDevice device = p->f.device;
    struct info_graphics g;
    VkPipeline pipeline;
    info_graphics(&g, SIDE, vulkan_module(device, full_vert, sizeof(full_vert)),
                  vulkan_module(device, place_frag, sizeof(place_frag)), p->layout, p->pass, 1,
                  NULL);
    g.dynamic.dynamicStateCount = 2;
    g.dynamic.pDynamicStates = states;
    g.info.pDynamicState = &g.dynamic;
    assert_success(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &g.info, NULL, &pipeline));
    for (int i = 0; i < 2; i++)
        vkDestroyShaderModule(device, g.stages[i].module, NULL);
    return pipeline;
}

static void program_open(struct program *p)
{
    *p = (struct program){0};
    fixture_open(&p->f, &fixture_plain);
    VkDevice device = p->f.device;
    p->family = fixture_family(&p->f, VK_QUEUE_GRAPHICS_BIT);
    p->image = vulkan_image(p->f.physical, device, FORMAT, SIDE, VK_SAMPLE_COUNT_1_BIT,
                            VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                            &p->memory, &p->view);
    p->buffer = vulkan_buffer_of(p->f.physical, device, SIDE * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                 &p->words_memory, (void **)&p->words);
    make_pass(p);
    p->framebuffers[0] = make_framebuffer(p, SMALL);
    const VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(struct push)};
    const VkPipelineLayoutCreateInfo info = {VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    assert_success(vkCreatePipelineLayout(device, &info, NULL, &p->layout));
    p->pipeline = make_pipeline(p);
    p->commands = vulkan_commands(device, p->f.pools[p->family], VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    await_background(p->f.bf);
}

/* What Belfry said at the end; the caller frees it. */
static char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    vkDestroyPipeline(device, p->pipeline, NULL);
    vkDestroyPipeline(device, p->plain, NULL);
    vkDestroyPipelineLayout(device, p->layout, NULL);
    for (int i = 0; i < 2; i++)
        vkDestroyFramebuffer(device, p->framebuffers[i], NULL);
    vkDestroyRenderPass(device, p->pass, NULL);
    vkDestroyImageView(device, p->view, NULL);
    vulkan_destroy(device, p->image, p->memory, p->buffer, p->words_memory);
    struct capture capture;
    capture_start(&capture);
    fixture_close(&p->f);
    char *report = capture_stop(&capture);
    fputs(report, stderr);
    return report;
}

/* Draws to that framebuffer; the first row is in 'words'. */
static void frame(struct program *p, VkPipeline pipeline, uint32_t large)
{
    static const struct push push = {509.0f, 1};
    const uint32_t side = large ? SIDE : SMALL;
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const VkClearValue clear = {.color.float32 = {1}};
    const VkRenderPassBeginInfo pass =
        info_pass_begin(p->pass, p->framebuffers[large], side, 1, &clear);
    const VkViewport viewport = {0, 0, (float)side, (float)side, 0, 1};
    assert_success(vkResetCommandPool(p->f.device, p->f.pools[p->family], 0));
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    vkCmdBeginRenderPass(p->commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdSetViewport(p->commands, 0, 1, &viewport);
    vkCmdSetScissor(p->commands, 0, 1, &pass.renderArea);
    vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(push),
                       &push);
    vkCmdDraw(p->commands, 3, 1, 0, 0);
    vkCmdEndRenderPass(p->commands);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {side, 1, 1}};
    vkCmdCopyImageToBuffer(p->commands, p->image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, p->buffer,
                           1, &region);
    assert_success(vkEndCommandBuffer(p->commands));
    const VkSubmitInfo submit = info_submit(&p->commands);
    memset(p->words, 0, SIDE * 4);
    assert_success(vkQueueSubmit(p->f.queues[p->family][0], 1, &submit, VK_NULL_HANDLE));
    assert_success(vkQueueWaitIdle(p->f.queues[p->family][0]));
}

static void expect_frame(struct program *p, uint32_t large)
{
    frame(p, p->pipeline, large);
    assert_memory_equal(p->words, p->expected, large ? SIDE * 4 : SMALL * 4);
}

static void mode_set(struct program *p, BfBackgroundProcessingMode mode, bool commits)
{
    BfEvent event = commits ? make_event(&p->f) : (BfEvent){0};
    assert_success(
        bfSetBackgroundProcessingMode(p->f.bf, mode,
                                      commits ? BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY
                                              : BF_MEASUREMENTS_ACTION_KEEP_ALL,
                                      event, NULL));
    if (commits)
        await_event(event);
}

/* Small pictures and large ones, in a freeze that a variant comes with which was compared on small
 * ones. */
static void both_draw(struct program *p)
{
    program_open(p);
    frame(p, p->pipeline, 0);
    mode_set(p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM, true);
    p->framebuffers[1] = make_framebuffer(p, SIDE);
    p->plain = make_pipeline(p);
    frame(p, p->plain, 1);
    memcpy(p->expected, p->words, sizeof(p->expected));
    for (int i = 0; i < 4; i++) {
        expect_frame(p, 0);
        expect_frame(p, 1);
    }
}

static void expect_picked(struct program *p, unsigned long count)
{
    char *report = program_close(p);
    const char *line = strstr(report, " unjudged ");
    assert_non_null(line);
    const char *picked = strstr(line, "picked=");
    assert_non_null(picked);
    assert_int_equal(strtoul(picked + 7, NULL, 10), count);
    free(report);
}

TEST_WITH(a_variant_is_for_no_larger_picture_than_was_compared, cache_setup, cache_teardown)
{
    static struct program p;
    both_draw(&p);
    expect_picked(&p, 4);
    both_draw(&p);
    /* What is larger is seen outside of the freeze. */
    mode_set(&p, BF_BACKGROUND_PROCESSING_MODE_ALLOWED, false);
    expect_frame(&p, 1);
    mode_set(&p, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM, true);
    for (int i = 0; i < 3; i++)
        expect_frame(&p, 1);
    expect_picked(&p, 3);
}
