/* SPDX-License-Identifier: MIT */
/* GPU timestamps around packets: pre-recorded command buffers, and reading their queries. */
#include "trace/stamps.h"

#include <stdlib.h>

#include "base/clock.h"

/* Slots are created by the chunk when there are no more free ones: most programs never have more
 * than a few packets in flight, and each slot takes two command buffers. */
#define CHUNK_SLOTS 16
#define SLOTS       512

struct slot {
    VkCommandBuffer before;
    VkCommandBuffer after;
    struct bf_trace_packet packet;
    bool traced;       /* there is a packet */
    void *of;          /* whose it is, for who measures; or NULL */
    uint64_t taken_ns; /* the GPU can't have begun the packet earlier */
    uint64_t epoch;
};

struct bf_stamps {
    struct bf_stamps_info info;
    PFN_vkResetQueryPool reset; /* NULL: the 'before' command buffer resets the queries */
    PFN_vkCmdWriteTimestamp2 write2;
    uint64_t mask; /* of the valid bits */

    VkQueryPool queries; /* two per slot */
    VkCommandPool commands;
    uint32_t made;
    uint32_t free_count;
    uint32_t free[SLOTS]; /* a stack */
    uint32_t flight_begin;
    uint32_t flight_count;
    uint32_t flight[SLOTS]; /* a ring, in the order of acceptance */
    struct slot slots[SLOTS];

    /* From ticks to nanoseconds. Ticks are extended to 64 bits here. */
    struct bf_calibration *calibration; /* NULL: the device can't relate the clocks */
    uint64_t offset_ns;                 /* uncalibrated: the estimated time of tick 0 */
    bool anchored;                      /* offset_ns has been estimated */
    /* the greatest extended timestamp so far, and the time that it was converted to */
    uint64_t last_ticks;
    uint64_t last_ns;
    uint32_t starts; /* of the calibration (bf_calibration_starts), when last_ticks was read */
};

/* --- Time -------------------------------------------------------------------------------------*/

static void calibration_start(struct bf_stamps *s)
{
    if (s->info.calibration)
        s->calibration = bf_calibration_reference(s->info.calibration);
    else if (s->info.calibrated && s->info.get_calibrated_timestamps)
        s->calibration = bf_calibration_create(&(struct bf_calibration_info){
            .device = s->info.device,
            .get = s->info.get_calibrated_timestamps,
            .period_ns = s->info.period_ns,
            .valid_bits = s->info.valid_bits,
        });
    if (!s->calibration)
        bf_trace_mark_uncalibrated(s->info.trace);
}

/*
 * Uncalibrated, all that is known is that no packet begins before its slot was taken (the hand-over
 * is stamped only when the driver's call has returned, when the GPU may be done). The offset
 * between the clocks is the least that holds for all packets seen: a packet that found its engine
 * idle fixes it to within the time the driver takes to start it. It only grows; a GPU clock that
 * runs fast is thus placed ever later, by its drift.
 */
static void offset_learn(struct bf_stamps *s, uint64_t begin_ticks, uint64_t taken_ns)
{
    uint64_t offset = taken_ns - (uint64_t)((double)begin_ticks * s->info.period_ns);
    if (!s->anchored || (int64_t)(offset - s->offset_ns) > 0)
        s->offset_ns = offset;
    s->anchored = true;
}

/* Extends the timestamp 'raw' of a packet whose slot was taken at that time to 64 bits. */
static uint64_t ticks_extend(const struct bf_stamps *s, uint64_t raw, uint64_t taken_ns)
{
    if (s->calibration)
        return bf_calibration_extend(s->calibration, raw, taken_ns);
    if (!s->anchored)
        return raw & s->mask;
    int64_t distance = (int64_t)(taken_ns - s->offset_ns);
    uint64_t from = (uint64_t)(int64_t)((double)distance / s->info.period_ns) - s->mask / 16;
    return from + ((raw - from) & s->mask);
}

/* Converts a timestamp to CLOCK_MONOTONIC. */
static uint64_t ticks_place(const struct bf_stamps *s, uint64_t ticks)
{
    return s->calibration ? bf_calibration_place(s->calibration, ticks)
                          : s->offset_ns + (uint64_t)((double)ticks * s->info.period_ns);
}

/* Can a packet have run from then to then whose slot was taken at that time? */
static bool ticks_fit(const struct bf_stamps *s, uint64_t begin, uint64_t end, uint64_t taken_ns)
{
    const uint64_t begin_ns = ticks_place(s, begin), end_ns = ticks_place(s, end);
    return (!s->calibration || bf_calibration_lasts(s->calibration, taken_ns)) &&
           (int64_t)(begin_ns - taken_ns) >= -BF_STAMPS_SKEW_NS &&
           (int64_t)(bf_now_ns() - end_ns) >= -BF_STAMPS_SKEW_NS;
}

/* The device's clock has jumped. */
static void clock_jumped(struct bf_stamps *s)
{
    if (s->calibration)
        bf_calibration_doubt(s->calibration);
    s->anchored = false;
    s->last_ticks = 0;
}

/* The same: a later one never gets an earlier time, even if the calibration has changed in
 * between. */
static uint64_t stamp_place(struct bf_stamps *s, uint64_t ticks)
{
    uint64_t ns = ticks_place(s, ticks);
    uint32_t starts = s->calibration ? bf_calibration_starts(s->calibration) : 0;
    bool later = starts != s->starts || (int64_t)(ticks - s->last_ticks) >= 0;
    s->starts = starts;
    if (later ? ns < s->last_ns : ns > s->last_ns)
        ns = s->last_ns;
    if (later) {
        s->last_ticks = ticks;
        s->last_ns = ns;
    }
    return ns;
}

/* --- Slots ------------------------------------------------------------------------------------*/

/*
 * vkCmdWriteTimestamp: BOTTOM_OF_PIPE waits for the same commands as ALL_COMMANDS does. An earlier
 * stage could be stamped while the work of the packet before is still running, or while this batch
 * still waits for a semaphore.
 */
static void stamp_record(struct bf_stamps *s, VkCommandBuffer commands, uint32_t query)
{
    if (s->write2)
        s->write2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->queries, query);
    else
        s->info.vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, s->queries,
                                        query);
}

/* Resubmitted many times, but never while it is pending. */
static VkResult buffer_record(struct bf_stamps *s, VkCommandBuffer commands, uint32_t slot,
                              bool is_after)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkResult result = s->info.vk->vkBeginCommandBuffer(commands, &begin);
    if (result != VK_SUCCESS)
        return result;
    if (!is_after && !s->reset)
        s->info.vk->vkCmdResetQueryPool(commands, s->queries, 2 * slot, 2);
    stamp_record(s, commands, 2 * slot + is_after);
    return s->info.vk->vkEndCommandBuffer(commands);
}

/* Creates CHUNK_SLOTS more slots. False: there are as many as may be, or there is no memory. */
static bool slots_make(struct bf_stamps *s)
{
    if (s->made == SLOTS)
        return false;
    VkCommandBuffer buffers[2 * CHUNK_SLOTS];
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->commands,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 2 * CHUNK_SLOTS,
    };
    if (s->info.vk->vkAllocateCommandBuffers(s->info.device, &allocate, buffers) != VK_SUCCESS)
        return false;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < 2 * CHUNK_SLOTS && result == VK_SUCCESS; i++) {
        if (s->info.set_loader_data)
            result = s->info.set_loader_data(s->info.device, buffers[i]);
        if (result == VK_SUCCESS)
            result = buffer_record(s, buffers[i], s->made + i / 2, i % 2 == 1);
    }
    if (result != VK_SUCCESS) {
        s->info.vk->vkFreeCommandBuffers(s->info.device, s->commands, 2 * CHUNK_SLOTS, buffers);
        return false;
    }
    /* Lowest on top of the stack, so that the same few slots are used again and again. */
    for (uint32_t i = CHUNK_SLOTS; i-- > 0;) {
        struct slot *slot = &s->slots[s->made + i];
        slot->before = buffers[2 * i];
        slot->after = buffers[2 * i + 1];
        s->free[s->free_count++] = s->made + i;
    }
    s->made += CHUNK_SLOTS;
    return true;
}

/* --- Interface --------------------------------------------------------------------------------*/

VkResult bf_stamps_create(const struct bf_stamps_info *info, struct bf_stamps **stamps)
{
    *stamps = NULL;
    const VkQueueFlags can_stamp =
        ~(VkQueueFlags)(VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT);
    PFN_vkResetQueryPool reset = NULL;
    if (info->host_query_reset)
        reset = info->vk->vkResetQueryPool;
    bool device_reset = info->family_flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    if (!(info->trace || info->measured) || info->valid_bits == 0 ||
        !(info->family_flags & can_stamp) || !(reset || device_reset))
        return VK_SUCCESS;

    struct bf_stamps *s = calloc(1, sizeof(*s));
    if (!s)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    s->info = *info;
    s->reset = reset;
    if (info->synchronization2)
        s->write2 = info->vk->vkCmdWriteTimestamp2;
    if (!s->info.get_calibrated_timestamps)
        s->info.get_calibrated_timestamps = info->vk->vkGetCalibratedTimestampsEXT;
    s->mask = info->valid_bits >= 64 ? UINT64_MAX : (1ull << info->valid_bits) - 1;

    const VkQueryPoolCreateInfo query_info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * SLOTS,
    };
    VkResult result = info->vk->vkCreateQueryPool(info->device, &query_info, NULL, &s->queries);
    if (result != VK_SUCCESS)
        goto fail_state;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = info->family,
    };
    result = info->vk->vkCreateCommandPool(info->device, &pool_info, NULL, &s->commands);
    if (result != VK_SUCCESS)
        goto fail_queries;
    if (info->trace)
        calibration_start(s);
    *stamps = s;
    return VK_SUCCESS;

fail_queries:
    info->vk->vkDestroyQueryPool(info->device, s->queries, NULL);
fail_state:
    free(s);
    return result;
}

void bf_stamps_destroy(struct bf_stamps *s)
{
    if (!s)
        return;
    s->info.vk->vkDestroyCommandPool(s->info.device, s->commands, NULL);
    s->info.vk->vkDestroyQueryPool(s->info.device, s->queries, NULL);
    bf_calibration_release(s->calibration);
    free(s);
}

struct bf_calibration *bf_stamps_calibration(const struct bf_stamps *s)
{
    return s ? s->calibration : NULL;
}

bool bf_stamps_begin(struct bf_stamps *s, struct bf_trace_packet *packet, void *of,
                     VkCommandBuffer *before, VkCommandBuffer *after, uint32_t *slot)
{
    bool has_slot = s && (s->free_count > 0 || slots_make(s));
    if (packet)
        packet->timed = has_slot;
    if (!has_slot)
        return false;
    uint32_t index = s->free[--s->free_count];
    if (s->reset)
        s->reset(s->info.device, s->queries, 2 * index, 2);
    s->slots[index].traced = packet != NULL;
    if (packet)
        s->slots[index].packet = *packet;
    s->slots[index].of = of;
    s->slots[index].taken_ns = bf_now_ns();
    *before = s->slots[index].before;
    *after = s->slots[index].after;
    *slot = index;
    return true;
}

void bf_stamps_forget(struct bf_stamps *s, const void *of)
{
    for (uint32_t i = 0; s && i < s->made; i++) {
        if (s->slots[i].of == of)
            s->slots[i].of = NULL;
    }
}

void bf_stamps_accepted(struct bf_stamps *s, uint32_t slot, uint64_t epoch, uint64_t handed_over_ns)
{
    s->slots[slot].epoch = epoch;
    s->slots[slot].packet.handed_over_ns = handed_over_ns;
    s->flight[(s->flight_begin + s->flight_count++) % SLOTS] = slot;
}

void bf_stamps_refused(struct bf_stamps *s, uint32_t slot)
{
    s->free[s->free_count++] = slot;
}

/* Tells the trace when the packet ran that began at the timestamp 'raw'. */
static void slot_tell_trace(struct bf_stamps *s, uint32_t index, uint64_t raw, uint64_t duration)
{
    const struct bf_trace_packet *packet = &s->slots[index].packet;
    uint64_t taken_ns = s->slots[index].taken_ns;
    uint64_t begin = ticks_extend(s, raw, taken_ns);
    /* The packets of an engine begin one after the other. */
    if (!s->calibration &&
        (double)(int64_t)(s->last_ticks - begin) * s->info.period_ns > BF_STAMPS_SKEW_NS)
        clock_jumped(s);
    if (!s->calibration)
        offset_learn(s, begin, taken_ns);
    uint64_t end = begin + duration;
    if (!ticks_fit(s, begin, end, taken_ns)) {
        clock_jumped(s);
        bf_trace_packet_executed(s->info.trace, packet, 0, 0);
        return;
    }
    uint64_t begin_ns = stamp_place(s, begin);
    bf_trace_packet_executed(s->info.trace, packet, begin_ns, stamp_place(s, end));
}

/* How long the packet ran, from what its two timestamps differ by. False: nobody knows, nor when it
 * began, since meanwhile the counter may have gone around. */
static bool duration_know(const struct bf_stamps *s, uint64_t difference, uint64_t taken_ns,
                          uint64_t *duration)
{
    double elapsed = (double)(bf_now_ns() - taken_ns) / s->info.period_ns;
    *duration = difference & s->mask;
    if (*duration > s->mask / 2 && (double)*duration > elapsed)
        *duration = 0; /* never ends before it begins */
    return elapsed <= (double)s->mask / 16 * 15;
}

static void slot_read(struct bf_stamps *s, uint32_t index)
{
    const struct slot *slot = &s->slots[index];
    uint64_t data[4]; /* timestamp and availability, of both queries */
    VkResult result = s->info.vk->vkGetQueryPoolResults(
        s->info.device, s->queries, 2 * index, 2, sizeof(data), data, 2 * sizeof(data[0]),
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    /* When the device was lost, for instance, there are none. */
    bool known = (result == VK_SUCCESS || result == VK_NOT_READY) && data[1] && data[3];
    uint64_t duration = 0;
    known = known && duration_know(s, data[2] - data[0], slot->taken_ns, &duration);
    if (slot->of)
        s->info.measured(slot->of, (uint64_t)((double)duration * s->info.period_ns));
    if (slot->traced && known)
        slot_tell_trace(s, index, data[0], duration);
    else if (slot->traced)
        bf_trace_packet_executed(s->info.trace, &slot->packet, 0, 0);
}

void bf_stamps_collect(struct bf_stamps *s, uint64_t completed_epoch)
{
    if (!s || s->flight_count == 0 || s->slots[s->flight[s->flight_begin]].epoch > completed_epoch)
        return;
    if (s->calibration)
        bf_calibration_update(s->calibration);
    while (s->flight_count) {
        uint32_t index = s->flight[s->flight_begin];
        if (s->slots[index].epoch > completed_epoch)
            break;
        slot_read(s, index);
        s->flight_begin = (s->flight_begin + 1) % SLOTS;
        s->flight_count--;
        s->free[s->free_count++] = index;
    }
}
