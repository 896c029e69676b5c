/* SPDX-License-Identifier: MIT */
/*
 * `doorbell`: the cost of submitting by a ring and a doorbell, compared with vkQueueSubmit2 of the
 * plain driver: of one that costs nothing, of three that cost as much as real ones do, and of the
 * device.
 */
#include <math.h>
#include <stdio.h>

#include "../common/report.h"
#include "bench.h"
#include "doorbell_part.h"
#include "side.h"

/* The limits that this project has set itself. */
#define CALLER_SHARE  0.6 /* of the reference (reference.h) */
#define DEAR_SHARE    (1 / 50.0)
#define HAND_OVER_NS  2000.0
#define PROGRAM_SHARE (1 / 10.0)

#define ROW_CALLER        "submission in a burst of 64"
#define ROW_TAIL          "the same, 99 of 100 at most"
#define ROW_EDGE          "submission that wakes the thread"
#define ROW_RATE          "submissions until complete"
#define ROW_CPU           "CPU time of 1,000 (Belfry: the thread's)"
#define ROW_AWAKE         "doorbell to driver, thread awake"
#define ROW_ASLEEP        "doorbell to driver, thread asleep"
#define ROW_CONNECT       "bfConnectDoorbell, a doorbell is free"
#define ROW_VICTIM        "bfConnectDoorbell, takes another queue's"
#define ROW_AGAIN         "submission that takes its doorbell back"
#define ROW_IDLE          "wake-ups in 1 s, nothing queued"
#define ROW_PROGRAM       "20 us a call, submit=doorbell: vkQueueSubmit2"
#define ROW_PROGRAM_EDGE  "the same that wakes the thread"
#define ROW_PROGRAM_RATE  "the same until complete"
#define ROW_DEVICE_CALLER "the device: submission in a burst of 64"
#define ROW_DEVICE_RATE   "the device: submissions until complete"

static const char *const required[] = {
    ROW_CALLER,       ROW_TAIL,         ROW_EDGE,          ROW_RATE,        ROW_CPU,  ROW_AWAKE,
    ROW_ASLEEP,       ROW_CONNECT,      ROW_VICTIM,        ROW_AGAIN,       ROW_IDLE, ROW_PROGRAM,
    ROW_PROGRAM_EDGE, ROW_PROGRAM_RATE, ROW_DEVICE_CALLER, ROW_DEVICE_RATE, NULL,
};

/* Drivers whose vkQueueSubmit2 is dear: the test driver, which takes as long. */
static const struct {
    const char *name;
    const char *settings[5];
    double caller; /* the share of the plain caller's cost that Belfry may have */
    double rate;   /* the share of the plain rate that Belfry must reach */
} dear[] = {
    {"20 us a call",
     {"BELFRY_ICD_FREE=1", "BELFRY_ICD_SHAPE=q1", "BELFRY_ICD_SUBMIT_US=20", NULL},
     DEAR_SHARE,
     2},
    {"9 us a call, 11 a command buffer",
     {"BELFRY_ICD_FREE=1", "BELFRY_ICD_SHAPE=q1", "BELFRY_ICD_SUBMIT_US=9",
      "BELFRY_ICD_BUFFER_US=11", NULL},
     INFINITY,
     1.6},
    {"28 us a command buffer",
     {"BELFRY_ICD_FREE=1", "BELFRY_ICD_SHAPE=q1", "BELFRY_ICD_BUFFER_US=28", NULL},
     INFINITY,
     1},
};

static struct bench_found found;
static const double none[DOORBELL_REPETITIONS];

/* Runs a part on the test driver. False: the rows, one or two, are skipped. */
static bool icd_part(struct bench_report *report, const char *part, const char *const *settings,
                     const char *row, const char *other)
{
    bench_part_run_on_icd(part, BENCH_BELFRY, settings, &found);
    if (!found.reason[0])
        return true;
    bench_row_skip(report, row, "%s", found.reason);
    if (other)
        bench_row_skip(report, other, "%s", found.reason);
    return false;
}

static void free_rows(struct bench_report *report)
{
    if (icd_part(report, "doorbell-caller", bench_icd_free, ROW_CALLER, NULL))
        bench_row_share(report, ROW_CALLER, "ns", found.plain, found.belfry, found.count,
                        CALLER_SHARE);
    if (icd_part(report, "doorbell-tail", bench_icd_free, ROW_TAIL, NULL))
        bench_row_show(report, ROW_TAIL, "ns", found.plain, found.belfry, found.count);
    if (icd_part(report, "doorbell-edge", bench_icd_free, ROW_EDGE, NULL))
        bench_row_show(report, ROW_EDGE, "ns", found.plain, found.belfry, found.count);
    if (icd_part(report, "doorbell-rate", bench_icd_free, ROW_RATE, NULL))
        bench_row_rate(report, ROW_RATE, "1000/s", found.plain, found.belfry, found.count, 0);
    if (icd_part(report, "doorbell-cpu", bench_icd_free, ROW_CPU, NULL))
        bench_row_show(report, ROW_CPU, "us", found.plain, found.belfry, found.count);
    if (icd_part(report, "doorbell-hand-over", bench_icd_free, ROW_AWAKE, ROW_ASLEEP)) {
        bench_row_cost(report, ROW_AWAKE, "ns", none, found.belfry, found.count, HAND_OVER_NS);
        bench_row_show(report, ROW_ASLEEP, "ns", none, found.plain, found.count);
    }
    if (icd_part(report, "doorbell-connect", bench_icd_free, ROW_CONNECT, NULL))
        bench_row_show(report, ROW_CONNECT, "ns", none, found.plain, found.count);
    if (icd_part(report, "doorbell-victim", bench_icd_free, ROW_VICTIM, ROW_AGAIN)) {
        bench_row_show(report, ROW_VICTIM, "ns", none, found.plain, found.count);
        bench_row_show(report, ROW_AGAIN, "ns", none, found.belfry, found.count);
    }
    if (icd_part(report, "doorbell-idle", bench_icd_free, ROW_IDLE, NULL))
        bench_row_cost(report, ROW_IDLE, "wake-ups", none, found.plain, 1, 0);
}

static void dear_rows(struct bench_report *report)
{
    char caller[96], rate[96];
    for (size_t i = 0; i < sizeof dear / sizeof dear[0]; ++i) {
        snprintf(caller, sizeof caller, "%s: submission in a burst", dear[i].name);
        snprintf(rate, sizeof rate, "%s: until complete", dear[i].name);
        if (icd_part(report, "doorbell-caller", dear[i].settings, caller, NULL))
            bench_row_share(report, caller, "ns", found.plain, found.belfry, found.count,
                            dear[i].caller);
        if (icd_part(report, "doorbell-rate", dear[i].settings, rate, NULL))
            bench_row_rate(report, rate, "1000/s", found.plain, found.belfry, found.count,
                           dear[i].rate);
    }
}

/* A program that doesn't know Belfry, on the first of them. */
static void program_rows(struct bench_report *report)
{
    const char *const *settings = dear[0].settings;
    if (icd_part(report, "doorbell-program-caller", settings, ROW_PROGRAM, NULL))
        bench_row_share(report, ROW_PROGRAM, "ns", found.plain, found.belfry, found.count,
                        PROGRAM_SHARE);
    if (icd_part(report, "doorbell-program-edge", settings, ROW_PROGRAM_EDGE, NULL))
        bench_row_show(report, ROW_PROGRAM_EDGE, "ns", found.plain, found.belfry, found.count);
    if (icd_part(report, "doorbell-program-rate", settings, ROW_PROGRAM_RATE, NULL))
        bench_row_rate(report, ROW_PROGRAM_RATE, "1000/s", found.plain, found.belfry, found.count,
                       1);
}

static bool device_part(struct bench_report *report, const struct bench_options *options,
                        const char *part, const char *row)
{
    bench_part_run(part, BENCH_BELFRY, options, NULL, &found);
    if (found.reason[0])
        bench_row_skip(report, row, "%s", found.reason);
    return !found.reason[0];
}

static void device_rows(struct bench_report *report, const struct bench_options *options)
{
    if (device_part(report, options, "doorbell-caller", ROW_DEVICE_CALLER))
        bench_row_show(report, ROW_DEVICE_CALLER, "ns", found.plain, found.belfry, found.count);
    if (device_part(report, options, "doorbell-rate", ROW_DEVICE_RATE))
        bench_row_rate(report, ROW_DEVICE_RATE, "1000/s", found.plain, found.belfry, found.count,
                       1);
}

static int doorbell_run(const struct bench_options *options, struct bench_report *report)
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
    free_rows(report);
    dear_rows(report);
    program_rows(report);
    device_rows(report, options);
    bench_note(report, "rows without a driver's name: the test driver, whose submit is free");
    return SAMPLE_EXIT_DONE;
}

const struct bench bench_doorbell = {
    .name = "doorbell",
    .purpose = "what a submission by ring and doorbell costs",
    .run = doorbell_run,
    .required = required,
};
