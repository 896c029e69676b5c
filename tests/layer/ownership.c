/* SPDX-License-Identifier: MIT */
/* Barriers and the ownership of queue families (guarantees B-1 and B-3, layer/barrier.c): a
 * transfer between two families that are one below is none; the layout change that both halves name
 * happens once; who is outside gets resources from the family that the driver knows. */
#include "fake.h"
#include "support/queue_flags.h"

#define NONE     VK_QUEUE_FAMILY_IGNORED
#define EXTERNAL VK_QUEUE_FAMILY_EXTERNAL
#define FOREIGN  VK_QUEUE_FAMILY_FOREIGN_EXT

/* Real: 0 everything, 1 video. Shown besides: 2 compute and 3 copy, both on 0. */
static const struct fake_driver driver = {
    .family_count = 2,
    .families = {{G | C | T, 2, 64, {1, 1, 1}}, {VK_QUEUE_VIDEO_DECODE_BIT_KHR, 1, 0, {1, 1, 1}}},
};

/* What arrived, whatever the command, in the newer form. */
#define MAX_BARRIERS 64
static struct {
    uint32_t calls, memory_count, buffer_count, image_count;
    VkMemoryBarrier2 memory[MAX_BARRIERS];
    VkBufferMemoryBarrier2 buffers[MAX_BARRIERS];
    VkImageMemoryBarrier2 images[MAX_BARRIERS];
    VkDependencyFlags flags;
} seen;

static void see1(VkPipelineStageFlags src, VkPipelineStageFlags dst, uint32_t memory_count,
                 const VkMemoryBarrier *memory, uint32_t buffer_count,
                 const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                 const VkImageMemoryBarrier *images)
{
    seen.calls++;
    seen.memory_count = memory_count;
    seen.buffer_count = buffer_count;
    seen.image_count = image_count;
    for (uint32_t i = 0; i < memory_count; i++) {
        assert_int_equal(memory[i].sType, VK_STRUCTURE_TYPE_MEMORY_BARRIER);
        seen.memory[i] = (VkMemoryBarrier2){.srcStageMask = src,
                                            .srcAccessMask = memory[i].srcAccessMask,
                                            .dstStageMask = dst,
                                            .dstAccessMask = memory[i].dstAccessMask};
    }
    for (uint32_t i = 0; i < buffer_count; i++)
        seen.buffers[i] =
            (VkBufferMemoryBarrier2){.pNext = buffers[i].pNext,
                                     .srcStageMask = src,
                                     .srcAccessMask = buffers[i].srcAccessMask,
                                     .dstStageMask = dst,
                                     .dstAccessMask = buffers[i].dstAccessMask,
                                     .srcQueueFamilyIndex = buffers[i].srcQueueFamilyIndex,
                                     .dstQueueFamilyIndex = buffers[i].dstQueueFamilyIndex,
                                     .buffer = buffers[i].buffer};
    for (uint32_t i = 0; i < image_count; i++)
        seen.images[i] =
            (VkImageMemoryBarrier2){.pNext = images[i].pNext,
                                    .srcStageMask = src,
                                    .srcAccessMask = images[i].srcAccessMask,
                                    .dstStageMask = dst,
                                    .dstAccessMask = images[i].dstAccessMask,
                                    .oldLayout = images[i].oldLayout,
                                    .newLayout = images[i].newLayout,
                                    .srcQueueFamilyIndex = images[i].srcQueueFamilyIndex,
                                    .dstQueueFamilyIndex = images[i].dstQueueFamilyIndex,
                                    .image = images[i].image};
}

static void see2(const VkDependencyInfo *info)
{
    seen.calls++;
    seen.flags = info->dependencyFlags;
    seen.memory_count = info->memoryBarrierCount;
    seen.buffer_count = info->bufferMemoryBarrierCount;
    seen.image_count = info->imageMemoryBarrierCount;
    for (uint32_t i = 0; i < seen.memory_count; i++)
        assert_int_equal(info->pMemoryBarriers[i].sType, VK_STRUCTURE_TYPE_MEMORY_BARRIER_2);
    if (seen.memory_count)
        memcpy(seen.memory, info->pMemoryBarriers, seen.memory_count * sizeof(seen.memory[0]));
    if (seen.buffer_count)
        memcpy(seen.buffers, info->pBufferMemoryBarriers,
               seen.buffer_count * sizeof(seen.buffers[0]));
    if (seen.image_count)
        memcpy(seen.images, info->pImageMemoryBarriers, seen.image_count * sizeof(seen.images[0]));
}

static void VKAPI_CALL drv_barrier(VkCommandBuffer buffer, VkPipelineStageFlags src,
                                   VkPipelineStageFlags dst, VkDependencyFlags flags,
                                   uint32_t memory_count, const VkMemoryBarrier *memory,
                                   uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
                                   uint32_t image_count, const VkImageMemoryBarrier *images)
{
    seen.flags = flags;
    see1(src, dst, memory_count, memory, buffer_count, buffers, image_count, images);
}

static void VKAPI_CALL drv_wait_events(VkCommandBuffer buffer, uint32_t event_count,
                                       const VkEvent *events, VkPipelineStageFlags src,
                                       VkPipelineStageFlags dst, uint32_t memory_count,
                                       const VkMemoryBarrier *memory, uint32_t buffer_count,
                                       const VkBufferMemoryBarrier *buffers, uint32_t image_count,
                                       const VkImageMemoryBarrier *images)
{
    assert_int_equal(event_count, 1);
    see1(src, dst, memory_count, memory, buffer_count, buffers, image_count, images);
}

static void VKAPI_CALL drv_barrier2(VkCommandBuffer buffer, const VkDependencyInfo *info)
{
    see2(info);
}

static void VKAPI_CALL drv_set_event2(VkCommandBuffer buffer, VkEvent event,
                                      const VkDependencyInfo *info)
{
    see2(info);
}

static void VKAPI_CALL drv_wait_events2(VkCommandBuffer buffer, uint32_t count,
                                        const VkEvent *events, const VkDependencyInfo *infos)
{
    for (uint32_t i = 0; i < count; i++)
        see2(&infos[i]);
}

static void open_driver(bool only_khr)
{
    fake_start(&driver);
    FAKE_OVERRIDE(vkCmdPipelineBarrier, drv_barrier);
    FAKE_OVERRIDE(vkCmdWaitEvents, drv_wait_events);
    const char *suffix = only_khr ? "KHR" : "";
    static char names[3][40];
    snprintf(names[0], sizeof(names[0]), "vkCmdPipelineBarrier2%s", suffix);
    snprintf(names[1], sizeof(names[1]), "vkCmdSetEvent2%s", suffix);
    snprintf(names[2], sizeof(names[2]), "vkCmdWaitEvents2%s", suffix);
    fake_override(names[0], (PFN_vkVoidFunction)drv_barrier2);
    fake_override(names[1], (PFN_vkVoidFunction)drv_set_event2);
    fake_override(names[2], (PFN_vkVoidFunction)drv_wait_events2);
    /* Command buffers are handed out anew. */
    fake_use(
        "vkCreateCommandPool vkDestroyCommandPool vkAllocateCommandBuffers vkFreeCommandBuffers");
    fake_open_device((const uint32_t[]){1, 1, 1, 1, 0});
}

static bool lacks_core2(const char *name)
{
    return strcmp(name, "vkCmdPipelineBarrier2") == 0 || strcmp(name, "vkCmdSetEvent2") == 0 ||
           strcmp(name, "vkCmdWaitEvents2") == 0;
}

static VkCommandPool make_pool(uint32_t family)
{
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .queueFamilyIndex = family};
    VkCommandPool pool;
    assert_success(FAKE_CALL(vkCreateCommandPool, fake.device, &info, NULL, &pool));
    return pool;
}

static VkCommandBuffer make_buffer(VkCommandPool pool, bool secondary)
{
    const VkCommandBufferAllocateInfo info = {
        VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = pool,
        .level = secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY : VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    VkCommandBuffer buffer;
    assert_success(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &info, &buffer));
    return buffer;
}

/* The commands that have barriers -------------------------------------------------------------- */

enum barrier_command {
    BARRIER,
    WAIT_EVENTS,
    BARRIER2,
    SET_EVENT2,
    WAIT_EVENTS2,
    BARRIER_COMMANDS,
};

#define SRC_STAGE  VK_PIPELINE_STAGE_TRANSFER_BIT
#define DST_STAGE  VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
#define SRC_ACCESS VK_ACCESS_TRANSFER_WRITE_BIT
#define DST_ACCESS VK_ACCESS_SHADER_READ_BIT
#define OLD        VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL
#define NEW        VK_IMAGE_LAYOUT_GENERAL
#define IMAGE(n)   ((VkImage)(uintptr_t)(0x1000 + (n)))
#define BUFFER(n)  ((VkBuffer)(uintptr_t)(0x2000 + (n)))

static const int image_note = 1, buffer_note = 2; /* structs chained to barriers stay */

/* 'n' barriers on images and as many on buffers, and one on memory, between two families. */
static void record(VkCommandBuffer commands, enum barrier_command command, bool khr, uint32_t n,
                   uint32_t src, uint32_t dst)
{
    static VkImageMemoryBarrier images[MAX_BARRIERS];
    static VkBufferMemoryBarrier buffers[MAX_BARRIERS];
    static VkImageMemoryBarrier2 images2[MAX_BARRIERS];
    static VkBufferMemoryBarrier2 buffers2[MAX_BARRIERS];
    const VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER, NULL, 1, 2};
    const VkMemoryBarrier2 memory2 = {VK_STRUCTURE_TYPE_MEMORY_BARRIER_2, NULL, 1, 1, 2, 2};
    for (uint32_t i = 0; i < n; i++) {
        images[i] = (VkImageMemoryBarrier){VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                           &image_note,
                                           SRC_ACCESS,
                                           DST_ACCESS,
                                           OLD,
                                           NEW,
                                           src,
                                           dst,
                                           IMAGE(i),
                                           {0}};
        buffers[i] = (VkBufferMemoryBarrier){VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                             &buffer_note,
                                             SRC_ACCESS,
                                             DST_ACCESS,
                                             src,
                                             dst,
                                             BUFFER(i),
                                             0,
                                             VK_WHOLE_SIZE};
        images2[i] = (VkImageMemoryBarrier2){VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                             &image_note,
                                             SRC_STAGE,
                                             SRC_ACCESS,
                                             DST_STAGE,
                                             DST_ACCESS,
                                             OLD,
                                             NEW,
                                             src,
                                             dst,
                                             IMAGE(i),
                                             {0}};
        buffers2[i] = (VkBufferMemoryBarrier2){VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER_2,
                                               &buffer_note,
                                               SRC_STAGE,
                                               SRC_ACCESS,
                                               DST_STAGE,
                                               DST_ACCESS,
                                               src,
                                               dst,
                                               BUFFER(i),
                                               0,
                                               VK_WHOLE_SIZE};
    }
    const VkDependencyInfo info = {
        VK_TYPE(DEPENDENCY_INFO),      .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT,
        .memoryBarrierCount = 1,       .pMemoryBarriers = &memory2,
        .bufferMemoryBarrierCount = n, .pBufferMemoryBarriers = buffers2,
        .imageMemoryBarrierCount = n,  .pImageMemoryBarriers = images2};
    const VkEvent event = (VkEvent)(uintptr_t)5;
    memset(&seen, 0, sizeof(seen));
    switch (command) {
    case BARRIER:
        FAKE_CALL(vkCmdPipelineBarrier, commands, SRC_STAGE, DST_STAGE, VK_DEPENDENCY_BY_REGION_BIT,
                  1, &memory, n, buffers, n, images);
        break;
    case WAIT_EVENTS:
        FAKE_CALL(vkCmdWaitEvents, commands, 1, &event, SRC_STAGE, DST_STAGE, 1, &memory, n,
                  buffers, n, images);
        break;
    case BARRIER2:
        ((PFN_vkCmdPipelineBarrier2)fake_command(khr ? "vkCmdPipelineBarrier2KHR"
                                                     : "vkCmdPipelineBarrier2"))(commands, &info);
        break;
    case SET_EVENT2:
        ((PFN_vkCmdSetEvent2)fake_command(khr ? "vkCmdSetEvent2KHR" : "vkCmdSetEvent2"))(
            commands, event, &info);
        break;
    case WAIT_EVENTS2: {
        const VkDependencyInfo infos[2] = {info, info};
        const VkEvent events[2] = {event, event};
        ((PFN_vkCmdWaitEvents2)fake_command(khr ? "vkCmdWaitEvents2KHR" : "vkCmdWaitEvents2"))(
            commands, 2, events, infos);
        break;
    }
    case BARRIER_COMMANDS:
        break;
    }
    assert_int_equal(seen.calls, command == WAIT_EVENTS2 ? 2 : 1);
    if (command != WAIT_EVENTS)
        assert_int_equal(seen.flags, VK_DEPENDENCY_BY_REGION_BIT);
    assert_int_equal(seen.memory[0].dstAccessMask, 2); /* the program's own memory barrier stays */
    assert_int_equal(seen.buffer_count, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_ptr_equal(seen.buffers[i].buffer, BUFFER(i));
        assert_ptr_equal(seen.buffers[i].pNext, &buffer_note);
    }
}

/* All image barriers arrived, between these families, with their layout change. Of a releasing half
 * only the first scope is the program's. */
static void expect_barriers(uint32_t n, uint32_t src, uint32_t dst, uint32_t dst_access)
{
    assert_int_equal(seen.memory_count, 1);
    assert_int_equal(seen.image_count, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(seen.buffers[i].srcQueueFamilyIndex, src);
        assert_int_equal(seen.buffers[i].dstQueueFamilyIndex, dst);
        assert_ptr_equal(seen.images[i].image, IMAGE(i));
        assert_ptr_equal(seen.images[i].pNext, &image_note);
        assert_int_equal(seen.images[i].srcQueueFamilyIndex, src);
        assert_int_equal(seen.images[i].dstQueueFamilyIndex, dst);
        assert_int_equal(seen.images[i].oldLayout, OLD);
        assert_int_equal(seen.images[i].newLayout, NEW);
        assert_int_equal(seen.images[i].srcAccessMask, SRC_ACCESS);
        assert_int_equal(seen.images[i].dstAccessMask, dst_access);
        assert_int_equal(seen.buffers[i].srcAccessMask, SRC_ACCESS);
        assert_int_equal(seen.buffers[i].dstAccessMask, dst_access);
    }
}

/* The layout changes are left to the other half; only the second scope is the program's. The stages
 * an event was set with can't be widened. */
static void expect_acquire(uint32_t n, enum barrier_command command)
{
    const VkPipelineStageFlags2 all = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
    assert_int_equal(seen.image_count, 0);
    assert_int_equal(seen.memory_count, 1 + n);
    for (uint32_t i = 1; i <= n; i++) {
        if (command == WAIT_EVENTS)
            assert_int_equal(seen.memory[i].srcStageMask, SRC_STAGE);
        else
            assert_true(seen.memory[i].srcStageMask & all);
        assert_int_equal(seen.memory[i].dstStageMask, DST_STAGE);
        assert_int_equal(seen.memory[i].srcAccessMask, 0);
        assert_int_equal(seen.memory[i].dstAccessMask, DST_ACCESS);
    }
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(seen.buffers[i].srcQueueFamilyIndex, NONE);
        assert_int_equal(seen.buffers[i].dstQueueFamilyIndex, NONE);
        assert_int_equal(seen.buffers[i].srcAccessMask, 0);
        assert_int_equal(seen.buffers[i].dstAccessMask, DST_ACCESS);
    }
}

/* Families of a barrier on a command buffer of family 'own', and what must arrive. */
static const struct {
    uint32_t own, src, dst, src_below, dst_below;
    enum { WHOLE, RELEASE, ACQUIRE } half; /* of a transfer that is none below */
} transfers[] = {
    /* none to begin with */
    {0, NONE, NONE, NONE, NONE, WHOLE},
    {3, NONE, NONE, NONE, NONE, WHOLE},
    {0, 0, 0, 0, 0, WHOLE},
    {1, 1, 1, 1, 1, WHOLE},
    {2, 2, 2, 0, 0, WHOLE},
    {3, 3, 3, 0, 0, WHOLE},
    /* between families that are one: released where it begins, acquired where it ends */
    {0, 0, 2, NONE, NONE, RELEASE},
    {2, 0, 2, 0, 0, ACQUIRE},
    {2, 2, 0, NONE, NONE, RELEASE},
    {0, 2, 0, 0, 0, ACQUIRE},
    {2, 2, 3, NONE, NONE, RELEASE},
    {3, 2, 3, 0, 0, ACQUIRE},
    /* between real families: both halves stay */
    {0, 0, 1, 0, 1, WHOLE},
    {1, 0, 1, 0, 1, WHOLE},
    {2, 2, 1, 0, 1, WHOLE},
    {1, 2, 1, 0, 1, WHOLE},
    {1, 1, 3, 1, 0, WHOLE},
    {3, 1, 3, 1, 0, WHOLE},
    /* sentinels are nobody's */
    {0, 0, EXTERNAL, 0, EXTERNAL, WHOLE},
    {3, 3, EXTERNAL, 0, EXTERNAL, WHOLE},
    {3, EXTERNAL, 3, EXTERNAL, 0, WHOLE},
    {2, FOREIGN, 2, FOREIGN, 0, WHOLE},
    {1, 1, FOREIGN, 1, FOREIGN, WHOLE},
};

TEST(test_transfers)
{
    for (int khr = 0; khr < 2; khr++) {
        open_driver(khr);
        fake_close();
        for (int secondary = 0; secondary < 2; secondary++) {
            open_driver(khr);
            if (khr)
                fake.driver.lacks = lacks_core2;
            if (khr) { /* functions were looked up already: once more without the core names */
                fake_close_device();
                fake_open_device((const uint32_t[]){1, 0});
            }
            VkCommandBuffer buffers[4];
            VkCommandPool pools[4];
            for (uint32_t f = 0; f < 4; f++) {
                pools[f] = make_pool(f);
                buffers[f] = make_buffer(pools[f], secondary);
            }
            for (size_t t = 0; t < sizeof(transfers) / sizeof(transfers[0]); t++) {
                for (enum barrier_command command = 0; command < BARRIER_COMMANDS; command++) {
                    /* One, as many as need no allocation, and more. */
                    static const uint32_t numbers[] = {0, 1, 16, 17, 60};
                    for (size_t i = 0; i < 5; i++) {
                        record(buffers[transfers[t].own], command, khr, numbers[i],
                               transfers[t].src, transfers[t].dst);
                        if (transfers[t].half == ACQUIRE)
                            expect_acquire(numbers[i], command);
                        else
                            expect_barriers(numbers[i], transfers[t].src_below,
                                            transfers[t].dst_below,
                                            transfers[t].half == RELEASE ? 0 : DST_ACCESS);
                    }
                }
            }
            for (uint32_t f = 0; f < 4; f++)
                FAKE_CALL(vkDestroyCommandPool, fake.device, pools[f], NULL);
            fake_close();
        }
    }
}

/* A command that mixes all kinds keeps their order. */
TEST(test_mixed)
{
    open_driver(false);
    VkCommandBuffer commands = make_buffer(make_pool(2), false);
    VkImageMemoryBarrier2 images[4];
    static const uint32_t pairs[4][2] = {{NONE, NONE}, {2, 0}, {1, 2}, {0, 2}};
    for (uint32_t i = 0; i < 4; i++)
        images[i] = (VkImageMemoryBarrier2){VK_TYPE(IMAGE_MEMORY_BARRIER_2),
                                            .srcAccessMask = 100 + i,
                                            .dstAccessMask = 200 + i,
                                            .oldLayout = OLD,
                                            .newLayout = NEW,
                                            .srcQueueFamilyIndex = pairs[i][0],
                                            .dstQueueFamilyIndex = pairs[i][1],
                                            .image = IMAGE(i)};
    const VkDependencyInfo info = {VK_TYPE(DEPENDENCY_INFO), .imageMemoryBarrierCount = 4,
                                   .pImageMemoryBarriers = images};
    memset(&seen, 0, sizeof(seen));
    FAKE_CALL(vkCmdPipelineBarrier2, commands, &info);
    assert_int_equal(seen.memory_count, 1);
    assert_int_equal(seen.memory[0].dstAccessMask, 203); /* of the acquire */
    assert_int_equal(seen.image_count, 3);
    static const uint32_t left[3][3] = {{0, NONE, NONE}, {1, NONE, NONE}, {2, 1, 0}};
    for (uint32_t i = 0; i < 3; i++) {
        assert_ptr_equal(seen.images[i].image, IMAGE(left[i][0]));
        assert_int_equal(seen.images[i].srcQueueFamilyIndex, left[i][1]);
        assert_int_equal(seen.images[i].dstQueueFamilyIndex, left[i][2]);
        assert_int_equal(seen.images[i].newLayout, NEW);
    }
    fake_close();
}

/* Resources that are CONCURRENT for the program and have one real family (B-3) ----------------- */

static VkSharingMode created;

static VkResult VKAPI_CALL drv_create_image(VkDevice device, const VkImageCreateInfo *info,
                                            const VkAllocationCallbacks *allocator, VkImage *image)
{
    created = info->sharingMode;
    *image = IMAGE(0);
    return VK_SUCCESS;
}

static VkResult VKAPI_CALL drv_create_buffer(VkDevice device, const VkBufferCreateInfo *info,
                                             const VkAllocationCallbacks *allocator,
                                             VkBuffer *buffer)
{
    created = info->sharingMode;
    *buffer = BUFFER(0);
    return VK_SUCCESS;
}

static void make_resources(VkSharingMode mode, uint32_t a, uint32_t b)
{
    const uint32_t families[] = {a, b};
    const VkImageCreateInfo image_info = {VK_TYPE(IMAGE_CREATE_INFO), .sharingMode = mode,
                                          .queueFamilyIndexCount = 2,
                                          .pQueueFamilyIndices = families};
    const VkBufferCreateInfo buffer_info = {VK_TYPE(BUFFER_CREATE_INFO), .sharingMode = mode,
                                            .queueFamilyIndexCount = 2,
                                            .pQueueFamilyIndices = families};
    VkImage image;
    VkBuffer buffer;
    assert_success(FAKE_CALL(vkCreateImage, fake.device, &image_info, NULL, &image));
    assert_success(FAKE_CALL(vkCreateBuffer, fake.device, &buffer_info, NULL, &buffer));
}

static void destroy_resources(void)
{
    FAKE_CALL(vkDestroyImage, fake.device, IMAGE(0), NULL);
    FAKE_CALL(vkDestroyBuffer, fake.device, BUFFER(0), NULL);
}

/* Whoever is outside takes them from the real family, and gives them back to it. Between resources
 * that are CONCURRENT for the driver too, IGNORED stays, and so it does for the next one of the
 * handle. */
TEST(test_outside)
{
    open_driver(false);
    FAKE_OVERRIDE(vkCreateImage, drv_create_image);
    FAKE_OVERRIDE(vkCreateBuffer, drv_create_buffer);
    fake_close_device();
    fake_open_device((const uint32_t[]){1, 1, 1, 1, 0});
    static const struct {
        VkSharingMode mode;
        uint32_t a, b, owner;
    } resources[] = {
        {VK_SHARING_MODE_CONCURRENT, 0, 2, 0},   {VK_SHARING_MODE_CONCURRENT, 0, 1, NONE},
        {VK_SHARING_MODE_CONCURRENT, 3, 2, 0},   {VK_SHARING_MODE_CONCURRENT, 1, 2, NONE},
        {VK_SHARING_MODE_EXCLUSIVE, 0, 2, NONE},
    };
    static const uint32_t outsides[] = {EXTERNAL, FOREIGN};
    VkCommandBuffer commands = make_buffer(make_pool(2), false);
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
        uint32_t owner = resources[i].owner;
        make_resources(resources[i].mode, resources[i].a, resources[i].b);
        assert_int_equal(created == VK_SHARING_MODE_CONCURRENT,
                         resources[i].mode == VK_SHARING_MODE_CONCURRENT && owner == NONE);
        for (enum barrier_command command = 0; command < BARRIER_COMMANDS; command++) {
            for (uint32_t o = 0; o < 2; o++) {
                record(commands, command, false, 1, NONE, outsides[o]);
                expect_barriers(1, owner, outsides[o], DST_ACCESS);
                record(commands, command, false, 1, outsides[o], NONE);
                expect_barriers(1, outsides[o], owner, DST_ACCESS);
                record(commands, command, false, 1, 2, outsides[o]);
                expect_barriers(1, 0, outsides[o], DST_ACCESS);
            }
            record(commands, command, false, 1, NONE, NONE);
            expect_barriers(1, NONE, NONE, DST_ACCESS);
        }
        destroy_resources();
    }
    /* Others than the one that was made are nobody's. */
    make_resources(VK_SHARING_MODE_CONCURRENT, 0, 2);
    record(commands, BARRIER2, false, 2, NONE, EXTERNAL);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(seen.images[i].srcQueueFamilyIndex, i ? NONE : 0);
        assert_int_equal(seen.buffers[i].srcQueueFamilyIndex, i ? NONE : 0);
    }
    destroy_resources();
    record(commands, BARRIER2, false, 1, NONE, EXTERNAL);
    expect_barriers(1, NONE, EXTERNAL, DST_ACCESS);
    /* What a program leaves behind ends with the device. */
    make_resources(VK_SHARING_MODE_CONCURRENT, 0, 2);
    fake_close();
}

/* Handles come back: a command buffer is of the family of the pool that it was last made from. */
TEST(test_pools_and_buffers_that_end)
{
    open_driver(false);
    for (uint32_t way = 0; way < 3; way++) {
        VkCommandPool compute = make_pool(2), graphics = make_pool(0);
        VkCommandBuffer commands = make_buffer(compute, false);
        record(commands, BARRIER2, false, 1, 2, 0);
        expect_barriers(1, NONE, NONE, 0);
        /* Resetting changes nothing about whose it is. */
        FAKE_CALL(vkResetCommandPool, fake.device, compute, 0);
        FAKE_CALL(vkResetCommandBuffer, commands, 0);
        record(commands, BARRIER2, false, 1, 2, 0);
        expect_barriers(1, NONE, NONE, 0);
        if (way == 0) {
            const VkCommandBuffer freed[] = {VK_NULL_HANDLE, commands};
            FAKE_CALL(vkFreeCommandBuffers, fake.device, compute, 2, freed);
        } else {
            FAKE_CALL(vkDestroyCommandPool, fake.device, compute, NULL);
        }
        VkCommandBuffer again = make_buffer(graphics, false);
        assert_ptr_equal(again, commands);
        record(again, BARRIER2, false, 1, 2, 0);
        expect_acquire(1, BARRIER2);
        record(again, BARRIER2, false, 1, 0, 2);
        expect_barriers(1, NONE, NONE, 0);
        FAKE_CALL(vkDestroyCommandPool, fake.device, graphics, NULL);
        if (way == 0)
            FAKE_CALL(vkDestroyCommandPool, fake.device, compute, NULL);
    }
    /* What a program leaves behind ends with the device. */
    VkCommandPool left = make_pool(3);
    for (uint32_t i = 0; i < 40; i++)
        make_buffer(left, i % 2);
    fake_close();
}

static VkResult VKAPI_CALL drv_allocate_none(VkDevice device,
                                             const VkCommandBufferAllocateInfo *info,
                                             VkCommandBuffer *buffers)
{
    memset(buffers, 0, info->commandBufferCount * sizeof(*buffers));
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

TEST(test_allocation_that_fails)
{
    open_driver(false);
    FAKE_OVERRIDE(vkAllocateCommandBuffers, drv_allocate_none);
    fake_close_device();
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO)};
    assert_success(fake_device(&info));
    const VkCommandBufferAllocateInfo allocate = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                                  .commandPool = make_pool(2),
                                                  .commandBufferCount = 3};
    VkCommandBuffer buffers[3];
    assert_int_equal(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &allocate, buffers),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    for (uint32_t i = 0; i < 3; i++)
        assert_null(buffers[i]);
    fake_close();
}
