/* SPDX-License-Identifier: MIT */
/* What Vulkan asks of commands when they are recorded: that the family of their pool can run them,
 * and that they stay within the buffers they name. */
#include "icd.h"

/* NULL for a family that the device hasn't: that was told when the pool was made. */
static const struct icd_family *family_of(const struct icd_command_buffer *buffer)
{
    const struct icd_shape *shape = &buffer->object.device->config->shape;
    return buffer->family < shape->n_families ? &shape->families[buffer->family] : NULL;
}

static const struct icd_command_buffer *commands_of(VkCommandBuffer commandBuffer, const char *call)
{
    return icd_object_check(commandBuffer, ICD_KIND_COMMAND_BUFFER, call);
}

void icd_command_needs(VkCommandBuffer commandBuffer, VkQueueFlags any, const char *call)
{
    const struct icd_command_buffer *buffer = commands_of(commandBuffer, call);
    const struct icd_family *family = family_of(buffer);
    if (family && !(family->flags & any))
        icd_violation(BELFRY_ICD_COMMAND_FAMILY,
                      "vk%s is recorded for queue family %u with flags %#x and needs one of %#x",
                      call, buffer->family, family->flags, any);
}

/* Stages and what a family needs one of to have them; stages in no row are everywhere. */
static const struct {
    VkPipelineStageFlags2 stages;
    VkQueueFlags any;
} stage_needs[] = {
    {VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT |
         VK_PIPELINE_STAGE_2_TESSELLATION_CONTROL_SHADER_BIT |
         VK_PIPELINE_STAGE_2_TESSELLATION_EVALUATION_SHADER_BIT |
         VK_PIPELINE_STAGE_2_GEOMETRY_SHADER_BIT | VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT |
         VK_PIPELINE_STAGE_2_EARLY_FRAGMENT_TESTS_BIT |
         VK_PIPELINE_STAGE_2_LATE_FRAGMENT_TESTS_BIT |
         VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
         VK_PIPELINE_STAGE_2_INDEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_ATTRIBUTE_INPUT_BIT |
         VK_PIPELINE_STAGE_2_PRE_RASTERIZATION_SHADERS_BIT,
     VK_QUEUE_GRAPHICS_BIT},
    {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_QUEUE_COMPUTE_BIT},
    {VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT},
    {VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_COPY_BIT |
         VK_PIPELINE_STAGE_2_RESOLVE_BIT | VK_PIPELINE_STAGE_2_BLIT_BIT |
         VK_PIPELINE_STAGE_2_CLEAR_BIT,
     ICD_TRANSFER},
};

void icd_stages_seen(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stages, const char *call)
{
    const struct icd_command_buffer *buffer = commands_of(commandBuffer, call);
    const struct icd_family *family = family_of(buffer);
    for (size_t i = 0; family && i < sizeof(stage_needs) / sizeof(stage_needs[0]); i++)
        if ((stages & stage_needs[i].stages) && !(family->flags & stage_needs[i].any))
            icd_violation(BELFRY_ICD_COMMAND_FAMILY,
                          "%s names stages %#llx, which queue family %u with flags %#x hasn't",
                          call, (unsigned long long)(stages & stage_needs[i].stages),
                          buffer->family, family->flags);
}

void icd_timestamp_seen(VkCommandBuffer commandBuffer, const char *call)
{
    const struct icd_command_buffer *buffer = commands_of(commandBuffer, call);
    const struct icd_family *family = family_of(buffer);
    if (family && !family->timestamp_bits)
        icd_violation(BELFRY_ICD_TIMESTAMP_FAMILY,
                      "%s is recorded for queue family %u, which has no timestamps", call,
                      buffer->family);
}

bool icd_range_seen(VkCommandBuffer commandBuffer, const struct icd_buffer *buffer,
                    VkBufferUsageFlags usage, VkDeviceSize offset, VkDeviceSize size,
                    VkDeviceSize unit, const char *call)
{
    icd_device_seen(commands_of(commandBuffer, call)->object.device, buffer, call);
    if (!(buffer->usage & usage))
        icd_violation(BELFRY_ICD_BUFFER_USAGE, "%s on a buffer of usage %#x, which lacks %#x", call,
                      buffer->usage, usage);
    const char *what = NULL;
    if (!size || offset % unit || size % unit)
        what = "which is misaligned or nothing";
    else if (offset > buffer->size || size > buffer->size - offset)
        what = "which reaches beyond the buffer";
    else if (buffer->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT)
        return true;
    else if (!buffer->memory)
        what = "which isn't bound to memory";
    else if (buffer->offset > buffer->memory->size ||
             offset + size > buffer->memory->size - buffer->offset)
        what = "which reaches beyond the buffer's memory";
    if (what)
        icd_violation(BELFRY_ICD_OUT_OF_RANGE, "%s on %llu bytes at %llu of a buffer of %llu, %s",
                      call, (unsigned long long)size, (unsigned long long)offset,
                      (unsigned long long)buffer->size, what);
    return !what;
}
