/*
 * The timeline of one device, written to a Perfetto trace as it happens, and its summary. Devices
 * of one process whose traces have one path write to one file (trace/output.h).
 *
 * T-1  The file is a run of whole packets at any time: however the program ends, it loads. Events
 *      are written together, by a thread of the file's own, when there are 64 KiB of them or the
 *      first is 50 ms old, and at bf_trace_flush. A crash loses what is pending; the head is in
 *      the file before bf_trace_create returns.
 * T-2  An existing file is never overwritten.
 * T-3  Tracing never stops the program, nor makes it wait for a disk: what comes faster than the
 *      file takes it is left out and counted, slices with both their ends; and a file that can't be
 *      written any more is closed with one line on stderr, the rest being counted, while the
 *      summary goes on.
 * T-4  Memory is bounded, whatever the length of the run: nothing is kept per event. Of the fence
 *      operations of a queue as many are followed at once as trace/fence_ops.h says.
 * T-5  No lock is held over anything but memory, save one over making a file.
 *
 * Tracks, from the outside in: the process; its engines, each with counters; their queues; and for
 * each queue a 'software queue' (a slice from queued to handed over, inside it 'held' slices that
 * name the obstacle), a 'hardware queue' (a slice from GPU begin to end, or an instant at the
 * hand-over of what is not timed) and 'fence operations' (a slice each, from when the CPU queued it
 * to when the GPU executed it); and 'background processing'. docs/trace-format.md has all of it.
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

#include "base/export.h"

struct bf_trace;

struct bf_trace_info {
    const char *path;    /* file to write, or one that this process writes to; never overwritten: a
                         number is added to the name. NULL: no file, the summary alone */
    const char *program; /* what the process track is called */
    const char *device;  /* VkPhysicalDeviceProperties::deviceName */
    const char *driver;  /* driver name and version, or "" */
};

enum bf_trace_packet_kind {
    BF_TRACE_EXECUTE,
    BF_TRACE_BIND_SPARSE,
    BF_TRACE_PRESENT,
    BF_TRACE_SIGNAL, /* of a fence, by a command queue */
    BF_TRACE_WAIT,   /* for a fence */
};

/* A semaphore operation of a packet. Binary semaphores count their own operations: value is the
 * ordinal of the signal that the wait consumes. */
struct bf_trace_sync {
    uint64_t semaphore; /* handle, or the fence; as an obstacle 0 means 'the packet before it in its
                           queue' */
    uint64_t value;
};

/* A packet's record, embedded in the scheduler's packet; written by trace functions, and 'timed' by
 * bf_stamps_begin, only. Owns nothing: it may be copied, and dropped at any time. A zeroed one was
 * never queued by the program: it leaves no mark. */
struct bf_trace_packet {
    uint64_t id;
    uint32_t queue;
    enum bf_trace_packet_kind kind;
    uint32_t command_buffers;
    uint32_t lane; /* free for the trace's own use, as are the next three */
    bool held_drawn;
    bool fences;      /* it carries fence operations that are drawn as such */
    uint64_t caption; /* a word's number */
    bool timed;       /* stamps go with it: bf_trace_packet_executed will follow */
    uint64_t queued_ns;
    uint64_t held_since_ns;     /* 0: never held */
    uint64_t obstacle_since_ns; /* when held_on became what it waits for */
    struct bf_trace_sync held_on;
    uint64_t handed_over_ns;
};

/* Errors: VK_ERROR_INITIALIZATION_FAILED when the file can't be created (one line to stderr names
 * path and cause), VK_ERROR_OUT_OF_HOST_MEMORY (also when there is no thread to be had). */
BF_SHARED VkResult bf_trace_create(const struct bf_trace_info *info, struct bf_trace **trace);

/* Writes what is pending; the last of its file closes it. NULL is allowed. No other call may run or
 * follow. */
BF_SHARED void bf_trace_destroy(struct bf_trace *trace);

/* What is pending is written now rather than soon. Doesn't wait. */
BF_SHARED void bf_trace_flush(struct bf_trace *trace);

/* Returns when all that was reported before is in the file: for whoever reads it next. */
BF_SHARED void bf_trace_drain(struct bf_trace *trace);

/* Of the file, save that of what never found room only this trace's is counted. All zero without a
 * trace or file. */
struct bf_trace_counts {
    uint64_t events; /* that the file has, or will have */
    uint64_t lost;   /* that it lacks: they came too fast, or it could not be written */
    uint64_t bytes;  /* in the file */
};
BF_SHARED void bf_trace_count(struct bf_trace *trace, struct bf_trace_counts *counts);

/* The path of the file, which may have got a number; NULL without a file. Valid until destroyed. */
BF_SHARED const char *bf_trace_path(const struct bf_trace *trace);

/* An engine (one real VkQueue) and a queue that lives on it. Returns the number to name it by, or
 * UINT32_MAX when out of memory: calls with that number do nothing. Names are copied, here and
 * below, up to 127 bytes; those of a file's further devices get ', device N' behind them. */
BF_SHARED uint32_t bf_trace_add_engine(struct bf_trace *trace, const char *name);
BF_SHARED uint32_t bf_trace_add_queue(struct bf_trace *trace, uint32_t engine, const char *name);

/* A debug name for an object: the device, a queue (by its number) or a semaphore (by its handle).
 * NULL or "" takes it back; for a semaphore that also forgets its signals, so call it when one is
 * destroyed (handles come back as other objects). */
BF_SHARED void bf_trace_name_device(struct bf_trace *trace, const char *name);
BF_SHARED void bf_trace_name_queue(struct bf_trace *trace, uint32_t queue, const char *name);
BF_SHARED void bf_trace_name_semaphore(struct bf_trace *trace, uint64_t semaphore,
                                       const char *name);

/* Of a command buffer: its debug name (NULL or "" takes it back), that it was begun (labels
 * recorded in it before are gone), a label recorded in it, and its end (handles come back as
 * others). */
BF_SHARED void bf_trace_name_command_buffer(struct bf_trace *trace, VkCommandBuffer buffer,
                                            const char *name);
BF_SHARED void bf_trace_command_buffer_begun(struct bf_trace *trace, VkCommandBuffer buffer);
BF_SHARED void bf_trace_command_buffer_label(struct bf_trace *trace, VkCommandBuffer buffer,
                                             const char *label);
BF_SHARED void bf_trace_forget_command_buffer(struct bf_trace *trace, VkCommandBuffer buffer);

/* What a packet is made of, for its caption. */
struct bf_trace_contents {
    uint32_t count; /* command buffers: in one of the next two, or in neither */
    const VkCommandBufferSubmitInfo *infos;
    const VkCommandBuffer *buffers;
    const char *label; /* the queue's labels, outermost first; NULL: none */
};

/* The program submitted: fills 'packet' and stamps queued_ns. The second form knows how many
 * command buffers there are, and nothing else about them. */
BF_SHARED void bf_trace_packet_queued_with(struct bf_trace *trace, struct bf_trace_packet *packet,
                                           uint32_t queue, enum bf_trace_packet_kind kind,
                                           const struct bf_trace_contents *contents);
BF_SHARED void bf_trace_packet_queued(struct bf_trace *trace, struct bf_trace_packet *packet,
                                      uint32_t queue, enum bf_trace_packet_kind kind,
                                      uint32_t command_buffers);

/* The scheduler found that it may not go yet, and on account of what. Called at the first such
 * finding, and again when the obstacle has changed. */
BF_SHARED void bf_trace_packet_held(struct bf_trace *trace, struct bf_trace_packet *packet,
                                    struct bf_trace_sync obstacle);

/* The driver accepted it. Waits and signals are given now, when every signal a wait refers to has
 * itself been handed over: flows are drawn from the smallest value that satisfies the wait. For a
 * timed packet: after bf_stamps_begin, before bf_stamps_collect can see it. */
BF_SHARED void bf_trace_packet_handed_over(struct bf_trace *trace, struct bf_trace_packet *packet,
                                           uint32_t wait_count, const struct bf_trace_sync *waits,
                                           uint32_t signal_count,
                                           const struct bf_trace_sync *signals);

/* It will never be handed over: the driver refused it, or the device was lost. */
BF_SHARED void bf_trace_packet_dropped(struct bf_trace *trace, struct bf_trace_packet *packet);

/* The GPU's stamps for it have been read (never called for a packet that isn't timed). Two zeros:
 * there are none after all. */
BF_SHARED void bf_trace_packet_executed(struct bf_trace *trace,
                                        const struct bf_trace_packet *packet, uint64_t begin_ns,
                                        uint64_t end_ns);

/*
 * Fence operations: GPU signals and waits of fences and timeline semaphores, by queues. Each is
 * drawn as a box from when the program queued it to when the GPU executed the signal, or was
 * unblocked. (Native GPU fences, 'Native fence log buffer design': FENCE_WAIT_QUEUED,
 * FENCE_SIGNAL_QUEUED, FENCE_SIGNAL_EXECUTED, FENCE_WAIT_UNBLOCKED.)
 */
enum bf_trace_fence_op {
    BF_TRACE_FENCE_SIGNAL = 0, /* as the operations of log entries are numbered */
    BF_TRACE_FENCE_WAIT = 1,
};

/*
 * The program queued the operation now. 'logged': the GPU's log will tell when it is over
 * (bf_trace_fence_done). If not, it is over when the packet that carries it is, by its stamps or
 * what comes before it. 'packet' (NULL: none; then it must be logged) has been queued just before;
 * if it is of kind SIGNAL or WAIT, the box is all that is drawn of it beside its time in the
 * software queue.
 */
BF_SHARED void bf_trace_fence_queued(struct bf_trace *trace, uint32_t queue,
                                     struct bf_trace_packet *packet, enum bf_trace_fence_op op,
                                     struct bf_trace_sync sync, bool logged);

/* Flags of a log's entry. */
enum {
    BF_TRACE_FENCE_LATE_BOUND = 1, /* a narrower wait stage may have let work go before */
};

/*
 * An entry of the queue's log, read in the order of the log: the operation was over on the GPU at
 * 'end_ns' (0: the entry has no time), and the GPU had come to it at 'observed_ns' (0: a signal, or
 * a wait that was satisfied when the GPU came to it). It belongs to the oldest such operation of
 * the queue; older logged ones of its kind have lost their entries.
 */
BF_SHARED void bf_trace_fence_done(struct bf_trace *trace, uint32_t queue,
                                   enum bf_trace_fence_op op, struct bf_trace_sync sync,
                                   uint64_t end_ns, uint64_t observed_ns, uint32_t flags);

/* So many entries of the queue's log were overwritten unread. */
BF_SHARED void bf_trace_fences_lost(struct bf_trace *trace, uint32_t queue, uint64_t count);

/* GPU times given from now on are estimates; the summary and the timeline say so. */
BF_SHARED void bf_trace_mark_uncalibrated(struct bf_trace *trace);

/* The host signalled a timeline semaphore. */
BF_SHARED void bf_trace_host_signal(struct bf_trace *trace, struct bf_trace_sync signal);

/*
 * Background processing (background/trace_events.h), on tracks of the process: items as slices,
 * everything else as instants on lane 0. Slices of one lane follow each other, begin and end in
 * turn.
 */
enum bf_trace_background_kind {
    BF_TRACE_ITEM_BEGIN,
    BF_TRACE_ITEM_END,
    BF_TRACE_ITEM_CANCELLED,
    BF_TRACE_MODE,
    BF_TRACE_COMMIT,
    BF_TRACE_COMMIT_DONE,
};
struct bf_trace_background {
    enum bf_trace_background_kind kind;
    uint32_t lane; /* of an item: 1 to 31 */
    uint64_t time_ns;
    uint64_t number; /* the item, or the commit */
    uint64_t count;  /* COMMIT: items in its set */
    bool boosted;
    const char *mode; /* MODE: in words */
};
BF_SHARED void bf_trace_background(struct bf_trace *trace, const struct bf_trace_background *event);

/* A variant of a pipeline is used from now on, or no longer, and why; an instant on lane 0. */
enum bf_trace_swap {
    BF_TRACE_SWAP_IN,
    BF_TRACE_SWAP_OUT,
};
BF_SHARED void bf_trace_swap(struct bf_trace *trace, enum bf_trace_swap swap, uint64_t pipeline,
                             uint32_t variant, const char *reason);

/* The summary: device, engines, queues and where they landed, submissions, how many were held and
 * how long, busy time per engine, overlap between engines and between queues. Best at the end of a
 * run: GPU times that come in later than it, but lie before what it has counted, count in part. */
BF_SHARED void bf_trace_print_summary(struct bf_trace *trace, FILE *out);

#endif
