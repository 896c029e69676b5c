/* SPDX-License-Identifier: MIT */
/* Other layers, above and below: bystanders of the test's own, Khronos' validation with
 * synchronisation validation, Mesa's overlay. The layer that an instance names first is the nearest
 * to the program.
 *
 * Runs on whatever driver there is: every test makes its instances anew, with its own list of
 * layers. */
#include "support/world.h"

#include "bystander.h"

#define BELFRY     "VK_LAYER_BELFRY_multi_engine"
#define VALIDATION "VK_LAYER_KHRONOS_validation"
#define ABOVE      "VK_LAYER_BELFRYTEST_above"
#define BELOW      "VK_LAYER_BELFRYTEST_below"
#define OVERLAY    "VK_LAYER_MESA_overlay"

static struct bystander *find_bystander(const char *name, void **library)
{
    char path[4096];
    const char *build = getenv("BELFRY_TEST_BUILD");
    snprintf(path, sizeof(path), "%s/lib/libbelfry_test_%s.so", build ? build : ".", name);
    *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    return *library ? dlsym(*library, "bystander_seen") : NULL;
}

static void put(VkCommandBuffer commands, struct device *w, uint32_t index, uint32_t word)
{
    vkCmdFillBuffer(commands, w->buffer, index * 4, 4, word);
}

static void barrier(VkCommandBuffer commands, VkAccessFlags2 src, VkAccessFlags2 dst)
{
    const VkMemoryBarrier2 memory = {
        VK_TYPE(MEMORY_BARRIER_2), .srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .srcAccessMask = src,
        .dstStageMask = dst & VK_ACCESS_2_HOST_READ_BIT ? VK_PIPELINE_STAGE_2_HOST_BIT
                                                        : VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
        .dstAccessMask = dst};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .memoryBarrierCount = 1,
                                   .pMemoryBarriers = &memory};
    vkCmdPipelineBarrier2(commands, &info);
}

/* An image that one family writes and another takes over, through both halves of a transfer. */
static void hand_over(struct device *w, uint32_t from, uint32_t to)
{
    const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {16, 16, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .tiling = VK_IMAGE_TILING_OPTIMAL,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    VkImage image;
    assert_success(vkCreateImage(w->device, &info, NULL, &image));
    VkMemoryRequirements requirements;
    vkGetImageMemoryRequirements(w->device, image, &requirements);
    const VkMemoryAllocateInfo allocate = {
        VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = requirements.size,
        .memoryTypeIndex = (uint32_t)__builtin_ctz(requirements.memoryTypeBits)};
    VkDeviceMemory memory;
    assert_success(vkAllocateMemory(w->device, &allocate, NULL, &memory));
    assert_success(vkBindImageMemory(w->device, image, memory, 0));

    VkImageMemoryBarrier2 change = {VK_TYPE(IMAGE_MEMORY_BARRIER_2),
                                    .dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                                    .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                    .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo dependency = {VK_TYPE(DEPENDENCY_INFO), .imageMemoryBarrierCount = 1,
                                         .pImageMemoryBarriers = &change};
    const VkClearColorValue colour = {.float32 = {1, 0, 0, 1}};
    VkCommandBuffer write = device_begin(w, from, 0);
    vkCmdPipelineBarrier2(write, &dependency);
    vkCmdClearColorImage(write, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1,
                         &change.subresourceRange);
    change.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    change.newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    change.srcQueueFamilyIndex = from;
    change.dstQueueFamilyIndex = to;
    change.srcStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    change.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    change.dstStageMask = VK_PIPELINE_STAGE_2_NONE;
    change.dstAccessMask = 0;
    vkCmdPipelineBarrier2(write, &dependency);
    assert_success(vkEndCommandBuffer(write));
    VkCommandBuffer read = device_begin(w, to, 0);
    change.srcStageMask = VK_PIPELINE_STAGE_2_NONE;
    change.srcAccessMask = 0;
    change.dstStageMask = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    change.dstAccessMask = VK_ACCESS_2_TRANSFER_READ_BIT;
    vkCmdPipelineBarrier2(read, &dependency);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {16, 16, 1}};
    vkCmdCopyImageToBuffer(read, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, w->buffer, 1, &copy);
    barrier(read, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_success(vkEndCommandBuffer(read));

    VkSemaphore handed = vulkan_binary(w->device);
    VkFence fence = vulkan_fence(w->device, false);
    assert_submitted(w->queues[from][0], .commands = write, .signal = handed);
    assert_submitted(w->queues[to][0], .wait = handed, .commands = read, .fence = fence);
    assert_success(vkWaitForFences(w->device, 1, &fence, VK_TRUE, UINT64_MAX));
    if (!w->icd.library) /* the test driver looks into no image */
        assert_int_equal(w->words[17], 0xff0000ff);
    vulkan_destroy(w->device, fence, handed, image, memory);
}

static const uint32_t families[] = {2, 2, 1, WORLD_END};

/* A small program on five queues of three families: work that is held, binary semaphores, fences,
 * a transfer of ownership, idle waits. */
static void run_program(const char *layers, uint32_t *submits)
{
    world_layers = layers;
    struct device w;
    world_open(&w, NULL, families);
    VkSemaphore t = vulkan_timeline(w.device, 0), b = vulkan_binary(w.device);
    VkFence fence = vulkan_fence(w.device, false);
    const VkQueue queues[5] = {w.queues[0][0], w.queues[1][0], w.queues[2][0], w.queues[1][1],
                               w.queues[0][1]};
    static const uint32_t family[5] = {0, 1, 2, 1, 0};
    for (uint32_t i = 5; i-- > 0;) {
        VkCommandBuffer commands = device_begin(&w, family[i], 0);
        put(commands, &w, i, 10 + i);
        barrier(commands, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT);
        put(commands, &w, 5, 20 + i);
        barrier(commands, VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_ACCESS_2_HOST_READ_BIT);
        assert_success(vkEndCommandBuffer(commands));
        assert_submitted(queues[i], .wait = t, .wait_value = i + 1, .commands = commands,
                         .signal = t, .signal_value = i + 2, .fence = i ? VK_NULL_HANDLE : fence);
    }
    assert_int_equal(vkGetFenceStatus(w.device, fence), VK_NOT_READY);
    vulkan_signal(w.device, t, 1);
    vulkan_wait(w.device, t, 6);
    assert_success(vkWaitForFences(w.device, 1, &fence, VK_TRUE, UINT64_MAX));
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(w.words[i], 10 + i);
    assert_int_equal(w.words[5], 24);
    for (uint32_t i = 0; i < 5; i++)
        assert_success(vkQueueWaitIdle(queues[i]));
    assert_submitted1(queues[1], .signal = b);
    assert_submitted1(queues[2], .wait = b);
    hand_over(&w, 0, 1);
    hand_over(&w, 1, 0);
    assert_success(vkDeviceWaitIdle(w.device));
    vulkan_destroy(w.device, t, b, fence);
    *submits = 5 + 2 + 4;
    world_close(&w);
}

/* Who stands above sees the program's queues, who stands below the driver's. */
TEST(test_bystanders)
{
    static const char *const lists[] = {ABOVE ":" BELFRY ":" BELOW, BELFRY ":" BELOW,
                                        ABOVE ":" BELFRY};
    for (size_t i = 0; i < 3; i++) {
        /* One more instance keeps the libraries, and so what they have seen. */
        struct device keeper;
        world_layers = lists[i];
        assert_success(world_instance(&keeper, NULL));
        void *above_library, *below_library;
        struct bystander *above = find_bystander("above", &above_library);
        struct bystander *below = find_bystander("below", &below_library);
        assert_int_equal(above != NULL, i != 1);
        assert_int_equal(below != NULL, i != 2);
        if (above)
            *above = (struct bystander){0};
        if (below)
            *below = (struct bystander){0};
        uint32_t submits;
        run_program(lists[i], &submits);
        if (above) {
            assert_int_equal(above->instances, 1);
            assert_int_equal(above->devices, 1);
            assert_int_equal(above->queue_count, 5);
            assert_int_equal(above->bad_queues, 0);
            assert_int_equal(above->unset_queues, 0);
            assert_int_equal(above->submits, submits);
            for (uint32_t a = 0; a < 5; a++)
                for (uint32_t b = 0; b < a; b++)
                    assert_ptr_not_equal(above->queues[a], above->queues[b]);
        }
        if (below) {
            assert_int_equal(below->instances, 1);
            assert_int_equal(below->devices, 1);
            assert_int_equal(below->queue_count, 1);
            assert_int_equal(below->bad_queues, 0);
            assert_in_range(below->submits, 1, submits);
        }
        world_close(&keeper);
        if (above_library)
            dlclose(above_library);
        if (below_library)
            dlclose(below_library);
    }
}

/* A feature that is off makes the layer copy the program's chain: who stands below still finds the
 * next in line, not itself. */
TEST(test_copied_chain)
{
    world_layers = ABOVE ":" BELFRY ":" BELOW;
    struct device w;
    assert_success(world_instance(&w, NULL));
    void *library;
    struct bystander *below = find_bystander("below", &library);
    assert_non_null(below);
    *below = (struct bystander){0};
    const VkPhysicalDeviceVulkan12Features off = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)};
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = 1,
                                           .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .pNext = &off,
                                     .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue};
    assert_success(vkCreateDevice(w.physical, &info, NULL, &w.device));
    assert_int_equal(below->devices, 1);
    assert_int_equal(below->bad_queues, 0);
    vkDestroyDevice(w.device, NULL);
    w.device = VK_NULL_HANDLE;
    dlclose(library);
    world_close(&w);
}

static void silent(const char *layers)
{
    uint32_t submits;
    setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", 1);
    run_program(layers, &submits); /* world_close fails if anything was said */
    unsetenv("VK_LAYER_ENABLES");
}

TEST(test_validation_above)
{
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    silent(VALIDATION ":" BELFRY);
}

TEST(test_validation_below)
{
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    silent(BELFRY ":" VALIDATION);
}

/* A device of Vulkan 1.0 under a program of 1.3: what Belfry asks of it, and enables, is valid. */
TEST(test_validation_of_old_devices)
{
    static const char *const lists[] = {VALIDATION ":" BELFRY, BELFRY ":" VALIDATION};
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    for (size_t i = 0; i < 2; i++) {
        world_layers = lists[i];
        struct device w;
        assert_success(world_instance(&w, "API=1.0"));
        VkPhysicalDeviceProperties properties;
        vkGetPhysicalDeviceProperties(w.physical, &properties);
        if (w.icd.library)
            assert_int_equal(VK_API_VERSION_MINOR(properties.apiVersion), 0);
        static const float priority = 1.0f;
        VkDeviceQueueCreateInfo queues[3];
        for (uint32_t f = 0; f < 3; f++)
            queues[f] =
                (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueFamilyIndex = f,
                                          .queueCount = 1, .pQueuePriorities = &priority};
        const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 3,
                                         .pQueueCreateInfos = queues};
        assert_success(vkCreateDevice(w.physical, &info, NULL, &w.device));
        for (uint32_t f = 0; f < 3; f++)
            vkGetDeviceQueue(w.device, f, 0, &w.queues[f][0]);
        VkSemaphore b = vulkan_binary(w.device);
        /* A program of its own time: no timeline, no newer submission. */
        const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
        const VkSubmitInfo signal = {VK_TYPE(SUBMIT_INFO), .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &b};
        const VkSubmitInfo wait = {VK_TYPE(SUBMIT_INFO), .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &b, .pWaitDstStageMask = &stage};
        assert_success(vkQueueSubmit(w.queues[1][0], 1, &signal, VK_NULL_HANDLE));
        assert_success(vkQueueSubmit(w.queues[2][0], 1, &wait, VK_NULL_HANDLE));
        assert_success(vkDeviceWaitIdle(w.device));
        vkDestroySemaphore(w.device, b, NULL);
        world_close(&w);
    }
}

/* Validation speaks when there is something to say: or the tests above prove nothing. */
static void validation_speaks(const char *layers)
{
    world_layers = layers;
    setenv("VK_LAYER_ENABLES", "VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT", 1);
    struct device w;
    world_open(&w, NULL, families);
    VkCommandBuffer commands = device_begin(&w, 1, 0);
    put(commands, &w, 0, 1); /* written twice with no barrier between */
    put(commands, &w, 0, 2);
    assert_success(vkEndCommandBuffer(commands));
    assert_true(w.messages > 0);
    w.messages = 0;
    world_close(&w);
    unsetenv("VK_LAYER_ENABLES");
}

TEST(test_validation_speaks)
{
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    validation_speaks(VALIDATION ":" BELFRY);
    validation_speaks(BELFRY ":" VALIDATION);
}

TEST(test_everything_at_once)
{
    uint32_t submits;
    TEST_NEEDS(world_has_layer(VALIDATION), VALIDATION);
    silent(ABOVE ":" VALIDATION ":" BELFRY ":" BELOW);
    silent(ABOVE ":" BELFRY ":" VALIDATION ":" BELOW);
    TEST_NEEDS(world_has_layer(OVERLAY), OVERLAY);
    run_program(OVERLAY ":" BELFRY, &submits);
    run_program(BELFRY ":" OVERLAY, &submits);
}

int main(void)
{
    unsetenv("VK_INSTANCE_LAYERS"); /* instances name their layers here */
    return test_run(NULL);
}
