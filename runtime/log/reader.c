/* SPDX-License-Identifier: MIT */
/* The reader's side of a log: copying entries that are not being overwritten, unwrapping their
 * times. */
#include "log/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How often a read is repeated because a faster writer has overwritten the whole batch
 * meanwhile. */
#define ATTEMPTS 4

/* Loads with acquire semantics: later loads are not moved before it. */
static uint64_t log_load(const struct bf_log_source *source, uint64_t offset)
{
    const volatile char *bytes = source->memory;
    return __atomic_load_n((const volatile uint64_t *)(bytes + offset), __ATOMIC_ACQUIRE);
}

static bool source_is_sound(const struct bf_log_source *source)
{
    return source->memory && (uintptr_t)source->memory % 8 == 0 &&
           (source->type == BF_FENCE_LOG_TYPE_WAITS || source->type == BF_FENCE_LOG_TYPE_SIGNALS) &&
           source->entries > source->ahead && source->bytes >= BF_FENCE_LOG_BYTES(source->entries);
}

static const char *log_name(const struct bf_log_source *source)
{
    return source->type == BF_FENCE_LOG_TYPE_WAITS ? "waits" : "signals";
}

bool bf_log_reader_init(struct bf_log_reader *reader, const struct bf_log_reader_info *info)
{
    if (!source_is_sound(&info->source) || info->valid_bits > 64) {
        return false;
    }
    *reader = (struct bf_log_reader){.info = *info, .limit = UINT64_MAX};
    bf_log_reader_set_time(reader, info->time);
    return true;
}

bool bf_log_reader_rebase(struct bf_log_reader *reader, const struct bf_log_source *source,
                          uint64_t written)
{
    if (written == UINT64_MAX) {
        written = reader->written;
    }
    if (!source_is_sound(source) || written < reader->written) {
        return false;
    }
    uint64_t lost = written - reader->cursor;
    reader->pending_lost += lost;
    reader->counts.lost += lost;
    reader->base += written;
    reader->written = 0;
    reader->cursor = 0;
    reader->limit = UINT64_MAX;
    reader->info.source = *source;
    return true;
}

void bf_log_reader_set_limit(struct bf_log_reader *reader, uint64_t entry)
{
    reader->limit = entry;
}

struct bf_log_counts bf_log_reader_counts(const struct bf_log_reader *reader)
{
    return reader->counts;
}

/* --- Times -------------------------------------------------------------------------------------*/

void bf_log_reader_set_time(struct bf_log_reader *reader, uint64_t time)
{
    if (time > reader->reference) {
        reader->reference = time;
        reader->timed = true;
    }
}

/* The time nearest to 'reference' of which 'stamp' is the low 'bits'; it is before 'reference' by
 * less than half the range of the timestamps. */
static uint64_t time_near(uint64_t reference, uint64_t stamp, uint32_t bits)
{
    if (bits == 64) {
        return stamp;
    }
    uint64_t range = 1ull << bits;
    uint64_t ahead = (stamp - reference) & (range - 1);
    uint64_t behind = range - ahead;
    if (ahead <= range / 2) {
        return ahead <= UINT64_MAX - reference ? reference + ahead : reference;
    }
    return behind < reference ? reference - behind : 1; /* 0 is none */
}

/* The valid bits of a timestamp; 0: it has none. */
static uint64_t stamp_mask(uint64_t stamp, uint32_t bits)
{
    return bits == 64 ? stamp : stamp & ((1ull << bits) - 1);
}

static void item_place_times(struct bf_log_reader *reader, struct bf_log_item *item)
{
    uint32_t bits = reader->info.valid_bits;
    uint32_t end_bits = !bits && item->flags & BF_FENCE_LOG_END_FROM_HOST_BIT ? 64 : bits;
    uint32_t observed_bits = !bits && item->flags & BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT ? 64 : bits;
    uint64_t end = stamp_mask(item->end, end_bits);
    uint64_t observed = stamp_mask(item->observed, observed_bits);
    if (!reader->timed && (observed || end)) {
        reader->reference = observed ? observed : end; /* the earlier one of the first entry */
        reader->timed = true;
    }

    uint64_t floor = reader->last_end;
    if (end) {
        end = time_near(reader->reference, end, end_bits);
        /* Untimed ends in between may have let 'observed' pass. */
        floor = floor > reader->last_observed ? floor : reader->last_observed;
        if (end < floor) {
            end = floor;
            reader->counts.adjusted++;
        }
        reader->last_end = end;
    }
    if (observed) {
        observed = time_near(end ? end : reader->reference, observed, observed_bits);
        uint64_t placed = observed > reader->last_observed ? observed : reader->last_observed;
        placed = end && placed > end ? end : placed;
        reader->counts.adjusted += placed != observed;
        observed = placed;
        reader->last_observed = observed;
    }
    uint64_t latest = end > observed ? end : observed;
    reader->reference = latest > reader->reference ? latest : reader->reference;
    item->end = end;
    item->observed = observed;
}

/* --- Reading -----------------------------------------------------------------------------------*/

static enum bf_log_read log_flush(const struct bf_log_reader *reader)
{
    bool (*flush)(void *context) = reader->info.flush;
    return !flush || flush(reader->info.context) ? BF_LOG_READ_OK : BF_LOG_READ_NOT_FLUSHED;
}

/* Flushes, and brings reader->written up to date. */
static enum bf_log_read log_look(struct bf_log_reader *reader)
{
    const struct bf_log_source *source = &reader->info.source;
    enum bf_log_read result = log_flush(reader);
    if (result != BF_LOG_READ_OK) {
        return result;
    }
    uint64_t word = log_load(source, offsetof(BfFenceLogHeader, atomicWraparoundAndEntryIndex));
    reader->found = (uint32_t)log_load(source, offsetof(BfFenceLogHeader, type));
    if (reader->found != source->type) {
        return BF_LOG_READ_WRONG_TYPE;
    }
    reader->found = log_load(source, offsetof(BfFenceLogHeader, numberOfEntries));
    if (reader->found != source->entries) {
        return BF_LOG_READ_WRONG_COUNT;
    }
    reader->found = bfFenceLogIndex(word);
    if (reader->found >= source->entries) {
        return BF_LOG_READ_INDEX_TOO_HIGH;
    }

    /* The word counts modulo this, which is below 2^64. */
    uint64_t modulus = (uint64_t)source->entries << 32;
    uint64_t now = bfFenceLogTotal(word, source->entries);
    uint64_t before = reader->written % modulus;
    uint64_t more = now >= before ? now - before : modulus - before + now;
    if (more > modulus / 2) {
        reader->found = now;
        reader->found_before = before;
        return BF_LOG_READ_WORD_FELL;
    }
    reader->written += more;
    return BF_LOG_READ_OK;
}

/* The oldest entry that the writer can't be overwriting, given the index word. */
static uint64_t log_oldest(const struct bf_log_reader *reader)
{
    uint64_t safe = reader->info.source.entries - reader->info.source.ahead;
    return reader->written > safe ? reader->written - safe : 0;
}

/* Continues at 'entry'; the entries before it are lost. */
static void log_skip_to(struct bf_log_reader *reader, uint64_t entry)
{
    if (entry > reader->cursor) {
        uint64_t lost = entry - reader->cursor;
        reader->pending_lost += lost;
        reader->counts.lost += lost;
        reader->counts.overruns++;
        reader->cursor = entry;
    }
}

/* Copies an entry, with its times as they are in memory; the sequence is its number in this log. */
static void item_copy(const struct bf_log_source *source, uint64_t entry, struct bf_log_item *item)
{
    uint64_t offset = BF_FENCE_LOG_BYTES(entry % source->entries);
    uint64_t handle_and_operation =
        log_load(source, offset + offsetof(BfFenceLogEntry, hNativeFence));
    *item = (struct bf_log_item){
        .sequence = entry,
        .value = log_load(source, offset + offsetof(BfFenceLogEntry, fenceValue)),
        .observed = log_load(source, offset + offsetof(BfFenceLogEntry, fenceObservedGpuTimestamp)),
        .end = log_load(source, offset + offsetof(BfFenceLogEntry, fenceEndGpuTimestamp)),
        .fence = (uint32_t)handle_and_operation,
        .operation = (BfFenceLogOperation)(handle_and_operation >> 32),
        .flags = log_load(source, offset + offsetof(BfFenceLogEntry, reserved0)) &
                 BF_FENCE_LOG_FLAGS_ALL,
    };
}

/* Delivers the item that lies at the cursor to *to, or counts it as damaged: false. */
static bool item_deliver(struct bf_log_reader *reader, const struct bf_log_item *from,
                         struct bf_log_item *to)
{
    BfFenceLogOperation operation = reader->info.source.type == BF_FENCE_LOG_TYPE_WAITS
                                        ? BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED
                                        : BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED;
    reader->cursor++;
    if (from->operation != operation) {
        reader->pending_lost++;
        reader->counts.lost++;
        reader->counts.damaged++;
        return false;
    }
    *to = *from;
    to->sequence = reader->base + from->sequence;
    to->lost = reader->pending_lost;
    item_place_times(reader, to);
    reader->pending_lost = 0;
    reader->counts.delivered++;
    return true;
}

/* Reads one batch. *more: nothing was delivered although there is something left. */
static enum bf_log_read log_read_once(struct bf_log_reader *reader, struct bf_log_item *items,
                                      uint32_t capacity, uint32_t *count, bool *more)
{
    enum bf_log_read result = log_look(reader);
    if (result != BF_LOG_READ_OK) {
        return result;
    }
    log_skip_to(reader, log_oldest(reader));
    uint64_t first = reader->cursor;
    uint64_t end = reader->limit < reader->written ? reader->limit : reader->written;
    uint64_t left = end > first ? end - first : 0;
    uint32_t copied = left < capacity ? (uint32_t)left : capacity;
    *more = false;
    if (copied == 0) {
        return BF_LOG_READ_OK;
    }
    /* The first flush may have been before the entries were written that the word counts. */
    result = log_flush(reader);
    if (result != BF_LOG_READ_OK) {
        return result;
    }
    for (uint32_t i = 0; i < copied; i++) {
        item_copy(&reader->info.source, first + i, &items[i]);
    }
    result = log_look(reader);
    if (result != BF_LOG_READ_OK) {
        return result;
    }
    log_skip_to(reader, log_oldest(reader));
    while (reader->cursor < first + copied) {
        *count += item_deliver(reader, &items[reader->cursor - first], &items[*count]);
    }
    *more = *count == 0;
    return BF_LOG_READ_OK;
}

enum bf_log_read bf_log_reader_read(struct bf_log_reader *reader, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count)
{
    struct bf_log_reader next = *reader; /* so that a failure changes nothing */
    enum bf_log_read result;
    bool more = true;
    *count = 0;
    for (int attempt = 0; more && attempt < ATTEMPTS; attempt++) {
        result = log_read_once(&next, items, capacity, count, &more);
        if (result != BF_LOG_READ_OK) {
            reader->found = next.found;
            reader->found_before = next.found_before;
            return result;
        }
    }
    *reader = next;
    return BF_LOG_READ_OK;
}

void bf_log_reader_explain(const struct bf_log_reader *reader, enum bf_log_read result, char *text,
                           size_t size)
{
    const struct bf_log_source *source = &reader->info.source;
    const char *name = log_name(source);
    switch (result) {
    case BF_LOG_READ_OK:
        snprintf(text, size, "the log of %s was read", name);
        break;
    case BF_LOG_READ_NOT_FLUSHED:
        snprintf(text, size, "the log of %s couldn't be flushed", name);
        break;
    case BF_LOG_READ_WRONG_TYPE:
        snprintf(text, size, "the log of %s is damaged: its type is %" PRIu64 ", not %d", name,
                 reader->found, (int)source->type);
        break;
    case BF_LOG_READ_WRONG_COUNT:
        snprintf(text, size,
                 "the log of %s is damaged: its number of entries is %" PRIu64 ", not %" PRIu32,
                 name, reader->found, source->entries);
        break;
    case BF_LOG_READ_INDEX_TOO_HIGH:
        snprintf(text, size,
                 "the log of %s is damaged: its index is %" PRIu64 ", and it has %" PRIu32
                 " entries",
                 name, reader->found, source->entries);
        break;
    case BF_LOG_READ_WORD_FELL:
        snprintf(text, size,
                 "the log of %s is damaged: it counts %" PRIu64 " entries, and had %" PRIu64
                 " before",
                 name, reader->found, reader->found_before);
        break;
    }
}
