/* SPDX-License-Identifier: MIT */
/* Makes the pipelines of a request in the build helper, and runs them. */
#include "specialize/isolate/helper_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "gpu/made.h"
#include "specialize/dry_run/needed.h"
#include "specialize/isolate/helper_link.h"
#include "specialize/isolate/helper_names.h"
#include "specialize/isolate/helper_watch.h"
#include "specialize/shader/subgroup.h"

static PFN_vkCreateRenderPass2 pass_maker(const struct helper_device *device)
{
    return device->gpu.vk.vkCreateRenderPass2;
}

bool helper_check_can(const struct helper_device *device, const struct bf_wire_check *check)
{
    for (uint32_t i = 0; i < check->build_count; i++) {
        if (check->builds[i].pass && !pass_maker(device))
            return false;
    }
    return true;
}

bool helper_subgroups_may_differ(const struct helper_device *device,
                                 const struct bf_wire_build *build)
{
    bool compute = build->point == VK_PIPELINE_BIND_POINT_COMPUTE, may = false;
    uint32_t stage_count = compute ? 1 : build->graphics.stageCount;
    for (uint32_t i = 0; device->subgroup_sizes && i < stage_count; i++)
        may = may || bf_subgroup_size_may_differ(
                         compute ? &build->compute.stage : &build->stages[i], build->code[i].words,
                         build->code[i].size / sizeof(uint32_t));
    return may;
}

uint32_t helper_stage_count(const struct bf_wire_build *build)
{
    return build->point == VK_PIPELINE_BIND_POINT_COMPUTE ? 1 : build->graphics.stageCount;
}

struct bf_shader_info helper_stage_info(const struct bf_wire_build *build, uint32_t i)
{
    const VkPipelineShaderStageCreateInfo *stage =
        build->point == VK_PIPELINE_BIND_POINT_COMPUTE ? &build->compute.stage : &build->stages[i];
    return (struct bf_shader_info){build->code[i].words, build->code[i].size / 4, stage->pName,
                                   stage->stage, stage->pSpecializationInfo};
}

uint32_t helper_folded_stage(const struct bf_wire_check *check)
{
    const struct bf_wire_build *general = &check->builds[0], *folded = &check->builds[1];
    for (uint32_t i = 0; i < helper_stage_count(general) && check->build_count > 1; i++) {
        if (general->code[i].size != folded->code[i].size ||
            memcmp(general->code[i].words, folded->code[i].words, general->code[i].size) != 0)
            return i;
    }
    return UINT32_MAX;
}

/* Whatever is returned, all of 'modules' may be destroyed. */
static VkResult modules_make(const struct bf_gpu *gpu, const struct bf_build_code *code,
                             uint32_t count, VkPipelineShaderStageCreateInfo *stages,
                             VkShaderModule *modules)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; !result && i < count; i++) {
        const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                               .codeSize = code[i].size,
                                               .pCode = code[i].words};
        result = BF_MADE(gpu->vk.vkCreateShaderModule(gpu->handle, &info, NULL, &modules[i]),
                         &modules[i]);
        stages[i].module = modules[i];
    }
    return result;
}

static VkResult pipeline_make(const struct bf_gpu *gpu, struct bf_wire_build *build,
                              struct helper_pipeline *p)
{
    if (build->point == VK_PIPELINE_BIND_POINT_COMPUTE) {
        build->compute.layout = p->layout;
        return gpu->vk.vkCreateComputePipelines(gpu->handle, VK_NULL_HANDLE, 1, &build->compute,
                                                NULL, &p->handle);
    }
    build->graphics.layout = p->layout;
    build->graphics.renderPass = p->pass;
    if (build->link_count)
        return helper_pipeline_link(gpu, build, p);
    return gpu->vk.vkCreateGraphicsPipelines(gpu->handle, VK_NULL_HANDLE, 1, &build->graphics, NULL,
                                             &p->handle);
}

static VkResult samplers_make(const struct bf_gpu *gpu, struct bf_wire_samplers *samplers)
{
    VkResult result = VK_SUCCESS;
    for (; samplers; samplers = samplers->next) {
        for (uint32_t i = 0; !result && i < samplers->count; i++)
            result = BF_MADE(gpu->vk.vkCreateSampler(gpu->handle, &samplers->infos[i], NULL,
                                                     &samplers->handles[i]),
                             &samplers->handles[i]);
    }
    return result;
}

VkResult helper_pipeline_make(struct helper_device *device, struct bf_wire_build *build,
                              struct helper_pipeline *p)
{
    const struct bf_gpu *gpu = &device->gpu;
    helper_watch_step();
    bool compute = build->point == VK_PIPELINE_BIND_POINT_COMPUTE;
    uint32_t stage_count = compute ? 1 : build->graphics.stageCount;
    VkShaderModule *modules = calloc(stage_count + 1, sizeof(*modules));
    p->set_count = build->layout.setLayoutCount;
    p->sets = calloc(p->set_count + 1, sizeof(*p->sets));
    p->samplers = build->samplers;
    VkResult result = p->sets && modules ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;

    if (!result)
        result = samplers_make(gpu, build->samplers);
    for (uint32_t i = 0; !result && i < p->set_count; i++) {
        if (i >= BF_CHECK_SETS || !(build->null_sets & 1u << i))
            result = BF_MADE(gpu->vk.vkCreateDescriptorSetLayout(gpu->handle, &build->sets[i], NULL,
                                                                 &p->sets[i]),
                             &p->sets[i]);
    }
    build->layout.pSetLayouts = p->sets;
    if (!result)
        result =
            BF_MADE(gpu->vk.vkCreatePipelineLayout(gpu->handle, &build->layout, NULL, &p->layout),
                    &p->layout);
    if (!result && build->pass)
        result = BF_MADE(pass_maker(device)(gpu->handle, build->pass, NULL, &p->pass), &p->pass);
    if (!result)
        result = modules_make(gpu, build->code, stage_count,
                              compute ? &build->compute.stage : build->stages, modules);
    if (!result)
        result = pipeline_make(gpu, build, p);

    for (uint32_t i = 0; modules && i < stage_count; i++)
        gpu->vk.vkDestroyShaderModule(gpu->handle, modules[i], NULL);
    free(modules);
    return result;
}

void helper_pipeline_free(struct helper_device *device, struct helper_pipeline *p)
{
    const struct bf_gpu *gpu = &device->gpu;
    gpu->vk.vkDestroyPipeline(gpu->handle, p->handle, NULL);
    helper_pipeline_unlink(gpu, p);
    gpu->vk.vkDestroyRenderPass(gpu->handle, p->pass, NULL);
    gpu->vk.vkDestroyPipelineLayout(gpu->handle, p->layout, NULL);
    for (uint32_t i = 0; p->sets && i < p->set_count; i++)
        gpu->vk.vkDestroyDescriptorSetLayout(gpu->handle, p->sets[i], NULL);
    for (struct bf_wire_samplers *s = p->samplers; s; s = s->next) {
        for (uint32_t i = 0; i < s->count; i++) {
            gpu->vk.vkDestroySampler(gpu->handle, s->handles[i], NULL);
            s->handles[i] = VK_NULL_HANDLE; /* the request's, which may be made once more */
        }
    }
    free(p->sets);
    *p = (struct helper_pipeline){0};
}

struct bf_checker_info helper_checker_info(struct helper_device *device)
{
    return (struct bf_checker_info){
        .gpu = &device->gpu,
        .compute = device->compute,
        .direct = device->direct,
        .instance = device->instance,
        .physical = device->physical,
        .get_instance_proc_addr = device->get_proc,
        .robust = device->robust,
        .robust_enabled = device->features.robustBufferAccess,
    };
}

struct bf_check_info helper_check_info(struct bf_wire_check *wanted,
                                       const struct bf_wire_build *build,
                                       const struct helper_pipeline *general)
{
    wanted->layout.handle = general->layout;
    for (uint32_t i = 0; i < wanted->layout.set_count; i++) {
        struct bf_check_set *set = &wanted->sets[i];
        set->handle = wanted->sets_are[i] ? general->sets[i] : VK_NULL_HANDLE;
        set->flags = build->sets[i].flags;
        /* The request's own bindings, and the samplers that were made for this build. */
        struct bf_check_binding *bindings = (struct bf_check_binding *)set->bindings;
        for (uint32_t k = 0; k < set->binding_count; k++)
            bindings[k].immutable = build->sets[i].pBindings[k].pImmutableSamplers;
    }
    return (struct bf_check_info){
        .interface = &wanted->interface,
        .push = wanted->push,
        .fixed = wanted->fixed,
        .named = wanted->named,
        .named_count = helper_names_find(wanted),
        .groups = {wanted->groups[0], wanted->groups[1], wanted->groups[2]},
        .general = general->handle,
    };
}

void helper_verdict_put(struct bf_wire_verdict *verdict, uint32_t form_count, enum bf_reason reason,
                        const char *why)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    *verdict = (struct bf_wire_verdict){.form_count = form_count,
                                        .peak_bytes = (uint64_t)usage.ru_maxrss << 10};
    for (uint32_t i = 0; i < form_count; i++)
        verdict->reasons[i] = reason;
    if (why)
        strncpy(verdict->why, why, sizeof(verdict->why) - 1);
}

bool helper_any_passed(const struct bf_wire_verdict *verdict)
{
    bool any = false;
    for (uint32_t i = 0; i < verdict->form_count; i++)
        any = any || verdict->reasons[i] == BF_REASON_NONE;
    return any;
}

void helper_verdict_take_back(struct bf_wire_verdict *verdict, const struct bf_wire_verdict *now,
                              const char *what)
{
    verdict->hung = now->hung;
    verdict->peak_bytes = now->peak_bytes;
    for (uint32_t i = 0; i < 3; i++)
        verdict->reach[i] = now->reach[i] < verdict->reach[i] ? now->reach[i] : verdict->reach[i];
    for (uint32_t i = 0; i < verdict->form_count; i++) {
        if (verdict->reasons[i] != BF_REASON_NONE || now->reasons[i] == BF_REASON_NONE)
            continue;
        verdict->reasons[i] = now->reasons[i];
        snprintf(verdict->why, sizeof(verdict->why), "%s %s%.*s", what,
                 *now->why ? "can't be compared: " : "differ", (int)sizeof(verdict->why) - 72,
                 now->why);
    }
}

VkResult helper_check_run(struct helper_device *device, struct bf_wire_check *wanted,
                          const struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                          struct bf_wire_verdict *verdict, enum bf_hang *hung)
{
    const struct bf_checker_info about = helper_checker_info(device);
    struct bf_checker *checker;
    VkResult result = bf_checker_create(&about, &checker);
    if (result != VK_SUCCESS)
        return result;
    struct bf_check_form forms[BF_CHECK_FORMS] = {0};
    struct bf_check_info info = helper_check_info(wanted, &wanted->builds[0], &pipelines[0]);
    info.plan = plan;
    info.form_count = wanted->build_count - 1;
    info.forms = forms;
    for (uint32_t i = 0; i < info.form_count; i++)
        forms[i].handle = pipelines[i + 1].handle;
    result = bf_check_run(checker, &info);
    *hung = bf_checker_hang(checker);
    if (!*hung)
        bf_checker_destroy(checker);

    helper_verdict_put(verdict, info.form_count, BF_REASON_NONE, info.why);
    verdict->hung = *hung == BF_HANG_WORK;
    verdict->general_ns = info.general_ns;
    verdict->specials = (plan->sources & BF_NEEDED_SPECIALS) != 0;
    verdict->texels = (plan->sources & BF_NEEDED_TEXELS) != 0;
    for (uint32_t i = 0; i < 3; i++)
        verdict->reach[i] = plan->sources & BF_NEEDED_PLACED ? info.reach[i] : UINT32_MAX;
    for (uint32_t i = 0; i < info.form_count; i++) {
        verdict->reasons[i] = forms[i].reason;
        verdict->first_use_ns[i] = forms[i].first_use_ns;
        verdict->steady_ns[i] = forms[i].steady_ns;
    }
    return result;
}
