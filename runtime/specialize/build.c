/* SPDX-License-Identifier: MIT */
/* The background item that makes a variant: folds the shader, validates it, has a helper process
 * build its forms and check them against the general pipeline, builds the one that passed, and stores
 * verdicts. */
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "base/clock.h"
#include "base/message.h"
#include "specialize/check_in_helper.h"
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

/* CV-2: from here on the job belongs to whoever collects it. */
static void job_end(struct bf_job *job, enum bf_reason reason)
{
    struct bf_specializer *s = job->specializer;
    job->reason = reason;
    job->next = atomic_load(&s->done);
    while (!atomic_compare_exchange_weak(&s->done, &job->next, job))
        ;
}

/* One of the two forms that a variant may have: plain, or with NoContraction. */
struct form {
    struct bf_folded folded;
    VkPipeline handle;
    uint64_t bytes;
};

static void form_finish(struct bf_specializer *s, struct form *form)
{
    bf_folded_finish(&form->folded);
    if (form->handle)
        s->pipelines.vk->vkDestroyPipeline(s->pipelines.device, form->handle, NULL);
}

static enum bf_reason form_fold(struct bf_job *job, struct form *form, bool no_contraction)
{
    struct bf_specializer *s = job->specializer;
    const struct bf_shader *shader = bf_pipeline_copy_shader(job->copy);
    VkResult result = bf_shader_fold(shader, &job->watch, job->mask, no_contraction, &form->folded);
    if (result == VK_INCOMPLETE)
        return BF_REASON_NO_FOLD;
    if (result != VK_SUCCESS)
        return BF_REASON_MEMORY;
    char why[256];
    result = bf_shader_validate(form->folded.words, form->folded.word_count, s->info.api_version,
                                why, sizeof(why));
    if (result == VK_ERROR_INVALID_SHADER_NV) {
        bf_message(BF_MESSAGE_INFO, "specialize: SPIRV-Tools refuses a rebuilt module: %s", why);
        return BF_REASON_INVALID;
    }
    return result == VK_SUCCESS ? BF_REASON_NONE : BF_REASON_MEMORY;
}

/* The reason for what the driver answered, which the report tells too. 'other' is the reason for
 * errors that concern neither memory nor the device. */
static enum bf_reason of_result(struct bf_job *job, VkResult result, enum bf_reason other)
{
    job->error = result;
    switch (result) {
    case VK_SUCCESS:
        return BF_REASON_NONE;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_MEMORY_MAP_FAILED:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTATION:
        return BF_REASON_MEMORY;
    case VK_ERROR_DEVICE_LOST:
        return BF_REASON_LOST;
    default:
        return other;
    }
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
static uint64_t least_bytes(const struct bf_job *job, const struct form *form, uint64_t stored)
{
    const struct bf_pipeline_copy *copy = job->copy;
    uint64_t code = form->folded.word_count * sizeof(uint32_t);
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        if (i != copy->specialised)
            code += copy->stages[i]->code->word_count * sizeof(uint32_t);
    }
    return stored > code ? stored : code;
}

/* The build has a pipeline cache of its own, whose growth tells the form's size. A driver may
 * refuse to make one. */
static enum bf_reason form_build(struct bf_job *job, struct form *form)
{
    const struct bf_pipelines *ps = &job->specializer->pipelines;
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
    };
    VkPipelineCache cache;
    if (ps->vk->vkCreatePipelineCache(ps->device, &info, NULL, &cache) != VK_SUCCESS)
        cache = VK_NULL_HANDLE;
    uint64_t before = cache_bytes(ps, cache);
    VkResult result =
        bf_pipeline_copy_build(job->copy, &form->folded, job->push, cache, &form->handle);
    uint64_t after = cache_bytes(ps, cache);
    ps->vk->vkDestroyPipelineCache(ps->device, cache, NULL);
    form->bytes = least_bytes(job, form, after > before ? after - before : 0);
    return of_result(job, result, BF_REASON_FAILED);
}

/* Bit i: word i of the push constants is a constant in the forms. */
static uint64_t fixed_words(const struct bf_job *job)
{
    uint64_t fixed = 0;
    for (uint32_t i = 0; i < job->watch.count; i++) {
        if (job->mask & 1u << i)
            fixed |= UINT64_C(1) << job->watch.offset[i] / 4;
    }
    return fixed;
}

/* The reason for what the helper answered, or didn't. */
static enum bf_reason of_answer(struct bf_job *job, VkResult result,
                                const struct bf_check_answer *answer)
{
    switch (result) {
    case VK_SUCCESS:
        break;
    case VK_TIMEOUT:
        return BF_REASON_TIMED_OUT;
    case VK_ERROR_UNKNOWN:
        return BF_REASON_CRASHED;
    case VK_NOT_READY:
        return BF_REASON_CANCELLED;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return BF_REASON_MEMORY;
    default:
        return bf_isolate_serves(job->specializer->isolate) ? BF_REASON_UNCHECKABLE
                                                            : BF_REASON_NO_HELPER;
    }
    /* It was the helper's device: the program's is as it was. */
    if (answer->built == VK_ERROR_DEVICE_LOST || answer->checked == VK_ERROR_DEVICE_LOST) {
        job->error = VK_ERROR_DEVICE_LOST;
        return BF_REASON_CRASHED;
    }
    if (answer->hung)
        return BF_REASON_TIMED_OUT;
    enum bf_reason reason = of_result(job, answer->built, BF_REASON_FAILED);
    return reason != BF_REASON_NONE ? reason
                                    : of_result(job, answer->checked, BF_REASON_UNCHECKABLE);
}

/* Takes the form whose every bit agreed, or the plain one if both did. BF_REASON_NONE: *chosen. */
static enum bf_reason forms_check(struct bf_job *job, const struct form forms[BF_CHECK_FORMS],
                                  uint32_t *chosen)
{
    struct bf_specializer *s = job->specializer;
    const struct bf_folded *folded[BF_CHECK_FORMS] = {&forms[0].folded, &forms[1].folded};
    struct bf_check_info info = {
        .push = job->push,
        .fixed = fixed_words(job),
        .groups = {job->groups[0], job->groups[1], job->groups[2]},
    };
    struct bf_check_answer answer = {0};
    uint64_t begun = bf_now_ns();
    VkResult result =
        bf_check_in_helper(s->isolate, job->copy, BF_CHECK_FORMS, folded, &info, &answer);
    job->times.check = bf_now_ns() - begun;
    job->times.general = answer.general_ns;
    enum bf_reason reason = of_answer(job, result, &answer);
    bf_specialize_report_helper(s, answer.peak_bytes);
    if (reason != BF_REASON_NONE)
        return reason;
    if (*answer.why)
        bf_message(BF_MESSAGE_INFO, "specialize: pipeline %llu can't be checked: %s",
                   (unsigned long long)job->pipeline, answer.why);
    for (uint32_t i = 0; i < BF_CHECK_FORMS; i++) {
        if (answer.forms[i].reason != BF_REASON_NONE)
            continue;
        job->no_contraction = i == 1;
        job->times.first_use = answer.forms[i].first_use_ns;
        job->times.variant = answer.forms[i].steady_ns;
        *chosen = i;
        return BF_REASON_NONE;
    }
    return answer.forms[0].reason;
}

static enum bf_reason job_make(struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    struct form forms[BF_CHECK_FORMS] = {0};
    uint32_t chosen = 0;
    enum bf_reason reason = BF_REASON_NONE;
    for (uint32_t i = 0; i < BF_CHECK_FORMS && reason == BF_REASON_NONE; i++)
        reason = form_fold(job, &forms[i], i == 1);
    if (reason == BF_REASON_NONE)
        reason = forms_check(job, forms, &chosen);
    if (reason == BF_REASON_NONE && is_cancelled(job))
        reason = BF_REASON_CANCELLED;
    if (reason == BF_REASON_NONE) {
        /* A driver that crashes over it here crashes the program: the next run finds that it began. */
        const struct bf_archive_key bar = bf_variant_bar_key(job->hash);
        uint64_t begun = bf_now_ns();
        bf_archive_begin(s->archive, &bar);
        reason = form_build(job, &forms[chosen]);
        bf_archive_end(s->archive, &bar);
        job->times.build = bf_now_ns() - begun;
    }
    if (reason == BF_REASON_NONE) {
        job->handle = forms[chosen].handle;
        job->bytes =
            forms[chosen].bytes + sizeof(struct bf_variant) + sizeof(struct bf_ab_decision);
        forms[chosen].handle = VK_NULL_HANDLE;
    }
    form_finish(s, &forms[0]);
    form_finish(s, &forms[1]);
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

/* The shaders, or the driver, are left alone from now on, by every program. */
static void misbehaviour_store(struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    const struct bf_archive_key pipeline = bf_variant_bar_key(job->hash);
    const struct bf_archive_key driver = bf_variant_driver_bar_key();
    bf_archive_strike(s->archive, &pipeline);
    if (job->error != VK_ERROR_DEVICE_LOST)
        return;
    bf_archive_strike(s->archive, &driver);
    bf_message(BF_MESSAGE_WARNING,
               "specialize: a check has lost its device: no shader is rebuilt with this driver any "
               "more, until it changes%s%s",
               s->archive_folder ? ", or this is deleted: " : "",
               s->archive_folder ? s->archive_folder : "");
}

/* They do that with whatever values: none are tried again. */
static void shaders_reject(struct bf_job *job, enum bf_reason reason)
{
    const struct bf_archive_key key = bf_variant_bar_key(job->hash);
    const struct bf_verdict verdict = {.code = BF_VERDICT_REJECTED, .reason = (uint16_t)reason};
    bf_archive_put(job->specializer->archive, &key, &verdict);
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
    if (!job->remember_only || job->epoch == atomic_load(&s->submissions.epoch)) /* CV-5 */
        bf_archive_put(s->archive, &key, &verdict);
    bf_lock_release(&s->verdict_lock);
}

static void job_run(void *context)
{
    struct bf_job *job = context;
    enum bf_reason reason = job->reason;
    if (!job->remember_only)
        reason = bf_variant_barred(job->specializer, job->hash);
    if (!job->remember_only && reason == BF_REASON_NONE) {
        reason = job_make(job);
        if (reason == BF_REASON_CRASHED || reason == BF_REASON_TIMED_OUT)
            misbehaviour_store(job);
        if (reason == BF_REASON_ENDLESS || reason == BF_REASON_TOO_SLOW)
            shaders_reject(job, reason);
    }
    verdict_store(job, reason);
    job_end(job, reason);
}

/* When the device is destroyed verdicts are stored all the same: measuring anew would cost the
 * next run time. */
static void job_cancel(void *context)
{
    struct bf_job *job = context;
    if (job->remember_only && atomic_load(&job->specializer->stopping))
        job_run(job);
    else
        job_end(job, BF_REASON_CANCELLED);
}

void bf_jobs_queue(struct bf_specializer *s, struct bf_job *jobs)
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

/* An item, and its cancellation: it is done all the same. */
static void measured_forget(void *context)
{
    static const struct bf_verdict nothing = {.code = BF_VERDICT_FORGOTTEN};
    struct bf_measured *measured = context;
    while (measured) {
        struct bf_measured *next = measured->next;
        struct bf_specializer *s = measured->specializer;
        bf_lock_acquire(&s->verdict_lock);
        bf_archive_put(s->archive, &measured->key, &nothing);
        bf_lock_release(&s->verdict_lock);
        free(measured);
        measured = next;
    }
}

void bf_verdicts_forget(struct bf_specializer *s, struct bf_measured *measured)
{
    if (measured && bf_background_queue(bf_device_gpu(s->info.device)->background, measured_forget,
                                        measured_forget, measured) != VK_SUCCESS)
        measured_forget(measured);
}
