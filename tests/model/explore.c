/* SPDX-License-Identifier: MIT */
/* Goes through the schedules of a program: all of them, or some at random. */
#include "explore.h"

enum { SEEN = 1 << 16 };

/* States of this program and these options, by open addressing; full enough, it takes no more. */
static struct {
    uint64_t states[SEEN];
    uint32_t used[SEEN / 2];
    uint32_t count;
} seen_states;

static void forget_seen(void)
{
    for (uint32_t i = 0; i < seen_states.count; i++)
        seen_states.states[seen_states.used[i]] = 0;
    seen_states.count = 0;
}

static bool seen(uint64_t state)
{
    state |= 1; /* 0 is an empty place */
    uint32_t at = (uint32_t)(state >> 20) % SEEN;
    while (seen_states.states[at]) {
        if (seen_states.states[at] == state)
            return true;
        at = (at + 1) % SEEN;
    }
    if (seen_states.count < SEEN / 2) {
        seen_states.states[at] = state;
        seen_states.used[seen_states.count++] = at;
    }
    return false;
}

/* The next schedule in order of depth first; false: that was the last. */
static bool advance(struct schedule *schedule)
{
    int at = schedule->count;
    while (at > 0 && schedule->choices[at - 1] + 1 == schedule->option_counts[at - 1])
        at--;
    if (at == 0)
        return false;
    schedule->choices[at - 1]++;
    schedule->given = at;
    return true;
}

struct exploration {
    struct rig *rig;
    const struct program *program;
    const struct ideal *ends;
    struct explore_totals *totals;
    struct finding *finding;
    bool finished; /* in some schedule */
};

/* 'schedule' may be NULL: it is about all of them. */
static bool found(struct exploration *x, const struct run_options *options,
                  const struct schedule *schedule, const char *violation)
{
    *x->finding = (struct finding){.options = *options, .of_program = !schedule};
    snprintf(x->finding->violation, sizeof(x->finding->violation), "%s", violation);
    if (schedule)
        memcpy(x->finding->text, schedule->labels, (size_t)schedule->count);
    return false;
}

static bool run_one(struct exploration *x, const struct run_options *options,
                    struct schedule *schedule, bool prune, struct outcome *outcome)
{
    run_program(x->rig, x->program, options, schedule, x->ends, prune ? seen : NULL, outcome);
    x->totals->runs++;
    x->totals->queries += x->rig->gpu.queries;
    if (outcome->violation[0])
        return found(x, options, schedule, outcome->violation);
    if (schedule->diverged)
        return found(x, options, schedule,
                     "the same schedule leads elsewhere: Belfry is not deterministic");
    x->finished |= outcome->finished;
    return true;
}

static bool run_all(struct exploration *x, const struct explore_options *options,
                    struct run_options *run_options)
{
    static struct schedule schedule;
    struct outcome outcome;
    forget_seen();
    schedule = (struct schedule){0};
    run_options->reads = options->reads < 0 ? READS_ALWAYS : READS_CHOSEN;
    run_options->read_budget = options->reads;
    run_options->inside_budget = options->inside;
    run_options->refusal_budget = options->refusals;
    run_options->high = options->high;
    uint64_t runs = 0;
    do {
        run_options->destroy = runs % 2;
        if (!run_one(x, run_options, &schedule, true, &outcome))
            return false;
        if (++runs == options->runs_max) {
            x->totals->given_up++;
            break;
        }
    } while (advance(&schedule));
    return true;
}

static bool run_some(struct exploration *x, const struct explore_options *options,
                     struct run_options *run_options, struct rng *rng)
{
    static struct schedule schedule;
    struct outcome outcome;
    for (int walk = 0; walk < options->walks; walk++) {
        /* The first finishes nothing before the last call (MC-7). */
        schedule = (struct schedule){.rng = walk ? rng : NULL};
        run_options->reads = walk ? READS_ANY : READS_CHOSEN;
        run_options->inside_budget = walk ? MODEL_OPS : 0;
        run_options->refusal_budget = walk ? options->refusals : 0;
        run_options->orphan = walk % 5 == 4;
        run_options->high =
            walk % 4 == 3 ? (uint8_t)rng_below(rng, 1 << MODEL_QUEUES) : options->high;
        run_options->destroy = walk % 2;
        if (!run_one(x, run_options, &schedule, false, &outcome))
            return false;
    }
    return true;
}

static int count_finished(const struct ideal *ends, const struct program *program)
{
    int count = 0;
    for (int e = 0; e < ends->count; e++)
        count += ideal_done(ends->states[e]) == (op_set)((1u << program->count) - 1);
    return count;
}

bool explore_program(struct rig *rig, const struct program *program,
                     const struct explore_options *options, struct rng *rng,
                     struct explore_totals *totals, struct finding *finding)
{
    static struct ideal ends;
    ideal_ends(&ends, program, true);
    int finishing = count_finished(&ends, program);
    ideal_ends(&ends, program, false);
    totals->programs++;
    totals->finishing += count_finished(&ends, program) == ends.count;
    totals->stuck += finishing == 0;

    struct exploration x = {
        .rig = rig, .program = program, .ends = &ends, .totals = totals, .finding = finding};
    struct run_options run_options = {.loaded = options->loaded};
    if (ends.overflow)
        return found(&x, &run_options, NULL,
                     "the ideal machine has more states than there is room for");
    if (options->walks ? !run_some(&x, options, &run_options, rng)
                       : !run_all(&x, options, &run_options))
        return false;
    if (finishing && !x.finished)
        return found(&x, &run_options, NULL,
                     "MC-7: the ideal machine can finish the program, Belfry never does");
    return true;
}
