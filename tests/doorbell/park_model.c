/* SPDX-License-Identifier: MIT */
/*
 * All executions of the doorbell thread's protocol, on processors with store buffers.
 *
 * runtime/doorbell/park.c itself is built in here, each of its accesses to shared memory a step of
 * the model; around it stand programs that ring, owners that take doorbells away and connect them,
 * and who suspends, notifies and stops. A store goes to its thread's buffer, from which it reaches
 * memory at any later step: in order (x86), or, on weak processors, past others but for those
 * before a release. A locked instruction and a system call wait until the thread's own buffer is
 * empty; membarrier empties everybody's; a remap empties nobody's. Loads are not reordered, but for
 * what buffers do.
 *
 * No state may be final in which something that was rung has not been taken.
 *
 * A thread is a function of what it has read: to go on with it, it is run again from its last
 * checkpoint, with what it read then, up to the next step. States that have been seen are known by
 * a hash.
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/membarrier.h"

/* --- the machine ---------------------------------------------------------------------------- */

enum { THREADS = 4, CELLS = 24, STORES = 8, READS = 120, PRIVATE = 256 };

enum step_kind {
    LOAD,
    STORE,
    RELEASE,  /* a store */
    EXCHANGE, /* a locked instruction */
    LOCK,
    MEMBARRIER,
    SLEEP, /* futex */
    AWAIT, /* polls until the value is another */
    WAKE,
    CHOICE, /* of two */
};

struct step {
    uint32_t kind, cell, value;
    uint32_t timed; /* a sleep that ends by itself */
};

struct state {
    uint32_t memory[CELLS];
    struct thread_state {
        struct step next;
        uint32_t done, gave_up, asleep, stores, reads;
        struct step buffer[STORES]; /* oldest first */
        uint32_t read[READS];
        _Alignas(8) uint8_t own[PRIVATE]; /* at the last checkpoint */
    } threads[THREADS];
};

/* What is explored. */
static struct machine {
    int threads;
    bool weak;
    bool barrierless; /* membarrier fails */
    bool
        patient; /* a sleep ends by itself once all that was stored has arrived, else at any time */
    void (*run[THREADS])(int thread);
    void *own[THREADS]; /* the thread's variables, of own_size bytes */
    size_t own_size[THREADS];
    const char *(*final)(const struct state *state); /* what is wrong with it, or NULL */
} machine;

static const void *cells[CELLS];
static uint32_t cell_count;
static struct state *running; /* the state in which a thread is being run */
static int runner;
static uint32_t reads;
static jmp_buf next_step;
static const char *violation;

/* The seen states' hashes; 0 is none. */
static uint64_t *seen;
static size_t seen_size, seen_count;

static struct {
    struct step step;
    int thread;
    bool arrives;
} path[2000];
static int path_length;

static uint32_t cell_of(const void *variable)
{
    for (uint32_t i = 0; i < cell_count; i++)
        if (cells[i] == variable)
            return i;
    assert_true(cell_count < CELLS);
    cells[cell_count] = variable;
    return cell_count++;
}

static uint32_t step_alone(enum step_kind kind, uint32_t value);

/* On a thread of the model: its next step; what it reads. */
static uint32_t step_timed(enum step_kind kind, const void *variable, uint32_t value, bool timed)
{
    if (!running)
        return step_alone(kind, value);
    struct thread_state *t = &running->threads[runner];
    if (reads < t->reads)
        return t->read[reads++];
    t->next = (struct step){kind, variable ? cell_of(variable) : 0, value, timed};
    longjmp(next_step, 1);
}

static uint32_t step(enum step_kind kind, const void *variable, uint32_t value)
{
    return step_timed(kind, variable, value, false);
}

/* On a thread of the model, where its function begins anew with its own variables as they are. */
static void checkpoint(void)
{
    struct thread_state *t = &running->threads[runner];
    memcpy(t->own, machine.own[runner], machine.own_size[runner]);
    memset(t->read, 0, sizeof(t->read));
    t->reads = reads = 0;
}

/* What a function of the model's has read leaves nothing but its result: 'BEGIN()' in front of its
 * first step, 'END(result)' behind its last one. Fewer states differ. */
#define ENDED 0x80000000u
#define BEGIN()                                                                                    \
    struct thread_state *begun_on = &running->threads[runner];                                     \
    uint32_t begun = reads;                                                                        \
    if (reads < begun_on->reads && begun_on->read[reads] & ENDED)                                  \
    return begun_on->read[reads++] & ~ENDED
#define END(result_)                                                                               \
    do {                                                                                           \
        uint32_t result = (result_);                                                               \
        memset(&begun_on->read[begun], 0, sizeof(*begun_on->read) * (reads - begun));              \
        begun_on->read[begun] = ENDED | result;                                                    \
        begun_on->reads = reads = begun + 1;                                                       \
        return result;                                                                             \
    } while (0)

/* Runs the thread up to its next step. */
static void thread_runs(struct state *s, int thread)
{
    running = s;
    runner = thread;
    reads = 0;
    memcpy(machine.own[thread], s->threads[thread].own, machine.own_size[thread]);
    if (setjmp(next_step) == 0) {
        machine.run[thread](thread);
        checkpoint();
        s->threads[thread].done = true;
    }
}

static void thread_goes_on(struct state *s, int thread, uint32_t read)
{
    struct thread_state *t = &s->threads[thread];
    assert_true(t->reads < READS);
    t->read[t->reads++] = read;
    thread_runs(s, thread);
}

static void store_arrives(struct state *s, int thread, uint32_t which)
{
    struct thread_state *t = &s->threads[thread];
    s->memory[t->buffer[which].cell] = t->buffer[which].value;
    t->stores--;
    memmove(&t->buffer[which], &t->buffer[which + 1], (t->stores - which) * sizeof(*t->buffer));
    memset(&t->buffer[t->stores], 0, sizeof(*t->buffer));
}

/* Whether that store may arrive before those in front of it have. */
static bool store_may_arrive(const struct thread_state *t, uint32_t which)
{
    if (which == 0)
        return true;
    if (!machine.weak || t->buffer[which].kind == RELEASE)
        return false;
    for (uint32_t i = 0; i < which; i++)
        if (t->buffer[i].cell == t->buffer[which].cell)
            return false;
    return true;
}

static bool step_is_possible(const struct state *s, int thread)
{
    const struct thread_state *t = &s->threads[thread];
    if (t->done)
        return false;
    if (t->asleep) {
        for (int i = 0; i < machine.threads; i++)
            if (machine.patient && s->threads[i].stores > 0)
                return false;
        return t->next.timed;
    }
    if (t->next.kind == AWAIT)
        return s->memory[t->next.cell] != t->next.value;
    if (t->next.kind == LOCK && s->memory[t->next.cell] != 0)
        return false;
    if (t->next.kind == STORE || t->next.kind == RELEASE)
        return t->stores < STORES;
    return t->next.kind == LOAD || t->next.kind == CHOICE || t->stores == 0;
}

static void step_happens(struct state *s, int thread, uint32_t choice)
{
    struct thread_state *t = &s->threads[thread];
    struct step next = t->next;
    uint32_t read = s->memory[next.cell];
    switch ((enum step_kind)next.kind) {
    case LOAD:
        for (uint32_t i = 0; i < t->stores; i++)
            if (t->buffer[i].cell == next.cell)
                read = t->buffer[i].value;
        break;
    case STORE:
    case RELEASE:
        t->buffer[t->stores++] = next;
        break;
    case EXCHANGE:
        s->memory[next.cell] = next.value;
        break;
    case LOCK:
        s->memory[next.cell] = 1;
        break;
    case MEMBARRIER:
        read = !machine.barrierless;
        for (int i = 0; read && i < machine.threads; i++)
            while (s->threads[i].stores > 0)
                store_arrives(s, i, 0);
        break;
    case SLEEP:
        if (!t->asleep && read == next.value) {
            t->asleep = true;
            return;
        }
        read = !t->asleep;
        t->asleep = false;
        break;
    case AWAIT:
        break;
    case WAKE:
        for (int i = 0; i < machine.threads; i++)
            if (s->threads[i].asleep && s->threads[i].next.cell == next.cell) {
                s->threads[i].asleep = false;
                thread_goes_on(s, i, true);
                break;
            }
        break;
    case CHOICE:
        read = choice;
        break;
    }
    thread_goes_on(s, thread, read);
}

static bool state_is_new(const struct state *s)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    const uint64_t *words = (const uint64_t *)s;
    size_t used = offsetof(struct state, threads) + (size_t)machine.threads * sizeof(*s->threads);
    for (size_t i = 0; i < used / sizeof(*words); i++)
        if (words[i]) { /* most are 0 */
            hash = (hash ^ words[i] ^ i << 56) * 0xff51afd7ed558ccdu;
            hash ^= hash >> 32;
        }
    hash += hash == 0;
    if (seen_count * 2 >= seen_size) {
        size_t size = seen_size ? seen_size * 2 : 1 << 16;
        uint64_t *larger = calloc(size, sizeof(*larger));
        assert_non_null(larger);
        for (size_t i = 0; i < seen_size; i++)
            if (seen[i]) {
                size_t at = seen[i] & (size - 1);
                while (larger[at])
                    at = (at + 1) & (size - 1);
                larger[at] = seen[i];
            }
        free(seen);
        seen = larger;
        seen_size = size;
    }
    size_t at = hash & (seen_size - 1);
    for (; seen[at]; at = (at + 1) & (seen_size - 1))
        if (seen[at] == hash)
            return false;
    seen[at] = hash;
    seen_count++;
    return true;
}

/* Returns false once there is a violation, to which 'path' has led. */
static bool state_is_explored(const struct state *s)
{
    if (!state_is_new(s))
        return true;
    bool final = true;
    /* A choice has nothing to do with the others: none of their steps need come before it. */
    int first = 0, last = machine.threads - 1;
    for (int t = 0; t < machine.threads; t++)
        if (!s->threads[t].done && s->threads[t].next.kind == CHOICE)
            first = last = t;
    for (int t = first; t <= last; t++) {
        const struct thread_state *thread = &s->threads[t];
        bool possible = step_is_possible(s, t), chooses = thread->next.kind == CHOICE;
        uint32_t choices = possible ? chooses ? 2 : 1 : 0;
        for (uint32_t i = 0; i < choices + (chooses ? 0 : thread->stores); i++) {
            bool arrives = i >= choices;
            if (arrives && !store_may_arrive(thread, i - choices))
                continue;
            struct state next = *s;
            int length = path_length++;
            assert_true((size_t)length < sizeof(path) / sizeof(*path));
            path[length].step = arrives ? thread->buffer[i - choices] : thread->next;
            path[length].thread = t;
            path[length].arrives = arrives;
            if (arrives)
                store_arrives(&next, t, i - choices);
            else
                step_happens(&next, t, i);
            final = false;
            if (violation || !state_is_explored(&next))
                return false;
            path_length = length;
        }
    }
    if (final)
        violation = machine.final(s);
    return !violation;
}

/* What is wrong with some execution from that state on, or NULL. */
static const char *explore(struct state *s)
{
    violation = NULL;
    path_length = 0;
    seen_count = seen_size = 0;
    for (int t = 0; t < machine.threads; t++) {
        memcpy(s->threads[t].own, machine.own[t], machine.own_size[t]);
        thread_runs(s, t);
    }
    state_is_explored(s);
    free(seen);
    seen = NULL;
    running = NULL;
    return violation;
}

/* --- park.c, in steps ----------------------------------------------------------------------- */

static uint64_t model_now(void);
static uint32_t model_load(const void *variable);
static void model_store(const void *variable, uint64_t value);

#undef atomic_exchange
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#define atomic_exchange(variable_, value_)                   step(EXCHANGE, variable_, value_)
#define atomic_load(variable_)                               model_load(variable_)
#define atomic_load_explicit(variable_, order_)              model_load(variable_)
#define atomic_store(variable_, value_)                      step(EXCHANGE, variable_, value_)
#define atomic_store_explicit(variable_, value_, order_)     model_store(variable_, value_)
#define atomic_fetch_add_explicit(variable_, value_, order_) ((void)0) /* figures */
#define bf_now_ns()                                          model_now()
#define bf_lock_pause()                                      ((void)0)
#define bf_membarrier()                                      step(MEMBARRIER, NULL, 0)
#define bf_membarrier_available()                            (!machine.barrierless)
#define bf_futex_wait(word_, value_, time_)                  step_timed(SLEEP, word_, value_, time_)
#define bf_futex_wake(variable_, count_)                     ((void)step(WAKE, variable_, 0))
#define PARK_LOOKS                                           1
#include "doorbell/park.c"

/* --- the world around it -------------------------------------------------------------------- */

enum { RINGS = 2, ENTRIES = 4 };
enum {
    CONNECTS = 1
}; /* of a program, at most: two may take the doorbell from each other for ever */
enum { CONNECTED, CONNECTED_NOTIFY, RETRY };

/* Addresses alone: the values are in the machine's memory. */
static struct {
    char write_pointer[RINGS], entry[RINGS][ENTRIES], status[RINGS], marked[RINGS];
    char mapped[RINGS]; /* 1 + the physical doorbell; 0: the dummy page */
    char physical[RINGS];
    char lock, notify, suspended;
} at;

/* What may be done otherwise, for worse: each must be found out. */
enum mistake {
    NO_MISTAKE,
    STATUS_FIRST, /* the program loads the status before it rings */
    WRITE_POINTER_RELAXED,
    DOORBELL_RELAXED,
    APPENDS_AGAIN,     /* after RETRY */
    NO_VICTIM_BARRIER, /* by who takes a doorbell away */
    MARKS_FIRST,
    RESUMES_SILENTLY,
};

static struct scene {
    const char *name;
    int rings;
    uint32_t entries[RINGS];
    bool shared;               /* one physical doorbell for all rings */
    void (*other)(int thread); /* beside the rings' programs */
    /* It doesn't spin, and the statuses say CONNECTED_NOTIFY; else both the other way. */
    bool parked;
    enum { BARRIER, NO_BARRIER, BARRIER_LOST } barrier;
    bool idle;  /* what has been idle is disconnected */
    bool large; /* for the long run */
    bool busy;  /* other work keeps the thread awake */
    bool weak;
    enum mistake mistake;
} scene;

/* The doorbell thread's variables. */
static struct {
    struct bf_park park;
    uint32_t clock, taken[RINGS];
} engine;

/* Those of a ring's program. */
static struct program {
    uint32_t rung, appended, again, connects;
} programs[THREADS];

static void run_stopper(int thread)
{
    bf_park_stop(&engine.park);
}

/* A thread alone, by a clock: work comes at a time, and each look takes some. */
static struct {
    uint64_t now, due, asleep;
    uint32_t state, sleeps, barriers, changes, wakes;
} alone;

static uint32_t step_alone(enum step_kind kind, uint32_t value)
{
    uint32_t before = alone.state;
    if (kind == EXCHANGE)
        alone.state = value;
    alone.barriers += kind == MEMBARRIER;
    alone.wakes += kind == WAKE;
    if (kind == SLEEP) {
        alone.sleeps++;
        alone.asleep = alone.now;
        alone.now = alone.due;
        alone.state = AWAKE;
    }
    return kind == MEMBARRIER || before;
}

static bool alone_has_work(void *owner, bool thoroughly)
{
    alone.now += 100;
    return alone.now >= alone.due;
}

static void alone_set_notify(void *owner, bool notify)
{
    alone.changes++;
}

static uint64_t model_now(void)
{
    if (!running)
        return alone.now;
    if (runner != 0)
        return 0;
    engine.clock += step(CHOICE, NULL, 0) ? 2 * BF_PARK_SPIN_NS : BF_PARK_SPIN_NS / 2;
    return engine.clock;
}

/* When it was woken is for its guess alone. */
static void model_store(const void *variable, uint64_t value)
{
    if (variable != &engine.park.woken_ns)
        step(STORE, variable, (uint32_t)value);
}

static uint32_t model_load(const void *variable)
{
    if (variable == &engine.park.woken_ns ||
        (variable == &engine.park.stop && scene.other != run_stopper))
        return 0;
    return step(LOAD, variable, 0);
}

static void run_suspender(int thread);
static void run_victimizer(int thread);

/* What nobody changes in the scene is no step. */
static uint32_t load(const char *variable)
{
    bool remapped = scene.idle || (scene.rings > 1 && scene.shared);
    if (scene.other != run_suspender && variable == &at.suspended)
        return 0;
    if (scene.other != run_victimizer && !remapped)
        for (int i = 0; i < scene.rings; i++)
            if (variable == &at.marked[i] || variable == &at.mapped[i])
                return variable == &at.mapped[i] ? (uint32_t)i + 1 : 0;
    return step(LOAD, variable, 0);
}

static uint32_t look(bool thoroughly)
{
    BEGIN();
    if (load(&at.suspended))
        END(false);
    for (int i = 0; i < scene.rings; i++) {
        if (load(&at.marked[i]))
            END(true);
        uint32_t physical = load(&at.mapped[i]);
        if (physical && (load(&at.physical[physical - 1]) ||
                         (thoroughly && load(&at.write_pointer[i]) > engine.taken[i])))
            END(true);
    }
    END(false);
}

static bool has_work(void *owner, bool thoroughly)
{
    return look(thoroughly);
}

static uint32_t statuses_are_set(bool notify)
{
    BEGIN();
    step(LOCK, &at.lock, 0);
    step(STORE, &at.notify, notify);
    for (int i = 0; i < scene.rings; i++)
        if (load(&at.mapped[i]))
            step(STORE, &at.status[i], notify ? CONNECTED_NOTIFY : CONNECTED);
    step(EXCHANGE, &at.lock, 0);
    END(0);
}

static void set_notify(void *owner, bool notify)
{
    statuses_are_set(notify);
}

static uint32_t engine_sleeps(void);

static bool idle(void *owner)
{
    return engine_sleeps();
}

static const struct bf_park_owner functions = {has_work, set_notify, idle};

static void engine_takes(int ring)
{
    uint32_t to = load(&at.write_pointer[ring]);
    while (engine.taken[ring] < to)
        if (load(&at.entry[ring][engine.taken[ring]++ % ENTRIES]) == 0)
            violation = "an entry was read that isn't there yet";
}

static void run_engine(int thread)
{
    while (bf_park_wait(&engine.park)) {
        for (int i = 0; i < (scene.shared ? 1 : scene.rings); i++)
            if (load(&at.physical[i]))
                step(EXCHANGE, &at.physical[i], 0);
        for (int i = 0; i < scene.rings; i++)
            if ((load(&at.marked[i]) && step(EXCHANGE, &at.marked[i], 0)) || load(&at.mapped[i]))
                engine_takes(i);
        /* How often work has come soon: it turns at each time that it comes otherwise. */
        engine.clock = 0;
        engine.park.soon = BF_PARK_ALWAYS / 2 - !park_spins(&engine.park);
        checkpoint();
    }
}

/* A doorbell thread that other work keeps awake: a ring is looked at when its doorbell says so. */
static void run_busy_engine(int thread)
{
    for (;;) {
        step(AWAIT, &at.physical[0], 0);
        step(EXCHANGE, &at.physical[0], 0);
        engine_takes(0);
        checkpoint();
    }
}

/* Under the lock. */
static void ring_is_disconnected(int ring)
{
    if (scene.mistake == MARKS_FIRST && load(&at.write_pointer[ring]))
        step(EXCHANGE, &at.marked[ring], 1);
    step(STORE, &at.status[ring], RETRY);
    if (scene.mistake != NO_VICTIM_BARRIER)
        bf_membarrier();
    step(EXCHANGE, &at.mapped[ring], 0);
    if (scene.mistake != MARKS_FIRST)
        step(EXCHANGE, &at.marked[ring], 1);
    bf_park_notify(&engine.park);
}

/* As to F1: all are disconnected, once. */
static uint32_t engine_sleeps(void)
{
    BEGIN();
    step(LOCK, &at.lock, 0);
    for (int i = 0; i < scene.rings; i++)
        if (load(&at.mapped[i]))
            ring_is_disconnected(i);
    step(EXCHANGE, &at.lock, 0);
    END(true);
}

static uint32_t ring_is_connected(int ring)
{
    BEGIN();
    step(LOCK, &at.lock, 0);
    if (!load(&at.mapped[ring])) {
        uint32_t physical = scene.shared ? 1 : (uint32_t)ring + 1;
        for (int i = 0; i < scene.rings; i++)
            if (i != ring && load(&at.mapped[i]) == physical)
                ring_is_disconnected(i);
        step(EXCHANGE, &at.mapped[ring], physical);
        step(STORE, &at.status[ring], load(&at.notify) ? CONNECTED_NOTIFY : CONNECTED);
    }
    step(EXCHANGE, &at.lock, 0);
    END(0);
}

/* The program of the ring with its number less one: the document's pseudo-code, but for the second
 * append. */
static void run_program(int thread)
{
    struct program *p = &programs[thread];
    int ring = thread - 1;
    while (p->again || p->rung < scene.entries[ring]) {
        uint32_t status = 0;
        if (p->again && p->connects++ == CONNECTS) {
            running->threads[thread].gave_up = true;
            return;
        }
        if (p->again)
            ring_is_connected(ring);
        if (!p->again || scene.mistake == APPENDS_AGAIN) {
            step(STORE, &at.entry[ring][p->appended++ % ENTRIES], 1);
            if (scene.mistake == STATUS_FIRST)
                status = load(&at.status[ring]);
            step(scene.mistake == WRITE_POINTER_RELAXED ? STORE : RELEASE, &at.write_pointer[ring],
                 p->appended);
        }
        p->rung += !p->again;
        uint32_t physical = load(&at.mapped[ring]); /* the page that the doorbell's address has */
        if (physical)
            step(scene.mistake == DOORBELL_RELAXED ? STORE : RELEASE, &at.physical[physical - 1],
                 p->appended);
        if (scene.mistake != STATUS_FIRST)
            status = load(&at.status[ring]);
        if (status == CONNECTED_NOTIFY)
            bf_park_notify(&engine.park);
        p->again = status == RETRY;
        checkpoint();
    }
}

static void run_victimizer(int thread)
{
    step(LOCK, &at.lock, 0);
    if (load(&at.mapped[0]))
        ring_is_disconnected(0);
    step(EXCHANGE, &at.lock, 0);
}

static void run_suspender(int thread)
{
    step(EXCHANGE, &at.suspended, 1);
    step(EXCHANGE, &at.suspended, 0);
    if (scene.mistake != RESUMES_SILENTLY)
        bf_park_notify(&engine.park);
}

static void run_notifier(int thread)
{
    bf_park_notify(&engine.park);
    bf_park_notify(&engine.park);
}

static const char *world_is_final(const struct state *s)
{
    for (int i = 1; i < machine.threads; i++)
        if (s->threads[i].gave_up)
            return NULL;
        else if (!s->threads[i].done)
            return "a thread is stuck";
    memcpy(&engine, s->threads[0].own, sizeof(engine));
    if (scene.other == run_stopper)
        return s->threads[0].done ? NULL : "it sleeps though it was stopped";
    for (int i = 0; i < scene.rings; i++)
        if (engine.taken[i] < scene.entries[i])
            return "a wake-up was lost";
        else if (engine.taken[i] > scene.entries[i])
            return "an entry was taken twice";
    return NULL;
}

static const char *scene_is_explored(const struct scene *what)
{
    static struct state s;
    cell_count = 0;
    scene = *what;
    memset(&s, 0, sizeof(s));
    memset(programs, 0, sizeof(programs));
    memset(&engine, 0, sizeof(engine));
    machine = (struct machine){
        .threads = 1 + scene.rings + (scene.other != NULL),
        .weak = scene.weak,
        .barrierless = scene.barrier == NO_BARRIER,
        .patient = scene.barrier == BARRIER_LOST,
        .run = {scene.busy ? run_busy_engine : run_engine},
        .own = {&engine},
        .own_size = {sizeof(engine)},
        .final = world_is_final,
    };
    for (int i = 1; i < machine.threads; i++) {
        machine.run[i] = i <= scene.rings ? run_program : scene.other;
        machine.own[i] = &programs[i];
        machine.own_size[i] = sizeof(*programs);
    }
    bf_park_init(&engine.park, &functions, &engine, 0);
    machine.barrierless = scene.barrier != BARRIER;
    engine.park.spin_ns = BF_PARK_SPIN_NS;
    engine.park.idle_ns = scene.idle;
    engine.park.soon = BF_PARK_ALWAYS / 2 - scene.parked;
    engine.park.notify = scene.parked || scene.barrier == NO_BARRIER;
    s.memory[cell_of(&at.notify)] = engine.park.notify;
    for (int i = 0; i < scene.rings; i++) {
        bool mapped = i == 0 || !scene.shared;
        s.memory[cell_of(&at.mapped[i])] = mapped ? (uint32_t)i + 1 : 0;
        s.memory[cell_of(&at.status[i])] = mapped ? engine.park.notify : RETRY;
    }
    return explore(&s);
}

/* The last steps that led to a violation. */
static void path_is_printed(void)
{
    static const char *const names[] = {"load",       "store", "release", "exchange", "lock",
                                        "membarrier", "sleep", "await",   "wake",     "choice"};
    for (int i = path_length > 60 ? path_length - 60 : 0; i < path_length; i++)
        print_message("    thread %d: %s%s variable %u, %u\n", path[i].thread,
                      path[i].arrives ? "arrives: " : "", names[path[i].step.kind],
                      path[i].step.cell, path[i].step.value);
}

static bool all_scenes;

TEST(the_protocol)
{
    static const struct scene scenes[] = {
        {"stopped", .rings = 1, .entries = {1}, .other = run_stopper},
        {"one ring", .rings = 1, .entries = {3}},
        {"one ring, from parked", .rings = 1, .entries = {3}, .parked = true},
        {"one ring, weak", .rings = 1, .entries = {3}, .weak = true},
        {"one ring, no membarrier", .rings = 1, .entries = {3}, .barrier = NO_BARRIER},
        {"one ring, membarrier lost", .rings = 1, .entries = {1}, .barrier = BARRIER_LOST},
        {"taken away", .rings = 1, .entries = {1}, .other = run_victimizer},
        {"taken away, weak", .rings = 1, .entries = {1}, .other = run_victimizer, .weak = true},
        {"taken away, from parked", .rings = 1, .entries = {2}, .other = run_victimizer,
         .parked = true},
        {"suspended", .rings = 1, .entries = {2}, .other = run_suspender},
        {"notified for nothing", .rings = 1, .entries = {1}, .other = run_notifier},
        {"disconnected when idle", .rings = 1, .entries = {1}, .idle = true},
        {"disconnected when idle, from parked", .rings = 1, .entries = {2}, .idle = true,
         .parked = true},
        {"two rings", .rings = 2, .entries = {1, 1}},
        {"two rings, weak", .rings = 2, .entries = {1, 1}, .weak = true},
        {"two rings, from parked", .rings = 2, .entries = {1, 1}, .parked = true},
        {"two rings, one doorbell", .rings = 2, .entries = {1, 1}, .shared = true, .large = true},
        {"busy", .rings = 1, .entries = {3}, .busy = true, .weak = true},
    };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        if (scenes[i].large && !all_scenes)
            continue;
        const char *found = scene_is_explored(&scenes[i]);
        print_message("%s: %zu states, %s\n", scenes[i].name, seen_count, found ? found : "sound");
        if (found)
            path_is_printed();
        assert_null(found);
    }
}

/* The model has what can go wrong. */
TEST(mistakes_are_found)
{
#define LOST  "a wake-up was lost"
#define EARLY "an entry was read that isn't there yet"
    static const struct {
        struct scene scene;
        const char *found;
    } cases[] = {
        {{"the status is loaded first", .rings = 1, .entries = {1}, .mistake = STATUS_FIRST}, LOST},
        {{"a relaxed write pointer", .rings = 1, .entries = {1}, .mistake = WRITE_POINTER_RELAXED,
          .weak = true},
         EARLY},
        {{"a relaxed doorbell", .rings = 1, .entries = {1}, .mistake = DOORBELL_RELAXED,
          .weak = true, .busy = true},
         LOST},
        {{"it appends again", .rings = 1, .entries = {1}, .mistake = APPENDS_AGAIN,
          .other = run_victimizer},
         "an entry was taken twice"},
        {{"taken away without a barrier", .rings = 1, .entries = {1}, .mistake = NO_VICTIM_BARRIER,
          .other = run_victimizer},
         LOST},
        {{"marked before the status", .rings = 1, .entries = {1}, .mistake = MARKS_FIRST,
          .other = run_victimizer},
         LOST},
        {{"resumed without a notify", .rings = 1, .entries = {1}, .mistake = RESUMES_SILENTLY,
          .other = run_suspender},
         LOST},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *found = scene_is_explored(&cases[i].scene);
        print_message("%s: %s\n", cases[i].scene.name, found ? found : "nothing found");
        assert_non_null(found);
        assert_string_equal(found, cases[i].found);
    }
}

/* DP-2: each second one finds the thread awake. */
TEST(who_notifies_calls_the_system_for_a_sleeper_alone)
{
    memset(&alone, 0, sizeof(alone));
    for (uint32_t i = 0; i < 4; i++) {
        alone.state = i % 2 ? PARKED : AWAKE;
        bf_park_notify(&engine.park);
        assert_int_equal(alone.wakes, (i + 1) / 2);
        assert_int_equal(alone.state, AWAKE);
    }
}

/* DP-5, by a clock of its own. */
TEST(it_spins_as_long_as_that_pays)
{
    static const struct bf_park_owner by_clock = {.has_work = alone_has_work,
                                                  .set_notify = alone_set_notify};
    static const struct {
        uint64_t gap_ns;
        int times;
        uint32_t sleeps, barriers, changes; /* of all those times */
    } cases[] = {
        {1000000, 10, 10, 0, 0}, /* at first it sleeps, and leaves CONNECTED_NOTIFY */
        {10000, 3, 3, 0, 1},     /* the third time that work comes soon, it says CONNECTED */
        {10000, 100, 0, 0, 0},   /* and spins for it */
        {1000000, 1, 1, 1,
         2}, /* once is nothing: CONNECTED_NOTIFY, and CONNECTED when work comes */
        {49000, 20, 0, 0, 0},
        {1000000, 50, 50, 3, 5}, /* it gives up after the third, from CONNECTED_NOTIFY on */
        {0, 3, 0, 0, 1},         /* work that is there already counts as well */
    };
    struct bf_park *park = &engine.park;
    machine.barrierless = false;
    memset(&scene, 0, sizeof(scene));
    memset(&alone, 0, sizeof(alone));
    bf_park_init(park, &by_clock, NULL, 0);
    park->spin_ns = BF_PARK_SPIN_NS;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        alone.sleeps = alone.barriers = alone.changes = 0;
        for (int k = 0; k < cases[i].times; k++) {
            alone.due = alone.now + cases[i].gap_ns;
            uint64_t spun = alone.now;
            bool spins = park->soon >= BF_PARK_ALWAYS / 2;
            uint32_t slept = alone.sleeps;
            assert_true(bf_park_wait(park));
            spun = alone.sleeps > slept ? alone.asleep - spun : alone.now - spun;
            assert_true(spun <= (spins ? BF_PARK_SPIN_NS + 400 : 400) || cases[i].gap_ns == 0);
        }
        print_message("after %" PRIu64 " ns, %d times: %u sleeps, %u barriers, %u changes\n",
                      cases[i].gap_ns, cases[i].times, alone.sleeps, alone.barriers, alone.changes);
        assert_int_equal(alone.sleeps, cases[i].sleeps);
        assert_int_equal(alone.barriers, cases[i].barriers);
        assert_int_equal(alone.changes, cases[i].changes);
    }
}

static int model_main(int argc, char **argv)
{
    all_scenes = argc > 1 && strcmp(argv[1], "--all") == 0;
    return test_run(argc > 1 && !all_scenes ? argv[1] : NULL);
}

__attribute__((constructor)) static void model_main_is_set(void)
{
    test_main = model_main;
}
