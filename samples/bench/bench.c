/* SPDX-License-Identifier: MIT */
/* What all benchmarks share: rows, their verdicts, tables and JSON. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/report.h"

uint64_t bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    if (pthread_create(thread, NULL, run, argument)) {
        sample_complain("no more threads");
        exit(SAMPLE_EXIT_FAILED);
    }
}

static int number_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

struct bench_spread bench_spread(double *samples, size_t count)
{
    if (!count)
        return (struct bench_spread){0, 0, 0};
    qsort(samples, count, sizeof *samples, number_compare);
    return (struct bench_spread){
        quantile(samples, count, 0.25),
        quantile(samples, count, 0.5),
        quantile(samples, count, 0.75),
    };
}

/* --- rows --- */

static struct bench_row *row_add(struct bench_report *report, const char *name)
{
    if (report->row_count == BENCH_ROWS) {
        sample_complain("more than %d rows", BENCH_ROWS);
        abort();
    }
    struct bench_row *row = &report->rows[report->row_count++];
    *row = (struct bench_row){0};
    snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static double ratio(double belfry, double plain)
{
    if (plain == 0)
        return belfry == 0 ? 1 : INFINITY;
    return belfry / plain;
}

static double median(const double *samples, size_t count)
{
    double copy[BENCH_SAMPLES];
    memcpy(copy, samples, count * sizeof *copy);
    return bench_spread(copy, count).median;
}

void bench_row_cost(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double allowance)
{
    struct bench_row *row = row_add(report, name);
    double more[BENCH_SAMPLES];
    if (count > BENCH_SAMPLES)
        count = BENCH_SAMPLES;
    for (size_t i = 0; i < count; ++i)
        more[i] = belfry[i] - plain[i];
    struct bench_spread spread = bench_spread(more, count);

    snprintf(row->unit, sizeof row->unit, "%s", unit);
    row->plain = median(plain, count);
    row->belfry = median(belfry, count);
    row->ratio = ratio(row->belfry, row->plain);
    row->goal = row->plain + allowance;
    row->met = spread.median <= allowance && spread.low <= allowance;
    bench_note(report, "%s: %+.4g %s (quartiles %+.4g, %+.4g; %zu repetitions)", name,
               spread.median, unit, spread.low, spread.high, count);
}

void bench_row_show(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count)
{
    bench_row_cost(report, name, unit, plain, belfry, count, INFINITY);
}

enum ratio_goal { AT_LEAST, AT_MOST, TIE };

static bool ratio_meets(const struct bench_spread *spread, double share, enum ratio_goal goal)
{
    switch (goal) {
    case AT_LEAST:
        return spread->median >= share && spread->low >= share;
    case AT_MOST:
        return spread->median <= share && spread->low <= share;
    default:
        return spread->high >= share;
    }
}

/* Adds a row whose sides are compared by their ratio. */
static void row_ratio(struct bench_report *report, const char *name, const char *unit,
                      const double *plain, const double *belfry, size_t count, double share,
                      enum ratio_goal goal)
{
    struct bench_row *row = row_add(report, name);
    double parts[BENCH_SAMPLES];
    if (count > BENCH_SAMPLES)
        count = BENCH_SAMPLES;
    for (size_t i = 0; i < count; ++i)
        parts[i] = ratio(belfry[i], plain[i]);
    struct bench_spread spread = bench_spread(parts, count);

    snprintf(row->unit, sizeof row->unit, "%s", unit);
    row->plain = median(plain, count);
    row->belfry = median(belfry, count);
    row->ratio = ratio(row->belfry, row->plain);
    row->goal = row->plain * share;
    row->met = ratio_meets(&spread, share, goal);
    bench_note(report, "%s: %.3f times (quartiles %.3f, %.3f; %zu repetitions)", name,
               spread.median, spread.low, spread.high, count);
}

void bench_row_rate(struct bench_report *report, const char *name, const char *unit,
                    const double *plain, const double *belfry, size_t count, double share)
{
    row_ratio(report, name, unit, plain, belfry, count, share, AT_LEAST);
}

void bench_row_share(struct bench_report *report, const char *name, const char *unit,
                     const double *plain, const double *belfry, size_t count, double share)
{
    row_ratio(report, name, unit, plain, belfry, count, share, AT_MOST);
}

void bench_row_tie(struct bench_report *report, const char *name, const char *unit,
                   const double *plain, const double *belfry, size_t count)
{
    row_ratio(report, name, unit, plain, belfry, count, 1, TIE);
}

void bench_row_value(struct bench_report *report, const char *name, const char *unit, double plain,
                     double belfry, double goal)
{
    struct bench_row *row = row_add(report, name);
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    row->plain = plain;
    row->belfry = belfry;
    row->ratio = ratio(belfry, plain);
    row->goal = goal;
    row->met = belfry <= goal;
}

void bench_row_skip(struct bench_report *report, const char *name, const char *reason, ...)
{
    struct bench_row *row = row_add(report, name);
    va_list arguments;
    va_start(arguments, reason);
    vsnprintf(row->reason, sizeof row->reason, reason, arguments);
    va_end(arguments);
    if (!row->reason[0])
        snprintf(row->reason, sizeof row->reason, "no reason given");
}

void bench_note(struct bench_report *report, const char *format, ...)
{
    if (report->note_count == BENCH_NOTES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->notes[report->note_count], sizeof report->notes[0], format, arguments);
    va_end(arguments);
    ++report->note_count;
}

/* --- output --- */

/* Four significant figures: the measurements are no more precise. */
static const char *figure(double value, char text[24])
{
    double size = fabs(value);
    if (isinf(value))
        snprintf(text, 24, "-");
    else if (value == floor(value) && size < 1e9)
        snprintf(text, 24, "%.0f", value);
    else
        snprintf(text, 24, "%.*f", size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3, value);
    return text;
}

void bench_print(const struct bench *bench, const struct bench_report *report, FILE *to)
{
    int width = 4;
    for (uint32_t i = 0; i < report->row_count; ++i) {
        int length = (int)strlen(report->rows[i].name);
        if (!report->rows[i].reason[0] && length > width)
            width = length;
    }
    fprintf(to, "%s on %s: %s\n\n", bench->name, report->device, bench->purpose);
    fprintf(to, "%-*s  %-9s %10s %10s %8s %10s\n", width, "name", "unit", "plain", "Belfry",
            "ratio", "goal");
    for (uint32_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        char plain[24], belfry[24], times[24], goal[24];
        if (row->reason[0])
            continue;
        fprintf(to, "%-*s  %-9s %10s %10s %8s %10s  %s\n", width, row->name, row->unit,
                figure(row->plain, plain), figure(row->belfry, belfry), figure(row->ratio, times),
                figure(row->goal, goal),
                isinf(row->goal) ? "shown"
                : row->met       ? "met"
                                 : "missed");
    }
    fputc('\n', to);
    for (uint32_t i = 0; i < report->note_count; ++i)
        fprintf(to, "  %s\n", report->notes[i]);
    for (uint32_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        if (row->reason[0])
            fprintf(to, "  not measured: %s: %s\n", row->name, row->reason);
    }
    fprintf(to, "  lavapipe must have:");
    for (uint32_t i = 0; bench->required[i]; ++i)
        fprintf(to, "%s %s", i ? ";" : "", bench->required[i]);
    fputc('\n', to);
}

static void json_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (const char *at = text; *at; ++at) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20)
            fprintf(to, "\\u%04x", c);
        else
            fputc(c, to);
    }
    fputc('"', to);
}

/* JSON has no infinity: an infinite ratio is written as null. */
static void json_number(FILE *to, const char *key, double value)
{
    if (isfinite(value))
        fprintf(to, ", \"%s\": %.10g", key, value);
    else
        fprintf(to, ", \"%s\": null", key);
}

bool bench_json_write(const struct bench_report *report, const char *path)
{
    char draft[4096];
    if ((size_t)snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid()) >= sizeof draft) {
        sample_complain("--json: the path is too long");
        return false;
    }
    FILE *to = fopen(draft, "w");
    if (!to) {
        sample_complain("cannot write %s: %s", draft, strerror(errno));
        return false;
    }
    bool first = true;
    fputc('[', to);
    for (uint32_t i = 0; i < report->row_count; ++i) {
        const struct bench_row *row = &report->rows[i];
        if (row->reason[0])
            continue;
        fputs(first ? "\n  {\"name\": " : ",\n  {\"name\": ", to);
        first = false;
        json_string(to, row->name);
        fputs(", \"unit\": ", to);
        json_string(to, row->unit);
        json_number(to, "plain", row->plain);
        json_number(to, "belfry", row->belfry);
        json_number(to, "ratio", row->ratio);
        json_number(to, "goal", row->goal);
        fprintf(to, ", \"met\": %s}", row->met ? "true" : "false");
    }
    fputs(first ? "]\n" : "\n]\n", to);
    bool good = !ferror(to);
    if (fclose(to))
        good = false;
    if (good && rename(draft, path))
        good = false;
    if (!good) {
        sample_complain("cannot write %s: %s", path, strerror(errno));
        unlink(draft);
    }
    return good;
}

bool bench_complete(const struct bench *bench, const struct bench_report *report)
{
    bool complete = true;
    for (uint32_t i = 0; bench->required[i]; ++i) {
        bool found = false;
        for (uint32_t r = 0; r < report->row_count; ++r)
            found |=
                !strcmp(report->rows[r].name, bench->required[i]) && !report->rows[r].reason[0];
        if (!found)
            sample_complain("the row '%s' is required, and was not measured", bench->required[i]);
        complete &= found;
    }
    return complete;
}
