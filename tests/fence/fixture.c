/* The device of a test: made and ended, both ways. */
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ICD_PREFIX  "BELFRY_ICD_"
#define KHRONOS     "VK_LAYER_KHRONOS_validation"
#define ENVIRONMENT 8

const struct fixture_options fixture_plain = {.family = UINT32_MAX};

/* ---------------------------------------------------------------------------------- Environment --
 */

struct variable {
    char name[64];
    char *before; /* owned; NULL: it wasn't set */
};

static uint32_t environment_apply(const char *environment, struct variable *saved)
{
    char copy[512];
    uint32_t n = 0;
    snprintf(copy, sizeof(copy), "%s", environment ? environment : "");
    char *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        assert_true(value && n < ENVIRONMENT);
        *value++ = '\0';
        snprintf(saved[n].name, sizeof(saved[n].name), "%s%s",
                 strncmp(word, "VK_", 3) == 0 ? "" : ICD_PREFIX, word);
        const char *before = getenv(saved[n].name);
        saved[n].before = before ? strdup(before) : NULL;
        setenv(saved[n++].name, value, 1);
    }
    return n;
}

static void environment_restore(uint32_t n, struct variable *saved)
{
    while (n--) {
        if (saved[n].before)
            setenv(saved[n].name, saved[n].before, 1);
        else
            unsetenv(saved[n].name);
        free(saved[n].before);
    }
}

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
 * driver that isn't built with it: their end then looks unordered to it. And what it writes as a GPU
 * does, to words and logs that are read meanwhile, is taken for a thread's that nothing orders. */
BF_API const char *__tsan_default_suppressions(void);
BF_API const char *__tsan_default_suppressions(void)
{
    return "race:pthread_mutex_destroy\nrace:pthread_cond_destroy\nrace:libvulkan_lvp.so\n";
}
#endif

/* ------------------------------------------------------------------------------------- Instance --
 */

static VkBool32 VKAPI_CALL message_seen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *user)
{
    (void)severity, (void)types;
    struct fixture *f = user;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    __atomic_fetch_add(&f->messages, 1, __ATOMIC_RELAXED);
    return VK_FALSE;
}

static bool has_instance_extension(const char *name)
{
    VkExtensionProperties list[64];
    uint32_t n = 64;
    vkEnumerateInstanceExtensionProperties(NULL, &n, list);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

/* The test driver counts for the process: a count begins with each instance. */
static void counters_reset(void)
{
    struct belfry_icd_control icd;
    if (belfry_icd_control_load(&icd))
        icd.reset_counters();
    belfry_icd_control_unload(&icd);
}

void fixture_open_instance(struct fixture *f, const struct fixture_options *options)
{
    *f = (struct fixture){.layered = fixture_is_layered()};
    alarm(FIXTURE_SECONDS);
    assert_success(volkInitialize());
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = message_seen,
        .pUserData = f,
    };
    static const char *const names[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = fixture_is_validated() ? &messenger : NULL,
        .pApplicationInfo = &application,
        .enabledExtensionCount = has_instance_extension(names[0]) ? 1 : 0,
        .ppEnabledExtensionNames = names,
    };
    counters_reset();
    struct variable saved[ENVIRONMENT];
    char environment[512];
    snprintf(environment, sizeof(environment), "%s%s",
             options->environment ? options->environment : "",
             options->no_native_fences ? " VK_BELFRY_MULTI_ENGINE_NATIVE_FENCES=off" : "");
    f->no_native_fences = options->no_native_fences;
    uint32_t n = environment_apply(environment, saved);
    VkResult result = vkCreateInstance(&info, NULL, &f->instance);
    environment_restore(n, saved);
    assert_success(result);
    volkLoadInstance(f->instance);
    if (fixture_is_validated())
        assert_success(
            vkCreateDebugUtilsMessengerEXT(f->instance, &messenger, NULL, &f->messenger));
    belfry_icd_control_load(&f->icd);
    VkPhysicalDevice devices[2];
    n = 2;
    assert_true(vkEnumeratePhysicalDevices(f->instance, &n, devices) >= 0);
    assert_true(n >= 1);
    f->physical = devices[options->second ? n - 1 : 0];
    f->family_count = FIXTURE_FAMILIES;
    vkGetPhysicalDeviceQueueFamilyProperties(f->physical, &f->family_count, f->families);
}

/* --------------------------------------------------------------------------------------- Device --
 */

/* Families for drawing, computing and copying; those for video and for sparse binds alone are of no
 * use to any type of queue. */
static bool is_usable(const VkQueueFamilyProperties *family)
{
    const VkQueueFlags ordinary =
        VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
    const VkQueueFlags harmless = VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
    return (family->queueFlags & ordinary) && !(family->queueFlags & ~(ordinary | harmless));
}

static bool has_device_extension(struct fixture *f, const char *name)
{
    VkExtensionProperties list[256];
    uint32_t n = 256;
    assert_true(vkEnumerateDeviceExtensionProperties(f->physical, NULL, &n, list) >= 0);
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    }
    return false;
}

/* What native fences use, where the device has it; the layer enables it for itself. */
static void open_native(struct fixture *f, VkPhysicalDeviceFeatures *v10,
                        VkPhysicalDeviceVulkan12Features *v12)
{
    VkPhysicalDeviceVulkan12Features has12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &has12};
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &host};
    f->int64 = f->addresses = false;
    f->host_alignment = 0;
    if (f->layered)
        return;
    vkGetPhysicalDeviceFeatures2(f->physical, &has);
    v10->shaderInt64 = has.features.shaderInt64;
    v12->bufferDeviceAddress = has12.bufferDeviceAddress;
    f->int64 = v10->shaderInt64;
    f->addresses = v12->bufferDeviceAddress;
    if (has_device_extension(f, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) {
        vkGetPhysicalDeviceProperties2(f->physical, &properties);
        f->host_alignment = host.minImportedHostPointerAlignment;
    }
}

VkResult fixture_open_device(struct fixture *f, const struct fixture_options *options)
{
    static const float priorities[FIXTURE_QUEUES] = {0};
    static const char semaphore_fd[] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    const VkDeviceQueueGlobalPriorityCreateInfoKHR realtime = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR,
        .globalPriority = VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR};
    VkDeviceQueueCreateInfo queues[2 * FIXTURE_FAMILIES];
    bool has_protected = false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->family_count; i++) {
        f->queue_counts[i] = 0;
        if (!is_usable(&f->families[i]) || (options->family != UINT32_MAX && options->family != i))
            continue;
        uint32_t count = f->families[i].queueCount;
        f->queue_counts[i] = count < FIXTURE_QUEUES ? count : FIXTURE_QUEUES;
        queues[n++] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                                .pNext = options->realtime ? &realtime : NULL,
                                                .queueFamilyIndex = i,
                                                .queueCount = f->queue_counts[i],
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
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES,
        .protectedMemory = VK_TRUE};
    VkPhysicalDeviceVulkan13Features v13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .pNext = has_protected ? &protection : NULL,
        .synchronization2 = VK_TRUE};
    VkPhysicalDeviceVulkan12Features v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &v13,
        .timelineSemaphore = VK_TRUE,
        .hostQueryReset = VK_TRUE};
    VkPhysicalDeviceFeatures v10 = {0};
    open_native(f, &v10, &v12);
    const char *names[16];
    uint32_t name_count = 0;
    f->calibrated = !options->uncalibrated &&
                    has_device_extension(f, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    if (f->calibrated)
        names[name_count++] = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    if (f->host_alignment)
        names[name_count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    f->semaphore_fd = !f->layered && has_device_extension(f, semaphore_fd);
    if (f->semaphore_fd)
        names[name_count++] = semaphore_fd;
    if (options->realtime)
        names[name_count++] = VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME;
    for (const char *const *name = options->extensions; name && *name; name++) {
        assert_true(name_count < sizeof(names) / sizeof(names[0]));
        names[name_count++] = *name;
    }
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &v12,
        .queueCreateInfoCount = n,
        .pQueueCreateInfos = queues,
        .pEnabledFeatures = &v10,
        .enabledExtensionCount = name_count,
        .ppEnabledExtensionNames = names,
    };
    f->global_priority = options->realtime ? VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR : 0;
    VkResult result = vkCreateDevice(f->physical, &info, NULL, &f->device);
    for (uint32_t i = 0; result == VK_SUCCESS && i < f->family_count; i++) {
        for (uint32_t k = 0; k < f->queue_counts[i]; k++)
            vkGetDeviceQueue(f->device, i, k, &f->queues[i][k]);
        f->protected_queues[i] = VK_NULL_HANDLE;
        for (uint32_t k = 0; k < n; k++) {
            const VkDeviceQueueInfo2 queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                              .flags = queues[k].flags,
                                              .queueFamilyIndex = i};
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
    return (BfAttachInfo){.pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
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
                          .externalSemaphoreFd = f->semaphore_fd};
}

VkResult fixture_attach(struct fixture *f)
{
    if (f->layered)
        return bfGetDevice(f->device, &f->bf);
    BfAttachQueue queues[FIXTURE_FAMILIES * FIXTURE_QUEUES];
    const BfAttachInfo info = fixture_attach_info(f, queues);
    return bfAttachDevice(&info, &f->bf);
}

/* Memory that the host sees without flushing. */
static uint32_t memory_type(struct fixture *f, uint32_t bits)
{
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(f->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if ((bits & 1u << i) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    fail_msg("no host-visible memory");
    return 0;
}

static void open_buffer(struct fixture *f)
{
    uint32_t used[FIXTURE_FAMILIES], n = 0;
    for (uint32_t i = 0; i < f->family_count; i++) {
        if (!f->queue_counts[i])
            continue;
        used[n++] = i;
        const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = i};
        assert_success(vkCreateCommandPool(f->device, &pool, NULL, &f->pools[i]));
    }
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = FIXTURE_WORDS * sizeof(uint32_t),
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = n > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = n,
        .pQueueFamilyIndices = used};
    assert_success(vkCreateBuffer(f->device, &buffer, NULL, &f->buffer));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(f->device, f->buffer, &requirements);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = requirements.size,
                                         .memoryTypeIndex =
                                             memory_type(f, requirements.memoryTypeBits)};
    assert_success(vkAllocateMemory(f->device, &memory, NULL, &f->memory));
    assert_success(vkBindBufferMemory(f->device, f->buffer, f->memory, 0));
    assert_success(vkMapMemory(f->device, f->memory, 0, VK_WHOLE_SIZE, 0, (void **)&f->words));
    memset(f->words, 0, FIXTURE_WORDS * sizeof(uint32_t));
}

void fixture_open(struct fixture *f, const struct fixture_options *options)
{
    if (!options)
        options = &fixture_plain;
    fixture_open_instance(f, options);
    assert_success(fixture_open_device(f, options));
    assert_success(fixture_attach(f));
    assert_non_null(f->bf);
    open_buffer(f);
}

static void close_device(struct fixture *f)
{
    for (uint32_t i = 0; i < f->queue_count; i++)
        bfDestroyQueue(f->made_queues[i]);
    for (uint32_t i = 0; i < f->fence_count; i++)
        bfDestroyFence(f->made_fences[i]);
    VkResult result = vkDeviceWaitIdle(f->device);
    assert_int_equal(result, f->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS);
    if (f->lost) {
        /* That is told at once, while the driver is still about to drop its work. */
        f->icd.quiesce();
    }
    for (uint32_t i = 0; i < f->semaphore_count; i++)
        vkDestroySemaphore(f->device, f->made_semaphores[i], NULL);
    for (uint32_t i = 0; i < f->stall_count; i++)
        vkDestroyEvent(f->device, f->made_stalls[i], NULL);
    for (uint32_t i = 0; i < FIXTURE_FAMILIES; i++)
        vkDestroyCommandPool(f->device, f->pools[i], NULL);
    vkDestroyBuffer(f->device, f->buffer, NULL);
    vkFreeMemory(f->device, f->memory, NULL);
    if (!f->layered)
        bfDetachDevice(f->bf);
    vkDestroyDevice(f->device, NULL);
}

void fixture_close(struct fixture *f)
{
    if (f->device)
        close_device(f);
    for (uint32_t i = 0; i < f->event_count; i++)
        bfDestroyEvent(f->made_events[i]);
    if (f->icd.library) {
        struct belfry_icd_counters counters;
        f->icd.get_counters(&counters);
        for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++) {
            if (counters.violations[i] != f->violations[i])
                fail_msg("%s: %llu counted, %llu expected",
                         f->icd.violation_name((enum belfry_icd_violation)i),
                         (unsigned long long)counters.violations[i],
                         (unsigned long long)f->violations[i]);
        }
    }
    if (f->messenger)
        vkDestroyDebugUtilsMessengerEXT(f->instance, f->messenger, NULL);
    vkDestroyInstance(f->instance, NULL);
    belfry_icd_control_unload(&f->icd);
    /* The validation layer knows of no loss: it takes the work for pending for ever. */
    if (!f->lost)
        assert_int_equal(f->messages, 0);
    alarm(0);
}

/* ----------------------------------------------------------------------------------------- main --
 */

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
    (void)state;
    struct fixture f;
    fixture_open(&f, NULL);
    fputs("the next message is meant to be there\n", stderr);
    BfQueue queue = make_queue(&f, BF_QUEUE_TYPE_DIRECT);
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
