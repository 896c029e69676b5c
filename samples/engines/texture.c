/* SPDX-License-Identifier: MIT */
/* Computes the textures of four materials, on the CPU. */
#include "texture.h"

#include <math.h>

#include "scene.h"

#define SIDE TEXTURE_SIDE

struct colour {
    float r, g, b;
};

static struct colour blend(struct colour a, struct colour b, float part)
{
    part = part < 0.0f ? 0.0f : part > 1.0f ? 1.0f : part;
    return (struct colour){a.r + (b.r - a.r) * part, a.g + (b.g - a.g) * part,
                           a.b + (b.b - a.b) * part};
}

static uint32_t hash(uint32_t n)
{
    n = (n ^ n >> 16) * 0x7feb352du;
    n = (n ^ n >> 15) * 0x846ca68bu;
    return n ^ n >> 16;
}

static float chance(uint32_t x, uint32_t y, uint32_t salt)
{
    return (float)(hash(hash(x + 0x9e3779b9u * salt) + y) >> 8) * (1.0f / 16777216.0f);
}

/* Smooth periodic noise from 0 to 1, with `cells` cells per side of the texture. u and v go from 0
 * to 1. */
static float noise(float u, float v, uint32_t cells, uint32_t salt)
{
    float x = (u - floorf(u)) * (float)cells, y = (v - floorf(v)) * (float)cells;
    uint32_t x0 = (uint32_t)x % cells, y0 = (uint32_t)y % cells;
    uint32_t x1 = (x0 + 1) % cells, y1 = (y0 + 1) % cells;
    float fx = x - floorf(x), fy = y - floorf(y);
    fx = fx * fx * (3.0f - 2.0f * fx);
    fy = fy * fy * (3.0f - 2.0f * fy);
    float low = chance(x0, y0, salt) * (1.0f - fx) + chance(x1, y0, salt) * fx;
    float high = chance(x0, y1, salt) * (1.0f - fx) + chance(x1, y1, salt) * fx;
    return low * (1.0f - fy) + high * fy;
}

/* The sum of several octaves of noise. */
static float turbulence(float u, float v, uint32_t cells, uint32_t salt)
{
    float sum = 0.0f, weight = 0.5f;
    for (int i = 0; i < 6 && cells < SIDE; ++i, cells *= 2, weight *= 0.5f)
        sum += weight * noise(u, v, cells, salt + (uint32_t)i);
    return sum;
}

/* 1 in the middle of a vein, falling to 0 at its sides. */
static float vein(float u, float v, uint32_t cells, float sharp, uint32_t salt)
{
    float warp = 0.16f * (turbulence(u, v, 4, salt + 50) - 0.5f);
    float n = turbulence(u + warp, v - warp, cells, salt);
    return expf(-sharp * fabsf(n - 0.5f));
}

static struct colour marble(float u, float v, uint32_t salt)
{
    const struct colour white = {0.90f, 0.88f, 0.85f}, grey = {0.44f, 0.45f, 0.50f};
    struct colour c = blend(white, grey, 0.75f * vein(u, v, 3, 42.0f, salt));
    c = blend(c, grey, 0.35f * vein(u, v, 7, 60.0f, salt + 9));
    return blend(c, (struct colour){0.82f, 0.74f, 0.62f}, 0.35f * turbulence(u, v, 3, salt + 20));
}

static struct colour tiles(float u, float v, uint32_t salt)
{
    const struct colour joint = {0.16f, 0.14f, 0.12f}, brass = {0.72f, 0.54f, 0.24f};
    uint32_t x = (uint32_t)(u * 2.0f) % 2, y = (uint32_t)(v * 2.0f) % 2;
    float in_u = fabsf(u * 2.0f - (float)x - 0.5f), in_v = fabsf(v * 2.0f - (float)y - 0.5f);
    float edge = 0.5f - fmaxf(in_u, in_v);
    struct colour c;

    if ((x + y) % 2)
        c = blend((struct colour){0.12f, 0.17f, 0.19f}, (struct colour){0.60f, 0.66f, 0.64f},
                  0.75f * vein(u, v, 4, 55.0f, salt) + 0.15f * turbulence(u, v, 8, salt + 3));
    else
        c = blend((struct colour){0.78f, 0.71f, 0.60f}, (struct colour){0.48f, 0.38f, 0.29f},
                  0.6f * vein(u, v, 4, 40.0f, salt + 11) + 0.3f * turbulence(u, v, 8, salt + 5));
    /* A brass diamond, and the joints between the slabs. */
    float diamond = fabsf(in_u + in_v - 0.30f);
    c = blend(brass, c, (diamond - 0.010f) / 0.005f);
    return blend(joint, c, (edge - 0.008f) / 0.006f);
}

static struct colour bronze(float u, float v, uint32_t salt)
{
    const struct colour bright = {0.93f, 0.66f, 0.34f}, dark = {0.52f, 0.29f, 0.13f};
    struct colour c = blend(bright, dark, 1.3f * turbulence(u, v, 4, salt) - 0.2f);
    c = blend(c, dark, 0.5f * noise(u * 0.999f, v, 128, salt + 7) * noise(u, v, 8, salt + 8));
    float patina = turbulence(u, v, 3, salt + 30) - 0.55f;
    return blend(c, (struct colour){0.24f, 0.52f, 0.46f}, 5.0f * patina);
}

static struct colour granite(float u, float v, uint32_t salt)
{
    const struct colour dark = {0.13f, 0.11f, 0.13f}, red = {0.45f, 0.25f, 0.22f};
    struct colour c = blend(dark, red, 1.6f * turbulence(u, v, 6, salt) - 0.45f);
    float grain = noise(u, v, 160, salt + 1), bright = noise(u, v, 128, salt + 2);
    c = blend(c, (struct colour){0.05f, 0.05f, 0.06f}, 3.0f * (grain - 0.62f));
    return blend(c, (struct colour){0.78f, 0.70f, 0.66f}, 5.0f * (bright - 0.80f));
}

static void texel_store(uint8_t *texel, struct colour c)
{
    texel[0] = (uint8_t)(255.0f * c.r + 0.5f);
    texel[1] = (uint8_t)(255.0f * c.g + 0.5f);
    texel[2] = (uint8_t)(255.0f * c.b + 0.5f);
    texel[3] = 255;
}

uint32_t texture_offset(uint32_t level)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < level; ++i)
        offset += (SIDE >> i) * (SIDE >> i) * 4;
    return offset;
}

static void level_halve(const uint8_t *from, uint8_t *to, uint32_t side)
{
    for (uint32_t y = 0; y < side; ++y) {
        for (uint32_t x = 0; x < side; ++x) {
            const uint8_t *a = from + (2 * y * 2 * side + 2 * x) * 4, *b = a + 2 * side * 4;
            for (int c = 0; c < 4; ++c)
                to[(y * side + x) * 4 + (uint32_t)c] =
                    (uint8_t)((a[c] + a[c + 4] + b[c] + b[c + 4] + 2) / 4);
        }
    }
}

void texture_paint(uint32_t material, uint32_t seed, uint8_t *texels)
{
    uint32_t salt = hash(seed) ^ material * 1000u;

    for (uint32_t y = 0; y < SIDE; ++y) {
        for (uint32_t x = 0; x < SIDE; ++x) {
            float u = ((float)x + 0.5f) / SIDE, v = ((float)y + 0.5f) / SIDE;
            struct colour c = material == SCENE_FLOOR    ? tiles(u, v, salt)
                              : material == SCENE_MARBLE ? marble(u, v, salt)
                              : material == SCENE_BRONZE ? bronze(u, v, salt)
                                                         : granite(u, v, salt);
            texel_store(texels + (y * SIDE + x) * 4, c);
        }
    }
    for (uint32_t i = 1; i < TEXTURE_LEVELS; ++i)
        level_halve(texels + texture_offset(i - 1), texels + texture_offset(i), SIDE >> i);
}
