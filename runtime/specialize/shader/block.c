/* SPDX-License-Identifier: MIT */
/* What the words of a shader's blocks are, for whoever generates inputs for it. */
#include "specialize/shader/block.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/check/inputs.h"
#include "specialize/shader/module.h"

/* Types may share types: how many scalars one query visits at most. */
#define BUDGET 262144

struct bf_blocks {
    struct bf_module module;
};

VkResult bf_blocks_open(const struct bf_shader_info *info, struct bf_blocks **out)
{
    struct bf_blocks *blocks = calloc(1, sizeof(*blocks));
    if (!blocks)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!bf_module_init(&blocks->module, info)) {
        bool memory = blocks->module.out_of_memory;
        bf_blocks_close(blocks);
        return memory ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_SHADER_NV;
    }
    *out = blocks;
    return VK_SUCCESS;
}

void bf_blocks_close(struct bf_blocks *blocks)
{
    if (!blocks)
        return;
    bf_module_finish(&blocks->module);
    free(blocks);
}

/* Whether it is so of any instruction that the entry point reaches. */
static bool any_reached_instruction(const struct bf_module *m,
                                    bool (*is)(const struct bf_module *m,
                                               const struct bf_instruction *in))
{
    for (uint32_t f = 0; f < m->function_count; f++) {
        const struct bf_function *function = &m->functions[f];
        for (uint32_t i = function->first; function->reached && i < function->end; i++) {
            if (is(m, &m->instructions[i]))
                return true;
        }
    }
    return false;
}

static bool is_loop(const struct bf_module *m, const struct bf_instruction *in)
{
    (void)m;
    return in->opcode == SpvOpLoopMerge;
}

bool bf_blocks_loop(const struct bf_blocks *blocks)
{
    return any_reached_instruction(&blocks->module, is_loop);
}

static bool is_unchecked(const struct bf_module *m, const struct bf_instruction *in)
{
    if (in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain &&
        in->opcode != SpvOpPtrAccessChain && in->opcode != SpvOpInBoundsPtrAccessChain)
        return false;
    const struct bf_instruction *type = bf_definition_as(m, in->type, SpvOpTypePointer);
    switch (type ? bf_word(m, type, 2) : SpvStorageClassFunction) {
    case SpvStorageClassUniform:
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassPushConstant:
    case SpvStorageClassUniformConstant: /* an array of descriptors */
        return false;
    default:
        break;
    }
    for (uint32_t i = 4; i < in->count; i++) {
        uint64_t value;
        if (!bf_constant(m, bf_word(m, in, i), &value))
            return true;
    }
    return false;
}

bool bf_blocks_fragile(const struct bf_blocks *blocks)
{
    return any_reached_instruction(&blocks->module, is_unchecked);
}

/* ------------------------------------------------------------------------------------- Units -- */

struct tour {
    const struct bf_module *m;
    uint8_t *units;
    uint64_t end; /* bytes of them that are filled in */
    uint32_t budget;
};

static void block_unit_put(struct tour *tour, uint64_t offset, enum bf_unit unit, uint32_t width)
{
    uint64_t word = offset / 4;
    if (offset + width > (uint64_t)BF_BLOCK_WORDS * 4)
        return;
    tour->units[word] = (uint8_t)unit;
    if (width == 8)
        tour->units[word + 1] = BF_UNIT_UPPER;
    if (offset + width > tour->end)
        tour->end = offset + width;
}

/* Writes a scalar's kind; 'one' and 'zero' mark floats on and off the diagonal of a matrix. */
static void put_scalar(struct tour *tour, uint32_t id, uint64_t offset, bool one, bool zero)
{
    struct bf_shape shape;
    if (!bf_shape(tour->m, id, &shape))
        return;
    bool number = shape.number == BF_NUMBER_FLOAT;
    enum bf_unit unit = BF_UNIT_UNKNOWN;
    switch (shape.width) {
    case 1:
        unit = BF_UNIT_BYTES;
        break;
    case 2:
        unit = number ? BF_UNIT_HALVES : BF_UNIT_SHORTS;
        break;
    case 4:
        unit = !number ? BF_UNIT_INTEGER : one ? BF_UNIT_ONE : zero ? BF_UNIT_ZERO : BF_UNIT_FLOAT;
        break;
    case 8:
        unit = number ? BF_UNIT_DOUBLE : BF_UNIT_LONG;
        break;
    }
    block_unit_put(tour, offset, unit, shape.width);
}

static void put_matrix(struct tour *tour, const struct bf_instruction *type, uint64_t offset,
                       uint32_t stride, bool row_major)
{
    struct bf_shape shape;
    if (!bf_shape(tour->m, bf_word(tour->m, type, 2), &shape))
        return;
    uint32_t columns = bf_word(tour->m, type, 3);
    for (uint32_t c = 0; c < columns && c < 4; c++) {
        for (uint32_t r = 0; r < shape.components && r < 4; r++) {
            uint64_t at = (uint64_t)(row_major ? r : c) * stride +
                          (uint64_t)(row_major ? c : r) * shape.width;
            put_scalar(tour, shape.scalar, offset + at, c == r, c != r);
        }
    }
}

static void block_type_visit(struct tour *tour, uint32_t id, uint64_t offset, uint32_t stride,
                             bool row_major, uint32_t depth);

static void visit_members(struct tour *tour, const struct bf_instruction *type, uint64_t offset,
                          uint32_t depth)
{
    const struct bf_module *m = tour->m;
    for (uint32_t i = 0; i + 2 < type->count; i++) {
        const uint32_t *at = bf_member_decoration(m, type->result, i, SpvDecorationOffset);
        const uint32_t *stride =
            bf_member_decoration(m, type->result, i, SpvDecorationMatrixStride);
        if (at)
            block_type_visit(
                tour, bf_word(m, type, 2 + i), offset + *at, stride ? *stride : 0,
                bf_member_decoration(m, type->result, i, SpvDecorationRowMajor) != NULL, depth + 1);
    }
}

/* Visits the type at 'offset'; 'stride' is that of matrices. Arrays of unknown length are
 * skipped. */
static void block_type_visit(struct tour *tour, uint32_t id, uint64_t offset, uint32_t stride,
                             bool row_major, uint32_t depth)
{
    const struct bf_module *m = tour->m;
    const struct bf_instruction *type = bf_definition(m, id);
    struct bf_shape shape;
    uint64_t length;
    if (!type || depth > BF_MODULE_DEPTH || !tour->budget || offset >= (uint64_t)BF_BLOCK_WORDS * 4)
        return;
    tour->budget--;
    switch (type->opcode) {
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        put_scalar(tour, id, offset, false, false);
        return;
    case SpvOpTypeVector:
        for (uint32_t i = 0; bf_shape(m, id, &shape) && i < shape.components; i++)
            put_scalar(tour, shape.scalar, offset + (uint64_t)i * shape.width, false, false);
        return;
    case SpvOpTypeMatrix:
        put_matrix(tour, type, offset, stride, row_major);
        return;
    case SpvOpTypeArray:
        if (!bf_constant(m, bf_word(m, type, 3), &length) || !m->ids[id].array_stride)
            return;
        for (uint64_t i = 0; i < length && i < (uint64_t)BF_BLOCK_WORDS * 4 && tour->budget; i++)
            block_type_visit(tour, bf_word(m, type, 2), offset + i * m->ids[id].array_stride,
                             stride, row_major, depth + 1);
        return;
    case SpvOpTypeStruct:
        visit_members(tour, type, offset, depth);
        return;
    default:
        return;
    }
}

/* The type of the block that a variable, or an array of blocks, points to. */
static const struct bf_instruction *push_block_of(const struct bf_module *m,
                                                  const struct bf_instruction *variable)
{
    const struct bf_instruction *pointer = bf_definition_as(m, variable->type, SpvOpTypePointer);
    const struct bf_instruction *type = pointer ? bf_definition(m, bf_word(m, pointer, 3)) : NULL;
    if (type && (type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeRuntimeArray))
        type = bf_definition(m, bf_word(m, type, 2));
    return type && type->opcode == SpvOpTypeStruct ? type : NULL;
}

static const struct bf_instruction *find_block(const struct bf_module *m, uint32_t set,
                                               uint32_t binding)
{
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode != SpvOpVariable)
            continue;
        uint32_t storage = bf_word(m, in, 3);
        const struct bf_id *id = &m->ids[in->result];
        if ((storage == SpvStorageClassUniform || storage == SpvStorageClassStorageBuffer) &&
            id->used && id->set == set && id->binding == binding)
            return push_block_of(m, in);
    }
    return NULL;
}

uint32_t bf_blocks_units(const struct bf_blocks *blocks, uint32_t set, uint32_t binding,
                         uint8_t units[BF_BLOCK_WORDS], uint32_t *period)
{
    const struct bf_module *m = &blocks->module;
    const struct bf_instruction *type = find_block(m, set, binding);
    struct tour tour = {.m = m, .units = units, .budget = BUDGET};
    *period = 0;
    if (!type)
        return 0;
    memset(units, BF_UNIT_UNKNOWN, BF_BLOCK_WORDS);
    block_type_visit(&tour, type->result, 0, 0, false, 0);
    uint32_t last = type->count > 2 ? type->count - 3u : 0;
    const struct bf_instruction *open =
        type->count > 2 ? bf_definition_as(m, bf_word(m, type, 2 + last), SpvOpTypeRuntimeArray)
                        : NULL;
    const uint32_t *at =
        open ? bf_member_decoration(m, type->result, last, SpvDecorationOffset) : NULL;
    if (!at)
        return (uint32_t)((tour.end + 3) / 4);
    /* Of the last array as many elements as make whole words. */
    uint32_t stride = m->ids[open->result].array_stride;
    uint32_t count = stride % 4 == 0 ? 1 : stride % 2 == 0 ? 2 : 4;
    uint64_t words = (uint64_t)stride * count / 4;
    if (stride == 0 || *at % 4 || *at / 4 + words > BF_BLOCK_WORDS)
        return (uint32_t)((tour.end + 3) / 4);
    const uint32_t *columns =
        bf_member_decoration(m, type->result, last, SpvDecorationMatrixStride);
    for (uint32_t i = 0; i < count; i++)
        block_type_visit(
            &tour, bf_word(m, open, 2), *at + (uint64_t)i * stride, columns ? *columns : 0,
            bf_member_decoration(m, type->result, last, SpvDecorationRowMajor) != NULL, 0);
    *period = (uint32_t)words;
    return (uint32_t)(*at / 4 + words);
}
