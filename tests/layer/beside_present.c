/* SPDX-License-Identifier: MIT */
/* Who is beside a present that is stuck in the driver: command queues on a spare VkQueue (PL-3),
 * and neighbours on a VkQueue on which the driver synchronizes calls. */
#include "screen.h"

#include "belfry/belfry.h"
#include "scheduler/command_queue.h"
#include "scheduler/scheduler.h"
#include "support/asleep.h"

static const uint32_t one[] = {1, WORLD_END};

static BfCommandQueue command_queue(BfDevice device, BfCommandListType type)
{
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                           .type = type};
    BfCommandQueue queue;
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    return queue;
}

static struct bf_engine *engine_of(BfCommandQueue queue)
{
    return ((struct bf_command_queue *)queue)->base.engine;
}

DEVICE_TEST(test_command_queues_go_on_beside_a_present, "SHAPE=q2", one)
{
    const BfFenceCreateInfo info = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    BfDevice device;
    BfFence fence;
    struct stuck s;
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateFence(device, &info, &fence));
    stuck_begin(w, &s);
    BfCommandQueue queue = command_queue(device, BF_COMMAND_LIST_TYPE_DIRECT);
    VkCommandBuffer commands = device_store(w, bfGetCommandQueueFamilyIndex(queue), 0, 7);
    assert_success(bfQueueExecute(queue, 1, &commands));
    assert_success(bfQueueSignal(queue, fence, 1));
    assert_success(bfWaitFences(1, &fence, &(uint64_t){1}, 0, UINT64_MAX));
    assert_int_equal(w->words[0], 7);
    assert_false(atomic_load(&((struct bf_queue *)w->queues[0][0])->engine->shared));
    stuck_release(w, &s);
    stuck_close(w, &s);
    bfDestroyCommandQueue(queue);
    bfDestroyFence(fence);
}

/* The same where there is no spare: neighbours on the very VkQueue. */
static const uint32_t two[] = {2, WORLD_END};

DEVICE_TEST(test_neighbours_go_on_beside_a_present, "SHAPE=q1 INTERNAL_QUEUES=1", two)
{
    struct stuck s;
    VkSemaphore held = vulkan_timeline(w->device, 0), t = vulkan_timeline(w->device, 0);
    VkQueue neighbour = w->queues[0][1];
    stuck_begin(w, &s);
    /* One that goes at once, one that the host sets free. */
    assert_submitted(neighbour, .commands = device_store(w, 0, 0, 7), .signal = t,
                     .signal_value = 1);
    assert_submitted(neighbour, .wait = held, .wait_value = 1, .commands = device_store(w, 0, 1, 8),
                     .signal = t, .signal_value = 2);
    vulkan_wait(w->device, t, 1);
    vulkan_signal(w->device, held, 1);
    assert_success(vkQueueWaitIdle(neighbour));
    assert_int_equal(vulkan_value(w->device, t), 2);
    assert_int_equal(w->words[0], 7);
    assert_int_equal(w->words[1], 8);
    assert_int_equal(w->icd.blocked(), 1);
    stuck_release(w, &s);
    stuck_close(w, &s);
    vulkan_destroy(w->device, held, t);
}

/* L-3: a present that never returns, on the VkQueue of all, keeps nobody from hearing of a loss. */
DEVICE_TEST(test_a_loss_is_told_beside_a_present, "SHAPE=q1", two)
{
    const BfFenceCreateInfo info = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    BfDevice device;
    BfFence fence;
    struct stuck s;
    VkFence vkfence = vulkan_fence(w->device, false);
    const VkQueue neighbour = w->queues[0][1];
    const struct vulkan_batch batch = {.commands = device_store(w, 0, 0, 7)};
    assert_success(bfGetDevice(w->device, &device));
    assert_success(bfCreateFence(device, &info, &fence));
    stuck_begin(w, &s);
    assert_success(bfRemoveDevice(device));
    assert_int_equal(vulkan_submit(neighbour, batch), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkWaitForFences(w->device, 1, &vkfence, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkQueueWaitIdle(neighbour), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkQueueWaitIdle(w->queues[0][0]), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkDeviceWaitIdle(w->device), VK_ERROR_DEVICE_LOST);
    assert_int_equal(bfGetFenceCompletedValue(fence), UINT64_MAX);
    assert_int_equal(w->icd.blocked(), 1);
    stuck_release(w, &s);
    w->icd.quiesce(); /* the driver knows of no loss, and goes on with the present */
    screen_close(w, &s.screen);
    bfDestroyFence(fence);
    vkDestroyFence(w->device, vkfence, NULL);
}

/* The same of a loss that the driver tells of. */
DEVICE_TEST(test_a_fence_tells_of_a_loss_beside_a_present, "SHAPE=q1", two)
{
    struct stuck s;
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkFence fresh = vulkan_fence(w->device, false), held = vulkan_fence(w->device, false);
    assert_submitted(w->queues[0][1], .wait = t, .wait_value = 1, .fence = held);
    stuck_begin(w, &s);
    w->icd.lose();
    assert_int_equal(vkGetFenceStatus(w->device, fresh), VK_ERROR_DEVICE_LOST);
    assert_int_equal(vkGetFenceStatus(w->device, held), VK_ERROR_DEVICE_LOST);
    assert_int_equal(w->icd.blocked(), 1);
    uint64_t fences = w->icd.live("fence");
    vkDestroyFence(w->device, fresh, NULL);
    vkDestroyFence(w->device, held, NULL);
    assert_int_equal(w->icd.live("fence"), fences - 2); /* nothing has it any more */
    w->icd.release(UINT64_MAX);
    pthread_join(s.thread, NULL);
    assert_int_equal(s.presenter.result, VK_ERROR_DEVICE_LOST);
    w->icd.set_block(NULL);
    screen_close(w, &s.screen);
    vkDestroySemaphore(w->device, t, NULL);
}

struct labelled {
    struct device *w;
    _Atomic int id;
    _Atomic bool done;
};

static void *submit_labelled(void *argument)
{
    struct labelled *l = argument;
    VkQueue queue = l->w->queues[0][1];
    l->id = gettid();
    vkQueueBeginDebugUtilsLabelEXT(
        queue, &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "neighbour"});
    vulkan_submit(queue, (struct vulkan_batch){.commands = device_store(l->w, 0, 0, 7)});
    vkQueueEndDebugUtilsLabelEXT(queue);
    l->done = true;
    return NULL;
}

/* Its labels are not those of the present: it waits for that. */
DEVICE_TEST(test_labels_stay_until_a_present_has_returned, "SHAPE=q1 INTERNAL_QUEUES=1", two)
{
    struct belfry_icd_record records[8];
    struct labelled l = {.w = w};
    struct stuck s;
    pthread_t thread;
    stuck_begin(w, &s);
    w->icd.record_start(records, 8);
    assert_int_equal(pthread_create(&thread, NULL, submit_labelled, &l), 0);
    while (!l.done && (!l.id || !thread_waits(l.id)))
        sched_yield();
    assert_int_equal(w->icd.record_count(), 0);
    stuck_release(w, &s);
    pthread_join(thread, NULL);
    stuck_close(w, &s);
    assert_int_equal(w->icd.record_stop(), 4);
    assert_int_equal(records[0].call, BELFRY_ICD_CALL_PRESENT);
    assert_string_equal(records[0].labels, "");
    assert_int_equal(records[2].call, BELFRY_ICD_CALL_SUBMIT);
    assert_string_equal(records[2].labels, "neighbour");
}

/* A program's own such VkQueue: two threads submit to it at once. */
struct submitter {
    VkQueue queue;
    VkSemaphore timeline;
};

static void *submit_many(void *argument)
{
    struct submitter *s = argument;
    for (uint64_t i = 1; i <= 200; i++)
        vulkan_submit(s->queue, (struct vulkan_batch){.signal = s->timeline, .signal_value = i});
    return NULL;
}

TEST(test_threads_share_a_queue_that_synchronizes_itself)
{
    struct device w;
    const float priority = 1.0f;
    const char *const name = "VK_KHR_internally_synchronized_queues";
    struct {
        VkBaseOutStructure head;
        VkBool32 on;
    } internal = {{(VkStructureType)1000504000, NULL}, VK_TRUE};
    const VkPhysicalDeviceVulkan12Features v12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
                                                  .pNext = &internal, .timelineSemaphore = VK_TRUE};
    const VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                                  .pNext = (void *)(uintptr_t)&v12,
                                                  .synchronization2 = VK_TRUE};
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .flags = 4,
                                           .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .pNext = &v13,
                                     .queueCreateInfoCount = 1,   .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,  .ppEnabledExtensionNames = &name};
    const VkDeviceQueueInfo2 which = {VK_TYPE(DEVICE_QUEUE_INFO_2), .flags = 4};
    struct submitter submitters[2];
    pthread_t threads[2];
    assert_success(world_instance(&w, "SHAPE=q1 INTERNAL_QUEUES=1"));
    assert_success(device_create(&w, &info));
    for (int i = 0; i < 2; i++) {
        vkGetDeviceQueue2(w.device, &which, &submitters[i].queue);
        assert_non_null(submitters[i].queue);
        submitters[i].timeline = vulkan_timeline(w.device, 0);
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &submitters[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        vulkan_wait(w.device, submitters[i].timeline, 200);
        pthread_join(threads[i], NULL);
    }
    assert_success(vkDeviceWaitIdle(w.device));
    for (int i = 0; i < 2; i++)
        vkDestroySemaphore(w.device, submitters[i].timeline, NULL);
    world_close(&w);
}

/* Where there is no spare: beside a VkQueue that has been presented on, as long as there is
 * another, though others are there. */
DEVICE_TEST(test_command_queues_avoid_who_has_presented, "SHAPE=q2", two)
{
    BfDevice device;
    BfCommandQueue queues[3];
    struct stuck s;
    assert_success(bfGetDevice(w->device, &device));
    queues[0] = command_queue(device, BF_COMMAND_LIST_TYPE_DIRECT);
    assert_int_equal(engine_of(queues[0])->base.index, 0);
    stuck_begin(w, &s);
    stuck_release(w, &s);
    for (int i = 1; i < 3; i++) {
        queues[i] = command_queue(device, BF_COMMAND_LIST_TYPE_DIRECT);
        assert_int_equal(engine_of(queues[i])->base.index, 1);
    }
    for (int i = 0; i < 3; i++)
        bfDestroyCommandQueue(queues[i]);
    stuck_close(w, &s);
}

/* Where one command queue after the other is placed, by the number of its VkQueue among the
 * driver's; and by which family the program knows it. */
TEST(test_spares_come_first)
{
    static const struct {
        const char *environment;
        uint32_t counts[4];
        struct {
            BfCommandListType type;
            uint32_t shown, real, index;
        } queues[5];
    } cases[] = {
        {"SHAPE=q2",
         {1, WORLD_END},
         {{BF_COMMAND_LIST_TYPE_DIRECT, 0, 0, 1},
          {BF_COMMAND_LIST_TYPE_COPY, 0, 0, 1},
          {0, 0, 0, 1}}},
        {"SHAPE=q4",
         {2, WORLD_END},
         {{0, 0, 0, 2}, {0, 0, 0, 2}, {0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0, 1}}},
        {"SHAPE=q4", /* the second and third family are appended */
         {1, 1, 1, WORLD_END},
         {{BF_COMMAND_LIST_TYPE_COMPUTE, 1, 0, 3},
          {BF_COMMAND_LIST_TYPE_COPY, 2, 0, 3},
          {0, 0, 0, 1}}},
        {"SHAPE=q1", {1, WORLD_END}, {{0, 0, 0, 0}}},
        {"SHAPE=nvidia",
         {16, 1, 7, WORLD_END},
         {{BF_COMMAND_LIST_TYPE_DIRECT, 0, 0, 0},
          {BF_COMMAND_LIST_TYPE_COMPUTE, 2, 2, 7},
          {BF_COMMAND_LIST_TYPE_COPY, 1, 1, 1}}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device w;
        BfDevice device;
        BfCommandQueue queues[5];
        uint32_t n = 0;
        world_open(&w, cases[i].environment, cases[i].counts);
        assert_success(bfGetDevice(w.device, &device));
        for (; n < 5 && (!n || cases[i].queues[n].index); n++) {
            queues[n] = command_queue(device, cases[i].queues[n].type);
            const struct bf_gpu_engine *engine = &engine_of(queues[n])->base;
            if (engine->family != cases[i].queues[n].real ||
                engine->index != cases[i].queues[n].index)
                fail_msg("case %zu, queue %u: on %u:%u", i, n, engine->family, engine->index);
            assert_int_equal(bfGetCommandQueueFamilyIndex(queues[n]), cases[i].queues[n].shown);
        }
        while (n > 0)
            bfDestroyCommandQueue(queues[--n]);
        world_close(&w);
    }
}
