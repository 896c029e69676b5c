/* SPDX-License-Identifier: MIT */
/* GPU time of pipelines, for the report: what recordings used and timed, and what that makes of the
 * uses of all that have finished. */
#include "specialize/pipeline_time.h"

#include <stdlib.h>

#include "base/map.h"

/* How far back uses of the same pipeline are looked for, to be counted together. */
#define LOOKS_BACK 16

_Static_assert(BF_REASON_COUNT <= 64, "a bit for each reason");

/* A recording's account ------------------------------------------------------------------------ */

struct bf_time_account *bf_time_account_create(void)
{
    struct bf_time_account *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->own.most = BF_AB_SAMPLES;
    a->sample = BF_AB_NONE;
    return a;
}

void bf_time_account_free(struct bf_time_account *a)
{
    if (a)
        free(a->uses);
    free(a);
}

void bf_time_account_reset(struct bf_time_account *a, struct bf_ab_timer *timer)
{
    if (timer)
        bf_ab_timing_reset(timer, &a->own);
    a->sample = BF_AB_NONE;
    a->parts_before = a->parts;
    a->parts = 0;
    a->count = 0;
}

void bf_time_account_begin(struct bf_time_account *a, struct bf_ab_timer *timer,
                           const struct bf_ab_timing *ab, VkCommandBuffer commands, uint64_t lot,
                           bool may)
{
    uint32_t first = 0;
    if (a->parts_before > a->own.most)
        first = (uint32_t)(lot % (a->parts_before - a->own.most + 1));
    const bool turn = a->parts++ >= first;
    if (ab && ab->open) {
        a->sample = BF_TIME_OF_AB | (ab->count - 1);
        return;
    }
    a->sample = BF_AB_NONE;
    if (!may || !turn)
        return;
    bf_ab_timing_begin(timer, &a->own, commands, &(struct bf_ab_use){.candidate = BF_AB_NONE});
    if (a->own.open)
        a->sample = a->own.count - 1;
}

void bf_time_account_end(struct bf_time_account *a, struct bf_ab_timer *timer,
                         VkCommandBuffer commands)
{
    bf_ab_timing_end(timer, &a->own, commands);
    a->sample = BF_AB_NONE;
}

void bf_time_account_use(struct bf_time_account *a, uint64_t pipeline, uint64_t uses)
{
    for (uint32_t i = a->count; i > 0 && a->count - i < LOOKS_BACK; i--) {
        struct bf_time_use *use = &a->uses[i - 1];
        if (use->pipeline == pipeline && use->sample == a->sample) {
            use->uses += uses;
            return;
        }
    }
    if (a->count == a->capacity) {
        uint32_t room = a->capacity ? 2 * a->capacity : 32;
        struct bf_time_use *list = realloc(a->uses, room * sizeof(*list));
        if (!list)
            return;
        a->uses = list;
        a->capacity = room;
    }
    a->uses[a->count++] = (struct bf_time_use){pipeline, uses, a->sample};
}

void bf_time_account_append(struct bf_time_account *a, const struct bf_time_account *executed)
{
    for (uint32_t i = 0; i < executed->count; i++)
        bf_time_account_use(a, executed->uses[i].pipeline, executed->uses[i].uses);
}

/* The pipelines -------------------------------------------------------------------------------- */

struct pipeline_time {
    struct pipeline_time *next;
    uint64_t uses;
    double timed_uses, timed_ns;
    double first_uses, first_ns;      /* of the first sample (GT-3) */
    uint64_t reasons[BF_TIME_GROUPS]; /* a bit for each */
};

struct bf_pipeline_times {
    struct bf_lock lock; /* leaf lock, over what follows */
    struct bf_map by_id; /* of struct pipeline_time; it lives as long as the device */
    struct pipeline_time *all;
    struct pipeline_time unknown; /* pipelines without a record */
};

struct bf_pipeline_times *bf_pipeline_times_create(void)
{
    return calloc(1, sizeof(struct bf_pipeline_times));
}

void bf_pipeline_times_free(struct bf_pipeline_times *t)
{
    if (!t)
        return;
    bf_map_finish(&t->by_id, NULL, NULL);
    while (t->all) {
        struct pipeline_time *next = t->all->next;
        free(t->all);
        t->all = next;
    }
    free(t);
}

/* NULL: out of memory. The lock is held. */
static struct pipeline_time *pipeline_time_of(struct bf_pipeline_times *t, uint64_t pipeline)
{
    if (!pipeline)
        return &t->unknown;
    struct pipeline_time *p = bf_map_find(&t->by_id, pipeline);
    if (p)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p || !bf_map_insert(&t->by_id, pipeline, p)) {
        free(p);
        return NULL;
    }
    p->next = t->all;
    return t->all = p;
}

void bf_pipeline_times_count(struct bf_pipeline_times *t, const struct bf_time_account *a)
{
    bf_lock_acquire(&t->lock);
    for (uint32_t i = 0; i < a->count; i++) {
        struct pipeline_time *p = pipeline_time_of(t, a->uses[i].pipeline);
        if (p)
            p->uses += a->uses[i].uses;
    }
    bf_lock_release(&t->lock);
}

/* Shares a sample's time among the uses that it contains, from the first one on. Where it is the
 * first sample of some pipelines it is for them alone. */
static void share_out(struct bf_pipeline_times *t, const struct bf_time_account *a, uint32_t first,
                      double ns)
{
    const uint32_t sample = a->uses[first].sample;
    double uses = 0;
    bool any_first = false;
    for (uint32_t i = first; i < a->count; i++) {
        if (a->uses[i].sample != sample)
            continue;
        const struct pipeline_time *p = pipeline_time_of(t, a->uses[i].pipeline);
        uses += (double)a->uses[i].uses;
        any_first |= p && p->first_uses == 0;
    }
    for (uint32_t i = first; i < a->count; i++) {
        struct pipeline_time *p =
            a->uses[i].sample == sample ? pipeline_time_of(t, a->uses[i].pipeline) : NULL;
        if (!p)
            continue;
        const double share = (double)a->uses[i].uses;
        if (!any_first) {
            p->timed_uses += share;
            p->timed_ns += ns * share / uses;
        } else if (p->first_uses == 0) {
            p->first_uses = share;
            p->first_ns = ns * share / uses;
        }
    }
}

void bf_pipeline_times_read(struct bf_pipeline_times *t, struct bf_ab_timer *timer,
                            const struct bf_time_account *a, const struct bf_ab_timing *ab)
{
    uint32_t last = BF_AB_NONE;
    bf_lock_acquire(&t->lock);
    for (uint32_t i = 0; i < a->count; i++) {
        const uint32_t sample = a->uses[i].sample;
        const struct bf_ab_timing *from = sample & BF_TIME_OF_AB ? ab : &a->own;
        double ns;
        /* uses of a sample are next to each other */
        if (sample == BF_AB_NONE || sample == last || !from)
            continue;
        last = sample;
        if (bf_ab_timing_ns(timer, from, sample & ~BF_TIME_OF_AB, &ns) && ns >= 0)
            share_out(t, a, i, ns);
    }
    bf_lock_release(&t->lock);
}

void bf_pipeline_times_put(struct bf_pipeline_times *t, uint64_t pipeline, enum bf_time_group group,
                           enum bf_reason reason)
{
    bf_lock_acquire(&t->lock);
    struct pipeline_time *p = pipeline ? pipeline_time_of(t, pipeline) : NULL;
    if (p)
        p->reasons[group] |= UINT64_C(1) << reason;
    bf_lock_release(&t->lock);
}

/* Of all its uses. False: it isn't known. */
static bool estimate(const struct pipeline_time *p, double *ns)
{
    *ns = 0;
    if (p->timed_uses > 0)
        *ns = p->timed_ns / p->timed_uses * (double)p->uses;
    else if (p->first_uses > 0)
        *ns = p->first_ns / p->first_uses * (double)p->uses;
    return p->uses && (p->timed_uses > 0 || p->first_uses > 0);
}

struct bf_time_sum bf_pipeline_times_sum(struct bf_pipeline_times *t, enum bf_time_group group,
                                         enum bf_reason reason)
{
    struct bf_time_sum sum = {0};
    double ns, all;
    bf_lock_acquire(&t->lock);
    estimate(&t->unknown, &all);
    for (const struct pipeline_time *p = t->all; p; p = p->next) {
        const bool known = estimate(p, &ns);
        all += ns;
        if (!(p->reasons[group] >> reason & 1))
            continue;
        sum.pipelines++;
        sum.used += p->uses > 0;
        sum.timed += known;
        sum.ns += ns;
    }
    bf_lock_release(&t->lock);
    sum.share = all > 0 ? sum.ns / all : 0;
    return sum;
}
