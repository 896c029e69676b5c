/* SPDX-License-Identifier: MIT */
/* Draws frames of the scene, post-processes and times them, and draws the curve of their
 * durations. */
#include "frames.h"

#include "pipeline.h"

#include "shaders/show.frag.h"

#define PANEL_LEAST_WIDTH  160u
#define PANEL_LEAST_HEIGHT 40u

struct push {
    uint32_t size[2];
    uint32_t panel_at[2];
    uint32_t panel_size[2];
};

_Static_assert(FRAMES_AHEAD <= SCENE_VERSIONS && FRAMES_AHEAD <= POST_VERSIONS,
               "frames under way write to different versions");

/* ----------------------------------------------------------------------------------- Objects -- */

static VkResult pipeline_create(struct frames *frames)
{
    const struct sample_device *device = &frames->show->device;
    static const struct sample_slot slots[] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .stages = VK_SHADER_STAGE_FRAGMENT_BIT},
    };

    PASS(sample_sets_layout(device, slots, 2, &frames->sets));
    PASS(sample_pipeline_layout(device, frames->sets.layout, VK_SHADER_STAGE_FRAGMENT_BIT,
                                sizeof(struct push), &frames->layout));
    const struct sample_draw draw = {
        .vertex = scene_screen(),
        .fragment = SAMPLE_SPIRV(show_frag),
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .blend = SAMPLE_BLEND_NONE,
        .target = frames->show->format,
        .layout = frames->layout,
        .specialization = sample_encoding(frames->show->format),
    };
    return sample_draw_pipeline(device, &draw, "show", &frames->pipeline);
}

static void panels_destroy(struct frames *frames)
{
    sample_sets_empty(&frames->show->device, &frames->sets);
    for (uint32_t i = 0; i < FRAMES_AHEAD; ++i)
        sample_buffer_destroy(&frames->show->device, &frames->panels[i]);
}

/* Creates everything of the picture's size. All frames must be done. */
static VkResult resize(struct frames *frames)
{
    const struct sample_device *device = &frames->show->device;
    struct sample_slot slots[FRAMES_AHEAD][2];
    VkExtent2D extent = frames->show->extent;
    VkExtent2D panel = {extent.width - extent.width / 20, extent.height * 27 / 100};

    PASS(scene_resize(&frames->scene, device, extent));
    PASS(post_resize(&frames->post, device, frames->scene.whole, extent));
    panels_destroy(frames);
    frames->extent = extent;
    if (frames->plain || panel.width < PANEL_LEAST_WIDTH || panel.height < PANEL_LEAST_HEIGHT)
        panel = (VkExtent2D){0, 0};
    frames->panel = panel;
    for (uint32_t i = 0; i < FRAMES_AHEAD; ++i) {
        PASS(sample_buffer_create(device, ((VkDeviceSize)panel.width * panel.height + 1) * 4,
                                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true, "panel",
                                  &frames->panels[i]));
        slots[i][0] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .buffer = frames->post.picture.handle,
        };
        slots[i][1] = (struct sample_slot){
            .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .buffer = frames->panels[i].handle,
        };
    }
    return sample_sets_fill(device, slots[0], 2, FRAMES_AHEAD, &frames->sets, frames->set);
}

VkResult frames_create(struct frames *frames)
{
    struct sample_show *show = frames->show;
    uint32_t family = bfGetCommandQueueFamilyIndex(show->direct);

    PASS(sample_fence_create(show, &frames->done));
    PASS(sample_command_buffers(&show->device, family, FRAMES_AHEAD, "frame", &frames->pool,
                                frames->commands));
    PASS(scene_create(&frames->scene, &show->device, show->seed));
    PASS(post_create(&frames->post, &show->device, family));
    PASS(pipeline_create(frames));
    return resize(frames);
}

void frames_destroy(struct frames *frames)
{
    const struct sample_device *device = &frames->show->device;

    bfDestroyFence(frames->done);
    (void)sample_show_idle(frames->show);
    panels_destroy(frames);
    vkDestroyPipeline(device->handle, frames->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, frames->layout, NULL);
    sample_sets_destroy(device, &frames->sets);
    post_destroy(&frames->post, device);
    scene_destroy(&frames->scene, device);
    vkDestroyCommandPool(device->handle, frames->pool, NULL);
}

/* ------------------------------------------------------------------------------------ Frames -- */

/* Waits for the oldest frame that isn't timed, and notes its durations. A frame's duration is the
 * time since the one before was done, or since it was begun if that was later. */
static VkResult frame_time(struct frames *frames)
{
    uint64_t frame = ++frames->timed;

    double began = frames->began[frame % FRAMES_AHEAD];
    PASS(sample_fence_await(frames->done, frame));
    double now = sample_seconds(), since = began > frames->seen ? began : frames->seen;
    frames->seen = now;
    if (frame > FRAMES_WARMUP)
        curve_add(&frames->curve,
                  (struct curve_frame){
                      .phase = frames->phases[frame % FRAMES_AHEAD],
                      .post = (float)post_milliseconds(&frames->post, &frames->show->device, frame),
                      .whole = (float)((now - since) * 1e3),
                  });
    return VK_SUCCESS;
}

VkResult frames_drain(struct frames *frames)
{
    while (frames->timed < frames->drawn)
        PASS(frame_time(frames));
    return sample_show_idle(frames->show);
}

static void show_record(const struct frames *frames, VkCommandBuffer commands, uint64_t frame,
                        const struct sample_target *target)
{
    const struct sample_device *device = &frames->show->device;
    VkExtent2D extent = frames->extent, panel = frames->panel;
    const struct push push = {
        .size = {extent.width, extent.height},
        .panel_at = {(extent.width - panel.width) / 2,
                     extent.height - panel.height - (extent.width - panel.width) / 2},
        .panel_size = {panel.width, panel.height},
    };

    sample_label_begin(device, commands, "show frame %llu", (unsigned long long)frame);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_DISCARD, SAMPLE_USE_TARGET);
    sample_rendering_begin(commands, target->view, extent, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    vkCmdSetBlendConstants(commands, (const float[4]){0.0f, 0.0f, 0.0f, 0.0f});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, frames->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, frames->layout, 0, 1,
                            &frames->set[frame % FRAMES_AHEAD], 0, NULL);
    vkCmdPushConstants(commands, frames->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, sizeof push,
                       &push);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    sample_transition(commands, target->image, 0, 1, SAMPLE_USE_TARGET, target->after);
    /* The post-process of the next frame writes to the picture again. */
    sample_barrier(commands, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                   VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    sample_label_end(device, commands);
}

VkResult frames_draw(struct frames *frames, enum curve_phase phase)
{
    struct sample_show *show = frames->show;
    uint64_t frame = frames->drawn + 1;
    VkCommandBuffer commands = frames->commands[frame % FRAMES_AHEAD];
    struct sample_target target;

    if (frame > FRAMES_AHEAD && frames->timed < frame - FRAMES_AHEAD)
        PASS(frame_time(frames));
    frames->began[frame % FRAMES_AHEAD] = sample_seconds();
    frames->phases[frame % FRAMES_AHEAD] = phase;
    VkResult result = sample_show_begin(show, &target);
    if (result != VK_SUCCESS)
        return result;
    if (frames->extent.width != show->extent.width || frames->extent.height != show->extent.height)
        PASS(resize(frames));

    PASS(sample_commands_begin(commands));
    scene_record(&frames->scene, &show->device, commands, frame);
    post_record(&frames->post, &show->device, commands, frame);
    if (frames->panel.width)
        curve_draw(&frames->curve, frames->panels[frame % FRAMES_AHEAD].mapped, frames->panel.width,
                   frames->panel.height);
    show_record(frames, commands, frame, &target);
    PASS(sample_commands_end(commands));

    frames->drawn = frame;
    TRY(bfQueueExecute(show->direct, 1, &commands));
    TRY(bfQueueSignal(show->direct, frames->done, frame));
    return sample_show_end(show, &target);
}
