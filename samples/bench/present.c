/* SPDX-License-Identifier: MIT */
/* Measures the calls of a thread that submits beside another one whose presents block. */
#include "present.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/report.h"

#define REPETITIONS 15
#define PRESENTS    8    /* in a repetition */
#define FRAME_US    1000 /* between two presents */
#define PAUSE_US    6000 /* between two calls of the neighbour, at most */
#define IMAGES      3
#define SHARE       0.05 /* of the plain call, that Belfry's may take more */
#define OTHER_US    20.0 /* a short call may take so much more, whatever its share */

bool presenter_open(struct presenter *p, enum bench_side which, uint32_t queues,
                    struct bench_found *found)
{
    if (!side_open_presenting(&p->side, which, queues, found))
        return false;
    const struct VolkDeviceTable *vk = &p->side.vk;
    PFN_vkCreateHeadlessSurfaceEXT create = (PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(
        p->side.instance, "vkCreateHeadlessSurfaceEXT");
    VkResult result = create(p->side.instance,
                             &(VkHeadlessSurfaceCreateInfoEXT){
                                 .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT},
                             NULL, &p->surface);
    if (result == VK_SUCCESS)
        result = vk->vkCreateSwapchainKHR(p->side.device,
                                          &(VkSwapchainCreateInfoKHR){
                                              .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                              .surface = p->surface,
                                              .minImageCount = IMAGES,
                                              .imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
                                              .imageExtent = {64, 64},
                                              .imageArrayLayers = 1,
                                              .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                              .preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
                                              .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                              .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                          },
                                          NULL, &p->swapchain);
    if (result == VK_SUCCESS)
        result = vk->vkCreateFence(
            p->side.device, &(VkFenceCreateInfo){.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO},
            NULL, &p->fence);
    if (result != VK_SUCCESS)
        bench_found_nothing(found, "swapchain: %s", sample_result_name(result));
    return result == VK_SUCCESS;
}

/* The program has one VkQueue, and a command queue beside it. */
static bool presenter_open_commands(struct presenter *p, struct bench_found *found)
{
    const BfCommandQueueCreateInfo info = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                           .type = BF_COMMAND_LIST_TYPE_DIRECT};
    BfDevice device;
    if (!presenter_open(p, BENCH_BELFRY, 1, found))
        return false;
    VkResult result = bfGetDevice(p->side.device, &device);
    if (result == VK_SUCCESS)
        result = bfCreateCommandQueue(device, &info, &p->commands);
    if (result != VK_SUCCESS)
        bench_found_nothing(found, "bfCreateCommandQueue: %s", sample_result_name(result));
    return result == VK_SUCCESS;
}

void presenter_close(struct presenter *p)
{
    bfDestroyCommandQueue(p->commands);
    if (p->side.device) {
        p->side.vk.vkDeviceWaitIdle(p->side.device);
        p->side.vk.vkDestroyFence(p->side.device, p->fence, NULL);
        if (p->swapchain)
            p->side.vk.vkDestroySwapchainKHR(p->side.device, p->swapchain, NULL);
    }
    PFN_vkDestroySurfaceKHR destroy =
        (PFN_vkDestroySurfaceKHR)vkGetInstanceProcAddr(p->side.instance, "vkDestroySurfaceKHR");
    if (p->surface)
        destroy(p->side.instance, p->surface, NULL);
    side_close(&p->side);
}

VkResult presenter_present(struct presenter *p)
{
    const struct VolkDeviceTable *vk = &p->side.vk;
    uint32_t image;
    VkResult result = vk->vkAcquireNextImageKHR(p->side.device, p->swapchain, UINT64_MAX,
                                                VK_NULL_HANDLE, p->fence, &image);
    if (result >= 0)
        result = vk->vkWaitForFences(p->side.device, 1, &p->fence, VK_TRUE, UINT64_MAX);
    vk->vkResetFences(p->side.device, 1, &p->fence);
    if (result < 0)
        return result;
    if (p->lock)
        pthread_mutex_lock(p->lock);
    result =
        vk->vkQueuePresentKHR(p->side.queues[0], &(VkPresentInfoKHR){
                                                     .sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                                     .swapchainCount = 1,
                                                     .pSwapchains = &p->swapchain,
                                                     .pImageIndices = &image,
                                                 });
    if (p->lock)
        pthread_mutex_unlock(p->lock);
    return result;
}

static void *presenter_run(void *argument)
{
    struct presenter *p = argument;
    for (int i = 0; i < PRESENTS && p->result >= 0; ++i) {
        usleep(FRAME_US);
        p->result = presenter_present(p);
    }
    atomic_store(&p->done, true);
    return NULL;
}

/* The neighbour, while the presenter presents. In us. */
static void neighbour_run(struct presenter *p, VkQueue queue, unsigned seed, double *mean,
                          double *worst)
{
    const VkCommandBufferSubmitInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = p->side.commands,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &commands,
    };
    double sum = 0;
    uint32_t calls = 0;
    *worst = 0;
    while (!atomic_load(&p->done)) {
        usleep((useconds_t)(rand_r(&seed) % PAUSE_US));
        uint64_t begin = bench_now();
        if (p->lock)
            pthread_mutex_lock(p->lock);
        if (p->commands)
            bfQueueExecute(p->commands, 1, &p->side.commands);
        else
            p->side.vk.vkQueueSubmit2(queue, 1, &info, VK_NULL_HANDLE);
        if (p->lock)
            pthread_mutex_unlock(p->lock);
        double us = (double)(bench_now() - begin) / 1e3;
        sum += us;
        *worst = us > *worst ? us : *worst;
        ++calls;
    }
    *mean = sum / calls;
}

/* On one VkQueue the plain program has one queue and a mutex; under Belfry it has two queues, or
 * one and a command queue. */
static void run(bool commands, struct bench_found *found)
{
    struct presenter sides[2] = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool shared = !getenv("BELFRY_ICD_SHAPE") || !strcmp(getenv("BELFRY_ICD_SHAPE"), "q1");
    bool open = presenter_open(&sides[0], BENCH_PLAIN, 2, found) &&
                (commands ? presenter_open_commands(&sides[1], found)
                          : presenter_open(&sides[1], BENCH_BELFRY, 2, found));
    if (open && !commands && sides[1].side.queue_count < 2) {
        bench_found_nothing(found, "under the layer the family has one queue");
        open = false;
    }
    sides[0].lock = shared ? &lock : NULL;
    for (uint32_t i = 0; open && i < REPETITIONS; ++i) {
        for (uint32_t turn = 0; turn < 2; ++turn) {
            uint32_t which = (i + turn) % 2;
            struct presenter *p = &sides[which];
            pthread_t thread;
            double mean, worst;
            atomic_store(&p->done, false);
            bench_thread_start(&thread, presenter_run, p);
            neighbour_run(p, p->side.queues[p->side.queue_count > 1], i, &mean, &worst);
            pthread_join(thread, NULL);
            if (p->result < 0) {
                bench_found_nothing(found, "presents: %s", sample_result_name(p->result));
                open = false;
                break;
            }
            double *to = which ? found->belfry : found->plain;
            to[i] = mean;
            to[REPETITIONS + i] = worst;
        }
    }
    found->count = open ? 2 * REPETITIONS : 0;
    presenter_close(&sides[1]);
    presenter_close(&sides[0]);
}

void present_run(const struct bench_options *options, enum bench_side side,
                 struct bench_found *found)
{
    (void)options;
    (void)side;
    run(false, found);
}

void present_commands_run(const struct bench_options *options, enum bench_side side,
                          struct bench_found *found)
{
    (void)options;
    (void)side;
    run(true, found);
}

static void present_row(struct bench_report *report, const char *name,
                        const struct bench_found *found, uint32_t first, double least_us)
{
    if (found->reason[0]) {
        bench_row_skip(report, name, "%s", found->reason);
        return;
    }
    double plain[REPETITIONS];
    memcpy(plain, found->plain + first, sizeof plain);
    double allowance = SHARE * bench_spread(plain, REPETITIONS).median;
    bench_row_cost(report, name, "us", found->plain + first, found->belfry + first, REPETITIONS,
                   allowance > least_us ? allowance : least_us);
}

/* One call in a repetition is as long as the machine's other work makes it: without a limit. */
static void present_row_shown(struct bench_report *report, const char *name,
                              const struct bench_found *found, uint32_t first)
{
    if (found->reason[0])
        bench_row_skip(report, name, "%s", found->reason);
    else
        bench_row_show(report, name, "us", found->plain + first, found->belfry + first,
                       REPETITIONS);
}

void present_rows(struct bench_report *report)
{
    static struct bench_found found;
    const char *settings[] = {"BELFRY_ICD_SHAPE=q1", "BELFRY_ICD_BLOCK=vkQueuePresentKHR:1:1:16000",
                              "VK_BELFRY_MULTI_ENGINE_QUEUES_PER_FAMILY=2",
                              "BELFRY_ICD_INTERNAL_QUEUES=0", NULL};
    bench_part_run_on_icd("present", BENCH_BELFRY, settings, &found);
    present_row(report, PRESENT_ROW_MEAN, &found, 0, 0);
    present_row(report, PRESENT_ROW_WORST, &found, REPETITIONS, 0);
    settings[3] = "BELFRY_ICD_INTERNAL_QUEUES=1";
    bench_part_run_on_icd("present", BENCH_BELFRY, settings, &found);
    present_row(report, PRESENT_ROW_INTERNAL, &found, 0, 0);
    settings[3] = NULL;
    settings[0] = "BELFRY_ICD_SHAPE=q2";
    bench_part_run_on_icd("present", BENCH_BELFRY, settings, &found);
    present_row(report, PRESENT_ROW_OTHER, &found, 0, OTHER_US);
    present_row_shown(report, PRESENT_ROW_OTHER_WORST, &found, REPETITIONS);
    bench_part_run_on_icd("present_commands", BENCH_BELFRY, settings, &found);
    present_row(report, PRESENT_ROW_SPARE, &found, 0, OTHER_US);
}
