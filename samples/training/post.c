/* SPDX-License-Identifier: MIT */
/* The post-process, whose shader the layer rebuilds: its pipeline and its switches. */
#include "post.h"

#include <math.h>

#include "pipeline.h"

#include "shaders/post.comp.h"

#define GROUP_SIDE 8u /* as in the shader */

/* As in the shader. */
enum {
    BLOOM = 1,
    FRINGE = 2,
    SHARPEN = 4,
    RAYS = 8,
    VIGNETTE = 16,
    GRADE = 32,
    GRAIN = 64,
    DITHER = 128,
};
enum { FILM, OIL, INK, PRINT };
enum { CLIP, SOFT, FILMIC, HARD, LOGARITHMIC };

struct push {
    uint32_t effects, medium, curve;
    uint32_t bloom_levels, fringe_taps, sharpen_radius, ray_steps, brush_radius;
};

struct look {
    float grade[3][4];
    float light[2];
    float exposure;
    float bloom, bloom_growth;
    float fringe, fringe_step, fringe_gain;
    float sharpen, sharpen_gain;
    float rays, ray_decay, ray_step;
    float brush_gain;
    float vignette;
    float grain;
    uint32_t frame;
};

/* The switches and counts that this scene uses, which never change. */
static const struct push hot = {
    .effects = BLOOM | VIGNETTE | GRADE | GRAIN | DITHER,
    .medium = FILM,
    .curve = FILMIC,
    .bloom_levels = 5,
    .fringe_taps = 6,
    .sharpen_radius = 2,
    .ray_steps = 12,
    .brush_radius = 3,
};

static void look_fill(struct look *look, uint64_t frame)
{
    *look = (struct look){
        .grade = {{1.04f, 0.02f, -0.02f, 0.000f},
                  {-0.01f, 1.00f, 0.01f, 0.001f},
                  {0.00f, -0.02f, 1.02f, 0.008f}},
        .light = {0.28f, 0.30f},
        .exposure = 1.25f,
        .bloom = 0.060f,
        .bloom_growth = 1.12f,
        .fringe = 0.02f,
        .fringe_step = 1.0f / 5.0f,
        .fringe_gain = 1.0f / 3.0f,
        .sharpen = 0.4f,
        .sharpen_gain = 1.0f / 25.0f,
        .rays = 0.05f,
        .ray_decay = 0.9f,
        .ray_step = 0.05f,
        .brush_gain = 1.0f / 16.0f,
        .vignette = 0.62f,
        .grain = 0.020f,
        .frame = (uint32_t)frame,
    };
}

/* ----------------------------------------------------------------------------------- Objects -- */

static VkResult times_create(struct post *post, const struct sample_device *device, uint32_t family)
{
    VkQueueFamilyProperties families[32] = {0};
    uint32_t count = 32;

    vkGetPhysicalDeviceQueueFamilyProperties(device->gpu, &count, families);
    uint32_t bits = family < count ? families[family].timestampValidBits : 0;
    if (!bits)
        return VK_SUCCESS;
    post->stamp_mask = UINT64_MAX >> (64 - bits);
    post->tick = (double)device->properties.limits.timestampPeriod * 1e-6;
    TRY(vkCreateQueryPool(device->handle,
                          &(VkQueryPoolCreateInfo){
                              .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                              .queryType = VK_QUERY_TYPE_TIMESTAMP,
                              .queryCount = 2 * POST_VERSIONS,
                          },
                          NULL, &post->times));
    return VK_SUCCESS;
}

VkResult post_create(struct post *post, const struct sample_device *device, uint32_t family)
{
    static const struct sample_slot slots[] = {
        {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
    };

    for (uint32_t i = 0; i < POST_VERSIONS; ++i)
        PASS(sample_buffer_create(device, sizeof(struct look), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                                  true, "look", &post->looks[i]));
    PASS(sample_sampler_create(device, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &post->sampler));
    PASS(sample_sets_layout(device, slots, 3, &post->sets));
    PASS(sample_pipeline_layout(device, post->sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                sizeof(struct push), &post->layout));
    PASS(sample_compute_pipeline(device, SAMPLE_SPIRV(post_comp), post->layout, "post-process",
                                 &post->pipeline));
    return times_create(post, device, family);
}

VkResult post_resize(struct post *post, const struct sample_device *device, VkImageView light,
                     VkExtent2D extent)
{
    struct sample_slot slots[POST_VERSIONS][3];

    sample_sets_empty(device, &post->sets);
    sample_buffer_destroy(device, &post->picture);
    post->extent = extent;
    PASS(sample_buffer_create(device, (VkDeviceSize)extent.width * extent.height * 4,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false, "picture",
                              &post->picture));
    for (uint32_t i = 0; i < POST_VERSIONS; ++i) {
        slots[i][0] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
            .view = light,
            .sampler = post->sampler,
            .layout = VK_IMAGE_LAYOUT_GENERAL,
        };
        slots[i][1] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .buffer = post->looks[i].handle,
        };
        slots[i][2] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .buffer = post->picture.handle,
        };
    }
    return sample_sets_fill(device, slots[0], 3, POST_VERSIONS, &post->sets, post->set);
}

void post_destroy(struct post *post, const struct sample_device *device)
{
    vkDestroyQueryPool(device->handle, post->times, NULL);
    vkDestroyPipeline(device->handle, post->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, post->layout, NULL);
    sample_sets_destroy(device, &post->sets);
    vkDestroySampler(device->handle, post->sampler, NULL);
    sample_buffer_destroy(device, &post->picture);
    for (uint32_t i = 0; i < POST_VERSIONS; ++i)
        sample_buffer_destroy(device, &post->looks[i]);
}

/* ------------------------------------------------------------------------------------ Frames -- */

static void stamp(const struct post *post, VkCommandBuffer commands, uint32_t query)
{
    if (post->times)
        vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, post->times, query);
}

void post_record(struct post *post, const struct sample_device *device, VkCommandBuffer commands,
                 uint64_t frame)
{
    uint32_t version = (uint32_t)(frame % POST_VERSIONS);

    look_fill(post->looks[version].mapped, frame);
    sample_label_begin(device, commands, "post-process of frame %llu", (unsigned long long)frame);
    if (post->times)
        vkCmdResetQueryPool(commands, post->times, 2 * version, 2);
    stamp(post, commands, 2 * version);
    /* lavapipe writes the timestamp only when it next waits for its own work. */
    sample_barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, post->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, post->layout, 0, 1,
                            &post->set[version], 0, NULL);
    vkCmdPushConstants(commands, post->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof hot, &hot);
    vkCmdDispatch(commands, (post->extent.width + GROUP_SIDE - 1) / GROUP_SIDE,
                  (post->extent.height + GROUP_SIDE - 1) / GROUP_SIDE, 1);
    stamp(post, commands, 2 * version + 1);
    sample_barrier(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT);
    sample_label_end(device, commands);
}

double post_milliseconds(const struct post *post, const struct sample_device *device,
                         uint64_t frame)
{
    uint64_t stamps[2];

    if (!post->times ||
        vkGetQueryPoolResults(device->handle, post->times, (uint32_t)(frame % POST_VERSIONS) * 2, 2,
                              sizeof stamps, stamps, sizeof *stamps,
                              VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return -1.0;
    return (double)((stamps[1] - stamps[0]) & post->stamp_mask) * post->tick;
}
