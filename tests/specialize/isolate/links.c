/* SPDX-License-Identifier: MIT */
/* Which libraries a build helper makes of a pipeline that the program has linked, and that each is
 * told what belongs to its parts, and nothing else. [IS-10] */
#include "isolate_helper.h"

#include "base/message.h"
#include "isolate_picture.h"
#include "specialize/isolate/helper_link.h"

#define FLAG(name_) VK_PIPELINE_CREATE_##name_

void bf_message(enum bf_message_level level, const char *format, ...)
{
}

/* -------------------------------------------------------------------------------- The driver -- */

/* What it was told of a pipeline. */
struct told {
    VkPipelineCreateFlags flags;
    VkGraphicsPipelineLibraryFlagsEXT parts; /* as a struct in the chain says */
    uint32_t from, stages;                   /* bit i: made as the i-th; VkShaderStageFlags */
    uint32_t states;                         /* bits of the structs, in their order */
    uint32_t layout;                         /* the how maniest, from 1 on; 0: none */
    uint32_t colors;
    VkFormat depth;
    bool pass, rendering;
};

static struct told told[8];
static uint32_t made, layouts, destroyed, fail_at;
static struct {
    VkPipelineLayoutCreateFlags flags;
    uint32_t count, sets, ranges; /* bits of those that are there */
} laid[8];

static uint64_t handle(uint32_t number)
{
    return 0x1000 + number;
}

static VKAPI_ATTR VkResult VKAPI_CALL lay(VkDevice device, const VkPipelineLayoutCreateInfo *info,
                                          const VkAllocationCallbacks *allocator,
                                          VkPipelineLayout *layout)
{
    laid[layouts].flags = info->flags;
    laid[layouts].count = info->setLayoutCount;
    laid[layouts].sets = 0;
    laid[layouts].ranges = info->pushConstantRangeCount;
    for (uint32_t i = 0; i < info->setLayoutCount; i++)
        laid[layouts].sets |= info->pSetLayouts[i] ? 1u << i : 0;
    *layout = (VkPipelineLayout)handle(++layouts);
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL make(VkDevice device, VkPipelineCache cache, uint32_t count,
                                           const VkGraphicsPipelineCreateInfo *info,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipeline *pipeline)
{
    struct told *t = &told[made];
    assert_int_equal(count, 1);
    *pipeline = VK_NULL_HANDLE;
    if (made == fail_at)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    *t = (struct told){.flags = info->flags, .pass = info->renderPass != VK_NULL_HANDLE};
    t->layout = info->layout ? (uint32_t)((uint64_t)info->layout - 0x1000) : 0;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        const VkGraphicsPipelineLibraryCreateInfoEXT *parts = (const void *)s;
        const VkPipelineLibraryCreateInfoKHR *from = (const void *)s;
        const VkPipelineRenderingCreateInfo *rendering = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT) {
            t->parts = parts->flags;
        } else if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR) {
            for (uint32_t i = 0; i < from->libraryCount; i++)
                t->from |= 1u << ((uint64_t)from->pLibraries[i] - 0x1000);
        } else {
            assert_int_equal(s->sType, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
            assert_int_equal(rendering->viewMask, 3);
            t->rendering = true;
            t->colors = rendering->colorAttachmentCount;
            t->depth = rendering->depthAttachmentFormat;
        }
    }
    for (uint32_t i = 0; i < info->stageCount; i++)
        t->stages |= info->pStages[i].stage;
    const void *const states[] = {info->pVertexInputState,  info->pInputAssemblyState,
                                  info->pViewportState,     info->pRasterizationState,
                                  info->pDepthStencilState, info->pMultisampleState,
                                  info->pColorBlendState,   info->pDynamicState};
    for (uint32_t i = 0; i < 8; i++)
        t->states |= states[i] ? 1u << i : 0;
    *pipeline = (VkPipeline)handle(made++);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL unmake(VkDevice device, VkPipeline pipeline,
                                         const VkAllocationCallbacks *allocator)
{
    destroyed += pipeline != VK_NULL_HANDLE;
}

static VKAPI_ATTR void VKAPI_CALL unlay(VkDevice device, VkPipelineLayout layout,
                                        const VkAllocationCallbacks *allocator)
{
    destroyed += layout != VK_NULL_HANDLE;
}

/* ----------------------------------------------------------------------------------- The helper */

static const uint32_t words[5] = {0x07230203};

/* The picture of the request, as a helper would link it. */
static VkResult link_picture(struct picture *p)
{
    const struct bf_check_request request = {.build_count = 1, .builds = &p->request};
    struct bf_wire_out out = {0};
    struct bf_wire_in in;
    static struct bf_wire_check check;
    static struct bf_gpu gpu;
    VkDescriptorSetLayout sets[3] = {(VkDescriptorSetLayout)handle(1), VK_NULL_HANDLE,
                                     (VkDescriptorSetLayout)handle(2)};
    struct helper_pipeline pipeline = {.sets = sets, .set_count = 3};
    pipeline.layout = (VkPipelineLayout)handle(7);
    gpu.vk.vkCreateGraphicsPipelines = make;
    gpu.vk.vkCreatePipelineLayout = lay;
    gpu.vk.vkDestroyPipeline = unmake;
    gpu.vk.vkDestroyPipelineLayout = unlay;
    made = layouts = destroyed = 0;
    bf_wire_say_check(&out, &request);
    assert_false(out.failed || out.unsaid);
    assert_true(bf_wire_read_check(&in, out.bytes, out.size, &check));
    check.builds[0].graphics.renderPass = p->request.pass ? (VkRenderPass)handle(3) : NULL;
    VkResult result = helper_pipeline_link(&gpu, &check.builds[0], &pipeline);
    assert_int_equal(pipeline.handle != VK_NULL_HANDLE, result == VK_SUCCESS);
    helper_pipeline_unlink(&gpu, &pipeline);
    helper_pipeline_unlink(&gpu, &pipeline);
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
    return result;
}

static void picture_of(struct picture *p, bool pass)
{
    static const VkDescriptorSetLayoutCreateInfo set = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO)};
    static const VkDescriptorSetLayoutCreateInfo *const sets[] = {&set, NULL, &set};
    const struct bf_build_code code = {words, sizeof(words)};
    picture(p, pass, code, code);
    p->layout.flags = VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
    p->layout.setLayoutCount = 3;
    p->request.sets = sets;
    p->g.rendering.viewMask = 3;
    fail_at = UINT32_MAX;
}

enum { INPUT = 3, RASTER = 12, DEPTH = 16, SAMPLES = 32, BLEND = 64, DYNAMIC = 128 };

static void assert_told(uint32_t i, VkPipelineCreateFlags flags, uint32_t parts, uint32_t from,
                        uint32_t stages, uint32_t states)
{
    assert_int_equal(told[i].flags, flags);
    assert_int_equal(told[i].parts, parts);
    assert_int_equal(told[i].from, from);
    assert_int_equal(told[i].stages, stages);
    assert_int_equal(told[i].states, states);
}

TEST(each_part_is_a_library)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t optimised = 0; optimised < 2; optimised++) {
            struct picture p;
            picture_of(&p, pass);
            picture_link(&p, optimised);
            p.links[1].set_count = p.links[1].sets = 1;
            p.links[2].samples = optimised;
            assert_success(link_picture(&p));
            const VkPipelineCreateFlags library =
                FLAG(LIBRARY_BIT_KHR) |
                (optimised ? FLAG(RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT) : 0);
            assert_int_equal(made, 5);
            assert_told(0, library, 1, 0, 0, INPUT | DYNAMIC);
            assert_told(1, library, 2, 0, VK_SHADER_STAGE_VERTEX_BIT, RASTER | DYNAMIC);
            assert_told(2, library, 4, 0, VK_SHADER_STAGE_FRAGMENT_BIT,
                        DEPTH | DYNAMIC | (optimised ? SAMPLES : 0));
            assert_told(3, library, 8, 0, 0, SAMPLES | BLEND | DYNAMIC);
            assert_told(4, optimised ? FLAG(LINK_TIME_OPTIMIZATION_BIT_EXT) : 0, 0, 15, 0, 0);
            const uint32_t layout_of[] = {0, 1, 2, 0, 7};
            for (uint32_t i = 0; i < 5; i++) {
                const bool has_pass = i > 0 && i < 4;
                assert_int_equal(told[i].layout, layout_of[i]);
                assert_int_equal(told[i].pass, pass && has_pass);
                assert_int_equal(told[i].rendering, !pass && has_pass);
                assert_int_equal(told[i].colors, !pass && i == 3);
                assert_int_equal(told[i].depth,
                                 !pass && i == 3 ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED);
            }
            assert_int_equal(layouts, 2);
            assert_int_equal(laid[0].flags, p.layout.flags);
            assert_int_equal(laid[0].count, 1);
            assert_int_equal(laid[0].sets, 1);
            assert_int_equal(laid[1].count, 3);
            assert_int_equal(laid[1].sets, 5);
            assert_int_equal(laid[1].ranges, 1);
            assert_int_equal(destroyed, 4 + 2);
        }
    }
}

/* A library of two parts, one that is linked from it, and the rest in the link itself. */
TEST(links_have_parts_too)
{
    struct picture p;
    picture_of(&p, false);
    p.links[0] = (struct bf_build_link){.flags = FLAG(LIBRARY_BIT_KHR),
                                        .parts = 6,
                                        .has_layout = true,
                                        .layout_flags = p.layout.flags,
                                        .set_count = 3,
                                        .sets = 5};
    p.links[1] = p.links[0];
    p.links[1].parts = 1;
    p.links[1].from = 1;
    p.links[2] = p.links[0];
    p.links[2].flags = FLAG(DISABLE_OPTIMIZATION_BIT);
    p.links[2].parts = 8;
    p.links[2].from = 2;
    p.request.link_count = 3;
    p.request.links = p.links;
    assert_success(link_picture(&p));
    assert_int_equal(made, 3);
    assert_told(0, FLAG(LIBRARY_BIT_KHR), 6, 0,
                VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                RASTER | DEPTH | DYNAMIC);
    assert_told(1, FLAG(LIBRARY_BIT_KHR), 1, 1, 0, INPUT | DYNAMIC);
    assert_told(2, FLAG(DISABLE_OPTIMIZATION_BIT), 8, 2, 0, SAMPLES | BLEND | DYNAMIC);
    assert_int_equal(told[1].layout, 2);
    assert_int_equal(told[2].layout, 7);
}

TEST(what_fails_leaves_nothing)
{
    for (uint32_t i = 0; i < 5; i++) {
        struct picture p;
        picture_of(&p, true);
        picture_link(&p, true);
        fail_at = i;
        assert_int_equal(link_picture(&p), VK_ERROR_OUT_OF_DEVICE_MEMORY);
        assert_int_equal(destroyed, i + layouts);
    }
}
