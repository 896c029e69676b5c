/* SPDX-License-Identifier: MIT */
/*
 * The check 'access': copies, blits, resolves, clears, fills, updates and query results.
 *
 * The older and the newer form of a command have regions with the same members, so one macro serves
 * both.
 */
#include "layer/access/access.h"

/* ------------------------------------------------------------------------------------- Areas -- */

static struct bf_access_area area_of_layers(const VkImageSubresourceLayers *s)
{
    const VkImageSubresourceRange range = {s->aspectMask, s->mipLevel, 1, s->baseArrayLayer,
                                           s->layerCount};
    return layer_area_of_range(&range);
}

static bool image_is_3d(struct layer_device *d, VkImage image)
{
    struct bf_access_image_info info;
    return d->access && bf_access_image_get(d->access->check, image, &info) &&
           info.type == VK_IMAGE_TYPE_3D;
}

/* Sets a box from two opposite corners, given in any order. */
static void area_set_box(struct bf_access_area *area, bool depth, const int64_t a[3],
                         const int64_t b[3])
{
    for (int i = 0; i < (depth ? 3 : 2); i++) {
        int64_t low = a[i] < b[i] ? a[i] : b[i], high = a[i] < b[i] ? b[i] : a[i];
        area->low[i] = low > 0 ? (uint32_t)low : 0;
        area->high[i] = high > 0 ? (uint32_t)high : 0;
    }
}

static struct bf_access_area area_of_extent(struct layer_device *d, VkImage image,
                                            const VkImageSubresourceLayers *layers,
                                            VkOffset3D offset, VkExtent3D extent)
{
    struct bf_access_area area = area_of_layers(layers);
    const int64_t from[] = {offset.x, offset.y, offset.z},
                  to[] = {offset.x + (int64_t)extent.width, offset.y + (int64_t)extent.height,
                          offset.z + (int64_t)extent.depth};
    area_set_box(&area, image_is_3d(d, image), from, to);
    return area;
}

static struct bf_access_area area_of_corners(struct layer_device *d, VkImage image,
                                             const VkImageSubresourceLayers *layers,
                                             const VkOffset3D offsets[2])
{
    struct bf_access_area area = area_of_layers(layers);
    const int64_t from[] = {offsets[0].x, offsets[0].y, offsets[0].z},
                  to[] = {offsets[1].x, offsets[1].y, offsets[1].z};
    area_set_box(&area, image_is_3d(d, image), from, to);
    return area;
}

static void use_extent(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                       VkImageLayout layout, const VkImageSubresourceLayers *layers,
                       VkOffset3D offset, VkExtent3D extent, enum bf_access_use use,
                       const char *what)
{
    struct bf_access_area area = area_of_extent(d, image, layers, offset, extent);
    layer_record_image(d, buffer, image, layout, &area, use, what);
}

/* ------------------------------------------------------------ Buffers in copies with images -- */

struct texels {
    VkDeviceSize offset;
    uint32_t row, height; /* in texels; 0: as the extent */
    VkImageSubresourceLayers layers;
    VkExtent3D extent;
};

/* The number of rows that are recorded one by one. For more, some bytes of the range that spans
 * them are recorded as accessed. */
#define MAX_ROWS 1024

static void use_texels(struct layer_device *d, VkCommandBuffer buffer, VkBuffer handle,
                       VkImage image, const struct texels *t, bool write, const char *what)
{
    struct bf_access_recording *uses = layer_uses_of(d, buffer);
    enum bf_access_use exact = write ? BF_ACCESS_WRITE : BF_ACCESS_READ,
                       some = write ? BF_ACCESS_WRITE_SOME : BF_ACCESS_READ_SOME;
    struct bf_access_image_info info;
    uint32_t bytes, block[2];
    if (!uses)
        return;
    if (!bf_access_image_get(d->access->check, image, &info) ||
        !layer_format_block(info.format, t->layers.aspectMask, &bytes, block)) {
        bf_access_record_bytes(uses, handle, t->offset, VK_WHOLE_SIZE, some, what);
        return;
    }
    uint32_t layers = t->layers.layerCount == VK_REMAINING_ARRAY_LAYERS
                          ? info.layers - t->layers.baseArrayLayer
                          : t->layers.layerCount;
    uint64_t width = (t->extent.width + block[0] - 1) / block[0],
             rows = (t->extent.height + block[1] - 1) / block[1],
             pitch = t->row ? (t->row + block[0] - 1) / block[0] : width,
             lines = t->height ? (t->height + block[1] - 1) / block[1] : rows,
             slices = (uint64_t)t->extent.depth * layers, row_size = width * bytes,
             row_stride = pitch * bytes, slice_stride = row_stride * lines;
    if (!slices || !rows)
        return;
    if (row_size == row_stride) {
        bf_access_record_steps(uses, handle, t->offset, rows * row_size, slice_stride, slices,
                               exact, what);
    } else if (slices * rows > MAX_ROWS) {
        bf_access_record_bytes(uses, handle, t->offset,
                               (slices - 1) * slice_stride + (rows - 1) * row_stride + row_size,
                               some, what);
    } else {
        for (uint64_t i = 0; i < slices; i++)
            bf_access_record_steps(uses, handle, t->offset + i * slice_stride, row_size, row_stride,
                                   rows, exact, what);
    }
}

#define TEXELS(region)                                                                             \
    (&(struct texels){(region)->bufferOffset, (region)->bufferRowLength,                           \
                      (region)->bufferImageHeight, (region)->imageSubresource,                     \
                      (region)->imageExtent})

/* ---------------------------------------------------------------------------------- Commands -- */

#define USE_COPIED_BYTES(d, buffer, src, dst, count, regions, what)                                \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        struct bf_access_recording *uses = layer_uses_of(d, buffer);                               \
        bf_access_record_bytes(uses, src, (regions)[i].srcOffset, (regions)[i].size,               \
                               BF_ACCESS_READ, what);                                              \
        bf_access_record_bytes(uses, dst, (regions)[i].dstOffset, (regions)[i].size,               \
                               BF_ACCESS_WRITE, what);                                             \
    }

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyBuffer(VkCommandBuffer buffer, VkBuffer src,
                                                        VkBuffer dst, uint32_t count,
                                                        const VkBufferCopy *regions)
{
    struct layer_device *d = layer_device_of(buffer);
    USE_COPIED_BYTES(d, buffer, src, dst, count, regions, "vkCmdCopyBuffer");
    d->vk.vkCmdCopyBuffer(buffer, src, dst, count, regions);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyBuffer2(VkCommandBuffer buffer,
                                                         const VkCopyBufferInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    USE_COPIED_BYTES(d, buffer, info->srcBuffer, info->dstBuffer, info->regionCount, info->pRegions,
                     "vkCmdCopyBuffer2");
    d->vk.vkCmdCopyBuffer2(buffer, info);
}

/* The block of an image's format; a texel where none is known. */
static void image_block(struct layer_device *d, VkImage image, VkImageAspectFlags aspect,
                        uint32_t block[2])
{
    struct bf_access_image_info info;
    uint32_t bytes;
    if (!bf_access_image_get(d->access->check, image, &info) ||
        !layer_format_block(info.format, aspect, &bytes, block))
        block[0] = block[1] = 1;
}

/* The extent of a copy, which is in texels of the source, in those of the destination: a block
 * becomes a block. */
static VkExtent3D extent_in_destination(struct layer_device *d, VkImage src,
                                        const VkImageSubresourceLayers *from, VkImage dst,
                                        const VkImageSubresourceLayers *to, VkExtent3D extent)
{
    uint32_t read[2], written[2];
    image_block(d, src, from->aspectMask, read);
    image_block(d, dst, to->aspectMask, written);
    if (read[0] == written[0] && read[1] == written[1])
        return extent;
    return (VkExtent3D){(extent.width + read[0] - 1) / read[0] * written[0],
                        (extent.height + read[1] - 1) / read[1] * written[1], extent.depth};
}

/* Records a copy or a resolve from image to image. */
#define USE_IMAGES(d, buffer, src, src_layout, dst, dst_layout, count, regions, what)              \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        use_extent(d, buffer, src, src_layout, &(regions)[i].srcSubresource,                       \
                   (regions)[i].srcOffset, (regions)[i].extent, BF_ACCESS_READ, what);             \
        use_extent(d, buffer, dst, dst_layout, &(regions)[i].dstSubresource,                       \
                   (regions)[i].dstOffset,                                                         \
                   extent_in_destination(d, src, &(regions)[i].srcSubresource, dst,                \
                                         &(regions)[i].dstSubresource, (regions)[i].extent),       \
                   BF_ACCESS_WRITE, what);                                                         \
    }

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyImage(VkCommandBuffer buffer, VkImage src,
                                                       VkImageLayout src_layout, VkImage dst,
                                                       VkImageLayout dst_layout, uint32_t count,
                                                       const VkImageCopy *regions)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_IMAGES(d, buffer, src, src_layout, dst, dst_layout, count, regions, "vkCmdCopyImage");
    d->vk.vkCmdCopyImage(buffer, src, src_layout, dst, dst_layout, count, regions);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyImage2(VkCommandBuffer buffer,
                                                        const VkCopyImageInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_IMAGES(d, buffer, info->srcImage, info->srcImageLayout, info->dstImage,
                   info->dstImageLayout, info->regionCount, info->pRegions, "vkCmdCopyImage2");
    d->vk.vkCmdCopyImage2(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdResolveImage(VkCommandBuffer buffer, VkImage src,
                                                          VkImageLayout src_layout, VkImage dst,
                                                          VkImageLayout dst_layout, uint32_t count,
                                                          const VkImageResolve *regions)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_IMAGES(d, buffer, src, src_layout, dst, dst_layout, count, regions,
                   "vkCmdResolveImage");
    d->vk.vkCmdResolveImage(buffer, src, src_layout, dst, dst_layout, count, regions);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdResolveImage2(VkCommandBuffer buffer,
                                                           const VkResolveImageInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_IMAGES(d, buffer, info->srcImage, info->srcImageLayout, info->dstImage,
                   info->dstImageLayout, info->regionCount, info->pRegions, "vkCmdResolveImage2");
    d->vk.vkCmdResolveImage2(buffer, info);
}

static void use_corners(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                        VkImageLayout layout, const VkImageSubresourceLayers *layers,
                        const VkOffset3D offsets[2], enum bf_access_use use, const char *what)
{
    struct bf_access_area area = area_of_corners(d, image, layers, offsets);
    layer_record_image(d, buffer, image, layout, &area, use, what);
}

#define USE_BLITS(d, buffer, src, src_layout, dst, dst_layout, count, regions, what)               \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        use_corners(d, buffer, src, src_layout, &(regions)[i].srcSubresource,                      \
                    (regions)[i].srcOffsets, BF_ACCESS_READ, what);                                \
        use_corners(d, buffer, dst, dst_layout, &(regions)[i].dstSubresource,                      \
                    (regions)[i].dstOffsets, BF_ACCESS_WRITE, what);                               \
    }

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBlitImage(VkCommandBuffer buffer, VkImage src,
                                                       VkImageLayout src_layout, VkImage dst,
                                                       VkImageLayout dst_layout, uint32_t count,
                                                       const VkImageBlit *regions, VkFilter filter)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_BLITS(d, buffer, src, src_layout, dst, dst_layout, count, regions, "vkCmdBlitImage");
    d->vk.vkCmdBlitImage(buffer, src, src_layout, dst, dst_layout, count, regions, filter);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBlitImage2(VkCommandBuffer buffer,
                                                        const VkBlitImageInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_BLITS(d, buffer, info->srcImage, info->srcImageLayout, info->dstImage,
                  info->dstImageLayout, info->regionCount, info->pRegions, "vkCmdBlitImage2");
    d->vk.vkCmdBlitImage2(buffer, info);
}

#define USE_UPLOADS(d, buffer, src, dst, layout, count, regions, what)                             \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        use_texels(d, buffer, src, dst, TEXELS(&(regions)[i]), false, what);                       \
        use_extent(d, buffer, dst, layout, &(regions)[i].imageSubresource,                         \
                   (regions)[i].imageOffset, (regions)[i].imageExtent, BF_ACCESS_WRITE, what);     \
    }

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyBufferToImage(VkCommandBuffer buffer, VkBuffer src,
                                                               VkImage dst, VkImageLayout layout,
                                                               uint32_t count,
                                                               const VkBufferImageCopy *regions)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_UPLOADS(d, buffer, src, dst, layout, count, regions, "vkCmdCopyBufferToImage");
    d->vk.vkCmdCopyBufferToImage(buffer, src, dst, layout, count, regions);
}

VKAPI_ATTR void VKAPI_CALL
layer_access_vkCmdCopyBufferToImage2(VkCommandBuffer buffer, const VkCopyBufferToImageInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_UPLOADS(d, buffer, info->srcBuffer, info->dstImage, info->dstImageLayout,
                    info->regionCount, info->pRegions, "vkCmdCopyBufferToImage2");
    d->vk.vkCmdCopyBufferToImage2(buffer, info);
}

#define USE_DOWNLOADS(d, buffer, src, layout, dst, count, regions, what)                           \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        use_extent(d, buffer, src, layout, &(regions)[i].imageSubresource,                         \
                   (regions)[i].imageOffset, (regions)[i].imageExtent, BF_ACCESS_READ, what);      \
        use_texels(d, buffer, dst, src, TEXELS(&(regions)[i]), true, what);                        \
    }

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyImageToBuffer(VkCommandBuffer buffer, VkImage src,
                                                               VkImageLayout layout, VkBuffer dst,
                                                               uint32_t count,
                                                               const VkBufferImageCopy *regions)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_DOWNLOADS(d, buffer, src, layout, dst, count, regions, "vkCmdCopyImageToBuffer");
    d->vk.vkCmdCopyImageToBuffer(buffer, src, layout, dst, count, regions);
}

VKAPI_ATTR void VKAPI_CALL
layer_access_vkCmdCopyImageToBuffer2(VkCommandBuffer buffer, const VkCopyImageToBufferInfo2 *info)
{
    struct layer_device *d = layer_device_of(buffer);
    if (d->access)
        USE_DOWNLOADS(d, buffer, info->srcImage, info->srcImageLayout, info->dstBuffer,
                      info->regionCount, info->pRegions, "vkCmdCopyImageToBuffer2");
    d->vk.vkCmdCopyImageToBuffer2(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdUpdateBuffer(VkCommandBuffer buffer, VkBuffer dst,
                                                          VkDeviceSize offset, VkDeviceSize size,
                                                          const void *data)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_access_record_bytes(layer_uses_of(d, buffer), dst, offset, size, BF_ACCESS_WRITE,
                           "vkCmdUpdateBuffer");
    d->vk.vkCmdUpdateBuffer(buffer, dst, offset, size, data);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdFillBuffer(VkCommandBuffer buffer, VkBuffer dst,
                                                        VkDeviceSize offset, VkDeviceSize size,
                                                        uint32_t data)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_access_record_bytes(layer_uses_of(d, buffer), dst, offset, size, BF_ACCESS_WRITE,
                           "vkCmdFillBuffer");
    d->vk.vkCmdFillBuffer(buffer, dst, offset, size, data);
}

static void use_ranges(struct layer_device *d, VkCommandBuffer buffer, VkImage image,
                       VkImageLayout layout, uint32_t count, const VkImageSubresourceRange *ranges,
                       const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        struct bf_access_area area = layer_area_of_range(&ranges[i]);
        layer_record_image(d, buffer, image, layout, &area, BF_ACCESS_WRITE, what);
    }
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdClearColorImage(VkCommandBuffer buffer, VkImage image,
                                                             VkImageLayout layout,
                                                             const VkClearColorValue *color,
                                                             uint32_t count,
                                                             const VkImageSubresourceRange *ranges)
{
    struct layer_device *d = layer_device_of(buffer);
    use_ranges(d, buffer, image, layout, count, ranges, "vkCmdClearColorImage");
    d->vk.vkCmdClearColorImage(buffer, image, layout, color, count, ranges);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdClearDepthStencilImage(
    VkCommandBuffer buffer, VkImage image, VkImageLayout layout,
    const VkClearDepthStencilValue *value, uint32_t count, const VkImageSubresourceRange *ranges)
{
    struct layer_device *d = layer_device_of(buffer);
    use_ranges(d, buffer, image, layout, count, ranges, "vkCmdClearDepthStencilImage");
    d->vk.vkCmdClearDepthStencilImage(buffer, image, layout, value, count, ranges);
}

/* A query has at least one result. Pools of pipeline statistics have more, which are not
 * recorded. */
VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdCopyQueryPoolResults(
    VkCommandBuffer buffer, VkQueryPool pool, uint32_t first, uint32_t count, VkBuffer dst,
    VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags)
{
    struct layer_device *d = layer_device_of(buffer);
    VkDeviceSize word = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4,
                 words = flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT ? 2 : 1;
    bf_access_record_steps(layer_uses_of(d, buffer), dst, offset, word * words, stride, count,
                           BF_ACCESS_WRITE, "vkCmdCopyQueryPoolResults");
    d->vk.vkCmdCopyQueryPoolResults(buffer, pool, first, count, dst, offset, stride, flags);
}
