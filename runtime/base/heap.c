/* SPDX-License-Identifier: MIT */
/* A pairing heap, smallest key first, whose nodes lie in their owners. */
#include "base/heap.h"

#include <stddef.h>

/* Joins two trees; either may be NULL. Of equal keys the first stays above. */
static struct bf_heap_node *heap_meld(struct bf_heap_node *a, struct bf_heap_node *b)
{
    if (!a || !b)
        return a ? a : b;
    if (b->key < a->key) {
        struct bf_heap_node *swap = a;
        a = b;
        b = swap;
    }
    b->next = a->child;
    b->back = a;
    if (a->child)
        a->child->back = b;
    a->child = b;
    return a;
}

/* Joins a list of siblings to one tree: in pairs from left to right, and then these from right to
 * left. */
static struct bf_heap_node *heap_combine_pairs(struct bf_heap_node *first)
{
    struct bf_heap_node *pairs = NULL;
    while (first) {
        struct bf_heap_node *a = first, *b = a->next;
        first = b ? b->next : NULL;
        a->next = a->back = NULL;
        if (b)
            b->next = b->back = NULL;
        struct bf_heap_node *pair = heap_meld(a, b);
        pair->next = pairs;
        pairs = pair;
    }
    struct bf_heap_node *root = NULL;
    while (pairs) {
        struct bf_heap_node *next = pairs->next;
        pairs->next = NULL;
        root = heap_meld(root, pairs);
        pairs = next;
    }
    return root;
}

void bf_heap_insert(struct bf_heap *heap, struct bf_heap_node *node)
{
    node->child = node->next = node->back = NULL;
    node->inserted = true;
    heap->root = heap_meld(heap->root, node);
}

void bf_heap_remove(struct bf_heap *heap, struct bf_heap_node *node)
{
    if (!node->inserted)
        return;
    struct bf_heap_node *below = heap_combine_pairs(node->child);
    if (heap->root == node) {
        heap->root = below;
    } else {
        if (node->back->child == node)
            node->back->child = node->next;
        else
            node->back->next = node->next;
        if (node->next)
            node->next->back = node->back;
        heap->root = heap_meld(heap->root, below);
    }
    node->child = node->next = node->back = NULL;
    node->inserted = false;
}
