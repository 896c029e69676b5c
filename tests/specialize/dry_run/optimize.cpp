/* SPDX-License-Identifier: MIT */
/* What spirv-opt -O makes of a module: values in place of variables, phis, code that has moved. */
#include <cstdlib>
#include <cstring>
#include <vector>

#include <spirv-tools/optimizer.hpp>

#include "program.h"

uint32_t *program_optimize(const uint32_t *words, size_t count, size_t *out_count)
{
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
    optimizer.RegisterPerformancePasses();
    std::vector<uint32_t> out;
    if (!optimizer.Run(words, count, &out))
        return nullptr;
    *out_count = out.size();
    uint32_t *copy = static_cast<uint32_t *>(std::malloc(out.size() * sizeof(*copy)));
    std::memcpy(copy, out.data(), out.size() * sizeof(*copy));
    return copy;
}
