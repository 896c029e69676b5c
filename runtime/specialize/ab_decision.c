/* SPDX-License-Identifier: MIT */
/* The decision of an A/B timing: pairs samples of the general pipeline and of the variant, and
 * tests their ratios by signed ranks. */
#include "specialize/ab_decision.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Logarithms of the ratios that the bounds are compared with. */
#define LOG_GAIN 0.009950330853168083    /* 1.01 */
#define LOG_LOSS (-0.010050335853501441) /* 0.99 */
#define LOG_NEAR 0.22314355131420976     /* 1.25: samples whose work differs by less make a pair */

/* Widths of the bounds, in standard errors. */
#define BOUND_95   1.96
#define BOUND_SAFE 4.0
#define BOUND_MEAN 2.0

void bf_ab_decision_init(struct bf_ab_decision *decision)
{
    memset(decision, 0, sizeof(*decision));
}

void bf_ab_decision_restart(struct bf_ab_decision *decision)
{
    double first_use_ns = decision->first_use_ns, uses = decision->uses,
           span_ns = decision->span_ns;
    memset(decision, 0, sizeof(*decision));
    decision->first_use_ns = first_use_ns;
    decision->uses = uses;
    decision->span_ns = span_ns;
}

static void side_add(struct bf_ab_side *side, double ns, double work)
{
    double time = ns / work, off = time - side->mean;
    side->count++;
    side->mean += off / (double)side->count;
    side->squares += off * (time - side->mean);
    side->log_mean += (log(ns) - side->log_mean) / (double)side->count;
}

static void pending_remove(struct bf_ab_side *side, uint32_t i)
{
    side->pending_count--;
    memmove(&side->pending[i], &side->pending[i + 1],
            (side->pending_count - i) * sizeof(side->pending[0]));
}

/* Takes the latest waiting sample of the other kind that makes a pair with this one. While a
 * pair of groups is being made, only samples of those groups do. */
static bool partner_take(struct bf_ab_decision *decision, struct bf_ab_side *other,
                         const struct bf_ab_pending *sample, struct bf_ab_pending *partner)
{
    while (other->pending_count && sample->number - other->pending[0].number > BF_AB_NEAR) {
        pending_remove(other, 0);
        decision->unpaired++;
    }
    for (uint32_t i = other->pending_count; i-- > 0;) {
        *partner = other->pending[i];
        if (decision->open_count && partner->group != other->open)
            continue;
        if (fabs(sample->log_work - partner->log_work) <= LOG_NEAR) {
            pending_remove(other, i);
            return true;
        }
    }
    return false;
}

static void sample_wait(struct bf_ab_decision *decision, struct bf_ab_side *side,
                        const struct bf_ab_pending *sample)
{
    if (side->pending_count == BF_AB_PENDING) {
        pending_remove(side, 0);
        decision->unpaired++;
    }
    side->pending[side->pending_count++] = *sample;
}

static void ratio_insert(struct bf_ab_decision *decision, double ratio)
{
    uint32_t at = decision->pair_count++;
    for (; at && decision->ratios[at - 1] > ratio; at--)
        decision->ratios[at] = decision->ratios[at - 1];
    decision->ratios[at] = ratio;
}

/*
 * By how many standard errors the ratios are above 'bound' (negative: below), by signed ranks. The
 * distances from the bound are ranked, those above and below it together, by going from the bound
 * to both ends of the sorted ratios; equal distances share their ranks, and a ratio that is the
 * bound counts half. With equal distances the standard error is below the one used: to be on the
 * safe side.
 */
static double ranks_above(const struct bf_ab_decision *decision, double bound)
{
    const double *ratios = decision->ratios;
    uint32_t n = decision->pair_count, right = 0;
    while (right < n && ratios[right] < bound)
        right++;
    uint32_t left = right; /* the next ratio below the bound is ratios[left - 1] */
    double above = 0;
    for (uint32_t ranked = 0; ranked < n;) {
        double distance = INFINITY;
        if (left > 0)
            distance = bound - ratios[left - 1];
        if (right < n && ratios[right] - bound < distance)
            distance = ratios[right] - bound;
        uint32_t lower = 0, upper = 0;
        for (; left > 0 && bound - ratios[left - 1] <= distance; left--)
            lower++;
        for (; right < n && ratios[right] - bound <= distance; right++)
            upper++;
        double rank = ranked + (lower + upper + 1) / 2.0;
        above += rank * (distance > 0 ? upper : upper / 2.0);
        ranked += lower + upper;
    }
    double count = n;
    double mean = count * (count + 1) / 4, variance = mean * (2 * count + 1) / 6;
    return (above - mean) / sqrt(variance);
}

/* JU-3. */
static bool mean_is_slower(const struct bf_ab_decision *decision)
{
    const struct bf_ab_side *general = &decision->sides[BF_AB_GENERAL];
    const struct bf_ab_side *variant = &decision->sides[BF_AB_VARIANT];
    double slower = variant->mean - general->mean, variance = 0;
    for (int kind = 0; kind < 2; kind++) {
        const struct bf_ab_side *side = &decision->sides[kind];
        variance += side->squares / ((double)side->count * ((double)side->count - 1));
    }
    return slower > 0.01 * general->mean && slower > BOUND_MEAN * sqrt(variance);
}

/* JU-5: the logarithm of the factor by which the first use makes each use of the variant longer. */
static double first_use_price(const struct bf_ab_decision *decision)
{
    double use = exp(decision->sides[BF_AB_VARIANT].log_mean);
    double uses = (double)decision->samples;
    if (decision->first_use_ns <= use)
        return 0;
    if (decision->uses > 0) {
        /* shorter spans say too little */
        double span = decision->span_ns > 1e9 ? decision->span_ns : 1e9;
        double horizon = (double)BF_AB_HORIZON_NS;
        uses = span < horizon ? decision->uses * (horizon / span) : decision->uses;
    }
    return log1p((decision->first_use_ns - use) / (uses * use));
}

static enum bf_ab_verdict ab_verdict_of(const struct bf_ab_decision *decision)
{
    double price = first_use_price(decision);
    double gain = ranks_above(decision, LOG_GAIN + price);
    double loss = ranks_above(decision, LOG_LOSS + price);
    if (loss < -BOUND_95)
        return BF_AB_LOSER;
    if (gain > BOUND_95 && loss > BOUND_SAFE && !mean_is_slower(decision))
        return BF_AB_KEEP;
    if (gain < -BOUND_95 || decision->pair_count == BF_AB_PAIRS_MOST)
        return BF_AB_TIE;
    return BF_AB_UNDECIDED;
}

static bool look_due(uint32_t pairs)
{
    static const uint32_t looks[] = {BF_AB_PAIRS_LEAST, 40, 55, 75, 100, 130, 165,
                                     BF_AB_PAIRS_MOST};
    for (uint32_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
        if (pairs == looks[i])
            return true;
    return false;
}

/* The pair of groups that is being made is complete and counts; both groups are used up (JU-7). */
static void pair_close(struct bf_ab_decision *decision)
{
    ratio_insert(decision, decision->open_sum / decision->open_count);
    decision->open_count = 0;
    decision->open_sum = 0;
    for (int kind = 0; kind < 2; kind++) {
        struct bf_ab_side *side = &decision->sides[kind];
        if (side->used < side->open)
            side->used = side->open;
        for (uint32_t i = side->pending_count; i-- > 0;)
            if (side->pending[i].group && side->pending[i].group <= side->used) {
                pending_remove(side, i);
                decision->unpaired++;
            }
    }
    if (look_due(decision->pair_count))
        decision->verdict = ab_verdict_of(decision);
}

enum bf_ab_verdict bf_ab_decision_add_grouped(struct bf_ab_decision *decision, enum bf_ab_kind kind,
                                              uint64_t group, double ns, uint64_t work)
{
    struct bf_ab_side *side = &decision->sides[kind != BF_AB_GENERAL];
    struct bf_ab_side *other = &decision->sides[kind == BF_AB_GENERAL];
    if (decision->verdict != BF_AB_UNDECIDED)
        return decision->verdict;
    if (!(ns > 0) || !isfinite(ns) || !work) {
        decision->ignored++;
        return decision->verdict;
    }
    if (group && group <= side->used) {
        decision->repeated++;
        return decision->verdict;
    }
    if (decision->open_count && group != side->open) {
        pair_close(decision);
        if (decision->verdict != BF_AB_UNDECIDED)
            return decision->verdict;
    }
    struct bf_ab_pending partner;
    struct bf_ab_pending sample = {
        .group = group, .number = decision->samples++, .log_work = log((double)work)};
    sample.log_time = log(ns) - sample.log_work;
    side_add(side, ns, (double)work);
    if (!partner_take(decision, other, &sample, &partner)) {
        sample_wait(decision, side, &sample);
        return decision->verdict;
    }
    side->open = group;
    other->open = partner.group;
    decision->open_count++;
    decision->open_sum += kind == BF_AB_GENERAL ? sample.log_time - partner.log_time
                                                : partner.log_time - sample.log_time;
    if (!group || !partner.group)
        pair_close(decision);
    return decision->verdict;
}

void bf_ab_decision_add_first_use(struct bf_ab_decision *decision, double ns)
{
    if (!(ns > 0) || !isfinite(ns))
        decision->ignored++;
    else
        decision->first_use_ns += ns;
}

void bf_ab_decision_uses(struct bf_ab_decision *decision, uint64_t uses, uint64_t now_ns)
{
    decision->uses += (double)uses;
    if (decision->told_ns && now_ns > decision->told_ns)
        decision->span_ns += (double)(now_ns - decision->told_ns);
    decision->told_ns = now_ns;
}

double bf_ab_decision_ratio(const struct bf_ab_decision *decision)
{
    uint32_t n = decision->pair_count;
    if (!n)
        return 1;
    return exp((decision->ratios[(n - 1) / 2] + decision->ratios[n / 2]) / 2);
}

double bf_ab_decision_mean(const struct bf_ab_decision *decision, enum bf_ab_kind kind)
{
    const struct bf_ab_side *side = &decision->sides[kind != BF_AB_GENERAL];
    return side->count ? exp(side->log_mean) : 0;
}
