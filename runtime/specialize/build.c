/* SPDX-License-Identifier: MIT */
/* The background item that makes a variant: has the forms of its module made and checked (forms.c),
 * builds the one that passed, and stores verdicts. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "base/clock.h"
#include "base/message.h"
#include "gpu/made.h"
#include "specialize/pipeline/copy.h"
#include "specialize/variant_state.h"

struct bf_job *bf_job_create(struct bf_specializer *s, struct bf_variant_states *states,
                             uint32_t candidate)
{
    const struct bf_candidate *c = &states->candidates[candidate];
    struct bf_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    job->specializer = s;
    job->copy = states->pipeline->copy;
    bf_pipeline_copy_retain(job->copy);
    job->pipeline = states->pipeline->id;
    job->candidate = candidate;
    memcpy(job->hash, states->pipeline->hash, sizeof(job->hash));
    job->watch = states->pipeline->watch;
    job->mask = c->mask;
    memcpy(job->values, c->values, sizeof(job->values));
    memcpy(job->push, states->push, sizeof(job->push));
    for (int i = 0; i < 3; i++)
        job->groups[i] = atomic_load(&states->pipeline->groups[i]);
    bf_variant_put_values(job->push, &job->watch, job->mask, job->values);
    return job;
}

void bf_job_free(struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    if (job->handle)
        s->pipelines.vk->vkDestroyPipeline(s->pipelines.device, job->handle, NULL);
    bf_pipeline_copy_release(job->copy);
    free(job);
}

static void job_push(_Atomic(struct bf_job *) *list, struct bf_job *job)
{
    job->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &job->next, job))
        continue;
}

/* CV-2: from here on the job belongs to whoever collects it. */
static void job_end(struct bf_job *job, enum bf_reason reason)
{
    struct bf_specializer *s = job->specializer;
    job->reason = reason;
    job_push(&s->done, job);
}

static bool is_cancelled(const struct bf_job *job)
{
    return atomic_load(&job->specializer->stopping);
}

static uint64_t cache_bytes(const struct bf_pipelines *ps, VkPipelineCache cache)
{
    size_t size = 0;
    bool told =
        cache && ps->vk->vkGetPipelineCacheData(ps->device, cache, &size, NULL) == VK_SUCCESS;
    return told ? size : 0;
}

/* The memory that a driver takes for a form, which no driver tells: at least the growth of the
 * pipeline cache, where the driver fills one, else the size of the SPIR-V. */
static uint64_t least_bytes(const struct bf_job *job, const struct bf_folded *form, uint64_t stored)
{
    const struct bf_pipeline_copy *copy = job->copy;
    uint64_t code = form->word_count * sizeof(uint32_t);
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        if (i != copy->specialised)
            code += copy->stages[i]->code->word_count * sizeof(uint32_t);
    }
    return stored > code ? stored : code;
}

/* Builds job->handle. The build has a pipeline cache of its own, whose growth tells the form's
 * size. A driver may refuse to make one. */
static enum bf_reason form_build(struct bf_job *job, const struct bf_folded *form)
{
    const struct bf_pipelines *ps = &job->specializer->pipelines;
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
    };
    VkPipelineCache cache;
    if (BF_MADE(ps->vk->vkCreatePipelineCache(ps->device, &info, NULL, &cache), &cache) !=
        VK_SUCCESS)
        cache = VK_NULL_HANDLE;
    uint64_t before = cache_bytes(ps, cache);
    VkResult result = bf_pipeline_copy_build(job->copy, form, job->push, cache, &job->handle);
    uint64_t after = cache_bytes(ps, cache);
    ps->vk->vkDestroyPipelineCache(ps->device, cache, NULL);
    job->bytes = least_bytes(job, form, after > before ? after - before : 0) +
                 sizeof(struct bf_variant) + sizeof(struct bf_ab_decision);
    return bf_job_reason(job, result, BF_REASON_FAILED);
}

/* Builds the form that passed, unless something has come to stand against it while it was checked.
 * A driver that crashes over it here crashes the program: the next run finds that it began. */
static enum bf_reason form_build_marked(struct bf_job *job, const struct bf_folded *form)
{
    struct bf_archive *archive = job->specializer->archive;
    if (is_cancelled(job))
        return BF_REASON_CANCELLED;
    const uint64_t begun = bf_now_ns();
    const VkResult may = bf_archive_begin(archive, job->hash);
    if (may != VK_SUCCESS)
        return may == VK_ERROR_NOT_PERMITTED_KHR ? BF_REASON_CRASHED : BF_REASON_MEMORY;
    enum bf_reason reason = BF_REASON_DRIVER;
    if (!bf_driver_bar_is_up(&job->specializer->bar))
        reason = form_build(job, form);
    bf_archive_end(archive, job->hash);
    job->times.build = bf_now_ns() - begun;
    return reason;
}

static enum bf_reason job_make(struct bf_job *job)
{
    struct bf_folded forms[BF_FORMS] = {0};
    enum bf_reason reason = bf_forms_make(job, forms);
    if (reason == BF_REASON_NONE)
        reason = form_build_marked(job, &forms[job->form]);
    for (uint32_t i = 0; i < BF_FORMS; i++)
        bf_folded_finish(&forms[i]);
    return reason;
}

/* Whether another run with this driver would come to the same rejection. */
static bool is_lasting(const struct bf_job *job, enum bf_reason reason)
{
    switch (reason) {
    case BF_REASON_FAILED: /* a VkResult that is no error says nothing of the code */
        return job->error < VK_SUCCESS;
    case BF_REASON_NO_FOLD:
    case BF_REASON_INVALID:
    case BF_REASON_INEXACT:
    case BF_REASON_SLOWER:
    case BF_REASON_NO_GAIN:
        return true;
    default:
        return false;
    }
}

/* They do that with whatever values: none are tried again. */
static void shaders_reject(struct bf_job *job, enum bf_reason reason)
{
    const struct bf_archive_key key = bf_variant_shaders_key(job->hash);
    const struct bf_verdict verdict = {.code = BF_VERDICT_REJECTED, .reason = (uint16_t)reason};
    bf_archive_put(job->specializer->archive, &key, &verdict);
}

/* verdict_lock is held. [CV-5] */
static void discarded_forget(struct bf_specializer *s)
{
    static const struct bf_verdict nothing = {.code = BF_VERDICT_FORGOTTEN};
    struct bf_measured *next, *discarded = atomic_exchange(&s->discarded, NULL);
    for (; discarded; discarded = next) {
        next = discarded->next;
        bf_archive_put(s->archive, &discarded->key, &nothing);
        free(discarded);
    }
}

static void verdict_store(struct bf_job *job, enum bf_reason reason)
{
    const struct bf_archive_key key = bf_variant_archive_key(job->hash, job->mask, job->values);
    if (reason != BF_REASON_FASTER && !is_lasting(job, reason))
        return;
    const struct bf_verdict verdict = {
        .code = reason == BF_REASON_FASTER ? BF_VERDICT_KEPT : BF_VERDICT_REJECTED,
        .reason = (uint16_t)reason,
        .gain = job->gain,
        .n = job->samples,
    };
    struct bf_specializer *s = job->specializer;
    bf_lock_acquire(&s->verdict_lock);
    discarded_forget(s);
    if (!job->remember_only || job->epoch == atomic_load(&s->submissions.epoch)) /* CV-5 */
        bf_archive_put(s->archive, &key, &verdict);
    bf_lock_release(&s->verdict_lock);
}

static void bar_tell(struct bf_specializer *s)
{
    if (!atomic_exchange(&s->bar_told, true) && bf_driver_bar_has_file(&s->bar))
        bf_message(BF_MESSAGE_WARNING,
                   "specialize: no shader is rebuilt with this driver, of which a check has lost "
                   "its device, until it changes or this file is deleted: %s/%s",
                   s->bar.base, s->bar.name);
}

/* What stands against it by now, by other programs' experience too. */
static enum bf_reason job_barred(const struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    if (bf_driver_bar_is_up(&s->bar)) {
        bar_tell(s);
        return BF_REASON_DRIVER;
    }
    bf_archive_heed(s->archive, job->hash); /* out of memory: as before */
    return bf_variant_barred(s, job->hash);
}

static void job_run(void *context)
{
    struct bf_job *job = context;
    enum bf_reason reason = job->reason;
    if (!job->remember_only)
        reason = job_barred(job);
    if (!job->remember_only && reason == BF_REASON_NONE) {
        reason = job_make(job);
        if (reason == BF_REASON_ENDLESS || reason == BF_REASON_TOO_SLOW)
            shaders_reject(job, reason);
    }
    verdict_store(job, reason);
    job_end(job, reason);
}

/* Verdicts are stored all the same, in another mode or when the device is destroyed: measuring anew
 * would cost the next run time. [CV-6] */
static void job_cancel(void *context)
{
    struct bf_job *job = context;
    struct bf_specializer *s = job->specializer;
    if (!job->remember_only) {
        job_end(job, BF_REASON_CANCELLED);
    } else if (atomic_load(&s->stopping)) {
        job_run(job);
    } else {
        atomic_fetch_sub(&s->outstanding, 1);
        job_push(&s->unstored, job);
    }
}

static void jobs_offer(struct bf_specializer *s, struct bf_job *jobs)
{
    while (jobs) {
        struct bf_job *job = jobs;
        jobs = job->next;
        job->number = atomic_fetch_add(&s->last_number, 1) + 1;
        atomic_fetch_add(&s->outstanding, 1);
        /* When the device is destroyed there is no pool any more. */
        if (atomic_load(&s->stopping) ||
            bf_background_queue(bf_device_gpu(s->info.device)->background, job_run, job_cancel,
                                job) != VK_SUCCESS)
            job_cancel(job);
    }
}

/* An item. Where it is cancelled what is discarded stays so, for the next. */
static void discarded_run(void *context)
{
    struct bf_specializer *s = context;
    bf_lock_acquire(&s->verdict_lock);
    discarded_forget(s);
    bf_lock_release(&s->verdict_lock);
}

static void discarded_offer(struct bf_specializer *s)
{
    if (!atomic_load(&s->discarded))
        return;
    if (atomic_load(&s->stopping))
        discarded_run(s);
    else
        bf_background_queue(bf_device_gpu(s->info.device)->background, discarded_run, NULL, s);
}

/* A mode that came while the pool refused something has found it on its list, or is seen here. */
void bf_jobs_queue(struct bf_specializer *s, struct bf_job *jobs)
{
    const uint64_t mode = atomic_load(&s->modes);
    jobs_offer(s, jobs);
    if (atomic_load(&s->modes) != mode)
        bf_verdicts_queue(s);
}

void bf_verdicts_queue(struct bf_specializer *s)
{
    uint64_t mode;
    do {
        mode = atomic_load(&s->modes);
        discarded_offer(s);
        jobs_offer(s, atomic_exchange(&s->unstored, NULL));
    } while (atomic_load(&s->modes) != mode);
}

void bf_verdicts_discard(struct bf_specializer *s, struct bf_measured *measured)
{
    struct bf_measured *last = measured;
    while (last && last->next)
        last = last->next;
    if (!last)
        return;
    last->next = atomic_load(&s->discarded);
    while (!atomic_compare_exchange_weak(&s->discarded, &last->next, measured))
        continue;
}
