/* SPDX-License-Identifier: MIT */
/* Which packets have GPU timestamps, where these lie in a packet, and what windows learn from
 * them. */
#include "scheduler/packet_time.h"

#include "scheduler/engine.h"
#include "scheduler/packet.h"
#include "scheduler/queue.h"
#include "scheduler/scheduler.h"
#include "trace/stamps.h"

/* One packet of a lower queue in so many, or up to three more, is measured. */
#define MEASURE_LEAST 5

/* A packet of the queue's has been seen complete that had timestamps. 0: these are not known. */
static void queue_measured(void *queue_, uint64_t ns)
{
    struct bf_queue *queue = queue_;
    if (ns && !atomic_load_explicit(&queue->scheduler->costs_frozen, memory_order_relaxed))
        bf_cost_add_measured(&queue->cost, ns);
}

/* For a trace, another engine's, by which clocks of as many valid bits are compared. */
static struct bf_calibration *engine_find_calibration(const struct bf_engine *engine)
{
    const struct bf_scheduler *scheduler = engine->scheduler;
    struct bf_calibration *calibration = NULL;
    for (uint32_t i = 0; scheduler->gpu.trace && i < engine->base.number && !calibration; i++) {
        if (scheduler->engines[i].base.timestamp_bits == engine->base.timestamp_bits)
            calibration = bf_stamps_calibration(scheduler->engines[i].base.stamps);
    }
    return calibration;
}

VkResult bf_packet_time_begin(struct bf_engine *engine)
{
    const struct bf_scheduler *scheduler = engine->scheduler;
    const struct bf_gpu *gpu = &scheduler->gpu;
    if (engine->base.stamps || !(gpu->trace || scheduler->measures_costs))
        return VK_SUCCESS;
    const struct bf_stamps_info info = {
        .device = gpu->handle,
        .vk = &gpu->vk,
        .set_loader_data = gpu->set_loader_data,
        .family = engine->base.family,
        .family_flags = engine->base.family_flags,
        .valid_bits = engine->base.timestamp_bits,
        .period_ns = gpu->timestamp_period_ns,
        .host_query_reset = gpu->host_query_reset,
        .synchronization2 = true, /* a requirement of the scheduler */
        .calibrated = gpu->get_calibrated_timestamps != NULL,
        .get_calibrated_timestamps = gpu->get_calibrated_timestamps,
        .calibration = engine_find_calibration(engine),
        .trace = gpu->trace,
        .measured = queue_measured,
    };
    return bf_stamps_create(&info, &engine->base.stamps);
}

/* Why an execution goes without timestamps; 0: it may have them. */
static uint8_t packet_untimed(const struct bf_engine *engine, const struct bf_packet *packet)
{
    return packet->submit.commandBufferInfoCount == 0 ? BF_TRACE_UNTIMED_EMPTY
           : !engine->base.stamps                     ? BF_TRACE_UNTIMED_FAMILY
           : packet->submit.flags                     ? BF_TRACE_UNTIMED_PROTECTED
           : packet->waits_for_peer                   ? BF_TRACE_UNTIMED_PEER
           : bf_packet_counts_performance(packet)     ? BF_TRACE_UNTIMED_PERFORMANCE
                                                      : BF_TRACE_UNTIMED_UNKNOWN;
}

/* Of a queue whose packets are short and long in turn, not always the same ones are measured. */
static uint32_t packets_to_next(uint64_t number)
{
    return MEASURE_LEAST + (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 62);
}

/* Is it to have timestamps for the windows? */
static bool packet_is_to_be_measured(struct bf_queue *queue, const struct bf_packet *packet)
{
    if (!packet->windowed ||
        atomic_load_explicit(&queue->scheduler->costs_frozen, memory_order_relaxed))
        return false;
    if (queue->cost.measured_ns && queue->unmeasured_left) {
        queue->unmeasured_left--;
        return false;
    }
    const uint64_t seen = atomic_load_explicit(&queue->appended, memory_order_relaxed) +
                          atomic_load_explicit(&queue->finished_parts, memory_order_relaxed);
    queue->unmeasured_left = packets_to_next(seen) - 1;
    return true;
}

static void packet_put_around(struct bf_packet *packet, VkCommandBuffer before,
                              VkCommandBuffer after)
{
    const VkCommandBufferSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO};
    uint32_t count = packet->submit.commandBufferInfoCount;
    /* The time that the barrier waits is not the packet's own, so the first timestamp is behind
     * it. */
    if (packet->barrier)
        packet->command_buffers[0] = packet->command_buffers[1];
    packet->command_buffers[packet->barrier] = info;
    packet->command_buffers[packet->barrier].commandBuffer = before;
    packet->command_buffers[count + 1] = info;
    packet->command_buffers[count + 1].commandBuffer = after;
    packet->submit.pCommandBufferInfos = packet->command_buffers;
    packet->submit.commandBufferInfoCount = count + 2;
}

void bf_packet_time_put(struct bf_engine *engine, struct bf_queue *queue, struct bf_packet *packet)
{
    struct bf_stamps *stamps = engine->base.stamps;
    struct bf_trace *trace = engine->scheduler->gpu.trace;
    VkCommandBuffer before, after;
    if (packet->stamp != UINT32_MAX || packet->kind != BF_PACKET_EXECUTE)
        return;
    const bool measured = stamps && packet_is_to_be_measured(queue, packet);
    if (!trace && !measured)
        return;
    packet->trace.untimed = packet_untimed(engine, packet);
    if (packet->trace.untimed)
        return;
    if (!bf_stamps_begin(stamps, trace ? &packet->trace : NULL, measured ? queue : NULL, &before,
                         &after, &packet->stamp)) {
        packet->trace.untimed = BF_TRACE_UNTIMED_SLOTS;
        return;
    }
    packet_put_around(packet, before, after);
}

void bf_packet_time_accepted(struct bf_engine *engine, const struct bf_packet *packet)
{
    if (packet->stamp != UINT32_MAX)
        bf_stamps_accepted(engine->base.stamps, packet->stamp,
                           atomic_load(&engine->base.accepted_epoch), packet->trace.handed_over_ns);
}

void bf_packet_time_dropped(struct bf_engine *engine, const struct bf_packet *packet)
{
    if (packet->stamp != UINT32_MAX)
        bf_stamps_refused(engine->base.stamps, packet->stamp);
}
