/* SPDX-License-Identifier: MIT */
/* Command queues that are suspended, and resumed. */
#include "scheduler/suspension.h"

#include "scheduler/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"

bool bf_command_queue_suspend(struct bf_command_queue *queue, bool suspend)
{
    struct bf_queue *base = &queue->base;
    struct bf_engine *engine = base->engine;
    const enum bf_engine_entry entry = bf_engine_enter_beside(engine);
    if (entry == BF_ENGINE_LOST) /* nothing of it goes any more */
        return true;
    uint32_t count = atomic_load(&base->suspended);
    bool can = suspend ? count < UINT32_MAX : count > 0;
    if (can)
        atomic_store(&base->suspended, suspend ? count + 1 : count - 1);
    if (can && suspend) {
        /* What a window or a request has held is held by neither any more, nor overdue (PW-6). */
        base->held_ns = 0;
        atomic_store(&base->windowed, false);
        atomic_store(&base->preempted, false);
        bf_signpost_announce(&engine->progress); /* who waits for acceptance goes on */
    } else if (can && count == 1) {
        atomic_store(&engine->dirty, 1);
    }
    bf_engine_leave_beside(engine, entry);
    return can || bf_scheduler_is_lost(base->scheduler); /* which may have let it be uncounted */
}
