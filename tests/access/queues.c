/* SPDX-License-Identifier: MIT */
/* D3D12's queues and fences under the layer with check=access: what the C API tells the check. In
 * each test a copy queue fills a buffer that a 3D queue then reads; the lines on stderr are
 * counted.
 */
#include "support/world.h"

#include <poll.h>

#include "support/lines.h"
#include "belfry/belfry.h"

static struct device w;
static BfDevice device;
static BfCommandQueue copy, direct;
static BfFence fence, fence2;
static VkCommandBuffer writes, reads;
static VkBuffer target; /* of what is read; in the other half of the memory */

static BfCommandQueue make_queue(BfCommandListType type)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .type = type};
    BfCommandQueue queue;
    assert_success(bfCreateCommandQueue(device, &info, &queue));
    return queue;
}

static BfFence make_fence(uint64_t value)
{
    const BfFenceCreateInfo info = {BF_TYPE(FENCE_CREATE_INFO), .initialValue = value};
    BfFence made;
    assert_success(bfCreateFence(device, &info, &made));
    return made;
}

static VkCommandBuffer record(BfCommandQueue queue, bool write)
{
    VkCommandBuffer buffer = device_begin(&w, bfGetCommandQueueFamilyIndex(queue), 0);
    const VkBufferCopy region = {0, 0, 64};
    if (write)
        vkCmdFillBuffer(buffer, w.buffer, 0, 256, 7);
    else
        vkCmdCopyBuffer(buffer, w.buffer, target, 1, &region);
    assert_success(vkEndCommandBuffer(buffer));
    return buffer;
}

static int open_world(void **state)
{
    static const uint32_t counts[] = {1, 1, 1, WORLD_END};
    lines_begin(); /* what the check can't see */
    world_open(&w, "SHAPE=lavapipe", counts);
    lines_end(NULL, 0);
    assert_success(bfGetDevice(w.device, &device));
    copy = make_queue(BF_COMMAND_LIST_TYPE_COPY);
    direct = make_queue(BF_COMMAND_LIST_TYPE_DIRECT);
    fence = make_fence(0);
    fence2 = make_fence(0);
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = 1024,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkMemoryRequirements requirements;
    assert_success(vkCreateBuffer(w.device, &info, NULL, &target));
    vkGetBufferMemoryRequirements(w.device, target, &requirements);
    assert_success(vkBindBufferMemory(w.device, target, w.memory, 2048));
    writes = record(copy, true);
    reads = record(direct, false);
    return 0;
}

static int close_world(void **state)
{
    bfDestroyFence(fence);
    bfDestroyFence(fence2);
    assert_success(bfQueueWaitIdle(copy));
    assert_success(bfQueueWaitIdle(direct));
    bfDestroyCommandQueue(copy);
    bfDestroyCommandQueue(direct);
    vkDestroyBuffer(w.device, target, NULL);
    world_close(&w);
    return 0;
}

static void produce(void)
{
    assert_success(bfQueueExecute(copy, 1, &writes));
}

static void consume(void)
{
    assert_success(bfQueueExecute(direct, 1, &reads));
}

static char line[1024];

/* So many lines since lines_begin. */
static void expect(uint32_t count)
{
    uint32_t found = lines_end(line, sizeof(line));
    if (found != count)
        fail_msg("%u lines, the last: %s", found, line);
}

TEST_WITH(test_without_a_fence, open_world, close_world)
{
    lines_begin();
    produce();
    consume();
    expect(1);
    assert_non_null(strstr(line, "queue '3D command queue 1' reads bytes 0 to 63 in packet 1 "
                                 "(vkCmdCopyBuffer) while queue 'copy command queue 0' may write "
                                 "bytes 0 to 255 in packet 1 (vkCmdFillBuffer)"));
}

TEST_WITH(test_names_of_queues, open_world, close_world)
{
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, copy, "uploads"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, direct, "mistaken"));
    assert_success(bfSetObjectName(BF_OBJECT_TYPE_COMMAND_QUEUE, direct, NULL));
    lines_begin();
    produce();
    consume();
    expect(1);
    assert_non_null(strstr(line, "queue '3D command queue 1' reads"));
    assert_non_null(strstr(line, "queue 'uploads' may write"));
}

TEST_WITH(test_with_a_fence, open_world, close_world)
{
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfQueueWait(direct, fence, 1));
    consume();
    expect(0);
}

TEST_WITH(test_with_a_wait_before_its_signal, open_world, close_world)
{
    lines_begin();
    assert_success(bfQueueWait(direct, fence, 1));
    consume();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfQueueWaitIdle(direct));
    expect(0);
}

TEST_WITH(test_with_a_fence_that_the_cpu_waits_for, open_world, close_world)
{
    const uint64_t one = 1;
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, one));
    assert_success(bfWaitFences(1, &fence, &one, BF_FENCE_WAIT_ALL, UINT64_MAX));
    consume();
    expect(0);
}

TEST_WITH(test_with_one_of_two_fences, open_world, close_world)
{
    const BfFence both[] = {fence, fence2};
    const uint64_t ones[] = {1, 1};
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfWaitFences(2, both, ones, BF_FENCE_WAIT_ANY_BIT, UINT64_MAX));
    consume();
    expect(1); /* it could have been the other one */
}

TEST_WITH(test_with_a_value_that_the_cpu_reads, open_world, close_world)
{
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    while (bfGetFenceCompletedValue(fence) < 1)
        ;
    consume();
    expect(0);
}

TEST_WITH(test_with_a_signal_of_the_cpu, open_world, close_world)
{
    const uint64_t one = 1;
    lines_begin();
    assert_success(bfQueueWait(direct, fence2, 1));
    consume();
    produce();
    assert_success(bfQueueSignal(copy, fence, one));
    assert_success(bfWaitFences(1, &fence, &one, BF_FENCE_WAIT_ALL, UINT64_MAX));
    assert_success(bfSignalFence(fence2, 1));
    assert_success(bfQueueWaitIdle(direct));
    expect(0);
}

TEST_WITH(test_with_an_event, open_world, close_world)
{
    BfEvent event;
    assert_success(bfCreateEvent(0, &event));
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfSetEventOnFenceCompletion(fence, 1, event));
    assert_success(bfWaitForEvents(1, &event, VK_FALSE, UINT64_MAX, NULL));
    consume();
    expect(0);
    bfDestroyEvent(event);
}

TEST_WITH(test_with_an_event_of_all_fences, open_world, close_world)
{
    const BfFence both[] = {fence2, fence};
    const uint64_t ones[] = {1, 1};
    BfEvent events[2];
    assert_success(bfCreateEvent(BF_EVENT_INITIALLY_SET_BIT, &events[0]));
    assert_success(bfCreateEvent(0, &events[1]));
    lines_begin();
    produce();
    assert_success(
        bfSetEventOnMultipleFenceCompletion(2, both, ones, BF_FENCE_WAIT_ALL, events[1]));
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfSignalFence(fence2, 1));
    assert_success(bfWaitForEvents(2, events, VK_TRUE, UINT64_MAX, NULL));
    consume();
    expect(0);
    bfDestroyEvent(events[0]);
    bfDestroyEvent(events[1]);
}

/* Set, but nobody has looked. */
TEST_WITH(test_with_an_event_that_nobody_waits_for, open_world, close_world)
{
    BfEvent event, other;
    assert_success(bfCreateEvent(0, &event));
    assert_success(bfCreateEvent(BF_EVENT_INITIALLY_SET_BIT, &other));
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfSetEventOnFenceCompletion(fence, 1, event));
    assert_success(bfWaitForEvents(1, &other, VK_FALSE, UINT64_MAX, NULL));
    consume();
    expect(1);
    bfDestroyEvent(event);
    bfDestroyEvent(other);
}

TEST_WITH(test_with_a_descriptor_that_is_polled, open_world, close_world)
{
    BfEvent event;
    assert_success(bfCreateEvent(0, &event));
    struct pollfd polled = {.fd = bfGetEventFd(event), .events = POLLIN};
    lines_begin();
    produce();
    assert_success(bfSetEventOnFenceCompletion(fence, 1, event));
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_int_equal(poll(&polled, 1, -1), 1);
    consume();
    expect(0);
    bfDestroyEvent(event);
}

TEST_WITH(test_with_an_idle_queue, open_world, close_world)
{
    lines_begin();
    produce();
    assert_success(bfQueueWaitIdle(copy));
    consume();
    expect(0);
}

TEST_WITH(test_with_imported_and_exported_fences, open_world, close_world)
{
    VkSemaphore in = vulkan_timeline(w.device, 0), out = vulkan_timeline(w.device, 0);
    BfFence imported;
    assert_success(bfImportFenceFromSemaphore(device, in, &imported));
    assert_success(bfExportFenceToSemaphore(fence, out));
    lines_begin();
    produce();
    assert_success(bfQueueSignal(copy, fence, 3));
    /* From the fence to a VkQueue and back by a semaphore. */
    assert_submitted(w.queues[0][0], .wait = out, .wait_value = 3, .signal = in, .signal_value = 5);
    assert_success(bfQueueWait(direct, imported, 5));
    consume();
    expect(0);
    assert_success(bfQueueWaitIdle(direct));
    bfDestroyFence(imported);
    bfDestroyFence(fence);
    fence = make_fence(0);
    vulkan_destroy(w.device, in, out);
}

/* A VkQueue beside a command queue. */
TEST_WITH(test_beside_a_vkqueue, open_world, close_world)
{
    VkCommandBuffer buffer = device_begin(&w, 0, 0);
    vkCmdFillBuffer(buffer, w.buffer, 0, 64, 3);
    assert_success(vkEndCommandBuffer(buffer));
    lines_begin();
    assert_submitted(w.queues[0][0], .commands = buffer);
    consume();
    expect(1);
    assert_non_null(strstr(line, "queue '3D queue 0:0' may write bytes 0 to 63 in packet 1"));
    assert_success(vkDeviceWaitIdle(w.device));
}

static void use(BfCommandQueue queue, bool write)
{
    const BfResourceUse what = {.buffer = w.buffer, .offset = 1024, .size = 16, .write = write};
    assert_success(bfQueueUses(queue, 1, &what));
}

TEST_WITH(test_uses_that_are_told, open_world, close_world)
{
    lines_begin();
    use(copy, true);
    produce();
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfQueueWait(direct, fence, 1));
    use(direct, false);
    consume();
    use(copy, true); /* beside the read, of the next execution alone */
    assert_success(bfQueueSignal(copy, fence, 2));
    expect(0);
    lines_begin();
    VkCommandBuffer empty = device_begin(&w, bfGetCommandQueueFamilyIndex(copy), 0);
    assert_success(vkEndCommandBuffer(empty));
    assert_success(bfQueueExecute(copy, 1, &empty));
    expect(1);
    assert_non_null(strstr(line, "writes bytes 1024 to 1039 in packet 4 (bfQueueUses) while queue "
                                 "'3D command queue 1' may read bytes 1024 to 1039 in packet 2"));
}

/* An image that the copy queue fills and, with 'released', hands to the 3D queue's family, which
 * takes it over; that it is sampled there is told, as what the whole execution does. */
static VkCommandBuffer upload(VkImage image, bool released)
{
    const uint32_t from = bfGetCommandQueueFamilyIndex(copy),
                   to = bfGetCommandQueueFamilyIndex(direct);
    VkImageMemoryBarrier2 change = {VK_TYPE(IMAGE_MEMORY_BARRIER_2),
                                    .dstStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                    .dstAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                    .newLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &change};
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {4, 4, 1}};
    VkCommandBuffer commands = device_begin(&w, from, 0);
    vkCmdPipelineBarrier2(commands, &info);
    vkCmdCopyBufferToImage(commands, w.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1,
                           &region);
    change.srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT;
    change.srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT;
    change.dstStageMask = VK_PIPELINE_STAGE_2_NONE;
    change.dstAccessMask = 0;
    change.oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
    change.newLayout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    change.srcQueueFamilyIndex = from;
    change.dstQueueFamilyIndex = to;
    if (released)
        vkCmdPipelineBarrier2(commands, &info);
    assert_success(vkEndCommandBuffer(commands));
    assert_success(bfQueueExecute(copy, 1, &commands));
    assert_success(bfQueueSignal(copy, fence, 1));
    assert_success(bfQueueWait(direct, fence, 1));
    change.srcStageMask = VK_PIPELINE_STAGE_2_NONE;
    change.srcAccessMask = 0;
    commands = device_begin(&w, to, 0);
    if (released)
        vkCmdPipelineBarrier2(commands, &info);
    assert_success(vkEndCommandBuffer(commands));
    return commands;
}

/* The release leaves the image in COMMON, so the next use may be one of another class's. */
TEST_WITH(test_images_that_change_families, open_world, close_world)
{
    const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = VK_FORMAT_R8G8B8A8_UNORM,
                                    .extent = {4, 4, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                             VK_IMAGE_USAGE_SAMPLED_BIT};
    assert_int_not_equal(bfGetCommandQueueFamilyIndex(copy), bfGetCommandQueueFamilyIndex(direct));
    for (uint32_t released = 0; released < 2; released++) {
        VkImage image;
        VkMemoryRequirements requirements;
        assert_success(vkCreateImage(w.device, &info, NULL, &image));
        vkGetImageMemoryRequirements(w.device, image, &requirements);
        const VkMemoryAllocateInfo allocate = {
            VK_TYPE(MEMORY_ALLOCATE_INFO), .allocationSize = requirements.size,
            .memoryTypeIndex = (uint32_t)__builtin_ctz(requirements.memoryTypeBits)};
        VkDeviceMemory memory;
        assert_success(vkAllocateMemory(w.device, &allocate, NULL, &memory));
        assert_success(vkBindImageMemory(w.device, image, memory, 0));
        const BfResourceUse sampled = {.image = image, .state = BF_RESOURCE_STATE_OTHER};
        lines_begin();
        VkCommandBuffer commands = upload(image, released);
        assert_success(bfQueueUses(direct, 1, &sampled));
        assert_success(bfQueueExecute(direct, 1, &commands));
        expect(!released);
        assert_true(released || strstr(line, "did not go through COMMON in between"));
        assert_success(bfQueueWaitIdle(direct));
        assert_success(bfSignalFence(fence, 0));
        vulkan_destroy(w.device, image, memory);
    }
}

TEST_WITH(test_bad_uses, open_world, close_world)
{
    const BfResourceUse good = {.buffer = w.buffer, .size = VK_WHOLE_SIZE}, none = {.size = 16},
                        both = {.buffer = w.buffer, .image = (VkImage)(uintptr_t)16, .size = 16},
                        empty = {.buffer = w.buffer},
                        state_of_none = {.buffer = w.buffer,
                                         .size = 16,
                                         .state = (BfResourceState)7},
                        behind = {.buffer = target, .offset = 1024, .size = VK_WHOLE_SIZE},
                        beyond = {.buffer = target, .offset = 1000, .size = 25},
                        last = {.buffer = target, .offset = 1000, .size = 24};
    const BfResourceUse *const bad[] = {&none, &both, &empty, &state_of_none, &behind, &beyond};
    static const char *const texts[] = {
        "belfry: bfQueueUses: pUses[1]: none of buffer and image is set\n",
        "belfry: bfQueueUses: pUses[1]: each of buffer and image is set\n",
        "belfry: bfQueueUses: pUses[1].size is 0\n",
        "belfry: bfQueueUses: pUses[1].state is none: 7\n",
        "belfry: bfQueueUses: pUses[1]: offset 1024, size 18446744073709551615, of a buffer of "
        "1024 "
        "bytes\n",
        "belfry: bfQueueUses: pUses[1]: offset 1000, size 25, of a buffer of 1024 bytes\n",
    };
    for (size_t i = 0; i < 6; i++) {
        const BfResourceUse uses[] = {good, *bad[i]};
        lines_begin();
        assert_int_equal(bfQueueUses(copy, 2, uses), VK_ERROR_VALIDATION_FAILED_EXT);
        expect(1);
        assert_string_equal(line, texts[i]);
    }
    lines_begin();
    assert_int_equal(bfQueueUses(copy, 1, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(bfQueueUses((BfCommandQueue)fence, 1, &good), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_int_equal(bfQueueUses(NULL, 0, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    expect(3);
    assert_success(bfQueueUses(copy, 0, NULL));
    assert_success(bfQueueUses(copy, 1, &last));
}
