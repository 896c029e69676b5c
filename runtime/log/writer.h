/* SPDX-License-Identifier: MIT */
/*
 * The writer of a queue's two logs (log/log.h): the memory of the logs, and the command buffers
 * that write to it; or the host, with or without timestamps of the GPU (LG-6). Guarded by the
 * engine's lock.
 */
#ifndef BELFRY_LOG_WRITER_H
#define BELFRY_LOG_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "gpu/memory.h"
#include "log/log.h"

/* Slots per entry of a log: how often the ring may wrap before the oldest entry in flight has to be
 * written. */
#define BF_LOG_SLOTS_PER_ENTRY 4

/* Where an entry's times come from; each value has a command buffer of its own in a slot. */
enum bf_log_timing {
    BF_LOG_AS_GIVEN = 0, /* both travel in the payload */
    BF_LOG_STAMP = 1,    /* the end is a timestamp of this command buffer */
    BF_LOG_KEPT =
        2, /* a wait's observation, or a signal's end, is when the previous packet ended */
    BF_LOG_TIMINGS = 4,
};

struct bf_log_slot {
    struct bf_log_slot *next; /* in flight */
    uint64_t epoch;           /* UINT64_MAX: not accepted yet; 0: free */
    uint64_t number;          /* of the entry that it wrote last */
    uint32_t query;
    enum bf_log_timing timing;
    int8_t side;       /* -1: it only keeps the time of a packet's end */
    uint64_t key;      /* identifies what it logs, for the trace */
    uint64_t added_ns; /* on CLOCK_MONOTONIC */
    bool later;        /* its end is when a batch after the operation's own time began */
    VkCommandBuffer commands[BF_LOG_TIMINGS]; /* recorded when first needed */
};

struct bf_log_writer {
    struct bf_log *log;
    struct bf_log_writer *next_dying, *successor;
    uint32_t cursors;    /* in it; plus one while its predecessor lives */
    uint32_t count;      /* entries of each side */
    uint32_t slot_count; /* of each side */
    bool timed;
    bool by_host;       /* LG-6: the command buffers hold timestamps alone, if there are any */
    bool copies_stamps; /* the GPU copies timestamps; else the host reads them */
    struct bf_buffer logs, staging;
    struct bf_log_payload *payloads; /* one per slot: in 'staging', or in host memory */
    VkDeviceSize log_bytes;          /* size of one log in the buffer */
    VkCommandPool pool;
    VkQueryPool queries;
    struct bf_log_slot *slots;        /* of both sides, then of packets' ends */
    uint64_t next[BF_LOG_SIDES];      /* number of the next entry, over all wraparounds */
    struct bf_log_slot *first, *last; /* in flight, in order of submission */
    struct bf_log_slot *unaccepted;   /* the first of these whose batch hasn't been accepted yet */
    bool has_end;                     /* the previous packet's end is, or will be, kept */
    VkCommandBuffer end;              /* keeps the time of a packet's end, if the GPU copies */
    uint64_t last_epoch;              /* of the last batch with a command buffer of this writer's */
    uint64_t ends;                    /* slots used for packets' ends so far */
    uint64_t last_end;                /* time of the last packet's end, where the host reads */
};

/* 'is_read': by the program. Errors: as bf_log_prepare's. */
VkResult bf_log_writer_create(struct bf_log *log, uint32_t entries, bool is_read,
                              struct bf_log_writer **writer);
/* Nothing of it is in flight. NULL is allowed. */
void bf_log_writer_destroy(struct bf_log_writer *writer);

/* Does the host fill the entries' times in (LG-7)? */
static inline bool bf_log_writer_fills_in_times(const struct bf_log_writer *writer)
{
    return writer->timed && !writer->copies_stamps;
}

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

/* Logs the operation: takes a slot, and sets *commands to its command buffer (NULL where the host
 * writes and needs no timestamp). False: there is no free slot, or no memory. 'noted': the
 * operation happened before this batch. */
bool bf_log_writer_add(struct bf_log_writer *writer, const struct bf_log_operation *operation,
                       bool noted, VkCommandBuffer *commands);

/* The command buffer that keeps the time at which the packet ends, or NULL. *slots grows by one if
 * it takes a slot. */
VkCommandBuffer bf_log_writer_end(struct bf_log_writer *writer, uint32_t *slots);

/* The driver has accepted the first so many slots that were unaccepted. */
void bf_log_writer_accepted(struct bf_log_writer *writer, uint32_t slots, uint64_t epoch);

/* The driver has refused all slots that are unaccepted: it is as if they had never been added.
 * 'had_end': the value of has_end before them. */
void bf_log_writer_refused(struct bf_log_writer *writer, bool had_end);

/* Is anything of it still in flight? */
static inline bool bf_log_writer_is_busy(const struct bf_log_writer *writer, uint64_t completed)
{
    return writer->first || writer->last_epoch > completed;
}

/* The epoch has been reached: frees the slots up to it, and writes what the host has to write for
 * them. */
void bf_log_writer_collect(struct bf_log_writer *writer, uint64_t completed);

#endif
