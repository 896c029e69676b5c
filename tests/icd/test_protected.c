/* SPDX-License-Identifier: MIT */
/* Protected queues, batches and memory, and what the driver says of batches that mix them up. */
#include "support/world.h"

/* A device with one protected queue of family 0 and one that isn't, and a pool for each. */
struct rig {
    struct device f;
    VkQueue plain, guarded;
    VkCommandPool plain_pool, guarded_pool;
};

static VkCommandPool make_pool(struct device *f, VkCommandPoolCreateFlags flags)
{
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO), .flags = flags};
    VkCommandPool pool;
    assert_success(vkCreateCommandPool(f->device, &info, NULL, &pool));
    return pool;
}

static VkResult open_device(struct device *f, VkDeviceQueueCreateFlags flags)
{
    static const float priority = 1;
    VkDeviceQueueCreateInfo queues[2] = {
        {VK_TYPE(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1, .pQueuePriorities = &priority},
    };
    queues[1] = queues[0];
    queues[1].flags = flags;
    VkPhysicalDeviceVulkan13Features v13 = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_3_FEATURES),
                                            .synchronization2 = VK_TRUE};
    const VkPhysicalDeviceProtectedMemoryFeatures protection = {
        VK_TYPE(PHYSICAL_DEVICE_PROTECTED_MEMORY_FEATURES), .pNext = &v13,
        .protectedMemory = VK_TRUE};
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .pNext = &protection,
                                     .queueCreateInfoCount = 2, .pQueueCreateInfos = queues};
    return vkCreateDevice(f->physical, &info, NULL, &f->device);
}

static void rig_open(struct rig *r)
{
    memset(r, 0, sizeof(*r));
    assert_success(world_instance(&r->f, "SHAPE=q2 PROTECTED=1"));
    assert_success(open_device(&r->f, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT));
    volkLoadDevice(r->f.device);
    const VkDeviceQueueInfo2 info = {VK_TYPE(DEVICE_QUEUE_INFO_2),
                                     .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT};
    vkGetDeviceQueue(r->f.device, 0, 0, &r->plain);
    vkGetDeviceQueue2(r->f.device, &info, &r->guarded);
    assert_non_null(r->plain);
    assert_non_null(r->guarded);
    assert_ptr_not_equal(r->plain, r->guarded);
    r->plain_pool = make_pool(&r->f, 0);
    r->guarded_pool = make_pool(&r->f, VK_COMMAND_POOL_CREATE_PROTECTED_BIT);
}

static void rig_close(struct rig *r)
{
    vulkan_destroy(r->f.device, r->plain_pool, r->guarded_pool);
    vulkan_expect(&r->f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
    vkDestroyDevice(r->f.device, NULL);
    device_close_instance(&r->f);
}

/* A batch with an empty command buffer of the pool, in the words of either version. */
static void submit(struct rig *r, VkQueue queue, VkCommandPool pool, bool guarded, bool older)
{
    const VkCommandBufferAllocateInfo allocate = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                                  .commandPool = pool, .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(r->f.device, &allocate, &commands));
    assert_success(vkBeginCommandBuffer(commands, &begin));
    assert_success(vkEndCommandBuffer(commands));
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info2 = {VK_TYPE(SUBMIT_INFO_2),
                                 .flags = guarded ? VK_SUBMIT_PROTECTED_BIT : 0,
                                 .commandBufferInfoCount = 1, .pCommandBufferInfos = &buffer};
    const VkProtectedSubmitInfo protection = {VK_TYPE(PROTECTED_SUBMIT_INFO),
                                              .protectedSubmit = guarded};
    const VkSubmitInfo info = {VK_TYPE(SUBMIT_INFO), .pNext = &protection, .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    assert_success(older ? vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE)
                         : vkQueueSubmit2(queue, 1, &info2, VK_NULL_HANDLE));
    assert_success(vkQueueWaitIdle(queue));
}

TEST_AROUND(test_batches, struct rig, r, rig_open, rig_close)
{
    for (int older = 0; older < 2; older++) {
        submit(r, r->plain, r->plain_pool, false, older);
        submit(r, r->guarded, r->plain_pool, false, older);
        submit(r, r->guarded, r->guarded_pool, true, older);
        vulkan_expect(&r->f.icd, BELFRY_ICD_VIOLATION_COUNT, 0);
        submit(r, r->guarded, r->plain_pool, true, older);
        vulkan_expect(&r->f.icd, BELFRY_ICD_PROTECTION, 1);
        submit(r, r->guarded, r->guarded_pool, false, older);
        vulkan_expect(&r->f.icd, BELFRY_ICD_PROTECTION, 1);
        submit(r, r->plain, r->guarded_pool, true, older);
        vulkan_expect(&r->f.icd, BELFRY_ICD_PROTECTION, 1);
    }
}

TEST_AROUND(test_memory, struct rig, r, rig_open, rig_close)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(r->f.physical, &memory);
    uint32_t last = memory.memoryTypeCount - 1;
    for (uint32_t i = 0; i <= last; i++)
        assert_int_equal((memory.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_PROTECTED_BIT) !=
                             0,
                         i == last);
    for (int guarded = 0; guarded < 2; guarded++) {
        const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO),
                                         .flags = guarded ? VK_BUFFER_CREATE_PROTECTED_BIT : 0,
                                         .size = 64, .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
        VkBuffer buffer;
        VkMemoryRequirements requirements;
        assert_success(vkCreateBuffer(r->f.device, &info, NULL, &buffer));
        vkGetBufferMemoryRequirements(r->f.device, buffer, &requirements);
        assert_int_equal(requirements.memoryTypeBits, guarded ? 1u << last : (1u << last) - 1);
        vkDestroyBuffer(r->f.device, buffer, NULL);
    }
}

TEST(test_refused)
{
    struct device f;
    memset(&f, 0, sizeof(f));
    assert_success(world_instance(&f, "SHAPE=q2 PROTECTED=0"));
    assert_int_equal(open_device(&f, 0), VK_ERROR_FEATURE_NOT_PRESENT);
    device_close_instance(&f);
    /* One queue for two. */
    assert_success(world_instance(&f, "SHAPE=q1 PROTECTED=1"));
    assert_int_equal(open_device(&f, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT),
                     VK_ERROR_INITIALIZATION_FAILED);
    device_close_instance(&f);
}
