/* SPDX-License-Identifier: MIT */
/* Without memory: an error, nothing lost, nothing half made. Every allocation of ours fails
 * once. */
#include "helper.h"

#include "specialize/dry_run/dry_run.h"

#define NO_MEMORY_WRAPPED
#include "support/no_memory.h"

static uint32_t allocations, fails_at;

static bool has_none(void)
{
    return ++allocations == fails_at;
}

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

char *__wrap_strdup(const char *text)
{
    return has_none() ? NULL : __real_strdup(text);
}

/* 0: nothing fails. Returns what came of it. */
static VkResult all(const char *name, uint32_t nth)
{
    const struct spirv *spirv = spirv_find(name);
    const uint32_t value = 1;
    const VkSpecializationMapEntry map = {0, 0, 4};
    const VkSpecializationInfo specialization = {1, &map, 4, &value};
    const struct bf_shader_info info = {spirv->words, (size_t)(spirv->end - spirv->words), "main",
                                        spirv->stage, &specialization};
    struct bf_shader *shader;
    allocations = 0;
    fails_at = nth;
    VkResult result = bf_shader_create(&info, &shader);
    if (result == VK_SUCCESS) {
        struct bf_watch watch;
        struct bf_folded folded;
        bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
        result = bf_shader_fold(shader, &watch, 0xff, true, &folded);
        if (result == VK_SUCCESS) {
            uint32_t push[64] = {0};
            VkSpecializationInfo merged;
            result = bf_folded_specialize(&folded, shader, push, &merged);
            bf_folded_specialization_finish(&merged);
        } else {
            assert_null(folded.words);
            assert_null(folded.entries);
        }
        bf_folded_finish(&folded);
        bf_shader_release(shader);
    }
    struct bf_dry_run run = {0};
    const struct bf_dry_run_options options = {.set = 7, .points = true};
    if (result == VK_SUCCESS)
        result = bf_dry_run_create(&info, &options, &run);
    assert_true(!run.words == (result != VK_SUCCESS));
    bf_dry_run_finish(&run);
    fails_at = 0;
    return result;
}

TEST(every_allocation_fails_once)
{
    static const char *const names[] = {"types.comp", "reach.frag", "facts.frag", "loops.comp"};
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(all(names[i], 0), VK_SUCCESS);
        uint32_t count = allocations;
        assert_true(count > 10);
        for (uint32_t nth = 1; nth <= count; nth++)
            assert_int_equal(all(names[i], nth), VK_ERROR_OUT_OF_HOST_MEMORY);
    }
}
