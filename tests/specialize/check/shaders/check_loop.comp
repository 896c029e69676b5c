/* SPDX-License-Identifier: MIT */
// As many turns as the push constants say.
#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Out { uint words[]; } target;
layout(push_constant) uniform Push { uint turns; uint start; } push;

void main()
{
    uint x = push.start | 1u;
    for (uint i = 0; i < push.turns; i++)
        x = x * 1664525u + 1013904223u + target.words[16u + (x >> 24)];
    target.words[gl_GlobalInvocationID.x] = x;
}
