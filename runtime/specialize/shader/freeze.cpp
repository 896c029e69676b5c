/* SPDX-License-Identifier: MIT */
/* SPIRV-Tools' optimiser, as far as it tells what specialization leaves of a module: its C++
 * exceptions end here. */
#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>
#include <vector>

#include <spirv-tools/optimizer.hpp>

extern "C" {
#include "specialize/shader/freeze.h"
}

namespace {

using Values = std::unordered_map<uint32_t, std::vector<uint32_t>>;

/* Whole words, as the pass wants them. */
Values values_of(const VkSpecializationInfo *specialization)
{
    Values values;
    for (uint32_t i = 0; specialization && i < specialization->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &specialization->pMapEntries[i];
        std::vector<uint32_t> words((entry->size + 3) / 4);
        if (words.empty() || entry->offset > specialization->dataSize ||
            entry->size > specialization->dataSize - entry->offset)
            continue;
        std::memcpy(words.data(), static_cast<const char *>(specialization->pData) + entry->offset,
                    entry->size);
        values[entry->constantID] = words;
    }
    return values;
}

void passes_register(spvtools::Optimizer &optimizer, const VkSpecializationInfo *specialization)
{
    using namespace spvtools;
    optimizer.RegisterPass(CreateSetSpecConstantDefaultValuePass(values_of(specialization)))
        .RegisterPass(CreateFreezeSpecConstantValuePass())
        .RegisterPass(CreateFoldSpecConstantOpAndCompositePass())
        .RegisterPass(CreateLocalAccessChainConvertPass())
        .RegisterPass(CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(CreateLocalSingleStoreElimPass())
        .RegisterPass(CreateSSARewritePass());
    /* What is dead behind one condition may make another constant. */
    for (int round = 0; round < 2; round++)
        optimizer.RegisterPass(CreateCCPPass())
            .RegisterPass(CreateSimplificationPass())
            .RegisterPass(CreateDeadBranchElimPass());
    optimizer.RegisterPass(CreateEliminateDeadFunctionsPass());
}

} // namespace

VkResult bf_tools_freeze(const uint32_t *words, size_t count,
                         const VkSpecializationInfo *specialization, uint32_t **out,
                         size_t *out_count)
{
    *out = nullptr;
    *out_count = 0;
    try {
        spvtools::Optimizer optimizer(SPV_ENV_UNIVERSAL_1_6);
        spvtools::OptimizerOptions options;
        options.set_run_validator(false);
        passes_register(optimizer, specialization);
        std::vector<uint32_t> left;
        if (!optimizer.Run(words, count, &left, options) || left.empty())
            return VK_ERROR_INVALID_SHADER_NV;
        *out = static_cast<uint32_t *>(std::malloc(left.size() * sizeof(uint32_t)));
        if (!*out)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        std::memcpy(*out, left.data(), left.size() * sizeof(uint32_t));
        *out_count = left.size();
        return VK_SUCCESS;
    } catch (const std::bad_alloc &) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    } catch (...) {
        return VK_ERROR_INVALID_SHADER_NV;
    }
}
