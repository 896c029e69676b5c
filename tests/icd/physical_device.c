/* SPDX-License-Identifier: MIT */
/* The physical device: families, memory, limits, properties, and what extensions it offers.
 * Features are in features.c. */
#include "icd.h"

#define PHYSICAL(handle_) ICD_FROM(icd_physical, ICD_KIND_PHYSICAL_DEVICE, handle_)

/* Ours alone: not a number that a vendor has. */
#define VENDOR_ID      0x1be1f
#define DRIVER_VERSION 1
#define LATE_VERSION   VK_MAKE_VERSION(22, 3, 6) /* of the driver that has the bug */

static const uint8_t device_uuid[VK_UUID_SIZE] = "belfry-test-dev"; /* the last byte: the ordinal */
static const uint8_t driver_uuid[VK_UUID_SIZE] = "belfry-test-drv";

bool icd_extension_offered(const struct icd_config *config, enum icd_extension extension)
{
    switch (extension) {
    case ICD_EXT_NONE:
    case ICD_EXTENSION_COUNT:
        return false;
    /* On a 1.0 device these depend on an extension of the instance. */
    case ICD_KHR_TIMELINE_SEMAPHORE:
        return config->timeline && (config->minor > 0 || config->properties2);
    case ICD_KHR_SYNCHRONIZATION_2:
        return config->synchronization2 && (config->minor > 0 || config->properties2);
    case ICD_EXT_EXTERNAL_MEMORY_HOST:
        return config->host_memory && (config->minor > 0 || config->properties2);
    case ICD_NV_DEVICE_GENERATED_COMMANDS:
    case ICD_NV_DEVICE_GENERATED_COMMANDS_COMPUTE:
    case ICD_EXT_DEVICE_GENERATED_COMMANDS:
        return config->generated;
    case ICD_EXT_DEVICE_FAULT:
    case ICD_NV_DEVICE_DIAGNOSTIC_CHECKPOINTS:
        return config->reports;
    case ICD_NV_LOW_LATENCY_2:
    case ICD_NV_LOW_LATENCY:
    case ICD_QCOM_QUEUE_PERF_HINT:
    case ICD_NV_EXTERNAL_COMPUTE_QUEUE:
    case ICD_KHR_PRESENT_ID:
        return config->latency;
    case ICD_KHR_INTERNALLY_SYNCHRONIZED_QUEUES:
        return config->internal_queues;
    default:
        return true;
    }
}

static VkResult icd_EnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice,
                                                       const char *pLayerName, uint32_t *pCount,
                                                       VkExtensionProperties *pProperties)
{
    struct icd_physical *physical = PHYSICAL(physicalDevice);
    if (pLayerName)
        return VK_ERROR_LAYER_NOT_PRESENT;
    if (icd_oom(physical->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkExtensionProperties offered[ICD_EXTENSION_COUNT + 1];
    uint32_t n = 0;
    for (int e = ICD_INSTANCE_EXTENSIONS_END; e < ICD_EXTENSION_COUNT; e++)
        if (icd_extension_offered(&physical->config, (enum icd_extension)e))
            offered[n++] = icd_extension_properties[e];
    if (physical->config.hollow[0]) {
        offered[n] = (VkExtensionProperties){.specVersion = 1};
        memcpy(offered[n++].extensionName, physical->config.hollow,
               sizeof(physical->config.hollow));
    }
    return icd_enumerate(pCount, pProperties, sizeof(*pProperties), offered, n);
}

static VkResult icd_EnumerateDeviceLayerProperties(VkPhysicalDevice physicalDevice,
                                                   uint32_t *pCount, VkLayerProperties *pProperties)
{
    *pCount = 0;
    return VK_SUCCESS;
}

/* Families and memory ----------------------------------------------------------------------- */

static void family_fill(const struct icd_family *family, VkQueueFamilyProperties *properties)
{
    *properties = (VkQueueFamilyProperties){
        .queueFlags = family->flags & ~ICD_WHOLE,
        .queueCount = family->count,
        .timestampValidBits = family->timestamp_bits,
    };
    if (!(family->flags & ICD_WHOLE))
        properties->minImageTransferGranularity = (VkExtent3D){1, 1, 1};
}

static void icd_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physicalDevice,
                                                       uint32_t *pCount,
                                                       VkQueueFamilyProperties *pProperties)
{
    const struct icd_shape *shape = &PHYSICAL(physicalDevice)->config.shape;
    VkQueueFamilyProperties all[ICD_MAX_FAMILIES];
    for (uint32_t i = 0; i < shape->n_families; i++)
        family_fill(&shape->families[i], &all[i]);
    icd_enumerate(pCount, pProperties, sizeof(all[0]), all, shape->n_families);
}

static void icd_GetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice physicalDevice,
                                                        uint32_t *pCount,
                                                        VkQueueFamilyProperties2 *pProperties)
{
    const struct icd_shape *shape = &PHYSICAL(physicalDevice)->config.shape;
    if (!pProperties) {
        *pCount = shape->n_families;
        return;
    }
    if (*pCount > shape->n_families)
        *pCount = shape->n_families;
    for (uint32_t i = 0; i < *pCount; i++) {
        family_fill(&shape->families[i], &pProperties[i].queueFamilyProperties);
        for (VkBaseOutStructure *s = pProperties[i].pNext; s; s = s->pNext) {
            if (s->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_GLOBAL_PRIORITY_PROPERTIES_KHR) {
                VkQueueFamilyGlobalPriorityPropertiesKHR *p = (void *)s;
                p->priorityCount = 4;
                p->priorities[0] = VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR;
                p->priorities[1] = VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
                p->priorities[2] = VK_QUEUE_GLOBAL_PRIORITY_HIGH_KHR;
                p->priorities[3] = VK_QUEUE_GLOBAL_PRIORITY_REALTIME_KHR;
            }
        }
    }
}

uint32_t icd_host_pointer_types(const struct icd_config *config)
{
    uint32_t types = 0;
    for (uint32_t i = 0; i < config->memory.n_types; i++)
        if (config->memory.types[i].flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)
            types |= 1u << i;
    return types;
}

static void icd_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice physicalDevice,
                                                  VkPhysicalDeviceMemoryProperties *pProperties)
{
    const struct icd_memory_shape *memory = &PHYSICAL(physicalDevice)->config.memory;
    *pProperties = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = memory->n_types,
        .memoryHeapCount = 1,
        .memoryHeaps = {{ICD_HEAP_SIZE, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {ICD_HEAP_SIZE, 0}},
    };
    for (uint32_t i = 0; i < memory->n_types; i++) {
        pProperties->memoryTypes[i].propertyFlags = memory->types[i].flags;
        pProperties->memoryTypes[i].heapIndex = memory->types[i].heap;
        if (memory->types[i].heap)
            pProperties->memoryHeapCount = 2;
    }
}

static void icd_GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physicalDevice,
                                                   VkPhysicalDeviceMemoryProperties2 *pProperties)
{
    icd_GetPhysicalDeviceMemoryProperties(physicalDevice, &pProperties->memoryProperties);
}

/* Properties -------------------------------------------------------------------------------- */

/* The limits that Vulkan 1.3 demands, or a little more where programs commonly ask for more. */
static void limits_fill(const struct icd_config *config, VkPhysicalDeviceLimits *limits)
{
    bool timestamps = true;
    for (uint32_t i = 0; i < config->shape.n_families; i++)
        if (config->shape.families[i].flags & (VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT))
            timestamps &= config->shape.families[i].timestamp_bits != 0;
    bool sparse = false;
    for (uint32_t i = 0; i < config->shape.n_families; i++)
        sparse |= (config->shape.families[i].flags & VK_QUEUE_SPARSE_BINDING_BIT) != 0;

    *limits = (VkPhysicalDeviceLimits){
        .maxImageDimension1D = 16384,
        .maxImageDimension2D = 16384,
        .maxImageDimension3D = 2048,
        .maxImageDimensionCube = 16384,
        .maxImageArrayLayers = 2048,
        .maxTexelBufferElements = 1 << 27,
        .maxUniformBufferRange = 65536,
        .maxStorageBufferRange = 1 << 30,
        .maxPushConstantsSize = 256,
        .maxMemoryAllocationCount = 1 << 20,
        .maxSamplerAllocationCount = 1 << 16,
        .bufferImageGranularity = 1,
        .sparseAddressSpaceSize = sparse ? UINT64_C(1) << 40 : 0,
        .maxBoundDescriptorSets = 8,
        .maxPerStageDescriptorSamplers = 64,
        .maxPerStageDescriptorUniformBuffers = 32,
        .maxPerStageDescriptorStorageBuffers = 64,
        .maxPerStageDescriptorSampledImages = 256,
        .maxPerStageDescriptorStorageImages = 64,
        .maxPerStageDescriptorInputAttachments = 8,
        .maxPerStageResources = 512,
        .maxDescriptorSetSamplers = 512,
        .maxDescriptorSetUniformBuffers = 256,
        .maxDescriptorSetUniformBuffersDynamic = 16,
        .maxDescriptorSetStorageBuffers = 512,
        .maxDescriptorSetStorageBuffersDynamic = 16,
        .maxDescriptorSetSampledImages = 1024,
        .maxDescriptorSetStorageImages = 512,
        .maxDescriptorSetInputAttachments = 8,
        .maxVertexInputAttributes = 32,
        .maxVertexInputBindings = 32,
        .maxVertexInputAttributeOffset = 2047,
        .maxVertexInputBindingStride = 2048,
        .maxVertexOutputComponents = 128,
        .maxFragmentInputComponents = 128,
        .maxFragmentOutputAttachments = 8,
        .maxFragmentDualSrcAttachments = 1,
        .maxFragmentCombinedOutputResources = 128,
        .maxComputeSharedMemorySize = 32768,
        .maxComputeWorkGroupCount = {65535, 65535, 65535},
        .maxComputeWorkGroupInvocations = 1024,
        .maxComputeWorkGroupSize = {1024, 1024, 64},
        .subPixelPrecisionBits = 8,
        .subTexelPrecisionBits = 8,
        .mipmapPrecisionBits = 8,
        .maxDrawIndexedIndexValue = UINT32_MAX,
        .maxDrawIndirectCount = UINT32_MAX,
        .maxSamplerLodBias = 15.0f,
        .maxSamplerAnisotropy = 16.0f,
        .maxViewports = 16,
        .maxViewportDimensions = {16384, 16384},
        .viewportBoundsRange = {-32768.0f, 32767.0f},
        .viewportSubPixelBits = 8,
        .minMemoryMapAlignment = 4096,
        .minTexelBufferOffsetAlignment = 16,
        .minUniformBufferOffsetAlignment = 64,
        .minStorageBufferOffsetAlignment = 16,
        .minTexelOffset = -8,
        .maxTexelOffset = 7,
        .minTexelGatherOffset = -8,
        .maxTexelGatherOffset = 7,
        .minInterpolationOffset = -0.5f,
        .maxInterpolationOffset = 0.4375f,
        .subPixelInterpolationOffsetBits = 4,
        .maxFramebufferWidth = 16384,
        .maxFramebufferHeight = 16384,
        .maxFramebufferLayers = 2048,
        .framebufferColorSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .framebufferDepthSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .framebufferStencilSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .framebufferNoAttachmentsSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .maxColorAttachments = 8,
        .sampledImageColorSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .sampledImageIntegerSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .sampledImageDepthSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .sampledImageStencilSampleCounts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT,
        .storageImageSampleCounts = VK_SAMPLE_COUNT_1_BIT,
        .maxSampleMaskWords = 1,
        .timestampComputeAndGraphics = timestamps,
        .timestampPeriod = (float)config->shape.per_ns / (float)config->shape.ticks,
        .maxClipDistances = 8,
        .maxCullDistances = 8,
        .maxCombinedClipAndCullDistances = 8,
        .discreteQueuePriorities = 2,
        .pointSizeRange = {1.0f, 256.0f},
        .lineWidthRange = {1.0f, 1.0f},
        .pointSizeGranularity = 0.125f,
        .strictLines = VK_TRUE,
        .standardSampleLocations = VK_TRUE,
        .optimalBufferCopyOffsetAlignment = 16,
        .optimalBufferCopyRowPitchAlignment = 16,
        .nonCoherentAtomSize = ICD_ATOM};
}

static void icd_GetPhysicalDeviceProperties(VkPhysicalDevice physicalDevice,
                                            VkPhysicalDeviceProperties *pProperties)
{
    const struct icd_config *config = &PHYSICAL(physicalDevice)->config;
    *pProperties = (VkPhysicalDeviceProperties){
        .apiVersion = VK_MAKE_API_VERSION(0, 1, config->minor, VK_HEADER_VERSION),
        .driverVersion = config->late_wait_points ? LATE_VERSION : DRIVER_VERSION,
        .vendorID = VENDOR_ID,
        .deviceID = 1 + config->ordinal,
        .deviceType =
            config->gpu ? VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU : VK_PHYSICAL_DEVICE_TYPE_CPU};
    char number[16] = "";
    if (config->ordinal)
        snprintf(number, sizeof(number), " %u", config->ordinal + 1);
    snprintf(pProperties->deviceName, sizeof(pProperties->deviceName), "Belfry test driver%s (%s)",
             number, config->shape.name);
    memcpy(pProperties->pipelineCacheUUID, driver_uuid, VK_UUID_SIZE);
    limits_fill(config, &pProperties->limits);
}

static void vulkan11_fill(const struct icd_config *config, VkPhysicalDeviceVulkan11Properties *p)
{
    memcpy(p->deviceUUID, device_uuid, VK_UUID_SIZE);
    p->deviceUUID[VK_UUID_SIZE - 1] = (uint8_t)config->ordinal;
    memcpy(p->driverUUID, driver_uuid, VK_UUID_SIZE);
    memset(p->deviceLUID, 0, VK_LUID_SIZE);
    p->deviceNodeMask = 0;
    p->deviceLUIDValid = VK_FALSE;
    p->subgroupSize = 8;
    p->subgroupSupportedStages = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;
    p->subgroupSupportedOperations = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                                     VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
                                     VK_SUBGROUP_FEATURE_BALLOT_BIT;
    p->subgroupQuadOperationsInAllStages = VK_FALSE;
    p->pointClippingBehavior = VK_POINT_CLIPPING_BEHAVIOR_ALL_CLIP_PLANES;
    p->maxMultiviewViewCount = 6;
    p->maxMultiviewInstanceIndex = (1u << 27) - 1;
    p->protectedNoFault = VK_FALSE;
    p->maxPerSetDescriptors = 1024;
    p->maxMemoryAllocationSize = ICD_MAX_ALLOCATION;
}

static void vulkan12_fill(const struct icd_config *config, VkPhysicalDeviceVulkan12Properties *p)
{
    void *next = p->pNext;
    VkStructureType type = p->sType;
    *p = (VkPhysicalDeviceVulkan12Properties){
        .sType = type,
        .pNext = next,
        /* No registered driver id is ours; programs that switch on ids then know nothing. With a
         * bug, it is that of the driver which has it. */
        .driverID = config->late_wait_points ? VK_DRIVER_ID_MESA_LLVMPIPE : (VkDriverId)0,
        .driverName = "Belfry test driver",
        .driverInfo = "a test driver: it runs transfers and synchronisation, and draws nothing",
        .conformanceVersion = {0, 0, 0, 0},
        .denormBehaviorIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL,
        .roundingModeIndependence = VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL,
        .maxUpdateAfterBindDescriptorsInAllPools = 1 << 20,
        .maxPerStageDescriptorUpdateAfterBindSamplers = 1 << 16,
        .maxPerStageDescriptorUpdateAfterBindUniformBuffers = 1 << 16,
        .maxPerStageDescriptorUpdateAfterBindStorageBuffers = 1 << 16,
        .maxPerStageDescriptorUpdateAfterBindSampledImages = 1 << 16,
        .maxPerStageDescriptorUpdateAfterBindStorageImages = 1 << 16,
        .maxPerStageDescriptorUpdateAfterBindInputAttachments = 1 << 16,
        .maxPerStageUpdateAfterBindResources = 1 << 18,
        .maxDescriptorSetUpdateAfterBindSamplers = 1 << 16,
        .maxDescriptorSetUpdateAfterBindUniformBuffers = 1 << 16,
        .maxDescriptorSetUpdateAfterBindUniformBuffersDynamic = 16,
        .maxDescriptorSetUpdateAfterBindStorageBuffers = 1 << 16,
        .maxDescriptorSetUpdateAfterBindStorageBuffersDynamic = 16,
        .maxDescriptorSetUpdateAfterBindSampledImages = 1 << 16,
        .maxDescriptorSetUpdateAfterBindStorageImages = 1 << 16,
        .maxDescriptorSetUpdateAfterBindInputAttachments = 1 << 16,
        .supportedDepthResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .supportedStencilResolveModes = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
        .maxTimelineSemaphoreValueDifference = config->difference,
        .framebufferIntegerColorSampleCounts = VK_SAMPLE_COUNT_1_BIT};
    size_t used = strlen(p->driverInfo);
    snprintf(p->driverInfo + used, sizeof(p->driverInfo) - used, "%s", config->build);
}

static void vulkan13_fill(const struct icd_config *config, VkPhysicalDeviceVulkan13Properties *p)
{
    void *next = p->pNext;
    VkStructureType type = p->sType;
    *p = (VkPhysicalDeviceVulkan13Properties){
        .sType = type,
        .pNext = next,
        .minSubgroupSize = 8,
        .maxSubgroupSize = config->subgroup_most,
        .maxComputeWorkgroupSubgroups = 128,
        .maxInlineUniformBlockSize = 256,
        .maxPerStageDescriptorInlineUniformBlocks = 4,
        .maxPerStageDescriptorUpdateAfterBindInlineUniformBlocks = 4,
        .maxDescriptorSetInlineUniformBlocks = 4,
        .maxDescriptorSetUpdateAfterBindInlineUniformBlocks = 4,
        .maxInlineUniformTotalSize = 256,
        .storageTexelBufferOffsetAlignmentBytes = 16,
        .uniformTexelBufferOffsetAlignmentBytes = 16,
        .maxBufferSize = ICD_MAX_ALLOCATION};
}

/* The separate structs say what the collected ones say. Structs unknown here stay as they are. */
static void properties_chain_fill(const struct icd_config *config, VkBaseOutStructure *chain)
{
    VkPhysicalDeviceVulkan11Properties v11 = {0};
    VkPhysicalDeviceVulkan12Properties v12 = {0};
    VkPhysicalDeviceVulkan13Properties v13 = {0};
    vulkan11_fill(config, &v11);
    vulkan12_fill(config, &v12);
    vulkan13_fill(config, &v13);

    for (VkBaseOutStructure *s = chain; s; s = s->pNext) {
        switch (s->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES:
            vulkan11_fill(config, (void *)s);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES:
            vulkan12_fill(config, (void *)s);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES:
            vulkan13_fill(config, (void *)s);
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES: {
            VkPhysicalDeviceIDProperties *p = (void *)s;
            memcpy(p->deviceUUID, v11.deviceUUID, VK_UUID_SIZE);
            memcpy(p->driverUUID, v11.driverUUID, VK_UUID_SIZE);
            memset(p->deviceLUID, 0, VK_LUID_SIZE);
            p->deviceNodeMask = 0;
            p->deviceLUIDValid = VK_FALSE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES: {
            VkPhysicalDeviceSubgroupProperties *p = (void *)s;
            p->subgroupSize = v11.subgroupSize;
            p->supportedStages = v11.subgroupSupportedStages;
            p->supportedOperations = v11.subgroupSupportedOperations;
            p->quadOperationsInAllStages = VK_FALSE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_POINT_CLIPPING_PROPERTIES:
            ((VkPhysicalDevicePointClippingProperties *)s)->pointClippingBehavior =
                v11.pointClippingBehavior;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_PROPERTIES: {
            VkPhysicalDeviceMultiviewProperties *p = (void *)s;
            p->maxMultiviewViewCount = v11.maxMultiviewViewCount;
            p->maxMultiviewInstanceIndex = v11.maxMultiviewInstanceIndex;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROTECTED_MEMORY_PROPERTIES:
            ((VkPhysicalDeviceProtectedMemoryProperties *)s)->protectedNoFault = VK_FALSE;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES: {
            VkPhysicalDeviceMaintenance3Properties *p = (void *)s;
            p->maxPerSetDescriptors = v11.maxPerSetDescriptors;
            p->maxMemoryAllocationSize = v11.maxMemoryAllocationSize;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES: {
            VkPhysicalDeviceDriverProperties *p = (void *)s;
            p->driverID = v12.driverID;
            memcpy(p->driverName, v12.driverName, sizeof(p->driverName));
            memcpy(p->driverInfo, v12.driverInfo, sizeof(p->driverInfo));
            p->conformanceVersion = v12.conformanceVersion;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DEPTH_STENCIL_RESOLVE_PROPERTIES: {
            VkPhysicalDeviceDepthStencilResolveProperties *p = (void *)s;
            p->supportedDepthResolveModes = v12.supportedDepthResolveModes;
            p->supportedStencilResolveModes = v12.supportedStencilResolveModes;
            p->independentResolveNone = VK_FALSE;
            p->independentResolve = VK_FALSE;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_PROPERTIES:
            ((VkPhysicalDeviceTimelineSemaphoreProperties *)s)
                ->maxTimelineSemaphoreValueDifference = v12.maxTimelineSemaphoreValueDifference;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT:
            if (icd_extension_offered(config, ICD_EXT_EXTERNAL_MEMORY_HOST))
                ((VkPhysicalDeviceExternalMemoryHostPropertiesEXT *)s)
                    ->minImportedHostPointerAlignment = ICD_IMPORT_ALIGNMENT;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES:
            ((VkPhysicalDeviceMaintenance4Properties *)s)->maxBufferSize = v13.maxBufferSize;
            break;
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES: {
            VkPhysicalDeviceSubgroupSizeControlProperties *p = (void *)s;
            p->minSubgroupSize = v13.minSubgroupSize;
            p->maxSubgroupSize = v13.maxSubgroupSize;
            p->maxComputeWorkgroupSubgroups = v13.maxComputeWorkgroupSubgroups;
            p->requiredSubgroupSizeStages = 0;
            break;
        }
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TEXEL_BUFFER_ALIGNMENT_PROPERTIES: {
            VkPhysicalDeviceTexelBufferAlignmentProperties *p = (void *)s;
            p->storageTexelBufferOffsetAlignmentBytes = 16;
            p->storageTexelBufferOffsetSingleTexelAlignment = VK_FALSE;
            p->uniformTexelBufferOffsetAlignmentBytes = 16;
            p->uniformTexelBufferOffsetSingleTexelAlignment = VK_FALSE;
            break;
        }
        default:
            break;
        }
    }
}

static void icd_GetPhysicalDeviceProperties2(VkPhysicalDevice physicalDevice,
                                             VkPhysicalDeviceProperties2 *pProperties)
{
    icd_GetPhysicalDeviceProperties(physicalDevice, &pProperties->properties);
    properties_chain_fill(&PHYSICAL(physicalDevice)->config, pProperties->pNext);
}

/* What else is asked of a physical device --------------------------------------------------- */

static VkResult icd_GetPhysicalDeviceToolProperties(VkPhysicalDevice physicalDevice,
                                                    uint32_t *pCount,
                                                    VkPhysicalDeviceToolProperties *pProperties)
{
    *pCount = 0;
    return VK_SUCCESS;
}

static VkResult icd_GetPhysicalDeviceCalibrateableTimeDomainsEXT(VkPhysicalDevice physicalDevice,
                                                                 uint32_t *pCount,
                                                                 VkTimeDomainEXT *pDomains)
{
    if (icd_oom(PHYSICAL(physicalDevice)->instance))
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    static const VkTimeDomainEXT domains[] = {VK_TIME_DOMAIN_DEVICE_EXT,
                                              VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT,
                                              VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT};
    return icd_enumerate(pCount, pDomains, sizeof(domains[0]), domains, 3);
}

static void
icd_GetPhysicalDeviceExternalSemaphoreProperties(VkPhysicalDevice physicalDevice,
                                                 const VkPhysicalDeviceExternalSemaphoreInfo *pInfo,
                                                 VkExternalSemaphoreProperties *pProperties)
{
    bool timeline = false;
    for (const VkBaseInStructure *s = pInfo->pNext; s; s = s->pNext)
        if (s->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO)
            timeline = ((const VkSemaphoreTypeCreateInfo *)(const void *)s)->semaphoreType ==
                       VK_SEMAPHORE_TYPE_TIMELINE;
    pProperties->exportFromImportedHandleTypes = 0;
    pProperties->compatibleHandleTypes = 0;
    pProperties->externalSemaphoreFeatures = 0;
    /* Within one process they can be had in any case, but that is no way to tell. */
    if (pInfo->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT &&
        (!timeline || PHYSICAL(physicalDevice)->config.processes)) {
        pProperties->exportFromImportedHandleTypes = timeline ? 0 : pInfo->handleType;
        pProperties->compatibleHandleTypes = pInfo->handleType;
        pProperties->externalSemaphoreFeatures = VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                                                 VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT;
    }
}

static void
icd_GetPhysicalDeviceExternalFenceProperties(VkPhysicalDevice physicalDevice,
                                             const VkPhysicalDeviceExternalFenceInfo *pInfo,
                                             VkExternalFenceProperties *pProperties)
{
    pProperties->exportFromImportedHandleTypes = 0;
    pProperties->compatibleHandleTypes = 0;
    pProperties->externalFenceFeatures = 0;
}

const struct icd_entry icd_physical_entries[] = {
    ICD_CORE(ICD_PHYSICAL, 0, EnumerateDeviceExtensionProperties),
    ICD_CORE(ICD_PHYSICAL, 0, EnumerateDeviceLayerProperties),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceProperties),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceQueueFamilyProperties),
    ICD_CORE(ICD_PHYSICAL, 0, GetPhysicalDeviceMemoryProperties),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceProperties2),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceQueueFamilyProperties2),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2,
             GetPhysicalDeviceMemoryProperties2),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_EXTERNAL_SEMAPHORE_CAPABILITIES,
             GetPhysicalDeviceExternalSemaphoreProperties),
    ICD_BOTH(ICD_PHYSICAL, 1, ICD_KHR_EXTERNAL_FENCE_CAPABILITIES,
             GetPhysicalDeviceExternalFenceProperties),
    ICD_CORE(ICD_PHYSICAL, 3, GetPhysicalDeviceToolProperties),
    ICD_EXTRA(ICD_PHYSICAL, ICD_EXT_TOOLING_INFO, GetPhysicalDeviceToolPropertiesEXT,
              GetPhysicalDeviceToolProperties),
    ICD_EXTRA(ICD_PHYSICAL, ICD_EXT_CALIBRATED_TIMESTAMPS,
              GetPhysicalDeviceCalibrateableTimeDomainsEXT,
              GetPhysicalDeviceCalibrateableTimeDomainsEXT),
    ICD_END};
