/* SPDX-License-Identifier: MIT */
/* Decodes the ends of an engine's fence logs, and prints them. */
#include "standstill/last_entries.h"

#include <stdio.h>

#include "base/handle.h"
#include "base/message.h"
#include "gpu/clock.h"
#include "log/log.h"
#include "scheduler/engine.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "scheduler/semaphore.h"
#include "standstill/graph.h"
#include "standstill/names.h"
#include "standstill/snapshot.h"

/* Entries of each log that are told. */
#define LAST 3

/* By the number that logs know it by. */
struct named {
    uint32_t number;
    struct bf_names *names;
    char text[BF_GRAPH_NAME];
};

static void semaphore_name(void *value, void *context)
{
    const struct bf_semaphore *sem = value;
    struct named *n = context;
    char label[80];
    if (n->text[0] || sem->log_handle != n->number)
        return;
    bf_names_write(n->names, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)sem->handle, label, sizeof(label));
    if (label[0])
        snprintf(n->text, sizeof(n->text), "semaphore%s", label);
    else
        snprintf(n->text, sizeof(n->text), "semaphore 0x%llx", (unsigned long long)sem->handle);
}

static void fence_name(struct bf_scheduler *scheduler, struct named *n)
{
    char label[BF_HANDLE_LABEL];
    bf_lock_acquire(&scheduler->pending.lock);
    const struct bf_fence *fence = scheduler->pending.fences;
    while (fence && fence->log_handle != n->number)
        fence = fence->next;
    if (fence) {
        bf_handle_label(fence, label);
        snprintf(n->text, sizeof(n->text), label[0] ? "fence%s" : "fence%s %p", label,
                 (const void *)fence);
    }
    bf_lock_release(&scheduler->pending.lock);
    if (!n->text[0])
        bf_map_walk(&scheduler->semaphores, semaphore_name, n);
    if (!n->text[0])
        snprintf(n->text, sizeof(n->text), "fence %u, which is no more", n->number);
}

static void entry_tell(struct bf_engine *engine, struct bf_names *names, const char *queue,
                       const struct bf_log_item *item)
{
    struct bf_gpu *gpu = &engine->scheduler->gpu;
    struct named fence = {.number = item->fence, .names = names};
    const uint64_t now = bf_gpu_clock_now(gpu);
    char when[48] = "";
    fence_name(engine->scheduler, &fence);
    if (item->end && now >= item->end) /* else nobody knows */
        snprintf(when, sizeof(when), ", %.3f s ago",
                 (double)(now - item->end) * gpu->timestamp_period_ns / 1e9);
    bf_message(
        BF_MESSAGE_ERROR, "tdr: engine %u:%u: log of %s: entry %llu: %s %llu of %s%s",
        engine->base.family, engine->base.index, queue, (unsigned long long)item->sequence + 1,
        item->operation == BF_FENCE_LOG_OPERATION_WAIT_UNBLOCKED ? "it waited for" : "it signalled",
        (unsigned long long)item->value, fence.text, when);
}

void bf_last_entries_tell(struct bf_scheduler *scheduler, struct bf_names *names, uint32_t number)
{
    struct bf_engine *engine = &scheduler->engines[number];
    if (!bf_lock_try_briefly(&engine->lock)) {
        bf_message(BF_MESSAGE_ERROR,
                   "tdr: engine %u:%u: its fence logs can't be read: a call has it",
                   engine->base.family, engine->base.index);
        return;
    }
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        char name[BF_GRAPH_NAME];
        if (!bf_log_is_enabled(queue->log))
            continue;
        bf_snapshot_name_queue(queue, names, name);
        bf_log_flush(queue->log);
        for (int side = 0; side < BF_LOG_SIDES; side++) {
            struct bf_log_item items[LAST];
            uint32_t count = bf_log_read_last(queue->log, (enum bf_log_side)side, items, LAST);
            for (uint32_t k = 0; k < count; k++)
                entry_tell(engine, names, name, &items[k]);
        }
    }
    bf_lock_release(&engine->lock);
    bf_engine_recheck(engine, 0);
}
