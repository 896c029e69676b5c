/* SPDX-License-Identifier: MIT */
/* Copies out of a device what its queues wait for, which signals are still in them, what its
 * engines are busy with, and which calls of the driver's are under way. */
#include "standstill/snapshot.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/handle.h"
#include "queue/command_queue.h"
#include "scheduler/fence.h"
#include "scheduler/label.h"
#include "scheduler/pending.h"
#include "scheduler/scheduler.h"
#include "standstill/calls.h"
#include "standstill/names.h"
#include "standstill/standstill.h"

/* How often a batch lock is tried before it counts as a stuck call's (SS-4). */
#define TRIES 50

struct builder {
    struct bf_scheduler *scheduler;
    struct bf_names *names;
    uint64_t now_ns;
    struct bf_graph *graph;
    uint32_t object_room, signal_room, wait_room, queue_room, call_room;
    bool failed;
};

/* Room for one more; NULL: out of memory. */
static void *grow(struct builder *b, void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return array;
    uint32_t more = *room ? 2 * *room : 16;
    void *larger = realloc(array, more * size);
    if (larger)
        *room = more;
    else
        b->failed = true;
    return larger;
}

static struct bf_graph_object *object_new(struct builder *b, const void *key)
{
    struct bf_graph *g = b->graph;
    void *larger = grow(b, g->objects, g->object_count, &b->object_room, sizeof(*g->objects));
    if (!larger)
        return NULL;
    g->objects = larger;
    struct bf_graph_object *object = &g->objects[g->object_count++];
    *object = (struct bf_graph_object){.key = key};
    return object;
}

static uint32_t object_find(const struct builder *b, const void *key, enum bf_graph_kind kind)
{
    for (uint32_t i = 0; i < b->graph->object_count; i++) {
        const struct bf_graph_object *object = &b->graph->objects[i];
        if (object->key == key && (object->kind == kind || kind <= BF_GRAPH_TIMELINE))
            return i;
    }
    return BF_GRAPH_NONE;
}

/* The pending lock is held. */
static uint32_t object_of_fence_locked(struct builder *b, const struct bf_fence *fence)
{
    uint32_t found = object_find(b, fence, BF_GRAPH_FENCE);
    struct bf_graph_object *object = found == BF_GRAPH_NONE ? object_new(b, fence) : NULL;
    if (!object)
        return found;
    char label[BF_HANDLE_LABEL];
    bf_handle_label(fence, label);
    object->kind = BF_GRAPH_FENCE;
    object->value = atomic_load(&fence->value);
    object->outside = fence->shared || (fence->flags & BF_SYNC_OBJECT_PROGRAM_WRITTEN_BIT);
    if (label[0])
        snprintf(object->name, sizeof(object->name), "fence%s", label);
    else
        snprintf(object->name, sizeof(object->name), "fence %p", (const void *)fence);
    return b->graph->object_count - 1;
}

/* The fence whose signals the semaphore follows (bfExportFenceToSemaphore), or NULL. The pending
 * lock is held. */
static const struct bf_fence *fence_exported_as(struct builder *b, VkSemaphore handle)
{
    for (const struct bf_fence *f = b->scheduler->pending.fences; f; f = f->next) {
        if (f->exported == handle)
            return f;
    }
    return NULL;
}

static uint64_t semaphore_value(struct builder *b, struct bf_semaphore *sem)
{
    uint64_t value = atomic_load(&sem->reached[BF_FOR_WAIT]), now;
    /* What others signal only the driver knows. */
    if (atomic_load(&sem->external) && bf_semaphore_counter(b->scheduler, sem, &now))
        value = now;
    return value;
}

static void semaphore_write_name(struct builder *b, uint64_t handle, char name[BF_GRAPH_NAME])
{
    char label[80];
    bf_names_write(b->names, VK_OBJECT_TYPE_SEMAPHORE, handle, label, sizeof(label));
    if (label[0])
        snprintf(name, BF_GRAPH_NAME, "semaphore%s", label);
    else
        snprintf(name, BF_GRAPH_NAME, "semaphore 0x%llx", (unsigned long long)handle);
}

static uint32_t object_of_semaphore(struct builder *b, struct bf_semaphore *sem, enum bf_side side)
{
    enum bf_graph_kind kind = sem->timeline         ? BF_GRAPH_TIMELINE
                              : side == BF_FOR_WAIT ? BF_GRAPH_BINARY
                                                    : BF_GRAPH_BINARY_USED;
    uint32_t found = object_find(b, sem, kind);
    if (found != BF_GRAPH_NONE)
        return found;
    if (sem->timeline) {
        bf_lock_acquire(&b->scheduler->pending.lock);
        const struct bf_fence *fence = fence_exported_as(b, sem->handle);
        if (fence)
            found = object_of_fence_locked(b, fence);
        bf_lock_release(&b->scheduler->pending.lock);
        if (fence)
            return found;
    }
    struct bf_graph_object *object = object_new(b, sem);
    if (!object)
        return BF_GRAPH_NONE;
    object->kind = kind;
    /* What a fence alone has made known, the program may signal without Belfry's knowledge. */
    object->outside =
        atomic_load(&sem->outside) || (atomic_load(&sem->external) && sem->fence_count);
    object->value = sem->timeline ? semaphore_value(b, sem) : 0;
    semaphore_write_name(b, (uint64_t)sem->handle, object->name);
    return b->graph->object_count - 1;
}

static void snapshot_list_add(struct builder *b, struct bf_graph_signal **list, uint32_t *count,
                              uint32_t *room, struct bf_graph_signal entry)
{
    if (entry.object == BF_GRAPH_NONE)
        return;
    struct bf_graph_signal *larger = grow(b, *list, *count, room, sizeof(**list));
    if (!larger)
        return;
    *list = larger;
    larger[(*count)++] = entry;
}

static void signal_add(struct builder *b, struct bf_graph_signal entry)
{
    snapshot_list_add(b, &b->graph->signals, &b->graph->signal_count, &b->signal_room, entry);
}

static void wait_add(struct builder *b, struct bf_graph_signal entry)
{
    snapshot_list_add(b, &b->graph->waits, &b->graph->wait_count, &b->wait_room, entry);
}

/* An operation on a semaphore; one on a binary semaphore is a signal of it to whoever waits for it,
 * and the other way round. */
static void packet_add_sync(struct builder *b, const struct bf_sync *s, enum bf_side side,
                            struct bf_graph_signal entry)
{
    enum bf_side other = side == BF_FOR_WAIT ? BF_FOR_SIGNAL : BF_FOR_WAIT;
    if (!s->sem)
        return;
    if (side == BF_FOR_WAIT || !s->sem->timeline) {
        entry.value = s->target;
        entry.object = BF_GRAPH_NONE;
        if (atomic_load(&s->sem->reached[side]) < s->target)
            entry.object = object_of_semaphore(b, s->sem, side);
        wait_add(b, entry);
    }
    if (side == BF_FOR_SIGNAL || !s->sem->timeline) {
        entry.value = side == BF_FOR_SIGNAL ? bf_sync_signalled(s) : s->target;
        entry.object = object_of_semaphore(b, s->sem, other);
        signal_add(b, entry);
    }
}

/* The waits and signals of a packet that is in its queue. '*progress': bf_command_queue_progress
 * before it. */
static void packet_add(struct builder *b, const struct bf_packet *packet, uint32_t place,
                       uint64_t *progress)
{
    struct bf_pending *pending = &b->scheduler->pending;
    struct bf_graph_signal entry = {
        .queue = b->graph->queue_count - 1, .place = place, .packet = packet->number};
    for (uint32_t i = packet->signals_peers; i < packet->signal_count; i++)
        packet_add_sync(b, &packet->signals[i], BF_FOR_SIGNAL, entry);
    for (uint32_t i = 0; i < packet->wait_count; i++)
        packet_add_sync(b, &packet->waits[i], BF_FOR_WAIT, entry);
    bf_lock_acquire(&pending->lock);
    if (packet->update) {
        entry.object = object_of_fence_locked(b, packet->update->fence);
        entry.value = bf_update_value(packet->update, packet->counted, progress);
        signal_add(b, entry);
    }
    if (packet->kind == BF_PACKET_WAIT && packet->wait.fence && !packet->wait.satisfied &&
        !bf_fence_update_reaching(packet->wait.fence, packet->wait.node.key)) {
        entry.object = object_of_fence_locked(b, packet->wait.fence);
        entry.value = packet->wait.node.key;
        wait_add(b, entry);
    }
    bf_lock_release(&pending->lock);
}

/* "command buffers 'shadows' (label 'sun') and 2 more, in 'frame > post'" */
static void submission_write_content(struct builder *b, const struct bf_submission *s,
                                     char text[BF_GRAPH_NAME])
{
    char name[80], label[80];
    int n = 0;
    text[0] = '\0';
    if (s->buffer_count) {
        bf_names_write(b->names, VK_OBJECT_TYPE_COMMAND_BUFFER, s->buffers[0], name, sizeof(name));
        bf_names_write_label(b->names, s->buffers[0], label, sizeof(label));
        if (!name[0])
            snprintf(name, sizeof(name), " 0x%llx", (unsigned long long)s->buffers[0]);
        n = snprintf(text, BF_GRAPH_NAME, "command buffer%s%s%.60s%s", name,
                     label[0] ? " (label" : "", label, label[0] ? ")" : "");
        if (s->buffer_count > 1 && n < BF_GRAPH_NAME)
            n += snprintf(text + n, BF_GRAPH_NAME - (size_t)n, " and %u more", s->buffer_count - 1);
    }
    if (s->labels[0] && n < BF_GRAPH_NAME)
        snprintf(text + n, BF_GRAPH_NAME - (size_t)n, "%slabel '%s'", n ? ", in " : "", s->labels);
}

/* Of a packet in its queue: what the program has named. */
static void packet_write_content(struct builder *b, const struct bf_packet *packet,
                                 char text[BF_GRAPH_NAME])
{
    struct bf_submission s = {0};
    char name[80], label[80];
    if (packet->buffer_count) {
        uint64_t first = (uint64_t)(uintptr_t)packet->buffers[0];
        bf_names_write(b->names, VK_OBJECT_TYPE_COMMAND_BUFFER, first, name, sizeof(name));
        bf_names_write_label(b->names, first, label, sizeof(label));
        s.buffers[0] = first;
        s.buffer_count = name[0] || label[0] ? packet->buffer_count : 0;
    }
    if (packet->labels)
        bf_label_write_path(packet->labels, s.labels, sizeof(s.labels));
    submission_write_content(b, &s, text);
}

/* What the queue stands at: its first packet. */
static void queue_add_wait(struct builder *b, struct bf_graph_queue *node, struct bf_queue *queue,
                           struct bf_packet *packet)
{
    struct bf_pending *pending = &b->scheduler->pending;
    node->state = BF_GRAPH_GOING;
    node->packet = packet->number;
    node->waits = packet->kind == BF_PACKET_WAIT;
    packet_write_content(b, packet, node->content);
    node->windowed = atomic_load(&queue->windowed);
    node->suspended = atomic_load(&queue->suspended) > 0;
    /* Whoever sets a blocked queue free clears this; and nobody blocks it, under the batch lock. */
    if (packet->in_hand || !atomic_load(&queue->blocked))
        return;
    uint32_t object = BF_GRAPH_NONE;
    if (node->waits) {
        bf_lock_acquire(&pending->lock);
        if (packet->wait.fence && packet->wait.blocks) {
            object = object_of_fence_locked(b, packet->wait.fence);
            node->value = packet->wait.node.key;
        }
        bf_lock_release(&pending->lock);
    } else {
        if (queue->waiter.complete) { /* its signal has been accepted (PW-4) */
            node->windowed = true;
            return;
        }
        object = object_of_semaphore(b, queue->waiter.sem, queue->waiter.side);
        node->value = queue->waiter.target;
    }
    if (object == BF_GRAPH_NONE)
        return;
    node->object = object;
    node->state = BF_GRAPH_HELD;
}

static const char *snapshot_type_name(VkQueueFlags flags)
{
    return flags & VK_QUEUE_GRAPHICS_BIT ? "3D" : flags & VK_QUEUE_COMPUTE_BIT ? "compute" : "copy";
}

void bf_snapshot_name_queue(struct bf_queue *queue, struct bf_names *names,
                            char name[BF_GRAPH_NAME])
{
    char own[BF_QUEUE_NAME], label[BF_HANDLE_LABEL] = "";
    if (queue->is_command_queue) {
        bf_command_queue_name(bf_command_queue_of(queue), own);
        bf_handle_label(queue, label);
    } else {
        uint64_t handle = queue->scheduler->gpu.attached
                              ? (uint64_t)(uintptr_t)queue->engine->base.handle
                              : (uint64_t)(uintptr_t)queue;
        snprintf(own, sizeof(own), "%s queue %u:%u", snapshot_type_name(queue->family_flags),
                 queue->family, queue->index);
        bf_names_write(names, VK_OBJECT_TYPE_QUEUE, handle, label, sizeof(label));
    }
    snprintf(name, BF_GRAPH_NAME, "%.40s%.110s", own, label);
}

static struct bf_packet *queue_step(struct bf_queue *queue, struct bf_packet *packet)
{
    bf_lock_acquire(&queue->lock);
    packet = packet ? packet->next : queue->head;
    bf_lock_release(&queue->lock);
    return packet;
}

/* The batch lock is held: packets come to the end of the list meanwhile, and none go. */
static void snapshot_queue_add(struct builder *b, struct bf_queue *queue)
{
    struct bf_graph *g = b->graph;
    void *larger = grow(b, g->queues, g->queue_count, &b->queue_room, sizeof(*g->queues));
    if (!larger)
        return;
    g->queues = larger;
    uint32_t index = g->queue_count++;
    struct bf_graph_queue node = {
        .key = queue,
        .engine = queue->engine->base.number,
        .age_ns = queue->watched_since_ns ? b->now_ns - queue->watched_since_ns : 0,
        .still_ns = queue->watched_since_ns ? b->now_ns - queue->watched_still_ns : 0,
        .numbered = bf_queue_numbered(queue),
        .object = BF_GRAPH_NONE,
    };
    bf_snapshot_name_queue(queue, b->names, node.name);
    bf_lock_acquire(&b->scheduler->pending.lock);
    uint64_t progress = bf_command_queue_progress(queue);
    bf_lock_release(&b->scheduler->pending.lock);
    for (struct bf_packet *p = queue_step(queue, NULL); p; p = queue_step(queue, p)) {
        if (node.packets == 0)
            queue_add_wait(b, &node, queue, p);
        node.parts += p->part;
        packet_add(b, p, node.packets++, &progress);
    }
    g->queues[index] = node;
}

/* The wait because of which a packet that the driver has accepted isn't grounded, or NULL. */
static struct bf_sync *packet_outside_wait(struct builder *b, struct bf_packet *packet)
{
    for (uint32_t i = 0; i < packet->wait_count; i++) {
        struct bf_sync *wait = &packet->waits[i];
        if (wait->sem && !bf_semaphore_ready(b->scheduler, wait->sem, BF_FOR_WAIT, wait->target,
                                             BF_WAIT_GROUNDED))
            return wait;
    }
    return NULL;
}

/* Its operations: the driver has its binary waits, so they have been counted. */
static void packet_add_on_gpu(struct builder *b, struct bf_packet *packet, uint32_t place)
{
    struct bf_graph_signal entry = {
        .queue = b->graph->queue_count - 1, .place = place, .packet = packet->number};
    for (uint32_t i = 0; i < packet->signal_count; i++) {
        const struct bf_sync *s = &packet->signals[i];
        if (!s->sem || atomic_load(&s->sem->reached[BF_FOR_WAIT]) >= bf_sync_signalled(s))
            continue;
        entry.value = bf_sync_signalled(s);
        entry.object = object_of_semaphore(b, s->sem, BF_FOR_WAIT);
        signal_add(b, entry);
    }
    const struct bf_sync *wait = packet_outside_wait(b, packet);
    if (!wait)
        return;
    entry.value = wait->target;
    entry.object = object_of_semaphore(b, wait->sem, BF_FOR_WAIT);
    wait_add(b, entry);
}

/* What the engine has accepted behind an unsatisfied wait for outside. The batch lock is held. */
static void engine_add_list(struct builder *b, struct bf_engine *engine,
                            const struct bf_standstill_engine *seen)
{
    struct bf_graph *g = b->graph;
    struct bf_packet *first = engine->outside.first;
    const struct bf_sync *wait = NULL;
    while (first && !(wait = packet_outside_wait(b, first)))
        first = first->next; /* a look at the list is yet to come (OW-4) */
    if (!first)
        return;
    void *larger = grow(b, g->queues, g->queue_count, &b->queue_room, sizeof(*g->queues));
    if (!larger)
        return;
    g->queues = larger;
    uint32_t index = g->queue_count++;
    struct bf_graph_queue node = {
        .key = &engine->outside,
        .engine = engine->base.number,
        .state = BF_GRAPH_HELD,
        .on_gpu = true,
        .age_ns = seen->busy ? b->now_ns - seen->busy_since_ns : 0,
        .still_ns = seen->busy ? b->now_ns - seen->busy_since_ns : 0,
        .packet = first->number,
        .object = object_of_semaphore(b, wait->sem, BF_FOR_WAIT),
        .value = wait->target,
    };
    if (first->queue)
        bf_snapshot_name_queue((struct bf_queue *)first->queue, b->names, node.name);
    else
        snprintf(node.name, sizeof(node.name), "VkQueue %u:%u", engine->base.family,
                 engine->base.index);
    packet_write_content(b, first, node.content);
    for (struct bf_packet *p = first; p; p = p->next)
        packet_add_on_gpu(b, p, node.packets++);
    b->failed = b->failed || node.object == BF_GRAPH_NONE;
    g->queues[index] = node;
}

/* What the object has that the queue's first packet waits for; the batch lock is held. */
static uint64_t queue_awaited_value(struct bf_queue *queue)
{
    struct bf_pending *pending = &queue->scheduler->pending;
    struct bf_packet *first = queue_step(queue, NULL);
    uint64_t value = 0;
    if (!first || first->in_hand || !atomic_load(&queue->blocked))
        return 0;
    if (first->kind != BF_PACKET_WAIT)
        return queue->waiter.sem ? atomic_load(&queue->waiter.sem->reached[queue->waiter.side]) : 0;
    bf_lock_acquire(&pending->lock);
    if (first->wait.fence && first->wait.blocks)
        value = atomic_load(&first->wait.fence->value);
    bf_lock_release(&pending->lock);
    return value;
}

bool bf_snapshot_watch(struct bf_engine *engine, uint64_t now_ns, uint64_t before_ns, bool *backlog)
{
    bool stands = false;
    if (!bf_lock_try_for(&engine->batch_lock, TRIES)) {
        *backlog = true;
        return false;
    }
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        uint64_t finished = atomic_load(&queue->finished);
        if (finished == atomic_load(&queue->appended)) {
            queue->watched_since_ns = 0;
            continue;
        }
        finished += atomic_load(&queue->finished_parts);
        uint64_t value = queue_awaited_value(queue);
        bool moved = !queue->watched_since_ns || finished != queue->watched_finished;
        if (moved)
            queue->watched_since_ns = now_ns;
        if (moved || value != queue->watched_value)
            queue->watched_still_ns = now_ns;
        queue->watched_finished = finished;
        queue->watched_value = value;
        *backlog = true;
        stands = stands || queue->watched_since_ns <= before_ns;
    }
    bf_lock_release(&engine->batch_lock);
    return stands;
}

static void thread_write_name(uint32_t thread, char *name, size_t size)
{
    char path[64];
    name[0] = '\0';
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t length = read(file, name, size - 1);
    close(file);
    name[length > 0 ? length : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

static bool engine_has_list(const struct bf_graph *graph, uint32_t engine)
{
    for (uint32_t i = 0; i < graph->queue_count; i++) {
        if (graph->queues[i].on_gpu && graph->queues[i].engine == engine)
            return true;
    }
    return false;
}

/* The semaphore that others may signal, unless it has reached what is waited for. Of one that
 * Belfry knows, the engine's list says so. Others it can't ask: the submission may end at any
 * moment, and the program destroy it. */
static void engine_add_outside(struct builder *b, const struct bf_submission *s, uint32_t number,
                               struct bf_graph_engine *e)
{
    VkSemaphore handle;
    memcpy(&handle, &s->outside, sizeof(handle));
    e->listed = engine_has_list(b->graph, number);
    if (!s->outside)
        return;
    if (!e->listed && s->outside_value && bf_semaphore_find(b->scheduler, handle))
        return;
    e->outside_value = s->outside_value;
    semaphore_write_name(b, s->outside, e->outside);
}

static void engine_add_busy(struct builder *b, const struct bf_standstill_engine *seen,
                            uint32_t number, struct bf_graph_engine *e)
{
    struct bf_scheduler *scheduler = b->scheduler;
    struct bf_submission s;
    e->busy = seen->busy;
    e->busy_ns = b->now_ns - seen->busy_since_ns;
    e->order = UINT64_MAX;
    if (!e->busy || !bf_watch_see_oldest(&scheduler->watch->engines[number], seen->completed, &s) ||
        s.epoch != seen->completed + 1)
        return;
    e->order = s.order;
    e->packet = s.number;
    e->waits = s.wait_count;
    snprintf(e->queue, sizeof(e->queue), "a destroyed queue");
    for (uint32_t i = 0; i < b->graph->queue_count; i++) {
        if (b->graph->queues[i].key == s.queue)
            memcpy(e->queue, b->graph->queues[i].name, sizeof(e->queue));
    }
    submission_write_content(b, &s, e->content);
    engine_add_outside(b, &s, number, e);
}

/* What a thread waits for, which the program may destroy once the call has returned. */
static void call_add_wait(struct builder *b, const struct bf_call_seen *seen,
                          struct bf_graph_call *call)
{
    call->more = seen->wait.more;
    call->any = seen->wait.any;
    call->value = seen->wait.value;
    if (seen->command == BF_WATCHED_WAIT_FENCES) {
        char label[80];
        bf_names_write(b->names, VK_OBJECT_TYPE_FENCE, seen->wait.handle, label, sizeof(label));
        if (label[0])
            snprintf(call->fence, BF_GRAPH_NAME, "fence%s", label);
        else
            snprintf(call->fence, BF_GRAPH_NAME, "fence 0x%llx",
                     (unsigned long long)seen->wait.handle);
        return;
    }
    struct bf_semaphore *sem = bf_calls_semaphore(b->scheduler, seen);
    if (sem)
        call->object = object_of_semaphore(b, sem, BF_FOR_WAIT);
    if (call->object != BF_GRAPH_NONE) {
        call->missing = b->graph->objects[call->object].kind == BF_GRAPH_TIMELINE && !call->any &&
                        b->graph->objects[call->object].value < call->value &&
                        bf_semaphore_accepted(sem) < call->value;
        for (uint32_t i = 0; i < b->graph->signal_count; i++) {
            const struct bf_graph_signal *signal = &b->graph->signals[i];
            if (signal->object == call->object && signal->value >= call->value)
                call->missing = false;
        }
    }
    bf_semaphore_release(sem);
}

/* The call, as it was seen last. (A wait may be between two time-outs.) */
static void snapshot_call_add(struct builder *b, struct bf_watched_call *watched, uint32_t engine)
{
    static const char *const names[BF_WATCHED_COMMANDS] = {
        [BF_WATCHED_SUBMIT] = "vkQueueSubmit",
        [BF_WATCHED_BIND_SPARSE] = "vkQueueBindSparse",
        [BF_WATCHED_PRESENT] = "vkQueuePresentKHR",
        [BF_WATCHED_QUEUE_WAIT_IDLE] = "vkQueueWaitIdle",
        [BF_WATCHED_DEVICE_WAIT_IDLE] = "vkDeviceWaitIdle",
        [BF_WATCHED_ACQUIRE] = "vkAcquireNextImageKHR",
        [BF_WATCHED_WAIT_FOR_PRESENT] = "vkWaitForPresentKHR",
        [BF_WATCHED_WAIT_FENCES] = "vkWaitForFences",
        [BF_WATCHED_WAIT_SEMAPHORES] = "vkWaitSemaphores",
    };
    struct bf_graph *g = b->graph;
    const struct bf_call_seen *seen = &watched->look.call;
    const bool wait = bf_watch_is_wait(seen->command);
    struct bf_call_seen now;
    bool under_way = bf_watch_see_call(watched, &now);
    if (!watched->look.seen ||
        (wait ? now.version != seen->version : !under_way || now.count != seen->count))
        return;
    void *larger = grow(b, g->calls, g->call_count, &b->call_room, sizeof(*g->calls));
    if (!larger)
        return;
    g->calls = larger;
    struct bf_graph_call *call = &g->calls[g->call_count++];
    *call = (struct bf_graph_call){
        .engine = engine,
        .name = names[seen->command],
        .waits = wait || seen->command == BF_WATCHED_QUEUE_WAIT_IDLE ||
                 seen->command == BF_WATCHED_DEVICE_WAIT_IDLE,
        .young = !watched->look.lasts,
        .thread = seen->thread,
        .ns = b->now_ns - watched->look.since_ns,
        .still_ns = b->now_ns - watched->look.still_since_ns,
        .object = BF_GRAPH_NONE,
        .place = watched,
    };
    thread_write_name(seen->thread, call->thread_name, sizeof(call->thread_name));
    if (wait)
        call_add_wait(b, seen, call);
}

static void calls_add(struct builder *b, struct bf_watched_call *first, uint32_t engine)
{
    for (struct bf_watched_call *call = first; call && !b->failed; call = atomic_load(&call->next))
        snapshot_call_add(b, call, engine);
}

static void engine_add(struct builder *b, const struct bf_standstill_engine *seen, uint32_t number)
{
    struct bf_engine *engine = &b->scheduler->engines[number];
    struct bf_graph_engine *e = &b->graph->engines[number];
    snprintf(e->name, sizeof(e->name), "VkQueue %u:%u", engine->base.family, engine->base.index);
    for (uint32_t i = 0, alone = 0; i < b->graph->queue_count; i++) {
        if (b->graph->queues[i].engine != number || b->graph->queues[i].on_gpu)
            continue;
        if (alone++ == 0)
            memcpy(e->name, b->graph->queues[i].name, sizeof(e->name));
        else if (alone > 1)
            snprintf(e->name, sizeof(e->name), "VkQueue %u:%u, which %u queues share",
                     engine->base.family, engine->base.index, alone);
    }
    if (seen->kept % 2 && atomic_load(&engine->kept) == seen->kept)
        e->taken_ns = b->now_ns - seen->kept_since_ns;
    engine_add_busy(b, seen, number, e);
    e->idle_ns = b->now_ns - seen->worked_ns;
    if (e->idle_ns < b->graph->idle_ns)
        b->graph->idle_ns = e->idle_ns;
    calls_add(b, &b->scheduler->watch->engines[number].call, number);
}

bool bf_snapshot_take(struct bf_scheduler *scheduler, struct bf_names *names,
                      const struct bf_standstill_engine *engines, uint64_t now_ns,
                      struct bf_graph *graph)
{
    struct builder b = {.scheduler = scheduler, .names = names, .now_ns = now_ns, .graph = graph};
    *graph = (struct bf_graph){.engine_count = scheduler->engine_count + 1, .idle_ns = UINT64_MAX};
    graph->engines = calloc(graph->engine_count, sizeof(*graph->engines));
    b.failed = !graph->engines;
    for (uint32_t i = 0; i < scheduler->engine_count && !b.failed; i++) {
        struct bf_engine *engine = &scheduler->engines[i];
        if (!bf_lock_try_for(&engine->batch_lock, TRIES)) {
            b.failed = true;
            break;
        }
        for (uint32_t k = 0; k < engine->queue_count && !b.failed; k++)
            snapshot_queue_add(&b, engine->queues[k]);
        if (!b.failed)
            engine_add_list(&b, engine, &engines[i]);
        bf_lock_release(&engine->batch_lock);
    }
    for (uint32_t i = 0; i < scheduler->engine_count && !b.failed; i++)
        engine_add(&b, &engines[i], i);
    calls_add(&b, &scheduler->watch->device_call, scheduler->engine_count);
    return !b.failed;
}

bool bf_snapshot_stands(struct bf_scheduler *scheduler, const struct bf_graph *graph,
                        uint32_t number)
{
    const struct bf_graph_queue *node = &graph->queues[number];
    struct bf_engine *engine = &scheduler->engines[node->engine];
    bool stands = false;
    if (node->on_gpu || node->state != BF_GRAPH_HELD)
        return true;
    if (!bf_lock_try_for(&engine->batch_lock, TRIES))
        return false;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        if (queue != node->key || !atomic_load(&queue->blocked))
            continue;
        const struct bf_packet *first = queue_step(queue, NULL);
        stands = first && first->number == node->packet &&
                 (!node->waits || first->wait.node.key == node->value);
    }
    bf_lock_release(&engine->batch_lock);
    return stands;
}

void bf_snapshot_free(struct bf_graph *graph)
{
    free(graph->objects);
    free(graph->signals);
    free(graph->waits);
    free(graph->queues);
    free(graph->engines);
    free(graph->calls);
    *graph = (struct bf_graph){0};
}
