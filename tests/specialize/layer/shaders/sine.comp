/* SPDX-License-Identifier: MIT */
#version 450
// Has a push constant that can't be folded, and takes next to no time.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(push_constant) uniform Push {
    float angle;
} push;

void main()
{
    words[gl_GlobalInvocationID.x] = floatBitsToUint(sin(push.angle));
}
