/* SPDX-License-Identifier: MIT */
/* No push is missed (CR-1): the dispatcher is made to see one right after each of its looks into
 * the inbox, the moment at which it could be. And no idle thread takes the process's lock (BG-7):
 * here it is taken. */
#include "helper.h"

#include "background/internal.h"

/* A pool that is made for one item looks four times before it sleeps. */
#define LOOKS 4

static struct bf_background *watched;
static pthread_t program;
static _Atomic uint32_t countdown;
static struct item *pushed;

bool __real_bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear);
bool __wrap_bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear);

bool __wrap_bf_background_collect(struct bf_background *b, uintptr_t set, uintptr_t clear)
{
    bool any = __real_bf_background_collect(b, set, clear);
    if (b == watched && !pthread_equal(pthread_self(), program) && atomic_load(&countdown) &&
        atomic_fetch_sub(&countdown, 1) == 1)
        bf_background_queue(b, item_run, item_cancel, pushed); /* the lock is held: none is taken */
    return any;
}

TEST(a_push_right_after_any_look_is_seen)
{
    for (uint32_t look = 1; look <= LOOKS; look++) {
        struct story s = STORY;
        struct gate gate = CLOSED;
        /* While the first item stands, nothing else wakes the dispatcher. */
        struct item first = {.story = &s, .number = 0, .gate = &gate};
        struct item second = {.story = &s, .number = 1};
        struct bf_background *b = make();
        program = pthread_self();
        watched = b;
        pushed = &second;
        atomic_store(&countdown, look);
        queue(b, &first);
        story_await(&s, 1, ENDED);
        assert_int_equal(story_count(&s, 0, ENDED), 0);
        gate_open(&gate);
        bf_background_destroy(b);
        watched = NULL;
    }
}

static void queue_more(struct item *item)
{
    struct item *more = item->data;
    for (uint32_t i = 0; i < 3; i++)
        bf_background_queue(watched, item_run, item_cancel, &more[i]);
}

TEST(idle_threads_begin_queue_and_end_without_the_pools_lock)
{
    struct story s = STORY;
    struct gate gate = CLOSED;
    struct bf_background *b = make();
    struct item more[3];
    for (int i = 0; i < 3; i++)
        more[i] = (struct item){.story = &s, .number = 10 + i};
    struct item first = {.story = &s, .number = 0, .gate = &gate, .run = queue_more, .data = more};
    program = pthread_self();
    watched = b;
    queue(b, &first);
    story_await(&s, 0, BEGAN);
    bf_lock_acquire(&bf_background_process.lock);
    struct bf_slot *slot = atomic_load(&bf_background_process.workers)->slots;
    while (slot->owner != b)
        slot++;
    gate_open(&gate);
    while (atomic_load(&slot->state) != BF_SLOT_DONE) /* all that the worker does of itself */
        sched_yield();
    bf_lock_release(&bf_background_process.lock);
    for (int i = 0; i < 3; i++)
        story_await(&s, 10 + i, ENDED);
    bf_background_destroy(b);
    watched = NULL;
}
