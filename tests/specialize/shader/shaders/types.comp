/* SPDX-License-Identifier: MIT */
// Every kind of member that is folded, each read on its own.
#version 450
layout(local_size_x = 1) in;

struct Inner {
    int x;
    vec2 y;
};

layout(push_constant, std430) uniform Push {
    layout(offset = 0) int i;
    layout(offset = 4) uint u;
    layout(offset = 8) float f;
    layout(offset = 16) vec2 v2;
    layout(offset = 32) ivec3 v3;
    layout(offset = 48) uvec4 v4;
    layout(offset = 64) float a[3];
    layout(offset = 80) mat2 m; // columns at 80 and 88
    layout(offset = 96, row_major) mat2x3 r; // rows at 96, 104 and 112
    layout(offset = 128) Inner s[2]; // 16 bytes each
    layout(offset = 160) vec4 c;
    layout(offset = 176) int dynamic[4];
} push;

layout(binding = 0) buffer Out {
    uint words[];
} result;

void main()
{
    uint n = 0;
    result.words[n++] = uint(push.i);
    result.words[n++] = push.u;
    result.words[n++] = floatBitsToUint(push.f);
    uvec2 v2 = floatBitsToUint(push.v2);
    result.words[n++] = v2.x;
    result.words[n++] = v2.y;
    ivec3 v3 = push.v3;
    result.words[n++] = uint(v3.x);
    result.words[n++] = uint(v3.y);
    result.words[n++] = uint(v3.z);
    uvec4 v4 = push.v4;
    result.words[n++] = v4.x;
    result.words[n++] = v4.y;
    result.words[n++] = v4.z;
    result.words[n++] = v4.w;
    result.words[n++] = floatBitsToUint(push.a[0]);
    result.words[n++] = floatBitsToUint(push.a[2]);
    vec2 column = push.m[1];
    result.words[n++] = floatBitsToUint(column.x);
    result.words[n++] = floatBitsToUint(column.y);
    result.words[n++] = floatBitsToUint(push.m[0][1]);
    vec3 gathered = push.r[1]; // 100, 108 and 116
    result.words[n++] = floatBitsToUint(gathered.x);
    result.words[n++] = floatBitsToUint(gathered.y);
    result.words[n++] = floatBitsToUint(gathered.z);
    result.words[n++] = floatBitsToUint(push.r[0][2]); // 112
    result.words[n++] = uint(push.s[1].x);
    uvec2 y = floatBitsToUint(push.s[0].y);
    result.words[n++] = y.x;
    result.words[n++] = y.y;
    result.words[n++] = floatBitsToUint(push.c.z);
    result.words[n++] = uint(push.dynamic[gl_NumWorkGroups.x]);
    result.words[n++] = uint(push.dynamic[3]);
}
