#include "background/crew.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "background/device.h"
#include "background/idle.h"
#include "background/report.h"
#include "base/clock.h"
#include "base/message.h"

/* After the system had no thread for us. */
#define SPAWN_RETRY_NS UINT64_C(100000000)

struct bf_pool bf_pool;

/* In static storage of the threads: what is allocated for a library that is unloaded again confuses
 * LeakSanitizer. */
static _Thread_local struct bf_slot *current __attribute__((tls_model("initial-exec")));

struct bf_slot *bf_slot_current(void)
{
    return current;
}

void bf_crew_ring(struct bf_crew *crew)
{
    if (!crew)
        return;
    atomic_fetch_add(&crew->turn, 1);
    if (atomic_load(&crew->asleep))
        bf_futex_wake(&crew->turn, 1);
}

/* --------------------------------------------------------------------------------------- Workers --
 */

static void *work(void *argument)
{
    struct bf_slot *slot = argument;
    current = slot;
    if (!slot->boost)
        bf_thread_make_idle();
    for (;;) {
        uint32_t state = atomic_load(&slot->state);
        if (state == BF_SLOT_QUIT)
            return NULL;
        if (state != BF_SLOT_BUSY) {
            bf_futex_wait(&slot->state, state, NULL);
            continue;
        }
        slot->begin_ns = bf_now_ns();
        atomic_store(&slot->begun, true);
        if (slot->traced)
            bf_crew_ring(slot->crew);
        if (slot->task) {
            bf_probe_begin(slot->owner, slot->task);
            slot->task->callback(slot->task->context);
            bf_probe_end(slot->owner, slot->task);
        } else {
            bf_background_prepare(slot->owner);
        }
        slot->end_ns = bf_now_ns();
        atomic_store(&slot->state, BF_SLOT_DONE);
        bf_crew_ring(slot->crew);
    }
}

/* The program's signal handlers are none of these threads' business, except those that a thread's
 * own faults call. */
static int thread_create(pthread_t *thread, void *(*function)(void *), void *argument,
                         const char *name)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t most, before;
    sigfillset(&most);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    int error = pthread_create(thread, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!error)
        pthread_setname_np(*thread, name);
    return error;
}

/* The lock is held; it is let go meanwhile. False: the system has no thread for us. */
static bool spawn(struct bf_crew *crew, struct bf_slot *slot)
{
    slot->crew = crew;
    slot->boost = slot >= &crew->slots[BF_TASKS_MOST];
    atomic_store(&slot->state, BF_SLOT_REST);
    bf_lock_release(&bf_pool.lock);
    int error = thread_create(&slot->thread, work, slot, slot->boost ? "bf-boost" : "bf-idle");
    bf_lock_acquire(&bf_pool.lock);
    if (!error)
        return true;
    atomic_store(&slot->state, BF_SLOT_NONE);
    if (!crew->spawn_told)
        bf_message(BF_MESSAGE_WARNING, "background work waits for a thread to be had (error %d)",
                   error);
    crew->spawn_told = true;
    return false;
}

/* ---------------------------------------------------------------------------- What has been done --
 */

/* The lock is held; it is let go for everything that takes another. */
static void retire(struct bf_crew *crew, struct bf_slot *slot)
{
    struct bf_background *b = slot->owner;
    struct bf_task *task = slot->task;
    bf_lock_release(&bf_pool.lock);
    bf_report_end(b, slot);
    bf_lock_acquire(&bf_pool.lock);
    slot->task = NULL;
    struct bf_commit *done = NULL;
    if (task) {
        done = bf_background_done_commits(b, crew);
    } else {
        b->preparing = false;
        b->unprepared = bf_background_is_unprepared(b);
    }
    bf_lock_release(&bf_pool.lock);
    free(task);
    bf_background_finish_commits(b, done);
    bf_lock_acquire(&bf_pool.lock);
    slot->owner = NULL;
    atomic_store(&slot->state, BF_SLOT_REST);
    bf_background_leave(b);
}

/* The lock is held. Returns whether it was let go. */
static bool look_at_slots(struct bf_crew *crew)
{
    bool any = false;
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        struct bf_slot *slot = &crew->slots[i];
        if (!slot->owner)
            continue;
        if (slot->traced && !slot->begin_told && atomic_load(&slot->begun)) {
            bf_lock_release(&bf_pool.lock);
            bf_report_begin(slot->owner, slot);
            bf_lock_acquire(&bf_pool.lock);
            slot->begin_told = true;
            bf_signpost_announce(&slot->owner->rest);
            any = true;
        }
        if (atomic_load(&slot->state) == BF_SLOT_DONE) {
            retire(crew, slot);
            any = true;
        }
    }
    for (struct bf_background *b = bf_pool.devices; b; b = b->next) {
        if (!atomic_load(&b->notes))
            continue;
        b->running++; /* it stays meanwhile */
        bf_lock_release(&bf_pool.lock);
        bf_report_notes(b);
        bf_lock_acquire(&bf_pool.lock);
        bf_background_leave(b);
        return true; /* the list may be another */
    }
    return any;
}

/* -------------------------------------------------------------------------------- What is to do --
 */

/* The lock is held: the device whose first item is the oldest of those that the boost (or idle time)
 * may begin now. */
static struct bf_background *oldest(bool boost)
{
    struct bf_background *found = NULL;
    for (struct bf_background *b = bf_pool.devices; b; b = b->next) {
        if (!b->first || b->unprepared || (b->first->number <= b->hastened) != boost)
            continue;
        if (!found || b->first->arrival < found->first->arrival)
            found = b;
    }
    return found;
}

static uint32_t idle_limit(void)
{
    uint32_t limit = BF_TASKS_MOST;
    for (struct bf_background *b = bf_pool.devices; b; b = b->next) {
        if (b->info.tasks < limit)
            limit = b->info.tasks;
    }
    return limit;
}

/* The lock is held, and let go where a thread has to be made. NULL: all that may be are taken, or
 * there is no thread to be had (*none). */
static struct bf_slot *slot_find(struct bf_crew *crew, bool boost, bool *none)
{
    struct bf_slot *slots = boost ? &crew->slots[BF_TASKS_MOST] : crew->slots;
    uint32_t limit = boost ? crew->boost_limit : idle_limit();
    uint32_t taken = 0;
    struct bf_slot *rest = NULL, *empty = NULL;
    for (uint32_t i = 0; i < (boost ? BF_BOOST_MOST : BF_TASKS_MOST); i++) {
        taken += slots[i].owner != NULL;
        uint32_t state = atomic_load(&slots[i].state);
        if (state == BF_SLOT_REST && !rest)
            rest = &slots[i];
        if (state == BF_SLOT_NONE && !empty)
            empty = &slots[i];
    }
    if (taken >= limit)
        return NULL;
    if (rest || !empty)
        return rest;
    if (spawn(crew, empty))
        return empty;
    *none = true;
    return NULL;
}

/* The lock is held. */
static void give(struct bf_slot *slot, struct bf_background *b, struct bf_task *task)
{
    slot->owner = b;
    slot->task = task;
    slot->traced = task && b->info.trace;
    slot->begin_told = false;
    b->running++;
    atomic_store(&slot->begun, false);
    atomic_store(&slot->state, BF_SLOT_BUSY);
    bf_futex_wake(&slot->state, 1);
}

/* The lock is held. One step; false: nothing can be begun now. */
static bool begin_one(struct bf_crew *crew, bool *none)
{
    for (struct bf_background *b = bf_pool.devices; b; b = b->next) {
        if (!b->first || !b->unprepared || b->preparing)
            continue;
        b->preparing = true;
        b->running++; /* it stays while a thread is made */
        struct bf_slot *slot = slot_find(crew, true, none);
        if (slot)
            give(slot, b, NULL);
        else
            b->preparing = false;
        bf_background_leave(b);
        return slot != NULL;
    }
    for (int boost = 1; boost >= 0; boost--) {
        if (!oldest(boost))
            continue;
        struct bf_slot *slot = slot_find(crew, boost, none);
        struct bf_background *b = oldest(boost); /* the lock was let go */
        if (!slot || !b)
            continue;
        give(slot, b, bf_background_take(b));
        return true;
    }
    return false;
}

/* The lock is held. */
static bool anything_to_begin(const char **proc)
{
    for (struct bf_background *b = bf_pool.devices; b; b = b->next) {
        if (b->first) {
            *proc = b->info.proc;
            return true;
        }
    }
    return false;
}

static bool collect_all(void)
{
    bool any = false;
    for (struct bf_background *b = bf_pool.devices; b; b = b->next)
        any |= bf_background_collect(b, 0, 0);
    return any;
}

/* ---------------------------------------------------------------------------------------- Keeper --
 */

static bool is_busy(const struct bf_crew *crew)
{
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        if (crew->slots[i].owner)
            return true;
    }
    return false;
}

/* The lock is held, and let go when it returns true: look at everything again. Else the keeper may
 * sleep until *until_ns (0: for ever). */
static bool look(struct bf_crew *crew, uint64_t *until_ns)
{
    const char *proc = NULL;
    bool none = false;
    *until_ns = 0;
    if (look_at_slots(crew))
        return true;
    if (crew->quit || atomic_load(&bf_pool.crew) != crew)
        return false; /* the pool's no more, or not yet */
    collect_all();
    bool wanted = anything_to_begin(&proc);
    if (wanted) {
        uint64_t now = bf_now_ns();
        if (!crew->pressure.read_ns || now - crew->pressure.read_ns >= BF_PRESSURE_NS) {
            bf_lock_release(&bf_pool.lock);
            bf_pressure_read(&crew->pressure, proc, now);
            bf_lock_acquire(&bf_pool.lock);
            return true;
        }
        if (crew->pressure.high) {
            *until_ns = crew->pressure.read_ns + BF_PRESSURE_NS;
            return false;
        }
        if (begin_one(crew, &none))
            return true;
        if (none)
            *until_ns = now + SPAWN_RETRY_NS;
    }
    uint32_t taken = 0;
    for (uint32_t i = 0; i < BF_TASKS_MOST; i++)
        taken += crew->slots[i].owner != NULL;
    if (taken >= idle_limit())
        return false;
    atomic_store(&crew->hungry, true);
    return collect_all();
}

static void end_workers(struct bf_crew *crew)
{
    for (uint32_t i = 0; i < BF_TASKS_MOST + BF_BOOST_MOST; i++) {
        struct bf_slot *slot = &crew->slots[i];
        if (atomic_load(&slot->state) == BF_SLOT_NONE)
            continue;
        atomic_store(&slot->state, BF_SLOT_QUIT);
        bf_futex_wake(&slot->state, 1);
        pthread_join(slot->thread, NULL);
    }
}

static void *keep(void *argument)
{
    struct bf_crew *crew = argument;
    bf_thread_make_normal();
    bf_lock_acquire(&bf_pool.lock);
    for (;;) {
        uint32_t turn = atomic_load(&crew->turn);
        uint64_t until_ns;
        if (look(crew, &until_ns))
            continue;
        if (crew->quit && !is_busy(crew))
            break;
        bf_lock_release(&bf_pool.lock);
        struct timespec until = bf_timespec(until_ns);
        atomic_store(&crew->asleep, true);
        bf_futex_wait(&crew->turn, turn, until_ns ? &until : NULL);
        atomic_store(&crew->asleep, false);
        bf_lock_acquire(&bf_pool.lock);
    }
    bool owns_itself = crew->owns_itself;
    bf_lock_release(&bf_pool.lock);
    end_workers(crew);
    if (owns_itself)
        free(crew);
    return NULL;
}

/* One core is the program's; a boost that isn't several threads is none. */
static uint32_t boost_limit(void)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof(cores), &cores) ? 1 : CPU_COUNT(&cores);
    return count <= 3 ? 2 : count > BF_BOOST_MOST ? BF_BOOST_MOST : (uint32_t)count - 1;
}

VkResult bf_crew_ensure(void)
{
    if (atomic_load(&bf_pool.crew))
        return VK_SUCCESS;
    struct bf_crew *crew = calloc(1, sizeof(*crew));
    if (!crew)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    crew->boost_limit = boost_limit();
    if (thread_create(&crew->keeper, keep, crew, "bf-keeper")) {
        free(crew);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    bf_lock_acquire(&bf_pool.lock);
    bool first = !atomic_load(&bf_pool.crew);
    if (first)
        atomic_store(&bf_pool.crew, crew);
    else
        crew->quit = true; /* another thread was faster */
    bf_lock_release(&bf_pool.lock);
    if (first)
        bf_crew_ring(crew);
    else
        bf_crew_end(crew);
    return VK_SUCCESS;
}

void bf_crew_end(struct bf_crew *crew)
{
    bf_lock_acquire(&bf_pool.lock);
    bool own = current && current->crew == crew;
    crew->owns_itself = own;
    pthread_t keeper = crew->keeper;
    if (own)
        pthread_detach(keeper); /* it waits for the item that has called this */
    bf_lock_release(&bf_pool.lock);
    bf_crew_ring(crew);
    if (own)
        return;
    pthread_join(keeper, NULL);
    free(crew);
}

/* ----------------------------------------------------------------------------------------- Forks --
 */

/* In the child, which has one thread: CR-5. */
static void forget(void)
{
    uint32_t generation = bf_pool.generation + 1;
    memset(&bf_pool, 0, sizeof(bf_pool));
    bf_pool.generation = generation;
    bf_pool.forks_handled = true;
    current = NULL;
}

void bf_pool_handle_forks(void)
{
    bf_lock_acquire(&bf_pool.lock);
    /* Without memory for it a child is as it would be without this. */
    if (!bf_pool.forks_handled)
        bf_pool.forks_handled = !pthread_atfork(NULL, NULL, forget);
    bf_lock_release(&bf_pool.lock);
}
