/* SPDX-License-Identifier: MIT */
/*
 * pNext chains of a program's that are passed down with changes.
 *
 * The front of the chain, up to the struct to change, is copied, and the copy changed. Where that
 * front has a struct of unknown size, newer than the registry that the sizes are from, it can't be
 * copied: then the program's own struct is written to, and restored when the change ends.
 */
#ifndef BELFRY_LAYER_CHAIN_H
#define BELFRY_LAYER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

const void *layer_chain_find(const void *chain, VkStructureType type);

#define LAYER_CHAIN_PATCHES 8

struct layer_chain {
    const void *head;     /* the chain to pass down */
    uint32_t count;       /* the structs at its front that are copies */
    uint32_t patch_count; /* the program's own structs that are changed */
    struct layer_patch {
        void *at;
        size_t size;
        char before[16];
    } patches[LAYER_CHAIN_PATCHES];
    bool locked;
};

/* Begins to change the program's chain, and ends it: 'head' is the program's own again. While a
 * chain with a struct of unknown size is changed, other threads that begin to change such a chain
 * wait, since two calls may pass the same structs. */
void layer_chain_begin(struct layer_chain *chain, const void *head);
void layer_chain_end(struct layer_chain *chain);

/*
 * Changes at most 16 bytes at 'offset' of a struct of the chain; pointers into the chain from
 * before may be old then. Errors, with nothing changed: VK_ERROR_OUT_OF_HOST_MEMORY;
 * VK_ERROR_FEATURE_NOT_PRESENT if the chain can't be copied, and its memory can't be written to
 * (*unknown is the struct of unknown size).
 */
VkResult layer_chain_set(struct layer_chain *chain, const void *s, size_t offset, const void *value,
                         size_t size, VkStructureType *unknown);

#endif
