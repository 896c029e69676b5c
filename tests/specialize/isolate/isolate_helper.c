/* SPDX-License-Identifier: MIT */
/* A device, requests and caught lines for the tests of isolated builds. */
#include "isolate_helper.h"

#include <sys/socket.h>

#include "base/message.h"
#include "specialize/isolate/spawn.h"
#include "specialize/isolate/wire.h"

_Atomic uint32_t lines;

void bf_message(enum bf_message_level level, const char *format, ...)
{
    if (getenv("TEST_VERBOSE")) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        fputc('\n', stderr);
    }
    lines += level <= BF_MESSAGE_WARNING;
}

static void leave(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    exit(77);
}

/* Asked once: the loader and the driver may start threads, and a test forks. */
static VkPhysicalDevice identify(struct bf_isolate_info *info)
{
    static VkPhysicalDeviceIDProperties id;
    static VkPhysicalDeviceProperties2 properties;
    static VkPhysicalDeviceDriverProperties driver;
    static VkPhysicalDevice physical;
    if (!physical) {
        const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO),
                                               .apiVersion = VK_API_VERSION_1_2};
        const VkInstanceCreateInfo create = {VK_TYPE(INSTANCE_CREATE_INFO),
                                             .pApplicationInfo = &application};
        static VkInstance instance; /* to the end: lavapipe leaks a little where it ends */
        uint32_t count = 1;
        if (volkInitialize() || vkCreateInstance(&create, NULL, &instance))
            leave("no Vulkan");
        volkLoadInstanceOnly(instance);
        if (vkEnumeratePhysicalDevices(instance, &count, &physical) < 0 || !count)
            leave("no device");
        id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES;
        driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
        id.pNext = &driver;
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &id;
        vkGetPhysicalDeviceProperties2(physical, &properties);
    }
    memcpy(info->device_uuid, id.deviceUUID, VK_UUID_SIZE);
    memcpy(info->driver_uuid, id.driverUUID, VK_UUID_SIZE);
    memcpy(info->cache_uuid, properties.properties.pipelineCacheUUID, VK_UUID_SIZE);
    info->driver_version = properties.properties.driverVersion;
    info->driver_id = (uint32_t)driver.driverID;
    info->driver_info = driver.driverInfo;
    return physical;
}

bool isolate_device_has(const char *extension)
{
    struct bf_isolate_info info;
    VkExtensionProperties all[512];
    uint32_t count = sizeof(all) / sizeof(all[0]);
    if (vkEnumerateDeviceExtensionProperties(identify(&info), NULL, &count, all) < 0)
        return false;
    while (count && strcmp(all[count - 1].extensionName, extension) != 0)
        count--;
    return count;
}

struct bf_isolate_info info_of(const char *const *variables)
{
    static char path[512];
    static const char *environment[512];
    const char *build = getenv("BELFRY_TEST_BUILD");
    const char *helper = getenv("BELFRY_TEST_HELPER"); /* a broken one */
    if (helper)
        snprintf(path, sizeof(path), "%s", helper);
    else
        snprintf(path, sizeof(path), "%s/lib/belfry/belfry-build-helper",
                 build ? build : "build/debug");
    size_t n = 0;
    for (; variables && *variables; variables++)
        environment[n++] = *variables;
    for (char **v = environ; *v && n < sizeof(environment) / sizeof(environment[0]) - 1; v++)
        environment[n++] = *v;
    environment[n] = NULL;
    /* What Belfry asks of every device. */
    static const char *const extensions[] = {"VK_KHR_synchronization2",
                                             "VK_KHR_timeline_semaphore"};
    static const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        VK_TYPE(PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES), .timelineSemaphore = VK_TRUE};
    static const VkPhysicalDeviceSynchronization2Features synchronization = {
        VK_TYPE(PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES), .pNext = (void *)&timeline,
        .synchronization2 = VK_TRUE};
    struct bf_isolate_info info = {.api_version = VK_API_VERSION_1_1,
                                   .extension_count = 2,
                                   .extensions = extensions,
                                   .features = &synchronization,
                                   .environment = (char *const *)environment,
                                   .helper = path};
    identify(&info);
    return info;
}

const struct bf_build_request *empty(struct made *made, const char *entry)
{
    uint32_t name[8] = {0};
    uint32_t name_words = (uint32_t)strlen(entry) / 4 + 1;
    memcpy(name, entry, strlen(entry));
    *made = (struct made){0};
    uint32_t n = 0;
    const uint32_t first[] = {0x07230203, 0x00010000, 0, 5, 0,           /* header, bound 5 */
                              0x00020011, 1,                             /* OpCapability Shader */
                              0x0003000e, 0,          1};                /* OpMemoryModel */
    const uint32_t last[] = {0x00060010, 1, 17,         1,         1, 1, /* LocalSize 1 1 1 */
                             0x00020013, 2,                              /* %2 = OpTypeVoid */
                             0x00030021, 3, 2,                        /* %3 = OpTypeFunction %2 */
                             0x00050036, 2, 1,          0,         3, /* %1 = OpFunction */
                             0x000200f8, 4, 0x000100fd, 0x00010038};  /* label, return, end */
    memcpy(made->words, first, sizeof(first));
    n = sizeof(first) / 4;
    made->words[n++] = (3 + name_words) << 16 | 15; /* OpEntryPoint GLCompute %1 "entry" */
    made->words[n++] = 5;
    made->words[n++] = 1;
    memcpy(made->words + n, name, name_words * 4);
    n += name_words;
    memcpy(made->words + n, last, sizeof(last));
    n += sizeof(last) / 4;

    made->code = (struct bf_build_code){made->words, n * 4};
    made->layout.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    made->compute = (VkComputePipelineCreateInfo){
        VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
        .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = entry}};
    made->request = (struct bf_build_request){
        .compute = &made->compute, .code = &made->code, .layout = &made->layout};
    return &made->request;
}

VkResult isolate_build(struct bf_isolate *isolate, const struct bf_build_request *request,
                       VkResult *driver_result)
{
    const struct bf_check_request check = {.build_count = 1, .builds = request};
    struct bf_check_answer answer;
    VkResult result = bf_isolate_check(isolate, &check, &answer);
    if (result == VK_SUCCESS)
        *driver_result = answer.built;
    return result;
}

VkResult isolate_build_empty(struct bf_isolate *isolate, const char *entry, VkResult *driver_result)
{
    struct made made;
    *driver_result = VK_RESULT_MAX_ENUM;
    return isolate_build(isolate, empty(&made, entry), driver_result);
}

void isolate_assert_builds(struct bf_isolate *isolate, const char *entry, VkResult expected)
{
    VkResult result;
    assert_success(isolate_build_empty(isolate, entry, &result));
    assert_int_equal(result, expected);
}

void isolate_assert_fails(struct bf_isolate *isolate, const char *entry, VkResult expected)
{
    VkResult result;
    assert_int_equal(isolate_build_empty(isolate, entry, &result), expected);
    assert_int_equal(result, VK_RESULT_MAX_ENUM);
}

void own_helper_say(const struct bf_wire_header *header)
{
    if (write(BF_SPAWN_SOCKET, header, sizeof(*header)) != sizeof(*header))
        _exit(2);
}

bool own_helper_hear(void)
{
    struct bf_wire_header header;
    if (recv(BF_SPAWN_SOCKET, &header, sizeof(header), MSG_WAITALL) != sizeof(header))
        return false;
    char *body = malloc(header.size + 1);
    if (header.size &&
        recv(BF_SPAWN_SOCKET, body, header.size, MSG_WAITALL) != (ssize_t)header.size)
        _exit(2);
    free(body);
    return true;
}

const char *own_helper_path(void)
{
    static char path[4096];
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
        return path;
    fprintf(stderr, "skipped: there is no /proc/self/exe\n");
    return NULL;
}
