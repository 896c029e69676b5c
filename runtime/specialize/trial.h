/*
 * Measuring a variant beside the general pipeline where the program uses them: GPU timestamps around
 * single dispatches and render passes, in command buffers that were chosen by chance.
 *
 *  TR-1  A sample's time is from when all work before it was complete to when it was, on the GPU: it
 *        is read only once a submission of its command buffer has finished (specialize/submission.h),
 *        and nothing waits for it.
 *  TR-2  A command buffer resets its queries itself, so it may be submitted again and again; one that
 *        may be submitted while it runs is not measured.
 *  TR-3  A pass counts for a variant that is the only one on trial in it.
 *  TR-4  At most BF_TRIAL_SAMPLES samples are taken in a recording. Queries come in blocks and are
 *        used again; where none can be had, or the queue keeps no time, nothing is measured.
 *
 * Proven by tests/specialize.
 */
#ifndef BELFRY_SPECIALIZE_TRIAL_H
#define BELFRY_SPECIALIZE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "os/lock.h"

#define BF_TRIAL_SAMPLES 8
#define BF_TRIAL_NONE    UINT32_MAX

struct bf_trial_queries;

struct bf_trial_sample {
    uint64_t pipeline; /* its serial number */
    uint32_t
        candidate; /* the variant's number there; BF_TRIAL_NONE: of none, and not to be counted */
    bool variant;  /* recorded with it; else with the general pipeline */
    uint64_t work; /* workgroups that were dispatched; draws of a pass */
    uint64_t recording; /* its number, which grows from one to the next */
    VkQueryPool pool;
    uint32_t query; /* two, from there */
};

/* Of one recording; externally synchronised, as it is. */
struct bf_trial {
    uint32_t count;
    bool open; /* the last one has begun and not ended */
    bool pass; /* and is a render pass's: which variant's it is, its draws tell */
    uint32_t timestamp_bits;
    struct bf_trial_sample samples[BF_TRIAL_SAMPLES];
};

/* Of a device. */
struct bf_trials {
    VkDevice device;
    const struct VolkDeviceTable *vk;
    double period_ns;
    struct bf_lock lock; /* leaf lock: over the queries */
    struct bf_trial_queries *blocks;
};

void bf_trials_init(struct bf_trials *trials, VkDevice device, const struct VolkDeviceTable *vk,
                    double period_ns);
void bf_trials_finish(struct bf_trials *trials);

/* Begins a sample in front of a dispatch. False: this one isn't measured; nothing was recorded. */
bool bf_trial_begin(struct bf_trials *trials, struct bf_trial *trial, VkCommandBuffer commands,
                    const struct bf_trial_sample *sample);
/* A draw in a pass whose sample is open has, or would have, this variant. */
void bf_trial_draw(struct bf_trial *trial, uint64_t pipeline, uint32_t candidate);
/* Behind it. Does nothing if none was begun. */
void bf_trial_end(struct bf_trials *trials, struct bf_trial *trial, VkCommandBuffer commands);

/* A submission has finished: calls 'each' for each sample with its time in nanoseconds. */
void bf_trial_read(struct bf_trials *trials, const struct bf_trial *trial,
                   void (*each)(void *context, const struct bf_trial_sample *sample, double ns),
                   void *context);
/* The command buffer is reset, begun again or freed. */
void bf_trial_reset(struct bf_trials *trials, struct bf_trial *trial);

#endif
