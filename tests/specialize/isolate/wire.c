/* SPDX-License-Identifier: MIT */
/* Messages: what is said is read, what can't be said isn't (IS-5), and what is ill-formed is
 * refused whatever it looks like (IS-4). */
#include "isolate_helper.h"

#include "base/message.h"
#include "isolate_picture.h"
#include "specialize/isolate/wire.h"

void bf_message(enum bf_message_level level, const char *format, ...)
{
}

/* ------------------------------------------------------------------------------------- A device */

static const VkPhysicalDeviceFeatures all = {.robustBufferAccess = 1, .inheritedQueries = 1};
static VkPhysicalDeviceVulkan12Features twelve = {VK_TYPE(PHYSICAL_DEVICE_VULKAN_1_2_FEATURES),
                                                  .samplerMirrorClampToEdge = 1,
                                                  .subgroupBroadcastDynamicId = 1};
static VkDeviceGroupDeviceCreateInfo group = {VK_TYPE(DEVICE_GROUP_DEVICE_CREATE_INFO),
                                              .physicalDeviceCount = 1};
static VkPhysicalDeviceFeatures2 features = {VK_TYPE(PHYSICAL_DEVICE_FEATURES_2)};

static const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO), .applicationVersion = 5,
                                              .pEngineName = "an engine", .engineVersion = 6};

static struct bf_isolate_info device_info(void)
{
    group.pNext = &twelve;
    features.pNext = &group;
    features.features = all;
    static const char *const instance_extensions[] = {"VK_KHR_surface"};
    static const char *const extensions[] = {"a", "VK_KHR_swapchain", ""};
    return (struct bf_isolate_info){.device_uuid = {1, 2, 3},
                                    .driver_uuid = {[15] = 9},
                                    .cache_uuid = {[7] = 3},
                                    .driver_version = 17,
                                    .driver_id = 4,
                                    .driver_info = "a driver",
                                    .limit_ns = UINT64_C(5) << 32,
                                    .api_version = VK_API_VERSION_1_2,
                                    .robust = true,
                                    .application = &application,
                                    .instance_extension_count = 1,
                                    .instance_flags = 5,
                                    .instance_extensions = instance_extensions,
                                    .extension_count = 3,
                                    .extensions = extensions,
                                    .features = &features,
                                    .enabled_features = &all};
}

TEST(devices_are_read)
{
    struct bf_isolate_info info = device_info();
    struct bf_wire_out out = {0};
    bf_wire_say_device(&out, &info, 1234, 56);
    assert_false(out.failed || out.unsaid);
    struct bf_wire_in in;
    struct bf_wire_device device;
    assert_true(bf_wire_read_device(&in, out.bytes, out.size, &device));
    assert_int_equal(device.parent, 1234);
    assert_int_equal(device.idle_ms, 56);
    assert_memory_equal(device.device_uuid, info.device_uuid, VK_UUID_SIZE);
    assert_memory_equal(device.driver_uuid, info.driver_uuid, VK_UUID_SIZE);
    assert_memory_equal(device.cache_uuid, info.cache_uuid, VK_UUID_SIZE);
    assert_int_equal(device.driver_version, 17);
    assert_int_equal(device.driver_id, 4);
    assert_string_equal(device.driver_info, "a driver");
    assert_true(device.limit_ns == info.limit_ns);
    assert_int_equal(device.api_version, VK_API_VERSION_1_2);
    assert_true(device.robust);
    assert_int_equal(device.application->applicationVersion, 5);
    assert_null(device.application->pApplicationName);
    assert_string_equal(device.application->pEngineName, "an engine");
    assert_int_equal(device.application->engineVersion, 6);
    assert_int_equal(device.instance_flags, 5);
    assert_int_equal(device.instance_extension_count, 1);
    assert_string_equal(device.instance_extensions[0], "VK_KHR_surface");
    assert_int_equal(device.extension_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(device.extensions[i], info.extensions[i]);
    const VkPhysicalDeviceFeatures2 *first = (const void *)device.features;
    const VkPhysicalDeviceVulkan12Features *second = first->pNext;
    assert_int_equal(first->sType, features.sType);
    assert_memory_equal(&first->features, &all, sizeof(all));
    assert_int_equal(second->sType, twelve.sType);
    assert_int_equal(second->samplerMirrorClampToEdge, 1);
    assert_int_equal(second->subgroupBroadcastDynamicId, 1);
    assert_int_equal(second->shaderInt8, 0);
    assert_null(second->pNext);
    assert_memory_equal(device.enabled_features, &all, sizeof(all));
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

TEST(devices_that_can_not_be_said)
{
    VkBaseInStructure unknown = {VK_TYPE(MEMORY_BARRIER)};
    struct bf_isolate_info info = device_info();
    struct bf_wire_out out = {0};
    info.features = &unknown;
    bf_wire_say_device(&out, &info, 1, 1);
    assert_true(out.unsaid);
    bf_wire_out_finish(&out);
    info = device_info();
    group.physicalDeviceCount = 2;
    bf_wire_say_device(&out, &info, 1, 1);
    assert_true(out.unsaid);
    bf_wire_out_finish(&out);
    group.physicalDeviceCount = 1;
}

/* -------------------------------------------------------------------------------------- A build */

static void say_build(struct bf_wire_out *out, const struct bf_build_request *build)
{
    const struct bf_check_request request = {.build_count = 1, .builds = build};
    bf_wire_say_check(out, &request);
}

static bool read_build(struct bf_wire_in *in, const void *bytes, size_t size,
                       struct bf_wire_build *build)
{
    static struct bf_wire_check check;
    bool good = bf_wire_read_check(in, bytes, size, &check);
    *build = check.builds[0];
    return good && check.build_count == 1 && !check.runs;
}

#define BINDINGS 3

struct story {
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup;
    VkSpecializationMapEntry entries[2];
    VkSpecializationInfo specialization;
    VkComputePipelineCreateInfo compute;
    struct bf_build_code code;
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    VkDescriptorBindingFlags flags[BINDINGS];
    VkDescriptorSetLayoutBindingFlagsCreateInfo flags_info;
    VkDescriptorSetLayoutCreateInfo sets[3];
    const VkDescriptorSetLayoutCreateInfo *set_pointers[3];
    VkSamplerReductionModeCreateInfo reduction;
    VkSamplerCreateInfo samplers[2];
    const VkSamplerCreateInfo *sampler_pointers[3];
    VkPushConstantRange ranges[2];
    VkPipelineLayoutCreateInfo layout;
    struct bf_build_request request;
};

static const uint32_t words[7] = {0x07230203, 1, 2, 3, 4, 5, 6};
static const uint8_t values[7] = {1, 2, 3, 4, 5, 6, 7};

static void story_make(struct story *s)
{
    *s = (struct story){
        .subgroup = {VK_TYPE(PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO),
                     .requiredSubgroupSize = 8},
        .entries = {{5, 0, 4}, {9, 3, 4}},
        .code = {words, sizeof(words)},
        .bindings = {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 32, NULL},
                     {7, VK_DESCRIPTOR_TYPE_SAMPLER, 2, 1, (const VkSampler *)words},
                     {8, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 9, 33, (const VkSampler *)words}},
        .flags = {1, 2, 4},
        .flags_info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO),
                       .bindingCount = BINDINGS},
        .reduction = {VK_TYPE(SAMPLER_REDUCTION_MODE_CREATE_INFO),
                      .reductionMode = VK_SAMPLER_REDUCTION_MODE_MAX},
        .samplers = {{VK_TYPE(SAMPLER_CREATE_INFO), .maxLod = 5},
                     {VK_TYPE(SAMPLER_CREATE_INFO), .pNext = &s->reduction, .maxLod = 6}},
        .sampler_pointers = {s->samplers},
        .ranges = {{32, 0, 16}, {1, 16, 112}},
    };
    s->specialization = (VkSpecializationInfo){2, s->entries, sizeof(values), values};
    s->compute =
        (VkComputePipelineCreateInfo){.flags = VK_PIPELINE_CREATE_DERIVATIVE_BIT | 0x40,
                                      .stage = {.pNext = &s->subgroup,
                                                .flags = 2,
                                                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                .pName = "an entry",
                                                .pSpecializationInfo = &s->specialization}};
    s->flags_info.pBindingFlags = s->flags;
    s->sets[0] = (VkDescriptorSetLayoutCreateInfo){
        .pNext = &s->flags_info, .flags = 2, .bindingCount = BINDINGS, .pBindings = s->bindings};
    s->sets[2] = (VkDescriptorSetLayoutCreateInfo){.bindingCount = 1, .pBindings = s->bindings};
    for (uint32_t i = 0; i < 3; i++)
        s->set_pointers[i] = &s->sets[i];
    s->layout = (VkPipelineLayoutCreateInfo){.flags = 2,
                                             .setLayoutCount = 3,
                                             .pushConstantRangeCount = 2,
                                             .pPushConstantRanges = s->ranges};
    s->request = (struct bf_build_request){.compute = &s->compute,
                                           .code = &s->code,
                                           .layout = &s->layout,
                                           .sets = s->set_pointers,
                                           .samplers = s->sampler_pointers};
}

TEST(builds_are_read)
{
    struct story s;
    story_make(&s);
    struct bf_wire_out out = {0};
    say_build(&out, &s.request);
    assert_false(out.failed || out.unsaid);
    struct bf_wire_in in;
    struct bf_wire_build b;
    assert_true(read_build(&in, out.bytes, out.size, &b));
    assert_int_equal(b.compute.flags, 0x40);
    const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *subgroup = b.compute.stage.pNext;
    assert_int_equal(subgroup->sType, s.subgroup.sType);
    assert_int_equal(subgroup->requiredSubgroupSize, 8);
    assert_null(subgroup->pNext);
    assert_int_equal(b.compute.stage.flags, 2);
    assert_int_equal(b.compute.stage.stage, VK_SHADER_STAGE_COMPUTE_BIT);
    assert_string_equal(b.compute.stage.pName, "an entry");
    const VkSpecializationInfo *info = b.compute.stage.pSpecializationInfo;
    assert_int_equal(info->mapEntryCount, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(info->pMapEntries[i].constantID, s.entries[i].constantID);
        assert_int_equal(info->pMapEntries[i].offset, s.entries[i].offset);
        assert_int_equal(info->pMapEntries[i].size, s.entries[i].size);
    }
    assert_int_equal(info->dataSize, sizeof(values));
    assert_memory_equal(info->pData, values, sizeof(values));
    assert_int_equal(b.code->size, sizeof(words));
    assert_memory_equal(b.code->words, words, sizeof(words));
    assert_int_equal(b.layout.flags, 2);
    assert_int_equal(b.layout.setLayoutCount, 3);
    const VkDescriptorSetLayoutBindingFlagsCreateInfo *flags = b.sets[0].pNext;
    assert_int_equal(flags->bindingCount, BINDINGS);
    assert_memory_equal(flags->pBindingFlags, s.flags, sizeof(s.flags));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(b.sets[i].flags, s.sets[i].flags);
        assert_int_equal(b.sets[i].bindingCount, s.sets[i].bindingCount);
        for (uint32_t k = 0; k < b.sets[i].bindingCount; k++) {
            const VkDescriptorSetLayoutBinding *binding = &b.sets[i].pBindings[k];
            assert_int_equal(binding->binding, s.bindings[k].binding);
            assert_int_equal(binding->descriptorType, s.bindings[k].descriptorType);
            assert_int_equal(binding->descriptorCount, s.bindings[k].descriptorCount);
            assert_int_equal(binding->stageFlags, s.bindings[k].stageFlags);
            assert_int_equal(binding->pImmutableSamplers != NULL, k == 1);
        }
    }
    assert_null(b.samplers->next);
    assert_ptr_equal(b.samplers->handles, b.sets[0].pBindings[1].pImmutableSamplers);
    assert_int_equal(b.samplers->count, 2);
    assert_memory_equal(&b.samplers->infos[0], &s.samplers[0], sizeof(s.samplers[0]));
    assert_true(b.samplers->infos[1].maxLod == 6);
    const VkSamplerReductionModeCreateInfo *reduction = b.samplers->infos[1].pNext;
    assert_int_equal(reduction->reductionMode, VK_SAMPLER_REDUCTION_MODE_MAX);
    assert_null(b.sets[1].pNext);
    assert_null(b.sets[2].pNext);
    assert_int_equal(b.layout.pushConstantRangeCount, 2);
    assert_memory_equal(b.layout.pPushConstantRanges, s.ranges, sizeof(s.ranges));
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

/* Structs of numbers are equal beyond their type and chain. */
#define assert_same(a_, b_)                                                                        \
    do {                                                                                           \
        assert_int_equal((a_)->sType, (b_)->sType);                                                \
        assert_null((a_)->pNext);                                                                  \
        assert_memory_equal((const uint8_t *)(a_) + 16, (const uint8_t *)(b_) + 16,                \
                            sizeof(*(a_)) - 16);                                                   \
    } while (0)

TEST(pictures_are_read)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct picture p;
        const struct bf_build_code code = {words, sizeof(words)};
        struct bf_wire_out out = {0};
        say_build(&out, picture(&p, pass, code, code));
        assert_false(out.failed || out.unsaid);
        struct bf_wire_in in;
        struct bf_wire_build b;
        assert_true(read_build(&in, out.bytes, out.size, &b));
        const VkGraphicsPipelineCreateInfo *g = &b.graphics;
        assert_int_equal(b.point, VK_PIPELINE_BIND_POINT_GRAPHICS);
        assert_int_equal(g->flags, VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT);
        assert_int_equal(g->stageCount, 2);
        assert_int_equal(g->pStages[0].stage, VK_SHADER_STAGE_VERTEX_BIT);
        assert_int_equal(g->pStages[1].stage, VK_SHADER_STAGE_FRAGMENT_BIT);
        assert_null(g->pStages[0].pSpecializationInfo);
        assert_memory_equal(g->pStages[1].pSpecializationInfo->pData, &p.mode, 4);
        assert_memory_equal(b.code[1].words, words, sizeof(words));
        assert_int_equal(g->pVertexInputState->vertexBindingDescriptionCount, 1);
        assert_memory_equal(g->pVertexInputState->pVertexBindingDescriptions, &p.binding,
                            sizeof(p.binding));
        assert_int_equal(g->pVertexInputState->vertexAttributeDescriptionCount, 1);
        assert_memory_equal(g->pVertexInputState->pVertexAttributeDescriptions, &p.attribute,
                            sizeof(p.attribute));
        assert_same(g->pInputAssemblyState, &p.g.assembly);
        assert_null(g->pTessellationState);
        assert_int_equal(g->pViewportState->viewportCount, 1);
        assert_memory_equal(g->pViewportState->pViewports, &p.g.viewport, sizeof(p.g.viewport));
        assert_int_equal(g->pViewportState->scissorCount, 1);
        assert_null(g->pViewportState->pScissors);
        assert_same(g->pRasterizationState, &p.g.raster);
        assert_int_equal(g->pMultisampleState->rasterizationSamples, VK_SAMPLE_COUNT_4_BIT);
        assert_int_equal(*g->pMultisampleState->pSampleMask, 5);
        assert_same(g->pDepthStencilState, &p.g.depth);
        assert_int_equal(g->pColorBlendState->attachmentCount, 1);
        assert_memory_equal(g->pColorBlendState->pAttachments, &p.g.blends[0],
                            sizeof(p.g.blends[0]));
        assert_true(g->pColorBlendState->blendConstants[3] == 4);
        assert_int_equal(g->pDynamicState->dynamicStateCount, 2);
        assert_memory_equal(g->pDynamicState->pDynamicStates, p.dynamics, sizeof(p.dynamics));
        assert_int_equal(g->subpass, pass);
        if (!pass) {
            const VkPipelineRenderingCreateInfo *r = g->pNext;
            assert_int_equal(r->sType, p.g.rendering.sType);
            assert_int_equal(r->colorAttachmentCount, 1);
            assert_int_equal(r->pColorAttachmentFormats[0], p.g.formats[0]);
            assert_int_equal(r->depthAttachmentFormat, VK_FORMAT_D32_SFLOAT);
            assert_null(b.pass);
        } else {
            assert_null(g->pNext);
            assert_int_equal(b.pass->attachmentCount, 3);
            for (uint32_t i = 0; i < 3; i++)
                assert_same(&b.pass->pAttachments[i], &p.attachments[i]);
            assert_int_equal(b.pass->subpassCount, 2);
            assert_int_equal(b.pass->pSubpasses[0].preserveAttachmentCount, 1);
            assert_int_equal(b.pass->pSubpasses[0].pPreserveAttachments[0], 1);
            assert_null(b.pass->pSubpasses[0].pDepthStencilAttachment);
            assert_int_equal(b.pass->pSubpasses[1].colorAttachmentCount, 1);
            assert_same(b.pass->pSubpasses[1].pColorAttachments, &p.color);
            assert_same(b.pass->pSubpasses[1].pResolveAttachments, &p.resolve);
            assert_same(b.pass->pSubpasses[1].pDepthStencilAttachment, &p.depth_to);
            assert_null(b.pass->pSubpasses[1].pInputAttachments);
            assert_int_equal(b.pass->dependencyCount, 1);
            assert_same(b.pass->pDependencies, &p.dependency);
        }
        bf_wire_in_finish(&in);
        bf_wire_out_finish(&out);
    }
}

/* Sets of which some are not there, and libraries of which one is linked from another. */
static void linked_picture(struct picture *p)
{
    const struct bf_build_code code = {words, sizeof(words)};
    static const VkDescriptorSetLayoutCreateInfo set = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO)};
    static const VkDescriptorSetLayoutCreateInfo *const sets[] = {&set, NULL, &set};
    picture(p, true, code, code);
    p->layout.flags = VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT;
    p->layout.setLayoutCount = 3;
    p->request.sets = sets;
    picture_link(p, true);
    p->links[1].sets = p->links[1].set_count = 1;
    p->links[2].from = 3;
    p->links[4].from = 12;
}

TEST(links_are_read)
{
    struct picture p;
    struct bf_wire_out out = {0};
    linked_picture(&p);
    say_build(&out, &p.request);
    assert_false(out.failed || out.unsaid);
    struct bf_wire_in in;
    struct bf_wire_build b;
    assert_true(read_build(&in, out.bytes, out.size, &b));
    assert_int_equal(b.null_sets, 2);
    assert_int_equal(b.layout.setLayoutCount, 3);
    assert_int_equal(b.link_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct bf_build_link *is = &b.links[i], *was = &p.links[i];
        assert_int_equal(is->flags, was->flags);
        assert_int_equal(is->parts, was->parts);
        assert_int_equal(is->from, was->from);
        assert_int_equal(is->samples, was->samples);
        assert_int_equal(is->has_layout, was->has_layout);
        assert_int_equal(is->layout_flags, was->layout_flags);
        assert_int_equal(is->set_count, was->set_count);
        assert_int_equal(is->sets, was->sets);
    }
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

/* What makes no pipeline, or not one of the request's layout, is refused. */
TEST(senseless_links)
{
    for (uint32_t i = 0; i < 16; i++) {
        struct picture p;
        struct bf_wire_out out = {0};
        linked_picture(&p);
        struct bf_build_link *l = p.links;
        switch (i) {
        case 1: /* a part twice, none, and one that isn't known */
            l[3].parts = 1;
            break;
        case 2:
            l[3].parts = 0;
            break;
        case 3:
            l[3].parts = 24;
            break;
        case 4: /* from itself, from one to come, from one that another one has */
            l[4].from = 16 | 12;
            break;
        case 5:
            l[1].from = 4;
            break;
        case 6:
            l[4].from = 13;
            break;
        case 7: /* of one library nothing becomes */
            l[4].from = 4;
            break;
        case 8: /* a library at the end, and no library before it */
            l[4].flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
            break;
        case 9:
            l[1].flags = 0;
            break;
        case 10:
            l[4].has_layout = false;
            break;
        case 11: /* sets that aren't there */
            l[2].sets = 7;
            break;
        case 12:
            l[2].set_count = 2;
            break;
        case 13:
            l[2].set_count = 4;
            break;
        case 14:
            l[2].set_count = UINT32_MAX;
            break;
        case 15:
            p.request.link_count = 4;
            break;
        default:
            break;
        }
        say_build(&out, &p.request);
        assert_false(out.failed || out.unsaid);
        struct bf_wire_in in;
        struct bf_wire_build b;
        if (read_build(&in, out.bytes, out.size, &b) != (i == 0))
            fail_msg("case %u", i);
        bf_wire_in_finish(&in);
        bf_wire_out_finish(&out);
    }
    struct picture p;
    struct bf_wire_out out = {0};
    linked_picture(&p);
    p.request.link_count = BF_BUILD_LINKS + 1;
    say_build(&out, &p.request);
    assert_true(out.unsaid);
    bf_wire_out_finish(&out);
}

TEST(pictures_that_can_not_be_said)
{
    VkBaseInStructure unknown = {VK_TYPE(MEMORY_BARRIER)};
    const struct bf_build_code code = {words, sizeof(words)};
    for (uint32_t i = 0; i < 15; i++) {
        struct picture p;
        picture(&p, i != 1, code, code);
        const void **const chains[] = {
            &p.g.info.pNext,     &p.g.rendering.pNext,    &p.g.vertices.pNext,
            &p.g.assembly.pNext, &p.g.viewports.pNext,    &p.g.raster.pNext,
            &p.g.samples.pNext,  &p.g.depth.pNext,        &p.g.blend.pNext,
            &p.g.dynamic.pNext,  &p.pass.pNext,           &p.subpasses[0].pNext,
            &p.resolve.pNext,    &p.attachments[2].pNext, &p.dependency.pNext,
        };
        *chains[i] = &unknown;
        struct bf_wire_out out = {0};
        say_build(&out, &p.request);
        assert_true(out.unsaid);
        bf_wire_out_finish(&out);
    }
}

TEST(builds_that_can_not_be_said)
{
    VkBaseInStructure unknown = {VK_TYPE(MEMORY_BARRIER)};
    for (uint32_t i = 0; i < 9; i++) {
        struct story s;
        story_make(&s);
        if (i == 0)
            s.compute.pNext = &unknown;
        if (i == 1)
            s.compute.stage.pNext = &unknown;
        if (i == 2)
            s.subgroup.pNext = &unknown;
        if (i == 3)
            s.layout.pNext = &unknown;
        if (i == 4)
            s.sets[1].pNext = &unknown;
        if (i == 5)
            s.request.samplers = NULL;
        if (i == 8)
            s.reduction.pNext = &unknown;
        if (i == 6)
            s.entries[0].size = (size_t)1 << 32;
        if (i == 7)
            s.flags_info.bindingCount = BINDINGS - 1;
        struct bf_wire_out out = {0};
        say_build(&out, &s.request);
        assert_true(out.unsaid);
        bf_wire_out_finish(&out);
    }
}

/* -------------------------------------------------------------------------------------- A check */

static const uint8_t push[BF_CHECK_PUSH_BYTES] = {1, [BF_CHECK_PUSH_BYTES - 1] = 2};

/* The story's pipeline three times, and what there is to know of it. */
struct trial {
    struct story s;
    struct bf_build_request builds[BF_CHECK_BUILDS];
    VkSamplerCreateInfo sampler;
    struct bf_check_binding bindings[BINDINGS];
    struct bf_check_set sets[3];
    struct bf_check_layout layout;
    struct bf_pipeline_interface interface;
    struct bf_check_info info;
    struct bf_check_request request;
};

static void trial_make(struct trial *t)
{
    memset(t, 0, sizeof(*t)); /* what lies between members too: whole structs are compared */
    story_make(&t->s);
    t->sampler = (VkSamplerCreateInfo){VK_TYPE(SAMPLER_CREATE_INFO), .maxLod = 5};
    for (uint32_t i = 0; i < BF_CHECK_BUILDS; i++)
        t->builds[i] = t->s.request;
    for (uint32_t i = 0; i < BINDINGS; i++) {
        struct bf_check_binding *b = &t->bindings[i]; /* not assigned as a whole */
        b->binding = t->s.bindings[i].binding;
        b->type = t->s.bindings[i].descriptorType;
        b->count = t->s.bindings[i].descriptorCount;
        b->flags = t->s.flags[i];
        b->used = true;
        b->written = i == 1;
        b->view = VK_IMAGE_VIEW_TYPE_CUBE;
        b->format = VK_FORMAT_R8G8B8A8_UNORM;
        b->components = (VkComponentMapping){1, 2, 3, 4};
        b->samples = 4;
        b->number = BF_TEXEL_SINT;
        b->depth = i == 2;
        b->input_index = 3;
        b->sampler = i ? &t->sampler : NULL;
        b->size = UINT64_C(1) << 33;
        b->block_size = 12;
        b->array_stride = 16;
        b->kinds = values;
        b->kind_count = sizeof(values);
        b->period = i;
    }
    for (uint32_t i = 0; i < 3; i++)
        t->sets[i] = (struct bf_check_set){.handle = i == 1 ? VK_NULL_HANDLE : (void *)t,
                                           .flags = t->s.sets[i].flags,
                                           .binding_count = t->s.sets[i].bindingCount,
                                           .bindings = t->bindings};
    t->layout = (struct bf_check_layout){.set_count = 3, .sets = t->sets};
    t->interface = (struct bf_pipeline_interface){.layout = &t->layout,
                                                  .workgroup = {8, 4, 2},
                                                  .loops = true,
                                                  .addresses = true,
                                                  .extent = {640, 480}};
    t->info = (struct bf_check_info){
        .interface = &t->interface,
        .push = push,
        .fixed = UINT64_C(5) << 40,
        .groups = {7, 6, 5},
    };
    t->request = (struct bf_check_request){
        .build_count = BF_CHECK_BUILDS, .builds = t->builds, .check = &t->info};
}

TEST(checks_are_read)
{
    struct trial t;
    trial_make(&t);
    struct bf_wire_out out = {0};
    bf_wire_say_check(&out, &t.request);
    assert_false(out.failed || out.unsaid);
    struct bf_wire_in in;
    struct bf_wire_check c;
    assert_true(bf_wire_read_check(&in, out.bytes, out.size, &c));
    assert_int_equal(c.build_count, BF_CHECK_BUILDS);
    assert_true(c.runs && c.fixed == t.info.fixed);
    assert_memory_equal(c.groups, t.info.groups, sizeof(c.groups));
    assert_memory_equal(c.push, push, sizeof(push));
    assert_memory_equal(c.interface.workgroup, t.interface.workgroup, 3 * sizeof(uint32_t));
    assert_memory_equal(c.interface.extent, t.interface.extent, 2 * sizeof(uint32_t));
    assert_true(c.interface.loops && !c.interface.fragile && c.interface.addresses);
    assert_ptr_equal(c.interface.layout, &c.layout);
    assert_null(c.interface.graphics);
    assert_int_equal(c.layout.range_count, 2);
    assert_int_equal(c.layout.set_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(c.sets_are[i], i != 1);
        assert_int_equal(c.sets[i].flags, t.sets[i].flags);
        assert_int_equal(c.sets[i].binding_count, t.sets[i].binding_count);
        for (uint32_t k = 0; k < c.sets[i].binding_count; k++) {
            struct bf_check_binding b = c.sets[i].bindings[k];
            assert_memory_equal(b.kinds, values, sizeof(values));
            assert_int_equal(b.sampler != NULL, k > 0);
            if (b.sampler)
                assert_memory_equal(b.sampler, &t.sampler, sizeof(t.sampler));
            b.kinds = values;
            b.sampler = t.bindings[k].sampler;
            assert_memory_equal(&b, &t.bindings[k], sizeof(b));
        }
    }
    bf_wire_in_finish(&in);
    bf_wire_out_finish(&out);
}

/* --------------------------------------------------------------------------------------- Damage */

static size_t bytes_sum(const void *bytes, size_t size)
{
    size_t sum = 0;
    for (size_t i = 0; bytes && i < size; i++)
        sum += ((const uint8_t *)bytes)[i];
    return sum;
}

static size_t stage_sum(const VkPipelineShaderStageCreateInfo *stage,
                        const struct bf_build_code *code)
{
    const VkSpecializationInfo *s = stage->pSpecializationInfo;
    size_t sum = strlen(stage->pName) + bytes_sum(code->words, code->size);
    for (uint32_t i = 0; s && i < s->mapEntryCount; i++)
        sum +=
            bytes_sum((const uint8_t *)s->pData + s->pMapEntries[i].offset, s->pMapEntries[i].size);
    return sum;
}

#define LIST(list_, count_) bytes_sum(list_, (size_t)(count_) * sizeof(*(list_)))

static size_t graphics_sum(const struct bf_wire_build *b)
{
    const VkGraphicsPipelineCreateInfo *g = &b->graphics;
    size_t sum = LIST(g->pInputAssemblyState, 1) + LIST(g->pRasterizationState, 1) +
                 LIST(g->pDepthStencilState, 1) + LIST(g->pTessellationState, 1);
    const VkPipelineRenderingCreateInfo *r = g->pNext;
    if (r)
        sum += LIST(r->pColorAttachmentFormats, r->colorAttachmentCount);
    const VkPipelineVertexInputStateCreateInfo *v = g->pVertexInputState;
    if (v)
        sum += LIST(v->pVertexBindingDescriptions, v->vertexBindingDescriptionCount) +
               LIST(v->pVertexAttributeDescriptions, v->vertexAttributeDescriptionCount);
    const VkPipelineViewportStateCreateInfo *w = g->pViewportState;
    if (w)
        sum += LIST(w->pViewports, w->viewportCount) + LIST(w->pScissors, w->scissorCount);
    const VkPipelineMultisampleStateCreateInfo *m = g->pMultisampleState;
    if (m)
        sum += LIST(m->pSampleMask, (m->rasterizationSamples + 31u) / 32u > 1 ? 2 : 1);
    if (g->pColorBlendState)
        sum += LIST(g->pColorBlendState->pAttachments, g->pColorBlendState->attachmentCount);
    if (g->pDynamicState)
        sum += LIST(g->pDynamicState->pDynamicStates, g->pDynamicState->dynamicStateCount);
    const VkRenderPassCreateInfo2 *p = b->pass;
    if (!p)
        return sum;
    sum += LIST(p->pAttachments, p->attachmentCount) + LIST(p->pDependencies, p->dependencyCount) +
           LIST(p->pCorrelatedViewMasks, p->correlatedViewMaskCount);
    for (uint32_t i = 0; i < p->subpassCount; i++) {
        const VkSubpassDescription2 *s = &p->pSubpasses[i];
        sum += LIST(s->pInputAttachments, s->inputAttachmentCount) +
               LIST(s->pColorAttachments, s->colorAttachmentCount) +
               LIST(s->pResolveAttachments, s->colorAttachmentCount) +
               LIST(s->pDepthStencilAttachment, 1) +
               LIST(s->pPreserveAttachments, s->preserveAttachmentCount);
    }
    return sum;
}

static size_t build_sum(const struct bf_wire_build *b)
{
    bool compute = b->point == VK_PIPELINE_BIND_POINT_COMPUTE;
    const VkPipelineShaderStageCreateInfo *stages = compute ? &b->compute.stage : b->stages;
    size_t sum = compute ? 0 : graphics_sum(b);
    for (uint32_t i = 0; i < (compute ? 1 : b->graphics.stageCount); i++)
        sum += stage_sum(&stages[i], &b->code[i]);
    for (uint32_t i = 0; i < b->layout.setLayoutCount; i++)
        for (uint32_t k = 0; k < b->sets[i].bindingCount; k++)
            sum += b->sets[i].pBindings[k].binding;
    return sum + LIST(b->layout.pPushConstantRanges, b->layout.pushConstantRangeCount);
}

static size_t check_sum(const struct bf_wire_check *check)
{
    size_t sum = LIST(check->push, BF_CHECK_PUSH_BYTES);
    for (uint32_t i = 0; i < check->layout.set_count; i++) {
        const struct bf_check_set *set = &check->layout.sets[i];
        for (uint32_t k = 0; k < set->binding_count; k++) {
            const struct bf_check_binding *b = &set->bindings[k];
            sum += LIST(b->kinds, b->kind_count) + (b->sampler ? LIST(b->sampler, 1) : 0);
        }
    }
    return sum;
}

/* In a block of just that size, so that a sanitizer sees a byte too far. */
static bool reads(bool build, const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    struct bf_wire_in in;
    struct bf_wire_check check;
    struct bf_wire_device d;
    bool good = build ? bf_wire_read_check(&in, copy, size, &check)
                      : bf_wire_read_device(&in, copy, size, &d);
    /* What was read can be looked at. */
    size_t sum = 0;
    if (good && build) {
        for (uint32_t i = 0; i < check.build_count; i++)
            sum += build_sum(&check.builds[i]);
        sum += check.runs ? check_sum(&check) : 0;
    } else if (good) {
        for (uint32_t i = 0; i < d.extension_count; i++)
            sum += strlen(d.extensions[i]);
    }
    *(volatile size_t *)&sum = sum;
    bf_wire_in_finish(&in);
    free(copy);
    return good;
}

/* The place of a string in a message. */
static uint8_t *find(const struct bf_wire_out *out, const char *string)
{
    uint8_t *found = memmem(out->bytes, out->size, string, strlen(string) + 1);
    assert_non_null(found);
    return found;
}

/* Messages that are ill-formed in one particular way. */
TEST(senseless_messages)
{
    struct bf_wire_out out = {0};
    struct story s;
    struct picture p;
    const struct bf_build_code code = {words, sizeof(words)};
    for (uint32_t i = 0; i < 9; i++) {
        story_make(&s);
        picture(&p, i == 8, code, code);
        bool graphics = i >= 5;
        if (i == 1)
            s.code.size = 16; /* less than SPIR-V's header */
        if (i == 2)
            s.compute.stage.stage = VK_SHADER_STAGE_VERTEX_BIT;
        if (i == 5)
            p.g.vertices.pVertexAttributeDescriptions = NULL;
        if (i == 6)
            p.g.dynamic.pDynamicStates = NULL;
        if (i == 7)
            p.g.rendering.pColorAttachmentFormats = NULL;
        say_build(&out, graphics ? &p.request : &s.request);
        assert_false(out.failed || out.unsaid);
        if (i == 3)
            find(&out, "an entry")[8] = 'x'; /* it doesn't end */
        if (i == 4)
            find(&out, "an entry")[3] = '\0'; /* it ends twice */
        assert_int_equal(reads(true, out.bytes, out.size), i == 0 || i == 8);
        if (i == 0 || i == 8) {
            uint8_t *more = calloc(1, out.size + 4);
            memcpy(more, out.bytes, out.size);
            assert_false(reads(true, more, out.size + 4));
            free(more);
        }
        bf_wire_out_finish(&out);
    }
}

/* All of it once more, for every way to damage it. */
static void damage(bool build, struct bf_wire_out *out)
{
    assert_true(reads(build, out->bytes, out->size));
    for (size_t size = 0; size < out->size; size++)
        assert_false(reads(build, out->bytes, size));
    const uint32_t changes[] = {0, 1, 0x7FFFFFFF, 0x80000000, UINT32_MAX, UINT32_MAX - 3, 12};
    for (size_t at = 0; at < out->size; at += 4)
        for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
            uint32_t before;
            memcpy(&before, out->bytes + at, 4);
            memcpy(out->bytes + at, &changes[i], 4);
            reads(build, out->bytes, out->size);
            memcpy(out->bytes + at, &before, 4);
        }
    uint32_t random = 1;
    for (uint32_t round = 0; round < 20000; round++) {
        uint8_t before[3];
        size_t at[3];
        for (uint32_t k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            at[k] = (random >> 8) % out->size;
            before[k] = out->bytes[at[k]];
            out->bytes[at[k]] = (uint8_t)(random >> 3) % (random & 1 ? 255 : 8);
        }
        reads(build, out->bytes, out->size);
        for (uint32_t k = 3; k-- > 0;)
            out->bytes[at[k]] = before[k];
    }
    assert_true(reads(build, out->bytes, out->size));
    bf_wire_out_finish(out);
}

TEST(damaged_messages)
{
    struct bf_wire_out out = {0};
    struct bf_isolate_info info = device_info();
    bf_wire_say_device(&out, &info, 1, 1);
    damage(false, &out);
    struct story s;
    story_make(&s);
    say_build(&out, &s.request);
    damage(true, &out);
    struct trial t;
    trial_make(&t);
    bf_wire_say_check(&out, &t.request);
    damage(true, &out);
    for (uint32_t pass = 0; pass < 2; pass++) {
        struct picture p;
        const struct bf_build_code code = {words, sizeof(words)};
        say_build(&out, picture(&p, pass, code, code));
        damage(true, &out);
    }
    struct picture p;
    linked_picture(&p);
    say_build(&out, &p.request);
    damage(true, &out);
}
