/* SPDX-License-Identifier: MIT */
/* Measures what a trace costs: bytes on disk, and whether its writer keeps up. */
#include "log_trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/report.h"
#include "bench.h"
#include "trace/trace.h"

#define THREADS_MAX 8
#define TICK_NS     1000000u /* how often a thread catches up */

/* The events of one packet: two slices with their begins and ends; a wait and a signal, each with a
 * begin and an end; two counters, of packets in flight and of pending signals, each going up and
 * down. */
#define EVENTS_EACH 12
#define CALLS_EACH  5

struct reporter {
    pthread_t thread;
    struct bf_trace *trace;
    const uint32_t *queues;
    uint32_t number, count;
    uint64_t packets;     /* to be reported */
    uint64_t interval_ns; /* between two packets */
    uint64_t start_ns;
    uint64_t spent_ns, longest_ns;
    VkCommandBuffer buffers[2];
};

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* Reports what the scheduler would of a packet that waits for the last one of another queue. */
static void packet_report(struct reporter *r, uint64_t n)
{
    struct bf_trace_packet packet;
    uint32_t queue = r->queues[r->number];
    struct bf_trace_sync wait = {1 + (r->number + 1) % r->count, n};
    struct bf_trace_sync signal = {1 + r->number, n + 1};
    const struct bf_trace_contents contents = {.count = 2, .buffers = r->buffers};
    uint64_t begin = bench_now();
    bf_trace_packet_queued_with(r->trace, &packet, queue, BF_TRACE_EXECUTE, &contents);
    bf_trace_fence_queued(r->trace, queue, &packet, BF_TRACE_FENCE_WAIT, wait, false);
    bf_trace_fence_queued(r->trace, queue, &packet, BF_TRACE_FENCE_SIGNAL, signal, false);
    packet.timed = true;
    bf_trace_packet_handed_over(r->trace, &packet, 1, &wait, 1, &signal);
    bf_trace_packet_executed(r->trace, &packet, packet.handed_over_ns, packet.handed_over_ns + 900);
    uint64_t spent = bench_now() - begin;
    r->spent_ns += spent;
    r->longest_ns = spent > r->longest_ns ? spent : r->longest_ns;
}

static void *report(void *argument)
{
    struct reporter *r = argument;
    uint64_t done = 0;
    for (uint64_t tick = 1; done < r->packets; tick++) {
        sleep_until(r->start_ns + tick * TICK_NS);
        /* All packets that are due by now, however late the thread is. */
        uint64_t due = (bench_now() - r->start_ns) / r->interval_ns;
        for (; done < due && done < r->packets; done++)
            packet_report(r, done);
    }
    return NULL;
}

static bool report_all(struct reporter *reporters, uint32_t threads)
{
    uint32_t started = 0;
    int error = 0;
    for (; started < threads && !error; started++) {
        error = pthread_create(&reporters[started].thread, NULL, report, &reporters[started]);
        if (error)
            break;
    }
    for (uint32_t i = 0; i < started; i++)
        pthread_join(reporters[i].thread, NULL);
    if (error)
        sample_complain("can't start a thread: %s", strerror(error));
    return !error;
}

bool log_trace_measure(const char *folder, uint32_t threads, uint32_t rate, double seconds,
                       struct log_trace_found *found)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/log-trace-%ld.pftrace", folder, (long)getpid());
    const struct bf_trace_info info = {
        .path = path, .program = "bench", .device = "none", .driver = ""};
    struct bf_trace *trace;
    if (bf_trace_create(&info, &trace) != VK_SUCCESS) {
        sample_complain("can't write a trace in %s", folder);
        return false;
    }
    snprintf(path, sizeof(path), "%s", bf_trace_path(trace));
    threads = threads < THREADS_MAX ? threads : THREADS_MAX;
    struct reporter reporters[THREADS_MAX] = {0};
    uint32_t queues[THREADS_MAX];
    uint32_t engine = bf_trace_add_engine(trace, "engine");
    uint64_t start = bench_now();
    uint64_t packets = (uint64_t)(seconds * rate / EVENTS_EACH / threads);
    for (uint32_t i = 0; i < threads; i++) {
        char name[32];
        snprintf(name, sizeof(name), "fence %u", i);
        bf_trace_name_semaphore(trace, 1 + i, name);
        queues[i] = bf_trace_add_queue(trace, engine, "queue");
        reporters[i] = (struct reporter){
            .trace = trace,
            .queues = queues,
            .number = i,
            .count = threads,
            .packets = packets,
            .interval_ns = (uint64_t)(1e9 * EVENTS_EACH * threads / rate),
            .start_ns = start,
            .buffers = {(VkCommandBuffer)&reporters[i].buffers[0],
                        (VkCommandBuffer)&reporters[i].buffers[1]},
        };
        bf_trace_name_command_buffer(trace, reporters[i].buffers[0], "shadows");
        bf_trace_name_command_buffer(trace, reporters[i].buffers[1], "lighting");
    }
    bool done = report_all(reporters, threads);
    uint64_t took = bench_now() - start;

    struct bf_trace_counts counts;
    bf_trace_drain(trace);
    bf_trace_count(trace, &counts);
    uint64_t spent = 0;
    *found = (struct log_trace_found){
        .events = counts.events + counts.lost,
        .dropped = counts.lost,
        .bytes_per_event = counts.events ? (double)counts.bytes / (double)counts.events : 0,
        .rate = (double)(counts.events + counts.lost) * 1e9 / (double)took,
    };
    for (uint32_t i = 0; i < threads; i++) {
        spent += reporters[i].spent_ns;
        found->longest_ns = reporters[i].longest_ns > found->longest_ns ? reporters[i].longest_ns
                                                                        : found->longest_ns;
    }
    found->call_ns = packets ? (double)spent / (double)(packets * threads * CALLS_EACH) : 0;
    bf_trace_destroy(trace);
    unlink(path);
    return done;
}
