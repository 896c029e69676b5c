/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "../../common/shaders/develop.glsl"

// Shows the tiles that there are: those that have just come glow in the colour of their thread. The
// counters are in a corner.

layout(set = 0, binding = 0, std430) readonly buffer Field {
    uint pixels[];
};
layout(set = 0, binding = 1, std430) readonly buffer Counters {
    uint dots[]; // rows of bits, of two frames in turn
};

layout(push_constant) uniform Push {
    uint frame; // its lower 16 bits
    uint width, height;
    uint turn;   // frames until all tiles have been filled in
    uint first;  // the counters' first word
    uint across; // words of a row of the counters
    uint down;   // rows; 0: they aren't shown
    float dot;   // a dot's size in pixels
} push;

layout(location = 0) in vec2 place;
layout(location = 0) out vec4 colour;

const vec3 THREADS[4] = vec3[](vec3(0.10, 0.75, 1.00), vec3(1.00, 0.22, 0.55),
                               vec3(1.00, 0.62, 0.10), vec3(0.35, 0.95, 0.35));

vec3 palette(float v, uint generation)
{
    float hue = 0.06 * float(generation % 8u);
    vec3 wave = 0.5 + 0.5 * cos(6.2831853 * (1.15 * v + hue + vec3(0.27, 0.17, 0.85)));
    return wave * wave * (0.015 + 2.6 * v * v);
}

vec3 field(uvec2 at)
{
    uint pixel = pixels[at.y * push.width + at.x];
    uint stamp = pixel >> 16;
    if (stamp == 0u) { // nothing yet: a grid of what is to come
        vec2 off = abs(fract(vec2(at) / 16.0) - 0.5);
        return vec3(0.004, 0.007, 0.014) + vec3(0.010, 0.016, 0.030) * step(0.46, max(off.x, off.y));
    }
    vec3 light = palette(float(pixel & 0xffffu) / 65535.0, (stamp - 1u) / push.turn);
    float age = float((push.frame - stamp) & 0xffffu);
    uint thread = at.x * 2u / push.width + 2u * (at.y * 2u / push.height);
    return light * (1.0 - 0.6 * exp(-0.9 * age)) + THREADS[thread] * 0.85 * exp(-0.75 * age);
}

void main()
{
    vec2 at = clamp(place * vec2(push.width, push.height) - 0.5, vec2(0.0),
                    vec2(push.width, push.height) - 1.001);
    uvec2 low = uvec2(at);
    vec2 part = fract(at);
    vec3 light = mix(mix(field(low), field(low + uvec2(1, 0)), part.x),
                     mix(field(low + uvec2(0, 1)), field(low + uvec2(1, 1)), part.x), part.y);
    vec2 off = place - 0.5;
    light *= 1.0 - 0.5 * dot(off, off);
    light = 1.0 - exp(-1.35 * light);

    vec2 dot_at = gl_FragCoord.xy / push.dot - 5.0;
    if (push.down > 0u && all(greaterThan(dot_at, vec2(-3.0))) && dot_at.y < float(push.down) + 2.0 &&
        dot_at.x < float(push.across) * 32.0) {
        light *= 0.22;
        uvec2 d = uvec2(max(dot_at, vec2(0.0)));
        if (all(greaterThanEqual(dot_at, vec2(0.0))) && d.y < push.down &&
            (dots[push.first + d.y * push.across + d.x / 32u] >> (d.x % 32u) & 1u) != 0u)
            light = vec3(0.85, 0.90, 0.96);
    }
    colour = vec4(develop(light), 1.0);
}
