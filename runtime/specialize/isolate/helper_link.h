/* SPDX-License-Identifier: MIT */
/* Links a graphics pipeline in the build helper as the program did (IS-10). For one thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_LINK_H
#define BELFRY_SPECIALIZE_HELPER_LINK_H

#include "specialize/isolate/helper_check.h"

/* A request with links, whose stages have their modules and whose pipeline has its sets, layout and
 * pass. Errors: VK_ERROR_OUT_OF_HOST_MEMORY, and the driver's. */
VkResult helper_pipeline_link(const struct bf_gpu *gpu, const struct bf_wire_build *build,
                              struct helper_pipeline *pipeline);
/* Destroys what the pipeline was linked from, also after errors. */
void helper_pipeline_unlink(const struct bf_gpu *gpu, struct helper_pipeline *pipeline);

#endif
