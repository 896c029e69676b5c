/* SPDX-License-Identifier: MIT */
/* The process runs out of memory at each allocation in turn, or the driver refuses each call in
 * turn: nothing leaks, the program's calls don't notice, and its pipelines are known or say why
 * not.
 */
#include "fake.h"
#include "support/infos.h"

#define NO_MEMORY_WRAPPED
#include "support/no_memory.h"

#include "shaders/full.vert.h"
#include "shaders/paint.comp.h"
#include "shaders/paint.frag.h"

static uint32_t until_none; /* 0: there is memory */
static bool for_good;       /* there is none from then on, instead of once */
static bool was_none;

static bool has_none(void)
{
    if (until_none == 0 || (until_none > 1 && --until_none))
        return false;
    if (!for_good)
        until_none = 0;
    was_none = true;
    errno = ENOMEM;
    return true;
}

/* A graphics pipeline with a little of everything. */
static VkPipeline make_graphics(VkShaderModule vertex, VkShaderModule fragment,
                                VkPipelineLayout layout, VkRenderPass pass, bool linked)
{
    const VkVertexInputBindingDescription binding = {0, 4, VK_VERTEX_INPUT_RATE_VERTEX};
    const VkSampleMask mask = 1;
    const VkDynamicState state = VK_DYNAMIC_STATE_LINE_WIDTH;
    struct info_graphics g;
    info_graphics(&g, 1, vertex, fragment, layout, pass, 1, NULL);
    g.vertices.vertexBindingDescriptionCount = 1;
    g.vertices.pVertexBindingDescriptions = &binding;
    g.samples.pSampleMask = &mask;
    g.depth.depthTestEnable = VK_TRUE;
    g.info.pDepthStencilState = &g.depth;
    g.dynamic.dynamicStateCount = 1;
    g.dynamic.pDynamicStates = &state;
    g.info.pDynamicState = &g.dynamic;
    fake.depth = true;
    if (!linked)
        return fake_graphics(&g.info);
    struct info_link l;
    VkPipeline libraries[2];
    info_link(&l, &g, 5, VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, NULL);
    libraries[0] = fake_linked(&l.info);
    info_link(&l, &g, 2, VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 1, libraries);
    libraries[1] = fake_linked(&l.info);
    info_link(&l, &g, 8, 0, 1, &libraries[1]);
    VkPipeline pipeline = fake_linked(&l.info);
    fake_destroy_pipeline(libraries[0]);
    fake_destroy_pipeline(libraries[1]);
    return pipeline;
}

/* Sets, written, copied and by template; their handles are made up. */
static void use_sets(VkDescriptorSetLayout sets, VkSampler sampler)
{
    const VkImageView view = (VkImageView)(uint64_t)0x10000;
    const VkImageViewCreateInfo view_info = {.format = VK_FORMAT_R8_UINT};
    const VkDescriptorPool pool = (VkDescriptorPool)(uint64_t)0x20000;
    const VkDescriptorSet handles[] = {(VkDescriptorSet)(uint64_t)0x30000,
                                       (VkDescriptorSet)(uint64_t)0x30010};
    const VkDescriptorSetLayout layouts[] = {sets, sets};
    const VkDescriptorSetAllocateInfo info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                              .descriptorPool = pool, .descriptorSetCount = 2,
                                              .pSetLayouts = layouts};
    const VkDescriptorUpdateTemplateEntry entry = {
        4, 0, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 0, 0};
    const VkDescriptorUpdateTemplateCreateInfo template_info = {
        VK_TYPE(DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO), .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry, .descriptorSetLayout = sets};
    const VkDescriptorUpdateTemplate handle = (VkDescriptorUpdateTemplate)(uint64_t)0x40000;
    const VkDescriptorImageInfo image = {sampler, view, VK_IMAGE_LAYOUT_GENERAL};
    const VkCopyDescriptorSet copy = {
        VK_TYPE(COPY_DESCRIPTOR_SET), .srcSet = handles[0], .srcBinding = 4,
        .dstSet = handles[1],         .dstBinding = 4,      .descriptorCount = 1};
    bf_descriptor_shapes_view_made(&fake.pipelines, view, &view_info);
    bf_descriptor_shapes_sets_made(&fake.pipelines, &info, handles);
    bf_descriptor_shapes_template_made(&fake.pipelines, handle, &template_info);
    bf_descriptor_shapes_update_template(&fake.pipelines, handles[0], handle, &image);
    bf_descriptor_shapes_update(&fake.pipelines, 0, NULL, 1, &copy);
    bf_descriptor_shapes_template_gone(&fake.pipelines, handle);
    bf_descriptor_shapes_sets_gone(&fake.pipelines, 1, handles);
    bf_descriptor_shapes_pool_gone(&fake.pipelines, pool);
    bf_descriptor_shapes_view_gone(&fake.pipelines, view);
}

static uint32_t known, built;

/* What it costs, it is given up; a variant that can't be built is no variant. */
static void try_build(VkPipeline pipeline)
{
    struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
    if (!p)
        return;
    if (p->excluded) {
        assert_int_equal(p->excluded, BF_REASON_MEMORY);
        assert_null(p->copy);
        return;
    }
    known++;
    struct bf_folded folded = {0};
    const uint8_t push[BF_PUSH_CONSTANT_BYTES] = {1, 2, 3};
    struct bf_variant *v = calloc(1, sizeof(*v));
    if (!v)
        return;
    if (bf_shader_fold(bf_pipeline_copy_shader(p->copy), &p->watch, 7, false, &folded) ==
            VK_SUCCESS &&
        bf_pipeline_copy_build(p->copy, &folded, push, VK_NULL_HANDLE, &v->handle) == VK_SUCCESS) {
        assert_int_equal(bf_pipeline_publish(p->copy, v), BF_REASON_NONE);
        v = NULL;
        built++;
    }
    bf_folded_finish(&folded);
    free(v);
}

/* A program that makes one of everything, and destroys what pipelines are made of early. */
static void run_program(void)
{
    known = built = 0;
    fake_open();
    was_none = false;
    VkSampler sampler = fake_sampler(1, NULL);
    VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, NULL);
    VkRenderPass pass = fake_render_pass(true, true, NULL);
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    const uint32_t constant = 5;
    const VkSpecializationMapEntry entry = {3, 0, 4};
    const VkSpecializationInfo constants = {1, &entry, 4, &constant};
    info.stage.pSpecializationInfo = &constants;
    VkPipeline compute = fake_compute(&info);
    VkPipeline graphics = make_graphics(vertex, fragment, layout, pass, false);
    VkPipeline linked = make_graphics(vertex, fragment, layout, pass, true);
    use_sets(sets, sampler);
    fake_destroy_module(module);
    fake_destroy_module(vertex);
    fake_destroy_module(fragment);
    DONE(SAMPLER, sampler);
    DONE(PIPELINE_LAYOUT, layout);
    DONE(DESCRIPTOR_SET_LAYOUT, sets);
    DONE(RENDER_PASS, pass);
    try_build(compute);
    try_build(graphics);
    try_build(linked);
    fake_destroy_pipeline(linked);
    fake_destroy_pipeline(compute);
    fake_destroy_pipeline(graphics);
    until_none = 0;
    fake_close();
}

TEST(memory_is_short_at_each_allocation)
{
    for (int forever = 0; forever < 2; forever++) {
        uint32_t n = 0;
        do {
            for_good = forever;
            until_none = ++n;
            run_program();
        } while (was_none);
        assert_int_equal(known, 3);
        assert_int_equal(built, 3);
        assert_true(n > 40);
        print_message("%s at each of %u allocations\n", forever ? "from then on" : "once", n - 1);
    }
}

/* Whatever the driver says to a build is what the build says. */
TEST(the_driver_refuses_each_call)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_INVALID_SHADER_NV,
                                       VK_ERROR_UNKNOWN, VK_PIPELINE_COMPILE_REQUIRED,
                                       VK_SUCCESS /* and no handle */};
    VkPipelineLayout layout = fake_open_layout(12);
    VkRenderPass pass = fake_render_pass(true, true, NULL);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    VkPipeline pipeline = make_graphics(vertex, fragment, layout, pass, false);
    struct bf_pipeline_copy *copy = bf_pipelines_find(&fake.pipelines, pipeline)->copy;
    for (size_t i = 0; i < BF_COUNT(results); i++) {
        for (uint32_t call = 1; call <= 3; call++) { /* two modules and the pipeline */
            if (results[i] == VK_SUCCESS && call < 3)
                continue;
            VkPipeline out = (VkPipeline)(uint64_t)8;
            fake_entries.failure = results[i];
            fake_entries.fail_at = call;
            VkResult result = bf_pipeline_copy_build(copy, NULL, NULL, VK_NULL_HANDLE, &out);
            assert_int_equal(result, results[i] ? results[i] : VK_ERROR_INITIALIZATION_FAILED);
            assert_true(out == VK_NULL_HANDLE);
            assert_int_equal(fake_entries.fail_at, 0);
            assert_int_equal(fake_alive(VK_OBJECT_TYPE_SHADER_MODULE), 2);
            assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE), 1);
        }
    }
    fake_close();
}
