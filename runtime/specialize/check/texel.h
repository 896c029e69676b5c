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

/* COLOR, or some of DEPTH and STENCIL; 0: not known here. */
VkImageAspectFlags bf_format_aspects(VkFormat format);
/* False: not known, or hasn't got the aspect (exactly one). */
bool bf_texel_of(VkFormat format, VkImageAspectFlagBits aspect, struct bf_texel *texel);

#endif
