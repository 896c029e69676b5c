/* SPDX-License-Identifier: MIT */
#version 450
layout(local_size_x_id = 7) in;
layout(local_size_x = 64) in;
layout(constant_id = 3) const uint bias = 5u;
layout(push_constant) uniform Block { uint mode, rounds, factor; } p;
layout(set = 0, binding = 0) buffer Out { uint data[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, v = i + bias;
    for (uint r = 0u; r < p.rounds; r++) {
        if (p.mode == 0u)
            v = v * p.factor + r;
        else if (p.mode == 1u)
            v ^= v << p.factor;
        else
            v += i;
    }
    data[i] = v;
}
