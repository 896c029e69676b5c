/* SPDX-License-Identifier: MIT */
/* Packets: deep copies of Vulkan's submits and sparse binds, each in one block of memory. */
#include "scheduler/packet.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/write.h"
#include "scheduler/chained.h"
#include "scheduler/label.h"
#include "scheduler/last_submission.h"
#include "scheduler/outside.h"
#include "scheduler/scheduler.h"
#include "scheduler/watch.h"

/* Places consecutive arrays in one block. With base NULL, only computes the size. */
struct packet_layout {
    char *base;
    size_t size;
};

static void *layout_place(struct packet_layout *layout, size_t count, size_t element)
{
    size_t at = (layout->size + 15) & ~(size_t)15;
    layout->size = at + count * element;
    return layout->base ? layout->base + at : NULL;
}

static void *layout_copy(struct packet_layout *layout, const void *source, size_t count,
                         size_t element)
{
    void *target = layout_place(layout, count, element);
    if (target && count)
        memcpy(target, source, count * element);
    return target;
}

static void *packet_block_take(struct bf_queue *queue)
{
    bf_lock_acquire_short(&queue->lock);
    struct bf_packet *spare = queue->spares;
    if (spare) {
        queue->spares = spare->next;
        queue->spare_count--;
    }
    bf_lock_release(&queue->lock);
    return spare ? spare : malloc(BF_PACKET_BLOCK);
}

/* Runs 'fill' twice: first to compute the size, then to fill a block of that size. */
static struct bf_packet *
packet_build(struct bf_packet *(*fill)(struct packet_layout *, struct bf_scheduler *, const void *),
             struct bf_queue *queue, const void *info)
{
    struct packet_layout layout = {0};
    fill(&layout, queue->scheduler, info);
    bool block = layout.size <= BF_PACKET_BLOCK;
    layout = (struct packet_layout){block ? packet_block_take(queue) : malloc(layout.size), 0};
    struct bf_packet *packet = layout.base ? fill(&layout, queue->scheduler, info) : NULL;
    if (packet)
        packet->block = block;
    return packet;
}

static const void *submit_chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == type)
            return s;
    }
    return NULL;
}

/* The structs that may be chained to a batch and have a meaning on Linux: those without arrays, and
 * the frame boundary. */
static const struct {
    VkStructureType type;
    size_t size;
} flat[] = {
    {VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR, sizeof(VkPerformanceQuerySubmitInfoKHR)},
    {BF_STRUCTURE_TYPE_SUBMISSION_PRESENT_ID, sizeof(struct bf_submission_present_id)},
};
#define FLAT_COUNT (sizeof(flat) / sizeof(flat[0]))

static bool can_chain(VkStructureType type)
{
    for (size_t i = 0; i < FLAT_COUNT; i++) {
        if (flat[i].type == type)
            return true;
    }
    return type == BF_STRUCTURE_TYPE_FRAME_BOUNDARY;
}

bool bf_packet_can_copy_submit(const VkSubmitInfo2 *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (!can_chain(s->sType))
            return false;
    }
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++) {
        if (info->pCommandBufferInfos[i].pNext)
            return false;
    }
    for (uint32_t i = 0; i < info->waitSemaphoreInfoCount; i++) {
        if (info->pWaitSemaphoreInfos[i].pNext)
            return false;
    }
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++) {
        if (info->pSignalSemaphoreInfos[i].pNext)
            return false;
    }
    return true;
}

bool bf_packet_can_copy_bind(const VkBindSparseInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO &&
            s->sType != VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO &&
            s->sType != BF_STRUCTURE_TYPE_FRAME_BOUNDARY)
            return false;
    }
    return true;
}

static struct bf_sync sync_lookup(struct bf_scheduler *scheduler, VkSemaphore handle,
                                  uint64_t value)
{
    struct bf_semaphore *sem = bf_semaphore_find(scheduler, handle);
    bf_semaphore_reference(sem);
    return (struct bf_sync){sem, value, value};
}

bool bf_packet_counts_performance(const struct bf_packet *packet)
{
    return submit_chain_find(packet->submit.pNext,
                             VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR) != NULL;
}

/* A frame boundary with its arrays; NULL where the chain has none, and while measuring. */
static struct bf_frame_boundary *layout_copy_frame_boundary(struct packet_layout *l,
                                                            const void *chain)
{
    const struct bf_frame_boundary *from =
        submit_chain_find(chain, BF_STRUCTURE_TYPE_FRAME_BOUNDARY);
    if (!from)
        return NULL;
    struct bf_frame_boundary *boundary = layout_copy(l, from, 1, sizeof(*boundary));
    VkImage *images = layout_copy(l, from->pImages, from->imageCount, sizeof(*images));
    VkBuffer *buffers = layout_copy(l, from->pBuffers, from->bufferCount, sizeof(*buffers));
    void *tag = layout_copy(l, from->pTag, from->tagSize, 1);
    if (!boundary)
        return NULL;
    boundary->pNext = NULL;
    boundary->pImages = images;
    boundary->pBuffers = buffers;
    boundary->pTag = tag;
    return boundary;
}

/* The flat structs of a chain, in front of 'behind'. */
static const void *layout_copy_flat(struct packet_layout *l, const void *chain, const void *behind)
{
    for (size_t i = 0; i < FLAT_COUNT; i++) {
        const void *from = submit_chain_find(chain, flat[i].type);
        VkBaseInStructure *own = from ? layout_copy(l, from, 1, flat[i].size) : NULL;
        if (!own)
            continue;
        own->pNext = behind;
        behind = own;
    }
    return behind;
}

static struct bf_packet *packet_fill_submit(struct packet_layout *l, struct bf_scheduler *scheduler,
                                            const void *source)
{
    const VkSubmitInfo2 *info = source;
    uint32_t waits = info->waitSemaphoreInfoCount, signals = info->signalSemaphoreInfoCount;
    uint32_t buffers = info->commandBufferInfoCount;
    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    const void *chain =
        layout_copy_flat(l, info->pNext, layout_copy_frame_boundary(l, info->pNext));
    VkSemaphoreSubmitInfo *wait_infos =
        layout_copy(l, info->pWaitSemaphoreInfos, waits, sizeof(*wait_infos));
    /* Room for the epoch behind the program's signals, and for stamps around its buffers. */
    VkSemaphoreSubmitInfo *signal_infos = layout_place(l, signals + 1, sizeof(*signal_infos));
    VkCommandBufferSubmitInfo *buffer_infos = layout_place(l, buffers + 2, sizeof(*buffer_infos));
    struct bf_sync *wait_syncs = layout_place(l, waits, sizeof(*wait_syncs));
    struct bf_sync *signal_syncs = layout_place(l, signals, sizeof(*signal_syncs));
    if (!l->base)
        return NULL;

    if (signals)
        memcpy(signal_infos, info->pSignalSemaphoreInfos, signals * sizeof(*signal_infos));
    if (buffers)
        memcpy(buffer_infos + 1, info->pCommandBufferInfos, buffers * sizeof(*buffer_infos));
    *p = (struct bf_packet){
        .kind = BF_PACKET_EXECUTE,
        .submit = *info,
        .command_buffers = buffer_infos,
        .wait_count = waits,
        .signal_count = signals,
        .waits = wait_syncs,
        .signals = signal_syncs,
        .stamp = UINT32_MAX,
    };
    p->submit.pNext = chain;
    p->submit.pWaitSemaphoreInfos = wait_infos;
    p->submit.pCommandBufferInfos = buffer_infos + 1;
    p->submit.pSignalSemaphoreInfos = signal_infos;
    for (uint32_t i = 0; i < waits; i++)
        wait_syncs[i] = sync_lookup(scheduler, wait_infos[i].semaphore, wait_infos[i].value);
    for (uint32_t i = 0; i < signals; i++)
        signal_syncs[i] = sync_lookup(scheduler, signal_infos[i].semaphore, signal_infos[i].value);
    return p;
}

/* A VkTimelineSemaphoreSubmitInfo may have fewer values than there are semaphores: the others are
 * binary. */
static uint64_t bind_value_at(const uint64_t *values, uint32_t count, uint32_t i)
{
    return values && i < count ? values[i] : 0;
}

static struct bf_packet *packet_fill_bind(struct packet_layout *l, struct bf_scheduler *scheduler,
                                          const void *source)
{
    const VkBindSparseInfo *info = source;
    const VkTimelineSemaphoreSubmitInfo *values =
        submit_chain_find(info->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    const VkDeviceGroupBindSparseInfo *group =
        submit_chain_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_GROUP_BIND_SPARSE_INFO);
    uint32_t waits = info->waitSemaphoreCount, signals = info->signalSemaphoreCount;

    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    VkDeviceGroupBindSparseInfo *own_group =
        group ? layout_copy(l, group, 1, sizeof(*own_group)) : NULL;
    struct bf_frame_boundary *boundary = layout_copy_frame_boundary(l, info->pNext);
    VkSemaphore *wait_handles = layout_copy(l, info->pWaitSemaphores, waits, sizeof(*wait_handles));
    VkSemaphore *signal_handles = layout_place(l, signals + 1, sizeof(*signal_handles));
    uint64_t *wait_values = layout_place(l, waits, sizeof(*wait_values));
    uint64_t *signal_values = layout_place(l, signals + 1, sizeof(*signal_values));
    struct bf_sync *wait_syncs = layout_place(l, waits, sizeof(*wait_syncs));
    struct bf_sync *signal_syncs = layout_place(l, signals, sizeof(*signal_syncs));

    VkSparseBufferMemoryBindInfo *buffers =
        layout_copy(l, info->pBufferBinds, info->bufferBindCount, sizeof(*buffers));
    VkSparseImageOpaqueMemoryBindInfo *opaque =
        layout_copy(l, info->pImageOpaqueBinds, info->imageOpaqueBindCount, sizeof(*opaque));
    VkSparseImageMemoryBindInfo *images =
        layout_copy(l, info->pImageBinds, info->imageBindCount, sizeof(*images));
    for (uint32_t i = 0; i < info->bufferBindCount; i++) {
        const VkSparseBufferMemoryBindInfo *b = &info->pBufferBinds[i];
        void *binds = layout_copy(l, b->pBinds, b->bindCount, sizeof(*b->pBinds));
        if (l->base)
            buffers[i].pBinds = binds;
    }
    for (uint32_t i = 0; i < info->imageOpaqueBindCount; i++) {
        const VkSparseImageOpaqueMemoryBindInfo *b = &info->pImageOpaqueBinds[i];
        void *binds = layout_copy(l, b->pBinds, b->bindCount, sizeof(*b->pBinds));
        if (l->base)
            opaque[i].pBinds = binds;
    }
    for (uint32_t i = 0; i < info->imageBindCount; i++) {
        const VkSparseImageMemoryBindInfo *b = &info->pImageBinds[i];
        void *binds = layout_copy(l, b->pBinds, b->bindCount, sizeof(*b->pBinds));
        if (l->base)
            images[i].pBinds = binds;
    }
    if (!l->base)
        return NULL;

    *p = (struct bf_packet){
        .kind = BF_PACKET_BIND_SPARSE,
        .bind = *info,
        .values =
            {
                .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                .pNext = own_group ? (const void *)own_group : boundary,
                .waitSemaphoreValueCount = waits,
                .pWaitSemaphoreValues = wait_values,
                .signalSemaphoreValueCount = signals,
                .pSignalSemaphoreValues = signal_values,
            },
        .wait_count = waits,
        .signal_count = signals,
        .waits = wait_syncs,
        .signals = signal_syncs,
        .stamp = UINT32_MAX,
    };
    if (own_group)
        own_group->pNext = boundary;
    if (signals)
        memcpy(signal_handles, info->pSignalSemaphores, signals * sizeof(*signal_handles));
    p->bind.pNext = &p->values;
    p->bind.pWaitSemaphores = wait_handles;
    p->bind.pSignalSemaphores = signal_handles;
    p->bind.pBufferBinds = buffers;
    p->bind.pImageOpaqueBinds = opaque;
    p->bind.pImageBinds = images;
    for (uint32_t i = 0; i < waits; i++) {
        wait_values[i] =
            values ? bind_value_at(values->pWaitSemaphoreValues, values->waitSemaphoreValueCount, i)
                   : 0;
        wait_syncs[i] = sync_lookup(scheduler, wait_handles[i], wait_values[i]);
    }
    for (uint32_t i = 0; i < signals; i++) {
        signal_values[i] = values ? bind_value_at(values->pSignalSemaphoreValues,
                                                  values->signalSemaphoreValueCount, i)
                                  : 0;
        signal_syncs[i] = sync_lookup(scheduler, signal_handles[i], signal_values[i]);
    }
    return p;
}

struct bf_packet *bf_packet_from_submit(struct bf_queue *queue, const VkSubmitInfo2 *info)
{
    return packet_build(packet_fill_submit, queue, info);
}

struct bf_packet *bf_packet_from_bind(struct bf_queue *queue, const VkBindSparseInfo *info)
{
    return packet_build(packet_fill_bind, queue, info);
}

static struct bf_packet *packet_fill_execution(struct packet_layout *l,
                                               struct bf_scheduler *scheduler, const void *source)
{
    const struct bf_execution *what = source;
    uint32_t waits = what->wait != NULL, signals = what->signal != NULL;
    uint32_t count = what->count + (what->write != NULL);
    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    VkSemaphoreSubmitInfo *wait_infos =
        layout_place(l, waits + scheduler->engine_count, sizeof(*wait_infos));
    VkSemaphoreSubmitInfo *signal_infos = layout_place(l, signals + 1, sizeof(*signal_infos));
    /* Room for a barrier, and for stamps around it all. */
    VkCommandBufferSubmitInfo *buffer_infos = layout_place(l, count + 3, sizeof(*buffer_infos));
    struct bf_sync *wait_syncs = layout_place(l, waits, sizeof(*wait_syncs));
    struct bf_sync *signal_syncs = layout_place(l, signals, sizeof(*signal_syncs));
    if (!l->base)
        return NULL;

    *p = (struct bf_packet){
        .kind = BF_PACKET_EXECUTE,
        .submit =
            {
                .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                .waitSemaphoreInfoCount = waits,
                .pWaitSemaphoreInfos = wait_infos,
                .commandBufferInfoCount = count,
                .pCommandBufferInfos = buffer_infos + 2,
                .signalSemaphoreInfoCount = signals,
                .pSignalSemaphoreInfos = signal_infos,
            },
        .command_buffers = buffer_infos + 1,
        .wait_count = waits,
        .signal_count = signals,
        .waits = wait_syncs,
        .signals = signal_syncs,
        .imported = what->fence,
        .write = what->write,
        .update = what->update,
        .signals_peers = what->signals_peers,
        .counted = what->counted,
        .apart = what->apart,
        .fence_sync = {what->update ? (uintptr_t)what->update->fence : 0,
                       what->update ? what->update->value : 0},
        .stamp = UINT32_MAX,
    };
    for (uint32_t i = 0; i < count; i++) {
        buffer_infos[i + 2] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
            .commandBuffer = i < what->count ? what->buffers[i] : what->write->commands,
        };
    }
    struct bf_semaphore *semaphore = waits ? what->wait : what->signal;
    if (semaphore) {
        bf_semaphore_reference(semaphore);
        (waits ? wait_syncs : signal_syncs)[0] =
            (struct bf_sync){semaphore, what->value, what->value};
        (waits ? wait_infos : signal_infos)[0] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = semaphore->handle,
            .value = what->value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        };
    }
    return p;
}

struct bf_packet *bf_packet_from_execution(struct bf_queue *queue, const struct bf_execution *what)
{
    return packet_build(packet_fill_execution, queue, what);
}

/* What of a packet may change until it is on the list is filled in later. */
static struct bf_packet *packet_fill_part(struct packet_layout *l, struct bf_scheduler *scheduler,
                                          const void *source)
{
    const struct bf_packet *whole = source;
    uint32_t waits = whole->wait_count;
    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    VkSemaphoreSubmitInfo *wait_infos =
        layout_place(l, waits + scheduler->engine_count, sizeof(*wait_infos));
    VkSemaphoreSubmitInfo *signal_infos = layout_place(l, 1, sizeof(*signal_infos));
    /* Room for a barrier, and for stamps around it all. */
    VkCommandBufferSubmitInfo *buffer_infos = layout_place(l, 4, sizeof(*buffer_infos));
    struct bf_sync *wait_syncs = layout_place(l, waits, sizeof(*wait_syncs));
    if (!l->base)
        return NULL;
    *p = (struct bf_packet){
        .kind = BF_PACKET_EXECUTE,
        .submit =
            {
                .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                .pWaitSemaphoreInfos = wait_infos,
                .commandBufferInfoCount = 1,
                .pCommandBufferInfos = buffer_infos + 2,
                .pSignalSemaphoreInfos = signal_infos,
            },
        .command_buffers = buffer_infos + 1,
        .waits = wait_syncs,
        .part = true,
        .stamp = UINT32_MAX,
    };
    buffer_infos[2] = whole->submit.pCommandBufferInfos[0];
    return p;
}

/* The queue's lock is held. */
static void packet_take_over(struct bf_packet *part, struct bf_packet *whole)
{
    const uint32_t waits = whole->wait_count;
    if (waits) {
        memcpy((void *)part->submit.pWaitSemaphoreInfos, whole->submit.pWaitSemaphoreInfos,
               waits * sizeof(*part->submit.pWaitSemaphoreInfos));
        memcpy(part->waits, whole->waits, waits * sizeof(*part->waits));
    }
    part->wait_count = part->submit.waitSemaphoreInfoCount = waits;
    whole->wait_count = whole->submit.waitSemaphoreInfoCount = 0;
    part->unsought = whole->unsought;
    whole->unsought = 0;
    whole->submit.pCommandBufferInfos++;
    whole->submit.commandBufferInfoCount--;
    whole->command_buffers++;
    /* Nothing is joined with what is to be a submission of its own. */
    part->apart = whole->apart = true;

    part->place = whole->place;
    part->order = whole->order;
    atomic_store(&part->level, atomic_load(&whole->level));
    atomic_store(&part->passes_outside, atomic_load(&whole->passes_outside));
    part->marked = whole->marked;
    part->was_held = whole->was_held;
    part->preemptible_by = whole->preemptible_by;
    part->counted_held = whole->counted_held;
    part->log_when = whole->log_when;
    part->called_ns = whole->called_ns;
    bf_label_attach_to(part, whole->labels);
}

struct bf_packet *bf_packet_take_part(struct bf_queue *queue, struct bf_packet *packet)
{
    struct bf_packet *part = packet_build(packet_fill_part, queue, packet);
    if (!part)
        return NULL;
    bf_lock_acquire(&queue->lock);
    packet_take_over(part, packet);
    bf_watch_divided(part, packet);
    struct bf_packet **link = &queue->head;
    while (*link != packet)
        link = &(*link)->next;
    part->next = packet;
    *link = part;
    bf_lock_release(&queue->lock);
    return part;
}

static struct bf_packet *packet_fill_wait(struct packet_layout *l, struct bf_scheduler *scheduler,
                                          const void *source)
{
    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    VkSemaphoreSubmitInfo *wait_infos =
        layout_place(l, 1 + scheduler->engine_count, sizeof(*wait_infos));
    VkSemaphoreSubmitInfo *signal_infos = layout_place(l, 1, sizeof(*signal_infos));
    VkCommandBufferSubmitInfo *buffer_infos = layout_place(l, 3, sizeof(*buffer_infos));
    struct bf_sync *wait_syncs = layout_place(l, 1, sizeof(*wait_syncs));
    (void)source;
    if (!l->base)
        return NULL;
    *p = (struct bf_packet){
        .kind = BF_PACKET_WAIT,
        .submit =
            {
                .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                .pWaitSemaphoreInfos = wait_infos,
                .pCommandBufferInfos = buffer_infos + 2,
                .pSignalSemaphoreInfos = signal_infos,
            },
        .command_buffers = buffer_infos + 1,
        .waits = wait_syncs,
        .stamp = UINT32_MAX,
    };
    return p;
}

struct bf_packet *bf_packet_from_wait(struct bf_queue *queue, struct bf_peer_wait *peer_wait)
{
    struct bf_packet *packet = packet_build(packet_fill_wait, queue, peer_wait);
    if (packet)
        packet->peer_wait = peer_wait;
    return packet;
}

struct bf_packet *bf_packet_create(struct bf_queue *queue, enum bf_packet_kind kind)
{
    struct bf_packet *packet = packet_block_take(queue);
    if (packet)
        *packet = (struct bf_packet){.kind = kind, .block = true, .stamp = UINT32_MAX};
    return packet;
}

void bf_packet_put_barrier(struct bf_packet *packet, VkCommandBuffer barrier)
{
    packet->command_buffers[0] = (VkCommandBufferSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = barrier,
    };
    packet->submit.pCommandBufferInfos = packet->command_buffers;
    packet->submit.commandBufferInfoCount++;
    packet->command_buffers--;
    packet->barrier = true;
}

struct bf_packet *bf_packet_from_fence(void)
{
    struct bf_packet *packet = calloc(1, sizeof(*packet));
    if (packet) {
        packet->kind = BF_PACKET_FENCE;
        packet->stamp = UINT32_MAX;
    }
    return packet;
}

static struct bf_packet *packet_fill_raw(struct packet_layout *l, struct bf_scheduler *scheduler,
                                         const void *source)
{
    const struct bf_raw_submit *raw = source;
    struct bf_packet *p = layout_place(l, 1, sizeof(*p));
    struct bf_sync *waits = layout_copy(l, raw->waits, raw->wait_count, sizeof(*waits));
    struct bf_sync *signals = layout_copy(l, raw->signals, raw->signal_count, sizeof(*signals));
    (void)scheduler;
    if (!l->base)
        return NULL;
    *p = (struct bf_packet){
        .kind = BF_PACKET_EXECUTE,
        .wait_count = raw->wait_count,
        .signal_count = raw->signal_count,
        .waits = waits,
        .signals = signals,
        .stamp = UINT32_MAX,
    };
    for (uint32_t i = 0; i < raw->wait_count; i++)
        bf_semaphore_reference(waits[i].sem);
    for (uint32_t i = 0; i < raw->signal_count; i++)
        bf_semaphore_reference(signals[i].sem);
    return p;
}

struct bf_packet *bf_packet_from_raw(struct bf_queue *queue, const struct bf_raw_submit *raw)
{
    return packet_build(packet_fill_raw, queue, raw);
}

static void packet_release_contents(struct bf_packet *packet)
{
    bf_label_drop(packet);
    free(packet->peer_wait); /* the wait did not become an execution */
    for (uint32_t i = 0; i < packet->wait_count; i++)
        bf_semaphore_release(packet->waits[i].sem);
    for (uint32_t i = 0; i < packet->signal_count; i++)
        bf_semaphore_release(packet->signals[i].sem);
}

void bf_packet_free(struct bf_packet *packet)
{
    packet_release_contents(packet);
    free(packet);
}

void bf_packet_free_chain(struct bf_packet *first)
{
    while (first) {
        struct bf_packet *next = first->next;
        bf_packet_free(first);
        first = next;
    }
}

void bf_packet_recycle(struct bf_queue *queue, struct bf_packet *packet)
{
    packet_release_contents(packet);
    if (packet->block) {
        uint32_t most = atomic_load_explicit(&queue->scheduler->defers, memory_order_relaxed)
                            ? BF_PACKET_SPARES_DEFERRED
                            : BF_PACKET_SPARES;
        bf_lock_acquire_short(&queue->lock);
        bool kept = queue->spare_count < most;
        if (kept) {
            packet->next = queue->spares;
            queue->spares = packet;
            queue->spare_count++;
        }
        bf_lock_release(&queue->lock);
        if (kept)
            return;
    }
    free(packet);
}

void bf_packet_take_targets(struct bf_packet *packet)
{
    /* Signals first: a batch may wait for a binary semaphore and signal it again, and its signal
     * need not wait for its own wait. */
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_sync *s = &packet->signals[i];
        if (s->sem && !s->sem->timeline)
            s->target = atomic_load(&s->sem->queued[BF_FOR_SIGNAL]);
    }
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        struct bf_sync *s = &packet->waits[i];
        if (!s->sem || s->sem->timeline)
            continue;
        s->target = s->ordinal = atomic_load(&s->sem->queued[BF_FOR_WAIT]);
        atomic_fetch_add(&s->sem->queued[BF_FOR_SIGNAL], 1);
    }
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_sync *s = &packet->signals[i];
        if (s->sem && !s->sem->timeline)
            s->ordinal = atomic_fetch_add(&s->sem->queued[BF_FOR_WAIT], 1) + 1;
    }
}

const struct bf_sync *bf_packet_last_submission_signal(const struct bf_packet *packet)
{
    if (packet->signal_count != 1)
        return NULL;
    VkPipelineStageFlags2 stages = packet->kind == BF_PACKET_EXECUTE
                                       ? packet->submit.pSignalSemaphoreInfos[0].stageMask
                                       : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    return bf_last_submission_suits(packet->signals[0].sem, stages) ? &packet->signals[0] : NULL;
}

struct bf_sync *bf_packet_obstacle(struct bf_scheduler *scheduler, struct bf_packet *packet,
                                   enum bf_wait_rule rule, enum bf_side *side)
{
    *side = BF_FOR_WAIT;
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        struct bf_sync *s = &packet->waits[i];
        if (s->sem && !bf_semaphore_ready(scheduler, s->sem, BF_FOR_WAIT, s->target, rule))
            return s;
    }
    *side = BF_FOR_SIGNAL;
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_sync *s = &packet->signals[i];
        if (s->sem && !s->sem->timeline &&
            !bf_semaphore_ready(scheduler, s->sem, BF_FOR_SIGNAL, s->target, rule))
            return s;
    }
    return NULL;
}

bool bf_packet_signals_binary(const struct bf_packet *packet)
{
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        if (packet->signals[i].sem && !packet->signals[i].sem->timeline)
            return true;
    }
    return false;
}

void bf_packet_signalled_on(struct bf_packet *packet, const struct bf_engine *engine)
{
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_semaphore *sem = packet->signals[i].sem;
        if (!sem)
            continue;
        bf_semaphore_signalled_on(sem, bf_engine_bit(engine));
        if (!sem->timeline && packet->epoch)
            atomic_store(&sem->signalled_at, packet->epoch * BF_MAX_ENGINES + engine->base.number);
    }
}

uint64_t bf_packet_accepted(struct bf_packet *packet)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        struct bf_sync *s = &packet->waits[i];
        if (s->sem && !s->sem->timeline)
            engines |= bf_semaphore_count(s->sem);
    }
    return engines;
}

uint64_t bf_packet_grounded(struct bf_packet *packet)
{
    uint64_t engines = 0;
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        struct bf_sync *s = &packet->signals[i];
        if (s->sem)
            engines |= bf_semaphore_reach(s->sem, bf_sync_signalled(s));
    }
    return engines;
}
