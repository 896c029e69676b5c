/* SPDX-License-Identifier: MIT */
/* SPIRV-Tools, from C: tools.cpp keeps its exceptions. Thread-safety: safe. */
#ifndef BELFRY_SPECIALIZE_TOOLS_H
#define BELFRY_SPECIALIZE_TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* An instruction, with the indices of those of its words that are ids, the type's among them and
 * the result's not. False: enough. */
typedef bool (*bf_tools_visit)(void *context, uint16_t opcode, uint16_t word_count, uint32_t type,
                               uint32_t result, const uint16_t *ids, uint32_t id_count);

/* Visits all instructions of a module in order. Errors: VK_ERROR_INVALID_SHADER_NV (not SPIR-V, or
 * the visitor has had enough), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_tools_parse(const uint32_t *words, size_t count, bf_tools_visit visit, void *context);

#endif
