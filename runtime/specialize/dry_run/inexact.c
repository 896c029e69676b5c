/* SPDX-License-Identifier: MIT */
/* Hides what a host evaluates otherwise than a device: its operands are chosen, or others, by a
 * private variable that nobody writes. */
#include "specialize/dry_run/inexact.h"

#include <spirv/unified1/GLSL.std.450.h>

#include "specialize/dry_run/origin.h"
#include "specialize/dry_run/rewrite.h"

struct hiding {
    struct bf_module m;
    struct bf_arena arena;
    struct bf_rewrite rewrite;
    uint32_t *unknown; /* [bound] of a type: the variable */
    uint32_t hiding;   /* the variable that chooses */
};

static bool is_inexact(const struct hiding *h, const struct bf_instruction *in)
{
    const struct bf_module *m = &h->m;
    switch (in->opcode) {
    case SpvOpExtInst: /* of NaN a clamp may make NaN, which SPIRV-Tools thinks is clamped */
        return bf_word(m, in, 3) == m->glsl &&
               (!bf_library_exact(bf_word(m, in, 4)) || bf_word(m, in, 4) == GLSLstd450FClamp ||
                bf_word(m, in, 4) == GLSLstd450NClamp);
    case SpvOpFDiv:
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpQuantizeToF16:
        return true;
    case SpvOpFConvert:
        return bf_narrows(m, in);
    default:
        return false;
    }
}

static void operand_hide(struct hiding *h, uint32_t i, uint32_t w)
{
    const struct bf_module *m = &h->m;
    uint32_t id = bf_word(m, &m->instructions[i], w);
    const struct bf_instruction *type = bf_value_type(m, id);
    if (!type || bf_pointer_storage(m, id) != SpvStorageClassMax)
        return;
    uint32_t *unknown = &h->unknown[type->result];
    if (!*unknown)
        *unknown = bf_rewrite_global(&h->rewrite, SpvStorageClassPrivate, type->result, 0);
    const uint32_t other = BF_PUT_NEW(&h->rewrite, i, SpvOpLoad, type->result, *unknown),
                   which = BF_PUT_NEW(&h->rewrite, i, SpvOpLoad, bf_rewrite_bool(&h->rewrite),
                                      h->hiding);
    bf_rewrite_set(&h->rewrite, i, w,
                   BF_PUT_NEW(&h->rewrite, i, SpvOpSelect, type->result, which, id, other));
}

static bool all_hide(struct hiding *h)
{
    const struct bf_module *m = &h->m;
    bf_rewrite_init(&h->rewrite, m, &h->arena);
    h->unknown = bf_arena_zeroed(&h->arena, m->bound * sizeof(*h->unknown));
    h->hiding =
        bf_rewrite_global(&h->rewrite, SpvStorageClassPrivate, bf_rewrite_bool(&h->rewrite), 0);
    for (uint32_t i = 0; !h->arena.failed && i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t first = in->opcode == SpvOpExtInst ? 5 : 3;
        for (uint32_t w = first; w < in->count && is_inexact(h, in); w++)
            if (bf_word_is_id(m, in, w))
                operand_hide(h, i, w);
    }
    return !h->arena.failed;
}

VkResult bf_inexact_hide(const struct bf_shader_info *info, uint32_t **out, size_t *out_count,
                         uint32_t *hiding)
{
    struct hiding h = {0};
    VkResult result = VK_SUCCESS;
    if (!bf_module_init(&h.m, info))
        result = h.m.out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_SHADER_NV;
    else if (!all_hide(&h) || !bf_rewrite_finish(&h.rewrite, out, out_count))
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    *hiding = h.hiding;
    bf_arena_finish(&h.arena);
    bf_module_finish(&h.m);
    return result;
}
