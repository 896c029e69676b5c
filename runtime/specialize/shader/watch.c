/* SPDX-License-Identifier: MIT */
/* Which words of a pipeline's push constants are watched. */
#include "specialize/shader/module.h"

/* Words that fold in relaxed mode alone rank lower; one that decides control flow still ranks
 * above one that is only computed with. */
static uint32_t fold_member_rank(const struct bf_fold_member *member)
{
    return member->exact ? member->weight + 90u : member->weight;
}

void bf_watch_choose(struct bf_watch *watch, const struct bf_shader *const *shaders, uint32_t count)
{
    uint64_t chosen = 0;
    /* The weightiest that is left and has room, until there is none: a member that brings nothing
     * new isn't left. */
    for (;;) {
        uint64_t best_words = 0;
        uint32_t best = 0;
        for (uint32_t s = 0; s < count; s++) {
            uint32_t members;
            const struct bf_fold_member *member = bf_shader_members(shaders[s], &members);
            for (uint32_t i = 0; i < members; i++) {
                uint64_t words = bf_member_words(&member[i]);
                if (!(words & ~chosen) || __builtin_popcountll(words | chosen) > BF_WATCH_WORDS)
                    continue;
                uint32_t this = fold_member_rank(&member[i]);
                if (!best_words || this > best) {
                    best = this;
                    best_words = words;
                }
            }
        }
        if (!best_words)
            break;
        chosen |= best_words;
    }
    *watch = (struct bf_watch){0};
    for (uint32_t word = 0; word < 64; word++)
        if (chosen >> word & 1)
            watch->offset[watch->count++] = (uint16_t)(4 * word);
    for (uint32_t s = 0; s < count; s++) {
        uint32_t members;
        const struct bf_fold_member *member = bf_shader_members(shaders[s], &members);
        for (uint32_t i = 0; i < members; i++) {
            uint64_t words = bf_member_words(&member[i]);
            if (!member[i].exact || (words & ~chosen))
                continue;
            for (uint32_t word = 0; word < watch->count; word++)
                if (words >> (watch->offset[word] / 4) & 1)
                    watch->exact |= (uint8_t)(1u << word);
        }
    }
}
