/* SPDX-License-Identifier: MIT */
/* Random programs whose variants are on trial, against a GPU that takes time (ab_timing_gpu.h):
 * primary and secondary command buffers that dispatch, and draw in passes of their own or of
 * whoever executes them, that are executed by one and then another, recorded once and submitted
 * again and again, begun anew as soon as they have run; submissions, of which the program sees now
 * this and now that. What is told of a measurement (specialize/ab_timing.h, submission.h) is the
 * time that the GPU took for just that work, by its last run, of one variant and by one throw of a
 * coin. --count N --seed N. */

#include "random/rng.h"
#include "support/arguments.h"
#include "ab_timing_gpu.h"
#include "specialize/pipeline_time.h"

#define PIPELINES   4 /* two at each bind point */
#define BUFFERS     8 /* the last SECONDARIES of them are secondary ones */
#define SECONDARIES 5
#define QUEUES      2
#define STEPS       600
#define VARIANTS    (STEPS + 1)

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE  VK_PIPELINE_BIND_POINT_COMPUTE

enum state { FRESH, RECORDING, READY, SPOILT };

struct program_buffer {
    struct gpu_buffer gpu;
    struct bf_recording *recording;
    enum state state;
    bool simultaneous;
    bool executes[BUFFERS]; /* itself or through others */
};

struct program_submission {
    int queue, buffer;
    VkFence fence;
    bool ran, seen;
};

static struct {
    struct rng rng;
    struct VolkDeviceTable vk;
    struct bf_ab_timer timer;
    struct bf_submissions submissions;
    struct bf_recorder recorder;
    struct fake_pipeline handles[PIPELINES];
    struct bf_pipeline pipelines[PIPELINES];
    struct bf_variant *variants[VARIANTS];
    uint32_t variant_count;
    struct program_buffer buffers[BUFFERS];
    struct program_submission all[STEPS];
    uint32_t submission_count;
    struct {
        uint64_t number;
        bool tries, alone;
    } throws[5 * STEPS];
    uint32_t throw_count;
} world;

static uint64_t told_dispatches[2], told_passes[3]; /* by level; with draws in 0, 1, more others */
static uint64_t told_reported;

static bool is_secondary(int index)
{
    return index >= BUFFERS - SECONDARIES;
}

/* Measurements --------------------------------------------------------------------------------- */

static void check_time(void *context, const struct bf_ab_sample *sample, double ns)
{
    const struct gpu_buffer *b = context;
    const struct gpu_truth *truth = gpu_truth_of(sample);
    REQUIRE(truth->by == b && truth->life == b->life, "a time of another recording's");
    REQUIRE(ns == (double)truth->ns, "%.0f ns are told, it took %llu", ns,
            (unsigned long long)truth->ns);
    const struct bf_ab_use *u = &sample->use, *t = &truth->use;
    REQUIRE(truth->works && t->candidate != BF_AB_NONE, "a time of no variant, or of several");
    REQUIRE(u->pipeline == t->pipeline && u->candidate == t->candidate, "another variant's time");
    REQUIRE(u->variant == t->variant, "the other side's time");
    REQUIRE(u->lot == t->lot, "another throw's time");
    REQUIRE(u->work == t->work, "the time of other work");
}

/* What was timed for the report, in programs that have one (specialize/pipeline_time.h). */
static void check_account(const struct gpu_buffer *b, const struct bf_recording *r)
{
    const struct bf_ab_timing *own = &r->account->own;
    for (uint32_t i = 0; i < own->count; i++) {
        const struct gpu_truth *truth = gpu_truth_of(&own->samples[i]);
        double ns;
        REQUIRE(truth->by == b && truth->life == b->life, "the report has another recording's");
        REQUIRE(bf_ab_timing_ns(&world.timer, own, i, &ns) && ns == (double)truth->ns,
                "the report has another time");
        told_reported++;
    }
    bf_pipeline_times_read(world.recorder.times, &world.timer, r->account, r->timing);
}

static void was_measured(void *context, struct bf_recording *r)
{
    (void)context;
    struct gpu_buffer *b = (struct gpu_buffer *)(uintptr_t)r->handle;
    if (r->account)
        check_account(b, r);
    if (!r->timing)
        return;
    for (uint32_t i = 0; i < r->timing->count; i++) {
        const struct bf_ab_sample *sample = &r->timing->samples[i];
        const struct gpu_truth *truth = gpu_truth_of(sample);
        bool whole = truth->works && truth->use.candidate != BF_AB_NONE;
        REQUIRE(whole == (sample->use.candidate != BF_AB_NONE), "a time is not told");
        if (!whole)
            continue;
        if (truth->executed || world.pipelines[truth->use.pipeline - 1].point == GRAPHICS)
            told_passes[truth->executed < 2 ? truth->executed : 2]++;
        else
            told_dispatches[b->secondary]++;
    }
    bf_ab_timing_read(&world.timer, r->timing, check_time, b);
}

/* One number, one coin; and who measures by itself has one of its own. */
static void check_throw(const struct bf_recording *r)
{
    for (uint32_t i = 0; i < world.throw_count; i++) {
        if (world.throws[i].number != r->number)
            continue;
        REQUIRE(world.throws[i].tries == r->lot_is_variant, "a coin fell both ways");
        REQUIRE(!world.throws[i].alone && !r->measurable, "two recordings share a number");
        return;
    }
    world.throws[world.throw_count].number = r->number;
    world.throws[world.throw_count].alone = r->measurable;
    world.throws[world.throw_count++].tries = r->lot_is_variant;
}

/* Command buffers ------------------------------------------------------------------------------ */

/* What executes it can't be submitted any more. */
static void spoil_holders(int index)
{
    for (int i = 0; i < BUFFERS; i++)
        if (world.buffers[i].executes[index])
            world.buffers[i].state = SPOILT;
}

static void make_recording(int index)
{
    struct program_buffer *b = &world.buffers[index];
    b->gpu.secondary = is_secondary(index);
    b->recording = bf_recording_create(&world.recorder, gpu_handle(&b->gpu),
                                       is_secondary(index) ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                           : VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                       0);
    REQUIRE(b->recording, "no memory");
    b->recording->timestamp_bits = 48;
}

static bool begin(int index, bool within)
{
    struct program_buffer *b = &world.buffers[index];
    if (b->gpu.pending)
        return false;
    spoil_holders(index);
    if (rng_percent(&world.rng, 10)) {
        bf_recording_destroy(b->recording);
        make_recording(index);
    }
    b->simultaneous = rng_percent(&world.rng, 20);
    VkCommandBufferUsageFlags flags =
        (b->simultaneous ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0) |
        (within || (!is_secondary(index) && rng_percent(&world.rng, 5)) /* ignored there */
             ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT
             : 0);
    bf_recording_reset(b->recording);
    bf_recording_measure(b->recording, flags);
    if (b->recording->lot_drawn)
        check_throw(b->recording);
    REQUIRE(b->recording->lot_drawn == (within || !b->simultaneous), "thrown, or not");
    gpu_begin(&b->gpu, within);
    memset(b->executes, 0, sizeof(b->executes));
    b->state = RECORDING;
    return true;
}

static void step_begin(void)
{
    int index = (int)rng_below(&world.rng, BUFFERS);
    if (world.buffers[index].state != RECORDING || rng_percent(&world.rng, 5))
        begin(index, is_secondary(index) && rng_percent(&world.rng, 60));
}

/* Where a step is to be about a certain one. */
static struct program_buffer *chosen;

static struct program_buffer *recording_buffer(void)
{
    if (chosen)
        return chosen->state == RECORDING ? chosen : NULL;
    for (int tries = 0; tries < 8; tries++) {
        struct program_buffer *b = &world.buffers[rng_below(&world.rng, BUFFERS)];
        if (b->state == RECORDING && b->gpu.count < GPU_OPERATIONS / 2)
            return b;
    }
    return NULL;
}

static void step_end(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b || b->gpu.in_pass)
        return;
    bf_recording_end(b->recording);
    b->state = READY;
}

static void step_pass(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b || b->gpu.within)
        return;
    if (b->gpu.in_pass) {
        gpu_pass(&b->gpu, false);
        bf_recording_pass_ended(b->recording);
    } else {
        bf_recording_pass_begins(b->recording);
        gpu_pass(&b->gpu, true);
    }
}

static void step_other_work(void)
{
    struct program_buffer *b = recording_buffer();
    if (b)
        gpu_work(&b->gpu, 1 + rng_below(&world.rng, 1000), NULL);
}

/* The variant for this value that is published, if it is on trial. */
static const struct bf_variant *variant_on_trial(const struct bf_pipeline *p, uint32_t value)
{
    for (int i = 0; i < BF_MAX_VARIANTS; i++) {
        const struct bf_variant *v = atomic_load(&p->variants[i]);
        if (v && v->values[0] == value)
            return atomic_load(&v->ab_timed) ? v : NULL;
    }
    return NULL;
}

static void step_use(void)
{
    struct program_buffer *b = recording_buffer();
    if (!b)
        return;
    bool draws = b->gpu.within || b->gpu.in_pass;
    struct bf_recording *r = b->recording;
    struct bf_pipeline *p = &world.pipelines[2 * rng_below(&world.rng, 2) + !draws];
    uint32_t value = rng_below(&world.rng, 2);
    const uint32_t groups[3] = {rng_below(&world.rng, 4), 2, 1};
    bool indirect = !draws && rng_percent(&world.rng, 10);
    bf_recording_bind(r, p->point, p->handle, p);
    fake_bind(&b->gpu.fake, p->point, p->handle);
    bf_recording_push(r, 1, 0, 4, &value);
    const struct bf_variant *v = indirect ? NULL : variant_on_trial(p, value); /* RC-7 */
    if (draws || indirect)
        bf_recording_use(r, p->point);
    else
        bf_recording_dispatch(r, groups);
    struct bf_ab_use use = {.pipeline = p->id,
                            .candidate = v ? v->candidate : BF_AB_NONE,
                            .work = draws ? 1 : groups[0] * 2,
                            .lot = r->number};
    const struct bf_variant *bound = fake_pipeline_of(b->gpu.fake.bound[p->point])->variant;
    bool thrown = v && r->lot_drawn && fake_adapts && use.work;
    if (v && thrown)
        REQUIRE((bound == v) == r->lot_is_variant, "the coin was not followed");
    else if (v)
        REQUIRE(bound == v, "a variant is not picked, and nothing was thrown");
    use.variant = bound == v;
    if (!thrown)
        use = (struct bf_ab_use){.candidate = BF_AB_NONE, .work = 1};
    gpu_work(&b->gpu, 10 + rng_below(&world.rng, 1000), v && (draws || thrown) ? &use : NULL);
    if (!draws)
        bf_recording_dispatched(r);
}

static bool is_idle_everywhere(int index)
{
    return world.buffers[index].simultaneous || !world.buffers[index].gpu.pending;
}

static void execute(struct program_buffer *b, int index)
{
    struct program_buffer *secondary = &world.buffers[index];
    if (!b || b == secondary || secondary->state != READY || secondary->gpu.count > 40 ||
        (b->gpu.in_pass || b->gpu.within) != secondary->gpu.within ||
        (b->gpu.secondary && rng_percent(&world.rng, 70)))
        return;
    bool comes[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        comes[i] = i == index || secondary->executes[i];
        bool once = comes[i] && !world.buffers[i].simultaneous;
        if (once && (world.buffers[i].gpu.pending || b->executes[i]))
            return;
    }
    for (int i = 0; i < BUFFERS; i++) {
        for (int k = 0; comes[i] && !world.buffers[i].simultaneous && k < BUFFERS; k++)
            if (world.buffers[k].executes[i] && &world.buffers[k] != b && !comes[k])
                world.buffers[k].state = SPOILT;
    }
    bf_recording_execute(b->recording, secondary->recording);
    gpu_execute(&b->gpu, &secondary->gpu);
    for (int i = 0; i < BUFFERS; i++)
        b->executes[i] |= comes[i];
}

static int random_secondary(void)
{
    return BUFFERS - SECONDARIES + (int)rng_below(&world.rng, SECONDARIES);
}

static void step_execute(void)
{
    struct program_buffer *b = recording_buffer();
    execute(b, random_secondary());
}

/* Submissions ---------------------------------------------------------------------------------- */

static void submit(int index)
{
    struct program_buffer *b = &world.buffers[index];
    if (b->state != READY || !is_idle_everywhere(index))
        return;
    for (int i = 0; i < BUFFERS; i++)
        if (b->executes[i] && !is_idle_everywhere(i))
            return;
    struct program_submission *s = &world.all[world.submission_count];
    *s = (struct program_submission){
        .queue = (int)rng_below(&world.rng, QUEUES),
        .buffer = index,
        .fence = (VkFence)(uintptr_t)(0x1000 + world.submission_count),
    };
    const struct bf_batch batch = {.queue = &world.all[s->queue],
                                   .fence = s->fence,
                                   .recording_count = 1,
                                   .recordings = &b->recording};
    uint64_t call = bf_submissions_call(&world.submissions);
    bf_submissions_add(&world.submissions, call, &batch);
    gpu_submit(&b->gpu);
    if (rng_percent(&world.rng, 10)) {
        gpu_drop(&b->gpu);
        bf_submissions_drop(&world.submissions, call);
    } else {
        world.submission_count++;
    }
}

static void step_submit(void)
{
    submit((int)rng_below(&world.rng, BUFFERS - SECONDARIES));
}

/* A frame as programs have them: secondary command buffers of one kind, executed and submitted. */
static void step_frame(void)
{
    int index = (int)rng_below(&world.rng, BUFFERS - SECONDARIES);
    bool within = rng_percent(&world.rng, 60);
    uint32_t count = 1 + rng_below(&world.rng, 3);
    int secondaries[3];
    for (uint32_t i = 0; i < count; i++) {
        secondaries[i] = random_secondary();
        chosen = &world.buffers[secondaries[i]];
        bool anew = rng_percent(&world.rng, 80) && begin(secondaries[i], within);
        for (int k = 0; anew && k < 3; k++)
            step_use();
        if (anew)
            step_end();
    }
    chosen = &world.buffers[index];
    if (begin(index, false)) {
        if (within)
            step_pass();
        for (uint32_t i = 0; i < count; i++)
            execute(chosen, secondaries[i]);
        if (within)
            step_pass();
        step_end();
        submit(index);
    }
    chosen = NULL;
}

static void step_run(void)
{
    int queue = (int)rng_below(&world.rng, QUEUES);
    for (uint32_t i = 0; i < world.submission_count; i++) {
        struct program_submission *s = &world.all[i];
        if (s->queue != queue || s->ran)
            continue;
        gpu_run(&world.buffers[s->buffer].gpu);
        s->ran = true;
        return;
    }
}

static void step_see(void)
{
    if (!world.submission_count)
        return;
    struct program_submission *s = &world.all[rng_below(&world.rng, world.submission_count)];
    if (s->ran)
        bf_submissions_fence_seen(&world.submissions, 1, &s->fence);
}

/* Variants ------------------------------------------------------------------------------------- */

static void step_publish(void)
{
    struct bf_pipeline *p = &world.pipelines[rng_below(&world.rng, PIPELINES)];
    uint32_t slot = rng_below(&world.rng, 2), words[BF_WATCHED] = {slot};
    struct bf_variant *old = atomic_load(&p->variants[slot]);
    if (old && rng_percent(&world.rng, 70)) { /* a verdict, or measurements were discarded */
        atomic_store(&old->ab_timed, !atomic_load(&old->ab_timed));
        return;
    }
    if (old)
        bf_variant_withdraw(old);
    struct bf_variant *v = fake_variant(p, 1, words);
    v->candidate = world.variant_count;
    atomic_store(&v->ab_timed, true);
    world.variants[world.variant_count++] = v;
    atomic_store(&p->variants[slot], v);
}

static void step_rare(void)
{
    if (rng_percent(&world.rng, 80)) {
        atomic_store(&fake_adapts, true);
        atomic_store(&world.submissions.counting, true);
        atomic_store(&world.recorder.passes, 1);
        return;
    }
    switch (rng_below(&world.rng, 4)) {
    case 0:
        atomic_store(&fake_adapts, false);
        break;
    case 1:
        atomic_store(&world.submissions.counting, false);
        break;
    case 2:
        atomic_store(&world.recorder.passes, 0);
        break;
    default:
        atomic_fetch_add(&world.submissions.epoch, 1);
        break;
    }
}

/* Everything ----------------------------------------------------------------------------------- */

static void open_world(uint64_t seed)
{
    memset(&world, 0, sizeof(world));
    fake_none();
    fake_seed = seed;
    world.rng.state = seed;
    atomic_store(&fake_adapts, true);
    gpu_table(&world.vk);
    REQUIRE(bf_submissions_init(&world.submissions, NULL) == VK_SUCCESS, "no memory");
    bf_ab_timer_init(&world.timer, VK_NULL_HANDLE, &world.vk, 1);
    world.submissions.measured = was_measured;
    world.recorder.vk = &world.vk;
    world.recorder.submissions = &world.submissions;
    world.recorder.timer = &world.timer;
    world.recorder.passes = 1;
    world.recorder.noting = seed % 2; /* either with notes or without */
    world.recorder.times = seed / 2 % 2 ? bf_pipeline_times_create() : NULL;
    for (int i = 0; i < PIPELINES; i++) {
        struct bf_pipeline *p = &world.pipelines[i];
        world.handles[i].of = p;
        p->handle = fake_pipeline_handle(&world.handles[i]);
        p->point = i % 2 ? COMPUTE : GRAPHICS;
        p->push_id = 1;
        p->histogram = &world.handles[i].histogram;
        bf_pipeline_watch(p, &(struct bf_watch){.count = 1});
        fake_lives(p);
        p->id = (uint64_t)i + 1;
    }
    for (int i = 0; i < BUFFERS; i++)
        make_recording(i);
}

static void close_world(void)
{
    for (uint32_t i = 0; i < world.submission_count; i++) {
        if (!world.all[i].ran)
            gpu_run(&world.buffers[world.all[i].buffer].gpu);
        world.all[i].ran = true;
    }
    bf_submissions_queue_idle(&world.submissions, NULL);
    for (int i = 0; i < BUFFERS; i++)
        bf_recording_destroy(world.buffers[i].recording);
    for (int i = 0; i < BF_SUBMISSION_LISTS; i++)
        REQUIRE(!world.submissions.lists[i], "a command buffer stays listed");
    bf_submissions_finish(&world.submissions);
    bf_ab_timer_finish(&world.timer);
    bf_pipeline_times_free(world.recorder.times);
    for (uint32_t i = 0; i < world.variant_count; i++)
        fake_variant_free(world.variants[i]);
}

static void run(uint64_t seed)
{
    static void (*const steps[])(void) = {
        step_begin,   step_begin,   step_begin,      step_end,     step_end,
        step_pass,    step_pass,    step_use,        step_use,     step_use,
        step_use,     step_use,     step_frame,      step_execute, step_execute,
        step_execute, step_execute, step_other_work, step_submit,  step_submit,
        step_submit,  step_run,     step_run,        step_see,     step_see,
    };
    open_world(seed);
    step_publish();
    for (int i = 0; i < STEPS; i++) {
        uint32_t rare = rng_below(&world.rng, 100);
        if (rare < 4)
            step_publish();
        else if (rare < 6)
            step_rare();
        else
            steps[rng_below(&world.rng, sizeof(steps) / sizeof(steps[0]))]();
    }
    close_world();
}

int main(int argc, char **argv)
{
    const uint64_t count = argument(argc, argv, "--count", 1000),
                   seed = argument(argc, argv, "--seed", 1);
    for (uint64_t i = 0; i < count; i++)
        run(seed + i);
    printf("%llu programs: %llu dispatches in primaries and %llu in secondaries, %llu passes with "
           "draws of their own, %llu by one secondary and %llu by more; %llu for the report\n",
           (unsigned long long)count, (unsigned long long)told_dispatches[0],
           (unsigned long long)told_dispatches[1], (unsigned long long)told_passes[0],
           (unsigned long long)told_passes[1], (unsigned long long)told_passes[2],
           (unsigned long long)told_reported);
    REQUIRE(count < 100 || (told_dispatches[0] && told_dispatches[1] && told_passes[0] &&
                            told_passes[1] && told_passes[2] && told_reported),
            "nothing was tested");
    return 0;
}
