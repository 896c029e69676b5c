/* SPDX-License-Identifier: MIT */
/* Which words of a pipeline's push constants are watched. */
#include "specialize/shader/module.h"

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
                if (!member[i].exact || !(words & ~chosen) ||
                    __builtin_popcountll(words | chosen) > BF_WATCH_WORDS)
                    continue;
                uint32_t this = member[i].weight;
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
}
