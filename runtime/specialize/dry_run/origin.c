/* SPDX-License-Identifier: MIT */
/* Where values come from: a search forwards over values, variables, calls and branches. */
#include "specialize/dry_run/origin.h"

#include <stdlib.h>

#include <spirv/unified1/GLSL.std.450.h>

#define FROM_ELSEWHERE (BF_ORIGIN_SHARED | BF_ORIGIN_VARYING | BF_ORIGIN_FOLDED)

uint32_t bf_pointer_storage(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = id ? bf_value_type(m, id) : NULL;
    return type && type->opcode == SpvOpTypePointer ? bf_word(m, type, 2) : SpvStorageClassMax;
}

uint32_t bf_origin_memory(const struct bf_origins *o, uint32_t id)
{
    id = o->base[id];
    while (o->same[id] != id)
        id = o->same[id];
    return id;
}

/* ------------------------------------------------------------------------------------ Memory -- */

static bool is_opaque(const struct bf_module *m, uint32_t type)
{
    const struct bf_instruction *in = bf_definition(m, type);
    return in &&
           (in->opcode == SpvOpTypeImage || in->opcode == SpvOpTypeSampler ||
            in->opcode == SpvOpTypeSampledImage || in->opcode == SpvOpTypeAccelerationStructureKHR);
}

/* On the way up each gets to be its grandparent's child. */
static uint32_t memory_find(struct bf_origins *o, uint32_t id)
{
    for (; o->same[id] != id; id = o->same[id])
        o->same[id] = o->same[o->same[id]];
    return id;
}

static void bases_unite(struct bf_origins *o, uint32_t a, uint32_t b)
{
    a = memory_find(o, o->base[a]);
    b = memory_find(o, o->base[b]);
    if (a && b && a != b)
        o->same[a] = b;
}

static bool is_bound(const struct bf_module *m, const struct bf_instruction *in)
{
    const uint32_t storage =
        in->opcode == SpvOpVariable ? bf_word(m, in, 3) : (uint32_t)SpvStorageClassMax;
    return storage == SpvStorageClassUniform || storage == SpvStorageClassUniformConstant ||
           storage == SpvStorageClassStorageBuffer;
}

struct bound {
    uint32_t set, binding, id;
};

static int bound_compare(const void *one, const void *other)
{
    const struct bound *a = one, *b = other;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return (a->binding > b->binding) - (a->binding < b->binding);
}

/* Variables of one binding are one memory, also where one is a buffer of the old kind. False: out
 * of memory. */
static bool bindings_unite(struct bf_origins *o, struct bf_arena *arena)
{
    const struct bf_module *m = o->flow->m;
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += is_bound(m, &m->instructions[i]);
    struct bound *all = bf_arena_zeroed(arena, (count + 1) * sizeof(*all));
    count = 0;
    for (uint32_t i = 0; all && i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_id *id = &m->ids[in->result];
        if (is_bound(m, in))
            all[count++] = (struct bound){id->set, id->binding, in->result};
    }
    if (count)
        qsort(all, count, sizeof(*all), bound_compare);
    for (uint32_t i = 1; i < count; i++)
        if (bound_compare(&all[i - 1], &all[i]) == 0)
            bases_unite(o, all[i - 1].id, all[i].id);
    return all != NULL;
}

static bool bases_find(struct bf_origins *o, struct bf_arena *arena)
{
    const struct bf_module *m = o->flow->m;
    for (uint32_t id = 0; id < m->bound; id++)
        o->same[id] = id;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        bool pointer = bf_pointer_storage(m, in->result) != SpvStorageClassMax;
        switch (in->opcode) {
        case SpvOpVariable:
            o->base[in->result] = in->result;
            break;
        case SpvOpFunctionParameter:
        case SpvOpFunction: /* for what it returns */
            if (pointer || is_opaque(m, in->type))
                o->base[in->result] = in->result;
            break;
        case SpvOpFunctionCall:
            if (is_opaque(m, in->type))
                o->base[in->result] = bf_word(m, in, 3);
            break;
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain:
        case SpvOpImageTexelPointer:
        case SpvOpSampledImage:
        case SpvOpImage:
            o->base[in->result] = o->base[bf_word(m, in, 3)];
            break;
        case SpvOpCopyObject:
        case SpvOpLoad:
            if (pointer || is_opaque(m, in->type))
                o->base[in->result] = o->base[bf_word(m, in, 3)];
            break;
        default:
            break;
        }
    }
    if (!bindings_unite(o, arena))
        return false;
    /* A parameter may be whatever is passed for it, an image whatever is returned. */
    uint32_t function = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        struct bf_call_pair pair = {0};
        while (in->opcode == SpvOpFunctionCall && bf_call_next(m, in, &pair))
            bases_unite(o, pair.argument, pair.parameter);
        if (in->opcode == SpvOpFunction)
            function = in->result;
        else if (in->opcode == SpvOpReturnValue)
            bases_unite(o, bf_word(m, in, 1), function);
    }
    for (uint32_t id = 0; id < m->bound; id++)
        o->same[id] = memory_find(o, id);
    return true;
}

/* What other stages of the pipeline write. */
static void writes_find_elsewhere(struct bf_origins *o, const struct bf_dry_run_stages *stages)
{
    const struct bf_module *m = o->flow->m;
    for (uint32_t i = 0; i < m->instruction_count && m->instructions[i].opcode != SpvOpFunction;
         i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_id *id = &m->ids[in->result];
        for (uint32_t k = 0; stages && is_bound(m, in) && k < stages->written_count; k++)
            if (stages->written[k].set == id->set && stages->written[k].binding == id->binding)
                o->written[bf_origin_memory(o, in->result)] = true;
    }
}

static void writes_find(struct bf_origins *o)
{
    const struct bf_module *m = o->flow->m;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (!o->flow->of_instruction[i])
            continue;
        switch (in->opcode) {
        case SpvOpStore:
        case SpvOpCopyMemory:
        case SpvOpImageWrite:
        case SpvOpAtomicStore:
            o->written[bf_origin_memory(o, bf_word(m, in, 1))] = true;
            break;
        case SpvOpExtInst:
            for (uint32_t w = 5; w < in->count; w++)
                if (bf_word_is_id(m, in, w))
                    o->written[bf_origin_memory(o, bf_word(m, in, w))] |=
                        bf_pointer_storage(m, bf_word(m, in, w)) != SpvStorageClassMax;
            break;
        default:
            if (bf_opcode_is_atomic(in->opcode) && in->opcode != SpvOpAtomicLoad)
                o->written[bf_origin_memory(o, bf_word(m, in, 3))] = true;
            break;
        }
    }
}

static uint8_t builtin_origin(uint32_t builtin)
{
    switch (builtin) {
    case SpvBuiltInNumWorkgroups:
    case SpvBuiltInWorkgroupSize:
    case SpvBuiltInWorkgroupId:
    case SpvBuiltInDeviceIndex:
    case SpvBuiltInViewIndex:
    case SpvBuiltInDrawIndex:
    case SpvBuiltInBaseVertex:
    case SpvBuiltInBaseInstance:
        return 0;
    case SpvBuiltInSubgroupSize:
    case SpvBuiltInNumSubgroups:
    case SpvBuiltInSubgroupId:
    case SpvBuiltInSubgroupLocalInvocationId:
    case SpvBuiltInSubgroupEqMask:
    case SpvBuiltInSubgroupGeMask:
    case SpvBuiltInSubgroupGtMask:
    case SpvBuiltInSubgroupLeMask:
    case SpvBuiltInSubgroupLtMask:
    case SpvBuiltInHelperInvocation:
        return BF_ORIGIN_SUBGROUP | BF_ORIGIN_VARYING;
    default:
        return BF_ORIGIN_VARYING;
    }
}

/* The type of what a variable holds. */
static const struct bf_id *pointee(const struct bf_module *m, const struct bf_instruction *variable)
{
    return &m->ids[bf_word(m, bf_definition(m, variable->type), 3)];
}

/* An input that is, or is made of, what the stage before has computed: floats are interpolated, and
 * which fragments there are, and which of whose sides, comes of positions. */
static uint8_t handed_origin(const struct bf_origins *o, const struct bf_instruction *variable,
                             const struct bf_dry_run_stages *stages)
{
    const struct bf_module *m = o->flow->m;
    const struct bf_id *id = &m->ids[variable->result];
    const uint8_t handed = stages->handed | BF_ORIGIN_VARYING;
    if (!id->has_builtin)
        return handed | (stages->unhanded ? BF_ORIGIN_UNASSIGNED : 0) |
               (pointee(m, variable)->has_floats ? BF_ORIGIN_FLOAT : 0);
    switch (id->builtin) {
    case SpvBuiltInPrimitiveId:
    case SpvBuiltInSampleId:
        return BF_ORIGIN_VARYING;
    case SpvBuiltInLayer:
    case SpvBuiltInViewportIndex:
        return handed;
    default: {
        const uint8_t bits = builtin_origin(id->builtin);
        return bits == BF_ORIGIN_VARYING ? bits | BF_ORIGIN_FLOAT : bits;
    }
    }
}

static uint8_t variable_origin(const struct bf_origins *o, const struct bf_instruction *variable,
                               VkShaderStageFlagBits stage, const struct bf_dry_run_stages *stages)
{
    const struct bf_module *m = o->flow->m;
    const struct bf_id *id = &m->ids[variable->result];
    bool written = o->written[bf_origin_memory(o, variable->result)];
    switch (bf_word(m, variable, 3)) {
    case SpvStorageClassInput:
        if (stages && stages->behind)
            return handed_origin(o, variable, stages);
        return id->has_builtin ? builtin_origin(id->builtin) : BF_ORIGIN_VARYING;
    case SpvStorageClassOutput:
        return stage == VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT ? FROM_ELSEWHERE : 0;
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassPushConstant:
        return 0;
    case SpvStorageClassUniform:
    case SpvStorageClassUniformConstant:
    case SpvStorageClassStorageBuffer:
        return written ? FROM_ELSEWHERE : 0;
    default:
        return FROM_ELSEWHERE;
    }
}

/* ------------------------------------------------------------------------------------ Values -- */

/* Of a module's constant, whose operands have been looked at. */
static uint8_t constant_origin(const struct bf_origins *o, const struct bf_instruction *in)
{
    const struct bf_module *m = o->flow->m;
    uint8_t bits = 0;
    uint64_t value;
    for (uint32_t w = bf_operands(in); w < in->count; w++)
        bits |= bf_word_is_id(m, in, w) ? o->value[bf_word(m, in, w)] : 0;
    if (in->opcode == SpvOpUndef)
        return BF_ORIGIN_UNASSIGNED;
    if (in->opcode != SpvOpSpecConstantOp)
        return bits;
    switch (bf_word(m, in, 3)) {
    case SpvOpVectorShuffle:
        for (uint32_t w = 6; w < in->count; w++)
            bits |= bf_word(m, in, w) == UINT32_MAX ? BF_ORIGIN_UNASSIGNED : 0;
        return bits;
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSRem:
    case SpvOpSMod:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpShiftLeftLogical:
        /* Operands may leave it open (dry_run.h, FU-9). */
        return bits | (bf_constant(m, in->result, &value) ? 0 : BF_ORIGIN_UNASSIGNED);
    default:
        return bits | (m->ids[in->result].no_signed_wrap || m->ids[in->result].no_unsigned_wrap
                           ? BF_ORIGIN_UNASSIGNED
                           : 0);
    }
}

static void origin_add(struct bf_origins *o, uint8_t *to, uint8_t bits)
{
    if (bits & ~*to) {
        *to |= bits;
        o->changed = true;
    }
}

static bool is_float(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix))
        type = bf_definition(m, bf_word(m, type, 2));
    return type && type->opcode == SpvOpTypeFloat;
}

/* Operations that leave values as they are. */
static bool moves(uint16_t opcode)
{
    return (opcode >= SpvOpVectorExtractDynamic && opcode <= SpvOpTranspose) ||
           opcode == SpvOpSelect || opcode == SpvOpBitcast || opcode == SpvOpCopyLogical;
}

static bool computes(uint16_t opcode)
{
    return (opcode >= SpvOpConvertFToU && opcode <= SpvOpQuantizeToF16) ||
           (opcode >= SpvOpSNegate && opcode <= SpvOpSMulExtended) ||
           (opcode >= SpvOpAny && opcode <= SpvOpFUnordGreaterThanEqual) ||
           (opcode >= SpvOpShiftRightLogical && opcode <= SpvOpBitCount) ||
           (opcode >= SpvOpSDotKHR && opcode <= SpvOpSUDotAccSatKHR);
}

bool bf_opcode_is_subgroup(uint16_t opcode)
{
    return (opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap) ||
           (opcode >= SpvOpSubgroupBallotKHR && opcode <= SpvOpSubgroupReadInvocationKHR) ||
           (opcode >= SpvOpGroupIAddNonUniformAMD && opcode <= SpvOpGroupSMaxNonUniformAMD);
}

/* An input attachment, which is read where the invocation is. */
static bool is_subpass(const struct bf_module *m, uint32_t image)
{
    const struct bf_instruction *type = bf_value_type(m, image);
    return type && type->opcode == SpvOpTypeImage && bf_word(m, type, 3) == SpvDimSubpassData;
}

/* What is read where the invocation is: as with derivatives, also by those that only help, beside
 * what is drawn, and tell of nothing. */
#define BESIDE (BF_ORIGIN_DERIVATIVE | BF_ORIGIN_VARYING)

/* What the instruction adds to what its operands bring. */
static uint8_t image_origin(const struct bf_origins *o, const struct bf_instruction *in)
{
    switch (in->opcode) {
    case SpvOpImageFetch:
    case SpvOpImageRead:
    case SpvOpImageSparseFetch:
    case SpvOpImageSparseRead:
        return (o->written[bf_origin_memory(o, bf_word(o->flow->m, in, 3))] ? FROM_ELSEWHERE : 0) |
               (is_subpass(o->flow->m, bf_word(o->flow->m, in, 3)) ? BESIDE : 0);
    case SpvOpImageQuerySizeLod:
    case SpvOpImageQuerySize:
    case SpvOpImageQueryLevels:
    case SpvOpImageQuerySamples:
    case SpvOpImageQueryFormat:
    case SpvOpImageQueryOrder:
    case SpvOpImageSparseTexelsResident:
        return 0;
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleDrefImplicitLod:
    case SpvOpImageSampleProjImplicitLod:
    case SpvOpImageSampleProjDrefImplicitLod:
    case SpvOpImageSparseSampleImplicitLod:
    case SpvOpImageSparseSampleDrefImplicitLod:
    case SpvOpImageQueryLod:
        return BF_ORIGIN_FLOAT | BF_ORIGIN_DERIVATIVE | BF_ORIGIN_VARYING;
    default:
        return BF_ORIGIN_FLOAT;
    }
}

static uint8_t library_origin(struct bf_origins *o, const struct bf_instruction *in, uint8_t bits,
                              uint32_t b)
{
    const struct bf_module *m = o->flow->m;
    if (m->ids[bf_word(m, in, 3)].non_semantic)
        return 0;
    bool floats = is_float(m, in->result);
    for (uint32_t w = 5; w < in->count; w++)
        floats |= is_float(m, bf_word(m, in, w));
    if (bf_word(m, in, 3) != m->glsl)
        bits = BF_ORIGIN_ANY;
    bits |= floats ? BF_ORIGIN_FLOAT : 0;
    for (uint32_t w = 5; w < in->count; w++) {
        uint32_t id = bf_word(m, in, w), memory = bf_origin_memory(o, id);
        if (bf_pointer_storage(m, id) == SpvStorageClassMax)
            continue;
        /* Either interpolates an input, or has a second result there. */
        bits |= o->memory[memory];
        origin_add(o, &o->memory[memory], bits | o->block[b]);
    }
    return bits;
}

/* What is returned. */
static uint8_t origin_step_call(struct bf_origins *o, const struct bf_instruction *in, uint32_t b)
{
    const struct bf_module *m = o->flow->m;
    uint32_t f = bf_function_find(m, bf_word(m, in, 3));
    if (f == UINT32_MAX)
        return BF_ORIGIN_ANY;
    for (struct bf_call_pair pair = {0}; bf_call_next(m, in, &pair);)
        origin_add(o, &o->value[pair.parameter], o->value[pair.argument]);
    origin_add(o, &o->function[f], o->block[b]);
    /* Who comes back from it hasn't been ended in it. */
    origin_add(o, &o->after[b], o->ending[f]);
    return o->returned[f];
}

static bool has_floats(const struct bf_module *m, const struct bf_instruction *in)
{
    bool floats = is_float(m, in->result);
    for (uint32_t w = bf_operands(in); w < in->count && !floats; w++)
        floats = bf_word_is_id(m, in, w) && is_float(m, bf_word(m, in, w));
    return floats;
}

bool bf_origin_converts(const struct bf_origins *o, const struct bf_instruction *in)
{
    const struct bf_module *m = o->flow->m;
    struct bf_shape from, to;
    if (in->opcode != SpvOpConvertFToS && in->opcode != SpvOpConvertFToU)
        return false;
    const uint32_t id = bf_word(m, in, 3);
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && bf_shape(m, type->result, &from) && bf_shape(m, in->type, &to) &&
           from.number == BF_NUMBER_FLOAT && from.width == 4 && to.width == 4 &&
           !(o->value[id] & ~(BF_ORIGIN_FOLDED | BF_ORIGIN_TOUCHED));
}

bool bf_origin_takes_over(const struct bf_origins *o, const struct bf_instruction *in)
{
    return (in->opcode == SpvOpConvertFToS || in->opcode == SpvOpConvertFToU ||
            in->opcode == SpvOpBitcast) &&
           !(o->value[bf_word(o->flow->m, in, 3)] & BF_ORIGIN_FLOAT);
}

static void step(struct bf_origins *o, uint32_t i, uint32_t b)
{
    const struct bf_module *m = o->flow->m;
    const struct bf_instruction *in = &m->instructions[i];
    uint32_t f = o->flow->blocks[b].function, memory;
    uint8_t bits = 0;
    for (uint32_t w = bf_operands(in); w < in->count; w++)
        if (bf_word_is_id(m, in, w))
            bits |= o->value[bf_word(m, in, w)];
    switch (in->opcode) {
    case SpvOpLabel:
    case SpvOpVariable:
        return;
    case SpvOpLoad:
        if (is_opaque(m, in->type))
            break; /* what is in an image is another question */
        bits |= o->memory[bf_origin_memory(o, bf_word(m, in, 3))];
        bits |= o->unassigned[i] ? BF_ORIGIN_UNASSIGNED : 0;
        bits |= bf_word(m, in, 4) & SpvMemoryAccessVolatileMask ? FROM_ELSEWHERE : 0;
        break;
    case SpvOpStore:
        origin_add(o, &o->memory[bf_origin_memory(o, bf_word(m, in, 1))], bits | o->block[b]);
        return;
    case SpvOpAtomicStore:
        origin_add(o, &o->memory[bf_origin_memory(o, bf_word(m, in, 1))],
                   o->value[bf_word(m, in, 4)] | o->block[b]);
        return;
    case SpvOpCopyMemory:
        memory = bf_origin_memory(o, bf_word(m, in, 2));
        bits |= o->memory[memory] | o->block[b] | (o->unassigned[i] ? BF_ORIGIN_UNASSIGNED : 0);
        origin_add(o, &o->memory[bf_origin_memory(o, bf_word(m, in, 1))], bits);
        return;
    case SpvOpPhi:
        for (uint32_t w = 4; w < in->count; w += 2) {
            uint32_t from = o->flow->of_label[bf_word(m, in, w)];
            bits |= from ? o->block[from - 1] : 0;
        }
        break;
    case SpvOpFunctionCall:
        bits = origin_step_call(o, in, b);
        break;
    case SpvOpReturnValue:
        origin_add(o, &o->returned[f], bits | o->block[b]);
        return;
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpDemoteToHelperInvocation:
        origin_add(o, &o->ending[f], o->block[b]);
        return;
    case SpvOpUndef:
        bits = BF_ORIGIN_UNASSIGNED;
        break;
    case SpvOpVectorShuffle:
        for (uint32_t w = 5; w < in->count; w++)
            bits |= bf_word(m, in, w) == UINT32_MAX ? BF_ORIGIN_UNASSIGNED : 0; /* no component */
        break;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpArrayLength:
    case SpvOpImageTexelPointer:
    case SpvOpSampledImage:
    case SpvOpImage:
        break;
    case SpvOpExtInst:
        bits = library_origin(o, in, bits, b);
        break;
    case SpvOpImageWrite:
        return;
    default:
        if (moves(in->opcode))
            break;
        if (computes(in->opcode)) {
            const bool exact =
                bf_origin_converts(o, in) || (o->folded && bf_origin_takes_over(o, in));
            bits |= has_floats(m, in) && !exact ? BF_ORIGIN_FLOAT : 0;
        } else if (in->opcode >= SpvOpDPdx && in->opcode <= SpvOpFwidthCoarse) {
            bits |= BF_ORIGIN_FLOAT | BF_ORIGIN_DERIVATIVE | BF_ORIGIN_VARYING;
        } else if ((in->opcode >= SpvOpImageSampleImplicitLod &&
                    in->opcode <= SpvOpImageQuerySamples) ||
                   (in->opcode >= SpvOpImageSparseSampleImplicitLod &&
                    in->opcode <= SpvOpImageSparseRead)) {
            bits |= image_origin(o, in);
        } else if (bf_opcode_is_subgroup(in->opcode)) {
            bits |= BF_ORIGIN_SUBGROUP | BF_ORIGIN_VARYING;
        } else if (bf_opcode_is_atomic(in->opcode)) {
            memory = bf_origin_memory(o, bf_word(m, in, 3));
            if (in->opcode != SpvOpAtomicLoad)
                origin_add(o, &o->memory[memory], bits | o->block[b]);
            bits |= FROM_ELSEWHERE | (o->memory[memory] & (BF_ORIGIN_FLOAT | BF_ORIGIN_TOUCHED));
        } else {
            bits = BF_ORIGIN_ANY;
        }
        break;
    }
    if (in->result && o->folded && o->folded[in->result])
        bits |= BF_ORIGIN_FOLDED;
    /* Where it decides whether floats become integers, or are compared, these count, too. */
    const bool alone = is_float(m, in->result) || bf_origin_takes_over(o, in);
    const uint8_t folded = bits | (alone ? 0 : o->block[b]);
    if (in->result && o->folded && (folded & BF_ORIGIN_FOLDED) && has_floats(m, in))
        bits |= BF_ORIGIN_TOUCHED;
    if (in->result)
        origin_add(o, &o->value[in->result], bits);
}

/* ----------------------------------------------------------------------------------- Control -- */

/* What runs only on one side of the branch at the block's end is decided by it. */
static void branch_step(struct bf_origins *o, uint32_t b)
{
    const struct bf_flow *flow = o->flow;
    const struct bf_block *block = &flow->blocks[b];
    const struct bf_instruction *end = &flow->m->instructions[block->last];
    uint8_t bits = o->block[b];
    if (end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch) {
        const uint8_t by = o->value[bf_word(flow->m, end, 1)];
        bits |= by;
        if (o->folded && (by & BF_ORIGIN_FLOAT) && (o->block[b] & BF_ORIGIN_FOLDED))
            bits |= BF_ORIGIN_TOUCHED;
    }
    for (uint32_t s = 0; s < block->successor_count; s++) {
        origin_add(o, &o->after[block->successors[s]], o->after[b]);
        if (block->successor_count < 2)
            continue;
        for (uint32_t at = block->successors[s]; at != BF_NO_BLOCK && at != block->post_dominator;
             at = flow->blocks[at].post_dominator)
            origin_add(o, &o->block[at], bits);
    }
}

bool bf_origins_find(struct bf_origins *o, const struct bf_flow *flow, struct bf_arena *arena,
                     VkShaderStageFlagBits stage, const struct bf_dry_run_stages *stages,
                     const bool *folded)
{
    const struct bf_module *m = flow->m;
    *o = (struct bf_origins){
        .flow = flow,
        .folded = folded,
        .value = bf_arena_zeroed(arena, m->bound),
        .memory = bf_arena_zeroed(arena, m->bound),
        .written = bf_arena_zeroed(arena, m->bound * sizeof(bool)),
        .unfinished = bf_arena_zeroed(arena, m->bound * sizeof(bool)),
        .base = bf_arena_zeroed(arena, m->bound * sizeof(uint32_t)),
        .same = bf_arena_zeroed(arena, m->bound * sizeof(uint32_t)),
        .block = bf_arena_zeroed(arena, flow->count + 1),
        .after = bf_arena_zeroed(arena, flow->count + 1),
        .function = bf_arena_zeroed(arena, m->function_count + 1),
        .returned = bf_arena_zeroed(arena, m->function_count + 1),
        .ending = bf_arena_zeroed(arena, m->function_count + 1),
        .unassigned = bf_arena_zeroed(arena, m->instruction_count + 1),
    };
    if (arena->failed)
        return false;
    o->memory[0] = BF_ORIGIN_ANY;
    if (!bases_find(o, arena))
        return false;
    writes_find(o);
    writes_find_elsewhere(o, stages);
    if (!bf_unassigned_find(o, arena))
        return false;
    for (uint32_t i = 0; i < m->instruction_count && m->instructions[i].opcode != SpvOpFunction;
         i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->result && (in->opcode == SpvOpUndef || bf_opcode_is_constant(in->opcode)))
            o->value[in->result] = constant_origin(o, in);
    }
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpVariable)
            o->memory[bf_origin_memory(o, in->result)] |=
                variable_origin(o, in, stage, stages) | o->value[bf_word(m, in, 4)];
    }
    do {
        o->changed = false;
        for (uint32_t n = 0; n < flow->ordered_first[m->function_count]; n++) {
            uint32_t b = flow->ordered[n];
            origin_add(o, &o->block[b], o->function[flow->blocks[b].function] | o->after[b]);
            for (uint32_t i = flow->blocks[b].first; i <= flow->blocks[b].last; i++)
                step(o, i, b);
            branch_step(o, b);
        }
        for (uint32_t f = 0; f < m->function_count; f++)
            for (uint32_t n = flow->ordered_first[f]; n < flow->ordered_first[f + 1]; n++)
                origin_add(o, &o->ending[f], o->after[flow->ordered[n]]);
    } while (o->changed);
    return true;
}

uint8_t bf_origins_handed(const struct bf_origins *o)
{
    const struct bf_module *m = o->flow->m;
    uint8_t bits = 0;
    for (uint32_t i = 0; i < m->instruction_count && m->instructions[i].opcode != SpvOpFunction;
         i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode == SpvOpVariable && bf_word(m, in, 3) == SpvStorageClassOutput &&
            pointee(m, in)->has_integers)
            bits |= o->memory[bf_origin_memory(o, in->result)] |
                    (o->unfinished[in->result] ? BF_ORIGIN_UNASSIGNED : 0);
    }
    return bits;
}
