/* SPDX-License-Identifier: MIT */
/* A device that runs a compute shader and its dry-run form on the same inputs.
 *
 * Set 0: binding 0 words that are written, 1 the dry run's result, 2 words that are given, 3 a
 * storage image and 4 the same one to fetch from, of GPU_SIDE texels each way; 5 two buffers of a
 * word. Push constants: four words. */
#ifndef SPECIALIZE_DRY_RUN_GPU_H
#define SPECIALIZE_DRY_RUN_GPU_H

#include "support/device.h"

#include "gpu/driver_bug.h"
#include "specialize/dry_run/dry_run.h"

#define GPU_WORDS                                                                                  \
    256 /* that are written, and that are given; behind them as many that nobody may write */
#define GPU_SIDE    4
#define GPU_BINDING 1

/* False: there is no such device. */
bool gpu_open(void);
void gpu_close(void);
bool gpu_has_bug(enum bf_driver_bug bug);
/* Of which widths of floats it keeps signs of zeros, infinities and NaN if asked to. */
uint8_t gpu_kept_floats(void);

/* The words that are given; they stay. */
uint32_t *gpu_given(void);

VkPipeline gpu_drawing(const uint32_t *vertex, size_t vertex_count, const uint32_t *fragment,
                       size_t fragment_count);
VkPipeline gpu_pipeline(const uint32_t *words, size_t count);
VkPipeline gpu_pipeline_specialized(const uint32_t *words, size_t count,
                                    const VkSpecializationInfo *specialization);
void gpu_pipeline_end(VkPipeline pipeline);

/* One workgroup, or a triangle over the image, which the words then are. They begin as 0xa5a5a5a5,
 * the image's as 77. The result may be NULL. */
void gpu_run(VkPipeline pipeline, bool draws, const uint32_t push[4], uint32_t words[GPU_WORDS],
             struct bf_dry_run_result *result);

#endif
