/* SPDX-License-Identifier: MIT */
/* The device with three kinds of queues, and where frames are shown: a window or a canvas. */
#include "show.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pipeline.h"
#include "png_file.h"

#define EXTRA_MOST 8

/* --------------------------------------------------------------------------------- Arguments -- */

int sample_show_arguments(struct sample_show *show, const char *name, const char *purpose,
                          const struct sample_option *extra, size_t extra_count, int argc,
                          char **argv)
{
    uint32_t frames = show->frames;
    char frames_help[96], size_help[64], seed_help[64];
    const char *gpu = getenv("BELFRY_GPU");

    show->name = name;
    show->frames = 0;
    if (gpu && *gpu)
        show->gpu = gpu;
    if (frames)
        snprintf(frames_help, sizeof frames_help, "stop after N frames (%u without a window)",
                 frames);
    else
        snprintf(frames_help, sizeof frames_help, "stop after N frames");
    snprintf(size_help, sizeof size_help, "size of the picture in pixels (%ux%u)", show->size[0],
             show->size[1]);
    snprintf(seed_help, sizeof seed_help, "another picture for each seed (%u)", show->seed);

    struct sample_option table[6 + EXTRA_MOST] = {
        {"--frames", "N", frames_help, SAMPLE_OPTION_NUMBER, &show->frames, 1, UINT32_MAX},
        {"--size", "WxH", size_help, SAMPLE_OPTION_SIZE, show->size, 16, 8192},
        {"--out", "FILE.png", "write the last frame to FILE.png; no window then",
         SAMPLE_OPTION_TEXT, &show->out, 0, 0},
        {"--seed", "S", seed_help, SAMPLE_OPTION_NUMBER, &show->seed, 0, UINT32_MAX},
        {"--headless", NULL, "draw without a window", SAMPLE_OPTION_FLAG, &show->headless, 0, 0},
        {"--gpu", "NAME", "use the GPU with NAME in its name (else $BELFRY_GPU, else the best)",
         SAMPLE_OPTION_TEXT, &show->gpu, 0, 0},
    };
    for (size_t i = 0; i < extra_count && i < EXTRA_MOST; ++i)
        table[6 + i] = extra[i];
    int exit_code = sample_options_parse(table, 6 + extra_count, purpose, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    if (show->out && !sample_png_writable(show->out))
        return SAMPLE_EXIT_USAGE;
    if (!show->out && !show->headless && sample_display_present())
        show->windowed = sample_window_open(&show->window, name, show->size[0], show->size[1]);
    if (!show->windowed && !show->frames)
        show->frames = frames;
    return SAMPLE_OPTIONS_GO_ON;
}

/* ------------------------------------------------------------------------- Device and queues -- */

/* Gets Belfry's device: the layer's, or else one that is attached here. */
static VkResult belfry_open(struct sample_show *show)
{
    const struct sample_device *device = &show->device;
    const struct sample_queue *queues[] = {&device->graphics, &device->compute, &device->copy};
    BfAttachQueue attached[3];
    uint32_t count = 0;

    VkResult result = bfGetDevice(device->handle, &show->belfry);
    if (result != VK_ERROR_FEATURE_NOT_PRESENT)
        return sample_check(result, "bfGetDevice");
    for (uint32_t i = 0; i < 3; ++i) {
        if (queues[i]->handle)
            attached[count++] = (BfAttachQueue){
                .queue = queues[i]->handle,
                .queueFamilyIndex = queues[i]->family,
                .queueIndex = queues[i]->index,
            };
    }
    TRY(bfAttachDevice(
        &(BfAttachInfo){
            .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
            .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
            .instance = device->instance,
            .physicalDevice = device->gpu,
            .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
            .device = device->handle,
            .queueCount = count,
            .pQueues = attached,
            .calibratedTimestamps = device->calibrated,
            .hostQueryReset = device->resets_queries,
            .sharesNothing = VK_TRUE,
        },
        &show->belfry));
    show->attached = true;
    return VK_SUCCESS;
}

static VkResult queue_create(struct sample_show *show, BfCommandListType type,
                             BfCommandQueuePriority priority, BfCommandQueue *queue)
{
    TRY(bfCreateCommandQueue(
        show->belfry,
        &(BfCommandQueueCreateInfo){.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                    .type = type,
                                    .priority = priority},
        queue));
    sample_device_family_add(&show->device, bfGetCommandQueueFamilyIndex(*queue));
    return VK_SUCCESS;
}

VkResult sample_fence_create(const struct sample_show *show, BfFence *fence)
{
    return sample_check(
        bfCreateFence(show->belfry,
                      &(BfFenceCreateInfo){.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO}, fence),
        "bfCreateFence");
}

VkResult sample_fence_await(BfFence fence, uint64_t value)
{
    return sample_check(bfWaitFences(1, &fence, &value, BF_FENCE_WAIT_ALL, UINT64_MAX),
                        "bfWaitFences");
}

/* --------------------------------------------------------------------- Window and canvas -- */

static VkResult canvas_create(struct sample_show *show)
{
    const struct sample_device *device = &show->device;
    uint32_t most = device->properties.limits.maxImageDimension2D;

    show->extent = (VkExtent2D){show->size[0], show->size[1]};
    show->format = VK_FORMAT_R8G8B8A8_UNORM;
    if (show->extent.width > most || show->extent.height > most) {
        sample_complain("--size '%ux%u': %s has images of at most %ux%u", show->extent.width,
                        show->extent.height, device->properties.deviceName, most, most);
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    PASS(sample_image_create(device, show->format, show->extent, 1,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                             "canvas", &show->canvas));
    return sample_view_create(device, show->canvas.handle, show->format, 0, &show->canvas_view);
}

static VkResult timeline_create(struct sample_show *show, VkSemaphore *semaphore, BfFence *fence)
{
    TRY(vkCreateSemaphore(show->device.handle,
                          &(VkSemaphoreCreateInfo){
                              .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                              .pNext =
                                  &(VkSemaphoreTypeCreateInfo){
                                      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                  },
                          },
                          NULL, semaphore));
    TRY(bfImportFenceFromSemaphore(show->belfry, *semaphore, fence));
    return VK_SUCCESS;
}

/* VK_NOT_READY: the user has closed the window already. */
static VkResult window_create(struct sample_show *show)
{
    const struct sample_device *device = &show->device;

    PASS(sample_window_format(&show->window, device));
    show->format = show->window.format.format;
    VkResult result = sample_window_swapchain(&show->window, device);
    if (result != VK_SUCCESS)
        return result;
    show->extent = show->window.extent;
    PASS(timeline_create(show, &show->display_semaphore, &show->display));
    PASS(timeline_create(show, &show->drawn_semaphore, &show->drawn));
    for (uint32_t i = 0; i < SAMPLE_SHOW_AHEAD; ++i) {
        TRY(vkCreateSemaphore(device->handle,
                              &(VkSemaphoreCreateInfo){
                                  .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                              },
                              NULL, &show->acquired[i]));
    }
    return VK_SUCCESS;
}

static VkResult objects_create(struct sample_show *show)
{
    PASS(belfry_open(show));
    PASS(queue_create(show, BF_COMMAND_LIST_TYPE_DIRECT, show->priority, &show->direct));
    PASS(queue_create(show, BF_COMMAND_LIST_TYPE_COMPUTE, BF_COMMAND_QUEUE_PRIORITY_NORMAL,
                      &show->compute));
    PASS(queue_create(show, BF_COMMAND_LIST_TYPE_COPY, BF_COMMAND_QUEUE_PRIORITY_NORMAL,
                      &show->copy));
    return show->windowed ? window_create(show) : canvas_create(show);
}

int sample_show_open(struct sample_show *show)
{
    const char **extensions = NULL;
    uint32_t count = 0;

    if (show->windowed)
        extensions = sample_window_extensions(&count);
    int exit_code =
        sample_instance_create(&show->device, show->name, extensions, extensions ? count : 0);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    if (show->windowed && sample_window_surface(&show->window, &show->device) < 0)
        return SAMPLE_EXIT_FAILED;
    exit_code =
        sample_device_create(&show->device, SAMPLE_QUEUES_ENGINES, show->gpu, show->window.surface);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    VkResult result = objects_create(show);
    if (result != VK_SUCCESS)
        return result < 0 ? SAMPLE_EXIT_FAILED : SAMPLE_EXIT_DONE;
    return SAMPLE_OPTIONS_GO_ON;
}

VkResult sample_show_idle(struct sample_show *show)
{
    TRY(bfQueueWaitIdle(show->copy));
    TRY(bfQueueWaitIdle(show->compute));
    TRY(bfQueueWaitIdle(show->direct));
    return VK_SUCCESS;
}

/* Presents may not be done, though the queues are idle. */
static void objects_destroy(struct sample_show *show)
{
    struct sample_device *device = &show->device;

    vkDeviceWaitIdle(device->handle);
    bfDestroyFence(show->display);
    bfDestroyFence(show->drawn);
    vkDestroySemaphore(device->handle, show->display_semaphore, NULL);
    vkDestroySemaphore(device->handle, show->drawn_semaphore, NULL);
    for (uint32_t i = 0; i < SAMPLE_SHOW_AHEAD; ++i)
        vkDestroySemaphore(device->handle, show->acquired[i], NULL);
    vkDestroyImageView(device->handle, show->canvas_view, NULL);
    sample_image_destroy(device, &show->canvas);
    bfDestroyCommandQueue(show->copy);
    bfDestroyCommandQueue(show->compute);
    bfDestroyCommandQueue(show->direct);
    if (show->attached)
        bfDetachDevice(show->belfry);
    show->display = show->drawn = NULL;
    show->display_semaphore = show->drawn_semaphore = VK_NULL_HANDLE;
    memset(show->acquired, 0, sizeof show->acquired);
    show->canvas_view = VK_NULL_HANDLE;
    show->direct = show->compute = show->copy = NULL;
    show->belfry = NULL;
    show->attached = false;
    show->shown = 0;
}

void sample_show_close_device(struct sample_show *show)
{
    if (show->direct && show->compute && show->copy)
        (void)sample_show_idle(show);
    if (show->device.handle)
        objects_destroy(show);
    sample_window_detach(&show->window, &show->device);
    sample_device_destroy(&show->device);
}

void sample_show_close(struct sample_show *show)
{
    sample_show_close_device(show);
    sample_window_close(&show->window);
}

/* ------------------------------------------------------------------------------------ Frames -- */

bool sample_show_goes_on(struct sample_show *show)
{
    return !show->windowed || sample_window_poll(&show->window);
}

/* Submits a wait and a signal to the VkQueue, which converts between binary semaphores and
 * timelines. A binary semaphore's value is 0. */
static VkResult semaphore_pass(struct sample_show *show, VkSemaphore from, uint64_t from_value,
                               VkSemaphore to, uint64_t to_value)
{
    TRY(bfVkQueueSubmit(show->belfry, show->device.graphics.handle, 1,
                        &(VkSubmitInfo2){
                            .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                            .waitSemaphoreInfoCount = 1,
                            .pWaitSemaphoreInfos =
                                &(VkSemaphoreSubmitInfo){
                                    .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .semaphore = from,
                                    .value = from_value,
                                    .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                },
                            .signalSemaphoreInfoCount = 1,
                            .pSignalSemaphoreInfos =
                                &(VkSemaphoreSubmitInfo){
                                    .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .semaphore = to,
                                    .value = to_value,
                                    .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                },
                        },
                        VK_NULL_HANDLE));
    return VK_SUCCESS;
}

/* Replaces a swapchain that no longer fits. The direct queue, which draws to its images, and
 * presents must be idle; other queues may be waiting for later frames, so the device can't be
 * waited for. */
static VkResult swapchain_replace(struct sample_show *show)
{
    VkQueue queue = show->device.graphics.handle;

    TRY(bfQueueWaitIdle(show->direct));
    TRY(bfLockVkQueue(show->belfry, queue));
    VkResult result = sample_check(vkQueueWaitIdle(queue), "vkQueueWaitIdle");
    TRY(bfUnlockVkQueue(show->belfry, queue));
    if (result < 0)
        return result;
    result = sample_window_swapchain(&show->window, &show->device);
    show->extent = show->window.extent;
    return result;
}

VkResult sample_show_begin(struct sample_show *show, struct sample_target *target)
{
    struct sample_window *window = &show->window;
    VkResult result;
    uint32_t index = 0;

    if (!show->windowed) {
        ++show->shown;
        *target =
            (struct sample_target){show->canvas.handle, show->canvas_view, SAMPLE_USE_SOURCE, 0};
        return VK_SUCCESS;
    }
    uint64_t frame = show->shown + 1;
    if (frame > SAMPLE_SHOW_AHEAD)
        PASS(sample_fence_await(show->display, frame - SAMPLE_SHOW_AHEAD));
    VkSemaphore acquired = show->acquired[frame % SAMPLE_SHOW_AHEAD];
    while ((result = sample_window_acquire(window, &show->device, acquired, &index)) ==
           VK_ERROR_OUT_OF_DATE_KHR) {
        result = swapchain_replace(show);
        if (result != VK_SUCCESS)
            return result;
    }
    if (result < 0)
        return result;
    show->shown = frame;
    PASS(semaphore_pass(show, acquired, 0, show->display_semaphore, frame));
    TRY(bfQueueWait(show->direct, show->display, frame));
    *target = (struct sample_target){window->backbuffers[index].image,
                                     window->backbuffers[index].view, SAMPLE_USE_PRESENT, index};
    return VK_SUCCESS;
}

VkResult sample_show_end(struct sample_show *show, const struct sample_target *target)
{
    const struct sample_device *device = &show->device;

    if (!show->windowed)
        return VK_SUCCESS;
    TRY(bfQueueSignal(show->direct, show->drawn, show->shown));
    PASS(semaphore_pass(show, show->drawn_semaphore, show->shown,
                        show->window.backbuffers[target->backbuffer].rendered, 0));
    TRY(bfLockVkQueue(show->belfry, device->graphics.handle));
    VkResult result = sample_window_present(&show->window, device, target->backbuffer);
    TRY(bfUnlockVkQueue(show->belfry, device->graphics.handle));
    return result;
}

/* -------------------------------------------------------------------------- The last frame -- */

static VkResult canvas_read(struct sample_show *show, VkCommandBuffer commands,
                            const struct sample_buffer *pixels)
{
    VkExtent2D extent = show->canvas.extent;

    PASS(sample_commands_begin(commands));
    sample_label_begin(&show->device, commands, "read back");
    vkCmdCopyImageToBuffer(commands, show->canvas.handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           pixels->handle, 1,
                           &(VkBufferImageCopy){
                               .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = {extent.width, extent.height, 1},
                           });
    sample_barrier(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_PIPELINE_STAGE_2_HOST_BIT);
    sample_label_end(&show->device, commands);
    PASS(sample_commands_end(commands));
    TRY(bfQueueExecute(show->direct, 1, &commands));
    TRY(bfQueueWaitIdle(show->direct));
    return VK_SUCCESS;
}

int sample_show_save(struct sample_show *show)
{
    const struct sample_device *device = &show->device;
    VkExtent2D extent = show->canvas.extent;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands;
    struct sample_buffer pixels = {0};
    int exit_code = SAMPLE_EXIT_FAILED;

    if (!show->out)
        return SAMPLE_EXIT_DONE;
    if (sample_command_buffers(device, bfGetCommandQueueFamilyIndex(show->direct), 1, "read back",
                               &pool, &commands) < 0)
        goto done;
    if (sample_buffer_create(device, (VkDeviceSize)extent.width * extent.height * 4,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT, true, "pixels", &pixels) < 0)
        goto done;
    if (canvas_read(show, commands, &pixels) >= 0 &&
        sample_png_write(show->out, pixels.mapped, extent.width, extent.height, extent.width * 4))
        exit_code = SAMPLE_EXIT_DONE;

done:
    (void)bfQueueWaitIdle(show->direct);
    sample_buffer_destroy(device, &pixels);
    vkDestroyCommandPool(device->handle, pool, NULL);
    return exit_code;
}

int sample_show_tell(const struct sample_show *show, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    printf("%s, %s: %s%s%s\n", show->device.properties.deviceName,
           show->attached ? "attached" : "through the layer", text,
           show->out ? " The last one is in " : "", show->out ? show->out : "");
    if (fflush(stdout) || ferror(stdout)) {
        sample_complain("cannot write to the standard output");
        return SAMPLE_EXIT_FAILED;
    }
    return SAMPLE_EXIT_DONE;
}

double sample_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
