/* SPDX-License-Identifier: MIT */
/* Programs of several threads: stamps of all calls and items, and what they must obey.
 *
 * Device 0 belongs to all threads and is destroyed last. Each thread has devices of its own
 * besides, one after the other, which it destroys whenever it likes, or has destroyed by an item of
 * device 0.
 */
#include "random.h"

#include <sys/syscall.h>

#include "../random/rng.h"
#include "support/type.h"

#define THREADS  8
#define DEVICES  64
#define ITEMS    1024
#define CHANGES  256
#define STEPS    14
#define TASKS    16
#define BOOST    8
#define NO_STAMP UINT64_MAX

struct run;

struct device {
    struct bf_background *b;
    uint64_t destroy_begin, destroy_end;
    pid_t destroyer;
};

struct item {
    struct run *run;
    uint32_t device;
    uint32_t children; /* that it queues, whichever of its functions is called */
    uint32_t yields;
    int destroys; /* a device; -1: none */
    int change;   /* during whose on_mode it was queued; -1: none */
    bool silent;  /* no cancel function */
    pid_t queuer;
    uint64_t queue_begin, queue_end;
    _Atomic uint64_t began, ended, cancelled;
    _Atomic uint32_t calls;
    _Atomic int policy, thread;
};

struct change {
    uint32_t device;
    BfBackgroundProcessingMode mode;
    BfMeasurementsAction action;
    BfEvent event;
    uint64_t begin, end;
    _Atomic uint64_t seen; /* its event was set */
};

struct run {
    uint32_t threads, tasks;
    _Atomic uint64_t clock;
    _Atomic uint32_t device_count, item_count, change_count;
    struct device devices[DEVICES];
    struct item items[ITEMS];
    struct change changes[CHANGES];
};

struct actor {
    struct run *run;
    struct rng rng;
    uint32_t number;
    int own; /* a device of its own; -1: none now */
    pthread_t thread;
};

static _Thread_local int current_change = -1;
static _Thread_local struct actor *current_actor;

static uint64_t stamp(struct run *r)
{
    return atomic_fetch_add(&r->clock, 1);
}

static pid_t self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static bool commits(const struct change *c)
{
    return c->action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS ||
           c->action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY;
}

static bool disables(const struct change *c)
{
    return c->mode >= BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK;
}

/* ----------------------------------------------------------------------------------- Running -- */

static void item_run(void *context);
static void item_cancel(void *context);

static struct item *item_new(struct run *r, uint32_t device)
{
    uint32_t index = atomic_fetch_add(&r->item_count, 1);
    if (index >= ITEMS)
        return NULL;
    struct item *item = &r->items[index];
    *item = (struct item){
        .run = r, .device = device, .destroys = -1, .change = current_change, .queuer = self()};
    atomic_store(&item->began, NO_STAMP);
    atomic_store(&item->ended, NO_STAMP);
    atomic_store(&item->cancelled, NO_STAMP);
    return item;
}

static void item_queue(struct item *item)
{
    struct run *r = item->run;
    item->queue_begin = stamp(r);
    VkResult result = bf_background_queue(r->devices[item->device].b, item_run,
                                          item->silent ? NULL : item_cancel, item);
    REQUIRE(result == VK_SUCCESS, "an item was refused: %d", result);
    item->queue_end = stamp(r);
}

static void device_destroy(struct run *r, uint32_t device)
{
    struct device *d = &r->devices[device];
    d->destroyer = self();
    d->destroy_begin = stamp(r);
    bf_background_destroy(d->b);
    d->destroy_end = stamp(r);
}

static void item_work(struct item *item)
{
    for (uint32_t i = 0; i < item->yields; i++)
        sched_yield();
    for (uint32_t i = 0; i < item->children; i++) {
        struct item *child = item_new(item->run, item->device);
        if (child)
            item_queue(child);
    }
    if (item->destroys >= 0)
        device_destroy(item->run, (uint32_t)item->destroys);
}

static void item_run(void *context)
{
    struct item *item = context;
    atomic_fetch_add(&item->calls, 1);
    atomic_store(&item->policy, sched_getscheduler(0));
    atomic_store(&item->began, stamp(item->run));
    item_work(item);
    atomic_store(&item->ended, stamp(item->run));
}

static void item_cancel(void *context)
{
    struct item *item = context;
    atomic_fetch_add(&item->calls, 1);
    atomic_store(&item->thread, self());
    atomic_store(&item->cancelled, stamp(item->run));
    item_work(item);
}

static void on_mode(void *context, const BfBackgroundModeInfo *info)
{
    (void)info;
    struct run *r = context;
    struct actor *a = current_actor;
    uint32_t count = rng_below(&a->rng, 3);
    for (uint32_t i = 0; i < count; i++) {
        struct item *item = item_new(r, r->changes[current_change].device);
        if (item)
            item_queue(item);
    }
}

static int device_new(struct run *r)
{
    uint32_t index = atomic_fetch_add(&r->device_count, 1);
    if (index >= DEVICES)
        return -1;
    struct device *d = &r->devices[index];
    d->destroy_begin = d->destroy_end = NO_STAMP;
    d->b = bf_background_create(&(struct bf_background_info){
        .tasks = r->tasks, .developer_mode = true, .proc = "/nonexistent"});
    REQUIRE(d->b, "no memory");
    VkResult result =
        bf_background_add_driver(d->b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER),
                                                             .pContext = r, .pfnOnMode = on_mode});
    REQUIRE(result == VK_SUCCESS, "no memory");
    return (int)index;
}

static void see(struct change *c, uint64_t timeout)
{
    struct run *r = current_actor->run;
    if (bfWaitForEvents(1, &c->event, VK_FALSE, timeout, NULL) == VK_SUCCESS)
        atomic_store(&c->seen, stamp(r));
}

static void change_mode(struct actor *a, uint32_t device)
{
    struct run *r = a->run;
    uint32_t index = atomic_fetch_add(&r->change_count, 1);
    if (index >= CHANGES)
        return;
    struct change *c = &r->changes[index];
    *c = (struct change){.device = device,
                         .mode = (BfBackgroundProcessingMode)rng_below(&a->rng, 4),
                         .action = (BfMeasurementsAction)rng_below(&a->rng, 4)};
    if (rng_percent(&a->rng, 40)) /* or nearly everything would be cancelled */
        c->mode = BF_BACKGROUND_PROCESSING_MODE_ALLOWED;
    atomic_store(&c->seen, NO_STAMP);
    if (commits(c))
        REQUIRE(bfCreateEvent(0, &c->event) == VK_SUCCESS, "no event");
    VkBool32 further = 2;
    current_change = (int)index;
    c->begin = stamp(r);
    VkResult result = bf_background_set_mode(r->devices[device].b, c->mode, c->action, c->event,
                                             rng_percent(&a->rng, 50) ? &further : NULL);
    c->end = stamp(r);
    current_change = -1;
    REQUIRE(result == VK_SUCCESS, "a mode was refused: %d", result);
    if (c->event && rng_percent(&a->rng, 70))
        see(c, rng_percent(&a->rng, 50) ? UINT64_MAX : 0);
}

static void *act(void *argument)
{
    struct actor *a = argument;
    struct run *r = a->run;
    current_actor = a;
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t kind = rng_below(&a->rng, 100);
        if (a->own < 0 && kind < 20)
            a->own = device_new(r);
        uint32_t device = a->own >= 0 && rng_percent(&a->rng, 40) ? (uint32_t)a->own : 0;
        if (kind < 70) {
            struct item *item = item_new(r, device);
            if (!item)
                continue;
            item->yields = rng_below(&a->rng, 4);
            item->children = rng_percent(&a->rng, 20) ? 1 + rng_below(&a->rng, 3) : 0;
            item->silent = rng_percent(&a->rng, 10);
            if (a->own >= 0 && rng_percent(&a->rng, 5)) {
                item->device = 0;
                item->destroys = a->own;
                item->silent = false;
                a->own = -1;
            }
            item_queue(item);
        } else if (kind < 92) {
            change_mode(a, device);
        } else if (a->own >= 0) {
            device_destroy(r, (uint32_t)a->own);
            a->own = -1;
        }
    }
    if (a->own >= 0)
        device_destroy(r, (uint32_t)a->own);
    return NULL;
}

/* ---------------------------------------------------------------------------------- Checking -- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

enum certainty {
    MAYBE,
    SURELY_ENABLED,
    SURELY_DISABLED,
};

/* The state of the device during all of [from, to], as far as the changes' stamps tell. */
static enum certainty certainty_of(const struct run *r, uint32_t device, uint64_t from, uint64_t to)
{
    const struct change *last = NULL;
    uint32_t count = least(atomic_load(&r->change_count), CHANGES);
    for (uint32_t i = 0; i < count; i++) {
        const struct change *c = &r->changes[i];
        if (c->device == device && c->end < from && (!last || c->begin > last->begin))
            last = c;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct change *c = &r->changes[i];
        if (c != last && c->device == device && c->begin < to && (!last || c->end > last->begin))
            return MAYBE; /* it overlaps one of the two */
    }
    return last && disables(last) ? SURELY_DISABLED : SURELY_ENABLED;
}

/* BG-1, BG-3, BG-8 */
static void check_item(const struct run *r, const struct item *item, uint32_t index)
{
    const struct device *d = &r->devices[item->device];
    uint64_t began = atomic_load(&item->began), ended = atomic_load(&item->ended);
    uint64_t cancelled = atomic_load(&item->cancelled);
    uint32_t calls = atomic_load(&item->calls);
    REQUIRE(calls == 1 || (calls == 0 && item->silent), "item %u: %u calls", index, calls);
    REQUIRE((began == NO_STAMP) == (ended == NO_STAMP), "item %u was left running", index);
    if (calls == 0)
        return;
    uint64_t at = began != NO_STAMP ? began : cancelled;
    uint64_t until = began != NO_STAMP ? ended : cancelled;
    REQUIRE(at > item->queue_begin && until < d->destroy_end,
            "item %u: stamps %llu to %llu, queued at %llu, destroyed at %llu", index,
            (unsigned long long)at, (unsigned long long)until,
            (unsigned long long)item->queue_begin, (unsigned long long)d->destroy_end);
    int thread = atomic_load(&item->thread);
    bool in_call = cancelled != NO_STAMP && cancelled < item->queue_end && thread == item->queuer;
    /* The destroying thread may come across it before the call that queued it has returned. */
    if (cancelled != NO_STAMP && !in_call)
        REQUIRE(cancelled > d->destroy_begin && thread == d->destroyer,
                "item %u was cancelled by thread %d", index, thread);
    bool destroying = item->queue_end > d->destroy_begin;
    if (destroying)
        return;
    if (item->change >= 0) { /* inside a mode change of its device, the only one then */
        const struct change *c = &r->changes[item->change];
        bool expected = disables(c) && !commits(c);
        REQUIRE(in_call == expected, "item %u of change %d (mode %d, action %d): %s", index,
                item->change, c->mode, c->action, in_call ? "cancelled" : "accepted");
        return;
    }
    enum certainty sure = certainty_of(r, item->device, item->queue_begin, item->queue_end);
    REQUIRE(sure == MAYBE || in_call == (sure == SURELY_DISABLED), "item %u was %s while %s", index,
            in_call ? "cancelled" : "accepted", sure == SURELY_ENABLED ? "enabled" : "disabled");
}

/* BG-2: the threads that an item was given to may come late; more than there are can't. */
static void check_order(const struct run *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct item *late = &r->items[i];
        uint32_t overtaken = 0;
        uint64_t began = atomic_load(&late->began);
        for (uint32_t k = 0; k < count && began != NO_STAMP; k++) {
            const struct item *early = &r->items[k];
            uint64_t other = atomic_load(&early->began);
            overtaken += early->device == late->device && early->queue_end < late->queue_begin &&
                         other != NO_STAMP && other > began;
        }
        REQUIRE(overtaken < r->tasks + BOOST, "item %u has overtaken %u others", i, overtaken);
    }
}

/* CR-2 */
static void check_limit(const struct run *r, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct item *item = &r->items[i];
        uint64_t at = atomic_load(&item->began);
        uint32_t idle = 0, all = 0;
        for (uint32_t k = 0; k < count && at != NO_STAMP; k++) {
            const struct item *other = &r->items[k];
            if (atomic_load(&other->began) <= at && atomic_load(&other->ended) >= at) {
                all++;
                idle += atomic_load(&other->policy) == SCHED_IDLE;
            }
        }
        REQUIRE(idle <= r->tasks && all <= r->tasks + BOOST,
                "%u idle items and %u in all run with item %u", idle, all, i);
    }
}

/* BG-4 */
static void check_commits(const struct run *r, uint32_t count)
{
    uint32_t changes = least(atomic_load(&r->change_count), CHANGES);
    for (uint32_t i = 0; i < changes; i++) {
        const struct change *c = &r->changes[i];
        uint64_t seen = atomic_load(&c->seen);
        if (!c->event)
            continue;
        REQUIRE(seen != NO_STAMP, "the event of change %u was never set", i);
        for (uint32_t k = 0; k < count; k++) {
            const struct item *item = &r->items[k];
            if (item->device != c->device || (item->change != (int)i && item->queue_end > c->begin))
                continue;
            uint64_t began = atomic_load(&item->began), ended = atomic_load(&item->ended);
            REQUIRE(began == NO_STAMP || ended < seen,
                    "the event of change %u was set before item %u had ended", i, k);
        }
    }
}

void crowd_run(uint64_t seed, uint32_t threads)
{
    static struct run run;
    struct run *r = &run;
    struct actor actors[THREADS];
    struct rng rng = {.state = seed};
    memset(r, 0, sizeof(*r));
    r->threads = threads < THREADS ? threads : THREADS;
    r->tasks = 1 + rng_below(&rng, 3);
    device_new(r);
    for (uint32_t i = 0; i < r->threads; i++) {
        actors[i] =
            (struct actor){.run = r, .number = i, .rng = {.state = rng_next(&rng)}, .own = -1};
        REQUIRE(pthread_create(&actors[i].thread, NULL, act, &actors[i]) == 0, "no thread");
    }
    for (uint32_t i = 0; i < r->threads; i++)
        pthread_join(actors[i].thread, NULL);
    device_destroy(r, 0);
    current_actor = &actors[0];
    uint32_t changes = least(atomic_load(&r->change_count), CHANGES);
    for (uint32_t i = 0; i < changes; i++)
        if (r->changes[i].event && atomic_load(&r->changes[i].seen) == NO_STAMP)
            see(&r->changes[i], 0);
    uint32_t count = least(atomic_load(&r->item_count), ITEMS);
    for (uint32_t i = 0; i < count; i++)
        check_item(r, &r->items[i], i);
    check_order(r, count);
    check_limit(r, count);
    check_commits(r, count);
    for (uint32_t i = 0; i < changes; i++)
        bfDestroyEvent(r->changes[i].event);
}
