/* SPDX-License-Identifier: MIT */
// A kernel on integers for tests on a device: every use of a member by control flow and reckoning.
#version 450
layout(local_size_x = 32) in;
layout(constant_id = 0) const uint salt = 17;
layout(constant_id = 3) const uint shift_by = 3;
layout(push_constant, std430) uniform Push {
    uint count;    // 0
    int mode;      // 4
    uint stride;   // 8
    uint flags;    // 12
    uvec4 seeds;   // 16
    uint table[4]; // 32
    int limit;     // 48
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
void main()
{
    uint x = gl_GlobalInvocationID.x * push.stride + salt;
    for (uint i = 0; i < push.count; i++) {
        x = x * 1664525u + push.seeds[i & 3u] + i;
        if ((push.flags & 1u) != 0)
            x ^= x >> 7;
        if ((push.flags & 2u) != 0)
            x = bitfieldReverse(x) / (push.stride + 1u);
        switch (push.mode) {
        case 0:
            x += push.table[0];
            break;
        case 1:
            x ^= push.table[1];
            break;
        case 2:
            x -= push.table[2] << shift_by;
            // fall through
        default:
            x = int(x) > push.limit ? x % 8191u : ~x;
        }
        x += push.seeds.y;
    }
    result.words[gl_GlobalInvocationID.x] = x + uint(push.mode);
}
