/* SPDX-License-Identifier: MIT */
/*
 * Test resources: they stand in for the program's when a pipeline is checked: buffers, images,
 * samplers and sets, that are filled with made-up inputs before each run and read back after it.
 *
 *  DU-1  They are the check's own, and so is all memory within 'guard' bytes of a buffer: what a
 *        shader writes beyond one is seen as a difference.
 *  DU-2  Before each run on the same inputs all of it holds the same bytes, made by
 *        bf_test_resources_fill.
 *  DU-3  Read back are all buffers, and all images that are written, in all their samples.
 *  DU-4  Images are as large as the runs reach, 'extent', but BF_TEST_EXTENT both ways at least and
 *        BF_TEST_LARGEST at most, 16 MiB each and 32 MiB together. What doesn't fit is made
 *        smaller, all of them alike. Those that are only read are a little larger, so that they are
 *        odd: by powers of two factors and quotients are exact in any order. With 'sizes' they and
 *        what else has a size that a shader may ask for have others, and what is stored to is no
 *        smaller for it.
 *  DU-5  What no copy fills is filled all the same: inline uniform blocks hold the numbers of a
 *        buffer, others for each seed; images of several samples, DS-2.
 *  DU-6  Depths are quarters, which a shader's own may equal; on half of the seeds those that are
 *        read, and colors of several samples that aren't floats, are any from 0 to 1.
 *  DU-7  On half of the seeds the corners of a triangle from a buffer are of three depths, and lie
 *        as far away, if their positions say how far that is.
 *
 * Plan them (bf_test_resources_add_...), then build them, then fill, upload, run and download as
 * often as wanted. Thread-safety: one thread at a time.
 */
#ifndef BELFRY_SPECIALIZE_TEST_RESOURCE_H
#define BELFRY_SPECIALIZE_TEST_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include <volk.h>

#include "gpu/memory.h"
#include "specialize/check/inputs.h"
#include "specialize/check/pipeline_interface.h"

struct bf_gpu;

#define BF_TEST_EXTENT  67   /* of images, in width and height, at least */
#define BF_TEST_LARGEST 4096 /* at most: as any device allows */
#define BF_TEST_SETS    32
#define BF_TEST_INPUTS  32 /* input attachments of a subpass, at most */

/* Where they are made. */
struct bf_test_place {
    struct bf_gpu *gpu;
    VkPhysicalDevice physical;
    PFN_vkGetPhysicalDeviceFormatProperties formats;
    PFN_vkGetPhysicalDeviceImageFormatProperties image_formats;
    PFN_vkGetPhysicalDeviceProperties2 properties; /* NULL: there are no descriptor buffers */
    bool robust;                                   /* accesses out of bounds do no harm */
    bool robust_enabled; /* robustBufferAccess is, and descriptors are those for it */
};

/* A piece of the arena. */
struct bf_test_buffer {
    VkDeviceSize offset, size;
    VkDeviceSize range;   /* of it that descriptors have; 0: all */
    const uint8_t *kinds; /* borrowed */
    uint32_t kind_count, period;
    bool texels; /* of this format, not words */
    VkFormat format;
    struct bf_texel texel;
    uint32_t classes; /* that its numbers are of; 0: of its own */
};

/* An attribute of vertices or instances within the arena, written over what fills it. */
struct bf_test_attribute {
    VkDeviceSize offset; /* of the first */
    uint32_t stride, count;
    struct bf_texel texel;
    /* Floats that may be a position: two triangles that cover everything between -1 and 1, seen
     * from either side; in some seeds smaller, in some larger, in half of them of several depths
     * and, where it has all that, in perspective. */
    bool position;
};

struct bf_test_image_info {
    VkFormat format;
    VkImageViewType view;
    VkComponentMapping components;
    bool stencil;            /* the view is of stencil, where there is depth as well */
    VkImageUsageFlags usage; /* transfers are added */
    VkSampleCountFlagBits samples;
    VkExtent3D extent; /* 0: as suits the view, and the runs */
    uint32_t layers;   /* 0: likewise */
    uint32_t levels;
    uint32_t classes; /* that its numbers are of; 0: of its format's own */
    bool written;
};

/* How an image of several samples is filled and read (specialize/check/test_resource_samples.h). */
struct bf_test_several {
    VkImageView target;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    uint32_t aspect_count; /* that are read */
    VkImageView views[2];
    VkDescriptorSet sets[2];
};

struct bf_test_image {
    struct bf_test_image_info info;
    bool sized,
        layered; /* its extent, or layers, are as suits the runs: they may be made smaller */
    VkImageAspectFlags aspects;
    VkImage handle;
    VkDeviceMemory memory;
    VkImageView view; /* of everything; of depth and stencil, depth alone unless an attachment */
    VkImageView parts[2];      /* of an attachment's depth, or stencil, alone; made as needed */
    VkDeviceSize offset, size; /* in 'source', and in 'result' where written; behind the arena */
    struct bf_test_several several;
};

/* What one binding of a set gets. */
struct bf_test_write {
    uint32_t set;
    const struct bf_check_binding *binding;
    uint32_t first, copies; /* buffers or images: descriptor i has number first + i % copies */
    void *infos;            /* VkDescriptorImageInfo and so on, owned */
    VkWriteDescriptorSet write;
    VkWriteDescriptorSetInlineUniformBlock block;
};

/* Sizes that a shader may ask for, other than the usual ones. Zeroed: the usual ones. */
struct bf_test_sizes {
    uint32_t read[3], levels; /* of images that are only read */
    uint32_t stored[3];       /* of those that are stored to, where the runs don't reach further */
    bool even;                /* these, and layers and elements, are powers of two */
    uint32_t layers;          /* so many more than usual */
    uint32_t texels;          /* of texel buffers */
    uint32_t times, more;     /* of open arrays: so many times the elements, and so many more */
};

struct bf_test_resources {
    const struct bf_test_place *place;
    const char *why; /* static: why VK_ERROR_FEATURE_NOT_PRESENT was returned */
    const struct bf_check_layout *layout;
    bool graphics;           /* needs a queue that can draw: for a draw, or copies of depth */
    bool several;            /* some images that are read back have several samples */
    uint32_t least_elements; /* of buffers' open arrays; UINT32_MAX: there are none */
    uint32_t least_count;    /* of descriptors in an array of several; UINT32_MAX: there are none */
    /* Of images: how far the runs reach, as far as memory allows (DU-4). Set before they are
     * planned, if it is more than the least; as it is built it may become less. */
    uint32_t extent[3];
    struct bf_test_sizes sizes; /* likewise */
    bool
        others; /* images are of numbers of 32 bits, such as are in a binding's classes. Likewise */

    VkDeviceSize arena_size, source_size;
    VkBuffer arena;
    VkDeviceMemory memory;
    struct bf_buffer source, result; /* the arena's content first, then images' */
    struct bf_test_buffer *buffers;
    uint32_t buffer_count, buffer_capacity;
    struct bf_test_attribute *attributes;
    uint32_t attribute_count, attribute_capacity;
    struct bf_test_image *images;
    uint32_t image_count, image_capacity;
    uint32_t inputs[BF_TEST_INPUTS]; /* input attachments: images; UINT32_MAX: not used */
    uint32_t input_count;
    VkBufferView *views;
    uint32_t view_count, view_capacity;
    VkSampler *samplers;
    uint32_t sampler_count, sampler_capacity;
    struct bf_test_write *writes;
    uint32_t write_count, write_capacity;
    VkDescriptorPool pool;
    VkDescriptorSet sets[BF_TEST_SETS];
    uint32_t dynamic_counts[BF_TEST_SETS];
    uint32_t *zeros; /* dynamic offsets */
    /* In place of pool and sets (specialize/check/test_descriptor_buffer.h). */
    bool described;
    struct bf_buffer descriptors;
    VkDeviceSize set_offsets[BF_TEST_SETS];
    /* Of samples: from bits, from depths. */
    VkDescriptorSetLayout reader_sets;
    VkPipelineLayout reader_layout;
    VkPipeline readers[2];
    VkDescriptorPool reader_pool;
};

/*
 * Errors of the functions that return a VkResult: VK_ERROR_OUT_OF_HOST_MEMORY and those of the
 * driver; VK_ERROR_FEATURE_NOT_PRESENT: nothing can stand in, 'why' says for what.
 */
void bf_test_resources_init(struct bf_test_resources *resources, const struct bf_test_place *place);
/* After errors, and zeroed, too. Nothing of it is in use any more. */
void bf_test_resources_finish(struct bf_test_resources *resources);

/* Notes why, and returns VK_ERROR_FEATURE_NOT_PRESENT. */
VkResult bf_test_resources_refuse(struct bf_test_resources *resources, const char *why);

/* Their indices stay; their offsets are known at once. */
VkResult bf_test_resources_add_buffer(struct bf_test_resources *resources,
                                      const struct bf_test_buffer *buffer, uint32_t *index);
VkResult bf_test_resources_add_attribute(struct bf_test_resources *resources,
                                         const struct bf_test_attribute *attribute);
VkResult bf_test_resources_add_image(struct bf_test_resources *resources,
                                     const struct bf_test_image_info *info, uint32_t *index);
/* Whatever its sets need; once, and after the attachments. */
VkResult bf_test_resources_add_layout(struct bf_test_resources *resources,
                                      const struct bf_check_layout *layout);
VkResult bf_test_resources_build(struct bf_test_resources *resources);

/* Makes the content of what comes next; nothing of it is in use. */
void bf_test_resources_fill(struct bf_test_resources *resources, const struct bf_inputs *inputs);
/* Between them images are in VK_IMAGE_LAYOUT_GENERAL. The upload is that of the inputs which it was
 * filled with; the same download serves every fill. */
void bf_test_resources_record_upload(struct bf_test_resources *resources, VkCommandBuffer commands,
                                     const struct bf_inputs *inputs);
void bf_test_resources_record_download(struct bf_test_resources *resources,
                                       VkCommandBuffer commands);
/* After a fill, where some have 'several' samples: they have been uploaded, and downloaded again
 * without a run in between, so that bf_test_resources_changed can tell what they were. */
void bf_test_resources_learn(struct bf_test_resources *resources);
void bf_test_resources_bind(struct bf_test_resources *resources, VkCommandBuffer commands,
                            VkPipelineBindPoint point);

/* Of what was downloaded; 'result' is as large as this. */
size_t bf_test_resources_result_size(const struct bf_test_resources *resources);
/* Bits that Vulkan leaves open are zero in it. */
const void *bf_test_resources_result(struct bf_test_resources *resources);
/* Does it differ from what was uploaded? */
bool bf_test_resources_changed(struct bf_test_resources *resources, const void *result);

#endif
