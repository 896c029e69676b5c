/* SPDX-License-Identifier: MIT */
/* The compute half: simulates particles in a flow. */
#include "simulation.h"

#include "pipeline.h"
#include "report.h"

#include "shaders/simulate.comp.h"

#define GROUP_SIZE 64 /* as in simulate.comp */

struct push {
    uint32_t count;
    uint32_t from, to;
    uint32_t frame;
    uint32_t seed;
    uint32_t warm;
};

VkResult simulation_create(struct simulation *simulation, const struct sample_device *device,
                           uint32_t particles, uint32_t versions, uint32_t seed)
{
    VkDeviceSize size = (VkDeviceSize)particles * versions * SIMULATION_PARTICLE_BYTES;

    simulation->particles = particles;
    simulation->versions = versions;
    simulation->seed = seed;
    if (size > device->properties.limits.maxStorageBufferRange) {
        sample_complain("%u versions of %u particles take %llu bytes; %s has storage buffers of "
                        "at most %u: lower --particles or --compute-latency",
                        versions, particles, (unsigned long long)size,
                        device->properties.deviceName,
                        device->properties.limits.maxStorageBufferRange);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    VkResult result = sample_buffer_create(device, size, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, false,
                                           "particles", &simulation->data);
    if (result < 0)
        return result;
    result = sample_set_layout(device, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                               VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_VERTEX_BIT,
                               &simulation->set_layout);
    if (result < 0)
        return result;

    const VkDescriptorPoolSize pool_size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    result = vkCreateDescriptorPool(device->handle,
                                    &(VkDescriptorPoolCreateInfo){
                                        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                        .maxSets = 1,
                                        .poolSizeCount = 1,
                                        .pPoolSizes = &pool_size,
                                    },
                                    NULL, &simulation->pool);
    if (sample_check(result, "vkCreateDescriptorPool") < 0)
        return result;
    result = vkAllocateDescriptorSets(device->handle,
                                      &(VkDescriptorSetAllocateInfo){
                                          .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                          .descriptorPool = simulation->pool,
                                          .descriptorSetCount = 1,
                                          .pSetLayouts = &simulation->set_layout,
                                      },
                                      &simulation->set);
    if (sample_check(result, "vkAllocateDescriptorSets") < 0)
        return result;
    vkUpdateDescriptorSets(device->handle, 1,
                           &(VkWriteDescriptorSet){
                               .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                               .dstSet = simulation->set,
                               .descriptorCount = 1,
                               .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                               .pBufferInfo =
                                   &(VkDescriptorBufferInfo){
                                       .buffer = simulation->data.handle,
                                       .range = VK_WHOLE_SIZE,
                                   },
                           },
                           0, NULL);

    result = sample_pipeline_layout(device, simulation->set_layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                    sizeof(struct push), &simulation->layout);
    if (result < 0)
        return result;
    return sample_compute_pipeline(device, SAMPLE_SPIRV(simulate_comp), simulation->layout,
                                   "simulate", &simulation->pipeline);
}

void simulation_destroy(struct simulation *simulation, const struct sample_device *device)
{
    vkDestroyPipeline(device->handle, simulation->pipeline, NULL);
    vkDestroyPipelineLayout(device->handle, simulation->layout, NULL);
    vkDestroyDescriptorPool(device->handle, simulation->pool, NULL);
    vkDestroyDescriptorSetLayout(device->handle, simulation->set_layout, NULL);
    sample_buffer_destroy(device, &simulation->data);
}

uint32_t simulation_version(const struct simulation *simulation, uint64_t frame)
{
    return (uint32_t)(frame % simulation->versions) * simulation->particles;
}

void simulation_record(const struct simulation *simulation, const struct sample_device *device,
                       VkCommandBuffer commands, uint64_t frame)
{
    const struct push push = {
        .count = simulation->particles,
        .from = simulation_version(simulation, frame - 1),
        .to = simulation_version(simulation, frame),
        .frame = (uint32_t)(frame % SIMULATION_PERIOD),
        .seed = simulation->seed,
        .warm = frame == 1,
    };

    sample_label_begin(device, commands, "simulate frame %llu", (unsigned long long)frame);
    /* Earlier work of this queue must have written the frame before, and must have read the version
     * that is overwritten. */
    vkCmdPipelineBarrier2(commands,
                          &(VkDependencyInfo){
                              .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                              .memoryBarrierCount = 1,
                              .pMemoryBarriers =
                                  &(VkMemoryBarrier2){
                                      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                      .srcAccessMask = VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                      .dstStageMask = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                      .dstAccessMask = VK_ACCESS_2_SHADER_STORAGE_READ_BIT |
                                                       VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                  },
                          });
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, simulation->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, simulation->layout, 0, 1,
                            &simulation->set, 0, NULL);
    vkCmdPushConstants(commands, simulation->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                       &push);
    vkCmdDispatch(commands, (simulation->particles + GROUP_SIZE - 1) / GROUP_SIZE, 1, 1);
    sample_label_end(device, commands);
}
