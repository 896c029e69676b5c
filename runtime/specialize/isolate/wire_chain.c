/* SPDX-License-Identifier: MIT */
/* What is chained to the states of graphics pipelines, as a part of messages: structs that contain
 * numbers, and one list of numbers at most. */
#include <string.h>

#include "specialize/isolate/wire_io.h"

struct chained {
    VkStructureType type;
    size_t size;
    /* Of the list: where its count and its pointer are, and the size of an element; 0: there is
     * none. Which of them are 'dynamic' may be absent though they have a count. */
    size_t count_at, list_at, each;
    bool dynamic;
};

#define FLAT(type_, struct_)                                                                       \
    {                                                                                              \
        VK_STRUCTURE_TYPE_##type_, sizeof(struct_), 0, 0, 0, false                                 \
    }
#define LISTS(type_, struct_, count_, list_, dynamic_)                                             \
    {                                                                                              \
        VK_STRUCTURE_TYPE_##type_, sizeof(struct_), offsetof(struct_, count_),                     \
            offsetof(struct_, list_), sizeof(*((struct_ *)NULL)->list_), dynamic_                  \
    }

static const struct chained known[] = {
    LISTS(PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO_EXT,
          VkPipelineVertexInputDivisorStateCreateInfoEXT, vertexBindingDivisorCount,
          pVertexBindingDivisors, false),
    FLAT(PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT,
         VkPipelineViewportDepthClipControlCreateInfoEXT),
    FLAT(PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationLineStateCreateInfoEXT),
    FLAT(PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationProvokingVertexStateCreateInfoEXT),
    FLAT(PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationDepthClipStateCreateInfoEXT),
    FLAT(PIPELINE_RASTERIZATION_CONSERVATIVE_STATE_CREATE_INFO_EXT,
         VkPipelineRasterizationConservativeStateCreateInfoEXT),
    FLAT(PIPELINE_RASTERIZATION_STATE_STREAM_CREATE_INFO_EXT,
         VkPipelineRasterizationStateStreamCreateInfoEXT),
    FLAT(PIPELINE_COLOR_BLEND_ADVANCED_STATE_CREATE_INFO_EXT,
         VkPipelineColorBlendAdvancedStateCreateInfoEXT),
    LISTS(PIPELINE_COLOR_WRITE_CREATE_INFO_EXT, VkPipelineColorWriteCreateInfoEXT, attachmentCount,
          pColorWriteEnables, true),
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static const struct chained *chained_find(uint32_t type)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if ((uint32_t)known[i].type == type)
            return &known[i];
    }
    return NULL;
}

static uint32_t list_count(const struct chained *c, const void *s)
{
    uint32_t count;
    memcpy(&count, (const uint8_t *)s + c->count_at, sizeof(count));
    return count;
}

static void say_list(struct bf_wire_out *out, const struct chained *c, const void *s)
{
    const void *list;
    memcpy(&list, (const uint8_t *)s + c->list_at, sizeof(list));
    bf_wire_say_list(out, list, list_count(c, s), c->each);
}

void bf_wire_say_chain(struct bf_wire_out *out, const void *chain)
{
    uint32_t count = 0;
    for (const VkBaseInStructure *s = chain; s; s = s->pNext)
        count++;
    out->unsaid |= count > KNOWN;
    bf_wire_say(out, count);
    for (const VkBaseInStructure *s = chain; s && !out->unsaid; s = s->pNext) {
        const struct chained *c = chained_find((uint32_t)s->sType);
        if (!c) {
            out->unsaid = true;
            return;
        }
        bf_wire_say(out, (uint32_t)s->sType);
        bf_wire_say_struct(out, s, c->size);
        if (c->each)
            say_list(out, c, s);
    }
}

static void read_list(struct bf_wire_in *in, const struct chained *c, void *s)
{
    const void *list = c->dynamic ? bf_wire_read_list(in, list_count(c, s), c->each)
                                  : bf_wire_read_full_list(in, list_count(c, s), c->each);
    memcpy((uint8_t *)s + c->list_at, &list, sizeof(list));
}

const void *bf_wire_read_chain(struct bf_wire_in *in)
{
    const uint32_t count = bf_wire_read_count(in, sizeof(uint32_t));
    VkBaseOutStructure *first = NULL, *last = NULL;
    in->bad |= count > KNOWN;
    for (uint32_t i = 0; i < count && !in->bad; i++) {
        const uint32_t type = bf_wire_read(in);
        const struct chained *c = chained_find(type);
        VkBaseOutStructure *s = c ? bf_wire_read_struct(in, c->type, c->size) : NULL;
        if (!s) {
            in->bad = true;
            break;
        }
        if (c->each)
            read_list(in, c, s);
        if (last)
            last->pNext = s;
        else
            first = s;
        last = s;
    }
    return in->bad ? NULL : first;
}
