/* SPDX-License-Identifier: MIT */
/* What is kept of a program's pipelines, and what becomes of it: on a driver of the test's own. */
#include "fake.h"
#include "rich.h"
#include "support/infos.h"

#include "shaders/blank.frag.h"
#include "shaders/depth.frag.h"
#include "shaders/full.vert.h"
#include "shaders/inexact.comp.h"
#include "shaders/no_push.comp.h"
#include "shaders/paint.comp.h"
#include "shaders/paint.frag.h"

/* ---- Builds ---- */

TEST(everything_is_built_as_it_was)
{
    enum { PASS, RENDERING, NO_DEPTH, NO_COLOR, GARBAGE, WAYS };
    for (int way = 0; way < WAYS; way++) {
        fake_open();
        VkDescriptorSetLayout sets = fake_set_layout(VK_NULL_HANDLE, NULL);
        VkPipelineLayout layout = fake_layout(sets, 12, NULL);
        VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
        VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
        VkRenderPass pass = way == RENDERING ? VK_NULL_HANDLE
                                             : fake_render_pass(way != NO_COLOR, way == PASS, NULL);
        struct rich *r = rich(vertex, fragment, layout, pass);
        fake.depth = way < NO_DEPTH;
        fake.color = way != NO_COLOR;
        if (way == NO_COLOR) { /* all that goes with it is ignored */
            r->g.info.pColorBlendState = (const void *)8;
            r->g.info.pDepthStencilState = (const void *)8;
        }
        if (way == GARBAGE) { /* what is dynamic, or not there, is ignored */
            r->dynamic[0] = VK_DYNAMIC_STATE_VIEWPORT;
            r->dynamic[1] = VK_DYNAMIC_STATE_SCISSOR;
            r->g.viewports.pViewports = (const void *)8;
            r->g.viewports.pScissors = (const void *)8;
            r->g.info.pDepthStencilState = (const void *)8;
            r->g.samples.rasterizationSamples = (VkSampleCountFlagBits)0x7fffffff;
            r->g.rendering.pColorAttachmentFormats = (const void *)8;
            r->robustness.pNext = NULL;
            r->g.rendering.pNext = NULL;
            r->g.info.pNext = &r->g.rendering;
            r->g.vertices.pNext = NULL;
            VkPipeline none;
            r->g.rendering.colorAttachmentCount = 0; /* for the fake to write down */
            assert_int_equal(fake.vk.vkCreateGraphicsPipelines(VK_NULL_HANDLE, VK_NULL_HANDLE, 1,
                                                               &r->g.info, NULL, &none),
                             VK_SUCCESS);
            fake.vk.vkDestroyPipeline(VK_NULL_HANDLE, none, NULL);
            r->g.rendering.colorAttachmentCount = 3;
        }
        VkPipeline pipeline;
        if (way == GARBAGE) {
            static const uint64_t made_up = 0x1234560;
            pipeline = (VkPipeline)made_up;
            bf_pipelines_created_graphics(&fake.pipelines, 1, &r->g.info, &pipeline);
        } else {
            pipeline = fake_graphics(&r->g.info);
        }
        char *told = strdup(fake.dump);
        memset(r, 0xee, sizeof(*r));
        free(r);
        fake_destroy_module(vertex);
        fake_destroy_module(fragment);
        DONE(PIPELINE_LAYOUT, layout);
        DONE(DESCRIPTOR_SET_LAYOUT, sets);
        DONE(RENDER_PASS, pass);
        char *built = dump_of_build(pipeline);
        if (way == GARBAGE) /* beside a render pass it is left out */
            assert_null(strstr(built, "VkPipelineRenderingCreateInfo"));
        else
            assert_string_equal(built, told);
        assert_int_equal(strstr(built, "attachments:") != NULL, way != NO_COLOR);
        free(told);
        free(built);
        assert_int_equal(fake_alive(VK_OBJECT_TYPE_SHADER_MODULE), 0);
        if (way == GARBAGE)
            bf_pipelines_destroyed(&fake.pipelines, pipeline);
        else
            fake_destroy_pipeline(pipeline);
        fake_close();
    }
}

/* What concerns the program's call alone isn't asked of a build. */
TEST(a_build_asks_for_nothing_of_the_calls)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    VkPipelineCreationFeedback answer;
    const VkPipelineCreationFeedbackCreateInfo feedback = {
        VK_TYPE(PIPELINE_CREATION_FEEDBACK_CREATE_INFO), .pPipelineCreationFeedback = &answer};
    struct {
        VkBaseInStructure base;
        uint64_t flags;
    } wide = {{(VkStructureType)1000470005, (const void *)&feedback},
              VK_PIPELINE_CREATE_DISPATCH_BASE_BIT |
                  VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT};
    VkPipeline first = fake_compute(&info);
    info.pNext = &feedback;
    info.flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT |
                 VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT |
                 VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT;
    info.basePipelineHandle = first;
    VkPipeline narrow = fake_compute(&info);
    info.pNext = &wide;
    VkPipeline broad = fake_compute(&info);
    char *built = dump_of_build(narrow);
    assert_string_equal(built, "compute flags 1\nstage 20 flags 0 entry main\n");
    free(built);
    built = dump_of_build(broad);
    assert_string_equal(built, "compute flags 10\nwide flags 10\nstage 20 flags 0 entry main\n");
    free(built);
    fake_close();
}

/* Code may come in the stage itself. */
TEST(code_in_a_stage_is_kept)
{
    VkPipelineLayout layout = fake_open_layout(12);
    uint32_t *words = malloc(sizeof(paint_comp));
    assert_non_null(words);
    memcpy(words, paint_comp, sizeof(paint_comp));
    const VkShaderModuleCreateInfo code = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                           .codeSize = sizeof(paint_comp), .pCode = words};
    VkComputePipelineCreateInfo info = info_compute(VK_NULL_HANDLE, layout, NULL);
    info.stage.pNext = &code;
    VkPipeline pipeline = fake_compute(&info);
    memset(words, 0xee, sizeof(paint_comp));
    free(words);
    char *built = dump_of_build(pipeline);
    assert_string_equal(built, "compute flags 0\nstage 20 flags 0 entry main\n");
    free(built);
    /* The same as with a module: one shader. */
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    info = info_compute(module, layout, NULL);
    VkPipeline other = fake_compute(&info);
    const struct bf_pipeline *a = bf_pipelines_find(&fake.pipelines, pipeline);
    const struct bf_pipeline *b = bf_pipelines_find(&fake.pipelines, other);
    assert_ptr_equal(bf_pipeline_copy_shader(a->copy), bf_pipeline_copy_shader(b->copy));
    assert_memory_equal(a->hash, b->hash, sizeof(a->hash));
    assert_int_not_equal(a->id, b->id);
    fake_close();
}

/* Entries and values of constants tell shaders apart. */
TEST(other_constants_are_another_shader)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    static const struct {
        uint32_t entries, id, value, like; /* the first case that is the same */
    } cases[] = {{0, 0, 0, 0}, {1, 3, 5, 1}, {1, 3, 6, 2},
                 {1, 4, 5, 3}, {1, 3, 5, 1}, {0, 9, 9, 0}};
    VkPipeline pipelines[BF_COUNT(cases)];
    const struct bf_pipeline *records[BF_COUNT(cases)];
    for (uint32_t i = 0; i < BF_COUNT(cases); i++) {
        const VkSpecializationMapEntry entry = {cases[i].id, 0, 4};
        const VkSpecializationInfo constants = {cases[i].entries, &entry, 4, &cases[i].value};
        VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
        info.stage.pSpecializationInfo = &constants;
        pipelines[i] = fake_compute(&info);
        records[i] = bf_pipelines_find(&fake.pipelines, pipelines[i]);
        for (uint32_t j = 0; j <= i; j++) {
            bool same = bf_pipeline_copy_shader(records[i]->copy) ==
                        bf_pipeline_copy_shader(records[j]->copy);
            assert_int_equal(same, cases[i].like == cases[j].like);
        }
    }
    fake_close();
}

/* ---- What costs nothing ---- */

static void assert_work(uint64_t lookups, uint64_t copies, uint64_t analyses)
{
    const struct bf_codes *codes = &fake.pipelines.codes;
    assert_int_equal(codes->lookups, lookups);
    assert_int_equal(codes->copies, copies);
    assert_int_equal(codes->analyses, analyses);
}

/* NW-1: nothing is hashed, copied or parsed where there is nothing to watch. */
TEST(without_push_constants_nothing_is_done)
{
    VkPipelineLayout layout = fake_open_layout(12);
    const uint64_t before = fake.pipelines.budget.own;
    VkShaderModule module = fake_module(no_push_comp, sizeof(no_push_comp));
    VkShaderModule blank = fake_module(blank_frag, sizeof(blank_frag));
    assert_work(0, 0, 0);
    assert_int_equal(fake.pipelines.budget.own, before);
    const VkShaderModuleCreateInfo code = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                           .codeSize = sizeof(no_push_comp), .pCode = no_push_comp};
    VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    VkPipeline pipelines[3];
    pipelines[0] = fake_compute(&info);
    info.stage.module = VK_NULL_HANDLE;
    info.stage.pNext = &code;
    pipelines[1] = fake_compute(&info);
    assert_work(0, 0, 0);
    /* A vertex shader is kept, for a pipeline whose fragment shader has something to watch. */
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    assert_work(1, 1, 0);
    struct rich *r = rich(vertex, blank, layout, VK_NULL_HANDLE);
    pipelines[2] = fake_graphics(&r->g.info);
    for (int i = 0; i < 3; i++)
        assert_string_equal(fake_reason(pipelines[i]), "no-push-constants");
    for (int i = 0; i < 3; i++)
        assert_null(bf_pipelines_find(&fake.pipelines, pipelines[i])->histogram);
    assert_true(sizeof(struct bf_pipeline) < 512);
    free(r);
    fake_close();
}

/* CD-1, CD-3: what is to be watched is copied once and analysed once, for all modules and pipelines
 * of these words. */
TEST(words_are_kept_once)
{
    VkPipelineLayout layout = fake_open_layout(12);
    const VkShaderModuleCreateInfo code = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                           .codeSize = sizeof(paint_comp), .pCode = paint_comp};
    VkShaderModule modules[2];
    const struct bf_shader *shader = NULL;
    for (int i = 0; i < 6; i++) {
        if (i < 2)
            modules[i] = fake_module(paint_comp, sizeof(paint_comp));
        VkComputePipelineCreateInfo info = info_compute(modules[i % 2], layout, NULL);
        if (i >= 4) {
            info.stage.module = VK_NULL_HANDLE;
            info.stage.pNext = &code;
        }
        const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, fake_compute(&info));
        shader = bf_pipeline_copy_shader(p->copy);
        size_t count;
        assert_ptr_equal(bf_shader_words(shader, &count), p->copy->stages[0]->code->words);
    }
    assert_work(4, 1, 1); /* found by their hash, also those in the stages */
    assert_true(bf_shader_bytes(shader) < sizeof(paint_comp));
    fake_close();
}

/* ---- Analysis ---- */

static struct bf_pipeline_copy *copied;
static uint32_t made;

static void note_copied(void *context, struct bf_pipeline_copy *copy)
{
    copied = copy;
}

static void note_made(void *context, struct bf_pipeline *pipeline)
{
    made++;
}

static void visit_nothing(struct bf_pipeline *pipeline, void *context)
{
}

static bool settle(void)
{
    struct bf_pipeline_analysis analysis;
    bf_pipeline_copy_analyse(copied, &analysis);
    bool lives = bf_pipeline_copy_settle(copied, &analysis);
    bf_pipeline_copy_release(copied);
    return lives;
}

/* P-6, CD-4: creating a pipeline analyses nothing; what its shaders are like is known later. */
TEST(shaders_are_analysed_later)
{
    VkPipelineLayout layout = fake_open_layout(12);
    fake.pipelines.on_copied = note_copied;
    fake.pipelines.on_made = note_made;
    made = 0;
    static const uint32_t nonsense[] = {1, 2, 3, 4, 5};
    VkShaderModule modules[] = {fake_module(paint_comp, sizeof(paint_comp)),
                                fake_module(nonsense, sizeof(nonsense))};
    for (uint32_t i = 0; i < 3; i++) {
        const bool gone = i == 1, foldable = i < 2;
        const VkComputePipelineCreateInfo info = info_compute(modules[!foldable], layout, NULL);
        VkPipeline pipeline = fake_compute(&info);
        const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
        const uint64_t made_before = made;
        assert_int_equal(fake.pipelines.codes.analyses, i); /* of the pipelines before */
        assert_int_equal(p->watched, 0);
        if (gone)
            fake_destroy_pipeline(pipeline);
        assert_int_equal(settle(), !gone);
        assert_int_equal(made, made_before + !gone);
        if (gone)
            continue;
        assert_int_equal(p->excluded == BF_REASON_NONE, foldable);
        assert_int_equal(p->watched != 0, foldable);
        assert_int_equal(p->copy != NULL, foldable);
        assert_int_equal(bf_pipelines_visit(&fake.pipelines, p->id, visit_nothing, NULL), foldable);
        fake_destroy_pipeline(pipeline);
    }
    fake.pipelines.on_made = NULL;
    fake_close();
}

/* ---- What is never specialised ---- */

struct chained {
    VkBaseInStructure base;
    uint64_t what[8];
};

TEST(what_is_excluded_has_its_reason)
{
    static const struct {
        const char *reason;
        uint64_t flags;
        int chained, in_stage; /* structure types */
        VkPipelineShaderStageCreateFlags stage_flags;
    } cases[] = {
        {"none", 0, 0, 0, 0},
        {"none", VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT, 0, 0, 0},
        {"none", VK_PIPELINE_CREATE_NO_PROTECTED_ACCESS_BIT_EXT, 0, 0, 0},
        {"none", VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT, 0, 0, 0},
        {"library", VK_PIPELINE_CREATE_LIBRARY_BIT_KHR, 0, 0, 0},
        {"library", VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT, 0, 0, 0},
        {"library", 0, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR, 0, 0},
        {"flags", VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, 0, 0, 0},
        {"flags", VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR, 0, 0, 0},
        {"flags", VK_PIPELINE_CREATE_PROTECTED_ACCESS_ONLY_BIT_EXT, 0, 0, 0},
        {"flags", UINT64_C(1) << 31, 0, 0, 0}, /* capture data */
        {"flags", UINT64_C(1) << 36, 0, 0, 0}, /* descriptor heap */
        {"flags", UINT64_C(1) << 63, 0, 0, 0},
        {"pinned", VK_PIPELINE_CREATE_INDIRECT_BINDABLE_BIT_NV, 0, 0, 0},
        {"pinned", UINT64_C(1) << 38, 0, 0, 0},
        {"chain", 0, VK_STRUCTURE_TYPE_SUBPASS_SHADING_PIPELINE_CREATE_INFO_HUAWEI, 0, 0},
        {"chain", 0, 0x7fffff00, 0, 0},
        {"no-code", 0, 1000483002, 0, 0}, /* pipeline binaries */
        {"chain", 0, 0, 0x7fffff00, 0},
        {"flags", 0, 0, 0, 0x100},
        {"none", 0, 0, VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT, 0},
    };
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    for (size_t i = 0; i < BF_COUNT(cases); i++) {
        struct {
            VkBaseInStructure base;
            uint64_t flags;
        } wide = {{(VkStructureType)1000470005, NULL}, cases[i].flags};
        struct chained chained = {{(VkStructureType)cases[i].chained, NULL}, {0}};
        struct chained in_stage = {{(VkStructureType)cases[i].in_stage, NULL}, {0}};
        VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
        info.pNext = cases[i].chained ? &chained : NULL;
        info.stage.pNext = cases[i].in_stage ? &in_stage : NULL;
        info.stage.flags = cases[i].stage_flags;
        for (int as_wide = 0; as_wide < 2; as_wide++) {
            if (as_wide)
                wide.base.pNext = info.pNext, info.pNext = &wide;
            else if (cases[i].flags > UINT32_MAX)
                continue;
            info.flags = as_wide ? 0 : (VkPipelineCreateFlags)cases[i].flags;
            VkPipeline pipeline = (VkPipeline)(uint64_t)0x1000;
            bf_pipelines_created_compute(&fake.pipelines, 1, &info, &pipeline);
            assert_string_equal(fake_reason(pipeline), cases[i].reason);
            bf_pipelines_destroyed(&fake.pipelines, pipeline);
        }
    }
    fake_close();
}

TEST(shaders_say_why_not)
{
    VkPipelineLayout layout = fake_open_layout(12);
    static const uint32_t nonsense[] = {1, 2, 3, 4, 5};
    VkShaderModule paint = fake_module(paint_comp, sizeof(paint_comp));
    VkShaderModule no_push = fake_module(no_push_comp, sizeof(no_push_comp));
    VkShaderModule unparsed = fake_module(nonsense, sizeof(nonsense));
    VkShaderModule odd = fake_module(nonsense, 7);
    VkComputePipelineCreateInfo infos[] = {
        info_compute(paint, layout, NULL),
        info_compute(no_push, layout, NULL),
        info_compute(unparsed, layout, NULL),
        info_compute(odd, layout, NULL),
        info_compute(paint, layout, NULL),
        info_compute(paint, (VkPipelineLayout)(uint64_t)64000, NULL)};
    infos[4].stage.module = VK_NULL_HANDLE; /* an identifier alone */
    const VkPipelineShaderStageModuleIdentifierCreateInfoEXT identifier = {
        VK_TYPE(PIPELINE_SHADER_STAGE_MODULE_IDENTIFIER_CREATE_INFO_EXT), .identifierSize = 4};
    infos[4].stage.pNext = &identifier;
    const char *reasons[] = {"none",   "no-push-constants", "unparsed",
                             "memory", "no-code",           "memory"};
    VkPipeline pipelines[BF_COUNT(infos)];
    for (uint32_t i = 0; i < BF_COUNT(infos); i++)
        pipelines[i] = (VkPipeline)(uint64_t)(0x1000 + 16 * i);
    bf_pipelines_created_compute(&fake.pipelines, BF_COUNT(infos), infos, pipelines);
    for (uint32_t i = 0; i < BF_COUNT(infos); i++) {
        assert_string_equal(fake_reason(pipelines[i]), reasons[i]);
        const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipelines[i]);
        assert_int_equal(p->watch.count > 0, i == 0);
        assert_int_equal(p->copy != NULL, i == 0);
        bf_pipelines_destroyed(&fake.pipelines, pipelines[i]);
    }
    /* Those that the driver refused are none. */
    memset(pipelines, 0, sizeof(pipelines));
    bf_pipelines_created_compute(&fake.pipelines, BF_COUNT(infos), infos, pipelines);
    const VkPipeline ray = (VkPipeline)(uint64_t)0x2000;
    bf_pipelines_created_other(&fake.pipelines, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR,
                               BF_REASON_RAY_TRACING, 1, &ray);
    assert_string_equal(fake_reason(ray), "ray-tracing");
    bf_pipelines_destroyed(&fake.pipelines, ray);
    fake_close();
}

TEST(what_can_not_be_folded_is_not_watched)
{
    VkPipelineLayout layout = fake_open_layout(8);
    VkShaderModule module = fake_module(inexact_comp, sizeof(inexact_comp));
    const VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    VkPipeline pipeline = fake_compute(&info);
    const struct bf_watch *watch = &bf_pipelines_find(&fake.pipelines, pipeline)->watch;
    assert_string_equal(fake_reason(pipeline), "none");
    assert_int_equal(watch->count, 1);
    assert_int_equal(watch->offset[0], 4);
    fake_close();
}

TEST(graphics_has_reasons_of_its_own)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    VkShaderModule depth = fake_module(depth_frag, sizeof(depth_frag));
    struct chained chained = {{(VkStructureType)0x7fffff00, NULL}, {0}};
    const VkPipeline no_library = (VkPipeline)(uint64_t)0x1010;
    bf_pipelines_created_other(&fake.pipelines, VK_PIPELINE_BIND_POINT_GRAPHICS, BF_REASON_CHAIN, 1,
                               &no_library);
    for (int i = 0; i < 15; i++) {
        struct rich *r = rich(vertex, fragment, layout, VK_NULL_HANDLE);
        const char *reason = "chain";
        switch (i) {
        case 0:
            reason = "none";
            break;
        case 1: /* nothing but positions */
            r->g.stages[0] = r->g.stages[1];
            r->g.info.stageCount = 1;
            reason = "position";
            break;
        case 2: /* nothing of what is ignored then is looked at */
            r->g.raster.rasterizerDiscardEnable = VK_TRUE;
            r->g.info.pViewportState = (const void *)8;
            r->g.info.pMultisampleState = (const void *)8;
            r->g.info.pDepthStencilState = (const void *)8;
            r->g.info.pColorBlendState = (const void *)8;
            reason = "position";
            break;
        case 3:
            r->g.stages[1].stage = VK_SHADER_STAGE_GEOMETRY_BIT;
            reason = "stages";
            break;
        case 4:
            r->g.stages[0].module = depth;
            reason = "depth";
            break;
        case 5:
            chained.base.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT;
            r->robustness.pNext = &chained;
            reason = "library";
            break;
        case 14:
            chained.base.sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR;
            chained.what[0] = 1;
            chained.what[1] = (uintptr_t)&no_library;
            r->robustness.pNext = &chained;
            r->g.info.pDynamicState = (const void *)8;
            r->g.info.pStages = (const void *)8;
            reason = "library";
            break;
        case 6:
            chained.base.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_SHADER_GROUPS_CREATE_INFO_NV;
            r->robustness.pNext = &chained;
            reason = "pinned";
            break;
        default: { /* somewhere in a chain */
            const void **chains[] = {&r->robustness.pNext,   &r->divisors.pNext,
                                     &r->clip_control.pNext, &r->depth_clip.pNext,
                                     &r->locations.pNext,    &r->g.depth.pNext,
                                     &r->writes.pNext};
            chained.base.sType = (VkStructureType)0x7fffff00;
            *chains[i - 7] = &chained;
            break;
        }
        }
        VkPipeline pipeline = (VkPipeline)(uint64_t)0x1000;
        bf_pipelines_created_graphics(&fake.pipelines, 1, &r->g.info, &pipeline);
        assert_string_equal(fake_reason(pipeline), reason);
        bf_pipelines_destroyed(&fake.pipelines, pipeline);
        free(r);
    }
    bf_pipelines_destroyed(&fake.pipelines, no_library);
    fake_close();
}
