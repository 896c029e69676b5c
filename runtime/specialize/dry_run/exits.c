/* SPDX-License-Identifier: MIT */
/* What all parts of the rewriter call, and how an invocation tells: small functions behind the
 * module's own, which drivers inline. [FU-4] */
#include "specialize/dry_run/parts.h"

#include <string.h>

static uint32_t flags_word(struct bf_parts *parts, uint32_t i)
{
    return BF_PUT_NEW(&parts->rewrite, i, SpvOpLoad, bf_rewrite_uint(&parts->rewrite),
                      parts->flags);
}

void bf_parts_flag(struct bf_parts *parts, uint32_t i, uint32_t bit)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t flags = BF_PUT_NEW(rewrite, i, SpvOpBitwiseOr, bf_rewrite_uint(rewrite),
                                flags_word(parts, i), bf_rewrite_constant(rewrite, bit));
    BF_PUT(rewrite, i, SpvOpStore, parts->flags, flags);
}

void bf_parts_flag_if(struct bf_parts *parts, uint32_t i, uint32_t is, uint32_t bit)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t number = bf_rewrite_uint(rewrite);
    uint32_t bits = BF_PUT_NEW(rewrite, i, SpvOpSelect, number, is,
                               bf_rewrite_constant(rewrite, bit), bf_rewrite_constant(rewrite, 0));
    bits = BF_PUT_NEW(rewrite, i, SpvOpBitwiseOr, number, flags_word(parts, i), bits);
    BF_PUT(rewrite, i, SpvOpStore, parts->flags, bits);
}

uint32_t bf_parts_uint(struct bf_parts *parts, uint32_t i, uint32_t value,
                       const struct bf_shape *shape)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    const bool is_signed = shape->number == BF_NUMBER_INT;
    uint32_t number = bf_rewrite_uint(rewrite);
    if (shape->width < 4)
        return BF_PUT_NEW(rewrite, i, is_signed ? SpvOpSConvert : SpvOpUConvert, number, value);
    if (shape->width == 4)
        return is_signed ? BF_PUT_NEW(rewrite, i, SpvOpBitcast, number, value) : value;
    uint32_t wide = BF_TYPE(rewrite, SpvOpTypeInt, 64, 0);
    if (is_signed)
        value = BF_PUT_NEW(rewrite, i, SpvOpBitcast, wide, value);
    uint32_t most = bf_rewrite_constant(rewrite, UINT32_MAX);
    uint32_t limit = BF_PUT_NEW(rewrite, i, SpvOpUConvert, wide, most);
    uint32_t above =
        BF_PUT_NEW(rewrite, i, SpvOpUGreaterThan, bf_rewrite_bool(rewrite), value, limit);
    value = BF_PUT_NEW(rewrite, i, SpvOpUConvert, number, value);
    return BF_PUT_NEW(rewrite, i, SpvOpSelect, number, above, most, value);
}

void bf_exits_begin(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t number = bf_rewrite_uint(rewrite), zero = bf_rewrite_constant(rewrite, 0);
    parts->flags = bf_rewrite_global(rewrite, SpvStorageClassPrivate, number, zero);
    for (uint32_t uniform = 0; uniform < 2; uniform++) {
        parts->rounds[uniform] = bf_rewrite_global(rewrite, SpvStorageClassPrivate, number, zero);
        parts->burn[uniform] = bf_rewrite_id(rewrite);
    }
    parts->clamp = bf_rewrite_id(rewrite);
    parts->finish = bf_rewrite_id(rewrite);
    for (uint32_t i = 0; i < m->instruction_count && !parts->demoted; i++) {
        uint32_t boolean = bf_rewrite_bool(rewrite);
        if (m->instructions[i].opcode == SpvOpDemoteToHelperInvocation &&
            parts->flow.of_instruction[i])
            parts->demoted = bf_rewrite_global(rewrite, SpvStorageClassPrivate, boolean,
                                               bf_rewrite_null(rewrite, boolean));
    }
}

/* --------------------------------------------------------------------------------- Functions -- */

/* Begins a function at the module's end. Its parameters' types are those of its type; ids in a row
 * from what is returned on. */
static uint32_t function_begin(struct bf_parts *parts, uint32_t id, uint32_t result, uint32_t count,
                               const uint32_t *parameters)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t end = parts->m->instruction_count, types[BF_KNOWN_OPERANDS] = {result};
    memcpy(types + 1, parameters, count * sizeof(*parameters));
    uint32_t type = bf_rewrite_type(rewrite, SpvOpTypeFunction, count + 1, types);
    BF_PUT(rewrite, end, SpvOpFunction, result, id, SpvFunctionControlMaskNone, type);
    uint32_t first = rewrite->next_id;
    for (uint32_t p = 0; p < count; p++)
        bf_rewrite_put_new(rewrite, end, SpvOpFunctionParameter, parameters[p], 0, NULL);
    BF_PUT(rewrite, end, SpvOpLabel, bf_rewrite_id(rewrite));
    return first;
}

static void function_end(struct bf_parts *parts, uint32_t value)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t end = parts->m->instruction_count;
    if (value)
        BF_PUT(rewrite, end, SpvOpReturnValue, value);
    else
        bf_rewrite_put(rewrite, end, SpvOpReturn, 0, NULL);
    bf_rewrite_put(rewrite, end, SpvOpFunctionEnd, 0, NULL);
}

/* uint clamp(index, length): the index, or the last element's and a flag. */
static void index_clamp_put(struct bf_parts *parts)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t end = parts->m->instruction_count, number = bf_rewrite_uint(rewrite),
             boolean = bf_rewrite_bool(rewrite), zero = bf_rewrite_constant(rewrite, 0);
    uint32_t index =
        function_begin(parts, parts->clamp, number, 2, (const uint32_t[]){number, number});
    uint32_t length = index + 1;
    uint32_t out = BF_PUT_NEW(rewrite, end, SpvOpUGreaterThanEqual, boolean, index, length);
    bf_parts_flag_if(parts, end, out, BF_DRY_RUN_BOUNDS);
    uint32_t empty = BF_PUT_NEW(rewrite, end, SpvOpIEqual, boolean, length, zero);
    uint32_t last =
        BF_PUT_NEW(rewrite, end, SpvOpISub, number, length, bf_rewrite_constant(rewrite, 1));
    last = BF_PUT_NEW(rewrite, end, SpvOpSelect, number, empty, zero, last);
    function_end(parts, BF_PUT_NEW(rewrite, end, SpvOpSelect, number, out, last, index));
}

/* bool burn(goes_on, rounds): whether the loop goes on, if it wants to. */
static void burn_put(struct bf_parts *parts, uint32_t uniform)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    const struct bf_dry_run_options *options = parts->options;
    uint32_t end = parts->m->instruction_count, number = bf_rewrite_uint(rewrite),
             boolean = bf_rewrite_bool(rewrite);
    uint32_t goes_on = function_begin(parts, parts->burn[uniform], boolean, 2,
                                      (const uint32_t[]){boolean, number});
    uint32_t rounds = goes_on + 1;
    uint32_t total = BF_PUT_NEW(rewrite, end, SpvOpLoad, number, parts->rounds[uniform]);
    total = BF_PUT_NEW(rewrite, end, SpvOpIAdd, number, total, bf_rewrite_constant(rewrite, 1));
    BF_PUT(rewrite, end, SpvOpStore, parts->rounds[uniform], total);
    uint32_t out = BF_PUT_NEW(rewrite, end, SpvOpUGreaterThanEqual, boolean, rounds,
                              bf_rewrite_constant(rewrite, options->loop_limit));
    uint32_t all = BF_PUT_NEW(rewrite, end, SpvOpUGreaterThanEqual, boolean, total,
                              bf_rewrite_constant(rewrite, options->total_limit));
    out = BF_PUT_NEW(rewrite, end, SpvOpLogicalOr, boolean, out, all);
    uint32_t cut = BF_PUT_NEW(rewrite, end, SpvOpLogicalAnd, boolean, goes_on, out);
    bf_parts_flag_if(parts, end, cut, BF_DRY_RUN_FUEL);
    uint32_t left = BF_PUT_NEW(rewrite, end, SpvOpLogicalNot, boolean, out);
    function_end(parts, BF_PUT_NEW(rewrite, end, SpvOpLogicalAnd, boolean, goes_on, left));
}

/* The variable that is the result's; BufferBlock is what it was called before SPIR-V 1.3. */
static uint32_t result_put(struct bf_parts *parts, uint32_t *storage)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    bool old = parts->m->words[1] < 0x10300;
    uint32_t number = bf_rewrite_uint(rewrite), type = bf_rewrite_id(rewrite),
             points = bf_rewrite_id(rewrite); /* an array of its own: no other has this stride */
    *storage = old ? SpvStorageClassUniform : SpvStorageClassStorageBuffer;
    BF_PUT(rewrite, rewrite->annotations_end, SpvOpDecorate, type,
           old ? SpvDecorationBufferBlock : SpvDecorationBlock);
    for (uint32_t i = 0; i < 5; i++)
        BF_PUT(rewrite, rewrite->annotations_end, SpvOpMemberDecorate, type, i, SpvDecorationOffset,
               4 * i);
    BF_PUT(rewrite, rewrite->annotations_end, SpvOpDecorate, points, SpvDecorationArrayStride, 4);
    BF_PUT(rewrite, rewrite->globals_end, SpvOpTypeArray, points, number,
           bf_rewrite_constant(rewrite, BF_DRY_RUN_POINTS / 32));
    BF_PUT(rewrite, rewrite->globals_end, SpvOpTypeStruct, type, number, number, number, number,
           points);
    uint32_t variable = bf_rewrite_global(rewrite, *storage, type, 0);
    BF_PUT(rewrite, rewrite->annotations_end, SpvOpDecorate, variable, SpvDecorationDescriptorSet,
           parts->options->set);
    BF_PUT(rewrite, rewrite->annotations_end, SpvOpDecorate, variable, SpvDecorationBinding,
           parts->options->binding);
    return variable;
}

static bool has_capability(const struct bf_module *m, uint32_t capability)
{
    for (uint32_t i = 0; i < m->instruction_count; i++)
        if (m->instructions[i].opcode == SpvOpCapability &&
            bf_word(m, &m->instructions[i], 1) == capability)
            return true;
    return false;
}

/* Tells of the points in a word, of a discarded fragment only of those that 'told' has. */
static void points_put(struct bf_parts *parts, uint32_t w, uint32_t told, uint32_t to,
                       uint32_t scope, uint32_t relaxed)
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t end = parts->m->instruction_count, number = bf_rewrite_uint(rewrite);
    uint32_t bits = BF_PUT_NEW(rewrite, end, SpvOpLoad, number, parts->covered[w]);
    if (parts->discarded) {
        uint32_t some = BF_PUT_NEW(rewrite, end, SpvOpBitwiseAnd, number, bits,
                                   bf_rewrite_constant(rewrite, told));
        uint32_t is =
            BF_PUT_NEW(rewrite, end, SpvOpLoad, bf_rewrite_bool(rewrite), parts->discarded);
        bits = BF_PUT_NEW(rewrite, end, SpvOpSelect, number, is, some, bits);
    }
    BF_PUT_NEW(rewrite, end, SpvOpAtomicOr, number, to, scope, relaxed, bits);
}

/* void finish(): tells, and demotes who had to be. */
static void finish_put(struct bf_parts *parts, uint32_t result, uint32_t storage,
                       const uint32_t told[BF_DRY_RUN_POINTS / 32])
{
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t end = parts->m->instruction_count, number = bf_rewrite_uint(rewrite),
             pointer = bf_rewrite_pointer(rewrite, storage, number);
    bool vulkan = has_capability(parts->m, SpvCapabilityVulkanMemoryModel);
    uint32_t scope = bf_rewrite_constant(rewrite, vulkan ? SpvScopeQueueFamily : SpvScopeDevice),
             relaxed = bf_rewrite_constant(rewrite, SpvMemorySemanticsMaskNone);
    function_begin(parts, parts->finish, bf_rewrite_void(rewrite), 0, &end);
    uint32_t rounds[2];
    for (uint32_t uniform = 0; uniform < 2; uniform++)
        rounds[uniform] = BF_PUT_NEW(rewrite, end, SpvOpLoad, number, parts->rounds[uniform]);
    const uint32_t values[] = {flags_word(parts, end), bf_rewrite_constant(rewrite, 1),
                               BF_PUT_NEW(rewrite, end, SpvOpIAdd, number, rounds[0], rounds[1])};
    static const uint32_t operations[] = {SpvOpAtomicOr, SpvOpAtomicIAdd, SpvOpAtomicUMax};
    const bool draws =
        bf_word(parts->m, &parts->m->instructions[parts->m->entry], 1) == SpvExecutionModelFragment;
    const uint32_t members[] = {0, draws ? 3 : 1, 2}; /* of struct bf_dry_run_result */
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t to = BF_PUT_NEW(rewrite, end, SpvOpAccessChain, pointer, result,
                                 bf_rewrite_constant(rewrite, members[i]));
        BF_PUT_NEW(rewrite, end, operations[i], number, to, scope, relaxed, values[i]);
    }
    for (uint32_t w = 0; w < BF_DRY_RUN_POINTS / 32; w++) {
        if (!parts->covered[w])
            continue;
        uint32_t to = BF_PUT_NEW(rewrite, end, SpvOpAccessChain, pointer, result,
                                 bf_rewrite_constant(rewrite, 4), bf_rewrite_constant(rewrite, w));
        points_put(parts, w, told[w], to, scope, relaxed);
    }
    if (parts->demoted) {
        uint32_t yes = bf_rewrite_id(rewrite), after = bf_rewrite_id(rewrite);
        uint32_t demoted =
            BF_PUT_NEW(rewrite, end, SpvOpLoad, bf_rewrite_bool(rewrite), parts->demoted);
        BF_PUT(rewrite, end, SpvOpSelectionMerge, after, SpvSelectionControlMaskNone);
        BF_PUT(rewrite, end, SpvOpBranchConditional, demoted, yes, after);
        BF_PUT(rewrite, end, SpvOpLabel, yes);
        bf_rewrite_put(rewrite, end, SpvOpDemoteToHelperInvocation, 0, NULL);
        BF_PUT(rewrite, end, SpvOpBranch, after);
        BF_PUT(rewrite, end, SpvOpLabel, after);
    }
    function_end(parts, 0);
}

/* Since SPIR-V 1.4 an entry point names all variables that it uses. */
static void interface_extend(struct bf_parts *parts, uint32_t result)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t all[6 + BF_DRY_RUN_POINTS / 32] = {result, parts->flags, parts->rounds[0],
                                                parts->rounds[1]};
    uint32_t more = 4;
    if (parts->demoted)
        all[more++] = parts->demoted;
    if (parts->discarded)
        all[more++] = parts->discarded;
    for (uint32_t w = 0; w < BF_DRY_RUN_POINTS / 32; w++)
        if (parts->covered[w])
            all[more++] = parts->covered[w];
    for (uint32_t i = 0; m->words[1] >= 0x10400 && i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        if (in->opcode != SpvOpEntryPoint)
            continue;
        uint32_t *operands = bf_arena_zeroed(parts->arena, (in->count + more) * sizeof(*operands));
        if (!operands)
            return;
        memcpy(operands, m->words + in->at + 1, (in->count - 1u) * sizeof(*operands));
        memcpy(operands + in->count - 1, all, more * sizeof(*operands));
        bf_rewrite_put(rewrite, i, SpvOpEntryPoint, in->count - 1u + more, operands);
        bf_rewrite_drop(rewrite, i);
    }
}

/* Before instruction i, which discards the fragment. */
static void discard_put(struct bf_parts *parts, uint32_t i)
{
    if (parts->discarded)
        BF_PUT(&parts->rewrite, i, SpvOpStore, parts->discarded, bf_rewrite_true(&parts->rewrite));
}

void bf_exits_rewrite(struct bf_parts *parts)
{
    const struct bf_module *m = parts->m;
    struct bf_rewrite *rewrite = &parts->rewrite;
    uint32_t nothing = bf_rewrite_void(rewrite), storage, told[BF_DRY_RUN_POINTS / 32];
    if (bf_discarded_find(parts, told) && parts->point_count) {
        uint32_t boolean = bf_rewrite_bool(rewrite);
        parts->discarded = bf_rewrite_global(rewrite, SpvStorageClassPrivate, boolean,
                                             bf_rewrite_null(rewrite, boolean));
    }
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        uint32_t block = parts->flow.of_instruction[i];
        if (!block)
            continue;
        uint32_t f = parts->flow.blocks[block - 1].function;
        switch (m->instructions[i].opcode) {
        case SpvOpReturn:
            if (m->functions[f].id == m->entry_function)
                BF_PUT_NEW(rewrite, i, SpvOpFunctionCall, nothing, parts->finish);
            break;
        case SpvOpKill:
        case SpvOpTerminateInvocation:
            discard_put(parts, i);
            BF_PUT_NEW(rewrite, i, SpvOpFunctionCall, nothing, parts->finish);
            break;
        case SpvOpDemoteToHelperInvocation:
            discard_put(parts, i);
            BF_PUT(rewrite, i, SpvOpStore, parts->demoted, bf_rewrite_true(rewrite));
            bf_rewrite_drop(rewrite, i);
            break;
        default:
            break;
        }
    }
    uint32_t result = result_put(parts, &storage);
    index_clamp_put(parts);
    burn_put(parts, 0);
    burn_put(parts, 1);
    finish_put(parts, result, storage, told);
    interface_extend(parts, result);
    if (parts->queries && !has_capability(m, SpvCapabilityImageQuery))
        BF_PUT(rewrite, 0, SpvOpCapability, SpvCapabilityImageQuery);
}
