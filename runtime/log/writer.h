/* SPDX-License-Identifier: MIT */
/*
 * What writes a queue's two logs (log/log.h): command buffers, or the host for a log without times;
 * and the memory they write to. All of it belongs to whoever holds the engine's lock.
 */
#ifndef BELFRY_LOG_WRITER_H
#define BELFRY_LOG_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/memory.h"
#include "log/log.h"

/* Slots for each entry of a log: so often its numbers may go round it before the first of them has
 * arrived. */
#define BF_LOG_SLOTS_PER_ENTRY 4

/* How an entry's times come there; they name a slot's command buffers. */
enum bf_log_timing {
    BF_LOG_AS_GIVEN = 0, /* both travel in the payload */
    BF_LOG_STAMP = 1,    /* the end is stamped here */
    BF_LOG_KEPT = 2,     /* a wait is observed, a signal ends, when the packet before had ended */
    BF_LOG_TIMINGS = 4,
};

struct bf_log_slot {
    struct bf_log_slot *next; /* on its way */
    uint64_t epoch;           /* UINT64_MAX: not accepted yet; 0: free */
    uint64_t number;          /* of the entry that it has written last */
    uint32_t query;
    enum bf_log_timing timing;
    int8_t side;                              /* -1: it marks a packet's end alone */
    uint64_t key;                             /* what it logs, for the timeline */
    uint64_t added_ns;                        /* when, about: on CLOCK_MONOTONIC */
    VkCommandBuffer commands[BF_LOG_TIMINGS]; /* recorded when first needed */
};

struct bf_log_writer {
    struct bf_log *log;
    struct bf_log_writer *next_dying, *successor;
    uint32_t cursors; /* that are in it; and one for the writer that it succeeds, if that lives */
    uint32_t count;   /* entries of each side */
    uint32_t slot_count; /* of each side */
    bool timed;
    bool by_host;       /* LG-6; the members for command buffers are unused */
    bool copies_stamps; /* the GPU does; else the host reads them */
    struct bf_buffer logs, staging;
    struct bf_log_payload *payloads; /* of the slots: 'staging', or the host's own */
    VkDeviceSize log_bytes;          /* from one log to the next in their buffer */
    VkCommandPool pool;
    VkQueryPool queries;
    struct bf_log_slot *slots;        /* of both sides; where the host reads stamps, of ends too */
    uint64_t next[BF_LOG_SIDES];      /* number of the next entry, ever */
    struct bf_log_slot *first, *last; /* on their way, in order of submission */
    struct bf_log_slot *unaccepted;   /* the first of these whose batch hasn't been accepted yet */
    bool has_end;                     /* the time of a packet's end is kept, or will be by then */
    VkCommandBuffer end; /* keeps the time of a packet's end; where the host reads, slots do */
    uint64_t last_epoch; /* of the last batch with anything of the writer's, slots or that one */
    uint64_t ends;       /* of these slots, ever used */
    uint64_t last_end;   /* the host's: the stamp of the last packet's end */
};

/* Errors: as bf_log_set's. */
VkResult bf_log_writer_create(struct bf_log *log, uint32_t entries, struct bf_log_writer **writer);
/* Nothing of it is on its way. NULL is allowed. */
void bf_log_writer_destroy(struct bf_log_writer *writer);

/* One of the two logs. */
BfFenceLogBuffer *bf_log_writer_memory(const struct bf_log_writer *writer, enum bf_log_side side);

/* The slot that has written the entry of that number, for as long as the log has the entry. */
static inline const struct bf_log_slot *bf_log_writer_slot(const struct bf_log_writer *writer,
                                                           enum bf_log_side side, uint64_t number)
{
    return &writer->slots[(uint32_t)side * writer->slot_count + number % writer->slot_count];
}

/* Is the next slot free? */
static inline bool bf_log_writer_has_room(const struct bf_log_writer *writer, enum bf_log_side side)
{
    return !bf_log_writer_slot(writer, side, writer->next[side])->epoch;
}

/* Logs the operation, by a slot more that is on its way, and by *commands, if it isn't NULL. False:
 * there is no free slot, or no memory. 'noted': it happened before this batch. */
bool bf_log_writer_add(struct bf_log_writer *writer, const struct bf_log_operation *operation,
                       bool noted, VkCommandBuffer *commands);

/* The command buffer that keeps the time at which the packet ends, or NULL. *slots grows by one if
 * it takes a slot. */
VkCommandBuffer bf_log_writer_end(struct bf_log_writer *writer, uint32_t *slots);

/* The first so many slots that haven't been yet. */
void bf_log_writer_accepted(struct bf_log_writer *writer, uint32_t slots, uint64_t epoch);

/* All that haven't been, nor will be: they are as if they had never been added. 'had_end': so was
 * has_end before. */
void bf_log_writer_refused(struct bf_log_writer *writer, bool had_end);

/* Has the GPU still something of it? */
static inline bool bf_log_writer_is_busy(const struct bf_log_writer *writer, uint64_t completed)
{
    return writer->first || writer->last_epoch > completed;
}

/* The epoch has been reached: slots up to it are free again, and what the host owes is written. */
void bf_log_writer_collect(struct bf_log_writer *writer, uint64_t completed);

#endif
