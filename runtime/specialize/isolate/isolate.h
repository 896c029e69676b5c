/* SPDX-License-Identifier: MIT */
/*
 * Builds and checks in a helper process: a helper opens the same driver with a device of its own,
 * builds there the general pipeline and the forms of a variant, and runs them, so that a driver
 * that crashes, a shader that never ends and an access out of bounds do so where nobody is hurt.
 * What it compiles stays in the driver's cache on disk, if the driver has one.
 *
 *  IS-1  Whatever becomes of a helper, the program sees no signal, no child and no descriptor of
 *        it: it is started by two clones and so isn't the program's child, inherits nothing but its
 *        socket, and leaves the program's terminal. (Of a program that is a child subreaper, or the
 *        first process of a container, it becomes a child. The latter needn't expect any: it is
 *        told of the end by SIGCHLD, which it mostly ignores, and finds no dead child, once another
 *        request comes or the isolate is destroyed.)
 *  IS-2  A build that crashed its helper or hung is distinguished from a helper that ended for
 *        other reasons: a helper confirms a request before it calls the driver, and says so when
 *        it crashes, hangs (IS-14), or is ended by its driver. One that ends before the former, as
 *        idle ones do, is replaced, up to twice; one that ends without the latter, as one does
 *        that somebody kills (the kernel first of all: IS-11), once. If that one is killed, too,
 *        it isn't for the shader to answer: VK_INCOMPLETE.
 *  IS-3  A helper ends when the program does, however that happens, or when it has had nothing to
 *        do for a while. It never waits for the program, and a call here waits for it no longer
 *        than the limits say.
 *  IS-4  Messages are checked on both sides: a malformed one ends the helper, and is never obeyed.
 *  IS-5  A pipeline is built by a helper only if the request describes it in full. Otherwise the
 *        result is VK_ERROR_FEATURE_NOT_PRESENT, and there is no variant.
 *  IS-6  What is made up for a check is run by a helper, and nowhere else: of a variant the
 *        program's process makes the one pipeline that passed.
 *  IS-7  The general pipeline runs in its dry-run form first, on a device of the helper's that has
 *        robustBufferAccess (specialize/dry_run/dry_run.h), and with no test of depth or stencil,
 *        which may hide fragments. As they are, it and its forms run on nothing but the inputs on
 *        which that told of nothing, and not at all if they may go other ways there.
 *  IS-8  A form passes only if those inputs come to all that folding affects
 *        (specialize/dry_run/needed.h), and so to all for which it may be another than the general
 *        pipeline: BF_REASON_UNCOVERED otherwise. And only if none of that is made of built-in
 *        inputs that checks don't vary: BF_REASON_UNCHECKABLE.
 *
 *  IS-9  A helper runs at idle priority, in the program's session and on one processor at a time,
 *        from before the driver is loaded; while it works, on another every second, and every tenth
 *        of one where it gets next to nothing. (With drivers that compute on the CPU a frame beside
 *        a check took five times as long while the idle threads were on all of them: each thread
 *        that wakes has to push one aside. And twice as long in a session of its own: Linux shares
 *        processors out among sessions first, and a thread is idle beside those of its own alone.)
 *        One thread alone, which watches over the others, has the program's priority
 *        (helper_watch.h).
 *  IS-10  A general pipeline that the program linked from libraries is linked likewise by a helper:
 *         from as many libraries, of the same parts, flags and layouts. So what is compared with
 *         the forms, which are made whole, is what the program runs.
 *  IS-11  It is the first to go when memory is short, whoever the user is, and writes no core file.
 *  IS-12  When a helper has lost its device, over a request or while it opened it, the bar is up
 *         before anybody else can have the helper; and the request's own, when it has crashed or
 *         hung over it. Nobody is given one, or starts one, without having asked, after he has
 *         waited for it, whether either bar is up.
 *  IS-13  A helper sees the devices that the program does: those of portability drivers only if it
 *         has asked the loader for them.
 *  IS-14  What takes long is the shader's fault only if the helper says so, which knows what it
 *         got: that one step, a build or a run, has had a processor for longer than the limit, or
 *         that a GPU isn't done with a run that it has begun after the checker's patience, in which
 *         the helper wasn't stopped. Steps that together are too long for a request, or a helper
 *         that gets nothing (since the machine is busy, or it is stopped), are no lasting matter:
 *         VK_INCOMPLETE.
 *  IS-15  It is of the same build of Belfry as the program's side, and its device of the same
 *         driver, in the same version, as far as drivers say: both may be replaced while a program
 *         runs. Else there is none.
 *  IS-16  There is none for drivers that are known to choose settings for single programs by the
 *         program's file: a helper's is another one.
 *  IS-17  A program that closes descriptors which aren't its own gets nothing of a helper's into
 *         files of its own, and these stay open; there is no helper any more.
 *
 * Its queues have the lowest priority. Layers are switched off for it, as far as the loader lets
 * them be; the driver's settings stay as they are, and so does the name by which drivers know a
 * program.
 *
 * Proven by tests/specialize/isolate.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_H
#define BELFRY_SPECIALIZE_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vulkan/vulkan_core.h>

#include "specialize/check/check.h"

struct bf_isolate;

/* What is asked whether a device of this driver has been lost, and told that one was: both in
 * bf_isolate_check, on its threads, and at the same time. [IS-12] */
struct bf_isolate_bar {
    void *context;
    bool (*is_up)(void *context); /* NULL: never, and nobody is told */
    void (*put_up)(void *context);
};

/* Which device to open, and how. The pointers aren't needed after bf_isolate_create. */
struct bf_isolate_info {
    uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE]; /* VkPhysicalDeviceIDProperties */
    uint8_t cache_uuid[VK_UUID_SIZE]; /* VkPhysicalDeviceProperties::pipelineCacheUUID, and of */
    uint32_t driver_version;          /* the same */
    uint32_t driver_id;               /* VkPhysicalDeviceDriverProperties, and of the same */
    const char *driver_info;          /* NULL: neither it nor the id is known */
    uint32_t api_version; /* the program's; a helper uses at least 1.2 where the loader has that */
    bool robust;          /* accesses out of bounds do no harm on this device */
    const VkApplicationInfo *application; /* the program's; NULL: it gave none */
    VkInstanceCreateFlags instance_flags; /* whether portability drivers are seen: no other */
    uint32_t instance_extension_count;
    const char *const *instance_extensions; /* the helper enables those that it finds */
    uint32_t extension_count;
    const char *const *extensions;
    const void *features; /* the chain of VkDeviceCreateInfo; may be NULL */
    const VkPhysicalDeviceFeatures *enabled_features; /* may be NULL */
    char *const *environment; /* the program's, NULL at the end: drivers read it */
    const char *name;         /* the program's argv[0], which drivers read; NULL: the helper's */
    const char *helper;       /* the helper's path; NULL: the one in belfry/ beside the layer */
    uint32_t helpers;         /* how many may run at a time, 1 to 16; 0: 1. Further builds wait */
    uint64_t limit_ns;        /* of a processor, for one step of a request [IS-14]; 0: 30 seconds */
    uint64_t whole_limit_ns;  /* for a request, once the driver has it; 0: five minutes */
    uint64_t open_limit_ns;   /* for opening the device, and for taking a request; 0: 30 seconds */
    uint32_t idle_ms;         /* a helper that has nothing to do for so long ends; 0: ten seconds */
    struct bf_isolate_bar bar;
    bool unasked; /* nobody has asked for it: that none can be had is no warning */
};

/* The SPIR-V of a stage; in the order of the stages. */
struct bf_build_code {
    const uint32_t *words;
    size_t size; /* bytes */
};

/* A library that the program linked a graphics pipeline from, or the pipeline itself. */
struct bf_build_link {
    VkPipelineCreateFlags flags;
    VkGraphicsPipelineLibraryFlagsEXT parts; /* that it was given itself */
    uint32_t from;   /* bit i: it is linked from link i, which comes before it */
    bool samples;    /* a fragment shader's part: it was given multisample state */
    bool has_layout; /* if so, of the request's layout: */
    VkPipelineLayoutCreateFlags layout_flags;
    uint32_t set_count;
    uint32_t sets; /* bit i: it has set i, else VK_NULL_HANDLE */
};

#define BF_BUILD_LINKS 16

/*
 * A pipeline described without handles: those in its create info (modules, layout, render pass,
 * base pipeline) are not looked at, and described here in full. Pointers to state that Vulkan would
 * ignore are NULL. Chains hold nothing but VkPipelineShaderStageRequiredSubgroupSizeCreateInfo,
 * VkDescriptorSetLayoutBindingFlagsCreateInfo, VkPipelineRenderingCreateInfo and
 * VkSubpassDescriptionDepthStencilResolve, and of samplers VkSamplerReductionModeCreateInfo.
 */
struct bf_build_request {
    const VkComputePipelineCreateInfo *compute; /* or NULL, and then */
    const VkGraphicsPipelineCreateInfo *graphics;
    const VkRenderPassCreateInfo2 *pass;      /* of 'graphics'; NULL: dynamic rendering */
    const struct bf_build_code *code;         /* of each stage */
    const VkPipelineLayoutCreateInfo *layout; /* 'pSetLayouts' isn't looked at */
    /* layout->setLayoutCount of them; NULL: VK_NULL_HANDLE */
    const VkDescriptorSetLayoutCreateInfo *const *sets;
    /* Of each set its immutable samplers, of all bindings in their order: those with a
     * 'pImmutableSamplers' that isn't NULL, which is all that is looked at. NULL: there are
     * none. */
    const VkSamplerCreateInfo *const *samplers;
    /* How 'graphics' is linked: 'graphics' has all parts, and the last link is the pipeline. Each
     * library is part of one that comes later. 0: it is made whole. */
    uint32_t link_count;
    const struct bf_build_link *links;
};

#define BF_CHECK_FORMS  2
#define BF_CHECK_BUILDS (1 + BF_CHECK_FORMS)
#define BF_CHECK_WHY    128
#define BF_CHECK_SETS   32

struct bf_check_request {
    uint32_t build_count; /* 1 to BF_CHECK_BUILDS: the general pipeline, then the forms */
    const struct bf_build_request *builds;
    /* NULL: nothing is run. Of the info handles, 'forms', 'cancelled' and what is 'out' are not
     * looked at. */
    const struct bf_check_info *check;
    /* Of what the request is about, as one of a device's driver (IS-12): it is put up also if the
     * helper has crashed or hung over it. NULL: there is none. */
    const struct bf_isolate_bar *bar;
};

struct bf_check_answer {
    VkResult built;       /* the driver's answer for the last pipeline that it was asked for */
    uint32_t built_count; /* as many have been built */
    VkResult checked;     /* of bf_check_run. If it is VK_SUCCESS: */
    struct bf_check_form forms[BF_CHECK_FORMS];
    uint64_t general_ns;
    /* How far it was compared, in workgroups or pixels; UINT32_MAX: it doesn't matter. */
    uint32_t reach[3];
    bool texels; /* results may depend on what is read of images */
    /* Zeros or infinities that are constants of the forms are computed with what isn't. */
    bool specials;
    /* Then: of which bindings, for which formats; of bf_check_in_helper. */
    struct bf_format_bindings formats;
    bool hung;              /* a run has not ended: the helper was given up */
    uint64_t peak_bytes;    /* the helper's memory, at most so far */
    char why[BF_CHECK_WHY]; /* why it is uncheckable, or empty */
};

/* Starts no process yet.
 * Errors: VK_ERROR_OUT_OF_HOST_MEMORY; VK_ERROR_INITIALIZATION_FAILED: the device was created
 * with structs that the helper doesn't know, there is no helper program, the program runs with
 * rights that its user doesn't have (set-uid), or IS-16. */
VkResult bf_isolate_create(const struct bf_isolate_info *info, struct bf_isolate **isolate);

/* Once, before the first request, on a thread of the program's priority: helpers begin with that
 * of this thread, whoever needs them. (Without it, with that of whoever needs them.) */
void bf_isolate_prepare(struct bf_isolate *isolate);

/* Ends requests that are in progress, with VK_NOT_READY, and all that come. Thread-safety: safe. */
void bf_isolate_stop(struct bf_isolate *isolate);

/* Ends the helpers. No request is in progress. NULL is allowed. */
void bf_isolate_destroy(struct bf_isolate *isolate);

/* Instead, in the child of a fork: closes its descriptors, which keep helpers waiting. These, and
 * all else, are the parent's, and so is what its threads were about: memory stays as it is. */
void bf_isolate_abandon(struct bf_isolate *isolate);

/*
 * Builds the pipelines in a helper, which is started if need be, has it run them, and blocks until
 * that has ended.
 *
 * VK_SUCCESS: the driver has answered, by *answer, which may be an error. (After
 *   VK_ERROR_DEVICE_LOST the bar is up.)
 * VK_TIMEOUT: a step of it has had a processor for longer than the limit: it hangs.
 * VK_ERROR_UNKNOWN: the helper has crashed, or its answer was malformed; or the request's own bar
 *   is up, since that has happened to others.
 * VK_INCOMPLETE: two helpers ended without a word, or the whole took too long, which says nothing
 *   of the request; 'why' of the answer, all else of which is zero, tells. The helper was ended.
 * VK_ERROR_INITIALIZATION_FAILED: there is no helper, or it can't open the device (after three
 *   times in a row it isn't tried again).
 * VK_ERROR_FEATURE_NOT_PRESENT: the request can't describe the pipeline (IS-5), or it has a render
 *   pass and the driver no vkCreateRenderPass2.
 * VK_ERROR_NOT_PERMITTED_KHR: the bar is up; also if the device was lost while it was opened.
 * VK_NOT_READY: bf_isolate_stop.
 * VK_ERROR_OUT_OF_HOST_MEMORY: in this process.
 *
 * Thread-safety: safe; for background tasks, since it takes long.
 */
VkResult bf_isolate_check(struct bf_isolate *isolate, const struct bf_check_request *request,
                          struct bf_check_answer *answer);

/* Why the last helper that couldn't be had couldn't: returns false if all could.
 * Thread-safety: safe. */
#define BF_ISOLATE_LACK 256
bool bf_isolate_lack(struct bf_isolate *isolate, char why[BF_ISOLATE_LACK]);

#endif
