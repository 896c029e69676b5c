/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// Lanterns over a lake after sunset, in linear light without a tone curve.

struct Lantern {
    vec4 place; // xyz; w: its size
    vec4 light; // colour; w: how steeply it falls towards the top
};

layout(std430, set = 0, binding = 0) readonly buffer Lanterns {
    Lantern lanterns[]; // sorted, the farthest first
};

layout(push_constant) uniform Push {
    vec4 right, up, forward; // the camera's axes; w is minus the eye's coordinate along each
    vec2 lens;
    float time;
    uint count;
    uint seed;
    float pixel; // the width of a pixel at distance 1
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

const vec3 MOON = normalize(vec3(-0.42, 0.235, 1.0));

float noise(float x, uint salt)
{
    float i = floor(x), f = x - i;
    uint u = uint(int(i)) + salt * 7919u;
    return mix(unit(hash(u)), unit(hash(u + 1u)), f * f * (3.0 - 2.0 * f));
}

float lattice(ivec2 p)
{
    return unit(hash(uint(p.x) * 0x9e3779b9u + hash(uint(p.y))));
}

float noise(vec2 p)
{
    vec2 i = floor(p), f = p - i;
    ivec2 n = ivec2(i);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(lattice(n), lattice(n + ivec2(1, 0)), f.x),
               mix(lattice(n + ivec2(0, 1)), lattice(n + ivec2(1, 1)), f.x), f.y);
}

float ridge(float around, float scale, uint salt)
{
    float x = around * scale;
    return noise(x, salt) * 0.55 + noise(x * 2.7, salt + 1u) * 0.28 +
           noise(x * 7.1, salt + 2u) * 0.12 + noise(x * 19.0, salt + 3u) * 0.05;
}

vec3 sky(vec3 d, bool stars)
{
    float high = max(d.y, 0.0);
    float west = 0.5 + 0.5 * d.x; // the sun has set in this direction
    vec3 c = mix(vec3(0.052, 0.060, 0.150), vec3(0.010, 0.016, 0.055), smoothstep(0.0, 0.7, high));
    c += vec3(0.95, 0.30, 0.11) * 0.50 * west * exp(-high * 11.0);
    c += vec3(0.55, 0.16, 0.30) * 0.22 * exp(-high * 4.2);

    float moon = dot(d, MOON);
    float off = (1.0 - moon) * 2.0;
    vec2 on = (d.xy - MOON.xy) * 26.0;
    float spots = 0.72 + 0.28 * noise(on * 1.6 + 9.0);
    float disc = smoothstep(0.00190, 0.00175, off);
    c += vec3(0.30, 0.34, 0.48) * (0.030 / (0.02 + off * 9.0));

    // Clouds, thin and long, lit from where the sun went down.
    vec2 flat_ = d.xz / (high + 0.10);
    float cloud = noise(flat_ * vec2(0.55, 1.5) + vec2(push.time * 0.02, 3.0)) * 0.6 +
                  noise(flat_ * vec2(1.4, 3.9) + vec2(push.time * 0.03, 7.0)) * 0.4;
    cloud = smoothstep(0.46, 0.85, cloud) * exp(-high * 2.0) * smoothstep(0.02, 0.12, high);
    c = mix(c, vec3(0.16, 0.075, 0.105) + vec3(0.42, 0.13, 0.05) * west * exp(-high * 5.0),
            cloud * 0.62);

    if (stars) {
        vec2 grid = vec2(d.x, d.y) / (0.4 + d.z) * 60.0;
        ivec2 cell = ivec2(floor(grid));
        uint h = hash(uint(cell.x + 512) * 4096u + uint(cell.y + 512));
        vec2 in_cell = grid - vec2(cell) - 0.2 - 0.6 * vec2(unit(h ^ 1u), unit(h ^ 2u));
        float strong = unit(h ^ 3u);
        float twinkle = 0.8 + 0.2 * sin(push.time * 3.0 + 40.0 * strong);
        float star = strong > 0.70 ? exp(-dot(in_cell, in_cell) * 230.0) * pow(strong, 11.0) : 0.0;
        c += mix(vec3(1.0, 0.82, 0.62), vec3(0.65, 0.78, 1.0), unit(h ^ 5u)) * star * twinkle *
             2.4 * (1.0 - cloud) * smoothstep(0.05, 0.3, high);
    }
    c = mix(c, vec3(1.25, 1.12, 0.92) * spots * 1.15, disc);

    // Mountains; distant ones are in haze.
    float around = d.x / max(d.z, 0.05);
    float slope = d.y * inversesqrt(dot(d.xz, d.xz));
    float far = 0.020 + 0.155 * ridge(around + 3.0, 2.1, push.seed + 11u);
    float close = 0.004 + 0.105 * ridge(around + 8.0, 3.0, push.seed + 31u) *
                              smoothstep(-0.1, 0.75, abs(around + 0.08));
    float soft = push.pixel;
    c = mix(c, vec3(0.050, 0.040, 0.085) + vec3(0.13, 0.045, 0.030) * west * exp(-high * 16.0),
            smoothstep(far + soft, far - soft, slope));
    c = mix(c, vec3(0.010, 0.011, 0.026) + vec3(0.030, 0.013, 0.016) * exp(-high * 30.0),
            smoothstep(close + soft, close - soft, slope));
    return c;
}

// The lanterns that a ray meets before `until`, blended over `behind`. `soft` blurs their edges.
vec3 lanterns_over(vec3 behind, vec3 from, vec3 d, float until, float soft)
{
    for (uint i = 0u; i < push.count; ++i) {
        vec4 place = lanterns[i].place;
        vec4 light = lanterns[i].light;
        vec3 to = place.xyz - from;
        float along = dot(to, d);
        vec3 miss = (along * d - to) / place.w;
        float side = length(miss.xz), high = miss.y;
        // A paper bag: round above, narrow below.
        float wide = (0.72 + 0.20 * high) *
                     (1.0 - 0.42 * high * high * high * high * step(0.0, high));
        float edge = max(side - wide, abs(high - 0.08) - 0.98);
        float blur = soft * along / place.w;
        float cover = smoothstep(blur, -blur, edge) * step(0.0, along) * step(along, until) *
                      min(light.r, 1.0); // unlit lanterns are invisible
        float across = side / max(wide, 0.1);
        float rib = 0.86 + 0.28 * abs(fract(high * 2.7) - 0.5);
        float glow = max(1.0 - 0.36 * light.w * (high + 0.9), 0.15);
        glow *= glow * rib * max(1.0 - 0.45 * across * across, 0.3);
        float flame = max(1.0 - 2.6 * (side * side + (high + 0.72) * (high + 0.72)), 0.0);
        flame *= flame;
        vec3 c = light.rgb * glow + vec3(1.0, 0.80, 0.42) * flame * light.r * 1.6;
        behind = mix(behind, c, cover);
    }
    return behind;
}

// The slope of the water at p, without waves shorter than a pixel.
vec2 slope_at(vec2 p, float pixel)
{
    const vec3 WAVES[6] = vec3[](vec3(0.9, 2.1, 0.9), vec3(-1.6, 3.4, 1.2), vec3(3.1, 5.2, 1.6),
                                 vec3(-5.0, 8.7, 2.1), vec3(8.3, 15.0, 2.9),
                                 vec3(-13.0, 24.0, 3.7));
    vec2 slope = vec2(0.0);
    vec2 drift = 2.2 * vec2(noise(p * 0.35), noise(p * 0.35 + 25.0));
    for (int i = 0; i < 6; ++i) {
        float there = 1.0 / (1.0 + pixel * pixel * dot(WAVES[i].xy, WAVES[i].xy) * 0.6);
        float phase = dot(WAVES[i].xy, p) + WAVES[i].z * push.time +
                      ((i & 1) == 0 ? drift.x : drift.y);
        slope += WAVES[i].xy *
                 (inversesqrt(dot(WAVES[i].xy, WAVES[i].xy)) * 0.017 * there * cos(phase));
    }
    return slope;
}

void main()
{
    vec2 ndc = (place * 2.0 - 1.0) * push.lens;
    vec3 d = normalize(push.forward.xyz + push.right.xyz * ndc.x + push.up.xyz * ndc.y);
    vec3 eye = -(push.right.xyz * push.right.w + push.up.xyz * push.up.w +
                 push.forward.xyz * push.forward.w);
    bool water = d.y < -0.0005;
    float t = water ? eye.y / -d.y : 1e9;
    vec3 from = eye, to = d;
    float soft = push.pixel * 0.8;

    // The sky or its reflection; both kinds of rays use the same code.
    vec2 at = eye.xz + d.xz * min(t, 400.0);
    float pixel = push.pixel * t / max(-d.y, 0.02);
    float look_down = clamp(-d.y * 4.0, 0.0, 1.0);
    if (water) {
        vec2 s = slope_at(at, pixel) * mix(0.55, 1.0, look_down);
        to = reflect(d, normalize(vec3(-s.x, 1.0, -s.y)));
        to.y = abs(to.y) + 0.0005;
        from = vec3(at.x, 0.0, at.y);
        soft = 0.012;
    }
    vec3 light = sky(to, !water);
    light = lanterns_over(light, from, to, 1e9, soft);
    if (water) {
        float mirror = 0.03 + 0.97 * pow(1.0 - clamp(-d.y, 0.0, 1.0), 5.0);
        vec3 deep = vec3(0.004, 0.012, 0.022);
        light = mix(deep, light * vec3(0.80, 0.86, 0.95), min(1.0, mirror * 0.80 + 0.20));
        light = lanterns_over(light, eye, d, t, push.pixel * 0.8);
        float far = 1.0 - exp(-t * 0.010);
        light = mix(light, vec3(0.060, 0.034, 0.055), far * far * 0.75);
    }
    colour = vec4(min(light, vec3(60.0)), 1.0);
}
