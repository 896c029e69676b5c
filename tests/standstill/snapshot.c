/* SPDX-License-Identifier: MIT */
/* What has moved since it was copied (standstill/snapshot.h). */
#include "support/fixture.h"

#include "device/device.h"
#include "scheduler/scheduler.h"
#include "standstill/snapshot.h"
#include "standstill/standstill.h"

/* Its own watchdog looks once in ten minutes. */
static void open_watched(struct fixture *f, const char *setting)
{
    struct environment saved;
    environment_set(&saved, setting);
    fixture_open(f, NULL);
    environment_restore(&saved);
}

/* A queue that waits, and waits for more once the first value has come; then it has nothing any
 * more. */
TEST_AROUND(what_has_gone_on_stands_no_more, struct fixture, f, open_watched, fixture_close,
            "VK_BELFRY_MULTI_ENGINE_WATCHDOG=600000")
{
    struct bf_device *device = (struct bf_device *)f->bf;
    struct bf_scheduler *scheduler = bf_device_scheduler(device);
    struct bf_names *names = bf_standstill_names(bf_device_standstill(device));
    struct bf_standstill_engine *engines = calloc(scheduler->engine_count, sizeof(*engines));
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_COMPUTE);
    BfFence fence = make_fence(f, 0);
    assert_non_null(engines);
    for (uint64_t value = 1; value <= 2; value++)
        queue_wait(queue, fence, value);
    for (uint64_t value = 1; value <= 2; value++) {
        struct bf_graph graph;
        uint32_t i = 0;
        assert_true(bf_snapshot_take(scheduler, names, engines, 1, &graph));
        while (i < graph.queue_count && graph.queues[i].state != BF_GRAPH_HELD)
            i++;
        assert_true(i < graph.queue_count);
        assert_int_equal(graph.queues[i].value, value);
        assert_true(bf_snapshot_stands(scheduler, &graph, i));
        cpu_signal(fence, value);
        assert_false(bf_snapshot_stands(scheduler, &graph, i));
        bf_snapshot_free(&graph);
    }
    await_idle(queue);
    free(engines);
}
