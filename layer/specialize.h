/*
 * What the specialiser (runtime/specialize/specialize.h) sees of a Vulkan program: its pipelines and
 * what they are made of, the commands of its command buffers, and its submissions.
 *
 * With the setting 'specialize' off none of these functions is ever handed out, so nothing is paid
 * for it. With it on they stand before the layer's own, and call them. What can't be kept for want
 * of memory leaves the general pipeline in use; the program's call doesn't notice.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_H
#define BELFRY_LAYER_SPECIALIZE_H

#include "layer.h"
#include "specialize/specialize.h"

struct bf_recording;

/* With the device's runtime made. Does nothing where the setting is off. */
void layer_specialize_create(struct layer_device *d);
/* Before the runtime's device is destroyed. */
void layer_specialize_destroy(struct layer_device *d);

/* pipeline.c. What of Vulkan it needs beyond the device's table. */
void layer_specialize_pipelines_create(struct layer_device *d);

/* The function that stands in for a command while the specialiser is on, or NULL. */
PFN_vkVoidFunction layer_specialize_find(const char *name);

/* X(command, stand-in), by the file that implements them: layer_specialize_<stand-in>. */

/* pipeline.c: pipelines and what they are made of */
#define LAYER_SPECIALIZE_PIPELINE_COMMANDS(X)                                                      \
    X(vkCreateShaderModule, vkCreateShaderModule)                                                  \
    X(vkDestroyShaderModule, vkDestroyShaderModule)                                                \
    X(vkCreateSampler, vkCreateSampler)                                                            \
    X(vkDestroySampler, vkDestroySampler)                                                          \
    X(vkCreateDescriptorSetLayout, vkCreateDescriptorSetLayout)                                    \
    X(vkDestroyDescriptorSetLayout, vkDestroyDescriptorSetLayout)                                  \
    X(vkCreatePipelineLayout, vkCreatePipelineLayout)                                              \
    X(vkDestroyPipelineLayout, vkDestroyPipelineLayout)                                            \
    X(vkCreateRenderPass, vkCreateRenderPass)                                                      \
    X(vkCreateRenderPass2, vkCreateRenderPass2)                                                    \
    X(vkCreateRenderPass2KHR, vkCreateRenderPass2)                                                 \
    X(vkDestroyRenderPass, vkDestroyRenderPass)                                                    \
    X(vkCreateComputePipelines, vkCreateComputePipelines)                                          \
    X(vkCreateGraphicsPipelines, vkCreateGraphicsPipelines)                                        \
    X(vkCreateRayTracingPipelinesKHR, vkCreateRayTracingPipelinesKHR)                              \
    X(vkCreateRayTracingPipelinesNV, vkCreateRayTracingPipelinesNV)                                \
    X(vkDestroyPipeline, vkDestroyPipeline)                                                        \
    X(vkSetDebugUtilsObjectNameEXT, vkSetDebugUtilsObjectNameEXT)                                  \
    X(vkGetGeneratedCommandsMemoryRequirementsNV, vkGetGeneratedCommandsMemoryRequirementsNV)      \
    X(vkGetPipelineIndirectDeviceAddressNV, vkGetPipelineIndirectDeviceAddressNV)                  \
    X(vkCmdUpdatePipelineIndirectBufferNV, vkCmdUpdatePipelineIndirectBufferNV)                    \
    X(vkCreateIndirectExecutionSetEXT, vkCreateIndirectExecutionSetEXT)                            \
    X(vkUpdateIndirectExecutionSetPipelineEXT, vkUpdateIndirectExecutionSetPipelineEXT)            \
    X(vkCreateImageView, vkCreateImageView)                                                        \
    X(vkDestroyImageView, vkDestroyImageView)                                                      \
    X(vkCreateBufferView, vkCreateBufferView)                                                      \
    X(vkDestroyBufferView, vkDestroyBufferView)                                                    \
    X(vkAllocateDescriptorSets, vkAllocateDescriptorSets)                                          \
    X(vkFreeDescriptorSets, vkFreeDescriptorSets)                                                  \
    X(vkResetDescriptorPool, vkResetDescriptorPool)                                                \
    X(vkDestroyDescriptorPool, vkDestroyDescriptorPool)                                            \
    X(vkCreateDescriptorUpdateTemplate, vkCreateDescriptorUpdateTemplate)                          \
    X(vkCreateDescriptorUpdateTemplateKHR, vkCreateDescriptorUpdateTemplate)                       \
    X(vkDestroyDescriptorUpdateTemplate, vkDestroyDescriptorUpdateTemplate)                        \
    X(vkDestroyDescriptorUpdateTemplateKHR, vkDestroyDescriptorUpdateTemplate)                     \
    X(vkUpdateDescriptorSets, vkUpdateDescriptorSets)                                              \
    X(vkUpdateDescriptorSetWithTemplate, vkUpdateDescriptorSetWithTemplate)                        \
    X(vkUpdateDescriptorSetWithTemplateKHR, vkUpdateDescriptorSetWithTemplate)                     \
    X(vkCmdPushDescriptorSetKHR, vkCmdPushDescriptorSetKHR)                                        \
    X(vkCmdPushDescriptorSet, vkCmdPushDescriptorSetKHR)                                           \
    X(vkCmdPushDescriptorSet2KHR, vkCmdPushDescriptorSet2)                                         \
    X(vkCmdPushDescriptorSet2, vkCmdPushDescriptorSet2)                                            \
    X(vkCmdPushDescriptorSetWithTemplateKHR, vkCmdPushDescriptorSetWithTemplateKHR)                \
    X(vkCmdPushDescriptorSetWithTemplate, vkCmdPushDescriptorSetWithTemplateKHR)                   \
    X(vkCmdPushDescriptorSetWithTemplate2KHR, vkCmdPushDescriptorSetWithTemplate2)                 \
    X(vkCmdPushDescriptorSetWithTemplate2, vkCmdPushDescriptorSetWithTemplate2)

/* recording.c: command buffers, and what is recorded in them */
#define LAYER_SPECIALIZE_RECORDING_COMMANDS(X)

/* finished.c: submissions, and what tells that they have finished */
#define LAYER_SPECIALIZE_FINISHED_COMMANDS(X)

/* Newer than the oldest headers Belfry builds with. */
typedef VkDeviceAddress(VKAPI_PTR *PFN_layer_pipeline_address)(VkDevice, const void *);
typedef void(VKAPI_PTR *PFN_layer_update_pipeline_indirect)(VkCommandBuffer, VkPipelineBindPoint,
                                                            VkPipeline);
typedef VkResult(VKAPI_PTR *PFN_layer_create_execution_set)(VkDevice, const void *,
                                                            const VkAllocationCallbacks *,
                                                            uint64_t *);
typedef void(VKAPI_PTR *PFN_layer_update_execution_set)(VkDevice, uint64_t, uint32_t, const void *);
#define PFN_vkCmdPushDescriptorSet2                 PFN_layer_push_descriptors
#define PFN_vkCmdPushDescriptorSetWithTemplate2     PFN_layer_push_descriptors
#define PFN_vkGetPipelineIndirectDeviceAddressNV    PFN_layer_pipeline_address
#define PFN_vkCmdUpdatePipelineIndirectBufferNV     PFN_layer_update_pipeline_indirect
#define PFN_vkCreateIndirectExecutionSetEXT         PFN_layer_create_execution_set
#define PFN_vkUpdateIndirectExecutionSetPipelineEXT PFN_layer_update_execution_set

#define LAYER_SPECIALIZE_DECLARE(name, stand_in)                                                   \
    extern __typeof__(*(PFN_##stand_in)0) layer_specialize_##stand_in;
LAYER_SPECIALIZE_PIPELINE_COMMANDS(LAYER_SPECIALIZE_DECLARE)
LAYER_SPECIALIZE_RECORDING_COMMANDS(LAYER_SPECIALIZE_DECLARE)
LAYER_SPECIALIZE_FINISHED_COMMANDS(LAYER_SPECIALIZE_DECLARE)

#endif
