#include "icd_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shaders/full.vert.h"
#include "shaders/paint.frag.h"
#include "shaders/store.comp.h"

#define SIZE 16

static char cache[64];

int program_setup(void **state)
{
    (void)state;
    snprintf(cache, sizeof(cache), "/tmp/belfry-icd-program-XXXXXX");
    if (!mkdtemp(cache))
        return -1;
    setenv("VK_BELFRY_MULTI_ENGINE_SPECIALIZE", "exact", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_DEVELOPER_MODE", "on", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_REPORT", "on", 1);
    setenv("VK_BELFRY_MULTI_ENGINE_CACHE", cache, 1);
    return 0;
}

int program_teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", cache);
    return system(command);
}

/* -------------------------------------------------------------------------------------- Opening --
 */

static uint32_t memory_type(uint32_t bits)
{
    uint32_t type = 0;
    while (!(bits >> type & 1))
        type++;
    return type;
}

static void make_image(struct program *p)
{
    VkDevice device = p->f.device;
    const VkImageCreateInfo image = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = VK_FORMAT_R32_UINT,
        .extent = {SIZE, SIZE, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    assert_success(vkCreateImage(device, &image, NULL, &p->image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, p->image, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = memory_type(needs.memoryTypeBits)};
    assert_success(vkAllocateMemory(device, &memory, NULL, &p->memory));
    assert_success(vkBindImageMemory(device, p->image, p->memory, 0));
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = p->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = image.format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    assert_success(vkCreateImageView(device, &view, NULL, &p->view));
}

static void make_buffer(struct program *p)
{
    VkDevice device = p->f.device;
    const VkBufferCreateInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = 1024,
        .usage = VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
    };
    assert_success(vkCreateBuffer(device, &buffer, NULL, &p->buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, p->buffer, &needs);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = memory_type(needs.memoryTypeBits)};
    assert_success(vkAllocateMemory(device, &memory, NULL, &p->buffer_memory));
    assert_success(vkBindBufferMemory(device, p->buffer, p->buffer_memory, 0));
    const VkBufferViewCreateInfo texels = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = p->buffer,
        .format = VK_FORMAT_R32_UINT,
        .range = 512,
    };
    assert_success(vkCreateBufferView(device, &texels, NULL, &p->texels));
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    assert_success(vkCreateSampler(device, &sampler, NULL, &p->sampler));
}

#define BINDINGS 4
static const VkDescriptorType types[BINDINGS] = {
    VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
    VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER};

static void make_layouts(struct program *p)
{
    VkDevice device = p->f.device;
    VkDescriptorSetLayoutBinding bindings[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++)
        bindings[i] =
            (VkDescriptorSetLayoutBinding){i, types[i], 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = BINDINGS,
        .pBindings = bindings,
    };
    assert_success(vkCreateDescriptorSetLayout(device, &sets, NULL, &p->set_layout));
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT,
                                       0, sizeof(struct program_push)};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &p->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    assert_success(vkCreatePipelineLayout(device, &layout, NULL, &p->layout));
}

static void make_set(struct program *p)
{
    VkDevice device = p->f.device;
    VkDescriptorPoolSize sizes[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++)
        sizes[i] = (VkDescriptorPoolSize){types[i], 1};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = 1,
        .poolSizeCount = BINDINGS,
        .pPoolSizes = sizes,
    };
    assert_success(vkCreateDescriptorPool(device, &pool, NULL, &p->descriptors));
    const VkDescriptorSetAllocateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = p->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &p->set_layout,
    };
    assert_success(vkAllocateDescriptorSets(device, &set, &p->set));
    const VkDescriptorImageInfo image = {p->sampler, p->view, VK_IMAGE_LAYOUT_GENERAL};
    const VkDescriptorBufferInfo block = {p->buffer, 512, 256};
    VkWriteDescriptorSet writes[BINDINGS];
    for (uint32_t i = 0; i < BINDINGS; i++)
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = p->set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = types[i],
            .pImageInfo = &image,
            .pTexelBufferView = &p->texels,
            .pBufferInfo = &block,
        };
    vkUpdateDescriptorSets(device, BINDINGS, writes, 0, NULL);
}

static void make_pass(struct program *p)
{
    const VkAttachmentDescription color = {
        .format = VK_FORMAT_R32_UINT,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .finalLayout = VK_IMAGE_LAYOUT_GENERAL,
    };
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo pass = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &color,
        .subpassCount = 1,
        .pSubpasses = &subpass,
    };
    assert_success(vkCreateRenderPass(p->f.device, &pass, NULL, &p->pass));
    const VkFramebufferCreateInfo framebuffer = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = p->pass,
        .attachmentCount = 1,
        .pAttachments = &p->view,
        .width = SIZE,
        .height = SIZE,
        .layers = 1,
    };
    assert_success(vkCreateFramebuffer(p->f.device, &framebuffer, NULL, &p->framebuffer));
}

void program_open(struct program *p, const char *environment)
{
    program_open_with(p, environment, NULL);
}

void program_open_with(struct program *p, const char *environment, const char *const *extensions)
{
    const struct fixture_options options = {
        .environment = environment, .extensions = extensions, .family = UINT32_MAX};
    *p = (struct program){0};
    fixture_open(&p->f, &options);
    assert_true(p->f.layered && p->f.icd.library);
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    while ((p->f.families[p->family].queueFlags & wanted) != wanted)
        assert_true(++p->family < p->f.family_count);
    p->queue = p->f.queues[p->family][0];
    make_image(p);
    make_buffer(p);
    make_layouts(p);
    make_set(p);
    make_pass(p);
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_success(vkCreateFence(p->f.device, &fence, NULL, &p->fence));
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = p->family,
    };
    assert_success(vkCreateCommandPool(p->f.device, &pool, NULL, &p->pool));
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = p->pool,
        .commandBufferCount = 1,
    };
    assert_success(vkAllocateCommandBuffers(p->f.device, &commands, &p->commands));
}

char *program_close(struct program *p)
{
    VkDevice device = p->f.device;
    if (!p->f.lost)
        assert_success(vkDeviceWaitIdle(device));
    else
        p->f.icd.quiesce();
    vkDestroyCommandPool(device, p->pool, NULL);
    vkDestroyFence(device, p->fence, NULL);
    vkDestroyFramebuffer(device, p->framebuffer, NULL);
    vkDestroyRenderPass(device, p->pass, NULL);
    vkDestroyDescriptorPool(device, p->descriptors, NULL);
    vkDestroyPipelineLayout(device, p->layout, NULL);
    vkDestroyDescriptorSetLayout(device, p->set_layout, NULL);
    vkDestroySampler(device, p->sampler, NULL);
    vkDestroyBufferView(device, p->texels, NULL);
    vkDestroyBuffer(device, p->buffer, NULL);
    vkFreeMemory(device, p->buffer_memory, NULL);
    vkDestroyImageView(device, p->view, NULL);
    vkDestroyImage(device, p->image, NULL);
    vkFreeMemory(device, p->memory, NULL);
    fflush(stderr);
    int before = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    fixture_close(&p->f);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *report = calloc(1, size + 1);
    assert_non_null(report);
    rewind(file);
    assert_int_equal(fread(report, 1, size, file), size);
    fclose(file);
    return report;
}

/* ------------------------------------------------------------------------------------ Pipelines --
 */

static VkShaderModule make_module(struct program *p, const uint32_t *words, size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    assert_success(vkCreateShaderModule(p->f.device, &info, NULL, &module));
    return module;
}

static VkResult make_compute(struct program *p, VkPipeline *pipeline)
{
    VkShaderModule module = make_module(p, store_comp, sizeof(store_comp));
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = p->layout,
    };
    VkResult result =
        vkCreateComputePipelines(p->f.device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    vkDestroyShaderModule(p->f.device, module, NULL);
    return result;
}

static VkResult make_graphics(struct program *p, VkPipeline *pipeline)
{
    VkShaderModule vertex = make_module(p, full_vert, sizeof(full_vert));
    VkShaderModule fragment = make_module(p, paint_frag, sizeof(paint_frag));
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"},
    };
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, SIZE, SIZE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {SIZE, SIZE}};
    const VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 15};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertices,
        .pInputAssemblyState = &assembly,
        .pViewportState = &view,
        .pRasterizationState = &raster,
        .pMultisampleState = &samples,
        .pColorBlendState = &blend,
        .layout = p->layout,
        .renderPass = p->pass,
    };
    VkResult result =
        vkCreateGraphicsPipelines(p->f.device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    vkDestroyShaderModule(p->f.device, vertex, NULL);
    vkDestroyShaderModule(p->f.device, fragment, NULL);
    return result;
}

VkResult program_make(struct program *p, bool draws, const char *name, VkPipeline *pipeline)
{
    VkResult result = draws ? make_graphics(p, pipeline) : make_compute(p, pipeline);
    if (result != VK_SUCCESS)
        return result;
    const VkDebugUtilsObjectNameInfoEXT named = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = VK_OBJECT_TYPE_PIPELINE,
        .objectHandle = (uint64_t)*pipeline,
        .pObjectName = name,
    };
    assert_success(vkSetDebugUtilsObjectNameEXT(p->f.device, &named));
    return result;
}

VkPipeline program_pipeline(struct program *p, bool draws, const char *name)
{
    VkPipeline pipeline;
    assert_success(program_make(p, draws, name, &pipeline));
    return pipeline;
}

void program_destroy(struct program *p, VkPipeline pipeline)
{
    /* What recorded it, or a variant of it, is gone with it. */
    assert_success(vkResetCommandBuffer(p->commands, 0));
    vkDestroyPipeline(p->f.device, pipeline, NULL);
}

/* --------------------------------------------------------------------------------------- Frames --
 */

void program_record(struct program *p, bool draws, VkPipeline pipeline, struct program_push push)
{
    VkCommandBuffer c = p->commands;
    const VkPipelineBindPoint point =
        draws ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    assert_success(vkBeginCommandBuffer(c, &begin));
    put_word(&p->f, c, 0, ++p->frames);
    vkCmdBindPipeline(c, point, pipeline);
    vkCmdBindDescriptorSets(c, point, p->layout, 0, 1, &p->set, 0, NULL);
    vkCmdPushConstants(c, p->layout, VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof(push), &push);
    if (draws) {
        const VkClearValue clear = {0};
        const VkRenderPassBeginInfo pass = {
            .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
            .renderPass = p->pass,
            .framebuffer = p->framebuffer,
            .renderArea = {{0, 0}, {SIZE, SIZE}},
            .clearValueCount = 1,
            .pClearValues = &clear,
        };
        vkCmdBeginRenderPass(c, &pass, VK_SUBPASS_CONTENTS_INLINE);
        vkCmdDraw(c, 3, 1, 0, 0);
        vkCmdEndRenderPass(c);
    } else {
        vkCmdDispatch(c, SIZE / 8, SIZE / 8, 1);
    }
    assert_success(vkEndCommandBuffer(c));
}

VkResult program_submit(struct program *p)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &p->commands};
    return vkQueueSubmit(p->queue, 1, &submit, p->fence);
}

void program_frame(struct program *p, bool draws, VkPipeline pipeline, struct program_push push)
{
    program_record(p, draws, pipeline, push);
    assert_success(program_submit(p));
    assert_success(vkWaitForFences(p->f.device, 1, &p->fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(p->f.device, 1, &p->fence));
    assert_int_equal(read_word(&p->f, 0), p->frames);
}

void program_commit(struct program *p)
{
    BfEvent event = make_event(&p->f);
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_ALLOWED,
        BF_MEASUREMENTS_ACTION_COMMIT_RESULTS_HIGH_PRIORITY, event, NULL));
    await_event(event);
    drop_event(&p->f, event);
}

void program_freeze(struct program *p)
{
    assert_success(bfSetBackgroundProcessingMode(
        p->f.bf, BF_BACKGROUND_PROCESSING_MODE_DISABLE_PROFILING_BY_SYSTEM,
        BF_MEASUREMENTS_ACTION_KEEP_ALL, NULL, NULL));
}

char *program_line(const char *report, const char *name)
{
    char wanted[128];
    snprintf(wanted, sizeof(wanted), "belfry: specialize: %s ", name);
    const char *at = strstr(report, wanted);
    return at ? strndup(at, strcspn(at, "\n")) : NULL;
}
