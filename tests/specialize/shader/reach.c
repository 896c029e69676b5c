/* SPDX-License-Identifier: MIT */
/* What may be folded in exact mode, and what not. [SF-2] */
#include "helper.h"

/* Of shaders/reach.frag, in order. */
static const struct {
    const char *name;
    bool exact;
    uint16_t uses; /* at least */
} fates[] = {
    {"direct", false, 0},
    {"called", false, 0},
    {"divisor", false, 0},
    {"modulus", false, 0},
    {"highest", true, 0},
    {"quotient", true, BF_USE_STRIDE},
    {"table", false, BF_USE_INDEX | BF_USE_CONTROLS},
    {"unrolled", false, BF_USE_LOOP | BF_USE_CONTROLS},
    {"repeated", true, BF_USE_LOOP},
    {"branch", true, BF_USE_BRANCH},
    {"chosen", false, BF_USE_CONTROLS},
    {"coordinate", false, 0},
    {"explicit_lod", true, 0},
    {"stored", false, 0},
    {"derivative", false, 0},
    {"written", false, 0},
    {"fraction", false, 0},
    {"factor", true, 0},
    {"selected", false, 0},
    {"switched", true, BF_USE_SWITCH},
    {"packed", false, 0},
    {"mixed", false, 0},
    {"returned", false, BF_USE_CONTROLS},
    {"left", false, BF_USE_CONTROLS},
    {"compared", true, 0},
    {"both", true, 0},
    {"untouched", true, 0},
    {"negated", true, 0},
};

static void fates_of(const char *name, bool optimised)
{
    struct bf_shader *shader = shader_of(name, NULL);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "foldable");
    for (uint32_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
        const struct bf_fold_member *member = member_at(shader, 4 * i);
        if (!member)
            fail_msg("%s isn't a member", fates[i].name);
        /* The optimiser makes one load of two. */
        bool exact = fates[i].exact && !(optimised && !strcmp(fates[i].name, "both"));
        if (member->exact != exact)
            fail_msg("%s: %s is %sexact: uses %#x", name, fates[i].name, member->exact ? "" : "in",
                     member->uses);
        /* Branches that it has made selections of steer nothing. */
        if (!optimised && (member->uses & fates[i].uses) != fates[i].uses)
            fail_msg("%s: %s has uses %#x, not %#x", name, fates[i].name, member->uses,
                     fates[i].uses);
    }
    bf_shader_release(shader);
}

TEST(as_compiled)
{
    fates_of("reach.frag", false);
    fates_of("reach_debug.frag", false);
}

/* In SSA form: phi instead of variables, and everything in one function. */
TEST(as_optimised)
{
    fates_of("reach_opt.frag", true);
}

/* Of two loads of one member the one is folded that may be. */
TEST(folds_loads_one_by_one)
{
    struct bf_shader *shader = shader_of("reach.frag", NULL);
    struct bf_watch watch = watch_of((const uint16_t[]){100}, 1);
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold(shader, &watch, 1, true, &folded), VK_SUCCESS);
    assert_int_equal(folded.load_count, 1);
    validate(folded.words, folded.word_count);
    bf_folded_finish(&folded);

    watch = watch_of((const uint16_t[]){0}, 1);
    assert_int_equal(bf_shader_fold(shader, &watch, 1, true, &folded), VK_INCOMPLETE);
    assert_null(folded.words);
    bf_shader_release(shader);
}

/* Structs of two of the struct before: as many parts as nobody can look at. */
static char *large_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    fputs("OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main "
          "\"main\"\n"
          "OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %push Block\n"
          "OpMemberDecorate %push 0 Offset 0\n%void = OpTypeVoid\n%uint = OpTypeInt 32 0\n"
          "%nothing = OpTypeFunction %void\n%push = OpTypeStruct %uint\n%s0 = OpTypeStruct %uint "
          "%uint\n",
          to);
    for (uint32_t i = 1; i <= 30; i++)
        fprintf(to, "%%s%u = OpTypeStruct %%s%u %%s%u\n", i, i - 1, i - 1);
    fputs("%to_large = OpTypePointer StorageBuffer %s30\n%to_push = OpTypePointer PushConstant "
          "%push\n"
          "%to_uint = OpTypePointer PushConstant %uint\n%to_first = OpTypePointer StorageBuffer "
          "%s29\n"
          "%zero = OpConstant %uint 0\n%block = OpVariable %to_push PushConstant\n"
          "%large = OpVariable %to_large StorageBuffer\n%main = OpFunction %void None %nothing\n"
          "%begin = OpLabel\n%from = OpAccessChain %to_uint %block %zero\n%n = OpLoad %uint %from\n"
          "%first = OpAccessChain %to_first %large %zero\n%copy = OpLoad %s29 %first\nOpReturn\n"
          "OpFunctionEnd\n",
          to);
    fclose(to);
    return text;
}

/* [SF-5] */
TEST(what_is_too_large_is_given_up)
{
    size_t count;
    char *text = large_text();
    uint32_t *words = assemble(text, &count);
    struct bf_shader *shader = shader_of_words(words, count, VK_SHADER_STAGE_COMPUTE_BIT);
    assert_true(bf_shader_facts_of(shader)->unmeasured);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "complex");
    bf_shader_release(shader);
    free(words);
    free(text);
}

#define CONDITIONS 8000
#define CALLS      800 /* in calls: a round of the search each */

/* Declarations, and a chain of functions that ends with one that rounds. */
static void complex_functions(FILE *to)
{
    fputs("OpCapability Shader\n%glsl = OpExtInstImport \"GLSL.std.450\"\n"
          "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n"
          "OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %push Block\n"
          "OpMemberDecorate %push 0 Offset 0\nOpMemberDecorate %push 1 Offset 4\n"
          "%void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"
          "%float = OpTypeFloat 32\n%nothing = OpTypeFunction %void\n"
          "%function = OpTypeFunction %float %float\n%push = OpTypeStruct %uint %float\n"
          "%to_push = OpTypePointer PushConstant %push\n"
          "%to_uint = OpTypePointer PushConstant %uint\n"
          "%to_float = OpTypePointer PushConstant %float\n"
          "%to_local = OpTypePointer Function %float\n%zero = OpConstant %uint 0\n"
          "%one = OpConstant %uint 1\n%half = OpConstant %float 0.5\n"
          "%block = OpVariable %to_push PushConstant\n",
          to);
    for (uint32_t k = 0; k < CALLS; k++) {
        fprintf(to, "%%f%u = OpFunction %%float None %%function\n", k);
        fprintf(to, "%%x%u = OpFunctionParameter %%float\n%%fl%u = OpLabel\n", k, k);
        if (k)
            fprintf(to, "%%fr%u = OpFunctionCall %%float %%f%u %%x%u\n", k, k - 1, k);
        else
            fputs("%fr0 = OpExtInst %float %glsl Exp %x0\n", to);
        fprintf(to, "OpReturnValue %%fr%u\nOpFunctionEnd\n", k);
    }
}

/* A value that any of many conditions may choose, and that is rounded many calls away. */
static char *complex_text(void)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    complex_functions(to);
    fputs("%main = OpFunction %void None %nothing\n%begin = OpLabel\n"
          "%y = OpVariable %to_local Function\n%mp = OpAccessChain %to_uint %block %zero\n"
          "%ap = OpAccessChain %to_float %block %one\n%a = OpLoad %float %ap\nOpStore %y %a\n",
          to);
    for (uint32_t i = 0; i < CONDITIONS; i++) {
        fprintf(to, "%%m%u = OpLoad %%uint %%mp\n%%c%u = OpIEqual %%bool %%m%u %%one\n", i, i, i);
        fprintf(to, "OpSelectionMerge %%e%u None\nOpBranchConditional %%c%u %%t%u %%e%u\n", i, i, i,
                i);
        fprintf(to, "%%t%u = OpLabel\nOpStore %%y %%half\nOpBranch %%e%u\n%%e%u = OpLabel\n", i, i,
                i);
    }
    fprintf(to, "%%last = OpLoad %%float %%y\n%%r = OpFunctionCall %%float %%f%u %%last\n",
            CALLS - 1);
    fputs("OpReturn\nOpFunctionEnd\n", to);
    fclose(to);
    return text;
}

/* [SF-5] */
TEST(what_takes_too_long_is_given_up)
{
    size_t count;
    char *text = complex_text();
    uint32_t *words = assemble(text, &count);
    const struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    struct bf_shader *shader;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "complex");
    uint32_t members;
    bf_shader_members(shader, &members);
    assert_int_equal(members, 0);
    bf_shader_release(shader);
    free(words);
    free(text);
}
