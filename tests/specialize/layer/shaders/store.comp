/* SPDX-License-Identifier: MIT */
#version 450
// Writes an image of what others hold, by push constants that steer it.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D made;
layout(set = 0, binding = 1) uniform usampler2D numbers;
layout(set = 0, binding = 2) uniform usamplerBuffer texels;
layout(set = 0, binding = 3) uniform Block { uint base; } block;
layout(push_constant) uniform Push {
    uint mode;
    uint rounds;
    uint factor;
} push;

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    uint x = at.x + 31u * at.y + block.base + texelFetch(texels, 0).x;
    x += texelFetch(numbers, ivec2(0), 0).x;
    for (uint r = 0u; r < push.rounds; r++)
        x = push.mode == 0u ? x * push.factor + r : x ^ x << (push.factor & 15u);
    imageStore(made, ivec2(at), uvec4(x));
}
