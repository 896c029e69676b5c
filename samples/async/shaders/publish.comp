/* SPDX-License-Identifier: MIT */
#version 450

// Writes a version of the data for graphics: the height of the waves, their slope, and how much the
// water focuses the sun's light on the floor.

layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 0, std430) readonly buffer State {
    vec2 cells[];
};
layout(set = 0, binding = 1, std430) writeonly buffer Versions {
    vec4 water[];
};

layout(push_constant) uniform Push {
    uint side;
    uint from, to; // first cells
} push;

float height(ivec2 cell)
{
    cell = clamp(cell, ivec2(0), ivec2(push.side - 1u));
    return cells[push.from + uint(cell.y) * push.side + uint(cell.x)].x;
}

void main()
{
    uvec2 cell = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(cell, uvec2(push.side))))
        return;

    ivec2 c = ivec2(cell);
    float scale = 0.5 * float(push.side); // cells per unit: the pool is two units wide
    float h = height(c);
    float e = height(c + ivec2(2, 0)), w = height(c - ivec2(2, 0));
    float n = height(c + ivec2(0, 2)), s = height(c - ivec2(0, 2));
    vec2 slope = vec2(e - w, n - s) * (0.25 * scale);

    // A bundle of rays that enters here is wider by this on the floor, by the second derivatives.
    float bend = 0.085 * scale * scale * 0.25; // depth, times refraction's share of the slope
    float xx = (e + w - 2.0 * h) * bend, yy = (n + s - 2.0 * h) * bend;
    float xy = (height(c + ivec2(2, 2)) + height(c - ivec2(2, 2)) - height(c + ivec2(2, -2)) -
                height(c - ivec2(2, -2))) * bend * 0.25;
    float wide = abs((1.0 + xx) * (1.0 + yy) - xy * xy);
    float focus = 1.0 / max(wide, 0.22);

    water[push.to + cell.y * push.side + cell.x] = vec4(h, slope, focus);
}
