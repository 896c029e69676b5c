/* SPDX-License-Identifier: MIT */
/* Programs under the layer, with and without shaders being rebuilt: what they make, name and
 * destroy in whatever order does what Vulkan says. */
#include "gpu.h"
#include "support/infos.h"

#include "shaders/full.vert.h"
#include "shaders/paint.comp.h"
#include "shaders/paint.frag.h"

static const struct gpu_push pushes[] = {{0, 7, 3}, {1, 4, 5}, {1, 0, 0}, {0, 1, 9}};

static uint32_t paint(uint32_t v, uint32_t i, struct gpu_push p)
{
    for (uint32_t r = 0; r < p.rounds; r++)
        v = p.mode == 0 ? v * p.factor + r : p.mode == 1 ? v ^ v << p.factor : v + i;
    return v;
}

static void check_dispatch(struct gpu *gpu, VkPipeline pipeline, uint32_t bias)
{
    for (size_t n = 0; n < BF_COUNT(pushes); n++) {
        gpu_dispatch(gpu, pipeline, pushes[n]);
        for (uint32_t i = 0; i < GPU_WORDS; i++)
            assert_int_equal(gpu->words[i], paint(i + bias, i, pushes[n]));
    }
}

static void check_draw(struct gpu *gpu, VkPipeline pipeline, VkRenderPass pass)
{
    for (size_t n = 0; n < BF_COUNT(pushes); n++) {
        gpu_draw(gpu, pipeline, pass, pushes[n]);
        for (uint32_t y = 0; y < GPU_SIDE; y++) {
            for (uint32_t x = 0; x < GPU_SIDE; x++) {
                const uint32_t *pixel = &gpu->words[4 * (y * GPU_SIDE + x)];
                assert_int_equal(pixel[0], paint(x * 31 + y + 5, 0, pushes[n]));
                assert_int_equal(pixel[2], x);
                assert_int_equal(pixel[3], y);
            }
        }
    }
}

/* All that it was made of is gone before it is used. */
GPU_TEST(what_it_is_made_of_goes_early, false)
{
    VkDescriptorSetLayout sets = gpu_set_layout(gpu);
    VkPipelineLayout layout = gpu_layout(gpu, sets);
    VkShaderModule module = gpu_module(gpu, paint_comp, sizeof(paint_comp));
    const uint32_t bias = 77;
    const VkSpecializationMapEntry entry = {3, 0, 4};
    const VkSpecializationInfo specialization = {1, &entry, 4, &bias};
    VkComputePipelineCreateInfo info = info_compute(module, layout, NULL);
    info.stage.pSpecializationInfo = &specialization;
    VkPipeline pipeline = gpu_compute(gpu, &info);
    const VkDebugUtilsObjectNameInfoEXT name = {
        VK_TYPE(DEBUG_UTILS_OBJECT_NAME_INFO_EXT), .objectType = VK_OBJECT_TYPE_PIPELINE,
        .objectHandle = (uint64_t)pipeline, .pObjectName = "painter"};
    assert_success(vkSetDebugUtilsObjectNameEXT(gpu->device, &name));
    gpu_destroy_module(gpu, module);
    gpu_destroy(gpu, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layout);
    gpu_destroy(gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)sets);
    check_dispatch(gpu, pipeline, bias);
    gpu_destroy_pipeline(gpu, pipeline);
}

GPU_TEST(pictures_are_as_ever, false)
{
    VkShaderModule vertex = gpu_module(gpu, full_vert, sizeof(full_vert));
    VkShaderModule fragment = gpu_module(gpu, paint_frag, sizeof(paint_frag));
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        VkRenderPass pass = dynamic ? VK_NULL_HANDLE : gpu_render_pass(gpu);
        VkRenderPass same = dynamic ? VK_NULL_HANDLE : gpu_render_pass(gpu);
        struct info_graphics g;
        gpu_describe(&g, vertex, fragment, gpu->layout, same);
        VkPipeline pipeline = gpu_graphics(gpu, &g.info);
        if (same)
            gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)same);
        check_draw(gpu, pipeline, pass);
        gpu_destroy_pipeline(gpu, pipeline);
        if (pass)
            gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    }
    gpu_destroy_module(gpu, vertex);
    gpu_destroy_module(gpu, fragment);
}

/* Those of pipelines that are linked from libraries too. */
GPU_TEST(linked_pictures_are_as_ever, false)
{
    VkShaderModule vertex = gpu_module(gpu, full_vert, sizeof(full_vert));
    VkShaderModule fragment = gpu_module(gpu, paint_frag, sizeof(paint_frag));
    for (uint32_t way = 0; gpu->links && way < 8; way++) {
        VkRenderPass pass = way & 1 ? VK_NULL_HANDLE : gpu_render_pass(gpu);
        struct info_graphics g;
        gpu_describe(&g, vertex, fragment, gpu->layout, pass);
        VkPipeline pipeline = gpu_linked(gpu, &g, way & 2, way & 4);
        check_draw(gpu, pipeline, pass);
        gpu_unlink(gpu, pipeline);
        if (pass)
            gpu_destroy(gpu, VK_OBJECT_TYPE_RENDER_PASS, (uint64_t)pass);
    }
    gpu_destroy_module(gpu, vertex);
    gpu_destroy_module(gpu, fragment);
}

/* Some of several are refused: the program sees which. */
GPU_TEST(what_is_refused_is_none, false)
{
    VkShaderModule module = gpu_module(gpu, paint_comp, sizeof(paint_comp));
    VkComputePipelineCreateInfo infos[3];
    for (int i = 0; i < 3; i++)
        infos[i] = info_compute(module, gpu->layout, NULL);
    infos[1].flags = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT;
    VkPipeline pipelines[3] = {0};
    VkResult result =
        gpu->vk.vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 3, infos, NULL, pipelines);
    assert_true(result == VK_SUCCESS || result == VK_PIPELINE_COMPILE_REQUIRED);
    assert_int_equal(pipelines[1] == VK_NULL_HANDLE, result == VK_PIPELINE_COMPILE_REQUIRED);
    check_dispatch(gpu, pipelines[0], 5);
    check_dispatch(gpu, pipelines[2], 5);
    for (int i = 0; i < 3; i++)
        gpu_destroy_pipeline(gpu, pipelines[i]);
    gpu_destroy_module(gpu, module);
}

/* Descriptors by every way: written, copied, by template and pushed; with immutable samplers. */
TEST(descriptors_come_by_every_way)
{
    struct gpu gpu;
    gpu_open(&gpu, false);
    if (!gpu.pushes_descriptors)
        gpu_close(&gpu);
    TEST_NEEDS(gpu.pushes_descriptors, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
    const struct VolkDeviceTable *vk = &gpu.vk;
    const VkSamplerCreateInfo sampler_info = {VK_TYPE(SAMPLER_CREATE_INFO)};
    VkSampler sampler;
    assert_success(vk->vkCreateSampler(gpu.device, &sampler_info, NULL, &sampler));
    const VkDescriptorSetLayoutBinding bindings[] = {
        {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
        {3, VK_DESCRIPTOR_TYPE_SAMPLER, 1, VK_SHADER_STAGE_COMPUTE_BIT, &sampler},
    };
    VkDescriptorSetLayoutCreateInfo sets_info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                 .bindingCount = 2, .pBindings = bindings};
    VkDescriptorSetLayout sets[2];
    assert_success(vk->vkCreateDescriptorSetLayout(gpu.device, &sets_info, NULL, &sets[0]));
    sets_info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    assert_success(vk->vkCreateDescriptorSetLayout(gpu.device, &sets_info, NULL, &sets[1]));
    VkPipelineLayout layouts[2] = {gpu_layout(&gpu, sets[0]), gpu_layout(&gpu, sets[1])};
    VkShaderModule module = gpu_module(&gpu, paint_comp, sizeof(paint_comp));
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4},
                                          {VK_DESCRIPTOR_TYPE_SAMPLER, 4}};
    const VkDescriptorPoolCreateInfo pool_info = {
        VK_TYPE(DESCRIPTOR_POOL_CREATE_INFO),
        .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT, .maxSets = 4,
        .poolSizeCount = 2, .pPoolSizes = sizes};
    VkDescriptorPool pool;
    assert_success(vk->vkCreateDescriptorPool(gpu.device, &pool_info, NULL, &pool));
    const VkDescriptorSetLayout two[] = {sets[0], sets[0]};
    const VkDescriptorSetAllocateInfo allocate = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                                  .descriptorPool = pool, .descriptorSetCount = 2,
                                                  .pSetLayouts = two};
    const VkDescriptorUpdateTemplateEntry entry = {0, 0, 1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                   0, 0};
    VkDescriptorUpdateTemplateCreateInfo template_info = {
        VK_TYPE(DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO), .descriptorUpdateEntryCount = 1,
        .pDescriptorUpdateEntries = &entry, .descriptorSetLayout = sets[0],
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_COMPUTE};
    VkDescriptorUpdateTemplate templates[2];
    assert_success(
        vk->vkCreateDescriptorUpdateTemplate(gpu.device, &template_info, NULL, &templates[0]));
    template_info.templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_PUSH_DESCRIPTORS_KHR;
    template_info.pipelineLayout = layouts[1];
    assert_success(
        vk->vkCreateDescriptorUpdateTemplate(gpu.device, &template_info, NULL, &templates[1]));
    const VkDescriptorBufferInfo buffer = {gpu.buffer, 0, VK_WHOLE_SIZE};
    for (int way = 0; way < 5; way++) { /* written, copied, by template; pushed, by template */
        VkDescriptorSet handles[2];
        assert_success(vk->vkAllocateDescriptorSets(gpu.device, &allocate, handles));
        VkWriteDescriptorSet write =
            info_write(handles[0], 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, &buffer);
        const VkCopyDescriptorSet copy = {VK_TYPE(COPY_DESCRIPTOR_SET), .srcSet = handles[0],
                                          .dstSet = handles[1], .descriptorCount = 1};
        if (way < 2)
            vk->vkUpdateDescriptorSets(gpu.device, 1, &write, 0, NULL);
        if (way == 1)
            vk->vkUpdateDescriptorSets(gpu.device, 0, NULL, 1, &copy);
        if (way == 2)
            vk->vkUpdateDescriptorSetWithTemplate(gpu.device, handles[0], templates[0], &buffer);
        const bool pushed = way > 2;
        const VkComputePipelineCreateInfo info = info_compute(module, layouts[pushed], NULL);
        VkPipeline pipeline = gpu_compute(&gpu, &info);
        const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO)};
        memset(gpu.words, 0, GPU_WORDS * sizeof(*gpu.words));
        assert_success(vk->vkBeginCommandBuffer(gpu.commands, &begin));
        vk->vkCmdBindPipeline(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        if (!pushed)
            vk->vkCmdBindDescriptorSets(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layouts[0], 0,
                                        1, &handles[way == 1], 0, NULL);
        else if (way == 3)
            vk->vkCmdPushDescriptorSetKHR(gpu.commands, VK_PIPELINE_BIND_POINT_COMPUTE, layouts[1],
                                          0, 1, &write);
        else
            vk->vkCmdPushDescriptorSetWithTemplateKHR(gpu.commands, templates[1], layouts[1], 0,
                                                      &buffer);
        vk->vkCmdPushConstants(gpu.commands, layouts[pushed],
                               VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                               sizeof(pushes[0]), &pushes[0]);
        vk->vkCmdDispatch(gpu.commands, 1, 1, 1);
        assert_success(vk->vkEndCommandBuffer(gpu.commands));
        const VkSubmitInfo submit = info_submit(&gpu.commands);
        assert_success(vk->vkQueueSubmit(gpu.queue, 1, &submit, VK_NULL_HANDLE));
        assert_success(vk->vkQueueWaitIdle(gpu.queue));
        for (uint32_t i = 0; i < 64; i++)
            assert_int_equal(gpu.words[i], paint(i + 5, i, pushes[0]));
        assert_int_equal(gpu.words[64], 0);
        gpu_destroy_pipeline(&gpu, pipeline);
        if (way % 2)
            assert_success(vk->vkFreeDescriptorSets(gpu.device, pool, 2, handles));
        else
            assert_success(vk->vkResetDescriptorPool(gpu.device, pool, 0));
    }
    for (int i = 0; i < 2; i++) {
        vk->vkDestroyDescriptorUpdateTemplate(gpu.device, templates[i], NULL);
        gpu_destroy(&gpu, VK_OBJECT_TYPE_PIPELINE_LAYOUT, (uint64_t)layouts[i]);
        gpu_destroy(&gpu, VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT, (uint64_t)sets[i]);
    }
    vk->vkDestroySampler(gpu.device, sampler, NULL);
    vk->vkDestroyDescriptorPool(gpu.device, pool, NULL);
    gpu_destroy_module(&gpu, module);
    gpu_close(&gpu);
}
