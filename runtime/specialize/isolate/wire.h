/* SPDX-License-Identifier: MIT */
/*
 * The messages between the program and its build helper. Both are of one build of Belfry, as the
 * first message shows [IS-15], and run on one machine: numbers are in the machine's byte order, in
 * words of 32 bits, and every element begins at a multiple of 4 bytes. The reader trusts nothing.
 *
 * A message is a header and a body of header.size bytes:
 *
 *   program → helper  DEVICE  first; which device to open
 *   helper → program  OPENED  header.result, of the two below or a VkResult; after an error the
 *                             helper ends
 *   program → helper  CHECK   a request
 *   helper → program  TAKEN   header.result: success: the driver is about to be called; an error:
 *                             it isn't, since it lacks something that the request needs
 *   helper → program  DRY_RUN if the request asks for a check: header.result and a struct
 *                             bf_wire_verdict. A reason in it is the end: nothing else is run, or
 *                             made
 *   helper → program  BUILT   header.result, of each of the pipelines in turn, up to the first
 *                             error
 *   helper → program  CHECKED header.result and a struct bf_wire_verdict, if all were built and the
 *                             request asks for a check
 *   helper → program  CRASHED, HUNG  in place of any of its messages: its last words
 *
 * A malformed message gets no answer: the helper ends.
 */
#ifndef BELFRY_SPECIALIZE_ISOLATE_WIRE_H
#define BELFRY_SPECIALIZE_ISOLATE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "specialize/check/check.h"
#include "specialize/isolate/isolate.h"

#define BF_WIRE_MAGIC     0x31574642u /* "BFW1" */
#define BF_WIRE_BODY_MOST (256u << 20)
#define BF_WIRE_NAMED     16

/* Results of OPENED, of which Vulkan has none: nothing was opened. [IS-15] */
#define BF_WIRE_OTHER_BUILD  ((VkResult)-2000000001)
#define BF_WIRE_OTHER_DRIVER ((VkResult)-2000000002)

enum bf_wire_kind {
    BF_WIRE_DEVICE = 1,
    BF_WIRE_OPENED,
    BF_WIRE_CHECK,
    BF_WIRE_TAKEN,
    BF_WIRE_DRY_RUN,
    BF_WIRE_BUILT,
    BF_WIRE_CHECKED,
    BF_WIRE_CRASHED, /* in place of any answer, as is */
    BF_WIRE_HUNG,
};

struct bf_wire_header {
    uint32_t magic;
    uint32_t kind;   /* enum bf_wire_kind */
    uint32_t number; /* of the request, in CHECK and what answers it */
    int32_t result;  /* in all of the helper's */
    uint32_t size;   /* of the body */
    uint32_t reserved;
};

/* A growing buffer. Zeros are an empty one. */
struct bf_wire_out {
    uint8_t *bytes; /* malloc'ed */
    size_t size, capacity;
    bool failed; /* out of memory */
    bool unsaid; /* it contains something that a message can't express */
};

/* A message that is being read, and what was allocated for it. */
struct bf_wire_in {
    const uint8_t *at;
    size_t left;
    bool bad; /* the message is malformed; everything read from then on is 0 */
    void *blocks;
};

/* What a helper is told about its device. Pointers are valid as long as the reader and its
 * bytes. */
struct bf_wire_device {
    uint32_t build_number; /* of the program's side: it comes first */
    uint32_t parent;       /* the program's process id */
    uint32_t idle_ms;
    uint64_t limit_ns; /* of a processor, for a step of a request; 0: none */
    uint8_t device_uuid[VK_UUID_SIZE], driver_uuid[VK_UUID_SIZE], cache_uuid[VK_UUID_SIZE];
    uint32_t driver_version, driver_id;
    const char *driver_info; /* NULL: neither it nor the id is known */
    uint32_t api_version;
    bool robust;
    VkApplicationInfo *application; /* NULL: none */
    VkInstanceCreateFlags instance_flags;
    uint32_t instance_extension_count, extension_count;
    const char **instance_extensions, **extensions;
    VkBaseOutStructure *features;               /* a chain for VkDeviceCreateInfo; NULL: none */
    VkPhysicalDeviceFeatures *enabled_features; /* NULL: none */
};

/* The body of DRY_RUN and CHECKED. */
struct bf_wire_verdict {
    uint32_t form_count;
    uint32_t reasons[BF_CHECK_FORMS]; /* enum bf_reason */
    uint32_t hung;
    uint64_t first_use_ns[BF_CHECK_FORMS], steady_ns[BF_CHECK_FORMS];
    uint64_t general_ns;
    uint32_t reach[3];   /* UINT32_MAX: any */
    uint32_t texels;     /* results may depend on what is read of images */
    uint32_t specials;   /* zeros or infinities that are constant meet what isn't */
    uint64_t peak_bytes; /* of the helper's memory, so far */
    char why[BF_CHECK_WHY];
};

/* The immutable samplers of a binding. */
struct bf_wire_samplers {
    struct bf_wire_samplers *next;
    uint32_t count;
    VkSamplerCreateInfo *infos;
    VkSampler *handles; /* what the binding points to: VK_NULL_HANDLE, until they are made */
};

/* A struct bf_build_request as read, with all that it points to. */
struct bf_wire_build {
    VkPipelineBindPoint point;
    VkComputePipelineCreateInfo compute;   /* of this one or of */
    VkGraphicsPipelineCreateInfo graphics; /* this one, the stages are 'stages' */
    VkPipelineShaderStageCreateInfo *stages;
    struct bf_build_code *code;    /* of each stage */
    VkRenderPassCreateInfo2 *pass; /* NULL: none */
    VkPipelineLayoutCreateInfo layout;
    VkDescriptorSetLayoutCreateInfo *sets;
    uint32_t null_sets; /* bit i: set i is VK_NULL_HANDLE */
    struct bf_wire_samplers *samplers;
    uint32_t link_count; /* 0: it is made whole */
    struct bf_build_link links[BF_BUILD_LINKS];
};

/* A struct bf_check_request as read. Handles in it are VK_NULL_HANDLE; a set that isn't there has
 * no bindings. */
struct bf_wire_check {
    uint32_t build_count; /* 1 to BF_CHECK_BUILDS */
    struct bf_wire_build builds[BF_CHECK_BUILDS];
    bool runs; /* they are to be run, too; if so: */
    struct bf_pipeline_interface interface;
    struct bf_check_layout layout;
    struct bf_check_set *sets;
    bool sets_are[BF_CHECK_SETS];  /* a set that the program's layout has */
    const uint8_t *push;           /* BF_CHECK_PUSH_BYTES */
    uint32_t named[BF_WIRE_NAMED]; /* helper_names_find's */
    uint64_t fixed;
    uint32_t groups[3];
};

/* Writes to an empty buffer; 'failed' and 'unsaid' tell afterwards whether it worked. */
void bf_wire_say_device(struct bf_wire_out *out, const struct bf_isolate_info *info,
                        uint32_t parent, uint32_t idle_ms);
void bf_wire_say_check(struct bf_wire_out *out, const struct bf_check_request *request);
void bf_wire_out_finish(struct bf_wire_out *out);

/* The same number in all that is made of the same sources. [IS-15] */
uint32_t bf_wire_build_number(void);

/* 'bytes' are aligned as malloc aligns. False: they are malformed, or out of memory. Of a device
 * that another build has said nothing but the build's number is read. */
bool bf_wire_read_device(struct bf_wire_in *in, const void *bytes, size_t size,
                         struct bf_wire_device *device);
bool bf_wire_read_check(struct bf_wire_in *in, const void *bytes, size_t size,
                        struct bf_wire_check *check);
void bf_wire_in_finish(struct bf_wire_in *in);

/* The size of a feature struct, all of which consist of VkBool32; 0: unknown. */
size_t bf_wire_features_size(VkStructureType type);

#endif
