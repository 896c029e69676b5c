/* SPDX-License-Identifier: MIT */
/*
 * Many shaders on both sides of a twin: which is slower, and by how much, when they take turns.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "twin.h"

#define PAIRS_SAMPLES 40

/* The GPU's times of one piece of work on either side, in nanoseconds, taken in turns. */
struct pair_times {
    double ns[2][PAIRS_SAMPLES]; /* by enum bench_side */
    uint32_t count;
};

struct pair_summary {
    double median[2]; /* ns */
    double more;      /* median of Belfry's less the plain one's, by the plain one's median */
    double error;     /* its standard error */
};
struct pair_summary pair_summarise(const struct pair_times *times);

/* By more than 1 % and three standard errors. */
bool pair_slower(const struct pair_summary *summary);

/* Which side goes first in the next pair: by chance, the same in each run. */
enum bench_side pair_first(uint32_t *random);

/* The corpus on both sides. */
struct pair {
    const struct corpus_shader *shader;
    struct corpus_pipeline pipelines[2];
    struct pair_times times;
    bool differs; /* some picture wasn't the plain driver's, bit by bit */
    bool slower;
};

struct pairs {
    struct corpus corpus;
    struct pair *list;
    uint32_t count;
};

/* Reads the corpus beside the program and makes pipelines of all its shaders in that form. `pairs`
 * must be zeroed; destroy it in any case. False: a reason in `found`. */
bool pairs_create(struct pairs *pairs, struct twin *twin, enum corpus_form form,
                  struct bench_found *found);
/* The pipelines go; names and times stay until pairs_destroy. */
void pairs_release(struct pairs *pairs, struct twin *twin);
void pairs_destroy(struct pairs *pairs);

/* Draws all of them once, on one side, as they are in frame `frame`. */
VkResult pairs_draw(struct pairs *pairs, struct twin *twin, enum bench_side side, uint32_t frame);

/* Measures them all `count` times on either side, and then once more those that were slower: one of
 * a hundred is that by chance. */
VkResult pairs_measure(struct pairs *pairs, struct twin *twin, uint32_t count);

#endif
