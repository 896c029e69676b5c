/* SPDX-License-Identifier: MIT */
/*
 * The variants that the layer built: its report on stderr, parsed.
 */
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H

#include <stdbool.h>
#include <stdint.h>

enum variant_verdict { VARIANT_KEPT, VARIANT_REJECTED, VARIANT_UNJUDGED, VARIANT_QUEUED };

struct variant {
    char name[96]; /* the pipeline's, possibly cut off */
    enum variant_verdict verdict;
    char reason[32], form[16];
    double general, variant, build, check, first; /* in ns */
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

/* Parses a line of the report, which begins with "belfry: specialize: ". False: it isn't about a
 * variant. */
bool variant_parse(const char *line, struct variant *variant);

/* Between the two calls, everything that the process writes to stderr is captured;
 * variants_capture_finish parses the variants in it, and passes the other lines on. If begin
 * returns false, finish must not be called. One capture at a time. */
struct variants_capture {
    int stderr_was, file;
};
bool variants_capture_begin(struct variants_capture *capture);
void variants_capture_finish(struct variants_capture *capture, struct variants *variants);

/* Finds the first variant of that pipeline at or after *at, and moves *at behind it. NULL: there
 * are no more. */
const struct variant *variants_next(const struct variants *variants, const char *name,
                                    uint32_t *at);

#endif
