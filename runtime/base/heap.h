/* SPDX-License-Identifier: MIT */
/*
 * A priority queue of nodes that live in other structs: a pairing heap, smallest key first.
 * Inserting takes constant time, removing any node logarithmic time (amortised); nothing is ever
 * allocated, so neither can fail.
 *
 * Thread-safety: for one thread at a time.
 */
#ifndef BELFRY_BASE_HEAP_H
#define BELFRY_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct bf_heap_node {
    uint64_t key;
    struct bf_heap_node *child; /* the first */
    struct bf_heap_node *next;  /* sibling */
    struct bf_heap_node *back;  /* the sibling before, or the parent of a first child */
    bool inserted;
};

struct bf_heap {
    struct bf_heap_node *root; /* the node with the least key; NULL when empty */
};

/* The node's key is set and it is in no heap. */
void bf_heap_insert(struct bf_heap *heap, struct bf_heap_node *node);

/* Does nothing for a node that isn't inserted. */
void bf_heap_remove(struct bf_heap *heap, struct bf_heap_node *node);

#endif
