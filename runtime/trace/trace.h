/*
 * The timeline of one device, written to a Perfetto trace as it happens.
 *
 * A feature that is off is one early return: every function accepts a NULL trace (and packets of a
 * NULL trace are never touched), so callers never branch.
 *
 * All times are nanoseconds on CLOCK_MONOTONIC unless a name ends in _ticks.
 * Thread-safety: all functions may be called from any thread at once, except that the calls for one
 * packet are ordered by their caller.
 */
#ifndef BELFRY_TRACE_TRACE_H
#define BELFRY_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <vulkan/vulkan.h>

#include "os/export.h"

struct bf_trace;

struct bf_trace_info {
    const char *path;    /* file to write; never overwritten: a number is added to the name */
    const char *program; /* what the process track is called */
    const char *device;  /* VkPhysicalDeviceProperties::deviceName */
    const char *driver;  /* driver name and version, or "" */
};

enum bf_trace_packet_kind {
    BF_TRACE_EXECUTE,
    BF_TRACE_BIND_SPARSE,
    BF_TRACE_PRESENT,
};

/* A semaphore operation of a packet. Binary semaphores count their own operations: value is the
 * ordinal of the signal that the wait consumes. */
struct bf_trace_sync {
    uint64_t semaphore; /* handle */
    uint64_t value;
};

/* A packet's record, embedded in the scheduler's packet; written by trace functions only. */
struct bf_trace_packet {
    uint64_t id;
    uint32_t queue;
    enum bf_trace_packet_kind kind;
    uint32_t command_buffers;
    uint32_t lane; /* free for the trace's own use */
    uint64_t queued_ns;
    uint64_t held_since_ns; /* 0: never held */
    struct bf_trace_sync held_on;
    uint64_t handed_over_ns;
};

/* Errors: VK_ERROR_INITIALIZATION_FAILED when the file can't be created (one line to stderr names
 * path and cause), VK_ERROR_OUT_OF_HOST_MEMORY. */
BF_SHARED VkResult bf_trace_create(const struct bf_trace_info *info, struct bf_trace **trace);

/* Writes what is pending and closes the file. NULL is allowed. */
BF_SHARED void bf_trace_destroy(struct bf_trace *trace);

/* An engine (one real VkQueue) and a queue that lives on it. Returns the number to name it by. */
BF_SHARED uint32_t bf_trace_add_engine(struct bf_trace *trace, const char *name);
BF_SHARED uint32_t bf_trace_add_queue(struct bf_trace *trace, uint32_t engine, const char *name);

/* A debug name for an object: a queue (by its number) or a semaphore (by its handle). */
BF_SHARED void bf_trace_name_queue(struct bf_trace *trace, uint32_t queue, const char *name);
BF_SHARED void bf_trace_name_semaphore(struct bf_trace *trace, uint64_t semaphore, const char *name);

/* The program submitted: fills 'packet' and stamps queued_ns. */
BF_SHARED void bf_trace_packet_queued(struct bf_trace *trace, struct bf_trace_packet *packet,
                                      uint32_t queue, enum bf_trace_packet_kind kind,
                                      uint32_t command_buffers);

/* The scheduler found that it may not go yet, and on account of what. Called at the first such
 * finding, and again when the obstacle has changed. */
BF_SHARED void bf_trace_packet_held(struct bf_trace *trace, struct bf_trace_packet *packet,
                                    struct bf_trace_sync obstacle);

/* The driver accepted it. Waits and signals are given now, when every signal a wait refers to has
 * itself been handed over: flows are drawn from the smallest value that satisfies the wait. */
BF_SHARED void bf_trace_packet_handed_over(struct bf_trace *trace, struct bf_trace_packet *packet,
                                           uint32_t wait_count, const struct bf_trace_sync *waits,
                                           uint32_t signal_count,
                                           const struct bf_trace_sync *signals);

/* The GPU's stamps for it have been read (engines without timestamps never call it). */
BF_SHARED void bf_trace_packet_executed(struct bf_trace *trace,
                                        const struct bf_trace_packet *packet, uint64_t begin_ns,
                                        uint64_t end_ns);

/* The host signalled a timeline semaphore. */
BF_SHARED void bf_trace_host_signal(struct bf_trace *trace, struct bf_trace_sync signal);

/* The summary: device, engines, queues and where they landed, submissions, how many were held and
 * how long, busy time per engine, overlap between engines and between queues. */
BF_SHARED void bf_trace_print_summary(struct bf_trace *trace, FILE *out);

#endif
