/* SPDX-License-Identifier: MIT */
/* Searching and changing pNext chains. */
#include "layer/chain.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vulkan/vk_layer.h>

#include "base/lock.h"

/* Held while a program's own structs may be changed. */
static struct bf_lock patch_lock;

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

void layer_chain_begin(struct layer_chain *chain, const void *head)
{
    *chain = (struct layer_chain){.head = head};
    for (const VkBaseInStructure *s = head; s && !chain->locked; s = s->pNext)
        chain->locked = size_of(s->sType) == 0;
    if (chain->locked)
        bf_lock_acquire(&patch_lock);
}

void layer_chain_end(struct layer_chain *chain)
{
    for (; chain->patch_count > 0; chain->patch_count--) {
        const struct layer_patch *patch = &chain->patches[chain->patch_count - 1];
        memcpy(patch->at, patch->before, patch->size);
    }
    for (; chain->count > 0; chain->count--) {
        const VkBaseInStructure *node = chain->head;
        chain->head = node->pNext;
        free((void *)node);
    }
    if (chain->locked)
        bf_lock_release(&patch_lock);
    chain->locked = false;
}

/* The struct of the chain that 's' is, if it is a copy; NULL: it is the program's own. */
static char *owned(const struct layer_chain *chain, const void *s)
{
    const VkBaseInStructure *node = chain->head;
    for (uint32_t i = 0; i < chain->count; i++, node = node->pNext) {
        if (node == s)
            return (char *)node;
    }
    return NULL;
}

/* Copies the program's structs behind the copies there are, up to 'last'. NULL: *result says
 * why. */
static char *copy_up_to(struct layer_chain *chain, const void *last, VkResult *result,
                        VkStructureType *unknown)
{
    const VkBaseInStructure *s = chain->head;
    VkBaseOutStructure *end = NULL;
    for (uint32_t i = 0; i < chain->count; i++, s = s->pNext)
        end = (VkBaseOutStructure *)s;
    for (const VkBaseInStructure *known = s;; known = known->pNext) {
        if (size_of(known->sType) == 0) {
            *unknown = known->sType;
            *result = VK_ERROR_FEATURE_NOT_PRESENT;
            return NULL;
        }
        if (known == last)
            break;
    }
    for (;; s = s->pNext) {
        VkBaseOutStructure *node = malloc(size_of(s->sType));
        if (!node) {
            *result = VK_ERROR_OUT_OF_HOST_MEMORY;
            return NULL;
        }
        memcpy(node, s, size_of(s->sType));
        if (end)
            end->pNext = node;
        else
            chain->head = node;
        end = node;
        chain->count++;
        if (s == last)
            return (char *)node;
    }
}

/* Writes to the program's memory, which may be read-only: a constant. The kernel then says so,
 * where a store would end the program. */
static bool write_to(void *at, const void *value, size_t size)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool written =
        write(ends[1], value, size) == (ssize_t)size && read(ends[0], at, size) == (ssize_t)size;
    close(ends[0]);
    close(ends[1]);
    return written;
}

VkResult layer_chain_set(struct layer_chain *chain, const void *s, size_t offset, const void *value,
                         size_t size, VkStructureType *unknown)
{
    VkResult result = VK_SUCCESS;
    char *own = owned(chain, s);
    if (!own)
        own = copy_up_to(chain, s, &result, unknown);
    if (own) {
        memcpy(own + offset, value, size);
        return VK_SUCCESS;
    }
    struct layer_patch *patch = &chain->patches[chain->patch_count];
    if (result != VK_ERROR_FEATURE_NOT_PRESENT || chain->patch_count == LAYER_CHAIN_PATCHES ||
        size > sizeof(patch->before))
        return result;
    *patch = (struct layer_patch){.at = (char *)s + offset, .size = size};
    memcpy(patch->before, patch->at, size);
    if (!write_to(patch->at, value, size))
        return result;
    chain->patch_count++;
    return VK_SUCCESS;
}
