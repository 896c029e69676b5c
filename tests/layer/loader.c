/* SPDX-License-Identifier: MIT */
/* Through the Vulkan loader: what programs of every version see and get, on every shape of GPU,
 * again and again, several at a time, and after the layer was unloaded. */
#include "support/world.h"

#include "support/lines.h"
#include "support/queue_flags.h"

#define LAYER_NAME "VK_LAYER_BELFRY_multi_engine"

/* What the layer shows of each shape; 'bits' are the timestamp bits of the host. */
static const struct {
    const char *shape;
    uint32_t n;
    struct {
        VkQueueFlags flags;
        uint32_t count, bits;
    } families[6];
} shapes[] = {
    {"lavapipe", 3, {{G | C | T, 16, 64}, {C | T, 16, 64}, {T, 16, 64}}},
    {"q1", 3, {{G | C | T | S, 16, 64}, {C | T | S, 16, 64}, {T | S, 16, 64}}},
    {"q8", 3, {{G | C | T | S, 16, 64}, {C | T | S, 16, 64}, {T | S, 16, 64}}},
    {"nvidia",
     5,
     {{G | C | T | S, 16, 64},
      {T | S, 16, 64},
      {C | T | S, 16, 64},
      {0x20 | T | S, 1, 32},
      {0x40 | T | S, 1, 32}}},
    {"radv", 5, {{G | C | T, 16, 64}, {C | T, 16, 64}, {S, 1, 64}, {0x20, 1, 0}, {T, 16, 64}}},
    {"intel", 4, {{G | C | T, 16, 36}, {C | T, 16, 36}, {0x20, 1, 36}, {T, 16, 36}}},
    {"copy", 3, {{G | C | T, 16, 64}, {T, 16, 0}, {C | T, 16, 64}}},
};

TEST(test_shapes)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        char environment[64];
        snprintf(environment, sizeof(environment), "SHAPE=%s", shapes[i].shape);
        struct device w;
        assert_success(world_instance(&w, environment));
        assert_int_equal(w.family_count, shapes[i].n);
        VkQueueFamilyProperties2 again[DEVICE_FAMILIES] = {0};
        for (uint32_t f = 0; f < DEVICE_FAMILIES; f++)
            again[f].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
        uint32_t n = DEVICE_FAMILIES;
        vkGetPhysicalDeviceQueueFamilyProperties2(w.physical, &n, again);
        assert_int_equal(n, shapes[i].n);
        uint32_t counts[DEVICE_FAMILIES];
        for (uint32_t f = 0; f < n; f++) {
            const VkQueueFamilyProperties *p = &w.families[f];
            assert_int_equal(p->queueFlags, shapes[i].families[f].flags);
            assert_int_equal(p->queueCount, shapes[i].families[f].count);
            assert_int_equal(p->timestampValidBits, shapes[i].families[f].bits);
            assert_memory_equal(p, &again[f].queueFamilyProperties, sizeof(*p));
            counts[f] = p->queueCount;
        }
        /* All of them can be had at once, and work. */
        counts[n] = WORLD_END;
        assert_success(world_device(&w, counts, NULL));
        VkSemaphore t = vulkan_timeline(w.device, 0);
        uint64_t value = 0;
        for (uint32_t f = 0; f < n; f++) {
            for (uint32_t q = 0; q < counts[f]; q++) {
                VkQueue same;
                vkGetDeviceQueue(w.device, f, q, &same);
                assert_ptr_equal(same, w.queues[f][q]);
                for (uint32_t k = 0; k < q; k++)
                    assert_ptr_not_equal(w.queues[f][k], same);
                assert_submitted(same, .wait = t, .wait_value = value, .signal = t,
                                 .signal_value = value + 1);
                value++;
            }
        }
        vulkan_wait(w.device, t, value);
        assert_success(vkDeviceWaitIdle(w.device));
        vkDestroySemaphore(w.device, t, NULL);
        world_close(&w);
    }
}

/* Programs and devices of every version ------------------------------------------------------- */

/* As a program of that version makes it: enables nothing. */
static void plain_program(uint32_t instance_minor, uint32_t device_minor)
{
    char environment[64];
    snprintf(environment, sizeof(environment), "1.%u", device_minor);
    setenv("BELFRY_ICD_API", environment, 1);
    setenv("BELFRY_ICD_SHAPE", "q1", 1);
    assert_success(volkInitialize());
    const VkApplicationInfo application = {
        VK_TYPE(APPLICATION_INFO), .apiVersion = VK_MAKE_API_VERSION(0, 1, instance_minor, 0)};
    const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO),
                                       .pApplicationInfo = &application};
    VkInstance instance;
    assert_success(vkCreateInstance(&info, NULL, &instance));
    unsetenv("BELFRY_ICD_API");
    unsetenv("BELFRY_ICD_SHAPE");
    volkLoadInstance(instance);
    struct belfry_icd_control icd;
    assert_true(belfry_icd_control_load(&icd));
    icd.reset_counters();
    VkPhysicalDevice physical;
    uint32_t n = 1;
    assert_success(vkEnumeratePhysicalDevices(instance, &n, &physical));
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    assert_int_equal(VK_API_VERSION_MINOR(properties.apiVersion), device_minor); /* kept */

    static const float priorities[2] = {1.0f, 0.5f};
    VkDeviceQueueCreateInfo queues[3];
    for (uint32_t f = 0; f < 3; f++)
        queues[f] =
            (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = f,
                                      .queueCount = f ? 1 : 2, .pQueuePriorities = priorities};
    const VkDeviceCreateInfo device_info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 3,
                                            .pQueueCreateInfos = queues};
    VkDevice device;
    assert_success(vkCreateDevice(physical, &device_info, NULL, &device));
    assert_null(vkGetDeviceProcAddr(device, "vkQueueSubmit2KHR"));
    assert_null(vkGetDeviceProcAddr(device, "vkWaitSemaphoresKHR"));
    assert_null(vkGetDeviceProcAddr(device, "vkQueuePresentKHR"));
    assert_null(vkGetDeviceProcAddr(device, "vkNoSuchCommand"));
    if (device_minor < 3)
        assert_null(vkGetDeviceProcAddr(device, "vkQueueSubmit2"));

    VkQueue handles[4];
    for (uint32_t i = 0; i < 4; i++)
        vkGetDeviceQueue(device, i ? i - 1 : 0, i == 1, &handles[i]);
    const VkSemaphoreCreateInfo semaphore_info = {VK_TYPE(SEMAPHORE_CREATE_INFO)};
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkSemaphore semaphores[3];
    VkFence fence;
    assert_success(vkCreateFence(device, &fence_info, NULL, &fence));
    for (uint32_t i = 0; i < 3; i++)
        assert_success(vkCreateSemaphore(device, &semaphore_info, NULL, &semaphores[i]));
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    for (uint32_t i = 0; i < 4; i++) {
        const VkSubmitInfo submit = {VK_TYPE(SUBMIT_INFO),
                                     .waitSemaphoreCount = i > 0,
                                     .pWaitSemaphores = &semaphores[i ? i - 1 : 0],
                                     .pWaitDstStageMask = &stage,
                                     .signalSemaphoreCount = i < 3,
                                     .pSignalSemaphores = &semaphores[i < 3 ? i : 0]};
        assert_success(vkQueueSubmit(handles[i], 1, &submit, i == 3 ? fence : VK_NULL_HANDLE));
    }
    assert_success(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(vkQueueWaitIdle(handles[0]));
    assert_success(vkDeviceWaitIdle(device));
    for (uint32_t i = 0; i < 3; i++)
        vkDestroySemaphore(device, semaphores[i], NULL);
    vkDestroyFence(device, fence, NULL);
    vkDestroyDevice(device, NULL);
    struct belfry_icd_counters counters;
    icd.get_counters(&counters);
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++)
        assert_int_equal(counters.violations[i], 0);
    belfry_icd_control_unload(&icd);
    vkDestroyInstance(instance, NULL);
}

TEST(test_versions)
{
    for (uint32_t instance = 0; instance < 4; instance++)
        for (uint32_t device = 0; device < 4; device++)
            plain_program(instance, device);
}

/* A driver without what the scheduler needs: passed through, and said once. */
TEST(test_passed_through)
{
    static const char *const environments[] = {"SHAPE=q2 NO_TIMELINE=1", "SHAPE=q2 NO_SYNC2=1",
                                               "SHAPE=q2 API=1.1 NO_SYNC2=1 NO_TIMELINE=1",
                                               "SHAPE=q2 API=1.0 NO_SYNC2=1"};
    for (size_t i = 0; i < 4; i++) {
        struct device w;
        lines_begin();
        VkResult result = world_instance(&w, environments[i]);
        uint32_t lines = lines_end(NULL, 0);
        assert_success(result);
        assert_int_equal(lines, 1);
        assert_int_equal(w.family_count, 1);
        assert_int_equal(w.families[0].queueCount, 2);
        static const float priorities[2];
        const VkDeviceQueueCreateInfo queues = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 2,
                                                .pQueuePriorities = priorities};
        const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 1,
                                         .pQueueCreateInfos = &queues};
        for (uint32_t again = 0; again < 2; again++) {
            assert_success(vkCreateDevice(w.physical, &info, NULL, &w.device));
            VkQueue queue;
            vkGetDeviceQueue(w.device, 0, 1, &queue);
            VkFence fence = vulkan_fence(w.device, false);
            assert_success(vkQueueSubmit(queue, 0, NULL, fence));
            assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
            assert_success(vkQueueWaitIdle(queue));
            assert_success(vkDeviceWaitIdle(w.device));
            vkDestroyFence(w.device, fence, NULL);
            vkDestroyDevice(w.device, NULL);
            w.device = VK_NULL_HANDLE;
        }
        world_close(&w);
    }
}

TEST(test_null_queue)
{
    static const uint32_t one[] = {1, WORLD_END}, two[] = {2, WORLD_END};
    struct device w;
    assert_success(world_instance(&w, "SHAPE=q2 NULL_QUEUE=0:1"));
    lines_begin();
    VkResult result = world_device(&w, two, NULL);
    uint32_t lines = lines_end(NULL, 0);
    assert_int_equal(result, VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(lines, 1);
    w.device = VK_NULL_HANDLE;
    /* Whoever doesn't ask for it doesn't miss it. */
    assert_success(world_device(&w, one, NULL));
    world_close(&w);
}

/* Again and again ------------------------------------------------------------------------------ */

static bool is_loaded(void)
{
    char path[4096];
    const char *build = getenv("BELFRY_TEST_BUILD");
    snprintf(path, sizeof(path), "%s/lib/libVkLayer_belfry.so", build ? build : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

static const uint32_t families[] = {2, 1, 1, WORLD_END};

static void use(struct device *w)
{
    VkSemaphore t = vulkan_timeline(w->device, 0);
    assert_submitted(w->queues[1][0], .wait = t, .wait_value = 1, .signal = t, .signal_value = 2);
    assert_submitted(w->queues[0][0], .signal = t, .signal_value = 1);
    vulkan_wait(w->device, t, 2);
    assert_success(vkDeviceWaitIdle(w->device));
    vkDestroySemaphore(w->device, t, NULL);
}

/* The loader unloads a layer with its last instance. */
TEST(test_reload)
{
    for (uint32_t i = 0; i < 50; i++) {
        struct device w;
        assert_success(world_instance(&w, "SHAPE=q1"));
        assert_true(is_loaded());
        for (uint32_t k = 0; k < i % 3; k++) {
            assert_success(world_device(&w, families, NULL));
            use(&w);
            vkDestroyDevice(w.device, NULL);
            w.device = VK_NULL_HANDLE;
        }
        world_close(&w);
        assert_false(is_loaded());
    }
}

/* One thread's instance with two devices, which share nothing with the neighbours'. */
static void *several(void *argument)
{
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO),
                                       .pApplicationInfo = &application};
    uint32_t *wrong = argument;
    for (uint32_t round = 0; round < 10; round++) {
        struct device w[2] = {0};
        VkInstance instance;
        uint32_t n = 1;
        if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS) {
            ++*wrong;
            continue;
        }
        vkEnumeratePhysicalDevices(instance, &n, &w[0].physical);
        w[1].physical = w[0].physical;
        uint32_t shown = DEVICE_FAMILIES;
        vkGetPhysicalDeviceQueueFamilyProperties(w[0].physical, &shown, w[0].families);
        *wrong += shown != 3;
        for (uint32_t d = 0; d < 2; d++) {
            w[d].family_count = shown;
            memcpy(w[d].families, w[0].families, sizeof(w[0].families));
            if (world_device(&w[d], families, NULL) != VK_SUCCESS)
                ++*wrong;
        }
        *wrong += w[0].device == w[1].device;
        for (uint32_t d = 0; d < 2; d++)
            use(&w[d]);
        vkDestroyDevice(w[round % 2].device, NULL);
        use(&w[1 - round % 2]);
        vkDestroyDevice(w[1 - round % 2].device, NULL);
        vkDestroyInstance(instance, NULL);
    }
    return NULL;
}

TEST(test_several_at_once)
{
    /* The loader's own functions serve every instance: they are looked up once. */
    struct device keeper;
    assert_success(world_instance(&keeper, "SHAPE=q1"));
    setenv("BELFRY_ICD_SHAPE", "q1", 1);
    uint32_t wrong[4] = {0};
    pthread_t threads[4];
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, several, &wrong[i]), 0);
    for (uint32_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    unsetenv("BELFRY_ICD_SHAPE");
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(wrong[i], 0);
    world_close(&keeper);
}

/* Enumeration through the loader. */
TEST(test_enumeration)
{
    struct device w;
    assert_success(world_instance(&w, "SHAPE=q1"));
    VkExtensionProperties extension[4];
    uint32_t n = 4;
    assert_success(vkEnumerateInstanceExtensionProperties(LAYER_NAME, &n, extension));
    assert_int_equal(n, 1);
    assert_string_equal(extension[0].extensionName, "VK_EXT_layer_settings");
    n = 4;
    assert_success(vkEnumerateDeviceExtensionProperties(w.physical, LAYER_NAME, &n, extension));
    assert_int_equal(n, 0);
    n = 4;
    assert_int_equal(vkEnumerateInstanceExtensionProperties("VK_LAYER_NO_such", &n, extension),
                     VK_ERROR_LAYER_NOT_PRESENT);
    uint32_t all = 0;
    assert_success(vkEnumerateDeviceExtensionProperties(w.physical, NULL, &all, NULL));
    assert_true(all > 4);
    n = 2;
    assert_int_equal(vkEnumerateDeviceExtensionProperties(w.physical, NULL, &n, extension),
                     VK_INCOMPLETE);
    assert_int_equal(n, 2);

    VkPhysicalDeviceToolProperties tools[8];
    for (uint32_t i = 0; i < 8; i++)
        tools[i] = (VkPhysicalDeviceToolProperties){VK_TYPE(PHYSICAL_DEVICE_TOOL_PROPERTIES)};
    n = 8;
    assert_success(vkGetPhysicalDeviceToolProperties(w.physical, &n, tools));
    uint32_t ours = 0;
    for (uint32_t i = 0; i < n; i++)
        ours += strcmp(tools[i].layer, LAYER_NAME) == 0;
    assert_int_equal(ours, 1);
    uint32_t count = 0;
    assert_success(vkGetPhysicalDeviceToolProperties(w.physical, &count, NULL));
    assert_int_equal(count, n);
    world_close(&w);
}
