#include "specialize/pipeline/kept.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/pipeline/pipeline.h"

static struct bf_map *map_of(struct bf_pipelines *ps, VkObjectType type)
{
    switch (type) {
    case VK_OBJECT_TYPE_SAMPLER:
        return &ps->kept.samplers;
    case VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT:
        return &ps->kept.set_layouts;
    case VK_OBJECT_TYPE_PIPELINE_LAYOUT:
        return &ps->kept.layouts;
    default:
        return &ps->kept.render_passes;
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

void bf_kept_retain(struct bf_kept *kept)
{
    atomic_fetch_add(&kept->refs, 1);
}

void bf_kept_release(struct bf_kept *kept)
{
    if (atomic_fetch_sub(&kept->refs, 1) != 1)
        return;
    bf_arena_finish(&kept->arena);
    free(kept);
}

bool bf_kept_hold(struct bf_kept *kept)
{
    if (kept->foreign)
        return false;
    atomic_fetch_add(&kept->holds, 1);
    return true;
}

static void let_parts_go(struct bf_pipelines *ps, struct bf_kept *kept)
{
    if (kept->type == VK_OBJECT_TYPE_PIPELINE_LAYOUT) {
        struct bf_kept_layout *layout = (struct bf_kept_layout *)kept;
        for (uint32_t i = 0; i < layout->set_count; i++) {
            if (layout->sets[i])
                bf_kept_let_go(ps, &layout->sets[i]->base);
        }
    } else if (kept->type == VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT) {
        struct bf_kept_set_layout *layout = (struct bf_kept_set_layout *)kept;
        for (uint32_t i = 0; i < layout->binding_count; i++) {
            struct bf_set_binding *b = &layout->bindings[i];
            for (uint32_t j = 0; b->immutable && j < b->count; j++) {
                if (b->immutable[j])
                    bf_kept_let_go(ps, &b->immutable[j]->base);
            }
        }
    }
}

/* The last hold is gone. */
static void end(struct bf_pipelines *ps, struct bf_kept *kept,
                const VkAllocationCallbacks *allocator)
{
    if (kept->handle)
        destroy_below(ps, kept->type, kept->handle, allocator);
    let_parts_go(ps, kept);
    bf_kept_release(kept);
}

void bf_kept_let_go(struct bf_pipelines *ps, struct bf_kept *kept)
{
    if (atomic_fetch_sub(&kept->holds, 1) == 1)
        end(ps, kept, NULL);
}

void bf_kept_destroy(struct bf_pipelines *ps, VkObjectType type, uint64_t handle,
                     const VkAllocationCallbacks *allocator)
{
    struct bf_map *map = map_of(ps, type);
    bf_lock_acquire(&ps->lock);
    struct bf_kept *kept = handle ? bf_map_find(map, handle) : NULL;
    if (kept && --kept->lives > 0)
        kept = NULL; /* one of several: the others have the holds */
    if (kept)
        bf_map_remove(map, handle);
    bf_lock_release(&ps->lock);
    if (!kept)
        destroy_below(ps, type, handle, allocator);
    else if (kept->foreign)
        end(ps, kept, allocator);
    else
        bf_kept_let_go(ps, kept);
}

static void *kept_new(struct bf_pipelines *ps, size_t size, VkObjectType type, uint64_t handle,
                      const VkAllocationCallbacks *allocator)
{
    struct bf_kept *kept = calloc(1, size);
    if (!kept)
        return NULL;
    kept->type = type;
    kept->handle = handle;
    kept->refs = kept->holds = kept->lives = 1;
    kept->foreign = allocator != NULL;
    bf_arena_count(&kept->arena, &ps->room.own, size);
    return kept;
}

/* Forgets one that couldn't be finished; the handle stays the program's. */
static void abandon(struct bf_pipelines *ps, struct bf_kept *kept)
{
    kept->handle = 0;
    end(ps, kept, NULL);
}

static void add(struct bf_pipelines *ps, struct bf_kept *kept)
{
    struct bf_map *map = map_of(ps, kept->type);
    bool added = false;
    if (!kept->arena.failed) {
        bf_lock_acquire(&ps->lock);
        struct bf_kept *same = bf_map_find(map, kept->handle); /* KE-2 */
        if (same)
            same->lives++;
        else
            added = bf_map_insert(map, kept->handle, kept);
        bf_lock_release(&ps->lock);
    }
    if (!added)
        abandon(ps, kept);
}

void bf_kept_sampler_add(struct bf_pipelines *ps, VkSampler sampler,
                         const VkSamplerCreateInfo *info, const VkAllocationCallbacks *allocator)
{
    struct bf_kept_sampler *kept =
        kept_new(ps, sizeof(*kept), VK_OBJECT_TYPE_SAMPLER, (uint64_t)sampler, allocator);
    if (!kept)
        return;
    kept->shape = bf_seen_sampler_shape(ps, info);
    add(ps, &kept->base);
}

static int by_binding(const void *a, const void *b)
{
    const struct bf_set_binding *x = a, *y = b;
    return x->binding < y->binding ? -1 : x->binding > y->binding;
}

/* Holds the samplers that are part of a binding. */
static void hold_samplers(struct bf_pipelines *ps, struct bf_kept_set_layout *kept,
                          struct bf_set_binding *binding, const VkSampler *samplers)
{
    binding->immutable =
        bf_arena_zeroed(&kept->base.arena, binding->count * sizeof(*binding->immutable));
    for (uint32_t i = 0; binding->immutable && i < binding->count; i++) {
        struct bf_kept_sampler *s = bf_map_find(&ps->kept.samplers, (uint64_t)samplers[i]);
        if (s && bf_kept_hold(&s->base))
            binding->immutable[i] = s;
        if (!binding->immutable[i] || !s->shape || s->shape->unknown)
            kept->unknown = true;
    }
}

void bf_kept_set_layout_add(struct bf_pipelines *ps, VkDescriptorSetLayout layout,
                            const VkDescriptorSetLayoutCreateInfo *info,
                            const VkAllocationCallbacks *allocator)
{
    struct bf_kept_set_layout *kept = kept_new(
        ps, sizeof(*kept), VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)layout, allocator);
    if (!kept)
        return;
    const VkDescriptorBindingFlags *flags = NULL;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO) {
            const VkDescriptorSetLayoutBindingFlagsCreateInfo *f = (const void *)s;
            flags = f->bindingCount == info->bindingCount ? f->pBindingFlags : NULL;
        } else {
            kept->unknown = true;
        }
    }
    kept->flags = info->flags;
    kept->bindings =
        bf_arena_zeroed(&kept->base.arena, (info->bindingCount + 1) * sizeof(*kept->bindings));
    for (uint32_t i = 0; kept->bindings && i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *from = &info->pBindings[i];
        struct bf_set_binding *to = &kept->bindings[kept->binding_count++];
        to->binding = from->binding;
        to->type = from->descriptorType;
        to->count = from->descriptorCount;
        to->stages = from->stageFlags;
        to->flags = flags ? flags[i] : 0;
        if (from->pImmutableSamplers && from->descriptorCount > 0 &&
            (from->descriptorType == VK_DESCRIPTOR_TYPE_SAMPLER ||
             from->descriptorType == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER))
            hold_samplers(ps, kept, to, from->pImmutableSamplers);
    }
    if (kept->bindings)
        qsort(kept->bindings, kept->binding_count, sizeof(*kept->bindings), by_binding);
    add(ps, &kept->base);
}

struct bf_set_binding *bf_kept_binding(struct bf_kept_set_layout *layout, uint32_t binding)
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

/* The number of a list of ranges; 0: out of memory. */
static uint32_t push_id(struct bf_pipelines *ps, uint32_t count, const VkPushConstantRange *ranges)
{
    const size_t size = count * sizeof(*ranges);
    struct bf_push_list *list;
    uint32_t id = 1;
    bf_lock_acquire(&ps->lock);
    for (list = ps->kept.pushes; list; list = list->next, id++) {
        if (list->count == count && (count == 0 || memcmp(list->ranges, ranges, size) == 0))
            break;
    }
    if (!list) {
        list = malloc(sizeof(*list) + size);
        if (list) {
            *list = (struct bf_push_list){.next = ps->kept.pushes, .id = id, .count = count};
            if (count > 0)
                memcpy(list->ranges, ranges, size);
            ps->kept.pushes = list;
        }
    }
    bf_lock_release(&ps->lock);
    return list ? list->id : 0;
}

void bf_kept_layout_add(struct bf_pipelines *ps, VkPipelineLayout layout,
                        const VkPipelineLayoutCreateInfo *info,
                        const VkAllocationCallbacks *allocator)
{
    struct bf_kept_layout *kept =
        kept_new(ps, sizeof(*kept), VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout, allocator);
    if (!kept)
        return;
    struct bf_arena *arena = &kept->base.arena;
    kept->flags = info->flags;
    kept->unknown = info->pNext != NULL;
    kept->push_count = info->pushConstantRangeCount;
    kept->push =
        bf_arena_copy(arena, info->pPushConstantRanges, kept->push_count, sizeof(*kept->push));
    kept->push_id = push_id(ps, kept->push_count, info->pPushConstantRanges);
    kept->sets = bf_arena_zeroed(arena, (info->setLayoutCount + 1) * sizeof(*kept->sets));
    for (uint32_t i = 0; kept->sets && i < info->setLayoutCount; i++) {
        struct bf_kept_set_layout *set = bf_kept_set_layout_find(ps, info->pSetLayouts[i]);
        if (set && bf_kept_hold(&set->base)) {
            kept->sets[i] = set;
            kept->unknown |= set->unknown;
        } else {
            kept->unknown |= info->pSetLayouts[i] != VK_NULL_HANDLE;
        }
        kept->set_count++;
    }
    if (kept->push_id == 0)
        abandon(ps, &kept->base);
    else
        add(ps, &kept->base);
}

/* Attachments' numbers of references; NULL for none. */
static const uint32_t *numbers(struct bf_arena *arena, uint32_t count,
                               const VkAttachmentReference2 *references)
{
    uint32_t *list = references && count ? bf_arena_zeroed(arena, count * sizeof(*list)) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = references[i].attachment;
    return list;
}

static const uint32_t *old_numbers(struct bf_arena *arena, uint32_t count,
                                   const VkAttachmentReference *references)
{
    uint32_t *list = references && count ? bf_arena_zeroed(arena, count * sizeof(*list)) : NULL;
    for (uint32_t i = 0; list && i < count; i++)
        list[i] = references[i].attachment;
    return list;
}

static struct bf_kept_render_pass *pass_new(struct bf_pipelines *ps, VkRenderPass pass,
                                            uint32_t attachment_count, uint32_t subpass_count,
                                            uint32_t dependency_count,
                                            const VkAllocationCallbacks *allocator)
{
    struct bf_kept_render_pass *kept =
        kept_new(ps, sizeof(*kept), VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass, allocator);
    if (!kept)
        return NULL;
    struct bf_arena *arena = &kept->base.arena;
    kept->attachments = bf_arena_zeroed(arena, (attachment_count + 1) * sizeof(*kept->attachments));
    kept->subpasses = bf_arena_zeroed(arena, (subpass_count + 1) * sizeof(*kept->subpasses));
    kept->dependencies =
        bf_arena_zeroed(arena, (dependency_count + 1) * sizeof(*kept->dependencies));
    if (!arena->failed) {
        kept->attachment_count = attachment_count;
        kept->subpass_count = subpass_count;
        kept->dependency_count = dependency_count;
    }
    return kept;
}

void bf_kept_render_pass_add(struct bf_pipelines *ps, VkRenderPass pass,
                             const VkRenderPassCreateInfo *info,
                             const VkAllocationCallbacks *allocator)
{
    struct bf_kept_render_pass *kept = pass_new(ps, pass, info->attachmentCount, info->subpassCount,
                                                info->dependencyCount, allocator);
    if (!kept)
        return;
    for (uint32_t i = 0; i < kept->attachment_count; i++) {
        const VkAttachmentDescription *a = &info->pAttachments[i];
        kept->attachments[i] = (struct bf_kept_attachment){
            a->flags,         a->format,        a->samples,    a->loadOp,
            a->stencilLoadOp, a->initialLayout, a->finalLayout};
    }
    for (uint32_t i = 0; i < kept->subpass_count; i++) {
        const VkSubpassDescription *s = &info->pSubpasses[i];
        struct bf_arena *arena = &kept->base.arena;
        kept->subpasses[i] = (struct bf_kept_subpass){
            .flags = s->flags,
            .input_count = s->inputAttachmentCount,
            .color_count = s->colorAttachmentCount,
            .inputs = old_numbers(arena, s->inputAttachmentCount, s->pInputAttachments),
            .colors = old_numbers(arena, s->colorAttachmentCount, s->pColorAttachments),
            .resolves = old_numbers(arena, s->colorAttachmentCount, s->pResolveAttachments),
            .depth = s->pDepthStencilAttachment ? s->pDepthStencilAttachment->attachment
                                                : VK_ATTACHMENT_UNUSED,
            .depth_resolve = VK_ATTACHMENT_UNUSED,
            .preserve_count = s->preserveAttachmentCount,
            .preserves = bf_arena_copy(arena, s->pPreserveAttachments, s->preserveAttachmentCount,
                                       sizeof(uint32_t)),
        };
    }
    for (uint32_t i = 0; i < kept->dependency_count; i++) {
        const VkSubpassDependency *d = &info->pDependencies[i];
        kept->dependencies[i] = (VkSubpassDependency2){
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
            for (uint32_t i = 0; i < m->subpassCount && i < kept->subpass_count; i++)
                kept->subpasses[i].view_mask = m->pViewMasks[i];
            for (uint32_t i = 0; i < m->dependencyCount && i < kept->dependency_count; i++)
                kept->dependencies[i].viewOffset = m->pViewOffsets[i];
        } else if (s->sType != VK_STRUCTURE_TYPE_RENDER_PASS_INPUT_ATTACHMENT_ASPECT_CREATE_INFO) {
            kept->unknown = true;
        }
    }
    add(ps, &kept->base);
}

void bf_kept_render_pass2_add(struct bf_pipelines *ps, VkRenderPass pass,
                              const VkRenderPassCreateInfo2 *info,
                              const VkAllocationCallbacks *allocator)
{
    struct bf_kept_render_pass *kept = pass_new(ps, pass, info->attachmentCount, info->subpassCount,
                                                info->dependencyCount, allocator);
    if (!kept)
        return;
    kept->unknown = info->pNext != NULL;
    for (uint32_t i = 0; i < kept->attachment_count; i++) {
        const VkAttachmentDescription2 *a = &info->pAttachments[i];
        kept->attachments[i] = (struct bf_kept_attachment){
            a->flags,         a->format,        a->samples,    a->loadOp,
            a->stencilLoadOp, a->initialLayout, a->finalLayout};
        kept->unknown |= a->pNext != NULL;
    }
    for (uint32_t i = 0; i < kept->subpass_count; i++) {
        const VkSubpassDescription2 *s = &info->pSubpasses[i];
        struct bf_arena *arena = &kept->base.arena;
        kept->subpasses[i] = (struct bf_kept_subpass){
            .flags = s->flags,
            .view_mask = s->viewMask,
            .input_count = s->inputAttachmentCount,
            .color_count = s->colorAttachmentCount,
            .inputs = numbers(arena, s->inputAttachmentCount, s->pInputAttachments),
            .colors = numbers(arena, s->colorAttachmentCount, s->pColorAttachments),
            .resolves = numbers(arena, s->colorAttachmentCount, s->pResolveAttachments),
            .depth = s->pDepthStencilAttachment ? s->pDepthStencilAttachment->attachment
                                                : VK_ATTACHMENT_UNUSED,
            .depth_resolve = VK_ATTACHMENT_UNUSED,
            .preserve_count = s->preserveAttachmentCount,
            .preserves = bf_arena_copy(arena, s->pPreserveAttachments, s->preserveAttachmentCount,
                                       sizeof(uint32_t)),
        };
        for (const VkBaseInStructure *c = s->pNext; c; c = c->pNext) {
            const VkSubpassDescriptionDepthStencilResolve *r = (const void *)c;
            if (c->sType != VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE)
                kept->unknown = true;
            else if (r->pDepthStencilResolveAttachment) {
                kept->subpasses[i].depth_resolve = r->pDepthStencilResolveAttachment->attachment;
                kept->subpasses[i].depth_resolve_mode = r->depthResolveMode;
                kept->subpasses[i].stencil_resolve_mode = r->stencilResolveMode;
            }
        }
    }
    for (uint32_t i = 0; i < kept->dependency_count; i++) {
        VkSubpassDependency2 *d = &kept->dependencies[i];
        const VkMemoryBarrier2 *barrier = info->pDependencies[i].pNext;
        *d = info->pDependencies[i];
        d->pNext = NULL;
        if (!barrier)
            continue;
        VkMemoryBarrier2 *kept_barrier =
            barrier->sType == VK_STRUCTURE_TYPE_MEMORY_BARRIER_2 && !barrier->pNext
                ? bf_arena_copy(&kept->base.arena, barrier, 1, sizeof(*barrier))
                : NULL;
        kept->unknown |= !kept_barrier;
        d->pNext = kept_barrier;
    }
    add(ps, &kept->base);
}

void bf_kept_render_pass_size(struct bf_pipelines *ps, VkRenderPass pass, uint32_t width,
                              uint32_t height)
{
    struct bf_kept_render_pass *kept = bf_kept_render_pass_find(ps, pass);
    if (kept)
        atomic_store_explicit(&kept->extent, (uint64_t)height << 32 | width, memory_order_relaxed);
}

struct bf_kept_layout *bf_kept_layout_find(struct bf_pipelines *ps, VkPipelineLayout layout)
{
    return layout ? bf_map_find(&ps->kept.layouts, (uint64_t)layout) : NULL;
}

struct bf_kept_set_layout *bf_kept_set_layout_find(struct bf_pipelines *ps,
                                                   VkDescriptorSetLayout layout)
{
    return layout ? bf_map_find(&ps->kept.set_layouts, (uint64_t)layout) : NULL;
}

struct bf_kept_render_pass *bf_kept_render_pass_find(struct bf_pipelines *ps, VkRenderPass pass)
{
    return pass ? bf_map_find(&ps->kept.render_passes, (uint64_t)pass) : NULL;
}

static void leave(void *kept, void *context)
{
    abandon(context, kept);
}

void bf_kepts_finish(struct bf_pipelines *ps)
{
    /* What holds goes before what is held. */
    bf_map_finish(&ps->kept.render_passes, leave, ps);
    bf_map_finish(&ps->kept.layouts, leave, ps);
    bf_map_finish(&ps->kept.set_layouts, leave, ps);
    bf_map_finish(&ps->kept.samplers, leave, ps);
    while (ps->kept.pushes) {
        struct bf_push_list *list = ps->kept.pushes;
        ps->kept.pushes = list->next;
        free(list);
    }
}
