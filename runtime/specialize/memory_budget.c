/* SPDX-License-Identifier: MIT */
/* The memory budget of variants: when the setting's limit is reached the least used make place
 * for a variant that is used more. */
#include "specialize/variant_state.h"

#define WINDOWS 8 /* how many windows of uses a candidate's worth spans */

void bf_memory_budget_candidate_used(struct bf_candidate *candidate, uint64_t uses)
{
    const uint64_t most = (uint64_t)WINDOWS * BF_HISTOGRAM_USES;
    candidate->worth += uses;
    if (candidate->worth > most)
        candidate->worth = most;
    candidate->fresh = true;
}

void bf_memory_budget_add(struct bf_specializer *s, struct bf_variant_states *states,
                          struct bf_candidate *candidate)
{
    candidate->states = states;
    candidate->place = s->live;
    s->published[s->live++] = candidate;
}

void bf_memory_budget_remove(struct bf_specializer *s, struct bf_candidate *candidate)
{
    struct bf_candidate *last = s->published[--s->live];
    last->place = candidate->place;
    s->published[last->place] = last;
}

/* Called when the budget is full: candidates that weren't chosen since the last time lose half
 * their worth. */
static void worths_halve_unused(struct bf_specializer *s)
{
    for (uint32_t i = 0; i < s->live; i++) {
        if (!s->published[i]->fresh)
            s->published[i]->worth /= 2;
        s->published[i]->fresh = false;
    }
}

static double worth_of(const struct bf_candidate *c)
{
    return (double)c->worth / (double)(c->bytes ? c->bytes : 1);
}

/* Variants worth less than this are evicted for the candidate. Clearly less: variants that are
 * used alike would otherwise take turns. */
static double worth_threshold_of(const struct bf_candidate *c)
{
    return 0.75 * worth_of(c);
}

/* No command buffer has recorded the variant: once withdrawn it is destroyed at once. (A variant
 * of a pinned pipeline is withdrawn already, and frees nothing more.) */
static bool is_idle(const struct bf_candidate *c)
{
    return atomic_load(&c->variant->state) == 0;
}

/* The published variant that is worth least, of those worth less than 'below'. NULL: there is
 * none. */
static struct bf_candidate *find_least(struct bf_specializer *s, double below)
{
    struct bf_candidate *least = NULL;
    for (uint32_t i = 0; i < s->live; i++) {
        struct bf_candidate *c = s->published[i];
        if (!is_idle(c) || worth_of(c) >= below)
            continue;
        below = worth_of(c);
        least = c;
    }
    return least;
}

/* The bytes of all variants that are worth less than 'below'. */
static uint64_t count_lesser(struct bf_specializer *s, double below)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->live; i++) {
        const struct bf_candidate *c = s->published[i];
        if (is_idle(c) && worth_of(c) < below)
            bytes += c->bytes;
    }
    return bytes;
}

/* How many bytes are missing for a variant of that size. */
static uint64_t shortage(struct bf_specializer *s, uint64_t bytes)
{
    const struct bf_memory_budget *room = &s->pipelines.budget;
    uint64_t taken = atomic_load(&room->variants) + bytes;
    return room->most && taken > room->most ? taken - room->most : 0;
}

bool bf_memory_budget_lacks(struct bf_specializer *s, uint64_t bytes)
{
    return shortage(s, bytes) != 0;
}

/* Whether evicting all that are worth less would free enough. After worths_halve_unused. */
static bool is_enough(struct bf_specializer *s, const struct bf_candidate *candidate,
                      uint64_t missing)
{
    return count_lesser(s, worth_threshold_of(candidate)) >= missing;
}

bool bf_memory_budget_has_room(struct bf_specializer *s, const struct bf_candidate *candidate)
{
    uint64_t missing = shortage(s, candidate->bytes);
    if (missing == 0)
        return true;
    worths_halve_unused(s);
    return is_enough(s, candidate, missing);
}

bool bf_memory_budget_make_room(struct bf_specializer *s, const struct bf_candidate *candidate)
{
    uint64_t missing = shortage(s, candidate->bytes), freed = 0;
    if (missing == 0)
        return true;
    if (!is_enough(s, candidate, missing))
        return false;
    while (freed < missing) {
        struct bf_candidate *least = find_least(s, worth_threshold_of(candidate));
        if (!least)
            return false; /* meanwhile a command buffer has recorded one of them */
        const struct bf_variant *variant = least->variant;
        bf_variant_states_withdraw(s, least->states, least, BF_REASON_SPACE);
        if ((atomic_load(&variant->state) & BF_VARIANT_REFS) == 0)
            freed += least->bytes;
    }
    return true;
}
