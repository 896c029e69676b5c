/* SPDX-License-Identifier: MIT */
#version 450

/* Push constants that decide what is done, on whole numbers: one result, whoever computes it. */
layout(local_size_x = 1) in;
layout(push_constant) uniform Push
{
    uint mode;
    uint times;
    uint amount;
    uint index;
}
push;
layout(set = 0, binding = 0) buffer Data
{
    uint data[];
};

void main()
{
    uint x = push.index;
    for (uint i = 0; i < push.times; i++)
        x = push.mode == 0 ? x * push.amount : x + push.amount;
    data[push.index] = x;
}
