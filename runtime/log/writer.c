/* SPDX-License-Identifier: MIT */
/* Writes a queue's logs: records a command buffer per slot, hands slots out, and takes them back
 * when their epoch has been reached. */
#include "log/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/clock.h"
#include "gpu/commands.h"
#include "gpu/engine.h"
#include "gpu/gpu.h"
#include "gpu/made.h"

/* What a slot's command buffers, or the host, copy to the log. */
struct bf_log_payload {
    BfFenceLogEntry entry;
    uint64_t word;
    uint64_t given; /* the time that the host knows, where it fills the times in (LG-7) */
};

#define ENTRY_END      offsetof(BfFenceLogEntry, fenceEndGpuTimestamp)
#define ENTRY_OBSERVED offsetof(BfFenceLogEntry, fenceObservedGpuTimestamp)
#define WORD           offsetof(struct bf_log_payload, word)

static struct bf_gpu_engine *writer_engine(const struct bf_log_writer *writer)
{
    return writer->log->engine;
}

BfFenceLogBuffer *bf_log_writer_memory(const struct bf_log_writer *writer, enum bf_log_side side)
{
    return (BfFenceLogBuffer *)((char *)writer->logs.mapped + (size_t)side * writer->log_bytes);
}

static uint32_t writer_slot_index(const struct bf_log_writer *writer,
                                  const struct bf_log_slot *slot)
{
    return (uint32_t)(slot - writer->slots);
}

static struct bf_log_payload *writer_payload(const struct bf_log_writer *writer,
                                             const struct bf_log_slot *slot)
{
    return &writer->payloads[writer_slot_index(writer, slot)];
}

/* Offset of the place, behind the slots' payloads, where the GPU keeps the time of the last
 * packet's end. */
static VkDeviceSize writer_last_end_offset(const struct bf_log_writer *writer)
{
    return (VkDeviceSize)BF_LOG_SIDES * writer->slot_count * sizeof(struct bf_log_payload);
}

/* --- Recording ---------------------------------------------------------------------------------*/

static void writer_put_stamp(struct bf_log_writer *writer, VkCommandBuffer commands, uint32_t query)
{
    const struct VolkDeviceTable *vk = &writer_engine(writer)->gpu->vk;
    if (writer->copies_stamps)
        vk->vkCmdResetQueryPool(commands, writer->queries, query, 1);
    vk->vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, writer->queries,
                             query);
}

static void writer_copy_stamp(struct bf_log_writer *writer, VkCommandBuffer commands,
                              uint32_t query, VkBuffer target, VkDeviceSize offset)
{
    writer_engine(writer)->gpu->vk.vkCmdCopyQueryPoolResults(
        commands, writer->queries, query, 1, target, offset, sizeof(uint64_t),
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
}

static void writer_copy_last_end(struct bf_log_writer *writer, VkCommandBuffer commands,
                                 VkDeviceSize offset)
{
    const VkBufferCopy copy = {writer_last_end_offset(writer), offset, sizeof(uint64_t)};
    writer_engine(writer)->gpu->vk.vkCmdCopyBuffer(commands, writer->staging.handle,
                                                   writer->logs.handle, 1, &copy);
}

/* Records an entry and its index word, with barriers on either side of the word (LG-2). */
static void writer_put_entry(struct bf_log_writer *writer, const struct bf_log_slot *slot,
                             VkCommandBuffer commands, enum bf_log_timing timing)
{
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    bool by_gpu = writer->copies_stamps, wait = slot->side == BF_LOG_WAITS;
    uint32_t index = writer_slot_index(writer, slot);
    VkDeviceSize from = index * sizeof(struct bf_log_payload);
    VkDeviceSize log = (VkDeviceSize)slot->side * writer->log_bytes;
    VkDeviceSize entry = log + BF_FENCE_LOG_BYTES(index % writer->slot_count % writer->count);
    bool stamped = by_gpu && (timing & BF_LOG_STAMP), after = by_gpu && (timing & BF_LOG_KEPT);

    /* With a timestamp, the word's copy already waits for the earlier commands. */
    if (!wait && !stamped && !after)
        bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
    if (timing & BF_LOG_STAMP)
        writer_put_stamp(writer, commands, slot->query);
    VkDeviceSize given = after && wait      ? ENTRY_OBSERVED
                         : stamped || after ? ENTRY_END
                                            : sizeof(BfFenceLogEntry);
    const VkBufferCopy payload = {from, entry, given};
    gpu->vk.vkCmdCopyBuffer(commands, writer->staging.handle, writer->logs.handle, 1, &payload);
    if (after)
        writer_copy_last_end(writer, commands, entry + (wait ? ENTRY_OBSERVED : ENTRY_END));
    if (stamped)
        writer_copy_stamp(writer, commands, slot->query, writer->logs.handle, entry + ENTRY_END);
    if (stamped && !wait)
        writer_copy_stamp(writer, commands, slot->query, writer->staging.handle,
                          writer_last_end_offset(writer));
    bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                            VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
    const VkBufferCopy word = {from + WORD, log, sizeof(uint64_t)};
    gpu->vk.vkCmdCopyBuffer(commands, writer->staging.handle, writer->logs.handle, 1, &word);
    bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                            VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
}

/* NULL: out of memory. */
static VkCommandBuffer writer_record_slot(struct bf_log_writer *writer,
                                          const struct bf_log_slot *slot, enum bf_log_timing timing)
{
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    const struct VolkDeviceTable *vk = &gpu->vk;
    VkCommandBuffer commands = NULL;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = slot ? 0 : VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    if (bf_commands_allocate(gpu, writer->pool, 1, &commands) != VK_SUCCESS)
        return NULL;
    if (vk->vkBeginCommandBuffer(commands, &begin) != VK_SUCCESS)
        goto fail;
    if (slot && slot->side >= 0 && !writer->by_host) {
        writer_put_entry(writer, slot, commands, timing);
    } else if (slot) {
        writer_put_stamp(writer, commands, slot->query);
    } else {
        /* One command buffer and query for all batches: the query's reset waits for its previous
         * use. */
        uint32_t query = BF_LOG_SIDES * writer->slot_count;
        writer_put_stamp(writer, commands, query);
        writer_copy_stamp(writer, commands, query, writer->staging.handle,
                          writer_last_end_offset(writer));
        bf_commands_put_barrier(gpu, commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT);
    }
    if (vk->vkEndCommandBuffer(commands) == VK_SUCCESS)
        return commands;
fail:
    vk->vkFreeCommandBuffers(gpu->handle, writer->pool, 1, &commands);
    return NULL;
}

/* --- Adding ------------------------------------------------------------------------------------*/

static void writer_append_slot(struct bf_log_writer *writer, struct bf_log_slot *slot)
{
    slot->epoch = UINT64_MAX;
    slot->next = NULL;
    if (!writer->unaccepted)
        writer->unaccepted = slot;
    if (writer->last)
        writer->last->next = slot;
    else
        writer->first = slot;
    writer->last = slot;
}

static VkCommandBuffer writer_use_slot(struct bf_log_writer *writer, struct bf_log_slot *slot,
                                       enum bf_log_timing timing)
{
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    if (!slot->commands[timing])
        slot->commands[timing] = writer_record_slot(writer, slot, timing);
    if (!slot->commands[timing])
        return NULL;
    if (bf_log_writer_fills_in_times(writer) && (timing & BF_LOG_STAMP))
        gpu->vk.vkResetQueryPool(gpu->handle, writer->queries, slot->query, 1);
    slot->timing = timing;
    return slot->commands[timing];
}

bool bf_log_writer_add(struct bf_log_writer *writer, const struct bf_log_operation *op, bool noted,
                       VkCommandBuffer *commands)
{
    struct bf_gpu_engine *engine = writer_engine(writer);
    bool wait = op->side == BF_LOG_WAITS;
    uint64_t number = writer->next[op->side];
    struct bf_log_slot *slot =
        &writer->slots[op->side * writer->slot_count + number % writer->slot_count];
    *commands = NULL;
    if (slot->epoch)
        return false;
    enum bf_log_timing timing = BF_LOG_AS_GIVEN;
    enum bf_log_when when = op->when;
    /* Packets without a command buffer of Belfry's have left no time. Then a wait is taken to be
     * observed when it was handed over, at the earliest; a signal when this batch begins, at the
     * latest. */
    if (when == BF_LOG_AFTER_LAST && !writer->has_end)
        when = wait ? BF_LOG_AT_NS : BF_LOG_WITH_STAMP;
    if (writer->timed && (wait || !noted || when == BF_LOG_WITH_STAMP))
        timing |= BF_LOG_STAMP;
    if (writer->timed && when == BF_LOG_AFTER_LAST)
        timing |= BF_LOG_KEPT;
    if (writer->by_host && !(timing & BF_LOG_STAMP))
        slot->timing = timing;
    else if ((*commands = writer_use_slot(writer, slot, timing)) == NULL)
        return false;

    uint64_t given =
        writer->timed && when == BF_LOG_AT_NS && op->ns ? bf_gpu_clock_ticks(engine, op->ns) : 0;
    uint32_t flags = op->flags;
    if (!writer->timed)
        flags |= BF_FENCE_LOG_UNTIMED_BIT;
    else if (given)
        flags |= wait ? BF_FENCE_LOG_OBSERVED_FROM_HOST_BIT : BF_FENCE_LOG_END_FROM_HOST_BIT;
    uint64_t time = given;
    if (bf_log_writer_fills_in_times(writer)) {
        flags |= BF_FENCE_LOG_UNTIMED_BIT;
        time = 0;
    }
    *writer_payload(writer, slot) = (struct bf_log_payload){
        .entry =
            {
                .fenceValue = op->value,
                .hNativeFence = op->handle,
                .operationType = wait ? BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED
                                      : BF_FENCE_LOG_OPERATION_SIGNAL_EXECUTED,
                .reserved0 = flags,
                .fenceObservedGpuTimestamp = wait ? time : 0,
                .fenceEndGpuTimestamp = wait ? 0 : time,
            },
        .word = bfFenceLogWord(number + 1, writer->count),
        .given = given,
    };
    writer->has_end = writer->has_end || (!wait && (timing & BF_LOG_STAMP));
    slot->number = number;
    slot->key = op->key;
    slot->later = noted && (timing & BF_LOG_STAMP);
    slot->added_ns = engine->gpu->trace ? bf_now_ns() : 0;
    writer->next[op->side] = number + 1;
    writer_append_slot(writer, slot);
    return true;
}

VkCommandBuffer bf_log_writer_end(struct bf_log_writer *writer, uint32_t *slots)
{
    if (!writer->timed)
        return NULL;
    if (writer->copies_stamps) {
        if (!writer->end)
            writer->end = writer_record_slot(writer, NULL, BF_LOG_STAMP);
        writer->has_end = writer->has_end || writer->end;
        return writer->end;
    }
    struct bf_log_slot *slot =
        &writer->slots[BF_LOG_SIDES * writer->slot_count + writer->ends % writer->slot_count];
    if (slot->epoch)
        return NULL;
    VkCommandBuffer commands = writer_use_slot(writer, slot, BF_LOG_STAMP);
    if (commands) {
        writer->ends++;
        writer->has_end = true;
        (*slots)++;
        writer_append_slot(writer, slot);
    }
    return commands;
}

void bf_log_writer_accepted(struct bf_log_writer *writer, uint32_t slots, uint64_t epoch)
{
    struct bf_log_slot *slot = writer->unaccepted;
    for (uint32_t i = 0; i < slots; i++, slot = slot->next)
        slot->epoch = epoch;
    writer->unaccepted = slot;
    writer->last_epoch = epoch;
}

void bf_log_writer_refused(struct bf_log_writer *writer, bool had_end)
{
    struct bf_log_slot *last = NULL, *slot = writer->first;
    for (; slot != writer->unaccepted; slot = slot->next)
        last = slot;
    for (; slot; slot = slot->next) {
        slot->epoch = 0;
        if (slot->side >= 0)
            writer->next[slot->side]--;
        else
            writer->ends--;
    }
    writer->last = last;
    if (last)
        last->next = NULL;
    else
        writer->first = NULL;
    writer->unaccepted = NULL;
    writer->has_end = had_end;
}

/* --- Arriving ----------------------------------------------------------------------------------*/

/* The timestamp of a completed slot; 0: there is none. */
static uint64_t writer_read_stamp(struct bf_log_writer *writer, const struct bf_log_slot *slot)
{
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    uint64_t stamp = 0;
    if (gpu->vk.vkGetQueryPoolResults(gpu->handle, writer->queries, slot->query, 1, sizeof(stamp),
                                      &stamp, sizeof(stamp), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return 0;
    return stamp;
}

/* The entry of a completed slot whose times the host fills in: one that it is about to write, or
 * one that the GPU has written. NULL: the GPU has been given its place for another one, which it
 * may be writing. */
static BfFenceLogEntry *writer_unfilled_entry(struct bf_log_writer *writer,
                                              const struct bf_log_slot *slot)
{
    if (writer->by_host)
        return &writer_payload(writer, slot)->entry;
    if (slot->number + writer->count < writer->next[slot->side])
        return NULL;
    return &bf_log_writer_memory(writer, slot->side)->entries[slot->number % writer->count];
}

/* LG-7: fills in the times of a completed slot's entry. Slots complete in order of submission, so
 * the end that was read last is that of the packet before. */
static void writer_fill_in_times(struct bf_log_writer *writer, const struct bf_log_slot *slot)
{
    bool stamped = slot->timing & BF_LOG_STAMP, wait = slot->side == BF_LOG_WAITS;
    uint64_t stamp = stamped ? writer_read_stamp(writer, slot) : 0;
    BfFenceLogEntry *entry = slot->side >= 0 ? writer_unfilled_entry(writer, slot) : NULL;
    if (entry && (stamp || !stamped)) {
        const struct bf_log_payload *payload = writer_payload(writer, slot);
        uint64_t known = slot->timing & BF_LOG_KEPT ? writer->last_end : payload->given;
        if (wait)
            __atomic_store_n(&entry->fenceObservedGpuTimestamp, known, __ATOMIC_RELEASE);
        __atomic_store_n(&entry->fenceEndGpuTimestamp, stamped ? stamp : known, __ATOMIC_RELEASE);
        __atomic_store_n(&entry->reserved0,
                         payload->entry.reserved0 & ~(uint64_t)BF_FENCE_LOG_UNTIMED_BIT,
                         __ATOMIC_RELEASE);
    }
    if (stamped && !wait)
        writer->last_end = stamp;
}

/* LG-6: writes the entry, and then the index word that counts it. */
static void writer_write_entry(struct bf_log_writer *writer, const struct bf_log_slot *slot)
{
    const struct bf_log_payload *payload = writer_payload(writer, slot);
    BfFenceLogBuffer *log = bf_log_writer_memory(writer, slot->side);
    log->entries[slot->number % writer->count] = payload->entry;
    __atomic_store_n(&log->header.atomicWraparoundAndEntryIndex, payload->word, __ATOMIC_RELEASE);
}

void bf_log_writer_collect(struct bf_log_writer *writer, uint64_t completed)
{
    struct bf_log_slot *slot;
    if (completed == UINT64_MAX)
        return; /* the device is lost: what is really complete is unknown */
    while ((slot = writer->first) != NULL && slot->epoch <= completed) {
        if (bf_log_writer_fills_in_times(writer))
            writer_fill_in_times(writer, slot);
        if (writer->by_host && slot->side >= 0)
            writer_write_entry(writer, slot);
        writer->first = slot->next;
        slot->epoch = 0;
    }
    if (!writer->first)
        writer->last = NULL;
}

/* --- Coming and going --------------------------------------------------------------------------*/

static VkResult writer_create_pools(struct bf_log_writer *writer)
{
    struct bf_gpu_engine *engine = writer_engine(writer);
    struct bf_gpu *gpu = engine->gpu;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = engine->family,
    };
    VkResult result = BF_MADE(gpu->vk.vkCreateCommandPool(gpu->handle, &pool, NULL, &writer->pool),
                              &writer->pool);
    if (result != VK_SUCCESS || !writer->timed)
        return result;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = (BF_LOG_SIDES + 1) * writer->slot_count,
    };
    return BF_MADE(gpu->vk.vkCreateQueryPool(gpu->handle, &queries, NULL, &writer->queries),
                   &writer->queries);
}

static VkResult writer_create_buffers(struct bf_log_writer *writer)
{
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    writer->log_bytes = (BF_FENCE_LOG_BYTES(writer->count) + 4095) / 4096 * 4096;
    VkResult result =
        bf_buffer_create(gpu, BF_LOG_SIDES * writer->log_bytes, BF_BUFFER_HOST, &writer->logs);
    if (result == VK_SUCCESS && writer->by_host) {
        writer->payloads =
            calloc((size_t)BF_LOG_SIDES * writer->slot_count, sizeof(*writer->payloads));
        result = writer->payloads ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    } else if (result == VK_SUCCESS) {
        result =
            bf_buffer_create(gpu, writer_last_end_offset(writer) + sizeof(struct bf_log_payload),
                             BF_BUFFER_HOST, &writer->staging);
        writer->payloads = (struct bf_log_payload *)writer->staging.mapped;
    }
    for (int side = 0; side < BF_LOG_SIDES && result == VK_SUCCESS; side++) {
        BfFenceLogHeader *header = &bf_log_writer_memory(writer, side)->header;
        header->type = side == BF_LOG_WAITS ? BF_FENCE_LOG_TYPE_WAITS : BF_FENCE_LOG_TYPE_SIGNALS;
        header->numberOfEntries = writer->count;
    }
    return result;
}

VkResult bf_log_writer_create(struct bf_log *log, uint32_t entries, bool is_read,
                              struct bf_log_writer **out)
{
    struct bf_gpu_engine *engine = log->engine;
    struct bf_gpu *gpu = engine->gpu;
    struct bf_log_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    writer->log = log;
    writer->count = entries;
    writer->slot_count = BF_LOG_SLOTS_PER_ENTRY * entries;
    bool may_copy = engine->family_flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    writer->timed = gpu->fence_log == BF_FENCE_LOG_TIMED && engine->timestamp_bits &&
                    (may_copy || gpu->host_query_reset);
    writer->by_host = gpu->fence_log == BF_FENCE_LOG_UNTIMED ||
                      (!is_read && (!writer->timed || gpu->host_query_reset));
    writer->copies_stamps = may_copy && !writer->by_host;
    writer->slots = calloc((size_t)(BF_LOG_SIDES + 1) * writer->slot_count, sizeof(*writer->slots));
    VkResult result = writer->slots ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS && (!writer->by_host || writer->timed))
        result = writer_create_pools(writer);
    if (result == VK_SUCCESS)
        result = writer_create_buffers(writer);
    if (result != VK_SUCCESS) {
        bf_log_writer_destroy(writer);
        return result;
    }
    for (uint32_t i = 0; i < (BF_LOG_SIDES + 1) * writer->slot_count; i++) {
        int side = (int)(i / writer->slot_count);
        writer->slots[i].side = (int8_t)(side < BF_LOG_SIDES ? side : -1);
        writer->slots[i].query = i;
    }
    *out = writer;
    return VK_SUCCESS;
}

void bf_log_writer_destroy(struct bf_log_writer *writer)
{
    if (!writer)
        return;
    struct bf_gpu *gpu = writer_engine(writer)->gpu;
    if (writer->pool)
        gpu->vk.vkDestroyCommandPool(gpu->handle, writer->pool, NULL);
    if (writer->queries)
        gpu->vk.vkDestroyQueryPool(gpu->handle, writer->queries, NULL);
    if (writer->by_host)
        free(writer->payloads);
    bf_buffer_destroy(gpu, &writer->logs);
    bf_buffer_destroy(gpu, &writer->staging);
    free(writer->slots);
    free(writer);
}
