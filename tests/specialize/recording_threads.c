/* SPDX-License-Identifier: MIT */
/* Command buffers recorded by several threads at once, while another publishes, withdraws and ends
 * the variants of their pipelines and a third sees submissions finish (specialize/recording.h,
 * submission.h, variant.h): nothing is bound that is for other values or has been destroyed, and in
 * the end every use has been counted once for each submission. The variants of one pipeline are on
 * trial, and what is measured is read, for the report too. --steps N --seed N. */

#include "random/rng.h"
#include "support/arguments.h"
#include "recording_fake.h"
#include "specialize/ab_timing.h"
#include "specialize/pipeline_time.h"

#define PIPELINES 4
#define WORKERS   3
#define SPAN      16
#define MOST_USES 100 /* of a recording: all are counted as they are */

static struct VolkDeviceTable vk;
static struct bf_submissions submissions;
static struct bf_recorder recorder;
static struct bf_ab_timer timer;
static _Atomic uint64_t read_times[2]; /* by level */
static struct fake_pipeline handles[PIPELINES];
static struct bf_pipeline pipelines[PIPELINES];
static uint32_t steps = 20000;

struct worker {
    pthread_t thread;
    struct rng rng;
    struct fake_buffer buffers[2]; /* a primary and a secondary one */
    struct bf_recording *recordings[2];
    struct model models[2];
    int bound[2][2];
    uint32_t uses[2][PIPELINES], uses_total[2];
    bool recording[2], ready[2];
    uint64_t counted[PIPELINES], picks; /* what must have been counted in the end */
    uint64_t value;
    _Atomic uint64_t signalled; /* by the GPU, which takes no time */
};
static struct worker workers[WORKERS];
static atomic_bool over;
static _Atomic uint32_t working;
/* The workers' steps and the publisher's: four to one, whatever the machine does. */
static _Atomic uint64_t worked, published;

static void count_step(_Atomic uint64_t *own, uint64_t weight, _Atomic uint64_t *others,
                       uint64_t others_weight)
{
    uint64_t mine = weight * (atomic_fetch_add_explicit(own, 1, memory_order_relaxed) + 1);
    while (atomic_load(&working) &&
           mine > others_weight * atomic_load_explicit(others, memory_order_relaxed) + 1024)
        sched_yield();
}

/* A driver that writes no times down, and tells the same whenever it is asked. */

static VKAPI_ATTR VkResult VKAPI_CALL results(VkDevice device, VkQueryPool pool, uint32_t first,
                                              uint32_t count, size_t size, void *data,
                                              VkDeviceSize stride, VkQueryResultFlags flags)
{
    (void)device, (void)pool, (void)first, (void)count, (void)stride, (void)flags;
    memset(data, 0, size);
    return VK_SUCCESS;
}

static void open_trials(void)
{
    fake_fill(&vk, "vkCreateQueryPool vkDestroyQueryPool");
    FAKE_STUB(&vk, vkCmdResetQueryPool);
    FAKE_STUB(&vk, vkCmdWriteTimestamp);
    FAKE_STUB(&vk, vkCmdPipelineBarrier);
    vk.vkGetQueryPoolResults = results;
    bf_ab_timer_init(&timer, VK_NULL_HANDLE, &vk, 1);
    recorder.timer = &timer;
}

static void take_time(void *context, const struct bf_ab_sample *sample, double ns)
{
    const struct bf_recording *r = context;
    REQUIRE(ns == 0 && sample->use.lot == r->number, "a time of another recording's");
    atomic_fetch_add(&read_times[r->level], 1);
}

static void was_measured(void *context, struct bf_recording *r)
{
    (void)context;
    if (r->timing)
        bf_ab_timing_read(&timer, r->timing, take_time, r);
    bf_pipeline_times_read(recorder.times, &timer, r->account, r->timing);
}

static uint32_t random_word(struct rng *rng)
{
    return rng_below(rng, 2) ? UINT32_C(0x80000000) : 0;
}

static VkSemaphore semaphore_of(const struct worker *w)
{
    return (VkSemaphore)(uintptr_t)(1 + (w - workers));
}

/* What the program does that may only be done with finished command buffers. */
static void begin(struct worker *w, int which)
{
    bf_recording_reset(w->recordings[which]);
    bf_recording_measure(w->recordings[which],
                         rng_percent(&w->rng, 30) ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT
                                                  : 0);
    model_begin(&w->models[which]);
    w->bound[which][0] = w->bound[which][1] = -1;
    memset(w->uses[which], 0, sizeof(w->uses[which]));
    w->uses_total[which] = 0;
    w->recording[which] = true;
    w->ready[which] = false;
}

static void use(struct worker *w, int which)
{
    int point = (int)rng_below(&w->rng, 2), index = w->bound[which][point];
    if (index < 0 || w->uses_total[which] >= MOST_USES)
        return;
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
        bf_recording_dispatch(w->recordings[which], (const uint32_t[]){1, 1, 1});
    else
        bf_recording_use(w->recordings[which], (VkPipelineBindPoint)point);
    const struct fake_pipeline *bound = fake_pipeline_of(w->buffers[which].bound[point]);
    REQUIRE(bound->of == &pipelines[index], "another pipeline is bound");
    if (bound->variant) {
        REQUIRE(model_allows(&w->models[which], bound->of, bound->variant),
                "a variant for other values is bound");
        w->picks++;
    }
    if (model_has(&w->models[which], &pipelines[index], 0xff)) {
        w->uses[which][index]++;
        w->uses_total[which]++;
    }
    if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
        bf_recording_dispatched(w->recordings[which]);
}

static void submit(struct worker *w)
{
    struct bf_recording *const recordings[] = {w->recordings[0]};
    VkSemaphore semaphore = semaphore_of(w);
    const struct bf_batch batch = {.queue = w,
                                   .recording_count = 1,
                                   .recordings = recordings,
                                   .signal_count = 1,
                                   .semaphores = &semaphore,
                                   .values = &(uint64_t){++w->value}};
    uint64_t call = bf_submissions_call(&submissions);
    bf_submissions_add(&submissions, call, &batch);
    if (rng_percent(&w->rng, 10)) {
        bf_submissions_drop(&submissions, call);
        w->value--;
        return;
    }
    for (int i = 0; i < PIPELINES; i++)
        w->counted[i] += w->uses[0][i];
    atomic_store(&w->signalled, w->value);
}

static void *work(void *data)
{
    struct worker *w = data;
    for (uint32_t i = 0; i < steps; i++) {
        count_step(&worked, 1, &published, 4);
        int which = (int)rng_below(&w->rng, 2);
        if (!w->recording[which]) {
            if (w->ready[0] && rng_percent(&w->rng, 50))
                submit(w);
            else if (which == 1 && w->ready[1] && rng_percent(&w->rng, 50)) {
                if (!w->recording[0] || w->uses_total[0] + w->uses_total[1] > MOST_USES)
                    continue;
                bf_recording_execute(w->recordings[0], w->recordings[1]);
                model_begin(&w->models[0]);
                w->bound[0][0] = w->bound[0][1] = -1;
                w->uses_total[0] += w->uses_total[1];
                for (int k = 0; k < PIPELINES; k++)
                    w->uses[0][k] += w->uses[1][k];
            } else if (which == 0 || !w->ready[1] || rng_percent(&w->rng, 30)) {
                if (which == 1)
                    w->ready[0] = w->recording[0] = false; /* it may execute this one */
                begin(w, which);
            }
            continue;
        }
        uint32_t what = rng_below(&w->rng, 100);
        if (what < 25) {
            int index = (int)rng_below(&w->rng, PIPELINES);
            VkPipelineBindPoint point = pipelines[index].point;
            if (!bf_recording_bind_again(w->recordings[which], point, pipelines[index].handle))
                bf_recording_bind(w->recordings[which], point, pipelines[index].handle,
                                  &pipelines[index]);
            fake_bind(&w->buffers[which], point, pipelines[index].handle);
            w->bound[which][point] = index;
        } else if (what < 50) {
            uint32_t words[SPAN / 4], first = rng_below(&w->rng, SPAN / 4),
                                      count = 1 + rng_below(&w->rng, SPAN / 4 - first),
                                      id = rng_percent(&w->rng, 90) ? 1 : 2;
            for (uint32_t k = 0; k < count; k++)
                words[k] = random_word(&w->rng);
            bf_recording_push(w->recordings[which], id, 4 * first, 4 * count, words);
            model_push(&w->models[which], id, 4 * first, 4 * count, (const uint8_t *)words);
        } else if (what < 97) {
            use(w, which);
        } else {
            bf_recording_end(w->recordings[which]);
            w->recording[which] = false;
            w->ready[which] = true;
        }
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

/* Sees what has finished, of all. */
static void *see(void *data)
{
    struct rng rng = {*(uint64_t *)data};
    while (!atomic_load(&over)) {
        struct worker *w = &workers[rng_below(&rng, WORKERS)];
        bf_submissions_value_seen(&submissions, semaphore_of(w), atomic_load(&w->signalled));
    }
    return NULL;
}

struct made {
    struct made *next;
    struct bf_variant *variant;
};

/* At most so many that it isn't slowed down by those before. */
static struct made *retire_some(struct made *all, uint64_t *retired)
{
    uint32_t tries = 64;
    for (struct made *m = all; m && tries; m = m->next, tries--) {
        struct fake_pipeline *p = fake_pipeline_of(m->variant->handle);
        if (atomic_load(&p->destroyed) || !bf_variant_retire(m->variant))
            continue;
        atomic_store(&p->destroyed, true);
        ++*retired;
    }
    return all;
}

static void publish(struct rng *rng, struct made **all)
{
    struct bf_pipeline *p = &pipelines[rng_below(rng, PIPELINES)];
    uint32_t slot = rng_below(rng, BF_MAX_VARIANTS), words[BF_WATCHED];
    struct bf_variant *old = atomic_exchange(&p->variants[slot], NULL);
    if (old)
        bf_variant_withdraw(old);
    if (rng_percent(rng, 30))
        return;
    struct made *m = malloc(sizeof(*m));
    REQUIRE(m, "no memory");
    for (uint32_t i = 0; i < BF_WATCHED; i++)
        words[i] = random_word(rng);
    m->variant = fake_variant(p, (uint8_t)rng_range(rng, 1, (1 << p->watch.count) - 1), words);
    atomic_store(&m->variant->ab_timed, p == &pipelines[1]);
    m->next = *all;
    *all = m;
    atomic_store_explicit(&p->variants[slot], m->variant, memory_order_release);
}

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct made *all = NULL;
    pthread_t seer;
    uint64_t retired = 0, picks = 0;
    fake_seed = seed;
    fake_table(&vk);
    REQUIRE(bf_submissions_init(&submissions, NULL) == VK_SUCCESS, "no memory");
    recorder.vk = &vk;
    recorder.submissions = &submissions;
    recorder.noting = true;
    recorder.times = bf_pipeline_times_create();
    REQUIRE(recorder.times, "no memory");
    submissions.measured = was_measured;
    open_trials();
    for (int i = 0; i < PIPELINES; i++) {
        struct bf_pipeline *p = &pipelines[i];
        p->handle = fake_pipeline_handle(&handles[i]);
        p->point = (VkPipelineBindPoint)(i % 2);
        p->push_id = 1 + i / 3;
        struct bf_watch watch = {.count = (uint8_t)(1 + i % 3)};
        for (uint32_t k = 0; k < watch.count; k++)
            watch.offset[k] = (uint16_t)(4 * k);
        p->histogram = &handles[i].histogram;
        bf_pipeline_watch(p, &watch);
        handles[i].of = p;
        fake_lives(p);
    }
    atomic_store(&working, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        struct worker *w = &workers[i];
        w->rng.state = rng_next(&rng);
        for (int b = 0; b < 2; b++) {
            w->recordings[b] = bf_recording_create(&recorder, fake_buffer_handle(&w->buffers[b]),
                                                   (VkCommandBufferLevel)b, 0);
            REQUIRE(w->recordings[b], "no memory");
            w->recordings[b]->timestamp_bits = 64;
        }
        REQUIRE(!pthread_create(&w->thread, NULL, work, w), "no thread");
    }
    uint64_t seer_seed = rng_next(&rng);
    REQUIRE(!pthread_create(&seer, NULL, see, &seer_seed), "no thread");
    while (atomic_load(&working)) {
        count_step(&published, 4, &worked, 1);
        publish(&rng, &all);
        all = retire_some(all, &retired);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&over, true);
    pthread_join(seer, NULL);
    REQUIRE(!submissions.left, "evidence is left");
    for (int i = 0; i < WORKERS; i++) {
        bf_recording_destroy(workers[i].recordings[0]);
        bf_recording_destroy(workers[i].recordings[1]);
        picks += workers[i].picks;
    }
    uint64_t counts = 0, told = 0;
    for (int i = 0; i < PIPELINES; i++) {
        uint64_t expected = 0;
        for (int w = 0; w < WORKERS; w++)
            expected += workers[w].counted[i];
        REQUIRE(pipelines[i].histogram->total == expected,
                "pipeline %d: %llu uses counted, not %llu", i,
                (unsigned long long)pipelines[i].histogram->total, (unsigned long long)expected);
        counts += expected;
    }
    REQUIRE(!submissions.open && !submissions.lost, "submissions are left, or were lost");
    while (all) {
        struct made *m = all;
        all = m->next;
        REQUIRE(!(atomic_load(&m->variant->state) & BF_VARIANT_REFS), "a reference is left");
        told += atomic_load(&m->variant->picked);
        fake_variant_free(m->variant);
        free(m);
    }
    REQUIRE(told == picks, "%llu uses of variants were told, not %llu", (unsigned long long)told,
            (unsigned long long)picks);
    bf_submissions_finish(&submissions);
    bf_ab_timer_finish(&timer);
    bf_pipeline_times_free(recorder.times);
    printf("%llu uses with variants, %llu counts, %llu variants ended, %llu and %llu times read\n",
           (unsigned long long)picks, (unsigned long long)counts, (unsigned long long)retired,
           (unsigned long long)read_times[0], (unsigned long long)read_times[1]);
    fflush(stdout);
    REQUIRE(picks && counts && retired && read_times[0] && read_times[1], "nothing was tested");
}

int main(int argc, char **argv)
{
    steps = (uint32_t)argument(argc, argv, "--steps", steps);
    run(argument(argc, argv, "--seed", 1));
    return 0;
}
