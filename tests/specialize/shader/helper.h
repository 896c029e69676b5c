/* SPDX-License-Identifier: MIT */
/* What the tests of shaders share. */
#ifndef SPECIALIZE_HELPER_H
#define SPECIALIZE_HELPER_H

#include "support/test.h"

#include "specialize/shader/shader.h"

struct spirv {
    const char *name;
    const uint32_t *words, *end;
    VkShaderStageFlagBits stage;
};

/* All that CMake has compiled, by file name: "types.comp", "reach_opt.frag". */
extern const struct spirv spirv_all[];
extern const size_t spirv_count;

const struct spirv *spirv_find(const char *name);
struct bf_shader *shader_of(const char *name, const VkSpecializationInfo *specialization);
struct bf_shader *shader_of_words(const uint32_t *words, size_t count, VkShaderStageFlagBits stage);

/* Assembles text; free the words. */
uint32_t *assemble(const char *text, size_t *count);

/* Fails with SPIRV-Tools' own words. */
void validate(const uint32_t *words, size_t count);

/* NULL: no member begins there. */
const struct bf_fold_member *member_at(const struct bf_shader *shader, uint32_t offset);

/* Watches words that begin at these bytes; UINT16_MAX ends the list. */
struct bf_watch watch_of(const uint16_t *offsets, uint32_t count);

#endif
