/* SPDX-License-Identifier: MIT */
/* What is recorded in a command buffer: bindings, push constants, the variant that fits them,
 * notes of uses, and the lots and samples of A/B timing. */
#include "specialize/recording.h"

#include <stdlib.h>

#include <volk.h>

#include "background/background.h"
#include "specialize/submission.h"
#include "specialize/ab_timing.h"
#include "specialize/pipeline_time.h"

_Static_assert(BF_WATCHED == BF_HISTOGRAM_WORDS && BF_WATCHED == BF_WATCH_WORDS,
               "a tuple is what is watched");
_Static_assert(BF_WATCHED == 8, "two times four words");
_Static_assert(BF_PUSH_BYTES / 4 <= 64, "a bit for each word");

struct bf_recording *bf_recording_create(struct bf_recorder *recorder, VkCommandBuffer handle,
                                         VkCommandBufferLevel level, uint32_t blocks)
{
    struct bf_recording *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->recorder = recorder;
    r->vk = recorder->vk;
    r->handle = handle;
    r->level = level;
    r->blocks = blocks;
    bf_recording_area(r, NULL);
    if (recorder->times)
        r->account = bf_time_account_create();
    return r;
}

/* Picked variants, and how often each was picked
 * --------------------------------------------------- */

static uint32_t variant_hash(const struct bf_variant *variant)
{
    return (uint32_t)(bf_map_hash((uint64_t)(uintptr_t)variant) >> 7);
}

/* The variant's place in the hash table, or the free one where it belongs. One is free. */
static struct bf_picked *picked_place(struct bf_picked *table, uint32_t room,
                                      const struct bf_variant *variant)
{
    for (uint32_t i = variant_hash(variant);; i++) {
        struct bf_picked *p = &table[i & (room - 1)];
        if (p->variant == variant || !p->variant)
            return p;
    }
}

static bool picked_make_room(struct bf_recording *r)
{
    if (2 * (r->picked_count + 1) <= r->picked_capacity)
        return true;
    uint32_t room = r->picked_capacity ? 2 * r->picked_capacity : 8;
    struct bf_picked *table = calloc(room, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t i = 0; i < r->picked_capacity; i++) {
        if (r->picked[i].variant)
            *picked_place(table, room, r->picked[i].variant) = r->picked[i];
    }
    for (int i = 0; i < 2; i++) {
        if (r->bound[i].variant)
            r->bound[i].picked = picked_place(table, room, r->bound[i].variant);
    }
    free(r->picked);
    r->picked = table;
    r->picked_capacity = room;
    return true;
}

/* Takes a reference to the variant [RC-4]. NULL: it is withdrawn, or out of memory. */
static struct bf_picked *picked_refer(struct bf_recording *r, struct bf_variant *variant)
{
    if (!picked_make_room(r))
        return NULL;
    struct bf_picked *p = picked_place(r->picked, r->picked_capacity, variant);
    if (p->variant)
        return p;
    if (!bf_variant_acquire(variant))
        return NULL;
    p->variant = variant;
    p->count = 0;
    r->picked_count++;
    return p;
}

static void tell_counts(struct bf_recording *r)
{
    for (uint32_t i = 0; r->picked_count && i < r->picked_capacity; i++) {
        struct bf_picked *p = &r->picked[i];
        if (p->count)
            atomic_fetch_add_explicit(&p->variant->picked, p->count, memory_order_relaxed);
        p->count = 0;
    }
}

void bf_recording_end(struct bf_recording *r)
{
    tell_counts(r);
    if (r->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY && bf_recording_has_samples(r) && !r->listed)
        bf_submissions_list(r->recorder->submissions, r);
}

void bf_recording_reset(struct bf_recording *r)
{
    if (r->listed || atomic_load_explicit(&r->pending, memory_order_acquire))
        bf_submissions_recording_over(r->recorder->submissions, r);
    tell_counts(r);
    for (uint32_t i = 0; r->picked_count && i < r->picked_capacity; i++) {
        if (r->picked[i].variant)
            bf_variant_release(r->picked[i].variant);
        r->picked[i].variant = NULL;
    }
    r->picked_count = 0;
    r->noted = false;
    r->lot_drawn = r->measurable = r->draws_without_lot = false;
    r->inner_count = 0;
    r->passes_before = r->passes;
    r->passes = 0;
    if (r->timing && r->recorder->timer)
        bf_ab_timing_reset(r->recorder->timer, r->timing);
    if (r->account)
        bf_time_account_reset(r->account, r->recorder->timer);
    r->queries = 0;
    r->blocks &= BF_RECORDING_PROTECTED;
    r->layout = VK_NULL_HANDLE;
    bf_recording_area(r, NULL);
    bf_recording_forget_push(r);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_GRAPHICS);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_COMPUTE);
}

void bf_recording_destroy(struct bf_recording *r)
{
    if (!r)
        return;
    bf_recording_reset(r);
    free(r->picked);
    free(r->notes);
    free(r->timing);
    bf_time_account_free(r->account);
    free(r->inner);
    free(r);
}

/* What is bound -------------------------------------------------------------------------------- */

void bf_recording_push_odd(struct bf_recording *r, uint32_t offset, uint32_t size,
                           const void *bytes)
{
    /* Vulkan allows whole words within the limit alone. Of any other push only its whole words
     * are known afterwards; words that it touches in part become unknown, and one that doesn't
     * fit makes all unknown. */
    if (offset > BF_PUSH_BYTES || size > BF_PUSH_BYTES - offset) {
        bf_recording_forget_push(r);
        return;
    }
    memcpy(r->bytes + offset, bytes, size);
    for (uint32_t word = offset / 4; 4 * word < offset + size; word++) {
        bool whole = 4 * word >= offset && 4 * word + 4 <= offset + size;
        r->known = (r->known & ~(UINT64_C(1) << word)) | (uint64_t)whole << word;
    }
}

void bf_recording_restore(struct bf_recording *r, VkPipelineBindPoint point)
{
    struct bf_bound *b = &r->bound[point];
    if (!b->variant)
        return;
    b->variant = NULL;
    r->vk->vkCmdBindPipeline(r->handle, point, b->handle);
}

void bf_recording_feedback(struct bf_recording *r, bool begins)
{
    if (begins) {
        bf_recording_restore(r, VK_PIPELINE_BIND_POINT_GRAPHICS);
        r->blocks |= BF_RECORDING_FEEDBACK;
    } else {
        r->blocks &= ~(uint32_t)BF_RECORDING_FEEDBACK;
    }
}

/* Four words at a time, since this runs for every variant at every use: no branch depends on the
 * values, and none of them goes through memory word by word. */
typedef uint32_t four_words __attribute__((vector_size(16)));
typedef uint64_t two_longs __attribute__((vector_size(16)));

#define LANE(nibble, i) (((nibble) >> (i)&1) ? UINT32_MAX : 0)
#define LANES(nibble)                                                                              \
    {                                                                                              \
        LANE(nibble, 0), LANE(nibble, 1), LANE(nibble, 2), LANE(nibble, 3)                         \
    }
static const four_words lanes[16] = {
    LANES(0), LANES(1), LANES(2),  LANES(3),  LANES(4),  LANES(5),  LANES(6),  LANES(7),
    LANES(8), LANES(9), LANES(10), LANES(11), LANES(12), LANES(13), LANES(14), LANES(15)};

/* The values of the pipeline's watched words. */
struct values {
    uint32_t known;      /* bit i: word i is known */
    four_words words[2]; /* 0 where it isn't known */
};

/* What lies behind the last watched word may be read too; it is masked out. */
static inline uint32_t word_at(const struct bf_recording *r, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, r->bytes + offset % BF_PUSH_BYTES / 4 * 4, sizeof(word));
    return word;
}

/* Which of the watched words are known: usually all of them. */
static inline uint32_t read_known(const struct bf_recording *r, struct bf_pipeline *p)
{
    if (r->push_id != p->push_id) /* the pipeline's is never 0 */
        return 0;
    if (!(atomic_load_explicit(&p->watched, memory_order_relaxed) & ~r->known))
        return (1u << p->watch.count) - 1;
    uint32_t known = 0;
    for (uint32_t i = 0; i < p->watch.count; i++)
        known |= (uint32_t)(r->known >> p->watch.offset[i] % BF_PUSH_BYTES / 4 & 1) << i;
    return known;
}

static inline struct values read_values(const struct bf_recording *r, struct bf_pipeline *p)
{
    const uint16_t *at = p->watch.offset;
    const uint32_t known = read_known(r, p);
    const four_words low = {word_at(r, at[0]), word_at(r, at[1]), word_at(r, at[2]),
                            word_at(r, at[3])},
                     high = {word_at(r, at[4]), word_at(r, at[5]), word_at(r, at[6]),
                             word_at(r, at[7])};
    return (struct values){known, {low & lanes[known & 15], high & lanes[known >> 4]}};
}

static inline bool variant_is_for(const struct bf_variant *variant, const struct values *v)
{
    uint32_t mask = variant->mask;
    four_words constants[2];
    memcpy(constants, variant->values, sizeof(constants));
    two_longs differ = (two_longs)(((constants[0] ^ v->words[0]) & lanes[mask & 15]) |
                                   ((constants[1] ^ v->words[1]) & lanes[mask >> 4]));
    return !(differ[0] | differ[1] | (mask & ~v->known));
}

/* RC-7, RC-8. */
static inline bool reach_is_checked(const struct bf_variant *variant, const uint32_t *groups)
{
    return groups[0] <= variant->groups[0] && groups[1] <= variant->groups[1] &&
           groups[2] <= variant->groups[2];
}

/* RC-9. */
__attribute__((noinline, cold)) static bool formats_look(const struct bf_recording *r,
                                                         struct bf_variant *variant)
{
    struct bf_format_classes *classes = &r->recorder->pipelines->shapes.classes;
    const uint32_t version = atomic_load(&classes->version);
    if (!bf_format_classes_fit(classes, &variant->formats))
        return false;
    atomic_store_explicit(&variant->formats_fit, version + 1, memory_order_relaxed);
    return true;
}

static inline bool formats_are_checked(const struct bf_recording *r, struct bf_variant *variant)
{
    if (!variant->formats.count)
        return true;
    const uint32_t version =
        atomic_load_explicit(&r->recorder->pipelines->shapes.classes.version, memory_order_relaxed);
    return atomic_load_explicit(&variant->formats_fit, memory_order_relaxed) == version + 1 ||
           formats_look(r, variant);
}

/* Of the variants that fit, the one with the most constants; NULL: none fits. 'groups': of a
 * dispatch, or how far a render area reaches. */
static inline struct bf_variant *find_variant(const struct bf_recording *r,
                                              const struct bf_pipeline *p, const struct values *v,
                                              const uint32_t *groups)
{
    struct bf_variant *best = NULL;
    for (int i = 0; i < BF_MAX_VARIANTS; i++) {
        struct bf_variant *variant = atomic_load_explicit(&p->variants[i], memory_order_acquire);
        if (variant && variant_is_for(variant, v) && reach_is_checked(variant, groups) &&
            formats_are_checked(r, variant) &&
            (!best || __builtin_popcount(variant->mask) > __builtin_popcount(best->mask)))
            best = variant;
    }
    return best;
}

static inline bool has_variants(const struct bf_pipeline *p)
{
    bool any = false;
    for (int i = 0; i < BF_MAX_VARIANTS; i++)
        any |= atomic_load_explicit(&p->variants[i], memory_order_relaxed) != NULL;
    return any;
}

/* NULL: the general pipeline. */
static void recording_bind_variant(struct bf_recording *r, struct bf_bound *b,
                                   VkPipelineBindPoint point, struct bf_variant *variant)
{
    struct bf_picked *picked = variant ? picked_refer(r, variant) : NULL;
    if (!picked) {
        bf_recording_restore(r, point);
        return;
    }
    r->vk->vkCmdBindPipeline(r->handle, point, variant->handle);
    b->variant = variant;
    b->picked = picked;
}

/* Notes ---------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct bf_histogram_notes *notes_of(struct bf_recording *r)
{
    if (!r->notes) {
        r->notes = malloc(sizeof(*r->notes));
        if (!r->notes)
            return NULL;
        uint64_t seed = atomic_fetch_add_explicit(&r->recorder->created, 1, memory_order_relaxed);
        bf_histogram_notes_init(r->notes, seed, BF_HISTOGRAM_EXACT);
    }
    if (!r->noted)
        bf_histogram_notes_begin(r->notes);
    r->noted = true;
    return r->notes;
}

static void use_note(struct bf_recording *r, const struct bf_pipeline *p, const struct values *v,
                     uint32_t uses)
{
    uint32_t all = (1u << p->watch.count) - 1;
    uint32_t counted = all & ~atomic_load_explicit(&p->dropped, memory_order_relaxed);
    if (counted & ~v->known) /* the shader reads an undefined value there */
        return;
    uint32_t words[BF_WATCHED];
    const four_words some[2] = {v->words[0] & lanes[counted & 15],
                                v->words[1] & lanes[counted >> 4]};
    memcpy(words, some, sizeof(words));
    bf_histogram_notes_add(r->notes, p->id, counted, words, uses);
}

/* The largest dispatch: what is checked for it is for smaller ones, too. (Of two at once, by two
 * threads, some of each may stay: they are inputs of a check, and no more.) */
static void groups_note(struct bf_pipeline *p, const uint32_t *groups)
{
    double was = 1, is = 1;
    for (int i = 0; i < 3; i++) {
        was *= atomic_load_explicit(&p->groups[i], memory_order_relaxed);
        is *= groups[i];
    }
    for (int i = 0; is > was && i < 3; i++)
        atomic_store_explicit(&p->groups[i], groups[i], memory_order_relaxed);
}

/* How far render areas reach, along each axis. */
__attribute__((noinline)) static void area_note(struct bf_pipeline *p, const struct bf_recording *r)
{
    const bool known = p->point == VK_PIPELINE_BIND_POINT_GRAPHICS && r->area[2] != UINT32_MAX;
    for (int i = 0; known && i < 3; i++) {
        if (r->area[i] > atomic_load_explicit(&p->groups[i], memory_order_relaxed))
            atomic_store_explicit(&p->groups[i], r->area[i], memory_order_relaxed);
    }
}

/* A/B timing
 * ------------------------------------------------------------------------------------ */

/* A pseudo-random function of the number, so that lots don't fall in step with a pattern of the
 * program's: each bit of the number influences each bit of the result (the last steps of
 * MurmurHash3). */
static uint64_t draw_mix(uint64_t number)
{
    number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
    number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return number ^ number >> 33;
}

/* Of a lot that recordings share; it grows. */
static uint64_t shared_number(const struct bf_recording *r)
{
    uint64_t calls = atomic_load_explicit(&r->recorder->submissions->calls, memory_order_relaxed);
    return (calls / BF_RECORDING_SHARED + 1) << 32;
}

static uint64_t own_number(const struct bf_recording *r)
{
    return shared_number(r) | (1 + (uint32_t)atomic_fetch_add_explicit(&r->recorder->created, 1,
                                                                       memory_order_relaxed));
}

void bf_recording_measure(struct bf_recording *r, VkCommandBufferUsageFlags flags)
{
    bool within = r->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY &&
                  (flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
    if (r->account)
        r->account->own.timestamp_bits = r->timestamp_bits;
    bool repeats = flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    r->lot_drawn = r->recorder->timer && r->timestamp_bits && (within || !repeats) &&
                   !(r->blocks & BF_RECORDING_PROTECTED);
    if (!r->lot_drawn)
        return;
    /* Its pass is timed by the primary that executes it: it has no samples of its own. */
    r->measurable = !within;
    r->number = within ? shared_number(r) : own_number(r);
    r->lot_is_variant = draw_mix(r->number) & 1;
    r->intrusive = atomic_load_explicit(&r->recorder->intrusive, memory_order_relaxed);
}

static uint32_t most_samples(const struct bf_recording *r)
{
    return r->intrusive ? BF_AB_SAMPLES_INTRUSIVE : BF_AB_SAMPLES;
}

/* NULL: out of memory. */
static struct bf_ab_timing *timing_of(struct bf_recording *r)
{
    if (!r->timing) {
        r->timing = calloc(1, sizeof(*r->timing));
        if (r->timing)
            r->timing->timestamp_bits = r->timestamp_bits;
    }
    if (r->timing)
        r->timing->most = most_samples(r);
    return r->timing;
}

/* It draws, or executes draws, with a variant under A/B timing that no lot decided: the pass
 * that contains it is no sample. */
static void note_draw_without_lot(struct bf_recording *r)
{
    r->draws_without_lot = true;
    if (r->timing)
        bf_ab_timing_draw(r->timing, &(struct bf_ab_use){.candidate = BF_AB_NONE, .work = 1});
}

/* There is no verdict on the variant yet: half of the command buffers get it. NULL: not this
 * one. */
static struct bf_variant *choose_side(struct bf_recording *r, const struct bf_pipeline *p,
                                      struct bf_variant *variant, const uint32_t *groups,
                                      struct bf_ab_use *use)
{
    uint64_t work = p->point == VK_PIPELINE_BIND_POINT_GRAPHICS;
    if (groups)
        work = (uint64_t)groups[0] * groups[1] * groups[2];
    if (!r->lot_drawn || !work || !bf_background_may_adapt(r->recorder->background) ||
        !timing_of(r))
        return variant;
    *use = (struct bf_ab_use){.pipeline = p->id,
                              .candidate = variant->candidate,
                              .variant = r->lot_is_variant,
                              .work = work,
                              .lot = r->number};
    if (r->intrusive && groups && r->measurable) {
        use->lot = own_number(r);
        use->variant = draw_mix(use->lot) & 1;
    }
    return use->variant ? variant : NULL;
}

/* Begins the sample of a use that choose_side has decided ('candidate' BF_AB_NONE: no lot
 * decided it). */
static void measure_use(struct bf_recording *r, VkPipelineBindPoint point,
                        const struct bf_ab_use *use)
{
    /* the variant may have been withdrawn */
    bool by_lot = use->candidate != BF_AB_NONE && use->variant == (r->bound[point].variant != NULL);
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        if (by_lot && r->measurable)
            bf_ab_timing_begin(r->recorder->timer, r->timing, r->handle, use);
    } else if (by_lot) {
        bf_ab_timing_draw(r->timing, use);
    } else {
        note_draw_without_lot(r);
    }
}

void bf_recording_measure_pass(struct bf_recording *r)
{
    /* the first pass that is measured, at random where there are more than can be, whatever the
     * lot is */
    uint32_t first = 0, most = most_samples(r);
    if (r->passes_before > most)
        first = (uint32_t)((draw_mix(r->number) >> 1) % (r->passes_before - most + 1));
    if (r->passes++ < first)
        return;
    if (bf_background_may_adapt(r->recorder->background) && timing_of(r))
        bf_ab_timing_begin_pass(r->recorder->timer, r->timing, r->handle);
}

void bf_recording_measured(struct bf_recording *r)
{
    bf_ab_timing_end(r->recorder->timer, r->timing, r->handle);
}

/* Those that a variant has to be for. */
static const uint32_t *reach_of(const struct bf_recording *r, VkPipelineBindPoint point,
                                const uint32_t *groups)
{
    static const uint32_t unknown[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        return r->area;
    return groups ? groups : unknown;
}

void bf_recording_choose(struct bf_recording *r, struct bf_bound *b, VkPipelineBindPoint point,
                         const uint32_t *groups)
{
    struct bf_pipeline *p = b->pipeline;
    bool may_pick = !r->blocks && has_variants(p) &&
                    !atomic_load_explicit(&p->pinned, memory_order_relaxed) &&
                    !atomic_load_explicit(&r->recorder->stopped, memory_order_relaxed);
    uint32_t uses = 0;
    if (atomic_load_explicit(&r->recorder->noting, memory_order_relaxed) &&
        bf_background_may_adapt(r->recorder->background)) {
        struct bf_histogram_notes *notes = notes_of(r);
        if (notes)
            uses = atomic_load_explicit(&r->recorder->intrusive, memory_order_relaxed)
                       ? 1
                       : bf_histogram_notes_sample(notes);
    }
    struct bf_variant *variant = NULL;
    if (may_pick || uses) {
        struct values v = read_values(r, p);
        variant = may_pick ? find_variant(r, p, &v, reach_of(r, point, groups)) : NULL;
        if (uses) {
            use_note(r, p, &v, uses);
            if (groups)
                groups_note(p, groups);
            else
                area_note(p, r);
        }
    }
    struct bf_ab_use use = {.candidate = BF_AB_NONE};
    bool ab_timed = variant && atomic_load_explicit(&variant->ab_timed, memory_order_relaxed);
    if (ab_timed)
        variant = choose_side(r, p, variant, groups, &use);
    if (variant != b->variant)
        recording_bind_variant(r, b, point, variant);
    if (b->variant)
        b->picked->count++;
    if (ab_timed)
        measure_use(r, point, &use);
}

/* The report's account ------------------------------------------------------------------------- */

bool bf_recording_has_samples(const struct bf_recording *r)
{
    return (r->timing && r->timing->count) || (r->account && r->account->own.count);
}

/* A dispatch or a pass [GT-2]. (Nothing is added to what a query of performance counts, say.) */
static void account_begin(struct bf_recording *r)
{
    const bool may =
        r->measurable && !r->blocks && bf_background_may_adapt(r->recorder->background);
    bf_time_account_begin(r->account, r->recorder->timer, r->timing, r->handle,
                          draw_mix(~r->number), may);
}

void bf_recording_account_use(struct bf_recording *r, VkPipelineBindPoint point)
{
    /* Whatever it is called with, what is bound is the program's pipeline, or stands for it. */
    const struct bf_pipeline *p = bf_pipelines_find(r->recorder->pipelines, r->bound[point].handle);
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
        account_begin(r);
    bf_time_account_use(r->account, p ? p->id : 0, 1);
}

void bf_recording_account_pass(struct bf_recording *r)
{
    account_begin(r);
}

void bf_recording_account_end(struct bf_recording *r)
{
    bf_time_account_end(r->account, r->recorder->timer, r->handle);
}

/* False: out of memory, and the samples will not be read. */
static bool add_inner(struct bf_recording *r, uint64_t number)
{
    if (r->inner_count == r->inner_capacity) {
        uint32_t room = r->inner_capacity ? 2 * r->inner_capacity : 8;
        uint64_t *inner = realloc(r->inner, room * sizeof(*inner));
        if (!inner)
            return false;
        r->inner = inner;
        r->inner_capacity = room;
    }
    r->inner[r->inner_count++] = number;
    return true;
}

/* Notes the samples of a secondary command buffer that is executed. */
static void execute_inner(struct bf_recording *r, const struct bf_recording *executed)
{
    bool fits = true;
    for (uint32_t i = 0; fits && i < executed->inner_count; i++)
        fits = add_inner(r, executed->inner[i]);
    if (fits && bf_recording_has_samples(executed))
        add_inner(r, executed->number);
}

/* Takes over its draws, which may be part of a pass. */
static void execute_draws(struct bf_recording *r, const struct bf_recording *executed)
{
    const struct bf_ab_timing *timing = executed ? executed->timing : NULL;
    if (!executed || executed->draws_without_lot)
        note_draw_without_lot(r);
    else if (timing && timing->drawn.work && timing_of(r))
        bf_ab_timing_draw(r->timing, &timing->drawn);
    else if (timing && timing->drawn.work)
        note_draw_without_lot(r);
}

void bf_recording_execute(struct bf_recording *r, const struct bf_recording *executed)
{
    if (executed && executed->noted) {
        struct bf_histogram_notes *notes = notes_of(r);
        if (notes)
            bf_histogram_notes_append(notes, executed->notes);
    }
    if (executed)
        execute_inner(r, executed);
    if (r->account && executed && executed->account)
        bf_time_account_append(r->account, executed->account);
    execute_draws(r, executed);
    bf_recording_forget_push(r);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_GRAPHICS);
    bf_recording_forget_bound(r, VK_PIPELINE_BIND_POINT_COMPUTE);
}
