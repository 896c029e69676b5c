/*
 * The process' threads for background items, and the list of devices they serve.
 *
 * One keeper, of the priority of the thread that queued the first item: it takes items out of the
 * devices' inboxes, gives them to workers, and does for these whatever needs a lock (BG-7). Workers
 * for idle time, and others for the boost; each has a slot, through which an item comes and goes.
 * All are made when first needed, sleep when there is nothing to do, and are joined when the last
 * device goes.
 *
 *  CR-1  A push is seen: the keeper says that it is hungry, then looks into the inboxes once more,
 *        then sleeps; who pushes looks whether it is hungry thereafter. A keeper that could begin
 *        nothing isn't hungry, and looks when a worker has finished.
 *  CR-2  At most 'background_tasks' slots of idle workers are taken, whatever the devices.
 *  CR-3  Slots are given and freed by the keeper alone. A device that a slot names is alive: it
 *        counts as running until the keeper has done everything about the item.
 *  CR-4  A crew ends when the last device has gone, and is then no longer the pool's: a device made
 *        meanwhile gets a new one.
 *  CR-5  In the child of a fork the pool is as new: the parent's lock, list and threads are
 *        forgotten, and its devices are of another generation.
 *
 * The pool's lock is a leaf, held over memory and futex wakes only.
 */
#ifndef BELFRY_BACKGROUND_CREW_H
#define BELFRY_BACKGROUND_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "background/background.h"
#include "background/pressure.h"
#include "base/lock.h"

#define BF_TASKS_MOST 16
#define BF_BOOST_MOST 8

struct bf_task {
    struct bf_task *next;
    PFN_bfProcessingWork callback, cancel;
    void *context;
    uint64_t arrival; /* among the items of all devices; names it in traces */
    uint64_t number;  /* of its device, from 1, in the order of beginning */
};

enum bf_slot_state {
    BF_SLOT_NONE, /* there is no thread */
    BF_SLOT_REST,
    BF_SLOT_BUSY,
    BF_SLOT_DONE, /* the keeper's turn */
    BF_SLOT_QUIT,
};

struct bf_slot {
    _Atomic uint32_t state; /* a futex */
    _Atomic bool begun;     /* since it was given */
    bool boost;
    bool traced; /* begin and end are to be told as they happen */
    bool begin_told;
    struct bf_crew *crew;
    struct bf_background *owner; /* NULL: free */
    struct bf_task *task;        /* NULL and an owner: drivers are to be prepared */
    uint64_t begin_ns, end_ns;
    pthread_t thread;
};

struct bf_crew {
    pthread_t keeper;
    _Atomic uint32_t turn; /* the keeper's futex: counts rings */
    _Atomic bool asleep;
    _Atomic bool hungry;
    bool quit;        /* under the pool's lock */
    bool owns_itself; /* under the pool's lock: nobody will join the keeper */
    bool spawn_told;
    uint32_t boost_limit;
    struct bf_pressure pressure;                         /* the keeper's own */
    struct bf_slot slots[BF_TASKS_MOST + BF_BOOST_MOST]; /* of idle workers first */
};

struct bf_pool {
    struct bf_lock lock;
    struct bf_background *devices;
    _Atomic(struct bf_crew *) crew; /* NULL: no item was ever queued */
    _Atomic uint64_t arrivals;
    uint32_t generation;
    bool forks_handled;
};
extern struct bf_pool bf_pool;

/* The slot of the calling thread; NULL for threads that are not the pool's workers. */
struct bf_slot *bf_slot_current(void);

/* There is a crew when it returns VK_SUCCESS. Errors: VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_crew_ensure(void);

/* The keeper looks at everything once more. NULL is allowed. */
void bf_crew_ring(struct bf_crew *crew);

/* An item was pushed (CR-1). */
static inline void bf_crew_pushed(struct bf_crew *crew)
{
    if (atomic_load(&crew->hungry) && atomic_exchange(&crew->hungry, false))
        bf_crew_ring(crew);
}

/* Ends a crew that is no longer the pool's, whose 'quit' is set. */
void bf_crew_end(struct bf_crew *crew);

/* Called once for the process, before its first device. */
void bf_pool_handle_forks(void);

#endif
