/* SPDX-License-Identifier: MIT */
/* The setting 'realtime' on the test driver, which permits that priority or not: a VkQueue that no
 * queue of the program is on, and that is in nobody's way. */
#include "support/world.h"

#include "scheduler/scheduler.h"
#include "support/lines.h"

static const uint32_t one[] = {2, WORLD_END};

/* The one engine that is reserved, or NULL. */
static const struct bf_engine *reserved(struct device *w)
{
    const struct bf_scheduler *scheduler = ((struct bf_queue *)w->queues[0][0])->scheduler;
    const struct bf_engine *found = NULL;
    for (uint32_t i = 0; i < scheduler->engine_count; i++) {
        if (!scheduler->engines[i].base.reserved) {
            assert_int_equal(scheduler->engines[i].base.global_priority, 0);
            continue;
        }
        assert_null(found);
        found = &scheduler->engines[i];
        assert_int_equal(found->base.global_priority, VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR);
        assert_int_equal(found->queue_count, 0);
        assert_non_null(found->base.handle);
    }
    return found;
}

static uint32_t open_world(struct device *w, const char *environment, const uint32_t *counts)
{
    char line[512];
    setenv("VK_BELFRY_MULTI_ENGINE_REALTIME", "on", 1);
    lines_begin();
    world_open(w, environment, counts);
    uint32_t lines = lines_end(line, sizeof(line));
    if (lines)
        assert_non_null(strstr(line, "realtime"));
    unsetenv("VK_BELFRY_MULTI_ENGINE_REALTIME");
    return lines;
}

/* The program's own work, in whichever world. */
static void run(struct device *w)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    assert_submitted(w->queues[0][0], .wait = t, .wait_value = 1,
                     .commands = device_store(w, 0, 0, 7), .signal = t, .signal_value = 2);
    assert_submitted(w->queues[0][1], .signal = t, .signal_value = 1);
    vulkan_wait(w->device, t, 2);
    assert_int_equal(w->words[0], 7);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

TEST(test_permitted)
{
    static const struct {
        const char *shape;
        uint32_t family;
    } cases[] = {{"SHAPE=nvidia REALTIME=1", 2},
                 {"SHAPE=radv REALTIME=1", 1},
                 {"SHAPE=intel REALTIME=1", 1}};
    for (size_t i = 0; i < 3; i++) {
        struct device w;
        assert_int_equal(open_world(&w, cases[i].shape, one), 0);
        const struct bf_engine *engine = reserved(&w);
        assert_non_null(engine);
        assert_int_equal(engine->base.family, cases[i].family);
        assert_int_equal(engine->base.index, 0);
        run(&w);
        world_close(&w);
    }
}

TEST(test_not_permitted)
{
    struct device w;
    assert_int_equal(open_world(&w, "SHAPE=radv", one), 1);
    assert_null(reserved(&w));
    run(&w);
    world_close(&w);
}

TEST(test_no_family_to_spare)
{
    static const uint32_t all[] = {2, 1, WORLD_END};
    static const struct {
        const char *shape;
        const uint32_t *counts;
    } cases[] = {{"SHAPE=lavapipe REALTIME=1", one}, {"SHAPE=radv REALTIME=1", all}};
    for (size_t i = 0; i < 2; i++) {
        struct device w;
        assert_int_equal(open_world(&w, cases[i].shape, cases[i].counts), 1);
        assert_null(reserved(&w));
        run(&w);
        world_close(&w);
    }
}

DEVICE_TEST(test_off, "SHAPE=radv REALTIME=1", one)
{
    assert_null(reserved(w));
}

/* A lost device looks at every engine, those without queues too. */
TEST(test_lost)
{
    struct device w;
    assert_int_equal(open_world(&w, "SHAPE=radv REALTIME=1", one), 0);
    assert_non_null(reserved(&w));
    VkSemaphore t = vulkan_timeline(w.device, 0);
    assert_submitted(w.queues[0][0], .wait = t, .wait_value = 1);
    VkCommandBuffer commands = device_store(&w, 0, 0, 1);
    lines_begin();
    w.icd.lose();
    assert_int_equal(vulkan_submit(w.queues[0][1], (struct vulkan_batch){.commands = commands}),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkDeviceWaitIdle(w.device), VK_ERROR_DEVICE_LOST);
    assert_int_equal(lines_end(NULL, 0), 1);
    vkDestroySemaphore(w.device, t, NULL);
    world_close(&w);
}
