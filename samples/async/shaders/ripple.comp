/* SPDX-License-Identifier: MIT */
#version 450
#extension GL_GOOGLE_include_directive : require
#include "../../common/shaders/hash.glsl"

// One step of a simulation of waves on a square pool: the height is accelerated towards its
// neighbours' mean. Drops fall into the pool, and two swimmers leave wakes.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, std430) buffer State {
    vec2 cells[]; // height and velocity; two arrays, one to read and one to write
};

layout(push_constant) uniform Push {
    uint side;
    uint from, to; // first cells
    uint step;     // steps since the start
    uint seed;
    uint calm; // the first step: there is nothing to read yet
} push;

const float TAU = 6.28318530718;

float height(ivec2 cell)
{
    cell = clamp(cell, ivec2(0), ivec2(push.side - 1u)); // walls reflect waves
    return cells[push.from + uint(cell.y) * push.side + uint(cell.x)].x;
}

float bump(vec2 at, vec2 place, float radius)
{
    vec2 off = (at - place) / radius;
    return exp(-dot(off, off));
}

void main()
{
    uvec2 cell = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(cell, uvec2(push.side))))
        return;

    vec2 state = vec2(0.0);
    if (push.calm == 0u) {
        ivec2 c = ivec2(cell);
        state = cells[push.from + cell.y * push.side + cell.x];
        float near = height(c + ivec2(1, 0)) + height(c - ivec2(1, 0)) + height(c + ivec2(0, 1)) +
                     height(c - ivec2(0, 1));
        float far = height(c + ivec2(1, 1)) + height(c - ivec2(1, 1)) + height(c + ivec2(1, -1)) +
                    height(c - ivec2(1, -1));
        float mean = near * (1.0 / 6.0) + far * (1.0 / 12.0);
        state.y = (state.y + 0.75 * (mean - state.x)) * 0.9988;
        state.x = state.x + state.y;
    }

    // A drop for every 29 steps, which takes 5 steps to sink in.
    vec2 at = (vec2(cell) + 0.5) / float(push.side);
    uint number = push.step / 29u + push.seed * 977u;
    if (push.step % 29u < 5u) {
        vec2 place = 0.08 + 0.84 * vec2(unit(hash(number)), unit(hash(number) + 1u));
        state.y -= 0.0019 * (0.4 + unit(hash(number) + 2u)) * bump(at, place, 0.011);
    }
    for (uint i = 0u; i < 2u; ++i) {
        float t = TAU * (float((push.step + i * 3000u) % 6000u) / 6000.0 + unit(push.seed + i));
        vec2 place = 0.5 + 0.36 * vec2(cos(3.0 * t), sin((2.0 + 2.0 * float(i)) * t));
        vec2 before = 0.5 + 0.36 * vec2(cos(3.0 * (t - 0.012)),
                                        sin((2.0 + 2.0 * float(i)) * (t - 0.012)));
        state.y += 0.00015 * (bump(at, before, 0.014) - bump(at, place, 0.014));
    }
    cells[push.to + cell.y * push.side + cell.x] = state;
}
