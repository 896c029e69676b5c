/* SPDX-License-Identifier: MIT */
/* The control flow of a module: blocks, edges, dominators from the front and from the back. */
#include "specialize/dry_run/flow.h"

#include <string.h>

static bool block_ends(uint16_t opcode)
{
    switch (opcode) {
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpReturn:
    case SpvOpReturnValue:
    case SpvOpKill:
    case SpvOpUnreachable:
    case SpvOpTerminateInvocation:
        return true;
    default:
        return false;
    }
}

static bool list_add(uint32_t *list, uint32_t *count, uint32_t what)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == what)
            return false;
    list[(*count)++] = what;
    return true;
}

/* The blocks of all functions that are reached. */
static bool blocks_find(struct bf_flow *flow)
{
    const struct bf_module *m = flow->m;
    uint32_t labels = 0;
    for (uint32_t i = 0; i < m->instruction_count; i++)
        labels += m->instructions[i].opcode == SpvOpLabel;
    flow->blocks = bf_arena_zeroed(flow->arena, (labels + 1) * sizeof(*flow->blocks));
    flow->ordered = bf_arena_zeroed(flow->arena, (labels + 1) * sizeof(uint32_t));
    flow->ordered_first = bf_arena_zeroed(flow->arena, (m->function_count + 1) * sizeof(uint32_t));
    flow->of_label = bf_arena_zeroed(flow->arena, m->bound * sizeof(uint32_t));
    flow->of_instruction =
        bf_arena_zeroed(flow->arena, (m->instruction_count + 1) * sizeof(uint32_t));
    if (flow->arena->failed)
        return false;
    for (uint32_t f = 0; f < m->function_count; f++) {
        struct bf_block *block = NULL;
        for (uint32_t i = m->functions[f].first; m->functions[f].reached && i < m->functions[f].end;
             i++) {
            const struct bf_instruction *in = &m->instructions[i];
            if (in->opcode == SpvOpLabel) {
                block = &flow->blocks[flow->count++];
                *block = (struct bf_block){.label = in->result,
                                           .first = i,
                                           .function = f,
                                           .order = BF_NO_BLOCK,
                                           .dominator = BF_NO_BLOCK,
                                           .post_dominator = BF_NO_BLOCK,
                                           .latch = BF_NO_BLOCK};
                flow->of_label[in->result] = flow->count;
            }
            if (!block)
                continue;
            flow->of_instruction[i] = flow->count;
            if (in->opcode == SpvOpLoopMerge || in->opcode == SpvOpSelectionMerge)
                block->merge = i;
            if (block_ends(in->opcode)) {
                block->last = i;
                block = NULL;
            }
        }
        if (block) /* it ends as nothing does that is known here */
            return false;
    }
    return true;
}

static bool successors_find(struct bf_flow *flow)
{
    const struct bf_module *m = flow->m;
    for (uint32_t b = 0; b < flow->count; b++) {
        const struct bf_instruction *end = &m->instructions[flow->blocks[b].last];
        /* One more: the way out of a loop. */
        uint32_t *list = bf_arena_zeroed(flow->arena, (end->count + 1u) * sizeof(*list)), count = 0;
        if (!list)
            return false;
        for (uint32_t w = 1; w < end->count; w++) {
            uint32_t to = bf_word_is_id(m, end, w) ? flow->of_label[bf_word(m, end, w)] : 0;
            if (to)
                list_add(list, &count, to - 1);
        }
        flow->blocks[b].successors = list;
        flow->blocks[b].successor_count = count;
    }
    return true;
}

/* One search from the front of a function or, over predecessors, from behind its end: 'order' gets
 * the nodes in reverse postorder. The node flow->count stands behind all ends. */
struct search {
    struct bf_flow *flow;
    bool backwards, exits;
    uint32_t *stack, *next; /* [count + 1] nodes, and which edge of each comes next */
    uint8_t *seen;          /* [count + 1] 1: on the stack, 2: done */
    const uint32_t *ends;   /* blocks from which nothing leads on */
    uint32_t end_count;
};

static uint32_t edge_at(const struct search *search, uint32_t node, uint32_t i)
{
    const struct bf_flow *flow = search->flow;
    if (node == flow->count)
        return i < search->end_count ? search->ends[i] : BF_NO_BLOCK;
    const struct bf_block *block = &flow->blocks[node];
    if (search->backwards)
        return i < block->predecessor_count ? block->predecessors[i] : BF_NO_BLOCK;
    return i < block->successor_count ? block->successors[i] : BF_NO_BLOCK;
}

/* The edge goes back to where the search has come from: a loop, which has one such edge. */
static void loop_found(struct search *search, uint32_t latch, uint32_t header)
{
    struct bf_flow *flow = search->flow;
    struct bf_block *block = &flow->blocks[header];
    if (!bf_block_is_loop(flow, block) || (block->latch != BF_NO_BLOCK && block->latch != latch)) {
        flow->irreducible = true;
        return;
    }
    block->latch = latch;
    uint32_t end = flow->of_label[bf_word(flow->m, &flow->m->instructions[block->merge], 1)];
    struct bf_block *from = &flow->blocks[latch];
    if (search->exits && end)
        list_add(from->successors, &from->successor_count, end - 1);
}

static uint32_t search_run(struct search *search, uint32_t start, uint32_t *order)
{
    uint32_t depth = 1, count = 0;
    search->stack[0] = start;
    search->next[0] = 0;
    search->seen[start] = 1;
    while (depth) {
        uint32_t node = search->stack[depth - 1];
        uint32_t to = edge_at(search, node, search->next[depth - 1]++);
        if (to == BF_NO_BLOCK) {
            search->seen[node] = 2;
            order[count++] = node;
            depth--;
        } else if (!search->seen[to]) {
            search->seen[to] = 1;
            search->stack[depth] = to;
            search->next[depth++] = 0;
        } else if (search->seen[to] == 1 && !search->backwards) {
            loop_found(search, node, to);
        }
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t other = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = other;
    }
    return count;
}

static bool predecessors_find(struct bf_flow *flow)
{
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t s = 0; s < flow->blocks[b].successor_count; s++)
            flow->blocks[flow->blocks[b].successors[s]].predecessor_count++;
    for (uint32_t b = 0; b < flow->count; b++) {
        struct bf_block *block = &flow->blocks[b];
        block->predecessors =
            bf_arena_zeroed(flow->arena, (block->predecessor_count + 1) * sizeof(uint32_t));
        block->predecessor_count = 0;
        if (!block->predecessors)
            return false;
    }
    for (uint32_t b = 0; b < flow->count; b++)
        for (uint32_t s = 0; s < flow->blocks[b].successor_count; s++) {
            struct bf_block *to = &flow->blocks[flow->blocks[b].successors[s]];
            to->predecessors[to->predecessor_count++] = b;
        }
    return true;
}

/* Cooper, Harvey and Kennedy's way: each node's nearest dominator is what the ways up from its
 * predecessors have in common, until none changes. */
static void tree_find(const struct search *search, const uint32_t *order, uint32_t count,
                      uint32_t *number, uint32_t *up)
{
    const struct bf_flow *flow = search->flow;
    struct search other = *search;
    other.backwards = !search->backwards;
    for (uint32_t i = 0; i < count; i++) {
        number[order[i]] = i;
        up[order[i]] = i ? BF_NO_BLOCK : order[0];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < count; i++) {
            uint32_t best = BF_NO_BLOCK, from;
            /* From behind, what has no successors has the end. */
            bool end = search->backwards && !flow->blocks[order[i]].successor_count;
            for (uint32_t e = 0;; e++) {
                from = end ? (e ? BF_NO_BLOCK : flow->count) : edge_at(&other, order[i], e);
                if (from == BF_NO_BLOCK)
                    break;
                if (!search->seen[from] || up[from] == BF_NO_BLOCK)
                    continue;
                uint32_t a = best == BF_NO_BLOCK ? from : best, b = from;
                while (a != b) {
                    while (number[a] > number[b])
                        a = up[a];
                    while (number[b] > number[a])
                        b = up[b];
                }
                best = a;
            }
            if (up[order[i]] != best) {
                up[order[i]] = best;
                changed = true;
            }
        }
    }
}

bool bf_flow_init(struct bf_flow *flow, const struct bf_module *m, struct bf_arena *arena,
                  bool exits)
{
    *flow = (struct bf_flow){.m = m, .arena = arena};
    if (!blocks_find(flow) || !successors_find(flow)) {
        flow->out_of_memory = arena->failed;
        flow->irreducible = true;
        return false;
    }
    size_t room = (flow->count + 1) * sizeof(uint32_t);
    struct search front = {.flow = flow,
                           .exits = exits,
                           .stack = bf_arena_zeroed(arena, room),
                           .next = bf_arena_zeroed(arena, room),
                           .seen = bf_arena_zeroed(arena, room)};
    struct search back = front;
    back.backwards = true;
    back.seen = bf_arena_zeroed(arena, room);
    uint32_t *number = bf_arena_zeroed(arena, room), *up = bf_arena_zeroed(arena, room),
             *ends = bf_arena_zeroed(arena, room), *order = bf_arena_zeroed(arena, room);
    back.ends = ends;
    if (arena->failed) {
        flow->out_of_memory = true;
        return false;
    }
    uint32_t reached = 0;
    for (uint32_t b = 0; b < flow->count; b++) {
        uint32_t f = flow->blocks[b].function;
        if (b && flow->blocks[b - 1].function == f)
            continue;
        flow->ordered_first[f] = reached;
        reached += search_run(&front, b, flow->ordered + reached);
    }
    /* A function without blocks begins where the next one does. */
    flow->ordered_first[m->function_count] = reached;
    for (uint32_t f = m->function_count; f-- > 0;)
        if (!m->functions[f].reached)
            flow->ordered_first[f] = flow->ordered_first[f + 1];
    if (flow->irreducible)
        return false;
    if (!predecessors_find(flow)) {
        flow->out_of_memory = true;
        return false;
    }
    for (uint32_t f = 0; f < m->function_count; f++) {
        const uint32_t *list = flow->ordered + flow->ordered_first[f];
        uint32_t count = flow->ordered_first[f + 1] - flow->ordered_first[f];
        if (!count)
            continue;
        tree_find(&front, list, count, number, up);
        back.end_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            struct bf_block *block = &flow->blocks[list[i]];
            block->order = i;
            block->dominator = i ? up[list[i]] : BF_NO_BLOCK;
            if (!block->successor_count)
                ends[back.end_count++] = list[i];
        }
        if (!exits)
            continue;
        back.seen[flow->count] = 0;
        uint32_t seen = search_run(&back, flow->count, order);
        tree_find(&back, order, seen, number, up);
        for (uint32_t i = 0; i < count; i++) {
            flow->irreducible |= !back.seen[list[i]];
            flow->blocks[list[i]].post_dominator =
                up[list[i]] == flow->count ? BF_NO_BLOCK : up[list[i]];
        }
    }
    return !flow->irreducible;
}

bool bf_flow_dominates(const struct bf_flow *flow, uint32_t a, uint32_t b)
{
    while (b != BF_NO_BLOCK && flow->blocks[b].order > flow->blocks[a].order)
        b = flow->blocks[b].dominator;
    return a == b;
}
