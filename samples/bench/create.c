/* SPDX-License-Identifier: MIT */
/*
 * Parts of `record`: what the setting 'specialize' adds to the creation of modules and pipelines,
 * and to a wait for a fence over many command buffers. Both sides run under the layer, with the
 * setting off and on, and take turns with each pipeline and each wait.
 */
#include "create.h"

#include <stdlib.h>
#include <string.h>

#include "side.h"

#define REPETITIONS 20u
#define DRIVER_TURNS                                                                               \
    250u /* pipelines of a side in a repetition, on a driver that compiles nothing */
#define SMALL_BYTES (19u << 10)
#define LARGE_BYTES (350u << 10)
#define WAITS       25u  /* in a repetition */
#define COMMANDS    256u /* command buffers that a wait is for */
#define VALUES      4u   /* of push constants, used in turn */
#define DISPATCHES  16u  /* in a command buffer */

struct maker {
    struct side side;
    VkPipelineLayout layout;
};

static bool maker_open(struct maker *m, const char *specialize, const struct bench_options *options,
                       struct bench_found *found)
{
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", specialize, 1);
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, 4},
    };
    return side_open(&m->side, BENCH_BELFRY, options ? options->gpu : NULL, 1, found) &&
           bench_worked(m->side.vk.vkCreatePipelineLayout(m->side.device, &info, NULL, &m->layout),
                        "vkCreatePipelineLayout", found);
}

/* Accepts a zeroed one. */
static void maker_close(struct maker *m)
{
    if (m->side.device)
        m->side.vk.vkDestroyPipelineLayout(m->side.device, m->layout, NULL);
    side_close(&m->side);
}

#define OP(count_, opcode_) ((count_) << 16 | (opcode_))

/* A compute shader of about so many bytes: a chain of additions of 'constant', beginning with what
 * it reads of push constants if it does. Returns the number of words. */
static size_t module_write(uint32_t *words, size_t bytes, bool pushes, uint32_t constant)
{
    enum { MAIN = 1, VOID, FUNCTION, UINT, CONSTANT, BLOCK, BLOCKS, PUSH, UINTS, ZERO, LABEL, AT };
    const uint32_t head[] = {
        0x07230203, 0x00010300, 0,    0,          0,    /* the bound comes later */
        OP(2, 17),  1,                                  /* Shader */
        OP(3, 14),  0,          1,                      /* Logical GLSL450 */
        OP(5, 15),  5,          MAIN, 0x6e69616d, 0,    /* GLCompute "main" */
        OP(6, 16),  MAIN,       17,   1,          1, 1, /* LocalSize */
    };
    const uint32_t decorations[] = {OP(3, 71), BLOCK, 2, OP(5, 72), BLOCK, 0, 35, 0};
    const uint32_t types[] = {OP(2, 19), VOID, OP(3, 33), FUNCTION, VOID,     OP(4, 21), UINT,
                              32,        0,    OP(4, 43), UINT,     CONSTANT, constant};
    const uint32_t block[] = {OP(3, 30), BLOCK,     UINT, OP(4, 32), BLOCKS,    9,      BLOCK,
                              OP(4, 32), UINTS,     9,    UINT,      OP(4, 59), BLOCKS, PUSH,
                              9,         OP(4, 43), UINT, ZERO,      0};
    const uint32_t begin[] = {OP(5, 54), VOID, MAIN, 0, FUNCTION, OP(2, 248), LABEL};
    const uint32_t load[] = {OP(5, 65), UINTS, AT, PUSH, ZERO, OP(4, 61), UINT, AT + 1, AT};
    size_t at = 0;
#define PUT(list_) (memcpy(words + at, list_, sizeof(list_)), at += sizeof(list_) / 4)
    PUT(head);
    if (pushes)
        PUT(decorations);
    PUT(types);
    if (pushes)
        PUT(block);
    PUT(begin);
    if (pushes)
        PUT(load);
    uint32_t last = pushes ? AT + 1 : CONSTANT, id = AT + 2;
    for (; (at + 7) * 4 <= bytes; last = id++) {
        const uint32_t add[] = {OP(5, 128), UINT, id, last, CONSTANT};
        PUT(add);
    }
    const uint32_t end[] = {OP(1, 253), OP(1, 56)};
    PUT(end);
#undef PUT
    words[3] = id;
    return at;
}

/* Creates a module and a pipeline of it, and destroys them. The duration of the creation, in µs;
 * with `copy` that of copying the words there, too. */
static bool make(struct maker *m, const uint32_t *words, size_t count, void *copy, VkPipeline *kept,
                 double *microseconds, struct bench_found *found)
{
    const struct VolkDeviceTable *vk = &m->side.vk;
    const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = 4 * count,
                                           .pCode = words};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = m->layout,
    };
    VkPipeline pipeline = VK_NULL_HANDLE;
    const uint64_t begin = bench_now();
    if (copy)
        memcpy(copy, words, 4 * count);
    bool done =
        bench_worked(vk->vkCreateShaderModule(m->side.device, &code, NULL, &info.stage.module),
                     "vkCreateShaderModule", found) &&
        bench_worked(
            vk->vkCreateComputePipelines(m->side.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
            "vkCreateComputePipelines", found);
    *microseconds = (double)(bench_now() - begin) / 1000;
    vk->vkDestroyShaderModule(m->side.device, info.stage.module, NULL);
    if (kept)
        *kept = pipeline;
    else
        vk->vkDestroyPipeline(m->side.device, pipeline, NULL);
    return done;
}

/* Every module is one that neither side has seen. With `fresh` memory comes from the system for the
 * first time, and the first side copies the module, too. */
static void create(const struct bench_options *options, size_t bytes, bool pushes, bool fresh,
                   uint32_t turns, struct bench_found *found)
{
    struct maker makers[2] = {0};
    const size_t pages = (bytes + 4096) & ~(size_t)4095;
    char *copies = NULL;
    if (fresh)
        copies = malloc((REPETITIONS + 1) * turns * pages);
    else
        side_warm_heap();
    uint32_t *words = malloc(bytes + 4096);
    static double samples[2][DRIVER_TURNS];
    bool done = words && (!fresh || copies) && maker_open(&makers[0], "off", options, found) &&
                maker_open(&makers[1], "exact", options, found);
    for (uint32_t repetition = 0; done && repetition <= REPETITIONS; repetition++) {
        for (uint32_t turn = 0; done && turn < 2 * turns; turn++) {
            const uint32_t which = (turn + turn / 2) % 2;
            const uint32_t serial = 1 + repetition * 2 * turns + turn;
            const size_t count = module_write(words, bytes, pushes, serial);
            char *copy = copies && !which ? copies + pages * (repetition * turns + turn / 2) : NULL;
            done = make(&makers[which], words, count, copy, NULL, &samples[which][turn / 2], found);
        }
        if (!repetition || !done)
            continue; /* the first fills caches */
        found->plain[repetition - 1] = bench_spread(samples[0], turns).median;
        found->belfry[repetition - 1] = bench_spread(samples[1], turns).median;
        found->count = repetition;
    }
    maker_close(&makers[1]);
    maker_close(&makers[0]);
    free(words);
    free(copies);
}

#define CREATE(name_, bytes_, pushes_, fresh_, turns_)                                             \
    void name_(const struct bench_options *options, enum bench_side side,                          \
               struct bench_found *found)                                                          \
    {                                                                                              \
        (void)side;                                                                                \
        create(options, bytes_, pushes_, fresh_, turns_, found);                                   \
    }
CREATE(create_small, SMALL_BYTES, false, false, DRIVER_TURNS)
CREATE(create_large, LARGE_BYTES, false, false, DRIVER_TURNS)
CREATE(create_watched, SMALL_BYTES, true, false, DRIVER_TURNS)
CREATE(create_watched_fresh, SMALL_BYTES, true, true, DRIVER_TURNS)
CREATE(create_small_compiled, SMALL_BYTES, false, false, DRIVER_TURNS)
CREATE(create_large_compiled, LARGE_BYTES, false, false, 25)

/* ---- Waiting ---- */

struct waiter {
    struct maker maker;
    VkPipeline pipeline;
    VkCommandPool pool;
    VkCommandBuffer commands[COMMANDS];
    VkFence fence;
};

static bool waiter_open(struct waiter *w, const char *specialize, struct bench_found *found)
{
    uint32_t words[4096];
    double microseconds;
    if (!maker_open(&w->maker, specialize, NULL, found) ||
        !make(&w->maker, words, module_write(words, 2048, true, 1), NULL, &w->pipeline,
              &microseconds, found))
        return false;
    const struct VolkDeviceTable *vk = &w->maker.side.vk;
    const VkDevice device = w->maker.side.device;
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = w->maker.side.family,
    };
    VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = COMMANDS,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!bench_worked(vk->vkCreateCommandPool(device, &pool, NULL, &w->pool), "vkCreateCommandPool",
                      found))
        return false;
    commands.commandPool = w->pool;
    return bench_worked(vk->vkAllocateCommandBuffers(device, &commands, w->commands),
                        "vkAllocateCommandBuffers", found) &&
           bench_worked(vk->vkCreateFence(device, &fence, NULL, &w->fence), "vkCreateFence", found);
}

static void waiter_close(struct waiter *w)
{
    if (w->maker.side.device) {
        const struct VolkDeviceTable *vk = &w->maker.side.vk;
        vk->vkDestroyFence(w->maker.side.device, w->fence, NULL);
        vk->vkDestroyCommandPool(w->maker.side.device, w->pool, NULL);
        vk->vkDestroyPipeline(w->maker.side.device, w->pipeline, NULL);
    }
    maker_close(&w->maker);
}

/* Records and submits all command buffers; the duration of the wait alone, in µs. */
static bool frame(struct waiter *w, double *microseconds, struct bench_found *found)
{
    const struct VolkDeviceTable *vk = &w->maker.side.vk;
    const VkDevice device = w->maker.side.device;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    if (!bench_worked(vk->vkResetCommandPool(device, w->pool, 0), "vkResetCommandPool", found))
        return false;
    for (uint32_t i = 0; i < COMMANDS; i++) {
        if (!bench_worked(vk->vkBeginCommandBuffer(w->commands[i], &begin), "vkBeginCommandBuffer",
                          found))
            return false;
        vk->vkCmdBindPipeline(w->commands[i], VK_PIPELINE_BIND_POINT_COMPUTE, w->pipeline);
        for (uint32_t k = 0; k < DISPATCHES; k++) {
            const uint32_t value = k % VALUES;
            vk->vkCmdPushConstants(w->commands[i], w->maker.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                   4, &value);
            vk->vkCmdDispatch(w->commands[i], 1, 1, 1);
        }
        if (!bench_worked(vk->vkEndCommandBuffer(w->commands[i]), "vkEndCommandBuffer", found))
            return false;
    }
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = COMMANDS,
                                 .pCommandBuffers = w->commands};
    if (!bench_worked(vk->vkQueueSubmit(w->maker.side.queues[0], 1, &submit, w->fence),
                      "vkQueueSubmit", found))
        return false;
    const uint64_t start = bench_now();
    bool done = bench_worked(vk->vkWaitForFences(device, 1, &w->fence, VK_TRUE, UINT64_MAX),
                             "vkWaitForFences", found);
    *microseconds = (double)(bench_now() - start) / 1000;
    return done && bench_worked(vk->vkResetFences(device, 1, &w->fence), "vkResetFences", found);
}

void wait_many(const struct bench_options *options, enum bench_side side, struct bench_found *found)
{
    static struct waiter waiters[2];
    double samples[2][WAITS];
    (void)options;
    (void)side;
    bool done = waiter_open(&waiters[0], "off", found) && waiter_open(&waiters[1], "exact", found);
    for (uint32_t repetition = 0; done && repetition <= REPETITIONS; repetition++) {
        for (uint32_t turn = 0; done && turn < 2 * WAITS; turn++) {
            const uint32_t which = (turn + turn / 2) % 2;
            done = frame(&waiters[which], &samples[which][turn / 2], found);
        }
        if (!repetition || !done)
            continue;
        found->plain[repetition - 1] = bench_spread(samples[0], WAITS).median;
        found->belfry[repetition - 1] = bench_spread(samples[1], WAITS).median;
        found->count = repetition;
    }
    waiter_close(&waiters[1]);
    waiter_close(&waiters[0]);
}
