#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>

static size_t size_of(VkStructureType type)
{
    /* Structs newer than the headers come as integers that are no enumerator. */
    switch ((int)type) {
#define X(stype, name)                                                                             \
    case stype:                                                                                    \
        return sizeof(name);
#include "generated/struct_sizes.h"
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

VkResult layer_chain_copy(const void *chain, void **copy, VkStructureType *unknown)
{
    *copy = NULL;
    VkBaseOutStructure *last = NULL;
    for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
        size_t size = size_of(s->sType);
        VkBaseOutStructure *node = size ? malloc(size) : NULL;
        if (!node) {
            layer_chain_free(*copy);
            *copy = NULL;
            *unknown = s->sType;
            return size ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_ERROR_FEATURE_NOT_PRESENT;
        }
        memcpy(node, s, size);
        node->pNext = NULL;
        if (last)
            last->pNext = node;
        else
            *copy = node;
        last = node;
    }
    return VK_SUCCESS;
}

void layer_chain_free(void *copy)
{
    while (copy) {
        VkBaseOutStructure *node = copy;
        copy = node->pNext;
        free(node);
    }
}
