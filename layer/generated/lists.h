/* SPDX-License-Identifier: MIT */
/* The stand-ins, by who they are for, and the commands that the layer calls.
 * Made by tools/registry from layer/registry/, drawn from Vulkan's registry 1.4.363: don't edit. */
/* clang-format off */

#define LAYER_STAND_INS(X) \
    X(vkAcquireNextImage2KHR) \
    X(vkAcquireNextImageKHR) \
    X(vkAllocateCommandBuffers) \
    X(vkAllocateMemory) \
    X(vkBeginCommandBuffer) \
    X(vkCmdBeginDebugUtilsLabelEXT) \
    X(vkCmdBeginRendering) \
    X(vkCmdInsertDebugUtilsLabelEXT) \
    X(vkCmdPipelineBarrier) \
    X(vkCmdPipelineBarrier2) \
    X(vkCmdSetEvent2) \
    X(vkCmdWaitEvents) \
    X(vkCmdWaitEvents2) \
    X(vkCreateBuffer) \
    X(vkCreateCommandPool) \
    X(vkCreateDebugReportCallbackEXT) \
    X(vkCreateDebugUtilsMessengerEXT) \
    X(vkCreateDevice) \
    X(vkCreateExternalComputeQueueNV) \
    X(vkCreateFence) \
    X(vkCreateImage) \
    X(vkCreateInstance) \
    X(vkCreateQueryPool) \
    X(vkCreateSemaphore) \
    X(vkCreateSharedSwapchainsKHR) \
    X(vkCreateSwapchainKHR) \
    X(vkCreateVideoSessionKHR) \
    X(vkDebugMarkerSetObjectNameEXT) \
    X(vkDebugMarkerSetObjectTagEXT) \
    X(vkDestroyBuffer) \
    X(vkDestroyCommandPool) \
    X(vkDestroyDebugReportCallbackEXT) \
    X(vkDestroyDebugUtilsMessengerEXT) \
    X(vkDestroyDevice) \
    X(vkDestroyFence) \
    X(vkDestroyImage) \
    X(vkDestroyInstance) \
    X(vkDestroyPrivateDataSlot) \
    X(vkDestroySemaphore) \
    X(vkDeviceWaitIdle) \
    X(vkEndCommandBuffer) \
    X(vkEnumerateDeviceExtensionProperties) \
    X(vkEnumerateDeviceLayerProperties) \
    X(vkEnumerateInstanceExtensionProperties) \
    X(vkEnumerateInstanceLayerProperties) \
    X(vkEnumeratePhysicalDeviceGroups) \
    X(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM) \
    X(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR) \
    X(vkFreeCommandBuffers) \
    X(vkFreeMemory) \
    X(vkGetDeviceBufferMemoryRequirements) \
    X(vkGetDeviceImageMemoryRequirements) \
    X(vkGetDeviceImageSparseMemoryRequirements) \
    X(vkGetDeviceImageSubresourceLayout) \
    X(vkGetDeviceQueue) \
    X(vkGetDeviceQueue2) \
    X(vkGetEventStatus) \
    X(vkGetFenceFdKHR) \
    X(vkGetFenceStatus) \
    X(vkGetPhysicalDeviceDirectFBPresentationSupportEXT) \
    X(vkGetPhysicalDeviceImageFormatProperties2) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM) \
    X(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR) \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkGetPhysicalDeviceQueueFamilyProperties2) \
    X(vkGetPhysicalDeviceSurfaceSupportKHR) \
    X(vkGetPhysicalDeviceToolProperties) \
    X(vkGetPhysicalDeviceWaylandPresentationSupportKHR) \
    X(vkGetPhysicalDeviceXcbPresentationSupportKHR) \
    X(vkGetPhysicalDeviceXlibPresentationSupportKHR) \
    X(vkGetPrivateData) \
    X(vkGetQueryPoolResults) \
    X(vkGetQueueCheckpointData2NV) \
    X(vkGetQueueCheckpointDataNV) \
    X(vkGetSemaphoreCounterValue) \
    X(vkGetSemaphoreFdKHR) \
    X(vkImportFenceFdKHR) \
    X(vkImportSemaphoreFdKHR) \
    X(vkLatencySleepLegacyNV) \
    X(vkLatencySleepNV) \
    X(vkQueueBeginDebugUtilsLabelEXT) \
    X(vkQueueBindSparse) \
    X(vkQueueEndDebugUtilsLabelEXT) \
    X(vkQueueInsertDebugUtilsLabelEXT) \
    X(vkQueueNotifyOutOfBandLegacyNV) \
    X(vkQueueNotifyOutOfBandNV) \
    X(vkQueuePresentKHR) \
    X(vkQueueSetPerfHintQCOM) \
    X(vkQueueSetPerformanceConfigurationINTEL) \
    X(vkQueueSubmit) \
    X(vkQueueSubmit2) \
    X(vkQueueWaitIdle) \
    X(vkResetCommandBuffer) \
    X(vkResetCommandPool) \
    X(vkResetFences) \
    X(vkSetDebugUtilsObjectNameEXT) \
    X(vkSetDebugUtilsObjectTagEXT) \
    X(vkSetPrivateData) \
    X(vkSignalSemaphore) \
    X(vkWaitForFences) \
    X(vkWaitForPresent2KHR) \
    X(vkWaitForPresentKHR) \
    X(vkWaitSemaphores)

#define LAYER_ACCESS_STAND_INS(X) \
    X(vkAcquireNextImage2KHR) \
    X(vkAcquireNextImageKHR) \
    X(vkAllocateCommandBuffers) \
    X(vkCmdBeginRenderPass) \
    X(vkCmdBeginRenderPass2) \
    X(vkCmdBeginRendering) \
    X(vkCmdBindIndexBuffer) \
    X(vkCmdBindVertexBuffers) \
    X(vkCmdBindVertexBuffers2) \
    X(vkCmdBlitImage) \
    X(vkCmdBlitImage2) \
    X(vkCmdClearColorImage) \
    X(vkCmdClearDepthStencilImage) \
    X(vkCmdCopyBuffer) \
    X(vkCmdCopyBuffer2) \
    X(vkCmdCopyBufferToImage) \
    X(vkCmdCopyBufferToImage2) \
    X(vkCmdCopyImage) \
    X(vkCmdCopyImage2) \
    X(vkCmdCopyImageToBuffer) \
    X(vkCmdCopyImageToBuffer2) \
    X(vkCmdCopyQueryPoolResults) \
    X(vkCmdDispatchIndirect) \
    X(vkCmdDraw) \
    X(vkCmdDrawIndexed) \
    X(vkCmdDrawIndexedIndirect) \
    X(vkCmdDrawIndexedIndirectCount) \
    X(vkCmdDrawIndirect) \
    X(vkCmdDrawIndirectCount) \
    X(vkCmdExecuteCommands) \
    X(vkCmdFillBuffer) \
    X(vkCmdPipelineBarrier) \
    X(vkCmdPipelineBarrier2) \
    X(vkCmdResolveImage) \
    X(vkCmdResolveImage2) \
    X(vkCmdUpdateBuffer) \
    X(vkCmdWaitEvents) \
    X(vkCmdWaitEvents2) \
    X(vkCreateBuffer) \
    X(vkCreateFramebuffer) \
    X(vkCreateImage) \
    X(vkCreateImageView) \
    X(vkCreateRenderPass) \
    X(vkCreateRenderPass2) \
    X(vkCreateSemaphore) \
    X(vkCreateSwapchainKHR) \
    X(vkDebugMarkerSetObjectNameEXT) \
    X(vkDestroyBuffer) \
    X(vkDestroyCommandPool) \
    X(vkDestroyFence) \
    X(vkDestroyFramebuffer) \
    X(vkDestroyImage) \
    X(vkDestroyImageView) \
    X(vkDestroyRenderPass) \
    X(vkDestroySemaphore) \
    X(vkDestroySwapchainKHR) \
    X(vkDeviceWaitIdle) \
    X(vkEndCommandBuffer) \
    X(vkFreeCommandBuffers) \
    X(vkGetBufferMemoryRequirements) \
    X(vkGetFenceStatus) \
    X(vkGetImageSparseMemoryRequirements) \
    X(vkGetSemaphoreCounterValue) \
    X(vkGetSemaphoreFdKHR) \
    X(vkGetSwapchainImagesKHR) \
    X(vkImportFenceFdKHR) \
    X(vkImportSemaphoreFdKHR) \
    X(vkQueueBindSparse) \
    X(vkQueuePresentKHR) \
    X(vkQueueSubmit) \
    X(vkQueueSubmit2) \
    X(vkQueueWaitIdle) \
    X(vkResetFences) \
    X(vkSetDebugUtilsObjectNameEXT) \
    X(vkSignalSemaphore) \
    X(vkWaitForFences) \
    X(vkWaitSemaphores)

#define LAYER_SPECIALIZE_STAND_INS(X) \
    X(vkAllocateCommandBuffers) \
    X(vkAllocateDescriptorSets) \
    X(vkBeginCommandBuffer) \
    X(vkCmdBeginQuery) \
    X(vkCmdBeginQueryIndexedEXT) \
    X(vkCmdBeginRenderPass) \
    X(vkCmdBeginRenderPass2) \
    X(vkCmdBeginRendering) \
    X(vkCmdBeginTransformFeedbackEXT) \
    X(vkCmdBindPipeline) \
    X(vkCmdBindPipelineShaderGroupNV) \
    X(vkCmdBindShadersEXT) \
    X(vkCmdDispatch) \
    X(vkCmdDispatchBase) \
    X(vkCmdDispatchIndirect) \
    X(vkCmdDraw) \
    X(vkCmdDrawClusterHUAWEI) \
    X(vkCmdDrawClusterIndirectHUAWEI) \
    X(vkCmdDrawIndexed) \
    X(vkCmdDrawIndexedIndirect) \
    X(vkCmdDrawIndexedIndirectCount) \
    X(vkCmdDrawIndirect) \
    X(vkCmdDrawIndirectByteCountEXT) \
    X(vkCmdDrawIndirectCount) \
    X(vkCmdDrawMeshTasksEXT) \
    X(vkCmdDrawMeshTasksIndirectCountEXT) \
    X(vkCmdDrawMeshTasksIndirectCountNV) \
    X(vkCmdDrawMeshTasksIndirectEXT) \
    X(vkCmdDrawMeshTasksIndirectNV) \
    X(vkCmdDrawMeshTasksNV) \
    X(vkCmdDrawMultiEXT) \
    X(vkCmdDrawMultiIndexedEXT) \
    X(vkCmdEndQuery) \
    X(vkCmdEndQueryIndexedEXT) \
    X(vkCmdEndRenderPass) \
    X(vkCmdEndRenderPass2) \
    X(vkCmdEndRendering) \
    X(vkCmdEndTransformFeedbackEXT) \
    X(vkCmdExecuteCommands) \
    X(vkCmdExecuteGeneratedCommandsEXT) \
    X(vkCmdExecuteGeneratedCommandsNV) \
    X(vkCmdPreprocessGeneratedCommandsEXT) \
    X(vkCmdPreprocessGeneratedCommandsNV) \
    X(vkCmdPushConstants) \
    X(vkCmdPushConstants2) \
    X(vkCmdPushDataEXT) \
    X(vkCmdPushDescriptorSet) \
    X(vkCmdPushDescriptorSet2) \
    X(vkCmdPushDescriptorSetWithTemplate) \
    X(vkCmdPushDescriptorSetWithTemplate2) \
    X(vkCmdUpdatePipelineIndirectBufferNV) \
    X(vkCreateBufferView) \
    X(vkCreateCommandPool) \
    X(vkCreateComputePipelines) \
    X(vkCreateDescriptorSetLayout) \
    X(vkCreateDescriptorUpdateTemplate) \
    X(vkCreateFramebuffer) \
    X(vkCreateGraphicsPipelines) \
    X(vkCreateImageView) \
    X(vkCreateIndirectExecutionSetEXT) \
    X(vkCreatePipelineLayout) \
    X(vkCreateQueryPool) \
    X(vkCreateRayTracingPipelinesKHR) \
    X(vkCreateRayTracingPipelinesNV) \
    X(vkCreateRenderPass) \
    X(vkCreateRenderPass2) \
    X(vkCreateSampler) \
    X(vkCreateShaderModule) \
    X(vkDestroyBufferView) \
    X(vkDestroyCommandPool) \
    X(vkDestroyDescriptorPool) \
    X(vkDestroyDescriptorSetLayout) \
    X(vkDestroyDescriptorUpdateTemplate) \
    X(vkDestroyImageView) \
    X(vkDestroyPipeline) \
    X(vkDestroyPipelineLayout) \
    X(vkDestroyQueryPool) \
    X(vkDestroyRenderPass) \
    X(vkDestroySampler) \
    X(vkDestroyShaderModule) \
    X(vkDeviceWaitIdle) \
    X(vkEndCommandBuffer) \
    X(vkFreeCommandBuffers) \
    X(vkFreeDescriptorSets) \
    X(vkGetFenceStatus) \
    X(vkGetGeneratedCommandsMemoryRequirementsNV) \
    X(vkGetPipelineIndirectDeviceAddressNV) \
    X(vkGetSemaphoreCounterValue) \
    X(vkQueueSubmit) \
    X(vkQueueSubmit2) \
    X(vkQueueWaitIdle) \
    X(vkResetCommandBuffer) \
    X(vkResetCommandPool) \
    X(vkResetDescriptorPool) \
    X(vkSetDebugUtilsObjectNameEXT) \
    X(vkUpdateDescriptorSetWithTemplate) \
    X(vkUpdateDescriptorSets) \
    X(vkUpdateIndirectExecutionSetPipelineEXT) \
    X(vkWaitForFences) \
    X(vkWaitSemaphores)

#define LAYER_INSTANCE_CALLS(X) \
    X(vkCreateDebugReportCallbackEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCreateDebugUtilsMessengerEXT, NULL, VK_API_VERSION_1_0) \
    X(vkDestroyDebugReportCallbackEXT, NULL, VK_API_VERSION_1_0) \
    X(vkDestroyDebugUtilsMessengerEXT, NULL, VK_API_VERSION_1_0) \
    X(vkDestroyInstance, NULL, VK_API_VERSION_1_0) \
    X(vkEnumerateDeviceExtensionProperties, NULL, VK_API_VERSION_1_0) \
    X(vkEnumeratePhysicalDeviceGroups, "vkEnumeratePhysicalDeviceGroupsKHR", VK_MAKE_API_VERSION(0, 1, 1, 0)) \
    X(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM, NULL, VK_API_VERSION_1_0) \
    X(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceDirectFBPresentationSupportEXT, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceFeatures, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceFeatures2, "vkGetPhysicalDeviceFeatures2KHR", VK_MAKE_API_VERSION(0, 1, 1, 0)) \
    X(vkGetPhysicalDeviceImageFormatProperties2, "vkGetPhysicalDeviceImageFormatProperties2KHR", VK_MAKE_API_VERSION(0, 1, 1, 0)) \
    X(vkGetPhysicalDeviceMemoryProperties, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceProperties, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceProperties2, "vkGetPhysicalDeviceProperties2KHR", VK_MAKE_API_VERSION(0, 1, 1, 0)) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphEngineOperationPropertiesARM, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphOpticalFlowImageFormatsARM, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphProcessingEnginePropertiesARM, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyDataGraphPropertiesARM, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyProperties, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceQueueFamilyProperties2, "vkGetPhysicalDeviceQueueFamilyProperties2KHR", VK_MAKE_API_VERSION(0, 1, 1, 0)) \
    X(vkGetPhysicalDeviceSurfaceSupportKHR, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceToolProperties, "vkGetPhysicalDeviceToolPropertiesEXT", VK_MAKE_API_VERSION(0, 1, 3, 0)) \
    X(vkGetPhysicalDeviceWaylandPresentationSupportKHR, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceXcbPresentationSupportKHR, NULL, VK_API_VERSION_1_0) \
    X(vkGetPhysicalDeviceXlibPresentationSupportKHR, NULL, VK_API_VERSION_1_0)

#define LAYER_DEVICE_CALLS(X) \
    X(vkCmdBeginDebugUtilsLabelEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdBindShadersEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdExecuteGeneratedCommandsEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdInsertDebugUtilsLabelEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdPreprocessGeneratedCommandsEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdPushConstants2, "vkCmdPushConstants2KHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkCmdPushDataEXT, NULL, VK_API_VERSION_1_0) \
    X(vkCmdPushDescriptorSet, "vkCmdPushDescriptorSetKHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkCmdPushDescriptorSet2, "vkCmdPushDescriptorSet2KHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkCmdPushDescriptorSetWithTemplate, "vkCmdPushDescriptorSetWithTemplateKHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkCmdPushDescriptorSetWithTemplate2, "vkCmdPushDescriptorSetWithTemplate2KHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkCmdUpdatePipelineIndirectBufferNV, NULL, VK_API_VERSION_1_0) \
    X(vkCreateExternalComputeQueueNV, NULL, VK_API_VERSION_1_0) \
    X(vkCreateIndirectExecutionSetEXT, NULL, VK_API_VERSION_1_0) \
    X(vkGetDeviceImageSubresourceLayout, "vkGetDeviceImageSubresourceLayoutKHR", VK_MAKE_API_VERSION(0, 1, 4, 0)) \
    X(vkGetPipelineIndirectDeviceAddressNV, NULL, VK_API_VERSION_1_0) \
    X(vkLatencySleepLegacyNV, NULL, VK_API_VERSION_1_0) \
    X(vkLatencySleepNV, NULL, VK_API_VERSION_1_0) \
    X(vkQueueBeginDebugUtilsLabelEXT, NULL, VK_API_VERSION_1_0) \
    X(vkQueueEndDebugUtilsLabelEXT, NULL, VK_API_VERSION_1_0) \
    X(vkQueueInsertDebugUtilsLabelEXT, NULL, VK_API_VERSION_1_0) \
    X(vkQueueNotifyOutOfBandLegacyNV, NULL, VK_API_VERSION_1_0) \
    X(vkQueueNotifyOutOfBandNV, NULL, VK_API_VERSION_1_0) \
    X(vkQueueSetPerfHintQCOM, NULL, VK_API_VERSION_1_0) \
    X(vkSetDebugUtilsObjectNameEXT, NULL, VK_API_VERSION_1_0) \
    X(vkSetDebugUtilsObjectTagEXT, NULL, VK_API_VERSION_1_0) \
    X(vkUpdateIndirectExecutionSetPipelineEXT, NULL, VK_API_VERSION_1_0) \
    X(vkWaitForPresent2KHR, NULL, VK_API_VERSION_1_0)
