/* SPDX-License-Identifier: MIT */
#version 450
layout(local_size_x = 64) in;
layout(push_constant) uniform Block { float base; uint mode; } p;
layout(set = 0, binding = 0) buffer Out { float data[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    data[i] = p.mode == 0u ? pow(float(i), p.base) : float(i);
}
