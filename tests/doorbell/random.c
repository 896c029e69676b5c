/* SPDX-License-Identifier: MIT */
/* Random programs over rings, compared with a model, and random garbage. belfry-doorbell-random
 * --count N --seed S runs N programs, from that seed on. */
#include <stdatomic.h>

#include "doorbell/user_mode.h"
#include "random/rng.h"
#include "support/arguments.h"

#define RING    64
#define THREADS 3
#define RINGS   4 /* of a thread */
#define QUEUES  (THREADS * (RINGS + 1))
#define SOURCES (QUEUES + THREADS) /* of signals: each has a fence of its own, which it counts up */
#define BUFFERS 200                /* of a ring, at most */
#define SCRATCH (THREADS * RINGS * (BUFFERS + 1))
#define RESIZES 4 /* of a ring, at most */

static uint64_t seed = 1;
static uint32_t programs = 4;

/* One thing that a thread does. A wait is only for what earlier steps of the plan signal: whoever
 * waits, waits for steps that don't wait for it. */
struct step {
    enum { ENTRY, QUEUE, CPU, RESIZE } kind;
    uint32_t thread, ring; /* of the thread */
    bool ring_now;
    BfRingEntry entry; /* fences by source; of all kinds */
};

struct ring {
    struct user_mode u;
    pthread_mutex_t lock; /* over its doorbell's handle, which a resize changes */
    uint32_t buffers, resizes;
};

struct program {
    struct fixture *f;
    struct rng rng;
    BfFence fences[SOURCES];
    uint64_t signalled[SOURCES]; /* by the steps planned so far */
    struct ring rings[THREADS][RINGS];
    BfCommandQueue plain[THREADS];
    struct step *steps;
    uint32_t count;
    _Atomic uint32_t running;
    struct start_line line;
};

static uint32_t source_of_ring(uint32_t thread, uint32_t ring)
{
    return thread * (RINGS + 1) + ring;
}

/* -------------------------------------------------------------------------------------- Plan -- */

/* The ring's nth command buffer, from 1 on, copies the number that the one before left to a word of
 * its own, and leaves its own number: had one run twice, never, or before another, a word would
 * tell. */
static uint32_t register_nth(struct program *p, uint32_t thread, struct ring *ring, uint32_t n)
{
    struct fixture *f = p->f;
    const uint32_t base = (thread * RINGS + (uint32_t)(ring - p->rings[thread])) * (BUFFERS + 1);
    const VkBufferCopy copy = {base * 4, (base + n) * 4, 4};
    const VkMemoryBarrier2 memory = {
        VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    uint32_t number;
    VkCommandBuffer commands =
        device_begin(&f->base, bfGetCommandQueueFamilyIndex(ring->u.queue), 0);
    vkCmdPipelineBarrier2(commands, &info);
    vkCmdCopyBuffer(commands, f->buffer, f->buffer, 1, &copy);
    vkCmdPipelineBarrier2(commands, &info);
    put_word(f, commands, base, n);
    commands_end(commands);
    assert_success(bfRegisterCommandBuffer(ring->u.queue, commands, 0, &number));
    return number;
}

static void plan_wait(struct program *p, BfRingEntry *entry, int percent)
{
    const uint32_t from = rng_below(&p->rng, SOURCES);
    if (p->signalled[from] && rng_percent(&p->rng, percent)) {
        entry->waitFence = from;
        entry->waitValue = 1 + rng_below(&p->rng, (uint32_t)p->signalled[from]);
    }
}

static void plan_signal(struct program *p, BfRingEntry *entry, uint32_t source, int percent)
{
    if (rng_percent(&p->rng, percent)) {
        entry->signalFence = source;
        entry->signalValue = p->signalled[source] += 1 + rng_below(&p->rng, 3);
    }
}

static void plan_step(struct program *p, struct step *step)
{
    struct rng *rng = &p->rng;
    const uint32_t t = rng_below(rng, THREADS), r = rng_below(rng, RINGS),
                   kind = rng_below(rng, 100);
    *step = (struct step){.thread = t, .ring = r, .ring_now = rng_percent(rng, 60)};
    BfRingEntry *entry = &step->entry;
    struct ring *ring = &p->rings[t][r];
    *entry = (BfRingEntry){
        .commandBuffer = BF_RING_NONE, .waitFence = BF_RING_NONE, .signalFence = BF_RING_NONE};
    if (kind < 12) {
        step->kind = QUEUE;
        plan_wait(p, entry, 50);
        plan_signal(p, entry, source_of_ring(t, RINGS), 70);
    } else if (kind < 20) {
        step->kind = CPU;
        plan_wait(p, entry, 30);
        plan_signal(p, entry, QUEUES + t, 80);
    } else if (kind < 22 && ring->resizes < RESIZES) {
        step->kind = RESIZE;
        ring->resizes++;
    } else {
        plan_wait(p, entry, 30);
        if (ring->buffers < BUFFERS && rng_percent(rng, 60))
            entry->commandBuffer = register_nth(p, t, ring, ++ring->buffers);
        plan_signal(p, entry, source_of_ring(t, r), 30);
        entry->flags = rng_percent(rng, 30) ? BF_RING_ENTRY_BARRIER_BIT : 0;
        if (rng_percent(rng, 70))
            entry->progressValue = ring->u.last += 1 + rng_below(rng, 3);
    }
}

/* ----------------------------------------------------------------------------------- Running -- */

static void rings_ring(struct ring *rings)
{
    for (uint32_t i = 0; i < RINGS; i++)
        assert_success(bfRingDoorbell(&rings[i].u.writer));
}

static void entry_write(struct ring *rings, const struct step *step)
{
    struct ring *ring = &rings[step->ring];
    VkResult result;
    while ((result = bfAppendToRing(&ring->u.writer, &step->entry)) == VK_NOT_READY) {
        rings_ring(rings);
        sched_yield();
    }
    assert_success(result);
    if (step->ring_now)
        assert_success(bfRingDoorbell(&ring->u.writer));
}

static void ring_resize(struct program *p, struct ring *ring)
{
    struct user_mode old = ring->u;
    pthread_mutex_lock(&ring->lock);
    user_mode_make_doorbell(p->f, &ring->u, old.ring.entryCount == RING ? 2 * RING : RING,
                            BF_CREATE_DOORBELL_RESIZE_RING_BUFFER_OPERATION_BIT);
    user_mode_close(&old);
    pthread_mutex_unlock(&ring->lock);
}

static void step_run(struct program *p, const struct step *step)
{
    const BfRingEntry *entry = &step->entry;
    struct ring *rings = p->rings[step->thread];
    BfCommandQueue plain = p->plain[step->thread];
    if (step->kind == ENTRY) {
        entry_write(rings, step);
        return;
    }
    if (step->kind == RESIZE) {
        ring_resize(p, &rings[step->ring]);
        return;
    }
    if (entry->waitFence != BF_RING_NONE && step->kind == QUEUE)
        queue_wait(plain, p->fences[entry->waitFence], entry->waitValue);
    if (entry->waitFence != BF_RING_NONE && step->kind == CPU) {
        rings_ring(rings); /* it may wait for one of them */
        await_fence(p->fences[entry->waitFence], entry->waitValue);
    }
    if (entry->signalFence != BF_RING_NONE && step->kind == QUEUE)
        queue_signal(plain, p->fences[entry->signalFence], entry->signalValue);
    if (entry->signalFence != BF_RING_NONE && step->kind == CPU)
        cpu_signal(p->fences[entry->signalFence], entry->signalValue);
}

struct runner {
    struct program *p;
    uint32_t thread;
};

/* A failure on one of these threads ends the program, and so the test. */
static void run_steps(void *argument)
{
    struct runner *runner = argument;
    struct program *p = runner->p;
    start_line_cross(&p->line, THREADS + 1);
    for (uint32_t i = 0; i < p->count; i++)
        if (p->steps[i].thread == runner->thread)
            step_run(p, &p->steps[i]);
    rings_ring(p->rings[runner->thread]);
    atomic_fetch_sub(&p->running, 1);
}

/* Queue, ring and doorbell come and go; in the end what was written has run. */
static void disturb_by_a_queue(struct program *p, struct rng *rng)
{
    struct user_mode u;
    user_mode_open(p->f, &u, queue_types[rng_below(rng, 3)], RING);
    const BfDestroyDoorbell destroy = {u.doorbell.hDoorbell};
    for (uint32_t n = rng_below(rng, 5); n > 0; n--)
        user_mode_submit(&u, user_mode_entry(&u));
    if (rng_percent(rng, 50))
        user_mode_await(&u);
    const bool first = rng_percent(rng, 50);
    if (first)
        assert_success(bfDestroyDoorbell(&destroy));
    drop_queue(p->f, u.queue);
    if (!first)
        assert_success(bfDestroyDoorbell(&destroy));
    assert_success(bfDestroyRing(u.ring.hRingBuffer));
}

static void disturb_once(struct program *p, struct rng *rng)
{
    struct ring *ring = &p->rings[rng_below(rng, THREADS)][rng_below(rng, RINGS)];
    pthread_mutex_lock(&ring->lock);
    const BfConnectDoorbell connect = {ring->u.doorbell.hDoorbell, 0};
    const BfNotifyWorkSubmission notify = {ring->u.doorbell.hDoorbell, 0};
    switch (rng_below(rng, 8)) {
    case 0:
    case 1:
        assert_success(bfConnectDoorbell(&connect));
        break;
    case 2:
        assert_success(bfNotifyWorkSubmission(&notify));
        break;
    case 3:
    case 4:
        assert_success(bfSuspendCommandQueue(ring->u.queue));
        for (uint32_t n = rng_below(rng, 200); n > 0; n--)
            sched_yield();
        assert_success(bfResumeCommandQueue(ring->u.queue));
        break;
    case 5:
        assert_success(bfSetEngineState(ring->u.queue, BF_ENGINE_STATE_TRANSITION_TO_F1));
        break;
    case 6:
        bfSetDevicePowerState(p->f->bf, BF_DEVICE_POWER_STATE_D3);
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&ring->lock);
}

static void run_disturber(void *argument)
{
    struct program *p = argument;
    struct rng rng = {p->rng.state ^ 77};
    uint32_t queues = TIMES(40);
    start_line_cross(&p->line, THREADS + 1);
    while (atomic_load(&p->running)) {
        disturb_once(p, &rng);
        if (queues > 0 && rng_percent(&rng, 5)) {
            disturb_by_a_queue(p, &rng);
            queues--;
        }
        sched_yield();
    }
}

/* ----------------------------------------------------------------------------------- Program -- */

static void program_make(struct program *p, struct fixture *f)
{
    p->f = f;
    for (uint32_t i = 0; i < SOURCES; i++)
        p->fences[i] = make_fence(f, 0);
    for (uint32_t t = 0; t < THREADS; t++) {
        p->plain[t] = make_queue(f, queue_types[rng_below(&p->rng, 3)]);
        for (uint32_t r = 0; r < RINGS; r++) {
            struct ring *ring = &p->rings[t][r];
            pthread_mutex_init(&ring->lock, NULL);
            user_mode_open(f, &ring->u, queue_types[rng_below(&p->rng, 3)], RING);
            for (uint32_t i = 0; i < SOURCES; i++)
                assert_int_equal(register_fence(&ring->u, p->fences[i]), i);
        }
    }
    memset(f->words, 0, SCRATCH * sizeof(uint32_t));
    const uint32_t planned = TIMES(2000);
    p->count = planned + THREADS * RINGS;
    p->steps = calloc(p->count, sizeof(p->steps[0]));
    for (uint32_t i = 0; i < planned; i++)
        plan_step(p, &p->steps[i]);
    for (uint32_t t = 0, i = planned; t < THREADS; t++) {
        for (uint32_t r = 0; r < RINGS; r++, i++) {
            /* Each ring's last entry has a progress value. */
            uint64_t value = ++p->rings[t][r].u.last;
            p->steps[i] = (struct step){.thread = t,
                                        .ring = r,
                                        .ring_now = true,
                                        .entry = {.progressValue = value,
                                                  .commandBuffer = BF_RING_NONE,
                                                  .waitFence = BF_RING_NONE,
                                                  .signalFence = BF_RING_NONE}};
        }
    }
}

static void program_check(struct program *p)
{
    for (uint32_t t = 0; t < THREADS; t++) {
        await_idle(p->plain[t]);
        for (uint32_t r = 0; r < RINGS; r++) {
            struct ring *ring = &p->rings[t][r];
            const uint32_t base = (t * RINGS + r) * (BUFFERS + 1);
            user_mode_await(&ring->u);
            assert_value(ring->u.progress, ring->u.last);
            for (uint32_t n = 1; n <= ring->buffers; n++)
                assert_int_equal(read_word(p->f, base + n), n - 1);
            assert_int_equal(read_word(p->f, base), ring->buffers);
        }
    }
    for (uint32_t i = 0; i < SOURCES; i++)
        await_fence(p->fences[i], p->signalled[i]);
}

static void program_run(uint64_t number)
{
    static const char *const settings[][2] = {
        {"VK_BELFRY_MULTI_ENGINE_DOORBELLS", "3"},
        {"VK_BELFRY_MULTI_ENGINE_DOORBELLS", "1"},
        {"VK_BELFRY_MULTI_ENGINE_DOORBELL_MODEL", "global"},
        {"VK_BELFRY_MULTI_ENGINE_DOORBELL_IDLE", "1"},
    };
    const char *const *setting = settings[number % 4];
    static struct program p;
    struct fixture f;
    struct runner runners[THREADS];
    struct thread threads[THREADS + 1];
    printf("seed %llu\n", (unsigned long long)number);
    fflush(stdout);
    setenv(setting[0], setting[1], 1);
    fixture_open(&f, NULL);
    unsetenv(setting[0]);
    p = (struct program){.rng.state = number, .running = THREADS};
    program_make(&p, &f);
    for (uint32_t t = 0; t < THREADS; t++) {
        runners[t] = (struct runner){&p, t};
        thread_start(&threads[t], run_steps, &runners[t]);
    }
    thread_start(&threads[THREADS], run_disturber, &p);
    for (uint32_t t = 0; t <= THREADS; t++)
        thread_join(&threads[t]);
    program_check(&p);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t r = 0; r < RINGS; r++)
            user_mode_close(&p.rings[t][r].u);
    free(p.steps);
    fixture_close(&f);
}

TEST(random_programs_do_what_the_model_says)
{
    for (uint32_t i = 0; i < programs; i++)
        program_run(seed + i);
}

/* ----------------------------------------------------------------------------------- Garbage -- */

/* Mostly small numbers, which mean something. */
static uint64_t garbage(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        return rng_next(rng);
    case 1:
        return UINT64_MAX;
    case 2:
        return UINT32_MAX; /* BF_RING_NONE */
    default:
        return rng_below(rng, 4);
    }
}

static BfRingEntry garbage_entry(struct rng *rng)
{
    const bool wild = rng_percent(rng, 20);
    BfRingEntry entry = {
        .progressValue = rng_percent(rng, 50) ? 0 : garbage(rng),
        .flags = (uint32_t)rng_below(rng, wild ? 4 : 2),
        .commandBuffer = rng_percent(rng, 50) ? BF_RING_NONE : (uint32_t)garbage(rng),
        .waitFence = rng_percent(rng, 70) ? BF_RING_NONE : (uint32_t)garbage(rng),
        .signalFence = rng_percent(rng, 70) ? BF_RING_NONE : (uint32_t)garbage(rng),
        .waitValue = garbage(rng),
        .signalValue = garbage(rng),
    };
    if (wild)
        entry.reserved[rng_below(rng, 3)] = garbage(rng);
    return entry;
}

struct scribbler {
    struct user_mode *u;
    uint64_t seed;
    _Atomic bool stop;
};

/* RB-1: entries and write pointer change while they are read. */
static void scribble(void *argument)
{
    struct scribbler *s = argument;
    struct rng rng = {s->seed};
    BfRingControl *control = s->u->ring.pControl;
    while (!atomic_load(&s->stop)) {
        const BfRingEntry entry = garbage_entry(&rng);
        uint64_t *to = (uint64_t *)(void *)&s->u->ring.pEntries[rng_below(&rng, RING)], words[8];
        memcpy(words, &entry, sizeof(words));
        for (int i = 0; i < 8; i++)
            __atomic_store_n(&to[i], words[i], __ATOMIC_RELAXED);
        __atomic_store_n(&control->read, garbage(&rng), __ATOMIC_RELAXED);
        __atomic_store_n(s->u->writer.pLastQueued, garbage(&rng), __ATOMIC_RELAXED);
        if (rng_percent(&rng, 20))
            __atomic_fetch_add(&control->write, 1 + rng_below(&rng, 3), __ATOMIC_RELEASE);
        if (rng_below(&rng, 1000) == 0)
            __atomic_store_n(&control->write, garbage(&rng), __ATOMIC_RELEASE);
    }
}

/* HQ-3, RB-1 */
FIXTURE_TEST(garbage_in_a_ring_ends_its_queue_alone)
{
    struct user_mode sound;
    BfFence fences[3];
    user_mode_open(f, &sound, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    for (uint64_t i = 0; i < TIMES(100); i++) {
        struct user_mode u;
        BfAbortReason reason;
        struct thread thread;
        user_mode_open(f, &u, queue_types[i % 3], RING);
        struct scribbler s = {.u = &u, .seed = seed + i};
        for (uint32_t j = 0; j < 3; j++) {
            fences[j] = make_fence(f, 0);
            register_fence(&u, fences[j]);
            register_write(f, &u, 1 + j, j,
                           j ? BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT : 0);
        }
        thread_start(&thread, scribble, &s);
        while (bfRingDoorbell(&u.writer) == VK_SUCCESS)
            sched_yield();
        atomic_store(&s.stop, true);
        thread_join(&thread);
        for (uint32_t j = 0; j < 3; j++) /* what it waits for */
            cpu_signal(fences[j], UINT64_MAX);
        await_fence(u.progress, UINT64_MAX);
        assert_success(bfGetAbortReason(u.doorbell.hDoorbell, &reason, NULL));
        assert_in_range(reason, BF_ABORT_REASON_WRITE_POINTER, BF_ABORT_REASON_PROGRESS_VALUE);
        assert_int_equal(user_mode_status(&u), BF_DOORBELL_STATUS_DISCONNECTED_ABORT);
        user_mode_execute(&sound, register_write(f, &sound, 0, (uint32_t)i + 9, 0));
        user_mode_await(&sound);
        assert_int_equal(read_word(f, 0), i + 9);
        user_mode_close(&u);
        drop_queue(f, u.queue);
        for (uint32_t j = 0; j < 3; j++)
            drop_fence(f, fences[j]);
    }
    user_mode_close(&sound);
}

FIXTURE_TEST(random_handles_and_flags_are_refused)
{
    struct user_mode u;
    struct rng rng = {seed};
    user_mode_open(f, &u, BF_COMMAND_LIST_TYPE_DIRECT, RING);
    const BfKmtHandle live[] = {u.doorbell.hDoorbell, u.doorbell.hHwQueue, u.ring.hRingBuffer,
                                u.ring.hRingBufferControl};
    for (uint32_t i = 0; i < TIMES(300); i++) {
        /* A live one of another kind, or one that is near it, or any. */
        const uint32_t any = (uint32_t)rng_next(&rng), kind = rng_below(&rng, 4);
        BfKmtHandle handle =
            rng_percent(&rng, 30) ? any : live[kind] + rng_below(&rng, 3) * (any & 257);
        const uint32_t flags = rng_percent(&rng, 50) ? 0 : (uint32_t)garbage(&rng);
        BfCreateDoorbell create = {
            .hHwQueue = handle, .hRingBuffer = live[any % 4], .flags = flags & ~2u};
        const BfConnectDoorbell connect = {handle, flags};
        const BfNotifyWorkSubmission notify = {handle, flags};
        const BfDestroyDoorbell destroy = {handle};
        assert_bad_input(bfCreateDoorbell(&create)); /* it has one */
        if (handle == live[0] && flags == 0) {
            assert_success(bfConnectDoorbell(&connect));
            assert_success(bfNotifyWorkSubmission(&notify));
        } else {
            assert_bad_input(bfConnectDoorbell(&connect));
            assert_bad_input(bfNotifyWorkSubmission(&notify));
        }
        if (handle != live[0]) {
            assert_bad_input(bfDestroyDoorbell(&destroy));
            assert_bad_input(bfGetAbortReason(handle, NULL, NULL));
        }
        if (handle != live[2] && handle != 0)
            assert_bad_input(bfDestroyRing(handle));
        assert_bad_input(bfUnregisterFence(u.queue, any));
        assert_bad_input(bfUnregisterCommandBuffer(u.queue, any));
    }
    user_mode_submit(&u, user_mode_entry(&u)); /* all the same */
    user_mode_await(&u);
    user_mode_close(&u);
}

int main(int argc, char **argv)
{
    programs = (uint32_t)argument(argc, argv, "--count", TIMES(4) > 2 ? 4 : 2);
    seed = argument(argc, argv, "--seed", 1);
    return fixture_main(argc > 2 ? 1 : argc, argv);
}
