/* SPDX-License-Identifier: MIT */
/* Fragment shaders rebuilt through the layer, of draws to several samples, of such as read input
 * attachments, or are seen where depths are equal, and of pipelines that are linked from libraries:
 * they get variants, and the picture is the same. */
#include "support/fixture.h"
#include "support/infos.h"
#include "support/cache.h"
#include "support/capture.h"

#include <belfry/background.h>

#include "shaders/drawn.frag.h"
#include "shaders/full.vert.h"
#include "shaders/shown.frag.h"
#include "shaders/sloped.vert.h"

#define SIDE   48
#define FORMAT VK_FORMAT_R8G8B8A8_UNORM

struct push {
    uint32_t rounds, mode, factor;
};

struct image {
    VkImage handle;
    VkDeviceMemory memory;
    VkImageView view;
};

/* How the pipeline comes about: linked from a library for each part, with sets of their own or none
 * at all, or optimised when it is linked, with one layout. */
enum link { WHOLE, LINKED, OPTIMISED };

/* One render pass: a subpass that is cleared alone, and one that draws and, of several samples,
 * resolves; or draws depths first, and then to what has the same. */
struct program {
    struct fixture f;
    uint32_t family;
    VkSampleCountFlagBits samples;
    bool reads; /* the first subpass' attachment, in the second one */
    enum link link;
    bool equal; /* depths; one sample */
    struct image before, drawn, resolved, depths;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout, layout_of_vertices;
    VkPipeline libraries[4];
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkPipeline depths_first, pipeline;
    VkCommandBuffer commands;
};

/* ----------------------------------------------------------------------------------- Program -- */

static void make_image(struct program *p, VkSampleCountFlagBits samples, VkImageUsageFlags usage,
                       struct image *image)
{
    image->handle =
        vulkan_image(p->f.physical, p->f.device, FORMAT, SIDE, samples,
                     usage | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT, &image->memory, &image->view);
}

static void drop_image(struct program *p, struct image *image)
{
    vkDestroyImageView(p->f.device, image->view, NULL);
    vulkan_destroy(p->f.device, image->handle, image->memory);
}

static void make_pass(struct program *p)
{
    VkDevice device = p->f.device;
    const VkAttachmentDescription whole = {.format = FORMAT,
                                           .samples = VK_SAMPLE_COUNT_1_BIT,
                                           .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                           .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                           .finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    VkAttachmentDescription attachments[3] = {whole, whole, whole};
    attachments[1].samples = p->samples;
    if (p->equal) {
        attachments[2].format = VK_FORMAT_D32_SFLOAT;
        attachments[2].finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL;
    }
    const VkAttachmentReference first = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
                                input = {0, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
                                second = {1, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
                                resolve = {2, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL},
                                depth = {2, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpasses[] = {
        {.colorAttachmentCount = 1, .pColorAttachments = &first},
        {.inputAttachmentCount = p->reads,
         .pInputAttachments = &input,
         .colorAttachmentCount = 1,
         .pColorAttachments = &second,
         .pResolveAttachments = p->samples > 1 ? &resolve : NULL,
         .pDepthStencilAttachment = p->equal ? &depth : NULL},
    };
    const VkSubpassDependency dependencies[] = {
        {0, 1, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT,
         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_ACCESS_INPUT_ATTACHMENT_READ_BIT,
         VK_DEPENDENCY_BY_REGION_BIT},
        {1, VK_SUBPASS_EXTERNAL, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
         VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
         VK_ACCESS_TRANSFER_READ_BIT, 0},
    };
    const VkRenderPassCreateInfo pass =
        info_pass(p->samples > 1 || p->equal ? 3 : 2, attachments, 2, subpasses, 2, dependencies);
    assert_success(vkCreateRenderPass(device, &pass, NULL, &p->pass));
    const VkImageView views[] = {p->before.view, p->drawn.view,
                                 p->equal ? p->depths.view : p->resolved.view};
    const VkFramebufferCreateInfo framebuffer =
        info_framebuffer(p->pass, pass.attachmentCount, views, SIDE);
    assert_success(vkCreateFramebuffer(device, &framebuffer, NULL, &p->framebuffer));
}

/* The vertex shader's layout, or that of both. */
static VkPipelineLayout make_layout(struct program *p, bool vertices)
{
    const bool none = vertices || (p->link == LINKED && !p->reads);
    const VkDescriptorSetLayout sets[] = {none ? VK_NULL_HANDLE : p->set_layout};
    const VkPushConstantRange range = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(struct push)};
    const VkPipelineLayoutCreateInfo info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
        .flags = p->link == LINKED ? VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT : 0,
        .setLayoutCount = 1,
        .pSetLayouts = sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    assert_success(vkCreatePipelineLayout(p->f.device, &info, NULL, &layout));
    return layout;
}

static void make_sets(struct program *p)
{
    VkDevice device = p->f.device;
    const VkDescriptorType type = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
    p->set_layout = vulkan_set_layout(device, p->reads, &type, VK_SHADER_STAGE_FRAGMENT_BIT);
    p->layout = make_layout(p, false);
    if (p->link == LINKED)
        p->layout_of_vertices = make_layout(p, true);
    p->set = vulkan_set(device, p->set_layout, 1, &type, &p->descriptors);
    const VkDescriptorImageInfo bound = {.imageView = p->before.view,
                                         .imageLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write =
        info_write(p->set, 0, VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, &bound, NULL);
    vkUpdateDescriptorSets(device, p->reads, &write, 0, NULL);
}

static VkPipeline make_link(struct program *p, const struct info_link *l)
{
    VkPipeline pipeline;
    assert_success(
        vkCreateGraphicsPipelines(p->f.device, VK_NULL_HANDLE, 1, &l->info, NULL, &pipeline));
    return pipeline;
}

static void link_pipeline(struct program *p)
{
    const bool optimised = p->link == OPTIMISED;
    VkDevice device = p->f.device;
    struct info_graphics g;
    info_graphics(&g, SIDE, vulkan_module(device, full_vert, sizeof(full_vert)),
                  p->reads ? vulkan_module(device, shown_frag, sizeof(shown_frag))
                           : vulkan_module(device, drawn_frag, sizeof(drawn_frag)),
                  p->layout, p->pass, 1, NULL);
    g.samples.rasterizationSamples = p->samples;
    g.info.subpass = 1;
    struct info_link l;
    for (uint32_t i = 0; i < 4; i++) {
        info_link(
            &l, &g, 1u << i,
            VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
                (optimised ? VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT : 0),
            0, NULL);
        if (l.info.layout && i == 1 && !optimised)
            l.info.layout = p->layout_of_vertices;
        p->libraries[i] = make_link(p, &l);
    }
    info_link(&l, &g, 0, optimised ? VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT : 0, 4,
              p->libraries);
    p->pipeline = make_link(p, &l);
    for (int i = 0; i < 2; i++)
        vkDestroyShaderModule(device, g.stages[i].module, NULL);
}

/* One that lays depths down, and one that draws to what has the same. */
static void make_equal(struct program *p)
{
    VkDevice device = p->f.device;
    struct info_graphics g;
    info_graphics(&g, SIDE, vulkan_module(device, sloped_vert, sizeof(sloped_vert)),
                  vulkan_module(device, drawn_frag, sizeof(drawn_frag)), p->layout, p->pass, 1,
                  NULL);
    g.info.subpass = 1;
    g.info.pDepthStencilState = &g.depth;
    g.depth.depthTestEnable = VK_TRUE;
    g.depth.depthCompareOp = VK_COMPARE_OP_EQUAL;
    assert_success(
        vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &g.info, NULL, &p->pipeline));
    g.info.stageCount = 1;
    g.blends[0].colorWriteMask = 0;
    g.depth.depthWriteEnable = VK_TRUE;
    g.depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
    assert_success(
        vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &g.info, NULL, &p->depths_first));
    for (int i = 0; i < 2; i++)
        vkDestroyShaderModule(device, g.stages[i].module, NULL);
}

static void make_pipeline(struct program *p)
{
    if (p->equal) {
        make_equal(p);
        return;
    }
    if (p->link != WHOLE) {
        link_pipeline(p);
        return;
    }
    const struct vulkan_graphics what = {
        .layout = p->layout,
        .pass = p->pass,
        .subpass = 1,
        .side = SIDE,
        .samples = p->samples,
        .vertex = full_vert,
        .vertex_size = sizeof(full_vert),
        .fragment = p->reads ? shown_frag : drawn_frag,
        .fragment_size = p->reads ? sizeof(shown_frag) : sizeof(drawn_frag),
    };
    assert_success(vulkan_graphics(p->f.device, &what, &p->pipeline));
}

static void program_open(struct program *p, VkSampleCountFlagBits samples, bool reads,
                         enum link link, bool equal)
{
    static const char *const extensions[] = {VK_KHR_PIPELINE_LIBRARY_EXTENSION_NAME,
                                             VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME, NULL};
    static VkPhysicalDeviceGraphicsPipelineLibraryFeaturesEXT libraries = {
        VK_TYPE(PHYSICAL_DEVICE_GRAPHICS_PIPELINE_LIBRARY_FEATURES_EXT),
        .graphicsPipelineLibrary = VK_TRUE};
    struct fixture_options options = fixture_plain;
    if (link != WHOLE) {
        options.extensions = extensions;
        options.features = &libraries;
    }
    *p = (struct program){.samples = samples, .reads = reads, .link = link, .equal = equal};
    assert_int_equal(cache_setup(NULL), 0);
    fixture_open(&p->f, &options);
    p->family = fixture_family(&p->f, VK_QUEUE_GRAPHICS_BIT);
    make_image(p, 1, VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
               &p->before);
    make_image(p, samples, VK_IMAGE_USAGE_TRANSFER_SRC_BIT, &p->drawn);
    make_image(p, 1, VK_IMAGE_USAGE_TRANSFER_SRC_BIT, &p->resolved);
    p->depths.handle = vulkan_image(p->f.physical, p->f.device, VK_FORMAT_D32_SFLOAT, SIDE, 1,
                                    VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, &p->depths.memory,
                                    &p->depths.view);
    make_pass(p);
    make_sets(p);
    make_pipeline(p);
    p->commands =
        vulkan_commands(p->f.device, p->f.pools[p->family], VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

/* What Belfry said at the end; the caller frees it. */
static char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    vkDestroyPipeline(device, p->pipeline, NULL);
    vkDestroyPipeline(device, p->depths_first, NULL);
    vkDestroyDescriptorPool(device, p->descriptors, NULL);
    for (uint32_t i = 0; i < 4; i++)
        vkDestroyPipeline(device, p->libraries[i], NULL);
    vkDestroyPipelineLayout(device, p->layout, NULL);
    vkDestroyPipelineLayout(device, p->layout_of_vertices, NULL);
    vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
    vkDestroyFramebuffer(device, p->framebuffer, NULL);
    vkDestroyRenderPass(device, p->pass, NULL);
    drop_image(p, &p->before);
    drop_image(p, &p->drawn);
    drop_image(p, &p->resolved);
    drop_image(p, &p->depths);
    struct capture capture;
    capture_start(&capture);
    fixture_close(&p->f);
    char *report = capture_stop(&capture);
    fputs(report, stderr);
    assert_int_equal(cache_teardown(NULL), 0);
    return report;
}

/* -------------------------------------------------------------------------------------- Runs -- */

/* Draws, waits, and has the picture in the fixture's words. */
static void frame(struct program *p, const struct push *push)
{
    const VkCommandBufferBeginInfo begin = info_begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const VkClearValue clears[3] = {{.color.float32 = {0, 1, 0, 0}}};
    const VkRenderPassBeginInfo pass = info_pass_begin(p->pass, p->framebuffer, SIDE, 3, clears);
    assert_success(vkResetCommandPool(p->f.device, p->f.pools[p->family], 0));
    assert_success(vkBeginCommandBuffer(p->commands, &begin));
    vkCmdBeginRenderPass(p->commands, &pass, VK_SUBPASS_CONTENTS_INLINE);
    vkCmdNextSubpass(p->commands, VK_SUBPASS_CONTENTS_INLINE);
    if (p->equal) {
        vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->depths_first);
        vkCmdDraw(p->commands, 3, 1, 0, 0);
    }
    vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->pipeline);
    if (p->reads)
        vkCmdBindDescriptorSets(p->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, p->layout, 0, 1,
                                &p->set, 0, NULL);
    vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof(*push),
                       push);
    vkCmdDraw(p->commands, 3, 1, 0, 0);
    vkCmdEndRenderPass(p->commands);
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(p->commands, p->samples > 1 ? p->resolved.handle : p->drawn.handle,
                           VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, p->f.buffer, 1, &region);
    assert_success(vkEndCommandBuffer(p->commands));
    const VkSubmitInfo submit = info_submit(&p->commands);
    memset(p->f.words, 0, SIDE * SIDE * 4);
    assert_success(vkQueueSubmit(p->f.queues[p->family][0], 1, &submit, VK_NULL_HANDLE));
    assert_success(vkQueueWaitIdle(p->f.queues[p->family][0]));
    for (uint32_t y = 0; y < SIDE; y++) {
        for (uint32_t x = 0; x < SIDE; x++) {
            uint32_t v = x * 31 + y;
            for (uint32_t r = 0; r < push->rounds; r++)
                v = push->mode == 0 ? v * push->factor + r : v ^ v << push->factor;
            v = x < SIDE / 4 ? 0 : v;
            assert_int_equal(p->f.words[y * SIDE + x], v | 0xff000000);
        }
    }
}

/* It is drawn, a variant is built, and drawn with. */
static void expect_variant(VkSampleCountFlagBits samples, bool reads, enum link link, bool equal)
{
    const struct push hot = {6, 0, 5}, other = {6, 1, 5};
    struct program p;
    program_open(&p, samples, reads, link, equal);
    await_background(p.f.bf);
    frame(&p, &hot);
    BfEvent event = make_event(&p.f);
    assert_success(bfSetBackgroundProcessingMode(
        p.f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    await_event(event);
    for (int i = 0; i < 4; i++)
        frame(&p, &hot);
    frame(&p, &other);
    char *report = program_close(&p);
    const char *line = strstr(report, " unjudged ");
    assert_non_null(line);
    const char *picked = strstr(line, "picked=");
    assert_non_null(picked);
    assert_int_equal(strtoul(picked + 7, NULL, 10), 4);
    free(report);
}

TEST(draws_to_several_samples_get_variants)
{
    expect_variant(VK_SAMPLE_COUNT_4_BIT, false, WHOLE, false);
}

TEST(draws_that_read_input_attachments_get_variants)
{
    expect_variant(VK_SAMPLE_COUNT_1_BIT, true, WHOLE, false);
}

/* Of the general pipeline's vertex stage, alone, and of the variant's. [PO-1] */
TEST(depths_that_were_laid_down_are_equal)
{
    expect_variant(VK_SAMPLE_COUNT_1_BIT, false, WHOLE, true);
}

TEST(draws_that_do_both_get_variants)
{
    expect_variant(VK_SAMPLE_COUNT_4_BIT, true, WHOLE, false);
}

/* (Khronos' validation takes the link's own pass for that of the fragment shader, which reads an
 * input attachment.) */
TEST(what_is_linked_gets_variants)
{
    static const struct {
        VkSampleCountFlagBits samples;
        bool reads;
        enum link link;
    } cases[] = {
        {VK_SAMPLE_COUNT_1_BIT, false, LINKED},
        {VK_SAMPLE_COUNT_4_BIT, true, LINKED},
        {VK_SAMPLE_COUNT_1_BIT, false, OPTIMISED},
    };
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!cases[i].reads || !fixture_is_validated())
            expect_variant(cases[i].samples, cases[i].reads, cases[i].link, false);
    }
}
