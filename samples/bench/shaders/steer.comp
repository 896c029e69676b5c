/* SPDX-License-Identifier: MIT */
#version 450

// Work whose amount and kind depend on push constants. It uses integers, so that all compilers
// agree.

layout(local_size_x = 64) in;

layout(push_constant) uniform Push {
    uint kind, rounds, salt;
} push;

layout(std430, set = 0, binding = 0) buffer Numbers {
    uint numbers[];
};

void main()
{
    uint x = gl_GlobalInvocationID.x;
    for (uint i = 0u; i < push.rounds; ++i) {
        switch (push.kind % 4u) {
        case 0u:
            x = (x ^ x >> 16) * 0x7feb352du;
            break;
        case 1u:
            x = bitfieldReverse(x + push.salt) ^ x << 5;
            break;
        case 2u:
            x = x * 0x9e3779b9u + findMSB(x | 1u);
            break;
        default:
            x = (x << 13 | x >> 19) + bitCount(x);
            break;
        }
    }
    numbers[gl_GlobalInvocationID.x] = x;
}
