/* SPDX-License-Identifier: MIT */
/*
 * What the layer says of the shaders that it rebuilt: its report on stderr, read back.
 */
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

enum variant_verdict { VARIANT_KEPT, VARIANT_REJECTED, VARIANT_UNJUDGED, VARIANT_QUEUED };

struct variant {
    char name[96]; /* the pipeline's, as far as it fits */
    enum variant_verdict verdict;
    char reason[32], form[16];
    double general, variant, build, check, first; /* ns */
    uint32_t mask;
    uint64_t uses, picked;
};

#define VARIANTS_MOST 1024

struct variants {
    struct variant list[VARIANTS_MOST];
    uint32_t count;
    char summary[200]; /* the report's first line; empty: there was none */
};

const char *variant_verdict_name(enum variant_verdict verdict);

/* One line of the report, with its beginning "belfry: specialize: ". False: it is about no
 * variant. */
bool variant_parse(const char *line, struct variant *variant);

/* Between the two calls whatever the process writes to stderr is kept; finish reads the variants
 * out of it and passes the other lines on. Begin returns false where that can't be had, with
 * nothing to finish. Not for several at once. */
struct variants_capture {
    int stderr_was, file;
};
bool variants_capture_begin(struct variants_capture *capture);
void variants_capture_finish(struct variants_capture *capture, struct variants *variants);

/* The first variant of that pipeline at or after *at, which is moved behind it; NULL: no more. */
const struct variant *variants_next(const struct variants *variants, const char *name,
                                    uint32_t *at);

#endif
