/* SPDX-License-Identifier: MIT */
/* Finds the loads of push constants that could be folded, and the members that they read. */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

/* Where in the block a pointer points to, and to which type. */
struct place {
    uint32_t type; /* id */
    uint32_t offset;
    uint32_t stride; /* between the components of a vector */
    uint32_t matrix_stride;
    bool row_major;
};

/* Follows one index; false: the place isn't known. */
static bool place_enter(const struct bf_module *m, struct place *place, uint32_t index_id)
{
    const struct bf_instruction *type = bf_definition(m, place->type);
    uint64_t index;
    if (!type || !bf_constant(m, index_id, &index) || index > BF_PUSH_CONSTANT_BYTES)
        return false;
    struct bf_shape shape;
    uint64_t offset = place->offset;
    switch (type->opcode) {
    case SpvOpTypeStruct: {
        if (index + 2 >= type->count)
            return false;
        const uint32_t *at =
            bf_member_decoration(m, place->type, (uint32_t)index, SpvDecorationOffset);
        const uint32_t *stride =
            bf_member_decoration(m, place->type, (uint32_t)index, SpvDecorationMatrixStride);
        if (!at)
            return false;
        offset += *at;
        place->matrix_stride = stride ? *stride : 0;
        place->row_major =
            bf_member_decoration(m, place->type, (uint32_t)index, SpvDecorationRowMajor) != NULL;
        place->type = bf_word(m, type, 2 + (uint32_t)index);
        break;
    }
    case SpvOpTypeArray: {
        uint64_t length;
        if (!bf_constant(m, bf_word(m, type, 3), &length) || index >= length)
            return false;
    }
        /* fall through */
    case SpvOpTypeRuntimeArray: {
        uint32_t stride = m->ids[place->type].array_stride;
        if (!stride)
            return false;
        offset += index * stride;
        place->type = bf_word(m, type, 2);
        break;
    }
    case SpvOpTypeMatrix: {
        uint32_t column = bf_word(m, type, 2);
        if (index >= bf_word(m, type, 3) || !place->matrix_stride || !bf_shape(m, column, &shape))
            return false;
        offset += index * (place->row_major ? shape.width : place->matrix_stride);
        place->stride = place->row_major ? place->matrix_stride : shape.width;
        place->type = column;
        break;
    }
    case SpvOpTypeVector:
        if (!bf_shape(m, place->type, &shape) || index >= shape.components)
            return false;
        offset += index * (place->stride ? place->stride : shape.width);
        place->stride = 0;
        place->type = bf_word(m, type, 2);
        break;
    default:
        return false;
    }
    place->offset = (uint32_t)offset;
    return offset < BF_PUSH_CONSTANT_BYTES;
}

static bool member_offset_of(const struct bf_module *m, uint32_t pointer, uint32_t block,
                             uint32_t depth, struct place *place)
{
    const struct bf_instruction *in = bf_definition(m, pointer);
    if (!in || depth > BF_MODULE_DEPTH)
        return false;
    if (pointer == block) {
        const struct bf_instruction *type = bf_definition_as(m, in->type, SpvOpTypePointer);
        *place = (struct place){.type = type ? bf_word(m, type, 3) : 0};
        return type != NULL;
    }
    if (in->opcode == SpvOpCopyObject)
        return member_offset_of(m, bf_word(m, in, 3), block, depth + 1, place);
    if (in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain)
        return false;
    if (!member_offset_of(m, bf_word(m, in, 3), block, depth + 1, place))
        return false;
    for (uint32_t i = 4; i < in->count; i++)
        if (!place_enter(m, place, bf_word(m, in, i)))
            return false;
    return true;
}

/* The one push-constant block of the reached functions; 0: none, UINT32_MAX: several. */
static uint32_t block_find(const struct bf_module *m)
{
    uint32_t block = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpFunction)
            break;
        if (in->opcode == SpvOpVariable && bf_word(m, in, 3) == SpvStorageClassPushConstant &&
            m->ids[in->result].used)
            block = block ? UINT32_MAX : in->result;
    }
    return block;
}

/* Follows the pointers that are derived from the block. */
static enum bf_shader_reason block_follow(struct bf_module *m, uint32_t block)
{
    m->ids[block].derived = true;
    bool escapes = false, is_volatile = false;
    for (uint32_t f = 0; f < m->function_count; f++) {
        if (!m->functions[f].reached)
            continue;
        for (uint32_t i = m->functions[f].first; i < m->functions[f].end; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            for (uint32_t w = 1; w < in->count; w++) {
                if (!bf_word_is_id(m, in, w) || !m->ids[m->words[in->at + w]].derived)
                    continue;
                switch (in->opcode) {
                case SpvOpLoad:
                    is_volatile |= bf_word(m, in, 4) & SpvMemoryAccessVolatileMask;
                    break;
                case SpvOpAccessChain:
                case SpvOpInBoundsAccessChain:
                case SpvOpCopyObject:
                    escapes |= w != 3;
                    m->ids[in->result].derived = true;
                    break;
                case SpvOpExtInst: /* instructions without semantics may name variables */
                    escapes |= !m->ids[bf_word(m, in, 3)].non_semantic;
                    break;
                default:
                    escapes = true;
                    break;
                }
            }
        }
    }
    return escapes ? BF_SHADER_ESCAPES : is_volatile ? BF_SHADER_VOLATILE : BF_SHADER_FOLDABLE;
}

/* Which member a load reads; false: none that could be folded. */
static bool load_member(const struct bf_module *m, const struct bf_instruction *load,
                        uint32_t block, struct bf_fold_member *member)
{
    struct place place;
    struct bf_shape shape;
    /* Of the memory operands Volatile alone matters for memory that nobody writes; loads with
     * unknown ones are left alone. */
    uint32_t known = SpvMemoryAccessAlignedMask | SpvMemoryAccessNontemporalMask |
                     SpvMemoryAccessNonPrivatePointerMask;
    if ((bf_word(m, load, 4) & ~known) ||
        !member_offset_of(m, bf_word(m, load, 3), block, 0, &place) || place.type != load->type ||
        !bf_shape(m, load->type, &shape))
        return false;
    /* The storage capabilities alone don't allow constants of these types. */
    if ((shape.width == 1 && !m->int8) ||
        (shape.width == 2 && !(shape.number == BF_NUMBER_FLOAT ? m->float16 : m->int16)))
        return false;
    uint64_t stride = shape.components == 1 ? shape.width
                      : place.stride        ? place.stride
                                            : shape.width;
    uint64_t size = stride * (shape.components - 1u) + shape.width;
    if (place.offset + size > BF_PUSH_CONSTANT_BYTES)
        return false;
    *member = (struct bf_fold_member){.offset = (uint16_t)place.offset,
                                      .size = (uint16_t)size,
                                      .stride = (uint16_t)stride,
                                      .width = shape.width,
                                      .components = shape.components,
                                      .number = shape.number,
                                      .type = load->type,
                                      .component_type = shape.scalar};
    return true;
}

static int member_compare(const void *one, const void *other)
{
    const struct bf_fold_member *a = one, *b = other;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return (a->stride > b->stride) - (a->stride < b->stride);
}

bool bf_shader_find_loads(struct bf_shader *shader, struct bf_module *m)
{
    uint32_t block = block_find(m);
    if (!block || block == UINT32_MAX) {
        shader->facts.reason = block ? BF_SHADER_BLOCKS : BF_SHADER_NO_PUSH_CONSTANTS;
        return true;
    }
    enum bf_shader_reason reason = block_follow(m, block);
    if (reason != BF_SHADER_FOLDABLE) {
        shader->facts.reason = reason;
        return true;
    }
    uint32_t room = 0;
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++)
            room += m->instructions[i].opcode == SpvOpLoad &&
                    m->ids[bf_word(m, &m->instructions[i], 3)].derived;
    }
    shader->loads = calloc(room + 1, sizeof(*shader->loads));
    shader->members = calloc(room + 1, sizeof(*shader->members));
    struct bf_fold_member *each = calloc(room + 1, sizeof(*each));
    if (!shader->loads || !shader->members || !each) {
        free(each);
        return false;
    }
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++) {
            const struct bf_instruction *in = &m->instructions[i];
            /* A load of an address is never folded. */
            if (in->opcode != SpvOpLoad || !m->ids[bf_word(m, in, 3)].derived ||
                !load_member(m, in, block, &each[shader->load_count]) ||
                (m->ids[in->result].uses & BF_USE_ADDRESS))
                continue;
            each[shader->load_count].uses =
                (uint16_t)(m->ids[in->result].uses & ~BF_USE_CONSTANT_INEXACT);
            shader->loads[shader->load_count++] = (struct bf_load){
                .at = in->at,
                .id = in->result,
                .exact = !(m->ids[in->result].uses & BF_USE_INEXACT),
            };
        }
    }
    /* The distinct members, by offset. */
    memcpy(shader->members, each, shader->load_count * sizeof(*each));
    qsort(shader->members, shader->load_count, sizeof(*each), member_compare);
    for (uint32_t i = 0; i < shader->load_count; i++) {
        if (!i || member_compare(&shader->members[shader->member_count - 1], &shader->members[i]))
            shader->members[shader->member_count++] = shader->members[i];
    }
    for (uint32_t i = 0; i < shader->load_count; i++) {
        struct bf_fold_member *member =
            bsearch(&each[i], shader->members, shader->member_count, sizeof(*each), member_compare);
        shader->loads[i].member = (uint32_t)(member - shader->members);
        member->uses |= each[i].uses;
        member->exact |= shader->loads[i].exact;
    }
    free(each);
    if (!shader->load_count)
        shader->facts.reason = BF_SHADER_NO_LOAD;
    return true;
}
