/* SPDX-License-Identifier: MIT */
/* Every kind of member folds, alone, into a valid module that reads it no more. [SF-1, SF-2] */
#include "helper.h"

struct expected {
    uint16_t offset, size, stride;
    uint8_t width, components;
    enum bf_number number;
};

static const struct expected types[] = {
    {0, 4, 4, 4, 1, BF_NUMBER_INT},      {4, 4, 4, 4, 1, BF_NUMBER_UINT},
    {8, 4, 4, 4, 1, BF_NUMBER_FLOAT},    {16, 8, 4, 4, 2, BF_NUMBER_FLOAT},
    {32, 12, 4, 4, 3, BF_NUMBER_INT},    {48, 16, 4, 4, 4, BF_NUMBER_UINT},
    {64, 4, 4, 4, 1, BF_NUMBER_FLOAT},   {72, 4, 4, 4, 1, BF_NUMBER_FLOAT},
    {84, 4, 4, 4, 1, BF_NUMBER_FLOAT},   {88, 8, 4, 4, 2, BF_NUMBER_FLOAT},
    {100, 20, 8, 4, 3, BF_NUMBER_FLOAT}, {112, 4, 4, 4, 1, BF_NUMBER_FLOAT},
    {136, 8, 4, 4, 2, BF_NUMBER_FLOAT},  {144, 4, 4, 4, 1, BF_NUMBER_INT},
    {168, 4, 4, 4, 1, BF_NUMBER_FLOAT},  {188, 4, 4, 4, 1, BF_NUMBER_INT},
};

static const struct expected wide[] = {
    {0, 8, 8, 8, 1, BF_NUMBER_FLOAT},
    {8, 8, 8, 8, 1, BF_NUMBER_INT},
    {16, 16, 8, 8, 2, BF_NUMBER_UINT},
};

static const struct expected narrow[] = {
    {0, 1, 1, 1, 1, BF_NUMBER_INT},   {1, 1, 1, 1, 1, BF_NUMBER_UINT},
    {2, 2, 2, 2, 1, BF_NUMBER_UINT},  {4, 4, 2, 2, 2, BF_NUMBER_INT},
    {8, 2, 2, 2, 1, BF_NUMBER_FLOAT}, {12, 4, 1, 1, 4, BF_NUMBER_UINT},
};

static uint32_t words_of(const struct expected *member, uint16_t words[BF_WATCH_WORDS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < member->components; i++) {
        uint32_t at = member->offset + i * member->stride;
        for (uint32_t word = at / 4; word <= (at + member->width - 1) / 4; word++)
            if (!count || words[count - 1] != 4 * word)
                words[count++] = (uint16_t)(4 * word);
    }
    return count;
}

static bool within(const struct bf_fold_member *member, const uint16_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < member->components; i++) {
        uint32_t at = member->offset + i * member->stride;
        for (uint32_t byte = at; byte < at + member->width; byte++) {
            bool found = false;
            for (uint32_t w = 0; w < count; w++)
                found |= words[w] == (byte & ~3u);
            if (!found)
                return false;
        }
    }
    return true;
}

static void each_folds(const char *name, const struct expected *expected, uint32_t count)
{
    struct bf_shader *shader = shader_of(name, NULL);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "foldable");
    uint32_t member_count;
    const struct bf_fold_member *members = bf_shader_members(shader, &member_count);
    assert_int_equal(member_count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(members[i].offset, expected[i].offset);
        assert_int_equal(members[i].size, expected[i].size);
        if (members[i].components > 1)
            assert_int_equal(members[i].stride, expected[i].stride);
        assert_int_equal(members[i].width, expected[i].width);
        assert_int_equal(members[i].components, expected[i].components);
        assert_int_equal(members[i].number, expected[i].number);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint16_t words[BF_WATCH_WORDS];
        uint32_t word_count = words_of(&expected[i], words);
        struct bf_watch watch = watch_of(words, word_count);
        struct bf_folded folded;
        uint8_t mask = (uint8_t)((1u << word_count) - 1);
        VkResult all = bf_shader_fold(shader, &watch, mask, false, &folded);
        assert_int_equal(all, members[i].exact ? VK_SUCCESS : VK_INCOMPLETE);
        if (all != VK_SUCCESS)
            continue;
        validate(folded.words, folded.word_count);
        assert_true(folded.load_count >= 1);
        /* Each component's value is an entry. */
        for (uint32_t c = 0; c < expected[i].components; c++) {
            bool found = false;
            for (uint32_t e = 0; e < folded.entry_count; e++)
                found |= folded.entries[e].offset == expected[i].offset + c * expected[i].stride &&
                         folded.entries[e].size == expected[i].width;
            assert_true(found);
        }
        /* What is left is what wasn't chosen, and all of it. */
        struct bf_shader *after =
            shader_of_words(folded.words, folded.word_count, bf_shader_stage(shader));
        uint32_t left_count, at = 0;
        const struct bf_fold_member *left = bf_shader_members(after, &left_count);
        for (uint32_t j = 0; j < count; j++) {
            if (within(&members[j], words, word_count))
                continue;
            assert_true(at < left_count);
            assert_int_equal(left[at].offset, members[j].offset);
            assert_int_equal(left[at++].size, members[j].size);
        }
        assert_int_equal(at, left_count);
        bf_shader_release(after);
        bf_folded_finish(&folded);

        /* Without one of its words it stays. */
        for (uint32_t w = 0; word_count > 1 && w < word_count; w++) {
            VkResult result =
                bf_shader_fold(shader, &watch, (uint8_t)(mask & ~(1u << w)), false, &folded);
            assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
            if (result != VK_SUCCESS)
                continue;
            after = shader_of_words(folded.words, folded.word_count, bf_shader_stage(shader));
            bool there = false;
            left = bf_shader_members(after, &left_count);
            for (uint32_t j = 0; j < left_count; j++)
                there |= left[j].offset == expected[i].offset && left[j].size == expected[i].size;
            assert_true(there);
            bf_shader_release(after);
            bf_folded_finish(&folded);
        }
    }
    bf_shader_release(shader);
}

TEST(folds_each_type)
{
    each_folds("types.comp", types, sizeof(types) / sizeof(types[0]));
    each_folds("types_opt.comp", types, sizeof(types) / sizeof(types[0]));
    each_folds("types_debug.comp", types, sizeof(types) / sizeof(types[0]));
}

TEST(folds_64_bits)
{
    each_folds("wide.comp", wide, sizeof(wide) / sizeof(wide[0]));
}

TEST(folds_8_and_16_bits_with_arithmetic)
{
    each_folds("narrow.comp", narrow, sizeof(narrow) / sizeof(narrow[0]));
}

TEST(leaves_8_and_16_bits_of_storage)
{
    struct bf_shader *shader = shader_of("stored.comp", NULL);
    assert_string_equal(bf_shader_reason_name(bf_shader_facts_of(shader)->reason), "no-load");
    bf_shader_release(shader);
}
