/* SPDX-License-Identifier: MIT */
/*
 * A module that is being rewritten: a copy of its words, in which operands can be replaced in
 * place, and instructions that are put before others, or in their place. Nothing moves. Types and
 * constants are the module's own where it has them.
 *
 * Out of memory, 'failed' of the arena is set and nothing more happens; ids are given out all the
 * same.
 *
 * Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_REWRITE_H
#define BELFRY_SPECIALIZE_REWRITE_H

#include "specialize/shader/arena.h"
#include "specialize/shader/module.h"

#define BF_KNOWN_OPERANDS 3

struct bf_edit {
    uint32_t before;       /* index of an instruction */
    uint32_t number;       /* edits before one instruction keep their order */
    uint32_t first, count; /* of the words below */
    bool phi;              /* comes before all that isn't one */
};

struct bf_rewrite {
    const struct bf_module *m;
    struct bf_arena *arena;
    uint32_t *own;     /* [word_count] the module's words */
    uint8_t *replaced; /* [instruction_count] the instruction itself is left out */
    uint32_t *words;
    struct bf_edit *edits;
    uint32_t word_count, word_room, edit_count, edit_room;
    uint32_t next_id;
    uint32_t globals_end; /* index of the first OpFunction */
    uint32_t annotations_end;
    /* Types and constants that were found or made. */
    struct bf_known {
        uint32_t opcode, type, count, operands[BF_KNOWN_OPERANDS], id;
    } * known;
    uint32_t known_count, known_room;
};

void bf_rewrite_init(struct bf_rewrite *rewrite, const struct bf_module *m, struct bf_arena *arena);

static inline uint32_t bf_rewrite_id(struct bf_rewrite *rewrite)
{
    return rewrite->next_id++;
}

/* Puts an instruction before instruction i, behind what has been put there, a phi behind the phis;
 * i may be the count of instructions, and is then the end. */
void bf_rewrite_put(struct bf_rewrite *rewrite, uint32_t i, uint32_t opcode, uint32_t count,
                    const uint32_t *operands);
#define BF_PUT(rewrite_, i_, opcode_, ...)                                                         \
    bf_rewrite_put(rewrite_, i_, opcode_,                                                          \
                   (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)),               \
                   (uint32_t[]){__VA_ARGS__})
/* The same for one that has a result: the id. */
#define BF_PUT_NEW(rewrite_, i_, opcode_, type_, ...)                                              \
    bf_rewrite_put_new(rewrite_, i_, opcode_, type_,                                               \
                       (uint32_t)(sizeof((uint32_t[]){0, __VA_ARGS__}) / sizeof(uint32_t)) - 1,    \
                       (uint32_t[]){0, __VA_ARGS__} + 1)
uint32_t bf_rewrite_put_new(struct bf_rewrite *rewrite, uint32_t i, uint32_t opcode, uint32_t type,
                            uint32_t count, const uint32_t *operands);

/* Leaves out instruction i; what has been put before it stays. */
static inline void bf_rewrite_drop(struct bf_rewrite *rewrite, uint32_t i)
{
    if (!rewrite->arena->failed)
        rewrite->replaced[i] = 1;
}

/* Has word w of instruction i say something else. */
static inline void bf_rewrite_set(struct bf_rewrite *rewrite, uint32_t i, uint32_t w, uint32_t to)
{
    if (!rewrite->arena->failed)
        rewrite->own[rewrite->m->instructions[i].at + w] = to;
}

/* Ids of types and constants. */
uint32_t bf_rewrite_type(struct bf_rewrite *rewrite, uint32_t opcode, uint32_t count,
                         const uint32_t *operands);
#define BF_TYPE(rewrite_, opcode_, ...)                                                            \
    bf_rewrite_type(rewrite_, opcode_,                                                             \
                    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)),              \
                    (uint32_t[]){__VA_ARGS__})
static inline uint32_t bf_rewrite_uint(struct bf_rewrite *rewrite)
{
    return BF_TYPE(rewrite, SpvOpTypeInt, 32, 0);
}
static inline uint32_t bf_rewrite_void(struct bf_rewrite *rewrite)
{
    return bf_rewrite_type(rewrite, SpvOpTypeVoid, 0, (const uint32_t[]){0});
}
static inline uint32_t bf_rewrite_bool(struct bf_rewrite *rewrite)
{
    return bf_rewrite_type(rewrite, SpvOpTypeBool, 0, (const uint32_t[]){0});
}
uint32_t bf_rewrite_constant(struct bf_rewrite *rewrite, uint32_t value);
uint32_t bf_rewrite_true(struct bf_rewrite *rewrite);
uint32_t bf_rewrite_null(struct bf_rewrite *rewrite, uint32_t type);
uint32_t bf_rewrite_pointer(struct bf_rewrite *rewrite, uint32_t storage, uint32_t type);
/* A variable of the module, with that initializer; 0: none. */
uint32_t bf_rewrite_global(struct bf_rewrite *rewrite, uint32_t storage, uint32_t type,
                           uint32_t initializer);

/* What has come of it, allocated by malloc. False: out of memory. */
bool bf_rewrite_finish(struct bf_rewrite *rewrite, uint32_t **words, size_t *count);

#endif
