/* SPDX-License-Identifier: MIT */
/* Looks at a module's version and capabilities for whether it can tell the size of subgroups. */
#include "specialize/shader/subgroup.h"

#include <spirv/unified1/spirv.h>

#define HEADER_WORDS      5
#define VARIES_BY_VERSION 0x00010600u

/* What operations on subgroups need, and built-in variables that say of their size. */
static bool capability_tells(uint32_t capability)
{
    switch (capability) {
    case SpvCapabilityGroups:
    case SpvCapabilityGroupNonUniform:
    case SpvCapabilityGroupNonUniformVote:
    case SpvCapabilityGroupNonUniformArithmetic:
    case SpvCapabilityGroupNonUniformBallot:
    case SpvCapabilityGroupNonUniformShuffle:
    case SpvCapabilityGroupNonUniformShuffleRelative:
    case SpvCapabilityGroupNonUniformClustered:
    case SpvCapabilityGroupNonUniformQuad:
    case SpvCapabilitySubgroupBallotKHR:
    case SpvCapabilitySubgroupVoteKHR:
        return true;
    default:
        return false;
    }
}

/* Capabilities come before everything else. */
static bool words_tell(const uint32_t *words, size_t count)
{
    for (size_t at = HEADER_WORDS; at < count && (words[at] & 0xffff) == SpvOpCapability; at += 2) {
        if (words[at] >> 16 != 2 || count - at < 2 || capability_tells(words[at + 1]))
            return true; /* or it is malformed */
    }
    return false;
}

static bool size_is_required(const VkPipelineShaderStageCreateInfo *stage)
{
    const VkBaseInStructure *s = stage->pNext;
    while (s &&
           s->sType != VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
        s = s->pNext;
    return s != NULL;
}

bool bf_subgroup_size_may_differ(const VkPipelineShaderStageCreateInfo *stage,
                                 const uint32_t *words, size_t count)
{
    if (!words || count < HEADER_WORDS)
        return true;
    bool varies = stage->flags & VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT ||
                  words[1] >= VARIES_BY_VERSION;
    return varies && !size_is_required(stage) && words_tell(words, count);
}
