/* SPDX-License-Identifier: MIT */
/* Background processing through the public header, on devices of either way in: settings, handles,
 * and destruction by the device's own end. */
#include "support/fixture.h"

#include <belfry/background.h>

#include "support/lines.h"

/* The environment is read when the instance is made, or the device attached. */
static void open_for_developers(struct fixture *f)
{
    setenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE", "on", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS", "3", 1);
    fixture_open(f, NULL);
    unsetenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE");
    unsetenv("VK_BELFRY_MULTI_ENGINE_BACKGROUND_TASKS");
}

struct work {
    BfDevice device;
    _Atomic uint32_t run, cancelled;
    _Atomic uint32_t queued; /* by items */
    _Atomic uint32_t gate;   /* a callback ends when it isn't 0 */
};

static void run(void *context)
{
    struct work *w = context;
    while (!atomic_load(&w->gate))
        sched_yield();
    atomic_fetch_add(&w->run, 1);
}

static void cancel(void *context)
{
    struct work *w = context;
    atomic_fetch_add(&w->cancelled, 1);
    atomic_store(&w->gate, 1);
}

static void run_and_queue(void *context)
{
    struct work *w = context;
    while (!atomic_load(&w->gate))
        sched_yield();
    /* The handle is good as long as items run. */
    if (bfQueueProcessingWork(w->device, run, cancel, w) == VK_SUCCESS) {
        atomic_fetch_add(&w->run, 1);
        atomic_fetch_add(&w->queued, 1);
    }
}

TEST(settings_reach_the_device)
{
    struct fixture f;
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    fixture_open(&f, NULL);
    assert_success(bfGetBackgroundProcessingProperties(f.bf, &properties));
    /* The layer brings a driver of its own, the specialiser; a device without it has none so
     * far. */
    assert_int_equal(properties.backgroundProcessingSupported, f.layered);
    assert_false(properties.developerMode);
    assert_int_equal(properties.backgroundTasks, 2);
    lines_begin();
    VkResult result =
        bfSetBackgroundProcessingMode(f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_BACKGROUND_WORK,
                                      BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL);
    char line[512];
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_int_equal(result, VK_ERROR_NOT_PERMITTED_KHR);
    assert_non_null(strstr(line, "bfSetBackgroundProcessingMode"));
    assert_non_null(strstr(line, "developer_mode"));
    fixture_close(&f);
    open_for_developers(&f);
    assert_success(bfGetBackgroundProcessingProperties(f.bf, &properties));
    assert_true(properties.developerMode);
    assert_int_equal(properties.backgroundTasks, 3);
    fixture_close(&f);
}

TEST_AROUND(items_run_and_commits_end, struct fixture, f, open_for_developers, fixture_close)
{
    struct work w = {.device = f->bf, .gate = 1};
    BfEvent event = make_event(f);
    VkBool32 further = 2;
    for (int i = 0; i < 5; i++)
        assert_success(bfQueueProcessingWork(f->bf, run, cancel, &w));
    assert_success(bfSetBackgroundProcessingMode(
        f->bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, &further));
    assert_true(further == VK_TRUE || further == VK_FALSE);
    await_event(event);
    assert_int_equal(w.run, 5);
    assert_success(bfQueueProcessingWork(f->bf, run, cancel, &w));
    assert_int_equal(w.cancelled, 1);
}

TEST(ending_the_device_cancels_and_waits)
{
    struct fixture f;
    open_for_developers(&f);
    struct work w = {.device = f.bf};
    for (int i = 0; i < 3; i++)
        assert_success(bfQueueProcessingWork(f.bf, run_and_queue, NULL, &w));
    for (int i = 0; i < 10; i++)
        assert_success(bfQueueProcessingWork(f.bf, run, cancel, &w));
    fixture_close(&f); /* the first cancel lets the others go on */
    /* Each of the first three that began has queued one more, which was cancelled or had run: once,
     * as all. */
    assert_int_equal(w.run + w.cancelled, 10 + 2 * w.queued);
    assert_true(w.cancelled >= 7);
}

TEST(bad_handles_are_refused)
{
    struct fixture f;
    BfBackgroundProcessingProperties properties = {BF_TYPE(BACKGROUND_PROCESSING_PROPERTIES)};
    const BfBackgroundDriver driver = {BF_TYPE(BACKGROUND_DRIVER)};
    struct work w = {.gate = 1};
    fixture_open(&f, NULL);
    BfDevice bad[] = {NULL, (BfDevice)&f, (BfDevice)make_event(&f)};
    for (int i = 0; i < 3; i++) {
        lines_begin();
        VkResult results[] = {
            bfQueueProcessingWork(bad[i], run, cancel, &w),
            bfSetBackgroundProcessingMode(bad[i], BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
                                          BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL),
            bfGetBackgroundProcessingProperties(bad[i], &properties),
            bfAddBackgroundDriver(bad[i], &driver),
        };
        char line[512];
        assert_int_equal(lines_end(line, sizeof(line)), 4);
        for (int k = 0; k < 4; k++)
            assert_int_equal(results[k], VK_ERROR_VALIDATION_FAILED_EXT);
    }
    assert_bad_input(bfGetBackgroundProcessingProperties(f.bf, NULL));
    assert_bad_input(bfAddBackgroundDriver(f.bf, NULL));
    assert_bad_input(bfQueueProcessingWork(f.bf, NULL, cancel, &w));
    assert_int_equal(w.run + w.cancelled, 0);
    BfDevice gone = f.bf;
    fixture_close(&f);
    assert_bad_input(bfQueueProcessingWork(gone, run, cancel, &w));
}
