/* SPDX-License-Identifier: MIT */
/* Texel formats: their blocks, components and numbers, for generating and comparing contents. */
#include "specialize/check/texel.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- Formats --
 */

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

/* ------------------------------------------------------------------------------------- Nearness --
 */

bool bf_floats_near(double a, double b, float tolerance)
{
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    if (!isfinite(a) || !isfinite(b))
        return false;
    double scale = fmax(1.0, fmax(fabs(a), fabs(b)));
    return fabs(a - b) <= (double)tolerance * scale;
}

static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 31;
    double mantissa = half & 1023;
    double value = exponent == 31 ? (half & 1023 ? NAN : INFINITY)
                   : exponent     ? ldexp(1024.0 + mantissa, exponent - 25)
                                  : ldexp(mantissa, -24);
    return half & 0x8000 ? -value : value;
}

bool bf_halves_near(uint16_t a, uint16_t b, float tolerance)
{
    return bf_floats_near(half_value(a), half_value(b), tolerance);
}

/* Up to 64 bits from 'first' on, little-endian. */
static uint64_t take_bits(const uint8_t *bytes, uint32_t first, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bit = first + i;
        value |= (uint64_t)(bytes[bit / 8] >> (bit % 8) & 1) << i;
    }
    return value;
}

static int64_t sign_extend(uint64_t value, uint32_t bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    return (int64_t)((value ^ top) - top);
}

/* In units of the last place; 'scale' units are 1. */
static bool units_near(int64_t a, int64_t b, double scale, float tolerance)
{
    double difference = fabs((double)a - (double)b);
    return difference <= fmax(1.0, (double)tolerance * scale);
}

static bool components_near(enum bf_texel_kind kind, uint32_t bits, uint64_t a, uint64_t b,
                            float tolerance)
{
    float fa, fb;
    double da, db;
    uint32_t wa = (uint32_t)a, wb = (uint32_t)b;
    switch (kind) {
    case BF_TEXEL_UNORM:
        return units_near((int64_t)a, (int64_t)b, ldexp(1.0, (int)bits) - 1, tolerance);
    case BF_TEXEL_SNORM:
        return units_near(sign_extend(a, bits), sign_extend(b, bits), ldexp(1.0, (int)bits - 1) - 1,
                          tolerance);
    case BF_TEXEL_UFLOAT: /* 5 bits of exponent, the rest below it */
        return units_near((int64_t)a, (int64_t)b, ldexp(1.0, (int)bits - 5), tolerance);
    case BF_TEXEL_SFLOAT:
        if (bits == 16)
            return bf_halves_near((uint16_t)a, (uint16_t)b, tolerance);
        if (bits == 32) {
            memcpy(&fa, &wa, 4);
            memcpy(&fb, &wb, 4);
            return bf_floats_near(fa, fb, tolerance);
        }
        memcpy(&da, &a, 8);
        memcpy(&db, &b, 8);
        return bf_floats_near(da, db, tolerance);
    default:
        return a == b;
    }
}

bool bf_texels_near(const struct bf_texel *texel, const void *a, const void *b, float tolerance)
{
    if (memcmp(a, b, texel->size) == 0)
        return true;
    uint32_t bit = 0;
    for (uint32_t i = 0; i < texel->component_count; i++) {
        uint32_t bits = texel->bits[i];
        if (!components_near(texel->kind, bits, take_bits(a, bit, bits), take_bits(b, bit, bits),
                             tolerance))
            return false;
        bit += bits;
    }
    return texel->component_count > 0;
}
