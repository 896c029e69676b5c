/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "attractor.glsl"

// A packet of the background: each walker goes on for some steps, and leaves a mark at each.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) buffer Walkers {
    vec2 walkers[];
};
layout(set = 0, binding = 1, std430) buffer Field {
    uint field[]; // of each pixel: the number of marks, and the sum of where they came from
};

void main()
{
    vec2 p = walkers[gl_GlobalInvocationID.x];
    for (uint i = 0u; i < push.steps; ++i) {
        vec2 from = p;
        p = next(p);
        uvec2 at = uvec2(place_of(p) * vec2(push.size));
        uint pixel = (min(at.y, push.size.y - 1u) * push.size.x + min(at.x, push.size.x - 1u)) * 2u;
        atomicAdd(field[pixel], 1u);
        atomicAdd(field[pixel + 1u], uint(clamp(0.5 + 0.25 * from.x, 0.0, 1.0) * 255.0));
    }
    walkers[gl_GlobalInvocationID.x] = p;
}
