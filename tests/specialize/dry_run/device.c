/* SPDX-License-Identifier: MIT */
/* On a device: loops end, indices stay inside, and it is told; where nothing is told, the dry-run
 * form has stored the same words as the shader itself. [FU-1 to FU-5] */
#include "gpu.h"

#include <math.h>

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "../shader/helper.h"

#define LIMIT 500

/* A step of shaders/steps.comp: what is told, and what word 0 then is where that is known
 * beforehand. */
struct step {
    int which, a, b;
    uint32_t flags;
    int word;
};

#define ANY (-1)

static const struct step steps[] = {
    {0, 50, 0, 0, ANY},
    {0, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {1, 9, 0, 0, 2},
    {1, 10, 0, BF_DRY_RUN_FUEL, 2 * LIMIT},
    {2, 100, 0, 0, ANY},
    {2, -1, 0, BF_DRY_RUN_FUEL, ANY},
    {3, 20, 0, 0, 20},
    {3, 2 * LIMIT + 2, 0, BF_DRY_RUN_FUEL, 2 * LIMIT},
    {4, 20, 0, 0, ANY},
    {4, 60, 0, BF_DRY_RUN_FUEL, ANY}, /* together they go round more often than each may */
    {5, 7, 0, 0, 7},
    {5, 8, 0, BF_DRY_RUN_BOUNDS, 7},
    {5, -1, 0, BF_DRY_RUN_BOUNDS, 7},
    {6, 31, 0, 0, 62},
    {6, 32, 0, BF_DRY_RUN_BOUNDS, 62},
    {7, GPU_WORDS - 34, 0, 0, ANY},
    {7, GPU_WORDS - 33, 0, BF_DRY_RUN_BOUNDS, ANY},
    {7, INT32_MIN, 0, BF_DRY_RUN_BOUNDS, ANY},
    {8, 2, 0, 0, 9},
    {8, 4, 0, BF_DRY_RUN_BOUNDS, 0},
    {9, 1, 0, 0, 5},
    {9, 3, 0, BF_DRY_RUN_BOUNDS, 8},
    {10, 5, 0, 0, 9},
    {10, 6, 0, BF_DRY_RUN_BOUNDS, 9},
    {11, 30, 0, 0, ANY},
    {11, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {12, 40, 0, 0, ANY},
    {13, 40, 1, 0, ANY},
    {13, 100000, 2, BF_DRY_RUN_FUEL, ANY},
    {14, 5, 0, 0, 0},
    {14, 100, 0, BF_DRY_RUN_FUEL, 0}, /* not the first few */
    {15, 3, 7, 0, ANY},
    {15, 4, 0, BF_DRY_RUN_BOUNDS, ANY},
    {15, 0, 8, BF_DRY_RUN_BOUNDS, ANY},
    {16, 3, 3, 0, 77},
    {16, 4, 0, BF_DRY_RUN_BOUNDS, 77},
    {16, 0, -1, BF_DRY_RUN_BOUNDS, 77},
    {17, 3, 0, 0, 77},
    {17, 4, 0, BF_DRY_RUN_BOUNDS, 77},
    {17, 0, 1, BF_DRY_RUN_BOUNDS, 77},
    {18, 4, 0, 0, 77},
    {18, 0, 0, BF_DRY_RUN_BOUNDS, 77},
    {20, 7, 0, 0, 6},
    {20, 1000000, 0, BF_DRY_RUN_BOUNDS, 6},
    {21, 30, 0, 0, ANY},
    {21, 1000000, 0, BF_DRY_RUN_FUEL, ANY},
    {22, 3, 0, BF_DRY_RUN_BOUNDS, 0}, /* 32 rows */
    {23, 2, 2, 0, 77},
    {23, 2, 4, BF_DRY_RUN_BOUNDS, 77},
    {24, 0, 0, 0, 0},
    {24, GPU_WORDS - 64 - 31, 0, BF_DRY_RUN_BOUNDS, 0},
    {25, 400, 14, 0, ANY},
    {26, 100, 0, 0, ANY},
    {26, -1, 0, BF_DRY_RUN_FUEL, ANY},
    {27, 7, -2, 0, ANY},
    {27, 7, 0, BF_DRY_RUN_UNDEFINED, 7},
    {27, INT32_MIN, -1, BF_DRY_RUN_UNDEFINED, ANY},
    {27, INT32_MIN, 1, 0, ANY},
    {27, 0, -1, 0, 0},
    {28, 7, 3, 0, 2},
    {28, 7, 0, BF_DRY_RUN_UNDEFINED, 1},
    {28, INT32_MIN, -1, BF_DRY_RUN_UNDEFINED, 1},
    {29, 0, 9, 0, 12},
    {29, 0, -1, 0, 100},
    {29, 0, 0, BF_DRY_RUN_UNDEFINED, 100},
    {30, 8, 2, 0, 9},
    {30, 8, 0, BF_DRY_RUN_UNDEFINED, 18},
    {30, 8, -1, BF_DRY_RUN_UNDEFINED, 2},
    {31, 31, 0, 0, ANY},
    {31, 32, 0, BF_DRY_RUN_UNDEFINED, ANY},
    {31, -1, 0, BF_DRY_RUN_UNDEFINED, ANY},
    {32, 3, 6, 0, 1},
    {32, 32, 6, BF_DRY_RUN_UNDEFINED, 1},
    {33, 4, 8, 0, 0xa9},
    {33, 0, 32, 0, ANY},
    {33, 32, 0, 0, 0},
    {33, 28, 5, BF_DRY_RUN_UNDEFINED, 0},
    {33, -1, 1, BF_DRY_RUN_UNDEFINED, 0},
    {34, 28, 4, 0, ANY},
    {34, 28, -4, BF_DRY_RUN_UNDEFINED, 0},
    {35, 4, 0, 0, 45},
    {35, 0, 0, BF_DRY_RUN_UNDEFINED, ANY},
    {36, 8, 0, 0, ANY},
    {36, INT32_MIN, 0, BF_DRY_RUN_UNDEFINED, ANY},
    {38, 0x40e00000 /* 7 */, 3, 0, 10},
    {38, 0x7149f2ca /* 1e30 */, 3, BF_DRY_RUN_UNDEFINED, 3},
    {38, 0x7fc00000 /* NaN */, 3, BF_DRY_RUN_UNDEFINED, 3},
    {38, 0x4f000000 /* 2^31 */, 3, BF_DRY_RUN_UNDEFINED, 3},
    {38, (int32_t)0xbf000000 /* -0.5 */, 3, 0, 3},
    {39, (int32_t)0xbf000000 /* -0.5 */, 3, 0, 3},
    {39, (int32_t)0xbf800000 /* -1 */, 3, BF_DRY_RUN_UNDEFINED, 3},
    {39, 0x4f000000 /* 2^31 */, 3, 0, 0x80000003},
    {28, -7, 3, BF_DRY_RUN_UNDEFINED, 1},
    {28, 7, -3, BF_DRY_RUN_UNDEFINED, 1},
    {28, 0, 3, 0, 1},
    {43, 8, 0, 0, 3},
    {43, -8, 0, BF_DRY_RUN_UNDEFINED, 1},
    {40, 3, 7, 0, 5},
    {40, -7, -3, 0, -3},
    {40, 7, 7, 0, 7},
    {40, 8, 7, BF_DRY_RUN_UNDEFINED, 8},
    {40, 1, -1, BF_DRY_RUN_UNDEFINED, 1},
    {41, 1, -1, 0, 5},
    {41, -1, 1, BF_DRY_RUN_UNDEFINED, -1},
    {42, -9, 0, 0, 0},
    {37, 0, 0, 0, GPU_SIDE},
    {37, 1, 0, BF_DRY_RUN_BOUNDS, GPU_SIDE},
    {37, -1, 0, BF_DRY_RUN_BOUNDS, GPU_SIDE},
};

static const struct step descriptor_steps[] = {
    {0, 0, 0, 0, 0},
    {0, 222, 0, 0, 0},
    {1, 1, 0, 0, ANY},
    {1, 2, 0, BF_DRY_RUN_BOUNDS, ANY},
};

static const struct step fragment_steps[] = {
    {0, 10, 0, 0, ANY}, {0, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {1, 10, 0, 0, ANY}, {1, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {2, 10, 0, 0, ANY}, {3, 100000, 0, 0, 0},
};

static VkPipeline pipeline_of(const uint32_t *words, size_t count, bool draws)
{
    const struct spirv *vertex = spirv_find("cover.vert");
    return draws ? gpu_drawing(vertex->words, (size_t)(vertex->end - vertex->words), words, count)
                 : gpu_pipeline(words, count);
}

static void words_steps(const uint32_t *words, size_t count, VkShaderStageFlagBits stage,
                        const struct step *all, size_t all_count)
{
    const bool draws = stage == VK_SHADER_STAGE_FRAGMENT_BIT;
    const struct bf_shader_info info = {words, count, "main", stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 0, .binding = GPU_BINDING, .loop_limit = LIMIT, .total_limit = 3 * LIMIT};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    assert_string_equal(bf_dry_run_reason_name(run.reason), "fine");
    VkPipeline general = pipeline_of(words, count, draws),
               dry = pipeline_of(run.words, run.word_count, draws);
    for (size_t i = 0; i < all_count; i++) {
        const struct step *step = &all[i];
        const uint32_t push[4] = {(uint32_t)step->which, (uint32_t)step->a, (uint32_t)step->b};
        struct bf_dry_run_result result;
        uint32_t expected[GPU_WORDS], found[GPU_WORDS];
        gpu_run(dry, draws, push, found, &result);
        if (result.flags != step->flags || (step->word != ANY && found[0] != (uint32_t)step->word))
            fail_msg("case %d with %d, %d: flags %u, word %u", step->which, step->a, step->b,
                     result.flags, found[0]);
        assert_int_equal(result.invocations, draws ? 0 : 32);
        assert_int_equal(result.fragments, draws ? GPU_SIDE * GPU_SIDE : 0);
        assert_true(result.rounds <= 2 * 3 * LIMIT + 8);
        if (step->flags)
            continue;
        gpu_run(general, draws, push, expected, NULL);
        assert_memory_equal(found, expected, sizeof(found));
    }
    gpu_pipeline_end(general);
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

static void module_steps(const char *name, const struct step *all, size_t all_count)
{
    const struct spirv *spirv = spirv_find(name);
    words_steps(spirv->words, (size_t)(spirv->end - spirv->words), spirv->stage, all, all_count);
}

#define STEPS(name, steps) module_steps(name, steps, sizeof(steps) / sizeof((steps)[0]))

TEST(as_compiled)
{
    STEPS("steps.comp", steps);
}

/* Values, not variables, live across the loops' ends. */
TEST(optimized)
{
    STEPS("steps_opt.comp", steps);
}

/* Operations that are said not to wrap, which GLSL has no words for: a pair of operands each of
 * which they don't and do. [FU-9] */
TEST(what_should_not_wrap)
{
    static const struct {
        const char *decoration, *operation;
        struct step steps[4];
    } cases[] = {
        {"NoUnsignedWrap",
         "IAdd %int %a %b",
         {{0, 7, -8, 0, -1}, {0, 7, -7, BF_DRY_RUN_UNDEFINED, 0}, {0, 0, 0, 0, 0}}},
        {"NoSignedWrap",
         "IAdd %int %a %b",
         {{0, 7, -7, 0, 0},
          {0, INT32_MAX, 1, BF_DRY_RUN_UNDEFINED, 0},
          {0, INT32_MIN, -1, BF_DRY_RUN_UNDEFINED, 0}}},
        {"NoUnsignedWrap",
         "ISub %int %a %b",
         {{0, -1, 1, 0, -2}, {0, 7, 8, BF_DRY_RUN_UNDEFINED, 0}, {0, 7, 7, 0, 0}}},
        {"NoSignedWrap",
         "ISub %int %a %b",
         {{0, 7, 8, 0, -1},
          {0, INT32_MIN, 1, BF_DRY_RUN_UNDEFINED, 0},
          {0, 0, INT32_MIN, BF_DRY_RUN_UNDEFINED, 0}}},
        {"NoUnsignedWrap",
         "IMul %int %a %b",
         {{0, 65535, 65536, 0, ANY},
          {0, 65536, 65536, BF_DRY_RUN_UNDEFINED, 0},
          {0, -1, 0, 0, 0},
          {0, -1, 1, 0, -1}}},
        {"NoSignedWrap",
         "IMul %int %a %b",
         {{0, -32768, 65536, 0, INT32_MIN},
          {0, 32768, 65536, BF_DRY_RUN_UNDEFINED, 0},
          {0, INT32_MIN, -1, BF_DRY_RUN_UNDEFINED, 0},
          {0, 7, -1, 0, -7}}},
        {"NoUnsignedWrap",
         "ShiftLeftLogical %int %a %b",
         {{0, -1, 0, 0, -1}, {0, -1, 1, BF_DRY_RUN_UNDEFINED, 0}, {0, 3, 30, 0, ANY}}},
        {"NoSignedWrap",
         "ShiftLeftLogical %int %a %b",
         {{0, -1, 31, 0, INT32_MIN},
          {0, 3, 30, BF_DRY_RUN_UNDEFINED, 0},
          {0, 3, 32, BF_DRY_RUN_UNDEFINED, 3}}},
        {"NoSignedWrap",
         "SNegate %int %a",
         {{0, 7, 0, 0, -7}, {0, INT32_MIN, 0, BF_DRY_RUN_UNDEFINED, 0}, {0, 0, 0, 0, 0}}},
        {"NoUnsignedWrap",
         "SNegate %int %a",
         {{0, 0, 0, 0, 0}, {0, 7, 0, BF_DRY_RUN_UNDEFINED, 0}, {0, 0, 0, 0, 0}}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[4096];
        size_t count;
        snprintf(text, sizeof(text),
                 "OpCapability Shader\nOpExtension \"SPV_KHR_no_integer_wrap_decoration\"\n"
                 "OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
                 "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\" %%me "
                 "%%result %%push\n"
                 "OpExecutionMode %%main LocalSize 32 1 1\n"
                 "OpDecorate %%me BuiltIn LocalInvocationIndex\nOpDecorate %%words ArrayStride 4\n"
                 "OpDecorate %%out Block\nOpMemberDecorate %%out 0 Offset 0\n"
                 "OpDecorate %%result DescriptorSet 0\nOpDecorate %%result Binding 0\n"
                 "OpDecorate %%given Block\nOpMemberDecorate %%given 0 Offset 0\n"
                 "OpMemberDecorate %%given 1 Offset 4\nOpMemberDecorate %%given 2 Offset 8\n"
                 "OpDecorate %%r %s\n%%void = OpTypeVoid\n%%nothing = OpTypeFunction %%void\n"
                 "%%int = OpTypeInt 32 1\n%%uint = OpTypeInt 32 0\n"
                 "%%words = OpTypeRuntimeArray %%int\n%%out = OpTypeStruct %%words\n"
                 "%%given = OpTypeStruct %%int %%int %%int\n"
                 "%%to_out = OpTypePointer StorageBuffer %%out\n"
                 "%%to_word = OpTypePointer StorageBuffer %%int\n"
                 "%%to_given = OpTypePointer PushConstant %%given\n"
                 "%%to_int = OpTypePointer PushConstant %%int\n"
                 "%%to_me = OpTypePointer Input %%uint\n%%n0 = OpConstant %%int 0\n"
                 "%%n1 = OpConstant %%int 1\n%%n2 = OpConstant %%int 2\n"
                 "%%result = OpVariable %%to_out StorageBuffer\n"
                 "%%push = OpVariable %%to_given PushConstant\n%%me = OpVariable %%to_me Input\n"
                 "%%main = OpFunction %%void None %%nothing\n%%begin = OpLabel\n"
                 "%%at = OpLoad %%uint %%me\n%%at_a = OpAccessChain %%to_int %%push %%n1\n"
                 "%%a = OpLoad %%int %%at_a\n%%at_b = OpAccessChain %%to_int %%push %%n2\n"
                 "%%b = OpLoad %%int %%at_b\n%%r = Op%s\n"
                 "%%word = OpAccessChain %%to_word %%result %%n0 %%at\nOpStore %%word %%r\n"
                 "OpReturn\nOpFunctionEnd\n",
                 cases[i].decoration, cases[i].operation);
        uint32_t *words = assemble(text, &count);
        validate(words, count);
        words_steps(words, count, VK_SHADER_STAGE_COMPUTE_BIT, cases[i].steps, 4);
        free(words);
    }
}

/* A driver that reads them on ways that aren't taken is given none of it: it would die. */
TEST(descriptors)
{
    if (gpu_has_bug(BF_DRIVER_BUG_UNTAKEN_DESCRIPTORS)) {
        const struct spirv *spirv = spirv_find("descriptors.comp");
        const struct bf_shader_info info = {spirv->words, (size_t)(spirv->end - spirv->words),
                                            "main", spirv->stage, NULL};
        const struct bf_dry_run_options options = {.binding = GPU_BINDING,
                                                   .untaken_descriptors = true};
        struct bf_dry_run run;
        assert_success(bf_dry_run_create(&info, &options, &run));
        assert_string_equal(bf_dry_run_reason_name(run.reason), "descriptors");
        return;
    }
    STEPS("descriptors.comp", descriptor_steps);
    STEPS("descriptors_opt.comp", descriptor_steps);
}

/* A step of shaders/points.comp: of the instruction that chooses, the sides that are told of. */
struct choice {
    int which;
    float x, y;
    uint32_t opcode; /* of GLSL.std.450's functions OpExtInst and the number, shifted; 0: none */
    uint8_t component;
    uint32_t sides;
};

#define GLSL(function_) (SpvOpExtInst | (uint32_t)GLSLstd450##function_ << 16)

static const struct choice choices[] = {
    {0, 1, 2, 0, 0, 0},
    {0, 2, 1, 0, 0, 0},
    {1, 1, 2, GLSL(FMin), 0, 1},
    {1, 2, 1, GLSL(FMin), 0, 2},
    {1, 1, 1, GLSL(FMin), 0, 0},
    {2, -1, 1, GLSL(FMax), 0, 1},
    {2, -1, 1, GLSL(FMax), 1, 2},
    {2, 1, -1, GLSL(FMax), 0, 2},
    {2, NAN, -1, GLSL(FMax), 0, 0},
    {2, 1, -1, GLSL(FMax), 1, 1},
    {3, -2, 0, GLSL(FClamp), 0, 1},
    {3, 2, 0, GLSL(FClamp), 0, 2},
    {3, 1, 0, GLSL(FClamp), 0, 4},
    {3, NAN, 0, GLSL(FClamp), 0, 0},
    {4, -3, 0, GLSL(FSign), 0, 1},
    {4, 3, 0, GLSL(FSign), 0, 2},
    {4, -0.0f, 0, GLSL(FSign), 0, 0},
    {5, 0, 1, GLSL(Step), 0, 1},
    {5, 1, 1, GLSL(Step), 0, 2},
    {6, 1, 4, SpvOpFMod, 0, 1},
    {6, 5, 4, SpvOpFMod, 0, 2},
    {6, -1, 4, SpvOpFMod, 0, 2},
    {7, -1, 1, SpvOpSelect, 0, 1},
    {7, -1, 1, SpvOpSelect, 1, 2},
    {7, 1, -1, SpvOpSelect, 0, 2},
    {7, 1, -1, SpvOpSelect, 1, 1},
    {8, -1, 0, GLSL(SmoothStep), 0, 1},
    {8, 2, 0, GLSL(SmoothStep), 0, 2},
    {8, 0.5f, 0, GLSL(SmoothStep), 0, 4},
    {9, 3, 1, 0, 0, 0},
    {9, 3, -1, 0, 0, 0},
    {10, 0, 0, 0, 0, 0},
    {11, 1, 2, 0, 0, 0},
    {11, 2, 1, 0, 0, 0},
    {12, -1, 2, GLSL(SMin), 0, 1},
    {12, 2, -1, GLSL(SMin), 0, 2},
    {12, 2, 2, GLSL(SMin), 0, 0},
    {13, 1, 2, GLSL(UMax), 0, 1},
    {13, -1, 2, GLSL(UMax), 0, 2},
    {14, -3, 0, GLSL(SClamp), 0, 1},
    {14, 3, 0, GLSL(SClamp), 0, 2},
    {14, 0, 0, GLSL(SClamp), 0, 4},
    {15, 1, -1, SpvOpSelect, 1, 1},
    {15, -1, 1, SpvOpSelect, 0, 1},
    {15, 1, -1, SpvOpSelect, 0, 2},
    {15, -1, 1, SpvOpSelect, 1, 2},
    {16, -1, 1, GLSL(FaceForward), 0, 1},
    {16, 1, 1, GLSL(FaceForward), 0, 2},
    {16, NAN, 1, GLSL(FaceForward), 0, 2},
    {17, 0.5f, 0.5f, GLSL(Refract), 0, 1},
    {17, 0.5f, -1, GLSL(Refract), 0, 2},
};

/* Is it a side of the instruction that the step is about (any of its components), or at all a
 * side? */
static bool point_is(const uint32_t *words, const struct bf_dry_run_point *point, uint32_t opcode)
{
    uint32_t own = words[point->at] & 0xffff;
    if (own == SpvOpExtInst)
        own |= words[point->at + 4] << 16;
    return own == opcode;
}

static bool is_told(const struct bf_dry_run_result *result, uint32_t first, uint32_t point)
{
    return result->points[(first + point) / 32] >> (first + point) % 32 & 1;
}

/* Of each step exactly the sides of its own choice, and of all together all there are; whatever the
 * number of the first. [FU-8] */
static void points_check(const char *name, uint32_t first, bool exact)
{
    const struct spirv *spirv = spirv_find(name);
    const size_t count = (size_t)(spirv->end - spirv->words);
    const struct bf_shader_info info = {spirv->words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 0, .binding = GPU_BINDING, .points = true, .first_point = first};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    assert_string_equal(bf_dry_run_reason_name(run.reason), "fine");
    VkPipeline general = gpu_pipeline(spirv->words, count),
               dry = gpu_pipeline(run.words, run.word_count);
    bool all[BF_DRY_RUN_POINTS] = {false};
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *choice = &choices[i];
        uint32_t push[4] = {(uint32_t)choice->which}, sides = 0;
        memcpy(&push[1], &choice->x, 4);
        memcpy(&push[2], &choice->y, 4);
        struct bf_dry_run_result result;
        uint32_t expected[GPU_WORDS], found[GPU_WORDS];
        gpu_run(dry, false, push, found, &result);
        gpu_run(general, false, push, expected, NULL);
        assert_memory_equal(found, expected, sizeof(found));
        assert_int_equal(result.flags, 0);
        for (uint32_t p = 0; p < run.point_count; p++) {
            const struct bf_dry_run_point *point = &run.points[p];
            bool told = is_told(&result, first, p);
            all[p] |= told;
            if (!exact || !told || point_is(spirv->words, point, SpvOpLabel) ||
                point_is(spirv->words, point, SpvOpBranchConditional) ||
                point_is(spirv->words, point, SpvOpSwitch))
                continue;
            assert_true(point_is(spirv->words, point, choice->opcode));
            if (point->component == choice->component)
                sides |= 1u << point->side;
        }
        for (uint32_t p = 0; p < BF_DRY_RUN_POINTS; p++)
            assert_true((p >= first && p < first + run.point_count) || !is_told(&result, 0, p));
        if (exact && sides != choice->sides)
            fail_msg("step %zu: sides %u", i, sides);
    }
    for (uint32_t p = 0; p < run.point_count; p++)
        if (!all[p])
            fail_msg("point %u of %u, at word %u, was never told", p, run.point_count,
                     run.points[p].at);
    gpu_pipeline_end(general);
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

TEST(points)
{
    points_check("points.comp", 0, true);
    points_check("points.comp", 77, true);
    points_check("points_opt.comp", 0, false);
}

/* A choice between structs, by x < y. */
static const char composites[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %main \"main\" %push %out\nOpExecutionMode %main LocalSize 32 1 1\n"
    "OpDecorate %values Block\nOpMemberDecorate %values 0 Offset 4\n"
    "OpMemberDecorate %values 1 Offset 8\nOpDecorate %words ArrayStride 4\n"
    "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
    "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 0\n"
    "%void = OpTypeVoid\n%nothing = OpTypeFunction %void\n%bool = OpTypeBool\n"
    "%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%values = OpTypeStruct %float %float\n"
    "%pair = OpTypeStruct %float %int\n%words = OpTypeRuntimeArray %float\n"
    "%block = OpTypeStruct %words\n%to_push = OpTypePointer PushConstant %values\n"
    "%to_value = OpTypePointer PushConstant %float\n"
    "%to_block = OpTypePointer StorageBuffer %block\n"
    "%to_word = OpTypePointer StorageBuffer %float\n%push = OpVariable %to_push PushConstant\n"
    "%out = OpVariable %to_block StorageBuffer\n%zero = OpConstant %int 0\n"
    "%one = OpConstant %int 1\n%half = OpConstant %float 0.5\n"
    "%first = OpConstantComposite %pair %half %zero\n%main = OpFunction %void None %nothing\n"
    "%begin = OpLabel\n%xp = OpAccessChain %to_value %push %zero\n%x = OpLoad %float %xp\n"
    "%yp = OpAccessChain %to_value %push %one\n%y = OpLoad %float %yp\n"
    "%less = OpFOrdLessThan %bool %x %y\n%second = OpCompositeConstruct %pair %x %one\n"
    "%chosen = OpSelect %pair %less %first %second\n"
    "%part = OpCompositeExtract %float %chosen 0\n"
    "%to = OpAccessChain %to_word %out %zero %zero\nOpStore %to %part\nOpReturn\n"
    "OpFunctionEnd\n";

/* All of it at once: one choice, with two sides. */
TEST(choices_of_composites)
{
    size_t count;
    uint32_t *words = assemble(composites, &count);
    const struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING, .points = true};
    struct bf_dry_run run;
    validate(words, count);
    assert_success(bf_dry_run_create(&info, &options, &run));
    assert_string_equal(bf_dry_run_reason_name(run.reason), "fine");
    VkPipeline dry = gpu_pipeline(run.words, run.word_count);
    for (uint32_t less = 0; less < 2; less++) {
        const float x = less ? 1 : 3, y = 2;
        uint32_t push[4] = {0}, found[GPU_WORDS], sides = 0, selects = 0;
        struct bf_dry_run_result result;
        memcpy(&push[1], &x, 4);
        memcpy(&push[2], &y, 4);
        gpu_run(dry, false, push, found, &result);
        for (uint32_t p = 0; p < run.point_count; p++) {
            const bool is = point_is(words, &run.points[p], SpvOpSelect);
            selects += is;
            sides |= is && is_told(&result, 0, p) ? 1u << run.points[p].side : 0;
        }
        assert_int_equal(selects, 2);
        assert_int_equal(sides, less ? 1 : 2);
    }
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
    free(words);
}

TEST(blocks_are_told_of_by_who_comes_to_them)
{
    const struct spirv *spirv = spirv_find("points.comp");
    const size_t count = (size_t)(spirv->end - spirv->words);
    const struct bf_shader_info info = {spirv->words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING, .points = true};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    VkPipeline dry = gpu_pipeline(run.words, run.word_count);
    struct bf_dry_run_result results[3];
    for (uint32_t i = 0; i < 3; i++) {
        const float x = i == 0 ? 1 : 2, y = i == 0 ? 2 : 1;
        uint32_t push[4] = {i == 2 ? 10 : 0}, words[GPU_WORDS];
        memcpy(&push[1], &x, 4);
        memcpy(&push[2], &y, 4);
        gpu_run(dry, false, push, words, &results[i]);
    }
    /* Without the case: the beginning, the edge to the end of switch, and that. With it: no edge,
     * but the case, one side of its condition, and where these meet. */
    uint32_t alone[3] = {0}, one_not_other = 0;
    for (uint32_t p = 0; p < run.point_count; p++) {
        for (uint32_t i = 0; i < 3; i++)
            alone[i] += is_told(&results[i], 0, p);
        one_not_other += is_told(&results[0], 0, p) && !is_told(&results[1], 0, p);
    }
    assert_int_equal(alone[2], 3);
    assert_int_equal(alone[0], 5);
    assert_int_equal(alone[1], 5);
    assert_int_equal(one_not_other, 1);
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

/* An edge to where others lead, too, is told of by who takes it. [FU-8] */
TEST(edges_are_told_of)
{
    const struct spirv *spirv = spirv_find("points.comp");
    const size_t count = (size_t)(spirv->end - spirv->words);
    const struct bf_shader_info info = {spirv->words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING, .points = true};
    static const struct {
        int which;
        float x;
        uint32_t branches, switches; /* edges that are told of */
    } cases[] = {{11, 1, 0, 0}, {11, 3, 1, 0}, {10, 1, 0, 1}, {-1, 1, 0, 1}, {0, 1, 0, 0}};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    VkPipeline dry = gpu_pipeline(run.words, run.word_count);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const float y = 2;
        uint32_t push[4] = {(uint32_t)cases[i].which}, words[GPU_WORDS], branches = 0, switches = 0;
        struct bf_dry_run_result result;
        memcpy(&push[1], &cases[i].x, 4);
        memcpy(&push[2], &y, 4);
        gpu_run(dry, false, push, words, &result);
        for (uint32_t p = 0; p < run.point_count; p++) {
            branches += is_told(&result, 0, p) &&
                        point_is(spirv->words, &run.points[p], SpvOpBranchConditional);
            switches +=
                is_told(&result, 0, p) && point_is(spirv->words, &run.points[p], SpvOpSwitch);
        }
        assert_int_equal(branches, cases[i].branches);
        assert_int_equal(switches, cases[i].switches);
    }
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

/* Discarded fragments tell of what has led to that, or to what they have stored. [FU-8] */
TEST(who_is_discarded_tells_of_why)
{
    static const uint32_t sides[] = {1, 0, 0, 1, 1, 0}; /* of min, that are told of */
    const struct spirv *spirv = spirv_find("discards.frag"), *cover = spirv_find("cover.vert");
    const size_t count = (size_t)(spirv->end - spirv->words);
    const struct bf_shader_info info = {spirv->words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {.binding = GPU_BINDING, .points = true};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    assert_string_equal(bf_dry_run_reason_name(run.reason), "fine");
    VkPipeline dry =
        gpu_drawing(cover->words, (size_t)(cover->end - cover->words), run.words, run.word_count);
    for (uint32_t which = 0; which < sizeof(sides) / sizeof(sides[0]); which++) {
        const float x = 1, y = 2;
        uint32_t push[4] = {which}, words[GPU_WORDS], told = 0, blocks = 0;
        struct bf_dry_run_result result;
        memcpy(&push[1], &x, 4);
        memcpy(&push[2], &y, 4);
        gpu_run(dry, true, push, words, &result);
        for (uint32_t p = 0; p < run.point_count; p++) {
            told += is_told(&result, 0, p) &&
                    point_is(spirv->words, &run.points[p], SpvOpExtInst | GLSLstd450FMin << 16);
            blocks += is_told(&result, 0, p) && point_is(spirv->words, &run.points[p], SpvOpLabel);
        }
        if (told != sides[which] || !blocks)
            fail_msg("%u: %u of min, %u blocks", which, told, blocks);
    }
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

/* However they end, all invocations tell, and what they have drawn is the same. */
TEST(fragments)
{
    STEPS("steps.frag", fragment_steps);
    STEPS("steps_opt.frag", fragment_steps);
}

static int teardown(void **state)
{
    (void)state;
    gpu_close();
    return 0;
}

int main(int argc, char **argv)
{
    if (!gpu_open()) {
        fprintf(stderr, "no device that computes with robustBufferAccess\n");
        return 77;
    }
    for (uint32_t i = 0; i < GPU_WORDS; i++)
        gpu_given()[i] = 1000 + i;
    return test_run_group(argc > 1 ? argv[1] : NULL, NULL, teardown);
}
