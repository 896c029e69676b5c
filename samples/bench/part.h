/* SPDX-License-Identifier: MIT */
/*
 * Parts of a benchmark that need a process of their own, because they use another driver or must
 * begin with an unused address space.
 *
 * The program runs itself again with a changed environment, and the child sends one struct back
 * through a pipe.
 */
#ifndef BENCH_PART_H
#define BENCH_PART_H

#include <vulkan/vulkan_core.h>

#include "bench.h"

enum bench_side {
    BENCH_PLAIN,
    BENCH_BELFRY,
};

/* The results of a child. They have no pointers, because they are sent as bytes. */
struct bench_found {
    double plain[BENCH_SAMPLES], belfry[BENCH_SAMPLES];
    uint32_t count;   /* values in both, or in `plain` alone if the part measures one side */
    char reason[160]; /* why nothing was measured; empty: something was */
};

struct bench_part {
    const char *name;
    /* Called in the child. */
    void (*run)(const struct bench_options *options, enum bench_side side,
                struct bench_found *found);
};

/* For the child's main. NULL: there is no such part. */
const struct bench_part *bench_part_find(const char *name);

/* Notes why a part measured nothing; a reason that was noted before is kept. */
__attribute__((format(printf, 2, 3))) void bench_found_nothing(struct bench_found *found,
                                                               const char *reason, ...);

/* Did the call succeed? If not, its name and result become the reason in `found`. */
bool bench_worked(VkResult result, const char *what, struct bench_found *found);

/* Runs the part in a child and waits for it. `environment` is a list of "NAME=value" strings to be
 * added, ended by NULL; or NULL. Never fails: an error becomes the reason in `found`. */
void bench_part_run(const char *name, enum bench_side side, const struct bench_options *options,
                    const char *const *environment, struct bench_found *found);

/* This process's environment with the strings of `added`, ended by NULL. It is one allocation, for
 * the caller to free; the strings aren't copied. NULL: out of memory. */
char **bench_environment(const char *const *added);

/* For the child: sends `found` to the file descriptor. Returns an exit code. */
int bench_part_send(const struct bench_found *found, int to);

/* Runs a part on the test driver, which 'settings' set up: "NAME=value" of its environment, ended
 * by NULL, at most 6. */
void bench_part_run_on_icd(const char *name, enum bench_side side, const char *const *settings,
                           struct bench_found *found);

/* The settings of a driver without threads and with one queue, whose calls cost next to nothing. */
extern const char *const bench_icd_free[];

#endif
