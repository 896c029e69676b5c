/* SPDX-License-Identifier: MIT */
/* Lavapipe as a driver that contracts: what it computes with floats is what lavapipe computes once
 * each product and its sum are one (fuse.h), as on most GPUs. All else is lavapipe's own. */
#include "../support/std.h"

#include <dlfcn.h>

#include "fuse.h"

#define EXPORT __attribute__((visibility("default")))

static PFN_vkCreateShaderModule next_create_module;
static PFN_vkDestroyShaderModule next_destroy_module;
static PFN_vkCreateComputePipelines next_create_compute;
static PFN_vkCreateGraphicsPipelines next_create_graphics;
static PFN_vkGetDeviceProcAddr next_device_proc;

/* ----------------------------------------------------------------------------------- Modules -- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct module {
    VkDevice device;
    VkShaderModule handle;
    struct reduced text;
    struct module *next;
} * modules;

static VkResult VKAPI_CALL create_module(VkDevice device, const VkShaderModuleCreateInfo *info,
                                         const VkAllocationCallbacks *allocator,
                                         VkShaderModule *handle)
{
    struct module *module = calloc(1, sizeof(*module));
    uint32_t *words = malloc(info->codeSize);
    VkResult result = module && words ? next_create_module(device, info, allocator, handle)
                                      : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS) {
        free(module);
        free(words);
        return result;
    }
    memcpy(words, info->pCode, info->codeSize);
    *module = (struct module){device, *handle, {words, info->codeSize / 4}, NULL};
    pthread_mutex_lock(&lock);
    module->next = modules;
    modules = module;
    pthread_mutex_unlock(&lock);
    return VK_SUCCESS;
}

static struct module **module_find(VkDevice device, VkShaderModule handle)
{
    struct module **m = &modules;
    while (*m && ((*m)->device != device || (*m)->handle != handle))
        m = &(*m)->next;
    return m;
}

static void VKAPI_CALL destroy_module(VkDevice device, VkShaderModule handle,
                                      const VkAllocationCallbacks *allocator)
{
    pthread_mutex_lock(&lock);
    struct module **at = module_find(device, handle), *module = *at;
    if (module)
        *at = module->next;
    pthread_mutex_unlock(&lock);
    if (module)
        free(module->text.words);
    free(module);
    next_destroy_module(device, handle, allocator);
}

/* The text that a stage names, which stays until its module is destroyed. */
static struct reduced stage_text(VkDevice device, const VkPipelineShaderStageCreateInfo *stage)
{
    for (const VkBaseInStructure *s = stage->pNext; s && !stage->module; s = s->pNext) {
        const VkShaderModuleCreateInfo *info = (const VkShaderModuleCreateInfo *)s;
        if (s->sType == VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
            return (struct reduced){(uint32_t *)(uintptr_t)info->pCode, info->codeSize / 4};
    }
    pthread_mutex_lock(&lock);
    const struct module *module = *module_find(device, stage->module);
    const struct reduced text = module ? module->text : (struct reduced){0};
    pthread_mutex_unlock(&lock);
    return text;
}

/* --------------------------------------------------------------------------------- Pipelines -- */

/* Turns a stage into a contracted one. What can't be is left as it is. */
static void stage_contract(VkDevice device, VkPipelineShaderStageCreateInfo *stage)
{
    const struct reduced text = stage_text(device, stage);
    struct reduced reduced = {0}, fused = {0};
    VkShaderModule module = VK_NULL_HANDLE;
    if (text.words &&
        reduce_module(text.words, text.count, stage->pSpecializationInfo, true, &reduced) &&
        fuse_module(&reduced, &fused)) {
        const VkShaderModuleCreateInfo info = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, NULL, 0,
                                               fused.count * 4, fused.words};
        if (next_create_module(device, &info, NULL, &module) != VK_SUCCESS)
            module = VK_NULL_HANDLE;
    } else if (text.words) {
        fprintf(stderr, "contracting driver: a shader is left as it is\n");
    }
    free(reduced.words);
    free(fused.words);
    stage->pSpecializationInfo = module ? NULL : stage->pSpecializationInfo;
    stage->module = module ? module : stage->module;
}

static void stage_end(VkDevice device, const VkPipelineShaderStageCreateInfo *contracted,
                      const VkPipelineShaderStageCreateInfo *stage)
{
    if (contracted->module != stage->module)
        next_destroy_module(device, contracted->module, NULL);
}

/* Contracted copies of stages. NULL: out of memory. */
static VkPipelineShaderStageCreateInfo *
stages_contract(VkDevice device, const VkPipelineShaderStageCreateInfo *stages, uint32_t count)
{
    VkPipelineShaderStageCreateInfo *copy = calloc(count + 1, sizeof(*copy));
    for (uint32_t i = 0; copy && i < count; i++) {
        copy[i] = stages[i];
        stage_contract(device, &copy[i]);
    }
    return copy;
}

static void stages_end(VkDevice device, VkPipelineShaderStageCreateInfo *copy,
                       const VkPipelineShaderStageCreateInfo *stages, uint32_t count)
{
    for (uint32_t i = 0; copy && i < count; i++)
        stage_end(device, &copy[i], &stages[i]);
    free(copy);
}

static VkResult VKAPI_CALL create_compute(VkDevice device, VkPipelineCache cache, uint32_t count,
                                          const VkComputePipelineCreateInfo *infos,
                                          const VkAllocationCallbacks *allocator,
                                          VkPipeline *pipelines)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        VkComputePipelineCreateInfo info = infos[i];
        stage_contract(device, &info.stage);
        const VkResult one = next_create_compute(device, cache, 1, &info, allocator, &pipelines[i]);
        result = one == VK_SUCCESS ? result : one;
        stage_end(device, &info.stage, &infos[i].stage);
    }
    return result;
}

/* Whether its stages count: those of a pipeline that is linked from libraries needn't. */
static bool has_stages(const VkGraphicsPipelineCreateInfo *info)
{
    for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
        const VkGraphicsPipelineLibraryCreateInfoEXT *part = (const void *)s;
        if (s->sType == VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT)
            return part->flags & (VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |
                                  VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT);
    }
    return info->stageCount > 0;
}

static VkResult VKAPI_CALL create_graphics(VkDevice device, VkPipelineCache cache, uint32_t count,
                                           const VkGraphicsPipelineCreateInfo *infos,
                                           const VkAllocationCallbacks *allocator,
                                           VkPipeline *pipelines)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < count; i++) {
        VkGraphicsPipelineCreateInfo info = infos[i];
        const uint32_t stages = has_stages(&info) ? info.stageCount : 0;
        VkPipelineShaderStageCreateInfo *copy =
            stages ? stages_contract(device, info.pStages, stages) : NULL;
        info.pStages = copy ? copy : info.pStages;
        const VkResult one =
            next_create_graphics(device, cache, 1, &info, allocator, &pipelines[i]);
        result = one == VK_SUCCESS ? result : one;
        stages_end(device, copy, infos[i].pStages, stages);
    }
    return result;
}

/* -------------------------------------------------------------------- The loader's interface -- */

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name);

/* What stands in for a command, whose own is then kept. */
static PFN_vkVoidFunction stand_in(const char *name, PFN_vkVoidFunction next)
{
#define STANDS(name_, pointer_, type_, function_)                                                  \
    if (next && !strcmp(name, name_)) {                                                            \
        pointer_ = (type_)next;                                                                    \
        return (PFN_vkVoidFunction)(function_);                                                    \
    }
    STANDS("vkCreateShaderModule", next_create_module, PFN_vkCreateShaderModule, create_module)
    STANDS("vkDestroyShaderModule", next_destroy_module, PFN_vkDestroyShaderModule, destroy_module)
    STANDS("vkCreateComputePipelines", next_create_compute, PFN_vkCreateComputePipelines,
           create_compute)
    STANDS("vkCreateGraphicsPipelines", next_create_graphics, PFN_vkCreateGraphicsPipelines,
           create_graphics)
    STANDS("vkGetDeviceProcAddr", next_device_proc, PFN_vkGetDeviceProcAddr, device_proc)
    return next;
}

static PFN_vkVoidFunction VKAPI_CALL device_proc(VkDevice device, const char *name)
{
    return stand_in(name, next_device_proc(device, name));
}

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                               const char *name);
EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                     const char *name);

/* Lavapipe's, of the loader's interface. */
static void *below(const char *name)
{
    static void *library;
    pthread_mutex_lock(&lock);
    if (!library)
        library = dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&lock);
    if (!library)
        fprintf(stderr, "contracting driver: %s\n", dlerror());
    return library ? dlsym(library, name) : NULL;
}

EXPORT VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    VkResult (*next)(uint32_t *) =
        (VkResult(*)(uint32_t *))below("vk_icdNegotiateLoaderICDInterfaceVersion");
    return next ? next(version) : VK_ERROR_INITIALIZATION_FAILED;
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                               const char *name)
{
    const PFN_vkGetInstanceProcAddr next =
        (PFN_vkGetInstanceProcAddr)below("vk_icdGetInstanceProcAddr");
    return next ? stand_in(name, next(instance, name)) : NULL;
}

EXPORT PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                     const char *name)
{
    const PFN_vkGetInstanceProcAddr next =
        (PFN_vkGetInstanceProcAddr)below("vk_icdGetPhysicalDeviceProcAddr");
    return next ? next(instance, name) : NULL;
}
