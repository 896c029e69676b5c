/* SPDX-License-Identifier: MIT */
/*
 * Doorbells that are taken away while programs ring them: eight threads write to the rings of 64
 * queues, which share eight physical doorbells, and another one connects whatever comes and powers
 * the engine down. Every entry runs once: one that ran twice would end its queue (its progress
 * value isn't greater than those before), and of one that never ran the test driver counts no
 * command buffer.
 *
 * belfry-doorbell-taken [--rings N] [--seed N]
 */
#include "doorbell/user_mode.h"

#include "random/rng.h"
#include "support/arguments.h"

#define PROGRAMS 8
#define QUEUES   64
#define RING     256
#define BURST    32

static uint64_t rings, seed;

static struct stress {
    struct user_mode queues[QUEUES];
    uint32_t buffers[QUEUES];
    _Atomic uint64_t rung;
    _Atomic bool done;
} stress;

static void *program_run(void *argument)
{
    const uintptr_t number = (uintptr_t)argument;
    struct rng rng = {seed * 64 + number + 1};
    for (uint64_t left = rings / PROGRAMS; left > 0;) {
        const uint32_t i =
            (uint32_t)number * QUEUES / PROGRAMS + rng_below(&rng, QUEUES / PROGRAMS);
        uint64_t burst = 1 + rng_below(&rng, BURST);
        if (burst > left)
            burst = left;
        left -= burst;
        atomic_fetch_add(&stress.rung, burst);
        while (burst--)
            user_mode_execute(&stress.queues[i], stress.buffers[i]);
    }
    return NULL;
}

static void *taker_run(void *unused)
{
    struct rng rng = {seed * 64};
    (void)unused;
    for (uint64_t last = 0; !atomic_load(&stress.done);) {
        const struct user_mode *u = &stress.queues[rng_below(&rng, QUEUES)];
        const BfConnectDoorbell connect = {u->doorbell.hDoorbell, 0};
        assert_success(rng_below(&rng, 64)
                           ? bfConnectDoorbell(&connect)
                           : bfSetEngineState(u->queue, BF_ENGINE_STATE_TRANSITION_TO_F1));
        while (atomic_load(&stress.rung) < last + BURST && !atomic_load(&stress.done))
            sched_yield();
        last = atomic_load(&stress.rung);
    }
    return NULL;
}

/* Command buffers, without the barriers that Belfry puts between them. */
static uint64_t executed(struct fixture *f)
{
    return vulkan_counters(&f->icd).command_buffers - counters_of(f).barriers;
}

TEST(every_entry_runs_once)
{
    struct fixture f;
    pthread_t programs[PROGRAMS], taker;
    setenv("VK_BELFRY_MULTI_ENGINE_DOORBELLS", "8", 1);
    fixture_open(&f, NULL);
    if (rings > 1000000)
        alarm(0); /* it takes as long as it takes */
    for (uint32_t i = 0; i < QUEUES; i++) {
        user_mode_open(&f, &stress.queues[i], BF_COMMAND_LIST_TYPE_DIRECT, RING);
        stress.buffers[i] = register_write(&f, &stress.queues[i], i, i + 1,
                                           BF_REGISTER_COMMAND_BUFFER_SIMULTANEOUS_USE_BIT);
    }
    const uint64_t before = executed(&f);
    for (uintptr_t i = 0; i < PROGRAMS; i++)
        assert_int_equal(pthread_create(&programs[i], NULL, program_run, (void *)i), 0);
    assert_int_equal(pthread_create(&taker, NULL, taker_run, NULL), 0);
    for (uint32_t i = 0; i < PROGRAMS; i++)
        pthread_join(programs[i], NULL);
    atomic_store(&stress.done, true);
    pthread_join(taker, NULL);
    uint64_t entries = 0;
    for (uint32_t i = 0; i < QUEUES; i++) {
        user_mode_await(&stress.queues[i]);
        entries += stress.queues[i].last;
        assert_value(stress.queues[i].progress, stress.queues[i].last);
        user_mode_close(&stress.queues[i]);
    }
    assert_int_equal(entries, rings / PROGRAMS * PROGRAMS);
    assert_int_equal(executed(&f) - before, entries);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    rings = argument(argc, argv, "--rings", TIMES(200000));
    seed = argument(argc, argv, "--seed", 1);
    return fixture_main(1, argv);
}
