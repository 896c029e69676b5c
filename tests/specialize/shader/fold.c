/* SPDX-License-Identifier: MIT */
/* Folded modules, and what they are specialized with. [SF-1, SF-2] */
#include "helper.h"

#include <spirv/unified1/spirv.h>

#include "shaders/post.comp.h"

static const uint16_t control_words[] = {0, 4, 8, 12, 48};

/* Calls 'visit' for each instruction. */
static void each(const uint32_t *words, size_t count,
                 void (*visit)(const uint32_t *instruction, void *context), void *context)
{
    for (size_t at = 5; at < count; at += words[at] >> 16) {
        assert_true(words[at] >> 16 && at + (words[at] >> 16) <= count);
        visit(words + at, context);
    }
}

struct survey {
    uint32_t spec_ids[64], spec_id_count, contractions, float_operations, loads, copies, highest;
};

static void survey(const uint32_t *in, void *context)
{
    struct survey *survey = context;
    switch (in[0] & 0xffff) {
    case SpvOpDecorate:
        if (in[2] == SpvDecorationSpecId)
            survey->spec_ids[survey->spec_id_count++] = in[3];
        survey->contractions += in[2] == SpvDecorationNoContraction;
        break;
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpFMod:
    case SpvOpFNegate:
    case SpvOpVectorTimesScalar:
        survey->float_operations++;
        break;
    case SpvOpLoad:
        survey->loads++;
        break;
    case SpvOpCopyObject:
        survey->copies++;
        assert_int_equal(in[0] >> 16, 4);
        break;
    case SpvOpSpecConstant:
    case SpvOpSpecConstantComposite:
        if (in[2] > survey->highest)
            survey->highest = in[2];
        break;
    default:
        break;
    }
}

/* The program's own specialization goes first, and its ids are nobody else's. */
TEST(specialization_is_merged)
{
    const struct {
        uint32_t salt, unused, spare;
    } own = {99, 7, 8};
    const VkSpecializationMapEntry map[] = {
        {0, 0, 4},
        {1, 4, 4}, /* no constant of the shader's */
        {4000000000u, 8, 4},
    };
    const VkSpecializationInfo given = {3, map, sizeof(own), &own};
    struct bf_shader *shader = shader_of("loops.comp", &given);
    struct bf_watch watch = watch_of(control_words, 5);
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold(shader, &watch, 0x1f, true, &folded), VK_SUCCESS);
    validate(folded.words, folded.word_count);
    assert_int_equal(folded.entry_count, 5);

    struct survey found = {0};
    each(folded.words, folded.word_count, survey, &found);
    assert_int_equal(found.spec_id_count, 7); /* salt, shift_by and five */
    for (uint32_t i = 0; i < found.spec_id_count; i++) {
        assert_int_not_equal(found.spec_ids[i], 1);
        assert_int_not_equal(found.spec_ids[i], 4000000000u);
        for (uint32_t j = 0; j < i; j++)
            assert_int_not_equal(found.spec_ids[i], found.spec_ids[j]);
    }
    assert_true(folded.words[3] > found.highest);

    uint32_t push[64];
    for (uint32_t i = 0; i < 64; i++)
        push[i] = 0x7fa00000u + i; /* signalling NaNs, as floats */
    VkSpecializationInfo merged;
    assert_int_equal(bf_folded_specialize(&folded, shader, push, &merged), VK_SUCCESS);
    assert_int_equal(merged.mapEntryCount, 8);
    assert_true(merged.dataSize >= sizeof(own) + 20);
    assert_memory_equal(merged.pMapEntries, map, sizeof(map));
    assert_memory_equal(merged.pData, &own, sizeof(own));
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 5; i++) {
        const VkSpecializationMapEntry *entry = &merged.pMapEntries[3 + i];
        assert_int_equal(entry->constantID, folded.entries[i].id);
        assert_int_equal(entry->size, 4);
        assert_true(entry->offset + 4 <= merged.dataSize);
        assert_memory_equal((const char *)merged.pData + entry->offset,
                            (const char *)push + folded.entries[i].offset, 4);
        for (uint32_t w = 0; w < 5; w++)
            if (folded.entries[i].offset == control_words[w])
                seen |= 1u << w;
    }
    assert_int_equal(seen, 0x1f);
    bf_folded_specialization_finish(&merged);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

/* Bytes, half words and double words, aligned. */
TEST(widths_are_kept)
{
    static const struct {
        const char *name;
        uint16_t words[4];
        uint32_t count;
    } shaders[] = {
        {"wide.comp", {0, 4, 8, 12}, 4},
        {"narrow.comp", {0, 4, 8, 12}, 4},
    };
    uint8_t push[BF_PUSH_CONSTANT_BYTES];
    for (uint32_t i = 0; i < sizeof(push); i++)
        push[i] = (uint8_t)(255 - i);
    for (uint32_t s = 0; s < 2; s++) {
        struct bf_shader *shader = shader_of(shaders[s].name, NULL);
        struct bf_watch watch = watch_of(shaders[s].words, shaders[s].count);
        struct bf_folded folded;
        VkSpecializationInfo info;
        assert_int_equal(bf_shader_fold(shader, &watch, 15, false, &folded), VK_SUCCESS);
        assert_int_equal(bf_folded_specialize(&folded, shader, push, &info), VK_SUCCESS);
        assert_int_equal(info.mapEntryCount, folded.entry_count);
        for (uint32_t i = 0; i < info.mapEntryCount; i++) {
            const VkSpecializationMapEntry *entry = &info.pMapEntries[i];
            assert_int_equal(entry->size, folded.entries[i].size);
            assert_int_equal(entry->offset % entry->size, 0);
            assert_memory_equal((const char *)info.pData + entry->offset,
                                push + folded.entries[i].offset, entry->size);
        }
        bf_folded_specialization_finish(&info);
        bf_folded_finish(&folded);
        bf_shader_release(shader);
    }
}

/* Of arithmetic with what is folded, once; of nothing else. */
TEST(contraction_is_forbidden)
{
    static const struct {
        const char *name;
        uint16_t folded, further; /* words */
        uint32_t contractions;
    } cases[] = {{"combined.comp", 0, 4, 8}, {"reach.frag", 36, 76, 0}};
    for (uint32_t i = 0; i < 2; i++) {
        struct bf_shader *shader = shader_of(cases[i].name, NULL);
        struct bf_watch watch = watch_of(&cases[i].folded, 1);
        struct bf_folded plain, strict;
        assert_int_equal(bf_shader_fold(shader, &watch, 1, false, &plain), VK_SUCCESS);
        assert_int_equal(bf_shader_fold(shader, &watch, 1, true, &strict), VK_SUCCESS);
        validate(strict.words, strict.word_count);
        struct survey without = {0}, with = {0}, twice = {0};
        each(plain.words, plain.word_count, survey, &without);
        each(strict.words, strict.word_count, survey, &with);
        assert_int_equal(without.contractions, 0);
        assert_true(with.float_operations > 9);
        assert_int_equal(with.contractions, cases[i].contractions);
        assert_int_equal(with.copies, without.copies);

        /* What has it already isn't given it again. */
        struct bf_shader *again =
            shader_of_words(strict.words, strict.word_count, bf_shader_stage(shader));
        struct bf_folded second;
        watch = watch_of(&cases[i].further, 1);
        assert_int_equal(bf_shader_fold_keeping(again, &watch, 1, 7, &second), VK_SUCCESS);
        validate(second.words, second.word_count);
        each(second.words, second.word_count, survey, &twice);
        assert_int_equal(twice.contractions, twice.float_operations);
        bf_folded_finish(&second);
        bf_shader_release(again);
        bf_folded_finish(&plain);
        bf_folded_finish(&strict);
        bf_shader_release(shader);
    }
}

/* What folding makes a constant on some way, or compares; nothing else. */
TEST(what_may_be_gathered_is_kept_apart)
{
    static const struct {
        const char *name;
        uint32_t contractions;
    } cases[] = {
        {"REUSED", 1}, {"CHOSEN", 1},  {"DECIDED", 1},    {"UNDECIDED", 0}, {"TABLE", 1},
        {"LOOP", 1},   {"BREAK", 1},   {"AROUND", 0},     {"RETURNED", 1},  {"COMPARED", 1},
        {"MOVED", 1},  {"LIMITED", 2}, {"UNCOMPARED", 0},
    };
    static const uint16_t words[2] = {0, 4};
    char name[64];
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(name, sizeof(name), "gathered_%s%s.comp", i % 2 ? "opt_" : "", cases[i / 2].name);
        struct bf_shader *shader = shader_of(name, NULL);
        struct bf_watch watch = watch_of(words, 2);
        struct bf_folded folded;
        struct survey with = {0};
        assert_int_equal(bf_shader_fold(shader, &watch, 3, true, &folded), VK_SUCCESS);
        each(folded.words, folded.word_count, survey, &with);
        if (with.contractions != cases[i / 2].contractions)
            fail_msg("%s: %u", name, with.contractions);
        bf_folded_finish(&folded);
        bf_shader_release(shader);
    }
}

/* The same value twice, where a driver may take the one for the other. */
TEST(what_may_cancel_is_told_of)
{
    static const struct {
        const char *name;
        bool cancels;
    } cases[] = {{"CANCELLED", true}, {"NEGATED", true},  {"UNSIGNED", true}, {"FACTORED", true},
                 {"BOUND", true},     {"DOUBLED", false}, {"APART", false},   {"COMPARED", false},
                 {"LIMITED", false},  {"LOOP", false},    {"PRECISE", false}, {"SIDES", false}};
    static const uint16_t words[2] = {0, 4};
    char name[64];
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(name, sizeof(name), "gathered_%s%s.comp", i % 2 ? "opt_" : "", cases[i / 2].name);
        struct bf_shader *shader = shader_of(name, NULL);
        struct bf_watch watch = watch_of(words, 2);
        struct bf_folded plain, strict;
        const VkResult result = bf_shader_fold(shader, &watch, 3, false, &plain);
        if (i % 2 && result == VK_INCOMPLETE) { /* spirv-opt has made fma of sums of products */
            bf_shader_release(shader);
            continue;
        }
        assert_int_equal(result, VK_SUCCESS);
        assert_int_equal(bf_shader_fold(shader, &watch, 3, true, &strict), VK_SUCCESS);
        assert_false(plain.cancels);
        if (strict.cancels != cases[i / 2].cancels)
            fail_msg("%s", name);
        bf_folded_finish(&plain);
        bf_folded_finish(&strict);
        bf_shader_release(shader);
    }
}

/* Nor in the shader that this gains most, of the sample 'training'. */
TEST(nothing_cancels_where_switches_are_folded)
{
    const struct bf_watch watch = {8, {0, 4, 8, 12, 16, 20, 24, 28}};
    struct bf_shader *shader =
        shader_of_words(post_comp, sizeof(post_comp) / 4, VK_SHADER_STAGE_COMPUTE_BIT);
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold(shader, &watch, 0xff, true, &folded), VK_SUCCESS);
    assert_true(folded.load_count >= 8);
    assert_false(folded.cancels);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

struct floats {
    uint32_t capabilities, extensions, modes, widths, others, contractions;
};

static void survey_floats(const uint32_t *in, void *context)
{
    struct floats *floats = context;
    floats->contractions +=
        (in[0] & 0xffff) == SpvOpDecorate && in[2] == SpvDecorationNoContraction;
    switch (in[0] & 0xffff) {
    case SpvOpCapability:
        floats->capabilities += in[1] == SpvCapabilitySignedZeroInfNanPreserve;
        floats->others += in[1] != SpvCapabilitySignedZeroInfNanPreserve;
        break;
    case SpvOpExtension:
        floats->extensions += strcmp((const char *)(in + 1), "SPV_KHR_float_controls") == 0;
        break;
    case SpvOpExecutionMode:
        if (in[2] == SpvExecutionModeSignedZeroInfNanPreserve) {
            floats->modes++;
            floats->widths |= in[3];
        }
        break;
    default:
        break;
    }
}

/* Signs of zeros, infinities and NaN are kept of the widths that there are, by the extension where
 * the version knows no better. */
TEST(floats_are_kept)
{
    static const struct {
        const char *name;
        uint16_t words[2];
        uint16_t others[4];
        uint32_t widths; /* bits of a float, or-ed */
        bool extension;
    } shaders[] = {
        {"reach.frag", {36, 40}, {72, 76}, 32, true},
        {"reach_debug.frag", {36, 40}, {72, 76}, 32, false},
        {"wide.comp", {8, 12}, {16, 20, 24, 28}, 64, true},
    };
    for (uint32_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++) {
        struct bf_shader *shader = shader_of(shaders[i].name, NULL);
        struct bf_watch watch = watch_of(shaders[i].words, 2);
        struct bf_folded strict, keeping, again;
        struct floats without = {0}, with = {0};
        assert_int_equal(bf_shader_fold(shader, &watch, 3, true, &strict), VK_SUCCESS);
        assert_int_equal(bf_shader_fold_keeping(shader, &watch, 3, 7, &keeping), VK_SUCCESS);
        validate(keeping.words, keeping.word_count);
        each(strict.words, strict.word_count, survey_floats, &without);
        each(keeping.words, keeping.word_count, survey_floats, &with);
        assert_int_equal(without.capabilities + without.extensions + without.modes, 0);
        assert_int_equal(with.capabilities, 1);
        assert_int_equal(with.extensions, shaders[i].extension);
        assert_int_equal(with.widths, shaders[i].widths);
        assert_int_equal(with.modes, __builtin_popcount(shaders[i].widths));
        assert_int_equal(with.others, without.others);
        /* All else is as with NoContraction alone, which more has. */
        assert_int_equal(keeping.word_count, strict.word_count +
                                                 3 * (with.contractions - without.contractions) +
                                                 2 + 7 * with.extensions + 4 * with.modes);
        assert_int_equal(keeping.load_count, strict.load_count);

        /* What is kept already isn't asked for again. */
        struct bf_shader *kept =
            shader_of_words(keeping.words, keeping.word_count, bf_shader_stage(shader));
        struct bf_watch others = watch_of(shaders[i].others, shaders[i].others[2] ? 4 : 2);
        assert_int_equal(bf_shader_fold(kept, &others, 15, true, &again), VK_SUCCESS);
        bf_folded_finish(&again);
        assert_int_equal(bf_shader_fold_keeping(kept, &others, 15, 7, &again), VK_INCOMPLETE);
        bf_folded_finish(&again);
        /* Nor what the device can't keep, or the module hasn't got. */
        assert_int_equal(bf_shader_fold_keeping(shader, &watch, 3, 0, &again), VK_INCOMPLETE);
        bf_folded_finish(&again);
        assert_int_equal(bf_shader_fold_keeping(shader, &watch, 3, BF_FLOAT_16, &again),
                         VK_INCOMPLETE);
        bf_folded_finish(&again);
        bf_shader_release(kept);
        bf_folded_finish(&keeping);
        bf_folded_finish(&strict);
        bf_shader_release(shader);
    }
    struct bf_shader *shader = shader_of("loops.comp", NULL); /* it has no floats */
    struct bf_watch watch = watch_of(control_words, 5);
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold_keeping(shader, &watch, 0x1f, 7, &folded), VK_INCOMPLETE);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

/* What is loaded where is written in the entries; the rest of the module is as it was. */
TEST(loads_become_copies)
{
    struct bf_shader *shader = shader_of("loops.comp", NULL);
    struct bf_watch watch = watch_of(control_words, 5);
    size_t count;
    const uint32_t *words = bf_shader_words(shader, &count);
    struct survey before = {0};
    each(words, count, survey, &before);
    for (uint32_t mask = 1; mask < 32; mask++) {
        struct bf_folded folded;
        assert_int_equal(bf_shader_fold(shader, &watch, (uint8_t)mask, false, &folded), VK_SUCCESS);
        validate(folded.words, folded.word_count);
        struct survey after = {0};
        each(folded.words, folded.word_count, survey, &after);
        assert_int_equal(after.loads, before.loads - folded.load_count);
        assert_int_equal(after.copies, before.copies + folded.load_count);
        assert_int_equal(folded.entry_count, __builtin_popcount(mask));
        bf_folded_finish(&folded);
    }
    struct bf_folded folded;
    assert_int_equal(bf_shader_fold(shader, &watch, 0, false, &folded), VK_INCOMPLETE);
    /* Words that nobody reads. */
    watch = watch_of((const uint16_t[]){60, 64, 252}, 3);
    assert_int_equal(bf_shader_fold(shader, &watch, 7, false, &folded), VK_INCOMPLETE);
    /* Half of a vector. */
    watch = watch_of((const uint16_t[]){16, 24}, 2);
    assert_int_equal(bf_shader_fold(shader, &watch, 3, false, &folded), VK_INCOMPLETE);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

/* What SPIRV-Tools refuses is refused, with its reason, cut off where there's no more room. */
TEST(nonsense_is_refused)
{
    const struct spirv *spirv = spirv_find("loops.comp");
    size_t count = (size_t)(spirv->end - spirv->words);
    char why[512], part[8];
    assert_int_equal(bf_shader_validate(spirv->words, count, VK_API_VERSION_1_1, why, sizeof(why)),
                     VK_SUCCESS);
    assert_string_equal(why, "");
    assert_int_equal(
        bf_shader_validate(spirv->words, count - 1, VK_API_VERSION_1_1, why, sizeof(why)),
        VK_ERROR_INVALID_SHADER_NV);
    assert_true(strlen(why) > sizeof(part));
    assert_int_equal(
        bf_shader_validate(spirv->words, count - 1, VK_API_VERSION_1_1, part, sizeof(part)),
        VK_ERROR_INVALID_SHADER_NV);
    assert_memory_equal(part, why, sizeof(part) - 1);
    assert_int_equal(part[sizeof(part) - 1], 0);
    assert_int_equal(bf_shader_validate(NULL, 0, VK_API_VERSION_1_3, NULL, 0),
                     VK_ERROR_INVALID_SHADER_NV);
    /* Compiled for 1.1, where SPIR-V is newer than a driver of version 1.0 knows. */
    assert_int_equal(bf_shader_validate(spirv->words, count, VK_API_VERSION_1_0, NULL, 0),
                     VK_ERROR_INVALID_SHADER_NV);
}
