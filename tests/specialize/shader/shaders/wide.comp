/* SPDX-License-Identifier: MIT */
// 64 bits.
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 1) in;
layout(push_constant, std430) uniform Push {
    layout(offset = 0) double d;
    layout(offset = 8) int64_t i;
    layout(offset = 16) u64vec2 v;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
void main()
{
    uvec2 d = unpackDouble2x32(push.d);
    uvec2 i = uvec2(uint(push.i), uint(push.i >> 32));
    u64vec2 v = push.v;
    uint n = 0;
    result.words[n++] = d.x;
    result.words[n++] = d.y;
    result.words[n++] = i.x;
    result.words[n++] = i.y;
    result.words[n++] = uint(v.x);
    result.words[n++] = uint(v.x >> 32);
    result.words[n++] = uint(v.y);
    result.words[n++] = uint(v.y >> 32);
}
