/* SPDX-License-Identifier: MIT */
/* The watchdog's thread: when it looks, what it remembers from look to look, and what it has
 * reported. */
#include "standstill/standstill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/message.h"
#include "base/thread.h"
#include "scheduler/scheduler.h"
#include "standstill/calls.h"
#include "standstill/diagnosis.h"
#include "standstill/interrupt.h"
#include "standstill/live.h"
#include "standstill/names.h"
#include "standstill/rings.h"
#include "standstill/snapshot.h"
#include "standstill/text.h"
#include "trace/trace.h"

#define CASES 16 /* reported at once, at most */

/* The longest period, so that a standstill is reported within half a second after its time. */
#define LONGEST_NS UINT64_C(500000000)

/* Later than this, the process wasn't merely kept waiting for a processor: it was stopped outside
 * of a sleep of this thread (SS-6). */
#define LATE_NS UINT64_C(50000000)

/* Where the process has been stopped, it sleeps for so many times less: of a process that is
 * stopped again and again there is some time that counts. */
#define STOPPED_LOOKS 10

/* So much later, it is worth a word in the trace. */
#define STOPPED_NS UINT64_C(200000000)

struct bf_standstill {
    struct bf_scheduler *scheduler;
    struct bf_device_watch *watch;
    struct bf_standstill_check check;
    struct bf_names names;
    uint64_t least_ns;  /* how long what stands has to stand; 0: nothing is reported */
    uint64_t period_ns; /* between two looks */
    bool summary;
    struct bf_thread thread;
    _Atomic bool stop;
    struct bf_live *live; /* NULL: none */
    void (*see_pool)(struct bf_live_pool *pool);
    bool looked_at_active; /* seen since the last look, for a reader of the live page */
    _Atomic bool stopped;  /* the process was, since the clock was advanced */

    struct bf_lock lock; /* over a look, and over what follows */
    bool was_stopped;    /* the process was, before the clock was advanced last */
    bool rests;          /* the thread does, or has been woken from it and hasn't looked yet */
    uint64_t looked_ns;  /* CLOCK_MONOTONIC */
    uint64_t now_ns;     /* its own clock (SS-6), from 1 */
    uint32_t reported_count;
    uint64_t reported[CASES]; /* keys of the cases that last, and have been reported */
    struct bf_standstill_engine engines[];
};

static void standstill_advance_clock(struct bf_standstill *s)
{
    uint64_t now = bf_now_ns(), passed = now - s->looked_ns;
    bool looks = !s->rests; /* once a period, unless the process is stopped */
    s->was_stopped = atomic_exchange(&s->stopped, false);
    if (!s->was_stopped) /* else: since when, and for how long, isn't known */
        s->now_ns += looks && passed > s->period_ns + LATE_NS ? s->period_ns : passed;
    if (looks && passed > s->period_ns + STOPPED_NS)
        bf_trace_stopped(s->scheduler->gpu.trace, passed - s->period_ns);
    s->looked_ns = now;
}

/* Has it lasted for the time? */
static bool standstill_lasts(const struct bf_standstill *s, uint64_t since_ns)
{
    return s->least_ns && s->now_ns - since_ns >= s->least_ns;
}

static bool engine_watch(struct bf_standstill *s, uint32_t number, bool *active)
{
    struct bf_engine *engine = &s->scheduler->engines[number];
    struct bf_standstill_engine *e = &s->engines[number];
    uint64_t completed = e->completed, accepted = atomic_load(&engine->base.accepted_epoch);
    bool stands = bf_calls_watch(s->scheduler, &s->watch->engines[number].call, s->now_ns,
                                 s->least_ns, active);
    bool backlog = false;
    if (accepted > completed &&
        bf_gpu_engine_completed_epoch(&engine->base, &completed) != VK_SUCCESS)
        completed = e->completed; /* a lost device is found by those who use it */
    if (!e->busy || completed != e->completed)
        e->busy_since_ns = s->now_ns;
    e->completed = completed;
    e->busy = accepted > completed;
    uint64_t kept = atomic_load(&engine->kept);
    if (kept != e->kept || kept % 2 == 0)
        e->kept_since_ns = s->now_ns;
    e->kept = kept;
    *active = *active || e->busy;
    stands = stands || (e->busy && standstill_lasts(s, e->busy_since_ns));
    uint64_t before = s->least_ns && s->now_ns > s->least_ns ? s->now_ns - s->least_ns : 0;
    stands = bf_snapshot_watch(engine, s->now_ns, before, &backlog) || stands;
    if (backlog || e->busy || accepted != e->accepted)
        e->worked_ns = s->now_ns;
    e->accepted = accepted;
    *active = *active || backlog;
    return stands;
}

/* One look at all that can stand. */
static bool standstill_watch(struct bf_standstill *s, bool *active)
{
    bool stands = false;
    for (uint32_t i = 0; i < s->scheduler->engine_count; i++)
        stands = engine_watch(s, i, active) || stands;
    return bf_calls_watch(s->scheduler, &s->watch->device_call, s->now_ns, s->least_ns, active) ||
           stands;
}

static bool standstill_knows(const struct bf_standstill *s, uint64_t key)
{
    for (uint32_t i = 0; i < s->reported_count; i++) {
        if (s->reported[i] == key)
            return true;
    }
    return false;
}

/* Somebody looks at the live page. */
static void standstill_answer(struct bf_standstill *s)
{
    bf_lock_acquire(&s->lock);
    standstill_advance_clock(s);
    standstill_watch(s, &s->looked_at_active);
    bf_live_answer(s->live, s->scheduler, &s->names, s->engines, s->now_ns, s->least_ns,
                   s->see_pool);
    bf_lock_release(&s->lock);
}

/* How often the thread has given up its processor by itself. */
static long thread_switches(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* By strace or a debugger: then each of its system calls may give up the processor, and what stops
 * it does so for longer than a period. */
static bool thread_is_traced(void)
{
    static const char key[] = "TracerPid:";
    char line[256];
    unsigned long tracer = 0;
    FILE *status = fopen("/proc/thread-self/status", "re");
    while (status && fgets(line, sizeof(line), status)) {
        if (strncmp(line, key, sizeof(key) - 1) != 0)
            continue;
        tracer = strtoul(line + sizeof(key) - 1, NULL, 10);
        break;
    }
    if (status)
        fclose(status);
    return tracer != 0;
}

/* A sleep on the futex, which a stop of the process interrupts and the kernel begins again, unseen:
 * but then the thread has given up its processor more than once. */
static bool standstill_sleep_once(struct bf_standstill *s, _Atomic uint32_t *bell, uint32_t heard,
                                  const struct timespec *until)
{
    long switches = thread_switches();
    bool woken = bf_futex_wait_shared(bell, heard, until);
    if (thread_switches() - switches > 1 && !thread_is_traced())
        atomic_store(&s->stopped, true);
    return woken;
}

/* Sleeps until somebody rings, for the first time since 'rung' was read, or until then; NULL: for
 * ever. Readers of the live page get their answers meanwhile. */
static void standstill_sleep(struct bf_standstill *s, uint32_t rung, const struct timespec *until)
{
    struct bf_device_watch *watch = s->watch;
    for (;;) {
        _Atomic uint32_t *bell = atomic_load(&watch->bell);
        uint32_t heard = atomic_load(bell); /* whoever changes it from here on is heard */
        if (atomic_load(&watch->rung) != rung || atomic_load(&s->stop))
            return;
        if (bf_live_is_asked(s->live))
            standstill_answer(s);
        if (!standstill_sleep_once(s, bell, heard, until))
            return;
        bf_live_woken(s->live);
    }
}

/* What is reported at the end is work and calls that have lasted so long: some are under way at any
 * time. */
#define ENDING_NS UINT64_C(100000000)

/* When it tells. */
enum occasion {
    OCCASION_LOOK,   /* what has stood for the time, and hasn't been reported */
    OCCASION_HANG,   /* an engine hangs: what waits, and hasn't been reported */
    OCCASION_DEVICE, /* the device is destroyed: all that waits */
    OCCASION_EXIT,   /* so does the process end */
};

/* 'known': it has been reported, and has lasted since. */
static bool case_is_due(const struct bf_graph *graph, const struct bf_case *found, bool known,
                        enum occasion occasion)
{
    bool waits = found->kind == BF_CASE_CIRCLE || found->kind == BF_CASE_MISSING ||
                 (found->kind == BF_CASE_CALL && graph->calls[found->call].missing);
    if (occasion <= OCCASION_HANG && known)
        return false;
    return occasion == OCCASION_LOOK || waits || found->age_ns >= ENDING_NS;
}

/* Does what waits still do? */
static bool case_stands(const struct bf_standstill *s, const struct bf_graph *graph,
                        const struct bf_case *found)
{
    bool stands =
        found->kind != BF_CASE_MISSING || bf_snapshot_stands(s->scheduler, graph, found->queue);
    for (uint32_t i = 0; found->kind == BF_CASE_CIRCLE && i < found->member_count; i++)
        stands = stands && bf_snapshot_stands(s->scheduler, graph, found->members[i].queue);
    return stands;
}

static uint32_t standstill_report(struct bf_standstill *s, enum occasion occasion)
{
    struct bf_graph graph;
    struct bf_case cases[CASES];
    uint64_t keys[CASES];
    uint32_t lines = 0, kept = 0;
    if (!bf_snapshot_take(s->scheduler, &s->names, s->engines, s->now_ns, &graph)) {
        bf_snapshot_free(&graph); /* the next look may find out */
        return 0;
    }
    size_t count = bf_diagnose(&graph, occasion == OCCASION_LOOK ? s->least_ns : 0, cases, CASES);
    for (size_t i = 0; i < count; i++) {
        char text[BF_CASE_TEXT];
        /* What is known of a call is kept with it, for as long as it lasts. */
        struct bf_watched_call *call =
            cases[i].kind == BF_CASE_CALL ? graph.calls[cases[i].call].place : NULL;
        bool known = call ? call->look.told : standstill_knows(s, cases[i].key);
        bool due =
            case_is_due(&graph, &cases[i], known, occasion) && case_stands(s, &graph, &cases[i]);
        if (call && due)
            call->look.told = call->look.was_told = true;
        else if (!call && (known || due))
            keys[kept++] = cases[i].key;
        if (!due)
            continue;
        lines++;
        bf_case_write(&graph, &cases[i], text);
        bf_trace_standstill(s->scheduler->gpu.trace, text);
        if (occasion == OCCASION_EXIT)
            bf_message_at_exit(BF_MESSAGE_WARNING, "%s", text);
        else
            bf_message(BF_MESSAGE_WARNING, "%s", text);
    }
    memcpy(s->reported, keys, kept * sizeof(*keys));
    s->reported_count = kept;
    bf_snapshot_free(&graph);
    return lines;
}

/* One look. Returns whether there is a reason for the next one in a period. */
static bool standstill_look(struct bf_standstill *s)
{
    struct bf_scheduler *scheduler = s->scheduler;
    bool active = false, stands = false;
    bf_lock_acquire(&s->lock);
    standstill_advance_clock(s);
    stands = standstill_watch(s, &active);
    if (bf_scheduler_is_lost(scheduler))
        active = stands = false; /* it ends what waits */
    else
        active = bf_rings_look(scheduler, &s->names, s->now_ns, s->least_ns) || active;
    if (stands)
        standstill_report(s, OCCASION_LOOK);
    else
        s->reported_count = 0;
    uint64_t now_ns = s->now_ns;
    bf_lock_release(&s->lock);
    if (s->check.look && s->check.look(s->check.context, s, s->engines, now_ns))
        active = true;
    if (s->looked_at_active)
        active = true;
    s->looked_at_active = false;
    return active;
}

static void standstill_rest(struct bf_standstill *s, bool rests)
{
    bf_lock_acquire(&s->lock);
    standstill_advance_clock(s);
    s->rests = rests;
    bf_lock_release(&s->lock);
}

static void standstill_run(void *argument)
{
    struct bf_standstill *s = argument;
    struct bf_device_watch *watch = s->watch;
    while (!atomic_load(&s->stop)) {
        uint32_t rung = atomic_load(&watch->rung); /* whoever rings from here on is heard */
        bf_interrupt_check();
        if (!standstill_look(s) && bf_watch_rest(watch)) {
            if (!standstill_look(s)) {
                standstill_rest(s, true);
                standstill_sleep(s, rung, NULL);
                atomic_store(&watch->resting, 0);
                standstill_rest(s, false);
                continue;
            }
            atomic_store(&watch->resting, 0);
        }
        bf_lock_acquire(&s->lock);
        uint64_t sleep_ns = s->was_stopped ? s->period_ns / STOPPED_LOOKS : s->period_ns;
        bf_lock_release(&s->lock);
        const struct timespec until = bf_timespec(bf_now_ns() + sleep_ns);
        standstill_sleep(s, rung, &until);
    }
}

struct bf_standstill *bf_standstill_create(struct bf_scheduler *scheduler,
                                           const struct bf_standstill_info *info)
{
    uint32_t count = scheduler->engine_count;
    struct bf_standstill *s = calloc(1, sizeof(*s) + count * sizeof(s->engines[0]));
    if (!s)
        goto fail;
    s->scheduler = scheduler;
    s->watch = scheduler->watch;
    s->check = info->check;
    s->summary = info->summary;
    s->now_ns = 1;
    s->looked_ns = bf_now_ns();
    s->least_ns = (uint64_t)info->watchdog_ms * 1000000;
    /* A whole number of periods, so that none is begun for nothing. */
    s->period_ns =
        s->least_ns ? s->least_ns / ((s->least_ns + LONGEST_NS - 1) / LONGEST_NS) : LONGEST_NS;
    if (info->check.look && s->period_ns > (uint64_t)info->check_ms * 1000000)
        s->period_ns = (uint64_t)info->check_ms * 1000000;
    s->see_pool = info->see_pool;
    s->live = s->least_ns ? bf_live_create(s->watch) : NULL;
    if (!bf_thread_start(&s->thread, "belfry-watchdog", standstill_run, s))
        goto fail;
    if (s->least_ns)
        bf_interrupt_add(s, info->at_interrupt);
    return s;

fail:
    bf_message(BF_MESSAGE_WARNING, "watchdog: no memory or no thread for it: nothing is watched");
    if (s)
        bf_live_destroy(s->live);
    free(s);
    return NULL;
}

/* Whoever writes to the live page may have the thread miss a ring. */
#define RING_AGAIN_NS UINT64_C(10000000)

void bf_standstill_destroy(struct bf_standstill *s)
{
    if (!s)
        return;
    bf_interrupt_remove(s);
    atomic_store(&s->stop, true);
    do
        bf_watch_ring(s->watch);
    while (!bf_thread_wait(&s->thread, bf_now_ns() + RING_AGAIN_NS));
    bf_thread_join(&s->thread, UINT64_MAX);
    bf_live_destroy(s->live);
    bf_names_finish(&s->names);
    free(s);
}

static uint32_t standstill_end(struct bf_standstill *s, enum occasion occasion)
{
    bool active = false;
    standstill_advance_clock(s);
    bool stands = standstill_watch(s, &active);
    return (active || stands) && !bf_scheduler_is_lost(s->scheduler)
               ? standstill_report(s, occasion)
               : 0;
}

static uint32_t standstill_report_locking(struct bf_standstill *s, enum occasion occasion)
{
    if (!s || (!s->least_ns && occasion != OCCASION_HANG)) /* who hangs is told by its names */
        return 0;
    bf_lock_acquire(&s->lock);
    uint32_t count = standstill_end(s, occasion);
    bf_lock_release(&s->lock);
    return count;
}

uint32_t bf_standstill_report(struct bf_standstill *s)
{
    return standstill_report_locking(s, OCCASION_DEVICE);
}

void bf_standstill_report_hang(struct bf_standstill *s)
{
    standstill_report_locking(s, OCCASION_HANG);
}

/* For so long who exits waits for a look that is under way. */
#define LOOK_NS UINT64_C(200000000)

void bf_standstill_report_at_exit(struct bf_standstill *s)
{
    const struct timespec until = bf_timespec(bf_now_ns() + LOOK_NS);
    if (!bf_lock_acquire_until(&s->lock, &until))
        return; /* a look that doesn't end has been reported, or never will be */
    standstill_end(s, OCCASION_EXIT);
    bf_lock_release(&s->lock);
    if (s->summary)
        bf_trace_print_summary(s->scheduler->gpu.trace, stderr);
}

struct bf_device_watch *bf_standstill_watch(struct bf_standstill *s)
{
    return s->watch;
}

void bf_standstill_name(struct bf_standstill *s, VkObjectType type, uint64_t handle,
                        const char *name)
{
    if (s)
        bf_names_set(&s->names, type, handle, name);
}

struct bf_names *bf_standstill_names(struct bf_standstill *s)
{
    return &s->names;
}

void bf_standstill_buffer_begun(struct bf_standstill *s, VkCommandBuffer buffer)
{
    if (s)
        bf_names_begun(&s->names, buffer);
}

void bf_standstill_buffer_label(struct bf_standstill *s, VkCommandBuffer buffer, const char *label)
{
    if (s)
        bf_names_label(&s->names, buffer, label);
}

void bf_standstill_forget_buffer(struct bf_standstill *s, VkCommandBuffer buffer)
{
    if (s)
        bf_names_forget_buffer(&s->names, buffer);
}
