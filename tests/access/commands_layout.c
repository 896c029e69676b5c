/* SPDX-License-Identifier: MIT */
/* Render passes, barriers and the layouts that images are in. */
#include "commands.h"

/* ------------------------------------------------------------------------------- Render passes */

static VkAttachmentLoadOp pass_load;
static VkImageLayout pass_initial, pass_final, pass_layout;
static VkImageView pass_view;
static bool pass_imageless, pass_as_input, pass_as_depth, pass_unused;

static VkRenderPass make_pass(bool newer)
{
    VkRenderPass pass;
    VkFormat format = pass_as_depth ? VK_FORMAT_D24_UNORM_S8_UINT : VK_FORMAT_R8G8B8A8_UNORM;
    uint32_t colors = !pass_as_input && !pass_as_depth && !pass_unused;
    if (newer) {
        const VkAttachmentDescription2 attachment = {.format = format,
                                                     .loadOp = pass_load,
                                                     .stencilLoadOp = pass_load,
                                                     .initialLayout = pass_initial,
                                                     .finalLayout = pass_final};
        const VkAttachmentReference2 reference = {.attachment = 0, .layout = pass_layout};
        const VkSubpassDescription2 subpass = {.inputAttachmentCount = pass_as_input,
                                               .pInputAttachments = &reference,
                                               .colorAttachmentCount = colors,
                                               .pColorAttachments = &reference,
                                               .pDepthStencilAttachment =
                                                   pass_as_depth ? &reference : NULL};
        const VkRenderPassCreateInfo2 info = {.attachmentCount = 1,
                                              .pAttachments = &attachment,
                                              .subpassCount = 1,
                                              .pSubpasses = &subpass};
        assert_success(CALL2(vkCreateRenderPass2)(fake.device, &info, NULL, &pass));
    } else {
        const VkAttachmentDescription attachment = {.format = format,
                                                    .loadOp = pass_load,
                                                    .stencilLoadOp = pass_load,
                                                    .initialLayout = pass_initial,
                                                    .finalLayout = pass_final};
        const VkAttachmentReference reference = {.attachment = 0, .layout = pass_layout};
        const VkSubpassDescription subpass = {.inputAttachmentCount = pass_as_input,
                                              .pInputAttachments = &reference,
                                              .colorAttachmentCount = colors,
                                              .pColorAttachments = &reference,
                                              .pDepthStencilAttachment =
                                                  pass_as_depth ? &reference : NULL};
        const VkRenderPassCreateInfo info = {.attachmentCount = 1,
                                             .pAttachments = &attachment,
                                             .subpassCount = 1,
                                             .pSubpasses = &subpass};
        assert_success(FAKE_CALL(vkCreateRenderPass, fake.device, &info, NULL, &pass));
    }
    return pass;
}

static void begin_pass(VkCommandBuffer buffer, bool newer)
{
    uint32_t image = pass_as_depth ? DEPTH_STENCIL : PLAIN;
    pass_view = make_view(image, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D);
    const VkFramebufferCreateInfo info = {
        .flags = pass_imageless ? VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT : 0,
        .attachmentCount = 1,
        .pAttachments = pass_imageless ? NULL : &pass_view};
    const VkRenderPassAttachmentBeginInfo late = {VK_TYPE(RENDER_PASS_ATTACHMENT_BEGIN_INFO),
                                                  .attachmentCount = 1, .pAttachments = &pass_view};
    VkRenderPassBeginInfo begin_info = {.pNext = pass_imageless ? &late : NULL,
                                        .renderPass = make_pass(newer),
                                        .renderArea = {{8, 8}, {16, 16}}};
    assert_success(
        FAKE_CALL(vkCreateFramebuffer, fake.device, &info, NULL, &begin_info.framebuffer));
    if (newer)
        CALL2(vkCmdBeginRenderPass2)(buffer, &begin_info, NULL);
    else
        FAKE_CALL(vkCmdBeginRenderPass, buffer, &begin_info, VK_SUBPASS_CONTENTS_INLINE);
    FAKE_CALL(vkDestroyFramebuffer, fake.device, begin_info.framebuffer, NULL);
    FAKE_CALL(vkDestroyRenderPass, fake.device, begin_info.renderPass, NULL);
    FAKE_CALL(vkDestroyImageView, fake.device, pass_view, NULL);
}

RECORDER(pass1, begin_pass(buffer, false))
RECORDER(pass2, begin_pass(buffer, true))

static void set_pass(VkAttachmentLoadOp load, VkImageLayout layout)
{
    pass_load = load;
    pass_initial = pass_final = pass_layout = layout;
    pass_imageless = pass_as_input = pass_as_depth = pass_unused = false;
}

static void read_layer_1(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {
        .imageSubresource = {COLOR, 0, 1, 1}, .imageOffset = {23, 23, 0}, .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}

static void read_layer_1_outside(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {
        .imageSubresource = {COLOR, 0, 1, 1}, .imageOffset = {24, 8, 0}, .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}

TEST(test_render_passes)
{
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    const char *const part = "mip level 0, layer 1, texels (8, 8) to (23, 23)";
    char writes[128], reads[128];
    snprintf(writes, sizeof(writes), "writes %s", part);
    snprintf(reads, sizeof(reads), "reads %s", part);
    const record_fn passes[] = {pass1, pass2};
    for (int i = 0; i < 2; i++) {
        set_pass(VK_ATTACHMENT_LOAD_OP_CLEAR, general);
        EXPECT(read_layer_1, passes[i], writes);
        EXPECT(read_layer_1_outside, passes[i], NULL);
        pass_imageless = true;
        EXPECT(read_layer_1, passes[i], writes);
        set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, general);
        EXPECT(read_layer_1, passes[i], writes);
        pass_as_input = true;
        EXPECT(read_layer_1, passes[i], NULL);
        EXPECT(clearing(PLAIN, COLOR, 0, 1), passes[i], reads);
        set_pass(VK_ATTACHMENT_LOAD_OP_CLEAR, general);
        pass_unused = true;
        EXPECT(read_layer_1, passes[i], NULL);
        /* A layout is changed as a whole. */
        pass_final = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
        EXPECT(read_layer_1_outside, passes[i], "writes mip level 0, layer 1 in packet 1");
        set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, general);
        pass_as_depth = true;
        EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1), passes[i], writes);
        pass_layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL;
        EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1), passes[i], reads);
    }
}

static VkAttachmentLoadOp rendering_load;
static VkImageLayout rendering_layout;
static uint32_t rendering_image;
static bool rendering_resolves;

static void rendering(VkCommandBuffer buffer)
{
    VkRenderingAttachmentInfo attachment = {
        .imageView = make_view(rendering_image, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D),
        .imageLayout = rendering_layout,
        .loadOp = rendering_load};
    if (rendering_resolves) {
        attachment.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
        attachment.resolveImageView = attachment.imageView;
        attachment.resolveImageLayout = rendering_layout;
        attachment.imageView = make_view(OTHER, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D);
    }
    bool depth = rendering_image == DEPTH_STENCIL;
    const VkRenderingInfo info = {.renderArea = {{8, 8}, {16, 16}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = !depth,
                                  .pColorAttachments = &attachment,
                                  .pDepthAttachment = depth ? &attachment : NULL};
    CALL2(vkCmdBeginRendering)(buffer, &info);
}

/* Slices of a 3D image as layers. */
static void volume_write(VkCommandBuffer buffer)
{
    const VkImageCopy region = {
        {COLOR, 0, 0, 1}, {0, 0, 4}, {COLOR, 0, 0, 1}, {0, 0, 4}, {8, 8, 4}};
    FAKE_CALL(vkCmdCopyImage, buffer, used.images[OTHER], VK_IMAGE_LAYOUT_GENERAL,
              used.images[VOLUME], VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

static void rendering_slices(VkCommandBuffer buffer)
{
    const VkRenderingAttachmentInfo attachment = {
        .imageView = make_view(VOLUME, 0, 6, 1, VK_IMAGE_VIEW_TYPE_2D),
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR};
    const VkRenderingInfo info = {.renderArea = {{0, 0}, {16, 16}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &attachment};
    CALL2(vkCmdBeginRendering)(buffer, &info);
}

TEST(test_dynamic_rendering)
{
    rendering_image = PLAIN;
    rendering_layout = VK_IMAGE_LAYOUT_GENERAL;
    rendering_load = VK_ATTACHMENT_LOAD_OP_LOAD;
    EXPECT(read_layer_1, rendering, "writes mip level 0, layer 1, texels (8, 8) to (23, 23)");
    EXPECT(read_layer_1_outside, rendering, NULL);
    rendering_resolves = true;
    EXPECT(read_layer_1, rendering, "writes mip level 0, layer 1, texels (8, 8) to (23, 23)");
    EXPECT(clearing(OTHER, COLOR, 0, 1), rendering, "writes mip level 0, layer 1");
    rendering_resolves = false;
    rendering_image = DEPTH_STENCIL;
    EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1), rendering, "writes mip");
    EXPECT(volume_write, rendering_slices,
           "writes mip level 0, layers from 0, texels (0, 0) to (15, 15), slice 6");
    EXPECT(sampling(VOLUME, 0, 0, 7), rendering_slices, NULL);
    EXPECT(sampling(VOLUME, 0, 0, 6), rendering_slices, "writes mip level 0");
}

static void read_aspect(VkCommandBuffer buffer, VkImageAspectFlags aspect)
{
    const VkBufferImageCopy region = {.imageSubresource = {aspect, 0, 1, 1},
                                      .imageExtent = {64, 64, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[DEPTH_STENCIL], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}
RECORDER(read_depth, read_aspect(buffer, VK_IMAGE_ASPECT_DEPTH_BIT))
RECORDER(read_stencil, read_aspect(buffer, VK_IMAGE_ASPECT_STENCIL_BIT))

/* Of a view of both. */
static bool render_depth, render_stencil;
static void rendering_aspects(VkCommandBuffer buffer)
{
    const VkRenderingAttachmentInfo attachment = {
        .imageView = make_view(DEPTH_STENCIL, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D),
        .imageLayout = rendering_layout,
        .loadOp = rendering_load};
    const VkRenderingInfo info = {.renderArea = {{8, 8}, {16, 16}},
                                  .layerCount = 1,
                                  .pDepthAttachment = render_depth ? &attachment : NULL,
                                  .pStencilAttachment = render_stencil ? &attachment : NULL};
    CALL2(vkCmdBeginRendering)(buffer, &info);
}

TEST(test_dynamic_rendering_of_one_aspect)
{
    rendering_layout = VK_IMAGE_LAYOUT_GENERAL;
    rendering_load = VK_ATTACHMENT_LOAD_OP_CLEAR;
    render_depth = true;
    render_stencil = false;
    EXPECT(read_depth, rendering_aspects, "writes mip level 0, layer 1");
    EXPECT(read_stencil, rendering_aspects, NULL);
    render_depth = false;
    render_stencil = true;
    EXPECT(read_depth, rendering_aspects, NULL);
    EXPECT(read_stencil, rendering_aspects, "writes mip level 0, layer 1");
    /* One aspect is only read. */
    render_depth = true;
    rendering_load = VK_ATTACHMENT_LOAD_OP_LOAD;
    rendering_layout = VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL;
    EXPECT(read_depth, rendering_aspects, NULL);
    EXPECT(read_stencil, rendering_aspects, "writes mip level 0, layer 1");
    rendering_layout = VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL;
    EXPECT(read_depth, rendering_aspects, "writes mip level 0, layer 1");
    EXPECT(read_stencil, rendering_aspects, NULL);
}

/* ------------------------------------------------------------------------ Barriers and layouts */

static VkImageLayout barrier_old, barrier_new;
static uint32_t barrier_from, barrier_to;
static int barrier_form;

static void barrier(VkCommandBuffer buffer)
{
    const VkImageMemoryBarrier older = {VK_TYPE(IMAGE_MEMORY_BARRIER),
                                        .oldLayout = barrier_old,
                                        .newLayout = barrier_new,
                                        .srcQueueFamilyIndex = barrier_from,
                                        .dstQueueFamilyIndex = barrier_to,
                                        .image = used.images[PLAIN],
                                        .subresourceRange = {COLOR, 0, 1, 1, 1}};
    const VkImageMemoryBarrier2 newer = {VK_TYPE(IMAGE_MEMORY_BARRIER_2),
                                         .oldLayout = barrier_old,
                                         .newLayout = barrier_new,
                                         .srcQueueFamilyIndex = barrier_from,
                                         .dstQueueFamilyIndex = barrier_to,
                                         .image = used.images[PLAIN],
                                         .subresourceRange = {COLOR, 0, 1, 1, 1}};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &newer};
    const VkEvent event = VK_NULL_HANDLE;
    switch (barrier_form) {
    case 0:
        FAKE_CALL(vkCmdPipelineBarrier, buffer, 1, 1, 0, 0, NULL, 0, NULL, 1, &older);
        break;
    case 1:
        CALL2(vkCmdPipelineBarrier2)(buffer, &info);
        break;
    case 2:
        FAKE_CALL(vkCmdWaitEvents, buffer, 1, &event, 1, 1, 0, NULL, 0, NULL, 1, &older);
        break;
    case 3:
        CALL2(vkCmdWaitEvents2)(buffer, 1, &event, &info);
        break;
    }
}

static record_fn changing(VkImageLayout from, VkImageLayout to)
{
    barrier_old = from;
    barrier_new = to;
    barrier_from = barrier_to = VK_QUEUE_FAMILY_IGNORED;
    return barrier;
}

TEST(test_barriers_that_change_layouts_write)
{
    for (barrier_form = 0; barrier_form < 4; barrier_form++) {
        EXPECT(read_layer_1,
               changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL),
               "writes mip level 0, layer 1 in packet 1");
        EXPECT(read_layer_1, changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL), NULL);
        EXPECT(read_mip_1,
               changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL), NULL);
    }
}

/* What the host orders by setting an event is not seen, so nothing is said of such a command
 * buffer. */
static void wait_for_host(VkCommandBuffer buffer)
{
    const VkEvent event = VK_NULL_HANDLE;
    plain_write(buffer);
    FAKE_CALL(vkCmdWaitEvents, buffer, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, 1, 0, NULL, 0, NULL,
              0, NULL);
    plain_write(buffer);
}

static void wait_for_host2(VkCommandBuffer buffer)
{
    const VkEvent event = VK_NULL_HANDLE;
    const VkMemoryBarrier2 memory = {.srcStageMask = VK_PIPELINE_STAGE_2_HOST_BIT};
    const VkDependencyInfo info = {.memoryBarrierCount = 1, .pMemoryBarriers = &memory};
    plain_write(buffer);
    CALL2(vkCmdWaitEvents2)(buffer, 1, &event, &info);
    plain_write(buffer);
}

TEST(test_waits_for_the_host_are_left_out)
{
    EXPECT(writing(0, 64), wait_for_host, NULL);
    EXPECT(writing(0, 64), wait_for_host2, NULL);
    EXPECT(writing(0, 64), plain_write, "writes bytes 0 to 63");
}

/* The image, in one layout on the copy queue, then in one on the graphics queue, in order. */
static VkImageLayout first_layout, second_layout;

static void upload_in(VkCommandBuffer buffer, VkImageLayout layout)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, 0, 1, 1},
                                      .imageExtent = {64, 64, 1}};
    FAKE_CALL(vkCmdCopyBufferToImage, buffer, used.scratch, used.images[PLAIN], layout, 1, &region);
}

RECORDER(upload_first, upload_in(buffer, first_layout))
RECORDER(upload_second, upload_in(buffer, second_layout))

static void release(VkCommandBuffer buffer)
{
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier_from = COPY;
    barrier_to = GRAPHICS;
    barrier(buffer);
}

static void acquire(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier_from = COPY;
    barrier_to = GRAPHICS;
    barrier(buffer);
    changing(VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    barrier(buffer);
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
}

static void transfer_dst_to_shader_read(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier(buffer);
}

static void discard(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    barrier(buffer);
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
}

static void expect_state(const char *test, record_fn first, record_fn second, const char *text)
{
    char line[1024];
    open_world();
    uint32_t count = run_both(first, second, true, line, sizeof(line));
    close_world();
    if (count != (text != NULL) || (text && !strstr(line, text)))
        fail_msg("%s: %u lines: %s", test, count, line);
}
#define EXPECT_STATE(first, second, text) expect_state(#first " " #second, first, second, text)

TEST(test_layouts_across_type_classes)
{
    const VkImageLayout copy = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                        general = VK_IMAGE_LAYOUT_GENERAL;
    barrier_form = 0;
    first_layout = second_layout = copy;
    EXPECT_STATE(upload_first, upload_second,
                 "image 'it': queue 'graphics' (compute/3D) uses it in COPY_DEST in packet 1 "
                 "(vkCmdCopyBufferToImage), and queue 'copy' (copy) had it in COPY_DEST in "
                 "packet 1");
    EXPECT_STATE(upload_first, transfer_dst_to_shader_read, "in COPY_DEST in packet 1");
    EXPECT_STATE(upload_first, discard, NULL);
    first_layout = general;
    EXPECT_STATE(upload_first, upload_second, NULL);
    first_layout = copy;
    second_layout = general;
    EXPECT_STATE(upload_first, upload_second, NULL);
    for (barrier_form = 0; barrier_form < 2; barrier_form++)
        EXPECT_STATE(release, acquire, NULL);
    set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    EXPECT_STATE(upload_first, pass1,
                 "uses it in a state of 3D and compute queues in packet 1 (vkCmdBeginRenderPass)");
    pass_initial = VK_IMAGE_LAYOUT_UNDEFINED;
    EXPECT_STATE(upload_first, pass1, NULL);
    rendering_image = PLAIN;
    rendering_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    EXPECT_STATE(upload_first, rendering, "(vkCmdBeginRendering)");
}

/* ------------------------------------------------------------------------------ Planar images */

/* Barriers of an image whose planes share memory have the aspect COLOR, copies that of a plane. */
static void planar_barrier(VkCommandBuffer buffer, VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {VK_TYPE(IMAGE_MEMORY_BARRIER),
                                          .oldLayout = from,
                                          .newLayout = to,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = used.images[PLANAR],
                                          .subresourceRange = {COLOR, 0, 1, 0, 1}};
    FAKE_CALL(vkCmdPipelineBarrier, buffer, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
              VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void planar_upload(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 0, 1},
                                      .imageExtent = {4, 4, 1}};
    FAKE_CALL(vkCmdCopyBufferToImage, buffer, used.scratch, used.images[PLANAR],
              VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region);
}

static void planar_to_common(VkCommandBuffer buffer)
{
    planar_upload(buffer);
    planar_barrier(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_GENERAL);
}

static void planar_from_common(VkCommandBuffer buffer)
{
    planar_barrier(buffer, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    planar_upload(buffer);
}

static void planar_read(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 0, 1},
                                      .imageExtent = {4, 4, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[PLANAR], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}
RECORDER(planar_transition,
         planar_barrier(buffer, VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL))

TEST(test_barriers_of_all_planes)
{
    EXPECT_STATE(planar_to_common, planar_from_common, NULL);
    EXPECT_STATE(planar_to_common, planar_upload, NULL);
    EXPECT_STATE(planar_upload, planar_upload, "in COPY_DEST in packet 1");
    EXPECT(planar_read, planar_transition, "writes mip level 0");
}
