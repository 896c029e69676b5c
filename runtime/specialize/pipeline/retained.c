/* SPDX-License-Identifier: MIT */
/* Retained objects: samplers, descriptor set layouts, pipeline layouts and render passes that
 * live in the driver for as long as the program or a pipeline's copy needs them. */
#include "specialize/pipeline/retained.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/pipeline/pipeline.h"

#define FLAG_EMBEDDED_SAMPLERS VK_DESCRIPTOR_SET_LAYOUT_CREATE_EMBEDDED_IMMUTABLE_SAMPLERS_BIT_EXT

static struct bf_map *retained_map_of(struct bf_pipelines *ps, VkObjectType type)
{
    switch (type) {
    case VK_OBJECT_TYPE_SAMPLER:
        return &ps->retained.samplers;
    case VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT:
        return &ps->retained.set_layouts;
    case VK_OBJECT_TYPE_PIPELINE_LAYOUT:
        return &ps->retained.layouts;
    default:
        return &ps->retained.render_passes;
    }
}

static void destroy_below(struct bf_pipelines *ps, VkObjectType type, uint64_t handle,
                          const VkAllocationCallbacks *allocator)
{
    switch (type) {
    case VK_OBJECT_TYPE_SAMPLER:
        ps->vk->vkDestroySampler(ps->device, (VkSampler)handle, allocator);
        break;
    case VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT:
        ps->vk->vkDestroyDescriptorSetLayout(ps->device, (VkDescriptorSetLayout)handle, allocator);
        break;
    case VK_OBJECT_TYPE_PIPELINE_LAYOUT:
        ps->vk->vkDestroyPipelineLayout(ps->device, (VkPipelineLayout)handle, allocator);
        break;
    default:
        ps->vk->vkDestroyRenderPass(ps->device, (VkRenderPass)handle, allocator);
        break;
    }
}

void bf_retained_ref(struct bf_retained_object *retained)
{
    atomic_fetch_add(&retained->refs, 1);
}

void bf_retained_unref(struct bf_retained_object *retained)
{
    if (atomic_fetch_sub(&retained->refs, 1) != 1)
        return;
    bf_arena_finish(&retained->arena);
    free(retained);
}

bool bf_retained_hold(struct bf_retained_object *retained)
{
    if (retained->foreign)
        return false;
    atomic_fetch_add(&retained->holds, 1);
    return true;
}

static void let_parts_go(struct bf_pipelines *ps, struct bf_retained_object *retained)
{
    if (retained->type == VK_OBJECT_TYPE_PIPELINE_LAYOUT) {
        struct bf_retained_layout *layout = (struct bf_retained_layout *)retained;
        for (uint32_t i = 0; i < layout->set_count; i++) {
            if (layout->sets[i])
                bf_retained_unhold(ps, &layout->sets[i]->base);
        }
    } else if (retained->type == VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT) {
        struct bf_retained_set_layout *layout = (struct bf_retained_set_layout *)retained;
        for (uint32_t i = 0; i < layout->binding_count; i++) {
            struct bf_set_binding *b = &layout->bindings[i];
            for (uint32_t j = 0; b->immutable && j < b->count; j++) {
                if (b->immutable[j])
                    bf_retained_unhold(ps, &b->immutable[j]->base);
            }
        }
    }
}

/* The last hold has ended. */
static void retained_object_end(struct bf_pipelines *ps, struct bf_retained_object *retained,
                                const VkAllocationCallbacks *allocator)
{
    if (retained->handle)
        destroy_below(ps, retained->type, retained->handle, allocator);
    let_parts_go(ps, retained);
    bf_retained_unref(retained);
}

void bf_retained_unhold(struct bf_pipelines *ps, struct bf_retained_object *retained)
{
    if (atomic_fetch_sub(&retained->holds, 1) == 1)
        retained_object_end(ps, retained, NULL);
}

void bf_retained_destroy(struct bf_pipelines *ps, VkObjectType type, uint64_t handle,
                         const VkAllocationCallbacks *allocator)
{
    struct bf_map *map = retained_map_of(ps, type);
    bf_lock_acquire(&ps->lock);
    struct bf_retained_object *retained = handle ? bf_map_find(map, handle) : NULL;
    if (retained && --retained->lives > 0)
        retained = NULL; /* one of several with the same handle: the others have the holds */
    if (retained)
        bf_map_remove(map, handle);
    bf_lock_release(&ps->lock);
    if (!retained)
        destroy_below(ps, type, handle, allocator);
    else if (retained->foreign)
        retained_object_end(ps, retained, allocator);
    else
        bf_retained_unhold(ps, retained);
}

static void *retained_object_new(struct bf_pipelines *ps, size_t size, VkObjectType type,
                                 uint64_t handle, const VkAllocationCallbacks *allocator)
{
    struct bf_retained_object *retained = calloc(1, size);
    if (!retained)
        return NULL;
    retained->type = type;
    retained->handle = handle;
    retained->refs = retained->holds = retained->lives = 1;
    retained->foreign = allocator != NULL;
    bf_arena_count(&retained->arena, &ps->budget.own, size);
    return retained;
}

/* Forgets an object whose contents could not be copied; the program keeps its handle. */
static void abandon(struct bf_pipelines *ps, struct bf_retained_object *retained)
{
    retained->handle = 0;
    retained_object_end(ps, retained, NULL);
}

static void retained_object_add(struct bf_pipelines *ps, struct bf_retained_object *retained)
{
    struct bf_map *map = retained_map_of(ps, retained->type);
    bool added = false;
    if (!retained->arena.failed) {
        bf_lock_acquire(&ps->lock);
        struct bf_retained_object *same = bf_map_find(map, retained->handle); /* KE-2 */
        if (same)
            same->lives++;
        else
            added = bf_map_insert(map, retained->handle, retained);
        bf_lock_release(&ps->lock);
    }
    if (!added)
        abandon(ps, retained);
}

void bf_retained_sampler_add(struct bf_pipelines *ps, VkSampler sampler,
                             const VkSamplerCreateInfo *info,
                             const VkAllocationCallbacks *allocator)
{
    struct bf_retained_sampler *retained = retained_object_new(
        ps, sizeof(*retained), VK_OBJECT_TYPE_SAMPLER, (uint64_t)sampler, allocator);
    if (!retained)
        return;
    retained->shape = bf_descriptor_shapes_sampler(ps, info);
    retained_object_add(ps, &retained->base);
}

static int by_binding(const void *a, const void *b)
{
    const struct bf_set_binding *x = a, *y = b;
    return x->binding < y->binding ? -1 : x->binding > y->binding;
}

/* Holds a binding's immutable samplers. */
static void hold_samplers(struct bf_pipelines *ps, struct bf_retained_set_layout *retained,
                          struct bf_set_binding *binding, const VkSampler *samplers)
{
    binding->immutable =
        bf_arena_zeroed(&retained->base.arena, binding->count * sizeof(*binding->immutable));
    for (uint32_t i = 0; binding->immutable && i < binding->count; i++) {
        struct bf_retained_sampler *s = bf_map_find(&ps->retained.samplers, (uint64_t)samplers[i]);
        if (s && bf_retained_hold(&s->base))
            binding->immutable[i] = s;
        if (!binding->immutable[i] || !s->shape || s->shape->unknown)
            retained->unknown = true;
    }
}

/* Of all bindings: by what they are, in the order of their numbers. */
static void find_places(struct bf_retained_set_layout *retained)
{
    uint64_t all = retained->binding_count;
    for (uint32_t i = 0; i < retained->binding_count; i++) {
        const struct bf_set_binding *b = &retained->bindings[i];
        all = bf_map_hash(all ^ ((uint64_t)b->binding << 32 | (uint32_t)b->type));
        all = bf_map_hash(all ^ b->count);
    }
    for (uint32_t i = 0; i < retained->binding_count; i++)
        retained->bindings[i].place =
            (uint16_t)(bf_map_hash(all + i) >> 16 & (BF_FORMAT_PLACES - 1));
}

void bf_retained_set_layout_add(struct bf_pipelines *ps, VkDescriptorSetLayout layout,
                                const VkDescriptorSetLayoutCreateInfo *info,
                                const VkAllocationCallbacks *allocator)
{
    struct bf_retained_set_layout *retained = retained_object_new(
        ps, sizeof(*retained), VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout, allocator);
    if (!retained)
        return;
    const VkDescriptorBindingFlags *flags = NULL;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO) {
            const VkDescriptorSetLayoutBindingFlagsCreateInfo *f = (const void *)s;
            flags = f->bindingCount == info->bindingCount ? f->pBindingFlags : NULL;
        } else {
            retained->unknown = true;
        }
    }
    retained->flags = info->flags;
    /* Lavapipe crashes on samplers embedded in a layout (25.0 and 26.2): there is nothing to have
     * seen a check of these on. */
    retained->unknown |= (info->flags & FLAG_EMBEDDED_SAMPLERS) != 0;
    retained->bindings = bf_arena_zeroed(&retained->base.arena,
                                         (info->bindingCount + 1) * sizeof(*retained->bindings));
    for (uint32_t i = 0; retained->bindings && i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *from = &info->pBindings[i];
        struct bf_set_binding *to = &retained->bindings[retained->binding_count++];
        to->binding = from->binding;
        to->type = from->descriptorType;
        to->count = from->descriptorCount;
        to->stages = from->stageFlags;
        to->flags = flags ? flags[i] : 0;
        if (from->pImmutableSamplers && from->descriptorCount > 0 &&
            (from->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
             from->descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER))
            hold_samplers(ps, retained, to, from->pImmutableSamplers);
    }
    if (retained->bindings)
        qsort(retained->bindings, retained->binding_count, sizeof(*retained->bindings), by_binding);
    if (retained->bindings)
        find_places(retained);
    retained_object_add(ps, &retained->base);
}

struct bf_set_binding *bf_retained_binding(struct bf_retained_set_layout *layout, uint32_t binding)
{
    uint32_t low = 0, high = layout->binding_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (layout->bindings[middle].binding < binding)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < layout->binding_count && layout->bindings[low].binding == binding;
    return found ? &layout->bindings[low] : NULL;
}

/* The number of a list of push-constant ranges; 0: out of memory. */
static uint32_t push_id(struct bf_pipelines *ps, uint32_t count, const VkPushConstantRange *ranges)
{
    const size_t size = count * sizeof(*ranges);
    struct bf_push_list *list;
    uint32_t id = 1;
    bf_lock_acquire(&ps->lock);
    for (list = ps->retained.pushes; list; list = list->next, id++) {
        if (list->count == count && (count == 0 || memcmp(list->ranges, ranges, size) == 0))
            break;
    }
    if (!list) {
        list = malloc(sizeof(*list) + size);
        if (list) {
            *list = (struct bf_push_list){.next = ps->retained.pushes, .id = id, .count = count};
            if (count > 0)
                memcpy(list->ranges, ranges, size);
            ps->retained.pushes = list;
        }
    }
    bf_lock_release(&ps->lock);
    return list ? list->id : 0;
}

void bf_retained_layout_add(struct bf_pipelines *ps, VkPipelineLayout layout,
                            const VkPipelineLayoutCreateInfo *info,
                            const VkAllocationCallbacks *allocator)
{
    struct bf_retained_layout *retained = retained_object_new(
        ps, sizeof(*retained), VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout, allocator);
    if (!retained)
        return;
    struct bf_arena *arena = &retained->base.arena;
    retained->flags = info->flags;
    retained->unknown = info->pNext != NULL;
    retained->push_count = info->pushConstantRangeCount;
    retained->push = bf_arena_copy(arena, info->pPushConstantRanges, retained->push_count,
                                   sizeof(*retained->push));
    retained->push_id = push_id(ps, retained->push_count, info->pPushConstantRanges);
    retained->sets = bf_arena_zeroed(arena, (info->setLayoutCount + 1) * sizeof(*retained->sets));
    for (uint32_t i = 0; retained->sets && i < info->setLayoutCount; i++) {
        struct bf_retained_set_layout *set = bf_retained_set_layout_find(ps, info->pSetLayouts[i]);
        if (set && bf_retained_hold(&set->base)) {
            retained->sets[i] = set;
            retained->unknown |= set->unknown;
        } else {
            retained->unknown |= info->pSetLayouts[i] != VK_NULL_HANDLE;
        }
        retained->set_count++;
    }
    if (retained->push_id == 0)
        abandon(ps, &retained->base);
    else
        retained_object_add(ps, &retained->base);
}

/* Copies the member 'attachment' of references that lie 'stride' bytes apart; NULL if there are
 * none. */
static const uint32_t *attachment_numbers(struct bf_arena *arena, uint32_t count,
                                          const uint32_t *first, size_t stride)
{
    uint32_t *list = first && count ? bf_arena_zeroed(arena, count * sizeof(*list)) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = *(const uint32_t *)((const char *)first + i * stride);
    return list;
}

/* The structs of both generations of vkCreateRenderPass have these members. */
#define NUMBERS(arena, count, references)                                                          \
    attachment_numbers(arena, count, (references) ? &(references)->attachment : NULL,              \
                       sizeof(*(references)))
#define RETAIN_ATTACHMENT(a)                                                                       \
    ((struct bf_retained_attachment){(a)->flags, (a)->format, (a)->samples, (a)->loadOp,           \
                                     (a)->stencilLoadOp, (a)->initialLayout, (a)->finalLayout})
#define RETAIN_SUBPASS(arena, s)                                                                   \
    ((struct bf_retained_subpass){                                                                 \
        .flags = (s)->flags,                                                                       \
        .input_count = (s)->inputAttachmentCount,                                                  \
        .color_count = (s)->colorAttachmentCount,                                                  \
        .inputs = NUMBERS(arena, (s)->inputAttachmentCount, (s)->pInputAttachments),               \
        .colors = NUMBERS(arena, (s)->colorAttachmentCount, (s)->pColorAttachments),               \
        .resolves = NUMBERS(arena, (s)->colorAttachmentCount, (s)->pResolveAttachments),           \
        .depth = (s)->pDepthStencilAttachment ? (s)->pDepthStencilAttachment->attachment           \
                                              : VK_ATTACHMENT_UNUSED,                              \
        .depth_resolve = VK_ATTACHMENT_UNUSED,                                                     \
        .preserve_count = (s)->preserveAttachmentCount,                                            \
        .preserves = bf_arena_copy(arena, (s)->pPreserveAttachments, (s)->preserveAttachmentCount, \
                                   sizeof(uint32_t)),                                              \
    })

static struct bf_retained_render_pass *pass_new(struct bf_pipelines *ps, VkRenderPass pass,
                                                uint32_t attachment_count, uint32_t subpass_count,
                                                uint32_t dependency_count,
                                                const VkAllocationCallbacks *allocator)
{
    struct bf_retained_render_pass *retained = retained_object_new(
        ps, sizeof(*retained), VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass, allocator);
    if (!retained)
        return NULL;
    struct bf_arena *arena = &retained->base.arena;
    retained->attachments =
        bf_arena_zeroed(arena, (attachment_count + 1) * sizeof(*retained->attachments));
    retained->subpasses =
        bf_arena_zeroed(arena, (subpass_count + 1) * sizeof(*retained->subpasses));
    retained->dependencies =
        bf_arena_zeroed(arena, (dependency_count + 1) * sizeof(*retained->dependencies));
    if (!arena->failed) {
        retained->attachment_count = attachment_count;
        retained->subpass_count = subpass_count;
        retained->dependency_count = dependency_count;
    }
    return retained;
}

void bf_retained_render_pass_add(struct bf_pipelines *ps, VkRenderPass pass,
                                 const VkRenderPassCreateInfo *info,
                                 const VkAllocationCallbacks *allocator)
{
    struct bf_retained_render_pass *retained = pass_new(
        ps, pass, info->attachmentCount, info->subpassCount, info->dependencyCount, allocator);
    if (!retained)
        return;
    for (uint32_t i = 0; i < retained->attachment_count; i++)
        retained->attachments[i] = RETAIN_ATTACHMENT(&info->pAttachments[i]);
    for (uint32_t i = 0; i < retained->subpass_count; i++)
        retained->subpasses[i] = RETAIN_SUBPASS(&retained->base.arena, &info->pSubpasses[i]);
    for (uint32_t i = 0; i < retained->dependency_count; i++) {
        const VkSubpassDependency *d = &info->pDependencies[i];
        retained->dependencies[i] = (VkSubpassDependency2){
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
            .srcSubpass = d->srcSubpass,
            .dstSubpass = d->dstSubpass,
            .srcStageMask = d->srcStageMask,
            .dstStageMask = d->dstStageMask,
            .srcAccessMask = d->srcAccessMask,
            .dstAccessMask = d->dstAccessMask,
            .dependencyFlags = d->dependencyFlags,
        };
    }
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO) {
            const VkRenderPassMultiviewCreateInfo *m = (const void *)s;
            for (uint32_t i = 0; i < m->subpassCount && i < retained->subpass_count; i++)
                retained->subpasses[i].view_mask = m->pViewMasks[i];
            for (uint32_t i = 0; i < m->dependencyCount && i < retained->dependency_count; i++)
                retained->dependencies[i].viewOffset = m->pViewOffsets[i];
        } else if (s->sType != VK_STRUCTURE_TYPE_RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO) {
            retained->unknown = true;
        }
    }
    retained_object_add(ps, &retained->base);
}

void bf_retained_render_pass2_add(struct bf_pipelines *ps, VkRenderPass pass,
                                  const VkRenderPassCreateInfo2 *info,
                                  const VkAllocationCallbacks *allocator)
{
    struct bf_retained_render_pass *retained = pass_new(
        ps, pass, info->attachmentCount, info->subpassCount, info->dependencyCount, allocator);
    if (!retained)
        return;
    retained->unknown = info->pNext != NULL;
    for (uint32_t i = 0; i < retained->attachment_count; i++) {
        retained->attachments[i] = RETAIN_ATTACHMENT(&info->pAttachments[i]);
        retained->unknown |= info->pAttachments[i].pNext != NULL;
    }
    for (uint32_t i = 0; i < retained->subpass_count; i++) {
        const VkSubpassDescription2 *s = &info->pSubpasses[i];
        retained->subpasses[i] = RETAIN_SUBPASS(&retained->base.arena, s);
        retained->subpasses[i].view_mask = s->viewMask;
        for (const VkBaseInStructure *c = s->pNext; c; c = c->pNext) {
            const VkSubpassDescriptionDepthStencilResolve *r = (const void *)c;
            if (c->sType != VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE)
                retained->unknown = true;
            else if (r->pDepthStencilResolveAttachment) {
                retained->subpasses[i].depth_resolve =
                    r->pDepthStencilResolveAttachment->attachment;
                retained->subpasses[i].depth_resolve_mode = r->depthResolveMode;
                retained->subpasses[i].stencil_resolve_mode = r->stencilResolveMode;
            }
        }
    }
    for (uint32_t i = 0; i < retained->dependency_count; i++) {
        VkSubpassDependency2 *d = &retained->dependencies[i];
        const VkMemoryBarrier2 *barrier = info->pDependencies[i].pNext;
        *d = info->pDependencies[i];
        d->pNext = NULL;
        if (!barrier)
            continue;
        VkMemoryBarrier2 *retained_barrier =
            barrier->sType == VK_STRUCTURE_TYPE_MEMORY_BARRIER_2 && !barrier->pNext
                ? bf_arena_copy(&retained->base.arena, barrier, 1, sizeof(*barrier))
                : NULL;
        retained->unknown |= !retained_barrier;
        d->pNext = retained_barrier;
    }
    retained_object_add(ps, &retained->base);
}

void bf_retained_render_pass_size(struct bf_pipelines *ps, VkRenderPass pass, uint32_t width,
                                  uint32_t height)
{
    struct bf_retained_render_pass *retained = bf_retained_render_pass_find(ps, pass);
    if (retained)
        atomic_store_explicit(&retained->extent, (uint64_t)height << 32 | width,
                              memory_order_relaxed);
}

struct bf_retained_layout *bf_retained_layout_find(struct bf_pipelines *ps, VkPipelineLayout layout)
{
    return layout ? bf_map_find(&ps->retained.layouts, (uint64_t)layout) : NULL;
}

struct bf_retained_set_layout *bf_retained_set_layout_find(struct bf_pipelines *ps,
                                                           VkDescriptorSetLayout layout)
{
    return layout ? bf_map_find(&ps->retained.set_layouts, (uint64_t)layout) : NULL;
}

struct bf_retained_render_pass *bf_retained_render_pass_find(struct bf_pipelines *ps,
                                                             VkRenderPass pass)
{
    return pass ? bf_map_find(&ps->retained.render_passes, (uint64_t)pass) : NULL;
}

static void retained_object_leave(void *retained, void *context)
{
    abandon(context, retained);
}

void bf_retained_objects_finish(struct bf_pipelines *ps)
{
    /* Objects that hold others end before those. */
    bf_map_finish(&ps->retained.render_passes, retained_object_leave, ps);
    bf_map_finish(&ps->retained.layouts, retained_object_leave, ps);
    bf_map_finish(&ps->retained.set_layouts, retained_object_leave, ps);
    bf_map_finish(&ps->retained.samplers, retained_object_leave, ps);
    while (ps->retained.pushes) {
        struct bf_push_list *list = ps->retained.pushes;
        ps->retained.pushes = list->next;
        free(list);
    }
}
