/* SPDX-License-Identifier: MIT */
/* A program of the model: a short sequence of operations that one CPU thread issues on three queues
 * and two fences.
 *
 * As text, one word per operation: 'Ax' queue A executes, 'Asf2' queue A signals fence f with 2,
 * 'Bwg1' queue B waits until fence g has reached 1, 'cf0' the CPU sets fence f to 0. */
#ifndef BELFRY_MODEL_PROGRAM_H
#define BELFRY_MODEL_PROGRAM_H

#include "../support/std.h"

#include "../random/rng.h"

enum {
    MODEL_QUEUES = 3,
    MODEL_FENCES = 2,
    MODEL_VALUES = 3, /* 0 to 2 */
    MODEL_ENGINES = 3,
    MODEL_OPS = 16, /* they are bits of a set */
    MODEL_LETTERS = MODEL_QUEUES + (2 * MODEL_QUEUES + 1) * MODEL_FENCES * MODEL_VALUES,
    MODEL_TEXT = MODEL_OPS * 5 + 1,
};

typedef uint16_t op_set; /* bit i: operation i */

enum op_kind {
    OP_EXECUTE,
    OP_SIGNAL,
    OP_WAIT,
    OP_CPU_SIGNAL,
};

struct op {
    uint8_t kind;  /* enum op_kind */
    uint8_t queue; /* OP_CPU_SIGNAL: MODEL_QUEUES */
    uint8_t fence;
    uint8_t value;
};

struct program {
    int count;
    struct op ops[MODEL_OPS];

    /* Derived by program_index: */
    op_set executes;
    op_set of_queue[MODEL_QUEUES];
    op_set signals_of_fence[MODEL_FENCES]; /* the CPU's as well */
    /* Waits for a fence that a value satisfies. */
    op_set waits[MODEL_FENCES][MODEL_VALUES];
};

/* Operation number 'letter' of the alphabet, 0 to MODEL_LETTERS - 1. */
struct op op_of_letter(int letter);
int op_letter(struct op op);

/* Fills in what is derived; call it when ops and count are set. */
void program_index(struct program *program);

/* Renaming queues that share an engine in the same way, or fences, makes a program that behaves the
 * same but for the order in which equals are looked at. True for the one of each such class whose
 * letters come first. 'engine_of' says on which engine each queue is. */
bool program_is_canonical(const struct program *program, const int engine_of[MODEL_QUEUES]);

/* A random program of 'count' operations, with more executions than the alphabet has. */
void program_random(struct program *program, int count, struct rng *rng);

/* 'buffer' has room for MODEL_TEXT. */
const char *program_text(const struct program *program, char *buffer);

/* False: the text is not a program. */
bool program_parse(struct program *program, const char *text);

#endif
