/* SPDX-License-Identifier: MIT */
/* Which tuples a table chooses (specialize/histogram.h, TA-4 to TA-10). */
#include "support/test.h"

#include "specialize/histogram.h"

static struct bf_histogram histogram;
static struct bf_histogram_choice choice;

/* It is empty, and of three words. */
static int fresh(void **state)
{
    bf_histogram_init(&histogram, 3, 0);
    return 0;
}

#define FRESH_TEST(name_) TEST_WITH(name_, fresh, NULL)

static void add(uint32_t a, uint32_t b, uint32_t c, uint64_t weight)
{
    struct bf_histogram_row row = {.mask = 7, .weight = weight, .words = {a, b, c}};
    bf_histogram_add(&histogram, 0, &row);
}

static uint32_t chosen(uint64_t threshold)
{
    bf_histogram_choose(&histogram, 0, threshold, &choice);
    return choice.count;
}

static void expect(uint32_t i, uint32_t a, uint32_t b, uint32_t c, uint64_t uses)
{
    const uint32_t words[BF_HISTOGRAM_WORDS] = {a, b, c};
    assert_true(i < choice.count);
    assert_memory_equal(choice.words[i], words, sizeof(words));
    assert_int_equal(choice.uses[i], uses);
}

FRESH_TEST(test_one_value)
{
    add(1, 2, 3, 4095);
    assert_int_equal(chosen(4096), 0);
    assert_int_equal(choice.mask, 0);
    add(1, 2, 3, 1);
    assert_int_equal(chosen(4096), 1);
    expect(0, 1, 2, 3, 4096);
    assert_int_equal(choice.mask, 7);
    assert_int_equal(choice.total, 4096);
}

TEST(test_shares)
{
    static const struct {
        uint32_t uses[6], count;
    } cases[] = {
        {{60, 40}, 1},                 /* the fewest */
        {{59, 41}, 2},                 /* 60 % */
        {{50, 50}, 2},                 /* two at half each */
        {{34, 33, 33}, 2},             /* the most frequent */
        {{25, 25, 25, 25}, 3},         /* */
        {{20, 20, 20, 20, 20}, 3},     /* 20 % each */
        {{40, 20, 10, 10, 10, 10}, 2}, /* */
        {{40, 19, 19, 19, 3}, 0},      /* none but the first has 20 % */
        {{59, 19, 19, 3}, 0},          /* */
        {{17, 17, 17, 17, 16, 16}, 0}, /* */
        {{30, 20, 10, 10, 10, 20}, 3}, /* */
        {{100}, 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (uint32_t turned = 0; turned < 6; turned++) {
            bf_histogram_init(&histogram, 3, 0);
            for (uint32_t j = 0; j < 6; j++)
                add(5, (j + turned) % 6, 7, cases[i].uses[(j + turned) % 6]);
            assert_int_equal(chosen(100), cases[i].count);
            uint64_t covered = 0;
            for (uint32_t j = 0; j < choice.count; j++) {
                covered += choice.uses[j];
                assert_true(choice.uses[j] >= 20);
                assert_int_equal(choice.uses[j], cases[i].uses[choice.words[j][1]]);
                if (j) /* equal ones in the order of their words, however they came */
                    assert_true(choice.uses[j] < choice.uses[j - 1] ||
                                choice.words[j][1] > choice.words[j - 1][1]);
            }
            assert_true(!choice.count || covered >= 60);
        }
}

FRESH_TEST(test_commit_scales)
{
    assert_false(bf_histogram_commit(&histogram, 0, 4096, &choice));
    assert_int_equal(histogram.total, 0);
    add(1, 2, 3, 3);
    add(1, 2, 4, 2);
    assert_true(bf_histogram_commit(&histogram, 0, 4096, &choice));
    assert_int_equal(choice.count, 1); /* three of five are 60 % still */
    assert_true(histogram.total >= 4096);
    assert_int_equal(histogram.total % 5, 0);
    expect(0, 1, 2, 3, histogram.total / 5 * 3);
    /* Once more, and nothing changes. */
    struct bf_histogram before = histogram;
    assert_true(bf_histogram_commit(&histogram, 0, 4096, &choice));
    assert_memory_equal(&before, &histogram, sizeof(histogram));
    /* One use. */
    bf_histogram_init(&histogram, 3, 0);
    add(0, 0, 0, 1);
    assert_true(bf_histogram_commit(&histogram, 0, 4096, &choice));
    expect(0, 0, 0, 0, 4096);
}

/* A frame: 'mode' one of two, 'name' differing from draw to draw, 'size' the same. */
static void frame(uint32_t number, uint32_t draws, bool names)
{
    for (uint32_t i = 0; i < draws; i++)
        add(i % 2 ? 10 : 11, names ? number * draws + i : 0, 77, 1);
}

TEST(test_commit_is_as_many_frames)
{
    for (int names = 0; names < 2; names++) {
        struct bf_histogram_choice stable = {.count = 0}, now;
        bf_histogram_init(&histogram, 3, 0);
        for (uint32_t i = 0; i < 10000; i++) {
            frame(i, 100, names);
            if (bf_histogram_window(&histogram, 0, 4096, &now))
                stable = now;
        }
        assert_int_equal(stable.count, 2);
        assert_int_equal(stable.mask, names ? 5 : 7);
        bf_histogram_init(&histogram, 3, 0);
        frame(0, 100, names);
        assert_true(bf_histogram_commit(&histogram, 0, 4096, &choice));
        assert_int_equal(choice.mask, stable.mask);
        assert_int_equal(choice.count, stable.count);
        assert_memory_equal(choice.words, stable.words, sizeof(choice.words));
    }
}

FRESH_TEST(test_what_changes_always_builds_nothing)
{
    uint32_t value = 0;
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t j = 0; j < 500; j++, value++)
            add(value, value * 3, ~value, 1);
        assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
        assert_int_equal(choice.count, 0);
    }
    assert_int_equal(bf_histogram_mask(&histogram, 0), 0);
    assert_false(bf_histogram_commit(&histogram, 0, 4096, &choice));
    /* Nor when it is committed at once. */
    bf_histogram_init(&histogram, 3, 0);
    for (uint32_t i = 0; i < 100; i++)
        add(i, i * 3, ~i, 1);
    assert_false(bf_histogram_commit(&histogram, 0, 4096, &choice));
    assert_int_equal(bf_histogram_mask(&histogram, 0), 0);
}

FRESH_TEST(test_numbers_of_draws_are_dropped)
{
    uint32_t windows = 0;
    for (uint32_t i = 0; !bf_histogram_window(&histogram, 0, 4096, &choice); i++) {
        add(1, i, 3, 1);
        windows += i % 4096 == 0;
    }
    assert_int_equal(windows, 2);
    assert_int_equal(bf_histogram_mask(&histogram, 0), 5);
    expect(0, 1, 0, 3, 2 * 4096);
    /* What was noted before with all words, and later without, counts alike. */
    struct bf_histogram_row row = {.mask = 5, .weight = 5, .words = {1, 0, 3}};
    bf_histogram_add(&histogram, 0, &row);
    row.mask = 7;
    row.words[1] = 99;
    bf_histogram_add(&histogram, 0, &row);
    assert_int_equal(chosen(4096), 1);
    expect(0, 1, 0, 3, 2 * 4096 + 10);
}

/* Two words of four values each, in all combinations: no tuple has 20 %, and each word by itself
 * would do. One goes, and the other's values are learned anew. */
FRESH_TEST(test_words_that_spoil_each_other)
{
    uint32_t windows = 0;
    for (uint32_t i = 0; windows < 8; i++) {
        add(i % 4, i / 4 % 4, 3, 1);
        if (histogram.fresh < 4096)
            continue;
        windows++;
        if (bf_histogram_window(&histogram, 0, 4096, &choice))
            break;
    }
    assert_true(windows <= 4);
    assert_int_equal(choice.count, 3);
    assert_true(choice.mask == 5 || choice.mask == 6);
    assert_int_equal(choice.words[0][2], 3);
}

FRESH_TEST(test_stable_means_twice)
{
    add(1, 1, 1, 4096);
    assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
    assert_int_equal(choice.count, 0);
    assert_int_equal(chosen(4096), 1);
    add(1, 1, 1, 4095);
    assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
    add(1, 1, 1, 1);
    assert_true(bf_histogram_window(&histogram, 0, 4096, &choice));
    expect(0, 1, 1, 1, 8192);
    /* Another value takes over: 40960 of 49152, then 65536 of 73728 … */
    add(2, 2, 2, 40960);
    assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
    add(2, 2, 2, 24576);
    assert_true(bf_histogram_window(&histogram, 0, 4096, &choice));
    expect(0, 2, 2, 2, 65536);
}

/* The words that are left hold what they held, but the tuple is another: any value where the
 * dropped one was. */
FRESH_TEST(test_stable_means_with_the_same_words)
{
    add(1, 0, 3, 4096);
    assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
    assert_int_equal(histogram.last.mask, 7);
    for (uint32_t i = 0; i < 40000; i++)
        add(1, i, 3, 1);
    assert_false(bf_histogram_window(&histogram, 0, 4096, &choice));
    assert_int_equal(histogram.last.count, 1);
    assert_int_equal(histogram.last.mask, 5);
    add(1, 0, 3, 4096);
    assert_true(bf_histogram_window(&histogram, 0, 4096, &choice));
}

/* A frame of two phases, longer than a window each: in the end both values are chosen. */
FRESH_TEST(test_phases_are_seen_whole)
{
    uint32_t both = 0, other = 0;
    for (uint32_t i = 0; i < 40 * 80; i++) { /* 40 frames of 80 recordings */
        add(i / 40 % 2, 1, 1, 125);
        if (!bf_histogram_window(&histogram, 0, 4096, &choice) || i < 20 * 80)
            continue;
        if (choice.count == 2)
            both++;
        else
            other++;
    }
    assert_true(both > 20);
    assert_int_equal(other, 0);
}

/* After any time a program needs some windows only to be seen to have changed. */
FRESH_TEST(test_the_past_fades)
{
    for (uint32_t i = 0; i < 1000; i++) {
        add(1, 1, 1, 4096);
        bf_histogram_window(&histogram, 0, 4096, &choice);
    }
    expect(0, 1, 1, 1, choice.total);
    uint32_t windows = 0;
    do {
        add(2, 1, 1, 4096);
        windows++;
    } while (!bf_histogram_window(&histogram, 0, 4096, &choice) || choice.words[0][0] != 2);
    assert_true(windows <= 32);
}

TEST(test_discarded_is_empty)
{
    bf_histogram_init(&histogram, 3, 5);
    struct bf_histogram_row row = {.mask = 7, .weight = 1, .words = {1, 2, 3}};
    for (uint32_t i = 0; i < 5000; i++) {
        row.words[1] = i;
        bf_histogram_add(&histogram, 5, &row);
    }
    assert_true(bf_histogram_commit(&histogram, 5, 4096, &choice));
    assert_int_equal(bf_histogram_mask(&histogram, 5), 5);
    bf_histogram_choose(&histogram, 6, 1, &choice);
    assert_int_equal(choice.count, 0);
    assert_int_equal(bf_histogram_mask(&histogram, 6), 7); /* with all words again */
    assert_false(bf_histogram_window(&histogram, 6, 1, &choice));
    assert_false(bf_histogram_commit(&histogram, 6, 4096, &choice));
    /* Rows that were noted without the word don't pretend that it was 0. */
    row.mask = 5;
    row.words[1] = 0;
    bf_histogram_add(&histogram, 6, &row);
    assert_int_equal(histogram.total, 0);
    row.mask = 7;
    bf_histogram_add(&histogram, 6, &row);
    assert_int_equal(histogram.total, 1);
    assert_true(bf_histogram_commit(&histogram, 6, 4096, &choice));
    /* A window before doesn't make one of the new epoch stable. */
    bf_histogram_init(&histogram, 3, 5);
    row.weight = 4096;
    bf_histogram_add(&histogram, 5, &row);
    assert_false(bf_histogram_window(&histogram, 5, 4096, &choice));
    bf_histogram_add(&histogram, 6, &row);
    assert_false(bf_histogram_window(&histogram, 6, 4096, &choice));
}

FRESH_TEST(test_values_are_bits)
{
    add(0, 0x7fc00000, 0, 50);
    add(0x80000000, 0x7fc00000, 0, 30);
    add(0, 0x7fc00001, 0, 20);
    assert_int_equal(chosen(100), 2);
    expect(0, 0, 0x7fc00000, 0, 50);
    expect(1, 0x80000000, 0x7fc00000, 0, 30);
}

TEST(test_strange_numbers)
{
    /* No words: nothing to choose. More than eight: eight. */
    bf_histogram_init(&histogram, 0, 0);
    add(1, 2, 3, 5000);
    assert_int_equal(chosen(1), 0);
    assert_false(bf_histogram_commit(&histogram, 0, 4096, &choice));
    bf_histogram_init(&histogram, UINT32_MAX, 0);
    assert_int_equal(bf_histogram_mask(&histogram, 0), 0xff);
    /* Weights and thresholds beyond reason. */
    bf_histogram_init(&histogram, 3, 0);
    for (uint32_t i = 0; i < 10000; i++)
        add(1, 2, i % 2, UINT64_MAX);
    assert_true(histogram.total < UINT64_C(1) << 51);
    assert_int_equal(chosen(4096), 2);
    assert_int_equal(chosen(UINT64_MAX), 0);
    bf_histogram_init(&histogram, 3, 0);
    add(1, 2, 3, 1);
    assert_true(bf_histogram_commit(&histogram, 0, UINT64_MAX, &choice));
    bf_histogram_init(&histogram, 3, 0);
    assert_false(bf_histogram_window(&histogram, 0, 0, &choice));
    assert_false(bf_histogram_commit(&histogram, 0, 0, &choice));
    assert_int_equal(chosen(0), 0);
    add(1, 2, 3, 1);
    assert_false(bf_histogram_window(&histogram, 0, 0, &choice));
    for (uint32_t i = 0; i < 100; i++) {
        add(1, 2, 3, 1);
        assert_true(bf_histogram_window(&histogram, 0, 0, &choice));
    }
    assert_true(bf_histogram_commit(&histogram, 0, 0, &choice));
    add(1, 2, 3, 0);
    bf_histogram_init(&histogram, 3, 0);
    add(1, 2, 3, 0);
    assert_false(bf_histogram_commit(&histogram, 0, 1, &choice));
}
