/* SPDX-License-Identifier: MIT */
/* Which integers the shaders of a request ask for. [CK-23] */
#include "specialize/isolate/helper_names.h"

#include <string.h>

#include <spirv/unified1/spirv.h>

#include "specialize/isolate/helper_check.h"

struct names {
    uint32_t *values; /* BF_WIRE_NAMED */
    uint32_t count;
    uint32_t compared[256]; /* ids */
    uint32_t compared_count;
};

/* Of either sign: floats aren't so small, as bits. */
static bool is_small(uint32_t value)
{
    return (value > 1 && value <= UINT16_MAX) || value >= UINT32_MAX - UINT16_MAX;
}

static void named_add(struct names *n, uint32_t value)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (n->values[i] == value)
            return;
    if (is_small(value) && n->count < BF_WIRE_NAMED)
        n->values[n->count++] = value;
}

static void compared_add(struct names *n, uint32_t id)
{
    if (n->compared_count < sizeof(n->compared) / sizeof(n->compared[0]))
        n->compared[n->compared_count++] = id;
}

/* The length of an instruction; 0: there is none. */
static uint32_t length_of(const uint32_t *in, const uint32_t *end)
{
    return in < end && *in >> 16 <= (size_t)(end - in) ? *in >> 16 : 0;
}

/* What selects a case, and constants that are compared with. */
static void named_read(struct names *n, const struct bf_build_code *code)
{
    const uint32_t *const begin = code->words + 5, *const end = code->words + code->size / 4;
    uint32_t length;
    n->compared_count = 0;
    for (const uint32_t *in = begin; (length = length_of(in, end)); in += length) {
        const uint32_t opcode = *in & 0xffff;
        for (uint32_t w = 3; w < 5 && w < length; w++)
            if (opcode >= SpvOpIEqual && opcode <= SpvOpSLessThanEqual)
                compared_add(n, in[w]);
        for (uint32_t w = 3; opcode == SpvOpSwitch && w < length; w += 2)
            named_add(n, in[w]);
    }
    for (const uint32_t *in = begin; (length = length_of(in, end)); in += length)
        for (uint32_t i = 0; *in == (4u << 16 | SpvOpConstant) && i < n->compared_count; i++)
            if (n->compared[i] == in[2])
                named_add(n, in[3]);
}

uint32_t helper_names_find(struct bf_wire_check *wanted)
{
    const struct bf_wire_build *general = &wanted->builds[0];
    struct names n = {.values = wanted->named};
    for (uint32_t i = 0; i < BF_CHECK_PUSH_BYTES / 4; i++) {
        uint32_t value;
        memcpy(&value, wanted->push + 4 * i, 4);
        if (wanted->fixed >> i & 1)
            named_add(&n, value);
    }
    for (uint32_t i = 0; i < helper_stage_count(general); i++)
        named_read(&n, &general->code[i]);
    return n.count;
}
