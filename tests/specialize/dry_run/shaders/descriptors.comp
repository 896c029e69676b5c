/* SPDX-License-Identifier: MIT */
// An index of descriptors, on a way that isn't always taken.
#version 450
layout(local_size_x = 32) in;
layout(push_constant, std430) uniform Push {
    int which, a, b;
} push;
layout(binding = 0) buffer Out {
    uint words[];
} result;
layout(binding = 5) readonly buffer Part {
    uint word;
} parts[2];

void main()
{
    uint x = gl_LocalInvocationIndex;
    if (push.which == 1)
        x = parts[push.a].word;
    result.words[gl_LocalInvocationIndex] = x;
}
