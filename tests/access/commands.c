/*
 * What the layer tells the check 'access' of each command, and of each way to wait: on a driver of
 * the test's own that does nothing, two queues use something at the same time, one after another in
 * the order of calls. The first use is a plain one, on the copy queue; the second is the command
 * that is tested, on the graphics queue. What the report says of it is compared.
 */
#include "../layer/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G VK_QUEUE_GRAPHICS_BIT
#define C VK_QUEUE_COMPUTE_BIT
#define T VK_QUEUE_TRANSFER_BIT

enum { GRAPHICS = 0, COPY = 1 };

/* Real families: everything, and copies. */
static const struct fake_driver driver = {
    .family_count = 2,
    .families = {{G | C | T, 2, 64, {1, 1, 1}}, {T, 1, 64, {1, 1, 1}}},
};

static uint64_t next_handle = 0x4000;

static VkResult create(uint64_t *handle)
{
    *handle = next_handle += 16;
    return VK_SUCCESS;
}

#define DEFINE_CREATE(name, Info, Handle)                                                          \
    static VkResult VKAPI_CALL drv_##name(VkDevice device, const Info *info,                       \
                                          const VkAllocationCallbacks *allocator, Handle *handle)  \
    {                                                                                              \
        (void)device, (void)info, (void)allocator;                                                 \
        return create((uint64_t *)handle);                                                         \
    }
DEFINE_CREATE(vkCreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore)
DEFINE_CREATE(vkCreateFence, VkFenceCreateInfo, VkFence)
DEFINE_CREATE(vkCreateBuffer, VkBufferCreateInfo, VkBuffer)
DEFINE_CREATE(vkCreateImage, VkImageCreateInfo, VkImage)
DEFINE_CREATE(vkCreateImageView, VkImageViewCreateInfo, VkImageView)
DEFINE_CREATE(vkCreateFramebuffer, VkFramebufferCreateInfo, VkFramebuffer)
DEFINE_CREATE(vkCreateRenderPass, VkRenderPassCreateInfo, VkRenderPass)
DEFINE_CREATE(vkCreateRenderPass2, VkRenderPassCreateInfo2, VkRenderPass)
DEFINE_CREATE(vkCreateCommandPool, VkCommandPoolCreateInfo, VkCommandPool)
DEFINE_CREATE(vkCreateSwapchainKHR, VkSwapchainCreateInfoKHR, VkSwapchainKHR)

static VkResult VKAPI_CALL drv_vkAllocateCommandBuffers(VkDevice device,
                                                        const VkCommandBufferAllocateInfo *info,
                                                        VkCommandBuffer *buffers)
{
    (void)device;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        buffers[i] = fake_dispatchable();
    return VK_SUCCESS;
}

static uint64_t counter;

static VkResult VKAPI_CALL drv_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                          uint64_t *value)
{
    (void)device, (void)semaphore;
    *value = counter;
    return VK_SUCCESS;
}

#define IMAGES 6
enum { PLAIN, OTHER, COMPRESSED, DEPTH_STENCIL, VOLUME, PLANAR };

/* What the commands use. */
static struct {
    VkQueue queues[2];
    VkCommandPool pools[2];
    VkBuffer buffer, other, scratch;
    VkImage images[IMAGES];
    VkSemaphore timeline;
} w;

static VkCommandBuffer allocate(uint32_t family, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = w.pools[family],
        .level = level,
        .commandBufferCount = 1,
    };
    VkCommandBuffer buffer;
    assert_int_equal(FAKE_CALL(vkAllocateCommandBuffers)(fake.device, &info, &buffer), VK_SUCCESS);
    return buffer;
}

static VkCommandBuffer begin(uint32_t family)
{
    VkCommandBuffer buffer = allocate(family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(FAKE_CALL(vkBeginCommandBuffer)(buffer, &info), VK_SUCCESS);
    return buffer;
}

static void end(VkCommandBuffer buffer)
{
    assert_int_equal(FAKE_CALL(vkEndCommandBuffer)(buffer), VK_SUCCESS);
}

static VkBuffer make_buffer(VkDeviceSize size)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size};
    VkBuffer buffer;
    assert_int_equal(FAKE_CALL(vkCreateBuffer)(fake.device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static VkImage make_image(VkFormat format, VkImageType type)
{
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = type,
        .format = format,
        .extent = {64, 64, type == VK_IMAGE_TYPE_3D ? 16 : 1},
        .mipLevels = 4,
        .arrayLayers = type == VK_IMAGE_TYPE_3D ? 1 : 3,
    };
    VkImage image;
    assert_int_equal(FAKE_CALL(vkCreateImage)(fake.device, &info, NULL, &image), VK_SUCCESS);
    return image;
}

static VkSemaphore make_semaphore(bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore semaphore;
    assert_int_equal(FAKE_CALL(vkCreateSemaphore)(fake.device, &info, NULL, &semaphore),
                     VK_SUCCESS);
    return semaphore;
}

static VkImageView make_view(uint32_t image, uint32_t mip, uint32_t layer, uint32_t layers,
                             VkImageViewType type)
{
    const VkImageViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = w.images[image],
        .viewType = type,
        .subresourceRange = {image == DEPTH_STENCIL
                                 ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT
                                 : VK_IMAGE_ASPECT_COLOR_BIT,
                             mip, 1, layer, layers},
    };
    VkImageView view;
    assert_int_equal(FAKE_CALL(vkCreateImageView)(fake.device, &info, NULL, &view), VK_SUCCESS);
    return view;
}

static void name(VkObjectType type, uint64_t handle, const char *text)
{
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = text,
    };
    FAKE_CALL(vkSetDebugUtilsObjectNameEXT)(fake.device, &info);
}

/* A driver that knows the newer commands by their extensions' names alone. */
static bool lacks_core(const char *command)
{
    static const char *const newer[] = {
        "vkCmdCopyBuffer2",        "vkCmdCopyImage2",        "vkCmdCopyBufferToImage2",
        "vkCmdCopyImageToBuffer2", "vkCmdBlitImage2",        "vkCmdResolveImage2",
        "vkCmdPipelineBarrier2",   "vkCmdWaitEvents2",       "vkCmdBeginRendering",
        "vkCmdBeginRenderPass2",   "vkCreateRenderPass2",    "vkQueueSubmit2",
        "vkCmdBindVertexBuffers2", "vkCmdDrawIndirectCount", "vkCmdDrawIndexedIndirectCount",
        "vkWaitSemaphores",        "vkSignalSemaphore",      "vkGetSemaphoreCounterValue"};
    for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
        if (strcmp(newer[i], command) == 0)
            return true;
    }
    return false;
}

static bool only_khr;

/* A command by whichever name the driver has. */
static PFN_vkVoidFunction call2(const char *command, const char *suffix)
{
    char buffer[64];
    snprintf(buffer, sizeof(buffer), "%s%s", command, only_khr ? suffix : "");
    PFN_vkVoidFunction function = fake_command(buffer);
    assert_non_null(function);
    return function;
}
#define CALL2(name) ((PFN_##name)call2(#name, "KHR"))

/* Under both names; they are looked at until the driver is closed. */
#define OVERRIDE2(name, function)                                                                  \
    do {                                                                                           \
        fake_override(#name, (PFN_vkVoidFunction)(function));                                      \
        fake_override(#name "KHR", (PFN_vkVoidFunction)(function));                                \
    } while (0)

static void open_world(void)
{
    struct fake_driver d = driver;
    if (only_khr)
        d.lacks = lacks_core;
    setenv("VK_BELFRY_MULTI_ENGINE_CHECK", "access", 1);
    memset(&w, 0, sizeof(w));
    fake_load(&d);
    assert_int_equal(fake_instance(VK_API_VERSION_1_3, 0, NULL), VK_SUCCESS);
#define OVERRIDE(name) FAKE_OVERRIDE(name, drv_##name)
    OVERRIDE(vkCreateSemaphore);
    OVERRIDE(vkCreateFence);
    OVERRIDE(vkCreateBuffer);
    OVERRIDE(vkCreateImage);
    OVERRIDE(vkCreateImageView);
    OVERRIDE(vkCreateFramebuffer);
    OVERRIDE(vkCreateRenderPass);
    OVERRIDE(vkCreateCommandPool);
    OVERRIDE(vkCreateSwapchainKHR);
    OVERRIDE(vkAllocateCommandBuffers);
    OVERRIDE2(vkCreateRenderPass2, drv_vkCreateRenderPass2);
    OVERRIDE2(vkGetSemaphoreCounterValue, drv_vkGetSemaphoreCounterValue);
    static const float priority = 1.0f;
    VkDeviceQueueCreateInfo queues[2];
    for (uint32_t i = 0; i < 2; i++)
        queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = i,
                                              .queueCount = 1,
                                              .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 2,
                                     .pQueueCreateInfos = queues};
    char last[1024];
    lines_begin();
    assert_int_equal(fake_device(&info), VK_SUCCESS);
    assert_int_equal(lines_end(last, sizeof(last)), 1);
    assert_string_equal(last, "belfry: access: accesses through descriptors are not seen; tell "
                              "them with bfQueueUses\n");
    for (uint32_t i = 0; i < 2; i++) {
        FAKE_CALL(vkGetDeviceQueue)(fake.device, i, 0, &w.queues[i]);
        const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = i};
        FAKE_CALL(vkCreateCommandPool)(fake.device, &pool, NULL, &w.pools[i]);
    }
    name(VK_OBJECT_TYPE_QUEUE, (uintptr_t)w.queues[GRAPHICS], "graphics");
    name(VK_OBJECT_TYPE_QUEUE, (uintptr_t)w.queues[COPY], "copy");
    w.buffer = make_buffer(4096);
    w.other = make_buffer(4096);
    w.scratch = make_buffer(4096);
    w.images[PLAIN] = make_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D);
    w.images[OTHER] = make_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D);
    w.images[COMPRESSED] = make_image(VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_IMAGE_TYPE_2D);
    w.images[DEPTH_STENCIL] = make_image(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D);
    w.images[VOLUME] = make_image(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_3D);
    w.images[PLANAR] = make_image(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_TYPE_2D);
    w.timeline = make_semaphore(true);
    name(VK_OBJECT_TYPE_BUFFER, (uint64_t)w.buffer, "it");
    for (uint32_t i = 0; i < IMAGES; i++)
        name(VK_OBJECT_TYPE_IMAGE, (uint64_t)w.images[i], "it");
}

static void close_world(void)
{
    for (uint32_t i = 0; i < 2; i++)
        FAKE_CALL(vkDestroyCommandPool)(fake.device, w.pools[i], NULL);
    FAKE_CALL(vkDestroyBuffer)(fake.device, w.buffer, NULL);
    FAKE_CALL(vkDestroyImage)(fake.device, w.images[PLAIN], NULL);
    fake_close();
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
}

static void submit(uint32_t queue, VkSemaphore wait, uint64_t wait_value, VkCommandBuffer buffer,
                   VkSemaphore signal, uint64_t signal_value, VkFence fence)
{
    const VkSemaphoreSubmitInfo waits = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                         .semaphore = wait,
                                         .value = wait_value,
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
                                signals = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                           .semaphore = signal,
                                           .value = signal_value,
                                           .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreInfos = &waits,
        .commandBufferInfoCount = buffer != NULL,
        .pCommandBufferInfos = &buffers,
        .signalSemaphoreInfoCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphoreInfos = &signals,
    };
    assert_int_equal(CALL2(vkQueueSubmit2)(w.queues[queue], 1, &info, fence), VK_SUCCESS);
}

typedef void (*record_fn)(VkCommandBuffer buffer);

/* The lines that the two submissions bring, the last one copied to 'line'. */
static uint32_t run(record_fn first, record_fn second, bool ordered, char *line, size_t size)
{
    VkCommandBuffer a = begin(COPY), b = begin(GRAPHICS);
    first(a);
    end(a);
    second(b);
    end(b);
    lines_begin();
    submit(COPY, VK_NULL_HANDLE, 0, a, w.timeline, 1, VK_NULL_HANDLE);
    submit(GRAPHICS, ordered ? w.timeline : VK_NULL_HANDLE, 1, b, VK_NULL_HANDLE, 0,
           VK_NULL_HANDLE);
    return lines_end(line, size);
}

/* 'second' does that to what 'first' uses ("reads bytes 0 to 3"); NULL: nothing that matters. */
static void expect_named(const char *test, record_fn first, record_fn second, const char *text)
{
    char line[1024], full[1024];
    open_world();
    uint32_t count = run(first, second, false, line, sizeof(line));
    close_world();
    if (count != (text != NULL))
        fail_msg("%s: %u lines: %s", test, count, line);
    if (!text)
        return;
    snprintf(full, sizeof(full), "queue 'graphics' %s", text);
    if (!strstr(line, full))
        fail_msg("%s: no '%s' in: %s", test, full, line);
    if (only_khr)
        return;
    open_world();
    count = run(first, second, true, line, sizeof(line));
    close_world();
    if (count)
        fail_msg("%s, ordered: %u lines: %s", test, count, line);
}
#define EXPECT(first, second, text) expect_named(#first " " #second, first, second, text)

/* ----------------------------------------------------------------------------------- First uses */

static VkDeviceSize plain_begin, plain_end;

static void plain_write(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdFillBuffer)(buffer, w.buffer, plain_begin, plain_end - plain_begin, 0);
}

static void plain_read(VkCommandBuffer buffer)
{
    const VkBufferCopy region = {plain_begin, 0, plain_end - plain_begin};
    FAKE_CALL(vkCmdCopyBuffer)(buffer, w.buffer, w.scratch, 1, &region);
}

/* The first use touches the buffer's bytes from 'begin' to before 'end'. */
static record_fn writing(VkDeviceSize first, VkDeviceSize last)
{
    plain_begin = first;
    plain_end = last;
    return plain_write;
}

static record_fn reading(VkDeviceSize first, VkDeviceSize last)
{
    writing(first, last);
    return plain_read;
}

static uint32_t plain_image;
static VkImageSubresourceRange plain_range;

static void plain_clear(VkCommandBuffer buffer)
{
    if (plain_image == DEPTH_STENCIL) {
        const VkClearDepthStencilValue value = {0};
        FAKE_CALL(vkCmdClearDepthStencilImage)
        (buffer, w.images[plain_image], VK_IMAGE_LAYOUT_GENERAL, &value, 1, &plain_range);
    } else {
        const VkClearColorValue value = {.float32 = {0}};
        FAKE_CALL(vkCmdClearColorImage)
        (buffer, w.images[plain_image], VK_IMAGE_LAYOUT_GENERAL, &value, 1, &plain_range);
    }
}

static record_fn clearing(uint32_t image, VkImageAspectFlags aspects, uint32_t mip, uint32_t layer)
{
    plain_image = image;
    plain_range = (VkImageSubresourceRange){aspects, mip, 1, layer, 1};
    return plain_clear;
}

#define COLOR VK_IMAGE_ASPECT_COLOR_BIT

/* A texel block of the plain image is read. */
static VkOffset3D plain_offset;

static void plain_texels(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, 0, 0, 1},
                                      .imageOffset = plain_offset,
                                      .imageExtent = {8, 8, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer)
    (buffer, w.images[plain_image], VK_IMAGE_LAYOUT_GENERAL, w.scratch, 1, &region);
}

static record_fn sampling(uint32_t image, int32_t x, int32_t y, int32_t z)
{
    plain_image = image;
    plain_offset = (VkOffset3D){x, y, z};
    return plain_texels;
}

/* -------------------------------------------------------------------------------------- Buffers */

static const VkBufferCopy copies[] = {{256, 0, 64}, {512, 64, 16}};

static void copy_from(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyBuffer)(buffer, w.buffer, w.other, 2, copies);
}

static void copy_to(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyBuffer)(buffer, w.other, w.buffer, 2, copies);
}

static void copy2(VkCommandBuffer buffer, VkBuffer src, VkBuffer dst)
{
    const VkBufferCopy2 regions[] = {{.srcOffset = 256, .size = 64},
                                     {.srcOffset = 512, .dstOffset = 64, .size = 16}};
    const VkCopyBufferInfo2 info = {
        .srcBuffer = src, .dstBuffer = dst, .regionCount = 2, .pRegions = regions};
    CALL2(vkCmdCopyBuffer2)(buffer, &info);
}

static void copy2_from(VkCommandBuffer buffer)
{
    copy2(buffer, w.buffer, w.other);
}

static void copy2_to(VkCommandBuffer buffer)
{
    copy2(buffer, w.other, w.buffer);
}

static void update(VkCommandBuffer buffer)
{
    static const uint32_t data[4];
    FAKE_CALL(vkCmdUpdateBuffer)(buffer, w.buffer, 128, 16, data);
}

static void fill_to_the_end(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdFillBuffer)(buffer, w.buffer, 4000, VK_WHOLE_SIZE, 0);
}

static void query(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyQueryPoolResults)
    (buffer, VK_NULL_HANDLE, 0, 3, w.buffer, 64, 32, VK_QUERY_RESULT_64_BIT);
}

static void queries_with_availability(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyQueryPoolResults)
    (buffer, VK_NULL_HANDLE, 0, 3, w.buffer, 64, 8, VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
}

static void test_copies_of_buffers(void **state)
{
    (void)state;
    EXPECT(writing(319, 320), copy_from, "reads bytes 256 to 319");
    EXPECT(writing(512, 600), copy_from, "reads bytes 512 to 527");
    EXPECT(writing(320, 512), copy_from, NULL);
    EXPECT(reading(0, 4), copy_to, "writes bytes 0 to 79");
    EXPECT(reading(80, 4096), copy_to, NULL);
    EXPECT(writing(319, 320), copy2_from, "reads bytes 256 to 319");
    EXPECT(writing(320, 512), copy2_from, NULL);
    EXPECT(reading(79, 80), copy2_to, "writes bytes 0 to 79");
    EXPECT(reading(80, 4096), copy2_to, NULL);
}

static void test_other_writes_to_buffers(void **state)
{
    (void)state;
    EXPECT(reading(143, 144), update, "writes bytes 128 to 143");
    EXPECT(reading(144, 200), update, NULL);
    EXPECT(reading(4095, 4096), fill_to_the_end, "writes bytes 4000 to 4095");
    EXPECT(reading(3000, 4000), fill_to_the_end, NULL);
    EXPECT(reading(97, 98), query, "writes bytes 96 to 103");
    EXPECT(reading(104, 128), query, NULL);
    EXPECT(reading(87, 88), queries_with_availability, "writes bytes 64 to 87");
}

/* ---------------------------------------------------------------------------------------- Draws */

static void bind_vertices(VkCommandBuffer buffer, VkDeviceSize offset)
{
    FAKE_CALL(vkCmdBindVertexBuffers)(buffer, 2, 1, &w.buffer, &offset);
}

static void draw(VkCommandBuffer buffer)
{
    bind_vertices(buffer, 1024);
    FAKE_CALL(vkCmdDraw)(buffer, 3, 1, 0, 0);
    FAKE_CALL(vkCmdDraw)(buffer, 3, 1, 0, 0);
}

static void draw_nothing(VkCommandBuffer buffer)
{
    bind_vertices(buffer, 1024);
    FAKE_CALL(vkCmdDraw)(buffer, 0, 1, 0, 0);
}

static void draw_sized(VkCommandBuffer buffer)
{
    const VkDeviceSize offset = 1024, size = 64;
    PFN_vkCmdBindVertexBuffers2 bind =
        (PFN_vkCmdBindVertexBuffers2)call2("vkCmdBindVertexBuffers2", "EXT");
    bind(buffer, 0, 1, &w.buffer, &offset, &size, NULL);
    FAKE_CALL(vkCmdDraw)(buffer, 3, 1, 0, 0);
}

static void draw_indexed(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer)(buffer, w.buffer, 100, VK_INDEX_TYPE_UINT16);
    FAKE_CALL(vkCmdDrawIndexed)(buffer, 6, 1, 10, 0, 0);
}

static void draw_indexed32(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer)(buffer, w.buffer, 100, VK_INDEX_TYPE_UINT32);
    FAKE_CALL(vkCmdDrawIndexed)(buffer, 6, 1, 10, 0, 0);
}

static void draw_indirect(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDrawIndirect)(buffer, w.buffer, 64, 3, 32);
}

static void draw_indexed_indirect(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdBindIndexBuffer)(buffer, w.buffer, 2048, VK_INDEX_TYPE_UINT16);
    FAKE_CALL(vkCmdDrawIndexedIndirect)(buffer, w.buffer, 64, 3, 32);
}

static void draw_counted(VkCommandBuffer buffer)
{
    PFN_vkCmdDrawIndirectCount call =
        (PFN_vkCmdDrawIndirectCount)call2("vkCmdDrawIndirectCount", "AMD");
    call(buffer, w.other, 0, w.buffer, 512, 10, 16);
}

static void draw_indexed_counted(VkCommandBuffer buffer)
{
    CALL2(vkCmdDrawIndexedIndirectCount)(buffer, w.other, 0, w.buffer, 512, 10, 20);
}

static void dispatch_indirect(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdDispatchIndirect)(buffer, w.buffer, 36);
}

static void test_what_draws_read(void **state)
{
    (void)state;
    EXPECT(writing(1024, 4096), draw, "reads some of bytes 1024 to 4095");
    EXPECT(writing(1024, 4095), draw, NULL); /* which vertices is not known */
    EXPECT(writing(1024, 4096), draw_nothing, NULL);
    EXPECT(writing(1000, 1088), draw_sized, "reads some of bytes 1024 to 1087");
    EXPECT(writing(131, 132), draw_indexed, "reads bytes 120 to 131");
    EXPECT(writing(132, 160), draw_indexed, NULL);
    EXPECT(writing(160, 164), draw_indexed32, "reads bytes 140 to 163");
    EXPECT(writing(100, 104), draw_indirect, "reads bytes 96 to 111");
    EXPECT(writing(80, 96), draw_indirect, NULL);
    EXPECT(writing(83, 84), draw_indexed_indirect, "reads bytes 64 to 83");
    EXPECT(writing(84, 96), draw_indexed_indirect, NULL);
    EXPECT(writing(2048, 4096), draw_indexed_indirect, "reads some of bytes 2048 to 4095");
    EXPECT(writing(512, 516), draw_counted, "reads bytes 512 to 515");
    EXPECT(writing(512, 516), draw_indexed_counted, "reads bytes 512 to 515");
    EXPECT(writing(47, 48), dispatch_indirect, "reads bytes 36 to 47");
}

/* ------------------------------------------------------------------- Between buffers and images */

static VkBufferImageCopy texels;
static uint32_t texel_image;

static void upload(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyBufferToImage)
    (buffer, w.buffer, w.images[texel_image], VK_IMAGE_LAYOUT_GENERAL, 1, &texels);
}

static void download(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdCopyImageToBuffer)
    (buffer, w.images[texel_image], VK_IMAGE_LAYOUT_GENERAL, w.buffer, 1, &texels);
}

static VkBufferImageCopy2 texels2(void)
{
    return (VkBufferImageCopy2){.bufferOffset = texels.bufferOffset,
                                .bufferRowLength = texels.bufferRowLength,
                                .bufferImageHeight = texels.bufferImageHeight,
                                .imageSubresource = texels.imageSubresource,
                                .imageOffset = texels.imageOffset,
                                .imageExtent = texels.imageExtent};
}

static void upload2(VkCommandBuffer buffer)
{
    const VkBufferImageCopy2 region = texels2();
    const VkCopyBufferToImageInfo2 info = {.srcBuffer = w.buffer,
                                           .dstImage = w.images[texel_image],
                                           .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                           .regionCount = 1,
                                           .pRegions = &region};
    CALL2(vkCmdCopyBufferToImage2)(buffer, &info);
}

static void download2(VkCommandBuffer buffer)
{
    const VkBufferImageCopy2 region = texels2();
    const VkCopyImageToBufferInfo2 info = {.srcImage = w.images[texel_image],
                                           .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                           .dstBuffer = w.buffer,
                                           .regionCount = 1,
                                           .pRegions = &region};
    CALL2(vkCmdCopyImageToBuffer2)(buffer, &info);
}

/* 'what' with that region of that image, mip level 1 of layers 1 and on. */
static record_fn with(record_fn what, uint32_t image, VkImageAspectFlags aspect, uint32_t layers,
                      uint32_t row, uint32_t height, VkExtent3D extent)
{
    texel_image = image;
    texels = (VkBufferImageCopy){
        16, row, height, {aspect, 1, image == VOLUME ? 0 : 1, layers}, {4, 0, 0}, extent};
    return what;
}

#define EXTENT(x, y, z) ((VkExtent3D){x, y, z})

static void test_bytes_beside_images(void **state)
{
    (void)state;
    EXPECT(writing(143, 144), with(upload, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads bytes 16 to 143");
    EXPECT(writing(144, 200), with(upload, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)), NULL);
    /* Rows of 32 bytes, 64 apart. */
    EXPECT(writing(80, 81), with(upload, PLAIN, COLOR, 1, 16, 0, EXTENT(8, 4, 1)),
           "reads bytes 80 to 111");
    EXPECT(writing(48, 80), with(upload, PLAIN, COLOR, 1, 16, 0, EXTENT(8, 4, 1)), NULL);
    /* Two layers of 128 bytes, 256 apart. */
    EXPECT(reading(272, 273), with(download, PLAIN, COLOR, 2, 0, 8, EXTENT(8, 4, 1)),
           "writes bytes 272 to 399");
    EXPECT(reading(144, 272), with(download, PLAIN, COLOR, 2, 0, 8, EXTENT(8, 4, 1)), NULL);
    EXPECT(reading(399, 400),
           with(download, PLAIN, COLOR, VK_REMAINING_ARRAY_LAYERS, 0, 8, EXTENT(8, 4, 1)),
           "writes bytes 272 to 399");
    EXPECT(reading(47, 48), with(download, COMPRESSED, COLOR, 1, 0, 0, EXTENT(8, 6, 1)),
           "writes bytes 16 to 47");
    EXPECT(reading(48, 49), with(download, COMPRESSED, COLOR, 1, 0, 0, EXTENT(8, 6, 1)), NULL);
    EXPECT(reading(79, 80),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           "writes bytes 16 to 79");
    EXPECT(reading(32, 80),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           NULL);
    EXPECT(reading(79, 80), with(download, VOLUME, COLOR, 1, 0, 0, EXTENT(4, 4, 4)),
           "writes bytes 16 to 79");
    /* How much that takes is not known: some of what follows. */
    EXPECT(reading(16, 4096),
           with(download, PLANAR, VK_IMAGE_ASPECT_PLANE_0_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           "writes some of bytes 16 to 4095");
    EXPECT(reading(16, 4095),
           with(download, PLANAR, VK_IMAGE_ASPECT_PLANE_0_BIT, 1, 0, 0, EXTENT(4, 4, 1)), NULL);
    EXPECT(writing(143, 144), with(upload2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads bytes 16 to 143");
    EXPECT(reading(143, 144), with(download2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "writes bytes 16 to 143");
}

static void test_texels_beside_buffers(void **state)
{
    (void)state;
    record_fn first = clearing(PLAIN, COLOR, 1, 1);
    EXPECT(first, with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layer 1, texels (4, 0) to (11, 3)");
    EXPECT(first, with(download2, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layer 1, texels (4, 0) to (11, 3)");
    EXPECT(clearing(PLAIN, COLOR, 0, 1), with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           NULL);
    EXPECT(clearing(PLAIN, COLOR, 1, 0), with(download, PLAIN, COLOR, 1, 0, 0, EXTENT(8, 4, 1)),
           NULL);
    EXPECT(clearing(PLAIN, COLOR, 1, 2),
           with(download, PLAIN, COLOR, VK_REMAINING_ARRAY_LAYERS, 0, 0, EXTENT(8, 4, 1)),
           "reads mip level 1, layers from 1, texels");
    EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 1, 1),
           with(download, DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 1, 0, 0, EXTENT(4, 4, 1)),
           NULL);
}

/* ------------------------------------------------------------------------- Images beside images */

static const VkImageSubresourceLayers base = {COLOR, 0, 0, 1};

static void image_copy(VkCommandBuffer buffer)
{
    const VkImageCopy region = {base, {0, 0, 0}, base, {16, 0, 0}, {8, 8, 1}};
    FAKE_CALL(vkCmdCopyImage)
    (buffer, w.images[OTHER], VK_IMAGE_LAYOUT_GENERAL, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1,
     &region);
}

static void image_copy2(VkCommandBuffer buffer)
{
    const VkImageCopy2 region = {.srcSubresource = base,
                                 .dstSubresource = base,
                                 .dstOffset = {16, 0, 0},
                                 .extent = {8, 8, 1}};
    const VkCopyImageInfo2 info = {.srcImage = w.images[OTHER],
                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .dstImage = w.images[PLAIN],
                                   .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .regionCount = 1,
                                   .pRegions = &region};
    CALL2(vkCmdCopyImage2)(buffer, &info);
}

static void resolve(VkCommandBuffer buffer)
{
    const VkImageResolve region = {base, {0, 0, 0}, base, {16, 0, 0}, {8, 8, 1}};
    FAKE_CALL(vkCmdResolveImage)
    (buffer, w.images[OTHER], VK_IMAGE_LAYOUT_GENERAL, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1,
     &region);
}

static void resolve2(VkCommandBuffer buffer)
{
    const VkImageResolve2 region = {.srcSubresource = base,
                                    .dstSubresource = base,
                                    .dstOffset = {16, 0, 0},
                                    .extent = {8, 8, 1}};
    const VkResolveImageInfo2 info = {.srcImage = w.images[OTHER],
                                      .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                      .dstImage = w.images[PLAIN],
                                      .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                      .regionCount = 1,
                                      .pRegions = &region};
    CALL2(vkCmdResolveImage2)(buffer, &info);
}

/* Mirrored: its corners are the wrong way round. */
static void blit(VkCommandBuffer buffer)
{
    const VkImageBlit region = {base, {{0, 0, 0}, {8, 8, 1}}, base, {{24, 8, 0}, {16, 0, 1}}};
    FAKE_CALL(vkCmdBlitImage)
    (buffer, w.images[OTHER], VK_IMAGE_LAYOUT_GENERAL, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, 1,
     &region, VK_FILTER_NEAREST);
}

static void blit2(VkCommandBuffer buffer)
{
    const VkImageBlit2 region = {.srcSubresource = base,
                                 .srcOffsets = {{0, 0, 0}, {8, 8, 1}},
                                 .dstSubresource = base,
                                 .dstOffsets = {{24, 8, 0}, {16, 0, 1}}};
    const VkBlitImageInfo2 info = {.srcImage = w.images[OTHER],
                                   .srcImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .dstImage = w.images[PLAIN],
                                   .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                   .regionCount = 1,
                                   .pRegions = &region};
    CALL2(vkCmdBlitImage2)(buffer, &info);
}

static void clear(VkCommandBuffer buffer)
{
    const VkClearColorValue value = {.float32 = {0}};
    const VkImageSubresourceRange range = {COLOR, 2, VK_REMAINING_MIP_LEVELS, 1, 2};
    FAKE_CALL(vkCmdClearColorImage)
    (buffer, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, &value, 1, &range);
}

static void read_mip(VkCommandBuffer buffer, uint32_t mip, uint32_t layer)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, mip, layer, 1},
                                      .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer)
    (buffer, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, w.scratch, 1, &region);
}

static void read_mip_3(VkCommandBuffer buffer)
{
    read_mip(buffer, 3, 2);
}

static void read_mip_1(VkCommandBuffer buffer)
{
    read_mip(buffer, 1, 2);
}

static void test_images_beside_images(void **state)
{
    (void)state;
    const record_fn writers[] = {image_copy, image_copy2, resolve, resolve2, blit, blit2};
    for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
        EXPECT(sampling(PLAIN, 23, 7, 0), writers[i],
               "writes mip level 0, layer 0, texels (16, 0) to (23, 7)");
        EXPECT(sampling(PLAIN, 24, 0, 0), writers[i], NULL);
        EXPECT(sampling(PLAIN, 16, 8, 0), writers[i], NULL);
        EXPECT(clearing(OTHER, COLOR, 0, 0), writers[i],
               "reads mip level 0, layer 0, texels (0, 0) to (7, 7)");
    }
    EXPECT(read_mip_3, clear, "writes mip levels from 2, layers 1 to 2");
    EXPECT(read_mip_1, clear, NULL);
}

static void volume_write(VkCommandBuffer buffer)
{
    const VkImageCopy region = {
        {COLOR, 0, 0, 1}, {0, 0, 4}, {COLOR, 0, 0, 1}, {0, 0, 4}, {8, 8, 4}};
    FAKE_CALL(vkCmdCopyImage)
    (buffer, w.images[OTHER], VK_IMAGE_LAYOUT_GENERAL, w.images[VOLUME], VK_IMAGE_LAYOUT_GENERAL, 1,
     &region);
}

/* ------------------------------------------------------------------------------- Render passes */

static VkAttachmentLoadOp pass_load;
static VkImageLayout pass_initial, pass_final, pass_layout;
static VkImageView pass_view;
static bool pass_imageless, pass_as_input, pass_as_depth, pass_unused;

static VkRenderPass make_pass(bool newer)
{
    VkRenderPass pass;
    VkFormat format = pass_as_depth ? VK_FORMAT_D24_UNORM_S8_UINT : VK_FORMAT_R8G8B8A8_UNORM;
    uint32_t colors = !pass_as_input && !pass_as_depth && !pass_unused;
    if (newer) {
        const VkAttachmentDescription2 attachment = {.format = format,
                                                     .loadOp = pass_load,
                                                     .stencilLoadOp = pass_load,
                                                     .initialLayout = pass_initial,
                                                     .finalLayout = pass_final};
        const VkAttachmentReference2 reference = {.attachment = 0, .layout = pass_layout};
        const VkSubpassDescription2 subpass = {
            .inputAttachmentCount = pass_as_input,
            .pInputAttachments = &reference,
            .colorAttachmentCount = colors,
            .pColorAttachments = &reference,
            .pDepthStencilAttachment = pass_as_depth ? &reference : NULL,
        };
        const VkRenderPassCreateInfo2 info = {.attachmentCount = 1,
                                              .pAttachments = &attachment,
                                              .subpassCount = 1,
                                              .pSubpasses = &subpass};
        assert_int_equal(CALL2(vkCreateRenderPass2)(fake.device, &info, NULL, &pass), VK_SUCCESS);
    } else {
        const VkAttachmentDescription attachment = {.format = format,
                                                    .loadOp = pass_load,
                                                    .stencilLoadOp = pass_load,
                                                    .initialLayout = pass_initial,
                                                    .finalLayout = pass_final};
        const VkAttachmentReference reference = {.attachment = 0, .layout = pass_layout};
        const VkSubpassDescription subpass = {
            .inputAttachmentCount = pass_as_input,
            .pInputAttachments = &reference,
            .colorAttachmentCount = colors,
            .pColorAttachments = &reference,
            .pDepthStencilAttachment = pass_as_depth ? &reference : NULL,
        };
        const VkRenderPassCreateInfo info = {.attachmentCount = 1,
                                             .pAttachments = &attachment,
                                             .subpassCount = 1,
                                             .pSubpasses = &subpass};
        assert_int_equal(FAKE_CALL(vkCreateRenderPass)(fake.device, &info, NULL, &pass),
                         VK_SUCCESS);
    }
    return pass;
}

static void begin_pass(VkCommandBuffer buffer, bool newer)
{
    uint32_t image = pass_as_depth ? DEPTH_STENCIL : PLAIN;
    pass_view = make_view(image, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D);
    const VkFramebufferCreateInfo info = {
        .flags = pass_imageless ? VK_FRAMEBUFFER_CREATE_IMAGELESS_BIT : 0,
        .attachmentCount = 1,
        .pAttachments = pass_imageless ? NULL : &pass_view,
    };
    const VkRenderPassAttachmentBeginInfo late = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO,
        .attachmentCount = 1,
        .pAttachments = &pass_view,
    };
    VkRenderPassBeginInfo begin_info = {.pNext = pass_imageless ? &late : NULL,
                                        .renderPass = make_pass(newer),
                                        .renderArea = {{8, 8}, {16, 16}}};
    assert_int_equal(
        FAKE_CALL(vkCreateFramebuffer)(fake.device, &info, NULL, &begin_info.framebuffer),
        VK_SUCCESS);
    if (newer)
        CALL2(vkCmdBeginRenderPass2)(buffer, &begin_info, NULL);
    else
        FAKE_CALL(vkCmdBeginRenderPass)(buffer, &begin_info, VK_SUBPASS_CONTENTS_INLINE);
    FAKE_CALL(vkDestroyFramebuffer)(fake.device, begin_info.framebuffer, NULL);
    FAKE_CALL(vkDestroyRenderPass)(fake.device, begin_info.renderPass, NULL);
    FAKE_CALL(vkDestroyImageView)(fake.device, pass_view, NULL);
}

static void pass1(VkCommandBuffer buffer)
{
    begin_pass(buffer, false);
}

static void pass2(VkCommandBuffer buffer)
{
    begin_pass(buffer, true);
}

static void set_pass(VkAttachmentLoadOp load, VkImageLayout layout)
{
    pass_load = load;
    pass_initial = pass_final = pass_layout = layout;
    pass_imageless = pass_as_input = pass_as_depth = pass_unused = false;
}

static void read_layer_1(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {
        .imageSubresource = {COLOR, 0, 1, 1}, .imageOffset = {23, 23, 0}, .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer)
    (buffer, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, w.scratch, 1, &region);
}

static void read_layer_1_outside(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {
        .imageSubresource = {COLOR, 0, 1, 1}, .imageOffset = {24, 8, 0}, .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer)
    (buffer, w.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL, w.scratch, 1, &region);
}

static void test_render_passes(void **state)
{
    (void)state;
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    const char *const part = "mip level 0, layer 1, texels (8, 8) to (23, 23)";
    char writes[128], reads[128];
    snprintf(writes, sizeof(writes), "writes %s", part);
    snprintf(reads, sizeof(reads), "reads %s", part);
    const record_fn passes[] = {pass1, pass2};
    for (int i = 0; i < 2; i++) {
        set_pass(VK_ATTACHMENT_LOAD_OP_CLEAR, general);
        EXPECT(read_layer_1, passes[i], writes);
        EXPECT(read_layer_1_outside, passes[i], NULL);
        pass_imageless = true;
        EXPECT(read_layer_1, passes[i], writes);
        set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, general);
        EXPECT(read_layer_1, passes[i], writes);
        pass_as_input = true;
        EXPECT(read_layer_1, passes[i], NULL);
        EXPECT(clearing(PLAIN, COLOR, 0, 1), passes[i], reads);
        set_pass(VK_ATTACHMENT_LOAD_OP_CLEAR, general);
        pass_unused = true;
        EXPECT(read_layer_1, passes[i], NULL);
        /* A layout is changed as a whole. */
        pass_final = VK_IMAGE_LAYOUT_PRESENT_SRC_KHR;
        EXPECT(read_layer_1_outside, passes[i], "writes mip level 0, layer 1 in packet 1");
        set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, general);
        pass_as_depth = true;
        EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1), passes[i], writes);
        pass_layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL;
        EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_STENCIL_BIT, 0, 1), passes[i], reads);
    }
}

static VkAttachmentLoadOp rendering_load;
static VkImageLayout rendering_layout;
static uint32_t rendering_image;
static bool rendering_resolves;

static void rendering(VkCommandBuffer buffer)
{
    VkRenderingAttachmentInfo attachment = {
        .imageView = make_view(rendering_image, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D),
        .imageLayout = rendering_layout,
        .loadOp = rendering_load,
    };
    if (rendering_resolves) {
        attachment.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
        attachment.resolveImageView = attachment.imageView;
        attachment.resolveImageLayout = rendering_layout;
        attachment.imageView = make_view(OTHER, 0, 1, 1, VK_IMAGE_VIEW_TYPE_2D);
    }
    bool depth = rendering_image == DEPTH_STENCIL;
    const VkRenderingInfo info = {.renderArea = {{8, 8}, {16, 16}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = !depth,
                                  .pColorAttachments = &attachment,
                                  .pDepthAttachment = depth ? &attachment : NULL};
    CALL2(vkCmdBeginRendering)(buffer, &info);
}

/* Slices of a 3D image as layers. */
static void rendering_slices(VkCommandBuffer buffer)
{
    const VkRenderingAttachmentInfo attachment = {
        .imageView = make_view(VOLUME, 0, 6, 1, VK_IMAGE_VIEW_TYPE_2D),
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
    };
    const VkRenderingInfo info = {.renderArea = {{0, 0}, {16, 16}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &attachment};
    CALL2(vkCmdBeginRendering)(buffer, &info);
}

static void test_dynamic_rendering(void **state)
{
    (void)state;
    rendering_image = PLAIN;
    rendering_layout = VK_IMAGE_LAYOUT_GENERAL;
    rendering_load = VK_ATTACHMENT_LOAD_OP_LOAD;
    EXPECT(read_layer_1, rendering, "writes mip level 0, layer 1, texels (8, 8) to (23, 23)");
    EXPECT(read_layer_1_outside, rendering, NULL);
    rendering_resolves = true;
    EXPECT(read_layer_1, rendering, "writes mip level 0, layer 1, texels (8, 8) to (23, 23)");
    EXPECT(clearing(OTHER, COLOR, 0, 1), rendering, "writes mip level 0, layer 1");
    rendering_resolves = false;
    rendering_image = DEPTH_STENCIL;
    EXPECT(clearing(DEPTH_STENCIL, VK_IMAGE_ASPECT_DEPTH_BIT, 0, 1), rendering, "writes mip");
    EXPECT(volume_write, rendering_slices,
           "writes mip level 0, layers from 0, texels (0, 0) to (15, 15), slice 6");
    EXPECT(sampling(VOLUME, 0, 0, 7), rendering_slices, NULL);
    EXPECT(sampling(VOLUME, 0, 0, 6), rendering_slices, "writes mip level 0");
}

/* ------------------------------------------------------------------------ Barriers and layouts */

static VkImageLayout barrier_old, barrier_new;
static uint32_t barrier_from, barrier_to;
static int barrier_form;

static void barrier(VkCommandBuffer buffer)
{
    const VkImageMemoryBarrier older = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                        .oldLayout = barrier_old,
                                        .newLayout = barrier_new,
                                        .srcQueueFamilyIndex = barrier_from,
                                        .dstQueueFamilyIndex = barrier_to,
                                        .image = w.images[PLAIN],
                                        .subresourceRange = {COLOR, 0, 1, 1, 1}};
    const VkImageMemoryBarrier2 newer = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                         .oldLayout = barrier_old,
                                         .newLayout = barrier_new,
                                         .srcQueueFamilyIndex = barrier_from,
                                         .dstQueueFamilyIndex = barrier_to,
                                         .image = w.images[PLAIN],
                                         .subresourceRange = {COLOR, 0, 1, 1, 1}};
    const VkDependencyInfo info = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                   .imageMemoryBarrierCount = 1,
                                   .pImageMemoryBarriers = &newer};
    const VkEvent event = VK_NULL_HANDLE;
    switch (barrier_form) {
    case 0:
        FAKE_CALL(vkCmdPipelineBarrier)(buffer, 1, 1, 0, 0, NULL, 0, NULL, 1, &older);
        break;
    case 1:
        CALL2(vkCmdPipelineBarrier2)(buffer, &info);
        break;
    case 2:
        FAKE_CALL(vkCmdWaitEvents)(buffer, 1, &event, 1, 1, 0, NULL, 0, NULL, 1, &older);
        break;
    case 3:
        CALL2(vkCmdWaitEvents2)(buffer, 1, &event, &info);
        break;
    }
}

static record_fn changing(VkImageLayout from, VkImageLayout to)
{
    barrier_old = from;
    barrier_new = to;
    barrier_from = barrier_to = VK_QUEUE_FAMILY_IGNORED;
    return barrier;
}

static void test_barriers_that_change_layouts_write(void **state)
{
    (void)state;
    for (barrier_form = 0; barrier_form < 4; barrier_form++) {
        EXPECT(read_layer_1,
               changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL),
               "writes mip level 0, layer 1 in packet 1");
        EXPECT(read_layer_1, changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_GENERAL), NULL);
        EXPECT(read_mip_1,
               changing(VK_IMAGE_LAYOUT_GENERAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL), NULL);
    }
}

/* What the host orders by setting an event is not seen, so nothing is said of such a command
 * buffer. */
static void wait_for_host(VkCommandBuffer buffer)
{
    const VkEvent event = VK_NULL_HANDLE;
    plain_write(buffer);
    FAKE_CALL(vkCmdWaitEvents)
    (buffer, 1, &event, VK_PIPELINE_STAGE_HOST_BIT, 1, 0, NULL, 0, NULL, 0, NULL);
    plain_write(buffer);
}

static void wait_for_host2(VkCommandBuffer buffer)
{
    const VkEvent event = VK_NULL_HANDLE;
    const VkMemoryBarrier2 memory = {.srcStageMask = VK_PIPELINE_STAGE_2_HOST_BIT};
    const VkDependencyInfo info = {.memoryBarrierCount = 1, .pMemoryBarriers = &memory};
    plain_write(buffer);
    CALL2(vkCmdWaitEvents2)(buffer, 1, &event, &info);
    plain_write(buffer);
}

static void test_waits_for_the_host_are_left_out(void **state)
{
    (void)state;
    EXPECT(writing(0, 64), wait_for_host, NULL);
    EXPECT(writing(0, 64), wait_for_host2, NULL);
    EXPECT(writing(0, 64), plain_write, "writes bytes 0 to 63");
}

/* The image, in one layout on the copy queue, then in one on the graphics queue, in order. */
static VkImageLayout first_layout, second_layout;

static void upload_in(VkCommandBuffer buffer, VkImageLayout layout)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, 0, 1, 1},
                                      .imageExtent = {64, 64, 1}};
    FAKE_CALL(vkCmdCopyBufferToImage)(buffer, w.scratch, w.images[PLAIN], layout, 1, &region);
}

static void upload_first(VkCommandBuffer buffer)
{
    upload_in(buffer, first_layout);
}

static void upload_second(VkCommandBuffer buffer)
{
    upload_in(buffer, second_layout);
}

static void release(VkCommandBuffer buffer)
{
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier_from = COPY;
    barrier_to = GRAPHICS;
    barrier(buffer);
}

static void acquire(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier_from = COPY;
    barrier_to = GRAPHICS;
    barrier(buffer);
    changing(VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    barrier(buffer);
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
}

static void transfer_dst_to_shader_read(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    barrier(buffer);
}

static void discard(VkCommandBuffer buffer)
{
    changing(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    barrier(buffer);
    upload_in(buffer, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
}

static void expect_state(const char *test, record_fn first, record_fn second, const char *text)
{
    char line[1024];
    open_world();
    uint32_t count = run(first, second, true, line, sizeof(line));
    close_world();
    if (count != (text != NULL) || (text && !strstr(line, text)))
        fail_msg("%s: %u lines: %s", test, count, line);
}
#define EXPECT_STATE(first, second, text) expect_state(#first " " #second, first, second, text)

static void test_layouts_across_type_classes(void **state)
{
    (void)state;
    const VkImageLayout copy = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                        general = VK_IMAGE_LAYOUT_GENERAL;
    barrier_form = 0;
    first_layout = second_layout = copy;
    EXPECT_STATE(upload_first, upload_second,
                 "image 'it': queue 'graphics' (compute/3D) uses it in COPY_DEST in packet 1 "
                 "(vkCmdCopyBufferToImage), and queue 'copy' (copy) had it in COPY_DEST in "
                 "packet 1");
    EXPECT_STATE(upload_first, transfer_dst_to_shader_read, "in COPY_DEST in packet 1");
    EXPECT_STATE(upload_first, discard, NULL);
    first_layout = general;
    EXPECT_STATE(upload_first, upload_second, NULL);
    first_layout = copy;
    second_layout = general;
    EXPECT_STATE(upload_first, upload_second, NULL);
    for (barrier_form = 0; barrier_form < 2; barrier_form++)
        EXPECT_STATE(release, acquire, NULL);
    set_pass(VK_ATTACHMENT_LOAD_OP_LOAD, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL);
    EXPECT_STATE(upload_first, pass1,
                 "uses it in a state of 3D and compute queues in packet 1 (vkCmdBeginRenderPass)");
    pass_initial = VK_IMAGE_LAYOUT_UNDEFINED;
    EXPECT_STATE(upload_first, pass1, NULL);
    rendering_image = PLAIN;
    rendering_layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    EXPECT_STATE(upload_first, rendering, "(vkCmdBeginRendering)");
}

/* --------------------------------------------------------------------------- Command buffers */

static VkCommandBuffer make_secondary(record_fn what)
{
    VkCommandBuffer buffer = allocate(GRAPHICS, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(FAKE_CALL(vkBeginCommandBuffer)(buffer, &info), VK_SUCCESS);
    what(buffer);
    end(buffer);
    return buffer;
}

static void secondaries(VkCommandBuffer buffer)
{
    const VkCommandBuffer list[] = {make_secondary(update), make_secondary(copy_from)};
    FAKE_CALL(vkCmdExecuteCommands)(buffer, 2, list);
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, w.pools[GRAPHICS], 2, list);
}

static void test_secondary_command_buffers(void **state)
{
    (void)state;
    EXPECT(writing(319, 320), secondaries, "writes bytes 128 to 143"); /* two writers */
    EXPECT(reading(140, 141), secondaries, "writes bytes 128 to 143");
    EXPECT(reading(200, 256), secondaries, NULL);
}

static void nothing(VkCommandBuffer buffer)
{
    (void)buffer;
}

static void test_recording_anew(void **state)
{
    (void)state;
    char line[1024];
    open_world();
    VkCommandBuffer a = begin(COPY), b = begin(GRAPHICS);
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    writing(0, 64)(a);
    end(a);
    bind_vertices(b, 0);
    writing(0, 64)(b);
    end(b);
    FAKE_CALL(vkBeginCommandBuffer)(b, &info); /* forgets, bindings too */
    FAKE_CALL(vkCmdDraw)(b, 3, 1, 0, 0);
    end(b);
    lines_begin();
    submit(COPY, VK_NULL_HANDLE, 0, a, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    submit(GRAPHICS, VK_NULL_HANDLE, 0, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    assert_int_equal(lines_end(line, sizeof(line)), 0);
    /* What was submitted stays, whatever becomes of the command buffer. */
    FAKE_CALL(vkFreeCommandBuffers)(fake.device, w.pools[COPY], 1, &a);
    FAKE_CALL(vkDestroyCommandPool)(fake.device, w.pools[GRAPHICS], NULL);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    FAKE_CALL(vkCreateCommandPool)(fake.device, &pool, NULL, &w.pools[GRAPHICS]);
    b = begin(GRAPHICS);
    reading(0, 64)(b);
    end(b);
    lines_begin();
    submit(GRAPHICS, VK_NULL_HANDLE, 0, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    assert_int_equal(lines_end(line, sizeof(line)), 1);
    assert_non_null(strstr(line, "queue 'copy' may write bytes 0 to 63 in packet 1"));
    close_world();
    EXPECT(writing(0, 64), nothing, NULL);
}

/* ----------------------------------------------------------------------------- Ways to wait */

static VkSemaphore way_binary;
static VkFence way_fence;

/* Between a write of the copy queue and a read of the graphics queue. */
enum way {
    BY_NOTHING,
    BY_TIMELINE,
    BY_BINARY,
    BY_OLDER_SUBMIT,
    BY_FENCE_WAIT,
    BY_FENCE_STATUS,
    BY_FENCE_RESET, /* before it is waited for: by nothing */
    BY_QUEUE_IDLE,
    BY_DEVICE_IDLE,
    BY_SEMAPHORE_WAIT,
    BY_SEMAPHORE_WAIT_ANY, /* which one isn't told: by nothing */
    BY_COUNTER,
    BY_HOST_SIGNAL, /* of one who knows nothing */
    BY_PRESENTING,
    BY_PRESENTING2,
    BY_EMPTY_SUBMIT, /* one that carries the fence alone */
    BY_SPARSE,
    BY_EXPORT,
    WAYS,
};

static void submit_older(uint32_t queue, VkSemaphore wait, VkCommandBuffer buffer,
                         VkSemaphore signal)
{
    const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .waitSemaphoreCount = wait != VK_NULL_HANDLE,
                               .pWaitSemaphores = &wait,
                               .pWaitDstStageMask = &stages,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = signal != VK_NULL_HANDLE,
                               .pSignalSemaphores = &signal};
    assert_int_equal(FAKE_CALL(vkQueueSubmit)(w.queues[queue], 1, &info, VK_NULL_HANDLE),
                     VK_SUCCESS);
}

static void present_and_acquire(bool newer, VkSemaphore acquired)
{
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR};
    VkSwapchainKHR swapchain;
    uint32_t index = 0;
    assert_int_equal(FAKE_CALL(vkCreateSwapchainKHR)(fake.device, &info, NULL, &swapchain),
                     VK_SUCCESS);
    const VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                      .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &way_binary,
                                      .swapchainCount = 1,
                                      .pSwapchains = &swapchain,
                                      .pImageIndices = &index};
    FAKE_CALL(vkQueuePresentKHR)(w.queues[COPY], &present);
    const VkAcquireNextImageInfoKHR next = {
        .sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR,
        .swapchain = swapchain,
        .semaphore = acquired,
    };
    if (newer)
        FAKE_CALL(vkAcquireNextImage2KHR)(fake.device, &next, &index);
    else
        FAKE_CALL(vkAcquireNextImageKHR)
    (fake.device, swapchain, UINT64_MAX, acquired, VK_NULL_HANDLE, &index);
    FAKE_CALL(vkDestroySwapchainKHR)(fake.device, swapchain, NULL);
}

/* The lines it brings. */
static uint32_t run_way(enum way way, char *line, size_t size)
{
    VkCommandBuffer a = begin(COPY), b = begin(GRAPHICS);
    writing(0, 64)(a);
    end(a);
    reading(0, 64)(b);
    end(b);
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    FAKE_CALL(vkCreateFence)(fake.device, &fence_info, NULL, &way_fence);
    way_binary = make_semaphore(false);
    VkSemaphore second = make_semaphore(false), other = make_semaphore(true);
    const uint64_t one = 1, values[] = {1, 1};
    const VkSemaphore both[] = {w.timeline, other};
    VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = both,
                                .pValues = values};
    bool fenced = way == BY_FENCE_WAIT || way == BY_FENCE_STATUS || way == BY_FENCE_RESET;
    bool binary = way == BY_BINARY || way == BY_PRESENTING || way == BY_PRESENTING2;
    counter = 0;
    lines_begin();
    if (way == BY_OLDER_SUBMIT) {
        submit_older(COPY, VK_NULL_HANDLE, a, way_binary);
        submit_older(GRAPHICS, way_binary, b, VK_NULL_HANDLE);
        return lines_end(line, size);
    }
    submit(COPY, VK_NULL_HANDLE, 0, a, binary ? way_binary : w.timeline, 1,
           fenced ? way_fence : VK_NULL_HANDLE);
    counter = 1;
    VkSemaphore then = VK_NULL_HANDLE;
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = other, .value = 1};
    const VkBindSparseInfo sparse = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                     .signalSemaphoreCount = 1,
                                     .pSignalSemaphores = &second};
    const VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                         .semaphore = other,
                                         .handleType =
                                             VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    int fd;
    switch (way) {
    case BY_TIMELINE:
        then = w.timeline;
        break;
    case BY_BINARY:
        then = way_binary;
        break;
    case BY_FENCE_RESET:
        FAKE_CALL(vkResetFences)(fake.device, 1, &way_fence);
        FAKE_CALL(vkWaitForFences)(fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_FENCE_WAIT:
        FAKE_CALL(vkWaitForFences)(fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_FENCE_STATUS:
        FAKE_CALL(vkGetFenceStatus)(fake.device, way_fence);
        break;
    case BY_EMPTY_SUBMIT:
        CALL2(vkQueueSubmit2)(w.queues[COPY], 0, NULL, way_fence);
        FAKE_CALL(vkWaitForFences)(fake.device, 1, &way_fence, VK_TRUE, UINT64_MAX);
        break;
    case BY_QUEUE_IDLE:
        FAKE_CALL(vkQueueWaitIdle)(w.queues[COPY]);
        break;
    case BY_DEVICE_IDLE:
        FAKE_CALL(vkDeviceWaitIdle)(fake.device);
        break;
    case BY_SEMAPHORE_WAIT:
        CALL2(vkWaitSemaphores)(fake.device, &wait, UINT64_MAX);
        break;
    case BY_SEMAPHORE_WAIT_ANY:
        wait.flags = VK_SEMAPHORE_WAIT_ANY_BIT;
        wait.semaphoreCount = 2;
        CALL2(vkWaitSemaphores)(fake.device, &wait, UINT64_MAX);
        break;
    case BY_COUNTER: {
        uint64_t value;
        CALL2(vkGetSemaphoreCounterValue)(fake.device, w.timeline, &value);
        assert_int_equal(value, one);
        break;
    }
    case BY_HOST_SIGNAL:
        CALL2(vkSignalSemaphore)(fake.device, &signal);
        then = other;
        break;
    case BY_PRESENTING:
    case BY_PRESENTING2:
        present_and_acquire(way == BY_PRESENTING2, second);
        then = second;
        break;
    case BY_SPARSE:
        FAKE_CALL(vkQueueBindSparse)(w.queues[COPY], 1, &sparse, VK_NULL_HANDLE);
        then = second;
        break;
    case BY_EXPORT: /* others may have signalled it, whenever */
        FAKE_CALL(vkGetSemaphoreFdKHR)(fake.device, &get, &fd);
        CALL2(vkSignalSemaphore)(fake.device, &signal);
        then = other;
        break;
    default:
        break;
    }
    submit(GRAPHICS, then, 1, b, VK_NULL_HANDLE, 0, VK_NULL_HANDLE);
    return lines_end(line, size);
}

static void test_ways_to_wait(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        bool orders = way != BY_NOTHING && way != BY_FENCE_RESET && way != BY_SEMAPHORE_WAIT_ANY &&
                      way != BY_HOST_SIGNAL;
        char line[1024];
        open_world();
        uint32_t count = run_way(way, line, sizeof(line));
        if (count != !orders)
            fail_msg("way %d: %u lines: %s", (int)way, count, line);
        FAKE_CALL(vkDestroyFence)(fake.device, way_fence, NULL);
        FAKE_CALL(vkDestroySemaphore)(fake.device, way_binary, NULL);
        close_world();
    }
}

/* A call that fails was told, and hasn't come about: what follows isn't known any more. */
static VkResult VKAPI_CALL failing_submit(VkQueue queue, uint32_t count, const VkSubmitInfo2 *infos,
                                          VkFence fence)
{
    (void)queue, (void)count, (void)infos, (void)fence;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void test_a_failed_submission_ends_the_check(void **state)
{
    (void)state;
    char line[1024];
    open_world();
    fake_close_device();
    OVERRIDE2(vkQueueSubmit2, failing_submit);
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    lines_begin();
    assert_int_equal(fake_device(&info), VK_SUCCESS);
    VkQueue handle;
    FAKE_CALL(vkGetDeviceQueue)(fake.device, 0, 0, &handle);
    const VkSubmitInfo2 batch = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2};
    assert_int_equal(CALL2(vkQueueSubmit2)(handle, 1, &batch, VK_NULL_HANDLE),
                     VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(lines_end(line, sizeof(line)), 2);
    assert_string_equal(line, "belfry: access: the check ends: vkQueueSubmit2 has failed\n");
    fake_close();
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
}

/* With the setting off no command is stood in for on its account. */
static void test_off_costs_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {
        "vkCmdDraw",          "vkCmdCopyBuffer",   "vkCmdBeginRendering",   "vkBeginCommandBuffer",
        "vkEndCommandBuffer", "vkCreateImageView", "vkCmdBindVertexBuffers"};
    const uint32_t counts[] = {1, 1, 0};
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "off", 1);
    for (int on = 0; on < 2; on++) {
        if (on)
            setenv("VK_BELFRY_MULTI_ENGINE_CHECK", "access", 1);
        lines_begin();
        fake_open(&driver, counts);
        lines_end(NULL, 0);
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            bool ours = fake_command(names[i]) != fake_stub();
            if (ours != on)
                fail_msg("%s is%s stood in for", names[i], ours ? "" : " not");
        }
        fake_close();
        unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
    }
    unsetenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE");
}

/* Everything again on a driver that has the newer commands as extensions. */
static int older_driver(void **state)
{
    (void)state;
    only_khr = true;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_of_buffers),
        cmocka_unit_test(test_other_writes_to_buffers),
        cmocka_unit_test(test_what_draws_read),
        cmocka_unit_test(test_bytes_beside_images),
        cmocka_unit_test(test_texels_beside_buffers),
        cmocka_unit_test(test_images_beside_images),
        cmocka_unit_test(test_render_passes),
        cmocka_unit_test(test_dynamic_rendering),
        cmocka_unit_test(test_barriers_that_change_layouts_write),
        cmocka_unit_test(test_waits_for_the_host_are_left_out),
        cmocka_unit_test(test_layouts_across_type_classes),
        cmocka_unit_test(test_secondary_command_buffers),
        cmocka_unit_test(test_recording_anew),
        cmocka_unit_test(test_ways_to_wait),
        cmocka_unit_test(test_a_failed_submission_ends_the_check),
        cmocka_unit_test(test_off_costs_nothing),
    };
    int failed = cmocka_run_group_tests_name("core", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("extensions", tests, older_driver, NULL);
}
