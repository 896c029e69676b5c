/* SPDX-License-Identifier: MIT */
/* Command queues that are suspended, and resumed. */
#include "scheduler/suspension.h"

#include "scheduler/command_queue.h"
#include "scheduler/engine.h"

static bool suspension_change(struct bf_command_queue *queue, bool suspend)
{
    struct bf_engine *engine = queue->base.engine;
    bf_engine_enter(engine);
    uint32_t count = atomic_load(&queue->base.suspended);
    bool can = suspend ? count < UINT32_MAX : count > 0;
    if (can)
        atomic_store(&queue->base.suspended, suspend ? count + 1 : count - 1);
    if (can && suspend) {
        queue->base.held_ns = 0; /* by a window: it isn't overdue, nor told to be held so */
        atomic_store(&queue->base.windowed, false);
        bf_signpost_announce(&engine->progress); /* who waits for acceptance goes on */
    } else if (can && count == 1) {
        atomic_store(&engine->dirty, 1);
    }
    bf_engine_leave(engine, 0);
    return can;
}

bool bf_suspension_begin(struct bf_command_queue *queue)
{
    return suspension_change(queue, true);
}

bool bf_suspension_end(struct bf_command_queue *queue)
{
    return suspension_change(queue, false);
}
