/* SPDX-License-Identifier: MIT */
/*
 * Reads one native fence log (belfry/fence_log.h) out of mapped memory that a GPU is writing at
 * that moment. Nothing is locked, nobody waits, nothing is allocated, and nothing in the memory is
 * trusted.
 *
 * Entries are counted from 0 on: entry n lies in slot n % entries, and the word of the header says
 * how many have been written in total.
 *
 *  R-1  The writer has written the whole of entry n before it writes the word that counts it, and
 *       begins with entry n only when the word says at least n - ahead + 1. So at any time the
 *       entries that may be half-written are those from the word's on, 'ahead' of them, and what
 *       they overwrite are the oldest. ahead = 1: a barrier on either side of the word's write.
 *       ahead = 2 allows one barrier for each entry, between the entry and the word, since that one
 *       also orders the word before it. Where one word counts up to k entries: k and 2k. The writer
 *       owes this; all that follows rests on it.
 *  R-2  The writer writes the word in one piece, and it never falls, its overflow apart.
 *  R-3  What is delivered was written as it is, in the order in which it was written, once. A batch
 *       is copied between two looks at the word, and what the second one says may have been
 *       overwritten meanwhile is dropped: the copy's loads acquire, so that who sees any part of
 *       entry n sees the word that allowed it.
 *  R-4  The sequence number is the entry's place exactly, over every overflow of the wraparounds,
 *       provided that the log is read once in 2^31 of them. Each entry is delivered or lost, once:
 *       the sum of the two counts is the number that comes next.
 *  R-5  'observed' never falls from one entry to the next, 'end' neither, and 'observed' is never
 *       later than the 'end' of its entry. A time that lies less than half the range of the stamps
 *       before its predecessor is raised to it; further back, it lies after the next overflow. 0
 *       stays 0, and is nobody's predecessor.
 *
 * Proven by tests/log/reader.c, log/threads.c and log/times.c.
 *
 * Thread-safety: one thread at a time per reader; the memory is the writer's meanwhile.
 */
#ifndef BELFRY_LOG_READER_H
#define BELFRY_LOG_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "belfry/fence_log.h"

/* Where a log lies and what it is known to be. What its header says against this is an error. */
struct bf_log_source {
    /* Aligned to 8. Stays mapped until the reader is rebased or no longer used. */
    const volatile void *memory;
    uint64_t bytes;   /* at least BF_FENCE_LOG_BYTES(entries) */
    uint32_t entries; /* more than 'ahead' */
    /* 0: nobody is writing any more. */
    uint32_t ahead;
    BfFenceLogType type;
};

struct bf_log_reader_info {
    struct bf_log_source source;
    /* timestampValidBits of the queue's family, 0 to 64. 0: every time is 0, but for the host's,
     * which then have 64. */
    uint32_t valid_bits;
    /* An unwrapped time of the device from about now, so that all logs of the device count the same
     * overflows; 0: the first time counts as it is. */
    uint64_t time;
    /* Makes what the device has written visible, before each look at the memory (up to three times
     * for each batch: where the memory isn't coherent, all of the log is to be invalidated each
     * time). False: it couldn't. NULL: there is nothing to do. */
    bool (*flush)(void *context);
    void *context;
};

/* An entry, as it was written but for the times, which are unwrapped ticks of the device. */
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
    BF_LOG_READ_WORD_FELL, /* the word has gone back: re-created without bf_log_reader_rebase? */
};

struct bf_log_counts {
    uint64_t delivered;
    uint64_t lost; /* overwritten before they were read, gone with their log, or damaged */
    /* Of the lost, those whose operation isn't one, or not one of this type of log. */
    uint64_t damaged;
    uint64_t overruns; /* how often a look at the word found entries lost */
    uint64_t adjusted; /* times that were moved for R-5 */
};

/* The members are private to reader.c. */
struct bf_log_reader {
    struct bf_log_reader_info info;
    uint64_t base;         /* entries written to the logs before this one */
    uint64_t written;      /* of this log, as the word said last */
    uint64_t cursor;       /* of this log: the next to deliver; never above 'written' */
    uint64_t limit;        /* of this log: the first that isn't to be delivered yet */
    uint64_t pending_lost; /* since the last one delivered */
    uint64_t reference;    /* unwrapped times lie around this one */
    uint64_t last_observed;
    uint64_t last_end;
    bool timed;            /* 'reference' holds something */
    uint64_t found;        /* what the last error was about */
    uint64_t found_before; /* the same, of a word that fell */
    struct bf_log_counts counts;
};

/* Begins with the first entry ever written to a log. Neither touches the memory nor flushes.
 * False, with 'reader' unusable: the source isn't aligned, too small for its entries, has none, or
 * not more than 'ahead'; the type isn't one; valid_bits is more than 64. */
bool bf_log_reader_init(struct bf_log_reader *reader, const struct bf_log_reader_info *info);

/*
 * Up to 'capacity' of the entries that have not been delivered yet, oldest first, into 'items', and
 * how many there are into *count. Fewer than 'capacity': there were no more at some time during the
 * call (or none below the limit), or the writer was so much faster that all which had been copied
 * was lost each time.
 *
 * Anything but BF_LOG_READ_OK: *count is 0, nothing has changed, bf_log_reader_explain says why.
 */
enum bf_log_read bf_log_reader_read(struct bf_log_reader *reader, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count);

/* Entries of this log from 'entry' on (its first is 0) are not delivered yet, although they have
 * been written: something of theirs comes by another way. UINT64_MAX, as at first and after a
 * rebase: all are. What is overwritten meanwhile is lost all the same. */
void bf_log_reader_set_limit(struct bf_log_reader *reader, uint64_t entry);

/* One line about the last result, without a line's end, cut to 'size' bytes with the final zero. */
void bf_log_reader_explain(const struct bf_log_reader *reader, enum bf_log_read result, char *text,
                           size_t size);

/*
 * The log has been destroyed, or reset, and re-created as 'source', which begins at 0. Sequence
 * numbers and times go on. What is to be read of the old one has been read by now; its memory is
 * not touched any more. 'written': how many entries it got in total, of which those that were not
 * delivered count as lost; UINT64_MAX: as many as the last read saw. False, as bf_log_reader_init,
 * or because 'written' is less than what was seen: nothing has changed.
 */
bool bf_log_reader_rebase(struct bf_log_reader *reader, const struct bf_log_source *source,
                          uint64_t written);

/* An unwrapped time of the device from about now. Called at least once in half the range of the
 * timestamps, overflows are not missed although the log is silent for longer. */
void bf_log_reader_set_time(struct bf_log_reader *reader, uint64_t time);

struct bf_log_counts bf_log_reader_counts(const struct bf_log_reader *reader);

#endif
