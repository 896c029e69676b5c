/* SPDX-License-Identifier: MIT */
/* Which points of shaders/needed.comp have to be come to, as compiled and as spirv-opt leaves it.
 * And of what else such values are made. [FN-1, FN-2, FN-4] */
#include "needed_of.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

/* Of the min: whether its sides are needed, and its block; whether some edge is. */
static const struct {
    const char *name;
    bool sides, block, edge;
    uint32_t sources;
} cases[] = {
    {"DATA", true, true, true, 0},
    {"GATHERED", true, true, true, 0},
    {"BESIDE", false, false, false, 0},
    {"CALLED", true, true, false, 0},
    {"KEPT", true, true, true, 0},
    {"CALLED_AROUND", true, true, true, 0},
    {"INTEGER_CHOICE", true, true, false, 0},
    {"INTEGER_CHOICE_BESIDE", false, true, false, 0},
    {"ARRAY", true, true, true, 0},
    {"COMPARED", true, true, true, 0},
    {"DECIDED", false, true, true, 0},
    {"LOOP", true, true, true, 0},
    {"PACKED", false, true, true, 0},
    {"BITS", true, true, true, 0},
    {"CONVERTED", true, true, true, 0},
    {"CONVERTED_BITS", true, true, true, 0},
    {"CONVERTED_CALL", true, true, false, 0},
    {"CONVERTED_PASSED", true, true, false, 0},
    {"INTEGERS_OF_FLOATS", false, false, false, 0},
    {"DECIDED_BY_INTEGERS", true, true, true, 0},
    {"INTEGERS", false, false, false, 0},
    {"DECIDED_CONVERTED", true, true, true, 0},
    {"ATOMIC_STORED", false, true, true, 0},
    {"ATOMIC_EXCHANGED", false, true, true, 0},
    {"DECIDED_ATOMIC", true, true, false, 0},
    {"DECIDED_ADDED", true, true, false, 0},
    {"DECIDED_WRITTEN", true, true, false, 0},
    {"DECIDED_PACKED", true, true, true, 0},
    {"DECIDED_LATER", true, true, false, 0},
    {"DECIDED_SELECTED", true, true, false, 0},
    {"DECIDED_PHI", true, true, true, 0},
    {"DECIDED_BRANCH", true, true, true, 0},
    {"DECIDED_COMPARED", false, true, true, 0},
    {"DECIDED_AFTER", false, true, true, 0},
    {"DECIDED_CALL", true, true, false, 0},
    {"DECIDED_RETURNED", true, true, false, 0},
    {"DECIDED_MOVED", false, false, false, 0},
    {"DECIDED_BESIDE", false, false, false, 0},
    {"DEAD", false, false, false, 0},
    {"ALIVE", true, true, false, 0},
    {"ALIVE_NAN", true, true, true, BF_NEEDED_SPECIALS},
    {"DEAD_CALL", false, false, false, 0},
    {"DEAD_UNFOLDED", false, false, false, 0},
    {"ALIVE_ROUNDED", true, true, true, 0},
    {"ALIVE_CONTRACTED", true, true, true, 0},
    {"DEAD_LISTED", false, false, false, 0},
    {"DEAD_ASKED", false, false, false, 0},
    {"ALIVE_ASKED", true, true, false, 0},
    {"ALIVE_BOTH", true, true, true, 0},
    {"DEAD_SEVERAL", false, false, false, 0},
    {"ALIVE_SEVERAL", true, true, true, 0},
    {"CHOSEN", false, true, false, 0},
    {"SAMPLED_BESIDE", false, true, false, 0},
    {"NOTHING_FOLDED", false, false, false, BF_NEEDED_SPECIALS}, /* nothing is known */
    {"PLACED", false, true, false, BF_NEEDED_PLACES | BF_NEEDED_PLACED},
    {"PLACED_LATER", false, true, false, BF_NEEDED_PLACES | BF_NEEDED_PLACED},
    {"PLACED_BESIDE", false, true, false, BF_NEEDED_PLACES},
    {"PLACED_INDEX", false, true, false, BF_NEEDED_PLACES | BF_NEEDED_PLACED},
    {"UNIFORM", false, true, false, BF_NEEDED_UNIFORM},
    {"UNIFORM_BESIDE", false, true, false, 0},
    {"UNIFORM_ELEMENT", false, true, false, BF_NEEDED_UNIFORM},
    {"UNIFORM_INTEGER", false, true, false, BF_NEEDED_UNIFORM},
    {"SIZED", false, true, false, BF_NEEDED_SIZES},
    {"SIZED_ARRAY", false, true, false, BF_NEEDED_SIZES},
    {"TEXELS", false, true, false, BF_NEEDED_TEXELS},
    {"TEXELS_WHOLE", false, true, false, BF_NEEDED_TEXELS},
    {"TEXELS_UNIFORM", false, true, false, BF_NEEDED_TEXELS | BF_NEEDED_UNIFORM},
    {"TEXELS_SAMPLED", false, true, false, BF_NEEDED_TEXELS | BF_NEEDED_UNIFORM},
    {"TEXELS_BESIDE", false, true, false, 0},
    {"SPECIAL_ADDED", false, true, false, BF_NEEDED_SPECIALS},
    {"SPECIAL_EVALUATED", false, true, false, BF_NEEDED_SPECIALS},
    {"SPECIAL_FINITE", false, true, false, 0},
    {"SPECIAL_CHOSEN", false, true, false, BF_NEEDED_SPECIALS},
    {"SPECIAL_UNFOLDED", false, true, false, 0},
    {"SPECIAL_MIXED", false, false, false, 0},
    {"SPECIAL_OWN", false, true, false, 0},
    {"SPECIAL_COMPONENT", false, true, false, BF_NEEDED_SPECIALS},
};

struct found {
    bool sides, block, edge, min; /* the last: there is one */
    uint32_t sources;
};

/* The word of the label before the instruction at word 'at'. */
static uint32_t label_before(const uint32_t *words, uint32_t at)
{
    uint32_t label = 0;
    for (uint32_t w = 5; w < at; w += words[w] >> 16)
        if ((words[w] & 0xffff) == SpvOpLabel)
            label = w;
    return label;
}

static uint32_t min_find(const uint32_t *words, size_t count)
{
    for (uint32_t w = 5; w < count; w += words[w] >> 16)
        if ((words[w] & 0xffff) == SpvOpExtInst &&
            (words[w + 4] == GLSLstd450FMin || words[w + 4] == GLSLstd450SMin))
            return w;
    return 0;
}

static struct found found_of(const char *name)
{
    struct needed_of n;
    needed_open(&n, name);
    const uint32_t min = min_find(n.words, n.word_count), label = label_before(n.words, min);
    struct found found = {.min = min != 0, .sources = n.sources};
    for (uint32_t p = 0; p < n.run.point_count; p++) {
        uint32_t opcode = n.words[n.run.points[p].at] & 0xffff;
        found.sides |= n.needed[p] && n.run.points[p].at == min;
        found.block |= n.needed[p] && n.run.points[p].at == label;
        found.edge |= n.needed[p] && (opcode == SpvOpBranchConditional || opcode == SpvOpSwitch);
    }
    needed_close(&n);
    return found;
}

TEST(cases_compiled)
{
    char name[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(name, sizeof(name), "needed_%s.comp", cases[i].name);
        const struct found found = found_of(name);
        assert_true(found.min);
        if (found.sides != cases[i].sides || found.block != cases[i].block ||
            found.edge != cases[i].edge)
            fail_msg("%s: sides %d, block %d, edge %d", name, found.sides, found.block, found.edge);
        if (found.sources != cases[i].sources)
            fail_msg("%s: sources %x", name, found.sources);
    }
}

/* Blocks are others then, but the min has the same sides. Of atomic operations they are the same,
 * and what is stored isn't loaded there any more. */
TEST(cases_optimized)
{
    char name[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(name, sizeof(name), "needed_opt_%s.comp", cases[i].name);
        const struct found found = found_of(name);
        if (found.min && found.sides != cases[i].sides)
            fail_msg("%s: sides %d", name, found.sides);
        if (!strncmp(cases[i].name, "ATOMIC", 6) && found.block != cases[i].block)
            fail_msg("%s: block %d", name, found.block);
        if (found.sources != cases[i].sources)
            fail_msg("%s: sources %x", name, found.sources);
    }
}

/* What lies in a variable leaves the shader where it is copied; GLSL has no words for it. [FN-1] */
TEST(copies)
{
    static const char text[] =
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
        "OpEntryPoint GLCompute %main \"main\" %push %in %out %held\n"
        "OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %given Block\n"
        "OpMemberDecorate %given 0 Offset 0\nOpMemberDecorate %given 1 Offset 4\n"
        "OpDecorate %words Block\nOpMemberDecorate %words 0 Offset 0\n"
        "OpMemberDecorate %words 1 Offset 4\n"
        "OpDecorate %in DescriptorSet 0\nOpDecorate %in Binding 2\n"
        "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 0\n"
        "%void = OpTypeVoid\n%nothing = OpTypeFunction %void\n%bool = OpTypeBool\n"
        "%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%given = OpTypeStruct %int %float\n"
        "%words = OpTypeStruct %float %float\n%to_given = OpTypePointer PushConstant %given\n"
        "%to_k = OpTypePointer PushConstant %float\n%to_n = OpTypePointer PushConstant %int\n"
        "%to_words = OpTypePointer StorageBuffer %words\n"
        "%to_word = OpTypePointer StorageBuffer %float\n"
        "%to_held = OpTypePointer Private %float\n%n0 = OpConstant %int 0\n"
        "%n1 = OpConstant %int 1\n%nine = OpConstant %float 9\n"
        "%push = OpVariable %to_given PushConstant\n%in = OpVariable %to_words StorageBuffer\n"
        "%out = OpVariable %to_words StorageBuffer\n"
        "%held = OpVariable %to_held Private\n"
        "%main = OpFunction %void None %nothing\n%begin = OpLabel\n"
        "%at_x = OpAccessChain %to_word %in %n0\n%x = OpLoad %float %at_x\n"
        "%at_k = OpAccessChain %to_k %push %n1\n%k = OpLoad %float %at_k\n"
        "%at_n = OpAccessChain %to_n %push %n0\n%n = OpLoad %int %at_n\n"
        "%m = OpConvertSToF %float %n\n%km = OpFMul %float %k %m\n"
        "%y = OpFMul %float %x %km\nOpStore %held %y\n"
        "%rare = OpFOrdGreaterThan %bool %x %nine\nOpSelectionMerge %end None\n"
        "OpBranchConditional %rare %copies %end\n%copies = OpLabel\n"
        "%to = OpAccessChain %to_word %out %n1\nOpCopyMemory %to %held\nOpBranch %end\n"
        "%end = OpLabel\nOpReturn\nOpFunctionEnd\n";
    size_t count;
    struct needed_of n;
    uint32_t *words = assemble(text, &count), copy = 0;
    needed_open_words(&n, words, count, VK_SHADER_STAGE_COMPUTE_BIT);
    for (uint32_t w = 5; w < count; w += words[w] >> 16)
        copy = (words[w] & 0xffff) == SpvOpCopyMemory ? w : copy;
    const uint32_t label = label_before(words, copy);
    bool is_needed = false;
    for (uint32_t p = 0; p < n.run.point_count; p++)
        is_needed |= n.needed[p] && n.run.points[p].at == label;
    assert_true(is_needed);
    needed_close(&n);
    free(words);
}

/* Which input that checks don't vary these values may be made of. [FN-8] */
TEST(inputs_that_checks_do_not_vary)
{
    static const struct {
        const char *name, *unvaried;
    } inputs[] = {
        {"LAYER", "gl_Layer"},
        {"LAYER_CALL", "gl_Layer"},
        {"LAYER_BESIDE", "none"},
        {"LAYER_DECIDES", "none"},
        {"LAYER_BUFFER", "none"},
        {"LAYER_OWN", "gl_Layer"},
        {"VIEWPORT", "gl_ViewportIndex"},
        {"PRIMITIVE", "gl_PrimitiveID"},
        {"PRIMITIVE_HASHED", "gl_PrimitiveID"},
        {"DEVICE", "gl_DeviceIndex"},
        {"RATE", "gl_ShadingRateEXT"},
        {"VIEW", "none"},
        {"FACING", "none"},
        {"SAMPLES", "textureSamples()"},
        {"SAMPLES_BESIDE", "none"},
    };
    char name[64];
    for (size_t i = 0; i < 2 * sizeof(inputs) / sizeof(inputs[0]); i++) {
        struct needed_of n;
        snprintf(name, sizeof(name), "needed_%s%s.frag", i % 2 ? "opt_" : "", inputs[i / 2].name);
        needed_open(&n, name);
        const char *found = bf_needed_unvaried(n.sources);
        if (strcmp(found ? found : "none", inputs[i / 2].unvaried))
            fail_msg("%s: %s", name, found ? found : "none");
        needed_close(&n);
    }
}

/* And what comes of it by way of a stage before. */
TEST(inputs_of_a_stage_before)
{
    static const struct {
        const char *name, *unvaried;
        bool instances, flat;
    } stages[] = {{"before_DRAW.vert", "gl_DrawID", false, false},
                  {"before_FIRST.vert", "gl_BaseVertex", false, false},
                  {"before_INSTANCE.vert", "none", false, true},
                  {"before_INSTANCE.vert", "gl_InstanceIndex", true, false},
                  {"before_VERTEX.vert", "none", true, false},
                  {"before_VERTEX.vert", "gl_VertexIndex", false, true}};
    for (uint32_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        const struct spirv *spirv = spirv_find(stages[i].name);
        const char *found = bf_needed_unvaried_before(
            spirv->words, (size_t)(spirv->end - spirv->words),
            stages[i].flat ? BF_NEEDED_FLAT : BF_NEEDED_ALL & ~(uint32_t)BF_NEEDED_FLAT,
            stages[i].instances);
        assert_string_equal(found ? found : "none", stages[i].unvaried);
    }
}

/* Of what a primitive has one draws have one; and what is interpolated may be the same in all three
 * corners. Which fragment it is tells them apart. [FN-4] */
TEST(what_is_handed_on_may_be_read_alike)
{
    static const struct {
        const char *name;
        bool uniform, flat;
    } inputs[] = {{"needed_FLAT.frag", true, true},
                  {"needed_FLAT_BESIDE.frag", false, false},
                  {"needed_SMOOTH.frag", true, false},
                  {"needed_SMOOTH_BESIDE.frag", false, false},
                  {"needed_WHERE.frag", false, false}};
    for (uint32_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        struct needed_of n;
        needed_open(&n, inputs[i].name);
        assert_int_equal((n.sources & BF_NEEDED_UNIFORM) != 0, inputs[i].uniform);
        assert_int_equal((n.sources & BF_NEEDED_FLAT) != 0, inputs[i].flat);
        needed_close(&n);
    }
}

int main(int argc, char **argv)
{
    return test_run_group(argc > 1 ? argv[1] : NULL, NULL, NULL);
}
