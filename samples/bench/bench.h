/* SPDX-License-Identifier: MIT */
/*
 * What every benchmark shares: rows, how they are judged, and how they are shown.
 *
 * A benchmark compares the plain driver with Belfry in one run, interleaved: it repeats a
 * measurement of both, and each repetition yields one number for either. The row holds the medians;
 * `met` asks that the median of the repetitions meets the goal and their lower quartile as well.
 *
 * Nothing here is safe to call from several threads at once.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_ROWS    512
#define BENCH_NOTES   1536
#define BENCH_SAMPLES 64 /* repetitions of one measurement, at most */

struct bench_row {
    char name[96];
    char unit[16];
    double plain, belfry; /* in `unit` */
    double ratio;         /* belfry / plain; 1 when both are 0, infinite when plain alone is */
    double goal;          /* the limit for `belfry`, in `unit`; infinite: there is none */
    bool met;
    char reason[160]; /* why it can't be measured here; empty when it was */
};

struct bench_report {
    struct bench_row rows[BENCH_ROWS];
    uint32_t row_count;
    char notes[BENCH_NOTES][200]; /* printed under the table */
    uint32_t note_count;
    char device[256]; /* what was measured on, for the heading */
};

struct bench_options {
    const char *gpu;  /* part of a device's name in any case; NULL for the first device */
    const char *form; /* `specialize`: the one form to measure, "compute" or "pass"; NULL: both */
};

struct bench {
    const char *name;
    const char *purpose;
    /* Fills the report. Returns an exit code of samples/common/report.h, having complained. A row
     * that this machine can't have is no error: bench_row_skip. */
    int (*run)(const struct bench_options *options, struct bench_report *report);
    /* The rows that must be measured where lavapipe is installed; NULL ends the list. */
    const char *const *required;
};

/* --- statistics --- */

struct bench_spread {
    double low, median, high; /* quartiles */
};

/* Sorts `samples`; the quartiles lie between samples where the count asks for it. */
struct bench_spread bench_spread(double *samples, size_t count);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t bench_now(void);

/* --- rows --- */

/* A cost: belfry may be above plain by `allowance`, compared repetition by repetition. */
void bench_row_cost(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double allowance);

/* A rate: belfry must be at least `share` of plain, compared repetition by repetition. */
void bench_row_rate(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double share);

/* A cost without a limit: the row is there to be looked at. */
void bench_row_show(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count);

/* Numbers that were measured and judged elsewhere: met if Belfry's is not above the goal. */
void bench_row_value(struct bench_report *report, const char *name, const char *unit, double plain,
                     double belfry, double goal);

__attribute__((format(printf, 3, 4))) void
bench_row_skip(struct bench_report *report, const char *name, const char *reason, ...);

__attribute__((format(printf, 2, 3))) void bench_note(struct bench_report *report,
                                                      const char *format, ...);

/* --- output --- */

void bench_print(const struct bench *bench, const struct bench_report *report, FILE *to);

/* Writes the measured rows as a JSON array; the file appears whole or not at all. Returns false,
 * having complained. */
bool bench_json_write(const struct bench_report *report, const char *path);

/* Whether all required rows were measured; complains of each that was not. */
bool bench_complete(const struct bench *bench, const struct bench_report *report);

/* --- the benchmarks --- */

extern const struct bench bench_submit, bench_fence, bench_log, bench_background, bench_record,
    bench_specialize;

#endif
