/* SPDX-License-Identifier: MIT */
/*
 * Builds in a helper process (setting isolate=process): a helper opens the same driver and builds
 * the pipeline before the program does, so that a driver that crashes or hangs over it does so
 * where nobody is hurt. What it compiles stays in the driver's cache on disk, if the driver has
 * one.
 *
 *  IS-1  Whatever becomes of a helper, the program sees no signal, no child and no descriptor of
 *        it: it is started by two clones and so isn't the program's child (of a program that is a
 *        child subreaper it becomes one), and inherits nothing but its socket.
 *  IS-2  A build that crashed its helper or exceeded the time limit is distinguished from a helper
 *        that ended for other reasons: a helper confirms a request before it calls the driver. A
 *        helper that ends before that is replaced, once.
 *  IS-3  A helper ends when the program does, however that happens, or when it has had nothing to
 *        do for a while. It never waits for the program, and a call here waits for it no longer
 *        than the limit says.
 *  IS-4  Messages are checked on both sides: a malformed one ends the helper, and is never obeyed.
 *  IS-5  A pipeline is built by a helper only if the request describes it in full. Otherwise the
 *        result is VK_ERROR_INITIALIZATION_FAILED, and the caller builds in the program's process.
 *
 * A helper runs at idle priority, writes no core file, and has no terminal. Layers are switched off
 * for it, as far as the loader lets them be; the driver's settings stay as they are.
 *
 * Proven by tests/specialize/isolate.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_H
#define BELFRY_SPECIALIZE_ISOLATE_H

#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

struct bf_isolate;

/* Which device to open, and how. The pointers aren't needed after bf_isolate_create. */
struct bf_isolate_info {
    uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE]; /* VkPhysicalDeviceIDProperties */
    uint32_t api_version; /* the program's; a helper uses at least 1.2 where the loader has that */
    uint32_t instance_extension_count;
    const char *const *instance_extensions; /* the helper enables those that it finds */
    uint32_t extension_count;
    const char *const *extensions;
    const void *features; /* the chain of VkDeviceCreateInfo; may be NULL */
    const VkPhysicalDeviceFeatures *enabled_features; /* may be NULL */
    char *const *environment; /* the program's, NULL at the end: drivers read it */
    const char *helper;       /* the helper's path; NULL: the one in belfry/ beside the layer */
    uint32_t helpers;         /* how many may run at a time, 1 to 16; 0: 1. Further builds wait */
    uint64_t limit_ns;        /* for a build in the driver; 0: 30 seconds */
    uint64_t open_limit_ns;   /* for opening the device, and for taking a request; 0: 30 seconds */
    uint32_t idle_ms;         /* a helper that has nothing to do for so long ends; 0: ten seconds */
};

/* The SPIR-V of a stage; in the order of the stages. */
struct bf_build_code {
    const uint32_t *words;
    size_t size; /* bytes */
};

/*
 * A pipeline described without handles: those in its create info (modules, layout, render pass,
 * base pipeline) are not looked at, and described here in full. Pointers to state that Vulkan would
 * ignore are NULL. Chains hold nothing but VkPipelineShaderStageRequiredSubgroupSizeCreateInfo,
 * VkDescriptorSetLayoutBindingFlagsCreateInfo, VkPipelineRenderingCreateInfo and
 * VkSubpassDescriptionDepthStencilResolve; there are no immutable samplers.
 */
struct bf_build_request {
    const VkComputePipelineCreateInfo *compute; /* or NULL, and then */
    const VkGraphicsPipelineCreateInfo *graphics;
    const VkRenderPassCreateInfo2 *pass;                /* of 'graphics'; NULL: dynamic rendering */
    const struct bf_build_code *code;                   /* of each stage */
    const VkPipelineLayoutCreateInfo *layout;           /* 'pSetLayouts' isn't looked at */
    const VkDescriptorSetLayoutCreateInfo *const *sets; /* layout->setLayoutCount of them */
};

/* Starts no process yet.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED: the device was created
 * with structs that the helper doesn't know, or there is no helper program. */
VkResult bf_isolate_create(const struct bf_isolate_info *info, struct bf_isolate **isolate);

/* Ends the helpers. No build is in progress. NULL is allowed. */
void bf_isolate_destroy(struct bf_isolate *isolate);

/*
 * Builds the pipeline in a helper, which is started if need be, and blocks until that has ended.
 *
 * VK_SUCCESS: the driver has answered, by *driver_result, which may be an error.
 * VK_TIMEOUT: the driver has not answered within the limit. The helper was ended.
 * VK_ERROR_UNKNOWN: the helper has crashed, or its answer was malformed.
 * VK_ERROR_INITIALIZATION_FAILED: there is no helper, or it can't open the device (after three
 *   times in a row it isn't tried again), or the request can't describe the pipeline (IS-5), or it
 *   has a render pass and the driver no vkCreateRenderPass2.
 * VK_ERROR_OUT_OF_HOST_MEMORY: in this process.
 *
 * Thread-safety: safe; for background tasks, since it takes long.
 */
VkResult bf_isolate_build(struct bf_isolate *isolate, const struct bf_build_request *request,
                          VkResult *driver_result);

#endif
