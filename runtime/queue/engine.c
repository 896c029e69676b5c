#include "queue/engine.h"

#include "device/device.h"

/* Batches that one pump hands over before it looks for somebody to take over. */
#define PUMP_BOUND 16

VkResult bf_engine_driver_submit(struct bf_engine *engine, uint32_t count,
                                 const VkSubmitInfo2 *infos, VkFence fence)
{
    struct bf_device *device = engine->device;
    bf_device_submit_enter(device);
    VkResult result = device->submit2(engine->handle, count, infos, fence);
    bf_device_submit_leave(device);
    return result;
}

static VkResult driver_bind(struct bf_engine *engine, const VkBindSparseInfo *info, VkFence fence)
{
    struct bf_device *device = engine->device;
    bf_device_submit_enter(device);
    VkResult result = device->vk.vkQueueBindSparse(engine->handle, 1, info, fence);
    bf_device_submit_leave(device);
    return result;
}

/* Puts the queue's first packets into the batch until one may not go. A packet's signals count
 * as accepted only when the driver's call has returned, so a packet that depends on one before it
 * in the batch starts the next batch. */
static void gather_from(struct bf_engine *engine, struct bf_queue *queue)
{
    struct bf_device *device = engine->device;
    if (atomic_load(&queue->blocked))
        return;
    bf_lock_acquire(&queue->lock);
    struct bf_packet *packet = queue->head;
    bf_lock_release(&queue->lock);
    /* Only a pump takes packets off the list, and pumps of one engine exclude each other. */
    while (packet && engine->batch_count < BF_ENGINE_BATCH) {
        /* Neither can be part of a larger call: a fence alone may tell the program that all before
         * it is over, down to the signals of the call before. */
        if (packet->kind != BF_PACKET_EXECUTE && engine->batch_count > 0)
            return;
        enum bf_side side;
        struct bf_sync *obstacle;
        while ((obstacle = bf_packet_obstacle(device, packet, &side)) != NULL) {
            /* What stands in the way may be a packet of this very batch: then it is no obstacle to
             * sleep on, the next round will look again. */
            if (engine->batch_count > 0)
                return;
            bf_trace_packet_held(
                device->trace, &packet->trace,
                (struct bf_trace_sync){(uint64_t)obstacle->sem->handle, obstacle->ordinal});
            if (bf_semaphore_block(device, obstacle->sem, side, obstacle->target, queue))
                return;
        }
        engine->batch[engine->batch_count] = packet;
        engine->batch_queues[engine->batch_count] = queue;
        engine->batch_count++;
        if (packet->fence || packet->kind != BF_PACKET_EXECUTE)
            return;
        bf_lock_acquire(&queue->lock);
        packet = packet->next;
        bf_lock_release(&queue->lock);
    }
}

static bool batch_is_closed(const struct bf_engine *engine)
{
    if (engine->batch_count == 0)
        return false;
    const struct bf_packet *last = engine->batch[engine->batch_count - 1];
    return engine->batch_count == BF_ENGINE_BATCH || last->fence || last->kind != BF_PACKET_EXECUTE;
}

static void gather(struct bf_engine *engine)
{
    engine->batch_count = 0;
    if (engine->queue_count == 0)
        return;
    for (uint32_t i = 0; i < engine->queue_count && !batch_is_closed(engine); i++) {
        struct bf_queue *queue = engine->queues[(engine->first + i) % engine->queue_count];
        if (bf_queue_has_backlog(queue))
            gather_from(engine, queue);
    }
    engine->first = (engine->first + 1) % engine->queue_count;
}

static void take_off_list(struct bf_queue *queue, struct bf_packet *packet)
{
    bf_lock_acquire(&queue->lock);
    queue->head = packet->next;
    if (!queue->head)
        queue->tail = NULL;
    bf_lock_release(&queue->lock);
}

static uint32_t trace_syncs(const struct bf_sync *syncs, uint32_t count,
                            struct bf_trace_sync *target, uint32_t room)
{
    uint32_t n = count < room ? count : room;
    for (uint32_t i = 0; i < n; i++)
        target[i] = (struct bf_trace_sync){syncs[i].sem ? (uint64_t)syncs[i].sem->handle : 0,
                                           syncs[i].ordinal};
    return n;
}

static void trace_handed_over(struct bf_device *device, struct bf_packet *packet)
{
    if (!device->trace)
        return;
    struct bf_trace_sync waits[16], signals[16];
    uint32_t wait_count = trace_syncs(packet->waits, packet->wait_count, waits, 16);
    uint32_t signal_count = trace_syncs(packet->signals, packet->signal_count, signals, 16);
    bf_trace_packet_handed_over(device->trace, &packet->trace, wait_count, waits, signal_count,
                                signals);
}

/* The driver accepted the packet, or the lost device will never get it. */
static uint64_t finish_packet(struct bf_engine *engine, struct bf_queue *queue,
                              struct bf_packet *packet, bool accepted)
{
    struct bf_device *device = engine->device;
    take_off_list(queue, packet);
    if (accepted) {
        trace_handed_over(device, packet);
        if (packet->stamp != UINT32_MAX)
            bf_stamps_accepted(engine->stamps, packet->stamp, atomic_load(&engine->accepted_epoch),
                               packet->trace.handed_over_ns);
    } else {
        bf_trace_packet_dropped(device->trace, &packet->trace);
        if (packet->stamp != UINT32_MAX)
            bf_stamps_refused(engine->stamps, packet->stamp);
    }
    uint64_t engines = bf_packet_accepted(packet);
    if (packet->fence)
        bf_vkfence_handed_over(device, packet->fence);
    bf_packet_recycle(queue, packet);
    atomic_fetch_add(&queue->finished, 1);
    return engines;
}

static void add_stamps(struct bf_engine *engine, struct bf_packet *packet)
{
    VkCommandBuffer before, after;
    if (!engine->stamps || packet->stamp != UINT32_MAX || packet->kind != BF_PACKET_EXECUTE ||
        packet->submit.commandBufferInfoCount == 0 || packet->submit.flags ||
        packet->submit.pNext ||
        !bf_stamps_begin(engine->stamps, &packet->trace, &before, &after, &packet->stamp)) {
        return;
    }
    const VkCommandBufferSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
    uint32_t count = packet->submit.commandBufferInfoCount;
    packet->command_buffers[0] = info;
    packet->command_buffers[0].commandBuffer = before;
    packet->command_buffers[count + 1] = info;
    packet->command_buffers[count + 1].commandBuffer = after;
    packet->submit.pCommandBufferInfos = packet->command_buffers;
    packet->submit.commandBufferInfoCount = count + 2;
}

/* Adds the next epoch to the signals of a packet, behind the program's own. */
static void add_epoch(struct bf_engine *engine, struct bf_packet *packet)
{
    uint64_t value = atomic_load(&engine->accepted_epoch) + 1;
    if (packet->kind == BF_PACKET_EXECUTE) {
        VkSemaphoreSubmitInfo *signals =
            (VkSemaphoreSubmitInfo *)packet->submit.pSignalSemaphoreInfos;
        signals[packet->signal_count] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = engine->epoch,
            .value = value,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        };
        packet->submit.signalSemaphoreInfoCount = packet->signal_count + 1;
    } else if (packet->kind == BF_PACKET_BIND_SPARSE) {
        ((VkSemaphore *)packet->bind.pSignalSemaphores)[packet->signal_count] = engine->epoch;
        ((uint64_t *)packet->values.pSignalSemaphoreValues)[packet->signal_count] = value;
        packet->values.signalSemaphoreValueCount = packet->signal_count + 1;
        packet->bind.signalSemaphoreCount = packet->signal_count + 1;
    }
}

/* Undoes add_epoch, for a batch that is retried in parts. */
static void drop_epoch(struct bf_packet *packet)
{
    if (packet->kind == BF_PACKET_EXECUTE) {
        packet->submit.signalSemaphoreInfoCount = packet->signal_count;
    } else if (packet->kind == BF_PACKET_BIND_SPARSE) {
        packet->values.signalSemaphoreValueCount = packet->signal_count;
        packet->bind.signalSemaphoreCount = packet->signal_count;
    }
}

static bool lacks_witness(const struct bf_packet *packet)
{
    return !bf_packet_witness(packet) && (!packet->fence || packet->signal_count);
}

/* Does a packet of the part need the epoch, for want of a witness of its own, or for its stamps? */
static bool needs_epoch(const struct bf_engine *engine, uint32_t first, uint32_t count)
{
    if (!engine->epoch)
        return false;
    if (engine->device->trace)
        return true;
    for (uint32_t i = first; i < first + count; i++) {
        if (lacks_witness(engine->batch[i]))
            return true;
    }
    return false;
}

/* Before the driver has it: once it does, the program may see the packet's fence or semaphore
 * signalled and destroy it, and that must find the witness set. Nobody asks for the witness of a
 * queue with packets on its list. */
static void set_witness(struct bf_engine *engine, uint32_t i)
{
    struct bf_queue *queue = engine->batch_queues[i];
    const struct bf_packet *packet = engine->batch[i];
    const struct bf_sync *signal = bf_packet_witness(packet);
    if (packet->fence && atomic_load(&packet->fence->external)) {
        atomic_store(&queue->unwitnessed, true);
        return;
    }
    bf_witness_set(queue, packet->fence ? packet->fence->handle : VK_NULL_HANDLE,
                   signal ? signal->sem->handle : VK_NULL_HANDLE, signal ? signal->target : 0,
                   lacks_witness(packet) ? atomic_load(&engine->accepted_epoch) + 1 : 0);
}

/* Packets first to first + count - 1 of the batch, in one driver call; only the last of them may
 * have a fence or be no execution. */
static VkResult submit_part(struct bf_engine *engine, uint32_t first, uint32_t count)
{
    struct bf_packet *last = engine->batch[first + count - 1];
    VkFence fence = last->fence ? last->fence->handle : VK_NULL_HANDLE;
    bool epoch = last->kind != BF_PACKET_FENCE && needs_epoch(engine, first, count);
    for (uint32_t i = first; i < first + count && engine->queue_count > 1; i++)
        set_witness(engine, i);
    if (epoch)
        add_epoch(engine, last);

    VkResult result;
    if (engine->batch[first]->kind == BF_PACKET_BIND_SPARSE) {
        result = driver_bind(engine, &last->bind, fence);
    } else {
        uint32_t infos = 0;
        for (uint32_t i = first; i < first + count; i++) {
            if (engine->batch[i]->kind == BF_PACKET_EXECUTE)
                engine->infos[infos++] = engine->batch[i]->submit;
        }
        result = bf_engine_driver_submit(engine, infos, engine->infos, fence);
    }
    if (result == VK_SUCCESS && epoch)
        atomic_fetch_add(&engine->accepted_epoch, 1);
    else if (epoch)
        drop_epoch(last);
    return result;
}

static uint64_t finish_part(struct bf_engine *engine, uint32_t first, uint32_t count, bool accepted)
{
    uint64_t engines = 0;
    for (uint32_t i = first; i < first + count; i++)
        engines |= finish_packet(engine, engine->batch_queues[i], engine->batch[i], accepted);
    return engines;
}

/* A batch that fails is tried packet by packet; one that fails alone, once more; then the device is
 * lost, since the program has been told that the packet was submitted. */
static uint64_t submit_batch(struct bf_engine *engine)
{
    uint32_t count = engine->batch_count;
    for (uint32_t i = 0; i < count; i++)
        add_stamps(engine, engine->batch[i]);
    VkResult result = submit_part(engine, 0, count);
    if (result == VK_SUCCESS)
        return finish_part(engine, 0, count, true);
    if (result == VK_ERROR_DEVICE_LOST)
        bf_device_lose(engine->device, "vkQueueSubmit2");
    uint64_t engines = 0;
    for (uint32_t i = 0; i < count && !bf_device_is_lost(engine->device); i++) {
        result = submit_part(engine, i, 1);
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
            result = submit_part(engine, i, 1);
        if (result == VK_SUCCESS)
            engines |= finish_part(engine, i, 1, true);
        else
            bf_device_lose(engine->device, "handing over a held packet");
    }
    return engines;
}

/* A lost device gets no more packets: whoever waits for one of them is let go. */
static uint64_t drop_backlog(struct bf_engine *engine)
{
    struct bf_device *device = engine->device;
    uint64_t engines = 0;
    for (uint32_t i = 0; i < engine->queue_count; i++) {
        struct bf_queue *queue = engine->queues[i];
        struct bf_packet *packet;
        for (;;) {
            bf_lock_acquire(&queue->lock);
            packet = queue->head;
            bf_lock_release(&queue->lock);
            if (!packet)
                break;
            bf_semaphore_unblock(queue);
            /* Native waits for its timelines must end too; the driver itself may not be lost. */
            for (uint32_t s = 0; s < packet->signal_count; s++) {
                struct bf_sync *sync = &packet->signals[s];
                uint64_t value;
                if (!sync->sem || !sync->sem->timeline || atomic_load(&sync->sem->forgotten) ||
                    device->counter_value(device->handle, sync->sem->handle, &value) !=
                        VK_SUCCESS ||
                    value >= sync->target)
                    continue;
                device->signal_semaphore(
                    device->handle,
                    &(VkSemaphoreSignalInfo){.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
                                             .semaphore = sync->sem->handle,
                                             .value = sync->target});
            }
            engines |= finish_packet(engine, queue, packet, false);
        }
    }
    return engines;
}

static void collect_stamps(struct bf_engine *engine)
{
    uint64_t completed;
    if (engine->stamps && engine->device->counter_value(engine->device->handle, engine->epoch,
                                                        &completed) == VK_SUCCESS)
        bf_stamps_collect(engine->stamps, completed);
}

/* The lock is held; 'batches' counts over all drains of one pump. Returns true if it stopped at its
 * bound, with a taker to go on. */
static bool drain(struct bf_engine *engine, uint64_t *engines, uint32_t *batches)
{
    struct bf_device *device = engine->device;
    collect_stamps(engine);
    for (;; ++*batches) {
        if (*batches >= PUMP_BOUND) {
            atomic_store(&engine->tired, 1);
            if (atomic_load(&engine->takers) > 0)
                return true;
        }
        atomic_store(&engine->dirty, 0);
        gather(engine);
        /* After the gathering: what a lost device drops counts as accepted, and must release
         * nothing to a driver that may still run. */
        if (bf_device_is_lost(device)) {
            *engines |= drop_backlog(engine) | bf_device_dirty_engines(device);
            bf_signpost_announce(&device->progress);
            break;
        }
        if (engine->batch_count == 0)
            break;
        *engines |= submit_batch(engine);
        bf_signpost_announce(&device->progress);
    }
    atomic_store(&engine->tired, 0);
    return false;
}

static void pump(struct bf_engine *engine, uint64_t *engines)
{
    uint32_t batches = 0;
    do {
        if (!bf_lock_try(&engine->lock))
            return; /* its holder will look at 'dirty' */
        bool handed_on = drain(engine, engines, &batches);
        bf_lock_release(&engine->lock);
        if (handed_on)
            return;
#ifdef BELFRY_BREAK_RECHECK
        return;
#endif
    } while (atomic_load(&engine->dirty));
}

void bf_engines_pump(struct bf_device *device, uint64_t mask)
{
    while (mask) {
        uint32_t number = (uint32_t)__builtin_ctzll(mask);
        mask &= mask - 1;
        pump(&device->engines[number], &mask);
    }
}

void bf_engine_enter(struct bf_engine *engine)
{
    atomic_fetch_add(&engine->takers, 1);
    bf_lock_acquire(&engine->lock);
    atomic_fetch_sub(&engine->takers, 1);
}

void bf_engine_leave(struct bf_engine *engine, uint64_t mask)
{
    bf_lock_release(&engine->lock);
    bf_engines_pump(engine->device, mask | bf_engine_bit(engine));
}

void bf_engine_pump_taking_over(struct bf_engine *engine)
{
    uint64_t engines = 0;
    uint32_t batches = 0;
    bf_engine_enter(engine);
    bool handed_on = drain(engine, &engines, &batches);
    bf_lock_release(&engine->lock);
    if (handed_on)
        bf_engines_pump(engine->device, engines);
    else
        bf_engine_recheck(engine, engines);
}
