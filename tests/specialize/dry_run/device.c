/* SPDX-License-Identifier: MIT */
/* On a device: loops end, indices stay inside, and it is told; where nothing is told, the dry-run form has
 * stored the same words as the shader itself. [FU-1 to FU-5] */
#include "gpu.h"

#include "../shader/helper.h"

#define LIMIT 500

/* A step of shaders/steps.comp: what is told, and what word 0 then is where that is known beforehand. */
struct step {
    int which, a, b;
    uint32_t flags;
    int word;
};

#define ANY (-1)

static const struct step steps[] = {
    {0, 50, 0, 0, ANY},
    {0, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {1, 9, 0, 0, 2},
    {1, 10, 0, BF_DRY_RUN_FUEL, 2 * LIMIT},
    {2, 100, 0, 0, ANY},
    {2, -1, 0, BF_DRY_RUN_FUEL, ANY},
    {3, 20, 0, 0, 20},
    {3, 2 * LIMIT + 2, 0, BF_DRY_RUN_FUEL, 2 * LIMIT},
    {4, 20, 0, 0, ANY},
    {4, 60, 0, BF_DRY_RUN_FUEL, ANY}, /* together they go round more often than each may */
    {5, 7, 0, 0, 7},
    {5, 8, 0, BF_DRY_RUN_BOUNDS, 7},
    {5, -1, 0, BF_DRY_RUN_BOUNDS, 7},
    {6, 31, 0, 0, 62},
    {6, 32, 0, BF_DRY_RUN_BOUNDS, 62},
    {7, GPU_WORDS - 34, 0, 0, ANY},
    {7, GPU_WORDS - 33, 0, BF_DRY_RUN_BOUNDS, ANY},
    {7, INT32_MIN, 0, BF_DRY_RUN_BOUNDS, ANY},
    {8, 2, 0, 0, 9},
    {8, 4, 0, BF_DRY_RUN_BOUNDS, 0},
    {9, 1, 0, 0, 5},
    {9, 3, 0, BF_DRY_RUN_BOUNDS, 8},
    {10, 5, 0, 0, 9},
    {10, 6, 0, BF_DRY_RUN_BOUNDS, 9},
    {11, 30, 0, 0, ANY},
    {11, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {12, 40, 0, 0, ANY},
    {13, 40, 1, 0, ANY},
    {13, 100000, 2, BF_DRY_RUN_FUEL, ANY},
    {14, 5, 0, 0, 0},
    {14, 100, 0, BF_DRY_RUN_FUEL, 0}, /* not the first few */
    {15, 3, 7, 0, ANY},
    {15, 4, 0, BF_DRY_RUN_BOUNDS, ANY},
    {15, 0, 8, BF_DRY_RUN_BOUNDS, ANY},
    {16, 3, 3, 0, 77},
    {16, 4, 0, BF_DRY_RUN_BOUNDS, 77},
    {16, 0, -1, BF_DRY_RUN_BOUNDS, 77},
    {17, 3, 0, 0, 77},
    {17, 4, 0, BF_DRY_RUN_BOUNDS, 77},
    {17, 0, 1, BF_DRY_RUN_BOUNDS, 77},
    {18, 4, 0, 0, 77},
    {18, 0, 0, BF_DRY_RUN_BOUNDS, 77},
    {19, 1, 0, 0, ANY},
    {19, 2, 0, BF_DRY_RUN_BOUNDS, ANY},
    {20, 7, 0, 0, 6},
    {20, 1000000, 0, BF_DRY_RUN_BOUNDS, 6},
    {21, 30, 0, 0, ANY},
    {21, 1000000, 0, BF_DRY_RUN_FUEL, ANY},
    {22, 3, 0, BF_DRY_RUN_BOUNDS, 0}, /* 32 rows */
    {23, 2, 2, 0, 77},
    {23, 2, 4, BF_DRY_RUN_BOUNDS, 77},
    {24, 0, 0, 0, 0},
    {24, GPU_WORDS - 64 - 31, 0, BF_DRY_RUN_BOUNDS, 0},
    {25, 400, 14, 0, ANY},
    {26, 100, 0, 0, ANY},
    {26, -1, 0, BF_DRY_RUN_FUEL, ANY},
};

static const struct step fragment_steps[] = {
    {0, 10, 0, 0, ANY}, {0, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {1, 10, 0, 0, ANY}, {1, 100000, 0, BF_DRY_RUN_FUEL, ANY},
    {2, 10, 0, 0, ANY}, {3, 100000, 0, 0, 0},
};

static VkPipeline pipeline_of(const uint32_t *words, size_t count, bool draws)
{
    const struct spirv *vertex = spirv_find("cover.vert");
    return draws ? gpu_drawing(vertex->words, (size_t)(vertex->end - vertex->words), words, count)
                 : gpu_pipeline(words, count);
}

static void module_steps(const char *name, const struct step *all, size_t all_count)
{
    const struct spirv *spirv = spirv_find(name);
    const bool draws = spirv->stage == VK_SHADER_STAGE_FRAGMENT_BIT;
    const size_t count = (size_t)(spirv->end - spirv->words);
    const struct bf_shader_info info = {spirv->words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 0, .binding = GPU_BINDING, .loop_limit = LIMIT, .total_limit = 3 * LIMIT};
    struct bf_dry_run run;
    assert_success(bf_dry_run_create(&info, &options, &run));
    assert_string_equal(bf_dry_run_reason_name(run.reason), "fine");
    VkPipeline general = pipeline_of(spirv->words, count, draws),
               dry = pipeline_of(run.words, run.word_count, draws);
    for (size_t i = 0; i < all_count; i++) {
        const struct step *step = &all[i];
        const uint32_t push[4] = {(uint32_t)step->which, (uint32_t)step->a, (uint32_t)step->b};
        struct bf_dry_run_result result;
        uint32_t expected[GPU_WORDS], found[GPU_WORDS];
        gpu_run(dry, draws, push, found, &result);
        if (result.flags != step->flags || (step->word != ANY && found[0] != (uint32_t)step->word))
            fail_msg("case %d with %d, %d: flags %u, word %u", step->which, step->a, step->b,
                     result.flags, found[0]);
        assert_int_equal(result.invocations, draws ? GPU_SIDE * GPU_SIDE : 32);
        assert_true(result.rounds <= 2 * 3 * LIMIT + 8);
        if (step->flags)
            continue;
        gpu_run(general, draws, push, expected, NULL);
        assert_memory_equal(found, expected, sizeof(found));
    }
    gpu_pipeline_end(general);
    gpu_pipeline_end(dry);
    bf_dry_run_finish(&run);
}

#define STEPS(name, steps) module_steps(name, steps, sizeof(steps) / sizeof((steps)[0]))

TEST(as_compiled)
{
    STEPS("steps.comp", steps);
}

/* Values, not variables, live across the loops' ends. */
TEST(optimized)
{
    STEPS("steps_opt.comp", steps);
}

/* However they end, all invocations tell, and what they have drawn is the same. */
TEST(fragments)
{
    STEPS("steps.frag", fragment_steps);
    STEPS("steps_opt.frag", fragment_steps);
}

static int teardown(void **state)
{
    (void)state;
    gpu_close();
    return 0;
}

int main(int argc, char **argv)
{
    if (!gpu_open()) {
        fprintf(stderr, "no device that computes with robustBufferAccess\n");
        return 77;
    }
    for (uint32_t i = 0; i < GPU_WORDS; i++)
        gpu_given()[i] = 1000 + i;
    return test_run_group(argc > 1 ? argv[1] : NULL, NULL, teardown);
}
