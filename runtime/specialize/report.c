/* SPDX-License-Identifier: MIT */
/* The report of a device's specialiser: which pipelines were watched, which variants were built,
 * kept and rejected, and why; and for each reason how much GPU time that concerns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "specialize/isolate/isolate.h"
#include "specialize/variant_state.h"

/* How many variants are listed one by one; of more only the totals are printed. */
#define LISTED 1024

static const char *const form_names[BF_FORMS] = {"plain", "no-contraction", "keeping"};

struct line {
    char name[64];
    enum bf_variant_state state;
    enum bf_reason reason;
    VkResult error;
    enum bf_form form;
    bool remembered;
    uint8_t mask;
    uint64_t uses, picked;
    double general_ns, variant_ns; /* by the A/B decision; 0: it has none */
    struct bf_variant_times times;
};

struct bf_specialize_report {
    uint64_t pipelines, watched, excluded[BF_REASON_COUNT];
    uint64_t built, kept, unjudged, rejected[BF_REASON_COUNT];
    uint64_t background_ns;
    double saved_ns;
    uint32_t count;
    struct line lines[LISTED];
};

/* In which group its time counts. */
static void report_put(struct bf_specializer *s, uint64_t pipeline, enum bf_time_group group,
                       enum bf_reason reason)
{
    if (s->recorder.times)
        bf_pipeline_times_put(s->recorder.times, pipeline, group, reason);
}

void bf_specialize_report_excluded(struct bf_specializer *s, uint64_t pipeline,
                                   enum bf_reason reason)
{
    if (!s->report)
        return;
    s->report->pipelines++;
    s->report->excluded[reason]++;
    report_put(s, pipeline, BF_TIME_EXCLUDED, reason);
}

void bf_specialize_report_analysed(struct bf_specializer *s, uint64_t pipeline, bool lives,
                                   uint64_t ns)
{
    if (!s->report)
        return;
    s->report->background_ns += ns;
    if (!lives)
        bf_specialize_report_excluded(s, pipeline, BF_REASON_GONE);
}

static void report_name_of(const struct bf_variant_states *states, char name[64])
{
    if (*states->pipeline->name) {
        snprintf(name, 64, "%s", states->pipeline->name);
        for (char *c = name; *c; c++) {
            if (*c <= ' ' || *c == 127)
                *c = '_'; /* the name is to be one word on one line */
        }
        return;
    }
    for (int i = 0; i < 8; i++)
        snprintf(name + 2 * i, 64 - 2 * (size_t)i, "%02x", states->pipeline->hash[i]);
}

static const enum bf_time_group time_groups[] = {
    [BF_VARIANT_STATE_QUEUED] = BF_TIME_UNJUDGED,
    [BF_VARIANT_STATE_TIMED] = BF_TIME_UNJUDGED,
    [BF_VARIANT_STATE_KEPT] = BF_TIME_KEPT,
    [BF_VARIANT_STATE_REJECTED] = BF_TIME_REJECTED,
};

void bf_specialize_report_add(struct bf_specializer *s, const struct bf_variant_states *states)
{
    struct bf_specialize_report *r = s->report;
    if (!r)
        return;
    r->pipelines++;
    r->watched++;
    if (states->count == 0)
        report_put(s, states->pipeline->id, BF_TIME_PLAIN, BF_REASON_NONE);
    for (uint32_t i = 0; i < states->count; i++) {
        const struct bf_candidate *c = &states->candidates[i];
        /* A pinned pipeline's variants were withdrawn without a change of state. */
        bool pinned = c->variant && atomic_load(&states->pipeline->pinned);
        enum bf_variant_state state = pinned ? BF_VARIANT_STATE_REJECTED : c->state;
        enum bf_reason reason = pinned ? BF_REASON_PINNED : c->reason;
        uint64_t picked = c->variant ? atomic_load(&c->variant->picked) : 0;
        double general = c->decision ? bf_ab_decision_mean(c->decision, BF_AB_GENERAL) : 0;
        double variant = c->decision ? bf_ab_decision_mean(c->decision, BF_AB_VARIANT) : 0;
        r->built += c->times.check != 0;
        r->background_ns += c->times.build + c->times.check;
        if (state == BF_VARIANT_STATE_REJECTED)
            r->rejected[reason]++;
        else if (state == BF_VARIANT_STATE_KEPT)
            r->kept++;
        else
            r->unjudged++;
        report_put(s, states->pipeline->id, time_groups[state],
                   state == BF_VARIANT_STATE_REJECTED ? reason : BF_REASON_NONE);
        if (state == BF_VARIANT_STATE_KEPT && general > 0 && variant > 0)
            r->saved_ns += (double)picked * (general - variant);
        if (r->count == LISTED)
            continue;
        struct line *line = &r->lines[r->count++];
        *line = (struct line){
            .state = state,
            .reason = reason,
            .error = c->error,
            .form = c->form,
            .remembered = c->remembered,
            .mask = c->mask,
            .uses = c->uses,
            .picked = picked,
            .general_ns = general,
            .variant_ns = variant,
            .times = c->times,
        };
        report_name_of(states, line->name);
    }
}

void bf_specialize_report_memory(struct bf_specializer *s)
{
    uint64_t own = atomic_load(&s->pipelines.budget.own);
    uint64_t variants = atomic_load(&s->pipelines.budget.variants);
    s->most_own = own > s->most_own ? own : s->most_own;
    s->most_variants = variants > s->most_variants ? variants : s->most_variants;
}

void bf_specialize_report_helper(struct bf_specializer *s, uint64_t bytes)
{
    uint64_t most = atomic_load(&s->most_helper);
    while (bytes > most && !atomic_compare_exchange_weak(&s->most_helper, &most, bytes))
        ;
}

static const char *state_name(enum bf_variant_state state)
{
    static const char *const names[] = {
        [BF_VARIANT_STATE_QUEUED] = "queued",
        [BF_VARIANT_STATE_TIMED] = "unjudged",
        [BF_VARIANT_STATE_KEPT] = "kept",
        [BF_VARIANT_STATE_REJECTED] = "rejected",
    };
    return names[state];
}

/* Without memory for the pipelines' times none is known. */
static struct bf_time_sum time_sum(struct bf_specializer *s, enum bf_time_group group,
                                   enum bf_reason reason)
{
    return s->recorder.times ? bf_pipeline_times_sum(s->recorder.times, group, reason)
                             : (struct bf_time_sum){.used = 1};
}

/* The end of a line: what of the GPU's time these pipelines took, as far as samples tell. */
static void print_time(FILE *out, const struct bf_time_sum *sum)
{
    if (sum->used == 0)
        fprintf(out, ", no use counted\n");
    else if (sum->timed == 0)
        fprintf(out, ", GPU time not known\n");
    else {
        const double ms = sum->ns / 1e6, percent = 100 * sum->share;
        fprintf(out, ", about %.*f ms of GPU time, %.*f %%", ms < 10 ? 3 : 1, ms,
                percent < 10 ? 2 : 0, percent);
        if (sum->timed < sum->used)
            fprintf(out, ", and not known of %" PRIu64, sum->used - sum->timed);
        fprintf(out, "\n");
    }
}

static void print_reason(struct bf_specializer *s, FILE *out, uint64_t count, const char *what,
                         enum bf_time_group group, enum bf_reason reason)
{
    if (!count)
        return;
    fprintf(out, "belfry: specialize: %" PRIu64 " %s: %s (%s)", count, what, bf_reason_code(reason),
            bf_reason_text(reason));
    const struct bf_time_sum sum = time_sum(s, group, reason);
    if (group != BF_TIME_EXCLUDED)
        fprintf(out, ", of %" PRIu64 " pipelines", sum.pipelines);
    print_time(out, &sum);
}

/* A group without reasons. 'count' is of variants; 0: of its pipelines alone. */
static void print_group(struct bf_specializer *s, FILE *out, uint64_t count, const char *what,
                        enum bf_time_group group)
{
    const struct bf_time_sum sum = time_sum(s, group, BF_REASON_NONE);
    if (!count && !sum.pipelines)
        return;
    fprintf(out, "belfry: specialize: %" PRIu64 " %s", count ? count : sum.pipelines, what);
    if (count)
        fprintf(out, ": of %" PRIu64 " pipelines", sum.pipelines);
    print_time(out, &sum);
}

void bf_specialize_report_print(struct bf_specializer *s, FILE *out)
{
    const struct bf_specialize_report *r = s->report;
    if (!r)
        return;
    fprintf(out,
            "belfry: specialize: %" PRIu64 " pipelines, %" PRIu64 " of them watched; %" PRIu64
            " variants built, %" PRIu64 " kept; GPU time saved %.3f ms, CPU time spent %.3f ms\n",
            r->pipelines, r->watched, r->built, r->kept, r->saved_ns / 1e6,
            (double)r->background_ns / 1e6);
    if (s->most_own)
        fprintf(out,
                "belfry: specialize: variants took %" PRIu64 " KiB at most, what they are built "
                "from %" PRIu64 ", of %" PRIu64 " each\n",
                s->most_variants >> 10, s->most_own >> 10, s->info.memory >> 11);
    if (s->most_helper)
        fprintf(out, "belfry: specialize: the helper process took %" PRIu64 " KiB at most\n",
                s->most_helper >> 10);
    for (uint32_t i = 1; i < BF_REASON_COUNT; i++)
        print_reason(s, out, r->excluded[i], "pipelines not watched", BF_TIME_EXCLUDED, i);
    for (uint32_t i = 1; i < BF_REASON_COUNT; i++)
        print_reason(s, out, r->rejected[i], "variants rejected", BF_TIME_REJECTED, i);
    char why[BF_ISOLATE_LACK];
    if (r->rejected[BF_REASON_NO_HELPER] && bf_isolate_lack(s->isolate, why))
        fprintf(out, "belfry: specialize: the build helper %s\n", why);
    if (r->rejected[BF_REASON_DRIVER] && bf_driver_bar_has_file(&s->bar))
        fprintf(out,
                "belfry: specialize: for shaders to be rebuilt with this driver again: delete "
                "%s/%s\n",
                s->bar.base, s->bar.name);
    print_group(s, out, r->unjudged, "variants unjudged", BF_TIME_UNJUDGED);
    print_group(s, out, r->kept, "variants kept", BF_TIME_KEPT);
    print_group(s, out, 0, "pipelines watched in vain: no values were used often enough",
                BF_TIME_PLAIN);
    for (uint32_t i = 0; i < r->count; i++) {
        const struct line *l = &r->lines[i];
        char error[24] = "";
        if (l->error != VK_SUCCESS)
            snprintf(error, sizeof(error), " error=%d", l->error);
        fprintf(out,
                "belfry: specialize: %s %s %s general=%.0f variant=%.0f build=%" PRIu64
                " check=%" PRIu64 " first=%" PRIu64 " mask=%02x uses=%" PRIu64 " picked=%" PRIu64
                " form=%s%s%s\n",
                l->name, state_name(l->state), bf_reason_code(l->reason),
                l->general_ns > 0 ? l->general_ns : (double)l->times.general,
                l->variant_ns > 0 ? l->variant_ns : (double)l->times.variant, l->times.build,
                l->times.check, l->times.first_use, l->mask, l->uses, l->picked,
                form_names[l->form], l->remembered ? " remembered" : "", error);
    }
}

void bf_specialize_report_create(struct bf_specializer *s)
{
    if (!s->info.report)
        return;
    s->report = calloc(1, sizeof(*s->report));
    s->recorder.times = s->report ? bf_pipeline_times_create() : NULL;
}

void bf_specialize_report_free(struct bf_specializer *s)
{
    bf_pipeline_times_free(s->recorder.times);
    s->recorder.times = NULL;
    free(s->report);
    s->report = NULL;
}
