/* SPDX-License-Identifier: MIT */
/*
 * The contents of a trace as engines, queues and packets, built up event by event.
 *
 * Sums are kept for the whole file; of the packets themselves only the last TRACE_WINDOW are kept,
 * in a ring, by their 'serial' (a number in the order in which the trace first names them). A
 * packet is added to the sums once half a window of packets has followed it, or at the end of the
 * file: its GPU times come in later than its CPU times.
 *
 * V-1  Memory is bounded, whatever the file contains: every table has a limit, and what exceeds it
 *      is counted in 'lost'.
 * V-2  Every number in the file that names something is looked up, never used as an index.
 *
 * BT-1 What holds a packet is called what the trace calls it: a fence, the packet before it, or
 *      else something that holds a whole queue. Dropped is what the trace says was, when it says.
 * BT-2 Two fences are two, whatever their names and handles, if the trace gives them numbers.
 * BT-3 However many devices come and go, those of a time are all there: what has ended makes room.
 *      What is left out all the same is said above everything else.
 * BT-4 A stop of the process counts once, however many of its devices tell of it, and a
 *      packet without an end once, however many waits it has.
 * BT-5 What is printed and drawn is UTF-8. A picture never takes the place of its trace.
 *
 * Thread-safety: none; one thread at a time. All times are nanoseconds on the trace's clock.
 */
#ifndef BELFRY_CLI_TRACE_MODEL_H
#define BELFRY_CLI_TRACE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/overlap.h"
#include "cli/trace_event.h"

#define TRACE_WINDOW       16384 /* powers of two */
#define TRACE_FLOW_COUNT   65536 /* arrows remembered at once */
#define TRACE_OPERATIONS   16384 /* fence operations remembered at once */
#define TRACE_TRACKS_MAX   32768
#define TRACE_ENGINES_MAX  64
#define TRACE_QUEUES_MAX   512
#define TRACE_NAMES_MAX    4096 /* of fences, and other texts */
#define TRACE_OBJECTS_MAX  3072 /* beyond these, fences are told apart by their names alone */
#define TRACE_WAITS_MAX    4096 /* pairs of a waiting queue and what it waits for */
#define TRACE_NAME_SIZE    64
#define TRACE_CAPTION_SIZE 64
#define TRACE_LABEL_SIZE   288 /* of queues: two names */
#define TRACE_PACKET_INS   8   /* arrows that end at one packet */
#define TRACE_PACKET_HOLD  4   /* holds of one packet, for the picture */
#define TRACE_PERIOD_MAX   16  /* submissions of a frame, where nothing is presented */
#define TRACE_NONE         UINT32_MAX
#define TRACE_NO_SERIAL    UINT64_MAX

enum trace_packet_kind {
    TRACE_PACKET_OTHER,
    TRACE_PACKET_EXECUTE,
    TRACE_PACKET_BIND_SPARSE,
    TRACE_PACKET_PRESENT,
    TRACE_PACKET_SIGNAL,
    TRACE_PACKET_WAIT,
};

/* A fence and its value, as the trace names them. */
struct trace_fence {
    uint32_t name; /* TRACE_NONE: the trace doesn't say which */
    bool valued;
    uint64_t value;
};

struct trace_hold {
    uint64_t begin;
    uint64_t end; /* 0: never released */
    struct trace_fence on;
    bool on_predecessor; /* held for the packet before it in its queue */
    /* 1 + name of what else holds it: a priority window, a suspension, ...; 0: nothing */
    uint32_t obstacle_plus;
};

static inline bool trace_hold_is_for_fence(const struct trace_hold *hold)
{
    return !hold->on_predecessor && !hold->obstacle_plus;
}

/* Times are 0 where the trace doesn't have them. */
struct trace_packet {
    uint64_t serial;
    uint64_t id; /* as the trace numbers it */
    uint64_t key;
    uint32_t process;
    uint64_t older; /* 1 + serial of the next in its bucket; 0: none */
    uint32_t queue;
    enum trace_packet_kind kind;
    uint64_t previous; /* in its queue: serial, or TRACE_NO_SERIAL */
    uint64_t ordinal;  /* 1, 2, ...: of its queue's submissions, or of all presents; else 0 */
    uint64_t queued_ns;
    uint64_t handed_over_ns;
    uint64_t begin_ns; /* on the GPU */
    uint64_t end_ns;
    uint64_t unblocked_ns; /* when its last wait was satisfied */
    uint64_t late_ns;      /* a wait of it was satisfied by then; nobody knows since when */
    uint64_t signalled_ns; /* a signal: when the fence was set, if the trace says so */
    uint64_t dropped_ns;
    bool released;      /* its last wait ended since the fence was destroyed */
    bool has_operation; /* its fence operation is a box of its own */
    uint64_t done_ns;   /* see trace_packet_done */
    bool done_known;
    /* done_ns is being searched for; ends the search where waits form a ring */
    bool done_asked;
    uint64_t done_epoch; /* of the search that found done_ns, if it isn't known for good */
    bool dropped;
    bool instant;  /* handed over, without GPU times, */
    uint32_t why;  /* for this reason; TRACE_NONE: the trace doesn't say */
    uint32_t name; /* of its command buffers; TRACE_NONE: none */
    uint32_t command_buffers;
    char caption[TRACE_CAPTION_SIZE]; /* the program's name for the work */
    struct trace_fence fence;         /* of a signal or a wait */
    struct trace_fence waited;        /* what it waited for last, where the trace shows that */
    bool laneless;    /* of its time in the software queue the trace has the beginning alone */
    bool stalled;     /* it is counted among those without an end */
    bool still_waits; /* when the trace ended, */
    struct trace_fence open; /* for this */
    uint64_t held_ns;
    uint64_t held_until_ns; /* the end of the last hold */
    uint64_t held_longest_ns;
    struct trace_hold longest;
    uint32_t hold_count;
    uint32_t in_count;
    struct trace_hold holds[TRACE_PACKET_HOLD];
    uint64_t in[TRACE_PACKET_INS]; /* arrows' numbers */
};

/* A fence operation, from queued on the CPU to done on the GPU. */
struct trace_operation {
    bool wait;       /* or a signal */
    bool late;       /* done_ns is the time at which the end was found, later than the end itself */
    uint32_t queue;  /* or TRACE_CAUSE_CPU */
    uint64_t serial; /* of the packet that carries it, or TRACE_NO_SERIAL */
    uint64_t queued_ns;
    uint64_t done_ns;
    uint64_t older; /* signals: 1 + number of the one before it of the same fence; 0: none */
    struct trace_fence fence;
};

struct trace_engine {
    char name[2 * TRACE_NAME_SIZE];
    uint32_t process;
    bool ended;       /* its device is: another one's engine may take its place, and adds to it */
    uint64_t packets; /* submissions handed over */
    uint64_t timed;
};

/* The calls of a queue's presents. */
struct trace_presents {
    uint64_t count;
    uint64_t called_ns;  /* the time spent in them, */
    uint64_t waiting_ns; /* and that part in which what they waited for was not done yet */
    uint64_t longest_ns;
    uint64_t longest_id;
    uint32_t cause; /* 'caused' times a queue, or one of TRACE_CAUSE_...: that they waited for */
    uint64_t caused;
};

/* This reason means that nothing is missing. */
#define TRACE_NOTHING_TO_TIME "no command buffers"

/* Submissions without GPU times, by the reason that the trace gives. */
#define TRACE_REASONS_MAX 16
struct trace_untimed {
    uint32_t why; /* a name, or TRACE_NONE */
    uint64_t count;
};

struct trace_queue {
    char name[TRACE_LABEL_SIZE];
    uint32_t process;
    bool ended;
    uint64_t ended_ns; /* its device's trace has; 0: not yet */
    uint64_t lost_ns;  /* its device was; 0: it wasn't */
    bool several;      /* queues of several devices, one after the other */
    uint32_t engine;
    uint64_t submissions;
    struct trace_presents presents;
    uint64_t fence_packets;
    uint64_t fence_boxes; /* of operations that are drawn as such */
    uint64_t executed;    /* with GPU times */
    uint64_t untimed;     /* handed over, never timed, */
    uint64_t empty;       /* and those of them that have nothing to time */
    uint64_t dropped;
    uint64_t unfinished; /* the trace ends before they do */
    uint64_t held;
    uint64_t held_ns; /* the time in which one of them was, or several */
    uint64_t held_until_ns;
    uint64_t held_longest_ns;
    uint64_t held_longest_id;
    struct trace_hold held_longest;
    struct trace_packet dropped_first; /* where 'dropped' isn't 0 */
    uint64_t last;                     /* serial of its newest packet */
    uint64_t ordinals;                 /* submissions seen so far */
    uint64_t retired_id;               /* the greatest of those summed up */
    uint64_t retired_done;             /* when the last of those summed up was done */
    uint64_t waited_until;             /* when the last wait summed up was over */
    uint32_t fence_ops;                /* since the last submission summed up: its pattern */
    uint64_t patterns[TRACE_PERIOD_MAX];
    uint64_t pattern_count;
    uint64_t matches[TRACE_PERIOD_MAX + 1]; /* submissions that look like the n-th before them */
};

/* Its waits and signals of fences: those in submissions as well, where the trace tells them
 * apart. */
static inline uint64_t trace_queue_fence_operations(const struct trace_queue *queue)
{
    return queue->fence_boxes > queue->fence_packets ? queue->fence_boxes : queue->fence_packets;
}

/* The queue, or the CPU, whose signal ended a wait. */
#define TRACE_CAUSE_CPU     (TRACE_NONE - 1)
#define TRACE_CAUSE_SEVERAL (TRACE_NONE - 2) /* of several waits */
#define TRACE_CAUSE_DESTROY (TRACE_NONE - 3) /* the fence was destroyed */
#define TRACE_CAUSE_NOBODY  (TRACE_NONE - 4) /* the trace ends before the wait does */
#define TRACE_CAUSE_UNKNOWN TRACE_NONE

struct trace_wait_row {
    uint32_t queue;
    uint32_t cause; /* a queue, or one of the above */
    uint32_t fence; /* a name, or TRACE_NONE */
    /* how long they were is known as an upper bound alone: they count into no total */
    bool at_most;
    uint64_t count;
    uint64_t lost_ns;
    uint64_t longest_ns;
    uint64_t longest_id; /* packet that waited longest */
    uint64_t longest_released_ns;
};

/* Where an arrow leaves from. */
struct trace_flow {
    uint64_t id; /* 0: empty */
    uint64_t serial;
    uint64_t time_ns;
    uint32_t queue; /* or TRACE_CAUSE_CPU */
    bool given;     /* time_ns is when the signal was given */
    bool late;      /* time_ns is when that was found out */
    struct trace_fence fence;
};

/* What a fence was set to last, as far as the trace tells. */
struct trace_value {
    uint64_t at_ns; /* 0: it doesn't */
    uint64_t value;
};

enum trace_track_kind {
    TRACE_TRACK_OTHER,
    TRACE_TRACK_PROCESS,
    TRACE_TRACK_ENGINE,
    TRACE_TRACK_QUEUE,
    TRACE_TRACK_SOFTWARE,
    TRACE_TRACK_HARDWARE,
    TRACE_TRACK_PRESENTS, /* slices as on a software track, instants as on a hardware track */
    TRACE_TRACK_HOST,
    TRACE_TRACK_OWN,    /* Belfry's own work, and what is below it */
    TRACE_TRACK_FENCES, /* a slice for each wait and signal */
};

struct trace_track {
    uint64_t uuid; /* 0: empty */
    uint64_t parent;
    enum trace_track_kind kind;
    bool belfry;            /* a process: Belfry's */
    bool ended;             /* its trace */
    uint32_t index;         /* of the process, engine or queue */
    uint32_t depth;         /* slices open */
    uint64_t serial;        /* of the packet whose slice is open */
    uint64_t operation;     /* 1 + number of the operation whose slice is open */
    struct trace_hold hold; /* the one that is open, or the fence operation; begin 0: none */
    uint64_t packet;        /* the number of the packet whose slice, or operation, is open; or 0, */
    uint64_t since_ns;      /* and since when */
    bool waits;             /* the fence operation is a wait */
    char name[2 * TRACE_NAME_SIZE];
};

/* What could not be taken in. */
struct trace_lost {
    uint64_t damaged; /* packets of the file */
    uint64_t damaged_first;
    uint64_t tracks;       /* beyond the limits */
    uint64_t late_packets; /* packets whose GPU times came after they had left the window */
    uint64_t late_flows;   /* arrows whose begin was not found */
    uint64_t names;
    uint64_t waits;
    uint64_t ins;         /* arrows beyond those that a packet has room for */
    uint64_t times;       /* events with impossible times */
    uint64_t log_entries; /* that the trace says were overwritten unread */
    uint64_t events;      /* that the trace says it lacks */
    uint64_t late_ends;   /* fence operations that ended some time before the trace says so */
};

struct trace_model {
    struct trace_lost lost;
    bool out_of_memory;
    bool uncalibrated;
    uint64_t stopped_ns;  /* at least so long the program was stopped, or didn't get to run; */
    uint64_t stop_ns;     /* the last of these stops, */
    uint64_t stop_end_ns; /* when it was over */
    uint32_t process_count;
    uint32_t ended;                    /* and how many of them say that their trace ends */
    char program[2 * TRACE_NAME_SIZE]; /* of the first process */
    char device[256];
    char driver[256];
    uint64_t told_count; /* lines of the watchdog's, */
    uint64_t told_ns;    /* and the last of them */
    char told[1024];
    uint64_t host_signals;
    struct {
        uint64_t reads, entries, connected, taken, notified;
    } rings;                  /* of user-mode submission */
    uint64_t own_submissions; /* Belfry's, in no other figure, */
    uint64_t own_ns;          /* and the time that the GPU took for them */
    uint64_t first_ns;        /* 0: nothing happened */
    uint64_t last_ns;

    struct trace_track *tracks; /* a hash table, by uuid */
    uint32_t track_capacity;
    uint32_t track_count;
    /* A trace has ended since it was last tried to make room for tracks, and so many are refused
     * before that is tried again. */
    bool tracks_to_sweep;
    uint32_t tracks_unswept;
    uint32_t engine_count;
    uint32_t queue_count;
    uint32_t name_count;
    uint32_t wait_count;
    uint32_t untimed_count;
    struct trace_untimed untimed[TRACE_REASONS_MAX];
    uint64_t present_count; /* seen */
    struct trace_engine engines[TRACE_ENGINES_MAX];
    struct trace_queue queues[TRACE_QUEUES_MAX];
    char names[TRACE_NAMES_MAX][TRACE_NAME_SIZE];
    uint64_t name_objects[TRACE_NAMES_MAX];       /* whose name it is: trace_fence_of */
    struct trace_wait_row waits[TRACE_WAITS_MAX]; /* a hash table as far as wait_index goes */
    uint32_t wait_index[2 * TRACE_WAITS_MAX];     /* 1 + row; 0: empty */
    uint32_t name_index[2 * TRACE_NAMES_MAX];     /* 1 + name; 0: empty */

    bool settled;   /* the file has ended */
    uint32_t depth; /* of the search for when a packet was done, */
    uint32_t steps; /* its length, */
    uint64_t epoch; /* and its number */
    uint64_t next_serial;
    uint64_t retired; /* serials below this are summed up */
    uint64_t buckets[TRACE_WINDOW];
    struct trace_packet window[TRACE_WINDOW];
    struct trace_flow flows[TRACE_FLOW_COUNT];
    uint64_t operation_count; /* seen; the last TRACE_OPERATIONS are kept */
    struct trace_operation operations[TRACE_OPERATIONS];
    uint64_t signals[TRACE_NAMES_MAX]; /* by fence: 1 + number of the newest signal; 0: none */
    struct trace_value values[TRACE_NAMES_MAX]; /* by fence */
    struct bf_overlap busy;
};

/* NULL: out of memory. */
struct trace_model *trace_model_create(void);
void trace_model_destroy(struct trace_model *model);

/* Takes in one packet of the file. */
void trace_model_add(struct trace_model *model, const struct trace_item *item);

/* The file has ended: sums up what is left. */
void trace_model_settle(struct trace_model *model);

/* A packet that is still in the window, or NULL. */
struct trace_packet *trace_packet_at(struct trace_model *model, uint64_t serial);
/* The oldest serial that is. */
uint64_t trace_window_begin(const struct trace_model *model);

/*
 * When a packet's work was done: its end on the GPU; for what the GPU doesn't time the latest of
 * its hand-over, the packet before it in its queue, and the signals it waited for. 0: not known, or
 * it never was.
 */
uint64_t trace_packet_done(struct trace_model *model, struct trace_packet *packet);

/* The signal that an arrow comes from. */
struct trace_cause {
    uint32_t queue;              /* or TRACE_CAUSE_CPU, TRACE_CAUSE_UNKNOWN */
    struct trace_packet *packet; /* NULL: the CPU, or no longer in the window */
    uint64_t time_ns;            /* when the signal was given */
    bool late;                   /* or later */
    struct trace_fence fence;
};

/* False: its begin is not known. */
bool trace_cause_find(struct trace_model *model, uint64_t flow, struct trace_cause *cause);

/* 1 + number → the operation; NULL for 0 and for one that is no longer remembered. */
struct trace_operation *trace_operation_at(struct trace_model *model, uint64_t number_plus);

/* The last to be given of the signals that a packet waited for. Where the trace has no arrow: the
 * signal of the fence that must have been it. False: it waited for none, or that is not known. */
bool trace_packet_cause(struct trace_model *model, const struct trace_packet *packet,
                        struct trace_cause *cause);

/* What a present waited for: a signal, as above, or where it waits for none, the work that its
 * engine did for what was submitted before it and that ended during the call. */
bool trace_present_cause(struct trace_model *model, const struct trace_packet *present,
                         struct trace_cause *cause);

const char *trace_name(const struct trace_model *model, uint32_t name);

/* A fence's name, with its value if it has one; "" where the trace doesn't say which. */
#define TRACE_FENCE_SIZE (TRACE_NAME_SIZE + 24)
const char *trace_fence_label(const struct trace_model *model, struct trace_fence fence,
                              char label[TRACE_FENCE_SIZE]);

/* What holds a packet, in words; 'label' is room for them. */
const char *trace_hold_label(const struct trace_model *model, const struct trace_hold *hold,
                             char label[TRACE_FENCE_SIZE]);

const char *trace_kind_name(enum trace_packet_kind kind);

#endif
