/* SPDX-License-Identifier: MIT */
/* What is chained to the states of graphics pipelines, as messages: each struct is read as it was
 * said, what isn't known can't be said (IS-5), and what is ill-formed is refused (IS-4). */
#include "isolate_helper.h"

#include "base/message.h"
#include "isolate_picture.h"
#include "specialize/isolate/wire_io.h"

void bf_message(enum bf_message_level level, const char *format, ...)
{
}

/* All that can be said, in one chain; no pipeline has it. */
struct all {
    VkVertexInputBindingDivisorDescriptionEXT divisor[2];
    VkBool32 writes[3];
    VkPipelineVertexInputDivisorStateCreateInfoEXT divisors;
    VkPipelineViewportDepthClipControlCreateInfoEXT control;
    VkPipelineRasterizationLineStateCreateInfoEXT line;
    VkPipelineRasterizationProvokingVertexStateCreateInfoEXT provoking;
    VkPipelineRasterizationDepthClipStateCreateInfoEXT clip;
    VkPipelineRasterizationConservativeStateCreateInfoEXT conservative;
    VkPipelineRasterizationStateStreamCreateInfoEXT stream;
    VkPipelineColorBlendAdvancedStateCreateInfoEXT advanced;
    VkPipelineColorWriteCreateInfoEXT write;
    void *links[9];
    size_t sizes[9];
};

#define ADD(all_, member_)                                                                         \
    ((all_)->sizes[n] = sizeof((all_)->member_), (all_)->links[n++] = &(all_)->member_)

static void all_make(struct all *a)
{
    uint32_t n = 0;
    *a = (struct all){
        .divisor = {{1, 0}, {3, 7}},
        .writes = {VK_TRUE, VK_FALSE, VK_TRUE},
        .divisors = {VK_TYPE(PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT),
                     .vertexBindingDivisorCount = 2, .pVertexBindingDivisors = a->divisor},
        .control = {VK_TYPE(PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT),
                    .negativeOneToOne = VK_TRUE},
        .line = {VK_TYPE(PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT),
                 .lineRasterizationMode = VK_LINE_RASTERIZATION_MODE_BRESENHAM_EXT,
                 .stippledLineEnable = VK_TRUE, .lineStippleFactor = 3, .lineStipplePattern = 0x55},
        .provoking = {VK_TYPE(PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT),
                      .provokingVertexMode = VK_PROVOKING_VERTEX_MODE_LAST_VERTEX_EXT},
        .clip = {VK_TYPE(PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT),
                 .depthClipEnable = VK_TRUE},
        .conservative = {VK_TYPE(PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT),
                         .conservativeRasterizationMode =
                             VK_CONSERVATIVE_RASTERIZATION_MODE_OVERESTIMATE_EXT,
                         .extraPrimitiveOverestimationSize = 0.5f},
        .stream = {VK_TYPE(PIPELINE_RASTERIZATION_STATE_STREAM_CREATE_INFO_EXT),
                   .rasterizationStream = 2},
        .advanced = {VK_TYPE(PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT),
                     .srcPremultiplied = VK_TRUE, .blendOverlap = VK_BLEND_OVERLAP_CONJOINT_EXT},
        .write = {VK_TYPE(PIPELINE_COLOR_WRITE_CREATE_INFO_EXT), .attachmentCount = 3,
                  .pColorWriteEnables = a->writes},
    };
    ADD(a, divisors);
    ADD(a, control);
    ADD(a, line);
    ADD(a, provoking);
    ADD(a, clip);
    ADD(a, conservative);
    ADD(a, stream);
    ADD(a, advanced);
    ADD(a, write);
    for (uint32_t i = 0; i + 1 < n; i++)
        ((VkBaseOutStructure *)a->links[i])->pNext = a->links[i + 1];
}

/* Reads every byte of it, for a sanitizer to look at. */
static uint32_t chain_read(const void *bytes, size_t size, bool *good)
{
    struct bf_wire_in in;
    uint32_t sum = 0;
    bf_wire_read_begin(&in, bytes, size);
    for (const VkBaseInStructure *s = bf_wire_read_chain(&in); s; s = s->pNext) {
        sum++;
        if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT) {
            const VkPipelineVertexInputDivisorStateCreateInfoEXT *d = (const void *)s;
            for (uint32_t i = 0; d->pVertexBindingDivisors && i < d->vertexBindingDivisorCount; i++)
                sum += d->pVertexBindingDivisors[i].divisor;
        } else if (s->sType == VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT) {
            const VkPipelineColorWriteCreateInfoEXT *w = (const void *)s;
            for (uint32_t i = 0; w->pColorWriteEnables && i < w->attachmentCount; i++)
                sum += w->pColorWriteEnables[i];
        }
    }
    *good = bf_wire_read_end(&in);
    bf_wire_in_finish(&in);
    return sum;
}

/* The numbers of a struct, and of its list. */
static void assert_same(const VkBaseInStructure *got, const VkBaseInStructure *said, size_t size)
{
    assert_int_equal(got->sType, said->sType);
    if (got->sType == VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT) {
        const VkPipelineVertexInputDivisorStateCreateInfoEXT *a = (const void *)got,
                                                             *b = (const void *)said;
        assert_int_equal(a->vertexBindingDivisorCount, b->vertexBindingDivisorCount);
        assert_memory_equal(a->pVertexBindingDivisors, b->pVertexBindingDivisors,
                            a->vertexBindingDivisorCount * sizeof(*a->pVertexBindingDivisors));
    } else if (got->sType == VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT) {
        const VkPipelineColorWriteCreateInfoEXT *a = (const void *)got, *b = (const void *)said;
        assert_int_equal(a->attachmentCount, b->attachmentCount);
        assert_memory_equal(a->pColorWriteEnables, b->pColorWriteEnables,
                            a->attachmentCount * sizeof(VkBool32));
    } else {
        assert_memory_equal(got + 1, said + 1, size - sizeof(*said));
    }
}

TEST(chains_are_read_as_they_were_said)
{
    struct all a;
    struct bf_wire_out out = {0};
    struct bf_wire_in in;
    all_make(&a);
    bf_wire_say_chain(&out, a.links[0]);
    assert_false(out.failed || out.unsaid);
    bf_wire_read_begin(&in, out.bytes, out.size);
    const VkBaseInStructure *s = bf_wire_read_chain(&in);
    for (uint32_t i = 0; i < 9; i++, s = s->pNext) {
        assert_non_null(s);
        assert_same(s, a.links[i], a.sizes[i]);
    }
    assert_null(s);
    assert_true(bf_wire_read_end(&in));
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

/* Which colours are written may be dynamic state; then there is a count alone. */
TEST(lists_may_be_absent)
{
    struct all a;
    struct bf_wire_out out = {0};
    struct bf_wire_in in;
    all_make(&a);
    a.write.pColorWriteEnables = NULL;
    bf_wire_say_chain(&out, &a.write);
    bf_wire_read_begin(&in, out.bytes, out.size);
    const VkPipelineColorWriteCreateInfoEXT *w = bf_wire_read_chain(&in);
    assert_true(bf_wire_read_end(&in));
    assert_int_equal(w->attachmentCount, 3);
    assert_null(w->pColorWriteEnables);
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
    /* Divisors are no such state. */
    a.divisors.pNext = NULL;
    a.divisors.pVertexBindingDivisors = NULL;
    bf_wire_say_chain(&out, &a.divisors);
    bool good;
    chain_read(out.bytes, out.size, &good);
    assert_false(good);
    bf_wire_out_finish(&out);
}

TEST(what_is_not_known_can_not_be_said)
{
    VkBaseOutStructure unknown = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL};
    struct all a;
    for (uint32_t i = 0; i < 2; i++) {
        struct bf_wire_out out = {0};
        all_make(&a);
        if (i == 0)
            ((VkBaseOutStructure *)a.links[8])->pNext = &unknown;
        else
            ((VkBaseOutStructure *)a.links[3])->pNext = &unknown;
        bf_wire_say_chain(&out, a.links[0]);
        assert_true(out.unsaid);
        bf_wire_out_finish(&out);
    }
}

/* More than there are kinds of: some are there twice. */
TEST(long_chains_can_not_be_said)
{
    VkPipelineRasterizationDepthClipStateCreateInfoEXT clips[10];
    struct bf_wire_out out = {0};
    for (uint32_t i = 0; i < 10; i++)
        clips[i] = (VkPipelineRasterizationDepthClipStateCreateInfoEXT){
            VK_TYPE(PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT),
            .pNext = i < 9 ? &clips[i + 1] : NULL};
    bf_wire_say_chain(&out, clips);
    assert_true(out.unsaid);
    bf_wire_out_finish(&out);
}

TEST(damaged_chains_are_refused)
{
    struct all a;
    struct bf_wire_out out = {0};
    bool good;
    all_make(&a);
    bf_wire_say_chain(&out, a.links[0]);
    chain_read(out.bytes, out.size, &good);
    assert_true(good);
    for (size_t size = 0; size < out.size; size++) {
        uint8_t *exact = malloc(size + 1);
        memcpy(exact, out.bytes, size);
        chain_read(exact, size, &good);
        assert_false(good);
        free(exact);
    }
    const uint32_t changes[] = {0, 1, 10, 0x7FFFFFFF, UINT32_MAX};
    for (size_t at = 0; at < out.size; at += 4)
        for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
            uint32_t before;
            memcpy(&before, out.bytes + at, 4);
            memcpy(out.bytes + at, &changes[i], 4);
            chain_read(out.bytes, out.size, &good);
            /* The count, and the first struct's type and count. */
            if ((at == 0 || at == 4 || at == 8) && changes[i] != before)
                assert_false(good);
            memcpy(out.bytes + at, &before, 4);
        }
    bf_wire_out_finish(&out);
}

static const uint32_t words[] = {0x07230203, 0x00010500, 0, 1, 0};

/* Each state has its own. */
TEST(states_of_pipelines_keep_their_chains)
{
    const struct bf_build_code code = {words, sizeof(words)};
    struct all a;
    struct picture p;
    struct bf_wire_out out = {0};
    struct bf_wire_in in;
    static struct bf_wire_check check;
    picture(&p, true, code, code);
    all_make(&a);
    for (uint32_t i = 0; i < 9; i++)
        ((VkBaseOutStructure *)a.links[i])->pNext = NULL;
    a.clip.pNext = &a.conservative;
    p.g.vertices.pNext = &a.divisors;
    p.g.viewports.pNext = &a.control;
    p.g.raster.pNext = &a.clip;
    p.g.blend.pNext = &a.write;
    const struct bf_check_request request = {.build_count = 1, .builds = &p.request};
    bf_wire_say_check(&out, &request);
    assert_false(out.failed || out.unsaid);
    assert_true(bf_wire_read_check(&in, out.bytes, out.size, &check));
    const VkGraphicsPipelineCreateInfo *g = &check.builds[0].graphics;
    assert_same(g->pVertexInputState->pNext, (const void *)&a.divisors, sizeof(a.divisors));
    assert_same(g->pViewportState->pNext, (const void *)&a.control, sizeof(a.control));
    const VkBaseInStructure *raster = g->pRasterizationState->pNext;
    assert_same(raster, (const void *)&a.clip, sizeof(a.clip));
    assert_same(raster->pNext, (const void *)&a.conservative, sizeof(a.conservative));
    assert_null(raster->pNext->pNext);
    assert_same(g->pColorBlendState->pNext, (const void *)&a.write, sizeof(a.write));
    assert_null(g->pMultisampleState->pNext);
    assert_null(g->pDepthStencilState->pNext);
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

int main(int argc, char **argv)
{
    return test_run(argc > 1 ? argv[1] : NULL);
}
