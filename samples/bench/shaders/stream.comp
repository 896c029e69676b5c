/* SPDX-License-Identifier: MIT */
#version 450

// Copies memory, and does almost nothing else: knowing the mask gains nothing.

layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    uint mask;
} push;

layout(std430, set = 0, binding = 0) buffer Numbers {
    uvec4 numbers[];
};

void main()
{
    numbers[gl_GlobalInvocationID.x] ^= push.mask;
}
