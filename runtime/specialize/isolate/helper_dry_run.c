/* SPDX-License-Identifier: MIT */
/* Runs the dry-run form of a request's general pipeline in the build helper. */
#include "specialize/isolate/helper_dry_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/driver_bug.h"
#include "specialize/check/draw.h"
#include "specialize/dry_run/dry_run.h"
#include "specialize/dry_run/needed.h"
#include "specialize/dry_run/stages.h"
#include "specialize/isolate/helper_states.h"

/* A build in its dry-run form: the request's with other modules, and one set more. */
struct form {
    struct bf_wire_build build;
    struct bf_dry_run *runs; /* of each stage */
    struct bf_calls calls;   /* of the stage that is folded */
    struct helper_states states;
    struct bf_build_code *code;
    VkDescriptorSetLayoutCreateInfo *sets;
    struct bf_dry_run_array *arrays;
    uint32_t array_count, stage_count, told; /* the set's number */
    uint32_t folded; /* the stage that the variant is another in; UINT32_MAX: none */
    uint32_t needed[BF_DRY_RUN_POINTS / 32]; /* points of that stage */
    uint32_t beyond[BF_DRY_RUN_POINTS / 32]; /* those to which nobody comes */
    uint32_t sources;                        /* of it: enum bf_needed_source */
};

static const VkDescriptorSetLayoutBinding told_binding = {
    .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
    .descriptorCount = 1,
    .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT | VK_SHADER_STAGE_ALL_GRAPHICS,
};
static const VkDescriptorSetLayoutCreateInfo told_set = {
    .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
    .bindingCount = 1,
    .pBindings = &told_binding,
};

/* No fragment is hidden before it can tell: it may be seen when others are drawn over it, or when
 * all of them are (helper_redraw.h). */
static const VkPipelineDepthStencilStateCreateInfo no_tests = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
};

static void form_finish(struct form *form)
{
    for (uint32_t i = 0; form->runs && i < form->stage_count; i++)
        bf_dry_run_finish(&form->runs[i]);
    bf_calls_finish(&form->calls);
    helper_states_finish(&form->states);
    free(form->runs);
    free(form->code);
    free(form->sets);
    free(form->arrays);
}

/* Whether the driver takes one set and one storage buffer more than the program has. */
static bool there_is_room(const struct helper_device *device, const struct bf_wire_build *build)
{
    PFN_vkGetPhysicalDeviceProperties of = (PFN_vkGetPhysicalDeviceProperties)device->get_proc(
        device->instance, "vkGetPhysicalDeviceProperties");
    VkPhysicalDeviceProperties properties;
    of(device->physical, &properties);
    const VkPhysicalDeviceLimits *limits = &properties.limits;
    uint64_t all = 1, buffers = 1;
    for (uint32_t i = 0; i < build->layout.setLayoutCount; i++) {
        for (uint32_t k = 0; k < build->sets[i].bindingCount; k++) {
            const VkDescriptorSetLayoutBinding *b = &build->sets[i].pBindings[k];
            bool block = b->descriptorType == VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK;
            all += block ? 1 : b->descriptorCount;
            if (b->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER ||
                b->descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC)
                buffers += b->descriptorCount;
        }
    }
    return build->layout.setLayoutCount < limits->maxBoundDescriptorSets &&
           build->layout.setLayoutCount < BF_CHECK_SETS &&
           buffers <= limits->maxPerStageDescriptorStorageBuffers &&
           buffers <= limits->maxDescriptorSetStorageBuffers && all <= limits->maxPerStageResources;
}

static VkResult form_copy(struct form *form, const struct bf_wire_build *build)
{
    uint32_t set_count = build->layout.setLayoutCount, bindings = 0;
    for (uint32_t i = 0; i < set_count; i++)
        bindings += build->sets[i].bindingCount;
    form->build = *build;
    /* Its rewritten shaders are run, however they are linked. A set that isn't there is an empty
     * one: one more comes behind it, and drivers have looked into those before what is bound. */
    form->build.link_count = form->build.null_sets = 0;
    form->told = set_count;
    form->stage_count = helper_stage_count(build);
    form->runs = calloc(form->stage_count + 1, sizeof(*form->runs));
    form->code = calloc(form->stage_count + 1, sizeof(*form->code));
    form->sets = calloc(set_count + 1, sizeof(*form->sets));
    form->arrays = calloc(bindings + 1, sizeof(*form->arrays));
    if (!form->runs || !form->code || !form->sets || !form->arrays)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (build->point == VK_PIPELINE_BIND_POINT_GRAPHICS) {
        if (!helper_states_take(&form->states, &form->build.graphics, &no_tests))
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        helper_states_add_scissor(&form->states, &form->build.graphics); /* CK-6 */
    }
    /* It runs with sets, one of them its own, where the program has descriptor buffers. */
    form->build.compute.flags &=
        ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT;
    form->build.graphics.flags &=
        ~(VkPipelineCreateFlags)VK_PIPELINE_CREATE_DESCRIPTOR_BUFFER_BIT_EXT;
    for (uint32_t i = 0; i < set_count; i++) {
        form->sets[i] = build->sets[i];
        form->sets[i].flags &= ~(VkDescriptorSetLayoutCreateFlags)
                                   VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT;
        for (uint32_t k = 0; k < build->sets[i].bindingCount; k++) {
            const VkDescriptorSetLayoutBinding *b = &build->sets[i].pBindings[k];
            form->arrays[form->array_count++] =
                (struct bf_dry_run_array){i, b->binding, b->descriptorCount};
        }
    }
    form->sets[set_count] = told_set;
    form->build.sets = form->sets;
    form->build.layout.setLayoutCount = set_count + 1;
    form->build.code = form->code;
    return VK_SUCCESS;
}

static void refuse(char why[BF_CHECK_WHY], const char *what, enum bf_dry_run_reason reason)
{
    snprintf(why, BF_CHECK_WHY, "%s: %s", what, bf_dry_run_reason_name(reason));
}

/* Whether the device lets that stage write to buffers. */
static bool stage_tells(const struct helper_device *dry, VkShaderStageFlagBits stage)
{
    return stage == VK_SHADER_STAGE_COMPUTE_BIT    ? true
           : stage == VK_SHADER_STAGE_FRAGMENT_BIT ? dry->features.fragmentStoresAndAtomics
                                                   : dry->features.vertexPipelineStoresAndAtomics;
}

/* With functions that are called from one place each. */
static struct bf_shader_info stage_parted(const struct form *form, struct bf_shader_info info)
{
    info.words = form->calls.words;
    info.word_count = form->calls.word_count;
    return info;
}

/* Which points have to be come to. Writes to 'why' if a check tells too little, though it comes to
 * all of them. [IS-8] */
static VkResult form_need(struct form *form, const struct bf_wire_check *check,
                          char why[BF_CHECK_WHY])
{
    uint32_t i = form->folded;
    if (i == UINT32_MAX)
        return VK_SUCCESS;
    const struct bf_dry_run *run = &form->runs[i];
    const struct bf_shader_info general =
        stage_parted(form, helper_stage_info(&check->builds[0], i));
    const struct bf_build_code *folded = &check->builds[1].code[i];
    const struct bf_needed_info info = {
        .general = &general,
        .calls = &form->calls,
        .folded = folded->words,
        .folded_count = folded->size / 4,
        .fixed = check->fixed,
        .push = check->push,
        .points = run->points,
        .point_count = run->point_count,
    };
    bool *needed = calloc(2 * (size_t)run->point_count + 1, sizeof(*needed)),
         *beyond = needed + run->point_count;
    if (!needed)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = bf_needed_find(&info, needed, beyond, &form->sources);
    for (uint32_t p = 0; p < run->point_count; p++) {
        /* Of what isn't understood all of it. */
        bool is = needed[p] || result == VK_ERROR_INVALID_SHADER_NV;
        form->needed[p / 32] |= (uint32_t)is << p % 32;
        form->beyond[p / 32] |= (uint32_t)(beyond[p] && !is) << p % 32;
    }
    free(needed);
    const bool instances = bf_draw_has_instances(check->interface.graphics);
    const char *unvaried = bf_needed_unvaried(form->sources);
    for (uint32_t k = 0; k < form->stage_count && !unvaried; k++) {
        const struct bf_build_code *code = &check->builds[0].code[k];
        unvaried = k == i ? NULL
                          : bf_needed_unvaried_before(code->words, code->size / 4, form->sources,
                                                      instances);
    }
    if (unvaried)
        snprintf(why, BF_CHECK_WHY, "its values are made of %s, which checks don't vary", unvaried);
    return result == VK_ERROR_INVALID_SHADER_NV ? VK_SUCCESS : result;
}

/* Writes to 'why' if the stage can't be run. */
static VkResult stage_rewrite(struct form *form, uint32_t i, const struct bf_shader_info *whole,
                              struct bf_dry_run_options *options, const struct helper_device *dry,
                              char why[BF_CHECK_WHY])
{
    struct bf_dry_run *run = &form->runs[i];
    struct bf_shader_info info = *whole;
    options->points = i == form->folded;
    VkResult result = options->points ? bf_calls_part(&info, &form->calls) : VK_SUCCESS;
    if (result == VK_ERROR_INVALID_SHADER_NV) {
        refuse(why, "no dry run", BF_DRY_RUN_SIZE);
        return VK_SUCCESS;
    }
    if (options->points)
        info = stage_parted(form, info);
    if (result == VK_SUCCESS)
        result = bf_dry_run_create(&info, options, run);
    if (result != VK_SUCCESS)
        return result;
    if (run->reason == BF_DRY_RUN_FINE && !stage_tells(dry, info.stage))
        run->reason = BF_DRY_RUN_STAGE;
    if (run->reason != BF_DRY_RUN_FINE)
        refuse(why, "no dry run", run->reason);
    else if (run->bare != BF_DRY_RUN_FINE)
        refuse(why, "it may go other ways than its dry run", run->bare);
    form->code[i] = (struct bf_build_code){run->words, run->word_count * 4};
    return VK_SUCCESS;
}

/* Writes to 'why' if one of the stages can't be run. */
static VkResult form_rewrite(struct form *form, const struct bf_wire_build *build,
                             const struct helper_device *dry, uint32_t api_version,
                             char why[BF_CHECK_WHY])
{
    struct bf_dry_run_options options = {
        .set = form->told,
        .vulkan_api_version = api_version,
        .arrays = form->arrays,
        .array_count = form->array_count,
        .untaken_descriptors = dry->gpu.driver_bugs & BF_DRIVER_BUG_UNTAKEN_DESCRIPTORS,
    };
    struct bf_stages stages;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct bf_shader_info *infos = calloc(form->stage_count, sizeof(*infos));
    if (!infos)
        return result;
    for (uint32_t i = 0; i < form->stage_count; i++)
        infos[i] = helper_stage_info(build, i);
    result = bf_stages_open(infos, form->stage_count, &stages);
    for (uint32_t n = 0; result == VK_SUCCESS && !*why && n < form->stage_count; n++) {
        const uint32_t i = bf_stages_nth(&stages, n);
        options.stages = bf_stages_describe(&stages, i, form->runs);
        result = stage_rewrite(form, i, &infos[i], &options, dry, why);
    }
    bf_stages_close(&stages);
    free(infos);
    return result;
}

/* Where no inputs come to. */
static void dark_say(const struct form *form, uint32_t dark, char why[BF_CHECK_WHY])
{
    const struct bf_dry_run_point *point = &form->runs[form->folded].points[dark];
    snprintf(why, BF_CHECK_WHY,
             "no inputs come to point %u: its SPIR-V at word %u, side %u of component %u", dark,
             point->at, point->side, point->component);
}

static VkResult form_run(struct helper_device *dry, struct bf_wire_check *wanted,
                         const struct form *form, struct helper_pipeline *pipeline,
                         struct bf_check_plan *plan, enum bf_reason *refused,
                         char why[BF_CHECK_WHY], enum bf_hang *hung)
{
    const struct bf_checker_info about = helper_checker_info(dry);
    struct bf_checker *checker;
    VkResult result = bf_checker_create(&about, &checker);
    if (result != VK_SUCCESS)
        return result;
    struct bf_check_info info = helper_check_info(wanted, &form->build, pipeline);
    const VkGraphicsPipelineCreateInfo *programs = wanted->interface.graphics;
    if (programs)
        wanted->interface.graphics = &form->build.graphics;
    info.needed = form->needed;
    info.beyond = form->beyond;
    info.sources = form->sources;
    result = bf_check_dry_run(checker, &info, pipeline->sets[wanted->layout.set_count], plan);
    *hung = bf_checker_hang(checker);
    if (!*hung)
        bf_checker_destroy(checker);
    wanted->interface.graphics = programs;
    if (info.refused == BF_REASON_UNCOVERED)
        dark_say(form, info.dark, why);
    else if (info.why)
        snprintf(why, BF_CHECK_WHY, "%s", info.why);
    *refused = info.refused;
    return result;
}

VkResult helper_dry_run(const struct helper_device *device, const struct bf_wire_device *wanted,
                        struct helper_device *dry, struct bf_wire_check *check,
                        struct bf_check_plan *plan, enum bf_reason *refused, char why[BF_CHECK_WHY],
                        enum bf_hang *hung)
{
    const struct bf_wire_build *build = &check->builds[0];
    struct form form = {0};
    struct helper_pipeline pipeline = {0};
    *plan = (struct bf_check_plan){0};
    *why = '\0';
    *refused = BF_REASON_UNCHECKABLE;
    VkResult result = VK_SUCCESS;
    if (!dry->gpu.handle)
        result = helper_device_open_dry(device, wanted, dry);
    if (result == VK_ERROR_FEATURE_NOT_PRESENT) {
        snprintf(why, BF_CHECK_WHY, "no dry run: the device has no robustBufferAccess");
        return VK_SUCCESS;
    }
    if (result == VK_SUCCESS && !there_is_room(device, build)) {
        refuse(why, "no dry run", BF_DRY_RUN_BINDING);
        return VK_SUCCESS;
    }
    if (result == VK_SUCCESS)
        result = form_copy(&form, build);
    form.folded = helper_folded_stage(check);
    if (result == VK_SUCCESS)
        result = form_rewrite(&form, build, dry, wanted->api_version, why);
    if (result == VK_SUCCESS && !*why)
        result = form_need(&form, check, why);
    if (result == VK_SUCCESS && !*why) {
        *refused = BF_REASON_NONE;
        result = helper_pipeline_make(dry, &form.build, &pipeline);
        if (result == VK_SUCCESS)
            result = form_run(dry, check, &form, &pipeline, plan, refused, why, hung);
        if (!*hung)
            helper_pipeline_free(dry, &pipeline);
    }
    form_finish(&form);
    return result;
}
