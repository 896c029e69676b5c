/* SPDX-License-Identifier: MIT */
/* Buffers, pipelines and commands of background, task and draw. */
#include "field.h"

#include <math.h>

#include "pipeline.h"

#include "shaders/answer.comp.h"
#include "shaders/field.frag.h"
#include "shaders/screen.vert.h"
#include "shaders/spark.frag.h"
#include "shaders/spark.vert.h"
#include "shaders/walk.comp.h"

#define FIELD_BYTES ((VkDeviceSize)FIELD_WIDTH * FIELD_HEIGHT * 8)
#define ASK_STEPS   64u

struct work_push {
    float constants[4];
    uint32_t size[2];
    uint32_t steps, number;
};

struct draw_push {
    uint32_t size[2];
    uint32_t panel_size[2];
    float panel_at[2];
    float dot, turn, zoom, lift, exposure;
};

/* --- creation --- */

static VkResult buffers_create(struct field *f, const struct sample_device *device)
{
    const VkBufferUsageFlags storage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    PASS(sample_buffer_create(device, sizeof(float[2]) * FIELD_WALKERS, storage, true, "walkers",
                              &f->walkers));
    PASS(sample_buffer_create(device, FIELD_BYTES,
                              storage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                  VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              false, "marks", &f->marks));
    PASS(sample_buffer_create(device, sizeof(float[2]), storage, true, "answer", &f->answer));
    for (uint32_t i = 0; i < FIELD_COPIES; ++i)
        PASS(sample_buffer_create(device, FIELD_BYTES, storage | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                  false, "copy", &f->copies[i]));
    PASS(sample_buffer_create(device, sizeof(struct field_spark) * FIELD_SPARKS, storage, true,
                              "sparks", &f->sparks));
    return sample_buffer_create(device, sizeof(uint32_t) * CURVES_WIDTH * CURVES_HEIGHT, storage,
                                true, "panel", &f->panel);
}

static struct sample_slot slot(const struct sample_buffer *buffer, VkShaderStageFlags stages)
{
    return (struct sample_slot){
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = stages, .buffer = buffer->handle};
}

static VkResult pipelines_create(struct field *f, const struct sample_device *device,
                                 VkFormat target)
{
    const VkShaderStageFlags both = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
    const struct sample_slot work[3] = {slot(&f->walkers, VK_SHADER_STAGE_COMPUTE_BIT),
                                        slot(&f->marks, VK_SHADER_STAGE_COMPUTE_BIT),
                                        slot(&f->answer, VK_SHADER_STAGE_COMPUTE_BIT)};
    struct sample_slot shown[FIELD_COPIES][3];
    for (uint32_t i = 0; i < FIELD_COPIES; ++i) {
        shown[i][0] = slot(&f->copies[i], VK_SHADER_STAGE_FRAGMENT_BIT);
        shown[i][1] = slot(&f->panel, VK_SHADER_STAGE_FRAGMENT_BIT);
        shown[i][2] = slot(&f->sparks, VK_SHADER_STAGE_VERTEX_BIT);
    }
    PASS(sample_sets_fill(device, work, 3, 1, &f->work_sets, &f->work_set));
    PASS(sample_sets_fill(device, shown[0], 3, FIELD_COPIES, &f->draw_sets, f->draw_set));
    PASS(sample_pipeline_layout(device, f->work_sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                sizeof(struct work_push), &f->work_layout));
    PASS(sample_pipeline_layout(device, f->draw_sets.layout, both, sizeof(struct draw_push),
                                &f->draw_layout));
    PASS(
        sample_compute_pipeline(device, SAMPLE_SPIRV(walk_comp), f->work_layout, "walk", &f->walk));
    PASS(sample_compute_pipeline(device, SAMPLE_SPIRV(answer_comp), f->work_layout, "answer",
                                 &f->ask));
    struct sample_draw draw = {
        .vertex = SAMPLE_SPIRV(screen_vert),
        .fragment = SAMPLE_SPIRV(field_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = target,
        .layout = f->draw_layout,
        .specialization = sample_encoding(target),
    };
    PASS(sample_draw_pipeline(device, &draw, "field", &f->draw));
    draw.vertex = SAMPLE_SPIRV(spark_vert);
    draw.fragment = SAMPLE_SPIRV(spark_frag);
    draw.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    draw.blend = SAMPLE_BLEND_ADD;
    draw.specialization = NULL;
    return sample_draw_pipeline(device, &draw, "spark", &f->spark);
}

static void work_record(const struct field *f, VkCommandBuffer commands, VkPipeline pipeline,
                        uint32_t steps, uint32_t number, uint32_t groups)
{
    const struct work_push push = {
        .constants = {f->constants[0], f->constants[1], f->constants[2], f->constants[3]},
        .size = {FIELD_WIDTH, FIELD_HEIGHT},
        .steps = steps,
        .number = number,
    };
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->work_layout, 0, 1,
                            &f->work_set, 0, NULL);
    vkCmdPushConstants(commands, f->work_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                       &push);
    vkCmdDispatch(commands, groups, 1, 1);
}

static VkResult reusable_begin(VkCommandBuffer commands)
{
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    TRY(vkBeginCommandBuffer(commands, &info));
    return VK_SUCCESS;
}

VkResult field_steps(struct field *f, uint32_t steps)
{
    f->steps = steps;
    PASS(reusable_begin(f->packet));
    work_record(f, f->packet, f->walk, steps, 0, FIELD_WALKERS / 64);
    TRY(vkEndCommandBuffer(f->packet));
    return VK_SUCCESS;
}

static VkResult copy_record(const struct field *f, uint32_t i)
{
    const VkBufferCopy whole = {.size = FIELD_BYTES};
    PASS(reusable_begin(f->copy[i]));
    vkCmdCopyBuffer(f->copy[i], f->marks.handle, f->copies[i].handle, 1, &whole);
    TRY(vkEndCommandBuffer(f->copy[i]));
    return VK_SUCCESS;
}

static float hashed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return (float)((x ^ x >> 16) >> 8) / 16777216.0f;
}

/* Clears the field, and has the walkers come to the attractor: their first marks are cleared, too.
 * */
static VkResult field_begin(struct field *f, const struct sample_show *show)
{
    float(*walkers)[2] = f->walkers.mapped;
    for (uint32_t i = 0; i < 2 * FIELD_WALKERS; ++i)
        walkers[i / 2][i % 2] = hashed(i + show->seed * 2 * FIELD_WALKERS) - 0.5f;
    PASS(sample_commands_begin(f->ask_commands));
    work_record(f, f->ask_commands, f->walk, ASK_STEPS, 0, FIELD_WALKERS / 64);
    sample_barrier(f->ask_commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_PIPELINE_STAGE_2_TRANSFER_BIT);
    vkCmdFillBuffer(f->ask_commands, f->marks.handle, 0, VK_WHOLE_SIZE, 0);
    for (uint32_t i = 0; i < FIELD_COPIES; ++i)
        vkCmdFillBuffer(f->ask_commands, f->copies[i].handle, 0, VK_WHOLE_SIZE, 0);
    PASS(sample_commands_end(f->ask_commands));
    TRY(bfQueueExecute(show->compute, 1, &f->ask_commands));
    TRY(bfQueueWaitIdle(show->compute));
    return VK_SUCCESS;
}

VkResult field_create(struct field *f, const struct sample_show *show, uint32_t family,
                      uint32_t steps)
{
    static const float pictures[][4] = {
        {-1.4f, 1.6f, 1.0f, 0.7f},    {1.7f, 1.7f, 0.6f, 1.2f},  {-1.7f, 1.3f, -0.1f, -1.21f},
        {-1.8f, -2.0f, -0.5f, -0.9f}, {1.5f, -1.8f, 1.6f, 0.9f}, {-1.7f, 1.8f, -1.9f, -0.4f},
    };
    const struct sample_device *device = &show->device;
    VkCommandBuffer commands[2 + FIELD_COPIES];
    for (uint32_t i = 0; i < 4; ++i)
        f->constants[i] = pictures[show->seed % (sizeof pictures / sizeof pictures[0])][i];
    PASS(buffers_create(f, device));
    PASS(pipelines_create(f, device, show->format));
    PASS(sample_command_buffers(device, bfGetCommandQueueFamilyIndex(show->direct), 1, "frame",
                                &f->pool, &f->frame));
    PASS(sample_command_buffers(device, family, 2 + FIELD_COPIES, "work", &f->work_pool, commands));
    f->packet = commands[0];
    f->ask_commands = commands[1];
    for (uint32_t i = 0; i < FIELD_COPIES; ++i) {
        f->copy[i] = commands[2 + i];
        PASS(copy_record(f, i));
    }
    PASS(field_steps(f, steps));
    return field_begin(f, show);
}

void field_destroy(struct field *f, const struct sample_device *device)
{
    vkDestroyCommandPool(device->handle, f->work_pool, NULL);
    vkDestroyCommandPool(device->handle, f->pool, NULL);
    vkDestroyPipeline(device->handle, f->spark, NULL);
    vkDestroyPipeline(device->handle, f->draw, NULL);
    vkDestroyPipeline(device->handle, f->ask, NULL);
    vkDestroyPipeline(device->handle, f->walk, NULL);
    vkDestroyPipelineLayout(device->handle, f->draw_layout, NULL);
    vkDestroyPipelineLayout(device->handle, f->work_layout, NULL);
    sample_sets_destroy(device, &f->draw_sets);
    sample_sets_destroy(device, &f->work_sets);
    sample_buffer_destroy(device, &f->panel);
    sample_buffer_destroy(device, &f->sparks);
    for (uint32_t i = 0; i < FIELD_COPIES; ++i)
        sample_buffer_destroy(device, &f->copies[i]);
    sample_buffer_destroy(device, &f->answer);
    sample_buffer_destroy(device, &f->marks);
    sample_buffer_destroy(device, &f->walkers);
}

/* --- task and draw --- */

VkResult field_ask(struct field *f, uint32_t number)
{
    PASS(sample_commands_begin(f->ask_commands));
    work_record(f, f->ask_commands, f->ask, ASK_STEPS, number, 1);
    sample_barrier(f->ask_commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT);
    return sample_commands_end(f->ask_commands);
}

void field_answer(const struct field *f, float place[2])
{
    const float *answer = f->answer.mapped;
    place[0] = answer[0];
    place[1] = answer[1];
}

static struct draw_push push_of(const struct field *f, VkExtent2D extent, uint64_t frame,
                                uint64_t packets, const struct curves *curves)
{
    const float marks = (float)packets * (float)f->steps * FIELD_WALKERS;
    const float dot = (float)extent.width / FIELD_WIDTH, time = (float)(frame % 100000) * 0.01f;
    struct draw_push push = {
        .size = {FIELD_WIDTH, FIELD_HEIGHT},
        .dot = dot,
        .turn = 0.16f * sinf(time),
        .zoom = 1.05f + 0.05f * cosf(time * 0.7f),
        .exposure = FIELD_WIDTH * FIELD_HEIGHT / fmaxf(marks, 1.0f),
    };
    if (curves) {
        push.zoom += 0.12f;
        push.lift = 0.09f;
        push.panel_size[0] = CURVES_WIDTH;
        push.panel_size[1] = CURVES_HEIGHT;
        push.panel_at[0] = floorf((FIELD_WIDTH - CURVES_WIDTH) / 2 * dot);
        push.panel_at[1] = floorf((float)extent.height - CURVES_HEIGHT * dot - push.panel_at[0]);
    }
    return push;
}

VkResult field_draw(struct field *f, const struct sample_show *show, uint64_t frame,
                    const struct sample_target *target, uint32_t copy, uint64_t packets,
                    uint32_t sparks, const struct curves *curves)
{
    const struct draw_push push = push_of(f, show->extent, frame, packets, curves);
    VkCommandBuffer commands = f->frame;
    if (curves)
        curves_draw(curves, f->panel.mapped);
    PASS(sample_commands_begin(commands));
    sample_label_begin(&show->device, commands, "draw frame %llu", (unsigned long long)frame);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, show->extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, f->draw);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, f->draw_layout, 0, 1,
                            &f->draw_set[copy], 0, NULL);
    vkCmdPushConstants(commands, f->draw_layout,
                       VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push,
                       &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    if (sparks) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, f->spark);
        vkCmdDraw(commands, 4, sparks, 0, 0);
    }
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    sample_label_end(&show->device, commands);
    return sample_commands_end(commands);
}
