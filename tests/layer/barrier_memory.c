/* SPDX-License-Identifier: MIT */
/* Barriers for which there is no memory (guarantee B-2, layer/barrier.c): vkEndCommandBuffer tells,
 * of the command buffer that lacks them and of no other; and resources of which nothing can be
 * remembered (B-3) aren't made. The test's own malloc stands in for the
 * process's. */
#include "fake.h"
#include "support/queue_flags.h"

#include "support/no_memory.h"

static _Thread_local bool none, was_none; /* others go on meanwhile */

static bool has_none(void)
{
    was_none |= none;
    return none;
}

/* More than have room on the stack. Between a family and the one that is shown on top of it. */
#define MANY 40

static uint32_t seen; /* image barriers that arrived */

static void VKAPI_CALL drv_barrier(VkCommandBuffer buffer, VkPipelineStageFlags src,
                                   VkPipelineStageFlags dst, VkDependencyFlags flags,
                                   uint32_t memory_count, const VkMemoryBarrier *memory,
                                   uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                   uint32_t image_count, const VkImageMemoryBarrier *images)
{
    seen += image_count;
}

static void VKAPI_CALL drv_wait_events(VkCommandBuffer buffer, uint32_t event_count,
                                       const VkEvent *events, VkPipelineStageFlags src,
                                       VkPipelineStageFlags dst, uint32_t memory_count,
                                       const VkMemoryBarrier *memory, uint32_t buffer_count,
                                       const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                       const VkImageMemoryBarrier *images)
{
    seen += image_count;
}

static void VKAPI_CALL drv_barrier2(VkCommandBuffer buffer, const VkDependencyInfo *info)
{
    seen += info->imageMemoryBarrierCount;
}

static void VKAPI_CALL drv_set_event2(VkCommandBuffer buffer, VkEvent event,
                                      const VkDependencyInfo *info)
{
    seen += info->imageMemoryBarrierCount;
}

static void VKAPI_CALL drv_wait_events2(VkCommandBuffer buffer, uint32_t count,
                                        const VkEvent *events, const VkDependencyInfo *infos)
{
    seen += infos->imageMemoryBarrierCount;
}

static VkResult end_result; /* the driver's own */
static uint32_t ended;

static VkResult VKAPI_CALL drv_end(VkCommandBuffer buffer)
{
    ended++;
    return end_result;
}

static void open_driver(void)
{
    fake_start(NULL);
    FAKE_OVERRIDE(vkCmdPipelineBarrier, drv_barrier);
    FAKE_OVERRIDE(vkCmdWaitEvents, drv_wait_events);
    FAKE_OVERRIDE(vkCmdPipelineBarrier2, drv_barrier2);
    FAKE_OVERRIDE(vkCmdSetEvent2, drv_set_event2);
    FAKE_OVERRIDE(vkCmdWaitEvents2, drv_wait_events2);
    FAKE_OVERRIDE(vkEndCommandBuffer, drv_end);
    fake_use(
        "vkCreateCommandPool vkDestroyCommandPool vkAllocateCommandBuffers vkFreeCommandBuffers");
    end_result = VK_SUCCESS;
    fake_open_device((const uint32_t[]){1, 1, 0});
}

enum command {
    BARRIER,
    WAIT_EVENTS,
    BARRIER2,
    SET_EVENT2,
    WAIT_EVENTS2,
    COMMANDS,
};

static void record(VkCommandBuffer commands, enum command command)
{
    static VkImageMemoryBarrier images[MANY];
    static VkImageMemoryBarrier2 images2[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        images[i] = (VkImageMemoryBarrier){VK_TYPE(IMAGE_MEMORY_BARRIER), .dstQueueFamilyIndex = 1};
        images2[i] =
            (VkImageMemoryBarrier2){VK_TYPE(IMAGE_MEMORY_BARRIER_2), .dstQueueFamilyIndex = 1};
    }
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .imageMemoryBarrierCount = MANY,
                                   .pImageMemoryBarriers = images2};
    const VkEvent event = (VkEvent)(uintptr_t)5;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    seen = 0;
    switch (command) {
    case BARRIER:
        FAKE_CALL(vkCmdPipelineBarrier, commands, all, all, 0, 0, NULL, 0, NULL, MANY, images);
        break;
    case WAIT_EVENTS:
        FAKE_CALL(vkCmdWaitEvents, commands, 1, &event, all, all, 0, NULL, 0, NULL, MANY, images);
        break;
    case BARRIER2:
        FAKE_CALL(vkCmdPipelineBarrier2, commands, &info);
        break;
    case SET_EVENT2:
        FAKE_CALL(vkCmdSetEvent2, commands, event, &info);
        break;
    case WAIT_EVENTS2:
        FAKE_CALL(vkCmdWaitEvents2, commands, 1, &event, &info);
        break;
    case COMMANDS:
        break;
    }
}

static void begin(VkCommandBuffer commands)
{
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    assert_success(FAKE_CALL(vkBeginCommandBuffer, commands, &info));
}

TEST(test_barriers_without_memory)
{
    open_driver();
    const VkCommandPoolCreateInfo pool_info = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    VkCommandPool pool;
    assert_success(FAKE_CALL(vkCreateCommandPool, fake.device, &pool_info, NULL, &pool));
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = pool, .commandBufferCount = 2};
    VkCommandBuffer buffers[2];
    assert_success(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &info, buffers));
    for (enum command command = 0; command < COMMANDS; command++) {
        for (uint32_t i = 0; i < 2; i++)
            begin(buffers[i]);
        was_none = false;
        none = true;
        record(buffers[0], command);
        none = false;
        assert_true(was_none);
        assert_int_equal(seen, 0);
        record(buffers[1], command);
        assert_int_equal(seen, MANY);
        /* What comes behind doesn't make it whole. */
        record(buffers[0], BARRIER);
        ended = 0;
        assert_success(FAKE_CALL(vkEndCommandBuffer, buffers[1]));
        assert_int_equal(FAKE_CALL(vkEndCommandBuffer, buffers[0]), VK_ERROR_OUT_OF_HOST_MEMORY);
        assert_int_equal(ended, 2);
        /* Recorded once more, it is. */
        begin(buffers[0]);
        record(buffers[0], command);
        assert_success(FAKE_CALL(vkEndCommandBuffer, buffers[0]));
        end_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        assert_int_equal(FAKE_CALL(vkEndCommandBuffer, buffers[1]), end_result);
        end_result = VK_SUCCESS;
    }
    /* Nor has another one with its handle to do with it. */
    begin(buffers[0]);
    none = true;
    record(buffers[0], BARRIER);
    none = false;
    FAKE_CALL(vkFreeCommandBuffers, fake.device, pool, 1, &buffers[0]);
    VkCommandBuffer again[1];
    const VkCommandBufferAllocateInfo one = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                             .commandPool = pool, .commandBufferCount = 1};
    assert_success(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &one, again));
    assert_ptr_equal(again[0], buffers[0]);
    begin(again[0]);
    assert_success(FAKE_CALL(vkEndCommandBuffer, again[0]));
    fake_close();
}

static uint32_t alive;

static VkResult VKAPI_CALL drv_create_image(VkDevice device, const VkImageCreateInfo *info,
                                            const VkAllocationCallbacks *allocator, VkImage *image)
{
    *image = (VkImage)(uintptr_t)(0x1000 + alive++);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                             const VkAllocationCallbacks *allocator,
                                             VkBuffer *buffer)
{
    *buffer = (VkBuffer)(uintptr_t)(0x2000 + alive++);
    return VK_SUCCESS;
}

static void VKAPI_CALL drv_destroy_image(VkDevice device, VkImage image,
                                         const VkAllocationCallbacks *allocator)
{
    alive--;
}

static void VKAPI_CALL drv_destroy_buffer(VkDevice device, VkBuffer buffer,
                                          const VkAllocationCallbacks *allocator)
{
    alive--;
}

TEST(test_resources_without_memory)
{
    fake_start(NULL);
    FAKE_OVERRIDE(vkCreateImage, drv_create_image);
    FAKE_OVERRIDE(vkCreateBuffer, drv_create_buffer);
    FAKE_OVERRIDE(vkDestroyImage, drv_destroy_image);
    FAKE_OVERRIDE(vkDestroyBuffer, drv_destroy_buffer);
    fake_open_device((const uint32_t[]){1, 1, 0});
    static const uint32_t families[] = {0, 1};
    const VkImageCreateInfo image_info = {
        VK_TYPE(IMAGE_CREATE_INFO), .sharingMode = VK_SHARING_MODE_CONCURRENT,
        .queueFamilyIndexCount = 2, .pQueueFamilyIndices = families};
    const VkBufferCreateInfo buffer_info = {
        VK_TYPE(BUFFER_CREATE_INFO), .sharingMode = VK_SHARING_MODE_CONCURRENT,
        .queueFamilyIndexCount = 2, .pQueueFamilyIndices = families};
    VkImage image = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    none = true;
    VkResult images = FAKE_CALL(vkCreateImage, fake.device, &image_info, NULL, &image);
    VkResult buffers = FAKE_CALL(vkCreateBuffer, fake.device, &buffer_info, NULL, &buffer);
    none = false;
    assert_int_equal(images, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(buffers, VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_null(image);
    assert_null(buffer);
    assert_int_equal(alive, 0);
    assert_success(FAKE_CALL(vkCreateImage, fake.device, &image_info, NULL, &image));
    assert_success(FAKE_CALL(vkCreateBuffer, fake.device, &buffer_info, NULL, &buffer));
    FAKE_CALL(vkDestroyImage, fake.device, image, NULL);
    FAKE_CALL(vkDestroyBuffer, fake.device, buffer, NULL);
    assert_int_equal(alive, 0);
    fake_close();
}
