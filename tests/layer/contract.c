/* SPDX-License-Identifier: MIT */
/* The loader's contract, seen from both sides of the layer: who finds which function, and what goes
 * down while instances and devices are made. Vulkan-Loader, LoaderLayerInterface. */
#include "fake.h"
#include "registry.h"
#include "support/infos.h"

#include <dlfcn.h>

static const uint32_t one[] = {1, 0};

/* Negotiation ------------------------------------------------------------------------------- */

static VkResult negotiate(uint32_t version, VkNegotiateLayerStructType type,
                          VkNegotiateLayerInterface *interface)
{
    PFN_vkNegotiateLoaderLayerInterfaceVersion function =
        (PFN_vkNegotiateLoaderLayerInterfaceVersion)dlsym(fake.library,
                                                          "vkNegotiateLoaderLayerInterfaceVersion");
    *interface = (VkNegotiateLayerInterface){.sType = type, .loaderLayerInterfaceVersion = version};
    return function(interface);
}

TEST(test_negotiation)
{
    fake_load(NULL);
    VkNegotiateLayerInterface interface;
    for (uint32_t version = 0; version < 2; version++)
        assert_int_equal(negotiate(version, LAYER_NEGOTIATE_INTERFACE_STRUCT, &interface),
                         VK_ERROR_INITIALIZATION_FAILED);
    for (uint32_t version = 2; version < 10; version++) {
        assert_success(negotiate(version, LAYER_NEGOTIATE_INTERFACE_STRUCT, &interface));
        assert_int_equal(interface.loaderLayerInterfaceVersion, 2);
        assert_non_null(interface.pfnGetInstanceProcAddr);
        assert_non_null(interface.pfnGetDeviceProcAddr);
        assert_non_null(interface.pfnGetPhysicalDeviceProcAddr);
    }
    assert_int_equal(negotiate(2, LAYER_NEGOTIATE_UNINTIALIZED, &interface),
                     VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(fake.instance_tries, 0); /* nothing goes down from there */
    fake_close();
}

/* Look-up ----------------------------------------------------------------------------------- */

TEST(test_before_an_instance)
{
    fake_load(NULL);
    static const char *const there[] = {
        "vkCreateInstance",
        "vkGetInstanceProcAddr",
        "vkEnumerateInstanceExtensionProperties",
        "vkEnumerateInstanceLayerProperties",
        "vk_layerGetPhysicalDeviceProcAddr",
        "vkCreateDevice" /* strictly it isn't, but layers above ask: Mesa's overlay */};
    static const char *const not_there[] = {"vkDestroyInstance", "vkEnumeratePhysicalDevices",
                                            "vkQueueSubmit",     "vkGetDeviceProcAddr",
                                            "vkNoSuchCommand",   ""};
    for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
        assert_non_null(fake.gipa(VK_NULL_HANDLE, there[i]));
    for (size_t i = 0; i < sizeof(not_there) / sizeof(not_there[0]); i++)
        assert_null(fake.gipa(VK_NULL_HANDLE, not_there[i]));
    fake_close();
}

static bool lacks_all(const char *name)
{
    /* But for what it takes to get there. */
    static const char *const needed[] = {
        "vkCreateInstance", "vkDestroyInstance",          "vkCreateDevice",
        "vkDestroyDevice",  "vkEnumeratePhysicalDevices", "vk_layerGetPhysicalDeviceProcAddr"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (strcmp(needed[i], name) == 0)
            return false;
    return true;
}

static bool lacks_suffixed(const char *name)
{
    return registry_is_suffixed(name);
}

static char wanted_suffix[80];

/* Has the suffixed name alone. */
static bool lacks_core_of(const char *name)
{
    return strlen(name) + 3 == strlen(wanted_suffix) &&
           strncmp(name, wanted_suffix, strlen(name)) == 0;
}

/* Read once for all tests. */
static struct registry registry;

static void registry_or_skip(void)
{
    TEST_NEEDS(registry.count || registry_read(&registry), "registry (vk.xml)");
    assert_true(registry.count > 600);
}

/* The layer offers what lies below, and nothing else, under whatever name. */
TEST(test_only_what_is_below)
{
    registry_or_skip();
    fake_open(NULL, one);
    fake.driver.lacks = lacks_all;
    for (uint32_t i = 0; i < registry.count; i++) {
        const char *name = registry.commands[i].name;
        if (!lacks_all(name) || strcmp(name, "vkGetDeviceProcAddr") == 0)
            continue;
        if (fake.gdpa(fake.device, name))
            fail_msg("vkGetDeviceProcAddr has %s, nobody else does", name);
        bool global = strncmp(name, "vkEnumerateInstance", 19) == 0 ||
                      strcmp(name, "vkGetInstanceProcAddr") == 0;
        if (!global && fake.gipa(fake.instance, name))
            fail_msg("vkGetInstanceProcAddr has %s, nobody else does", name);
        if (fake.gpdpa(fake.instance, name))
            fail_msg("vk_layerGetPhysicalDeviceProcAddr has %s, nobody else does", name);
    }
    fake.driver.lacks = NULL;
    fake_close();
}

/* Where only the core name is enabled, the alias isn't offered, and the other way round. */
TEST(test_aliases)
{
    registry_or_skip();
    fake_open(NULL, one);
    for (uint32_t i = 0; i < registry.count; i++) {
        const char *name = registry.commands[i].name;
        fake.driver.lacks = lacks_suffixed;
        if (registry_is_suffixed(name)) {
            assert_null(fake.gdpa(fake.device, name));
            assert_null(fake.gipa(fake.instance, name));
            snprintf(wanted_suffix, sizeof(wanted_suffix), "%s", name);
            fake.driver.lacks = lacks_core_of;
            char core[80];
            snprintf(core, sizeof(core), "%.*s", (int)strlen(name) - 3, name);
            assert_null(fake.gdpa(fake.device, core));
            assert_null(fake.gpdpa(fake.instance, core));
        }
    }
    fake.driver.lacks = NULL;
    fake_close();
}

/* The sixteen, by name: five of them are newer than the oldest registry. */
static const struct {
    const char *name;
    bool hidden;
} queue_commands[] = {
    {"vkQueueSubmit", false},
    {"vkQueueSubmit2", false},
    {"vkQueueSubmit2KHR", false},
    {"vkQueueBindSparse", false},
    {"vkQueueWaitIdle", false},
    {"vkQueuePresentKHR", false},
    {"vkQueueBeginDebugUtilsLabelEXT", false},
    {"vkQueueEndDebugUtilsLabelEXT", false},
    {"vkQueueInsertDebugUtilsLabelEXT", false},
    {"vkGetQueueCheckpointDataNV", false},
    {"vkGetQueueCheckpointData2NV", false},
    {"vkQueueSetPerformanceConfigurationINTEL", false},
    {"vkQueueNotifyOutOfBandNV", false},
    {"vkQueueNotifyOutOfBandLegacyNV", false},
    {"vkQueueSetPerfHintQCOM", false},
    {"vkQueueSignalReleaseImageANDROID", true},
    {"vkQueueSignalReleaseImageOHOS", true},
};

/* No command passes a VkQueue of ours on to the driver. */
TEST(test_queue_commands)
{
    registry_or_skip();
    fake_open(NULL, one);
    uint32_t taking_queues = 0;
    for (uint32_t i = 0; i < registry.count; i++) {
        if (!registry.commands[i].takes_queue)
            continue;
        const char *name = registry.commands[i].name;
        taking_queues++;
        if (fake.gdpa(fake.device, name) == fake_stub())
            fail_msg("%s takes a VkQueue and goes to the driver as it is", name);
        if (fake.gipa(fake.instance, name) == fake_stub())
            fail_msg("%s takes a VkQueue and goes to the driver as it is", name);
    }
    assert_true(taking_queues >= 13); /* vkGetDeviceQueue and vkGetDeviceQueue2 among them */
    for (size_t i = 0; i < sizeof(queue_commands) / sizeof(queue_commands[0]); i++) {
        PFN_vkVoidFunction device = fake.gdpa(fake.device, queue_commands[i].name);
        PFN_vkVoidFunction instance = fake.gipa(fake.instance, queue_commands[i].name);
        assert_ptr_not_equal(device, fake_stub());
        assert_ptr_not_equal(instance, fake_stub());
        assert_int_equal(device == NULL, queue_commands[i].hidden);
        assert_int_equal(instance == NULL, queue_commands[i].hidden);
    }
    fake_close();
}

/* A device that is passed through gives out the driver's own queues, so nothing is in the way of
 * any command. */
TEST(test_passed_through_hides_nothing)
{
    lines_begin();
    fake_open(&(struct fake_driver){.no_sync2 = true}, one);
    assert_int_equal(lines_end(NULL, 0), 1);
    VkQueue queue;
    ((PFN_vkGetDeviceQueue)fake_command("vkGetDeviceQueue"))(fake.device, 0, 0, &queue);
    assert_ptr_equal(queue, fake_queue(0, 0, 0));
    for (size_t i = 0; i < sizeof(queue_commands) / sizeof(queue_commands[0]); i++)
        assert_ptr_equal(fake.gdpa(fake.device, queue_commands[i].name), fake_stub());
    fake_close();
}

/* Device functions out of vkGetInstanceProcAddr serve scheduled devices and passed-through ones. */
static VkQueue submitted_to;

static VkResult VKAPI_CALL note_submit(VkQueue queue, uint32_t count, const VkSubmitInfo *infos,
                                       VkFence fence)
{
    submitted_to = queue;
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL note_submit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                        VkFence fence)
{
    submitted_to = queue;
    return VK_SUCCESS;
}

static void submit_through_instance(bool scheduled)
{
    if (!scheduled)
        lines_begin();
    fake_open(&(struct fake_driver){.no_timeline = !scheduled}, one);
    if (!scheduled)
        assert_int_equal(lines_end(NULL, 0), 1);
    FAKE_OVERRIDE(vkQueueSubmit, note_submit);
    FAKE_OVERRIDE(vkQueueSubmit2, note_submit2);
    /* The functions were looked up before they were replaced: make the device anew. */
    fake_close_device();
    fake_open_device((const uint32_t[]){1, 0});
    PFN_vkGetDeviceQueue get = (PFN_vkGetDeviceQueue)fake.gipa(fake.instance, "vkGetDeviceQueue");
    PFN_vkQueueSubmit submit = (PFN_vkQueueSubmit)fake.gipa(fake.instance, "vkQueueSubmit");
    PFN_vkQueueSubmit2 submit2 = (PFN_vkQueueSubmit2)fake.gipa(fake.instance, "vkQueueSubmit2");
    VkQueue queue = VK_NULL_HANDLE;
    get(fake.device, 0, 0, &queue);
    assert_non_null(queue);
    assert_int_equal(queue == fake_queue(0, 0, 0), !scheduled);
    submitted_to = VK_NULL_HANDLE;
    assert_success(submit(queue, 0, NULL, VK_NULL_HANDLE));
    assert_ptr_equal(submitted_to, fake_queue(0, 0, 0));
    submitted_to = VK_NULL_HANDLE;
    assert_success(submit2(queue, 0, NULL, VK_NULL_HANDLE));
    assert_ptr_equal(submitted_to, fake_queue(0, 0, 0));
    fake_close();
}

TEST(test_device_functions_of_the_instance)
{
    submit_through_instance(true);
    submit_through_instance(false);
}

TEST(test_physical_device_functions)
{
    for (int without = 0; without < 2; without++) {
        fake_open(&(struct fake_driver){.no_physical_proc_addr = without}, one);
        assert_non_null(fake.gpdpa(fake.instance, "vkCreateDevice"));
        assert_ptr_not_equal(fake.gpdpa(fake.instance, "vkGetPhysicalDeviceQueueFamilyProperties"),
                             fake_stub());
        /* Known not to be a physical device's. */
        assert_null(fake.gpdpa(fake.instance, "vkQueueSubmit"));
        assert_null(fake.gpdpa(fake.instance, "vkDestroyInstance"));
        /* One that only the layers below know is theirs to answer. */
        if (!without)
            assert_ptr_equal(fake.gpdpa(fake.instance, "vkGetPhysicalDeviceOfTomorrowEXT"),
                             fake_stub());
        else
            assert_null(fake.gpdpa(fake.instance, "vkGetPhysicalDeviceOfTomorrowEXT"));
        fake_close();
    }
}

/* Enumeration ------------------------------------------------------------------------------- */

TEST(test_instance_enumeration)
{
    fake_load(NULL);
    PFN_vkEnumerateInstanceExtensionProperties extensions =
        (PFN_vkEnumerateInstanceExtensionProperties)fake.gipa(
            VK_NULL_HANDLE, "vkEnumerateInstanceExtensionProperties");
    PFN_vkEnumerateInstanceLayerProperties layers =
        (PFN_vkEnumerateInstanceLayerProperties)fake.gipa(VK_NULL_HANDLE,
                                                          "vkEnumerateInstanceLayerProperties");
    uint32_t n = 0;
    assert_int_equal(extensions(NULL, &n, NULL), VK_ERROR_LAYER_NOT_PRESENT);
    assert_int_equal(extensions("VK_LAYER_SOME_other", &n, NULL), VK_ERROR_LAYER_NOT_PRESENT);
    assert_success(extensions("VK_LAYER_BELFRY_multi_engine", &n, NULL));
    assert_int_equal(n, 1);
    VkExtensionProperties extension = {0};
    n = 0;
    assert_int_equal(extensions("VK_LAYER_BELFRY_multi_engine", &n, &extension), VK_INCOMPLETE);
    assert_int_equal(n, 0);
    n = 5;
    assert_success(extensions("VK_LAYER_BELFRY_multi_engine", &n, &extension));
    assert_int_equal(n, 1);
    assert_string_equal(extension.extensionName, "VK_EXT_layer_settings");

    VkLayerProperties layer = {0};
    n = 0;
    assert_success(layers(&n, NULL));
    assert_int_equal(n, 1);
    assert_success(layers(&n, &layer));
    assert_string_equal(layer.layerName, "VK_LAYER_BELFRY_multi_engine");
    n = 0;
    assert_int_equal(layers(&n, &layer), VK_INCOMPLETE);
    fake_close();
}

static const char *const offered[] = {
    "VK_KHR_swapchain", "VK_NV_low_latency2",  "VK_QCOM_queue_perf_hint", "VK_KHR_maintenance9",
    "VK_ARM_tensors",   "VK_KHR_maintenance5", "VK_EXT_metal_objects",    NULL};

/* Without a name the layer calls down and takes out what it can't stand behind; with its own, it
 * has none. */
static void device_extensions(bool native, bool capable, uint32_t expected)
{
    if (native)
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES", "native", 1);
    fake_start(&(struct fake_driver){.extensions = offered, .no_sync2 = !capable});
    unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES");
    PFN_vkEnumerateDeviceExtensionProperties enumerate =
        (PFN_vkEnumerateDeviceExtensionProperties)fake.gipa(fake.instance,
                                                            "vkEnumerateDeviceExtensionProperties");
    uint32_t n = 0;
    if (!capable)
        lines_begin();
    assert_success(enumerate(fake.physical, NULL, &n, NULL));
    if (!capable)
        assert_int_equal(lines_end(NULL, 0), 1);
    assert_int_equal(n, expected);
    VkExtensionProperties list[8];
    for (uint32_t room = 0; room <= 8; room++) {
        n = room;
        assert_int_equal(enumerate(fake.physical, NULL, &n, list),
                         room < expected ? VK_INCOMPLETE : VK_SUCCESS);
        assert_int_equal(n, room < expected ? room : expected);
        if (n)
            assert_string_equal(list[0].extensionName, "VK_KHR_swapchain");
    }
    for (uint32_t i = 0; i < n; i++)
        assert_true(!capable || strcmp(list[i].extensionName, "VK_EXT_metal_objects") != 0);
    n = 9;
    assert_success(enumerate(fake.physical, "VK_LAYER_BELFRY_multi_engine", &n, list));
    assert_int_equal(n, 0);
    assert_int_equal(enumerate(fake.physical, "VK_LAYER_SOME_other", &n, list),
                     VK_ERROR_LAYER_NOT_PRESENT);
    fake_close();
}

TEST(test_device_extensions)
{
    device_extensions(false, true, 5); /* appended families: also hides those with family indices */
    device_extensions(true, true, 6);
    device_extensions(false, false, 7); /* passed through: everything is the driver's own */
}

/* Tools: ours first, then whoever else there is. */
static uint32_t tools_below;

static VkResult VKAPI_CALL other_tools(VkPhysicalDevice physical, uint32_t *count,
                                       VkPhysicalDeviceToolProperties *properties)
{
    if (!properties) {
        *count = tools_below;
        return VK_SUCCESS;
    }
    uint32_t n = *count < tools_below ? *count : tools_below;
    for (uint32_t i = 0; i < n; i++)
        snprintf(properties[i].name, sizeof(properties[i].name), "tool %u", i);
    *count = n;
    return n < tools_below ? VK_INCOMPLETE : VK_SUCCESS;
}

TEST(test_tools)
{
    for (tools_below = 0; tools_below < 3; tools_below++) {
        fake_load(NULL);
        FAKE_OVERRIDE(vkGetPhysicalDeviceToolProperties, other_tools);
        assert_success(fake_instance(VK_API_VERSION_1_3, 0, NULL));
        PFN_vkGetPhysicalDeviceToolProperties tools =
            (PFN_vkGetPhysicalDeviceToolProperties)fake.gipa(fake.instance,
                                                             "vkGetPhysicalDeviceToolProperties");
        uint32_t n = 0, all = tools_below + 1;
        assert_success(tools(fake.physical, &n, NULL));
        assert_int_equal(n, all);
        for (uint32_t room = 0; room < 5; room++) {
            VkPhysicalDeviceToolProperties list[5] = {0};
            list[0].pNext = list; /* nobody's business but its owner's */
            n = room;
            assert_int_equal(tools(fake.physical, &n, list),
                             room < all ? VK_INCOMPLETE : VK_SUCCESS);
            assert_int_equal(n, room < all ? room : all);
            assert_ptr_equal(list[0].pNext, list);
            if (n)
                assert_string_equal(list[0].name, "Belfry");
            if (n > 1)
                assert_string_equal(list[1].name, "tool 0");
        }
        fake_close();
    }
}

/* Instances --------------------------------------------------------------------------------- */

#define GPDP2 VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME

/* Every program gets the extension that everything else stands on where a device is a 1.0 one,
 * once, unless nobody has it. */
TEST(test_instance_extension)
{
    static const char *const with[] = {VK_KHR_SURFACE_EXTENSION_NAME, GPDP2};
    static const uint32_t versions[] = {0, VK_API_VERSION_1_0, VK_API_VERSION_1_1,
                                        VK_API_VERSION_1_3};
    for (size_t v = 0; v < 4; v++) {
        for (uint32_t n = 0; n <= 2; n++) {
            fake_load(NULL);
            assert_success(fake_instance(versions[v], n, with));
            assert_int_equal(fake.instance_tries, 1);
            uint32_t added = n < 2;
            assert_int_equal(fake.instance_extension_count, n + added);
            if (added)
                assert_string_equal(fake.instance_extensions[n], GPDP2);
            fake_close();
        }
    }
    /* Nobody has it: made without, and the device is passed through. */
    lines_begin();
    fake_load(&(struct fake_driver){.no_properties2 = true});
    assert_success(fake_instance(VK_API_VERSION_1_0, 1, with));
    assert_int_equal(fake.instance_tries, 2);
    assert_int_equal(fake.instance_extension_count, 1);
    uint32_t n = 0;
    ((PFN_vkGetPhysicalDeviceQueueFamilyProperties)fake.gipa(
        fake.instance, "vkGetPhysicalDeviceQueueFamilyProperties"))(fake.physical, &n, NULL);
    assert_int_equal(n, 1);
    fake_close();
    assert_int_equal(lines_end(NULL, 0), 1);
}

/* Without the extension: a device of 1.1 has the commands in its core, one of 1.0 is asked nothing
 * and passed through. */
TEST(test_no_instance_extension)
{
    static const char *const extensions[] = {VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME,
                                             VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME, NULL};
    for (uint32_t instance = 0; instance < 4; instance += 3) {
        for (uint32_t device = 0; device < 4; device += 3) {
            bool scheduled = instance && device;
            lines_begin();
            fake_load(&(struct fake_driver){.api_version = VK_MAKE_API_VERSION(0, 1, device, 0),
                                            .extensions = extensions,
                                            .no_properties2_extension = true});
            assert_success(fake_instance(VK_MAKE_API_VERSION(0, 1, instance, 0), 0, NULL));
            assert_int_equal(fake.instance_tries, 2);
            assert_int_equal(fake.instance_extension_count, 0);
            uint32_t n = 0;
            ((PFN_vkGetPhysicalDeviceQueueFamilyProperties)fake.gipa(
                fake.instance, "vkGetPhysicalDeviceQueueFamilyProperties"))(fake.physical, &n,
                                                                            NULL);
            assert_int_equal(n, scheduled ? 3 : 1);
            fake_close();
            assert_int_equal(lines_end(NULL, 0), !scheduled);
        }
    }
}

TEST(test_instance_that_fails)
{
    static const VkResult results[] = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_INCOMPATIBLE_DRIVER,
                                       VK_ERROR_EXTENSION_NOT_PRESENT};
    for (size_t i = 0; i < 3; i++) {
        fake_load(&(struct fake_driver){.instance_result = results[i]});
        assert_int_equal(fake_instance(VK_API_VERSION_1_3, 0, NULL), results[i]);
        assert_int_equal(fake.instances_destroyed, 0);
        fake_close();
    }
}

TEST(test_null_handles)
{
    fake_open(NULL, one);
    PFN_vkDestroyInstance destroy_instance =
        (PFN_vkDestroyInstance)fake.gipa(fake.instance, "vkDestroyInstance");
    destroy_instance(VK_NULL_HANDLE, NULL);
    assert_int_equal(fake.instances_destroyed, 0);
    FAKE_CALL(vkDestroyDevice, VK_NULL_HANDLE, NULL);
    assert_int_equal(fake.devices_destroyed, 0);
    FAKE_CALL(vkDestroySemaphore, fake.device, VK_NULL_HANDLE, NULL);
    FAKE_CALL(vkDestroyFence, fake.device, VK_NULL_HANDLE, NULL);
    FAKE_CALL(vkDestroyCommandPool, fake.device, VK_NULL_HANDLE, NULL);
    FAKE_CALL(vkDestroyPrivateDataSlot, fake.device, VK_NULL_HANDLE, NULL);
    fake_close();
}

/* Commands of extensions that the device doesn't have; the instance answers for them all the
 * same. */
#define ABSENT_COMMANDS(X)                                                                         \
    X(vkQueuePresentKHR)                                                                           \
    X(vkAcquireNextImageKHR)                                                                       \
    X(vkAcquireNextImage2KHR)                                                                      \
    X(vkCreateSwapchainKHR)                                                                        \
    X(vkCreateSharedSwapchainsKHR)                                                                 \
    X(vkGetSemaphoreFdKHR)                                                                         \
    X(vkImportSemaphoreFdKHR)                                                                      \
    X(vkGetFenceFdKHR)                                                                             \
    X(vkImportFenceFdKHR)                                                                          \
    X(vkDebugMarkerSetObjectNameEXT)                                                               \
    X(vkDebugMarkerSetObjectTagEXT)                                                                \
    X(vkGetQueueCheckpointDataNV)                                                                  \
    X(vkGetQueueCheckpointData2NV)                                                                 \
    X(vkQueueSetPerformanceConfigurationINTEL)                                                     \
    X(vkCmdDrawMeshTasksEXT)                                                                       \
    X(vkCmdPushDescriptorSetKHR)                                                                   \
    X(vkCmdBeginDebugUtilsLabelEXT)                                                                \
    X(vkCmdBindShadersEXT)

static bool devices_lack;

static bool lacks_extensions(const char *name)
{
#define NAME(name) #name,
    static const char *const absent[] = {ABSENT_COMMANDS(NAME) "vkCmdPushDescriptorSet"};
#undef NAME
    for (size_t i = 0; devices_lack && i < sizeof(absent) / sizeof(absent[0]); i++)
        if (strcmp(absent[i], name) == 0)
            return true;
    return false;
}

static void call_what_is_absent(void)
{
#define CALL(name) ((PFN_##name)functions[n++])
    static const struct fake_driver driver = {.lacks = lacks_extensions};
    PFN_vkVoidFunction functions[32];
    uint32_t n = 0;
    fake_start(&driver);
#define FIND(name) functions[n++] = fake.gipa(fake.instance, #name);
    ABSENT_COMMANDS(FIND)
#undef FIND
    for (uint32_t i = 0; i < n; i++)
        assert_non_null(functions[i]);
    devices_lack = true;
    const VkDeviceCreateInfo info = info_device(NULL, 0, NULL);
    assert_success(fake_device(&info));
    VkQueue queue;
    FAKE_CALL(vkGetDeviceQueue, fake.device, 0, 0, &queue);
    /* A command buffer is known by its device's dispatch key. */
    void *buffer_object[2] = {*(void **)fake.device};
    VkCommandBuffer buffer = (VkCommandBuffer)buffer_object;

    const VkResult missing = VK_ERROR_EXTENSION_NOT_PRESENT;
    uint32_t index = 0;
    int fd = -1;
    VkSwapchainKHR swapchain = VK_NULL_HANDLE;
    const VkPresentInfoKHR present = {VK_TYPE(PRESENT_INFO_KHR)};
    const VkAcquireNextImageInfoKHR acquire = {VK_TYPE(ACQUIRE_NEXT_IMAGE_INFO_KHR)};
    const VkSwapchainCreateInfoKHR made = {VK_TYPE(SWAPCHAIN_CREATE_INFO_KHR)};
    n = 0;
    assert_int_equal(CALL(vkQueuePresentKHR)(queue, &present), missing);
    assert_int_equal(CALL(vkAcquireNextImageKHR)(fake.device, VK_NULL_HANDLE, 0, VK_NULL_HANDLE,
                                                 VK_NULL_HANDLE, &index),
                     missing);
    assert_int_equal(CALL(vkAcquireNextImage2KHR)(fake.device, &acquire, &index), missing);
    assert_int_equal(CALL(vkCreateSwapchainKHR)(fake.device, &made, NULL, &swapchain), missing);
    assert_int_equal(CALL(vkCreateSharedSwapchainsKHR)(fake.device, 1, &made, NULL, &swapchain),
                     missing);
    const VkSemaphoreGetFdInfoKHR semaphore_out = {VK_TYPE(SEMAPHORE_GET_FD_INFO_KHR)};
    const VkImportSemaphoreFdInfoKHR semaphore_in = {VK_TYPE(IMPORT_SEMAPHORE_FD_INFO_KHR),
                                                     .fd = -1};
    const VkFenceGetFdInfoKHR fence_out = {VK_TYPE(FENCE_GET_FD_INFO_KHR)};
    const VkImportFenceFdInfoKHR fence_in = {VK_TYPE(IMPORT_FENCE_FD_INFO_KHR),
                                             .fence = (VkFence)(uintptr_t)64, .fd = -1};
    assert_int_equal(CALL(vkGetSemaphoreFdKHR)(fake.device, &semaphore_out, &fd), missing);
    assert_int_equal(CALL(vkImportSemaphoreFdKHR)(fake.device, &semaphore_in), missing);
    assert_int_equal(CALL(vkGetFenceFdKHR)(fake.device, &fence_out, &fd), missing);
    assert_int_equal(CALL(vkImportFenceFdKHR)(fake.device, &fence_in), missing);
    const VkDebugMarkerObjectNameInfoEXT name = {
        VK_TYPE(DEBUG_MARKER_OBJECT_NAME_INFO_EXT),
        .objectType = VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT, .object = (uintptr_t)queue,
        .pObjectName = "a queue"};
    const VkDebugMarkerObjectTagInfoEXT tag = {VK_TYPE(DEBUG_MARKER_OBJECT_TAG_INFO_EXT),
                                               .objectType = VK_DEBUG_REPORT_OBJECT_TYPE_QUEUE_EXT,
                                               .object = (uintptr_t)queue};
    assert_int_equal(CALL(vkDebugMarkerSetObjectNameEXT)(fake.device, &name), missing);
    assert_int_equal(CALL(vkDebugMarkerSetObjectTagEXT)(fake.device, &tag), missing);
    CALL(vkGetQueueCheckpointDataNV)(queue, &index, NULL);
    CALL(vkGetQueueCheckpointData2NV)(queue, &index, NULL);
    assert_int_equal(CALL(vkQueueSetPerformanceConfigurationINTEL)(queue, VK_NULL_HANDLE), missing);
    CALL(vkCmdDrawMeshTasksEXT)(buffer, 1, 1, 1);
    CALL(vkCmdPushDescriptorSetKHR)
    (buffer, VK_PIPELINE_BIND_POINT_COMPUTE, VK_NULL_HANDLE, 0, 0, NULL);
    const VkDebugUtilsLabelEXT label = {VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = "a label"};
    CALL(vkCmdBeginDebugUtilsLabelEXT)(buffer, &label);
    ((void(VKAPI_PTR *)(VkCommandBuffer, uint32_t, const VkShaderStageFlagBits *,
                        const uint64_t *))functions[n++])(buffer, 0, NULL, NULL);
#undef CALL
    devices_lack = false;
    fake_close();
}

/* What is said of a whole VkQueue reaches the driver with its own handle, unless queues share
 * it. */
static VkQueue noticed;
static const void *noticed_info;
static uint32_t notices;

static VkResult VKAPI_CALL notice(VkQueue queue, const void *info)
{
    notices++;
    noticed = queue;
    noticed_info = info;
    return VK_NOT_READY;
}

/* VkExternalComputeQueueCreateInfoNV */
struct external_queue {
    VkStructureType sType;
    const void *pNext;
    VkQueue preferred;
};

static VkResult VKAPI_CALL external(VkDevice device, const void *info,
                                    const VkAllocationCallbacks *allocator, void *out)
{
    notices++;
    noticed = ((const struct external_queue *)info)->preferred;
    return VK_NOT_READY;
}

TEST(test_whole_queues)
{
    static const char *const names[] = {"vkQueueNotifyOutOfBandNV",
                                        "vkQueueNotifyOutOfBandLegacyNV", "vkQueueSetPerfHintQCOM"};
    for (uint32_t count = 1; count <= 2; count++) {
        setenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY", "2", 1);
        fake_start(NULL);
        unsetenv("VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY");
        for (size_t i = 0; i < 3; i++)
            fake_override(names[i], (PFN_vkVoidFunction)notice);
        fake_override("vkCreateExternalComputeQueueNV", (PFN_vkVoidFunction)external);
        fake_open_device((const uint32_t[]){count, 0});
        VkQueue queue;
        FAKE_CALL(vkGetDeviceQueue, fake.device, 0, count - 1, &queue);
        for (size_t i = 0; i < 3; i++) {
            notices = 0;
            VkResult result = ((VkResult(VKAPI_PTR *)(VkQueue, const void *))fake_command(
                names[i]))(queue, (const void *)(uintptr_t)7);
            assert_int_equal(notices, count == 1);
            if (i == 2)
                assert_int_equal(result, count == 1 ? VK_NOT_READY : VK_SUCCESS);
            if (count == 2)
                continue;
            assert_ptr_equal(noticed, fake_queue(0, 0, 0));
            assert_int_equal((uintptr_t)noticed_info, 7);
        }
        const struct external_queue info = {.preferred = queue};
        VkResult(VKAPI_PTR * create)(VkDevice, const void *, const void *, void *) =
            (VkResult(VKAPI_PTR *)(VkDevice, const void *, const void *, void *))fake_command(
                "vkCreateExternalComputeQueueNV");
        assert_int_equal(create(fake.device, &info, NULL, &queue), VK_NOT_READY);
        assert_ptr_equal(noticed, fake_queue(0, 0, 0));
        fake_close();
    }
}

static struct asked {
    VkPipelineCache cache;
    uint32_t count;
    const void *infos;
    const VkAllocationCallbacks *allocator;
    const VkPipeline *pipelines;
} asked;

static VkResult VKAPI_PTR create_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                                           const void *infos,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipeline *pipelines)
{
    asked = (struct asked){cache, count, infos, allocator, pipelines};
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* P-1: by the specialiser's hooks, too. */
TEST(test_pipelines_are_created_as_the_program_asks)
{
    static const char *const names[] = {"vkCreateComputePipelines", "vkCreateGraphicsPipelines"};
    typedef VkResult(VKAPI_PTR * create)(VkDevice, VkPipelineCache, uint32_t, const void *,
                                         const VkAllocationCallbacks *, VkPipeline *);
    const VkAllocationCallbacks allocator = {0};
    const VkPipelineCache cache = (VkPipelineCache)(uint64_t)0x70;
    VkPipeline pipelines[2] = {0};
    const union {
        VkComputePipelineCreateInfo compute[2];
        VkGraphicsPipelineCreateInfo graphics[2];
    } infos = {0};
    fake_start(NULL);
    for (size_t i = 0; i < 2; i++)
        fake_override(names[i], (PFN_vkVoidFunction)create_pipelines);
    fake_open_device((const uint32_t[]){1, 0});
    for (size_t i = 0; i < 2; i++) {
        PFN_vkVoidFunction hook = fake_command(names[i]);
        assert_ptr_not_equal(hook, create_pipelines);
        assert_int_equal(((create)hook)(fake.device, cache, 2, &infos, &allocator, pipelines),
                         VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_ptr_equal(asked.cache, cache);
        assert_int_equal(asked.count, 2);
        assert_ptr_equal(asked.infos, &infos);
        assert_ptr_equal(asked.allocator, &allocator);
        assert_ptr_equal(asked.pipelines, pipelines);
    }
    fake_close();
}

/* A layer above may have found by the instance what a device doesn't have. */
TEST(test_what_nobody_below_has)
{
    call_what_is_absent();
    setenv("VK_BELFRY_MULTI_ENGINE_SUMMARY", "on", 1);
    call_what_is_absent();
    unsetenv("VK_BELFRY_MULTI_ENGINE_SUMMARY");
    setenv("VK_BELFRY_MULTI_ENGINE_CHECK", "access", 1);
    call_what_is_absent();
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
}

int main(void)
{
    int failed = test_run(NULL);
    registry_free(&registry);
    return failed;
}
