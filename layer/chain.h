/* SPDX-License-Identifier: MIT */
/*
 * Copies of pNext chains, so that a struct in the middle can be changed: the program's are never
 * written to.
 */
#ifndef BELFRY_LAYER_CHAIN_H
#define BELFRY_LAYER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

const void *layer_chain_find(const void *chain, VkStructureType type);

/* Structs copied from the front of a chain; the last one is followed by the original rest. */
struct layer_chain {
    void *head;
    uint32_t count;
};

/*
 * Copies a chain up to and including 'last', a struct in it.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT when the size of a struct that
 * has to be copied is not known (*unknown says which).
 */
VkResult layer_chain_copy(const void *chain, const void *last, struct layer_chain *copy,
                          VkStructureType *unknown);
void layer_chain_free(struct layer_chain *copy);

/* Is the struct one of the copies? */
bool layer_chain_owns(const struct layer_chain *copy, const void *s);

#endif
