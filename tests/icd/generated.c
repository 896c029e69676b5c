/* SPDX-License-Identifier: MIT */
/* Device-generated commands, of which nothing is generated: what names a pipeline checks that it is
 * one, and what would record work notes what is bound, and leaves nothing bound. */
#include "icd.h"

/* Newer than the oldest headers there are. */
struct named {
    VkStructureType sType;
    const void *pNext;
    VkPipelineBindPoint point;
    VkPipeline pipeline;
};

struct initial_pipeline {
    VkStructureType sType;
    const void *pNext;
    VkPipeline pipeline;
    uint32_t room;
};

struct execution_set_info {
    VkStructureType sType;
    const void *pNext;
    uint32_t kind; /* 0: of pipelines */
    const void *initial;
};

struct execution_set_write {
    VkStructureType sType;
    const void *pNext;
    uint32_t index;
    VkPipeline pipeline;
};

#define COMMANDS(handle_) ICD_FROM(icd_command_buffer, ICD_KIND_COMMAND_BUFFER, handle_)

static void see(VkPipeline pipeline, const char *call)
{
    icd_object_check((const void *)(uintptr_t)pipeline, ICD_KIND_PIPELINE, call);
}

/* Vulkan says nothing of what is bound behind it. */
static void generate(VkCommandBuffer commandBuffer)
{
    struct icd_command_buffer *buffer = COMMANDS(commandBuffer);
    icd_pipelines_use(commandBuffer);
    memset(buffer->bound, 0, sizeof(buffer->bound));
}

/* VK_NV_device_generated_commands -------------------------------------------------------------- */

static void icd_GetGeneratedCommandsMemoryRequirementsNV(
    VkDevice device, const VkGeneratedCommandsMemoryRequirementsInfoNV *pInfo,
    VkMemoryRequirements2 *pMemoryRequirements)
{
    see(pInfo->pipeline, __func__);
    pMemoryRequirements->memoryRequirements = (VkMemoryRequirements){256, 256, 1};
}

static void icd_CmdExecuteGeneratedCommandsNV(VkCommandBuffer commandBuffer,
                                              VkBool32 isPreprocessed,
                                              const VkGeneratedCommandsInfoNV *pInfo)
{
    see(pInfo->pipeline, __func__);
    generate(commandBuffer);
}

static void icd_CmdPreprocessGeneratedCommandsNV(VkCommandBuffer commandBuffer,
                                                 const VkGeneratedCommandsInfoNV *pInfo)
{
    see(pInfo->pipeline, __func__);
    icd_pipelines_use(commandBuffer);
}

static void icd_CmdBindPipelineShaderGroupNV(VkCommandBuffer commandBuffer,
                                             VkPipelineBindPoint pipelineBindPoint,
                                             VkPipeline pipeline, uint32_t groupIndex)
{
    see(pipeline, __func__);
    if (pipelineBindPoint <= VK_PIPELINE_BIND_POINT_COMPUTE)
        COMMANDS(commandBuffer)->bound[pipelineBindPoint] = pipeline;
}

/* VK_NV_device_generated_commands_compute ------------------------------------------------------ */

static VkDeviceAddress icd_GetPipelineIndirectDeviceAddressNV(VkDevice device, const void *pInfo)
{
    const struct named *info = pInfo;
    see(info->pipeline, __func__);
    return (VkDeviceAddress)(uintptr_t)info->pipeline;
}

static void icd_CmdUpdatePipelineIndirectBufferNV(VkCommandBuffer commandBuffer,
                                                  VkPipelineBindPoint pipelineBindPoint,
                                                  VkPipeline pipeline)
{
    COMMANDS(commandBuffer);
    see(pipeline, __func__);
}

/* VK_EXT_device_generated_commands ------------------------------------------------------------- */

static VkResult icd_CreateIndirectExecutionSetEXT(VkDevice device_, const void *pCreateInfo,
                                                  const VkAllocationCallbacks *pAllocator,
                                                  uint64_t *pSet)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pSet, device);
    const struct execution_set_info *info = pCreateInfo;
    if (info->kind == 0)
        see(((const struct initial_pipeline *)info->initial)->pipeline, __func__);
    void *set = icd_object_new(device, ICD_KIND_EXECUTION_SET, sizeof(struct icd_object));
    *pSet = (uint64_t)(uintptr_t)set;
    return set ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void icd_DestroyIndirectExecutionSetEXT(VkDevice device, uint64_t set,
                                               const VkAllocationCallbacks *pAllocator)
{
    icd_object_free(set ? ICD_FROM(icd_object, ICD_KIND_EXECUTION_SET, set) : NULL);
}

static void icd_UpdateIndirectExecutionSetPipelineEXT(VkDevice device, uint64_t set, uint32_t count,
                                                      const void *pWrites)
{
    (void)ICD_FROM(icd_object, ICD_KIND_EXECUTION_SET, set);
    const struct execution_set_write *writes = pWrites;
    for (uint32_t i = 0; i < count; i++)
        see(writes[i].pipeline, __func__);
}

static void icd_CmdExecuteGeneratedCommandsEXT(VkCommandBuffer commandBuffer,
                                               VkBool32 isPreprocessed, const void *pInfo)
{
    generate(commandBuffer);
}

/* By the state of another command buffer. */
static void icd_CmdPreprocessGeneratedCommandsEXT(VkCommandBuffer commandBuffer, const void *pInfo,
                                                  VkCommandBuffer state)
{
    COMMANDS(commandBuffer);
    icd_pipelines_use(state);
}

/* Exported ------------------------------------------------------------------------------------- */

uint64_t belfry_icd_used(void *command_buffer, uint32_t bind_point)
{
    const struct icd_command_buffer *buffer = COMMANDS(command_buffer);
    return bind_point < 2 ? (uint64_t)(uintptr_t)buffer->used[bind_point] : 0;
}

#define NV(name_) ICD_EXTRA(ICD_DEVICE, ICD_NV_DEVICE_GENERATED_COMMANDS, name_, name_)
/* No header has their types. */
#define NEW(extension_, name_)                                                                     \
    {                                                                                              \
        "vk" #name_, (PFN_vkVoidFunction)icd_##name_, ICD_DEVICE, 0, extension_                    \
    }

const struct icd_entry icd_generated_entries[] = {
    NV(GetGeneratedCommandsMemoryRequirementsNV),
    NV(CmdExecuteGeneratedCommandsNV),
    NV(CmdPreprocessGeneratedCommandsNV),
    NV(CmdBindPipelineShaderGroupNV),
    NEW(ICD_NV_DEVICE_GENERATED_COMMANDS_COMPUTE, GetPipelineIndirectDeviceAddressNV),
    NEW(ICD_NV_DEVICE_GENERATED_COMMANDS_COMPUTE, CmdUpdatePipelineIndirectBufferNV),
    NEW(ICD_EXT_DEVICE_GENERATED_COMMANDS, CreateIndirectExecutionSetEXT),
    NEW(ICD_EXT_DEVICE_GENERATED_COMMANDS, DestroyIndirectExecutionSetEXT),
    NEW(ICD_EXT_DEVICE_GENERATED_COMMANDS, UpdateIndirectExecutionSetPipelineEXT),
    NEW(ICD_EXT_DEVICE_GENERATED_COMMANDS, CmdExecuteGeneratedCommandsEXT),
    NEW(ICD_EXT_DEVICE_GENERATED_COMMANDS, CmdPreprocessGeneratedCommandsEXT),
    ICD_END};
