/* SPDX-License-Identifier: MIT */
/* What the scheduler knows of semaphores, alone: counters, waiters, and the race of S-2
 * (scheduler/semaphore.h) between a queue that blocks and a thread that raises the counter. The
 * device below, the pump and the trace are the test's own. */
#include "support/test.h"

#include "scheduler/acceptance.h"
#include "scheduler/deferral.h"
#include "scheduler/scheduler.h"
#include "base/message.h"
#include "scheduler/semaphore.h"
#include "scheduler/watch.h"
#include "scheduler/watcher.h"

static uint64_t pumped;
static uint32_t watchers_started, watchers_stopped, lists_watched;
static uint64_t driver_value;
static VkResult driver_result;

void bf_deferral_end(struct bf_scheduler *scheduler)
{
    (void)scheduler;
}

void bf_engines_pump(struct bf_scheduler *scheduler, uint64_t mask)
{
    pumped |= mask;
}

void bf_scheduler_wait_released(struct bf_scheduler *scheduler, uint64_t before)
{
}

void bf_scheduler_retain(struct bf_scheduler *scheduler, struct bf_retained what,
                         bool own_callbacks)
{
}

void bf_retired_add(struct bf_scheduler *scheduler, struct bf_semaphore *sem, uint64_t engines)
{
}

void bf_retired_drain_if_many(struct bf_scheduler *scheduler)
{
}

bool bf_watcher_start(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    watchers_started++;
    return true;
}

uint64_t bf_outside_watch(struct bf_scheduler *scheduler)
{
    lists_watched++;
    return 4;
}

uint32_t bf_scheduler_sleep(struct bf_scheduler *scheduler, uint32_t ticket, uint64_t deadline_ns,
                            bool *timed_out)
{
    return ticket;
}

void bf_outside_pass_semaphore(struct bf_scheduler *scheduler, struct bf_semaphore *sem,
                               uint64_t target)
{
}

void bf_last_submission_drop_semaphore(struct bf_scheduler *scheduler, VkSemaphore semaphore)
{
}

VkResult bf_scheduler_settle(struct bf_scheduler *scheduler)
{
    return VK_ERROR_DEVICE_LOST;
}

void bf_watch_ring(struct bf_device_watch *watch)
{
    fail_msg("there is no watchdog");
}

void bf_watcher_stop(struct bf_scheduler *scheduler, struct bf_semaphore *sem)
{
    watchers_stopped++;
}

void bf_trace_host_signal(struct bf_trace *trace, struct bf_trace_sync signal)
{
}

void bf_trace_add_semaphore(struct bf_trace *trace, uint64_t semaphore, uint64_t value)
{
}

void bf_trace_forget_semaphore(struct bf_trace *trace, uint64_t semaphore)
{
}

static VkResult counter_value(VkDevice scheduler, VkSemaphore semaphore, uint64_t *value)
{
    *value = driver_value;
    return driver_result;
}

#define HANDLE ((VkSemaphore)(uintptr_t)0x1000)

struct world {
    struct bf_scheduler scheduler;
    struct bf_engine engines[2];
    struct bf_queue queues[3]; /* two on the first engine, one on the second */
};

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    pumped = watchers_started = watchers_stopped = lists_watched = driver_value = 0;
    driver_result = VK_SUCCESS;
    w->scheduler.gpu.vk.vkGetSemaphoreCounterValue = counter_value;
    for (uint32_t i = 0; i < 2; i++) {
        w->engines[i].scheduler = &w->scheduler;
        w->engines[i].base.number = i;
    }
    for (uint32_t i = 0; i < 3; i++) {
        w->queues[i].scheduler = &w->scheduler;
        w->queues[i].engine = &w->engines[i / 2];
    }
}

static struct bf_semaphore *make(struct world *w, bool timeline, bool external, uint64_t value)
{
    assert_success(bf_semaphore_register(&w->scheduler, HANDLE, timeline, external, value));
    struct bf_semaphore *sem = bf_semaphore_find(&w->scheduler, HANDLE);
    assert_non_null(sem);
    return sem;
}

static void finish(struct world *w)
{
    bf_semaphore_forget(&w->scheduler, HANDLE);
    assert_null(bf_semaphore_find(&w->scheduler, HANDLE));
    bf_map_finish(&w->scheduler.semaphores, NULL, NULL);
}

static bool ready(struct world *w, struct bf_semaphore *sem, enum bf_side side, uint64_t target)
{
    return bf_semaphore_ready(&w->scheduler, sem, side, target, BF_WAIT_GROUNDED);
}

static bool block(struct world *w, struct bf_semaphore *sem, enum bf_side side, uint64_t target,
                  uint32_t queue)
{
    uint64_t engines = 0;
    return bf_semaphore_block(&w->scheduler, sem, side, target, BF_WAIT_GROUNDED, &w->queues[queue],
                              &engines);
}

TEST_AROUND(test_timeline, struct world, w, world_init, finish)
{
    struct bf_semaphore *sem = make(w, true, false, 5);
    assert_true(ready(w, sem, BF_FOR_WAIT, 5));
    assert_false(ready(w, sem, BF_FOR_WAIT, 6));
    assert_int_equal(bf_semaphore_reach(sem, 9), 0);
    assert_true(ready(w, sem, BF_FOR_WAIT, 6));
    /* S-1: acceptance may come in any order, the counter never falls. */
    assert_int_equal(bf_semaphore_reach(sem, 7), 0);
    assert_true(ready(w, sem, BF_FOR_WAIT, 9));
    assert_false(ready(w, sem, BF_FOR_WAIT, 10));
}

TEST_AROUND(test_waiters_by_value, struct world, w, world_init, finish)
{
    struct bf_semaphore *sem = make(w, true, false, 0);
    assert_true(block(w, sem, BF_FOR_WAIT, 3, 0));
    assert_true(block(w, sem, BF_FOR_WAIT, 5, 1));
    assert_true(block(w, sem, BF_FOR_WAIT, 2, 2));
    assert_int_equal(bf_semaphore_reach(sem, 1), 0);
    /* A larger signal than the one waited for releases too; the engines come back as a mask. */
    assert_int_equal(bf_semaphore_reach(sem, 4), 3);
    assert_false(atomic_load(&w->queues[0].blocked));
    assert_true(atomic_load(&w->queues[1].blocked));
    assert_false(atomic_load(&w->queues[2].blocked));
    assert_int_equal(atomic_load(&w->engines[0].dirty), 1);
    assert_int_equal(atomic_load(&w->engines[1].dirty), 1);
    assert_false(block(w, sem, BF_FOR_WAIT, 4, 0));
    assert_int_equal(bf_semaphore_reach(sem, 5), 1);
    assert_int_equal(atomic_load(&sem->waiter_count), 0);
    assert_int_equal(watchers_started, 0);
}

TEST_AROUND(test_binary_sides, struct world, w, world_init, finish)
{
    struct bf_semaphore *sem = make(w, false, false, 0);
    /* Nothing outstanding: an acquired image's semaphore is ready for its wait. */
    assert_true(ready(w, sem, BF_FOR_WAIT, 0));
    assert_true(ready(w, sem, BF_FOR_SIGNAL, 0));
    assert_true(block(w, sem, BF_FOR_WAIT, 1, 0));
    assert_true(block(w, sem, BF_FOR_SIGNAL, 1, 2));
    assert_int_equal(bf_semaphore_reach(sem, 1), 1);
    assert_true(atomic_load(&w->queues[2].blocked));
    assert_int_equal(bf_semaphore_count(sem), 2);
    assert_false(atomic_load(&w->queues[2].blocked));
}

/* OW-1, OW-3: a signal that is accepted but not grounded satisfies those alone who go by accepted
 * ones; who is blocked by it has the lists watched. */
TEST_AROUND(test_accepted_before_grounded, struct world, w, world_init, finish)
{
    uint64_t engines = 0;
    struct bf_semaphore *sem = make(w, true, false, 0);
    assert_true(bf_semaphore_block(&w->scheduler, sem, BF_FOR_WAIT, 2, BF_WAIT_NATIVE,
                                   &w->queues[2], &engines));
    assert_int_equal(bf_semaphore_accept(sem, 3), 2);
    assert_false(atomic_load(&w->queues[2].blocked));
    assert_int_equal(bf_semaphore_accepted(sem), 3);
    assert_false(ready(w, sem, BF_FOR_WAIT, 3));
    assert_true(bf_semaphore_ready(&w->scheduler, sem, BF_FOR_WAIT, 3, BF_WAIT_ACCEPTED));
    assert_int_equal(lists_watched, 0);
    assert_true(bf_semaphore_block(&w->scheduler, sem, BF_FOR_WAIT, 3, BF_WAIT_GROUNDED,
                                   &w->queues[0], &engines));
    assert_int_equal(lists_watched, 1);
    assert_int_equal(engines, 4);
    assert_true(bf_semaphore_block_engine(&w->scheduler, sem, 1, &w->engines[1], &engines));
    assert_int_equal(bf_semaphore_accept(sem, 5), 0);
    assert_int_equal(bf_semaphore_reach(sem, 3), 3);
    assert_false(atomic_load(&w->queues[0].blocked));
    assert_false(atomic_load(&w->engines[1].outside.blocked));
    assert_int_equal(bf_semaphore_accepted(sem), 5);
}

TEST_AROUND(test_unblock, struct world, w, world_init, finish)
{
    struct bf_semaphore *sem = make(w, true, false, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(block(w, sem, BF_FOR_WAIT, 1, i));
    bf_semaphore_unblock(&w->queues[1]);
    assert_false(atomic_load(&w->queues[1].blocked));
    bf_semaphore_unblock(&w->queues[1]);
    assert_int_equal(atomic_load(&sem->waiter_count), 2);
    assert_int_equal(bf_semaphore_reach(sem, 1), 3);
}

TEST_AROUND(test_host_signal, struct world, w, world_init, finish)
{
    struct bf_semaphore *sem = make(w, true, false, 0);
    assert_true(block(w, sem, BF_FOR_WAIT, 1, 2));
    bf_semaphore_host_signal(&w->scheduler, (VkSemaphore)(uintptr_t)0x2000,
                             1); /* unknown: nothing */
    assert_int_equal(pumped, 0);
    bf_semaphore_host_signal(&w->scheduler, HANDLE, 1);
    assert_int_equal(pumped, 2);
}

/* Who exports or imports asks the driver, whose value may have been changed by others. */
TEST(test_external)
{
    struct world w;
    world_init(&w);
    struct bf_semaphore *sem = make(&w, true, true, 0);
    assert_false(ready(&w, sem, BF_FOR_WAIT, 4));
    driver_value = 4;
    assert_true(ready(&w, sem, BF_FOR_WAIT, 4));
    driver_result = VK_ERROR_DEVICE_LOST;
    assert_false(ready(&w, sem, BF_FOR_WAIT, 4));
    assert_true(block(&w, sem, BF_FOR_WAIT, 6, 0));
    assert_int_equal(watchers_started, 1);
    assert_int_equal(bf_semaphore_reach(sem, 6), 1);
    finish(&w);
    assert_int_equal(watchers_stopped, 1);
}

/* S-3: a packet keeps its semaphores' records when the program destroys the handles. */
TEST(test_references)
{
    struct world w;
    world_init(&w);
    struct bf_semaphore *sem = make(&w, true, false, 0);
    bf_semaphore_reference(sem);
    bf_semaphore_reference(NULL);
    finish(&w);
    assert_ptr_equal(sem->handle, HANDLE); /* what is freed begins otherwise */
    assert_int_equal(bf_semaphore_reach(sem, 3), 0);
    bf_semaphore_release(sem); /* the address sanitizer sees to it that this is the last */
    bf_semaphore_release(NULL);
}

/* S-2: two threads meet again and again, one blocking its queue, one raising the counter. Either
 * the queue finds that it needn't block, or it is released. */
struct race {
    struct world *w;
    struct bf_semaphore *sem;
    pthread_barrier_t start, end;
    uint32_t rounds;
    uint64_t released; /* engines that the raising thread was told to pump */
    bool timeline;
};

static void *raise_counter(void *argument)
{
    struct race *r = argument;
    uint64_t random = 7777;
    for (uint32_t i = 1; i <= r->rounds; i++) {
        pthread_barrier_wait(&r->start);
        random = random * UINT64_C(6364136223846793005) + 1;
        for (volatile uint32_t spin = (uint32_t)(random >> 57); spin; spin--)
            ;
        r->released = r->timeline ? bf_semaphore_reach(r->sem, i) : bf_semaphore_count(r->sem);
        pthread_barrier_wait(&r->end);
    }
    return NULL;
}

static void race(bool timeline, uint32_t rounds)
{
    struct world w;
    world_init(&w);
    struct race r = {
        .w = &w, .sem = make(&w, timeline, false, 0), .rounds = rounds, .timeline = timeline};
    enum bf_side side = timeline ? BF_FOR_WAIT : BF_FOR_SIGNAL;
    pthread_barrier_init(&r.start, NULL, 2);
    pthread_barrier_init(&r.end, NULL, 2);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, raise_counter, &r), 0);
    uint32_t lost = 0, unexplained = 0;
    uint64_t random = 4242;
    for (uint32_t i = 1; i <= rounds; i++) {
        pthread_barrier_wait(&r.start);
        random = random * UINT64_C(6364136223846793005) + 1;
        for (volatile uint32_t spin = (uint32_t)(random >> 57); spin; spin--)
            ;
        bool blocked = block(&w, r.sem, side, i, 2);
        pthread_barrier_wait(&r.end);
        lost += atomic_load(&w.queues[2].blocked);
        unexplained += r.released != (blocked ? 2 : 0);
        bf_semaphore_unblock(&w.queues[2]); /* so that one failure stays one */
    }
    pthread_join(thread, NULL);
    assert_int_equal(lost, 0);
    assert_int_equal(unexplained, 0);
    assert_int_equal(atomic_load(&r.sem->waiter_count), 0);
    pthread_barrier_destroy(&r.start);
    pthread_barrier_destroy(&r.end);
    finish(&w);
}

TEST(test_block_against_raise)
{
    race(true, 10000);
    race(false, 10000);
}
