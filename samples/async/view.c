/* SPDX-License-Identifier: MIT */
/* The graphics half: draws the pool through one version of its waves. */
#include "view.h"

#include <math.h>

#include "camera.h"
#include "pipeline.h"

#include "shaders/pool.frag.h"
#include "shaders/screen.vert.h"

#define FOCAL  1.60f /* focal length, in halves of the picture's height */
#define PERIOD 3600u /* frames until the camera has gone around once */

struct push {
    struct sample_camera camera;
    float lens[2];
    uint32_t first;
    uint32_t side;
};

VkResult view_create(struct view *view, const struct sample_device *device,
                     const struct water *water, VkFormat target)
{
    const struct sample_slot slot = {
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
        .buffer = water->published.handle,
    };
    PASS(sample_sets_fill(device, &slot, 1, 1, &view->sets, &view->set));
    PASS(sample_pipeline_layout(device, view->sets.layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                sizeof(struct push), &view->layout));
    const struct sample_draw draw = {
        .vertex = SAMPLE_SPIRV(screen_vert),
        .fragment = SAMPLE_SPIRV(pool_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = target,
        .layout = view->layout,
        .specialization = sample_encoding(target),
    };
    return sample_draw_pipeline(device, &draw, "pool", &view->pipeline);
}

void view_destroy(struct view *view, const struct sample_device *device)
{
    vkDestroyPipeline(device->handle, view->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, view->layout, NULL);
    sample_sets_destroy(device, &view->sets);
}

void view_record(const struct view *view, const struct sample_device *device,
                 VkCommandBuffer commands, uint64_t frame, uint32_t version,
                 const struct sample_target *target, VkExtent2D extent)
{
    float turn = 6.2831853f * (float)(frame % PERIOD) / PERIOD;
    float around = 0.36f + 0.5f * sinf(turn), height = 1.28f + 0.2f * sinf(2.0f * turn);
    const float eye[3] = {1.75f * sinf(around), height, 1.75f * cosf(around)};
    const float at[3] = {0.0f, -0.16f, 0.12f};
    struct push push = {
        .lens = {(float)extent.width / (float)extent.height / FOCAL, -1.0f / FOCAL},
        .first = version * WATER_SIDE * WATER_SIDE,
        .side = WATER_SIDE,
    };

    sample_camera_look(&push.camera, eye, at);
    sample_label_begin(device, commands, "draw frame %llu", (unsigned long long)frame);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, view->layout, 0, 1,
                            &view->set, 0, NULL);
    vkCmdPushConstants(commands, view->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push, &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    sample_label_end(device, commands);
}
