/* SPDX-License-Identifier: MIT */
/* When an engine counts as hung, look by look: the moments are the test's, so looks may be as late
 * as a busy machine makes them. */
#include "support/fixture.h"

#include "device/device.h"
#include "queue/command_queue.h"
#include "scheduler/engine.h"
#include "scheduler/scheduler.h"
#include "standstill/tdr.h"

#define DELAY_MS 1000
#define SECOND   UINT64_C(1000000000)

struct looks {
    struct fixture f;
    struct bf_device *device;
    struct bf_engine *engine; /* the command queue's */
    struct bf_tdr *tdr;
    struct bf_standstill_engine *engines; /* what the watchdog has seen */
};

/* Its own watchdog looks once in ten minutes. */
static void looks_open(struct looks *l, const char *setting)
{
    static const struct bf_tdr_info info = {.level = 3,
                                            .delay_ms = DELAY_MS,
                                            .ddi_ms = 100,
                                            .limit_ms = 1,
                                            .limit = 1,
                                            .debug_mode = 3};
    fixture_open(&l->f, SETTINGS(setting));
    l->device = (struct bf_device *)l->f.bf;
    struct bf_scheduler *scheduler = bf_device_scheduler(l->device);
    BfCommandQueue queue = make_queue(&l->f, BF_COMMAND_LIST_TYPE_DIRECT);
    l->engine = bf_command_queue_from_handle(queue, __func__)->base.engine;
    l->engines = calloc(scheduler->engine_count, sizeof(*l->engines));
    l->tdr = bf_tdr_create(scheduler, &info);
    assert_true(l->engines && l->tdr);
    l->f.icd.pause();
}

static void looks_close(struct looks *l)
{
    l->f.icd.resume();
    bf_tdr_destroy(l->tdr);
    free(l->engines);
    fixture_close(&l->f);
}

#define WATCHDOG "VK_BELFRY_MULTI_ENGINE_WATCHDOG=600000"

static void work(struct looks *l)
{
    execute(l->f.made_queues[0], write_word(&l->f, l->f.made_queues[0], 0, 1));
}

/* The watchdog's look at that moment. */
static void look(struct looks *l, uint64_t now_ns)
{
    const struct bf_scheduler *scheduler = bf_device_scheduler(l->device);
    const struct bf_standstill_check check = bf_tdr_check(l->tdr);
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        struct bf_gpu_engine *base = &scheduler->engines[i].base;
        if (base->epoch)
            assert_success(bf_gpu_engine_completed_epoch(base, &l->engines[i].completed));
        l->engines[i].busy = atomic_load(&base->accepted_epoch) > l->engines[i].completed;
    }
    check.look(check.context, bf_device_standstill(l->device), l->engines, now_ns);
}

static bool is_fed(const struct looks *l)
{
    return !atomic_load(&l->engine->unfed);
}

static bool is_lost(const struct looks *l)
{
    return bf_scheduler_is_lost(bf_device_scheduler(l->device));
}

/* TD-4 */
TEST_AROUND(an_engine_is_asked_first_however_late_the_look, struct looks, l, looks_open,
            looks_close, WATCHDOG)
{
    uint64_t now = SECOND;
    work(l);
    look(l, now);
    assert_true(is_fed(l));
    look(l, now += SECOND / 2 - 1);
    assert_true(is_fed(l));
    look(l, now += 100 * SECOND); /* the process had no processor */
    assert_false(is_fed(l) || is_lost(l));
    look(l, now += SECOND / 2 - 1);
    assert_false(is_fed(l) || is_lost(l));
    look(l, now + 1);
    assert_true(is_lost(l));
}

/* TD-2: the clock begins anew, and what has been asked is fed again. */
TEST_AROUND(an_engine_that_gets_on_is_fed, struct looks, l, looks_open, looks_close, WATCHDOG)
{
    uint64_t now = SECOND;
    work(l);
    work(l);
    for (int i = 0; i < 2; i++) {
        look(l, now += SECOND);
        assert_true(is_fed(l));
        look(l, now += SECOND);
        assert_false(is_fed(l) || is_lost(l));
        assert_true(l->f.icd.step(0, 0));
        l->f.icd.quiesce();
    }
    look(l, now + 1);
    assert_true(is_fed(l));
    assert_false(is_lost(l));
}

/* SS-4: what has been held goes then, and it isn't the watchdog's thread that the driver stops. */
TEST_AROUND(feeding_stops_nobody, struct looks, l, looks_open, looks_close, WATCHDOG)
{
    uint64_t now = SECOND;
    work(l);
    look(l, now += SECOND);
    look(l, now += SECOND);
    assert_false(is_fed(l));
    work(l); /* held */
    l->f.icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    assert_true(l->f.icd.step(0, 0));
    l->f.icd.quiesce();
    look(l, now + 1);
    assert_true(is_fed(l));
    l->f.icd.await_blocked(1);
    l->f.icd.set_block(NULL);
    l->f.icd.release(UINT64_MAX);
    l->f.icd.resume();
    await_idle(l->f.made_queues[0]);
}

/* TD-1: nothing runs, so nothing is late. */
TEST_AROUND(an_idle_engine_is_fed, struct looks, l, looks_open, looks_close, WATCHDOG)
{
    for (uint64_t now = SECOND; now < 1000 * SECOND; now *= 10) {
        look(l, now);
        assert_true(is_fed(l));
    }
    assert_false(is_lost(l));
}

/* TD-4, off: the whole time has passed, and nobody was asked. */
TEST_AROUND(without_preemption_the_whole_time_is_enough, struct looks, l, looks_open, looks_close,
            WATCHDOG " VK_BELFRY_MULTI_ENGINE_PREEMPTION=off")
{
    work(l);
    look(l, SECOND);
    look(l, 2 * SECOND - 1);
    assert_true(is_fed(l));
    assert_false(is_lost(l));
    look(l, 2 * SECOND);
    assert_true(is_lost(l));
}

/* TD-3: however many stand behind what hangs. */
TEST_AROUND(a_hang_with_many_behind_it_is_one, struct looks, l, looks_open, looks_close, WATCHDOG)
{
    uint64_t now = SECOND;
    for (uint32_t i = 0; i < BF_WITNESSES + 10; i++)
        work(l);
    look(l, now);
    look(l, now += SECOND / 2);
    assert_false(is_fed(l) || is_lost(l));
    look(l, now + SECOND / 2);
    assert_true(is_lost(l));
}

/* TD-1: nor is the clock wrong about who may be waited for, however many stand behind that. */
TEST_AROUND(who_waits_for_another_engine_is_no_hang, struct looks, l, looks_open, looks_close,
            WATCHDOG)
{
    uint64_t now = SECOND;
    struct fixture *f = &l->f;
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .type = BF_COMMAND_LIST_TYPE_COMPUTE,
                                           .flags = BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT};
    BfCommandQueue slow;
    assert_success(bfCreateCommandQueue(f->bf, &info, &slow));
    f->made_queues[f->queue_count++] = slow;
    BfFence fence = make_fence(f, 0);
    execute(slow, write_word(f, slow, 1, 1));
    queue_signal(slow, fence, 1);
    queue_wait(f->made_queues[0], fence, 1);
    work(l);
    for (uint32_t i = 0; i < BF_WITNESSES + 10; i++)
        execute(slow, write_word(f, slow, 1, 1));
    look(l, now);
    look(l, now += SECOND);
    look(l, now + SECOND);
    assert_false(is_lost(l));
}

/* TD-1: what a VkQueue was given by the program itself has no timeout, nor has what stands behind
 * it. */
TEST_AROUND(work_behind_a_vkqueues_own_is_no_hang, struct looks, l, looks_open, looks_close,
            WATCHDOG)
{
    uint64_t now = SECOND;
    struct fixture *f = &l->f;
    const VkCommandBufferSubmitInfo own = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                           .commandBuffer = write_word(f, f->made_queues[0], 1, 1)};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 1,
                                .pCommandBufferInfos = &own};
    assert_success(bfLockVkQueue(f->bf, f->queues[0][0]));
    assert_success(vkQueueSubmit2(f->queues[0][0], 1, &info, VK_NULL_HANDLE));
    assert_success(bfUnlockVkQueue(f->bf, f->queues[0][0]));
    work(l);
    look(l, now);
    look(l, now += SECOND);
    look(l, now += SECOND);
    assert_false(is_lost(l));
    l->f.icd.resume();
    l->f.icd.quiesce();
    l->f.icd.pause();
    work(l); /* of this all is known again */
    look(l, now);
    look(l, now += SECOND / 2);
    look(l, now + SECOND / 2);
    assert_true(is_lost(l));
}

int main(int argc, char **argv)
{
    return fixture_main(argc, argv);
}
