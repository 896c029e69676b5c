/* SPDX-License-Identifier: MIT */
/* Candidates of a pipeline, from the choice by its histogram to the verdict: chosen, queued for
 * a build, published, timed against the general pipeline, kept or withdrawn. */
#include "specialize/variant_state.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "base/clock.h"
#include "trace/trace.h"

void bf_variant_put_values(uint8_t push[BF_PUSH_BYTES], const struct bf_watch *watch, uint8_t mask,
                           const uint32_t values[BF_WATCHED])
{
    for (uint32_t i = 0; i < watch->count; i++) {
        if (mask & 1u << i)
            memcpy(push + watch->offset[i], &values[i], 4);
    }
}

struct bf_archive_key bf_variant_archive_key(const uint8_t hash[32], uint8_t mask,
                                             const uint32_t values[BF_WATCHED])
{
    struct bf_archive_key key = {
        .n_values = BF_WATCHED,
        .mask = mask,
        /* for all forms: the check finds out which one it is to be */
        .form = BF_ARCHIVE_FORM_PLAIN,
    };
    memcpy(key.hash, hash, sizeof(key.hash));
    memcpy(key.values, values, sizeof(key.values));
    return key;
}

struct bf_archive_key bf_variant_shaders_key(const uint8_t hash[32])
{
    struct bf_archive_key key = {.form = BF_ARCHIVE_FORM_PLAIN}; /* no variant has an empty mask */
    memcpy(key.hash, hash, sizeof(key.hash));
    return key;
}

/* A reason that there isn't is damage that the checksum didn't catch. */
static bool verdict_is_known(const struct bf_verdict *verdict)
{
    return verdict->reason < BF_REASON_COUNT;
}

static bool verdict_find(const struct bf_specializer *s, const struct bf_archive_key *key,
                         struct bf_verdict *verdict)
{
    return bf_archive_find(s->archive, key, verdict) && verdict_is_known(verdict);
}

enum bf_reason bf_variant_barred(const struct bf_specializer *s, const uint8_t hash[32])
{
    const struct bf_archive_key key = bf_variant_shaders_key(hash);
    struct bf_verdict verdict;
    if (bf_archive_barred(s->archive, hash))
        return BF_REASON_CRASHED;
    return verdict_find(s, &key, &verdict) && verdict.code == BF_VERDICT_REJECTED
               ? (enum bf_reason)verdict.reason
               : BF_REASON_NONE;
}

static uint32_t epoch_of(struct bf_specializer *s)
{
    return atomic_load(&s->submissions.epoch);
}

/* NULL: the pipeline's record is gone. */
static struct bf_variant_states *variant_states_of(struct bf_specializer *s, uint64_t id)
{
    return bf_map_find(&s->states_by_id, id);
}

static void tell_swap(struct bf_specializer *s, const struct bf_variant_states *states,
                      const struct bf_candidate *candidate, enum bf_trace_swap swap)
{
    bf_trace_swap(bf_device_gpu(s->info.device)->trace, swap, states->pipeline->id,
                  (uint32_t)(candidate - states->candidates), bf_reason_code(candidate->reason));
}

/* While it is A/B timed only half of the command buffers get the variant. */
static void set_ab_timed(struct bf_specializer *s, const struct bf_variant_states *states,
                         const struct bf_candidate *candidate, bool on)
{
    bool was = atomic_exchange(&candidate->variant->ab_timed, on);
    if (states->pipeline->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        atomic_fetch_add(&s->recorder.passes, (uint32_t)on - (uint32_t)was);
}

void bf_variant_states_withdraw(struct bf_specializer *s, struct bf_variant_states *states,
                                struct bf_candidate *candidate, enum bf_reason reason)
{
    candidate->state = BF_VARIANT_STATE_REJECTED;
    candidate->reason = reason;
    if (!candidate->variant)
        return;
    set_ab_timed(s, states, candidate, false);
    bf_pipeline_withdraw(&s->pipelines, states->pipeline, candidate->variant);
    candidate->variant = NULL;
    bf_memory_budget_remove(s, candidate);
    tell_swap(s, states, candidate, BF_TRACE_SWAP_OUT);
}

/* Whether the pipeline may have one more variant, used so often. If only in place of another
 * one, *other is the one to withdraw. */
static bool find_place(struct bf_specializer *s, struct bf_variant_states *states, uint64_t uses,
                       struct bf_candidate **other)
{
    struct bf_candidate *least = NULL;
    uint32_t published = 0;
    *other = NULL;
    for (uint32_t i = 0; i < states->count; i++) {
        struct bf_candidate *c = &states->candidates[i];
        if (!c->variant)
            continue;
        published++;
        if (!least || c->uses < least->uses)
            least = c;
    }
    if (published < BF_MAX_VARIANTS && s->live < BF_LIVE_VARIANTS)
        return true;
    *other = least;
    return least && least->uses < uses;
}

/* Makes place for one more variant, by count and by memory; if need be others are withdrawn. */
static enum bf_reason variant_make_room(struct bf_specializer *s, struct bf_variant_states *states,
                                        const struct bf_candidate *candidate)
{
    struct bf_candidate *other;
    if (!find_place(s, states, candidate->uses, &other))
        return BF_REASON_BUDGET;
    if (!bf_memory_budget_make_room(s, candidate))
        return BF_REASON_SPACE;
    if (other && other->variant)
        bf_variant_states_withdraw(s, states, other, BF_REASON_UNUSED);
    return BF_REASON_NONE;
}

/* The candidate's A/B decision, made on first use. NULL: out of memory. */
static struct bf_ab_decision *decision_of(struct bf_candidate *candidate)
{
    if (!candidate->decision) {
        candidate->decision = malloc(sizeof(*candidate->decision));
        if (candidate->decision)
            bf_ab_decision_init(candidate->decision);
    }
    return candidate->decision;
}

/* Where it matters what is beyond, a variant is for no more than what was compared. */
static void variant_set_reach(struct bf_variant *variant, const struct bf_job *job,
                              VkPipelineBindPoint point)
{
    memcpy(variant->asked, job->groups, sizeof(variant->asked));
    memcpy(variant->groups, job->reach, sizeof(variant->groups));
    for (int i = 0; i < 3 && point == VK_PIPELINE_BIND_POINT_COMPUTE; i++) {
        if (variant->groups[i] > job->groups[i])
            variant->groups[i] = job->groups[i];
    }
}

static void publish(struct bf_specializer *s, struct bf_variant_states *states,
                    struct bf_candidate *candidate, struct bf_job *job)
{
    candidate->bytes = job->bytes;
    candidate->reason = variant_make_room(s, states, candidate);
    if (candidate->reason != BF_REASON_NONE) {
        candidate->state = BF_VARIANT_STATE_REJECTED;
        return;
    }
    struct bf_variant *variant = calloc(1, sizeof(*variant));
    if (!variant || !decision_of(candidate)) {
        free(variant);
        candidate->state = BF_VARIANT_STATE_REJECTED;
        candidate->reason = BF_REASON_MEMORY;
        return;
    }
    variant->handle = job->handle;
    variant->bytes = job->bytes;
    variant->mask = candidate->mask;
    variant->candidate = (uint32_t)(candidate - states->candidates);
    memcpy(variant->values, candidate->values, sizeof(variant->values));
    variant_set_reach(variant, job, states->pipeline->point);
    variant->formats = job->formats;
    bf_ab_decision_restart(candidate->decision); /* it may have been published before */
    candidate->used = false;
    candidate->reported_picks = 0;
    candidate->state = candidate->remembered ? BF_VARIANT_STATE_KEPT : BF_VARIANT_STATE_TIMED;
    candidate->reason = candidate->remembered ? BF_REASON_FASTER : BF_REASON_NONE;
    atomic_store(&variant->ab_timed, !candidate->remembered);
    enum bf_reason reason = bf_pipeline_publish(job->copy, variant);
    if (reason != BF_REASON_NONE) {
        free(variant);
        candidate->state = BF_VARIANT_STATE_REJECTED;
        candidate->reason = reason;
        return;
    }
    job->handle = VK_NULL_HANDLE;
    candidate->variant = variant;
    if (candidate->state == BF_VARIANT_STATE_TIMED &&
        states->pipeline->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        atomic_fetch_add(&s->recorder.passes, 1);
    bf_memory_budget_add(s, states, candidate);
    tell_swap(s, states, candidate, BF_TRACE_SWAP_IN);
}

/* A job that stores the candidate's verdict: that is disk I/O, and so an item's work. NULL: out
 * of memory, and the verdict isn't stored. */
static struct bf_job *remembering_job(struct bf_specializer *s, struct bf_variant_states *states,
                                      const struct bf_candidate *candidate, double gain,
                                      uint32_t samples)
{
    struct bf_job *job = bf_job_create(s, states, (uint32_t)(candidate - states->candidates));
    if (!job)
        return NULL;
    job->remember_only = true;
    job->epoch = epoch_of(s);
    job->reason = candidate->reason;
    job->gain = gain > 0 && gain < 1000 ? (uint32_t)(gain * 1000) : 0;
    job->samples = samples;
    struct bf_measured *measured = malloc(sizeof(*measured));
    if (!measured) { /* then it couldn't be discarded */
        bf_job_free(job);
        return NULL;
    }
    measured->key = bf_variant_archive_key(job->hash, job->mask, job->values);
    measured->next = s->measured;
    s->measured = measured;
    return job;
}

/* Takes over what an ended job has made. The specialiser's lock is held. */
static void take_over(struct bf_specializer *s, struct bf_job *job)
{
    struct bf_variant_states *states = variant_states_of(s, job->pipeline);
    if (!states || job->remember_only)
        return;
    struct bf_candidate *candidate = &states->candidates[job->candidate];
    candidate->times = job->times;
    candidate->form = job->form;
    candidate->reason = job->reason;
    candidate->error = job->error;
    if (job->reason != BF_REASON_NONE) {
        candidate->state = BF_VARIANT_STATE_REJECTED;
        return;
    }
    publish(s, states, candidate, job);
}

/* CV-4 holds none back. */
static bool nothing_is_frozen(struct bf_specializer *s)
{
    return !atomic_load_explicit(&s->frozen, memory_order_relaxed) || atomic_load(&s->stopping);
}

/* The jobs that have ended, with those that were held, if some of them needn't be any more. */
static struct bf_job *ended_jobs_take(struct bf_specializer *s)
{
    struct bf_job *jobs = atomic_exchange(&s->done, NULL);
    struct bf_job *held = NULL, *last;
    bf_lock_acquire(&s->lock);
    if (atomic_exchange(&s->commits_held, false) || nothing_is_frozen(s))
        held = atomic_exchange(&s->held, NULL);
    bf_lock_release(&s->lock);
    last = held;
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = jobs;
    return held ? held : jobs;
}

/* Whether another variant would have to make place for the job's. The lock is held. */
static bool job_displaces(struct bf_specializer *s, const struct bf_job *job)
{
    struct bf_variant_states *states = variant_states_of(s, job->pipeline);
    struct bf_candidate *other;
    return states && job->reason == BF_REASON_NONE &&
           (bf_memory_budget_lacks(s, job->bytes) ||
            (find_place(s, states, states->candidates[job->candidate].uses, &other) && other));
}

/* Whether the job may be taken over during a freeze [CV-4]. The lock is held. */
static bool job_is_committed(struct bf_specializer *s, const struct bf_job *job)
{
    return job->remember_only ||
           (job->number <= atomic_load(&s->last_taken) && !job_displaces(s, job));
}

/* True: it has been taken over, and is over. */
static bool job_collect(struct bf_specializer *s, struct bf_job *job)
{
    bf_lock_acquire(&s->lock);
    bool taken = nothing_is_frozen(s) || job_is_committed(s, job);
    if (taken) {
        take_over(s, job);
    } else {
        job->held = true;
        job->next = atomic_load(&s->held);
        atomic_store(&s->held, job);
    }
    bf_lock_release(&s->lock);
    return taken;
}

void bf_variant_states_collect(struct bf_specializer *s)
{
    if (!atomic_load_explicit(&s->done, memory_order_acquire) &&
        (!atomic_load_explicit(&s->held, memory_order_relaxed) ||
         !(atomic_load_explicit(&s->commits_held, memory_order_relaxed) || nothing_is_frozen(s))))
        return;
    struct bf_job *jobs = ended_jobs_take(s);
    while (jobs) {
        struct bf_job *next = jobs->next;
        const bool outstanding = !jobs->held;
        if (job_collect(s, jobs)) /* else it may be another thread's by now */
            bf_job_free(jobs);
        if (outstanding)
            atomic_fetch_sub(&s->outstanding, 1);
        jobs = next;
    }
    bf_pipelines_sweep(&s->pipelines);
    bf_lock_acquire(&s->lock);
    bf_specialize_report_memory(s);
    bf_lock_release(&s->lock);
}

static struct bf_candidate *candidate_find(struct bf_variant_states *states, uint8_t mask,
                                           const uint32_t values[BF_WATCHED])
{
    for (uint32_t i = 0; i < states->count; i++) {
        struct bf_candidate *c = &states->candidates[i];
        if (c->mask == mask && memcmp(c->values, values, sizeof(c->values)) == 0)
            return c;
    }
    return NULL;
}

/* Is it known for what dispatches a variant is to be checked (RC-7)? */
static bool dispatch_is_known(const struct bf_pipeline *pipeline)
{
    return pipeline->point != VK_PIPELINE_BIND_POINT_COMPUTE || atomic_load(&pipeline->groups[0]);
}

/* The program's dispatches, or render areas, have become larger than they were when the variant was
 * checked, which was no further, or its images are of other formats: so it is to be checked anew,
 * and isn't picked meanwhile. */
static void variant_withdraw_outgrown(struct bf_specializer *s, struct bf_variant_states *states,
                                      struct bf_candidate *candidate)
{
    bool outgrown = false;
    const struct bf_variant *variant = nothing_is_frozen(s) ? candidate->variant : NULL;
    for (int i = 0; variant && i < 3; i++) {
        uint32_t now = atomic_load(&states->pipeline->groups[i]);
        outgrown |= now > variant->groups[i] && now > variant->asked[i];
    }
    if (variant)
        outgrown |= !bf_format_classes_fit(&s->pipelines.shapes.classes, &variant->formats);
    if (outgrown)
        bf_variant_states_withdraw(s, states, candidate, BF_REASON_UNUSED);
}

/* A tuple that isn't a candidate yet becomes one, and gets a job where it may be built. So does
 * a candidate whose rejection was for a reason that may have passed. */
static void add_candidate(struct bf_specializer *s, struct bf_variant_states *states, uint8_t mask,
                          const uint32_t values[BF_WATCHED], uint64_t uses, bool used, bool kept,
                          struct bf_job **jobs)
{
    struct bf_candidate *candidate = candidate_find(states, mask, values);
    if (candidate) {
        candidate->uses = uses > candidate->uses ? uses : candidate->uses;
        if (used)
            bf_memory_budget_candidate_used(candidate, uses);
        variant_withdraw_outgrown(s, states, candidate);
        bool again =
            candidate->state == BF_VARIANT_STATE_REJECTED &&
            (candidate->reason == BF_REASON_UNUSED || candidate->reason == BF_REASON_BUDGET ||
             candidate->reason == BF_REASON_CANCELLED || candidate->reason == BF_REASON_SPACE);
        if (!again ||
            (candidate->reason == BF_REASON_SPACE && !bf_memory_budget_has_room(s, candidate)))
            return;
    } else {
        if (states->count == BF_CANDIDATES)
            return;
        candidate = &states->candidates[states->count++];
        *candidate = (struct bf_candidate){.mask = mask, .uses = uses, .remembered = kept};
        memcpy(candidate->values, values, sizeof(candidate->values));
        /* A candidate that an earlier run kept counts as if it had just been chosen. */
        bf_memory_budget_candidate_used(candidate, uses ? uses : BF_HISTOGRAM_USES);
        struct bf_verdict verdict;
        const struct bf_archive_key key =
            bf_variant_archive_key(states->pipeline->hash, mask, values);
        if (verdict_find(s, &key, &verdict)) {
            candidate->remembered = verdict.code == BF_VERDICT_KEPT;
            if (verdict.code != BF_VERDICT_KEPT) {
                candidate->state = BF_VARIANT_STATE_REJECTED;
                candidate->reason = (enum bf_reason)verdict.reason;
                return;
            }
        }
    }
    candidate->reason = bf_variant_barred(s, states->pipeline->hash);
    if (candidate->reason != BF_REASON_NONE) {
        candidate->state = BF_VARIANT_STATE_REJECTED;
        return;
    }
    candidate->state = BF_VARIANT_STATE_QUEUED;
    candidate->reason = BF_REASON_NONE;
    struct bf_job *job = bf_job_create(s, states, (uint32_t)(candidate - states->candidates));
    if (!job) {
        candidate->state = BF_VARIANT_STATE_REJECTED;
        candidate->reason = BF_REASON_MEMORY;
        return;
    }
    job->next = *jobs;
    *jobs = job;
}

static void consider(struct bf_specializer *s, struct bf_variant_states *states,
                     const struct bf_histogram_choice *choice, bool used, struct bf_job **jobs)
{
    bool may = !atomic_load(&states->pipeline->pinned) && dispatch_is_known(states->pipeline);
    for (uint32_t i = 0; may && i < choice->count; i++)
        add_candidate(s, states, (uint8_t)choice->mask, choice->words[i], choice->uses[i], used,
                      false, jobs);
}

/* Context of archive_remember. */
struct remembering {
    struct bf_specializer *specializer;
    struct bf_variant_states *states;
    struct bf_job *jobs;
};

static void archive_remember(void *context, const struct bf_archive_key *key,
                             const struct bf_verdict *verdict)
{
    struct remembering *r = context;
    if (verdict->code != BF_VERDICT_KEPT || key->n_values != BF_WATCHED)
        return;
    if (key->mask >> r->states->pipeline->watch.count || !verdict_is_known(verdict))
        return; /* damage that the checksum didn't catch */
    add_candidate(r->specializer, r->states, key->mask, key->values, 0, true, true, &r->jobs);
}

/* Asks the archive what earlier runs learnt of the pipeline. Only when the pipeline has been used:
 * what a check needs is known by then, the formats of descriptors and attachments and the size of
 * dispatches. */
static void archive_recall(struct bf_specializer *s, struct bf_variant_states *states,
                           struct bf_job **jobs)
{
    struct remembering r = {s, states, *jobs};
    states->recalled = true;
    if (!atomic_load(&states->pipeline->pinned))
        bf_archive_for_pipeline(s->archive, states->pipeline->hash, archive_remember, &r);
    *jobs = r.jobs;
}

void bf_variant_states_pipeline_made(void *specializer, struct bf_pipeline *pipeline)
{
    struct bf_specializer *s = specializer;
    if (pipeline->excluded != BF_REASON_NONE) {
        bf_lock_acquire(&s->lock);
        bf_specialize_report_excluded(s, pipeline->id, pipeline->excluded);
        bf_lock_release(&s->lock);
        return;
    }
    struct bf_variant_states *states = calloc(1, sizeof(*states));
    if (!states)
        return; /* the pipeline keeps to its general form */
    states->pipeline = pipeline;
    atomic_fetch_add(&s->pipelines.budget.own, sizeof(*states));
    bf_lock_acquire(&s->lock);
    if (!bf_map_insert(&s->states_by_id, pipeline->id, states)) {
        bf_lock_release(&s->lock);
        free(states);
        return;
    }
    states->next = s->states;
    states->link = &s->states;
    if (states->next)
        states->next->link = &states->next;
    s->states = states;
    pipeline->policy = states;
    bf_lock_release(&s->lock);
}

void bf_variant_states_pipeline_destroyed(void *specializer, struct bf_pipeline *pipeline)
{
    struct bf_specializer *s = specializer;
    bf_lock_acquire(&s->lock);
    struct bf_variant_states *states = pipeline->policy;
    if (states) {
        bf_specialize_report_add(s, states);
        for (uint32_t i = 0; i < states->count; i++) {
            if (states->candidates[i].variant) {
                set_ab_timed(s, states, &states->candidates[i], false);
                bf_memory_budget_remove(s, &states->candidates[i]);
            }
            free(states->candidates[i].decision);
        }
        bf_map_remove(&s->states_by_id, pipeline->id);
        *states->link = states->next;
        if (states->next)
            states->next->link = states->link;
        pipeline->policy = NULL;
    }
    bf_lock_release(&s->lock);
    if (states)
        atomic_fetch_sub(&s->pipelines.budget.own, sizeof(*states));
    free(states);
}

void bf_variant_states_pipeline_used(void *specializer, struct bf_pipeline *pipeline,
                                     const struct bf_recording *recording)
{
    struct bf_specializer *s = specializer;
    struct bf_job *jobs = NULL;
    bf_lock_acquire(&s->lock);
    struct bf_variant_states *states = pipeline->policy;
    if (states) {
        if (recording->push_id == pipeline->push_id)
            memcpy(states->push, recording->bytes, sizeof(states->push));
        if (!states->recalled && dispatch_is_known(pipeline))
            archive_recall(s, states, &jobs);
        struct bf_histogram_choice choice;
        bf_lock_acquire(&pipeline->lock);
        bool stable =
            bf_histogram_window(pipeline->histogram, epoch_of(s), BF_HISTOGRAM_USES, &choice);
        bf_lock_release(&pipeline->lock);
        if (stable)
            consider(s, states, &choice, true, &jobs);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, jobs);
}

void bf_variant_states_commit(struct bf_specializer *s)
{
    struct bf_job *jobs = NULL;
    bf_lock_acquire(&s->lock);
    for (struct bf_variant_states *c = s->states; c; c = c->next) {
        /* The choice is made on a copy of the histogram: uses counted before the commit keep
         * their weight. */
        struct bf_histogram_choice choice;
        bf_lock_acquire(&c->pipeline->lock);
        struct bf_histogram seen = *c->pipeline->histogram;
        bf_lock_release(&c->pipeline->lock);
        bool used = seen.total != c->committed_total;
        c->committed_total = seen.total;
        if (bf_histogram_commit(&seen, epoch_of(s), BF_HISTOGRAM_USES, &choice))
            consider(s, c, &choice, used, &jobs);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, jobs);
}

/* Measurements are discarded: counts of an earlier epoch are void by themselves, published
 * variants are timed anew, and verdicts are forgotten. Those of earlier runs, and those that no
 * measurement decided, stay. */
void bf_variant_states_discard(struct bf_specializer *s)
{
    bf_lock_acquire(&s->lock);
    atomic_fetch_add(&s->submissions.epoch, 1);
    bf_verdicts_discard(s, s->measured);
    s->measured = NULL;
    for (struct bf_variant_states *states = s->states; states; states = states->next) {
        for (uint32_t i = 0; i < states->count; i++) {
            struct bf_candidate *c = &states->candidates[i];
            c->uses = c->worth = 0;
            if (c->remembered)
                continue;
            bool has_been_timed =
                c->state == BF_VARIANT_STATE_KEPT || c->state == BF_VARIANT_STATE_TIMED;
            if (has_been_timed && c->variant) {
                if (!decision_of(c))
                    continue;
                bf_ab_decision_restart(c->decision);
                c->state = BF_VARIANT_STATE_TIMED;
                c->reason = BF_REASON_NONE;
                set_ab_timed(s, states, c, true);
            } else if (c->reason == BF_REASON_SLOWER || c->reason == BF_REASON_NO_GAIN) {
                c->reason = BF_REASON_UNUSED; /* it may be chosen again */
            }
        }
    }
    bf_lock_release(&s->lock);
    bf_verdicts_queue(s);
}

BfMeasurementsState bf_variant_states_measurements(struct bf_specializer *s)
{
    if (atomic_load(&s->outstanding))
        return BF_MEASUREMENTS_OUTSTANDING;
    BfMeasurementsState state = BF_MEASUREMENTS_SETTLED;
    bf_lock_acquire(&s->lock);
    for (struct bf_variant_states *states = s->states; states; states = states->next) {
        struct bf_pipeline *p = states->pipeline;
        bf_lock_acquire(&p->lock);
        uint64_t total = p->histogram->epoch == epoch_of(s) ? p->histogram->total : 0;
        bf_lock_release(&p->lock);
        /* Used since the program last asked, but too little to choose by. A pipeline that isn't
         * used asks for nothing. */
        if (total != states->asked_total && total < 2 * BF_HISTOGRAM_USES &&
            state == BF_MEASUREMENTS_SETTLED)
            state = BF_MEASUREMENTS_DESIRED;
        for (uint32_t i = 0; i < states->count && total != states->asked_total; i++) {
            if (states->candidates[i].state == BF_VARIANT_STATE_TIMED)
                state = BF_MEASUREMENTS_OUTSTANDING;
        }
        states->asked_total = total;
    }
    bf_lock_release(&s->lock);
    return state;
}

static struct bf_job *decision(struct bf_specializer *s, struct bf_variant_states *states,
                               struct bf_candidate *candidate)
{
    switch (bf_ab_decision_verdict(candidate->decision)) {
    case BF_AB_UNDECIDED:
        return NULL;
    case BF_AB_KEEP:
        candidate->state = BF_VARIANT_STATE_KEPT;
        candidate->reason = BF_REASON_FASTER;
        set_ab_timed(s, states, candidate, false);
        break;
    case BF_AB_LOSER:
        bf_variant_states_withdraw(s, states, candidate, BF_REASON_SLOWER);
        break;
    case BF_AB_TIE:
        bf_variant_states_withdraw(s, states, candidate, BF_REASON_NO_GAIN);
        break;
    }
    return remembering_job(s, states, candidate, bf_ab_decision_ratio(candidate->decision),
                           bf_ab_decision_pairs(candidate->decision));
}

/* While it is timed half of the command buffers get the variant; the other half would have had
 * it. */
static void tell_uses(struct bf_candidate *c)
{
    uint64_t picks = atomic_load(&c->variant->picked);
    bf_ab_decision_uses(c->decision, 2 * (picks - c->reported_picks), bf_now_ns());
    c->reported_picks = picks;
}

static void measured(void *specializer, const struct bf_ab_sample *sample, double ns)
{
    struct bf_specializer *s = specializer;
    const struct bf_ab_use *use = &sample->use;
    struct bf_job *job = NULL;
    bf_lock_acquire(&s->lock);
    struct bf_variant_states *states = variant_states_of(s, use->pipeline);
    struct bf_candidate *c =
        states && use->candidate < states->count ? &states->candidates[use->candidate] : NULL;
    if (c && c->state == BF_VARIANT_STATE_TIMED && nothing_is_frozen(s)) {
        tell_uses(c);
        if (use->variant && !c->used) {
            /* The first use in the program's frames may contain a compilation that the driver
             * had put off. */
            c->used = true;
            bf_ab_decision_add_first_use(c->decision, ns);
        } else {
            bf_ab_decision_add_grouped(c->decision, use->variant ? BF_AB_VARIANT : BF_AB_GENERAL,
                                       use->lot, ns, use->work);
        }
        job = decision(s, states, c);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, job);
}

void bf_variant_states_measured(void *specializer, struct bf_recording *recording)
{
    struct bf_specializer *s = specializer;
    if (!bf_background_may_adapt(bf_device_gpu(s->info.device)->background)) /* CV-4 */
        return;
    if (recording->timing)
        bf_ab_timing_read(&s->timer, recording->timing, measured, s);
    if (recording->account)
        bf_pipeline_times_read(s->recorder.times, &s->timer, recording->account, recording->timing);
}
