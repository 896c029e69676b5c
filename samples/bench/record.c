/* SPDX-License-Identifier: MIT */
/*
 * `record`: the cost of recording commands while Belfry looks for push constants for which shaders
 * are worth rebuilding (the setting 'specialize').
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "shaders/record_plain.comp.h"
#include "shaders/record_watched.comp.h"
#include "side.h"

/* The limits that this project has set itself. */
#define OFF_NANOSECONDS     2.0
#define PLAIN_NANOSECONDS   12.0
#define WATCHED_NANOSECONDS 30.0

#define ROW_OFF     "bind + push + dispatch, specialize=off"
#define ROW_PLAIN   "bind + push + dispatch, nothing to watch"
#define ROW_WATCHED "bind + push + dispatch, watched"

/* Those below compare specialize=off with exact, both under the layer. */
#define CREATE_MICROSECONDS 10.0
#define COMPILED_SHARE      1.02
#define WAIT_MICROSECONDS   5.0

#define ROW_SMALL    "creating a pipeline of 19 KB, nothing to watch"
#define ROW_LARGE    "creating a pipeline of 350 KB, nothing to watch"
#define ROW_CREATE   "creating a pipeline of 19 KB, watched"
#define ROW_FRESH    "the same, in memory fresh from the system, beside a copy"
#define ROW_WAIT     "a wait for a fence over 256 command buffers, watched"
#define ROW_COMPILED "the same of 19 KB, nothing to watch, compiled"
#define ROW_HEAVY    "the same of 350 KB, nothing to watch, compiled"
#define ROW_LINK     "linking a pipeline from libraries, nothing to watch, compiled"
#define ROW_LINKED   "the same, watched, compiled"

static const char *const required[] = {ROW_OFF,   ROW_PLAIN,  ROW_WATCHED, ROW_SMALL,
                                       ROW_LARGE, ROW_CREATE, ROW_FRESH,   ROW_WAIT,
                                       ROW_LINK,  ROW_LINKED, NULL};

#define TRIPLES     1000u /* of commands, in a command buffer */
#define BATCHES     64u   /* in a repetition */
#define REPETITIONS 20u
#define VALUES      4u /* number of different push constants, used in turn */

struct recorder {
    struct side side;
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static bool recorder_open(struct recorder *r, enum bench_side which, const char *specialize,
                          const uint32_t *words, size_t size, struct bench_found *found)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", specialize, 1);
    if (!side_open(&r->side, which, NULL, 1, found))
        return false;
    const struct VolkDeviceTable *vk = &r->side.vk;
    VkDevice device = r->side.device;
    VkShaderModule module = VK_NULL_HANDLE;
    bool done =
        bench_worked(vk->vkCreateDescriptorSetLayout(
                         device,
                         &(VkDescriptorSetLayoutCreateInfo){
                             .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                             .bindingCount = 1,
                             .pBindings =
                                 &(VkDescriptorSetLayoutBinding){
                                     .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                     .descriptorCount = 1,
                                     .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
                                 },
                         },
                         NULL, &r->set),
                     "vkCreateDescriptorSetLayout", found) &&
        bench_worked(vk->vkCreatePipelineLayout(
                         device,
                         &(VkPipelineLayoutCreateInfo){
                             .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                             .setLayoutCount = 1,
                             .pSetLayouts = &r->set,
                             .pushConstantRangeCount = 1,
                             .pPushConstantRanges =
                                 &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, 16},
                         },
                         NULL, &r->layout),
                     "vkCreatePipelineLayout", found) &&
        bench_worked(
            vk->vkCreateShaderModule(device,
                                     &(VkShaderModuleCreateInfo){
                                         .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                         .codeSize = size,
                                         .pCode = words,
                                     },
                                     NULL, &module),
            "vkCreateShaderModule", found) &&
        bench_worked(vk->vkCreateComputePipelines(
                         device, VK_NULL_HANDLE, 1,
                         &(VkComputePipelineCreateInfo){
                             .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                             .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                       .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                       .module = module,
                                       .pName = "main"},
                             .layout = r->layout,
                         },
                         NULL, &r->pipeline),
                     "vkCreateComputePipelines", found);
    vk->vkDestroyShaderModule(device, module, NULL);
    return done;
}

/* Accepts a zeroed one. */
static void recorder_close(struct recorder *r)
{
    if (r->side.device) {
        const struct VolkDeviceTable *vk = &r->side.vk;
        vk->vkDestroyPipeline(r->side.device, r->pipeline, NULL);
        vk->vkDestroyPipelineLayout(r->side.device, r->layout, NULL);
        vk->vkDestroyDescriptorSetLayout(r->side.device, r->set, NULL);
    }
    side_close(&r->side);
}

/* Records into the side's own command buffer, which is never submitted. The duration is in ns per
 * triple of commands. */
static bool record(struct recorder *r, double *nanoseconds, struct bench_found *found)
{
    static const uint32_t values[VALUES][4] = {{0, 4}, {1, 4}, {0, 8}, {1, 16}};
    const struct VolkDeviceTable *vk = &r->side.vk;
    VkCommandBuffer commands = r->side.commands;
    if (!bench_worked(vk->vkResetCommandPool(r->side.device, r->side.pool, 0), "vkResetCommandPool",
                      found) ||
        !bench_worked(
            vk->vkBeginCommandBuffer(commands,
                                     &(VkCommandBufferBeginInfo){
                                         .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                     }),
            "vkBeginCommandBuffer", found))
        return false;
    uint64_t begin = bench_now();
    for (uint32_t i = 0; i < TRIPLES; ++i) {
        vk->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->pipeline);
        vk->vkCmdPushConstants(commands, r->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 16,
                               values[i % VALUES]);
        vk->vkCmdDispatch(commands, 1, 1, 1);
    }
    *nanoseconds = (double)(bench_now() - begin) / TRIPLES;
    return bench_worked(vk->vkEndCommandBuffer(commands), "vkEndCommandBuffer", found);
}

static void compare(struct recorder *plain, struct recorder *belfry, struct bench_found *found)
{
    struct recorder *const sides[2] = {plain, belfry};
    double samples[2][BATCHES];
    /* One repetition more than is counted: the first fills caches. */
    for (uint32_t repetition = 0; repetition <= REPETITIONS; ++repetition) {
        for (uint32_t turn = 0; turn < 2 * BATCHES; ++turn) {
            uint32_t which = (turn + turn / 2) % 2;
            if (!record(sides[which], &samples[which][turn / 2], found))
                return;
        }
        if (!repetition)
            continue;
        for (uint32_t i = 0; i < BATCHES; ++i)
            samples[1][i] -= samples[0][i];
        found->plain[repetition - 1] = bench_spread(samples[0], BATCHES).median;
        found->belfry[repetition - 1] =
            found->plain[repetition - 1] + bench_spread(samples[1], BATCHES).median;
    }
    found->count = REPETITIONS;
}

/* Runs in a child, on the test driver, where recording a command costs next to nothing. */
static void part(const char *specialize, const uint32_t *words, size_t size,
                 struct bench_found *found)
{
    struct recorder plain = {0}, belfry = {0};
    if (recorder_open(&plain, BENCH_PLAIN, "off", words, size, found) &&
        recorder_open(&belfry, BENCH_BELFRY, specialize, words, size, found))
        compare(&plain, &belfry, found);
    recorder_close(&belfry);
    recorder_close(&plain);
}

void record_off(const struct bench_options *options, enum bench_side side,
                struct bench_found *found)
{
    (void)options;
    (void)side;
    part("off", record_watched_comp, sizeof record_watched_comp, found);
}

void record_plain(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found)
{
    (void)options;
    (void)side;
    part("exact", record_plain_comp, sizeof record_plain_comp, found);
}

void record_watched(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found)
{
    (void)options;
    (void)side;
    part("exact", record_watched_comp, sizeof record_watched_comp, found);
}

static int record_run(const struct bench_options *options, struct bench_report *report)
{
    static const struct {
        const char *part, *row;
        double allowance;
    } rows[] = {
        {"record-off", ROW_OFF, OFF_NANOSECONDS},
        {"record-plain", ROW_PLAIN, PLAIN_NANOSECONDS},
        {"record-watched", ROW_WATCHED, WATCHED_NANOSECONDS},
    };
    static const struct {
        const char *part, *row;
        double allowance;
    } costs[] = {
        {"create-small", ROW_SMALL, CREATE_MICROSECONDS},
        {"create-large", ROW_LARGE, CREATE_MICROSECONDS},
        {"create-watched", ROW_CREATE, CREATE_MICROSECONDS},
        {"create-watched-fresh", ROW_FRESH, CREATE_MICROSECONDS},
        {"wait-many", ROW_WAIT, WAIT_MICROSECONDS},
    };
    static const struct {
        const char *part, *row;
    } compiled[] = {
        {"create-small-compiled", ROW_COMPILED},
        {"create-large-compiled", ROW_HEAVY},
        {"link-plain", ROW_LINK},
    };
    static struct bench_found found;
    snprintf(report->device, sizeof report->device,
             "the test driver; 'compiled': the first device");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        bench_part_run_on_icd(rows[i].part, BENCH_BELFRY, bench_icd_free, &found);
        if (found.reason[0])
            bench_row_skip(report, rows[i].row, "%s", found.reason);
        else
            bench_row_cost(report, rows[i].row, "ns", found.plain, found.belfry, found.count,
                           rows[i].allowance);
    }
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; ++i) {
        bench_part_run_on_icd(costs[i].part, BENCH_BELFRY, bench_icd_free, &found);
        if (found.reason[0])
            bench_row_skip(report, costs[i].row, "%s", found.reason);
        else
            bench_row_cost(report, costs[i].row, "us", found.plain, found.belfry, found.count,
                           costs[i].allowance);
    }
    for (size_t i = 0; i < sizeof compiled / sizeof compiled[0]; ++i) {
        bench_part_run(compiled[i].part, BENCH_BELFRY, options, NULL, &found);
        if (found.reason[0])
            bench_row_skip(report, compiled[i].row, "%s", found.reason);
        else
            bench_row_share(report, compiled[i].row, "us", found.plain, found.belfry, found.count,
                            COMPILED_SHARE);
    }
    bench_part_run("link-watched", BENCH_BELFRY, options, NULL, &found);
    if (found.reason[0])
        bench_row_skip(report, ROW_LINKED, "%s", found.reason);
    else
        bench_row_cost(report, ROW_LINKED, "us", found.plain, found.belfry, found.count,
                       CREATE_MICROSECONDS);
    return bench_complete(&bench_record, report) ? 0 : 1;
}

const struct bench bench_record = {
    .name = "record",
    .purpose = "what recording costs while Belfry looks for values to rebuild shaders for",
    .run = record_run,
    .required = required,
};
