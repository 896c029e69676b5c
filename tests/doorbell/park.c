/* SPDX-License-Identifier: MIT */
/*
 * The doorbell thread's wait, with real threads: producers ring as programs do, at random moments
 * around those at which the thread parks, and each waits until what it rang has been seen. A
 * wake-up that is lost never ends. (park_model.c goes through all interleavings.)
 *
 *     belfry-doorbell-park [--count N]     so many wake-ups of each kind
 */
#include "support/test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/membarrier.h"
#include "doorbell/park.h"
#include "support/arguments.h"
#include "support/asleep.h"

enum { RINGS = 4, CONNECTED = 0, CONNECTED_NOTIFY = 1 };

struct ring {
    uint64_t entry; /* the last one alone: producers wait for each */
    _Alignas(64) _Atomic uint64_t write_pointer;
    _Alignas(64) _Atomic uint64_t doorbell;
    _Alignas(64) _Atomic uint64_t status;
    _Alignas(64) _Atomic uint64_t seen;
};

/* A doorbell thread and its rings. */
struct engine {
    struct bf_park park;
    struct ring rings[RINGS];
    int ring_count; /* as few as a test needs: the more there are, the later the last look */
    struct bf_lock lock;
    _Atomic bool suspended; /* all of them */
    pthread_t thread;
    _Atomic int id;
    uint64_t rounds, spin_ns;
    _Atomic uint64_t told; /* that nothing comes */
    uint64_t met;          /* so often there was work while it was told */
};

static uint64_t count = 20000;
static uint64_t idle_ns, met;

static bool has_work(void *owner, bool thoroughly)
{
    struct engine *e = owner;
    if (atomic_load(&e->suspended))
        return false;
    for (int i = 0; i < e->ring_count; i++) {
        struct ring *r = &e->rings[i];
        if (atomic_load_explicit(&r->doorbell, memory_order_acquire) != 0 ||
            (thoroughly && atomic_load_explicit(&r->write_pointer, memory_order_acquire) >
                               atomic_load_explicit(&r->seen, memory_order_relaxed)))
            return true;
    }
    return false;
}

static void set_notify(void *owner, bool notify)
{
    struct engine *e = owner;
    bf_lock_acquire(&e->lock);
    for (int i = 0; i < e->ring_count; i++)
        atomic_store(&e->rings[i].status, notify ? CONNECTED_NOTIFY : CONNECTED);
    bf_lock_release(&e->lock);
}

static bool idle(void *owner)
{
    struct engine *e = owner;
    if (atomic_fetch_add(&e->told, 1) < e->met)
        bf_park_worked(&e->park);
    return true;
}

static const struct bf_park_owner functions = {has_work, set_notify, idle};

static void *engine_run(void *argument)
{
    struct engine *e = argument;
    atomic_store(&e->id, (int)syscall(SYS_gettid));
    while (bf_park_wait(&e->park))
        for (int i = 0; i < e->ring_count; i++) {
            struct ring *r = &e->rings[i];
            atomic_exchange(&r->doorbell, 0);
            uint64_t to = atomic_load_explicit(&r->write_pointer, memory_order_acquire);
            if (to > atomic_load_explicit(&r->seen, memory_order_relaxed) && r->entry == to)
                atomic_store_explicit(&r->seen, to, memory_order_release);
        }
    return NULL;
}

static void engine_begin(struct engine *e, int rings, uint64_t spin_ns)
{
    memset(e, 0, sizeof(*e));
    bf_park_init(&e->park, &functions, e, spin_ns);
    e->park.idle_ns = idle_ns;
    e->met = met;
    e->spin_ns = spin_ns;
    e->ring_count = rings;
    for (int i = 0; i < e->ring_count; i++)
        atomic_store(&e->rings[i].status, CONNECTED_NOTIFY);
    assert_int_equal(pthread_create(&e->thread, NULL, engine_run, e), 0);
}

static void engine_end(struct engine *e)
{
    bf_park_stop(&e->park);
    pthread_join(e->thread, NULL);
}

/* As the header tells programs to. What is stored behind an entry that is in no cache takes its
 * time. */
static void ring_once(struct engine *e, struct ring *r, uint64_t value)
{
#ifdef __x86_64__
    __builtin_ia32_clflush(&r->entry);
#endif
    r->entry = value;
    atomic_store_explicit(&r->write_pointer, value, memory_order_release);
    atomic_store_explicit(&r->doorbell, value, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&r->status, memory_order_relaxed) == CONNECTED_NOTIFY)
        bf_park_notify(&e->park);
}

static void ring_is_seen(struct ring *r, uint64_t value)
{
    for (uint32_t looks = 1; atomic_load_explicit(&r->seen, memory_order_acquire) < value; looks++)
        if (looks % 256 == 0)
            sched_yield();
}

/* The thread is asleep, in a wait that only a notify ends. */
static void engine_sleeps(struct engine *e)
{
    while (atomic_load(&e->id) == 0 || thread_state(e->id) != 'S' || !thread_waits(e->id))
        sched_yield();
}

struct producer {
    struct engine *engine;
    int ring;
    pthread_t thread;
};

static void *produce(void *argument)
{
    struct producer *p = argument;
    struct engine *e = p->engine;
    uint64_t random = 0x9e3779b97f4a7c15u * (uint64_t)(p->ring + 1);
    struct ring *r = &e->rings[p->ring];
    uint64_t before = atomic_load(&r->write_pointer);
    for (uint64_t i = 1; i <= e->rounds; i++) {
        ring_once(e, r, before + i);
        ring_is_seen(r, before + i);
        /* Mostly shorter than the thread spins, so that it goes on spinning; some are longer. */
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t until = bf_now_ns() + (random >> 33) % (e->spin_ns * 9 / 8 + 1);
        while (bf_now_ns() < until)
            ;
    }
    return NULL;
}

static void engine_is_rung(struct engine *e, int producers, uint64_t rounds)
{
    struct producer p[RINGS];
    e->rounds = rounds;
    for (int i = 0; i < producers; i++) {
        p[i] = (struct producer){.engine = e, .ring = i};
        assert_int_equal(pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
    }
    for (int i = 0; i < producers; i++)
        pthread_join(p[i].thread, NULL);
}

/* DP-4, in a process of its own that may not call membarrier from the beginning (which this one
 * hasn't asked for yet), or from its first wake-ups on. Ends with 0, or 77 where it can't be
 * forbidden. */
static int without_membarrier(bool later)
{
    struct sock_filter lines[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof(lines) / sizeof(*lines), lines};
    struct engine e;
    if (later) {
        engine_begin(&e, 2, 2000);
        engine_is_rung(&e, 1, 1000);
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
        return 77;
    if (!later)
        engine_begin(&e, 2, 2000);
    do /* until it has parked from CONNECTED, and found out */
        engine_is_rung(&e, 2, 1000);
    while (later && bf_membarrier_available());
    engine_is_rung(&e, 2, 1000);
    engine_sleeps(&e);
    for (int i = 0; i < e.ring_count; i++)
        if (atomic_load(&e.rings[i].status) != CONNECTED_NOTIFY)
            return 1;
    if (!later && atomic_load(&e.park.barriers) > 0)
        return 2;
    engine_end(&e);
    return 0;
}

TEST(where_there_is_no_membarrier)
{
    for (int later = 0; later < 2; later++) {
        TEST_NEEDS(!later || bf_membarrier_available(), "expedited membarrier");
        pid_t child = fork();
        if (child == 0)
            _exit(without_membarrier(later));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        TEST_NEEDS(WEXITSTATUS(status) != 77, "seccomp");
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

#define TEST_ON_ENGINE(name_)                                                                      \
    TEST_AROUND(name_, struct engine, e, engine_begin, engine_end, RINGS, BF_PARK_SPIN_NS)

TEST(no_wake_up_is_lost)
{
    static const struct {
        int producers;
        uint64_t spin_ns;
    } cases[] = {{1, 4000}, {1, 0}, {2, 4000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct engine e;
        engine_begin(&e, cases[i].producers, cases[i].spin_ns);
        engine_is_rung(&e, cases[i].producers, count);
        engine_end(&e);
        print_message("%d producers, spinning %" PRIu64 " ns: slept %" PRIu64 " times, %" PRIu64
                      " from CONNECTED, %" PRIu64 " woken for nothing\n",
                      cases[i].producers, cases[i].spin_ns, atomic_load(&e.park.sleeps),
                      atomic_load(&e.park.barriers), atomic_load(&e.park.spurious));
    }
}

/* Is the wait without a timeout? */
static bool engine_sleeps_for_good(struct engine *e)
{
    char path[64], line[256] = "";
    unsigned long timeout = 0;
    engine_sleeps(e);
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", atomic_load(&e->id));
    FILE *file = fopen(path, "r");
    bool read = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    return !read || sscanf(line, "%*s %*s %*s %*s %lx", &timeout) != 1 || timeout == 0;
}

/* DP-3 */
TEST(at_rest_it_sleeps)
{
    struct engine e;
    bool good = true;
    engine_begin(&e, 1, BF_PARK_SPIN_NS);
    for (uint64_t i = 1; i <= 3; i++) {
        ring_once(&e, &e.rings[0], i);
        ring_is_seen(&e.rings[0], i);
        good = engine_sleeps_for_good(&e) && good;
    }
    engine_end(&e);
    assert_true(good);
}

/* DP-7: at first, and each time that there was work. */
TEST(that_nothing_comes_is_told_once)
{
    struct engine e;
    bool good = true;
    idle_ns = 1000;
    engine_begin(&e, 1, 0);
    idle_ns = 0;
    for (uint64_t i = 1; i <= 4; i++) {
        while (atomic_load(&e.told) < i)
            sched_yield();
        good = engine_sleeps_for_good(&e) && atomic_load(&e.told) == i && good;
        bf_park_worked(&e.park);
        ring_once(&e, &e.rings[0], i);
        ring_is_seen(&e.rings[0], i);
    }
    engine_end(&e);
    assert_true(good);
}

/* DP-7: it has to be told again. */
TEST(work_that_comes_while_it_is_told_counts)
{
    struct engine e;
    idle_ns = 1000;
    met = 3;
    engine_begin(&e, 1, 0);
    idle_ns = met = 0;
    while (atomic_load(&e.told) < 4) /* or the test never ends */
        sched_yield();
    bool good = engine_sleeps_for_good(&e) && atomic_load(&e.told) == 4;
    engine_end(&e);
    assert_true(good);
}

/* DP-2: for nothing, and what comes next is seen. */
TEST_ON_ENGINE(a_notify_for_nothing)
{
    for (uint64_t i = 1; i <= 200; i++) {
        if (i % 2)
            engine_sleeps(e);
        bf_park_notify(&e->park);
        if (i % 10 == 0) {
            ring_once(e, &e->rings[i / 10 % RINGS], i);
            ring_is_seen(&e->rings[i / 10 % RINGS], i);
        }
    }
    assert_true(atomic_load(&e->park.spurious) > 0);
}

/* Suspended rings are no work; who resumes them says so. */
TEST_ON_ENGINE(suspended_and_resumed)
{
    for (uint64_t i = 1; i <= 100; i++) {
        atomic_store(&e->suspended, true);
        ring_once(e, &e->rings[0], i);
        if (i % 4 == 0)
            engine_sleeps(e);
        atomic_store(&e->suspended, false);
        bf_park_notify(&e->park);
        ring_is_seen(&e->rings[0], i);
    }
}

TEST(stopped_at_any_moment)
{
    for (int i = 0; i < 300; i++) {
        struct engine e;
        engine_begin(&e, 1, i % 3 * 1000);
        if (i % 2)
            ring_once(&e, &e.rings[0], 1);
        if (i % 5 == 0)
            engine_sleeps(&e);
        engine_end(&e);
    }
}

static int park_main(int argc, char **argv)
{
    count = argument(argc, argv, "--count", count);
    return test_run(argc == 2 ? argv[1] : NULL);
}

__attribute__((constructor)) static void park_main_is_set(void)
{
    test_main = park_main;
}
