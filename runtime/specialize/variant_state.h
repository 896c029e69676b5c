/* SPDX-License-Identifier: MIT */
/*
 * The states of a pipeline's variants: which tuples of values were chosen for it, what became of
 * each, and why. Internal to the specialiser.
 *
 *  CV-1  A pipeline's variant states are in the specialiser's list exactly while the pipeline's
 *        record lives. Whoever holds the specialiser's lock and finds them there may use the
 *        pipeline.
 *  CV-2  A build knows nothing but its own job. The variant that it made is published, or
 *        destroyed, by bf_variant_states_collect, on a program's thread: no background thread takes
 *        the specialiser's lock.
 *  CV-3  A candidate's number is its index: it never changes, and never stands for other values.
 *  CV-4  While profiling by the system is disabled (a freeze) no variant is published or withdrawn,
 *        and no A/B timing is decided; of builds that end then only those are collected that a
 *        commit asked for which came with it, or before it, and only where no other variant has to
 *        make place. The others are when it ends. So it is once the call that begins it returns.
 *  CV-5  Once measurements are discarded no later run is told of a verdict that they decided. (Not
 *        promised of a process that ends before the pool has come to that, with its device.)
 *  CV-6  Verdicts are stored, and forgotten, by background items, or when the device is destroyed.
 *        What is to be while background work is disabled is once it is allowed, or a commit comes.
 *  FM-1  A variant's module has the form in which nothing may be gathered or re-ordered with what
 *        was folded, if it agrees with the general pipeline in every bit that the check compares;
 *        there is no variant where it doesn't, nor where the same folded value is added and taken
 *        away, or multiplied with both terms of a sum: that form keeps a driver from what it
 *        simplifies in the general pipeline. (One in which a compiler is free may agree on made-up
 *        inputs and differ on a program's: that what it gathers is rounded otherwise shows in one
 *        value in many, and of what all invocations read alike a check has few.) Where
 *        zeros or infinities that folding makes constant are computed with what may be infinite or
 *        NaN, or zero, it is the one that also asks to keep signs of zeros, infinities and NaN, if
 *        that agrees and the device keeps them (FM-2), or none. (That one keeps a compiler from
 *        what it does with the general pipeline, too: where the others differ for other reasons it
 *        may agree on made-up inputs and differ on a program's.)
 *
 * Order of locks: the specialiser's, then a pipeline's.
 */
#ifndef BELFRY_SPECIALIZE_VARIANT_STATE_H
#define BELFRY_SPECIALIZE_VARIANT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "background/background.h"
#include "specialize/archive/archive.h"
#include "specialize/archive/driver_bar.h"
#include "specialize/ab_decision.h"
#include "specialize/pipeline/pipeline.h"
#include "specialize/recording.h"
#include "specialize/specialize.h"
#include "specialize/submission.h"
#include "specialize/histogram.h"
#include "specialize/ab_timing.h"
#include "specialize/pipeline_time.h"

/* How many tuples of values a pipeline's table of candidates holds. */
#define BF_CANDIDATES 16

/* How many variants of a device are published at a time, at most. */
#define BF_LIVE_VARIANTS 512

struct bf_isolate;

enum bf_variant_state {
    BF_VARIANT_STATE_QUEUED,   /* a background item is queued for it, or at work */
    BF_VARIANT_STATE_TIMED,    /* published; A/B timing hasn't decided yet */
    BF_VARIANT_STATE_KEPT,     /* published for good */
    BF_VARIANT_STATE_REJECTED, /* not built, or withdrawn */
};

/* What a variant's module asks of the driver's arithmetic. */
enum bf_form {
    BF_FORM_PLAIN, /* nothing: a compiler could gather nothing with what is folded */
    BF_FORM_NO_CONTRACTION,
    BF_FORM_KEEPING, /* of signs of zeros, infinities and NaN, with NoContraction */
    BF_FORMS,
};

/* Whether the device keeps signs of zeros, infinities and NaN if it is asked to. */
enum bf_device_keeps {
    BF_DEVICE_UNASKED,
    BF_DEVICE_KEEPS,
    BF_DEVICE_DROPS,
    BF_DEVICE_SILENT, /* its driver crashes, hangs or fails over that */
};

/* Nanoseconds of the build, of the check, and of the variant's first use in the check. */
struct bf_variant_times {
    uint64_t build, check, first_use;
    uint64_t general, variant; /* one run of each in the check */
};

struct bf_candidate {
    enum bf_variant_state state;
    enum bf_reason reason;
    VkResult error; /* what the driver answered, where that is the reason */
    uint8_t mask;
    enum bf_form form;
    bool remembered; /* the verdict comes from an earlier run, by the archive */
    bool used;       /* its first use in the program's frames was measured */
    uint32_t values[BF_WATCHED];
    uint64_t uses;  /* uses that it was chosen for */
    uint64_t bytes; /* what a variant takes; 0: none was built yet */
    /* uses that it was chosen for lately: who is least worth is evicted first (RO-2) */
    uint64_t worth;
    bool fresh;                 /* it was chosen since the budget was last looked at */
    struct bf_variant *variant; /* NULL: none is published */
    /* the pipeline's, and the index in 'published', while the variant is published */
    struct bf_variant_states *states;
    uint32_t place;
    /* NULL: A/B timing never ran, or the verdict is an earlier run's */
    struct bf_ab_decision *decision;
    uint64_t reported_picks; /* that the A/B decision has been told of */
    struct bf_variant_times times;
};

struct bf_variant_states {
    struct bf_variant_states *next, **link;
    struct bf_pipeline *pipeline;
    /* the histogram's total when the program last asked whether more measurements are desired */
    uint64_t asked_total;
    uint64_t committed_total;    /* the histogram's total when the program last committed */
    bool recalled;               /* the archive was asked for verdicts on this pipeline */
    uint8_t push[BF_PUSH_BYTES]; /* push constants as some finished command buffer had them */
    uint32_t count;
    struct bf_candidate candidates[BF_CANDIDATES];
};

/* A background item that builds and checks a variant, or that stores a verdict: input and
 * result. */
struct bf_job {
    struct bf_job *next;
    uint64_t number; /* grows from job to job */
    bool held;       /* it has ended in a freeze (CV-4), and is outstanding no more */
    struct bf_specializer *specializer;
    struct bf_pipeline_copy *copy; /* a reference is held */
    uint64_t pipeline;             /* the pipeline's id */
    uint32_t candidate;
    uint8_t hash[32];
    struct bf_watch watch;
    uint8_t mask;
    uint32_t values[BF_WATCHED];
    /* a whole block of push constants, with 'values' in their places */
    uint8_t push[BF_PUSH_BYTES];
    uint32_t groups[3]; /* the largest dispatch's workgroups */
    bool remember_only; /* nothing is built: 'reason' is stored in the archive */
    uint32_t epoch;     /* of the measurements that it comes of, if so */
    /* The result: */
    enum bf_reason reason; /* BF_REASON_NONE: built and checked */
    VkResult error;        /* what the driver answered, where that is the reason */
    VkPipeline handle;
    enum bf_form form;
    uint32_t reach[3];                 /* how far it was compared (isolate.h) */
    struct bf_format_bindings formats; /* for which formats; none: it doesn't matter */
    uint64_t bytes;                    /* of the variant, as far as that is known */
    uint32_t gain, samples;            /* of the A/B decision, for the archive */
    struct bf_variant_times times;
};

/* A verdict that measurements of this run decided: CV-5. */
struct bf_measured {
    struct bf_measured *next;
    struct bf_archive_key key;
};

struct bf_analysis;

struct bf_specializer {
    struct bf_specializer_info info;
    pid_t process; /* whose it is: not a forked child's (SP-7) */
    struct bf_pipelines pipelines;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
    struct bf_ab_timer timer;
    struct bf_driver_bar bar;    /* background items' alone */
    _Atomic bool bar_told;       /* that it is up: once */
    char *archive_folder;        /* NULL: nothing is remembered after the process */
    struct bf_lock archive_lock; /* held while the archive is opened, once */
    /* CV-5: a verdict goes to the archive under it unless it has been discarded, or is forgotten.
     * Background items' alone: it is held over I/O. */
    struct bf_lock verdict_lock;
    struct bf_archive *archive; /* opened when the first pipeline is watched */
    struct bf_isolate *isolate;
    /* FM-2: whoever needs it asks, if nobody has; of two who ask at once either may be the last */
    _Atomic(enum bf_device_keeps) keeps;
    _Atomic bool stopping;
    /* How many modes there have been, from 1. Who has been refused by the pool, and left what it
     * was for to the next mode, reads it before and behind: it may have come meanwhile. */
    _Atomic uint64_t modes;

    _Atomic(struct bf_analysis *) unanalysed, analysed; /* the latest first */
    _Atomic uint32_t gathered;                          /* how many ever were to be analysed */
    _Atomic bool analysing;                             /* an item is queued, or runs */
    uint64_t analysed_in;             /* the mode in which that was queued; who does so sets it */
    _Atomic uint64_t analysis_barred; /* the mode in which one was cancelled */

    _Atomic(struct bf_job *) done; /* jobs that have ended, the latest first */
    _Atomic uint32_t outstanding;  /* jobs that haven't been collected */
    _Atomic uint64_t last_number;  /* of a job */
    _Atomic uint64_t last_taken;   /* CV-4: of the jobs that are collected during a freeze, too */
    _Atomic bool commits_held; /* those that are held may be among these now; set under the lock */
    _Atomic bool frozen;       /* CV-4: the last mode is a freeze; written under the lock */

    /* CV-6: jobs that store verdicts, which the pool hasn't taken; they aren't outstanding. */
    _Atomic(struct bf_job *) unstored;
    /* CV-5: what is to be forgotten, before anything else is stored. */
    _Atomic(struct bf_measured *) discarded;

    struct bf_lock lock; /* over what follows, and over all variant states */
    struct bf_variant_states *states;
    struct bf_measured *measured;
    _Atomic(struct bf_job *)
        held;                   /* CV-4: jobs that ended during a freeze; written under the lock */
    struct bf_map states_by_id; /* the same, by their pipelines' ids */
    uint32_t live;              /* variants that are published */
    struct bf_candidate *published[BF_LIVE_VARIANTS]; /* their candidates, in no order */
    _Atomic uint64_t most_helper;                     /* bytes that a helper process took */
    uint64_t most_own, most_variants; /* the highest values of pipelines.budget so far */
    struct bf_specialize_report *report;
};

/* specialize.c: opens the archive. That happens only once a pipeline is watched: a program
 * without push constants leaves no file on disk. False: out of memory. */
bool bf_specializer_remembers(struct bf_specializer *specializer);

/* analysis.c: shaders are analysed on the pool (P-6). */
/* The pipelines' on_copied. */
void bf_analysis_add(void *specializer, struct bf_pipeline_copy *copy);
/* Has the pool take up what waits. */
void bf_analysis_queue(struct bf_specializer *specializer);
/* Gives what was found to the pipelines' records. Called on a program's thread. */
void bf_analysis_collect(struct bf_specializer *specializer);
/* The pool has ended. */
void bf_analysis_finish(struct bf_specializer *specializer);

/* variant_state.c */
void bf_variant_states_pipeline_made(void *specializer, struct bf_pipeline *pipeline);
void bf_variant_states_pipeline_destroyed(void *specializer, struct bf_pipeline *pipeline);
/* Uses of the pipeline have been counted: a submission of this recording has finished. */
void bf_variant_states_pipeline_used(void *specializer, struct bf_pipeline *pipeline,
                                     const struct bf_recording *recording);
/* The program commits: what was counted so far is enough to choose by. */
void bf_variant_states_commit(struct bf_specializer *specializer);
void bf_variant_states_discard(struct bf_specializer *specializer);
BfMeasurementsState bf_variant_states_measurements(struct bf_specializer *specializer);
/* A submission of a recording with samples has finished. */
void bf_variant_states_measured(void *specializer, struct bf_recording *recording);
/* Takes over the jobs that have ended. Called on a program's thread. */
void bf_variant_states_collect(struct bf_specializer *specializer);

/* The variant is not picked from now on; command buffers that have recorded it keep it. The lock
 * is held. */
void bf_variant_states_withdraw(struct bf_specializer *specializer,
                                struct bf_variant_states *states, struct bf_candidate *candidate,
                                enum bf_reason reason);

/*
 * memory_budget.c: the memory that variants may take. The specialiser's lock is held for all calls.
 *
 *  RO-1  As far as can be told (struct bf_memory_budget) published variants take no more than half
 *        of the setting 'specialize_memory'; those that are just being built come on top. The other
 *        half is for the objects retained of pipelines: when that is full no further pipelines are
 *        watched. (The program's shader modules and layouts are retained all the same.)
 *  RO-2  When a variant doesn't fit, published ones are evicted that are worth less than three
 *        quarters of what it is worth per byte, the least first. A variant's worth is how many uses
 *        its tuple was chosen for, in the last eight windows at most; each time that the budget is
 *        full, variants that weren't chosen since the last time lose half of it. So variants that
 *        are used alike stay, and don't take turns. A variant that a command buffer has recorded is
 *        never evicted.
 *  RO-3  No variant is evicted if that would not make enough room, and a variant that didn't fit
 *        isn't built again until it would.
 */
bool bf_memory_budget_make_room(struct bf_specializer *specializer,
                                const struct bf_candidate *candidate);
/* Whether bf_memory_budget_make_room would succeed if nothing changed. The candidate's bytes are
 * known. */
bool bf_memory_budget_has_room(struct bf_specializer *specializer,
                               const struct bf_candidate *candidate);
/* Whether a variant of that size has no room as things are. */
bool bf_memory_budget_lacks(struct bf_specializer *specializer, uint64_t bytes);
/* A variant of the candidate is published, or no longer is. */
void bf_memory_budget_add(struct bf_specializer *specializer, struct bf_variant_states *states,
                          struct bf_candidate *candidate);
void bf_memory_budget_remove(struct bf_specializer *specializer, struct bf_candidate *candidate);
/* The candidate was chosen, for so many uses. */
void bf_memory_budget_candidate_used(struct bf_candidate *candidate, uint64_t uses);

/* forms.c. Makes the forms of the job's module, of which no more than are needed, and has them
 * checked. BF_REASON_NONE: job->form is the one to take. The forms, zeroed before, are to be
 * finished. */
enum bf_reason bf_forms_make(struct bf_job *job, struct bf_folded forms[BF_FORMS]);
/* The reason for what the driver answered, which the report tells too. 'other' is the reason for
 * errors that concern neither memory nor the device. */
enum bf_reason bf_job_reason(struct bf_job *job, VkResult result, enum bf_reason other);

/* build.c: background items. */
struct bf_job *bf_job_create(struct bf_specializer *specializer, struct bf_variant_states *states,
                             uint32_t candidate);
void bf_job_free(struct bf_job *job);
/* Queues a list of jobs. Those that can't be queued are cancelled. */
void bf_jobs_queue(struct bf_specializer *specializer, struct bf_job *jobs);
/* The archive is to forget these, which are freed once it has. The specialiser's lock is held, so
 * that no verdict of later measurements is forgotten with them. */
void bf_verdicts_discard(struct bf_specializer *specializer, struct bf_measured *measured);
/* Offers the pool what it hasn't taken so far [CV-6]; when the device is being destroyed, and no
 * item is left, it is done. */
void bf_verdicts_queue(struct bf_specializer *specializer);

/* report.c: what is printed when the device is destroyed. Without the setting 'report' these do
 * nothing. The specialiser's lock is held for those that add. */
void bf_specialize_report_create(struct bf_specializer *specializer);
void bf_specialize_report_excluded(struct bf_specializer *specializer, uint64_t pipeline,
                                   enum bf_reason reason);
/* The shaders of a pipeline were analysed, for so long; it may have been destroyed meanwhile. */
void bf_specialize_report_analysed(struct bf_specializer *specializer, uint64_t pipeline,
                                   bool lives, uint64_t ns);
void bf_specialize_report_add(struct bf_specializer *specializer,
                              const struct bf_variant_states *states);
/* A helper process has taken so much memory. Thread-safety: safe. */
void bf_specialize_report_helper(struct bf_specializer *specializer, uint64_t bytes);
/* Variants were published: notes the most memory that they took. */
void bf_specialize_report_memory(struct bf_specializer *specializer);
void bf_specialize_report_print(struct bf_specializer *specializer, FILE *out);
void bf_specialize_report_free(struct bf_specializer *specializer);

/* Writes a tuple's values to their places in a block of push constants. */
void bf_variant_put_values(uint8_t push[BF_PUSH_BYTES], const struct bf_watch *watch, uint8_t mask,
                           const uint32_t values[BF_WATCHED]);
/* The key under which the archive has a candidate. */
struct bf_archive_key bf_variant_archive_key(const uint8_t hash[32], uint8_t mask,
                                             const uint32_t values[BF_WATCHED]);

/* The key under which the archive has what is true of all variants of a pipeline. */
struct bf_archive_key bf_variant_shaders_key(const uint8_t hash[32]);
/* Whether a pipeline is barred, or its shaders are rejected whatever the values. BF_REASON_NONE:
 * neither is. Thread-safety: safe. */
enum bf_reason bf_variant_barred(const struct bf_specializer *specializer, const uint8_t hash[32]);

#endif
