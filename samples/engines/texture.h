/* SPDX-License-Identifier: MIT */
/*
 * Four stones and metals, painted by the CPU: what the copy engine brings to the GPU second.
 */
#ifndef ENGINES_TEXTURE_H
#define ENGINES_TEXTURE_H

#include <stdint.h>

#define TEXTURES       4
#define TEXTURE_SIDE   512u
#define TEXTURE_LEVELS 10u

/* Bytes of one texture, all levels, RGBA. */
#define TEXTURE_BYTES (4u * (((1u << 2 * TEXTURE_LEVELS) - 1u) / 3u))

/* Where level `level` begins. */
uint32_t texture_offset(uint32_t level);

/* `texels` has room for TEXTURE_BYTES; `material` as in scene.h. It repeats seamlessly. */
void texture_paint(uint32_t material, uint32_t seed, uint8_t *texels);

#endif
