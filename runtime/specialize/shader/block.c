/* SPDX-License-Identifier: MIT */
/* What the words of a shader's blocks are, for whoever generates inputs for it. */
#include "specialize/shader/block.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>

#include "specialize/check/inputs.h"
#include "specialize/shader/module.h"

/* Types may share types: how many scalars one query visits at most. */
#define BUDGET 262144

/* How many instructions are looked at, to find out which integers' bits become floats. */
#define BITS_BUDGET (UINT32_C(1) << 22)

struct bf_blocks {
    struct bf_module module;
    uint8_t
        *bits; /* [bound] of pointers that are loaded: what is read becomes floats by its bits */
};

static bool bits_find(struct bf_blocks *blocks);

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
    if (!bits_find(blocks)) {
        bf_blocks_close(blocks);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *out = blocks;
    return VK_SUCCESS;
}

void bf_blocks_close(struct bf_blocks *blocks)
{
    if (!blocks)
        return;
    bf_module_finish(&blocks->module);
    free(blocks->bits);
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

/* -------------------------------------------------------------------------------------- Bits -- */

/* Backwards from where the bits of integers become floats: cast, unpacked, or shifted and then
 * converted. */
struct search {
    const struct bf_module *m;
    uint8_t *seen;   /* [bound] COME, SHIFTED */
    uint32_t *stack; /* each id is on it twice at most */
    uint32_t count, budget;
};

enum { COME = 1, SHIFTED = 2 };

static void bits_add(struct search *s, uint32_t id, bool shifted)
{
    const uint8_t as = shifted ? COME | SHIFTED : COME;
    if (id >= s->m->bound || (s->seen[id] & as) == as)
        return;
    s->seen[id] |= as;
    s->stack[s->count++] = id;
}

static const struct bf_instruction *pointer_root(const struct bf_module *m, uint32_t pointer)
{
    const struct bf_instruction *in = bf_definition(m, pointer);
    for (uint32_t depth = 0; in && depth < BF_MODULE_DEPTH; depth++) {
        if (in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain &&
            in->opcode != SpvOpCopyObject)
            return in;
        in = bf_definition(m, bf_word(m, in, 3));
    }
    return NULL;
}

/* What is stored to a variable of the shader's own. */
static void search_stores(struct search *s, uint32_t variable, bool shifted)
{
    const struct bf_module *m = s->m;
    for (uint32_t i = 0; i < m->instruction_count && s->budget; i++, s->budget--) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_instruction *to =
            in->opcode == SpvOpStore ? pointer_root(m, bf_word(m, in, 1)) : NULL;
        if (to && to->result == variable)
            bits_add(s, bf_word(m, in, 2), shifted);
    }
}

/* What calls hand over as a parameter. */
static void search_arguments(struct search *s, uint32_t parameter, bool shifted)
{
    const struct bf_module *m = s->m;
    for (uint32_t i = 0; i < m->instruction_count && s->budget; i++, s->budget--) {
        const struct bf_instruction *in = &m->instructions[i];
        struct bf_call_pair pair = {0};
        while (in->opcode == SpvOpFunctionCall && bf_call_next(m, in, &pair))
            if (pair.parameter == parameter)
                bits_add(s, pair.argument, shifted);
    }
}

static void search_returned(struct search *s, uint32_t function, bool shifted)
{
    const uint32_t f = bf_function_find(s->m, function);
    if (f == UINT32_MAX)
        return;
    for (uint32_t i = s->m->functions[f].first; i < s->m->functions[f].end && s->budget;
         i++, s->budget--) {
        const struct bf_instruction *in = &s->m->instructions[i];
        if (in->opcode == SpvOpReturnValue)
            bits_add(s, bf_word(s->m, in, 1), shifted);
    }
}

/* What a value, or what lies behind a pointer, has come of without being computed with. */
static void search_visit(struct search *s, uint32_t id)
{
    const struct bf_module *m = s->m;
    const struct bf_instruction *in = bf_definition(m, id), *root;
    const bool shifted = s->seen[id] & SHIFTED;
    switch (in ? in->opcode : SpvOpNop) {
    case SpvOpLoad:
        bits_add(s, bf_word(m, in, 3), shifted);
        return;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        root = pointer_root(m, id);
        if (root)
            bits_add(s, root->result, shifted);
        return;
    case SpvOpVariable:
        if (bf_word(m, in, 3) == SpvStorageClassFunction ||
            bf_word(m, in, 3) == SpvStorageClassPrivate)
            search_stores(s, id, shifted);
        return;
    case SpvOpFunctionParameter:
        search_arguments(s, id, shifted);
        return;
    case SpvOpFunctionCall:
        search_returned(s, bf_word(m, in, 3), shifted);
        return;
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpBitFieldUExtract:
    case SpvOpBitFieldSExtract:
        bits_add(s, bf_word(m, in, 3), true);
        return;
    case SpvOpShiftLeftLogical:
    case SpvOpVectorExtractDynamic:
        bits_add(s, bf_word(m, in, 3), shifted);
        return;
    case SpvOpCopyObject:
    case SpvOpBitcast:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpCompositeConstruct:
    case SpvOpVectorShuffle:
    case SpvOpPhi:
    case SpvOpSelect:
    case SpvOpBitwiseAnd:
    case SpvOpBitwiseOr:
        for (uint32_t w = 3; w < in->count; w++)
            if (bf_word_is_id(m, in, w))
                bits_add(s, bf_word(m, in, w), shifted);
        return;
    default:
        return;
    }
}

static bool unpacks(const struct bf_module *m, const struct bf_instruction *in)
{
    if (in->opcode != SpvOpExtInst || !m->glsl || bf_word(m, in, 3) != m->glsl)
        return false;
    switch (bf_word(m, in, 4)) {
    case GLSLstd450UnpackSnorm4x8:
    case GLSLstd450UnpackUnorm4x8:
    case GLSLstd450UnpackSnorm2x16:
    case GLSLstd450UnpackUnorm2x16:
    case GLSLstd450UnpackHalf2x16:
    case GLSLstd450UnpackDouble2x32:
        return true;
    default:
        return false;
    }
}

static bool bits_find(struct bf_blocks *blocks)
{
    const struct bf_module *m = &blocks->module;
    struct search s = {.m = m, .budget = BITS_BUDGET};
    s.seen = calloc((size_t)m->bound + 1, 1);
    s.stack = malloc(((size_t)m->bound + 1) * 2 * sizeof(*s.stack));
    for (uint32_t i = 0; s.seen && s.stack && i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpBitcast && bf_value_has_floats(m, in->result))
            bits_add(&s, bf_word(m, in, 3), true);
        else if (unpacks(m, in))
            bits_add(&s, bf_word(m, in, 5), true);
        else if (in->opcode == SpvOpConvertUToF || in->opcode == SpvOpConvertSToF)
            bits_add(&s, bf_word(m, in, 3), false);
    }
    while (s.count && s.budget)
        search_visit(&s, s.stack[--s.count]);
    free(s.stack);
    blocks->bits = s.seen;
    return s.seen && s.stack;
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

/* ------------------------------------------------------------------------ Which have bits -- */

#define INDICES 16

/* A pointer into a block: by which indices, none of them the one of a descriptor. */
struct path {
    uint32_t count, ids[INDICES];
};

/* False: it is too long, or none. */
static bool path_of(const struct bf_module *m, uint32_t pointer, struct path *path)
{
    const struct bf_instruction *in = bf_definition(m, pointer);
    if (!in || in->opcode == SpvOpVariable) {
        path->count = 0;
        return in;
    }
    if ((in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain) ||
        !path_of(m, bf_word(m, in, 3), path))
        return false;
    for (uint32_t w = 4; w < in->count; w++) {
        if (path->count == INDICES)
            return false;
        path->ids[path->count++] = bf_word(m, in, w);
    }
    return true;
}

/* Integers between these bytes. */
static void bits_put(struct tour *tour, uint64_t begin, uint64_t end)
{
    for (uint64_t w = begin / 4; w < end / 4 && w < BF_BLOCK_WORDS; w++)
        if (tour->units[w] == BF_UNIT_INTEGER)
            tour->units[w] = BF_UNIT_BITS;
}

/* Of the type at 'offset', which takes no more than 'size' bytes, what the path leads to from index
 * n on. An array without a length lies there with what 'size' has of its elements. */
static void bits_visit(struct tour *tour, uint32_t id, uint64_t offset, uint64_t size,
                       const struct path *path, uint32_t n)
{
    const struct bf_module *m = tour->m;
    const struct bf_instruction *type = bf_definition(m, id);
    uint64_t index = 0, next = size;
    const uint32_t stride = m->ids[id].array_stride;
    const bool constant = n < path->count && bf_constant(m, path->ids[n], &index);
    if (!type || !tour->budget)
        return;
    tour->budget--;
    if (n < path->count && type->opcode == SpvOpTypeStruct && constant && index + 2 < type->count) {
        const uint32_t *at = bf_member_decoration(m, id, (uint32_t)index, SpvDecorationOffset);
        for (uint32_t i = 0; at && i + 2 < type->count; i++) {
            const uint32_t *other = bf_member_decoration(m, id, i, SpvDecorationOffset);
            if (other && *other > *at && *other < next)
                next = *other;
        }
        if (at && *at < next)
            bits_visit(tour, bf_word(m, type, 2 + (uint32_t)index), offset + *at, next - *at, path,
                       n + 1);
    } else if (n < path->count && stride &&
               (type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeRuntimeArray)) {
        const struct bf_instruction *of = bf_definition(m, bf_word(m, type, 2));
        const bool one = constant && type->opcode == SpvOpTypeArray;
        const bool deeper = of && n + 1 < path->count &&
                            (of->opcode == SpvOpTypeStruct || of->opcode == SpvOpTypeArray);
        if (!one && !deeper)
            bits_put(tour, offset, offset + size);
        for (uint64_t i = one ? index : 0; (one || deeper) && i * stride < size && tour->budget;
             i++) {
            const uint64_t left = size - i * stride;
            bits_visit(tour, bf_word(m, type, 2), offset + i * stride,
                       left < stride ? left : stride, path, n + 1);
            if (one)
                break;
        }
    } else {
        bits_put(tour, offset, offset + size);
    }
}

/* The words of the block that 'variable' has. */
static void bits_mark(struct tour *tour, const struct bf_blocks *blocks,
                      const struct bf_instruction *variable, uint32_t block, uint32_t words)
{
    const struct bf_module *m = tour->m;
    const struct bf_instruction *pointer = bf_definition_as(m, variable->type, SpvOpTypePointer);
    const bool several = pointer && bf_word(m, pointer, 3) != block; /* blocks in an array */
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t from = in->opcode == SpvOpLoad ? bf_word(m, in, 3) : 0;
        struct path path;
        if (!from || from >= m->bound || !(blocks->bits[from] & SHIFTED) ||
            pointer_root(m, from) != variable || !path_of(m, from, &path) || path.count < several)
            continue;
        bits_visit(tour, block, 0, (uint64_t)words * 4, &path, several);
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
                                               uint32_t binding,
                                               const struct bf_instruction **variable)
{
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode != SpvOpVariable)
            continue;
        uint32_t storage = bf_word(m, in, 3);
        const struct bf_id *id = &m->ids[in->result];
        if ((storage == SpvStorageClassUniform || storage == SpvStorageClassStorageBuffer) &&
            id->used && id->set == set && id->binding == binding) {
            *variable = in;
            return push_block_of(m, in);
        }
    }
    return NULL;
}

static uint32_t units_find(struct tour *tour, const struct bf_instruction *type, uint32_t *period)
{
    const struct bf_module *m = tour->m;
    uint8_t *units = tour->units;
    memset(units, BF_UNIT_UNKNOWN, BF_BLOCK_WORDS);
    block_type_visit(tour, type->result, 0, 0, false, 0);
    uint32_t last = type->count > 2 ? type->count - 3u : 0;
    const struct bf_instruction *open =
        type->count > 2 ? bf_definition_as(m, bf_word(m, type, 2 + last), SpvOpTypeRuntimeArray)
                        : NULL;
    const uint32_t *at =
        open ? bf_member_decoration(m, type->result, last, SpvDecorationOffset) : NULL;
    if (!at)
        return (uint32_t)((tour->end + 3) / 4);
    /* Of the last array as many elements as make whole words. */
    uint32_t stride = m->ids[open->result].array_stride;
    uint32_t count = stride % 4 == 0 ? 1 : stride % 2 == 0 ? 2 : 4;
    uint64_t words = (uint64_t)stride * count / 4;
    if (stride == 0 || *at % 4 || *at / 4 + words > BF_BLOCK_WORDS)
        return (uint32_t)((tour->end + 3) / 4);
    const uint32_t *columns =
        bf_member_decoration(m, type->result, last, SpvDecorationMatrixStride);
    for (uint32_t i = 0; i < count; i++)
        block_type_visit(
            tour, bf_word(m, open, 2), *at + (uint64_t)i * stride, columns ? *columns : 0,
            bf_member_decoration(m, type->result, last, SpvDecorationRowMajor) != NULL, 0);
    *period = (uint32_t)words;
    return (uint32_t)(*at / 4 + words);
}

uint32_t bf_blocks_units(const struct bf_blocks *blocks, uint32_t set, uint32_t binding,
                         uint8_t units[BF_BLOCK_WORDS], uint32_t *period)
{
    const struct bf_module *m = &blocks->module;
    struct tour tour = {.m = m, .units = units, .budget = BUDGET};
    const struct bf_instruction *variable = NULL, *type = find_block(m, set, binding, &variable);
    *period = 0;
    if (!type)
        return 0;
    const uint32_t count = units_find(&tour, type, period);
    tour.budget = BUDGET;
    bits_mark(&tour, blocks, variable, type->result, count);
    return count;
}
