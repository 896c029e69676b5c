/* SPDX-License-Identifier: MIT */
/* Texel formats: their blocks, components and numbers, for generating and comparing contents. */
#include "specialize/check/texel.h"

#include <string.h>

/* ----------------------------------------------------------------------------------- Formats -- */

/* The order in which VkFormat counts the kinds of one layout. */
static const enum bf_texel_kind kinds_small[] = {
    BF_TEXEL_UNORM, BF_TEXEL_SNORM, BF_TEXEL_UNORM, BF_TEXEL_SNORM, /* scaled: as normalised */
    BF_TEXEL_UINT,  BF_TEXEL_SINT,  BF_TEXEL_UNORM,                 /* sRGB */
};
static const enum bf_texel_kind kinds_16[] = {
    BF_TEXEL_UNORM, BF_TEXEL_SNORM, BF_TEXEL_UNORM,  BF_TEXEL_SNORM,
    BF_TEXEL_UINT,  BF_TEXEL_SINT,  BF_TEXEL_SFLOAT,
};
static const enum bf_texel_kind kinds_large[] = {BF_TEXEL_UINT, BF_TEXEL_SINT, BF_TEXEL_SFLOAT};

/* Runs of formats that differ in kind alone. */
struct run {
    VkFormat first, last;
    const enum bf_texel_kind *kinds;
    uint8_t component_count, bits[4];
};

static const struct run runs[] = {
    {VK_FORMAT_R4G4_UNORM_PACK8, VK_FORMAT_R4G4_UNORM_PACK8, kinds_small, 2, {4, 4}},
    {VK_FORMAT_R4G4B4A4_UNORM_PACK16,
     VK_FORMAT_R4G4B4A4_UNORM_PACK16,
     kinds_small,
     4,
     {4, 4, 4, 4}},
    {VK_FORMAT_B4G4R4A4_UNORM_PACK16,
     VK_FORMAT_B4G4R4A4_UNORM_PACK16,
     kinds_small,
     4,
     {4, 4, 4, 4}},
    {VK_FORMAT_R5G6B5_UNORM_PACK16, VK_FORMAT_R5G6B5_UNORM_PACK16, kinds_small, 3, {5, 6, 5}},
    {VK_FORMAT_B5G6R5_UNORM_PACK16, VK_FORMAT_B5G6R5_UNORM_PACK16, kinds_small, 3, {5, 6, 5}},
    {VK_FORMAT_R5G5B5A1_UNORM_PACK16,
     VK_FORMAT_R5G5B5A1_UNORM_PACK16,
     kinds_small,
     4,
     {1, 5, 5, 5}},
    {VK_FORMAT_B5G5R5A1_UNORM_PACK16,
     VK_FORMAT_B5G5R5A1_UNORM_PACK16,
     kinds_small,
     4,
     {1, 5, 5, 5}},
    {VK_FORMAT_A1R5G5B5_UNORM_PACK16,
     VK_FORMAT_A1R5G5B5_UNORM_PACK16,
     kinds_small,
     4,
     {5, 5, 5, 1}},
    {VK_FORMAT_R8_UNORM, VK_FORMAT_R8_SRGB, kinds_small, 1, {8}},
    {VK_FORMAT_R8G8_UNORM, VK_FORMAT_R8G8_SRGB, kinds_small, 2, {8, 8}},
    {VK_FORMAT_R8G8B8_UNORM, VK_FORMAT_R8G8B8_SRGB, kinds_small, 3, {8, 8, 8}},
    {VK_FORMAT_B8G8R8_UNORM, VK_FORMAT_B8G8R8_SRGB, kinds_small, 3, {8, 8, 8}},
    {VK_FORMAT_R8G8B8A8_UNORM, VK_FORMAT_R8G8B8A8_SRGB, kinds_small, 4, {8, 8, 8, 8}},
    {VK_FORMAT_B8G8R8A8_UNORM, VK_FORMAT_B8G8R8A8_SRGB, kinds_small, 4, {8, 8, 8, 8}},
    {VK_FORMAT_A8B8G8R8_UNORM_PACK32, VK_FORMAT_A8B8G8R8_SRGB_PACK32, kinds_small, 4, {8, 8, 8, 8}},
    {VK_FORMAT_A2R10G10B10_UNORM_PACK32,
     VK_FORMAT_A2R10G10B10_SINT_PACK32,
     kinds_small,
     4,
     {10, 10, 10, 2}},
    {VK_FORMAT_A2B10G10R10_UNORM_PACK32,
     VK_FORMAT_A2B10G10R10_SINT_PACK32,
     kinds_small,
     4,
     {10, 10, 10, 2}},
    {VK_FORMAT_R16_UNORM, VK_FORMAT_R16_SFLOAT, kinds_16, 1, {16}},
    {VK_FORMAT_R16G16_UNORM, VK_FORMAT_R16G16_SFLOAT, kinds_16, 2, {16, 16}},
    {VK_FORMAT_R16G16B16_UNORM, VK_FORMAT_R16G16B16_SFLOAT, kinds_16, 3, {16, 16, 16}},
    {VK_FORMAT_R16G16B16A16_UNORM, VK_FORMAT_R16G16B16A16_SFLOAT, kinds_16, 4, {16, 16, 16, 16}},
    {VK_FORMAT_R32_UINT, VK_FORMAT_R32_SFLOAT, kinds_large, 1, {32}},
    {VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32_SFLOAT, kinds_large, 2, {32, 32}},
    {VK_FORMAT_R32G32B32_UINT, VK_FORMAT_R32G32B32_SFLOAT, kinds_large, 3, {32, 32, 32}},
    {VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SFLOAT, kinds_large, 4, {32, 32, 32, 32}},
    {VK_FORMAT_R64_UINT, VK_FORMAT_R64_SFLOAT, kinds_large, 1, {64}},
    {VK_FORMAT_R64G64_UINT, VK_FORMAT_R64G64_SFLOAT, kinds_large, 2, {64, 64}},
    {VK_FORMAT_R64G64B64_UINT, VK_FORMAT_R64G64B64_SFLOAT, kinds_large, 3, {64, 64, 64}},
    {VK_FORMAT_R64G64B64A64_UINT, VK_FORMAT_R64G64B64A64_SFLOAT, kinds_large, 4, {64, 64, 64, 64}},
};

/* Compressed formats, by their order in VkFormat. */
static bool texel_block_of(VkFormat format, struct bf_texel *texel)
{
    static const uint8_t astc[14][2] = {{4, 4},  {5, 4},   {5, 5},   {6, 5},  {6, 6},
                                        {8, 5},  {8, 6},   {8, 8},   {10, 5}, {10, 6},
                                        {10, 8}, {10, 10}, {12, 10}, {12, 12}};
    *texel =
        (struct bf_texel){.size = 16, .block_width = 4, .block_height = 4, .kind = BF_TEXEL_BLOCK};
    if (format >= VK_FORMAT_BC1_RGB_UNORM_BLOCK && format <= VK_FORMAT_BC7_SRGB_BLOCK) {
        bool small = format <= VK_FORMAT_BC1_RGBA_SRGB_BLOCK ||
                     format == VK_FORMAT_BC4_UNORM_BLOCK || format == VK_FORMAT_BC4_SNORM_BLOCK;
        texel->size = small ? 8 : 16;
        return true;
    }
    if (format >= VK_FORMAT_ETC2_R8G8B8_UNORM_BLOCK && format <= VK_FORMAT_EAC_R11G11_SNORM_BLOCK) {
        bool large = format == VK_FORMAT_ETC2_R8G8B8A8_UNORM_BLOCK ||
                     format == VK_FORMAT_ETC2_R8G8B8A8_SRGB_BLOCK ||
                     format >= VK_FORMAT_EAC_R11G11_UNORM_BLOCK;
        texel->size = large ? 16 : 8;
        return true;
    }
    if (format >= VK_FORMAT_ASTC_4x4_UNORM_BLOCK && format <= VK_FORMAT_ASTC_12x12_SRGB_BLOCK) {
        uint32_t i = (uint32_t)(format - VK_FORMAT_ASTC_4x4_UNORM_BLOCK) / 2;
        texel->block_width = astc[i][0];
        texel->block_height = astc[i][1];
        return true;
    }
    return false;
}

static bool color_of(VkFormat format, struct bf_texel *texel)
{
    *texel = (struct bf_texel){.block_width = 1, .block_height = 1};
    if (format == VK_FORMAT_B10G11R11_UFLOAT_PACK32) {
        texel->kind = BF_TEXEL_UFLOAT;
        texel->size = 4;
        texel->component_count = 3;
        memcpy(texel->bits, (uint8_t[]){11, 11, 10}, 3);
        return true;
    }
    if (format == VK_FORMAT_E5B9G9R9_UFLOAT_PACK32) {
        texel->kind = BF_TEXEL_UFLOAT;
        texel->size = 4;
        texel->component_count = 4;
        memcpy(texel->bits, (uint8_t[]){9, 9, 9, 5}, 4);
        return true;
    }
    for (uint32_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const struct run *run = &runs[i];
        if (format < run->first || format > run->last)
            continue;
        texel->kind = run->kinds[format - run->first];
        texel->component_count = run->component_count;
        uint32_t bits = 0;
        for (uint32_t k = 0; k < run->component_count; k++)
            bits += texel->bits[k] = run->bits[k];
        texel->size = bits / 8;
        return true;
    }
    return texel_block_of(format, texel);
}

VkImageAspectFlags bf_format_aspects(VkFormat format)
{
    struct bf_texel texel;
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D32_SFLOAT:
        return VK_IMAGE_ASPECT_DEPTH_BIT;
    case VK_FORMAT_S8_UINT:
        return VK_IMAGE_ASPECT_STENCIL_BIT;
    case VK_FORMAT_D16_UNORM_S8_UINT:
    case VK_FORMAT_D24_UNORM_S8_UINT:
    case VK_FORMAT_D32_SFLOAT_S8_UINT:
        return VK_IMAGE_ASPECT_DEPTH_BIT | VK_IMAGE_ASPECT_STENCIL_BIT;
    default:
        return color_of(format, &texel) ? VK_IMAGE_ASPECT_COLOR_BIT : 0;
    }
}

bool bf_texel_of(VkFormat format, VkImageAspectFlagBits aspect, struct bf_texel *texel)
{
    if (!(bf_format_aspects(format) & aspect))
        return false;
    if (aspect == VK_IMAGE_ASPECT_COLOR_BIT)
        return color_of(format, texel);
    *texel =
        (struct bf_texel){.size = 4, .block_width = 1, .block_height = 1, .component_count = 1};
    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT) {
        texel->kind = BF_TEXEL_UINT;
        texel->size = 1;
        texel->bits[0] = 8;
        return true;
    }
    switch (format) {
    case VK_FORMAT_D16_UNORM:
    case VK_FORMAT_D16_UNORM_S8_UINT:
        texel->kind = BF_TEXEL_UNORM;
        texel->size = 2;
        texel->bits[0] = 16;
        return true;
    case VK_FORMAT_X8_D24_UNORM_PACK32:
    case VK_FORMAT_D24_UNORM_S8_UINT:
        texel->kind = BF_TEXEL_UNORM;
        texel->bits[0] = 24;
        texel->unused = 8;
        return true;
    default:
        texel->kind = BF_TEXEL_SFLOAT;
        texel->bits[0] = 32;
        return true;
    }
}

/* ----------------------------------------------------------------------------------- Classes -- */

/* Formats whose integers become floats as they are. */
static bool is_scaled(VkFormat format)
{
    bool scaled = false;
    for (uint32_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const struct run *run = &runs[i];
        const int32_t which = (int32_t)format - (int32_t)run->first;
        if (format >= run->first && format <= run->last && run->kinds != kinds_large)
            scaled = which == 2 || which == 3;
    }
    return scaled;
}

static uint32_t class_of_block(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_BC6H_UFLOAT_BLOCK:
    case VK_FORMAT_BC6H_SFLOAT_BLOCK:
        return BF_FORMAT_CLASS_HALF;
    case VK_FORMAT_BC4_SNORM_BLOCK:
    case VK_FORMAT_BC5_SNORM_BLOCK:
    case VK_FORMAT_EAC_R11_SNORM_BLOCK:
    case VK_FORMAT_EAC_R11G11_SNORM_BLOCK:
        return BF_FORMAT_CLASS_SNORM;
    default:
        return BF_FORMAT_CLASS_UNORM;
    }
}

uint32_t bf_format_class(VkFormat format, VkImageAspectFlags aspect)
{
    struct bf_texel texel;
    if (aspect == VK_IMAGE_ASPECT_DEPTH_BIT)
        return BF_FORMAT_CLASS_UNORM;
    if (aspect == VK_IMAGE_ASPECT_STENCIL_BIT)
        return BF_FORMAT_CLASS_INT8;
    if (!bf_texel_of(format, VK_IMAGE_ASPECT_COLOR_BIT, &texel))
        return BF_FORMAT_CLASS_ANY;
    switch (texel.kind) {
    case BF_TEXEL_UNORM:
        return is_scaled(format) ? BF_FORMAT_CLASS_FLOAT : BF_FORMAT_CLASS_UNORM;
    case BF_TEXEL_SNORM:
        return is_scaled(format) ? BF_FORMAT_CLASS_FLOAT : BF_FORMAT_CLASS_SNORM;
    case BF_TEXEL_UFLOAT:
        return BF_FORMAT_CLASS_HALF;
    case BF_TEXEL_SFLOAT:
        return texel.bits[0] == 16 ? BF_FORMAT_CLASS_HALF : BF_FORMAT_CLASS_FLOAT;
    case BF_TEXEL_UINT:
    case BF_TEXEL_SINT:
        return texel.bits[0] <= 8    ? BF_FORMAT_CLASS_INT8
               : texel.bits[0] <= 16 ? BF_FORMAT_CLASS_INT16
                                     : BF_FORMAT_CLASS_INT32;
    default:
        return class_of_block(format);
    }
}
