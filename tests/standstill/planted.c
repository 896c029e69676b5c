/* SPDX-License-Identifier: MIT */
/* Random programs in each of which a standstill was planted: a signal that nobody submits, a
 * circle, or a packet that the GPU doesn't finish. Each has to be told with the right name, and,
 * where a signal of the host's would end it, by a signal that does end it.
 *
 * A program is a set of batches in an order in which each waits only for signals of earlier ones;
 * queues get theirs in that order, and are submitted to in any. So without what was planted it
 * ends. */
#include "support/world.h"
#include "random/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <belfry/belfry.h>

#include "standstill/lines.h"

enum { QUEUES = 6, BATCHES = 24, TIMELINES = 4, LINKS = 6, PLANTED = TIMELINES, SECOND };

struct link {
    int timeline;
    uint64_t value;
};

struct batch {
    int queue, wait_count, signal_count;
    uint64_t number; /* of the packet in its queue */
    struct link waits[LINKS], signals[LINKS];
};

struct program {
    struct device *w;
    struct rng rng;
    int count;
    struct batch batches[BATCHES];
    VkSemaphore timelines[TIMELINES + 2];
    uint64_t values[TIMELINES + 2]; /* signalled so far, in the order of the batches */
};

/* Packets that each queue has been given, over all programs of a device. */
static uint64_t numbers[QUEUES];

static void batch_wait(struct batch *b, int timeline, uint64_t value)
{
    b->waits[b->wait_count++] = (struct link){timeline, value};
}

static void batch_signal(struct batch *b, int timeline, uint64_t value)
{
    b->signals[b->signal_count++] = (struct link){timeline, value};
}

static void program_make(struct program *p)
{
    p->count = rng_range(&p->rng, 4, BATCHES);
    for (int i = 0; i < p->count; i++) {
        struct batch *b = &p->batches[i];
        *b = (struct batch){.queue = rng_range(&p->rng, 0, QUEUES - 1)};
        b->number = ++numbers[b->queue];
        int timeline = rng_range(&p->rng, 0, TIMELINES - 1);
        if (rng_percent(&p->rng, 60) && p->values[timeline])
            batch_wait(b, timeline, 1 + rng_below(&p->rng, (uint32_t)p->values[timeline]));
        timeline = rng_range(&p->rng, 0, TIMELINES - 1);
        if (rng_percent(&p->rng, 60)) {
            if (p->values[timeline]) /* its values only grow */
                batch_wait(b, timeline, p->values[timeline]);
            p->values[timeline] += (uint64_t)rng_range(&p->rng, 1, 3);
            batch_signal(b, timeline, p->values[timeline]);
        }
    }
    for (int i = 0; i < TIMELINES + 2; i++) {
        const char *const names[] = {"a", "b", "c", "d", "planted", "second"};
        p->timelines[i] = vulkan_timeline(p->w->device, 0);
        const VkDebugUtilsObjectNameInfoEXT info = {
            VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_SEMAPHORE,
            .objectHandle = (uint64_t)p->timelines[i], .pObjectName = names[i]};
        assert_success(vkSetDebugUtilsObjectNameEXT(p->w->device, &info));
    }
}

static void batch_submit(struct program *p, const struct batch *b, VkCommandBuffer commands)
{
    VkSemaphoreSubmitInfo links[2 * LINKS];
    for (int i = 0; i < b->wait_count + b->signal_count; i++) {
        const struct link *link = i < b->wait_count ? &b->waits[i] : &b->signals[i - b->wait_count];
        links[i] = (VkSemaphoreSubmitInfo){
            VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = p->timelines[link->timeline],
            .value = link->value, .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    }
    const VkCommandBufferSubmitInfo buffer = {VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = commands};
    const VkSubmitInfo2 info = {VK_TYPE(SUBMIT_INFO_2),
                                .waitSemaphoreInfoCount = (uint32_t)b->wait_count,
                                .pWaitSemaphoreInfos = links,
                                .commandBufferInfoCount = commands != VK_NULL_HANDLE,
                                .pCommandBufferInfos = &buffer,
                                .signalSemaphoreInfoCount = (uint32_t)b->signal_count,
                                .pSignalSemaphoreInfos = links + b->wait_count};
    assert_success(vkQueueSubmit2(p->w->queues[0][b->queue], 1, &info, VK_NULL_HANDLE));
}

/* Each queue's batches in their order, queues in any; 'commands' go with batch 'with'. */
static void program_submit(struct program *p, int with, VkCommandBuffer commands)
{
    bool submitted[BATCHES] = {false};
    for (int left = p->count; left; left--) {
        int ready[QUEUES], count = 0;
        bool met[QUEUES] = {false};
        for (int i = 0; i < p->count; i++) {
            if (!submitted[i] && !met[p->batches[i].queue]) {
                met[p->batches[i].queue] = true;
                ready[count++] = i;
            }
        }
        int next = ready[rng_below(&p->rng, (uint32_t)count)];
        batch_submit(p, &p->batches[next], next == with ? commands : VK_NULL_HANDLE);
        submitted[next] = true;
    }
    told_settle();
}

static void program_end(struct program *p)
{
    assert_success(vkDeviceWaitIdle(p->w->device));
    for (int i = 0; i < TIMELINES + 2; i++)
        vkDestroySemaphore(p->w->device, p->timelines[i], NULL);
}

static void expect_of(const struct batch *b, const char *before, const char *behind)
{
    char pattern[512];
    snprintf(pattern, sizeof(pattern), "%spacket %" PRIu64 " of 3D queue 0:%d %s", before,
             b->number, b->queue, behind);
    told_expect(pattern);
}

static void plant_missing(struct program *p)
{
    struct batch *b = &p->batches[rng_below(&p->rng, (uint32_t)p->count)];
    batch_wait(b, PLANTED, 3);
    program_submit(p, -1, VK_NULL_HANDLE);
    expect_of(b, "",
              "waits for semaphore 'planted' to reach 3 (has 0) for *: nobody has submitted such a "
              "signal; the host may still signal it*");
    vulkan_signal(p->w->device, p->timelines[PLANTED], 3);
}

/* An earlier batch waits for a later one, which waits for it. Of a certain one, the driver is made
 * to take a signal that no program may make. */
static uint32_t plant_circle(struct program *p)
{
    int early = (int)rng_below(&p->rng, (uint32_t)p->count - 1);
    int late = rng_range(&p->rng, early + 1, p->count - 1);
    bool may_end = rng_percent(&p->rng, 50);
    batch_signal(&p->batches[early], SECOND, 1);
    batch_wait(&p->batches[early], PLANTED, 1);
    batch_wait(&p->batches[late], SECOND, 1);
    batch_signal(&p->batches[late], PLANTED, may_end ? 2 : 1);
    program_submit(p, -1, VK_NULL_HANDLE);
    expect_of(&p->batches[early], "a [cd]*, *: *",
              "waits for semaphore 'planted' to reach 1 (has 0), which *");
    static const char unless[] = "a circle, unless the host signals";
    const char *rest = told_line + sizeof(unless) - 1;
    char name[32];
    unsigned value;
    int length = 0;
    if (strncmp(told_line, unless, sizeof(unless) - 1) != 0) {
        assert_false(may_end);
        assert_memory_equal(told_line, "a deadlock, which nothing can end,", 34);
        vulkan_signal(p->w->device, p->timelines[PLANTED], 1);
        return 1;
    }
    /* "semaphore 'a' to 3, semaphore 'b' to 1 and semaphore 'c' to 2, for 0.1 s" */
    while (sscanf(rest, "%*[and, ]semaphore '%31[^']' to %u%n", name, &value, &length) == 2) {
        int timeline = name[1] == '\0' ? name[0] - 'a' : name[0] == 'p' ? PLANTED : SECOND;
        vulkan_signal(p->w->device, p->timelines[timeline], value);
        rest += length;
    }
    assert_memory_equal(rest, ", for ", 6);
    return 0;
}

static void plant_stuck(struct program *p)
{
    int stuck = (int)rng_below(&p->rng, (uint32_t)p->count);
    VkCommandBuffer commands = device_store(p->w, 0, 0, 1);
    p->w->icd.hold_before_signals(true);
    program_submit(p, stuck, commands);
    expect_of(&p->batches[stuck], "the GPU has been busy with ", "for *: command buffer 0x*");
    p->w->icd.hold_before_signals(false);
}

TEST(test_planted)
{
    static const uint32_t counts[] = {QUEUES, WORLD_END};
    const char *count = getenv("BELFRY_TEST_COUNT"), *seed = getenv("BELFRY_TEST_SEED");
    uint32_t circles = 0;
    struct device w;
    world_open(&w, "QUIET=1", counts);
    for (int i = 0; i < (count ? atoi(count) : 10); i++) {
        struct program p = {.w = &w, .rng = {(seed ? strtoull(seed, NULL, 0) : 1) + (uint64_t)i}};
        print_message("BELFRY_TEST_SEED=%" PRIu64 "\n", p.rng.state);
        rng_next(&p.rng);
        program_make(&p);
        told_begin();
        switch (rng_below(&p.rng, 3)) {
        case 0:
            plant_missing(&p);
            break;
        case 1:
            circles += plant_circle(&p);
            break;
        default:
            plant_stuck(&p);
        }
        program_end(&p);
        told_end();
    }
    vulkan_expect(&w.icd, BELFRY_ICD_TIMELINE_NOT_INCREASING, circles);
    world_close(&w);
}
