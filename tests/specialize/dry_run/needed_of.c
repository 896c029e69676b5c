/* SPDX-License-Identifier: MIT */
/* Asks which points have to be come to. */
#include "needed_of.h"

#include <stdlib.h>

void needed_open(struct needed_of *n, const char *shader_name)
{
    const struct spirv *spirv = spirv_find(shader_name);
    needed_open_words(n, spirv->words, (size_t)(spirv->end - spirv->words), spirv->stage);
}

void needed_open_words(struct needed_of *n, const uint32_t *words, size_t count,
                       VkShaderStageFlagBits stage)
{
    static const struct {
        int32_t mode;
        float k, far;
        uint8_t rest[BF_PUSH_CONSTANT_BYTES - 12];
    } push = {1, 2, 3, {0}};
    const struct bf_shader_info info = {words, count, "main", stage, NULL};
    const struct bf_dry_run_options options = {.binding = 1, .points = true};
    struct bf_shader *shader = shader_of_words(words, count, stage);
    const struct bf_watch watch = watch_of((const uint16_t[]){0, 4}, 2);
    struct bf_folded folded;
    *n = (struct needed_of){.words = info.words, .word_count = info.word_count};
    assert_int_equal(bf_dry_run_create(&info, &options, &n->run), VK_SUCCESS);
    assert_string_equal(bf_dry_run_reason_name(n->run.reason), "fine");
    VkResult result = bf_shader_fold(shader, &watch, 3, false, &folded);
    const bool folds = result == VK_SUCCESS; /* nothing: it is its own variant */
    assert_true(folds || result == VK_INCOMPLETE);
    const struct bf_needed_info asked = {
        .general = &info,
        .folded = folds ? folded.words : info.words,
        .folded_count = folds ? folded.word_count : info.word_count,
        .fixed = 3,
        .push = &push,
        .points = n->run.points,
        .point_count = n->run.point_count,
    };
    n->needed = calloc(n->run.point_count, sizeof(*n->needed));
    n->beyond = calloc(n->run.point_count, sizeof(*n->beyond));
    assert_true(n->needed && n->beyond);
    assert_int_equal(bf_needed_find(&asked, n->needed, n->beyond, &n->sources), VK_SUCCESS);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

void needed_close(struct needed_of *n)
{
    free(n->needed);
    free(n->beyond);
    bf_dry_run_finish(&n->run);
}
