/* SPDX-License-Identifier: MIT */
/*
 * The A/B decision, whether a variant is worth it: GPU times of the general pipeline and of the
 * variant, taken in turns while both do the program's work, are compared until the answer is clear
 * or not worth more measuring.
 *
 * A sample is a time and the amount of work that was done in it (workgroups, draws). A lot decides
 * which kind is measured, for a group of samples, usually a recording. A sample of each kind, near
 * to each other in time and with nearly the same work, are a pair; the pairs of the same two groups
 * count as one, with their mean. The decision rests on the ratios of pairs, general by variant:
 * above 1 the variant is faster.
 *
 *  JU-1  Ratios count by rank (Wilcoxon's signed ranks of their logarithms): a sample that was
 *        interrupted for a second is the worst of all, and no worse than that. If the variant were
 *        as fast as the bound that it is compared with, a pair's ratio would be as likely to be
 *        above as below it, by the same factor, whatever the noise looks like, since both samples
 *        have the same noise. So a bound's error rate doesn't depend on how times are distributed.
 *        A clock that speeds up or slows down hits both samples of a pair.
 *  JU-2  KEEP only with 30 pairs or more, where the lower 95 % bound of the ratio is above 1.01,
 *        and the lower bound of 4 standard errors is above 0.99. The first demands a gain; the
 *        second is for early looks at few or noisy pairs, when 95 % bounds are often wrong: a
 *        variant that is slower by 1 % or more is kept less than once in a thousand times, however
 *        noisy its times.
 *  JU-3  A variant isn't kept either if its plain mean time is above the general one's by more than
 *        1 % and 2 standard errors: it would be mostly faster and sometimes very slow. So no
 *        variant that is kept has been measured slower by more than 1 % and 3 standard errors, and
 *        with JU-2 none is likely to turn out so when it is measured again.
 *  JU-4  LOSER where the upper 95 % bound is below 0.99. TIE where it is below 1.01, and after 200
 *        pairs in any case: each A/B timing ends. A verdict is final. Bounds are looked at after
 *        30, 40, 55, 75, 100, 130, 165 and 200 pairs, not after each: the more often one looks, the
 *        more often chance decides.
 *  JU-5  The time by which the variant's first use took longer than its others is a price paid
 *        once. It is spread over the uses of a minute, or over all uses so far if these are more,
 *        and the ratio is taken as if each use of the variant took its share of it longer. Time
 *        counts from the first use that is told of: before, the program may have waited for a
 *        commit, which takes as long as all checks, or loaded a level.
 *  JU-6  Times of 0 or less (clocks that went backwards), times that aren't finite, and times
 *        without work are left out and counted. No numbers make it divide by zero or give a result
 *        that isn't finite.
 *  JU-7  A group is in one pair at most: what disturbs a recording disturbs all of its samples, and
 *        a dispatch in a recording that is submitted again and again may be slow because of its
 *        neighbours. However many samples a group has, they are the outcome of one lot.
 *
 * The kind of a group is to be drawn at random, or at least to alternate: a kind that always comes
 * second gains by caches that the first has warmed.
 *
 * Thread-safety: none; the caller serialises. No memory but the struct.
 *
 * Proven by tests/specialize/ab_decision.c and ab_decision_noise.c.
 */
#ifndef BELFRY_SPECIALIZE_AB_DECISION_H
#define BELFRY_SPECIALIZE_AB_DECISION_H

#include <stdint.h>

#define BF_AB_PAIRS_LEAST 30
#define BF_AB_PAIRS_MOST  200
#define BF_AB_PENDING     32 /* samples of a kind that wait for one of the other */
#define BF_AB_NEAR        64 /* two samples with more samples between them than this are no pair */
#define BF_AB_HORIZON_NS  UINT64_C(60000000000)

enum bf_ab_kind {
    BF_AB_GENERAL,
    BF_AB_VARIANT,
};

enum bf_ab_verdict {
    BF_AB_UNDECIDED,
    BF_AB_KEEP,
    BF_AB_LOSER, /* slower */
    BF_AB_TIE,   /* not measurably faster */
};

struct bf_ab_side {
    uint64_t count;
    /* of nanoseconds per unit of work; sum of squared deviations from the mean */
    double mean, squares;
    double log_mean; /* of the logarithms of nanoseconds per use */
    uint64_t used;   /* the highest group that is in a pair */
    uint64_t open;   /* the group of the pair that is being made */
    uint32_t pending_count;
    struct bf_ab_pending { /* oldest first */
        uint64_t group;
        uint64_t number; /* the sample's, counted over both kinds */
        double log_time; /* per unit of work */
        double log_work;
    } pending[BF_AB_PENDING];
};

struct bf_ab_decision {
    enum bf_ab_verdict verdict;
    struct bf_ab_side sides[2]; /* by enum bf_ab_kind */
    uint32_t pair_count;
    double ratios[BF_AB_PAIRS_MOST]; /* logarithms, sorted */
    uint32_t open_count;             /* pairs of the same two groups, so far */
    double open_sum;
    uint64_t samples;
    uint64_t ignored;  /* samples left out (JU-6) */
    uint64_t repeated; /* samples of groups that had been in a pair (JU-7) */
    uint64_t unpaired; /* samples that no partner came for */
    double first_use_ns;
    double uses, span_ns;
    uint64_t told_ns; /* when it was told of uses; 0: it wasn't */
};

void bf_ab_decision_init(struct bf_ab_decision *decision);

/* Begins anew; what is known of the first use and of uses stays. */
void bf_ab_decision_restart(struct bf_ab_decision *decision);

/*
 * A use of 'work' units took 'ns' on the GPU. 'group' is the number of the draw that chose its
 * kind, as a rule one per recording; it grows from recording to recording. 0: the kind was drawn
 * for this sample alone. Samples of a group come one behind the other; a pair of two groups counts
 * when the first sample of a third one comes. Returns the verdict; once there is one samples are
 * left out.
 */
enum bf_ab_verdict bf_ab_decision_add_grouped(struct bf_ab_decision *decision, enum bf_ab_kind kind,
                                              uint64_t group, double ns, uint64_t work);

/* The kind was drawn for this sample alone. */
static inline enum bf_ab_verdict bf_ab_decision_add(struct bf_ab_decision *decision,
                                                    enum bf_ab_kind kind, double ns, uint64_t work)
{
    return bf_ab_decision_add_grouped(decision, kind, 0, ns, work);
}

/* The variant's first use, during which the driver may have compiled it. It isn't added as a
 * sample. Several add up. */
void bf_ab_decision_add_first_use(struct bf_ab_decision *decision, double ns);

/* How often the variant was used or could have been, measured or not, since it was told of that
 * last (JU-5). 'now_ns' isn't 0. As long as nothing is known the samples are taken for all uses. */
void bf_ab_decision_uses(struct bf_ab_decision *decision, uint64_t uses, uint64_t now_ns);

static inline enum bf_ab_verdict bf_ab_decision_verdict(const struct bf_ab_decision *decision)
{
    return decision->verdict;
}

static inline uint32_t bf_ab_decision_pairs(const struct bf_ab_decision *decision)
{
    return decision->pair_count;
}

/* How many times faster the variant is, without its first use: the median of the ratios, 1.05
 * for a gain of 5 %. 1 without pairs. */
double bf_ab_decision_ratio(const struct bf_ab_decision *decision);

/* Nanoseconds of a use of that kind: the geometric mean of the samples, on which interrupted
 * ones have little influence. 0 without samples. */
double bf_ab_decision_mean(const struct bf_ab_decision *decision, enum bf_ab_kind kind);

#endif
