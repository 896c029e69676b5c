/* SPDX-License-Identifier: MIT */
/* A device's background items, modes and commits (belfry/background.h). */
#include "background/background.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "background/internal.h"
#include "background/trace_events.h"
#include "base/clock.h"
#include "base/handle.h"
#include "base/message.h"
#include "base/structure.h"

#define HANG_NS UINT64_C(10000000000)
#define ROUNDS  4

/* ------------------------------------------------------------------------------------- Lists -- */

bool bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear)
{
    uintptr_t word = atomic_load(&b->inbox);
    if (!(word & ~BF_INBOX_FLAGS) && ((word | set) & ~clear) == word)
        return false;
    while (
        !atomic_compare_exchange_weak(&b->inbox, &word, ((word & BF_INBOX_FLAGS) | set) & ~clear))
        ;
    struct bf_task *newest = (struct bf_task *)(word & ~BF_INBOX_FLAGS);
    if (!newest)
        return false;
    struct bf_task *oldest = NULL, *last = newest;
    while (newest) {
        struct bf_task *before = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = before;
    }
    for (struct bf_task *task = oldest; task; task = task->next)
        task->number = ++b->last_number;
    if (b->first)
        b->last->next = oldest;
    else
        b->first = oldest;
    b->last = last;
    return true;
}

struct bf_task *bf_background_take(struct bf_background *b)
{
    struct bf_task *task = b->first;
    b->first = task->next;
    task->next = NULL;
    return task;
}

/* The least number of an item that hasn't ended, or UINT64_MAX. The lock is held. */
static uint64_t least_unfinished(const struct bf_background *b, const struct bf_worker_pool *pool)
{
    uint64_t least = b->first ? b->first->number : UINT64_MAX;
    for (uint32_t i = 0; pool && i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        const struct bf_slot *slot = &pool->slots[i];
        if (slot->owner == b && slot->task && slot->task->number < least)
            least = slot->task->number;
    }
    return least;
}

/* The lock is held. */
static uint64_t count_unfinished(const struct bf_background *b, const struct bf_worker_pool *pool)
{
    uint64_t count = b->first ? b->last->number - b->first->number + 1 : 0;
    for (uint32_t i = 0; pool && i < BF_TASKS_MOST + BF_BOOST_MOST; i++)
        count += pool->slots[i].owner == b && pool->slots[i].task;
    return count;
}

struct bf_commit *bf_background_done_commits(struct bf_background *b,
                                             const struct bf_worker_pool *pool)
{
    uint64_t least = least_unfinished(b, pool);
    struct bf_commit *done = b->commits, **end = &done;
    while (*end && (*end)->upto < least)
        end = &(*end)->next;
    b->commits = *end;
    *end = NULL;
    return done;
}

void bf_background_finish_commits(struct bf_background *b, struct bf_commit *commits)
{
    while (commits) {
        struct bf_commit *next = commits->next;
        bf_background_trace_done(b, commits->id);
        if (commits->event)
            bf_event_set(commits->event);
        bf_event_release(commits->event);
        free(commits);
        commits = next;
    }
}

void bf_background_leave(struct bf_background *b)
{
    b->running--;
    if (b->running == 0 && b->orphaned) {
        free(b);
        return;
    }
    bf_signpost_announce(&b->rest);
}

/* ---------------------------------------------------------------------------------- Queueing -- */

/* An item that will not run: calls its cancel function on this thread. */
static void cancel_now(struct bf_background *b, uint64_t item, PFN_bfProcessingWork cancel,
                       void *context)
{
    bf_background_trace_cancel(b, item, cancel);
    if (cancel)
        cancel(context);
}

static bool is_inherited(const struct bf_background *b, const char *call)
{
    if (b->generation == bf_background_process.generation)
        return false;
    bf_message(BF_MESSAGE_ERROR, "%s: the device is another process', from before a fork: %p", call,
               b->info.device);
    return true;
}

VkResult bf_background_queue(struct bf_background *b, PFN_bfProcessingWork callback,
                             PFN_bfProcessingWork cancel, void *context)
{
    if (!callback) {
        bf_message(BF_MESSAGE_ERROR, "bfQueueProcessingWork: pfnCallback is NULL");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (is_inherited(b, "bfQueueProcessingWork"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    uint64_t arrival = atomic_fetch_add(&bf_background_process.arrivals, 1) + 1;
    uintptr_t word = atomic_load(&b->inbox);
    struct bf_task *task = NULL;
    if (!(word & BF_INBOX_FLAGS)) {
        VkResult result = bf_worker_pool_ensure();
        if (result != VK_SUCCESS)
            return result;
        task = malloc(sizeof(*task));
        if (!task)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        *task = (struct bf_task){
            .callback = callback, .cancel = cancel, .context = context, .arrival = arrival};
    }
    do {
        if (word & BF_INBOX_FLAGS) { /* BG-3 */
            free(task);
            cancel_now(b, arrival, cancel, context);
            return VK_SUCCESS;
        }
        task->next = (struct bf_task *)word;
    } while (!atomic_compare_exchange_weak(&b->inbox, &word, (uintptr_t)task));
    bf_worker_pool_pushed(atomic_load(&bf_background_process.workers));
    return VK_SUCCESS;
}

/* ----------------------------------------------------------------------------------- Drivers -- */

VkResult bf_background_add_driver(struct bf_background *b, const BfBackgroundDriver *functions)
{
    if (!bf_structure_check(functions, BF_STRUCTURE_TYPE_BACKGROUND_DRIVER, "bfAddBackgroundDriver",
                            "pDriver"))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_driver *driver = calloc(1, sizeof(*driver));
    if (!driver)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    driver->functions = *functions;
    driver->prepared = !functions->pfnPrepare;
    bf_lock_acquire(&bf_background_process.lock);
    driver->next = atomic_load(&b->drivers);
    atomic_store(&b->drivers, driver);
    b->unprepared |= functions->pfnPrepare != NULL;
    bf_lock_release(&bf_background_process.lock);
    return VK_SUCCESS;
}

bool bf_background_is_unprepared(struct bf_background *b)
{
    for (struct bf_driver *d = atomic_load(&b->drivers); d; d = d->next) {
        if (!atomic_load(&d->prepared))
            return true;
    }
    return false;
}

void bf_background_prepare(struct bf_background *b)
{
    for (struct bf_driver *d = atomic_load(&b->drivers); d; d = d->next) {
        if (atomic_load(&d->prepared))
            continue;
        d->functions.pfnPrepare(d->functions.pContext);
        atomic_store(&d->prepared, true);
    }
}

/* ------------------------------------------------------------------------------------- Modes -- */

static bool mode_disables(BfBackgroundProcessingMode mode)
{
    return mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK ||
           mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM;
}

static bool action_commits(BfMeasurementsAction action)
{
    return action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS ||
           action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY;
}

static VkResult check_mode(const struct bf_background *b, BfBackgroundProcessingMode mode,
                           BfMeasurementsAction action, BfEvent event)
{
    static const char call[] = "bfSetBackgroundProcessingMode";
    if ((unsigned)mode > BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM)
        bf_message(BF_MESSAGE_ERROR, "%s: mode is none: %d", call, (int)mode);
    else if ((unsigned)action > BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS)
        bf_message(BF_MESSAGE_ERROR, "%s: action is none: %d", call, (int)action);
    else if (event && !action_commits(action))
        bf_message(BF_MESSAGE_ERROR, "%s: event is not NULL, but action %d commits nothing: %p",
                   call, (int)action, (void *)event);
    else if (bf_slot_current())
        bf_message(BF_MESSAGE_ERROR, "%s: a background item may not change the mode", call);
    else if (is_inherited(b, call))
        return VK_ERROR_VALIDATION_FAILED_EXT;
    else if (!b->info.developer_mode &&
             (mode_disables(mode) ||
              action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY)) {
        bf_message(BF_MESSAGE_ERROR, "%s: %s %d is for developers (setting developer_mode=on)",
                   call, mode_disables(mode) ? "mode" : "action",
                   mode_disables(mode) ? (int)mode : (int)action);
        return VK_ERROR_NOT_PERMITTED_KHR;
    } else
        return VK_SUCCESS;
    return VK_ERROR_VALIDATION_FAILED_EXT;
}

/* BG-9: some thread waits for the event, so the commits that set it are boosted: those of devices
 * in developer mode, since others may ask for no boost. */
static void hasten_event(struct bf_event *event)
{
    bool any = false;
    bf_lock_acquire(&bf_background_process.lock);
    for (struct bf_background *b = bf_background_process.devices; b; b = b->next) {
        for (struct bf_commit *commit = b->commits; commit; commit = commit->next) {
            if (commit->event != event || commit->upto <= b->hastened || !b->info.developer_mode)
                continue;
            b->hastened = commit->upto;
            any = true;
        }
    }
    struct bf_worker_pool *pool = atomic_load(&bf_background_process.workers);
    if (any) /* the pool stays while the lock is held */
        bf_worker_pool_wake(pool);
    bf_lock_release(&bf_background_process.lock);
}

/* Whether further measurements are desired, by the rules in belfry/background.h. mode_lock is
 * held. */
static VkBool32 further_desired(struct bf_background *b, bool outstanding)
{
    bf_lock_acquire(&bf_background_process.lock);
    bf_background_collect(b, 0, 0);
    outstanding |= least_unfinished(b, atomic_load(&bf_background_process.workers)) != UINT64_MAX;
    /* If items were queued in this round, even if they have ended, another round may bring more. */
    bool desired = b->last_number != b->asked_number;
    b->asked_number = b->last_number;
    bf_lock_release(&bf_background_process.lock);
    for (struct bf_driver *d = atomic_load(&b->drivers); d; d = d->next) {
        if (!d->functions.pfnFurtherMeasurementsDesired)
            continue;
        BfMeasurementsState state =
            d->functions.pfnFurtherMeasurementsDesired(d->functions.pContext);
        outstanding |= state == BF_MEASUREMENTS_OUTSTANDING;
        desired |= state == BF_MEASUREMENTS_DESIRED;
    }
    bool clean = b->round_is_clean;
    b->round_is_clean = !outstanding;
    if (outstanding)
        return VK_TRUE;
    if (!desired) {
        b->rounds = 0;
        return VK_FALSE;
    }
    if (clean && b->rounds < ROUNDS)
        b->rounds++;
    return b->rounds < ROUNDS;
}

/* Forgets the rounds so far. mode_lock is held. */
static void rounds_begin(struct bf_background *b)
{
    bf_lock_acquire(&bf_background_process.lock);
    bf_background_collect(b, 0, 0);
    b->round_is_clean =
        least_unfinished(b, atomic_load(&bf_background_process.workers)) == UINT64_MAX;
    b->asked_number = b->last_number;
    bf_lock_release(&bf_background_process.lock);
    b->rounds = 0;
}

static void mode_freeze(struct bf_background *b, bool frozen)
{
    atomic_store(&b->frozen, frozen);
    if (b->info.frozen)
        atomic_store(b->info.frozen, frozen);
}

/* The part of a mode change that takes effect before the drivers are called. */
static void mode_enter(struct bf_background *b, BfBackgroundProcessingMode mode,
                       BfMeasurementsAction action)
{
    bool freezes = mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM;
    if (action == BF_MEASUREMENTS_ACTION_DISCARD_PREVIOUS) {
        b->epoch++;
        rounds_begin(b);
    }
    if (mode_disables(mode) && !action_commits(action))
        atomic_fetch_or(&b->inbox, BF_INBOX_CLOSED);
    else
        atomic_fetch_and(&b->inbox, ~BF_INBOX_CLOSED);
    if (!freezes || !action_commits(action))
        mode_freeze(b, freezes);
}

/* The instant of BG-4. Takes ownership of the commit; returns the commits that are done. */
static struct bf_commit *commit_enter(struct bf_background *b, BfBackgroundProcessingMode mode,
                                      struct bf_commit *commit, bool high, uint64_t *count)
{
    bf_lock_acquire(&bf_background_process.lock);
    struct bf_worker_pool *pool = atomic_load(&bf_background_process.workers);
    bf_background_collect(b, mode_disables(mode) ? BF_INBOX_CLOSED : 0, 0);
    commit->upto = b->last_number;
    commit->id = ++b->commit_count;
    if (b->commits)
        b->last_commit->next = commit;
    else
        b->commits = commit;
    b->last_commit = commit;
    *count = count_unfinished(b, pool);
    if (high) {
        b->hastened = commit->upto;
        bf_worker_pool_wake(pool);
    }
    struct bf_commit *done = *count ? NULL : bf_background_done_commits(b, pool);
    bf_lock_release(&bf_background_process.lock);
    return done;
}

VkResult bf_background_set_mode(struct bf_background *b, BfBackgroundProcessingMode mode,
                                BfMeasurementsAction action, BfEvent handle, VkBool32 *further)
{
    uintptr_t self = (uintptr_t)pthread_self();
    VkResult result = check_mode(b, mode, action, handle);
    if (result != VK_SUCCESS)
        return result;
    if (atomic_load(&b->changer) == self) {
        bf_message(BF_MESSAGE_ERROR,
                   "bfSetBackgroundProcessingMode: called by pfnOnMode for its device");
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct bf_event *event = handle ? bf_event_of(handle, "bfSetBackgroundProcessingMode") : NULL;
    if (handle && !event)
        return VK_ERROR_VALIDATION_FAILED_EXT;
    struct bf_commit *commit = NULL;
    if (action_commits(action)) {
        commit = calloc(1, sizeof(*commit));
        if (!commit) {
            bf_event_release(event);
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        commit->event = event;
    }

    bf_lock_acquire(&b->mode_lock);
    atomic_store(&b->changer, self);
    bf_background_trace_mode(b, mode, action);
    mode_enter(b, mode, action);
    const BfBackgroundModeInfo info = {
        .sType = BF_STRUCTURE_TYPE_BACKGROUND_MODE_INFO,
        .mode = mode,
        .action = action,
        .epoch = b->epoch,
    };
    for (struct bf_driver *d = atomic_load(&b->drivers); d; d = d->next) {
        if (d->functions.pfnOnMode)
            d->functions.pfnOnMode(d->functions.pContext, &info);
    }
    uint64_t items = 0;
    if (commit) {
        if (event)
            bf_event_expect(event, hasten_event);
        struct bf_commit *done = commit_enter(
            b, mode, commit, action == BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, &items);
        if (mode == BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM)
            mode_freeze(b, true);
        bf_background_trace_commit(b, b->commit_count, items);
        /* The commit's reference to the event may be gone; the caller's handle keeps the event. */
        if (!done && event && bf_event_is_awaited((struct bf_event *)handle))
            hasten_event((struct bf_event *)handle);
        bf_background_finish_commits(b, done);
    }
    if (further)
        *further = further_desired(b, items != 0);
    atomic_store(&b->changer, 0);
    bf_lock_release(&b->mode_lock);
    return VK_SUCCESS;
}

bool bf_background_may_adapt(const struct bf_background *b)
{
    return !b || !atomic_load_explicit(&b->frozen, memory_order_relaxed);
}

BfBackgroundProcessingProperties bf_background_properties(struct bf_background *b)
{
    return (BfBackgroundProcessingProperties){
        .sType = BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES,
        .backgroundProcessingSupported = atomic_load(&b->drivers) != NULL,
        .developerMode = b->info.developer_mode,
        .backgroundTasks = b->info.tasks,
    };
}

/* -------------------------------------------------------------------------------------- Life -- */

struct bf_background *bf_background_create(const struct bf_background_info *info)
{
    struct bf_background *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    bf_background_handle_forks();
    b->info = *info;
    if (b->info.tasks == 0)
        b->info.tasks = 1;
    if (b->info.tasks > BF_TASKS_MOST)
        b->info.tasks = BF_TASKS_MOST;
    if (!b->info.proc)
        b->info.proc = "/proc";
    if (!b->info.hang_ns)
        b->info.hang_ns = HANG_NS;
    b->round_is_clean = true;
    bf_lock_acquire(&bf_background_process.lock);
    b->generation = bf_background_process.generation;
    b->next = bf_background_process.devices;
    bf_background_process.devices = b;
    bf_lock_release(&bf_background_process.lock);
    return b;
}

static void background_unlist(struct bf_background *b)
{
    struct bf_background **link = &bf_background_process.devices;
    while (*link && *link != b)
        link = &(*link)->next;
    if (*link)
        *link = b->next;
}

/* Describes one item that is still running. The lock is held. */
static void name_hanging(const struct bf_background *b, const struct bf_worker_pool *pool,
                         uint64_t now, char *line, size_t size)
{
    line[0] = '\0';
    for (uint32_t i = 0; pool && i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        const struct bf_slot *slot = &pool->slots[i];
        if (slot->owner != b || slot == bf_slot_current() || !atomic_load(&slot->begun))
            continue;
        Dl_info where = {0};
        void *function = slot->task ? (void *)(uintptr_t)slot->task->callback : NULL;
        bool known = function && dladdr(function, &where) && where.dli_fname;
        uint64_t ms = (now - slot->begin_ns) / 1000000;
        if (!slot->task)
            snprintf(line, size, "a driver's pfnPrepare has been running for %" PRIu64 " ms", ms);
        else
            snprintf(line, size,
                     "item %" PRIu64 ", callback %p (%s in %s), has been running for %" PRIu64
                     " ms",
                     slot->task->arrival, function,
                     known && where.dli_sname ? where.dli_sname : "unnamed",
                     known ? where.dli_fname : "an unknown file", ms);
        return;
    }
}

/* Waits until no slot but this thread's own (if it is a worker) is assigned to the device. */
static void await_rest(struct bf_background *b, const struct bf_slot *own)
{
    char line[512];
    bool told = false, timed_out = false;
    uint64_t until_ns = bf_now_ns() + b->info.hang_ns;
    uint32_t ticket = bf_signpost_enter(&b->rest);
    for (;;) {
        bf_lock_acquire(&bf_background_process.lock);
        /* The dispatcher may be writing this thread's own item to the trace. */
        bool rests = b->running <= (own ? 1 : 0) && (!own || !own->traced || own->begin_traced);
        if (!rests && timed_out && !told)
            name_hanging(b, atomic_load(&bf_background_process.workers), bf_now_ns(), line,
                         sizeof(line));
        bf_lock_release(&bf_background_process.lock);
        if (rests)
            break;
        if (timed_out && !told && line[0]) {
            told = true;
            bf_message(BF_MESSAGE_ERROR, "background work: device %p%s is being destroyed, but %s",
                       b->info.device, BF_LABEL(b->info.device), line);
        }
        if (timed_out && !told) { /* the item is assigned to a slot, but has not begun */
            timed_out = false;
            until_ns = bf_now_ns() + b->info.hang_ns;
        }
        struct timespec until = bf_timespec(until_ns);
        ticket = bf_signpost_sleep(&b->rest, ticket, told ? NULL : &until, &timed_out);
    }
    bf_signpost_leave(&b->rest);
}

/* Frees the drivers; no thread can reach them any more. */
static void finish_drivers(struct bf_background *b)
{
    struct bf_driver *driver = atomic_load(&b->drivers);
    while (driver) {
        struct bf_driver *next = driver->next;
        free(driver);
        driver = next;
    }
    atomic_store(&b->drivers, NULL);
}

/* In the child of a fork: the threads, and the queued items, belong to the parent. */
static void destroy_inherited(struct bf_background *b)
{
    bf_background_collect(b, BF_INBOX_GONE, 0);
    while (b->first)
        free(bf_background_take(b));
    while (b->commits) {
        struct bf_commit *next = b->commits->next;
        bf_event_release(b->commits->event);
        free(b->commits);
        b->commits = next;
    }
    finish_drivers(b);
    free(b);
}

void bf_background_destroy(struct bf_background *b)
{
    if (!b)
        return;
    if (b->generation != bf_background_process.generation) {
        destroy_inherited(b);
        return;
    }
    const struct bf_slot *own = bf_slot_current();
    if (own && own->owner != b)
        own = NULL;
    bf_lock_acquire(&bf_background_process.lock);
    bf_background_collect(b, BF_INBOX_GONE, 0);
    struct bf_task *queued = b->first;
    b->first = NULL;
    bf_lock_release(&bf_background_process.lock);
    while (queued) {
        struct bf_task *next = queued->next;
        cancel_now(b, queued->arrival, queued->cancel, queued->context);
        free(queued);
        queued = next;
    }
    if (own)
        bf_message(BF_MESSAGE_WARNING, "background work: an item destroys its own device: %p%s",
                   b->info.device, BF_LABEL(b->info.device));
    await_rest(b, own);
    bf_background_trace_deferred(b);

    bf_lock_acquire(&bf_background_process.lock);
    struct bf_commit *commits_left = b->commits;
    b->commits = NULL;
    b->running++;
    bf_lock_release(&bf_background_process.lock);
    bf_background_finish_commits(b, commits_left);
    finish_drivers(b);

    bf_lock_acquire(&bf_background_process.lock);
    background_unlist(b);
    struct bf_worker_pool *pool = NULL;
    if (!bf_background_process.devices) { /* CR-4 */
        pool = atomic_exchange(&bf_background_process.workers, NULL);
        if (pool)
            pool->quit = true;
    }
    b->info.trace = NULL;
    b->orphaned = true;
    bf_background_leave(b);
    bf_worker_pool_wake(
        atomic_load(&bf_background_process
                         .workers)); /* more items may run now (CR-2); the lock keeps the pool */
    bf_lock_release(&bf_background_process.lock);
    if (pool)
        bf_worker_pool_end(pool);
}
