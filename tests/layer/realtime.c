/* SPDX-License-Identifier: MIT */
/* The settings 'realtime' and 'high_priority' on the test driver, which permits those priorities or
 * not (PL-5): VkQueues that no queue of the program is on, and that are in nobody's way. And which
 * VkQueues command queues of each priority come to; and the setting 'queue_priorities'. */
#include "support/world.h"

#include "belfry/belfry.h"
#include "scheduler/command_queue.h"
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

/* ----------------------------------------------------------------------------- High priority -- */

#define MEDIUM VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR
#define HIGH   VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR
#define TOP    VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR

/* The global priority of the VkQueue that such command queues come to, plus its own, for each of
 * several alike; 0: there can be none. What is told of it is what the driver was asked for. */
static double priority_of(struct device *w, BfCommandListType type, BfCommandQueuePriority wanted)
{
    const BfCommandQueueCreateInfo info = {
        .sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO, .type = type, .priority = wanted};
    BfDevice device;
    BfCommandQueue queues[4] = {NULL};
    double all = 0;
    assert_success(bfGetDevice(w->device, &device));
    for (uint32_t i = 0; i < 4 && bfCreateCommandQueue(device, &info, &queues[i]) == VK_SUCCESS;
         i++) {
        VkQueueGlobalPriorityKHR global;
        uint32_t asked;
        float priority, asked_priority;
        assert_success(bfGetCommandQueueDriverPriority(queues[i], &global, &priority));
        const struct bf_gpu_engine *engine =
            &((struct bf_command_queue *)queues[i])->base.engine->base;
        assert_true(w->icd.priorities(engine->family, engine->index, &asked, &asked_priority));
        assert_int_equal(global, asked ? asked : MEDIUM);
        assert_true(priority == asked_priority);
        if (i == 0)
            all = global + (double)priority;
        else if (all != global + (double)priority)
            all = -1;
    }
    for (uint32_t i = 0; i < 4; i++)
        bfDestroyCommandQueue(queues[i]);
    return all;
}

/* What compute and copy queues get of each priority, and how many lines are said. The program's own
 * VkQueues have queue priority 0. */
TEST(test_who_comes_where)
{
    static const uint32_t all[] = {2, 2, 1, WORLD_END};
    static const struct {
        const char *environment, *settings;
        const uint32_t *counts;
        uint32_t lines;
        double compute[3], copy[3], direct[2];
    } cases[] = {
        /* Of two spares the second is for HIGH. */
        {"SHAPE=nvidia",
         "",
         one,
         0,
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1}},
        {"SHAPE=nvidia",
         "h",
         one,
         0,
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, MEDIUM + 1}},
        {"SHAPE=nvidia HIGH=0",
         "h",
         one,
         1,
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1}},
        {"SHAPE=nvidia HIGH=2",
         "h",
         one,
         1,
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM + 1}},
        /* With the family that it would be on in use there is none; the one for copies is full. */
        {"SHAPE=nvidia",
         "h",
         all,
         1,
         {MEDIUM, MEDIUM + 1, 0},
         {MEDIUM, MEDIUM, 0},
         {MEDIUM, MEDIUM + 1}},
        /* One family for both is REALTIME's, or HIGH's if that is refused. */
        {"SHAPE=radv REALTIME=1",
         "hr",
         one,
         1,
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM}},
        {"SHAPE=radv",
         "hr",
         one,
         1,
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, MEDIUM}},
        {"SHAPE=radv HIGH=0",
         "hr",
         one,
         2,
         {MEDIUM, MEDIUM, 0},
         {MEDIUM, MEDIUM, 0},
         {MEDIUM, MEDIUM}},
        {"SHAPE=radv REALTIME=1 HIGH=0",
         "hr",
         one,
         1,
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM}},
        /* Whichever is refused, the other stays. */
        {"SHAPE=apart REALTIME=1",
         "hr",
         one,
         0,
         {MEDIUM, HIGH + 1, TOP + 1},
         {MEDIUM, HIGH + 1, TOP + 1},
         {MEDIUM, MEDIUM}},
        {"SHAPE=apart",
         "hr",
         one,
         1,
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, HIGH + 1, 0},
         {MEDIUM, MEDIUM}},
        {"SHAPE=apart REALTIME=1 HIGH=0",
         "hr",
         one,
         1,
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM, TOP + 1},
         {MEDIUM, MEDIUM}},
        {"SHAPE=apart HIGH=0",
         "hr",
         one,
         2,
         {MEDIUM, MEDIUM, 0},
         {MEDIUM, MEDIUM, 0},
         {MEDIUM, MEDIUM}},
        {"SHAPE=lavapipe", "h", one, 1, {MEDIUM, MEDIUM, 0}, {MEDIUM, MEDIUM, 0}, {MEDIUM, MEDIUM}},
    };
    static const BfCommandQueuePriority priorities[] = {BF_COMMAND_QUEUE_PRIORITY_NORMAL,
                                                        BF_COMMAND_QUEUE_PRIORITY_HIGH,
                                                        BF_COMMAND_QUEUE_PRIORITY_GLOBAL_REALTIME};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device w;
        const char *settings = cases[i].settings;
        setenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY", strchr(settings, 'h') ? "on" : "off", 1);
        setenv("VK_BELFRY_MULTI_ENGINE_REALTIME", strchr(settings, 'r') ? "on" : "off", 1);
        lines_begin();
        world_open(&w, cases[i].environment, cases[i].counts);
        uint32_t lines = lines_end_with("priority", NULL, 0);
        unsetenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY");
        unsetenv("VK_BELFRY_MULTI_ENGINE_REALTIME");
        if (lines != cases[i].lines)
            fail_msg("case %zu: %u lines", i, lines);
        for (uint32_t k = 0; k < 3; k++) {
            lines_begin(); /* one for each queue that there can't be */
            double compute = priority_of(&w, BF_COMMAND_LIST_TYPE_COMPUTE, priorities[k]);
            double copy = priority_of(&w, BF_COMMAND_LIST_TYPE_COPY, priorities[k]);
            double direct = k < 2 ? priority_of(&w, BF_COMMAND_LIST_TYPE_DIRECT, priorities[k]) : 0;
            lines_end(NULL, 0);
            if (compute != cases[i].compute[k] || copy != cases[i].copy[k] ||
                (k < 2 && direct != cases[i].direct[k]))
                fail_msg("case %zu, priority %d: %f, %f, %f", i, priorities[k], compute, copy,
                         direct);
        }
        run(&w);
        world_close(&w);
    }
}

/* Who asks for both is told of the one that there isn't, and why. */
TEST(test_what_there_is_not_is_told)
{
    static const char permits[] = " permits no queue of that global priority";
    static const char *const cases[][3] = {
        {"SHAPE=radv REALTIME=1", "high_priority: ", "realtime has the one family"},
        {"SHAPE=radv", "realtime: ", permits},
        {"SHAPE=apart", "realtime: ", permits},
        {"SHAPE=apart REALTIME=1 HIGH=0", "high_priority: ", permits},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device w;
        char line[512];
        setenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY", "on", 1);
        setenv("VK_BELFRY_MULTI_ENGINE_REALTIME", "on", 1);
        lines_begin();
        world_open(&w, cases[i][0], one);
        assert_int_equal(lines_end_with("priority", line, sizeof(line)), 1);
        unsetenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY");
        unsetenv("VK_BELFRY_MULTI_ENGINE_REALTIME");
        if (!strstr(line, cases[i][1]) || !strstr(line, cases[i][2]))
            fail_msg("case %zu: %s", i, line);
        world_close(&w);
    }
}

/* What the program asks for is refused as without Belfry, whatever Belfry adds. */
TEST(test_the_programs_own_priority_is_refused)
{
    struct device w;
    const float priority = 1;
    const VkDeviceQueueGlobalPriorityCreateInfoKHR global = {
        VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR), .globalPriority = HIGH};
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .pNext = &global,
                                           .queueCount = 1, .pQueuePriorities = &priority};
    static const char *const names[] = {VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue, .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = names};
    setenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY", "on", 1);
    assert_success(world_instance(&w, "SHAPE=nvidia HIGH=0"));
    unsetenv("VK_BELFRY_MULTI_ENGINE_HIGH_PRIORITY");
    lines_begin();
    assert_int_equal(vkCreateDevice(w.physical, &info, NULL, &w.device),
                     VK_ERROR_NOT_PERMITTED_KHR);
    assert_int_equal(lines_end_with("permits", NULL, 0), 0);
    w.device = VK_NULL_HANDLE;
    world_close(&w);
}

/* PL-4: three queues on two VkQueues. */
TEST(test_queues_share_by_priority)
{
    struct device w;
    static const float priorities[] = {0.5f, 1, 0.5f};
    const VkDeviceQueueCreateInfo queues = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 3,
                                            .pQueuePriorities = priorities};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queues};
    assert_success(world_instance(&w, "SHAPE=q2"));
    assert_success(vkCreateDevice(w.physical, &info, NULL, &w.device));
    for (uint32_t i = 0; i < 3; i++) {
        VkQueue queue;
        uint32_t global;
        float priority;
        vkGetDeviceQueue(w.device, 0, i, &queue);
        const struct bf_gpu_engine *engine = &((struct bf_queue *)queue)->engine->base;
        assert_true(w.icd.priorities(0, engine->index, &global, &priority));
        assert_true(priority == priorities[i]);
    }
    world_close(&w);
}

/* Global priorities of families that one real family serves: the VkQueue has the higher one, and
 * the lower queue a window. */
TEST(test_global_priorities_share_a_vkqueue)
{
    const float priority = 1;
    for (int differ = 0; differ < 2; differ++) {
        const VkDeviceQueueGlobalPriorityCreateInfoKHR globals[2] = {
            {VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR), .globalPriority = HIGH},
            {VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR),
             .globalPriority = differ ? VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR : HIGH}};
        VkDeviceQueueCreateInfo asked[2];
        for (uint32_t i = 0; i < 2; i++)
            asked[i] = (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO),
                                                 .pNext = &globals[i], .queueFamilyIndex = i,
                                                 .queueCount = 1, .pQueuePriorities = &priority};
        static const char *const names[] = {VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME};
        const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 2,
                                         .pQueueCreateInfos = asked, .enabledExtensionCount = 1,
                                         .ppEnabledExtensionNames = names};
        struct device w;
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES", "append", 1);
        assert_success(world_instance(&w, "SHAPE=q1"));
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES");
        assert_success(vkCreateDevice(w.physical, &info, NULL, &w.device));
        VkQueue high, low;
        vkGetDeviceQueue(w.device, 0, 0, &high);
        vkGetDeviceQueue(w.device, 1, 0, &low);
        VkCommandPool pools[2] = {vulkan_pool(w.device, 0), vulkan_pool(w.device, 1)};
        w.icd.pause();
        for (uint32_t i = 0; i < 4; i++) {
            VkCommandBuffer commands =
                vulkan_begin(w.device, pools[i < 3], VK_COMMAND_BUFFER_LEVEL_PRIMARY, 0);
            assert_success(vkEndCommandBuffer(commands));
            assert_submitted(i < 3 ? low : high, .commands = commands);
            if (i == 2)
                assert_int_equal(w.icd.queue_depth(0, 0), differ ? 1 : 3);
        }
        assert_int_equal(w.icd.queue_depth(0, 0), differ ? 2 : 4);
        w.icd.resume();
        assert_success(vkDeviceWaitIdle(w.device));
        for (uint32_t i = 0; i < 2; i++)
            vkDestroyCommandPool(w.device, pools[i], NULL);
        world_close(&w);
    }
}

/* Setting 'queue_priorities': of two queues of the program on one VkQueue, the lower one, of whose
 * packets nothing is known, has one of them in flight. */
TEST(test_queue_priorities)
{
    static const float priorities[DEVICE_QUEUES] = {1, 0};
    for (int on = 0; on < 2; on++) {
        struct device w;
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUE_PRIORITIES", on ? "on" : "off", 1);
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "2", 1);
        device_priorities = priorities;
        world_open(&w, "SHAPE=q1", one);
        device_priorities = NULL;
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY");
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUE_PRIORITIES");
        w.icd.pause();
        for (uint32_t i = 0; i < 3; i++)
            assert_submitted(w.queues[0][1], .commands = device_store(&w, 0, i, i + 1));
        assert_int_equal(w.icd.queue_depth(0, 0), on ? 1 : 3);
        assert_submitted(w.queues[0][0], .commands = device_store(&w, 0, 3, 4));
        assert_int_equal(w.icd.queue_depth(0, 0), on ? 2 : 4);
        w.icd.resume();
        assert_success(vkDeviceWaitIdle(w.device));
        for (uint32_t i = 0; i < 4; i++)
            assert_int_equal(w.words[i], i + 1);
        world_close(&w);
    }
}
