/* SPDX-License-Identifier: MIT */
/* A-2 and A-3 (access/access.h) in long programs: what the check reports, against a graph of
 * everything that was called and has run, and the pairs of uses in it that no path connects. The
 * programs are mostly right: whoever uses a resource mostly waits for those it has to wait for. */
#include "check.h"

#define QUEUES  4
#define BUFFERS 3
#define BYTES   64
#define NODES   600
#define WORDS   ((NODES + 63) / 64)
#define NONE    UINT32_MAX

enum what {
    USE,
    SIGNAL,
    WAIT,
    CPU, /* whatever the CPU does in its own name */
};

struct node {
    enum what what;
    uint32_t queue, previous; /* the queue's call before */
    uint32_t cpu;             /* the CPU's node of the call */
    uint32_t fence, buffer;   /* fence q is signalled by queue q, the last one by the CPU */
    uint64_t value, begin, end;
    bool write, ran;
    uint64_t after[WORDS]; /* what it comes after, itself included; once it ran */
};

struct program {
    struct check check;
    struct bf_access_queue *queues[QUEUES];
    struct bf_access_fence *fences[QUEUES + 1];
    uint64_t values[QUEUES + 1];
    uint32_t count, last[QUEUES], cpu;
    struct node nodes[NODES];
    bool wanted[BUFFERS][QUEUES][QUEUES][2], found[BUFFERS][QUEUES][QUEUES][2];
};

static uint64_t random_state;

static uint32_t random_number(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

/* ------------------------------------------------------------------------------------ The graph */

static void join(struct program *w, struct node *to, uint32_t from)
{
    for (uint32_t i = 0; from != NONE && i < WORDS; i++)
        to->after[i] |= w->nodes[from].after[i];
}

static bool is_after(const struct node *node, uint32_t other)
{
    return node->after[other / 64] >> (other % 64) & 1;
}

/* The first signal of the fence that reaches the value, not 0; NONE: there is none yet. */
static uint32_t signal_of(const struct program *w, uint32_t fence, uint64_t value)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        bool signals = n->what == SIGNAL || (n->what == CPU && fence == QUEUES);
        if (signals && n->fence == fence && n->value >= value)
            return i;
    }
    return NONE;
}

static void compare(struct program *w, uint32_t number)
{
    const struct node *n = &w->nodes[number];
    for (uint32_t i = 0; i < w->count; i++) {
        const struct node *o = &w->nodes[i];
        if (!o->ran || o->what != USE || o->buffer != n->buffer || o->queue == n->queue ||
            is_after(n, i) || is_after(o, number))
            continue;
        uint32_t a = n->queue < o->queue ? n->queue : o->queue,
                 b = n->queue < o->queue ? o->queue : n->queue;
        if (n->write && o->write)
            w->wanted[n->buffer][a][b][1] = true;
        else if ((n->write || o->write) && n->begin < o->end && o->begin < n->end)
            w->wanted[n->buffer][a][b][0] = true;
    }
}

/* Everything that can run does. */
static void settle(struct program *w)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < w->count; i++) {
            struct node *n = &w->nodes[i];
            bool waits = n->what == WAIT && n->value;
            uint32_t signal = waits ? signal_of(w, n->fence, n->value) : NONE;
            if (n->ran || (n->previous != NONE && !w->nodes[n->previous].ran) ||
                (waits && (signal == NONE || !w->nodes[signal].ran)))
                continue;
            n->after[i / 64] |= UINT64_C(1) << (i % 64);
            join(w, n, n->previous);
            join(w, n, n->cpu);
            join(w, n, signal);
            n->ran = moved = true;
            if (n->what == USE)
                compare(w, i);
        }
    }
}

static struct node *call(struct program *w, enum what what, uint32_t queue)
{
    struct node *n = &w->nodes[w->count];
    *n = (struct node){.what = what, .queue = queue, .previous = w->last[queue], .cpu = w->cpu};
    w->last[queue] = w->count++;
    return n;
}

static struct node *cpu(struct program *w)
{
    struct node *n = &w->nodes[w->count];
    *n =
        (struct node){.what = CPU, .queue = QUEUES, .previous = NONE, .cpu = w->cpu, .fence = NONE};
    w->cpu = w->count++;
    return n;
}

/* -------------------------------------------------------------- The program, told to both sides */

static void do_use(struct program *w, uint32_t queue, uint32_t buffer, uint64_t begin, uint64_t end,
                   bool write)
{
    struct node *n = call(w, USE, queue);
    n->buffer = buffer;
    n->begin = begin;
    n->end = end;
    n->write = write;
    check_use(w->queues[queue], buffer, begin, end, write);
    settle(w);
}

/* Does the CPU know of all that the queue has done and waited for? */
static bool is_idle(const struct program *w, uint32_t queue)
{
    if (w->last[queue] == NONE)
        return true;
    const struct node *last = &w->nodes[w->last[queue]];
    for (uint32_t i = 0; last->ran && i < w->count; i++) {
        const struct node *n = &w->nodes[i];
        bool own = n->queue == queue && (n->what == SIGNAL || n->what == WAIT);
        if (is_after(last, i) && !own && !is_after(&w->nodes[w->cpu], i))
            return false;
    }
    return last->ran;
}

static void do_signal(struct program *w, uint32_t queue)
{
    bool idle = is_idle(w, queue);
    struct node *n = call(w, SIGNAL, queue);
    n->fence = queue;
    n->value = ++w->values[queue];
    bf_access_queue_signal(w->queues[queue], w->fences[queue], n->value);
    settle(w);
    if (idle) { /* set before the call returns */
        uint32_t signal = w->last[queue];
        struct node *seen = cpu(w);
        join(w, seen, signal);
        settle(w);
    }
}

static void do_wait(struct program *w, uint32_t queue, uint32_t fence, uint64_t value)
{
    struct node *n = call(w, WAIT, queue);
    n->fence = fence;
    n->value = value;
    bf_access_queue_wait(w->queues[queue], w->fences[fence], value);
    settle(w);
}

/* The CPU waits for a value that is certain to come. */
static void do_cpu_wait(struct program *w, uint32_t fence, uint64_t value)
{
    uint32_t signal = signal_of(w, fence, value);
    if (value == 0 || signal == NONE || !w->nodes[signal].ran)
        return;
    /* It can't read a value that it knows to be over. */
    bool known = is_after(&w->nodes[w->cpu], signal);
    struct node *n = cpu(w);
    join(w, n, signal);
    if (random_number(2) && !known)
        bf_access_fence_read(w->fences[fence], value);
    else
        bf_access_fence_reached(w->fences[fence], value);
    settle(w);
}

static void do_cpu_signal(struct program *w)
{
    struct node *n = cpu(w);
    n->fence = QUEUES;
    n->value = ++w->values[QUEUES];
    bf_access_fence_signal(w->fences[QUEUES], n->value);
    settle(w);
}

/* Waits for what has to come before the use, mostly. */
static void prepare(struct program *w, uint32_t queue, uint32_t buffer, bool write)
{
    for (uint32_t q = 0; q < QUEUES; q++) {
        uint32_t use = NONE;
        for (uint32_t i = 0; i < w->count; i++) {
            const struct node *o = &w->nodes[i];
            if (o->what == USE && o->queue == q && o->buffer == buffer && (write || o->write))
                use = i;
        }
        if (q == queue || use == NONE || random_number(12) == 0)
            continue;
        if (random_number(3)) { /* else an older signal may do, or not */
            do_signal(w, q);
            do_wait(w, queue, q, w->values[q]);
        } else if (w->values[q]) {
            do_wait(w, queue, q, w->values[q] - random_number(2));
        }
    }
}

static void step(struct program *w)
{
    uint32_t queue = random_number(QUEUES), other = random_number(QUEUES), dice = random_number(20);
    if (dice < 12) {
        uint32_t buffer = random_number(BUFFERS);
        uint64_t begin = random_number(BYTES), end = begin + 1 + random_number(BYTES / 2);
        bool write = random_number(2);
        prepare(w, queue, buffer, write);
        do_use(w, queue, buffer, begin, end, write);
    } else if (dice < 14) {
        do_signal(w, queue);
    } else if (dice < 15) { /* before its signal, which the next steps may bring */
        if (queue != other)
            do_wait(w, queue, other, w->values[other] + 1);
    } else if (dice < 16) {
        do_wait(w, queue, QUEUES, w->values[QUEUES] + random_number(2));
    } else if (dice < 18) {
        if (w->values[other])
            do_cpu_wait(w, other, w->values[other] - random_number(2));
    } else if (dice < 19) {
        do_cpu_signal(w);
    } else {
        bool running = w->last[queue] == NONE || w->nodes[w->last[queue]].ran;
        if (running) {
            struct node *n = cpu(w);
            join(w, n, w->last[queue]);
            bf_access_queue_idle(w->queues[queue]);
            settle(w);
        }
    }
}

static void collect(struct program *w)
{
    assert_true(w->check.count <= CHECK_REPORTS);
    for (uint32_t i = 0; i < w->check.count; i++) {
        const struct check_report *r = &w->check.reports[i];
        uint32_t a = (uint32_t)(r->earlier[0] - 'A'), b = (uint32_t)(r->later[0] - 'A');
        for (uint32_t n = 0; n < BUFFERS; n++) {
            char name[32];
            snprintf(name, sizeof(name), "buffer 0x%llx",
                     (unsigned long long)(uintptr_t)CHECK_BUFFER(n));
            if (strcmp(name, r->resource) != 0)
                continue;
            bool *found =
                &w->found[n][a < b ? a : b][a < b ? b : a][r->fault == BF_ACCESS_TWO_WRITERS];
            assert_false(*found); /* said twice */
            *found = true;
        }
    }
}

TEST(test_long_programs)
{
    uint32_t wanted = 0, quiet = 0, waiting = 0;
    struct program *w = malloc(sizeof(*w));
    assert_non_null(w);
    const char *seed = getenv("BELFRY_ACCESS_SEED"), *count = getenv("BELFRY_ACCESS_PROGRAMS");
    random_state = seed ? strtoull(seed, NULL, 0) : 5;
    uint32_t programs = count ? (uint32_t)strtoul(count, NULL, 0) : 50;
    for (uint32_t p = 0; p < programs; p++) {
        memset(w, 0, sizeof(*w));
        check_open(&w->check);
        for (uint32_t q = 0; q < QUEUES; q++) {
            const char name[] = {(char)('A' + q), 0};
            w->queues[q] = bf_access_queue_add(w->check.access, name, BF_ACCESS_COMPUTE_3D);
            w->last[q] = NONE;
        }
        for (uint32_t f = 0; f <= QUEUES; f++)
            w->fences[f] = bf_access_fence_add(w->check.access, 0);
        w->cpu = NONE;
        cpu(w);
        settle(w);
        uint32_t length = 20 + random_number(NODES - 60);
        while (w->count < length)
            step(w);
        collect(w);
        for (uint32_t i = 0; i < w->count; i++)
            waiting += !w->nodes[i].ran;
        uint32_t faults = 0;
        for (uint32_t i = 0; i < sizeof(w->wanted); i++) {
            faults += ((bool *)w->wanted)[i];
            if (((bool *)w->wanted)[i] != ((bool *)w->found)[i])
                fail_msg("program %u: fault %u is %s", p, i,
                         ((bool *)w->wanted)[i] ? "not reported" : "reported");
        }
        wanted += faults;
        quiet += faults == 0;
        check_close(&w->check);
    }
    print_message("%u programs, %u without a fault; %u faults; %u calls never ran\n", programs,
                  quiet, wanted, waiting);
    assert_true(wanted > programs / 2);
    free(w);
}
