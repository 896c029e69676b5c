/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "../../common/shaders/develop.glsl"

// A pool with a mosaic floor, seen through its waves: one ray per pixel, refracted once.

layout(set = 0, binding = 0, std430) readonly buffer Versions {
    vec4 water[]; // height, slope in x and z, brightness of the floor beneath
};

layout(push_constant) uniform Push {
    vec4 right; // the camera's axes; w is minus the eye's coordinate along each
    vec4 up;
    vec4 forward;
    vec2 lens;  // one over the focal lengths in x and y
    uint first; // the first cell of the version to draw
    uint side;
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

const float DEPTH = 0.34;
const float RIM = 0.035; // height of the deck above the water
const vec3 SUN = normalize(vec3(-0.55, 0.34, -0.76));
const vec3 SUNLIGHT = vec3(2.6, 1.95, 1.25);

vec4 water_at(vec2 p)
{
    vec2 at = clamp((p * 0.5 + 0.5) * float(push.side) - 0.5, vec2(0.0), vec2(push.side) - 1.001);
    uvec2 cell = uvec2(at);
    vec2 part = fract(at);
    uint i = push.first + cell.y * push.side + cell.x;
    return mix(mix(water[i], water[i + 1u], part.x),
               mix(water[i + push.side], water[i + push.side + 1u], part.x), part.y);
}

vec3 sky(vec3 d)
{
    float low = exp(-5.0 * max(d.y, 0.0));
    float towards = max(dot(d, SUN), 0.0);
    vec3 c = mix(vec3(0.10, 0.26, 0.52), vec3(0.80, 0.62, 0.52), low);
    c += vec3(0.75, 0.36, 0.14) * pow(towards, 6.0) * 0.7;
    c += SUNLIGHT * (12.0 * smoothstep(0.9988, 0.9996, towards) + 0.5 * pow(towards, 220.0));
    return c;
}

// Coverage of a line of width `wide` around integers, softened by a pixel's size.
float joint(vec2 p, float wide, float pixel)
{
    vec2 off = abs(fract(p + 0.5) - 0.5);
    vec2 line = 1.0 - smoothstep(vec2(wide - pixel), vec2(wide + pixel), off);
    return max(line.x, line.y) * clamp(0.5 / max(pixel, 1e-4), 0.0, 1.0);
}

// Small square stones in blues, with inlaid rings and a star of gold and white.
vec3 mosaic(vec2 p, float pixel)
{
    const float STONES = 26.0; // per unit
    vec2 at = p * STONES;
    vec2 stone = floor(at);
    vec2 centre = (stone + 0.5) / STONES;
    uint h = hash(uint(int(stone.x) + 512) * 1024u + uint(int(stone.y) + 512));
    float r = length(centre), a = atan(centre.y, centre.x);

    vec3 c = mix(vec3(0.020, 0.150, 0.300), vec3(0.055, 0.330, 0.420), unit(h));
    float star = r * (1.0 + 0.32 * abs(cos(4.0 * a)) - 0.25 * abs(sin(4.0 * a)));
    if (star < 0.36)
        c = mix(vec3(0.62, 0.44, 0.13), vec3(0.78, 0.60, 0.24), unit(h + 1u));
    if (star < 0.30)
        c = mix(vec3(0.030, 0.090, 0.240), vec3(0.050, 0.160, 0.330), unit(h + 2u));
    if (r < 0.10)
        c = mix(vec3(0.66, 0.64, 0.56), vec3(0.86, 0.83, 0.74), unit(h + 3u));
    if (abs(r - 0.62) < 0.045)
        c = mix(vec3(0.70, 0.68, 0.60), vec3(0.88, 0.86, 0.78), unit(h + 4u));
    if (abs(r - 0.72) < 0.018 || max(abs(centre.x), abs(centre.y)) > 0.92)
        c = mix(vec3(0.58, 0.40, 0.12), vec3(0.74, 0.55, 0.20), unit(h + 5u));
    c *= 0.85 + 0.3 * unit(h + 6u);
    return mix(c, vec3(0.10, 0.12, 0.12), 0.75 * joint(at, 0.07, pixel * STONES));
}

vec3 deck(vec2 p, float pixel)
{
    vec2 at = p * 3.2 + 0.5;
    uint h = hash(uint(int(floor(at.x)) + 512) * 1024u + uint(int(floor(at.y)) + 512));
    vec3 c = mix(vec3(0.50, 0.38, 0.27), vec3(0.62, 0.50, 0.37), unit(h));
    uint g = hash(uint(int(floor(p.x * 220.0)) + 4096) * 8192u +
                  uint(int(floor(p.y * 220.0)) + 4096));
    c *= 0.95 + 0.10 * unit(g) * clamp(0.004 / pixel, 0.0, 1.0);
    return mix(c, vec3(0.22, 0.17, 0.13), 0.8 * joint(at, 0.018, pixel * 3.2));
}

// The colour that a ray below the surface hits, from p on the surface.
vec3 beneath(vec3 p, vec3 d, float pixel)
{
    vec3 wall = (sign(d) - p) / d; // to x = 1 and z = 1, or -1
    float floor_at = (-DEPTH - p.y) / d.y;
    float t = min(floor_at, min(wall.x, wall.z));
    vec3 hit = p + d * t;
    vec3 c;
    float shine = 1.0;

    // The sun through the water above the point that was hit, which the wall's shadow may cover.
    vec3 down = refract(-SUN, vec3(0.0, 1.0, 0.0), 1.0 / 1.333);
    vec2 entry = hit.xz + down.xz * (hit.y / down.y) * -1.0;
    float lit = step(max(abs(entry.x), abs(entry.y)), 1.0);
    vec2 shade = smoothstep(vec2(1.0), vec2(0.97), abs(entry));
    float focus = water_at(entry).w;
    if (floor_at <= min(wall.x, wall.z)) {
        c = mosaic(hit.xz, pixel);
        shine = 0.55 * SUN.y + 0.45;
    } else {
        bool x = wall.x < wall.z;
        vec2 at = x ? hit.zy : hit.xy;
        c = mix(vec3(0.05, 0.28, 0.36), vec3(0.09, 0.40, 0.46),
                unit(hash(uint(int(floor(at.x * 26.0)) + 512) * 64u +
                          uint(int(floor(at.y * 26.0)) + 32))));
        c = mix(c, vec3(0.10, 0.12, 0.12), 0.7 * joint(at * 26.0, 0.07, pixel * 26.0));
        shine = max(0.0, dot(x ? vec3(-sign(d.x), 0, 0) : vec3(0, 0, -sign(d.z)), SUN));
    }
    vec3 light = vec3(0.34, 0.44, 0.52) +
                 SUNLIGHT * shine * lit * shade.x * shade.y * (0.12 + 0.55 * focus * focus * 0.72);
    // Water absorbs red first.
    return c * light * exp(-vec3(1.1, 0.32, 0.20) * (t + 0.25));
}

void main()
{
    vec2 ndc = (place * 2.0 - 1.0) * push.lens;
    vec3 d = normalize(push.forward.xyz + push.right.xyz * ndc.x + push.up.xyz * ndc.y);
    vec3 eye = -(push.right.xyz * push.right.w + push.up.xyz * push.up.w +
                 push.forward.xyz * push.forward.w);
    vec3 light = sky(d);

    if (d.y < 0.0) {
        float t = (RIM - eye.y) / d.y;
        vec2 at = eye.xz + d.xz * t;
        float pixel = t * abs(push.lens.y) * 0.0022 / max(-d.y, 0.15);
        float out_of = max(abs(at.x), abs(at.y));
        if (out_of > 1.0) {
            vec3 stone = deck(at, pixel);
            stone *= mix(0.80, 1.0, smoothstep(1.0, 1.012, out_of));       // a worn edge
            stone = mix(vec3(0.66, 0.60, 0.50), stone, smoothstep(1.085, 1.085 + pixel, out_of));
            stone *= 1.0 - 0.5 * (1.0 - smoothstep(0.0, pixel + 0.006, abs(out_of - 1.085)));
            light = mix(stone * (vec3(0.30, 0.34, 0.42) + SUNLIGHT * SUN.y * 1.25), light,
                        1.0 - exp(-0.012 * t * t));
        } else {
            // Down to the water, unless the ray hits the wall between deck and water first.
            t = -eye.y / d.y;
            vec3 p = eye + d * t;
            vec4 w = water_at(p.xz);
            p.xz += d.xz / -d.y * -w.x;
            if (max(abs(p.x), abs(p.z)) > 1.0) {
                light = vec3(0.40, 0.33, 0.25) * vec3(0.45, 0.46, 0.50);
            } else {
                w = water_at(p.xz);
                vec3 n = normalize(vec3(-w.y, 1.0, -w.z));
                vec3 seen = reflect(d, n);
                seen.y = abs(seen.y);
                float bright = 0.02 + 0.98 * pow(1.0 - clamp(dot(-d, n), 0.0, 1.0), 5.0);
                vec3 below = beneath(vec3(p.x, 0.0, p.z), refract(d, n, 1.0 / 1.333), pixel);
                light = mix(below, min(sky(seen), vec3(14.0)), bright);
                light *= mix(0.72, 1.0, smoothstep(1.0, 0.985, max(abs(p.x), abs(p.z))));
            }
        }
    }
    vec2 off = place - 0.5;
    light *= 1.0 - 0.55 * dot(off, off);
    light = 1.0 - exp(-1.15 * light);
    colour = vec4(develop(light), 1.0);
}
