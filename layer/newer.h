/* SPDX-License-Identifier: MIT */
/*
 * Types of commands that the oldest headers Belfry builds with don't have, and of commands whose
 * window systems' headers aren't needed to pass on pointers. Unknown structs are 'void'.
 */
#ifndef BELFRY_LAYER_NEWER_H
#define BELFRY_LAYER_NEWER_H

#include <vulkan/vulkan.h>

/* The commands for Wayland and DirectFB have no visual. */
typedef VkBool32(VKAPI_PTR *PFN_layer_presentation_support)(VkPhysicalDevice, uint32_t, void *,
                                                            uintptr_t);
#define PFN_vkGetPhysicalDeviceXcbPresentationSupportKHR      PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceXlibPresentationSupportKHR     PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceWaylandPresentationSupportKHR  PFN_layer_presentation_support
#define PFN_vkGetPhysicalDeviceDirectFBPresentationSupportEXT PFN_layer_presentation_support

/* Queries by a family's index: they have at most four further arguments. */
typedef VkResult(VKAPI_PTR *PFN_layer_family_query)(VkPhysicalDevice, uint32_t, void *, void *,
                                                    void *, void *);
typedef void(VKAPI_PTR *PFN_layer_family_engine_query)(VkPhysicalDevice, const void *, void *);
#define PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM                     \
    PFN_layer_family_query
#define PFN_vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM PFN_layer_family_query
#define PFN_vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM                    \
    PFN_layer_family_query
#define PFN_vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM PFN_layer_family_query
#define PFN_vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM                   \
    PFN_layer_family_engine_query

typedef void(VKAPI_PTR *PFN_layer_notify_queue)(VkQueue, const void *);
typedef void(VKAPI_PTR *PFN_layer_notify_queue_type)(VkQueue, uint32_t);
typedef VkResult(VKAPI_PTR *PFN_layer_hint_queue)(VkQueue, const void *);
typedef VkResult(VKAPI_PTR *PFN_layer_latency_sleep)(VkDevice, VkSwapchainKHR, const void *);
typedef VkResult(VKAPI_PTR *PFN_layer_latency_sleep_value)(VkDevice, VkSemaphore, uint64_t);
typedef VkResult(VKAPI_PTR *PFN_layer_create_external_queue)(VkDevice, const void *,
                                                             const VkAllocationCallbacks *, void *);
typedef VkResult(VKAPI_PTR *PFN_layer_wait_for_present)(VkDevice, VkSwapchainKHR, const void *);
#define PFN_vkWaitForPresent2KHR           PFN_layer_wait_for_present
#define PFN_vkQueueNotifyOutOfBandNV       PFN_layer_notify_queue
#define PFN_vkQueueNotifyOutOfBandLegacyNV PFN_layer_notify_queue_type
#define PFN_vkQueueSetPerfHintQCOM         PFN_layer_hint_queue
#define PFN_vkLatencySleepNV               PFN_layer_latency_sleep
#define PFN_vkLatencySleepLegacyNV         PFN_layer_latency_sleep_value
#define PFN_vkCreateExternalComputeQueueNV PFN_layer_create_external_queue

/* VK_KHR_internally_synchronized_queues and its
 * VkPhysicalDeviceInternallySynchronizedQueuesFeaturesKHR. */
#define LAYER_INTERNAL_QUEUES_EXTENSION "VK_KHR_internally_synchronized_queues"
#define LAYER_INTERNAL_QUEUES_FEATURES  ((VkStructureType)1000504000)
struct layer_internal_queues {
    VkStructureType sType;
    void *pNext;
    VkBool32 on;
};

typedef void(VKAPI_PTR *PFN_layer_image_subresource_layout)(VkDevice, const void *, void *);
#define PFN_vkGetDeviceImageSubresourceLayout PFN_layer_image_subresource_layout

typedef void(VKAPI_PTR *PFN_layer_record_info)(VkCommandBuffer, const void *);
typedef void(VKAPI_PTR *PFN_layer_bind_shaders)(VkCommandBuffer, uint32_t,
                                                const VkShaderStageFlagBits *, const uint64_t *);
typedef void(VKAPI_PTR *PFN_layer_execute_generated)(VkCommandBuffer, VkBool32, const void *);
typedef void(VKAPI_PTR *PFN_layer_preprocess_generated)(VkCommandBuffer, const void *,
                                                        VkCommandBuffer);
#define PFN_vkCmdPushConstants2                 PFN_layer_record_info
#define PFN_vkCmdPushDataEXT                    PFN_layer_record_info
#define PFN_vkCmdPushDescriptorSet              PFN_vkCmdPushDescriptorSetKHR
#define PFN_vkCmdPushDescriptorSet2             PFN_layer_record_info
#define PFN_vkCmdPushDescriptorSetWithTemplate  PFN_vkCmdPushDescriptorSetWithTemplateKHR
#define PFN_vkCmdPushDescriptorSetWithTemplate2 PFN_layer_record_info
#define PFN_vkCmdBindShadersEXT                 PFN_layer_bind_shaders
#define PFN_vkCmdExecuteGeneratedCommandsEXT    PFN_layer_execute_generated
#define PFN_vkCmdPreprocessGeneratedCommandsEXT PFN_layer_preprocess_generated

typedef VkDeviceAddress(VKAPI_PTR *PFN_layer_pipeline_address)(VkDevice, const void *);
typedef void(VKAPI_PTR *PFN_layer_update_pipeline_indirect)(VkCommandBuffer, VkPipelineBindPoint,
                                                            VkPipeline);
typedef VkResult(VKAPI_PTR *PFN_layer_create_execution_set)(VkDevice, const void *,
                                                            const VkAllocationCallbacks *,
                                                            uint64_t *);
typedef void(VKAPI_PTR *PFN_layer_update_execution_set)(VkDevice, uint64_t, uint32_t, const void *);
#define PFN_vkGetPipelineIndirectDeviceAddressNV    PFN_layer_pipeline_address
#define PFN_vkCmdUpdatePipelineIndirectBufferNV     PFN_layer_update_pipeline_indirect
#define PFN_vkCreateIndirectExecutionSetEXT         PFN_layer_create_execution_set
#define PFN_vkUpdateIndirectExecutionSetPipelineEXT PFN_layer_update_execution_set

#endif
