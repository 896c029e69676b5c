/* SPDX-License-Identifier: MIT */
/* Pipelines that are built again, on a real driver: after the program has destroyed all that they
 * were made of, they do what the program's pipeline does. */
#include "gpu.h"
#include "support/infos.h"

#include "specialize/check/pipeline_interface_copy.h"

#include "shaders/full.vert.h"
#include "shaders/paint.comp.h"
#include "shaders/paint.frag.h"

static const struct gpu_push pushes[] = {{0, 7, 3}, {1, 4, 5}, {2, 3, 1}, {1, 0, 0}};

static const struct {
    uint32_t bias, size;
} constants = {77, 64};
static const VkSpecializationMapEntry entries[] = {{3, 0, 4}, {7, 4, 4}};
static const VkSpecializationInfo specialization = {2, entries, sizeof(constants), &constants};

/* A compute pipeline of which nothing is left. */
static VkPipeline orphan_compute(struct gpu *gpu)
{
    VkDescriptorSetLayout sets = gpu_set_layout(gpu);
    VkPipelineLayout layout = gpu_layout(gpu, sets);
    VkShaderModule module = gpu_module(gpu, paint_comp, sizeof(paint_comp));
    const VkComputePipelineCreateInfo info = info_compute(module, layout, &specialization);
    VkPipeline pipeline = gpu_compute(gpu, &info);
    gpu_destroy_module(gpu, module);
    gpu_destroy(gpu, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout);
    gpu_destroy(gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)sets);
    return pipeline;
}

/* How a pipeline comes about. */
enum link { WHOLE, LINKED, OPTIMISED, FEW, WAYS };

static VkPipeline orphan_graphics(struct gpu *gpu, bool dynamic, enum link link)
{
    VkDescriptorSetLayout sets = gpu_set_layout(gpu);
    VkPipelineLayout layout = gpu_layout(gpu, sets);
    VkShaderModule vertex = gpu_module(gpu, full_vert, sizeof(full_vert));
    VkShaderModule fragment = gpu_module(gpu, paint_frag, sizeof(paint_frag));
    VkRenderPass pass = dynamic ? VK_NULL_HANDLE : gpu_render_pass(gpu);
    struct info_graphics g;
    gpu_describe(&g, vertex, fragment, layout, pass);
    g.stages[1].pSpecializationInfo = &specialization;
    VkPipeline pipeline = link == WHOLE ? gpu_graphics(gpu, &g.info)
                                        : gpu_linked(gpu, &g, link == FEW, link == OPTIMISED);
    memset(&g, 0xee, sizeof(g));
    gpu_destroy_module(gpu, vertex);
    gpu_destroy_module(gpu, fragment);
    gpu_destroy(gpu, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout);
    gpu_destroy(gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)sets);
    if (pass)
        gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    return pipeline;
}

static void run(struct gpu *gpu, VkPipeline pipeline, bool compute, VkRenderPass pass,
                struct gpu_push push)
{
    if (compute)
        gpu_dispatch(gpu, pipeline, push);
    else
        gpu_draw(gpu, pipeline, pass, push);
}

/* The general form and one for each of the values do what the program's does, and only for
 * these. */
static void check_builds(struct gpu *gpu, VkPipeline pipeline, bool compute, VkRenderPass pass)
{
    struct bf_pipeline *p = bf_pipelines_find(&gpu->pipelines, pipeline);
    assert_non_null(p);
    assert_string_equal(bf_reason_code(p->excluded), "none");
    assert_int_equal(p->watch.count, 3);
    uint32_t *expected = malloc(GPU_WORDS * sizeof(*expected));
    assert_non_null(expected);
    for (size_t i = 0; i < BF_COUNT(pushes); i++) {
        uint8_t bytes[BF_PUSH_CONSTANT_BYTES] = {0};
        memcpy(bytes, &pushes[i], sizeof(pushes[i]));
        run(gpu, pipeline, compute, pass, pushes[i]);
        memcpy(expected, gpu->words, GPU_WORDS * sizeof(*expected));
        VkPipeline general, variant;
        assert_success(bf_pipeline_copy_build(p->copy, NULL, NULL, VK_NULL_HANDLE, &general));
        run(gpu, general, compute, pass, pushes[i]);
        assert_memory_equal(gpu->words, expected, GPU_WORDS * sizeof(*expected));
        struct bf_folded folded;
        assert_success(
            bf_shader_fold(bf_pipeline_copy_shader(p->copy), &p->watch, 7, false, &folded));
        assert_success(bf_pipeline_copy_build(p->copy, &folded, bytes, VK_NULL_HANDLE, &variant));
        run(gpu, variant, compute, pass, pushes[i]);
        assert_memory_equal(gpu->words, expected, GPU_WORDS * sizeof(*expected));
        /* It has its values built in: others are not looked at. */
        run(gpu, variant, compute, pass, (struct gpu_push){9, 9, 9});
        assert_memory_equal(gpu->words, expected, GPU_WORDS * sizeof(*expected));
        bf_folded_finish(&folded);
        gpu->vk.vkDestroyPipeline(gpu->device, general, NULL);
        gpu->vk.vkDestroyPipeline(gpu->device, variant, NULL);
    }
    free(expected);
}

GPU_TEST(compute_is_built_of_what_is_gone, true)
{
    VkPipeline pipeline = orphan_compute(gpu);
    check_builds(gpu, pipeline, true, VK_NULL_HANDLE);
    gpu_destroy_pipeline(gpu, pipeline);
}

TEST(graphics_is_built_of_what_is_gone)
{
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        struct gpu gpu;
        gpu_open(&gpu, true);
        VkRenderPass pass = dynamic ? VK_NULL_HANDLE : gpu_render_pass(&gpu);
        VkPipeline pipeline = orphan_graphics(&gpu, dynamic, WHOLE);
        check_builds(&gpu, pipeline, false, pass);
        gpu_destroy_pipeline(&gpu, pipeline);
        if (pass)
            gpu_destroy(&gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
        gpu_close(&gpu);
    }
}

/* P-7, CO-5: also the libraries are gone that it was linked from. */
TEST(what_is_linked_is_built_of_what_is_gone)
{
    for (int way = 2 * LINKED; way < 2 * WAYS; way++) {
        struct gpu gpu;
        gpu_open(&gpu, true);
        if (!gpu.links)
            gpu_close(&gpu);
        TEST_NEEDS(gpu.links, VK_EXT_GRAPHICS_PIPELINE_LIBRARY_EXTENSION_NAME);
        const bool dynamic = way % 2;
        VkRenderPass pass = dynamic ? VK_NULL_HANDLE : gpu_render_pass(&gpu);
        VkPipeline pipeline = orphan_graphics(&gpu, dynamic, (enum link)(way / 2));
        check_builds(&gpu, pipeline, false, pass);
        gpu_unlink(&gpu, pipeline);
        if (pass)
            gpu_destroy(&gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
        gpu_close(&gpu);
    }
}

/* A build goes on with the copy that it has; what it built is not wanted. */
GPU_TEST(a_pipeline_is_destroyed_during_its_build, true)
{
    VkPipeline pipeline = orphan_compute(gpu);
    struct bf_pipeline_copy *copy = bf_pipelines_find(&gpu->pipelines, pipeline)->copy;
    bf_pipeline_copy_retain(copy);
    gpu_destroy_pipeline(gpu, pipeline);
    assert_null(bf_pipelines_find(&gpu->pipelines, pipeline));
    struct bf_variant *variant = calloc(1, sizeof(*variant));
    assert_non_null(variant);
    assert_success(bf_pipeline_copy_build(copy, NULL, NULL, VK_NULL_HANDLE, &variant->handle));
    gpu_dispatch(gpu, variant->handle, pushes[0]);
    assert_int_equal(bf_pipeline_publish(copy, variant), BF_REASON_GONE);
    gpu->vk.vkDestroyPipeline(gpu->device, variant->handle, NULL);
    free(variant);
    bf_pipeline_copy_release(copy);
}

/* Returns the pipeline; its interface tells what was drawn to. */
static VkPipeline expect_extent(struct gpu *gpu, const struct info_graphics *g, uint32_t width,
                                uint32_t height)
{
    VkPipeline pipeline = gpu_graphics(gpu, &g->info);
    struct bf_pipeline_interface *interface;
    struct bf_pipeline *p = bf_pipelines_find(&gpu->pipelines, pipeline);
    assert_non_null(p);
    assert_int_equal(bf_pipeline_interface_create(p->copy, &interface), BF_REASON_NONE);
    assert_int_equal(interface->extent[0], width);
    assert_int_equal(interface->extent[1], height);
    bf_pipeline_interface_destroy(interface);
    return pipeline;
}

/* The framebuffer's size, else the viewport's; else none is known. */
GPU_TEST(a_check_knows_how_much_was_drawn_to, true)
{
    static const VkDynamicState dynamic_viewport = VK_DYNAMIC_STATE_VIEWPORT;
    static const VkPipelineDynamicStateCreateInfo dynamic = {
        VK_TYPE(PIPELINE_DYNAMIC_STATE_CREATE_INFO), .dynamicStateCount = 1,
        .pDynamicStates = &dynamic_viewport};
    VkShaderModule vertex = gpu_module(gpu, full_vert, sizeof(full_vert));
    VkShaderModule fragment = gpu_module(gpu, paint_frag, sizeof(paint_frag));
    VkRenderPass pass = gpu_render_pass(gpu);
    struct info_graphics g;
    VkPipeline pipelines[6];
    gpu_describe(&g, vertex, fragment, gpu->layout, VK_NULL_HANDLE);
    g.viewport = (VkViewport){10, 20, 100.5f, 200, 0, 1};
    pipelines[0] = expect_extent(gpu, &g, 110, 220);
    g.viewport = (VkViewport){0, 300, 64, -300, 0, 1}; /* upside down */
    pipelines[1] = expect_extent(gpu, &g, 64, 300);
    g.viewport = (VkViewport){-5, -40, 5, 30, 0, 1}; /* nothing of it */
    pipelines[2] = expect_extent(gpu, &g, 0, 0);
    g.info.pDynamicState = &dynamic;
    g.viewport = (VkViewport){0, 0, 100, 100, 0, 1}; /* ignored */
    pipelines[3] = expect_extent(gpu, &g, 0, 0);
    gpu_describe(&g, vertex, fragment, gpu->layout, pass);
    pipelines[4] = expect_extent(gpu, &g, GPU_SIDE, GPU_SIDE);
    bf_retained_render_pass_size(&gpu->pipelines, pass, 640, 360);
    pipelines[5] = expect_extent(gpu, &g, 640, 360);
    for (uint32_t i = 0; i < 6; i++)
        gpu_destroy_pipeline(gpu, pipelines[i]);
    gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    gpu_destroy_module(gpu, vertex);
    gpu_destroy_module(gpu, fragment);
}
