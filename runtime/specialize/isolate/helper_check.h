/* SPDX-License-Identifier: MIT */
/* What the build helper does for a request: it makes the pipelines, and runs them. For one
 * thread. */
#ifndef BELFRY_SPECIALIZE_HELPER_CHECK_H
#define BELFRY_SPECIALIZE_HELPER_CHECK_H

#include "specialize/isolate/helper_device.h"
#include "specialize/shader/shader.h"

/* A pipeline, with all that it was made of. */
struct helper_pipeline {
    struct bf_wire_samplers *samplers; /* the request's: their handles */
    VkDescriptorSetLayout *sets;
    uint32_t set_count;
    VkPipelineLayout layout;
    VkRenderPass pass;
    uint32_t library_count; /* that it was linked from, and their layouts */
    VkPipeline libraries[BF_BUILD_LINKS];
    VkPipelineLayout layouts[BF_BUILD_LINKS];
    VkPipeline handle;
};

/* Whether the driver has what the request needs. */
bool helper_check_can(const struct helper_device *device, const struct bf_wire_check *check);

/* SZ-1 (specialize/shader/subgroup.h). */
bool helper_subgroups_may_differ(const struct helper_device *device,
                                 const struct bf_wire_build *build);

uint32_t helper_stage_count(const struct bf_wire_build *build);
/* As the request has it. */
struct bf_shader_info helper_stage_info(const struct bf_wire_build *build, uint32_t i);

/* The stage in which the forms differ from the general pipeline: they differ among each other in
 * decorations alone. UINT32_MAX: there is none. */
uint32_t helper_folded_stage(const struct bf_wire_check *check);

/* The struct is zeroed. Errors: VK_ERROR_OUT_OF_HOST_MEMORY, and the driver's. */
VkResult helper_pipeline_make(struct helper_device *device, struct bf_wire_build *build,
                              struct helper_pipeline *pipeline);
/* After errors, and zeroed, too. */
void helper_pipeline_free(struct helper_device *device, struct helper_pipeline *pipeline);

/* For a checker on that device, and for its check of what was made first, by that build. The latter
 * is told the handles and what sets there are. */
struct bf_checker_info helper_checker_info(struct helper_device *device);
struct bf_check_info helper_check_info(struct bf_wire_check *check,
                                       const struct bf_wire_build *build,
                                       const struct helper_pipeline *general);

/* Of all forms. */
void helper_verdict_put(struct bf_wire_verdict *verdict, uint32_t form_count, enum bf_reason reason,
                        const char *why);

/* Whether a form has agreed so far. */
bool helper_any_passed(const struct bf_wire_verdict *verdict);
/* What doesn't agree now never did; 'what' differs, or can't be compared, as 'why' then says. */
void helper_verdict_take_back(struct bf_wire_verdict *verdict, const struct bf_wire_verdict *now,
                              const char *what);

/* Runs them on what the plan says. The errors of bf_check_run. *hung: a run has not ended, and the
 * device is of no use any more. */
VkResult helper_check_run(struct helper_device *device, struct bf_wire_check *check,
                          const struct helper_pipeline *pipelines, const struct bf_check_plan *plan,
                          struct bf_wire_verdict *verdict, enum bf_hang *hung);

#endif
