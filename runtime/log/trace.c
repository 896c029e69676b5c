/* SPDX-License-Identifier: MIT */
/* Reports the entries of the logs to the trace: all of them, in order, on the CPU's clock. */
#include <stdlib.h>

#include "base/clock.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "log/log.h"
#include "log/writer.h"
#include "trace/stamps.h"

#define AT_ONCE 32

struct bf_log_trace {
    struct bf_log_cursor cursors[BF_LOG_SIDES];
    uint64_t last_ns[BF_LOG_SIDES]; /* the end of the last entry, or when the trace began */
};

struct bf_log_trace *bf_log_trace_create(void)
{
    return malloc(sizeof(struct bf_log_trace));
}

void bf_log_begin_trace(struct bf_log *log, struct bf_log_trace *trace)
{
    for (int side = 0; side < BF_LOG_SIDES; side++)
        bf_log_cursor_open(log, side, &trace->cursors[side]);
    for (int side = 0; side < BF_LOG_SIDES; side++)
        trace->last_ns[side] = bf_now_ns();
    log->trace = trace;
}

/* 'since_ns': the stamp is no older than that. */
static uint64_t log_trace_place_ticks(const struct bf_log *log, const struct bf_log_slot *slot,
                                      uint64_t since_ns, uint64_t ticks)
{
    struct bf_stamps *stamps = log->engine->stamps;
    struct bf_calibration *calibration = stamps ? bf_stamps_calibration(stamps) : NULL;
    if (!ticks || !calibration || !bf_calibration_lasts(calibration, since_ns))
        return 0;
    return bf_calibration_place(calibration,
                                bf_calibration_extend(calibration, ticks, slot->added_ns));
}

/* 0: the device's clock has jumped, or nobody knows. The ends of a log's entries are in order, and
 * behind us. */
static uint64_t log_trace_check(const struct bf_log *log, enum bf_log_side side, uint64_t ns)
{
    const uint64_t last = log->trace->last_ns[side];
    if (!ns || ((int64_t)(ns - last) >= -BF_STAMPS_SKEW_NS &&
                (int64_t)(bf_now_ns() - ns) >= -BF_STAMPS_SKEW_NS))
        return ns;
    bf_calibration_doubt(bf_stamps_calibration(log->engine->stamps));
    return 0;
}

static void log_trace_report_entry(struct bf_log *log, struct bf_log_cursor *cursor,
                                   const struct bf_log_item *item)
{
    const struct bf_log_writer *writer = cursor->writer;
    const struct bf_log_slot *slot =
        bf_log_writer_slot(writer, cursor->side, item->sequence - cursor->reader.base);
    /* What isn't stamped for this entry happened after the entry before it. */
    const uint64_t last = log->trace->last_ns[cursor->side];
    const uint64_t since = slot->timing == BF_LOG_STAMP ? slot->added_ns : last;
    uint64_t end =
        log_trace_check(log, cursor->side, log_trace_place_ticks(log, slot, since, item->end));
    uint64_t observed = log_trace_place_ticks(log, slot, last, item->observed);
    if ((int64_t)((end ? end : bf_now_ns()) - observed) < 0)
        observed = 0;
    log->trace->last_ns[cursor->side] = end ? end : log->trace->last_ns[cursor->side];
    bf_trace_fence_done(
        log->engine->gpu->trace, log->trace_id,
        item->operation == BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED ? BF_TRACE_FENCE_WAIT
                                                                 : BF_TRACE_FENCE_SIGNAL,
        (struct bf_trace_sync){slot->key, item->value}, end, observed,
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
