/* SPDX-License-Identifier: MIT */
/* Bad input: refused with VK_ERROR_VALIDATION_FAILED_EXT (or what a declaration says instead), told
 * in one line that names the call, and without effect. */
#include "support/fixture.h"

#include <math.h>
#include <unistd.h>

#include "support/lines.h"
#include "support/infos.h"

/* Calls that were not refused as they should be: all are shown, then the test fails. */
static uint32_t refused_wrongly;

static void check_refusal(const char *call, VkResult seen, VkResult expected, uint32_t lines,
                          uint32_t expected_lines, const char *line);

/* The call is refused with that result and so many lines, the last of which names it. */
#define assert_refused(result_, lines_, call_)                                                     \
    do {                                                                                           \
        char line_[512];                                                                           \
        lines_begin();                                                                             \
        VkResult seen_ = (call_);                                                                  \
        uint32_t n_ = lines_end(line_, sizeof(line_));                                             \
        check_refusal(#call_, seen_, result_, n_, lines_, line_);                                  \
    } while (0)
#define assert_bad(call_) assert_refused(VK_ERROR_VALIDATION_FAILED_EXT, 1, call_)

/* Does the line name the function that the call's text begins with? */
static bool names(const char *line, const char *call)
{
    char function[64];
    snprintf(function, sizeof(function), "%.*s", (int)strcspn(call, "("), call);
    return strstr(line, function) != NULL;
}

static void check_refusal(const char *call, VkResult seen, VkResult expected, uint32_t lines,
                          uint32_t expected_lines, const char *line)
{
    if (seen == expected && lines == expected_lines && (!lines || names(line, call)))
        return;
    print_error("%s: result %d, expected %d; %u lines, expected %u; %s\n", call, seen, expected,
                lines, expected_lines, line);
    refused_wrongly++;
}

/* For calls that return no VkResult: begun with lines_begin, said so many lines. */
static void said(const char *call, uint32_t expected)
{
    char line[512];
    uint32_t lines = lines_end(line, sizeof(line));
    check_refusal(call, VK_SUCCESS, VK_SUCCESS, lines, expected, line);
}

/* The call says so many lines. */
#define assert_says(lines_, call_)                                                                 \
    do {                                                                                           \
        lines_begin();                                                                             \
        call_;                                                                                     \
        said(#call_, lines_);                                                                      \
    } while (0)

static int all_was_refused(void **state)
{
    uint32_t n = refused_wrongly;
    refused_wrongly = 0;
    return n ? -1 : 0;
}

#define REFUSAL_TEST(name_) FIXTURE_TEST_WITH(name_, NULL, all_was_refused)

/* All handles of one kind that are no handles: a dead one, NULL, one of another kind, no
 * pointer. */
struct wrong_handles {
    void *list[4];
};

static struct wrong_handles wrong_handles(void *dead, void *other)
{
    return (struct wrong_handles){{NULL, dead, other, (void *)(uintptr_t)0x10}};
}

/* ----------------------------------------------------------------------------------- Handles -- */

REFUSAL_TEST(wrong_queues_are_refused)
{
    BfCommandQueue dead = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkCommandBuffer commands = write_word(f, dead, 0, 1);
    drop_queue(f, dead);
    BfFence fence = make_fence(f, 3);
    const struct wrong_handles wrong = wrong_handles(dead, fence);
    for (size_t i = 0; i < 4; i++) {
        BfCommandQueue queue = wrong.list[i];
        BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .nodeMask = 77};
        uint64_t a = 77, b = 77;
        assert_bad(bfQueueExecute(queue, 1, &commands));
        assert_bad(bfQueueSignal(queue, fence, 9));
        assert_bad(bfQueueWait(queue, fence, 9));
        assert_bad(bfQueueWaitIdle(queue));
        assert_bad(bfGetCommandQueueInfo(queue, &info));
        assert_bad(bfSetCommandQueuePriority(queue, BF_COMMAND_QUEUE_PRIORITY_NORMAL));
        assert_bad(bfGetCommandQueueTimestampFrequency(queue, &a));
        assert_bad(bfGetCommandQueueClockCalibration(queue, &a, &b));
        lines_begin();
        assert_int_equal(bfGetCommandQueueFamilyIndex(queue), UINT32_MAX);
        said("bfGetCommandQueueFamilyIndex", 1);
        assert_true(info.nodeMask == 77 && a == 77 && b == 77);
        if (queue)
            assert_says(1, bfDestroyCommandQueue(queue));
    }
    assert_says(0, bfDestroyCommandQueue(NULL));
    assert_value(fence, 3);
    assert_int_equal(read_word(f, 0), 0);
}

REFUSAL_TEST(wrong_fences_are_refused)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence dead = make_fence(f, 0), good = make_fence(f, 5);
    BfEvent event = make_event(f);
    VkSemaphore semaphore = make_timeline(f, 0);
    drop_fence(f, dead);
    const struct wrong_handles wrong = wrong_handles(dead, queue);
    for (size_t i = 0; i < 4; i++) {
        BfFence fence = wrong.list[i];
        const BfFence pair[2] = {good, fence};
        const uint64_t values[2] = {1, 1};
        assert_bad(bfQueueSignal(queue, fence, 1));
        assert_bad(bfQueueWait(queue, fence, 1));
        assert_bad(bfSignalFence(fence, 1));
        assert_bad(bfSetEventOnFenceCompletion(fence, 1, event));
        assert_bad(
            bfSetEventOnMultipleFenceCompletion(2, pair, values, BF_FENCE_WAIT_ANY_BIT, event));
        assert_bad(bfSetEventOnMultipleFenceCompletion(2, pair, values, BF_FENCE_WAIT_ALL, event));
        assert_bad(bfWaitFences(2, pair, values, BF_FENCE_WAIT_ANY_BIT, UINT64_MAX));
        assert_bad(bfWaitFences(2, pair, values, BF_FENCE_WAIT_ALL, UINT64_MAX));
        assert_bad(bfExportFenceToSemaphore(fence, semaphore));
        lines_begin();
        assert_int_equal(bfGetFenceCompletedValue(fence), UINT64_MAX);
        said("bfGetFenceCompletedValue", 1);
        assert_false(take_event(event));
        if (fence)
            assert_says(1, bfDestroyFence(fence));
    }
    assert_says(0, bfDestroyFence(NULL));
    await_idle(queue); /* nothing that was refused holds it */
}

REFUSAL_TEST(wrong_events_are_refused)
{
    BfFence fence = make_fence(f, 5);
    BfEvent dead = make_event(f), good = make_event(f);
    drop_event(f, dead);
    const struct wrong_handles wrong = wrong_handles(dead, fence);
    for (size_t i = 0; i < 4; i++) {
        BfEvent event = wrong.list[i];
        const BfEvent pair[2] = {good, event};
        const uint64_t value = 9;
        uint32_t index = 77;
        assert_bad(bfSetEvent(event));
        assert_bad(bfResetEvent(event));
        assert_bad(bfSetEventOnFenceCompletion(fence, 9, event));
        assert_bad(
            bfSetEventOnMultipleFenceCompletion(1, &fence, &value, BF_FENCE_WAIT_ALL, event));
        assert_bad(bfWaitForEvents(2, pair, VK_FALSE, UINT64_MAX, &index));
        assert_int_equal(index, 77);
        lines_begin();
        assert_int_equal(bfGetEventFd(event), -1);
        said("bfGetEventFd", 1);
        if (event)
            assert_says(1, bfDestroyEvent(event));
    }
    assert_says(0, bfDestroyEvent(NULL));
    cpu_signal(fence, 9);
    assert_false(take_event(good));
}

REFUSAL_TEST(wrong_devices_are_refused)
{
    BfFence fence = make_fence(f, 0);
    VkSemaphore semaphore = make_timeline(f, 0);
    BfCommandQueue queue = NULL;
    BfFence made = NULL;
    const BfCommandQueueCreateInfo queue_info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                 .type = BF_COMMAND_LIST_TYPE_DIRECT};
    const BfFenceCreateInfo fence_info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = 0};
    const struct wrong_handles wrong = wrong_handles(NULL, fence);
    for (size_t i = 0; i < 4; i++) {
        BfDevice device = wrong.list[i];
        BfDeviceCounters counters = {BF_TYPE(DEVICE_COUNTERS), .eventsSet = 77};
        assert_bad(bfCreateCommandQueue(device, &queue_info, &queue));
        assert_bad(bfCreateFence(device, &fence_info, &made));
        assert_bad(bfImportFenceFromSemaphore(device, semaphore, &made));
        assert_bad(bfGetDeviceCounters(device, &counters));
        assert_bad(bfGetDeviceRemovedReason(device, NULL));
        assert_bad(bfRemoveDevice(device));
        assert_bad(bfVkQueueSubmit(device, f->queues[0][0], 0, NULL, VK_NULL_HANDLE));
        assert_bad(bfLockVkQueue(device, f->queues[0][0]));
        assert_bad(bfUnlockVkQueue(device, f->queues[0][0]));
        assert_true(!queue && !made && counters.eventsSet == 77);
        if (device)
            assert_says(1, bfDetachDevice(device));
    }
    assert_says(0, bfDetachDevice(NULL));
}

TEST_WITH(objects_of_another_device_are_refused, NULL, all_was_refused)
{
    struct fixture f, g;
    fixture_open(&f, NULL);
    fixture_open(&g, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fence = make_fence(&f, 5), foreign = make_fence(&g, 5);
    BfEvent event = make_event(&f);
    const BfFence both[2] = {fence, foreign};
    const uint64_t values[2] = {1, 1};
    assert_bad(bfQueueSignal(queue, foreign, 9));
    assert_bad(bfQueueWait(queue, foreign, 9));
    assert_bad(bfSetEventOnMultipleFenceCompletion(2, both, values, BF_FENCE_WAIT_ANY_BIT, event));
    assert_bad(bfWaitFences(2, both, values, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_bad(bfVkQueueSubmit(f.bf, g.queues[0][0], 0, NULL, VK_NULL_HANDLE));
    assert_bad(bfLockVkQueue(f.bf, g.queues[0][0]));
    assert_value(foreign, 5);
    assert_false(take_event(event));
    /* Events are no device's. */
    set_event_on(foreign, 6, event);
    cpu_signal(foreign, 6);
    assert_true(take_event(event));
    await_idle(queue);
    fixture_close(&g);
    volkLoadInstance(f.instance);
    fixture_close(&f);
}

/* ------------------------------------------------------------------------ Values and structs -- */

REFUSAL_TEST(queues_out_of_range_are_refused)
{
#define QUEUE BF_TYPE(COMMAND_QUEUE_CREATE_INFO)
    const BfCommandQueueCreateInfo bad[] = {
        {QUEUE, .type = BF_COMMAND_LIST_TYPE_BUNDLE},
        {QUEUE, .type = (BfCommandListType)4},
        {QUEUE, .type = (BfCommandListType)-1},
        {QUEUE, .priority = (BfCommandQueuePriority)1},
        {QUEUE, .priority = (BfCommandQueuePriority)99},
        {QUEUE, .priority = (BfCommandQueuePriority)-100},
        {QUEUE, .priority = (BfCommandQueuePriority)10001},
        {QUEUE, .flags = 4},
        {QUEUE, .flags = 0xffffffff},
        {QUEUE, .nodeMask = 2},
        {QUEUE, .nodeMask = 3},
        {QUEUE, .nodeMask = 0xffffffff},
        {QUEUE, .pNext = f},
    };
#undef QUEUE
    BfCommandQueue queue = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_bad(bfCreateCommandQueue(f->bf, &bad[i], &queue));
        assert_null(queue);
    }
    const BfCommandQueueCreateInfo good = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .type = BF_COMMAND_LIST_TYPE_DIRECT,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    assert_bad(bfCreateCommandQueue(f->bf, NULL, &queue));
    assert_bad(bfCreateCommandQueue(f->bf, &good, NULL));
    assert_success(bfCreateCommandQueue(f->bf, &good, &queue));
    assert_bad(bfGetCommandQueueInfo(queue, NULL));
    assert_bad(bfSetCommandQueuePriority(queue, (BfCommandQueuePriority)50));
    assert_bad(bfSetCommandQueuePriority(queue, (BfCommandQueuePriority)-1));
    uint64_t ticks;
    assert_bad(bfGetCommandQueueTimestampFrequency(queue, NULL));
    assert_bad(bfGetCommandQueueClockCalibration(queue, NULL, &ticks));
    assert_bad(bfGetCommandQueueClockCalibration(queue, &ticks, NULL));
    BfCommandQueueCreateInfo echo = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO)};
    assert_success(bfGetCommandQueueInfo(queue, &echo));
    assert_int_equal(echo.priority, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    bfDestroyCommandQueue(queue);
}

REFUSAL_TEST(fences_out_of_range_are_refused)
{
#define FENCE BF_TYPE(FENCE_CREATE_INFO)
    const BfFenceCreateInfo bad[] = {
        {FENCE, .flags = 8}, {FENCE, .flags = 0x80000000}, {FENCE, .pNext = f}};
#undef FENCE
    const BfFenceCreateInfo good = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = 1};
    BfFence fence = NULL;
    for (size_t i = 0; i < 3; i++) {
        assert_bad(bfCreateFence(f->bf, &bad[i], &fence));
        assert_null(fence);
    }
    assert_bad(bfCreateFence(f->bf, NULL, &fence));
    assert_bad(bfCreateFence(f->bf, &good, NULL));
    assert_null(fence);
}

REFUSAL_TEST(events_out_of_range_are_refused)
{
    BfEvent event = NULL;
    assert_bad(bfCreateEvent(4, &event));
    assert_bad(bfCreateEvent(0xffffffff, &event));
    assert_bad(bfCreateEvent(0, NULL));
    assert_null(event);
    BfEvent many[BF_MAX_WAIT_EVENTS + 1];
    for (int i = 0; i <= BF_MAX_WAIT_EVENTS; i++)
        many[i] = make_event(f);
    assert_bad(bfWaitForEvents(0, many, VK_FALSE, UINT64_MAX, NULL));
    assert_bad(bfWaitForEvents(0, NULL, VK_TRUE, UINT64_MAX, NULL));
    assert_bad(bfWaitForEvents(1, NULL, VK_FALSE, UINT64_MAX, NULL));
    assert_bad(bfWaitForEvents(BF_MAX_WAIT_EVENTS + 1, many, VK_FALSE, UINT64_MAX, NULL));
    const BfEvent twice[3] = {many[0], many[1], many[0]};
    assert_bad(bfWaitForEvents(3, twice, VK_TRUE, UINT64_MAX, NULL));
    assert_int_equal(bfWaitForEvents(3, twice, VK_FALSE, 0, NULL), VK_TIMEOUT);
    assert_int_equal(bfWaitForEvents(BF_MAX_WAIT_EVENTS, many, VK_FALSE, 0, NULL), VK_TIMEOUT);
}

REFUSAL_TEST(waits_for_no_fences_are_refused)
{
    BfEvent event = make_event(f);
    const BfFence fence = make_fence(f, 5);
    const uint64_t value = 5;
    assert_bad(bfSetEventOnMultipleFenceCompletion(0, &fence, &value, BF_FENCE_WAIT_ALL, event));
    assert_bad(bfSetEventOnMultipleFenceCompletion(1, NULL, &value, BF_FENCE_WAIT_ALL, event));
    assert_bad(bfSetEventOnMultipleFenceCompletion(1, &fence, NULL, BF_FENCE_WAIT_ALL, event));
    assert_bad(bfSetEventOnMultipleFenceCompletion(1, &fence, &value, 2, event));
    assert_bad(bfWaitFences(0, &fence, &value, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_bad(bfWaitFences(1, NULL, &value, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_bad(bfWaitFences(1, &fence, NULL, BF_FENCE_WAIT_ANY_BIT, UINT64_MAX));
    assert_bad(bfWaitFences(1, &fence, &value, 0xfffffffe, UINT64_MAX));
    assert_false(take_event(event));
}

/* Each bit that means nothing, alone and beside those that mean something. */
REFUSAL_TEST(unknown_flags_are_refused)
{
    const BfCommandQueueFlags of_queues =
        BF_COMMAND_QUEUE_DISABLE_GPU_TIMEOUT_BIT | BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT |
        BF_COMMAND_QUEUE_USER_MODE_SUBMISSION_BIT | BF_COMMAND_QUEUE_NATIVE_PROGRESS_FENCE_BIT |
        BF_COMMAND_QUEUE_SOFTWARE_FENCES_BIT;
    const BfSyncObjectFlags of_objects = BF_SYNC_OBJECT_SHARED_BIT |
                                         BF_SYNC_OBJECT_CROSS_ADAPTER_BIT |
                                         BF_SYNC_OBJECT_NO_SIGNAL_BIT | BF_SYNC_OBJECT_NO_WAIT_BIT |
                                         BF_SYNC_OBJECT_NO_SIGNAL_MAX_VALUE_ON_TDR_BIT;
    const BfSyncObjectFlags lasts = BF_SYNC_OBJECT_UNWAIT_CPU_WAITERS_ONLY_ON_DESTROY_BIT;
    const BfFence fence = make_fence(f, 5);
    BfEvent event = make_event(f), made_event = NULL;
    BfCommandQueue queue = NULL;
    BfFence made = NULL, shared = NULL;
    const uint64_t value = 5;
    int fd = -1, other = -1;
    BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .flags = BF_FENCE_SHARED_BIT};
    assert_success(bfCreateFence(f->bf, &info, &shared));
    assert_success(bfExportFenceFd(shared, 0, &fd));
    for (VkFlags bit = 1; bit; bit <<= 1) {
        const BfCommandQueueCreateInfo queue_info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                     .flags = bit};
        if (!(bit & of_queues))
            assert_bad(bfCreateCommandQueue(f->bf, &queue_info, &queue));
        if (bit > BF_EVENT_INITIALLY_SET_BIT)
            assert_bad(bfCreateEvent(bit | BF_EVENT_MANUAL_RESET_BIT, &made_event));
        if (!(bit & of_objects)) { /* alone, and 'lasts' beside what it is for */
            const BfSyncObjectCreateInfo more[] = {
                {BF_TYPE(SYNC_OBJECT_CREATE_INFO), .flags = bit},
                {BF_TYPE(SYNC_OBJECT_CREATE_INFO), .flags = bit | BF_SYNC_OBJECT_SHARED_BIT}};
            for (int i = 0; i < (bit == lasts ? 1 : 2); i++) {
                info = (BfFenceCreateInfo){BF_TYPE(FENCE_CREATE_INFO), .pNext = &more[i]};
                assert_bad(bfCreateFence(f->bf, &info, &made));
            }
        }
        if (bit != BF_FENCE_WAIT_ANY_BIT) {
            assert_bad(bfWaitFences(1, &fence, &value, bit | BF_FENCE_WAIT_ANY_BIT, 0));
            assert_bad(bfSetEventOnMultipleFenceCompletion(1, &fence, &value, bit, event));
        }
        if (bit > BF_FENCE_UPDATE_NOTIFICATION_ONLY_BIT)
            assert_bad(bfUpdateFenceValues(1, &fence, &value, bit));
        const BfFenceNotification notification = {BF_TYPE(FENCE_NOTIFICATION), .flags = bit};
        if (bit != BF_FENCE_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES_BIT)
            assert_bad(bfNotifyFencesSignaled(f->bf, &notification));
        if (bit != BF_SHARE_TRUSTED_BIT) {
            assert_bad(bfExportFenceFd(shared, bit, &other));
            assert_bad(bfOpenFenceFd(f->bf, fd, bit, &made));
        }
    }
    assert_true(!queue && !made && !made_event && other == -1);
    assert_false(take_event(event));
    assert_value(fence, 5);
    close(fd);
    bfDestroyFence(shared);
}

/* ----------------------------------------------------------------------------- What executes -- */

REFUSAL_TEST(wrong_command_buffers_are_refused)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkCommandBuffer good = write_word(f, queue, 0, 1);
    const VkCommandBuffer with_null[2] = {good, VK_NULL_HANDLE};
    assert_bad(bfQueueExecute(queue, 0, &good));
    assert_bad(bfQueueExecute(queue, 0, NULL));
    assert_bad(bfQueueExecute(queue, 1, NULL));
    assert_bad(bfQueueExecute(queue, 2, with_null));
    await_idle(queue);
    assert_int_equal(read_word(f, 0), 0);
    execute(queue, good); /* nothing has been done with it */
    await_idle(queue);
    assert_int_equal(read_word(f, 0), 1);
}

/* Who has seen them allocated knows. */
TEST_WITH(command_buffers_of_another_kind_are_refused_by_the_layer, NULL, all_was_refused)
{
    if (!fixture_is_layered())
        skip(); /* nobody looks at command buffers */
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    uint32_t family = bfGetCommandQueueFamilyIndex(queue);
    VkCommandBuffer good = write_word(&f, queue, 0, 1);
    VkCommandBuffer secondary = commands_begin_in(&f, family, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    assert_success(vkEndCommandBuffer(secondary));
    const VkCommandBuffer with_secondary[2] = {good, secondary};
    assert_bad(bfQueueExecute(queue, 1, &secondary));
    assert_bad(bfQueueExecute(queue, 2, with_secondary));
    for (uint32_t i = 0; i < f.family_count; i++) {
        if (!f.queue_counts[i] || i == family)
            continue;
        VkCommandBuffer other = write_word_in(&f, i, 0, 2);
        const VkCommandBuffer with_other[2] = {good, other};
        assert_bad(bfQueueExecute(queue, 1, &other));
        assert_bad(bfQueueExecute(queue, 2, with_other));
    }
    await_idle(queue);
    assert_int_equal(read_word(&f, 0), 0);
    execute(queue, good);
    await_idle(queue);
    assert_int_equal(read_word(&f, 0), 1);
    fixture_close(&f);
}

/* -------------------------------------------------------------------------------- Priorities -- */

REFUSAL_TEST(realtime_is_not_permitted_where_no_queue_has_it)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                           .priority = BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    BfCommandQueue queue = NULL;
    assert_refused(VK_ERROR_NOT_PERMITTED_KHR, 1, bfCreateCommandQueue(f->bf, &info, &queue));
    assert_null(queue);
    const BfCommandQueueCreateInfo normal = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                             .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    assert_success(bfCreateCommandQueue(f->bf, &normal, &queue));
    assert_refused(VK_ERROR_NOT_PERMITTED_KHR, 1,
                   bfSetCommandQueuePriority(queue, BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME));
    BfCommandQueueCreateInfo echo = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO)};
    assert_success(bfGetCommandQueueInfo(queue, &echo));
    assert_int_equal(echo.priority, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    bfDestroyCommandQueue(queue);
}

/* A realtime queue works, stays what it is, and says so. */
static void check_realtime(struct fixture *f, BfCommandListType type)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = type,
                                           .priority = BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    BfCommandQueue queue = NULL;
    BfCommandQueueCreateInfo echo = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO)};
    assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
    assert_success(bfGetCommandQueueInfo(queue, &echo));
    assert_int_equal(echo.priority, BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME);
    uint32_t family = bfGetCommandQueueFamilyIndex(queue);
    assert_true(family < f->family_count);
    if (!f->pools[family]) { /* it is none of those that the program asked for */
        const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                              .queueFamilyIndex = family};
        assert_success(vkCreateCommandPool(f->device, &pool, NULL, &f->pools[family]));
    }
    execute(queue, write_word(f, queue, type, 5));
    await_idle(queue);
    assert_int_equal(read_word(f, type), 5);
    assert_refused(
        VK_ERROR_NOT_PERMITTED_KHR, 1,
        bfSetCommandQueuePriority(queue, BF_COMMAND_QUEUE_PRIORITY_HIGH)); /* from it neither */
    bfDestroyCommandQueue(queue);
}

TEST_WITH(realtime_succeeds_where_the_driver_permits_it, NULL, all_was_refused)
{
    if (!fixture_is_icd())
        skip(); /* has no priorities */
    struct fixture f;
    if (fixture_is_layered()) {
        /* The layer asks for a compute queue, on a family that the program leaves alone. */
        const struct fixture_options options = {
            .environment = "SHAPE=nvidia REALTIME=1 VK_BELFRY_MULTI_ENGINE_REALTIME=on",
            .family = 0};
        fixture_open(&f, &options);
        check_realtime(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
        check_realtime(&f, BF_COMMAND_LIST_TYPE_COPY);
        const BfCommandQueueCreateInfo direct = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                 .priority =
                                                     BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME};
        BfCommandQueue queue = NULL;
        assert_refused(VK_ERROR_NOT_PERMITTED_KHR, 1, bfCreateCommandQueue(f.bf, &direct, &queue));
        assert_null(queue);
        fixture_close(&f);
        return;
    }
    const struct fixture_options options = {
        .environment = "REALTIME=1", .realtime = true, .family = UINT32_MAX};
    fixture_open(&f, &options);
    check_realtime(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    check_realtime(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
    check_realtime(&f, BF_COMMAND_LIST_TYPE_COPY);
    fixture_close(&f);
}

/* -------------------------------------------------------------------------- Other semaphores -- */

REFUSAL_TEST(wrong_semaphores_are_refused)
{
    BfFence fence = make_fence(f, 3), made = NULL, imported = NULL;
    assert_bad(bfImportFenceFromSemaphore(f->bf, VK_NULL_HANDLE, &made));
    assert_bad(bfImportFenceFromSemaphore(f->bf, make_timeline(f, 1), NULL));
    assert_null(made);
    assert_bad(bfExportFenceToSemaphore(fence, VK_NULL_HANDLE));
    assert_bad(bfExportFenceToSemaphore(fence, make_timeline(f, 4))); /* ahead of the fence */
    assert_success(bfExportFenceToSemaphore(fence, make_timeline(f, 3)));
    assert_bad(bfExportFenceToSemaphore(fence, make_timeline(f, 0))); /* one alone */
    assert_success(bfImportFenceFromSemaphore(f->bf, make_timeline(f, 5), &imported));
    assert_bad(bfExportFenceToSemaphore(imported, make_timeline(f, 0)));
    assert_value(imported, 5);
    bfDestroyFence(imported);
}

/* An imported fence keeps its semaphore's rules: every signal is larger than the value, and than
 * every signal under way. */
REFUSAL_TEST(imported_fences_take_larger_values_alone)
{
    BfCommandQueue queue = make_queue(f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkSemaphore semaphore = make_timeline(f, 5);
    BfFence gate = make_fence(f, 0), fence = NULL;
    assert_success(bfImportFenceFromSemaphore(f->bf, semaphore, &fence));
    f->made_fences[f->fence_count++] = fence;
    assert_bad(bfSignalFence(fence, 5));
    assert_bad(bfSignalFence(fence, 4));
    assert_bad(bfSignalFence(fence, 0));
    assert_bad(bfQueueSignal(queue, fence, 5));
    assert_bad(bfQueueSignal(queue, fence, 0));
    cpu_signal(fence, 6);
    queue_wait(queue, gate, 1);
    queue_signal(queue, fence, 10);
    assert_bad(bfQueueSignal(queue, fence, 10));
    assert_bad(bfQueueSignal(queue, fence, 9));
    cpu_signal(gate, 1);
    await_fence(fence, 10);
    assert_value(fence, 10);
    assert_int_equal(vulkan_value(f->device, semaphore), 10);
}

/* --------------------------------------------------------------------------------- Attaching -- */

static PFN_vkVoidFunction VKAPI_CALL without_submit2(VkDevice device, const char *name)
{
    if (strncmp(name, "vkQueueSubmit2", 14) == 0)
        return NULL;
    return vkGetDeviceProcAddr(device, name);
}

TEST_WITH(attaching_wrongly_is_refused, NULL, all_was_refused)
{
    if (fixture_is_layered())
        skip(); /* attaches itself: the next test */
    struct fixture f;
    fixture_open_instance(&f, &fixture_plain);
    assert_success(fixture_open_device(&f, &fixture_plain));
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES], many[65];
    const BfAttachInfo good = fixture_attach_info(&f, queues);
    for (int i = 0; i < 65; i++)
        many[i] = queues[0];
    BfAttachInfo bad[24];
    uint32_t n = 0;
    for (; n < 13; n++)
        bad[n] = good;
    bad[0].pNext = &f;
    bad[1].pfnGetInstanceProcAddr = NULL;
    bad[2].instance = VK_NULL_HANDLE;
    bad[3].physicalDevice = VK_NULL_HANDLE;
    bad[4].pfnGetDeviceProcAddr = NULL;
    bad[5].device = VK_NULL_HANDLE;
    bad[6].queueCount = 0;
    bad[7].pQueues = NULL;
    bad[8].queueCount = 65;
    bad[8].pQueues = many;
    bad[9].queueCount = 2; /* one twice */
    bad[9].pQueues = many;
    BfAttachQueue null_queue = queues[0], no_family = queues[0];
    null_queue.queue = VK_NULL_HANDLE;
    no_family.queueFamilyIndex = 99;
    bad[10].queueCount = bad[11].queueCount = 1;
    bad[10].pQueues = &null_queue;
    bad[11].pQueues = &no_family;
    bad[12].hostPointerAlignment = 4095;
    /* What no VkQueue can have been created with. */
    BfAttachQueue odd[10];
    for (int i = 0; i < 10; i++)
        odd[i] = queues[0];
    odd[0].queueIndex = f.families[queues[0].queueFamilyIndex].queueCount;
    odd[1].queueIndex = UINT32_MAX;
    odd[2].flags = 2;
    odd[3].flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT | 0x80000000;
    odd[4].globalPriority = (VkQueueGlobalPriorityKHR)1;
    odd[5].globalPriority = (VkQueueGlobalPriorityKHR)(VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR * 2);
    odd[6].queuePriority = 1.5f;
    odd[7].queuePriority = -0.5f;
    odd[8].queuePriority = NAN;
    odd[9].queuePriority = INFINITY;
    for (int i = 0; i < 10; i++) {
        bad[n] = good;
        bad[n].queueCount = 1;
        bad[n++].pQueues = &odd[i];
    }
    BfAttachQueue one_place[2] = {queues[0], queues[0]}; /* two at the place of one */
    if (good.queueCount > 1) {
        one_place[1].queue = queues[1].queue;
        bad[n] = good;
        bad[n].queueCount = 2;
        bad[n++].pQueues = one_place;
    }
    BfDevice device = NULL;
    for (uint32_t i = 0; i < n; i++) {
        lines_begin();
        VkResult result = bfAttachDevice(&bad[i], &device);
        uint32_t lines = lines_end(NULL, 0);
        if (result != VK_ERROR_VALIDATION_FAILED_EXT || lines != 1 || device)
            fail_msg("attached wrongly in way %u: result %d, %u lines", i, result, lines);
    }
    assert_bad(bfAttachDevice(NULL, &device));
    assert_bad(bfAttachDevice(&good, NULL));
    BfAttachInfo lacking = good;
    lacking.pfnGetDeviceProcAddr = without_submit2;
    assert_int_equal(bfAttachDevice(&lacking, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(bfGetDevice(f.device, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(device);
    assert_success(bfAttachDevice(&good, &f.bf));
    assert_bad(bfAttachDevice(&good, &device));
    assert_null(device);
    bfDetachDevice(f.bf);
    BfDevice detached = f.bf;
    assert_says(1, bfDetachDevice(detached));
    assert_success(bfAttachDevice(&good, &f.bf)); /* and again */
    fixture_close(&f);
}

TEST_WITH(a_device_of_the_layers_is_not_attached_again_nor_detached, NULL, all_was_refused)
{
    if (!fixture_is_layered())
        skip();
    struct fixture f;
    fixture_open(&f, NULL);
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    const BfAttachInfo info = fixture_attach_info(&f, queues);
    BfDevice device = NULL, same = NULL;
    assert_bad(bfAttachDevice(&info, &device));
    assert_null(device);
    assert_bad(bfGetDevice(f.device, NULL));
    assert_bad(bfGetDevice(VK_NULL_HANDLE, &device));
    assert_null(device);
    assert_success(bfGetDevice(f.device, &same));
    assert_ptr_equal(same, f.bf);
    assert_says(1, bfDetachDevice(f.bf));
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    execute(queue, write_word(&f, queue, 0, 1));
    await_idle(queue);
    fixture_close(&f);
}

/* A device that the layer couldn't attach has said so. */
TEST_WITH(a_device_passed_through_by_the_layer_has_no_queues, NULL, all_was_refused)
{
    if (!fixture_is_layered() || !fixture_is_icd())
        skip();
    struct fixture f;
    const struct fixture_options options = {.environment = "NO_TIMELINE=1", .family = UINT32_MAX};
    lines_begin();
    fixture_open_instance(&f, &options);
    const VkDeviceCreateInfo info = info_device(NULL, 0, NULL);
    assert_success(vkCreateDevice(f.physical, &info, NULL, &f.device));
    assert_true(lines_end(NULL, 0) >= 1);
    BfDevice device = NULL;
    assert_int_equal(bfGetDevice(f.device, &device), VK_ERROR_FEATURE_NOT_PRESENT);
    assert_null(device);
    vkDestroyDevice(f.device, NULL);
    f.device = VK_NULL_HANDLE;
    fixture_close(&f);
}

/* A device with a copy family alone has no 3D queues. */
TEST_WITH(types_without_an_engine_are_refused, NULL, all_was_refused)
{
    if (fixture_is_layered() || !fixture_is_icd())
        skip(); /* every device has a family that can do everything */
    struct fixture f;
    const struct fixture_options options = {.environment = "SHAPE=nvidia", .family = 1};
    fixture_open(&f, &options);
    BfCommandQueue queue = NULL;
    for (size_t i = 0; i < 2; i++) {
        const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                               .type = queue_types[i]};
        assert_int_equal(bfCreateCommandQueue(f.bf, &info, &queue), VK_ERROR_FEATURE_NOT_PRESENT);
        assert_null(queue);
    }
    queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    execute(queue, write_word(&f, queue, 0, 1));
    await_idle(queue);
    assert_int_equal(read_word(&f, 0), 1);
    fixture_close(&f);
}
