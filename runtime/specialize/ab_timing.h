/*
 * Measuring a variant beside the general pipeline where the program uses them: GPU timestamps around
 * single dispatches and render passes, in command buffers that were chosen by chance.
 *
 *  TR-1  A sample's time is from when all work before it was complete to when it was, on the GPU: it
 *        is read only once the latest submission of its command buffer has finished
 *        (specialize/submission.h), while none other of it is made, and nothing waits for it. One
 *        whose latest submission was lost sight of is not read.
 *  TR-2  A command buffer resets its queries itself, so it may be submitted again and again; in one
 *        that may be submitted while it runs there are none. The same goes for secondary command
 *        buffers, whose submissions are those of the primaries that execute them: Vulkan lets one
 *        that may not run beside itself be in one primary at a time, once.
 *  TR-3  A pass counts for a variant that is the only one on trial in it, if one throw of the coin
 *        decided all draws that the variant is for, whichever command buffers they are in: its
 *        primary's own, or secondary ones that it executes.
 *  TR-4  At most BF_AB_SAMPLES samples are taken in a recording; of more passes than that, now
 *        these and now those. Queries come in blocks and are used again; where none can be had, or
 *        the queue keeps no time, nothing is measured.
 *
 * Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_AB_TIMING_H
#define BELFRY_SPECIALIZE_AB_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "base/lock.h"

#define BF_AB_SAMPLES 8
#define BF_AB_NONE    UINT32_MAX

struct bf_ab_queries;

/* Work that a variant on trial is for. */
struct bf_ab_use {
    uint64_t pipeline;  /* its serial number */
    uint32_t candidate; /* the variant's number there; BF_AB_NONE: of none, or of several, and
                           not to be counted */
    bool variant;       /* recorded with it; else with the general pipeline */
    uint64_t work;      /* workgroups that were dispatched; draws of a pass */
    uint64_t thrown;    /* the number of the throw that decided that: it grows */
};

struct bf_ab_sample {
    struct bf_ab_use use;
    VkQueryPool pool;
    uint32_t query; /* two, from there */
};

/* Of one recording; externally synchronised, as it is. */
struct bf_ab_timing {
    uint32_t count;
    bool open; /* the last one has begun and not ended */
    bool pass; /* and is a render pass's: what it is of, its draws tell */
    /* Draws since that began; in a secondary command buffer within a pass, all. Without work: none */
    struct bf_ab_use drawn;
    uint32_t timestamp_bits;
    struct bf_ab_sample samples[BF_AB_SAMPLES];
};

/* Of a device. */
struct bf_ab_timer {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    double period_ns;
    struct bf_lock lock; /* leaf lock: over the queries */
    struct bf_ab_queries *blocks;
};

void bf_ab_timer_init(struct bf_ab_timer *timer, VkDevice device, const struct VolkDeviceTable *vk,
                      double period_ns);
void bf_ab_timer_finish(struct bf_ab_timer *timer);

/* Begins a sample in front of a dispatch, or of a pass. Where it can't, nothing was recorded. */
void bf_ab_timing_begin(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                        VkCommandBuffer commands, const struct bf_ab_use *use);
void bf_ab_timing_begin_pass(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                             VkCommandBuffer commands);
/* Draws that a variant on trial is for. Some that nobody threw a coin for: with BF_AB_NONE. */
void bf_ab_timing_draw(struct bf_ab_timing *timing, const struct bf_ab_use *use);
/* Behind it. Does nothing if none was begun. */
void bf_ab_timing_end(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                      VkCommandBuffer commands);

/* Its latest submission has finished: calls 'each' for each sample with its time in nanoseconds. */
void bf_ab_timing_read(struct bf_ab_timer *timer, const struct bf_ab_timing *timing,
                       void (*each)(void *context, const struct bf_ab_sample *sample, double ns),
                       void *context);
/* The command buffer is reset, begun again or freed. */
void bf_ab_timing_reset(struct bf_ab_timer *timer, struct bf_ab_timing *timing);

#endif
