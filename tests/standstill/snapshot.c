/* SPDX-License-Identifier: MIT */
/* What has moved since it was copied (standstill/snapshot.h). */
#include "support/fixture.h"

#include "device/device.h"
#include "queue/command_queue.h"
#include "scheduler/scheduler.h"
#include "standstill/snapshot.h"

/* A queue that waits, and waits for more once the first value has come; then it has nothing any
 * more. (Copied by hand: without a watchdog, packets have no numbers.) */
FIXTURE_TEST(what_has_gone_on_stands_no_more)
{
    struct bf_scheduler *scheduler = bf_device_scheduler((struct bf_device *)f->bf);
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0);
    struct bf_queue *base = &bf_command_queue_from_handle(queue, __func__)->base;
    for (uint64_t value = 1; value <= 2; value++)
        queue_wait(queue, fence, value);
    for (uint64_t value = 1; value <= 2; value++) {
        struct bf_graph_queue node = {.key = base,
                                      .engine = base->engine->base.number,
                                      .state = BF_GRAPH_HELD,
                                      .waits = true,
                                      .value = value};
        const struct bf_graph graph = {.queue_count = 1, .queues = &node};
        assert_true(bf_snapshot_stands(scheduler, &graph, 0));
        cpu_signal(fence, value);
        assert_false(bf_snapshot_stands(scheduler, &graph, 0));
        node.state = BF_GRAPH_GOING; /* nothing was said of it */
        assert_true(bf_snapshot_stands(scheduler, &graph, 0));
    }
    await_idle(queue);
}
