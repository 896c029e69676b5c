/* SPDX-License-Identifier: MIT */
/* Features: what is offered, in every struct that may ask, and the check of what a program enables.
 */
#include "icd.h"

/* A feature struct as a row of VkBool32 behind sType and pNext. Its size ends with its last
 * feature: what pads the struct out is nobody's. */
struct feature_struct {
    VkStructureType type;
    size_t size;
    const char *name;
};

#define STRUCT(type_, name_, last_)                                                                \
    {                                                                                              \
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type_##_FEATURES,                                      \
            offsetof(VkPhysicalDevice##name_##Features, last_) + sizeof(VkBool32),                 \
            "VkPhysicalDevice" #name_ "Features"                                                   \
    }
#define STRUCT_VENDOR(type_, name_, vendor_, last_)                                                \
    {                                                                                              \
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type_##_FEATURES_##vendor_,                            \
            offsetof(VkPhysicalDevice##name_##Features##vendor_, last_) + sizeof(VkBool32),        \
            "VkPhysicalDevice" #name_ "Features" #vendor_                                          \
    }

static const struct feature_struct structs[] = {
    STRUCT(VULKAN_1_1, Vulkan11, shaderDrawParameters),
    STRUCT(VULKAN_1_2, Vulkan12, subgroupBroadcastDynamicId),
    STRUCT(VULKAN_1_3, Vulkan13, maintenance4),
    STRUCT(16BIT_STORAGE, 16BitStorage, storageInputOutput16),
    STRUCT(8BIT_STORAGE, 8BitStorage, storagePushConstant8),
    STRUCT(MULTIVIEW, Multiview, multiviewTessellationShader),
    STRUCT(VARIABLE_POINTERS, VariablePointers, variablePointers),
    STRUCT(PROTECTED_MEMORY, ProtectedMemory, protectedMemory),
    STRUCT(SAMPLER_YCBCR_CONVERSION, SamplerYcbcrConversion, samplerYcbcrConversion),
    STRUCT(SHADER_DRAW_PARAMETERS, ShaderDrawParameters, shaderDrawParameters),
    STRUCT(SHADER_FLOAT16_INT8, ShaderFloat16Int8, shaderInt8),
    STRUCT(SHADER_ATOMIC_INT64, ShaderAtomicInt64, shaderSharedInt64Atomics),
    STRUCT(DESCRIPTOR_INDEXING, DescriptorIndexing, runtimeDescriptorArray),
    STRUCT(SCALAR_BLOCK_LAYOUT, ScalarBlockLayout, scalarBlockLayout),
    STRUCT(IMAGELESS_FRAMEBUFFER, ImagelessFramebuffer, imagelessFramebuffer),
    STRUCT(UNIFORM_BUFFER_STANDARD_LAYOUT, UniformBufferStandardLayout,
           uniformBufferStandardLayout),
    STRUCT(SHADER_SUBGROUP_EXTENDED_TYPES, ShaderSubgroupExtendedTypes,
           shaderSubgroupExtendedTypes),
    STRUCT(SEPARATE_DEPTH_STENCIL_LAYOUTS, SeparateDepthStencilLayouts,
           separateDepthStencilLayouts),
    STRUCT(HOST_QUERY_RESET, HostQueryReset, hostQueryReset),
    STRUCT(TIMELINE_SEMAPHORE, TimelineSemaphore, timelineSemaphore),
    STRUCT(BUFFER_DEVICE_ADDRESS, BufferDeviceAddress, bufferDeviceAddressMultiDevice),
    STRUCT(VULKAN_MEMORY_MODEL, VulkanMemoryModel, vulkanMemoryModelAvailabilityVisibilityChains),
    STRUCT(IMAGE_ROBUSTNESS, ImageRobustness, robustImageAccess),
    STRUCT(INLINE_UNIFORM_BLOCK, InlineUniformBlock,
           descriptorBindingInlineUniformBlockUpdateAfterBind),
    STRUCT(PIPELINE_CREATION_CACHE_CONTROL, PipelineCreationCacheControl,
           pipelineCreationCacheControl),
    STRUCT(PRIVATE_DATA, PrivateData, privateData),
    STRUCT(SHADER_DEMOTE_TO_HELPER_INVOCATION, ShaderDemoteToHelperInvocation,
           shaderDemoteToHelperInvocation),
    STRUCT(SHADER_TERMINATE_INVOCATION, ShaderTerminateInvocation, shaderTerminateInvocation),
    STRUCT(SUBGROUP_SIZE_CONTROL, SubgroupSizeControl, computeFullSubgroups),
    STRUCT(SYNCHRONIZATION_2, Synchronization2, synchronization2),
    STRUCT(TEXTURE_COMPRESSION_ASTC_HDR, TextureCompressionASTCHDR, textureCompressionASTC_HDR),
    STRUCT(ZERO_INITIALIZE_WORKGROUP_MEMORY, ZeroInitializeWorkgroupMemory,
           shaderZeroInitializeWorkgroupMemory),
    STRUCT(DYNAMIC_RENDERING, DynamicRendering, dynamicRendering),
    STRUCT(SHADER_INTEGER_DOT_PRODUCT, ShaderIntegerDotProduct, shaderIntegerDotProduct),
    STRUCT(MAINTENANCE_4, Maintenance4, maintenance4),
    STRUCT_VENDOR(FAULT, Fault, EXT, deviceFaultVendorBinary),
    STRUCT_VENDOR(GLOBAL_PRIORITY_QUERY, GlobalPriorityQuery, KHR, globalPriorityQuery),
    {ICD_INTERNAL_QUEUES_FEATURES, sizeof(VkBaseOutStructure) + sizeof(VkBool32),
     "VkPhysicalDeviceInternallySynchronizedQueuesFeaturesKHR"},
};

#define HEAD sizeof(VkBaseOutStructure)
/* The collected struct of Vulkan 1.2 is the largest: room for any. */
#define LARGEST sizeof(VkPhysicalDeviceVulkan12Features)

static const struct feature_struct *struct_find(VkStructureType type)
{
    for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
        if (structs[i].type == type)
            return &structs[i];
    return NULL;
}

static void vulkan10_fill(const struct icd_config *config, VkPhysicalDeviceFeatures *features)
{
    bool sparse = false;
    for (uint32_t i = 0; i < config->shape.n_families; i++)
        sparse |= (config->shape.families[i].flags & VK_QUEUE_SPARSE_BINDING_BIT) != 0;
    *features = (VkPhysicalDeviceFeatures){.robustBufferAccess = VK_TRUE,
                                           .fullDrawIndexUint32 = VK_TRUE,
                                           .imageCubeArray = VK_TRUE,
                                           .independentBlend = VK_TRUE,
                                           .sampleRateShading = VK_TRUE,
                                           .dualSrcBlend = VK_TRUE,
                                           .multiDrawIndirect = VK_TRUE,
                                           .drawIndirectFirstInstance = VK_TRUE,
                                           .depthClamp = VK_TRUE,
                                           .fillModeNonSolid = VK_TRUE,
                                           .samplerAnisotropy = VK_TRUE,
                                           .vertexPipelineStoresAndAtomics = VK_TRUE,
                                           .fragmentStoresAndAtomics = VK_TRUE,
                                           .shaderStorageImageExtendedFormats = VK_TRUE,
                                           .shaderUniformBufferArrayDynamicIndexing = VK_TRUE,
                                           .shaderSampledImageArrayDynamicIndexing = VK_TRUE,
                                           .shaderStorageBufferArrayDynamicIndexing = VK_TRUE,
                                           .shaderStorageImageArrayDynamicIndexing = VK_TRUE,
                                           .shaderClipDistance = VK_TRUE,
                                           .shaderCullDistance = VK_TRUE,
                                           .shaderFloat64 = VK_TRUE,
                                           .shaderInt64 = config->int64,
                                           .shaderInt16 = VK_TRUE,
                                           .sparseBinding = sparse,
                                           .sparseResidencyBuffer = sparse};
}

/* Sets what is offered in a struct whose body is zero. */
static void struct_fill(const struct icd_config *config, VkBaseOutStructure *s)
{
    const VkBool32 timeline = config->timeline, synchronization2 = config->synchronization2;

    switch ((int)s->sType) {
    case (int)ICD_INTERNAL_QUEUES_FEATURES:
        *(VkBool32 *)(s + 1) = config->internal_queues;
        break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES: {
        VkPhysicalDeviceVulkan11Features *f = (void *)s;
        f->multiview = VK_TRUE;
        f->shaderDrawParameters = VK_TRUE;
        f->variablePointers = VK_TRUE;
        f->variablePointersStorageBuffer = VK_TRUE;
        f->storageBuffer16BitAccess = VK_TRUE;
        f->protectedMemory = config->protected_memory;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
        VkPhysicalDeviceVulkan12Features *f = (void *)s;
        f->uniformBufferStandardLayout = VK_TRUE;
        f->scalarBlockLayout = VK_TRUE;
        f->subgroupBroadcastDynamicId = VK_TRUE;
        f->shaderSubgroupExtendedTypes = VK_TRUE;
        f->imagelessFramebuffer = VK_TRUE;
        f->separateDepthStencilLayouts = VK_TRUE;
        f->hostQueryReset = VK_TRUE;
        f->timelineSemaphore = timeline;
        f->bufferDeviceAddress = VK_TRUE;
        f->vulkanMemoryModel = VK_TRUE;
        f->vulkanMemoryModelDeviceScope = VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES: {
        VkPhysicalDeviceVulkan13Features *f = (void *)s;
        f->robustImageAccess = VK_TRUE;
        f->inlineUniformBlock = VK_TRUE;
        f->pipelineCreationCacheControl = VK_TRUE;
        f->privateData = VK_TRUE;
        f->shaderDemoteToHelperInvocation = VK_TRUE;
        f->shaderTerminateInvocation = VK_TRUE;
        f->subgroupSizeControl = VK_TRUE;
        f->computeFullSubgroups = VK_TRUE;
        f->synchronization2 = synchronization2;
        f->shaderZeroInitializeWorkgroupMemory = VK_TRUE;
        f->dynamicRendering = VK_TRUE;
        f->shaderIntegerDotProduct = VK_TRUE;
        f->maintenance4 = VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT:
        ((VkPhysicalDeviceFaultFeaturesEXT *)s)->deviceFault = config->reports;
        break;
#define FEATURE(type_, name_, field_, value_)                                                      \
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type_##_FEATURES:                                     \
        ((VkPhysicalDevice##name_##Features *)s)->field_ = value_;                                 \
        break
        FEATURE(16BIT_STORAGE, 16BitStorage, storageBuffer16BitAccess, VK_TRUE);
        FEATURE(MULTIVIEW, Multiview, multiview, VK_TRUE);
        FEATURE(PROTECTED_MEMORY, ProtectedMemory, protectedMemory, config->protected_memory);
        FEATURE(SHADER_DRAW_PARAMETERS, ShaderDrawParameters, shaderDrawParameters, VK_TRUE);
        FEATURE(SCALAR_BLOCK_LAYOUT, ScalarBlockLayout, scalarBlockLayout, VK_TRUE);
        FEATURE(IMAGELESS_FRAMEBUFFER, ImagelessFramebuffer, imagelessFramebuffer, VK_TRUE);
        FEATURE(UNIFORM_BUFFER_STANDARD_LAYOUT, UniformBufferStandardLayout,
                uniformBufferStandardLayout, VK_TRUE);
        FEATURE(SHADER_SUBGROUP_EXTENDED_TYPES, ShaderSubgroupExtendedTypes,
                shaderSubgroupExtendedTypes, VK_TRUE);
        FEATURE(SEPARATE_DEPTH_STENCIL_LAYOUTS, SeparateDepthStencilLayouts,
                separateDepthStencilLayouts, VK_TRUE);
        FEATURE(HOST_QUERY_RESET, HostQueryReset, hostQueryReset, VK_TRUE);
        FEATURE(TIMELINE_SEMAPHORE, TimelineSemaphore, timelineSemaphore, timeline);
        FEATURE(BUFFER_DEVICE_ADDRESS, BufferDeviceAddress, bufferDeviceAddress, VK_TRUE);
        FEATURE(IMAGE_ROBUSTNESS, ImageRobustness, robustImageAccess, VK_TRUE);
        FEATURE(INLINE_UNIFORM_BLOCK, InlineUniformBlock, inlineUniformBlock, VK_TRUE);
        FEATURE(PIPELINE_CREATION_CACHE_CONTROL, PipelineCreationCacheControl,
                pipelineCreationCacheControl, VK_TRUE);
        FEATURE(PRIVATE_DATA, PrivateData, privateData, VK_TRUE);
        FEATURE(SHADER_DEMOTE_TO_HELPER_INVOCATION, ShaderDemoteToHelperInvocation,
                shaderDemoteToHelperInvocation, VK_TRUE);
        FEATURE(SHADER_TERMINATE_INVOCATION, ShaderTerminateInvocation, shaderTerminateInvocation,
                VK_TRUE);
        FEATURE(SYNCHRONIZATION_2, Synchronization2, synchronization2, synchronization2);
        FEATURE(ZERO_INITIALIZE_WORKGROUP_MEMORY, ZeroInitializeWorkgroupMemory,
                shaderZeroInitializeWorkgroupMemory, VK_TRUE);
        FEATURE(DYNAMIC_RENDERING, DynamicRendering, dynamicRendering, VK_TRUE);
        FEATURE(SHADER_INTEGER_DOT_PRODUCT, ShaderIntegerDotProduct, shaderIntegerDotProduct,
                VK_TRUE);
        FEATURE(MAINTENANCE_4, Maintenance4, maintenance4, VK_TRUE);
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VARIABLE_POINTERS_FEATURES: {
        VkPhysicalDeviceVariablePointersFeatures *f = (void *)s;
        f->variablePointers = f->variablePointersStorageBuffer = VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES: {
        VkPhysicalDeviceVulkanMemoryModelFeatures *f = (void *)s;
        f->vulkanMemoryModel = f->vulkanMemoryModelDeviceScope = VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES: {
        VkPhysicalDeviceSubgroupSizeControlFeatures *f = (void *)s;
        f->subgroupSizeControl = f->computeFullSubgroups = VK_TRUE;
        break;
    }
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GLOBAL_PRIORITY_QUERY_FEATURES_KHR:
        ((VkPhysicalDeviceGlobalPriorityQueryFeaturesKHR *)s)->globalPriorityQuery = VK_TRUE;
        break;
    default:
        break;
    }
}

static void icd_GetPhysicalDeviceFeatures(VkPhysicalDevice physicalDevice,
                                          VkPhysicalDeviceFeatures *pFeatures)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    vulkan10_fill(&physical->config, pFeatures);
}

static void icd_GetPhysicalDeviceFeatures2(VkPhysicalDevice physicalDevice,
                                           VkPhysicalDeviceFeatures2 *pFeatures)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    vulkan10_fill(&physical->config, &pFeatures->features);
    for (VkBaseOutStructure *s = pFeatures->pNext; s; s = s->pNext) {
        const struct feature_struct *known = struct_find(s->sType);
        if (!known)
            continue;
        memset((uint8_t *)s + HEAD, 0, known->size - HEAD);
        struct_fill(&physical->config, s);
    }
}

/* The index of a feature that is asked for and not offered, -1 if there is none. */
static int excess(const void *asked, const void *offered, size_t size)
{
    const VkBool32 *a = asked;
    const VkBool32 *o = offered;
    for (size_t i = 0; i < size / sizeof(VkBool32); i++)
        if (a[i] && !o[i])
            return (int)i;
    return -1;
}

static VkResult excess_tell(int index, const char *name)
{
    if (index < 0)
        return VK_SUCCESS;
    fprintf(stderr, "belfry test driver: vkCreateDevice: %s: feature %d (from 0) isn't offered\n",
            name, index);
    return VK_ERROR_FEATURE_NOT_PRESENT;
}

static VkResult features10_check(const struct icd_config *config,
                                 const VkPhysicalDeviceFeatures *asked)
{
    VkPhysicalDeviceFeatures offered;
    vulkan10_fill(config, &offered);
    return excess_tell(excess(asked, &offered, sizeof(offered)), "VkPhysicalDeviceFeatures");
}

VkResult icd_features_check(const struct icd_config *config, const VkDeviceCreateInfo *info)
{
    if (info->pEnabledFeatures) {
        VkResult result = features10_check(config, info->pEnabledFeatures);
        if (result != VK_SUCCESS)
            return result;
    }
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
            VkResult result =
                features10_check(config, &((const VkPhysicalDeviceFeatures2 *)s)->features);
            if (result != VK_SUCCESS)
                return result;
            continue;
        }
        const struct feature_struct *known = struct_find(s->sType);
        if (!known)
            continue;
        union {
            VkBaseOutStructure head;
            uint8_t bytes[LARGEST];
        } offered = {.head = {.sType = s->sType}};
        struct_fill(config, &offered.head);
        VkResult result =
            excess_tell(excess((const uint8_t *)s + HEAD, offered.bytes + HEAD, known->size - HEAD),
                        known->name);
        if (result != VK_SUCCESS)
            return result;
    }
    return VK_SUCCESS;
}

/* Formats ----------------------------------------------------------------------------------- */

static VkFormatProperties format_fill(VkFormat format)
{
    VkFormatProperties p = {0};
    const VkFormatFeatureFlags transfer =
        VK_FORMAT_FEATURE_TRANSFER_SRC_BIT | VK_FORMAT_FEATURE_TRANSFER_DST_BIT;
    const VkFormatFeatureFlags sampled = transfer | VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT |
                                         VK_FORMAT_FEATURE_SAMPLED_IMAGE_FILTER_LINEAR_BIT |
                                         VK_FORMAT_FEATURE_BLIT_SRC_BIT;

    if (format >= VK_FORMAT_D16_UNORM && format <= VK_FORMAT_D32_SFLOAT_S8_UINT) {
        p.optimalTilingFeatures = sampled | VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT |
                                  VK_FORMAT_FEATURE_BLIT_DST_BIT;
    } else if (format >= VK_FORMAT_R4G4_UNORM_PACK8 && format <= VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
        p.optimalTilingFeatures =
            sampled | VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT |
            VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BLEND_BIT | VK_FORMAT_FEATURE_BLIT_DST_BIT |
            VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT | VK_FORMAT_FEATURE_STORAGE_IMAGE_ATOMIC_BIT;
        p.linearTilingFeatures = sampled;
        p.bufferFeatures = VK_FORMAT_FEATURE_VERTEX_BUFFER_BIT |
                           VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT |
                           VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT |
                           VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_ATOMIC_BIT;
    } else if (format >= VK_FORMAT_BC1_RGB_UNORM_BLOCK && format <= VK_FORMAT_BC7_SRGB_BLOCK) {
        p.optimalTilingFeatures = sampled;
    }
    return p;
}

static void icd_GetPhysicalDeviceFormatProperties(VkPhysicalDevice physicalDevice, VkFormat format,
                                                  VkFormatProperties *pProperties)
{
    *pProperties = format_fill(format);
}

static void icd_GetPhysicalDeviceFormatProperties2(VkPhysicalDevice physicalDevice, VkFormat format,
                                                   VkFormatProperties2 *pProperties)
{
    pProperties->formatProperties = format_fill(format);
    for (VkBaseOutStructure *s = pProperties->pNext; s; s = s->pNext) {
        if (s->sType == VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3) {
            VkFormatProperties3 *p = (void *)s;
            p->linearTilingFeatures = pProperties->formatProperties.linearTilingFeatures;
            p->optimalTilingFeatures = pProperties->formatProperties.optimalTilingFeatures;
            p->bufferFeatures = pProperties->formatProperties.bufferFeatures;
        }
    }
}

static VkResult image_format_fill(VkFormat format, VkImageType type, VkImageTiling tiling,
                                  VkImageUsageFlags usage, VkImageCreateFlags flags,
                                  VkImageFormatProperties *p)
{
    *p = (VkImageFormatProperties){0};
    VkFormatProperties properties = format_fill(format);
    VkFormatFeatureFlags features = tiling == VK_IMAGE_TILING_LINEAR
                                        ? properties.linearTilingFeatures
                                        : properties.optimalTilingFeatures;
    VkFormatFeatureFlags needed = 0;
    if (usage & VK_IMAGE_USAGE_SAMPLED_BIT)
        needed |= VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT;
    if (usage & VK_IMAGE_USAGE_STORAGE_BIT)
        needed |= VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT;
    if (usage & VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT)
        needed |= VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT;
    if (usage & VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT)
        needed |= VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT;
    if (!features || (features & needed) != needed ||
        (flags & VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT) ||
        (tiling == VK_IMAGE_TILING_LINEAR && type != VK_IMAGE_TYPE_2D))
        return VK_ERROR_FORMAT_NOT_SUPPORTED;

    bool linear = tiling == VK_IMAGE_TILING_LINEAR;
    p->maxExtent = (VkExtent3D){16384, 1, 1};
    if (type == VK_IMAGE_TYPE_2D)
        p->maxExtent.height = 16384;
    if (type == VK_IMAGE_TYPE_3D)
        p->maxExtent = (VkExtent3D){2048, 2048, 2048};
    p->maxMipLevels = linear ? 1 : type == VK_IMAGE_TYPE_3D ? 12 : 15;
    p->maxArrayLayers = linear || type == VK_IMAGE_TYPE_3D ? 1 : 2048;
    p->sampleCounts = VK_SAMPLE_COUNT_1_BIT;
    if (!linear && type == VK_IMAGE_TYPE_2D && !(flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) &&
        (features & (VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT |
                     VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT)) &&
        !(usage & VK_IMAGE_USAGE_STORAGE_BIT))
        p->sampleCounts |= VK_SAMPLE_COUNT_4_BIT;
    p->maxResourceSize = ICD_HEAP_SIZE;
    return VK_SUCCESS;
}

static VkResult icd_GetPhysicalDeviceImageFormatProperties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type, VkImageTiling tiling,
    VkImageUsageFlags usage, VkImageCreateFlags flags, VkImageFormatProperties *pProperties)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    if (icd_oom(physical->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    return image_format_fill(format, type, tiling, usage, flags, pProperties);
}

static VkResult
icd_GetPhysicalDeviceImageFormatProperties2(VkPhysicalDevice physicalDevice,
                                            const VkPhysicalDeviceImageFormatInfo2 *pInfo,
                                            VkImageFormatProperties2 *pProperties)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    if (icd_oom(physical->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (const VkBaseInStructure *s = pInfo->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO &&
            ((const VkPhysicalDeviceExternalImageFormatInfo *)s)->handleType)
            return VK_ERROR_FORMAT_NOT_SUPPORTED;
    return image_format_fill(pInfo->format, pInfo->type, pInfo->tiling, pInfo->usage, pInfo->flags,
                             &pProperties->imageFormatProperties);
}

static void icd_GetPhysicalDeviceSparseImageFormatProperties(
    VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type,
    VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageTiling tiling, uint32_t *pCount,
    VkSparseImageFormatProperties *pProperties)
{
    *pCount = 0;
}

static void icd_GetPhysicalDeviceSparseImageFormatProperties2(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2 *pInfo,
    uint32_t *pCount, VkSparseImageFormatProperties2 *pProperties)
{
    *pCount = 0;
}

static void
icd_GetPhysicalDeviceExternalBufferProperties(VkPhysicalDevice physicalDevice,
                                              const VkPhysicalDeviceExternalBufferInfo *pInfo,
                                              VkExternalBufferProperties *pProperties)
{
    struct icd_physical *physical =
        ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, physicalDevice);
    VkExternalMemoryProperties *p = &pProperties->externalMemoryProperties;
    *p = (VkExternalMemoryProperties){0};
    if (pInfo->handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT &&
        icd_extension_offered(&physical->config, ICD_EXT_EXTERNAL_MEMORY_HOST) &&
        !(pInfo->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT)) {
        p->externalMemoryFeatures = VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
        p->compatibleHandleTypes = pInfo->handleType;
    }
}

const struct icd_entry icd_feature_entries[] = {
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceFeatures),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2, GetPhysicalDeviceFeatures2),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceFormatProperties),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceFormatProperties2),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceImageFormatProperties),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceImageFormatProperties2),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceSparseImageFormatProperties),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceSparseImageFormatProperties2),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_EXTERNAL_MEMORY_CAPABILITIES,
             GetPhysicalDeviceExternalBufferProperties),
    ICD_END};
