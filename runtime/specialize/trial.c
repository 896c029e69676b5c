#include "specialize/trial.h"

#include <stdlib.h>

/* Samples of a block of queries: bits of a word. */
#define BLOCK 64

struct bf_trial_queries {
    struct bf_trial_queries *next;
    VkQueryPool pool;
    uint64_t used; /* bit i: queries 2 i and 2 i + 1 */
};

void bf_trials_init(struct bf_trials *trials, VkDevice device, const struct VolkDeviceTable *vk,
                    double period_ns)
{
    *trials = (struct bf_trials){.device = device, .vk = vk, .period_ns = period_ns};
}

void bf_trials_finish(struct bf_trials *trials)
{
    while (trials->blocks) {
        struct bf_trial_queries *next = trials->blocks->next;
        trials->vk->vkDestroyQueryPool(trials->device, trials->blocks->pool, NULL);
        free(trials->blocks);
        trials->blocks = next;
    }
}

static bool take_from(struct bf_trial_queries *block, struct bf_trial_sample *sample)
{
    if (block->used == UINT64_MAX)
        return false;
    uint32_t i = (uint32_t)__builtin_ctzll(~block->used);
    block->used |= UINT64_C(1) << i;
    sample->pool = block->pool;
    sample->query = 2 * i;
    return true;
}

static bool take(struct bf_trials *trials, struct bf_trial_sample *sample)
{
    bf_lock_acquire(&trials->lock);
    bool found = false;
    for (struct bf_trial_queries *b = trials->blocks; b && !found; b = b->next)
        found = take_from(b, sample);
    bf_lock_release(&trials->lock);
    if (found)
        return true;
    struct bf_trial_queries *block = calloc(1, sizeof(*block));
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * BLOCK,
    };
    if (!block ||
        trials->vk->vkCreateQueryPool(trials->device, &info, NULL, &block->pool) != VK_SUCCESS) {
        free(block);
        return false;
    }
    take_from(block, sample);
    bf_lock_acquire(&trials->lock);
    block->next = trials->blocks;
    trials->blocks = block;
    bf_lock_release(&trials->lock);
    return true;
}

static void give_back(struct bf_trials *trials, const struct bf_trial_sample *sample)
{
    bf_lock_acquire(&trials->lock);
    for (struct bf_trial_queries *b = trials->blocks; b; b = b->next) {
        if (b->pool == sample->pool)
            b->used &= ~(UINT64_C(1) << sample->query / 2);
    }
    bf_lock_release(&trials->lock);
}

/* The work before it is complete, and the work behind it has not begun, when a stamp is written:
 * lavapipe, where something has been drawn before, writes it only when it next waits for itself,
 * which a dispatch alone doesn't make it do. */
static void stamp(struct bf_trials *trials, VkCommandBuffer commands,
                  const struct bf_trial_sample *sample, uint32_t which)
{
    trials->vk->vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, sample->pool,
                                    sample->query + which);
    trials->vk->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 0,
                                     NULL);
}

void bf_trial_begin(struct bf_trials *trials, struct bf_trial *trial, VkCommandBuffer commands,
                    const struct bf_trial_use *use)
{
    if (trial->count == BF_TRIAL_SAMPLES || trial->open || !trial->timestamp_bits)
        return;
    struct bf_trial_sample *s = &trial->samples[trial->count];
    if (!take(trials, s))
        return;
    s->use = *use;
    trial->count++;
    trial->open = true;
    trials->vk->vkCmdResetQueryPool(commands, s->pool, s->query, 2);
    stamp(trials, commands, s, 0);
}

void bf_trial_begin_pass(struct bf_trials *trials, struct bf_trial *trial, VkCommandBuffer commands)
{
    trial->drawn = (struct bf_trial_use){0};
    bf_trial_begin(trials, trial, commands, &(struct bf_trial_use){.candidate = BF_TRIAL_NONE});
    trial->pass = trial->open;
}

void bf_trial_draw(struct bf_trial *trial, const struct bf_trial_use *use)
{
    struct bf_trial_use *drawn = &trial->drawn;
    uint64_t before = drawn->work;
    if (!before)
        *drawn = *use;
    else if (drawn->pipeline != use->pipeline || drawn->candidate != use->candidate ||
             drawn->variant != use->variant || drawn->thrown != use->thrown)
        drawn->candidate = BF_TRIAL_NONE; /* and stays so, whatever follows */
    drawn->work = before + use->work;
}

void bf_trial_end(struct bf_trials *trials, struct bf_trial *trial, VkCommandBuffer commands)
{
    if (!trial->open)
        return;
    struct bf_trial_sample *s = &trial->samples[trial->count - 1];
    if (trial->pass && trial->drawn.work)
        s->use = trial->drawn;
    trial->open = trial->pass = false;
    stamp(trials, commands, s, 1);
}

void bf_trial_read(struct bf_trials *trials, const struct bf_trial *trial,
                   void (*each)(void *context, const struct bf_trial_sample *sample, double ns),
                   void *context)
{
    uint64_t mask =
        trial->timestamp_bits < 64 ? (UINT64_C(1) << trial->timestamp_bits) - 1 : UINT64_MAX;
    for (uint32_t i = 0; i < trial->count; i++) {
        const struct bf_trial_sample *s = &trial->samples[i];
        uint64_t stamps[2];
        if (s->use.candidate == BF_TRIAL_NONE)
            continue;
        if (trials->vk->vkGetQueryPoolResults(trials->device, s->pool, s->query, 2, sizeof(stamps),
                                              stamps, sizeof(*stamps),
                                              VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
            continue; /* not there after all: a command buffer that was never submitted */
        each(context, s, (double)((stamps[1] - stamps[0]) & mask) * trials->period_ns);
    }
}

void bf_trial_reset(struct bf_trials *trials, struct bf_trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++)
        give_back(trials, &trial->samples[i]);
    trial->count = 0;
    trial->open = trial->pass = false;
    trial->drawn = (struct bf_trial_use){0};
}
