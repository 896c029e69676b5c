/* SPDX-License-Identifier: MIT */
/* Behaviours 71 to 76: the lost device, what queues say of themselves, and their clocks. (70, a
 * command list executed while it is still recorded, can't be told: Belfry doesn't look into command
 * buffers.) */
#include "support/fixture.h"

#include "support/lines.h"

#include <time.h>

/* --------------------------------------------------------------------- 71, 72: a lost device -- */

TEST(behaviour_71_no_queue_is_made_on_a_lost_device)
{
    if (!fixture_is_icd())
        skip(); /* loses no device on demand */
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    f.lost = true;
    f.icd.lose();
    VkCommandBuffer commands = write_word(&f, queue, 0, 1);
    assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
    for (size_t i = 0; i < 3; i++) {
        const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                               .type = queue_types[i]};
        BfCommandQueue none = NULL;
        assert_int_equal(bfCreateCommandQueue(f.bf, &info, &none), VK_ERROR_DEVICE_LOST);
        assert_null(none);
    }
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = 1};
    BfFence none = NULL;
    assert_int_equal(bfCreateFence(f.bf, &info, &none), VK_ERROR_DEVICE_LOST);
    assert_null(none);
    fixture_close(&f);
}

TEST(behaviour_72_on_a_lost_device_fences_are_at_the_end_and_events_set)
{
    if (!fixture_is_icd())
        skip();
    struct fixture f;
    fixture_open(&f, NULL);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    BfFence fences[3] = {make_fence(&f, 0), make_fence(&f, 9), make_fence(&f, BIG)};
    BfEvent events[3], removal = make_event(&f), late = make_event(&f);
    for (int i = 0; i < 3; i++) {
        events[i] = make_event(&f);
        set_event_on(fences[i], BIG + 1 + (uint64_t)i, events[i]);
    }
    set_event_on(fences[0], UINT64_MAX, removal);
    f.lost = true;
    f.icd.lose();
    VkCommandBuffer commands = write_word(&f, queue, 0, 1);
    assert_int_equal(bfQueueExecute(queue, 1, &commands), VK_ERROR_DEVICE_LOST);
    for (int i = 0; i < 3; i++) {
        assert_value(fences[i], UINT64_MAX);
        assert_true(take_event(events[i]));
        assert_false(take_event(events[i]));
    }
    assert_true(take_event(removal));
    static const uint64_t values[] = {0, 1, BIG, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        set_event_on(fences[i % 3], values[i], late);
        assert_true(take_event(late));
    }
    assert_int_equal(bfSignalFence(fences[0], 0), VK_ERROR_DEVICE_LOST);
    assert_value(fences[0], UINT64_MAX);
    fixture_close(&f);
}

/* -------------------------------------------------------------------------- 73: descriptions -- */

FIXTURE_TEST(behaviour_73_a_queue_echoes_its_description)
{
    static const BfCommandQueuePriority priorities[] = {BF_COMMAND_QUEUE_PRIORITY_NORMAL,
                                                        BF_COMMAND_QUEUE_PRIORITY_HIGH};
    for (size_t i = 0; i < 3; i++) {
        for (BfCommandQueueFlags flags = 0; flags <= 3; flags++) {
            for (int k = 0; k < 4; k++) {
                const BfCommandQueueCreateInfo info = {
                    BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = queue_types[i],
                    .priority = priorities[k % 2], .flags = flags, .nodeMask = k / 2};
                BfCommandQueue queue = NULL;
                assert_success(bfCreateCommandQueue(f->bf, &info, &queue));
                BfCommandQueueCreateInfo echo = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                 .type = BF_COMMAND_LIST_TYPE_BUNDLE};
                assert_success(bfGetCommandQueueInfo(queue, &echo));
                assert_null(echo.pNext);
                assert_int_equal(echo.type, info.type);
                assert_int_equal(echo.priority, info.priority);
                assert_int_equal(echo.flags, info.flags);
                assert_int_equal(echo.nodeMask, 1);
                bfDestroyCommandQueue(queue);
            }
        }
    }
}

FIXTURE_TEST(behaviour_73_thirty_two_queues_of_each_type_work)
{
    BfCommandQueue queues[96];
    BfFence fence = make_fence(f, 0), gate = make_fence(f, 0);
    for (uint32_t i = 0; i < 96; i++) {
        queues[i] = make_queue(f, queue_types[i / 32]);
        if (i % 3 == 0)
            queue_wait(queues[i], gate, 1);
        execute(queues[i], write_word(f, queues[i], i, i + 1));
    }
    cpu_signal(gate, 1);
    for (uint32_t i = 0; i < 96; i++) {
        queue_signal(queues[i], fence, i + 1);
        await_idle(queues[i]);
        assert_value(fence, i + 1);
        assert_int_equal(read_word(f, i), i + 1);
    }
}

/* The family a queue names can do what its type says, and is one of the program's. */
FIXTURE_TEST(behaviour_73_a_queue_names_a_family_that_does_its_work)
{
    static const VkQueueFlags needed[] = {VK_QUEUE_GRAPHICS_BIT, VK_QUEUE_COMPUTE_BIT,
                                          VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT |
                                              VK_QUEUE_TRANSFER_BIT};
    uint32_t pure[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = f->family_count; i-- > 0;) {
        const VkQueueFlags flags = f->families[i].queueFlags;
        if (!f->queue_counts[i])
            continue;
        if (flags & VK_QUEUE_GRAPHICS_BIT)
            pure[0] = i;
        else if (flags & VK_QUEUE_COMPUTE_BIT)
            pure[1] = i;
        else
            pure[2] = i;
    }
    for (size_t i = 0; i < 3; i++) {
        uint32_t family = bfGetCommandQueueFamilyIndex(make_queue(f, queue_types[i]));
        assert_true(family < f->family_count && f->queue_counts[family]);
        assert_true(f->families[family].queueFlags & needed[i]);
        /* A family of its own is taken where there is one. (Of the layer's families some are run
         * by others, which may be named in their place.) */
        if (pure[i] != UINT32_MAX && !f->layered)
            assert_int_equal(family, pure[i]);
    }
}

FIXTURE_TEST(behaviour_73_a_priority_may_change_where_the_flag_allows)
{
    const BfCommandQueueCreateInfo infos[] = {
        {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = BF_COMMAND_LIST_TYPE_DIRECT,
         .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT},
        {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = BF_COMMAND_LIST_TYPE_DIRECT},
    };
    BfCommandQueue queues[2];
    BfCommandQueueCreateInfo echo = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO)};
    for (int i = 0; i < 2; i++)
        assert_success(bfCreateCommandQueue(f->bf, &infos[i], &queues[i]));
    static const BfCommandQueuePriority priorities[] = {BF_COMMAND_QUEUE_PRIORITY_HIGH,
                                                        BF_COMMAND_QUEUE_PRIORITY_HIGH,
                                                        BF_COMMAND_QUEUE_PRIORITY_NORMAL};
    for (int i = 0; i < 3; i++) {
        assert_success(bfSetCommandQueuePriority(queues[0], priorities[i]));
        assert_success(bfGetCommandQueueInfo(queues[0], &echo));
        assert_int_equal(echo.priority, priorities[i]);
    }
    assert_int_equal(bfSetCommandQueuePriority(queues[1], BF_COMMAND_QUEUE_PRIORITY_HIGH),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_success(bfGetCommandQueueInfo(queues[1], &echo));
    assert_int_equal(echo.priority, BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    for (int i = 0; i < 2; i++)
        bfDestroyCommandQueue(queues[i]);
}

/* -------------------------------------------------------------------------- 74 to 76: clocks -- */

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t mask_of(struct fixture *f, BfCommandQueue queue)
{
    uint32_t bits = f->families[bfGetCommandQueueFamilyIndex(queue)].timestampValidBits;
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Ticks from one to the other, as a signed number: the counter may wrap. */
static int64_t ticks_between(uint64_t from, uint64_t to, uint64_t mask)
{
    uint64_t difference = (to - from) & mask;
    return difference <= mask / 2 ? (int64_t)difference : -(int64_t)((from - to) & mask);
}

static void two_calibrations(bool uncalibrated)
{
    struct fixture f;
    struct fixture_options options = fixture_plain;
    options.uncalibrated = uncalibrated;
    fixture_open(&f, &options);
    for (size_t i = 0; i < 3; i++) {
        BfCommandQueue queue = make_queue(&f, queue_types[i]);
        uint64_t frequency, mask = mask_of(&f, queue), gpu[2], cpu[2];
        assert_success(bfGetCommandQueueTimestampFrequency(queue, &frequency));
        assert_true(frequency > 0);
        if (i == 1)
            execute(queue, write_word(&f, queue, 0, 1));
        uint64_t before = now();
        assert_success(bfGetCommandQueueClockCalibration(queue, &gpu[0], &cpu[0]));
        uint64_t between = now();
        while (now() <= between + 10 * (UINT64_C(1000000000) / frequency + 1))
            ; /* until the counter has to show another number */
        assert_success(bfGetCommandQueueClockCalibration(queue, &gpu[1], &cpu[1]));
        uint64_t after = now();
        assert_true(ticks_between(gpu[0], gpu[1], mask) > 0);
        assert_true(cpu[0] >= before && cpu[0] <= between);
        assert_true(cpu[1] > between && cpu[1] <= after);
    }
    fixture_close(&f);
}

TEST(behaviour_74_both_clocks_strictly_grow)
{
    two_calibrations(false);
}

TEST(behaviour_74_both_clocks_strictly_grow_without_calibrated_timestamps)
{
    two_calibrations(true);
}

/* Four timestamps around transfers in one command buffer. */
struct stamps {
    VkQueryPool pool;
    uint64_t ticks[4];
};

static void run_stamps(struct fixture *f, BfCommandQueue queue, struct stamps *s)
{
    const VkQueryPoolCreateInfo info = {VK_TYPE(QUERY_POOL_CREATE_INFO),
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP, .queryCount = 4};
    assert_success(vkCreateQueryPool(f->device, &info, NULL, &s->pool));
    vkResetQueryPool(f->device, s->pool, 0, 4);
    VkCommandBuffer commands = commands_begin(f, queue);
    for (uint32_t i = 0; i < 4; i++) {
        put_word(f, commands, i, i + 1);
        vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, s->pool, i);
    }
    commands_end(commands);
    execute(queue, commands);
    await_idle(queue);
    assert_success(vkGetQueryPoolResults(f->device, s->pool, 0, 4, sizeof(s->ticks), s->ticks, 8,
                                         VK_QUERY_RESULT_64_BIT));
    vkDestroyQueryPool(f->device, s->pool, NULL);
    assert_int_equal(read_word(f, 3), 4);
}

TYPE_TEST(behaviour_75_timestamps_never_decrease_and_span_less_than_the_wall_clock)
{
    uint64_t frequency, mask = mask_of(f, queue);
    assert_success(bfGetCommandQueueTimestampFrequency(queue, &frequency));
    for (int round = 0; round < 5; round++) {
        struct stamps s;
        uint64_t before = now();
        run_stamps(f, queue, &s);
        uint64_t wall = now() - before;
        for (int k = 1; k < 4; k++)
            assert_true(ticks_between(s.ticks[k - 1], s.ticks[k], mask) >= 0);
        double span = (double)ticks_between(s.ticks[0], s.ticks[3], mask);
        assert_true(span <= (double)wall * (double)frequency / 1e9 + 1);
    }
}

static void stamps_between_calibrations(bool uncalibrated)
{
    struct fixture f;
    struct fixture_options options = fixture_plain;
    options.uncalibrated = uncalibrated;
    fixture_open(&f, &options);
    for (size_t i = 0; i < 3; i++) {
        BfCommandQueue queue = make_queue(&f, queue_types[i]);
        uint64_t mask = mask_of(&f, queue), gpu[2], cpu[2];
        for (int round = 0; round < 5; round++) {
            struct stamps s;
            assert_success(bfGetCommandQueueClockCalibration(queue, &gpu[0], &cpu[0]));
            run_stamps(&f, queue, &s);
            assert_success(bfGetCommandQueueClockCalibration(queue, &gpu[1], &cpu[1]));
            for (int k = 0; k < 4; k++) {
                assert_true(ticks_between(gpu[0], s.ticks[k], mask) >= 0);
                assert_true(ticks_between(s.ticks[k], gpu[1], mask) >= 0);
            }
        }
    }
    fixture_close(&f);
}

TEST(behaviour_76_timestamps_lie_between_calibrations)
{
    stamps_between_calibrations(false);
}

TEST(behaviour_76_timestamps_lie_between_calibrations_by_timestamps)
{
    stamps_between_calibrations(true);
}

/* A calibration doesn't wait for what the queue waits for. */
TEST(behaviour_76_a_queue_that_waits_can_be_calibrated)
{
    struct fixture_options options = fixture_plain;
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        options.uncalibrated = i;
        fixture_open(&f, &options);
        BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
        BfFence gate = make_fence(&f, 0);
        uint64_t gpu, cpu;
        queue_wait(queue, gate, 1);
        execute(queue, write_word(&f, queue, 0, 1));
        assert_success(bfGetCommandQueueClockCalibration(queue, &gpu, &cpu));
        cpu_signal(gate, 1);
        await_idle(queue);
        fixture_close(&f);
    }
}

/* Who can neither calibrate nor reset a query for a copy engine says so. */
TEST(behaviour_74_without_a_way_to_reset_queries_copy_queues_say_so)
{
    if (fixture_is_layered() || !fixture_is_icd())
        skip(); /* the layer has the ways that the driver has */
    struct fixture f;
    struct fixture_options options = fixture_plain;
    options.environment = "SHAPE=nvidia";
    options.uncalibrated = true;
    fixture_open_instance(&f, &options);
    assert_success(fixture_open_device(&f, &options));
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    BfAttachInfo info = fixture_attach_info(&f, queues);
    info.hostQueryReset = VK_FALSE;
    assert_success(bfAttachDevice(&info, &f.bf));
    uint64_t gpu = 7, cpu = 7;
    BfCommandQueue copy = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    assert_int_equal(bfGetCommandQueueClockCalibration(copy, &gpu, &cpu),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(gpu == 7 && cpu == 7);
    BfCommandQueue compute = make_queue(&f, BF_COMMAND_LIST_TYPE_COMPUTE);
    assert_success(bfGetCommandQueueClockCalibration(compute, &gpu, &cpu));
    fixture_close(&f);
}

/* Copy engines without timestamps say so. */
TEST(behaviour_74_queues_without_timestamps_say_so)
{
    if (!fixture_is_icd())
        skip(); /* the device is as it is */
    struct fixture f;
    struct fixture_options options = fixture_plain;
    options.environment = "SHAPE=copy";
    fixture_open(&f, &options);
    BfCommandQueue direct = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                   copy = make_queue(&f, BF_COMMAND_LIST_TYPE_COPY);
    uint64_t frequency = 7, gpu = 7, cpu = 7;
    assert_int_equal(bfGetCommandQueueTimestampFrequency(copy, &frequency),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_int_equal(bfGetCommandQueueClockCalibration(copy, &gpu, &cpu),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    assert_true(frequency == 7 && gpu == 7 && cpu == 7);
    assert_success(bfGetCommandQueueTimestampFrequency(direct, &frequency));
    assert_int_equal(frequency, 1000000000);
    fixture_close(&f);
    options.environment = "SHAPE=radv";
    fixture_open(&f, &options);
    assert_success(bfGetCommandQueueTimestampFrequency(make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT),
                                                       &frequency));
    assert_int_equal(frequency, 100000000);
    fixture_close(&f);
}

/* Families need not nest. With all of them, and with the queues of one alone, each type comes to
 * one that can do all of its work, or is refused. */
TEST(behaviour_73_a_queue_comes_to_a_family_that_can_do_its_work)
{
    if (!fixture_is_icd())
        skip(); /* the device is as it is */
    /* Families: universal, graphics, compute, copies of whole mip levels, compute. UINT32_MAX:
     * none; 2 is also the other compute family, and the layer's for copies, which they back. */
    static const struct {
        uint32_t family, direct, compute, copy;
    } cases[] = {
        {UINT32_MAX, 0, 2, 2},
        {0, 0, 0, 0},
        {1, UINT32_MAX, UINT32_MAX, 1},
        {2, UINT32_MAX, 2, 2},
        {3, UINT32_MAX, UINT32_MAX, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint32_t expected[] = {cases[i].direct, cases[i].compute, cases[i].copy};
        const struct fixture_options options = {.environment = "SHAPE=apart",
                                                .family = cases[i].family};
        struct fixture f;
        fixture_open(&f, &options);
        for (uint32_t k = 0; k < 3; k++) {
            const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO),
                                                   .type = queue_types[k]};
            BfCommandQueue queue = NULL;
            lines_begin();
            VkResult result = bfCreateCommandQueue(f.bf, &info, &queue);
            uint32_t lines = lines_end(NULL, 0), family = UINT32_MAX;
            if (queue)
                family = bfGetCommandQueueFamilyIndex(queue);
            if (queue && family >= 4)
                family = 2;
            if (family != expected[k] || lines != (queue == NULL) ||
                (!queue && result != VK_ERROR_FEATURE_NOT_PRESENT))
                fail_msg("case %zu, type %u: family %d, result %d", i, k, (int)family, result);
            if (queue) {
                execute(queue, write_word(&f, queue, k, 5));
                await_idle(queue);
                assert_int_equal(read_word(&f, k), 5);
            }
            bfDestroyCommandQueue(queue);
        }
        fixture_close(&f);
    }
}
