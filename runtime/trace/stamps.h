/* SPDX-License-Identifier: MIT */
/*
 * GPU timestamps around packets: for each engine a pool of pre-recorded pairs of command buffers.
 * They are for a trace, which is told when a packet ran; or for who wants to know how long it took;
 * or both.
 *
 * A pair is placed around a packet's own command buffers, in the same VkSubmitInfo2. Its slot is
 * taken under the engine's lock, tagged with the epoch of the submission that carries it, and freed
 * once that epoch has been reached. If no slot is free, the packet goes without timestamps
 * (counted).
 *
 * Families whose timestampValidBits is 0 have no timestamps. Families that may not reset queries
 * (those for transfers only) reset them from the host where host query reset is enabled, and have
 * no timestamps otherwise.
 *
 * 'before' is written once everything earlier on its VkQueue is complete, and not before the
 * batch's waits for all commands are over; 'after' once the packet's own commands are complete.
 * Neither delays the packet's work. In a batch whose waits name narrower stages, 'before' may be
 * written before its wait is over.
 *
 * Times are converted to CLOCK_MONOTONIC: by calibration where the device can
 * (trace/calibration.h); else to the earliest time at which they can have happened, and the trace
 * is marked so. The times of one engine never go backwards.
 *
 * A packet begins after its slot was taken, and has ended when it is known to be complete. Stamps
 * that lie outside of that are a clock's that has jumped: the packet goes without, and the clocks
 * are compared anew.
 *
 * Thread-safety: the caller holds the engine's lock, for every function.
 */
#ifndef BELFRY_TRACE_STAMPS_H
#define BELFRY_TRACE_STAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "trace/calibration.h"
#include "trace/trace.h"

/* By how much at most a time may be wrong that was converted from a timestamp, of a clock that
 * hasn't jumped. */
#define BF_STAMPS_SKEW_NS INT64_C(20000000)

struct bf_stamps;

struct bf_stamps_info {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    /* Gives a dispatchable object made below the loader its dispatch pointer; NULL where the
     * functions in 'vk' are the loader's own. */
    VkResult (*set_loader_data)(VkDevice device, void *object);
    uint32_t family; /* real family index */
    VkQueueFlags family_flags;
    uint32_t valid_bits; /* timestampValidBits */
    double period_ns;    /* timestampPeriod */
    bool host_query_reset;
    /* The synchronization2 feature is enabled; without it the older command does. */
    bool synchronization2;
    /* VK_EXT/KHR_calibrated_timestamps is enabled with the device and CLOCK_MONOTONIC domains. */
    bool calibrated;
    /* Its command, where 'vk' doesn't have it (the KHR form); else NULL. */
    PFN_vkGetCalibratedTimestampsEXT get_calibrated_timestamps;
    struct bf_calibration *calibration; /* another engine's with as many valid bits; or NULL */
    struct bf_trace *trace;             /* or NULL */
    /* How long a packet took that began with 'of', in nanoseconds; 0: not known. It is called by
     * bf_stamps_collect. */
    void (*measured)(void *of, uint64_t ns);
};

/* *stamps is NULL with VK_SUCCESS where the family can't be timed, or nobody wants to know. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY, and those of vkCreateQueryPool and vkCreateCommandPool. */
VkResult bf_stamps_create(const struct bf_stamps_info *info, struct bf_stamps **stamps);
void bf_stamps_destroy(struct bf_stamps *stamps); /* the engine is idle; NULL is allowed */

/* NULL: none. Referenced for as long as the stamps live. */
struct bf_calibration *bf_stamps_calibration(const struct bf_stamps *stamps);

/* Takes a slot for 'packet' (copied; NULL: the trace isn't told), and sets packet->timed, so with a
 * trace call it, with NULL stamps too, for each packet before bf_trace_packet_handed_over. 'of' is
 * whose packet it is for info->measured, or NULL. False: no slot is free, submit without. */
bool bf_stamps_begin(struct bf_stamps *stamps, struct bf_trace_packet *packet, void *of,
                     VkCommandBuffer *before, VkCommandBuffer *after, uint32_t *slot);

/* 'of' ends: nobody is told of its packets any more. NULL stamps are allowed. */
void bf_stamps_forget(struct bf_stamps *stamps, const void *of);

/* The submission carrying the slot was accepted as 'epoch' (epochs never fall), or refused (the
 * slot is free again; a new try begins anew). */
void bf_stamps_accepted(struct bf_stamps *stamps, uint32_t slot, uint64_t epoch,
                        uint64_t handed_over_ns);
void bf_stamps_refused(struct bf_stamps *stamps, uint32_t slot);

/* Reads the stamps of all slots up to 'completed_epoch', tells of them, frees them. Never waits.
 * NULL is allowed. */
void bf_stamps_collect(struct bf_stamps *stamps, uint64_t completed_epoch);

#endif
