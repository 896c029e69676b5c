/* SPDX-License-Identifier: MIT */
/* Constants of a module, as the program specializes them: evaluated once, in the order in which
 * they are declared, in which operands come first. */
#include "specialize/shader/module.h"

#include <stdlib.h>
#include <string.h>

/* The bytes with which the program specializes a constant; false: it doesn't. */
static bool specialized(const struct bf_module *m, const struct bf_instruction *in, uint32_t width,
                        uint64_t *value)
{
    const VkSpecializationInfo *info = m->specialization;
    const struct bf_id *id = &m->ids[in->result];
    if (!info || !id->has_spec_id)
        return false;
    for (uint32_t i = 0; i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        if (entry->constantID != id->spec_id || entry->size != width ||
            entry->offset > info->dataSize || entry->size > info->dataSize - entry->offset)
            continue;
        *value = 0;
        memcpy(value, (const char *)info->pData + entry->offset, entry->size);
        return true;
    }
    return false;
}

/* A boolean or an integer of 32 bits: of others the upper bits mean something else. */
static bool is_plain(const struct bf_module *m, uint32_t type_id)
{
    const struct bf_instruction *type = bf_definition(m, type_id);
    struct bf_shape shape;
    return (type && type->opcode == SpvOpTypeBool) ||
           (bf_shape(m, type_id, &shape) && shape.number != BF_NUMBER_FLOAT && shape.width == 4 &&
            shape.components == 1);
}

/* Evaluates operations on 32-bit integers; others are left alone. */
static bool operation(const struct bf_module *m, const struct bf_instruction *in, uint64_t *value)
{
    uint64_t operand[3] = {0};
    uint32_t count = in->count - 4u;
    if (in->count < 5 || count > 3 || !is_plain(m, in->type))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t id = bf_word(m, in, 4 + i);
        const struct bf_instruction *given = bf_definition(m, id);
        if (!given || !is_plain(m, given->type) || !bf_constant(m, id, &operand[i]))
            return false;
    }
    uint32_t a = (uint32_t)operand[0], b = (uint32_t)operand[1];
    int32_t sa, sb;
    memcpy(&sa, &a, 4);
    memcpy(&sb, &b, 4);
    uint32_t opcode = bf_word(m, in, 3), r;
    if (count == 3) {
        if (opcode != SpvOpSelect)
            return false;
        *value = operand[0] ? operand[1] : operand[2];
        return true;
    }
    if (count == 1) {
        switch (opcode) {
        case SpvOpSNegate:
            r = 0 - a;
            break;
        case SpvOpNot:
            r = ~a;
            break;
        case SpvOpLogicalNot:
            r = !a;
            break;
        default:
            return false;
        }
        *value = r;
        return true;
    }
    switch (opcode) {
    case SpvOpIAdd:
        r = a + b;
        break;
    case SpvOpISub:
        r = a - b;
        break;
    case SpvOpIMul:
        r = a * b;
        break;
    case SpvOpUDiv:
    case SpvOpUMod:
        if (!b)
            return false;
        r = opcode == SpvOpUDiv ? a / b : a % b;
        break;
    case SpvOpSDiv:
        if (sa < 0 || sb <= 0)
            return false;
        r = (uint32_t)(sa / sb);
        break;
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
        if (b > 31)
            return false;
        r = opcode == SpvOpShiftLeftLogical ? a << b : a >> b;
        break;
    case SpvOpBitwiseAnd:
    case SpvOpLogicalAnd:
        r = a & b;
        break;
    case SpvOpBitwiseOr:
    case SpvOpLogicalOr:
        r = a | b;
        break;
    case SpvOpBitwiseXor:
        r = a ^ b;
        break;
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        r = a == b;
        break;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        r = a != b;
        break;
    case SpvOpULessThan:
        r = a < b;
        break;
    case SpvOpULessThanEqual:
        r = a <= b;
        break;
    case SpvOpUGreaterThan:
        r = a > b;
        break;
    case SpvOpUGreaterThanEqual:
        r = a >= b;
        break;
    case SpvOpSLessThan:
        r = sa < sb;
        break;
    case SpvOpSLessThanEqual:
        r = sa <= sb;
        break;
    case SpvOpSGreaterThan:
        r = sa > sb;
        break;
    case SpvOpSGreaterThanEqual:
        r = sa >= sb;
        break;
    default:
        return false;
    }
    *value = r;
    return true;
}

/* Its operands have been evaluated. */
static bool evaluate(const struct bf_module *m, const struct bf_instruction *in, uint64_t *value)
{
    uint64_t given;
    struct bf_shape shape;
    switch (in->opcode) {
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        *value = in->opcode == SpvOpConstantTrue;
        return true;
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse:
        *value = specialized(m, in, 4, &given) ? given != 0 : in->opcode == SpvOpSpecConstantTrue;
        return true;
    case SpvOpConstantNull:
        *value = 0;
        return bf_shape(m, in->type, &shape) && shape.components == 1;
    case SpvOpConstant:
    case SpvOpSpecConstant:
        if (!bf_shape(m, in->type, &shape) || shape.components != 1 ||
            in->count < 4u + (shape.width == 8))
            return false;
        if (in->opcode == SpvOpSpecConstant && specialized(m, in, shape.width, value))
            return true;
        *value = bf_word(m, in, 3);
        if (shape.width == 8)
            *value |= (uint64_t)bf_word(m, in, 4) << 32;
        else if (shape.width < 4)
            *value &= (1u << (8 * shape.width)) - 1;
        return true;
    case SpvOpSpecConstantOp:
        return operation(m, in, value);
    default:
        return false;
    }
}

bool bf_constants_find(struct bf_module *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += bf_opcode_is_constant(m->instructions[i].opcode);
    m->constants = malloc((count + 1) * sizeof(*m->constants));
    if (!m->constants)
        return false;
    count = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (bf_opcode_is_constant(in->opcode) && evaluate(m, in, &m->constants[count]))
            m->ids[in->result].constant = ++count;
    }
    return true;
}

bool bf_constant(const struct bf_module *m, uint32_t id, uint64_t *value)
{
    if (id >= m->bound || !m->ids[id].constant)
        return false;
    *value = m->constants[m->ids[id].constant - 1];
    return true;
}
