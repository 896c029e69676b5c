/* SPDX-License-Identifier: MIT */
/*
 * Frames of a program whose shaders are hostile to checks: on made-up inputs they don't end, leave
 * what they index, or have code that nothing comes to (shaders/hostile.comp). The layer finds out
 * in its helper process while the program goes on; nothing is rebuilt, so no driver compiles
 * anything at first use.
 */
#include "frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/descriptors.h"
#include "../common/memory.h"
#include "../common/pipeline.h"
#include "../common/report.h"
#include "cache.h"

#include "shaders/hostile.comp.h"

#define ROW_MOST    "frames beside checks of hostile shaders, 99.9 %"
#define ROW_LONGEST "frames beside checks of hostile shaders, the longest"
/* Both have the setting off: how far two such measurements are apart by chance. */
#define ROW_MOST_AGAIN    "frames without checks, measured twice, 99.9 %"
#define ROW_LONGEST_AGAIN "frames without checks, measured twice, the longest"

#define KINDS       3u
#define OF_EACH     4u
#define SHADERS     (KINDS * OF_EACH)
#define DISPATCHES  16u /* of each in a frame */
#define WARM_FRAMES 50u
/* A value is chosen after 8,192 uses, which is a third of the frames; then the checks begin. */
#define FRAMES      1500u
#define NODES       64u
#define END         0x3b9aca07u /* as in the shader */
#define REPETITIONS 15u
#define SHARE       1.1

struct program {
    struct sample_device device;
    struct sample_buffer nodes, sums;
    struct sample_sets sets;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipelines[SHADERS];
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
};

struct node {
    uint32_t next;
    float value;
};

struct push {
    uint32_t first, offset;
    float factor;
};

static VkResult pipeline_create(struct program *p, uint32_t i)
{
    const uint32_t values[2] = {i % KINDS, i};
    const VkSpecializationMapEntry entries[2] = {{0, 0, 4}, {1, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof values, values};
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = sizeof hostile_comp,
        .pCode = hostile_comp,
    };
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main",
                  .pSpecializationInfo = &specialization},
        .layout = p->layout,
    };
    VkResult result = vkCreateShaderModule(p->device.handle, &code, NULL, &info.stage.module);
    if (result >= 0)
        result = vkCreateComputePipelines(p->device.handle, VK_NULL_HANDLE, 1, &info, NULL,
                                          &p->pipelines[i]);
    vkDestroyShaderModule(p->device.handle, info.stage.module, NULL);
    return result;
}

/* A list of eight nodes, and ends of others. */
static void nodes_fill(struct node *nodes)
{
    for (uint32_t i = 0; i < NODES; ++i)
        nodes[i] = (struct node){i < 7 ? i + 1 : END, (float)i / NODES};
}

static bool program_open(struct program *p, const struct bench_options *options,
                         struct bench_found *found)
{
    if (sample_instance_create(&p->device, "belfry-bench", NULL, 0) ||
        sample_device_create(&p->device, SAMPLE_QUEUES_ENGINES, options->gpu, VK_NULL_HANDLE)) {
        bench_found_nothing(found, "no device with a graphics queue");
        return false;
    }
    const struct sample_device *device = &p->device;
    const VkDeviceSize bytes = (2 * NODES + 64) * sizeof(float);
    if (!bench_worked(sample_buffer_create(device, NODES * sizeof(struct node),
                                           VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true, "nodes",
                                           &p->nodes),
                      "a buffer", found) ||
        !bench_worked(sample_buffer_create(device, bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, true,
                                           "sums", &p->sums),
                      "a buffer", found))
        return false;
    nodes_fill(p->nodes.mapped);
    memset(p->sums.mapped, 0, bytes);
    const struct sample_slot slots[2] = {
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .stages = VK_SHADER_STAGE_COMPUTE_BIT,
         .buffer = p->nodes.handle},
        {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
         .stages = VK_SHADER_STAGE_COMPUTE_BIT,
         .buffer = p->sums.handle},
    };
    bool done =
        bench_worked(sample_sets_fill(device, slots, 2, 1, &p->sets, &p->set), "a set", found) &&
        bench_worked(sample_pipeline_layout(device, p->sets.layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                            sizeof(struct push), &p->layout),
                     "a layout", found);
    for (uint32_t i = 0; done && i < SHADERS; ++i)
        done = bench_worked(pipeline_create(p, i), "a pipeline", found);
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return done &&
           bench_worked(sample_command_buffers(device, device->graphics.family, 1, "frames",
                                               &p->pool, &p->commands),
                        "a command buffer", found) &&
           bench_worked(vkCreateFence(device->handle, &fence, NULL, &p->fence), "a fence", found);
}

static void program_close(struct program *p)
{
    if (p->device.handle) {
        vkDeviceWaitIdle(p->device.handle);
        vkDestroyFence(p->device.handle, p->fence, NULL);
        vkDestroyCommandPool(p->device.handle, p->pool, NULL);
        for (uint32_t i = 0; i < SHADERS; ++i)
            vkDestroyPipeline(p->device.handle, p->pipelines[i], NULL);
        vkDestroyPipelineLayout(p->device.handle, p->layout, NULL);
        sample_sets_destroy(&p->device, &p->sets);
        sample_buffer_destroy(&p->device, &p->sums);
        sample_buffer_destroy(&p->device, &p->nodes);
    }
    sample_device_destroy(&p->device);
}

/* All shaders, several times, from the first command until the CPU has seen the end. */
static bool frame_run(struct program *p, double *microseconds, struct bench_found *found)
{
    const struct push push = {1, 1, 0.75f};
    const uint64_t start = bench_now();
    if (!bench_worked(sample_commands_begin(p->commands), "recording", found))
        return false;
    vkCmdBindDescriptorSets(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->layout, 0, 1, &p->set,
                            0, NULL);
    for (uint32_t i = 0; i < SHADERS; ++i) {
        vkCmdBindPipeline(p->commands, VK_PIPELINE_BIND_POINT_COMPUTE, p->pipelines[i]);
        vkCmdPushConstants(p->commands, p->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                           &push);
        for (uint32_t k = 0; k < DISPATCHES; ++k)
            vkCmdDispatch(p->commands, 1, 1, 1);
        sample_barrier(p->commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT);
    }
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &p->commands};
    bool done = bench_worked(sample_commands_end(p->commands), "recording", found) &&
                bench_worked(vkQueueSubmit(p->device.graphics.handle, 1, &submit, p->fence),
                             "submitting", found) &&
                bench_worked(vkWaitForFences(p->device.handle, 1, &p->fence, VK_TRUE, UINT64_MAX),
                             "waiting", found) &&
                bench_worked(vkResetFences(p->device.handle, 1, &p->fence), "a fence", found);
    *microseconds = (double)(bench_now() - start) / 1000;
    return done;
}

void frames_hostile(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found)
{
    static struct program p;
    static double times[FRAMES];
    char cache[BENCH_CACHE];
    setenv("VK_INSTANCE_LAYERS", "VK_LAYER_BELFRY_multi_engine", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", side == BENCH_BELFRY ? "exact" : "off", 1);
    bool done = bench_cache_make(cache, found) && program_open(&p, options, found);
    for (uint32_t i = 0; done && i < WARM_FRAMES + FRAMES; ++i)
        done = frame_run(&p, &times[i < WARM_FRAMES ? 0 : i - WARM_FRAMES], found);
    program_close(&p);
    bench_cache_remove(cache);
    if (!done)
        return;
    bench_spread(times, FRAMES); /* sorts them */
    found->plain[0] = times[FRAMES - 1 - FRAMES / 1000];
    found->plain[1] = times[FRAMES - 1];
    found->count = 2;
}

enum { FRAMES_OFF, FRAMES_AGAIN, FRAMES_EXACT, FRAMES_KINDS };

void frames_rows(const struct bench_options *options, struct bench_report *report)
{
    static const char *const rows[] = {ROW_MOST, ROW_LONGEST, ROW_MOST_AGAIN, ROW_LONGEST_AGAIN};
    static struct bench_found found;
    double most[FRAMES_KINDS][REPETITIONS], longest[FRAMES_KINDS][REPETITIONS];
    for (uint32_t turn = 0; turn < FRAMES_KINDS * REPETITIONS; ++turn) {
        const uint32_t round = turn / FRAMES_KINDS, kind = (turn + round) % FRAMES_KINDS;
        bench_part_run("frames-hostile", kind == FRAMES_EXACT ? BENCH_BELFRY : BENCH_PLAIN, options,
                       NULL, &found);
        for (int i = 0; found.reason[0] && i < 4; ++i)
            bench_row_skip(report, rows[i], "%s", found.reason);
        if (found.reason[0])
            return;
        most[kind][round] = found.plain[0];
        longest[kind][round] = found.plain[1];
    }
    bench_row_share(report, rows[0], "us", most[FRAMES_OFF], most[FRAMES_EXACT], REPETITIONS,
                    SHARE);
    bench_row_share(report, rows[1], "us", longest[FRAMES_OFF], longest[FRAMES_EXACT], REPETITIONS,
                    SHARE);
    bench_row_share(report, rows[2], "us", most[FRAMES_OFF], most[FRAMES_AGAIN], REPETITIONS,
                    INFINITY);
    bench_row_share(report, rows[3], "us", longest[FRAMES_OFF], longest[FRAMES_AGAIN], REPETITIONS,
                    INFINITY);
}
