/* SPDX-License-Identifier: MIT */
/* Two queues of a driver of the test's own that does nothing, and what one of them does first. */
#include "commands.h"
#include "support/queue_flags.h"

/* Real families: everything, and copies. */
const struct fake_driver commands_driver = {
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
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        buffers[i] = fake_dispatchable();
    return VK_SUCCESS;
}

uint64_t counter_value;

static VkResult VKAPI_CALL drv_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                                          uint64_t *value)
{
    *value = counter_value;
    return VK_SUCCESS;
}

struct commands_used used;

VkCommandBuffer allocate_commands(uint32_t family, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = used.pools[family], .level = level,
                                              .commandBufferCount = 1};
    VkCommandBuffer buffer;
    assert_success(FAKE_CALL(vkAllocateCommandBuffers, fake.device, &info, &buffer));
    return buffer;
}

VkCommandBuffer begin_commands(uint32_t family)
{
    VkCommandBuffer buffer = allocate_commands(family, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const VkCommandBufferBeginInfo info = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
    assert_success(FAKE_CALL(vkBeginCommandBuffer, buffer, &info));
    return buffer;
}

void end_commands(VkCommandBuffer buffer)
{
    assert_success(FAKE_CALL(vkEndCommandBuffer, buffer));
}

VkBuffer make_buffer(VkDeviceSize size)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = size};
    VkBuffer buffer;
    assert_success(FAKE_CALL(vkCreateBuffer, fake.device, &info, NULL, &buffer));
    return buffer;
}

static VkImage make_image(VkFormat format, VkImageType type)
{
    const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                    .imageType = type,
                                    .format = format,
                                    .extent = {64, 64, type == VK_IMAGE_TYPE_3D ? 16 : 1},
                                    .mipLevels = 4,
                                    .arrayLayers = type == VK_IMAGE_TYPE_3D ? 1 : 3};
    VkImage image;
    assert_success(FAKE_CALL(vkCreateImage, fake.device, &info, NULL, &image));
    return image;
}

VkSemaphore make_semaphore(bool timeline)
{
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO),
                                        .pNext = timeline ? &type : NULL};
    VkSemaphore semaphore;
    assert_success(FAKE_CALL(vkCreateSemaphore, fake.device, &info, NULL, &semaphore));
    return semaphore;
}

VkImageView make_view(uint32_t image, uint32_t mip, uint32_t layer, uint32_t layers,
                      VkImageViewType type)
{
    const VkImageViewCreateInfo info = {
        VK_TYPE(IMAGE_VIEW_CREATE_INFO),
        .image = used.images[image],
        .viewType = type,
        .subresourceRange = {image == DEPTH_STENCIL
                                 ? VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT
                                 : VK_IMAGE_ASPECT_COLOR_BIT,
                             mip, 1, layer, layers},
    };
    VkImageView view;
    assert_success(FAKE_CALL(vkCreateImageView, fake.device, &info, NULL, &view));
    return view;
}

static void name_object(VkObjectType type, uint64_t handle, const char *text)
{
    const VkDebugUtilsObjectNameInfoEXT info = {VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT),
                                                .objectType = type, .objectHandle = handle,
                                                .pObjectName = text};
    FAKE_CALL(vkSetDebugUtilsObjectNameEXT, fake.device, &info);
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
    for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
        if (strcmp(newer[i], command) == 0)
            return true;
    return false;
}

bool only_khr;

/* A command by whichever name the driver has. */
PFN_vkVoidFunction find_command2(const char *command, const char *suffix)
{
    char buffer[64];
    snprintf(buffer, sizeof(buffer), "%s%s", command, only_khr ? suffix : "");
    PFN_vkVoidFunction function = fake_command(buffer);
    assert_non_null(function);
    return function;
}

void open_world(void)
{
    struct fake_driver d = commands_driver;
    if (only_khr)
        d.lacks = lacks_core;
    setenv("VK_BELFRY_MULTI_ENGINE_CHECK", "access", 1);
    memset(&used, 0, sizeof(used));
    fake_start(&d);
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
    char last[1024];
    lines_begin();
    fake_open_device((const uint32_t[]){1, 1, 0});
    assert_int_equal(lines_end(last, sizeof(last)), 1);
    assert_string_equal(last, "belfry: access: accesses through descriptors are not seen; tell "
                              "them with bfQueueUses\n");
    for (uint32_t i = 0; i < 2; i++) {
        FAKE_CALL(vkGetDeviceQueue, fake.device, i, 0, &used.queues[i]);
        const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                              .queueFamilyIndex = i};
        FAKE_CALL(vkCreateCommandPool, fake.device, &pool, NULL, &used.pools[i]);
    }
    name_object(VK_OBJECT_TYPE_QUEUE, (uintptr_t)used.queues[GRAPHICS], "graphics");
    name_object(VK_OBJECT_TYPE_QUEUE, (uintptr_t)used.queues[COPY], "copy");
    used.buffer = make_buffer(4096);
    used.other = make_buffer(4096);
    used.scratch = make_buffer(4096);
    used.images[PLAIN] = make_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D);
    used.images[OTHER] = make_image(VK_FORMAT_R8G8B8A8_UNORM, VK_IMAGE_TYPE_2D);
    used.images[COMPRESSED] = make_image(VK_FORMAT_BC1_RGB_UNORM_BLOCK, VK_IMAGE_TYPE_2D);
    used.images[DEPTH_STENCIL] = make_image(VK_FORMAT_D24_UNORM_S8_UINT, VK_IMAGE_TYPE_2D);
    used.images[VOLUME] = make_image(VK_FORMAT_R8_UNORM, VK_IMAGE_TYPE_3D);
    used.images[PLANAR] = make_image(VK_FORMAT_G8_B8R8_2PLANE_420_UNORM, VK_IMAGE_TYPE_2D);
    used.timeline = make_semaphore(true);
    name_object(VK_OBJECT_TYPE_BUFFER, (uint64_t)used.buffer, "it");
    for (uint32_t i = 0; i < IMAGES; i++)
        name_object(VK_OBJECT_TYPE_IMAGE, (uint64_t)used.images[i], "it");
}

void close_world(void)
{
    for (uint32_t i = 0; i < 2; i++)
        FAKE_CALL(vkDestroyCommandPool, fake.device, used.pools[i], NULL);
    FAKE_CALL(vkDestroyBuffer, fake.device, used.buffer, NULL);
    FAKE_CALL(vkDestroyImage, fake.device, used.images[PLAIN], NULL);
    fake_close();
    unsetenv("VK_BELFRY_MULTI_ENGINE_CHECK");
}

void submit_one(uint32_t queue, VkSemaphore wait, uint64_t wait_value, VkCommandBuffer buffer,
                VkSemaphore signal, uint64_t signal_value, VkFence fence)
{
    const VkSemaphoreSubmitInfo waits = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = wait,
                                         .value = wait_value,
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT},
                                signals = {VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = signal,
                                           .value = signal_value,
                                           .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo buffers = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                               .commandBuffer = buffer};
    const VkSubmitInfo2 info = {
        VK_TYPE(SUBMIT_INFO_2),           .waitSemaphoreInfoCount = wait != VK_NULL_HANDLE,
        .pWaitSemaphoreInfos = &waits,    .commandBufferInfoCount = buffer != NULL,
        .pCommandBufferInfos = &buffers,  .signalSemaphoreInfoCount = signal != VK_NULL_HANDLE,
        .pSignalSemaphoreInfos = &signals};
    assert_success(CALL2(vkQueueSubmit2)(used.queues[queue], 1, &info, fence));
}

/* The lines that the two submissions bring, the last one copied to 'line'. */
uint32_t run_both(record_fn first, record_fn second, bool ordered, char *line, size_t size)
{
    VkCommandBuffer a = begin_commands(COPY), b = begin_commands(GRAPHICS);
    first(a);
    end_commands(a);
    second(b);
    end_commands(b);
    lines_begin();
    submit_one(COPY, VK_NULL_HANDLE, 0, a, used.timeline, 1, VK_NULL_HANDLE);
    submit_one(GRAPHICS, ordered ? used.timeline : VK_NULL_HANDLE, 1, b, VK_NULL_HANDLE, 0,
               VK_NULL_HANDLE);
    return lines_end(line, size);
}

/* 'second' does that to what 'first' uses ("reads bytes 0 to 3"); NULL: nothing that matters. */
void expect_named(const char *test, record_fn first, record_fn second, const char *text)
{
    char line[1024], full[1024];
    open_world();
    uint32_t count = run_both(first, second, false, line, sizeof(line));
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
    count = run_both(first, second, true, line, sizeof(line));
    close_world();
    if (count)
        fail_msg("%s, ordered: %u lines: %s", test, count, line);
}

/* ----------------------------------------------------------------------------------- First uses */

static VkDeviceSize plain_begin, plain_end;

void plain_write(VkCommandBuffer buffer)
{
    FAKE_CALL(vkCmdFillBuffer, buffer, used.buffer, plain_begin, plain_end - plain_begin, 0);
}

static void plain_read(VkCommandBuffer buffer)
{
    const VkBufferCopy region = {plain_begin, 0, plain_end - plain_begin};
    FAKE_CALL(vkCmdCopyBuffer, buffer, used.buffer, used.scratch, 1, &region);
}

/* The first use touches the buffer's bytes from 'begin' to before 'end'. */
record_fn writing(VkDeviceSize first, VkDeviceSize last)
{
    plain_begin = first;
    plain_end = last;
    return plain_write;
}

record_fn reading(VkDeviceSize first, VkDeviceSize last)
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
        FAKE_CALL(vkCmdClearDepthStencilImage, buffer, used.images[plain_image],
                  VK_IMAGE_LAYOUT_GENERAL, &value, 1, &plain_range);
    } else {
        const VkClearColorValue value = {.float32 = {0}};
        FAKE_CALL(vkCmdClearColorImage, buffer, used.images[plain_image], VK_IMAGE_LAYOUT_GENERAL,
                  &value, 1, &plain_range);
    }
}

record_fn clearing(uint32_t image, VkImageAspectFlags aspects, uint32_t mip, uint32_t layer)
{
    plain_image = image;
    plain_range = (VkImageSubresourceRange){aspects, mip, 1, layer, 1};
    return plain_clear;
}

/* A texel block of the plain image is read. */
static VkOffset3D plain_offset;

static void plain_texels(VkCommandBuffer buffer)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, 0, 0, 1},
                                      .imageOffset = plain_offset,
                                      .imageExtent = {8, 8, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[plain_image], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}

record_fn sampling(uint32_t image, int32_t x, int32_t y, int32_t z)
{
    plain_image = image;
    plain_offset = (VkOffset3D){x, y, z};
    return plain_texels;
}

static void read_mip(VkCommandBuffer buffer, uint32_t mip, uint32_t layer)
{
    const VkBufferImageCopy region = {.imageSubresource = {COLOR, mip, layer, 1},
                                      .imageExtent = {1, 1, 1}};
    FAKE_CALL(vkCmdCopyImageToBuffer, buffer, used.images[PLAIN], VK_IMAGE_LAYOUT_GENERAL,
              used.scratch, 1, &region);
}

void read_mip_3(VkCommandBuffer buffer)
{
    read_mip(buffer, 3, 2);
}

void read_mip_1(VkCommandBuffer buffer)
{
    read_mip(buffer, 1, 2);
}

/* ------------------------------------------------------------------------------ Both drivers -- */

/* Everything again on a driver that has the newer commands as extensions. */
static int older_driver(void **state)
{
    only_khr = true;
    return 0;
}

/* The tests on a driver with the core commands, and on one with the extensions'. */
static int run_on_both(int argc, char **argv)
{
    int failed = test_run_group("core", NULL, NULL);
    return failed + test_run_group("extensions", older_driver, NULL);
}

__attribute__((constructor)) static void take_main(void)
{
    test_main = run_on_both;
}
