/* SPDX-License-Identifier: MIT */
/* A/B timing of variants: timestamps around dispatches and passes, and the query pools that they
 * are written to. */
#include "specialize/ab_timing.h"

#include <stdlib.h>

#include "gpu/made.h"

/* Samples per query pool: the bits of a word. */
#define BLOCK 64

struct bf_ab_queries {
    struct bf_ab_queries *next;
    VkQueryPool pool;
    uint64_t used; /* bit i: queries 2 i and 2 i + 1 are taken */
};

void bf_ab_timer_init(struct bf_ab_timer *timer, VkDevice device, const struct VolkDeviceTable *vk,
                      double period_ns)
{
    *timer = (struct bf_ab_timer){.device = device, .vk = vk, .period_ns = period_ns};
}

void bf_ab_timer_finish(struct bf_ab_timer *timer)
{
    while (timer->blocks) {
        struct bf_ab_queries *next = timer->blocks->next;
        timer->vk->vkDestroyQueryPool(timer->device, timer->blocks->pool, NULL);
        free(timer->blocks);
        timer->blocks = next;
    }
}

static bool queries_take_from(struct bf_ab_queries *block, struct bf_ab_sample *sample)
{
    if (block->used == UINT64_MAX)
        return false;
    uint32_t i = (uint32_t)__builtin_ctzll(~block->used);
    block->used |= UINT64_C(1) << i;
    sample->pool = block->pool;
    sample->query = 2 * i;
    return true;
}

static bool queries_take(struct bf_ab_timer *timer, struct bf_ab_sample *sample)
{
    bf_lock_acquire(&timer->lock);
    bool found = false;
    for (struct bf_ab_queries *b = timer->blocks; b && !found; b = b->next)
        found = queries_take_from(b, sample);
    bf_lock_release(&timer->lock);
    if (found)
        return true;
    struct bf_ab_queries *block = calloc(1, sizeof(*block));
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * BLOCK,
    };
    if (!block || BF_MADE(timer->vk->vkCreateQueryPool(timer->device, &info, NULL, &block->pool),
                          &block->pool) != VK_SUCCESS) {
        free(block);
        return false;
    }
    queries_take_from(block, sample);
    bf_lock_acquire(&timer->lock);
    block->next = timer->blocks;
    timer->blocks = block;
    bf_lock_release(&timer->lock);
    return true;
}

static void queries_give_back(struct bf_ab_timer *timer, const struct bf_ab_sample *sample)
{
    bf_lock_acquire(&timer->lock);
    for (struct bf_ab_queries *b = timer->blocks; b; b = b->next) {
        if (b->pool == sample->pool)
            b->used &= ~(UINT64_C(1) << sample->query / 2);
    }
    bf_lock_release(&timer->lock);
}

/* The barrier makes sure that all work before the timestamp is complete and none behind it has
 * begun when it is written. Without it lavapipe writes the timestamp only when it next waits for
 * its own rasterizer, which a dispatch alone doesn't make it do. */
static void timestamp_write(struct bf_ab_timer *timer, VkCommandBuffer commands,
                            const struct bf_ab_sample *sample, uint32_t which)
{
    timer->vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, sample->pool,
                                   sample->query + which);
    timer->vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 0,
                                    NULL);
}

void bf_ab_timing_begin(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                        VkCommandBuffer commands, const struct bf_ab_use *use)
{
    if (timing->count >= timing->most || timing->open || !timing->timestamp_bits)
        return;
    struct bf_ab_sample *s = &timing->samples[timing->count];
    if (!queries_take(timer, s))
        return;
    s->use = *use;
    timing->count++;
    timing->open = true;
    timer->vk->vkCmdResetQueryPool(commands, s->pool, s->query, 2);
    timestamp_write(timer, commands, s, 0);
}

void bf_ab_timing_begin_pass(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                             VkCommandBuffer commands)
{
    timing->drawn = (struct bf_ab_use){0};
    bf_ab_timing_begin(timer, timing, commands, &(struct bf_ab_use){.candidate = BF_AB_NONE});
    timing->pass = timing->open;
}

void bf_ab_timing_draw(struct bf_ab_timing *timing, const struct bf_ab_use *use)
{
    struct bf_ab_use *drawn = &timing->drawn;
    uint64_t before = drawn->work;
    if (!before)
        *drawn = *use;
    else if (drawn->pipeline != use->pipeline || drawn->candidate != use->candidate ||
             drawn->variant != use->variant || drawn->lot != use->lot)
        drawn->candidate = BF_AB_NONE; /* and stays so whatever follows */
    drawn->work = before + use->work;
}

void bf_ab_timing_end(struct bf_ab_timer *timer, struct bf_ab_timing *timing,
                      VkCommandBuffer commands)
{
    if (!timing->open)
        return;
    struct bf_ab_sample *s = &timing->samples[timing->count - 1];
    if (timing->pass && timing->drawn.work)
        s->use = timing->drawn;
    timing->open = timing->pass = false;
    timestamp_write(timer, commands, s, 1);
}

bool bf_ab_timing_ns(struct bf_ab_timer *timer, const struct bf_ab_timing *timing, uint32_t sample,
                     double *ns)
{
    const struct bf_ab_sample *s = &timing->samples[sample];
    uint64_t mask =
        timing->timestamp_bits < 64 ? (UINT64_C(1) << timing->timestamp_bits) - 1 : UINT64_MAX;
    uint64_t stamps[2];
    if (timer->vk->vkGetQueryPoolResults(timer->device, s->pool, s->query, 2, sizeof(stamps),
                                         stamps, sizeof(*stamps),
                                         VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
        return false; /* the queries were never written */
    uint64_t ticks = (stamps[1] - stamps[0]) & mask;
    bool back = ticks > mask / 2; /* the clock went backwards */
    *ns = (back ? -(double)((stamps[0] - stamps[1]) & mask) : (double)ticks) * timer->period_ns;
    return true;
}

void bf_ab_timing_read(struct bf_ab_timer *timer, const struct bf_ab_timing *timing,
                       void (*each)(void *context, const struct bf_ab_sample *sample, double ns),
                       void *context)
{
    for (uint32_t i = 0; i < timing->count; i++) {
        double ns;
        if (timing->samples[i].use.candidate != BF_AB_NONE &&
            bf_ab_timing_ns(timer, timing, i, &ns))
            each(context, &timing->samples[i], ns);
    }
}

void bf_ab_timing_reset(struct bf_ab_timer *timer, struct bf_ab_timing *timing)
{
    for (uint32_t i = 0; i < timing->count; i++)
        queries_give_back(timer, &timing->samples[i]);
    timing->count = 0;
    timing->open = timing->pass = false;
    timing->drawn = (struct bf_ab_use){0};
}
