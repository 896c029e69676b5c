/* SPDX-License-Identifier: MIT */
#version 450
layout(push_constant) uniform Push {
    int x;
} push;
void main()
{
    gl_SampleMask[0] = push.x;
}
