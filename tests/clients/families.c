/* SPDX-License-Identifier: MIT */
/* A Vulkan 1.1 program that wants the families many GPUs have: one for compute without graphics,
 * one for copies alone. It computes on the one, hands the result over to the other, and looks
 * whether it is right. Where there are no such families it says so and exits with 77.
 *
 *   families [--hazard]   --hazard leaves out the barrier between a fill and a dispatch */
#include "../support/std.h"

#include <volk.h>

#include "shaders/squares.comp.h"
#include "../support/type.h"

#define NUMBERS 65536u
#define SIZE    (NUMBERS * sizeof(uint32_t))

#define CHECK(call)                                                                                \
    do {                                                                                           \
        VkResult check = (call);                                                                   \
        if (check != VK_SUCCESS) {                                                                 \
            fprintf(stderr, "families: line %d: %s gives %d\n", __LINE__, #call, check);           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct program {
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    uint32_t compute_family, copy_family;
    VkQueue compute, copy;
    VkBuffer numbers, result;
    VkDeviceMemory numbers_memory, result_memory;
    const uint32_t *mapped;
};

static uint32_t family_find(const VkQueueFamilyProperties *families, uint32_t count,
                            VkQueueFlags wanted, VkQueueFlags unwanted)
{
    for (uint32_t i = 0; i < count; i++)
        if ((families[i].queueFlags & wanted) == wanted && !(families[i].queueFlags & unwanted))
            return i;
    return VK_QUEUE_FAMILY_IGNORED;
}

/* Any GPU will do that has both families. */
static bool gpu_find(struct program *p)
{
    VkPhysicalDevice gpus[16];
    uint32_t gpu_count = 16;
    VkResult result = vkEnumeratePhysicalDevices(p->instance, &gpu_count, gpus);
    if (result != VK_INCOMPLETE)
        CHECK(result);
    for (uint32_t i = 0; i < gpu_count; i++) {
        VkQueueFamilyProperties families[32] = {0};
        uint32_t count = 32;
        vkGetPhysicalDeviceQueueFamilyProperties(gpus[i], &count, families);
        p->gpu = gpus[i];
        p->compute_family =
            family_find(families, count, VK_QUEUE_COMPUTE_BIT, VK_QUEUE_GRAPHICS_BIT);
        p->copy_family = family_find(families, count, VK_QUEUE_TRANSFER_BIT,
                                     VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
        if (p->compute_family != VK_QUEUE_FAMILY_IGNORED &&
            p->copy_family != VK_QUEUE_FAMILY_IGNORED)
            return true;
    }
    return false;
}

static void device_create(struct program *p)
{
    const float priority = 1;
    VkDeviceQueueCreateInfo queues[2];
    for (uint32_t i = 0; i < 2; i++) {
        queues[i] =
            (VkDeviceQueueCreateInfo){VK_TYPE(DEVICE_QUEUE_CREATE_INFO),
                                      .queueFamilyIndex = i ? p->copy_family : p->compute_family,
                                      .queueCount = 1, .pQueuePriorities = &priority};
    }
    const VkDeviceCreateInfo info = {VK_TYPE(DEVICE_CREATE_INFO), .queueCreateInfoCount = 2,
                                     .pQueueCreateInfos = queues};
    CHECK(vkCreateDevice(p->gpu, &info, NULL, &p->device));
    volkLoadDevice(p->device);
    vkGetDeviceQueue(p->device, p->compute_family, 0, &p->compute);
    vkGetDeviceQueue(p->device, p->copy_family, 0, &p->copy);
}

static void buffer_create(struct program *p, VkBufferUsageFlags usage, VkMemoryPropertyFlags wanted,
                          VkBuffer *buffer, VkDeviceMemory *memory)
{
    const VkBufferCreateInfo info = {VK_TYPE(BUFFER_CREATE_INFO), .size = SIZE, .usage = usage,
                                     .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
    CHECK(vkCreateBuffer(p->device, &info, NULL, buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(p->device, *buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(p->gpu, &types);
    uint32_t type = 0;
    while (type < types.memoryTypeCount &&
           (!(needs.memoryTypeBits >> type & 1) ||
            (types.memoryTypes[type].propertyFlags & wanted) != wanted))
        type++;
    const VkMemoryAllocateInfo allocation = {VK_TYPE(MEMORY_ALLOCATE_INFO),
                                             .allocationSize = needs.size, .memoryTypeIndex = type};
    CHECK(vkAllocateMemory(p->device, &allocation, NULL, memory));
    CHECK(vkBindBufferMemory(p->device, *buffer, *memory, 0));
}

struct pipeline {
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool descriptors;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
};

static void pipeline_create(struct program *p, struct pipeline *pipeline)
{
    const VkDescriptorSetLayoutCreateInfo set_info = {
        VK_TYPE(DESCRIPTOR_SET_LAYOUT_CREATE_INFO),
        .bindingCount = 1,
        .pBindings =
            &(VkDescriptorSetLayoutBinding){.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT},
    };
    CHECK(vkCreateDescriptorSetLayout(p->device, &set_info, NULL, &pipeline->set_layout));
    const VkDescriptorPoolCreateInfo pool_info = {
        VK_TYPE(DESCRIPTOR_POOL_CREATE_INFO),
        .maxSets = 1,
        .poolSizeCount = 1,
        .pPoolSizes = &(VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1},
    };
    CHECK(vkCreateDescriptorPool(p->device, &pool_info, NULL, &pipeline->descriptors));
    const VkDescriptorSetAllocateInfo allocation = {
        VK_TYPE(DESCRIPTOR_SET_ALLOCATE_INFO), .descriptorPool = pipeline->descriptors,
        .descriptorSetCount = 1, .pSetLayouts = &pipeline->set_layout};
    CHECK(vkAllocateDescriptorSets(p->device, &allocation, &pipeline->set));
    const VkWriteDescriptorSet write = {
        VK_TYPE(WRITE_DESCRIPTOR_SET),
        .dstSet = pipeline->set,
        .descriptorCount = 1,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = &(VkDescriptorBufferInfo){p->numbers, 0, VK_WHOLE_SIZE},
    };
    vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);

    const VkPipelineLayoutCreateInfo layout_info = {
        VK_TYPE(PIPELINE_LAYOUT_CREATE_INFO),
        .setLayoutCount = 1,
        .pSetLayouts = &pipeline->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges =
            &(VkPushConstantRange){VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint32_t)},
    };
    CHECK(vkCreatePipelineLayout(p->device, &layout_info, NULL, &pipeline->layout));
    const VkShaderModuleCreateInfo module_info = {VK_TYPE(SHADER_MODULE_CREATE_INFO),
                                                  .codeSize = sizeof(squares_comp),
                                                  .pCode = squares_comp};
    VkShaderModule module;
    CHECK(vkCreateShaderModule(p->device, &module_info, NULL, &module));
    const VkComputePipelineCreateInfo info = {VK_TYPE(COMPUTE_PIPELINE_CREATE_INFO),
                                              .stage = {VK_TYPE(PIPELINE_SHADER_STAGE_CREATE_INFO),
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = module, .pName = "main"},
                                              .layout = pipeline->layout};
    CHECK(vkCreateComputePipelines(p->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline->pipeline));
    vkDestroyShaderModule(p->device, module, NULL);
}

static void pipeline_destroy(struct program *p, struct pipeline *pipeline)
{
    vkDestroyPipeline(p->device, pipeline->pipeline, NULL);
    vkDestroyPipelineLayout(p->device, pipeline->layout, NULL);
    vkDestroyDescriptorPool(p->device, pipeline->descriptors, NULL);
    vkDestroyDescriptorSetLayout(p->device, pipeline->set_layout, NULL);
}

static VkCommandBuffer commands_begin(struct program *p, uint32_t family, VkCommandPool *pool)
{
    const VkCommandPoolCreateInfo pool_info = {VK_TYPE(COMMAND_POOL_CREATE_INFO),
                                               .queueFamilyIndex = family};
    CHECK(vkCreateCommandPool(p->device, &pool_info, NULL, pool));
    const VkCommandBufferAllocateInfo allocation = {
        VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = *pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY, .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(p->device, &allocation, &commands));
    const VkCommandBufferBeginInfo begin = {VK_TYPE(COMMAND_BUFFER_BEGIN_INFO),
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

static void barrier(struct program *p, VkCommandBuffer commands, VkBuffer buffer,
                    VkPipelineStageFlags from_stage, VkAccessFlags from,
                    VkPipelineStageFlags to_stage, VkAccessFlags to, bool between_families)
{
    const VkBufferMemoryBarrier info = {
        VK_TYPE(BUFFER_MEMORY_BARRIER),
        .srcAccessMask = from,
        .dstAccessMask = to,
        .srcQueueFamilyIndex = between_families ? p->compute_family : VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = between_families ? p->copy_family : VK_QUEUE_FAMILY_IGNORED,
        .buffer = buffer,
        .size = VK_WHOLE_SIZE};
    vkCmdPipelineBarrier(commands, from_stage, to_stage, 0, 0, NULL, 1, &info, 0, NULL);
}

static VkCommandBuffer compute_record(struct program *p, const struct pipeline *pipeline,
                                      bool hazard, VkCommandPool *pool)
{
    VkCommandBuffer commands = commands_begin(p, p->compute_family, pool);
    vkCmdFillBuffer(commands, p->numbers, 0, VK_WHOLE_SIZE, 0xdddddddd);
    if (!hazard)
        barrier(p, commands, p->numbers, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT, false);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                            &pipeline->set, 0, NULL);
    for (uint32_t pass = 0; pass < 2; pass++) {
        if (pass)
            barrier(p, commands, p->numbers, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                    VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT, false);
        vkCmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(pass),
                           &pass);
        vkCmdDispatch(commands, NUMBERS / 64, 1, 1);
    }
    barrier(p, commands, p->numbers, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
            VK_ACCESS_SHADER_WRITE_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0, true);
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

static VkCommandBuffer copy_record(struct program *p, VkCommandPool *pool)
{
    VkCommandBuffer commands = commands_begin(p, p->copy_family, pool);
    barrier(p, commands, p->numbers, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
            VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_READ_BIT, true);
    const VkBufferCopy all = {.size = SIZE};
    vkCmdCopyBuffer(commands, p->numbers, p->result, 1, &all);
    barrier(p, commands, p->result, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
            VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT, false);
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

/* On both queues, one after the other by a semaphore; returns when both are done. */
static void submit(struct program *p, VkCommandBuffer compute, VkCommandBuffer copy)
{
    const VkSemaphoreCreateInfo semaphore_info = {
        VK_TYPE(SEMAPHORE_CREATE_INFO),
    };
    const VkFenceCreateInfo fence_info = {VK_TYPE(FENCE_CREATE_INFO)};
    VkSemaphore computed;
    VkFence copied;
    CHECK(vkCreateSemaphore(p->device, &semaphore_info, NULL, &computed));
    CHECK(vkCreateFence(p->device, &fence_info, NULL, &copied));
    const VkSubmitInfo first = {VK_TYPE(SUBMIT_INFO), .commandBufferCount = 1,
                                .pCommandBuffers = &compute, .signalSemaphoreCount = 1,
                                .pSignalSemaphores = &computed};
    CHECK(vkQueueSubmit(p->compute, 1, &first, VK_NULL_HANDLE));
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkSubmitInfo second = {VK_TYPE(SUBMIT_INFO),         .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &computed, .pWaitDstStageMask = &stage,
                                 .commandBufferCount = 1,      .pCommandBuffers = &copy};
    CHECK(vkQueueSubmit(p->copy, 1, &second, copied));
    CHECK(vkWaitForFences(p->device, 1, &copied, VK_TRUE, UINT64_MAX));
    CHECK(vkDeviceWaitIdle(p->device));
    vkDestroyFence(p->device, copied, NULL);
    vkDestroySemaphore(p->device, computed, NULL);
}

static uint32_t wrong_count(const struct program *p)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < NUMBERS; i++)
        wrong += p->mapped[i] != i * i;
    return wrong;
}

int main(int argc, char **argv)
{
    struct program program = {0}, *p = &program;
    bool hazard = argc == 2 && strcmp(argv[1], "--hazard") == 0;
    if (argc > 2 || (argc == 2 && !hazard)) {
        fprintf(stderr, "families: the one argument there is: --hazard\n");
        return 2;
    }
    if (volkInitialize() != VK_SUCCESS) {
        fprintf(stderr, "families: there is no Vulkan\n");
        return 77;
    }
    const VkInstanceCreateInfo info = {
        VK_TYPE(INSTANCE_CREATE_INFO),
        .pApplicationInfo =
            &(VkApplicationInfo){VK_TYPE(APPLICATION_INFO), .pApplicationName = "families",
                                 .apiVersion = VK_API_VERSION_1_1},
    };
    VkResult result = vkCreateInstance(&info, NULL, &p->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
        fprintf(stderr, "families: there is no driver\n");
        return 77;
    }
    CHECK(result);
    volkLoadInstanceOnly(p->instance);
    if (!gpu_find(p)) {
        fprintf(stderr, "families: no GPU has families for compute and for copies\n");
        vkDestroyInstance(p->instance, NULL);
        return 77;
    }
    device_create(p);
    buffer_create(p,
                  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                      VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                  VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &p->numbers, &p->numbers_memory);
    buffer_create(p, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                  &p->result, &p->result_memory);
    void *mapped;
    CHECK(vkMapMemory(p->device, p->result_memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memset(mapped, 0xee, SIZE);
    p->mapped = mapped;

    struct pipeline pipeline;
    VkCommandPool compute_pool, copy_pool;
    pipeline_create(p, &pipeline);
    VkCommandBuffer compute = compute_record(p, &pipeline, hazard, &compute_pool);
    VkCommandBuffer copy = copy_record(p, &copy_pool);
    submit(p, compute, copy);
    uint32_t wrong = wrong_count(p);
    printf("computed on family %u, copied on family %u: %u of %u numbers are wrong\n",
           p->compute_family, p->copy_family, wrong, NUMBERS);

    vkDestroyCommandPool(p->device, compute_pool, NULL);
    vkDestroyCommandPool(p->device, copy_pool, NULL);
    pipeline_destroy(p, &pipeline);
    vkDestroyBuffer(p->device, p->numbers, NULL);
    vkDestroyBuffer(p->device, p->result, NULL);
    vkFreeMemory(p->device, p->numbers_memory, NULL);
    vkFreeMemory(p->device, p->result_memory, NULL);
    vkDestroyDevice(p->device, NULL);
    vkDestroyInstance(p->instance, NULL);
    return wrong ? 1 : 0;
}
