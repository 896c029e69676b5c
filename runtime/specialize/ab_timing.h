/* SPDX-License-Identifier: MIT */
/*
 * A/B timing: a variant is measured against the general pipeline where the program uses them, by
 * GPU timestamps around single dispatches and render passes. A lot that is drawn for a command
 * buffer decides which of the two it records.
 *
 *  TR-1  A sample's time begins when all earlier work was complete on the GPU, and ends when the
 *        sampled work was. It is read only once the latest submission of its command buffer has
 *        finished (specialize/submission.h) and while no other submission is being made, and
 *        nothing waits for it. If the latest submission has dropped out of sight the sample is not
 *        read.
 *  TR-2  A command buffer resets its queries itself, so it may be submitted again and again. In one
 *        that may be submitted while it runs there are no samples. The same goes for secondary
 *        command buffers, whose submissions are those of the primaries that execute them: Vulkan
 *        lets one without SIMULTANEOUS_USE be in one primary at a time, once.
 *  TR-3  A pass is a sample of a variant if that is the only one under A/B timing in the pass, and
 *        if one lot decided all draws that the variant is for, whichever command buffers they are
 *        in: the primary or the secondary ones that it executes.
 *  TR-4  At most BF_AB_SAMPLES samples are taken in a recording (BF_AB_SAMPLES_INTRUSIVE where that
 *        is allowed); where there are more passes, which of them are sampled changes. Queries come
 *        in pools and are used again. Where no pool can be had, or the queue has no timestamps,
 *        nothing is measured.
 *
 * Proven by tests/specialize/ab_timing*.c.
 */
#ifndef BELFRY_SPECIALIZE_AB_TIMING_H
#define BELFRY_SPECIALIZE_AB_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "base/lock.h"

#define BF_AB_SAMPLES           8
#define BF_AB_SAMPLES_INTRUSIVE 64 /* where the program allows intrusive measurements */
#define BF_AB_NONE              UINT32_MAX

struct bf_ab_queries;

/* A use that a variant under A/B timing is for. */
struct bf_ab_use {
    uint64_t pipeline; /* the pipeline's id */
    /* the variant's index there; BF_AB_NONE: no variant, or several, and the sample is left out */
    uint32_t candidate;
    bool variant;  /* recorded with the variant; else with the general pipeline */
    uint64_t work; /* workgroups of a dispatch; draws of a pass */
    uint64_t lot;  /* the number of the lot that decided which; it grows */
};

struct bf_ab_sample {
    struct bf_ab_use use;
    VkQueryPool pool;
    uint32_t query; /* the first of two */
};

/* Of one recording; externally synchronised like its command buffer. */
struct bf_ab_timing {
    uint32_t count;
    bool open; /* the last sample has begun and not ended */
    bool pass; /* and is of a render pass, whose draws say which variant it is of */
    /* The draws since the pass began; in a secondary command buffer within a pass, all of its
     * draws. No work: there were none. */
    struct bf_ab_use drawn;
    uint32_t timestamp_bits;
    uint32_t most; /* samples that are taken */
    struct bf_ab_sample samples[BF_AB_SAMPLES_INTRUSIVE];
};

/* Of a device: the query pools that timings share. */
struct bf_ab_timer {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    double period_ns;
    struct bf_lock lock; /* leaf lock, over the queries */
    struct bf_ab_queries *blocks;
};

void bf_ab_timer_init(struct bf_ab_timer *timer, VkDevice device, const struct VolkDeviceTable *vk,
                      double period_ns);
void bf_ab_timer_finish(struct bf_ab_timer *timer);

/* Begins a sample before a dispatch or a pass. If that fails nothing has been recorded. */
void bf_ab_timing_begin(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                        VkCommandBuffer commands, const struct bf_ab_use *use);
void bf_ab_timing_begin_pass(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                             VkCommandBuffer commands);
/* Draws that a variant under A/B timing is for; with BF_AB_NONE where no lot decided them. */
void bf_ab_timing_draw(struct bf_ab_timing *timing, const struct bf_ab_use *use);
/* Ends the sample behind the dispatch or pass. Does nothing if none was begun. */
void bf_ab_timing_end(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                      VkCommandBuffer commands);

/* The latest submission has finished: the time of a sample in nanoseconds, below 0 where the clock
 * was set back (JU-6). False: there is none, the command buffer was never submitted. */
bool bf_ab_timing_ns(struct bf_ab_timer *timer, const struct bf_ab_timing *timing, uint32_t sample,
                     double *ns);
/* The same: calls 'each' for each sample of a variant with its time. */
void bf_ab_timing_read(struct bf_ab_timer *timer, const struct bf_ab_timing *timing,
                       void (*each)(void *context, const struct bf_ab_sample *sample, double ns),
                       void *context);
/* The command buffer is reset, begun again or freed. */
void bf_ab_timing_reset(struct bf_ab_timer *timer, struct bf_ab_timing *timing);

#endif
