/* SPDX-License-Identifier: MIT */
/* Draws the bytes that have been copied, as points of light. */
#include "cloud.h"

#include <math.h>

#include "camera.h"
#include "pipeline.h"

#include "shaders/develop.frag.h"
#include "shaders/edge.frag.h"
#include "shaders/edge.vert.h"
#include "shaders/point.frag.h"
#include "shaders/point.vert.h"
#include "shaders/screen.vert.h"

#define LIGHT_FORMAT VK_FORMAT_R16G16B16A16_SFLOAT

struct push {
    struct sample_camera camera;
    float lens[2], size[2];
    uint32_t first, offset;
    float energy, step;
};

static VkResult pipelines_create(struct cloud *cloud, const struct sample_device *device,
                                 VkFormat target)
{
    const struct {
        const char *name;
        struct sample_draw draw;
        VkPipeline *pipeline;
    } passes[] = {
        {"points",
         {SAMPLE_SPIRV(point_vert), SAMPLE_SPIRV(point_frag), VK_PRIMITIVE_TOPOLOGY_POINT_LIST,
          SAMPLE_BLEND_ADD, LIGHT_FORMAT, cloud->ring_layout, NULL},
         &cloud->points},
        {"edges",
         {SAMPLE_SPIRV(edge_vert), SAMPLE_SPIRV(edge_frag), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
          SAMPLE_BLEND_ADD, LIGHT_FORMAT, cloud->ring_layout, NULL},
         &cloud->edges},
        {"develop",
         {SAMPLE_SPIRV(screen_vert), SAMPLE_SPIRV(develop_frag),
          VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, SAMPLE_BLEND_NONE, target, cloud->screen_layout,
          sample_encoding(target)},
         &cloud->develop},
    };
    for (size_t i = 0; i < sizeof passes / sizeof *passes; ++i)
        PASS(sample_draw_pipeline(device, &passes[i].draw, passes[i].name, passes[i].pipeline));
    return VK_SUCCESS;
}

VkResult cloud_create(struct cloud *cloud, const struct sample_device *device, VkBuffer ring,
                      VkFormat target)
{
    const struct sample_slot ring_slot = {
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .stages = VK_SHADER_STAGE_VERTEX_BIT,
        .buffer = ring,
    };
    const struct sample_slot screen_slot = {
        .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
        .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
    };
    PASS(sample_sets_fill(device, &ring_slot, 1, 1, &cloud->ring_sets, &cloud->ring_set));
    PASS(sample_sets_layout(device, &screen_slot, 1, &cloud->screen_sets));
    PASS(sample_sampler_create(device, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &cloud->sampler));
    PASS(sample_pipeline_layout(device, cloud->ring_sets.layout, VK_SHADER_STAGE_VERTEX_BIT,
                                sizeof(struct push), &cloud->ring_layout));
    PASS(sample_pipeline_layout(device, cloud->screen_sets.layout, 0, 0, &cloud->screen_layout));
    return pipelines_create(cloud, device, target);
}

static void sized_destroy(struct cloud *cloud, const struct sample_device *device)
{
    sample_sets_empty(device, &cloud->screen_sets);
    vkDestroyImageView(device->handle, cloud->light_view, NULL);
    cloud->light_view = VK_NULL_HANDLE;
    sample_image_destroy(device, &cloud->light);
}

VkResult cloud_resize(struct cloud *cloud, const struct sample_device *device, VkExtent2D extent)
{
    sized_destroy(cloud, device);
    cloud->extent = extent;
    cloud->empty = true;
    PASS(sample_image_create(device, LIGHT_FORMAT, extent, 1,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                             "light", &cloud->light));
    PASS(sample_view_create(device, cloud->light.handle, LIGHT_FORMAT, 0, &cloud->light_view));
    return sample_sets_fill(device,
                            &(struct sample_slot){
                                .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
                                .view = cloud->light_view,
                                .sampler = cloud->sampler,
                                .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                            },
                            1, 1, &cloud->screen_sets, &cloud->screen_set);
}

void cloud_destroy(struct cloud *cloud, const struct sample_device *device)
{
    sized_destroy(cloud, device);
    vkDestroyPipeline(device->handle, cloud->points, NULL);
    vkDestroyPipeline(device->handle, cloud->edges, NULL);
    vkDestroyPipeline(device->handle, cloud->develop, NULL);
    vkDestroyPipelineLayout(device->handle, cloud->ring_layout, NULL);
    vkDestroyPipelineLayout(device->handle, cloud->screen_layout, NULL);
    sample_sets_destroy(device, &cloud->ring_sets);
    sample_sets_destroy(device, &cloud->screen_sets);
    vkDestroySampler(device->handle, cloud->sampler, NULL);
}

void cloud_add(struct cloud *cloud, const struct sample_device *device, VkCommandBuffer commands,
               const struct cloud_chunk *chunk)
{
    const VkExtent2D extent = cloud->extent;
    const float middle[3] = {0.0f, -0.08f, 0.0f};
    const float eye[3] = {4.2f * sinf(chunk->turn), 1.6f, 4.2f * cosf(chunk->turn)};
    float focal = 2.35f; /* focal length, in halves of the picture's shorter side */
    struct push push = {
        .size = {(float)extent.width, (float)extent.height},
        .first = chunk->first,
        /* In a file of more than 4 GiB the colours repeat. */
        .offset = (uint32_t)chunk->offset,
        .step = (float)(1.0 / fmin((double)chunk->size, 4294967296.0)),
    };

    sample_camera_look(&push.camera, eye, middle);
    push.lens[0] = extent.width > extent.height ? focal * push.size[1] / push.size[0] : focal;
    push.lens[1] = extent.width > extent.height ? -focal : -focal * push.size[0] / push.size[1];
    /* The brightness must depend neither on the picture's size nor on the file's, but is limited
     * for a file of a few bytes. */
    float pixels = push.lens[0] * -push.lens[1] * push.size[0] * push.size[1];
    push.energy = fminf(0.10f * pixels / (float)chunk->size, 40.0f);

    sample_label_begin(device, commands, "points of chunk %u", chunk->number);
    sample_transition(commands, cloud->light.handle, 0, 1,
                      cloud->empty ? SAMPLE_USE_DISCARD : SAMPLE_USE_SAMPLED, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, cloud->light_view, extent,
                           cloud->empty ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cloud->ring_layout, 0, 1,
                            &cloud->ring_set, 0, NULL);
    vkCmdPushConstants(commands, cloud->ring_layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push,
                       &push);
    if (cloud->empty) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cloud->edges);
        vkCmdDraw(commands, 12 * 6, 1, 0, 0);
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cloud->points);
    vkCmdDraw(commands, chunk->count, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, cloud->light.handle, 0, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SAMPLED);
    sample_label_end(device, commands);
    cloud->empty = false;
}

void cloud_develop(struct cloud *cloud, const struct sample_device *device,
                   VkCommandBuffer commands, const struct sample_target *target)
{
    sample_label_begin(device, commands, "develop");
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, cloud->extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cloud->develop);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cloud->screen_layout, 0, 1,
                            &cloud->screen_set, 0, NULL);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    sample_label_end(device, commands);
}
