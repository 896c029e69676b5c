/*
 * Copies of pNext chains, so that a struct in the middle can be changed: the program's are never
 * written to.
 */
#ifndef BELFRY_LAYER_CHAIN_H
#define BELFRY_LAYER_CHAIN_H

#include <stdbool.h>

#include <vulkan/vulkan.h>

const void *layer_chain_find(const void *chain, VkStructureType type);

/* Sets *copy to a copy of the whole chain, to be freed with layer_chain_free (NULL for an empty
 * one). Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_FEATURE_NOT_PRESENT when the size of a struct
 * in it is not known (*unknown says which). */
VkResult layer_chain_copy(const void *chain, void **copy, VkStructureType *unknown);
void layer_chain_free(void *copy);

#endif
