/* SPDX-License-Identifier: MIT */
/* Draws the scene: lanterns over a lake. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>

#include "camera.h"

#include "shaders/scene.frag.h"
#include "shaders/screen.vert.h"

#define LANTERNS 34u
#define FORMAT   VK_FORMAT_R16G16B16A16_SFLOAT
#define FOCAL    1.45f /* focal length, in halves of the picture's height */
#define RATE     30.0f /* frames per second of the scene's time */
#define LEVELS   8u    /* at most */

struct push {
    struct sample_camera camera;
    float lens[2];
    float time;
    uint32_t count;
    uint32_t seed;
    float pixel;
};

/* As in the shader. */
struct lantern {
    float place[3], size;
    float light[3], steep;
};

/* ---------------------------------------------------------------------------------- Lanterns -- */

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static float unit(uint32_t seed, uint32_t lantern, uint32_t what)
{
    return (float)(hash(seed * 0x9e3779b9u + lantern * 64u + what) >> 8) * (1.0f / 16777216.0f);
}

static int farther_first(const void *left, const void *right)
{
    float l = ((const struct lantern *)left)->place[2],
          r = ((const struct lantern *)right)->place[2];
    return (l < r) - (l > r);
}

/* Lanterns rise, sway and drift; each returns to the place where it began. */
static void lanterns_place(const struct scene *scene, float time, struct lantern *lanterns)
{
    for (uint32_t i = 0; i < LANTERNS; ++i) {
        uint32_t s = scene->seed;
        float depth = 5.0f + 30.0f * powf(((float)i + unit(s, i, 0)) / (float)LANTERNS, 1.3f);
        float top = 2.0f + 0.42f * depth;
        float rise = fmodf(unit(s, i, 1) + time * 0.05f / (2.0f + 0.1f * depth), 1.0f);
        float sway = 0.25f * sinf(time * 0.6f + 6.28f * unit(s, i, 2));
        float warm = unit(s, i, 3), strength = 2.2f + 2.4f * unit(s, i, 4);
        /* A lantern fades in above the water, and fades out far up. */
        float lit = fminf(1.0f, rise * 14.0f) * fminf(1.0f, (1.0f - rise) * 6.0f);

        lanterns[i] = (struct lantern){
            .place = {(unit(s, i, 5) - 0.5f) * 1.75f * depth + sway, 0.42f + top * rise, depth},
            .size = 0.30f + 0.10f * unit(s, i, 6),
            .light = {strength * lit, strength * lit * (0.27f + 0.16f * warm),
                      strength * lit * (0.045f + 0.075f * warm)},
            .steep = 0.75f + 0.4f * unit(s, i, 7),
        };
    }
    qsort(lanterns, LANTERNS, sizeof *lanterns, farther_first);
}

/* ----------------------------------------------------------------------------------- Objects -- */

struct sample_spirv scene_screen(void)
{
    return SAMPLE_SPIRV(screen_vert);
}

VkResult scene_create(struct scene *scene, const struct sample_device *device, uint32_t seed)
{
    struct sample_slot slots[SCENE_VERSIONS];

    scene->seed = seed;
    for (uint32_t i = 0; i < SCENE_VERSIONS; ++i) {
        PASS(sample_buffer_create(device, LANTERNS * sizeof(struct lantern),
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true, "lanterns",
                                  &scene->lanterns[i]));
        slots[i] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .stages = VK_SHADER_STAGE_FRAGMENT_BIT,
            .buffer = scene->lanterns[i].handle,
        };
    }
    PASS(sample_sets_fill(device, slots, 1, SCENE_VERSIONS, &scene->sets, scene->set));
    PASS(sample_pipeline_layout(device, scene->sets.layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                sizeof(struct push), &scene->layout));
    const struct sample_draw draw = {
        .vertex = scene_screen(),
        .fragment = SAMPLE_SPIRV(scene_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = FORMAT,
        .layout = scene->layout,
    };
    return sample_draw_pipeline(device, &draw, "lanterns", &scene->pipeline);
}

static void light_destroy(struct scene *scene, const struct sample_device *device)
{
    vkDestroyImageView(device->handle, scene->target, NULL);
    vkDestroyImageView(device->handle, scene->whole, NULL);
    scene->target = scene->whole = VK_NULL_HANDLE;
    sample_image_destroy(device, &scene->light);
}

VkResult scene_resize(struct scene *scene, const struct sample_device *device, VkExtent2D extent)
{
    uint32_t most = extent.width > extent.height ? extent.width : extent.height, levels = 1;

    while (most >> levels && levels < LEVELS)
        ++levels;
    light_destroy(scene, device);
    PASS(sample_image_create(device, FORMAT, extent, levels,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                                 VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                             "light", &scene->light));
    PASS(sample_view_create(device, scene->light.handle, FORMAT, 0, &scene->target));
    return sample_view_create_whole(device, &scene->light, &scene->whole);
}

void scene_destroy(struct scene *scene, const struct sample_device *device)
{
    light_destroy(scene, device);
    vkDestroyPipeline(device->handle, scene->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, scene->layout, NULL);
    sample_sets_destroy(device, &scene->sets);
    for (uint32_t i = 0; i < SCENE_VERSIONS; ++i)
        sample_buffer_destroy(device, &scene->lanterns[i]);
}

/* ------------------------------------------------------------------------------------ Frames -- */

static int32_t side(uint32_t whole, uint32_t level)
{
    return (int32_t)(whole >> level ? whole >> level : 1);
}

/* Draws the smaller levels, each half the size of the one before. In the end all are in the use
 * SOURCE. */
static void levels_record(const struct scene *scene, VkCommandBuffer commands)
{
    const struct sample_image *light = &scene->light;

    for (uint32_t level = 1; level < light->levels; ++level) {
        vkCmdBlitImage(commands, light->handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, light->handle,
                       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                       &(VkImageBlit){
                           .srcSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level - 1, 0, 1},
                           .srcOffsets[1] = {side(light->extent.width, level - 1),
                                             side(light->extent.height, level - 1), 1},
                           .dstSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                           .dstOffsets[1] = {side(light->extent.width, level),
                                             side(light->extent.height, level), 1},
                       },
                       VK_FILTER_LINEAR);
        sample_transition(commands, light->handle, level, 1, SAMPLE_USE_DEST, SAMPLE_USE_SOURCE);
    }
}

void scene_record(struct scene *scene, const struct sample_device *device, VkCommandBuffer commands,
                  uint64_t frame)
{
    const struct sample_image *light = &scene->light;
    VkExtent2D extent = light->extent;
    float time = 20.0f + (float)(frame % (1u << 20)) / RATE;
    const float eye[3] = {0.35f * sinf(time * 0.21f), 1.15f + 0.06f * sinf(time * 0.5f), 0.0f};
    const float at[3] = {0.5f * sinf(time * 0.13f), 3.15f, 12.0f};
    struct push push = {
        .lens = {(float)extent.width / (float)extent.height / FOCAL, -1.0f / FOCAL},
        .time = time,
        .count = LANTERNS,
        .seed = scene->seed,
        .pixel = 2.0f / FOCAL / (float)extent.height,
    };

    lanterns_place(scene, time, scene->lanterns[frame % SCENE_VERSIONS].mapped);
    sample_camera_look(&push.camera, eye, at);
    sample_label_begin(device, commands, "scene of frame %llu", (unsigned long long)frame);
    /* By way of the common state, because the post-process of the frame before must have ended. */
    sample_transition(commands, light->handle, 0, light->levels, SAMPLE_USE_DISCARD,
                      SAMPLE_USE_COMMON);
    sample_transition(commands, light->handle, 0, 1, SAMPLE_USE_COMMON, SAMPLE_USE_TARGET);
    if (light->levels > 1)
        sample_transition(commands, light->handle, 1, light->levels - 1, SAMPLE_USE_COMMON,
                          SAMPLE_USE_DEST);
    sample_rendering_begin(commands, scene->target, extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, scene->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, scene->layout, 0, 1,
                            &scene->set[frame % SCENE_VERSIONS], 0, NULL);
    vkCmdPushConstants(commands, scene->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push,
                       &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, light->handle, 0, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SOURCE);
    levels_record(scene, commands);
    sample_transition(commands, light->handle, 0, light->levels, SAMPLE_USE_SOURCE,
                      SAMPLE_USE_COMMON);
    sample_label_end(device, commands);
}
