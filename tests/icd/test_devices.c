/* SPDX-License-Identifier: MIT */
/* More than one physical device: what tells them apart, and that they share nothing. */
#include "support/world.h"

static VkPhysicalDeviceIDProperties identity(VkPhysicalDevice physical,
                                             VkPhysicalDeviceProperties *properties)
{
    VkPhysicalDeviceIDProperties id = {VK_TYPE(PHYSICAL_DEVICE_ID_PROPERTIES)};
    VkPhysicalDeviceProperties2 all = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &id};
    vkGetPhysicalDeviceProperties2(physical, &all);
    *properties = all.properties;
    return id;
}

TEST(test_one_device_unless_more_are_asked_for)
{
    static const struct {
        const char *environment;
        uint32_t n;
    } cases[] = {{NULL, 1}, {"DEVICES=2", 2}, {"DEVICES=4", 4}, {"DEVICES=5", 1}, {"DEVICES=0", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct device f;
        assert_success(world_instance(&f, cases[i].environment));
        assert_int_equal(f.physical_count, cases[i].n);
        uint32_t n = 0;
        assert_success(vkEnumeratePhysicalDeviceGroups(f.instance, &n, NULL));
        assert_int_equal(n, cases[i].n);
        world_close(&f);
    }
}

TEST(test_devices_have_an_identity_each)
{
    struct device f;
    assert_success(world_instance(&f, "DEVICES=3 SHAPE=q2 SHAPE_2=nvidia"));
    static const char *const names[] = {"Belfry test driver (q2)", "Belfry test driver 2 (nvidia)",
                                        "Belfry test driver 3 (q2)"};
    VkPhysicalDeviceProperties properties[3];
    VkPhysicalDeviceIDProperties ids[3];
    for (uint32_t i = 0; i < 3; i++) {
        ids[i] = identity(f.physicals[i], &properties[i]);
        assert_string_equal(properties[i].deviceName, names[i]);
        assert_int_equal(properties[i].deviceID, i + 1);
        assert_memory_equal(ids[i].driverUUID, ids[0].driverUUID, VK_UUID_SIZE);
        for (uint32_t k = 0; k < i; k++)
            assert_memory_not_equal(ids[i].deviceUUID, ids[k].deviceUUID, VK_UUID_SIZE);
    }
    VkPhysicalDeviceGroupProperties groups[3] = {0};
    uint32_t n = 3;
    for (uint32_t i = 0; i < 3; i++)
        groups[i].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES;
    assert_success(vkEnumeratePhysicalDeviceGroups(f.instance, &n, groups));
    bool seen[3] = {false};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(groups[i].physicalDeviceCount, 1);
        for (uint32_t k = 0; k < 3; k++)
            seen[k] |= groups[i].physicalDevices[0] == f.physicals[k];
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    world_close(&f);
}

/* The second device is like the first one but for what is said of it. */
TEST(test_each_device_has_its_own_switches)
{
    struct device f;
    assert_success(world_instance(&f,
                                  "DEVICES=3 SHAPE=copy SHAPE_2=intel API_2=1.1 NO_SYNC2_2=1 "
                                  "HOST_MEMORY=0 HOST_MEMORY_2=1 TIMESTAMP_BITS_3=40 INT64_3=1"));
    static const struct {
        uint32_t families, minor, bits;
        bool host_memory, sync2, int64;
    } expected[] = {{2, 3, 64, false, true, false},
                    {3, 1, 36, true, false, false},
                    {2, 3, 40, false, true, true}};
    for (uint32_t i = 0; i < 3; i++) {
        VkPhysicalDeviceProperties properties;
        VkPhysicalDeviceFeatures features;
        VkQueueFamilyProperties families[DEVICE_FAMILIES];
        uint32_t n = DEVICE_FAMILIES;
        vkGetPhysicalDeviceProperties(f.physicals[i], &properties);
        vkGetPhysicalDeviceFeatures(f.physicals[i], &features);
        vkGetPhysicalDeviceQueueFamilyProperties(f.physicals[i], &n, families);
        assert_int_equal(n, expected[i].families);
        assert_int_equal(families[0].timestampValidBits, expected[i].bits);
        assert_int_equal(VK_API_VERSION_MINOR(properties.apiVersion), expected[i].minor);
        assert_int_equal(features.shaderInt64, expected[i].int64);
        assert_int_equal(
            vulkan_has_device_extension(f.physicals[i], VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME),
            expected[i].host_memory);
        assert_int_equal(
            vulkan_has_device_extension(f.physicals[i], VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME),
            expected[i].sync2);
    }
    world_close(&f);
}

static uint64_t device_time(struct device *f)
{
    const VkCalibratedTimestampInfoEXT info = {VK_TYPE(CALIBRATED_TIMESTAMP_INFO_EXT),
                                               .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT};
    uint64_t time, deviation;
    assert_success(vkGetCalibratedTimestampsEXT(f->device, 1, &info, &time, &deviation));
    return time;
}

TEST(test_devices_run_beside_each_other)
{
    struct device f, g;
    world_open(&f, "DEVICES=2 SHAPE=q1 SHAPE_2=nvidia", WORLD_ALL);
    world_open_beside(&g, &f, 1);
    assert_int_equal(f.family_count, 1);
    assert_int_equal(g.family_count, 5);
    struct belfry_icd_record records[2];
    f.icd.record_start(records, 2);
    assert_submitted(f.queues[0][0], .commands = device_store(&f, 0, 0, 1));
    assert_submitted(g.queues[0][0], .commands = device_store(&g, 0, 0, 2));
    assert_int_equal(f.icd.record_stop(), 2);
    assert_int_equal(records[0].device, 0);
    assert_int_equal(records[1].device, 1);
    assert_success(vkDeviceWaitIdle(f.device));
    assert_success(vkDeviceWaitIdle(g.device));
    assert_int_equal(f.words[0], 1);
    assert_int_equal(g.words[0], 2);

    /* Hours lie between their clocks, whatever the units. */
    uint64_t times[2] = {device_time(&f), device_time(&g)};
    assert_true(times[1] > times[0] + UINT64_C(3600000000000));

    f.icd.lose_device(1);
    assert_int_equal(vkDeviceWaitIdle(g.device), VK_ERROR_DEVICE_LOST);
    assert_success(vkDeviceWaitIdle(f.device));
    device_close(&g);
    world_close(&f);
}

TEST(test_objects_stay_with_their_device)
{
    struct device f, g;
    world_open(&f, "DEVICES=2 SHAPE=q1 QUIET=1", WORLD_ALL);
    world_open_beside(&g, &f, 1);
    VkSemaphore a = vulkan_timeline(f.device, 0);
    VkFence fence = vulkan_fence(f.device, false);
    VkCommandBuffer store = device_store(&f, 0, 0, 1);
    VkQueue queue = g.queues[0][0];
    assert_submitted(queue, .signal = a, .signal_value = 1);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_success(vkDeviceWaitIdle(g.device));
    assert_submitted1(queue, .wait = a, .wait_value = 1);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_submitted(queue, .commands = store);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_success(vkQueueSubmit(queue, 0, NULL, fence));
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_success(vkDeviceWaitIdle(g.device));
    assert_success(vkWaitForFences(g.device, 1, &fence, VK_TRUE, 0));
    assert_success(vkGetFenceStatus(g.device, fence));
    assert_success(vkResetFences(g.device, 1, &fence));
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 3);
    vulkan_signal(g.device, a, 2);
    vulkan_value(g.device, a);
    vulkan_wait(g.device, a, 2);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 3);

    VkCommandBuffer commands = device_begin(&g, 0, 0);
    const VkBufferCopy copy = {.size = 8};
    vkCmdCopyBuffer(commands, f.buffer, g.buffer, 1, &copy);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    vkCmdFillBuffer(commands, f.buffer, 0, 4, 0);
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    void *data;
    vkUnmapMemory(f.device, f.memory);
    assert_success(vkMapMemory(g.device, f.memory, 0, VK_WHOLE_SIZE, 0, &data));
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_success(vkBindBufferMemory(g.device, g.buffer, f.memory, 0));
    vulkan_expect(&f.icd, BELFRY_ICD_FOREIGN_OBJECT, 1);
    assert_success(vkDeviceWaitIdle(f.device));
    assert_success(vkDeviceWaitIdle(g.device));
    device_close(&g);
    vulkan_destroy(f.device, fence, a);
    world_close(&f);
}

static VkResult import_across(struct device *from, struct device *to)
{
    VkSemaphore theirs = vulkan_timeline(from->device, 5), ours = vulkan_timeline(to->device, 0);
    const VkSemaphoreGetFdInfoKHR get = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR), .semaphore = theirs,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkImportSemaphoreFdInfoKHR import = {VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR), .semaphore = ours,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    assert_success(vkGetSemaphoreFdKHR(from->device, &get, &import.fd));
    VkResult result = vkImportSemaphoreFdKHR(to->device, &import);
    if (result == VK_SUCCESS)
        assert_int_equal(vulkan_value(to->device, ours), 5);
    else
        close(import.fd);
    vkDestroySemaphore(from->device, theirs, NULL);
    vkDestroySemaphore(to->device, ours, NULL);
    return result;
}

TEST(test_semaphores_are_shared_within_a_physical_device_alone)
{
    struct device f, same, other;
    world_open(&f, "DEVICES=2 SHAPE=q1", WORLD_ALL);
    world_open_beside(&same, &f, 0);
    world_open_beside(&other, &f, 1);
    assert_success(import_across(&f, &same));
    assert_int_equal(import_across(&f, &other), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    assert_int_equal(import_across(&other, &f), VK_ERROR_INVALID_EXTERNAL_HANDLE);
    device_close(&other);
    device_close(&same);
    world_close(&f);
}
