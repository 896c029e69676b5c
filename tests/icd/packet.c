/* SPDX-License-Identifier: MIT */
/* Packets: what a queue holds between the call and the work, and what is checked when it comes in.
 */
#include "icd.h"

#define ROUND(size_) (((size_) + 15) & ~(size_t)15)

size_t icd_packet_size(const struct icd_packet *shape)
{
    return ROUND(sizeof(*shape)) + ROUND(shape->n_waits * sizeof(*shape->waits)) +
           ROUND(shape->n_signals * sizeof(*shape->signals)) +
           ROUND(shape->n_recordings * sizeof(*shape->recordings)) +
           ROUND(shape->n_bindings * sizeof(*shape->bindings)) +
           ROUND(shape->n_showings * sizeof(*shape->showings));
}

struct icd_packet *icd_packet_place(void *memory, const struct icd_packet *shape)
{
    uint8_t *at = memory;
    struct icd_packet *packet = memory;
    *packet = (struct icd_packet){.n_waits = shape->n_waits,
                                  .n_signals = shape->n_signals,
                                  .n_recordings = shape->n_recordings,
                                  .n_bindings = shape->n_bindings,
                                  .n_showings = shape->n_showings};
    at += ROUND(sizeof(*packet));
    packet->waits = (void *)at;
    at += ROUND(shape->n_waits * sizeof(*shape->waits));
    packet->signals = (void *)at;
    at += ROUND(shape->n_signals * sizeof(*shape->signals));
    packet->recordings = (void *)at;
    at += ROUND(shape->n_recordings * sizeof(*shape->recordings));
    packet->bindings = (void *)at;
    at += ROUND(shape->n_bindings * sizeof(*shape->bindings));
    packet->showings = (void *)at;
    return packet;
}

struct icd_packet *icd_packet_new(const struct icd_packet *shape)
{
    void *memory = malloc(icd_packet_size(shape));
    return memory ? icd_packet_place(memory, shape) : NULL;
}

static void wait_accept(struct icd_operation *wait, struct icd_queue *queue, const char *call)
{
    struct icd_payload *payload = icd_payload_ref(wait->payload);
    payload->pending++;
    if (payload->timeline) {
        uint64_t value = *payload->value, submitted = *payload->submitted;
        /* Of a payload that has left the process' view, others may signal. */
        bool others = payload->outside || payload->fd >= 0;
        if (wait->value > value && wait->value > submitted && !others)
            icd_violation(BELFRY_ICD_WAIT_BEFORE_SIGNAL,
                          "%s on queue %u:%u waits for %llu of a timeline semaphore at %llu that "
                          "submitted signals bring to %llu",
                          call, queue->family, queue->index, (unsigned long long)wait->value,
                          (unsigned long long)value, (unsigned long long)submitted);
        return;
    }
    wait->value = ++payload->waits;
    if (wait->value > *payload->submitted)
        icd_violation(BELFRY_ICD_WAIT_BEFORE_SIGNAL,
                      "%s on queue %u:%u waits for a binary semaphore without pending signal", call,
                      queue->family, queue->index);
}

static void signal_accept(struct icd_operation *signal, struct icd_queue *queue, const char *call)
{
    struct icd_payload *payload = icd_payload_ref(signal->payload);
    payload->pending++;
    if (payload->timeline) {
        icd_payload_submitted(payload, signal->value);
        return;
    }
    if (*payload->submitted > payload->waits)
        icd_violation(BELFRY_ICD_BINARY_RESIGNAL,
                      "%s on queue %u:%u signals a binary semaphore that is signalled or about to "
                      "be",
                      call, queue->family, queue->index);
    signal->value = ++*payload->submitted;
}

/* Whether a command buffer may be submitted. In free mode pending is always 0 here, unless it
 * sits in a chained packet. */
static void recording_check(const struct icd_recording *recording, struct icd_queue *queue,
                            const char *call, uint32_t pending)
{
    if (recording->state == ICD_RECORDING_EXECUTABLE && recording->family != queue->family)
        icd_violation(BELFRY_ICD_POOL_FAMILY,
                      "%s on queue %u:%u gets a command buffer of family %u", call, queue->family,
                      queue->index, recording->family);
    if (recording->state != ICD_RECORDING_EXECUTABLE)
        icd_violation(BELFRY_ICD_COMMAND_BUFFER_STATE,
                      "%s on queue %u:%u gets a command buffer that isn't executable", call,
                      queue->family, queue->index);
    else if (pending && !(recording->usage & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT))
        icd_violation(BELFRY_ICD_COMMAND_BUFFER_STATE,
                      "%s on queue %u:%u gets a pending command buffer that wasn't recorded for "
                      "simultaneous use",
                      call, queue->family, queue->index);
}

void icd_packet_accept(struct icd_packet *packet, struct icd_queue *queue, const char *call)
{
    for (uint32_t i = 0; i < packet->n_waits; i++)
        wait_accept(&packet->waits[i], queue, call);
    for (uint32_t i = 0; i < packet->n_signals; i++)
        signal_accept(&packet->signals[i], queue, call);
    for (uint32_t i = 0; i < packet->n_recordings; i++) {
        struct icd_recording *recording = packet->recordings[i];
        recording_check(recording, queue, call, recording->pending);
        recording->refs++;
        icd_recording_use(recording);
    }
    for (uint32_t i = 0; i < packet->n_showings; i++)
        icd_swapchain_accept(packet->showings[i].swapchain);
    if (packet->fence)
        icd_fence_submit(packet->fence, call);
}

void icd_packet_execute(struct icd_packet *packet, struct icd_queue *queue)
{
    if (queue->object.device->config->worst_order && icd_order_execute(packet, queue)) {
        icd_bump(&queue->counts.command_buffers, packet->n_recordings);
        return;
    }
    for (uint32_t i = 0; i < packet->n_recordings; i++) {
        icd_recording_execute(packet->recordings[i], queue);
        icd_bump(&queue->counts.command_buffers, 1);
    }
}

static void recording_done(struct icd_recording *recording)
{
    if (recording->usage & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT)
        recording->state = ICD_RECORDING_INVALID;
}

void icd_queue_let_go(struct icd_queue *queue)
{
    for (uint32_t i = 0; i < queue->n_late; i++) {
        queue->late[i]->late--;
        icd_payload_unref(queue->late[i]);
    }
    queue->n_late = 0;
}

/* The packet's operations are over. With the bug, its timelines stay in use until
 * icd_queue_let_go. */
static void operations_release(const struct icd_operation *operations, uint32_t count,
                               struct icd_queue *queue)
{
    for (uint32_t i = 0; i < count; i++) {
        struct icd_payload *payload = operations[i].payload;
        payload->pending--;
        if (queue->object.device->config->late_wait_points && !queue->object.device->lost &&
            payload->timeline && queue->n_late < ICD_LATE) {
            payload->late++;
            queue->late[queue->n_late++] = payload;
        } else {
            icd_payload_unref(payload);
        }
    }
}

static void packet_release(struct icd_packet *packet, struct icd_queue *queue)
{
    operations_release(packet->waits, packet->n_waits, queue);
    operations_release(packet->signals, packet->n_signals, queue);
    for (uint32_t i = 0; i < packet->n_recordings; i++) {
        icd_recording_unuse(packet->recordings[i]);
        icd_recording_unref(packet->recordings[i]);
    }
    if (packet->fence) {
        packet->fence->pending = false;
        icd_fence_unref(packet->fence);
    }
    queue->finished++;
    if (queue->host_waiters)
        pthread_cond_broadcast(&icd_world.host);
    free(packet);
}

void icd_packet_retire(struct icd_packet *packet, struct icd_queue *queue)
{
    char who[48];
    snprintf(who, sizeof(who), "queue %u:%u", queue->family, queue->index);
    for (uint32_t i = 0; i < packet->n_bindings; i++) {
        const struct icd_binding *b = &packet->bindings[i];
        if (b->buffer)
            icd_buffer_bind(b->buffer, &b->bind);
        struct belfry_icd_sparse_bind told = {.resource = b->resource,
                                              .offset = b->bind.resourceOffset,
                                              .size = b->bind.size,
                                              .memory = (uint64_t)(uintptr_t)b->bind.memory,
                                              .memory_offset = b->bind.memoryOffset};
        icd_remember_bind(&told);
    }
    for (uint32_t i = 0; i < packet->n_showings; i++)
        icd_swapchain_presented(packet->showings[i].swapchain, packet->showings[i].image);
    icd_late_writes_land();
    for (uint32_t i = 0; i < packet->n_recordings; i++)
        recording_done(packet->recordings[i]);
    for (uint32_t i = 0; i < packet->n_signals; i++)
        icd_payload_signal(packet->signals[i].payload, packet->signals[i].value, who);
    if (packet->fence)
        icd_fence_signal(packet->fence);
    packet_release(packet, queue);
}

void icd_packet_drop(struct icd_packet *packet, struct icd_queue *queue)
{
    for (uint32_t i = 0; i < packet->n_showings; i++)
        icd_swapchain_presented(packet->showings[i].swapchain, packet->showings[i].image);
    packet_release(packet, queue);
}

/* Free mode --------------------------------------------------------------------------------- */

static bool free_ready(const struct icd_packet *packet)
{
    for (uint32_t i = 0; i < packet->n_waits; i++) {
        struct icd_payload *payload = packet->waits[i].payload;
        uint64_t value = payload->timeline
                             ? packet->waits[i].value
                             : atomic_load_explicit(&payload->waits, memory_order_relaxed) + 1;
        if (*payload->value < value)
            return false;
    }
    return true;
}

/* The checks and effects of accept and retire for a packet that is never pending. */
bool icd_packet_execute_free(struct icd_packet *packet, struct icd_queue *queue)
{
    if (queue->accepted != queue->finished || icd_world.paused || !free_ready(packet))
        return false;
    for (uint32_t i = 0; i < packet->n_waits; i++) {
        struct icd_payload *payload = packet->waits[i].payload;
        if (!payload->timeline) {
            icd_bump(&payload->waits, 1);
            icd_bump(&payload->consumed, 1);
        }
    }
    for (uint32_t i = 0; i < packet->n_recordings; i++)
        recording_check(packet->recordings[i], queue, "a submit", 0);
    if (packet->fence && packet->fence->signalled)
        icd_violation(BELFRY_ICD_FENCE_BUSY, "a signalled fence is submitted");

    icd_packet_execute(packet, queue);

    icd_late_writes_land();
    for (uint32_t i = 0; i < packet->n_recordings; i++)
        recording_done(packet->recordings[i]);
    for (uint32_t i = 0; i < packet->n_signals; i++) {
        struct icd_payload *payload = packet->signals[i].payload;
        uint64_t value = packet->signals[i].value;
        if (payload->timeline) {
            uint64_t old = atomic_exchange(payload->value, value);
            if (value <= old) {
                icd_violation(BELFRY_ICD_TIMELINE_NOT_INCREASING,
                              "queue %u:%u signals %llu on a timeline semaphore at %llu",
                              queue->family, queue->index, (unsigned long long)value,
                              (unsigned long long)old);
                *payload->value = old;
            }
        } else {
            if (*payload->submitted > payload->waits)
                icd_violation(BELFRY_ICD_BINARY_RESIGNAL,
                              "queue %u:%u signals a binary semaphore that is signalled",
                              queue->family, queue->index);
            icd_bump(payload->submitted, 1);
            (*payload->value)++;
        }
    }
    if (packet->fence)
        packet->fence->signalled = true;
    icd_free_notify();
    return true;
}
