/* SPDX-License-Identifier: MIT */
/*
 * Reads one native fence log (belfry/fence_log.h) from mapped memory that a GPU is writing at the
 * same time. Nothing is locked, the reader never waits and never allocates, and nothing in the
 * memory is trusted.
 *
 * Entries are counted from 0: entry n lies in slot n % entries. The header's index word (index and
 * wraparounds, 64 bits) says how many have been written in total.
 *
 *  R-1  The writer completes entry n before it writes the index word that counts it, and begins
 *       entry n only when the word says at least n - ahead + 1. So the entries that may be
 *       half-written at any time are the 'ahead' ones from the word's count on, and they overwrite
 *       the oldest ones. ahead = 1: there is a barrier on either side of the word's write. ahead =
 *       2 allows a single barrier per entry, between the entry and the word, since that barrier
 *       also orders the previous word before it. If one word counts up to k entries at once: k and
 *       2k. This is the writer's duty; everything below rests on it.
 *  R-2  The writer writes the word atomically, and it never decreases, except by its overflow.
 *  R-3  Each delivered entry is exactly what was written, in the order of writing, once. A batch of
 *       entries is copied between two readings of the word, and those that may have been
 *       overwritten according to the second reading are dropped. The copy's loads have acquire
 *       semantics, so whoever sees any part of entry n sees the word that allowed it.
 *  R-4  The sequence number is the entry's exact position, across every overflow of the
 *       wraparounds, provided that the log is read at least once in 2^31 of them. Each entry is
 *       delivered or counted as lost, exactly once: the sum of the two counts is the next sequence
 *       number.
 *  R-5  'observed' never decreases from one entry to the next, nor does 'end', and 'observed' is
 *       never later than the 'end' of its entry. A time that is earlier than its predecessor by
 *       less than half the range of the timestamps is raised to it; one that is earlier by more is
 *       taken to be after the next overflow. 0 (no time) stays 0 and raises no other.
 *
 * Proven by tests/log/reader.c, log/threads.c and log/times.c.
 *
 * Thread-safety: one thread at a time per reader; the writer may write to the memory meanwhile.
 */
#ifndef BELFRY_LOG_READER_H
#define BELFRY_LOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "belfry/fence_log.h"

/* A log's memory and its known properties. A header that contradicts them is an error. */
struct bf_log_source {
    /* Aligned to 8 bytes. It stays mapped until the reader is rebased or no longer used. */
    const volatile void *memory;
    uint64_t bytes;   /* at least BF_FENCE_LOG_BYTES(entries) */
    uint32_t entries; /* more than 'ahead' */
    /* 0: the log is not being written any more. */
    uint32_t ahead;
    BfFenceLogType type;
};

struct bf_log_reader_info {
    struct bf_log_source source;
    /* timestampValidBits of the queue's family, 0 to 64. 0: all times are 0, except those that the
     * host wrote, which have 64 bits. */
    uint32_t valid_bits;
    /* A current, unwrapped GPU time, so that all logs of the device count the same overflows; 0:
     * the first time read is taken as it is. */
    uint64_t time;
    /* Makes the device's writes visible, before each reading of the memory (up to three times per
     * batch of entries; for memory that isn't coherent, all of the log has to be invalidated each
     * time). False: that failed. NULL: nothing has to be done. */
    bool (*flush)(void *context);
    void *context;
};

/* An entry as it was written, except for its times, which are unwrapped GPU ticks. */
struct bf_log_item {
    uint64_t sequence; /* 0 for the first that was ever written */
    uint64_t lost;     /* entries that were lost right before this one */
    uint64_t value;
    uint64_t observed; /* 0: none */
    uint64_t end;      /* 0: none */
    uint32_t fence;
    BfFenceLogOperation operation;
    uint32_t flags; /* BfFenceLogFlagBits, no others */
};

enum bf_log_read {
    BF_LOG_READ_OK,
    BF_LOG_READ_NOT_FLUSHED,    /* the flush failed */
    BF_LOG_READ_WRONG_TYPE,     /* the header's type isn't the source's */
    BF_LOG_READ_WRONG_COUNT,    /* the header's numberOfEntries isn't the source's */
    BF_LOG_READ_INDEX_TOO_HIGH, /* the index isn't below the number of entries */
    BF_LOG_READ_WORD_FELL,      /* the index word has decreased */
};

struct bf_log_counts {
    uint64_t delivered;
    uint64_t lost; /* overwritten before they were read, gone with their log, or damaged */
    /* Of the lost, those whose operation isn't one, or not one of this type of log. */
    uint64_t damaged;
    uint64_t overruns; /* readings of the index word that found entries lost */
    uint64_t adjusted; /* times that were moved for R-5 */
};

/* The members are private to reader.c. */
struct bf_log_reader {
    struct bf_log_reader_info info;
    uint64_t base;         /* entries written to the logs before this one */
    uint64_t written;      /* of this log, by the last reading of the index word */
    uint64_t cursor;       /* of this log: the next to deliver; never above 'written' */
    uint64_t limit;        /* of this log: the first that must not be delivered yet */
    uint64_t pending_lost; /* since the last one delivered */
    uint64_t reference;    /* unwrapped times lie around this one */
    uint64_t last_observed;
    uint64_t last_end;
    bool timed;            /* 'reference' is set */
    uint64_t found;        /* the wrong value, for the last error */
    uint64_t found_before; /* the index word before it decreased */
    struct bf_log_counts counts;
};

/* Begins with the first entry ever written to a log. Neither reads the memory nor flushes. False,
 * with 'reader' unusable: the source isn't aligned, is too small for its entries, has none, or not
 * more than 'ahead'; the type is unknown; valid_bits is more than 64. */
bool bf_log_reader_init(struct bf_log_reader *reader, const struct bf_log_reader_info *info);

/*
 * Delivers up to 'capacity' of the entries that have not been delivered yet, oldest first, to
 * 'items', and their number to *count. Fewer than 'capacity' means that there were no more at some
 * time during the call (or none below the limit), or that the writer was so fast that every copied
 * batch had been overwritten.
 *
 * Other results than BF_LOG_READ_OK: *count is 0, nothing has changed, bf_log_reader_explain says
 * why.
 */
enum bf_log_read bf_log_reader_read(struct bf_log_reader *reader, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count);

/* Sets a limit: entries of this log from 'entry' on (its first is 0) are not delivered yet although
 * they have been written, because their times are still to be filled in. UINT64_MAX, also the
 * initial value and that after a rebase: no limit. Entries overwritten meanwhile are lost all the
 * same. */
void bf_log_reader_set_limit(struct bf_log_reader *reader, uint64_t entry);

/* Writes one line about the last result, without a newline, cut to 'size' bytes with the final
 * zero. */
void bf_log_reader_explain(const struct bf_log_reader *reader, enum bf_log_read result, char *text,
                           size_t size);

/*
 * The log has been destroyed, or reset, and re-created as 'source', which begins at entry 0.
 * Sequence numbers and times continue. The caller has read what it wants of the old log, whose
 * memory is not accessed any more. 'written': how many entries the old log got in total; those not
 * delivered count as lost; UINT64_MAX: as many as the last read saw. False, with nothing changed:
 * as bf_log_reader_init, or 'written' is less than what was seen.
 */
bool bf_log_reader_rebase(struct bf_log_reader *reader, const struct bf_log_source *source,
                          uint64_t written);

/* Tells the reader a current, unwrapped GPU time. If called at least once in half the range of the
 * timestamps, no overflow is missed even when the log gets no entries for longer. */
void bf_log_reader_set_time(struct bf_log_reader *reader, uint64_t time);

struct bf_log_counts bf_log_reader_counts(const struct bf_log_reader *reader);

#endif
