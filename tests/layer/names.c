/* SPDX-License-Identifier: MIT */
/* What programs hang on queues: private data, names, tags, labels. The test driver aborts when a
 * handle of ours reaches it. */
#include "support/asleep.h"
#include "support/world.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static const uint32_t three[] = {2, 1, 1, WORLD_END};

DEVICE_TEST(test_private_data, "SHAPE=lavapipe", three)
{
    const VkPrivateDataSlotCreateInfo info = {VK_TYPE(PRIVATE_DATA_SLOT_CREATE_INFO)};
    VkPrivateDataSlot slots[3];
    for (uint32_t i = 0; i < 3; i++)
        assert_success(vkCreatePrivateDataSlot(w->device, &info, NULL, &slots[i]));
    const VkQueue queues[] = {w->queues[0][0], w->queues[0][1], w->queues[1][0], w->queues[2][0]};
    VkSemaphore other = vulkan_timeline(w->device, 0);
    /* All four are one VkQueue below, and have data of their own. */
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t q = 0; q < 4; q++) {
            for (uint32_t s = 0; s < 3; s++) {
                uint64_t value = 77;
                vkGetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE, (uintptr_t)queues[q], slots[s],
                                 &value);
                assert_int_equal(value, round ? 100 * round + 10 * q + s : 0);
                assert_success(vkSetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE,
                                                (uintptr_t)queues[q], slots[s],
                                                100 * (round + 1) + 10 * q + s));
            }
        }
        uint64_t value = 77;
        vkGetPrivateData(w->device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)other, slots[0], &value);
        assert_int_equal(value, round);
        assert_success(vkSetPrivateData(w->device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)other,
                                        slots[0], round + 1));
        assert_success(vkSetPrivateData(w->device, VK_OBJECT_TYPE_DEVICE, (uintptr_t)w->device,
                                        slots[0], round + 1));
    }
    /* A slot that goes takes its values along; one that comes has none. */
    vkDestroyPrivateDataSlot(w->device, slots[1], NULL);
    assert_success(vkCreatePrivateDataSlot(w->device, &info, NULL, &slots[1]));
    for (uint32_t q = 0; q < 4; q++) {
        uint64_t values[3] = {77, 77, 77};
        for (uint32_t s = 0; s < 3; s++)
            vkGetPrivateData(w->device, VK_OBJECT_TYPE_QUEUE, (uintptr_t)queues[q], slots[s],
                             &values[s]);
        assert_int_equal(values[0], 300 + 10 * q);
        assert_int_equal(values[1], 0);
        assert_int_equal(values[2], 302 + 10 * q);
    }
    vkDestroyPrivateDataSlot(w->device, VK_NULL_HANDLE, NULL);
    for (uint32_t i = 0; i < 3; i++)
        vkDestroyPrivateDataSlot(w->device, slots[i], NULL);
    vkDestroySemaphore(w->device, other, NULL);
}

DEVICE_TEST(test_names_and_labels, "SHAPE=lavapipe", three)
{
    const VkQueue queues[] = {w->queues[0][0], w->queues[0][1], w->queues[1][0], w->queues[2][0]};
    VkSemaphore t = vulkan_timeline(w->device, 0);
    for (uint32_t q = 0; q < 4; q++) {
        VkDebugUtilsObjectNameInfoEXT name = {
            VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_QUEUE,
            .objectHandle = (uintptr_t)queues[q], .pObjectName = "a queue"};
        const VkDebugUtilsObjectNameInfoEXT before = name;
        assert_success(vkSetDebugUtilsObjectNameEXT(w->device, &name));
        assert_memory_equal(&name, &before, sizeof(name));
        name.pObjectName = NULL; /* takes the name away */
        assert_success(vkSetDebugUtilsObjectNameEXT(w->device, &name));
        VkDebugUtilsObjectTagInfoEXT tag = {VK_TYPE(DEBUG_UTILS_OBJECT_TAG_INFO_EXT),
                                            .objectType = VK_OBJECT_TYPE_QUEUE,
                                            .objectHandle = (uintptr_t)queues[q],
                                            .tagName = 5,
                                            .tagSize = 2,
                                            .pTag = "x"};
        assert_success(vkSetDebugUtilsObjectTagEXT(w->device, &tag));
        const VkDebugUtilsLabelEXT label = {VK_TYPE(DEBUG_UTILS_LABEL_EXT),
                                            .pLabelName = "a label"};
        vkQueueBeginDebugUtilsLabelEXT(queues[q], &label);
        vkQueueInsertDebugUtilsLabelEXT(queues[q], &label);
        /* Labels may come while the queue holds something. */
        assert_submitted(queues[q], .wait = t, .wait_value = 1);
        vkQueueEndDebugUtilsLabelEXT(queues[q]);
    }
    const VkDebugUtilsObjectNameInfoEXT others[] = {
        {VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_SEMAPHORE,
         .objectHandle = (uint64_t)t, .pObjectName = "t"},
        {VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_DEVICE,
         .objectHandle = (uintptr_t)w->device, .pObjectName = "d"},
    };
    for (size_t i = 0; i < 2; i++)
        assert_success(vkSetDebugUtilsObjectNameEXT(w->device, &others[i]));
    vulkan_signal(w->device, t, 1);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* The commands of VK_EXT_debug_utils that a device's objects have. */
#define DEBUG_COMMANDS(X)                                                                          \
    X(vkSetDebugUtilsObjectNameEXT)                                                                \
    X(vkSetDebugUtilsObjectTagEXT)                                                                 \
    X(vkQueueBeginDebugUtilsLabelEXT)                                                              \
    X(vkQueueInsertDebugUtilsLabelEXT)                                                             \
    X(vkQueueEndDebugUtilsLabelEXT)                                                                \
    X(vkCmdBeginDebugUtilsLabelEXT)                                                                \
    X(vkCmdInsertDebugUtilsLabelEXT)                                                               \
    X(vkCmdEndDebugUtilsLabelEXT)

struct debug_commands {
#define MEMBER(name) PFN_##name name;
    DEBUG_COMMANDS(MEMBER)
#undef MEMBER
};

static void find_debug_commands(const struct device *w, bool by_instance, struct debug_commands *c)
{
#define FIND(name)                                                                                 \
    c->name = (PFN_##name)(by_instance ? vkGetInstanceProcAddr(w->instance, #name)                 \
                                       : vkGetDeviceProcAddr(w->device, #name));
    DEBUG_COMMANDS(FIND)
#undef FIND
}

/* Which of them are there, as bits. */
static uint32_t there(const struct debug_commands *c)
{
    uint32_t bits = 0, n = 0;
#define BIT(name) bits |= (uint32_t)(c->name != NULL) << n++;
    DEBUG_COMMANDS(BIT)
#undef BIT
    return bits;
}

static void name_everything(struct device *w, const struct debug_commands *c)
{
    VkQueue queue = w->queues[0][1];
    VkSemaphore t = vulkan_timeline(w->device, 0);
    VkCommandBuffer commands = device_begin(w, 0, 0);
    const struct {
        VkObjectType type;
        uint64_t handle;
    } objects[] = {{VK_OBJECT_TYPE_QUEUE, (uintptr_t)queue},
                   {VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)t},
                   {VK_OBJECT_TYPE_COMMAND_BUFFER, (uintptr_t)commands},
                   {VK_OBJECT_TYPE_BUFFER, (uint64_t)w->buffer}};
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        const VkDebugUtilsObjectNameInfoEXT name = {
            VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = objects[i].type,
            .objectHandle = objects[i].handle, .pObjectName = "a name"};
        if (c->vkSetDebugUtilsObjectNameEXT)
            assert_success(c->vkSetDebugUtilsObjectNameEXT(w->device, &name));
        const VkDebugUtilsObjectTagInfoEXT tag = {VK_TYPE(DEBUG_UTILS_OBJECT_TAG_INFO_EXT),
                                                  .objectType = objects[i].type,
                                                  .objectHandle = objects[i].handle,
                                                  .tagName = 5,
                                                  .tagSize = 2,
                                                  .pTag = "x"};
        if (c->vkSetDebugUtilsObjectTagEXT)
            assert_success(c->vkSetDebugUtilsObjectTagEXT(w->device, &tag));
    }
    const VkDebugUtilsLabelEXT label = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "a label"};
    if (c->vkCmdBeginDebugUtilsLabelEXT)
        c->vkCmdBeginDebugUtilsLabelEXT(commands, &label);
    if (c->vkCmdInsertDebugUtilsLabelEXT)
        c->vkCmdInsertDebugUtilsLabelEXT(commands, &label);
    if (c->vkCmdEndDebugUtilsLabelEXT)
        c->vkCmdEndDebugUtilsLabelEXT(commands);
    assert_success(vkEndCommandBuffer(commands));
    /* Around and behind what goes at once, and what is held. */
    for (uint32_t held = 0; held < 2; held++) {
        if (c->vkQueueBeginDebugUtilsLabelEXT)
            c->vkQueueBeginDebugUtilsLabelEXT(queue, &label);
        assert_submitted(queue, .wait = t, .wait_value = held, .commands = commands);
        if (c->vkQueueInsertDebugUtilsLabelEXT)
            c->vkQueueInsertDebugUtilsLabelEXT(queue, &label);
        if (c->vkQueueEndDebugUtilsLabelEXT)
            c->vkQueueEndDebugUtilsLabelEXT(queue);
        if (held)
            vulkan_signal(w->device, t, 1);
        assert_success(vkDeviceWaitIdle(w->device));
    }
    vkDestroySemaphore(w->device, t, NULL);
}

/* ----------------------------------------------------------------------- Beside other calls --- */

struct caller {
    struct device *w;
    VkCommandBuffer commands;
    VkResult result;
    _Atomic int id;
    _Atomic bool finished;
};

static void *run_submit(void *argument)
{
    struct caller *c = argument;
    c->result = vulkan_submit(c->w->queues[0][1], (struct vulkan_batch){.commands = c->commands});
    return NULL;
}

static void *run_name(void *argument)
{
    struct caller *c = argument;
    const VkDebugUtilsObjectNameInfoEXT name = {
        VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_QUEUE,
        .objectHandle = (uintptr_t)c->w->queues[0][0], .pObjectName = "mine"};
    const VkDebugUtilsObjectTagInfoEXT tag = {
        VK_TYPE(DEBUG_UTILS_OBJECT_TAG_INFO_EXT), .objectType = VK_OBJECT_TYPE_QUEUE,
        .objectHandle = (uintptr_t)c->w->queues[0][0], .tagSize = 4, .pTag = "tag"};
    c->id = gettid();
    c->result = vkSetDebugUtilsObjectNameEXT(c->w->device, &name);
    if (c->result == VK_SUCCESS)
        c->result = vkSetDebugUtilsObjectTagEXT(c->w->device, &tag);
    c->finished = true;
    return NULL;
}

/* Each thread has a queue of its own; below, both are one VkQueue, and in no two calls at once. */
DEVICE_TEST(test_a_name_beside_a_neighbours_submission, "SHAPE=lavapipe", three)
{
    pthread_t threads[2];
    struct caller submitter = {.w = w, .commands = device_store(w, 0, 0, 1)}, namer = {.w = w};
    w->icd.set_block(&(struct belfry_icd_block){.command = "vkQueueSubmit2", .first = 1});
    assert_int_equal(pthread_create(&threads[0], NULL, run_submit, &submitter), 0);
    w->icd.await_blocked(1);
    assert_int_equal(pthread_create(&threads[1], NULL, run_name, &namer), 0);
    while (!namer.finished && (!namer.id || thread_state(namer.id) != 'S'))
        sched_yield();
    w->icd.release(UINT64_MAX);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    w->icd.set_block(NULL);
    assert_success(submitter.result);
    assert_success(namer.result);
    assert_success(vkDeviceWaitIdle(w->device));
}

/* What nobody speaks of isn't kept: its handle may never come again. */
TEST(test_names_of_other_objects_are_not_kept)
{
    enum { MANY = 10000 };
    struct device w;
    setenv("VK_BELFRY_MULTI_ENGINE_WATCHDOG", "1000", 1);
    world_open(&w, "SHAPE=lavapipe", three);
    unsetenv("VK_BELFRY_MULTI_ENGINE_WATCHDOG");
    VkDebugUtilsObjectNameInfoEXT name = {VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT),
                                          .objectType = VK_OBJECT_TYPE_DESCRIPTOR_SET,
                                          .pObjectName = "staging"};
    const size_t before = mallinfo2().uordblks;
    for (uint64_t i = 1; i <= MANY; i++) {
        name.objectHandle = i << 12;
        assert_success(vkSetDebugUtilsObjectNameEXT(w.device, &name));
    }
    const size_t after = mallinfo2().uordblks;
    assert_true(after < before + MANY);
    world_close(&w);
}

/* Some programs name what they make without having enabled VK_EXT_debug_utils: the loader answers
 * for the commands all the same. With the layer they find what they find without it, and it does
 * nothing. */
TEST(test_names_without_the_extension)
{
    char *layers = strdup(getenv("VK_INSTANCE_LAYERS"));
    struct device w;
    struct debug_commands commands;
    uint32_t plain[2], found = 0;
    static const uint32_t two[] = {2, WORLD_END};
    world_without_debug_utils = true;
    unsetenv("VK_INSTANCE_LAYERS");
    world_open(&w, "SHAPE=q2", two);
    for (int by_instance = 0; by_instance < 2; by_instance++) {
        find_debug_commands(&w, by_instance, &commands);
        plain[by_instance] = there(&commands);
        found |= plain[by_instance];
    }
    world_close(&w);
    setenv("VK_INSTANCE_LAYERS", layers, 1);
    assert_int_not_equal(found, 0); /* or there would be nothing to test */

    static const char *const settings[][2] = {
        {"VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact"},
        {"VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off"},
        {"VK_BELFRY_MULTI_ENGINE_SUMMARY", "on"},
        {"VK_BELFRY_MULTI_ENGINE_CHECK", "access"},
    };
    for (size_t s = 0; s < sizeof(settings) / sizeof(settings[0]); s++) {
        setenv(settings[s][0], settings[s][1], 1);
        world_open(&w, "SHAPE=q2", two);
        for (int by_instance = 0; by_instance < 2; by_instance++) {
            find_debug_commands(&w, by_instance, &commands);
            assert_int_equal(there(&commands), plain[by_instance]);
            name_everything(&w, &commands);
        }
        world_close(&w);
    }
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
    unsetenv("VK_BELFRY_MULTI_ENGINE_SUMMARY");
    world_without_debug_utils = false;
    free(layers);
}
