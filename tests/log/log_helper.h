/* SPDX-License-Identifier: MIT */
/* A native fence log that a test writes, and what it wrote there. */
#ifndef BELFRY_TESTS_UNIT_LOG_HELPER_H
#define BELFRY_TESTS_UNIT_LOG_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/reader.h"

/* Any number after another (splitmix64). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return random_next(state) % bound;
}

/* What entry 'n' of a log of waits has; a function of n, so that nobody needs to keep it. Times
 * grow by 4, and 'observed' is 2 before 'end'. */
static inline void entry_make(uint64_t n, uint64_t words[6])
{
    uint64_t state = n;
    words[0] = random_next(&state);
    words[1] =
        (uint64_t)BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED << 32 | (uint32_t)random_next(&state);
    words[2] = random_below(&state, BF_FENCE_LOG_FLAGS_ALL + 1);
    words[3] = 4 * n + 2;
    words[4] = random_next(&state);
    words[5] = 4 * n + 4;
}

/* Whether 'item' is entry 'n' of the log that it came from, all but its times and numbers. */
static inline bool item_is(const struct bf_log_item *item, uint64_t n)
{
    uint64_t words[6];
    entry_make(n, words);
    return item->value == words[0] && item->fence == (uint32_t)words[1] &&
           item->operation == BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED && item->flags == words[2];
}

/* In memory of exactly its size, so that who reads beyond it is found. */
static inline BfFenceLogBuffer *log_create(uint32_t entries, BfFenceLogType type)
{
    BfFenceLogBuffer *log = calloc(1, BF_FENCE_LOG_BYTES(entries));
    if (!log)
        abort();
    log->header.type = type;
    log->header.numberOfEntries = entries;
    return log;
}

static inline void *log_slot(BfFenceLogBuffer *log, uint64_t n)
{
    return (char *)log + BF_FENCE_LOG_BYTES(n % log->header.numberOfEntries);
}

static inline void log_set_total(BfFenceLogBuffer *log, uint64_t total)
{
    log->header.atomicWraparoundAndEntryIndex =
        bfFenceLogWord(total, (uint32_t)log->header.numberOfEntries);
}

/* Writes entries *total to *total + count - 1, and the word. */
static inline void log_write(BfFenceLogBuffer *log, uint64_t *total, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, ++*total) {
        uint64_t words[6];
        entry_make(*total, words);
        memcpy(log_slot(log, *total), words, sizeof(words));
    }
    log_set_total(log, *total);
}

static inline struct bf_log_reader_info log_info(const BfFenceLogBuffer *log, uint32_t ahead)
{
    uint32_t entries = (uint32_t)log->header.numberOfEntries;
    return (struct bf_log_reader_info){.source = {.memory = log,
                                                  .bytes = BF_FENCE_LOG_BYTES(entries),
                                                  .entries = entries,
                                                  .ahead = ahead,
                                                  .type = (BfFenceLogType)log->header.type},
                                       .valid_bits = 64};
}

#endif
