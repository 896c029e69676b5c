/* SPDX-License-Identifier: MIT */
/* Reads a queue's logs while the GPU writes them, across replacements of their buffers. */
#include <string.h>

#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "log/log.h"
#include "log/writer.h"

static struct bf_log_source cursor_source_of(const struct bf_log_writer *writer,
                                             enum bf_log_side side)
{
    return (struct bf_log_source){
        .memory = bf_log_writer_memory(writer, side),
        .bytes = writer->log_bytes,
        .entries = writer->count,
        .ahead = 1, /* LG-2 */
        .type = side == BF_LOG_WAITS ? BF_FENCE_LOG_TYPE_WAITS : BF_FENCE_LOG_TYPE_SIGNALS,
    };
}

static void log_reader_init(struct bf_log *log, enum bf_log_side side, struct bf_log_reader *reader)
{
    const struct bf_log_reader_info info = {
        .source = cursor_source_of(log->writer, side),
        .valid_bits = log->engine->timestamp_bits,
        .time = bf_gpu_clock_now(log->engine->gpu),
    };
    bf_log_reader_init(reader, &info);
    reader->base = log->entries[side];
}

void bf_log_cursor_open(struct bf_log *log, enum bf_log_side side, struct bf_log_cursor *cursor)
{
    struct bf_log_item items[16];
    uint32_t count = 16;
    *cursor = (struct bf_log_cursor){.log = log, .writer = log->writer, .side = side};
    log_reader_init(log, side, &cursor->reader);
    log->writer->cursors++;
    bf_log_flush(log);
    /* Entries from before the cursor are skipped and don't count as lost. */
    while (count == 16 && bf_log_reader_read(&cursor->reader, items, 16, &count) == BF_LOG_READ_OK)
        ;
    cursor->lost_before = log->lost[side];
}

void bf_log_cursor_close(struct bf_log_cursor *cursor)
{
    cursor->writer->cursors--; /* a replaced writer is destroyed by the next collection */
}

bool bf_log_cursor_is_current(const struct bf_log_cursor *cursor)
{
    const struct bf_log_writer *writer = cursor->writer;
    while (writer && writer != cursor->log->writer)
        writer = writer->successor;
    return writer != NULL;
}

/* The first entry whose times the host has not filled in yet: the GPU may already have counted
 * it. */
static uint64_t writer_first_unfilled(const struct bf_log_writer *writer, enum bf_log_side side)
{
    if (!bf_log_writer_fills_in_times(writer) || writer->by_host)
        return UINT64_MAX;
    const struct bf_log_slot *slot = writer->first;
    while (slot && slot->side != (int)side)
        slot = slot->next;
    return slot ? slot->number : UINT64_MAX;
}

/* Moves the cursor to the log that has replaced this one, all of which has been read. */
static void cursor_go_on(struct bf_log_cursor *cursor)
{
    struct bf_log_writer *writer = cursor->writer, *successor = writer->successor;
    const struct bf_log_source source = cursor_source_of(successor, cursor->side);
    bf_log_reader_rebase(&cursor->reader, &source, writer->next[cursor->side]);
    writer->cursors--;
    successor->cursors++;
    cursor->writer = successor;
}

static enum bf_log_read cursor_read(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                    uint32_t capacity, bool across, uint32_t *count, uint64_t *lost)
{
    struct bf_log *log = cursor->log;
    struct bf_log_counts before = bf_log_reader_counts(&cursor->reader);
    enum bf_log_read result;
    *count = 0;
    for (;;) {
        uint32_t got;
        bf_log_reader_set_limit(&cursor->reader,
                                writer_first_unfilled(cursor->writer, cursor->side));
        result = bf_log_reader_read(&cursor->reader, items + *count, capacity - *count, &got);
        *count += got;
        if (result != BF_LOG_READ_OK || *count == capacity || !cursor->writer->successor ||
            cursor->writer->first || (*count && !across))
            break;
        cursor_go_on(cursor);
    }
    *lost += bf_log_reader_counts(&cursor->reader).lost - before.lost;
    uint64_t never_logged = log->lost[cursor->side]; /* other threads may count at this moment */
    *lost += never_logged - cursor->lost_before;
    cursor->lost_before = never_logged;
    /* Entries read before the error are good; the next read finds the error again. */
    return *count ? BF_LOG_READ_OK : result;
}

enum bf_log_read bf_log_cursor_read(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                    uint32_t capacity, uint32_t *count, uint64_t *lost)
{
    return cursor_read(cursor, items, capacity, true, count, lost);
}

enum bf_log_read bf_log_cursor_read_one_log(struct bf_log_cursor *cursor, struct bf_log_item *items,
                                            uint32_t capacity, uint32_t *count, uint64_t *lost)
{
    return cursor_read(cursor, items, capacity, false, count, lost);
}

uint32_t bf_log_read_last(struct bf_log *log, enum bf_log_side side, struct bf_log_item *items,
                          uint32_t capacity)
{
    struct bf_log_reader reader;
    uint64_t read = 0;
    uint32_t kept = 0, count = 1;
    log_reader_init(log, side, &reader);
    bf_log_reader_set_limit(&reader, writer_first_unfilled(log->writer, side));
    /* The GPU may be writing more: what the log holds is enough. */
    for (; count && read < log->writer->count; read += count) {
        struct bf_log_item item;
        if (bf_log_reader_read(&reader, &item, 1, &count) != BF_LOG_READ_OK || !count)
            break;
        if (kept == capacity)
            memmove(items, items + 1, --kept * sizeof(*items));
        items[kept++] = item;
    }
    return kept;
}
