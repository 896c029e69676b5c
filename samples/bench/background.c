/* SPDX-License-Identifier: MIT */
/*
 * `background`: what background processing costs the foreground. 'Plain' is the program alone,
 * 'Belfry' is the same program beside two busy items of the worker pool.
 */
#include <belfry/background.h>
#include <ctype.h>
#include <dirent.h>
#include <linux/futex.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/report.h"
#include "bench.h"
#include "side.h"

#define ROW_FRAME "frame beside two busy items"
#define ROW_PUSH  "queueing an item, the pool being busy"
#define ROW_IDLE  "an idle pool's threads, in a second"

static const char *const required[] = {ROW_FRAME, ROW_PUSH, ROW_IDLE, NULL};

#define BLOCKS      24
#define FRAMES      200
#define FRAME_NS    300000u
#define MEDIAN_MORE 0.02 /* a share of a frame */
#define REPETITIONS 25
#define PUSHES      1000
#define PUSH_NS     500.0

/* --- background items --- */

struct items {
    BfDevice device;
    BfEvent event;
    _Atomic uint32_t standing, begun,
        busy;              /* how many have begun; 'busy' items run while it is 1 */
    _Atomic uint32_t gate; /* waiting items end when it is 1 */
};

/* An item that sleeps until it is released: it occupies a worker, but no core. */
static void stand(void *context)
{
    struct items *items = context;
    atomic_fetch_add(&items->standing, 1);
    while (!atomic_load(&items->gate))
        syscall(SYS_futex, &items->gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* An item that computes, as a compiler does. */
static void work(void *context)
{
    struct items *items = context;
    atomic_fetch_add(&items->begun, 1);
    while (atomic_load_explicit(&items->busy, memory_order_relaxed)) {
        for (volatile uint32_t i = 0; i < 1000; ++i)
            ;
    }
}

static void nothing(void *context)
{
    (void)context;
}

static void await(const _Atomic uint32_t *count, uint32_t expected)
{
    const struct timespec moment = {.tv_nsec = 100000};
    while (atomic_load(count) < expected)
        nanosleep(&moment, NULL);
}

static bool queue(struct items *items, PFN_bfProcessingWork function, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (bfQueueProcessingWork(items->device, function, NULL, items) != VK_SUCCESS)
            return false;
    }
    return true;
}

static bool set_mode(struct items *items, BfMeasurementsAction action, BfEvent event)
{
    return bfSetBackgroundProcessingMode(items->device, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                         action, event, NULL) == VK_SUCCESS;
}

/* Waits by polling until all items have ended: a blocking wait for the event would boost them. */
static bool items_end(struct items *items)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_store(&items->busy, 0);
    atomic_store(&items->gate, 1);
    syscall(SYS_futex, &items->gate, FUTEX_WAKE_PRIVATE, 64, NULL, NULL, 0);
    if (!set_mode(items, BF_MEASUREMENTS_ACTION_COMMIT_RESULTS, items->event))
        return false;
    while (bfWaitForEvents(1, &items->event, VK_FALSE, 0, NULL) == VK_TIMEOUT)
        nanosleep(&moment, NULL);
    return true;
}

enum company {
    ALONE,
    BESIDE_IDLE,   /* two busy items on SCHED_IDLE threads */
    BESIDE_NORMAL, /* the same at normal priority, for comparison */
    COMPANIES,
};

static bool items_begin(struct items *items, enum company company)
{
    atomic_store(&items->standing, 0);
    atomic_store(&items->begun, 0);
    atomic_store(&items->gate, 0);
    atomic_store(&items->busy, 1);
    bool done = true;
    if (company == BESIDE_NORMAL) {
        done = queue(items, stand, 2); /* no other item begins on a SCHED_IDLE thread */
        if (done)
            await(&items->standing, 2);
    }
    if (company != ALONE)
        done = done && queue(items, work, 2);
    if (company == BESIDE_NORMAL)
        done = done && set_mode(items, BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, NULL);
    if (done && company != ALONE)
        await(&items->begun, 2);
    return done;
}

/* --- frames --- */

struct frames {
    double median[COMPANIES][BLOCKS], p99[COMPANIES][BLOCKS]; /* in µs */
};

static VkResult frame(struct side *side, VkCommandBuffer commands)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    VkResult result = side->vk.vkQueueSubmit(side->queues[0], 1, &info, VK_NULL_HANDLE);
    return result == VK_SUCCESS ? side->vk.vkQueueWaitIdle(side->queues[0]) : result;
}

static int double_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static VkResult block(struct side *side, VkCommandBuffer commands, double *median, double *p99)
{
    double times[FRAMES];
    VkResult result = frame(side, commands); /* the first frame wakes the driver */
    for (uint32_t i = 0; i < FRAMES && result == VK_SUCCESS; ++i) {
        uint64_t begin = bench_now();
        result = frame(side, commands);
        times[i] = (double)(bench_now() - begin) / 1000;
    }
    qsort(times, FRAMES, sizeof *times, double_compare);
    *median = times[FRAMES / 2];
    *p99 = times[FRAMES * 99 / 100];
    return result;
}

/* Notes the median of paired differences, with its 95 % confidence interval by rank. */
static void note_paired(struct bench_report *report, const char *what, const double *alone,
                        const double *beside)
{
    double more[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; ++i)
        more[i] = beside[i] - alone[i];
    qsort(more, BLOCKS, sizeof *more, double_compare);
    uint32_t first = (uint32_t)((BLOCKS - 1.96 * sqrt(BLOCKS)) / 2);
    if (first > 0)
        --first;
    bench_note(report, "%s: %+.4g us (95 %% interval %+.4g to %+.4g; %d blocks of %d frames)", what,
               (more[(BLOCKS - 1) / 2] + more[BLOCKS / 2]) / 2, more[first],
               more[BLOCKS - 1 - first], BLOCKS, FRAMES);
}

static void frame_row(struct bench_report *report, struct side *side, struct items *items)
{
    static struct frames frames;
    struct bench_found found = {0};
    struct side_filler filler = {0};
    uint32_t times = side_filler_times(side, FRAME_NS, &found);
    bool open = times && side_filler_create_shared(side, times, &filler, &found);
    for (uint32_t i = 0; open && i < BLOCKS && !found.reason[0]; ++i) {
        for (uint32_t turn = 0; turn < COMPANIES && !found.reason[0]; ++turn) {
            enum company company = (i + turn) % COMPANIES; /* each of them is first in its turn */
            bool begun = items_begin(items, company);
            VkResult result = begun ? block(side, filler.commands, &frames.median[company][i],
                                            &frames.p99[company][i])
                                    : VK_SUCCESS;
            if (!items_end(items) || !begun)
                bench_found_nothing(&found, "background items were refused");
            else if (result != VK_SUCCESS)
                bench_found_nothing(&found, "frames: %s", sample_result_name(result));
        }
    }
    side->vk.vkDeviceWaitIdle(side->device);
    side_filler_destroy(side, &filler);
    if (found.reason[0]) {
        bench_row_skip(report, ROW_FRAME, "%s", found.reason);
        return;
    }
    double alone[BLOCKS];
    memcpy(alone, frames.median[ALONE], sizeof alone);
    bench_row_cost(report, ROW_FRAME, "us", frames.median[ALONE], frames.median[BESIDE_IDLE],
                   BLOCKS, MEDIAN_MORE * bench_spread(alone, BLOCKS).median);
    note_paired(report, "p99 beside two busy items", frames.p99[ALONE], frames.p99[BESIDE_IDLE]);
    note_paired(report, "median, were they of normal priority", frames.median[ALONE],
                frames.median[BESIDE_NORMAL]);
    note_paired(report, "p99, were they of normal priority", frames.p99[ALONE],
                frames.p99[BESIDE_NORMAL]);
}

/* --- queueing --- */

static void push_row(struct bench_report *report, struct items *items)
{
    double none[REPETITIONS] = {0}, cost[REPETITIONS], first[REPETITIONS];
    bool done = true;
    for (uint32_t i = 0; i < REPETITIONS && done; ++i) {
        atomic_store(&items->standing, 0);
        atomic_store(&items->gate, 0);
        uint64_t begin = bench_now();
        done = queue(items, stand, 1);
        first[i] = (double)(bench_now() - begin);
        done = done && queue(items, stand, 1);
        if (done)
            await(&items->standing, 2);
        begin = bench_now();
        done = done && queue(items, nothing, PUSHES);
        cost[i] = (double)(bench_now() - begin) / PUSHES;
        done = items_end(items) && done;
    }
    if (!done) {
        bench_row_skip(report, ROW_PUSH, "background items were refused");
        return;
    }
    bench_row_cost(report, ROW_PUSH, "ns", none, cost, REPETITIONS, PUSH_NS);
    bench_note(report, "an item that wakes the idle pool: %.4g ns",
               bench_spread(first, REPETITIONS).median);
}

/* --- rest --- */

/* The number of context switches of the pool's threads so far. Negative: the kernel doesn't
 * tell. */
static double switches(void)
{
    double sum = -1;
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char path[300], line[128];
        bool ours = false;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *from = fopen(path, "re");
        while (from && fgets(line, sizeof line, from)) {
            unsigned long count;
            ours |= !strncmp(line, "Name:\tbf-", 9);
            if (ours && (sscanf(line, "voluntary_ctxt_switches: %lu", &count) == 1 ||
                         sscanf(line, "nonvoluntary_ctxt_switches: %lu", &count) == 1))
                sum = (sum < 0 ? 0 : sum) + (double)count;
        }
        if (from)
            fclose(from);
    }
    if (folder)
        closedir(folder);
    return sum;
}

static void idle_row(struct bench_report *report)
{
    const struct timespec second = {.tv_sec = 1}, moment = {.tv_nsec = 300000000};
    const double none = 0;
    nanosleep(&moment, NULL); /* lets what has begun come to its end */
    double before = switches();
    nanosleep(&second, NULL);
    double more = switches() - before;
    if (before < 0)
        bench_row_skip(report, ROW_IDLE, "no thread of the pool in /proc/self/task");
    else
        bench_row_cost(report, ROW_IDLE, "switches", &none, &more, 1, 0);
}

/* --- the benchmark --- */

static bool attach(struct side *side, struct items *items)
{
    const BfAttachQueue queues = {.queue = side->queues[0], .queueFamilyIndex = side->family};
    const BfAttachInfo info = {
        .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
        .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
        .instance = side->instance,
        .physicalDevice = side->gpu,
        .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
        .device = side->device,
        .queueCount = 1,
        .pQueues = &queues,
    };
    setenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE", "on", 1); /* the boost needs it */
    bool done = bfAttachDevice(&info, &items->device) == VK_SUCCESS &&
                bfCreateEvent(0, &items->event) == VK_SUCCESS;
    unsetenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE");
    return done;
}

static int background_run(const struct bench_options *options, struct bench_report *report)
{
    struct side side = {0};
    struct items items = {0};
    struct bench_found found = {0};
    if (!side_open(&side, BENCH_PLAIN, options->gpu, 1, &found)) {
        for (int i = 0; required[i]; ++i)
            bench_row_skip(report, required[i], "%s", found.reason);
        snprintf(report->device, sizeof report->device, "no device");
        return options->gpu ? SAMPLE_EXIT_NO_DEVICE : SAMPLE_EXIT_DONE;
    }
    snprintf(report->device, sizeof report->device, "%s", side.properties.deviceName);
    if (attach(&side, &items)) {
        frame_row(report, &side, &items);
        push_row(report, &items);
        idle_row(report);
    } else {
        for (int i = 0; required[i]; ++i)
            bench_row_skip(report, required[i], "the device can't be attached");
    }
    bfDestroyEvent(items.event);
    bfDetachDevice(items.device);
    side_close(&side);
    return SAMPLE_EXIT_DONE;
}

const struct bench bench_background = {
    .name = "background",
    .purpose = "what background work costs the foreground",
    .run = background_run,
    .required = required,
};
