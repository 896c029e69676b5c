/* SPDX-License-Identifier: MIT */
/* Which stages can tell that a driver has chosen another size of subgroups (SZ-1). */
#include "specialize/shader/subgroup.h"

#include "support/infos.h"
#include "support/test.h"

#include <spirv/unified1/spirv.h>

#define CAPABILITY(name_) 0x00020011, SpvCapability##name_
#define MEMORY_MODEL      0x0003000e, 0, 1

TEST(subgroup_sizes_that_may_differ)
{
    enum { VARYING = VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT };
    static const struct {
        uint32_t version, words[8];
        VkPipelineShaderStageCreateFlags flags;
        uint32_t required;
        bool may;
    } cases[] = {
        {0x00010300, {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL}, 0, 0, false},
        {0x00010300,
         {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL},
         VARYING,
         0,
         true},
        {0x00010500, {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL}, 0, 0, false},
        {0x00010600, {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL}, 0, 0, true},
        {0x00010600, {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL}, 0, 8, false},
        {0x00010300,
         {CAPABILITY(Shader), CAPABILITY(GroupNonUniform), MEMORY_MODEL},
         VARYING,
         16,
         false},
        {0x00010300, {CAPABILITY(SubgroupBallotKHR), MEMORY_MODEL}, VARYING, 0, true},
        {0x00010300, {CAPABILITY(SubgroupVoteKHR), MEMORY_MODEL}, VARYING, 0, true},
        {0x00010300, {CAPABILITY(Groups), MEMORY_MODEL}, VARYING, 0, true},
        {0x00010600, {CAPABILITY(GroupNonUniformQuad), MEMORY_MODEL}, 0, 0, true},
        {0x00010600, {CAPABILITY(Shader), MEMORY_MODEL}, VARYING, 0, false},
        /* What stands behind the capabilities is none, whatever it looks like. */
        {0x00010600, {CAPABILITY(Shader), MEMORY_MODEL, CAPABILITY(Groups)}, 0, 0, false},
        {0x00010600, {0x00030011, SpvCapabilityShader, 0}, 0, 0, true}, /* malformed */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t words[5 + 8] = {0x07230203, cases[i].version};
        memcpy(words + 5, cases[i].words, sizeof(cases[i].words));
        const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
            VK_TYPE(PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO),
            .requiredSubgroupSize = cases[i].required};
        const VkPipelineShaderStageCreateInfo stage = {
            VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO),
            .pNext = cases[i].required ? &required : NULL, .flags = cases[i].flags,
            .stage = VK_SHADER_STAGE_COMPUTE_BIT};
        if (bf_subgroup_size_may_differ(&stage, words, 13) != cases[i].may)
            fail_msg("case %zu", i);
    }
}

/* Words that end early: it isn't known. */
TEST(subgroup_words_that_end)
{
    const uint32_t words[7] = {0x07230203, 0x00010600, 0, 1, 0, CAPABILITY(Shader)};
    const VkPipelineShaderStageCreateInfo stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO)};
    assert_true(bf_subgroup_size_may_differ(&stage, NULL, 0));
    for (size_t count = 0; count <= 7; count++)
        assert_int_equal(bf_subgroup_size_may_differ(&stage, words, count),
                         count < 5 || count == 6);
}
