/* SPDX-License-Identifier: MIT */
/*
 * A part of a benchmark that needs a process of its own: another driver, or a clean address space.
 *
 * The program runs itself again with a changed environment, and the child sends one struct back
 * through a pipe.
 */
#ifndef BENCH_PART_H
#define BENCH_PART_H

#include "bench.h"

enum bench_side {
    BENCH_PLAIN,
    BENCH_BELFRY,
};

/* What a child found out. Holds no pointers: it travels as bytes. */
struct bench_found {
    double plain[BENCH_SAMPLES], belfry[BENCH_SAMPLES];
    uint32_t count;   /* of both, or of `plain` alone where the part measures one side */
    char reason[160]; /* why nothing was measured; empty when it was */
};

struct bench_part {
    const char *name;
    /* Runs in the child. */
    void (*run)(const struct bench_options *options, enum bench_side side,
                struct bench_found *found);
};

/* Looked up by the child's main. NULL when there is no such part. */
const struct bench_part *bench_part_find(const char *name);

/* Says why a part found nothing; keeps the first reason given. */
__attribute__((format(printf, 2, 3))) void bench_found_nothing(struct bench_found *found,
                                                               const char *reason, ...);

/* Runs the part in a child and waits for it. `environment` are "NAME=value" strings that are added,
 * ended by NULL; may itself be NULL. Never fails: what goes wrong is the reason in `found`. */
void bench_part_run(const char *name, enum bench_side side, const struct bench_options *options,
                    const char *const *environment, struct bench_found *found);

/* The environment of this process with `added` put in, ended by NULL. One allocation, freed by the
 * caller; the strings stay where they are. NULL when out of memory. */
char **bench_environment(const char *const *added);

/* The child's end: sends `found` to the file descriptor. Returns an exit code. */
int bench_part_send(const struct bench_found *found, int to);

#endif
