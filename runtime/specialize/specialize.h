/*
 * The specialiser of a device: what is used, what is built for it, and what becomes of that. It is
 * the 'driver' of background processing (belfry/background.h) that the document has in mind.
 *
 *  SP-1  The program's results are the same bits with and without it (mode 'exact', as far as the
 *        check can see: specialize/check/check.h), and no call of the program's fails for its sake.
 *  SP-2  Whatever it decides by comes from work that has finished (RC-5).
 *  SP-3  It asks bf_background_may_adapt before it counts, builds, publishes, measures or withdraws.
 *  SP-4  One item of background work per variant: from its start to its publication.
 *  SP-5  A driver that fails in whatever a build, a check or a measurement calls costs the program
 *        nothing: no call of its own fails for that, no object is left behind, later builds go on,
 *        and the report says why, with the driver's error. (A device that is lost is lost to the
 *        program, too, as the driver tells it.)
 *
 * The course of a variant: counted (tally.h), chosen, built and checked (check.h) by an item,
 * published, measured beside the general one (trial.h), kept or withdrawn (judge.h), remembered
 * (archive.h).
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
    struct bf_device *device; /* not owned; outlives the specializer */
    enum bf_specialize_mode mode;
    const struct bf_isolate_info *isolate; /* NULL: builds run in this process alone; copied */
    bool report;
    uint64_t memory;    /* bytes that variants, and what is kept to build them, may take; 0: any */
    bool robust;        /* accesses out of bounds do no harm: robustBufferAccess is enabled */
    const char *folder; /* of what is remembered; NULL: nothing is; copied */
    struct bf_archive_driver driver; /* its texts aren't needed after bf_specializer_create */
    VkPhysicalDevice physical;
    PFN_vkGetInstanceProcAddr get_instance_proc_addr; /* of whatever lies below */
    VkInstance instance;
    uint32_t api_version;
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY; and VK_ERROR_FEATURE_NOT_PRESENT with a line. */
VkResult bf_specializer_create(const struct bf_specializer_info *info,
                               struct bf_specializer **specializer);
/* Before the device is: cancels and waits for builds, destroys all variants, stores what was
 * learnt. All command buffers are gone or will never be used again. NULL is allowed. */
void bf_specializer_destroy(struct bf_specializer *specializer);

/* Publishes what was built, at the begin of a command buffer: one load where there is nothing. */
void bf_specializer_collect(struct bf_specializer *specializer);

/* Its parts, for the layer's hooks. */
struct bf_pipelines *bf_specializer_pipelines(struct bf_specializer *specializer);
struct bf_recorder *bf_specializer_recorder(struct bf_specializer *specializer);

#endif
