/*
 * The course of a variant: what was chosen for a pipeline, what became of it, and why. Inner parts of
 * the specialiser, for its own files.
 *
 *  CV-1  A course is in the specialiser's list exactly while its pipeline's record lives. Whoever
 *        holds the specialiser's lock and finds a course there may use its pipeline.
 *  CV-2  A build knows nothing but its own job. What it made is taken over, or destroyed, by
 *        bf_variant_states_collect, on a program's thread: no idle thread takes the specialiser's lock.
 *  CV-3  A candidate's number is its place: it never changes, and never stands for other values.
 *
 * Order of locks: the specialiser's, then a pipeline's.
 */
#ifndef BELFRY_SPECIALIZE_VARIANT_STATE_H
#define BELFRY_SPECIALIZE_VARIANT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "background/background.h"
#include "specialize/archive/archive.h"
#include "specialize/ab_decision.h"
#include "specialize/pipeline/pipeline.h"
#include "specialize/recording.h"
#include "specialize/runner.h"
#include "specialize/specialize.h"
#include "specialize/submission.h"
#include "specialize/histogram.h"
#include "specialize/ab_timing.h"

/* Tuples that a pipeline may have been considered for. */
#define BF_CANDIDATES 16

/* Variants of a device that may be published at a time. */
#define BF_LIVE_VARIANTS 512

struct bf_isolate;

enum bf_variant_state {
    BF_VARIANT_STATE_QUEUED,   /* an item is queued for it, or at work */
    BF_VARIANT_STATE_TIMED,    /* published, without a verdict */
    BF_VARIANT_STATE_KEPT,     /* published for good */
    BF_VARIANT_STATE_REJECTED, /* not built, or withdrawn */
};

/* Nanoseconds, of the build and the check. */
struct bf_variant_times {
    uint64_t build, check, first_use;
    uint64_t general, variant; /* one run of the check's, each */
};

struct bf_candidate {
    enum bf_variant_state state;
    enum bf_reason reason;
    VkResult error; /* of the driver's, where that is the reason */
    uint8_t mask;
    bool no_contraction;
    bool in_helper;  /* a process of Belfry's has built it first */
    bool remembered; /* its verdict is an earlier run's */
    bool used;       /* its first use in the program's frames was measured */
    uint32_t values[BF_WATCHED];
    uint64_t uses;              /* that it was chosen for */
    uint64_t bytes;             /* that a variant takes; 0: none was built yet */
    uint64_t worth;             /* uses it was chosen for lately, by which room is made (RO-2) */
    bool fresh;                 /* it was chosen since room was last looked for */
    struct bf_variant *variant; /* NULL: none is published */
    struct bf_variant_states
        *states; /* that it belongs to, and its place in 'published', while one is */
    uint32_t place;
    struct bf_ab_decision
        *decision; /* NULL: it was never on trial, or its verdict is an earlier run's */
    uint64_t reported_ns, reported_picks; /* up to when, and how many, the judge knows of uses */
    struct bf_variant_times times;
};

struct bf_variant_states {
    struct bf_variant_states *next, **link;
    struct bf_pipeline *pipeline;
    uint64_t asked_total;        /* uses when the program last asked whether more is desired */
    uint64_t committed_total;    /* uses when the program last committed */
    bool recalled;               /* what earlier runs have learnt of it was looked up */
    uint8_t push[BF_PUSH_BYTES]; /* as they were in some finished command buffer */
    uint32_t count;
    struct bf_candidate candidates[BF_CANDIDATES];
};

/* What a build is for, and what came of it. */
struct bf_job {
    struct bf_job *next;
    struct bf_specializer *specializer;
    struct bf_pipeline_copy *copy; /* referenced */
    uint64_t pipeline;             /* its id */
    uint32_t candidate;
    uint8_t hash[32];
    struct bf_watch watch;
    uint8_t mask;
    uint32_t values[BF_WATCHED];
    uint8_t push[BF_PUSH_BYTES]; /* with these values in their places */
    uint32_t groups[3];          /* of a dispatch */
    uint32_t commits;            /* of the device, when it was made */
    bool remember_only;          /* nothing is built: the verdict below is stored */
    /* What came of it: */
    enum bf_reason reason; /* BF_REASON_NONE: built and checked */
    VkResult error;        /* the driver's word for it, where that is why */
    VkPipeline handle;
    bool no_contraction;
    bool in_helper,
        in_process;         /* a form was built in a process of Belfry's first; was in this alone */
    uint64_t bytes;         /* of the variant, as far as can be told */
    uint32_t gain, samples; /* for the archive */
    struct bf_variant_times times;
};

struct bf_specializer {
    struct bf_specializer_info info;
    struct bf_pipelines pipelines;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
    struct bf_ab_timer timer;
    char *archive_folder;        /* NULL: nothing outlives the process */
    struct bf_lock archive_lock; /* over opening it, once */
    struct bf_archive *archive;  /* there once there is a course */
    struct bf_isolate *isolate;  /* NULL: builds run here alone */
    struct bf_runner runner;
    _Atomic bool stopping;
    _Atomic bool intrusive;   /* smooth frames don't matter now */
    _Atomic uint32_t commits; /* so far: jobs that were made before are waited for */

    _Atomic(struct bf_job *) done; /* jobs that have ended, last first */
    _Atomic uint32_t outstanding;  /* jobs that haven't been collected */

    struct bf_lock lock; /* over what follows and all courses */
    struct bf_variant_states *states;
    struct bf_map states_by_id;                       /* the same, by their pipelines' ids */
    uint32_t live;                                    /* variants that are published */
    struct bf_candidate *published[BF_LIVE_VARIANTS]; /* theirs, in no order */
    uint64_t most_own, most_variants;                 /* of pipelines.room, so far */
    struct bf_specialize_report *report;
};

/* specialize.c: what earlier runs learnt is there from here on. It is first read when there is
 * something to remember: a program that gives nothing to watch leaves no file. False: no memory. */
bool bf_specializer_remembers(struct bf_specializer *specializer);

/* course.c */
void bf_variant_states_pipeline_made(void *specializer, struct bf_pipeline *pipeline);
void bf_variant_states_pipeline_destroyed(void *specializer, struct bf_pipeline *pipeline);
/* Uses of it have been counted: a submission of this recording has finished. */
void bf_variant_states_pipeline_used(void *specializer, struct bf_pipeline *pipeline,
                                     const struct bf_recording *recording);
/* All that was seen counts as if it were enough. */
void bf_variant_states_commit(struct bf_specializer *specializer);
void bf_variant_states_discard(struct bf_specializer *specializer);
BfMeasurementsState bf_variant_states_measurements(struct bf_specializer *specializer);
/* A submission of a recording with measurements has finished. */
void bf_variant_states_measured(void *specializer, struct bf_recording *recording);
/* Takes over what builds have ended with. */
void bf_variant_states_collect(struct bf_specializer *specializer);

/* Not to be picked from now on; command buffers that have recorded it keep it. The lock is held. */
void bf_variant_states_withdraw(struct bf_specializer *specializer,
                                struct bf_variant_states *states, struct bf_candidate *candidate,
                                enum bf_reason reason);

/*
 * room.c: memory for variants. The lock is held for all.
 *
 *  RO-1  As far as can be told (struct bf_memory_budget) variants take no more than half of what the setting
 *        says, but for what is being built. The other half is for what is kept of pipelines: when
 *        that is taken no more of them are watched. (Modules and layouts of the program's are known
 *        all the same.)
 *  RO-2  Where there is no room, variants go that are worth less than three quarters of what comes,
 *        for their bytes, the least first. Worth are the uses that a tuple was chosen for, in the
 *        last eight windows at most; each time that room is looked for, those that weren't chosen
 *        since the last time lose half. What is used alike stays, therefore, and doesn't take turns.
 *        Never one goes that a command buffer has.
 *  RO-3  None goes if that would not make enough room, and what didn't fit isn't built again until
 *        it would.
 */
bool bf_memory_budget_make_room(struct bf_specializer *specializer,
                                const struct bf_candidate *candidate);
/* Whether that would succeed if nothing changed: of one whose bytes are known. */
bool bf_memory_budget_has_room(struct bf_specializer *specializer,
                               const struct bf_candidate *candidate);
/* A variant of it is published; is no more. */
void bf_memory_budget_add(struct bf_specializer *specializer, struct bf_variant_states *states,
                          struct bf_candidate *candidate);
void bf_memory_budget_remove(struct bf_specializer *specializer, struct bf_candidate *candidate);
/* It was chosen, for so many uses. */
void bf_memory_budget_candidate_used(struct bf_candidate *candidate, uint64_t uses);

/* build.c: an item of background work */
struct bf_job *bf_job_create(struct bf_specializer *specializer, struct bf_variant_states *states,
                             uint32_t candidate);
void bf_job_free(struct bf_job *job);
/* Queues a list of jobs; those that can't be are cancelled. */
void bf_jobs_queue(struct bf_specializer *specializer, struct bf_job *jobs);

/* report.c: what is printed at the end. Where no report was asked for they do nothing. The
 * specialiser's lock is held for those that add. */
void bf_specialize_report_create(struct bf_specializer *specializer);
void bf_specialize_report_excluded(struct bf_specializer *specializer, enum bf_reason reason);
void bf_specialize_report_add(struct bf_specializer *specializer,
                              const struct bf_variant_states *states);
/* Variants were published. */
void bf_specialize_report_memory(struct bf_specializer *specializer);
void bf_specialize_report_print(struct bf_specializer *specializer, FILE *out);
void bf_specialize_report_free(struct bf_specializer *specializer);

/* The bytes of a tuple in their places. */
void bf_variant_put_values(uint8_t push[BF_PUSH_BYTES], const struct bf_watch *watch, uint8_t mask,
                           const uint32_t values[BF_WATCHED]);
/* The key by which a candidate is remembered. */
struct bf_archive_key bf_variant_archive_key(const struct bf_specializer *specializer,
                                             const uint8_t hash[32], uint8_t mask,
                                             const uint32_t values[BF_WATCHED]);

#endif
