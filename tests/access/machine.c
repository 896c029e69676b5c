/* SPDX-License-Identifier: MIT */
/* A-1 and A-2 (access/access.h): what the check reports of small random programs, against all the
 * executions that they have.
 *
 * The ideal machine: each queue is an engine, a signal sets its fence, a wait that was called is
 * satisfied for good at the first instant at which the fence is there, the CPU's waits block the
 * CPU. What a queue comes to at once takes effect in the call, but for executions. All
 * interleavings of CPU and queues are gone through; two uses are unordered if each comes first in
 * some execution. (Executions may end in a hang: an order that comes about only because the program
 * would hang without it is none.) */
#include "check.h"

#define QUEUES  3
#define FENCES  2
#define BUFFERS 2
#define STEPS   13
#define BYTES   4
#define OWNERS  (QUEUES + 1) /* the queues, the CPU */

enum what {
    CALL_USE,
    CALL_SIGNAL,
    CALL_WAIT,
    CPU_SIGNAL,
    CPU_WAIT,
    CPU_READ, /* this value; what it shows not to have happened yet counts for nothing */
};

struct step {
    enum what what;
    uint32_t queue, fence, buffer, begin, end;
    uint64_t value;
    bool write;
};

/* What fences may be used for. */
enum style {
    GROWING,   /* one signaller each, growing values */
    REWINDING, /* one signaller each, any values */
    ANYHOW,
};

struct program {
    enum style style;
    uint32_t count;
    struct step steps[STEPS];
    uint32_t queue_counts[QUEUES];
    uint32_t queue_steps[QUEUES][STEPS]; /* its calls, as numbers of steps */
};

/* ------------------------------------------------------------------------------- All executions */

/* Packed: it is a key. */
struct state {
    uint8_t cpu;            /* steps done */
    uint8_t queues[QUEUES]; /* calls run */
    uint8_t fences[FENCES]; /* values */
    uint16_t satisfied;     /* waits, by step */
};

struct known {
    struct state state;
    bool used, finishes; /* the CPU can get to the end from here */
    uint16_t uses;       /* that can follow */
};

#define KNOWN (1u << 15)

struct machine {
    const struct program *program;
    struct known *known;
    uint32_t known_count;
    bool stuck;             /* some execution ends before everything has run */
    uint16_t before[STEPS]; /* of two uses, by step: which may come after this one */
};

static void satisfy(const struct program *p, struct state *s)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct step *step = &p->steps[i];
        bool armed = step->what == CALL_WAIT ? i < s->cpu : i == s->cpu,
             reached = step->what == CPU_READ ? s->fences[step->fence] == step->value
                                              : s->fences[step->fence] >= step->value;
        if (armed && reached && (step->what == CALL_WAIT || step->what >= CPU_WAIT))
            s->satisfied |= (uint16_t)(1u << i);
    }
    /* A wait that has been passed is no longer armed. */
    for (uint32_t q = 0; q < QUEUES; q++)
        for (uint32_t n = 0; n < s->queues[q]; n++)
            s->satisfied &= (uint16_t) ~(1u << p->queue_steps[q][n]);
}

/* A queue's next call; *done is its step. */
static bool queue_step(const struct program *p, const struct state *from, uint32_t queue,
                       struct state *to, uint32_t *done)
{
    if (from->queues[queue] == p->queue_counts[queue])
        return false;
    uint32_t i = p->queue_steps[queue][from->queues[queue]];
    const struct step *step = &p->steps[i];
    if (i >= from->cpu || (step->what == CALL_WAIT && !(from->satisfied & (1u << i))))
        return false;
    *to = *from;
    to->queues[queue]++;
    if (step->what == CALL_SIGNAL)
        to->fences[step->fence] = (uint8_t)step->value;
    satisfy(p, to);
    *done = i;
    return true;
}

/* The CPU's next step. False: it can't yet. */
static bool cpu_step(const struct program *p, const struct state *from, struct state *to)
{
    if (from->cpu == p->count)
        return false;
    const struct step *step = &p->steps[from->cpu];
    *to = *from;
    if (step->what >= CPU_WAIT && !(from->satisfied & (1u << from->cpu)))
        return false;
    if (step->what == CPU_SIGNAL)
        to->fences[step->fence] = (uint8_t)step->value;
    if (step->what >= CPU_WAIT) /* its bit is not needed any more */
        to->satisfied &= (uint16_t) ~(1u << from->cpu);
    bool calls = step->what == CALL_SIGNAL || step->what == CALL_WAIT;
    if (calls && p->queue_steps[step->queue][to->queues[step->queue]] == from->cpu) {
        if (step->what == CALL_SIGNAL)
            to->fences[step->fence] = (uint8_t)step->value;
        to->queues[step->queue] +=
            step->what == CALL_SIGNAL || to->fences[step->fence] >= step->value;
    }
    to->cpu++;
    satisfy(p, to);
    return true;
}

static struct known *slot_of(struct machine *m, const struct state *state)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < sizeof(*state); i++)
        hash = (hash ^ ((const uint8_t *)state)[i]) * 1099511628211u;
    for (uint64_t i = hash >> 20;; i++) {
        struct known *known = &m->known[i & (KNOWN - 1)];
        if (!known->used || memcmp(&known->state, state, sizeof(*state)) == 0)
            return known;
    }
}

static struct known explore(struct machine *m, const struct state *state)
{
    const struct program *p = m->program;
    struct known *slot = slot_of(m, state);
    if (slot->used)
        return *slot;
    struct known result = {.state = *state, .used = true, .finishes = state->cpu == p->count};
    struct state next;
    bool moved = false;
    if (cpu_step(p, state, &next)) {
        struct known after = explore(m, &next);
        moved = true;
        result.finishes |= after.finishes;
        result.uses |= after.uses;
    }
    for (uint32_t q = 0; q < QUEUES; q++) {
        uint32_t done;
        if (!queue_step(p, state, q, &next, &done))
            continue;
        struct known after = explore(m, &next);
        moved = true;
        result.finishes |= after.finishes;
        result.uses |= after.uses;
        if (p->steps[done].what == CALL_USE) {
            result.uses |= (uint16_t)(1u << done);
            m->before[done] |= after.uses;
        }
    }
    bool whole = state->cpu == p->count;
    for (uint32_t q = 0; q < QUEUES; q++)
        whole = whole && state->queues[q] == p->queue_counts[q];
    if (!moved && !whole)
        m->stuck = true;
    slot = slot_of(m, state);
    *slot = result;
    assert_true(++m->known_count < KNOWN / 2);
    return result;
}

/* --------------------------------------------------------------------------------------- Faults */

/* By buffer, pair of queues and rule. */
struct faults {
    bool found[BUFFERS][QUEUES][QUEUES][2];
};

static void add(struct faults *faults, uint32_t buffer, uint32_t a, uint32_t b,
                enum bf_access_fault fault)
{
    faults->found[buffer][a < b ? a : b][a < b ? b : a][fault == BF_ACCESS_TWO_WRITERS] = true;
}

static void expected(const struct machine *m, struct faults *faults)
{
    const struct program *p = m->program;
    memset(faults, 0, sizeof(*faults));
    for (uint32_t i = 0; i < p->count; i++) {
        for (uint32_t j = i + 1; j < p->count; j++) {
            const struct step *a = &p->steps[i], *b = &p->steps[j];
            if (a->what != CALL_USE || b->what != CALL_USE || a->buffer != b->buffer ||
                a->queue == b->queue || !(m->before[i] & (1u << j)) || !(m->before[j] & (1u << i)))
                continue;
            if (a->write && b->write)
                add(faults, a->buffer, a->queue, b->queue, BF_ACCESS_TWO_WRITERS);
            else if ((a->write || b->write) && a->begin < b->end && b->begin < a->end)
                add(faults, a->buffer, a->queue, b->queue, BF_ACCESS_WRITE_BESIDE_READ);
        }
    }
}

static uint32_t queue_of(const char *name)
{
    return (uint32_t)(name[0] - 'A');
}

static void reported(const struct program *p, struct faults *faults)
{
    struct check check;
    struct bf_access_queue *queues[QUEUES];
    struct bf_access_fence *fences[FENCES];
    memset(faults, 0, sizeof(*faults));
    check_open(&check);
    for (uint32_t i = 0; i < QUEUES; i++) {
        const char name[] = {(char)('A' + i), 0};
        queues[i] = bf_access_queue_add(check.access, name, BF_ACCESS_COMPUTE_3D);
    }
    for (uint32_t i = 0; i < FENCES; i++)
        fences[i] = bf_access_fence_add(check.access, 0);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct step *s = &p->steps[i];
        switch (s->what) {
        case CALL_USE:
            check_use(queues[s->queue], s->buffer, s->begin, s->end, s->write);
            break;
        case CALL_SIGNAL:
            bf_access_queue_signal(queues[s->queue], fences[s->fence], s->value);
            break;
        case CALL_WAIT:
            bf_access_queue_wait(queues[s->queue], fences[s->fence], s->value);
            break;
        case CPU_SIGNAL:
            bf_access_fence_signal(fences[s->fence], s->value);
            break;
        case CPU_WAIT:
            bf_access_fence_reached(fences[s->fence], s->value);
            break;
        case CPU_READ:
            bf_access_fence_read(fences[s->fence], s->value);
            break;
        }
    }
    assert_true(check.count <= CHECK_REPORTS);
    for (uint32_t i = 0; i < check.count; i++) {
        const struct check_report *r = &check.reports[i];
        for (uint32_t b = 0; b < BUFFERS; b++) {
            char name[32];
            snprintf(name, sizeof(name), "buffer 0x%llx",
                     (unsigned long long)(uintptr_t)CHECK_BUFFER(b));
            if (strcmp(name, r->resource) == 0)
                add(faults, b, queue_of(r->earlier), queue_of(r->later), r->fault);
        }
    }
    check_close(&check);
}

/* ------------------------------------------------------------------------------ Random programs */

static uint64_t random_state;

static uint32_t random_number(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static uint64_t signal_value(enum style style, uint64_t last[FENCES], uint32_t fence)
{
    if (style == GROWING)
        return last[fence] = last[fence] + 1 + random_number(2);
    return 1 + random_number(3);
}

static void make(struct program *p, enum style style)
{
    memset(p, 0, sizeof(*p));
    p->style = style;
    p->count = 5 + random_number(STEPS - 4);
    uint32_t owners[FENCES];
    uint64_t last[FENCES] = {0};
    for (uint32_t i = 0; i < FENCES; i++)
        owners[i] = random_number(OWNERS);
    for (uint32_t i = 0; i < p->count; i++) {
        struct step *s = &p->steps[i];
        uint32_t dice = random_number(20);
        s->queue = random_number(QUEUES);
        s->fence = random_number(FENCES);
        s->value = 1 + random_number(style == GROWING ? 4 : 3);
        s->buffer = random_number(BUFFERS);
        s->begin = random_number(BYTES);
        s->end = s->begin + 1 + random_number(BYTES - s->begin);
        s->write = random_number(2);
        if (dice < 8) {
            s->what = CALL_USE;
        } else if (dice < 13) {
            uint32_t owner = style == ANYHOW ? random_number(OWNERS) : owners[s->fence];
            s->what = owner == QUEUES ? CPU_SIGNAL : CALL_SIGNAL;
            s->queue = owner;
            s->value = signal_value(style, last, s->fence);
            if (s->what == CPU_SIGNAL && style != GROWING && random_number(3) == 0)
                s->value = 0;
        } else if (dice < 18) {
            s->what = CALL_WAIT;
        } else {
            s->what = dice == 18 ? CPU_WAIT : CPU_READ;
        }
        if (s->what <= CALL_WAIT)
            p->queue_steps[s->queue][p->queue_counts[s->queue]++] = i;
    }
}

static void print(const struct program *p)
{
    static const char *const names[] = {"use",        "signal",   "wait",
                                        "cpu signal", "cpu wait", "cpu read"};
    for (uint32_t i = 0; i < p->count; i++) {
        const struct step *s = &p->steps[i];
        if (s->what == CALL_USE)
            print_message("%2u %c %s buffer %u bytes %u to %u\n", i, 'A' + (int)s->queue,
                          s->write ? "writes" : "reads", s->buffer, s->begin, s->end);
        else
            print_message("%2u %c %s fence %u value %llu\n", i,
                          s->what <= CALL_WAIT ? 'A' + (int)s->queue : ' ', names[s->what],
                          s->fence, (unsigned long long)s->value);
    }
}

/* Counts what it saw, so that an empty test is noticed. */
struct counts {
    uint32_t programs, faulty, stuck, silent;
};

static void compare(struct machine *m, struct program *p, struct counts *counts)
{
    struct faults want, got;
    memset(m->known, 0, KNOWN * sizeof(*m->known));
    memset(m->before, 0, sizeof(m->before));
    m->program = p;
    m->known_count = 0;
    m->stuck = false;
    struct state start;
    memset(&start, 0, sizeof(start));
    satisfy(p, &start);
    if (!explore(m, &start).finishes)
        return; /* the CPU's waits are never satisfied: no such program was told */
    expected(m, &want);
    reported(p, &got);
    counts->programs += !m->stuck;
    counts->stuck += m->stuck;
    for (uint32_t i = 0; i < sizeof(want.found); i++) {
        bool wanted = ((bool *)want.found)[i], found = ((bool *)got.found)[i];
        counts->faulty += wanted;
        counts->silent += wanted && !found;
        /* Where a wait may never be satisfied, the model may stop where the program did not; and
         * where several signal a fence, a wait that doesn't hang may tell which of them did not. */
        bool exact = p->style != ANYHOW && !m->stuck, sound = p->style != ANYHOW || !m->stuck;
        if (found && !wanted && sound) {
            print(p);
            fail_msg("a fault is reported that no execution has");
        }
        if (wanted && !found && exact) {
            print(p);
            fail_msg("a fault is not reported");
        }
    }
}

static void run(enum style style, uint32_t programs)
{
    const char *count = getenv("BELFRY_ACCESS_PROGRAMS");
    if (count)
        programs = (uint32_t)strtoul(count, NULL, 0);
    struct machine machine = {.known = malloc(KNOWN * sizeof(struct known))};
    struct counts counts = {0};
    assert_non_null(machine.known);
    const char *seed = getenv("BELFRY_ACCESS_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : 1 + (uint64_t)style;
    while (counts.programs < programs) {
        struct program p;
        make(&p, style);
        compare(&machine, &p, &counts);
    }
    print_message("%u programs, and %u that may hang; %u faults, %u of them not reported\n",
                  counts.programs, counts.stuck, counts.faulty, counts.silent);
    assert_true(counts.faulty > programs / 4);
    free(machine.known);
}

TEST(test_growing_fences_of_one_signaller)
{
    run(GROWING, 500);
}

TEST(test_rewound_fences_of_one_signaller)
{
    run(REWINDING, 500);
}

/* A-1 alone. */
TEST(test_fences_used_anyhow)
{
    run(ANYHOW, 500);
}
