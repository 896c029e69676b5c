/* SPDX-License-Identifier: MIT */
/*
 * How much GPU time the program's pipelines take, for the report: a sample of its dispatches and
 * render passes is timed, and stands for all uses of the pipelines in them. It says what there
 * would be to gain, whatever keeps a pipeline from being specialised.
 *
 *  GT-1  Without the setting 'report' a recording has no account: nothing is looked up, counted,
 *        allocated or written to a command buffer. Each place on the way tests one pointer.
 *  GT-2  The report never takes a sample from A/B timing. It has samples of its own, as many as
 *        TR-4 allows; none of them begins where A/B timing has begun one, whose time is then taken
 *        for the report, too. It times nothing in a freeze, while a query is active that counts
 *        what the GPU does, nor where A/B timing may not (TR-2, TR-4).
 *  GT-3  A pass's time is shared among its pipelines, by draws; what was timed stands for all uses,
 *        which count as RC-5 says. What a pipeline's first sample tells, which may contain a
 *        compilation that the driver had put off, is taken only where there is no other.
 *
 * Proven by tests/specialize/pipeline_time.c, ab_timing_random.c and layer/through.c.
 */
#ifndef BELFRY_SPECIALIZE_PIPELINE_TIME_H
#define BELFRY_SPECIALIZE_PIPELINE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "specialize/ab_timing.h"
#include "specialize/reason.h"

/* Uses of a pipeline in a recording. */
struct bf_time_use {
    uint64_t pipeline; /* its id; 0: it has no record */
    uint64_t uses;     /* dispatches and draws */
    uint32_t sample;   /* what timed them: the account's, or A/B timing's; BF_AB_NONE: nothing */
};

/* Set in bf_time_use::sample: it is A/B timing's sample of that number. */
#define BF_TIME_OF_AB 0x10000u

/* Of one recording; externally synchronised like its command buffer. */
struct bf_time_account {
    struct bf_ab_timing own; /* the report's samples */
    uint32_t sample;         /* of the dispatch or pass that is being recorded; BF_AB_NONE: none */
    /* dispatches and passes, in this recording and in the one before */
    uint32_t parts, parts_before;
    uint32_t count, capacity;
    struct bf_time_use *uses;
};

/* NULL: out of memory. */
struct bf_time_account *bf_time_account_create(void);
/* NULL is allowed. The account has been reset. */
void bf_time_account_free(struct bf_time_account *account);
void bf_time_account_reset(struct bf_time_account *account, struct bf_ab_timer *timer);

/* A dispatch or a pass is about to be recorded, which A/B timing may have begun to time ('ab', or
 * NULL). If not, the report times it if it 'may'; where there are more than it can time, 'lot'
 * decides which of them it does. */
void bf_time_account_begin(struct bf_time_account *account, struct bf_ab_timer *timer,
                           const struct bf_ab_timing *ab, VkCommandBuffer commands, uint64_t lot,
                           bool may);
/* Behind it. */
void bf_time_account_end(struct bf_time_account *account, struct bf_ab_timer *timer,
                         VkCommandBuffer commands);
/* A dispatch, or draws. Without memory they are left out. */
void bf_time_account_use(struct bf_time_account *account, uint64_t pipeline, uint64_t uses);
/* What a secondary command buffer has, which is executed. */
void bf_time_account_append(struct bf_time_account *account,
                            const struct bf_time_account *executed);

/* The pipelines of a device. Thread-safety of all that follows: safe, but for create and free. */
struct bf_pipeline_times;

/* NULL: out of memory. */
struct bf_pipeline_times *bf_pipeline_times_create(void);
void bf_pipeline_times_free(struct bf_pipeline_times *times);

/* A submission has finished. */
void bf_pipeline_times_count(struct bf_pipeline_times *times,
                             const struct bf_time_account *account);
/* And so its samples can be read. 'ab' may be NULL. */
void bf_pipeline_times_read(struct bf_pipeline_times *times, struct bf_ab_timer *timer,
                            const struct bf_time_account *account, const struct bf_ab_timing *ab);

/* What became of a pipeline, for the sums. A watched one may be in several. */
enum bf_time_group {
    BF_TIME_EXCLUDED, /* it isn't watched, for a reason */
    BF_TIME_REJECTED, /* a variant was rejected, for a reason */
    BF_TIME_UNJUDGED, /* a variant has no verdict */
    BF_TIME_KEPT,
    BF_TIME_PLAIN, /* it is watched, and no variant was chosen */
    BF_TIME_GROUPS
};

/* The pipeline belongs there, too. Without memory it is left out. */
void bf_pipeline_times_put(struct bf_pipeline_times *times, uint64_t pipeline,
                           enum bf_time_group group, enum bf_reason reason);

struct bf_time_sum {
    uint64_t pipelines; /* that belong there */
    uint64_t used;      /* of these; and … */
    uint64_t timed;     /* … of the used ones: 'ns' is theirs */
    double ns;          /* about; of all uses */
    double share;       /* of the time of all pipelines, known or not: 0 to 1 */
};
/* 'reason' counts where the group has some. */
struct bf_time_sum bf_pipeline_times_sum(struct bf_pipeline_times *times, enum bf_time_group group,
                                         enum bf_reason reason);

#endif
