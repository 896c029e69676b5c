/* SPDX-License-Identifier: MIT */
/* Which points of a shader of the table have to be come to where the integer 'mode' is folded as 1,
 * the first push constant, and the float 'k' as 2, the second; a third, 3, isn't folded. */
#ifndef SPECIALIZE_DRY_RUN_NEEDED_OF_H
#define SPECIALIZE_DRY_RUN_NEEDED_OF_H

#include "../shader/helper.h"

#include "specialize/dry_run/needed.h"

struct needed_of {
    const uint32_t *words;
    size_t word_count;
    struct bf_dry_run run;
    bool *needed, *beyond; /* [run.point_count] */
    uint32_t sources;
};

void needed_open(struct needed_of *n, const char *shader);
/* The same of any words, which stay. */
void needed_open_words(struct needed_of *n, const uint32_t *words, size_t count,
                       VkShaderStageFlagBits stage);
void needed_close(struct needed_of *n);

#endif
