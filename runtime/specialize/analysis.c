/* SPDX-License-Identifier: MIT */
/* Analysing the shaders of the program's pipelines on the pool: one item goes through all that wait
 * for it. What it finds is given to the pipelines' records on a program's thread, as builds are
 * (CV-2). */
#include <stdlib.h>

#include "device/device.h"
#include "base/clock.h"
#include "specialize/variant_state.h"

/* Waking the pool may cost more than all else that the creation of a pipeline does here: it is
 * woken for so many, or when a command buffer is begun. */
#define GATHERED 16

struct bf_analysis {
    struct bf_analysis *next;
    struct bf_pipeline_copy *copy; /* a reference is held */
    struct bf_pipeline_analysis result;
    uint64_t ns;
};

static void analysis_push(_Atomic(struct bf_analysis *) *list, struct bf_analysis *analysis)
{
    analysis->next = atomic_load(list);
    while (!atomic_compare_exchange_weak(list, &analysis->next, analysis))
        continue;
}

/* The whole list, the earliest first. */
static struct bf_analysis *analysis_take_all(_Atomic(struct bf_analysis *) *list)
{
    struct bf_analysis *first = NULL;
    for (struct bf_analysis *a = atomic_exchange(list, NULL), *next; a; a = next) {
        next = a->next;
        a->next = first;
        first = a;
    }
    return first;
}

static void analysis_free(struct bf_analysis *analysis)
{
    bf_pipeline_copy_release(analysis->copy);
    free(analysis);
}

static void analysis_run(void *context)
{
    struct bf_specializer *s = context;
    do {
        struct bf_analysis *next, *list = analysis_take_all(&s->unanalysed);
        for (struct bf_analysis *a = list; a; a = next) {
            uint64_t begun = bf_now_ns();
            next = a->next;
            if (atomic_load(&s->stopping))
                a->result.reason = BF_REASON_CANCELLED;
            else
                bf_pipeline_copy_analyse(a->copy, &a->result);
            if (a->result.reason == BF_REASON_NONE &&
                (!bf_specializer_remembers(s) ||
                 bf_archive_load(s->archive, a->result.hash) != VK_SUCCESS))
                a->result.reason = BF_REASON_MEMORY;
            a->ns = bf_now_ns() - begun;
            analysis_push(&s->analysed, a);
        }
        atomic_store(&s->analysing, false);
        /* Whoever has added one since then, and seen that an item is there, counts on this one. */
    } while (atomic_load(&s->unanalysed) && !atomic_exchange(&s->analysing, true));
}

/* Background work is over, or isn't allowed: what waits is taken up in another mode. */
static void analysis_cancel(void *context)
{
    struct bf_specializer *s = context;
    atomic_store(&s->analysis_barred, s->analysed_in);
    atomic_store(&s->analysing, false);
}

void bf_analysis_queue(struct bf_specializer *s)
{
    const uint64_t mode = atomic_load(&s->modes);
    /* When the device is destroyed there is no pool any more. */
    if (!atomic_load(&s->unanalysed) || atomic_load(&s->stopping) ||
        atomic_load(&s->analysis_barred) == mode || atomic_exchange(&s->analysing, true))
        return;
    s->analysed_in = mode;
    if (bf_background_queue(bf_device_gpu(s->info.device)->background, analysis_run,
                            analysis_cancel, s) != VK_SUCCESS)
        atomic_store(&s->analysing, false);
}

void bf_analysis_add(void *specializer, struct bf_pipeline_copy *copy)
{
    struct bf_specializer *s = specializer;
    struct bf_analysis *analysis = calloc(1, sizeof(*analysis));
    if (!analysis) {
        const struct bf_pipeline_analysis none = {.reason = BF_REASON_MEMORY};
        bf_pipeline_copy_settle(copy, &none);
        bf_pipeline_copy_release(copy);
        return;
    }
    analysis->copy = copy;
    analysis_push(&s->unanalysed, analysis);
    if (atomic_fetch_add(&s->gathered, 1) % GATHERED == GATHERED - 1)
        bf_analysis_queue(s);
}

void bf_analysis_collect(struct bf_specializer *s)
{
    struct bf_analysis *next;
    if (!atomic_load_explicit(&s->analysed, memory_order_acquire))
        return;
    for (struct bf_analysis *a = analysis_take_all(&s->analysed); a; a = next) {
        next = a->next;
        bool lives = bf_pipeline_copy_settle(a->copy, &a->result);
        bf_lock_acquire(&s->lock);
        bf_specialize_report_analysed(s, a->copy->record, lives, a->ns);
        bf_lock_release(&s->lock);
        analysis_free(a);
    }
}

void bf_analysis_finish(struct bf_specializer *s)
{
    struct bf_analysis *next;
    for (struct bf_analysis *a = analysis_take_all(&s->unanalysed); a; a = next) {
        next = a->next;
        a->result.reason = BF_REASON_CANCELLED;
        analysis_push(&s->analysed, a);
    }
    bf_analysis_collect(s);
}
