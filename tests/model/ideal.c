/* SPDX-License-Identifier: MIT */
/* The ideal machine: what D3D12 says that queues and fences do. */
#include "ideal.h"

enum {
    FEW = 32, /* states that are compared one by one */
    TABLE = 4 * IDEAL_STATES,
};

/* Places plus one of the states that are more than FEW. */
static uint16_t table[TABLE];

static ideal_state with_value(ideal_state state, int fence, int value)
{
    int shift = 32 + 2 * fence;
    return (state & ~(UINT64_C(3) << shift)) | (ideal_state)value << shift;
}

static bool is_satisfied(ideal_state state, int op)
{
    return state >> (16 + op) & 1;
}

/* The fence takes a value: what is armed and reached is satisfied. */
static ideal_state apply(const struct ideal *ideal, ideal_state state, const struct op *op)
{
    op_set armed = ideal->program->waits[op->fence][op->value] & ideal->issued;
    return with_value(state, op->fence, op->value) | (ideal_state)armed << 16;
}

/* The queue's first operation, or -1. */
static int head_of(const struct ideal *ideal, ideal_state state, int queue)
{
    unsigned left =
        (unsigned)(ideal->program->of_queue[queue] & ideal->issued & ~ideal_done(state));
    return left ? __builtin_ctz(left) : -1;
}

/* Carries out the queue's first operation if that can be done now, and is one of 'which'. */
static bool take_step(const struct ideal *ideal, ideal_state *state, int queue, op_set available,
                      op_set which)
{
    int i = head_of(ideal, *state, queue);
    if (i < 0 || !(which >> i & 1))
        return false;
    const struct op *op = &ideal->program->ops[i];
    if (op->kind == OP_EXECUTE && !(available >> i & 1))
        return false;
    if (op->kind == OP_WAIT && !is_satisfied(*state, i))
        return false;
    if (op->kind == OP_SIGNAL)
        *state = apply(ideal, *state, op);
    *state |= UINT64_C(1) << i;
    return true;
}

static ideal_state settle(const struct ideal *ideal, ideal_state state, op_set available,
                          op_set which)
{
    bool moved;
    do {
        moved = false;
        for (int q = 0; q < MODEL_QUEUES; q++)
            while (take_step(ideal, &state, q, available, which))
                moved = true;
    } while (moved);
    return state;
}

ideal_state ideal_settle(const struct ideal *ideal, ideal_state state, op_set available)
{
    return settle(ideal, state, available, (op_set)~0);
}

/* What MI-8 asks for. */
static ideal_state settle_due(const struct ideal *ideal, ideal_state state, op_set begun)
{
    op_set due = 0;
    for (int i = 0; i < ideal->program->count; i++)
        due |= (op_set)((op_set)(ideal->causes[i] & ~begun) == 0) << i;
    return settle(ideal, state, begun, due);
}

void ideal_begin(struct ideal *ideal, const struct program *program, bool prompt)
{
    ideal->prompt = prompt;
    ideal->program = program;
    ideal->issued = 0;
    ideal->available = 0;
    ideal->overflow = false;
    ideal->count = 1;
    ideal->states[0] = 0;
    memset(ideal->followed, 0, sizeof(ideal->followed));
    memset(ideal->causes, 0, sizeof(ideal->causes));
}

static bool find_in_table(struct ideal *ideal, ideal_state state, uint16_t **place)
{
    uint32_t at = (uint32_t)(state * UINT64_C(0x9e3779b97f4a7c15) >> 40) % TABLE;
    while (table[at] && ideal->states[table[at] - 1] != state)
        at = (at + 1) % TABLE;
    *place = &table[at];
    return table[at];
}

static bool is_there(struct ideal *ideal, ideal_state state, uint16_t **place)
{
    *place = NULL;
    if (ideal->count > FEW)
        return find_in_table(ideal, state, place);
    for (int i = 0; i < ideal->count; i++)
        if (ideal->states[i] == state)
            return true;
    return false;
}

static void add(struct ideal *ideal, ideal_state state)
{
    uint16_t *place;
    if (is_there(ideal, state, &place))
        return;
    if (ideal->count == IDEAL_STATES) {
        ideal->overflow = true;
        return;
    }
    ideal->states[ideal->count++] = state;
    if (place)
        *place = (uint16_t)ideal->count;
    if (ideal->count != FEW + 1)
        return;
    memset(table, 0, sizeof(table));
    for (int i = 0; i < ideal->count; i++) {
        find_in_table(ideal, ideal->states[i], &place);
        *place = (uint16_t)(i + 1);
    }
}

void ideal_close(struct ideal *ideal)
{
    int given = ideal->count;
    ideal->count = 0;
    for (int i = 0; i < given; i++)
        add(ideal, ideal->states[i]); /* its place is at most i: nothing is lost */
    for (int i = 0; i < ideal->count; i++) {
        for (int q = 0; q < MODEL_QUEUES; q++) {
            ideal_state state = ideal->states[i];
            if (take_step(ideal, &state, q, ideal->available, (op_set)~0))
                add(ideal, state);
        }
    }
}

/* Is an update to the fence overdue? */
static bool is_stale(const struct ideal *ideal, ideal_state state, int fence, op_set begun)
{
    ideal_state later = settle_due(ideal, state, begun);
    return (ideal_done(state) ^ ideal_done(later)) & ideal->program->signals_of_fence[fence];
}

/* Operation i, a wait or a queue's signal, is about to be issued: what waits may follow from now
 * on, where some state has not satisfied them. */
static void add_followed(struct ideal *ideal, int i)
{
    const struct program *program = ideal->program;
    const struct op *op = &program->ops[i];
    op_set satisfied = (op_set)~0, done = (op_set)~0;
    bool low = false;
    for (int s = 0; s < ideal->count; s++) {
        satisfied &= (op_set)(ideal->states[s] >> 16);
        done &= ideal_done(ideal->states[s]);
        low |= ideal_value(ideal->states[s], op->fence) < op->value;
    }
    for (int j = 0; j < i; j++) {
        const struct op *other = &program->ops[j];
        if (other->fence != op->fence)
            continue;
        if (op->kind == OP_SIGNAL && other->kind == OP_WAIT && other->value <= op->value &&
            !(satisfied >> j & 1))
            ideal->followed[j] |= (op_set)(1u << i);
        if (op->kind == OP_WAIT && other->kind == OP_SIGNAL && other->value >= op->value && low &&
            !(done >> j & 1))
            ideal->followed[i] |= (op_set)(1u << j);
    }
}

static void find_causes(struct ideal *ideal, int count)
{
    const struct program *program = ideal->program;
    bool moved;
    do {
        op_set of_queue[MODEL_QUEUES + 1] = {0};
        moved = false;
        for (int i = 0; i < count; i++) {
            op_set *queue = &of_queue[program->ops[i].queue];
            *queue |= program->executes & (op_set)(1u << i);
            for (int j = 0; j < count; j++)
                if (ideal->followed[i] >> j & 1)
                    *queue |= ideal->causes[j];
            moved |= ideal->causes[i] != *queue;
            ideal->causes[i] = *queue;
        }
    } while (moved);
}

/* A wait is armed while updates to its fence are overdue (MI-8). They may stay so where it makes no
 * difference to the wait; false: it makes one. 'reached' says whether the value, as it is in the
 * state, satisfies the wait, and is made to say whether the value satisfies it that the fence
 * should have. */
static bool arm_prompt(const struct ideal *ideal, ideal_state state, const struct op *wait,
                       op_set begun, bool *reached)
{
    const struct program *program = ideal->program;
    ideal_state later = settle_due(ideal, state, begun);
    op_set overdue =
        (op_set)(ideal_done(later) & ~ideal_done(state)) & program->signals_of_fence[wait->fence];
    bool some_reach = *reached, last_reaches = false;
    if (!overdue)
        return true;
    for (int q = 0; q < MODEL_QUEUES; q++) {
        bool reaches = false; /* what the queue's last one sets: it may be the last of all */
        for (int i = 0; i < program->count; i++) {
            if ((overdue & program->of_queue[q]) >> i & 1) {
                reaches = program->ops[i].value >= wait->value;
                some_reach |= reaches;
            }
        }
        last_reaches |= reaches;
    }
    *reached = last_reaches;
    return !some_reach || last_reaches;
}

void ideal_issue(struct ideal *ideal, int i, op_set begun)
{
    const struct program *program = ideal->program;
    const struct op *op = &program->ops[i];
    op_set before = ideal->issued;
    int kept = 0;
    if (ideal->prompt) {
        if (op->kind == OP_SIGNAL || op->kind == OP_WAIT)
            add_followed(ideal, i);
        find_causes(ideal, i + 1);
    }
    for (int s = 0; s < ideal->count; s++) {
        ideal_state state = ideal->states[s];
        ideal->issued = before;
        if (ideal->prompt && op->kind == OP_CPU_SIGNAL && is_stale(ideal, state, op->fence, begun))
            continue;
        bool idle = false, reached = ideal_value(state, op->fence) >= op->value;
        if (ideal->prompt && op->kind == OP_WAIT && !arm_prompt(ideal, state, op, begun, &reached))
            continue;
        if (op->kind == OP_SIGNAL) {
            op_set others = program->of_queue[op->queue] & before;
            idle = (others & ~ideal_done(state)) == 0;
            if (ideal->prompt && !idle &&
                (others & ~ideal_done(settle_due(ideal, state, begun))) == 0)
                continue;
        }
        ideal->issued = (op_set)(before | 1u << i);
        if (op->kind == OP_CPU_SIGNAL || idle)
            state = apply(ideal, state, op) | UINT64_C(1) << i;
        if (op->kind == OP_WAIT && reached)
            state |= UINT64_C(1) << (16 + i);
        ideal->states[kept++] = state;
    }
    ideal->issued = (op_set)(before | 1u << i);
    ideal->count = kept;
}

bool ideal_read(struct ideal *ideal, int fence, uint64_t value, op_set begun)
{
    int kept = 0;
    for (int s = 0; s < ideal->count; s++) {
        ideal_state state = ideal->states[s];
        if ((uint64_t)ideal_value(state, fence) == value && !is_stale(ideal, state, fence, begun))
            ideal->states[kept++] = state;
    }
    ideal->count = kept;
    return kept > 0;
}

bool ideal_may_begin(struct ideal *ideal, int execute, op_set before)
{
    int queue = ideal->program->ops[execute].queue, kept = 0;
    for (int s = 0; s < ideal->count; s++) {
        ideal_state later = ideal_settle(ideal, ideal->states[s], before);
        if (ideal_done(later) >> execute & 1 || head_of(ideal, later, queue) == execute)
            ideal->states[kept++] = ideal->states[s];
    }
    ideal->count = kept;
    return kept > 0;
}

bool ideal_rests(struct ideal *ideal)
{
    int kept = 0;
    for (int s = 0; s < ideal->count; s++) {
        ideal_state later = ideal_settle(ideal, ideal->states[s], ideal->available);
        bool rests = true;
        for (int q = 0; q < MODEL_QUEUES; q++) {
            int head = head_of(ideal, later, q);
            if (head >= 0 && ideal->program->executes >> head & 1)
                rests = false;
        }
        if (rests)
            ideal->states[kept++] = ideal->states[s];
    }
    ideal->count = kept;
    return kept > 0;
}

bool ideal_queue_is_idle(struct ideal *ideal, int queue, bool idle)
{
    int kept = 0;
    for (int s = 0; s < ideal->count; s++) {
        ideal_state later = ideal_settle(ideal, ideal->states[s], ideal->available);
        if ((head_of(ideal, later, queue) < 0) == idle)
            ideal->states[kept++] = ideal->states[s];
    }
    ideal->count = kept;
    return kept > 0;
}

/* Keeps the states that stay as they are unless some execution of 'available' ends. */
static void keep_settled(struct ideal *ideal, op_set available)
{
    int kept = 0;
    for (int s = 0; s < ideal->count; s++)
        if (ideal_settle(ideal, ideal->states[s], available) == ideal->states[s])
            ideal->states[kept++] = ideal->states[s];
    ideal->count = kept;
}

void ideal_ends(struct ideal *ideal, const struct program *program, bool prompt)
{
    ideal_begin(ideal, program, false);
    ideal->available = program->executes;
    for (int i = 0; i < program->count; i++) {
        ideal_issue(ideal, i, 0);
        ideal_close(ideal);
        if (prompt)
            keep_settled(ideal, 0);
    }
    keep_settled(ideal, ideal->available);
}

uint64_t ideal_hash(const struct ideal *ideal)
{
    uint64_t sum = (uint64_t)ideal->available << 16 | ideal->issued;
    for (int s = 0; s < ideal->count; s++) {
        struct rng rng = {ideal->states[s]};
        sum += rng_next(&rng);
    }
    return sum;
}
