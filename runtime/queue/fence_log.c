/* SPDX-License-Identifier: MIT */
/* Readers of fence logs: bfCreateFenceLogReader, bfReadFenceLog and what else the C API has for
 * logs. */
#include <stdlib.h>
#include <string.h>

#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"
#include "belfry/native_fence.h"
#include "log/log.h"
#include "log/writer.h"
#include "queue/command_queue.h"
#include "queue/vkqueue.h"
#include "scheduler/queue_log.h"
#include "scheduler/scheduler.h"

#define MIN_ENTRIES 2 /* one may be half-written at any time */
#define MAX_ENTRIES 65536
#define AT_ONCE     32 /* entries read at a time, under the engine's lock */

_Static_assert((int)BF_LOG_WAITS + 1 == BF_FENCE_LOG_TYPE_WAITS &&
                   (int)BF_LOG_SIGNALS + 1 == BF_FENCE_LOG_TYPE_SIGNALS,
               "a log's type tells its side");

struct reader {
    struct bf_queue *queue;
    struct bf_log_cursor cursor;
};

static struct reader *reader_of(BfFenceLogReader handle, const char *call)
{
    return bf_handle_check(handle, BF_HANDLE_LOG_READER, call, "reader") ? (struct reader *)handle
                                                                         : NULL;
}

/* The queue to read, or NULL with a line. */
static struct bf_queue *reader_find_queue(BfDevice scheduler,
                                          const BfFenceLogReaderCreateInfo *info)
{
    const char *call = "bfCreateFenceLogReader";
    if ((info->queue != NULL) == (info->vkQueue != NULL)) {
        bf_message(BF_MESSAGE_ERROR, "%s: one of queue and vkQueue is to be given", call);
        return NULL;
    }
    if (info->vkQueue)
        return bf_scheduler_vkqueue(scheduler, info->vkQueue, call);
    if (!bf_handle_check(info->queue, BF_HANDLE_QUEUE, call, "queue"))
        return NULL;
    struct bf_queue *queue = (struct bf_queue *)info->queue;
    if (queue->scheduler == (struct bf_scheduler *)scheduler)
        return queue;
    bf_message(BF_MESSAGE_ERROR, "%s: the queue belongs to another device", call);
    return NULL;
}

/* Gives the queue a log of at least so many entries; 0: the default. The engine's lock is held. */
static VkResult queue_log_enable(struct bf_queue *queue, uint32_t entries)
{
    struct bf_log *log = queue->log;
    entries = entries ? entries : BF_FENCE_LOG_DEFAULT_ENTRIES;
    entries = entries < MIN_ENTRIES ? MIN_ENTRIES : entries;
    if (log && log->writer && entries < log->writer->count)
        entries = log->writer->count;
    if (log && log->writer && log->writer->count == entries && !bf_log_is_for_trace(log))
        return VK_SUCCESS;
    return bf_queue_log_set(queue, entries, true);
}

VkResult bfCreateFenceLogReader(BfDevice handle, const BfFenceLogReaderCreateInfo *info,
                                BfFenceLogReader *out)
{
    struct bf_scheduler *scheduler = bf_scheduler_of(handle, __func__);
    if (!scheduler)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_structure_check(info, BF_STRUCTURE_TYPE_FENCE_LOG_READER_CREATE_INFO, __func__,
                            "pInfo"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!out || info->entries > MAX_ENTRIES ||
        (info->type != BF_FENCE_LOG_TYPE_WAITS && info->type != BF_FENCE_LOG_TYPE_SIGNALS)) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateFenceLogReader: %s",
                   out ? "the type is none, or entries are more than 65536" : "pReader is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_queue *queue = reader_find_queue(handle, info);
    if (!queue)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    if (!bf_queue_log_is_possible(queue)) {
        bf_message(BF_MESSAGE_ERROR, "bfCreateFenceLogReader: the queue has no logs");
        return VK_ERROR_FEATURE_NOT_PRESENT;
    }
    if (bf_scheduler_is_lost(scheduler))
        return bf_scheduler_settle(scheduler);
    struct reader *reader = calloc(1, sizeof(*reader));
    if (!reader || !bf_handle_add(reader, BF_HANDLE_LOG_READER)) {
        free(reader);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    reader->queue = queue;
    const enum bf_engine_entry entry = bf_queue_log_enter(queue);
    VkResult result =
        entry == BF_ENGINE_LOST ? VK_ERROR_DEVICE_LOST : queue_log_enable(queue, info->entries);
    if (result == VK_SUCCESS) {
        bf_log_cursor_open(queue->log, (enum bf_log_side)(info->type - 1), &reader->cursor);
        queue->log->readers++;
    }
    bf_engine_leave_beside(queue->engine, entry);
    if (result != VK_SUCCESS) {
        bf_handle_remove(reader);
        free(reader);
        return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(scheduler, __func__) : result;
    }
    *out = (BfFenceLogReader)reader;
    return VK_SUCCESS;
}

void bfDestroyFenceLogReader(BfFenceLogReader handle)
{
    struct reader *reader = handle ? reader_of(handle, __func__) : NULL;
    if (!reader)
        return;
    struct bf_queue *queue = reader->queue;
    bf_handle_remove(reader);
    const enum bf_engine_entry entry = bf_queue_log_enter(queue);
    if (entry == BF_ENGINE_LOST) /* its log has its cursor: it stays */
        return;
    bf_log_cursor_close(&reader->cursor);
    queue->log->readers--;
    if (queue->log->readers == 0)
        bf_queue_log_unread(queue);
    bf_engine_leave_beside(queue->engine, entry);
    free(reader);
}

/* Submits a batch for noted operations, if the queue has nothing behind them, and no present keeps
 * others from submitting. */
static VkResult queue_submit_log_notes(struct bf_queue *queue)
{
    if (!bf_log_has_notes(queue->log) || bf_queue_has_backlog(queue) ||
        atomic_load(&queue->engine->presenting))
        return VK_SUCCESS;
    if (queue->is_command_queue)
        return bf_command_queue_log(bf_command_queue_of(queue));
    const VkSubmitInfo2 nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    return bf_queue_submit(queue, 1, &nothing, VK_NULL_HANDLE);
}

static VkResult reader_explain(struct reader *reader, enum bf_log_read result)
{
    char line[256];
    if (result == BF_LOG_READ_OK)
        return VK_SUCCESS;
    bf_log_reader_explain(&reader->cursor.reader, result, line, sizeof(line));
    bf_message(BF_MESSAGE_ERROR, "bfReadFenceLog: the reader%s: %s", BF_LABEL(reader), line);
    return VK_ERROR_UNKNOWN;
}

/* Reads up to 'capacity' entries, after bringing the log up to date. */
static VkResult reader_read_some(struct reader *reader, struct bf_log_item *items,
                                 uint32_t capacity, uint32_t *count, uint64_t *lost)
{
    struct bf_engine *engine = reader->queue->engine;
    uint64_t completed;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    VkResult result = entry == BF_ENGINE_LOST
                          ? VK_ERROR_DEVICE_LOST
                          : bf_gpu_engine_completed_epoch(&engine->base, &completed);
    enum bf_log_read read = BF_LOG_READ_OK;
    if (result == VK_SUCCESS) {
        bf_log_collect(reader->queue->log, completed);
        read = bf_log_cursor_read(&reader->cursor, items, capacity, count, lost);
    }
    bf_engine_leave_beside(engine, entry);
    return result == VK_SUCCESS ? reader_explain(reader, read) : result;
}

static void record_fill_in(BfFenceLogRecord *record, const struct bf_log_item *item)
{
    *record = (BfFenceLogRecord){
        .entry =
            {
                .fenceValue = item->value,
                .hNativeFence = item->fence,
                .operationType = item->operation,
                .reserved0 = item->flags,
                .fenceObservedGpuTimestamp = item->observed,
                .fenceEndGpuTimestamp = item->end,
            },
        .sequence = item->sequence,
        .lostBefore = item->lost,
    };
}

VkResult bfReadFenceLog(BfFenceLogReader handle, uint32_t capacity, BfFenceLogRecord *records,
                        uint32_t *out_count, uint64_t *out_lost)
{
    struct reader *reader = reader_of(handle, __func__);
    if (!reader || !out_count || (capacity && !records)) {
        if (reader)
            bf_message(BF_MESSAGE_ERROR,
                       "bfReadFenceLog: the reader%s: pCount is NULL, or pRecords with a capacity",
                       BF_LABEL(reader));
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_scheduler *scheduler = reader->queue->scheduler;
    VkResult result =
        bf_scheduler_is_lost(scheduler) ? VK_SUCCESS : queue_submit_log_notes(reader->queue);
    uint32_t count = 0, got = AT_ONCE, asked = AT_ONCE;
    uint64_t lost = 0;
    while (result == VK_SUCCESS && got == asked && count < capacity) {
        struct bf_log_item items[AT_ONCE];
        asked = capacity - count < AT_ONCE ? capacity - count : AT_ONCE;
        got = 0;
        result = reader_read_some(reader, items, asked, &got, &lost);
        for (uint32_t i = 0; i < got; i++)
            record_fill_in(&records[count + i], &items[i]);
        count += got;
    }
    *out_count = count;
    if (out_lost)
        *out_lost = lost;
    if (result == VK_ERROR_DEVICE_LOST)
        return bf_scheduler_lost(scheduler, __func__);
    return result == VK_SUCCESS && count == capacity ? VK_INCOMPLETE : result;
}

/* Copies a log that the GPU may be writing: each 64 bits are read atomically. */
static void log_memory_copy(void *to, const void *from, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word =
            __atomic_load_n((const uint64_t *)((const char *)from + at), __ATOMIC_ACQUIRE);
        memcpy((char *)to + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
    }
}

VkResult bfDumpFenceLog(BfFenceLogReader handle, size_t *size, void *data)
{
    struct reader *reader = reader_of(handle, __func__);
    if (!reader || !size) {
        if (reader)
            bf_message(BF_MESSAGE_ERROR, "bfDumpFenceLog: the reader%s: pSize is NULL",
                       BF_LABEL(reader));
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_engine *engine = reader->queue->engine;
    uint64_t completed;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    VkResult result = entry == BF_ENGINE_LOST
                          ? VK_ERROR_DEVICE_LOST
                          : bf_gpu_engine_completed_epoch(&engine->base, &completed);
    const struct bf_log_writer *writer = result == VK_SUCCESS ? reader->queue->log->writer : NULL;
    size_t all = writer ? BF_FENCE_LOG_BYTES(writer->count) : 0;
    if (result == VK_SUCCESS && !data) {
        *size = all;
    } else if (result == VK_SUCCESS) {
        bf_log_collect(reader->queue->log, completed);
        if (*size < all)
            result = VK_INCOMPLETE;
        else
            *size = all;
        log_memory_copy(data, bf_log_writer_memory(writer, reader->cursor.side), *size);
    }
    bf_engine_leave_beside(engine, entry);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(reader->queue->scheduler, __func__)
                                          : result;
}

VkResult bfSetFenceLogEntries(BfFenceLogReader handle, uint32_t entries)
{
    struct reader *reader = reader_of(handle, __func__);
    if (!reader || entries < MIN_ENTRIES || entries > MAX_ENTRIES) {
        if (reader)
            bf_message(BF_MESSAGE_ERROR,
                       "bfSetFenceLogEntries: the reader%s: %u entries, 2 to 65536 are possible",
                       BF_LABEL(reader), entries);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const enum bf_engine_entry entry = bf_queue_log_enter(reader->queue);
    VkResult result = entry == BF_ENGINE_LOST ? VK_ERROR_DEVICE_LOST
                                              : bf_queue_log_set(reader->queue, entries, true);
    bf_engine_leave_beside(reader->queue->engine, entry);
    return result == VK_ERROR_DEVICE_LOST ? bf_scheduler_lost(reader->queue->scheduler, __func__)
                                          : result;
}

uint32_t bfGetFenceLogHandle(BfFence handle)
{
    struct bf_fence *fence = bf_fence_of(handle, __func__);
    if (!fence)
        return 0;
    return fence->imported ? fence->imported->log_handle : fence->log_handle;
}
