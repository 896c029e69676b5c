/* SPDX-License-Identifier: MIT */
/* What recording threads note about values (specialize/histogram.h, TA-1 to TA-3 and TA-10). */
#include "support/test.h"

#include "specialize/histogram.h"

static struct bf_histogram_notes notes;

/* A use of pipeline 'key' with one word. */
static void use(uint64_t key, uint32_t value, uint32_t weight)
{
    uint32_t words[BF_HISTOGRAM_WORDS] = {value};
    bf_histogram_note(&notes, key, 1, words, weight);
}

static uint64_t weight_of(uint64_t key, uint32_t value)
{
    const struct bf_histogram_row *row;
    uint64_t weight = 0;
    for (uint32_t i = 0; (row = bf_histogram_notes_row(&notes, i)) != NULL; i++)
        if (row->key == key && row->words[0] == value)
            weight += row->weight;
    return weight;
}

static uint64_t weight_all(const struct bf_histogram_notes *of)
{
    const struct bf_histogram_row *row;
    uint64_t weight = 0;
    for (uint32_t i = 0; (row = bf_histogram_notes_row(of, i)) != NULL; i++)
        weight += row->weight;
    return weight;
}

static uint32_t rows(void)
{
    uint32_t count = 0;
    while (bf_histogram_notes_row(&notes, count))
        count++;
    return count;
}

TEST(test_first_uses_are_exact)
{
    bf_histogram_notes_init(&notes, 1, 100);
    for (uint32_t i = 0; i < 100; i++)
        use(7 + i % 3, i % 5, i + 1);
    for (uint32_t key = 0; key < 3; key++)
        for (uint32_t value = 0; value < 5; value++) {
            uint64_t expected = 0;
            for (uint32_t i = 0; i < 100; i++)
                if (i % 3 == key && i % 5 == value)
                    expected += i + 1;
            assert_int_equal(weight_of(7 + key, value), expected);
        }
    assert_int_equal(rows(), 15);
    assert_int_equal(bf_histogram_notes_dropped(&notes), 0);
}

/* Each of the values of a stream with any period weighs what it should, within six standard
 * deviations: a use that counts sixteenfold with a chance of 1/16 has a variance of 15. */
TEST(test_no_period_is_favoured)
{
    const uint32_t uses = 60000;
    for (uint32_t period = 1; period <= 64; period++) {
        bf_histogram_notes_init(&notes, period, 0);
        for (uint32_t i = 0; i < uses; i++)
            use(1, i % period, 1);
        for (uint32_t value = 0; value < period; value++) {
            double expected = (double)(uses / period + (value < uses % period));
            double off = (double)weight_of(1, value) - expected;
            assert_true(off * off < 36 * 15 * expected);
        }
    }
}

TEST(test_sampled_uses_weigh_sixteenfold)
{
    bf_histogram_notes_init(&notes, 5, 10);
    for (uint32_t i = 0; i < 10; i++)
        use(1, 0, 1);
    assert_int_equal(weight_of(1, 0), 10);
    for (uint32_t i = 0; i < 10001; i++)
        use(1, 0, 3);
    assert_int_equal((weight_of(1, 0) - 10) % 48, 0);
}

/* Else a draw that isn't sampled in one frame isn't in any. */
TEST(test_recordings_are_sampled_at_different_places)
{
    bf_histogram_notes_init(&notes, 9, 0);
    bool seen[16] = {false};
    for (uint32_t frame = 0; frame < 400; frame++) {
        bf_histogram_notes_begin(&notes);
        for (uint32_t i = 0; i < 16; i++)
            use(1, i, 1);
        for (uint32_t i = 0; i < 16; i++)
            seen[i] |= weight_of(1, i) != 0;
    }
    for (uint32_t i = 0; i < 16; i++)
        assert_true(seen[i]);
}

TEST(test_draws_depend_on_the_seed_only)
{
    struct bf_histogram_notes *first = malloc(sizeof(*first));
    assert_non_null(first);
    for (int turn = 0; turn < 3; turn++) {
        bf_histogram_notes_init(&notes, turn == 2 ? 43 : 42, 10);
        for (uint32_t i = 0; i < 3000; i++)
            use(1, i % 100, 1);
        if (turn == 0)
            *first = notes;
        bool same = weight_all(first) == weight_all(&notes);
        for (uint32_t i = 0; i < 80; i++) {
            const struct bf_histogram_row *a = bf_histogram_notes_row(first, i);
            const struct bf_histogram_row *b = bf_histogram_notes_row(&notes, i);
            same = same && a && b && a->weight == b->weight && a->words[0] == b->words[0];
        }
        assert_int_equal(same, turn < 2);
    }
    free(first);
}

TEST(test_begin_clears)
{
    bf_histogram_notes_init(&notes, 1, 4);
    for (uint32_t i = 0; i < 5000; i++)
        use(1, i, 1);
    assert_true(bf_histogram_notes_dropped(&notes) > 0);
    bf_histogram_notes_begin(&notes);
    assert_null(bf_histogram_notes_row(&notes, 0));
    assert_int_equal(bf_histogram_notes_dropped(&notes), 0);
    for (uint32_t i = 0; i < 4; i++)
        use(1, 3, 1); /* exact again */
    assert_int_equal(weight_of(1, 3), 4);
}

TEST(test_no_weight_is_lost_when_full)
{
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    uint64_t weight = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        use(1, i, 1 + i % 7);
        weight += 1 + i % 7;
        assert_int_equal(weight_all(&notes), weight);
    }
    assert_int_equal(rows(), BF_HISTOGRAM_ROWS + BF_HISTOGRAM_STRATA);
    assert_int_equal(bf_histogram_notes_dropped(&notes),
                     1000 - BF_HISTOGRAM_ROWS - BF_HISTOGRAM_STRATA);
    /* Those that have a row still count. */
    for (uint32_t i = 0; i < BF_HISTOGRAM_ROWS; i++) {
        assert_int_equal(weight_of(1, i), 1 + i % 7);
        use(1, i, 5);
        assert_int_equal(weight_of(1, i), 6 + i % 7);
    }
}

/* Of what comes when the rows are taken, each part weighs what it should on average. */
TEST(test_overflow_is_a_fair_sample)
{
    const uint32_t rounds = 4000;
    double often = 0, heavy = 0, late = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        bf_histogram_notes_init(&notes, round, UINT32_MAX);
        for (uint32_t i = 0; i < BF_HISTOGRAM_ROWS; i++)
            use(1, i, 1);
        for (uint32_t i = 0; i < 320; i++)
            if (i % 4 == 0)
                use(2, 1000, 1); /* 80 */
            else if (i % 32 == 3)
                use(3, 1000, 16); /* 160 */
            else
                use(1, 1000 + i, 1);
        for (uint32_t i = 0; i < 20; i++)
            use(4, 1000, 1); /* 20 */
        often += (double)weight_of(2, 1000);
        heavy += (double)weight_of(3, 1000);
        late += (double)weight_of(4, 1000);
    }
    /* A sampled row's weight is below 40, so one round's deviation is below 4 * 40. */
    double most = 5 * 160 / 63.2;
    assert_true(often / rounds > 80 - most && often / rounds < 80 + most);
    assert_true(heavy / rounds > 160 - most && heavy / rounds < 160 + most);
    assert_true(late / rounds > 20 - most && late / rounds < 20 + most);
}

TEST(test_words_are_bits)
{
    static const uint32_t values[] = {0,          0x80000000, 0x7fc00000,
                                      0x7fc00001, 0xffc00000, 0x7f800001};
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    for (uint32_t turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < 6; i++)
            for (uint32_t w = 0; w < BF_HISTOGRAM_WORDS; w++) {
                uint32_t words[BF_HISTOGRAM_WORDS] = {1, 1, 1, 1, 1, 1, 1, 1};
                words[w] = values[i];
                bf_histogram_note(&notes, 1, 0xff, words, 1);
            }
    assert_int_equal(rows(), 48);
    for (uint32_t i = 0; i < 48; i++)
        assert_int_equal(bf_histogram_notes_row(&notes, i)->weight, 2);
}

TEST(test_pipelines_and_masks_are_apart)
{
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    uint32_t words[BF_HISTOGRAM_WORDS] = {0};
    for (uint32_t turn = 0; turn < 3; turn++)
        for (uint64_t key = 0; key < 4; key++)
            for (uint32_t mask = 0; mask < 4; mask++)
                bf_histogram_note(&notes, key << 62, mask, words, 1);
    assert_int_equal(rows(), 16);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(bf_histogram_notes_row(&notes, i)->weight, 3);
}

/* Keys and masks for which the whole tags are equal, too. */
TEST(test_equal_tags_are_told_apart)
{
    const uint64_t factor = UINT64_C(0xff51afd7ed558ccd);
    uint64_t inverse = factor; /* modulo 2^64, after Newton */
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    assert_int_equal(factor * inverse, 1);
    uint32_t words[BF_HISTOGRAM_WORDS] = {5};
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    bf_histogram_note(&notes, 100, 3, words, 1);
    bf_histogram_note(&notes, 100 + 2 * inverse, 1, words, 1);
    assert_int_equal(rows(), 2);
    const struct bf_histogram_row *row = bf_histogram_notes_row(&notes, 1);
    assert_int_equal(row->tag, bf_histogram_notes_row(&notes, 0)->tag);
    assert_int_equal(row->mask, 1);
}

/* Tuples that differ in little must not have equal tags: signs of two words, neighbours, swaps. */
TEST(test_tags_differ)
{
    static uint64_t tags[8 * 8 * 5 + 1];
    uint32_t count = 0;
    uint32_t words[BF_HISTOGRAM_WORDS] = {0};
    tags[count++] = bf_histogram_tag(words);
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < 8; b++)
            for (uint32_t kind = 0; kind < 5; kind++) {
                static const uint32_t first[] = {0x80000000, 1, 0x3f800000, 0xffffffff, 5};
                static const uint32_t second[] = {0x80000000, 2, 0xbf800000, 1, 0x80000000};
                memset(words, 0, sizeof(words));
                words[b] = second[kind];
                words[a] = first[kind];
                if (a == b && kind == 0)
                    words[a] = 0x40000000;
                if (a > b && kind == 0)
                    words[a] = words[b] = 0xc0000000;
                tags[count++] = bf_histogram_tag(words);
            }
    uint32_t equal = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++)
            equal += tags[i] == tags[j];
    /* With a == b only the first of the pair is left, so that nothing is there twice. */
    assert_int_equal(equal, 0);
}

TEST(test_nothing_weighs_nothing)
{
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    for (uint32_t i = 0; i < 200; i++)
        use(1, i, 0);
    assert_int_equal(rows(), 0);
    for (uint32_t i = 0; i < 200; i++)
        use(1, i, i % 2);
    assert_int_equal(weight_all(&notes), 100);
}

TEST(test_copies_and_appended_notes)
{
    struct bf_histogram_notes *other = malloc(sizeof(*other));
    assert_non_null(other);
    bf_histogram_notes_init(&notes, 1, UINT32_MAX);
    for (uint32_t i = 0; i < 300; i++)
        use(1, i % 100, 2);
    *other = notes;
    use(1, 0, 1);
    assert_int_equal(weight_all(other), 600);
    bf_histogram_notes_begin(&notes);
    use(1, 0, 1);
    use(2, 0, 1);
    bf_histogram_notes_append(&notes, other);
    bf_histogram_notes_append(&notes, other);
    assert_int_equal(weight_all(&notes), 1202);
    assert_int_equal(weight_of(1, 0), 13);
    assert_int_equal(weight_of(2, 0), 1);
    free(other);
}
