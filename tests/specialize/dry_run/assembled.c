/* SPDX-License-Identifier: MIT */
/* What GLSL has no words for: a loop, or an index, steered by what functions return, by undefined
 * parts of constants, by what a module computes of its own constants; and what should be
 * unreachable. [FU-6] */
#include "../shader/helper.h"

#include "specialize/dry_run/dry_run.h"

static const struct {
    const char *name, *reason, *bare;
    const char *globals, *functions, *body; /* the last defines %rounds, which a loop counts to */
} cases[] = {
    {"constant", "fine", "fine", "", "", "%rounds = OpCopyObject %int %three\n"},
    {"undefined", "fine", "unassigned", "%no = OpUndef %int\n", "",
     "%rounds = OpCopyObject %int %no\n"},
    {"undefined part", "fine", "unassigned",
     "%no = OpUndef %int\n%pair = OpTypeVector %int 2\n%both = OpConstantComposite %pair %three "
     "%no\n",
     "", "%rounds = OpCompositeExtract %int %both 1\n"},
    {"undefined part of a part", "fine", "unassigned",
     "%no = OpUndef %int\n%pair = OpTypeStruct %int %int\n%whole = OpTypeStruct %pair %int\n"
     "%both = OpConstantComposite %pair %three %no\n"
     "%all = OpConstantComposite %whole %both %three\n",
     "", "%rounds = OpCompositeExtract %int %all 0 1\n"},
    {"undefined part of an initializer", "fine", "unassigned",
     "%no = OpUndef %int\n%pair = OpTypeVector %int 2\n%both = OpConstantComposite %pair %three "
     "%no\n"
     "%to_pair = OpTypePointer Private %pair\n%to_own = OpTypePointer Private %int\n"
     "%held = OpVariable %to_pair Private %both\n",
     "", "%part = OpAccessChain %to_own %held %one\n%rounds = OpLoad %int %part\n"},
    {"defined parts", "fine", "fine",
     "%pair = OpTypeVector %int 2\n%both = OpConstantComposite %pair %three %one\n", "",
     "%rounds = OpCompositeExtract %int %both 1\n"},
    {"shuffled", "fine", "unassigned",
     "%pair = OpTypeVector %int 2\n%both = OpConstantComposite %pair %three %one\n"
     "%turned = OpSpecConstantOp %pair VectorShuffle %both %both 1 0xffffffff\n",
     "", "%rounds = OpCompositeExtract %int %turned 0\n"},
    {"divided", "fine", "fine", "%part = OpSpecConstantOp %int SDiv %three %one\n", "",
     "%rounds = OpCopyObject %int %part\n"},
    {"divided by zero", "fine", "unassigned", "%part = OpSpecConstantOp %int SDiv %three %zero\n",
     "", "%rounds = OpCopyObject %int %part\n"},
    {"returned image", "fine", "fine", "",
     "%texels_of = OpFunction %texels None %returns_texels\n%texels_begin = OpLabel\n"
     "%texels_loaded = OpLoad %texels %read\nOpReturnValue %texels_loaded\nOpFunctionEnd\n",
     "%which = OpFunctionCall %texels %texels_of\n%texel = OpImageRead %ints %which %zero\n"
     "%rounds = OpCompositeExtract %int %texel 0\n"},
    {"returned image that is written", "shared", "shared", "",
     "%texels_of = OpFunction %texels None %returns_texels\n%texels_begin = OpLabel\n"
     "%texels_loaded = OpLoad %texels %written\nOpReturnValue %texels_loaded\nOpFunctionEnd\n",
     "%which = OpFunctionCall %texels %texels_of\n%texel = OpImageRead %ints %which %zero\n"
     "%rounds = OpCompositeExtract %int %texel 0\n"},
    {"another vendor's sum", "subgroup", "fine", "%scope = OpConstant %int 3\n", "",
     "%rounds = OpGroupIAddNonUniformAMD %int %scope Reduce %three\n"},
    {"another vendor's function", "subgroup", "fine", "%three_u = OpConstant %uint 3\n", "",
     "%wide = OpExtInst %uint %ballot WriteInvocationAMD %three_u %three_u %three_u\n"
     "%rounds = OpBitcast %int %wide\n"},
    {"unreachable by integers", "fine", "fine", "",
     "%parts = OpFunction %void None %nothing\n%parts_begin = OpLabel\n"
     "%parts_given = OpAccessChain %to_int %push %zero\n%n = OpLoad %int %parts_given\n"
     "%never = OpSLessThan %bool %n %zero\n"
     "OpSelectionMerge %goes_on None\nOpBranchConditional %never %nowhere %goes_on\n"
     "%nowhere = OpLabel\nOpUnreachable\n%goes_on = OpLabel\nOpReturn\nOpFunctionEnd\n",
     "%called = OpFunctionCall %void %parts\n%rounds = OpLoad %int %given\n"},
    {"unreachable by floats", "fine", "float", "",
     "%parts = OpFunction %void None %nothing\n%parts_begin = OpLabel\n"
     "%parts_given = OpAccessChain %to_int %push %zero\n%n = OpLoad %int %parts_given\n"
     "%number = OpConvertSToF %float %n\n%never = OpFOrdLessThan %bool %number %half\n"
     "OpSelectionMerge %goes_on None\nOpBranchConditional %never %nowhere %goes_on\n"
     "%nowhere = OpLabel\nOpUnreachable\n%goes_on = OpLabel\nOpReturn\nOpFunctionEnd\n",
     "%called = OpFunctionCall %void %parts\n%rounds = OpLoad %int %given\n"},
};

static uint32_t *case_assemble(size_t i, size_t *count)
{
    char text[8192];
    snprintf(text, sizeof(text),
             "OpCapability Shader\nOpCapability ImageBuffer\nOpCapability Groups\n"
             "OpExtension \"SPV_AMD_shader_ballot\"\n"
             "%%ballot = OpExtInstImport \"SPV_AMD_shader_ballot\"\n"
             "OpMemoryModel Logical GLSL450\n"
             "OpEntryPoint GLCompute %%main \"main\" %%read %%written %%push%s\nOpExecutionMode "
             "%%main LocalSize 1 1 1\n"
             "OpDecorate %%read DescriptorSet 0\nOpDecorate %%read Binding 2\n"
             "OpDecorate %%written DescriptorSet 0\nOpDecorate %%written Binding 3\n"
             "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
             "%%void = OpTypeVoid\n%%nothing = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%int = OpTypeInt 32 1\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n%%ints = "
             "OpTypeVector %%int 4\n"
             "%%texels = OpTypeImage %%int Buffer 0 0 0 2 R32i\n"
             "%%returns_texels = OpTypeFunction %%texels\n"
             "%%to_texels = OpTypePointer UniformConstant %%texels\n"
             "%%block = OpTypeStruct %%int\n%%to_block = OpTypePointer PushConstant %%block\n"
             "%%to_int = OpTypePointer PushConstant %%int\n%%zero = OpConstant %%int 0\n"
             "%%one = OpConstant %%int 1\n%%three = OpConstant %%int 3\n"
             "%%half = OpConstant %%float 0.5\n%%four = OpConstantNull %%ints\n"
             "%%read = OpVariable %%to_texels UniformConstant\n"
             "%%written = OpVariable %%to_texels UniformConstant\n"
             "%%push = OpVariable %%to_block PushConstant\n%s%s"
             "%%main = OpFunction %%void None %%nothing\n%%begin = OpLabel\n"
             "%%given = OpAccessChain %%to_int %%push %%zero\n%s"
             "%%target = OpLoad %%texels %%written\nOpImageWrite %%target %%zero %%four\n"
             "OpBranch %%before\n%%before = OpLabel\nOpBranch %%loop\n%%loop = OpLabel\n"
             "%%k = OpPhi %%int %%zero %%before %%next %%again\nOpLoopMerge %%end %%again None\n"
             "OpBranch %%test\n%%test = OpLabel\n%%less = OpSLessThan %%bool %%k %%rounds\n"
             "OpBranchConditional %%less %%again %%end\n%%again = OpLabel\n"
             "%%next = OpIAdd %%int %%k %%one\nOpBranch %%loop\n%%end = OpLabel\nOpReturn\n"
             "OpFunctionEnd\n",
             strstr(cases[i].globals, "%held") ? " %held" : "", cases[i].globals,
             cases[i].functions, cases[i].body);
    return assemble(text, count);
}

TEST(cases_assembled)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t count;
        uint32_t *words = case_assemble(i, &count);
        const struct bf_shader_info info = {words, count, "main", VK_SHADER_STAGE_COMPUTE_BIT,
                                            NULL};
        const struct bf_dry_run_options options = {.binding = 1};
        struct bf_dry_run run;
        validate(words, count);
        assert_int_equal(bf_dry_run_create(&info, &options, &run), VK_SUCCESS);
        const char *reason = bf_dry_run_reason_name(run.reason),
                   *bare = bf_dry_run_reason_name(run.bare);
        if (strcmp(reason, cases[i].reason) || strcmp(bare, cases[i].bare))
            fail_msg("%s: %s, %s", cases[i].name, reason, bare);
        if (run.words)
            validate(run.words, run.word_count);
        bf_dry_run_finish(&run);
        free(words);
    }
}
