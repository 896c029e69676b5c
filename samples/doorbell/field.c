/* SPDX-License-Identifier: MIT */
/* The picture's buffers and pipelines, its dispatches, its draw. */
#include "field.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

#include "shaders/field.frag.h"
#include "shaders/screen.vert.h"
#include "shaders/tile.comp.h"

#define ACROSS (FIELD_WIDTH / 4)
#define DOWN   (FIELD_HEIGHT / 4)

struct frame {
    uint32_t number, first, backwards, unused;
    float c[2], unused2[2];
};

struct tile_push {
    uint32_t thread, slot, frame, tiles, width, height;
};

struct draw_push {
    uint32_t frame, width, height, turn, first, across, down;
    float dot;
};

/* --- the order of tiles --- */

struct placed {
    uint32_t tile, key;
};

static int placed_compare(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    return a->key != b->key ? (a->key > b->key) - (a->key < b->key)
                            : (a->tile > b->tile) - (a->tile < b->tile);
}

static uint32_t hash(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A thread's quarter grows from a point in it, with a rough edge. */
static void order_fill(uint32_t *order, uint32_t thread, uint32_t seed)
{
    static struct placed placed[FIELD_TILES];
    const uint32_t wide = ACROSS / 2, high = DOWN / 2;
    const uint32_t left = thread % 2 * wide, top = thread / 2 * high;
    const uint32_t random = hash(seed * FIELD_THREADS + thread + 1);
    const int x0 = (int)(wide / 4 + random % (wide / 2));
    const int y0 = (int)(high / 4 + (random >> 16) % (high / 2));
    for (uint32_t i = 0; i < FIELD_TILES; ++i) {
        int x = (int)(i % wide) - x0, y = (int)(i / wide) - y0;
        placed[i].tile = (top + i / wide) * ACROSS + left + i % wide;
        placed[i].key = (uint32_t)(x * x + y * y) * 8 / 10 + hash(placed[i].tile ^ random) % 700;
    }
    qsort(placed, FIELD_TILES, sizeof *placed, placed_compare);
    for (uint32_t i = 0; i < FIELD_TILES; ++i)
        order[i] = placed[i].tile;
}

/* --- creation --- */

static VkResult buffers_create(struct field *f, const struct sample_device *device)
{
    const VkBufferUsageFlags storage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    PASS(sample_buffer_create(device, sizeof(uint32_t) * FIELD_WIDTH * FIELD_HEIGHT,
                              storage | VK_BUFFER_USAGE_TRANSFER_DST_BIT, false, "field",
                              &f->pixels));
    PASS(sample_buffer_create(device, sizeof(uint32_t) * FIELD_TILES * FIELD_THREADS, storage, true,
                              "order", &f->order));
    PASS(sample_buffer_create(device, sizeof(struct frame) * FIELD_AHEAD, storage, true, "frames",
                              &f->frames));
    return sample_buffer_create(device, sizeof(uint32_t) * COUNTERS_WORDS * FIELD_AHEAD, storage,
                                true, "counters", &f->dots);
}

static struct sample_slot slot(const struct sample_buffer *buffer, VkShaderStageFlags stages)
{
    return (struct sample_slot){
        .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = stages, .buffer = buffer->handle};
}

static VkResult pipelines_create(struct field *f, const struct sample_device *device,
                                 VkFormat target)
{
    const struct sample_slot tile[3] = {slot(&f->pixels, VK_SHADER_STAGE_COMPUTE_BIT),
                                        slot(&f->order, VK_SHADER_STAGE_COMPUTE_BIT),
                                        slot(&f->frames, VK_SHADER_STAGE_COMPUTE_BIT)};
    const struct sample_slot shown[2] = {slot(&f->pixels, VK_SHADER_STAGE_FRAGMENT_BIT),
                                         slot(&f->dots, VK_SHADER_STAGE_FRAGMENT_BIT)};
    PASS(sample_sets_fill(device, tile, 3, 1, &f->tile_sets, &f->tile_set));
    PASS(sample_sets_fill(device, shown, 2, 1, &f->draw_sets, &f->draw_set));
    PASS(sample_pipeline_layout(device, f->tile_sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                sizeof(struct tile_push), &f->tile_layout));
    PASS(sample_pipeline_layout(device, f->draw_sets.layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                sizeof(struct draw_push), &f->draw_layout));
    PASS(
        sample_compute_pipeline(device, SAMPLE_SPIRV(tile_comp), f->tile_layout, "tile", &f->tile));
    const struct sample_draw draw = {
        .vertex = SAMPLE_SPIRV(screen_vert),
        .fragment = SAMPLE_SPIRV(field_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = target,
        .layout = f->draw_layout,
        .specialization = sample_encoding(target),
    };
    return sample_draw_pipeline(device, &draw, "field", &f->draw);
}

/* One dispatch, one command buffer. */
static VkResult dispatch_record(const struct field *f, VkCommandBuffer commands, uint32_t thread,
                                uint32_t i)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const struct tile_push push = {
        .thread = thread,
        .slot = i % FIELD_DISPATCHES,
        .frame = i / FIELD_DISPATCHES,
        .tiles = FIELD_TILES,
        .width = FIELD_WIDTH,
        .height = FIELD_HEIGHT,
    };
    TRY(vkBeginCommandBuffer(commands, &info));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->tile);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, f->tile_layout, 0, 1,
                            &f->tile_set, 0, NULL);
    vkCmdPushConstants(commands, f->tile_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                       &push);
    vkCmdDispatch(commands, 1, 1, 1);
    TRY(vkEndCommandBuffer(commands));
    return VK_SUCCESS;
}

VkResult field_create(struct field *f, const struct sample_device *device, uint32_t family,
                      VkFormat target, uint32_t seed)
{
    f->seed = seed;
    PASS(buffers_create(f, device));
    PASS(pipelines_create(f, device, target));
    for (uint32_t t = 0; t < FIELD_THREADS; ++t) {
        order_fill((uint32_t *)f->order.mapped + t * FIELD_TILES, t, seed);
        PASS(sample_command_buffers(device, family, FIELD_AHEAD * FIELD_DISPATCHES, "tile",
                                    &f->pools[t], f->dispatches[t]));
        for (uint32_t i = 0; i < FIELD_AHEAD * FIELD_DISPATCHES; ++i)
            PASS(dispatch_record(f, f->dispatches[t][i], t, i));
    }
    return VK_SUCCESS;
}

void field_destroy(struct field *f, const struct sample_device *device)
{
    for (uint32_t t = 0; t < FIELD_THREADS; ++t)
        vkDestroyCommandPool(device->handle, f->pools[t], NULL);
    vkDestroyPipeline(device->handle, f->draw, NULL);
    vkDestroyPipeline(device->handle, f->tile, NULL);
    vkDestroyPipelineLayout(device->handle, f->draw_layout, NULL);
    vkDestroyPipelineLayout(device->handle, f->tile_layout, NULL);
    sample_sets_destroy(device, &f->draw_sets);
    sample_sets_destroy(device, &f->tile_sets);
    sample_buffer_destroy(device, &f->dots);
    sample_buffer_destroy(device, &f->frames);
    sample_buffer_destroy(device, &f->order);
    sample_buffer_destroy(device, &f->pixels);
}

/* --- frames --- */

void field_begin(struct field *f, uint64_t frame)
{
    static const float sets[][2] = {{-0.7269f, 0.1889f}, {-0.8f, 0.156f},   {-0.4f, 0.6f},
                                    {0.285f, 0.01f},     {-0.835f, 0.232f}, {-0.70176f, -0.3842f}};
    const uint64_t generation = (frame - 1) / FIELD_TURN;
    const float *c = sets[(f->seed + generation) % (sizeof sets / sizeof sets[0])];
    const struct frame info = {
        .number = (uint32_t)frame & 0xffff,
        .first = (uint32_t)((frame - 1) % FIELD_TURN) * FIELD_DISPATCHES,
        .backwards = generation % 2,
        .c = {c[0], c[1]},
    };
    ((struct frame *)f->frames.mapped)[frame % FIELD_AHEAD] = info;
}

void field_count(struct field *f, uint64_t frame, const struct counters *counters)
{
    counters_draw(counters, (uint32_t *)f->dots.mapped + frame % FIELD_AHEAD * COUNTERS_WORDS);
}

void field_clear(const struct field *f, VkCommandBuffer commands)
{
    vkCmdFillBuffer(commands, f->pixels.handle, 0, VK_WHOLE_SIZE, 0);
}

void field_draw(const struct field *f, const struct sample_device *device, VkCommandBuffer commands,
                uint64_t frame, const struct sample_target *target, VkExtent2D extent, bool counted)
{
    const struct draw_push push = {
        .frame = (uint32_t)frame & 0xffff,
        .width = FIELD_WIDTH,
        .height = FIELD_HEIGHT,
        .turn = FIELD_TURN,
        .first = (uint32_t)(frame % FIELD_AHEAD) * COUNTERS_WORDS,
        .across = COUNTERS_ACROSS,
        .down = counted ? COUNTERS_DOWN : 0,
        .dot = extent.height < 720 ? 1.0f : (float)(extent.height / 360),
    };
    sample_label_begin(device, commands, "draw frame %llu", (unsigned long long)frame);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, f->draw);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, f->draw_layout, 0, 1,
                            &f->draw_set, 0, NULL);
    vkCmdPushConstants(commands, f->draw_layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push,
                       &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    sample_label_end(device, commands);
}
