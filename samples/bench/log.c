/* SPDX-License-Identifier: MIT */
/*
 * `log`: the cost of native fences, of logs that the GPU writes, and of traces.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "bench.h"
#include "log_overlap.h"
#include "log_trace.h"
#include "logged.h"

#define ROW_OFF_VK    "vkQueueSubmit2 that nobody logs, logs off and on"
#define ROW_OFF_BF    "bfQueueExecute, bfQueueSignal that nobody logs"
#define ROW_ON_VK     "vkQueueSubmit2 with a log reader"
#define ROW_ON_NATIVE "bfQueueExecute, bfQueueSignal with a log reader"
#define ROW_ON_FENCE  "the same of a fence that isn't native"
#define ROW_UNTIMED   "frame of 20 submissions, logged without stamps"
#define ROW_TIMED     "frame of 20 submissions, logged with stamps"
#define ROW_WORD      "from a queue's signal to a CPU that polls"
#define ROW_SIGNAL    "bfQueueSignal of a native fence, busy queue"
#define ROW_OVERLAP   "two batches that may overlap, without a trace and with"
#define ROW_BYTES     "timeline: bytes of an event on disk"
#define ROW_DROPPED   "timeline: events dropped at 200,000 a second"

static const char *const required[] = {
    ROW_OFF_VK, ROW_OFF_BF, ROW_ON_VK, ROW_ON_NATIVE, ROW_ON_FENCE, ROW_UNTIMED, ROW_TIMED,
    ROW_WORD,   ROW_SIGNAL, ROW_BYTES, ROW_DROPPED,   ROW_OVERLAP,  NULL,
};

/* The limits that this project sets itself. */
#define NOTHING_NS    10.0 /* smaller differences can't be measured */
#define CALLER_NS     150.0
#define UNTIMED_SHARE 0.1
#define TIMED_SHARE   0.02 /* beyond the driver's cost of as many empty command buffers */
#define OVERLAP_SHARE 0.1  /* of a batch that may overlap */
#define TRACE_SECONDS 3.0
#define TRACE_THREADS 4

#define REPETITIONS 25
#define FRAMES      16 /* of each kind in one repetition */
#define SUBMISSIONS 20 /* of one frame */
#define FRAME_NS    1000000u
#define POLLS       64
#define SIGNALS     64
#define BURSTS      8
#define BUSY_NS     4000000u
#define POLL_NS     UINT64_C(10000000000)

static void cost_row(struct bench_report *report, const char *name, const char *unit,
                     const struct bench_found *found, double allowance)
{
    if (found->reason[0])
        bench_row_skip(report, name, "%s", found->reason);
    else
        bench_row_cost(report, name, unit, found->plain, found->belfry, found->count, allowance);
}

static void show_row(struct bench_report *report, const char *name, const char *unit,
                     const struct bench_found *found)
{
    if (found->reason[0])
        bench_row_skip(report, name, "%s", found->reason);
    else
        bench_row_show(report, name, unit, found->plain, found->belfry, found->count);
}

/* --- the caller --- */

static void caller_rows(struct bench_report *report)
{
    static struct bench_found found;

    bench_part_run_on_icd("log-off-vk", BENCH_BELFRY, bench_icd_free, &found);
    cost_row(report, ROW_OFF_VK, "ns", &found, NOTHING_NS);
    bench_part_run_on_icd("log-off-bf", BENCH_BELFRY, bench_icd_free, &found);
    cost_row(report, ROW_OFF_BF, "ns", &found, NOTHING_NS);
    bench_part_run_on_icd("log-on-vk", BENCH_BELFRY, bench_icd_free, &found);
    cost_row(report, ROW_ON_VK, "ns", &found, CALLER_NS);
    bench_part_run_on_icd("log-on-native", BENCH_BELFRY, bench_icd_free, &found);
    cost_row(report, ROW_ON_NATIVE, "ns", &found, CALLER_NS);
    bench_part_run_on_icd("log-on-fence", BENCH_BELFRY, bench_icd_free, &found);
    show_row(report, ROW_ON_FENCE, "ns", &found);
    bench_note(report, "these are on the test driver; 'plain' is Belfry with its logs off, or "
                       "without a reader and with what the driver takes for such commands");
    bench_note(report, "%s: a signal becomes a submission, as that of a native fence is",
               ROW_ON_FENCE);
}

/* --- frames --- */

enum frame_kind { FRAME_BELFRY, FRAME_EMPTY, FRAME_LOGGED, FRAME_KINDS };

/* The duration of one frame, in ms. */
static double frame(struct logged *logged, struct bench_found *found)
{
    double unused;
    VkResult result = VK_SUCCESS;
    uint64_t begin = bench_now();
    for (int i = 0; i < SUBMISSIONS && result >= 0; ++i)
        result = logged_submit(logged, &unused);
    if (result >= 0)
        result = side_wait(&logged->side, logged->semaphore, logged->value);
    double took = (double)(bench_now() - begin) / 1e6;
    /* The log is read between frames. */
    return bench_worked(result, "a frame", found) && logged_finish(logged, found) ? took : 0;
}

/* The number of fills in a submission with which a frame takes as long as it should; 0: the reason
 * is in `found`. */
static uint32_t frame_fills(struct logged *logged, struct bench_found *found)
{
    uint32_t times = 1;
    for (int round = 0; round < 8 && !found->reason[0]; ++round) {
        struct side_filler filler;
        double least = HUGE_VAL;
        if (side_filler_create_shared(&logged->side, times, &filler, found)) {
            logged->work = filler.commands;
            for (int i = 0; i < 8 && !found->reason[0]; ++i) {
                least = fmin(least, frame(logged, found));
            }
        }
        logged->side.vk.vkDeviceWaitIdle(logged->side.device);
        side_filler_destroy(&logged->side, &filler);
        if (least >= 0.9 * FRAME_NS / 1e6)
            break;
        uint32_t wanted = (uint32_t)(times * FRAME_NS / 1e6 / (least > 0.01 ? least : 0.01)) + 1;
        times = wanted > times ? wanted : times + 1;
        if (times > SIDE_FILLER_TIMES_MOST)
            times = SIDE_FILLER_TIMES_MOST;
    }
    return found->reason[0] ? 0 : times;
}

/* Fills found[FRAME_EMPTY] and found[FRAME_LOGGED], each compared with frames without either. */
static void frames_compare(const struct bench_options *options, const char *log,
                           struct bench_found found[FRAME_KINDS])
{
    static const struct logged_options kinds[FRAME_KINDS] = {
        [FRAME_BELFRY] = {.queue = LOGGED_LAYERED},
        [FRAME_EMPTY] = {.queue = LOGGED_LAYERED, .extra = 1},
        [FRAME_LOGGED] = {.queue = LOGGED_LAYERED, .read = true},
    };
    struct logged sides[FRAME_KINDS] = {0};
    struct side_filler fillers[FRAME_KINDS] = {0};
    struct bench_found *why = &found[FRAME_LOGGED];
    uint32_t times = 0;
    for (int k = 0; k < FRAME_KINDS && !why->reason[0]; ++k) {
        struct logged_options kind = kinds[k];
        kind.log = log;
        if (!logged_open(&sides[k], &kind, options->gpu, why))
            break;
        if (!times)
            times = frame_fills(&sides[k], why);
        if (times && side_filler_create_shared(&sides[k].side, times, &fillers[k], why))
            sides[k].work = fillers[k].commands;
    }
    /* One repetition more than is counted: the first fills caches and pools. */
    for (uint32_t i = 0; i <= REPETITIONS && !why->reason[0]; ++i) {
        /* The shortest counts, because other load on the machine can only add to it. */
        double least[FRAME_KINDS] = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
        for (uint32_t f = 0; f < FRAMES * FRAME_KINDS && !why->reason[0]; ++f) {
            /* Each kind is first in its turn. */
            uint32_t kind = (f + f / FRAME_KINDS) % FRAME_KINDS;
            least[kind] = fmin(least[kind], frame(&sides[kind], why));
        }
        if (!i)
            continue;
        for (int k = FRAME_EMPTY; k < FRAME_KINDS; ++k) {
            found[k].plain[i - 1] = least[FRAME_BELFRY];
            found[k].belfry[i - 1] = least[k];
            found[k].count = REPETITIONS;
        }
    }
    for (int k = 0; k < FRAME_KINDS; ++k) {
        if (!sides[k].side.device)
            continue;
        sides[k].side.vk.vkDeviceWaitIdle(sides[k].side.device);
        side_filler_destroy(&sides[k].side, &fillers[k]);
        logged_close(&sides[k]);
    }
}

static double median(const double *samples, uint32_t count)
{
    double copy[BENCH_SAMPLES];
    memcpy(copy, samples, count * sizeof *copy);
    return bench_spread(copy, count).median;
}

static void frame_rows(const struct bench_options *options, struct bench_report *report, bool gpu)
{
    struct bench_found untimed[FRAME_KINDS] = {0}, timed[FRAME_KINDS] = {0};
    frames_compare(options, "untimed", untimed);
    const struct bench_found *f = &untimed[FRAME_LOGGED];
    cost_row(report, ROW_UNTIMED, "ms", f, UNTIMED_SHARE * median(f->plain, f->count));
    frames_compare(options, NULL, timed);
    f = &timed[FRAME_LOGGED];
    double empty =
        median(timed[FRAME_EMPTY].belfry, f->count) - median(timed[FRAME_EMPTY].plain, f->count);
    if (gpu)
        cost_row(report, ROW_TIMED, "ms", f,
                 (empty > 0 ? empty : 0) + TIMED_SHARE * median(f->plain, f->count));
    else
        show_row(report, ROW_TIMED, "ms", f);
    if (!f->reason[0])
        bench_note(report,
                   "frames: 'plain' is Belfry without a reader; %d empty command buffers more take "
                   "%+.4g ms",
                   SUBMISSIONS, empty);
}

/* --- values written by the GPU --- */

/* The time until the CPU sees the value that the queue signals, from before the call, in µs. */
static double poll_plain(struct logged *l, struct bench_found *found)
{
    double sum = 0, unused;
    for (int i = 0; i < POLLS && !found->reason[0]; ++i) {
        uint64_t value = 0, begin = bench_now();
        VkResult result = logged_submit(l, &unused);
        while (result >= 0 && value < l->value && bench_now() < begin + POLL_NS)
            result = l->side.vk.vkGetSemaphoreCounterValue(l->side.device, l->semaphore, &value);
        sum += (double)(bench_now() - begin);
        if (bench_worked(result, "polling a semaphore", found) && value < l->value)
            bench_found_nothing(found, "no signal in 10 s");
    }
    return sum / POLLS / 1e3;
}

static double poll_word(struct logged *l, const volatile uint64_t *word, struct bench_found *found)
{
    double sum = 0;
    for (int i = 0; i < POLLS && !found->reason[0]; ++i) {
        uint64_t begin = bench_now();
        VkResult result = bfQueueSignal(l->queue, l->fence, ++l->value);
        while (result >= 0 && *word < l->value && bench_now() < begin + POLL_NS)
            ;
        sum += (double)(bench_now() - begin);
        if (bench_worked(result, "bfQueueSignal", found) && *word < l->value)
            bench_found_nothing(found, "no signal in 10 s");
    }
    return sum / POLLS / 1e3;
}

static void word_row(struct bench_report *report, struct logged *plain, struct logged *native)
{
    struct bench_found found = {0};
    BfNativeFenceMapping mapping = {.sType = BF_STRUCTURE_TYPE_NATIVE_FENCE_MAPPING};
    bench_worked(bfGetNativeFenceMapping(native->fence, &mapping), "bfGetNativeFenceMapping",
                 &found);
    for (uint32_t i = 0; i < REPETITIONS && !found.reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found.reason[0]; ++turn) {
            if ((i + turn) % 2)
                found.plain[i] = poll_plain(plain, &found);
            else
                found.belfry[i] = poll_word(native, mapping.pCurrentValue, &found);
        }
    }
    found.count = REPETITIONS;
    show_row(report, ROW_WORD, "us", &found);
    bench_note(report,
               "%s: 'plain' is a timeline semaphore of the plain driver, by "
               "vkGetSemaphoreCounterValue",
               ROW_WORD);
}

/* The duration of a call that signals while the queue is busy, in ns. */
static double signals_cost(struct logged *l, VkCommandBuffer busy, struct bench_found *found)
{
    double sum = 0, took;
    VkCommandBuffer nothing = l->work;
    for (int b = 0; b < BURSTS && !found->reason[0]; ++b) {
        l->work = busy;
        VkResult result = logged_submit(l, &took);
        l->work = nothing;
        for (int i = 0; i < SIGNALS && result >= 0; ++i) {
            if (!l->queue) {
                result = logged_submit(l, &took);
            } else {
                uint64_t begin = bench_now();
                result = bfQueueSignal(l->queue, l->fence, ++l->value);
                took = (double)(bench_now() - begin);
            }
            sum += took;
        }
        if (bench_worked(result, "signals", found))
            logged_finish(l, found);
    }
    return sum / SIGNALS / BURSTS;
}

static void signal_row(struct bench_report *report, struct logged *plain, struct logged *native)
{
    struct bench_found found = {0};
    struct logged *const sides[2] = {plain, native};
    struct side_filler fillers[2] = {0};
    uint32_t times = side_filler_times(&plain->side, BUSY_NS, &found);
    for (int k = 0; k < 2 && times; ++k)
        side_filler_create_shared(&sides[k]->side, times, &fillers[k], &found);
    for (uint32_t i = 0; i < REPETITIONS && !found.reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found.reason[0]; ++turn) {
            uint32_t which = (i + turn) % 2;
            double cost = signals_cost(sides[which], fillers[which].commands, &found);
            (which ? found.belfry : found.plain)[i] = cost;
        }
    }
    for (int k = 0; k < 2; ++k) {
        sides[k]->side.vk.vkDeviceWaitIdle(sides[k]->side.device);
        side_filler_destroy(&sides[k]->side, &fillers[k]);
    }
    found.count = REPETITIONS;
    show_row(report, ROW_SIGNAL, "ns", &found);
    bench_note(
        report,
        "%s: 'plain' is vkQueueSubmit2 with an empty command buffer and a timeline semaphore",
        ROW_SIGNAL);
}

static void native_rows(const struct bench_options *options, struct bench_report *report)
{
    static const struct logged_options plain = {.queue = LOGGED_PLAIN};
    static const struct logged_options native = {.queue = LOGGED_NATIVE};
    struct logged sides[2] = {0};
    struct bench_found nothing = {0};
    if (logged_open(&sides[0], &plain, options->gpu, &nothing) &&
        logged_open(&sides[1], &native, options->gpu, &nothing)) {
        word_row(report, &sides[0], &sides[1]);
        signal_row(report, &sides[0], &sides[1]);
    } else {
        bench_row_skip(report, ROW_WORD, "%s", nothing.reason);
        bench_row_skip(report, ROW_SIGNAL, "%s", nothing.reason);
    }
    logged_close(&sides[1]);
    logged_close(&sides[0]);
}

/* --- traces --- */

static void trace_rows(struct bench_report *report)
{
    struct log_trace_found found;
    const char *folder = getenv("TMPDIR");
    if (!log_trace_measure(folder && *folder ? folder : "/tmp", TRACE_THREADS, LOG_TRACE_RATE,
                           TRACE_SECONDS, &found)) {
        bench_row_skip(report, ROW_BYTES, "no timeline could be written");
        bench_row_skip(report, ROW_DROPPED, "no timeline could be written");
        return;
    }
    const double none = 0, dropped = (double)found.dropped;
    bench_row_cost(report, ROW_BYTES, "bytes", &none, &found.bytes_per_event, 1, LOG_TRACE_GOAL);
    bench_row_cost(report, ROW_DROPPED, "events", &none, &dropped, 1, 0);
    bench_note(
        report,
        "timeline: %.0f events a second, %llu in all; a report takes %.0f ns, the longest %.3g us",
        found.rate, (unsigned long long)found.events, found.call_ns,
        (double)found.longest_ns / 1e3);
}

/* On the test driver, whose waiting query copies hold up what comes behind them, as RADV's do. */
static void overlap_row(struct bench_report *report)
{
    static struct bench_found found;
    char dispatch[64];
    const char *const settings[] = {dispatch, "BELFRY_ICD_SHAPE=q1", NULL};
    snprintf(dispatch, sizeof dispatch, "BELFRY_ICD_DISPATCH_US=%d", LOG_OVERLAP_US);
    bench_part_run_on_icd("log-overlap", BENCH_BELFRY, settings, &found);
    cost_row(report, ROW_OVERLAP, "us", &found, LOG_OVERLAP_US * OVERLAP_SHARE);
    bench_note(report, "%s: each batch takes %d us; one after the other they take twice that",
               ROW_OVERLAP, LOG_OVERLAP_US);
}

static int log_run(const struct bench_options *options, struct bench_report *report)
{
    struct bench_found nothing = {0};
    struct side side;
    bool open = side_open(&side, BENCH_PLAIN, options->gpu, 1, &nothing);
    bool gpu = open && side.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (open)
        snprintf(report->device, sizeof report->device, "%s", side.properties.deviceName);
    else if (options->gpu)
        return SAMPLE_EXIT_NO_DEVICE;
    else
        snprintf(report->device, sizeof report->device, "no device");
    side_close(&side);
    caller_rows(report);
    frame_rows(options, report, gpu);
    native_rows(options, report);
    trace_rows(report);
    overlap_row(report);
    return SAMPLE_EXIT_DONE;
}

const struct bench bench_log = {
    .name = "log",
    .purpose = "what native fences, logs of them and timelines cost",
    .run = log_run,
    .required = required,
};
