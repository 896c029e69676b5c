/* SPDX-License-Identifier: MIT */
/*
 * Indices that stay inside. [FU-2] Each that isn't a constant within its bounds becomes
 * clamp(index, length), whose length is a constant, OpArrayLength or an image's size. What is in
 * bounds stays what it was.
 */
#include "specialize/dry_run/parts.h"

#include <spirv/unified1/GLSL.std.450.h>

/* The id of a clamped index, of type uint; i: before which instruction. 'index' is an integer of
 * any width. */
static uint32_t index_clamp(struct bf_parts *parts, uint32_t i, uint32_t index, uint32_t length)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    struct bf_shape shape;
    const struct bf_instruction *type = bf_value_type(parts->m, index);
    uint32_t number = bf_rewrite_uint(rewrite), block = parts->flow.of_instruction[i];
    if (!type || !bf_shape(parts->m, type->result, &shape) || shape.number == BF_NUMBER_FLOAT ||
        shape.components != 1) {
        bf_parts_refuse(parts, BF_DRY_RUN_INVALID);
        return index;
    }
    parts->index_count++;
    parts->steers |= parts->origins.value[index] | parts->origins.block[block - 1];
    index = bf_parts_uint(parts, i, index, &shape); /* no array has as many elements */
    return BF_PUT_NEW(rewrite, i, SpvOpFunctionCall, number, parts->clamp, index, length);
}

/* Replaces word w of instruction i, an index, unless it is a constant below 'length'. (Narrow ones
 * may be negative, which their bits alone don't tell.) */
static void index_check(struct bf_parts *parts, uint32_t i, uint32_t w, uint32_t length)
{
    uint32_t index = bf_word(parts->m, &parts->m->instructions[i], w);
    const struct bf_instruction *type = bf_value_type(parts->m, index);
    struct bf_shape shape;
    uint64_t value;
    if (type && bf_shape(parts->m, type->result, &shape) && shape.width >= 4 &&
        bf_constant(parts->m, index, &value) && value < length)
        return;
    bf_rewrite_set(&parts->rewrite, i, w,
                   index_clamp(parts, i, index, bf_rewrite_constant(&parts->rewrite, length)));
}

/* ----------------------------------------------------------------------------- Access chains -- */

/* A pointer to the struct whose last member the first 'count' words of a chain lead to, the indices
 * before it having been clamped. */
static uint32_t struct_pointer(struct bf_parts *parts, uint32_t i, uint32_t chain, uint32_t count,
                               uint32_t type)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *in = &m->instructions[chain];
    uint32_t base = bf_word(m, in, 3);
    if (count == 4)
        return base;
    uint32_t operands[BF_MODULE_DEPTH] = {base};
    if (count - 3 > 20 || parts->arena->failed) {
        bf_parts_refuse(parts, BF_DRY_RUN_POINTERS);
        return base;
    }
    for (uint32_t w = 4; w < count; w++)
        operands[w - 3] = rewrite->own[in->at + w];
    uint32_t pointer = bf_rewrite_pointer(rewrite, bf_pointer_storage(m, base), type);
    return bf_rewrite_put_new(rewrite, i, SpvOpAccessChain, pointer, count - 3, operands);
}

/* The length of an array without one, of which the chain so far, of 'count' words, points to the
 * struct around it; its member is word 'count'. */
static uint32_t buffer_length(struct bf_parts *parts, uint32_t i, uint32_t chain, uint32_t count,
                              uint32_t type)
{
    const struct bf_module *m = parts->m;
    uint64_t member;
    if (!bf_constant(m, bf_word(m, &m->instructions[chain], count), &member))
        return 0;
    uint32_t pointer = struct_pointer(parts, i, chain, count, type);
    return BF_PUT_NEW(&parts->rewrite, i, SpvOpArrayLength, bf_rewrite_uint(&parts->rewrite),
                      pointer, (uint32_t)member);
}

static uint32_t descriptor_count(struct bf_parts *parts, uint32_t variable)
{
    const struct bf_id *id = &parts->m->ids[variable];
    for (uint32_t a = 0; a < parts->options->array_count; a++) {
        const struct bf_dry_run_array *array = &parts->options->arrays[a];
        if (array->set == id->set && array->binding == id->binding && array->count)
            return bf_rewrite_constant(&parts->rewrite, array->count);
    }
    return 0;
}

/* The length of the array that the chain's base points to: it, or what a chain before that led
 * to. */
static uint32_t base_length(struct bf_parts *parts, uint32_t i, uint32_t base)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = bf_definition(m, base);
    while (in && in->opcode == SpvOpCopyObject)
        in = bf_definition(m, bf_word(m, in, 3));
    if (!in)
        return 0;
    if (in->opcode == SpvOpVariable)
        return descriptor_count(parts, in->result);
    if ((in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain) || in->count < 5)
        return 0;
    /* What the struct's type is doesn't matter unless a pointer to it has to be made. */
    const struct bf_instruction *type = bf_value_type(m, bf_word(m, in, 3));
    uint32_t pointee = type ? bf_word(m, type, 3) : 0;
    for (uint32_t w = 4; w + 1u < in->count; w++) {
        const struct bf_instruction *each = bf_definition(m, pointee);
        uint64_t member = 0;
        if (!each)
            return 0;
        if (each->opcode == SpvOpTypeStruct)
            bf_constant(m, bf_word(m, in, w), &member);
        pointee = bf_word(m, each, 2 + (uint32_t)member);
    }
    if (!bf_definition_as(m, pointee, SpvOpTypeStruct))
        return 0;
    return buffer_length(parts, i, (uint32_t)(in - m->instructions), in->count - 1u, pointee);
}

/* Is it an array of descriptors? */
static bool is_descriptors(const struct bf_module *m, const struct bf_instruction *type,
                           uint32_t storage)
{
    while (type && (type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeRuntimeArray))
        type = bf_definition(m, bf_word(m, type, 2));
    if (storage == SpvStorageClassUniformConstant || !type)
        return true;
    return (storage == SpvStorageClassUniform || storage == SpvStorageClassStorageBuffer) &&
           (m->ids[type->result].block || m->ids[type->result].buffer_block);
}

static void chain_rewrite(struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *in = &m->instructions[i];
    const struct bf_instruction *type = bf_value_type(m, bf_word(m, in, 3));
    uint32_t pointee = type ? bf_word(m, type, 3) : 0, around = 0;
    for (uint32_t w = 4; w < in->count; w++) {
        uint32_t index = bf_word(m, in, w), length;
        uint64_t value = 0;
        bool known = bf_constant(m, index, &value);
        type = bf_definition(m, pointee);
        if (!type) {
            bf_parts_refuse(parts, BF_DRY_RUN_INVALID);
            return;
        }
        if (!known && parts->options->untaken_descriptors &&
            (type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeRuntimeArray) &&
            is_descriptors(m, type, bf_pointer_storage(m, bf_word(m, in, 3)))) {
            bf_parts_refuse(parts, BF_DRY_RUN_DESCRIPTORS);
            return;
        }
        switch (type->opcode) {
        case SpvOpTypeStruct:
            around = pointee;
            pointee = bf_word(m, type, 2 + (uint32_t)value);
            continue;
        case SpvOpTypeVector:
        case SpvOpTypeMatrix:
            index_check(parts, i, w, bf_word(m, type, 3));
            break;
        case SpvOpTypeArray:
            length = bf_word(m, type, 3);
            if (bf_constant(m, length, &value)) {
                index_check(parts, i, w, value < UINT32_MAX ? (uint32_t)value : UINT32_MAX);
            } else {
                /* A length that the program's specialization gives in ways that aren't followed
                 * here. */
                struct bf_shape shape;
                if (!bf_definition(m, length) ||
                    !bf_shape(m, bf_definition(m, length)->type, &shape) || shape.width != 4) {
                    bf_parts_refuse(parts, BF_DRY_RUN_INVALID);
                    return;
                }
                if (shape.number == BF_NUMBER_INT)
                    length = BF_PUT_NEW(rewrite, i, SpvOpBitcast, bf_rewrite_uint(rewrite), length);
                bf_rewrite_set(rewrite, i, w, index_clamp(parts, i, index, length));
            }
            break;
        case SpvOpTypeRuntimeArray:
            length = w == 4   ? base_length(parts, i, bf_word(m, in, 3))
                     : around ? buffer_length(parts, i, i, w - 1, around)
                              : 0;
            if (!length) {
                bf_parts_refuse(parts, BF_DRY_RUN_DESCRIPTORS);
                return;
            }
            bf_rewrite_set(rewrite, i, w, index_clamp(parts, i, index, length));
            break;
        default:
            bf_parts_refuse(parts, BF_DRY_RUN_INVALID);
            return;
        }
        around = 0;
        pointee = bf_word(m, type, 2);
    }
}

/* ------------------------------------------------------------------------------------ Texels -- */

/* An instruction that names a texel. */
struct texel {
    uint32_t image;      /* id of an image */
    uint32_t coordinate; /* word */
    uint32_t operands;   /* word of the mask; 0: none */
    uint32_t sample;     /* word; 0: none */
    uint32_t lod;        /* word; 0: none */
    uint32_t offset;     /* word; 0: none */
};

/* Where the operands are that matter here: each bit of the mask before brings one word, gradients
 * two. */
static void operands_find(const struct bf_module *m, const struct bf_instruction *in,
                          struct texel *texel)
{
    uint32_t mask = texel->operands ? bf_word(m, in, texel->operands) : 0, w = texel->operands + 1;
    for (uint32_t bit = 0; bit < 8; bit++) {
        if (!(mask >> bit & 1))
            continue;
        switch (1u << bit) {
        case SpvImageOperandsLodMask:
            texel->lod = w;
            break;
        case SpvImageOperandsConstOffsetMask:
        case SpvImageOperandsOffsetMask:
            texel->offset = w;
            break;
        case SpvImageOperandsSampleMask:
            texel->sample = w;
            break;
        case SpvImageOperandsGradMask:
            w++;
            break;
        default:
            break;
        }
        w++;
    }
}

static bool is_zero(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *in = bf_definition(m, id);
    uint64_t value;
    if (!in)
        return false;
    if (in->opcode != SpvOpConstantComposite)
        return in->opcode == SpvOpConstantNull || (bf_constant(m, id, &value) && !value);
    for (uint32_t w = 3; w < in->count; w++)
        if (!is_zero(m, bf_word(m, in, w)))
            return false;
    return true;
}

/* Replaces word w of instruction i, a level of the image: its id. */
static uint32_t level_clamp(struct bf_parts *parts, uint32_t i, uint32_t image, uint32_t w)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t levels =
        BF_PUT_NEW(rewrite, i, SpvOpImageQueryLevels, bf_rewrite_uint(rewrite), image);
    uint32_t level = index_clamp(parts, i, bf_word(m, &m->instructions[i], w), levels);
    bf_rewrite_set(rewrite, i, w, level);
    return level;
}

/* The size along each axis, as OpImageQuerySize gives it, of 'count' components. */
static uint32_t image_size(struct bf_parts *parts, uint32_t i, const struct bf_instruction *type,
                           const struct texel *texel, uint32_t count)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t number = bf_rewrite_uint(rewrite);
    uint32_t size = count > 1 ? BF_TYPE(rewrite, SpvOpTypeVector, number, count) : number;
    bool levels = bf_word(m, type, 7) == 1 && !bf_word(m, type, 6) &&
                  bf_word(m, type, 3) != SpvDimBuffer && bf_word(m, type, 3) != SpvDimRect;
    parts->queries = true;
    if (!levels)
        return BF_PUT_NEW(rewrite, i, SpvOpImageQuerySize, size, texel->image);
    uint32_t lod = texel->lod ? level_clamp(parts, i, texel->image, texel->lod)
                              : bf_rewrite_constant(rewrite, 0);
    return BF_PUT_NEW(rewrite, i, SpvOpImageQuerySizeLod, size, texel->image, lod);
}

static uint32_t component(struct bf_parts *parts, uint32_t i, uint32_t type, uint32_t vector,
                          uint32_t c, bool scalar)
{
    return scalar ? vector : BF_PUT_NEW(&parts->rewrite, i, SpvOpCompositeExtract, type, vector, c);
}

/* What is compared with the size along axis c, of 'count' that a query gives. */
static uint32_t axis_length(struct bf_parts *parts, uint32_t i, const struct bf_instruction *type,
                            uint32_t size, uint32_t c, uint32_t count)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t number = bf_rewrite_uint(rewrite), six = bf_rewrite_constant(rewrite, 6);
    bool faces = bf_word(parts->m, type, 3) == SpvDimCube && c == 2;
    if (faces && count == 2)
        return six;
    uint32_t length = component(parts, i, number, size, c, count == 1);
    return faces ? BF_PUT_NEW(rewrite, i, SpvOpIMul, number, length, six) : length;
}

static void texel_rewrite(struct bf_parts *parts, uint32_t i, struct texel *texel, uint32_t type_id)
{
    static const uint8_t axes[] = {[SpvDim1D] = 1,   [SpvDim2D] = 2,   [SpvDim3D] = 3,
                                   [SpvDimCube] = 2, [SpvDimRect] = 2, [SpvDimBuffer] = 1};
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_instruction *in = &m->instructions[i], *type = bf_definition(m, type_id);
    uint32_t coordinate = bf_word(m, in, texel->coordinate), number = bf_rewrite_uint(rewrite);
    const struct bf_instruction *vector = bf_value_type(m, coordinate);
    struct bf_shape shape, offset_shape;
    if (!type || type->opcode != SpvOpTypeImage || !vector ||
        !bf_shape(m, vector->result, &shape) || shape.number == BF_NUMBER_FLOAT ||
        shape.width != 4) {
        bf_parts_refuse(parts, BF_DRY_RUN_TEXEL);
        return;
    }
    operands_find(m, in, texel);
    uint32_t dim = bf_word(m, type, 3), arrayed = bf_word(m, type, 5) == 1;
    uint64_t sample = 0;
    if (dim == SpvDimSubpassData) {
        /* Relative to the pixel. */
        if (!is_zero(m, coordinate) ||
            (texel->sample && !bf_constant(m, bf_word(m, in, texel->sample), &sample)))
            bf_parts_refuse(parts, BF_DRY_RUN_TEXEL);
        return;
    }
    uint32_t count = (dim < sizeof(axes) ? axes[dim] : 0) + arrayed;
    uint32_t checked = dim == SpvDimCube ? 3 : count;
    uint32_t offset = texel->offset ? bf_word(m, in, texel->offset) : 0;
    const struct bf_instruction *offset_type = offset ? bf_value_type(m, offset) : NULL;
    if (count == arrayed || shape.components < checked ||
        (texel->lod && bf_word(m, type, 7) != 1) ||
        (offset && (!offset_type || !bf_shape(m, offset_type->result, &offset_shape) ||
                    offset_shape.width != 4))) {
        bf_parts_refuse(parts, BF_DRY_RUN_TEXEL);
        return;
    }
    uint32_t size = image_size(parts, i, type, texel, count);
    uint32_t components[4] = {0};
    parts->steers |= parts->origins.value[coordinate];
    for (uint32_t c = 0; c < shape.components; c++) {
        uint32_t at = component(parts, i, shape.scalar, coordinate, c, shape.components == 1);
        if (c < checked) {
            uint32_t shift = 0, length = axis_length(parts, i, type, size, c, count);
            if (offset && c < offset_shape.components) {
                shift = component(parts, i, offset_shape.scalar, offset, c,
                                  offset_shape.components == 1);
                at = BF_PUT_NEW(rewrite, i, SpvOpIAdd, number, at, shift);
            } else if (shape.number == BF_NUMBER_INT) {
                at = BF_PUT_NEW(rewrite, i, SpvOpBitcast, number, at);
            }
            at = BF_PUT_NEW(rewrite, i, SpvOpFunctionCall, number, parts->clamp, at, length);
            if (shift)
                at = BF_PUT_NEW(rewrite, i, SpvOpISub, number, at, shift);
            if (shape.number == BF_NUMBER_INT)
                at = BF_PUT_NEW(rewrite, i, SpvOpBitcast, shape.scalar, at);
            parts->index_count++;
        }
        components[c] = at;
    }
    uint32_t block = parts->flow.of_instruction[i];
    parts->steers |= parts->origins.block[block - 1];
    if (shape.components > 1)
        components[0] = bf_rewrite_put_new(rewrite, i, SpvOpCompositeConstruct, vector->result,
                                           shape.components, components);
    bf_rewrite_set(rewrite, i, texel->coordinate, components[0]);
    if (texel->sample && bf_word(m, type, 6)) {
        uint32_t samples = BF_PUT_NEW(rewrite, i, SpvOpImageQuerySamples, number, texel->image);
        bf_rewrite_set(rewrite, i, texel->sample,
                       index_clamp(parts, i, bf_word(m, in, texel->sample), samples));
    }
}

/* An atomic's pointer to a texel: the image behind the pointer is loaded to be asked for its
 * size. */
static void texel_pointer_rewrite(struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[i];
    const struct bf_instruction *pointer = bf_value_type(m, bf_word(m, in, 3));
    uint32_t type = pointer ? bf_word(m, pointer, 3) : 0;
    struct texel texel = {.coordinate = 4, .sample = 5};
    texel.image = BF_PUT_NEW(&parts->rewrite, i, SpvOpLoad, type, bf_word(m, in, 3));
    texel_rewrite(parts, i, &texel, type);
}

/* How many samples there are no shader can ask: one that isn't a constant can't be compared. */
static void sample_check(struct bf_parts *parts, const struct bf_instruction *in)
{
    const struct bf_module *m = parts->m;
    uint64_t sample;
    if (m->glsl && bf_word(m, in, 3) == m->glsl &&
        bf_word(m, in, 4) == GLSLstd450InterpolateAtSample &&
        !bf_constant(m, bf_word(m, in, 6), &sample))
        bf_parts_refuse(parts, BF_DRY_RUN_TEXEL);
}

static void instruction_rewrite(struct bf_parts *parts, uint32_t i)
{
    const struct bf_module *m = parts->m;
    const struct bf_instruction *in = &m->instructions[i], *type;
    struct texel texel = {0};
    switch (in->opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        chain_rewrite(parts, i);
        return;
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
        type = bf_value_type(m, bf_word(m, in, 3));
        if (type && type->opcode == SpvOpTypeVector)
            index_check(parts, i, in->opcode == SpvOpVectorExtractDynamic ? 4 : 5,
                        bf_word(m, type, 3));
        return;
    case SpvOpImageTexelPointer:
        texel_pointer_rewrite(parts, i);
        return;
    case SpvOpImageQuerySizeLod:
        if (!is_zero(m, bf_word(m, in, 4)))
            level_clamp(parts, i, bf_word(m, in, 3), 4);
        return;
    case SpvOpExtInst:
        sample_check(parts, in);
        return;
    case SpvOpImageFetch:
    case SpvOpImageRead:
    case SpvOpImageSparseFetch:
    case SpvOpImageSparseRead:
        texel =
            (struct texel){bf_word(m, in, 3), .coordinate = 4, .operands = in->count > 5 ? 5 : 0};
        break;
    case SpvOpImageWrite:
        texel =
            (struct texel){bf_word(m, in, 1), .coordinate = 2, .operands = in->count > 4 ? 4 : 0};
        break;
    default:
        return;
    }
    type = bf_value_type(m, texel.image);
    texel_rewrite(parts, i, &texel, type ? type->result : 0);
}

void bf_bounds_rewrite(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        if (parts->flow.of_instruction[i])
            instruction_rewrite(parts, i);
}
