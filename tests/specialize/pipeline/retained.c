/* SPDX-License-Identifier: MIT */
/* How long what pipelines are made of lives below, and what is seen of descriptor sets. */
#include "fake.h"

#include "specialize/check/texel.h"

#include "shaders/paint.comp.h"

#define IS_ALIVE(type_, handle_) fake_object(VK_OBJECT_TYPE_##type_, (uint64_t)(handle_))

/* ---- Life ---- */

/* With all that it is made of destroyed but what 'layout' is. */
static VkPipeline painter(VkPipelineLayout layout)
{
    VkShaderModule module = fake_module(paint_comp, sizeof(paint_comp));
    const VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    VkPipeline pipeline = fake_compute(&info);
    fake_destroy_module(module);
    return pipeline;
}

TEST(what_nobody_needs_goes_at_once)
{
    fake_open();
    VkSampler sampler = fake_sampler(0, NULL);
    VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, NULL);
    VkRenderPass pass = fake_render_pass(true, true, NULL);
    DONE(RENDER_PASS, pass);
    assert_false(IS_ALIVE(RENDER_PASS, pass));
    DONE(PIPELINE_LAYOUT, layout);
    assert_false(IS_ALIVE(PIPELINE_LAYOUT, layout));
    DONE(DESCRIPTOR_SET_LAYOUT, sets);
    assert_false(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, sets));
    DONE(SAMPLER, sampler);
    assert_false(IS_ALIVE(SAMPLER, sampler));
    fake_close();
}

TEST(what_a_copy_needs_stays_as_long)
{
    fake_open();
    VkSampler sampler = fake_sampler(0, NULL);
    VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, NULL);
    VkPipeline pipeline = painter(layout);
    DONE(SAMPLER, sampler);
    DONE(DESCRIPTOR_SET_LAYOUT, sets);
    DONE(PIPELINE_LAYOUT, layout);
    assert_true(IS_ALIVE(PIPELINE_LAYOUT, layout));
    assert_true(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, sets));
    assert_true(IS_ALIVE(SAMPLER, sampler));
    assert_null(bf_retained_layout_find(&fake.pipelines, layout)); /* not for the program */
    struct bf_pipeline_copy *copy = bf_pipelines_find(&fake.pipelines, pipeline)->copy;
    bf_pipeline_copy_retain(copy);
    fake_destroy_pipeline(pipeline);
    assert_true(IS_ALIVE(PIPELINE_LAYOUT, layout)); /* a build is under way */
    bf_pipeline_copy_release(copy);
    assert_false(IS_ALIVE(PIPELINE_LAYOUT, layout));
    assert_false(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, sets));
    assert_false(IS_ALIVE(SAMPLER, sampler));
    fake_close();
}

TEST(what_the_program_needs_stays)
{
    fake_open();
    VkDescriptorSetLayout sets = fake_set_layout(VK_NULL_HANDLE, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, NULL);
    VkPipeline pipeline = painter(layout);
    fake_destroy_pipeline(pipeline);
    assert_true(IS_ALIVE(PIPELINE_LAYOUT, layout));
    pipeline = painter(layout);
    assert_string_equal(fake_reason(pipeline), "none");
    fake_destroy_pipeline(pipeline);
    DONE(PIPELINE_LAYOUT, layout);
    assert_true(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, sets));
    fake_close();
}

/* What belongs to an allocator of the program's goes when the program says so. */
TEST(what_is_allocated_by_the_program_is_never_held)
{
    fake_open();
    const VkAllocationCallbacks *own = &fake_allocator;
    VkSampler sampler = fake_sampler(0, own);
    VkDescriptorSetLayout theirs = fake_set_layout(VK_NULL_HANDLE, own);
    VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, own), other = fake_layout(theirs, 12, NULL);
    VkPipeline pipeline = painter(layout), with_other = painter(other);
    assert_string_equal(fake_reason(pipeline), "allocator");
    /* It can be built; but there is no making sets for it. */
    assert_string_equal(fake_reason(with_other), "none");
    assert_true(bf_retained_layout_find(&fake.pipelines, other)->unknown);
    fake_destroy(VK_OBJECT_TYPE_SAMPLER, (uint64_t)sampler, own);
    assert_false(IS_ALIVE(SAMPLER, sampler));
    fake_destroy(VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)theirs, own);
    assert_false(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, theirs));
    fake_destroy(VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout, own);
    assert_false(IS_ALIVE(PIPELINE_LAYOUT, layout));
    VkRenderPass pass = fake_render_pass(true, false, own);
    fake_destroy(VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass, own);
    assert_false(IS_ALIVE(RENDER_PASS, pass));
    fake_close();
}

/* A driver may give equal objects one handle: each is destroyed as often as it was made. */
TEST(equal_objects_may_be_one)
{
    fake_open();
    fake_entries.equal_handles = true;
    VkSampler samplers[2];
    VkDescriptorSetLayout sets[2];
    VkPipelineLayout layouts[2];
    VkPipeline pipelines[2];
    for (int i = 0; i < 2; i++) {
        samplers[i] = fake_sampler(0, NULL);
        sets[i] = fake_set_layout(samplers[i], NULL);
        layouts[i] = fake_layout(sets[i], 12, NULL);
        pipelines[i] = painter(layouts[i]);
        assert_true(layouts[i] == layouts[0] && pipelines[i] == pipelines[0]);
    }
    fake_destroy_pipeline(pipelines[0]);
    assert_string_equal(fake_reason(pipelines[1]), "none");
    DONE(SAMPLER, samplers[0]);
    DONE(DESCRIPTOR_SET_LAYOUT, sets[0]);
    DONE(PIPELINE_LAYOUT, layouts[0]);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE_LAYOUT), 1);
    assert_int_not_equal(bf_pipelines_push_id(&fake.pipelines, layouts[1]), 0);
    DONE(SAMPLER, samplers[1]);
    DONE(DESCRIPTOR_SET_LAYOUT, sets[1]);
    DONE(PIPELINE_LAYOUT, layouts[1]);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE_LAYOUT), 1); /* the copy's */
    /* And once more, while the old one is still there. */
    VkPipelineLayout again = fake_layout(sets[1], 12, NULL);
    assert_true(again == layouts[0]);
    assert_int_equal(fake_alive(VK_OBJECT_TYPE_PIPELINE_LAYOUT), 2);
    DONE(PIPELINE_LAYOUT, again);
    fake_destroy_pipeline(pipelines[1]);
    assert_string_equal(fake_reason(pipelines[1]), "unknown");
    fake_close();
}

/* What the program never destroys is the program's to answer for; the rest is cleaned up. */
TEST(what_the_program_leaves_is_left)
{
    fake_open();
    VkDescriptorSetLayout sets = fake_set_layout(VK_NULL_HANDLE, NULL);
    VkPipelineLayout gone = fake_layout(sets, 12, NULL), left = fake_layout(sets, 16, NULL);
    VkPipeline first = painter(gone), second = painter(left);
    DONE(PIPELINE_LAYOUT, gone);
    bf_pipelines_finish(&fake.pipelines);
    assert_false(IS_ALIVE(PIPELINE_LAYOUT, gone));
    assert_true(IS_ALIVE(PIPELINE_LAYOUT, left));
    assert_true(IS_ALIVE(DESCRIPTOR_SET_LAYOUT, sets));
    assert_true(IS_ALIVE(PIPELINE, first));
    assert_true(IS_ALIVE(PIPELINE, second));
}

/* ---- What is known of them ---- */

TEST(equal_ranges_have_equal_numbers)
{
    fake_open();
    VkDescriptorSetLayout sets = fake_set_layout(VK_NULL_HANDLE, NULL);
    const uint32_t sizes[] = {0, 4, 8, 4, 0, 128, 8};
    VkPipelineLayout layouts[BF_COUNT(sizes)];
    uint32_t ids[BF_COUNT(sizes)];
    for (uint32_t i = 0; i < BF_COUNT(sizes); i++) {
        layouts[i] = fake_layout(sets, sizes[i], NULL);
        ids[i] = bf_pipelines_push_id(&fake.pipelines, layouts[i]);
        assert_int_not_equal(ids[i], 0);
        for (uint32_t j = 0; j < i; j++)
            assert_int_equal(ids[i] == ids[j], sizes[i] == sizes[j]);
    }
    for (uint32_t i = 0; i < BF_COUNT(sizes); i++)
        DONE(PIPELINE_LAYOUT, layouts[i]);
    assert_int_equal(bf_pipelines_push_id(&fake.pipelines, layouts[0]), 0);
    assert_int_equal(bf_pipelines_push_id(&fake.pipelines, VK_NULL_HANDLE), 0);
    VkPipelineLayout late = fake_layout(sets, 4, NULL);
    assert_int_equal(bf_pipelines_push_id(&fake.pipelines, late), ids[1]);
    fake_close();
}

TEST(bindings_are_known)
{
    fake_open();
    VkSampler sampler = fake_sampler(0.5f, NULL);
    VkDescriptorSetLayout handle = fake_set_layout(sampler, NULL);
    struct bf_retained_set_layout *sets = bf_retained_set_layout_find(&fake.pipelines, handle);
    assert_false(sets->unknown);
    assert_int_equal(sets->binding_count, 3);
    const struct bf_set_binding *b = bf_retained_binding(sets, 0);
    assert_int_equal(b->type, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
    assert_int_equal(b->flags, VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT);
    assert_null(b->immutable);
    b = bf_retained_binding(sets, 2);
    assert_int_equal(b->type, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER);
    assert_int_equal(b->count, 3);
    b = bf_retained_binding(sets, 4);
    assert_int_equal(b->type, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER);
    assert_true(b->immutable[0]->shape->info.mipLodBias == 0.5f);
    assert_null(bf_retained_binding(sets, 1));
    assert_null(bf_retained_binding(sets, 3));
    assert_null(bf_retained_binding(sets, 5));
    VkRenderPass pass = fake_render_pass(true, true, NULL);
    const struct bf_retained_render_pass *p = bf_retained_render_pass_find(&fake.pipelines, pass);
    assert_int_equal(p->attachment_count, 2);
    assert_int_equal(p->attachments[1].format, VK_FORMAT_D32_SFLOAT);
    assert_int_equal(p->subpasses[0].color_count, 1);
    assert_int_equal(p->subpasses[0].colors[0], 0);
    assert_int_equal(p->subpasses[0].depth, 1);
    assert_null(p->subpasses[0].resolves);
    fake_close();
}

/* A sampler with more to it than is kept makes what it is part of unknown. */
TEST(unknown_samplers_are_contagious)
{
    fake_open();
    const VkBaseInStructure more = {VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO, NULL};
    const VkSamplerCreateInfo info = {VK_TYPE(SAMPLER_CREATE_INFO), .pNext = &more};
    VkSampler sampler;
    assert_int_equal(fake.vk.vkCreateSampler(VK_NULL_HANDLE, &info, NULL, &sampler), VK_SUCCESS);
    bf_retained_sampler_add(&fake.pipelines, sampler, &info, NULL);
    VkDescriptorSetLayout sets = fake_set_layout(sampler, NULL);
    VkPipelineLayout layout = fake_layout(sets, 12, NULL);
    assert_true(bf_retained_set_layout_find(&fake.pipelines, sets)->unknown);
    assert_true(bf_retained_layout_find(&fake.pipelines, layout)->unknown);
    DONE(PIPELINE_LAYOUT, layout);
    DONE(DESCRIPTOR_SET_LAYOUT, sets);
    DONE(SAMPLER, sampler);
    fake_close();
}

TEST(older_render_passes_are_known)
{
    fake_open();
    const VkAttachmentDescription attachments[] = {
        {.format = VK_FORMAT_R8G8B8A8_UNORM, .samples = VK_SAMPLE_COUNT_4_BIT},
        {.format = VK_FORMAT_R8G8B8A8_UNORM, .samples = VK_SAMPLE_COUNT_1_BIT},
    };
    const VkAttachmentReference first = {0, VK_IMAGE_LAYOUT_GENERAL},
                                second = {1, VK_IMAGE_LAYOUT_GENERAL};
    const uint32_t preserve = 1;
    const VkSubpassDescription subpasses[] = {
        {.colorAttachmentCount = 1,
         .pColorAttachments = &first,
         .preserveAttachmentCount = 1,
         .pPreserveAttachments = &preserve},
        {.inputAttachmentCount = 1,
         .pInputAttachments = &first,
         .colorAttachmentCount = 1,
         .pColorAttachments = &second},
    };
    const VkSubpassDependency dependency = {0, 1, 2, 3, 4, 5, VK_DEPENDENCY_VIEW_LOCAL_BIT};
    const uint32_t masks[2] = {1, 3};
    const int32_t offset = -1;
    const VkRenderPassMultiviewCreateInfo views = {VK_TYPE(RENDER_PASS_MULTIVIEW_CREATE_INFO),
                                                   .subpassCount = 2, .pViewMasks = masks,
                                                   .dependencyCount = 1, .pViewOffsets = &offset};
    const VkRenderPassCreateInfo info = {VK_TYPE(RENDER_PASS_CREATE_INFO),
                                         .pNext = &views,
                                         .attachmentCount = 2,
                                         .pAttachments = attachments,
                                         .subpassCount = 2,
                                         .pSubpasses = subpasses,
                                         .dependencyCount = 1,
                                         .pDependencies = &dependency};
    const VkRenderPass pass = (VkRenderPass)(uint64_t)0x1000;
    bf_retained_render_pass_add(&fake.pipelines, pass, &info, &fake_allocator);
    const struct bf_retained_render_pass *p = bf_retained_render_pass_find(&fake.pipelines, pass);
    assert_false(p->unknown);
    assert_int_equal(p->subpasses[0].preserve_count, 1);
    assert_int_equal(p->subpasses[0].preserves[0], 1);
    assert_int_equal(p->subpasses[1].view_mask, 3);
    assert_int_equal(p->subpasses[1].input_count, 1);
    assert_int_equal(p->dependency_count, 1);
    assert_true(p->extent == 0);
    bf_retained_render_pass_size(&fake.pipelines, pass, 640, 360);
    assert_true(p->extent == (UINT64_C(360) << 32 | 640));
    bf_retained_render_pass_size(&fake.pipelines, (VkRenderPass)(uint64_t)0x2000, 1,
                                 1); /* not known */
    const VkSubpassDependency2 *d = p->dependencies;
    assert_int_equal(d->sType, VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2);
    assert_true(d->srcSubpass == 0 && d->dstSubpass == 1 && d->srcStageMask == 2 &&
                d->dstStageMask == 3 && d->srcAccessMask == 4 && d->dstAccessMask == 5);
    assert_int_equal(d->dependencyFlags, VK_DEPENDENCY_VIEW_LOCAL_BIT);
    assert_int_equal(d->viewOffset, -1);
    fake_close();
}

/* The newer way to say the same, with a view mask and a resolve of depth. */
TEST(newer_render_passes_are_known)
{
    fake_open();
    const VkAttachmentDescription2 attachments[] = {
        {VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = VK_FORMAT_D16_UNORM,
         .samples = VK_SAMPLE_COUNT_4_BIT},
        {VK_TYPE(ATTACHMENT_DESCRIPTION_2), .format = VK_FORMAT_D16_UNORM,
         .samples = VK_SAMPLE_COUNT_1_BIT}};
    const VkAttachmentReference2 references[] = {{.attachment = 0}, {.attachment = 1}};
    const VkSubpassDescriptionDepthStencilResolve resolve = {
        VK_TYPE(SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE),
        .depthResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .stencilResolveMode = VK_RESOLVE_MODE_MIN_BIT,
        .pDepthStencilResolveAttachment = &references[1]};
    const uint32_t preserve = 1;
    const VkSubpassDescription2 subpass = {VK_TYPE(SUBPASS_DESCRIPTION_2),
                                           .pNext = &resolve,
                                           .viewMask = 3,
                                           .preserveAttachmentCount = 1,
                                           .pPreserveAttachments = &preserve,
                                           .pDepthStencilAttachment = &references[0]};
    VkMemoryBarrier2 barrier = {VK_TYPE(MEMORY_BARRIER_2),
                                .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT};
    const VkSubpassDependency2 dependencies[] = {
        {VK_TYPE(SUBPASS_DEPENDENCY_2), .srcSubpass = VK_SUBPASS_EXTERNAL, .viewOffset = 5},
        {VK_TYPE(SUBPASS_DEPENDENCY_2), .pNext = &barrier,
         .dependencyFlags = VK_DEPENDENCY_BY_REGION_BIT}};
    VkRenderPassCreateInfo2 info = {VK_TYPE(RENDER_PASS_CREATE_INFO_2),
                                    .attachmentCount = 2,
                                    .pAttachments = attachments,
                                    .subpassCount = 1,
                                    .pSubpasses = &subpass,
                                    .dependencyCount = 2,
                                    .pDependencies = dependencies};
    const VkRenderPass pass = (VkRenderPass)(uint64_t)0x1000;
    bf_retained_render_pass2_add(&fake.pipelines, pass, &info, &fake_allocator);
    const struct bf_retained_render_pass *p = bf_retained_render_pass_find(&fake.pipelines, pass);
    assert_false(p->unknown);
    assert_int_equal(p->attachments[0].samples, VK_SAMPLE_COUNT_4_BIT);
    assert_int_equal(p->subpasses[0].view_mask, 3);
    assert_int_equal(p->subpasses[0].depth, 0);
    assert_int_equal(p->subpasses[0].depth_resolve, 1);
    assert_int_equal(p->subpasses[0].depth_resolve_mode, VK_RESOLVE_MODE_SAMPLE_ZERO_BIT);
    assert_int_equal(p->subpasses[0].stencil_resolve_mode, VK_RESOLVE_MODE_MIN_BIT);
    assert_int_equal(p->subpasses[0].preserve_count, 1);
    assert_int_equal(p->subpasses[0].preserves[0], 1);
    assert_int_equal(p->dependency_count, 2);
    assert_int_equal(p->dependencies[0].srcSubpass, VK_SUBPASS_EXTERNAL);
    assert_int_equal(p->dependencies[0].viewOffset, 5);
    assert_null(p->dependencies[0].pNext);
    assert_int_equal(p->dependencies[1].dependencyFlags, VK_DEPENDENCY_BY_REGION_BIT);
    assert_ptr_not_equal(p->dependencies[1].pNext, &barrier);
    assert_memory_equal(p->dependencies[1].pNext, &barrier, sizeof(barrier));
    const VkBaseInStructure unheard = {(VkStructureType)0x7fffff00, NULL};
    info.pNext = &unheard;
    const VkRenderPass other = (VkRenderPass)(uint64_t)0x2000;
    bf_retained_render_pass2_add(&fake.pipelines, other, &info, &fake_allocator);
    assert_true(bf_retained_render_pass_find(&fake.pipelines, other)->unknown);
    info.pNext = NULL;
    barrier.pNext = &unheard;
    const VkRenderPass third = (VkRenderPass)(uint64_t)0x3000;
    bf_retained_render_pass2_add(&fake.pipelines, third, &info, &fake_allocator);
    assert_true(bf_retained_render_pass_find(&fake.pipelines, third)->unknown);
    fake_close();
}

/* ---- What is seen ---- */

#define VIEW(n_)     ((VkImageView)(uint64_t)(0x10000 + 16 * (n_)))
#define BUFFER_VIEW  ((VkBufferView)(uint64_t)0x20000)
#define SET(n_)      ((VkDescriptorSet)(uint64_t)(0x30000 + 16 * (n_)))
#define POOL         ((VkDescriptorPool)(uint64_t)0x40000)
#define TEMPLATE(n_) ((VkDescriptorUpdateTemplate)(uint64_t)(0x50000 + 16 * (n_)))
#define BUFFER       ((VkBuffer)(uint64_t)0x60000)

static void make_view(VkImageView view, VkFormat format)
{
    const VkImageViewCreateInfo info = {
        VK_TYPE(IMAGE_VIEW_CREATE_INFO), .viewType = VK_IMAGE_VIEW_TYPE_CUBE, .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    bf_descriptor_shapes_view_made(&fake.pipelines, view, &info);
}

static void make_sets(VkDescriptorSetLayout sets, uint32_t count)
{
    VkDescriptorSetLayout layouts[4] = {sets, sets, sets, sets};
    const VkDescriptorSet handles[4] = {SET(0), SET(1), SET(2), SET(3)};
    const VkDescriptorSetAllocateInfo info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                              .descriptorPool = POOL, .descriptorSetCount = count,
                                              .pSetLayouts = layouts};
    bf_descriptor_shapes_sets_made(&fake.pipelines, &info, handles);
}

TEST(writes_are_seen_by_their_layout)
{
    fake_open();
    VkSampler sampler = fake_sampler(2, NULL);
    VkDescriptorSetLayout handle = fake_set_layout(VK_NULL_HANDLE, NULL);
    VkDescriptorSetLayout other_handle = fake_set_layout(sampler, NULL);
    struct bf_retained_set_layout *sets = bf_retained_set_layout_find(&fake.pipelines, handle);
    struct bf_retained_set_layout *other =
        bf_retained_set_layout_find(&fake.pipelines, other_handle);
    make_view(VIEW(0), VK_FORMAT_R8_UINT);
    make_view(VIEW(1), VK_FORMAT_R16_UINT);
    make_view(VIEW(2), VK_FORMAT_R16_UINT);
    const VkBufferViewCreateInfo texels = {.format = VK_FORMAT_R32_SINT};
    bf_descriptor_shapes_buffer_view_made(&fake.pipelines, BUFFER_VIEW, &texels);
    make_sets(handle, 2);
    const struct bf_descriptor_shape *image = &bf_retained_binding(sets, 4)->shape;
    const struct bf_descriptor_shape *texel = &bf_retained_binding(sets, 2)->shape;
    const struct bf_descriptor_shape *buffer = &bf_retained_binding(sets, 0)->shape;
    assert_null(image->view);
    VkDescriptorImageInfo images[] = {{sampler, VIEW(0), 0}, {VK_NULL_HANDLE, VIEW(1), 0}};
    const VkDescriptorBufferInfo buffers[] = {{BUFFER, 0, 48}};
    const VkBufferView views[] = {BUFFER_VIEW};
    const void *ignored = (const void *)8;
    VkWriteDescriptorSet writes[] = {
        info_write(SET(0), 4, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, &images[0], ignored),
        info_write(SET(1), 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, ignored, buffers),
        info_write(SET(1), 2, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, ignored, NULL),
        info_write(SET(0), 3, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, buffers), /* there is none */
        info_write(SET(3), 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL,
                   buffers)}; /* nor such a set */
    writes[0].pTexelBufferView = ignored;
    writes[2].pTexelBufferView = views;
    bf_descriptor_shapes_update(&fake.pipelines, BF_COUNT(writes), writes, 0, NULL);
    assert_int_equal(image->view->format, VK_FORMAT_R8_UINT);
    assert_int_equal(image->view->type, VK_IMAGE_VIEW_TYPE_CUBE);
    assert_true(image->sampler->info.mipLodBias == 2);
    assert_int_equal(buffer->range, 48);
    assert_int_equal(texel->texel_format, VK_FORMAT_R32_SINT);
    /* The last one counts, and outlives its view. Equal shapes are one. */
    writes[0].pImageInfo = &images[1];
    bf_descriptor_shapes_update(&fake.pipelines, 1, writes, 0, NULL);
    const struct bf_view_shape *shape = image->view;
    assert_int_equal(shape->format, VK_FORMAT_R16_UINT);
    bf_descriptor_shapes_view_gone(&fake.pipelines, VIEW(1));
    images[1].imageView = VIEW(2);
    bf_descriptor_shapes_update(&fake.pipelines, 1, writes, 0, NULL);
    assert_ptr_equal(image->view, shape);
    /* A copy between sets carries it along; immutable samplers stay what they are. */
    VkDescriptorSetLayout layouts[] = {other_handle};
    const VkDescriptorSet more[] = {SET(2)};
    const VkDescriptorSetAllocateInfo info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                              .descriptorPool = POOL, .descriptorSetCount = 1,
                                              .pSetLayouts = layouts};
    bf_descriptor_shapes_sets_made(&fake.pipelines, &info, more);
    const VkCopyDescriptorSet copy = {VK_TYPE(COPY_DESCRIPTOR_SET),
                                      .srcSet = SET(0),
                                      .srcBinding = 4,
                                      .dstSet = SET(2),
                                      .dstBinding = 4,
                                      .descriptorCount = 1};
    images[1].sampler = sampler;
    writes[0].dstSet = SET(2);
    bf_descriptor_shapes_update(&fake.pipelines, 1, writes, 1, &copy);
    writes[0].dstSet = SET(0);
    images[1].sampler = VK_NULL_HANDLE;
    assert_ptr_equal(bf_retained_binding(other, 4)->shape.view, shape);
    assert_null(bf_retained_binding(other, 4)->shape.sampler);
    /* Sets outlive their layout's handle; what was freed isn't known any more. */
    DONE(DESCRIPTOR_SET_LAYOUT, handle);
    images[1].imageView = VIEW(0);
    bf_descriptor_shapes_update(&fake.pipelines, 1, writes, 0, NULL);
    assert_int_equal(image->view->format, VK_FORMAT_R8_UINT);
    const VkDescriptorSet freed[] = {SET(1), VK_NULL_HANDLE};
    bf_descriptor_shapes_sets_gone(&fake.pipelines, 2, freed);
    bf_descriptor_shapes_update(&fake.pipelines, BF_COUNT(writes) - 3, &writes[1], 0, NULL);
    bf_descriptor_shapes_pool_emptied(&fake.pipelines, POOL);
    bf_descriptor_shapes_pool_gone(&fake.pipelines, POOL);
    bf_descriptor_shapes_update(&fake.pipelines, 1, writes, 0, NULL);
    bf_descriptor_shapes_buffer_view_gone(&fake.pipelines, BUFFER_VIEW);
    fake_close();
}

/* [FC-1, FC-2, FC-3, SE-3] */
TEST(classes_of_all_formats_are_noted)
{
    fake_open();
    struct bf_format_classes *classes = &fake.pipelines.shapes.classes;
    VkDescriptorSetLayout handle = fake_set_layout(VK_NULL_HANDLE, NULL),
                          alike = fake_set_layout(VK_NULL_HANDLE, NULL);
    const struct bf_retained_set_layout *sets =
        bf_retained_set_layout_find(&fake.pipelines, handle);
    const uint32_t texels = sets->bindings[1].place, image = sets->bindings[2].place;
    assert_int_equal(bf_retained_set_layout_find(&fake.pipelines, alike)->bindings[1].place,
                     texels);
    assert_int_not_equal(texels, image);
    static const VkFormat formats[] = {VK_FORMAT_BC1_RGBA_UNORM_BLOCK, VK_FORMAT_R16_SFLOAT,
                                       VK_FORMAT_R32_UINT};
    VkBufferView views[3];
    for (uint32_t i = 0; i < 3; i++) {
        const VkBufferViewCreateInfo info = {.format = formats[i]};
        views[i] = (VkBufferView)(uint64_t)(0x20000 + 16 * i);
        bf_descriptor_shapes_buffer_view_made(&fake.pipelines, views[i], &info);
    }
    make_view(VIEW(0), VK_FORMAT_R8_SNORM);
    make_sets(handle, 2);
    VkWriteDescriptorSet write =
        info_write(SET(0), 2, VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, NULL, NULL);
    write.descriptorCount = 3;
    write.pTexelBufferView = views;
    const struct bf_format_bindings narrow = {1, {(uint16_t)texels}, {BF_FORMAT_CLASS_UNORM}};
    assert_int_equal(bf_format_classes_of(classes, texels), 0);
    assert_true(bf_format_classes_fit(classes, &narrow));
    bf_descriptor_shapes_update(&fake.pipelines, 1, &write, 0, NULL);
    assert_int_equal(bf_format_classes_of(classes, texels),
                     BF_FORMAT_CLASS_UNORM | BF_FORMAT_CLASS_HALF | BF_FORMAT_CLASS_INT32);
    assert_false(bf_format_classes_fit(classes, &narrow));
    /* None is forgotten, and what is known is nothing new. */
    const uint32_t version = classes->version;
    assert_int_equal(version, 3);
    write.descriptorCount = 1;
    bf_descriptor_shapes_update(&fake.pipelines, 1, &write, 0, NULL);
    assert_int_equal(classes->version, version);
    /* Copied; of one binding to another anything. */
    const VkDescriptorImageInfo images[] = {{VK_NULL_HANDLE, VIEW(0), 0}};
    write = info_write(SET(1), 4, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, images, NULL);
    bf_descriptor_shapes_update(&fake.pipelines, 1, &write, 0, NULL);
    assert_int_equal(bf_format_classes_of(classes, image), BF_FORMAT_CLASS_SNORM);
    VkCopyDescriptorSet copy = {VK_TYPE(COPY_DESCRIPTOR_SET),
                                .srcSet = SET(1),
                                .srcBinding = 4,
                                .dstSet = SET(0),
                                .dstBinding = 4,
                                .descriptorCount = 1};
    bf_descriptor_shapes_update(&fake.pipelines, 0, NULL, 1, &copy);
    assert_int_equal(bf_format_classes_of(classes, image), BF_FORMAT_CLASS_SNORM);
    copy.descriptorCount = 2;
    bf_descriptor_shapes_update(&fake.pipelines, 0, NULL, 1, &copy);
    assert_int_equal(bf_format_classes_of(classes, image), BF_FORMAT_CLASS_ANY);
    /* What can't be told. */
    write = info_write(SET(3), 4, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, images, NULL);
    bf_descriptor_shapes_update(&fake.pipelines, 1, &write, 0, NULL);
    assert_int_equal(bf_format_classes_of(classes, texels), BF_FORMAT_CLASS_ANY);
    assert_true(classes->version > version);
    bf_descriptor_shapes_pool_gone(&fake.pipelines, POOL);
    for (uint32_t i = 0; i < 3; i++)
        bf_descriptor_shapes_buffer_view_gone(&fake.pipelines, views[i]);
    bf_descriptor_shapes_view_gone(&fake.pipelines, VIEW(0));
    fake_close();
}

TEST(templates_and_pushes_are_seen)
{
    fake_open();
    VkDescriptorSetLayout handle = fake_set_layout(VK_NULL_HANDLE, NULL);
    VkPipelineLayout layout = fake_layout(handle, 12, NULL);
    struct bf_retained_set_layout *sets = bf_retained_set_layout_find(&fake.pipelines, handle);
    const struct bf_descriptor_shape *buffer = &bf_retained_binding(sets, 0)->shape;
    const struct bf_descriptor_shape *image = &bf_retained_binding(sets, 4)->shape;
    make_view(VIEW(0), VK_FORMAT_R8_UINT);
    make_sets(handle, 1);
    struct data {
        uint32_t other;
        VkDescriptorBufferInfo buffer;
        VkDescriptorImageInfo image;
    } data = {7, {BUFFER, 0, 12}, {VK_NULL_HANDLE, VIEW(0), 0}};
    const VkDescriptorUpdateTemplateEntry entries[] = {
        {0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(struct data, buffer), 0},
        {4, 0, 1, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, offsetof(struct data, image), 0},
        {9, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, offsetof(struct data, buffer), 0},
    };
    VkDescriptorUpdateTemplateCreateInfo info = {
        VK_TYPE(DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO), .descriptorUpdateEntryCount = 3,
        .pDescriptorUpdateEntries = entries,
        .templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
        .descriptorSetLayout = handle};
    bf_descriptor_shapes_template_made(&fake.pipelines, TEMPLATE(0), &info);
    info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR;
    info.descriptorSetLayout = (VkDescriptorSetLayout)(uint64_t)8; /* ignored */
    bf_descriptor_shapes_template_made(&fake.pipelines, TEMPLATE(1), &info);
    /* Of a whole buffer the driver knows the size; it is asked but once. */
    data.buffer.range = VK_WHOLE_SIZE;
    data.buffer.offset = 8;
    fake.buffer_size = 100;
    bf_descriptor_shapes_update_template(&fake.pipelines, SET(0), TEMPLATE(0), &data);
    assert_int_equal(buffer->range, 92);
    fake.buffer_size = 200;
    bf_descriptor_shapes_update_template(&fake.pipelines, SET(0), TEMPLATE(0), &data);
    assert_int_equal(buffer->range, 92);
    assert_int_equal(image->view->format, VK_FORMAT_R8_UINT);
    data.buffer.range = 12;
    bf_descriptor_shapes_push_template(&fake.pipelines, TEMPLATE(1), layout, 0, &data);
    assert_int_equal(buffer->range, 12);
    const VkDescriptorBufferInfo small = {BUFFER, 0, 5};
    const VkWriteDescriptorSet write = {
        VK_TYPE(WRITE_DESCRIPTOR_SET), .dstBinding = 0, .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .pBufferInfo = &small};
    bf_descriptor_shapes_push(&fake.pipelines, layout, 0, 1, &write);
    assert_int_equal(buffer->range, 5);
    bf_descriptor_shapes_push(&fake.pipelines, layout, 1, 1, &write); /* there is no such set */
    bf_descriptor_shapes_template_gone(&fake.pipelines, TEMPLATE(0));
    bf_descriptor_shapes_template_gone(&fake.pipelines, VK_NULL_HANDLE);
    data.buffer.range = 99;
    bf_descriptor_shapes_update_template(&fake.pipelines, SET(0), TEMPLATE(0), &data);
    assert_int_equal(buffer->range, 5);
    fake_close();
}
