/* SPDX-License-Identifier: MIT */
/* Commands that are recorded as nothing: this driver runs transfers and synchronisation, and draws
 * and computes nothing. That the family could run them is checked all the same. */
#include "icd.h"

#define GRAPHICS VK_QUEUE_GRAPHICS_BIT
#define COMPUTE  VK_QUEUE_COMPUTE_BIT

#define COMMANDS(handle_) ICD_FROM(icd_command_buffer, ICD_KIND_COMMAND_BUFFER, handle_)

static void icd_CmdBindPipeline(VkCommandBuffer commandBuffer,
                                VkPipelineBindPoint pipelineBindPoint, VkPipeline pipeline)
{
    ICD_NEEDS(pipelineBindPoint == VK_PIPELINE_BIND_POINT_GRAPHICS ? GRAPHICS : COMPUTE);
    if (pipelineBindPoint <= VK_PIPELINE_BIND_POINT_COMPUTE)
        COMMANDS(commandBuffer)->bound[pipelineBindPoint] = pipeline;
}

void icd_pipelines_use(VkCommandBuffer commandBuffer)
{
    struct icd_command_buffer *buffer = COMMANDS(commandBuffer);
    memcpy(buffer->used, buffer->bound, sizeof(buffer->used));
}

static void work_use(VkCommandBuffer commandBuffer)
{
    icd_pipelines_use(commandBuffer);
    icd_tell_append(commandBuffer);
}

/* The others: the Vulkan 1.x that brought it, its name, what it does, and its parameters behind the
 * command buffer. */
#define NOTHING          ((void)0)
#define DRAWS            (ICD_NEEDS(GRAPHICS), work_use(commandBuffer))
#define DISPATCHES       (ICD_NEEDS(COMPUTE), work_use(commandBuffer))
#define DISPATCHES_TIMED (DISPATCHES, icd_work_append(commandBuffer, ICD_OP_DISPATCH))

#define INERT_COMMANDS(X)                                                                          \
    X(0, CmdSetViewport, NOTHING, uint32_t firstViewport, uint32_t viewportCount,                  \
      const VkViewport *pViewports)                                                                \
    X(0, CmdSetScissor, NOTHING, uint32_t firstScissor, uint32_t scissorCount,                     \
      const VkRect2D *pScissors)                                                                   \
    X(0, CmdSetLineWidth, NOTHING, float lineWidth)                                                \
    X(0, CmdSetDepthBias, NOTHING, float depthBiasConstantFactor, float depthBiasClamp,            \
      float depthBiasSlopeFactor)                                                                  \
    X(0, CmdSetBlendConstants, NOTHING, const float blendConstants[4])                             \
    X(0, CmdSetDepthBounds, NOTHING, float minDepthBounds, float maxDepthBounds)                   \
    X(0, CmdSetStencilCompareMask, NOTHING, VkStencilFaceFlags faceMask, uint32_t compareMask)     \
    X(0, CmdSetStencilWriteMask, NOTHING, VkStencilFaceFlags faceMask, uint32_t writeMask)         \
    X(0, CmdSetStencilReference, NOTHING, VkStencilFaceFlags faceMask, uint32_t reference)         \
    X(0, CmdBindDescriptorSets,                                                                    \
      (ICD_NEEDS(GRAPHICS | COMPUTE),                                                              \
       COMMANDS(commandBuffer)->last_set = pDescriptorSets[descriptorSetCount - 1]),               \
      VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout layout, uint32_t firstSet,           \
      uint32_t descriptorSetCount, const VkDescriptorSet *pDescriptorSets,                         \
      uint32_t dynamicOffsetCount, const uint32_t *pDynamicOffsets)                                \
    X(0, CmdBindIndexBuffer, NOTHING, VkBuffer buffer, VkDeviceSize offset, VkIndexType indexType) \
    X(0, CmdBindVertexBuffers, NOTHING, uint32_t firstBinding, uint32_t bindingCount,              \
      const VkBuffer *pBuffers, const VkDeviceSize *pOffsets)                                      \
    X(0, CmdDraw, DRAWS, uint32_t vertexCount, uint32_t instanceCount, uint32_t firstVertex,       \
      uint32_t firstInstance)                                                                      \
    X(0, CmdDrawIndexed, DRAWS, uint32_t indexCount, uint32_t instanceCount, uint32_t firstIndex,  \
      int32_t vertexOffset, uint32_t firstInstance)                                                \
    X(0, CmdDrawIndirect, DRAWS, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount,         \
      uint32_t stride)                                                                             \
    X(0, CmdDrawIndexedIndirect, DRAWS, VkBuffer buffer, VkDeviceSize offset, uint32_t drawCount,  \
      uint32_t stride)                                                                             \
    X(0, CmdDispatch, DISPATCHES_TIMED, uint32_t groupCountX, uint32_t groupCountY,                \
      uint32_t groupCountZ)                                                                        \
    X(0, CmdDispatchIndirect, DISPATCHES, VkBuffer buffer, VkDeviceSize offset)                    \
    X(0, CmdCopyImage, ICD_NEEDS(ICD_TRANSFER), VkImage srcImage, VkImageLayout srcImageLayout,    \
      VkImage dstImage, VkImageLayout dstImageLayout, uint32_t regionCount,                        \
      const VkImageCopy *pRegions)                                                                 \
    X(0, CmdBlitImage, ICD_NEEDS(GRAPHICS), VkImage srcImage, VkImageLayout srcImageLayout,        \
      VkImage dstImage, VkImageLayout dstImageLayout, uint32_t regionCount,                        \
      const VkImageBlit *pRegions, VkFilter filter)                                                \
    X(0, CmdCopyBufferToImage, ICD_NEEDS(ICD_TRANSFER), VkBuffer srcBuffer, VkImage dstImage,      \
      VkImageLayout dstImageLayout, uint32_t regionCount, const VkBufferImageCopy *pRegions)       \
    X(0, CmdCopyImageToBuffer, ICD_NEEDS(ICD_TRANSFER), VkImage srcImage,                          \
      VkImageLayout srcImageLayout, VkBuffer dstBuffer, uint32_t regionCount,                      \
      const VkBufferImageCopy *pRegions)                                                           \
    X(0, CmdClearColorImage, ICD_NEEDS(GRAPHICS | COMPUTE), VkImage image,                         \
      VkImageLayout imageLayout, const VkClearColorValue *pColor, uint32_t rangeCount,             \
      const VkImageSubresourceRange *pRanges)                                                      \
    X(0, CmdClearDepthStencilImage, ICD_NEEDS(GRAPHICS), VkImage image, VkImageLayout imageLayout, \
      const VkClearDepthStencilValue *pDepthStencil, uint32_t rangeCount,                          \
      const VkImageSubresourceRange *pRanges)                                                      \
    X(0, CmdClearAttachments, ICD_NEEDS(GRAPHICS), uint32_t attachmentCount,                       \
      const VkClearAttachment *pAttachments, uint32_t rectCount, const VkClearRect *pRects)        \
    X(0, CmdResolveImage, ICD_NEEDS(GRAPHICS), VkImage srcImage, VkImageLayout srcImageLayout,     \
      VkImage dstImage, VkImageLayout dstImageLayout, uint32_t regionCount,                        \
      const VkImageResolve *pRegions)                                                              \
    X(0, CmdPushConstants, ICD_NEEDS(GRAPHICS | COMPUTE), VkPipelineLayout layout,                 \
      VkShaderStageFlags stageFlags, uint32_t offset, uint32_t size, const void *pValues)          \
    X(0, CmdBeginRenderPass, ICD_NEEDS(GRAPHICS), const VkRenderPassBeginInfo *pRenderPassBegin,   \
      VkSubpassContents contents)                                                                  \
    X(0, CmdNextSubpass, NOTHING, VkSubpassContents contents)                                      \
    X(0, CmdEndRenderPass, NOTHING)                                                                \
    X(1, CmdSetDeviceMask, NOTHING, uint32_t deviceMask)                                           \
    X(1, CmdDispatchBase, DISPATCHES, uint32_t baseGroupX, uint32_t baseGroupY,                    \
      uint32_t baseGroupZ, uint32_t groupCountX, uint32_t groupCountY, uint32_t groupCountZ)       \
    X(2, CmdDrawIndirectCount, DRAWS, VkBuffer buffer, VkDeviceSize offset, VkBuffer countBuffer,  \
      VkDeviceSize countBufferOffset, uint32_t maxDrawCount, uint32_t stride)                      \
    X(2, CmdDrawIndexedIndirectCount, DRAWS, VkBuffer buffer, VkDeviceSize offset,                 \
      VkBuffer countBuffer, VkDeviceSize countBufferOffset, uint32_t maxDrawCount,                 \
      uint32_t stride)                                                                             \
    X(2, CmdBeginRenderPass2, ICD_NEEDS(GRAPHICS), const VkRenderPassBeginInfo *pRenderPassBegin,  \
      const VkSubpassBeginInfo *pSubpassBeginInfo)                                                 \
    X(2, CmdNextSubpass2, NOTHING, const VkSubpassBeginInfo *pSubpassBeginInfo,                    \
      const VkSubpassEndInfo *pSubpassEndInfo)                                                     \
    X(2, CmdEndRenderPass2, NOTHING, const VkSubpassEndInfo *pSubpassEndInfo)                      \
    X(3, CmdCopyImage2, ICD_NEEDS(ICD_TRANSFER), const VkCopyImageInfo2 *pCopyImageInfo)           \
    X(3, CmdCopyBufferToImage2, ICD_NEEDS(ICD_TRANSFER),                                           \
      const VkCopyBufferToImageInfo2 *pCopyBufferToImageInfo)                                      \
    X(3, CmdCopyImageToBuffer2, ICD_NEEDS(ICD_TRANSFER),                                           \
      const VkCopyImageToBufferInfo2 *pCopyImageToBufferInfo)                                      \
    X(3, CmdBlitImage2, ICD_NEEDS(GRAPHICS), const VkBlitImageInfo2 *pBlitImageInfo)               \
    X(3, CmdResolveImage2, ICD_NEEDS(GRAPHICS), const VkResolveImageInfo2 *pResolveImageInfo)      \
    X(3, CmdBeginRendering, ICD_NEEDS(GRAPHICS), const VkRenderingInfo *pRenderingInfo)            \
    X(3, CmdEndRendering, NOTHING)                                                                 \
    X(3, CmdSetCullMode, NOTHING, VkCullModeFlags cullMode)                                        \
    X(3, CmdSetFrontFace, NOTHING, VkFrontFace frontFace)                                          \
    X(3, CmdSetPrimitiveTopology, NOTHING, VkPrimitiveTopology primitiveTopology)                  \
    X(3, CmdSetViewportWithCount, NOTHING, uint32_t viewportCount, const VkViewport *pViewports)   \
    X(3, CmdSetScissorWithCount, NOTHING, uint32_t scissorCount, const VkRect2D *pScissors)        \
    X(3, CmdBindVertexBuffers2, NOTHING, uint32_t firstBinding, uint32_t bindingCount,             \
      const VkBuffer *pBuffers, const VkDeviceSize *pOffsets, const VkDeviceSize *pSizes,          \
      const VkDeviceSize *pStrides)                                                                \
    X(3, CmdSetDepthTestEnable, NOTHING, VkBool32 depthTestEnable)                                 \
    X(3, CmdSetDepthWriteEnable, NOTHING, VkBool32 depthWriteEnable)                               \
    X(3, CmdSetDepthCompareOp, NOTHING, VkCompareOp depthCompareOp)                                \
    X(3, CmdSetDepthBoundsTestEnable, NOTHING, VkBool32 depthBoundsTestEnable)                     \
    X(3, CmdSetStencilTestEnable, NOTHING, VkBool32 stencilTestEnable)                             \
    X(3, CmdSetStencilOp, NOTHING, VkStencilFaceFlags faceMask, VkStencilOp failOp,                \
      VkStencilOp passOp, VkStencilOp depthFailOp, VkCompareOp compareOp)                          \
    X(3, CmdSetRasterizerDiscardEnable, NOTHING, VkBool32 rasterizerDiscardEnable)                 \
    X(3, CmdSetDepthBiasEnable, NOTHING, VkBool32 depthBiasEnable)                                 \
    X(3, CmdSetPrimitiveRestartEnable, NOTHING, VkBool32 primitiveRestartEnable)

#define INERT_FUNCTION(minor_, name_, does_, ...)                                                  \
    static void icd_##name_(VkCommandBuffer commandBuffer, ##__VA_ARGS__)                          \
    {                                                                                              \
        does_;                                                                                     \
    }
#define INERT_ENTRY(minor_, name_, ...) ICD_CORE(ICD_DEVICE, minor_, name_),
INERT_COMMANDS(INERT_FUNCTION)

const struct icd_entry icd_inert_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CmdBindPipeline),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_DEVICE_GROUP, CmdSetDeviceMaskKHR, CmdSetDeviceMask),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_DEVICE_GROUP, CmdDispatchBaseKHR, CmdDispatchBase),
    INERT_COMMANDS(INERT_ENTRY) ICD_END};
