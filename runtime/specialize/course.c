#include "specialize/course.h"

#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "base/clock.h"
#include "trace/trace.h"

void bf_course_put_values(uint8_t push[BF_PUSH_BYTES], const struct bf_watch *watch, uint8_t mask,
                          const uint32_t values[BF_WATCHED])
{
    for (uint32_t i = 0; i < watch->count; i++) {
        if (mask & 1u << i)
            memcpy(push + watch->offset[i], &values[i], 4);
    }
}

static uint8_t archive_mode(const struct bf_specializer *s)
{
    return s->info.mode == BF_SPECIALIZE_RELAXED ? BF_ARCHIVE_MODE_RELAXED : BF_ARCHIVE_MODE_EXACT;
}

struct bf_archive_key bf_course_key(const struct bf_specializer *s, const uint8_t hash[32],
                                    uint8_t mask, const uint32_t values[BF_WATCHED])
{
    struct bf_archive_key key = {
        .n_values = BF_WATCHED,
        .mask = mask,
        .form = BF_ARCHIVE_FORM_PLAIN, /* of both: which one it is to be the check finds out */
        .mode = archive_mode(s),
    };
    memcpy(key.hash, hash, sizeof(key.hash));
    memcpy(key.values, values, sizeof(key.values));
    return key;
}

static uint32_t epoch_of(struct bf_specializer *s)
{
    return atomic_load(&s->submissions.epoch);
}

/* NULL: its pipeline's record is gone. */
static struct bf_course *course_of(struct bf_specializer *s, uint64_t id)
{
    return bf_map_find(&s->courses_by_id, id);
}

static void tell_swap(struct bf_specializer *s, const struct bf_course *course,
                      const struct bf_candidate *candidate, enum bf_trace_swap swap)
{
    bf_trace_swap(s->info.device->trace, swap, course->pipeline->id,
                  (uint32_t)(candidate - course->candidates), bf_reason_code(candidate->reason));
}

/* Whether only some command buffers are to have it. */
static void set_trial(struct bf_specializer *s, const struct bf_course *course,
                      const struct bf_candidate *candidate, bool on)
{
    bool was = atomic_exchange(&candidate->variant->on_trial, on);
    if (course->pipeline->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        atomic_fetch_add(&s->recorder.passes, (uint32_t)on - (uint32_t)was);
}

void bf_course_withdraw(struct bf_specializer *s, struct bf_course *course,
                        struct bf_candidate *candidate, enum bf_reason reason)
{
    candidate->state = BF_COURSE_REJECTED;
    candidate->reason = reason;
    if (!candidate->variant)
        return;
    set_trial(s, course, candidate, false);
    bf_pipeline_withdraw(&s->pipelines, course->pipeline, candidate->variant);
    candidate->variant = NULL;
    bf_room_leave(s, candidate);
    tell_swap(s, course, candidate, BF_TRACE_SWAP_OUT);
}

/* Whether a pipeline may have one more variant, of so many uses: perhaps in the place of *other. */
static bool find_place(struct bf_specializer *s, struct bf_course *course, uint64_t uses,
                       struct bf_candidate **other)
{
    struct bf_candidate *least = NULL;
    uint32_t published = 0;
    *other = NULL;
    for (uint32_t i = 0; i < course->count; i++) {
        struct bf_candidate *c = &course->candidates[i];
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

/* Where one may be published, if need be in the place of others. */
static enum bf_reason make_room(struct bf_specializer *s, struct bf_course *course,
                                const struct bf_candidate *candidate)
{
    struct bf_candidate *other;
    if (!find_place(s, course, candidate->uses, &other))
        return BF_REASON_BUDGET;
    if (!bf_room_make(s, candidate))
        return BF_REASON_SPACE;
    if (other && other->variant)
        bf_course_withdraw(s, course, other, BF_REASON_UNUSED);
    return BF_REASON_NONE;
}

/* NULL: out of memory. */
static struct bf_judge *judge_of(struct bf_candidate *candidate)
{
    if (!candidate->judge) {
        candidate->judge = malloc(sizeof(*candidate->judge));
        if (candidate->judge)
            bf_judge_init(candidate->judge);
    }
    return candidate->judge;
}

static void publish(struct bf_specializer *s, struct bf_course *course,
                    struct bf_candidate *candidate, struct bf_job *job)
{
    candidate->bytes = job->bytes;
    candidate->reason = make_room(s, course, candidate);
    if (candidate->reason != BF_REASON_NONE) {
        candidate->state = BF_COURSE_REJECTED;
        return;
    }
    struct bf_variant *variant = calloc(1, sizeof(*variant));
    if (!variant || !judge_of(candidate)) {
        free(variant);
        candidate->state = BF_COURSE_REJECTED;
        candidate->reason = BF_REASON_MEMORY;
        return;
    }
    variant->handle = job->handle;
    variant->bytes = job->bytes;
    variant->mask = candidate->mask;
    variant->candidate = (uint32_t)(candidate - course->candidates);
    memcpy(variant->values, candidate->values, sizeof(variant->values));
    bf_judge_restart(candidate->judge); /* it may have been published before */
    candidate->used = false;
    candidate->told_ns = bf_now_ns();
    candidate->told_picks = 0;
    candidate->state = candidate->remembered ? BF_COURSE_KEPT : BF_COURSE_TRIAL;
    candidate->reason = candidate->remembered ? BF_REASON_FASTER : BF_REASON_NONE;
    atomic_store(&variant->on_trial, !candidate->remembered);
    enum bf_reason reason = bf_pipeline_publish(job->copy, variant);
    if (reason != BF_REASON_NONE) {
        free(variant);
        candidate->state = BF_COURSE_REJECTED;
        candidate->reason = reason;
        return;
    }
    job->handle = VK_NULL_HANDLE;
    candidate->variant = variant;
    if (candidate->state == BF_COURSE_TRIAL &&
        course->pipeline->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        atomic_fetch_add(&s->recorder.passes, 1);
    bf_room_enter(s, course, candidate);
    tell_swap(s, course, candidate, BF_TRACE_SWAP_IN);
}

/* A verdict is kept on disk, which is an item's work. NULL: it is not, for want of memory. */
static struct bf_job *remembering_job(struct bf_specializer *s, struct bf_course *course,
                                      const struct bf_candidate *candidate, double gain,
                                      uint32_t samples)
{
    struct bf_job *job = bf_job_create(s, course, (uint32_t)(candidate - course->candidates));
    if (!job)
        return NULL;
    job->remember_only = true;
    job->reason = candidate->reason;
    job->gain = gain > 0 && gain < 1000 ? (uint32_t)(gain * 1000) : 0;
    job->samples = samples;
    return job;
}

/* The lock is held. */
static void take_over(struct bf_specializer *s, struct bf_job *job)
{
    struct bf_course *course = course_of(s, job->pipeline);
    if (!course || job->remember_only)
        return;
    struct bf_candidate *candidate = &course->candidates[job->candidate];
    candidate->times = job->times;
    candidate->no_contraction = job->no_contraction;
    candidate->reason = job->reason;
    candidate->error = job->error;
    candidate->apart = job->apart && !job->here;
    if (job->reason != BF_REASON_NONE) {
        candidate->state = BF_COURSE_REJECTED;
        return;
    }
    publish(s, course, candidate, job);
}

void bf_course_collect(struct bf_specializer *s)
{
    if (!atomic_load_explicit(&s->done, memory_order_acquire))
        return;
    struct bf_job *jobs = atomic_exchange(&s->done, NULL);
    for (struct bf_job *job = jobs; job; job = job->next) {
        bf_lock_acquire(&s->lock);
        take_over(s, job);
        bf_lock_release(&s->lock);
    }
    while (jobs) {
        struct bf_job *next = jobs->next;
        bf_job_free(jobs);
        atomic_fetch_sub(&s->outstanding, 1);
        jobs = next;
    }
    bf_pipelines_sweep(&s->pipelines);
    bf_lock_acquire(&s->lock);
    bf_report_room(s);
    bf_lock_release(&s->lock);
}

static struct bf_candidate *find(struct bf_course *course, uint8_t mask,
                                 const uint32_t values[BF_WATCHED])
{
    for (uint32_t i = 0; i < course->count; i++) {
        struct bf_candidate *c = &course->candidates[i];
        if (c->mask == mask && memcmp(c->values, values, sizeof(c->values)) == 0)
            return c;
    }
    return NULL;
}

/* A tuple that has none yet gets a candidate, and a job where a build may come of it. */
static void add_candidate(struct bf_specializer *s, struct bf_course *course, uint8_t mask,
                          const uint32_t values[BF_WATCHED], uint64_t uses, bool used, bool kept,
                          struct bf_job **jobs)
{
    struct bf_candidate *candidate = find(course, mask, values);
    if (candidate) {
        candidate->uses = uses > candidate->uses ? uses : candidate->uses;
        if (used)
            bf_room_chosen(candidate, uses);
        bool again =
            candidate->state == BF_COURSE_REJECTED &&
            (candidate->reason == BF_REASON_UNUSED || candidate->reason == BF_REASON_BUDGET ||
             candidate->reason == BF_REASON_CANCELLED || candidate->reason == BF_REASON_SPACE);
        if (!again || (candidate->reason == BF_REASON_SPACE && !bf_room_may_be_had(s, candidate)))
            return;
    } else {
        if (course->count == BF_CANDIDATES)
            return;
        candidate = &course->candidates[course->count++];
        *candidate = (struct bf_candidate){.mask = mask, .uses = uses, .remembered = kept};
        memcpy(candidate->values, values, sizeof(candidate->values));
        /* One that an earlier run has kept is as good as one that was just chosen. */
        bf_room_chosen(candidate, uses ? uses : BF_TALLY_USES);
        struct bf_verdict verdict;
        const struct bf_archive_key key = bf_course_key(s, course->pipeline->hash, mask, values);
        if (bf_archive_find(s->archive, &key, &verdict)) {
            candidate->remembered = verdict.code == BF_VERDICT_KEPT;
            if (verdict.code != BF_VERDICT_KEPT) {
                candidate->state = BF_COURSE_REJECTED;
                candidate->reason = verdict.code == BF_VERDICT_BARRED
                                        ? BF_REASON_CRASHED
                                        : (enum bf_reason)verdict.reason;
                return;
            }
        }
    }
    candidate->state = BF_COURSE_QUEUED;
    candidate->reason = BF_REASON_NONE;
    struct bf_job *job = bf_job_create(s, course, (uint32_t)(candidate - course->candidates));
    if (!job) {
        candidate->state = BF_COURSE_REJECTED;
        candidate->reason = BF_REASON_MEMORY;
        return;
    }
    job->next = *jobs;
    *jobs = job;
}

static void consider(struct bf_specializer *s, struct bf_course *course,
                     const struct bf_tally_choice *choice, bool used, struct bf_job **jobs)
{
    bool pinned = atomic_load(&course->pipeline->pinned);
    for (uint32_t i = 0; !pinned && i < choice->count; i++)
        add_candidate(s, course, (uint8_t)choice->mask, choice->words[i], choice->uses[i], used,
                      false, jobs);
}

/* What an earlier run has learnt of it. */
struct remembering {
    struct bf_specializer *specializer;
    struct bf_course *course;
    struct bf_job *jobs;
};

static void remember(void *context, const struct bf_archive_key *key,
                     const struct bf_verdict *verdict)
{
    struct remembering *r = context;
    if (verdict->code != BF_VERDICT_KEPT || key->n_values != BF_WATCHED ||
        key->mode != archive_mode(r->specializer))
        return;
    uint8_t known = r->specializer->info.mode == BF_SPECIALIZE_EXACT
                        ? r->course->pipeline->watch.exact
                        : (uint8_t)((1u << r->course->pipeline->watch.count) - 1);
    if (key->mask & ~known)
        return; /* damaged beyond what a checksum tells */
    add_candidate(r->specializer, r->course, key->mask, key->values, 0, true, true, &r->jobs);
}

/* When it has been used: by then the formats that a check needs have been seen. */
static void recall(struct bf_specializer *s, struct bf_course *course, struct bf_job **jobs)
{
    struct remembering r = {s, course, *jobs};
    course->recalled = true;
    if (!atomic_load(&course->pipeline->pinned))
        bf_archive_for_pipeline(s->archive, course->pipeline->hash, remember, &r);
    *jobs = r.jobs;
}

void bf_course_made(void *specializer, struct bf_pipeline *pipeline)
{
    struct bf_specializer *s = specializer;
    if (pipeline->excluded != BF_REASON_NONE) {
        bf_lock_acquire(&s->lock);
        bf_report_excluded(s, pipeline->excluded);
        bf_lock_release(&s->lock);
        return;
    }
    struct bf_course *course = bf_specializer_remembers(s) ? calloc(1, sizeof(*course)) : NULL;
    if (!course)
        return; /* it keeps its general pipeline */
    course->pipeline = pipeline;
    atomic_fetch_add(&s->pipelines.room.own, sizeof(*course));
    bf_lock_acquire(&s->lock);
    if (!bf_map_insert(&s->courses_by_id, pipeline->id, course)) {
        bf_lock_release(&s->lock);
        free(course);
        return;
    }
    course->next = s->courses;
    course->link = &s->courses;
    if (course->next)
        course->next->link = &course->next;
    s->courses = course;
    pipeline->policy = course;
    bf_lock_release(&s->lock);
}

void bf_course_gone(void *specializer, struct bf_pipeline *pipeline)
{
    struct bf_specializer *s = specializer;
    bf_lock_acquire(&s->lock);
    struct bf_course *course = pipeline->policy;
    if (course) {
        bf_report_add(s, course);
        for (uint32_t i = 0; i < course->count; i++) {
            if (course->candidates[i].variant) {
                set_trial(s, course, &course->candidates[i], false);
                bf_room_leave(s, &course->candidates[i]);
            }
            free(course->candidates[i].judge);
        }
        bf_map_remove(&s->courses_by_id, pipeline->id);
        *course->link = course->next;
        if (course->next)
            course->next->link = course->link;
        pipeline->policy = NULL;
    }
    bf_lock_release(&s->lock);
    if (course)
        atomic_fetch_sub(&s->pipelines.room.own, sizeof(*course));
    free(course);
}

void bf_course_used(void *specializer, struct bf_pipeline *pipeline,
                    const struct bf_recording *recording)
{
    struct bf_specializer *s = specializer;
    struct bf_job *jobs = NULL;
    bf_lock_acquire(&s->lock);
    struct bf_course *course = pipeline->policy;
    if (course) {
        if (recording->push_id == pipeline->push_id)
            memcpy(course->push, recording->bytes, sizeof(course->push));
        if (!course->recalled)
            recall(s, course, &jobs);
        struct bf_tally_choice choice;
        bf_lock_acquire(&pipeline->lock);
        bool stable = bf_tally_window(&pipeline->tally, epoch_of(s), BF_TALLY_USES, &choice);
        bf_lock_release(&pipeline->lock);
        if (stable)
            consider(s, course, &choice, true, &jobs);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, jobs);
}

void bf_course_commit(struct bf_specializer *s)
{
    struct bf_job *jobs = NULL;
    bf_lock_acquire(&s->lock);
    for (struct bf_course *c = s->courses; c; c = c->next) {
        /* On a copy: what is used from now on is to weigh as much as what was. */
        struct bf_tally_choice choice;
        bf_lock_acquire(&c->pipeline->lock);
        struct bf_tally seen = c->pipeline->tally;
        bf_lock_release(&c->pipeline->lock);
        bool used = seen.total != c->committed_total;
        c->committed_total = seen.total;
        if (bf_tally_commit(&seen, epoch_of(s), BF_TALLY_USES, &choice))
            consider(s, c, &choice, used, &jobs);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, jobs);
}

/* Counts of another epoch are void by themselves; verdicts are due again. What the disk knows, and
 * what no measurement decided, stays. */
void bf_course_discard(struct bf_specializer *s)
{
    bf_lock_acquire(&s->lock);
    atomic_fetch_add(&s->submissions.epoch, 1);
    for (struct bf_course *course = s->courses; course; course = course->next) {
        for (uint32_t i = 0; i < course->count; i++) {
            struct bf_candidate *c = &course->candidates[i];
            c->uses = c->worth = 0;
            if (c->remembered)
                continue;
            bool judged = c->state == BF_COURSE_KEPT || c->state == BF_COURSE_TRIAL;
            if (judged && c->variant) {
                if (!judge_of(c))
                    continue;
                bf_judge_restart(c->judge);
                c->state = BF_COURSE_TRIAL;
                c->reason = BF_REASON_NONE;
                set_trial(s, course, c, true);
            } else if (c->reason == BF_REASON_SLOWER || c->reason == BF_REASON_NO_GAIN) {
                c->reason = BF_REASON_UNUSED; /* it may be chosen again */
            }
        }
    }
    bf_lock_release(&s->lock);
}

BfMeasurementsState bf_course_state(struct bf_specializer *s)
{
    if (atomic_load(&s->outstanding))
        return BF_MEASUREMENTS_OUTSTANDING;
    BfMeasurementsState state = BF_MEASUREMENTS_SETTLED;
    bf_lock_acquire(&s->lock);
    for (struct bf_course *course = s->courses; course; course = course->next) {
        struct bf_pipeline *p = course->pipeline;
        bf_lock_acquire(&p->lock);
        uint64_t total = p->tally.epoch == epoch_of(s) ? p->tally.total : 0;
        bf_lock_release(&p->lock);
        /* In use, but too little to choose by; a pipeline that stands still asks for nothing. */
        if (total != course->asked_total && total < 2 * BF_TALLY_USES &&
            state == BF_MEASUREMENTS_SETTLED)
            state = BF_MEASUREMENTS_DESIRED;
        for (uint32_t i = 0; i < course->count && total != course->asked_total; i++) {
            if (course->candidates[i].state == BF_COURSE_TRIAL)
                state = BF_MEASUREMENTS_OUTSTANDING;
        }
        course->asked_total = total;
    }
    bf_lock_release(&s->lock);
    return state;
}

static struct bf_job *judge(struct bf_specializer *s, struct bf_course *course,
                            struct bf_candidate *candidate)
{
    switch (bf_judge_verdict(candidate->judge)) {
    case BF_JUDGE_UNDECIDED:
        return NULL;
    case BF_JUDGE_KEEP:
        candidate->state = BF_COURSE_KEPT;
        candidate->reason = BF_REASON_FASTER;
        set_trial(s, course, candidate, false);
        break;
    case BF_JUDGE_LOSER:
        bf_course_withdraw(s, course, candidate, BF_REASON_SLOWER);
        break;
    case BF_JUDGE_TIE:
        bf_course_withdraw(s, course, candidate, BF_REASON_NO_GAIN);
        break;
    }
    return remembering_job(s, course, candidate, bf_judge_ratio(candidate->judge),
                           bf_judge_pairs(candidate->judge));
}

/* Half of the command buffers have the variant while it is on trial, the others would have had it. */
static void tell_uses(struct bf_candidate *c)
{
    uint64_t now = bf_now_ns(), picks = atomic_load(&c->variant->picked);
    bf_judge_uses(c->judge, 2 * (picks - c->told_picks), (double)(now - c->told_ns));
    c->told_ns = now;
    c->told_picks = picks;
}

static void measured(void *specializer, const struct bf_trial_sample *sample, double ns)
{
    struct bf_specializer *s = specializer;
    const struct bf_trial_use *use = &sample->use;
    struct bf_job *job = NULL;
    bf_lock_acquire(&s->lock);
    struct bf_course *course = course_of(s, use->pipeline);
    struct bf_candidate *c =
        course && use->candidate < course->count ? &course->candidates[use->candidate] : NULL;
    if (c && c->state == BF_COURSE_TRIAL) {
        tell_uses(c);
        if (use->variant && !c->used) {
            /* What a driver left for the first use in the program's own frames. */
            c->used = true;
            bf_judge_add_first_use(c->judge, ns);
        } else {
            bf_judge_add_grouped(c->judge, use->variant ? BF_JUDGE_VARIANT : BF_JUDGE_GENERAL,
                                 use->thrown, ns, use->work);
        }
        job = judge(s, course, c);
    }
    bf_lock_release(&s->lock);
    bf_jobs_queue(s, job);
}

void bf_course_measured(void *specializer, struct bf_recording *recording)
{
    struct bf_specializer *s = specializer;
    bf_trial_read(&s->trials, recording->trial, measured, s);
}
