/*
 * The layer's part of the specialiser, for its own files: the commands that stand in for the driver's
 * and what they keep of a device. What the rest of the layer calls is in interface.h.
 *
 * What can't be kept for want of memory leaves the general pipeline in use; the program's call doesn't
 * notice.
 */
#ifndef BELFRY_LAYER_SPECIALIZE_H
#define BELFRY_LAYER_SPECIALIZE_H

#include "layer/layer.h"
#include "layer/specialize/interface.h"
#include "specialize/specialize.h"

struct layer_recorder;

/* Of a device. */
struct layer_specializer {
    struct bf_specializer *model;        /* what is decided, built and measured: the library's */
    struct bf_execute_observer observer; /* of what command queues execute */
    struct layer_recorder *recorder;     /* recording.c */
    struct bf_map recordings;            /* of struct bf_recording, by command buffer */
    struct {                             /* pipeline.c; by whichever name they are there */
        PFN_vkCmdPushDescriptorSetKHR set;
        PFN_vkCmdPushDescriptorSetWithTemplateKHR with_template;
        PFN_layer_push_descriptors set2, with_template2;
    } push;
};

/* pipeline.c. Finds what of Vulkan it needs beyond the device's table. */
void layer_specialize_pipelines_create(const struct layer_device *d, struct layer_specializer *s);

/* submission.c. Has the runtime tell what the device's command queues execute. */
void layer_specialize_observe(struct layer_device *d);

/* recording.c. What it keeps about the device's command buffers. False: out of memory. */
bool layer_recorder_create(const struct layer_device *d, struct layer_specializer *s);
/* Before the model is destroyed. */
void layer_recorder_destroy(struct layer_specializer *s);

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
    X(vkCreateFramebuffer, vkCreateFramebuffer)                                                    \
    X(vkCreateComputePipelines, vkCreateComputePipelines)                                          \
    X(vkCreateGraphicsPipelines, vkCreateGraphicsPipelines)                                        \
    X(vkCreateRayTracingPipelinesKHR, vkCreateRayTracingPipelinesKHR)                              \
    X(vkCreateRayTracingPipelinesNV, vkCreateRayTracingPipelinesNV)                                \
    X(vkDestroyPipeline, vkDestroyPipeline)                                                        \
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
#define LAYER_SPECIALIZE_RECORDING_COMMANDS(X)                                                     \
    X(vkCreateCommandPool, vkCreateCommandPool)                                                    \
    X(vkDestroyCommandPool, vkDestroyCommandPool)                                                  \
    X(vkResetCommandPool, vkResetCommandPool)                                                      \
    X(vkAllocateCommandBuffers, vkAllocateCommandBuffers)                                          \
    X(vkFreeCommandBuffers, vkFreeCommandBuffers)                                                  \
    X(vkBeginCommandBuffer, vkBeginCommandBuffer)                                                  \
    X(vkEndCommandBuffer, vkEndCommandBuffer)                                                      \
    X(vkResetCommandBuffer, vkResetCommandBuffer)                                                  \
    X(vkCmdExecuteCommands, vkCmdExecuteCommands)                                                  \
    X(vkCmdBindPipeline, vkCmdBindPipeline)                                                        \
    X(vkCmdBindPipelineShaderGroupNV, vkCmdBindPipelineShaderGroupNV)                              \
    X(vkCmdBindShadersEXT, vkCmdBindShadersEXT)                                                    \
    X(vkCmdExecuteGeneratedCommandsNV, vkCmdExecuteGeneratedCommandsNV)                            \
    X(vkCmdPreprocessGeneratedCommandsNV, vkCmdPreprocessGeneratedCommandsNV)                      \
    X(vkCmdExecuteGeneratedCommandsEXT, vkCmdExecuteGeneratedCommandsEXT)                          \
    X(vkCmdPreprocessGeneratedCommandsEXT, vkCmdPreprocessGeneratedCommandsEXT)                    \
    X(vkCmdPushConstants, vkCmdPushConstants)                                                      \
    X(vkCmdPushConstants2, vkCmdPushConstants2)                                                    \
    X(vkCmdPushConstants2KHR, vkCmdPushConstants2)                                                 \
    X(vkCmdPushDataEXT, vkCmdPushDataEXT)                                                          \
    X(vkCreateQueryPool, vkCreateQueryPool)                                                        \
    X(vkDestroyQueryPool, vkDestroyQueryPool)                                                      \
    X(vkCmdBeginQuery, vkCmdBeginQuery)                                                            \
    X(vkCmdEndQuery, vkCmdEndQuery)                                                                \
    X(vkCmdBeginQueryIndexedEXT, vkCmdBeginQueryIndexedEXT)                                        \
    X(vkCmdEndQueryIndexedEXT, vkCmdEndQueryIndexedEXT)                                            \
    X(vkCmdBeginTransformFeedbackEXT, vkCmdBeginTransformFeedbackEXT)                              \
    X(vkCmdEndTransformFeedbackEXT, vkCmdEndTransformFeedbackEXT)                                  \
    LAYER_SPECIALIZE_USE_COMMANDS(X)

/* recording_draw.c */
#define LAYER_SPECIALIZE_USE_COMMANDS(X)                                                           \
    X(vkCmdBeginRenderPass, vkCmdBeginRenderPass)                                                  \
    X(vkCmdBeginRenderPass2, vkCmdBeginRenderPass2)                                                \
    X(vkCmdBeginRenderPass2KHR, vkCmdBeginRenderPass2)                                             \
    X(vkCmdEndRenderPass, vkCmdEndRenderPass)                                                      \
    X(vkCmdEndRenderPass2, vkCmdEndRenderPass2)                                                    \
    X(vkCmdEndRenderPass2KHR, vkCmdEndRenderPass2)                                                 \
    X(vkCmdBeginRendering, vkCmdBeginRendering)                                                    \
    X(vkCmdBeginRenderingKHR, vkCmdBeginRendering)                                                 \
    X(vkCmdEndRendering, vkCmdEndRendering)                                                        \
    X(vkCmdEndRenderingKHR, vkCmdEndRendering)                                                     \
    X(vkCmdDraw, vkCmdDraw)                                                                        \
    X(vkCmdDrawIndexed, vkCmdDrawIndexed)                                                          \
    X(vkCmdDrawMultiEXT, vkCmdDrawMultiEXT)                                                        \
    X(vkCmdDrawMultiIndexedEXT, vkCmdDrawMultiIndexedEXT)                                          \
    X(vkCmdDrawIndirect, vkCmdDrawIndirect)                                                        \
    X(vkCmdDrawIndexedIndirect, vkCmdDrawIndexedIndirect)                                          \
    X(vkCmdDrawIndirectCount, vkCmdDrawIndirectCount)                                              \
    X(vkCmdDrawIndirectCountKHR, vkCmdDrawIndirectCount)                                           \
    X(vkCmdDrawIndirectCountAMD, vkCmdDrawIndirectCount)                                           \
    X(vkCmdDrawIndexedIndirectCount, vkCmdDrawIndexedIndirectCount)                                \
    X(vkCmdDrawIndexedIndirectCountKHR, vkCmdDrawIndexedIndirectCount)                             \
    X(vkCmdDrawIndexedIndirectCountAMD, vkCmdDrawIndexedIndirectCount)                             \
    X(vkCmdDrawIndirectByteCountEXT, vkCmdDrawIndirectByteCountEXT)                                \
    X(vkCmdDrawMeshTasksNV, vkCmdDrawMeshTasksNV)                                                  \
    X(vkCmdDrawMeshTasksIndirectNV, vkCmdDrawMeshTasksIndirectNV)                                  \
    X(vkCmdDrawMeshTasksIndirectCountNV, vkCmdDrawMeshTasksIndirectCountNV)                        \
    X(vkCmdDrawMeshTasksEXT, vkCmdDrawMeshTasksEXT)                                                \
    X(vkCmdDrawMeshTasksIndirectEXT, vkCmdDrawMeshTasksIndirectEXT)                                \
    X(vkCmdDrawMeshTasksIndirectCountEXT, vkCmdDrawMeshTasksIndirectCountEXT)                      \
    X(vkCmdDrawClusterHUAWEI, vkCmdDrawClusterHUAWEI)                                              \
    X(vkCmdDrawClusterIndirectHUAWEI, vkCmdDrawClusterIndirectHUAWEI)                              \
    X(vkCmdDispatch, vkCmdDispatch)                                                                \
    X(vkCmdDispatchIndirect, vkCmdDispatchIndirect)                                                \
    X(vkCmdDispatchBase, vkCmdDispatchBase)                                                        \
    X(vkCmdDispatchBaseKHR, vkCmdDispatchBase)

/* submission.c: submissions, and what tells that they have finished */
#define LAYER_SPECIALIZE_FINISHED_COMMANDS(X)                                                      \
    X(vkSetDebugUtilsObjectNameEXT, vkSetDebugUtilsObjectNameEXT)                                  \
    X(vkQueueSubmit, vkQueueSubmit)                                                                \
    X(vkQueueSubmit2, vkQueueSubmit2)                                                              \
    X(vkQueueSubmit2KHR, vkQueueSubmit2)                                                           \
    X(vkQueueWaitIdle, vkQueueWaitIdle)                                                            \
    X(vkDeviceWaitIdle, vkDeviceWaitIdle)                                                          \
    X(vkWaitForFences, vkWaitForFences)                                                            \
    X(vkGetFenceStatus, vkGetFenceStatus)                                                          \
    X(vkWaitSemaphores, vkWaitSemaphores)                                                          \
    X(vkWaitSemaphoresKHR, vkWaitSemaphores)                                                       \
    X(vkGetSemaphoreCounterValue, vkGetSemaphoreCounterValue)                                      \
    X(vkGetSemaphoreCounterValueKHR, vkGetSemaphoreCounterValue)

/* Newer than the oldest headers Belfry builds with. */
typedef void(VKAPI_PTR *PFN_layer_record_info)(VkCommandBuffer, const void *);
typedef void(VKAPI_PTR *PFN_layer_bind_shaders)(VkCommandBuffer, uint32_t,
                                                const VkShaderStageFlagBits *, const uint64_t *);
typedef void(VKAPI_PTR *PFN_layer_execute_generated)(VkCommandBuffer, VkBool32, const void *);
typedef void(VKAPI_PTR *PFN_layer_preprocess_generated)(VkCommandBuffer, const void *,
                                                        VkCommandBuffer);
#define PFN_vkCmdPushConstants2                 PFN_layer_record_info
#define PFN_vkCmdPushDataEXT                    PFN_layer_record_info
#define PFN_vkCmdBindShadersEXT                 PFN_layer_bind_shaders
#define PFN_vkCmdExecuteGeneratedCommandsEXT    PFN_layer_execute_generated
#define PFN_vkCmdPreprocessGeneratedCommandsEXT PFN_layer_preprocess_generated

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
