/* SPDX-License-Identifier: MIT */
/* Measures a queue of high priority beside floods of work on others that share its VkQueue. */
#include "preempt_part.h"

#include <belfry/belfry.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "../common/report.h"
#include "attached.h"
#include "hand_over.h"
#include "side.h"

#define REPETITIONS       15u
#define REPETITIONS_QUIET 5u
#define REPETITIONS_LONG  15u
#define WARMUPS           2u /* what packets take must be learnt first */
#define QUIET_NS          10000000u
#define QUIET_LONG_NS     1000000000u
#define WAIT_NS           20000000000u

#define SHARE_NS     160000000u /* how long it is measured */
#define SHARE_EACH   4000000u
#define SHARE_PIECES 5u /* packets' worth of a packet of the high queue */
#define SHARE_FLOOD  (SHARE_NS / PREEMPT_PACKET_NS + PREEMPT_FLOOD)

#define CALLER_BURSTS 64u
#define CALLER_BURST  64u

#define FAIR_FLOOD 100u /* packets of each low queue */
#define FAIR_EACH  2000000u

/* A queue, or on the plain driver what is submitted to the one VkQueue for it, and how far it is.
 * */
struct stream {
    BfCommandQueue queue;
    BfFence fence;
    VkSemaphore semaphore;
    uint64_t value;
};

struct program {
    struct side side;
    struct side_filler filler;
    VkCommandBuffer packet;
    BfDevice device;  /* NULL: the plain driver */
    bool unpreempted; /* with the setting preemption=off */
    struct stream high, lows[PREEMPT_LOWS];
    uint32_t low_count;
    struct bench_found *found;
};

/* --- opening and closing --- */

static bool on_test_driver(const struct side *side)
{
    return strstr(side->properties.deviceName, "Belfry test driver");
}

/* A dispatch and a barrier before it: dispatches may overlap otherwise. */
static bool dispatch_record(struct program *p)
{
    const struct VolkDeviceTable *vk = &p->side.vk;
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->side.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
    };
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    VkResult result = vk->vkAllocateCommandBuffers(p->side.device, &allocate, &p->packet);
    if (result >= 0)
        result = vk->vkBeginCommandBuffer(p->packet, &begin);
    if (result < 0)
        return bench_worked(result, "a command buffer", p->found);
    vk->vkCmdPipelineBarrier(p->packet, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
                             NULL);
    vk->vkCmdDispatch(p->packet, 1, 1, 1);
    return bench_worked(vk->vkEndCommandBuffer(p->packet), "vkEndCommandBuffer", p->found);
}

/* `fills`: of a packet; 0: it is a dispatch. */
static bool packet_record(struct program *p, uint32_t fills)
{
    if (!fills)
        return dispatch_record(p);
    bool worked = side_filler_create_shared(&p->side, fills, &p->filler, p->found);
    p->packet = p->filler.commands;
    return worked;
}

static bool stream_open(struct program *p, struct stream *stream, BfCommandQueuePriority priority)
{
    const BfCommandQueueCreateInfo queue = {.sType = BF_STRUCTURE_TYPE_COMMAND_QUEUE_CREATE_INFO,
                                            .type = BF_COMMAND_LIST_TYPE_DIRECT,
                                            .priority = priority};
    const BfFenceCreateInfo fence = {.sType = BF_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (!p->device) {
        stream->semaphore = side_timeline(&p->side, p->found);
        return stream->semaphore != VK_NULL_HANDLE;
    }
    return bench_worked(bfCreateCommandQueue(p->device, &queue, &stream->queue),
                        "bfCreateCommandQueue", p->found) &&
           bench_worked(bfCreateFence(p->device, &fence, &stream->fence), "bfCreateFence",
                        p->found);
}

static void stream_close(struct program *p, struct stream *stream)
{
    bfDestroyCommandQueue(stream->queue);
    bfDestroyFence(stream->fence);
    p->side.vk.vkDestroySemaphore(p->side.device, stream->semaphore, NULL);
}

/* program_close must be called in any case. */
static bool program_open(struct program *p, enum bench_side which, const char *gpu, uint32_t fills,
                         BfCommandQueuePriority high, uint32_t lows, struct bench_found *found)
{
    const bool unpreempted = p->unpreempted;
    *p = (struct program){.low_count = lows, .unpreempted = unpreempted, .found = found};
    if (!side_open(&p->side, BENCH_PLAIN, gpu, 1, found) || !packet_record(p, fills))
        return false;
    if (which == BENCH_BELFRY) {
        const BfAttachQueue queue = {.queue = p->side.queues[0],
                                     .queueFamilyIndex = p->side.family};
        const BfSetting off = {.pKey = "preemption", .pValue = "off"};
        const BfAttachInfo info = {
            .sType = BF_STRUCTURE_TYPE_ATTACH_INFO,
            .pfnGetInstanceProcAddr = vkGetInstanceProcAddr,
            .instance = p->side.instance,
            .physicalDevice = p->side.gpu,
            .pfnGetDeviceProcAddr = vkGetDeviceProcAddr,
            .device = p->side.device,
            .queueCount = 1,
            .pQueues = &queue,
            .settingCount = p->unpreempted,
            .pSettings = &off,
            .sharesNothing = VK_TRUE,
        };
        if (!bench_worked(bfAttachDevice(&info, &p->device), "bfAttachDevice", found))
            return false;
    }
    bool open = stream_open(p, &p->high, high);
    for (uint32_t i = 0; i < lows && open; ++i)
        open = stream_open(p, &p->lows[i], BF_COMMAND_QUEUE_PRIORITY_NORMAL);
    return open;
}

static void program_close(struct program *p)
{
    if (p->side.device) {
        for (uint32_t i = 0; i < p->low_count && p->device; ++i)
            if (p->lows[i].queue)
                bfQueueWaitIdle(p->lows[i].queue);
        if (p->high.queue)
            bfQueueWaitIdle(p->high.queue);
        p->side.vk.vkDeviceWaitIdle(p->side.device);
        stream_close(p, &p->high);
        for (uint32_t i = 0; i < p->low_count; ++i)
            stream_close(p, &p->lows[i]);
        bfDetachDevice(p->device);
        side_filler_destroy(&p->side, &p->filler);
    }
    side_close(&p->side);
}

/* --- what either program does --- */

/* Submits a packet with the command buffer, `copies` times. */
static VkResult execute(struct program *p, struct stream *stream, VkCommandBuffer commands,
                        uint32_t copies)
{
    VkCommandBuffer buffers[SHARE_PIECES];
    VkCommandBufferSubmitInfo infos[SHARE_PIECES];
    ++stream->value;
    for (uint32_t i = 0; i < copies; ++i) {
        buffers[i] = commands;
        infos[i] = (VkCommandBufferSubmitInfo){
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = commands};
    }
    if (p->device) {
        VkResult result = bfQueueExecute(stream->queue, copies, buffers);
        return result < 0 ? result : bfQueueSignal(stream->queue, stream->fence, stream->value);
    }
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = stream->semaphore,
        .value = stream->value,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = copies,
        .pCommandBufferInfos = infos,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    return p->side.vk.vkQueueSubmit2(p->side.queues[0], 1, &info, VK_NULL_HANDLE);
}

static VkResult flood(struct program *p, struct stream *stream, uint32_t packets)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < packets && result >= 0; ++i)
        result = execute(p, stream, p->packet, 1);
    return result;
}

static VkResult await(struct program *p, const struct stream *stream)
{
    VkResult result = p->device ? bfWaitFences(1, &stream->fence, &stream->value, 0, WAIT_NS)
                                : side_wait(&p->side, stream->semaphore, stream->value);
    return result == VK_TIMEOUT ? VK_ERROR_UNKNOWN : result;
}

static VkResult await_lows(struct program *p)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < p->low_count && result >= 0; ++i)
        result = await(p, &p->lows[i]);
    return result;
}

static uint64_t completed(struct program *p, const struct stream *stream)
{
    uint64_t value = 0;
    if (p->device)
        return bfGetFenceCompletedValue(stream->fence);
    p->side.vk.vkGetSemaphoreCounterValue(p->side.device, stream->semaphore, &value);
    return value;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec at = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* A repetition of a part by one program; what it returns means nothing once `found` has a reason.
 * */
typedef double (*measure_fn)(struct program *p);

/* Fills `found` of both. */
static void turns_take(struct program programs[2], uint32_t repetitions, measure_fn measure)
{
    struct bench_found *found = programs[0].found;
    for (uint32_t i = 0; i < repetitions + WARMUPS && !found->reason[0]; ++i) {
        for (uint32_t turn = 0; turn < 2 && !found->reason[0]; ++turn) {
            uint32_t which = (i + turn) % 2;
            double value = measure(&programs[which]);
            if (i >= WARMUPS)
                (which ? found->belfry : found->plain)[i - WARMUPS] = value;
        }
    }
    found->count = repetitions;
}

/* Fills `found`. The programs take turns. */
static void part_compare(const struct bench_options *options, BfCommandQueuePriority high,
                         uint32_t lows, uint32_t repetitions, measure_fn measure,
                         struct bench_found *found)
{
    struct program programs[2] = {0};
    uint32_t fills = 0;
    struct side side;
    bool open = side_open(&side, BENCH_PLAIN, options->gpu, 1, found);
    if (open && !on_test_driver(&side)) {
        fills = hand_over_fills(&side, PREEMPT_PACKET_NS, found);
        open = fills > 0;
    }
    side_close(&side);
    for (int which = 0; which < 2 && open; ++which)
        open = program_open(&programs[which], which ? BENCH_BELFRY : BENCH_PLAIN, options->gpu,
                            fills, high, lows, found);
    if (open)
        turns_take(programs, repetitions, measure);
    program_close(&programs[1]);
    program_close(&programs[0]);
}

/* --- the parts --- */

/* Looks until it is complete, without sleep: no thread has to be woken for that. Whoever else needs
 * the processor, as a driver's own threads may, goes first. */
static VkResult look(struct program *p, const struct stream *stream)
{
    const uint64_t until = bench_now() + WAIT_NS;
    while (completed(p, stream) < stream->value) {
        if (bench_now() > until)
            return VK_ERROR_UNKNOWN;
        sched_yield();
    }
    return VK_SUCCESS;
}

static double start_measure(struct program *p, uint64_t quiet,
                            VkResult (*until)(struct program *p, const struct stream *stream))
{
    VkResult result = execute(p, &p->high, p->side.commands, 1);
    if (result >= 0)
        result = await(p, &p->high);
    sleep_until(bench_now() + quiet);
    if (result >= 0)
        result = flood(p, &p->lows[0], PREEMPT_FLOOD);
    uint64_t begin = bench_now();
    if (result >= 0)
        result = execute(p, &p->high, p->side.commands, 1);
    if (result >= 0)
        result = until(p, &p->high);
    double took = (double)(bench_now() - begin) / 1e6;
    if (result >= 0)
        result = await_lows(p);
    bench_worked(result, "a packet behind a flood", p->found);
    return took;
}

static double start_soon(struct program *p)
{
    return start_measure(p, QUIET_NS, look);
}

static double start_awake(struct program *p)
{
    return start_measure(p, QUIET_NS, await);
}

/* On the plain driver, how long high was quiet changes nothing. */
static double start_late(struct program *p)
{
    return start_measure(p, p->device ? QUIET_LONG_NS : QUIET_NS, look);
}

void preempt_start(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, 1, REPETITIONS, start_soon, found);
}

void preempt_start_quiet(const struct bench_options *options, enum bench_side side,
                         struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, 1, REPETITIONS_QUIET, start_late, found);
}

void preempt_awake(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, 1, REPETITIONS, start_awake, found);
}

/* The plain driver has no flood: what high would take if it were alone. Both sleep until it is
 * over: a thread that looked instead would keep a processor awake, whose timers then come earlier,
 * and with them the end of each of the test driver's dispatches. */
static double bubble_measure(struct program *p)
{
    VkResult result = execute(p, &p->high, p->packet, 1);
    if (result >= 0)
        result = await(p, &p->high);
    if (result >= 0 && p->device)
        result = flood(p, &p->lows[0], 2 * PREEMPT_FLOOD);
    uint64_t begin = bench_now();
    if (result >= 0)
        result = flood(p, &p->high, PREEMPT_FLOOD);
    if (result >= 0)
        result = await(p, &p->high);
    double took = (double)(bench_now() - begin) / 1e6;
    if (result >= 0)
        result = await_lows(p);
    bench_worked(result, "high's packets beside a flood", p->found);
    return took;
}

void preempt_bubble(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, 1, REPETITIONS, bubble_measure, found);
}

static double share_measure(struct program *p)
{
    struct stream *low = &p->lows[0];
    /* What a packet really takes on this device, now. */
    uint64_t begin = bench_now();
    VkResult result = flood(p, low, PREEMPT_FLOOD);
    if (result >= 0)
        result = await(p, low);
    double packet = (double)(bench_now() - begin) / PREEMPT_FLOOD;

    uint64_t low_before = low->value, high_before = p->high.value;
    if (result >= 0)
        result = flood(p, low, SHARE_FLOOD);
    begin = bench_now();
    for (uint64_t at = begin; at < begin + SHARE_NS && result >= 0; at += SHARE_EACH) {
        result = execute(p, &p->high, p->packet, SHARE_PIECES);
        sleep_until(at + SHARE_EACH);
    }
    double passed = (double)(bench_now() - begin);
    double lows = (double)(completed(p, low) - low_before);
    double highs = (double)(completed(p, &p->high) - high_before);
    if (result >= 0)
        result = await_lows(p);
    if (result >= 0)
        result = await(p, &p->high);
    bench_worked(result, "a flood beside another queue's packets", p->found);
    return 100 * lows * packet / (passed - highs * SHARE_PIECES * packet);
}

void preempt_share(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, 1, REPETITIONS_LONG, share_measure,
                 found);
}

static double fair_measure(struct program *p)
{
    uint64_t before[PREEMPT_LOWS], sum = 0, least, most;
    /* High is active, else the first flood is done before the others are there. */
    VkResult result = execute(p, &p->high, p->packet, 1);
    for (uint32_t i = 0; i < p->low_count && result >= 0; ++i)
        result = flood(p, &p->lows[i], FAIR_FLOOD);
    /* Who has no packets yet has no turn: service counts from when all have some. */
    for (uint32_t i = 0; i < p->low_count; ++i)
        before[i] = completed(p, &p->lows[i]);
    while (result >= 0 && sum < FAIR_FLOOD * p->low_count / 2) {
        uint64_t at = bench_now();
        sum = most = 0;
        least = UINT64_MAX;
        for (uint32_t i = 0; i < p->low_count; ++i) {
            uint64_t done = completed(p, &p->lows[i]) - before[i];
            sum += done;
            least = done < least ? done : least;
            most = done > most ? done : most;
        }
        result = execute(p, &p->high, p->packet, 1);
        sleep_until(at + FAIR_EACH);
    }
    if (result >= 0)
        result = await_lows(p);
    if (result >= 0)
        result = await(p, &p->high);
    bench_worked(result, "16 floods", p->found);
    return sum ? 100.0 * (double)(most - least) * p->low_count / (double)sum : 0;
}

void preempt_fair(const struct bench_options *options, enum bench_side side,
                  struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_HIGH, PREEMPT_LOWS, REPETITIONS_LONG,
                 fair_measure, found);
}

static double alone_measure(struct program *p)
{
    uint64_t begin = bench_now();
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < PREEMPT_FLOOD && result >= 0; ++i)
        result = execute(p, i % 2 ? &p->high : &p->lows[0], p->packet, 1);
    if (result >= 0)
        result = await_lows(p);
    if (result >= 0)
        result = await(p, &p->high);
    bench_worked(result, "a flood", p->found);
    return (double)(bench_now() - begin) / 1e6;
}

void preempt_alone(const struct bench_options *options, enum bench_side side,
                   struct bench_found *found)
{
    (void)side;
    part_compare(options, BF_COMMAND_QUEUE_PRIORITY_NORMAL, 1, REPETITIONS, alone_measure, found);
}

/* ns a packet; both queues have work, as far as a driver lets them that ends it in the call. */
static double caller_measure(struct program *p)
{
    double ns[CALLER_BURSTS];
    VkResult result = VK_SUCCESS;
    for (uint32_t b = 0; b < CALLER_BURSTS; ++b) {
        uint64_t begin = bench_now();
        for (uint32_t i = 0; i < CALLER_BURST && result >= 0; ++i)
            result = execute(p, i % 2 ? &p->high : &p->lows[0], p->side.commands, 1);
        ns[b] = (double)(bench_now() - begin) / CALLER_BURST;
        if (result >= 0)
            result = await_lows(p);
        if (result >= 0)
            result = await(p, &p->high);
    }
    bench_worked(result, "bursts", p->found);
    return bench_spread(ns, CALLER_BURSTS).median;
}

void preempt_caller(const struct bench_options *options, enum bench_side side,
                    struct bench_found *found)
{
    struct program programs[2] = {[0].unpreempted = true};
    bool open = true;
    (void)side;
    for (int which = 0; which < 2 && open; ++which)
        open = program_open(&programs[which], BENCH_BELFRY, options->gpu, 0,
                            BF_COMMAND_QUEUE_PRIORITY_NORMAL, 1, found);
    if (open)
        turns_take(programs, REPETITIONS, caller_measure);
    program_close(&programs[1]);
    program_close(&programs[0]);
}
