/* SPDX-License-Identifier: MIT */
/* Records the work of the engines: copies, the pre-pass, the lighting and the final draw. */
#include "passes.h"

#include <math.h>
#include <string.h>

#include "pipeline.h"

#include "shaders/final.frag.h"
#include "shaders/lighting.comp.h"
#include "shaders/post.frag.h"
#include "shaders/prepass.frag.h"
#include "shaders/scene.vert.h"
#include "shaders/screen.vert.h"

#define RT1_FORMAT     VK_FORMAT_R32G32B32A32_SFLOAT
#define DEPTH_FORMAT   VK_FORMAT_D32_SFLOAT
#define COLOUR_FORMAT  VK_FORMAT_R16G16B16A16_SFLOAT
#define TEXTURE_FORMAT VK_FORMAT_R8G8B8A8_SRGB
#define GROUP_SIDE     8u    /* as in lighting.comp */
#define FOCAL          1.55f /* focal length, in halves of the picture's height */
#define PERIOD         3600u /* frames until the camera has gone around once */

struct push {
    struct sample_camera camera;
    float lens[2];
    int32_t size[2];
};

struct post_push {
    float texel[2];
    float horizon;
    float aspect;
};

/* Types and stages of the bindings, without contents: for the layout. */
static const struct sample_slot prepass_slots[] = {
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_VERTEX_BIT},
};
static const struct sample_slot lighting_slots[] = {
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_COMPUTE_BIT},
};
static const struct sample_slot final_slots[] = {
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_VERTEX_BIT},
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
};
static const struct sample_slot post_slots[] = {
    {.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
};
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

/* ----------------------------------------------------------------- Independent of the size -- */

static VkResult pipelines_create(struct passes *passes, const struct sample_device *device,
                                 VkFormat target)
{
    const VkShaderStageFlags draw_stages =
        VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

    PASS(sample_sets_layout(device, prepass_slots, COUNT(prepass_slots), &passes->prepass_sets));
    PASS(sample_sets_layout(device, lighting_slots, COUNT(lighting_slots), &passes->lighting_sets));
    PASS(sample_sets_layout(device, final_slots, COUNT(final_slots), &passes->final_sets));
    PASS(sample_sets_layout(device, post_slots, COUNT(post_slots), &passes->post_sets));
    PASS(sample_pipeline_layout(device, passes->prepass_sets.layout, VK_SHADER_STAGE_VERTEX_BIT,
                                sizeof(struct push), &passes->prepass_layout));
    PASS(sample_pipeline_layout(device, passes->lighting_sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                sizeof(struct push), &passes->lighting_layout));
    PASS(sample_pipeline_layout(device, passes->final_sets.layout, draw_stages, sizeof(struct push),
                                &passes->final_layout));
    PASS(sample_pipeline_layout(device, passes->post_sets.layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                sizeof(struct post_push), &passes->post_layout));

    struct sample_draw draw = {
        .vertex = SAMPLE_SPIRV(scene_vert),
        .fragment = SAMPLE_SPIRV(prepass_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = RT1_FORMAT,
        .layout = passes->prepass_layout,
    };
    PASS(sample_draw_pipeline_depth(device, &draw, SAMPLE_DEPTH_WRITE, "pre-pass",
                                    &passes->prepass));
    draw.fragment = SAMPLE_SPIRV(final_frag);
    draw.target = COLOUR_FORMAT;
    draw.layout = passes->final_layout;
    PASS(sample_draw_pipeline_depth(device, &draw, SAMPLE_DEPTH_EQUAL, "final", &passes->final));
    draw.vertex = SAMPLE_SPIRV(screen_vert);
    draw.fragment = SAMPLE_SPIRV(post_frag);
    draw.target = target;
    draw.layout = passes->post_layout;
    draw.specialization = sample_encoding(target);
    PASS(sample_draw_pipeline(device, &draw, "post", &passes->post));
    return sample_compute_pipeline(device, SAMPLE_SPIRV(lighting_comp), passes->lighting_layout,
                                   "lighting", &passes->lighting);
}

static VkResult version_create(struct passes *passes, const struct sample_device *device,
                               struct passes_version *version)
{
    const VkBufferUsageFlags usage =
        VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;

    PASS(sample_buffer_create(device, (VkDeviceSize)passes->vertices * sizeof(struct scene_vertex),
                              usage, false, "geometry", &version->geometry));
    PASS(sample_buffer_create(device, sizeof(struct scene_lights), usage, false, "lights",
                              &version->lights));
    for (uint32_t i = 0; i < TEXTURES; ++i) {
        PASS(sample_image_create_shared(
            device, TEXTURE_FORMAT, (VkExtent2D){TEXTURE_SIDE, TEXTURE_SIDE}, TEXTURE_LEVELS,
            VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "tex",
            &version->textures[i]));
        PASS(sample_view_create_whole(device, &version->textures[i], &version->texture_views[i]));
    }
    return VK_SUCCESS;
}

VkResult passes_create(struct passes *passes, const struct sample_device *device, uint32_t seed,
                       VkFormat target)
{
    passes->seed = seed;
    passes->vertices = scene_vertex_count();
    for (uint32_t i = 0; i < PASSES_UPLOADS; ++i)
        PASS(sample_buffer_create(device,
                                  (VkDeviceSize)passes->vertices * sizeof(struct scene_vertex) +
                                      sizeof(struct scene_lights),
                                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true, "upload",
                                  &passes->uploads[i]));
    PASS(sample_buffer_create(device, (VkDeviceSize)TEXTURES * TEXTURE_BYTES,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true, "texels", &passes->texels));
    for (uint32_t i = 0; i < TEXTURES; ++i)
        texture_paint(i, seed, (uint8_t *)passes->texels.mapped + (size_t)i * TEXTURE_BYTES);
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i)
        PASS(version_create(passes, device, &passes->versions[i]));
    PASS(sample_sampler_create(device, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &passes->clamped));
    PASS(sample_sampler_create(device, VK_SAMPLER_ADDRESS_MODE_REPEAT, &passes->repeated));
    return pipelines_create(passes, device, target);
}

/* ------------------------------------------------------------------- Dependent on the size -- */

static void sized_destroy(struct passes *passes, const struct sample_device *device)
{
    sample_sets_empty(device, &passes->prepass_sets);
    sample_sets_empty(device, &passes->lighting_sets);
    sample_sets_empty(device, &passes->final_sets);
    sample_sets_empty(device, &passes->post_sets);
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i) {
        struct passes_version *version = &passes->versions[i];
        vkDestroyImageView(device->handle, version->rt1_view, NULL);
        vkDestroyImageView(device->handle, version->depth_view, NULL);
        version->rt1_view = version->depth_view = VK_NULL_HANDLE;
        sample_image_destroy(device, &version->rt1);
        sample_image_destroy(device, &version->depth);
        sample_buffer_destroy(device, &version->buf1);
    }
    vkDestroyImageView(device->handle, passes->colour_view, NULL);
    passes->colour_view = VK_NULL_HANDLE;
    sample_image_destroy(device, &passes->colour);
}

static VkResult version_resize(struct passes *passes, const struct sample_device *device,
                               struct passes_version *version)
{
    VkExtent2D extent = passes->extent;

    PASS(sample_image_create_shared(
        device, RT1_FORMAT, extent, 1,
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT, "rt1", &version->rt1));
    PASS(sample_view_create(device, version->rt1.handle, RT1_FORMAT, 0, &version->rt1_view));
    PASS(sample_image_create(device, DEPTH_FORMAT, extent, 1,
                             VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, "depth",
                             &version->depth));
    PASS(sample_view_create(device, version->depth.handle, DEPTH_FORMAT, 0, &version->depth_view));
    return sample_buffer_create(device, (VkDeviceSize)extent.width * extent.height * 8,
                                VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false, "buf1", &version->buf1);
}

static VkResult sets_fill(struct passes *passes, const struct sample_device *device)
{
    struct sample_slot prepass[PASSES_VERSIONS][COUNT(prepass_slots)];
    struct sample_slot lighting[PASSES_VERSIONS][COUNT(lighting_slots)];
    struct sample_slot final[PASSES_VERSIONS][COUNT(final_slots)];
    struct sample_slot post[COUNT(post_slots)];
    VkDescriptorSet sets[PASSES_VERSIONS];

    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i) {
        const struct passes_version *version = &passes->versions[i];
        memcpy(prepass[i], prepass_slots, sizeof prepass[i]);
        memcpy(lighting[i], lighting_slots, sizeof lighting[i]);
        memcpy(final[i], final_slots, sizeof final[i]);
        prepass[i][0].buffer = final[i][0].buffer = version->geometry.handle;
        /* Images that several engines use stay in one layout, like D3D12's COMMON state. */
        lighting[i][0].view = version->rt1_view;
        lighting[i][0].sampler = passes->clamped;
        lighting[i][0].layout = VK_IMAGE_LAYOUT_GENERAL;
        lighting[i][1].buffer = final[i][1].buffer = version->lights.handle;
        lighting[i][2].buffer = final[i][2].buffer = version->buf1.handle;
        for (uint32_t k = 0; k < TEXTURES; ++k) {
            final[i][3 + k].view = version->texture_views[k];
            final[i][3 + k].sampler = passes->repeated;
            final[i][3 + k].layout = VK_IMAGE_LAYOUT_GENERAL;
        }
    }
    memcpy(post, post_slots, sizeof post);
    post[0].view = passes->colour_view;
    post[0].sampler = passes->clamped;
    post[0].layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;

    PASS(sample_sets_fill(device, prepass[0], COUNT(prepass_slots), PASSES_VERSIONS,
                          &passes->prepass_sets, sets));
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i)
        passes->versions[i].prepass_set = sets[i];
    PASS(sample_sets_fill(device, lighting[0], COUNT(lighting_slots), PASSES_VERSIONS,
                          &passes->lighting_sets, sets));
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i)
        passes->versions[i].lighting_set = sets[i];
    PASS(sample_sets_fill(device, final[0], COUNT(final_slots), PASSES_VERSIONS,
                          &passes->final_sets, sets));
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i)
        passes->versions[i].final_set = sets[i];
    return sample_sets_fill(device, post, COUNT(post_slots), 1, &passes->post_sets,
                            &passes->post_set);
}

VkResult passes_resize(struct passes *passes, const struct sample_device *device, VkExtent2D extent)
{
    sized_destroy(passes, device);
    passes->extent = extent;
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i)
        PASS(version_resize(passes, device, &passes->versions[i]));
    PASS(sample_image_create(device, COLOUR_FORMAT, extent, 1,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                             "colour", &passes->colour));
    PASS(sample_view_create(device, passes->colour.handle, COLOUR_FORMAT, 0, &passes->colour_view));
    return sets_fill(passes, device);
}

void passes_destroy(struct passes *passes, const struct sample_device *device)
{
    struct sample_sets *sets[] = {&passes->prepass_sets, &passes->lighting_sets,
                                  &passes->final_sets, &passes->post_sets};
    const VkPipelineLayout layouts[] = {passes->prepass_layout, passes->lighting_layout,
                                        passes->final_layout, passes->post_layout};
    const VkPipeline pipelines[] = {passes->prepass, passes->lighting, passes->final, passes->post};

    sized_destroy(passes, device);
    for (uint32_t i = 0; i < 4; ++i) {
        vkDestroyPipeline(device->handle, pipelines[i], NULL);
        vkDestroyPipelineLayout(device->handle, layouts[i], NULL);
        sample_sets_destroy(device, sets[i]);
    }
    vkDestroySampler(device->handle, passes->clamped, NULL);
    vkDestroySampler(device->handle, passes->repeated, NULL);
    for (uint32_t i = 0; i < PASSES_VERSIONS; ++i) {
        struct passes_version *version = &passes->versions[i];
        for (uint32_t k = 0; k < TEXTURES; ++k) {
            vkDestroyImageView(device->handle, version->texture_views[k], NULL);
            sample_image_destroy(device, &version->textures[k]);
        }
        sample_buffer_destroy(device, &version->geometry);
        sample_buffer_destroy(device, &version->lights);
    }
    for (uint32_t i = 0; i < PASSES_UPLOADS; ++i)
        sample_buffer_destroy(device, &passes->uploads[i]);
    sample_buffer_destroy(device, &passes->texels);
}

/* -------------------------------------------------------------------------------- Each frame -- */

static struct passes_version *version_of(struct passes *passes, uint64_t frame)
{
    return &passes->versions[frame % PASSES_VERSIONS];
}

void passes_upload(struct passes *passes, uint64_t frame)
{
    uint8_t *upload = passes->uploads[frame % PASSES_UPLOADS].mapped;
    scene_build(frame, passes->seed, (struct scene_vertex *)upload,
                (struct scene_lights *)(upload + passes->vertices * sizeof(struct scene_vertex)));
}

void passes_copy_geometry(struct passes *passes, const struct sample_device *device,
                          VkCommandBuffer commands, uint64_t frame)
{
    const struct passes_version *version = version_of(passes, frame);
    VkBuffer upload = passes->uploads[frame % PASSES_UPLOADS].handle;
    VkDeviceSize size = (VkDeviceSize)passes->vertices * sizeof(struct scene_vertex);

    sample_label_begin(device, commands, "geometry of frame %llu", (unsigned long long)frame);
    vkCmdCopyBuffer(commands, upload, version->geometry.handle, 1, &(VkBufferCopy){.size = size});
    vkCmdCopyBuffer(commands, upload, version->lights.handle, 1,
                    &(VkBufferCopy){.srcOffset = size, .size = sizeof(struct scene_lights)});
    sample_label_end(device, commands);
}

/* Copies the textures. A real program would copy others with each frame; these are the same
 * again. */
void passes_copy_textures(struct passes *passes, const struct sample_device *device,
                          VkCommandBuffer commands, uint64_t frame)
{
    const struct passes_version *version = version_of(passes, frame);
    VkBufferImageCopy copies[TEXTURE_LEVELS];

    sample_label_begin(device, commands, "textures of frame %llu", (unsigned long long)frame);
    for (uint32_t i = 0; i < TEXTURES; ++i) {
        VkImage image = version->textures[i].handle;
        for (uint32_t level = 0; level < TEXTURE_LEVELS; ++level)
            copies[level] = (VkBufferImageCopy){
                .bufferOffset = i * TEXTURE_BYTES + texture_offset(level),
                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                .imageExtent = {TEXTURE_SIDE >> level, TEXTURE_SIDE >> level, 1},
            };
        sample_transition(commands, image, 0, TEXTURE_LEVELS, SAMPLE_USE_DISCARD, SAMPLE_USE_DEST);
        vkCmdCopyBufferToImage(commands, passes->texels.handle, image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, TEXTURE_LEVELS, copies);
        sample_transition(commands, image, 0, TEXTURE_LEVELS, SAMPLE_USE_DEST, SAMPLE_USE_COMMON);
    }
    sample_label_end(device, commands);
}

/* The push constants of a frame. The camera goes around slowly, a little above eye level. */
static struct push push_make(const struct passes *passes, uint64_t frame)
{
    float width = (float)passes->extent.width, height = (float)passes->extent.height;
    float turn = 6.2831853f * (float)(frame % PERIOD) / PERIOD;
    float around = 0.15f + turn;
    const float eye[3] = {6.9f * sinf(around), 2.35f + 0.5f * sinf(2.0f * turn),
                          6.9f * cosf(around)};
    const float at[3] = {0.0f, 1.42f, 0.0f};
    struct push push = {
        .lens = {FOCAL * height / width, -FOCAL},
        .size = {(int32_t)passes->extent.width, (int32_t)passes->extent.height},
    };
    sample_camera_look(&push.camera, eye, at);
    return push;
}

static void scene_draw(struct passes *passes, VkCommandBuffer commands, VkPipeline pipeline,
                       VkPipelineLayout layout, VkDescriptorSet set, VkShaderStageFlags stages,
                       uint64_t frame)
{
    const struct push push = push_make(passes, frame);

    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout, 0, 1, &set, 0, NULL);
    vkCmdPushConstants(commands, layout, stages, 0, sizeof push, &push);
    vkCmdDraw(commands, passes->vertices, 1, 0, 0);
}

void passes_draw_prepass(struct passes *passes, const struct sample_device *device,
                         VkCommandBuffer commands, uint64_t frame)
{
    const struct passes_version *version = version_of(passes, frame);

    sample_label_begin(device, commands, "pre-pass of frame %llu", (unsigned long long)frame);
    sample_transition(commands, version->rt1.handle, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_transition(commands, version->depth.handle, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_DEPTH);
    sample_rendering_begin_depth(commands, version->rt1_view, version->depth_view, passes->extent,
                                 VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_LOAD_OP_CLEAR);
    scene_draw(passes, commands, passes->prepass, passes->prepass_layout, version->prepass_set,
               VK_SHADER_STAGE_VERTEX_BIT, frame);
    vkCmdEndRendering(commands);
    sample_transition(commands, version->rt1.handle, 0, 1, SAMPLE_USE_TARGET, SAMPLE_USE_COMMON);
    sample_label_end(device, commands);
}

void passes_light(struct passes *passes, const struct sample_device *device,
                  VkCommandBuffer commands, uint64_t frame)
{
    const struct passes_version *version = version_of(passes, frame);
    const struct push push = push_make(passes, frame);

    sample_label_begin(device, commands, "lighting of frame %llu", (unsigned long long)frame);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, passes->lighting);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, passes->lighting_layout, 0, 1,
                            &version->lighting_set, 0, NULL);
    vkCmdPushConstants(commands, passes->lighting_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       sizeof push, &push);
    vkCmdDispatch(commands, (passes->extent.width + GROUP_SIDE - 1) / GROUP_SIDE,
                  (passes->extent.height + GROUP_SIDE - 1) / GROUP_SIDE, 1);
    sample_label_end(device, commands);
}

static void post_draw(struct passes *passes, VkCommandBuffer commands, uint64_t frame,
                      const struct sample_target *target)
{
    const struct push push = push_make(passes, frame);
    /* The height in the picture at which the horizon is seen. */
    float down = push.camera.forward[1] / push.camera.up[1] * push.lens[1];
    const struct post_push post = {
        .texel = {1.0f / (float)passes->extent.width, 1.0f / (float)passes->extent.height},
        .horizon = 0.5f - 0.5f * down,
        .aspect = (float)passes->extent.width / (float)passes->extent.height,
    };

    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, passes->extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, passes->post);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, passes->post_layout, 0, 1,
                            &passes->post_set, 0, NULL);
    vkCmdPushConstants(commands, passes->post_layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof post,
                       &post);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
}

void passes_draw_final(struct passes *passes, const struct sample_device *device,
                       VkCommandBuffer commands, uint64_t frame, const struct sample_target *target)
{
    const struct passes_version *version = version_of(passes, frame);
    VkImage colour = passes->colour.handle;

    sample_label_begin(device, commands, "final draw of frame %llu", (unsigned long long)frame);
    sample_transition(commands, colour, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin_depth(commands, passes->colour_view, version->depth_view, passes->extent,
                                 VK_ATTACHMENT_LOAD_OP_CLEAR, VK_ATTACHMENT_LOAD_OP_LOAD);
    scene_draw(passes, commands, passes->final, passes->final_layout, version->final_set,
               VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, frame);
    vkCmdEndRendering(commands);
    sample_transition(commands, colour, 0, 1, SAMPLE_USE_TARGET, SAMPLE_USE_SAMPLED);
    post_draw(passes, commands, frame, target);
    sample_label_end(device, commands);
}
