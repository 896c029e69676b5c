/* SPDX-License-Identifier: MIT */
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out { uint data[]; };
void main()
{
    data[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x;
}
