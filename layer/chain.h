/* SPDX-License-Identifier: MIT */
/*
 * Copies of pNext chains, made so that a struct in the middle can be changed: the program's own
 * structs are never written to.
 */
#ifndef BELFRY_LAYER_CHAIN_H
#define BELFRY_LAYER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

const void *layer_chain_find(const void *chain, VkStructureType type);

/* Copies of the structs at the front of a chain; the last copy's pNext is the rest of the program's
 * chain. */
struct layer_chain {
    void *head;
    uint32_t count;
};

/*
 * Copies a chain up to and including 'last', one of its structs. Errors:
 * VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT if the size of a struct that has to be
 * copied isn't known (*unknown is its type).
 */
VkResult layer_chain_copy(const void *chain, const void *last, struct layer_chain *copy,
                          VkStructureType *unknown);
void layer_chain_free(struct layer_chain *copy);

/* Is the struct one of the copies? */
bool layer_chain_owns(const struct layer_chain *copy, const void *s);

#endif
