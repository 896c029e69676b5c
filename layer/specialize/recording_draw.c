/* SPDX-License-Identifier: MIT */
/* The specialiser's functions for draws and dispatches, which may bind a variant of the bound
 * pipeline, and for render passes. */
#include "layer/specialize/recording.h"

/* Binds a variant before a draw, if there is one. Returns the driver's functions. */
static inline const struct VolkDeviceTable *variant_draw(VkCommandBuffer buffer)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording)
        bf_recording_use(recording, VK_PIPELINE_BIND_POINT_GRAPHICS);
    return layer_recording_table(recording, buffer);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDraw(VkCommandBuffer buffer, uint32_t vertices,
                                                      uint32_t instances, uint32_t first_vertex,
                                                      uint32_t first_instance)
{
    variant_draw(buffer)->vkCmdDraw(buffer, vertices, instances, first_vertex, first_instance);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawIndexed(VkCommandBuffer buffer,
                                                             uint32_t indices, uint32_t instances,
                                                             uint32_t first_index, int32_t offset,
                                                             uint32_t first_instance)
{
    variant_draw(buffer)->vkCmdDrawIndexed(buffer, indices, instances, first_index, offset,
                                           first_instance);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawMultiEXT(
    VkCommandBuffer buffer, uint32_t count, const VkMultiDrawInfoEXT *draws, uint32_t instances,
    uint32_t first_instance, uint32_t stride)
{
    variant_draw(buffer)->vkCmdDrawMultiEXT(buffer, count, draws, instances, first_instance,
                                            stride);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawMultiIndexedEXT(
    VkCommandBuffer buffer, uint32_t count, const VkMultiDrawIndexedInfoEXT *draws,
    uint32_t instances, uint32_t first_instance, uint32_t stride, const int32_t *offset)
{
    variant_draw(buffer)->vkCmdDrawMultiIndexedEXT(buffer, count, draws, instances, first_instance,
                                                   stride, offset);
}

#define INDIRECT(name, prepare)                                                                    \
    VKAPI_ATTR void VKAPI_CALL layer_specialize_##name(VkCommandBuffer buffer, VkBuffer indirect,  \
                                                       VkDeviceSize offset, uint32_t count,        \
                                                       uint32_t stride)                            \
    {                                                                                              \
        prepare(buffer)->name(buffer, indirect, offset, count, stride);                            \
    }

INDIRECT(vkCmdDrawIndirect, variant_draw)
INDIRECT(vkCmdDrawIndexedIndirect, variant_draw)
INDIRECT(vkCmdDrawMeshTasksIndirectNV, variant_draw)
INDIRECT(vkCmdDrawMeshTasksIndirectEXT, variant_draw)

/* Defines the function of an indirect draw with a count, which calls it by the name that the driver
 * has. */
#define COUNTED(name, other_name, third_name)                                                      \
    VKAPI_ATTR void VKAPI_CALL layer_specialize_##name(                                            \
        VkCommandBuffer buffer, VkBuffer indirect, VkDeviceSize offset, VkBuffer counts,           \
        VkDeviceSize counts_offset, uint32_t most, uint32_t stride)                                \
    {                                                                                              \
        const struct VolkDeviceTable *vk = variant_draw(buffer);                                   \
        PFN_##name next = vk->name ? vk->name : vk->other_name ? vk->other_name : vk->third_name;  \
        next(buffer, indirect, offset, counts, counts_offset, most, stride);                       \
    }

COUNTED(vkCmdDrawIndirectCount, vkCmdDrawIndirectCountKHR, vkCmdDrawIndirectCountAMD)
COUNTED(vkCmdDrawIndexedIndirectCount, vkCmdDrawIndexedIndirectCountKHR,
        vkCmdDrawIndexedIndirectCountAMD)
COUNTED(vkCmdDrawMeshTasksIndirectCountNV, vkCmdDrawMeshTasksIndirectCountNV,
        vkCmdDrawMeshTasksIndirectCountNV)
COUNTED(vkCmdDrawMeshTasksIndirectCountEXT, vkCmdDrawMeshTasksIndirectCountEXT,
        vkCmdDrawMeshTasksIndirectCountEXT)

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawIndirectByteCountEXT(
    VkCommandBuffer buffer, uint32_t instances, uint32_t first_instance, VkBuffer counter,
    VkDeviceSize counter_offset, uint32_t offset, uint32_t stride)
{
    variant_draw(buffer)->vkCmdDrawIndirectByteCountEXT(buffer, instances, first_instance, counter,
                                                        counter_offset, offset, stride);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawMeshTasksNV(VkCommandBuffer buffer,
                                                                 uint32_t count, uint32_t first)
{
    variant_draw(buffer)->vkCmdDrawMeshTasksNV(buffer, count, first);
}

#define GROUPS(name, prepare)                                                                      \
    VKAPI_ATTR void VKAPI_CALL layer_specialize_##name(VkCommandBuffer buffer, uint32_t x,         \
                                                       uint32_t y, uint32_t z)                     \
    {                                                                                              \
        prepare(buffer)->name(buffer, x, y, z);                                                    \
    }

GROUPS(vkCmdDrawMeshTasksEXT, variant_draw)
GROUPS(vkCmdDrawClusterHUAWEI, variant_draw)

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDispatch(VkCommandBuffer buffer, uint32_t x,
                                                          uint32_t y, uint32_t z)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording)
        bf_recording_dispatch(recording, (const uint32_t[]){x, y, z});
    layer_recording_table(recording, buffer)->vkCmdDispatch(buffer, x, y, z);
    if (recording)
        bf_recording_dispatched(recording);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDrawClusterIndirectHUAWEI(VkCommandBuffer buffer,
                                                                           VkBuffer indirect,
                                                                           VkDeviceSize offset)
{
    variant_draw(buffer)->vkCmdDrawClusterIndirectHUAWEI(buffer, indirect, offset);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDispatchIndirect(VkCommandBuffer buffer,
                                                                  VkBuffer indirect,
                                                                  VkDeviceSize offset)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording)
        bf_recording_use(recording, VK_PIPELINE_BIND_POINT_COMPUTE);
    layer_recording_table(recording, buffer)->vkCmdDispatchIndirect(buffer, indirect, offset);
    if (recording)
        bf_recording_dispatched(recording);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdDispatchBase(VkCommandBuffer buffer,
                                                              uint32_t first_x, uint32_t first_y,
                                                              uint32_t first_z, uint32_t x,
                                                              uint32_t y, uint32_t z)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording && (first_x || first_y || first_z))
        bf_recording_use(recording, VK_PIPELINE_BIND_POINT_COMPUTE);
    else if (recording)
        bf_recording_dispatch(recording, (const uint32_t[]){x, y, z});
    const struct VolkDeviceTable *vk = layer_recording_table(recording, buffer);
    vk->vkCmdDispatchBase(buffer, first_x, first_y, first_z, x, y, z);
    if (recording)
        bf_recording_dispatched(recording);
}

/* Render passes, which are timed as a whole ----------------------------------------------------*/

/* How far a pass reaches, unless each of several devices has an area of its own; NULL: unknown. */
static const VkRect2D *render_area(const void *chain, const VkRect2D *area)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_DEVICE_GROUP_RENDER_PASS_BEGIN_INFO)
            return NULL;
    }
    return area;
}

/* Tells the recording that a render pass begins, and returns the recording. */
static struct bf_recording *recording_pass_begin(VkCommandBuffer buffer,
                                                 const VkRenderPassBeginInfo *info)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording) {
        bf_recording_area(recording, render_area(info->pNext, &info->renderArea));
        bf_recording_pass_begins(recording);
    }
    return recording;
}

static void end_pass(struct bf_recording *recording)
{
    if (recording)
        bf_recording_pass_ended(recording);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginRenderPass(VkCommandBuffer buffer,
                                                                 const VkRenderPassBeginInfo *info,
                                                                 VkSubpassContents contents)
{
    struct bf_recording *recording = recording_pass_begin(buffer, info);
    layer_recording_table(recording, buffer)->vkCmdBeginRenderPass(buffer, info, contents);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginRenderPass2(VkCommandBuffer buffer,
                                                                  const VkRenderPassBeginInfo *info,
                                                                  const VkSubpassBeginInfo *subpass)
{
    struct bf_recording *recording = recording_pass_begin(buffer, info);
    const struct VolkDeviceTable *vk = layer_recording_table(recording, buffer);
    vk->vkCmdBeginRenderPass2(buffer, info, subpass);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndRenderPass(VkCommandBuffer buffer)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    layer_recording_table(recording, buffer)->vkCmdEndRenderPass(buffer);
    end_pass(recording);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndRenderPass2(VkCommandBuffer buffer,
                                                                const VkSubpassEndInfo *info)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    const struct VolkDeviceTable *vk = layer_recording_table(recording, buffer);
    vk->vkCmdEndRenderPass2(buffer, info);
    end_pass(recording);
}

/* No command may be recorded between the parts of a render pass that is suspended and resumed. */
VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdBeginRendering(VkCommandBuffer buffer,
                                                                const VkRenderingInfo *info)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    if (recording)
        bf_recording_area(recording, render_area(info->pNext, &info->renderArea));
    if (recording && !(info->flags & (VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT)))
        bf_recording_pass_begins(recording);
    layer_rendering_begins(layer_device_of(buffer), info);
    const struct VolkDeviceTable *vk = layer_recording_table(recording, buffer);
    vk->vkCmdBeginRendering(buffer, info);
}

VKAPI_ATTR void VKAPI_CALL layer_specialize_vkCmdEndRendering(VkCommandBuffer buffer)
{
    struct bf_recording *recording = layer_recording_find(buffer);
    const struct VolkDeviceTable *vk = layer_recording_table(recording, buffer);
    vk->vkCmdEndRendering(buffer);
    end_pass(recording);
}
