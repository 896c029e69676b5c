/* SPDX-License-Identifier: MIT */
/* Queues of several priorities, and floods of packets on them. */
#ifndef BELFRY_TESTS_SCHEDULER_FLOOD_H
#define BELFRY_TESTS_SCHEDULER_FLOOD_H

#include "support/fixture.h"

#include <time.h>

#define FLOOD 20

/* After so long a packet that a window holds is overdue (PW-6). */
#define FLOOD_OVERDUE_NS 50000000

static inline BfCommandQueue make_queue_of(struct fixture *f, BfCommandQueuePriority priority)
{
    const BfCommandQueueCreateInfo info = {BF_TYPE(COMMAND_QUEUE_CREATE_INFO), .priority = priority,
                                           .flags = BF_COMMAND_QUEUE_ALLOW_DYNAMIC_PRIORITY_BIT};
    BfCommandQueue *queue = &f->made_queues[f->queue_count++];
    assert_success(bfCreateCommandQueue(f->bf, &info, queue));
    return *queue;
}

#define high_of(f_) make_queue_of(f_, BF_COMMAND_QUEUE_PRIORITY_HIGH)
#define low_of(f_)  make_queue_of(f_, BF_COMMAND_QUEUE_PRIORITY_NORMAL)

/* Packets that the driver has on that one VkQueue, and hasn't finished. */
static inline uint64_t depth(struct fixture *f)
{
    return f->icd.queue_depth(0, 0);
}

/* When the first flood began that hasn't been drained; 0: there is none. */
static uint64_t flood_ns;

static inline uint64_t flood_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* But for packets that are overdue where the machine has had other things to do meanwhile. */
#define assert_depth(f_, packets_)                                                                 \
    do {                                                                                           \
        uint64_t depth_ = depth(f_);                                                               \
        bool late_ = flood_ns && flood_now_ns() - flood_ns >= FLOOD_OVERDUE_NS;                    \
        if (!late_ || depth_ < (uint64_t)(packets_))                                               \
            assert_int_equal(depth_, packets_);                                                    \
    } while (0)

/* With a signal behind each: so they aren't joined, and the driver has as many. */
static inline BfFence flood(struct fixture *f, BfCommandQueue queue, uint32_t packets)
{
    BfFence fence = make_fence(f, 0);
    flood_ns = flood_ns ? flood_ns : flood_now_ns();
    for (uint32_t i = 0; i < packets; i++) {
        execute(queue, write_word(f, queue, i, i + 1));
        queue_signal(queue, fence, i + 1);
    }
    return fence;
}

/* All of it goes in the end, and has written so many words. */
static inline void drain(struct fixture *f, uint32_t words)
{
    f->icd.resume();
    for (uint32_t i = 0; i < f->queue_count; i++)
        await_idle(f->made_queues[i]);
    for (uint32_t i = 0; i < words; i++)
        assert_int_equal(read_word(f, i), i + 1);
    flood_ns = 0;
}

static inline void step(struct fixture *f)
{
    assert_true(f->icd.step(0, 0));
    f->icd.quiesce();
}

/* A suspended render pass is recorded: from then on nothing is split. */
static inline void keep_whole(struct fixture *f)
{
    const VkRenderingInfo rendering = {VK_TYPE(RENDERING_INFO),
                                       .flags = VK_RENDERING_SUSPENDING_BIT, .layerCount = 1};
    VkCommandBuffer spans = commands_begin_in(f, 0, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    vkCmdBeginRendering(spans, &rendering);
    vkCmdEndRendering(spans);
    commands_end(spans);
}

#endif
