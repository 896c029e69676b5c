/* SPDX-License-Identifier: MIT */
/*
 * `fence`: the cost of D3D12's queues and fences, compared with the same written in timeline
 * semaphores on the plain driver. Each side has its own device, on the same GPU; Belfry's is
 * attached.
 */
#include <belfry/belfry.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../common/report.h"
#include "attached.h"
#include "bench.h"
#include "crowd.h"
#include "hand_over.h"
#include "reference.h"
#include "side.h"

#define ROW_ONE     "hand-over on one engine, pieces of 0.15 ms"
#define ROW_EMPTY   "hand-over on one engine, empty pieces"
#define ROW_BARRIER "the same, beside barriers by hand"
#define ROW_BUFFER  "its barrier, beside an empty command buffer"
#define ROW_CALLS   "vkQueueSubmit2 of a hand-over"
#define ROW_TWO     "hand-over between two engines"
#define ROW_TRIP    "CPU signal, GPU work, CPU event"
#define ROW_SIGNAL  "bfQueueSignal, busy queue, its look apart"
#define ROW_WAIT    "bfQueueWait for a signal on its way"
#define ROW_COUNT   "submissions of these signals and waits"
#define ROW_CROWD   "signal with waiters on 10,000 fences"

static const char *const required[] = {
    ROW_ONE,    ROW_EMPTY, ROW_BARRIER, ROW_BUFFER, ROW_CALLS, ROW_TRIP,
    ROW_SIGNAL, ROW_WAIT,  ROW_COUNT,   ROW_CROWD,  NULL,
};

#define REPETITIONS           25
#define HAND_OVER_REPETITIONS 40
#define WORKING_HAND_OVERS    16
#define EMPTY_HAND_OVERS      256
#define TRIPS                 256
#define CALLS                 64 /* of each kind in a burst, while the queue is busy */
#define BURSTS                16
/* As a share of the plain driver's rate: costs may be 1.05 and 1.1 times the plain ones. */
#define HAND_OVER_SHARE (1 / 1.05)
#define TRIP_SHARE      (1 / 1.1)
#define CALL_SHARE      2.0 /* of the reference (reference.h) */
#define BUSY_NS         2000000u
#define PIECE_NS        150000u
#define FOREVER         UINT64_MAX

static VkSemaphoreSubmitInfo at(VkSemaphore semaphore, uint64_t value)
{
    return (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
}

static VkResult submit(struct side *side, VkQueue queue, VkCommandBuffer commands,
                       const VkSemaphoreSubmitInfo *wait, const VkSemaphoreSubmitInfo *signal)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait != NULL,
        .pWaitSemaphoreInfos = wait,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = signal != NULL,
        .pSignalSemaphoreInfos = signal,
    };
    return side->vk.vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE);
}

/* --- work that passes between queues --- */

/* Adds a row that compares Belfry with `way`, in thousands per second. */
static void hand_over_rate(struct bench_report *report, const char *name,
                           const struct hand_over_found *found, enum hand_over_way way)
{
    double plain[HAND_OVER_REPETITIONS], belfry[HAND_OVER_REPETITIONS];
    for (uint32_t i = 0; i < HAND_OVER_REPETITIONS; ++i) {
        plain[i] = 1e6 / found->ns[way][i];
        belfry[i] = 1e6 / found->ns[HAND_OVER_BELFRY][i];
    }
    bench_row_rate(report, name, "1000/s", plain, belfry, HAND_OVER_REPETITIONS, HAND_OVER_SHARE);
}

/* Adds a row that compares what Belfry's way costs more than semaphores with what one more command
 * buffer costs the driver: with that granted, the goal is the same. */
static void buffer_row(struct bench_report *report, const struct hand_over_found *found)
{
    double buffer[HAND_OVER_REPETITIONS], more[HAND_OVER_REPETITIONS], ns[HAND_OVER_REPETITIONS];
    for (uint32_t i = 0; i < HAND_OVER_REPETITIONS; ++i) {
        ns[i] = found->ns[HAND_OVER_SEMAPHORES][i];
        buffer[i] = found->ns[HAND_OVER_EMPTY_MORE][i] - ns[i];
        more[i] = found->ns[HAND_OVER_BELFRY][i] - ns[i];
    }
    bench_row_cost(report, ROW_BUFFER, "ns", buffer, more, HAND_OVER_REPETITIONS,
                   (1 / HAND_OVER_SHARE - 1) * bench_spread(ns, HAND_OVER_REPETITIONS).median);
}

/* `fills` make a piece that takes some time; 0: there is none, and `nothing` has the reason. */
static void hand_over_rows(struct bench_report *report, struct side *side, uint32_t fills,
                           const struct bench_found *nothing)
{
    static struct hand_over_found found;
    found.nothing = *nothing;
    if (fills)
        hand_over_compare(side, 1, fills, WORKING_HAND_OVERS,
                          1u << HAND_OVER_BELFRY | 1u << HAND_OVER_SEMAPHORES,
                          HAND_OVER_REPETITIONS, &found);
    if (found.nothing.reason[0])
        bench_row_skip(report, ROW_ONE, "%s", found.nothing.reason);
    else
        hand_over_rate(report, ROW_ONE, &found, HAND_OVER_SEMAPHORES);

    hand_over_compare(side, 1, 0, EMPTY_HAND_OVERS, (1u << HAND_OVER_WAYS) - 1,
                      HAND_OVER_REPETITIONS, &found);
    if (found.nothing.reason[0]) {
        static const char *const rows[] = {ROW_EMPTY, ROW_BARRIER, ROW_BUFFER, ROW_CALLS};
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
            bench_row_skip(report, rows[i], "%s", found.nothing.reason);
        return;
    }
    hand_over_rate(report, ROW_EMPTY, &found, HAND_OVER_SEMAPHORES);
    hand_over_rate(report, ROW_BARRIER, &found, HAND_OVER_BARRIER);
    buffer_row(report, &found);
    bench_row_value(report, ROW_CALLS, "calls", 1, found.driver_calls, 1);
    bench_note(report,
               "of a hand-over: %.3g barriers, %.3g waits for semaphores, %.3g looks at a counter",
               found.barriers, found.semaphore_waits, found.looks);
}

static void engines_row(struct bench_report *report, struct side *side)
{
    static struct hand_over_found found;
    if (side->queue_count < 2) {
        bench_row_skip(report, ROW_TWO, "%s has one VkQueue", side->properties.deviceName);
        return;
    }
    hand_over_compare(side, 2, 0, EMPTY_HAND_OVERS,
                      1u << HAND_OVER_BELFRY | 1u << HAND_OVER_SEMAPHORES, HAND_OVER_REPETITIONS,
                      &found);
    if (found.nothing.reason[0])
        bench_row_skip(report, ROW_TWO, "%s", found.nothing.reason);
    else
        hand_over_rate(report, ROW_TWO, &found, HAND_OVER_SEMAPHORES);
}

/* --- round trips --- */

/* The plain program's helper thread: waits for each value and writes an eventfd. */
struct helper {
    struct side *side;
    VkSemaphore done;
    uint64_t first, last;
    int event;
};

static void *help(void *data)
{
    struct helper *helper = data;
    for (uint64_t value = helper->first; value <= helper->last; ++value) {
        if (side_wait(helper->side, helper->done, value) != VK_SUCCESS ||
            eventfd_write(helper->event, 1))
            break;
    }
    return NULL;
}

static bool event_wait(int event)
{
    struct pollfd set = {.fd = event, .events = POLLIN};
    eventfd_t count;
    return poll(&set, 1, 10000) == 1 && eventfd_read(event, &count) == 0;
}

/* The duration of a round trip is from the CPU's signal, including the submission before it, to the
 * CPU's wake-up by the event. In thousands per second. */
static double plain_trips(struct side *side, const VkSemaphore *semaphores, uint64_t *value,
                          struct bench_found *found)
{
    struct helper helper = {side, semaphores[1], *value + 1, *value + TRIPS, -1};
    pthread_t thread;
    uint64_t took = 0;
    bool well = true;

    helper.event = eventfd(0, EFD_CLOEXEC);
    if (helper.event < 0 || pthread_create(&thread, NULL, help, &helper)) {
        bench_found_nothing(found, "no eventfd, or no thread");
        close(helper.event);
        return 0;
    }
    for (uint32_t i = 0; i < TRIPS && well; ++i) {
        const VkSemaphoreSubmitInfo wait = at(semaphores[0], ++*value);
        const VkSemaphoreSubmitInfo signal = at(semaphores[1], *value);
        well = bench_worked(submit(side, side->queues[0], side->commands, &wait, &signal),
                            "vkQueueSubmit2", found);
        uint64_t begin = bench_now();
        const VkSemaphoreSignalInfo go = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
            .semaphore = semaphores[0],
            .value = *value,
        };
        well = well && bench_worked(side->vk.vkSignalSemaphore(side->device, &go),
                                    "vkSignalSemaphore", found);
        if (well && !event_wait(helper.event)) {
            bench_found_nothing(found, "no event in 10 s");
            well = false;
        }
        took += bench_now() - begin;
    }
    if (!well) /* the helper's wait ends at its own timeout */
        sample_complain("waiting for the helper thread");
    pthread_join(thread, NULL);
    close(helper.event);
    return well ? TRIPS * 1e6 / (double)took : 0;
}

static double belfry_trips(struct attached *a, BfEvent event, uint64_t *value,
                           struct bench_found *found)
{
    uint64_t took = 0;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < TRIPS && result >= 0; ++i) {
        ++*value;
        result = bfQueueWait(a->queues[0], a->fences[0], *value);
        if (result >= 0)
            result = bfQueueExecute(a->queues[0], 1, &a->side->commands);
        if (result >= 0)
            result = bfQueueSignal(a->queues[0], a->fences[1], *value);
        if (result >= 0)
            result = bfSetEventOnFenceCompletion(a->fences[1], *value, event);
        uint64_t begin = bench_now();
        if (result >= 0)
            result = bfSignalFence(a->fences[0], *value);
        if (result >= 0)
            result = bfWaitForEvents(1, &event, VK_FALSE, UINT64_C(10000000000), NULL);
        if (result == VK_TIMEOUT)
            result = VK_ERROR_UNKNOWN;
        took += bench_now() - begin;
    }
    return bench_worked(result, "trips under Belfry", found) ? TRIPS * 1e6 / (double)took : 0;
}

static void trip_row(struct bench_report *report, struct side *plain, struct side *other)
{
    struct bench_found found = {0};
    struct attached a = {0};
    VkSemaphore semaphores[2] = {0};
    BfEvent event = NULL;
    uint64_t values[2] = {0};

    for (int i = 0; i < 2; ++i)
        semaphores[i] = side_timeline(plain, &found);
    bool open = semaphores[0] && semaphores[1] && attached_open(&a, other, 1, &found) &&
                bench_worked(bfCreateEvent(0, &event), "bfCreateEvent", &found);
    for (uint32_t i = 0; open && i < REPETITIONS && !found.reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found.reason[0]; ++turn) {
            if ((i + turn) % 2)
                found.plain[i] = plain_trips(plain, semaphores, &values[0], &found);
            else
                found.belfry[i] = belfry_trips(&a, event, &values[1], &found);
        }
    }
    if (found.reason[0])
        bench_row_skip(report, ROW_TRIP, "%s", found.reason);
    else
        bench_row_rate(report, ROW_TRIP, "1000/s", found.plain, found.belfry, REPETITIONS,
                       TRIP_SHARE);
    attached_close(&a);
    bfDestroyEvent(event);
    plain->vk.vkDeviceWaitIdle(plain->device);
    for (int i = 0; i < 2; ++i)
        plain->vk.vkDestroySemaphore(plain->device, semaphores[i], NULL);
}

/* --- calls --- */

struct calls {
    double look, signal, wait; /* in ns each */
};

/* Measures a burst while the queue is busy: a read of a counter as the driver answers it, then
 * signals, then waits for them on the other queue. */
static VkResult time_calls(struct attached *a, const struct side_filler *filler,
                           VkSemaphore semaphore, uint64_t *value, struct calls *sum)
{
    struct side *side = a->side;
    uint64_t counter;
    VkResult result = bfQueueExecute(a->queues[0], 1, &filler->commands);
    uint64_t times[4] = {bench_now()};
    for (int i = 0; i < CALLS && result >= 0; ++i)
        result = side->vk.vkGetSemaphoreCounterValue(side->device, semaphore, &counter);
    times[1] = bench_now();
    for (int i = 0; i < CALLS && result >= 0; ++i)
        result = bfQueueSignal(a->queues[0], a->fences[0], *value + (uint64_t)i + 1);
    times[2] = bench_now();
    for (int i = 0; i < CALLS && result >= 0; ++i)
        result = bfQueueWait(a->queues[1], a->fences[0], *value + (uint64_t)i + 1);
    times[3] = bench_now();
    *value += CALLS;
    sum->look += (double)(times[1] - times[0]) / CALLS;
    sum->signal += (double)(times[2] - times[1]) / CALLS;
    sum->wait += (double)(times[3] - times[2]) / CALLS;
    return result < 0 ? result : bfWaitFences(1, &a->fences[0], value, BF_FENCE_WAIT_ALL, FOREVER);
}

static void call_rows(struct bench_report *report, struct side *other)
{
    struct bench_found signal = {0}, wait = {0};
    struct attached a = {0};
    struct side_filler filler = {0};
    VkSemaphore semaphore = side_timeline(other, &signal);
    uint64_t value = 0;
    double more = 0;
    const double none = 0;
    uint32_t times = semaphore ? side_filler_times(other, BUSY_NS, &signal) : 0;

    bool open = times && side_filler_create(other, times, &filler, &signal) &&
                attached_open(&a, other, 1, &signal);
    for (uint32_t i = 0; open && i < REPETITIONS && !signal.reason[0]; ++i) {
        struct calls sum = {0};
        BfDeviceCounters before = {.sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS},
                         after = {.sType = BF_STRUCTURE_TYPE_DEVICE_COUNTERS};
        bfGetDeviceCounters(a.device, &before);
        for (int burst = 0; burst < BURSTS && !signal.reason[0]; ++burst)
            bench_worked(time_calls(&a, &filler, semaphore, &value, &sum), "signals and waits",
                         &signal);
        bfGetDeviceCounters(a.device, &after);
        more += (double)(after.submissions - before.submissions) - BURSTS;
        signal.belfry[i] = (sum.signal - sum.look) / BURSTS;
        wait.belfry[i] = sum.wait / BURSTS;
    }
    if (signal.reason[0]) {
        bench_row_skip(report, ROW_SIGNAL, "%s", signal.reason);
        bench_row_skip(report, ROW_WAIT, "%s", signal.reason);
        bench_row_skip(report, ROW_COUNT, "%s", signal.reason);
    } else {
        const double limit = CALL_SHARE * bench_reference(report);
        bench_row_cost(report, ROW_SIGNAL, "ns", signal.plain, signal.belfry, REPETITIONS, limit);
        bench_row_cost(report, ROW_WAIT, "ns", wait.plain, wait.belfry, REPETITIONS, limit);
        bench_row_cost(report, ROW_COUNT, "calls", &none, &more, 1, 0);
    }
    attached_close(&a);
    side_filler_destroy(other, &filler);
    other->vk.vkDestroySemaphore(other->device, semaphore, NULL);
}

/* --- many waiters --- */

static void crowd_row(struct bench_report *report, struct side *other)
{
    struct bench_found found = {0};
    struct attached a = {0};
    if (attached_open(&a, other, 1, &found))
        crowd_compare(a.device, REPETITIONS, &found);
    attached_close(&a);
    if (found.reason[0]) {
        bench_row_skip(report, ROW_CROWD, "%s", found.reason);
        return;
    }
    double few[BENCH_SAMPLES];
    memcpy(few, found.plain, sizeof few);
    double median = bench_spread(few, found.count).median;
    bench_row_cost(report, ROW_CROWD, "ns", found.plain, found.belfry, found.count,
                   (CROWD_GROWTH - 1) * median);
    bench_note(report,
               "%s: 'plain' is a signal with waiters on %d fences; it may cost log %d / log %d = "
               "%.0f times as much",
               ROW_CROWD, CROWD_FEW, CROWD_MANY, CROWD_FEW, CROWD_GROWTH);
}

static int fence_run(const struct bench_options *options, struct bench_report *report)
{
    struct side plain = {0}, other = {0};
    struct bench_found nothing = {0};
    /* With two queues, if the family has them. */
    if (!side_open(&plain, BENCH_PLAIN, options->gpu, 2, &nothing) ||
        !side_open(&other, BENCH_PLAIN, options->gpu, 2, &nothing)) {
        for (int i = 0; required[i]; ++i)
            bench_row_skip(report, required[i], "%s", nothing.reason);
        snprintf(report->device, sizeof report->device, "no device");
        side_close(&plain);
        return options->gpu ? SAMPLE_EXIT_NO_DEVICE : SAMPLE_EXIT_DONE;
    }
    snprintf(report->device, sizeof report->device, "%s", plain.properties.deviceName);
    hand_over_rows(report, &plain, hand_over_fills(&plain, PIECE_NS, &nothing), &nothing);
    engines_row(report, &plain);
    trip_row(report, &plain, &other);
    call_rows(report, &other);
    crowd_row(report, &other);
    side_close(&other);
    side_close(&plain);
    return SAMPLE_EXIT_DONE;
}

const struct bench bench_fence = {
    .name = "fence",
    .purpose = "what D3D12's queues and fences cost",
    .run = fence_run,
    .required = required,
};
