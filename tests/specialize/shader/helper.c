/* SPDX-License-Identifier: MIT */
/* What the tests of shaders share: SPIR-V by name, an assembler and a validator. */
#include "helper.h"

#include <spirv-tools/libspirv.h>

const struct spirv *spirv_find(const char *name)
{
    for (size_t i = 0; i < spirv_count; i++)
        if (!strcmp(spirv_all[i].name, name))
            return &spirv_all[i];
    fail_msg("no shader %s", name);
    return NULL;
}

struct bf_shader *shader_of_words(const uint32_t *words, size_t count, VkShaderStageFlagBits stage)
{
    struct bf_shader *shader;
    struct bf_shader_info info = {words, count, "main", stage, NULL};
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    return shader;
}

struct bf_shader *shader_of(const char *name, const VkSpecializationInfo *specialization)
{
    const struct spirv *spirv = spirv_find(name);
    struct bf_shader *shader;
    struct bf_shader_info info = {spirv->words, (size_t)(spirv->end - spirv->words), "main",
                                  spirv->stage, specialization};
    assert_int_equal(bf_shader_create(&info, &shader), VK_SUCCESS);
    return shader;
}

uint32_t *assemble(const char *text, size_t *count)
{
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_5);
    spv_binary binary = NULL;
    spv_diagnostic diagnostic = NULL;
    if (spvTextToBinary(context, text, strlen(text), &binary, &diagnostic) != SPV_SUCCESS)
        fail_msg("line %zu: %s", diagnostic->position.line + 1, diagnostic->error);
    uint32_t *words = malloc(binary->wordCount * sizeof(*words));
    assert_non_null(words);
    memcpy(words, binary->code, binary->wordCount * sizeof(*words));
    *count = binary->wordCount;
    spvBinaryDestroy(binary);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return words;
}

void validate(const uint32_t *words, size_t count)
{
    char why[512];
    VkResult result = bf_shader_validate(words, count, VK_API_VERSION_1_3, why, sizeof(why));
    if (result != VK_SUCCESS)
        fail_msg("%d: %s", result, why);
}

const struct bf_fold_member *member_at(const struct bf_shader *shader, uint32_t offset)
{
    uint32_t count;
    const struct bf_fold_member *members = bf_shader_members(shader, &count);
    for (uint32_t i = 0; i < count; i++)
        if (members[i].offset == offset)
            return &members[i];
    return NULL;
}

struct bf_watch watch_of(const uint16_t *offsets, uint32_t count)
{
    struct bf_watch watch = {.count = (uint8_t)count};
    assert_true(count <= BF_WATCH_WORDS);
    memcpy(watch.offset, offsets, count * sizeof(*offsets));
    return watch;
}
