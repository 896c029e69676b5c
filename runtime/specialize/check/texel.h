/* SPDX-License-Identifier: MIT */
/*
 * What the bytes of a texel mean: as much as it takes to make some up and to compare two.
 *
 * Thread-safety: pure.
 */
#ifndef BELFRY_SPECIALIZE_TEXEL_H
#define BELFRY_SPECIALIZE_TEXEL_H

#include <stdbool.h>
#include <stdint.h>

#include <vulkan/vulkan.h>

enum bf_texel_kind {
    BF_TEXEL_UNORM, /* sRGB too */
    BF_TEXEL_SNORM,
    BF_TEXEL_UINT,
    BF_TEXEL_SINT,
    BF_TEXEL_SFLOAT,
    BF_TEXEL_UFLOAT, /* without a sign: B10G11R11, and E5B9G9R9 as far as bits go */
    BF_TEXEL_BLOCK,  /* compressed */
};

/* One aspect of a format, as it lies in buffers that are copied to and from images. */
struct bf_texel {
    uint32_t size; /* bytes of a texel, or of a compressed block */
    uint32_t block_width, block_height;
    enum bf_texel_kind kind;
    uint32_t component_count;
    uint8_t bits[4]; /* of components, from the lowest bit of the first byte on */
    uint32_t unused; /* bits at the upper end that a copy leaves undefined */
};

/* What numbers there are in an image, as far as a shader can tell. A float of 32 bits can be any of
 * them. */
enum bf_format_class {
    BF_FORMAT_CLASS_UNORM = 1 << 0, /* from 0 to 1: depths, too */
    BF_FORMAT_CLASS_SNORM = 1 << 1, /* from -1 to 1 */
    BF_FORMAT_CLASS_HALF = 1 << 2,  /* floats of 16 bits and fewer */
    BF_FORMAT_CLASS_FLOAT = 1 << 3, /* other floats, and what is scaled */
    BF_FORMAT_CLASS_INT8 = 1 << 4,  /* integers of so many bits */
    BF_FORMAT_CLASS_INT16 = 1 << 5,
    BF_FORMAT_CLASS_INT32 = 1 << 6, /* or more */
    BF_FORMAT_CLASS_OTHER = 1 << 7, /* unknown */
    BF_FORMAT_CLASS_ANY = (1 << 8) - 1,
};
/* Of a view of some aspect; ANY: not known here. */
uint32_t bf_format_class(VkFormat format, VkImageAspectFlags aspect);

/* COLOR, or some of DEPTH and STENCIL; 0: not known here. */
VkImageAspectFlags bf_format_aspects(VkFormat format);
/* False: not known, or hasn't got the aspect (exactly one). */
bool bf_texel_of(VkFormat format, VkImageAspectFlagBits aspect, struct bf_texel *texel);

#endif
