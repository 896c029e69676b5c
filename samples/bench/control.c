/* SPDX-License-Identifier: MIT */
/* Small compute shaders for which it is known what a specialiser should do with them. */
#include "control.h"

#include <string.h>

#include "pipeline.h"

#include "shaders/steer.comp.h"
#include "shaders/stream.comp.h"

VkResult control_create(struct control *control, const struct corpus_gpu *gpu,
                        enum control_shader shader, const char *name, uint32_t groups,
                        VkDeviceSize bytes)
{
    const struct sample_device *device = &gpu->device;

    control->groups = groups;
    VkResult result = sample_buffer_create(device, bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true,
                                           name, &control->buffer);
    if (result < 0)
        return result;
    memset(control->buffer.mapped, 0x5a, bytes);
    const struct sample_slot slot = {
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .stages = VK_SHADER_STAGE_COMPUTE_BIT,
        .buffer = control->buffer.handle,
    };
    result = sample_sets_fill(device, &slot, 1, 1, &control->sets, &control->set);
    if (result >= 0)
        result = sample_pipeline_layout(device, control->sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                        sizeof(struct control_push), &control->layout);
    if (result >= 0)
        result = sample_compute_pipeline(
            device, shader == CONTROL_STEER ? SAMPLE_SPIRV(steer_comp) : SAMPLE_SPIRV(stream_comp),
            control->layout, name, &control->pipeline);
    return result;
}

void control_destroy(struct control *control, const struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;

    vkDestroyPipeline(device->handle, control->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, control->layout, NULL);
    sample_sets_destroy(device, &control->sets);
    sample_buffer_destroy(device, &control->buffer);
    *control = (struct control){0};
}

VkResult control_frame(const struct control *control, struct corpus_gpu *gpu,
                       const struct control_push *pushes, uint32_t count, double *ns)
{
    VkCommandBuffer commands = gpu->commands;
    VkResult result = twin_begin(gpu);
    if (result < 0)
        return result;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, control->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, control->layout, 0, 1,
                            &control->set, 0, NULL);
    for (uint32_t i = 0; i < count; ++i) {
        vkCmdPushConstants(commands, control->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           sizeof pushes[i], &pushes[i]);
        vkCmdDispatch(commands, control->groups, 1, 1);
        sample_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    }
    return twin_end(gpu, ns);
}
