/* SPDX-License-Identifier: MIT */
/*
 * The same Vulkan program twice in one process: on the plain driver, and under Belfry's layer with
 * the setting `specialize`. The code of samples and corpus calls the device functions that were
 * loaded last, so only one side is in use at a time.
 */
#ifndef BENCH_TWIN_H
#define BENCH_TWIN_H

#include <belfry/background.h>

#include "gpu.h"

#include "part.h"
#include "cache.h"
#include "variants.h"

struct twin {
    struct corpus_gpu gpus[2]; /* indexed by enum bench_side */
    bool open[2];
    enum bench_side used;
    BfDevice belfry;
    BfEvent built;
    char cache[BENCH_CACHE]; /* the layer's cache folder, which twin_close removes */
    bool specializes;
};

/* `twin` must be zeroed. Pictures of the corpus are `width` by `height`. False: the reason is in
 * `found`; twin_close must be called all the same. */
bool twin_open(struct twin *twin, const char *gpu, uint32_t width, uint32_t height,
               struct bench_found *found);
/* `variants` receives what the layer reported at its end. All objects of either side must have been
 * destroyed. */
void twin_close(struct twin *twin, struct variants *variants);

/* Makes the side the one in use. */
struct corpus_gpu *twin_use(struct twin *twin, enum bench_side side);

/* Commits the measurements, and waits until the layer has built its variants. */
VkResult twin_commit(struct twin *twin);
/* Sets that mode with KEEP_ALL; *further may be NULL. */
VkResult twin_mode(struct twin *twin, BfBackgroundProcessingMode mode, VkBool32 *further);

/* Runs work on a side: commands that are recorded in between into gpu->commands are submitted and
 * waited for. *ns is the GPU's duration of them; 0: there are no timestamps. */
VkResult twin_begin(struct corpus_gpu *gpu);
VkResult twin_end(struct corpus_gpu *gpu, double *ns);

#endif
