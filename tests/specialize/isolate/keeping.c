/* SPDX-License-Identifier: MIT */
/* Whether a device keeps signs of zeros, infinities and NaN, as a helper asks it, is what it does
 * here. [FM-2] */
#include "../dry_run/gpu.h"
#include "isolate_helper.h"

#define keeping_comp own_keeping_comp /* the specialiser has it, too */
#include "shaders/keeping.comp.h"
#include "specialize/keeping.h"
#include "specialize/shader/shader.h"

static const uint32_t push[BF_PUSH_CONSTANT_BYTES / 4] = {0, 0x80000000, 0x7f800000, 0x3f800000};

/* What the shader writes, as it is or with all its push constants folded and asked to be kept. */
static void shader_run(bool folds, uint32_t words[GPU_WORDS])
{
    const struct bf_shader_info info = {keeping_comp, sizeof(keeping_comp) / 4, "main",
                                        VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const struct bf_watch watch = {4, {0, 4, 8, 12}};
    struct bf_shader *shader;
    struct bf_folded folded;
    VkSpecializationInfo specialization;
    assert_success(bf_shader_create(&info, &shader));
    assert_success(bf_shader_fold_keeping(shader, &watch, 15, BF_FLOAT_32, &folded));
    assert_int_equal(folded.entry_count, 4);
    assert_success(bf_folded_specialize(&folded, shader, push, &specialization));
    VkPipeline pipeline =
        folds ? gpu_pipeline_specialized(folded.words, folded.word_count, &specialization)
              : gpu_pipeline(info.words, info.word_count);
    gpu_run(pipeline, false, push, words, NULL);
    gpu_pipeline_end(pipeline);
    bf_folded_specialization_finish(&specialization);
    bf_folded_finish(&folded);
    bf_shader_release(shader);
}

TEST(what_the_device_does_is_what_it_is_said_to_keep)
{
    uint32_t read[GPU_WORDS], constant[GPU_WORDS];
    shader_run(false, read);
    shader_run(true, constant);
    struct bf_isolate_info info = info_of(NULL);
    struct bf_isolate *isolate;
    struct bf_check_answer answer;
    info.robust = true;
    assert_success(bf_isolate_create(&info, &isolate));
    assert_success(bf_keeping_ask(isolate, NULL, &answer));
    bf_isolate_destroy(isolate);
    assert_success(answer.built);
    assert_success(answer.checked);
    const bool keeps = memcmp(read, constant, sizeof(read)) == 0;
    assert_int_equal(answer.forms[0].reason, keeps ? BF_REASON_NONE : BF_REASON_INEXACT);
    printf("the device %s signs of zeros, infinities and NaN\n", keeps ? "keeps" : "doesn't keep");
}

/* Where they are read the shader computes with them as IEEE 754 says. */
TEST(what_is_read_is_kept)
{
    uint32_t words[GPU_WORDS];
    shader_run(false, words);
    assert_true((words[0] & 0x7fffffff) > 0x7f800000); /* an infinity times 0 */
    assert_int_equal(words[3 * 16 + 5], 0);            /* -0 and 0 */
    assert_int_equal(words[3 * 16 + 6], 0x80000000);   /* -0 and -0 */
    assert_int_equal(words[6 * 16], 0x80000000);       /* -1 times 0 */
}

int main(void)
{
    if (!gpu_open() || !(gpu_kept_floats() & BF_FLOAT_32)) {
        fprintf(stderr, "no device that says that it keeps signs of zeros, infinities and NaN\n");
        return 77;
    }
    int failed = test_run_group(NULL, NULL, NULL);
    gpu_close();
    return failed;
}
