/* SPDX-License-Identifier: MIT */
/* A/B timings whose truth is known, under all sorts of noise: how often the decision is wrong
 * (specialize/ab_decision.h, JU-1 to JU-4, JU-7). --count N trials each, --seed N. */
#include <math.h>
#include "../support/std.h"

#include "random/rng.h"
#include "support/arguments.h"
#include "specialize/ab_decision.h"

enum noise {
    NOISE_NORMAL,  /* of the logarithm, 5 % */
    NOISE_WIDE,    /* 20 % */
    NOISE_WILD,    /* 60 % */
    NOISE_DRIFT,   /* 5 %, and the clock slows down to half within the trial */
    NOISE_TWO,     /* 3 %, and each sample is one or 1.6 times as long */
    NOISE_STATES,  /* the same, but for some time each */
    NOISE_OUTLIER, /* 5 %, and every tenth was interrupted, for up to fifty times its time */
    NOISE_TAIL,    /* never below the time, often far above it */
    NOISE_COARSE,  /* 5 %, and a clock of 16 ticks */
    NOISE_WORK,    /* 5 %, and works of 1 to 1000 */
    NOISE_GROUPS,  /* 2 %, and 10 % that all samples of a recording share */
    NOISES,
};

static const char *const noise_names[NOISES] = {
    "normal 5 %",   "normal 20 %",   "normal 60 %",   "drift",
    "two modes",    "clock states",  "10 % outliers", "one-sided tail",
    "coarse clock", "works 1..1000", "recordings",
};

static double uniform(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *rng)
{
    return sqrt(-2 * log(uniform(rng))) * cos(6.283185307179586 * uniform(rng));
}

struct bench {
    struct rng rng;
    enum noise noise;
    uint32_t number;
    bool slow;
    double shared;
};

/* A use that takes 'scale' times as long as the general one. */
static void bench_time(struct bench *bench, double scale, int64_t *ns, uint64_t *work)
{
    struct rng *rng = &bench->rng;
    double time = 20000 * scale;
    *work = 100;
    bench->number++;
    switch (bench->noise) {
    case NOISE_WIDE:
        time *= exp(0.2 * normal(rng));
        break;
    case NOISE_WILD:
        time *= exp(0.6 * normal(rng));
        break;
    case NOISE_DRIFT:
        time *= exp(0.05 * normal(rng) + 0.7 * bench->number / 400);
        break;
    case NOISE_TWO:
        time *= exp(0.03 * normal(rng)) * (rng_percent(rng, 50) ? 1.6 : 1);
        break;
    case NOISE_STATES:
        bench->slow ^= rng_percent(rng, 3);
        time *= exp(0.03 * normal(rng)) * (bench->slow ? 1.6 : 1);
        break;
    case NOISE_OUTLIER:
        time *= exp(0.05 * normal(rng));
        if (rng_percent(rng, 10))
            time *= 1 + 49 * uniform(rng);
        break;
    case NOISE_TAIL:
        time *= 1 - 0.1 * log(uniform(rng));
        break;
    case NOISE_COARSE:
        time = ceil(time * exp(0.05 * normal(rng)) / 1250) * 1250;
        break;
    case NOISE_WORK:
        *work = 1 + rng_below(rng, 1000);
        time *= exp(0.05 * normal(rng)) * (double)*work / 100;
        break;
    case NOISE_GROUPS:
        time *= exp(0.02 * normal(rng) + bench->shared);
        break;
    default:
        time *= exp(0.05 * normal(rng));
    }
    *ns = (int64_t)time;
}

struct outcome {
    uint32_t verdicts[4];
    uint64_t pairs;
};

/* A trial of a variant that takes 'scale' times as long. */
static enum bf_ab_verdict timing(struct bench *bench, double scale, struct outcome *outcome)
{
    struct bf_ab_decision decision;
    bf_ab_decision_init(&decision);
    uint32_t size = bench->noise == NOISE_GROUPS ? 4 : 1;
    for (uint32_t i = 0; i < 4000 && !bf_ab_decision_verdict(&decision); i++) {
        enum bf_ab_kind kind = rng_next(&bench->rng) >> 63;
        bench->shared = 0.1 * normal(&bench->rng);
        for (uint32_t j = 0; j < size; j++) {
            int64_t ns;
            uint64_t work;
            bench_time(bench, kind == BF_AB_VARIANT ? scale : 1, &ns, &work);
            bf_ab_decision_add_grouped(&decision, kind, size > 1 ? 1 + i : 0, (double)ns, work);
        }
    }
    outcome->verdicts[decision.verdict]++;
    outcome->pairs += decision.pair_count;
    return decision.verdict;
}

static struct outcome timer(enum noise noise, double scale, uint32_t count, uint64_t seed)
{
    struct outcome outcome = {.pairs = 0};
    for (uint32_t i = 0; i < count; i++) {
        struct bench bench = {.rng = {(seed + i) * 1000003 + noise}, .noise = noise};
        timing(&bench, scale, &outcome);
    }
    printf("%-14s  variant takes %.3f:  kept %6.2f %%  loser %6.2f %%  tie %6.2f %%  open %u  "
           "%.0f pairs\n",
           noise_names[noise], scale, 100.0 * outcome.verdicts[BF_AB_KEEP] / count,
           100.0 * outcome.verdicts[BF_AB_LOSER] / count,
           100.0 * outcome.verdicts[BF_AB_TIE] / count, outcome.verdicts[BF_AB_UNDECIDED],
           (double)outcome.pairs / count);
    return outcome;
}

static uint32_t wrong;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    printf("    ^ %s\n", what);
    wrong++;
}

/* Whether a variant turns out slower by more than 1 % and 3 standard errors when it is measured
 * anew, by plain means of 400 samples each. */
static bool ends_slower(struct bench *bench, double scale)
{
    double mean[2] = {0, 0}, squares[2] = {0, 0};
    for (uint32_t i = 0; i < 400; i++)
        for (int kind = 0; kind < 2; kind++) {
            bench->shared = 0.1 * normal(&bench->rng);
            int64_t ns;
            uint64_t work;
            bench_time(bench, kind ? scale : 1, &ns, &work);
            double time = (double)ns / (double)work, off = time - mean[kind];
            mean[kind] += off / (i + 1);
            squares[kind] += off * (time - mean[kind]);
        }
    double error = sqrt((squares[0] + squares[1]) / (400.0 * 399));
    return mean[1] > 1.01 * mean[0] && mean[1] - mean[0] > 3 * error;
}

/* As many shaders as a large program has, of variants that are mostly no better: what is kept. */
static void test_nothing_ends_slower(uint32_t count, uint64_t seed)
{
    uint32_t kept = 0, slower = 0, worse = 0;
    struct outcome outcome = {.pairs = 0};
    for (uint32_t i = 0; i < count; i++) {
        struct bench bench = {.rng = {(seed + i) * 7919}, .noise = (enum noise)(i % NOISES)};
        double scale = exp(0.03 * normal(&bench.rng));
        if (timing(&bench, scale, &outcome) != BF_AB_KEEP)
            continue;
        kept++;
        slower += ends_slower(&bench, scale);
        worse += scale > 1.01;
    }
    printf("%u variants: %u kept, of these %u truly slower by 1 %%, %u measured slower\n", count,
           kept, worse, slower);
    require(kept > count / 10, "too few are kept");
    require(worse * 1000 <= kept && slower * 1000 <= kept, "one ends slower");
}

int main(int argc, char **argv)
{
    const uint32_t count = (uint32_t)argument(argc, argv, "--count", 2000);
    const uint64_t seed = argument(argc, argv, "--seed", 1);
    for (enum noise noise = 0; noise < NOISES; noise++) {
        struct outcome outcome = timer(noise, 1.01, count, seed);
        require(outcome.verdicts[BF_AB_KEEP] * 1000 <= count, "a slower variant is kept");
        require(!outcome.verdicts[BF_AB_UNDECIDED], "a trial doesn't end");
        outcome = timer(noise, 1 / 1.05, count / 4, seed);
        if (noise != NOISE_WIDE && noise != NOISE_WILD && noise != NOISE_TWO &&
            noise != NOISE_GROUPS)
            require(outcome.verdicts[BF_AB_KEEP] >= count / 4 * 0.95, "a gain isn't found");
        require(outcome.verdicts[BF_AB_LOSER] * 25 <= count / 4, "a faster one loses");
    }
    /* A gain that outweighs the noise is found in any. */
    for (enum noise noise = 0; noise < NOISES; noise++) {
        struct outcome outcome = timer(noise, 0.5, count / 10, seed);
        require(outcome.verdicts[BF_AB_KEEP] >= count / 10 * 0.95, "a gain isn't found");
        outcome = timer(noise, 2, count / 10, seed);
        require(outcome.verdicts[BF_AB_LOSER] >= count / 10 * 0.95, "a loss isn't found");
        outcome = timer(noise, 1, count / 4, seed);
        require(outcome.verdicts[BF_AB_KEEP] * 50 <= count / 4, "no gain is kept");
    }
    test_nothing_ends_slower(count, seed);
    return wrong != 0;
}
