/* SPDX-License-Identifier: MIT */
/* Objects that are made, counted and destroyed, and do nothing in between: pipelines and all that
 * belongs to them. */
#include "icd.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

/* Create and destroy of an object without content. */
#define INERT(name_, info_, kind_)                                                                 \
    static VkResult icd_Create##name_(VkDevice device_, const info_ *pCreateInfo,                  \
                                      const VkAllocationCallbacks *pAllocator, Vk##name_ *pObject) \
    {                                                                                              \
        (void)pCreateInfo;                                                                         \
        (void)pAllocator;                                                                          \
        struct icd_device *device = ICD_DEV(device_);                                              \
        ICD_FAULT_MAKING(pObject, device);                                                         \
        void *object = icd_object_new(device, kind_, sizeof(struct icd_object));                   \
        *pObject = ICD_HANDLE(Vk##name_, object);                                                  \
        return object ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;                                  \
    }                                                                                              \
    INERT_DESTROY(name_, kind_)

#define INERT_DESTROY(name_, kind_)                                                                \
    static void icd_Destroy##name_(VkDevice device, Vk##name_ object,                              \
                                   const VkAllocationCallbacks *pAllocator)                        \
    {                                                                                              \
        (void)device;                                                                              \
        (void)pAllocator;                                                                          \
        icd_object_free(object ? ICD_FROM(icd_object, kind_, object) : NULL);                      \
    }

INERT(ShaderModule, VkShaderModuleCreateInfo, ICD_KIND_SHADER_MODULE)
INERT(PipelineLayout, VkPipelineLayoutCreateInfo, ICD_KIND_PIPELINE_LAYOUT)
INERT(Sampler, VkSamplerCreateInfo, ICD_KIND_SAMPLER)
INERT(SamplerYcbcrConversion, VkSamplerYcbcrConversionCreateInfo, ICD_KIND_SAMPLER_YCBCR_CONVERSION)
INERT(DescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, ICD_KIND_DESCRIPTOR_SET_LAYOUT)
INERT(DescriptorUpdateTemplate, VkDescriptorUpdateTemplateCreateInfo,
      ICD_KIND_DESCRIPTOR_UPDATE_TEMPLATE)
INERT(Framebuffer, VkFramebufferCreateInfo, ICD_KIND_FRAMEBUFFER)
INERT(RenderPass, VkRenderPassCreateInfo, ICD_KIND_RENDER_PASS)
INERT_DESTROY(Pipeline, ICD_KIND_PIPELINE)

static VkResult icd_CreateRenderPass2(VkDevice device, const VkRenderPassCreateInfo2 *pCreateInfo,
                                      const VkAllocationCallbacks *pAllocator,
                                      VkRenderPass *pRenderPass)
{
    return icd_CreateRenderPass(device, NULL, pAllocator, pRenderPass);
}

static void icd_GetRenderAreaGranularity(VkDevice device, VkRenderPass renderPass,
                                         VkExtent2D *pGranularity)
{
    *pGranularity = (VkExtent2D){1, 1};
}

/* Pipelines --------------------------------------------------------------------------------- */

struct pipeline_cache {
    struct icd_object object;
    _Atomic size_t size; /* of its data, without the header */
};

#define CACHE(handle_) ICD_FROM(pipeline_cache, ICD_KIND_PIPELINE_CACHE, handle_)

static VkResult icd_CreatePipelineCache(VkDevice device_,
                                        const VkPipelineCacheCreateInfo *pCreateInfo,
                                        const VkAllocationCallbacks *pAllocator,
                                        VkPipelineCache *pPipelineCache)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pPipelineCache, device);
    struct pipeline_cache *cache = icd_object_new(device, ICD_KIND_PIPELINE_CACHE, sizeof(*cache));
    if (!cache)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const size_t header = sizeof(VkPipelineCacheHeaderVersionOne);
    if (pCreateInfo->initialDataSize > header)
        cache->size = pCreateInfo->initialDataSize - header;
    *pPipelineCache = ICD_HANDLE(VkPipelineCache, cache);
    return VK_SUCCESS;
}

INERT_DESTROY(PipelineCache, ICD_KIND_PIPELINE_CACHE)

/* BELFRY_ICD_PIPELINE: may not return, or not with success. */
static VkResult stages_compile(const struct icd_device *device, uint32_t n,
                               const VkPipelineShaderStageCreateInfo *stages)
{
    const struct icd_config *config = device->config;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < config->n_pipeline_rules; r++) {
            const struct icd_pipeline_rule *rule = &config->pipeline_rules[r];
            if (rule->entry[0] && strcmp(rule->entry, stages[i].pName))
                continue;
            if (rule->fate == ICD_PIPELINE_CRASHES)
                abort();
            if (rule->fate == ICD_PIPELINE_HANGS)
                prctl(PR_SET_NAME, "icd_hangs");
            while (rule->fate == ICD_PIPELINE_HANGS)
                pause();
            for (volatile bool spins = rule->fate == ICD_PIPELINE_SPINS; spins;)
                continue;
            if (rule->fate == ICD_PIPELINE_WORKS)
                for (const clock_t begun = clock(); clock() - begun < CLOCKS_PER_SEC / 8;)
                    continue;
            if (rule->fate == ICD_PIPELINE_EXITS)
                exit(1);
            return rule->result;
        }
    return VK_SUCCESS;
}

static VkResult pipelines_create(struct icd_device *device, const char *call, VkPipelineCache cache,
                                 uint32_t n, VkPipeline *pipelines, VkResult compiled)
{
    memset(pipelines, 0, n * sizeof(*pipelines));
    VkResult fault = icd_fault(device, call);
    if (fault != VK_SUCCESS)
        return fault;
    if (compiled)
        return compiled;
    for (uint32_t i = 0; i < n; i++) {
        void *pipeline = icd_object_new(device, ICD_KIND_PIPELINE, sizeof(struct icd_object));
        if (!pipeline)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        pipelines[i] = ICD_HANDLE(VkPipeline, pipeline);
        if (cache)
            CACHE(cache)->size += device->config->pipeline_size;
    }
    return VK_SUCCESS;
}

static VkResult icd_CreateGraphicsPipelines(VkDevice device, VkPipelineCache pipelineCache,
                                            uint32_t createInfoCount,
                                            const VkGraphicsPipelineCreateInfo *pCreateInfos,
                                            const VkAllocationCallbacks *pAllocator,
                                            VkPipeline *pPipelines)
{
    icd_block(__func__, false);
    VkResult compiled = VK_SUCCESS;
    for (uint32_t i = 0; !compiled && i < createInfoCount; i++)
        compiled =
            stages_compile(ICD_DEV(device), pCreateInfos[i].stageCount, pCreateInfos[i].pStages);
    return pipelines_create(ICD_DEV(device), __func__, pipelineCache, createInfoCount, pPipelines,
                            compiled);
}

static VkResult icd_CreateComputePipelines(VkDevice device, VkPipelineCache pipelineCache,
                                           uint32_t createInfoCount,
                                           const VkComputePipelineCreateInfo *pCreateInfos,
                                           const VkAllocationCallbacks *pAllocator,
                                           VkPipeline *pPipelines)
{
    icd_block(__func__, false);
    VkResult compiled = VK_SUCCESS;
    for (uint32_t i = 0; !compiled && i < createInfoCount; i++)
        compiled = stages_compile(ICD_DEV(device), 1, &pCreateInfos[i].stage);
    return pipelines_create(ICD_DEV(device), __func__, pipelineCache, createInfoCount, pPipelines,
                            compiled);
}

/* The header that Vulkan lays down, and zeros. */
static VkResult icd_GetPipelineCacheData(VkDevice device, VkPipelineCache pipelineCache,
                                         size_t *pDataSize, void *pData)
{
    ICD_FAULT(ICD_DEV(device));
    const size_t size = CACHE(pipelineCache)->size;
    VkPipelineCacheHeaderVersionOne header = {
        .headerSize = sizeof(header), .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE};
    if (!pData) {
        *pDataSize = sizeof(header) + size;
        return VK_SUCCESS;
    }
    if (*pDataSize < sizeof(header)) {
        *pDataSize = 0;
        return VK_INCOMPLETE;
    }
    const size_t room = *pDataSize - sizeof(header);
    memcpy(pData, &header, sizeof(header));
    memset((char *)pData + sizeof(header), 0, room < size ? room : size);
    *pDataSize = sizeof(header) + (room < size ? room : size);
    return room < size ? VK_INCOMPLETE : VK_SUCCESS;
}

static VkResult icd_MergePipelineCaches(VkDevice device, VkPipelineCache dstCache,
                                        uint32_t srcCacheCount, const VkPipelineCache *pSrcCaches)
{
    ICD_FAULT(ICD_DEV(device));
    for (uint32_t i = 0; i < srcCacheCount; i++)
        CACHE(dstCache)->size += CACHE(pSrcCaches[i])->size;
    return VK_SUCCESS;
}

/* Descriptors ------------------------------------------------------------------------------- */

struct descriptor_set {
    struct icd_object object;
    struct descriptor_set *next;
    struct descriptor_set **link;
    struct icd_buffer *buffer; /* the storage buffer at binding 0, from */
    VkDeviceSize offset;
};

struct descriptor_pool {
    struct icd_object object;
    struct descriptor_set *sets;
};

static VkResult icd_CreateDescriptorPool(VkDevice device_,
                                         const VkDescriptorPoolCreateInfo *pCreateInfo,
                                         const VkAllocationCallbacks *pAllocator,
                                         VkDescriptorPool *pPool)
{
    struct icd_device *device = ICD_DEV(device_);
    ICD_FAULT_MAKING(pPool, device);
    struct descriptor_pool *pool = icd_object_new(device, ICD_KIND_DESCRIPTOR_POOL, sizeof(*pool));
    *pPool = ICD_HANDLE(VkDescriptorPool, pool);
    return pool ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void set_free(struct descriptor_set *set)
{
    *set->link = set->next;
    if (set->next)
        set->next->link = set->link;
    icd_object_free(set);
}

static VkResult icd_ResetDescriptorPool(VkDevice device, VkDescriptorPool pool_,
                                        VkDescriptorPoolResetFlags flags)
{
    struct descriptor_pool *pool = ICD_FROM(descriptor_pool, ICD_KIND_DESCRIPTOR_POOL, pool_);
    while (pool->sets)
        set_free(pool->sets);
    return VK_SUCCESS;
}

static void icd_DestroyDescriptorPool(VkDevice device, VkDescriptorPool pool,
                                      const VkAllocationCallbacks *pAllocator)
{
    if (!pool)
        return;
    icd_ResetDescriptorPool(device, pool, 0);
    icd_object_free(ICD_FROM(descriptor_pool, ICD_KIND_DESCRIPTOR_POOL, pool));
}

static VkResult icd_AllocateDescriptorSets(VkDevice device_,
                                           const VkDescriptorSetAllocateInfo *pAllocateInfo,
                                           VkDescriptorSet *pSets)
{
    struct icd_device *device = ICD_DEV(device_);
    struct descriptor_pool *pool =
        ICD_FROM(descriptor_pool, ICD_KIND_DESCRIPTOR_POOL, pAllocateInfo->descriptorPool);
    uint32_t n = pAllocateInfo->descriptorSetCount, made = 0;
    VkResult result = icd_fault(device, __func__);
    if (result != VK_SUCCESS)
        goto fail;
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    for (; made < n; made++) {
        struct descriptor_set *set = icd_object_new(device, ICD_KIND_DESCRIPTOR_SET, sizeof(*set));
        if (!set)
            goto fail;
        set->next = pool->sets;
        set->link = &pool->sets;
        if (set->next)
            set->next->link = &set->next;
        pool->sets = set;
        pSets[made] = ICD_HANDLE(VkDescriptorSet, set);
    }
    return VK_SUCCESS;

fail:
    for (uint32_t i = 0; i < made; i++)
        set_free(ICD_FROM(descriptor_set, ICD_KIND_DESCRIPTOR_SET, pSets[i]));
    memset(pSets, 0, n * sizeof(*pSets));
    return result;
}

static VkResult icd_FreeDescriptorSets(VkDevice device, VkDescriptorPool pool, uint32_t count,
                                       const VkDescriptorSet *pSets)
{
    for (uint32_t i = 0; i < count; i++)
        if (pSets[i])
            set_free(ICD_FROM(descriptor_set, ICD_KIND_DESCRIPTOR_SET, pSets[i]));
    return VK_SUCCESS;
}

static void icd_UpdateDescriptorSets(VkDevice device, uint32_t writeCount,
                                     const VkWriteDescriptorSet *pWrites, uint32_t copyCount,
                                     const VkCopyDescriptorSet *pCopies)
{
    for (uint32_t i = 0; i < writeCount; i++) {
        const VkWriteDescriptorSet *write = &pWrites[i];
        if (write->dstBinding || write->dstArrayElement || !write->descriptorCount ||
            write->descriptorType != VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
            continue;
        struct descriptor_set *set =
            ICD_FROM(descriptor_set, ICD_KIND_DESCRIPTOR_SET, write->dstSet);
        set->buffer = write->pBufferInfo->buffer
                          ? ICD_FROM(icd_buffer, ICD_KIND_BUFFER, write->pBufferInfo->buffer)
                          : NULL;
        set->offset = write->pBufferInfo->offset;
    }
}

struct icd_buffer *icd_descriptor_buffer(VkDescriptorSet set_, VkDeviceSize *offset)
{
    struct descriptor_set *set = ICD_FROM(descriptor_set, ICD_KIND_DESCRIPTOR_SET, set_);
    *offset = set->offset;
    return set->buffer;
}

static void icd_UpdateDescriptorSetWithTemplate(VkDevice device, VkDescriptorSet set,
                                                VkDescriptorUpdateTemplate updateTemplate,
                                                const void *pData)
{
}

static void icd_GetDescriptorSetLayoutSupport(VkDevice device,
                                              const VkDescriptorSetLayoutCreateInfo *pCreateInfo,
                                              VkDescriptorSetLayoutSupport *pSupport)
{
    pSupport->supported = VK_TRUE;
}

#define BOTH(name_) ICD_CORE(ICD_DEVICE, 0, Create##name_), ICD_CORE(ICD_DEVICE, 0, Destroy##name_)

const struct icd_entry icd_pipeline_entries[] = {
    BOTH(ShaderModule),
    BOTH(PipelineCache),
    BOTH(PipelineLayout),
    BOTH(Sampler),
    BOTH(DescriptorSetLayout),
    BOTH(Framebuffer),
    BOTH(RenderPass),
    BOTH(DescriptorPool),
    ICD_CORE(ICD_DEVICE, 0, CreateGraphicsPipelines),
    ICD_CORE(ICD_DEVICE, 0, CreateComputePipelines),
    ICD_CORE(ICD_DEVICE, 0, DestroyPipeline),
    ICD_CORE(ICD_DEVICE, 0, GetPipelineCacheData),
    ICD_CORE(ICD_DEVICE, 0, MergePipelineCaches),
    ICD_CORE(ICD_DEVICE, 0, GetRenderAreaGranularity),
    ICD_BOTH(ICD_DEVICE, 2, ICD_KHR_CREATE_RENDERPASS_2, CreateRenderPass2),
    ICD_CORE(ICD_DEVICE, 1, CreateSamplerYcbcrConversion),
    ICD_CORE(ICD_DEVICE, 1, DestroySamplerYcbcrConversion),
    ICD_CORE(ICD_DEVICE, 0, ResetDescriptorPool),
    ICD_CORE(ICD_DEVICE, 0, AllocateDescriptorSets),
    ICD_CORE(ICD_DEVICE, 0, FreeDescriptorSets),
    ICD_CORE(ICD_DEVICE, 0, UpdateDescriptorSets),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_DESCRIPTOR_UPDATE_TEMPLATE, CreateDescriptorUpdateTemplate),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_DESCRIPTOR_UPDATE_TEMPLATE, DestroyDescriptorUpdateTemplate),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_DESCRIPTOR_UPDATE_TEMPLATE, UpdateDescriptorSetWithTemplate),
    ICD_BOTH(ICD_DEVICE, 1, ICD_KHR_MAINTENANCE_3, GetDescriptorSetLayoutSupport),
    ICD_END};
