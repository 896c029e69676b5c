/* SPDX-License-Identifier: MIT */
/*
 * PipelinedComputeGraphics of the D3D12 document 'Multi-engine synchronization', in Vulkan.
 *
 * A compute queue simulates particles; a graphics queue draws the result from
 * ComputeGraphicsLatency frames back, so that both can be at work at the same time; the CPU is
 * held CpuLatency frames ahead at most. D3D12's fences are timeline semaphores, and the loop is
 * pipelined_compute_graphics() below: the rest of this file is there to call it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "memory.h"
#include "options.h"
#include "picture.h"
#include "pipeline.h"
#include "png_file.h"
#include "report.h"
#include "simulation.h"
#include "window.h"

#define COMPUTE_LATENCY_MOST 8
#define CPU_LATENCY_MOST     16

/* The number of command buffers that each queue needs, with C for CpuLatency and L for
 * ComputeGraphicsLatency. When the CPU begins frame N, it has waited for compute frame N-1-C, so
 * the compute queue needs C+1. That compute frame had waited for graphics frame N-1-C-(L+1), and
 * the next graphics frame to be recorded is N-L, so the graphics queue needs C+2. */
#define COMPUTE_BUFFERS(cpu_latency)  ((cpu_latency) + 1)
#define GRAPHICS_BUFFERS(cpu_latency) ((cpu_latency) + 2)

struct options {
    uint32_t frames; /* 0: until the window is closed */
    uint32_t size[2];
    const char *out;
    uint32_t seed;
    uint32_t particles;
    uint32_t compute_latency; /* the document's ComputeGraphicsLatency */
    uint32_t cpu_latency;     /* the document's CpuLatency */
    bool headless;
    const char *gpu;
};

struct pipelined {
    struct options options;
    struct sample_device device;
    struct simulation simulation;
    struct picture picture;

    VkSemaphore compute_fence;  /* timeline: the last simulated frame */
    VkSemaphore graphics_fence; /* timeline: the last drawn frame */
    VkCommandPool compute_pool, graphics_pool;
    VkCommandBuffer compute_commands[COMPUTE_BUFFERS(CPU_LATENCY_MOST)];
    VkCommandBuffer graphics_commands[GRAPHICS_BUFFERS(CPU_LATENCY_MOST)];

    bool windowed;
    struct sample_window window;
    VkSemaphore acquired[GRAPHICS_BUFFERS(CPU_LATENCY_MOST)]; /* indexed like graphics_commands */

    struct sample_image canvas; /* the target without a window */
    VkImageView canvas_view;

    uint64_t drawn;
};

/* What a graphics frame is drawn to, and the semaphores of a window's image. */
struct frame_target {
    struct picture_target picture;
    uint32_t backbuffer;
    VkSemaphore acquired, rendered; /* VK_NULL_HANDLE without a window */
};

/* D3D12's Wait, ExecuteCommandLists and Signal on one queue, in this order, as one submission. Both
 * fences begin at 0, so a wait for 0 is left out. */
static VkResult queue_wait_execute_signal(VkQueue queue, VkSemaphore wait, uint64_t wait_value,
                                          VkPipelineStageFlags2 wait_stage,
                                          VkCommandBuffer commands, VkSemaphore signal,
                                          uint64_t signal_value, const struct frame_target *target)
{
    VkSemaphoreSubmitInfo waits[2], signals[2];
    uint32_t wait_count = 0, signal_count = 0;

    if (wait_value)
        waits[wait_count++] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = wait,
            .value = wait_value,
            .stageMask = wait_stage,
        };
    signals[signal_count++] = (VkSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = signal,
        .value = signal_value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    if (target && target->acquired) {
        /* Drawing waits until the display has released the image, and presenting until it is
         * drawn. */
        waits[wait_count++] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = target->acquired,
            .stageMask = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
        };
        signals[signal_count++] = (VkSemaphoreSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
            .semaphore = target->rendered,
            .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        };
    }
    return sample_check(
        vkQueueSubmit2(queue, 1,
                       &(VkSubmitInfo2){
                           .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                           .waitSemaphoreInfoCount = wait_count,
                           .pWaitSemaphoreInfos = waits,
                           .commandBufferInfoCount = 1,
                           .pCommandBufferInfos =
                               &(VkCommandBufferSubmitInfo){
                                   .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                   .commandBuffer = commands,
                               },
                           .signalSemaphoreInfoCount = signal_count,
                           .pSignalSemaphoreInfos = signals,
                       },
                       VK_NULL_HANDLE),
        "vkQueueSubmit2");
}

static VkResult fence_await(const struct pipelined *pipelined, VkSemaphore fence, uint64_t value)
{
    return sample_check(vkWaitSemaphores(pipelined->device.handle,
                                         &(VkSemaphoreWaitInfo){
                                             .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                             .semaphoreCount = 1,
                                             .pSemaphores = &fence,
                                             .pValues = &value,
                                         },
                                         UINT64_MAX),
                        "vkWaitSemaphores");
}

static VkResult commands_begin(VkCommandBuffer commands)
{
    return sample_check(
        vkBeginCommandBuffer(commands,
                             &(VkCommandBufferBeginInfo){
                                 .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                 .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                             }),
        "vkBeginCommandBuffer");
}

static VkResult commands_end(VkCommandBuffer commands)
{
    return sample_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
}

static VkResult compute_commands_record(struct pipelined *pipelined, uint64_t frame,
                                        VkCommandBuffer *commands)
{
    *commands =
        pipelined->compute_commands[frame % COMPUTE_BUFFERS(pipelined->options.cpu_latency)];
    VkResult result = commands_begin(*commands);
    if (result < 0)
        return result;
    simulation_record(&pipelined->simulation, &pipelined->device, *commands, frame);
    return commands_end(*commands);
}

/* Acquires the window's next image, or returns the canvas. VK_NOT_READY: the user has closed the
 * window. */
static VkResult target_acquire(struct pipelined *pipelined, uint64_t frame,
                               struct frame_target *target)
{
    struct sample_window *window = &pipelined->window;

    if (!pipelined->windowed) {
        *target = (struct frame_target){
            .picture = {pipelined->canvas.handle, pipelined->canvas_view, SAMPLE_USE_SOURCE},
        };
        return VK_SUCCESS;
    }

    VkSemaphore acquired =
        pipelined->acquired[frame % GRAPHICS_BUFFERS(pipelined->options.cpu_latency)];
    uint32_t index = 0;
    VkResult result;
    while ((result = sample_window_acquire(window, &pipelined->device, acquired, &index)) ==
           VK_ERROR_OUT_OF_DATE_KHR) {
        result = sample_check(vkDeviceWaitIdle(pipelined->device.handle), "vkDeviceWaitIdle");
        if (result < 0)
            return result;
        result = sample_window_swapchain(window, &pipelined->device);
        if (result != VK_SUCCESS)
            return result;
        result = picture_resize(&pipelined->picture, &pipelined->device, window->extent);
        if (result < 0)
            return result;
    }
    if (result < 0)
        return result;
    *target = (struct frame_target){
        .picture = {window->backbuffers[index].image, window->backbuffers[index].view,
                    SAMPLE_USE_PRESENT},
        .backbuffer = index,
        .acquired = acquired,
        .rendered = window->backbuffers[index].rendered,
    };
    return VK_SUCCESS;
}

static VkResult graphics_commands_record(struct pipelined *pipelined, uint64_t frame,
                                         const struct frame_target *target,
                                         VkCommandBuffer *commands)
{
    *commands =
        pipelined->graphics_commands[frame % GRAPHICS_BUFFERS(pipelined->options.cpu_latency)];
    VkResult result = commands_begin(*commands);
    if (result < 0)
        return result;
    picture_record(&pipelined->picture, &pipelined->device, &pipelined->simulation, *commands,
                   frame, &target->picture);
    return commands_end(*commands);
}

/* Runs until the requested number of frames is drawn, or the window is closed. There are
 * ComputeGraphicsLatency+1 versions of the data; frame N is in version N modulo that. */
static VkResult pipelined_compute_graphics(struct pipelined *pipelined)
{
    const uint64_t cpu_latency = pipelined->options.cpu_latency;
    const uint64_t compute_graphics_latency = pipelined->options.compute_latency;
    const struct sample_device *device = &pipelined->device;
    uint64_t frame_number = 0;
    VkResult result = VK_SUCCESS;

    while (!pipelined->windowed || sample_window_poll(&pipelined->window)) {
        /* The compute queue will overwrite the oldest version: it waits until the graphics queue
         * has drawn it. (The wait is part of the submission below.) */
        uint64_t version_free = 0;
        if (frame_number > compute_graphics_latency)
            version_free = frame_number - compute_graphics_latency;

        /* The CPU waits here, so that it never runs more than CpuLatency frames ahead of the
         * compute queue; without this it would queue work as fast as it can. */
        if (frame_number > cpu_latency) {
            result = fence_await(pipelined, pipelined->compute_fence, frame_number - cpu_latency);
            if (result < 0)
                return result;
        }

        ++frame_number;

        VkCommandBuffer compute_commands;
        result = compute_commands_record(pipelined, frame_number, &compute_commands);
        if (result < 0)
            return result;
        result = queue_wait_execute_signal(device->compute.handle, pipelined->graphics_fence,
                                           version_free, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                           compute_commands, pipelined->compute_fence, frame_number,
                                           NULL);
        if (result < 0)
            return result;

        if (frame_number <= compute_graphics_latency)
            continue;
        uint64_t graphics_frame_number = frame_number - compute_graphics_latency;

        VkCommandBuffer graphics_commands;
        struct frame_target target;
        result = target_acquire(pipelined, graphics_frame_number, &target);
        if (result == VK_NOT_READY)
            return VK_SUCCESS;
        if (result < 0)
            return result;
        result =
            graphics_commands_record(pipelined, graphics_frame_number, &target, &graphics_commands);
        if (result < 0)
            return result;
        /* The graphics queue waits for the compute queue to have finished the frame that is drawn,
         * not the one being computed: that one is ComputeGraphicsLatency frames ahead. */
        result = queue_wait_execute_signal(
            device->graphics.handle, pipelined->compute_fence, graphics_frame_number,
            VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, graphics_commands, pipelined->graphics_fence,
            graphics_frame_number, &target);
        if (result < 0)
            return result;
        pipelined->drawn = graphics_frame_number;

        if (pipelined->windowed) {
            result = sample_window_present(&pipelined->window, device, target.backbuffer);
            if (result < 0)
                return result;
        }
        if (graphics_frame_number == pipelined->options.frames)
            break;
    }
    return VK_SUCCESS;
}

/* Writes the canvas as a PNG when its last frame is drawn. Returns an exit code; errors have been
 * reported. */
static int canvas_save(struct pipelined *pipelined)
{
    const struct sample_device *device = &pipelined->device;
    VkExtent2D extent = pipelined->canvas.extent;
    VkCommandBuffer commands = pipelined->graphics_commands[0];
    struct sample_buffer pixels = {0};
    int exit_code = SAMPLE_EXIT_FAILED;

    if (fence_await(pipelined, pipelined->graphics_fence, pipelined->drawn) < 0)
        return SAMPLE_EXIT_FAILED;
    if (sample_buffer_create(device, (VkDeviceSize)extent.width * extent.height * 4,
                             VK_BUFFER_USAGE_TRANSFER_DST_BIT, true, "pixels", &pixels) < 0)
        return SAMPLE_EXIT_FAILED;

    if (commands_begin(commands) < 0)
        goto done;
    sample_label_begin(device, commands, "read back");
    vkCmdCopyImageToBuffer(commands, pipelined->canvas.handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           pixels.handle, 1,
                           &(VkBufferImageCopy){
                               .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                               .imageExtent = {extent.width, extent.height, 1},
                           });
    vkCmdPipelineBarrier2(commands, &(VkDependencyInfo){
                                        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                        .memoryBarrierCount = 1,
                                        .pMemoryBarriers =
                                            &(VkMemoryBarrier2){
                                                .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                                .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
                                                .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                                .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT,
                                                .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT,
                                            },
                                    });
    sample_label_end(device, commands);
    if (commands_end(commands) < 0)
        goto done;
    if (queue_wait_execute_signal(device->graphics.handle, VK_NULL_HANDLE, 0, 0, commands,
                                  pipelined->graphics_fence, pipelined->drawn + 1, NULL) < 0)
        goto done;
    if (fence_await(pipelined, pipelined->graphics_fence, pipelined->drawn + 1) < 0)
        goto done;
    if (sample_png_write(pipelined->options.out, pixels.mapped, extent.width, extent.height,
                         extent.width * 4))
        exit_code = SAMPLE_EXIT_DONE;

done:
    sample_buffer_destroy(device, &pixels);
    return exit_code;
}

static VkResult semaphore_create(const struct sample_device *device, VkSemaphoreType type,
                                 const char *name, VkSemaphore *semaphore)
{
    const VkSemaphoreTypeCreateInfo type_info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = type,
    };
    VkResult result = vkCreateSemaphore(device->handle,
                                        &(VkSemaphoreCreateInfo){
                                            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                            .pNext = &type_info,
                                        },
                                        NULL, semaphore);
    if (result >= 0)
        sample_name(device, VK_OBJECT_TYPE_SEMAPHORE, (uint64_t)*semaphore, "%s", name);
    return sample_check(result, "vkCreateSemaphore");
}

static VkResult objects_create(struct pipelined *pipelined)
{
    const struct options *options = &pipelined->options;
    struct sample_device *device = &pipelined->device;
    VkExtent2D extent = {options->size[0], options->size[1]};
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;

    VkResult result = semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE, "compute fence",
                                       &pipelined->compute_fence);
    if (result < 0)
        return result;
    result = semaphore_create(device, VK_SEMAPHORE_TYPE_TIMELINE, "graphics fence",
                              &pipelined->graphics_fence);
    if (result < 0)
        return result;
    result = sample_command_buffers(device, device->compute.family,
                                    COMPUTE_BUFFERS(options->cpu_latency), "simulate",
                                    &pipelined->compute_pool, pipelined->compute_commands);
    if (result < 0)
        return result;
    result = sample_command_buffers(device, device->graphics.family,
                                    GRAPHICS_BUFFERS(options->cpu_latency), "draw",
                                    &pipelined->graphics_pool, pipelined->graphics_commands);
    if (result < 0)
        return result;

    if (pipelined->windowed) {
        result = sample_window_format(&pipelined->window, device);
        if (result < 0)
            return result;
        format = pipelined->window.format.format;
        result = sample_window_swapchain(&pipelined->window, device);
        if (result != VK_SUCCESS)
            return result;
        extent = pipelined->window.extent;
        for (uint32_t i = 0; i < GRAPHICS_BUFFERS(options->cpu_latency); ++i) {
            result = semaphore_create(device, VK_SEMAPHORE_TYPE_BINARY, "acquired",
                                      &pipelined->acquired[i]);
            if (result < 0)
                return result;
        }
    } else {
        uint32_t most = device->properties.limits.maxImageDimension2D;
        if (extent.width > most || extent.height > most) {
            sample_complain("--size '%ux%u': %s has images of at most %ux%u", extent.width,
                            extent.height, device->properties.deviceName, most, most);
            return VK_ERROR_FORMAT_NOT_SUPPORTED;
        }
        result = sample_image_create(device, format, extent, 1,
                                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                         VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                     "canvas", &pipelined->canvas);
        if (result < 0)
            return result;
        result = sample_view_create(device, pipelined->canvas.handle, format, 0,
                                    &pipelined->canvas_view);
        if (result < 0)
            return result;
    }

    result = simulation_create(&pipelined->simulation, device, options->particles,
                               options->compute_latency + 1, options->seed);
    if (result < 0)
        return result;
    result =
        picture_create(&pipelined->picture, device, &pipelined->simulation, format, options->seed);
    if (result < 0)
        return result;
    return picture_resize(&pipelined->picture, device, extent);
}

static void objects_destroy(struct pipelined *pipelined)
{
    struct sample_device *device = &pipelined->device;

    vkDeviceWaitIdle(device->handle);
    picture_destroy(&pipelined->picture, device);
    simulation_destroy(&pipelined->simulation, device);
    vkDestroyImageView(device->handle, pipelined->canvas_view, NULL);
    sample_image_destroy(device, &pipelined->canvas);
    for (uint32_t i = 0; i < GRAPHICS_BUFFERS(CPU_LATENCY_MOST); ++i)
        vkDestroySemaphore(device->handle, pipelined->acquired[i], NULL);
    vkDestroyCommandPool(device->handle, pipelined->graphics_pool, NULL);
    vkDestroyCommandPool(device->handle, pipelined->compute_pool, NULL);
    vkDestroySemaphore(device->handle, pipelined->graphics_fence, NULL);
    vkDestroySemaphore(device->handle, pipelined->compute_fence, NULL);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Draws, waits for the last frame, saves it, and prints the frame rate. */
static int frames_run(struct pipelined *pipelined)
{
    const struct sample_device *device = &pipelined->device;
    double start = seconds_now();

    if (pipelined_compute_graphics(pipelined) < 0)
        return SAMPLE_EXIT_FAILED;
    if (fence_await(pipelined, pipelined->graphics_fence, pipelined->drawn) < 0)
        return SAMPLE_EXIT_FAILED;
    double seconds = seconds_now() - start;

    if (pipelined->options.out) {
        int exit_code = canvas_save(pipelined);
        if (exit_code != SAMPLE_EXIT_DONE)
            return exit_code;
    }
    printf("%s: %u particles on compute queue %u:%u, drawn by graphics queue %u:%u "
           "(family:index). %llu frame%s of %ux%u in %.2f s, %.1f ms each.%s%s\n",
           device->properties.deviceName, pipelined->options.particles, device->compute.family,
           device->compute.index, device->graphics.family, device->graphics.index,
           (unsigned long long)pipelined->drawn, pipelined->drawn == 1 ? "" : "s",
           pipelined->picture.extent.width, pipelined->picture.extent.height, seconds,
           pipelined->drawn ? 1e3 * seconds / (double)pipelined->drawn : 0.0,
           pipelined->options.out ? " The last one is in " : "",
           pipelined->options.out ? pipelined->options.out : "");
    if (fflush(stdout) || ferror(stdout)) {
        sample_complain("cannot write to the standard output");
        return SAMPLE_EXIT_FAILED;
    }
    return SAMPLE_EXIT_DONE;
}

static int pipelined_run(struct pipelined *pipelined)
{
    struct sample_device *device = &pipelined->device;
    const char **extensions = NULL;
    uint32_t extension_count = 0;

    if (pipelined->windowed)
        extensions = sample_window_extensions(&extension_count);
    int exit_code =
        sample_instance_create(device, "pipelined", extensions, extensions ? extension_count : 0);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    if (pipelined->windowed && sample_window_surface(&pipelined->window, device) < 0) {
        exit_code = SAMPLE_EXIT_FAILED;
        goto done;
    }
    exit_code = sample_device_create(device, SAMPLE_QUEUES_TWO, pipelined->options.gpu,
                                     pipelined->window.surface);
    if (exit_code != SAMPLE_EXIT_DONE)
        goto done;

    VkResult result = objects_create(pipelined);
    if (result == VK_SUCCESS)
        exit_code = frames_run(pipelined);
    else
        exit_code = result < 0 ? SAMPLE_EXIT_FAILED : SAMPLE_EXIT_DONE; /* closed at once */
    objects_destroy(pipelined);

done:
    sample_window_detach(&pipelined->window, device);
    sample_device_destroy(device);
    return exit_code;
}

int main(int argc, char **argv)
{
    static struct pipelined pipelined = {
        .options =
            {
                .size = {1280, 720},
                .seed = 16,
                .particles = 120000,
                .compute_latency = 2,
                .cpu_latency = 3,
            },
    };
    struct options *options = &pipelined.options;
    const struct sample_option table[] = {
        {"--frames", "N", "stop after N frames (60 without a window)", SAMPLE_OPTION_NUMBER,
         &options->frames, 1, UINT32_MAX},
        {"--size", "WxH", "size of the picture in pixels (1280x720)", SAMPLE_OPTION_SIZE,
         options->size, 16, 8192},
        {"--out", "FILE.png", "write the last frame to FILE.png; no window then",
         SAMPLE_OPTION_TEXT, &options->out, 0, 0},
        {"--seed", "S", "another flow for each seed (16)", SAMPLE_OPTION_NUMBER, &options->seed, 0,
         UINT32_MAX},
        {"--particles", "N", "number of particles (120000)", SAMPLE_OPTION_NUMBER,
         &options->particles, 1, 4000000},
        {"--headless", NULL, "draw without a window", SAMPLE_OPTION_FLAG, &options->headless, 0, 0},
        {"--gpu", "NAME", "use the GPU with NAME in its name (else $BELFRY_GPU, else the best)",
         SAMPLE_OPTION_TEXT, &options->gpu, 0, 0},
        {"--compute-latency", "N", "frames that graphics stays behind compute (2)",
         SAMPLE_OPTION_NUMBER, &options->compute_latency, 0, COMPUTE_LATENCY_MOST},
        {"--cpu-latency", "N", "frames that the CPU may run ahead of compute (3)",
         SAMPLE_OPTION_NUMBER, &options->cpu_latency, 0, CPU_LATENCY_MOST},
    };

    const char *gpu = getenv("BELFRY_GPU");
    if (gpu && *gpu)
        options->gpu = gpu;
    int exit_code = sample_options_parse(
        table, sizeof table / sizeof *table,
        "A compute queue moves particles, a graphics queue draws them two frames later.", argc,
        argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    if (options->out && !sample_png_writable(options->out))
        return SAMPLE_EXIT_USAGE;

    if (!options->out && !options->headless && sample_display_present())
        pipelined.windowed =
            sample_window_open(&pipelined.window, "pipelined", options->size[0], options->size[1]);
    if (!pipelined.windowed && !options->frames)
        options->frames = 60;

    exit_code = pipelined_run(&pipelined);
    sample_window_close(&pipelined.window);
    return exit_code;
}
