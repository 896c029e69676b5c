/* SPDX-License-Identifier: MIT */
/*
 * A colonnade with a bronze knot in it, computed by the CPU for each frame: the geometry that the
 * copy engine copies first.
 */
#ifndef ENGINES_SCENE_H
#define ENGINES_SCENE_H

#include <stdint.h>

#define SCENE_LIGHTS  18
#define SCENE_BLOCKS  56 /* spheres along the knot, which stand for it in shadows */
#define SCENE_COLUMNS 9

/* Materials 0 to 3 have a texture; 4 glows, and u is then the number of its light. */
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
    float blocks[SCENE_BLOCKS][4];   /* centre, radius */
    float columns[SCENE_COLUMNS][4]; /* x, z, radius, height */
};

/* The number of vertices, which is the same for all frames. */
uint32_t scene_vertex_count(void);

/* Computes frame `frame`; `vertices` has room for scene_vertex_count() of them. */
void scene_build(uint64_t frame, uint32_t seed, struct scene_vertex *vertices,
                 struct scene_lights *lights);

#endif
