/* SPDX-License-Identifier: MIT */
/* The forms of a variant's module: folding them, having them checked by a helper process, and which
 * of them is taken. [FM-1] */
#include <string.h>

#include "base/clock.h"
#include "base/message.h"
#include "specialize/check_in_helper.h"
#include "specialize/keeping.h"
#include "specialize/pipeline/copy.h"
#include "specialize/variant_state.h"

static enum bf_reason form_fold(struct bf_job *job, enum bf_form form, struct bf_folded *folded)
{
    struct bf_specializer *s = job->specializer;
    const struct bf_shader *shader = bf_pipeline_copy_shader(job->copy);
    VkResult result =
        form == BF_FORM_KEEPING
            ? bf_shader_fold_keeping(shader, &job->watch, job->mask, s->info.kept_floats, folded)
            : bf_shader_fold(shader, &job->watch, job->mask, form == BF_FORM_NO_CONTRACTION,
                             folded);
    if (result == VK_INCOMPLETE)
        return BF_REASON_NO_FOLD;
    if (result != VK_SUCCESS)
        return BF_REASON_MEMORY;
    char why[256];
    result = bf_shader_validate(folded->words, folded->word_count, s->info.api_version, why,
                                sizeof(why));
    if (result == VK_ERROR_INVALID_SHADER_NV) {
        bf_message(BF_MESSAGE_INFO, "specialize: SPIRV-Tools refuses a rebuilt module: %s", why);
        return BF_REASON_INVALID;
    }
    return result == VK_SUCCESS ? BF_REASON_NONE : BF_REASON_MEMORY;
}

enum bf_reason bf_job_reason(struct bf_job *job, VkResult result, enum bf_reason other)
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

/* The reason for the result of bf_isolate_check. */
static enum bf_reason of_helper(VkResult result)
{
    switch (result) {
    case VK_SUCCESS:
        return BF_REASON_NONE;
    case VK_TIMEOUT:
        return BF_REASON_TIMED_OUT;
    case VK_ERROR_UNKNOWN:
        return BF_REASON_CRASHED;
    case VK_NOT_READY:
        return BF_REASON_CANCELLED;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return BF_REASON_MEMORY;
    case VK_ERROR_NOT_PERMITTED_KHR:
        return BF_REASON_DRIVER;
    case VK_ERROR_INITIALIZATION_FAILED:
        return BF_REASON_NO_HELPER;
    default: /* VK_INCOMPLETE among them, which is of this run alone [IS-14] */
        return BF_REASON_UNCHECKABLE;
    }
}

/* The reason for what the helper answered, or didn't. */
static enum bf_reason of_answer(struct bf_job *job, VkResult result,
                                const struct bf_check_answer *answer)
{
    enum bf_reason reason = of_helper(result);
    if (reason != BF_REASON_NONE)
        return reason;
    /* It was the helper's device: the program's is as it was. */
    if (answer->built == VK_ERROR_DEVICE_LOST || answer->checked == VK_ERROR_DEVICE_LOST) {
        job->error = VK_ERROR_DEVICE_LOST;
        return BF_REASON_CRASHED;
    }
    if (answer->hung)
        return BF_REASON_TIMED_OUT;
    reason = bf_job_reason(job, answer->built, BF_REASON_FAILED);
    return reason != BF_REASON_NONE ? reason
                                    : bf_job_reason(job, answer->checked, BF_REASON_UNCHECKABLE);
}

/* What a request is about: its bar is a strike against these shaders. */
struct shaders {
    struct bf_archive *archive;
    const uint8_t *hash;
};

static bool shaders_are_barred(void *context)
{
    const struct shaders *of = context;
    return bf_archive_barred(of->archive, of->hash);
}

static void shaders_strike(void *context)
{
    const struct shaders *of = context;
    bf_archive_strike(of->archive, of->hash);
}

/* Checks a form, and takes it if its every bit agreed. BF_REASON_NONE: job->form. *specials: as of
 * struct bf_check_answer. */
static enum bf_reason form_check(struct bf_job *job, const struct bf_folded forms[BF_FORMS],
                                 enum bf_form form, bool *specials)
{
    struct bf_specializer *s = job->specializer;
    const struct bf_folded *folded = &forms[form];
    struct bf_check_info info = {
        .push = job->push,
        .fixed = fixed_words(job),
        .groups = {job->groups[0], job->groups[1], job->groups[2]},
    };
    struct bf_check_answer answer = {0};
    uint64_t begun = bf_now_ns();
    struct shaders shaders = {s->archive, job->hash};
    const struct bf_isolate_bar bar = {&shaders, shaders_are_barred, shaders_strike};
    VkResult result = bf_check_in_helper(s->isolate, job->copy, 1, &folded, &info, &bar, &answer);
    job->times.check += bf_now_ns() - begun;
    job->times.general = answer.general_ns;
    enum bf_reason reason = of_answer(job, result, &answer);
    bf_specialize_report_helper(s, answer.peak_bytes);
    *specials = answer.specials;
    if (*answer.why)
        bf_message(BF_MESSAGE_INFO, "specialize: pipeline %llu can't be checked: %s",
                   (unsigned long long)job->pipeline, answer.why);
    if (reason == BF_REASON_NONE)
        reason = answer.forms[0].reason;
    if (reason != BF_REASON_NONE)
        return reason;
    job->form = form;
    memcpy(job->reach, answer.reach, sizeof(job->reach));
    job->formats = answer.formats;
    job->times.first_use = answer.forms[0].first_use_ns;
    job->times.variant = answer.forms[0].steady_ns;
    return BF_REASON_NONE;
}

/* What is computed with folded values is NoContraction; where nothing is, or nothing that a
 * compiler could gather, the form is a plain one. */
static enum bf_reason form_fold_least(struct bf_job *job, struct bf_folded forms[BF_FORMS],
                                      enum bf_form *form)
{
    struct bf_folded *folded = &forms[BF_FORM_NO_CONTRACTION];
    const enum bf_reason reason = form_fold(job, BF_FORM_NO_CONTRACTION, folded);
    *form = BF_FORM_NO_CONTRACTION;
    if (reason != BF_REASON_NONE)
        return reason;
    if (folded->cancels)
        return BF_REASON_INEXACT;
    if (!folded->decorated_count) {
        forms[BF_FORM_PLAIN] = *folded;
        *folded = (struct bf_folded){0};
        *form = BF_FORM_PLAIN;
    }
    return BF_REASON_NONE;
}

/* The form that keeps more; 'others': the reason where it can't be had. */
static enum bf_reason keeping_make(struct bf_job *job, struct bf_folded forms[BF_FORMS],
                                   enum bf_reason others)
{
    bool specials;
    enum bf_reason reason = form_fold(job, BF_FORM_KEEPING, &forms[BF_FORM_KEEPING]);
    if (reason == BF_REASON_NO_FOLD)
        return others;
    return reason == BF_REASON_NONE ? form_check(job, forms, BF_FORM_KEEPING, &specials) : reason;
}

/* The question came to nothing, which says nothing of the job's shaders: the reason is none that
 * lasts, nor a strike. */
static enum bf_reason keeping_unanswered(struct bf_job *job, enum bf_reason reason)
{
    switch (reason) {
    case BF_REASON_MEMORY: /* it is asked again */
    case BF_REASON_CANCELLED:
    case BF_REASON_NO_HELPER:
    case BF_REASON_DRIVER:
        return reason;
    default:
        break;
    }
    if (job->error == VK_ERROR_DEVICE_LOST) /* and the driver is barred by now */
        return BF_REASON_DRIVER;
    atomic_store(&job->specializer->keeps, BF_DEVICE_SILENT);
    bf_message(BF_MESSAGE_WARNING,
               "specialize: whether the device keeps signs of zeros, infinities and NaN can't be "
               "found out in this run, which takes it not to: the check of that is '%s'",
               bf_reason_code(reason));
    return BF_REASON_UNCHECKABLE;
}

static enum bf_reason keeping_ask(struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    struct bf_check_answer answer = {0};
    uint8_t hash[32];
    struct shaders shaders = {s->archive, hash};
    const struct bf_isolate_bar bar = {&shaders, shaders_are_barred, shaders_strike};
    bf_keeping_hash(hash);
    VkResult result = bf_archive_load(s->archive, hash); /* it may have a strike of earlier runs */
    if (result == VK_SUCCESS)
        result = bf_keeping_ask(s->isolate, &bar, &answer);
    enum bf_reason reason = of_answer(job, result, &answer);
    if (reason == BF_REASON_NONE)
        reason = answer.forms[0].reason;
    switch (reason) {
    case BF_REASON_NONE:
        atomic_store(&s->keeps, BF_DEVICE_KEEPS);
        return reason;
    case BF_REASON_INEXACT:
        atomic_store(&s->keeps, BF_DEVICE_DROPS);
        bf_message(BF_MESSAGE_INFO, "specialize: the device says that it keeps signs of zeros, "
                                    "infinities and NaN, and a check doesn't show it");
        return reason;
    default:
        return keeping_unanswered(job, reason);
    }
}

/* Whether the shader can rely on the device to keep what it asks it to: BF_REASON_NONE; else the
 * reason that it can't, or that it isn't known. It is asked once, unless that fails. [FM-2] */
static enum bf_reason device_keeps(struct bf_job *job)
{
    struct bf_specializer *s = job->specializer;
    if (!(s->info.kept_floats & BF_FLOAT_32) ||
        (bf_shader_float_widths(bf_pipeline_copy_shader(job->copy)) & ~BF_FLOAT_32))
        return BF_REASON_INEXACT;
    switch (atomic_load(&s->keeps)) {
    case BF_DEVICE_KEEPS:
        return BF_REASON_NONE;
    case BF_DEVICE_DROPS:
        return BF_REASON_INEXACT;
    case BF_DEVICE_SILENT:
        return BF_REASON_UNCHECKABLE;
    default:
        return keeping_ask(job);
    }
}

/* A module that keeps all by itself has no form that keeps more. [FM-1] */
enum bf_reason bf_forms_make(struct bf_job *job, struct bf_folded forms[BF_FORMS])
{
    bool specials = false;
    enum bf_form form;
    enum bf_reason reason = form_fold_least(job, forms, &form);
    if (reason == BF_REASON_NONE)
        reason = form_check(job, forms, form, &specials);
    /* Without specials it isn't for these that it differs: another would agree by luck. */
    const bool more = specials && (reason == BF_REASON_INEXACT || reason == BF_REASON_NONE);
    if (!more)
        return reason;
    if (atomic_load(&job->specializer->stopping)) /* the other may agree */
        return BF_REASON_CANCELLED;
    const enum bf_reason keeps = device_keeps(job);
    return keeps == BF_REASON_NONE ? keeping_make(job, forms, reason) : keeps;
}
