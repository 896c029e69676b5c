/* SPDX-License-Identifier: MIT */
/* Searching and copying pNext chains. */
#include "layer/chain.h"

#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

static size_t size_of(VkStructureType type)
{
    /* The cases are numbers, because the registry has structs that the oldest headers don't
     * have. */
    switch ((int)type) {
#define X(value, size)                                                                             \
    case value:                                                                                    \
        return size;
#include "layer/generated/struct_sizes.inc"
#undef X
    case VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO:
        return sizeof(VkLayerDeviceCreateInfo);
    default:
        return 0;
    }
}

const void *layer_chain_find(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        if (s->sType == type)
            return s;
    }
    return NULL;
}

VkResult layer_chain_copy(const void *chain, const void *last, struct layer_chain *copy,
                          VkStructureType *unknown)
{
    *copy = (struct layer_chain){0};
    VkBaseOutStructure *end = NULL;
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        size_t size = size_of(s->sType);
        VkBaseOutStructure *node = size ? malloc(size) : NULL;
        if (!node) {
            layer_chain_free(copy);
            *unknown = s->sType;
            return size ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_FEATURE_NOT_PRESENT;
        }
        memcpy(node, s, size);
        if (end)
            end->pNext = node;
        else
            copy->head = node;
        end = node;
        copy->count++;
        if (s == last)
            break;
    }
    return VK_SUCCESS;
}

void layer_chain_free(struct layer_chain *copy)
{
    for (; copy->count > 0; copy->count--) {
        VkBaseOutStructure *node = copy->head;
        copy->head = node->pNext;
        free(node);
    }
    copy->head = NULL;
}

bool layer_chain_owns(const struct layer_chain *copy, const void *s)
{
    const VkBaseInStructure *node = copy->head;
    for (uint32_t i = 0; i < copy->count; i++, node = node->pNext) {
        if (node == s)
            return true;
    }
    return false;
}
