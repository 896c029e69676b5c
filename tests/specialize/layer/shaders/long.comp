/* SPDX-License-Identifier: MIT */
#version 450
// Takes long, and has no push constants.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };

void main()
{
    uint x = gl_GlobalInvocationID.x;
    for (uint r = 0u; r < 20000u; r++)
        x = (x ^ r) * 1664525u + 1013904223u;
    words[gl_GlobalInvocationID.x] = x;
}
