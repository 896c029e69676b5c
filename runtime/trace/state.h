/* SPDX-License-Identifier: MIT */
/* A trace's state, shared by trace.c (creation, names), track.c (tracks and events), packets.c,
 * fences.c and background.c (what is drawn). The output's lock is held for every function. */
#ifndef BELFRY_TRACE_STATE_H
#define BELFRY_TRACE_STATE_H

#include "base/clock.h"
#include "base/lock.h"
#include "base/map.h"
#include "trace/fence_ops.h"
#include "trace/flow.h"
#include "trace/output.h"
#include "trace/perfetto.h"
#include "trace/summary.h"
#include "trace/trace.h"
#include "trace/interning.h"

#define BF_TRACE_NAME           BF_STRING_SIZE
#define BF_TRACE_SOFTWARE_LANES 256
#define BF_TRACE_HARDWARE_LANES 8
#define BF_TRACE_PRESENT_LANES  8
#define BF_TRACE_NO_LANE        UINT32_MAX

#define BF_TRACE_BACKGROUND_LANES 32

/* The tracks of a process, of an engine and of a queue; a track's number is made from these. */
enum bf_trace_track {
    BF_TRACK_PROCESS = 0,
    BF_TRACK_HOST,
    BF_TRACK_OWN,        /* Belfry's own work */
    BF_TRACK_BACKGROUND, /* and as many more as there are lanes */

    BF_TRACK_ENGINE = 0,
    BF_TRACK_IN_FLIGHT,
    BF_TRACK_HELD,
    BF_TRACK_SIGNALS_PENDING,
    BF_TRACK_LOST_ENTRIES,

    BF_TRACK_QUEUE = 0,
    BF_TRACK_HARDWARE, /* and as many more as there are lanes */
    BF_TRACK_SOFTWARE = BF_TRACK_HARDWARE + BF_TRACE_HARDWARE_LANES,
    BF_TRACK_FENCES = BF_TRACK_SOFTWARE + BF_TRACE_SOFTWARE_LANES,
    BF_TRACK_PRESENTS = BF_TRACK_FENCES + BF_FENCE_LANES,
    BF_TRACK_QUEUE_END = BF_TRACK_PRESENTS + BF_TRACE_PRESENT_LANES,
};

struct bf_trace_engine {
    char name[BF_TRACE_NAME];
    bool described;
    int64_t held;
    int64_t in_flight;
    int64_t signals_pending;
    uint64_t lost_entries;
};

struct bf_trace_queue {
    char name[BF_TRACE_NAME];       /* the name it was added with */
    char debug_name[BF_TRACE_NAME]; /* the program's name, or "" */
    uint32_t engine;
    bool own;        /* Belfry's, not the program's (T-7) */
    bool ended;      /* it has been destroyed */
    uint32_t former; /* how many had this place before */
    bool described;
    bool unsettled;          /* on the list of queues to settle (fences.c) */
    uint32_t next_unsettled; /* the next on that list; UINT32_MAX: none */
    uint32_t software_lanes; /* described */
    uint32_t hardware_lanes;
    uint32_t fence_lanes;
    uint32_t present_lanes;
    uint64_t taken[BF_TRACE_SOFTWARE_LANES / 64];
    uint64_t presents_taken;
    uint64_t lane_end[BF_TRACE_HARDWARE_LANES];
    uint64_t timed_handed_over;  /* packets with GPU times that were handed over, */
    uint64_t timed_executed;     /* and those of them that have been executed */
    uint64_t reached_ns;         /* when the last thing that is known to be over was, */
    bool reached_at_most;        /* at the latest */
    bool unseen;                 /* since its last timed packet it was given untimed work */
    uint32_t reported;           /* operations that are over, but it is open when (fences.c) */
    struct bf_fence_ops *fences; /* NULL: none yet */
};

/* What is known of a command buffer. */
struct bf_trace_buffer {
    char name[BF_TRACE_NAME];
    /* the labels recorded since it was begun, with commas between them */
    char labels[BF_TRACE_NAME];
};

/* What is known of a semaphore or fence. */
struct bf_trace_semaphore {
    uint64_t number;          /* from 1 in the trace, also where its handle was another's before */
    char name[BF_TRACE_NAME]; /* "": none */
    uint64_t value;           /* the latest that it is known to have had, */
    uint64_t value_ns;        /* at this time */
};

struct bf_trace {
    char program[BF_TRACE_NAME];
    char device[256]; /* VK_MAX_PHYSICAL_DEVICE_NAME_SIZE */
    char driver[256];
    char name[BF_TRACE_NAME]; /* of the device, by the program; or "" */
    /* added to the numbers of tracks and arrows, so that they differ from those of other traces */
    uint64_t base;

    bool drawing;             /* there is a file, or there was one until an error */
    struct bf_output *output; /* has the lock; other traces may share both */
    struct bf_output_member member;
    uint32_t number;                  /* the how-many-th trace of the output it is */
    bool begun;                       /* this trace's head is in the file */
    uint64_t open;                    /* slices whose end is still to come */
    struct bf_perfetto_sequence now;  /* the sequence whose times only grow */
    struct bf_perfetto_sequence late; /* the sequence for what is drawn later than it happened */
    uint64_t lost;                    /* events for which there was no room, */
    uint64_t lost_told;               /* and how many of them the file says are lost */

    struct bf_trace_engine *engines;
    struct bf_trace_queue *queues;
    uint32_t engine_count;
    uint32_t queue_count;
    uint64_t last_packet;
    uint64_t last_fence_op;
    uint32_t first_unsettled;
    bool host_described;
    bool own_described;
    uint32_t background_described; /* lanes that have been described, as bits, */
    uint32_t background_open;      /* and those on which a slice is open */
    uint64_t last_semaphore;
    struct bf_map semaphores; /* handle → struct bf_trace_semaphore *, owned */
    struct bf_map buffers;    /* command buffer → struct bf_trace_buffer *, owned */
    struct bf_flow *flow;
    struct bf_interning interning;
    struct bf_summary summary;
};

/* --- track.c ----------------------------------------------------------------------------------*/

/* Every public function ends with this: it releases the lock. */
static inline void bf_trace_leave(struct bf_trace *t)
{
    bf_output_leave(t->output);
}

uint64_t bf_trace_track(const struct bf_trace *t, enum bf_trace_track track);
uint64_t bf_trace_engine_track(const struct bf_trace *t, uint32_t engine,
                               enum bf_trace_track track);
uint64_t bf_trace_queue_track(const struct bf_trace *t, uint32_t queue, uint32_t track);

/* Is there room for one packet? Writes the trace's head before the first one. 'end': the packet
 * ends a slice. */
bool bf_trace_room(struct bf_trace *t, bool end);
void bf_trace_process_describe(struct bf_trace *t);
void bf_trace_queue_describe_anew(struct bf_trace *t, uint32_t index);
/* "NAME (OWN NAME)" where the program has named the queue, else "OWN NAME". */
#define BF_TRACE_QUEUE_LABEL (2 * BF_TRACE_NAME + 4)
void bf_trace_queue_label(const struct bf_trace_queue *queue, char label[BF_TRACE_QUEUE_LABEL]);

/* The numbers of tracks; each is described before it is first used. */
uint64_t bf_trace_host_track(struct bf_trace *t);
uint64_t bf_trace_ring_track(struct bf_trace *t, uint32_t queue); /* the queue's own */
uint64_t bf_trace_background_track(struct bf_trace *t, uint32_t lane);
uint64_t bf_trace_software_track(struct bf_trace *t, uint32_t queue, uint32_t lane);
uint64_t bf_trace_hardware_track(struct bf_trace *t, uint32_t queue, uint32_t lane);
uint64_t bf_trace_present_track(struct bf_trace *t, uint32_t queue, uint32_t lane);
uint64_t bf_trace_fence_track(struct bf_trace *t, uint32_t queue, uint32_t lane);

/* False: there was no room; the event has been counted as lost. */
bool bf_trace_event(struct bf_trace *t, struct bf_perfetto_sequence *sequence,
                    const struct bf_perfetto_event *event);
void bf_trace_counter(struct bf_trace *t, uint32_t engine, enum bf_trace_track counter,
                      int64_t value, uint64_t now);
/* Adds to a counter of a queue's engine. Belfry's own queues count for nothing. */
void bf_trace_count_for(struct bf_trace *t, uint32_t queue, enum bf_trace_track counter, int64_t by,
                        uint64_t now);
/* The run lasts to this time, if the queue is the program's. */
void bf_trace_extend_for(struct bf_trace *t, uint32_t queue, uint64_t now);

/* Of an obstacle that is no semaphore. */
enum bf_string bf_trace_obstacle_word(struct bf_trace_sync obstacle);

/* The record of a semaphore or fence; a new one if there is none. NULL: out of memory. */
struct bf_trace_semaphore *bf_trace_semaphore_of(struct bf_trace *t, uint64_t semaphore);
/* It had this value at that time. */
void bf_trace_value_take(struct bf_trace *t, struct bf_trace_sync sync, uint64_t time_ns);
/* The latest value that it is known to have had; 0: none is. */
uint64_t bf_trace_value_of(struct bf_trace *t, uint64_t semaphore);

/* The annotations of a semaphore ('what': whether it is one or a fence), or of another obstacle. */
const char *bf_trace_semaphore_name(struct bf_trace *t, uint64_t semaphore);
uint32_t bf_trace_sync_annotate(struct bf_trace *t, enum bf_string what, struct bf_trace_sync sync,
                                struct bf_perfetto_annotation a[4]);

/* Draws an instant at which an arrow begins or ends, later than it happened. */
void bf_trace_arrow_end(struct bf_trace *t, uint64_t time_ns, uint64_t track, enum bf_string name,
                        uint64_t packet, const uint64_t *from, const uint64_t *to);

/* --- fences.c ---------------------------------------------------------------------------------*/

/* What has become of the fence operations of a packet. */
void bf_trace_fences_divided(struct bf_trace *t, const struct bf_trace_packet *part,
                             const struct bf_trace_packet *rest);
void bf_trace_fences_handed_over(struct bf_trace *t, const struct bf_trace_packet *packet,
                                 uint64_t now);
void bf_trace_fences_executed(struct bf_trace *t, const struct bf_trace_packet *packet,
                              uint64_t begin_ns, uint64_t end_ns, uint64_t now);
void bf_trace_fences_dropped(struct bf_trace *t, const struct bf_trace_packet *packet,
                             uint64_t now);
/* A semaphore or fence is being destroyed: so end the waits for it that nothing has satisfied. */
void bf_trace_fences_destroyed(struct bf_trace *t, uint64_t semaphore);
/* The trace ends: what is over, but it isn't known when, ended when that was reported, at most. */
void bf_trace_fences_end(struct bf_trace *t);

/* Does the GPU work for it, and not only signal and wait? */
static inline bool bf_trace_packet_works(const struct bf_trace_packet *packet)
{
    return packet->command_buffers > 0 || packet->kind == BF_TRACE_BIND_SPARSE;
}

/* The key under which a fence's signals are remembered beside those of packets. */
static inline uint64_t bf_trace_fence_key(uint64_t fence)
{
    return fence ^ 1ull << 63;
}

#endif
