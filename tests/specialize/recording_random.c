/* SPDX-License-Identifier: MIT */
/* Random programs against a model (specialize/recording.h, submission.h): begin, bind, push,
 * secondary command buffers, draws and dispatches of several pipelines, layouts and ranges, while
 * variants, most for values that aren't there, come and go; submissions, of which the program sees
 * now this and now that; pipelines destroyed and made anew under the same handle. After every step
 * the model says what is bound, which command buffer refers to which variant, and what was counted.
 * More of them: --count N --seed N. */

#include "random/rng.h"
#include "support/arguments.h"
#include "recording_fake.h"

#define PIPELINES   6
#define BUFFERS     7 /* the last SECONDARIES of them are secondary ones */
#define SECONDARIES 3
#define QUEUES      3
#define FENCES      5
#define SEMAPHORES  2
#define STEPS       800
#define SUBMISSIONS (STEPS + 1)
#define VARIANTS    (STEPS + 1)
#define SPAN        80 /* bytes of push constants that are used, the first or the last */

enum state { FRESH, RECORDING, READY, SPOILT };

struct program_pipeline {
    struct fake_pipeline handle; /* stays when the pipeline is made anew */
    struct bf_pipeline *record;
    uint32_t life;    /* counts how often it was made */
    uint64_t counted; /* by the model */
    uint32_t epoch;   /* in which that was */
};

struct uses { /* of each pipeline, in a recording */
    uint32_t count[PIPELINES], life[PIPELINES];
};

struct program_buffer {
    struct fake_buffer fake;
    struct bf_recording *recording;
    struct model model;
    enum state state;
    int bound[2]; /* -1: none */
    uint32_t queries;
    bool feedback;
    uint32_t area[3]; /* how far its pass reaches; UINT32_MAX: not known */
    struct uses uses;
    uint32_t uses_total;
    bool executed[BUFFERS];   /* secondaries that it depends on */
    bool mentions[PIPELINES]; /* has them bound at some time, or executes who has */
    bool refers[VARIANTS];
};

struct program_item {
    int buffer;
    struct uses uses;
    bool counted;
};

struct program_submission {
    int queue;
    VkFence fence;
    VkSemaphore semaphore; /* or NULL */
    uint64_t value;
    uint32_t epoch;
    bool over; /* the program may know */
    uint32_t item_count;
    struct program_item items[12];
};

static struct {
    struct rng rng;
    struct VolkDeviceTable vk;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
    struct program_pipeline pipelines[PIPELINES];
    struct program_buffer buffers[BUFFERS];
    struct bf_variant *variants[VARIANTS];
    uint32_t variant_count;
    struct program_submission all[SUBMISSIONS];
    uint32_t submission_count;
    uint64_t values[SEMAPHORES];
    uint32_t base; /* of what is pushed */
} world;

static uint64_t seen_picks, seen_counts, seen_destroyed;

/* Few values, so that they meet; of equal and unequal floats too. */
static uint32_t random_word(void)
{
    static const uint32_t words[] = {0, 1, 0x80000000, 0x7fc00000, 0x7fc00001, 0x3f800000};
    return words[rng_below(&world.rng, rng_percent(&world.rng, 70) ? 3 : 6)];
}

static uint32_t id_of_layout(uint32_t layout)
{
    return layout % 2 + 1; /* four layouts, two of each kind of ranges */
}

/* Pipelines ------------------------------------------------------------------------------------ */

static void make_pipeline(struct program_pipeline *p)
{
    struct bf_pipeline *r = calloc(1, sizeof(*r));
    REQUIRE(r, "no memory");
    r->handle = fake_pipeline_handle(&p->handle);
    r->point = rng_below(&world.rng, 2);
    r->excluded = rng_percent(&world.rng, 5) ? BF_REASON_DEPTH : BF_REASON_NONE;
    r->push_id = id_of_layout(rng_below(&world.rng, 4));
    struct bf_watch watch = {.count = (uint8_t)(rng_percent(&world.rng, 10) ? 0
                                                : rng_percent(&world.rng, 70)
                                                    ? rng_range(&world.rng, 1, 4)
                                                    : rng_range(&world.rng, 5, 8))};
    uint32_t offset = world.base + 4 * rng_below(&world.rng, 4);
    for (uint32_t i = 0; i < watch.count; i++) {
        watch.offset[i] = (uint16_t)offset;
        offset += 4 * (uint32_t)rng_range(&world.rng, 1, 2);
    }
    r->histogram = &p->handle.histogram;
    bf_histogram_init(r->histogram, 0, 0);
    if (r->excluded == BF_REASON_NONE)
        bf_pipeline_watch(r, &watch);
    fake_lives(r);
    p->handle.of = r;
    p->record = r;
    p->life++;
    p->counted = 0;
}

static void withdraw(struct bf_pipeline *p, uint32_t slot)
{
    struct bf_variant *v = atomic_exchange(&p->variants[slot], NULL);
    if (v)
        bf_variant_withdraw(v);
}

static void step_publish(void)
{
    struct bf_pipeline *p = world.pipelines[rng_below(&world.rng, PIPELINES)].record;
    uint32_t slot = rng_below(&world.rng, BF_MAX_VARIANTS), words[BF_WATCHED];
    withdraw(p, slot);
    if (!p->watch.count || rng_percent(&world.rng, 30))
        return;
    uint8_t mask = (uint8_t)rng_range(&world.rng, 1, (1 << p->watch.count) - 1);
    if (rng_percent(&world.rng, 40))
        mask &= (uint8_t)-mask;
    /* What some command buffer holds, or anything. */
    const struct program_buffer *like =
        rng_percent(&world.rng, 60) ? &world.buffers[rng_below(&world.rng, BUFFERS)] : NULL;
    for (uint32_t i = 0; i < BF_WATCHED; i++) {
        words[i] = random_word();
        for (uint32_t k = 0; like && i < p->watch.count && k < 4; k++)
            ((uint8_t *)&words[i])[k] = (uint8_t)like->model.bytes[p->watch.offset[i] + k];
    }
    struct bf_variant *v = fake_variant(p, mask, words);
    const bool draws = p->point == VK_PIPELINE_BIND_POINT_GRAPHICS;
    const bool any = draws && rng_percent(&world.rng, 60);
    for (uint32_t i = 0; i < 3; i++)
        v->groups[i] = any                           ? UINT32_MAX
                       : draws && i == 2             ? 1
                       : rng_percent(&world.rng, 80) ? 3
                                                     : (uint32_t)rng_range(&world.rng, 1, 4);
    world.variants[world.variant_count++] = v;
    atomic_store_explicit(&p->variants[slot], v, memory_order_release);
    if (rng_percent(&world.rng, 5))
        bf_variant_withdraw(v); /* as if between its look-up and its first use */
}

static uint32_t references(uint32_t variant)
{
    uint32_t count = 0;
    for (int b = 0; b < BUFFERS; b++)
        count += world.buffers[b].refers[variant];
    return count;
}

/* Its handle goes exactly when it may. */
static void step_retire(void)
{
    for (uint32_t i = 0; i < world.variant_count; i++) {
        struct bf_variant *v = world.variants[i];
        struct fake_pipeline *p = fake_pipeline_of(v->handle);
        uint32_t state = atomic_load(&v->state);
        bool may = (state & BF_VARIANT_WITHDRAWN) && !p->destroyed && !references(i);
        REQUIRE(bf_variant_retire(v) == may, "variant %u: retired %d", i, !may);
        p->destroyed |= may;
    }
}

/* Recording ------------------------------------------------------------------------------------ */

static struct program_buffer *recording_buffer(void)
{
    for (int tries = 0; tries < 8; tries++) {
        struct program_buffer *b = &world.buffers[rng_below(&world.rng, BUFFERS)];
        if (b->state == RECORDING)
            return b;
    }
    return NULL;
}

static void know_over(const struct program_submission *until)
{
    for (struct program_submission *s = world.all; s <= until; s++)
        s->over |= s->queue == until->queue;
}

/* Adds to what the model says was counted. */
static void count_item(struct program_submission *s, struct program_item *item)
{
    if (item->counted)
        return;
    item->counted = true;
    if (s->epoch != world.submissions.epoch || !world.submissions.counting)
        return;
    for (int i = 0; i < PIPELINES; i++) {
        struct program_pipeline *p = &world.pipelines[i];
        if (p->life != item->uses.life[i] || !item->uses.count[i])
            continue;
        if (p->epoch != s->epoch)
            p->counted = 0;
        p->epoch = s->epoch;
        p->counted += item->uses.count[i];
        seen_counts++;
    }
}

static void buffer_over(int index)
{
    for (uint32_t i = 0; i < world.submission_count; i++) {
        struct program_submission *s = &world.all[i];
        for (uint32_t k = 0; k < s->item_count; k++) {
            if (s->items[k].buffer == index) {
                know_over(s);
                count_item(s, &s->items[k]);
            }
        }
    }
}

static void buffer_cleared(int index, enum state state)
{
    struct program_buffer *b = &world.buffers[index];
    buffer_over(index);
    for (int i = 0; i < BUFFERS - SECONDARIES; i++) { /* who executes it, no longer can */
        if (!world.buffers[i].executed[index])
            continue;
        world.buffers[i].state = SPOILT;
        for (uint32_t s = 0; s < world.submission_count; s++) {
            for (uint32_t k = 0; k < world.all[s].item_count; k++)
                if (world.all[s].items[k].buffer == i)
                    know_over(&world.all[s]);
        }
    }
    b->state = state;
    b->bound[0] = b->bound[1] = -1;
    b->queries = 0;
    b->feedback = b->fake.frozen = false;
    memset(b->area, -1, sizeof(b->area));
    b->uses_total = 0;
    memset(&b->uses, 0, sizeof(b->uses));
    memset(b->executed, 0, sizeof(b->executed));
    memset(b->mentions, 0, sizeof(b->mentions));
    memset(b->refers, 0, sizeof(b->refers));
    b->fake.bound[0] = b->fake.bound[1] = VK_NULL_HANDLE;
    model_begin(&b->model);
}

static void make_recording(int index)
{
    bool secondary = index >= BUFFERS - SECONDARIES;
    struct program_buffer *b = &world.buffers[index];
    b->recording = bf_recording_create(
        &world.recorder, fake_buffer_handle(&b->fake),
        secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
    REQUIRE(b->recording, "no memory");
}

static void step_begin(void)
{
    int index = (int)rng_below(&world.rng, BUFFERS);
    struct program_buffer *b = &world.buffers[index];
    if (b->state == RECORDING && rng_percent(&world.rng, 97))
        return;
    if (rng_percent(&world.rng, 10)) { /* freed, and allocated again */
        buffer_cleared(index, FRESH);
        bf_recording_destroy(b->recording);
        make_recording(index);
    } else {
        buffer_cleared(index, rng_percent(&world.rng, 90) ? RECORDING : FRESH);
        bf_recording_reset(b->recording);
    }
}

static void step_end(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b || b->feedback || rng_percent(&world.rng, 60))
        return;
    bf_recording_end(b->recording);
    b->state = READY;
}

static void step_bind(void)
{
    struct program_buffer *b = recording_buffer();
    int index = (int)rng_below(&world.rng, PIPELINES);
    struct bf_pipeline *p = world.pipelines[index].record;
    if (!b || b->feedback)
        return;
    bool again = bf_recording_bind_again(b->recording, p->point, p->handle);
    REQUIRE(!again || b->bound[p->point] == index, "bound again, but wasn't bound");
    if (!again)
        bf_recording_bind(b->recording, p->point, p->handle, p);
    fake_bind(&b->fake, p->point, p->handle);
    b->bound[p->point] = index;
    b->mentions[index] = true;
}

static void step_push(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b)
        return;
    uint32_t words[SPAN / 4], offset = 4 * rng_below(&world.rng, SPAN / 4),
                              size = 4 * (uint32_t)rng_range(&world.rng, 1, 4);
    if (rng_percent(&world.rng, 50)) {
        offset = 0;
        size = SPAN;
    }
    if (size > SPAN - offset)
        size = SPAN - offset;
    for (uint32_t i = 0; i < SPAN / 4; i++)
        words[i] = random_word();
    int bound = b->bound[rng_below(&world.rng, 2)];
    uint32_t id = bound >= 0 && rng_percent(&world.rng, 85)
                      ? world.pipelines[bound].record->push_id
                      : id_of_layout(rng_below(&world.rng, 4));
    if (rng_percent(&world.rng, 1))
        id = 0;
    offset += world.base;
    bf_recording_push(b->recording, id, offset, size, words);
    model_push(&b->model, id, offset, size, (const uint8_t *)words);
}

/* RC-7, RC-8: of a dispatch of unknown size ('groups': NULL) none is for it; in a pass of unknown
 * area those that are for any. */
static bool may_run(const struct program_buffer *b, const struct bf_pipeline *p,
                    const struct bf_variant *v, const uint32_t *groups)
{
    if (p->point == VK_PIPELINE_BIND_POINT_GRAPHICS)
        groups = b->area;
    bool may = groups != NULL;
    for (int i = 0; may && i < 3; i++)
        may = groups[i] <= v->groups[i];
    return may && model_allows(&b->model, p, v);
}

/* The variant with the most constants that is published and fits; NULL: none does. */
static bool is_best(const struct program_buffer *b, const struct bf_pipeline *p,
                    const struct bf_variant *chosen, const uint32_t *groups)
{
    int most = -1;
    for (int i = 0; i < BF_MAX_VARIANTS; i++) {
        const struct bf_variant *v = atomic_load(&p->variants[i]);
        int bits = v ? __builtin_popcount(v->mask) : 0;
        if (v && bits > most && may_run(b, p, v, groups))
            most = bits;
    }
    return chosen ? __builtin_popcount(chosen->mask) == most : most < 0;
}

static bool best_is_withdrawn(const struct program_buffer *b, const struct bf_pipeline *p,
                              const uint32_t *groups)
{
    for (int i = 0; i < BF_MAX_VARIANTS; i++) {
        const struct bf_variant *v = atomic_load(&p->variants[i]);
        if (v && (atomic_load(&v->state) & BF_VARIANT_WITHDRAWN) && may_run(b, p, v, groups))
            return true;
    }
    return false;
}

static void step_pass(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b)
        return;
    const VkRect2D area = {{rng_range(&world.rng, -1, 2), rng_range(&world.rng, 0, 2)},
                           {rng_below(&world.rng, 3), rng_below(&world.rng, 3)}};
    const bool known = rng_percent(&world.rng, 90);
    bf_recording_area(b->recording, known ? &area : NULL);
    memset(b->area, -1, sizeof(b->area));
    if (!known || area.offset.x < 0)
        return;
    b->area[0] = (uint32_t)area.offset.x + area.extent.width;
    b->area[1] = (uint32_t)area.offset.y + area.extent.height;
    b->area[2] = 1;
}

static void step_use(void)
{
    struct program_buffer *b = recording_buffer();
    VkPipelineBindPoint point = rng_below(&world.rng, 2);
    if (!b || b->bound[point] < 0 || b->uses_total > 100)
        return;
    int index = b->bound[point];
    struct bf_pipeline *p = world.pipelines[index].record;
    if (b->feedback && point == VK_PIPELINE_BIND_POINT_COMPUTE)
        return;
    const uint32_t some[3] = {rng_below(&world.rng, 5), (uint32_t)rng_range(&world.rng, 1, 3), 1};
    const bool known = point == VK_PIPELINE_BIND_POINT_COMPUTE && rng_percent(&world.rng, 85);
    const uint32_t *groups = known ? some : NULL;
    if (groups)
        bf_recording_dispatch(b->recording, groups);
    else
        bf_recording_use(b->recording, point);
    struct fake_pipeline *bound = fake_pipeline_of(b->fake.bound[point]);
    REQUIRE(bound, "nothing is bound");
    struct bf_variant *v = bound->variant;
    bool barred = p->excluded != BF_REASON_NONE || p->pinned || b->queries || b->feedback;
    if (v) {
        REQUIRE(bound->of == p, "a variant of another pipeline is bound");
        REQUIRE(!barred, "a variant is bound where none may be");
        REQUIRE(may_run(b, p, v, groups),
                "a variant for other values, or where it wasn't checked, is bound");
        seen_picks++;
        for (uint32_t i = 0; i < world.variant_count; i++)
            b->refers[i] |= world.variants[i] == v;
    } else {
        REQUIRE(bound == &world.pipelines[index].handle, "another pipeline is bound");
    }
    if (!barred && !best_is_withdrawn(b, p, groups))
        REQUIRE(is_best(b, p, v, groups), "a variant that fits is passed over");
    uint32_t all = (1u << p->watch.count) - 1;
    if (p->excluded == BF_REASON_NONE && p->watch.count && world.recorder.noting &&
        model_has(&b->model, p, all & ~atomic_load(&p->dropped))) {
        b->uses.count[index]++;
        b->uses.life[index] = world.pipelines[index].life;
        b->uses_total++;
    }
}

static void step_other(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b)
        return;
    switch (rng_below(&world.rng, 6)) {
    case 0: /* generated commands */
        if (b->feedback)
            return;
        bf_recording_restore(b->recording, VK_PIPELINE_BIND_POINT_GRAPHICS);
        bf_recording_restore(b->recording, VK_PIPELINE_BIND_POINT_COMPUTE);
        for (int i = 0; i < 2; i++)
            REQUIRE(b->bound[i] < 0 ||
                        fake_pipeline_of(b->fake.bound[i]) == &world.pipelines[b->bound[i]].handle,
                    "the general pipeline isn't bound again");
        bf_recording_forget_push(b->recording);
        model_begin(&b->model);
        break;
    case 1:
    case 2: { /* queries */
        bool begins = !b->queries && rng_percent(&world.rng, 30);
        begins |= b->queries && rng_percent(&world.rng, 10);
        if (!begins && !b->queries)
            return;
        bf_recording_query(b->recording, begins);
        b->queries += begins ? 1 : UINT32_MAX;
        break;
    }
    case 3: /* transform feedback */
        if (!b->feedback && (b->bound[0] < 0 || rng_percent(&world.rng, 70)))
            return;
        b->feedback = !b->feedback;
        b->fake.frozen = false;
        bf_recording_feedback(b->recording, b->feedback);
        b->fake.frozen = b->feedback;
        break;
    case 4: /* shader objects */
        if (b->feedback || rng_percent(&world.rng, 80))
            return;
        for (int i = 0; i < 2; i++) {
            bf_recording_forget_bound(b->recording, (VkPipelineBindPoint)i);
            b->bound[i] = -1;
        }
        break;
    default:
        break;
    }
}

static void step_execute(void)
{
    struct program_buffer *b = recording_buffer();
    int index = BUFFERS - SECONDARIES + (int)rng_below(&world.rng, SECONDARIES);
    struct program_buffer *secondary = &world.buffers[index];
    if (!b || b->feedback || b >= &world.buffers[BUFFERS - SECONDARIES] ||
        secondary->state != READY || b->uses_total + secondary->uses_total > 100)
        return;
    bf_recording_execute(b->recording, secondary->recording);
    model_begin(&b->model);
    b->bound[0] = b->bound[1] = -1;
    b->executed[index] = true;
    b->uses_total += secondary->uses_total;
    for (int i = 0; i < PIPELINES; i++) {
        b->uses.count[i] += secondary->uses.count[i];
        if (secondary->uses.count[i])
            b->uses.life[i] = secondary->uses.life[i];
        b->mentions[i] |= secondary->mentions[i];
    }
}

/* Submissions ---------------------------------------------------------------------------------- */

static VkFence random_fence(void)
{
    VkFence fence = (VkFence)(uintptr_t)(0x100 + rng_below(&world.rng, FENCES));
    for (uint32_t i = 0; i < world.submission_count; i++)
        if (world.all[i].fence == fence && !world.all[i].over)
            return VK_NULL_HANDLE;
    return fence;
}

static void step_submit(void)
{
    struct program_submission *s = &world.all[world.submission_count];
    struct bf_recording *recordings[12];
    memset(s, 0, sizeof(*s));
    s->queue = (int)rng_below(&world.rng, QUEUES);
    s->epoch = world.submissions.epoch;
    if (rng_percent(&world.rng, 60))
        s->fence = random_fence();
    uint32_t wanted = rng_percent(&world.rng, 10) ? 12 : rng_below(&world.rng, 4);
    for (uint32_t i = 0; i < wanted; i++) {
        int index = (int)rng_below(&world.rng, BUFFERS - SECONDARIES);
        if (world.buffers[index].state != READY)
            continue;
        recordings[s->item_count] = world.buffers[index].recording;
        s->items[s->item_count++] = (struct program_item){index, world.buffers[index].uses, false};
    }
    struct bf_batch batch = {
        .queue = &world.all[s->queue], /* a name */
        .fence = s->fence,
        .recording_count = s->item_count,
        .recordings = recordings,
    };
    if (rng_percent(&world.rng, 40)) {
        uint32_t semaphore = rng_below(&world.rng, SEMAPHORES);
        s->semaphore = (VkSemaphore)(uintptr_t)(0x200 + semaphore);
        s->value = ++world.values[semaphore];
        batch.signal_count = 1;
        batch.semaphores = &s->semaphore;
        batch.values = &s->value;
    }
    uint64_t call = bf_submissions_call(&world.submissions);
    bf_submissions_add(&world.submissions, call, &batch);
    if (rng_percent(&world.rng, 10))
        bf_submissions_drop(&world.submissions, call);
    else
        world.submission_count++;
}

/* What was shown, and all before it on its queue. */
static void count_until(const struct program_submission *until)
{
    know_over(until);
    for (struct program_submission *s = world.all; s <= until; s++)
        for (uint32_t k = 0; s->queue == until->queue && k < s->item_count; k++)
            count_item(s, &s->items[k]);
}

static void step_see(void)
{
    if (!world.submission_count)
        return;
    const struct program_submission *seen =
        &world.all[rng_below(&world.rng, world.submission_count)];
    if (rng_percent(&world.rng, 5)) {
        int queue = rng_range(&world.rng, -1, QUEUES - 1);
        bf_submissions_queue_idle(&world.submissions, queue < 0 ? NULL : &world.all[queue]);
        for (uint32_t i = 0; i < world.submission_count; i++)
            if (queue < 0 || world.all[i].queue == queue)
                count_until(&world.all[i]);
    } else if (seen->fence && rng_percent(&world.rng, 50)) {
        const VkFence fences[] = {(VkFence)(uintptr_t)0x99, seen->fence};
        bf_submissions_fence_seen(&world.submissions, 2, fences);
        for (uint32_t i = 0; i < world.submission_count; i++)
            if (world.all[i].fence == fences[1])
                count_until(&world.all[i]);
    } else if (seen->semaphore) {
        bf_submissions_value_seen(&world.submissions, seen->semaphore, seen->value);
        for (uint32_t i = 0; i < world.submission_count; i++)
            if (world.all[i].semaphore == seen->semaphore && world.all[i].value <= seen->value)
                count_until(&world.all[i]);
    }
}

/* All that uses it is over, as far as the program knows; nothing else may have it bound. */
static void step_destroy(void)
{
    int index = (int)rng_below(&world.rng, PIPELINES);
    struct program_pipeline *p = &world.pipelines[index];
    for (uint32_t i = 0; i < world.submission_count; i++) {
        for (uint32_t k = 0; k < world.all[i].item_count; k++)
            if (world.all[i].items[k].uses.life[index] == p->life)
                know_over(&world.all[i]);
    }
    for (int b = 0; b < BUFFERS; b++) {
        struct program_buffer *buffer = &world.buffers[b];
        if (buffer->mentions[index]) {
            buffer->state = SPOILT;
            for (uint32_t i = 0; i < world.submission_count; i++) {
                for (uint32_t k = 0; k < world.all[i].item_count; k++)
                    if (world.all[i].items[k].buffer == b)
                        know_over(&world.all[i]);
            }
        }
    }
    for (uint32_t i = 0; i < BF_MAX_VARIANTS; i++)
        withdraw(p->record, i);
    fake_gone(p->record);
    free(p->record);
    make_pipeline(p);
    seen_destroyed++;
}

static void step_rare(void)
{
    switch (rng_below(&world.rng, 8)) {
    case 0:
        atomic_fetch_add(&world.submissions.epoch, 1);
        break;
    case 1:
        atomic_store(&world.submissions.counting, !world.submissions.counting);
        break;
    case 2:
        atomic_store(&world.recorder.noting, !world.recorder.noting);
        break;
    case 3:
        atomic_store(&world.pipelines[rng_below(&world.rng, PIPELINES)].record->pinned, true);
        break;
    default:
        atomic_store(&world.submissions.counting, true);
        atomic_store(&world.recorder.noting, true);
        break;
    }
}

/* Everything ----------------------------------------------------------------------------------- */

static void check_all(bool end)
{
    for (uint32_t i = 0; i < world.variant_count; i++)
        REQUIRE((atomic_load(&world.variants[i]->state) & BF_VARIANT_REFS) == references(i),
                "variant %u: %u command buffers refer to it, not %u", i, references(i),
                atomic_load(&world.variants[i]->state) & BF_VARIANT_REFS);
    if (!end && rng_percent(&world.rng, 70))
        return; /* what has finished stays uncounted for a while (SU-4) */
    bf_submissions_settle(&world.submissions);
    for (int i = 0; i < PIPELINES; i++) {
        const struct program_pipeline *p = &world.pipelines[i];
        const struct bf_histogram *t = p->record->histogram;
        uint64_t expected = p->epoch == world.submissions.epoch ? p->counted : 0;
        uint64_t total = t->epoch == world.submissions.epoch ? t->total : 0;
        REQUIRE(total == expected, "pipeline %d: %llu uses were counted, not %llu", i,
                (unsigned long long)total, (unsigned long long)expected);
    }
}

static void run(uint64_t seed)
{
    static void (*const steps[])(void) = {
        step_begin, step_end,    step_bind,   step_bind,   step_bind,    step_push,    step_push,
        step_push,  step_use,    step_use,    step_use,    step_use,     step_use,     step_use,
        step_use,   step_use,    step_use,    step_other,  step_execute, step_publish, step_publish,
        step_see,   step_submit, step_submit, step_retire, step_pass,
    };
    memset(&world, 0, sizeof(world));
    fake_none();
    fake_seed = seed;
    world.rng.state = seed;
    world.base = seed % 2 ? 0 : BF_PUSH_BYTES - SPAN;
    fake_table(&world.vk);
    REQUIRE(bf_submissions_init(&world.submissions, NULL) == VK_SUCCESS, "no memory");
    world.recorder.vk = &world.vk;
    world.recorder.submissions = &world.submissions;
    world.recorder.noting = true;
    for (int i = 0; i < PIPELINES; i++)
        make_pipeline(&world.pipelines[i]);
    for (int i = 0; i < BUFFERS; i++) {
        make_recording(i);
        buffer_cleared(i, FRESH);
    }
    for (int i = 0; i < STEPS; i++) {
        uint32_t rare = rng_below(&world.rng, 1000);
        if (rare < 3)
            step_destroy();
        else if (rare < 6)
            step_rare();
        else
            steps[rng_below(&world.rng, sizeof(steps) / sizeof(steps[0]))]();
        check_all(false);
    }
    bf_submissions_queue_idle(&world.submissions, NULL);
    for (uint32_t i = 0; i < world.submission_count; i++)
        count_until(&world.all[i]);
    check_all(true);
    REQUIRE(world.submissions.open == 0, "%u submissions stay open", world.submissions.open);
    for (int i = 0; i < BUFFERS; i++) {
        buffer_cleared(i, FRESH);
        bf_recording_destroy(world.buffers[i].recording);
    }
    check_all(true);
    bf_submissions_finish(&world.submissions);
    for (uint32_t i = 0; i < world.variant_count; i++)
        fake_variant_free(world.variants[i]);
    for (int i = 0; i < PIPELINES; i++)
        free(world.pipelines[i].record);
}

int main(int argc, char **argv)
{
    const uint64_t count = argument(argc, argv, "--count", 1000),
                   seed = argument(argc, argv, "--seed", 1);
    for (uint64_t i = 0; i < count; i++)
        run(seed + i);
    printf(
        "%llu programs: %llu uses recorded with variants, %llu counts, %llu pipelines destroyed\n",
        (unsigned long long)count, (unsigned long long)seen_picks, (unsigned long long)seen_counts,
        (unsigned long long)seen_destroyed);
    REQUIRE(count < 100 || (seen_picks && seen_counts && seen_destroyed), "nothing was tested");
    return 0;
}
