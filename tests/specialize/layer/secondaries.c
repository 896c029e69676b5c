/* SPDX-License-Identifier: MIT */
/* Programs under the layer whose work is all in secondary command buffers: dispatches, and draws
 * within passes of their primaries. Pictures and words stay what they are, and what is rebuilt gets
 * its verdict by the program's own frames. */
#include "../pipeline/gpu.h"
#include "support/infos.h"
#include "support/cache.h"
#include "support/capture.h"

#include <belfry/background.h>
#include <belfry/belfry.h>

#include "shaders/full.vert.h"
#include "shaders/paint.comp.h"
#include "shaders/paint.frag.h"

#define SECONDARIES 3
#define FRAMES      20000 /* until there is a verdict, at most */

struct program {
    struct gpu gpu;
    BfDevice bf;
    VkCommandBuffer secondaries[SECONDARIES];
    VkShaderModule modules[2];
    VkPipeline pipeline;
    VkRenderPass pass; /* NULL: dynamic rendering, or none */
    VkFramebuffer framebuffer;
    VkFence fence;
};

static const struct gpu_push hot = {1, 40, 5};

/* Opening and closing -------------------------------------------------------------------------- */

static void program_open(struct program *p)
{
    *p = (struct program){0};
    gpu_open(&p->gpu, false);
    assert_success(bfGetDevice(p->gpu.device, &p->bf));
    const VkCommandBufferAllocateInfo secondaries = {
        VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = p->gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_SECONDARY, .commandBufferCount = SECONDARIES};
    assert_success(p->gpu.vk.vkAllocateCommandBuffers(p->gpu.device, &secondaries, p->secondaries));
    p->fence = vulkan_fence(p->gpu.device, false);
}

static void open_compute(struct program *p)
{
    program_open(p);
    p->modules[0] = gpu_module(&p->gpu, paint_comp, sizeof(paint_comp));
    const VkComputePipelineCreateInfo info = info_compute(p->modules[0], p->gpu.layout, NULL);
    p->pipeline = gpu_compute(&p->gpu, &info);
}

static void open_graphics(struct program *p, bool dynamic)
{
    program_open(p);
    struct gpu *gpu = &p->gpu;
    p->modules[0] = gpu_module(gpu, full_vert, sizeof(full_vert));
    p->modules[1] = gpu_module(gpu, paint_frag, sizeof(paint_frag));
    p->pass = dynamic ? VK_NULL_HANDLE : gpu_render_pass(gpu);
    p->framebuffer = gpu_framebuffer(gpu, p->pass);
    struct info_graphics g;
    gpu_describe(&g, p->modules[0], p->modules[1], gpu->layout, p->pass);
    p->pipeline = gpu_graphics(gpu, &g.info);
}

/* What Belfry said at the end, on one line for each variant; the caller frees it. */
static char *program_close(struct program *p)
{
    struct gpu *gpu = &p->gpu;
    gpu_destroy_pipeline(gpu, p->pipeline);
    for (int i = 0; i < 2; i++)
        gpu->vk.vkDestroyShaderModule(gpu->device, p->modules[i], NULL);
    gpu->vk.vkDestroyFramebuffer(gpu->device, p->framebuffer, NULL);
    gpu->vk.vkDestroyFence(gpu->device, p->fence, NULL);
    if (p->pass)
        gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)p->pass);
    struct capture capture;
    capture_start(&capture);
    gpu_close(gpu);
    char *report = capture_stop(&capture);
    fputs(report, stderr);
    return report;
}

/* Frames --------------------------------------------------------------------------------------- */

static void begin(struct program *p, VkCommandBuffer commands, VkCommandBufferUsageFlags flags)
{
    const VkFormat format = VK_FORMAT_R32G32B32A32_UINT;
    const VkCommandBufferInheritanceRenderingInfo rendering = {
        VK_TYPE(COMMAND_BUFFER_INHERITANCE_RENDERING_INFO), .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format, .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    bool within = flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
    const VkCommandBufferInheritanceInfo inheritance = {
        VK_TYPE(COMMAND_BUFFER_INHERITANCE_INFO), .pNext = within && !p->pass ? &rendering : NULL,
        .renderPass = within ? p->pass : VK_NULL_HANDLE};
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO), .flags = flags,
                                           .pInheritanceInfo = &inheritance};
    assert_success(p->gpu.vk.vkBeginCommandBuffer(commands, &info));
}

static void submit(struct program *p)
{
    struct gpu *gpu = &p->gpu;
    gpu_end(gpu);
    vulkan_run(gpu->device, gpu->queue, gpu->commands, p->fence);
}

static void push(struct program *p, VkCommandBuffer commands)
{
    p->gpu.vk.vkCmdPushConstants(commands, p->gpu.layout,
                                 VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                                 sizeof(hot), &hot);
}

static uint32_t paint(uint32_t v)
{
    for (uint32_t r = 0; r < hot.rounds; r++)
        v ^= v << hot.factor;
    return v;
}

static void compute_frame(struct program *p, VkCommandBufferUsageFlags flags)
{
    struct gpu *gpu = &p->gpu;
    VkCommandBuffer secondary = p->secondaries[0];
    begin(p, secondary, flags);
    gpu->vk.vkCmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipeline);
    gpu->vk.vkCmdBindDescriptorSets(secondary, VK_PIPELINE_BIND_POINT_COMPUTE, gpu->layout, 0, 1,
                                    &gpu->set, 0, NULL);
    push(p, secondary);
    gpu->vk.vkCmdDispatch(secondary, GPU_WORDS / 64, 1, 1);
    assert_success(gpu->vk.vkEndCommandBuffer(secondary));
    memset(gpu->words, 0x55, GPU_WORDS * sizeof(uint32_t));
    begin(p, gpu->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    gpu->vk.vkCmdExecuteCommands(gpu->commands, 1, &secondary);
    submit(p);
    for (uint32_t i = 0; i < GPU_WORDS; i += 61)
        assert_int_equal(gpu->words[i], paint(i + 5));
}

/* A picture that is painted over by each of the secondary command buffers. */
static void graphics_frame(struct program *p, VkCommandBufferUsageFlags flags)
{
    struct gpu *gpu = &p->gpu;
    for (int i = 0; i < SECONDARIES; i++) {
        VkCommandBuffer secondary = p->secondaries[i];
        begin(p, secondary, flags | VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
        gpu->vk.vkCmdBindPipeline(secondary, VK_PIPELINE_BIND_POINT_GRAPHICS, p->pipeline);
        push(p, secondary);
        gpu->vk.vkCmdDraw(secondary, 3, 1, 0, 0);
        assert_success(gpu->vk.vkEndCommandBuffer(secondary));
    }
    memset(gpu->words, 0x55, GPU_WORDS * sizeof(uint32_t));
    begin(p, gpu->commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    gpu_begin_picture(gpu, p->pass, p->framebuffer, true);
    gpu->vk.vkCmdExecuteCommands(gpu->commands, SECONDARIES, p->secondaries);
    gpu_end_picture(gpu, p->pass);
    submit(p);
    for (uint32_t i = 0; i < GPU_SIDE; i++)
        assert_int_equal(gpu->words[4 * (i * GPU_SIDE + 7)], paint(7 * 31 + i + 5));
}

/* Verdicts ------------------------------------------------------------------------------------- */

/* Until all background items have ended. */
static void commit(struct program *p)
{
    BfEvent event;
    assert_success(bfCreateEvent(0, &event));
    assert_success(bfSetBackgroundProcessingMode(
        p->bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    assert_success(bfWaitForEvents(1, &event, VK_TRUE, UINT64_MAX, NULL));
    bfDestroyEvent(event);
}

/* One frame, a variant of what it used, and so many frames, or as many as a verdict takes. */
static char *run(struct program *p, void (*frame)(struct program *, VkCommandBufferUsageFlags),
                 VkCommandBufferUsageFlags flags, uint32_t frames)
{
    commit(p); /* the shaders are analysed: what is recorded before isn't counted */
    frame(p, flags);
    commit(p);
    VkBool32 further = VK_TRUE;
    for (uint32_t i = 1; i <= frames && further; i++) {
        frame(p, flags);
        if (i % 64 == 0)
            assert_success(
                bfSetBackgroundProcessingMode(p->bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                              BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, &further));
    }
    return program_close(p);
}

static void assert_judged(char *report)
{
    /* What the verdict is, is the machine's to say; that there is one isn't. */
    assert_true(strstr(report, " kept faster ") || strstr(report, " rejected slower ") ||
                strstr(report, " rejected no-gain "));
    assert_null(strstr(report, " unjudged "));
    free(report);
}

TEST_WITH(dispatches_are_judged, cache_setup, cache_teardown)
{
    struct program p;
    open_compute(&p);
    assert_judged(run(&p, compute_frame, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, FRAMES));
}

TEST_WITH(draws_within_render_passes_are_judged, cache_setup, cache_teardown)
{
    struct program p;
    open_graphics(&p, false);
    assert_judged(run(&p, graphics_frame, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT, FRAMES));
}

/* Those that may run beside themselves, too: the times are their primary's. */
TEST_WITH(draws_within_dynamic_rendering_are_judged, cache_setup, cache_teardown)
{
    struct program p;
    open_graphics(&p, true);
    assert_judged(run(&p, graphics_frame, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, FRAMES));
}

/* Dispatches in command buffers that may run beside themselves have no times, and all of them get
 * the variant. */
TEST_WITH(what_may_run_beside_itself_is_not, cache_setup, cache_teardown)
{
    struct program p;
    open_compute(&p);
    char *report = run(&p, compute_frame, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 500);
    const char *line = strstr(report, " unjudged ");
    assert_non_null(line);
    assert_non_null(strstr(line, " picked=500 "));
    free(report);
}
