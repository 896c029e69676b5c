/*
 * vkQueueSubmit as vkQueueSubmit2: nothing that an older submission says is lost on the way.
 */
#include "fake.h"

#include <string.h>

static uint32_t calls, infos_seen;
static VkSubmitInfo2 seen[4];
static VkSemaphoreSubmitInfo waits[8], signals[8];
static VkCommandBufferSubmitInfo buffers[8];
static VkPerformanceQuerySubmitInfoKHR performance;
static VkFence fence_seen;
static VkQueue queue_seen;

static VkResult VKAPI_CALL drv_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                       VkFence fence)
{
    calls++;
    queue_seen = queue;
    fence_seen = fence;
    infos_seen = count;
    uint32_t w = 0, s = 0, b = 0;
    for (uint32_t i = 0; i < count && i < 4; i++) {
        seen[i] = infos[i];
        for (uint32_t k = 0; k < infos[i].waitSemaphoreInfoCount; k++)
            waits[w++] = infos[i].pWaitSemaphoreInfos[k];
        for (uint32_t k = 0; k < infos[i].signalSemaphoreInfoCount; k++)
            signals[s++] = infos[i].pSignalSemaphoreInfos[k];
        for (uint32_t k = 0; k < infos[i].commandBufferInfoCount; k++)
            buffers[b++] = infos[i].pCommandBufferInfos[k];
        if (infos[i].pNext)
            performance = *(const VkPerformanceQuerySubmitInfoKHR *)infos[i].pNext;
    }
    return VK_SUCCESS;
}

static uint64_t next_semaphore;

static VkResult VKAPI_CALL drv_create_semaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                                                const VkAllocationCallbacks *allocator,
                                                VkSemaphore *semaphore)
{
    (void)device, (void)info, (void)allocator;
    *semaphore = (VkSemaphore)(uintptr_t)(0x100 + 8 * next_semaphore++);
    return VK_SUCCESS;
}

static VkQueue open_queue(void)
{
    fake_load(NULL);
    assert_int_equal(fake_instance(VK_API_VERSION_1_3, 0, NULL), VK_SUCCESS);
    FAKE_OVERRIDE(vkQueueSubmit2, drv_submit2);
    FAKE_OVERRIDE(vkCreateSemaphore, drv_create_semaphore);
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    assert_int_equal(fake_device(&info), VK_SUCCESS);
    VkQueue handle = VK_NULL_HANDLE;
    FAKE_CALL(vkGetDeviceQueue)(fake.device, 0, 0, &handle);
    calls = 0;
    return handle;
}

static VkSemaphore make(uint64_t value, bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore semaphore;
    assert_int_equal(FAKE_CALL(vkCreateSemaphore)(fake.device, &info, NULL, &semaphore),
                     VK_SUCCESS);
    return semaphore;
}

/* Everything at once, ready; then the same, held for a while. */
static void everything(bool held)
{
    VkQueue queue = open_queue();
    VkSemaphore t = make(held ? 0 : 5, true), u = make(0, true), b = make(0, false);
    const VkSemaphore wait_handles[] = {t, b}, signal_handles[] = {u};
    const uint64_t wait_values[] = {5, 77}, signal_values[] = {9};
    const VkPipelineStageFlags stages[] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
                                           VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT};
    const uint32_t wait_devices[] = {0, 1}, masks[] = {1, 3}, signal_devices[] = {1};
    const VkCommandBuffer commands[] = {fake_dispatchable(), fake_dispatchable()};
    const VkPerformanceQuerySubmitInfoKHR pass = {
        .sType = VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR, .counterPassIndex = 3};
    const VkProtectedSubmitInfo protected_submit = {.sType =
                                                        VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
                                                    .pNext = &pass,
                                                    .protectedSubmit = VK_TRUE};
    const VkDeviceGroupSubmitInfo group = {VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
                                           &protected_submit,
                                           2,
                                           wait_devices,
                                           2,
                                           masks,
                                           1,
                                           signal_devices};
    const VkTimelineSemaphoreSubmitInfo values = {
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, &group, 2, wait_values, 1, signal_values};
    const VkSubmitInfo infos[2] = {{VK_STRUCTURE_TYPE_SUBMIT_INFO, &values, 2, wait_handles, stages,
                                    2, commands, 1, signal_handles},
                                   {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                    .commandBufferCount = 1,
                                    .pCommandBuffers = commands}};
    const VkFence fence = (VkFence)(uintptr_t)0x900;
    assert_int_equal(FAKE_CALL(vkQueueSubmit)(queue, 2, infos, fence), VK_SUCCESS);
    if (held) {
        assert_int_equal(calls, 0);
        const VkSemaphoreSignalInfo signal = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = t, .value = 5};
        assert_int_equal(FAKE_CALL(vkSignalSemaphore)(fake.device, &signal), VK_SUCCESS);
    }
    assert_int_equal(calls, 1);
    assert_ptr_equal(queue_seen, fake_queue(0, 0, 0));
    assert_ptr_equal(fence_seen, fence);
    assert_int_equal(infos_seen, 2);
    assert_int_equal(seen[0].flags, VK_SUBMIT_PROTECTED_BIT);
    assert_non_null(seen[0].pNext);
    assert_int_equal(performance.sType, VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR);
    assert_null(performance.pNext);
    assert_int_equal(performance.counterPassIndex, 3);
    assert_int_equal(seen[0].waitSemaphoreInfoCount, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_ptr_equal(waits[i].semaphore, wait_handles[i]);
        assert_int_equal(waits[i].stageMask, stages[i]);
        assert_int_equal(waits[i].deviceIndex, wait_devices[i]);
        assert_ptr_equal(buffers[i].commandBuffer, commands[i]);
        assert_int_equal(buffers[i].deviceMask, masks[i]);
    }
    assert_int_equal(waits[0].value, 5);
    assert_int_equal(seen[0].commandBufferInfoCount, 2);
    assert_int_equal(seen[0].signalSemaphoreInfoCount, 1);
    assert_ptr_equal(signals[0].semaphore, u);
    assert_int_equal(signals[0].value, 9);
    assert_int_equal(signals[0].stageMask, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    assert_int_equal(signals[0].deviceIndex, 1);
    /* The second info says nothing, and gets nothing of the first. */
    assert_int_equal(seen[1].flags, 0);
    assert_null(seen[1].pNext);
    assert_int_equal(seen[1].waitSemaphoreInfoCount, 0);
    assert_int_equal(seen[1].signalSemaphoreInfoCount, 0);
    assert_int_equal(buffers[2].deviceMask, 0);
    fake_close();
}

static void test_everything(void **state)
{
    (void)state;
    everything(false);
    everything(true);
}

/* A group's arrays may be empty. */
static void test_empty_group(void **state)
{
    (void)state;
    VkQueue queue = open_queue();
    const VkDeviceGroupSubmitInfo group = {.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO};
    const VkCommandBuffer commands = fake_dispatchable();
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &group,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    assert_int_equal(FAKE_CALL(vkQueueSubmit)(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(calls, 1);
    assert_int_equal(buffers[0].deviceMask, 0);
    assert_ptr_equal(buffers[0].commandBuffer, commands);
    assert_null(seen[0].pNext);
    fake_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_empty_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
