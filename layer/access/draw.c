/* SPDX-License-Identifier: MIT */
/*
 * The check 'access': what draws and dispatches read of vertex, index and indirect buffers. A draw
 * reads some part of a bound buffer; which part depends on its pipeline and its indices.
 */
#include "layer/access/access.h"

static void buffers_bind(struct layer_recording *recording, uint32_t first, uint32_t count,
                         const VkBuffer *buffers, const VkDeviceSize *offsets,
                         const VkDeviceSize *sizes)
{
    for (uint32_t i = 0; recording && i < count && first + i < LAYER_MAX_BINDINGS; i++)
        recording->vertices[first + i] =
            (struct layer_binding){buffers[i], offsets[i], sizes ? sizes[i] : VK_WHOLE_SIZE, false};
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBindVertexBuffers(VkCommandBuffer buffer,
                                                               uint32_t first, uint32_t count,
                                                               const VkBuffer *buffers,
                                                               const VkDeviceSize *offsets)
{
    struct layer_device *d = layer_device_of(buffer);
    buffers_bind(layer_recording_of(d, buffer), first, count, buffers, offsets, NULL);
    d->vk.vkCmdBindVertexBuffers(buffer, first, count, buffers, offsets);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBindVertexBuffers2(
    VkCommandBuffer buffer, uint32_t first, uint32_t count, const VkBuffer *buffers,
    const VkDeviceSize *offsets, const VkDeviceSize *sizes, const VkDeviceSize *strides)
{
    struct layer_device *d = layer_device_of(buffer);
    buffers_bind(layer_recording_of(d, buffer), first, count, buffers, offsets, sizes);
    d->vk.vkCmdBindVertexBuffers2(buffer, first, count, buffers, offsets, sizes, strides);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdBindIndexBuffer(VkCommandBuffer buffer, VkBuffer index,
                                                             VkDeviceSize offset, VkIndexType type)
{
    struct layer_device *d = layer_device_of(buffer);
    struct layer_recording *recording = layer_recording_of(d, buffer);
    if (recording) {
        recording->index = (struct layer_binding){index, offset, VK_WHOLE_SIZE, false};
        recording->index_size = type == VK_INDEX_TYPE_UINT32      ? 4
                                : type == VK_INDEX_TYPE_UINT8_EXT ? 1
                                                                  : 2;
    }
    d->vk.vkCmdBindIndexBuffer(buffer, index, offset, type);
}

/* Records the use of a bound buffer once for each binding, because all draws may read the same
 * part. */
static void use_binding(struct layer_recording *recording, struct layer_binding *binding,
                        const char *what)
{
    if (binding->told || !binding->buffer)
        return;
    binding->told = true;
    bf_access_record_bytes(recording->uses, binding->buffer, binding->offset, binding->size,
                           BF_ACCESS_READ_SOME, what);
}

static struct layer_recording *recording_draw(struct layer_device *d, VkCommandBuffer buffer,
                                              const char *what)
{
    struct layer_recording *recording = layer_recording_of(d, buffer);
    for (uint32_t i = 0; recording && i < LAYER_MAX_BINDINGS; i++)
        use_binding(recording, &recording->vertices[i], what);
    return recording;
}

static void draw_indirect(struct layer_device *d, VkCommandBuffer buffer, bool indexed,
                          const char *what)
{
    struct layer_recording *recording = recording_draw(d, buffer, what);
    if (recording && indexed)
        use_binding(recording, &recording->index, what);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDraw(VkCommandBuffer buffer, uint32_t vertices,
                                                  uint32_t instances, uint32_t first_vertex,
                                                  uint32_t first_instance)
{
    struct layer_device *d = layer_device_of(buffer);
    if (vertices && instances)
        recording_draw(d, buffer, "vkCmdDraw");
    d->vk.vkCmdDraw(buffer, vertices, instances, first_vertex, first_instance);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDrawIndexed(VkCommandBuffer buffer, uint32_t indices,
                                                         uint32_t instances, uint32_t first_index,
                                                         int32_t vertex_offset,
                                                         uint32_t first_instance)
{
    struct layer_device *d = layer_device_of(buffer);
    struct layer_recording *recording =
        indices && instances ? recording_draw(d, buffer, "vkCmdDrawIndexed") : NULL;
    if (recording)
        bf_access_record_bytes(
            recording->uses, recording->index.buffer,
            recording->index.offset + (VkDeviceSize)first_index * recording->index_size,
            (VkDeviceSize)indices * recording->index_size, BF_ACCESS_READ, "vkCmdDrawIndexed");
    d->vk.vkCmdDrawIndexed(buffer, indices, instances, first_index, vertex_offset, first_instance);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDrawIndirect(VkCommandBuffer buffer, VkBuffer indirect,
                                                          VkDeviceSize offset, uint32_t count,
                                                          uint32_t stride)
{
    struct layer_device *d = layer_device_of(buffer);
    if (count)
        draw_indirect(d, buffer, false, "vkCmdDrawIndirect");
    bf_access_record_steps(layer_uses_of(d, buffer), indirect, offset,
                           sizeof(VkDrawIndirectCommand), stride, count, BF_ACCESS_READ,
                           "vkCmdDrawIndirect");
    d->vk.vkCmdDrawIndirect(buffer, indirect, offset, count, stride);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDrawIndexedIndirect(VkCommandBuffer buffer,
                                                                 VkBuffer indirect,
                                                                 VkDeviceSize offset,
                                                                 uint32_t count, uint32_t stride)
{
    struct layer_device *d = layer_device_of(buffer);
    if (count)
        draw_indirect(d, buffer, true, "vkCmdDrawIndexedIndirect");
    bf_access_record_steps(layer_uses_of(d, buffer), indirect, offset,
                           sizeof(VkDrawIndexedIndirectCommand), stride, count, BF_ACCESS_READ,
                           "vkCmdDrawIndexedIndirect");
    d->vk.vkCmdDrawIndexedIndirect(buffer, indirect, offset, count, stride);
}

/* Records that the count is read. It says how many draws are read, and may be 0, so nothing is
 * known about the indirect buffer. */
static void use_count(struct layer_device *d, VkCommandBuffer buffer, VkBuffer count,
                      VkDeviceSize offset, const char *what)
{
    bf_access_record_bytes(layer_uses_of(d, buffer), count, offset, sizeof(uint32_t),
                           BF_ACCESS_READ, what);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDrawIndirectCount(VkCommandBuffer buffer,
                                                               VkBuffer indirect,
                                                               VkDeviceSize offset, VkBuffer count,
                                                               VkDeviceSize count_offset,
                                                               uint32_t max, uint32_t stride)
{
    struct layer_device *d = layer_device_of(buffer);
    use_count(d, buffer, count, count_offset, "vkCmdDrawIndirectCount");
    d->vk.vkCmdDrawIndirectCount(buffer, indirect, offset, count, count_offset, max, stride);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDrawIndexedIndirectCount(
    VkCommandBuffer buffer, VkBuffer indirect, VkDeviceSize offset, VkBuffer count,
    VkDeviceSize count_offset, uint32_t max, uint32_t stride)
{
    struct layer_device *d = layer_device_of(buffer);
    use_count(d, buffer, count, count_offset, "vkCmdDrawIndexedIndirectCount");
    d->vk.vkCmdDrawIndexedIndirectCount(buffer, indirect, offset, count, count_offset, max, stride);
}

VKAPI_ATTR void VKAPI_CALL layer_access_vkCmdDispatchIndirect(VkCommandBuffer buffer,
                                                              VkBuffer indirect,
                                                              VkDeviceSize offset)
{
    struct layer_device *d = layer_device_of(buffer);
    bf_access_record_bytes(layer_uses_of(d, buffer), indirect, offset,
                           sizeof(VkDispatchIndirectCommand), BF_ACCESS_READ,
                           "vkCmdDispatchIndirect");
    d->vk.vkCmdDispatchIndirect(buffer, indirect, offset);
}
