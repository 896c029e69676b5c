/* SPDX-License-Identifier: MIT */
/* Draws one frame of one shader of the corpus, in either of its forms. */
#include "gpu.h"

#include "pipeline.h"
#include "../support/type.h"

#define SOURCE_SIZE 64 /* both ways */

static const VkFormat format_source = VK_FORMAT_R8G8B8A8_UNORM;
static const VkFormat format_target = VK_FORMAT_R32G32B32A32_SFLOAT;

enum { SET_IMAGE, SET_BUFFER, SET_PASS, SET_COUNT };

static const char *const form_names[CORPUS_FORMS] = {
    [CORPUS_COMPUTE] = "compute", [CORPUS_PASS] = "pass"};

const char *corpus_form_name(enum corpus_form form)
{
    return form_names[form];
}

/* ----------------------------------------------------------------------------------- Sources -- */

static uint8_t noise(uint32_t x, uint32_t y, uint32_t salt)
{
    uint32_t n = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ salt * 0xc2b2ae3du;
    n = (n ^ n >> 15) * 0x2c1b3c6du;
    return (uint8_t)(n >> 24);
}

/* Ramps with rings and grain; blocks of single colours: there are edges, even parts and fine detail
 * in both, and no two texels of a place are alike. */
static void source_paint(uint8_t *texels, uint32_t which)
{
    for (uint32_t y = 0; y < SOURCE_SIZE; y++) {
        for (uint32_t x = 0; x < SOURCE_SIZE; x++, texels += 4) {
            int32_t dx = (int32_t)x - 24, dy = (int32_t)y - 36;
            bool ring = (dx * dx + dy * dy) / 96 % 2;
            if (which == 0) {
                texels[0] = (uint8_t)(x * 3 + noise(x, y, 1) / 16);
                texels[1] = (uint8_t)(y * 3 + noise(x, y, 2) / 16);
                texels[2] = (uint8_t)(ring ? 200 : 40);
                texels[3] = 255;
            } else {
                texels[0] = noise(x / 8, y / 8, 3);
                texels[1] = (uint8_t)(noise(x / 8, y / 8, 4) / 2 + noise(x, y, 5) / 8);
                texels[2] = (uint8_t)(255 - y * 4);
                texels[3] = (uint8_t)(ring ? 255 : 160);
            }
        }
    }
}

static VkResult submit_and_wait(struct corpus_gpu *gpu)
{
    const VkCommandBufferSubmitInfo commands = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                                .commandBuffer = gpu->commands};
    const VkSubmitInfo2 submit = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &commands};
    VkDevice device = gpu->device.handle;
    VkResult result = sample_check(
        vkQueueSubmit2(gpu->device.graphics.handle, 1, &submit, gpu->fence), "vkQueueSubmit2");
    if (result >= 0)
        result = sample_check(vkWaitForFences(device, 1, &gpu->fence, VK_TRUE, UINT64_MAX),
                              "vkWaitForFences");
    if (result >= 0)
        result = sample_check(vkResetFences(device, 1, &gpu->fence), "vkResetFences");
    return result;
}

static VkResult sources_fill(struct corpus_gpu *gpu, const struct sample_buffer *texels)
{
    const VkDeviceSize size = SOURCE_SIZE * SOURCE_SIZE * 4;
    VkResult result = sample_commands_begin(gpu->commands);
    for (uint32_t i = 0; i < 2 && result >= 0; i++) {
        VkImage image = gpu->sources[i].handle;
        source_paint((uint8_t *)texels->mapped + i * size, i);
        sample_transition(gpu->commands, image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_DEST);
        vkCmdCopyBufferToImage(gpu->commands, texels->handle, image,
                               VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                               &(VkBufferImageCopy){
                                   .bufferOffset = i * size,
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {SOURCE_SIZE, SOURCE_SIZE, 1},
                               });
        sample_transition(gpu->commands, image, 0, 1, SAMPLE_USE_DEST, SAMPLE_USE_SAMPLED);
    }
    if (result < 0)
        return result;
    /* The samples read in fragment shaders alone. */
    sample_barrier(gpu->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    result = sample_commands_end(gpu->commands);
    return result >= 0 ? submit_and_wait(gpu) : result;
}

static VkResult sources_create(struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;
    struct sample_buffer texels = {0};
    VkResult result = VK_SUCCESS;

    for (uint32_t i = 0; i < 2 && result >= 0; i++) {
        result =
            sample_image_create(device, format_source, (VkExtent2D){SOURCE_SIZE, SOURCE_SIZE}, 1,
                                VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                                "source", &gpu->sources[i]);
        if (result >= 0)
            result = sample_view_create(device, gpu->sources[i].handle, format_source, 0,
                                        &gpu->source_views[i]);
    }
    if (result >= 0)
        result =
            sample_sampler_create(device, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &gpu->sampler);
    if (result >= 0)
        result = sample_buffer_create(device, 2 * SOURCE_SIZE * SOURCE_SIZE * 4,
                                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true, "texels", &texels);
    if (result >= 0)
        result = sources_fill(gpu, &texels);
    sample_buffer_destroy(device, &texels);
    return result;
}

/* ---------------------------------------------------------------------------- What is shared -- */

static VkResult target_create(struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;
    VkDeviceSize size = (VkDeviceSize)gpu->extent.width * gpu->extent.height * 16;
    VkResult result =
        sample_image_create(device, format_target, gpu->extent, 1,
                            VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                            "target", &gpu->target);
    if (result >= 0)
        result =
            sample_view_create(device, gpu->target.handle, format_target, 0, &gpu->target_view);
    if (result >= 0)
        result = sample_buffer_create(
            device, size, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
            true, "pixels", &gpu->pixels);
    return result;
}

static VkResult sets_create(struct corpus_gpu *gpu)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t s = 0; s < SET_COUNT && result >= 0; s++) {
        const VkShaderStageFlags stages =
            s == SET_PASS ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_COMPUTE_BIT;
        struct sample_slot slots[3];
        for (uint32_t i = 0; i < 2; i++) {
            slots[i] = (struct sample_slot){.type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                            .stages = stages,
                                            .view = gpu->source_views[i],
                                            .sampler = gpu->sampler,
                                            .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
        }
        slots[2] = (struct sample_slot){.type = s == SET_IMAGE ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                                                               : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .stages = stages,
                                        .buffer = gpu->pixels.handle,
                                        .view = gpu->target_view,
                                        .layout = VK_IMAGE_LAYOUT_GENERAL};
        result = sample_sets_fill(&gpu->device, slots, s == SET_PASS ? 2 : 3, 1, &gpu->sets[s],
                                  &gpu->set_handles[s]);
    }
    return result;
}

static VkResult commands_create(struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;
    VkQueueFamilyProperties families[32] = {0};
    uint32_t count = 32;

    VkResult result = sample_command_buffers(device, device->graphics.family, 1, "frame",
                                             &gpu->pool, &gpu->commands);
    if (result >= 0)
        result = sample_check(vkCreateFence(device->handle,
                                            &(VkFenceCreateInfo){VK_TYPE(FENCE_CREATE_INFO)}, NULL,
                                            &gpu->fence),
                              "vkCreateFence");
    vkGetPhysicalDeviceQueueFamilyProperties(device->gpu, &count, families);
    if (result < 0 || device->graphics.family >= count ||
        !families[device->graphics.family].timestampValidBits)
        return result;
    gpu->stamp_ns = (double)device->properties.limits.timestampPeriod;
    return sample_check(
        vkCreateQueryPool(device->handle,
                          &(VkQueryPoolCreateInfo){VK_TYPE(QUERY_POOL_CREATE_INFO),
                                                   .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                                   .queryCount = 2},
                          NULL, &gpu->stamps),
        "vkCreateQueryPool");
}

int corpus_gpu_open(struct corpus_gpu *gpu, const char *name, uint32_t width, uint32_t height)
{
    *gpu = (struct corpus_gpu){.extent = {width, height}};
    int code = sample_instance_create(&gpu->device, "belfry-corpus", NULL, 0);
    if (code == SAMPLE_EXIT_DONE)
        code = sample_device_create(&gpu->device, SAMPLE_QUEUES_ENGINES, name, VK_NULL_HANDLE);
    if (code != SAMPLE_EXIT_DONE)
        return code;
    if (commands_create(gpu) < 0 || sources_create(gpu) < 0 || target_create(gpu) < 0 ||
        sets_create(gpu) < 0)
        return SAMPLE_EXIT_FAILED;
    return SAMPLE_EXIT_DONE;
}

void corpus_gpu_close(struct corpus_gpu *gpu)
{
    const struct sample_device *device = &gpu->device;
    if (device->handle) {
        vkDeviceWaitIdle(device->handle);
        for (uint32_t s = 0; s < SET_COUNT; s++)
            sample_sets_destroy(device, &gpu->sets[s]);
        vkDestroyQueryPool(device->handle, gpu->stamps, NULL);
        vkDestroyFence(device->handle, gpu->fence, NULL);
        vkDestroyCommandPool(device->handle, gpu->pool, NULL);
        sample_buffer_destroy(device, &gpu->pixels);
        vkDestroyImageView(device->handle, gpu->target_view, NULL);
        sample_image_destroy(device, &gpu->target);
        vkDestroySampler(device->handle, gpu->sampler, NULL);
        for (uint32_t i = 0; i < 2; i++) {
            vkDestroyImageView(device->handle, gpu->source_views[i], NULL);
            sample_image_destroy(device, &gpu->sources[i]);
        }
    }
    sample_device_destroy(&gpu->device);
}

/* --------------------------------------------------------------------------------- Pipelines -- */

static uint32_t set_of(const struct corpus_shader *shader, enum corpus_form form)
{
    return form == CORPUS_PASS ? SET_PASS : shader->buffer ? SET_BUFFER : SET_IMAGE;
}

static VkShaderStageFlags stage_of(enum corpus_form form)
{
    return form == CORPUS_PASS ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_COMPUTE_BIT;
}

VkResult corpus_pipeline_create(const struct corpus_gpu *gpu, struct corpus *corpus,
                                const struct corpus_shader *shader, enum corpus_form form,
                                struct corpus_pipeline *pipeline)
{
    uint32_t *words = NULL, *vertex = NULL;
    size_t size = 0, vertex_size = 0;

    *pipeline = (struct corpus_pipeline){.shader = shader, .form = form};
    bool read =
        corpus_spirv(corpus, form == CORPUS_PASS ? shader->pass : shader->compute, &words, &size) &&
        (form != CORPUS_PASS || corpus_spirv(corpus, corpus->vertex, &vertex, &vertex_size));
    if (!read)
        sample_complain("%s", corpus->error);
    VkResult result = read ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED;
    if (result >= 0)
        result = sample_pipeline_layout(&gpu->device, gpu->sets[set_of(shader, form)].layout,
                                        stage_of(form), shader->push_size, &pipeline->layout);
    if (result >= 0 && form == CORPUS_COMPUTE)
        result = sample_compute_pipeline(&gpu->device, (struct sample_spirv){words, size},
                                         pipeline->layout, shader->name, &pipeline->handle);
    if (result >= 0 && form == CORPUS_PASS)
        result = sample_draw_pipeline(
            &gpu->device,
            &(struct sample_draw){.vertex = {vertex, vertex_size},
                                  .fragment = {words, size},
                                  .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                  .target = format_target,
                                  .layout = pipeline->layout},
            shader->name, &pipeline->handle);
    free(words);
    free(vertex);
    if (result < 0)
        corpus_pipeline_destroy(gpu, pipeline);
    return result;
}

void corpus_pipeline_destroy(const struct corpus_gpu *gpu, struct corpus_pipeline *pipeline)
{
    if (pipeline->handle)
        vkDestroyPipeline(gpu->device.handle, pipeline->handle, NULL);
    if (pipeline->layout)
        vkDestroyPipelineLayout(gpu->device.handle, pipeline->layout, NULL);
    *pipeline = (struct corpus_pipeline){0};
}

/* ----------------------------------------------------------------------------------- A frame -- */

static const VkPipelineStageFlags2 stages_work = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT |
                                                 VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT |
                                                 VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT;

/* What the shader doesn't write is seen: nothing draws this. */
static void target_wipe(const struct corpus_gpu *gpu, enum corpus_form form, bool buffer)
{
    VkCommandBuffer commands = gpu->commands;
    if (buffer) {
        vkCmdFillBuffer(commands, gpu->pixels.handle, 0, VK_WHOLE_SIZE, 0xc0c0c0c0u);
        sample_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, stages_work);
        return;
    }
    sample_transition(commands, gpu->target.handle, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_COMMON);
    vkCmdClearColorImage(
        commands, gpu->target.handle, VK_IMAGE_LAYOUT_GENERAL,
        &(VkClearColorValue){.uint32 = {0xc0c0c0c0u, 0xc0c0c0c0u, 0xc0c0c0c0u, 0xc0c0c0c0u}}, 1,
        &(VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1});
    sample_transition(commands, gpu->target.handle, 0, 1, SAMPLE_USE_COMMON,
                      form == CORPUS_PASS ? SAMPLE_USE_TARGET : SAMPLE_USE_COMMON);
}

static void stamp(const struct corpus_gpu *gpu, bool wanted, uint32_t index)
{
    if (wanted)
        vkCmdWriteTimestamp2(gpu->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, gpu->stamps,
                             index);
}

static void work_record(const struct corpus_gpu *gpu, const struct corpus_pipeline *pipeline,
                        const uint8_t *push, uint32_t times)
{
    const struct corpus_shader *shader = pipeline->shader;
    VkCommandBuffer commands = gpu->commands;
    bool pass = pipeline->form == CORPUS_PASS;
    VkPipelineBindPoint point =
        pass ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;

    if (pass)
        sample_rendering_begin(commands, gpu->target_view, gpu->extent, VK_ATTACHMENT_LOAD_OP_LOAD);
    for (uint32_t i = 0; i < times; i++) {
        vkCmdBindPipeline(commands, point, pipeline->handle);
        vkCmdBindDescriptorSets(commands, point, pipeline->layout, 0, 1,
                                &gpu->set_handles[set_of(shader, pipeline->form)], 0, NULL);
        if (shader->push_size)
            vkCmdPushConstants(commands, pipeline->layout, stage_of(pipeline->form), 0,
                               shader->push_size, push);
        if (pass) {
            vkCmdDraw(commands, 3, 1, 0, 0);
        } else {
            if (i)
                sample_barrier(commands, stages_work, stages_work);
            vkCmdDispatch(commands, (gpu->extent.width + CORPUS_GROUP - 1) / CORPUS_GROUP,
                          (gpu->extent.height + CORPUS_GROUP - 1) / CORPUS_GROUP, 1);
        }
    }
    if (pass)
        vkCmdEndRendering(commands);
}

VkResult corpus_frame(struct corpus_gpu *gpu, const struct corpus_pipeline *pipeline,
                      const uint8_t push[CORPUS_PUSH_MOST], uint32_t times, double *ns)
{
    VkCommandBuffer commands = gpu->commands;
    bool buffer = pipeline->form == CORPUS_COMPUTE && pipeline->shader->buffer;
    bool timed = ns && gpu->stamp_ns > 0;

    VkResult result = sample_commands_begin(commands);
    if (result < 0)
        return result;
    if (timed)
        vkCmdResetQueryPool(commands, gpu->stamps, 0, 2);
    target_wipe(gpu, pipeline->form, buffer);
    stamp(gpu, timed, 0);
    /* lavapipe writes the first stamp only when it next waits for itself: a dispatch doesn't make
     * it, where something has been drawn before. */
    if (timed)
        sample_barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                       VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    work_record(gpu, pipeline, push, times);
    stamp(gpu, timed, 1);
    if (!buffer) {
        sample_transition(commands, gpu->target.handle, 0, 1,
                          pipeline->form == CORPUS_PASS ? SAMPLE_USE_TARGET : SAMPLE_USE_COMMON,
                          SAMPLE_USE_SOURCE);
        vkCmdCopyImageToBuffer(commands, gpu->target.handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                               gpu->pixels.handle, 1,
                               &(VkBufferImageCopy){
                                   .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {gpu->extent.width, gpu->extent.height, 1},
                               });
    }
    sample_barrier(commands, buffer ? stages_work : VK_PIPELINE_STAGE_2_COPY_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT);
    result = sample_commands_end(commands);
    if (result >= 0)
        result = submit_and_wait(gpu);
    if (ns)
        *ns = 0;
    if (result >= 0 && timed) {
        uint64_t ticks[2];
        result =
            sample_check(vkGetQueryPoolResults(gpu->device.handle, gpu->stamps, 0, 2, sizeof ticks,
                                               ticks, sizeof *ticks, VK_QUERY_RESULT_64_BIT),
                         "vkGetQueryPoolResults");
        if (result == VK_SUCCESS)
            *ns = (double)(ticks[1] - ticks[0]) * gpu->stamp_ns;
    }
    return result;
}

uint64_t corpus_frame_hash(const struct corpus_gpu *gpu)
{
    const uint8_t *bytes = gpu->pixels.mapped;
    size_t size = (size_t)gpu->extent.width * gpu->extent.height * 16;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}
