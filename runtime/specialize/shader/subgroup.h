/* SPDX-License-Identifier: MIT */
/*
 * Whether a stage can tell that its subgroups have another size than before.
 *
 *  SZ-1  Where a driver may choose the size of subgroups for each pipeline, one whose stages can
 *        tell which it chose has no variants: nothing says that a variant would get the same. That
 *        is so with ALLOW_VARYING_SUBGROUP_SIZE, and for modules of SPIR-V 1.6 or newer, unless the
 *        program requires a size; else Vulkan promises the device's subgroupSize
 *        (VkPipelineShaderStageCreateInfo).
 *
 * Thread-safety: safe.
 *
 * Proven by tests/specialize/shader/subgroup.c, and tests/specialize/isolate/faults.c.
 */
#ifndef BELFRY_SPECIALIZE_SUBGROUP_H
#define BELFRY_SPECIALIZE_SUBGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

/* May the stage, of a module of those words, run with subgroups of another size in another
 * pipeline, on a device that has several, and tell? Any words are survived. */
bool bf_subgroup_size_may_differ(const VkPipelineShaderStageCreateInfo *stage,
                                 const uint32_t *words, size_t count);

#endif
