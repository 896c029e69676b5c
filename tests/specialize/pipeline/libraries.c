/* SPDX-License-Identifier: MIT */
/* Graphics pipelines that are linked from libraries: what is composed of them, and of what nothing
 * is. On a driver of the test's own. */
#include "fake.h"
#include "rich.h"
#include "support/infos.h"

#include <pthread.h>

#include "shaders/blank.frag.h"
#include "shaders/full.vert.h"
#include "shaders/paint.frag.h"

#define MOST        6
#define GARBAGE     ((const void *)8)
#define INDEPENDENT VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT

enum { VERTICES = 1, RASTER = 2, FRAGMENT = 4, OUTPUT = 8 };

/* A library, or the pipeline itself: its own parts, and which of those before it is linked from. */
struct node {
    uint32_t parts, from;
};

/* One for each part, several in one, in the link itself, of a library, and a complete one. */
static const struct plan {
    uint32_t count;
    struct node nodes[MOST];
} plans[] = {
    {5, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 15}}},
    {4, {{8, 0}, {6, 0}, {1, 0}, {0, 7}}},
    {3, {{3, 0}, {12, 0}, {0, 3}}},
    {2, {{15, 0}, {0, 1}}},
    {2, {{2, 0}, {13, 1}}},
    {2, {{12, 0}, {3, 1}}},
    {2, {{11, 0}, {4, 1}}},
    {3, {{6, 0}, {1, 1}, {8, 2}}},
    {6, {{1, 0}, {2, 0}, {0, 3}, {4, 4}, {0, 8}, {8, 16}}},
};

/* Fills in what is written next, for one of the nodes; the test may change it. */
struct link {
    VkGraphicsPipelineCreateInfo info;
    VkGraphicsPipelineLibraryCreateInfoEXT parts;
    VkPipelineLibraryCreateInfoKHR libraries;
    VkPipeline from[MOST];
    VkPipelineRenderingCreateInfo rendering;
};

/* Of the whole pipeline's create info what belongs to the node's parts; the rest is garbage. */
static void link_describe(struct link *l, const struct rich *r, uint32_t parts, uint32_t from,
                          const VkPipeline *made, bool library)
{
    const VkGraphicsPipelineCreateInfo *whole = &r->g.info;
    l->info = *whole;
    l->parts = (VkGraphicsPipelineLibraryCreateInfoEXT){
        VK_TYPE(GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT), .flags = parts};
    l->libraries = (VkPipelineLibraryCreateInfoKHR){VK_TYPE(PIPELINE_LIBRARY_CREATE_INFO_KHR),
                                                    .pLibraries = l->from};
    l->rendering = r->g.rendering;
    for (uint32_t i = 0; i < MOST; i++) {
        if (from & 1u << i)
            l->from[l->libraries.libraryCount++] = made[i];
    }
    l->info.flags = library ? VK_PIPELINE_CREATE_LIBRARY_BIT_KHR : 0;
    l->info.pTessellationState = GARBAGE;
    if (!(parts & VERTICES)) {
        l->info.pVertexInputState = GARBAGE;
        l->info.pInputAssemblyState = GARBAGE;
    }
    if (!(parts & RASTER)) {
        l->info.pViewportState = GARBAGE;
        l->info.pRasterizationState = GARBAGE;
    }
    if (!(parts & FRAGMENT))
        l->info.pDepthStencilState = GARBAGE;
    if (!(parts & OUTPUT)) {
        l->info.pColorBlendState = GARBAGE;
        l->rendering.pColorAttachmentFormats = GARBAGE;
        l->rendering.depthAttachmentFormat = VK_FORMAT_S8_UINT;
    }
    if (!(parts & OUTPUT))
        l->info.pMultisampleState = GARBAGE; /* (of a fragment shader it is not read here either) */
    if (!(parts & (RASTER | FRAGMENT))) {
        l->info.stageCount = 77;
        l->info.pStages = GARBAGE;
        if (library && !from)
            l->info.layout = (VkPipelineLayout)GARBAGE;
    } else {
        l->info.stageCount = parts & RASTER && parts & FRAGMENT ? 2 : 1;
        l->info.pStages = &r->g.stages[parts & FRAGMENT ? 0 : 1];
    }
    const void *next = NULL;
    if (!(parts & (RASTER | FRAGMENT | OUTPUT))) {
        l->info.renderPass = (VkRenderPass)GARBAGE;
        l->info.subpass = 99;
    }
    if (!parts)
        l->info.pDynamicState = GARBAGE;
    if (parts & (RASTER | FRAGMENT | OUTPUT) ? !whole->renderPass : !parts) {
        l->rendering.pNext = NULL;
        if (!parts) /* ignored, all of it */
            l->rendering.viewMask = 77;
        next = &l->rendering;
    }
    l->libraries.pNext = next;
    if (l->libraries.libraryCount)
        next = &l->libraries;
    l->parts.pNext = (void *)next;
    l->info.pNext = parts ? &l->parts : next;
}

/* Returns the pipeline; its libraries are in 'made'. */
static VkPipeline plan_link(const struct plan *plan, const struct rich *r, VkPipeline made[MOST])
{
    for (uint32_t i = 0; i < plan->count; i++) {
        struct link l;
        link_describe(&l, r, plan->nodes[i].parts, plan->nodes[i].from, made, i + 1 < plan->count);
        made[i] = fake_linked(&l.info);
    }
    return made[plan->count - 1];
}

/* Without what only a whole pipeline may have in its chain. */
static struct rich *rich_linkable(VkShaderModule vertex, VkShaderModule fragment,
                                  VkPipelineLayout layout, VkRenderPass pass)
{
    struct rich *r = rich(vertex, fragment, layout, pass);
    r->g.rendering.pNext = NULL;
    r->g.info.pNext = pass ? NULL : &r->g.rendering;
    return r;
}

/* ---- What is composed ---- */

/* CO-1, CO-4, CO-5, P-7: a pipeline that is linked is built as the same pipeline would be that was
 * made whole, also when all that it was made of is gone. */
TEST(what_is_linked_is_built_as_a_whole)
{
    for (uint32_t n = 0; n < 2 * BF_COUNT(plans); n++) {
        const struct plan *plan = &plans[n / 2];
        fake_open();
        VkDescriptorSetLayout sets = fake_set_layout(VK_NULL_HANDLE, NULL);
        VkPipelineLayout layout = fake_layout(sets, 12, NULL);
        VkRenderPass pass = n % 2 ? fake_render_pass(true, true, NULL) : VK_NULL_HANDLE;
        VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
        VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
        struct rich *r = rich_linkable(vertex, fragment, layout, pass);
        r->g.dynamic.dynamicStateCount = 1; /* of several the order would depend on the parts */
        fake.depth = true;
        VkPipeline made[MOST], whole = fake_graphics(&r->g.info);
        char *told = strdup(fake.dump);
        fake_destroy_pipeline(whole);
        VkPipeline pipeline = plan_link(plan, r, made);
        for (uint32_t i = 0; i + 1 < plan->count; i++) {
            const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, made[i]);
            assert_string_equal(fake_reason(made[i]), "library");
            assert_int_equal(p->library->refs, 2); /* the record's, and what is linked from it */
            fake_destroy_pipeline(made[i]);
        }
        memset(r, 0xee, sizeof(*r));
        free(r);
        fake_destroy_module(vertex);
        fake_destroy_module(fragment);
        DONE(PIPELINE_LAYOUT, layout);
        DONE(DESCRIPTOR_SET_LAYOUT, sets);
        if (pass)
            DONE(RENDER_PASS, pass);
        char *built = dump_of_build(pipeline);
        assert_string_equal(built, told);
        const struct bf_pipeline_copy *copy = bf_pipelines_find(&fake.pipelines, pipeline)->copy;
        assert_int_equal(copy->stages[0]->stage, VK_SHADER_STAGE_VERTEX_BIT);
        assert_int_equal(copy->stages[copy->specialised]->stage, VK_SHADER_STAGE_FRAGMENT_BIT);
        assert_int_equal(copy->link_count, plan->count);
        free(told);
        free(built);
        fake_close();
    }
}

/* P-8: what is linked in one way is another pipeline than what is linked otherwise, or whole. */
TEST(a_hash_says_how_it_is_linked)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    struct rich *r = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
    const struct bf_pipeline *ways[6];
    VkPipeline made[MOST];
    fake.depth = true;
    ways[0] = bf_pipelines_find(&fake.pipelines, fake_graphics(&r->g.info));
    ways[1] = bf_pipelines_find(&fake.pipelines, plan_link(&plans[2], r, made));
    ways[2] = bf_pipelines_find(&fake.pipelines, plan_link(&plans[0], r, made));
    ways[3] = bf_pipelines_find(&fake.pipelines, plan_link(&plans[0], r, made));
    for (uint32_t i = 4; i < 6; i++) {
        struct link l;
        link_describe(&l, r, 0, 15, made, false);
        l.info.flags = i == 4 ? VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT : 0;
        ways[i] = bf_pipelines_find(&fake.pipelines, fake_linked(&l.info));
    }
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const bool same = i != 4 && k != 4 && k >= 2;
            assert_int_equal(!memcmp(ways[i]->hash, ways[k]->hash, sizeof(ways[i]->hash)), same);
        }
    }
    free(r);
    fake_close();
}

/* A fragment shader's library may have no multisample state, and that is known. */
TEST(a_link_knows_what_its_libraries_had)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    for (uint32_t samples = 0; samples < 2; samples++) {
        struct rich *r = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
        const VkPipelineCreateFlags flags[5] = {
            VK_PIPELINE_CREATE_LIBRARY_BIT_KHR,
            VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
                VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT,
            VK_PIPELINE_CREATE_LIBRARY_BIT_KHR | VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT |
                VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT,
            VK_PIPELINE_CREATE_LIBRARY_BIT_KHR |
                VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT,
            VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT};
        VkPipeline made[5];
        for (uint32_t i = 0; i < 5; i++) {
            struct link l;
            link_describe(&l, r, plans[0].nodes[i].parts, plans[0].nodes[i].from, made, i < 4);
            struct {
                VkBaseInStructure base;
                uint64_t flags;
            } wide = {{(VkStructureType)1000470005, l.info.pNext}, flags[i]};
            l.info.flags = flags[i];
            if (samples) { /* the same flags, said otherwise */
                l.info.flags = 0;
                l.info.pNext = &wide;
            }
            if (i == 2)
                l.info.pMultisampleState = samples ? &r->g.samples : NULL;
            made[i] = fake_linked(&l.info);
        }
        const struct bf_pipeline_copy *copy = bf_pipelines_find(&fake.pipelines, made[4])->copy;
        assert_non_null(copy);
        assert_int_equal(copy->library_count, 4);
        for (uint32_t i = 0; i < 5; i++) {
            const struct bf_pipeline_copy *node = i < 4 ? copy->libraries[i] : copy;
            const uint64_t kept =
                flags[i] & ~VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
            assert_int_equal(node->flags | node->link_flags, kept);
            assert_int_equal(node->parts, plans[0].nodes[i].parts);
            assert_int_equal(node->layout != NULL, i == 1 || i == 2 || i == 4);
        }
        assert_int_equal(copy->libraries[2]->samples, samples);
        /* It can be built whole: optimised, if the link doesn't say otherwise. */
        assert_int_equal(copy->graphics.flags,
                         VK_PIPELINE_CREATE_COLOR_ATTACHMENT_FEEDBACK_LOOP_BIT_EXT);
        assert_null(((const VkBaseInStructure *)copy->graphics.pNext)->pNext);
        for (uint32_t i = 0; i < 5; i++)
            fake_destroy_pipeline(made[i]);
        free(r);
    }
    fake_close();
}

/* "Dynamic state values set via pDynamicState must be ignored if the state they correspond to is
 * not otherwise statically set by one of the state subsets used to create the pipeline." */
TEST(dynamic_states_count_in_their_parts)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    for (uint32_t i = 0; i < 4; i++) {
        struct rich *r = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
        VkPipeline made[5];
        for (uint32_t k = 0; k < 5; k++) {
            const VkDynamicState states[4][2] = {
                {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY},
                {VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY, VK_DYNAMIC_STATE_VIEWPORT},
                {VK_DYNAMIC_STATE_BLEND_CONSTANTS, VK_DYNAMIC_STATE_STENCIL_REFERENCE},
                {VK_DYNAMIC_STATE_STENCIL_REFERENCE, VK_DYNAMIC_STATE_SAMPLE_MASK_EXT}};
            struct link l;
            link_describe(&l, r, plans[0].nodes[k].parts, plans[0].nodes[k].from, made, k < 4);
            r->g.dynamic.dynamicStateCount = k == i ? 2 : 0;
            memcpy(r->dynamic, states[i], sizeof(states[i]));
            made[k] = fake_linked(&l.info);
        }
        const struct bf_pipeline_copy *copy = bf_pipelines_find(&fake.pipelines, made[4])->copy;
        const VkPipelineDynamicStateCreateInfo *d = copy->graphics.pDynamicState;
        const VkDynamicState kept[] = {
            VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY, VK_DYNAMIC_STATE_VIEWPORT,
            VK_DYNAMIC_STATE_STENCIL_REFERENCE, VK_DYNAMIC_STATE_SAMPLE_MASK_EXT};
        assert_int_equal(d->dynamicStateCount, 1);
        assert_int_equal(d->pDynamicStates[0], kept[i]);
        assert_int_equal(copy->graphics.pViewportState->pViewports == NULL, i == 1);
        assert_int_equal(copy->graphics.pMultisampleState->pSampleMask == NULL, i == 3);
        for (uint32_t k = 0; k < 5; k++)
            fake_destroy_pipeline(made[k]);
        free(r);
    }
    fake_close();
}

/* ---- Layouts ---- */

/* Sets may be missing in the layouts of libraries; what is there is the link's. */
TEST(layouts_have_to_agree)
{
    fake_open();
    VkSampler sampler = fake_sampler(1, NULL);
    const VkDescriptorSetLayout a = fake_set_layout(VK_NULL_HANDLE, NULL),
                                b = fake_set_layout(sampler, NULL),
                                like_b = fake_set_layout(sampler, NULL), none = VK_NULL_HANDLE;
    const struct {
        const char *reason;
        uint32_t count;
        VkDescriptorSetLayout raster[2], fragment[2], link[2];
        uint32_t push;
    } cases[] = {
        {"none", 2, {a, b}, {a, b}, {a, b}, 12},
        {"none", 2, {a, none}, {none, b}, {a, b}, 12},
        {"none", 2, {a, none}, {none, like_b}, {a, b}, 12},
        {"none", 2, {none, none}, {none, none}, {none, b}, 12},
        {"none", 1, {a}, {none}, {a, b}, 12},
        {"library", 2, {a, none}, {none, a}, {a, b}, 12},
        {"library", 2, {a, none}, {none, b}, {a, a}, 12},
        {"library", 2, {a, none}, {none, b}, {a, none}, 12},
        {"library", 2, {a, none}, {none, b}, {a, b}, 16},
    };
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    for (uint32_t i = 0; i < BF_COUNT(cases); i++) {
        const VkPipelineLayout layouts[] = {
            VK_NULL_HANDLE, fake_layout_of(INDEPENDENT, cases[i].count, cases[i].raster, 12, NULL),
            fake_layout_of(INDEPENDENT, cases[i].count, cases[i].fragment, 12, NULL),
            VK_NULL_HANDLE, fake_layout_of(INDEPENDENT, 2, cases[i].link, cases[i].push, NULL)};
        VkPipeline made[5];
        for (uint32_t k = 0; k < 5; k++) {
            struct rich *r = rich_linkable(vertex, fragment, layouts[k], VK_NULL_HANDLE);
            struct link l;
            link_describe(&l, r, plans[0].nodes[k].parts, plans[0].nodes[k].from, made, k < 4);
            made[k] = fake_linked(&l.info);
            free(r);
        }
        if (strcmp(fake_reason(made[4]), cases[i].reason) != 0)
            fail_msg("case %u: %s", i, fake_reason(made[4]));
        const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, made[4]);
        if (p->copy)
            assert_int_equal((uint64_t)p->copy->graphics.layout, (uint64_t)layouts[4]);
        for (uint32_t k = 0; k < 5; k++)
            fake_destroy_pipeline(made[k]);
    }
    fake_close();
}

/* ---- What costs nothing ---- */

/* NW-2: a library whose fragment shader has no push constants is not copied; nothing is composed of
 * it, nor is anything looked up that belongs to another library. */
TEST(without_push_constants_nothing_is_linked)
{
    VkPipelineLayout layout = fake_open_layout(12);
    const struct bf_codes *codes = &fake.pipelines.codes;
    const VkShaderModuleCreateInfo words = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                            .codeSize = sizeof(blank_frag), .pCode = blank_frag};
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule blank = fake_module(blank_frag, sizeof(blank_frag));
    struct rich *r = rich_linkable(vertex, blank, layout, VK_NULL_HANDLE);
    assert_int_equal(codes->copies, 1);
    for (uint32_t own = 0; own < 2; own++) {
        VkPipeline made[5];
        r->subgroup.pNext = own ? (void *)&words : NULL; /* the words in the stage itself */
        r->g.stages[0].module = own ? VK_NULL_HANDLE : blank;
        for (uint32_t i = 0; i < 5; i++) {
            struct link l;
            const uint64_t before = fake.pipelines.budget.own, lookups = codes->lookups;
            link_describe(&l, r, plans[0].nodes[i].parts, plans[0].nodes[i].from, made, i < 4);
            made[i] = fake_linked(&l.info);
            const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, made[i]);
            assert_int_equal(codes->lookups, lookups);
            assert_int_equal(p->library != NULL, i != 2 && i != 4);
            if (!p->library)
                assert_int_equal(fake.pipelines.budget.own, before + sizeof(*p));
            assert_null(p->histogram);
        }
        assert_string_equal(fake_reason(made[4]), "no-push-constants");
        for (uint32_t i = 0; i < 5; i++)
            fake_destroy_pipeline(made[i]);
    }
    /* Where there are some, a link copies no code, and analyses what is new. */
    VkShaderModule paint = fake_module(paint_frag, sizeof(paint_frag));
    VkPipeline made[MOST];
    r->subgroup.pNext = NULL;
    r->g.stages[0].module = paint;
    plan_link(&plans[0], r, made);
    const uint64_t copies = codes->copies, lookups = codes->lookups;
    assert_int_equal(codes->analyses, 2);
    struct link l;
    link_describe(&l, r, 0, 15, made, false);
    VkPipeline again = fake_linked(&l.info);
    assert_string_equal(fake_reason(again), "none");
    assert_int_equal(codes->copies, copies);
    assert_int_equal(codes->lookups, lookups);
    assert_int_equal(codes->analyses, 2);
    free(r);
    fake_close();
}

/* ---- Of what nothing is composed ---- */

/* A library's reason is that of what is linked from it, and nothing else is looked at then. */
TEST(what_can_not_be_linked_has_its_reason)
{
    static const char *const reasons[] = {
        "none",     "chain",   "library", "flags",   "pinned",  "stages",  "position",
        "position", "chain",   "library", "library", "library", "library", "library",
        "library",  "library", "memory",  "library", "library", "no-code",
    };
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    VkRenderPass passes[] = {fake_render_pass(true, true, NULL),
                             fake_render_pass(true, true, NULL)};
    const VkBaseInStructure unknown = {(VkStructureType)0x7fffff00, NULL};
    for (uint32_t i = 0; i < BF_COUNT(reasons); i++) {
        struct rich *r =
            rich_linkable(vertex, fragment, layout, i >= 12 && i < 15 ? passes[0] : NULL);
        VkPipeline made[5];
        for (uint32_t k = 0; k < 5; k++) {
            struct link l;
            link_describe(&l, r, plans[0].nodes[k].parts, plans[0].nodes[k].from, made, k < 4);
            VkBaseInStructure binary = {(VkStructureType)1000483002, NULL};
            VkPipelineShaderStageCreateInfo stage =
                k == 1 || k == 2 ? *l.info.pStages : (VkPipelineShaderStageCreateInfo){0};
            VkPipelineRasterizationStateCreateInfo raster = r->g.raster;
            const VkBaseInStructure *const chained = i == 1 ? &unknown : (void *)&r->robustness;
            if ((i == 1 && k == 0) || (i == 2 && k == 3)) /* in its chain */
                l.parts.pNext = (void *)chained;
            if (i == 3 && k == 0)
                l.info.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
            if (i == 4 && k == 3)
                l.info.flags |= VK_PIPELINE_CREATE_INDIRECT_BINDABLE_BIT_NV;
            if (i == 5 && k == 1) {
                stage.stage = VK_SHADER_STAGE_MESH_BIT_EXT;
                l.info.pStages = &stage;
            }
            if (i == 6 && k == 2) /* depth alone */
                l.info.stageCount = 0;
            if (i == 7 && k == 1) { /* nothing of what is ignored then is looked at */
                raster.rasterizerDiscardEnable = VK_TRUE;
                l.info.pRasterizationState = &raster;
                l.info.pViewportState = GARBAGE;
            }
            if (i == 8 && k == 3) {
                r->writes.pNext = &unknown;
            }
            if (i == 9 && k == 4) /* a part is missing, or there twice */
                l.libraries.libraryCount = 3;
            if (i == 10 && k == 4)
                l.from[3] = l.from[2];
            if (i == 11 && k == 4) {
                l.parts.flags = OUTPUT;
                l.info.pNext = &l.parts;
            }
            if (i == 12 && k == 2) /* another pass, subpass, none; other views */
                l.info.renderPass = passes[1];
            if (i == 13 && k == 1)
                l.info.subpass = 1;
            if (i == 14 && k == 3)
                l.info.renderPass = VK_NULL_HANDLE;
            if (i == 15 && k == 1)
                l.rendering.viewMask = 1;
            if (i == 16 && k == 4) /* nothing is known of it */
                l.from[0] = (VkPipeline)(uint64_t)0x10;
            if (i == 17 && k == 4)
                l.info.layout = VK_NULL_HANDLE;
            const VkDynamicState odd = (VkDynamicState)0x7fffff00;
            const VkPipelineDynamicStateCreateInfo dynamic = {
                VK_TYPE(PIPELINE_DYNAMIC_STATE_CREATE_INFO), .dynamicStateCount = 1,
                .pDynamicStates = &odd};
            if (i == 18 && k == 0)
                l.info.pDynamicState = &dynamic;
            if (i == 19 && k == 2) {
                binary.pNext = l.parts.pNext;
                l.parts.pNext = &binary;
            }
            made[k] = fake_linked(&l.info);
        }
        if (strcmp(fake_reason(made[4]), reasons[i]) != 0)
            fail_msg("case %u: %s", i, fake_reason(made[4]));
        for (uint32_t k = 0; k < 5; k++)
            fake_destroy_pipeline(made[k]);
        free(r);
    }
    fake_close();
}

/* A pipeline that is linked from more libraries than are kept count of. */
TEST(links_end_somewhere)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    struct rich *r = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
    VkPipeline last = VK_NULL_HANDLE;
    for (uint32_t i = 1; i <= BF_COPY_LINKS; i++) {
        struct link l;
        link_describe(&l, r, i == 1 ? 15 : 0, i > 1, &last, true);
        last = fake_linked(&l.info);
        link_describe(&l, r, 0, 1, &last, false);
        VkPipeline pipeline = fake_linked(&l.info);
        assert_string_equal(fake_reason(pipeline), i < BF_COPY_LINKS ? "none" : "library");
    }
    free(r);
    fake_close();
}

/* ---- Threads ---- */

static struct rich *shared;
static VkPipeline shared_libraries[4];

/* Links from the libraries of all, and with one of its own beside three of them. */
static void *link_often(void *unused)
{
    (void)unused;
    for (uint32_t i = 0; i < 100; i++) {
        struct link l;
        VkPipeline own[4];
        memcpy(own, shared_libraries, sizeof(own));
        link_describe(&l, shared, plans[0].nodes[i % 4].parts, 0, NULL, true);
        VkPipeline library = fake_linked(&l.info);
        own[i % 4] = library;
        link_describe(&l, shared, 0, 15, i % 2 ? own : shared_libraries, false);
        VkPipeline pipeline = fake_linked(&l.info);
        fake_destroy_pipeline(library);
        if (strcmp(fake_reason(pipeline), "none") != 0)
            abort();
        fake_destroy_pipeline(pipeline);
    }
    return NULL;
}

TEST(threads_link_from_the_same)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    pthread_t threads[4];
    shared = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
    for (uint32_t i = 0; i < 4; i++) {
        struct link l;
        link_describe(&l, shared, plans[0].nodes[i].parts, 0, NULL, true);
        shared_libraries[i] = fake_linked(&l.info);
    }
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, link_often, NULL), 0);
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < 4; i++) {
        const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, shared_libraries[i]);
        assert_int_equal(p->library->refs, 1);
    }
    free(shared);
    fake_close();
}

/* The budget is full: libraries are not kept, and say so to what is linked from them. */
TEST(a_full_budget_keeps_no_library)
{
    VkPipelineLayout layout = fake_open_layout(12);
    VkShaderModule vertex = fake_module(full_vert, sizeof(full_vert));
    VkShaderModule fragment = fake_module(paint_frag, sizeof(paint_frag));
    struct rich *r = rich_linkable(vertex, fragment, layout, VK_NULL_HANDLE);
    VkPipeline made[MOST];
    fake.pipelines.budget.most = fake.pipelines.budget.own + 1;
    VkPipeline pipeline = plan_link(&plans[0], r, made);
    for (uint32_t i = 0; i < 4; i++)
        assert_null(bf_pipelines_find(&fake.pipelines, made[i])->library);
    assert_string_equal(fake_reason(pipeline), "space");
    free(r);
    fake_close();
}
