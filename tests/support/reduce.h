/* SPDX-License-Identifier: MIT */
/* SPIR-V with its specialization constants frozen, and what that leaves dead taken out, by
 * SPIRV-Tools; no arithmetic with floats becomes another, but for what is constant. */
#ifndef BELFRY_TESTS_SUPPORT_REDUCE_H
#define BELFRY_TESTS_SUPPORT_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

struct reduced {
    uint32_t *words; /* free it */
    size_t count;
};

/* 'inlines': calls too. The module is valid. False: SPIRV-Tools gave it up, or out of memory. */
bool reduce_module(const uint32_t *words, size_t count, const VkSpecializationInfo *specialization,
                   bool inlines, struct reduced *out);

#endif
