/* SPDX-License-Identifier: MIT */
/*
 * A colonnade with a knot of bronze in it, made by the CPU for each frame: what the copy engine
 * brings to the GPU first.
 */
#ifndef ENGINES_SCENE_H
#define ENGINES_SCENE_H

#include <stdint.h>

#define SCENE_LIGHTS  18
#define SCENE_BLOCKS  56 /* spheres along the knot, for its shadow */
#define SCENE_COLUMNS 9

/* Materials 0 to 3 are the textures; 4 shines by itself, u being the number of its light. */
enum scene_material { SCENE_FLOOR, SCENE_MARBLE, SCENE_BRONZE, SCENE_GRANITE, SCENE_GLOW };

/* As in scene.glsl. */
struct scene_vertex {
    float place[3], material;
    float normal[3], unused;
    float u, v, unused2[2];
};

struct scene_light {
    float place[3], reach;
    float colour[3], unused;
};

struct scene_lights {
    struct scene_light lights[SCENE_LIGHTS];
    float blocks[SCENE_BLOCKS][4];   /* middle, radius */
    float columns[SCENE_COLUMNS][4]; /* x, z, radius, height */
};

/* How many vertices a scene has: always the same. */
uint32_t scene_vertex_count(void);

/* Frame `frame` of it; `vertices` has room for scene_vertex_count of them. */
void scene_build(uint64_t frame, uint32_t seed, struct scene_vertex *vertices,
                 struct scene_lights *lights);

#endif
