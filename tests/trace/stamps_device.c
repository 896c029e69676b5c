/* SPDX-License-Identifier: MIT */
/* Stamps around real work: in order, inside the time that the CPU saw pass, and in the timeline.
 * Run with validation where the layer is installed. */
#include "support/vulkan.h"
#include "trace_helper.h"

#include "base/clock.h"
#include "trace/stamps.h"
#include "support/infos.h"

#define PACKETS 6

static struct {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkQueueFamilyProperties family;
    VkDevice device;
    struct VolkDeviceTable vk;
    VkQueue queue;
    VkSemaphore epoch;
    VkCommandPool pool;
    VkCommandBuffer work;
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint64_t last_epoch;
    bool host_reset;
    bool calibrated;
    uint32_t complaints;
} gpu;

static bool has_layer(const char *name)
{
    VkLayerProperties layers[64];
    uint32_t count = 64;
    vkEnumerateInstanceLayerProperties(&count, layers);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(layers[i].layerName, name) == 0)
            return true;
    return false;
}

static bool instance_make(void)
{
    static const char *const validation = "VK_LAYER_KHRONOS_validation";
    static const char *const debug = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    if (volkInitialize() != VK_SUCCESS)
        return false;
    bool validate = has_layer(validation);
#ifdef __SANITIZE_THREAD__
    validate = false; /* its own threads race where ThreadSanitizer can't see their locks */
#endif
    const VkApplicationInfo app = {VK_TYPE(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_3};
    const VkDebugUtilsMessengerCreateInfoEXT messenger = vulkan_messenger(&gpu.complaints);
    const VkInstanceCreateInfo info = {
        VK_TYPE(INSTANCE_CREATE_INFO),     .pApplicationInfo = &app,
        .enabledLayerCount = validate,     .ppEnabledLayerNames = &validation,
        .enabledExtensionCount = validate, .ppEnabledExtensionNames = &debug};
    if (vkCreateInstance(&info, NULL, &gpu.instance) != VK_SUCCESS)
        return false;
    volkLoadInstance(gpu.instance);
    if (validate)
        vkCreateDebugUtilsMessengerEXT(gpu.instance, &messenger, NULL, &gpu.messenger);
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(gpu.instance, &count, &gpu.physical);
    return (result == VK_SUCCESS || result == VK_INCOMPLETE) && count == 1;
}

static bool domains_are_there(void)
{
    VkTimeDomainEXT domains[16];
    uint32_t count = 16;
    bool device = false;
    bool host = false;
    vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(gpu.physical, &count, domains);
    for (uint32_t i = 0; i < count; i++) {
        device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
        host |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    }
    return device && host;
}

static bool device_make(void)
{
    static const char *const extension = VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME;
    vkGetPhysicalDeviceProperties(gpu.physical, &gpu.properties);
    uint32_t count = 1;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, &gpu.family);
    if (gpu.properties.apiVersion < VK_API_VERSION_1_3 || gpu.family.timestampValidBits == 0)
        return false;
    gpu.calibrated = vulkan_has_device_extension(gpu.physical, extension) && domains_are_there();
    VkPhysicalDeviceVulkan12Features v12 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
    VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2), .pNext = &v12};
    vkGetPhysicalDeviceFeatures2(gpu.physical, &features);
    gpu.host_reset = v12.hostQueryReset;
    const VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                                  .synchronization2 = true};
    v12 = (VkPhysicalDeviceVulkan12Features){
        VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES), .pNext = (void *)&v13,
        .hostQueryReset = gpu.host_reset, .timelineSemaphore = true};
    const VkDeviceCreateInfo info = info_device(&v12, gpu.calibrated, &extension);
    if (vkCreateDevice(gpu.physical, &info, NULL, &gpu.device) != VK_SUCCESS)
        return false;
    volkLoadDeviceTable(&gpu.vk, gpu.device);
    gpu.vk.vkGetDeviceQueue(gpu.device, 0, 0, &gpu.queue);
    return true;
}

/* Work that takes long enough to be seen: a buffer filled several times. */
static void work_make(void)
{
    const VkDeviceSize size = 4 << 20;
    gpu.buffer = vulkan_buffer_of(gpu.physical, gpu.device, size, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                  &gpu.memory, NULL);
    gpu.epoch = vulkan_timeline(gpu.device, 0);
    gpu.pool = vulkan_pool(gpu.device, 0);
    gpu.work = vulkan_commands(gpu.device, gpu.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO),
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    gpu.vk.vkBeginCommandBuffer(gpu.work, &begin);
    const VkMemoryBarrier2 barrier = {VK_TYPE(MEMORY_BARRIER_2),
                                      .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      .dstAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT};
    const VkDependencyInfo order = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                    .pMemoryBarriers = &barrier};
    for (uint32_t i = 0; i < 4; i++) {
        gpu.vk.vkCmdPipelineBarrier2(gpu.work, &order);
        gpu.vk.vkCmdFillBuffer(gpu.work, gpu.buffer, 0, size, i);
    }
    gpu.vk.vkEndCommandBuffer(gpu.work);
}

struct seen {
    struct bf_trace_packet packet;
    uint64_t before; /* the CPU's time before its slot was taken */
};

static struct seen submit(struct bf_trace *trace, struct bf_stamps *stamps, uint32_t queue)
{
    struct seen seen = {.packet = queued(trace, queue), .before = bf_now_ns()};
    VkCommandBuffer before, after;
    uint32_t slot;
    assert_true(bf_stamps_begin(stamps, &seen.packet, NULL, &before, &after, &slot));
    const VkCommandBufferSubmitInfo buffers[] = {
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = before},
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = gpu.work},
        {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO), .commandBuffer = after},
    };
    const VkSemaphoreSubmitInfo signal = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = gpu.epoch,
                                          .value = ++gpu.last_epoch,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2), .commandBufferInfoCount = 3,
                                .pCommandBufferInfos = buffers, .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    assert_success(gpu.vk.vkQueueSubmit2(gpu.queue, 1, &info, VK_NULL_HANDLE));
    handed_over(trace, &seen.packet, NOTHING, SYNC((uint64_t)gpu.epoch, gpu.last_epoch));
    bf_stamps_accepted(stamps, slot, gpu.last_epoch, seen.packet.handed_over_ns);
    return seen;
}

static void wait_for_all(void)
{
    const VkSemaphoreWaitInfo wait = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &gpu.epoch, .pValues = &gpu.last_epoch};
    assert_success(gpu.vk.vkWaitSemaphores(gpu.device, &wait, UINT64_MAX));
}

/* Every way to reset, to stamp and to place, with as many valid bits as a device may have. */
static void inside_the_bracket(bool calibrated, bool host_reset, bool second_form, uint32_t bits)
{
    char folder[64];
    folder_make(folder);
    struct bf_trace *trace = trace_open(in_folder(folder, "stamps.pftrace"));
    uint32_t queue = bf_trace_add_queue(trace, bf_trace_add_engine(trace, "engine"), "queue");
    const struct bf_stamps_info info = {.device = gpu.device,
                                        .vk = &gpu.vk,
                                        .family = 0,
                                        .family_flags = gpu.family.queueFlags,
                                        .valid_bits = bits,
                                        .period_ns = (double)gpu.properties.limits.timestampPeriod,
                                        .host_query_reset = host_reset,
                                        .synchronization2 = second_form,
                                        .calibrated = calibrated,
                                        .trace = trace};
    struct bf_stamps *stamps;
    assert_success(bf_stamps_create(&info, &stamps));
    assert_non_null(stamps);

    struct seen seen[2 * PACKETS];
    uint64_t done[2 * PACKETS];
    for (int i = 0; i < PACKETS; i++) { /* one after the other */
        seen[i] = submit(trace, stamps, queue);
        wait_for_all();
        done[i] = bf_now_ns();
        bf_stamps_collect(stamps, gpu.last_epoch);
    }
    for (int i = PACKETS; i < 2 * PACKETS; i++) /* all at once, from used slots */
        seen[i] = submit(trace, stamps, queue);
    bf_stamps_collect(stamps, 0); /* nothing yet */
    wait_for_all();
    for (int i = PACKETS; i < 2 * PACKETS; i++)
        done[i] = bf_now_ns();
    bf_stamps_collect(stamps, gpu.last_epoch);
    bf_stamps_destroy(stamps);

    struct decoded d = trace_close(trace, folder, NULL);
    uint64_t last = 0;
    for (int i = 0; i < 2 * PACKETS; i++) {
        const struct decoded_packet *begin = hardware_slice(&d, seen[i].packet.id);
        assert_non_null(begin);
        const struct decoded_packet *end = end_of(&d, begin);
        /* What the device says of its calibration's error is not asked here: 20 us. */
        uint64_t slack = calibrated ? 20000 : 0;
        assert_true(begin->time + slack >= seen[i].before);
        assert_true(begin->time >= last);
        assert_true(begin->time < end->time);
        assert_true(end->time <= done[i] + slack);
        last = end->time;
    }
    bool marked = event_named(&d, "GPU times are uncalibrated", DECODED_INSTANT, 0) != NULL;
    assert_true(marked == !calibrated);
    decoded_free(&d);
}

TEST(stamps)
{
    for (int way = 0; way < 8; way++) {
        if (((way & 1) && !gpu.calibrated) || ((way & 2) && !gpu.host_reset))
            continue;
        inside_the_bracket(way & 1, way & 2, way & 4, gpu.family.timestampValidBits);
        inside_the_bracket(way & 1, way & 2, way & 4, 36);
    }
    assert_int_equal(gpu.complaints, 0);
}

int main(void)
{
    if (!instance_make() || !device_make()) {
        fprintf(stderr, "no device with timestamps and Vulkan 1.3\n");
        return 77;
    }
    work_make();
    int failed = test_run(NULL);
    gpu.vk.vkDestroyCommandPool(gpu.device, gpu.pool, NULL);
    gpu.vk.vkDestroySemaphore(gpu.device, gpu.epoch, NULL);
    gpu.vk.vkDestroyBuffer(gpu.device, gpu.buffer, NULL);
    gpu.vk.vkFreeMemory(gpu.device, gpu.memory, NULL);
    gpu.vk.vkDestroyDevice(gpu.device, NULL);
    if (gpu.messenger)
        vkDestroyDebugUtilsMessengerEXT(gpu.instance, gpu.messenger, NULL);
    vkDestroyInstance(gpu.instance, NULL);
    return failed || gpu.complaints ? 1 : 0;
}
