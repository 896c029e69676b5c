/* SPDX-License-Identifier: MIT */
/* What compilers do before they choose instructions. Not SPIRV-Tools' simplification: it gathers
 * constants, and makes Fma of sums of products, which only some compilers do. */
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>

#include <spirv-tools/optimizer.hpp>

extern "C" {
#include "support/reduce.h"
}

namespace {

using Values = std::unordered_map<uint32_t, std::vector<uint32_t>>;

Values values_of(const VkSpecializationInfo *specialization)
{
    Values values;
    for (uint32_t i = 0; specialization && i < specialization->mapEntryCount; i++) {
        const VkSpecializationMapEntry &entry = specialization->pMapEntries[i];
        std::vector<uint32_t> words((entry.size + 3) / 4);
        std::memcpy(words.data(), static_cast<const char *>(specialization->pData) + entry.offset,
                    entry.size);
        values[entry.constantID] = words;
    }
    return values;
}

} // namespace

bool reduce_module(const uint32_t *words, size_t count, const VkSpecializationInfo *specialization,
                   bool inlines, struct reduced *out)
try {
    using namespace spvtools;
    Optimizer optimizer(SPV_ENV_UNIVERSAL_1_6);
    OptimizerOptions options;
    options.set_run_validator(false);
    optimizer.RegisterPass(CreateSetSpecConstantDefaultValuePass(values_of(specialization)))
        .RegisterPass(CreateFreezeSpecConstantValuePass())
        .RegisterPass(CreateFoldSpecConstantOpAndCompositePass());
    if (inlines)
        optimizer.RegisterPass(CreateWrapOpKillPass())
            .RegisterPass(CreateMergeReturnPass())
            .RegisterPass(CreateInlineExhaustivePass())
            .RegisterPass(CreateEliminateDeadFunctionsPass())
            .RegisterPass(CreatePrivateToLocalPass())
            .RegisterPass(CreateScalarReplacementPass());
    optimizer.RegisterPass(CreateLocalAccessChainConvertPass())
        .RegisterPass(CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(CreateLocalSingleStoreElimPass())
        .RegisterPass(CreateSSARewritePass());
    for (int round = 0; round < 3; round++)
        optimizer.RegisterPass(CreateCCPPass()).RegisterPass(CreateDeadBranchElimPass());
    optimizer.RegisterPass(CreateAggressiveDCEPass())
        .RegisterPass(CreateEliminateDeadFunctionsPass());
    std::vector<uint32_t> reduced;
    if (!optimizer.Run(words, count, &reduced, options) || reduced.empty())
        return false;
    out->count = reduced.size();
    out->words = static_cast<uint32_t *>(std::malloc(out->count * sizeof(uint32_t)));
    if (out->words)
        std::memcpy(out->words, reduced.data(), out->count * sizeof(uint32_t));
    return out->words != nullptr;
} catch (...) {
    return false;
}
