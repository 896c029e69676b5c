/* SPDX-License-Identifier: MIT */
// Never writes the same twice: it counts in memory that nobody sets back.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Counter { uint value; };
layout(std430, set = 0, binding = 0) buffer Out { uint words[]; } target;
layout(push_constant) uniform Push { uvec2 address; } push;

void main()
{
    target.words[gl_GlobalInvocationID.x] = atomicAdd(Counter(push.address).value, 1u) + 1u;
}
