/* SPDX-License-Identifier: MIT */
// Integers, out of several buffers of an array, and a uniform block.
#version 450
#extension GL_EXT_nonuniform_qualifier : require
layout(local_size_x = 8, local_size_y = 4) in;
layout(constant_id = 0) const int CASE = 0;
layout(std140, set = 0, binding = 0) uniform Block { uvec4 scale; vec4 floats[3]; } block;
layout(std430, set = 1, binding = 0) buffer Words { uint words[]; } buffers[3];
layout(std430, set = 1, binding = 1) buffer Out { uint count; uint words[]; } target;

void main()
{
    uint i = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * 64 + gl_GlobalInvocationID.z * 512;
    uint which = CASE == 1 ? 0u : 1u;
    uint word = buffers[which].words[i] * block.scale.y + floatBitsToUint(block.floats[2].w);
    if (CASE == 2 && buffers[2].words[i] == 0xffffffffu)
        word = 7;
    if (CASE == 3 && buffers[0].words[i] == 0x80000000u)
        word = 8;
    atomicAdd(target.count, word & 15u);
    target.words[i] = word;
}
