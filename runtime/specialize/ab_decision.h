/*
 * Whether a variant is worth it: GPU times of the general pipeline and of the variant, taken in
 * turns while both do the program's work, are compared until the answer is clear or not worth more
 * measuring.
 *
 * A sample is a time and the work that was done in it (workgroups, vertices). Which kind is measured
 * is drawn for a group of samples, usually a recording. A sample of one kind and one of the other,
 * near to each other in time and of nearly the same work, are a pair; the pairs of the same two
 * groups count as one, with their mean. What is judged are the ratios of pairs, general by variant:
 * above 1 the variant is faster.
 *
 *  JU-1  Ratios count by rank (Wilcoxon's signed ranks of their logarithms): a sample that was
 *        interrupted for a second is the worst of all, and no worse than that. If the variant were
 *        as fast as the bound it is compared with, each pair's ratio would be as likely to be above
 *        as below, by the same factor, whatever the noise looks like: both samples have the same.
 *        So a bound's error rate doesn't depend on how times are distributed. A clock that speeds up
 *        or slows down hits both samples of a pair.
 *  JU-2  KEEP only with 30 pairs or more, where the lower 95 % bound of the ratio is above 1.01, and
 *        the lower bound of 4 standard errors is above 0.99. The first asks for a gain; the second
 *        is for those looks at few or noisy pairs whose 95 % bounds are so often wrong: a variant
 *        that is slower by 1 % or more is kept less than once in a thousand times, however noisy
 *        its times.
 *  JU-3  Nor is a variant kept whose plain mean time is above the general one's by more than 1 % and
 *        2 standard errors: one that is mostly faster and sometimes very slow. So no variant that is
 *        kept has been measured slower by more than 1 % and 3 standard errors, and with JU-2 none is
 *        likely to turn out so when it is measured again.
 *  JU-4  LOSER where the upper 95 % bound is below 0.99. TIE where it is below 1.01, and after 200
 *        pairs in any case: each trial ends. A verdict is final. Bounds are looked at after 30, 40,
 *        55, 75, 100, 130, 165 and 200 pairs, not after each: the more often one looks, the more
 *        often chance decides.
 *  JU-5  What the variant's first use took longer than its others is a price paid once: it is spread
 *        over the uses of a minute, or over those that have been, whichever are more, and the ratio
 *        is judged as if each use of the variant took its part of it longer.
 *  JU-6  Times of 0 or less (clocks that went backwards), or not finite, and times without work, are
 *        left out and counted. There are no numbers with which anything is divided by zero or isn't
 *        finite.
 *  JU-7  A group is in one pair at most: what disturbs a recording disturbs all of its samples, and
 *        the dispatch of a recording that is submitted again and again may be slow for where it
 *        stands. However many samples a group has, they are no more than one throw of a coin.
 *
 * Which kind a group is of is to be drawn by chance, or to alternate at least: a kind that always
 * comes second gains by what the first has warmed.
 *
 * Thread-safety: none; the caller serialises. No memory but the struct.
 *
 * Proven by tests/specialize/ab_decision.c and judge_noise.c.
 */
#ifndef BELFRY_SPECIALIZE_AB_DECISION_H
#define BELFRY_SPECIALIZE_AB_DECISION_H

#include <stdint.h>

#define BF_AB_PAIRS_LEAST 30
#define BF_AB_PAIRS_MOST  200
#define BF_AB_PENDING     32 /* of a kind, samples that wait for one of the other */
#define BF_AB_NEAR        64 /* samples in between, at most, for two to be a pair */
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
    double mean, squares; /* of nanoseconds per unit of work; squares of deviations from the mean */
    double log_mean;      /* of the logarithm of a use's nanoseconds */
    uint64_t used;        /* the highest group that is in a pair */
    uint64_t open;        /* the group of the pair that is being made */
    uint32_t pending_count;
    struct bf_ab_pending { /* oldest first */
        uint64_t group;
        uint64_t number; /* of the sample, among those of both kinds */
        double log_time; /* per unit of work */
        double log_work;
    } pending[BF_AB_PENDING];
};

struct bf_ab_decision {
    enum bf_ab_verdict verdict;
    struct bf_ab_side sides[2]; /* by enum bf_ab_kind */
    uint32_t pair_count;
    double ratios[BF_AB_PAIRS_MOST]; /* logarithms, sorted */
    uint32_t open_count;             /* pairs of the same two groups so far */
    double open_sum;
    uint64_t samples;
    uint64_t ignored;  /* JU-6 */
    uint64_t repeated; /* JU-7: of groups that had been in a pair */
    uint64_t unpaired; /* samples that waited in vain */
    double first_use_ns;
    double uses, span_ns;
};

void bf_ab_decision_init(struct bf_ab_decision *decision);

/* As init, but what is known of first use and of uses stays. */
void bf_ab_decision_restart(struct bf_ab_decision *decision);

/*
 * A use of 'work' units took 'ns' on the GPU. 'group' is the number of what its kind was drawn for,
 * usually a recording, which grows from one to the next; 0: for this sample alone. Samples of a
 * group come one behind the other; a pair of two groups counts when a sample of a third one comes. Returns the verdict; after it has been made, samples are left out.
 */
enum bf_ab_verdict bf_ab_decision_add_grouped(struct bf_ab_decision *decision, enum bf_ab_kind kind,
                                              uint64_t group, double ns, uint64_t work);

/* The kind was drawn for this sample alone. */
static inline enum bf_ab_verdict bf_ab_decision_add(struct bf_ab_decision *decision,
                                                    enum bf_ab_kind kind, double ns, uint64_t work)
{
    return bf_ab_decision_add_grouped(decision, kind, 0, ns, work);
}

/* The variant's first use, which may have been compiled in it; not to be added as a sample, too.
 * Several add up. */
void bf_ab_decision_add_first_use(struct bf_ab_decision *decision, double ns);

/* In 'span_ns', there were so many uses that the variant is for, measured or not (JU-5). Adds up. As
 * long as nothing is told the samples are taken for all uses. */
void bf_ab_decision_uses(struct bf_ab_decision *decision, uint64_t uses, double span_ns);

static inline enum bf_ab_verdict bf_ab_decision_verdict(const struct bf_ab_decision *decision)
{
    return decision->verdict;
}

static inline uint32_t bf_ab_decision_pairs(const struct bf_ab_decision *decision)
{
    return decision->pair_count;
}

/* How much faster the variant is, first use left aside: the middle one of the ratios, 1.05 for a
 * gain of 5 %. 1 without pairs. */
double bf_ab_decision_ratio(const struct bf_ab_decision *decision);

/* What a use of a kind takes, in nanoseconds: the geometric mean of its samples, to which those that
 * were interrupted add little. 0 without samples. */
double bf_ab_decision_mean(const struct bf_ab_decision *decision, enum bf_ab_kind kind);

#endif
