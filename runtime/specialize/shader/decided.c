/* SPDX-License-Identifier: MIT */
/* What some conditions of a module decide over. */
#include "specialize/shader/decided.h"

#include <stdlib.h>
#include <string.h>

/* The first instruction behind a block's phis. */
static uint32_t phis_end(const struct bf_module *m, uint32_t label)
{
    uint32_t i = label < m->bound ? m->ids[label].definition : 0; /* behind the label */
    while (i && i < m->instruction_count &&
           (m->instructions[i].opcode == SpvOpPhi || m->instructions[i].opcode == SpvOpLine ||
            m->instructions[i].opcode == SpvOpNoLine))
        i++;
    return i;
}

static bool decided_constructs_find(struct bf_decided *d, const struct bf_module *m)
{
    uint32_t count = 0, label = 0, around = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        count += m->instructions[i].opcode == SpvOpLoopMerge ||
                 m->instructions[i].opcode == SpvOpSelectionMerge;
    d->constructs = calloc(count + 1, sizeof(*d->constructs));
    if (!d->constructs)
        return false;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const bool loop = in->opcode == SpvOpLoopMerge;
        if (in->opcode == SpvOpLabel)
            label = i;
        if (!loop && in->opcode != SpvOpSelectionMerge)
            continue;
        const uint32_t begin = loop ? label : i + 1, end = phis_end(m, bf_word(m, in, 1));
        while (around && d->constructs[around - 1].end <= begin)
            around = d->constructs[around - 1].around;
        if (end <= begin)
            continue; /* not as it should be */
        d->constructs[d->construct_count++] = (struct bf_construct){begin, end, around, false};
        around = d->construct_count;
        for (uint32_t w = 1; w < (loop ? 3 : 2); w++)
            d->leads[bf_word(m, in, w)] = d->construct_count;
    }
    return true;
}

bool bf_decided_init(struct bf_decided *d, const struct bf_module *m)
{
    *d = (struct bf_decided){
        .depth = calloc(m->instruction_count + 1, sizeof(*d->depth)),
        .steps = calloc(m->instruction_count + 1, sizeof(*d->steps)),
        .leads = calloc(m->bound, sizeof(*d->leads)),
        .return_ = malloc((m->function_count + 1) * sizeof(*d->return_)),
    };
    if (!d->depth || !d->steps || !d->leads || !d->return_)
        return false;
    memset(d->return_, 0xff, (m->function_count + 1) * sizeof(*d->return_));
    return decided_constructs_find(d, m);
}

void bf_decided_finish(struct bf_decided *d)
{
    free(d->depth);
    free(d->steps);
    free(d->leads);
    free(d->return_);
    free(d->constructs);
}

static void range_add(struct bf_decided *d, uint32_t begin, uint32_t end)
{
    if (begin < end) {
        d->steps[begin]++;
        d->steps[end]--;
    }
}

/* The condition of a branch; 0: it has none. */
static uint32_t condition_of(const struct bf_module *m, const struct bf_instruction *in)
{
    return in->opcode == SpvOpBranchConditional || in->opcode == SpvOpSwitch ? bf_word(m, in, 1)
                                                                             : 0;
}

static void depths_find(struct bf_decided *d, const struct bf_module *m, const uint8_t *value,
                        uint8_t bits)
{
    memset(d->steps, 0, (m->instruction_count + 1) * sizeof(*d->steps));
    for (uint32_t i = 0; i + 1 < m->instruction_count; i++) {
        const struct bf_instruction *in = &m->instructions[i];
        const uint32_t condition = in->opcode == SpvOpSelectionMerge ? condition_of(m, in + 1) : 0;
        if (condition && value[condition] & bits)
            range_add(d, i + 2, phis_end(m, bf_word(m, in, 1)));
    }
    for (uint32_t k = 0; k < d->construct_count; k++)
        if (d->constructs[k].decided)
            range_add(d, d->constructs[k].begin, d->constructs[k].end);
    for (uint32_t f = 0; f < m->function_count; f++)
        range_add(d, d->return_[f], m->functions[f].end);
    int32_t depth = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++) {
        depth += d->steps[i];
        d->depth[i] = (uint32_t)depth;
    }
}

/* Something inside of it that is decided by something inside of it, leaves it or begins it anew. */
static bool construct_decide(struct bf_decided *d, uint32_t number, uint32_t i, bool own)
{
    struct bf_construct *c = &d->constructs[number - 1];
    if (c->decided || i < c->begin || i >= c->end || (!own && d->depth[i] <= d->depth[c->begin]))
        return false;
    c->decided = true;
    return true;
}

static bool branch_follow(struct bf_decided *d, const struct bf_module *m, uint32_t i, bool own)
{
    const struct bf_instruction *in = &m->instructions[i];
    bool more = false;
    for (uint32_t w = 1; w < in->count; w++) {
        const uint32_t to = bf_word_is_id(m, in, w) ? d->leads[bf_word(m, in, w)] : 0;
        more |= to && construct_decide(d, to, i, own);
    }
    return more;
}

bool bf_decided_find(struct bf_decided *d, const struct bf_module *m, const uint8_t *value,
                     uint8_t bits)
{
    bool more = false;
    depths_find(d, m, value, bits);
    for (uint32_t f = 0; f < m->function_count; f++) {
        uint32_t inner = 0; /* the construct that the instruction lies in */
        for (uint32_t i = m->functions[f].first; i < m->functions[f].end; i++) {
            const struct bf_instruction *in = &m->instructions[i];
            const uint32_t condition = condition_of(m, in);
            while (inner && d->constructs[inner - 1].end <= i)
                inner = d->constructs[inner - 1].around;
            switch (in->opcode) {
            case SpvOpLoopMerge:
            case SpvOpSelectionMerge:
                inner = d->leads[bf_word(m, in, 1)];
                break;
            case SpvOpBranch:
            case SpvOpBranchConditional:
            case SpvOpSwitch:
                more |= branch_follow(d, m, i, condition && value[condition] & bits);
                break;
            case SpvOpReturn:
            case SpvOpReturnValue:
                for (uint32_t k = inner; k; k = d->constructs[k - 1].around)
                    more |= construct_decide(d, k, i, false);
                if (d->depth[i] && i < d->return_[f]) {
                    d->return_[f] = i;
                    more = true;
                }
                break;
            default:
                break;
            }
        }
    }
    if (more)
        depths_find(d, m, value, bits);
    return more;
}
