/* SPDX-License-Identifier: MIT */
/* Which submissions have finished, from what the program sees of its fences, semaphores, queues
 * and command buffers, and the counting of their uses. */
#include "specialize/submission.h"

#include <stdlib.h>

#include "background/background.h"
#include "specialize/recording.h"
#include "specialize/ab_timing.h"
#include "specialize/pipeline_time.h"

/* A batch, or a part of one that has more command buffers than fit. Parts are listed in the
 * order in which they were submitted, as far as they go to the same queue. */
struct bf_open_submission {
    struct bf_open_submission *next, *previous;
    const void *queue;
    VkFence fence;
    uint64_t call;
    uint32_t epoch;
    bool wanted; /* it is due: counts were wanted when it had finished */
    uint32_t recording_count, signal_count;
    struct bf_recording *recordings[BF_SUBMISSION_BUFFERS];
    VkSemaphore semaphores[BF_SUBMISSION_SIGNALS];
    uint64_t values[BF_SUBMISSION_SIGNALS];
};

VkResult bf_submissions_init(struct bf_submissions *s, struct bf_pipelines *pipelines)
{
    *s = (struct bf_submissions){.pipelines = pipelines};
    s->parts = calloc(BF_OPEN_SUBMISSIONS, sizeof(*s->parts));
    if (!s->parts)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < BF_OPEN_SUBMISSIONS; i++) {
        s->parts[i].next = s->free;
        s->free = &s->parts[i];
    }
    atomic_store(&s->counting, true);
    return VK_SUCCESS;
}

void bf_submissions_finish(struct bf_submissions *s)
{
    free(s->parts);
    *s = (struct bf_submissions){0};
}

/* What somebody has seen of fences, or of a semaphore. */
struct evidence {
    bool wanted; /* counts were, then */
    uint32_t fence_count;
    const VkFence *fences;
    VkSemaphore semaphore;
    uint64_t value;
};

/* The same for another thread, who frees it. */
struct bf_left_evidence {
    struct bf_left_evidence *next;
    struct evidence evidence;
    VkFence fences[];
};

static void evidence_take_up(struct bf_submissions *s, const struct evidence *e);

/* The lock is held. */
static void left_take_up(struct bf_submissions *s)
{
    struct bf_left_evidence *next, *left = atomic_exchange(&s->left, NULL);
    for (; left; left = next) {
        next = left->next;
        evidence_take_up(s, &left->evidence);
        free(left);
    }
}

static void submissions_enter(struct bf_submissions *s)
{
    bf_lock_acquire(&s->lock);
    left_take_up(s);
}

/* Nothing is left behind [SU-5]: who leaves something tries for the lock when it is on the list. If
 * he doesn't get it somebody has it, who lets go of it later, in the one order that all these
 * operations have (base/lock.h), and finds the list as it is then. */
static void submissions_leave(struct bf_submissions *s)
{
    do {
        left_take_up(s);
        bf_lock_release(&s->lock);
    } while (atomic_load(&s->left) && bf_lock_try(&s->lock));
}

/* True: the list holds nothing that this thread could have evidence about. A submission that it
 * knows to be finished was added before it came to know. */
static bool submissions_are_empty(struct bf_submissions *s)
{
    return atomic_load_explicit(&s->open, memory_order_acquire) == 0;
}

static void settle_part(struct bf_submissions *s);

/* The list. Under the lock --------------------------------------------------------------------- */

static struct bf_open_submission *open_submission_append(struct bf_submissions *s)
{
    if (!s->free && s->due_first)
        settle_part(s);
    struct bf_open_submission *part = s->free;
    if (!part) {
        s->lost++;
        return NULL;
    }
    s->free = part->next;
    *part = (struct bf_open_submission){.previous = s->last};
    *(s->last ? &s->last->next : &s->first) = part;
    s->last = part;
    atomic_fetch_add_explicit(&s->open, 1, memory_order_release);
    return part;
}

static void open_submission_unlink(struct bf_submissions *s, struct bf_open_submission *part)
{
    *(part->previous ? &part->previous->next : &s->first) = part->next;
    *(part->next ? &part->next->previous : &s->last) = part->previous;
    atomic_fetch_sub_explicit(&s->open, 1, memory_order_release);
}

static void open_submission_free(struct bf_submissions *s, struct bf_open_submission *part)
{
    part->next = s->free;
    s->free = part;
}

static void open_submission_take_off(struct bf_submissions *s, struct bf_open_submission *part)
{
    open_submission_unlink(s, part);
    open_submission_free(s, part);
}

/* Counting. Under the lock --------------------------------------------------------------------- */

static bool counts_are_wanted(struct bf_submissions *s)
{
    return atomic_load(&s->counting) && bf_background_may_adapt(s->background);
}

struct use {
    struct bf_submissions *submissions;
    const struct bf_recording *recording;
    uint32_t first; /* of the rows that are the pipeline's */
};

static void count_rows(struct bf_pipeline *p, void *context)
{
    const struct use *use = context;
    const struct bf_histogram_notes *notes = use->recording->notes;
    struct bf_submissions *s = use->submissions;
    uint32_t epoch = atomic_load(&s->epoch);
    const struct bf_histogram_row *row;
    bf_lock_acquire(&p->lock);
    for (uint32_t i = use->first; (row = bf_histogram_notes_row(notes, i)); i++) {
        if (row->key == p->id)
            bf_histogram_add(p->histogram, epoch, row);
    }
    bf_lock_release(&p->lock);
    if (s->used && counts_are_wanted(s))
        s->used(s->context, p, use->recording);
    bf_lock_acquire(&p->lock);
    uint32_t mask = bf_histogram_mask(p->histogram, epoch);
    bf_lock_release(&p->lock);
    atomic_store_explicit(&p->dropped, ~mask, memory_order_relaxed);
}

static bool is_first_of_its_pipeline(const struct bf_histogram_notes *notes, uint32_t i)
{
    uint64_t key = bf_histogram_notes_row(notes, i)->key;
    while (i-- > 0) {
        if (bf_histogram_notes_row(notes, i)->key == key)
            return false;
    }
    return true;
}

/* Measurements. Under the lock ----------------------------------------------------------------- */

#define LOST UINT64_MAX /* the latest call is not on the list */

static struct bf_recording **list_of(struct bf_submissions *s, uint64_t number)
{
    return &s->lists[number % BF_SUBMISSION_LISTS];
}

/* NULL: it has been begun again, reset or freed. */
static struct bf_recording *find_listed(struct bf_submissions *s, uint64_t number)
{
    struct bf_recording *r = *list_of(s, number);
    while (r && r->number != number)
        r = r->next_listed;
    return r;
}

static void recording_unlist(struct bf_submissions *s, struct bf_recording *r)
{
    struct bf_recording **at = list_of(s, r->number);
    while (*at != r)
        at = &(*at)->next_listed;
    *at = r->next_listed;
    r->listed = false;
}

/* Notes the call that submitted the command buffer, and all that it executes, last: LOST, or 0
 * where the latest call was 'instead' (0: whatever it was). */
static void set_latest(struct bf_submissions *s, struct bf_recording *r, uint64_t call,
                       uint64_t instead)
{
    for (uint32_t i = 0; i <= r->inner_count; i++) {
        struct bf_recording *each = i < r->inner_count ? find_listed(s, r->inner[i]) : r;
        if (each && (!instead || each->latest == instead)) {
            each->latest = call;
            each->latest_epoch = atomic_load(&s->epoch);
        }
    }
}

static void read_timing(struct bf_submissions *s, struct bf_recording *r, bool wanted)
{
    bool measured = bf_recording_has_samples(r) && r->latest_epoch == atomic_load(&s->epoch);
    r->latest = 0;
    if (measured && s->measured && wanted && counts_are_wanted(s))
        s->measured(s->context, r);
}

/* A submission of the command buffer, by this call, has finished. The release ordering lets its
 * owner see without the lock that all of it was read. */
static void recording_count(struct bf_submissions *s, struct bf_recording *r,
                            const struct bf_open_submission *part)
{
    s->counted++;
    if (r->noted && part->epoch == atomic_load(&s->epoch) && part->wanted) {
        const struct bf_histogram_row *row;
        for (uint32_t i = 0; (row = bf_histogram_notes_row(r->notes, i)); i++) {
            if (is_first_of_its_pipeline(r->notes, i))
                bf_pipelines_visit(s->pipelines, row->key, count_rows, &(struct use){s, r, i});
        }
    }
    if (r->account && part->wanted)
        bf_pipeline_times_count(r->recorder->times, r->account);
    for (uint32_t i = 0; i <= r->inner_count; i++) {
        struct bf_recording *each = i < r->inner_count ? find_listed(s, r->inner[i]) : r;
        if (each && each->latest == part->call)
            read_timing(s, each, part->wanted);
    }
    atomic_fetch_sub_explicit(&r->pending, 1, memory_order_release);
}

/* Counts the part that has been due for longest, and frees it. */
static void settle_part(struct bf_submissions *s)
{
    struct bf_open_submission *part = s->due_first;
    s->due_first = part->next;
    if (!s->due_first)
        s->due_last = NULL;
    for (uint32_t i = 0; i < part->recording_count; i++)
        recording_count(s, part->recordings[i], part);
    open_submission_free(s, part);
}

/* So many command buffers, and all of the last part that has some of them. */
static void settle(struct bf_submissions *s, uint32_t most)
{
    for (uint32_t done = 0; s->due_first && done < most;) {
        done += s->due_first->recording_count;
        settle_part(s);
    }
}

/* There is evidence that it has finished (SU-4). */
static void end_part(struct bf_submissions *s, struct bf_open_submission *part, bool wanted)
{
    open_submission_unlink(s, part);
    if (part->recording_count == 0) {
        open_submission_free(s, part);
        return;
    }
    part->wanted = wanted;
    part->next = NULL;
    *(s->due_last ? &s->due_last->next : &s->due_first) = part;
    s->due_last = part;
}

void bf_submissions_settle(struct bf_submissions *s)
{
    submissions_enter(s);
    settle(s, UINT32_MAX);
    submissions_leave(s);
}

static bool recording_is_due(const struct bf_submissions *s, const struct bf_recording *r)
{
    for (const struct bf_open_submission *p = s->due_first; p; p = p->next) {
        for (uint32_t i = 0; i < p->recording_count; i++) {
            if (p->recordings[i] == r)
                return true;
        }
    }
    return false;
}

/* Submitting ----------------------------------------------------------------------------------- */

uint64_t bf_submissions_call(struct bf_submissions *s)
{
    return atomic_fetch_add_explicit(&s->calls, 1, memory_order_relaxed) + 1;
}

static bool recording_counts(const struct bf_recording *r)
{
    return r && (r->noted || r->inner_count || bf_recording_has_samples(r) ||
                 (r->account && r->account->count));
}

static bool is_awaited(const struct bf_submissions *s, const void *queue)
{
    for (const struct bf_open_submission *p = s->last; p; p = p->previous) {
        if (p->queue == queue && p->recording_count)
            return true;
    }
    return false;
}

static struct bf_open_submission *append_part(struct bf_submissions *s, uint64_t call,
                                              const struct bf_batch *batch)
{
    struct bf_open_submission *part = open_submission_append(s);
    if (!part)
        return NULL;
    part->queue = batch->queue;
    part->fence = batch->fence;
    part->call = call;
    part->epoch = atomic_load(&s->epoch);
    return part;
}

void bf_submissions_add(struct bf_submissions *s, uint64_t call, const struct bf_batch *batch)
{
    bool any = false;
    for (uint32_t i = 0; i < batch->recording_count; i++)
        any |= recording_counts(batch->recordings[i]);
    if (!any && submissions_are_empty(s))
        return;
    submissions_enter(s);
    settle(s, batch->recording_count);
    /* Samples of its submission before are read before they are written anew. */
    for (uint32_t i = 0; s->due_first && i < batch->recording_count; i++) {
        struct bf_recording *r = batch->recordings[i];
        if (r && atomic_load_explicit(&r->pending, memory_order_relaxed) && recording_is_due(s, r))
            settle(s, UINT32_MAX);
    }
    struct bf_open_submission *part = NULL;
    bool fits = true;
    for (uint32_t i = 0; any && i < batch->recording_count; i++) {
        struct bf_recording *r = batch->recordings[i];
        if (!recording_counts(r))
            continue;
        if (fits && (!part || part->recording_count == BF_SUBMISSION_BUFFERS))
            part = append_part(s, call, batch);
        fits = part;
        set_latest(s, r, fits ? call : LOST, 0);
        if (!fits)
            continue;
        part->recordings[part->recording_count++] = r;
        atomic_fetch_add_explicit(&r->pending, 1, memory_order_relaxed);
    }
    /* The part has nothing to count, but is evidence that earlier ones have finished. */
    if (!any && (batch->fence || batch->signal_count) && is_awaited(s, batch->queue))
        part = append_part(s, call, batch);
    /* Signals go with the last part: the parts before it are earlier on the queue. */
    for (uint32_t i = 0; part && i < batch->signal_count && i < BF_SUBMISSION_SIGNALS; i++) {
        part->semaphores[i] = batch->semaphores[i];
        part->values[i] = batch->values[i];
        part->signal_count++;
    }
    submissions_leave(s);
}

void bf_submissions_drop(struct bf_submissions *s, uint64_t call)
{
    submissions_enter(s);
    for (struct bf_open_submission *p = s->first, *next; p; p = next) {
        next = p->next;
        if (p->call != call)
            continue;
        for (uint32_t i = 0; i < p->recording_count; i++) {
            set_latest(s, p->recordings[i], 0, call);
            atomic_fetch_sub_explicit(&p->recordings[i]->pending, 1, memory_order_release);
        }
        open_submission_take_off(s, p);
    }
    submissions_leave(s);
}

/* Evidence ------------------------------------------------------------------------------------- */

static bool evidence_shows(const struct evidence *e, const struct bf_open_submission *part)
{
    for (uint32_t i = 0; part->fence && i < e->fence_count; i++) {
        if (part->fence == e->fences[i])
            return true;
    }
    for (uint32_t i = 0; e->semaphore && i < part->signal_count; i++) {
        if (part->semaphores[i] == e->semaphore && part->values[i] <= e->value)
            return true;
    }
    return false;
}

/* Looks from the latest part back: when a fence or a value is reached, everything submitted to
 * the same queue before it has finished. Of queues that don't fit here only the part itself is
 * taken for finished. */
#define REACHED 16

static void evidence_take_up(struct bf_submissions *s, const struct evidence *e)
{
    const void *reached[REACHED];
    uint32_t count = 0;
    for (struct bf_open_submission *p = s->last, *previous; p; p = previous) {
        previous = p->previous;
        uint32_t i = 0;
        while (i < count && reached[i] != p->queue)
            i++;
        if (i == count) {
            if (!evidence_shows(e, p))
                continue;
            if (count < REACHED)
                reached[count++] = p->queue;
        }
        end_part(s, p, e->wanted);
    }
}

/* Leaves it to who has the lock. False: out of memory. */
static bool evidence_leave(struct bf_submissions *s, const struct evidence *e)
{
    struct bf_left_evidence *left = malloc(sizeof(*left) + e->fence_count * sizeof(VkFence));
    if (!left)
        return false;
    left->evidence = *e;
    left->evidence.fences = left->fences;
    for (uint32_t i = 0; i < e->fence_count; i++)
        left->fences[i] = e->fences[i];
    left->next = atomic_load(&s->left);
    while (!atomic_compare_exchange_weak(&s->left, &left->next, left))
        continue;
    return true;
}

static void submissions_look(struct bf_submissions *s, struct evidence e)
{
    if (submissions_are_empty(s))
        return;
    e.wanted = counts_are_wanted(s);
    bool locked = bf_lock_try(&s->lock);
    if (!locked && evidence_leave(s, &e)) {
        if (bf_lock_try(&s->lock))
            submissions_leave(s);
        return;
    }
    if (!locked)
        bf_lock_acquire(&s->lock);
    evidence_take_up(s, &e);
    submissions_leave(s);
}

void bf_submissions_fence_seen(struct bf_submissions *s, uint32_t count, const VkFence *fences)
{
    submissions_look(s, (struct evidence){.fence_count = count, .fences = fences});
}

void bf_submissions_value_seen(struct bf_submissions *s, VkSemaphore semaphore, uint64_t value)
{
    submissions_look(s, (struct evidence){.semaphore = semaphore, .value = value});
}

void bf_submissions_queue_idle(struct bf_submissions *s, const void *queue)
{
    if (submissions_are_empty(s))
        return;
    submissions_enter(s);
    for (struct bf_open_submission *p = s->first, *next; p; p = next) {
        next = p->next;
        if (!queue || p->queue == queue)
            end_part(s, p, counts_are_wanted(s));
    }
    submissions_leave(s);
}

/* A part whose command buffers are all accounted for stays only as evidence about earlier parts
 * of its queue. (Of queues that don't fit here parts are kept until there is evidence for them.) */
static void submissions_prune(struct bf_submissions *s)
{
    const void *awaited[REACHED];
    uint32_t count = 0;
    for (struct bf_open_submission *p = s->first, *next; p && count < REACHED; p = next) {
        next = p->next;
        uint32_t i = 0;
        while (i < count && awaited[i] != p->queue)
            i++;
        if (p->recording_count && i == count)
            awaited[count++] = p->queue;
        else if (!p->recording_count && i == count)
            open_submission_take_off(s, p);
    }
}

void bf_submissions_list(struct bf_submissions *s, struct bf_recording *r)
{
    submissions_enter(s);
    struct bf_recording **list = list_of(s, r->number);
    r->next_listed = *list;
    *list = r;
    r->listed = true;
    r->latest = 0;
    submissions_leave(s);
}

/* Takes the command buffer off a part, and counts it. True: it was in it. */
static bool count_share(struct bf_submissions *s, struct bf_open_submission *p,
                        struct bf_recording *r)
{
    uint32_t kept = 0, had = p->recording_count;
    for (uint32_t i = 0; i < had; i++) {
        if (p->recordings[i] == r)
            recording_count(s, r, p);
        else
            p->recordings[kept++] = p->recordings[i];
    }
    p->recording_count = kept;
    return kept < had;
}

/* Frees the parts that are due and of whose command buffers none is left to count. */
static void free_settled(struct bf_submissions *s)
{
    struct bf_open_submission **at = &s->due_first;
    s->due_last = NULL;
    while (*at) {
        struct bf_open_submission *part = *at;
        if (part->recording_count == 0) {
            *at = part->next;
            open_submission_free(s, part);
        } else {
            s->due_last = part;
            at = &part->next;
        }
    }
}

/* Ends its own share of a part alone: its begin says nothing of the part's other command
 * buffers. */
void bf_submissions_recording_over(struct bf_submissions *s, struct bf_recording *r)
{
    submissions_enter(s);
    if (r->listed) { /* a secondary one is in no part: the primaries that execute it are */
        if (r->latest && r->latest != LOST)
            read_timing(s, r, true);
        recording_unlist(s, r);
        submissions_leave(s);
        return;
    }
    bool due = false;
    for (struct bf_open_submission *p = s->due_first; p; p = p->next)
        due |= count_share(s, p, r) && p->recording_count == 0;
    if (due)
        free_settled(s);
    for (struct bf_open_submission *p = s->first; p && atomic_load(&r->pending); p = p->next) {
        p->wanted = counts_are_wanted(s);
        count_share(s, p, r);
    }
    submissions_prune(s);
    submissions_leave(s);
}
