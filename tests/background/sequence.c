/* SPDX-License-Identifier: MIT */
/* Programs of one thread: items that stand until let go, beside a model that knows all. */
#include "random.h"

#include "../random/rng.h"
#include "base/lock.h"
#include "support/type.h"

#define DEVICES 2
#define ITEMS   128
#define COMMITS 32
#define STEPS   28

enum item_state {
    QUEUED,
    RUNNING,
    ENDED,
    CANCELLED,
};

struct program;

struct item {
    struct program *program;
    uint32_t device, index;
    int child;  /* an item that it queues before it ends; -1: none */
    bool opens; /* its cancel lets all running items of the device go on */

    /* What the model says. */
    enum item_state expected;
    bool boosted;
    /* What has happened. */
    _Atomic uint32_t state;
    _Atomic uint32_t gate;
    _Atomic int policy;
    _Atomic uint32_t calls;
};

struct commit {
    BfEvent event;
    uint32_t device;
    uint32_t upto; /* index in the device's order */
    bool done, taken;
};

struct model_device {
    struct bf_background *b;
    bool disabled;
    uint32_t order[ITEMS], count; /* accepted items */
    uint32_t next;                /* the first that hasn't begun */
    uint32_t hastened;            /* the boost's are those before it */
    uint32_t commit_items;        /* that its driver queues at the next commit */
};

struct program {
    struct rng rng;
    struct bf_signpost changed;
    struct model_device devices[DEVICES];
    struct item items[ITEMS];
    uint32_t item_count;
    struct commit commits[COMMITS];
    uint32_t commit_count;
    uint32_t idle, boosted; /* running */
    uint32_t idle_limit, boost_limit;
};

/* ------------------------------------------------------------------------------------ Items --- */

static void state_set(struct item *item, enum item_state state)
{
    atomic_store(&item->state, state);
    bf_signpost_announce(&item->program->changed);
}

static void item_cancel(void *context);

static void item_run(void *context)
{
    struct item *item = context;
    atomic_fetch_add(&item->calls, 1);
    atomic_store(&item->policy, sched_getscheduler(0));
    state_set(item, RUNNING);
    while (!atomic_load(&item->gate))
        bf_futex_wait(&item->gate, 0, NULL);
    if (item->child >= 0) {
        struct item *child = &item->program->items[item->child];
        VkResult result = bf_background_queue(item->program->devices[item->device].b, item_run,
                                              item_cancel, child);
        REQUIRE(result == VK_SUCCESS, "item %u's child was refused", item->index);
    }
    state_set(item, ENDED);
}

static void let_go(struct item *item)
{
    atomic_store(&item->gate, 1);
    bf_futex_wake(&item->gate, 1);
}

static void item_cancel(void *context)
{
    struct item *item = context;
    struct program *p = item->program;
    atomic_fetch_add(&item->calls, 1);
    for (uint32_t i = 0; item->opens && i < p->item_count; i++)
        if (p->items[i].device == item->device && p->items[i].expected == RUNNING)
            let_go(&p->items[i]);
    state_set(item, CANCELLED);
}

static int item_new(struct program *p, uint32_t device)
{
    if (p->item_count == ITEMS)
        return -1;
    struct item *item = &p->items[p->item_count];
    item->program = p;
    item->device = device;
    item->index = p->item_count;
    item->child = -1;
    return (int)p->item_count++;
}

/* ------------------------------------------------------------------------------------ Model --- */

static void model_accept(struct program *p, uint32_t item)
{
    struct model_device *d = &p->devices[p->items[item].device];
    if (!d->b || d->disabled)
        p->items[item].expected = CANCELLED;
    else
        d->order[d->count++] = item;
}

static bool is_boosts(const struct model_device *d)
{
    return d->next < d->hastened;
}

/* Whatever may begin, begins: the oldest item of those that stand first in their device. */
static void model_begin(struct program *p)
{
    for (;;) {
        struct model_device *found = NULL;
        for (int boost = 1; boost >= 0 && !found; boost--) {
            if (boost ? p->boosted == p->boost_limit : p->idle >= p->idle_limit)
                continue;
            for (uint32_t i = 0; i < DEVICES; i++) {
                struct model_device *d = &p->devices[i];
                if (d->next < d->count && is_boosts(d) == boost &&
                    (!found || d->order[d->next] < found->order[found->next]))
                    found = d;
            }
        }
        if (!found)
            return;
        struct item *item = &p->items[found->order[found->next]];
        item->boosted = is_boosts(found);
        item->expected = RUNNING;
        found->next++;
        if (item->boosted)
            p->boosted++;
        else
            p->idle++;
    }
}

static void model_end(struct program *p, struct item *item)
{
    item->expected = ENDED;
    if (item->boosted)
        p->boosted--;
    else
        p->idle--;
}

static void model_commits(struct program *p)
{
    for (uint32_t i = 0; i < p->commit_count; i++) {
        struct commit *c = &p->commits[i];
        const struct model_device *d = &p->devices[c->device];
        bool done = true;
        for (uint32_t k = 0; k < c->upto; k++)
            done = done && p->items[d->order[k]].expected >= ENDED;
        c->done = done;
    }
}

/* Waits until all has happened that the model says; nothing else may have. */
static void settle(struct program *p)
{
    model_begin(p);
    model_commits(p);
    for (uint32_t i = 0; i < p->item_count; i++) {
        struct item *item = &p->items[i];
        if (item->expected == QUEUED) {
            REQUIRE(atomic_load(&item->calls) == 0, "item %u: %s, but should be queued", i,
                    atomic_load(&item->state) == CANCELLED ? "cancelled" : "begun");
            continue;
        }
        uint32_t ticket = bf_signpost_enter(&p->changed);
        bool timed_out;
        while (atomic_load(&item->state) < item->expected)
            ticket = bf_signpost_sleep(&p->changed, ticket, NULL, &timed_out);
        bf_signpost_leave(&p->changed);
        uint32_t state = atomic_load(&item->state);
        REQUIRE(state == item->expected, "item %u: state %u, should be %u", i, state,
                item->expected);
        REQUIRE(atomic_load(&item->calls) == 1, "item %u: %u calls", i, atomic_load(&item->calls));
        if (state == RUNNING || state == ENDED)
            REQUIRE(atomic_load(&item->policy) == (item->boosted ? SCHED_OTHER : SCHED_IDLE),
                    "item %u ran under policy %d", i, atomic_load(&item->policy));
    }
    for (uint32_t i = 0; i < p->commit_count; i++) {
        struct commit *c = &p->commits[i];
        if (!c->event || c->taken)
            continue;
        VkResult result;
        while ((result = bfWaitForEvents(1, &c->event, VK_FALSE, 0, NULL)) == VK_TIMEOUT && c->done)
            sched_yield(); /* to block would boost it */
        REQUIRE((result == VK_SUCCESS) == c->done, "commit %u: its event is set too early", i);
        c->taken = c->done;
    }
}

/* ------------------------------------------------------------------------------------ Steps --- */

static void on_mode(void *context, const BfBackgroundModeInfo *info)
{
    struct program *p = context;
    for (uint32_t i = 0; i < DEVICES; i++) {
        struct model_device *d = &p->devices[i];
        uint32_t count = d->commit_items;
        d->commit_items = 0;
        bool commits = info->action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS ||
                       info->action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY;
        bool disables = info->mode >= BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK;
        for (; count > 0; count--) {
            int item = item_new(p, i);
            if (item < 0)
                return;
            d->disabled = disables && !commits;
            model_accept(p, (uint32_t)item);
            bf_background_queue(d->b, item_run, item_cancel, &p->items[item]);
        }
    }
}

static void device_open(struct program *p, uint32_t device)
{
    struct model_device *d = &p->devices[device];
    *d = (struct model_device){0};
    d->b = bf_background_create(&(struct bf_background_info){
        .tasks = p->idle_limit, .developer_mode = true, .proc = "/nonexistent"});
    REQUIRE(d->b, "no memory");
    VkResult result =
        bf_background_add_driver(d->b, &(BfBackgroundDriver){BF_TYPE(BACKGROUND_DRIVER),
                                                             .pContext = p, .pfnOnMode = on_mode});
    REQUIRE(result == VK_SUCCESS, "no memory");
}

static void step_queue(struct program *p)
{
    uint32_t device = rng_below(&p->rng, DEVICES);
    int item = item_new(p, device);
    if (item < 0)
        return;
    if (rng_percent(&p->rng, 15))
        p->items[item].child = -2; /* has one when it ends */
    model_accept(p, (uint32_t)item);
    VkResult result =
        bf_background_queue(p->devices[device].b, item_run, item_cancel, &p->items[item]);
    REQUIRE(result == VK_SUCCESS, "item %d was refused: %d", item, result);
    if (p->items[item].expected == CANCELLED) /* before the call returned */
        REQUIRE(atomic_load(&p->items[item].state) == CANCELLED, "item %d was not cancelled", item);
}

/* The model's half of an item's end; the child comes before it. */
static void end_item(struct program *p, struct item *item)
{
    if (item->child == -2)
        item->child = item_new(p, item->device);
    if (item->child >= 0)
        model_accept(p, (uint32_t)item->child);
    model_end(p, item);
}

static void step_release(struct program *p)
{
    uint32_t running[ITEMS], count = 0;
    for (uint32_t i = 0; i < p->item_count; i++)
        if (p->items[i].expected == RUNNING)
            running[count++] = i;
    if (!count)
        return;
    struct item *item = &p->items[running[rng_below(&p->rng, count)]];
    end_item(p, item);
    let_go(item);
}

static void step_mode(struct program *p)
{
    uint32_t device = rng_below(&p->rng, DEVICES);
    struct model_device *d = &p->devices[device];
    BfBackgroundProcessingMode mode = (BfBackgroundProcessingMode)rng_below(&p->rng, 4);
    BfMeasurementsAction action = (BfMeasurementsAction)rng_below(&p->rng, 4);
    bool commits = action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS ||
                   action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY;
    struct commit *commit =
        commits && p->commit_count < COMMITS ? &p->commits[p->commit_count] : NULL;
    VkBool32 further = VK_FALSE;
    d->commit_items = rng_below(&p->rng, 3);
    /* Else it would be anybody's guess whether they begin before they are boosted. */
    if (action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY && p->idle < p->idle_limit)
        d->commit_items = 0;
    if (commit) {
        p->commit_count++;
        *commit = (struct commit){.device = device};
        REQUIRE(bfCreateEvent(0, &commit->event) == VK_SUCCESS, "no event");
    }
    VkResult result = bf_background_set_mode(d->b, mode, action, commit ? commit->event : NULL,
                                             rng_percent(&p->rng, 50) ? &further : NULL);
    REQUIRE(result == VK_SUCCESS, "the mode was refused: %d", result);
    d->commit_items = 0;
    d->disabled = mode >= BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK;
    if (commit)
        commit->upto = d->count;
    if (action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY)
        d->hastened = d->count;
    REQUIRE(bf_background_may_adapt(d->b) ==
                (mode != BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM),
            "mode %d: what adapts is wrong", mode);
}

/* Running items must end for it: they do when the first of the others is cancelled, or before. */
static void device_close(struct program *p, uint32_t device)
{
    struct model_device *d = &p->devices[device];
    bool waiting = d->next < d->count;
    if (waiting)
        p->items[d->order[d->next]].opens = true;
    for (uint32_t i = 0; !waiting && i < p->item_count; i++) {
        struct item *item = &p->items[i];
        if (item->device == device && item->expected == RUNNING) {
            if (item->child == -2)
                item->child = -1; /* it might be accepted, and might not */
            let_go(item);
        }
    }
    for (uint32_t i = 0; waiting && i < p->item_count; i++) {
        struct item *item = &p->items[i];
        if (item->device == device && item->expected == RUNNING && item->child == -2) {
            item->child = item_new(p, device);
            if (item->child >= 0)
                p->items[item->child].expected = CANCELLED;
        }
    }
    struct bf_background *b = d->b;
    bf_background_destroy(b);
    d->b = NULL;
    for (; d->next < d->count; d->next++)
        p->items[d->order[d->next]].expected = CANCELLED;
    for (uint32_t i = 0; i < p->item_count; i++)
        if (p->items[i].device == device && p->items[i].expected == RUNNING)
            model_end(p, &p->items[i]);
    settle(p);
    /* Its order is forgotten with it. */
    for (uint32_t i = 0; i < p->commit_count; i++)
        if (p->commits[i].device == device)
            p->commits[i].upto = 0;
}

static uint32_t cores_for_the_boost(void)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : CPU_COUNT(&cores);
    return count <= 3 ? 2 : count > 8 ? 8 : (uint32_t)count - 1;
}

void sequence_run(uint64_t seed)
{
    static struct program program;
    struct program *p = &program;
    memset(p, 0, sizeof(*p));
    p->rng.state = seed;
    p->idle_limit = 1 + rng_below(&p->rng, 3);
    p->boost_limit = cores_for_the_boost();
    for (uint32_t i = 0; i < DEVICES; i++)
        device_open(p, i);
    for (uint32_t i = 0; i < STEPS; i++) {
        uint32_t kind = rng_below(&p->rng, 100);
        if (kind < 45)
            step_queue(p);
        else if (kind < 75)
            step_release(p);
        else if (kind < 95)
            step_mode(p);
        else {
            uint32_t device = rng_below(&p->rng, DEVICES);
            device_close(p, device);
            device_open(p, device);
        }
        settle(p);
    }
    for (uint32_t i = 0; i < DEVICES; i++)
        device_close(p, i);
    for (uint32_t i = 0; i < p->item_count; i++)
        REQUIRE(atomic_load(&p->items[i].calls) == 1 || p->items[i].expected == QUEUED,
                "item %u: %u calls", i, atomic_load(&p->items[i].calls));
    for (uint32_t i = 0; i < p->commit_count; i++)
        bfDestroyEvent(p->commits[i].event);
}
