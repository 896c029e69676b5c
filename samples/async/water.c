/* SPDX-License-Identifier: MIT */
/* The compute half: simulates waves on a pool. */
#include "water.h"

#include "pipeline.h"
#include "show.h"

#include "shaders/publish.comp.h"
#include "shaders/ripple.comp.h"

#define STEPS      8u /* steps per frame; even, so that the result is in the buffer's first half */
#define CELLS      (WATER_SIDE * WATER_SIDE)
#define GROUP_SIDE 8u /* as in the shaders */

struct push {
    uint32_t side;
    uint32_t from, to;
    uint32_t step;
    uint32_t seed;
    uint32_t calm;
};

VkResult water_create(struct water *water, const struct sample_device *device, uint32_t versions,
                      uint32_t seed)
{
    water->versions = versions;
    water->seed = seed;
    PASS(sample_buffer_create(device, (VkDeviceSize)2 * CELLS * sizeof(float[2]),
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false, "waves", &water->state));
    PASS(sample_buffer_create(device, (VkDeviceSize)versions * CELLS * sizeof(float[4]),
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false, "published",
                              &water->published));
    const struct sample_slot slots[2] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .stages = VK_SHADER_STAGE_COMPUTE_BIT,
         .buffer = water->state.handle},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .stages = VK_SHADER_STAGE_COMPUTE_BIT,
         .buffer = water->published.handle},
    };
    PASS(sample_sets_fill(device, slots, 2, 1, &water->sets, &water->set));
    PASS(sample_pipeline_layout(device, water->sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                sizeof(struct push), &water->layout));
    PASS(sample_compute_pipeline(device, SAMPLE_SPIRV(ripple_comp), water->layout, "ripple",
                                 &water->ripple));
    return sample_compute_pipeline(device, SAMPLE_SPIRV(publish_comp), water->layout, "publish",
                                   &water->publish);
}

void water_destroy(struct water *water, const struct sample_device *device)
{
    vkDestroyPipeline(device->handle, water->ripple, NULL);
    vkDestroyPipeline(device->handle, water->publish, NULL);
    vkDestroyPipelineLayout(device->handle, water->layout, NULL);
    sample_sets_destroy(device, &water->sets);
    sample_buffer_destroy(device, &water->published);
    sample_buffer_destroy(device, &water->state);
}

static void pass_record(const struct water *water, VkCommandBuffer commands, VkPipeline pipeline,
                        const struct push *push)
{
    const uint32_t groups = WATER_SIDE / GROUP_SIDE;

    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands, water->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof *push, push);
    vkCmdDispatch(commands, groups, groups, 1);
    sample_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
}

void water_record(const struct water *water, const struct sample_device *device,
                  VkCommandBuffer commands, uint64_t frame, uint32_t version)
{
    struct push push = {.side = WATER_SIDE, .seed = water->seed};

    sample_label_begin(device, commands, "waves of frame %llu", (unsigned long long)frame);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, water->layout, 0, 1,
                            &water->set, 0, NULL);
    for (uint32_t i = 0; i < STEPS; ++i) {
        push.from = i % 2 * CELLS;
        push.to = CELLS - push.from;
        push.step = (uint32_t)(frame - 1) * STEPS + i;
        push.calm = push.step == 0;
        pass_record(water, commands, water->ripple, &push);
    }
    push.from = 0;
    push.to = version * CELLS;
    pass_record(water, commands, water->publish, &push);
    sample_label_end(device, commands);
}
