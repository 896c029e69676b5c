/* SPDX-License-Identifier: MIT */
/* Events between threads: nothing is consumed twice or by halves (D-2, fence/event.c), a setter
 * never writes to a descriptor that is no longer the event's (D-1), and nobody sleeps too long. */
#include "support/asleep.h"
#include "support/test.h"

#include <sys/eventfd.h>
#include <fcntl.h>
#include <poll.h>

#include "fence/event.h"

static BfEvent make(BfEventFlags flags)
{
    BfEvent event = NULL;
    assert_success(bfCreateEvent(flags, &event));
    return event;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

/* The test steps in before the next read of that descriptor. */
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);

static _Atomic int read_of = -1;
static void (*read_step_in)(void);

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    int expected = fd;
    if (atomic_compare_exchange_strong(&read_of, &expected, -1))
        read_step_in();
    return __real_read(fd, to, size);
}

/* -------------------------------------------------------------------------- One setter, waiters */

/* Tokens pass through one event: it is set again only when the last setting was consumed. */
struct relay {
    BfEvent full, empty;
    _Atomic uint32_t consumed;
    uint32_t rounds;
    _Atomic bool wrong;
};

static void *relay_consume(void *argument)
{
    struct relay *r = argument;
    for (;;) {
        if (bfWaitForEvents(1, &r->full, VK_FALSE, UINT64_MAX, NULL) != VK_SUCCESS) {
            atomic_store(&r->wrong, true);
            return NULL;
        }
        uint32_t consumed = atomic_fetch_add(&r->consumed, 1) + 1;
        if (consumed >= r->rounds) { /* the end is passed on */
            bfSetEvent(r->full);
            bfSetEvent(r->empty);
            return NULL;
        }
        bfSetEvent(r->empty);
    }
}

TEST(each_setting_wakes_one_waiter)
{
    enum { CONSUMERS = 4 };
    struct relay r = {.full = make(0), .empty = make(0), .rounds = 3000};
    pthread_t threads[CONSUMERS];
    for (int i = 0; i < CONSUMERS; i++)
        threads[i] = start(relay_consume, &r);
    for (uint32_t i = 1; i <= r.rounds; i++) {
        assert_success(bfSetEvent(r.full));
        assert_success(bfWaitForEvents(1, &r.empty, VK_TRUE, UINT64_MAX, NULL));
        uint32_t consumed = atomic_load(&r.consumed);
        if (i < r.rounds)
            assert_int_equal(consumed, i);
    }
    for (int i = 0; i < CONSUMERS; i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&r.wrong));
    assert_int_equal(atomic_load(&r.consumed), r.rounds + CONSUMERS - 1);
    bfDestroyEvent(r.full);
    bfDestroyEvent(r.empty);
}

static void *wait_for_manual(void *argument)
{
    BfEvent *event = argument;
    return (void *)(uintptr_t)bfWaitForEvents(1, event, VK_FALSE, UINT64_MAX, NULL);
}

TEST(a_manual_one_wakes_all)
{
    for (int round = 0; round < 50; round++) {
        BfEvent event = make(BF_EVENT_MANUAL_RESET_BIT);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++)
            threads[i] = start(wait_for_manual, &event);
        bfSetEvent(event);
        for (int i = 0; i < 4; i++) {
            void *result;
            pthread_join(threads[i], &result);
            assert_success((uintptr_t)result);
        }
        bfDestroyEvent(event);
    }
}

/* ------------------------------------------------------------------------------------- Stealing */

/* Three auto-reset events as three locks. Some take two at once, in every order, others one, or
 * only if it is there; who was given one has it alone. */
struct table {
    BfEvent forks[3];
    _Atomic bool held[3];
    uint64_t meals[3]; /* guarded by the forks: the thread sanitizer looks at it */
    _Atomic uint32_t wrong;
    uint32_t rounds;
};

struct guest {
    struct table *table;
    uint32_t first, second; /* the same: takes one */
    bool impatient;
};

static void *dine(void *argument)
{
    struct guest *g = argument;
    struct table *t = g->table;
    uint32_t wanted[] = {g->first, g->second};
    uint32_t count = g->first == g->second ? 1 : 2;
    BfEvent events[] = {t->forks[wanted[0]], t->forks[wanted[1]]};
    for (uint32_t i = 0; i < t->rounds; i++) {
        VkResult result =
            bfWaitForEvents(count, events, VK_TRUE, g->impatient ? 0 : UINT64_MAX, NULL);
        if (result == VK_TIMEOUT && g->impatient)
            continue;
        if (result != VK_SUCCESS)
            atomic_fetch_add(&t->wrong, 1);
        for (uint32_t k = 0; k < count; k++) {
            if (atomic_exchange(&t->held[wanted[k]], true))
                atomic_fetch_add(&t->wrong, 1);
            t->meals[wanted[k]]++;
        }
        for (uint32_t k = 0; k < count; k++) {
            atomic_store(&t->held[wanted[k]], false);
            bfSetEvent(events[k]);
        }
    }
    return NULL;
}

TEST(nothing_is_consumed_twice)
{
    struct table t = {.rounds = 1000};
    for (int i = 0; i < 3; i++)
        t.forks[i] = make(BF_EVENT_INITIALLY_SET_BIT);
    struct guest guests[] = {{&t, 0, 1, false}, {&t, 1, 0, false}, {&t, 1, 2, false},
                             {&t, 2, 0, false}, {&t, 0, 2, true},  {&t, 1, 1, false},
                             {&t, 2, 2, true}};
    enum { GUESTS = sizeof(guests) / sizeof(guests[0]) };
    pthread_t threads[GUESTS];
    for (int i = 0; i < GUESTS; i++)
        threads[i] = start(dine, &guests[i]);
    for (int i = 0; i < GUESTS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&t.wrong), 0);
    assert_true(t.meals[0] >= 3 * t.rounds && t.meals[1] >= 4 * t.rounds);
    for (int i = 0; i < 3; i++) {
        assert_success(bfWaitForEvents(1, &t.forks[i], VK_FALSE, 0, NULL));
        bfDestroyEvent(t.forks[i]);
    }
}

/* One thread takes both or nothing, the other the second alone: while that one has it, the first is
 * there, and when it is reset, nobody who had it for a moment puts it back. */
struct pair {
    BfEvent both[2];
    _Atomic bool stop;
    uint32_t taken;
};

static bool readable(BfEvent event)
{
    struct pollfd p = {.fd = bfGetEventFd(event), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void *take_both(void *argument)
{
    struct pair *p = argument;
    while (!atomic_load(&p->stop)) {
        if (bfWaitForEvents(2, p->both, VK_TRUE, 1000000, NULL) != VK_SUCCESS)
            continue;
        p->taken++;
        bfSetEvent(p->both[0]); /* the first first */
        bfSetEvent(p->both[1]);
    }
    return NULL;
}

TEST(all_or_nothing_for_whoever_looks)
{
    struct pair p = {
        .both = {make(BF_EVENT_INITIALLY_SET_BIT), make(BF_EVENT_INITIALLY_SET_BIT)},
    };
    pthread_t thread = start(take_both, &p);
    uint32_t halves = 0, undone = 0;
    for (uint32_t stolen = 0; stolen < 5000; stolen++) {
        assert_success(bfWaitForEvents(1, &p.both[1], VK_FALSE, UINT64_MAX, NULL));
        halves += !readable(p.both[0]);
        bfResetEvent(p.both[0]);
        for (int i = 0; i < 3; i++)
            undone += readable(p.both[0]);
        bfSetEvent(p.both[0]);
        bfSetEvent(p.both[1]);
    }
    atomic_store(&p.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(halves, 0);
    assert_int_equal(undone, 0);
    bfDestroyEvent(p.both[0]);
    bfDestroyEvent(p.both[1]);
}

/* The same at the worst moment: one wait has consumed the first and not yet the second, for which
 * another one comes. */
static struct {
    BfEvent both[2];
    pthread_t thread;
    _Atomic int id;
    _Atomic bool half, finished;
} between;

static void *take_second(void *argument)
{
    atomic_store(&between.id, gettid());
    bfWaitForEvents(1, &between.both[1], VK_FALSE, UINT64_MAX, NULL);
    atomic_store(&between.half, !readable(between.both[0]));
    atomic_store(&between.finished, true);
    return NULL;
}

/* Until the other one has it, or stands at the lock. */
static void come_between(void)
{
    between.thread = start(take_second, NULL);
    while (!atomic_load(&between.finished) &&
           (!atomic_load(&between.id) || thread_state(atomic_load(&between.id)) != 'S'))
        sched_yield();
}

TEST(nobody_comes_between_what_one_wait_consumes)
{
    for (int i = 0; i < 2; i++)
        between.both[i] = make(BF_EVENT_INITIALLY_SET_BIT);
    read_step_in = come_between;
    atomic_store(&read_of, bfGetEventFd(between.both[1]));
    assert_success(bfWaitForEvents(2, between.both, VK_TRUE, 0, NULL));
    bfSetEvent(between.both[0]); /* the first first */
    bfSetEvent(between.both[1]);
    pthread_join(between.thread, NULL);
    assert_false(atomic_load(&between.half));
    for (int i = 0; i < 2; i++)
        bfDestroyEvent(between.both[i]);
}

/* -------------------------------------------------------------------------- Setting and closing */

struct late {
    struct bf_event *event;
    pthread_barrier_t begin;
    uint32_t rounds;
};

static void *set_late(void *argument)
{
    struct late *l = argument;
    for (uint32_t i = 0; i < l->rounds; i++) {
        pthread_barrier_wait(&l->begin);
        struct bf_event *event = l->event;
        while (bf_event_set(event))
            ;
        bf_event_release(event);
        pthread_barrier_wait(&l->begin);
    }
    return NULL;
}

TEST(a_late_signal_hits_no_other_file)
{
    struct late l = {.rounds = 5000};
    pthread_barrier_init(&l.begin, NULL, 2);
    pthread_t thread = start(set_late, &l);
    uint32_t hit = 0, reused = 0;
    for (uint32_t i = 0; i < l.rounds; i++) {
        BfEvent event = make(0);
        int fd = bfGetEventFd(event);
        l.event = bf_event_of(event, "test");
        assert_non_null(l.event);
        pthread_barrier_wait(&l.begin);
        assert_success(bfWaitForEvents(1, &event, VK_FALSE, UINT64_MAX, NULL));
        bfDestroyEvent(event);
        int other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        reused += other == fd;
        pthread_barrier_wait(&l.begin);
        uint64_t amount;
        hit += read(other, &amount, sizeof(amount)) != -1;
        close(other);
    }
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&l.begin);
    assert_int_equal(reused, l.rounds);
    assert_int_equal(hit, 0);
}

static void *churn(void *argument)
{
    uint32_t *wrong = argument;
    for (uint32_t i = 0; i < 2000; i++) {
        BfEvent event = NULL;
        if (bfCreateEvent(i % 4, &event) != VK_SUCCESS ||
            bfWaitForEvents(1, &event, VK_FALSE, 0, NULL) !=
                (i & BF_EVENT_INITIALLY_SET_BIT ? VK_SUCCESS : VK_TIMEOUT))
            (*wrong)++;
        bfDestroyEvent(event);
    }
    return NULL;
}

TEST(created_and_destroyed_by_many)
{
    uint32_t wrong[4] = {0};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = start(churn, &wrong[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) != -1;
    return count;
}

int main(void)
{
    int before = descriptors(), failed = test_run(NULL);
    return failed ? failed : descriptors() != before;
}
