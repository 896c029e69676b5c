/* SPDX-License-Identifier: MIT */
#version 450
// Does what its push constants say: by far too general, and the same bits however it is compiled.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Push {
    uint rounds;
    uint mode;
    uint toggles;
    uint seed;
} push;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    uint x = i + push.seed;
    for (uint r = 0u; r < push.rounds; r++) {
        switch (push.mode) {
        case 0u: x = x * 1664525u + 1013904223u; break;
        case 1u: x ^= x << 13; x ^= x >> 17; x ^= x << 5; break;
        case 2u: x = (x << 7 | x >> 25) + r; break;
        default: x += 1u; break;
        }
        if ((push.toggles & 1u) != 0u) { for (uint k = 0u; k < 16u; k++) x = (x ^ k) * 31u; }
        if ((push.toggles & 2u) != 0u) { for (uint k = 0u; k < 16u; k++) x = x / (k + 3u) + 7u; }
        if ((push.toggles & 4u) != 0u) { for (uint k = 0u; k < 16u; k++) x = x % (k + 1013u) + x; }
    }
    words[i] = x;
}
