/*
 * What programs hang on queues: private data, names, tags, labels. The test driver aborts when a
 * handle of ours reaches it.
 */
#include "world.h"

#include <string.h>

static const uint32_t three[] = {2, 1, 1, WORLD_END};

static void test_private_data(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "SHAPE=lavapipe", three);
    const VkPrivateDataSlotCreateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
    VkPrivateDataSlot slots[3];
    for (uint32_t i = 0; i < 3; i++)
        assert_success(vkCreatePrivateDataSlot(w.device, &info, NULL, &slots[i]));
    const VkQueue queues[] = {w.queues[0][0], w.queues[0][1], w.queues[1][0], w.queues[2][0]};
    VkSemaphore other = world_timeline(&w, 0);
    /* All four are one VkQueue below, and have data of their own. */
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t q = 0; q < 4; q++) {
            for (uint32_t s = 0; s < 3; s++) {
                uint64_t value = 77;
                vkGetPrivateData(w.device, VK_OBJECT_TYPE_QUEUE, (uintptr_t)queues[q], slots[s],
                                 &value);
                assert_int_equal(value, round ? 100 * round + 10 * q + s : 0);
                assert_success(vkSetPrivateData(w.device, VK_OBJECT_TYPE_QUEUE,
                                                (uintptr_t)queues[q], slots[s],
                                                100 * (round + 1) + 10 * q + s));
            }
        }
        uint64_t value = 77;
        vkGetPrivateData(w.device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)other, slots[0], &value);
        assert_int_equal(value, round);
        assert_success(vkSetPrivateData(w.device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)other,
                                        slots[0], round + 1));
        assert_success(vkSetPrivateData(w.device, VK_OBJECT_TYPE_DEVICE, (uintptr_t)w.device,
                                        slots[0], round + 1));
    }
    /* A slot that goes takes its values along; one that comes has none. */
    vkDestroyPrivateDataSlot(w.device, slots[1], NULL);
    assert_success(vkCreatePrivateDataSlot(w.device, &info, NULL, &slots[1]));
    for (uint32_t q = 0; q < 4; q++) {
        uint64_t values[3] = {77, 77, 77};
        for (uint32_t s = 0; s < 3; s++)
            vkGetPrivateData(w.device, VK_OBJECT_TYPE_QUEUE, (uintptr_t)queues[q], slots[s],
                             &values[s]);
        assert_int_equal(values[0], 300 + 10 * q);
        assert_int_equal(values[1], 0);
        assert_int_equal(values[2], 302 + 10 * q);
    }
    vkDestroyPrivateDataSlot(w.device, VK_NULL_HANDLE, NULL);
    for (uint32_t i = 0; i < 3; i++)
        vkDestroyPrivateDataSlot(w.device, slots[i], NULL);
    vkDestroySemaphore(w.device, other, NULL);
    world_close(&w);
}

static void test_names_and_labels(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "SHAPE=lavapipe", three);
    const VkQueue queues[] = {w.queues[0][0], w.queues[0][1], w.queues[1][0], w.queues[2][0]};
    VkSemaphore t = world_timeline(&w, 0);
    for (uint32_t q = 0; q < 4; q++) {
        VkDebugUtilsObjectNameInfoEXT name = {
            .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
            .objectType = VK_OBJECT_TYPE_QUEUE,
            .objectHandle = (uintptr_t)queues[q],
            .pObjectName = "a queue"};
        const VkDebugUtilsObjectNameInfoEXT before = name;
        assert_success(vkSetDebugUtilsObjectNameEXT(w.device, &name));
        assert_memory_equal(&name, &before, sizeof(name));
        name.pObjectName = NULL; /* takes the name away */
        assert_success(vkSetDebugUtilsObjectNameEXT(w.device, &name));
        VkDebugUtilsObjectTagInfoEXT tag = {.sType =
                                                VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_TAG_INFO_EXT,
                                            .objectType = VK_OBJECT_TYPE_QUEUE,
                                            .objectHandle = (uintptr_t)queues[q],
                                            .tagName = 5,
                                            .tagSize = 2,
                                            .pTag = "x"};
        assert_success(vkSetDebugUtilsObjectTagEXT(w.device, &tag));
        const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
                                            .pLabelName = "a label"};
        vkQueueBeginDebugUtilsLabelEXT(queues[q], &label);
        vkQueueInsertDebugUtilsLabelEXT(queues[q], &label);
        /* Labels may come while the queue holds something. */
        assert_success(world_submit(queues[q], (struct batch){.wait = t, .wait_value = 1}));
        vkQueueEndDebugUtilsLabelEXT(queues[q]);
    }
    const VkDebugUtilsObjectNameInfoEXT others[] = {
        {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
         .objectType = VK_OBJECT_TYPE_SEMAPHORE,
         .objectHandle = (uint64_t)t,
         .pObjectName = "t"},
        {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
         .objectType = VK_OBJECT_TYPE_DEVICE,
         .objectHandle = (uintptr_t)w.device,
         .pObjectName = "d"},
    };
    for (size_t i = 0; i < 2; i++)
        assert_success(vkSetDebugUtilsObjectNameEXT(w.device, &others[i]));
    world_signal(&w, t, 1);
    assert_success(vkDeviceWaitIdle(w.device));
    vkDestroySemaphore(w.device, t, NULL);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_private_data),
        cmocka_unit_test(test_names_and_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
