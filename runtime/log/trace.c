/* SPDX-License-Identifier: MIT */
/* Reports the entries of the logs to the trace: all of them, in order, on the CPU's clock. */
#include <stdlib.h>

#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "log/log.h"
#include "log/writer.h"
#include "trace/stamps.h"

#define AT_ONCE 32

struct bf_log_trace {
    struct bf_log_cursor cursors[BF_LOG_SIDES];
};

struct bf_log_trace *bf_log_trace_create(void)
{
    return malloc(sizeof(struct bf_log_trace));
}

void bf_log_begin_trace(struct bf_log *log, struct bf_log_trace *trace)
{
    for (int side = 0; side < BF_LOG_SIDES; side++)
        bf_log_cursor_open(log, side, &trace->cursors[side]);
    log->trace = trace;
}

static uint64_t log_trace_place_ticks(const struct bf_log *log, const struct bf_log_slot *slot,
                                      uint64_t ticks)
{
    struct bf_stamps *stamps = log->engine->stamps;
    struct bf_calibration *calibration = stamps ? bf_stamps_calibration(stamps) : NULL;
    if (!ticks || !calibration)
        return 0;
    return bf_calibration_place(calibration,
                                bf_calibration_extend(calibration, ticks, slot->added_ns));
}

static void log_trace_report_entry(struct bf_log *log, struct bf_log_cursor *cursor,
                                   const struct bf_log_item *item)
{
    const struct bf_log_writer *writer = cursor->writer;
    const struct bf_log_slot *slot =
        bf_log_writer_slot(writer, cursor->side, item->sequence - cursor->reader.base);
    uint64_t end = log_trace_place_ticks(log, slot, item->end);
    bf_trace_fence_done(
        log->engine->gpu->trace, log->trace_id,
        item->operation == BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED ? BF_TRACE_FENCE_WAIT
                                                                 : BF_TRACE_FENCE_SIGNAL,
        (struct bf_trace_sync){slot->key, item->value}, end,
        log_trace_place_ticks(log, slot, item->observed),
        (item->flags & BF_FENCE_LOG_LATE_BOUND_BIT ? BF_TRACE_FENCE_LATE_BOUND : 0u) |
            (slot->later ? BF_TRACE_FENCE_LATER_BATCH : 0u));
}

void bf_log_report(struct bf_log *log)
{
    struct bf_trace *trace = log->engine->gpu->trace;
    struct bf_stamps *stamps = log->engine->stamps;
    if (stamps && bf_stamps_calibration(stamps))
        bf_calibration_update(bf_stamps_calibration(stamps));
    for (int side = 0; log->trace && side < BF_LOG_SIDES; side++) {
        struct bf_log_cursor *cursor = &log->trace->cursors[side];
        struct bf_log_item items[AT_ONCE];
        uint32_t count = 1;
        while (count > 0) {
            uint64_t lost = 0;
            if (bf_log_cursor_read_one_log(cursor, items, AT_ONCE, &count, &lost) != BF_LOG_READ_OK)
                count = 0;
            for (uint32_t i = 0; i < count; i++)
                log_trace_report_entry(log, cursor, &items[i]);
            if (lost)
                bf_trace_fences_lost(trace, log->trace_id, lost);
        }
    }
}

void bf_log_end_trace(struct bf_log *log)
{
    struct bf_trace *trace = log->engine->gpu->trace;
    if (!log->trace)
        return;
    bf_log_report(log);
    /* Operations still noted, for which no batch has come: only the CPU's times are known. */
    for (uint32_t i = log->taken; i < log->noted; i++) {
        const struct bf_log_operation *op = &log->notes[i];
        bool wait = op->side == BF_LOG_WAITS;
        bf_trace_fence_done(trace, log->trace_id,
                            wait ? BF_TRACE_FENCE_WAIT : BF_TRACE_FENCE_SIGNAL,
                            (struct bf_trace_sync){op->key, op->value},
                            !wait && op->when == BF_LOG_AT_NS ? op->ns : 0, 0, 0);
    }
    log->noted = log->taken = 0;
    for (int side = 0; side < BF_LOG_SIDES; side++)
        bf_log_cursor_close(&log->trace->cursors[side]);
    free(log->trace);
    log->trace = NULL;
}
