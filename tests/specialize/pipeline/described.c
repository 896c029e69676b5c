/* SPDX-License-Identifier: MIT */
/* What a helper is told of a pipeline that is to be checked: how the program linked it, and which
 * sets a layout doesn't have. [IS-10] */
#include "fake.h"
#include "support/infos.h"

#include "specialize/check_in_helper.h"
#include "specialize/isolate/isolate.h"

#include "shaders/full.vert.h"
#include "shaders/paint.frag.h"

#define FLAG(name_) VK_PIPELINE_CREATE_##name_

/* ---- In place of the helper ---- */

static struct bf_build_link links[BF_BUILD_LINKS];
static uint32_t link_count, variant_links, null_sets;
static VkPipelineLayoutCreateFlags layout_flags;

VkResult bf_isolate_check(struct bf_isolate *isolate, const struct bf_check_request *request,
                          struct bf_check_answer *answer)
{
    const struct bf_build_request *general = &request->builds[0];
    (void)isolate;
    (void)answer;
    link_count = general->link_count;
    memcpy(links, general->links, link_count * sizeof(links[0]));
    layout_flags = general->layout->flags;
    null_sets = variant_links = 0;
    for (uint32_t i = 0; i < general->layout->setLayoutCount; i++)
        null_sets |= general->sets[i] ? 0 : 1u << i;
    for (uint32_t i = 1; i < request->build_count; i++)
        variant_links += request->builds[i].link_count;
    assert_int_equal(request->build_count, 3);
    return VK_NOT_READY;
}

/* ---- Pipelines ---- */

static void describe(VkPipeline pipeline)
{
    const struct bf_pipeline *p = bf_pipelines_find(&fake.pipelines, pipeline);
    struct bf_folded folded[2];
    const struct bf_folded *const forms[2] = {&folded[0], &folded[1]};
    static const uint8_t push[BF_PUSH_CONSTANT_BYTES] = {1};
    struct bf_check_info info = {.push = push};
    struct bf_check_answer answer;
    assert_string_equal(fake_reason(pipeline), "none");
    for (uint32_t i = 0; i < 2; i++)
        assert_success(
            bf_shader_fold(bf_pipeline_copy_shader(p->copy), &p->watch, 7, i, &folded[i]));
    assert_int_equal(bf_check_in_helper(NULL, p->copy, 2, forms, &info, NULL, &answer),
                     VK_NOT_READY);
    for (uint32_t i = 0; i < 2; i++)
        bf_folded_finish(&folded[i]);
}

static void assert_link(uint32_t i, VkPipelineCreateFlags flags, uint32_t parts, uint32_t from,
                        bool samples)
{
    assert_int_equal(links[i].flags, flags);
    assert_int_equal(links[i].parts, parts);
    assert_int_equal(links[i].from, from);
    assert_int_equal(links[i].samples, samples);
}

/* A layout with such sets, or none: missing ones are so only where sets are independent. */
static void assert_layout(uint32_t i, bool is, bool independent, uint32_t count, uint32_t sets)
{
    assert_int_equal(links[i].has_layout, is);
    if (!is)
        return;
    assert_int_equal(links[i].layout_flags,
                     independent ? VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT : 0);
    assert_int_equal(links[i].set_count, count);
    assert_int_equal(links[i].sets, sets);
}

static VkPipeline whole_pipeline(VkPipelineLayout layout, struct info_graphics *g)
{
    info_graphics(g, 1, fake_module(full_vert, sizeof(full_vert)),
                  fake_module(paint_frag, sizeof(paint_frag)), layout, VK_NULL_HANDLE, 1, NULL);
    return fake_graphics(&g->info);
}

TEST(a_helper_is_told_how_it_is_linked)
{
    for (uint32_t independent = 0; independent < 2; independent++) {
        fake_open();
        const VkPipelineLayoutCreateFlags flags =
            independent ? VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT : 0;
        const VkDescriptorSetLayout set = fake_set_layout(VK_NULL_HANDLE, NULL);
        const VkDescriptorSetLayout sets[3] = {VK_NULL_HANDLE, VK_NULL_HANDLE, set};
        const VkPipelineLayout layout = fake_layout_of(flags, 3, sets, 12, NULL),
                               few = fake_layout_of(flags, independent ? 2 : 3, sets, 12, NULL);
        struct info_graphics g;
        struct info_link l;
        VkPipeline made[4];
        describe(whole_pipeline(layout, &g));
        assert_int_equal(link_count, 0);
        assert_int_equal(null_sets, independent ? 3 : 0);
        assert_int_equal(layout_flags, flags);

        /* The vertex shader's from nothing, the fragment shader's from that, the vertices' beside,
         * and the output in the link itself. */
        info_link(&l, &g, 2, FLAG(LIBRARY_BIT_KHR), 0, NULL);
        l.info.layout = few;
        made[0] = fake_linked(&l.info);
        info_link(&l, &g, 4,
                  FLAG(LIBRARY_BIT_KHR) | FLAG(RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT), 1,
                  &made[0]);
        l.info.pMultisampleState = independent ? l.info.pMultisampleState : NULL;
        made[1] = fake_linked(&l.info);
        info_link(&l, &g, 1, FLAG(LIBRARY_BIT_KHR) | FLAG(DISABLE_OPTIMIZATION_BIT), 0, NULL);
        made[2] = fake_linked(&l.info);
        info_link(&l, &g, 8,
                  FLAG(LINK_TIME_OPTIMIZATION_BIT_EXT) | FLAG(EARLY_RETURN_ON_FAILURE_BIT), 2,
                  &made[1]);
        describe(fake_linked(&l.info));
        assert_int_equal(link_count, 4);
        assert_int_equal(variant_links, 0);
        assert_int_equal(null_sets, independent ? 3 : 0);
        assert_link(0, FLAG(LIBRARY_BIT_KHR), 2, 0, false);
        assert_link(1, FLAG(LIBRARY_BIT_KHR) | FLAG(RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT), 4,
                    1, independent);
        assert_link(2, FLAG(LIBRARY_BIT_KHR) | FLAG(DISABLE_OPTIMIZATION_BIT), 1, 0, false);
        assert_link(3, FLAG(LINK_TIME_OPTIMIZATION_BIT_EXT), 8, 6, false);
        assert_layout(0, true, independent, independent ? 2 : 3, independent ? 0 : 7);
        assert_layout(1, true, independent, 3, independent ? 4 : 7);
        assert_layout(2, false, false, 0, 0);
        assert_layout(3, true, independent, 3, independent ? 4 : 7);
        fake_close();
    }
}
