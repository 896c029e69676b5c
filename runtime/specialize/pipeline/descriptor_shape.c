/* SPDX-License-Identifier: MIT */
/* Descriptor shapes: which views, samplers and buffer ranges a program's descriptor writes,
 * copies, templates and pushes put into each binding. */
#include "specialize/pipeline/descriptor_shape.h"

#include <stdlib.h>
#include <string.h>

#include "specialize/check/texel.h"
#include "specialize/pipeline/pipeline.h"

/* A descriptor set, in its pool's list. */
struct set {
    struct set *next, **link;
    VkDescriptorSet handle;
    struct bf_retained_set_layout *layout; /* referenced */
};

struct pool {
    struct set *sets;
};

struct template
{
    struct bf_retained_set_layout *layout; /* referenced; NULL: a template for pushed descriptors */
    uint32_t count;
    VkDescriptorUpdateTemplateEntry entries[];
};

/* ---- Shapes ---- */

static const struct bf_view_shape *view_shape(struct bf_pipelines *ps,
                                              const VkImageViewCreateInfo *info)
{
    struct bf_descriptor_shapes *shapes = &ps->shapes;
    const struct bf_view_shape wanted = {
        .format = info->format,
        .type = info->viewType,
        .aspect = info->subresourceRange.aspectMask,
        .components = info->components,
    };
    bf_lock_acquire(&ps->lock);
    const struct bf_view_shape *shape = shapes->view_shapes;
    while (shape && (shape->format != wanted.format || shape->type != wanted.type ||
                     shape->aspect != wanted.aspect ||
                     memcmp(&shape->components, &wanted.components, sizeof(wanted.components))))
        shape = shape->next;
    if (!shape && shapes->view_count < BF_SHAPES) {
        struct bf_view_shape *fresh = malloc(sizeof(*fresh));
        if (fresh) {
            *fresh = wanted;
            fresh->next = shapes->view_shapes;
            shapes->view_shapes = shape = fresh;
            shapes->view_count++;
        }
    }
    bf_lock_release(&ps->lock);
    return shape;
}

static bool same_sampler(const struct bf_sampler_shape *a, const struct bf_sampler_shape *b)
{
    const VkSamplerCreateInfo *x = &a->info, *y = &b->info;
    return x->flags == y->flags && x->magFilter == y->magFilter && x->minFilter == y->minFilter &&
           x->mipmapMode == y->mipmapMode && x->addressModeU == y->addressModeU &&
           x->addressModeV == y->addressModeV && x->addressModeW == y->addressModeW &&
           x->mipLodBias == y->mipLodBias && x->anisotropyEnable == y->anisotropyEnable &&
           x->maxAnisotropy == y->maxAnisotropy && x->compareEnable == y->compareEnable &&
           x->compareOp == y->compareOp && x->minLod == y->minLod && x->maxLod == y->maxLod &&
           x->borderColor == y->borderColor &&
           x->unnormalizedCoordinates == y->unnormalizedCoordinates &&
           a->reduction == b->reduction && a->unknown == b->unknown;
}

const struct bf_sampler_shape *bf_descriptor_shapes_sampler(struct bf_pipelines *ps,
                                                            const VkSamplerCreateInfo *info)
{
    struct bf_descriptor_shapes *shapes = &ps->shapes;
    struct bf_sampler_shape wanted = {
        .info = *info,
        .reduction = VK_SAMPLER_REDUCTION_MODE_WEIGHTED_AVERAGE,
    };
    wanted.info.pNext = NULL;
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO)
            wanted.reduction =
                ((const VkSamplerReductionModeCreateInfo *)(const void *)s)->reductionMode;
        else
            wanted.unknown = true;
    }
    bf_lock_acquire(&ps->lock);
    const struct bf_sampler_shape *shape = shapes->sampler_shapes;
    while (shape && !same_sampler(shape, &wanted))
        shape = shape->next;
    if (!shape && shapes->sampler_count < BF_SHAPES) {
        struct bf_sampler_shape *fresh = malloc(sizeof(*fresh));
        if (fresh) {
            *fresh = wanted;
            fresh->next = shapes->sampler_shapes;
            shapes->sampler_shapes = shape = fresh;
            shapes->sampler_count++;
        }
    }
    bf_lock_release(&ps->lock);
    return shape;
}

/* ---- Views ---- */

void bf_descriptor_shapes_view_made(struct bf_pipelines *ps, VkImageView view,
                                    const VkImageViewCreateInfo *info)
{
    /* Of one without a shape nothing is known: FC-3, when it is written. */
    const struct bf_view_shape *shape = view_shape(ps, info);
    if (shape)
        bf_map_insert(&ps->shapes.views, (uint64_t)view, (void *)(uintptr_t)shape);
}

void bf_descriptor_shapes_view_gone(struct bf_pipelines *ps, VkImageView view)
{
    bf_map_remove(&ps->shapes.views, (uint64_t)view);
}

void bf_descriptor_shapes_buffer_view_made(struct bf_pipelines *ps, VkBufferView view,
                                           const VkBufferViewCreateInfo *info)
{
    bf_map_insert(&ps->shapes.buffer_views, (uint64_t)view, (void *)(uintptr_t)info->format);
}

void bf_descriptor_shapes_buffer_view_gone(struct bf_pipelines *ps, VkBufferView view)
{
    bf_map_remove(&ps->shapes.buffer_views, (uint64_t)view);
}

/* ---- Sets ---- */

static void free_set(struct bf_pipelines *ps, struct set *set)
{
    *set->link = set->next;
    if (set->next)
        set->next->link = set->link;
    bf_map_remove(&ps->shapes.sets, (uint64_t)set->handle);
    bf_retained_unref(&set->layout->base);
    free(set);
}

static struct pool *pool_of(struct bf_pipelines *ps, VkDescriptorPool handle)
{
    struct pool *pool = bf_map_find(&ps->shapes.pools, (uint64_t)handle);
    if (pool)
        return pool;
    pool = calloc(1, sizeof(*pool));
    if (pool && !bf_map_insert(&ps->shapes.pools, (uint64_t)handle, pool)) {
        free(pool);
        return NULL;
    }
    return pool;
}

void bf_descriptor_shapes_sets_made(struct bf_pipelines *ps,
                                    const VkDescriptorSetAllocateInfo *info,
                                    const VkDescriptorSet *sets)
{
    struct pool *pool = pool_of(ps, info->descriptorPool);
    if (!pool)
        bf_format_classes_lose(&ps->shapes.classes);
    for (uint32_t i = 0; pool && i < info->descriptorSetCount; i++) {
        struct bf_retained_set_layout *layout =
            bf_retained_set_layout_find(ps, info->pSetLayouts[i]);
        struct set *set = layout ? malloc(sizeof(*set)) : NULL;
        if (!set) {
            bf_format_classes_lose(&ps->shapes.classes);
            continue;
        }
        set->handle = sets[i];
        if (!bf_map_insert(&ps->shapes.sets, (uint64_t)sets[i], set)) {
            bf_format_classes_lose(&ps->shapes.classes);
            free(set);
            continue;
        }
        set->layout = layout;
        bf_retained_ref(&layout->base);
        set->next = pool->sets;
        set->link = &pool->sets;
        if (set->next)
            set->next->link = &set->next;
        pool->sets = set;
    }
}

void bf_descriptor_shapes_sets_gone(struct bf_pipelines *ps, uint32_t count,
                                    const VkDescriptorSet *sets)
{
    for (uint32_t i = 0; i < count; i++) {
        struct set *set = sets[i] ? bf_map_find(&ps->shapes.sets, (uint64_t)sets[i]) : NULL;
        if (set)
            free_set(ps, set);
    }
}

void bf_descriptor_shapes_pool_emptied(struct bf_pipelines *ps, VkDescriptorPool handle)
{
    struct pool *pool = handle ? bf_map_find(&ps->shapes.pools, (uint64_t)handle) : NULL;
    while (pool && pool->sets)
        free_set(ps, pool->sets);
}

void bf_descriptor_shapes_pool_gone(struct bf_pipelines *ps, VkDescriptorPool handle)
{
    bf_descriptor_shapes_pool_emptied(ps, handle);
    free(handle ? bf_map_remove(&ps->shapes.pools, (uint64_t)handle) : NULL);
}

/* ---- Updates ---- */

static void shape_write_view(struct bf_pipelines *ps, struct bf_descriptor_shape *to,
                             VkImageView view)
{
    const struct bf_view_shape *shape =
        view ? bf_map_find(&ps->shapes.views, (uint64_t)view) : NULL;
    if (shape && atomic_load_explicit(&to->view, memory_order_relaxed) != shape)
        atomic_store_explicit(&to->view, shape, memory_order_release);
}

/* The range of a buffer that a shader may reach. Where the program leaves it to the driver the
 * buffer's size is asked for, and only until a range is known: to ask at each write would cost
 * more than it is worth. */
static void shape_write_range(struct bf_pipelines *ps, struct bf_descriptor_shape *to,
                              const VkDescriptorBufferInfo *buffer)
{
    uint64_t range = buffer->range;
    if (range == VK_WHOLE_SIZE) {
        if (atomic_load_explicit(&to->range, memory_order_relaxed))
            return;
        VkMemoryRequirements needs = {0};
        ps->vk->vkGetBufferMemoryRequirements(ps->device, buffer->buffer, &needs);
        range = needs.size > buffer->offset ? needs.size - buffer->offset : 0;
    }
    atomic_store_explicit(&to->range, range, memory_order_relaxed);
}

static void shape_write_sampler(struct bf_pipelines *ps, const struct bf_set_binding *binding,
                                struct bf_descriptor_shape *to, VkSampler sampler)
{
    if (binding->immutable)
        return; /* the descriptor's type ignores what is written */
    const struct bf_retained_sampler *retained =
        sampler ? bf_map_find(&ps->retained.samplers, (uint64_t)sampler) : NULL;
    if (retained && retained->shape &&
        atomic_load_explicit(&to->sampler, memory_order_relaxed) != retained->shape)
        atomic_store_explicit(&to->sampler, retained->shape, memory_order_release);
}

/* Writes the shape of one descriptor: 'data' is the struct that belongs to its type. */
static void shape_write(struct bf_pipelines *ps, struct bf_retained_set_layout *layout,
                        uint32_t number, VkDescriptorType type, const void *data)
{
    struct bf_set_binding *binding = layout && data ? bf_retained_binding(layout, number) : NULL;
    if (!binding)
        return;
    struct bf_descriptor_shape *to = &binding->shape;
    const VkDescriptorImageInfo *image = data;
    switch ((int)type) {
    case VK_DESCRIPTOR_TYPE_SAMPLER:
        shape_write_sampler(ps, binding, to, image->sampler);
        break;
    case VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER:
        shape_write_sampler(ps, binding, to, image->sampler);
        shape_write_view(ps, to, image->imageView);
        break;
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE:
    case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
    case VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT:
        shape_write_view(ps, to, image->imageView);
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER: {
        VkBufferView view = *(const VkBufferView *)data;
        void *format = view ? bf_map_find(&ps->shapes.buffer_views, (uint64_t)view) : NULL;
        if (format)
            atomic_store_explicit(&to->texel_format, (uint32_t)(uintptr_t)format,
                                  memory_order_relaxed);
        break;
    }
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
    case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC: {
        const VkDescriptorBufferInfo *buffer = data;
        if (buffer->buffer)
            shape_write_range(ps, to, buffer);
        break;
    }
    default:
        break;
    }
}

static bool descriptor_is_image(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_SAMPLER ||
           type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER ||
           type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||
           type == VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT;
}

static bool is_texel_buffer(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||
           type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

static bool is_buffer(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER || type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
           type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC ||
           type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC;
}

/* What it says of format classes. */
static void class_write(struct bf_pipelines *ps, const struct bf_set_binding *binding,
                        VkDescriptorType type, const void *data)
{
    uint32_t classes = BF_FORMAT_CLASS_ANY;
    if (is_texel_buffer(type)) {
        const VkBufferView view = *(const VkBufferView *)data;
        const void *format = view ? bf_map_find(&ps->shapes.buffer_views, (uint64_t)view) : NULL;
        if (!view)
            return;
        if (format)
            classes = bf_format_class((VkFormat)(uintptr_t)format, VK_IMAGE_ASPECT_COLOR_BIT);
    } else {
        const VkDescriptorImageInfo *image = data;
        const struct bf_view_shape *shape =
            image->imageView ? bf_map_find(&ps->shapes.views, (uint64_t)image->imageView) : NULL;
        if (!image->imageView)
            return;
        if (shape)
            classes = bf_format_class(shape->format, shape->aspect);
    }
    bf_format_classes_add(&ps->shapes.classes, binding->place, classes);
}

static bool has_format(VkDescriptorType type)
{
    return type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER ||
           type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE || type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||
           is_texel_buffer(type);
}

/* All of a write's descriptors, which may go on in the next bindings. [SE-3] */
static void classes_write(struct bf_pipelines *ps, struct bf_retained_set_layout *layout,
                          uint32_t number, uint32_t element, uint32_t count, VkDescriptorType type,
                          const void *data, size_t stride)
{
    if (!data || !has_format(type))
        return;
    if (!layout) {
        bf_format_classes_lose(&ps->shapes.classes);
        return;
    }
    const struct bf_set_binding *binding = bf_retained_binding(layout, number);
    const struct bf_set_binding *const end = layout->bindings + layout->binding_count;
    for (uint32_t i = 0; binding && i < count; i++, element++) {
        while (binding < end && element >= binding->count) {
            element -= binding->count;
            binding++;
        }
        if (binding == end)
            return;
        class_write(ps, binding, type, (const char *)data + i * stride);
    }
}

/* Of a write's descriptors the first has the shape that is noted, and only the pointer that belongs
 * to its type is looked at: the others may be garbage. */
static void see_write(struct bf_pipelines *ps, struct bf_retained_set_layout *layout,
                      const VkWriteDescriptorSet *w)
{
    const void *data = NULL;
    if (w->descriptorCount == 0)
        return;
    if (descriptor_is_image(w->descriptorType))
        data = w->pImageInfo;
    else if (is_texel_buffer(w->descriptorType))
        data = w->pTexelBufferView;
    else if (is_buffer(w->descriptorType))
        data = w->pBufferInfo;
    shape_write(ps, layout, w->dstBinding, w->descriptorType, data);
    classes_write(
        ps, layout, w->dstBinding, w->dstArrayElement, w->descriptorCount, w->descriptorType, data,
        is_texel_buffer(w->descriptorType) ? sizeof(VkBufferView) : sizeof(VkDescriptorImageInfo));
}

static struct bf_retained_set_layout *layout_of(struct bf_pipelines *ps, VkDescriptorSet handle)
{
    const struct set *set = handle ? bf_map_find(&ps->shapes.sets, (uint64_t)handle) : NULL;
    return set ? set->layout : NULL;
}

/* Within one binding all classes that were written there; from binding to binding any. */
static void classes_copy(struct bf_pipelines *ps, const struct bf_set_binding *a,
                         const struct bf_retained_set_layout *to, const struct bf_set_binding *b,
                         const VkCopyDescriptorSet *copy)
{
    struct bf_format_classes *classes = &ps->shapes.classes;
    const struct bf_set_binding *const end = to->bindings + to->binding_count;
    uint64_t left = (uint64_t)copy->dstArrayElement + copy->descriptorCount;
    const bool within = a && left <= b->count &&
                        (uint64_t)copy->srcArrayElement + copy->descriptorCount <= a->count;
    for (; b < end && left > 0; left -= left < b->count ? left : b->count, b++) {
        if (has_format(b->type))
            bf_format_classes_add(classes, b->place,
                                  within ? bf_format_classes_of(classes, a->place)
                                         : BF_FORMAT_CLASS_ANY);
    }
}

/* Copies the shapes from one binding to another. */
static void see_copy(struct bf_pipelines *ps, const VkCopyDescriptorSet *copy)
{
    struct bf_retained_set_layout *from = layout_of(ps, copy->srcSet),
                                  *to = layout_of(ps, copy->dstSet);
    struct bf_set_binding *a = from ? bf_retained_binding(from, copy->srcBinding) : NULL;
    struct bf_set_binding *b = to ? bf_retained_binding(to, copy->dstBinding) : NULL;
    if (!from || !to)
        bf_format_classes_lose(&ps->shapes.classes);
    else if (b)
        classes_copy(ps, a, to, b, copy);
    if (!a || !b || a == b || copy->descriptorCount == 0)
        return;
    const struct bf_view_shape *view = atomic_load(&a->shape.view);
    const struct bf_sampler_shape *sampler = atomic_load(&a->shape.sampler);
    uint32_t format = atomic_load(&a->shape.texel_format);
    uint64_t range = atomic_load(&a->shape.range);
    if (view)
        atomic_store(&b->shape.view, view);
    if (sampler && !b->immutable)
        atomic_store(&b->shape.sampler, sampler);
    if (format)
        atomic_store(&b->shape.texel_format, format);
    if (range)
        atomic_store(&b->shape.range, range);
}

void bf_descriptor_shapes_update(struct bf_pipelines *ps, uint32_t write_count,
                                 const VkWriteDescriptorSet *writes, uint32_t copy_count,
                                 const VkCopyDescriptorSet *copies)
{
    for (uint32_t i = 0; i < write_count; i++)
        see_write(ps, layout_of(ps, writes[i].dstSet), &writes[i]);
    for (uint32_t i = 0; i < copy_count; i++)
        see_copy(ps, &copies[i]);
}

static struct bf_retained_set_layout *pushed_layout(struct bf_pipelines *ps,
                                                    VkPipelineLayout handle, uint32_t set)
{
    const struct bf_retained_layout *layout = bf_retained_layout_find(ps, handle);
    return layout && set < layout->set_count ? layout->sets[set] : NULL;
}

void bf_descriptor_shapes_push(struct bf_pipelines *ps, VkPipelineLayout handle, uint32_t set,
                               uint32_t write_count, const VkWriteDescriptorSet *writes)
{
    struct bf_retained_set_layout *layout = pushed_layout(ps, handle, set);
    for (uint32_t i = 0; i < write_count; i++)
        see_write(ps, layout, &writes[i]);
}

/* ---- Templates ---- */

static void free_template(struct template *t)
{
    if (t->layout)
        bf_retained_unref(&t->layout->base);
    free(t);
}

void bf_descriptor_shapes_template_made(struct bf_pipelines *ps, VkDescriptorUpdateTemplate handle,
                                        const VkDescriptorUpdateTemplateCreateInfo *info)
{
    const uint32_t count = info->descriptorUpdateEntryCount;
    struct template *t = calloc(1, sizeof(*t) + count * sizeof(t->entries[0]));
    if (!t)
        return;
    t->count = count;
    if (count > 0)
        memcpy(t->entries, info->pDescriptorUpdateEntries, count * sizeof(t->entries[0]));
    if (info->templateType == VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET) {
        t->layout = bf_retained_set_layout_find(ps, info->descriptorSetLayout);
        if (t->layout)
            bf_retained_ref(&t->layout->base);
    }
    /* An equal template is known already: some drivers give equal objects one handle. */
    if (bf_map_find(&ps->shapes.templates, (uint64_t)handle) ||
        !bf_map_insert(&ps->shapes.templates, (uint64_t)handle, t))
        free_template(t);
}

void bf_descriptor_shapes_template_gone(struct bf_pipelines *ps, VkDescriptorUpdateTemplate handle)
{
    struct template *t = handle ? bf_map_remove(&ps->shapes.templates, (uint64_t)handle) : NULL;
    if (t)
        free_template(t);
}

static void see_template(struct bf_pipelines *ps, const struct template *t,
                         struct bf_retained_set_layout *layout, const void *data)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const VkDescriptorUpdateTemplateEntry *e = &t->entries[i];
        if (e->descriptorCount > 0)
            shape_write(ps, layout, e->dstBinding, e->descriptorType,
                        (const char *)data + e->offset);
        classes_write(ps, layout, e->dstBinding, e->dstArrayElement, e->descriptorCount,
                      e->descriptorType, (const char *)data + e->offset, e->stride);
    }
}

void bf_descriptor_shapes_update_template(struct bf_pipelines *ps, VkDescriptorSet set,
                                          VkDescriptorUpdateTemplate handle, const void *data)
{
    const struct template *t = bf_map_find(&ps->shapes.templates, (uint64_t)handle);
    struct bf_retained_set_layout *layout = t ? layout_of(ps, set) : NULL;
    if (t)
        see_template(ps, t, layout ? layout : t->layout, data);
    else
        bf_format_classes_lose(&ps->shapes.classes);
}

void bf_descriptor_shapes_push_template(struct bf_pipelines *ps, VkDescriptorUpdateTemplate handle,
                                        VkPipelineLayout layout, uint32_t set, const void *data)
{
    const struct template *t = bf_map_find(&ps->shapes.templates, (uint64_t)handle);
    if (t)
        see_template(ps, t, pushed_layout(ps, layout, set), data);
    else
        bf_format_classes_lose(&ps->shapes.classes);
}

/* ---- The end ---- */

static void shape_pool_free(void *pool, void *ps)
{
    while (((struct pool *)pool)->sets)
        free_set(ps, ((struct pool *)pool)->sets);
    free(pool);
}

static void free_visited_template(void *t, void *ps)
{
    (void)ps;
    free_template(t);
}

void bf_descriptor_shapes_finish(struct bf_pipelines *ps)
{
    struct bf_descriptor_shapes *shapes = &ps->shapes;
    bf_map_finish(&shapes->pools, shape_pool_free, ps);
    bf_map_finish(&shapes->sets, NULL, NULL);
    bf_map_finish(&shapes->templates, free_visited_template, ps);
    bf_map_finish(&shapes->views, NULL, NULL);
    bf_map_finish(&shapes->buffer_views, NULL, NULL);
    while (shapes->view_shapes) {
        const struct bf_view_shape *shape = shapes->view_shapes;
        shapes->view_shapes = shape->next;
        free((void *)(uintptr_t)shape);
    }
    while (shapes->sampler_shapes) {
        const struct bf_sampler_shape *shape = shapes->sampler_shapes;
        shapes->sampler_shapes = shape->next;
        free((void *)(uintptr_t)shape);
    }
}
