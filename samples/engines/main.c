/* SPDX-License-Identifier: MIT */
/*
 * The first example of the D3D12 document 'Multi-engine synchronization', in Belfry's own API: the
 * copy engine, the 3D engine and the compute engine all work on each frame.
 *
 * The copy queue copies geometry, then four textures, to the GPU. The direct queue draws a pre-pass
 * of the geometry as soon as that has arrived; the compute queue computes the light for what the
 * pre-pass shows; and the direct queue draws the picture when both the light and the textures are
 * there. frame_submit() below is the document's pseudo-code, with its fence values. The document
 * draws one frame; here it is repeated, and so there are also waits until a frame no longer uses
 * what the next one writes.
 *
 * The rules of the document's section on multi-queue access are kept: each resource has one writer
 * at a time, a fence lies between the writer and readers on other queues, and what the copy queue
 * hands over is in the common state (a Vulkan image in the layout GENERAL).
 */
#include <stdlib.h>
#include <string.h>

#include "passes.h"
#include "pipeline.h"
#include "show.h"

/* The document's fence values, which each frame adds to its own base. */
enum {
    PER_FRAME = 1000,
    GEOMETRY_COPIED = 101,
    TEXTURES_COPIED = 102,
    PREPASS_DONE = 201,
    FRAME_DONE = 202, /* not in the document, which draws only one frame */
    LIGHT_DONE = 301,
};

/* The command buffers of a frame. */
enum work { COPY_GEOMETRY, COPY_TEXTURES, PREPASS, FINAL, LIGHT, WORKS };

struct engines {
    struct sample_show show;
    struct passes passes;
    BfFence copy_fence, render_fence, compute_fence;
    VkCommandPool pools[3]; /* of the copy, direct and compute queues */
    VkCommandBuffer commands[PASSES_UPLOADS][WORKS];
};

static uint64_t value_of(uint64_t frame, uint32_t value)
{
    return frame * PER_FRAME + value;
}

/* The CPU's part of frame `frame`: writes its geometry and records its command buffers. */
static VkResult frame_record(struct engines *engines, uint64_t frame,
                             const struct sample_target *target, const VkCommandBuffer *commands)
{
    const struct sample_device *device = &engines->show.device;
    struct passes *passes = &engines->passes;

    passes_upload(passes, frame);
    for (enum work i = COPY_GEOMETRY; i < WORKS; ++i)
        PASS(sample_commands_begin(commands[i]));
    passes_copy_geometry(passes, device, commands[COPY_GEOMETRY], frame);
    passes_copy_textures(passes, device, commands[COPY_TEXTURES], frame);
    passes_draw_prepass(passes, device, commands[PREPASS], frame);
    passes_light(passes, device, commands[LIGHT], frame);
    passes_draw_final(passes, device, commands[FINAL], frame, target);
    for (enum work i = COPY_GEOMETRY; i < WORKS; ++i)
        PASS(sample_commands_end(commands[i]));
    return VK_SUCCESS;
}

static VkResult frame_submit(struct engines *engines, uint64_t frame,
                             const VkCommandBuffer *commands)
{
    BfCommandQueue copy = engines->show.copy, render = engines->show.direct;
    BfCommandQueue compute = engines->show.compute;

    /* An earlier frame may still be drawing with the geometry and textures of this version. */
    if (frame > PASSES_VERSIONS)
        TRY(bfQueueWait(copy, engines->render_fence,
                        value_of(frame - PASSES_VERSIONS, FRAME_DONE)));

    TRY(bfQueueExecute(copy, 1, &commands[COPY_GEOMETRY]));
    TRY(bfQueueSignal(copy, engines->copy_fence, value_of(frame, GEOMETRY_COPIED)));
    TRY(bfQueueExecute(copy, 1, &commands[COPY_TEXTURES]));
    TRY(bfQueueSignal(copy, engines->copy_fence, value_of(frame, TEXTURES_COPIED)));

    TRY(bfQueueWait(render, engines->copy_fence, value_of(frame, GEOMETRY_COPIED)));
    TRY(bfQueueExecute(render, 1, &commands[PREPASS])); /* draws the geometry into rt1 */
    TRY(bfQueueSignal(render, engines->render_fence, value_of(frame, PREPASS_DONE)));

    TRY(bfQueueWait(compute, engines->render_fence, value_of(frame, PREPASS_DONE)));
    TRY(bfQueueExecute(compute, 1, &commands[LIGHT])); /* reads rt1, writes buf1 */
    TRY(bfQueueSignal(compute, engines->compute_fence, value_of(frame, LIGHT_DONE)));

    TRY(bfQueueWait(render, engines->compute_fence, value_of(frame, LIGHT_DONE)));
    TRY(bfQueueWait(render, engines->copy_fence, value_of(frame, TEXTURES_COPIED)));
    TRY(bfQueueExecute(render, 1, &commands[FINAL])); /* reads buf1 and tex1 to tex4 */
    TRY(bfQueueSignal(render, engines->render_fence, value_of(frame, FRAME_DONE)));
    return VK_SUCCESS;
}

static VkResult frames_draw(struct engines *engines, uint64_t last)
{
    struct sample_show *show = &engines->show;
    struct sample_target target;

    for (uint64_t frame = 1; frame <= last && sample_show_goes_on(show); ++frame) {
        const VkCommandBuffer *commands = engines->commands[frame % PASSES_UPLOADS];

        /* The CPU overwrites what it wrote for an earlier frame, so its copy must be done. */
        if (frame > PASSES_UPLOADS)
            PASS(sample_fence_await(engines->render_fence,
                                    value_of(frame - PASSES_UPLOADS, FRAME_DONE)));
        VkResult result = sample_show_begin(show, &target);
        if (result != VK_SUCCESS)
            return result;
        if (engines->passes.extent.width != show->extent.width ||
            engines->passes.extent.height != show->extent.height)
            PASS(passes_resize(&engines->passes, &show->device, show->extent));
        PASS(frame_record(engines, frame, &target, commands));
        PASS(frame_submit(engines, frame, commands));
        PASS(sample_show_end(show, &target));
    }
    return VK_SUCCESS;
}

static VkResult commands_create(struct engines *engines)
{
    struct sample_show *show = &engines->show;
    static const struct {
        const char *name;
        uint32_t count;
        enum work works[2];
    } kinds[3] = {
        {"copy", 2, {COPY_GEOMETRY, COPY_TEXTURES}},
        {"draw", 2, {PREPASS, FINAL}},
        {"light", 1, {LIGHT}},
    };
    const BfCommandQueue queues[3] = {show->copy, show->direct, show->compute};

    for (uint32_t k = 0; k < 3; ++k) {
        VkCommandBuffer buffers[2 * PASSES_UPLOADS];
        PASS(sample_command_buffers(&show->device, bfGetCommandQueueFamilyIndex(queues[k]),
                                    kinds[k].count * PASSES_UPLOADS, kinds[k].name,
                                    &engines->pools[k], buffers));
        for (uint32_t i = 0; i < PASSES_UPLOADS; ++i) {
            for (uint32_t w = 0; w < kinds[k].count; ++w)
                engines->commands[i][kinds[k].works[w]] = buffers[i * kinds[k].count + w];
        }
    }
    return VK_SUCCESS;
}

static VkResult objects_create(struct engines *engines)
{
    struct sample_show *show = &engines->show;

    PASS(sample_fence_create(show, &engines->copy_fence));
    PASS(sample_fence_create(show, &engines->render_fence));
    PASS(sample_fence_create(show, &engines->compute_fence));
    PASS(commands_create(engines));
    PASS(passes_create(&engines->passes, &show->device, show->seed, show->format));
    return passes_resize(&engines->passes, &show->device, show->extent);
}

static void objects_destroy(struct engines *engines)
{
    struct sample_show *show = &engines->show;

    /* The fences are destroyed first, so that no queue waits for a frame that will never come. */
    bfDestroyFence(engines->compute_fence);
    bfDestroyFence(engines->render_fence);
    bfDestroyFence(engines->copy_fence);
    (void)sample_show_idle(show);
    passes_destroy(&engines->passes, &show->device);
    for (uint32_t i = 0; i < 3; ++i)
        vkDestroyCommandPool(show->device.handle, engines->pools[i], NULL);
}

static int engines_run(struct engines *engines)
{
    struct sample_show *show = &engines->show;
    double start = sample_seconds();

    if (frames_draw(engines, show->frames ? show->frames : UINT64_MAX) < 0 ||
        sample_show_idle(show) < 0)
        return SAMPLE_EXIT_FAILED;
    double seconds = sample_seconds() - start;

    int exit_code = sample_show_save(show);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    return sample_show_tell(show,
                            "%llu frame%s of %ux%u, %u triangles and %u textures copied for each, "
                            "in %.2f s.",
                            (unsigned long long)show->shown, show->shown == 1 ? "" : "s",
                            show->extent.width, show->extent.height, engines->passes.vertices / 3,
                            TEXTURES, seconds);
}

int main(int argc, char **argv)
{
    static struct engines engines = {.show = {.size = {1280, 720}, .seed = 16, .frames = 30}};
    struct sample_show *show = &engines.show;

    int exit_code = sample_show_arguments(
        show, "engines",
        "A copy queue brings geometry and textures, a compute queue lights what a 3D queue draws.",
        NULL, 0, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    exit_code = sample_show_open(show);
    if (exit_code == SAMPLE_OPTIONS_GO_ON) {
        exit_code = objects_create(&engines) < 0 ? SAMPLE_EXIT_FAILED : engines_run(&engines);
        objects_destroy(&engines);
    }
    sample_show_close(show);
    return exit_code;
}
