/* SPDX-License-Identifier: MIT */
/*
 * What the stages of a pipeline have to do with each other: a fragment shader's inputs are what the
 * vertex shader has computed, and what one writes to memory the other may read. (dry_run.h, FU-6)
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_STAGES_H
#define BELFRY_SPECIALIZE_STAGES_H

#include "specialize/dry_run/dry_run.h"

struct bf_stages {
    struct bf_shader **shaders; /* of each stage */
    uint32_t count, last;       /* the stage that runs last */
    struct bf_dry_run_binding *written;
    struct bf_dry_run_stages described;
};

/* The words stay as long as the stages. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. Close it in any
 * case. */
VkResult bf_stages_open(const struct bf_shader_info *infos, uint32_t count,
                        struct bf_stages *stages);
void bf_stages_close(struct bf_stages *stages);

/* The n-th to run. */
uint32_t bf_stages_nth(const struct bf_stages *stages, uint32_t n);

/* Of stage i; runs[] has those that run before it. Good until the next call. */
const struct bf_dry_run_stages *bf_stages_describe(struct bf_stages *stages, uint32_t i,
                                                   const struct bf_dry_run *runs);

#endif
