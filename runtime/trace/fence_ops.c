/* SPDX-License-Identifier: MIT */
/* The fence operations of one queue that a trace follows, until they have been executed. */
#include "trace/fence_ops.h"

#define NO_LANE UINT32_MAX

/* Frees the places of operations that were over before older ones (of several threads, or not in a
 * log), now that the older ones are over. */
static void close_gaps(struct bf_fence_ops *ops, enum bf_trace_fence_op kind)
{
    struct bf_fence_list *list = &ops->lists[kind];
    uint64_t to = list->begin;
    for (uint64_t at = list->begin; at < list->end; at++) {
        const struct bf_fence_op *op = bf_fence_list_at(list, at);
        if (!op->id)
            continue;
        if (to != at && kind == BF_TRACE_FENCE_SIGNAL)
            ops->arrows[to % BF_FENCE_OPS] = ops->arrows[at % BF_FENCE_OPS];
        *bf_fence_list_at(list, to++) = *op;
    }
    list->end = to;
}

struct bf_fence_op *bf_fence_ops_add(struct bf_fence_ops *ops, enum bf_trace_fence_op kind)
{
    struct bf_fence_list *list = &ops->lists[kind];
    if (list->end - list->begin == BF_FENCE_OPS)
        close_gaps(ops, kind);
    if (list->end - list->begin == BF_FENCE_OPS)
        return NULL;
    struct bf_fence_op *op = bf_fence_list_at(list, list->end++);
    *op = (struct bf_fence_op){.lane = NO_LANE};
    return op;
}

struct bf_fence_op *bf_fence_list_find(struct bf_fence_list *list, struct bf_trace_sync sync,
                                       uint64_t *position)
{
    for (uint64_t at = list->begin; at < list->end; at++) {
        struct bf_fence_op *op = bf_fence_list_at(list, at);
        if (op->id && op->logged && !op->reported && op->sync.semaphore == sync.semaphore &&
            op->sync.value == sync.value) {
            *position = at;
            return op;
        }
    }
    return NULL;
}

struct bf_fence_op *bf_fence_list_find_id(struct bf_fence_list *list, uint64_t id)
{
    for (uint64_t at = list->begin; at < list->end && id; at++) {
        struct bf_fence_op *op = bf_fence_list_at(list, at);
        if (op->id == id)
            return op;
    }
    return NULL;
}

void bf_fence_list_remove(struct bf_fence_list *list, struct bf_fence_op *op)
{
    op->id = 0;
    while (list->begin < list->end && bf_fence_list_at(list, list->begin)->id == 0)
        list->begin++;
}

uint32_t bf_fence_lane_take(struct bf_fence_ops *ops, uint64_t now)
{
    for (uint32_t lane = 0; lane < BF_FENCE_LANES; lane++) {
        if (ops->taken[lane / 64] == UINT64_MAX) {
            lane |= 63;
        } else if (!(ops->taken[lane / 64] & 1ull << lane % 64) && ops->lane_end[lane] <= now) {
            ops->taken[lane / 64] |= 1ull << lane % 64;
            return lane;
        }
    }
    return NO_LANE;
}

void bf_fence_lane_free(struct bf_fence_ops *ops, uint32_t lane, uint64_t end_ns)
{
    ops->taken[lane / 64] &= ~(1ull << lane % 64);
    if (ops->lane_end[lane] < end_ns)
        ops->lane_end[lane] = end_ns;
}
