/* SPDX-License-Identifier: MIT */
/*
 * What is left of a module once its specialization constants have their values: SPIRV-Tools freezes
 * them, follows what that makes constant, and takes out the branches and functions that nobody
 * comes to. Nothing is inlined, merged or moved: what stays keeps its id.
 *
 * For the build helper: the optimiser can't be cancelled, and trusts the module to be valid.
 *
 * Thread-safety: safe.
 */
#ifndef BELFRY_SPECIALIZE_FREEZE_H
#define BELFRY_SPECIALIZE_FREEZE_H

#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* *out is allocated by malloc. The module is valid. Errors: VK_ERROR_INVALID_SHADER_NV (the
 * optimiser gave it up), VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_tools_freeze(const uint32_t *words, size_t count,
                         const VkSpecializationInfo *specialization, uint32_t **out,
                         size_t *out_count);

#endif
