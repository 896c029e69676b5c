/* SPDX-License-Identifier: MIT */
/* The contracting driver rounds a product and its sum once, unless that is forbidden. */
#include "specialize/dry_run/gpu.h"
#include "support/test.h"

#include "shaders/fused.comp.h"

#define COUNT 64

static float fused(float a, float b, float c)
{
    return (float)((double)a * b + c);
}

static float apart(float a, float b, float c)
{
    const volatile float product = a * b;
    return product + c;
}

TEST(products_and_their_sums_are_rounded_once)
{
    const float k = 1.7320508f;
    uint32_t push[4] = {0}, words[GPU_WORDS], differ = 0;
    float *given = (float *)gpu_given(), results[GPU_WORDS];
    memcpy(push, &k, sizeof(k));
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        given[i] = (float)((i * 2654435761u) >> 8) / 16777216.0f - (i >= COUNT ? 1.0f : 0.0f);
    const VkPipeline pipeline = gpu_pipeline(fused_comp, sizeof(fused_comp) / 4);
    gpu_run(pipeline, false, push, words, NULL);
    gpu_pipeline_end(pipeline);
    memcpy(results, words, sizeof(results));
    for (uint32_t i = 0; i < COUNT; i++) {
        const float x = given[i], y = given[i + COUNT];
        assert_true(results[4 * i] == fused(x, k, y));
        assert_true(results[4 * i + 1] == apart(x, k, y));
        assert_true(results[4 * i + 2] == fused(x, k, -y));
        assert_true(results[4 * i + 3] == fused(-x, k, y));
        differ += results[4 * i] != results[4 * i + 1];
    }
    assert_in_range(differ, 8, COUNT);
}

int main(void)
{
    if (!gpu_open()) {
        fprintf(stderr, "no device that computes with robustBufferAccess\n");
        return 77;
    }
    const int failed = test_run_group(NULL, NULL, NULL);
    gpu_close();
    return failed;
}
