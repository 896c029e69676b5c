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
    *op = (struct bf_fence_op){.lane = NO_LANE, .skipped = list->skipped};
    list->skipped = (struct bf_fence_skipped){0};
    return op;
}

static void skipped_join(struct bf_fence_skipped *skipped, struct bf_fence_skipped more)
{
    if (skipped->count && more.least > skipped->least)
        more.least = skipped->least;
    if (skipped->count && more.most < skipped->most)
        more.most = skipped->most;
    more.count += skipped->count;
    *skipped = more;
}

void bf_fence_list_skip(struct bf_fence_list *list, uint64_t value)
{
    skipped_join(&list->skipped, (struct bf_fence_skipped){1, value, value});
}

void bf_fence_list_forget_skipped(struct bf_fence_list *list)
{
    list->skipped.count = 0;
    for (uint64_t at = list->begin; at < list->end; at++)
        bf_fence_list_at(list, at)->skipped.count = 0;
}

/* Entries come in order. If one can't be of these, theirs were lost. */
static bool skipped_take(struct bf_fence_skipped *skipped, uint64_t value)
{
    if (skipped->count && value >= skipped->least && value <= skipped->most) {
        skipped->count--;
        return true;
    }
    skipped->count = 0;
    return false;
}

struct bf_fence_op *bf_fence_list_take_entry(struct bf_fence_list *list, struct bf_trace_sync sync,
                                             uint64_t *position)
{
    for (uint64_t at = list->begin; at < list->end; at++) {
        struct bf_fence_op *op = bf_fence_list_at(list, at);
        if (!op->id)
            continue;
        if (skipped_take(&op->skipped, sync.value))
            return NULL;
        if (op->logged && !op->reported && op->sync.semaphore == sync.semaphore &&
            op->sync.value == sync.value) {
            *position = at;
            return op;
        }
    }
    skipped_take(&list->skipped, sync.value);
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

/* It is over, and those that are skipped before it are now before the next. */
static void skipped_pass(struct bf_fence_list *list, const struct bf_fence_op *op)
{
    uint64_t at = list->begin;
    while (at < list->end && bf_fence_list_at(list, at) != op)
        at++;
    for (at++; at < list->end && bf_fence_list_at(list, at)->id == 0;)
        at++;
    skipped_join(at < list->end ? &bf_fence_list_at(list, at)->skipped : &list->skipped,
                 op->skipped);
}

void bf_fence_list_remove(struct bf_fence_list *list, struct bf_fence_op *op)
{
    if (op->skipped.count)
        skipped_pass(list, op);
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
