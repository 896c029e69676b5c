/* SPDX-License-Identifier: MIT */
/*
 * The same Vulkan program twice in one process: on the plain driver, and under Belfry's layer with
 * `specialize` on. What the samples and the corpus share calls the device functions that were
 * loaded last, so one side at a time is in use.
 */
#ifndef BENCH_TWIN_H
#define BENCH_TWIN_H

#include <belfry/background.h>

#include "gpu.h"

#include "part.h"
#include "variants.h"

struct twin {
    struct corpus_gpu gpus[2]; /* by enum bench_side */
    bool open[2];
    enum bench_side used;
    BfDevice belfry;
    BfEvent built;
    char cache[64]; /* the layer's folder; ours to remove */
    bool specializes;
};

/* `twin` must be zeroed. Pictures of the corpus are width by height. False: a reason in `found`;
 * close it all the same. */
bool twin_open(struct twin *twin, const char *gpu, uint32_t width, uint32_t height,
               struct bench_found *found);
/* What the layer reported at its end is in `variants`. Whatever lives on either side must be
 * gone. */
void twin_close(struct twin *twin, struct variants *variants);

/* From here on calls go to that side. */
struct corpus_gpu *twin_use(struct twin *twin, enum bench_side side);

/* Has the layer build what it has seen, and waits until it has. */
VkResult twin_commit(struct twin *twin);
/* KEEP_ALL in that mode; *further may be NULL. */
VkResult twin_mode(struct twin *twin, BfBackgroundProcessingMode mode, VkBool32 *further);

/* Work of their own on a side: what is recorded in between into gpu->commands is submitted and
 * waited for. *ns is the GPU's time for it; 0 where it has no timestamps. */
VkResult twin_begin(struct corpus_gpu *gpu);
VkResult twin_end(struct corpus_gpu *gpu, double *ns);

#endif
