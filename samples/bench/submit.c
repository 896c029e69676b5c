/* SPDX-License-Identifier: MIT */
/*
 * `submit`: the cost of a submission to its caller, and what Belfry costs a process that does
 * nothing.
 */
#include <string.h>

#include "../common/report.h"
#include "doorbell_part.h"
#include "doorbell_program.h"
#include "footprint.h"
#include "lane.h"
#include "link.h"
#include "log_caller.h"
#include "log_overlap.h"
#include "preempt_part.h"
#include "present.h"
#include "create.h"
#include "frames.h"
#include "loss.h"
#include "record.h"
#include "reference.h"
#include "side.h"
#include "told.h"

/* The limits that this project has set itself. */
#define CALLER_SHARE  1.5 /* of the reference (reference.h), more than the plain driver */
#define MEMORY_MIB    8.0
#define WATCHED_SHARE 0.1 /* of the reference: what a watchdog, or TDR, adds */

#define ROW_ONE      "vkQueueSubmit2, one queue of one"
#define ROW_SHARED   "vkQueueSubmit2, one queue of four"
#define ROW_EPOCH    "of which a second signal (plain driver alone)"
#define ROW_ICD      "vkQueueSubmit2, test driver's free submit"
#define ROW_ICD_PAIR "of which a second signal (test driver alone)"
#define ROW_THREADS  "4 threads on 4 queues, until finished"
#define ROW_LATE     "held packets not at the driver when released"
#define ROW_WATCHED  "vkQueueSubmit2 with a watchdog, test driver (plain: Belfry without)"
#define ROW_TDR      "bfQueueExecute, bfQueueSignal with TDR, test driver (plain: without)"
#define ROW_PERIOD   "wake-ups of the watchdog a period, work outstanding"
#define ROW_REST     "wake-ups of the watchdog in 1 s, at rest"
#define ROW_IDLE     "wake-ups of an idle process in 1 s"
#define ROW_MEMORY   "private dirty memory, 16 queues"
#define ROW_VKCUBE   "private dirty memory, vkcube on lavapipe"

static const char *const required[] = {
    ROW_ONE,    ROW_SHARED, ROW_EPOCH, ROW_ICD,    ROW_THREADS,  ROW_LATE,  ROW_WATCHED, ROW_TDR,
    ROW_PERIOD, ROW_REST,   ROW_IDLE,  ROW_MEMORY, PRESENT_ROWS, LOSS_ROWS, TOLD_ROWS,   NULL,
};

/* --- one caller --- */

/* Compares a submission on `plain` with one on `belfry`, both otherwise idle. */
static void caller_compare(struct side *plain, struct side *belfry, uint32_t filler_times,
                           struct lane_cost *cost, struct bench_found *found)
{
    struct lane lanes[2] = {0};
    if (lane_open(&lanes[0], plain, 1, filler_times, found) &&
        lane_open(&lanes[1], belfry, 1, filler_times, found))
        lane_compare(&lanes[0], &lanes[1], cost, found);
    lane_close(&lanes[1]);
    lane_close(&lanes[0]);
}

/* Compares one signal with two on the same device, which is the cost of an epoch's signal. */
static void signals_compare(struct side *side, uint32_t filler_times, struct lane_cost *cost,
                            struct bench_found *found)
{
    struct lane lanes[2] = {0};
    if (lane_open(&lanes[0], side, 1, filler_times, found) &&
        lane_open(&lanes[1], side, 2, filler_times, found))
        lane_compare(&lanes[0], &lanes[1], cost, found);
    lane_close(&lanes[1]);
    lane_close(&lanes[0]);
}

static void caller_row(struct bench_report *report, const char *name,
                       const struct bench_found *found, const struct lane_cost *cost)
{
    if (found->reason[0]) {
        bench_row_skip(report, name, "%s", found->reason);
        return;
    }
    bench_row_cost(report, name, "ns", found->plain, found->belfry, found->count,
                   CALLER_SHARE * bench_reference(NULL));
    if (cost)
        bench_note(report, "%s: the call that opens a burst: plain %.0f, Belfry %.0f ns", name,
                   cost->first[0], cost->first[1]);
}

/* --- four callers --- */

#define THREADS             4
#define THREADS_SUBMITS     1024
#define THREADS_REPETITIONS 20
#define THREADS_ROUNDS      8 /* of both sides in turns, in one repetition */

struct caller {
    pthread_t thread;
    struct side *side;
    VkQueue queue;
    pthread_mutex_t *lock; /* NULL: no other thread uses the queue */
    pthread_barrier_t *start;
    VkSemaphore semaphore;
    VkSemaphore second; /* signalled as well, unless it is null */
    uint64_t value;
    VkResult result;
};

static void *caller_run(void *data)
{
    struct caller *caller = data;
    pthread_barrier_wait(caller->start);
    for (int i = 0; i < THREADS_SUBMITS && caller->result >= 0; ++i) {
        VkSemaphoreSubmitInfo signals[2] = {{
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = caller->semaphore,
            .value = ++caller->value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        }};
        signals[1] = signals[0];
        signals[1].semaphore = caller->second;
        const VkCommandBufferSubmitInfo commands = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
            .commandBuffer = caller->side->commands,
        };
        const VkSubmitInfo2 info = {
            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
            .commandBufferInfoCount = 1,
            .pCommandBufferInfos = &commands,
            .signalSemaphoreInfoCount = caller->second ? 2 : 1,
            .pSignalSemaphoreInfos = signals,
        };
        if (caller->lock)
            pthread_mutex_lock(caller->lock);
        caller->result = caller->side->vk.vkQueueSubmit2(caller->queue, 1, &info, VK_NULL_HANDLE);
        if (caller->lock)
            pthread_mutex_unlock(caller->lock);
    }
    return NULL;
}

/* Adds the time in ns until the device has finished. */
static bool callers_run(struct caller *callers, uint64_t *time, struct bench_found *found)
{
    struct side *side = callers[0].side;
    pthread_barrier_t start;

    pthread_barrier_init(&start, NULL, THREADS + 1);
    for (uint32_t i = 0; i < THREADS; ++i) {
        callers[i].start = &start;
        bench_thread_start(&callers[i].thread, caller_run, &callers[i]);
    }
    pthread_barrier_wait(&start);
    uint64_t begin = bench_now();
    for (uint32_t i = 0; i < THREADS; ++i)
        pthread_join(callers[i].thread, NULL);
    pthread_barrier_destroy(&start);
    for (uint32_t i = 0; i < THREADS; ++i) {
        VkResult result = callers[i].result;
        if (result >= 0)
            result = side_wait(side, callers[i].semaphore, callers[i].value);
        if (result != VK_SUCCESS) {
            bench_found_nothing(found, "submissions of 4 threads: %s", sample_result_name(result));
            return false;
        }
    }
    *time += bench_now() - begin;
    return true;
}

static bool callers_open(struct caller *callers, struct side *side, pthread_mutex_t *lock,
                         uint32_t signals, struct bench_found *found)
{
    for (uint32_t i = 0; i < THREADS; ++i) {
        callers[i] = (struct caller){
            .side = side,
            .queue = side->queues[lock ? 0 : i],
            .lock = lock,
            .semaphore = side_timeline(side, found),
        };
        if (!callers[i].semaphore)
            return false;
        if (signals < 2)
            continue;
        callers[i].second = side_timeline(side, found);
        if (!callers[i].second)
            return false;
    }
    return true;
}

static void callers_close(struct caller *callers)
{
    for (uint32_t i = 0; i < THREADS && callers[i].side; ++i) {
        struct side *side = callers[i].side;
        side->vk.vkDestroySemaphore(side->device, callers[i].semaphore, NULL);
        side->vk.vkDestroySemaphore(side->device, callers[i].second, NULL);
    }
}

/*
 * Compares the plain driver's one queue with a mutex and four queues of `belfry`; or, if that is
 * NULL, and the same queue with two signals. It counts until the device has finished.
 */
static void threads_compare(struct side *plain, struct side *belfry, struct bench_found *found)
{
    struct caller callers[2][THREADS] = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (belfry && belfry->queue_count < THREADS) {
        bench_found_nothing(found, "under the layer the family has %u queues", belfry->queue_count);
        return;
    }
    if (!callers_open(callers[0], plain, &lock, 1, found) ||
        (belfry ? !callers_open(callers[1], belfry, NULL, 1, found)
                : !callers_open(callers[1], plain, &lock, 2, found)))
        goto out;
    for (uint32_t i = 0; i < THREADS_REPETITIONS; ++i) {
        uint64_t times[2] = {0};
        /* The sides take turns in being first, so that a slow drift of the machine affects both. */
        for (uint32_t turn = 0; turn < 2 * THREADS_ROUNDS; ++turn) {
            uint32_t which = (turn + turn / 2) % 2;
            if (!callers_run(callers[which], &times[which], found))
                goto out;
        }
        /* In thousands of submissions per second. */
        const double count = 1e6 * THREADS * THREADS_SUBMITS * THREADS_ROUNDS;
        found->plain[i] = count / (double)times[0];
        found->belfry[i] = count / (double)times[1];
    }
    found->count = THREADS_REPETITIONS;
out:
    callers_close(callers[1]);
    callers_close(callers[0]);
    pthread_mutex_destroy(&lock);
}

/* Notes the driver's own cost of a second signal, which an epoch is. */
static void threads_note(struct side *plain, struct bench_report *report)
{
    struct bench_found found = {0};
    threads_compare(plain, NULL, &found);
    if (found.reason[0])
        return;
    for (uint32_t i = 0; i < found.count; ++i)
        found.belfry[i] /= found.plain[i];
    bench_note(report, "4 threads, the plain driver alone with a second signal: %.3f times",
               bench_spread(found.belfry, found.count).median);
}

/* --- the rows --- */

static void device_rows(const struct bench_options *options, struct bench_report *report)
{
    struct side plain = {0}, one = {0}, four = {0};
    struct bench_found nothing = {0}, found;
    struct lane_cost cost;
    uint32_t times = 0;

    if (!side_open(&plain, BENCH_PLAIN, options->gpu, 1, &nothing))
        goto skip;
    snprintf(report->device, sizeof report->device, "%s", plain.properties.deviceName);
    times = side_filler_times(&plain, LANE_FILLER_NANOSECONDS, &nothing);
    if (!times)
        goto skip;

    found = nothing;
    signals_compare(&plain, times, &cost, &found);
    caller_row(report, ROW_EPOCH, &found, NULL);

    if (!side_open(&one, BENCH_BELFRY, options->gpu, 1, &nothing) ||
        !side_open(&four, BENCH_BELFRY, options->gpu, THREADS, &nothing))
        goto skip_belfry;
    found = nothing;
    caller_compare(&plain, &one, times, &cost, &found);
    caller_row(report, ROW_ONE, &found, &cost);
    side_close(&one);
    found = nothing;
    if (four.queue_count < THREADS)
        bench_found_nothing(&found, "under the layer the family has %u queues", four.queue_count);
    else
        caller_compare(&plain, &four, times, &cost, &found);
    caller_row(report, ROW_SHARED, &found, &cost);

    found = nothing;
    threads_compare(&plain, &four, &found);
    if (found.reason[0])
        bench_row_skip(report, ROW_THREADS, "%s", found.reason);
    else
        bench_row_tie(report, ROW_THREADS, "1000/s", found.plain, found.belfry, found.count);
    threads_note(&plain, report);
    side_close(&four);
    side_close(&plain);
    return;

skip:
    bench_row_skip(report, ROW_EPOCH, "%s", nothing.reason);
skip_belfry:
    bench_row_skip(report, ROW_ONE, "%s", nothing.reason);
    bench_row_skip(report, ROW_SHARED, "%s", nothing.reason);
    bench_row_skip(report, ROW_THREADS, "%s", nothing.reason);
    side_close(&four);
    side_close(&one);
    side_close(&plain);
}

/* Runs in a child, on the test driver, whose vkQueueSubmit2 costs next to nothing. */
static void icd_part(enum bench_side side, struct bench_found *found)
{
    struct side plain = {0}, belfry = {0};
    struct lane_cost cost;
    if (side_open(&plain, BENCH_PLAIN, NULL, 1, found)) {
        if (side == BENCH_PLAIN)
            signals_compare(&plain, 0, &cost, found);
        else if (side_open(&belfry, BENCH_BELFRY, NULL, THREADS, found))
            caller_compare(&plain, &belfry, 0, &cost, found);
    }
    side_close(&belfry);
    side_close(&plain);
}

static void icd_part_run(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found)
{
    (void)options;
    icd_part(side, found);
}

static void icd_rows(struct bench_report *report)
{
    static struct bench_found found;
    static const char *const settled[] = {"BELFRY_ICD_SHAPE=q2", NULL};

    bench_part_run_on_icd("icd", BENCH_BELFRY, bench_icd_free, &found);
    caller_row(report, ROW_ICD, &found, NULL);
    bench_part_run_on_icd("icd", BENCH_PLAIN, bench_icd_free, &found);
    caller_row(report, ROW_ICD_PAIR, &found, NULL);

    /* The plain driver accepts everything at once, also waits before their signals. */
    const double none = 0;
    bench_part_run_on_icd("late", BENCH_BELFRY, settled, &found);
    if (found.reason[0]) {
        bench_row_skip(report, ROW_LATE, "%s", found.reason);
        return;
    }
    bench_row_cost(report, ROW_LATE, "late", &none, &found.plain[0], 1, 0);
    bench_note(report, "%s: of %u releases", ROW_LATE, FOOTPRINT_RELEASES);
}

static void watched_row(struct bench_report *report, const char *name, const char *part,
                        const char *const *settings)
{
    static struct bench_found found;
    bench_part_run_on_icd(part, BENCH_BELFRY, settings, &found);
    if (found.reason[0])
        bench_row_skip(report, name, "%s", found.reason);
    else
        bench_row_cost(report, name, "ns", found.plain, found.belfry, found.count,
                       WATCHED_SHARE * bench_reference(NULL));
}

static void wakes_row(struct bench_report *report, const char *name, const char *part,
                      double periods)
{
    static const char *const settings[] = {"BELFRY_ICD_SHAPE=q1", NULL};
    static struct bench_found found;
    double samples[5];
    for (uint32_t i = 0; i < 5; ++i) {
        bench_part_run_on_icd(part, BENCH_BELFRY, settings, &found);
        if (found.reason[0]) {
            bench_row_skip(report, name, "%s", found.reason);
            return;
        }
        samples[i] = found.plain[0] / periods;
    }
    bench_row_value(report, name, "wake-ups", 0, bench_spread(samples, 5).median, periods > 1);
}

static void watchdog_rows(struct bench_report *report)
{
    static const char *const gpu[] = {"BELFRY_ICD_FREE=1", "BELFRY_ICD_SHAPE=q1",
                                      "BELFRY_ICD_GPU=1", NULL};
    watched_row(report, ROW_WATCHED, "watchdog-caller", bench_icd_free);
    watched_row(report, ROW_TDR, "tdr-caller", gpu);
    wakes_row(report, ROW_PERIOD, "watched", 2);
    wakes_row(report, ROW_REST, "rest", 1);
}

/* Adds a row for a part that measures one side at a time: both run in turns. */
static void turns_row(const struct bench_options *options, struct bench_report *report,
                      const char *part, const char *name, const char *unit, uint32_t repetitions,
                      double allowance)
{
    static struct bench_found found;
    double sides[2][BENCH_SAMPLES];
    for (uint32_t i = 0; i < repetitions; ++i) {
        for (uint32_t turn = 0; turn < 2; ++turn) {
            uint32_t which = (i + turn) % 2;
            bench_part_run(part, which ? BENCH_BELFRY : BENCH_PLAIN, options, NULL, &found);
            if (found.reason[0]) {
                bench_row_skip(report, name, "%s", found.reason);
                return;
            }
            sides[which][i] = found.plain[0];
        }
    }
    bench_row_cost(report, name, unit, sides[0], sides[1], repetitions, allowance);
}

static int submit_run(const struct bench_options *options, struct bench_report *report)
{
    bench_reference(report);
    device_rows(options, report);
    if (!report->device[0] && options->gpu) {
        sample_complain("%s", report->rows[0].reason);
        return SAMPLE_EXIT_NO_DEVICE;
    }
    if (!report->device[0])
        snprintf(report->device, sizeof report->device, "no device");
    icd_rows(report);
    watchdog_rows(report);
    present_rows(report);
    loss_rows(report);
    told_rows(report);
    turns_row(options, report, "idle", ROW_IDLE, "wake-ups", 5, 0);
    turns_row(options, report, "memory", ROW_MEMORY, "MiB", 9, MEMORY_MIB);
    turns_row(options, report, "vkcube", ROW_VKCUBE, "MiB", 5, MEMORY_MIB);
    for (uint32_t i = 0; i < report->row_count; ++i) {
        if (!report->rows[i].reason[0])
            return SAMPLE_EXIT_DONE;
    }
    for (uint32_t i = 0; i < report->row_count; ++i)
        sample_complain("not measured: %s: %s", report->rows[i].name, report->rows[i].reason);
    return SAMPLE_EXIT_NO_DEVICE;
}

static const struct bench_part parts[] = {
    {"icd", icd_part_run},
    {"late", footprint_late},
    {"idle", footprint_idle},
    {"watched", footprint_watched},
    {"rest", footprint_rest},
    {"watchdog-caller", watchdog_caller},
    {"tdr-caller", tdr_caller},
    {"memory", footprint_memory},
    {"vkcube", footprint_vkcube},
    {"present", present_run},
    {"present_commands", present_commands_run},
    {"loss", loss_run},
    {"told", told_run},
    {"log-off-vk", log_caller_off_vk},
    {"log-off-bf", log_caller_off_bf},
    {"log-on-vk", log_caller_on_vk},
    {"log-on-fence", log_caller_on_fence},
    {"log-on-native", log_caller_on_native},
    {"log-overlap", log_overlap},
    {"record-off", record_off},
    {"record-plain", record_plain},
    {"record-watched", record_watched},
    {"create-small", create_small},
    {"create-large", create_large},
    {"create-watched", create_watched},
    {"create-watched-fresh", create_watched_fresh},
    {"create-small-compiled", create_small_compiled},
    {"create-large-compiled", create_large_compiled},
    {"wait-many", wait_many},
    {"link-plain", link_plain},
    {"link-watched", link_watched},
    {"frames-hostile", frames_hostile},
    {"doorbell-caller", doorbell_caller},
    {"doorbell-tail", doorbell_tail},
    {"doorbell-edge", doorbell_edge},
    {"doorbell-rate", doorbell_rate},
    {"doorbell-cpu", doorbell_cpu},
    {"doorbell-hand-over", doorbell_hand_over},
    {"doorbell-connect", doorbell_connect},
    {"doorbell-victim", doorbell_victim},
    {"doorbell-idle", doorbell_idle},
    {"doorbell-program-caller", doorbell_program_caller},
    {"doorbell-program-edge", doorbell_program_edge},
    {"doorbell-program-rate", doorbell_program_rate},
    {"preempt-start", preempt_start},
    {"preempt-start-quiet", preempt_start_quiet},
    {"preempt-awake", preempt_awake},
    {"preempt-bubble", preempt_bubble},
    {"preempt-share", preempt_share},
    {"preempt-fair", preempt_fair},
    {"preempt-alone", preempt_alone},
    {"preempt-caller", preempt_caller},
};

const struct bench_part *bench_part_find(const char *name)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        if (!strcmp(parts[i].name, name))
            return &parts[i];
    }
    return NULL;
}

const struct bench bench_submit = {
    .name = "submit",
    .purpose = "what a submission costs its caller, and what Belfry costs a process at rest",
    .run = submit_run,
    .required = required,
};
