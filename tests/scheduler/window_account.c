/* SPDX-License-Identifier: MIT */
/* What a priority window counts as in flight (scheduler/window.h), and whom it serves, alone: the
 * engine's epochs and the clock are the test's own, and nothing is ever pumped. */
#include <time.h>

#include "support/test.h"

#include "base/clock.h"
#include "scheduler/acceptance.h"
#include "scheduler/command_queue.h"
#include "scheduler/cost.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/packet_time.h"
#include "scheduler/scheduler.h"
#include "scheduler/waker.h"
#include "trace/stamps.h"

static uint64_t completed_epoch, wanted_epoch, clock_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = bf_timespec(clock_ns);
    return 0;
}

VkResult bf_gpu_engine_completed_epoch(struct bf_gpu_engine *engine, uint64_t *epoch)
{
    (void)engine;
    *epoch = completed_epoch;
    return VK_SUCCESS;
}

bool bf_gpu_engine_is_over(struct bf_gpu_engine *engine, uint64_t epoch)
{
    (void)engine;
    return epoch <= completed_epoch;
}

bool bf_semaphore_ready(struct bf_scheduler *scheduler, struct bf_semaphore *sem, enum bf_side side,
                        uint64_t target, enum bf_wait_rule rule)
{
    return true;
}

bool bf_waker_ensure(struct bf_engine *engine)
{
    return true;
}

bool bf_waker_want(struct bf_engine *engine, uint64_t epoch, struct bf_engine *wisher,
                   uint64_t deadline_ns)
{
    wanted_epoch = epoch;
    return true;
}

void bf_semaphore_unblock(struct bf_queue *queue)
{
}

uint64_t bf_inherit_flush_named(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    return 0;
}

uint64_t bf_inherit_flush(struct bf_scheduler *scheduler, struct bf_queue *queue)
{
    return 0;
}

uint64_t bf_inherit_anew(struct bf_scheduler *scheduler)
{
    return 0;
}

void bf_engines_pump(struct bf_scheduler *scheduler, uint64_t mask)
{
    (void)mask;
}

VkResult bf_packet_time_begin(struct bf_engine *engine)
{
    return VK_SUCCESS;
}

void bf_stamps_collect(struct bf_stamps *stamps, uint64_t completed_epoch_)
{
}

void bf_stamps_forget(struct bf_stamps *stamps, const void *of)
{
}

void bf_scheduler_hand_over_released(struct bf_scheduler *scheduler, uint64_t engines)
{
    (void)scheduler;
    (void)engines;
}

/* More than the account has entries for, as when packets become overdue behind work that doesn't
 * end; of some nothing is known. All of it is taken out again. */
TEST(what_is_complete_is_in_flight_no_more)
{
    static struct bf_scheduler scheduler;
    static struct bf_engine engine = {.scheduler = &scheduler};
    static struct bf_queue queues[2] = {{.scheduler = &scheduler, .level = BF_LEVEL_NORMAL},
                                        {.scheduler = &scheduler, .level = BF_LEVEL_NORMAL}};
    const struct bf_window *window = &engine.window;
    atomic_store(&engine.window.top, BF_LEVEL_HIGH);
    for (uint64_t round = 0; round < 3; round++) {
        const uint64_t packets = BF_WINDOW_ENTRIES / 2 + round * BF_WINDOW_ENTRIES;
        bf_window_look(&engine);
        for (uint64_t i = 1; i <= packets; i++) {
            struct bf_packet packet = {.windowed = true,
                                       .epoch = completed_epoch + i,
                                       .cost_ns = i % 5 ? i : BF_COST_UNKNOWN};
            bf_window_accepted(&engine, &queues[i % 3 == 0], &packet);
        }
        assert_int_equal(window->packets, packets);
        assert_true(window->count <= BF_WINDOW_ENTRIES);
        completed_epoch += packets - 1;
        bf_window_look(&engine);
        assert_true(window->packets >= 1);
        completed_epoch += 1;
        bf_window_look(&engine);
        assert_int_equal(window->packets, 0);
        assert_int_equal(window->unknown, 0);
        assert_int_equal(window->sum_ns, 0);
        assert_int_equal(window->count, 0);
    }
}

#define MICRO_NS UINT64_C(1000)
#define MILLI_NS UINT64_C(1000000)
#define LOWS     3

/* Command queues on an engine with windows whose GPU finishes nothing, and another engine. */
struct held {
    struct bf_scheduler scheduler;
    struct bf_engine engines[2];
    uint64_t waited[2];
    struct bf_queue *queues[LOWS];
    struct bf_packet packets[LOWS];
    uint64_t went[LOWS], given;
};

static void held_begin(struct held *h, const uint8_t levels[LOWS], uint64_t cost_ns,
                       uint64_t late_ns)
{
    memset(h, 0, sizeof(*h));
    h->scheduler.engines = h->engines;
    h->scheduler.engine_count = 2;
    for (int i = 0; i < 2; i++) {
        h->engines[i].scheduler = &h->scheduler;
        h->engines[i].waited = h->waited;
    }
    h->engines[0].base.epoch = (VkSemaphore)(uintptr_t)1;
    h->engines[0].queues = h->queues;
    atomic_store(&h->engines[0].window.top, BF_LEVEL_REALTIME);
    for (int i = 0; i < LOWS && levels[i]; i++) {
        struct bf_command_queue *commands = calloc(1, sizeof(*commands) + 2 * sizeof(uint64_t));
        assert_non_null(commands);
        struct bf_queue *queue = h->queues[i] = &commands->base;
        h->engines[0].queue_count++;
        h->packets[i].kind = BF_PACKET_EXECUTE;
        queue->scheduler = &h->scheduler;
        queue->engine = &h->engines[0];
        queue->is_command_queue = true;
        queue->head = &h->packets[i];
        atomic_store(&queue->level, levels[i]);
        atomic_store(&queue->appended, 1);
        for (uint32_t k = 0; cost_ns && k < 8 * BF_COST_SAMPLES; k++)
            bf_cost_add(&queue->cost, k % 2 ? cost_ns + late_ns : cost_ns - late_ns, true);
    }
    completed_epoch = wanted_epoch = 0;
    clock_ns = UINT64_C(1000000000);
}

/* Gives the GPU all that may go now. */
static void held_pump(struct held *h)
{
    struct bf_engine *engine = &h->engines[0];
    struct bf_queue *queue;
    uint64_t before;
    do {
        before = h->given;
        bf_window_look(engine);
        while ((queue = bf_window_next(engine)) != NULL) {
            int i = 0;
            while (h->queues[i] != queue)
                i++;
            if (!bf_window_admits(engine, queue, &h->packets[i]))
                continue;
            h->packets[i].epoch = ++h->given;
            h->went[i]++;
            bf_window_accepted(engine, queue, &h->packets[i]);
        }
    } while (h->given > before);
    bf_window_arm(engine);
}

static void held_end(struct held *h)
{
    for (int i = 0; i < LOWS; i++)
        free(h->queues[i] ? bf_command_queue_of(h->queues[i]) : NULL);
}

/* PW-1: 4 ms, or 0.5 ms for 100 ms after a higher queue has submitted, whether that went to the
 * driver or waits, but one packet that runs and one behind it; of which nothing is known, goes
 * alone. PW-3: half of it wakes. */
TEST(windows_hold_so_much)
{
    static const struct {
        uint64_t cost_ns, late_ns, since_ns; /* 0: not known; seen at once; never */
        uint64_t packets, wakes;
    } cases[] = {
        {200 * MICRO_NS, 0, 0, 20, 10},
        {200 * MICRO_NS, 0, 1, 2, 1},
        {100 * MICRO_NS, 0, 0, 40, 20},
        {100 * MICRO_NS, 0, 1, 5, 3},
        {100 * MICRO_NS, 0, 100 * MILLI_NS - 1, 5, 3},
        {100 * MICRO_NS, 0, 100 * MILLI_NS, 40, 20},
        {3 * MILLI_NS, 0, 0, 2, 1},
        {300 * MICRO_NS, 0, 1, 2, 1},
        {40 * MILLI_NS, 0, 1, 2, 1},
        {0, 0, 0, 1, 1},
        {0, 0, 1, 1, 1},
        /* Every other completion was seen late, so the samples behind them are too short. */
        {200 * MICRO_NS, 150 * MICRO_NS, 1, 3, 2},
    };
    static struct held h;
    const size_t count = sizeof(cases) / sizeof(cases[0]);
    for (size_t run = 0; run < 2 * count; run++) {
        const size_t i = run / 2;
        held_begin(&h, (const uint8_t[LOWS]){BF_LEVEL_NORMAL}, cases[i].cost_ns, cases[i].late_ns);
        if (cases[i].since_ns && run % 2) {
            bf_window_note(&h.engines[0], BF_LEVEL_HIGH);
        } else if (cases[i].since_ns) {
            bf_window_submitted(&h.engines[0].window, BF_LEVEL_HIGH);
            bf_window_look(&h.engines[0]);
        }
        clock_ns += cases[i].since_ns;
        held_pump(&h);
        assert_int_equal(h.went[0], cases[i].packets);
        assert_int_equal(wanted_epoch, cases[i].wakes);
        held_end(&h);
    }
}

/* PW-6: one packet goes in 50 ms whatever is in flight. One held by its waits (PW-4), of a level
 * above theirs or of theirs, takes nobody's turn. */
TEST(nobody_is_held_for_longer)
{
    enum { NOBODY, ABOVE, BESIDE };
    static struct held h;
    for (int waits = NOBODY; waits <= BESIDE; waits++) {
        held_begin(&h, (const uint8_t[LOWS]){BF_LEVEL_HIGH, BF_LEVEL_NORMAL, BF_LEVEL_NORMAL}, 0,
                   0);
        if (waits)
            bf_command_queue_of(h.queues[waits - ABOVE])->frontier[1] = 1;
        held_pump(&h);
        assert_int_equal(h.given, 1);
        for (uint64_t rounds = 1; rounds <= 4 * LOWS; rounds++) {
            clock_ns += 50 * MILLI_NS - 1;
            held_pump(&h);
            assert_int_equal(h.given, rounds);
            clock_ns += 1;
            held_pump(&h);
            assert_int_equal(h.given, rounds + 1);
        }
        for (int i = 0; i < LOWS; i++) {
            if (waits && i == waits - ABOVE)
                assert_int_equal(h.went[i], 0);
            else
                assert_true(h.went[i] >= 4);
        }
        held_end(&h);
    }
}

#define QUEUES  16
#define PACKETS 3200
#define IN_TURN 1600 /* of these, at the end, all have had packets */

/* A lower queue: how long its packets take, one of two more and the other less by as much; how many
 * packets have gone when it comes; and what it has had of the GPU. */
struct customer {
    uint64_t cost_ns, varies_ns, comes, had_ns, packets;
    uint8_t level;
};

/* Serves the queues on an engine with a GPU that runs what it is given, one packet after the other,
 * and is looked at late, by up to 'late_ns'. Those that aren't of the lowest level have a packet
 * only now and then. */
static void serve(struct customer *customers, uint64_t late_ns)
{
    static struct bf_scheduler scheduler;
    static struct bf_engine engine;
    static struct bf_queue queues[QUEUES];
    struct bf_packet packets[QUEUES] = {{.kind = BF_PACKET_EXECUTE}};
    struct bf_queue *listed[QUEUES], *queue;
    static uint64_t costs_ns[PACKETS + BF_WINDOW_ENTRIES], ends_ns[PACKETS + BF_WINDOW_ENTRIES];
    static uint32_t whose[PACKETS + BF_WINDOW_ENTRIES];
    uint64_t given = 0, counted = 0;
    uint32_t seed = 1;
    memset(queues, 0, sizeof(queues));
    engine = (struct bf_engine){.scheduler = &scheduler, .queues = listed, .queue_count = QUEUES};
    engine.base.epoch = (VkSemaphore)(uintptr_t)1;
    atomic_store(&engine.window.top, BF_LEVEL_HIGH);
    for (uint32_t i = 0; i < QUEUES; i++) {
        listed[i] = &queues[i];
        packets[i].kind = BF_PACKET_EXECUTE;
        queues[i].scheduler = &scheduler;
        queues[i].engine = &engine;
        queues[i].head = &packets[i];
        atomic_store(&queues[i].level, customers[i].level);
        for (uint32_t k = 0; k < BF_COST_SAMPLES; k++)
            bf_cost_add(&queues[i].cost, customers[i].cost_ns, true);
    }
    completed_epoch = 0;
    clock_ns = UINT64_C(1000000000);
    while (completed_epoch < PACKETS) {
        uint64_t before;
        do {
            before = given;
            bf_window_note(&engine, BF_LEVEL_HIGH);
            bf_window_look(&engine);
            for (uint32_t i = 0; i < QUEUES; i++)
                atomic_store(&queues[i].appended,
                             given >= customers[i].comes &&
                                 (customers[i].level == BF_LEVEL_LOW || given % QUEUES < 8));
            while ((queue = bf_window_next(&engine)) != NULL) {
                const uint32_t i = (uint32_t)(queue - queues);
                if (!bf_window_admits(&engine, queue, &packets[i]))
                    continue;
                uint64_t begins_ns = given > completed_epoch ? ends_ns[given] : clock_ns;
                packets[i].epoch = ++given;
                whose[given] = i;
                costs_ns[given] =
                    customers[i].cost_ns +
                    (customers[i].packets++ % 2 ? customers[i].varies_ns : -customers[i].varies_ns);
                ends_ns[given] = begins_ns + costs_ns[given];
                bf_window_accepted(&engine, queue, &packets[i]);
            }
        } while (given > before);
        bf_window_arm(&engine);
        seed = seed * 1664525 + 1013904223;
        clock_ns = ends_ns[wanted_epoch] + (seed >> 8) * late_ns / (UINT32_MAX >> 8);
        for (; completed_epoch < given && ends_ns[completed_epoch + 1] <= clock_ns;
             completed_epoch++) {
            if (counted++ >= PACKETS - IN_TURN)
                customers[whose[counted]].had_ns += costs_ns[counted];
        }
    }
}

/* PW-6, in GPU time: what packets cost, and by how much less they are taken for, when queues come,
 * and what those of a level between theirs and the highest are given, changes nothing. */
TEST(lower_queues_share_evenly)
{
    enum { ALIKE, VARIABLE, UNLIKE, LATE, BELOW, CASES };
    static const uint64_t late_ns[] = {0, 20 * MICRO_NS};
    for (int run = 0; run < 2 * CASES; run++) {
        struct customer customers[QUEUES] = {0};
        uint64_t least = UINT64_MAX, most = 0, sum = 0, sharers = 0;
        for (uint64_t i = 0; i < QUEUES; i++) {
            struct customer *c = &customers[i];
            const int kind = run / 2;
            c->cost_ns = (kind == UNLIKE ? 100 + 20 * (i * 7 % QUEUES) : 200) * MICRO_NS;
            c->varies_ns = kind == VARIABLE && i % 2 ? 60 * MICRO_NS : 0;
            c->comes = kind == LATE ? i * ((PACKETS - IN_TURN) / (QUEUES - 1)) : 0;
            c->level = kind == BELOW && i % 4 == 0 ? BF_LEVEL_NORMAL : BF_LEVEL_LOW;
        }
        serve(customers, late_ns[run % 2]);
        for (uint32_t i = 0; i < QUEUES; i++) {
            const struct customer *c = &customers[i];
            if (c->level != BF_LEVEL_LOW)
                continue;
            least = c->had_ns < least ? c->had_ns : least;
            most = c->had_ns > most ? c->had_ns : most;
            sum += c->had_ns;
            sharers++;
        }
        assert_true(most - least <= sum / sharers / 10);
    }
}

/* PW-8: the mean of what the GPU has measured, until so many gaps have had none. */
TEST(what_the_gpu_measures_counts_while_it_does)
{
    struct bf_cost cost = {0};
    for (int i = 0; i < BF_COST_SAMPLES; i++)
        bf_cost_add(&cost, 8 * MILLI_NS, true);
    assert_int_equal(bf_cost_estimate(&cost), 8 * MILLI_NS);
    bf_cost_add_measured(&cost, 50 * MILLI_NS); /* the first one was interrupted */
    for (int i = 1; i < BF_COST_SAMPLES / 2; i++)
        bf_cost_add_measured(&cost, (99 + i) * MICRO_NS);
    bf_cost_add_measured(&cost, 180 * MICRO_NS);
    for (int i = 0; i < BF_COST_MEASURED; i++) {
        bf_cost_add(&cost, 8 * MILLI_NS, true);
        assert_int_equal(bf_cost_estimate(&cost), 110 * MICRO_NS);
        assert_int_equal(bf_cost_mean(&cost, 0), 110 * MICRO_NS);
    }
    bf_cost_add(&cost, 8 * MILLI_NS, true);
    assert_int_equal(bf_cost_estimate(&cost), 8 * MILLI_NS);
    assert_int_equal(bf_cost_mean(&cost, 0), 8 * MILLI_NS);
    /* One that was interrupted counts as a spike. */
    for (int i = 0; i < BF_COST_SAMPLES / 2; i++)
        bf_cost_add_measured(&cost, 100 * MICRO_NS);
    bf_cost_add_measured(&cost, 50 * MILLI_NS);
    assert_int_equal(bf_cost_estimate(&cost), (700 + BF_COST_SPIKE * 100) / 8 * MICRO_NS);
    /* However short packets were, longer ones are noticed. */
    cost = (struct bf_cost){0};
    bf_cost_add_measured(&cost, 1);
    for (int i = 0; i < 100; i++)
        bf_cost_add_measured(&cost, MILLI_NS);
    assert_in_range(bf_cost_estimate(&cost), MILLI_NS * 9 / 10, MILLI_NS);
    cost = (struct bf_cost){0};
    for (int i = 0; i < 100; i++)
        bf_cost_add(&cost, i < BF_COST_SAMPLES ? 1 : MILLI_NS, true);
    assert_in_range(bf_cost_mean(&cost, 0), MILLI_NS * 9 / 10, MILLI_NS);
}
