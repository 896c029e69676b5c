/*
 * Command buffers recorded by several threads at once, while another publishes, withdraws and ends
 * the variants of their pipelines and a third sees submissions finish (specialize/recording.h,
 * submission.h, variant.h): nothing is bound that is for other values or has been destroyed, and in
 * the end every use has been counted once for each submission. --steps N --seed N.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random/rng.h"
#include "recording_fake.h"

#define PIPELINES 4
#define WORKERS   3
#define SPAN      16
#define MOST_USES 100 /* of a recording: all are counted as they are */

static struct VolkDeviceTable vk;
static struct bf_submissions submissions;
static struct bf_recorder recorder;
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
}

static void submit(struct worker *w)
{
    struct bf_recording *const recordings[] = {w->recordings[0]};
    VkSemaphore semaphore = semaphore_of(w);
    const struct bf_batch batch = {
        .queue = w,
        .recording_count = 1,
        .recordings = recordings,
        .signal_count = 1,
        .semaphores = &semaphore,
        .values = &(uint64_t){++w->value},
    };
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
            } else {
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
    m->next = *all;
    *all = m;
    atomic_store_explicit(&p->variants[slot], m->variant, memory_order_release);
}

static void run(uint64_t seed)
{
    struct rng rng = {seed};
    struct made *all = NULL;
    pthread_t seer;
    uint64_t retired = 0, picks = 0, made = 0;
    fake_seed = seed;
    fake_table(&vk);
    REQUIRE(bf_submissions_init(&submissions, NULL) == VK_SUCCESS, "no memory");
    recorder.vk = &vk;
    recorder.submissions = &submissions;
    recorder.noting = true;
    for (int i = 0; i < PIPELINES; i++) {
        struct bf_pipeline *p = &pipelines[i];
        p->handle = fake_pipeline_handle(&handles[i]);
        p->point = (VkPipelineBindPoint)(i % 2);
        p->push_id = 1 + i / 3;
        p->watch.count = (uint8_t)(1 + i % 3);
        for (uint32_t k = 0; k < p->watch.count; k++)
            p->watch.offset[k] = (uint16_t)(4 * k);
        bf_tally_init(&p->tally, p->watch.count, 0);
        handles[i].of = p;
        fake_lives(p);
    }
    for (int i = 0; i < WORKERS; i++) {
        struct worker *w = &workers[i];
        w->rng.state = rng_next(&rng);
        for (int b = 0; b < 2; b++) {
            w->recordings[b] = bf_recording_create(&recorder, fake_buffer_handle(&w->buffers[b]),
                                                   (VkCommandBufferLevel)b, 0);
            REQUIRE(w->recordings[b], "no memory");
        }
        REQUIRE(!pthread_create(&w->thread, NULL, work, w), "no thread");
    }
    uint64_t seer_seed = rng_next(&rng);
    REQUIRE(!pthread_create(&seer, NULL, see, &seer_seed), "no thread");
    for (uint32_t i = 0; i < steps; i++, made++) {
        publish(&rng, &all);
        all = retire_some(all, &retired);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&over, true);
    pthread_join(seer, NULL);
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
        REQUIRE(pipelines[i].tally.total == expected, "pipeline %d: %llu uses counted, not %llu", i,
                (unsigned long long)pipelines[i].tally.total, (unsigned long long)expected);
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
    printf("%llu uses with variants, %llu counts, %llu variants ended\n", (unsigned long long)picks,
           (unsigned long long)counts, (unsigned long long)retired);
    REQUIRE(picks && counts && retired, "nothing was tested");
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--steps") == 0)
            steps = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
    }
    run(seed);
    return 0;
}
