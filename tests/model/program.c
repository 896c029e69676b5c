/* SPDX-License-Identifier: MIT */
/* The programs of program.h: all of them in their order, random ones, and their text. */
#include "program.h"

/* The alphabet: executions, then signals, then waits, then the CPU's signals. */
enum {
    PAIRS = MODEL_FENCES * MODEL_VALUES,
    FIRST_SIGNAL = MODEL_QUEUES,
    FIRST_WAIT = FIRST_SIGNAL + MODEL_QUEUES * PAIRS,
    FIRST_CPU = FIRST_WAIT + MODEL_QUEUES * PAIRS,
};

struct op op_of_letter(int letter)
{
    if (letter < FIRST_SIGNAL)
        return (struct op){OP_EXECUTE, (uint8_t)letter, 0, 0};
    enum op_kind kind = letter < FIRST_WAIT  ? OP_SIGNAL
                        : letter < FIRST_CPU ? OP_WAIT
                                             : OP_CPU_SIGNAL;
    int rest = letter - (kind == OP_SIGNAL ? FIRST_SIGNAL
                         : kind == OP_WAIT ? FIRST_WAIT
                                           : FIRST_CPU);
    return (struct op){.kind = (uint8_t)kind,
                       .queue = (uint8_t)(kind == OP_CPU_SIGNAL ? MODEL_QUEUES : rest / PAIRS),
                       .fence = (uint8_t)(rest % PAIRS / MODEL_VALUES),
                       .value = (uint8_t)(rest % MODEL_VALUES)};
}

int op_letter(struct op op)
{
    int pair = op.fence * MODEL_VALUES + op.value;
    switch ((enum op_kind)op.kind) {
    case OP_EXECUTE:
        return op.queue;
    case OP_SIGNAL:
        return FIRST_SIGNAL + op.queue * PAIRS + pair;
    case OP_WAIT:
        return FIRST_WAIT + op.queue * PAIRS + pair;
    case OP_CPU_SIGNAL:
        break;
    }
    return FIRST_CPU + pair;
}

void program_index(struct program *program)
{
    program->executes = 0;
    memset(program->of_queue, 0, sizeof(program->of_queue));
    memset(program->signals_of_fence, 0, sizeof(program->signals_of_fence));
    memset(program->waits, 0, sizeof(program->waits));
    for (int i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        op_set bit = (op_set)(1u << i);
        if (op->kind != OP_CPU_SIGNAL)
            program->of_queue[op->queue] |= bit;
        if (op->kind == OP_EXECUTE)
            program->executes |= bit;
        if (op->kind == OP_SIGNAL || op->kind == OP_CPU_SIGNAL)
            program->signals_of_fence[op->fence] |= bit;
        for (int v = op->value; op->kind == OP_WAIT && v < MODEL_VALUES; v++)
            program->waits[op->fence][v] |= bit;
    }
}

/* Is the program, renamed, before itself in the order of letters? */
static bool comes_first_renamed(const struct program *program,
                                const uint8_t queues[MODEL_QUEUES + 1],
                                const uint8_t fences[MODEL_FENCES])
{
    for (int i = 0; i < program->count; i++) {
        struct op op = program->ops[i];
        int mine = op_letter(op);
        op.queue = queues[op.queue];
        op.fence = fences[op.fence];
        int other = op_letter(op);
        if (other != mine)
            return other < mine;
    }
    return false;
}

bool program_is_canonical(const struct program *program, const int engine_of[MODEL_QUEUES])
{
    static const uint8_t orders[6][MODEL_QUEUES + 1] = {
        {0, 1, 2, 3}, {0, 2, 1, 3}, {1, 0, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}, {2, 1, 0, 3},
    };
    static const uint8_t fences[2][MODEL_FENCES] = {{0, 1}, {1, 0}};
    for (int o = 0; o < 6; o++) {
        /* Engines may be renamed, but not split or joined. */
        bool allowed = true;
        for (int a = 0; a < MODEL_QUEUES; a++) {
            for (int b = 0; b < a; b++)
                allowed &= (engine_of[a] == engine_of[b]) ==
                           (engine_of[orders[o][a]] == engine_of[orders[o][b]]);
        }
        for (int f = 0; f < 2 && allowed; f++)
            if (comes_first_renamed(program, orders[o], fences[f]))
                return false;
    }
    return true;
}

void program_random(struct program *program, int count, struct rng *rng)
{
    program->count = count;
    for (int i = 0; i < count; i++) {
        int kind = rng_range(rng, 1, 100);
        int pair = (int)rng_below(rng, PAIRS), queue = (int)rng_below(rng, MODEL_QUEUES);
        int letter = kind <= 30   ? queue
                     : kind <= 58 ? FIRST_SIGNAL + queue * PAIRS + pair
                     : kind <= 86 ? FIRST_WAIT + queue * PAIRS + pair
                                  : FIRST_CPU + pair;
        program->ops[i] = op_of_letter(letter);
    }
    program_index(program);
}

const char *program_text(const struct program *program, char *buffer)
{
    char *at = buffer;
    *at = 0;
    for (int i = 0; i < program->count; i++) {
        const struct op *op = &program->ops[i];
        if (i)
            *at++ = ' ';
        *at++ = op->kind == OP_CPU_SIGNAL ? 'c' : (char)('A' + op->queue);
        if (op->kind == OP_EXECUTE) {
            *at++ = 'x';
        } else {
            if (op->kind != OP_CPU_SIGNAL)
                *at++ = op->kind == OP_SIGNAL ? 's' : 'w';
            *at++ = (char)('f' + op->fence);
            *at++ = (char)('0' + op->value);
        }
        *at = 0;
    }
    return buffer;
}

bool program_parse(struct program *program, const char *text)
{
    *program = (struct program){0};
    char word[8];
    int used;
    while (sscanf(text, " %7s%n", word, &used) == 1) {
        text += used;
        int letter = 0;
        while (letter < MODEL_LETTERS) {
            struct program one = {.count = 1, .ops = {op_of_letter(letter)}};
            char buffer[MODEL_TEXT];
            if (!strcmp(program_text(&one, buffer), word))
                break;
            letter++;
        }
        if (letter == MODEL_LETTERS || program->count == MODEL_OPS)
            return false;
        program->ops[program->count++] = op_of_letter(letter);
    }
    program_index(program);
    return true;
}
