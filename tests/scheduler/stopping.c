/* SPDX-License-Identifier: MIT */
/* A device that is being destroyed, and whose sleepers may pump still: they begin nothing that
 * nobody would end, and what has ended they may still be about to use. */
#include "support/fixture.h"

#include "device/device.h"
#include "queue/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"
#include "scheduler/semaphore.h"
#include "scheduler/waker.h"
#include "scheduler/watcher.h"

/* W-1, and bf_waker_ensure */
TEST_AROUND(what_is_stopping_begins_nothing, struct fixture, f, fixture_open, fixture_close, NULL)
{
    struct bf_scheduler *scheduler = bf_device_scheduler((struct bf_device *)f->bf);
    struct bf_engine *engines[2];
    for (int i = 0; i < 2; i++) {
        const BfCommandListType type =
            i ? BF_COMMAND_LIST_TYPE_COMPUTE : BF_COMMAND_LIST_TYPE_DIRECT;
        BfCommandQueue queue = make_queue(f, type);
        engines[i] = bf_command_queue_from_handle(queue, __func__)->base.engine;
        execute(queue, write_word(f, queue, 0, 1));
        await_idle(queue);
    }
    struct bf_semaphore *sem = bf_semaphore_create_unknown(make_timeline(f, 0));
    assert_non_null(sem);
    assert_ptr_not_equal(engines[0], engines[1]);
    assert_true(bf_waker_ensure(engines[0]));
    bf_scheduler_stop(scheduler);
    assert_false(bf_waker_ensure(engines[1]));
    assert_false(bf_watcher_start(scheduler, sem));
    assert_null(scheduler->watchers);
    (void)bf_waker_want(engines[0], 1, engines[1],
                        UINT64_MAX); /* who has seen it before it ended */
    bf_semaphore_release(sem);
}
