/* SPDX-License-Identifier: MIT */
/* The device of a test: made and ended, both ways. */
#include "support/fixture.h"

#include <signal.h>

#define KHRONOS "VK_LAYER_KHRONOS_validation"

const BfCommandListType queue_types[3] = {BF_COMMAND_LIST_TYPE_DIRECT, BF_COMMAND_LIST_TYPE_COMPUTE,
                                          BF_COMMAND_LIST_TYPE_COPY};

const struct fixture_options fixture_plain = {.family = UINT32_MAX};

bool fixture_is_layered(void)
{
    const char *layers = getenv("VK_INSTANCE_LAYERS");
    return layers && strstr(layers, BF_LAYER_NAME);
}

bool fixture_is_icd(void)
{
    const char *drivers = getenv("VK_ICD_FILENAMES");
    return drivers && strstr(drivers, "belfry_test_icd");
}

bool fixture_is_validated(void)
{
    const char *layers = getenv("VK_INSTANCE_LAYERS");
    return layers && strstr(layers, KHRONOS);
}

bool fixture_has_native_fences(void)
{
    return getenv("BELFRY_TEST_NATIVE_FENCES");
}

#ifdef __SANITIZE_THREAD__
/* Lavapipe counts the references to its own fences by atomics, which the sanitizer can't see in a
 * driver that isn't built with it: their end then looks unordered to it. And what it writes as a
 * GPU does, to words and logs that are read meanwhile, is taken for a thread's that nothing
 * orders. */
BF_API const char *__tsan_default_suppressions(void);
BF_API const char *__tsan_default_suppressions(void)
{
    return "race:pthread_mutex_destroy\nrace:pthread_cond_destroy\nrace:libvulkan_lvp.so\n";
}
#endif

/* ---------------------------------------------------------------------------------- Instance -- */

void fixture_open_instance(struct fixture *f, const struct fixture_options *options)
{
    static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, NULL};
    char environment[512];
    snprintf(environment, sizeof(environment), "%s%s",
             options->environment ? options->environment : "",
             options->no_native_fences ? " VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES=off" : "");
    const struct device_instance what = {
        .environment = environment, .extensions = extensions, .listens = fixture_is_validated()};
    *f = (struct fixture){0};
    alarm(FIXTURE_SECONDS);
    assert_success(device_open_instance(&f->base, &what));
    f->layered = fixture_is_layered();
    f->no_native_fences = options->no_native_fences;
    VkPhysicalDevice devices[2];
    uint32_t n = 2;
    assert_true(vkEnumeratePhysicalDevices(f->instance, &n, devices) >= 0);
    assert_true(n >= 1);
    device_choose(&f->base, devices[options->second ? n - 1 : 0]);
}

/* ------------------------------------------------------------------------------------ Device -- */

/* Families for drawing, computing and copying; those for video and for sparse binds alone are of no
 * use to any type of queue. */
static bool is_usable(const VkQueueFamilyProperties *family)
{
    const VkQueueFlags ordinary =
        VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    const VkQueueFlags harmless = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    return (family->queueFlags & ordinary) && !(family->queueFlags & ~(ordinary | harmless));
}

/* What native fences use, where the device has it; the layer enables it for itself. */
static void open_native(struct fixture *f, VkPhysicalDeviceFeatures *v10,
                        VkPhysicalDeviceVulkan12Features *v12)
{
    VkPhysicalDeviceVulkan12Features has12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
    VkPhysicalDeviceFeatures2 has = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &has12};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        VK_TYPE(PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT)};
    VkPhysicalDeviceProperties2 properties = {VK_TYPE(PHYSICAL_DEVICE_PROPERTIES_2),
                                              .pNext = &host};
    f->int64 = f->addresses = false;
    f->host_alignment = 0;
    if (f->layered)
        return;
    vkGetPhysicalDeviceFeatures2(f->physical, &has);
    v10->shaderInt64 = has.features.shaderInt64;
    v12->bufferDeviceAddress = has12.bufferDeviceAddress;
    f->int64 = v10->shaderInt64;
    f->addresses = v12->bufferDeviceAddress;
    if (vulkan_has_device_extension(f->physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
        vkGetPhysicalDeviceProperties2(f->physical, &properties);
        f->host_alignment = host.minImportedHostPointerAlignment;
    }
}

VkResult fixture_open_device(struct fixture *f, const struct fixture_options *options)
{
    static const float priorities[FIXTURE_QUEUES] = {0};
    static const char semaphore_fd[] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    const VkDeviceQueueGlobalPriorityCreateInfoKHR realtime = {
        VK_TYPE(DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR),
        .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR};
    VkDeviceQueueCreateInfo queues[2 * DEVICE_FAMILIES];
    bool has_protected = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->family_count; i++) {
        f->queue_counts[i] = 0;
        if (!is_usable(&f->families[i]) || (options->family != UINT32_MAX && options->family != i))
            continue;
        uint32_t count = f->families[i].queueCount;
        f->queue_counts[i] = count < FIXTURE_QUEUES ? count : FIXTURE_QUEUES;
        queues[n++] = (VkDeviceQueueCreateInfo){
            VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .pNext = options->realtime ? &realtime : NULL,
            .queueFamilyIndex = i, .queueCount = f->queue_counts[i],
            .pQueuePriorities = priorities};
        if (!options->protected_queues || count < 2 ||
            !(f->families[i].queueFlags & VK_QUEUE_PROTECTED_BIT))
            continue;
        queues[n - 1].queueCount = f->queue_counts[i] = 1;
        queues[n] = queues[n - 1];
        queues[n++].flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
        has_protected = true;
    }
    VkPhysicalDeviceProtectedMemoryFeatures protection = {
        VK_TYPE(PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES), .pNext = options->features,
        .protectedMemory = VK_TRUE};
    VkPhysicalDeviceVulkan13Features v13 = {
        VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
        .pNext = has_protected ? &protection : options->features, .synchronization2 = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
                                            .pNext = &v13, .timelineSemaphore = VK_TRUE,
                                            .hostQueryReset = VK_TRUE};
    VkPhysicalDeviceFeatures v10 = {0};
    open_native(f, &v10, &v12);
    const char *names[16];
    uint32_t name_count = 0;
    f->calibrated =
        !options->uncalibrated &&
        vulkan_has_device_extension(f->physical, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    if (f->calibrated)
        names[name_count++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    if (f->host_alignment)
        names[name_count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    f->semaphore_fd = !f->layered && vulkan_has_device_extension(f->physical, semaphore_fd);
    if (f->semaphore_fd)
        names[name_count++] = semaphore_fd;
    if (options->realtime)
        names[name_count++] = VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME;
    for (const char *const *name = options->extensions; name && *name; name++) {
        assert_true(name_count < sizeof(names) / sizeof(names[0]));
        names[name_count++] = *name;
        f->reports = f->reports || !strcmp(*name, VK_EXT_DEVICE_FAULT_EXTENSION_NAME);
    }
    VkPhysicalDeviceFaultFeaturesEXT fault = {VK_TYPE(PHYSICAL_DEVICE_FAULT_FEATURES_EXT),
                                              .pNext = &v12, .deviceFault = VK_TRUE};
    const VkDeviceCreateInfo info = {
        VK_TYPE(DEVICE_CREATE_INFO),     .pNext = f->reports && !f->layered ? (void *)&fault : &v12,
        .queueCreateInfoCount = n,       .pQueueCreateInfos = queues,
        .pEnabledFeatures = &v10,        .enabledExtensionCount = name_count,
        .ppEnabledExtensionNames = names};
    f->global_priority = options->realtime ? VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR : 0;
    VkResult result = device_create(&f->base, &info);
    for (uint32_t i = 0; result == VK_SUCCESS && i < f->family_count; i++) {
        f->protected_queues[i] = VK_NULL_HANDLE;
        for (uint32_t k = 0; k < n; k++) {
            const VkDeviceQueueInfo2 queue = {VK_TYPE(DEVICE_QUEUE_INFO_2),
                                              .flags = queues[k].flags, .queueFamilyIndex = i};
            if (queues[k].queueFamilyIndex == i && queues[k].flags)
                vkGetDeviceQueue2(f->device, &queue, &f->protected_queues[i]);
        }
    }
    return result;
}

BfAttachInfo fixture_attach_info(struct fixture *f, BfAttachQueue *queues)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->family_count; i++) {
        for (uint32_t k = 0; k < f->queue_counts[i]; k++)
            queues[n++] = (BfAttachQueue){.queue = f->queues[i][k],
                                          .queueFamilyIndex = i,
                                          .queueIndex = k,
                                          .globalPriority = f->global_priority};
        if (f->protected_queues[i])
            queues[n++] = (BfAttachQueue){.queue = f->protected_queues[i],
                                          .queueFamilyIndex = i,
                                          .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT};
    }
    return (BfAttachInfo){BF_TYPE(ATTACH_INFO),
                          .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
                          .instance = f->instance,
                          .physicalDevice = f->physical,
                          .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
                          .device = f->device,
                          .queueCount = n,
                          .pQueues = queues,
                          .calibratedTimestamps = f->calibrated,
                          .hostQueryReset = VK_TRUE,
                          .bufferDeviceAddress = f->addresses,
                          .shaderInt64 = f->int64,
                          .hostPointerAlignment = f->host_alignment,
                          .nativeFences = !f->no_native_fences,
                          .externalSemaphoreFd = f->semaphore_fd,
                          .deviceFault = f->reports,
                          .diagnosticCheckpoints = f->reports,
                          .sharesNothing = VK_TRUE};
}

VkResult fixture_attach(struct fixture *f)
{
    return f->layered ? bfGetDevice(f->device, &f->bf) : fixture_attach_with(f, 0, NULL);
}

VkResult fixture_attach_with(struct fixture *f, uint32_t count, const BfSetting *settings)
{
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    BfAttachInfo info = fixture_attach_info(f, queues);
    info.settingCount = count;
    info.pSettings = settings;
    return bfAttachDevice(&info, &f->bf);
}

void fixture_open(struct fixture *f, const struct fixture_options *options)
{
    struct environment saved;
    if (!options)
        options = &fixture_plain;
    environment_set(&saved, options->settings);
    fixture_open_instance(f, options);
    assert_success(fixture_open_device(f, options));
    assert_success(fixture_attach(f));
    environment_restore(&saved);
    assert_non_null(f->bf);
    device_open_words(&f->base, FIXTURE_WORDS, 0, 0);
}

/* vkDeviceWaitIdle. On an attached device a thread of Belfry's may still be in the call whose work
 * has ended already: its VkQueues are locked meanwhile. */
static VkResult wait_idle(struct fixture *f)
{
    BfAttachQueue queues[DEVICE_FAMILIES * FIXTURE_QUEUES];
    const BfAttachInfo info = fixture_attach_info(f, queues);
    uint32_t count = f->layered || !f->bf ? 0 : info.queueCount;
    for (uint32_t i = 0; i < count; i++)
        bfLockVkQueue(f->bf, queues[i].queue); /* not every test has attached all of them */
    VkResult result = vkDeviceWaitIdle(f->device);
    for (uint32_t i = 0; i < count; i++)
        bfUnlockVkQueue(f->bf, queues[i].queue);
    return result;
}

static void close_device(struct fixture *f)
{
    for (uint32_t i = 0; i < f->queue_count; i++)
        bfDestroyCommandQueue(f->made_queues[i]);
    for (uint32_t i = 0; i < f->fence_count; i++)
        bfDestroyFence(f->made_fences[i]);
    VkResult result = wait_idle(f);
    assert_int_equal(result, f->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS);
    if (f->lost && f->icd.library) {
        /* That is told at once, while the driver is still about to drop its work. */
        f->icd.quiesce();
    }
    for (uint32_t i = 0; i < f->semaphore_count; i++)
        vkDestroySemaphore(f->device, f->made_semaphores[i], NULL);
    for (uint32_t i = 0; i < f->stall_count; i++)
        vkDestroyEvent(f->device, f->made_stalls[i], NULL);
    device_close_words(&f->base);
    if (!f->layered)
        bfDetachDevice(f->bf);
    vkDestroyDevice(f->device, NULL);
}

uint32_t fixture_family(const struct fixture *f, VkQueueFlagBits flag)
{
    for (uint32_t i = 0; i < f->family_count; i++)
        if ((f->families[i].queueFlags & flag) && f->queues[i][0])
            return i;
    fail_msg("no family has queues of flag %d", (int)flag);
    return 0;
}

void fixture_close(struct fixture *f)
{
    if (f->device)
        close_device(f);
    for (uint32_t i = 0; i < f->event_count; i++)
        bfDestroyEvent(f->made_events[i]);
    if (f->icd.library) {
        struct belfry_icd_counters counters = vulkan_counters(&f->icd);
        for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++) {
            if (counters.violations[i] != f->violations[i])
                fail_msg("%s: %llu counted, %llu expected",
                         f->icd.violation_name((enum belfry_icd_violation)i),
                         (unsigned long long)counters.violations[i],
                         (unsigned long long)f->violations[i]);
        }
    }
    device_close_instance(&f->base);
    /* The validation layer knows of no loss: it takes the work for pending for ever. */
    if (!f->lost)
        assert_int_equal(f->messages, 0);
    alarm(0);
}

/* -------------------------------------------------------------------------------------- main -- */

static void alarm_rings(int number)
{
    static const char line[] = "\na call has not returned: this test hangs\n";
    ssize_t n = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)n;
    signal(number, SIG_DFL);
    raise(number);
}

/* A run under the validation layer proves something only if that layer is there and speaks. */
static void test_validation_speaks(void **state)
{
    struct fixture f;
    fixture_open(&f, NULL);
    fputs("the next message is meant to be there\n", stderr);
    BfCommandQueue queue = make_queue(&f, BF_COMMAND_LIST_TYPE_DIRECT);
    VkCommandBuffer commands = commands_begin(&f, queue);
    vkCmdFillBuffer(commands, f.buffer, 0, 4, 1); /* twice, with no barrier between */
    vkCmdFillBuffer(commands, f.buffer, 0, 4, 2);
    commands_end(commands);
    assert_true(f.messages > 0);
    f.messages = 0;
    fixture_close(&f);
}

int fixture_main(int argc, char **argv)
{
    signal(SIGALRM, alarm_rings);
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    int failures = 0;
    if (fixture_is_validated()) {
        if (access("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json", R_OK)) {
            printf("no validation layer on this machine\n");
            return 77;
        }
        const struct CMUnitTest speaks[] = {cmocka_unit_test(test_validation_speaks)};
        failures += _cmocka_run_group_tests("validation", speaks, 1, NULL, NULL);
    }
    return failures + test_run_group(NULL, NULL, NULL);
}

__attribute__((constructor)) static void take_main(void)
{
    test_main = fixture_main;
}
