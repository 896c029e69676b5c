/* SPDX-License-Identifier: MIT */
/* Vulkan as tests use it: the objects that most of them make. */
#include "support/vulkan.h"
#include "support/infos.h"

/* ------------------------------------------------------------------------------- Environment -- */

void environment_set(struct environment *saved, const char *text)
{
    char copy[512];
    saved->count = 0;
    assert_in_range(snprintf(copy, sizeof(copy), "%s", text ? text : ""), 0, sizeof(copy) - 1);
    char *rest = copy;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *value = strchr(word, '=');
        assert_true(value && saved->count < ENVIRONMENT_MAX);
        *value++ = '\0';
        char *name = saved->variables[saved->count].name;
        snprintf(name, sizeof(saved->variables->name), "%s%s",
                 strncmp(word, "VK_", 3) == 0 ? "" : "BELFRY_ICD_", word);
        const char *before = getenv(name);
        saved->variables[saved->count++].before = before ? strdup(before) : NULL;
        setenv(name, value, 1);
    }
}

void environment_restore(struct environment *saved)
{
    while (saved->count) {
        saved->count--;
        char *before = saved->variables[saved->count].before;
        if (before)
            setenv(saved->variables[saved->count].name, before, 1);
        else
            unsetenv(saved->variables[saved->count].name);
        free(before);
    }
}

/* --------------------------------------------------------------------- Instances and devices -- */

static bool is_listed(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

bool vulkan_has_instance_extension(const char *name)
{
    VkExtensionProperties list[64];
    uint32_t n = 64;
    vkEnumerateInstanceExtensionProperties(NULL, &n, list);
    return is_listed(list, n, name);
}

VkResult vulkan_device_extensions(VkPhysicalDevice physical, const char *const *wanted,
                                  uint32_t count, const char **names, uint32_t *found)
{
    VkExtensionProperties list[256];
    uint32_t n = 256;
    *found = 0;
    VkResult result = vkEnumerateDeviceExtensionProperties(physical, NULL, &n, list);
    for (uint32_t i = 0; result >= 0 && i < count; i++)
        if (is_listed(list, n, wanted[i]))
            names[(*found)++] = wanted[i];
    return result;
}

bool vulkan_has_device_extension(VkPhysicalDevice physical, const char *name)
{
    const char *names[1];
    uint32_t found;
    assert_true(vulkan_device_extensions(physical, &name, 1, names, &found) >= 0);
    return found == 1;
}

static VkBool32 VKAPI_CALL message_seen(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                        VkDebugUtilsMessageTypeFlagsEXT types,
                                        const VkDebugUtilsMessengerCallbackDataEXT *data,
                                        void *user)
{
    fprintf(stderr, "validation: %s\n", data->pMessage);
    __atomic_fetch_add((uint32_t *)user, 1, __ATOMIC_RELAXED);
    return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT vulkan_messenger(uint32_t *messages)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        VK_TYPE(DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT),
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = message_seen, .pUserData = messages};
}

struct belfry_icd_counters vulkan_counters(const struct belfry_icd_control *icd)
{
    struct belfry_icd_counters counters;
    icd->get_counters(&counters);
    return counters;
}

void vulkan_expect(const struct belfry_icd_control *icd, enum belfry_icd_violation kind, uint64_t n)
{
    struct belfry_icd_counters counters = vulkan_counters(icd);
    for (int i = 0; i < BELFRY_ICD_VIOLATION_COUNT; i++) {
        uint64_t wanted = i == (int)kind ? n : 0;
        if (counters.violations[i] != wanted)
            fail_msg("%s: %llu counted, %llu expected",
                     icd->violation_name((enum belfry_icd_violation)i),
                     (unsigned long long)counters.violations[i], (unsigned long long)wanted);
    }
    icd->reset_counters();
}

/* ---------------------------------------------------------------------------- Memory, images -- */

VkDeviceMemory vulkan_memory(VkPhysicalDevice physical, VkDevice device,
                             const VkMemoryRequirements *needs, VkMemoryPropertyFlags wanted,
                             const void *next)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    uint32_t type = 0;
    while (!(needs->memoryTypeBits >> type & 1) ||
           (memory.memoryTypes[type].propertyFlags & wanted) != wanted)
        assert_true(++type < memory.memoryTypeCount);
    const VkMemoryAllocateInfo info = {VK_TYPE(MEMORY_ALLOCATE_INFO), .pNext = next,
                                       .allocationSize = needs->size, .memoryTypeIndex = type};
    VkDeviceMemory result;
    assert_success(vkAllocateMemory(device, &info, NULL, &result));
    return result;
}

VkBuffer vulkan_buffer(VkPhysicalDevice physical, VkDevice device, const VkBufferCreateInfo *info,
                       VkDeviceMemory *memory, void **mapped)
{
    VkBuffer buffer;
    VkMemoryRequirements needs;
    assert_success(vkCreateBuffer(device, info, NULL, &buffer));
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    const VkMemoryAllocateFlagsInfo addressed = {VK_TYPE(MEMORY_ALLOCATE_FLAGS_INFO),
                                                 .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    *memory = vulkan_memory(
        physical, device, &needs,
        mapped ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT : 0,
        info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT ? &addressed : NULL);
    assert_success(vkBindBufferMemory(device, buffer, *memory, 0));
    if (mapped)
        assert_success(vkMapMemory(device, *memory, 0, VK_WHOLE_SIZE, 0, mapped));
    return buffer;
}

VkBuffer vulkan_buffer_of(VkPhysicalDevice physical, VkDevice device, VkDeviceSize size,
                          VkBufferUsageFlags usage, VkDeviceMemory *memory, void **mapped)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = size, .usage = usage};
    return vulkan_buffer(physical, device, &info, memory, mapped);
}

VkImage vulkan_image(VkPhysicalDevice physical, VkDevice device, VkFormat format, uint32_t side,
                     VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkDeviceMemory *memory,
                     VkImageView *view)
{
    const VkImageCreateInfo info = {VK_TYPE(IMAGE_CREATE_INFO),
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {side, side, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = samples,
                                    .usage = usage};
    VkImage image;
    VkMemoryRequirements needs;
    assert_success(vkCreateImage(device, &info, NULL, &image));
    vkGetImageMemoryRequirements(device, image, &needs);
    *memory = vulkan_memory(physical, device, &needs, 0, NULL);
    assert_success(vkBindImageMemory(device, image, *memory, 0));
    const VkImageViewCreateInfo view_info = {
        VK_TYPE(IMAGE_VIEW_CREATE_INFO),
        .image = image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
                                 ? VK_IMAGE_ASPECT_DEPTH_BIT
                                 : VK_IMAGE_ASPECT_COLOR_BIT,
                             0, 1, 0, 1},
    };
    assert_success(vkCreateImageView(device, &view_info, NULL, view));
    return image;
}

/* ------------------------------------------------------------------------ Shaders, pipelines -- */

VkShaderModule vulkan_module(VkDevice device, const uint32_t *words, size_t size)
{
    const VkShaderModuleCreateInfo info = {VK_TYPE(SHADER_MODULE_CREATE_INFO), .codeSize = size,
                                           .pCode = words};
    VkShaderModule module;
    assert_success(vkCreateShaderModule(device, &info, NULL, &module));
    return module;
}

#define BINDINGS_MAX 8

VkDescriptorSetLayout vulkan_set_layout(VkDevice device, uint32_t count,
                                        const VkDescriptorType *types, VkShaderStageFlags stages)
{
    VkDescriptorSetLayoutBinding bindings[BINDINGS_MAX];
    assert_true(count <= BINDINGS_MAX);
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, types[i], 1, stages, NULL};
    const VkDescriptorSetLayoutCreateInfo info = {VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
                                                  .bindingCount = count, .pBindings = bindings};
    VkDescriptorSetLayout layout;
    assert_success(vkCreateDescriptorSetLayout(device, &info, NULL, &layout));
    return layout;
}

VkPipelineLayout vulkan_layout(VkDevice device, VkDescriptorSetLayout set,
                               VkShaderStageFlags stages, uint32_t push_size)
{
    const VkPushConstantRange range = {stages, 0, push_size};
    const VkPipelineLayoutCreateInfo info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO), .setLayoutCount = 1, .pSetLayouts = &set,
        .pushConstantRangeCount = 1, .pPushConstantRanges = &range};
    VkPipelineLayout layout;
    assert_success(vkCreatePipelineLayout(device, &info, NULL, &layout));
    return layout;
}

VkDescriptorSet vulkan_set(VkDevice device, VkDescriptorSetLayout layout, uint32_t count,
                           const VkDescriptorType *types, VkDescriptorPool *pool)
{
    VkDescriptorPoolSize sizes[BINDINGS_MAX];
    assert_true(count <= BINDINGS_MAX);
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = (VkDescriptorPoolSize){types[i], 1};
    const VkDescriptorPoolCreateInfo pool_info = {VK_TYPE(DESCRIPTOR_POOL_CREATE_INFO),
                                                  .maxSets = 1, .poolSizeCount = count,
                                                  .pPoolSizes = sizes};
    assert_success(vkCreateDescriptorPool(device, &pool_info, NULL, pool));
    const VkDescriptorSetAllocateInfo info = {VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO),
                                              .descriptorPool = *pool, .descriptorSetCount = 1,
                                              .pSetLayouts = &layout};
    VkDescriptorSet set;
    assert_success(vkAllocateDescriptorSets(device, &info, &set));
    return set;
}

void vulkan_set_buffer(VkDevice device, VkDescriptorSet set, VkBuffer buffer)
{
    const VkDescriptorBufferInfo info = {buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write =
        info_write(set, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, NULL, &info);
    vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
}

VkResult vulkan_compute(VkDevice device, VkPipelineLayout layout, const uint32_t *words,
                        size_t size, VkPipeline *pipeline)
{
    const VkComputePipelineCreateInfo info =
        info_compute(vulkan_module(device, words, size), layout, NULL);
    VkResult result = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
    vkDestroyShaderModule(device, info.stage.module, NULL);
    return result;
}

VkResult vulkan_graphics(VkDevice device, const struct vulkan_graphics *what, VkPipeline *pipeline)
{
    struct info_graphics g;
    info_graphics(&g, what->side, vulkan_module(device, what->vertex, what->vertex_size),
                  vulkan_module(device, what->fragment, what->fragment_size), what->layout,
                  what->pass, 1, NULL);
    if (what->samples)
        g.samples.rasterizationSamples = what->samples;
    g.info.subpass = what->subpass;
    VkResult result = vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &g.info, NULL, pipeline);
    for (int i = 0; i < 2; i++)
        vkDestroyShaderModule(device, g.stages[i].module, NULL);
    return result;
}

/* --------------------------------------------------------------------------- Synchronization -- */

VkSemaphore vulkan_timeline(VkDevice device, uint64_t value)
{
    const VkSemaphoreTypeCreateInfo type = {VK_TYPE(SEMAPHORE_TYPE_CREATE_INFO),
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                            .initialValue = value};
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO), .pNext = &type};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(device, &info, NULL, &semaphore));
    return semaphore;
}

VkSemaphore vulkan_binary(VkDevice device)
{
    const VkSemaphoreCreateInfo info = {VK_TYPE(SEMAPHORE_CREATE_INFO)};
    VkSemaphore semaphore;
    assert_success(vkCreateSemaphore(device, &info, NULL, &semaphore));
    return semaphore;
}

VkFence vulkan_fence(VkDevice device, bool signalled)
{
    const VkFenceCreateInfo info = {VK_TYPE(FENCE_CREATE_INFO),
                                    .flags = signalled ? VK_FENCE_CREATE_SIGNALED_BIT : 0};
    VkFence fence;
    assert_success(vkCreateFence(device, &info, NULL, &fence));
    return fence;
}

uint64_t vulkan_value(VkDevice device, VkSemaphore semaphore)
{
    uint64_t value;
    assert_success(vkGetSemaphoreCounterValue(device, semaphore, &value));
    return value;
}

void vulkan_signal(VkDevice device, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreSignalInfo info = {VK_TYPE(SEMAPHORE_SIGNAL_INFO), .semaphore = semaphore,
                                        .value = value};
    assert_success(vkSignalSemaphore(device, &info));
}

void vulkan_wait(VkDevice device, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {VK_TYPE(SEMAPHORE_WAIT_INFO), .semaphoreCount = 1,
                                      .pSemaphores = &semaphore, .pValues = &value};
    assert_success(vkWaitSemaphores(device, &info, UINT64_MAX));
}

/* --------------------------------------------------------------------- Commands, submissions -- */

VkCommandPool vulkan_pool(VkDevice device, uint32_t family)
{
    const VkCommandPoolCreateInfo info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = family};
    VkCommandPool pool;
    assert_success(vkCreateCommandPool(device, &info, NULL, &pool));
    return pool;
}

VkCommandBuffer vulkan_commands(VkDevice device, VkCommandPool pool, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                              .commandPool = pool, .level = level,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands;
    assert_success(vkAllocateCommandBuffers(device, &info, &commands));
    return commands;
}

VkCommandBuffer vulkan_begin(VkDevice device, VkCommandPool pool, VkCommandBufferLevel level,
                             VkCommandBufferUsageFlags usage)
{
    const VkCommandBufferInheritanceInfo inheritance = {VK_TYPE(COMMAND_BUFFER_INHERITANCE_INFO)};
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO), .flags = usage,
                                            .pInheritanceInfo = &inheritance};
    VkCommandBuffer commands = vulkan_commands(device, pool, level);
    assert_success(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

void vulkan_destroy_objects(VkDevice device, const struct vulkan_object *o)
{
    for (; o->type; o++)
        switch (o->type) {
#define DESTROY(KIND, Kind)                                                                        \
    case VK_OBJECT_TYPE_##KIND:                                                                    \
        vkDestroy##Kind(device, (Vk##Kind)o->handle, NULL);                                        \
        break
            DESTROY(SEMAPHORE, Semaphore);
            DESTROY(FENCE, Fence);
            DESTROY(EVENT, Event);
            DESTROY(BUFFER, Buffer);
            DESTROY(IMAGE, Image);
            DESTROY(QUERY_POOL, QueryPool);
            DESTROY(COMMAND_POOL, CommandPool);
            DESTROY(SWAPCHAIN_KHR, SwapchainKHR);
            DESTROY(PIPELINE, Pipeline);
            DESTROY(PIPELINE_LAYOUT, PipelineLayout);
            DESTROY(SHADER_MODULE, ShaderModule);
        case VK_OBJECT_TYPE_DEVICE_MEMORY:
            vkFreeMemory(device, (VkDeviceMemory)o->handle, NULL);
            break;
        default:
            fail();
        }
}

VkResult vulkan_submit(VkQueue queue, struct vulkan_batch b)
{
    struct {
        VkSubmitInfo2 info;
        VkSemaphoreSubmitInfo wait, signal;
        VkCommandBufferSubmitInfo commands;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    m->wait = (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.wait,
                                      .value = b.wait_value,
                                      .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    m->signal = (VkSemaphoreSubmitInfo){VK_TYPE(SEMAPHORE_SUBMIT_INFO), .semaphore = b.signal,
                                        .value = b.signal_value,
                                        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    m->commands = (VkCommandBufferSubmitInfo){VK_TYPE(COMMAND_BUFFER_SUBMIT_INFO),
                                              .commandBuffer = b.commands};
    m->info = (VkSubmitInfo2){VK_TYPE(SUBMIT_INFO_2),
                              .waitSemaphoreInfoCount = b.wait ? 1 : 0,
                              .pWaitSemaphoreInfos = &m->wait,
                              .commandBufferInfoCount = b.commands ? 1 : 0,
                              .pCommandBufferInfos = &m->commands,
                              .signalSemaphoreInfoCount = b.signal ? 1 : 0,
                              .pSignalSemaphoreInfos = &m->signal};
    VkResult result = vkQueueSubmit2(queue, 1, &m->info, b.fence);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}

VkResult vulkan_submit1(VkQueue queue, struct vulkan_batch b)
{
    struct {
        VkSubmitInfo info;
        VkTimelineSemaphoreSubmitInfo values;
        VkPipelineStageFlags stage;
        struct vulkan_batch batch;
    } *m = malloc(sizeof(*m));
    assert_non_null(m);
    m->batch = b;
    m->stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    m->values = (VkTimelineSemaphoreSubmitInfo){
        VK_TYPE(TIMELINE_SEMAPHORE_SUBMIT_INFO), .waitSemaphoreValueCount = b.wait ? 1 : 0,
        .pWaitSemaphoreValues = &m->batch.wait_value, .signalSemaphoreValueCount = b.signal ? 1 : 0,
        .pSignalSemaphoreValues = &m->batch.signal_value};
    m->info = (VkSubmitInfo){VK_TYPE(SUBMIT_INFO),
                             .pNext = &m->values,
                             .waitSemaphoreCount = b.wait ? 1 : 0,
                             .pWaitSemaphores = &m->batch.wait,
                             .pWaitDstStageMask = &m->stage,
                             .commandBufferCount = b.commands ? 1 : 0,
                             .pCommandBuffers = &m->batch.commands,
                             .signalSemaphoreCount = b.signal ? 1 : 0,
                             .pSignalSemaphores = &m->batch.signal};
    VkResult result = vkQueueSubmit(queue, 1, &m->info, b.fence);
    memset(m, 0xdd, sizeof(*m));
    free(m);
    return result;
}

void vulkan_run(VkDevice device, VkQueue queue, VkCommandBuffer commands, VkFence fence)
{
    const VkSubmitInfo info = info_submit(&commands);
    assert_success(vkQueueSubmit(queue, 1, &info, fence));
    assert_success(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
    assert_success(vkResetFences(device, 1, &fence));
}
