/* SPDX-License-Identifier: MIT */
/*
 * Measures many shaders on both sides of a twin, in turns: which side is slower, and by how much.
 */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include "twin.h"

#define PAIRS_SAMPLES 40

/* The GPU's durations of the same work on either side, in ns, measured in turns. */
struct pair_times {
    double ns[2][PAIRS_SAMPLES]; /* indexed by enum bench_side */
    uint32_t count;
};

struct pair_summary {
    double median[2]; /* in ns */
    double more;      /* median of Belfry's minus plain durations, by the plain median */
    double error;     /* the standard error of `more` */
};
struct pair_summary pair_summarise(const struct pair_times *times);

/* Is Belfry slower by more than 1 % and three standard errors? */
bool pair_slower(const struct pair_summary *summary);

/* The side that is first in the next pair: random, but the same in each run. */
enum bench_side pair_first(uint32_t *random);

/* A shader of the corpus on both sides. */
struct pair {
    const struct corpus_shader *shader;
    struct corpus_pipeline pipelines[2];
    struct pair_times times;
    bool differs; /* a picture differed from the plain driver's */
    bool slower;
};

struct pairs {
    struct corpus corpus;
    struct pair *list;
    uint32_t count;
};

/* Reads the corpus that lies beside the program, and creates pipelines of all its shaders in that
 * form. `pairs` must be zeroed, and be destroyed in any case. False: the reason is in `found`. */
bool pairs_create(struct pairs *pairs, struct twin *twin, enum corpus_form form,
                  struct bench_found *found);
/* Destroys the pipelines; names and durations stay until pairs_destroy. */
void pairs_release(struct pairs *pairs, struct twin *twin);
void pairs_destroy(struct pairs *pairs);

/* Draws frame `frame` of all shaders once, on one side. */
VkResult pairs_draw(struct pairs *pairs, struct twin *twin, enum bench_side side, uint32_t frame);

/* Takes `count` samples of each shader on either side, and then as many more of those that were
 * slower, because one of a hundred is slower by chance. */
VkResult pairs_measure(struct pairs *pairs, struct twin *twin, uint32_t count);

#endif
