/* SPDX-License-Identifier: MIT */
/* Commands that copy, fill, clear and draw: which bytes and texels they use, and those of other
 * command buffers. */
#include "commands.h"

/* -------------------------------------------------------------------------------------- Buffers */

static const VkBufferCopy copies[] = {{256, 0, 64}, {512, 64, 16}};

RECORDER(copy_from, FAKE_CALL(vkCmdCopyBuffer, buffer, used.buffer, used.other, 2, copies))
RECORDER(copy_to, FAKE_CALL(vkCmdCopyBuffer, buffer, used.other, used.buffer, 2, copies))

static void copy2(VkCommandBuffer buffer, VkBuffer src, VkBuffer dst)
{
    const VkBufferCopy2 regions[] = {{.srcOffset = 256, .size = 64},
                                     {.srcOffset = 512, .dstOffset = 64, .size = 16}};
    const VkCopyBufferInfo2 info = {
        .srcBuffer = src, .dstBuffer = dst, .regionCount = 2, .pRegions = regions};
    CALL2(vkCmdCopyBuffer2)(buffer, &info);
}

RECORDER(copy2_from, copy2(buffer, used.buffer, used.other))
RECORDER(copy2_to, copy2(buffer, used.other, used.buffer))

static void update(VkCommandBuffer buffer)
{
    static const uint32_t data[4];
    FAKE_CALL(vkCmdUpdateBuffer, buffer, used.buffer, 128, 16, data);
}

RECORDER(fill_to_the_end, FAKE_CALL(vkCmdFillBuffer, buffer, used.buffer, 4000, VK_WHOLE_SIZE, 0))
RECORDER(query, FAKE_CALL(vkCmdCopyQueryPoolResults, buffer, VK_NULL_HANDLE, 0, 3, used.buffer, 64,
                          32, VK_QUERY_RESULT_64_BIT))
RECORDER(queries_with_availability,
         FAKE_CALL(vkCmdCopyQueryPoolResults, buffer, VK_NULL_HANDLE, 0, 3, used.buffer, 64, 8,
                   VK_QUERY_RESULT_WITH_AVAILABILITY_BIT))

TEST(test_copies_of_buffers)
{
    EXPECT(writing(319, 320), copy_from, "reads bytes 256 to 319");
    EXPECT(writing(512, 600), copy_from, "reads bytes 512 to 527");
    EXPECT(writing(320, 512), copy_from, NULL);
    EXPECT(reading(0, 4), copy_to, "writes bytes 0 to 79");
    EXPECT(reading(80, 4096), copy_to, NULL);
    EXPECT(writing(319, 320), copy2_from, "reads bytes 256 to 319");
    EXPECT(writing(320, 512), copy2_from, NULL);
    EXPECT(reading(79, 80), copy2_to, "writes bytes 0 to 79");
    EXPECT(reading(80, 4096), copy2_to, NULL);
}

TEST(test_other_writes_to_buffers)
{
    EXPECT(reading(143, 144), update, "writes bytes 128 to 143");
    EXPECT(reading(144, 200), update, NULL);
    EXPECT(reading(4095, 4096), fill_to_the_end, "writes bytes 4000 to 4095");
    EXPECT(reading(3000, 4000), fill_to_the_end, NULL);
    EXPECT(reading(97, 98), query, "writes bytes 96 to 103");
    EXPECT(reading(104, 128), query, NULL);
    EXPECT(reading(87, 88), queries_with_availability, "writes bytes 64 to 87");
}

/* ---------------------------------------------------------------------------------------- Draws */

static void bind_vertices(VkCommandBuffer buffer, VkDeviceSize offset)
{
    FAKE_CALL(vkCmdBindVertexBuffers, buffer, 2, 1, &used.buffer, &offset);
}

static void draw(VkCommandBuffer buffer)
{
    bind_vertices(buffer, 1024);
    FAKE_CALL(vkCmdDraw, buffer, 3, 1, 0, 0);
    FAKE_CALL(vkCmdDraw, buffer, 3, 1, 0, 0);
}

static void draw_nothing(VkCommandBuffer buffer)
{
    bind_vertices(buffer, 1024);
    FAKE_CALL(vkCmdDraw, buffer, 0, 1, 0, 0);
}

static void draw_sized(VkCommandBuffer buffer)
{
    const VkDeviceSize offset = 1024, size = 64;
    PFN_vkCmdBindVertexBuffers2 bind =
        (PFN_vkCmdBindVertexBuffers2)find_command2("vkCmdBindVertexBuffers2", "EXT");
    bind(buffer, 0, 1, &used.buffer, &offset, &size, NULL);
    FAKE_CALL(vkCmdDraw, buffer, 3, 1, 0, 0);
}

static void draw_indexed(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer, buffer, used.buffer, 100, VK_INDEX_TYPE_UINT16);
    FAKE_CALL(vkCmdDrawIndexed, buffer, 6, 1, 10, 0, 0);
}

static void draw_indexed32(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer, buffer, used.buffer, 100, VK_INDEX_TYPE_UINT32);
    FAKE_CALL(vkCmdDrawIndexed, buffer, 6, 1, 10, 0, 0);
}

RECORDER(draw_indirect, FAKE_CALL(vkCmdDrawIndirect, buffer, used.buffer, 64, 3, 32))

static void draw_indexed_indirect(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer, buffer, used.buffer, 2048, VK_INDEX_TYPE_UINT16);
    FAKE_CALL(vkCmdDrawIndexedIndirect, buffer, used.buffer, 64, 3, 32);
}

static void draw_counted(VkCommandBuffer buffer)
{
    PFN_vkCmdDrawIndirectCount call =
        (PFN_vkCmdDrawIndirectCount)find_command2("vkCmdDrawIndirectCount", "AMD");
    call(buffer, used.other, 0, used.buffer, 512, 10, 16);
}

RECORDER(draw_indexed_counted,
         CALL2(vkCmdDrawIndexedIndirectCount)(buffer, used.other, 0, used.buffer, 512, 10, 20))
RECORDER(dispatch_indirect, FAKE_CALL(vkCmdDispatchIndirect, buffer, used.buffer, 36))

TEST(test_what_draws_read)
{
    EXPECT(writing(1024, 4096), draw, "reads some of bytes 1024 to 4095");
    EXPECT(writing(1024, 4095), draw, NULL); /* which vertices is not known */
    EXPECT(writing(1024, 4096), draw_nothing, NULL);
    EXPECT(writing(1000, 1088), draw_sized, "reads some of bytes 1024 to 1087");
    EXPECT(writing(131, 132), draw_indexed, "reads bytes 120 to 131");
    EXPECT(writing(132, 160), draw_indexed, NULL);
    EXPECT(writing(160, 164), draw_indexed32, "reads bytes 140 to 163");
    EXPECT(writing(100, 104), draw_indirect, "reads bytes 96 to 111");
    EXPECT(writing(80, 96), draw_indirect, NULL);
    EXPECT(writing(83, 84), draw_indexed_indirect, "reads bytes 64 to 83");
    EXPECT(writing(84, 96), draw_indexed_indirect, NULL);
    EXPECT(writing(2048, 4096), draw_indexed_indirect, "reads some of bytes 2048 to 4095");
    EXPECT(writing(512, 516), draw_counted, "reads bytes 512 to 515");
    EXPECT(writing(512, 516), draw_indexed_counted, "reads bytes 512 to 515");
    EXPECT(writing(47, 48), dispatch_indirect, "reads bytes 36 to 47");
}

/* ------------------------------------------------------------------- Between buffers and images */

static VkBufferImageCopy texels;
static uint32_t texel_image;

RECORDER(upload, FAKE_CALL(vkCmdCopyBufferToImage, buffer, used.buffer, used.images[texel_image],
                           VK_IMAGE_LAYOUT_GENERAL, 1, &texels))
RECORDER(download, FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[texel_image],
                             VK_IMAGE_LAYOUT_GENERAL, used.buffer, 1, &texels))

static VkBufferImageCopy2 texels2(void)
{
    return (VkBufferImageCopy2){.bufferOffset = texels.bufferOffset,
                                .bufferRowLength = texels.bufferRowLength,
                                .bufferImageHeight = texels.bufferImageHeight,
                                .imageSubresource = texels.imageSubresource,
                                .imageOffset = texels.imageOffset,
                                .imageExtent = texels.imageExtent};
}

static void upload2(VkCommandBuffer buffer)
{
    const VkBufferImageCopy2 region = texels2();
    const VkCopyBufferToImageInfo2 info = {.srcBuffer = used.buffer,
                                           .dstImage = used.images[texel_image],
                                           .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                           .regionCount = 1,
                                           .pRegions = &region};
    CALL2(vkCmdCopyBufferToImage2)(buffer, &info);
}

static void download2(VkCommandBuffer buffer)
{
    const VkBufferImageCopy2 region = texels2();
    const VkCopyImageToBufferInfo2 info = {.srcImage = used.images[texel_image],
                                           .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                           .dstBuffer = used.buffer,
                                           .regionCount = 1,
                                           .pRegions = &region};
    CALL2(vkCmdCopyImageToBuffer2)(buffer, &info);
}

/* 'what' with that region of that image, mip level 1 of layers 1 and on. */
static record_fn with(record_fn what, uint32_t image, VkImageAspectFlags aspect, uint32_t layers,
                      uint32_t row, uint32_t height, VkExtent3D extent)
{
    texel_image = image;
    texels = (VkBufferImageCopy){
        16, row, height, {aspect, 1, image == VOLUME ? 0 : 1, layers}, {4, 0, 0}, extent};
    return what;
}

#define EXTENT(x, y, z) ((VkExtent3D){x, y, z})

TEST(test_bytes_beside_images)
{
    EXPECT(writing(143, 144), with(upload, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads bytes 16 to 143");
    EXPECT(writing(144, 200), with(upload, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)), NULL);
    /* Rows of 32 bytes, 64 apart. */
    EXPECT(writing(80, 81), with(upload, PLAIN, COLOR, 1, 16, 0, EXTENT(8, 4, 1)),
           "reads bytes 80 to 111");
    EXPECT(writing(48, 80), with(upload, PLAIN, COLOR, 1, 16, 0, EXTENT(8, 4, 1)), NULL);
    /* Two layers of 128 bytes, 256 apart. */
    EXPECT(reading(272, 273), with(download, PLAIN, COLOR, 2, 0, 8, EXTENT(8, 4, 1)),
           "writes bytes 272 to 399");
    EXPECT(reading(144, 272), with(download, PLAIN, COLOR, 2, 0, 8, EXTENT(8, 4, 1)), NULL);
    EXPECT(reading(399, 400),
           with(download, PLAIN, COLOR, VK_REMAINING_ARRAY_LAYERS, 0, 8, EXTENT(8, 4, 1)),
           "writes bytes 272 to 399");
    EXPECT(reading(47, 48), with(download, COMPRESSED, COLOR, 1, 0, 0, EXTENT(8, 6, 1)),
           "writes bytes 16 to 47");
    EXPECT(reading(48, 49), with(download, COMPRESSED, COLOR, 1, 0, 0, EXTENT(8, 6, 1)), NULL);
    EXPECT(reading(79, 80),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           "writes bytes 16 to 79");
    EXPECT(reading(32, 80),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           NULL);
    EXPECT(reading(79, 80), with(download, VOLUME, COLOR, 1, 0, 0, EXTENT(4, 4, 4)),
           "writes bytes 16 to 79");
    /* How much that takes is not known: some of what follows. */
    EXPECT(reading(16, 4096),
           with(download, PLANAR, VK_IMAGE_ASPECT_PLANE_0_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           "writes some of bytes 16 to 4095");
    EXPECT(reading(16, 4095),
           with(download, PLANAR, VK_IMAGE_ASPECT_PLANE_0_BIT, 1, 0, 0, EXTENT(4, 4, 1)), NULL);
    EXPECT(writing(143, 144), with(upload2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads bytes 16 to 143");
    EXPECT(reading(143, 144), with(download2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "writes bytes 16 to 143");
}

TEST(test_texels_beside_buffers)
{
    record_fn first = clearing(PLAIN, COLOR, 1, 1);
    EXPECT(first, with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layer 1, texels (4, 0) to (11, 3)");
    EXPECT(first, with(download2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layer 1, texels (4, 0) to (11, 3)");
    EXPECT(clearing(PLAIN, COLOR, 0, 1), with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           NULL);
    EXPECT(clearing(PLAIN, COLOR, 1, 0), with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           NULL);
    EXPECT(clearing(PLAIN, COLOR, 1, 2),
           with(download, PLAIN, COLOR, VK_REMAINING_ARRAY_LAYERS, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layers from 1, texels");
    EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           NULL);
}

/* ------------------------------------------------------------------------- Images beside images */

static const VkImageSubresourceLayers base = {COLOR, 0, 0, 1};

static void image_copy(VkCommandBuffer buffer)
{
    const VkImageCopy region = {base, {0, 0, 0}, base, {16, 0, 0}, {8, 8, 1}};
    FAKE_CALL(vkCmdCopyImage, buffer, used.images[OTHER], VK_IMAGE_LAYOUT_GENERAL,
              used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

static void image_copy2(VkCommandBuffer buffer)
{
    const VkImageCopy2 region = {.srcSubresource = base,
                                 .dstSubresource = base,
                                 .dstOffset = {16, 0, 0},
                                 .extent = {8, 8, 1}};
    const VkCopyImageInfo2 info = {.srcImage = used.images[OTHER],
                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .dstImage = used.images[PLAIN],
                                   .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .regionCount = 1,
                                   .pRegions = &region};
    CALL2(vkCmdCopyImage2)(buffer, &info);
}

static void resolve(VkCommandBuffer buffer)
{
    const VkImageResolve region = {base, {0, 0, 0}, base, {16, 0, 0}, {8, 8, 1}};
    FAKE_CALL(vkCmdResolveImage, buffer, used.images[OTHER], VK_IMAGE_LAYOUT_GENERAL,
              used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}

static void resolve2(VkCommandBuffer buffer)
{
    const VkImageResolve2 region = {.srcSubresource = base,
                                    .dstSubresource = base,
                                    .dstOffset = {16, 0, 0},
                                    .extent = {8, 8, 1}};
    const VkResolveImageInfo2 info = {.srcImage = used.images[OTHER],
                                      .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                      .dstImage = used.images[PLAIN],
                                      .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                      .regionCount = 1,
                                      .pRegions = &region};
    CALL2(vkCmdResolveImage2)(buffer, &info);
}

/* Mirrored: its corners are the wrong way round. */
static void blit(VkCommandBuffer buffer)
{
    const VkImageBlit region = {base, {{0, 0, 0}, {8, 8, 1}}, base, {{24, 8, 0}, {16, 0, 1}}};
    FAKE_CALL(vkCmdBlitImage, buffer, used.images[OTHER], VK_IMAGE_LAYOUT_GENERAL,
              used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1, &region, VK_FILTER_NEAREST);
}

static void blit2(VkCommandBuffer buffer)
{
    const VkImageBlit2 region = {.srcSubresource = base,
                                 .srcOffsets = {{0, 0, 0}, {8, 8, 1}},
                                 .dstSubresource = base,
                                 .dstOffsets = {{24, 8, 0}, {16, 0, 1}}};
    const VkBlitImageInfo2 info = {.srcImage = used.images[OTHER],
                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .dstImage = used.images[PLAIN],
                                   .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .regionCount = 1,
                                   .pRegions = &region};
    CALL2(vkCmdBlitImage2)(buffer, &info);
}

static void clear(VkCommandBuffer buffer)
{
    const VkClearColorValue value = {.float32 = {0}};
    const VkImageSubresourceRange range = {COLOR, 2, VK_REMAINING_MIP_LEVELS, 1, 2};
    FAKE_CALL(vkCmdClearColorImage, buffer, used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, &value, 1,
              &range);
}

TEST(test_images_beside_images)
{
    const record_fn writers[] = {image_copy, image_copy2, resolve, resolve2, blit, blit2};
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        EXPECT(sampling(PLAIN, 23, 7, 0), writers[i],
               "writes mip level 0, layer 0, texels (16, 0) to (23, 7)");
        EXPECT(sampling(PLAIN, 24, 0, 0), writers[i], NULL);
        EXPECT(sampling(PLAIN, 16, 8, 0), writers[i], NULL);
        EXPECT(clearing(OTHER, COLOR, 0, 0), writers[i],
               "reads mip level 0, layer 0, texels (0, 0) to (7, 7)");
    }
    EXPECT(read_mip_3, clear, "writes mip levels from 2, layers 1 to 2");
    EXPECT(read_mip_1, clear, NULL);
}

/* --------------------------------------------------------------------------- Command buffers */

static VkCommandBuffer make_secondary(record_fn what)
{
    VkCommandBuffer buffer = allocate_commands(GRAPHICS, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    assert_success(FAKE_CALL(vkBeginCommandBuffer, buffer, &info));
    what(buffer);
    end_commands(buffer);
    return buffer;
}

static void secondaries(VkCommandBuffer buffer)
{
    const VkCommandBuffer list[] = {make_secondary(update), make_secondary(copy_from)};
    FAKE_CALL(vkCmdExecuteCommands, buffer, 2, list);
    FAKE_CALL(vkFreeCommandBuffers, fake.device, used.pools[GRAPHICS], 2, list);
}

TEST(test_secondary_command_buffers)
{
    EXPECT(writing(319, 320), secondaries, "writes bytes 128 to 143"); /* two writers */
    EXPECT(reading(140, 141), secondaries, "writes bytes 128 to 143");
    EXPECT(reading(200, 256), secondaries, NULL);
}

RECORDER(nothing, (void)buffer)

TEST(test_recording_anew)
{
    char line[1024];
    open_world();
    VkCommandBuffer a = begin_commands(COPY), b = begin_commands(GRAPHICS);
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    writing(0, 64)(a);
    end_commands(a);
    bind_vertices(b, 0);
    writing(0, 64)(b);
    end_commands(b);
    FAKE_CALL(vkBeginCommandBuffer, b, &info); /* forgets, bindings too */
    FAKE_CALL(vkCmdDraw, b, 3, 1, 0, 0);
    end_commands(b);
    lines_begin();
    submit_one(COPY, VK_NULL_HANDLE, 0, a, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit_one(GRAPHICS, VK_NULL_HANDLE, 0, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    assert_int_equal(lines_end(line, sizeof(line)), 0);
    /* What was submitted stays, whatever becomes of the command buffer. */
    FAKE_CALL(vkFreeCommandBuffers, fake.device, used.pools[COPY], 1, &a);
    FAKE_CALL(vkDestroyCommandPool, fake.device, used.pools[GRAPHICS], NULL);
    const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    FAKE_CALL(vkCreateCommandPool, fake.device, &pool, NULL, &used.pools[GRAPHICS]);
    b = begin_commands(GRAPHICS);
    reading(0, 64)(b);
    end_commands(b);
    lines_begin();
    submit_one(GRAPHICS, VK_NULL_HANDLE, 0, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_non_null(strstr(line, "queue 'copy' may write bytes 0 to 63 in packet 1"));
    close_world();
    EXPECT(writing(0, 64), nothing, NULL);
}

/* ------------------------------------------------------------------ Blocks in copies of images */

/* The extent is in texels of the source; a block of the one is a texel of the other. (The fake
 * driver doesn't mind that the sizes differ.) */
static void copy_blocks(VkCommandBuffer buffer, bool unpack, bool newer)
{
    const VkImageSubresourceLayers layers = {COLOR, 0, 0, 1};
    const uint32_t side = unpack ? 32 : 8;
    const VkImage src = used.images[unpack ? COMPRESSED : OTHER],
                  dst = used.images[unpack ? PLAIN : COMPRESSED];
    const VkImageCopy region = {layers, {0, 0, 0}, layers, {0, 0, 0}, {side, side, 1}};
    const VkImageCopy2 region2 = {VK_TYPE(IMAGE_COPY_2), .srcSubresource = layers,
                                  .dstSubresource = layers, .extent = {side, side, 1}};
    const VkCopyImageInfo2 info = {VK_TYPE(COPY_IMAGE_INFO_2),
                                   .srcImage = src,
                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .dstImage = dst,
                                   .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .regionCount = 1,
                                   .pRegions = &region2};
    if (newer)
        CALL2(vkCmdCopyImage2)(buffer, &info);
    else
        FAKE_CALL(vkCmdCopyImage, buffer, src, VK_IMAGE_LAYOUT_GENERAL, dst,
                  VK_IMAGE_LAYOUT_GENERAL, 1, &region);
}
RECORDER(unpack_blocks, copy_blocks(buffer, true, false))
RECORDER(unpack_blocks2, copy_blocks(buffer, true, true))
RECORDER(pack_blocks, copy_blocks(buffer, false, false))
RECORDER(pack_blocks2, copy_blocks(buffer, false, true))

TEST(test_copies_between_blocks_and_texels)
{
    EXPECT(sampling(PLAIN, 4, 4, 0), unpack_blocks,
           "writes mip level 0, layer 0, texels (0, 0) to (7, 7)");
    EXPECT(sampling(PLAIN, 16, 16, 0), unpack_blocks, NULL);
    EXPECT(sampling(PLAIN, 16, 16, 0), unpack_blocks2, NULL);
    EXPECT(sampling(COMPRESSED, 16, 16, 0), pack_blocks,
           "writes mip level 0, layer 0, texels (0, 0) to (31, 31)");
    EXPECT(sampling(COMPRESSED, 16, 16, 0), pack_blocks2,
           "writes mip level 0, layer 0, texels (0, 0) to (31, 31)");
    EXPECT(sampling(COMPRESSED, 32, 16, 0), pack_blocks, NULL);
}
