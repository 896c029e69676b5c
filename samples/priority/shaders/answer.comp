/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"
#include "attractor.glsl"

// The urgent task: a point of the attractor, which the CPU waits for.

layout(local_size_x = 1) in;

layout(set = 0, binding = 2, std430) writeonly buffer Answer {
    vec2 answer;
};

void main()
{
    vec2 p = vec2(unit(push.number * 2u), unit(push.number * 2u + 1u)) - 0.5;
    for (uint i = 0u; i < push.steps; ++i)
        p = next(p);
    answer = place_of(p);
}
