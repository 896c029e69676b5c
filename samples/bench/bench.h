/* SPDX-License-Identifier: MIT */
/*
 * What all benchmarks share: rows, their verdicts, and their output.
 *
 * A benchmark compares the plain driver with Belfry in one run, in turns: each repetition measures
 * both, and yields a number for each. A row has the medians; `met` requires that the goal is met by
 * the median of the repetitions and by their lower quartile.
 *
 * None of this may be called by several threads at once.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_ROWS    512
#define BENCH_NOTES   1536
#define BENCH_SAMPLES 64 /* most repetitions of one measurement */

struct bench_row {
    char name[96];
    char unit[16];
    double plain, belfry; /* in `unit` */
    double ratio;         /* belfry / plain; 1 if both are 0, infinite if only plain is */
    double goal;          /* the limit for `belfry`, in `unit`; infinite: no limit */
    bool met;
    char reason[160]; /* why it can't be measured here; empty: it was */
};

struct bench_report {
    struct bench_row rows[BENCH_ROWS];
    uint32_t row_count;
    char notes[BENCH_NOTES][200]; /* printed under the table */
    uint32_t note_count;
    char device[256]; /* the device, for the heading */
};

struct bench_options {
    const char *gpu;  /* part of a device's name, in upper or lower case; NULL: the first device */
    const char *form; /* `specialize`: "compute", "pass" or "hostile" alone; NULL: all */
};

struct bench {
    const char *name;
    const char *purpose;
    /* Measures, and fills the report. Returns an exit code of samples/common/report.h; errors have
     * been reported. A row that can't be measured on this machine is no error: bench_row_skip. */
    int (*run)(const struct bench_options *options, struct bench_report *report);
    /* Rows that must be measured if lavapipe is installed; NULL ends the list. */
    const char *const *required;
};

/* --- statistics --- */

struct bench_spread {
    double low, median, high; /* quartiles */
};

/* Sorts `samples`. If the count requires it, quartiles are interpolated. */
struct bench_spread bench_spread(double *samples, size_t count);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t bench_now(void);

/* Starts a thread; without threads the program ends, with a message: others may wait for this
 * one. */
void bench_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/* --- rows --- */

/* Adds a row for a cost: belfry may exceed plain by `allowance`, compared by repetition. */
void bench_row_cost(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double allowance);

/* Adds a row for a rate: belfry must be at least `share` of plain, compared by repetition. */
void bench_row_rate(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double share);

/* Adds a row for a rate: belfry must tie with plain or be better. It is worse if the quartiles of
 * what it is of plain, by repetition, are both below 1. */
void bench_row_tie(struct bench_report *report, const char *name, const char *unit,
                   const double *plain, const double *belfry, size_t count);

/* Adds a row for a cost: belfry must be at most `share` of plain, compared by repetition. */
void bench_row_share(struct bench_report *report, const char *name, const char *unit,
                     const double *plain, const double *belfry, size_t count, double share);

/* Adds a row for a cost without a limit. */
void bench_row_show(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count);

/* Adds a row of numbers that were measured elsewhere: met if Belfry's doesn't exceed the goal. */
void bench_row_value(struct bench_report *report, const char *name, const char *unit, double plain,
                     double belfry, double goal);

__attribute__((format(printf, 3, 4))) void
bench_row_skip(struct bench_report *report, const char *name, const char *reason, ...);

__attribute__((format(printf, 2, 3))) void bench_note(struct bench_report *report,
                                                      const char *format, ...);

/* --- output --- */

void bench_print(const struct bench *bench, const struct bench_report *report, FILE *to);

/* Writes the measured rows as a JSON array; the file is replaced as a whole. False: it failed, and
 * the error has been reported. */
bool bench_json_write(const struct bench_report *report, const char *path);

/* Were all required rows measured? Reports those that were not. */
bool bench_complete(const struct bench *bench, const struct bench_report *report);

/* --- the benchmarks --- */

extern const struct bench bench_submit, bench_fence, bench_log, bench_background, bench_record,
    bench_specialize, bench_doorbell, bench_preempt;

#endif
