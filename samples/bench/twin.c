/* SPDX-License-Identifier: MIT */
/* Opens the same Vulkan program twice in one process: on the plain driver and under the layer. */
#include "twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

static const struct {
    const char *name, *value;
} settings[] = {
    {"VK_INSTANCE_LAYERS", "VK_LAYER_BELFRY_multi_engine"},
    {"VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact"},
    {"VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE", "true"},
    {"VK_BELFRY_MULTI_ENGINE_REPORT", "true"},
};
#define SETTING_COUNT (sizeof settings / sizeof *settings)

static bool belfry_open(struct twin *twin, const char *gpu, uint32_t width, uint32_t height,
                        struct bench_found *found)
{
    BfBackgroundProcessingProperties properties = {
        .sType = BF_STRUCTURE_TYPE_BACKGROUND_PROCESSING_PROPERTIES};

    if (!bench_cache_make(twin->cache, found))
        return false;
    for (size_t i = 0; i < SETTING_COUNT; ++i)
        setenv(settings[i].name, settings[i].value, 1);
    int code = corpus_gpu_open(&twin->gpus[BENCH_BELFRY], gpu, width, height);
    for (size_t i = 0; i < SETTING_COUNT; ++i)
        unsetenv(settings[i].name);
    twin->open[BENCH_BELFRY] = true;
    twin->used = BENCH_BELFRY;
    VkResult result = code ? VK_ERROR_INITIALIZATION_FAILED
                           : bfGetDevice(twin->gpus[BENCH_BELFRY].device.handle, &twin->belfry);
    if (result >= 0)
        result = bfCreateEvent(0, &twin->built);
    if (result >= 0)
        result = bfGetBackgroundProcessingProperties(twin->belfry, &properties);
    if (result < 0)
        bench_found_nothing(found, "the layer can't be had: %s", sample_result_name(result));
    twin->specializes = properties.backgroundProcessingSupported;
    return result >= 0;
}

bool twin_open(struct twin *twin, const char *gpu, uint32_t width, uint32_t height,
               struct bench_found *found)
{
    int code = corpus_gpu_open(&twin->gpus[BENCH_PLAIN], gpu, width, height);
    twin->open[BENCH_PLAIN] = true;
    if (code) {
        bench_found_nothing(found, "no device");
        return false;
    }
    if (twin->gpus[BENCH_PLAIN].stamp_ns == 0) {
        bench_found_nothing(found, "the queue has no timestamps");
        return false;
    }
    return belfry_open(twin, gpu, width, height, found);
}

struct corpus_gpu *twin_use(struct twin *twin, enum bench_side side)
{
    if (twin->used != side && twin->gpus[side].device.handle)
        volkLoadDevice(twin->gpus[side].device.handle);
    twin->used = side;
    return &twin->gpus[side];
}

void twin_close(struct twin *twin, struct variants *variants)
{
    struct variants_capture capture;

    bfDestroyEvent(twin->built);
    *variants = (struct variants){0};
    if (twin->open[BENCH_BELFRY]) {
        bool captured = variants_capture_begin(&capture);
        corpus_gpu_close(twin_use(twin, BENCH_BELFRY));
        if (captured)
            variants_capture_finish(&capture, variants);
    }
    if (twin->open[BENCH_PLAIN])
        corpus_gpu_close(twin_use(twin, BENCH_PLAIN));
    bench_cache_remove(twin->cache);
    *twin = (struct twin){0};
}

VkResult twin_commit(struct twin *twin)
{
    VkResult result =
        sample_check(bfSetBackgroundProcessingMode(
                         twin->belfry, BF_BACKGROUND_PROCESSING_MODE_ALLOW_INTRUSIVE_MEASUREMENTS,
                         BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, twin->built, NULL),
                     "bfSetBackgroundProcessingMode");
    return result < 0 ? result
                      : sample_check(bfWaitForEvents(1, &twin->built, VK_FALSE, UINT64_MAX, NULL),
                                     "bfWaitForEvents");
}

VkResult twin_mode(struct twin *twin, BfBackgroundProcessingMode mode, VkBool32 *further)
{
    return sample_check(bfSetBackgroundProcessingMode(
                            twin->belfry, mode, BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, further),
                        "bfSetBackgroundProcessingMode");
}

VkResult twin_begin(struct corpus_gpu *gpu)
{
    VkResult result = sample_commands_begin(gpu->commands);
    if (result < 0)
        return result;
    vkCmdResetQueryPool(gpu->commands, gpu->stamps, 0, 2);
    vkCmdWriteTimestamp2(gpu->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, gpu->stamps, 0);
    /* lavapipe writes the timestamp only when it next waits for its own work
     * (tests/corpus/gpu.c). */
    sample_barrier(gpu->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                   VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT);
    return VK_SUCCESS;
}

VkResult twin_end(struct corpus_gpu *gpu, double *ns)
{
    uint64_t ticks[2];
    VkDevice device = gpu->device.handle;

    vkCmdWriteTimestamp2(gpu->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, gpu->stamps, 1);
    VkResult result = sample_commands_end(gpu->commands);
    if (result >= 0)
        result = sample_check(
            vkQueueSubmit2(gpu->device.graphics.handle, 1,
                           &(VkSubmitInfo2){
                               .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .commandBufferInfoCount = 1,
                               .pCommandBufferInfos =
                                   &(VkCommandBufferSubmitInfo){
                                       .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                       .commandBuffer = gpu->commands,
                                   },
                           },
                           gpu->fence),
            "vkQueueSubmit2");
    if (result >= 0)
        result = sample_check(vkWaitForFences(device, 1, &gpu->fence, VK_TRUE, UINT64_MAX),
                              "vkWaitForFences");
    if (result >= 0)
        result = sample_check(vkResetFences(device, 1, &gpu->fence), "vkResetFences");
    if (result >= 0)
        result = sample_check(vkGetQueryPoolResults(device, gpu->stamps, 0, 2, sizeof ticks, ticks,
                                                    sizeof *ticks, VK_QUERY_RESULT_64_BIT),
                              "vkGetQueryPoolResults");
    *ns = result == VK_SUCCESS ? (double)(ticks[1] - ticks[0]) * gpu->stamp_ns : 0;
    return result;
}
