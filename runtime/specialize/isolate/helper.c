/* SPDX-License-Identifier: MIT */
/*
 * belfry-build-helper: makes pipelines for a program that doesn't trust its driver with them
 * (isolate.h). Not to be run by hand: it expects its socket as descriptor 3.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "background/idle.h"
#include "base/clock.h"
#include "specialize/isolate/spawn.h"
#include "specialize/isolate/wire.h"

#define SOCKET           BF_SPAWN_SOCKET
#define SECONDS_TO_CLOSE 5

/* ---------------------------------------------------------------------------------- The program */

static _Atomic bool building;
static int parent = -1; /* pidfd */

/* The program may end while the driver is busy here, or hangs. A parent-death signal wouldn't
 * come, since the program isn't the parent, and the socket may have been inherited by a fork of
 * the program: so this thread watches both the pidfd and the socket. */
static void *helper_watch(void *unused)
{
    (void)unused;
    struct pollfd fds[2] = {{.fd = SOCKET, .events = POLLRDHUP}, {.fd = parent, .events = POLLIN}};
    while (poll(fds, 2, -1) < 0 && errno == EINTR)
        continue;
    if (atomic_load(&building))
        _exit(1);
    alarm(SECONDS_TO_CLOSE); /* the main thread has noticed it too */
    shutdown(SOCKET, SHUT_RDWR);
    return NULL;
}

/* False: the program has ended. */
static bool helper_read(void *bytes, size_t size)
{
    uint8_t *at = bytes;
    while (size) {
        ssize_t n = read(SOCKET, at, size);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static bool helper_answer(enum bf_wire_kind kind, uint32_t number, VkResult result,
                          uint64_t time_ns)
{
    const struct bf_wire_header header = {.magic = BF_WIRE_MAGIC,
                                          .kind = (uint32_t)kind,
                                          .number = number,
                                          .result = (int32_t)result,
                                          .time_ns = time_ns};
    return send(SOCKET, &header, sizeof(header), MSG_NOSIGNAL) == (ssize_t)sizeof(header);
}

/* Receives a message of that kind; the body is malloc'ed. NULL: the program has ended, or the
 * message is malformed. */
static void *helper_receive(enum bf_wire_kind kind, struct bf_wire_header *header)
{
    if (!helper_read(header, sizeof(*header)) || header->magic != BF_WIRE_MAGIC ||
        header->kind != (uint32_t)kind || header->size > BF_WIRE_BODY_MOST)
        return NULL;
    void *body = malloc(header->size + 1);
    if (body && helper_read(body, header->size))
        return body;
    free(body);
    return NULL;
}

/* ----------------------------------------------------------------------------------- The device */

#define INSTANCE_FUNCTIONS(F)                                                                      \
    F(DestroyInstance)                                                                             \
    F(EnumeratePhysicalDevices)                                                                    \
    F(GetPhysicalDeviceProperties)                                                                 \
    F(GetPhysicalDeviceProperties2)                                                                \
    F(CreateDevice)                                                                                \
    F(GetDeviceProcAddr)
#define DEVICE_FUNCTIONS(F)                                                                        \
    F(DestroyDevice)                                                                               \
    F(CreateShaderModule)                                                                          \
    F(DestroyShaderModule)                                                                         \
    F(CreateDescriptorSetLayout)                                                                   \
    F(DestroyDescriptorSetLayout)                                                                  \
    F(CreatePipelineLayout)                                                                        \
    F(DestroyPipelineLayout)                                                                       \
    F(CreateComputePipelines)                                                                      \
    F(CreateGraphicsPipelines)                                                                     \
    F(DestroyRenderPass)                                                                           \
    F(DestroyPipeline)

static struct {
#define MEMBER(name_) PFN_vk##name_ name_;
    INSTANCE_FUNCTIONS(MEMBER)
    DEVICE_FUNCTIONS(MEMBER)
#undef MEMBER
} vk;
static PFN_vkCreateRenderPass2 create_pass; /* NULL: the driver doesn't have it */
static PFN_vkGetInstanceProcAddr get_proc;
static VkInstance instance;
static VkDevice device;

static bool extension_is_listed(const char *name, const VkExtensionProperties *all, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(name, all[i].extensionName) == 0)
            return true;
    return false;
}

/* The program's instance extensions and those that device extensions require, as far as they are
 * available. Malloc'ed. */
static const char **instance_extensions(const struct bf_wire_device *wanted, uint32_t *count)
{
    static const char *const common[] = {"VK_KHR_surface", "VK_KHR_get_surface_capabilities2",
                                         "VK_EXT_surface_maintenance1"};
    const uint32_t n_common = sizeof(common) / sizeof(common[0]);
    PFN_vkEnumerateInstanceExtensionProperties enumerate =
        (PFN_vkEnumerateInstanceExtensionProperties)get_proc(
            NULL, "vkEnumerateInstanceExtensionProperties");
    uint32_t n = 0;
    *count = 0;
    if (!enumerate || enumerate(NULL, &n, NULL))
        return NULL;
    VkExtensionProperties *all = calloc(n + 1, sizeof(*all));
    const char **names = calloc(wanted->instance_extension_count + n_common, sizeof(*names));
    if (!all || !names || enumerate(NULL, &n, all) < 0)
        n = 0;
    for (uint32_t i = 0; n && i < wanted->instance_extension_count + n_common; i++) {
        const char *name = i < n_common ? common[i] : wanted->instance_extensions[i - n_common];
        bool twice = false;
        for (uint32_t k = 0; k < *count; k++)
            twice |= strcmp(names[k], name) == 0;
        if (!twice && extension_is_listed(name, all, n))
            names[(*count)++] = name;
    }
    free(all);
    return names;
}

static VkResult instance_open(const struct bf_wire_device *wanted)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader)
        return VK_ERROR_INITIALIZATION_FAILED;
    get_proc = (PFN_vkGetInstanceProcAddr)dlsym(loader, "vkGetInstanceProcAddr");
    if (!get_proc)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)get_proc(NULL, "vkCreateInstance");
    PFN_vkEnumerateInstanceVersion version_of =
        (PFN_vkEnumerateInstanceVersion)get_proc(NULL, "vkEnumerateInstanceVersion");
    uint32_t version = wanted->api_version, most = VK_API_VERSION_1_0;
    if (!create || !version_of || version_of(&most) || most < VK_API_VERSION_1_1)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    if (version < VK_API_VERSION_1_2)
        version = most < VK_API_VERSION_1_2 ? VK_API_VERSION_1_1 : VK_API_VERSION_1_2;
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "belfry-build-helper",
        .apiVersion = version,
    };
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &application};
    const char **names = instance_extensions(wanted, &info.enabledExtensionCount);
    info.ppEnabledExtensionNames = names;
    VkResult result = create(&info, NULL, &instance);
    free(names);
    if (result)
        return result;
#define LOAD(name_)                                                                                \
    vk.name_ = (PFN_vk##name_)get_proc(instance, "vk" #name_);                                     \
    if (!vk.name_)                                                                                 \
        return VK_ERROR_INITIALIZATION_FAILED;
    INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
    return VK_SUCCESS;
}

/* VK_NULL_HANDLE: there is no such device. */
static VkPhysicalDevice physical_find(const struct bf_wire_device *wanted)
{
    VkPhysicalDevice all[64], found = VK_NULL_HANDLE;
    uint32_t count = sizeof(all) / sizeof(all[0]);
    if (vk.EnumeratePhysicalDevices(instance, &count, all) < 0)
        return VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count && !found; i++) {
        VkPhysicalDeviceIDProperties id = {.sType =
                                               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
        VkPhysicalDeviceProperties2 properties = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
        vk.GetPhysicalDeviceProperties(all[i], &properties.properties);
        if (properties.properties.apiVersion < VK_API_VERSION_1_1)
            continue;
        vk.GetPhysicalDeviceProperties2(all[i], &properties);
        if (memcmp(id.deviceUUID, wanted->device_uuid, VK_UUID_SIZE) == 0 &&
            memcmp(id.driverUUID, wanted->driver_uuid, VK_UUID_SIZE) == 0)
            found = all[i];
    }
    return found;
}

static VkResult device_open(const struct bf_wire_device *wanted)
{
    VkResult result = instance_open(wanted);
    if (result)
        return result;
    VkPhysicalDevice physical = physical_find(wanted);
    if (!physical)
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    const float priority = 0;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = wanted->features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = wanted->extension_count,
                                     .ppEnabledExtensionNames = wanted->extensions,
                                     .pEnabledFeatures = wanted->enabled_features};
    result = vk.CreateDevice(physical, &info, NULL, &device);
    if (result)
        return result;
#define LOAD(name_)                                                                                \
    vk.name_ = (PFN_vk##name_)vk.GetDeviceProcAddr(device, "vk" #name_);                           \
    if (!vk.name_)                                                                                 \
        return VK_ERROR_INITIALIZATION_FAILED;
    DEVICE_FUNCTIONS(LOAD)
#undef LOAD
    create_pass = (PFN_vkCreateRenderPass2)vk.GetDeviceProcAddr(device, "vkCreateRenderPass2");
    if (!create_pass)
        create_pass =
            (PFN_vkCreateRenderPass2)vk.GetDeviceProcAddr(device, "vkCreateRenderPass2KHR");
    return VK_SUCCESS;
}

/* ----------------------------------------------------------------------------------- The builds */

/* Whatever is returned, all of 'modules' may be destroyed. */
static VkResult modules_make(const struct bf_build_code *code, uint32_t count,
                             VkPipelineShaderStageCreateInfo *stages, VkShaderModule *modules)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; !result && i < count; i++) {
        const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                               .codeSize = code[i].size,
                                               .pCode = code[i].words};
        result = vk.CreateShaderModule(device, &info, NULL, &modules[i]);
        stages[i].module = modules[i];
    }
    return result;
}

static VkResult pipeline_make(struct bf_wire_build *build, VkPipelineLayout layout,
                              VkRenderPass pass, VkPipeline *pipeline)
{
    if (build->point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        build->compute.layout = layout;
        return vk.CreateComputePipelines(device, VK_NULL_HANDLE, 1, &build->compute, NULL,
                                         pipeline);
    }
    build->graphics.layout = layout;
    build->graphics.renderPass = pass;
    return vk.CreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &build->graphics, NULL, pipeline);
}

static VkResult helper_pipeline_make(struct bf_wire_build *build)
{
    bool compute = build->point == VK_PIPELINE_BIND_POINT_COMPUTE;
    uint32_t n_sets = build->layout.setLayoutCount;
    uint32_t n_stages = compute ? 1 : build->graphics.stageCount;
    VkDescriptorSetLayout *sets = calloc(n_sets + 1, sizeof(*sets));
    VkShaderModule *modules = calloc(n_stages + 1, sizeof(*modules));
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkRenderPass pass = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkResult result = sets && modules ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;

    for (uint32_t i = 0; !result && i < n_sets; i++)
        result = vk.CreateDescriptorSetLayout(device, &build->sets[i], NULL, &sets[i]);
    build->layout.pSetLayouts = sets;
    if (!result)
        result = vk.CreatePipelineLayout(device, &build->layout, NULL, &layout);
    if (!result && build->pass)
        result = create_pass(device, build->pass, NULL, &pass);
    if (!result)
        result = modules_make(build->code, n_stages,
                              compute ? &build->compute.stage : build->stages, modules);
    if (!result)
        result = pipeline_make(build, layout, pass, &pipeline);

    vk.DestroyPipeline(device, pipeline, NULL);
    for (uint32_t i = 0; modules && i < n_stages; i++)
        vk.DestroyShaderModule(device, modules[i], NULL);
    vk.DestroyRenderPass(device, pass, NULL);
    vk.DestroyPipelineLayout(device, layout, NULL);
    for (uint32_t i = 0; sets && i < n_sets; i++)
        vk.DestroyDescriptorSetLayout(device, sets[i], NULL);
    free(modules);
    free(sets);
    return result;
}

/* Serves one request. False: the helper is to end. timeout_ms: -1 for none. */
static bool helper_serve(int timeout_ms)
{
    struct pollfd socket = {.fd = SOCKET, .events = POLLIN};
    int n = poll(&socket, 1, timeout_ms);
    if (n < 0)
        return errno == EINTR;
    struct bf_wire_header header;
    void *body = n ? helper_receive(BF_WIRE_BUILD, &header) : NULL;
    if (!body)
        return false;
    struct bf_wire_in in;
    struct bf_wire_build build;
    bool on = bf_wire_read_build(&in, body, header.size, &build);
    bool can = on && (!build.pass || create_pass);
    on = on && helper_answer(BF_WIRE_TAKEN, header.number,
                             can ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT, 0);
    if (on && can) {
        atomic_store(&building, true);
        uint64_t begin = bf_now_ns();
        VkResult result = helper_pipeline_make(&build);
        uint64_t time = bf_now_ns() - begin;
        atomic_store(&building, false);
        on = helper_answer(BF_WIRE_BUILT, header.number, result, time) &&
             result != VK_ERROR_DEVICE_LOST;
    }
    bf_wire_in_finish(&in);
    free(body);
    return on;
}

int main(void)
{
    /* Crashes of the driver are expected here: no core file is written. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0);
    const int ignored[] = {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGPIPE};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    if (fcntl(SOCKET, F_SETFD, FD_CLOEXEC)) {
        fputs("belfry-build-helper is started by Belfry, and serves no other purpose\n", stderr);
        return 2;
    }
    bf_thread_make_idle();

    struct bf_wire_header header;
    struct bf_wire_in in;
    struct bf_wire_device wanted;
    void *body = helper_receive(BF_WIRE_DEVICE, &header);
    if (!body || !bf_wire_read_device(&in, body, header.size, &wanted))
        _exit(1);
    parent = (int)syscall(SYS_pidfd_open, (pid_t)wanted.parent, 0);
    pthread_t watcher;
    if ((parent < 0 && errno == ESRCH) || pthread_create(&watcher, NULL, helper_watch, NULL))
        _exit(1);

    atomic_store(&building, true); /* the driver may hang in this too */
    VkResult result = device_open(&wanted);
    atomic_store(&building, false);
    /* The first request may take its time to come, however long the helper may be idle. */
    int timeout_ms = wanted.idle_ms < INT32_MAX ? (int)wanted.idle_ms : INT32_MAX;
    if (helper_answer(BF_WIRE_OPENED, 0, result, 0) && !result && helper_serve(-1))
        while (helper_serve(timeout_ms))
            continue;

    alarm(SECONDS_TO_CLOSE);
    if (device && vk.DestroyDevice)
        vk.DestroyDevice(device, NULL);
    if (instance && vk.DestroyInstance)
        vk.DestroyInstance(instance, NULL);
    _exit(0);
}
