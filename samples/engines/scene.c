/* SPDX-License-Identifier: MIT */
/* Computes the vertices of a colonnade and a knot, on the CPU, for each frame. */
#include "scene.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define TAU    6.2831853f
#define PERIOD 3600u /* frames after which the animation repeats */

#define COLUMN_SEGMENTS 40
#define KNOT_ALONG      300
#define KNOT_AROUND     20
#define RING_RADIUS     3.3f
#define COLUMN_RADIUS   0.27f
#define COLUMN_HEIGHT   2.9f

struct vec3 {
    float x, y, z;
};

static struct vec3 add(struct vec3 a, struct vec3 b, float scale)
{
    return (struct vec3){a.x + b.x * scale, a.y + b.y * scale, a.z + b.z * scale};
}

static struct vec3 cross(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static struct vec3 normalized(struct vec3 a)
{
    float length = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z);
    return (struct vec3){a.x / length, a.y / length, a.z / length};
}

static float chance(uint32_t n)
{
    n = (n ^ n >> 16) * 0x7feb352du;
    n = (n ^ n >> 15) * 0x846ca68bu;
    return (float)((n ^ n >> 16) >> 8) * (1.0f / 16777216.0f);
}

/* Where vertices are written; with a NULL pointer they are only counted. */
struct builder {
    struct scene_vertex *at;
    uint32_t count;
};

static void vertex_add(struct builder *builder, struct vec3 place, struct vec3 normal, float u,
                       float v, enum scene_material material)
{
    if (builder->at)
        builder->at[builder->count] = (struct scene_vertex){
            .place = {place.x, place.y, place.z},
            .material = (float)material,
            .normal = {normal.x, normal.y, normal.z},
            .u = u,
            .v = v,
        };
    ++builder->count;
}

struct corner {
    struct vec3 place, normal;
    float u, v;
};

static void quad_add(struct builder *builder, const struct corner corners[4],
                     enum scene_material material)
{
    static const int order[6] = {0, 1, 2, 2, 1, 3};
    for (int i = 0; i < 6; ++i) {
        const struct corner *c = &corners[order[i]];
        vertex_add(builder, c->place, c->normal, c->u, c->v, material);
    }
}

/* A point of a profile, which is rotated about a vertical axis. */
struct profile {
    float radius, height;
};

static struct corner lathe_corner(const struct profile *from, const struct profile *to, float part,
                                  float angle, int flutes, struct vec3 middle, float around)
{
    float c = cosf(angle), s = sinf(angle);
    float radius = from->radius + (to->radius - from->radius) * part;
    float height = from->height + (to->height - from->height) * part;
    float rise = to->height - from->height, out = to->radius - from->radius;
    /* Only vertical parts of the profile have flutes. */
    float cut = 0.0f, slope = 0.0f;
    if (flutes) {
        cut = 0.030f * fabsf(sinf(0.5f * (float)flutes * angle));
        slope = 0.015f * (float)flutes * cosf(0.5f * (float)flutes * angle) *
                (sinf(0.5f * (float)flutes * angle) < 0.0f ? -1.0f : 1.0f);
    }
    radius -= cut;
    struct vec3 normal = normalized((struct vec3){rise * c, -out, rise * s});
    normal =
        normalized(add(normal, (struct vec3){-s, 0.0f, c}, radius > 0.0f ? slope / radius : 0));
    return (struct corner){
        {middle.x + radius * c, middle.y + height, middle.z + radius * s},
        normal,
        around * angle / TAU,
        height,
    };
}

/* Adds a profile's surface of revolution; part number `fluted` of it has `flutes` flutes. */
static void lathe_add(struct builder *builder, const struct profile *profile, int count,
                      int segments, struct vec3 middle, float around, int flutes, int fluted,
                      enum scene_material material)
{
    for (int i = 0; i + 1 < count; ++i) {
        int cut = i == fluted ? flutes : 0;
        int fine = cut ? cut * 6 : segments;
        for (int k = 0; k < fine; ++k) {
            float a = TAU * (float)k / (float)fine, b = TAU * (float)(k + 1) / (float)fine;
            const struct corner corners[4] = {
                lathe_corner(&profile[i], &profile[i + 1], 0.0f, a, cut, middle, around),
                lathe_corner(&profile[i], &profile[i + 1], 0.0f, b, cut, middle, around),
                lathe_corner(&profile[i], &profile[i + 1], 1.0f, a, cut, middle, around),
                lathe_corner(&profile[i], &profile[i + 1], 1.0f, b, cut, middle, around),
            };
            quad_add(builder, corners, material);
        }
    }
}

static void floor_add(struct builder *builder)
{
    const float far = 60.0f;
    struct corner corners[4];
    for (int i = 0; i < 4; ++i) {
        float x = i & 1 ? far : -far, z = i & 2 ? far : -far;
        corners[i] = (struct corner){{x, 0.0f, z}, {0.0f, 1.0f, 0.0f}, x / 2.4f, z / 2.4f};
    }
    quad_add(builder, corners, SCENE_FLOOR);
}

static void columns_add(struct builder *builder, struct scene_lights *lights)
{
    const float r = COLUMN_RADIUS, h = COLUMN_HEIGHT;
    const struct profile profile[] = {
        {r * 1.55f, 0.0f},      {r * 1.55f, 0.14f},     {r * 1.30f, 0.14f},
        {r * 1.30f, 0.22f},     {r * 1.02f, 0.26f},     {r * 0.90f, h - 0.24f},
        {r * 1.05f, h - 0.20f}, {r * 1.38f, h - 0.12f}, {r * 1.50f, h - 0.12f},
        {r * 1.50f, h},
    };
    for (int i = 0; i < SCENE_COLUMNS; ++i) {
        float a = TAU * ((float)i + 0.5f) / SCENE_COLUMNS;
        struct vec3 foot = {RING_RADIUS * cosf(a), 0.0f, RING_RADIUS * sinf(a)};
        lathe_add(builder, profile, sizeof profile / sizeof *profile, COLUMN_SEGMENTS, foot, 2.0f,
                  16, 4, SCENE_MARBLE);
        if (lights)
            memcpy(lights->columns[i], (const float[4]){foot.x, foot.z, r, h}, sizeof(float[4]));
    }
}

/* Adds the ring on the columns, the pedestal of the knot, and the steps. */
static void rings_add(struct builder *builder)
{
    const float in = RING_RADIUS - 0.42f, out = RING_RADIUS + 0.42f, h = COLUMN_HEIGHT;
    const struct profile beam[] = {
        {out, h},
        {out, h + 0.26f},
        {out + 0.10f, h + 0.26f},
        {out + 0.10f, h + 0.38f},
        {in, h + 0.38f},
        {in, h},
        {out, h},
    };
    const struct profile pedestal[] = {
        {0.95f, 0.0f},  {0.95f, 0.16f}, {0.78f, 0.16f}, {0.70f, 0.22f},
        {0.62f, 0.50f}, {0.74f, 0.58f}, {0.74f, 0.66f}, {0.0f, 0.66f},
    };
    const struct vec3 origin = {0.0f, 0.0f, 0.0f};
    lathe_add(builder, beam, sizeof beam / sizeof *beam, 144, origin, 24.0f, 0, -1, SCENE_GRANITE);
    lathe_add(builder, pedestal, sizeof pedestal / sizeof *pedestal, 72, origin, 6.0f, 0, -1,
              SCENE_GRANITE);
}

/* The point of the knot's curve at t, from 0 to 1. */
static struct vec3 knot_place(float t, float turn, uint32_t seed)
{
    static const float windings[4][2] = {{2, 3}, {2, 5}, {3, 4}, {3, 2}};
    const float *pq = windings[seed % 4];
    float a = pq[0] * TAU * t, b = pq[1] * TAU * t;
    float r = 0.62f + 0.27f * cosf(b);
    float x = r * cosf(a), y = r * sinf(a), z = 0.30f * sinf(b);
    /* The knot stands upright and turns about the vertical axis. */
    float c = cosf(turn), s = sinf(turn);
    return (struct vec3){c * x + s * z, 1.72f + y, c * z - s * x};
}

static float knot_radius(float t, float turn)
{
    return 0.125f * (1.0f + 0.20f * sinf(TAU * 12.0f * t - 8.0f * turn));
}

static struct corner knot_corner(int along, int around, float turn, uint32_t seed)
{
    float t = (float)along / KNOT_ALONG, angle = TAU * (float)around / KNOT_AROUND;
    struct vec3 here = knot_place(t, turn, seed);
    struct vec3 ahead = knot_place(t + 0.0008f, turn, seed);
    struct vec3 before = knot_place(t - 0.0008f, turn, seed);
    struct vec3 along_it = normalized(add(ahead, before, -1.0f));
    struct vec3 bend = add(add(ahead, before, 1.0f), here, -2.0f);
    struct vec3 side = normalized(cross(along_it, bend));
    struct vec3 out = cross(side, along_it);
    struct vec3 normal = add((struct vec3){0}, side, cosf(angle));
    normal = add(normal, out, sinf(angle));
    return (struct corner){add(here, normal, knot_radius(t, turn)), normal, 14.0f * t,
                           (float)around / KNOT_AROUND};
}

static void knot_add(struct builder *builder, float turn, uint32_t seed)
{
    if (!builder->at) {
        builder->count += KNOT_ALONG * KNOT_AROUND * 6;
        return;
    }
    for (int i = 0; i < KNOT_ALONG; ++i) {
        for (int k = 0; k < KNOT_AROUND; ++k) {
            const struct corner corners[4] = {
                knot_corner(i, k, turn, seed),
                knot_corner(i + 1, k, turn, seed),
                knot_corner(i, k + 1, turn, seed),
                knot_corner(i + 1, k + 1, turn, seed),
            };
            quad_add(builder, corners, SCENE_BRONZE);
        }
    }
}

/* Adds the lights, which wander among the columns; each is in a small globe. */
static void lights_add(struct builder *builder, float turn, uint32_t seed,
                       struct scene_lights *lights)
{
    for (uint32_t i = 0; i < SCENE_LIGHTS; ++i) {
        uint32_t n = seed * 1009u + i * 16u;
        float speed = (float)(1 + (int)(chance(n) * 3.0f)) * (i % 2 ? 1.0f : -1.0f);
        float a = TAU * ((float)i / SCENE_LIGHTS + 0.3f * chance(n + 1)) + speed * turn;
        float r = 1.25f + 3.4f * chance(n + 2);
        struct vec3 place = {r * cosf(a), 0.22f + 1.9f * chance(n + 3) * chance(n + 4),
                             r * sinf(a)};
        place.y += 0.12f * sinf(5.0f * turn + TAU * chance(n + 5));
        if (lights) {
            float hue = TAU * (chance(n + 6) * 0.8f + 0.1f * (float)(i % 3));
            struct scene_light *light = &lights->lights[i];
            *light = (struct scene_light){.place = {place.x, place.y, place.z}, .reach = 2.6f};
            for (int c = 0; c < 3; ++c)
                light->colour[c] =
                    0.12f + 0.88f * powf(0.5f + 0.5f * cosf(hue + 2.1f * (float)c), 2);
        }
        struct profile globe[7];
        for (int k = 0; k < 7; ++k) {
            float b = TAU * 0.5f * (float)k / 6.0f;
            globe[k] = (struct profile){0.055f * sinf(b), -0.055f * cosf(b)};
        }
        uint32_t first = builder->count;
        lathe_add(builder, globe, 7, 12, place, 0.0f, 0, -1, SCENE_GLOW);
        for (uint32_t k = first; builder->at && k < builder->count; ++k)
            builder->at[k].u = (float)i;
    }
}

static void scene_add(struct builder *builder, float turn, uint32_t seed,
                      struct scene_lights *lights)
{
    floor_add(builder);
    columns_add(builder, lights);
    rings_add(builder);
    knot_add(builder, turn, seed);
    lights_add(builder, turn, seed, lights);
}

uint32_t scene_vertex_count(void)
{
    struct builder builder = {0};
    scene_add(&builder, 0.0f, 0, NULL);
    return builder.count;
}

void scene_build(uint64_t frame, uint32_t seed, struct scene_vertex *vertices,
                 struct scene_lights *lights)
{
    struct builder builder = {.at = vertices};
    float turn = TAU * (float)(frame % PERIOD) / PERIOD;

    memset(lights, 0, sizeof *lights);
    scene_add(&builder, turn, seed, lights);
    for (int i = 0; i < SCENE_BLOCKS; ++i) {
        float t = (float)i / SCENE_BLOCKS;
        struct vec3 place = knot_place(t, turn, seed);
        memcpy(lights->blocks[i], (const float[4]){place.x, place.y, place.z, knot_radius(t, turn)},
               sizeof(float[4]));
    }
}
