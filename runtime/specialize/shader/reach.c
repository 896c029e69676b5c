/* SPDX-License-Identifier: MIT */
/*
 * What becomes of values. Each id, and each memory, gathers what its users do with it: backwards,
 * until nothing more is found. Memory is one for all pointers that may point to the same variable;
 * all that lies outside the invocation is one. What a module declares for no user, or anything that
 * isn't known, counts as use of the worst kind.
 *
 * Where a value is a constant once the push constants are ('varying' is false) and reaches what
 * exact mode excludes, the conditions that choose among its values matter as much as the values.
 */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>

#define EXTERNAL 0 /* no id */

/* An operation that exact mode excludes; 'add' takes the second from what varies. */
#define SINK (BF_USE_INEXACT | BF_USE_CONSTANT_INEXACT)

/* A selection or a loop: from its header to its merge block. */
struct construct {
    uint32_t header, merge; /* instructions: the branch or OpLoopMerge, the label */
    uint32_t end;           /* the last label that something inside of it jumps to, or 'merge' */
    uint32_t condition;     /* id; 0: a loop */
    uint32_t merge_id;
    bool done; /* its conditions have been told: once is enough */
};

struct walk {
    struct bf_module *m;
    struct construct *constructs;
    uint32_t construct_count;
    bool changed;
    uint64_t work; /* instructions and conditions that were looked at */
};

/* A shader of a game has some ten thousand, this much takes less than half a second. What is made
 * for it could take hours: each value may have to do with each condition, in each of many rounds.
 * [SF-5] */
#define MOST_WORK (UINT64_C(1) << 27)

/* Whether there is so much work left; counts it. */
static bool walk_goes_on(struct walk *walk, uint64_t work)
{
    walk->work += work;
    return walk->work <= MOST_WORK;
}

uint32_t bf_module_memory(struct bf_module *m, uint32_t id)
{
    while (m->ids[id].alias) {
        uint32_t next = m->ids[id].alias - 1;
        if (m->ids[next].alias)
            m->ids[id].alias = m->ids[next].alias;
        id = next;
    }
    return id;
}

static void reach_unite(struct bf_module *m, uint32_t a, uint32_t b)
{
    a = bf_module_memory(m, a);
    b = bf_module_memory(m, b);
    /* The outside stays what it is. */
    if (a == b)
        return;
    if (a == EXTERNAL)
        m->ids[b].alias = a + 1;
    else
        m->ids[a].alias = b + 1;
}

static const struct bf_instruction *pointer_type(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && type->opcode == SpvOpTypePointer ? type : NULL;
}

static void pointers_unite(struct bf_module *m)
{
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const struct bf_instruction *type = in->result ? pointer_type(m, in->result) : NULL;
        if (!type)
            continue;
        switch (bf_word(m, type, 2)) {
        case SpvStorageClassFunction:
        case SpvStorageClassPrivate:
        case SpvStorageClassWorkgroup:
        case SpvStorageClassInput:
        case SpvStorageClassOutput:
        case SpvStorageClassPushConstant:
            break;
        default:
            reach_unite(m, in->result, EXTERNAL);
            break;
        }
        for (uint32_t w = bf_operands(in); w < in->count; w++) {
            uint32_t id = bf_word(m, in, w);
            if (bf_word_is_id(m, in, w) && pointer_type(m, id))
                reach_unite(m, in->result, id);
        }
    }
}

/* Pairs arguments with parameters: pointers once, values in each round. */
static bool call_each(struct bf_module *m, const struct bf_instruction *call,
                      bool (*visit)(struct bf_module *m, uint32_t argument, uint32_t parameter))
{
    bool changed = false;
    for (struct bf_call_pair pair = {0}; bf_call_next(m, call, &pair);)
        changed |= visit(m, pair.argument, pair.parameter);
    return changed;
}

static bool call_pointer(struct bf_module *m, uint32_t argument, uint32_t parameter)
{
    if (pointer_type(m, argument))
        reach_unite(m, argument, parameter);
    return false;
}

void bf_module_alias(struct bf_module *m)
{
    pointers_unite(m);
    for (uint32_t f = 0; f < m->function_count; f++) {
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++)
            if (m->instructions[i].opcode == SpvOpFunctionCall)
                call_each(m, &m->instructions[i], call_pointer);
    }
}

/* ----------------------------------------------------------------------------------- Varying -- */

static bool call_varying(struct bf_module *m, uint32_t argument, uint32_t parameter)
{
    if (!m->ids[argument].varying || m->ids[parameter].varying)
        return false;
    return m->ids[parameter].varying = true;
}

/* What no folding makes constant. */
static bool source_varies(uint16_t opcode)
{
    if (opcode >= SpvOpSampledImage && opcode <= SpvOpImageQuerySamples)
        return true;
    if (bf_opcode_is_atomic(opcode))
        return true;
    if (opcode >= SpvOpImageSparseSampleImplicitLod && opcode <= SpvOpImageSparseRead)
        return true;
    if (opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap)
        return true;
    return false;
}

static void varying_find(struct walk *walk)
{
    struct bf_module *m = walk->m;
    m->ids[EXTERNAL].memory_varying = true;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode != SpvOpVariable)
            continue;
        uint32_t storage = bf_word(m, in, 3);
        if (storage == SpvStorageClassInput || storage == SpvStorageClassWorkgroup)
            m->ids[bf_module_memory(m, in->result)].memory_varying = true;
    }
    do {
        walk->changed = false;
        for (uint32_t f = 0; f < m->function_count; f++) {
            for (uint32_t i = m->functions[f].first;
                 m->functions[f].reached && i < m->functions[f].end; i++) {
                const struct bf_instruction *in = &m->instructions[i];
                bool any = false;
                for (uint32_t w = bf_operands(in); w < in->count && !any; w++)
                    any = bf_word_is_id(m, in, w) && m->ids[bf_word(m, in, w)].varying;
                switch (in->opcode) {
                case SpvOpLoad:
                    any |= m->ids[bf_module_memory(m, bf_word(m, in, 3))].memory_varying;
                    break;
                case SpvOpStore:
                case SpvOpCopyMemory:
                case SpvOpExtInst: /* some write through a pointer */
                case SpvOpFunctionCall:
                    if (in->opcode == SpvOpFunctionCall) {
                        walk->changed |= call_each(m, in, call_varying);
                        any = m->ids[bf_word(m, in, 3)].varying;
                    } else if (in->opcode == SpvOpCopyMemory) {
                        any |= m->ids[bf_module_memory(m, bf_word(m, in, 2))].memory_varying;
                    }
                    if (in->opcode == SpvOpExtInst && m->ids[bf_word(m, in, 3)].non_semantic)
                        any = false;
                    for (uint32_t w = bf_operands(in);
                         any && in->opcode != SpvOpFunctionCall && w < in->count; w++) {
                        uint32_t id = bf_word(m, in, w);
                        if (!bf_word_is_id(m, in, w) || !pointer_type(m, id))
                            continue;
                        struct bf_id *to = &m->ids[bf_module_memory(m, id)];
                        walk->changed |= !to->memory_varying;
                        to->memory_varying = true;
                    }
                    break;
                case SpvOpReturnValue:
                    walk->changed |= any && !m->ids[m->functions[f].id].varying;
                    m->ids[m->functions[f].id].varying |= any;
                    break;
                default:
                    any |= source_varies(in->opcode);
                    break;
                }
                if (in->result && any && !m->ids[in->result].varying && in->opcode != SpvOpFunction)
                    walk->changed = m->ids[in->result].varying = true;
            }
        }
    } while (walk->changed && walk_goes_on(walk, m->instruction_count));
}

/* -------------------------------------------------------------------------------------- Uses -- */

/* What folding makes no constant is no index, stride or decision either, whatever it is used for;
 * but of a comparison with such a value the other side hears what is decided. */
static uint32_t varying_uses(const struct bf_module *m, uint32_t id, uint32_t uses)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    uses &= ~(BF_USE_CONSTANT_INEXACT | BF_USE_ALONE | BF_USE_INDEX | BF_USE_STRIDE);
    if (!type || type->opcode != SpvOpTypeBool)
        uses &= ~(uint32_t)(BF_USE_LOOP | BF_USE_SWITCH | BF_USE_BRANCH | BF_USE_SELECT);
    return uses;
}

static void reach_push(struct walk *walk, uint32_t id, uint32_t uses)
{
    struct bf_id *to = &walk->m->ids[id];
    if (to->varying)
        uses = varying_uses(walk->m, id, uses);
    if (uses & ~(uint32_t)to->uses) {
        to->uses |= (uint16_t)uses;
        walk->changed = true;
    }
}

static void memory_add(struct walk *walk, uint32_t pointer, uint32_t uses)
{
    struct bf_id *to = &walk->m->ids[bf_module_memory(walk->m, pointer)];
    if (to->memory_varying)
        uses = varying_uses(walk->m, EXTERNAL, uses);
    if (uses & ~(uint32_t)to->memory_uses) {
        to->memory_uses |= (uint16_t)uses;
        walk->changed = true;
    }
}

static uint32_t memory_uses(const struct walk *walk, uint32_t pointer)
{
    return walk->m->ids[bf_module_memory(walk->m, pointer)].memory_uses;
}

static void add_operands(struct walk *walk, const struct bf_instruction *in, uint32_t from,
                         uint32_t uses)
{
    for (uint32_t w = from; w < in->count; w++)
        if (bf_word_is_id(walk->m, in, w))
            reach_push(walk, bf_word(walk->m, in, w), uses);
}

/* Nobody knows what it does. */
static void add_unknown(struct walk *walk, const struct bf_instruction *in, uint32_t from)
{
    add_operands(walk, in, from, SINK);
    for (uint32_t w = from; w < in->count; w++)
        if (bf_word_is_id(walk->m, in, w) && pointer_type(walk->m, bf_word(walk->m, in, w)))
            memory_add(walk, bf_word(walk->m, in, w), SINK);
}

/* See the list in shader.h. */
bool bf_library_exact(uint32_t function)
{
    switch (function) {
    case GLSLstd450RoundEven:
    case GLSLstd450Trunc:
    case GLSLstd450FAbs:
    case GLSLstd450SAbs:
    case GLSLstd450FSign:
    case GLSLstd450SSign:
    case GLSLstd450Floor:
    case GLSLstd450Ceil:
    case GLSLstd450FMin:
    case GLSLstd450UMin:
    case GLSLstd450SMin:
    case GLSLstd450FMax:
    case GLSLstd450UMax:
    case GLSLstd450SMax:
    case GLSLstd450FClamp:
    case GLSLstd450UClamp:
    case GLSLstd450SClamp:
    case GLSLstd450NMin:
    case GLSLstd450NMax:
    case GLSLstd450NClamp:
    case GLSLstd450Step:
    case GLSLstd450FindILsb:
    case GLSLstd450FindSMsb:
    case GLSLstd450FindUMsb:
        return true;
    default:
        return false;
    }
}

bool bf_narrows(const struct bf_module *m, const struct bf_instruction *in)
{
    struct bf_shape to, from;
    const struct bf_instruction *type = bf_value_type(m, bf_word(m, in, 3));
    return !type || !bf_shape(m, in->type, &to) || !bf_shape(m, type->result, &from) ||
           to.width < from.width;
}

static void call_uses(struct walk *walk, const struct bf_instruction *call)
{
    struct bf_module *m = walk->m;
    const uint32_t f = bf_function_find(m, bf_word(m, call, 3));
    struct bf_call_pair pair = {0};
    if (f == UINT32_MAX) {
        add_unknown(walk, call, 4);
        return;
    }
    reach_push(walk, m->functions[f].id, m->ids[call->result].uses);
    while (bf_call_next(m, call, &pair))
        reach_push(walk, pair.argument, m->ids[pair.parameter].uses);
    /* More arguments than parameters: not a module that means anything. */
    for (uint32_t w = pair.word; w < call->count; w++)
        if (bf_word_is_id(m, call, w))
            reach_push(walk, bf_word(m, call, w), SINK);
}

static void image_uses(struct walk *walk, const struct bf_instruction *in)
{
    struct bf_module *m = walk->m;
    switch (in->opcode) {
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleDrefImplicitLod:
    case SpvOpImageSampleProjImplicitLod:
    case SpvOpImageSampleProjDrefImplicitLod:
    case SpvOpImageSparseSampleImplicitLod:
    case SpvOpImageSparseSampleDrefImplicitLod:
    case SpvOpImageQueryLod:
        add_operands(walk, in, 4, SINK);
        break;
    case SpvOpImageWrite:
        reach_push(walk, bf_word(m, in, 2), BF_USE_INDEX);
        reach_push(walk, bf_word(m, in, 3), memory_uses(walk, EXTERNAL));
        add_operands(walk, in, 4, BF_USE_INDEX);
        break;
    default:
        /* A texel can't be known beforehand, wherever it lies. */
        add_operands(walk, in, 4, BF_USE_INDEX);
        break;
    }
}

static void reach_step(struct walk *walk, uint32_t function, const struct bf_instruction *in)
{
    struct bf_module *m = walk->m;
    uint32_t uses = in->result ? m->ids[in->result].uses : 0, from = bf_operands(in);
    switch (in->opcode) {
    case SpvOpNop:
    case SpvOpUndef:
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpVariable:
    case SpvOpLabel:
    case SpvOpBranch:
    case SpvOpLoopMerge:
    case SpvOpSelectionMerge:
    case SpvOpReturn:
    case SpvOpKill:
    case SpvOpUnreachable:
    case SpvOpTerminateInvocation:
    case SpvOpDemoteToHelperInvocation:
    case SpvOpIsHelperInvocationEXT:
    case SpvOpEmitVertex:
    case SpvOpEndPrimitive:
    case SpvOpEmitStreamVertex:
    case SpvOpEndStreamPrimitive:
    case SpvOpControlBarrier:
    case SpvOpMemoryBarrier:
    case SpvOpArrayLength:
    case SpvOpImageQuerySize:
    case SpvOpImageQueryLevels:
    case SpvOpImageQuerySamples:
    case SpvOpSampledImage:
    case SpvOpImage:
        break;

    case SpvOpLoad:
        memory_add(walk, bf_word(m, in, 3), uses);
        break;
    case SpvOpStore:
        reach_push(walk, bf_word(m, in, 2), memory_uses(walk, bf_word(m, in, 1)));
        break;
    case SpvOpCopyMemory:
        memory_add(walk, bf_word(m, in, 2), memory_uses(walk, bf_word(m, in, 1)));
        break;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpPtrAccessChain:
    case SpvOpInBoundsPtrAccessChain: {
        /* A table of constants: the index decides. */
        uint32_t table = memory_uses(walk, in->result) & BF_USE_CONSTANT_INEXACT;
        for (uint32_t w = 4; w < in->count; w++) {
            uint32_t id = bf_word(m, in, w);
            reach_push(walk, id,
                       BF_USE_INDEX | (table && !m->ids[id].varying ? SINK | BF_USE_CONTROLS : 0));
        }
        break;
    }
    case SpvOpImageTexelPointer:
        add_operands(walk, in, 4, BF_USE_INDEX);
        break;

    case SpvOpSelect:
        reach_push(walk, bf_word(m, in, 3), uses | BF_USE_SELECT | BF_USE_ALONE);
        reach_push(walk, bf_word(m, in, 4), uses);
        reach_push(walk, bf_word(m, in, 5), uses);
        break;
    case SpvOpPhi:
        for (uint32_t w = 3; w < in->count; w += 2)
            reach_push(walk, bf_word(m, in, w), uses);
        break;
    case SpvOpBranchConditional:
        reach_push(walk, bf_word(m, in, 1),
                   BF_USE_ALONE |
                       (m->ids[bf_word(m, in, 2)].loop_end || m->ids[bf_word(m, in, 3)].loop_end
                            ? BF_USE_LOOP
                            : BF_USE_BRANCH));
        break;
    case SpvOpSwitch:
        reach_push(walk, bf_word(m, in, 1), BF_USE_SWITCH | BF_USE_ALONE);
        break;
    case SpvOpFunctionCall:
        call_uses(walk, in);
        break;
    case SpvOpReturnValue:
        reach_push(walk, bf_word(m, in, 1), m->ids[function].uses);
        break;

    case SpvOpCopyObject:
    case SpvOpCopyLogical:
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
    case SpvOpVectorShuffle:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpTranspose:
    case SpvOpConvertFToU:
    case SpvOpConvertFToS:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpUConvert:
    case SpvOpSConvert:
    case SpvOpSNegate:
    case SpvOpFNegate:
    case SpvOpIAdd:
    case SpvOpFAdd:
    case SpvOpISub:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
    case SpvOpDot:
    case SpvOpIAddCarry:
    case SpvOpISubBorrow:
    case SpvOpSDotKHR:
    case SpvOpUDotKHR:
    case SpvOpSUDotKHR:
    case SpvOpSDotAccSatKHR:
    case SpvOpUDotAccSatKHR:
    case SpvOpSUDotAccSatKHR:
    case SpvOpAny:
    case SpvOpAll:
    case SpvOpIsNan:
    case SpvOpIsInf:
    case SpvOpLogicalEqual:
    case SpvOpLogicalNotEqual:
    case SpvOpLogicalOr:
    case SpvOpLogicalAnd:
    case SpvOpLogicalNot:
    case SpvOpIEqual:
    case SpvOpINotEqual:
    case SpvOpUGreaterThan:
    case SpvOpSGreaterThan:
    case SpvOpUGreaterThanEqual:
    case SpvOpSGreaterThanEqual:
    case SpvOpULessThan:
    case SpvOpSLessThan:
    case SpvOpULessThanEqual:
    case SpvOpSLessThanEqual:
    case SpvOpFOrdEqual:
    case SpvOpFUnordEqual:
    case SpvOpFOrdNotEqual:
    case SpvOpFUnordNotEqual:
    case SpvOpFOrdLessThan:
    case SpvOpFUnordLessThan:
    case SpvOpFOrdGreaterThan:
    case SpvOpFUnordGreaterThan:
    case SpvOpFOrdLessThanEqual:
    case SpvOpFUnordLessThanEqual:
    case SpvOpFOrdGreaterThanEqual:
    case SpvOpFUnordGreaterThanEqual:
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
    case SpvOpBitwiseAnd:
    case SpvOpNot:
    case SpvOpBitReverse:
    case SpvOpBitCount:
    case SpvOpGroupNonUniformElect:
    case SpvOpGroupNonUniformAll:
    case SpvOpGroupNonUniformAny:
    case SpvOpGroupNonUniformAllEqual:
    case SpvOpGroupNonUniformBroadcast:
    case SpvOpGroupNonUniformBroadcastFirst:
    case SpvOpGroupNonUniformBallot:
    case SpvOpGroupNonUniformInverseBallot:
    case SpvOpGroupNonUniformBallotBitExtract:
    case SpvOpGroupNonUniformBallotBitCount:
    case SpvOpGroupNonUniformBallotFindLSB:
    case SpvOpGroupNonUniformBallotFindMSB:
    case SpvOpGroupNonUniformShuffle:
    case SpvOpGroupNonUniformShuffleXor:
    case SpvOpGroupNonUniformShuffleUp:
    case SpvOpGroupNonUniformShuffleDown:
    case SpvOpGroupNonUniformIAdd:
    case SpvOpGroupNonUniformIMul:
    case SpvOpGroupNonUniformSMin:
    case SpvOpGroupNonUniformUMin:
    case SpvOpGroupNonUniformFMin:
    case SpvOpGroupNonUniformSMax:
    case SpvOpGroupNonUniformUMax:
    case SpvOpGroupNonUniformFMax:
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformBitwiseOr:
    case SpvOpGroupNonUniformBitwiseXor:
    case SpvOpGroupNonUniformLogicalAnd:
    case SpvOpGroupNonUniformLogicalOr:
    case SpvOpGroupNonUniformLogicalXor:
    case SpvOpGroupNonUniformQuadBroadcast:
    case SpvOpGroupNonUniformQuadSwap:
    case SpvOpSubgroupBallotKHR:
    case SpvOpSubgroupFirstInvocationKHR:
    case SpvOpSubgroupAllKHR:
    case SpvOpSubgroupAnyKHR:
    case SpvOpSubgroupAllEqualKHR:
    case SpvOpSubgroupReadInvocationKHR:
    case SpvOpImageSparseTexelsResident:
        add_operands(walk, in, from, uses);
        break;

    case SpvOpIMul:
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSRem:
    case SpvOpSMod:
    case SpvOpUMulExtended:
    case SpvOpSMulExtended:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
    case SpvOpShiftLeftLogical:
    case SpvOpBitFieldInsert:
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        add_operands(walk, in, from, uses | BF_USE_STRIDE);
        break;

    case SpvOpFConvert:
        add_operands(walk, in, from, uses | (bf_narrows(m, in) ? SINK : 0));
        break;
    case SpvOpBitcast:
        add_operands(walk, in, from, uses | (pointer_type(m, in->result) ? BF_USE_ADDRESS : 0));
        break;
    case SpvOpConvertUToPtr:
        add_operands(walk, in, from, BF_USE_ADDRESS);
        break;

    case SpvOpExtInst:
        if (m->glsl && bf_word(m, in, 3) == m->glsl) {
            bool exact = bf_library_exact(bf_word(m, in, 4));
            if (exact)
                add_operands(walk, in, 5, uses);
            else
                add_unknown(walk, in, 5);
            break;
        }
        if (!m->ids[bf_word(m, in, 3)].non_semantic)
            add_unknown(walk, in, 5);
        break;

    case SpvOpAtomicLoad:
        memory_add(walk, bf_word(m, in, 3), uses);
        break;
    case SpvOpAtomicStore:
        add_operands(walk, in, 4, memory_uses(walk, bf_word(m, in, 1)));
        break;
    case SpvOpAtomicExchange:
    case SpvOpAtomicCompareExchange:
    case SpvOpAtomicIIncrement:
    case SpvOpAtomicIDecrement:
    case SpvOpAtomicIAdd:
    case SpvOpAtomicISub:
    case SpvOpAtomicSMin:
    case SpvOpAtomicUMin:
    case SpvOpAtomicSMax:
    case SpvOpAtomicUMax:
    case SpvOpAtomicAnd:
    case SpvOpAtomicOr:
    case SpvOpAtomicXor:
        memory_add(walk, bf_word(m, in, 3), uses);
        add_operands(walk, in, 6, uses | memory_uses(walk, bf_word(m, in, 3)));
        break;

    default:
        if (in->opcode >= SpvOpImageSampleImplicitLod && in->opcode <= SpvOpImageQuerySamples)
            image_uses(walk, in);
        else if (in->opcode >= SpvOpImageSparseSampleImplicitLod &&
                 in->opcode <= SpvOpImageSparseRead)
            image_uses(walk, in);
        else
            /* Divisions and remainders of floats, derivatives, roundings, float reductions, and
             * whatever is new. */
            add_unknown(walk, in, from);
        break;
    }
}

/* ----------------------------------------------------------------------------------- Control -- */

static bool constructs_find(struct walk *walk)
{
    struct bf_module *m = walk->m;
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += m->instructions[i].opcode == SpvOpLoopMerge ||
                 m->instructions[i].opcode == SpvOpBranchConditional ||
                 m->instructions[i].opcode == SpvOpSwitch;
    walk->constructs = calloc(count + 1, sizeof(*walk->constructs));
    if (!walk->constructs)
        return false;
    for (uint32_t f = 0; f < m->function_count; f++) {
        uint32_t merge = 0; /* the id, of this block's merge instruction */
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++) {
            const struct bf_instruction *in = &m->instructions[i];
            struct construct *next = &walk->constructs[walk->construct_count];
            *next = (struct construct){.header = i, .merge = m->functions[f].end};
            switch (in->opcode) {
            case SpvOpLabel:
                merge = 0;
                break;
            case SpvOpSelectionMerge:
                merge = bf_word(m, in, 1);
                break;
            case SpvOpLoopMerge:
                merge = bf_word(m, in, 1);
                next->merge_id = merge;
                walk->construct_count++;
                break;
            case SpvOpBranchConditional:
            case SpvOpSwitch:
                next->condition = bf_word(m, in, 1);
                next->merge_id = merge;
                walk->construct_count++;
                break;
            default:
                break;
            }
        }
    }
    for (uint32_t c = 0; c < walk->construct_count; c++) {
        struct construct *each = &walk->constructs[c];
        uint32_t merge = each->merge_id ? m->ids[each->merge_id].definition : 0;
        if (merge && merge - 1 > each->header && merge - 1 < each->merge)
            each->merge = merge - 1;
    }
    /* A branch without a merge block of its own lasts as long as the innermost loop around it. */
    for (uint32_t c = 0; c < walk->construct_count; c++) {
        struct construct *each = &walk->constructs[c];
        if (each->merge_id || !walk_goes_on(walk, c))
            continue;
        for (uint32_t l = 0; l < c; l++) {
            const struct construct *loop = &walk->constructs[l];
            if (!loop->condition && loop->merge > each->header && loop->merge < each->merge)
                each->merge = loop->merge;
        }
    }
    for (uint32_t c = 0; c < walk->construct_count; c++) {
        struct construct *each = &walk->constructs[c];
        each->end = each->merge;
        if (!walk_goes_on(walk, each->merge - each->header))
            continue;
        for (uint32_t i = each->header; i < each->merge; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            if (in->opcode != SpvOpBranch && in->opcode != SpvOpBranchConditional &&
                in->opcode != SpvOpSwitch)
                continue;
            for (uint32_t w = 1; w < in->count; w++) {
                uint32_t target =
                    bf_word_is_id(m, in, w) ? m->ids[bf_word(m, in, w)].definition : 0;
                if (target && m->instructions[target - 1].opcode == SpvOpLabel &&
                    target - 1 > each->end)
                    each->end = target - 1;
            }
        }
    }
    return true;
}

static void control(struct walk *walk, const struct construct *by)
{
    if (!walk->m->ids[by->condition].varying)
        reach_push(walk, by->condition, SINK | BF_USE_CONTROLS);
}

/* Does a condition decide how often a loop that it lies in runs? Either it has the loop's end for a
 * target, or something between it and its own end has, or returns. */
static bool condition_leaves_loop(struct walk *walk, const struct construct *condition,
                                  const struct construct *loop)
{
    const struct bf_module *m = walk->m;
    if (!walk_goes_on(walk, condition->merge - condition->header))
        return false;
    for (uint32_t i = condition->header; i < condition->merge && i < loop->merge; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        switch (in->opcode) {
        case SpvOpReturn:
        case SpvOpReturnValue:
        case SpvOpKill:
        case SpvOpTerminateInvocation:
            return true;
        case SpvOpBranch:
        case SpvOpBranchConditional:
        case SpvOpSwitch:
            for (uint32_t w = 1; w < in->count; w++)
                if (bf_word_is_id(m, in, w) && bf_word(m, in, w) == loop->merge_id)
                    return true;
            break;
        default:
            break;
        }
    }
    return false;
}

/* The conditions that decide whether instruction i runs, how often, or from where it is come to. */
static void controls_add(struct walk *walk, const struct bf_function *function, uint32_t i)
{
    const struct bf_instruction *all = walk->m->instructions;
    if (!walk_goes_on(walk, walk->construct_count))
        return;
    /* A phi counts for the construct that its block ends, too. */
    uint32_t block = i;
    while (all[i].opcode == SpvOpPhi && block > function->first && all[block].opcode != SpvOpLabel)
        block--;
    for (uint32_t c = 0; c < walk->construct_count; c++) {
        struct construct *each = &walk->constructs[c];
        if (each->header < function->first || each->header > function->end)
            continue;
        bool before_end = i < each->end || block == each->end;
        if (each->condition) {
            if (i > each->header && before_end)
                control(walk, each);
            continue;
        }
        /* A loop's header holds its phis before the merge instruction. */
        uint32_t begin = each->header;
        while (begin > function->first && all[begin].opcode != SpvOpLabel)
            begin--;
        if (i < begin || !before_end || each->done ||
            !walk_goes_on(walk, walk->construct_count + each->header - begin))
            continue;
        each->done = true;
        for (uint32_t d = 0; d < walk->construct_count; d++) {
            const struct construct *inner = &walk->constructs[d];
            if (inner->condition && inner->header > begin && inner->header < each->merge &&
                condition_leaves_loop(walk, inner, each))
                control(walk, inner);
        }
    }
}

/* Does a pointer point into a variable of the function that it is used in? */
static bool is_local(const struct bf_module *m, uint32_t pointer)
{
    for (uint32_t depth = 0; depth < BF_MODULE_DEPTH; depth++) {
        const struct bf_instruction *in = bf_definition(m, pointer);
        if (in && in->opcode == SpvOpVariable)
            return bf_word(m, in, 3) == SpvStorageClassFunction;
        if (!in || (in->opcode != SpvOpAccessChain && in->opcode != SpvOpInBoundsAccessChain &&
                    in->opcode != SpvOpCopyObject))
            return false;
        pointer = bf_word(m, in, 3);
    }
    return false;
}

static void controls_find(struct walk *walk)
{
    struct bf_module *m = walk->m;
    for (uint32_t f = 0; f < m->function_count; f++) {
        const struct bf_function *function = &m->functions[f];
        for (uint32_t i = function->first; function->reached && i < function->end; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            if (in->opcode == SpvOpPhi) {
                if (m->ids[in->result].uses & BF_USE_CONSTANT_INEXACT)
                    controls_add(walk, function, i);
            } else if (in->opcode == SpvOpStore) {
                uint32_t pointer = bf_word(m, in, 1);
                if (!(memory_uses(walk, pointer) & BF_USE_CONSTANT_INEXACT))
                    continue;
                controls_add(walk, function, i);
                /* Seen from elsewhere: whoever calls this decides too. */
                if (!is_local(m, pointer) && walk_goes_on(walk, walk->construct_count))
                    for (uint32_t c = 0; c < walk->construct_count; c++)
                        if (walk->constructs[c].condition)
                            control(walk, &walk->constructs[c]);
            } else if (in->opcode == SpvOpReturnValue &&
                       (m->ids[function->id].uses & BF_USE_CONSTANT_INEXACT) &&
                       walk_goes_on(walk, walk->construct_count)) {
                for (uint32_t c = 0; c < walk->construct_count; c++)
                    if (walk->constructs[c].condition &&
                        walk->constructs[c].header > function->first &&
                        walk->constructs[c].header < function->end)
                        control(walk, &walk->constructs[c]);
            }
        }
    }
}

bool bf_module_follow(struct bf_module *m)
{
    struct walk walk = {.m = m};
    if (!constructs_find(&walk))
        return false;
    bf_module_alias(m);
    varying_find(&walk);
    do {
        walk.changed = false;
        for (uint32_t f = m->function_count; f-- > 0;) {
            if (!m->functions[f].reached)
                continue;
            for (uint32_t i = m->functions[f].end; i-- > m->functions[f].first;)
                reach_step(&walk, m->functions[f].id, &m->instructions[i]);
        }
        controls_find(&walk);
    } while (walk.changed && walk_goes_on(&walk, m->instruction_count));
    m->complex = walk.work > MOST_WORK;
    free(walk.constructs);
    return true;
}
