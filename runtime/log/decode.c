/* SPDX-License-Identifier: MIT */
/* Decodes dumps of native fence logs that somebody has written to a file. */
#include "log/decode.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEADER sizeof(BfFenceLogHeader)
#define ENTRY  sizeof(BfFenceLogEntry)
#define PAGE   4096u

__attribute__((format(printf, 3, 4))) static bool decode_explain(char *text, size_t size,
                                                                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, size, format, arguments);
    va_end(arguments);
    return false;
}

/* Decodes the log whose header is at 'offset'. False: there is none, and 'text' says why. */
static bool decode_log_at(const struct bf_log_dump *dump, uint64_t offset,
                          struct bf_log_decoded *log, char *text, size_t size)
{
    uint64_t left = dump->size - offset;
    if (left < HEADER) {
        return decode_explain(text, size,
                              "at byte %" PRIu64 ": %" PRIu64
                              " bytes are left, and a log's header has %zu: cut off, or no log",
                              offset, left, HEADER);
    }
    BfFenceLogHeader header;
    memcpy(&header, dump->bytes + offset, HEADER);
    if (header.type != BF_FENCE_LOG_TYPE_WAITS && header.type != BF_FENCE_LOG_TYPE_SIGNALS) {
        return decode_explain(text, size,
                              "at byte %" PRIu64 ": the type is %" PRIu32
                              ", neither 1 (waits) nor 2 (signals): no log, or a damaged one",
                              offset + offsetof(BfFenceLogHeader, type), header.type);
    }
    uint64_t room = (left - HEADER) / ENTRY;
    uint64_t at_count = offset + offsetof(BfFenceLogHeader, numberOfEntries);
    if (header.numberOfEntries == 0 || header.numberOfEntries > UINT32_MAX) {
        return decode_explain(text, size,
                              "at byte %" PRIu64 ": the number of entries is %" PRIu64
                              ", not 1 to %" PRIu32,
                              at_count, header.numberOfEntries, UINT32_MAX);
    }
    if (header.numberOfEntries > room) {
        return decode_explain(text, size,
                              "at byte %" PRIu64 ": the number of entries is %" PRIu64
                              ", and the bytes that are left are enough for %" PRIu64
                              ": cut off, or damaged",
                              at_count, header.numberOfEntries, room);
    }
    uint32_t index = bfFenceLogIndex(header.atomicWraparoundAndEntryIndex);
    if (index >= header.numberOfEntries) {
        return decode_explain(text, size,
                              "at byte %" PRIu64 ": the index is %" PRIu32
                              ", not below the number of entries, %" PRIu64,
                              offset, index, header.numberOfEntries);
    }

    uint32_t entries = (uint32_t)header.numberOfEntries;
    uint64_t written = bfFenceLogTotal(header.atomicWraparoundAndEntryIndex, entries);
    uint32_t count = written < entries ? (uint32_t)written : entries;
    *log = (struct bf_log_decoded){
        .offset = offset,
        .type = (BfFenceLogType)header.type,
        .entries = entries,
        .index = index,
        .wraparounds = bfFenceLogWraparounds(header.atomicWraparoundAndEntryIndex),
        .written = written,
        .first = written - count,
        .count = count,
    };
    return true;
}

/* Where the log behind 'log' begins. */
static uint64_t decode_log_behind(const struct bf_log_dump *dump, const struct bf_log_decoded *log)
{
    uint64_t bytes = BF_FENCE_LOG_BYTES(log->entries);
    uint64_t packed = log->offset + bytes;
    uint64_t zeros = (PAGE - bytes % PAGE) % PAGE;
    zeros = zeros < dump->size - packed ? zeros : dump->size - packed;
    for (uint64_t i = 0; i < zeros; i++) {
        if (dump->bytes[packed + i]) {
            return packed;
        }
    }
    /* Enough zeros to cover the header's type are padding, not a header. Fewer zeros could be the
     * beginning of a header; but if a log lies behind them they are padding, since otherwise its
     * type would be the low half of a number of entries. */
    struct bf_log_decoded after;
    uint64_t padded = packed + zeros;
    bool is_padding = zeros > offsetof(BfFenceLogHeader, type) || padded == dump->size ||
                      decode_log_at(dump, padded, &after, NULL, 0);
    return is_padding ? padded : packed;
}

enum bf_log_decode bf_log_decode_next(struct bf_log_dump *dump, struct bf_log_decoded *log,
                                      char *text, size_t size)
{
    if (dump->next == dump->size && dump->size) {
        return BF_LOG_DECODE_END;
    }
    if (!decode_log_at(dump, dump->next, log, text, size)) {
        return BF_LOG_DECODE_ERROR;
    }
    dump->next = decode_log_behind(dump, log);
    return BF_LOG_DECODE_LOG;
}

uint32_t bf_log_decode_slot(const struct bf_log_decoded *log, uint32_t i)
{
    return (uint32_t)((log->first + i) % log->entries);
}

BfFenceLogEntry bf_log_decode_entry(const struct bf_log_dump *dump,
                                    const struct bf_log_decoded *log, uint32_t i)
{
    BfFenceLogEntry entry;
    uint64_t offset = log->offset + BF_FENCE_LOG_BYTES(bf_log_decode_slot(log, i));
    memcpy(&entry, dump->bytes + offset, ENTRY);
    return entry;
}
