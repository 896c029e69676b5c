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

static void icd_CmdSetViewport(VkCommandBuffer commandBuffer, uint32_t firstViewport,
                               uint32_t viewportCount, const VkViewport *pViewports)
{
    (void)commandBuffer, (void)firstViewport, (void)viewportCount, (void)pViewports;
}

static void icd_CmdSetScissor(VkCommandBuffer commandBuffer, uint32_t firstScissor,
                              uint32_t scissorCount, const VkRect2D *pScissors)
{
    (void)commandBuffer, (void)firstScissor, (void)scissorCount, (void)pScissors;
}

static void icd_CmdSetLineWidth(VkCommandBuffer commandBuffer, float lineWidth)
{
    (void)commandBuffer, (void)lineWidth;
}

static void icd_CmdSetDepthBias(VkCommandBuffer commandBuffer, float depthBiasConstantFactor,
                                float depthBiasClamp, float depthBiasSlopeFactor)
{
    (void)commandBuffer, (void)depthBiasConstantFactor, (void)depthBiasClamp,
        (void)depthBiasSlopeFactor;
}

static void icd_CmdSetBlendConstants(VkCommandBuffer commandBuffer, const float blendConstants[4])
{
    (void)commandBuffer, (void)blendConstants;
}

static void icd_CmdSetDepthBounds(VkCommandBuffer commandBuffer, float minDepthBounds,
                                  float maxDepthBounds)
{
    (void)commandBuffer, (void)minDepthBounds, (void)maxDepthBounds;
}

static void icd_CmdSetStencilCompareMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                         uint32_t compareMask)
{
    (void)commandBuffer, (void)faceMask, (void)compareMask;
}

static void icd_CmdSetStencilWriteMask(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                       uint32_t writeMask)
{
    (void)commandBuffer, (void)faceMask, (void)writeMask;
}

static void icd_CmdSetStencilReference(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                       uint32_t reference)
{
    (void)commandBuffer, (void)faceMask, (void)reference;
}

static void icd_CmdBindDescriptorSets(VkCommandBuffer commandBuffer,
                                      VkPipelineBindPoint pipelineBindPoint,
                                      VkPipelineLayout layout, uint32_t firstSet,
                                      uint32_t descriptorSetCount,
                                      const VkDescriptorSet *pDescriptorSets,
                                      uint32_t dynamicOffsetCount, const uint32_t *pDynamicOffsets)
{
    ICD_NEEDS(GRAPHICS | COMPUTE);
    (void)pipelineBindPoint, (void)layout, (void)firstSet, (void)descriptorSetCount,
        (void)pDescriptorSets, (void)dynamicOffsetCount, (void)pDynamicOffsets;
}

static void icd_CmdBindIndexBuffer(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                   VkDeviceSize offset, VkIndexType indexType)
{
    (void)commandBuffer, (void)buffer, (void)offset, (void)indexType;
}

static void icd_CmdBindVertexBuffers(VkCommandBuffer commandBuffer, uint32_t firstBinding,
                                     uint32_t bindingCount, const VkBuffer *pBuffers,
                                     const VkDeviceSize *pOffsets)
{
    (void)commandBuffer, (void)firstBinding, (void)bindingCount, (void)pBuffers, (void)pOffsets;
}

static void icd_CmdDraw(VkCommandBuffer commandBuffer, uint32_t vertexCount, uint32_t instanceCount,
                        uint32_t firstVertex, uint32_t firstInstance)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)vertexCount, (void)instanceCount, (void)firstVertex, (void)firstInstance;
}

static void icd_CmdDrawIndexed(VkCommandBuffer commandBuffer, uint32_t indexCount,
                               uint32_t instanceCount, uint32_t firstIndex, int32_t vertexOffset,
                               uint32_t firstInstance)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)indexCount, (void)instanceCount, (void)firstIndex, (void)vertexOffset,
        (void)firstInstance;
}

static void icd_CmdDrawIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer, VkDeviceSize offset,
                                uint32_t drawCount, uint32_t stride)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)buffer, (void)offset, (void)drawCount, (void)stride;
}

static void icd_CmdDrawIndexedIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                       VkDeviceSize offset, uint32_t drawCount, uint32_t stride)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)buffer, (void)offset, (void)drawCount, (void)stride;
}

static void icd_CmdDispatch(VkCommandBuffer commandBuffer, uint32_t groupCountX,
                            uint32_t groupCountY, uint32_t groupCountZ)
{
    ICD_NEEDS(COMPUTE);
    icd_pipelines_use(commandBuffer);
    icd_work_append(commandBuffer, ICD_OP_DISPATCH);
    (void)groupCountX, (void)groupCountY, (void)groupCountZ;
}

static void icd_CmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                    VkDeviceSize offset)
{
    ICD_NEEDS(COMPUTE);
    icd_pipelines_use(commandBuffer);
    (void)buffer, (void)offset;
}

static void icd_CmdCopyImage(VkCommandBuffer commandBuffer, VkImage srcImage,
                             VkImageLayout srcImageLayout, VkImage dstImage,
                             VkImageLayout dstImageLayout, uint32_t regionCount,
                             const VkImageCopy *pRegions)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)srcImage, (void)srcImageLayout, (void)dstImage, (void)dstImageLayout, (void)regionCount,
        (void)pRegions;
}

static void icd_CmdBlitImage(VkCommandBuffer commandBuffer, VkImage srcImage,
                             VkImageLayout srcImageLayout, VkImage dstImage,
                             VkImageLayout dstImageLayout, uint32_t regionCount,
                             const VkImageBlit *pRegions, VkFilter filter)
{
    ICD_NEEDS(GRAPHICS);
    (void)srcImage, (void)srcImageLayout, (void)dstImage, (void)dstImageLayout, (void)regionCount,
        (void)pRegions, (void)filter;
}

static void icd_CmdCopyBufferToImage(VkCommandBuffer commandBuffer, VkBuffer srcBuffer,
                                     VkImage dstImage, VkImageLayout dstImageLayout,
                                     uint32_t regionCount, const VkBufferImageCopy *pRegions)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)srcBuffer, (void)dstImage, (void)dstImageLayout, (void)regionCount, (void)pRegions;
}

static void icd_CmdCopyImageToBuffer(VkCommandBuffer commandBuffer, VkImage srcImage,
                                     VkImageLayout srcImageLayout, VkBuffer dstBuffer,
                                     uint32_t regionCount, const VkBufferImageCopy *pRegions)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)srcImage, (void)srcImageLayout, (void)dstBuffer, (void)regionCount, (void)pRegions;
}

static void icd_CmdClearColorImage(VkCommandBuffer commandBuffer, VkImage image,
                                   VkImageLayout imageLayout, const VkClearColorValue *pColor,
                                   uint32_t rangeCount, const VkImageSubresourceRange *pRanges)
{
    ICD_NEEDS(GRAPHICS | COMPUTE);
    (void)image, (void)imageLayout, (void)pColor, (void)rangeCount, (void)pRanges;
}

static void icd_CmdClearDepthStencilImage(VkCommandBuffer commandBuffer, VkImage image,
                                          VkImageLayout imageLayout,
                                          const VkClearDepthStencilValue *pDepthStencil,
                                          uint32_t rangeCount,
                                          const VkImageSubresourceRange *pRanges)
{
    ICD_NEEDS(GRAPHICS);
    (void)image, (void)imageLayout, (void)pDepthStencil, (void)rangeCount, (void)pRanges;
}

static void icd_CmdClearAttachments(VkCommandBuffer commandBuffer, uint32_t attachmentCount,
                                    const VkClearAttachment *pAttachments, uint32_t rectCount,
                                    const VkClearRect *pRects)
{
    ICD_NEEDS(GRAPHICS);
    (void)attachmentCount, (void)pAttachments, (void)rectCount, (void)pRects;
}

static void icd_CmdResolveImage(VkCommandBuffer commandBuffer, VkImage srcImage,
                                VkImageLayout srcImageLayout, VkImage dstImage,
                                VkImageLayout dstImageLayout, uint32_t regionCount,
                                const VkImageResolve *pRegions)
{
    ICD_NEEDS(GRAPHICS);
    (void)srcImage, (void)srcImageLayout, (void)dstImage, (void)dstImageLayout, (void)regionCount,
        (void)pRegions;
}

static void icd_CmdPushConstants(VkCommandBuffer commandBuffer, VkPipelineLayout layout,
                                 VkShaderStageFlags stageFlags, uint32_t offset, uint32_t size,
                                 const void *pValues)
{
    ICD_NEEDS(GRAPHICS | COMPUTE);
    (void)layout, (void)stageFlags, (void)offset, (void)size, (void)pValues;
}

static void icd_CmdBeginRenderPass(VkCommandBuffer commandBuffer,
                                   const VkRenderPassBeginInfo *pRenderPassBegin,
                                   VkSubpassContents contents)
{
    ICD_NEEDS(GRAPHICS);
    (void)pRenderPassBegin, (void)contents;
}

static void icd_CmdNextSubpass(VkCommandBuffer commandBuffer, VkSubpassContents contents)
{
    (void)commandBuffer, (void)contents;
}

static void icd_CmdEndRenderPass(VkCommandBuffer commandBuffer)
{
    (void)commandBuffer;
}

static void icd_CmdSetDeviceMask(VkCommandBuffer commandBuffer, uint32_t deviceMask)
{
    (void)commandBuffer, (void)deviceMask;
}

static void icd_CmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t baseGroupX,
                                uint32_t baseGroupY, uint32_t baseGroupZ, uint32_t groupCountX,
                                uint32_t groupCountY, uint32_t groupCountZ)
{
    ICD_NEEDS(COMPUTE);
    icd_pipelines_use(commandBuffer);
    (void)baseGroupX, (void)baseGroupY, (void)baseGroupZ, (void)groupCountX, (void)groupCountY,
        (void)groupCountZ;
}

static void icd_CmdDrawIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                     VkDeviceSize offset, VkBuffer countBuffer,
                                     VkDeviceSize countBufferOffset, uint32_t maxDrawCount,
                                     uint32_t stride)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)buffer, (void)offset, (void)countBuffer, (void)countBufferOffset, (void)maxDrawCount,
        (void)stride;
}

static void icd_CmdDrawIndexedIndirectCount(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                            VkDeviceSize offset, VkBuffer countBuffer,
                                            VkDeviceSize countBufferOffset, uint32_t maxDrawCount,
                                            uint32_t stride)
{
    ICD_NEEDS(GRAPHICS);
    icd_pipelines_use(commandBuffer);
    (void)buffer, (void)offset, (void)countBuffer, (void)countBufferOffset, (void)maxDrawCount,
        (void)stride;
}

static void icd_CmdBeginRenderPass2(VkCommandBuffer commandBuffer,
                                    const VkRenderPassBeginInfo *pRenderPassBegin,
                                    const VkSubpassBeginInfo *pSubpassBeginInfo)
{
    ICD_NEEDS(GRAPHICS);
    (void)pRenderPassBegin, (void)pSubpassBeginInfo;
}

static void icd_CmdNextSubpass2(VkCommandBuffer commandBuffer,
                                const VkSubpassBeginInfo *pSubpassBeginInfo,
                                const VkSubpassEndInfo *pSubpassEndInfo)
{
    (void)commandBuffer, (void)pSubpassBeginInfo, (void)pSubpassEndInfo;
}

static void icd_CmdEndRenderPass2(VkCommandBuffer commandBuffer,
                                  const VkSubpassEndInfo *pSubpassEndInfo)
{
    (void)commandBuffer, (void)pSubpassEndInfo;
}

static void icd_CmdCopyImage2(VkCommandBuffer commandBuffer, const VkCopyImageInfo2 *pCopyImageInfo)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)pCopyImageInfo;
}

static void icd_CmdCopyBufferToImage2(VkCommandBuffer commandBuffer,
                                      const VkCopyBufferToImageInfo2 *pCopyBufferToImageInfo)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)pCopyBufferToImageInfo;
}

static void icd_CmdCopyImageToBuffer2(VkCommandBuffer commandBuffer,
                                      const VkCopyImageToBufferInfo2 *pCopyImageToBufferInfo)
{
    ICD_NEEDS(ICD_TRANSFER);
    (void)pCopyImageToBufferInfo;
}

static void icd_CmdBlitImage2(VkCommandBuffer commandBuffer, const VkBlitImageInfo2 *pBlitImageInfo)
{
    ICD_NEEDS(GRAPHICS);
    (void)pBlitImageInfo;
}

static void icd_CmdResolveImage2(VkCommandBuffer commandBuffer,
                                 const VkResolveImageInfo2 *pResolveImageInfo)
{
    ICD_NEEDS(GRAPHICS);
    (void)pResolveImageInfo;
}

static void icd_CmdBeginRendering(VkCommandBuffer commandBuffer,
                                  const VkRenderingInfo *pRenderingInfo)
{
    ICD_NEEDS(GRAPHICS);
    (void)pRenderingInfo;
}

static void icd_CmdEndRendering(VkCommandBuffer commandBuffer)
{
    (void)commandBuffer;
}

static void icd_CmdSetCullMode(VkCommandBuffer commandBuffer, VkCullModeFlags cullMode)
{
    (void)commandBuffer, (void)cullMode;
}

static void icd_CmdSetFrontFace(VkCommandBuffer commandBuffer, VkFrontFace frontFace)
{
    (void)commandBuffer, (void)frontFace;
}

static void icd_CmdSetPrimitiveTopology(VkCommandBuffer commandBuffer,
                                        VkPrimitiveTopology primitiveTopology)
{
    (void)commandBuffer, (void)primitiveTopology;
}

static void icd_CmdSetViewportWithCount(VkCommandBuffer commandBuffer, uint32_t viewportCount,
                                        const VkViewport *pViewports)
{
    (void)commandBuffer, (void)viewportCount, (void)pViewports;
}

static void icd_CmdSetScissorWithCount(VkCommandBuffer commandBuffer, uint32_t scissorCount,
                                       const VkRect2D *pScissors)
{
    (void)commandBuffer, (void)scissorCount, (void)pScissors;
}

static void icd_CmdBindVertexBuffers2(VkCommandBuffer commandBuffer, uint32_t firstBinding,
                                      uint32_t bindingCount, const VkBuffer *pBuffers,
                                      const VkDeviceSize *pOffsets, const VkDeviceSize *pSizes,
                                      const VkDeviceSize *pStrides)
{
    (void)commandBuffer, (void)firstBinding, (void)bindingCount, (void)pBuffers, (void)pOffsets,
        (void)pSizes, (void)pStrides;
}

static void icd_CmdSetDepthTestEnable(VkCommandBuffer commandBuffer, VkBool32 depthTestEnable)
{
    (void)commandBuffer, (void)depthTestEnable;
}

static void icd_CmdSetDepthWriteEnable(VkCommandBuffer commandBuffer, VkBool32 depthWriteEnable)
{
    (void)commandBuffer, (void)depthWriteEnable;
}

static void icd_CmdSetDepthCompareOp(VkCommandBuffer commandBuffer, VkCompareOp depthCompareOp)
{
    (void)commandBuffer, (void)depthCompareOp;
}

static void icd_CmdSetDepthBoundsTestEnable(VkCommandBuffer commandBuffer,
                                            VkBool32 depthBoundsTestEnable)
{
    (void)commandBuffer, (void)depthBoundsTestEnable;
}

static void icd_CmdSetStencilTestEnable(VkCommandBuffer commandBuffer, VkBool32 stencilTestEnable)
{
    (void)commandBuffer, (void)stencilTestEnable;
}

static void icd_CmdSetStencilOp(VkCommandBuffer commandBuffer, VkStencilFaceFlags faceMask,
                                VkStencilOp failOp, VkStencilOp passOp, VkStencilOp depthFailOp,
                                VkCompareOp compareOp)
{
    (void)commandBuffer, (void)faceMask, (void)failOp, (void)passOp, (void)depthFailOp,
        (void)compareOp;
}

static void icd_CmdSetRasterizerDiscardEnable(VkCommandBuffer commandBuffer,
                                              VkBool32 rasterizerDiscardEnable)
{
    (void)commandBuffer, (void)rasterizerDiscardEnable;
}

static void icd_CmdSetDepthBiasEnable(VkCommandBuffer commandBuffer, VkBool32 depthBiasEnable)
{
    (void)commandBuffer, (void)depthBiasEnable;
}

static void icd_CmdSetPrimitiveRestartEnable(VkCommandBuffer commandBuffer,
                                             VkBool32 primitiveRestartEnable)
{
    (void)commandBuffer, (void)primitiveRestartEnable;
}

const struct icd_entry icd_inert_entries[] = {
    ICD_CORE(ICD_DEVICE, 0, CmdBindPipeline),
    ICD_CORE(ICD_DEVICE, 0, CmdSetViewport),
    ICD_CORE(ICD_DEVICE, 0, CmdSetScissor),
    ICD_CORE(ICD_DEVICE, 0, CmdSetLineWidth),
    ICD_CORE(ICD_DEVICE, 0, CmdSetDepthBias),
    ICD_CORE(ICD_DEVICE, 0, CmdSetBlendConstants),
    ICD_CORE(ICD_DEVICE, 0, CmdSetDepthBounds),
    ICD_CORE(ICD_DEVICE, 0, CmdSetStencilCompareMask),
    ICD_CORE(ICD_DEVICE, 0, CmdSetStencilWriteMask),
    ICD_CORE(ICD_DEVICE, 0, CmdSetStencilReference),
    ICD_CORE(ICD_DEVICE, 0, CmdBindDescriptorSets),
    ICD_CORE(ICD_DEVICE, 0, CmdBindIndexBuffer),
    ICD_CORE(ICD_DEVICE, 0, CmdBindVertexBuffers),
    ICD_CORE(ICD_DEVICE, 0, CmdDraw),
    ICD_CORE(ICD_DEVICE, 0, CmdDrawIndexed),
    ICD_CORE(ICD_DEVICE, 0, CmdDrawIndirect),
    ICD_CORE(ICD_DEVICE, 0, CmdDrawIndexedIndirect),
    ICD_CORE(ICD_DEVICE, 0, CmdDispatch),
    ICD_CORE(ICD_DEVICE, 0, CmdDispatchIndirect),
    ICD_CORE(ICD_DEVICE, 0, CmdCopyImage),
    ICD_CORE(ICD_DEVICE, 0, CmdBlitImage),
    ICD_CORE(ICD_DEVICE, 0, CmdCopyBufferToImage),
    ICD_CORE(ICD_DEVICE, 0, CmdCopyImageToBuffer),
    ICD_CORE(ICD_DEVICE, 0, CmdClearColorImage),
    ICD_CORE(ICD_DEVICE, 0, CmdClearDepthStencilImage),
    ICD_CORE(ICD_DEVICE, 0, CmdClearAttachments),
    ICD_CORE(ICD_DEVICE, 0, CmdResolveImage),
    ICD_CORE(ICD_DEVICE, 0, CmdPushConstants),
    ICD_CORE(ICD_DEVICE, 0, CmdBeginRenderPass),
    ICD_CORE(ICD_DEVICE, 0, CmdNextSubpass),
    ICD_CORE(ICD_DEVICE, 0, CmdEndRenderPass),
    ICD_CORE(ICD_DEVICE, 1, CmdSetDeviceMask),
    ICD_CORE(ICD_DEVICE, 1, CmdDispatchBase),
    ICD_CORE(ICD_DEVICE, 2, CmdDrawIndirectCount),
    ICD_CORE(ICD_DEVICE, 2, CmdDrawIndexedIndirectCount),
    ICD_CORE(ICD_DEVICE, 2, CmdBeginRenderPass2),
    ICD_CORE(ICD_DEVICE, 2, CmdNextSubpass2),
    ICD_CORE(ICD_DEVICE, 2, CmdEndRenderPass2),
    ICD_CORE(ICD_DEVICE, 3, CmdCopyImage2),
    ICD_CORE(ICD_DEVICE, 3, CmdCopyBufferToImage2),
    ICD_CORE(ICD_DEVICE, 3, CmdCopyImageToBuffer2),
    ICD_CORE(ICD_DEVICE, 3, CmdBlitImage2),
    ICD_CORE(ICD_DEVICE, 3, CmdResolveImage2),
    ICD_CORE(ICD_DEVICE, 3, CmdBeginRendering),
    ICD_CORE(ICD_DEVICE, 3, CmdEndRendering),
    ICD_CORE(ICD_DEVICE, 3, CmdSetCullMode),
    ICD_CORE(ICD_DEVICE, 3, CmdSetFrontFace),
    ICD_CORE(ICD_DEVICE, 3, CmdSetPrimitiveTopology),
    ICD_CORE(ICD_DEVICE, 3, CmdSetViewportWithCount),
    ICD_CORE(ICD_DEVICE, 3, CmdSetScissorWithCount),
    ICD_CORE(ICD_DEVICE, 3, CmdBindVertexBuffers2),
    ICD_CORE(ICD_DEVICE, 3, CmdSetDepthTestEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetDepthWriteEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetDepthCompareOp),
    ICD_CORE(ICD_DEVICE, 3, CmdSetDepthBoundsTestEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetStencilTestEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetStencilOp),
    ICD_CORE(ICD_DEVICE, 3, CmdSetRasterizerDiscardEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetDepthBiasEnable),
    ICD_CORE(ICD_DEVICE, 3, CmdSetPrimitiveRestartEnable),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_DEVICE_GROUP, CmdSetDeviceMaskKHR, CmdSetDeviceMask),
    ICD_EXTRA(ICD_DEVICE, ICD_KHR_DEVICE_GROUP, CmdDispatchBaseKHR, CmdDispatchBase),
    ICD_END,
};
