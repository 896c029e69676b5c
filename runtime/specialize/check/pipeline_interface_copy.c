/* SPDX-License-Identifier: MIT */
/* The interface of a pipeline, read from a pipeline's copy: its bindings, attachments, vertex
 * input and push constants, as a check needs them. */
#include "specialize/check/pipeline_interface_copy.h"

#include <stdlib.h>

#include "specialize/shader/arena.h"
#include "specialize/shader/block.h"
#include "specialize/pipeline/copy.h"
#include "specialize/pipeline/pipeline.h"

/* The subject is the first member, so that it stands for all of it. */
struct owned {
    struct bf_pipeline_interface interface;
    struct bf_arena arena;
};

static enum bf_texel_kind texel_kind_of(enum bf_number number)
{
    switch (number) {
    case BF_NUMBER_INT:
        return BF_TEXEL_SINT;
    case BF_NUMBER_UINT:
        return BF_TEXEL_UINT;
    default:
        return BF_TEXEL_SFLOAT;
    }
}

/* The view that a shader declares. */
static VkImageViewType view_type_of(const struct bf_shader_binding *b)
{
    enum { ONE, TWO, THREE, CUBE }; /* SpvDim */
    switch (b->dim) {
    case ONE:
        return b->arrayed ? VK_IMAGE_VIEW_TYPE_1D_ARRAY : VK_IMAGE_VIEW_TYPE_1D;
    case THREE:
        return VK_IMAGE_VIEW_TYPE_3D;
    case CUBE:
        return b->arrayed ? VK_IMAGE_VIEW_TYPE_CUBE_ARRAY : VK_IMAGE_VIEW_TYPE_CUBE;
    default:
        return b->arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D;
    }
}

/* The format that a storage image's shader declares, SpvImageFormat; undefined: any. */
static VkFormat format_of(uint32_t format)
{
    static const VkFormat formats[] = {
        [1] = VK_FORMAT_R32G32B32A32_SFLOAT,
        [2] = VK_FORMAT_R16G16B16A16_SFLOAT,
        [3] = VK_FORMAT_R32_SFLOAT,
        [4] = VK_FORMAT_R8G8B8A8_UNORM,
        [5] = VK_FORMAT_R8G8B8A8_SNORM,
        [6] = VK_FORMAT_R32G32_SFLOAT,
        [7] = VK_FORMAT_R16G16_SFLOAT,
        [8] = VK_FORMAT_B10G11R11_UFLOAT_PACK32,
        [9] = VK_FORMAT_R16_SFLOAT,
        [10] = VK_FORMAT_R16G16B16A16_UNORM,
        [11] = VK_FORMAT_A2B10G10R10_UNORM_PACK32,
        [12] = VK_FORMAT_R16G16_UNORM,
        [13] = VK_FORMAT_R8G8_UNORM,
        [14] = VK_FORMAT_R16_UNORM,
        [15] = VK_FORMAT_R8_UNORM,
        [16] = VK_FORMAT_R16G16B16A16_SNORM,
        [17] = VK_FORMAT_R16G16_SNORM,
        [18] = VK_FORMAT_R8G8_SNORM,
        [19] = VK_FORMAT_R16_SNORM,
        [20] = VK_FORMAT_R8_SNORM,
        [21] = VK_FORMAT_R32G32B32A32_SINT,
        [22] = VK_FORMAT_R16G16B16A16_SINT,
        [23] = VK_FORMAT_R8G8B8A8_SINT,
        [24] = VK_FORMAT_R32_SINT,
        [25] = VK_FORMAT_R32G32_SINT,
        [26] = VK_FORMAT_R16G16_SINT,
        [27] = VK_FORMAT_R8G8_SINT,
        [28] = VK_FORMAT_R16_SINT,
        [29] = VK_FORMAT_R8_SINT,
        [30] = VK_FORMAT_R32G32B32A32_UINT,
        [31] = VK_FORMAT_R16G16B16A16_UINT,
        [32] = VK_FORMAT_R8G8B8A8_UINT,
        [33] = VK_FORMAT_R32_UINT,
        [34] = VK_FORMAT_A2B10G10R10_UINT_PACK32,
        [35] = VK_FORMAT_R32G32_UINT,
        [36] = VK_FORMAT_R16G16_UINT,
        [37] = VK_FORMAT_R8G8_UINT,
        [38] = VK_FORMAT_R16_UINT,
        [39] = VK_FORMAT_R8_UINT,
        [40] = VK_FORMAT_R64_UINT,
        [41] = VK_FORMAT_R64_SINT,
    };
    return format < BF_COUNT(formats) ? formats[format] : VK_FORMAT_UNDEFINED;
}

/* What a shader does with it; stages add up. */
static void interface_binding_use(struct bf_check_binding *to, const struct bf_shader_binding *b)
{
    to->written |= b->written;
    to->depth |= b->depth;
    if (!to->used) {
        to->number = texel_kind_of(b->number);
        to->input_index = b->input_index;
        to->block_size = b->block_size;
        to->array_stride = b->array_stride;
        if (b->multisampled)
            to->samples = VK_SAMPLE_COUNT_4_BIT;
        if (to->format == VK_FORMAT_UNDEFINED) {
            to->format = format_of(b->format);
            to->view = view_type_of(b);
        }
    } else if (b->block_size > to->block_size) {
        to->block_size = b->block_size;
        to->array_stride = b->array_stride;
    }
    to->used = true;
}

static void fill_binding(struct bf_check_binding *to, const struct bf_set_binding *from)
{
    *to = (struct bf_check_binding){
        .binding = from->binding,
        .type = from->type,
        .count = from->count,
        .flags = from->flags,
        .immutable_samplers = from->immutable != NULL,
    };
    const struct bf_view_shape *view = atomic_load(&from->shape.view);
    const struct bf_sampler_shape *sampler = atomic_load(&from->shape.sampler);
    uint32_t texel = atomic_load(&from->shape.texel_format);
    uint64_t range = atomic_load(&from->shape.range);
    if (view) {
        to->format = view->format;
        to->view = view->type;
        to->components = view->components;
    } else if (texel) {
        to->format = (VkFormat)texel;
    }
    if (sampler && !sampler->unknown)
        to->sampler = &sampler->info;
    to->size = range;
}

/* Of the stage that tells the most of it. */
static void find_units(struct bf_arena *arena, const struct bf_blocks *blocks, uint32_t set,
                       struct bf_check_binding *to, uint8_t *units)
{
    uint32_t period, count = bf_blocks_units(blocks, set, to->binding, units, &period);
    if (count <= to->kind_count)
        return;
    to->kinds = bf_arena_copy(arena, units, count, 1);
    to->kind_count = to->kinds ? count : 0;
    to->period = period;
}

/* Loops, and what the words of buffers are. What isn't understood may loop. */
static enum bf_reason read_stages(struct owned *o, const struct bf_pipeline_copy *copy)
{
    const struct bf_check_layout *layout = o->interface.layout;
    uint8_t *units = malloc(BF_BLOCK_WORDS);
    enum bf_reason reason = units ? BF_REASON_NONE : BF_REASON_MEMORY;
    for (uint32_t i = 0; i < copy->stage_count && reason == BF_REASON_NONE; i++) {
        const struct bf_code_stage *stage = copy->stages[i];
        const struct bf_shader_info info = {
            .words = stage->code->words,
            .word_count = stage->code->word_count,
            .entry = stage->entry,
            .stage = stage->stage,
            .specialization = stage->specialization,
        };
        struct bf_blocks *blocks = NULL;
        if (bf_blocks_open(&info, &blocks) == VK_ERROR_OUT_OF_HOST_MEMORY)
            reason = BF_REASON_MEMORY;
        o->interface.loops |= !blocks || bf_blocks_loop(blocks);
        o->interface.fragile |= !blocks || bf_blocks_fragile(blocks);
        for (uint32_t k = 0; blocks && k < layout->set_count; k++) {
            /* The subject's own bindings: nobody else has them yet. */
            struct bf_check_binding *bindings = (struct bf_check_binding *)layout->sets[k].bindings;
            for (uint32_t n = 0; n < layout->sets[k].binding_count; n++)
                find_units(&o->arena, blocks, k, &bindings[n], units);
        }
        bf_blocks_close(blocks);
    }
    free(units);
    return o->arena.failed ? BF_REASON_MEMORY : reason;
}

/* Images whose format neither the shader nor a render pass declares. */
static bool may_be_others(const struct bf_check_binding *b, bool declared)
{
    return b->used && !b->depth && !declared &&
           (b->type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER ||
            b->type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE ||
            b->type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE ||
            b->type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ||
            b->type == VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER);
}

/* Any, where nothing was seen, or may be written once a command buffer has been recorded. */
static void find_classes(struct bf_pipeline_interface *s, struct bf_format_classes *classes,
                         const struct bf_set_binding *from, VkDescriptorSetLayoutCreateFlags flags,
                         struct bf_check_binding *to)
{
    struct bf_format_bindings *formats = &s->formats;
    uint32_t seen = bf_format_classes_of(classes, from->place);
    to->classes = BF_FORMAT_CLASS_ANY;
    if (!seen || (flags & VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT) ||
        (from->flags & VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT) ||
        formats->count == BF_FORMAT_BINDINGS)
        return;
    to->classes = seen;
    formats->places[formats->count] = from->place;
    formats->classes[formats->count++] = (uint8_t)seen;
}

/* Whether some stage declares the format. */
static bool find_uses(const struct bf_pipeline_copy *copy, uint32_t set,
                      struct bf_check_binding *to)
{
    bool declared = false;
    for (uint32_t i = 0; i < copy->stage_count; i++) {
        const struct bf_shader_facts *facts = bf_shader_facts_of(copy->stages[i]->shader);
        for (uint32_t k = 0; k < facts->binding_count; k++) {
            if (facts->bindings[k].set != set || facts->bindings[k].binding != to->binding)
                continue;
            interface_binding_use(to, &facts->bindings[k]);
            declared |= facts->bindings[k].format != 0;
        }
    }
    return declared;
}

static enum bf_reason fill_layout(struct owned *o, const struct bf_pipeline_copy *copy)
{
    const struct bf_retained_layout *retained = copy->layout;
    if (retained->unknown)
        return BF_REASON_UNCHECKABLE;
    struct bf_check_layout *layout = bf_arena_zeroed(&o->arena, sizeof(*layout));
    struct bf_check_set *sets =
        bf_arena_zeroed(&o->arena, (retained->set_count + 1) * sizeof(*sets));
    if (!layout || !sets)
        return BF_REASON_MEMORY;
    *layout = (struct bf_check_layout){
        .handle = (VkPipelineLayout)retained->base.handle,
        .set_count = retained->set_count,
        .sets = sets,
        .range_count = retained->push_count,
        .ranges = retained->push,
    };
    for (uint32_t i = 0; i < retained->set_count; i++) {
        const struct bf_retained_set_layout *from = retained->sets[i];
        if (!from)
            continue;
        struct bf_check_binding *bindings =
            bf_arena_zeroed(&o->arena, (from->binding_count + 1) * sizeof(*bindings));
        if (!bindings)
            return BF_REASON_MEMORY;
        sets[i] = (struct bf_check_set){
            .handle = (VkDescriptorSetLayout)from->base.handle,
            .flags = from->flags,
            .binding_count = from->binding_count,
            .bindings = bindings,
        };
        for (uint32_t k = 0; k < from->binding_count; k++) {
            fill_binding(&bindings[k], &from->bindings[k]);
            const bool declared = find_uses(copy, i, &bindings[k]);
            if (may_be_others(&bindings[k], declared))
                find_classes(&o->interface, &copy->pipelines->shapes.classes, &from->bindings[k],
                             from->flags, &bindings[k]);
        }
    }
    o->interface.layout = layout;
    return BF_REASON_NONE;
}

static VkAttachmentReference2 *attachment_reference_copy(struct bf_arena *arena,
                                                         const struct bf_retained_render_pass *pass,
                                                         uint32_t count,
                                                         const uint32_t *attachments)
{
    VkAttachmentReference2 *references =
        attachments ? bf_arena_zeroed(arena, (count + 1) * sizeof(*references)) : NULL;
    for (uint32_t i = 0; references && i < count; i++) {
        bool used = attachments[i] < pass->attachment_count;
        references[i] = (VkAttachmentReference2){
            .sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
            .attachment = used ? attachments[i] : VK_ATTACHMENT_UNUSED,
            .layout = VK_IMAGE_LAYOUT_GENERAL,
            .aspectMask = used ? bf_format_aspects(pass->attachments[attachments[i]].format) : 0,
        };
    }
    return references;
}

static const void *resolve_depth(struct bf_arena *arena, const struct bf_retained_render_pass *pass,
                                 const struct bf_retained_subpass *from)
{
    VkSubpassDescriptionDepthStencilResolve *to = bf_arena_zeroed(arena, sizeof(*to));
    const uint32_t attachment = from->depth_resolve;
    if (to)
        *to = (VkSubpassDescriptionDepthStencilResolve){
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
            .depthResolveMode = from->depth_resolve_mode,
            .stencilResolveMode = from->stencil_resolve_mode,
            .pDepthStencilResolveAttachment =
                attachment_reference_copy(arena, pass, 1, &attachment),
        };
    return to;
}

static enum bf_reason fill_pass(struct owned *o, const struct bf_retained_render_pass *pass)
{
    if (pass->unknown)
        return BF_REASON_UNCHECKABLE;
    struct bf_arena *arena = &o->arena;
    VkRenderPassCreateInfo2 *info = bf_arena_zeroed(arena, sizeof(*info));
    VkAttachmentDescription2 *attachments =
        bf_arena_zeroed(arena, (pass->attachment_count + 1) * sizeof(*attachments));
    VkSubpassDescription2 *subpasses =
        bf_arena_zeroed(arena, (pass->subpass_count + 1) * sizeof(*subpasses));
    if (!info || !attachments || !subpasses)
        return BF_REASON_MEMORY;
    for (uint32_t i = 0; i < pass->attachment_count; i++) {
        const struct bf_retained_attachment *a = &pass->attachments[i];
        attachments[i] = (VkAttachmentDescription2){
            .sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
            .flags = a->flags,
            .format = a->format,
            .samples = a->samples,
            .loadOp = a->load,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = a->stencil_load,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
            .initialLayout = a->initial,
            .finalLayout = a->final,
        };
    }
    for (uint32_t i = 0; i < pass->subpass_count; i++) {
        const struct bf_retained_subpass *from = &pass->subpasses[i];
        const uint32_t depth = from->depth;
        subpasses[i] = (VkSubpassDescription2){
            .sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
            .flags = from->flags,
            .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
            .viewMask = from->view_mask,
            .inputAttachmentCount = from->input_count,
            .pInputAttachments =
                attachment_reference_copy(arena, pass, from->input_count, from->inputs),
            .colorAttachmentCount = from->color_count,
            .pColorAttachments =
                attachment_reference_copy(arena, pass, from->color_count, from->colors),
            .pResolveAttachments =
                attachment_reference_copy(arena, pass, from->color_count, from->resolves),
            .pDepthStencilAttachment = depth < pass->attachment_count
                                           ? attachment_reference_copy(arena, pass, 1, &depth)
                                           : NULL,
            .preserveAttachmentCount = from->preserve_count,
            .pPreserveAttachments = from->preserves,
        };
        if (from->depth_resolve < pass->attachment_count)
            subpasses[i].pNext = resolve_depth(arena, pass, from);
    }
    *info = (VkRenderPassCreateInfo2){
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
        .attachmentCount = pass->attachment_count,
        .pAttachments = attachments,
        .subpassCount = pass->subpass_count,
        .pSubpasses = subpasses,
        .dependencyCount = pass->dependency_count,
        .pDependencies = pass->dependencies,
    };
    o->interface.pass = info;
    return arena->failed ? BF_REASON_MEMORY : BF_REASON_NONE;
}

/* The framebuffer that was made last; else what the pipeline itself says. */
static void find_extent(struct bf_pipeline_interface *s, const struct bf_pipeline_copy *copy)
{
    const VkPipelineViewportStateCreateInfo *state = copy->graphics.pViewportState;
    uint64_t extent =
        copy->pass ? atomic_load_explicit(&copy->pass->extent, memory_order_relaxed) : 0;
    s->extent[0] = (uint32_t)extent;
    s->extent[1] = (uint32_t)(extent >> 32);
    for (uint32_t i = 0; !extent && state && state->pViewports && i < state->viewportCount; i++) {
        const VkViewport *v = &state->pViewports[i];
        const float ends[2] = {v->x + v->width, v->height < 0 ? v->y : v->y + v->height};
        for (uint32_t k = 0; k < 2; k++) {
            if (ends[k] >= (float)s->extent[k] + 1.0f && ends[k] <= 65536.0f)
                s->extent[k] = (uint32_t)ends[k];
        }
    }
}

enum bf_reason bf_pipeline_interface_create(const struct bf_pipeline_copy *copy,
                                            struct bf_pipeline_interface **interface)
{
    struct owned *o = calloc(1, sizeof(*o));
    if (!o)
        return BF_REASON_MEMORY;
    struct bf_pipeline_interface *s = &o->interface;
    for (uint32_t i = 0; i < copy->stage_count; i++)
        s->addresses |= bf_shader_facts_of(copy->stages[i]->shader)->physical_storage;
    if (copy->point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        const struct bf_shader_facts *facts = bf_shader_facts_of(copy->stages[0]->shader);
        for (int i = 0; i < 3; i++)
            s->workgroup[i] = facts->workgroup_size[i];
    } else {
        s->graphics = &copy->graphics;
        find_extent(s, copy);
    }
    enum bf_reason reason = fill_layout(o, copy);
    if (reason == BF_REASON_NONE)
        reason = read_stages(o, copy);
    if (reason == BF_REASON_NONE && copy->pass)
        reason = fill_pass(o, copy->pass);
    if (reason != BF_REASON_NONE)
        bf_pipeline_interface_destroy(s);
    else
        *interface = s;
    return reason;
}

void bf_pipeline_interface_destroy(struct bf_pipeline_interface *interface)
{
    struct owned *o = (struct owned *)interface;
    if (!o)
        return;
    bf_arena_finish(&o->arena);
    free(o);
}
