/* SPDX-License-Identifier: MIT */
#version 450

// Run twice: first each number becomes its index, then its square.

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, std430) buffer Numbers {
    uint numbers[];
};

layout(push_constant) uniform Push {
    uint pass;
};

void main()
{
    uint i = gl_GlobalInvocationID.x;
    numbers[i] = pass == 0u ? i : numbers[i] * numbers[i];
}
