/* SPDX-License-Identifier: MIT */
#version 450

/* Reads no push constants: there is nothing to watch. */
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data
{
    float data[];
};

void main()
{
    data[gl_GlobalInvocationID.x] *= 2;
}
