/* SPDX-License-Identifier: MIT */
#version 450

/* Push constants that decide what a shader does: they are worth watching. */
layout(local_size_x = 64) in;
layout(push_constant) uniform Push
{
    uint mode;
    uint times;
    float scale;
    float bias;
}
push;
layout(set = 0, binding = 0) buffer Data
{
    float data[];
};

void main()
{
    float x = data[gl_GlobalInvocationID.x];
    for (uint i = 0; i < push.times; i++)
        x = push.mode == 0 ? x * push.scale : x + push.bias;
    data[gl_GlobalInvocationID.x] = x;
}
