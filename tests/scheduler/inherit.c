/* SPDX-License-Identifier: MIT */
/* Priority inheritance (scheduler/inherit.h) alone, where there is more to follow than fits at
 * once. */
#include "support/test.h"

#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/inherit.h"
#include "scheduler/scheduler.h"

#define MANY 200 /* waits */

/* A high queue whose one packet waits for MANY semaphores. The packets of three low queues signal
 * them: semaphore i is signalled by the queue i % 3. The last packet of each waits for a semaphore
 * of its own, which the last queue signals. */
#define SIGNALLERS 3

struct world {
    struct bf_scheduler scheduler;
    struct bf_engine engine;
    struct bf_queue queues[SIGNALLERS + 2];
    struct bf_semaphore semaphores[MANY + SIGNALLERS];
    struct bf_sync waits[MANY], own_waits[SIGNALLERS], signals[MANY + SIGNALLERS];
    struct bf_packet waiter, packets[MANY + SIGNALLERS];
};

static void append(struct bf_queue *queue, struct bf_packet *packet)
{
    if (queue->tail)
        queue->tail->next = packet;
    else
        queue->head = packet;
    queue->tail = packet;
}

static void world_begin(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->scheduler.queues = w->queues;
    w->scheduler.queue_count = SIGNALLERS + 2;
    w->engine.scheduler = &w->scheduler;
    for (int i = 0; i < SIGNALLERS + 2; i++) {
        w->queues[i].scheduler = &w->scheduler;
        w->queues[i].engine = &w->engine;
        w->queues[i].level = i ? BF_LEVEL_LOW : BF_LEVEL_HIGH;
    }
    for (uint32_t i = 0; i < MANY + SIGNALLERS; i++) {
        struct bf_packet *packet = &w->packets[i];
        w->signals[i] = (struct bf_sync){.sem = &w->semaphores[i], .target = 1};
        w->semaphores[i].timeline = true;
        *packet = (struct bf_packet){
            .kind = BF_PACKET_EXECUTE, .signal_count = 1, .signals = &w->signals[i]};
        append(&w->queues[1 + (i < MANY ? i % SIGNALLERS : SIGNALLERS)], packet);
        if (i >= MANY) {
            struct bf_packet *last = w->queues[1 + i - MANY].tail;
            w->own_waits[i - MANY] = (struct bf_sync){.sem = &w->semaphores[i], .target = 1};
            last->waits = &w->own_waits[i - MANY];
            last->wait_count = 1;
        }
    }
    for (uint32_t i = 0; i < MANY; i++)
        w->waits[i] = (struct bf_sync){.sem = &w->semaphores[i], .target = 1};
    w->waiter =
        (struct bf_packet){.kind = BF_PACKET_EXECUTE, .wait_count = MANY, .waits = w->waits};
    append(&w->queues[0], &w->waiter);
}

/* IH-1: however many they are, and what those wait for as well. */
TEST(all_waits_of_a_packet_are_followed)
{
    struct world *w = malloc(sizeof(*w));
    uint64_t engines = 0;
    assert_non_null(w);
    world_begin(w);
    bf_inherit_from(&w->scheduler, &w->queues[0], &engines);
    assert_int_equal(engines, 1);
    for (uint32_t i = 0; i < MANY + SIGNALLERS; i++)
        assert_int_equal(w->packets[i].level, BF_LEVEL_HIGH);
    assert_int_equal(w->waiter.unsought, 0);
    free(w);
}
