/* SPDX-License-Identifier: MIT */
/* What the driver says it is: shapes, versions, extensions, names of entry points. */
#include "support/world.h"
#include "support/infos.h"
#include "support/queue_flags.h"

static const struct {
    const char *name;
    uint32_t n;
    struct {
        VkQueueFlags with, without;
        uint32_t count, bits;
    } families[5];
} shapes[] = {
    {"lavapipe", 1, {{G | C | T, S, 1, 64}}},
    {"nvidia",
     5,
     {{G | C | T | S, 0, 16, 64},
      {T | S, G | C, 2, 64},
      {C | T | S, G, 8, 64},
      {VK_QUEUE_VIDEO_DECODE_BIT_KHR | T | S, G | C, 1, 32},
      {0x40, G | C, 1, 32}}},
    {"radv",
     4,
     {{G | C | T, 0, 1, 64},
      {C | T, G, 4, 64},
      {S, G | C | T, 1, 64},
      {VK_QUEUE_VIDEO_DECODE_BIT_KHR, G | C, 1, 0}}},
    {"intel",
     3,
     {{G | C | T, 0, 1, 36}, {C | T, G, 1, 36}, {VK_QUEUE_VIDEO_DECODE_BIT_KHR, G | C, 1, 36}}},
    {"nvk", 1, {{G | C | T | S, 0, 1, 64}}},
    {"copy", 2, {{G | C | T, 0, 1, 64}, {T, G | C, 2, 0}}},
    {"q1", 1, {{G | C | T, 0, 1, 64}}},
    {"q16", 1, {{G | C | T, 0, 16, 64}}},
};

TEST(test_families)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        char environment[64], name[64];
        snprintf(environment, sizeof(environment), "SHAPE=%s", shapes[i].name);
        snprintf(name, sizeof(name), "Belfry test driver (%s)", shapes[i].name);
        struct device f;
        world_open(&f, environment, WORLD_ALL);
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(f.physical, &properties);
        assert_string_equal(properties.deviceName, name);
        assert_int_equal(properties.deviceType, VK_PHYSICAL_DEVICE_TYPE_CPU);
        assert_int_equal(f.family_count, shapes[i].n);
        for (uint32_t k = 0; k < f.family_count; k++) {
            assert_int_equal(f.families[k].queueFlags & shapes[i].families[k].with,
                             shapes[i].families[k].with);
            assert_int_equal(f.families[k].queueFlags & shapes[i].families[k].without, 0);
            assert_int_equal(f.families[k].queueCount, shapes[i].families[k].count);
            assert_int_equal(f.families[k].timestampValidBits, shapes[i].families[k].bits);
            for (uint32_t q = 0; q < f.families[k].queueCount; q++)
                assert_non_null(f.queues[k][q]);
        }
        world_close(&f);
    }
}

DEVICE_TEST(test_same_queue_twice, "SHAPE=q2", WORLD_ALL)
{
    VkQueue again;
    vkGetDeviceQueue(w->device, 0, 1, &again);
    assert_ptr_equal(again, w->queues[0][1]);
    assert_ptr_not_equal(w->queues[0][0], w->queues[0][1]);
    const VkDeviceQueueInfo2 info = {VK_TYPE(DEVICE_QUEUE_INFO_2), .queueIndex = 1};
    vkGetDeviceQueue2(w->device, &info, &again);
    assert_ptr_equal(again, w->queues[0][1]);
}

TEST(test_timestamp_bits)
{
    struct device f;
    assert_success(world_instance(&f, "SHAPE=nvidia TIMESTAMP_BITS=0"));
    for (uint32_t i = 0; i < f.family_count; i++)
        assert_int_equal(f.families[i].timestampValidBits, 0);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(f.physical, &properties);
    assert_false(properties.limits.timestampComputeAndGraphics);
    world_close(&f);
}

TEST(test_versions)
{
    static const char *const environments[] = {"API=1.0", "API=1.1", "API=1.2", NULL};
    /* older devices have little without it */
    world_extension = VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME;
    for (uint32_t minor = 0; minor < 4; minor++) {
        struct device f;
        assert_success(world_instance(&f, environments[minor]));
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(f.physical, &properties);
        assert_int_equal(VK_API_VERSION_MINOR(properties.apiVersion), minor);
        assert_true(
            vulkan_has_device_extension(f.physical, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME));
        assert_true(
            vulkan_has_device_extension(f.physical, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME));

        /* An old device answers for the extension's names and not for the core's. */
        static const char *const names[] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
                                            VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME};
        const VkDeviceCreateInfo info = info_device(NULL, 2, names);
        assert_success(vkCreateDevice(f.physical, &info, NULL, &f.device));
        assert_non_null(vkGetDeviceProcAddr(f.device, "vkWaitSemaphoresKHR"));
        assert_non_null(vkGetDeviceProcAddr(f.device, "vkQueueSubmit2KHR"));
        assert_int_equal(vkGetDeviceProcAddr(f.device, "vkWaitSemaphores") != NULL, minor >= 2);
        assert_int_equal(vkGetDeviceProcAddr(f.device, "vkQueueSubmit2") != NULL, minor >= 3);
        assert_int_equal(vkGetDeviceProcAddr(f.device, "vkTrimCommandPool") != NULL, minor >= 1);
        assert_null(vkGetDeviceProcAddr(f.device, "vkQueuePresentKHR"));
        assert_null(vkGetDeviceProcAddr(f.device, "vkNoSuchCommand"));
        world_close(&f);
    }
    world_extension = NULL;
}

/* A device extension isn't there while one of the instance is missing that it depends on. */
TEST(test_old_device_of_a_plain_instance)
{
    for (uint32_t minor = 0; minor < 2; minor++) {
        setenv("BELFRY_ICD_API", minor ? "1.1" : "1.0", 1);
        assert_success(volkInitialize());
        const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                               .apiVersion = VK_API_VERSION_1_3};
        const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO),
                                           .pApplicationInfo = &application};
        VkInstance instance;
        assert_success(vkCreateInstance(&info, NULL, &instance));
        unsetenv("BELFRY_ICD_API");
        volkLoadInstance(instance);
        VkPhysicalDevice physical;
        uint32_t n = 1;
        assert_success(vkEnumeratePhysicalDevices(instance, &n, &physical));
        static const char *const names[] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
                                            VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME};
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(vulkan_has_device_extension(physical, names[i]), minor);
            const VkDeviceCreateInfo device_info = {VK_TYPE(DEVICE_CREATE_INFO),
                                                    .enabledExtensionCount = 1,
                                                    .ppEnabledExtensionNames = &names[i]};
            VkDevice device = VK_NULL_HANDLE;
            assert_int_equal(vkCreateDevice(physical, &device_info, NULL, &device),
                             minor ? VK_SUCCESS : VK_ERROR_EXTENSION_NOT_PRESENT);
            if (minor)
                vkDestroyDevice(device, NULL);
        }
        vkDestroyInstance(instance, NULL);
    }
}

TEST(test_nothing_new)
{
    struct device f;
    assert_success(world_instance(&f, "API=1.1 NO_TIMELINE=1 NO_SYNC2=1"));
    assert_false(vulkan_has_device_extension(f.physical, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME));
    assert_false(vulkan_has_device_extension(f.physical, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME));
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES), .timelineSemaphore = VK_TRUE};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &timeline};
    vkGetPhysicalDeviceFeatures2(f.physical, &features);
    assert_false(timeline.timelineSemaphore);
    timeline.timelineSemaphore = VK_TRUE;
    assert_int_equal(world_device(&f, WORLD_ALL, NULL), VK_ERROR_FEATURE_NOT_PRESENT);
    world_close(&f);
}

/* Who could store 64-bit words by a shader must see that none would run. */
TEST(test_int64_is_offered_on_demand_alone)
{
    static const char *const environments[] = {NULL, "INT64=1"};
    for (uint32_t i = 0; i < 2; i++) {
        struct device f;
        assert_success(world_instance(&f, environments[i]));
        VkPhysicalDeviceFeatures features;
        vkGetPhysicalDeviceFeatures(f.physical, &features);
        assert_int_equal(features.shaderInt64, i);
        const VkPhysicalDeviceFeatures asked = {.shaderInt64 = VK_TRUE};
        VkDeviceCreateInfo info = info_device(NULL, 0, NULL);
        info.pEnabledFeatures = &asked;
        assert_int_equal(vkCreateDevice(f.physical, &info, NULL, &f.device),
                         i ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT);
        world_close(&f);
    }
}

DEVICE_TEST(test_null_queue, "SHAPE=nvidia NULL_QUEUE=2:3", WORLD_ALL)
{
    for (uint32_t i = 0; i < w->family_count; i++)
        for (uint32_t k = 0; k < w->families[i].queueCount; k++)
            assert_int_equal(w->queues[i][k] == VK_NULL_HANDLE, i == 2 && k == 3);
}

static VkResult realtime_device(struct device *f)
{
    const float priority = 1.0f;
    static const char *const names[] = {VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME};
    const VkDeviceQueueGlobalPriorityCreateInfoKHR global = {
        VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR),
        .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR};
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .pNext = &global,
                                           .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue, .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = names};
    return vkCreateDevice(f->physical, &info, NULL, &f->device);
}

TEST(test_global_priority)
{
    struct device f;
    assert_success(world_instance(&f, NULL));
    assert_int_equal(realtime_device(&f), VK_ERROR_NOT_PERMITTED_KHR);
    world_close(&f);
    assert_success(world_instance(&f, "REALTIME=1"));
    assert_success(realtime_device(&f));
    world_close(&f);
}

/* Every core command is there to be called: what a loader or layer asks for it gets. */
DEVICE_TEST(test_core_commands, NULL, WORLD_ALL)
{
    static const char *const some[] = {
        "vkCmdDraw",          "vkCmdDispatch",        "vkCmdBeginRenderPass2",
        "vkCmdBlitImage2",    "vkCmdBeginRendering",  "vkCmdSetCullMode",
        "vkSetPrivateData",   "vkGetDeviceQueue2",    "vkCreateSamplerYcbcrConversion",
        "vkCmdWaitEvents2",   "vkResetQueryPool",     "vkGetDeviceImageMemoryRequirements",
        "vkCmdPushConstants", "vkCmdExecuteCommands", "vkGetBufferDeviceAddress",
        "vkCmdNextSubpass2",  "vkCmdDispatchBase",    "vkUpdateDescriptorSetWithTemplate",
    };
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
        if (!vkGetDeviceProcAddr(w->device, some[i]))
            fail_msg("%s is missing", some[i]);
}

/* Nothing but driverInfo tells one build from another. */
TEST(test_builds)
{
    static const char *const environments[] = {"BUILD=", "BUILD=second"};
    VkPhysicalDeviceIDProperties id[2];
    VkPhysicalDeviceDriverProperties driver[2];
    VkPhysicalDeviceProperties2 properties[2];
    for (int i = 0; i < 2; i++) {
        struct device f;
        assert_success(world_instance(&f, environments[i]));
        id[i] = (VkPhysicalDeviceIDProperties){VK_TYPE(PHYSICAL_DEVICE_ID_PROPERTIES),
                                               .pNext = &driver[i]};
        driver[i] = (VkPhysicalDeviceDriverProperties){VK_TYPE(PHYSICAL_DEVICE_DRIVER_PROPERTIES)};
        properties[i] =
            (VkPhysicalDeviceProperties2){VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2), .pNext = &id[i]};
        vkGetPhysicalDeviceProperties2(f.physical, &properties[i]);
        world_close(&f);
    }
    assert_memory_equal(id[0].driverUUID, id[1].driverUUID, VK_UUID_SIZE);
    assert_memory_equal(properties[0].properties.pipelineCacheUUID,
                        properties[1].properties.pipelineCacheUUID, VK_UUID_SIZE);
    const size_t length = strlen(driver[0].driverInfo);
    assert_memory_equal(driver[0].driverInfo, driver[1].driverInfo, length);
    assert_string_equal(driver[1].driverInfo + length, "second");
}

/* They are there where they are asked for, and no commands of theirs where they aren't enabled. */
TEST(test_extensions_on_demand_alone)
{
    static const char *const names[] = {
        "VK_NV_device_generated_commands", "VK_NV_device_generated_commands_compute",
        "VK_EXT_device_generated_commands", "VK_NV_low_latency2", "VK_NV_external_compute_queue"};
    for (int on = 0; on < 2; on++) {
        struct device f;
        world_open(&f, on ? "GENERATED=1 LATENCY=1" : NULL, WORLD_ALL);
        for (int i = 0; i < 5; i++)
            assert_int_equal(vulkan_has_device_extension(f.physical, names[i]), on);
        assert_null(vkGetDeviceProcAddr(f.device, "vkCmdExecuteGeneratedCommandsEXT"));
        assert_int_equal(vkGetDeviceProcAddr(f.device, "vkQueueNotifyOutOfBandNV") != NULL, on);
        world_close(&f);
    }
}

static size_t cache_size(VkDevice device, VkPipelineCache cache)
{
    size_t size = 0;
    assert_success(vkGetPipelineCacheData(device, cache, &size, NULL));
    return size;
}

DEVICE_TEST(test_caches_grow, "PIPELINE_SIZE=1000", WORLD_ALL)
{
    const size_t header = sizeof(VkPipelineCacheHeaderVersionOne);
    const VkPipelineCacheCreateInfo info = {VK_TYPE(PIPELINE_CACHE_CREATE_INFO)};
    VkPipelineCache caches[2];
    for (int i = 0; i < 2; i++)
        assert_success(vkCreatePipelineCache(w->device, &info, NULL, &caches[i]));
    const VkComputePipelineCreateInfo made = {
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .pName = "main"}};
    for (size_t i = 0; i < 3; i++) {
        VkPipeline pipeline;
        assert_int_equal(cache_size(w->device, caches[0]), header + 1000 * i);
        assert_success(vkCreateComputePipelines(w->device, caches[0], 1, &made, NULL, &pipeline));
        vkDestroyPipeline(w->device, pipeline, NULL);
    }
    assert_success(vkMergePipelineCaches(w->device, caches[1], 1, &caches[0]));
    assert_int_equal(cache_size(w->device, caches[1]), header + 3000);
    unsigned char data[4000];
    size_t size = sizeof(data);
    assert_success(vkGetPipelineCacheData(w->device, caches[1], &size, data));
    assert_int_equal(size, header + 3000);
    size = 100;
    assert_int_equal(vkGetPipelineCacheData(w->device, caches[1], &size, data), VK_INCOMPLETE);
    assert_int_equal(size, 100);
    size = header - 1;
    assert_int_equal(vkGetPipelineCacheData(w->device, caches[1], &size, data), VK_INCOMPLETE);
    assert_int_equal(size, 0);
    for (int i = 0; i < 2; i++)
        vkDestroyPipelineCache(w->device, caches[i], NULL);
}
