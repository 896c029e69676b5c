/* SPDX-License-Identifier: MIT */
/*
 * A SPIR-V module taken apart, for the time of one analysis. SPIRV-Tools has parsed it: every
 * instruction is known and has the operands that its grammar wants, every id is below the bound.
 * What the ids stand for nobody has checked.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_MODULE_H
#define BELFRY_SPECIALIZE_MODULE_H

#include <spirv/unified1/spirv.h>

#include "specialize/shader/shader.h"
#include "specialize/shader/tools.h"

/* Private to the analysis of uses: the value is a constant once the push constants are, and reaches
 * what exact mode excludes. */
#define BF_USE_CONSTANT_INEXACT (1u << 10)

/* How deep types, constants and pointers may be nested. */
#define BF_MODULE_DEPTH 32

struct bf_instruction {
    uint32_t at; /* its first word */
    uint16_t count, opcode;
    uint32_t type, result; /* 0: none */
};

struct bf_id {
    uint32_t definition; /* index of an instruction + 1; 0: none */
    uint32_t function;   /* index + 1; 0: it is none */
    uint32_t constant;   /* index + 1 in 'constants'; 0: its value isn't known */
    uint32_t alias;      /* the pointer whose memory this one's is, + 1; 0: itself */
    uint16_t uses;       /* of the value */
    uint16_t memory_uses;
    bool varying, memory_varying;
    bool derived; /* a pointer into the push constants */
    bool no_signed_wrap, no_unsigned_wrap;
    bool no_contraction, non_writable, non_readable, block, buffer_block;
    bool flat, no_perspective, centroid, sample, loop_end;
    bool has_builtin, has_location, has_spec_id;
    bool has_floats, has_integers; /* of a type: there are numbers of the kind in it */
    bool non_semantic;             /* an instruction set that says nothing of values */
    bool used;                     /* by a function that the entry point reaches */
    uint32_t builtin, location, component, set, binding, input_index, spec_id, array_stride;
};

struct bf_function {
    uint32_t id, first, end; /* instructions, OpFunction to OpFunctionEnd */
    bool reached;
};

struct bf_module {
    const uint32_t *words;
    size_t word_count;
    const VkSpecializationInfo *specialization;
    uint32_t bound;
    struct bf_instruction *instructions;
    uint32_t instruction_count, instruction_capacity;
    struct bf_id *ids;   /* [bound] */
    uint8_t *word_is_id; /* a bit for each word: uses of ids, types included, results not */
    struct bf_member_decoration {
        uint64_t key; /* type and member */
        uint32_t at;  /* instruction */
    } * member_decorations;
    uint32_t member_decoration_count;
    uint64_t *constants; /* the upper bits zero */
    struct bf_function *functions;
    uint32_t function_count;
    uint32_t entry; /* index of OpEntryPoint's instruction */
    uint32_t entry_function;
    uint32_t glsl; /* id of GLSL.std.450; 0: not imported */
    bool decoration_groups;
    bool unknown_capability, cooperative, float_controls;
    bool int8, int16, float16;
    bool complex; /* bf_module_follow has given up */
    bool failed;  /* while parsing: it makes no sense */
    bool out_of_memory;
};

/* False: see 'failed' or 'out_of_memory'. Finish it in any case. */
bool bf_module_init(struct bf_module *m, const struct bf_shader_info *info);
void bf_module_finish(struct bf_module *m);

static inline bool bf_opcode_is_atomic(uint16_t opcode)
{
    return (opcode >= SpvOpAtomicLoad && opcode <= SpvOpAtomicXor) ||
           opcode == SpvOpAtomicFAddEXT || opcode == SpvOpAtomicFMinEXT ||
           opcode == SpvOpAtomicFMaxEXT;
}

static inline bool bf_opcode_is_constant(uint16_t opcode)
{
    return opcode >= SpvOpConstantTrue && opcode <= SpvOpSpecConstantOp;
}

/* The word i of an instruction. */
static inline uint32_t bf_word(const struct bf_module *m, const struct bf_instruction *in,
                               uint32_t i)
{
    return i < in->count ? m->words[in->at + i] : 0;
}

static inline bool bf_word_is_id(const struct bf_module *m, const struct bf_instruction *in,
                                 uint32_t i)
{
    size_t w = (size_t)in->at + i;
    return i < in->count && (m->word_is_id[w / 8] >> (w % 8) & 1);
}

/* NULL: undefined. */
static inline const struct bf_instruction *bf_definition(const struct bf_module *m, uint32_t id)
{
    return id < m->bound && m->ids[id].definition ? &m->instructions[m->ids[id].definition - 1]
                                                  : NULL;
}

/* The definition, if it has this opcode. */
static inline const struct bf_instruction *bf_definition_as(const struct bf_module *m, uint32_t id,
                                                            SpvOp opcode)
{
    const struct bf_instruction *in = bf_definition(m, id);
    return in && in->opcode == opcode ? in : NULL;
}

/* The type of a value, NULL: none. */
static inline const struct bf_instruction *bf_value_type(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *in = bf_definition(m, id);
    return in ? bf_definition(m, in->type) : NULL;
}

/* Whether there are floats in a value, or integers. */
static inline bool bf_value_has_floats(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && m->ids[type->result].has_floats;
}
static inline bool bf_value_has_integers(const struct bf_module *m, uint32_t id)
{
    const struct bf_instruction *type = bf_value_type(m, id);
    return type && m->ids[type->result].has_integers;
}

/* The index of the first of an instruction's words that isn't its type or result. */
static inline uint32_t bf_operands(const struct bf_instruction *in)
{
    return 1 + (in->type != 0) + (in->result != 0);
}

/* The index of the first instruction behind all annotations and what comes before them. */
uint32_t bf_annotations_end(const struct bf_module *m);

/* OpDecorate of a member: the words behind the decoration, NULL: it hasn't got it. */
const uint32_t *bf_member_decoration(const struct bf_module *m, uint32_t type, uint32_t member,
                                     SpvDecoration decoration);

/* The index of the instruction whose first word that is. */
static inline uint32_t bf_instruction_at(const struct bf_module *m, uint32_t at)
{
    uint32_t low = 0, high = m->instruction_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (m->instructions[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The function of this id; UINT32_MAX: none. */
static inline uint32_t bf_function_find(const struct bf_module *m, uint32_t id)
{
    return id < m->bound ? m->ids[id].function - 1 : UINT32_MAX;
}

/* An argument of a call, and the parameter that it is for. */
struct bf_call_pair {
    uint32_t word, at; /* where bf_call_next goes on */
    uint32_t argument, parameter;
};

/* One pair after another, beginning with a zeroed one. False: there are no more; arguments from
 * 'word' on have no parameter. */
static inline bool bf_call_next(const struct bf_module *m, const struct bf_instruction *call,
                                struct bf_call_pair *pair)
{
    const uint32_t f = bf_function_find(m, bf_word(m, call, 3));
    if (!pair->word) {
        pair->word = 4;
        pair->at = f == UINT32_MAX ? 0 : m->functions[f].first + 1;
    }
    while (f != UINT32_MAX && pair->at < m->functions[f].end && pair->word < call->count) {
        const struct bf_instruction *in = &m->instructions[pair->at];
        if (in->opcode != SpvOpFunctionParameter && in->opcode != SpvOpLine &&
            in->opcode != SpvOpNoLine)
            return false;
        pair->at++;
        if (in->opcode != SpvOpFunctionParameter)
            continue;
        pair->argument = bf_word(m, call, pair->word++);
        pair->parameter = in->result;
        return true;
    }
    return false;
}

/* constants.c: when the module is parsed. False: out of memory. */
bool bf_constants_find(struct bf_module *m);
/* A scalar that is constant once specialized, the upper bits zero. */
bool bf_constant(const struct bf_module *m, uint32_t id, uint64_t *value);

/* A scalar or vector of numbers. */
struct bf_shape {
    enum bf_number number;
    uint8_t width; /* bytes */
    uint8_t components;
    uint32_t scalar; /* id of the type of a component */
};
bool bf_shape(const struct bf_module *m, uint32_t type, struct bf_shape *shape);

/* Of GLSL.std.450: one that chooses, compares or cuts off, and never rounds. */
bool bf_library_exact(uint32_t function);
/* An OpFConvert, to less than it had. */
bool bf_narrows(const struct bf_module *m, const struct bf_instruction *in);

/* The literal string at word i. */
const char *bf_string(const struct bf_module *m, const struct bf_instruction *in, uint32_t i,
                      char buffer[256]);

/* A load of a member. */
struct bf_load {
    uint32_t at;     /* OpLoad's first word */
    uint32_t member; /* index, once members are known */
    uint32_t id;     /* result */
    bool exact;
};

struct bf_shader {
    _Atomic uint32_t references;
    const uint32_t *words;
    uint32_t *own_words; /* the same; NULL: borrowed */
    size_t word_count;
    char *entry;
    VkShaderStageFlagBits stage;
    bool has_specialization;
    VkSpecializationInfo specialization;
    uint8_t hash[32];
    struct bf_shader_facts facts;
    struct bf_shader_binding *bindings;
    struct bf_shader_varying *inputs, *outputs;
    uint32_t *builtins;
    struct bf_fold_member *members; /* by offset */
    uint32_t member_count;
    struct bf_load *loads; /* by place in the module */
    uint32_t load_count;
    /* For the rewriter. */
    uint32_t *arithmetic; /* ids of float results that aren't NoContraction yet */
    uint32_t arithmetic_count;
    uint32_t *spec_ids; /* taken; ascending */
    uint32_t spec_id_count;
    /* Widths of the floats that it computes with, and of those whose zeros, infinities and NaN its
     * entry point keeps: BF_FLOAT_16, ... */
    uint8_t float_widths, kept_widths;
    bool has_keeping;        /* SignedZeroInfNanPreserve is among its capabilities */
    bool has_float_controls; /* by its version, or by the extension */
    uint32_t entry_function; /* id */
    uint32_t capability_end; /* words: behind the last capability */
    uint32_t mode_end;       /* words: behind the last entry point or execution mode */
    uint32_t annotation_end; /* words: behind the last decoration */
    uint32_t function_begin; /* words: the first OpFunction */
};

/* combined.c: of shader->arithmetic those that a compiler could compute otherwise once 'folded'
 * [bound], loads, are constants. 'ids' has room for all. *cancels: see cancelling.h. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult bf_combined_find(const struct bf_shader *shader, const bool *folded, uint32_t *ids,
                          uint32_t *count, bool *cancels);
/* Whether an instruction hands on one of its operands, or parts of them. */
bool bf_hands_on(const struct bf_module *m, const struct bf_instruction *in);

/* Those of the 64 words that a member has bytes in. */
static inline uint64_t bf_member_words(const struct bf_fold_member *member)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < member->components; i++) {
        uint32_t first = (uint32_t)member->offset + i * member->stride;
        for (uint32_t byte = first; byte < first + member->width; byte++)
            words |= UINT64_C(1) << (byte / 4);
    }
    return words;
}

/* Each returns false for want of memory. The module has been parsed, the entry point found. */

/* The loads of push constants, and their members, without weight and exactness; a reason if there
 * are none. */
bool bf_shader_find_loads(struct bf_shader *shader, struct bf_module *m);
/* Which pointers may point to the same: ids' 'alias'. And what stands for that memory; 0: what
 * isn't the shader's own. */
void bf_module_alias(struct bf_module *m);
uint32_t bf_module_memory(struct bf_module *m, uint32_t pointer);
/* What becomes of values: ids' uses. See 'complex'. */
bool bf_module_follow(struct bf_module *m);
bool bf_shader_find_facts(struct bf_shader *shader, struct bf_module *m);

#endif
