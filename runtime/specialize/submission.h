/* SPDX-License-Identifier: MIT */
/*
 * Which submissions have finished, as far as the program itself has seen: a use counts only then
 * (RC-5). Nothing is added to a submission, and the driver is not asked.
 *
 *  SU-1  A submission is taken for finished only on evidence that implies it: a command buffer of
 *        it is begun, reset or freed (which Vulkan allows only then); the program saw its fence
 *        signalled, or a timeline value reached that it signals behind all its commands, or either
 *        of these of a later submission to the same queue; or a wait for its queue or the device
 *        returned.
 *  SU-2  Each submission counts at most once. A submission doesn't count that found no free entry
 *        in the list of open ones, that was made before measurements were discarded, or that
 *        finishes while none are wanted. The samples of a command buffer are read when its latest
 *        submission has finished (TR-1); those of a secondary one when the latest submission of a
 *        primary that executes it has, or when it is itself begun, reset or freed.
 *  SU-4  Evidence counts nothing: what it shows to have finished is put on a list, by eights of
 *        command buffers, and counted later: as many command buffers as are submitted, with each
 *        submission; those of a part at once when no part is free or one of them is submitted
 *        again; a command buffer's own when it is begun, reset or freed; all of them in
 *        bf_submissions_settle. So a wait for a fence takes no longer, however many command
 *        buffers it is for and whatever they noted. Whether it counts is decided by the evidence;
 *        the callbacks are called only if counts are still wanted.
 *  SU-3  A pipeline that the program has destroyed is never accessed: notes hold its id, which is
 *        never used again, and only bf_pipelines_visit finds it by that. Nor is a secondary command
 *        buffer that has been begun again, reset or freed since: primaries hold its number, which
 *        is found in the list of those alone.
 *
 *  SU-5  A wait for a fence or a value waits for nobody who counts: where another thread has the
 *        lock its evidence is left to that one, with whether it counts. Who has the lock takes up
 *        what was left before anything else, so that no evidence meets a submission that was added
 *        behind it, and before he lets go of it, and looks once more when he has: when nobody has
 *        the lock, and no call is in progress, nothing is left.
 *
 * A submission is added before it is made: another thread may see it finish, and record its command
 * buffers anew, before the submitting call has returned.
 *
 * Order of locks: 'lock', the pipelines' visit_lock, a pipeline's own.
 *
 * Proven by tests/specialize/submissions.c and recording_random.c.
 */
#ifndef BELFRY_SPECIALIZE_SUBMISSION_H
#define BELFRY_SPECIALIZE_SUBMISSION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

#include "base/lock.h"

struct bf_background;
struct bf_pipeline;
struct bf_pipelines;
struct bf_recording;
struct bf_open_submission;
struct bf_left_evidence;

#define BF_OPEN_SUBMISSIONS   256 /* parts of submissions on the list, at most */
#define BF_SUBMISSION_BUFFERS 8   /* command buffers of a part */
#define BF_SUBMISSION_SIGNALS 4   /* timeline values of a batch that are remembered */
#define BF_SUBMISSION_LISTS   64

/* A device's submissions. 'open' and what follows it is under 'lock'. */
struct bf_submissions {
    struct bf_pipelines *pipelines;
    _Atomic uint32_t epoch; /* of the histograms: counting it up discards all counts */
    _Atomic bool counting;  /* false: finished submissions aren't counted */
    const struct bf_background *background; /* asked before anything is counted (SP-3) */
    _Atomic uint32_t open;                  /* how many parts are on the list */
    _Atomic uint64_t calls;
    _Atomic(struct bf_left_evidence *) left; /* for who has the lock, in no order (SU-5) */
    struct bf_lock lock;
    struct bf_open_submission *parts; /* all of them, free or not */
    struct bf_open_submission *first, *last, *free;
    struct bf_open_submission *due_first, *due_last; /* finished, and not counted yet (SU-4) */
    uint64_t counted; /* shares of command buffers that have been counted, since the beginning */
    uint64_t lost;    /* parts that didn't fit */
    /* secondary ones with samples, by their numbers (bf_submissions_list) */
    struct bf_recording *lists[BF_SUBMISSION_LISTS];

    /* The owner's callbacks; either may be NULL. Both are called with the lock held, and must
     * call nothing here. */
    void *context;
    /* All uses of a finished submission of a command buffer were added to the histogram of a
     * pipeline, which is being visited; its lock is not held. */
    void (*used)(void *context, struct bf_pipeline *pipeline, const struct bf_recording *recording);
    /* The latest submission of a command buffer with samples (bf_recording_has_samples) has
     * finished. */
    void (*measured)(void *context, struct bf_recording *recording);
};

/* A batch of a submission. */
struct bf_batch {
    const void *queue; /* only compared */
    VkFence fence;     /* of the call, so that it covers all its batches; or VK_NULL_HANDLE */
    uint32_t recording_count;
    struct bf_recording *const *recordings; /* NULL among them: an unknown command buffer */
    /* Timeline values that are signalled behind all commands of the batch. */
    uint32_t signal_count;
    const VkSemaphore *semaphores;
    const uint64_t *values;
};

/* Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_submissions_init(struct bf_submissions *submissions, struct bf_pipelines *pipelines);
/* Submissions that are still open aren't counted. All recordings are destroyed. */
void bf_submissions_finish(struct bf_submissions *submissions);

/* Thread-safety of all that follows: safe. */

/* A number for a call that submits, never 0. */
uint64_t bf_submissions_call(struct bf_submissions *submissions);
/* Before the call is made, for each of its batches in turn. */
void bf_submissions_add(struct bf_submissions *submissions, uint64_t call,
                        const struct bf_batch *batch);
/* The call has failed: nothing was submitted. */
void bf_submissions_drop(struct bf_submissions *submissions, uint64_t call);

void bf_submissions_fence_seen(struct bf_submissions *submissions, uint32_t count,
                               const VkFence *fences);
void bf_submissions_value_seen(struct bf_submissions *submissions, VkSemaphore semaphore,
                               uint64_t value);
/* NULL: all queues are idle. */
void bf_submissions_queue_idle(struct bf_submissions *submissions, const void *queue);
/* Counts all that has finished as far as there is evidence. */
void bf_submissions_settle(struct bf_submissions *submissions);
/* A secondary command buffer with samples: primaries that execute it hold its number. */
void bf_submissions_list(struct bf_submissions *submissions, struct bf_recording *recording);
/* The command buffer is begun, reset or freed. */
void bf_submissions_recording_over(struct bf_submissions *submissions,
                                   struct bf_recording *recording);

#endif
