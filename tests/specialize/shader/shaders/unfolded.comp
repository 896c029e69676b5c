/* SPDX-License-Identifier: MIT */
// Loads that aren't folded: a whole array, a whole matrix, a dynamic index, an address.
#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430) buffer There {
    uint word;
};
struct Pair {
    float x[4];
};
layout(push_constant, std430) uniform Push {
    There there;
    uvec2 address;
    mat4 m;
    Pair pair;
    int dynamic[4];
} push;
layout(binding = 0) buffer Out {
    vec4 v;
    float x[4];
    uint word;
} result;
void main()
{
    result.v = push.m * result.v;
    result.x = push.pair.x;
    result.word = uint(push.dynamic[gl_WorkGroupID.x]);
    push.there.word = 1;
    There other = There(push.address);
    other.word = 2;
}
