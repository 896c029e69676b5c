/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "scene.glsl"

// The light on each pixel of the pre-pass: a low sun with shadows, the sky with occlusion, and the
// moving lights. It doesn't know the colours of surfaces.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0) uniform sampler2D rt1;
layout(set = 0, binding = 1, std430) readonly buffer Lights {
    Light lights[LIGHTS];
    vec4 blocks[BLOCKS];
    vec4 columns[COLUMNS];
};
layout(set = 0, binding = 2, std430) writeonly buffer Lit {
    uvec2 lit[]; // diffuse rgb and gloss, as 16-bit floats
};

const vec3 SUN = normalize(vec3(-0.72, 0.46, 0.52));
const vec3 SUNLIGHT = vec3(3.3, 2.35, 1.45);
const float BEAM_LOW = 2.9, BEAM_HIGH = 3.28, BEAM_IN = 2.88, BEAM_OUT = 3.82;

vec3 place_of(ivec2 pixel, float away)
{
    vec2 ndc = (vec2(pixel) + 0.5) / vec2(push.size) * 2.0 - 1.0;
    vec3 eye = vec3(ndc * away / push.lens, away) - vec3(push.right.w, push.up.w, push.forward.w);
    return push.right.xyz * eye.x + push.up.xyz * eye.y + push.forward.xyz * eye.z;
}

// The visible share of the sun at p. Shadows are softer the farther away the occluder is.
float sun_seen(vec3 p, vec3 n)
{
    float seen = 1.0;
    p += n * 0.02;
    vec2 flat_sun = SUN.xz / length(SUN.xz);
    for (uint i = 0u; i < COLUMNS; ++i) {
        vec2 to = columns[i].xy - p.xz;
        float along = dot(to, flat_sun);
        if (along <= 0.0)
            continue;
        float off = abs(to.x * flat_sun.y - to.y * flat_sun.x);
        float height = p.y + SUN.y / length(SUN.xz) * along;
        float soft = 0.012 + 0.02 * along;
        float hidden = 1.0 - smoothstep(-soft, soft, off - columns[i].z * 0.96);
        hidden *= 1.0 - smoothstep(-soft, soft, height - columns[i].w);
        // A point of the column itself is shaded by its normal.
        hidden *= smoothstep(columns[i].z * 0.5, columns[i].z * 1.1, length(to));
        seen *= 1.0 - hidden;
    }
    // The beam is a ring: the points where the ray crosses its lower and upper face, and the
    // middle.
    for (int k = 0; k < 3 && p.y < BEAM_HIGH - 0.02; ++k) {
        float t = (mix(BEAM_LOW, BEAM_HIGH, float(k) * 0.5) - p.y) / SUN.y;
        if (t < 0.03)
            continue;
        float r = length(p.xz + SUN.xz * t), soft = 0.01 + 0.02 * t;
        seen *= 1.0 - smoothstep(BEAM_IN - soft, BEAM_IN + soft, r) *
                          (1.0 - smoothstep(BEAM_OUT - soft, BEAM_OUT + soft, r));
    }
    // The knot is spheres along its curve, and the pedestal is the middle plane of a cylinder.
    for (uint i = 0u; i < BLOCKS; ++i) {
        vec3 to = blocks[i].xyz - p;
        float along = dot(to, SUN);
        float off = length(to - SUN * along);
        if (along > blocks[i].w * 0.7) {
            float soft = 0.01 + 0.025 * along;
            seen *= smoothstep(-soft, soft, off - blocks[i].w * 0.98);
        }
    }
    for (int k = 0; k < 4; ++k) {
        float t = (0.10 + 0.18 * float(k) - p.y) / SUN.y;
        float r = length(p.xz + SUN.xz * t), soft = 0.02 + 0.03 * t;
        if (t > 0.03)
            seen *= smoothstep(-soft, soft, r - 0.72);
    }
    return seen;
}

// The share of the sky that nearby pixels hide.
float sky_seen(ivec2 pixel, vec3 p, vec3 n, float away)
{
    const uint SAMPLES = 14u;
    float reach = 0.55, radius = reach * push.lens.x * float(push.size.x) * 0.5 / away;
    uint h = hash(uint(pixel.y) * 8192u + uint(pixel.x));
    float turn = 6.2831853 * unit(h), hidden = 0.0;
    for (uint i = 0u; i < SAMPLES; ++i) {
        float part = (float(i) + unit(h + i)) / float(SAMPLES);
        float a = turn + 2.3999632 * float(i);
        ivec2 at = pixel + ivec2(radius * part * vec2(cos(a), sin(a)));
        at = clamp(at, ivec2(0), push.size - 1);
        float there = texelFetch(rt1, at, 0).w;
        if (there == 0.0)
            continue;
        vec3 to = place_of(at, there) - p;
        float square = dot(to, to);
        hidden += max(0.0, dot(to, n) - 0.012 * away * 0.2) / (square + 0.02) *
                  (1.0 - smoothstep(0.5 * reach, reach, sqrt(square)));
    }
    return clamp(1.0 - 0.75 * hidden / float(SAMPLES), 0.12, 1.0);
}

float gloss(vec3 n, vec3 to_light, vec3 to_eye)
{
    return pow(max(dot(n, normalize(to_light + to_eye)), 0.0), 60.0) * 4.0;
}

void main()
{
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(pixel, push.size)))
        return;
    uint index = uint(pixel.y * push.size.x + pixel.x);
    vec4 surface = texelFetch(rt1, pixel, 0);
    if (surface.w == 0.0) {
        lit[index] = uvec2(0u);
        return;
    }
    vec3 n = surface.xyz;
    vec3 p = place_of(pixel, surface.w);
    vec3 eye = -(push.right.xyz * push.right.w + push.up.xyz * push.up.w +
                 push.forward.xyz * push.forward.w);
    vec3 to_eye = normalize(eye - p);
    if (dot(n, to_eye) < 0.0) // the inside of a beam, seen from below
        n = -n;

    float facing = max(dot(n, SUN), 0.0);
    float seen = facing > 0.0 ? sun_seen(p, n) : 0.0;
    vec3 light = SUNLIGHT * facing * seen;
    float shine = gloss(n, SUN, to_eye) * seen * 1.6;

    float open = sky_seen(pixel, p, n, surface.w);
    light += open * mix(vec3(0.20, 0.13, 0.10), vec3(0.21, 0.29, 0.52), 0.5 + 0.5 * n.y);
    for (uint i = 0u; i < LIGHTS; ++i) {
        vec3 to = lights[i].place.xyz - p;
        float far = length(to), reach = lights[i].place.w;
        if (far >= reach)
            continue;
        to /= far;
        float window = 1.0 - pow(far / reach, 4.0);
        float fall = 0.62 * window * window / (far * far + 0.03);
        light += lights[i].colour.rgb * fall * max(dot(n, to), 0.0) * mix(open, 1.0, 0.4);
        shine += 0.25 * fall * gloss(n, to, to_eye);
    }
    lit[index] = uvec2(packHalf2x16(light.rg), packHalf2x16(vec2(light.b, min(shine, 100.0))));
}
