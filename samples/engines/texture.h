/* SPDX-License-Identifier: MIT */
/*
 * Textures of four materials, stone and metal, computed by the CPU: what the copy engine copies
 * second.
 */
#ifndef ENGINES_TEXTURE_H
#define ENGINES_TEXTURE_H

#include <stdint.h>

#define TEXTURES       4
#define TEXTURE_SIDE   512u
#define TEXTURE_LEVELS 10u

/* The size of one texture with all levels, in bytes, as RGBA. */
#define TEXTURE_BYTES (4u * (((1u << 2 * TEXTURE_LEVELS) - 1u) / 3u))

/* The offset of level `level`. */
uint32_t texture_offset(uint32_t level);

/* Computes a texture that repeats seamlessly. `texels` has room for TEXTURE_BYTES; `material` is
 * one of scene.h's. */
void texture_paint(uint32_t material, uint32_t seed, uint8_t *texels);

#endif
