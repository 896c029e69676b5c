/* SPDX-License-Identifier: MIT */
/* Why nothing is folded: each reason, by a shader that has it and little else. [SF-3] */
#include "helper.h"

static void reason_is(struct bf_shader *shader, const char *reason)
{
    const struct bf_shader_facts *facts = bf_shader_facts_of(shader);
    assert_string_equal(bf_shader_reason_name(facts->reason), reason);
    uint32_t count;
    bf_shader_members(shader, &count);
    assert_true((count > 0) == (facts->reason == BF_SHADER_FOLDABLE));
    struct bf_watch watch;
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    assert_true((watch.count > 0) == (count > 0));
    struct bf_folded folded;
    watch = watch_of((const uint16_t[]){0, 4, 8, 12}, 4);
    if (!count)
        assert_int_equal(bf_shader_fold(shader, &watch, 15, true, &folded), VK_INCOMPLETE);
    bf_shader_release(shader);
}

TEST(compiled)
{
    static const struct {
        const char *name, *reason;
    } shaders[] = {
        {"position.vert", "position"},
        {"varyings.vert", "foldable"},
        {"depth.frag", "depth"},
        {"mask.frag", "sample-mask"},
        {"none.comp", "no-push-constants"},
        {"unfolded.comp", "no-load"},
        {"types.comp", "foldable"},
    };
    for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++)
        reason_is(shader_of(shaders[i].name, NULL), shaders[i].reason);
}

/* A compute shader that loads one int, to be varied. */
struct parts {
    const char *capabilities, *modes, *decorations, *globals, *body, *functions;
};

static struct bf_shader *assembled(struct parts parts)
{
    char text[8192];
    snprintf(text, sizeof(text),
             "OpCapability Shader\n%s\n"
             "OpMemoryModel Logical GLSL450\n"
             "OpEntryPoint GLCompute %%main \"main\"\n"
             "OpExecutionMode %%main LocalSize 1 1 1\n%s\n"
             "OpDecorate %%block Block\n"
             "OpMemberDecorate %%block 0 Offset 0\n"
             "OpMemberDecorate %%block 1 Offset 16\n"
             "OpDecorate %%ints ArrayStride 4\n"
             "OpDecorate %%out BufferBlock\n"
             "OpMemberDecorate %%out 0 Offset 0\n"
             "OpDecorate %%result DescriptorSet 0\n"
             "OpDecorate %%result Binding 0\n%s\n"
             "%%void = OpTypeVoid\n"
             "%%callee = OpTypeFunction %%void\n"
             "%%int = OpTypeInt 32 1\n"
             "%%zero = OpConstant %%int 0\n"
             "%%one = OpConstant %%int 1\n"
             "%%four = OpConstant %%int 4\n"
             "%%ints = OpTypeArray %%int %%four\n"
             "%%block = OpTypeStruct %%int %%ints\n"
             "%%block_pointer = OpTypePointer PushConstant %%block\n"
             "%%int_pointer = OpTypePointer PushConstant %%int\n"
             "%%push = OpVariable %%block_pointer PushConstant\n"
             "%%out = OpTypeStruct %%int\n"
             "%%out_pointer = OpTypePointer Uniform %%out\n"
             "%%out_int = OpTypePointer Uniform %%int\n"
             "%%result = OpVariable %%out_pointer Uniform\n%s\n"
             "%%main = OpFunction %%void None %%callee\n"
             "%%start = OpLabel\n"
             "%%from = OpAccessChain %%int_pointer %%push %%zero\n"
             "%%to = OpAccessChain %%out_int %%result %%zero\n%s\n"
             "OpStore %%to %%value\n"
             "OpReturn\n"
             "OpFunctionEnd\n%s\n",
             parts.capabilities ? parts.capabilities : "", parts.modes ? parts.modes : "",
             parts.decorations ? parts.decorations : "", parts.globals ? parts.globals : "",
             parts.body ? parts.body : "%value = OpLoad %int %from",
             parts.functions ? parts.functions : "");
    size_t count;
    uint32_t *words = assemble(text, &count);
    struct bf_shader *shader = shader_of_words(words, count, VK_SHADER_STAGE_COMPUTE_BIT);
    free(words);
    return shader;
}

TEST(declared)
{
    reason_is(assembled((struct parts){0}), "foldable");
    reason_is(assembled((struct parts){.capabilities = "OpCapability Linkage"}), "capability");
    reason_is(
        assembled((struct parts){.capabilities = "OpCapability CooperativeMatrixNV\n"
                                                 "OpExtension \"SPV_NV_cooperative_matrix\""}),
        "cooperative");
    reason_is(assembled((struct parts){.capabilities = "OpCapability RoundingModeRTE\n"
                                                       "OpExtension \"SPV_KHR_float_controls\"",
                                       .modes = "OpExecutionMode %main RoundingModeRTE 32"}),
              "float-controls");
    reason_is(assembled((struct parts){.modes = "OpExecutionMode %main DenormFlushToZero 32"}),
              "float-controls");
    reason_is(
        assembled((struct parts){.capabilities = "OpCapability SignedZeroInfNanPreserve\n"
                                                 "OpExtension \"SPV_KHR_float_controls\"",
                                 .modes = "OpExecutionMode %main SignedZeroInfNanPreserve 32"}),
        "foldable");
    reason_is(assembled((struct parts){.decorations = "OpDecorate %group NonWritable\n"
                                                      "%group = OpDecorationGroup\n"
                                                      "OpGroupDecorate %group %result"}),
              "decoration-groups");
}

TEST(loaded)
{
    reason_is(assembled((struct parts){.body = "%value = OpLoad %int %from Volatile"}), "volatile");
    /* Alignment and the like mean nothing here. */
    reason_is(assembled((struct parts){.body = "%value = OpLoad %int %from Aligned 4"}),
              "foldable");
    reason_is(assembled((struct parts){.body = "%copy = OpCopyObject %int_pointer %from\n"
                                               "%value = OpLoad %int %copy"}),
              "foldable");
    reason_is(assembled((struct parts){.body = "%array = OpAccessChain %ints_pointer %push %one\n"
                                               "%far = OpInBoundsAccessChain %int_pointer %array "
                                               "%one\n"
                                               "%value = OpLoad %int %far",
                                       .globals = "%ints_pointer = OpTypePointer PushConstant "
                                                  "%ints"}),
              "foldable");
    /* Past the end of the array. */
    reason_is(
        assembled((struct parts){.body = "%far = OpAccessChain %int_pointer %push %one %four\n"
                                         "%value = OpLoad %int %far"}),
        "no-load");
    reason_is(assembled((struct parts){.body = "%none = OpFunctionCall %void %other %from\n"
                                               "%value = OpLoad %int %from",
                                       .globals = "%other_type = OpTypeFunction %void %int_pointer",
                                       .functions = "%other = OpFunction %void None %other_type\n"
                                                    "%parameter = OpFunctionParameter "
                                                    "%int_pointer\n"
                                                    "%begin = OpLabel\n"
                                                    "OpReturn\n"
                                                    "OpFunctionEnd"}),
              "escapes");
    reason_is(assembled((struct parts){.body = "%value = OpLoad %int %from\n"
                                               "%second = OpAccessChain %int_pointer %push2 %zero\n"
                                               "%more = OpLoad %int %second",
                                       .globals = "%push2 = OpVariable %block_pointer "
                                                  "PushConstant"}),
              "several-blocks");
    /* A second block that only others use is no concern of this entry point's. */
    reason_is(assembled((struct parts){.globals = "%push2 = OpVariable %block_pointer PushConstant",
                                       .functions = "%other = OpFunction %void None %callee\n"
                                                    "%begin = OpLabel\n"
                                                    "%second = OpAccessChain %int_pointer %push2 "
                                                    "%zero\n"
                                                    "%more = OpLoad %int %second\n"
                                                    "OpReturn\n"
                                                    "OpFunctionEnd"}),
              "foldable");
}

/* An index by a specialization constant is one that the program has chosen. */
TEST(indexed_by_specialization)
{
    static const struct parts parts = {
        .decorations = "OpDecorate %index SpecId 5",
        .globals = "%index = OpSpecConstant %int 1",
        .body = "%far = OpAccessChain %int_pointer %push %one %index\n"
                "%value = OpLoad %int %far",
    };
    struct bf_shader *shader = assembled(parts);
    assert_non_null(member_at(shader, 20));
    size_t count;
    const uint32_t *words = bf_shader_words(shader, &count);
    int32_t index = 3;
    VkSpecializationMapEntry entry = {5, 0, 4};
    VkSpecializationInfo specialization = {1, &entry, 4, &index};
    struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT,
                                  &specialization};
    struct bf_shader *other;
    assert_int_equal(bf_shader_create(&info, &other), VK_SUCCESS);
    assert_null(member_at(other, 20));
    assert_non_null(member_at(other, 28));
    bf_shader_release(other);
    bf_shader_release(shader);
}

/* One by an operation on other integers than those of 32 bits isn't evaluated here: -1 is less than
 * 0 in 16 bits, too. */
TEST(indexed_by_narrow_operation)
{
    static const struct parts
        narrow =
            {
                .capabilities = "OpCapability Int16",
                .globals = "%bool = OpTypeBool\n%narrow = OpTypeInt 16 1\n"
                           "%minus = OpConstant %narrow -1\n%nought = OpConstant %narrow 0\n"
                           "%less = OpSpecConstantOp %bool SLessThan %minus %nought\n"
                           "%index = OpSpecConstantOp %int Select %less %zero %one",
                .body = "%far = OpAccessChain %int_pointer %push %one %index\n"
                        "%value = OpLoad %int %far",
            },
        plain = {
            .globals = "%bool = OpTypeBool\n%minus = OpConstant %int -1\n"
                       "%less = OpSpecConstantOp %bool SLessThan %minus %zero\n"
                       "%index = OpSpecConstantOp %int Select %less %zero %one",
            .body = "%far = OpAccessChain %int_pointer %push %one %index\n"
                    "%value = OpLoad %int %far",
        };
    reason_is(assembled(narrow), "no-load");
    struct bf_shader *shader = assembled(plain);
    assert_non_null(member_at(shader, 16));
    bf_shader_release(shader);
}

TEST(entries)
{
    const struct spirv *spirv = spirv_find("types.comp");
    struct bf_shader_info info = {spirv->words, (size_t)(spirv->end - spirv->words), "mai",
                                  VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    struct bf_shader *shader;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    reason_is(shader, "no-entry");
    info.entry = "main";
    info.stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    reason_is(shader, "no-entry");
    info.stage = VK_SHADER_STAGE_RAYGEN_BIT_KHR;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    reason_is(shader, "stage");
    info.word_count = 0;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    reason_is(shader, "unparsable");
    info.word_count = 6;
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    reason_is(shader, "unparsable");
}
