/* SPDX-License-Identifier: MIT */
/* The A/B decision on variants (specialize/ab_decision.h), case by case. Under noise:
 * ab_decision_noise.c. */
#include "support/test.h"

#include <math.h>

#include "specialize/ab_decision.h"

#define SECOND UINT64_C(1000000000)

static struct bf_ab_decision decision;

/* Pairs of samples with a little scatter, which is the same for both kinds. Until the verdict, or
 * so many pairs; says how many there were. */
static uint32_t pairs_add(uint32_t count, double general, double variant)
{
    static const double scatter[] = {1.0, 1.02, 0.99, 1.03, 0.98, 1.01, 1.0};
    uint32_t i = 0;
    for (; i < count && !bf_ab_decision_verdict(&decision); i++) {
        enum bf_ab_kind first = i % 3 == 0 ? BF_AB_GENERAL : BF_AB_VARIANT;
        for (int turn = 0; turn < 2; turn++) {
            enum bf_ab_kind kind = turn == 0 ? first : !first;
            double time = kind == BF_AB_GENERAL ? general * scatter[i % 7]
                                                : variant * scatter[(i * 3 + 1) % 7];
            bf_ab_decision_add(&decision, kind, time, 10);
        }
    }
    return i;
}

TEST(test_gain_is_kept_after_30_pairs)
{
    bf_ab_decision_init(&decision);
    assert_int_equal(pairs_add(29, 100000, 80000), 29);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
    assert_int_equal(pairs_add(200, 100000, 80000), 1);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_KEEP);
    assert_true(bf_ab_decision_ratio(&decision) > 1.2 && bf_ab_decision_ratio(&decision) < 1.3);
}

TEST(test_loss_loses)
{
    bf_ab_decision_init(&decision);
    assert_int_equal(pairs_add(200, 100000, 105000), 30);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_LOSER);
}

TEST(test_no_gain_is_a_tie)
{
    bf_ab_decision_init(&decision);
    assert_true(pairs_add(300, 100000, 100000) <= 200);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_TIE);
    /* Between no gain and one of 1 %. */
    bf_ab_decision_init(&decision);
    assert_true(pairs_add(300, 100000, 99010) == 200);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_TIE);
    assert_int_equal(decision.pair_count, 200);
}

TEST(test_verdicts_are_final)
{
    bf_ab_decision_init(&decision);
    pairs_add(30, 100000, 80000);
    struct bf_ab_decision before = decision;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(bf_ab_decision_add(&decision, i % 2, i % 2 ? 900000 : 1, 10), BF_AB_KEEP);
        assert_int_equal(bf_ab_decision_add(&decision, i % 2, -1, 10), BF_AB_KEEP);
    }
    assert_memory_equal(&before, &decision, sizeof(decision));
}

/* All ratios are the same: the lower bound is the ratio. */
TEST(test_equal_times)
{
    static const struct {
        double variant;
        enum bf_ab_verdict verdict;
    } cases[] = {
        {100000, BF_AB_TIE},   {99000, BF_AB_KEEP}, {99020, BF_AB_TIE},   {101000, BF_AB_TIE},
        {101020, BF_AB_LOSER}, {1, BF_AB_KEEP},     {1e300, BF_AB_LOSER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bf_ab_decision_init(&decision);
        for (uint32_t pair = 0; pair < 30; pair++) {
            bf_ab_decision_add(&decision, BF_AB_GENERAL, 100000, 1);
            bf_ab_decision_add(&decision, BF_AB_VARIANT, cases[i].variant, 1);
        }
        assert_int_equal(bf_ab_decision_verdict(&decision), cases[i].verdict);
    }
    /* The very bound, by which all ratios count half. */
    bf_ab_decision_init(&decision);
    for (uint32_t pair = 0; pair < 200; pair++) {
        assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
        bf_ab_decision_add(&decision, BF_AB_GENERAL, 101, 1);
        bf_ab_decision_add(&decision, BF_AB_VARIANT, 100, 1);
        for (uint32_t i = 0; i < decision.pair_count; i++)
            decision.ratios[i] = 0.009950330853168083;
    }
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_TIE);
}

TEST(test_bad_times_are_left_out)
{
    bf_ab_decision_init(&decision);
    assert_true(bf_ab_decision_ratio(&decision) == 1);
    for (uint32_t i = 0; i < 300; i++) {
        bf_ab_decision_add(&decision, i % 2, 0, 10);
        bf_ab_decision_add(&decision, i % 2, -5, 10);
        bf_ab_decision_add(&decision, i % 2, -INFINITY, 10);
        bf_ab_decision_add(&decision, i % 2, INFINITY, 10);
        bf_ab_decision_add(&decision, i % 2, NAN, 10);
        bf_ab_decision_add(&decision, i % 2, 100, 0);
    }
    bf_ab_decision_add_first_use(&decision, 0);
    bf_ab_decision_add_first_use(&decision, NAN);
    bf_ab_decision_add_first_use(&decision, INFINITY);
    for (uint64_t now_ns = 9; now_ns > 6; now_ns--) /* a clock that goes backwards */
        bf_ab_decision_uses(&decision, 0, now_ns);
    assert_int_equal(decision.ignored, 1803);
    assert_true(decision.span_ns == 0);
    assert_int_equal(decision.samples, 0);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
    assert_int_equal(pairs_add(30, 100000, 80000), 30);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_KEEP);
    assert_true(isfinite(bf_ab_decision_ratio(&decision)));
    /* One kind only decides nothing, and takes no room. */
    bf_ab_decision_init(&decision);
    for (uint32_t i = 0; i < 100000; i++)
        bf_ab_decision_add(&decision, BF_AB_VARIANT, 1 + i, UINT64_MAX - i);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
    assert_int_equal(decision.pair_count, 0);
    assert_int_equal(decision.unpaired, 100000 - BF_AB_PENDING);
}

/* In every tenth pair one of the samples, by turns, was interrupted for a second. */
TEST(test_interrupted_samples_do_not_decide)
{
    bf_ab_decision_init(&decision);
    uint32_t pairs = 0;
    while (!bf_ab_decision_verdict(&decision)) {
        if (pairs % 10 == 5) {
            bool variant = pairs % 20 == 5;
            bf_ab_decision_add(&decision, BF_AB_GENERAL, variant ? 100000 : 1000000000, 10);
            bf_ab_decision_add(&decision, BF_AB_VARIANT, variant ? 1000000000 : 80000, 10);
        } else {
            pairs_add(1, 100000, 80000);
        }
        pairs++;
    }
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_KEEP);
    assert_true(pairs <= 55);
    /* Nor do they save a slower one. */
    bf_ab_decision_init(&decision);
    for (pairs = 0; !bf_ab_decision_verdict(&decision); pairs++)
        if (pairs % 10 == 5) {
            bf_ab_decision_add(&decision, BF_AB_GENERAL, 1000000000, 10);
            bf_ab_decision_add(&decision, BF_AB_VARIANT, 105000, 10);
        } else {
            pairs_add(1, 100000, 105000);
        }
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_LOSER);
}

/* Mostly faster by a tenth, but three times as slow in every eighth use: its mean is worse. */
TEST(test_mostly_faster_is_not_faster)
{
    bf_ab_decision_init(&decision);
    for (uint32_t i = 0; !bf_ab_decision_verdict(&decision); i++)
        pairs_add(1, 100000, i % 8 == 7 ? 300000 : 90000);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_TIE);
}

TEST(test_pairs_are_near_and_alike)
{
    bf_ab_decision_init(&decision);
    bf_ab_decision_add(&decision, BF_AB_GENERAL, 1000, 10);
    bf_ab_decision_add(&decision, BF_AB_GENERAL, 90000, 100);
    bf_ab_decision_add(&decision, BF_AB_GENERAL, 1100, 10);
    assert_int_equal(decision.pair_count, 0);
    bf_ab_decision_add(&decision, BF_AB_VARIANT, 50000, 1000); /* like none */
    assert_int_equal(decision.pair_count, 0);
    bf_ab_decision_add(&decision, BF_AB_VARIANT, 600, 12); /* the latest, for its work */
    assert_int_equal(decision.pair_count, 1);
    assert_true(fabs(bf_ab_decision_ratio(&decision) - 110.0 / 50) < 1e-9);
    bf_ab_decision_add(&decision, BF_AB_VARIANT, 45000, 100);
    assert_int_equal(decision.pair_count, 2);
    assert_int_equal(decision.unpaired, 0);
    /* What has waited long makes no pair. */
    bf_ab_decision_init(&decision);
    bf_ab_decision_add(&decision, BF_AB_GENERAL, 1000, 10);
    for (uint32_t i = 0; i < 64; i++)
        bf_ab_decision_add(&decision, BF_AB_VARIANT, 1000, 100000);
    bf_ab_decision_add(&decision, BF_AB_VARIANT, 1000, 10);
    assert_int_equal(decision.pair_count, 0);
    assert_int_equal(decision.unpaired, 65 - BF_AB_PENDING + 1);
}

static void group_add(enum bf_ab_kind kind, uint64_t group, uint32_t count, double ns)
{
    for (uint32_t i = 0; i < count; i++)
        bf_ab_decision_add_grouped(&decision, kind, group, ns, 1);
}

TEST(test_groups_are_in_one_pair)
{
    bf_ab_decision_init(&decision);
    group_add(BF_AB_GENERAL, 1, 8, 1000);
    group_add(BF_AB_VARIANT, 2, 4, 900);
    group_add(BF_AB_VARIANT, 2, 4, 800);
    assert_int_equal(bf_ab_decision_pairs(&decision), 0); /* more of them may come */
    group_add(BF_AB_VARIANT, 3, 8, 500);
    assert_int_equal(bf_ab_decision_pairs(&decision), 1);
    assert_true(fabs(bf_ab_decision_ratio(&decision) - 1000 / sqrt(900.0 * 800)) < 1e-9);
    /* The same recordings are submitted again. */
    group_add(BF_AB_GENERAL, 1, 8, 1000);
    group_add(BF_AB_VARIANT, 2, 8, 900);
    assert_int_equal(decision.repeated, 16);
    /* A pair of what had waited. */
    group_add(BF_AB_GENERAL, 4, 1, 1500);
    group_add(BF_AB_GENERAL, 5, 1, 1);
    assert_int_equal(bf_ab_decision_pairs(&decision), 2);
    assert_true(fabs(decision.ratios[1] - log(3)) < 1e-9);
    /* Seven samples of the third, and none of a group that has been in a pair, waited in vain. */
    assert_int_equal(decision.unpaired, 7);
    assert_int_equal(decision.sides[BF_AB_VARIANT].pending_count, 0);
    /* While one pair is made, no other. */
    bf_ab_decision_init(&decision);
    group_add(BF_AB_GENERAL, 1, 8, 100);
    group_add(BF_AB_GENERAL, 2, 1, 1000);
    group_add(BF_AB_VARIANT, 3, 8, 500);
    group_add(BF_AB_VARIANT, 4, 8, 500);
    assert_int_equal(bf_ab_decision_pairs(&decision), 1);
    assert_true(fabs(bf_ab_decision_ratio(&decision) - 2) < 1e-9);
    /* Where one stands by itself, the pair does. */
    bf_ab_decision_init(&decision);
    group_add(BF_AB_GENERAL, 0, 1, 1000);
    group_add(BF_AB_VARIANT, 1, 1, 500);
    assert_int_equal(bf_ab_decision_pairs(&decision), 1);
    group_add(BF_AB_VARIANT, 2, 1, 500);
    group_add(BF_AB_GENERAL, 0, 1, 1000);
    assert_int_equal(bf_ab_decision_pairs(&decision), 2);
    /* However often two recordings are submitted, they decide nothing. */
    bf_ab_decision_init(&decision);
    for (uint32_t i = 0; i < 10000; i++)
        group_add(i % 2, 1 + i % 2, 8, i % 2 ? 1000 : 1200);
    assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
    assert_true(bf_ab_decision_pairs(&decision) <= 1);
}

TEST(test_restart_keeps_what_is_known_of_uses)
{
    /* 6000 uses in a minute, for which the first use is too dear, and 6000 in a second. */
    for (int dear = 0; dear < 2; dear++) {
        enum bf_ab_verdict expected = dear ? BF_AB_LOSER : BF_AB_KEEP;
        bf_ab_decision_init(&decision);
        bf_ab_decision_add_first_use(&decision, 1e9);
        bf_ab_decision_uses(&decision, 0, 1);
        bf_ab_decision_uses(&decision, 6000, 1 + (dear ? 60 : 1) * SECOND);
        assert_true(bf_ab_decision_mean(&decision, BF_AB_GENERAL) == 0);
        pairs_add(200, 100000, 80000);
        assert_int_equal(bf_ab_decision_verdict(&decision), expected);
        assert_true(fabs(bf_ab_decision_mean(&decision, BF_AB_GENERAL) - 100400) < 500);
        assert_true(fabs(bf_ab_decision_mean(&decision, BF_AB_VARIANT) - 80300) < 500);
        bf_ab_decision_restart(&decision);
        assert_int_equal(bf_ab_decision_verdict(&decision), BF_AB_UNDECIDED);
        assert_int_equal(bf_ab_decision_pairs(&decision), 0);
        assert_true(bf_ab_decision_mean(&decision, BF_AB_VARIANT) == 0);
        pairs_add(200, 100000, 80000);
        assert_int_equal(bf_ab_decision_verdict(&decision), expected);
    }
}

/* However long nothing was told of, when it may not have been in use: neither before its first use,
 * nor after it was taken back. [JU-5] */
TEST(test_only_use_counts)
{
    bf_ab_decision_init(&decision);
    bf_ab_decision_uses(&decision, 2, 600 * SECOND);
    assert_true(decision.span_ns == 0 && decision.uses == 2);
    bf_ab_decision_uses(&decision, 2, 601 * SECOND);
    assert_true(decision.span_ns == 1e9 && decision.uses == 4);
    bf_ab_decision_restart(&decision);
    bf_ab_decision_uses(&decision, 2, 1200 * SECOND);
    assert_true(decision.span_ns == 1e9 && decision.uses == 6);
}

/* A gain of 25 %, 20 µs a use; the first use took a second. */
TEST(test_first_use_counts)
{
    static const struct {
        double first_ns;
        struct {
            uint64_t count, ns;
        } uses[2]; /* count 0: nothing is known of them */
        double variant;
        enum bf_ab_verdict verdict;
    } cases[] = {
        /* 60 times in a second are 3600 in a minute: 278 µs for each of them. */
        {1e9, {{60, SECOND}}, 80000, BF_AB_LOSER},
        /* 6000 in a second: 2.8 µs each. */
        {1e9, {{6000, SECOND}}, 80000, BF_AB_KEEP},
        /* The same within ten minutes: 16.7 µs each, a gain of 3.5 % is left. In one minute they
         * would be taken for a loss if only these counted. */
        {1e9, {{30000, 300 * SECOND}, {30000, 300 * SECOND}}, 80000, BF_AB_KEEP},
        /* Some uses in no time say nothing about a minute: 60 of them. */
        {1e9, {{1, 1}}, 80000, BF_AB_LOSER},
        /* Nothing is known but the samples. */
        {1e6, {{0}}, 80000, BF_AB_KEEP},
        {1e7, {{0}}, 80000, BF_AB_LOSER},
        /* Only what it took longer than others: 18 µs, for ten uses. */
        {110000, {{10, 60 * SECOND}}, 92000, BF_AB_KEEP},
        /* A first use like any other costs nothing. */
        {79000, {{0}}, 80000, BF_AB_KEEP},
    };
    uint32_t pairs = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bf_ab_decision_init(&decision);
        bf_ab_decision_add_first_use(&decision, cases[i].first_ns);
        uint64_t now_ns = 1;
        if (cases[i].uses[0].count)
            bf_ab_decision_uses(&decision, 0, now_ns);
        for (int k = 0; k < 2 && cases[i].uses[k].count; k++) {
            now_ns += cases[i].uses[k].ns;
            bf_ab_decision_uses(&decision, cases[i].uses[k].count, now_ns);
        }
        pairs = pairs_add(200, 100000, cases[i].variant);
        assert_int_equal(bf_ab_decision_verdict(&decision), cases[i].verdict);
    }
    assert_int_equal(pairs, 30);
}
