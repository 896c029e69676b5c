/* SPDX-License-Identifier: MIT */
/*
 * The specialiser of a device: pipelines rebuilt for the push constants that a program really uses.
 * It is the 'driver' of background processing (belfry/background.h) that D3D12's document has in
 * mind.
 *
 *  SP-1  The program's results are the same bits with and without it (mode 'exact', as far as the
 *        check can see: specialize/check/check.h), and no call of the program's fails for its sake.
 *  SP-2  All its decisions rest on work that has finished (RC-5).
 *  SP-3  It asks bf_background_may_adapt before it counts, builds, publishes, measures or
 *        withdraws.
 *  SP-4  A variant is one item of background work, from the start of its build to its publication.
 *  SP-5  A driver that fails in a call of a build, a check or a measurement costs the program
 *        nothing: no call of the program's fails for that, no object is left behind, later builds
 *        go on, and the report says why, with the driver's error; so where no helper process can be
 *        had, from the first time.
 *  SP-6  What has misbehaved is left alone by all programs from then on: after a crash, a run that
 *        doesn't end, takes too long, or can't be had of inputs on which it ends, whatever has the
 *        same shaders, with any values; after a device that was lost in a check whatever the driver
 *        builds, until it is another one, or the user deletes a file that a line names
 *        (archive/driver_bar.h). Who is at it already heeds that before he takes a helper, and
 *        before he builds on the program's device; but for verdicts on shaders that didn't hang,
 *        which he takes up in his next run.
 *  SP-7  What a forked child does to the device that it inherited, up to destroying it, is nothing
 *        to its parent's specialiser, and waits for nothing that a thread of the parent was about.
 *
 * A variant's states: its values are counted (histogram.h) and chosen; an item of background work
 * builds and checks it (check/check.h); it is published, timed against the general pipeline
 * (ab_timing.h), kept or withdrawn (ab_decision.h), and remembered (archive/archive.h).
 */
#ifndef BELFRY_SPECIALIZE_SPECIALIZE_H
#define BELFRY_SPECIALIZE_SPECIALIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <volk.h>

#include "settings/settings.h"
#include "specialize/archive/archive.h"

struct bf_device;
struct bf_isolate_info;
struct bf_pipelines;
struct bf_specializer;
struct bf_recorder;
struct bf_recording;

struct bf_specializer_info {
    struct bf_device *device;              /* not owned; outlives the specializer */
    const struct bf_isolate_info *isolate; /* what a helper process is told; copied */
    bool report;
    /* bytes that variants and the objects retained for building may take; 0: no limit */
    uint64_t memory;
    const char *folder;              /* where verdicts are remembered; NULL: nowhere; copied */
    struct bf_archive_driver driver; /* its texts aren't needed after bf_specializer_create */
    uint32_t api_version;
    /* Widths of floats whose signs of zeros, infinities and NaN the device can be asked to keep:
     * BF_FLOAT_16, ... */
    uint8_t kept_floats;
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT, with a line. */
VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer);
/* Before the device is destroyed: cancels builds and waits for them, destroys all variants,
 * stores verdicts. No command buffer is left that will be used again. NULL is allowed. */
void bf_specializer_destroy(struct bf_specializer *specializer);

/* Instead, in the child of a fork, where threads and helpers are the parent's, and may have been
 * about anything: closes descriptors, and leaves the rest, down to the memory, as it is [SP-7].
 * False: it is this process' own, and nothing is done. */
bool bf_specializer_abandon(struct bf_specializer *specializer);

/* Publishes variants whose builds have ended. Called when a command buffer is begun; costs one
 * load where there are none. */
void bf_specializer_collect(struct bf_specializer *specializer);

/* The parts that the layer's commands work on. */
struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *specializer);
struct bf_recorder *bf_specializer_recorder(struct bf_specializer *specializer);

#endif
