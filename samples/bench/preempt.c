/* SPDX-License-Identifier: MIT */
/*
 * `preempt`: what a queue of high priority waits for behind a flood of work on queues that share
 * its VkQueue, what it leaves them, and how they share that; beside the order of submission of the
 * plain driver.
 */
#include <stdio.h>

#include "../common/report.h"
#include "bench.h"
#include "preempt_part.h"
#include "side.h"

/* The limits that this project has set itself. */
#define START_SHARE  (1 / 20.0)
#define LEFT_SHARE   0.9
#define BUBBLE_SHARE 1.05 /* what is in flight when they come, and one overdue packet, are 0.035 */
#define FAIR_PERCENT 10.0
#define CALLER_NS    10.0 /* what the clock may hide */

#define ROW_START  "high behind 100 packets of 0.2 ms, quiet for 10 ms"
#define ROW_QUIET  "the same, quiet for 1 s"
#define ROW_AWAKE  "until a thread that waits for it is awake, quiet for 10 ms"
#define ROW_BUBBLE "100 packets of high beside a flood, until complete (plain: without)"
#define ROW_SHARE  "time that high leaves, used by low"
#define ROW_FAIR   "16 low queues: most less least executed"
#define ROW_ALONE  "one priority: 100 packets until complete"
#define ROW_CALLER "one priority: a packet's caller (left: preemption=off)"
#define DEVICE     "the device: "

#define ROWS(prefix_)                                                                              \
    prefix_ ROW_START, prefix_ ROW_QUIET, prefix_ ROW_AWAKE, prefix_ ROW_BUBBLE,                   \
        prefix_ ROW_SHARE, prefix_ ROW_FAIR, prefix_ ROW_ALONE

static const char *const required[] = {ROWS(""), ROW_CALLER, ROWS(DEVICE), NULL};

static const char *const timed[] = {"BELFRY_ICD_SHAPE=q1", "BELFRY_ICD_DISPATCH_US=200", NULL};

static struct bench_found found;

/* `options` are NULL: on the test driver. False: the row is skipped. */
static bool part(struct bench_report *report, const struct bench_options *options, const char *name,
                 const char *row)
{
    if (options)
        bench_part_run(name, BENCH_BELFRY, options, NULL, &found);
    else
        bench_part_run_on_icd(name, BENCH_BELFRY, timed, &found);
    if (found.reason[0])
        bench_row_skip(report, row, "%s", found.reason);
    return !found.reason[0];
}

static double median(const double *samples, uint32_t count)
{
    double sorted[BENCH_SAMPLES];
    for (uint32_t i = 0; i < count; ++i)
        sorted[i] = samples[i];
    return bench_spread(sorted, count).median;
}

static void rows(struct bench_report *report, const struct bench_options *options)
{
    static const char *const names[2][7] = {{ROWS("")}, {ROWS(DEVICE)}};
    const char *const *name = names[options != NULL];
    if (part(report, options, "preempt-start", name[0]))
        bench_row_share(report, name[0], "ms", found.plain, found.belfry, found.count, START_SHARE);
    if (part(report, options, "preempt-start-quiet", name[1]))
        bench_row_show(report, name[1], "ms", found.plain, found.belfry, found.count);
    if (part(report, options, "preempt-awake", name[2]))
        bench_row_show(report, name[2], "ms", found.plain, found.belfry, found.count);
    if (part(report, options, "preempt-bubble", name[3]))
        bench_row_share(report, name[3], "ms", found.plain, found.belfry, found.count,
                        BUBBLE_SHARE);
    if (part(report, options, "preempt-share", name[4]))
        bench_row_rate(report, name[4], "%", found.plain, found.belfry, found.count, LEFT_SHARE);
    if (part(report, options, "preempt-fair", name[5]))
        bench_row_value(report, name[5], "% of mean", median(found.plain, found.count),
                        median(found.belfry, found.count), FAIR_PERCENT);
    if (part(report, options, "preempt-alone", name[6]))
        bench_row_show(report, name[6], "ms", found.plain, found.belfry, found.count);
}

static int preempt_run(const struct bench_options *options, struct bench_report *report)
{
    struct side side = {0};
    struct bench_found nothing = {0};
    bool open = side_open(&side, BENCH_PLAIN, options->gpu, 1, &nothing);
    snprintf(report->device, sizeof report->device, "%s",
             open ? side.properties.deviceName : "no device");
    side_close(&side);
    if (!open && options->gpu) {
        sample_complain("%s", nothing.reason);
        return SAMPLE_EXIT_NO_DEVICE;
    }
    rows(report, NULL);
    bench_part_run_on_icd("preempt-caller", BENCH_BELFRY, bench_icd_free, &found);
    if (found.reason[0])
        bench_row_skip(report, ROW_CALLER, "%s", found.reason);
    else
        bench_row_cost(report, ROW_CALLER, "ns", found.plain, found.belfry, found.count, CALLER_NS);
    rows(report, options);
    bench_note(report, "rows without 'the device': the test driver, whose dispatches take 0.2 ms");
    return SAMPLE_EXIT_DONE;
}

const struct bench bench_preempt = {
    .name = "preempt",
    .purpose = "what a queue of high priority waits for, and what it leaves the others",
    .run = preempt_run,
    .required = required,
};
