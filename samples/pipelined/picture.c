/* SPDX-License-Identifier: MIT */
/* Records the graphics half: draws one version of the particles, with bloom. */
#include "picture.h"

#include <math.h>
#include <string.h>

#include "pipeline.h"
#include "report.h"

#include "shaders/bloom_down.frag.h"
#include "shaders/bloom_up.frag.h"
#include "shaders/develop.frag.h"
#include "shaders/fade.frag.h"
#include "shaders/particle.frag.h"
#include "shaders/particle.vert.h"
#include "shaders/screen.vert.h"

#define LIGHT_FORMAT VK_FORMAT_R16G16B16A16_SFLOAT

#define LINGER     0.88f /* the share of the accumulated light that remains after a frame */
#define MOMENTS    2u    /* points drawn per particle and frame */
#define SHUTTER    SIMULATION_STEP
#define BRIGHTNESS 0.58f

struct vec3 {
    float x, y, z;
};

struct points_push {
    float right[4], up[4], forward[4];
    float lens[4];
    float size[2];
    uint32_t first;
    uint32_t salt;
    float energy;
    float shutter;
    uint32_t moments;
};

struct screen_push {
    float texel[2];
    float scale;
    float aspect;
};

static struct vec3 cross(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static float dot(struct vec3 a, struct vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec3 normalized(struct vec3 a)
{
    float scale = 1.0f / sqrtf(dot(a, a));
    return (struct vec3){a.x * scale, a.y * scale, a.z * scale};
}

static void axis_store(float row[4], struct vec3 axis, struct vec3 eye)
{
    row[0] = axis.x;
    row[1] = axis.y;
    row[2] = axis.z;
    row[3] = -dot(axis, eye);
}

/* A slow orbit, a little above the particles, looking at their centre. */
static void camera_place(struct points_push *push, uint64_t frame, VkExtent2D extent)
{
    /* A whole number of turns per period, so that the picture repeats with the simulation. */
    float turn = 6.2831853f * (float)(frame % SIMULATION_PERIOD) / (float)SIMULATION_PERIOD;
    float around = 0.6f + 2.0f * turn;
    float height = 0.45f + 0.12f * sinf(4.0f * turn);
    float distance = 4.2f;
    struct vec3 eye = {distance * cosf(height) * sinf(around), distance * sinf(height),
                       distance * cosf(height) * cosf(around)};
    struct vec3 forward = normalized((struct vec3){-eye.x, -eye.y, -eye.z});
    struct vec3 right = normalized(cross(forward, (struct vec3){0.0f, 1.0f, 0.0f}));
    struct vec3 down = cross(forward, right); /* Vulkan's y axis points down. */

    axis_store(push->right, right, eye);
    axis_store(push->up, down, eye);
    axis_store(push->forward, forward, eye);
    /* The shorter side has a fixed angle of view, so that all window shapes show all particles. */
    float shorter = (float)(extent.width < extent.height ? extent.width : extent.height);
    push->lens[0] = 2.85f * shorter / (float)extent.width;
    push->lens[1] = 2.85f * shorter / (float)extent.height;
    push->lens[2] = distance - 0.3f;
    push->lens[3] = 0.05f;
}

static VkResult pipelines_create(struct picture *picture, const struct sample_device *device,
                                 const struct simulation *simulation, VkFormat target)
{
    const struct sample_spirv screen = SAMPLE_SPIRV(screen_vert);
    /* A target format that encodes sRGB itself must be given linear light. */
    const VkBool32 encode = target != VK_FORMAT_B8G8R8A8_SRGB && target != VK_FORMAT_R8G8B8A8_SRGB;
    const VkSpecializationMapEntry entry = {.constantID = 0, .size = sizeof encode};
    const VkSpecializationInfo specialization = {1, &entry, sizeof encode, &encode};

    VkResult result = sample_set_layout(device, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2,
                                        VK_SHADER_STAGE_FRAGMENT_BIT, &picture->set_layout);
    if (result < 0)
        return result;
    result = sample_pipeline_layout(device, picture->set_layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                    sizeof(struct screen_push), &picture->screen_layout);
    if (result < 0)
        return result;
    result = sample_pipeline_layout(device, simulation->set_layout, VK_SHADER_STAGE_VERTEX_BIT,
                                    sizeof(struct points_push), &picture->points_layout);
    if (result < 0)
        return result;

    const struct {
        const char *name;
        struct sample_draw draw;
        VkPipeline *pipeline;
    } passes[] = {
        {"points",
         {SAMPLE_SPIRV(particle_vert), SAMPLE_SPIRV(particle_frag),
          VK_PRIMITIVE_TOPOLOGY_POINT_LIST, SAMPLE_BLEND_ADD, LIGHT_FORMAT, picture->points_layout,
          NULL},
         &picture->points},
        {"fade",
         {screen, SAMPLE_SPIRV(fade_frag), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST, SAMPLE_BLEND_FADE,
          LIGHT_FORMAT, picture->screen_layout, NULL},
         &picture->fade},
        {"bloom down",
         {screen, SAMPLE_SPIRV(bloom_down_frag), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
          SAMPLE_BLEND_NONE, LIGHT_FORMAT, picture->screen_layout, NULL},
         &picture->bloom_down},
        {"bloom up",
         {screen, SAMPLE_SPIRV(bloom_up_frag), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
          SAMPLE_BLEND_ADD, LIGHT_FORMAT, picture->screen_layout, NULL},
         &picture->bloom_up},
        {"develop",
         {screen, SAMPLE_SPIRV(develop_frag), VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
          SAMPLE_BLEND_NONE, target, picture->screen_layout, &specialization},
         &picture->develop},
    };
    for (size_t i = 0; i < sizeof passes / sizeof *passes; ++i) {
        result = sample_draw_pipeline(device, &passes[i].draw, passes[i].name, passes[i].pipeline);
        if (result < 0)
            return result;
    }
    return VK_SUCCESS;
}

VkResult picture_create(struct picture *picture, const struct sample_device *device,
                        const struct simulation *simulation, VkFormat target, uint32_t seed)
{
    picture->seed = seed;
    VkResult result = pipelines_create(picture, device, simulation, target);
    if (result < 0)
        return result;
    return sample_check(vkCreateSampler(device->handle,
                                        &(VkSamplerCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                            .magFilter = VK_FILTER_LINEAR,
                                            .minFilter = VK_FILTER_LINEAR,
                                            .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                            .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                            .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                        },
                                        NULL, &picture->sampler),
                        "vkCreateSampler");
}

static void sized_destroy(struct picture *picture, const struct sample_device *device)
{
    vkDestroyDescriptorPool(device->handle, picture->pool, NULL);
    picture->pool = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < PICTURE_BLOOM_LEVELS; ++i) {
        vkDestroyImageView(device->handle, picture->bloom_views[i], NULL);
        picture->bloom_views[i] = VK_NULL_HANDLE;
    }
    sample_image_destroy(device, &picture->bloom);
    vkDestroyImageView(device->handle, picture->light_view, NULL);
    picture->light_view = VK_NULL_HANDLE;
    sample_image_destroy(device, &picture->light);
}

void picture_destroy(struct picture *picture, const struct sample_device *device)
{
    sized_destroy(picture, device);
    vkDestroySampler(device->handle, picture->sampler, NULL);
    vkDestroyPipeline(device->handle, picture->develop, NULL);
    vkDestroyPipeline(device->handle, picture->bloom_up, NULL);
    vkDestroyPipeline(device->handle, picture->bloom_down, NULL);
    vkDestroyPipeline(device->handle, picture->fade, NULL);
    vkDestroyPipeline(device->handle, picture->points, NULL);
    vkDestroyPipelineLayout(device->handle, picture->points_layout, NULL);
    vkDestroyPipelineLayout(device->handle, picture->screen_layout, NULL);
    vkDestroyDescriptorSetLayout(device->handle, picture->set_layout, NULL);
}

static VkExtent2D level_extent(const struct picture *picture, uint32_t level)
{
    VkExtent2D extent = {picture->bloom.extent.width >> level,
                         picture->bloom.extent.height >> level};
    return (VkExtent2D){extent.width ? extent.width : 1, extent.height ? extent.height : 1};
}

/* One set for each texture to sample; only the last pass uses the second binding. */
static VkResult sets_create(struct picture *picture, const struct sample_device *device)
{
    enum { SETS = PICTURE_BLOOM_LEVELS + 2 };
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2 * SETS};
    VkDescriptorSetLayout layouts[SETS];
    VkDescriptorSet sets[SETS];

    VkResult result =
        vkCreateDescriptorPool(device->handle,
                               &(VkDescriptorPoolCreateInfo){
                                   .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                   .maxSets = SETS,
                                   .poolSizeCount = 1,
                                   .pPoolSizes = &size,
                               },
                               NULL, &picture->pool);
    if (sample_check(result, "vkCreateDescriptorPool") < 0)
        return result;
    for (uint32_t i = 0; i < SETS; ++i)
        layouts[i] = picture->set_layout;
    result = vkAllocateDescriptorSets(device->handle,
                                      &(VkDescriptorSetAllocateInfo){
                                          .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                          .descriptorPool = picture->pool,
                                          .descriptorSetCount = SETS,
                                          .pSetLayouts = layouts,
                                      },
                                      sets);
    if (sample_check(result, "vkAllocateDescriptorSets") < 0)
        return result;

    for (uint32_t i = 0; i < SETS; ++i) {
        uint32_t level = i < picture->bloom_levels ? i : 0;
        VkImageView bloom = picture->bloom_views[level];
        const VkDescriptorImageInfo sources[2] = {
            {picture->sampler, i < PICTURE_BLOOM_LEVELS ? bloom : picture->light_view,
             VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
            /* The last set is the develop pass's; the other passes don't read this binding. */
            {picture->sampler,
             i < PICTURE_BLOOM_LEVELS ? bloom
             : i == SETS - 1          ? picture->bloom_views[0]
                                      : picture->light_view,
             VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL},
        };
        vkUpdateDescriptorSets(device->handle, 1,
                               &(VkWriteDescriptorSet){
                                   .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                   .dstSet = sets[i],
                                   .descriptorCount = 2,
                                   .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                   .pImageInfo = sources,
                               },
                               0, NULL);
    }
    memcpy(picture->bloom_sets, sets, sizeof picture->bloom_sets);
    picture->light_set = sets[SETS - 2];
    picture->develop_set = sets[SETS - 1];
    return VK_SUCCESS;
}

VkResult picture_resize(struct picture *picture, const struct sample_device *device,
                        VkExtent2D extent)
{
    const VkImageUsageFlags usage =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    VkExtent2D quarter = {(extent.width + 3) / 4, (extent.height + 3) / 4};

    sized_destroy(picture, device);
    picture->extent = extent;
    picture->lingering = 0;
    picture->bloom_levels = 1;
    while (picture->bloom_levels < PICTURE_BLOOM_LEVELS &&
           (quarter.width >> picture->bloom_levels || quarter.height >> picture->bloom_levels))
        ++picture->bloom_levels;

    VkResult result =
        sample_image_create(device, LIGHT_FORMAT, extent, 1, usage, "light", &picture->light);
    if (result < 0)
        return result;
    result =
        sample_view_create(device, picture->light.handle, LIGHT_FORMAT, 0, &picture->light_view);
    if (result < 0)
        return result;
    result = sample_image_create(device, LIGHT_FORMAT, quarter, picture->bloom_levels, usage,
                                 "bloom", &picture->bloom);
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < picture->bloom_levels; ++i) {
        result = sample_view_create(device, picture->bloom.handle, LIGHT_FORMAT, i,
                                    &picture->bloom_views[i]);
        if (result < 0)
            return result;
    }
    return sets_create(picture, device);
}

/* Draws the light of this frame, and adds it to what remains of earlier ones. */
static void light_record(struct picture *picture, const struct sample_device *device,
                         const struct simulation *simulation, VkCommandBuffer commands,
                         uint64_t frame)
{
    struct points_push push = {
        .size = {(float)picture->extent.width, (float)picture->extent.height},
        .first = simulation_version(simulation, frame),
        .salt = (uint32_t)frame * 0x9e3779b9u + picture->seed,
        .shutter = SHUTTER,
        .moments = MOMENTS,
    };
    camera_place(&push, frame, picture->extent);
    /* The brightness must depend neither on the picture's size nor on the number of particles. */
    float pixels = push.lens[0] * push.lens[1] * push.size[0] * push.size[1];
    push.energy = BRIGHTNESS * pixels / ((float)simulation->particles * MOMENTS);

    sample_label_begin(device, commands, "light");
    sample_transition(commands, picture->light.handle, 0, 1,
                      picture->lingering ? SAMPLE_USE_SAMPLED : SAMPLE_USE_DISCARD,
                      SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, picture->light_view, picture->extent,
                           picture->lingering ? VK_ATTACHMENT_LOAD_OP_LOAD
                                              : VK_ATTACHMENT_LOAD_OP_CLEAR);
    vkCmdSetBlendConstants(commands, (const float[4]){LINGER, LINGER, LINGER, LINGER});
    if (picture->lingering) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, picture->fade);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, picture->points);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, picture->points_layout, 0, 1,
                            &simulation->set, 0, NULL);
    vkCmdPushConstants(commands, picture->points_layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof push,
                       &push);
    vkCmdDraw(commands, simulation->particles, MOMENTS, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, picture->light.handle, 0, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SAMPLED);
    sample_label_end(device, commands);
    ++picture->lingering;
}

static void screen_pass_record(const struct picture *picture, VkCommandBuffer commands,
                               VkPipeline pipeline, VkDescriptorSet set, VkImageView target,
                               VkExtent2D target_extent, VkAttachmentLoadOp load,
                               VkExtent2D source_extent, float scale)
{
    const struct screen_push push = {
        .texel = {1.0f / (float)source_extent.width, 1.0f / (float)source_extent.height},
        .scale = scale,
        .aspect = (float)target_extent.width / (float)target_extent.height,
    };
    sample_rendering_begin(commands, target, target_extent, load);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, picture->screen_layout, 0, 1,
                            &set, 0, NULL);
    vkCmdPushConstants(commands, picture->screen_layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof push, &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
}

/* Halves the light level by level, then adds the levels up again: wide glows at a low cost. */
static void bloom_record(const struct picture *picture, const struct sample_device *device,
                         VkCommandBuffer commands)
{
    VkImage bloom = picture->bloom.handle;
    uint32_t levels = picture->bloom_levels;

    sample_label_begin(device, commands, "bloom");
    sample_transition(commands, bloom, 0, levels, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    for (uint32_t i = 0; i < levels; ++i) {
        screen_pass_record(picture, commands, picture->bloom_down,
                           i ? picture->bloom_sets[i - 1] : picture->light_set,
                           picture->bloom_views[i], level_extent(picture, i),
                           VK_ATTACHMENT_LOAD_OP_DONT_CARE,
                           i ? level_extent(picture, i - 1) : picture->extent, 1.0f);
        sample_transition(commands, bloom, i, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SAMPLED);
    }
    for (uint32_t i = levels - 1; i-- > 0;) {
        sample_transition(commands, bloom, i, 1, SAMPLE_USE_SAMPLED, SAMPLE_USE_TARGET);
        screen_pass_record(picture, commands, picture->bloom_up, picture->bloom_sets[i + 1],
                           picture->bloom_views[i], level_extent(picture, i),
                           VK_ATTACHMENT_LOAD_OP_LOAD, level_extent(picture, i + 1), 0.75f);
        sample_transition(commands, bloom, i, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SAMPLED);
    }
    sample_label_end(device, commands);
}

void picture_record(struct picture *picture, const struct sample_device *device,
                    const struct simulation *simulation, VkCommandBuffer commands, uint64_t frame,
                    const struct picture_target *target)
{
    sample_label_begin(device, commands, "draw frame %llu", (unsigned long long)frame);
    light_record(picture, device, simulation, commands, frame);
    bloom_record(picture, device, commands);

    /* Divides by the sum of the remaining shares, so that the first frames after a start or a
     * resize are as bright as all others. */
    float exposure = (1.0f - LINGER) / (1.0f - powf(LINGER, (float)picture->lingering));

    sample_label_begin(device, commands, "develop");
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    screen_pass_record(picture, commands, picture->develop, picture->develop_set, target->view,
                       picture->extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE, picture->extent, exposure);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    sample_label_end(device, commands);
    sample_label_end(device, commands);
}
