/* SPDX-License-Identifier: MIT */
/*
 * The trace of one device, written to a Perfetto file as things happen, and its summary. Devices of
 * one process whose traces have the same path write to one file (trace/output.h).
 *
 * T-1  The file consists of whole packets: however the program ends, the file can be loaded. Only
 *      where the kernel stops in the middle of a write (SIGKILL, a power failure), and for who
 *      reads while it writes, the last packet may be cut short: a page at a time gets into the
 *      file. Events are written together, by a thread of the file's own: when there are 64 KiB of
 *      them, when the first is 50 ms old, and at bf_trace_flush. A crash loses what is pending; the
 *      head is in the file before bf_trace_create returns.
 * T-2  An existing file is never overwritten, but by traces of the process that has created it.
 * T-3  Tracing never stops the program, nor makes it wait for a disk. Events that come faster than
 *      the file takes them are left out and counted, of a slice both ends. A file that can't be
 *      written any more is closed with one line; further events are only counted, and the summary
 *      goes on.
 * T-4  Memory is bounded, however long the run is: nothing is kept for each event, nor for each
 *      queue that there has been. Of the fence operations of a queue, as many are followed at once
 *      as trace/fence_ops.h says.
 * T-5  Locks are held over memory accesses only, except one that is held while a file is created.
 * T-6  No time is invented: what the GPU or the CPU saw at a time ends at that time. An operation
 *      of which it is only known that it was over by some time ends with what it comes after; where
 *      that isn't known either, it ends at that time, and says 'at most'.
 * T-7  What Belfry submits for itself is drawn in a lane of its own, 'Belfry', and is in no counter
 *      and no sum of the program's.
 * T-8  An event lies on a track that has been described before it.
 * T-9  A packet or fence operation that there is no lane for is an instant, and isn't lost.
 * T-10 Where the program has closed the descriptor of the file, and a file of its own has got that
 *      number, nothing is written there: the trace ends.
 * T-11 The summary's span begins with the first event. While something is held or, as far as that
 *      is known, under way, it lasts until the summary is printed, else until the last event.
 *
 * Tracks, from the outside in: the process; its engines, each with counters; their queues. Each
 * queue has a 'software queue' (a slice from queued to handed over, and inside it 'held' slices
 * that name the obstacle), a 'hardware queue' (a slice from GPU begin to GPU end, or for an untimed
 * packet an instant at its hand-over, which says why), 'presents' (a slice for each call, with what
 * it waited for) and 'fence operations' (a slice each, from when the CPU
 * queued it to when the GPU executed it). Besides there is 'background processing'.
 * What Belfry does for itself is below 'Belfry'. docs/trace-format.md describes all of it.
 *
 * Where tracing is off, every function returns at once: each accepts a NULL trace (and doesn't
 * touch the packets of one), so callers don't check.
 *
 * All times are nanoseconds on CLOCK_MONOTONIC unless a name ends in _ticks. Thread-safety: all
 * functions may be called from any thread at once, but the calls for one packet must be ordered by
 * their caller.
 */
#ifndef BELFRY_TRACE_TRACE_H
#define BELFRY_TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <vulkan/vulkan.h>

struct bf_trace;

struct bf_trace_info {
    /* the file to write. An existing file is never overwritten: a number is added to the name,
     * unless it is this process's own trace, which goes on. NULL: no file, the summary alone */
    const char *path;
    const char *program; /* the name of the process track */
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

/* Why an execution has no timestamps. */
enum bf_trace_untimed {
    BF_TRACE_UNTIMED_UNKNOWN,
    BF_TRACE_UNTIMED_EMPTY, /* it has no command buffers: there is nothing to time */
    BF_TRACE_UNTIMED_FAMILY,
    BF_TRACE_UNTIMED_PROTECTED,
    BF_TRACE_UNTIMED_PERFORMANCE,
    BF_TRACE_UNTIMED_PEER,
    BF_TRACE_UNTIMED_SLOTS,
    BF_TRACE_UNTIMED_UNREAD,
};

/* A semaphore operation of a packet. Binary semaphores count their own operations: value is the
 * ordinal of the signal that the wait consumes. */
struct bf_trace_sync {
    uint64_t semaphore; /* handle, or the fence; as an obstacle 0 means 'the packet before it in its
                           queue', or one of those below */
    uint64_t value;
};

/* As obstacles: a priority window, a preemption request, and bfSuspendCommandQueue. */
#define BF_TRACE_WINDOW     ((struct bf_trace_sync){0, 1})
#define BF_TRACE_PREEMPTION ((struct bf_trace_sync){0, 2})
#define BF_TRACE_SUSPENSION ((struct bf_trace_sync){0, 3})

/* The trace's record of a packet, embedded in the scheduler's packet. Only trace functions write to
 * it, bf_stamps_begin to 'timed', and who decides that it is not to have timestamps to 'untimed'.
 * It owns nothing: it may be copied, and dropped at any time. A zeroed one stands for a packet that
 * the program never queued, which isn't drawn. */
struct bf_trace_packet {
    uint64_t id;
    uint32_t queue;
    enum bf_trace_packet_kind kind;
    uint32_t command_buffers;
    uint32_t lane; /* this and the next three are for the trace alone */
    bool held_drawn;
    bool fences;      /* it carries fence operations that are drawn as boxes */
    uint64_t caption; /* the number of an interned string */
    bool timed;       /* it has timestamps: bf_trace_packet_executed will follow */
    uint8_t untimed;  /* enum bf_trace_untimed, of an execution that has none */
    uint64_t queued_ns;
    uint64_t held_since_ns;     /* 0: never held */
    uint64_t obstacle_since_ns; /* since when it has waited for held_on */
    struct bf_trace_sync held_on;
    uint64_t handed_over_ns;
};

/* Errors: VK_ERROR_INITIALIZATION_FAILED when the file can't be created (one line names path and
 * cause), VK_ERROR_OUT_OF_HOST_MEMORY (also when no thread can be created). */
VkResult bf_trace_create(const struct bf_trace_info *info, struct bf_trace **trace);

/* Writes what is pending; the last trace of a file closes it. NULL is allowed. No other call on the
 * trace may run or follow. */
void bf_trace_destroy(struct bf_trace *trace);

/* When the process ends, 'tell' is called before the trace does: for what has ended and nobody has
 * seen. NULL: nothing is; it returns when none is under way. The caller holds no lock. */
void bf_trace_tell_at_end(struct bf_trace *trace, void (*tell)(void *context), void *context);

/* Makes the file's thread write what is pending now. Doesn't wait. */
void bf_trace_flush(struct bf_trace *trace);

/* Waits until all that was reported before is in the file, so that it can be read. */
void bf_trace_drain(struct bf_trace *trace);

/* Counts for the whole file, except that of the events for which there was no room only those of
 * this trace are counted. All zero without a trace or a file. */
struct bf_trace_counts {
    uint64_t events; /* that are in the file, or will be */
    uint64_t lost;   /* that are left out: they came too fast, or the file could not be written */
    uint64_t bytes;  /* in the file */
};
void bf_trace_count(struct bf_trace *trace, struct bf_trace_counts *counts);

/* The path of the file, which may have got a number; NULL without a file. Valid until destroyed. */
const char *bf_trace_path(const struct bf_trace *trace);

/* An engine (one real VkQueue) and a queue that lives on it. Returns the number to name it by, or
 * UINT32_MAX when out of memory: calls with that number do nothing. Names are copied, here and
 * below, up to 127 bytes; those of a file's further devices get ', device N' behind them. */
uint32_t bf_trace_add_engine(struct bf_trace *trace, const char *name);
uint32_t bf_trace_add_queue(struct bf_trace *trace, uint32_t engine, const char *name);

/* The queue has been destroyed. Once all that is known of it has ended, the next queue of its
 * engine takes its place, and adds to what was counted there. */
void bf_trace_end_queue(struct bf_trace *trace, uint32_t queue);

/* The queue that stands for Belfry's own work on an engine (T-7); the same number for each call. */
uint32_t bf_trace_own_queue(struct bf_trace *trace, uint32_t engine);

/* A debug name for an object: the device, a queue (by its number) or a semaphore (by its handle).
 * NULL or "" takes it back. */
void bf_trace_name_device(struct bf_trace *trace, const char *name);
void bf_trace_name_queue(struct bf_trace *trace, uint32_t queue, const char *name);
void bf_trace_name_semaphore(struct bf_trace *trace, uint64_t semaphore, const char *name);

/* A timeline semaphore or fence is created, with this value: from here on the handle means it. */
void bf_trace_add_semaphore(struct bf_trace *trace, uint64_t semaphore, uint64_t value);

/* It has this value, since another process, or the program's own work, has set it. */
void bf_trace_semaphore_value(struct bf_trace *trace, uint64_t semaphore, uint64_t value);

/* A semaphore or fence is destroyed: its name and its signals are forgotten, since handles come
 * back as other objects. Waits of queues for it that nothing has satisfied end with that, and say
 * so. To be called before they are let go. */
void bf_trace_forget_semaphore(struct bf_trace *trace, uint64_t semaphore);

/* For command buffers: a debug name (NULL or "" takes it back); that it was begun, which drops the
 * labels recorded before; a label recorded in it; and that it was freed, since handles are
 * reused. */
void bf_trace_name_command_buffer(struct bf_trace *trace, VkCommandBuffer buffer, const char *name);
void bf_trace_command_buffer_begun(struct bf_trace *trace, VkCommandBuffer buffer);
void bf_trace_command_buffer_label(struct bf_trace *trace, VkCommandBuffer buffer,
                                   const char *label);
void bf_trace_forget_command_buffer(struct bf_trace *trace, VkCommandBuffer buffer);

/* The content of a packet, for its caption. */
struct bf_trace_contents {
    uint32_t count; /* command buffers: in one of the next two, or in neither */
    const VkCommandBufferSubmitInfo *infos;
    const VkCommandBuffer *buffers;
    const char *label; /* the queue's labels, outermost first; NULL: none */
};

/* The program has submitted a packet: fills 'packet' and sets queued_ns. The second form is for
 * packets of which only the number of command buffers is known. */
void bf_trace_packet_queued_with(struct bf_trace *trace, struct bf_trace_packet *packet,
                                 uint32_t queue, enum bf_trace_packet_kind kind,
                                 const struct bf_trace_contents *contents);
void bf_trace_packet_queued(struct bf_trace *trace, struct bf_trace_packet *packet, uint32_t queue,
                            enum bf_trace_packet_kind kind, uint32_t command_buffers);

/* A packet has been divided (PE-6, scheduler/preempt.h): 'part' goes on as what it was, with its
 * waits; 'rest' is a packet of its own from now on, with its signals. It was submitted once. */
void bf_trace_packet_divided(struct bf_trace *trace, struct bf_trace_packet *part,
                             const struct bf_trace_contents *first, struct bf_trace_packet *rest,
                             const struct bf_trace_contents *left);

/* The scheduler has found that the packet may not be handed over yet, and what it waits for. Called
 * when that is first found, and again when the obstacle has changed. */
void bf_trace_packet_held(struct bf_trace *trace, struct bf_trace_packet *packet,
                          struct bf_trace_sync obstacle);

/* The driver has accepted the packet. Its waits and signals are given now, when every signal that a
 * wait refers to has been handed over itself: an arrow is drawn from the signal of the smallest
 * value that satisfies the wait. For a timed packet: after bf_stamps_begin, and before
 * bf_stamps_collect can see it. */
void bf_trace_packet_handed_over(struct bf_trace *trace, struct bf_trace_packet *packet,
                                 uint32_t wait_count, const struct bf_trace_sync *waits,
                                 uint32_t signal_count, const struct bf_trace_sync *signals);

/* The packet will never be handed over: the driver refused it, or the device was lost. */
void bf_trace_packet_dropped(struct bf_trace *trace, struct bf_trace_packet *packet);

/* The packet's GPU timestamps have been read (never called for a packet that isn't timed). Two
 * zeros: they could not be had. */
void bf_trace_packet_executed(struct bf_trace *trace, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns);

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

/* The program queues the operation now. 'logged': the queue's log reports its end
 * (bf_trace_fence_done). If not, it ends when the packet that carries it does, by its timestamps or
 * by what comes before it. 'packet' has been queued just before; NULL: none carries it, and it must
 * be logged. Of a packet of kind SIGNAL or WAIT, only this box is drawn besides its time in the
 * software queue. */
void bf_trace_fence_queued(struct bf_trace *trace, uint32_t queue, struct bf_trace_packet *packet,
                           enum bf_trace_fence_op op, struct bf_trace_sync sync, bool logged);

/* Flags of an entry of a log. */
enum {
    /* with a narrower wait stage, work may have begun before the end */
    BF_TRACE_FENCE_LATE_BOUND = 1,
    /* the end is when a later batch of the queue began: the operation itself was over before */
    BF_TRACE_FENCE_LATER_BATCH = 2,
};

/* An entry of the queue's log, in the order of the log: the GPU was through with the operation at
 * 'end_ns' (0: the entry has no time), and had come to it at 'observed_ns' (0: a signal, or a wait
 * that was satisfied by then). The entry belongs to the oldest such operation of the queue; older
 * logged operations of its kind have lost their entries. */
void bf_trace_fence_done(struct bf_trace *trace, uint32_t queue, enum bf_trace_fence_op op,
                         struct bf_trace_sync sync, uint64_t end_ns, uint64_t observed_ns,
                         uint32_t flags);

/* 'count' entries of the queue's log were overwritten unread. */
void bf_trace_fences_lost(struct bf_trace *trace, uint32_t queue, uint64_t count);

/* GPU times from now on are estimates; the summary and the trace say so. */
void bf_trace_mark_uncalibrated(struct bf_trace *trace);

/* The watchdog says why nothing moves: its line stands in the trace, too, up to 1023 bytes of it.
 * It is written soon, since who waits may end the program. */
void bf_trace_standstill(struct bf_trace *trace, const char *line);

/* The device is lost, as the line says. */
void bf_trace_device_lost(struct bf_trace *trace, const char *line);

/* The watchdog has woken up later than it should by so much: the process was stopped, or didn't get
 * to run. Written soon, too. */
void bf_trace_stopped(struct bf_trace *trace, uint64_t at_least_ns);

/* A preemption request of the engine is complete, so long after it was made. */
void bf_trace_preempted(struct bf_trace *trace, uint32_t engine, uint64_t request,
                        uint64_t latency_ns);

/* The host has signalled a timeline semaphore or a fence. */
void bf_trace_host_signal(struct bf_trace *trace, struct bf_trace_sync signal);

/* User-mode submission, on the queue's track: its ring was read ('entries' of them, 'left' were
 * written behind these); its doorbell was connected, lost its page, or was notified. */
enum bf_trace_ring {
    BF_TRACE_RING_READ,
    BF_TRACE_RING_CONNECTED,
    BF_TRACE_RING_DISCONNECTED,
    BF_TRACE_RING_NOTIFIED,
};
void bf_trace_ring(struct bf_trace *trace, uint32_t queue, enum bf_trace_ring what,
                   uint64_t entries, uint64_t left);

/* Background processing (background/trace_events.h), on tracks of the process: items are slices,
 * everything else instants on lane 0. The slices of one lane come one after the other, each begin
 * followed by its end. */
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
    const char *mode; /* MODE: as text */
};
void bf_trace_background(struct bf_trace *trace, const struct bf_trace_background *event);

/* A variant of a pipeline is used from now on, or is used no longer and why: an instant on lane
 * 0. */
enum bf_trace_swap {
    BF_TRACE_SWAP_IN,
    BF_TRACE_SWAP_OUT,
};
void bf_trace_swap(struct bf_trace *trace, enum bf_trace_swap swap, uint64_t pipeline,
                   uint32_t variant, const char *reason);

/* Prints the summary: device, engines, queues and the engines they ran on, submissions, how many
 * were held and how long, busy time of engines, overlap between engines and between queues. Best at
 * the end of a run: GPU times that come in later, but lie before what was counted, are counted in
 * part. */
void bf_trace_print_summary(struct bf_trace *trace, FILE *out);

#endif
