/*
 * The judge of variants (specialize/judge.h), case by case. How it fares under noise:
 * judge_noise.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "specialize/judge.h"

static struct bf_judge judge;

/* Pairs of samples with a little scatter, which is the same for both kinds. Until the verdict, or
 * so many pairs; says how many there were. */
static uint32_t pairs_add(uint32_t count, double general, double variant)
{
    static const double scatter[] = {1.0, 1.02, 0.99, 1.03, 0.98, 1.01, 1.0};
    uint32_t i = 0;
    for (; i < count && !bf_judge_verdict(&judge); i++) {
        enum bf_judge_kind first = i % 3 == 0 ? BF_JUDGE_GENERAL : BF_JUDGE_VARIANT;
        for (int turn = 0; turn < 2; turn++) {
            enum bf_judge_kind kind = turn == 0 ? first : !first;
            double time = kind == BF_JUDGE_GENERAL ? general * scatter[i % 7]
                                                   : variant * scatter[(i * 3 + 1) % 7];
            bf_judge_add(&judge, kind, time, 10);
        }
    }
    return i;
}

static void test_gain_is_kept_after_30_pairs(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    assert_int_equal(pairs_add(29, 100000, 80000), 29);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
    assert_int_equal(pairs_add(200, 100000, 80000), 1);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    assert_true(bf_judge_ratio(&judge) > 1.2 && bf_judge_ratio(&judge) < 1.3);
}

static void test_loss_loses(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    assert_int_equal(pairs_add(200, 100000, 105000), 30);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_LOSER);
}

static void test_no_gain_is_a_tie(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    assert_true(pairs_add(300, 100000, 100000) <= 200);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_TIE);
    /* Between no gain and one of 1 %. */
    bf_judge_init(&judge);
    assert_true(pairs_add(300, 100000, 99010) == 200);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_TIE);
    assert_int_equal(judge.pair_count, 200);
}

static void test_verdicts_are_final(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    pairs_add(30, 100000, 80000);
    struct bf_judge before = judge;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(bf_judge_add(&judge, i % 2, i % 2 ? 900000 : 1, 10), BF_JUDGE_KEEP);
        assert_int_equal(bf_judge_add(&judge, i % 2, -1, 10), BF_JUDGE_KEEP);
    }
    assert_memory_equal(&before, &judge, sizeof(judge));
}

/* All ratios are the same: the lower bound is the ratio. */
static void test_equal_times(void **state)
{
    (void)state;
    static const struct {
        double variant;
        enum bf_judgement verdict;
    } cases[] = {
        {100000, BF_JUDGE_TIE},  {99000, BF_JUDGE_KEEP},   {99020, BF_JUDGE_TIE},
        {101000, BF_JUDGE_TIE},  {101020, BF_JUDGE_LOSER}, {1, BF_JUDGE_KEEP},
        {1e300, BF_JUDGE_LOSER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bf_judge_init(&judge);
        for (uint32_t pair = 0; pair < 30; pair++) {
            bf_judge_add(&judge, BF_JUDGE_GENERAL, 100000, 1);
            bf_judge_add(&judge, BF_JUDGE_VARIANT, cases[i].variant, 1);
        }
        assert_int_equal(bf_judge_verdict(&judge), cases[i].verdict);
    }
    /* The very bound, by which all ratios count half. */
    bf_judge_init(&judge);
    for (uint32_t pair = 0; pair < 200; pair++) {
        assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
        bf_judge_add(&judge, BF_JUDGE_GENERAL, 101, 1);
        bf_judge_add(&judge, BF_JUDGE_VARIANT, 100, 1);
        for (uint32_t i = 0; i < judge.pair_count; i++)
            judge.ratios[i] = 0.009950330853168083;
    }
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_TIE);
}

static void test_bad_times_are_left_out(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    assert_true(bf_judge_ratio(&judge) == 1);
    for (uint32_t i = 0; i < 300; i++) {
        bf_judge_add(&judge, i % 2, 0, 10);
        bf_judge_add(&judge, i % 2, -5, 10);
        bf_judge_add(&judge, i % 2, -INFINITY, 10);
        bf_judge_add(&judge, i % 2, INFINITY, 10);
        bf_judge_add(&judge, i % 2, NAN, 10);
        bf_judge_add(&judge, i % 2, 100, 0);
    }
    bf_judge_add_first_use(&judge, 0);
    bf_judge_add_first_use(&judge, NAN);
    bf_judge_add_first_use(&judge, INFINITY);
    bf_judge_uses(&judge, 0, 0);
    bf_judge_uses(&judge, 0, -1);
    bf_judge_uses(&judge, 0, NAN);
    bf_judge_uses(&judge, 0, INFINITY);
    assert_int_equal(judge.ignored, 1803);
    assert_true(judge.span_ns == 0);
    assert_int_equal(judge.samples, 0);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
    assert_int_equal(pairs_add(30, 100000, 80000), 30);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    assert_true(isfinite(bf_judge_ratio(&judge)));
    /* One kind only decides nothing, and takes no room. */
    bf_judge_init(&judge);
    for (uint32_t i = 0; i < 100000; i++)
        bf_judge_add(&judge, BF_JUDGE_VARIANT, 1 + i, UINT64_MAX - i);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
    assert_int_equal(judge.pair_count, 0);
    assert_int_equal(judge.unpaired, 100000 - BF_JUDGE_PENDING);
}

/* In every tenth pair one of the samples, by turns, was interrupted for a second. */
static void test_interrupted_samples_do_not_decide(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    uint32_t pairs = 0;
    while (!bf_judge_verdict(&judge)) {
        if (pairs % 10 == 5) {
            bool variant = pairs % 20 == 5;
            bf_judge_add(&judge, BF_JUDGE_GENERAL, variant ? 100000 : 1000000000, 10);
            bf_judge_add(&judge, BF_JUDGE_VARIANT, variant ? 1000000000 : 80000, 10);
        } else {
            pairs_add(1, 100000, 80000);
        }
        pairs++;
    }
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    assert_true(pairs <= 55);
    /* Nor do they save a slower one. */
    bf_judge_init(&judge);
    for (pairs = 0; !bf_judge_verdict(&judge); pairs++)
        if (pairs % 10 == 5) {
            bf_judge_add(&judge, BF_JUDGE_GENERAL, 1000000000, 10);
            bf_judge_add(&judge, BF_JUDGE_VARIANT, 105000, 10);
        } else {
            pairs_add(1, 100000, 105000);
        }
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_LOSER);
}

/* Mostly faster by a tenth, but three times as slow in every eighth use: its mean is worse. */
static void test_mostly_faster_is_not_faster(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    for (uint32_t i = 0; !bf_judge_verdict(&judge); i++)
        pairs_add(1, 100000, i % 8 == 7 ? 300000 : 90000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_TIE);
}

static void test_pairs_are_near_and_alike(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    bf_judge_add(&judge, BF_JUDGE_GENERAL, 1000, 10);
    bf_judge_add(&judge, BF_JUDGE_GENERAL, 90000, 100);
    bf_judge_add(&judge, BF_JUDGE_GENERAL, 1100, 10);
    assert_int_equal(judge.pair_count, 0);
    bf_judge_add(&judge, BF_JUDGE_VARIANT, 50000, 1000); /* like none */
    assert_int_equal(judge.pair_count, 0);
    bf_judge_add(&judge, BF_JUDGE_VARIANT, 600, 12); /* the latest, for its work */
    assert_int_equal(judge.pair_count, 1);
    assert_true(fabs(bf_judge_ratio(&judge) - 110.0 / 50) < 1e-9);
    bf_judge_add(&judge, BF_JUDGE_VARIANT, 45000, 100);
    assert_int_equal(judge.pair_count, 2);
    assert_int_equal(judge.unpaired, 0);
    /* What has waited long makes no pair. */
    bf_judge_init(&judge);
    bf_judge_add(&judge, BF_JUDGE_GENERAL, 1000, 10);
    for (uint32_t i = 0; i < 64; i++)
        bf_judge_add(&judge, BF_JUDGE_VARIANT, 1000, 100000);
    bf_judge_add(&judge, BF_JUDGE_VARIANT, 1000, 10);
    assert_int_equal(judge.pair_count, 0);
    assert_int_equal(judge.unpaired, 65 - BF_JUDGE_PENDING + 1);
}

static void group_add(enum bf_judge_kind kind, uint64_t group, uint32_t count, double ns)
{
    for (uint32_t i = 0; i < count; i++)
        bf_judge_add_grouped(&judge, kind, group, ns, 1);
}

static void test_groups_are_in_one_pair(void **state)
{
    (void)state;
    bf_judge_init(&judge);
    group_add(BF_JUDGE_GENERAL, 1, 8, 1000);
    group_add(BF_JUDGE_VARIANT, 2, 4, 900);
    group_add(BF_JUDGE_VARIANT, 2, 4, 800);
    assert_int_equal(bf_judge_pairs(&judge), 0); /* more of them may come */
    group_add(BF_JUDGE_VARIANT, 3, 8, 500);
    assert_int_equal(bf_judge_pairs(&judge), 1);
    assert_true(fabs(bf_judge_ratio(&judge) - 1000 / sqrt(900.0 * 800)) < 1e-9);
    /* The same recordings are submitted again. */
    group_add(BF_JUDGE_GENERAL, 1, 8, 1000);
    group_add(BF_JUDGE_VARIANT, 2, 8, 900);
    assert_int_equal(judge.repeated, 16);
    /* A pair of what had waited. */
    group_add(BF_JUDGE_GENERAL, 4, 1, 1500);
    group_add(BF_JUDGE_GENERAL, 5, 1, 1);
    assert_int_equal(bf_judge_pairs(&judge), 2);
    assert_true(fabs(judge.ratios[1] - log(3)) < 1e-9);
    /* Seven samples of the third, and none of a group that has been in a pair, waited in vain. */
    assert_int_equal(judge.unpaired, 7);
    assert_int_equal(judge.sides[BF_JUDGE_VARIANT].pending_count, 0);
    /* While one pair is made, no other. */
    bf_judge_init(&judge);
    group_add(BF_JUDGE_GENERAL, 1, 8, 100);
    group_add(BF_JUDGE_GENERAL, 2, 1, 1000);
    group_add(BF_JUDGE_VARIANT, 3, 8, 500);
    group_add(BF_JUDGE_VARIANT, 4, 8, 500);
    assert_int_equal(bf_judge_pairs(&judge), 1);
    assert_true(fabs(bf_judge_ratio(&judge) - 2) < 1e-9);
    /* Where one stands by itself, the pair does. */
    bf_judge_init(&judge);
    group_add(BF_JUDGE_GENERAL, 0, 1, 1000);
    group_add(BF_JUDGE_VARIANT, 1, 1, 500);
    assert_int_equal(bf_judge_pairs(&judge), 1);
    group_add(BF_JUDGE_VARIANT, 2, 1, 500);
    group_add(BF_JUDGE_GENERAL, 0, 1, 1000);
    assert_int_equal(bf_judge_pairs(&judge), 2);
    /* However often two recordings are submitted, they decide nothing. */
    bf_judge_init(&judge);
    for (uint32_t i = 0; i < 10000; i++)
        group_add(i % 2, 1 + i % 2, 8, i % 2 ? 1000 : 1200);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
    assert_true(bf_judge_pairs(&judge) <= 1);
}

static void test_restart_keeps_what_is_known_of_uses(void **state)
{
    (void)state;
    /* 6000 uses in a minute, for which the first use is too dear, and 6000 in a second. */
    for (int dear = 0; dear < 2; dear++) {
        enum bf_judgement expected = dear ? BF_JUDGE_LOSER : BF_JUDGE_KEEP;
        bf_judge_init(&judge);
        bf_judge_add_first_use(&judge, 1e9);
        bf_judge_uses(&judge, 6000, dear ? 60e9 : 1e9);
        assert_true(bf_judge_mean(&judge, BF_JUDGE_GENERAL) == 0);
        pairs_add(200, 100000, 80000);
        assert_int_equal(bf_judge_verdict(&judge), expected);
        assert_true(fabs(bf_judge_mean(&judge, BF_JUDGE_GENERAL) - 100400) < 500);
        assert_true(fabs(bf_judge_mean(&judge, BF_JUDGE_VARIANT) - 80300) < 500);
        bf_judge_restart(&judge);
        assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_UNDECIDED);
        assert_int_equal(bf_judge_pairs(&judge), 0);
        assert_true(bf_judge_mean(&judge, BF_JUDGE_VARIANT) == 0);
        pairs_add(200, 100000, 80000);
        assert_int_equal(bf_judge_verdict(&judge), expected);
    }
}

/* A gain of 25 %, 20 µs a use; the first use took a second. */
static void test_first_use_counts(void **state)
{
    (void)state;
    /* 60 times in a second are 3600 in a minute: 278 µs for each of them. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 1000000000);
    bf_judge_uses(&judge, 60, 1000000000);
    pairs_add(200, 100000, 80000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_LOSER);
    /* 6000 in a second: 2.8 µs each. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 1000000000);
    bf_judge_uses(&judge, 6000, 1000000000);
    pairs_add(200, 100000, 80000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    /* The same within ten minutes: 16.7 µs each, a gain of 3.5 % is left. In one minute they would
     * be taken for a loss if only these counted. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 1000000000);
    bf_judge_uses(&judge, 30000, 300e9);
    bf_judge_uses(&judge, 30000, 300e9);
    pairs_add(200, 100000, 80000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    /* Some uses in no time say nothing about a minute: 60 of them. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 1000000000);
    bf_judge_uses(&judge, 1, 1);
    pairs_add(200, 100000, 80000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_LOSER);
    /* Nothing is known but the samples. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 1000000);
    pairs_add(200, 100000, 80000);
    assert_true(bf_judge_verdict(&judge) == BF_JUDGE_KEEP);
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 10000000);
    pairs_add(200, 100000, 80000);
    assert_true(bf_judge_verdict(&judge) == BF_JUDGE_LOSER);
    /* Only what it took longer than others: 18 µs, for ten uses. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 110000);
    bf_judge_uses(&judge, 10, 60e9);
    pairs_add(200, 100000, 92000);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
    /* A first use like any other costs nothing. */
    bf_judge_init(&judge);
    bf_judge_add_first_use(&judge, 79000);
    assert_int_equal(pairs_add(200, 100000, 80000), 30);
    assert_int_equal(bf_judge_verdict(&judge), BF_JUDGE_KEEP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gain_is_kept_after_30_pairs),
        cmocka_unit_test(test_loss_loses),
        cmocka_unit_test(test_no_gain_is_a_tie),
        cmocka_unit_test(test_verdicts_are_final),
        cmocka_unit_test(test_equal_times),
        cmocka_unit_test(test_bad_times_are_left_out),
        cmocka_unit_test(test_interrupted_samples_do_not_decide),
        cmocka_unit_test(test_mostly_faster_is_not_faster),
        cmocka_unit_test(test_pairs_are_near_and_alike),
        cmocka_unit_test(test_groups_are_in_one_pair),
        cmocka_unit_test(test_restart_keeps_what_is_known_of_uses),
        cmocka_unit_test(test_first_use_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
