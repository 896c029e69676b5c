/* SPDX-License-Identifier: MIT */
/* Which points have to be come to: forwards from what was folded (origin.h), backwards from what
 * that has reached, and without what SPIRV-Tools finds dead. */
#include "specialize/dry_run/needed.h"

#include <stdlib.h>

#include "specialize/dry_run/left.h"
#include "specialize/dry_run/origin.h"

struct needed {
    const struct bf_module *m;
    struct bf_flow flow;
    struct bf_origins origins;
    bool *value;    /* [bound] floats that folding can touch, and integers that become such */
    bool *memory;   /* [bound] of variables: what they hold is read as such */
    bool *integers; /* [bound] the same of integers */
    bool *returned; /* [function_count] */
    bool *block;    /* [blocks] */
    bool *function; /* [function_count] there are such in it, or in what it calls */
    struct bf_left left;
    uint32_t *seen, *stack, stamp; /* [blocks] of searches */
    bool changed;
};

/* --------------------------------------------------------------------------------- Backwards -- */

static bool is_constant(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *in = bf_definition(m, id);
    return in && bf_opcode_is_constant(in->opcode);
}

static void mark(struct needed *n, bool *what)
{
    n->changed |= !*what;
    *what = true;
}

static void value_add(struct needed *n, uint32_t id)
{
    if (bf_value_has_floats(n->m, id))
        mark(n, &n->value[id]);
}

static bool is_made_of_floats(const struct needed *n, uint32_t id)
{
    return n->origins.value[id] & BF_ORIGIN_FLOAT;
}

/* Also an integer, of what a float is made, or a boolean that floats have made. A constant says
 * nothing of who uses it for what. */
static void number_add(struct needed *n, uint32_t id)
{
    const bool is_pointer = bf_pointer_storage(n->m, id) != SpvStorageClassMax;
    if (bf_value_has_floats(n->m, id) ||
        (bf_value_has_integers(n->m, id) && !is_constant(n->m, id)) ||
        (is_made_of_floats(n, id) && !is_pointer))
        mark(n, &n->value[id]);
}

/* What leaves a block that is decided over: an integer too, if floats have made it. */
static void leaving_add(struct needed *n, uint32_t id)
{
    if (is_made_of_floats(n, id))
        number_add(n, id);
    else
        value_add(n, id);
}

/* Whether there are but floats in it. */
static bool is_all_floats(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    struct bf_shape shape;
    while (type && type->opcode == SpvOpTypeMatrix)
        type = bf_definition(m, bf_word(m, type, 2));
    return type && bf_shape(m, type->result, &shape) && shape.number == BF_NUMBER_FLOAT;
}

/* Whether floats become what is none: bits, an integer, a comparison. Those that were only moved
 * become the same ones, wherever that is. */
static bool leaves_floats(const struct needed *n, const struct bf_instruction *in)
{
    const struct bf_module *m = n->m;
    bool floats = false;
    if (!in->result || bf_value_has_floats(m, in->result) || bf_origin_takes_over(&n->origins, in))
        return false;
    for (uint32_t w = bf_operands(in); w < in->count && !floats; w++)
        floats = bf_word_is_id(m, in, w) && bf_value_has_floats(m, bf_word(m, in, w)) &&
                 bf_pointer_storage(m, bf_word(m, in, w)) == SpvStorageClassMax;
    return floats;
}

/* What is read of it; whatever has been stored there flows into that. */
static void needed_memory_add(struct needed *n, uint32_t pointer, bool floats, bool integers)
{
    uint32_t variable = bf_origin_memory(&n->origins, pointer);
    if (floats)
        mark(n, &n->memory[variable]);
    if (integers)
        mark(n, &n->integers[variable]);
}

/* Whether what folding touches, or what was made of it, may lie there. */
static bool memory_touched(const struct needed *n, uint32_t pointer)
{
    return n->origins.memory[bf_origin_memory(&n->origins, pointer)] & BF_ORIGIN_TOUCHED;
}

static bool is_image(uint16_t opcode)
{
    return (opcode >= SpvOpImageSampleImplicitLod && opcode <= SpvOpImageQuerySamples) ||
           (opcode >= SpvOpImageSparseSampleImplicitLod && opcode <= SpvOpImageSparseRead);
}

/* What flows into it; 'made': of what it is, integers too. */
static void operands_add(struct needed *n, const struct bf_instruction *in, bool made)
{
    const bool floats = bf_value_has_floats(n->m, in->result),
               others = !is_all_floats(n->m, in->result);
    for (uint32_t w = bf_operands(in); w < in->count; w++) {
        uint32_t id = bf_word(n->m, in, w);
        if (!bf_word_is_id(n->m, in, w))
            continue;
        if (in->opcode == SpvOpLoad || (bf_opcode_is_atomic(in->opcode) && w == 3))
            needed_memory_add(n, id, floats, made && others);
        else if (bf_pointer_storage(n->m, id) != SpvStorageClassMax && in->opcode == SpvOpExtInst)
            needed_memory_add(n, id, true, false);
        else if (made && (in->opcode != SpvOpVectorExtractDynamic || w == 3) && /* an index isn't */
                 !(in->opcode == SpvOpSelect && w == 3 && !others)) /* nor what chooses a float */
            number_add(n, id);
        else
            value_add(n, id);
    }
}

static void call_add(struct needed *n, const struct bf_instruction *in)
{
    uint32_t f = bf_function_find(n->m, bf_word(n->m, in, 3));
    if (f == UINT32_MAX)
        return;
    if (n->value[in->result])
        mark(n, &n->returned[f]);
    for (struct bf_call_pair pair = {0}; bf_call_next(n->m, in, &pair);)
        if (n->value[pair.parameter])
            number_add(n, pair.argument);
}

static bool depends(uint8_t origin)
{
    return origin & BF_ORIGIN_FOLDED;
}

/* Whether what is no float, and needed, is chosen in block 'at' of those that a branch decides
 * over: by a phi, or by what is stored. */
static bool block_chooses(const struct needed *n, uint32_t at)
{
    const struct bf_block *block = &n->flow.blocks[at];
    bool any = false;
    for (uint32_t i = block->first + 1; i <= block->last && !any; i++) {
        const struct bf_instruction *in = &n->m->instructions[i];
        switch (in->opcode) {
        case SpvOpPhi:
            any = n->value[in->result] && !is_all_floats(n->m, in->result);
            break;
        case SpvOpStore:
        case SpvOpCopyMemory:
        case SpvOpAtomicStore:
            any = n->integers[bf_origin_memory(&n->origins, bf_word(n->m, in, 1))];
            break;
        case SpvOpReturnValue:
            any = n->returned[block->function];
            break;
        default:
            any = bf_opcode_is_atomic(in->opcode) &&
                  n->integers[bf_origin_memory(&n->origins, bf_word(n->m, in, 3))];
            break;
        }
    }
    return any;
}

/* The same of all on the ways from block b to where all of them meet, and there. */
static bool branch_chooses(struct needed *n, uint32_t b)
{
    const struct bf_flow *flow = &n->flow;
    const uint32_t end = flow->blocks[b].post_dominator;
    uint32_t count = 0;
    n->stamp++;
    for (uint32_t next = b;; next = n->stack[--count]) {
        for (uint32_t s = 0; s < flow->blocks[next].successor_count; s++) {
            const uint32_t to = flow->blocks[next].successors[s];
            if (n->seen[to] == n->stamp)
                continue;
            if (block_chooses(n, to))
                return true;
            n->seen[to] = n->stamp;
            if (to != end)
                n->stack[count++] = to;
        }
        if (count == 0)
            return false;
    }
}

/* What is stored there. */
static void stored_add(struct needed *n, bool decided, uint32_t pointer, uint32_t id)
{
    const uint32_t memory = bf_origin_memory(&n->origins, pointer);
    if (n->integers[memory])
        number_add(n, id);
    if (n->memory[memory])
        value_add(n, id);
    if (decided)
        leaving_add(n, id);
}

/* Of an atomic operation, or of a function that has a second result in memory. */
static void stored_beside_add(struct needed *n, bool decided, const struct bf_instruction *in)
{
    uint32_t pointer = 0;
    for (uint32_t w = 3; w < in->count; w++)
        if (bf_word_is_id(n->m, in, w) &&
            bf_pointer_storage(n->m, bf_word(n->m, in, w)) != SpvStorageClassMax)
            pointer = bf_word(n->m, in, w);
    for (uint32_t w = 4; pointer && w < in->count; w++)
        if (bf_word_is_id(n->m, in, w) && bf_word(n->m, in, w) != pointer)
            stored_add(n, decided, pointer, bf_word(n->m, in, w));
}

static void backwards_step(struct needed *n, uint32_t b, const struct bf_instruction *in)
{
    const struct bf_origins *o = &n->origins;
    const bool decided = depends(o->block[b]);
    uint32_t memory;
    switch (in->opcode) {
    case SpvOpStore:
        stored_add(n, decided, bf_word(n->m, in, 1), bf_word(n->m, in, 2));
        return;
    case SpvOpAtomicStore:
        stored_add(n, decided, bf_word(n->m, in, 1), bf_word(n->m, in, 4));
        return;
    case SpvOpCopyMemory:
        memory = bf_origin_memory(o, bf_word(n->m, in, 1));
        needed_memory_add(n, bf_word(n->m, in, 2),
                          decided || n->memory[memory] || memory_touched(n, bf_word(n->m, in, 2)),
                          n->integers[memory] ||
                              (decided && (o->memory[memory] & BF_ORIGIN_FLOAT)));
        return;
    case SpvOpImageWrite:
        stored_add(n, decided, bf_word(n->m, in, 1), bf_word(n->m, in, 3));
        return;
    case SpvOpBranchConditional:
    case SpvOpSwitch:
        if (is_made_of_floats(n, bf_word(n->m, in, 1)) && (decided || branch_chooses(n, b)))
            number_add(n, bf_word(n->m, in, 1));
        return;
    case SpvOpReturnValue:
        if (n->returned[n->flow.blocks[b].function])
            number_add(n, bf_word(n->m, in, 1));
        else if (decided)
            leaving_add(n, bf_word(n->m, in, 1));
        return;
    case SpvOpFunctionCall:
        call_add(n, in);
        break;
    case SpvOpExtInst:
        stored_beside_add(n, decided, in);
        break;
    default:
        if (bf_opcode_is_atomic(in->opcode))
            stored_beside_add(n, decided, in);
        break;
    }
    if (!in->result)
        return;
    if (depends(o->value[in->result]))
        value_add(n, in->result);
    if (is_image(in->opcode) && n->value[in->result])
        needed_memory_add(n, bf_word(n->m, in, 3), true, true);
    /* A comparison or conversion that depends, or is decided over: so may what it is of. */
    const bool active =
        n->value[in->result] || depends(o->value[in->result]) || (decided && leaves_floats(n, in));
    if (!active || in->opcode == SpvOpFunctionCall || is_image(in->opcode) ||
        bf_pointer_storage(n->m, in->result) != SpvStorageClassMax)
        return;
    if (in->opcode != SpvOpLoad || n->value[in->result])
        operands_add(n, in, n->value[in->result]);
}

static void backwards(struct needed *n)
{
    const struct bf_flow *flow = &n->flow;
    for (uint32_t i = 0; i < n->m->instruction_count; i++) {
        const struct bf_instruction *in = &n->m->instructions[i];
        if (in->opcode == SpvOpFunctionParameter && depends(n->origins.value[in->result]))
            value_add(n, in->result);
    }
    do {
        n->changed = false;
        for (uint32_t k = flow->ordered_first[n->m->function_count]; k-- > 0;) {
            const struct bf_block *block = &flow->blocks[flow->ordered[k]];
            for (uint32_t i = block->last; i > block->first; i--)
                backwards_step(n, flow->ordered[k], &n->m->instructions[i]);
        }
    } while (n->changed);
}

/* ------------------------------------------------------------------------------------ Blocks -- */

/* Also what is no float any more, but was made of such. */
static bool touched(const struct needed *n, uint32_t id)
{
    return n->value[id] || (n->origins.value[id] & BF_ORIGIN_TOUCHED);
}

static bool memory_needed(const struct needed *n, uint32_t pointer)
{
    uint32_t variable = bf_origin_memory(&n->origins, pointer);
    return n->memory[variable] || n->integers[variable];
}

static bool store_needs(const struct needed *n, uint32_t pointer, uint32_t id)
{
    return touched(n, id) ||
           (n->integers[bf_origin_memory(&n->origins, pointer)] && !is_all_floats(n->m, id));
}

/* What an atomic operation or a function stores. */
static bool beside_needs(const struct needed *n, const struct bf_instruction *in)
{
    bool is_needed = false, stores = false;
    for (uint32_t w = 3; w < in->count; w++) {
        const uint32_t id = bf_word_is_id(n->m, in, w) ? bf_word(n->m, in, w) : 0;
        const bool is_pointer = bf_pointer_storage(n->m, id) != SpvStorageClassMax;
        stores |= is_pointer;
        is_needed |= is_pointer ? memory_needed(n, id) : touched(n, id);
    }
    return stores && is_needed;
}

static bool instruction_needs(const struct needed *n, uint32_t b, const struct bf_instruction *in)
{
    switch (in->opcode) {
    case SpvOpStore:
        return store_needs(n, bf_word(n->m, in, 1), bf_word(n->m, in, 2));
    case SpvOpAtomicStore:
        return store_needs(n, bf_word(n->m, in, 1), bf_word(n->m, in, 4));
    case SpvOpCopyMemory:
        return memory_needed(n, bf_word(n->m, in, 1)) || memory_needed(n, bf_word(n->m, in, 2)) ||
               memory_touched(n, bf_word(n->m, in, 2));
    case SpvOpImageWrite:
        return touched(n, bf_word(n->m, in, 3));
    case SpvOpReturnValue:
        return touched(n, bf_word(n->m, in, 1)) || n->returned[n->flow.blocks[b].function];
    case SpvOpExtInst:
        return touched(n, in->result) || beside_needs(n, in);
    default:
        return in->result && in->opcode != SpvOpPhi &&
               (touched(n, in->result) || (bf_opcode_is_atomic(in->opcode) && beside_needs(n, in)));
    }
}

static void blocks_mark(struct needed *n)
{
    const struct bf_flow *flow = &n->flow;
    for (uint32_t k = 0; k < flow->ordered_first[n->m->function_count]; k++) {
        uint32_t b = flow->ordered[k];
        const struct bf_block *block = &flow->blocks[b];
        n->block[b] |= (n->origins.block[b] & BF_ORIGIN_TOUCHED) != 0;
        for (uint32_t i = block->first + 1; i <= block->last; i++) {
            const struct bf_instruction *in = &n->m->instructions[i];
            n->block[b] |= instruction_needs(n, b, in);
            if (in->opcode != SpvOpPhi || !touched(n, in->result))
                continue;
            n->block[b] = true;
            for (uint32_t w = 4; w < in->count; w += 2) {
                uint32_t from = flow->of_label[bf_word(n->m, in, w)];
                if (from)
                    n->block[from - 1] = true;
            }
        }
    }
}

/* Who calls what needs to be come to needs to be come to. */
static void callers_mark(struct needed *n)
{
    const struct bf_flow *flow = &n->flow;
    do {
        n->changed = false;
        for (uint32_t k = 0; k < flow->ordered_first[n->m->function_count]; k++) {
            const struct bf_block *block = &flow->blocks[flow->ordered[k]];
            bool *needs = &n->block[flow->ordered[k]];
            for (uint32_t i = block->first + 1; i < block->last && !*needs; i++) {
                const struct bf_instruction *in = &n->m->instructions[i];
                const uint32_t f = in->opcode == SpvOpFunctionCall
                                       ? bf_function_find(n->m, bf_word(n->m, in, 3))
                                       : UINT32_MAX;
                *needs = f != UINT32_MAX && n->function[f];
            }
            if (*needs)
                mark(n, &n->function[block->function]);
        }
    } while (n->changed);
}

/* ------------------------------------------------------------------------------------ Points -- */

/* Whether a phi that is needed has something from block b. */
static bool phi_needs(const struct needed *n, uint32_t b, const struct bf_block *to)
{
    for (uint32_t i = to->first + 1; i < to->last; i++) {
        const struct bf_instruction *in = &n->m->instructions[i];
        if (in->opcode != SpvOpPhi || !touched(n, in->result))
            continue;
        for (uint32_t w = 4; w < in->count; w += 2)
            if (n->flow.of_label[bf_word(n->m, in, w)] == b + 1)
                return true;
    }
    return false;
}

/* Whether the branch at the block's end decides over any that is needed: on the ways from it to
 * where all of them meet. */
static bool branch_needed(struct needed *n, uint32_t b)
{
    const struct bf_flow *flow = &n->flow;
    const uint32_t end = flow->blocks[b].post_dominator;
    uint32_t count = 0;
    n->stamp++;
    for (uint32_t next = b;; next = n->stack[--count]) {
        const struct bf_block *block = &flow->blocks[next];
        for (uint32_t s = 0; s < block->successor_count; s++) {
            uint32_t to = block->successors[s];
            if (next == b && phi_needs(n, b, &flow->blocks[to]))
                return true;
            if (to == end || n->seen[to] == n->stamp)
                continue;
            if (n->block[to])
                return true;
            n->seen[to] = n->stamp;
            n->stack[count++] = to;
        }
        if (count == 0)
            return false;
    }
}

static bool point_needed(struct needed *n, uint32_t b, const struct bf_instruction *in)
{
    switch (in->opcode) {
    case SpvOpLabel:
        return n->block[b];
    case SpvOpBranchConditional:
    case SpvOpSwitch:
        return branch_needed(n, b);
    default:
        return touched(n, in->result);
    }
}

/* ----------------------------------------------------------------------------------- Sources -- */

/* Whether it tells invocations apart, and grows with what is drawn to, or dispatched. */
static bool is_place(const struct bf_id *id)
{
    return id->has_builtin &&
           (id->builtin == SpvBuiltInFragCoord || id->builtin == SpvBuiltInWorkgroupId ||
            id->builtin == SpvBuiltInGlobalInvocationId || id->builtin == SpvBuiltInNumWorkgroups);
}

/* Inputs of which a check has but one value, or few: it draws a few primitives, without an index
 * buffer, into one layer of one viewport; views it draws to all there are. Of the others it has as
 * many, or as the program's states and inputs make them; where it begins with other instances, how
 * far places go (is_place) and what subgroups are, the check and the device say. [FN-8] */
enum before {
    UNVARIED_HERE,           /* an input of this stage */
    UNVARIED_BEFORE,         /* of stages before, too */
    UNVARIED_WITH_INSTANCES, /* of these alone, where vertex buffers have something of instances */
    UNVARIED_FLAT,           /* and where what is flat matters: that comes of one vertex */
};

static const struct {
    uint32_t builtin;
    enum before before;
    const char *name;
} unvaried[] = {
    {SpvBuiltInPrimitiveId, UNVARIED_HERE, "gl_PrimitiveID"},
    {SpvBuiltInLayer, UNVARIED_HERE, "gl_Layer"},
    {SpvBuiltInViewportIndex, UNVARIED_HERE, "gl_ViewportIndex"},
    {SpvBuiltInDrawIndex, UNVARIED_BEFORE, "gl_DrawID"},
    {SpvBuiltInBaseVertex, UNVARIED_BEFORE, "gl_BaseVertex"},
    {SpvBuiltInDeviceIndex, UNVARIED_BEFORE, "gl_DeviceIndex"},
    {SpvBuiltInShadingRateKHR, UNVARIED_HERE, "gl_ShadingRateEXT"},
    {SpvBuiltInInstanceIndex, UNVARIED_WITH_INSTANCES, "gl_InstanceIndex"},
    {SpvBuiltInVertexIndex, UNVARIED_FLAT, "gl_VertexIndex"},
    {SpvBuiltInMax, UNVARIED_HERE, "textureSamples()"}, /* no input, but like one */
};
#define UNVARIED         (sizeof(unvaried) / sizeof(unvaried[0]))
#define UNVARIED_SAMPLES (BF_NEEDED_UNVARIED << (UNVARIED - 1))
_Static_assert(BF_NEEDED_ALL == (BF_NEEDED_UNVARIED << UNVARIED) - 1, "a bit for each");

const char *bf_needed_unvaried(uint32_t sources)
{
    for (uint32_t k = 0; k < UNVARIED; k++)
        if (sources & BF_NEEDED_UNVARIED << k)
            return unvaried[k].name;
    return NULL;
}

/* What a stage before makes of it comes by way of its outputs, which aren't followed. */
const char *bf_needed_unvaried_before(const uint32_t *words, size_t count, uint32_t sources,
                                      bool instances)
{
    const bool counts[] = {
        [UNVARIED_HERE] = false,
        [UNVARIED_BEFORE] = true,
        [UNVARIED_WITH_INSTANCES] = instances,
        [UNVARIED_FLAT] = (sources & BF_NEEDED_FLAT) != 0,
    };
    for (size_t at = 5; at < count; at += words[at] >> 16) {
        const uint32_t opcode = words[at] & 0xffff, length = words[at] >> 16;
        const uint32_t member = opcode == SpvOpMemberDecorate;
        if (opcode == SpvOpFunction || length == 0 || at + length > count)
            break;
        if ((opcode != SpvOpDecorate && !member) || length != 4 + member ||
            words[at + 2 + member] != SpvDecorationBuiltIn)
            continue;
        for (uint32_t k = 0; k < UNVARIED; k++)
            if (counts[unvaried[k].before] && unvaried[k].builtin == words[at + 3 + member])
                return unvaried[k].name;
    }
    return NULL;
}

/* The bit of an input; 0: it is no such. */
static uint32_t unvaried_bit(const struct bf_module *m, const struct bf_instruction *variable)
{
    const struct bf_id *id = &m->ids[variable->result];
    for (uint32_t k = 0; k < UNVARIED && bf_word(m, variable, 3) == SpvStorageClassInput; k++)
        if (id->has_builtin && id->builtin == unvaried[k].builtin)
            return BF_NEEDED_UNVARIED << k;
    return 0;
}

static bool asks_for_sizes(uint16_t opcode)
{
    return opcode == SpvOpArrayLength || opcode == SpvOpImageQuerySizeLod ||
           opcode == SpvOpImageQuerySize || opcode == SpvOpImageQueryLod ||
           opcode == SpvOpImageQueryLevels;
}

static bool is_index(const struct bf_instruction *in)
{
    return in->opcode == SpvOpAccessChain || in->opcode == SpvOpInBoundsAccessChain ||
           in->opcode == SpvOpVectorExtractDynamic || in->opcode == SpvOpVectorInsertDynamic;
}

/* Whether elements are chosen of what the shader has itself: there are others elsewhere. */
static bool chooses_own(const struct needed *n)
{
    bool any = false;
    for (uint32_t i = 0; i < n->m->instruction_count; i++) {
        const struct bf_instruction *in = &n->m->instructions[i];
        const uint32_t storage = in->result && is_index(in) ? bf_pointer_storage(n->m, in->result)
                                                            : SpvStorageClassUniform;
        for (uint32_t w = 4; w < in->count && is_index(in); w++)
            any |= !is_constant(n->m, bf_word(n->m, in, w)) &&
                   (storage == SpvStorageClassFunction || storage == SpvStorageClassPrivate ||
                    storage == SpvStorageClassWorkgroup || storage == SpvStorageClassMax);
    }
    return any;
}

/* The variable that a pointer leads into; NULL: there is no saying. */
static const struct bf_instruction *pointer_variable(const struct bf_module *m, uint32_t pointer)
{
    const struct bf_instruction *in = bf_definition(m, pointer);
    while (in && (in->opcode == SpvOpAccessChain || in->opcode == SpvOpInBoundsAccessChain))
        in = bf_definition(m, bf_word(m, in, 3));
    return in && in->opcode == SpvOpVariable ? in : NULL;
}

/* Whether a pointer leads to a variable, or a member of one, that is the same for a primitive. */
static bool is_flat(const struct bf_module *m, uint32_t pointer)
{
    const struct bf_instruction *in = pointer_variable(m, pointer);
    if (!in)
        return false;
    const struct bf_instruction *to = bf_definition(m, in->type);
    const struct bf_instruction *block = to ? bf_definition(m, bf_word(m, to, 3)) : NULL;
    bool flat = m->ids[in->result].flat;
    for (uint32_t i = 0; block && block->opcode == SpvOpTypeStruct && i + 2 < block->count; i++)
        flat = flat || bf_member_decoration(m, block->result, i, SpvDecorationFlat) != NULL;
    return flat;
}

static bool is_flat_load(const struct bf_module *m, const struct bf_instruction *in)
{
    const uint32_t pointer = in->opcode == SpvOpLoad ? bf_word(m, in, 3) : 0;
    return bf_pointer_storage(m, pointer) == SpvStorageClassInput && is_flat(m, pointer);
}

/* Whether it is an input that a stage before hands on, which may be the same for a primitive, or
 * for all of a draw, though nothing says so. */
static bool is_handed_load(const struct bf_module *m, const struct bf_instruction *in)
{
    const uint32_t pointer = in->opcode == SpvOpLoad ? bf_word(m, in, 3) : 0;
    const struct bf_instruction *variable = pointer_variable(m, pointer);
    return variable && bf_pointer_storage(m, pointer) == SpvStorageClassInput &&
           !m->ids[variable->result].has_builtin;
}

/* Whether it is an input attachment's, whose texels lie where the fragment does. */
static bool image_subpass(const struct bf_module *m, uint32_t image)
{
    const struct bf_instruction *type = bf_value_type(m, image);
    return type && type->opcode == SpvOpTypeImage && bf_word(m, type, 3) == SpvDimSubpassData;
}

/* Whether a load brings all invocations the same, of what may be another where the variant runs;
 * or those of one primitive, of which draws have but one, or may. */
static bool is_uniform_load(const struct needed *n, uint32_t b, const struct bf_instruction *in)
{
    const uint32_t pointer = in->opcode == SpvOpLoad ? bf_word(n->m, in, 3) : 0;
    const uint32_t storage = bf_pointer_storage(n->m, pointer);
    return (is_handed_load(n->m, in) ||
            ((storage == SpvStorageClassPushConstant || storage == SpvStorageClassUniform ||
              storage == SpvStorageClassStorageBuffer) &&
             !(n->origins.value[pointer] & BF_ORIGIN_VARYING))) &&
           !n->origins.folded[in->result] &&
           bf_left_of(&n->left, in, n->flow.blocks[b].label, 0) == BF_LEFT_OPEN;
}

/* Whether all invocations read the same texels. */
static bool is_uniform_texel(const struct needed *n, const struct bf_instruction *in)
{
    bool uniform = !image_subpass(n->m, bf_word(n->m, in, 3));
    for (uint32_t w = 4; w < in->count; w++)
        uniform = uniform && !(bf_word_is_id(n->m, in, w) &&
                               n->origins.value[bf_word(n->m, in, w)] & BF_ORIGIN_VARYING);
    return uniform;
}

/* Whether it is computed with what isn't constant and with a 0 or an infinity that folding makes
 * constant. */
static bool meets_special(const struct needed *n, const struct bf_instruction *in)
{
    const uint32_t w = n->left.opcode && in->result ? n->left.special[in->result] : 0;
    return w && (in->opcode != n->left.opcode[in->result] ||
                 depends(n->origins.value[bf_word(n->m, in, w)]));
}

/* [FN-4] */
static uint32_t sources_find(const struct needed *n)
{
    uint32_t sources = n->left.opcode ? 0 : BF_NEEDED_SPECIALS, asked = 0;
    for (uint32_t i = 0; i < n->m->instruction_count; i++) {
        const struct bf_instruction *in = &n->m->instructions[i];
        const uint32_t b = n->flow.of_instruction[i];
        if (in->opcode == SpvOpVariable && is_place(&n->m->ids[in->result])) {
            sources |= BF_NEEDED_PLACES;
            if (memory_needed(n, in->result))
                sources |= BF_NEEDED_PLACED;
        }
        if (in->opcode == SpvOpVariable && n->m->ids[in->result].used) {
            const uint32_t bit = unvaried_bit(n->m, in);
            asked |= bit;
            sources |= memory_needed(n, in->result) ? bit : 0;
        }
        if (b && n->value[in->result] && is_uniform_load(n, b - 1, in))
            sources |=
                is_flat_load(n->m, in) ? BF_NEEDED_UNIFORM | BF_NEEDED_FLAT : BF_NEEDED_UNIFORM;
        if (meets_special(n, in))
            sources |= BF_NEEDED_SPECIALS;
        if (asks_for_sizes(in->opcode)) {
            sources |= BF_NEEDED_SIZES;
        } else if (in->opcode == SpvOpImageQuerySamples) {
            asked |= UNVARIED_SAMPLES;
            sources |= n->value[in->result] ? UNVARIED_SAMPLES : 0;
        } else if (in->result && is_image(in->opcode) && n->value[in->result]) {
            sources |= BF_NEEDED_TEXELS;
            if (is_uniform_texel(n, in))
                sources |= BF_NEEDED_UNIFORM;
        }
    }
    if (((sources & BF_NEEDED_PLACES) || asked) && chooses_own(n))
        sources |= asked | (sources & BF_NEEDED_PLACES ? BF_NEEDED_PLACED : 0);
    return sources;
}

/* ------------------------------------------------------------------------------- The modules -- */

struct results {
    uint32_t bound; /* of the general module, before its calls were parted */
    bool *folded;   /* [bound] */
    const uint32_t *at;
};

static bool result_visit(void *context, uint16_t opcode, uint16_t word_count, uint32_t type,
                         uint32_t result, const uint16_t *ids, uint32_t id_count)
{
    struct results *results = context;
    (void)type;
    (void)ids;
    (void)id_count;
    /* OpCopyObject of an id that the general module hasn't got: it was a load. */
    if (result && result < results->bound && opcode == SpvOpCopyObject &&
        results->at[3] >= results->bound)
        results->folded[result] = true;
    results->at += word_count;
    return true;
}

/* Which loads were folded. */
static VkResult folded_read(const struct needed *n, const struct bf_needed_info *info,
                            struct bf_arena *arena, bool *folds)
{
    const struct bf_calls *calls = info->calls;
    struct results results = {.bound = n->m->bound, .folded = folds, .at = info->folded + 5};
    if (calls) {
        results.bound = calls->own_bound;
        results.folded = bf_arena_zeroed(arena, calls->own_bound);
        if (!results.folded)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = bf_tools_parse(info->folded, info->folded_count, result_visit, &results);
    for (uint32_t id = 0; calls && id < n->m->bound; id++)
        folds[id] = results.folded[calls->origin[id]];
    return result;
}

static VkResult needed_find(struct needed *n, const struct bf_needed_info *info,
                            struct bf_arena *arena, bool *needed, bool *beyond, uint32_t *sources)
{
    const struct bf_module *m = n->m;
    bool *folds = bf_arena_zeroed(arena, m->bound);
    if (!folds)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = folded_read(n, info, arena, folds);
    if (result == VK_SUCCESS)
        result = bf_left_find(&n->left, info->general, m, info->fixed, info->push, arena);
    if (result != VK_SUCCESS)
        return result;
    if (!bf_flow_init(&n->flow, m, arena, true))
        return n->flow.out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_INVALID_SHADER_NV;
    n->value = bf_arena_zeroed(arena, m->bound);
    n->memory = bf_arena_zeroed(arena, m->bound);
    n->integers = bf_arena_zeroed(arena, m->bound);
    n->returned = bf_arena_zeroed(arena, m->function_count + 1);
    n->block = bf_arena_zeroed(arena, n->flow.count + 1);
    n->function = bf_arena_zeroed(arena, m->function_count + 1);
    n->seen = bf_arena_zeroed(arena, (n->flow.count + 1) * sizeof(*n->seen));
    n->stack = bf_arena_zeroed(arena, (n->flow.count + 1) * sizeof(*n->stack));
    if (arena->failed ||
        !bf_origins_find(&n->origins, &n->flow, arena, info->general->stage, NULL, folds))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    backwards(n);
    blocks_mark(n);
    callers_mark(n);
    for (uint32_t p = 0; p < info->point_count; p++) {
        const uint32_t i = bf_instruction_at(m, info->points[p].at), b = n->flow.of_instruction[i];
        const struct bf_instruction *in = &m->instructions[i];
        const enum bf_left_state state =
            b ? bf_left_of(&n->left, in, n->flow.blocks[b - 1].label, info->points[p].side)
              : BF_LEFT_OPEN;
        beyond[p] = state == BF_LEFT_GONE;
        needed[p] = state == BF_LEFT_OPEN && (!b || point_needed(n, b - 1, in));
    }
    *sources = sources_find(n);
    return VK_SUCCESS;
}

VkResult bf_needed_find(const struct bf_needed_info *info, bool *needed, bool *beyond,
                        uint32_t *sources)
{
    struct bf_module m;
    struct bf_arena arena = {0};
    struct needed n = {.m = &m};
    VkResult result = VK_ERROR_INVALID_SHADER_NV;
    *sources = BF_NEEDED_ALL;
    if (bf_module_init(&m, info->general))
        result = needed_find(&n, info, &arena, needed, beyond, sources);
    else if (m.out_of_memory)
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    bf_arena_finish(&arena);
    bf_module_finish(&m);
    return result;
}
